//! Data types, fill values, chunk grids and key encodings that are not known or do not fit.

use super::super::array::{Array, NO_TYPE, describe, literal, scalar};
use super::super::finding::{Draft, Sink};
use crate::codecs::OpenProblemKind;
use crate::codecs::v2::{Fault, document};
use crate::metadata::json::{Kind, Value};
use crate::metadata::v3::{ChunkGrid, KeyEncoding, Separator};
use crate::metadata::{Extension, v2};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// Data types beside the real numbers: of the core specification, of the registry of extensions, and what programs write.
const TYPES: [&str; 20] = [
    "bool",
    "complex64",
    "complex128",
    "complex_bfloat16",
    "complex_float16",
    "complex_float32",
    "complex_float64",
    "string",
    "bytes",
    "variable_length_bytes",
    "variable_length_utf8",
    "fixed_length_utf32",
    "fixed_length_ascii",
    "null_terminated_bytes",
    "raw_bytes",
    "struct",
    "structured",
    "optional",
    "datetime64",
    "binary_fixed_point",
];

/// Chunk grids that are registered.
const GRIDS: [&str; 2] = ["regular", "rectilinear"];

/// Encodings of chunk keys that are registered, beside the two of the core specification.
const ENCODINGS: [&str; 5] = ["fanout", "prefix", "suffix", "template", "default"];

/// Whether a name has the form of one that is nobody's but its maker's: a prefix and a dot, a URL, or the prefix of a library whose
/// codecs have long been in use.
pub(super) fn is_own_name(name: &str) -> bool {
    name.contains('.') || name.contains(':') || name.starts_with("imagecodecs_")
}

/// Whether programs are known to write a data type of this name in Zarr v3.
pub(crate) fn is_known_type(name: &str) -> bool {
    let raw = name
        .strip_prefix('r')
        .filter(|bits| bits.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|bits| bits.parse::<u64>().ok())
        .is_some_and(|bits| bits > 0 && bits % 8 == 0);
    DataType::from_name(name).is_some()
        || TYPES.contains(&name)
        || name.starts_with("complex_float")
        || raw
        || is_own_name(name)
}

pub(super) fn unknown_data_type(array: &Array<'_>, sink: &mut Sink<'_>) {
    if let Some(fault) = array.v2().and_then(v2_type_fault) {
        sink.report(array.document.kind, || {
            Draft::at(array.document, fault.pointer.as_str())
                .found(fault.found)
                .expected("a type as NumPy spells it")
        });
        return;
    }
    let Some(entry) = array.v3().map(|array| &array.data_type) else {
        return;
    };
    if entry.name == NO_TYPE || is_known_type(entry.name) {
        return;
    }
    sink.report(array.document.kind, || {
        let draft = unknown(
            array,
            entry,
            "data type",
            "one of those that specifications name",
        );
        match DataType::from_numpy(entry.name) {
            Some((meant, _)) => draft.hint(format!("Zarr v3 spells it \"{meant}\"")),
            None => draft,
        }
    });
}

pub(super) fn unknown_chunk_grid(array: &Array<'_>, sink: &mut Sink<'_>) {
    // A grid that could not be read stands in as the data type's entry.
    if let Some(ChunkGrid::Other(entry)) = array.v3().map(|array| &array.chunk_grid)
        && entry.node.pointer.to_string() == "/chunk_grid"
        && !GRIDS.contains(&entry.name)
        && !is_own_name(entry.name)
    {
        sink.report(array.document.kind, || {
            unknown(array, entry, "chunk grid", "\"regular\"")
        });
    }
}

pub(super) fn unknown_key_encoding(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(keys) = array.v3().map(|array| &array.chunk_keys) else {
        return;
    };
    if keys.encoding == KeyEncoding::Other
        && keys.entry.node.pointer.to_string() == "/chunk_key_encoding"
        && !ENCODINGS.contains(&keys.entry.name)
        && !is_own_name(keys.entry.name)
    {
        sink.report(array.document.kind, || {
            unknown(
                array,
                &keys.entry,
                "chunk key encoding",
                "\"default\" or \"v2\"",
            )
        });
    }
}

fn unknown(array: &Array<'_>, entry: &Extension<'_>, what: &str, expected: &str) -> Draft {
    let name = super::super::finding::cut(entry.name, 60);
    Draft::spanning(
        array.document,
        entry.node.pointer.to_string(),
        entry.name_span.clone(),
    )
    .found(format!("the {what} \"{}\"", name.escape_debug()))
    .expected(expected)
}

/// Fill values that the data type does not have.
pub(super) fn fill_value(array: &Array<'_>, sink: &mut Sink<'_>) {
    let kind = array.document.kind;
    let Some(fill) = fill(array) else { return };
    let place = || Draft::at(array.document, "/fill_value");
    let (Some(document), Some(data_type)) = (array.v3(), array.data_type()) else {
        // For other types, and in v2, opening the array tells.
        let other = array
            .v3()
            .and_then(|array| fill_of_another_kind(array.data_type.name, fill));
        if let Some((pointer, expected)) = other {
            sink.report(kind, || {
                let pointer = format!("/fill_value{pointer}");
                let value = array.entry(&pointer).unwrap_or(fill);
                Draft::at(array.document, pointer)
                    .found(describe(value))
                    .expected(expected)
            });
            return;
        }
        if let Some(fault) = array.v2().and_then(v2_fill_fault) {
            sink.report(kind, || {
                place()
                    .found(fault.found)
                    .expected(match fault.expected.as_str() {
                        "" => "a value of the array's data type".to_owned(),
                        expected => expected.to_owned(),
                    })
            });
            return;
        }
        let refused = array.refused.iter().flat_map(|error| &error.problems);
        for problem in refused.filter(|problem| problem.pointer == "/fill_value") {
            sink.report(kind, || {
                place()
                    .found(format!("{}: {}", describe(fill), problem.message))
                    .expected("a value of the array's data type")
            });
        }
        return;
    };
    if let Err(error) = Scalar::parse(&literal(fill), data_type) {
        sink.report(kind, || {
            place().found(error.to_string()).expected(format!(
                "{}, as the data type is {}",
                data_type.literal_forms(),
                document.data_type.name
            ))
        });
    }
}

/// What is wrong with the dtype of a v2 array.
fn v2_type_fault(array: &v2::Array<'_>) -> Option<Fault> {
    let mut faults = document(array, Separator::Dot).err()?.into_iter();
    faults
        .find(|fault| fault.kind == OpenProblemKind::Unsound && fault.pointer.starts_with("/dtype"))
}

/// What is wrong with the fill value of a v2 array of any type.
fn v2_fill_fault(array: &v2::Array<'_>) -> Option<Fault> {
    let faults = match document(array, Separator::Dot) {
        Ok(converted) => converted.unwritable,
        Err(faults) => faults,
    };
    let mut faults = faults.into_iter();
    faults.find(|fault| fault.kind == OpenProblemKind::Unsound && fault.pointer == "/fill_value")
}

/// What is wrong with the fill value of a v3 array that does not hold real numbers: where, and what is expected there.
fn fill_of_another_kind(data_type: &str, fill: &Value) -> Option<(String, String)> {
    let part = match data_type {
        "string" | "variable_length_utf8" => {
            return fill
                .as_str()
                .is_none()
                .then(|| (String::new(), "a string".to_owned()));
        }
        "bool" => {
            return fill
                .as_bool()
                .is_none()
                .then(|| (String::new(), "true or false".to_owned()));
        }
        "complex64" | "complex_float32" => DataType::Float32,
        "complex128" | "complex_float64" => DataType::Float64,
        _ => return None,
    };
    let parts = fill.as_array().filter(|parts| parts.len() == 2);
    let Some(parts) = parts else {
        let expected = "a list of two numbers, the real part and the imaginary one";
        return Some((String::new(), expected.to_owned()));
    };
    let wrong = parts
        .iter()
        .position(|value| scalar(value, part).is_none())?;
    let expected = format!("{}, as it is a {part}", part.literal_forms());
    Some((format!("/{wrong}"), expected))
}

/// The fill value of the document, if it has one.
fn fill<'n>(array: &Array<'n>) -> Option<&'n Value> {
    array.document.root()?.get("fill_value")
}

pub(super) fn fill_spelling(array: &Array<'_>, sink: &mut Sink<'_>) {
    if fill(array).and_then(Value::as_str) == Some("+Infinity") && array.data_type().is_some() {
        sink.report(array.document.kind, || {
            Draft::at(array.document, "/fill_value")
                .found("\"+Infinity\"")
                .expected("\"Infinity\"; some readers do not take the sign")
        });
    }
}

pub(super) fn rounded_fill(array: &Array<'_>, sink: &mut Sink<'_>) {
    let (Some(fill), Some(data_type)) = (fill(array), array.data_type()) else {
        return;
    };
    if let Some((written, held)) = rounded(fill, data_type) {
        sink.report(array.document.kind, || {
            Draft::at(array.document, "/fill_value")
                .found(format!("{written}, which as a {data_type} is {held}"))
                .expected(format!("a number that {data_type} holds, such as {held}"))
        });
    }
}

/// What a number is written as and what a float type of up to 16 bits makes of it, where the two are not one.
pub(in super::super) fn rounded(value: &Value, data_type: DataType) -> Option<(String, String)> {
    let Kind::Number(token) = &value.kind else {
        return None;
    };
    if !data_type.is_float() || data_type.bits() > 16 {
        return None;
    }
    let held = scalar(value, data_type)?;
    let exact = scalar(value, DataType::Float64)?;
    (!held.equals(exact)).then(|| {
        (
            super::super::finding::cut(token, 60),
            crate::codecs::short(held),
        )
    })
}
