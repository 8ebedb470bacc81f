//! What can take the place of a legacy codec: the plain conversion and the exact one, with their numbers.

use crate::metadata::edit::Draft;
use crate::transform::cast_value::cast;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::DataType;
use crate::transform::legacy::Parameter;
use crate::transform::literal::Literal;
use crate::transform::parameters::{
    CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
};
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

use super::document::Run;
use super::outcome::{Form, Reason};

/// A run of codecs in which the legacy ones have given way to others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rewritten {
    /// The codecs.
    pub(super) codecs: Vec<Codec>,
    /// For each, the index of the codec that it was or that it stands for, and whether it was made here.
    pub(super) origins: Vec<Origin>,
}

/// Where a codec of a rewritten run comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The index in the old run.
    pub(super) index: usize,
    /// Whether it stands for a legacy codec, or is the old codec itself.
    pub(super) made: bool,
}

/// Rewrites a run in one of the forms.
///
/// # Errors
///
/// Every reason for which that form cannot be written.
pub(super) fn rewrite(run: &Run<'_>, form: Form) -> Result<Rewritten, Vec<Reason>> {
    let bound = run.chain().map_or(&[][..], |chain| chain.codecs());
    let (mut codecs, mut origins, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for (index, (codec, bound)) in run.codecs.iter().zip(bound).enumerate() {
        let Codec::FixedScaleOffset(parameters) = codec else {
            codecs.push(codec.clone());
            origins.push(Origin { index, made: false });
            continue;
        };
        let legacy = Legacy {
            parameters,
            decoded: bound.incoming(),
            stored: bound.outgoing(),
            pointer: run.pointer(index).unwrap_or_default(),
        };
        match legacy.convert(form) {
            Ok(made) => {
                origins.extend(made.iter().map(|_| Origin { index, made: true }));
                codecs.extend(made);
            }
            Err(mut more) => reasons.append(&mut more),
        }
    }
    if reasons.is_empty() {
        Ok(Rewritten { codecs, origins })
    } else {
        Err(reasons)
    }
}

/// One legacy codec at its place.
struct Legacy<'c> {
    parameters: &'c FixedScaleOffsetParameters,
    decoded: DataType,
    stored: DataType,
    pointer: String,
}

impl Legacy<'_> {
    fn convert(&self, form: Form) -> Result<Vec<Codec>, Vec<Reason>> {
        let (decoded, stored) = (self.decoded, self.stored);
        let arithmetic = match form {
            Form::Plain => decoded,
            Form::Exact => arithmetic(stored),
        };
        let mut codecs = Vec::new();
        if arithmetic != decoded {
            codecs.push(Codec::CastValue(CastValueParameters {
                rounding: if decoded.is_integer() {
                    Rounding::TowardsZero
                } else {
                    Rounding::NearestEven
                },
                out_of_range: decoded.is_float().then_some(OutOfRange::Clamp),
                ..CastValueParameters::to(arithmetic)
            }));
        }
        codecs.push(Codec::ScaleOffset(self.scale_offset(arithmetic, form)?));
        if arithmetic != stored {
            codecs.push(Codec::CastValue(CastValueParameters {
                out_of_range: stored.is_integer().then_some(OutOfRange::Wrap),
                ..CastValueParameters::to(stored)
            }));
        }
        Ok(codecs)
    }

    fn scale_offset(
        &self,
        arithmetic: DataType,
        form: Form,
    ) -> Result<ScaleOffsetParameters, Vec<Reason>> {
        let FixedScaleOffsetParameters { scale, offset, .. } = self.parameters;
        let mut reasons = Vec::new();
        let mut take = |member: &str, literal: &Literal| {
            let number = number(literal, arithmetic, member == "scale");
            number.map_err(|problem| {
                let pointer = format!("{}{}/{member}", self.pointer, self.parameters.base);
                reasons.push(self.reason(pointer, member, literal, arithmetic, form, &problem));
            })
        };
        let (offset, scale) = (take("offset", offset), take("scale", scale));
        match (offset, scale) {
            (Ok(offset), Ok(scale)) => Ok(ScaleOffsetParameters {
                offset: Some(offset),
                scale: Some(scale),
            }),
            _ => Err(reasons),
        }
    }

    fn reason(
        &self,
        pointer: String,
        member: &str,
        literal: &Literal,
        arithmetic: DataType,
        form: Form,
        problem: &str,
    ) -> Reason {
        let article = if member == "scale" { "a" } else { "an" };
        let message = format!(
            "expected {}, since scale_offset takes its numbers in the type of the values there, {arithmetic}; found {article} \
             {member} of {literal}, {problem}",
            forms(arithmetic)
        );
        let reason = Reason::new(pointer, message);
        match form {
            Form::Exact => reason,
            Form::Plain if self.convert(Form::Exact).is_err() => reason,
            Form::Plain => reason.hint(self.exact_hint()),
        }
    }

    /// What --exact would write, and who cannot read it.
    fn exact_hint(&self) -> String {
        let chain = self.convert(Form::Exact).unwrap_or_default();
        let chain = Draft::Array(chain.iter().map(draft).collect());
        let readers = if self.decoded.is_integer() {
            "; zarr-python 3.4 checks these numbers against the type of the array, and will not open it"
        } else {
            ""
        };
        format!(
            "--exact writes {}, which computes in {} as the legacy codec does{readers}",
            one_line(&chain),
            arithmetic(self.stored)
        )
    }
}

/// The type that the legacy codec decodes in.
pub(super) const fn arithmetic(stored: DataType) -> DataType {
    if stored.is_float() {
        stored
    } else {
        DataType::Float64
    }
}

/// What a number of `scale_offset` must be, in words.
fn forms(data_type: DataType) -> String {
    if data_type.is_integer() {
        data_type.literal_forms()
    } else {
        format!("a finite {data_type}")
    }
}

/// The number of a legacy codec as `scale_offset` takes it in a type: the same token wherever that says what numcodecs makes
/// of it there, which reads a double first.
///
/// # Errors
///
/// In words, what is wrong with it.
fn number(literal: &Literal, data_type: DataType, is_scale: bool) -> Result<Literal, String> {
    let parameter = Parameter::parse(literal).map_err(|error| error.to_string())?;
    if data_type.is_integer() {
        let whole = match parameter {
            Parameter::Integer { exact, .. } => exact,
            Parameter::Float(double) if double.fract() != 0.0 => {
                return Err("which is no whole number".to_owned());
            }
            // Beyond the range of i128 the cast saturates, far from any type's range.
            #[expect(clippy::cast_possible_truncation)]
            Parameter::Float(double) => Some(double as i128),
        };
        return whole
            .filter(|whole| Scalar::from_integer(data_type, *whole).is_some())
            .map(|whole| match Scalar::parse(literal, data_type) {
                Ok(_) => literal.clone(),
                Err(_) => Literal::Number(whole.to_string()),
            })
            .ok_or_else(|| "which is out of its range".to_owned());
    }
    let double = Scalar::from_bits(DataType::Float64, parameter.double().to_bits());
    let clamp = Some(OutOfRange::Clamp);
    let narrowed = cast(double, data_type, Rounding::NearestEven, clamp)
        .ok()
        .filter(|narrowed| narrowed.is_finite())
        .ok_or_else(|| "which overflows it".to_owned())?;
    if is_scale && narrowed.is_zero() {
        return Err("which is 0 there".to_owned());
    }
    Ok(match Scalar::parse(literal, data_type) {
        Ok(parsed) if parsed == narrowed => literal.clone(),
        _ => literal_of(narrowed),
    })
}

/// A scalar as a map has it.
pub(super) fn literal_of(scalar: Scalar) -> Literal {
    let text = scalar.to_map_json();
    match text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(string) => Literal::String(string.to_owned()),
        None => Literal::Number(text),
    }
}

/// A literal as it stands in a document.
pub(super) fn draft_of(literal: &Literal) -> Draft {
    match literal {
        Literal::Number(token) => Draft::Number(token.clone()),
        Literal::String(text) | Literal::Other(text) => Draft::string(text),
    }
}

/// A codec that was made here as it stands in a document. Members that say what their absence means are left out.
pub(super) fn draft(codec: &Codec) -> Draft {
    let (name, configuration) = match codec {
        Codec::ScaleOffset(ScaleOffsetParameters { offset, scale }) => {
            let members = [("offset", offset), ("scale", scale)];
            let stated = members
                .into_iter()
                .filter_map(|(name, literal)| Some((name, draft_of(literal.as_ref()?))));
            ("scale_offset", stated.collect())
        }
        Codec::CastValue(parameters) => ("cast_value", cast_members(parameters)),
        // Neither is ever made.
        Codec::FixedScaleOffset(_) | Codec::Unreadable => ("", Vec::new()),
    };
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", Draft::object(configuration)),
    ])
}

fn cast_members(parameters: &CastValueParameters) -> Vec<(&'static str, Draft)> {
    let mut members = vec![("data_type", Draft::string(parameters.data_type.name()))];
    if parameters.rounding != Rounding::default() {
        members.push(("rounding", Draft::string(parameters.rounding.name())));
    }
    if let Some(out_of_range) = parameters.out_of_range {
        members.push(("out_of_range", Draft::string(out_of_range.name())));
    }
    let pairs = |pairs: &[(Literal, Literal)]| {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(from, to)| Draft::Array(vec![draft_of(from), draft_of(to)]));
        Draft::Array(pairs.collect())
    };
    let maps = [
        ("encode", &parameters.encode),
        ("decode", &parameters.decode),
    ];
    let stated = maps.into_iter().filter(|(_, map)| !map.is_empty());
    let stated: Vec<_> = stated.map(|(name, map)| (name, pairs(map))).collect();
    if !stated.is_empty() {
        members.push(("scalar_map", Draft::object(stated)));
    }
    members
}

/// JSON on one line, for a message.
pub(super) fn one_line(draft: &Draft) -> String {
    let mut text = String::new();
    write_line(draft, &mut text);
    text
}

fn write_line(draft: &Draft, text: &mut String) {
    match draft {
        Draft::Null => text.push_str("null"),
        Draft::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Draft::Number(token) => text.push_str(token),
        Draft::String(string) => text.push_str(&format!("{string:?}")),
        Draft::Array(elements) => {
            text.push('[');
            for (n, element) in elements.iter().enumerate() {
                text.push_str(if n == 0 { "" } else { ", " });
                write_line(element, text);
            }
            text.push(']');
        }
        Draft::Object(members) => {
            text.push('{');
            for (n, (name, value)) in members.iter().enumerate() {
                text.push_str(if n == 0 { "" } else { ", " });
                text.push_str(&format!("{name:?}: "));
                write_line(value, text);
            }
            text.push('}');
        }
    }
}

impl Rewritten {
    /// The index of the last cast that was made.
    pub(super) fn last_cast(&self) -> Option<usize> {
        let codecs = self.codecs.iter().zip(&self.origins);
        codecs
            .enumerate()
            .filter(|(_, (codec, origin))| origin.made && matches!(codec, Codec::CastValue(_)))
            .map(|(index, _)| index)
            .next_back()
    }

    /// The run with one more two-way map, on the cast at an index.
    pub(super) fn with_map(&self, cast: usize, key: Scalar, value: Scalar) -> Self {
        let mut mapped = self.clone();
        if let Some(Codec::CastValue(parameters)) = mapped.codecs.get_mut(cast) {
            let (key, value) = (literal_of(key), literal_of(value));
            parameters.encode.push((key.clone(), value.clone()));
            parameters.decode.push((value, key));
        }
        mapped
    }
}

/// Whether a bound codec maps single values.
pub(super) fn has_map(codec: &BoundCodec) -> bool {
    match codec {
        BoundCodec::CastValue(cast) => {
            !cast.encode_map.entries().is_empty() || !cast.decode_map.entries().is_empty()
        }
        _ => false,
    }
}
