//! `zarrpack inspect`: what the arrays of a store are, from their metadata and the names and lengths of their files.
//!
//! `gather` makes the report of a store, whose types are in [`crate::report::inspect`]; the JSON form prints it, the human form
//! lays it out. No chunk is read, and nothing is written.

mod chain;
mod describe;
mod details;
mod gather;
mod objects;
mod outline;
mod rows;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::gather::Gathered;
use crate::cli::{Example, GlobalArgs, footer};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::layout::quantities::cut_front;
use crate::report::inspect::{Report, SCHEMA};
use crate::selection::{ArrayPattern, Selection};
use crate::store::Store;
use crate::ui::Ui;

/// How many findings an error lists.
const LISTED: usize = 100;

/// The longest name of a node in a finding.
const LONGEST_PLACE: usize = 200;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Show what is in a store",
        command: "zarrpack inspect era5.zarr",
    },
    Example {
        purpose: "Show the arrays of one group, without its quality flags",
        command: "zarrpack inspect era5.zarr --array 'surface/*' --array '!**/*_flag'",
    },
    Example {
        purpose: "List the packed arrays whose fill does not survive",
        command: "zarrpack inspect --format json *.zarr |\njq -r '.stores[].arrays[] | select(.fill.survives == false) | .path'",
    },
];

/// Show the chain of each array: type, fill, range and step at every stage
///
/// For every array of every STORE: shape, chunks, shards, type, the chain of codecs in words, the bytes stored and
/// how many there would be in memory. For packed arrays, below that: what packing computes, the type, the fill, the range of values and the
/// distance of neighbouring ones at every stage, the codes that stand for missing values, whether the fill comes back,
/// and everything that the specifications forbid about the chain.
///
/// Metadata is read, and the names and lengths of chunks are listed. No chunk is opened, and nothing is written.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES))]
pub struct InspectArgs {
    /// Directory of a Zarr hierarchy, of a group or of an array, version 2 or 3
    #[arg(value_name = "STORE", required = true)]
    pub stores: Vec<PathBuf>,

    /// Arrays to show: a pattern for their paths; repeat for more, "!" excludes [default: all]
    ///
    /// A pattern is held against the whole path of an array below STORE, such as "model/run1/temp". "*" and "?" stop at
    /// "/", "**" crosses any number of levels, "{a,b}" are alternatives. "!GLOB" excludes.
    #[arg(long = "array", value_name = "GLOB")]
    pub arrays: Vec<ArrayPattern>,

    /// Form of the report
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: ReportFormat,

    /// Number of files after which the listing of an array's chunks stops
    ///
    /// What was found until then is shown as a lower bound. 0 does not look for chunks at all.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1_000_000,
        allow_negative_numbers = true
    )]
    pub max_objects: u64,
}

/// The forms of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: an outline with tables
    #[default]
    Human,
    /// For programs: one document of the schema zarrpack.inspect/1
    Json,
}

/// Inspects.
///
/// # Errors
///
/// Where a pattern matches no array, and after the report, where anything could not be read or is not sound.
pub fn run(ui: &mut Ui, global: &GlobalArgs, args: &InspectArgs) -> Result<ExitCode, Error> {
    let selection = Selection::new(args.arrays.clone())
        .map_err(|error| Error::usage(format!("the patterns of --array: {error}")))?;
    let mut findings = Findings::default();
    let mut stores = Vec::new();
    for given in &args.stores {
        match Store::open(given) {
            Ok(store) => stores.push(gather::gather(&store, &selection, args.arrays.is_empty())),
            Err(error) => findings.errors.push(error.into()),
        }
    }
    // Where something could not be read, a pattern may match what is in there.
    let unread = |gathered: &Gathered| {
        gathered
            .report
            .broken
            .iter()
            .any(|broken| broken.unreadable)
    };
    if findings.errors.is_empty() && !stores.iter().any(unread) {
        selection.require_all_used()?;
    }
    objects::measure(ui, global.threads(), args.max_objects, &mut stores);
    for gathered in &stores {
        findings.collect(gathered);
    }
    stores.retain(|gathered| !gathered.is_empty());
    let report = Report {
        schema: SCHEMA.to_owned(),
        stores: stores.into_iter().map(|gathered| gathered.report).collect(),
    };
    match args.format {
        ReportFormat::Json => {
            ui.print(crate::report::to_json(&report)?)?;
        }
        ReportFormat::Human => {
            let style = ui.output_style();
            for (n, store) in report.stores.iter().enumerate() {
                if n > 0 {
                    ui.print("\n")?;
                }
                for line in outline::lines(store, style) {
                    ui.print(line + "\n")?;
                }
            }
        }
    }
    findings.end(ui)
}

/// Everything that keeps a run from ending with 0.
#[derive(Default)]
struct Findings {
    /// Stores that could not be opened, or hold nothing.
    errors: Vec<Error>,
    /// What is wrong inside stores: the kind, and where and what.
    listed: Vec<(ErrorKind, String)>,
    /// How many more there are of each kind.
    more: usize,
    unreadable: bool,
}

impl Findings {
    fn collect(&mut self, gathered: &Gathered) {
        if gathered.is_empty() {
            self.errors.push(gathered.nothing_found());
        }
        for (kind, path, message) in gathered.findings() {
            self.unreadable |= kind == ErrorKind::Io;
            if self.listed.len() == LISTED {
                self.more += 1;
                continue;
            }
            let store = gathered.report.store.trim_end_matches('/');
            let place = match path {
                "" => store.to_owned(),
                path => format!("{store}/{path}"),
            };
            let place = cut_front(&place, LONGEST_PLACE);
            self.listed.push((kind, format!("{place:?}: {message}")));
        }
    }

    /// Reports all of it. The last error is the one that the run ends with.
    fn end(mut self, ui: &mut Ui) -> Result<ExitCode, Error> {
        if let Some(error) = self.summary() {
            self.errors.push(error);
        }
        let Some(last) = self.errors.pop() else {
            return Ok(ExitCode::Done);
        };
        // Standard output comes first, so that on a terminal errors stand below the report.
        ui.flush()?;
        let code = self.errors.iter().fold(last.exit_code(), |code, error| {
            ui.error(error);
            code.merge(error.exit_code())
        });
        if code == last.exit_code() {
            return Err(last);
        }
        ui.error(&last);
        Ok(code)
    }

    fn summary(&mut self) -> Option<Error> {
        let kind = if self.unreadable {
            ErrorKind::Io
        } else {
            ErrorKind::Finding
        };
        let count = self.listed.len() + self.more;
        if count == 1 {
            return self
                .listed
                .pop()
                .map(|(kind, message)| Error::new(kind, message));
        }
        if count == 0 {
            return None;
        }
        let mut error = Error::new(kind, format!("{count} problems"));
        for (_, message) in self.listed.drain(..) {
            error = error.detail(message);
        }
        if self.more > 0 {
            error = error.detail(format!("and {} more", self.more));
        }
        Some(error)
    }
}
