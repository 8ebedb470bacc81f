//! What binding the packing codecs has found, as findings; and the way of the fill, in words.

use super::array::Array;
use super::finding::{Draft, Sink};
use crate::codecs::configuration::{is_packing, read_entry};
use crate::codecs::model::{Packing, Step};
use crate::codecs::short;
use crate::transform::cast_value::cast;
use crate::transform::chain::{Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::extent::Extent;
use crate::transform::literal::Literal;
use crate::transform::parameters::Codec;
use crate::transform::problem::Problem;
use crate::transform::rounding::Rounding;
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

/// Fills that survive, in words. Each value that is named has been sent through the codecs and back.
fn fills_that_do(array: &Array<'_>, packing: &Packing) -> Option<String> {
    let model = array.model.as_ref()?;
    let fill = model.outer.incoming.fill?;
    // Only for the codecs that stand first are values of the array what enters them.
    let first = array.packing().next()?;
    if !std::ptr::eq(first, packing) {
        return None;
    }
    let chain = first.binding.chain.as_ref()?;
    let mut words = Vec::new();
    let nearest = chain
        .fill()
        .and_then(|trace| trace.decoded.get(chain.codecs().len()).copied())
        .filter(|nearest| survives(array, *nearest));
    if let Some(nearest) = nearest {
        words.push(format!("a fill value of {} survives", short(nearest)));
    }
    let extent = model.stages().first().and_then(|stage| stage.extent);
    if let Some(extent) = extent {
        match whole_range(array, extent) {
            Some(range) => words.push(format!("fill values from {range} would do")),
            None => words.extend(ends_that_survive(array, extent)),
        }
    }
    if fill.is_nan() {
        let or = if words.is_empty() { "" } else { "or " };
        words.push(format!(
            "{or}map NaN to an unused code in both directions of scalar_map"
        ));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// The values of a range that are tried as fills at most, with the codecs that each goes through.
const MOST_TRIED: i128 = 1 << 16;

/// The range in words, where every value in it survives: whole numbers that are few enough to try.
///
/// The values between the ends of a range of fractions are rounded, each in its own way, and what a person writes for one need
/// not be what its code decodes to.
fn whole_range(array: &Array<'_>, extent: Extent) -> Option<String> {
    let (low, high) = (whole(extent.low)?, whole(extent.high)?);
    let step = whole(extent.step?).filter(|step| *step > 0)?;
    let count = (high - low) / step + 1;
    let codecs = i128::try_from(array.codecs).ok()?.max(1);
    if count * codecs > MOST_TRIED * 4 || count > MOST_TRIED || (high - low) % step != 0 {
        return None;
    }
    let data_type = extent.low.data_type();
    for n in 0..count {
        let value = low + n * step;
        let fill = Scalar::parse(&Literal::Number(value.to_string()), data_type).ok()?;
        if whole(fill) != Some(value) || !survives(array, fill) {
            return None;
        }
    }
    let step = match step {
        1 => String::new(),
        _ => format!(" in steps of {step}"),
    };
    Some(format!(
        "{} to {}{step}",
        short(extent.low),
        short(extent.high)
    ))
}

/// The whole number that a scalar is, if it is one that floats hold without gaps.
fn whole(scalar: Scalar) -> Option<i128> {
    const GAPLESS: i128 = 1 << 53;
    if let Some(integer) = scalar.integer() {
        return Some(integer);
    }
    let integer = cast(scalar, DataType::Int64, Rounding::NearestEven, None).ok()?;
    let gapless = integer.equals(scalar) && integer.integer()?.abs() <= GAPLESS;
    integer.integer().filter(|_| gapless)
}

/// The ends of a range that survive, in words, as they would be written.
fn ends_that_survive(array: &Array<'_>, extent: Extent) -> Option<String> {
    let mut ends = vec![extent.low];
    if !extent.high.equals(extent.low) {
        ends.push(extent.high);
    }
    ends.retain(|end| {
        // What is shown may be shorter than the value; it is what people will write.
        let shown = Literal::Number(short(*end));
        let written = Scalar::parse(&shown, end.data_type());
        written.is_ok_and(|written| survives(array, written))
    });
    match ends.as_slice() {
        [one] => Some(format!("a fill value of {} would do", short(*one))),
        [low, high] => Some(format!(
            "fill values of {} and of {} would do",
            short(*low),
            short(*high)
        )),
        _ => None,
    }
}

/// Whether a value could be the array's fill: all packing codecs take it and give it back.
pub(super) fn survives(array: &Array<'_>, value: Scalar) -> bool {
    let mut current = value;
    for packing in array.packing() {
        let Some(chain) = &packing.binding.chain else {
            return false;
        };
        if current.data_type() != chain.data_type() || !chain.accepts_fill(current) {
            return false;
        }
        match chain.transform(Direction::Encode, current) {
            Ok(next) => current = next,
            Err(_) => return false,
        }
    }
    true
}
