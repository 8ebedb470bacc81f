//! Plain arrays: the chain that is left when nothing is packed any more, and the encoder of its chunks.

use std::num::NonZeroU64;
use std::sync::Arc;

use zarrs::array::codec::api::{ArrayToBytesCodecTraits, CodecSpecificOptions};
use zarrs::array::codec::array_to_bytes::sharding::{ShardingCodecOptions, SubchunkWriteOrder};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, CodecOptions};
use zarrs::storage::store::MemoryStore;

use super::carry::Carry;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::metadata::v3::Chain;

/// The chain of a plain array, and what became of the codecs that are not in it.
#[derive(Debug)]
pub struct PlainChain {
    /// The codecs, as a document has them.
    pub codecs: Draft,
    /// The names of the compressors that zstd stands in for.
    pub replaced: Vec<String>,
}

/// The chain of a plain array whose packed form has `chain`.
///
/// Transposition, shards, and the compressors of the Zarr v3 specification stay; every other codec from arrays to arrays goes.
/// Compressors that few readers have become zstd.
#[must_use]
pub fn plain_chain(chain: &Chain<'_>, element_size: usize) -> PlainChain {
    let mut carry = Carry::plain(element_size);
    PlainChain {
        codecs: Draft::Array(carry.level(chain)),
        replaced: carry.replaced,
    }
}

/// The chain of a plain array that had the compressor `id` of Zarr v2, or none.
#[must_use]
pub fn plain_chain_v2(compressor: Option<(&str, &Value)>, element_size: usize) -> PlainChain {
    let mut carry = Carry::plain(element_size);
    PlainChain {
        codecs: Draft::Array(carry.level_v2(compressor.into_iter())),
        replaced: carry.replaced,
    }
}

/// The document with nothing but what encoding depends on: attributes may hold what zarrs does not read.
fn bare(document: &str) -> Result<String, String> {
    const NEEDED: [&str; 8] = [
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
    ];
    let parsed = parse(document.as_bytes(), &Limits::default(), NonFinite::Keep);
    let parsed = parsed.map_err(|error| error.to_string())?;
    let members = parsed.root.as_object().unwrap_or_default().iter();
    let needed = members.filter(|member| NEEDED.contains(&member.name.as_str()));
    let needed = needed.map(|member| (member.name.clone(), Draft::from(&member.value)));
    Ok(Draft::object(needed).to_document(&Layout::default()))
}

/// Encodes the chunks of a plain array.
pub struct PlainEncoder {
    array: Array<MemoryStore>,
    shape: Vec<NonZeroU64>,
}

impl PlainEncoder {
    /// An encoder for the array that a document describes, with one thread for each chunk.
    ///
    /// # Errors
    ///
    /// In words, where zarrs does not write such arrays.
    pub fn new(document: &str) -> Result<Self, String> {
        let metadata: ArrayMetadata =
            serde_json::from_str(&bare(document)?).map_err(|error| error.to_string())?;
        let array = Array::new_with_metadata(Arc::new(MemoryStore::new()), "/", metadata);
        // Inner chunks in their order, so that a shard has the same bytes however many threads there are.
        let order =
            ShardingCodecOptions::default().with_subchunk_write_order(SubchunkWriteOrder::C);
        let order = CodecSpecificOptions::default().with_option(order);
        let array = array
            .map_err(|error| error.to_string())?
            .with_codec_specific_options(&order);
        let first = vec![0; array.dimensionality()];
        let shape = match array.shape().contains(&0) {
            // No chunk of an empty array is ever encoded.
            true => Vec::new(),
            false => array
                .chunk_shape(&first)
                .map_err(|error| error.to_string())?
                .to_vec(),
        };
        Ok(Self { array, shape })
    }

    /// Encodes a chunk: whole, native endian, in C order.
    ///
    /// # Errors
    ///
    /// In words, where a codec refuses.
    pub fn encode(&self, chunk: Vec<u8>) -> Result<Vec<u8>, String> {
        let options = CodecOptions::default().with_concurrent_target(1);
        let encoded = self.array.codecs().encode(
            ArrayBytes::new_flen(chunk),
            &self.shape,
            self.array.data_type(),
            self.array.fill_value(),
            &options,
        );
        encoded
            .map(std::borrow::Cow::into_owned)
            .map_err(|error| error.to_string())
    }
}
