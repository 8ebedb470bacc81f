//! What attributes say about the values of an array: what stands for missing ones, and that they are packed.

use crate::catalog::ArrayText;
use crate::cf::base64;
use crate::metadata::json::{Kind, Value};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// The attributes that name values for missing data.
const STAND_INS: [&str; 2] = ["_FillValue", "missing_value"];

/// The attributes with which readers unpack values once more.
const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];

/// The most values that one attribute may name.
const MOST: usize = 8;

/// The values that stand for missing ones, each once; NaN, which needs no declaration, is none of them.
pub(super) fn stand_ins(text: &ArrayText, data_type: DataType) -> Vec<Scalar> {
    let mut found: Vec<Scalar> = Vec::new();
    for name in STAND_INS {
        let Some(value) = text.attributes().and_then(|root| root.get(name)) else {
            continue;
        };
        let listed = value.as_array().unwrap_or(std::slice::from_ref(value));
        for value in listed.iter().take(MOST) {
            if let Some(scalar) = scalar(value, data_type)
                && !scalar.is_nan()
                && !found.iter().any(|known| known.equals(scalar))
            {
                found.push(scalar);
            }
        }
    }
    found
}

/// The first attribute with which readers unpack the values once more.
pub(super) fn packing(text: &ArrayText) -> Option<&'static str> {
    let root = text.attributes()?;
    PACKING.into_iter().find(|name| root.get(name).is_some())
}

/// The value of the array that an attribute names: a number, or the bytes of a double in base64, as xarray writes them.
fn scalar(value: &Value, data_type: DataType) -> Option<Scalar> {
    match &value.kind {
        Kind::Number(token) => parse(token, data_type),
        Kind::String(text) => {
            let double = f64::from_bits(base64::decode(text)?);
            double
                .is_finite()
                .then(|| parse(&double.to_string(), data_type))
                .flatten()
        }
        _ => None,
    }
}

fn parse(token: &str, data_type: DataType) -> Option<Scalar> {
    let whole = token.strip_suffix(".0").filter(|_| data_type.is_integer());
    Scalar::parse(
        &Literal::Number(whole.unwrap_or(token).to_owned()),
        data_type,
    )
    .ok()
}
