//! What is stored of a chunk, and nothing else: the pieces of shards at any depth, without those that were never written.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::ops::Range;

use zarrs::storage::StoreKey;
use zarrs::storage::byte_range::ByteRange;

use super::array::OpenArray;
use super::chain::{Chain, Serializer, unpermute};
use super::error::{ChunkError, Failure};
use super::region::{advance, index_at};
use super::shard::{Sharding, slice};

/// What is missing in the shards of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// The inner chunks that are missing. A shard that is missing in a shard counts once.
    pub missing: u64,
    /// How many of these are among the decoded elements, as fill, since a codec before the shard mixes elements.
    pub filled: u64,
}

/// Takes a piece of a chunk: its box there, and its elements.
pub type TakePiece<'t> = dyn FnMut(&[Range<u64>], &[u8]) + 't;

/// Takes a decoded piece of any chain: its elements, where it begins and its lengths.
type Take<'t> = dyn FnMut(Vec<u8>, Vec<u64>, Vec<NonZeroU64>) -> Result<(), Failure> + 't;

impl OpenArray {
    /// Whether chunks are shards, so that parts of them can be missing.
    #[must_use]
    pub fn has_shards(&self) -> bool {
        matches!(self.chain().serializer, Serializer::Sharding(_))
    }

    /// In how many parts a chunk can be asked for of [`OpenArray::stored_pieces`]: the inner chunks of a shard, or 1.
    #[must_use]
    pub fn parts(&self) -> u64 {
        match piecewise(self.chain()) {
            Some((sharding, _)) if self.chain().bytes.is_empty() => entries(sharding),
            _ => 1,
        }
    }

    /// Decodes some parts of a chunk, native endian and in C order, as far as they are stored, piece by piece: the whole chunk,
    /// or the innermost chunks of shards. `take` is given the box of each in the chunk, beyond the edge of the array included.
    /// `None` where the chunk is missing.
    ///
    /// # Errors
    ///
    /// As for [`OpenArray::decode_chunk`].
    pub fn stored_pieces(
        &self,
        index: &[u64],
        parts: Range<u64>,
        take: &mut TakePiece<'_>,
    ) -> Result<Option<Gaps>, ChunkError> {
        let mut hand_on = |piece: Vec<u8>, origin: Vec<u64>, shape: Vec<NonZeroU64>| {
            let ranges = origin.iter().zip(&shape);
            let ranges: Vec<_> = ranges
                .map(|(&start, length)| start..start.saturating_add(length.get()))
                .collect();
            take(&ranges, &piece);
            Ok(())
        };
        if !self.has_shards() {
            let Some(chunk) = self.decode_chunk(index)? else {
                return Ok(None);
            };
            let shape = self.chain().decoded.shape.clone();
            let taken = hand_on(chunk, vec![0; shape.len()], shape);
            taken.map_err(|failure| self.error(index, failure))?;
            return Ok(Some(Gaps::default()));
        }
        let walked = self.store_key(index).and_then(|key| {
            let Some(source) = self.source(&key)? else {
                return Ok(None);
            };
            let mut walk = Walk {
                array: self,
                gaps: Gaps::default(),
            };
            // What comes in one part comes whole.
            let parts = (self.parts() > 1).then_some(parts);
            walk.pieces(self.chain(), source, parts, &mut hand_on)?;
            Ok(Some(walk.gaps))
        });
        walked.map_err(|failure| self.error(index, failure))
    }

    /// Counts what is missing in the shards of a chunk, of which it reads the indexes; whole shards only where they are
    /// compressed as such. `None` where the chunk is missing.
    ///
    /// # Errors
    ///
    /// A [`ChunkError`] where an index cannot be read or is not sound.
    pub fn gaps(&self, index: &[u64]) -> Result<Option<Gaps>, ChunkError> {
        let counted = self.store_key(index).and_then(|key| {
            let Some(source) = self.source(&key)? else {
                return Ok(None);
            };
            let gaps = Gaps::default();
            let walk = Walk { array: self, gaps };
            let missing = walk.missing(self.chain(), source)?;
            Ok(Some(Gaps { missing, ..gaps }))
        });
        counted.map_err(|failure| self.error(index, failure))
    }

    fn source<'k>(&self, key: &'k StoreKey) -> Result<Option<Source<'k>>, Failure> {
        let length = self.size(key)?;
        Ok(length.map(|length| Source::Object {
            key,
            start: 0,
            length,
        }))
    }
}

/// The shard that a chain ends in and how its dimensions lie there, if pieces can be decoded by themselves.
fn piecewise(chain: &Chain) -> Option<(&Sharding, Vec<usize>)> {
    match &chain.serializer {
        Serializer::Sharding(sharding) => Some((sharding, chain.order()?)),
        Serializer::Plain { .. } => None,
    }
}

/// The number of entries in the index of a shard. The index has a size, so they are not beyond counting.
fn entries(sharding: &Sharding) -> u64 {
    sharding.grid.iter().copied().fold(1, u64::saturating_mul)
}

/// Where bytes come from.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// A part of an object in the store.
    Object {
        key: &'a StoreKey,
        start: u64,
        length: u64,
    },
    Memory(&'a [u8]),
}

impl<'a> Source<'a> {
    const fn length(&self) -> u64 {
        match self {
            Self::Object { length, .. } => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// A part, whose bounds were checked against the length.
    fn part(&self, offset: u64, length: u64) -> Result<Self, Failure> {
        Ok(match self {
            Self::Object { key, start, .. } => Self::Object {
                key,
                start: start.saturating_add(offset),
                length,
            },
            Self::Memory(bytes) => Self::Memory(slice(bytes, offset, length)?),
        })
    }

    fn read(&self, array: &OpenArray, what: &str) -> Result<Cow<'a, [u8]>, Failure> {
        match self {
            Self::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::Object { key, start, length } => {
                array.check_memory(*length, what)?;
                let range = ByteRange::FromStart(*start, Some(*length));
                let bytes = array.read_range(key, range)?;
                let bytes = bytes.ok_or_else(|| Failure::unreadable("the chunk has gone away"))?;
                Ok(Cow::Owned(Vec::from(bytes)))
            }
        }
    }
}

/// The way through a chunk.
struct Walk<'a> {
    array: &'a OpenArray,
    gaps: Gaps,
}

impl Walk<'_> {
    /// Hands on the pieces of what one chain has encoded, of all of it or of some entries of its shard.
    fn pieces(
        &mut self,
        chain: &Chain,
        source: Source<'_>,
        parts: Option<Range<u64>>,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        let Some((sharding, order)) = piecewise(chain) else {
            let whole = self.whole(chain, source)?;
            let shape = chain.decoded.shape.clone();
            return take(whole, vec![0; shape.len()], shape);
        };
        if !chain.bytes.is_empty() {
            let shard = self.unpack(chain, source)?;
            return self.entries(chain, sharding, &order, Source::Memory(&shard), parts, take);
        }
        self.entries(chain, sharding, &order, source, parts, take)
    }

    /// Hands on the pieces of the inner chunks of a shard.
    fn entries(
        &mut self,
        chain: &Chain,
        sharding: &Sharding,
        order: &[usize],
        shard: Source<'_>,
        parts: Option<Range<u64>>,
        take: &mut Take<'_>,
    ) -> Result<(), Failure> {
        let index = self.index(sharding, shard)?;
        let inner = sharding.inner.decoded.lengths();
        let all = 0..entries(sharding);
        let parts = parts.map_or(all.clone(), |parts| parts.start..parts.end.min(all.end));
        let mut at = index_at(parts.start, &sharding.grid);
        for n in parts {
            let place = unpermute(&at, order);
            let range = entry(&index, n, shard);
            match range.map_err(|failure| failure.in_inner_chunk(&place))? {
                None => self.gaps.missing += 1,
                Some((offset, length)) => {
                    let mut hand_on = |piece, origin: Vec<u64>, shape: Vec<NonZeroU64>| {
                        let piece = chain.decode_arrays(piece, Some(&shape))?;
                        let steps = at.iter().zip(&inner).zip(origin);
                        let origin: Vec<_> =
                            steps.map(|((at, inner), from)| at * inner + from).collect();
                        take(piece, unpermute(&origin, order), unpermute(&shape, order))
                    };
                    let part = shard.part(offset, length);
                    part.and_then(|part| self.pieces(&sharding.inner, part, None, &mut hand_on))
                        .map_err(|failure| failure.in_inner_chunk(&place))?;
                }
            }
            advance(&mut at, &sharding.grid);
        }
        Ok(())
    }

    /// Decodes what comes in one piece: a chunk, or a shard behind codecs that mix elements.
    fn whole(&mut self, chain: &Chain, source: Source<'_>) -> Result<Vec<u8>, Failure> {
        self.array
            .check_memory(chain.working_bytes(), "decoding a chunk takes memory")?;
        let Serializer::Sharding(sharding) = &chain.serializer else {
            return chain.decode(source.read(self.array, "a stored chunk")?);
        };
        let shard = self.unpack(chain, source)?;
        let missing = self.missing_in(sharding, Source::Memory(&shard))?;
        self.gaps.missing += missing;
        self.gaps.filled += missing;
        chain.decode_arrays(sharding.decode(&shard)?, None)
    }

    fn unpack<'s>(&self, chain: &Chain, source: Source<'s>) -> Result<Cow<'s, [u8]>, Failure> {
        chain.decode_bytes(source.read(self.array, "a stored shard")?)
    }

    /// Counts the inner chunks that are missing in what a chain has encoded.
    fn missing(&self, chain: &Chain, source: Source<'_>) -> Result<u64, Failure> {
        let Serializer::Sharding(sharding) = &chain.serializer else {
            return Ok(0);
        };
        if chain.bytes.is_empty() {
            return self.missing_in(sharding, source);
        }
        let shard = self.unpack(chain, source)?;
        self.missing_in(sharding, Source::Memory(&shard))
    }

    fn missing_in(&self, sharding: &Sharding, shard: Source<'_>) -> Result<u64, Failure> {
        let index = self.index(sharding, shard)?;
        let nested = matches!(sharding.inner.serializer, Serializer::Sharding(_));
        let mut missing = 0;
        for n in 0..entries(sharding) {
            let counted = match entry(&index, n, shard) {
                Ok(None) => Ok(1),
                Ok(Some((offset, length))) if nested => shard
                    .part(offset, length)
                    .and_then(|part| self.missing(&sharding.inner, part)),
                Ok(Some(_)) => Ok(0),
                Err(failure) => Err(failure),
            };
            missing +=
                counted.map_err(|failure| failure.in_inner_chunk(&index_at(n, &sharding.grid)))?;
        }
        Ok(missing)
    }

    fn index(
        &self,
        sharding: &Sharding,
        shard: Source<'_>,
    ) -> Result<super::shard::Index, Failure> {
        let start = sharding.index_start(shard.length())?;
        self.array.check_memory(
            sharding.index_bytes.saturating_mul(2),
            "the index of a shard",
        )?;
        let part = shard.part(start, sharding.index_bytes)?;
        let encoded = part.read(self.array, "the index of a shard")?;
        let index = sharding.decode_index(&encoded);
        index.map_err(|failure| failure.in_codec("the index of the shard"))
    }
}

/// Where an inner chunk is in its shard; `None` where it is missing.
fn entry(
    index: &super::shard::Index,
    n: u64,
    shard: Source<'_>,
) -> Result<Option<(u64, u64)>, Failure> {
    // As many entries are in memory.
    index.range(usize::try_from(n).unwrap_or(usize::MAX / 4), shard.length())
}
