//! A run of `encode` from INPUT to OUTPUT: what is done with each array, in the order in which it is done.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::rewrite::documents::{groups, stale_copies};
use super::super::rewrite::input::{Input, Watch, heed_signals, open, shares, warn_of_fill};
use super::super::rewrite::output::{copy, copy_objects, key, refuse_stale_copies};
use super::super::rewrite::report_file::{ReportFile, refuse_standard_input};
use super::attributes;
use super::chain::{Missing, Wanted};
use super::flat::{FlatForm, open_npy};
use super::params::Plan;
use super::plan::{Blueprint, V3Text};
use super::propose::{Finder, refusal_error};
use super::report::{self, Done};
use super::roles::Roles;
use super::source::Source;
use super::write::Run;
use super::{EncodeArgs, Format, raw, unselected};
use crate::catalog::{ArrayText, Entry, Kind, named};
use crate::cli::GlobalArgs;
use crate::error::{Error, ErrorKind, ExitCode};
use crate::migration::v2::NoteKind;
use crate::pipeline::Pipeline;
use crate::store::{Existing, Place, Staging};
use crate::transform::data_type::DataType;
use crate::ui::Ui;

/// Where arrays come from.
enum From {
    Store(Box<Input>),
    Npy(PathBuf),
    Bytes,
}

/// What is done with one array.
struct Planned<'a> {
    path: String,
    entry: Option<&'a Entry>,
    action: Action<'a>,
}

enum Action<'a> {
    Pack(Box<Blueprint<'a>>),
    /// All files are copied as they are.
    Copy(&'static str),
    /// Chunks are copied as they are, beside this document.
    Convert(&'static str, String),
}

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &EncodeArgs) -> Result<ExitCode, Error> {
    let existing = match args.overwrite {
        true => Existing::Replace,
        false => Existing::Refuse,
    };
    let output = Place::resolve(&args.output)?;
    let place = input_place(args, &output)?;
    let report_place = report_place(args, existing, place.as_ref(), &output)?;
    Staging::check(&output, existing)?;
    refuse_stale_copies(&output)?;
    let from = input(args, place)?;
    let wanted = Wanted::read(&args.chain, args.stream.codecs.as_ref())?;
    let (threads, memory, _) = shares(global);
    let mut planned = plan(ui, args, &from, &wanted, memory)?;
    let interrupt = heed_signals()?;
    let wanted = match wanted.sought() {
        None => wanted,
        Some(error) => {
            let progress = ui.count("looked at");
            let observer = |bytes| progress.advance(bytes);
            let pipeline = Pipeline {
                threads,
                memory,
                interrupt: &interrupt,
                observer: &observer,
            };
            let finder = Finder::new(error, &pipeline);
            Wanted::found(seek(ui, args, &from, &mut planned, &finder)?)
        }
    };
    require_bounded(&planned, &wanted, memory)?;
    if args.dry_run {
        return show_plan(ui, args, planned, &wanted);
    }
    let group_documents = match &from {
        From::Store(input) => group_documents_of(ui, input)?,
        From::Npy(_) | From::Bytes => GroupDocuments::default(),
    };
    let report_file = report_place.begin(ui)?;
    let staging = Staging::begin(&output, existing)?;
    for leftover in staging.leftovers() {
        ui.status(leftover);
    }
    let (watch, refused) = (Watch::default(), AtomicBool::new(false));
    let pipeline = Pipeline {
        threads,
        memory,
        interrupt: &interrupt,
        observer: &watch,
    };
    let run = Run {
        args,
        pipeline: &pipeline,
        staging: &staging,
        refused: &refused,
    };
    let mut done = Vec::new();
    let written = write(ui, &run, &from, planned, &wanted, &mut done);
    let refusal = match written {
        Ok(()) => report::refusal(args, &done),
        Err(error) if error.kind() == ErrorKind::Finding => Some(error),
        Err(error) => return Err(error),
    };
    if refusal.is_none() {
        if let From::Store(input) = &from {
            for (path, text) in group_documents.with(input, &done)? {
                staging.write(&key(&path, "zarr.json"), text.as_bytes())?;
            }
        }
        staging.publish(&interrupt)?;
    }
    // From here on the run ends as it would without a signal: what it was to do is done.
    let report = report::report(args, &done, refusal.is_none());
    report_file.publish(&report)?;
    match args.format {
        Some(Format::Json) => ui.print(crate::report::to_json(&report)?)?,
        _ if refusal.is_none() => ui.print(report::human(&report))?,
        _ => {}
    }
    match refusal {
        Some(refusal) => Err(refusal),
        None => Ok(ExitCode::Done),
    }
}

/// The place of INPUT, if it is one, once it is sure that OUTPUT has nothing to do with it.
fn input_place(args: &EncodeArgs, output: &Place) -> Result<Option<Place>, Error> {
    if args.input == OsStr::new("-") {
        return Ok(None);
    }
    let place = Place::resolve(&args.input)?;
    Place::require_apart(&place, output)?;
    Ok(Some(place))
}

/// Finds out what INPUT is.
fn input(args: &EncodeArgs, place: Option<Place>) -> Result<From, Error> {
    let Some(place) = place else {
        if args.chain.params.as_deref() == Some(Path::new("-")) {
            return Err(Error::usage(
                "INPUT and --params cannot both come on standard input",
            ));
        }
        if args.raw.shape.is_none()
            || args.stream.dtype.is_none() && args.domain() == super::Domain::Logical
        {
            return Err(
                Error::usage("bytes on standard input need --dtype and --shape")
                    .hint("for example: --dtype float32 --shape 24,721,1440"),
            );
        }
        return Ok(From::Bytes);
    };
    if place.is_file() {
        if !args.array.is_empty() {
            return Err(Error::usage("--array cannot be used for a .npy file"));
        }
        return Ok(From::Npy(place.path().to_owned()));
    }
    let input = Input::open(&args.input, &args.array)?;
    if let Some(error) = input.catalog.error() {
        return Err(match error.kind() {
            ErrorKind::Io => error.hint("everything in INPUT has to be readable"),
            _ => error.hint("what is broken has to be mended or moved away first"),
        });
    }
    Ok(From::Store(Box::new(input)))
}

/// Where the report is to be written: apart from all that is read and written.
fn report_place(
    args: &EncodeArgs,
    existing: Existing,
    input: Option<&Place>,
    output: &Place,
) -> Result<ReportFile, Error> {
    let Some(given) = args.report.as_deref() else {
        return ReportFile::check(None, existing, &[]);
    };
    let standard = Path::new("-");
    let parameters = args.chain.params.as_deref();
    if args.input == standard || parameters == Some(standard) {
        refuse_standard_input(given)?;
    }
    let parameters = parameters.filter(|path| *path != standard);
    let parameters = parameters.map(Place::resolve).transpose()?;
    let others = [
        (input, "INPUT"),
        (Some(output), "OUTPUT"),
        (parameters.as_ref(), "--params"),
    ];
    let others: Vec<_> = others
        .into_iter()
        .filter_map(|(place, name)| Some((place?, name)))
        .collect();
    ReportFile::check(Some(given), existing, &others)
}

/// Refuses chunks that no machine holds, before anything is written.
fn require_bounded(planned: &[Planned<'_>], wanted: &Wanted, memory: u64) -> Result<(), Error> {
    for one in planned {
        if let Action::Pack(blueprint) = &one.action {
            blueprint.require_bounded(&blueprint.packing(wanted)?, memory)?;
        }
    }
    Ok(())
}

/// Decides what is done with each array.
fn plan<'a>(
    ui: &mut Ui,
    args: &'a EncodeArgs,
    from: &'a From,
    wanted: &Wanted,
    memory: u64,
) -> Result<Vec<Planned<'a>>, Error> {
    let planned = match from {
        From::Store(input) => plan_store(ui, args, input, wanted, memory)?,
        From::Npy(path) => vec![single(args, Source::file(open_npy(path)?))?],
        From::Bytes => {
            let source = Source::Flat(raw_form(args)?, OnceLock::new());
            vec![single(args, source)?]
        }
    };
    if let Some(plan) = wanted.plan() {
        let packed = planned
            .iter()
            .filter(|one| matches!(one.action, Action::Pack(_)));
        let packed: Vec<_> = packed.map(|one| one.path.as_str()).collect();
        plan.require_all_used(&packed)?;
    }
    Ok(planned)
}

/// Finds a chain for each array that is packed. Integers that nobody asked for by name and that cannot gain are left as they are.
fn seek(
    ui: &mut Ui,
    args: &EncodeArgs,
    from: &From,
    planned: &mut [Planned<'_>],
    finder: &Finder<'_>,
) -> Result<Plan, Error> {
    let chosen = args.array.iter().any(|pattern| !pattern.excludes());
    let several = planned.len() > 1;
    let mut entries = Vec::new();
    for one in planned {
        let Action::Pack(blueprint) = &one.action else {
            continue;
        };
        let found = match (from, one.entry) {
            (From::Bytes, _) => {
                return Err(
                    Error::usage("--max-error cannot be used for bytes on standard input")
                        .hint("the values are read twice: write them to a .npy file first"),
                );
            }
            (From::Npy(path), _) => finder.file(path)?,
            (From::Store(_), Some(entry)) => match &entry.kind {
                Kind::Array(text) => finder.array(entry, text)?,
                _ => continue,
            },
            (From::Store(_), None) => continue,
        };
        match found {
            Ok(entry) => entries.push(entry),
            Err(refusal) if blueprint.data_type.is_integer() && !chosen && several => {
                ui.status(format!("{}: left as it is: {refusal}", named(&one.path)));
                let text = one.entry.and_then(|entry| match &entry.kind {
                    Kind::Array(text) => Some(text),
                    _ => None,
                });
                let converted = text.map(unselected::converted).transpose()?.flatten();
                let reason = "nothing to gain";
                one.action = match converted {
                    Some(converted) => Action::Convert(reason, converted.text),
                    None => Action::Copy(reason),
                };
            }
            Err(refusal) => return Err(refusal_error(&one.path, &refusal)),
        }
    }
    if entries.is_empty() {
        return Err(Error::finding("no array gains by packing")
            .hint("--array names arrays that are left alone otherwise"));
    }
    Ok(Plan::of("the chain that was found".to_owned(), entries))
}

fn single(args: &EncodeArgs, source: Source) -> Result<Planned<'_>, Error> {
    Ok(Planned {
        path: String::new(),
        entry: None,
        action: Action::Pack(Box::new(Blueprint::new("", source, None, None, args)?)),
    })
}

/// What bytes on standard input are.
fn raw_form(args: &EncodeArgs) -> Result<FlatForm, Error> {
    let (Some(shape), Some(data_type)) = (&args.raw.shape, raw_type(args)) else {
        return Err(Error::usage(
            "bytes on standard input need --dtype and --shape",
        ));
    };
    let form = FlatForm {
        data_type: data_type.name().to_owned(),
        size: data_type.size(),
        byte_order: args.raw.byte_order(),
        fortran_order: false,
        shape: shape.0.clone(),
    };
    form.data_bytes()?;
    Ok(form)
}

/// The type of bytes on standard input: that of codes is what is stored.
fn raw_type(args: &EncodeArgs) -> Option<DataType> {
    match args.domain() {
        super::Domain::Logical => args.stream.dtype,
        super::Domain::Stored => args.chain.to.or(args.stream.dtype),
    }
}

fn plan_store<'a>(
    ui: &mut Ui,
    args: &'a EncodeArgs,
    input: &'a Input,
    wanted: &Wanted,
    memory: u64,
) -> Result<Vec<Planned<'a>>, Error> {
    let roles = Roles::of(&input.catalog);
    let chosen = args.array.iter().any(|pattern| !pattern.excludes());
    let mut planned = Vec::new();
    for (entry, text) in input.arrays() {
        let left_alone = if !input.selection.contains(&entry.path) {
            Some("not selected")
        } else if chosen {
            None
        } else if wanted
            .plan()
            .is_some_and(|plan| plan.leaves_out(&entry.path))
        {
            Some("not in the plan")
        } else {
            let role = roles.left_alone(entry, text, &type_name(text));
            // Of many arrays some may be packed already; one that is all of INPUT was meant.
            let is_asked_for = entry.path.is_empty() || args.values.is_some();
            role.or_else(|| {
                let data_type = DataType::from_name(&type_name(text))?;
                let packed = attributes::packed_by(text.attributes(), data_type);
                packed
                    .filter(|_| !is_asked_for)
                    .map(|_| "packed already by its attributes")
            })
        };
        let converted = unselected::converted(text).map_err(|error| {
            let named = Error::finding(format!("{}: {error}", named(&entry.path)));
            error
                .details()
                .iter()
                .fold(named, |named, detail| named.detail(detail.clone()))
        })?;
        for note in converted.iter().flat_map(|converted| &converted.notes) {
            match note.kind {
                NoteKind::MaskLost => ui.warning(format!("{}: {note}", named(&entry.path))),
                _ => tracing::info!("{}: {note}", named(&entry.path)),
            }
        }
        let action = match (left_alone, converted) {
            (Some(reason), None) => Action::Copy(reason),
            (Some(reason), Some(converted)) => Action::Convert(reason, converted.text),
            (None, converted) => {
                let document = match (text, converted) {
                    (_, Some(converted)) => {
                        V3Text::Made(Box::new(unselected::parsed(converted.text)?))
                    }
                    (ArrayText::V3(text), None) => V3Text::Read(text),
                    (ArrayText::V2 { .. }, None) => continue,
                };
                warn_of_fill(ui, entry, text);
                let array = open(entry, text, memory)?;
                let source = Source::Array(Box::new(array), entry.directory.clone());
                let blueprint =
                    Blueprint::new(&entry.path, source, Some(document), Some(text), args)?;
                Action::Pack(Box::new(blueprint))
            }
        };
        planned.push(Planned {
            path: entry.path.clone(),
            entry: Some(entry),
            action,
        });
    }
    input.selection.require_all_used()?;
    if !planned
        .iter()
        .any(|one| matches!(one.action, Action::Pack(_)))
    {
        let mut error = Error::usage("no array to pack");
        for Planned { path, action, .. } in planned.iter().take(10) {
            if let Action::Copy(reason) | Action::Convert(reason, _) = action {
                error = error.detail(format!("{}: {reason}", named(path)));
            }
        }
        return Err(error.hint("--array names arrays that are left alone otherwise"));
    }
    Ok(planned)
}

/// The name of the type of an array in Zarr v3.
fn type_name(text: &ArrayText) -> String {
    let name = text
        .with(|document| crate::codecs::model::Model::new(document).map(|model| model.type_name));
    name.ok().and_then(Result::ok).unwrap_or_default()
}

fn show_plan(
    ui: &mut Ui,
    args: &EncodeArgs,
    planned: Vec<Planned<'_>>,
    wanted: &Wanted,
) -> Result<ExitCode, Error> {
    let mut done = Vec::new();
    for Planned { path, action, .. } in planned {
        let one = match action {
            Action::Copy(reason) => Done::Copied(reason),
            Action::Convert(reason, _) => Done::Converted(reason),
            Action::Pack(blueprint) => {
                let packing = blueprint.packing(wanted)?;
                let mut built = blueprint.build(packing)?;
                // A code is found in the data; until then it is unknown whether a fill of NaN survives.
                if let Missing::Auto(cast) = built.packing.missing
                    && built.fill.is_nan()
                {
                    built.fill_loss = None;
                    built.readers = blueprint.readers_with_code(&built.packing, cast);
                }
                Done::Planned(Box::new(built), blueprint.source.shape().to_vec())
            }
        };
        done.push((path, one));
    }
    let refusal = report::refusal(args, &done);
    let report = report::report(args, &done, false);
    match args.format {
        Some(Format::Json) => ui.print(crate::report::to_json(&report)?)?,
        _ => ui.print(report::human(&report))?,
    }
    match refusal {
        Some(refusal) => Err(refusal),
        None => Ok(ExitCode::Done),
    }
}

/// Writes every array, or looks at all of them where one is lost.
fn write(
    ui: &mut Ui,
    run: &Run<'_>,
    from: &From,
    planned: Vec<Planned<'_>>,
    wanted: &Wanted,
    done: &mut Vec<(String, Done)>,
) -> Result<(), Error> {
    let interrupt = run.pipeline.interrupt;
    for Planned {
        path,
        entry,
        action,
    } in planned
    {
        let one = match (action, from) {
            (Action::Pack(blueprint), _) => match pack(ui, run, &blueprint, wanted) {
                Ok(packed) => packed,
                Err(error) => {
                    if error.kind() == ErrorKind::Finding {
                        done.push((path, Done::Refused(in_a_line(&error))));
                    }
                    return Err(error);
                }
            },
            (Action::Copy(reason), From::Store(input)) => {
                if let Some(entry) = entry.filter(|_| !run.refused.load(Ordering::Relaxed)) {
                    copy(run.staging, input.store.directory(), entry, interrupt)?;
                }
                Done::Copied(reason)
            }
            (Action::Convert(reason, document), From::Store(input)) => {
                if let Some(entry) = entry.filter(|_| !run.refused.load(Ordering::Relaxed)) {
                    let store = input.store.directory();
                    copy_objects(run.staging, store, entry, interrupt, &|object| {
                        ![".zarray", ".zattrs", ".zgroup", ".zmetadata", "zarr.json"]
                            .contains(&object)
                    })?;
                }
                let object = key(&path, "zarr.json");
                run.staging.write(&object, document.as_bytes())?;
                Done::Converted(reason)
            }
            (Action::Copy(reason) | Action::Convert(reason, _), _) => Done::Copied(reason),
        };
        done.push((path, one));
    }
    Ok(())
}

/// Writes an array that is packed, or looks at all of it where a value is lost.
fn pack(
    ui: &mut Ui,
    run: &Run<'_>,
    blueprint: &Blueprint<'_>,
    wanted: &Wanted,
) -> Result<Done, Error> {
    if let Source::Flat(form, flat) = &blueprint.source
        && flat.get().is_none()
    {
        let read = raw::standard_input(form.clone(), run.staging, run.pipeline.interrupt)?;
        flat.get_or_init(|| read);
    }
    let outcome = run.array(ui, blueprint, blueprint.packing(wanted)?)?;
    let shape = blueprint.source.shape().to_vec();
    Ok(Done::Encoded(Box::new(outcome), shape))
}

/// An error with all that it sums up.
fn in_a_line(error: &Error) -> String {
    let message = std::iter::once(error.to_string());
    let all: Vec<_> = message.chain(error.details().iter().cloned()).collect();
    all.join("; ")
}

/// What the documents of groups are made from, beside those of arrays that have changed.
#[derive(Debug, Default)]
struct GroupDocuments {
    stale: Vec<String>,
}

fn group_documents_of(ui: &mut Ui, input: &Input) -> Result<GroupDocuments, Error> {
    let stale = stale_copies(&input.catalog);
    for path in &stale {
        ui.warning(format!(
            "{}: listed by consolidated metadata, and not there; the copy is left out of OUTPUT",
            named(path)
        ));
    }
    Ok(GroupDocuments { stale })
}

impl GroupDocuments {
    /// The documents of all groups.
    fn with(
        &self,
        input: &Input,
        done: &[(String, Done)],
    ) -> Result<BTreeMap<String, String>, Error> {
        let mut converted = BTreeMap::new();
        for (entry, text) in input.arrays() {
            let one = done.iter().find(|(path, _)| *path == entry.path);
            if let Some((path, Done::Converted(_))) = one
                && let Some(document) = unselected::converted(text)?
            {
                converted.insert(path.as_str(), document.text);
            }
        }
        let (mut arrays, mut copied) = (BTreeMap::new(), BTreeMap::new());
        for (path, done) in done {
            match done {
                Done::Encoded(outcome, _) => {
                    arrays.insert(path.as_str(), outcome.built.document.as_str());
                }
                Done::Converted(_) => {
                    if let Some(document) = converted.get(path.as_str()) {
                        arrays.insert(path.as_str(), document.as_str());
                    }
                }
                Done::Copied(_) | Done::Refused(_) | Done::Planned(..) => {}
            }
        }
        for entry in &input.catalog.entries {
            if let Kind::Array(ArrayText::V3(text)) = &entry.kind
                && !arrays.contains_key(entry.path.as_str())
            {
                copied.insert(entry.path.as_str(), text.text.as_str());
            }
        }
        let stale: Vec<_> = self.stale.iter().map(String::as_str).collect();
        groups(&input.catalog, &arrays, &copied, &stale)
    }
}
