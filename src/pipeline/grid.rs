//! The indices of a grid of chunks, one after the other.

use std::num::NonZeroU64;
use std::ops::Range;

/// The indices of a grid, or of a box in it, in row-major order. Holds one index, however many there are.
#[derive(Debug, Clone)]
pub struct GridIndices {
    ranges: Vec<Range<u64>>,
    next: Option<Vec<u64>>,
}

impl GridIndices {
    /// All indices of a grid of the given shape. Without dimensions, there is one: the empty index.
    #[must_use]
    pub fn new(shape: &[u64]) -> Self {
        Self::within(shape.iter().map(|&length| 0..length).collect())
    }

    /// The indices in a box.
    #[must_use]
    pub fn within(ranges: Vec<Range<u64>>) -> Self {
        let empty = ranges.iter().any(Range::is_empty);
        let next = (!empty).then(|| ranges.iter().map(|range| range.start).collect());
        Self { ranges, next }
    }

    /// The indices of the chunks of a regular grid that hold elements of a region. The shorter of the two lists tells
    /// how many dimensions there are.
    #[must_use]
    pub fn covering(region: &[Range<u64>], chunk_shape: &[NonZeroU64]) -> Self {
        let dimensions = region.iter().zip(chunk_shape);
        Self::within(
            dimensions
                .map(|(range, &length)| {
                    if range.is_empty() {
                        0..0
                    } else {
                        range.start / length..(range.end - 1) / length + 1
                    }
                })
                .collect(),
        )
    }

    /// How many indices there are in all, those already taken included; `None` if that is beyond 64 bits.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        if self.ranges.iter().any(Range::is_empty) {
            return Some(0);
        }
        self.ranges.iter().try_fold(1_u64, |total, range| {
            total.checked_mul(range.end - range.start)
        })
    }
}

impl Iterator for GridIndices {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let current = self.next.take()?;
        let mut following = current.clone();
        for (index, range) in following.iter_mut().zip(&self.ranges).rev() {
            *index += 1;
            if *index < range.end {
                self.next = Some(following);
                break;
            }
            *index = range.start;
        }
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk_shape(lengths: &[u64]) -> Vec<NonZeroU64> {
        lengths
            .iter()
            .map(|&length| NonZeroU64::new(length).unwrap())
            .collect()
    }

    #[test]
    fn the_last_dimension_runs_fastest() {
        let indices: Vec<_> = GridIndices::new(&[2, 3]).collect();
        assert_eq!(indices, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
    }

    #[test]
    fn a_scalar_has_one_chunk_and_an_empty_grid_none() {
        assert_eq!(
            GridIndices::new(&[]).collect::<Vec<_>>(),
            [Vec::<u64>::new()]
        );
        assert_eq!(GridIndices::new(&[]).total(), Some(1));
        assert_eq!(GridIndices::new(&[3, 0, 2]).count(), 0);
        assert_eq!(GridIndices::new(&[u64::MAX, u64::MAX, 0]).total(), Some(0));
    }

    #[test]
    fn a_region_is_covered_by_the_chunks_that_it_touches() {
        let covering = |region: &[Range<u64>], shape: &[u64]| {
            GridIndices::covering(region, &chunk_shape(shape)).collect::<Vec<_>>()
        };
        assert_eq!(covering(&[9..11, 4..5], &[10, 5]), [[0, 0], [1, 0]]);
        assert_eq!(covering(&[10..20, 5..10], &[10, 5]), [[1, 1]]);
        assert_eq!(covering(&[0..10, 5..5], &[10, 5]), [[0; 2]; 0]);
        let end = u64::MAX;
        assert_eq!(covering(&[end - 1..end, 0..1], &[1, 1]), [[end - 1, 0]]);
    }

    #[test]
    fn grids_beyond_all_memory_are_iterated() {
        let shape = vec![1 << 40; 1000];
        let grid = GridIndices::new(&shape);
        assert_eq!(grid.total(), None);
        let third = grid.clone().nth(2).unwrap();
        assert_eq!(third[998..], [0, 2]);
        assert_eq!(GridIndices::new(&[1 << 20, 1 << 20]).total(), Some(1 << 40));
    }
}
