//! Shards: inner chunks with an index, as `sharding_indexed` stores them.
//!
//! The codec of zarrs trusts the index: sums in it overflow, and what they point to is sliced unchecked. It also decodes a
//! shard in one piece, and asks for the encoded fill whether or not an inner chunk is missing. So shards are read here.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

use zarrs::storage::StoreKey;
use zarrs::storage::byte_range::ByteRange;

use super::array::OpenArray;
use super::chain::{Chain, unpermute};
use super::error::{ChunkError, Failure};
use super::region::{advance, place};
use super::representation::Representation;

/// What the index has for an inner chunk that is missing.
pub(super) const MISSING: u64 = u64::MAX;

/// The `sharding_indexed` codec of a chain.
#[derive(Debug)]
pub(super) struct Sharding {
    /// What decoding gives: the whole shard.
    pub(super) shard: Representation,
    /// The chain of the inner chunks.
    pub(super) inner: Chain,
    /// The chain of the index.
    pub(super) index: Chain,
    /// The bytes of the encoded index.
    pub(super) index_bytes: u64,
    /// Whether the index stands before the inner chunks.
    pub(super) index_first: bool,
    /// The number of inner chunks along each dimension.
    pub(super) grid: Vec<u64>,
}

/// Where the inner chunks of a shard are.
#[derive(Debug)]
pub(super) struct Index(Vec<u64>);

impl Index {
    /// The bytes of inner chunk number `n`; `None` where it is missing.
    pub(super) fn range(&self, n: usize, shard_bytes: u64) -> Result<Option<(u64, u64)>, Failure> {
        let (offset, length) = match self.0.get(2 * n..2 * n + 2) {
            Some(&[MISSING, MISSING]) => return Ok(None),
            Some(&[offset, length]) => (offset, length),
            _ => return Err(Failure::unsound("the index of the shard is too short")),
        };
        match offset.checked_add(length) {
            Some(end) if end <= shard_bytes => Ok(Some((offset, length))),
            _ => Err(Failure::unsound(format!(
                "the index of the shard points to {length} bytes at {offset}, beyond the {shard_bytes} bytes of the shard"
            ))),
        }
    }
}

/// The indices of the shards that were opened last: each with the key of its shard, and the length that the shard had.
#[derive(Debug, Default)]
pub(super) struct RecentIndices(Mutex<VecDeque<(StoreKey, u64, Arc<Index>)>>);

impl RecentIndices {
    /// How many are kept: those of neighbours along a few dimensions.
    const KEPT: usize = 8;

    /// The bytes that they take at most; the last one is kept in any case.
    const BYTES: usize = 32 << 20;

    fn find(&self, key: &StoreKey, bytes: u64) -> Option<Arc<Index>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept
            .iter()
            .find(|(known, length, _)| known == key && *length == bytes);
        found.map(|(_, _, index)| Arc::clone(index))
    }

    fn keep(&self, key: &StoreKey, bytes: u64, index: &Arc<Index>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _, _)| known != key);
        kept.push_front((key.clone(), bytes, Arc::clone(index)));
        let mut room = Self::BYTES;
        let mut fitting = 0;
        for (_, _, index) in kept.iter().take(Self::KEPT) {
            let size = size_of_val(index.0.as_slice());
            if fitting > 0 && size > room {
                break;
            }
            room = room.saturating_sub(size);
            fitting += 1;
        }
        kept.truncate(fitting);
    }
}

impl Sharding {
    /// The place of the index in a shard.
    pub(super) fn index_start(&self, shard_bytes: u64) -> Result<u64, Failure> {
        let Some(start) = shard_bytes.checked_sub(self.index_bytes) else {
            let needed = self.index_bytes;
            return Err(Failure::unsound(format!(
                "a shard of {shard_bytes} bytes is too short for its index of {needed} bytes"
            )));
        };
        Ok(if self.index_first { 0 } else { start })
    }

    /// The bytes that a shard takes at most, for codecs that compress whole shards. Those have no gaps where inner chunks were
    /// replaced, so twice the elements are room enough.
    pub(super) fn encoded_bound(&self) -> u64 {
        let inner = self
            .shard
            .bytes
            .saturating_mul(2)
            .saturating_add(self.index_bytes);
        inner.saturating_add(1 << 16)
    }

    pub(super) fn decode_index(&self, encoded: &[u8]) -> Result<Index, Failure> {
        let bytes = self.index.decode(Cow::Borrowed(encoded))?;
        let (numbers, _) = bytes.as_chunks::<8>();
        Ok(Index(
            numbers
                .iter()
                .map(|number| u64::from_ne_bytes(*number))
                .collect(),
        ))
    }

    /// Decodes a shard that is in memory.
    pub(super) fn decode(&self, shard: &[u8]) -> Result<Vec<u8>, Failure> {
        let shard_bytes = shard.len() as u64;
        let start = self.index_start(shard_bytes)?;
        let index = self.decode_index(slice(shard, start, self.index_bytes)?)?;
        let shape = self.shard.lengths();
        let inner = self.inner.decoded.lengths();
        let mut decoded = zeros(self.shard.bytes)?;
        let mut at = vec![0; self.grid.len()];
        let mut fill = None;
        for n in 0..index.0.len() / 2 {
            let origin: Vec<_> = at
                .iter()
                .zip(&inner)
                .map(|(at, length)| at * length)
                .collect();
            let range = index
                .range(n, shard_bytes)
                .map_err(|failure| failure.in_inner_chunk(&at))?;
            let piece = match range {
                Some((offset, length)) => {
                    let encoded = Cow::Borrowed(slice(shard, offset, length)?);
                    let piece = self.inner.decode(encoded);
                    Cow::Owned(piece.map_err(|failure| failure.in_inner_chunk(&at))?)
                }
                None => {
                    if fill.is_none() {
                        fill = Some(
                            self.filled()
                                .map_err(|failure| failure.in_inner_chunk(&at))?,
                        );
                    }
                    Cow::Borrowed(fill.as_deref().unwrap_or_default())
                }
            };
            place(
                &piece,
                &inner,
                &mut decoded,
                &shape,
                &origin,
                self.shard.size,
            );
            advance(&mut at, &self.grid);
        }
        Ok(decoded)
    }

    /// An inner chunk that is missing: all fill, as it stands at this place of the chain.
    fn filled(&self) -> Result<Vec<u8>, Failure> {
        let fill = self.shard.fill.as_ref().map_err(|reason| {
            Failure::unsound(format!(
                "it is missing, and there is no fill to put there: {reason}"
            ))
        })?;
        let length = usize::try_from(self.inner.decoded.bytes).unwrap_or(usize::MAX);
        let elements = length / self.shard.size;
        Ok(fill.as_ne_bytes().repeat(elements))
    }
}

/// A part of a shard whose bounds were checked against its length.
pub(super) fn slice(shard: &[u8], offset: u64, length: u64) -> Result<&[u8], Failure> {
    let range = usize::try_from(offset)
        .ok()
        .zip(usize::try_from(length).ok());
    let part = range.and_then(|(offset, length)| shard.get(offset..offset.checked_add(length)?));
    part.ok_or_else(|| Failure::unsound(format!("no {length} bytes at {offset} in the shard")))
}

/// Room for a decoded shard, asked for in a way that can be refused.
fn zeros(bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut room = Vec::new();
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    room.try_reserve_exact(length)
        .map_err(|_| Failure::too_large(bytes, 0, "the memory at hand does not hold a shard"))?;
    room.resize(length, 0);
    Ok(room)
}

/// A shard in its store, of which inner chunks are decoded one by one.
///
/// Inner chunks are those of the outermost sharding; where shards hold shards, each piece is a whole inner shard.
#[derive(Debug)]
pub struct Shard<'a> {
    array: &'a OpenArray,
    sharding: &'a Sharding,
    /// Dimension `n` of the shard as it is stored is dimension `order[n]` of the chunk.
    order: Vec<usize>,
    chunk: Vec<u64>,
    key: StoreKey,
    bytes: u64,
    index: Arc<Index>,
}

impl<'a> Shard<'a> {
    /// Reads the index of a shard.
    pub(super) fn open(
        array: &'a OpenArray,
        sharding: &'a Sharding,
        order: Vec<usize>,
        chunk: &[u64],
    ) -> Result<Option<Self>, ChunkError> {
        let opened = array.store_key(chunk).and_then(|key| {
            let Some(bytes) = array.size(&key)? else {
                return Ok(None);
            };
            if let Some(index) = array
                .indices
                .as_ref()
                .and_then(|kept| kept.find(&key, bytes))
            {
                return Ok(Some((key, bytes, index)));
            }
            let start = sharding.index_start(bytes)?;
            array.check_memory(
                sharding.index_bytes.saturating_mul(2),
                "the index of a shard",
            )?;
            let range = ByteRange::FromStart(start, Some(sharding.index_bytes));
            let Some(encoded) = array.read_range(&key, range)? else {
                return Ok(None);
            };
            let index = sharding
                .decode_index(&encoded)
                .map_err(|failure| failure.in_codec("the index of the shard"))?;
            let index = Arc::new(index);
            if let Some(kept) = &array.indices {
                kept.keep(&key, bytes, &index);
            }
            Ok(Some((key, bytes, index)))
        });
        let opened = opened.map_err(|failure| array.error(chunk, failure))?;
        Ok(opened.map(|(key, bytes, index)| Self {
            array,
            sharding,
            order,
            chunk: chunk.to_vec(),
            key,
            bytes,
            index,
        }))
    }

    /// The number of inner chunks along each dimension of the chunk.
    #[must_use]
    pub fn grid(&self) -> Vec<u64> {
        unpermute(&self.sharding.grid, &self.order)
    }

    /// The lengths of an inner chunk, along the dimensions of the chunk.
    #[must_use]
    pub fn inner_shape(&self) -> Vec<u64> {
        unpermute(&self.sharding.inner.decoded.lengths(), &self.order)
    }

    /// Whether an inner chunk is missing, so that it is read as fill.
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where the index points beyond the shard.
    pub fn is_missing(&self, inner: &[u64]) -> Result<bool, ChunkError> {
        let range = self
            .range(inner)
            .map_err(|failure| self.error(inner, failure))?;
        Ok(range.is_none())
    }

    /// Decodes one inner chunk, native endian and in C order; a missing one is all fill.
    ///
    /// The fill of a missing inner chunk is not always that of the array: see [`OpenArray::fill`].
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where the inner chunk cannot be read, or its bytes are not sound.
    pub fn decode_inner_chunk(&self, inner: &[u64]) -> Result<Vec<u8>, ChunkError> {
        let piece = self.decode(inner);
        piece.map_err(|failure| self.error(inner, failure))
    }

    fn decode(&self, inner: &[u64]) -> Result<Vec<u8>, Failure> {
        let chain = &self.sharding.inner;
        self.array.check_memory(
            chain.working_bytes(),
            "decoding an inner chunk takes memory",
        )?;
        let piece = match self.range(inner)? {
            None => self.sharding.filled()?,
            Some((offset, length)) => {
                self.array.check_memory(length, "a stored inner chunk")?;
                let range = ByteRange::FromStart(offset, Some(length));
                let encoded = self.array.read_range(&self.key, range)?;
                let encoded =
                    encoded.ok_or_else(|| Failure::unreadable("the shard has gone away"))?;
                chain.decode(Cow::Owned(encoded.to_vec()))?
            }
        };
        let shape: &[NonZeroU64] = &chain.decoded.shape;
        self.array.chain().decode_arrays(piece, Some(shape))
    }

    /// The bytes of an inner chunk, by its index along the dimensions of the chunk.
    fn range(&self, inner: &[u64]) -> Result<Option<(u64, u64)>, Failure> {
        let outside = || {
            Failure::unsound(format!(
                "no inner chunk {inner:?} in a shard of {:?}",
                self.grid()
            ))
        };
        if inner.len() != self.order.len() {
            return Err(outside());
        }
        let mut n = 0_usize;
        for (axis, length) in self.order.iter().zip(&self.sharding.grid) {
            let at = inner[*axis];
            if at >= *length {
                return Err(outside());
            }
            // The index of as many entries is in memory.
            let (at, length) = (usize::try_from(at).ok(), usize::try_from(*length).ok());
            let (at, length) = at.zip(length).ok_or_else(outside)?;
            n = n * length + at;
        }
        self.index.range(n, self.bytes)
    }

    fn error(&self, inner: &[u64], failure: Failure) -> ChunkError {
        self.array.error(&self.chunk, failure.in_inner_chunk(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> StoreKey {
        StoreKey::new(format!("c/{n}")).unwrap()
    }

    #[test]
    fn indices_are_found_again_unless_the_shard_has_another_length() {
        let kept = RecentIndices::default();
        kept.keep(&key(0), 100, &Arc::new(Index(vec![0, 4])));
        assert_eq!(kept.find(&key(0), 100).unwrap().0, [0, 4]);
        assert!(kept.find(&key(0), 101).is_none());
        assert!(kept.find(&key(1), 100).is_none());
        kept.keep(&key(0), 101, &Arc::new(Index(vec![4, 4])));
        assert_eq!(kept.find(&key(0), 101).unwrap().0, [4, 4]);
        assert!(kept.find(&key(0), 100).is_none());
    }

    #[test]
    fn few_indices_are_kept_and_only_one_that_is_large() {
        let kept = RecentIndices::default();
        for n in 0..10 {
            kept.keep(&key(n), 1, &Arc::new(Index(vec![0, 1])));
        }
        assert_eq!(kept.0.lock().unwrap().len(), RecentIndices::KEPT);
        assert!(kept.find(&key(1), 1).is_none() && kept.find(&key(9), 1).is_some());
        let large = Arc::new(Index(vec![0; RecentIndices::BYTES / 8 + 2]));
        kept.keep(&key(10), 1, &large);
        assert_eq!(kept.0.lock().unwrap().len(), 1);
        assert!(kept.find(&key(10), 1).is_some());
        kept.keep(&key(11), 1, &Arc::new(Index(vec![0, 1])));
        assert!(kept.find(&key(10), 1).is_none() && kept.find(&key(11), 1).is_some());
    }
}
