//! `zarrpack migrate-legacy`: arguments, and the run from a plan to what was written.

mod outline;

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::cli::{Example, GlobalArgs, JsonSource, footer};
use crate::error::{Error, ExitCode};
use crate::selection::ArrayPattern;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "See what would change, and what that would do to the values; nothing is written",
        command: "zarrpack migrate-legacy era5.zarr",
    },
    Example {
        purpose: "Change the metadata, unless a single value would change with it",
        command: "zarrpack migrate-legacy era5.zarr --in-place --exact --require-identical",
    },
    Example {
        purpose: "Take that back",
        command: "zarrpack migrate-legacy era5.zarr --undo era5.zarr.zarrpack-undo-20261129T101500.123456Z.json",
    },
    Example {
        purpose: "Write migrated metadata beside a store that cannot be changed",
        command: "zarrpack migrate-legacy /archive/era5.zarr --output era5-metadata.zarr --metadata-only",
    },
    Example {
        purpose: "Fail in CI while a store still uses the legacy codec",
        command: "zarrpack migrate-legacy era5.zarr --check",
    },
    Example {
        purpose: "Say that code 255 of one array always meant missing",
        command: "zarrpack migrate-legacy masks.zarr --array snow --missing 255",
    },
];

/// Move arrays off the legacy codec fixedscaleoffset without touching a chunk
///
/// In the metadata of STORE, numcodecs.fixedscaleoffset (Zarr v3) and fixedscaleoffset (Zarr v2) become scale_offset and
/// cast_value, codecs of the Zarr extensions that readers other than Python have too. What is stored stays as it is. Before anything
/// is written, the values that the old and the new chain decode are compared: over every code for codes of up to 16 bits, over
/// the data for wider ones. A hierarchy of Zarr v2 becomes one of v3 on the way.
///
/// Without --in-place or --output, this prints what would change and writes nothing.
#[derive(Debug, Args)]
#[command(
    after_long_help = footer(EXAMPLES),
    args_override_self = true,
    group = ArgGroup::new("write").args(["in_place", "output"]),
)]
pub struct MigrateLegacyArgs {
    /// Directory of a Zarr hierarchy, of a group or of an array, version 2 or 3
    #[arg(value_name = "STORE")]
    pub store: PathBuf,

    /// Arrays to migrate: a glob on their paths, or !GLOB to leave some out; repeatable
    ///
    /// Paths have no leading slash. "*" stops at "/", "**" crosses it. All arrays by default.
    #[arg(long = "array", value_name = "GLOB")]
    pub arrays: Vec<ArrayPattern>,

    /// Change the metadata of STORE
    ///
    /// The documents as they were are kept in a journal beside the store, from which --undo brings them back.
    #[arg(long)]
    pub in_place: bool,

    /// Write the result to another place, and leave STORE alone
    #[arg(long, value_name = "DEST")]
    pub output: Option<PathBuf>,

    /// Copy the chunks to DEST too
    #[arg(long, requires = "output", conflicts_with = "metadata_only")]
    pub copy_chunks: bool,

    /// Write metadata to DEST and no chunks: until laid over the source, it reads as fill
    #[arg(long, requires = "output")]
    pub metadata_only: bool,

    /// Replace DEST if it exists, once the new one is complete
    #[arg(long, requires = "output")]
    pub overwrite: bool,

    /// Compute as numcodecs did, in double precision, where the plain conversion would change values
    ///
    /// The chain is longer then, and zarr-python refuses some of these for integer arrays; the plan says which.
    #[arg(long)]
    pub exact: bool,

    /// Write nothing unless all values are proven to stay the same
    #[arg(long)]
    pub require_identical: bool,

    /// What is read to prove it, for codes of more than 16 bits and for codes that must not be in use
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub verify: Verify,

    /// Code that means missing: it becomes NaN, and NaN the fill
    ///
    /// For arrays of floats. An attribute that declared it (_FillValue, missing_value) is dropped.
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub missing: Option<String>,

    /// Fill for arrays whose own does not survive, where no chunk is missing: JSON, as in a zarr.json
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, value_parser = JsonSource::parser())]
    pub fill_value: Option<JsonSource>,

    /// Exit with 1 if there is anything to migrate, and write nothing
    #[arg(long, conflicts_with = "write")]
    pub check: bool,

    /// Print the plan, and write nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Go on without arrays that cannot be migrated; not for groups of Zarr v2
    #[arg(long)]
    pub skip_impossible: bool,

    /// What separates the numbers in the names of chunks, for arrays of Zarr v2 that do not say
    #[arg(long, value_name = "CHAR", value_enum)]
    pub separator: Option<Separator>,

    /// Remove the documents of Zarr v2 once those of v3 are in place
    #[arg(long)]
    pub remove_v2: bool,

    /// File for the journal, which must not be inside the store [default: beside the store]
    #[arg(long, value_name = "FILE", requires = "in_place")]
    pub journal: Option<PathBuf>,

    /// Bring back the documents that a journal holds
    #[arg(
        long,
        value_name = "JOURNAL",
        conflicts_with_all = [
            "write", "check", "exact", "require_identical", "missing", "fill_value", "skip_impossible", "separator",
            "remove_v2", "journal", "arrays",
        ]
    )]
    pub undo: Option<PathBuf>,

    /// Form of the report
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// What is read to prove that values stay the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Verify {
    /// Every chunk that matters
    #[default]
    Data,
    /// Some chunks; what they show is no proof
    Sample,
    /// No chunk
    None,
}

/// What separates the numbers in the names of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Separator {
    /// 0.0
    #[value(name = ".")]
    Dot,
    /// 0/0
    #[value(name = "/")]
    Slash,
}

/// The forms of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    #[default]
    Human,
    /// For programs: one document of the schema zarrpack.migrate-legacy/1
    Json,
}

/// Migrates.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, an array cannot be migrated, or something could not be read or
/// written.
pub fn run(ui: &mut Ui, global: &GlobalArgs, args: &MigrateLegacyArgs) -> Result<ExitCode, Error> {
    let _ = (ui, global);
    args.check()?;
    Ok(ExitCode::Done)
}

impl MigrateLegacyArgs {
    /// Refuses what the parser cannot.
    fn check(&self) -> Result<(), Error> {
        if self.output.is_some() && !self.copy_chunks && !self.metadata_only {
            return Err(Error::usage("--output needs --copy-chunks or --metadata-only")
                .hint("--copy-chunks makes a store of its own; --metadata-only writes documents to lay over STORE"));
        }
        Ok(())
    }
}
