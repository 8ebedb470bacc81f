//! `chain/*`: what a chain does as a whole, to types, fills and ranges.

use super::Check::Array as OfArray;
use super::array::{Array, describe};
use super::bound::{codec_span, survives, way};
use super::finding::{Draft, Sink};
use super::{
    Rule,
    Severity::{Error, Info, Warning},
    rule,
};
use crate::codecs::short;
use crate::metadata::json::Value;
use crate::metadata::v3::Codec;
use crate::transform::chain::{BoundCodec, Direction};
use crate::transform::extent::Extent;
use crate::transform::rounding::OutOfRange;
use crate::transform::scalar::Scalar;

pub(super) const RULES: &[Rule] = &[
    rule(
        "chain/fill-drift",
        Warning,
        "a fill value that the whole chain gives back as another",
        OfArray(fill_drift),
    ),
    rule(
        "chain/no-op",
        Warning,
        "a packing codec that does nothing",
        OfArray(no_op),
    ),
    rule(
        "chain/range",
        Info,
        "the values that a chain can store",
        OfArray(range),
    ),
    rule(
        "chain/wraps",
        Warning,
        "values that are stored as others without an error",
        OfArray(wraps),
    ),
    rule(
        "chain/bytes-endian",
        Error,
        "bytes without an order, of values of several bytes",
        OfArray(bytes_endian),
    ),
    rule(
        "chain/blosc-typesize",
        Warning,
        "a blosc typesize that is not the size of what is stored",
        OfArray(blosc_typesize),
    ),
];

fn fill_drift(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(fate) = array.model.as_ref().and_then(|model| model.fill_fate()) else {
        return;
    };
    if !fate.survives || !fate.drifts {
        return;
    }
    sink.report(array.document.kind, || {
        let back = match fate.back {
            Some(back) => format!("comes back as {}", short(back)),
            None => "does not come back".to_owned(),
        };
        let fill = array
            .model
            .as_ref()
            .and_then(|model| model.outer.incoming.fill);
        let fill = fill.map_or_else(String::new, |fill| format!("{} ", short(fill)));
        let draft = Draft::at(array.document, "/fill_value")
            .found(format!("the fill value {fill}{back} from the whole chain"))
            .expected("a fill value that comes back as it is; partly written chunks hold the other")
            .notes(array.packing().flat_map(way).collect());
        match fate.back {
            Some(back) if back.is_finite() && survives(array, back) => draft.hint(format!(
                "see whether {} would do as the fill value",
                short(back)
            )),
            _ => draft,
        }
    });
}

fn no_op(array: &Array<'_>, sink: &mut Sink<'_>) {
    let is =
        |scalar: Option<Scalar>, value: f64| scalar.is_none_or(|scalar| scalar.to_f64() == value);
    for packing in array.packing() {
        let codecs = packing
            .binding
            .chain
            .iter()
            .flat_map(|chain| chain.codecs());
        for ((pointer, name), codec) in packing.pointers.iter().zip(&packing.names).zip(codecs) {
            let found = match codec {
                BoundCodec::ScaleOffset(codec) if is(codec.offset, 0.0) && is(codec.scale, 1.0) => {
                    format!("a {name} that subtracts 0 and multiplies by 1")
                }
                BoundCodec::CastValue(codec)
                    if codec.incoming == codec.outgoing
                        && codec.encode_map.entries().is_empty()
                        && codec.decode_map.entries().is_empty() =>
                {
                    format!("a {name} from {} to itself", codec.incoming)
                }
                _ => continue,
            };
            sink.report(array.document.kind, || {
                Draft::spanning(array.document, pointer, codec_span(array, pointer))
                    .found(found)
                    .expected("codecs that do something")
                    .hint("remove it; the stored bytes stay as they are")
            });
        }
    }
}

/// What the whole chain can store, and whether values beyond it become others without an error.
fn storable<'a>(array: &'a Array<'_>) -> Option<(Extent, bool, &'a str)> {
    let model = array.model.as_ref()?;
    let first = array.packing().next()?;
    let extent = without_sentinels(array).or(model.stages().first()?.extent)?;
    let (low, high) = Scalar::finite_range(extent.low.data_type());
    if extent.low.equals(low) && extent.high.equals(high) {
        return None;
    }
    let mut casts = false;
    let mut wraps = false;
    let chains = array
        .packing()
        .filter_map(|packing| packing.binding.chain.as_ref());
    for codec in chains.flat_map(|chain| chain.codecs()) {
        match codec {
            BoundCodec::CastValue(cast) => {
                casts = true;
                wraps |= cast.out_of_range == Some(OutOfRange::Wrap);
            }
            // The legacy codec always wraps around, which its own rule is there to tell.
            BoundCodec::FixedScaleOffset(_) => casts = true,
            BoundCodec::ScaleOffset(_) => {}
        }
    }
    // Shifting and scaling alone only leaves out what overflows.
    if !casts {
        return None;
    }
    Some((extent, wraps, first.pointers.first()?))
}

/// What a chain can store whose codecs stand in one run, without the codes at its ends that decoding makes something else of, and
/// without ends that the chain refuses. `None` for other chains.
fn without_sentinels(array: &Array<'_>) -> Option<Extent> {
    let mut runs = array.packing();
    let (packing, None) = (runs.next()?, runs.next()) else {
        return None;
    };
    let chain = packing.binding.chain.as_ref()?;
    let others = array.places();
    let mut others = others.iter().filter(|place| {
        super::core::is_array_codec(place.name)
            && place.name != "transpose"
            && !packing.pointers.iter().any(|own| own == place.pointer)
    });
    if others.next().is_some() {
        return None;
    }
    let mut stored = array.model.as_ref()?.stages().last()?.extent?;
    if stored.low.data_type() != chain.stored_type() {
        return None;
    }
    if let Some(BoundCodec::CastValue(cast)) = chain.codecs().last() {
        let next = |code: Scalar, by: i128| {
            let code = code.integer()?.checked_add(by)?;
            Scalar::from_integer(cast.outgoing, code)
        };
        while let Some(meant) = cast.decode_map.get(stored.low) {
            if meant.equals(stored.low) {
                break;
            }
            stored.low = next(stored.low, 1)?;
        }
        while let Some(meant) = cast.decode_map.get(stored.high) {
            if meant.equals(stored.high) {
                break;
            }
            stored.high = next(stored.high, -1)?;
        }
        if stored.low.compare(stored.high)?.is_gt() {
            return None;
        }
    }
    let mut extent = chain.extents(stored).first().copied().flatten()?;
    let refused = |end: Scalar| chain.transform(Direction::Encode, end).is_err();
    if let Some((least, most)) = chain.fitting_range() {
        if refused(extent.low) && least.compare(extent.high)?.is_le() {
            extent.low = least;
        }
        if refused(extent.high) && most.compare(extent.low)?.is_ge() {
            extent.high = most;
        }
    }
    Some(extent)
}

fn in_words(extent: Extent) -> String {
    let step = match extent.step {
        Some(step) => format!(" in steps of {}", short(step)),
        None => String::new(),
    };
    format!("{} to {}{step}", short(extent.low), short(extent.high))
}

fn range(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some((extent, false, pointer)) = storable(array) else {
        return;
    };
    sink.report(array.document.kind, || {
        Draft::spanning(array.document, pointer, codec_span(array, pointer))
            .found(format!("this chain holds {}", in_words(extent)))
            .expected("values in that range; others cannot be stored")
    });
}

fn wraps(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some((extent, true, pointer)) = storable(array) else {
        return;
    };
    sink.report(array.document.kind, || {
        Draft::spanning(array.document, pointer, codec_span(array, pointer))
            .found(format!(
                "this chain holds {}, and stores what is beyond as other values",
                in_words(extent)
            ))
            .expected("an error, or the nearest value, for what cannot be stored")
            .hint("leave \"out_of_range\" out to have such values refused, if nothing relies on wrapping")
    });
}

/// The order of bytes, where values of several bytes reach a `bytes` codec.
fn bytes_endian(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(document) = array.v3() else { return };
    let mut report = |codec_pointer: &str, reaches: &str| {
        sink.report(array.document.kind, || {
            Draft::spanning(array.document, codec_pointer, codec_span(array, codec_pointer))
                .found(format!("bytes without \"endian\", reached by {reaches}"))
                .expected("\"little\" or \"big\" for values of more than one byte")
                .hint("it is the type behind the last cast that counts; if the chunks were written on an ordinary machine, it is \"little\"")
        });
    };
    let has_endian = |pointer: &str| {
        let entry = array.entry(pointer);
        entry.is_some_and(|entry| entry.lookup("/configuration/endian").is_some())
    };
    for place in array.places() {
        if place.name != "bytes" || has_endian(place.pointer) {
            continue;
        }
        if let Some(data_type) = place
            .incoming
            .data_type
            .filter(|data_type| data_type.size() > 1)
        {
            report(place.pointer, data_type.name());
        }
    }
    let first = document.codecs.codecs.first();
    let complex = ["complex64", "complex128"].contains(&document.data_type.name);
    if let Some(codec) = first.filter(|codec| complex && codec.entry.name == "bytes") {
        let pointer = codec.entry.node.pointer.to_string();
        if !has_endian(&pointer) {
            report(&pointer, document.data_type.name);
        }
    }
    let shards = array.chains();
    let shards = shards
        .iter()
        .flat_map(|chain| &chain.codecs)
        .filter_map(|codec| codec.sharding.as_ref());
    for index in shards.flat_map(|sharding| &sharding.index_codecs.codecs) {
        let pointer = index.entry.node.pointer.to_string();
        if is_bytes(index) && !has_endian(&pointer) {
            report(&pointer, "the index's uint64");
        }
    }
}

fn is_bytes(codec: &Codec<'_>) -> bool {
    codec.entry.name == "bytes"
}

fn blosc_typesize(array: &Array<'_>, sink: &mut Sink<'_>) {
    for place in array.places() {
        let Some(data_type) = place.serialized.filter(|_| place.name == "blosc") else {
            continue;
        };
        let Some(entry) = array.entry(place.pointer) else {
            continue;
        };
        let shuffle = entry
            .lookup("/configuration/shuffle")
            .and_then(Value::as_str);
        let Some(typesize) = entry.lookup("/configuration/typesize") else {
            continue;
        };
        let stated = typesize
            .as_number()
            .and_then(|token| token.parse::<usize>().ok());
        if shuffle == Some("noshuffle") || stated == Some(data_type.size()) || stated.is_none() {
            continue;
        }
        sink.report(array.document.kind, || {
            Draft::spanning(
                array.document,
                format!("{}/configuration/typesize", place.pointer),
                typesize.span.clone(),
            )
            .found(format!("a typesize of {}", describe(typesize)))
            .expected(format!(
                "{}, the bytes of the {data_type} that reaches it; others read alike, and compress worse",
                data_type.size()
            ))
        });
    }
}
