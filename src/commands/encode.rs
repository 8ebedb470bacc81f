//! `zarrpack encode`: values in, stored codes out.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;

use super::scalar_stream::{ScalarStreamArgs, StreamFormat};
use crate::cli::{Example, footer};
use crate::error::{Error, ExitCode};
use crate::transform::chain::Direction;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Encode three values as a Zarr array of float64 with this chain would store them",
        command: r#"printf '10\n20.4\n"NaN"\n' |
zarrpack encode - - --dtype float64 --codecs @chain.json"#,
    },
    Example {
        purpose: "Shift by 1000 and narrow to uint8, with the chain in the command line",
        command: r#"seq 1000 1255 | zarrpack encode - - --dtype uint16 --codecs \
'[{"name": "scale_offset", "configuration": {"offset": 1000}},
  {"name": "cast_value", "configuration": {"data_type": "uint8"}}]'"#,
    },
    Example {
        purpose: "See every value that cannot be stored",
        command: "zarrpack encode - - --dtype float64 --codecs @chain.json --keep-going \\\n< values.jsonl | grep -n error",
    },
];

/// Encode values into the codes that a chain of codecs stores
///
/// With "-" for both INPUT and OUTPUT, a stream of scalars goes through the chain with no store: values of the
/// array type come in, the codes that would be stored go out. A line holds at most 65,536 bytes. This version
/// does no more than that.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES), allow_negative_numbers = true, args_override_self = true)]
pub struct EncodeArgs {
    /// Where to read: "-" is standard input, one JSON scalar a line
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Where to write: "-" is standard output, one JSON scalar a line
    #[arg(value_name = "OUTPUT")]
    pub output: PathBuf,

    /// Form of the data
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: StreamFormat,

    /// The stream.
    #[command(flatten)]
    pub stream: ScalarStreamArgs,
}

/// Encodes.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, a value cannot be packed, or something could not be read
/// or written.
pub fn run(ui: &mut Ui, args: &EncodeArgs) -> Result<ExitCode, Error> {
    let standard = OsStr::new("-");
    if args.input != standard || args.output != standard {
        return Err(Error::usage(
            "this version can encode streams of scalars only: INPUT and OUTPUT must both be -",
        )
        .hint("for example: zarrpack encode - - --dtype float64 --codecs @chain.json"));
    }
    args.stream.run(ui, Direction::Encode)
}
