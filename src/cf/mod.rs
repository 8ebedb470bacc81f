//! What the CF conventions say about the numbers of an array: packing and missing values in its attributes.
//!
//! [`decoding`] reads the attributes and gives the arithmetic to apply, what to do with the attributes once it has been
//! applied, or every reason why not. It knows of no store and applies nothing.

pub mod base64;
mod spelling;

use crate::metadata::edit::Draft;
use crate::metadata::json::Value;
use crate::transform::cf::Unpacking;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// The attributes that say how numbers are packed, and which of them are none.
pub const PACKING: [&str; 5] = [
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
];

/// The attributes that are limits, in the units of what is stored.
pub const LIMITS: [&str; 3] = ["valid_min", "valid_max", "valid_range"];

/// The attribute that xarray puts on every array of Zarr v2.
const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// What is known of an array besides its attributes.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The attributes, which are an object if they are there.
    pub attributes: Option<&'a Value>,
    /// The type as the document names it.
    pub type_name: &'a str,
    /// The type, if it is one of the real numbers.
    pub data_type: Option<DataType>,
    /// What missing chunks are, if that is stated.
    pub fill: Option<Scalar>,
    /// Whether the array is one of Zarr v2.
    pub is_v2: bool,
    /// The packing codecs of its chain.
    pub codecs: &'a [&'a str],
}

/// How to decode an array.
#[derive(Clone, Debug)]
pub struct CfDecoding {
    /// The arithmetic.
    pub unpacking: Unpacking,
    /// What numbers are multiplied by.
    pub scale_factor: Option<f64>,
    /// What is added then.
    pub add_offset: Option<f64>,
    /// What `_Unsigned` says, where that makes a difference.
    pub unsigned: Option<bool>,
    /// The numbers that become NaN, and the attribute or member that says so.
    pub missing: Vec<(&'static str, Scalar)>,
    /// What missing chunks are afterwards.
    pub fill: Scalar,
    /// The attributes that go.
    pub removed: Vec<&'static str>,
    /// The attributes that change.
    pub converted: Vec<Converted>,
    /// What is worth a second look.
    pub warnings: Vec<String>,
}

/// An attribute that is in other units afterwards.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// Its name before.
    pub from: &'static str,
    /// Its name afterwards: a negative factor makes a minimum a maximum.
    pub name: &'static str,
    /// What it becomes: one number, or two.
    pub values: Vec<Scalar>,
    /// Whether it is a list.
    pub list: bool,
}

/// Why an array cannot be decoded by its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfProblem {
    /// The attribute at fault; `None` where it is the fill value.
    pub attribute: Option<&'static str>,
    /// What was found, what was expected.
    pub message: String,
}

impl Converted {
    /// The value as a document has it.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let mut drafts = self.values.iter().map(|value| draft(*value));
        if self.list {
            return Draft::Array(drafts.collect());
        }
        drafts.next().unwrap_or(Draft::Null)
    }
}

/// A scalar as a document has it.
#[must_use]
pub fn draft(scalar: Scalar) -> Draft {
    let json = scalar.to_json();
    match json.strip_prefix('"') {
        Some(word) => Draft::string(word.trim_end_matches('"')),
        None => Draft::Number(json),
    }
}

/// How the attributes of an array say that it is to be decoded; `None` where they say nothing.
///
/// Values are float64 where there is a factor or an offset, or where integers may be missing; floats that may be missing keep
/// their type. `wanted` overrides both.
///
/// # Errors
///
/// Every reason why it cannot be.
pub fn decoding(
    subject: Subject<'_>,
    wanted: Option<DataType>,
) -> Result<Option<CfDecoding>, Vec<CfProblem>> {
    let mut reader = Reader {
        subject,
        warnings: Vec::new(),
        problems: Vec::new(),
    };
    let decoding = reader.decoding(wanted);
    if reader.problems.is_empty() {
        Ok(decoding.map(|decoding| CfDecoding {
            warnings: reader.warnings,
            ..decoding
        }))
    } else {
        Err(reader.problems)
    }
}

/// The codes that the attributes of an array, or the fill of one that xarray wrote in Zarr v2, call missing, each with what says so;
/// where `_Unsigned` makes a difference, as codes of the type that it makes.
///
/// # Errors
///
/// Every reason why they cannot be told.
pub fn missing_codes(subject: Subject<'_>) -> Result<Vec<(&'static str, Scalar)>, Vec<CfProblem>> {
    let mut reader = Reader {
        subject,
        warnings: Vec::new(),
        problems: Vec::new(),
    };
    reader.refuse_duplicates();
    let missing = subject.data_type.map_or(Vec::new(), |declared| {
        let unsigned = reader.unsigned(declared);
        let stored = unsigned
            .and_then(|_| spelling::twin(declared))
            .unwrap_or(declared);
        reader.missing(declared, stored, false)
    });
    if reader.problems.is_empty() {
        Ok(missing)
    } else {
        Err(reader.problems)
    }
}

/// Limits in packed units as codes: of the declared type, or of the one that `_Unsigned` makes of it. `None` where they are no codes.
#[must_use]
pub fn limit_codes(value: &Value, declared: DataType) -> Option<Vec<Scalar>> {
    spelling::limits(value, declared)
}

struct Reader<'a> {
    subject: Subject<'a>,
    warnings: Vec<String>,
    problems: Vec<CfProblem>,
}

impl Reader<'_> {
    fn decoding(&mut self, wanted: Option<DataType>) -> Option<CfDecoding> {
        let present: Vec<_> = PACKING
            .into_iter()
            .filter(|name| self.attribute(name).is_some())
            .collect();
        self.refuse_duplicates();
        let Some(declared) = self.subject.data_type else {
            let packs = ["scale_factor", "add_offset"];
            for name in packs.into_iter().filter(|name| present.contains(name)) {
                let type_name = self.subject.type_name;
                self.problem(name, format!("values of type {type_name} cannot be scaled"));
            }
            return None;
        };
        let scale_factor = self.number("scale_factor");
        if scale_factor == Some(0.0) {
            self.problem("scale_factor", "expected a number other than 0".to_owned());
        }
        let add_offset = self.number("add_offset");
        let unsigned = self.unsigned(declared);
        self.refuse_double_packing(declared, unsigned.is_some());
        let stored = unsigned
            .and_then(|_| spelling::twin(declared))
            .unwrap_or(declared);
        let missing = self.missing(declared, stored, present.is_empty());
        if present.is_empty() && missing.is_empty() || !self.problems.is_empty() {
            return None;
        }
        let computes = scale_factor.is_some() || add_offset.is_some();
        let masks = missing.iter().any(|(_, value)| !value.is_nan());
        let target = match wanted {
            Some(wanted) if computes || masks => wanted,
            _ if computes || masks && !stored.has_nan() => DataType::Float64,
            _ => stored,
        };
        let numbers: Vec<_> = missing.iter().map(|(_, value)| *value).collect();
        let Some(unpacking) = Unpacking::new(stored, target, scale_factor, add_offset, &numbers)
        else {
            let message = format!("{stored} cannot become {target}");
            self.problems.push(CfProblem {
                attribute: None,
                message,
            });
            return None;
        };
        let fill = self.fill(declared, &unpacking)?;
        let converted = self.limits(declared, &unpacking, scale_factor);
        Some(CfDecoding {
            unpacking,
            scale_factor,
            add_offset,
            unsigned,
            missing,
            fill,
            removed: present,
            converted,
            warnings: Vec::new(),
        })
    }

    fn attribute(&self, name: &str) -> Option<&Value> {
        self.subject.attributes?.get(name)
    }

    fn problem(&mut self, attribute: &'static str, message: String) {
        self.problems.push(CfProblem {
            attribute: Some(attribute),
            message,
        });
    }

    /// Takes what was read, and notes what is to be said about it.
    fn note<T>(&mut self, name: &'static str, read: spelling::Read<T>) -> Option<T> {
        match read {
            Ok((value, odd)) => {
                self.warnings
                    .extend(odd.map(|odd| format!("{name}: {odd}")));
                Some(value)
            }
            Err(message) => {
                self.problem(name, message);
                None
            }
        }
    }

    /// Of an attribute that stands twice, each reader takes another.
    fn refuse_duplicates(&mut self) {
        let members = self.subject.attributes.and_then(Value::as_object);
        let members = members.unwrap_or_default();
        for name in PACKING.into_iter().chain(LIMITS) {
            if members.iter().filter(|member| member.name == name).count() > 1 {
                self.problem(name, "expected it once, found it twice".to_owned());
            }
        }
    }

    fn number(&mut self, name: &'static str) -> Option<f64> {
        let read = spelling::factor(self.attribute(name)?);
        self.note(name, read)
    }

    /// What `_Unsigned` says, where the type says otherwise.
    fn unsigned(&mut self, declared: DataType) -> Option<bool> {
        const NAME: &str = "_Unsigned";
        let read = spelling::flag(self.attribute(NAME)?);
        let unsigned = self.note(NAME, read)?;
        if spelling::twin(declared).is_none() {
            self.warnings.push(format!(
                "{NAME} means nothing for {declared}, and is ignored"
            ));
            return None;
        }
        let is_unsigned = declared.integer_range().is_some_and(|(low, _)| low == 0);
        (is_unsigned != unsigned).then_some(unsigned)
    }

    /// Refuses attributes that would scale a second time what a codec scales.
    fn refuse_double_packing(&mut self, declared: DataType, reinterprets: bool) {
        let codecs = self.subject.codecs;
        let only_cast = codecs.iter().all(|name| *name == "cast_value");
        if codecs.is_empty() || declared.is_integer() && only_cast {
            return;
        }
        let names = codecs.join(", ");
        for name in ["scale_factor", "add_offset", "_Unsigned"] {
            if self.attribute(name).is_some() && (name != "_Unsigned" || reinterprets) {
                let message =
                    format!("it would be applied on top of what the codecs do already ({names})");
                self.problem(name, message);
            }
        }
    }

    /// The numbers that mean that there is no value, each with what says so.
    fn missing(
        &mut self,
        declared: DataType,
        stored: DataType,
        bare: bool,
    ) -> Vec<(&'static str, Scalar)> {
        let mut missing = Vec::new();
        for name in ["_FillValue", "missing_value"] {
            let Some(value) = self.attribute(name) else {
                continue;
            };
            let list = value.as_array().map_or(1, <[Value]>::len);
            let read = spelling::missing(value, declared);
            if name == "_FillValue" && list != 1 {
                self.warnings
                    .push(format!("{name}: expected one value, and took all {list}"));
            }
            for number in self.note(name, read).unwrap_or_default() {
                match number.and_then(|number| reinterpreted(number, declared, stored)) {
                    Some(number) => missing.push((name, number)),
                    None if number.is_some() => {
                        let message = format!("expected a value of {stored}");
                        self.problem(name, message);
                    }
                    None => self.warnings.push(format!(
                        "{name}: nothing that is stored as {stored} can be that"
                    )),
                }
            }
        }
        if let Some(fill) = self.fill_as_missing(declared, stored) {
            let stated: Vec<_> = missing.iter().map(|(_, value)| *value).collect();
            if self.attribute("_FillValue").is_none() {
                if !stated.iter().any(|value| value.equals(fill)) {
                    missing.push(("fill_value", fill));
                }
                if bare && !fill.is_nan() {
                    self.warnings.push(format!(
                        "fill_value {fill} means missing, as xarray reads Zarr v2"
                    ));
                }
            } else if !stated.iter().any(|value| value.equals(fill)) {
                self.warnings.push(format!(
                    "_FillValue counts; xarray takes the fill_value {fill} for missing instead"
                ));
            }
        }
        // A NaN is missing as it is.
        if bare && missing.iter().all(|(_, value)| value.is_nan()) {
            missing.clear();
        }
        missing
    }

    /// The fill of Zarr v2 where xarray wrote the array, or would read it: there it is what `_FillValue` is elsewhere.
    fn fill_as_missing(&self, declared: DataType, stored: DataType) -> Option<Scalar> {
        let xarray = self.subject.is_v2 && self.attribute(ARRAY_DIMENSIONS).is_some();
        let fill = self.subject.fill.filter(|_| xarray)?;
        reinterpreted(fill, declared, stored)
    }

    /// What missing chunks are afterwards.
    fn fill(&mut self, declared: DataType, unpacking: &Unpacking) -> Option<Scalar> {
        let fill = match self.subject.fill {
            Some(fill) => reinterpreted(fill, declared, unpacking.stored())?,
            // Read as zeros, like everything that was never stated.
            None => Scalar::from_bits(unpacking.stored(), 0),
        };
        match unpacking.value(fill) {
            Ok(value) => {
                if self.subject.fill.is_none() {
                    self.warnings.push(format!(
                        "there is no fill_value: what was never written reads as 0, and so as {value}"
                    ));
                }
                Some(value)
            }
            Err(fault) => {
                self.problems.push(CfProblem {
                    attribute: None,
                    message: fault.to_string(),
                });
                None
            }
        }
    }

    /// The limits in the units of the values.
    fn limits(
        &mut self,
        declared: DataType,
        unpacking: &Unpacking,
        scale_factor: Option<f64>,
    ) -> Vec<Converted> {
        let turned = scale_factor.is_some_and(|factor| factor < 0.0);
        if !unpacking.computes() && unpacking.stored() == declared {
            return Vec::new();
        }
        let of_limits = unpacking.of_limits();
        let mut converted = Vec::new();
        for name in LIMITS {
            let Some(value) = self.attribute(name) else {
                continue;
            };
            let values = spelling::limits(value, declared).and_then(|limits| {
                let values = limits.into_iter().map(|limit| {
                    let limit = reinterpreted(limit, declared, unpacking.stored())?;
                    of_limits.value(limit).ok()
                });
                let mut values: Vec<_> = values.collect::<Option<_>>()?;
                if turned {
                    values.reverse();
                }
                Some(values)
            });
            let due = if name == "valid_range" { 2 } else { 1 };
            match values {
                Some(values) if values.len() == due => converted.push(Converted {
                    from: name,
                    name: match (name, turned) {
                        ("valid_min", true) => "valid_max",
                        ("valid_max", true) => "valid_min",
                        _ => name,
                    },
                    values,
                    list: due == 2,
                }),
                _ => self.warnings.push(format!(
                    "{name} is not in packed units ({declared}), and stays as it is"
                )),
            }
        }
        converted
    }
}

/// A number as one of the type that `_Unsigned` makes of the declared one: the same bits, or the same number if it is one
/// already.
fn reinterpreted(number: Scalar, declared: DataType, stored: DataType) -> Option<Scalar> {
    if number.data_type() == stored {
        Some(number)
    } else if number.data_type() == declared {
        Some(Scalar::from_bits(stored, number.bits()))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
