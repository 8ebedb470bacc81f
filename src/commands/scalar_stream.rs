//! What `encode - -` and `decode - -` have in common: a stream of scalars that goes through a chain of
//! codecs with no store.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::{JsonArg, JsonSource};
use crate::error::Error;

/// The arguments of a scalar stream.
#[derive(Debug, Clone, Args)]
pub struct ScalarStreamArgs {
    /// Where to read: "-" is standard input, one JSON scalar a line
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Where to write: "-" is standard output, one JSON scalar a line
    #[arg(value_name = "OUTPUT")]
    pub output: PathBuf,

    /// Data type of the array, such as float64: what encode takes and decode gives
    #[arg(long, value_name = "TYPE", required_if_eq("input", "-"))]
    pub dtype: Option<String>,

    /// Codecs of the chain: a JSON list, or @FILE to read it from a file
    ///
    /// The list holds array-to-array codecs as a Zarr v3 array has them, in the order of encoding.
    #[arg(
        long,
        value_name = "JSON",
        value_parser = JsonSource::parser(),
        required_if_eq("input", "-")
    )]
    pub codecs: Option<JsonSource>,

    /// Print floating-point numbers as hexadecimal bit patterns
    ///
    /// A pattern has as many whole bytes as the type needs; upper bits that the type does not use are 0.
    #[arg(long)]
    pub bits: bool,

    /// Go on after a scalar that fails: print {"error": "..."} in its place, and exit with 1 at the end
    #[arg(long)]
    pub keep_going: bool,

    /// Form of the data
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: StreamFormat,
}

/// The form of a stream of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum StreamFormat {
    /// One JSON scalar a line, encoded as a fill value is
    #[default]
    Jsonl,
}

/// A scalar stream that was asked for in full, its chain read but not yet parsed.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "encode and decode do not run it yet")]
pub(super) struct ScalarStream<'a> {
    /// The name of the array type.
    pub(super) dtype: &'a str,
    /// The codecs.
    pub(super) codecs: JsonArg,
    /// Whether floats are printed as bit patterns.
    pub(super) bits: bool,
    /// Whether to go on after a scalar that fails.
    pub(super) keep_going: bool,
}

impl ScalarStreamArgs {
    /// Checks that this is a scalar stream, and reads its chain. `command` is the name of the command.
    pub(super) fn stream(&self, command: &str) -> Result<ScalarStream<'_>, Error> {
        let standard = OsStr::new("-");
        let (Some(dtype), Some(codecs)) = (&self.dtype, &self.codecs) else {
            return Err(streams_only(command));
        };
        if self.input != standard || self.output != standard {
            return Err(streams_only(command));
        }
        Ok(ScalarStream {
            dtype,
            codecs: codecs.read("--codecs")?,
            bits: self.bits,
            keep_going: self.keep_going,
        })
    }
}

fn streams_only(command: &str) -> Error {
    Error::usage(format!(
        "this version can {command} streams of scalars only: INPUT and OUTPUT must both be -"
    ))
    .hint(format!(
        "for example: zarrpack {command} - - --dtype float64 --codecs @chain.json"
    ))
}
