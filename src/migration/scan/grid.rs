//! The chunks of an array by their place in the grid: keys, indices, and one number for each.

use crate::catalog::named;
use crate::codecs::{ChunkKeys, OpenArray};
use crate::error::Error;
use crate::metadata::v3::{self, ChunkGrid};

/// A regular grid of chunks with their keys.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    keys: ChunkKeys,
    shape: Vec<u64>,
    total: u64,
}

impl Grid {
    /// The grid of an array, whose keys are those below its own directory.
    pub(super) fn of(path: &str, array: &v3::Array<'_>) -> Result<Self, Error> {
        let refused = |what: String| Error::finding(format!("{}: zarr.json, {what}", named(path)));
        let ChunkGrid::Regular { chunk_shape, .. } = &array.chunk_grid else {
            return Err(refused(
                "/chunk_grid: chunks are found in regular grids only".to_owned(),
            ));
        };
        let keys = ChunkKeys::new("", array.chunk_keys.encoding).ok_or_else(|| {
            let name = array.chunk_keys.entry.name;
            refused(format!(
                "/chunk_key_encoding: the encoding {name:?}, which is not known"
            ))
        })?;
        let lengths = array.shape.value.iter().zip(&chunk_shape.value);
        // A chunk of length 0 along a dimension of length 0 has been written.
        let shape: Vec<_> = lengths
            .map(|(length, chunk)| length.div_ceil((*chunk).max(1)))
            .collect();
        Self::new(path, keys, shape)
    }

    /// The grid of an array that is open, with an empty path.
    pub(super) fn of_array(path: &str, array: &OpenArray) -> Result<Self, Error> {
        Self::new(
            path,
            array.chunk_keys().clone(),
            array.grid_shape().to_vec(),
        )
    }

    fn new(path: &str, keys: ChunkKeys, shape: Vec<u64>) -> Result<Self, Error> {
        let total = if shape.contains(&0) {
            Some(0)
        } else {
            shape.iter().copied().try_fold(1, u64::checked_mul)
        };
        let total = total.ok_or_else(|| {
            Error::finding(format!(
                "{}: the grid has more than 2^64 chunks, and nobody can tell which of them are missing",
                named(path)
            ))
        })?;
        Ok(Self { keys, shape, total })
    }

    /// How many chunks there are, stored or not.
    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// The place of the chunk that has a key, in row-major order; `None` for what is no key of a chunk in the grid.
    pub(super) fn place(&self, key: &str) -> Option<u64> {
        let index = self.keys.index(key, self.shape.len())?;
        let mut place = 0;
        for (at, length) in index.iter().zip(&self.shape) {
            if at >= length {
                return None;
            }
            // Below the total, which has 64 bits.
            place = place * length + at;
        }
        (self.total > 0).then_some(place)
    }

    /// Whether the keys of chunks in the grid lead through a directory of this name.
    pub(super) fn has_chunks_below(&self, name: &str) -> bool {
        self.keys.has_chunks_below(name, &self.shape)
    }

    /// The index of the chunk at a place.
    pub(super) fn index(&self, place: u64) -> Vec<u64> {
        unravel(place, &self.shape)
    }

    /// The key of the chunk at a place.
    pub(super) fn key(&self, place: u64) -> String {
        self.keys.key(&self.index(place))
    }
}

/// The index at a place of a box of these lengths, in row-major order.
pub(super) fn unravel(place: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = place;
    let mut index = vec![0; shape.len()];
    for (at, length) in index.iter_mut().zip(shape).rev() {
        *at = rest % (*length).max(1);
        rest /= (*length).max(1);
    }
    index
}
