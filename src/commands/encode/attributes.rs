//! Attributes that say how values were packed, or what stood for missing ones, once a chain does that.

use super::chain::Packing;
use crate::cf::base64;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Kind, Value};
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// Attributes of CF packing that readers would apply once more.
pub(super) const PACKING: [&str; 3] = ["scale_factor", "add_offset", "_Unsigned"];

/// Attributes that name the value for missing ones.
pub(super) const MISSING: [&str; 2] = ["_FillValue", "missing_value"];

/// Attributes that bound values, in the unit of what is stored.
pub(super) const VALID: [&str; 3] = ["valid_min", "valid_max", "valid_range"];

/// What becomes of the attributes of an array.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Changes {
    /// Names and former values of those that go.
    pub(super) removed: Vec<(String, Draft)>,
    pub(super) converted: Vec<Conversion>,
}

/// An attribute that gets another value, and perhaps another name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Conversion {
    pub(super) from: String,
    pub(super) name: String,
    pub(super) old: Draft,
    pub(super) new: Draft,
}

impl Changes {
    /// Decides what a chain replaces of the attributes of values: what would be applied once more, and values for missing ones that
    /// no code decodes to. All others stay true.
    pub(super) fn of_values(attributes: &Value, packing: &Packing) -> Self {
        let mut changes = Self::default();
        for member in attributes.as_object().unwrap_or_default() {
            let name = member.name.as_str();
            let goes = PACKING.contains(&name)
                || MISSING.contains(&name) && !comes_back(&member.value, packing);
            if goes {
                let now = Draft::from(&member.value);
                changes.removed.push((name.to_owned(), now));
            }
        }
        changes
    }

    /// The same with the values that INPUT has: of arrays of Zarr v2, conversion makes the fill `_FillValue`.
    pub(super) fn with_values_of(mut self, attributes: Option<&Value>) -> Self {
        let removed = self.removed.iter_mut().map(|(name, value)| (&*name, value));
        let converted = self.converted.iter_mut();
        let converted = converted.map(|conversion| (&conversion.from, &mut conversion.old));
        for (name, value) in removed.chain(converted) {
            if let Some(original) = attributes.and_then(|attributes| attributes.get(name)) {
                *value = Draft::from(original);
            }
        }
        self
    }
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
            let double = Scalar::from_bits(DataType::Float64, base64::decode(&text)?);
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

/// The values that attributes call missing.
pub(super) fn missing_values(attributes: Option<&Value>, data_type: DataType) -> Vec<Scalar> {
    let stated = MISSING.iter().filter_map(|name| attributes?.get(name));
    let values = stated.flat_map(|value| match value.as_array() {
        Some(values) => values,
        None => std::slice::from_ref(value),
    });
    values
        .filter_map(|value| scalar(value, data_type))
        .collect()
}

/// The attribute by which integers are codes of CF packing, if there is one.
pub(super) fn packed_by(attributes: Option<&Value>, data_type: DataType) -> Option<&'static str> {
    if !data_type.is_integer() {
        return None;
    }
    let is_there = |name: &&str| attributes.is_some_and(|all| all.get(name).is_some());
    let scaled = ["scale_factor", "add_offset"].into_iter().find(is_there);
    scaled.or_else(|| is_reinterpreted(attributes, data_type).then_some("_Unsigned"))
}

/// Whether integers are to be taken for ones with, or without, a sign, against their type.
pub(super) fn is_reinterpreted(attributes: Option<&Value>, data_type: DataType) -> bool {
    let value = attributes.and_then(|attributes| attributes.get("_Unsigned"));
    let value = value.map(|value| match value.as_array() {
        Some([only]) => only,
        _ => value,
    });
    let says = |word: &str| {
        value.is_some_and(|value| {
            value.as_bool().is_some_and(|flag| flag.to_string() == word)
                || value
                    .as_str()
                    .is_some_and(|text| text.eq_ignore_ascii_case(word))
        })
    };
    match data_type.integer_range() {
        Some((0, _)) => says("false"),
        Some(_) => says("true"),
        None => false,
    }
}

fn literal(value: &Value) -> Option<Literal> {
    match &value.kind {
        Kind::Number(token) => Some(Literal::Number(token.clone())),
        Kind::String(text) | Kind::NonFinite(text) => Some(Literal::String(text.clone())),
        _ => None,
    }
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
