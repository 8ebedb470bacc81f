//! `zarrpack decode`: stored codes in, values out.

mod cf;
mod csv;
mod documents;
mod element;
mod npy;
mod reporting;
mod source;
mod store;
mod text;
mod verify;

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub use self::cf::CfType;
use super::scalar_stream::ScalarStreamArgs;
use crate::cli::{Example, GlobalArgs, footer};
use crate::codecs::OpenArray;
use crate::error::{Error, ExitCode};
use crate::region::{Region, RegionSpec};
use crate::selection::ArrayPattern;
use crate::store::Existing;
use crate::transform::chain::Direction;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Write a plain copy of a hierarchy that any reader of Zarr opens",
        command: "zarrpack decode packed.zarr plain.zarr",
    },
    Example {
        purpose: "Write one array as a NumPy file",
        command: "zarrpack decode packed.zarr t2m.npy --array t2m",
    },
    Example {
        purpose: "Look at a corner of an array",
        command: "zarrpack decode packed.zarr - --array t2m --region '0,:5,:5' --format csv",
    },
    Example {
        purpose: "Write one array as a table of coordinates and values",
        command: "zarrpack decode packed.zarr - --array t2m --format csv > t2m.csv",
    },
    Example {
        purpose: "Apply CF attributes such as scale_factor, and verify what was written",
        command: "zarrpack decode era5.zarr plain.zarr --cf --verify --report era5.json",
    },
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

/// Decode packed arrays into the values that readers of Zarr see
///
/// INPUT is a Zarr store of version 2 or 3: a hierarchy, a group or array in it. OUTPUT is a plain Zarr store of version 3, in
/// which scale_offset, cast_value and the legacy fixedscaleoffset have been applied and are gone, as are other filters of
/// numcodecs; zstd stands in for compressors that are not in the specification of Zarr v3. For one array, OUTPUT may be a
/// NumPy file if its name ends in .npy, or "-" for standard output. It appears only when it is complete.
///
/// With "-" for both INPUT and OUTPUT, a stream of scalars goes through the chain with no store: stored codes
/// come in, values of the array type go out. Such chains may hold the legacy codec, numcodecs.fixedscaleoffset.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES), allow_negative_numbers = true, args_override_self = true)]
pub struct DecodeArgs {
    /// Store to decode, or "-" for a stream of scalars on standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Store or .npy file to write, or "-" for standard output
    #[arg(value_name = "OUTPUT")]
    pub output: PathBuf,

    /// Arrays to decode: a glob on their paths, or !GLOB to leave some out; repeatable
    ///
    /// Paths have no leading slash. "*" stops at "/", "**" crosses it. All packed arrays by default; the others are copied.
    #[arg(long, value_name = "GLOB")]
    pub array: Vec<ArrayPattern>,

    /// Part of the array, such as '0:10,:,5', for a .npy file or standard output
    ///
    /// One slice or index for each dimension, as in NumPy without steps; an index takes its dimension away.
    #[arg(long, value_name = "REGION", allow_hyphen_values = true)]
    pub region: Option<RegionSpec>,

    /// Form of the data on standard output, or of the report otherwise
    ///
    /// Data: jsonl (one JSON scalar a line, in row-major order; the default), csv (coordinates or indices, and the value), raw
    /// (bytes in row-major order, native endian, no header). Report: human (the default) or json.
    ///
    /// In csv each dimension has a column. It is called by the name of the dimension and has the values of its coordinate, the
    /// array of one dimension of that name in the same group; without one, it is called dim_N and has indices from 0.
    #[arg(long, value_name = "FORM", value_enum)]
    pub format: Option<Format>,

    /// Apply the CF attributes scale_factor, add_offset, _FillValue, missing_value and _Unsigned
    ///
    /// value = stored * scale_factor + add_offset, computed in float64; what is missing becomes NaN. The attributes are not in
    /// OUTPUT any more, and valid_min, valid_max and valid_range are in the units of the values. TYPE is that of the values: auto
    /// (the default) is float64, except that floats of which some are only missing keep their type; float32; or float64. Values
    /// outside valid_* are not missing. Where a codec packs already, scale_factor and add_offset are refused.
    #[arg(
        long,
        value_name = "TYPE",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto"
    )]
    pub cf: Option<CfType>,

    /// Read back what was written, and compare it bit for bit, before it appears
    ///
    /// Decodes everything a second time. Where a bit differs, nothing appears, and the exit code is 1.
    #[arg(long)]
    pub verify: bool,

    /// File to write the report to, as JSON, whatever --format says
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Replace OUTPUT if it exists, once the new one is complete; and the file of --report
    #[arg(long)]
    pub overwrite: bool,

    /// Print what would be written, and write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Go on without arrays that cannot be decoded, naming them
    #[arg(long)]
    pub skip_undecodable: bool,

    /// The flags of scalar streams.
    #[command(flatten)]
    pub stream: ScalarStreamArgs,
}

/// The form of data, or of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A report for people
    Human,
    /// A report for programs
    Json,
    /// Data: one JSON scalar a line
    Jsonl,
    /// Data: coordinates or indices, and the value, with a header
    Csv,
    /// Data: bytes
    Raw,
}

/// Where values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Stream,
    Text,
    Npy,
    Store,
}

/// Decodes.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, a code cannot be decoded, or something could not be read
/// or written.
pub fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let standard = OsStr::new("-");
    let mode = match (args.input == standard, args.output == standard) {
        (true, true) => Mode::Stream,
        (true, false) => {
            return Err(Error::usage("INPUT is - only where OUTPUT is - too")
                .hint("decode - - transforms a stream of scalars"));
        }
        (false, true) => Mode::Text,
        (false, false) if args.output.extension() == Some(OsStr::new("npy")) => Mode::Npy,
        (false, false) => Mode::Store,
    };
    args.check(mode)?;
    match mode {
        Mode::Stream => args.stream.run(ui, Direction::Decode),
        Mode::Text => text::run(ui, global, args),
        Mode::Npy => npy::run(ui, global, args),
        Mode::Store => store::run(ui, global, args),
    }
}

impl DecodeArgs {
    /// Refuses flags that can have no effect.
    fn check(&self, mode: Mode) -> Result<(), Error> {
        let what = match mode {
            Mode::Stream => "a stream of scalars",
            Mode::Text => "values on standard output",
            Mode::Npy => "a .npy file",
            Mode::Store => "a store",
        };
        let data = matches!(self.format, Some(Format::Jsonl | Format::Csv | Format::Raw));
        let report = matches!(self.format, Some(Format::Human | Format::Json));
        let streams = self.stream.dtype.is_some() || self.stream.codecs.is_some();
        let useless = [
            ("--array", mode == Mode::Stream && !self.array.is_empty()),
            (
                "--region",
                matches!(mode, Mode::Stream | Mode::Store) && self.region.is_some(),
            ),
            (
                "--dry-run",
                matches!(mode, Mode::Stream | Mode::Text) && self.dry_run,
            ),
            ("--cf", mode == Mode::Stream && self.cf.is_some()),
            ("--report", mode == Mode::Stream && self.report.is_some()),
            ("--dtype and --codecs", mode != Mode::Stream && streams),
            (
                "--format csv or raw",
                mode == Mode::Stream && data && self.format != Some(Format::Jsonl),
            ),
            (
                "--format human or json",
                matches!(mode, Mode::Stream | Mode::Text) && report,
            ),
            (
                "--format jsonl, csv or raw",
                matches!(mode, Mode::Npy | Mode::Store) && data,
            ),
        ];
        if self.dry_run && self.report.is_some() {
            return Err(Error::usage(
                "--report cannot be used with --dry-run, which writes nothing",
            )
            .hint("--format json prints the plan"));
        }
        match useless.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::usage(format!("{flag} cannot be used for {what}"))),
            None => Ok(()),
        }
    }

    /// What is to happen to what is in place.
    const fn existing(&self) -> Existing {
        if self.overwrite {
            Existing::Replace
        } else {
            Existing::Refuse
        }
    }

    /// The part of an array that is wanted.
    fn region_of(&self, array: &OpenArray) -> Result<Region, Error> {
        match &self.region {
            Some(spec) => spec
                .resolve(array.shape())
                .map_err(|error| Error::usage(format!("--region: {error}"))),
            None => Ok(Region::all(array.shape())),
        }
    }
}
