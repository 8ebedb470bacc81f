//! How the work on an array is divided: into tasks that read a box once and write whole chunks, or pieces of a shard.
//!
//! The division depends on shapes alone, never on memory or threads, since the order of the pieces in a shard and the sums of
//! errors follow it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::codecs::ChunkEncoder;
use crate::pieces::covering;
use crate::pipeline::GridIndices;
use crate::region::{chunk_box, intersection};

/// Values up to which a shard is put together in memory from a box that was read in one go, in bytes.
const LARGE_SHARD: u64 = 64 << 20;

/// Values from which on a task that suits both the chunks of INPUT and those of OUTPUT is too large, in bytes.
const LARGE_TASK: u64 = 256 << 20;

/// Values that are worth a task, in bytes: small pieces of shards are worked on several at once.
const WORTH_A_TASK: u64 = 1 << 20;

/// The tasks of an array.
#[derive(Debug)]
pub(super) struct Tasks {
    shape: Vec<u64>,
    /// The lengths of the chunks of the output's grid.
    chunk: Vec<u64>,
    /// The lengths of the box that a task reads.
    pub(super) span: Vec<u64>,
    /// Whether chunks are shards of which a task makes a block of pieces.
    pub(super) in_blocks: bool,
    /// The order of the dimensions in the index of a shard.
    order: Vec<usize>,
}

/// A box to read, and what to write of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// The box, inside the array.
    pub(super) part: Vec<Range<u64>>,
    /// The shard that it is a block of, where shards are made block by block.
    pub(super) shard: Vec<u64>,
}

/// Indices of chunks or of boxes, and how many there are, if that can be told.
pub(super) type Counted<'a, T> = (Option<u64>, Box<dyn Iterator<Item = T> + Send + 'a>);

impl Tasks {
    /// Divides the work on an array whose INPUT is decoded in pieces of the lengths `unit`.
    pub(super) fn new(
        shape: &[u64],
        unit: &[u64],
        element_size: usize,
        encoder: &ChunkEncoder,
    ) -> Self {
        let chunk = encoder.chunk_shape();
        let order = encoder.shard_order().unwrap_or_default();
        let inner = encoder.inner_chunk_shape().map(|inner| (inner, order));
        Self::divide(shape, unit, element_size, chunk, inner)
    }

    fn divide(
        shape: &[u64],
        unit: &[u64],
        element_size: usize,
        chunk: Vec<u64>,
        inner: Option<(Vec<u64>, Vec<usize>)>,
    ) -> Self {
        let bytes = |lengths: &[u64]| {
            let lengths = lengths
                .iter()
                .zip(shape)
                .map(|(length, whole)| *length.min(whole));
            lengths.fold(element_size as u64, u64::saturating_mul)
        };
        // The least multiple of the pieces of OUTPUT that is no smaller than those of INPUT.
        let joint = |piece: &[u64]| -> Vec<u64> {
            let lengths = piece.iter().zip(unit);
            lengths
                .map(|(piece, unit)| piece.saturating_mul(unit.div_ceil(*piece)))
                .collect()
        };
        let whole = joint(&chunk);
        let least = bytes(unit).max(bytes(&chunk));
        let small = bytes(&whole) <= LARGE_SHARD || bytes(&whole) <= bytes(unit).saturating_mul(2);
        let blocks = inner.and_then(|(inner, order)| {
            let block = joint(&inner).into_iter().zip(&chunk);
            let block: Vec<u64> = block.map(|(block, shard)| block.min(*shard)).collect();
            // Whether no piece of INPUT is decoded for two blocks.
            let apart = block
                .iter()
                .zip(unit)
                .zip(&chunk)
                .all(|((block, unit), shard)| block % unit == 0 || block == shard);
            let suits = whole == chunk && apart;
            (suits || !small).then(|| (widened(block, &chunk, &order, bytes), order))
        });
        let (span, order) = match blocks {
            Some((block, order)) => (block, Some(order)),
            None if bytes(&whole) > LARGE_TASK && bytes(&whole) > least.saturating_mul(2) => {
                (chunk.clone(), None)
            }
            None => (whole, None),
        };
        Self {
            shape: shape.to_vec(),
            chunk,
            span,
            in_blocks: order.is_some(),
            order: order.unwrap_or_default(),
        }
    }

    /// The tasks that hold something of the boxes, or all of them. They come in an order that depends on nothing else.
    pub(super) fn list(&self, existing: Option<Vec<Vec<Range<u64>>>>) -> Counted<'_, Task> {
        if self.in_blocks {
            let (count, shards) = self.shards(existing);
            let count = count.and_then(|count| count.checked_mul(self.blocks_of_a_shard()));
            return (
                count,
                Box::new(shards.flat_map(|shard| self.blocks_of(&shard))),
            );
        }
        let (count, indices) = self.touched(existing, &self.span);
        let tasks = indices.filter_map(|index| {
            let part = self.inside(&chunk_box(&index, &self.span))?;
            let shard = Vec::new();
            Some(Task { part, shard })
        });
        (count, Box::new(tasks))
    }

    /// The shards that hold something of the boxes, or all of them.
    pub(super) fn shards(&self, existing: Option<Vec<Vec<Range<u64>>>>) -> Counted<'_, Vec<u64>> {
        self.touched(existing, &self.chunk)
    }

    /// The tasks that make one shard, in the order of its index.
    pub(super) fn blocks_of(&self, shard: &[u64]) -> impl Iterator<Item = Task> + Send + use<'_> {
        let shard = shard.to_vec();
        let origin = chunk_box(&shard, &self.chunk);
        let counts = self.block_counts();
        let counts: Vec<u64> = self.order.iter().map(|axis| counts[*axis]).collect();
        GridIndices::new(&counts).filter_map(move |ordered| {
            let mut part = origin.clone();
            for (axis, block) in self.order.iter().zip(&ordered) {
                let span = self.span[*axis];
                let range = &mut part[*axis];
                let start = range.start.saturating_add(block.saturating_mul(span));
                *range = start..start.saturating_add(span).min(range.end);
            }
            let part = self.inside(&part)?;
            let shard = shard.clone();
            Some(Task { part, shard })
        })
    }

    /// The number of blocks of a shard along each dimension.
    fn block_counts(&self) -> Vec<u64> {
        let lengths = self.chunk.iter().zip(&self.span);
        lengths.map(|(shard, span)| shard.div_ceil(*span)).collect()
    }

    fn blocks_of_a_shard(&self) -> u64 {
        let counts = self.block_counts().into_iter();
        counts.fold(1, u64::saturating_mul)
    }

    /// The indices of the boxes of these lengths that hold something of the boxes, or all that are in the array.
    fn touched<'a>(
        &'a self,
        boxes: Option<Vec<Vec<Range<u64>>>>,
        lengths: &[u64],
    ) -> Counted<'a, Vec<u64>> {
        let whole: Vec<_> = self.shape.iter().map(|length| 0..*length).collect();
        let Some(boxes) = boxes else {
            let all = covering(&whole, lengths);
            return (all.total(), Box::new(all));
        };
        let mut touched = BTreeSet::new();
        for part in boxes {
            if let Some(part) = intersection(&part, &whole) {
                touched.extend(covering(&part, lengths));
            }
        }
        (Some(touched.len() as u64), Box::new(touched.into_iter()))
    }

    /// The part of a box that is in the array.
    fn inside(&self, part: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
        let whole: Vec<_> = self.shape.iter().map(|length| 0..*length).collect();
        intersection(part, &whole)
    }
}

/// A block of pieces of a shard that is worth a task: widened along the dimensions that run fastest in the index, so that blocks
/// follow each other as their pieces do.
fn widened(
    mut block: Vec<u64>,
    shard: &[u64],
    order: &[usize],
    bytes: impl Fn(&[u64]) -> u64,
) -> Vec<u64> {
    for axis in order.iter().rev() {
        let factor = WORTH_A_TASK.div_ceil(bytes(&block).max(1));
        if factor <= 1 {
            break;
        }
        let wider = block[*axis].saturating_mul(factor);
        block[*axis] = wider.min(shard[*axis]);
        if block[*axis] < shard[*axis] {
            break;
        }
    }
    block
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::single_range_in_vec_init,
        reason = "a box of one dimension is one range"
    )]

    use super::*;

    fn tasks(unit: &[u64], chunk: &[u64], inner: Option<&[u64]>, order: [usize; 2]) -> Tasks {
        let shape = [1 << 20, 1 << 20];
        let inner = inner.map(|inner| (inner.to_vec(), order.to_vec()));
        Tasks::divide(&shape, unit, 4, chunk.to_vec(), inner)
    }

    fn divide(unit: &[u64], chunk: &[u64], inner: Option<&[u64]>) -> (Vec<u64>, bool) {
        let tasks = tasks(unit, chunk, inner, [0, 1]);
        (tasks.span, tasks.in_blocks)
    }

    #[test]
    fn equal_chunks_are_tasks() {
        assert_eq!(
            divide(&[512, 512], &[512, 512], None),
            (vec![512, 512], false)
        );
    }

    #[test]
    fn no_chunk_of_input_is_decoded_for_every_small_chunk_of_output() {
        assert_eq!(
            divide(&[512, 512], &[100, 512], None),
            (vec![600, 512], false)
        );
    }

    #[test]
    fn chunks_that_lie_crosswise_do_not_fill_the_memory() {
        let (span, _) = divide(&[1 << 20, 8], &[8, 1 << 20], None);
        assert_eq!(span, [8, 1 << 20]);
    }

    #[test]
    fn shards_are_made_piece_by_piece() {
        let inner: &[u64] = &[512, 512];
        for shard in [[8192, 16384], [2048, 2048]] {
            assert_eq!(
                divide(&[512, 512], &shard, Some(inner)),
                (vec![512, 512], true)
            );
            assert_eq!(divide(&[1, 1], &shard, Some(inner)), (vec![512, 512], true));
            // One that is decoded in one go is made in one go.
            assert_eq!(divide(&shard, &shard, Some(inner)), (shard.to_vec(), true));
        }
    }

    #[test]
    fn no_piece_of_input_is_decoded_twice_for_small_shards() {
        let inner: &[u64] = &[512, 512];
        // Pieces of 300 begin within blocks of 512: a shard of 16 MiB is read in one go.
        assert_eq!(
            divide(&[300, 512], &[2048, 2048], Some(inner)),
            (vec![2048, 2048], false)
        );
        // Two shards have a piece of INPUT in common.
        assert_eq!(
            divide(&[4096, 512], &[2048, 2048], Some(inner)),
            (vec![4096, 2048], false)
        );
    }

    #[test]
    fn small_pieces_are_worked_on_several_at_once_in_the_order_of_the_index() {
        let inner: &[u64] = &[16, 16];
        let shard = [1024, 1024];
        let tasks_of = |order| tasks(&[16, 16], &shard, Some(inner), order);
        assert_eq!(tasks_of([0, 1]).span, [256, 1024]);
        assert_eq!(tasks_of([1, 0]).span, [1024, 256]);
        for order in [[0, 1], [1, 0]] {
            let tasks = tasks(&[16, 16], &[40960, 40960], Some(inner), order);
            let parts: Vec<_> = tasks.blocks_of(&[1, 2]).map(|task| task.part).collect();
            // A block spans a part of the dimension that runs fastest, and all blocks cover the shard.
            let [slow, fast] = order;
            assert_eq!(
                parts[0][slow],
                [1, 2][slow] * 40960..[1, 2][slow] * 40960 + 16
            );
            assert_eq!(parts[1][slow], parts[0][slow]);
            assert_eq!(parts[1][fast].start, parts[0][fast].end);
            let elements: u64 = parts
                .iter()
                .map(|part| crate::region::elements(part).unwrap())
                .sum();
            assert_eq!(elements, 40960 * 40960);
        }
    }
}
