//! `zarrpack encode`: values in, stored codes out.

use clap::Args;

use super::scalar_stream::ScalarStreamArgs;
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
    args.stream.run(ui, "encode", Direction::Encode)
}
