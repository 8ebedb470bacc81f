//! Whole arrays in memory: documents opened, chunks decoded.

mod chunks;
mod documents;
mod shards;
mod v2_documents;

use std::sync::Arc;

use zarrs::storage::store::MemoryStore;
use zarrs::storage::{StoreKey, WritableStorageTraits};

use super::*;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v2, v3};

const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const PAIR: &str = r#"{"name":"scale_offset","configuration":{"offset":10,"scale":2}},
    {"name":"cast_value","configuration":{"data_type":"int16"}}"#;
const LEGACY: &str = r#"{"name":"numcodecs.fixedscaleoffset",
    "configuration":{"offset":10,"scale":2,"dtype":"<f4","astype":"<i2"}}"#;

fn document(shape: &str, chunks: &str, data_type: &str, fill: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"{data_type}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks}}}}},
        "chunk_key_encoding":"default","codecs":[{codecs}]}}"#
    )
}

fn shard(chunks: &str, codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{chunks},"codecs":[{codecs}],
        "index_codecs":[{LITTLE}]}}}}"#
    )
}

fn store(chunks: &[(&str, Vec<u8>)]) -> Arc<MemoryStore> {
    let store = MemoryStore::new();
    for (key, bytes) in chunks {
        store
            .set(&StoreKey::new(*key).unwrap(), bytes.clone().into())
            .unwrap();
    }
    Arc::new(store)
}

fn open(text: &str, storage: Arc<MemoryStore>) -> Result<OpenArray, OpenError> {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
    let root = Node::root(&parsed.root);
    let mut problems = Problems::default();
    if parsed.root.get("node_type").is_none() {
        let array = v2::array(&root, &mut problems).complete().unwrap();
        return OpenArray::open(storage, "", ArrayDocument::V2(&array));
    }
    let v3::Document::Array(array) = v3::read(&root, &mut problems) else {
        panic!("{text}");
    };
    OpenArray::open(storage, "", ArrayDocument::V3(&array.complete().unwrap()))
}

/// The first problem of a document that cannot be opened.
fn problem(text: &str) -> OpenProblem {
    match open(text, store(&[])) {
        Ok(_) => panic!("opened: {text}"),
        Err(error) => error.problems.into_iter().next().unwrap(),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_ne_bytes(*bytes))
        .collect()
}

fn shorts(values: &[i16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn longs(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
