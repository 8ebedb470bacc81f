//! `zarrpack suggest-params`: arguments, and the run from inputs to a plan.

mod figures;
mod inputs;
mod outline;
mod present;

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use self::inputs::{Chosen, Inputs, Watch};
use self::present::{Entry, Place};
use super::rewrite::input::heed_signals;
use crate::catalog::named;
use crate::cli::{DataTypeParser, Example, GlobalArgs, footer};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::interrupt::Interrupt;
use crate::pipeline::Pipeline;
use crate::report::suggest_params::{Report, SCHEMA};
use crate::selection::ArrayPattern;
use crate::suggest::{
    Missing, ReadError, Refusal, Subject, SuggestError, Tolerance, Wish, suggest, suggest_common,
};
use crate::transform::data_type::DataType;
use crate::ui::Ui;

const EXAMPLES: &[Example] = &[
    Example {
        purpose: "Propose a chain that keeps every value within 0.005",
        command: "zarrpack suggest-params era5.zarr --array t2m --max-error 0.005",
    },
    Example {
        purpose: "Pack a whole store so that each variable keeps two decimals",
        command: "zarrpack suggest-params in.zarr --decimals 2 --format json |\nzarrpack encode in.zarr out.zarr --params -",
    },
    Example {
        purpose: "Ask whether float32 values are whole multiples of something, and pack them bit for bit",
        command: "zarrpack suggest-params in.zarr --array depth --lossless",
    },
    Example {
        purpose: "Plan for temperatures that nobody has measured yet, with room on both sides",
        command: "zarrpack suggest-params --range 180 330 --max-error 0.005 --headroom 10",
    },
];

/// Propose offset, scale and type for an error that you can live with
///
/// INPUT is a Zarr store of version 2 or 3 (a hierarchy, a group or an array in it) or a .npy file. For each selected array, chains of
/// scale_offset and cast_value are run over every value, and what comes back is measured: what is recommended keeps the
/// promise for every finite value, keeps zero zero where the data hold it, has a code for NaN that no value uses, and a fill that
/// survives. "zarrpack encode --params" takes the JSON form as it is.
///
/// Without INPUT, --range says which values to plan for. Coordinates, labels and strings are left out unless --array selects
/// them.
#[derive(Debug, Args)]
#[command(after_long_help = footer(EXAMPLES), allow_negative_numbers = true)]
pub struct SuggestParamsArgs {
    /// Store or .npy file; several with --common
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// Keep every finite value within E: |decoded - original|, in float64
    #[arg(long, value_name = "E", group = "tolerance", value_parser = not_negative)]
    pub max_error: Option<f64>,

    /// Keep N decimals: half a unit of the last one, beside what the array's own type cannot hold
    #[arg(long, value_name = "N", group = "tolerance", value_parser = clap::value_parser!(i32).range(-30..=30))]
    pub decimals: Option<i32>,

    /// Keep every value other than zero within R of itself: 0.001 is a thousandth
    #[arg(long, value_name = "R", group = "tolerance", value_parser = positive)]
    pub relative_error: Option<f64>,

    /// Keep every value bit for bit
    ///
    /// That takes a step of which all values are multiples. A NaN comes back as a NaN, whatever its payload.
    #[arg(long, group = "tolerance")]
    pub lossless: bool,

    /// Use at most 2^N codes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub bits: Option<u32>,

    /// Store this type; without an error to keep, as precisely as it can
    #[arg(long, value_name = "TYPE", value_parser = DataTypeParser)]
    pub to: Option<DataType>,

    /// Use this scale: stored = (value - offset) * scale
    #[arg(long, value_name = "S", value_parser = scale, allow_hyphen_values = true)]
    pub scale: Option<String>,

    /// Use this offset
    #[arg(long, value_name = "O", value_parser = number, allow_hyphen_values = true)]
    pub offset: Option<String>,

    /// Keep this value exact, beside 0 where the data hold it; repeatable
    #[arg(long, value_name = "V", value_parser = finite, allow_hyphen_values = true)]
    pub keep_exact: Vec<f64>,

    /// Leave room for values beyond those of the data, on each side, in percent of their span
    #[arg(long, value_name = "PERCENT", value_parser = not_negative, default_value = "0", hide_default_value = true)]
    pub headroom: f64,

    /// Plan for these values, whatever the data hold within them
    #[arg(long, value_names = ["MIN", "MAX"], num_args = 2, value_parser = finite, allow_hyphen_values = true)]
    pub range: Option<Vec<f64>>,

    /// Code for NaN: auto (where the data or the fill is NaN), none, or a code
    #[arg(long, value_name = "CODE", default_value = "auto", value_parser = missing)]
    pub missing: Missing,

    /// Types to choose from: those that zarr-python reads (8 to 64 bits), or all
    #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
    pub types: Types,

    /// Make one proposal that serves all selected arrays
    #[arg(long)]
    pub common: bool,

    /// Read a share of the chunks only, in percent; what is said of errors is then said of that share
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub sample: Option<f64>,

    /// Type of the values to plan for without INPUT [default: float32]
    #[arg(long, value_name = "TYPE", value_parser = DataTypeParser)]
    pub dtype: Option<DataType>,

    /// Arrays to propose for: a glob on their paths, or !GLOB to leave some out; repeatable
    ///
    /// Paths have no leading slash. "*" stops at "/", "**" crosses it.
    #[arg(long = "array", value_name = "GLOB")]
    pub arrays: Vec<ArrayPattern>,

    /// Form of the report
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub format: ReportFormat,
}

/// The forms of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people: a table of candidates, and what is recommended
    #[default]
    Human,
    /// For "encode --params": one document of the schema zarrpack.suggest-params/1
    Json,
}

/// The types to choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Types {
    /// Integers of 8, 16, 32 and 64 bits
    #[default]
    Common,
    /// Integers of 2 and 4 bits too, and narrower floats
    All,
}

/// Proposes parameters.
///
/// # Errors
///
/// Where the command line asks for what cannot be done, the values cannot be read, or nothing can be proposed.
pub fn run(ui: &mut Ui, global: &GlobalArgs, args: &SuggestParamsArgs) -> Result<ExitCode, Error> {
    let wish = args.wish()?;
    let inputs = Inputs::open(args)?;
    let chosen = inputs.choose(ui, args, global.memory())?;
    let interrupt = heed_signals()?;
    let mut found = Found::default();
    if args.common {
        common(ui, global, &interrupt, &chosen, &wish, &mut found)?;
    } else {
        for one in &chosen {
            let subject = one.subject(&wish).map_err(SuggestError::from);
            let suggestion = subject.and_then(|subject| {
                with_progress(ui, global, &interrupt, &[&subject], |pipeline| {
                    suggest(&subject, &wish, pipeline)
                })
            });
            match suggestion {
                Ok(suggestion) => found.entries.extend(present::one_array(one, &suggestion)),
                // What nobody asked for by name is left as it is where it cannot gain.
                Err(SuggestError::Refused(refusal))
                    if one.by_default && chosen.len() > 1 && one.is_integer() =>
                {
                    ui.status(format!("{}: left as it is: {refusal}", named(&one.path)));
                }
                Err(SuggestError::Refused(refusal)) => found.refuse(Some(one), *refusal),
                Err(SuggestError::Unreadable { error, .. }) => found.unreadable(one, &error),
                Err(SuggestError::Interrupted(interrupted)) => return Err(interrupted.into()),
            }
        }
    }
    report(ui, args, found)
}

/// What was found of the arrays.
struct Found {
    entries: Vec<Entry>,
    /// What kind of an error refusals are.
    kind: ErrorKind,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            kind: ErrorKind::Finding,
        }
    }
}

impl Found {
    /// Notes that nothing is proposed for an array, or for all of them. The others are none the worse for it.
    fn refuse(&mut self, one: Option<&Chosen>, refusal: Refusal) {
        if one.and_then(Chosen::refused_as) == Some(ErrorKind::Io) {
            self.kind = ErrorKind::Io;
        }
        self.entries.push(Entry::Refused {
            place: one.map(Place::of),
            refusal: Box::new(refusal),
        });
    }

    fn unreadable(&mut self, one: &Chosen, error: &ReadError) {
        let error = unreadable(&one.path, error);
        if error.kind() == ErrorKind::Io {
            self.kind = ErrorKind::Io;
        }
        self.refuse(Some(one), Refusal::of_chunk(error.to_string()));
    }
}

/// One proposal for all arrays of which values can be read.
fn common(
    ui: &Ui,
    global: &GlobalArgs,
    interrupt: &Interrupt,
    chosen: &[Chosen],
    wish: &Wish,
    found: &mut Found,
) -> Result<(), Error> {
    let mut subjects = Vec::new();
    for one in chosen {
        match one.subject(wish) {
            Ok(subject) => subjects.push((one, subject)),
            Err(refusal) => found.refuse(Some(one), refusal),
        }
    }
    while !subjects.is_empty() {
        let each: Vec<&Subject<'_>> = subjects.iter().map(|(_, subject)| subject).collect();
        let suggestion = with_progress(ui, global, interrupt, &each, |pipeline| {
            suggest_common(&each, wish, pipeline)
        });
        match suggestion {
            Ok(suggestion) => {
                let served: Vec<&Chosen> = subjects.iter().map(|(one, _)| *one).collect();
                found
                    .entries
                    .extend(present::all_arrays(&served, &suggestion));
                break;
            }
            Err(SuggestError::Refused(refusal)) => {
                found.refuse(None, *refusal);
                break;
            }
            Err(SuggestError::Unreadable { subject, error }) => {
                let (one, _) = subjects.remove(subject);
                found.unreadable(one, &error);
            }
            Err(SuggestError::Interrupted(interrupted)) => return Err(interrupted.into()),
        }
    }
    Ok(())
}

/// Runs both passes with a bar for them.
fn with_progress<R>(
    ui: &Ui,
    global: &GlobalArgs,
    interrupt: &Interrupt,
    subjects: &[&Subject<'_>],
    work: impl FnOnce(&Pipeline<'_>) -> R,
) -> R {
    let chunks: u64 = subjects.iter().map(|subject| subject.tasks_to_read()).sum();
    let progress = ui.progress(chunks.saturating_mul(2), "chunks");
    let watch = Watch::new(&progress);
    let pipeline = Pipeline {
        threads: global.threads(),
        memory: global.memory(),
        interrupt,
        observer: &watch,
    };
    work(&pipeline)
}

/// Prints the report; refusals make an error of their kind.
fn report(ui: &mut Ui, args: &SuggestParamsArgs, found: Found) -> Result<ExitCode, Error> {
    let kind = found.kind;
    let (mut arrays, mut refusals) = (Vec::new(), Vec::new());
    for entry in found.entries {
        match entry {
            Entry::Array(array) => arrays.push(*array),
            Entry::Refused { place, refusal } => refusals.push((place, refusal)),
        }
    }
    let refused = refusals
        .iter()
        .map(|(place, refusal)| present::refused(place.as_ref(), refusal));
    let report = Report {
        schema: SCHEMA.to_owned(),
        arrays,
        refused: refused.collect(),
    };
    match args.format {
        ReportFormat::Json => {
            ui.print(crate::report::to_json(&report)?)?;
        }
        ReportFormat::Human => {
            let style = ui.output_style();
            for (n, array) in report.arrays.iter().enumerate() {
                if n > 0 {
                    ui.print("\n")?;
                }
                for line in outline::lines(array, style) {
                    ui.print(line + "\n")?;
                }
            }
        }
    }
    let mut refusals = refusals.into_iter();
    match (refusals.next(), refusals.len()) {
        (None, _) => Ok(ExitCode::Done),
        (Some((place, refusal)), 0) => Err(refusal_error(place.as_ref(), &refusal, kind)),
        (Some(first), more) => {
            let mut error = Error::new(
                kind,
                format!("nothing can be proposed for {} arrays", more + 1),
            );
            for (place, refusal) in std::iter::once(first).chain(refusals) {
                let place = place.as_ref().and_then(place_name);
                let place = place.unwrap_or_else(|| "all of them".to_owned());
                error = error.detail(format!("{place}: {refusal}"));
                for detail in refusal.details.iter().chain(&refusal.hints) {
                    error = error.detail(format!("{place}: {detail}"));
                }
            }
            Err(error)
        }
    }
}

/// What an array is called in messages; `None` where it is all that there is.
fn place_name(place: &Place) -> Option<String> {
    let path = place.path.as_deref().filter(|path| !path.is_empty());
    path.map(named).or_else(|| place.input.clone())
}

fn refusal_error(place: Option<&Place>, refusal: &Refusal, kind: ErrorKind) -> Error {
    let path = place.and_then(|place| place.path.as_deref());
    let message = match path {
        Some(path) if !path.is_empty() => format!("{}: {refusal}", named(path)),
        _ => refusal.to_string(),
    };
    let mut error = Error::new(kind, message);
    for detail in &refusal.details {
        error = error.detail(detail.clone());
    }
    for hint in &refusal.hints {
        error = error.hint(hint.clone());
    }
    error
}

fn unreadable(path: &str, error: &ReadError) -> Error {
    match error {
        ReadError::Chunk(error) => Error::new(
            error.failure.kind.error_kind(),
            format!("{}: {error}", named(path)),
        ),
        ReadError::File { cause, .. } => Error::new(ErrorKind::Io, format!("{error}: {cause}")),
    }
}

impl SuggestParamsArgs {
    fn wish(&self) -> Result<Wish, Error> {
        let tolerance = if self.lossless {
            Tolerance::Bitwise
        } else if let Some(error) = self.max_error {
            Tolerance::Absolute(error)
        } else if let Some(decimals) = self.decimals {
            Tolerance::Decimals(decimals)
        } else if let Some(share) = self.relative_error {
            Tolerance::Relative(share)
        } else {
            Tolerance::Open
        };
        let open = self.bits.is_none() && self.to.is_none() && self.scale.is_none();
        if tolerance == Tolerance::Open && open {
            return Err(Error::usage("nothing says how precise values must stay").hint(
                "say it with --max-error E, --decimals N, --relative-error R, --lossless, --bits N or --to TYPE",
            ));
        }
        if self.dtype.is_some() && !self.inputs.is_empty() {
            return Err(Error::usage(
                "--dtype cannot be used with INPUT, which has a type",
            ));
        }
        if self.inputs.is_empty() && self.range.is_none() {
            return Err(Error::usage("INPUT is missing")
                .hint("without data, --range MIN MAX says which values to plan for"));
        }
        let range = match self.range.as_deref() {
            Some(&[low, high]) if low <= high => Some((low, high)),
            Some(_) => {
                return Err(Error::usage(
                    "--range must be given as MIN MAX, the smaller one first",
                ));
            }
            None => None,
        };
        if self.inputs.is_empty() {
            self.refuse_without_data()?;
        }
        if self.inputs.len() > 1 && !self.common {
            return Err(Error::usage(
                "several INPUTs need --common, for one proposal that serves all",
            ));
        }
        Ok(Wish {
            tolerance,
            bits: self.bits,
            to: self.to,
            scale: self.scale.clone(),
            offset: self.offset.clone(),
            keep_exact: self.keep_exact.clone(),
            headroom: self.headroom,
            range,
            missing: self.missing,
            all_types: self.types == Types::All,
            share: self.sample.unwrap_or(100.0) / 100.0,
        })
    }

    /// Refuses flags that can have no effect without data.
    fn refuse_without_data(&self) -> Result<(), Error> {
        let useless = [
            ("--array", !self.arrays.is_empty()),
            ("--sample", self.sample.is_some()),
            ("--common", self.common),
            ("--lossless", self.lossless),
        ];
        match useless.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::usage(format!("{flag} needs INPUT"))),
            None => Ok(()),
        }
    }
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| "expected a finite number".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = finite(text).ok().filter(|number| *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    let number = finite(text).ok().filter(|number| *number > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let number = positive(text.trim_end_matches('%')).ok();
    let number = number.filter(|number| *number <= 100.0);
    number.ok_or_else(|| "expected a percentage above 0 and up to 100".to_owned())
}

/// A number, kept as it is written, since it goes into documents.
fn number(text: &str) -> Result<String, String> {
    finite(text)?;
    // The grammar of JSON is narrower than that of the parser: no plus, no bare dots.
    match serde_json::from_str::<serde_json::Number>(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("expected a number as JSON writes it, such as 0.5 or 1e-3".to_owned()),
    }
}

fn scale(text: &str) -> Result<String, String> {
    let written = number(text)?;
    if finite(text)? == 0.0 {
        return Err("a scale must not be 0".to_owned());
    }
    Ok(written)
}

fn missing(text: &str) -> Result<Missing, String> {
    match text {
        "auto" => Ok(Missing::Auto),
        "none" => Ok(Missing::None),
        code => code
            .parse()
            .map(Missing::Code)
            .map_err(|_| "expected auto, none or a whole number".to_owned()),
    }
}
