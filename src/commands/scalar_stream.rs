//! What `encode - -` and `decode - -` have in common: a stream of scalars that goes through a chain of
//! codecs with no store.

mod chain;
mod lines;

use std::io;

use clap::{Args, ValueEnum};

use crate::cli::{DataTypeParser, JsonSource};
use crate::error::{Error, ExitCode};
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::ui::Ui;

/// The arguments of a scalar stream.
#[derive(Debug, Clone, Args)]
pub struct ScalarStreamArgs {
    /// Data type of the array, such as float64: what encode takes and decode gives
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = DataTypeParser,
        hide_possible_values = true
    )]
    pub dtype: Option<DataType>,

    /// Codecs of the chain: a JSON list, or @FILE to read it from a file
    ///
    /// The list holds array-to-array codecs as a Zarr v3 array has them, in the order of encoding.
    #[arg(
        long,
        value_name = "JSON",
        value_parser = JsonSource::parser()
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
}

/// The form of a stream of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum StreamFormat {
    /// One JSON scalar a line, encoded as a fill value is
    #[default]
    Jsonl,
}

impl ScalarStreamArgs {
    /// Runs the stream that the arguments ask for.
    pub(super) fn run(&self, ui: &mut Ui, direction: Direction) -> Result<ExitCode, Error> {
        let (Some(data_type), Some(codecs)) = (self.dtype, &self.codecs) else {
            let command = match direction {
                Direction::Encode => "encode",
                Direction::Decode => "decode",
            };
            return Err(
                Error::usage("a stream of scalars needs --dtype and --codecs").hint(format!(
                    "for example: zarrpack {command} - - --dtype float64 --codecs @chain.json"
                )),
            );
        };
        let codecs = codecs.read("--codecs")?;
        let chain = chain::bind(ui, &codecs, data_type, direction)?;
        let stream = lines::Stream {
            pass: chain.bound.pass(direction),
            chain: &chain,
            direction,
            bits: self.bits,
            keep_going: self.keep_going,
        };
        stream.run(ui, io::stdin().lock())
    }
}
