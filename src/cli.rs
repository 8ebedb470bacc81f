//! The command line: its root, the global flags, and what help says below the flags.
//!
//! Help, manual pages and completions are all made from these definitions; a doc comment here is help text.
//! Nothing in here acts: a parsed command line is plain data.

mod data_type_arg;
mod json_arg;
mod memory_size;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::thread;

use clap::builder::{StyledStr, Styles};
use clap::{ArgAction, Args, Parser, ValueEnum};
use tracing_subscriber::filter::LevelFilter;

pub use self::data_type_arg::DataTypeParser;
pub use self::json_arg::{JsonArg, JsonOrigin, JsonSource, JsonSourceError};
pub use self::memory_size::{MemorySize, MemorySizeError};
use crate::commands::Command;
use crate::error::ExitCode;
use crate::ui::{UiOptions, When};

/// Above this number of threads nothing is gained, and starting them may fail.
const MAX_THREADS: u16 = 4096;

/// Transform packed Zarr arrays
///
/// zarrpack is for Zarr arrays whose values are packed: shifted and scaled by the scale_offset codec, then
/// narrowed to a smaller type by the cast_value codec.
///
/// This version inspects and validates stores, decodes packed arrays into plain ones, and transforms streams of scalars. It does
/// not write packed stores yet.
#[derive(Debug, Parser)]
#[command(
    name = "zarrpack",
    version,
    long_version = long_version(),
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100,
    after_long_help = footer(EXAMPLES),
)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: GlobalArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Show the chains, ranges and sizes of the arrays in a store",
        command: "zarrpack inspect era5.zarr",
    },
    Example {
        purpose: "Check all metadata of a store",
        command: "zarrpack validate era5.zarr",
    },
    Example {
        purpose: "Write a plain copy that any reader of Zarr opens",
        command: "zarrpack decode era5.zarr plain.zarr",
    },
    Example {
        purpose: "Pack values into uint8 through the chain in chain.json",
        command: "zarrpack encode - - --dtype float64 --codecs @chain.json < values.jsonl",
    },
    Example {
        purpose: "Take the codes back",
        command: "zarrpack decode - - --dtype float64 --codecs @chain.json < codes.jsonl",
    },
    Example {
        purpose: "Read the manual of a command",
        command: "zarrpack man encode | man -l -",
    },
];

/// Flags that every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Log more to standard error; repeat for debugging and tracing
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,

    /// Print fewer messages; repeat to hide warnings too
    ///
    /// Once, status and progress are hidden; twice, warnings and hints too. Results and errors always appear.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub quiet: u8,

    /// When to use colour
    ///
    /// With "auto", the environment variable NO_COLOR turns colour off on a terminal too.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: When,

    /// When to show progress on standard error
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub progress: When,

    /// Number of threads [default: one for each processor]
    #[arg(
        short = 'j',
        long,
        global = true,
        value_name = "N",
        value_parser = thread_count,
        allow_negative_numbers = true
    )]
    pub threads: Option<u16>,

    /// Bound on the memory for chunks in flight [default: a quarter of the memory at hand]
    ///
    /// KiB, MiB, GiB and TiB (or Ki, Mi, Gi and Ti) are powers of 1024; KB, MB, GB and TB (or K, M, G and T)
    /// are powers of 1000; a number alone counts bytes.
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        allow_negative_numbers = true
    )]
    pub memory: Option<MemorySize>,
}

impl GlobalArgs {
    /// How much to print, and how.
    #[must_use]
    pub const fn ui_options(&self) -> UiOptions {
        UiOptions {
            color: self.color,
            progress: self.progress,
            quiet: self.quiet,
        }
    }

    /// How much to log: warnings, and a level more or less for each `-v` and `-q`.
    #[must_use]
    pub fn log_level(&self) -> LevelFilter {
        match i16::from(self.verbose) - i16::from(self.quiet) {
            ..=-2 => LevelFilter::OFF,
            -1 => LevelFilter::ERROR,
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            3.. => LevelFilter::TRACE,
        }
    }

    /// How many threads to use.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => threads.into(),
            None => thread::available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }

    /// How many bytes chunks in flight may take. Without `--memory` this asks the operating system.
    #[must_use]
    pub fn memory(&self) -> u64 {
        self.memory
            .unwrap_or_else(MemorySize::quarter_of_available)
            .bytes()
    }
}

/// What `--color` asks for, found without parsing, so that the parser's own messages can follow it.
#[must_use]
pub fn color_before_parsing(arguments: &[OsString]) -> When {
    let mut color = When::default();
    let mut arguments = arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(rest) => rest.strip_prefix('=').map(|value| value.to_owned().into()),
            None => None,
        };
        if let Some(Ok(when)) = value.map(|value| When::from_str(&value, false)) {
            color = when;
        }
    }
    color
}

/// A command line worth showing in help.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Example {
    /// What it is good for, imperative and without a full stop.
    pub(crate) purpose: &'static str,
    /// What to type. Lines after the first are indented as the first is.
    pub(crate) command: &'static str,
}

/// What stands below the flags in the help of each command: its examples, and the exit codes.
pub(crate) fn footer(examples: &[Example]) -> StyledStr {
    let heading = *Styles::styled().get_header();
    let mut text = format!("{heading}Examples:{heading:#}\n");
    for Example { purpose, command } in examples {
        let command = command.replace('\n', "\n      ");
        text.push_str(&format!("  {purpose}:\n    $ {command}\n\n"));
    }
    text.push_str(&format!("{heading}Exit codes:{heading:#}"));
    for code in ExitCode::ALL {
        text.push_str(&format!("\n  {:>3}  {}", code.number(), code.meaning()));
    }
    text.into()
}

fn thread_count(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|count| (1..=MAX_THREADS).contains(count))
        .ok_or_else(|| format!("expected a number from 1 to {MAX_THREADS}"))
}

fn long_version() -> &'static str {
    // The parser wants a text that lives as long as the program.
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{}\nzarrs {}",
            env!("CARGO_PKG_VERSION"),
            zarrs::version::version_str()
        )
    });
    &TEXT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(line: &str) -> When {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        color_before_parsing(&arguments)
    }

    #[test]
    fn colour_is_found_wherever_it_stands() {
        assert_eq!(color("zarrpack encode"), When::Auto);
        assert_eq!(color("zarrpack --color never encode"), When::Never);
        assert_eq!(
            color("zarrpack encode --color=always --bogus"),
            When::Always
        );
        assert_eq!(color("zarrpack --color=always --color never"), When::Never);
    }

    #[test]
    fn what_is_no_colour_is_passed_over() {
        assert_eq!(color("zarrpack --color"), When::Auto);
        assert_eq!(color("zarrpack --color sometimes"), When::Auto);
        assert_eq!(color("zarrpack --colors=never"), When::Auto);
        assert_eq!(color("zarrpack -- --color=never"), When::Auto);
    }

    #[test]
    fn verbose_and_quiet_cancel_out() {
        let level = |verbose, quiet| {
            let global = GlobalArgs {
                verbose,
                quiet,
                ..GlobalArgs::default()
            };
            global.log_level()
        };
        assert_eq!(level(0, 0), LevelFilter::WARN);
        assert_eq!(level(1, 1), LevelFilter::WARN);
        assert_eq!(level(0, u8::MAX), LevelFilter::OFF);
        assert_eq!(level(u8::MAX, 0), LevelFilter::TRACE);
    }

    #[test]
    fn a_number_of_threads_is_positive_and_modest() {
        assert_eq!(thread_count("1"), Ok(1));
        assert_eq!(thread_count("4096"), Ok(4096));
        for text in ["0", "4097", "-1", "99999999999", "", "two"] {
            assert!(thread_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_have_defaults() {
        let global = GlobalArgs::default();
        assert!(global.threads() >= 1);
        assert!(global.memory() >= 1);
    }
}
