//! What xarray shows as missing, said so that it does so in Zarr v3.
//!
//! In Zarr v2 xarray takes the `fill_value` for the mask and passes over an attribute `_FillValue` beside it, unless the fill is
//! null. In Zarr v3 it is the attribute alone, in a form of its own for each kind of type. An attribute that is in no such form
//! keeps xarray from opening the array at all.

use crate::codecs::v2::ValueType;
use crate::metadata::describe;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Kind, Value};
use crate::metadata::v2::{Dtype, DtypeKind};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// The attribute that is a mask in Zarr v3.
pub(super) const ATTRIBUTE: &str = "_FillValue";

/// The attribute by which xarray takes more values for missing, in both versions.
pub(super) const MISSING: &str = "missing_value";

/// The attributes by which xarray computes values from the stored ones.
const PACKING: [&str; 2] = ["scale_factor", "add_offset"];

/// What a mask depends on beside the attributes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mask<'c> {
    /// The type of the array.
    pub(super) value_type: &'c ValueType,
    /// The fill in the spelling of Zarr v3, unless it was null.
    pub(super) fill: Option<&'c Draft>,
}

/// What becomes of the attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// It was not there, and is not needed.
    None,
    /// It stays as it is.
    Kept,
    /// It has this value, for the reason given.
    Set(Draft, String),
    /// It goes, for the reason given, and nothing is shown otherwise.
    Removed(String),
    /// There is none, for the reason given, although some values were shown as missing.
    Lost(String),
    /// It cannot be converted: what was found, and what was expected.
    Refused(String, &'static str),
}

/// How a type is masked in Zarr v3.
enum Form<'c> {
    /// A number.
    Integer,
    /// A boolean, which xarray makes of numbers, too.
    Bool,
    /// Base64 of a double, from a value of the type.
    Float(DataType),
    /// A list of two of them.
    Complex(DataType),
    /// Not at all. `shown` says whether xarray masks such values in Zarr v2.
    Impossible { name: &'c str, shown: bool },
}

impl Mask<'_> {
    /// Decides about the attribute, from all attributes of the array.
    pub(super) fn outcome(&self, attributes: Option<&Value>) -> Outcome {
        let member = |name: &str| attributes.and_then(|attributes| attributes.get(name));
        let existing = member(ATTRIBUTE);
        let form = self.form();
        let outcome = match (&form, self.fill, existing) {
            (Form::Impossible { name, shown }, fill, existing) => {
                impossible(name, *shown, fill, existing)
            }
            (form, Some(fill), existing) => of_fill(form, fill, existing),
            (_, None, None) => Outcome::None,
            (form, None, Some(existing)) => of_attribute(form, existing),
        };
        let packed = PACKING.iter().any(|name| member(name).is_some());
        let is_nan = match self.fill {
            Some(fill) => *fill == Draft::string("NaN"),
            None => [existing, member(MISSING)]
                .into_iter()
                .flatten()
                .any(only_nan),
        };
        match (outcome, form) {
            (Outcome::None | Outcome::Removed(_), Form::Float(_)) if packed && is_nan => {
                nan_beside_packing(existing)
            }
            (outcome, _) => outcome,
        }
    }

    fn form(&self) -> Form<'_> {
        let impossible = |name, shown| Form::Impossible { name, shown };
        match self.value_type {
            ValueType::Simple(dtype) => of_dtype(dtype),
            ValueType::Record(_) => impossible("records", false),
            ValueType::VariableText => impossible("text", true),
            ValueType::VariableBytes => impossible("bytes", true),
        }
    }
}

/// The mask that the fill was.
fn of_fill(form: &Form<'_>, fill: &Draft, existing: Option<&Value>) -> Outcome {
    let parts = match fill {
        Draft::Array(parts) => parts.as_slice(),
        part => std::slice::from_ref(part),
    };
    let value = match form {
        Form::Integer | Form::Bool => Some(fill.clone()),
        Form::Float(element) => double(fill, *element),
        Form::Complex(element) => {
            let parts = parts.iter().map(|part| double(part, *element));
            parts.collect::<Option<_>>().map(Draft::Array)
        }
        Form::Impossible { .. } => None,
    };
    let is_nan = parts.iter().any(|part| *part == Draft::string("NaN"));
    match (value, existing) {
        (Some(_), None) if is_nan => Outcome::None,
        (Some(_), Some(existing)) if is_nan => Outcome::Removed(format!(
            "{}, to which xarray paid no heed in Zarr v2, went: the fill is NaN, which is missing without a mask",
            described(existing)
        )),
        (Some(value), None) => Outcome::Set(
            value,
            format!(
                "added with the fill {}, which xarray takes for missing in Zarr v2",
                shown(fill)
            ),
        ),
        (Some(value), Some(existing)) if value == Draft::from(existing) => Outcome::Kept,
        (Some(value), Some(existing)) => Outcome::Set(
            value,
            format!(
                "{} became the fill {}, which xarray takes for missing in Zarr v2, whatever stands here",
                described(existing),
                shown(fill)
            ),
        ),
        // The fill is no value of the type, for which the array is refused.
        (None, _) => Outcome::None,
    }
}

/// A NaN is no mask, but with `scale_factor` or `add_offset` xarray computes in another type where there is none at all.
fn nan_beside_packing(existing: Option<&Value>) -> Outcome {
    // The bits of Python's NaN.
    let nan = f64::from_bits(0x7ff8_0000_0000_0000);
    let was = existing.map_or_else(String::new, |existing| {
        format!("{} became this: ", described(existing))
    });
    Outcome::Set(
        base64(nan),
        format!(
            "{was}base64 of NaN, which changes no value, but without which xarray would unpack in another type"
        ),
    )
}

/// Whether an attribute is a bare NaN, or a list of nothing else.
fn only_nan(value: &Value) -> bool {
    match &value.kind {
        Kind::NonFinite(word) => word == "NaN",
        Kind::Array(values) => !values.is_empty() && values.iter().all(only_nan),
        _ => false,
    }
}

fn of_dtype(dtype: &Dtype) -> Form<'static> {
    match (dtype.kind, dtype.size) {
        (DtypeKind::Float, 2) => Form::Float(DataType::Float16),
        (DtypeKind::Float, 4) => Form::Float(DataType::Float32),
        (DtypeKind::Float, _) => Form::Float(DataType::Float64),
        (DtypeKind::Complex, 8) => Form::Complex(DataType::Float32),
        (DtypeKind::Complex, _) => Form::Complex(DataType::Float64),
        // xarray leaves times of NumPy alone.
        (DtypeKind::DateTime | DtypeKind::TimeDelta, _) => Form::Impossible {
            name: "times",
            shown: false,
        },
        (DtypeKind::Bytes, _) => Form::Impossible {
            name: "bytes",
            shown: true,
        },
        // With a fill xarray does not open these in Zarr v2 either.
        (DtypeKind::Void, _) => Form::Impossible {
            name: "raw bytes",
            shown: false,
        },
        (DtypeKind::Unicode, _) => Form::Impossible {
            name: "text",
            shown: true,
        },
        (DtypeKind::Bool, _) => Form::Bool,
        _ => Form::Integer,
    }
}

fn impossible(name: &str, shows: bool, fill: Option<&Draft>, existing: Option<&Value>) -> Outcome {
    let reason = format!("xarray does not open arrays of {name} with a _FillValue in Zarr v3");
    let was = existing.map(|existing| format!("{} went: ", described(existing)));
    match (fill, existing) {
        (None, None) => Outcome::None,
        (Some(fill), _) if shows => Outcome::Lost(format!(
            "{}{reason}, so that {} is not shown as missing any more",
            was.unwrap_or_default(),
            shown(fill)
        )),
        (None, Some(existing)) if shows => Outcome::Lost(format!(
            "{}{reason}, so that it is not shown as missing any more",
            format_args!("{} went: ", described(existing))
        )),
        (_, None) => Outcome::None,
        (_, Some(_)) => Outcome::Removed(format!("{}{reason}", was.unwrap_or_default())),
    }
}

/// The mask that the attribute was, because the fill is null.
fn of_attribute(form: &Form<'_>, existing: &Value) -> Outcome {
    // netCDF has lists of one.
    let value = match existing.as_array() {
        Some([value]) if !matches!(form, Form::Complex(_)) => value,
        _ => existing,
    };
    let listed = !std::ptr::eq(value, existing);
    match (form, &value.kind) {
        (_, Kind::NonFinite(word)) if word == "NaN" => {
            Outcome::Removed("NaN went: it is missing without a mask".to_owned())
        }
        (Form::Integer, Kind::Number(token)) => match is_integer(token) {
            false => Outcome::Removed(format!(
                "{token} went: no value of the type equals it, and xarray would take it for an integer in Zarr v3"
            )),
            true if listed => Outcome::Set(
                Draft::from(value),
                format!("a list of {token} became {token}, as xarray has it in Zarr v3"),
            ),
            true => Outcome::Kept,
        },
        (Form::Integer | Form::Bool, Kind::Bool(_)) if !listed => Outcome::Kept,
        (Form::Float(_), Kind::Number(word) | Kind::NonFinite(word)) => Outcome::Set(
            base64(as_written(value)),
            format!("{word} became base64 of the double, as xarray has it in Zarr v3"),
        ),
        (Form::Complex(_), Kind::Array(parts)) => complex(parts),
        (Form::Complex(_), Kind::Number(word)) => {
            Outcome::Set(pair(as_written(value), 0.0), pair_of(word))
        }
        (_, Kind::Array(values)) if values.len() > 1 => Outcome::Refused(
            format!(
                "a list of {} values; xarray takes one in Zarr v3",
                values.len()
            ),
            "one value",
        ),
        _ => Outcome::Removed(format!(
            "{} went: it is no value of the type, and keeps xarray from opening the array in Zarr v3",
            described(existing)
        )),
    }
}

fn complex(parts: &[Value]) -> Outcome {
    let number = |part: &Value| matches!(part.kind, Kind::Number(_) | Kind::NonFinite(_));
    match parts {
        [re, im] if number(re) && number(im) => match (as_written(re), as_written(im)) {
            (re, im) if re.is_nan() || im.is_nan() => {
                Outcome::Removed("a NaN went: it is missing without a mask".to_owned())
            }
            (re, im) => Outcome::Set(pair(re, im), pair_of("the list")),
        },
        _ => Outcome::Refused(
            format!("a list of length {}", parts.len()),
            "the two numbers of a complex one",
        ),
    }
}

fn pair(re: f64, im: f64) -> Draft {
    Draft::Array(vec![base64(re), base64(im)])
}

fn pair_of(was: &str) -> String {
    format!("{was} became base64 of two doubles, as xarray has it in Zarr v3")
}

/// The double that Python reads a number as, beyond the doubles an infinity.
fn as_written(value: &Value) -> f64 {
    let word = match &value.kind {
        Kind::Number(word) | Kind::NonFinite(word) => word,
        _ => return f64::NAN,
    };
    word.parse().unwrap_or(f64::NAN)
}

/// Whether a number is an integer of up to 64 bits, however it is written.
fn is_integer(token: &str) -> bool {
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    let value: Option<f64> = token.parse().ok();
    value.is_some_and(|value| value.fract() == 0.0 && value.abs() <= LIMIT)
}

/// Base64 of the little-endian double that equals a value of a type.
fn double(value: &Draft, element: DataType) -> Option<Draft> {
    let literal = match value {
        Draft::Number(token) => Literal::Number(token.clone()),
        Draft::String(word) => Literal::String(word.clone()),
        _ => return None,
    };
    Some(base64(Scalar::parse(&literal, element).ok()?.to_f64()))
}

fn base64(value: f64) -> Draft {
    Draft::String(crate::cf::base64::encode(value.to_bits()))
}

fn described(value: &Value) -> String {
    match &value.kind {
        Kind::Number(token) | Kind::NonFinite(token) => token.clone(),
        _ => describe(value),
    }
}

/// A fill, for messages.
fn shown(fill: &Draft) -> String {
    match fill {
        Draft::Number(token) => token.clone(),
        Draft::String(text) if text.is_empty() => "\"\"".to_owned(),
        Draft::String(text) => format!("{text:?}"),
        Draft::Bool(value) => value.to_string(),
        Draft::Array(parts) => {
            let parts: Vec<_> = parts.iter().map(shown).collect();
            format!("[{}]", parts.join(", "))
        }
        Draft::Null | Draft::Object(_) => "of the array".to_owned(),
    }
}
