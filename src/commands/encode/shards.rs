//! Shards: put together in memory where they are small, and written piece by piece where they are not.

use std::ops::Range;

use super::super::rewrite::input::chunk_error;
use super::super::rewrite::output::key;
use super::job::Codes;
use super::plan::Built;
use super::tally::Tally;
use super::write::{Stop, failure, mismatch};
use crate::codecs::{Failure, OpenArray, ShardIndex};
use crate::error::Error;
use crate::region::{chunk_box, intersection};
use crate::store::{StagedObject, Staging, StoreError};

/// A piece of a shard that is ready to be written.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its index in the shard.
    pub(super) inner: Vec<u64>,
    pub(super) encoded: Vec<u8>,
    /// The checksum of what was encoded and has been decoded again.
    pub(super) checksum: u32,
}

/// The box in the array of a piece of a shard.
pub(super) fn piece_box(shard: &[Range<u64>], inner: &[u64], lengths: &[u64]) -> Vec<Range<u64>> {
    let inside = chunk_box(inner, lengths);
    let shifted = inside.into_iter().zip(shard);
    shifted
        .map(|(inside, shard)| {
            shard.start.saturating_add(inside.start)..shard.start.saturating_add(inside.end)
        })
        .collect()
}

impl Built {
    /// A whole shard from the codes of its part of the array; `None` where no piece of it is worth writing.
    pub(super) fn shard(
        &self,
        shard: &[Range<u64>],
        part: &[Range<u64>],
        codes: &Codes,
        write_empty: bool,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let lengths = self.encoder.inner_chunk_shape().unwrap_or_default();
        let pieces: u64 = self.encoder.inner_grid().iter().product();
        let omit = !write_empty && !self.fill_drifts;
        let mut index = self.encoder.shard_index()?;
        let mut bytes = Vec::new();
        for number in 0..pieces {
            let inner = self.encoder.inner_index(number);
            let place = piece_box(shard, &inner, &lengths);
            if intersection(&place, part).is_none() {
                continue;
            }
            let piece = self.expand(&place, part, &codes.codes);
            if omit && super::examine::all_are(self.fill_code, &piece) {
                continue;
            }
            let encoded = self.encoder.encode_inner_chunk(piece, omit)?;
            let at = index.add(&inner, encoded.len() as u64)?;
            put(&mut bytes, at, &encoded);
        }
        if index.is_empty() {
            return Ok(None);
        }
        let (at, encoded) = index.finish()?;
        put(&mut bytes, at, &encoded);
        Ok(Some(bytes))
    }
}

/// Puts a part at its place in a file that is put together in memory.
fn put(bytes: &mut Vec<u8>, at: u64, part: &[u8]) {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let end = at.saturating_add(part.len());
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[at..end].copy_from_slice(part);
}

/// Writes one shard, piece by piece.
pub(super) struct ShardWriter<'a> {
    built: &'a Built,
    staging: &'a Staging,
    /// The path of the array.
    path: &'a str,
    /// Opened on what is written, to read it back.
    reader: Option<&'a OpenArray>,
    open: Option<Open<'a>>,
    /// What was counted on the shard.
    pub(super) tally: Tally,
}

/// A shard of which a piece is written.
struct Open<'a> {
    shard: Vec<u64>,
    index: ShardIndex<'a>,
    object: StagedObject,
    /// Offset, length and checksum of the pieces so far.
    written: Vec<(u64, usize, u32)>,
}

impl<'a> ShardWriter<'a> {
    pub(super) fn new(
        built: &'a Built,
        staging: &'a Staging,
        path: &'a str,
        reader: Option<&'a OpenArray>,
    ) -> Self {
        Self {
            built,
            staging,
            path,
            reader,
            open: None,
            tally: Tally::default(),
        }
    }

    /// Writes the pieces of the shard that come next. Its file is made with the first of them.
    pub(super) fn write(&mut self, shard: &[u64], pieces: Vec<Piece>) -> Result<(), Stop> {
        let broken = |error: Failure| failure(self.path, shard, &error);
        for piece in pieces {
            let open = match &mut self.open {
                Some(open) => open,
                none => {
                    let encoder = &self.built.encoder;
                    let name = key(self.path, &encoder.chunk_key(shard));
                    none.insert(Open {
                        shard: shard.to_vec(),
                        index: encoder.shard_index().map_err(broken)?,
                        object: self.staging.create(&name).map_err(Error::from)?,
                        written: Vec::new(),
                    })
                }
            };
            let length = piece.encoded.len();
            let at = open.index.add(&piece.inner, length as u64);
            let at = at.map_err(broken)?;
            let written = open.object.write_at(&piece.encoded, at);
            written.map_err(Error::from)?;
            open.written.push((at, length, piece.checksum));
        }
        Ok(())
    }

    /// Completes the shard, reads it back, and returns what was counted on it.
    pub(super) fn finish(self) -> Result<Tally, Stop> {
        let mut tally = self.tally;
        let Some(mut open) = self.open else {
            tally.dropped += 1;
            return Ok(tally);
        };
        let (at, index) = open
            .index
            .finish()
            .map_err(|error| failure(self.path, &open.shard, &error))?;
        open.object.write_at(&index, at).map_err(Error::from)?;
        let pieces = open.written.iter().map(|(_, length, _)| *length as u64);
        tally.chunks += 1;
        tally.bytes += pieces.sum::<u64>() + index.len() as u64;
        let Some(reader) = self.reader else {
            open.object.begin_flush();
            return Ok(tally);
        };
        let failed = |error: StoreError| Stop::from(Error::from(error));
        let mut bytes = Vec::new();
        for (at, length, checksum) in &open.written {
            bytes.resize(*length, 0);
            open.object.seek(*at).map_err(failed)?;
            open.object.read_back(&mut bytes).map_err(failed)?;
            if crc32c::crc32c(&bytes) != *checksum {
                return Err(mismatch(self.path, &open.shard).into());
            }
        }
        bytes.resize(index.len(), 0);
        open.object.seek(at).map_err(failed)?;
        open.object.read_back(&mut bytes).map_err(failed)?;
        // That the index leads to the pieces is for the reader to say, who knows nothing of how it was written.
        let opened = reader
            .open_shard(&open.shard)
            .map_err(|error| chunk_error(self.path, &error))?;
        if bytes != index || opened.is_none() {
            return Err(mismatch(self.path, &open.shard).into());
        }
        open.object.begin_flush();
        Ok(tally)
    }
}
