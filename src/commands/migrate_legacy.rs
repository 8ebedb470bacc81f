//! `zarrpack migrate-legacy`: arguments, and the run from a plan to what was written.

mod describe;
mod outline;
mod undo;
mod write;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::rewrite::input::heed_signals;
use crate::catalog::{Catalog, named};
use crate::cli::{Example, GlobalArgs, JsonSource, footer};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::layout::quantities::things;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::v3;
use crate::migration::hierarchy::{HierarchyPlan, NodeOutcome, NodePlan, Wishes, Work};
use crate::migration::options::{self, Options};
use crate::migration::verdict::DecodeKind;
use crate::pipeline::Pipeline;
use crate::report::migrate_legacy::{Outcome, Report};
use crate::selection::{ArrayPattern, Selection};
use crate::store::{Existing, Place, Store};
use crate::ui::Ui;

/// How many arrays an error names.
const LISTED: usize = 100;

/// How many hints an error has.
const HINTS: usize = 5;

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
        command: "zarrpack migrate-legacy era5.zarr --undo era5.zarr.zarrpack-undo-*.json",
    },
    Example {
        purpose: "Write migrated metadata beside a store that cannot be changed",
        command: "zarrpack migrate-legacy /archive/era5.zarr --output overlay.zarr --metadata-only",
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
    #[arg(long, requires = "output", conflicts_with_all = ["metadata_only", "in_place"])]
    pub copy_chunks: bool,

    /// Write metadata to DEST and no chunks: until laid over the source, it reads as fill
    #[arg(long, requires = "output", conflicts_with = "in_place")]
    pub metadata_only: bool,

    /// Replace DEST if it exists, once the new one is complete
    #[arg(long, requires = "output", conflicts_with = "in_place")]
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
    #[arg(
        long,
        value_name = "JSON",
        allow_hyphen_values = true,
        value_parser = JsonSource::parser(),
        conflicts_with = "missing"
    )]
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
    #[arg(
        long,
        value_name = "FILE",
        requires = "in_place",
        conflicts_with = "output"
    )]
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
    args.check()?;
    let store = Store::open(&args.store)?;
    let output = args.output.as_ref().map(Place::resolve).transpose()?;
    if let Some(output) = &output {
        Place::require_apart(store.place(), output)?;
        write::check_output(args, output)?;
    }
    if let Some(journal) = &args.undo {
        return undo::run(ui, args, &store, journal);
    }
    let wishes = args.wishes()?;
    let selection = Selection::new(args.arrays.clone())
        .map_err(|error| Error::usage(format!("--array: {error}")))?;
    let interrupt = heed_signals()?;
    // Documents are read once nobody else may change them, and once what a killed run has left is mended.
    let exclusive = if args.in_place && !args.dry_run {
        Some(write::begin(ui, &store)?)
    } else {
        write::warn_of_unfinished(ui, &store);
        None
    };
    let catalog = Catalog::read(&store);
    if catalog.entries.is_empty() && catalog.faults.is_empty() {
        let message = format!("no Zarr array or group in {:?}", args.store);
        return Err(Error::new(ErrorKind::Io, message)
            .hint("STORE is a directory with zarr.json, .zarray or .zgroup, or one above it"));
    }
    let progress = ui.count("decoded");
    let observer = |bytes| progress.advance(bytes);
    let pipeline = Pipeline {
        threads: global.threads(),
        memory: global.memory(),
        interrupt: &interrupt,
        observer: &observer,
    };
    let work = Work {
        store: &store,
        catalog: &catalog,
        selection: &selection,
        wishes: &wishes,
        pipeline: &pipeline,
        elsewhere: output.is_some(),
    };
    let plan = work.plan()?;
    if !plan.is_unsure() {
        selection.require_all_used()?;
    }
    let documents = plan.documents(&work)?;
    let mut report = describe::report(&work, &plan, &documents);
    let refused = args.refusal(&plan);
    match (&output, exclusive) {
        _ if refused.is_some() && (args.in_place || output.is_some()) => {
            report.outcome = Outcome::Refused;
        }
        _ if refused.is_some() => {}
        (Some(output), _) if !args.dry_run => {
            write::to_output(ui, args, output, &work, &plan, &documents, &mut report)?;
        }
        (_, Some(exclusive)) => {
            write::in_place(ui, args, exclusive, &work, &plan, &documents, &mut report)?;
        }
        (None, None) if args.in_place => write::check(ui, args, &store, &documents)?,
        _ => {}
    }
    drop(progress);
    args.print(ui, &report)?;
    args.end(ui, &plan, &report, refused)
}

impl MigrateLegacyArgs {
    /// What is done where something is at DEST.
    const fn existing(&self) -> Existing {
        if self.overwrite {
            Existing::Replace
        } else {
            Existing::Refuse
        }
    }

    /// What is asked of the plan.
    fn wishes(&self) -> Result<Wishes, Error> {
        let fill_value = match &self.fill_value {
            None => None,
            Some(source) => Some(fill_value(source)?),
        };
        Ok(Wishes {
            array: Options {
                exact: self.exact,
                require_identical: self.require_identical,
                verify: self.verify.into(),
                missing: self.missing.clone(),
                fill_value,
            },
            separator: self.separator.map(Into::into),
            remove_v2: self.remove_v2,
        })
    }

    /// Why nothing is written, though that was asked for.
    fn refusal(&self, plan: &HierarchyPlan) -> Option<Error> {
        let impossible: Vec<_> = plan
            .arrays
            .iter()
            .filter(|node| node.is_impossible())
            .collect();
        let in_tree = impossible.iter().any(|node| node.tree.is_some());
        if !impossible.is_empty() && (!self.skip_impossible || in_tree) {
            let count = things(impossible.len() as u64, "array");
            let error = Error::new(plan.worst(), format!("{count} cannot be migrated"));
            let mut error = listed(error, &impossible);
            let obstacles = impossible.iter().flat_map(|node| match &node.outcome {
                NodeOutcome::Impossible(obstacles) => obstacles.as_slice(),
                _ => &[],
            });
            let hints: BTreeSet<_> = obstacles
                .filter_map(|obstacle| obstacle.reason.hint.as_ref())
                .collect();
            for hint in hints.into_iter().take(HINTS) {
                error = error.hint(hint);
            }
            return Some(if in_tree {
                error.hint("a hierarchy of Zarr v2 is migrated as a whole or not at all")
            } else {
                error.hint("--skip-impossible goes on without them")
            });
        }
        let unproven = |node: &&NodePlan| match &node.outcome {
            NodeOutcome::Migrate(plan) => plan.decode.kind != DecodeKind::Identical,
            _ => false,
        };
        let differing: Vec<_> = plan.arrays.iter().filter(unproven).collect();
        if self.require_identical && !differing.is_empty() {
            let count = things(differing.len() as u64, "array");
            let error = Error::finding(format!("{count} not proven to keep all values"));
            let error = listed(error, &differing);
            return Some(if self.exact {
                error
            } else {
                error.hint("--exact computes as the legacy codec did")
            });
        }
        None
    }

    fn print(&self, ui: &mut Ui, report: &Report) -> Result<(), Error> {
        match self.format {
            ReportFormat::Json => ui.print(crate::report::to_json(report)?),
            ReportFormat::Human => {
                let style = ui.output_style();
                for line in outline::lines(report, style) {
                    ui.print(line + "\n")?;
                }
                Ok(())
            }
        }
    }

    /// What the run ends with once the report is printed.
    fn end(
        &self,
        ui: &mut Ui,
        plan: &HierarchyPlan,
        report: &Report,
        refused: Option<Error>,
    ) -> Result<ExitCode, Error> {
        // Standard output comes first, so that on a terminal messages stand below the report.
        ui.flush()?;
        if report.outcome == Outcome::Written {
            ui.status(outline::title(report));
            if report.summary.differs > 0 {
                ui.warning(format!(
                    "values of {} differ, as the report says",
                    things(report.summary.differs, "array")
                ));
            }
        }
        let writes = self.in_place || self.output.is_some();
        if let Some(error) = refused
            && (writes
                || plan.arrays.iter().any(NodePlan::is_impossible) && !self.skip_impossible
                || self.require_identical)
        {
            return Err(error);
        }
        let impossible = plan.arrays.iter().any(NodePlan::is_impossible);
        let mut exit = ExitCode::Done;
        if impossible {
            exit = exit.merge(plan.worst().exit_code());
        }
        if self.check && !report.documents.is_empty() {
            exit = exit.merge(ExitCode::Findings);
        }
        Ok(exit)
    }

    /// Refuses what the parser cannot.
    fn check(&self) -> Result<(), Error> {
        if self.output.is_some() && !self.copy_chunks && !self.metadata_only {
            return Err(Error::usage("--output needs --copy-chunks or --metadata-only")
                .hint("--copy-chunks makes a store of its own; --metadata-only writes documents to lay over STORE"));
        }
        Ok(())
    }
}

/// Names arrays, and for those that cannot be migrated the reasons.
fn listed(mut error: Error, nodes: &[&NodePlan]) -> Error {
    for node in nodes.iter().take(LISTED) {
        let path = named(&node.path);
        error = match &node.outcome {
            NodeOutcome::Impossible(obstacles) => {
                obstacles.iter().fold(error, |error, obstacle| {
                    let places = [obstacle.file, obstacle.reason.pointer.as_deref()];
                    let place: String = places
                        .into_iter()
                        .flatten()
                        .map(|part| format!("{part} "))
                        .collect();
                    let place = place.trim_end();
                    let colon = if place.is_empty() { "" } else { ": " };
                    error.detail(format!("{path}: {place}{colon}{}", obstacle.reason.message))
                })
            }
            _ => error.detail(path),
        };
    }
    if nodes.len() > LISTED {
        error = error.detail(format!("and {} more", nodes.len() - LISTED));
    }
    error
}

/// The value of `--fill-value`.
fn fill_value(source: &JsonSource) -> Result<Draft, Error> {
    let given = source.read("--fill-value")?;
    match parse(given.text.as_bytes(), &Limits::default(), NonFinite::Refuse) {
        Ok(parsed) => Ok(Draft::from(&parsed.root)),
        Err(error) => {
            let refused = Error::usage(format!("{} is not JSON: {error}", given.origin));
            Err(match given.hint() {
                Some(hint) => refused.hint(hint),
                None => refused.hint("NaN and infinities are strings: '\"NaN\"'"),
            })
        }
    }
}

impl From<Verify> for options::Verify {
    fn from(verify: Verify) -> Self {
        match verify {
            Verify::Data => Self::Data,
            Verify::Sample => Self::Sample,
            Verify::None => Self::None,
        }
    }
}

impl From<Separator> for v3::Separator {
    fn from(separator: Separator) -> Self {
        match separator {
            Separator::Dot => Self::Dot,
            Separator::Slash => Self::Slash,
        }
    }
}
