//! What `inspect --format json` prints: one document for all stores. `docs/inspect.md` describes it.
//!
//! Scalars (fills, ends of ranges, steps, codes) are in fill-value encoding: numbers, and `"NaN"`, `"Infinity"`, `"-Infinity"`. Counts
//! that the shape of an array makes may need more than 64 bits; they are integers all the same, and null beyond 128 bits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the schema.
pub const SCHEMA: &str = "zarrpack.inspect/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`]
    pub schema: String,
    /// The stores, in the order of the command line; those that could not be opened are left out.
    pub stores: Vec<Store>,
}

/// A store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// STORE, as it was given.
    pub store: String,
    /// The hierarchy that the store is a part of, if it is not the root of one.
    pub part_of: Option<PartOf>,
    /// The groups above selected arrays, parents first; all groups where every array is selected.
    pub groups: Vec<Group>,
    /// The selected arrays, in the order of the walk.
    pub arrays: Vec<Array>,
    /// Nodes whose metadata cannot be read or relied upon, and places that could not be looked at.
    pub broken: Vec<Broken>,
}

/// The place of a store in a larger hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartOf {
    /// The directory of the hierarchy's root.
    pub root: String,
    /// The path of the store below it.
    pub path: String,
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The path from the store, without slashes at the ends; empty for the store itself.
    pub path: String,
    /// 2 or 3.
    pub zarr_format: u8,
    /// How many of the arrays are below it, at any depth.
    pub arrays: u64,
    /// Whether it has consolidated metadata, which inspect does not read.
    pub consolidated: bool,
    /// What is worth knowing about its documents.
    pub node: NodeNotes,
}

/// What nodes of either kind may be noted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeNotes {
    /// Documents of Zarr v2 beside a `zarr.json`, which wins.
    pub ignored_documents: Vec<String>,
    /// Whether a link to a directory led here, at this node or above it.
    pub linked: bool,
}

/// An array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// The path from the store, without slashes at the ends; empty for the store itself.
    pub path: String,
    /// 2 or 3.
    pub zarr_format: u8,
    /// The lengths of the dimensions.
    pub shape: Vec<u64>,
    /// The names of the dimensions, where they are stated (`_ARRAY_DIMENSIONS` in Zarr v2).
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The name of the type in Zarr v3; in Zarr v2, the `dtype` where there is no such name.
    pub data_type: String,
    /// The `dtype` of a Zarr v2 array; null in Zarr v3.
    pub dtype: Option<String>,
    /// The order of the elements of a Zarr v2 array, `C` or `F`; null in Zarr v3.
    pub order: Option<String>,
    /// The bytes of an element in memory, where they are always the same.
    pub element_bytes: Option<u64>,
    /// The lengths of the chunks: of the innermost ones where there are shards; null for a grid that is not regular.
    pub chunks: Option<Vec<u64>>,
    /// The lengths of the shards, outermost first; empty where there are none.
    pub shards: Vec<Vec<u64>>,
    /// How chunks are named.
    pub chunk_keys: ChunkKeys,
    /// The fill as the document states it; null where Zarr v2 leaves it undefined, and where it is no scalar.
    pub fill_value: Value,
    /// The chain in words; null where there are too many codecs to tell.
    pub chain: Option<String>,
    /// Whether a codec of the chain packs: `scale_offset`, `cast_value` or the legacy codec.
    pub packed: bool,
    /// The JSON pointers of legacy codecs.
    pub legacy: Vec<String>,
    /// What packing computes, where it can be written as a formula.
    pub formula: Option<Formula>,
    /// The array, and every array-to-array codec after it.
    pub stages: Vec<Stage>,
    /// What the maps of `cast_value` codecs set apart.
    pub sentinels: Vec<Sentinel>,
    /// How the fill fares in the packing codecs; null where nothing is packed, or the chain is invalid.
    pub fill: Option<Fill>,
    /// What the specifications forbid about the chain or the array.
    pub problems: Vec<Problem>,
    /// Why this version of zarrpack cannot decode the array, apart from the problems.
    pub unsupported: Vec<Unsupported>,
    /// The number of elements.
    pub elements: Option<u128>,
    /// The bytes of all elements in memory.
    pub logical_bytes: Option<u128>,
    /// What is stored.
    pub stored: Stored,
    /// `logical_bytes` over the bytes stored; null where nothing is stored.
    pub ratio: Option<f64>,
    /// What is worth knowing about its documents.
    pub node: NodeNotes,
}

/// How chunks are named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkKeys {
    /// `default`, `v2`, or another name.
    pub encoding: String,
    /// What stands between the numbers, for the first two.
    pub separator: Option<String>,
}

/// What packing computes. `round` is to the nearest whole number, ties to even.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    /// From `value` to the code.
    pub encode: String,
    /// From the code to `value`.
    pub decode: String,
}

/// A place in a chain: the array itself, or what a codec hands on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The codec; null for the array.
    pub codec: Option<String>,
    /// The JSON pointer of the codec; null for the array.
    pub pointer: Option<String>,
    /// The type, where it is known.
    pub data_type: Option<String>,
    /// The fill at this place; null where it is not known, or cannot be encoded.
    pub fill_value: Value,
    /// The smallest value that can be here, maps left out; null where it is not known.
    pub low: Value,
    /// The largest.
    pub high: Value,
    /// The distance of neighbouring values; null where it is not the same everywhere.
    pub step: Value,
}

/// A value and the code that stands for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentinel {
    /// The JSON pointer of the codec.
    pub pointer: String,
    /// The value that enters the cast.
    pub value: Value,
    /// The code that leaves it.
    pub code: Value,
    /// Whether encoding makes the code of the value.
    pub encode: bool,
    /// Whether decoding makes the value of the code.
    pub decode: bool,
}

/// How the fill fares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// Whether every codec can encode it and each `cast_value` gives it back.
    pub survives: bool,
    /// Whether the whole chain gives it back as another value, or not at all.
    pub drifts: bool,
    /// What it comes back as; null where it does not.
    pub comes_back_as: Value,
}

/// Something that a specification forbids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// A stable identifier, where there is one.
    pub id: Option<String>,
    /// Whether the array can be decoded all the same.
    pub decodable: bool,
    /// The JSON pointer of what is at fault.
    pub pointer: String,
    /// What was found, and what was expected.
    pub message: String,
}

/// Why an array cannot be decoded by this version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsupported {
    /// The JSON pointer of what is not supported.
    pub pointer: String,
    /// What that is.
    pub message: String,
}

/// What is stored of an array, by the names and lengths of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Whether all files were looked at: there were no more than `--max-objects`, and all could be listed.
    pub complete: bool,
    /// The chunks (the shards, where there are any) that are stored.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The chunks (the shards) that the grid has.
    pub grid_objects: Option<u128>,
    /// Stored chunks that lie outside the shape.
    pub outside: Files,
    /// Files that are neither chunks nor metadata.
    pub other: Files,
}

/// A number of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What cannot be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broken {
    /// The path from the store.
    pub path: String,
    /// Whether it could not be read at all. If not, it was read and is not sound.
    pub unreadable: bool,
    /// Whether it is a node: it has documents.
    pub is_node: bool,
    /// What is wrong, one entry for each thing.
    pub findings: Vec<String>,
}
