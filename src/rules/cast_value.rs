//! `cast-value/*`: the configuration of `cast_value`, its maps, and the fill that it has to give back.

use super::Check::Array as OfArray;
use super::array::{Array, describe, scalar};
use super::bound::{lost_fill, reported};
use super::finding::{Draft, Sink};
use super::{
    Rule,
    Severity::{Error, Warning},
    rule,
};
use crate::codecs::configuration::CAST_VALUE;
use crate::codecs::model::Step;
use crate::codecs::short;
use crate::metadata::json::Value;
use crate::transform::cast_value::CastValue;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::DataType;
use crate::transform::rounding::OutOfRange;
use crate::transform::scalar::Scalar;

pub(super) const RULES: &[Rule] = &[
    rule(
        "cast-value/configuration",
        Error,
        "a cast that does not say to what",
        OfArray(reported),
    ),
    rule(
        "cast-value/unknown-member",
        Error,
        "a member that the configuration does not have",
        OfArray(reported),
    ),
    rule(
        "cast-value/data-type",
        Error,
        "a type that values cannot be cast to",
        OfArray(reported),
    ),
    rule(
        "cast-value/incoming-type",
        Error,
        "cast_value on values that are no real numbers",
        OfArray(super::scale_offset::cast_of_no_number),
    ),
    rule(
        "cast-value/rounding",
        Error,
        "a word for rounding that does not exist",
        OfArray(reported),
    ),
    rule(
        "cast-value/out-of-range",
        Error,
        "a word for what is out of range that does not exist",
        OfArray(reported),
    ),
    rule(
        "cast-value/wrap-needs-integer",
        Error,
        "wrapping around in a float type",
        OfArray(reported),
    ),
    rule(
        "cast-value/scalar-map",
        Error,
        "a map that is no list of pairs",
        OfArray(reported),
    ),
    rule(
        "cast-value/map-scalar",
        Error,
        "a map entry that is no value of its side's type",
        OfArray(reported),
    ),
    rule(
        "cast-value/duplicate-key",
        Error,
        "a map that has an input twice",
        OfArray(reported),
    ),
    rule(
        "cast-value/fill-round-trip",
        Error,
        "a fill value that does not survive the cast",
        OfArray(lost_fill),
    ),
    rule(
        "cast-value/one-way-map",
        Warning,
        "a map entry that the other direction does not undo",
        OfArray(one_way_map),
    ),
    rule(
        "cast-value/unreachable-entry",
        Warning,
        "a map entry for a value that never reaches the cast",
        OfArray(unreachable_entry),
    ),
    rule(
        "cast-value/plus-infinity",
        Warning,
        "a map entry spelt \"+Infinity\"",
        OfArray(plus_infinity),
    ),
    rule(
        "cast-value/hex-scalar",
        Warning,
        "a map entry as a hexadecimal string",
        OfArray(hex_scalar),
    ),
    rule(
        "cast-value/rounded-scalar",
        Warning,
        "a map entry that a small float type rounds",
        OfArray(rounded_scalar),
    ),
];

/// The casts of the chains that can be run, with where they stand.
fn casts<'a>(array: &'a Array<'_>) -> impl Iterator<Item = (&'a str, &'a CastValue)> {
    array.packing().flat_map(|packing| {
        let codecs = packing
            .binding
            .chain
            .iter()
            .flat_map(|chain| chain.codecs());
        packing
            .pointers
            .iter()
            .zip(codecs)
            .filter_map(|(pointer, codec)| match codec {
                BoundCodec::CastValue(cast) => Some((pointer.as_str(), cast)),
                _ => None,
            })
    })
}

fn one_way_map(array: &Array<'_>, sink: &mut Sink<'_>) {
    for (pointer, cast) in casts(array) {
        // What is mapped comes back if the other direction gives it, by its map or by casting.
        for (direction, map) in [("encode", &cast.encode_map), ("decode", &cast.decode_map)] {
            for (n, (input, output)) in map.entries().iter().enumerate() {
                let back = match direction {
                    "encode" => cast.decode(*output),
                    _ => cast.encode(*output),
                };
                let repeated = map.get(*input).is_some_and(|first| !first.equals(*output));
                if repeated || back.as_ref().is_ok_and(|back| back.equals(*input)) {
                    continue;
                }
                sink.report(array.document.kind, || {
                    let pointer = format!("{pointer}/configuration/scalar_map/{direction}/{n}");
                    let then = match back {
                        Ok(back) => format!("comes back as {}", short(back)),
                        Err(_) => "does not come back".to_owned(),
                    };
                    let other = if direction == "encode" {
                        "decode"
                    } else {
                        "encode"
                    };
                    let draft = Draft::at(array.document, pointer)
                        .found(format!(
                            "{} becomes {}, which {then}",
                            short(*input),
                            short(*output)
                        ))
                        .expected(format!("a pair in \"{other}\" that undoes it"));
                    if !can_be_undone(array, cast, direction, n) {
                        return draft;
                    }
                    draft.hint(format!(
                        "add [{}, {}] to \"{other}\"",
                        output.to_map_json(),
                        input.to_map_json()
                    ))
                });
            }
        }
    }
}

/// Whether a pair that undoes entry `n` could be added to the other map: its key is not taken, by the map or by another entry that
/// would be undone in the same way, and the fill is not stored as it.
fn can_be_undone(array: &Array<'_>, cast: &CastValue, direction: &str, n: usize) -> bool {
    let (map, other) = match direction {
        "encode" => (&cast.encode_map, &cast.decode_map),
        _ => (&cast.decode_map, &cast.encode_map),
    };
    let entries = map.entries();
    let Some((input, output)) = entries.get(n) else {
        return false;
    };
    let shared = |(m, (_, another)): (usize, &(Scalar, Scalar))| m != n && another.equals(*output);
    let fills = array.packing().flat_map(|packing| {
        let fill = packing.binding.chain.as_ref().and_then(|c| c.fill());
        fill.into_iter().flat_map(|trace| &trace.encoded)
    });
    // Which fill reaches which cast does not matter: a fill that is touched at all is left alone.
    let mut touched = fills.filter(|fill| {
        fill.data_type() == output.data_type() && fill.equals(*output)
            || fill.data_type() == input.data_type() && fill.equals(*input)
    });
    other.get(*output).is_none()
        && !entries.iter().enumerate().any(shared)
        && touched.next().is_none()
}

/// Values that no array leads to. Arithmetic makes neither a NaN nor an infinity of integers: it fails before. A cast that clamps
/// to a float type makes infinities, though, and a map makes what it says.
fn unreachable_entry(array: &Array<'_>, sink: &mut Sink<'_>) {
    if !array.data_type().is_some_and(DataType::is_integer) {
        return;
    }
    // Behind other codecs, which may do anything, nothing is said.
    let first = array.model.as_ref().and_then(|model| {
        let mut steps = model.outer.steps.iter();
        steps.find_map(|step| match step {
            Step::Packing(packing) => Some(Some(&**packing)),
            Step::Other(other) if other.name == "transpose" => None,
            Step::Other(_) => Some(None),
        })?
    });
    let Some((packing, chain)) = first.and_then(|p| Some((p, p.binding.chain.as_ref()?))) else {
        return;
    };
    let (mut infinite, mut nan) = (false, false);
    for (pointer, codec) in packing.pointers.iter().zip(chain.codecs()) {
        let cast = match codec {
            BoundCodec::ScaleOffset(_) => continue,
            BoundCodec::CastValue(cast) => cast,
            BoundCodec::FixedScaleOffset(_) => return,
        };
        for (n, (input, _)) in cast.encode_map.entries().iter().enumerate() {
            if input.is_finite() || input.is_nan() && nan || input.is_infinite() && infinite {
                continue;
            }
            sink.report(array.document.kind, || {
                let pointer = format!("{pointer}/configuration/scalar_map/encode/{n}");
                let key = array.entry(&format!("{pointer}/0"));
                Draft::at(array.document, pointer)
                    .found(format!("an entry for {}", key.map_or("it".to_owned(), describe)))
                    .expected("values that an array of integers leads to; this one never reaches the cast")
            });
        }
        let clamps = cast.out_of_range == Some(OutOfRange::Clamp) && cast.outgoing.is_float();
        let mapped = cast.encode_map.entries().iter().map(|(_, output)| output);
        infinite |= clamps || mapped.clone().any(|output| output.is_infinite());
        nan |= mapped.clone().any(|output| output.is_nan());
    }
}

/// The entries of the maps of all casts: the pointer and the value of each side, and the types of the sides where known.
fn each_side(array: &Array<'_>, visit: &mut dyn FnMut(String, &Value, Option<DataType>)) {
    for place in array
        .places()
        .iter()
        .filter(|place| place.name == CAST_VALUE)
    {
        let base = format!("{}/configuration", place.pointer);
        let outgoing = array
            .entry(&format!("{base}/data_type"))
            .and_then(|value| value.as_str().or_else(|| value.get("name")?.as_str()))
            .and_then(DataType::from_name);
        let incoming = place.incoming.data_type;
        for (direction, types) in [
            ("encode", [incoming, outgoing]),
            ("decode", [outgoing, incoming]),
        ] {
            let pointer = format!("{base}/scalar_map/{direction}");
            let entries = array.entry(&pointer).and_then(Value::as_array);
            for (n, entry) in entries.unwrap_or_default().iter().enumerate() {
                let sides = entry.as_array().unwrap_or_default();
                for (side, (value, data_type)) in sides.iter().zip(types).enumerate() {
                    // The pointer is made for what is reported alone: there may be a million entries.
                    if value.as_str().is_some()
                        || data_type.is_some_and(|t| t.is_float() && t.bits() <= 16)
                    {
                        visit(format!("{pointer}/{n}/{side}"), value, data_type);
                    }
                }
            }
        }
    }
}

fn plus_infinity(array: &Array<'_>, sink: &mut Sink<'_>) {
    each_side(array, &mut |pointer, value, _| {
        if value.as_str() == Some("+Infinity") {
            sink.report(array.document.kind, || {
                Draft::spanning(array.document, pointer, value.span.clone())
                    .found("\"+Infinity\"")
                    .expected("\"Infinity\"; some readers do not take the sign")
            });
        }
    });
}

fn hex_scalar(array: &Array<'_>, sink: &mut Sink<'_>) {
    each_side(array, &mut |pointer, value, data_type| {
        let is_hex = value.as_str().is_some_and(|text| text.starts_with("0x"));
        if is_hex && data_type.is_none_or(|data_type| scalar(value, data_type).is_some()) {
            sink.report(array.document.kind, || {
                let held = data_type.and_then(|data_type| scalar(value, data_type));
                let held = held.map_or(String::new(), |held| {
                    format!(", such as {}", held.to_map_json())
                });
                Draft::spanning(array.document, pointer, value.span.clone())
                    .found(format!("the bit pattern {}", describe(value)))
                    .expected(format!(
                        "a number or a word{held}; zarr-python fails on bit patterns in maps"
                    ))
            });
        }
    });
}

fn rounded_scalar(array: &Array<'_>, sink: &mut Sink<'_>) {
    each_side(array, &mut |pointer, value, data_type| {
        let rounded = data_type.and_then(|data_type| {
            super::core::rounded(value, data_type).map(|rounded| (data_type, rounded))
        });
        if let Some((data_type, (written, held))) = rounded {
            sink.report(array.document.kind, || {
                Draft::spanning(array.document, pointer, value.span.clone())
                    .found(format!("{written}, which as a {data_type} is {held}"))
                    .expected(format!("a number that {data_type} holds, such as {held}"))
            });
        }
    });
}
