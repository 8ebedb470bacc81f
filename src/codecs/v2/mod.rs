//! Zarr v2 documents of arrays as Zarr v3 documents: the one conversion, for reading and for writing.
//!
//! zarrs gives the bytes of a v2 chunk the byte order of the array's `dtype`. They have that of the last filter's output, which
//! is another where a filter changes the type, and the values come out wrong without an error. So v2 arrays are opened through
//! a v3 document, which says it all: the order of elements is a `transpose`, filters on arrays come before `bytes`, filters on
//! bytes and the compressor after it. The same document is what a migration writes, with the attributes that
//! [`crate::migration::v2`] adds. It stands here because it depends on which codecs there are.

mod chain;
mod compressor;
mod fault;
mod fill;
mod reading;
mod types;

use crate::metadata::edit::Draft;
use crate::metadata::v2::{Array, FillValue};
use crate::metadata::v3::Separator;

pub(super) use compressor::core as core_compressor;
pub use fault::{Change, ChangeKind, Fault};
pub(super) use reading::convert;
use types::named;
pub use types::{Field, ValueType};

/// A v3 document of an array without its attributes.
#[derive(Debug)]
pub struct Document {
    /// The members of the document, in order.
    pub members: Vec<(&'static str, Draft)>,
    /// The type of the values.
    pub value_type: ValueType,
    /// The fill in the spelling of Zarr v3, which is among the members as well.
    pub fill: Draft,
    /// Whether the v2 document states a fill.
    pub fill_is_defined: bool,
    /// What keeps the document from being written, although it may be shown and perhaps read.
    pub unwritable: Vec<Fault>,
    /// Codecs that are not known here, which are in the document nevertheless.
    pub unsupported: Vec<Fault>,
    /// What is said in another way than in the v2 document.
    pub changes: Vec<Change>,
    /// Where each codec comes from: a pointer into the v2 document.
    origins: Vec<String>,
}

/// Converts the document of an array whose chunk keys have this separator.
///
/// # Errors
///
/// What there is no v3 form of; never an empty list.
pub fn document(array: &Array<'_>, separator: Separator) -> Result<Document, Vec<Fault>> {
    let value_type = types::value_type(array).map_err(|fault| vec![fault])?;
    let chain = chain::chain(array, &value_type);
    let fill = fill::fill(&array.fill_value, &value_type);
    let (chain, fill) = match (chain, fill) {
        (Ok(chain), Ok(fill)) => (chain, fill),
        (chain, fill) => return Err(chain.err().into_iter().chain(fill.err()).collect()),
    };
    let mut unwritable = chain.unwritable;
    let mut changes = Vec::new();
    unwritable.extend(fill::check(&array.fill_value, &fill, &value_type).err());
    let fill_is_defined = array.fill_value.value != FillValue::Undefined;
    if !fill_is_defined {
        let message = format!(
            "null became {}: what was never written had no defined value",
            compact(&fill)
        );
        changes.push(Change::new(
            &array.fill_value.pointer,
            ChangeKind::Fill,
            message,
        ));
    }
    let chunks = chunk_shape(array, &mut unwritable, &mut changes);
    changes.extend(chain.changes);
    let numbers = |numbers: &[u64]| {
        let numbers = numbers.iter().copied().map(Draft::from);
        Draft::Array(numbers.collect())
    };
    let keys = [("separator", Draft::string(separator.as_str()))];
    let members = vec![
        ("zarr_format", Draft::from(3_u64)),
        ("node_type", Draft::string("array")),
        ("shape", numbers(&array.shape.value)),
        ("data_type", value_type.draft()),
        (
            "chunk_grid",
            named("regular", [("chunk_shape", numbers(&chunks))]),
        ),
        ("chunk_key_encoding", named("v2", keys)),
        ("fill_value", fill.clone()),
        ("codecs", Draft::Array(chain.codecs)),
    ];
    Ok(Document {
        members,
        value_type,
        fill,
        fill_is_defined,
        unwritable,
        unsupported: chain.unsupported,
        changes,
        origins: chain.origins,
    })
}

/// The lengths of chunks. Writers have written 0 for a dimension of no elements, which holds no chunk either way.
fn chunk_shape(
    array: &Array<'_>,
    unwritable: &mut Vec<Fault>,
    changes: &mut Vec<Change>,
) -> Vec<u64> {
    let mut lengths = array.chunks.value.clone();
    let pointer = &array.chunks.pointer;
    let shape = &array.shape.value;
    if lengths.len() != shape.len() {
        let found = format!("a list of length {}", lengths.len());
        let expected = format!("a length for each dimension of the array: {}", shape.len());
        unwritable.push(Fault::unsound(pointer, found, expected));
        return lengths;
    }
    for (index, (length, whole)) in lengths.iter_mut().zip(shape).enumerate() {
        if *length > 0 {
            continue;
        }
        let pointer = pointer.index(index);
        if *whole > 0 {
            let found = format!("a chunk length of 0 along a dimension of {whole}");
            unwritable.push(Fault::unsound(pointer, found, "at least 1"));
            continue;
        }
        *length = 1;
        let message =
            "a chunk length of 0 became 1, the least of Zarr v3; the dimension has no elements";
        changes.push(Change::new(pointer, ChangeKind::ChunkLength, message));
    }
    lengths
}

/// A draft on one line, for messages.
fn compact(draft: &Draft) -> String {
    let mut text = draft
        .to_document(&crate::metadata::edit::Layout::default())
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ");
    const LONGEST: usize = 60;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}
