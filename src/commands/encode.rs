//! `zarrpack encode`: values in, stored codes out.

mod attributes;
mod chain;
mod chunks;
mod codes;
mod documents;
mod examine;
mod flat;
mod job;
mod missing;
mod one_way;
mod params;
mod plan;
mod propose;
mod raw;
mod report;
pub(super) mod roles;
mod run;
mod shards;
mod source;
mod stand_in;
mod tally;
mod tasks;
mod unselected;
mod values;
mod write;

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

pub use self::chain::{ChainArgs, MapArg, MissingArg};
pub use self::chunks::{ChunkArgs, CompressorArg, LengthsArg, ShardsArg};
pub use self::raw::{ByteOrderArg, RawArgs};
pub use self::values::LiteralArg;
use super::scalar_stream::ScalarStreamArgs;
use crate::cli::{Example, GlobalArgs, footer};
use crate::error::{Error, ExitCode};
use crate::selection::ArrayPattern;
use crate::transform::chain::Direction;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Pack temperatures into int16 in hundredths of a kelvin around 273.15 K",
        command: "zarrpack encode era5.zarr packed.zarr --array t2m \\\n--offset 273.15 --scale 100 --to int16 --fill-value NaN",
    },
    Example {
        purpose: "See what would be written",
        command: "zarrpack encode era5.zarr packed.zarr --scale 100 --to int16 --dry-run",
    },
    Example {
        purpose: "Take integers that are codes already, as CF packing stores them",
        command: "zarrpack encode cf.zarr packed.zarr --values stored --dtype float32 \\\n--scale 100 --to int16",
    },
    Example {
        purpose: "Write a NumPy file as a packed array in shards",
        command: "zarrpack encode field.npy field.zarr --scale 1000 --to int32 \\\n--chunks 256,256 --shards 4096,4096",
    },
    Example {
        purpose: "Write bytes from another program",
        command: "make-field | zarrpack encode - field.zarr --dtype float32 --shape 1000,2000 \\\n--scale 100 --to int16",
    },
    Example {
        purpose: "Encode three values as a Zarr array of float64 with this chain would store them",
        command: r#"printf '10\n20.4\n"NaN"\n' |
zarrpack encode - - --dtype float64 --codecs @chain.json"#,
    },
    Example {
        purpose: "See every value of a stream that cannot be stored",
        command: "zarrpack encode - - --dtype float64 --codecs @chain.json --keep-going \\\n< values.jsonl | grep -n error",
    },
];

/// Encode arrays through scale_offset and cast_value into a packed store
///
/// INPUT is a Zarr store of version 2 or 3, plain or packed, a NumPy file, or "-" for bytes on standard input. OUTPUT is a store
/// of version 3, which appears only when it is complete, verified, and nothing was lost. Arrays that are not selected are copied:
/// by default coordinates, labels, and what holds no real numbers.
///
/// Every value is examined, also after one that cannot be packed, and each kind of loss is counted, with the first example and
/// what would fit. What was written is read back and compared: the report has the largest errors, RMSE and bias.
///
/// With "-" for both INPUT and OUTPUT, a stream of scalars goes through the chain with no store: values of the
/// array type come in, the codes that would be stored go out. A line holds at most 65,536 bytes.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES), allow_negative_numbers = true, args_override_self = true)]
pub struct EncodeArgs {
    /// Store or .npy file to encode, or "-" for standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Store to write, or "-" for a stream of scalars on standard output
    #[arg(value_name = "OUTPUT")]
    pub output: PathBuf,

    /// Arrays to pack: a glob on their paths, or !GLOB to leave some out; repeatable
    ///
    /// Paths have no leading slash. "*" stops at "/", "**" crosses it. By default all arrays of real numbers but coordinates and
    /// labels; the others are copied.
    #[arg(long, value_name = "GLOB")]
    pub array: Vec<ArrayPattern>,

    /// What INPUT holds [default: logical, but integers with attributes of CF packing are refused]
    #[arg(long, value_name = "DOMAIN", value_enum)]
    pub values: Option<Domain>,

    /// Fill value of the packed arrays, in the encoding of their type; missing chunks are then written out with the old fill
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub fill_value: Option<LiteralArg>,

    /// Keep attributes that a chain replaces, such as scale_factor
    #[arg(long)]
    pub keep_attributes: bool,

    /// Write although values of this kind are lost; repeatable
    ///
    /// What is out of range, and infinities, become the nearest value that fits; NaN becomes the fill value.
    #[arg(long, value_name = "KIND", value_enum)]
    pub allow_loss: Vec<LossKind>,

    /// Write chunks that hold nothing but the fill value
    #[arg(long)]
    pub write_empty: bool,

    /// Replace OUTPUT if it exists, once the new one is complete; and the file of --report
    #[arg(long)]
    pub overwrite: bool,

    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Read back what was written, and compare it; the default
    #[arg(long, overrides_with = "no_verify")]
    pub verify: bool,

    /// Do not read back what was written
    #[arg(long, overrides_with = "verify", action = ArgAction::SetTrue)]
    pub no_verify: bool,

    /// Form of the report, human (the default) or json; or of a stream of scalars, jsonl
    #[arg(long, value_name = "FORM", value_enum)]
    pub format: Option<Format>,

    /// Write the report as JSON to a file as well, also where the run was refused
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// The chain.
    #[command(flatten)]
    pub chain: ChainArgs,

    /// How the output is cut and compressed.
    #[command(flatten)]
    pub chunks: ChunkArgs,

    /// What bytes on standard input are.
    #[command(flatten)]
    pub raw: RawArgs,

    /// The flags of scalar streams.
    #[command(flatten)]
    pub stream: ScalarStreamArgs,
}

/// The form of a report, or of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A report for people
    Human,
    /// A report for programs
    Json,
    /// A stream: one JSON scalar a line
    Jsonl,
}

/// What the elements of INPUT are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Domain {
    /// Values, to be shifted, scaled and cast
    Logical,
    /// Codes, which are stored as they are; --dtype is the type that they decode to
    Stored,
}

/// Ways to lose a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LossKind {
    /// A finite value that the chain cannot store
    OutOfRange,
    /// NaN, for which there is no code
    Nan,
    /// An infinity, for which there is no code
    Infinity,
    /// A value whose code stands for another, such as a missing one
    MissingCode,
    /// A fill value that does not come back
    Fill,
    /// An integer that does not come back
    Digits,
}

/// Encodes.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, a value cannot be packed, or something could not be read
/// or written.
pub fn run(ui: &mut Ui, global: &GlobalArgs, args: &EncodeArgs) -> Result<ExitCode, Error> {
    let standard = OsStr::new("-");
    if args.output == standard {
        if args.input != standard {
            return Err(Error::usage(
                "OUTPUT is - only where INPUT is - too: packed arrays are written to a store",
            )
            .hint("encode - - transforms a stream of scalars; name a directory to write"));
        }
        args.check_stream()?;
        return args.stream.run(ui, Direction::Encode);
    }
    args.check_store()?;
    run::run(ui, global, args)
}

impl EncodeArgs {
    /// Refuses flags that a stream of scalars has no use for.
    fn check_stream(&self) -> Result<(), Error> {
        let useless = [
            ("--array", !self.array.is_empty()),
            ("--values", self.values.is_some()),
            ("--fill-value", self.fill_value.is_some()),
            ("--keep-attributes", self.keep_attributes),
            ("--allow-loss", !self.allow_loss.is_empty()),
            ("--write-empty", self.write_empty),
            ("--dry-run", self.dry_run),
            ("--no-verify", self.no_verify),
            ("--report", self.report.is_some()),
            (
                "--format human or json",
                matches!(self.format, Some(Format::Human | Format::Json)),
            ),
            (
                "--chunks, --shards and --compressor",
                self.chunks.is_given(),
            ),
            ("--shape and --byte-order", self.raw.is_given()),
        ];
        refuse(&useless, "a stream of scalars")?;
        match self.chain.given() {
            None => Ok(()),
            Some(flag) => Err(Error::usage(format!(
                "{flag} cannot be used for a stream of scalars"
            ))
            .hint("a stream takes its chain from --codecs")),
        }
    }

    /// Refuses flags that a store has no use for.
    fn check_store(&self) -> Result<(), Error> {
        let from_bytes = self.input == OsStr::new("-");
        let useless = [
            ("--bits", self.stream.bits),
            ("--keep-going", self.stream.keep_going),
            ("--format jsonl", self.format == Some(Format::Jsonl)),
        ];
        refuse(&useless, "a store")?;
        if self.dry_run && self.report.is_some() {
            return Err(Error::usage(
                "--report cannot be used with --dry-run, which writes nothing",
            )
            .hint("--format json prints the plan"));
        }
        if !from_bytes && self.raw.is_given() {
            return Err(Error::usage(
                "--shape and --byte-order are for bytes on standard input",
            ));
        }
        if from_bytes && !self.array.is_empty() {
            return Err(Error::usage(
                "--array cannot be used for bytes on standard input",
            ));
        }
        if !from_bytes && self.domain() == Domain::Logical && self.stream.dtype.is_some() {
            return Err(Error::usage("--dtype is the type of bytes on standard input, or with --values stored of the packed array")
                .hint("the type to store is --to"));
        }
        Ok(())
    }

    /// What INPUT holds.
    const fn domain(&self) -> Domain {
        match self.values {
            Some(domain) => domain,
            None => Domain::Logical,
        }
    }

    /// Whether what was written is read back.
    const fn verifies(&self) -> bool {
        !self.no_verify
    }
}

fn refuse(useless: &[(&str, bool)], what: &str) -> Result<(), Error> {
    match useless.iter().find(|(_, given)| *given) {
        Some((flag, _)) => Err(Error::usage(format!("{flag} cannot be used for {what}"))),
        None => Ok(()),
    }
}

impl LossKind {
    /// All kinds, in the order of reports.
    const ALL: [Self; 6] = [
        Self::OutOfRange,
        Self::Nan,
        Self::Infinity,
        Self::MissingCode,
        Self::Fill,
        Self::Digits,
    ];

    /// The name in flags and reports.
    const fn name(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::Nan => "nan",
            Self::Infinity => "infinity",
            Self::MissingCode => "missing-code",
            Self::Fill => "fill",
            Self::Digits => "digits",
        }
    }

    /// What happened to so many values, in words.
    fn describe(self, count: u64) -> String {
        let plural = if count == 1 { "value" } else { "values" };
        match self {
            Self::OutOfRange => format!("{count} {plural} out of range"),
            Self::Nan => format!("{count} NaN without a code"),
            Self::Infinity => format!("{count} infinite {plural}"),
            Self::MissingCode => format!("{count} {plural} on a code that stands for another"),
            Self::Fill => "a fill value that does not survive".to_owned(),
            Self::Digits => format!("{count} {plural} that would come back as another"),
        }
    }
}
