//! Zarr v2 documents as Zarr v3 documents in memory.
//!
//! zarrs gives the bytes of a v2 chunk the byte order of the array's `dtype`. They have that of the last filter's output, which
//! is another where a filter changes the type, and the values come out wrong without an error. So v2 arrays are opened through
//! a v3 document, which says it all: the order of elements is a `transpose`, filters on arrays come before `bytes`, filters on
//! bytes and the compressor after it.

use std::fmt::Write;

use super::error::{OpenError, OpenProblem};
use super::json_text;
use super::{arrays, bytes};
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::metadata::v2::{Array, ByteOrder, Codec, DataType, Dtype, DtypeKind, FillValue, Order};
use crate::metadata::v3::{self, Separator};
use crate::metadata::{Located, Node, Problems};

/// A v2 document rewritten.
#[derive(Debug)]
pub(super) struct Converted {
    /// The v3 document.
    text: String,
    /// Whether the v2 document states a fill.
    pub(super) fill_is_defined: bool,
    /// Codecs that are not read here, and why not.
    pub(super) unsupported: Vec<OpenProblem>,
    /// Where each codec of the v3 document comes from.
    origins: Vec<String>,
}

/// Rewrites a document.
///
/// # Errors
///
/// What there is no v3 form of.
pub(super) fn convert(array: &Array<'_>) -> Result<Converted, OpenError> {
    let dtype = simple_type(&array.dtype)?;
    let name = dtype
        .v3_name()
        .ok_or_else(|| unsupported_type(dtype, &array.dtype))?;
    let mut codecs = Codecs {
        text: String::new(),
        origins: Vec::new(),
        unsupported: Vec::new(),
        current: dtype.clone(),
    };
    let rank = array.shape.value.len();
    if array.order.value == Order::F && rank > 1 {
        let order: Vec<_> = (0..rank).rev().collect();
        codecs.push(
            &array.order.pointer,
            format_args!(r#"{{"name":"transpose","configuration":{{"order":{order:?}}}}}"#),
        );
    }
    codecs.filters(array)?;
    let separator = array
        .dimension_separator
        .as_ref()
        .map_or(Separator::Dot, |separator| separator.value);
    let fill = fill_text(&array.fill_value, dtype)?;
    let text = format!(
        concat!(
            r#"{{"zarr_format":3,"node_type":"array","shape":{shape:?},"data_type":"{name}","#,
            r#""chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks:?}}}}},"#,
            r#""chunk_key_encoding":{{"name":"v2","configuration":{{"separator":"{separator}"}}}},"#,
            r#""fill_value":{fill},"codecs":[{codecs}]}}"#,
        ),
        shape = array.shape.value,
        name = name,
        chunks = array.chunks.value,
        separator = separator.as_str(),
        fill = fill,
        codecs = codecs.text,
    );
    Ok(Converted {
        text,
        fill_is_defined: array.fill_value.value != FillValue::Undefined,
        unsupported: codecs.unsupported,
        origins: codecs.origins,
    })
}

/// The v3 document, where every codec is known.
///
/// # Errors
///
/// What there is no v3 form of.
pub(super) fn document(array: &Array<'_>) -> Result<String, OpenError> {
    let converted = convert(array)?;
    if converted.unsupported.is_empty() {
        return Ok(converted.text);
    }
    let problems = converted.unsupported;
    Err(OpenError { problems })
}

impl Converted {
    /// Reads the v3 document.
    ///
    /// # Errors
    ///
    /// Its problems, which come from the v2 document.
    pub(super) fn read<T>(&self, use_it: impl FnOnce(&v3::Array<'_>) -> T) -> Result<T, OpenError> {
        let parsed = parse(self.text.as_bytes(), &Limits::default(), NonFinite::Refuse)
            .map_err(|error| OpenProblem::unsound("", error))?;
        let mut problems = Problems::default();
        let document = v3::read(&Node::root(&parsed.root), &mut problems);
        let array = match document {
            v3::Document::Array(array) if problems.is_sound() => array.complete(),
            _ => None,
        };
        match array {
            Some(array) => Ok(use_it(&array)),
            None => {
                let listed = problems.listed.iter();
                let problems = listed
                    .map(|problem| OpenProblem::unsound(&problem.pointer, problem))
                    .collect();
                Err(self.locate(OpenError { problems }))
            }
        }
    }

    /// Makes the pointers of an error lead into the v2 document.
    pub(super) fn locate(&self, mut error: OpenError) -> OpenError {
        for problem in &mut error.problems {
            problem.pointer = self.origin(&problem.pointer);
        }
        error
    }

    /// The place in the v2 document that a pointer into the v3 document comes from.
    pub(super) fn origin(&self, pointer: &str) -> String {
        let mut steps = pointer.splitn(4, '/').skip(1);
        match (steps.next(), steps.next(), steps.next()) {
            (Some("codecs"), Some(index), rest) => {
                let origin = index
                    .parse()
                    .ok()
                    .and_then(|index: usize| self.origins.get(index));
                let rest = rest
                    .and_then(|rest| rest.strip_prefix("configuration"))
                    .unwrap_or_default();
                format!("{}{rest}", origin.map_or("", String::as_str))
            }
            (Some("data_type"), ..) => "/dtype".to_owned(),
            (Some("chunk_grid"), ..) => "/chunks".to_owned(),
            (Some("chunk_key_encoding"), ..) => "/dimension_separator".to_owned(),
            _ => pointer.to_owned(),
        }
    }
}

/// The codecs of the v3 document, as they come together.
struct Codecs {
    text: String,
    origins: Vec<String>,
    unsupported: Vec<OpenProblem>,
    /// The type of what the codecs so far hand on, with its byte order.
    current: Dtype,
}

impl Codecs {
    fn push(&mut self, origin: &dyn std::fmt::Display, codec: impl std::fmt::Display) {
        if !self.text.is_empty() {
            self.text.push(',');
        }
        // A String never refuses to grow.
        let _ = write!(self.text, "{codec}");
        self.origins.push(origin.to_string());
    }

    /// Filters and the compressor, which numcodecs treats alike, with `bytes` in the middle.
    fn filters(&mut self, array: &Array<'_>) -> Result<(), OpenProblem> {
        let mut serialized = false;
        for codec in array.filters.iter().chain(&array.compressor) {
            let id = codec.id.value;
            let mut name = format!("numcodecs.{id}");
            let takes_arrays =
                arrays::knows(&name) || ["fixedscaleoffset", "bitround"].contains(&id);
            if takes_arrays {
                if serialized {
                    let message =
                        format!("the filter {id:?} behind one that makes bytes of the array");
                    return Err(OpenProblem::unsupported(&codec.node.pointer, message));
                }
                self.follow(codec)?;
            } else if bytes::knows(id) {
                if !serialized {
                    self.serialize(array);
                    serialized = true;
                }
            } else {
                // It stays in its place, so that the chain can be shown.
                let problem = OpenProblem::unsupported(&codec.node.pointer, unsupported_codec(id));
                self.unsupported.push(problem);
                name = id.to_owned();
            }
            let configuration = members(codec.node.value);
            let mut entry = r#"{"name":"#.to_owned();
            json_text::write_string(&name, &mut entry);
            let _ = write!(entry, r#","configuration":{configuration}}}"#);
            self.push(&codec.node.pointer, entry);
        }
        if !serialized {
            self.serialize(array);
        }
        Ok(())
    }

    fn serialize(&mut self, array: &Array<'_>) {
        let codec = match self.current.byte_order {
            _ if self.current.size <= 1 => r#"{"name":"bytes"}"#,
            ByteOrder::Big => r#"{"name":"bytes","configuration":{"endian":"big"}}"#,
            _ => r#"{"name":"bytes","configuration":{"endian":"little"}}"#,
        };
        self.push(&array.dtype.pointer, codec);
    }

    /// Notes the type that a filter hands on, after a check that it takes the one it is given.
    fn follow(&mut self, codec: &Codec<'_>) -> Result<(), OpenProblem> {
        let (taken, given) = match codec.id.value {
            "astype" => ("decode_dtype", "encode_dtype"),
            "fixedscaleoffset" | "delta" | "quantize" => ("dtype", "astype"),
            "packbits" => {
                self.current = Dtype {
                    byte_order: ByteOrder::NotApplicable,
                    kind: DtypeKind::UInt,
                    size: 1,
                    unit: None,
                };
                return Ok(());
            }
            _ => return Ok(()),
        };
        let member = |name: &str| {
            let Some(node) = codec.node.get(name).filter(|node| !node.value.is_null()) else {
                return Ok(None);
            };
            let dtype = node.value.as_str().and_then(Dtype::parse);
            let dtype = dtype.filter(|dtype| dtype.v3_name().is_some());
            let message = "expected a NumPy type of numbers, such as \"<f4\"";
            dtype
                .map(Some)
                .ok_or_else(|| OpenProblem::unsound(&node.pointer, message))
        };
        let taken_type = member(taken)?;
        if let Some(dtype) = taken_type.filter(|dtype| !same(dtype, &self.current)) {
            // numcodecs would look at the bytes as if they were of this type, and so scramble them.
            let message = format!(
                "the type {dtype}; expected {}, which reaches the filter",
                self.current
            );
            return Err(OpenProblem::unsound(
                codec.node.pointer.member(taken),
                message,
            ));
        }
        if let Some(dtype) = member(given)? {
            self.current = dtype;
        }
        Ok(())
    }
}

/// Whether two types are one, down to the order of their bytes.
fn same(a: &Dtype, b: &Dtype) -> bool {
    let big = |dtype: &Dtype| dtype.size > 1 && dtype.byte_order == ByteOrder::Big;
    a.kind == b.kind && a.size == b.size && big(a) == big(b)
}

/// The members of a codec but its `id`, as a JSON object.
fn members(codec: &Value) -> String {
    let mut text = "{".to_owned();
    let members = codec.as_object().unwrap_or_default();
    for member in members.iter().filter(|member| member.name != "id") {
        if text.len() > 1 {
            text.push(',');
        }
        json_text::write_string(&member.name, &mut text);
        text.push(':');
        json_text::write(&member.value, &mut text);
    }
    text.push('}');
    text
}

fn simple_type<'a>(dtype: &'a Located<DataType<'_>>) -> Result<&'a Dtype, OpenProblem> {
    match &dtype.value {
        DataType::Simple(simple) => Ok(simple),
        DataType::Structured(_) => {
            let message = "a structured dtype: records of several fields are not supported";
            Err(OpenProblem::unsupported(&dtype.pointer, message))
        }
    }
}

fn unsupported_type(dtype: &Dtype, place: &Located<DataType<'_>>) -> OpenProblem {
    let reason = match dtype.kind {
        DtypeKind::DateTime | DtypeKind::TimeDelta => "times are not supported",
        DtypeKind::Bytes | DtypeKind::Unicode => "text is not supported",
        DtypeKind::Void => "raw bytes are not supported",
        DtypeKind::Object => "Python objects are not supported",
        DtypeKind::Float | DtypeKind::Complex => "numbers of more than 64 bits are not supported",
        _ => "it has no counterpart in Zarr v3",
    };
    OpenProblem::unsupported(&place.pointer, format!("the dtype {dtype}: {reason}"))
}

fn unsupported_codec(id: &str) -> String {
    let reason = match id {
        "vlen-utf8" | "vlen-bytes" | "vlen-array" | "json2" | "msgpack2" | "pickle"
        | "categorize" | "base64" => "objects and text are not supported",
        "zfpy" | "pcodec" => "this version does not decode it",
        _ => "it is not known",
    };
    format!("the codec {id:?}: {reason}")
}

/// The fill of a v3 document.
fn fill_text(fill: &Located<FillValue<'_>>, dtype: &Dtype) -> Result<String, OpenProblem> {
    let text = match (&fill.value, dtype.kind) {
        (FillValue::Undefined, DtypeKind::Bool) => Some("false".to_owned()),
        (FillValue::Undefined, DtypeKind::Complex) => Some("[0.0,0.0]".to_owned()),
        (FillValue::Undefined, _) => Some("0".to_owned()),
        (FillValue::Bool(value), DtypeKind::Bool) => Some(value.to_string()),
        (FillValue::Number(token), DtypeKind::Bool) => truth(token).map(|value| value.to_string()),
        (FillValue::Bool(value), DtypeKind::Int | DtypeKind::UInt) => {
            Some(u8::from(*value).to_string())
        }
        (FillValue::Number(token), DtypeKind::Int | DtypeKind::UInt) => whole(token),
        (FillValue::Number(token), DtypeKind::Float) => Some((*token).to_owned()),
        (FillValue::Number(token), DtypeKind::Complex) => Some(format!("[{token},0.0]")),
        (FillValue::NonFinite(word), DtypeKind::Float) => Some(format!("{word:?}")),
        (FillValue::NonFinite(word), DtypeKind::Complex) => Some(format!("[{word:?},0.0]")),
        (FillValue::Other(value), DtypeKind::Complex) => {
            let mut text = String::new();
            json_text::write(value, &mut text);
            Some(text)
        }
        _ => None,
    };
    text.ok_or_else(|| {
        OpenProblem::unsound(
            &fill.pointer,
            format!("a fill value that is no value of {dtype}"),
        )
    })
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
    Some(format!("{value:.0}"))
}
