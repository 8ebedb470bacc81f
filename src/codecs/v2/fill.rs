//! Fill values of v2 documents as Zarr v3 spells them.

use data_encoding::BASE64;

use super::fault::Fault;
use super::types::{Endian, ValueType};
use crate::metadata::Located;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Kind, Value};
use crate::metadata::v2::{Dtype, DtypeKind, FillValue};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// NumPy's "not a time".
const NOT_A_TIME: &str = "-9223372036854775808";

/// The `fill_value` of a v3 document.
///
/// Null becomes what readers show in its place: zeros, empty text, and "not a time" for times.
///
/// # Errors
///
/// Where it is no value of the type. Whether a number is in the range of the type is left to [`check`].
pub(super) fn fill(fill: &Located<FillValue<'_>>, value_type: &ValueType) -> Result<Draft, Fault> {
    let draft = match (&fill.value, value_type) {
        (FillValue::Undefined, value_type) => Some(undefined(value_type)),
        (value, ValueType::Simple(dtype)) => match dtype.kind {
            DtypeKind::DateTime | DtypeKind::TimeDelta => time(*value),
            DtypeKind::Unicode => text(*value, dtype),
            DtypeKind::Bytes => bytes(*value, |length| length <= dtype.size as usize),
            DtypeKind::Void => bytes(*value, |length| length == dtype.size as usize),
            _ => number(*value, dtype),
        },
        (FillValue::Base64(text), record @ ValueType::Record(_)) => {
            let bytes = BASE64.decode(text.as_bytes()).ok();
            bytes.and_then(|bytes| one_record(&bytes, record))
        }
        (_, ValueType::Record(_)) => None,
        // zarr-python takes the number that older versions wrote for text as its digits.
        (FillValue::Text(text) | FillValue::Number(text), ValueType::VariableText) => {
            Some(Draft::string(*text))
        }
        (FillValue::Text(text), ValueType::VariableBytes) => BASE64
            .decode(text.as_bytes())
            .is_ok()
            .then(|| Draft::string(*text)),
        (_, ValueType::VariableText | ValueType::VariableBytes) => None,
    };
    draft.ok_or_else(|| misfit(fill, value_type))
}

/// Whether the numbers in a fill are in the range of the type.
///
/// # Errors
///
/// Where one is not.
pub(super) fn check(
    fill: &Located<FillValue<'_>>,
    draft: &Draft,
    value_type: &ValueType,
) -> Result<(), Fault> {
    let ValueType::Simple(dtype) = value_type else {
        return Ok(());
    };
    let (parts, element) = match (draft, dtype.kind) {
        (Draft::Array(parts), DtypeKind::Complex) => (parts.as_slice(), part_type(dtype)),
        (part, _) => (std::slice::from_ref(part), element_type(dtype)),
    };
    let Some(element) = element else {
        return Ok(());
    };
    let fits = |part: &Draft| {
        let literal = match part {
            Draft::Number(token) => Literal::Number(token.clone()),
            Draft::String(text) => Literal::String(text.clone()),
            _ => return false,
        };
        Scalar::parse(&literal, element).is_ok()
    };
    if parts.iter().all(fits) {
        return Ok(());
    }
    Err(misfit(fill, value_type))
}

fn misfit(fill: &Located<FillValue<'_>>, value_type: &ValueType) -> Fault {
    let expected = match value_type {
        ValueType::Simple(dtype) => match dtype.kind {
            DtypeKind::Bytes => format!("base64 of up to {} bytes, or null", dtype.size),
            DtypeKind::Void => format!("base64 of {} bytes, or null", dtype.size),
            DtypeKind::Unicode => format!("text of up to {} characters, or null", dtype.size),
            _ => format!("a value of {dtype}, or null"),
        },
        ValueType::Record(_) => {
            let size = value_type.size().unwrap_or_default();
            format!("base64 of the {size} bytes of a record, or null")
        }
        ValueType::VariableText => "text, or null".to_owned(),
        ValueType::VariableBytes => "base64, or null".to_owned(),
    };
    let found = format!("the fill value {}", described(&fill.value));
    Fault::unsound(&fill.pointer, found, expected)
        .hint("set fill_value in .zarray to the value that missing chunks have")
}

fn described(fill: &FillValue<'_>) -> String {
    match fill {
        FillValue::Undefined => "null".to_owned(),
        FillValue::Bool(value) => value.to_string(),
        FillValue::Number(token) => (*token).to_owned(),
        FillValue::NonFinite(text) | FillValue::Base64(text) | FillValue::Text(text) => {
            format!("{text:?}")
        }
        FillValue::Other(value) => crate::metadata::describe(value),
    }
}

/// The real type of an array, where it has one.
fn element_type(dtype: &Dtype) -> Option<DataType> {
    dtype.v3_name().and_then(DataType::from_name)
}

/// The type of the two numbers that a complex one consists of.
fn part_type(dtype: &Dtype) -> Option<DataType> {
    match dtype.size {
        8 => Some(DataType::Float32),
        16 => Some(DataType::Float64),
        _ => None,
    }
}

fn undefined(value_type: &ValueType) -> Draft {
    let zero = || Draft::Number("0".to_owned());
    match value_type {
        ValueType::VariableText | ValueType::VariableBytes => Draft::string(""),
        ValueType::Record(fields) => Draft::object(
            fields
                .iter()
                // Zeros throughout, as NumPy makes an empty record.
                .map(|field| (field.name.clone(), zeros(&field.value_type))),
        ),
        ValueType::Simple(dtype) => match dtype.kind {
            DtypeKind::Bool => Draft::Bool(false),
            DtypeKind::Complex => complex_zero(),
            DtypeKind::DateTime | DtypeKind::TimeDelta => Draft::Number(NOT_A_TIME.to_owned()),
            DtypeKind::Bytes | DtypeKind::Unicode => Draft::string(""),
            DtypeKind::Void => Draft::String(BASE64.encode(&vec![0; dtype.size as usize])),
            _ => zero(),
        },
    }
}

fn complex_zero() -> Draft {
    let zero = Draft::Number("0.0".to_owned());
    Draft::Array(vec![zero.clone(), zero])
}

fn zeros(value_type: &ValueType) -> Draft {
    match value_type {
        ValueType::Simple(dtype)
            if matches!(dtype.kind, DtypeKind::DateTime | DtypeKind::TimeDelta) =>
        {
            Draft::Number("0".to_owned())
        }
        other => undefined(other),
    }
}

fn number(fill: FillValue<'_>, dtype: &Dtype) -> Option<Draft> {
    let number = |token: &str| Draft::Number(token.to_owned());
    match (fill, dtype.kind) {
        (FillValue::Bool(value), DtypeKind::Bool) => Some(Draft::Bool(value)),
        (FillValue::Number(token), DtypeKind::Bool) => truth(token).map(Draft::Bool),
        (FillValue::Bool(value), DtypeKind::Int | DtypeKind::UInt) => {
            Some(number(if value { "1" } else { "0" }))
        }
        (FillValue::Number(token), DtypeKind::Int | DtypeKind::UInt) => {
            whole(token).map(Draft::Number)
        }
        (FillValue::Number(token), DtypeKind::Float) => Some(number(token)),
        (FillValue::NonFinite(word), DtypeKind::Float) => Some(Draft::string(word)),
        (FillValue::Number(token), DtypeKind::Complex) => {
            Some(Draft::Array(vec![number(token), number("0.0")]))
        }
        (FillValue::NonFinite(word), DtypeKind::Complex) => {
            Some(Draft::Array(vec![Draft::string(word), number("0.0")]))
        }
        (FillValue::Other(value), DtypeKind::Complex) => complex(value),
        _ => None,
    }
}

fn complex(value: &Value) -> Option<Draft> {
    let parts = value.as_array().filter(|parts| parts.len() == 2)?;
    let parts = parts.iter().map(|part| match &part.kind {
        Kind::Number(_) | Kind::NonFinite(_) => Some(Draft::from(part)),
        Kind::String(word) if ["NaN", "Infinity", "-Infinity"].contains(&word.as_str()) => {
            Some(Draft::string(word))
        }
        _ => None,
    });
    Some(Draft::Array(parts.collect::<Option<_>>()?))
}

fn time(fill: FillValue<'_>) -> Option<Draft> {
    match fill {
        FillValue::Number(token) => {
            let token = whole(token)?;
            let literal = Literal::Number(token.clone());
            let fits = Scalar::parse(&literal, DataType::Int64).is_ok();
            fits.then_some(Draft::Number(token))
        }
        FillValue::Text("NaT") => Some(Draft::Number(NOT_A_TIME.to_owned())),
        _ => None,
    }
}

fn text(fill: FillValue<'_>, dtype: &Dtype) -> Option<Draft> {
    let FillValue::Text(text) = fill else {
        return None;
    };
    (text.chars().count() <= dtype.size as usize).then(|| Draft::string(text))
}

fn bytes(fill: FillValue<'_>, fits: impl Fn(usize) -> bool) -> Option<Draft> {
    let FillValue::Base64(text) = fill else {
        return None;
    };
    let bytes = BASE64.decode(text.as_bytes()).ok()?;
    fits(bytes.len()).then(|| Draft::string(text))
}

/// The value of a record from its bytes, in the order in which v2 stores them.
fn one_record(bytes: &[u8], value_type: &ValueType) -> Option<Draft> {
    if value_type.size()? != bytes.len() as u64 {
        return None;
    }
    let dtype = match value_type {
        ValueType::Record(fields) => {
            let mut rest = bytes;
            let mut members = Vec::with_capacity(fields.len());
            for field in fields {
                let size = usize::try_from(field.value_type.size()?).ok()?;
                let (own, after) = rest.split_at_checked(size)?;
                members.push((field.name.clone(), one_record(own, &field.value_type)?));
                rest = after;
            }
            return Some(Draft::Object(members));
        }
        ValueType::Simple(dtype) => dtype,
        ValueType::VariableText | ValueType::VariableBytes => return None,
    };
    let swap = value_type.endian() == Some(Endian::Big);
    let real = |bytes: &[u8], element: DataType| {
        let mut bytes = bytes.to_vec();
        if swap != cfg!(target_endian = "big") {
            bytes.reverse();
        }
        json(&Scalar::from_ne_bytes(element, &bytes).to_json())
    };
    match dtype.kind {
        DtypeKind::Bool => Some(Draft::Bool(bytes != [0])),
        DtypeKind::Complex => {
            let (re, im) = bytes.split_at_checked(bytes.len() / 2)?;
            let element = part_type(dtype)?;
            Some(Draft::Array(vec![real(re, element), real(im, element)]))
        }
        DtypeKind::DateTime | DtypeKind::TimeDelta => Some(real(bytes, DataType::Int64)),
        DtypeKind::Bytes => {
            let length = bytes.iter().rposition(|byte| *byte != 0);
            let bytes = &bytes[..length.map_or(0, |last| last + 1)];
            Some(Draft::String(BASE64.encode(bytes)))
        }
        DtypeKind::Void => Some(Draft::String(BASE64.encode(bytes))),
        DtypeKind::Unicode => {
            let characters = bytes.as_chunks::<4>().0.iter().map(|bytes| {
                let code = match swap {
                    true => u32::from_be_bytes(*bytes),
                    false => u32::from_le_bytes(*bytes),
                };
                char::from_u32(code)
            });
            let text: String = characters.collect::<Option<_>>()?;
            Some(Draft::string(text.trim_end_matches('\0')))
        }
        _ => Some(real(bytes, element_type(dtype)?)),
    }
}

/// A scalar's JSON: a number, or a word without escapes.
fn json(text: &str) -> Draft {
    match text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(word) => Draft::string(word),
        None => Draft::Number(text.to_owned()),
    }
}

/// The boolean that a number stands for.
fn truth(token: &str) -> Option<bool> {
    match token.parse::<f64>().ok()? {
        0.0 => Some(false),
        1.0 => Some(true),
        _ => None,
    }
}

/// The integer that a number is. Python has written the fill of integers as `0.0`.
fn whole(token: &str) -> Option<String> {
    if !token.contains(['.', 'e', 'E']) {
        return Some(token.to_owned());
    }
    // Beyond 2^53 a double does not tell which integer was meant.
    let exact = |value: &f64| value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    let value = token.parse::<f64>().ok().filter(exact)?;
    // Integers have no negative zero.
    Some(format!("{:.0}", if value == 0.0 { 0.0 } else { value }))
}
