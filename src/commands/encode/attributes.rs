//! Attributes that say how values were packed, or what stood for missing ones, once a chain does that.

use std::cmp::Ordering;

use super::Domain;
use super::chain::{Packing, raw};
use crate::catalog::ArrayText;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Kind, Value};
use crate::transform::chain::{BoundChain, Direction};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// Attributes of CF packing that readers would apply once more.
const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];

/// Attributes that name the value for missing ones.
const MISSING: [&str; 2] = ["_FillValue", "missing_value"];

/// Attributes that bound values, in the unit of what is stored.
const VALID: [&str; 3] = ["valid_min", "valid_max", "valid_range"];

/// What becomes of the attributes of an array.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Changes {
    /// Names and former values of those that go.
    pub(super) removed: Vec<(String, Draft)>,
    /// Names, former and new values.
    pub(super) converted: Vec<(String, Draft, Draft)>,
}

impl Changes {
    /// Decides what a chain replaces.
    ///
    /// Where INPUT holds codes, it is all of CF packing, and bounds are decoded. Where it holds values, attributes about them
    /// stay true, except those that would be applied once more, and values for missing ones that no code decodes to.
    pub(super) fn of(attributes: Option<&Value>, domain: Domain, packing: &Packing) -> Self {
        let mut changes = Self::default();
        let Some(attributes) = attributes else {
            return changes;
        };
        let bound = &packing.bound;
        for member in attributes.as_object().unwrap_or_default() {
            let name = member.name.as_str();
            let (value, now) = (&member.value, Draft::from(&member.value));
            let goes = if PACKING.contains(&name) {
                true
            } else if MISSING.contains(&name) && domain == Domain::Logical {
                !comes_back(value, packing)
            } else if MISSING.contains(&name) && bound.data_type().has_nan() {
                true
            } else if (VALID.contains(&name) || MISSING.contains(&name)) && domain == Domain::Stored
            {
                match decoded(attributes, name, packing) {
                    Some(new) => {
                        changes.converted.push((name.to_owned(), now, new));
                        continue;
                    }
                    None => true,
                }
            } else {
                false
            };
            if goes {
                changes.removed.push((name.to_owned(), now));
            }
        }
        changes
    }

    /// The same with the values that INPUT has: of arrays of Zarr v2, conversion makes the fill `_FillValue`.
    pub(super) fn with_values_of(mut self, attributes: Option<&Value>) -> Self {
        for (name, value) in &mut self.removed {
            if let Some(original) = attributes.and_then(|attributes| attributes.get(name)) {
                *value = Draft::from(original);
            }
        }
        self
    }
}

/// What becomes of a code, or a list of codes, in an attribute; `None` where it is none, or has no counterpart. With a negative scale
/// the least code is the greatest value.
fn decoded(attributes: &Value, name: &str, packing: &Packing) -> Option<Draft> {
    let bound = &packing.bound;
    let decode = |value: &Value| {
        let code = scalar(value, bound.stored_type())?;
        bound.transform(Direction::Decode, code).ok()
    };
    let turned = is_turned(bound);
    let source = match (name, turned) {
        ("valid_min", true) => "valid_max",
        ("valid_max", true) => "valid_min",
        (name, _) => name,
    };
    let value = attributes.get(source)?;
    let json = |value: Scalar| raw(&value.to_json());
    match value.as_array() {
        Some(values) => {
            let mut values: Vec<_> = values.iter().map(decode).collect::<Option<_>>()?;
            if turned && name == "valid_range" {
                values.reverse();
            }
            Some(Draft::Array(values.into_iter().map(json).collect()))
        }
        None => decode(value).map(json),
    }
}

/// Whether greater codes are smaller values.
fn is_turned(bound: &BoundChain) -> bool {
    let (low, high) = Scalar::finite_range(bound.stored_type());
    // Codes at the very ends may stand for something else, or not decode.
    let inner = [low, high].map(|code| {
        let code = Scalar::from_ordinal(bound.stored_type(), code.ordinal() / 4);
        bound.transform(Direction::Decode, code).ok()
    });
    let [Some(low), Some(high)] = inner else {
        return false;
    };
    low.compare(high) == Some(Ordering::Greater)
}

/// Whether a value for missing ones is finite, and one that decoding gives: only then does it still mask something.
fn comes_back(value: &Value, packing: &Packing) -> bool {
    let bound = &packing.bound;
    let Some(value) = scalar(value, bound.data_type()) else {
        return false;
    };
    let code = bound.transform(Direction::Encode, value);
    let back = code.and_then(|code| bound.transform(Direction::Decode, code));
    value.is_finite() && back.is_ok_and(|back| back.equals(value))
}

/// The value of an attribute as a value of a type. xarray writes those of floats as the bytes of a double in base64.
pub(super) fn scalar(value: &Value, data_type: DataType) -> Option<Scalar> {
    // A list of one is how some writers have single values.
    let value = match value.as_array() {
        Some([only]) => only,
        _ => value,
    };
    let literal = literal(value)?;
    if let Ok(scalar) = Scalar::parse(&literal, data_type) {
        return Some(scalar);
    }
    match literal {
        Literal::String(text) => {
            let bytes: [u8; 8] = base64(&text)?.try_into().ok()?;
            let double = Scalar::from_bits(DataType::Float64, u64::from_le_bytes(bytes));
            let text = double.to_json();
            let literal = match text
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'))
            {
                Some(word) => Literal::String(word.to_owned()),
                None => Literal::Number(text),
            };
            Scalar::parse(&literal, data_type).ok()
        }
        // Integers as JSON writers of other languages spell them.
        Literal::Number(text) => {
            let whole = text.strip_suffix(".0")?;
            Scalar::parse(&Literal::Number(whole.to_owned()), data_type).ok()
        }
        Literal::Other(_) => None,
    }
}

/// The attributes of an array, as they were read.
pub(super) fn of(text: &ArrayText) -> Option<&Value> {
    match text {
        ArrayText::V3(text) => text.parsed.root.get("attributes"),
        ArrayText::V2 { attributes, .. } => attributes.as_ref().map(|text| &text.parsed.root),
    }
}

/// Whether signed integers are to be taken for unsigned ones.
pub(super) fn is_unsigned(attributes: Option<&Value>) -> bool {
    let value = attributes.and_then(|attributes| attributes.get("_Unsigned"));
    value.is_some_and(|value| {
        value.as_bool() == Some(true)
            || value
                .as_str()
                .is_some_and(|text| text.eq_ignore_ascii_case("true"))
    })
}

fn literal(value: &Value) -> Option<Literal> {
    match &value.kind {
        Kind::Number(token) => Some(Literal::Number(token.clone())),
        Kind::String(text) | Kind::NonFinite(text) => Some(Literal::String(text.clone())),
        _ => None,
    }
}

/// The bytes that a text in base64 stands for.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    text.len().is_multiple_of(4).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};

    fn value(text: &str) -> Value {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep);
        parsed.unwrap().root
    }

    #[test]
    fn fills_are_read_in_every_spelling() {
        let f32 = |text| scalar(&value(text), DataType::Float32);
        assert!(f32(r#""AAAAAAAA+H8=""#).unwrap().is_nan());
        assert!(f32(r#""NaN""#).unwrap().is_nan());
        assert!(f32("NaN").unwrap().is_nan());
        assert_eq!(f32("-9999").unwrap().to_f64(), -9999.0);
        assert_eq!(f32(r#""AAAAAACHw8A=""#).unwrap().to_f64(), -9998.0);
        assert_eq!(f32("[1e20]").unwrap().to_f64(), f64::from(1e20_f32));
        assert_eq!(f32("null"), None);
        assert_eq!(f32(r#""abc""#), None);
        let i16 = |text| scalar(&value(text), DataType::Int16).and_then(Scalar::integer);
        assert_eq!(i16("-9999.0"), Some(-9999));
        assert_eq!(i16("40000"), None);
    }
}
