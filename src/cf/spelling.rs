//! The ways in which programs write the values of CF attributes: numbers, text, lists of one, xarray's base64.

use super::base64;
use crate::metadata::json::{Kind, Value};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// What came of reading a value, with a word on an odd spelling that was clear all the same.
pub(super) type Read<T> = Result<(T, Option<String>), String>;

/// A finite number, for `scale_factor` and `add_offset`.
pub(super) fn factor(value: &Value) -> Read<f64> {
    let (value, odd) = single(value)?;
    let (token, text) = match &value.kind {
        Kind::Number(token) => (token.as_str(), None),
        Kind::String(text) => (
            text.trim(),
            Some(format!(
                "{text:?} is text and was taken for the number that it spells"
            )),
        ),
        _ => return Err(format!("expected a number, found {}", found(value))),
    };
    let literal = Literal::Number(token.to_owned());
    let number = Scalar::parse(&literal, DataType::Float64)
        .map_err(|error| format!("expected a finite number, found {}: {error}", found(value)))?;
    Ok((number.to_f64(), odd.or(text)))
}

/// Numbers of the stored type, for `_FillValue` and `missing_value`. `None` stands for one that nothing stored can be.
pub(super) fn missing(value: &Value, declared: DataType) -> Read<Vec<Option<Scalar>>> {
    let elements = match &value.kind {
        Kind::Array(elements) => elements.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut odd = None;
    let mut numbers = Vec::new();
    for element in elements {
        let (number, word) = stored_number(element, declared)?;
        odd = odd.or(word);
        numbers.push(number);
    }
    Ok((numbers, odd))
}

/// Limits in packed units. `None` where one is no number of the stored type: then they are not in packed units.
pub(super) fn limits(value: &Value, declared: DataType) -> Option<Vec<Scalar>> {
    let elements = match &value.kind {
        Kind::Array(elements) => elements.as_slice(),
        _ => std::slice::from_ref(value),
    };
    elements
        .iter()
        .map(|element| stored_number(element, declared).ok()?.0)
        .collect()
}

/// `_Unsigned`.
pub(super) fn flag(value: &Value) -> Read<bool> {
    let (value, odd) = single(value)?;
    match &value.kind {
        Kind::Bool(flag) => Ok((*flag, odd)),
        Kind::String(text) if text.eq_ignore_ascii_case("true") => Ok((true, odd)),
        Kind::String(text) if text.eq_ignore_ascii_case("false") => Ok((false, odd)),
        _ => Err(format!(
            "expected \"true\" or \"false\", found {}",
            found(value)
        )),
    }
}

/// The value itself, or the one in a list.
fn single(value: &Value) -> Read<&Value> {
    match value.as_array() {
        Some([only]) => Ok((
            only,
            Some("a list of one was taken for what is in it".to_owned()),
        )),
        Some(list) => Err(format!(
            "expected one value, found a list of {}",
            list.len()
        )),
        None => Ok((value, None)),
    }
}

/// A number of the stored type. `_Unsigned` lets bytes be written with or without a sign, so both are read here.
fn stored_number(value: &Value, declared: DataType) -> Read<Option<Scalar>> {
    let refuse = |why: String| {
        format!(
            "expected a value of {declared}, found {}{why}",
            found(value)
        )
    };
    match &value.kind {
        Kind::Number(token) => Ok((number(token, declared).map_err(refuse)?, None)),
        Kind::NonFinite(token) => Ok((special(token, declared), None)),
        Kind::String(text) => {
            if ["NaN", "Infinity", "-Infinity", "+Infinity"].contains(&text.as_str()) {
                return Ok((special(text, declared), None));
            }
            if let (true, Some(double)) = (declared.is_float(), base64_double(text)) {
                let number = Scalar::from_bits(DataType::Float64, double.to_bits());
                let token = number.to_json();
                let number = match token.strip_prefix('"') {
                    Some(word) => special(word.trim_end_matches('"'), declared),
                    None => self::number(&token, declared).map_err(refuse)?,
                };
                return Ok((number, None));
            }
            let number = number(text.trim(), declared).map_err(refuse)?;
            let odd = format!("{text:?} is text and was taken for the number that it spells");
            Ok((number, Some(odd)))
        }
        _ => Err(refuse(String::new())),
    }
}

/// A number from its text. Integers may be written with a fraction of zeros.
fn number(token: &str, declared: DataType) -> Result<Option<Scalar>, String> {
    let literal = Literal::Number(token.to_owned());
    let parsed = Scalar::parse(&literal, declared);
    if !declared.is_integer() {
        return parsed.map(Some).map_err(|error| format!(": {error}"));
    }
    let whole = || -> Option<i128> {
        let double = Scalar::parse(&literal, DataType::Float64).ok()?;
        whole_number(double.to_f64())
    };
    let integer = match &parsed {
        Ok(scalar) => return Ok(Some(*scalar)),
        Err(_) => token.parse::<i128>().ok().or_else(whole),
    };
    let twin = twin(declared);
    integer
        .and_then(|integer| {
            Scalar::from_integer(declared, integer).or_else(|| Scalar::from_integer(twin?, integer))
        })
        .map(Some)
        .ok_or_else(String::new)
}

/// The integer that a double is, as far as doubles tell neighbouring integers apart.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is whole, and far inside the range"
)]
fn whole_number(double: f64) -> Option<i128> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (double.fract() == 0.0 && double.abs() <= EXACT).then_some(double as i128)
}

/// A number that JSON has no token for. No integer is one.
fn special(word: &str, declared: DataType) -> Option<Scalar> {
    Scalar::parse(&Literal::String(word.to_owned()), declared).ok()
}

/// The integer type of the same size with or without a sign.
pub(super) fn twin(data_type: DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Int8 => DataType::UInt8,
        DataType::Int16 => DataType::UInt16,
        DataType::Int32 => DataType::UInt32,
        DataType::Int64 => DataType::UInt64,
        DataType::UInt8 => DataType::Int8,
        DataType::UInt16 => DataType::Int16,
        DataType::UInt32 => DataType::Int32,
        DataType::UInt64 => DataType::Int64,
        _ => return None,
    })
}

/// The double whose little-endian bytes a text is in base64: how xarray writes `_FillValue` of floats in Zarr v3.
fn base64_double(text: &str) -> Option<f64> {
    base64::decode(text).map(f64::from_bits)
}

/// A value for a message.
fn found(value: &Value) -> String {
    match &value.kind {
        Kind::Number(token) | Kind::NonFinite(token) => token.chars().take(60).collect(),
        Kind::String(text) => format!("{:?}", text.chars().take(60).collect::<String>()),
        _ => value.type_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::default(), NonFinite::Keep)
            .unwrap()
            .root
    }

    #[test]
    fn base64_is_that_of_xarray() {
        assert!(base64_double("AAAAAAAA+H8=").unwrap().is_nan());
        assert_eq!(base64_double("AAAAAIA4w8A="), Some(-9841.0));
        assert_eq!(base64_double("AAAAAIA4w8B="), None);
        assert_eq!(base64_double("AAAAAAAA+H8"), None);
        assert_eq!(base64_double("123456789012"), None);
    }

    #[test]
    fn factors_are_numbers_and_odd_spellings_are_told() {
        assert_eq!(factor(&value("0.01")), Ok((0.01, None)));
        assert_eq!(factor(&value("\" 1e-2\"")).unwrap().0, 0.01);
        assert!(factor(&value("[\"0.5\"]")).unwrap().1.is_some());
        assert_eq!(factor(&value("[2]")).unwrap().0, 2.0);
        for bad in [
            "[1, 2]", "[]", "null", "true", "\"a\"", "\"NaN\"", "NaN", "1e999", "{}",
        ] {
            assert!(factor(&value(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn missing_values_are_of_the_stored_type() {
        let numbers = |text: &str, declared| {
            let (numbers, odd) = missing(&value(text), declared)?;
            let numbers: Vec<_> = numbers
                .iter()
                .map(|number| number.map(|number| number.to_string()))
                .collect();
            Ok::<_, String>((format!("{numbers:?}").replace("Some", ""), odd.is_some()))
        };
        let ok = |text: &str, odd| Ok((text.to_owned(), odd));
        let (i2, f4) = (DataType::Int16, DataType::Float32);
        assert_eq!(numbers("-9999", i2), ok("[(\"-9999\")]", false));
        assert_eq!(numbers("-9999.0", i2), ok("[(\"-9999\")]", false));
        assert_eq!(numbers("\"-9999\"", i2), ok("[(\"-9999\")]", true));
        assert_eq!(numbers("[1, 2]", i2), ok("[(\"1\"), (\"2\")]", false));
        assert_eq!(numbers("65535", i2), ok("[(\"65535\")]", false));
        assert_eq!(numbers("NaN", i2), ok("[None]", false));
        assert_eq!(numbers("1e20", f4), ok("[(\"1e20\")]", false));
        assert_eq!(
            numbers("\"AAAAAIA4w8A=\"", f4),
            ok("[(\"-9841.0\")]", false)
        );
        for (bad, declared) in [
            ("0.5", i2),
            ("70000", i2),
            ("1e40", f4),
            ("null", f4),
            ("\"n/a\"", f4),
            ("\"AAAAAIA4w8A=\"", i2),
            ("[[1]]", i2),
        ] {
            assert!(numbers(bad, declared).is_err(), "{bad}");
        }
    }
}
