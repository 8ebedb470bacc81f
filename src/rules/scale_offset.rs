//! `scale-offset/*`: the parameters of `scale_offset`, at their place in the chain.

use super::Check::Array as OfArray;
use super::array::Array;
use super::bound::{lost_fill, reported};
use super::finding::{Draft, Sink};
use super::{
    Rule,
    Severity::{Error, Warning},
    rule,
};
use crate::codecs::configuration::{CAST_VALUE, SCALE_OFFSET};

pub(super) const RULES: &[Rule] = &[
    rule(
        "scale-offset/unknown-member",
        Error,
        "a member that the configuration does not have",
        OfArray(reported),
    ),
    rule(
        "scale-offset/scalar",
        Error,
        "an offset or scale that is no value of the incoming type",
        OfArray(reported),
    ),
    rule(
        "scale-offset/not-finite",
        Error,
        "an offset or scale that is NaN or infinite",
        OfArray(reported),
    ),
    rule(
        "scale-offset/zero-scale",
        Error,
        "a scale of zero",
        OfArray(reported),
    ),
    rule(
        "scale-offset/rounded-scalar",
        Warning,
        "an offset or scale that a small float type rounds",
        OfArray(rounded_scalar),
    ),
    rule(
        "scale-offset/data-type",
        Error,
        "scale_offset on values that are no real numbers",
        OfArray(data_type),
    ),
    rule(
        "scale-offset/fill-not-representable",
        Error,
        "a fill value that cannot be shifted and scaled",
        OfArray(lost_fill),
    ),
];

fn rounded_scalar(array: &Array<'_>, sink: &mut Sink<'_>) {
    for place in array.places() {
        let Some(data_type) = place
            .incoming
            .data_type
            .filter(|_| place.name == SCALE_OFFSET)
        else {
            continue;
        };
        for member in ["offset", "scale"] {
            let pointer = format!("{}/configuration/{member}", place.pointer);
            let Some(value) = array.entry(&pointer) else {
                continue;
            };
            if let Some((written, held)) = super::core::rounded(value, data_type) {
                sink.report(array.document.kind, || {
                    Draft::at(array.document, pointer)
                        .found(format!("{written}, which as a {data_type} is {held}"))
                        .expected(format!("a number that {data_type} holds, such as {held}"))
                });
            }
        }
    }
}

fn data_type(array: &Array<'_>, sink: &mut Sink<'_>) {
    not_a_number(array, SCALE_OFFSET, sink);
}

/// The codec called `name` where it stands first and the array holds no real numbers.
pub(super) fn not_a_number(array: &Array<'_>, name: &str, sink: &mut Sink<'_>) {
    let Some(document) = array.v3() else { return };
    let data_type = document.data_type.name;
    let known = ["bool", "complex64", "complex128", "string", "bytes"].contains(&data_type)
        || data_type.starts_with("numpy.");
    if !known {
        return;
    }
    let first = document
        .codecs
        .codecs
        .iter()
        .find(|codec| codec.entry.name != "transpose");
    let Some(codec) = first.filter(|codec| codec.entry.name == name) else {
        return;
    };
    sink.report(array.document.kind, || {
        Draft::spanning(
            array.document,
            codec.entry.node.pointer.to_string(),
            codec.entry.name_span.clone(),
        )
        .found(format!("{name} on values of the type \"{data_type}\""))
        .expected("an integer or float type; the codec is defined for no other")
    });
}

/// The same for casts.
pub(super) fn cast_of_no_number(array: &Array<'_>, sink: &mut Sink<'_>) {
    not_a_number(array, CAST_VALUE, sink);
}
