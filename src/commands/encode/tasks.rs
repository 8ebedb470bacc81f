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

/// Values from which on a shard is written piece by piece, in bytes.
const LARGE_SHARD: u64 = 64 << 20;

/// Values from which on a task that suits both the chunks of INPUT and those of OUTPUT is too large, in bytes.
const LARGE_TASK: u64 = 256 << 20;

/// The tasks of an array.
#[derive(Debug)]
pub(super) struct Tasks {
    shape: Vec<u64>,
    /// The lengths of the chunks of the output's grid.
    chunk: Vec<u64>,
    /// The lengths of the box that a task reads.
    pub(super) span: Vec<u64>,
    /// Whether tasks are pieces of shards, to be written in order.
    pub(super) streamed: bool,
}

/// A box to read, and what to write of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    /// The box, inside the array.
    pub(super) part: Vec<Range<u64>>,
    /// The shard that it is a piece of, where shards are written piece by piece.
    pub(super) shard: Vec<u64>,
}

impl Tasks {
    /// Divides the work on an array whose INPUT is decoded in pieces of the lengths `unit`.
    pub(super) fn new(
        shape: &[u64],
        unit: &[u64],
        element_size: usize,
        encoder: &ChunkEncoder,
    ) -> Self {
        let chunk = encoder.chunk_shape();
        let inner = encoder.inner_chunk_shape();
        Self::divide(shape, unit, element_size, chunk, inner)
    }

    fn divide(
        shape: &[u64],
        unit: &[u64],
        element_size: usize,
        chunk: Vec<u64>,
        inner: Option<Vec<u64>>,
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
        let fits = bytes(&whole) <= LARGE_SHARD || bytes(&whole) <= bytes(unit).saturating_mul(2);
        let (span, streamed) = match inner {
            Some(inner) if !fits => {
                let span = joint(&inner);
                let span = span
                    .iter()
                    .zip(&chunk)
                    .map(|(span, shard)| *span.min(shard));
                (span.collect(), true)
            }
            _ if bytes(&whole) > LARGE_TASK && bytes(&whole) > least.saturating_mul(2) => {
                (chunk.clone(), false)
            }
            _ => (whole, false),
        };
        Self {
            shape: shape.to_vec(),
            chunk,
            span,
            streamed,
        }
    }

    /// The tasks that hold something of the boxes, or all of them. They come in an order that depends on nothing else.
    pub(super) fn list<'a>(
        &'a self,
        encoder: &'a ChunkEncoder,
        existing: Option<Vec<Vec<Range<u64>>>>,
    ) -> (Option<u64>, Box<dyn Iterator<Item = Task> + Send + 'a>) {
        let lengths = if self.streamed {
            &self.chunk
        } else {
            &self.span
        };
        let whole: Vec<_> = self.shape.iter().map(|length| 0..*length).collect();
        let indices: (Option<u64>, Box<dyn Iterator<Item = Vec<u64>> + Send>) = match existing {
            None => {
                let all = covering(&whole, lengths);
                (all.total(), Box::new(all))
            }
            Some(boxes) => {
                let mut touched = BTreeSet::new();
                for part in boxes {
                    if let Some(part) = intersection(&part, &whole) {
                        touched.extend(covering(&part, lengths));
                    }
                }
                (Some(touched.len() as u64), Box::new(touched.into_iter()))
            }
        };
        let (count, indices) = indices;
        let clipped = move |part: &[Range<u64>]| intersection(part, &whole);
        if !self.streamed {
            let tasks = indices.filter_map(move |index| {
                let part = clipped(&chunk_box(&index, &self.span))?;
                let shard = Vec::new();
                Some(Task { part, shard })
            });
            return (count, Box::new(tasks));
        }
        let blocks: Vec<u64> = self
            .chunk
            .iter()
            .zip(&self.span)
            .map(|(shard, span)| shard.div_ceil(*span))
            .collect();
        let single = encoder
            .inner_chunk_shape()
            .is_some_and(|inner| inner == self.span);
        let total = blocks.iter().product::<u64>();
        let count = count.and_then(|count| count.checked_mul(total));
        let tasks = indices.flat_map(move |shard| {
            let blocks: Box<dyn Iterator<Item = Vec<u64>> + Send> = if single {
                // In the order of the shard's index, which is another where dimensions are permuted.
                Box::new((0..total).map(|number| encoder.inner_index(number)))
            } else {
                Box::new(GridIndices::new(&blocks))
            };
            let origin = chunk_box(&shard, &self.chunk);
            let clipped = clipped.clone();
            blocks.filter_map(move |block| {
                let inside = chunk_box(&block, &self.span);
                let part: Vec<_> = inside
                    .iter()
                    .zip(&origin)
                    .map(|(inside, shard)| {
                        let end = shard.start.saturating_add(inside.end).min(shard.end);
                        shard.start.saturating_add(inside.start)..end
                    })
                    .collect();
                let part = clipped(&part)?;
                let shard = shard.clone();
                Some(Task { part, shard })
            })
        });
        (count, Box::new(tasks))
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::single_range_in_vec_init,
        reason = "a box of one dimension is one range"
    )]

    use super::*;

    fn divide(unit: &[u64], chunk: &[u64], inner: Option<&[u64]>) -> (Vec<u64>, bool) {
        let shape = [1 << 20, 1 << 20];
        let tasks = Tasks::divide(&shape, unit, 4, chunk.to_vec(), inner.map(<[_]>::to_vec));
        (tasks.span, tasks.streamed)
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
    fn large_shards_are_written_piece_by_piece() {
        let shard = [8192, 16384];
        let inner: &[u64] = &[512, 512];
        assert_eq!(
            divide(&[512, 512], &shard, Some(inner)),
            (vec![512, 512], true)
        );
        assert_eq!(divide(&[1, 1], &shard, Some(inner)), (vec![512, 512], true));
        // A shard of 16 MiB is not worth it.
        assert_eq!(
            divide(&[512, 512], &[2048, 2048], Some(inner)),
            (vec![2048, 2048], false)
        );
        // Nor one that is decoded in one go anyway.
        assert_eq!(divide(&shard, &shard, Some(inner)), (shard.to_vec(), false));
    }
}
