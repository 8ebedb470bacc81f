//! `decode` to a plain store.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::rewrite::documents::{groups, stale_copies};
use super::super::rewrite::input::{
    Input, Watch, heed_signals, place, shares, stopped, warn_of_fill,
};
use super::super::rewrite::output::{copy, default_key, key, refuse_stale_copies};
use super::super::rewrite::report_file::ReportFile;
use super::cf::CfType;
use super::documents::{self, PlainDocument};
use super::source::Source;
use super::{DecodeArgs, Format, reporting, verify};
use crate::catalog::{ArrayText, Entry, Kind, named};
use crate::cli::GlobalArgs;
use crate::codecs::model::Model;
use crate::codecs::{ArrayDocument, OpenArray, PlainEncoder};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::pieces::stored_chunks;
use crate::pipeline::{OnFailure, Pipeline};
use crate::report::decode::{Action as Did, Array as ArrayReport};
use crate::store::{Place, Staging};
use crate::ui::Ui;

/// What is done with one array.
pub(super) struct Planned<'a> {
    pub(super) entry: &'a Entry,
    pub(super) action: Action,
}

pub(super) enum Action {
    Decode(Box<Decode>),
    /// All files are copied as they are.
    Copy,
    /// The array cannot be decoded, for this reason.
    Skip(Error),
}

pub(super) struct Decode {
    pub(super) source: Source,
    pub(super) document: PlainDocument,
    encoder: PlainEncoder,
    /// Whether chunks keep their keys.
    same_keys: bool,
}

impl Decode {
    /// The key of a chunk in OUTPUT.
    pub(super) fn chunk_key(&self, index: &[u64]) -> String {
        if self.same_keys {
            self.source.array.chunk_key(index)
        } else {
            default_key(index)
        }
    }

    /// The memory that a chunk takes on its way: as it is stored, decoded, unpacked, and encoded again. A shard is decoded
    /// whole.
    pub(super) fn working_bytes(&self) -> u64 {
        let array = &self.source.array;
        let decoded = array.working_bytes();
        let elements = array.chunk_bytes() / array.element_size().max(1) as u64;
        let written = elements.saturating_mul(self.source.element_size() as u64);
        let unpacked = self.source.cf.as_ref().map_or(0, |_| written);
        decoded
            .saturating_add(decoded / 2)
            .saturating_add(written)
            .saturating_add(unpacked)
    }
}

/// What is written, and by what.
pub(super) struct Job<'a> {
    pub(super) pipeline: Pipeline<'a>,
    pub(super) staging: Staging,
    /// The directory of INPUT.
    pub(super) store: &'a Path,
}

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let input = Input::open(&args.input, &args.array)?;
    let output = Place::resolve(&args.output)?;
    Place::require_apart(input.store.place(), &output)?;
    let report_place = ReportFile::check(
        args.report.as_deref(),
        args.existing(),
        &[(input.store.place(), "INPUT"), (&output, "OUTPUT")],
    )?;
    Staging::check(&output, args.existing())?;
    refuse_stale_copies(&output)?;
    let (threads, memory, _) = shares(global);
    let mut exit = ExitCode::Done;
    if let Some(error) = input.catalog.error() {
        if !args.skip_undecodable {
            return Err(error.hint("--skip-undecodable goes on without what cannot be read"));
        }
        ui.warning(&error);
        exit = exit.merge(error.exit_code());
    }
    let planned = plan(ui, &input, memory, args);
    input.selection.require_all_used()?;
    refuse_undecodable(ui, &planned, args.skip_undecodable, &mut exit)?;
    let groups = group_documents(ui, &input, &planned)?;
    let arrays = planned.iter().map(reported).collect();
    let report = reporting::report(args, "zarr", arrays);
    if !args.dry_run {
        let interrupt = heed_signals()?;
        let report_file = report_place.begin(ui)?;
        let staging = Staging::begin(&output, args.existing())?;
        for leftover in staging.leftovers() {
            ui.status(leftover);
        }
        let job = Job {
            pipeline: Pipeline {
                threads,
                memory,
                interrupt: &interrupt,
                observer: &Watch::default(),
            },
            staging,
            store: input.store.directory(),
        };
        for node in &planned {
            write(ui, &job, node)?;
        }
        for (path, text) in &groups {
            job.staging
                .write(&key(path, "zarr.json"), text.as_bytes())?;
        }
        if args.verify {
            verify::store(ui, &job, &planned, &groups)?;
        }
        job.staging.publish(&interrupt)?;
        report_file.publish(&report)?;
    }
    if args.format == Some(Format::Json) {
        ui.print(crate::report::to_json(&report)?)?;
    } else {
        reporting::print(ui, &planned, &report.arrays)?;
    }
    Ok(exit)
}

/// Decides what is done with each array.
fn plan<'a>(ui: &mut Ui, input: &'a Input, memory: u64, args: &DecodeArgs) -> Vec<Planned<'a>> {
    let mut planned = Vec::new();
    for (entry, text) in input.arrays() {
        let selected = input.selection.contains(&entry.path);
        let v2 = matches!(text, ArrayText::V2 { .. });
        // Beside a zarr.json, arrays of v2 would vanish from readers: they are rewritten whether selected or not.
        let cf = args.cf.filter(|_| selected);
        let packed = v2 || selected && has_filters(text);
        let decoded = if packed
            || cf.is_some() && text.with(OpenArray::check).is_ok_and(|open| open.is_ok())
        {
            Some(decode(entry, text, memory, cf))
        } else {
            None
        };
        let action = match decoded {
            Some(Err(error)) => {
                warn_of_fill(ui, entry, text);
                Action::Skip(error)
            }
            // What has neither codecs nor attributes to apply stays as it is.
            Some(Ok(decode)) if packed || decode.source.cf.is_some() => {
                warn_of_fill(ui, entry, text);
                decode.source.warn(ui);
                Action::Decode(Box::new(decode))
            }
            _ => {
                if let Ok(Err(error)) = text.with(OpenArray::check) {
                    let problems = error.problems.iter().map(|problem| place(text, problem));
                    ui.warning(format!(
                        "{}: copied as it is, though it cannot be decoded here: {}",
                        named(&entry.path),
                        problems.collect::<Vec<_>>().join("; ")
                    ));
                }
                Action::Copy
            }
        };
        planned.push(Planned { entry, action });
    }
    planned
}

/// Whether an array has codecs that a plain one has not.
fn has_filters(text: &ArrayText) -> bool {
    let filters = text.with(|document: ArrayDocument<'_, '_>| {
        let Ok(model) = Model::new(document) else {
            return true;
        };
        model.has_filters()
    });
    filters.unwrap_or(true)
}

/// Prepares the decoding of an array.
pub(super) fn decode(
    entry: &Entry,
    text: &ArrayText,
    memory: u64,
    cf: Option<CfType>,
) -> Result<Decode, Error> {
    let source = Source::open(entry, text, memory, cf)?;
    let document = documents::array(text, &source)?;
    let encoder = PlainEncoder::new(&document.text).map_err(|reason| {
        Error::finding(format!(
            "{} cannot be written as a plain array",
            named(&entry.path)
        ))
        .detail(reason)
    })?;
    Ok(Decode {
        source,
        document,
        encoder,
        same_keys: matches!(text, ArrayText::V3(_)),
    })
}

/// Ends the run at the first array that cannot be decoded, unless it is to go on without.
fn refuse_undecodable(
    ui: &mut Ui,
    planned: &[Planned<'_>],
    skip: bool,
    exit: &mut ExitCode,
) -> Result<(), Error> {
    let mut refused = Vec::new();
    for Planned { action, .. } in planned {
        if let Action::Skip(error) = action {
            *exit = exit.merge(error.exit_code());
            refused.push(error);
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    // Without an array that is the root there is no store.
    let is_root =
        |one: &Planned<'_>| one.entry.path.is_empty() && matches!(one.action, Action::Skip(_));
    let goes_on = skip && !planned.iter().any(is_root);
    if goes_on {
        for error in refused {
            let details: String = error
                .details()
                .iter()
                .map(|detail| format!("; {detail}"))
                .collect();
            ui.warning(format!("skipped: {error}{details}"));
        }
        return Ok(());
    }
    let count = refused.len();
    let kind = if *exit == ExitCode::Io {
        ErrorKind::Io
    } else {
        ErrorKind::Finding
    };
    let arrays = if count == 1 { "array" } else { "arrays" };
    let mut error = Error::new(kind, format!("{count} {arrays} cannot be decoded"));
    let mut hints: Vec<&String> = Vec::new();
    for one in refused {
        error = error.detail(one.to_string());
        for hint in one.hints() {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        for detail in one.details() {
            error = error.detail(detail.clone());
        }
    }
    for hint in hints {
        error = error.hint(hint.clone());
    }
    if skip {
        return Err(error);
    }
    Err(error.hint("--skip-undecodable goes on without them"))
}

fn group_documents(
    ui: &mut Ui,
    input: &Input,
    planned: &[Planned<'_>],
) -> Result<BTreeMap<String, String>, Error> {
    let (mut arrays, mut copied, mut skipped) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for Planned { entry, action } in planned {
        match action {
            Action::Decode(decode) => {
                arrays.insert(entry.path.as_str(), decode.document.text.as_str());
            }
            Action::Copy => {
                if let Kind::Array(ArrayText::V3(text)) = &entry.kind {
                    copied.insert(entry.path.as_str(), text.text.as_str());
                }
            }
            Action::Skip(_) => skipped.push(entry.path.as_str()),
        }
    }
    for entry in &input.catalog.entries {
        if let Kind::Broken(_) = entry.kind {
            skipped.push(&entry.path);
        }
    }
    let stale = stale_copies(&input.catalog);
    for path in &stale {
        ui.warning(format!(
            "{}: listed by consolidated metadata, and not there; the copy is left out of OUTPUT",
            named(path)
        ));
    }
    skipped.extend(stale.iter().map(String::as_str));
    groups(&input.catalog, &arrays, &copied, &skipped)
}

fn write(ui: &mut Ui, job: &Job<'_>, planned: &Planned<'_>) -> Result<(), Error> {
    let Planned { entry, action } = planned;
    match action {
        Action::Skip(_) => Ok(()),
        Action::Copy => copy(&job.staging, job.store, entry, job.pipeline.interrupt),
        Action::Decode(decode) => {
            write_chunks(ui, job, entry, decode)?;
            job.staging.write(
                &key(&entry.path, "zarr.json"),
                decode.document.text.as_bytes(),
            )?;
            Ok(())
        }
    }
}

fn write_chunks(ui: &mut Ui, job: &Job<'_>, entry: &Entry, decode: &Decode) -> Result<(), Error> {
    let chunks = stored_chunks(&decode.source.array, &entry.directory)?;
    let progress = ui.progress(chunks.len() as u64, "chunks");
    let working = decode.working_bytes();
    let written = job.pipeline.unordered(
        chunks.into_iter(),
        |_| working,
        OnFailure::Stop,
        |index| -> Result<(), Error> {
            if let Some(chunk) = decode.source.decode_chunk(&index)? {
                let encoded = decode.encoder.encode(chunk).map_err(|reason| {
                    Error::finding(format!(
                        "{}: chunk {index:?} cannot be encoded: {reason}",
                        named(&entry.path)
                    ))
                })?;
                let object = decode.chunk_key(&index);
                job.staging.write(&key(&entry.path, &object), &encoded)?;
            }
            progress.advance(1);
            Ok(())
        },
    );
    drop(progress);
    written.into_result().map(|_| ()).map_err(stopped)
}

/// What was done with an array, for the report.
fn reported(planned: &Planned<'_>) -> ArrayReport {
    let path = planned.entry.path.clone();
    match &planned.action {
        Action::Copy => ArrayReport {
            path,
            ..ArrayReport::default()
        },
        Action::Skip(error) => ArrayReport {
            path,
            action: Did::Skip,
            reason: Some(reporting::reason(error)),
            ..ArrayReport::default()
        },
        Action::Decode(decode) => ArrayReport {
            replaced: decode.document.replaced.clone(),
            ..reporting::decoded(&decode.source)
        },
    }
}
