//! What attributes say about the values of an array: what stands for missing ones, and that they are packed.

use crate::catalog::ArrayText;
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
        let Some(value) = attributes(text).and_then(|root| root.get(name)) else {
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
    let root = attributes(text)?;
    PACKING.into_iter().find(|name| root.get(name).is_some())
}

fn attributes(text: &ArrayText) -> Option<&Value> {
    match text {
        ArrayText::V3(text) => text.parsed.root.get("attributes"),
        ArrayText::V2 { attributes, .. } => attributes.as_ref().map(|text| &text.parsed.root),
    }
}

/// The value of the array that an attribute names: a number, or the bytes of a double in base64, as xarray writes them.
fn scalar(value: &Value, data_type: DataType) -> Option<Scalar> {
    match &value.kind {
        Kind::Number(token) => parse(token, data_type),
        Kind::String(text) => {
            let bytes = <[u8; 8]>::try_from(base64(text)?).ok()?;
            let double = f64::from_le_bytes(bytes);
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

/// The bytes of a text in base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in text.trim_end_matches('=').bytes() {
        let place = DIGITS.iter().position(|known| *known == digit)?;
        bits = bits << 6 | u32::try_from(place).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "what is above 8 bits was taken"
            )]
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_in_base64_are_read() {
        let bytes = base64("AAAAAAAA+H8=").unwrap();
        let double = f64::from_le_bytes(bytes.try_into().unwrap());
        assert!(double.is_nan());
        let bytes = base64("AAAAAICHw8A=").unwrap();
        assert_eq!(f64::from_le_bytes(bytes.try_into().unwrap()), -9999.0);
        assert_eq!(base64("a text"), None);
    }
}
