//! The report: what was done with each array, for people and for programs.

use super::chain::Missing;
use super::plan::Built;
use super::tally::{Loss, Tally};
use super::write::Outcome;
use super::{Domain, EncodeArgs, LossKind};
use crate::catalog::named;
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::report::encode::{
    ConvertedAttribute, EncodeReport, EncodedArray, ErrorFigures, LossCount, LossFirst,
    RemovedAttribute, StorageFigures, TimeFigures, ValueCounts,
};
use crate::report::reader::{Reader, in_words};
use crate::stats::ErrorMeasures;

/// The examples of losses that an error lists.
const MOST_LISTED: usize = 40;

/// What was done with an array, or will be.
#[derive(Debug)]
pub(super) enum Done {
    /// Copied as it is, for this reason.
    Copied(&'static str),
    /// Copied with a document of Zarr v3.
    Converted(&'static str),
    /// To be encoded.
    Planned(Box<Built>, Vec<u64>),
    /// Not to be encoded, for this reason. The run ends with it.
    Refused(String),
    /// Encoded.
    Encoded(Box<Outcome>, Vec<u64>),
}

/// Builds the report.
pub(super) fn report(args: &EncodeArgs, done: &[(String, Done)], written: bool) -> EncodeReport {
    let mut allowed = args.allow_loss.clone();
    allowed.sort_unstable();
    allowed.dedup();
    EncodeReport {
        schema: "zarrpack.encode/1",
        dry_run: args.dry_run,
        written,
        verified: written && args.verifies(),
        allowed_losses: allowed.into_iter().map(LossKind::name).collect(),
        arrays: done
            .iter()
            .map(|(path, done)| {
                let mut array = array(args, path, done);
                // What was written until the run was refused depends on threads, and is gone.
                array.storage = array.storage.filter(|_| written);
                array
            })
            .collect(),
    }
}

fn array(args: &EncodeArgs, path: &str, done: &Done) -> EncodedArray {
    let mut report = EncodedArray {
        path: path.to_owned(),
        action: "copy",
        reason: None,
        input: None,
        data_type: None,
        stored_type: None,
        shape: None,
        chunk_shape: None,
        shard_shape: None,
        codecs: None,
        readers: Vec::new(),
        missing: None,
        fill_value: None,
        replaced_compressors: Vec::new(),
        removed_attributes: Vec::new(),
        converted_attributes: Vec::new(),
        values: None,
        losses: Vec::new(),
        errors: None,
        storage: None,
        time: None,
    };
    match done {
        Done::Copied(reason) => report.reason = Some((*reason).to_owned()),
        Done::Converted(reason) => {
            report.action = "convert";
            report.reason = Some((*reason).to_owned());
        }
        Done::Refused(reason) => {
            report.action = "refuse";
            report.reason = Some(reason.clone());
        }
        Done::Planned(built, shape) => {
            describe(&mut report, built, shape);
            if let Missing::Auto(_) = built.packing.missing {
                report.missing = Some("auto");
            }
            if let Some(loss) = &built.fill_loss {
                let mut tally = Tally::default();
                tally.loss(LossKind::Fill).add(1, || loss.clone());
                report.losses = losses(args, &tally);
            }
        }
        Done::Encoded(outcome, shape) => {
            describe(&mut report, &outcome.built, shape);
            count(&mut report, args, outcome);
        }
    }
    report
}

fn describe(report: &mut EncodedArray, built: &Built, shape: &[u64]) {
    let (grid, inner) = (&built.cut.grid, &built.cut.inner);
    report.action = "encode";
    report.input = Some(match built.domain {
        Domain::Logical => "values",
        Domain::Stored => "codes",
    });
    report.data_type = Some(built.chain.data_type().name().to_owned());
    report.stored_type = Some(built.chain.stored_type().name().to_owned());
    report.shape = Some(shape.to_vec());
    report.chunk_shape = Some(inner.as_ref().unwrap_or(grid).clone());
    report.shard_shape = inner.is_some().then(|| grid.clone());
    report.codecs = Some(json(&Draft::Array(built.packing.drafts.clone())));
    report.readers.clone_from(&built.readers);
    report.fill_value = serde_json::from_str(&built.fill.to_json()).ok();
    report.replaced_compressors.clone_from(&built.replaced);
    let removed = built.attributes.removed.iter();
    report.removed_attributes = removed
        .map(|(name, value)| RemovedAttribute {
            name: name.clone(),
            value: json(value),
        })
        .collect();
    let converted = built.attributes.converted.iter();
    report.converted_attributes = converted
        .map(|conversion| ConvertedAttribute {
            name: conversion.from.clone(),
            renamed: (conversion.name != conversion.from).then(|| conversion.name.clone()),
            from: json(&conversion.old),
            to: json(&conversion.new),
        })
        .collect();
}

fn count(report: &mut EncodedArray, args: &EncodeArgs, outcome: &Outcome) {
    let tally = &outcome.tally;
    report.values = Some(ValueCounts {
        total: tally.values,
        nan: tally.nan,
        infinite: tally.infinite,
        mapped: tally.mapped,
        at_limits: tally.at_limits,
        clamped: tally.clamped,
    });
    report.losses = losses(args, tally);
    report.errors = (tally.errors.count() > 0).then(|| errors(&tally.errors));
    let ratio = |before: u64, after: u64| before as f64 / after as f64;
    report.storage = Some(StorageFigures {
        bytes_before: outcome.bytes_before,
        bytes_after: tally.bytes,
        ratio: (tally.bytes > 0).then(|| ratio(outcome.bytes_before, tally.bytes)),
        chunks_written: tally.chunks,
        chunks_dropped: tally.dropped,
    });
    let seconds = outcome.elapsed.as_secs_f64();
    let bytes = tally.values as f64 * outcome.built.chain.data_type().size() as f64;
    let [read, process, write] = outcome.split.map(|part| part.as_secs_f64());
    report.time = Some(TimeFigures {
        seconds,
        bytes_per_second: bytes / seconds.max(f64::MIN_POSITIVE),
        read_seconds: read,
        process_seconds: process,
        write_seconds: write,
    });
}

fn errors(errors: &ErrorMeasures) -> ErrorFigures {
    ErrorFigures {
        measured: errors.count(),
        largest_absolute: number(errors.largest_absolute()),
        largest_relative: number(errors.largest_relative()),
        rmse: number(errors.rmse()),
        bias: number(errors.bias()),
    }
}

/// A number as JSON has it; what is not finite is spelt as Zarr does.
fn number(value: f64) -> serde_json::Value {
    match serde_json::Number::from_f64(value) {
        Some(number) => serde_json::Value::Number(number),
        None if value.is_nan() => "NaN".into(),
        None if value > 0.0 => "Infinity".into(),
        None => "-Infinity".into(),
    }
}

fn losses(args: &EncodeArgs, tally: &Tally) -> Vec<LossCount> {
    let kinds = LossKind::ALL.iter();
    kinds
        .filter_map(|kind| {
            let Loss { count, first } = tally.losses.get(kind)?;
            let first = first.as_ref()?;
            Some(LossCount {
                kind: kind.name(),
                allowed: args.allow_loss.contains(kind),
                count: *count,
                first: LossFirst {
                    chunk: first.chunk.clone(),
                    index: first.index.clone(),
                    value: first.value.clone(),
                    reason: first.reason.clone(),
                },
            })
        })
        .collect()
}

fn json(draft: &Draft) -> serde_json::Value {
    serde_json::from_str(&draft.to_document(&Layout::default())).unwrap_or_default()
}

/// The error of a run in which something was lost that must not be; `None` if nothing was.
pub(super) fn refusal(args: &EncodeArgs, done: &[(String, Done)]) -> Option<Error> {
    let mut details = Vec::new();
    let mut kinds = Vec::new();
    let mut one_way = false;
    let mut arrays = 0;
    for (path, done) in done {
        let plan;
        let tally = match done {
            Done::Encoded(outcome, _) => {
                one_way |= !outcome.built.one_way.is_empty();
                &outcome.tally
            }
            Done::Planned(built, _) => {
                let mut tally = Tally::default();
                if let Some(loss) = &built.fill_loss {
                    tally.loss(LossKind::Fill).add(1, || loss.clone());
                }
                plan = tally;
                &plan
            }
            _ => continue,
        };
        let before = details.len();
        for kind in LossKind::ALL {
            let Some(Loss { count, first }) = tally.losses.get(&kind) else {
                continue;
            };
            let Some(first) = first.as_ref().filter(|_| !args.allow_loss.contains(&kind)) else {
                continue;
            };
            kinds.push(kind);
            details.push(match kind {
                LossKind::Fill => format!("{}: {}", named(path), first.reason),
                _ => format!(
                    "{}: {}; the first, in chunk {:?} at {:?}, is {}: {}",
                    named(path),
                    kind.describe(*count),
                    first.chunk,
                    first.index,
                    first.value,
                    first.reason
                ),
            });
        }
        arrays += usize::from(details.len() > before);
    }
    if details.is_empty() {
        return None;
    }
    let plural = if arrays == 1 { "array" } else { "arrays" };
    let nothing = if args.dry_run {
        ""
    } else {
        "; nothing was written"
    };
    let mut error = Error::finding(format!(
        "{arrays} {plural} cannot be packed without loss{nothing}"
    ));
    let more = details.len().saturating_sub(MOST_LISTED);
    for detail in details.into_iter().take(MOST_LISTED) {
        error = error.detail(detail);
    }
    if more > 0 {
        error = error.detail(format!("and {more} more"));
    }
    kinds.sort_unstable();
    kinds.dedup();
    for kind in &kinds {
        error = match kind {
            LossKind::Nan | LossKind::MissingCode | LossKind::Infinity if one_way => error,
            LossKind::OutOfRange => error.hint("choose --offset, --scale and --to so that the values fit; --out-of-range clamp stores the nearest that does"),
            LossKind::Nan => error.hint("--missing auto finds a code for NaN"),
            LossKind::MissingCode => error.hint("--missing auto finds a code that no value uses"),
            LossKind::Infinity => error.hint("--map Infinity=CODE gives an infinity a code"),
            LossKind::Fill | LossKind::Digits => error,
        };
    }
    if one_way {
        error = error.hint("scalar_map loses what it encodes unless decode has the pairs as well");
    }
    let flags: Vec<_> = kinds
        .iter()
        .map(|kind| format!("--allow-loss {}", kind.name()))
        .collect();
    Some(error.hint(format!("{} writes all the same", flags.join(" "))))
}

/// The report for people.
pub(super) fn human(report: &EncodeReport) -> String {
    let mut text = String::new();
    for array in &report.arrays {
        array_lines(&mut text, array);
    }
    text
}

fn array_lines(text: &mut String, array: &EncodedArray) {
    let name = named(&array.path);
    let mut line = |indent: &str, words: String| {
        text.push_str(indent);
        text.push_str(&words);
        text.push('\n');
    };
    if array.action != "encode" {
        let reason = array.reason.as_deref().unwrap_or_default();
        line("", format!("{:<8} {name}: {reason}", array.action));
        return;
    }
    let types = [&array.data_type, &array.stored_type].map(|name| name.clone().unwrap_or_default());
    let shape = array.shape.as_deref().unwrap_or_default();
    let kept = match array.input {
        Some("codes") => ", the codes of INPUT as they are",
        _ => "",
    };
    line(
        "",
        format!(
            "{:<8} {name}: {shape:?} {} as {}{kept}",
            array.action, types[0], types[1]
        ),
    );
    let indent = "         ";
    if let Some(codecs) = &array.codecs {
        let codecs = codecs.as_array().map(Vec::as_slice).unwrap_or_default();
        let words: Vec<String> = codecs.iter().map(codec_words).collect();
        line(indent, format!("chain: {}", words.join(", then ")));
    }
    let chunks = array.chunk_shape.as_deref().unwrap_or_default();
    match &array.shard_shape {
        Some(shards) => line(
            indent,
            format!("chunks: {chunks:?} in shards of {shards:?}"),
        ),
        None => line(indent, format!("chunks: {chunks:?}")),
    }
    if array.missing.is_some() {
        line(
            indent,
            "NaN, if there is any, gets a code that no value uses".to_owned(),
        );
    }
    if let Some(fill) = &array.fill_value {
        line(indent, format!("fill value: {fill}"));
    }
    if let Some(values) = &array.values {
        let mut words = vec![format!("{} values", grouped(values.total))];
        let counts = [
            (values.nan, "NaN"),
            (values.infinite, "infinite"),
            (values.mapped, "mapped"),
            (values.at_limits, "at the limits"),
            (values.clamped, "out of range and clamped or wrapped"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        words.extend(counts.map(|(count, what)| format!("{} {what}", grouped(count))));
        line(indent, words.join(", "));
    }
    if let Some(errors) = &array.errors {
        line(
            indent,
            format!(
                "largest error {}, relative {}, RMSE {}, bias {}",
                short(&errors.largest_absolute),
                short(&errors.largest_relative),
                short(&errors.rmse),
                short(&errors.bias)
            ),
        );
    }
    for loss in array.losses.iter().filter(|loss| loss.allowed) {
        let first = &loss.first;
        line(
            indent,
            format!(
                "allowed loss {}: {}, first at {:?}: {}: {}",
                loss.kind, loss.count, first.index, first.value, first.reason
            ),
        );
    }
    if let Some(storage) = &array.storage {
        let dropped = match storage.chunks_dropped {
            0 => String::new(),
            dropped => format!(", {dropped} of nothing but fill left out"),
        };
        let ratio = storage
            .ratio
            .map_or(String::new(), |ratio| format!(", {ratio:.2} times smaller"));
        line(
            indent,
            format!(
                "{} bytes became {}{ratio}; chunks written: {}{dropped}",
                grouped(storage.bytes_before),
                grouped(storage.bytes_after),
                storage.chunks_written
            ),
        );
    }
    if let Some(time) = &array.time {
        let rate = time.bytes_per_second / f64::from(1 << 20);
        line(indent, format!("{:.2} s, {rate:.0} MiB/s", time.seconds));
    }
    if !array.removed_attributes.is_empty() {
        let names: Vec<_> = array
            .removed_attributes
            .iter()
            .map(|removed| format!("{} ({})", removed.name, removed.value))
            .collect();
        line(indent, format!("attributes removed: {}", names.join(", ")));
    }
    for converted in &array.converted_attributes {
        let (name, from, to) = (&converted.name, &converted.from, &converted.to);
        let renamed = converted.renamed.as_ref();
        let renamed = renamed.map_or(String::new(), |now| format!(" to {now}"));
        line(
            indent,
            format!("attribute {name} converted{renamed}: {from} to {to}"),
        );
    }
    // Of what everybody opens there is nothing to say.
    if array.readers.iter().any(Reader::is_missed) {
        line(indent, format!("readers: {}", in_words(&array.readers)));
    }
    for name in &array.replaced_compressors {
        line(
            indent,
            format!("zstd instead of {name}, which is not written here"),
        );
    }
}

/// A codec in words: its name and what its configuration says.
fn codec_words(codec: &serde_json::Value) -> String {
    let name = codec["name"].as_str().unwrap_or_default();
    let configuration = codec["configuration"].as_object();
    let members = configuration.into_iter().flatten().map(|(name, value)| {
        match (name.as_str(), value.as_str()) {
            ("data_type", Some(text)) => text.to_owned(),
            ("scalar_map", _) => map_words(value),
            (_, Some(text)) => format!("{name} {text}"),
            _ => format!("{name} {value}"),
        }
    });
    let words = std::iter::once(name.to_owned()).chain(members);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// A map in words: what is stored as what, and what is only read as something.
fn map_words(map: &serde_json::Value) -> String {
    let pairs = |direction: &str| {
        let pairs = map[direction].as_array().map(Vec::as_slice);
        pairs.unwrap_or_default().iter()
    };
    let side = |value: &serde_json::Value| match value.as_str() {
        Some(word) => word.to_owned(),
        None => value.to_string(),
    };
    let stored = pairs("encode").map(|pair| format!("{} as {}", side(&pair[0]), side(&pair[1])));
    let undone = |pair: &serde_json::Value| {
        pairs("encode").any(|other| other[0] == pair[1] && other[1] == pair[0])
    };
    let read = pairs("decode").filter(|pair| !undone(pair));
    let read = read.map(|pair| format!("{} read as {}", side(&pair[0]), side(&pair[1])));
    stored.chain(read).collect::<Vec<_>>().join(", ")
}

/// A figure in a few digits.
fn short(value: &serde_json::Value) -> String {
    match value.as_f64() {
        Some(0.0) => "0".to_owned(),
        Some(number) if (1e-3..1e5).contains(&number.abs()) => {
            let digits = 3 - number.abs().log10().floor() as i32;
            format!("{number:.*}", usize::try_from(digits).unwrap_or(0))
        }
        Some(number) => format!("{number:.3e}"),
        None => value.as_str().unwrap_or_default().to_owned(),
    }
}

/// A number with commas between groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.005, "0.005000"),
            (123.456, "123.5"),
            (-1.25e-9, "-1.250e-9"),
            (3e20, "3.000e20"),
        ] {
            assert_eq!(short(&number(value)), text);
        }
        assert_eq!(short(&number(f64::NAN)), "NaN");
        assert_eq!(number(f64::NEG_INFINITY), "-Infinity");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
