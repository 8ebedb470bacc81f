//! Packing by attributes, beside packing by codecs or in its place.

use super::super::array::{Array, describe, scalar};
use super::super::finding::{Draft, Sink};
use super::is_packed;
use crate::codecs::short;
use crate::metadata::Node;
use crate::metadata::json::Value;
use crate::transform::cast_value::cast;
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

/// Attributes that pack.
const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];

/// Attributes that bound values.
const BOUNDS: [&str; 3] = ["valid_range", "valid_min", "valid_max"];

/// A draft about an attribute.
pub(super) fn at(array: &Array<'_>, attribute: &Node<'_>) -> Option<Draft> {
    let (document, _) = array.attributes.as_ref()?;
    Some(Draft::spanning(
        document,
        attribute.pointer.to_string(),
        attribute.span(),
    ))
}

/// Reports about an attribute.
pub(super) fn report(
    array: &Array<'_>,
    attribute: &Node<'_>,
    sink: &mut Sink<'_>,
    write: impl FnOnce(Draft) -> Draft,
) {
    let (Some((document, _)), Some(draft)) = (&array.attributes, at(array, attribute)) else {
        return;
    };
    sink.report(document.kind, || write(draft));
}

pub(super) fn packing_attributes(array: &Array<'_>, sink: &mut Sink<'_>) {
    if !is_packed(array) {
        return;
    }
    for name in PACKING {
        if let Some(attribute) = array.attribute(name) {
            report(array, &attribute, sink, |draft| {
                draft
                    .found(format!("the attribute \"{name}\" beside codecs that pack"))
                    .expected("one of the two; readers of CF attributes apply it to values that are unpacked already")
                    .hint("if values come out right without it, remove it")
            });
        }
    }
}

pub(super) fn packing_on_float(array: &Array<'_>, sink: &mut Sink<'_>) {
    let floats = array.data_type().is_some_and(DataType::is_float);
    if is_packed(array) || !floats {
        return;
    }
    for name in ["scale_factor", "add_offset"] {
        if let Some(attribute) = array.attribute(name) {
            report(array, &attribute, sink, |draft| {
                draft
                    .found(format!("the attribute \"{name}\" on an array of floats"))
                    .expected("packed integers under it; if the values are unpacked, readers unpack them again")
            });
        }
    }
}

pub(super) fn text_number(array: &Array<'_>, sink: &mut Sink<'_>) {
    let numbers = ["scale_factor", "add_offset", "valid_min", "valid_max"];
    for name in numbers {
        let Some(attribute) = array.attribute(name) else {
            continue;
        };
        let value = attribute.value;
        let found = match (value.as_str(), value.as_array()) {
            (Some(_), _) => format!("the text {}", describe(value)),
            (None, Some([one])) => format!("a list of one, {}", describe(one)),
            _ if name == "scale_factor" && is_zero(value) => {
                report(array, &attribute, sink, |draft| {
                    draft
                        .found(format!("a \"scale_factor\" of {}", describe(value)))
                        .expected("a number other than 0; with this one all values are the same")
                });
                continue;
            }
            _ if value.as_number().is_some() || value.is_null() => continue,
            _ => describe(value),
        };
        report(array, &attribute, sink, |draft| {
            draft.found(found).expected(format!(
                "a number; programs differ in what they make of a \"{name}\" like this"
            ))
        });
    }
    for name in ["_FillValue", "missing_value"] {
        let Some(attribute) = array.attribute(name) else {
            continue;
        };
        let integers = array.data_type().is_some_and(DataType::is_integer);
        if integers && attribute.value.as_str().is_some() {
            report(array, &attribute, sink, |draft| {
                draft
                    .found(format!("the text {}", describe(attribute.value)))
                    .expected(format!(
                        "a number; programs differ in what they make of a \"{name}\" like this"
                    ))
            });
        }
        if let Some([one]) = attribute.value.as_array() {
            report(array, &attribute, sink, |draft| {
                draft
                    .found(format!("a list of one, {}", describe(one)))
                    .expected("the value by itself")
            });
        }
    }
}

fn is_zero(value: &Value) -> bool {
    value.as_number().is_some() && scalar(value, DataType::Float64).is_some_and(Scalar::is_zero)
}

/// The numbers of an attribute that is one or a list.
fn numbers(value: &Value) -> Vec<&Value> {
    match value.as_array() {
        Some(values) => values.iter().take(2).collect(),
        None => vec![value],
    }
}

pub(super) fn valid_range_units(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(data_type) = array.data_type() else {
        return;
    };
    let packed = is_packed(array);
    let packs = ["scale_factor", "add_offset"]
        .iter()
        .any(|name| array.attribute(name).is_some());
    let extent = array
        .model
        .as_ref()
        .and_then(|model| model.stages().first().and_then(|stage| stage.extent));
    for name in BOUNDS {
        let Some(attribute) = array.attribute(name) else {
            continue;
        };
        for value in numbers(attribute.value) {
            let Some(token) = value.as_number() else {
                continue;
            };
            if packs && !packed && data_type.is_integer() && token.contains(['.', 'e', 'E']) {
                report(array, &attribute, sink, |draft| {
                    draft
                        .found(format!(
                            "{} in \"{name}\" of packed {data_type}",
                            describe(value)
                        ))
                        .expected(
                            "integers: CF gives these limits in the units of the packed numbers",
                        )
                });
                break;
            }
            let (true, Some(extent)) = (packed, extent) else {
                continue;
            };
            let limit = scalar(value, DataType::Float64);
            let beyond = limit.is_some_and(|limit| {
                limit
                    .compare(extent.low)
                    .is_some_and(std::cmp::Ordering::is_lt)
                    || limit
                        .compare(extent.high)
                        .is_some_and(std::cmp::Ordering::is_gt)
            });
            if beyond {
                report(array, &attribute, sink, |draft| {
                    draft
                        .found(format!(
                            "{} in \"{name}\", beyond what the chain can store",
                            describe(value)
                        ))
                        .expected(format!(
                            "limits in the units of the array's values, from {} to {}",
                            short(extent.low),
                            short(extent.high)
                        ))
                });
                break;
            }
        }
    }
}

pub(super) fn unsigned(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(attribute) = array.attribute("_Unsigned").filter(|_| !is_packed(array)) else {
        return;
    };
    let word = attribute.value.as_str();
    let known = word.is_some_and(|word| ["true", "false"].contains(&word));
    let Some(data_type) = array.data_type() else {
        return;
    };
    let expected = if !known {
        "the text \"true\" or \"false\""
    } else if data_type.is_float() {
        "integers under it; floats have no unsigned form"
    } else {
        return;
    };
    report(array, &attribute, sink, |draft| {
        draft
            .found(format!("{} on {data_type}", describe(attribute.value)))
            .expected(expected)
    });
}

pub(super) fn unsigned_fill(array: &Array<'_>, sink: &mut Sink<'_>) {
    let unsigned = array
        .attribute("_Unsigned")
        .is_some_and(|attribute| attribute.value.as_str() == Some("true"));
    let target = array.data_type().and_then(|data_type| {
        let name = data_type.name().strip_prefix("int")?;
        DataType::from_name(&format!("uint{name}"))
    });
    let (true, Some(data_type), Some(target)) = (unsigned, array.data_type(), target) else {
        return;
    };
    for name in ["_FillValue", "missing_value"] {
        let Some(attribute) = array.attribute(name) else {
            continue;
        };
        let Some(value) = scalar(attribute.value, data_type) else {
            continue;
        };
        let code = cast(value, target, Rounding::NearestEven, Some(OutOfRange::Wrap));
        let negative = value
            .compare(Scalar::from_bits(data_type, 0))
            .is_some_and(std::cmp::Ordering::is_lt);
        if let (Ok(code), true) = (code, negative) {
            report(array, &attribute, sink, |draft| {
                draft
                    .found(format!("{} where \"_Unsigned\" is \"true\"", short(value)))
                    .expected(format!("{}, which it is as a {target}; readers differ in which of the two they take", short(code)))
            });
        }
    }
}
