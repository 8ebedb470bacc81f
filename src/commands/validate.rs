//! `zarrpack validate`: every problem of metadata at once, placed and explained.
//!
//! `gather` reads documents and has the rules look at them, `located` gives findings their lines, and one of `human`, `github`
//! and the JSON of [`crate::report::validate`] shows them.

mod excerpt;
mod gather;
mod github;
mod human;
mod listing;
mod located;
mod output;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::gather::Gatherer;
use self::output::Output;
use crate::cli::{Example, footer};
use crate::error::{Error, ExitCode};
use crate::metadata::DocumentKind;
use crate::report::validate::{Report, SCHEMA, Summary};
use crate::rules::{Policy, RulePattern, Severity};
use crate::selection::{ArrayPattern, Selection};
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Check all metadata of a store",
        command: "zarrpack validate era5.zarr",
    },
    Example {
        purpose: "Check a document that is not in a store yet",
        command: "zarrpack validate - < draft.json",
    },
    Example {
        purpose: "Fail on warnings too, but take the legacy codec as it is",
        command: "zarrpack validate --fail-on warning --allow 'legacy/*' era5.zarr",
    },
    Example {
        purpose: "Say what a rule is about",
        command: "zarrpack validate --explain cast-value/fill-round-trip",
    },
];

/// Check metadata against the specifications, with every problem at once
///
/// Each STORE is a directory of a Zarr hierarchy, a group or an array, of version 2 or 3, or a single document, or "-" for a
/// document on standard input. Every document is held against the specifications of Zarr and of its codecs: members and types,
/// the chain of codecs with the type and the fill at every place, packing attributes, and consolidated copies. No chunk is
/// opened.
///
/// Findings are errors (a specification forbids it), warnings (likely a mistake) or infos. The run fails, with exit code 1, from
/// --fail-on upwards.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES))]
pub struct ValidateArgs {
    /// Directory of a Zarr hierarchy, a group or an array; or a document, or "-" for one on standard input
    #[arg(
        value_name = "STORE",
        required_unless_present_any = ["list_rules", "explain"],
        conflicts_with_all = ["list_rules", "explain"]
    )]
    pub stores: Vec<PathBuf>,

    /// Arrays to check: a pattern for their paths; repeat for more, "!" excludes [default: all]
    ///
    /// A pattern is held against the whole path of an array below STORE, such as "model/run1/temp". "*" and "?" stop at
    /// "/", "**" crosses any number of levels, "{a,b}" are alternatives. "!GLOB" excludes. With a pattern, groups are not
    /// checked.
    #[arg(long = "array", value_name = "GLOB")]
    pub arrays: Vec<ArrayPattern>,

    /// What a single document is, where its name does not say or says otherwise
    #[arg(long, value_name = "NAME", value_enum)]
    pub kind: Option<DocumentName>,

    /// Least severity at which the run fails
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t)]
    pub fail_on: FailOn,

    /// Rule to leave out, or FAMILY/* for all of a family; repeat for more
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<RulePattern>,

    /// Rule whose findings are errors, or FAMILY/* for all of a family; repeat for more
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<RulePattern>,

    /// Form of the report
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: ValidateFormat,

    /// List all rules with their severities, and stop
    #[arg(long, conflicts_with = "explain")]
    pub list_rules: bool,

    /// Say what a rule finds, why, and how to mend it, and stop
    #[arg(long, value_name = "RULE")]
    pub explain: Option<RulePattern>,
}

/// The forms of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ValidateFormat {
    /// For people: each finding under the line it is about
    #[default]
    Human,
    /// For programs: one document of the schema zarrpack.validate/1
    Json,
    /// For GitHub: annotations of a workflow
    Github,
}

/// When a run fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// On errors
    #[default]
    Error,
    /// On warnings and errors
    Warning,
    /// On anything found
    Info,
    /// On nothing found
    Never,
}

impl FailOn {
    /// The least severity at which the run fails.
    const fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Never => None,
        }
    }
}

/// The kinds of a single document, by the names of their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocumentName {
    /// An array or group of Zarr v3
    #[value(name = "zarr.json")]
    ZarrJson,
    /// An array of Zarr v2
    #[value(name = ".zarray")]
    ZArray,
    /// A group of Zarr v2
    #[value(name = ".zgroup")]
    ZGroup,
    /// Attributes of Zarr v2
    #[value(name = ".zattrs")]
    ZAttrs,
    /// Consolidated metadata of Zarr v2
    #[value(name = ".zmetadata")]
    ZMetadata,
}

impl DocumentName {
    const fn kind(self) -> DocumentKind {
        match self {
            Self::ZarrJson => DocumentKind::ZarrJson,
            Self::ZArray => DocumentKind::ZArray,
            Self::ZGroup => DocumentKind::ZGroup,
            Self::ZAttrs => DocumentKind::ZAttrs,
            Self::ZMetadata => DocumentKind::ZMetadata,
        }
    }
}

/// Validates.
///
/// # Errors
///
/// Where a pattern matches no array, or a STORE cannot be opened.
pub fn run(ui: &mut Ui, args: &ValidateArgs) -> Result<ExitCode, Error> {
    if args.list_rules {
        return listing::list(ui, args.format);
    }
    if let Some(pattern) = &args.explain {
        return listing::explain(ui, pattern, args.format);
    }
    let usage = |error: &dyn std::fmt::Display| Error::usage(error.to_string());
    let policy = Policy::new(&args.allow, &args.deny).map_err(|error| usage(&error))?;
    let selection = Selection::new(args.arrays.clone())
        .map_err(|error| Error::usage(format!("the patterns of --array: {error}")))?;
    let mut output = Output::new(args.format, ui);
    let mut gatherer = Gatherer {
        policy: &policy,
        selection: &selection,
        summary: Summary {
            errors: 0,
            warnings: 0,
            infos: 0,
            arrays: 0,
            groups: 0,
            documents: 0,
            unreadable: 0,
            fail_on: fail_on_name(args.fail_on),
            failed: false,
        },
        kind: args.kind.map(DocumentName::kind),
        kind_used: false,
        errors: Vec::new(),
    };
    for given in &args.stores {
        output.begin(given);
        gatherer.one(ui, given, &mut output)?;
        output.end(ui)?;
    }
    let Gatherer {
        mut summary,
        kind_used,
        errors,
        ..
    } = gatherer;
    if summary.unreadable == 0 && errors.is_empty() {
        selection.require_all_used()?;
        if args.kind.is_some() && !kind_used {
            return Err(Error::usage(
                "--kind says what a single document is, and there is none",
            ));
        }
    }
    summary.failed = match args.fail_on.severity() {
        None => false,
        Some(Severity::Error) => summary.errors > 0,
        Some(Severity::Warning) => summary.errors + summary.warnings > 0,
        Some(Severity::Info) => summary.errors + summary.warnings + summary.infos > 0,
    };
    let mut code = if summary.failed {
        ExitCode::Findings
    } else {
        ExitCode::Done
    };
    if summary.unreadable > 0 {
        code = code.merge(ExitCode::Io);
    }
    output.finish(ui, summary)?;
    ui.flush()?;
    for error in &errors {
        ui.error(error);
        code = code.merge(error.exit_code());
    }
    Ok(code)
}

fn fail_on_name(fail_on: FailOn) -> String {
    fail_on
        .severity()
        .map_or("never", Severity::name)
        .to_owned()
}
