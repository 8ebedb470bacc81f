//! Chunks made of values: chains run in the direction of encoding, and shards put together inner chunk by inner chunk.
//!
//! The codec of zarrs for shards holds the whole shard, decoded and encoded. Here an inner chunk can be encoded by itself, so that
//! a shard of any size is written with the memory of a few inner chunks; the inner chunks stand in a shard in the row-major order
//! of its index, whoever encoded them.

use std::borrow::Cow;
use std::num::NonZeroU64;

use zarrs::array::ArrayBytes;

use super::array::{ArrayDocument, Layout, OpenArray};
use super::build;
use super::chain::{Chain, Reach, Serializer, options, unpermute};
use super::error::{Failure, OpenError};
use super::lower;
use super::region::{advance, take};
use super::register::register_all;
use super::shard::{MISSING, Sharding};

/// Encodes the chunks of an array in which nothing is packed: of its codes, where it is the stored side of a packed one.
///
/// It can be shared between threads; each encoding runs in the thread that asks for it.
#[derive(Debug)]
pub struct ChunkEncoder {
    layout: Layout,
}

/// The index of a shard that is being written.
#[derive(Debug)]
pub struct ShardIndex<'e> {
    encoder: &'e ChunkEncoder,
    /// Offset and length of each inner chunk, in the order of the index.
    entries: Vec<u64>,
    /// Where the next inner chunk goes.
    end: u64,
}

impl ChunkEncoder {
    /// An encoder for the array of a document.
    ///
    /// # Errors
    ///
    /// As for [`OpenArray::open`]; or where a codec of the chain is one that is read and not written.
    pub fn new(document: ArrayDocument<'_, '_>) -> Result<Self, OpenError> {
        register_all();
        let layout = match document {
            ArrayDocument::V3(array) => build::layout(array, "")?,
            ArrayDocument::V2(array) => build::layout_v2(array, "")?,
        };
        Ok(Self { layout })
    }

    /// The key of a chunk below the array's path.
    #[must_use]
    pub fn chunk_key(&self, index: &[u64]) -> String {
        self.layout.keys.key(index)
    }

    /// The lengths of a chunk, or of a shard where there are shards.
    #[must_use]
    pub fn chunk_shape(&self) -> Vec<u64> {
        self.layout.chain.decoded.lengths()
    }

    /// The number of chunks along each dimension.
    #[must_use]
    pub fn grid_shape(&self) -> &[u64] {
        &self.layout.grid_shape
    }

    /// The bytes of an element.
    #[must_use]
    pub const fn element_size(&self) -> usize {
        self.layout.chain.decoded.size
    }

    /// The lengths of the pieces that are encoded by themselves and joined by a [`ShardIndex`]; `None` where chunks are encoded
    /// whole.
    #[must_use]
    pub fn inner_chunk_shape(&self) -> Option<Vec<u64>> {
        let (sharding, order) = self.sharding()?;
        Some(unpermute(&sharding.inner.decoded.lengths(), &order))
    }

    /// The memory that encoding one piece takes beside the piece: a chunk, or an inner chunk where there are shards.
    #[must_use]
    pub fn working_bytes(&self) -> u64 {
        match self.sharding() {
            Some((sharding, _)) => sharding.inner.working_bytes(),
            None => self.layout.chain.working_bytes(),
        }
    }

    /// The index of an inner chunk in its shard, by its number in the order in which shards hold them.
    #[must_use]
    pub fn inner_index(&self, number: u64) -> Vec<u64> {
        let Some((sharding, order)) = self.sharding() else {
            return Vec::new();
        };
        let mut rest = number;
        let mut index: Vec<u64> = sharding
            .grid
            .iter()
            .rev()
            .map(|length| {
                let at = rest % length.max(&1);
                rest /= length.max(&1);
                at
            })
            .collect();
        index.reverse();
        unpermute(&index, &order)
    }

    /// The place of an inner chunk in the order in which shards hold them, by its index; `None` where there is no such one.
    #[must_use]
    pub fn inner_number(&self, inner: &[u64]) -> Option<usize> {
        let (sharding, order) = self.sharding()?;
        let mut number = 0_u64;
        for (axis, length) in order.iter().zip(&sharding.grid) {
            let at = inner.get(*axis).filter(|at| *at < length)?;
            number = number * length + at;
        }
        usize::try_from(number).ok()
    }

    /// The dimensions in the order of the index of a shard, whose last one runs fastest; `None` where chunks are encoded whole.
    #[must_use]
    pub fn shard_order(&self) -> Option<Vec<usize>> {
        self.sharding().map(|(_, order)| order)
    }

    /// The number of inner chunks along each dimension of a shard.
    #[must_use]
    pub fn inner_grid(&self) -> Vec<u64> {
        self.sharding().map_or_else(Vec::new, |(sharding, order)| {
            unpermute(&sharding.grid, &order)
        })
    }

    /// Encodes a chunk: whole, native endian, in C order. `omit` leaves inner chunks out of a shard that are all fill.
    ///
    /// # Errors
    ///
    /// The codec that refuses, and why.
    pub fn encode_chunk(&self, chunk: Vec<u8>, omit: bool) -> Result<Vec<u8>, Failure> {
        self.layout.chain.encode(chunk, omit)
    }

    /// Encodes an inner chunk, of which [`ChunkEncoder::inner_chunk_shape`] is the shape.
    ///
    /// # Errors
    ///
    /// As for [`ChunkEncoder::encode_chunk`]; or where chunks are encoded whole.
    pub fn encode_inner_chunk(&self, piece: Vec<u8>, omit: bool) -> Result<Vec<u8>, Failure> {
        let Some((sharding, order)) = self.sharding() else {
            return Err(Failure::unsound("the chunk does not come in pieces"));
        };
        let shape = unpermute(&sharding.inner.decoded.shape, &order);
        let piece = self.layout.chain.encode_arrays(piece, Some(&shape))?;
        sharding.inner.encode(piece, omit)
    }

    /// The index of a new shard.
    ///
    /// # Errors
    ///
    /// Where chunks are encoded whole.
    pub fn shard_index(&self) -> Result<ShardIndex<'_>, Failure> {
        let Some((sharding, _)) = self.sharding() else {
            return Err(Failure::unsound("the chunk does not come in pieces"));
        };
        let entries = sharding.grid.iter().product::<u64>();
        let entries = usize::try_from(entries).unwrap_or(usize::MAX);
        Ok(ShardIndex {
            encoder: self,
            entries: vec![MISSING; entries.saturating_mul(2)],
            end: if sharding.index_first {
                sharding.index_bytes
            } else {
                0
            },
        })
    }

    /// As [`OpenArray::inner_chunk_shape`] has it: shards whose pieces can be written by themselves.
    fn sharding(&self) -> Option<(&Sharding, Vec<usize>)> {
        let chain = &self.layout.chain;
        match &chain.serializer {
            Serializer::Sharding(sharding) if chain.bytes.is_empty() => {
                Some((sharding, chain.order()?))
            }
            _ => None,
        }
    }
}

impl ShardIndex<'_> {
    /// Notes that an encoded inner chunk of so many bytes comes next, and returns where it begins in the shard.
    ///
    /// # Errors
    ///
    /// Where the shard has no such inner chunk.
    pub fn add(&mut self, inner: &[u64], length: u64) -> Result<u64, Failure> {
        let offset = self.end;
        let number = self.encoder.inner_number(inner);
        let entry = number.and_then(|n| self.entries.get_mut(2 * n..2 * n + 2));
        let entry = entry.ok_or_else(|| {
            Failure::unsound(format!(
                "no inner chunk {inner:?} in the shard that is written"
            ))
        })?;
        entry.copy_from_slice(&[offset, length]);
        self.end += length;
        Ok(offset)
    }

    /// Whether no inner chunk was added: then there is no shard.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.iter().all(|number| *number == MISSING)
    }

    /// The place of the index in the shard, and its bytes, which complete the shard.
    ///
    /// # Errors
    ///
    /// The codec that refuses, and why.
    pub fn finish(self) -> Result<(u64, Vec<u8>), Failure> {
        let Some((sharding, _)) = self.encoder.sharding() else {
            return Err(Failure::unsound("the chunk does not come in pieces"));
        };
        let bytes = sharding.encode_index(&self.entries)?;
        let start = if sharding.index_first { 0 } else { self.end };
        Ok((start, bytes))
    }
}

impl OpenArray {
    /// Decodes an inner chunk that is in memory, as [`super::Shard::decode_inner_chunk`] does with one in its shard.
    ///
    /// # Errors
    ///
    /// Where chunks are decoded whole, or the bytes are not sound.
    pub fn decode_inner_bytes(&self, encoded: &[u8]) -> Result<Vec<u8>, Failure> {
        let Some((sharding, _)) = self.sharding() else {
            return Err(Failure::unsound("the chunk does not come in pieces"));
        };
        let piece = sharding.inner.decode(Cow::Borrowed(encoded))?;
        let shape: &[NonZeroU64] = &sharding.inner.decoded.shape;
        self.chain().decode_arrays(piece, Some(shape))
    }
}

impl Chain {
    /// Encodes a chunk. `omit` leaves inner chunks out that are all fill.
    fn encode(&self, array: Vec<u8>, omit: bool) -> Result<Vec<u8>, Failure> {
        let array = self.encode_arrays(array, None)?;
        let mut bytes = match &self.serializer {
            Serializer::Plain {
                name,
                codec,
                decoded,
                ..
            } => {
                let fill = decoded.fill_or_zeros();
                let array = ArrayBytes::from(array);
                let encoded =
                    codec.encode(array, &decoded.shape, &decoded.data_type, &fill, &options());
                encoded
                    .map(Cow::into_owned)
                    .map_err(|error| Failure::unsound(error).in_codec(name))?
            }
            Serializer::Sharding(sharding) => sharding.encode(&array, omit)?,
        };
        for stage in &self.bytes {
            let encoded = stage.codec.encode(Cow::Owned(bytes), &options());
            bytes = encoded
                .map(Cow::into_owned)
                .map_err(|error| Failure::unsound(error).in_codec(&stage.name))?;
        }
        Ok(bytes)
    }

    /// Runs the codecs that work on arrays on a whole chunk, or on a piece of it, whose shape before encoding is given.
    fn encode_arrays(
        &self,
        array: Vec<u8>,
        piece: Option<&[NonZeroU64]>,
    ) -> Result<Vec<u8>, Failure> {
        let mut array = array;
        let mut piece = piece.map(<[_]>::to_vec);
        for stage in &self.arrays {
            let shape = piece.as_deref().unwrap_or(&stage.decoded.shape);
            let fill = stage.decoded.fill_or_zeros();
            let bytes = ArrayBytes::from(array);
            let encoded =
                stage
                    .codec
                    .encode(bytes, shape, &stage.decoded.data_type, &fill, &options());
            let encoded = encoded.and_then(|array| Ok(array.into_fixed()?.into_owned()));
            array = encoded.map_err(|error| Failure::unsound(error).in_codec(&stage.name))?;
            if let (Some(shape), Reach::Permutation(order)) = (&mut piece, &stage.reach) {
                *shape = order.iter().map(|axis| shape[*axis]).collect();
            }
        }
        Ok(array)
    }
}

impl Sharding {
    /// Encodes a whole shard.
    fn encode(&self, shard: &[u8], omit: bool) -> Result<Vec<u8>, Failure> {
        let shape = self.shard.lengths();
        let inner = self.inner.decoded.lengths();
        let size = self.shard.size;
        let fill = self.shard.fill.as_ref().ok().filter(|_| omit);
        let index_bytes = usize::try_from(self.index_bytes).unwrap_or(usize::MAX);
        let mut encoded = Vec::new();
        if self.index_first {
            encoded.resize(index_bytes, 0);
        }
        let mut entries = Vec::new();
        let mut at = vec![0; self.grid.len()];
        for _ in 0..self.grid.iter().product() {
            let origin: Vec<_> = at.iter().zip(&inner).map(|(at, n)| at * n).collect();
            let piece = take(shard, &shape, &inner, &origin, size);
            let is_fill = fill.is_some_and(|fill| {
                piece
                    .chunks_exact(size)
                    .all(|element| element == fill.as_ne_bytes())
            });
            if is_fill {
                entries.extend([MISSING, MISSING]);
            } else {
                let piece = self
                    .inner
                    .encode(piece, omit)
                    .map_err(|failure| failure.in_inner_chunk(&at))?;
                entries.extend([encoded.len() as u64, piece.len() as u64]);
                encoded.extend(piece);
            }
            advance(&mut at, &self.grid);
        }
        let index = self.encode_index(&entries)?;
        if self.index_first {
            encoded[..index_bytes].copy_from_slice(&index);
        } else {
            encoded.extend(index);
        }
        Ok(encoded)
    }

    fn encode_index(&self, entries: &[u64]) -> Result<Vec<u8>, Failure> {
        let numbers = entries.iter().flat_map(|number| number.to_ne_bytes());
        let encoded = self.index.encode(numbers.collect(), false)?;
        if encoded.len() as u64 == self.index_bytes {
            return Ok(encoded);
        }
        let (found, due) = (encoded.len(), self.index_bytes);
        Err(Failure::unsound(format!(
            "an index of {found} bytes where {due} are due"
        )))
    }
}

/// Whether chunks can be written with the codec from bytes to bytes that is called `name` and has this configuration.
pub(super) fn is_written(name: &str, configuration: &serde_json::Value) -> bool {
    register_all();
    lower::is_decoded(name) && super::bytes::is_written_with(name, configuration)
}
