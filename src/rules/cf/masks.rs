//! Values that mean "missing", and names of dimensions.

use super::super::array::{Array, describe, scalar};
use super::super::finding::{Draft, Sink};
use super::is_packed;
use super::packing::report;
use crate::cf::base64;
use crate::codecs::short;
use crate::metadata::json::Value;
use crate::transform::cast_value::cast;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::Rounding;
use crate::transform::scalar::Scalar;

/// The value that an attribute means: a number, or in a float array the base64 of a double.
fn meant(value: &Value, data_type: DataType) -> Option<Scalar> {
    if let Some(bits) = value
        .as_str()
        .and_then(base64::decode)
        .filter(|_| data_type.is_float())
    {
        return Some(Scalar::from_bits(DataType::Float64, bits));
    }
    scalar(value, data_type).or_else(|| scalar(value, DataType::Float64))
}

/// The value of the array's type that an attribute equals as a number, however it is spelt: `1.0` is the integer 1.
fn own(value: &Value, data_type: DataType) -> Option<Scalar> {
    scalar(value, data_type).or_else(|| {
        let meant = meant(value, data_type)?;
        let own = cast(meant, data_type, Rounding::NearestEven, None).ok()?;
        own.equals(meant).then_some(own)
    })
}

pub(super) fn fill_cannot_match(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(data_type) = array.data_type() else {
        return;
    };
    let first = array.packing().next();
    for name in ["_FillValue", "missing_value"] {
        let Some(attribute) = array.attribute(name) else {
            continue;
        };
        if meant(attribute.value, data_type).is_none_or(|value| value.is_nan()) {
            continue;
        }
        let own = own(attribute.value, data_type);
        let chain = match first {
            Some(packing) => match &packing.binding.chain {
                Some(chain) => Some(chain),
                None => continue,
            },
            None => None,
        };
        let Some(chain) = chain else {
            if data_type.is_integer() && own.is_none() {
                report(array, &attribute, sink, |draft| {
                    draft
                        .found(format!("a \"{name}\" of {}", describe(attribute.value)))
                        .expected(format!(
                            "a value of {data_type}; no value of the array equals this one"
                        ))
                });
            }
            continue;
        };
        let Some(own) = own else { continue };
        let back = chain
            .transform(Direction::Encode, own)
            .and_then(|code| chain.transform(Direction::Decode, code));
        if back.is_ok_and(|back| back.equals(own)) {
            continue;
        }
        report(array, &attribute, sink, |draft| {
            let draft = draft
                .found(format!(
                    "a \"{name}\" of {}, which no code decodes to",
                    short(own)
                ))
                .expected("a value that the chain gives back, or no such attribute");
            let code = scalar(attribute.value, chain.stored_type());
            match code.and_then(|code| chain.transform(Direction::Decode, code).ok()) {
                Some(decoded) => draft.hint(format!(
                    "if {} is the code that means missing, readers see it as {}",
                    short(own),
                    short(decoded)
                )),
                None => draft,
            }
        });
    }
}

pub(super) fn float_fill_encoding(array: &Array<'_>, sink: &mut Sink<'_>) {
    let floats = array.data_type().is_some_and(DataType::is_float);
    let Some(attribute) = array.attribute("_FillValue") else {
        return;
    };
    let value = attribute.value;
    let encoded = value
        .as_str()
        .is_some_and(|text| base64::decode(text).is_some());
    if array.v3().is_none() || !floats || encoded || value.is_null() {
        return;
    }
    report(array, &attribute, sink, |draft: Draft| {
        let found = match value.as_number() {
            Some(_) => format!("the number {}", describe(value)),
            None => describe(value),
        };
        let draft = draft
            .found(found)
            .expected("the base64 of a float64; xarray fails on anything else here");
        match scalar(value, DataType::Float64) {
            Some(value) => draft.hint(format!(
                "xarray writes \"{}\"",
                base64::encode(value.bits())
            )),
            None => draft,
        }
    });
}

pub(super) fn conflicting_missing(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(data_type) = array.data_type() else {
        return;
    };
    let (Some(fill), Some(missing)) = (
        array.attribute("_FillValue"),
        array.attribute("missing_value"),
    ) else {
        return;
    };
    let values = (
        meant(fill.value, data_type),
        meant(missing.value, data_type),
    );
    if let (Some(a), Some(b)) = values
        && !a.equals(b)
    {
        report(array, &missing, sink, |draft| {
            draft
                .found(format!("a \"missing_value\" of {} and a \"_FillValue\" of {}", short(b), short(a)))
                .expected("one value for what is missing; writers use one of two, and readers may mask both or one")
        });
    }
}

pub(super) fn fill_not_masked(array: &Array<'_>, sink: &mut Sink<'_>) {
    let (Some(document), Some(data_type)) = (array.v3(), array.data_type()) else {
        return;
    };
    let masked = ["_FillValue", "missing_value"]
        .iter()
        .any(|name| array.attribute(name).is_some());
    let fill = scalar(document.fill_value.value, data_type);
    if let Some(fill) = fill
        && data_type.is_integer()
        && !masked
        && !fill.is_zero()
        && !is_packed(array)
    {
        sink.report(array.document.kind, || {
            Draft::at(array.document, "/fill_value")
                .found(format!("a fill value of {} and no attribute \"_FillValue\"", short(fill)))
                .expected("\"_FillValue\" as well, if it means missing: in Zarr v3 readers do not mask the fill value")
        });
    }
}

pub(super) fn array_dimensions(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(attribute) = array.attribute("_ARRAY_DIMENSIONS") else {
        return;
    };
    if let Some(document) = array.v3() {
        if document.optional.dimension_names.is_none() {
            report(array, &attribute, sink, |draft| {
                draft
                    .found("\"_ARRAY_DIMENSIONS\" and no \"dimension_names\"")
                    .expected("\"dimension_names\": in Zarr v3 xarray looks there, and does not open the array without them")
            });
        }
        return;
    }
    let stated = |name: &str| array.document.root()?.get(name)?.as_array();
    let rank = stated("shape").map(<[_]>::len);
    let names = attribute.value.as_array();
    let fits = names.is_some_and(|names| {
        names.iter().all(|name| name.as_str().is_some()) && Some(names.len()) == rank
    });
    if let (false, Some(rank)) = (fits, rank) {
        report(array, &attribute, sink, |draft| {
            draft
                .found(match names {
                    Some(names) => format!("a list of {}", names.len()),
                    None => describe(attribute.value),
                })
                .expected(format!("{rank} names, as many as the array has dimensions"))
        });
    }
}
