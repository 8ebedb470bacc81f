//! `decode` to a plain store.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::super::rewrite::documents::{groups, stale_copies};
use super::super::rewrite::input::{
    Input, Watch, chunk_error, heed_signals, open, shares, stopped, warn_of_fill,
};
use super::super::rewrite::output::{copy, default_key, existing_chunks, key};
use super::documents::{self, PlainDocument};
use super::{DecodeArgs, Format};
use crate::catalog::{ArrayText, Entry, Kind, named};
use crate::cli::GlobalArgs;
use crate::codecs::model::Model;
use crate::codecs::{ArrayDocument, OpenArray, PlainEncoder};
use crate::error::{Error, ErrorKind, ExitCode};
use crate::interrupt::Interrupt;
use crate::pipeline::{OnFailure, Pipeline};
use crate::store::{Existing, Place, Staging};
use crate::ui::Ui;

/// What is done with one array.
struct Planned<'a> {
    entry: &'a Entry,
    action: Action,
}

enum Action {
    Decode(Box<Decode>),
    /// All files are copied as they are.
    Copy,
    /// The array cannot be decoded, for this reason.
    Skip(Error),
}

struct Decode {
    array: OpenArray,
    document: PlainDocument,
    encoder: PlainEncoder,
    /// Whether chunks keep their keys.
    same_keys: bool,
}

/// The report as JSON.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    dry_run: bool,
    arrays: Vec<ArrayReport>,
}

#[derive(Debug, Serialize)]
struct ArrayReport {
    path: String,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<Vec<u64>>,
    /// Compressors that zstd stands in for.
    replaced: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let input = Input::open(&args.input, &args.array)?;
    let output = Place::resolve(&args.output)?;
    Place::require_apart(input.store.place(), &output)?;
    let existing = if args.overwrite {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    Staging::check(&output, existing)?;
    let (threads, memory, _) = shares(global);
    let mut exit = ExitCode::Done;
    if let Some(error) = input.catalog.error() {
        if !args.skip_undecodable {
            return Err(error.hint("--skip-undecodable goes on without what cannot be read"));
        }
        ui.warning(&error);
        exit = exit.merge(error.exit_code());
    }
    let planned = plan(ui, &input, memory);
    input.selection.require_all_used()?;
    refuse_undecodable(ui, &planned, args.skip_undecodable, &mut exit)?;
    let groups = group_documents(ui, &input, &planned)?;
    if !args.dry_run {
        let interrupt = heed_signals()?;
        let staging = Staging::begin(&output, existing)?;
        for leftover in staging.leftovers() {
            ui.status(leftover);
        }
        let pipeline = Pipeline {
            threads,
            memory,
            interrupt: &interrupt,
            observer: &Watch::default(),
        };
        for node in &planned {
            write(
                ui,
                &pipeline,
                &staging,
                input.store.directory(),
                node,
                &interrupt,
            )?;
        }
        for (path, text) in &groups {
            staging.write(&key(path, "zarr.json"), text.as_bytes())?;
        }
        staging.publish(&interrupt)?;
    }
    report(ui, args, &planned)?;
    Ok(exit)
}

/// Decides what is done with each array.
fn plan<'a>(ui: &mut Ui, input: &'a Input, memory: u64) -> Vec<Planned<'a>> {
    let mut planned = Vec::new();
    for (entry, text) in input.arrays() {
        let selected = input.selection.contains(&entry.path);
        let v2 = matches!(text, ArrayText::V2 { .. });
        // Beside a zarr.json, arrays of v2 would vanish from readers: they are rewritten whether selected or not.
        let action = if v2 || selected && has_filters(text) {
            warn_of_fill(ui, entry, text);
            match decode(entry, text, memory) {
                Ok(decode) => Action::Decode(Box::new(decode)),
                Err(error) => Action::Skip(error),
            }
        } else {
            if let Ok(Err(error)) = text.with(OpenArray::check) {
                ui.warning(format!(
                    "{}: copied as it is, though it cannot be decoded here: {error}",
                    named(&entry.path)
                ));
            }
            Action::Copy
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

fn decode(entry: &Entry, text: &ArrayText, memory: u64) -> Result<Decode, Error> {
    let array = open(entry, text, memory)?;
    let document = documents::array(text, &array)?;
    let encoder = PlainEncoder::new(&document.text).map_err(|reason| {
        Error::finding(format!(
            "{} cannot be written as a plain array",
            named(&entry.path)
        ))
        .detail(reason)
    })?;
    Ok(Decode {
        array,
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
    if skip {
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
    for one in refused {
        error = error.detail(one.to_string());
        for detail in one.details() {
            error = error.detail(detail.clone());
        }
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

fn write(
    ui: &mut Ui,
    pipeline: &Pipeline<'_>,
    staging: &Staging,
    store: &Path,
    planned: &Planned<'_>,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    let Planned { entry, action } = planned;
    match action {
        Action::Skip(_) => Ok(()),
        Action::Copy => copy(staging, store, entry, interrupt),
        Action::Decode(decode) => {
            write_chunks(ui, pipeline, staging, entry, decode)?;
            staging.write(
                &key(&entry.path, "zarr.json"),
                decode.document.text.as_bytes(),
            )?;
            Ok(())
        }
    }
}

fn write_chunks(
    ui: &mut Ui,
    pipeline: &Pipeline<'_>,
    staging: &Staging,
    entry: &Entry,
    decode: &Decode,
) -> Result<(), Error> {
    let Decode {
        array,
        encoder,
        same_keys,
        ..
    } = decode;
    let chunks = existing_chunks(array, &entry.directory)?;
    let progress = ui.progress(chunks.len() as u64, "chunks");
    // The chunk as it is stored, decoded, and encoded again; a shard is decoded whole.
    let decoded = array.working_bytes();
    let working = decoded
        .saturating_add(decoded / 2)
        .saturating_add(array.chunk_bytes());
    let written = pipeline.unordered(
        chunks.into_iter(),
        |_| working,
        OnFailure::Stop,
        |index| -> Result<(), Error> {
            let chunk = array
                .decode_chunk(&index)
                .map_err(|error| chunk_error(&entry.path, &error))?;
            if let Some(chunk) = chunk {
                let encoded = encoder.encode(chunk).map_err(|reason| {
                    Error::finding(format!(
                        "{}: chunk {index:?} cannot be encoded: {reason}",
                        named(&entry.path)
                    ))
                })?;
                let object = if *same_keys {
                    array.chunk_key(&index)
                } else {
                    default_key(&index)
                };
                staging.write(&key(&entry.path, &object), &encoded)?;
            }
            progress.advance(1);
            Ok(())
        },
    );
    drop(progress);
    written.into_result().map(|_| ()).map_err(stopped)
}

fn report(ui: &mut Ui, args: &DecodeArgs, planned: &[Planned<'_>]) -> Result<(), Error> {
    let arrays: Vec<ArrayReport> = planned.iter().map(ArrayReport::of).collect();
    if args.format == Some(Format::Json) {
        let report = Report {
            schema: "zarrpack.decode/1",
            dry_run: args.dry_run,
            arrays,
        };
        let text = serde_json::to_string_pretty(&report);
        let text = text.map_err(|error| Error::finding("the report is no JSON").because(error))?;
        return ui.print(text + "\n");
    }
    for array in arrays {
        let shape = array.shape.iter().map(|shape| format!(" {shape:?}"));
        let data_type = array.data_type.iter().map(|name| format!(" {name}"));
        let replaced = array
            .replaced
            .iter()
            .map(|name| format!(", zstd instead of {name}"));
        let reason = array.reason.iter().map(|reason| format!(": {reason}"));
        let rest: String = data_type
            .chain(shape)
            .chain(replaced)
            .chain(reason)
            .collect();
        ui.print(format!(
            "{:<7} {}{rest}\n",
            array.action,
            named(&array.path)
        ))?;
    }
    Ok(())
}

impl ArrayReport {
    fn of(planned: &Planned<'_>) -> Self {
        let mut report = Self {
            path: planned.entry.path.clone(),
            action: "copy",
            data_type: None,
            shape: None,
            replaced: Vec::new(),
            reason: None,
        };
        match &planned.action {
            Action::Copy => {}
            Action::Skip(error) => {
                report.action = "skip";
                report.reason = Some(error.to_string());
            }
            Action::Decode(decode) => {
                report.action = "decode";
                report.data_type = Some(decode.array.data_type().to_owned());
                report.shape = Some(decode.array.shape().to_vec());
                report.replaced.clone_from(&decode.document.replaced);
            }
        }
        report
    }
}
