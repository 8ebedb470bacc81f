//! Decoded values, piece by piece: whole chunks, or the inner chunks of a shard, cut to what is wanted.

use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;

use crate::codecs::{ChunkError, OpenArray};
use crate::pipeline::GridIndices;
use crate::region::{chunk_box, intersection, runs};
use crate::store::{Object, Objects, StoreError};

/// The values of one piece of an array.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// The elements of the piece in row-major order, native endian.
    Data(&'a [u8]),
    /// One element: every element of the piece is the fill.
    Fill(&'a [u8]),
}

impl Values<'_> {
    /// Calls `run` for the bytes of each stretch that lies together in `whole`, which holds elements of `size` bytes in
    /// row-major order, with the offset there in bytes.
    ///
    /// # Errors
    ///
    /// The first error that `run` returns.
    pub fn scatter<E>(
        self,
        piece: &[Range<u64>],
        whole: &[Range<u64>],
        size: usize,
        mut run: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(part) = intersection(piece, whole) else {
            return Ok(());
        };
        let mut result = Ok(());
        let mut filled = Vec::new();
        runs(&part, piece, whole, |from, to, length| {
            if result.is_err() {
                return;
            }
            result = match self {
                Values::Data(data) => run(to * size, &data[from * size..(from + length) * size]),
                Values::Fill(fill) => {
                    if filled.len() != length * size {
                        filled = fill.repeat(length);
                    }
                    run(to * size, &filled)
                }
            };
        });
        result
    }
}

/// Hands the pieces of one chunk that hold something wanted to `take`, each with its box in the array; boxes may reach
/// beyond the edge of the array.
///
/// # Errors
///
/// Where the chunk cannot be decoded, and whatever `take` returns.
pub fn chunk_pieces<E: From<ChunkError>>(
    array: &OpenArray,
    index: &[u64],
    wanted: &[Range<u64>],
    mut take: impl FnMut(&[Range<u64>], Values<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let chunk = chunk_box(index, &array.chunk_shape());
    let Some(inner_shape) = array.inner_chunk_shape() else {
        return match array.decode_chunk(index)? {
            Some(data) => take(&chunk, Values::Data(&data)),
            None => take(&chunk, Values::Fill(array.fill())),
        };
    };
    let Some(shard) = array.open_shard(index)? else {
        return take(&chunk, Values::Fill(array.fill()));
    };
    let Some(inside) = intersection(&chunk, wanted) else {
        return Ok(());
    };
    let origin: Vec<u64> = chunk.iter().map(|range| range.start).collect();
    let inside: Vec<_> = inside
        .iter()
        .zip(&origin)
        .map(|(range, origin)| range.start - origin..range.end - origin)
        .collect();
    for inner in covering(&inside, &inner_shape) {
        let data = shard.decode_inner_chunk(&inner)?;
        let piece = chunk_box(&inner, &inner_shape);
        let shifted = piece.into_iter().zip(&origin);
        let piece: Vec<_> = shifted
            .map(|(range, origin)| range.start + origin..range.end + origin)
            .collect();
        take(&piece, Values::Data(&data))?;
    }
    Ok(())
}

/// The indices of the chunks of these lengths, none of which is 0, that hold elements of a region.
#[must_use]
pub fn covering(region: &[Range<u64>], chunk_shape: &[u64]) -> GridIndices {
    let lengths: Vec<_> = chunk_shape
        .iter()
        .copied()
        .filter_map(NonZeroU64::new)
        .collect();
    GridIndices::covering(region, &lengths)
}

/// Reads a box of an array into a buffer of its size, in row-major order.
///
/// # Errors
///
/// Where one of its chunks cannot be decoded.
pub fn read_box(
    array: &OpenArray,
    wanted: &[Range<u64>],
    into: &mut [u8],
) -> Result<(), ChunkError> {
    let size = array.element_size();
    for index in covering(wanted, &array.chunk_shape()) {
        chunk_pieces(array, &index, wanted, |piece, values| {
            values.scatter(piece, wanted, size, |at, bytes| {
                into[at..at + bytes.len()].copy_from_slice(bytes);
                Ok::<(), ChunkError>(())
            })
        })?;
    }
    Ok(())
}

/// The memory that decoding one chunk takes, or one inner chunk where there are shards, what is read of the store included.
#[must_use]
pub fn working_bytes(array: &OpenArray) -> u64 {
    let decoded = array
        .inner_working_bytes()
        .unwrap_or_else(|| array.working_bytes());
    // What is stored is rarely larger than the codes, and those are rarely wider than half of what is decoded.
    decoded.saturating_add(decoded / 2)
}

/// The indices of the chunks of an array that are stored, in row-major order: by the files that are there, since a grid may
/// have more chunks than any machine could ask for.
///
/// # Errors
///
/// As for [`stored_lengths`].
pub fn stored_chunks(array: &OpenArray, directory: &Path) -> Result<Vec<Vec<u64>>, StoreError> {
    let chunks = stored_lengths(array, directory)?.into_iter();
    Ok(chunks.map(|(index, _)| index).collect())
}

/// The indices of the chunks of an array that are stored, in row-major order, each with the bytes that it takes.
///
/// # Errors
///
/// Where a directory cannot be listed, and as for [`stored_chunk`].
pub fn stored_lengths(
    array: &OpenArray,
    directory: &Path,
) -> Result<Vec<(Vec<u64>, u64)>, StoreError> {
    let mut chunks = Vec::new();
    for object in Objects::below(directory).with_directories() {
        let object = object?;
        if let Some(index) = stored_chunk(array, &object)? {
            chunks.push((index, object.length));
        }
    }
    chunks.sort_unstable();
    Ok(chunks)
}

/// The index of the chunk that an object below the directory of an array is, if it is one.
///
/// # Errors
///
/// Where it is a directory in the place of a chunk, or a file in that of a directory of chunks: such chunks are not missing, but
/// nobody can read them.
pub fn stored_chunk(array: &OpenArray, object: &Object) -> Result<Option<Vec<u64>>, StoreError> {
    let index = array.chunk_index(&object.key);
    let (keys, grid) = (array.chunk_keys(), array.grid_shape());
    if object.is_directory && index.is_some() {
        return Err(StoreError::DirectoryForChunk(object.path.clone()));
    }
    if !object.is_directory && keys.has_chunks_below(&object.key, grid) {
        return Err(StoreError::FileForChunks(object.path.clone()));
    }
    Ok(index)
}
