//! Plain arrays: the chain that is left when nothing is packed any more, and the encoder of its chunks.

use std::num::NonZeroU64;
use std::sync::Arc;

use zarrs::array::codec::api::{ArrayToBytesCodecTraits, CodecSpecificOptions};
use zarrs::array::codec::array_to_bytes::sharding::{ShardingCodecOptions, SubchunkWriteOrder};
use zarrs::array::{Array, ArrayBytes, ArrayMetadata, CodecOptions};
use zarrs::storage::store::MemoryStore;

use super::lower::TRANSPOSE;
use super::v2::core_compressor;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::metadata::v3::{Chain, Codec, SHARDING};

/// Codecs from bytes to bytes that every reader of Zarr v3 has.
const CORE: [&str; 3] = ["gzip", "zstd", "crc32c"];

/// The compressor that stands in for one that few readers have.
const SUBSTITUTE_LEVEL: u64 = 5;

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
    let mut plain = PlainChain {
        codecs: Draft::Array(Vec::new()),
        replaced: Vec::new(),
    };
    plain.codecs = Draft::Array(plain.level(chain, element_size));
    plain
}

/// The chain of a plain array that had the compressor `id` of Zarr v2, or none.
#[must_use]
pub fn plain_chain_v2(compressor: Option<(&str, &Value)>, element_size: usize) -> PlainChain {
    let mut plain = PlainChain {
        codecs: Draft::Array(Vec::new()),
        replaced: Vec::new(),
    };
    let mut codecs = vec![bytes(None, element_size)];
    if let Some((id, configuration)) = compressor {
        match core_compressor(id, configuration, element_size as u64) {
            Ok(Some(core)) => codecs.push(core.codec),
            _ => {
                plain.replaced.push(id.to_owned());
                codecs.push(zstd(Draft::from(SUBSTITUTE_LEVEL)));
            }
        }
    }
    plain.codecs = Draft::Array(codecs);
    plain
}

impl PlainChain {
    fn level(&mut self, chain: &Chain<'_>, element_size: usize) -> Vec<Draft> {
        let mut arrays = Vec::new();
        let mut serializer = None;
        let mut after = Vec::new();
        for codec in &chain.codecs {
            match codec.entry.name {
                TRANSPOSE => arrays.push(Draft::from(codec.entry.node.value)),
                SHARDING => serializer = Some(self.shard(codec, element_size)),
                "bytes" => serializer = Some(bytes(Some(codec), element_size)),
                "packbits" => serializer = Some(bytes(None, element_size)),
                name if CORE.contains(&name) => after.push(object_form(codec)),
                "blosc" => after.push(blosc(codec, element_size)),
                name if is_compressor(name) => {
                    self.replaced.push(name.to_owned());
                    after.push(zstd(Draft::from(SUBSTITUTE_LEVEL)));
                }
                _ => {}
            }
        }
        arrays.push(serializer.unwrap_or_else(|| bytes(None, element_size)));
        arrays.append(&mut after);
        arrays
    }

    fn shard(&mut self, codec: &Codec<'_>, element_size: usize) -> Draft {
        let Some(sharding) = &codec.sharding else {
            return bytes(None, element_size);
        };
        let inner = self.level(&sharding.codecs, element_size);
        let members = codec
            .entry
            .configuration
            .iter()
            .flat_map(|node| node.value.as_object());
        let members = members.flatten().map(|member| {
            let value = match member.name.as_str() {
                "codecs" => Draft::Array(inner.clone()),
                _ => Draft::from(&member.value),
            };
            (member.name.clone(), value)
        });
        let configuration = Draft::object(members);
        configured_by(SHARDING, configuration)
    }
}

/// Whether a codec compresses bytes, as opposed to checking or rearranging them.
fn is_compressor(name: &str) -> bool {
    const COMPRESSORS: [&str; 8] = ["zlib", "gzip", "zstd", "bz2", "lzma", "lz4", "blosc", "lzf"];
    let name = name.strip_prefix("numcodecs.").unwrap_or(name);
    COMPRESSORS.contains(&name)
}

fn configured_by(name: &str, configuration: Draft) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", configuration),
    ])
}

fn configured<const N: usize>(name: &str, members: [(&str, Draft); N]) -> Draft {
    configured_by(name, Draft::object(members))
}

fn zstd(level: Draft) -> Draft {
    configured("zstd", [("level", level), ("checksum", Draft::Bool(false))])
}

/// The codec in the form of an object, which every reader takes.
fn object_form(codec: &Codec<'_>) -> Draft {
    if codec.entry.is_bare() {
        return Draft::object([("name", Draft::string(codec.entry.name))]);
    }
    Draft::from(codec.entry.node.value)
}

/// The `bytes` codec for elements of a size, in the order of bytes that `codec` has.
fn bytes(codec: Option<&Codec<'_>>, element_size: usize) -> Draft {
    if element_size <= 1 {
        return Draft::object([("name", Draft::string("bytes"))]);
    }
    let configuration = codec.and_then(|codec| codec.entry.configuration.as_ref());
    let endian = configuration.and_then(|node| node.value.get("endian"));
    let endian = endian.and_then(Value::as_str).unwrap_or("little");
    configured("bytes", [("endian", Draft::string(endian))])
}

/// Blosc, told the size of what it shuffles now.
fn blosc(codec: &Codec<'_>, element_size: usize) -> Draft {
    let members = codec
        .entry
        .configuration
        .iter()
        .flat_map(|node| node.value.as_object());
    let members = members.flatten().map(|member| {
        let value = match member.name.as_str() {
            "typesize" => Draft::from(element_size as u64),
            _ => Draft::from(&member.value),
        };
        (member.name.clone(), value)
    });
    configured_by("blosc", Draft::object(members))
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
