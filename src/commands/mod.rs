//! The commands: one module each, holding its arguments and what it does.

pub mod completions;
pub mod decode;
pub mod encode;
pub mod inspect;
pub mod man;
pub mod migrate_legacy;
mod rewrite;
mod scalar_stream;
pub mod validate;

use clap::Subcommand;

pub use self::scalar_stream::{ScalarStreamArgs, StreamFormat};
use crate::cli::Cli;
use crate::error::{Error, ExitCode};
use crate::ui::Ui;

/// A command and its arguments.
#[derive(Debug, Subcommand)]
#[expect(
    missing_docs,
    reason = "the help of a command is the doc comment of its arguments; one here would replace it"
)]
pub enum Command {
    Inspect(inspect::InspectArgs),
    Validate(validate::ValidateArgs),
    Encode(encode::EncodeArgs),
    Decode(decode::DecodeArgs),
    MigrateLegacy(migrate_legacy::MigrateLegacyArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs the command that was asked for.
///
/// # Errors
///
/// Whatever ended the command before it was done.
pub fn run(ui: &mut Ui, cli: &Cli) -> Result<ExitCode, Error> {
    tracing::debug!(command = ?cli.command, global = ?cli.global, "parsed the command line");
    match &cli.command {
        Command::Inspect(args) => inspect::run(ui, &cli.global, args),
        Command::Validate(args) => validate::run(ui, args),
        Command::Encode(args) => encode::run(ui, args),
        Command::Decode(args) => decode::run(ui, &cli.global, args),
        Command::MigrateLegacy(args) => migrate_legacy::run(ui, &cli.global, args),
        Command::Completions(args) => completions::run(ui, args),
        Command::Man(args) => man::run(ui, args),
    }
}
