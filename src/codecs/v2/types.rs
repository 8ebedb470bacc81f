//! The types of Zarr v2 and what they are in Zarr v3: one table, or the reason why there is no such type.
//!
//! The names beside those of the specification are the ones that zarr-python writes.

use super::fault::Fault;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Pointer, Value};
use crate::metadata::v2::{Array, ByteOrder, DataType, Dtype, DtypeKind};

/// The type of the values of a v2 array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueType {
    /// Values of one fixed size: numbers, times, text and bytes.
    Simple(Dtype),
    /// Several values under names.
    Record(Vec<Field>),
    /// Text of any length.
    VariableText,
    /// Bytes of any number.
    VariableBytes,
}

/// One value of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub value_type: ValueType,
}

/// The order of the bytes of values that have more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

impl Endian {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Little => "little",
            Self::Big => "big",
        }
    }
}

/// The filters that make bytes of objects, and what the objects then are.
pub(super) const VARIABLE: [(&str, ValueType); 2] = [
    ("vlen-utf8", ValueType::VariableText),
    ("vlen-bytes", ValueType::VariableBytes),
];

/// Reads the type of an array.
///
/// # Errors
///
/// Where Zarr v3 has no such type.
pub(super) fn value_type(array: &Array<'_>) -> Result<ValueType, Fault> {
    let pointer = &array.dtype.pointer;
    match &array.dtype.value {
        DataType::Structured(fields) => record(fields, pointer),
        DataType::Simple(dtype) if dtype.kind == DtypeKind::Object => objects(array),
        DataType::Simple(dtype) => simple(dtype.clone(), pointer),
    }
}

fn simple(dtype: Dtype, pointer: &Pointer) -> Result<ValueType, Fault> {
    let reason = match dtype.kind {
        DtypeKind::Object => "objects, which only a whole array can have",
        DtypeKind::Float | DtypeKind::Complex if dtype.v3_name().is_none() => {
            "numbers of more than 64 bits, which Zarr v3 does not have"
        }
        DtypeKind::Bytes | DtypeKind::Unicode | DtypeKind::Void if dtype.size == 0 => {
            "values of no bytes, which Zarr v3 does not have"
        }
        DtypeKind::DateTime | DtypeKind::TimeDelta if time_unit(&dtype).is_none() => {
            "a count of units that NumPy does not take"
        }
        _ => return Ok(ValueType::Simple(dtype)),
    };
    Err(Fault::unsupported(
        pointer,
        format!("the dtype {dtype}: {reason}"),
    ))
}

/// What the objects of an array are is said by the filter that makes bytes of them.
fn objects(array: &Array<'_>) -> Result<ValueType, Fault> {
    let mut ids = array
        .filters
        .iter()
        .chain(&array.compressor)
        .map(|codec| codec.id.value);
    let known = ids.find_map(|id| VARIABLE.into_iter().find(|(name, _)| *name == id));
    let (_, value_type) = known.ok_or_else(|| {
        let found = "the dtype |O: Python objects; Zarr v3 has them only as text behind the filter vlen-utf8 and as bytes behind vlen-bytes";
        Fault::unsupported(&array.dtype.pointer, found)
            .hint("write the array anew with a type that Zarr v3 has")
    })?;
    Ok(value_type)
}

fn record(fields: &Value, pointer: &Pointer) -> Result<ValueType, Fault> {
    let elements = fields.as_array().unwrap_or_default();
    if elements.is_empty() {
        return Err(Fault::unsound(pointer, "no fields", "at least one"));
    }
    let mut read: Vec<Field> = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        let pointer = pointer.index(index);
        let field = field(element, &pointer)?;
        if read.iter().any(|earlier| earlier.name == field.name) {
            let found = format!("the field {:?} a second time", field.name);
            return Err(Fault::unsound(pointer, found, "each name once"));
        }
        read.push(field);
    }
    let record = ValueType::Record(read);
    if record.has(Endian::Little) && record.has(Endian::Big) {
        let found = "fields of both byte orders; Zarr v3 has one order for all";
        return Err(Fault::unsupported(pointer, found));
    }
    Ok(record)
}

fn field(element: &Value, pointer: &Pointer) -> Result<Field, Fault> {
    const EXPECTED: &str = "a field: its name and its type";
    let (name, dtype) = match element.as_array() {
        Some([name, dtype]) => (name, dtype),
        Some([_, _, _]) => {
            let found = "a field that is an array of its own, which Zarr v3 does not have";
            return Err(Fault::unsupported(pointer, found));
        }
        _ => return Err(Fault::unsound(pointer, element.type_name(), EXPECTED)),
    };
    let Some(name) = name.as_str().filter(|name| !name.is_empty()) else {
        let found = "a field without a name of its own";
        return Err(Fault::unsupported(pointer.index(0), found));
    };
    let pointer = pointer.index(1);
    let value_type = if dtype.as_array().is_some() {
        record(dtype, &pointer)?
    } else {
        let dtype = dtype.as_str().and_then(Dtype::parse).ok_or_else(|| {
            let found = crate::metadata::describe(dtype);
            Fault::unsound(&pointer, found, "a data type such as \"<f4\"")
        })?;
        simple(dtype, &pointer)?
    };
    Ok(Field {
        name: name.to_owned(),
        value_type,
    })
}

/// The unit of a time and how many of it one step is; `None` where NumPy has no such thing.
fn time_unit(dtype: &Dtype) -> Option<(&str, u32)> {
    let unit = dtype.unit.as_deref().unwrap_or("generic");
    let name = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &unit[..unit.len() - name.len()];
    let count = match digits {
        "" => 1,
        digits => digits
            .parse()
            .ok()
            .filter(|count| (1..=i32::MAX as u32).contains(count))?,
    };
    let name = if name == "μs" { "us" } else { name };
    Some((name, count))
}

impl ValueType {
    /// The `data_type` of a v3 document.
    pub(super) fn draft(&self) -> Draft {
        let dtype = match self {
            Self::VariableText => return Draft::string("string"),
            Self::VariableBytes => return Draft::string("variable_length_bytes"),
            Self::Record(fields) => {
                let fields = fields.iter().map(|field| {
                    Draft::object([
                        ("name", Draft::string(&field.name)),
                        ("data_type", field.value_type.draft()),
                    ])
                });
                return named("struct", [("fields", Draft::Array(fields.collect()))]);
            }
            Self::Simple(dtype) => dtype,
        };
        if let Some(name) = dtype.v3_name() {
            return Draft::string(name);
        }
        let length = Draft::from(self.size().unwrap_or_default());
        let time = |name| {
            let (unit, count) = time_unit(dtype).unwrap_or(("generic", 1));
            named(
                name,
                [
                    ("unit", Draft::string(unit)),
                    ("scale_factor", Draft::from(u64::from(count))),
                ],
            )
        };
        match dtype.kind {
            DtypeKind::DateTime => time("numpy.datetime64"),
            DtypeKind::TimeDelta => time("numpy.timedelta64"),
            DtypeKind::Bytes => named("null_terminated_bytes", [("length_bytes", length)]),
            DtypeKind::Unicode => named("fixed_length_utf32", [("length_bytes", length)]),
            _ => named("raw_bytes", [("length_bytes", length)]),
        }
    }

    /// The bytes of a value, where all have the same number.
    pub(super) fn size(&self) -> Option<u64> {
        match self {
            Self::Simple(dtype) if dtype.kind == DtypeKind::Unicode => {
                Some(u64::from(dtype.size) * 4)
            }
            Self::Simple(dtype) => Some(u64::from(dtype.size)),
            Self::Record(fields) => fields
                .iter()
                .try_fold(0, |sum, field| Some(sum + field.value_type.size()?)),
            Self::VariableText | Self::VariableBytes => None,
        }
    }

    /// The order of bytes, for values that have one.
    pub(super) fn endian(&self) -> Option<Endian> {
        match self {
            Self::Simple(dtype) => match dtype.kind {
                DtypeKind::Bool | DtypeKind::Bytes | DtypeKind::Void => None,
                DtypeKind::Int | DtypeKind::UInt if dtype.size == 1 => None,
                _ if dtype.byte_order == ByteOrder::Big => Some(Endian::Big),
                _ => Some(Endian::Little),
            },
            Self::Record(fields) => fields.iter().find_map(|field| field.value_type.endian()),
            Self::VariableText | Self::VariableBytes => None,
        }
    }

    fn has(&self, endian: Endian) -> bool {
        match self {
            Self::Record(fields) => fields.iter().any(|field| field.value_type.has(endian)),
            _ => self.endian() == Some(endian),
        }
    }
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Simple(dtype) => dtype.fmt(f),
            Self::Record(_) => f.write_str("a record"),
            Self::VariableText => f.write_str("text"),
            Self::VariableBytes => f.write_str("bytes"),
        }
    }
}

/// An entry of a v3 document: a name and its configuration.
pub(super) fn named<const N: usize>(name: &str, configuration: [(&str, Draft); N]) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", Draft::object(configuration)),
    ])
}
