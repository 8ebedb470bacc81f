//! The program: parse, run, exit.

use std::ffi::OsString;

use clap::Parser;
use tracing_subscriber::filter::LevelFilter;
use zarrpack::cli::{self, Cli};
use zarrpack::commands;
use zarrpack::log;
use zarrpack::ui::{Ui, UiOptions};

// Chunks are allocated and freed by many threads at once, which the system allocator of some platforms
// (musl above all) is slow at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let exit = match Cli::try_parse_from(&arguments) {
        Ok(cli) => {
            let mut ui = Ui::new(cli.global.ui_options());
            start_log(cli.global.log_level(), &ui);
            let outcome = commands::run(&mut ui, &cli);
            ui.finish(outcome)
        }
        Err(answer) => {
            let mut ui = Ui::new(UiOptions {
                color: cli::color_before_parsing(&arguments),
                ..UiOptions::default()
            });
            let outcome = ui.answer(&answer);
            ui.finish(outcome)
        }
    };
    exit.into()
}

fn start_log(level: LevelFilter, ui: &Ui) {
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(ui.color())
        .event_format(log::Format::default())
        .with_writer(ui.log_writer())
        .init();
}
