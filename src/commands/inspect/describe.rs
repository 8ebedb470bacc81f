//! From the document of an array to its part of the report, but for the sizes of what is stored.

use serde_json::Value as Json;

use super::chain::{self, MOST_CODECS, scalar};
use crate::catalog::{ArrayText, Text};
use crate::codecs::configuration::LEGACY_V2;
use crate::codecs::{ArrayDocument, ChunkKeys};
use crate::layout::quantities::cut;
use crate::metadata::json::{Kind, Value};
use crate::metadata::v2::{self, Order};
use crate::metadata::v3::{self, ChunkGrid, KeyEncoding, Separator};
use crate::report::inspect as report;
use crate::report::inspect::Array;
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// The longest text of a document that is repeated in the report.
pub(super) const LONGEST: usize = 200;

/// How many values a fill has that is a list, as those of complex numbers are.
const LONGEST_LIST: usize = 8;

/// What is needed to tell chunks from other files.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// How chunks are named, where that is known.
    pub(super) keys: Option<ChunkKeys>,
    /// The number of chunks along each dimension, where the grid is regular.
    pub(super) shape: Option<Vec<u64>>,
}

/// Describes an array whose document can be relied upon.
pub(super) fn describe(text: &ArrayText) -> (Array, Grid) {
    let (zarr_format, document) = match text {
        ArrayText::V3(text) => (3, text),
        ArrayText::V2 { array, .. } => (2, array),
    };
    let described = text.with(|document| match document {
        ArrayDocument::V3(array) => describe_v3(array),
        ArrayDocument::V2(array) => describe_v2(array),
    });
    let (mut array, grid) = described.unwrap_or_default();
    array.zarr_format = zarr_format;
    let data_type = DataType::from_name(&array.data_type);
    let fill = document.parsed.root.get("fill_value");
    array.fill_value = fill.map_or(Json::Null, |fill| fill_json(fill, data_type));
    if let ArrayText::V2 {
        attributes: Some(attributes),
        ..
    } = text
    {
        array.dimension_names = array_dimensions(attributes);
    }
    array.elements = product(array.shape.iter().copied());
    let bytes = array.elements.zip(array.element_bytes);
    array.logical_bytes =
        bytes.and_then(|(elements, bytes)| elements.checked_mul(u128::from(bytes)));
    (array, grid)
}

fn describe_v3(document: &v3::Array<'_>) -> (Array, Grid) {
    let chunk_shape = match &document.chunk_grid {
        ChunkGrid::Regular { chunk_shape, .. } => Some(&chunk_shape.value),
        ChunkGrid::Other(_) => None,
    };
    let names = document.optional.dimension_names.as_ref();
    let mut array = Array {
        shape: document.shape.value.clone(),
        dimension_names: names.map(|names| {
            let names = names.value.iter();
            names
                .map(|name| name.map(|name| cut(name, LONGEST)))
                .collect()
        }),
        data_type: cut(document.data_type.name, LONGEST),
        chunk_keys: chunk_keys(document.chunk_keys.encoding, document.chunk_keys.entry.name),
        ..Array::default()
    };
    let codecs = document.codecs.nested().into_iter();
    let codecs = codecs.map(|chain| chain.codecs.len()).sum();
    chain::describe(ArrayDocument::V3(document), codecs, &mut array);
    if array.chunks.is_none() && array.shards.is_empty() {
        array.chunks = chunk_shape.cloned();
    }
    let grid = grid(
        &document.shape.value,
        chunk_shape,
        document.chunk_keys.encoding,
    );
    (array, grid)
}

fn describe_v2(document: &v2::Array<'_>) -> (Array, Grid) {
    let (data_type, dtype, element_bytes) = match &document.dtype.value {
        v2::DataType::Simple(dtype) => {
            let name = dtype.v3_name().map(str::to_owned);
            let size = match dtype.kind {
                v2::DtypeKind::Object => None,
                v2::DtypeKind::Unicode => Some(u64::from(dtype.size) * 4),
                _ => Some(u64::from(dtype.size)),
            };
            let text = dtype.to_string();
            (name.unwrap_or_else(|| text.clone()), text, size)
        }
        v2::DataType::Structured(_) => ("structured".to_owned(), "structured".to_owned(), None),
    };
    let order = match document.order.value {
        Order::C => "C",
        Order::F => "F",
    };
    let separator = document.dimension_separator.as_ref();
    let separator = separator.map_or(Separator::Dot, |separator| separator.value);
    let encoding = KeyEncoding::V2(separator);
    let mut array = Array {
        shape: document.shape.value.clone(),
        data_type: cut(&data_type, LONGEST),
        dtype: Some(cut(&dtype, LONGEST)),
        order: Some(order.to_owned()),
        element_bytes,
        chunks: Some(document.chunks.value.clone()),
        chunk_keys: chunk_keys(encoding, "v2"),
        ..Array::default()
    };
    let codecs = || document.filters.iter().chain(&document.compressor);
    chain::describe(ArrayDocument::V2(document), codecs().count(), &mut array);
    if array.stages.is_empty() && codecs().count() <= MOST_CODECS {
        // There is no v3 form of it. The names of its codecs are known all the same.
        let legacy = codecs().filter(|codec| codec.id.value == LEGACY_V2);
        array.legacy = legacy.map(|codec| codec.node.pointer.to_string()).collect();
        array.packed = !array.legacy.is_empty();
        let names = codecs().map(|codec| cut(codec.id.value, LONGEST));
        let words: Vec<_> = std::iter::once(array.data_type.clone())
            .chain(names)
            .collect();
        array.chain = Some(words.join(" -> "));
    }
    let grid = grid(
        &document.shape.value,
        Some(&document.chunks.value),
        encoding,
    );
    (array, grid)
}

fn chunk_keys(encoding: KeyEncoding, name: &str) -> report::ChunkKeys {
    let separator = match encoding {
        KeyEncoding::Default(separator) | KeyEncoding::V2(separator) => Some(separator),
        KeyEncoding::Other => None,
    };
    report::ChunkKeys {
        encoding: cut(name, LONGEST),
        separator: separator.map(|separator| separator.as_str().to_owned()),
    }
}

fn grid(shape: &[u64], chunks: Option<&Vec<u64>>, encoding: KeyEncoding) -> Grid {
    let chunks = chunks.filter(|chunks| chunks.len() == shape.len());
    let lengths = chunks.map(|chunks| shape.iter().zip(chunks));
    Grid {
        keys: ChunkKeys::new("", encoding),
        // Some programs write a chunk length of 0 for a dimension of length 0.
        shape: lengths.map(|lengths| {
            lengths
                .map(|(length, chunk)| length.div_ceil((*chunk).max(1)))
                .collect()
        }),
    }
}

/// The product of lengths; `None` where that is beyond 128 bits.
pub(super) fn product(lengths: impl IntoIterator<Item = u64>) -> Option<u128> {
    let mut product = Some(1_u128);
    for length in lengths {
        if length == 0 {
            return Some(0);
        }
        product = product.and_then(|product| product.checked_mul(u128::from(length)));
    }
    product
}

/// A fill value as the document has it.
fn fill_json(value: &Value, data_type: Option<DataType>) -> Json {
    let number = |token: &str| {
        let literal = Literal::Number(token.to_owned());
        let parsed = data_type.and_then(|data_type| Scalar::parse(&literal, data_type).ok());
        match parsed {
            Some(parsed) => scalar(parsed),
            None => serde_json::from_str(token).unwrap_or(Json::Null),
        }
    };
    match &value.kind {
        Kind::Bool(value) => Json::Bool(*value),
        Kind::Number(token) => number(token),
        Kind::String(text) | Kind::NonFinite(text) => Json::String(cut(text, LONGEST)),
        Kind::Array(values) if values.len() <= LONGEST_LIST => {
            let scalars = values.iter().map(|value| match &value.kind {
                Kind::Array(_) => Json::Null,
                _ => fill_json(value, None),
            });
            Json::Array(scalars.collect())
        }
        Kind::Null | Kind::Array(_) | Kind::Object(_) => Json::Null,
    }
}

/// The names of dimensions as xarray keeps them in Zarr v2.
fn array_dimensions(attributes: &Text) -> Option<Vec<Option<String>>> {
    let names = attributes
        .parsed
        .root
        .get("_ARRAY_DIMENSIONS")?
        .as_array()?;
    let names = names.iter().map(|name| {
        let name = name.as_str()?;
        Some(Some(cut(name, LONGEST)))
    });
    names.collect()
}
