//! What binding the packing codecs has found, as findings; and the way of the fill, in words.

use super::array::Array;
use super::finding::{Draft, Sink};
use crate::codecs::configuration::{is_packing, read_entry};
use crate::codecs::model::{Packing, Step};
use crate::codecs::short;
use crate::transform::chain::{BoundCodec, bind};
use crate::transform::data_type::DataType;
use crate::transform::parameters::Codec;
use crate::transform::problem::Problem;
use crate::transform::scalar::Scalar;

/// As many problems are found in a run of codecs as that; beyond it nobody counts.
const COUNTED: usize = 1000;

/// Reports the problems that belong to the rule.
pub(super) fn reported(array: &Array<'_>, sink: &mut Sink<'_>) {
    for packing in array.packing() {
        let problems = &packing.binding.problems;
        let mut any = false;
        for (problem, pointer) in problems.iter().zip(&packing.problem_pointers) {
            if problem.id == sink.rule() {
                any = true;
                sink.report(array.document.kind, || draft(array, problem, pointer));
            }
        }
        if any && problems.len() >= COUNTED {
            sink.count(array.document.kind, 0, true);
        }
    }
    for (problem, pointer) in array.untyped.get_or_init(|| untyped(array)) {
        if problem.id == sink.rule() {
            sink.report(array.document.kind, || draft(array, problem, pointer));
        }
    }
}

/// Reports a lost fill: the problem, the fill's way, and fills that would do.
pub(super) fn lost_fill(array: &Array<'_>, sink: &mut Sink<'_>) {
    for packing in array.packing() {
        let problems = &packing.binding.problems;
        for (problem, pointer) in problems.iter().zip(&packing.problem_pointers) {
            if problem.id != sink.rule() {
                continue;
            }
            sink.report(array.document.kind, || {
                let draft = draft(array, problem, pointer).notes(way(packing));
                match fills_that_do(array, packing) {
                    Some(hint) => draft.hint(hint),
                    None => draft,
                }
            });
        }
    }
}

fn draft(array: &Array<'_>, problem: &Problem, pointer: &str) -> Draft {
    let span = if problem.found.starts_with("an unknown member") {
        array.document.name_span(pointer)
    } else if problem.member.is_empty() {
        codec_span(array, pointer)
    } else {
        array.document.span_of(pointer)
    };
    Draft::spanning(array.document, pointer, span)
        .found(&problem.found)
        .expected(&problem.expected)
}

/// The name of a codec, to point at: the whole entry may take many lines.
pub(super) fn codec_span(array: &Array<'_>, pointer: &str) -> std::ops::Range<usize> {
    let entry = array.entry(pointer);
    let name = entry.and_then(|entry| entry.get("name").or_else(|| entry.get("id")));
    match name {
        Some(name) => name.span.clone(),
        None => array.document.span_of(pointer),
    }
}

/// The problems of packing codecs that no type reaches, by what holds for every type.
fn untyped(array: &Array<'_>) -> Vec<(Problem, String)> {
    let mut found = Vec::new();
    let levels = array.model.iter().flat_map(|model| model.levels());
    for level in levels {
        let runs = level
            .steps
            .chunk_by(|a, b| name(a).is_some() && name(b).is_some());
        for run in runs {
            let pointers: Vec<_> = run.iter().filter_map(name).collect();
            if pointers.is_empty() {
                continue;
            }
            // Behind what cannot be read no type is known.
            let mut codecs = vec![Codec::Unreadable];
            let mut problems = Vec::new();
            for (index, pointer) in pointers.iter().enumerate() {
                if let Some(entry) = array.entry(pointer) {
                    codecs.push(read_entry(entry, index + 1, &mut problems).1);
                }
            }
            problems.extend(bind(DataType::Float64, None, &codecs).problems);
            for problem in problems {
                let codec = problem.codec.checked_sub(1);
                if let Some(pointer) = codec.and_then(|codec| pointers.get(codec)) {
                    let pointer = format!("{pointer}{}", problem.member);
                    found.push((problem, pointer));
                }
            }
        }
    }
    found
}

/// Where a packing codec stands that was not bound.
fn name(step: &Step) -> Option<&str> {
    match step {
        Step::Other(other) if is_packing(&other.name) => Some(&other.pointer),
        _ => None,
    }
}

/// The way of the fill through the codecs and back, stage by stage.
pub(super) fn way(packing: &Packing) -> Vec<String> {
    let Some(chain) = &packing.binding.chain else {
        return Vec::new();
    };
    let Some(trace) = chain.fill() else {
        return Vec::new();
    };
    let stage =
        |name: &str, value: Scalar| format!(" -> {name} {} ({})", short(value), value.data_type());
    let mut encoding = String::new();
    for (n, value) in trace.encoded.iter().enumerate() {
        match n.checked_sub(1).and_then(|codec| packing.names.get(codec)) {
            None => encoding = format!("encoding: {} ({})", short(*value), value.data_type()),
            Some(name) => encoding.push_str(&stage(name, *value)),
        }
    }
    if let Some(name) = packing.names.get(trace.encoded.len().saturating_sub(1)) {
        encoding.push_str(&format!(" -> {name} fails"));
    }
    let mut notes = vec![encoding];
    if let Some(first) = trace.decoded.first() {
        let mut decoding = format!("decoding: {} ({})", short(*first), first.data_type());
        let names = packing.names.iter().rev();
        for (name, value) in names.clone().zip(trace.decoded.iter().skip(1)) {
            decoding.push_str(&stage(name, *value));
        }
        if let Some(name) = names.clone().nth(trace.decoded.len() - 1) {
            decoding.push_str(&format!(" -> {name} fails"));
        }
        notes.push(decoding);
    }
    notes
}

/// Fills that survive, in words.
fn fills_that_do(array: &Array<'_>, packing: &Packing) -> Option<String> {
    let chain = packing.binding.chain.as_ref()?;
    let model = array.model.as_ref()?;
    let fill = model.outer.incoming.fill?;
    // Only for the codecs that stand first are values of the array what enters them.
    let first = array.packing().next()?;
    if !std::ptr::eq(first, packing) {
        return None;
    }
    let mut words = Vec::new();
    let nearest = chain
        .fill()
        .and_then(|trace| trace.decoded.get(chain.codecs().len()).copied());
    if let Some(nearest) = nearest.filter(|nearest| survives(chain.codecs(), *nearest)) {
        words.push(format!("a fill value of {} survives", short(nearest)));
    }
    let extent = model.stages().first().and_then(|stage| stage.extent);
    let ends = extent.filter(|extent| {
        survives(chain.codecs(), extent.low) && survives(chain.codecs(), extent.high)
    });
    if let Some(extent) = ends {
        let step = match extent.step {
            Some(step) if step.integer() != Some(1) => format!(" in steps of {}", short(step)),
            _ => String::new(),
        };
        words.push(format!(
            "fill values from {} to {}{step} would do",
            short(extent.low),
            short(extent.high)
        ));
    }
    if fill.is_nan() {
        let or = if words.is_empty() { "" } else { "or " };
        words.push(format!(
            "{or}map NaN to an unused code in both directions of scalar_map"
        ));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether a value could be a fill: each codec encodes it, and each cast gives it back.
fn survives(codecs: &[BoundCodec], value: Scalar) -> bool {
    let mut current = value;
    for codec in codecs {
        let Ok(next) = codec.encode(current) else {
            return false;
        };
        let back = codec.decode(next);
        if matches!(codec, BoundCodec::CastValue(_)) && !back.is_ok_and(|back| back.equals(current))
        {
            return false;
        }
        current = next;
    }
    true
}
