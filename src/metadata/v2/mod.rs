//! Zarr v2 documents: `.zarray`, `.zgroup` and `.zattrs`. For `.zmetadata` see
//! [`super::consolidated`].

mod dtype;
#[cfg(test)]
mod tests;

use super::extension::{Extra, extras};
use super::json::{Kind, Value};
use super::node::{Located, Node};
use super::problem::{ProblemKind, Problems};
use super::v3::Separator;

pub use dtype::{ByteOrder, Dtype, DtypeKind};

/// The document of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<'v> {
    /// The lengths of the dimensions.
    pub shape: Located<Vec<u64>>,
    /// The lengths of the chunks.
    pub chunks: Located<Vec<u64>>,
    /// The type of the values.
    pub dtype: Located<DataType<'v>>,
    /// The last codec, or none.
    pub compressor: Option<Codec<'v>>,
    /// The codecs before it, in the order in which they encode; none where the document has `null`.
    pub filters: Vec<Codec<'v>>,
    /// The order of the values in a chunk.
    pub order: Located<Order>,
    /// The value of what was never written.
    pub fill_value: Located<FillValue<'v>>,
    /// What stands between the numbers of a chunk's key; absent means [`Separator::Dot`], and often
    /// that nobody thought of writing it.
    pub dimension_separator: Option<Located<Separator>>,
    /// Members that the specification does not name; readers ignore them.
    pub extras: Vec<Extra<'v>>,
}

/// The document of an array of which any member may be missing or unreadable, as the problems then
/// say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartialArray<'v> {
    /// See [`Array::shape`].
    pub shape: Option<Located<Vec<u64>>>,
    /// See [`Array::chunks`].
    pub chunks: Option<Located<Vec<u64>>>,
    /// See [`Array::dtype`].
    pub dtype: Option<Located<DataType<'v>>>,
    /// See [`Array::compressor`].
    pub compressor: Option<Option<Codec<'v>>>,
    /// See [`Array::filters`].
    pub filters: Option<Vec<Codec<'v>>>,
    /// See [`Array::order`].
    pub order: Option<Located<Order>>,
    /// See [`Array::fill_value`].
    pub fill_value: Option<Located<FillValue<'v>>>,
    /// See [`Array::dimension_separator`].
    pub dimension_separator: Option<Located<Separator>>,
    /// See [`Array::extras`].
    pub extras: Vec<Extra<'v>>,
}

/// The `dtype` of an array.
#[derive(Debug, Clone, PartialEq)]
pub enum DataType<'v> {
    /// A type of one item.
    Simple(Dtype),
    /// A list of fields, as it stands in the document.
    Structured(&'v Value),
}

/// A filter or a compressor.
#[derive(Debug, Clone, PartialEq)]
pub struct Codec<'v> {
    /// The name of the codec.
    pub id: Located<&'v str>,
    /// The codec's object, `id` among its members.
    pub node: Node<'v>,
}

/// The order of the values in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The last dimension varies fastest.
    C,
    /// The first dimension varies fastest.
    F,
}

/// A fill value by its form, which depends on the data type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillValue<'v> {
    /// `null`: what was never written is undefined.
    Undefined,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as the token that was written.
    Number(&'v str),
    /// A word for a number that JSON lacks: `NaN`, `Infinity`, `-Infinity`, quoted or bare.
    NonFinite(&'v str),
    /// The bytes of one item, in base64, for types whose items are bytes.
    Base64(&'v str),
    /// Text, for types that hold text or objects.
    Text(&'v str),
    /// What has no common form, such as the two numbers of a complex value.
    Other(&'v Value),
}

impl<'v> PartialArray<'v> {
    /// The array, if every mandatory member could be read.
    pub fn complete(self) -> Option<Array<'v>> {
        Some(Array {
            shape: self.shape?,
            chunks: self.chunks?,
            dtype: self.dtype?,
            compressor: self.compressor?,
            filters: self.filters?,
            order: self.order?,
            fill_value: self.fill_value?,
            dimension_separator: self.dimension_separator,
            extras: self.extras,
        })
    }
}

/// Reads a `.zarray`, or a copy of one. Every problem is reported and nothing stops at the first.
pub fn array<'v>(root: &Node<'v>, problems: &mut Problems) -> PartialArray<'v> {
    const KNOWN: [&str; 9] = [
        "zarr_format",
        "shape",
        "chunks",
        "dtype",
        "compressor",
        "fill_value",
        "order",
        "filters",
        "dimension_separator",
    ];
    if !root.is_object(problems, "an object") {
        return PartialArray::default();
    }
    root.zarr_format(problems, 2);
    let shape = root
        .required("shape", problems)
        .and_then(|node| node.counts(problems));
    let rank = shape.as_ref().map(|shape| shape.value.len());
    let chunks = root
        .required("chunks", problems)
        .and_then(|node| node.chunk_lengths(problems, rank));
    let dtype = root
        .required("dtype", problems)
        .and_then(|node| data_type(&node, problems));
    let compressor = root
        .required("compressor", problems)
        .and_then(|node| match node.value.kind {
            Kind::Null => Some(None),
            _ => codec(&node, problems).map(Some),
        });
    let fill_value = root
        .required("fill_value", problems)
        .map(|node| node.locate(fill_value(node.value, dtype.as_ref())));
    let order = root.required("order", problems).and_then(|node| {
        let order = node.choice(problems, &[("C", Order::C), ("F", Order::F)])?;
        Some(node.locate(order))
    });
    let filters = root
        .required("filters", problems)
        .and_then(|node| filters(&node, problems));
    let dimension_separator = root.get("dimension_separator").and_then(|node| {
        let separator = node.choice(problems, &Separator::WORDS)?;
        Some(node.locate(separator))
    });
    PartialArray {
        shape,
        chunks,
        dtype,
        compressor,
        filters,
        order,
        fill_value,
        dimension_separator,
        extras: extras(root, &KNOWN),
    }
}

/// Checks a `.zgroup`, which says no more than that a group is there; what else it holds is handed
/// back.
pub fn group<'v>(root: &Node<'v>, problems: &mut Problems) -> Vec<Extra<'v>> {
    if root.is_object(problems, "an object") {
        root.zarr_format(problems, 2);
    }
    extras(root, &["zarr_format"])
}

/// Reads a `.zattrs`: the attributes, if they are an object as they must be.
pub fn attributes<'v>(root: &Node<'v>, problems: &mut Problems) -> Option<Node<'v>> {
    root.is_object(problems, "an object of attributes")
        .then(|| root.clone())
}

fn data_type<'v>(node: &Node<'v>, problems: &mut Problems) -> Option<Located<DataType<'v>>> {
    const EXPECTED: &str = "a data type such as \"<f4\", or a list of fields";
    if node.value.as_array().is_some() {
        return Some(node.locate(DataType::Structured(node.value)));
    }
    let text = node.string(problems, EXPECTED)?;
    let dtype = Dtype::parse(text);
    if dtype.is_none() {
        node.report(problems, ProblemKind::BadValue, EXPECTED);
    }
    Some(node.locate(DataType::Simple(dtype?)))
}

fn codec<'v>(node: &Node<'v>, problems: &mut Problems) -> Option<Codec<'v>> {
    if !node.is_object(problems, "a codec: an object with an \"id\"") {
        return None;
    }
    let id = node.required("id", problems)?;
    Some(Codec {
        id: id.locate(id.string(problems, "the name of a codec")?),
        node: node.clone(),
    })
}

fn filters<'v>(node: &Node<'v>, problems: &mut Problems) -> Option<Vec<Codec<'v>>> {
    if node.value.is_null() {
        return Some(Vec::new());
    }
    let elements = node.elements(problems, "an array of codecs, or null")?;
    let read: Vec<_> = elements.map(|element| codec(&element, problems)).collect();
    read.into_iter().collect()
}

fn fill_value<'v>(value: &'v Value, dtype: Option<&Located<DataType<'_>>>) -> FillValue<'v> {
    let kind = match dtype.map(|dtype| &dtype.value) {
        Some(DataType::Simple(dtype)) => Some(dtype.kind),
        Some(DataType::Structured(_)) => Some(DtypeKind::Void),
        None => None,
    };
    match &value.kind {
        Kind::Null => FillValue::Undefined,
        Kind::Bool(value) => FillValue::Bool(*value),
        Kind::Number(token) => FillValue::Number(token),
        Kind::NonFinite(word) => FillValue::NonFinite(word),
        Kind::String(text) => match (kind, text.as_str()) {
            (Some(DtypeKind::Bytes | DtypeKind::Void), _) => FillValue::Base64(text),
            (Some(DtypeKind::Unicode | DtypeKind::Object), _) => FillValue::Text(text),
            (_, "NaN" | "Infinity" | "-Infinity") => FillValue::NonFinite(text),
            _ => FillValue::Text(text),
        },
        Kind::Array(_) | Kind::Object(_) => FillValue::Other(value),
    }
}
