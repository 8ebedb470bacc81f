//! `zarrpack decode`: stored codes in, values out.

use clap::Args;

use super::scalar_stream::ScalarStreamArgs;
use crate::cli::{Example, footer};
use crate::error::{Error, ExitCode};
use crate::transform::chain::Direction;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Decode three codes as a reader of a Zarr array of float64 with this chain would",
        command: r"printf '2\n3\n0\n' |
zarrpack decode - - --dtype float64 --codecs @chain.json",
    },
    Example {
        purpose: "See the bits that a reader gets for every code of one byte",
        command: "seq 0 255 |\nzarrpack decode - - --dtype float32 --codecs @chain.json --bits",
    },
];

/// Decode stored codes into the values that a chain of codecs gives back
///
/// With "-" for both INPUT and OUTPUT, a stream of scalars goes through the chain with no store: stored codes
/// come in, values of the array type go out. A line holds at most 65,536 bytes. This version
/// does no more than that.
///
/// Chains may hold the legacy codec, numcodecs.fixedscaleoffset.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES), allow_negative_numbers = true, args_override_self = true)]
pub struct DecodeArgs {
    /// The stream.
    #[command(flatten)]
    pub stream: ScalarStreamArgs,
}

/// Decodes.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, a code cannot be decoded, or something could not be read
/// or written.
pub fn run(ui: &mut Ui, args: &DecodeArgs) -> Result<ExitCode, Error> {
    args.stream.run(ui, "decode", Direction::Decode)
}
