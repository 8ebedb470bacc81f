//! Whether two documents read the same values from the chunks of a store.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::grid::{Grid, unravel};
use super::listing::Examined;
use super::{PART, stopped};
use crate::catalog::named;
use crate::codecs::{ChunkError, OpenArray};
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::region::{chunk_box, elements, intersection, runs};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// An array as one document reads it.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The directory that the chunks are below.
    pub directory: &'a Path,
    /// The array, opened there with a path of its own that is empty.
    pub array: &'a OpenArray,
}

/// An element that reads differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueDifference {
    /// Its index in the array.
    pub index: Vec<u64>,
    /// What the old document reads.
    pub old: Scalar,
    /// What the new document reads.
    pub new: Scalar,
}

/// How the values of two documents compare. Every element of the array counts once, those of missing chunks with the fills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueComparison {
    /// All elements: the sum of the next three.
    pub elements: u64,
    /// Those that have the same bits.
    pub identical: u64,
    /// Those that are NaN in both with other bits, and so are equal as numbers.
    pub other_nans: u64,
    /// Those whose bits differ and are not NaN in both; zeros of either sign are among them.
    pub differing: u64,
    /// The first that differs: chunks in the order of the grid, elements in the order of their chunk or inner chunk.
    pub first: Option<ValueDifference>,
}

impl ValueComparison {
    /// Whether every value stays as it is; NaN has no bits that count.
    #[must_use]
    pub const fn is_equal(&self) -> bool {
        self.differing == 0
    }

    /// Adds what comes later in the order of chunks.
    fn append(&mut self, later: Self) {
        self.elements = self.elements.saturating_add(later.elements);
        self.identical = self.identical.saturating_add(later.identical);
        self.other_nans = self.other_nans.saturating_add(later.other_nans);
        self.differing = self.differing.saturating_add(later.differing);
        if self.first.is_none() {
            self.first = later.first;
        }
    }
}

/// Decodes every chunk of an array through two documents and compares all values bit by bit. `path` is the array's in messages.
///
/// Chunks that neither document finds are compared by their fills, however many there are.
///
/// # Errors
///
/// Where a chunk cannot be decoded through one of the documents, where these are not of one shape and type, or where the run is
/// interrupted.
pub fn compare_values(
    path: &str,
    old: Reading<'_>,
    new: Reading<'_>,
    pipeline: &Pipeline<'_>,
) -> Result<ValueComparison, Error> {
    let compare = Compare {
        path,
        old: old.array,
        new: new.array,
        data_type: comparable(path, old.array, new.array)?,
    };
    let grid = Arc::new(Grid::of_array(path, old.array)?);
    let listed = |reading: Reading<'_>| {
        let grid = Arc::new(Grid::of_array(path, reading.array)?);
        Examined::list(path, reading.directory, grid, pipeline.interrupt)
    };
    let (in_old, in_new) = (listed(old)?, listed(new)?);
    let stamps = in_old.stamps.iter().chain(&*in_new.stamps);
    let mut stored: Vec<_> = stamps.map(|stamp| stamp.chunk).collect();
    stored.sort_unstable();
    stored.dedup();
    let mut found = ValueComparison::default();
    // The first chunk that differs among those that are stored, with where it stands in the order.
    let mut first = None;
    let done = pipeline.ordered(
        compare.tasks(&stored),
        |_| compare.memory(),
        |(chunk, parts)| (chunk, compare.chunk(&grid.index(chunk), parts)),
        |(chunk, compared)| {
            let compared = compared.map_err(|error| compare.chunk_error(&error))?;
            if first.is_none() && compared.first.is_some() {
                first = Some(chunk);
            }
            found.append(compared);
            Ok(())
        },
    );
    done.map_err(stopped)?;
    compare.missing(&grid, &stored, first, &mut found);
    Ok(found)
}

/// The type of the values, which both documents must agree on, as on shape and chunks.
fn comparable(path: &str, old: &OpenArray, new: &OpenArray) -> Result<DataType, Error> {
    let refused = |what: String| Error::finding(format!("{}: {what}", named(path)));
    if old.shape() != new.shape() || old.chunk_shape() != new.chunk_shape() {
        let shapes = [old.shape(), new.shape()];
        let chunks = [old.chunk_shape(), new.chunk_shape()];
        return Err(refused(format!(
            "the documents do not cut the same array: shapes are {shapes:?}, those of chunks {chunks:?}"
        )));
    }
    match (old.element_type(), new.element_type()) {
        (Some(old), Some(new)) if old == new => Ok(old),
        _ => {
            let (old, new) = (old.data_type(), new.data_type());
            Err(refused(format!(
                "values are compared where both are of one type of real numbers, and one document has {old}, the other {new}"
            )))
        }
    }
}

/// A stretch of elements that lie together, of a piece or of fill.
fn stretch<'p>(
    piece: Option<&'p [u8]>,
    bytes: &Range<usize>,
    fill: &[u8],
    length: usize,
) -> Cow<'p, [u8]> {
    match piece {
        Some(piece) => Cow::Borrowed(&piece[bytes.clone()]),
        None => Cow::Owned(fill.repeat(length)),
    }
}

struct Compare<'a> {
    path: &'a str,
    old: &'a OpenArray,
    new: &'a OpenArray,
    data_type: DataType,
}

impl Compare<'_> {
    /// The lengths of the pieces that both documents let decode one by one.
    fn inner_shape(&self) -> Option<Vec<u64>> {
        let inner = self.old.inner_chunk_shape()?;
        (self.new.inner_chunk_shape()? == inner).then_some(inner)
    }

    /// The number of pieces along each dimension of a chunk; `None` where chunks are compared whole.
    fn pieces(&self) -> Option<Vec<u64>> {
        let inner = self.inner_shape()?;
        let chunk = self.old.chunk_shape();
        Some(chunk.iter().zip(&inner).map(|(c, i)| c / i).collect())
    }

    fn tasks<'s>(
        &self,
        stored: &'s [u64],
    ) -> impl Iterator<Item = (u64, Range<u64>)> + Send + use<'s> {
        let pieces = self.pieces();
        let parts = pieces.map_or(1, |pieces| {
            pieces.iter().copied().fold(1, u64::saturating_mul)
        });
        let each = parts
            .div_ceil(self.old.chunk_bytes().div_ceil(PART).max(1))
            .max(1);
        stored.iter().flat_map(move |chunk| {
            let starts = (0..parts.div_ceil(each)).map(move |n| n * each);
            starts.map(move |start| (*chunk, start..start.saturating_add(each).min(parts)))
        })
    }

    fn memory(&self) -> u64 {
        let needed = |array: &OpenArray| {
            let inner = self.inner_shape().and_then(|_| array.inner_working_bytes());
            let decoded = inner.unwrap_or_else(|| array.working_bytes());
            decoded.saturating_add(decoded / 2)
        };
        needed(self.old).saturating_add(needed(self.new))
    }

    /// Compares some pieces of a chunk, or all of it.
    fn chunk(&self, index: &[u64], parts: Range<u64>) -> Result<ValueComparison, ChunkError> {
        let whole = chunk_box(index, &self.old.chunk_shape());
        let (Some(inner), Some(pieces)) = (self.inner_shape(), self.pieces()) else {
            let old = self.old.decode_chunk(index)?;
            let new = self.new.decode_chunk(index)?;
            return Ok(self.values(&whole, old.as_deref(), new.as_deref()));
        };
        let (old, new) = (self.old.open_shard(index)?, self.new.open_shard(index)?);
        let mut found = ValueComparison::default();
        for n in parts {
            let at = unravel(n, &pieces);
            let piece = chunk_box(&at, &inner).into_iter().zip(&whole);
            let piece: Vec<_> = piece
                .map(|(piece, whole)| {
                    whole.start.saturating_add(piece.start)..whole.start.saturating_add(piece.end)
                })
                .collect();
            if intersection(&piece, &self.all()).is_none() {
                continue;
            }
            let old = old.as_ref().map(|shard| shard.decode_inner_chunk(&at));
            let new = new.as_ref().map(|shard| shard.decode_inner_chunk(&at));
            let (old, new) = (old.transpose()?, new.transpose()?);
            found.append(self.values(&piece, old.as_deref(), new.as_deref()));
        }
        Ok(found)
    }

    fn all(&self) -> Vec<Range<u64>> {
        self.old.shape().iter().map(|length| 0..*length).collect()
    }

    /// Compares what lies inside the array of a piece, of which one or the other may be missing.
    fn values(
        &self,
        piece: &[Range<u64>],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> ValueComparison {
        let mut found = ValueComparison::default();
        let Some(part) = intersection(piece, &self.all()) else {
            return found;
        };
        let size = self.data_type.size();
        let lengths: Vec<_> = piece.iter().map(|range| range.end - range.start).collect();
        runs(&part, piece, piece, |start, _, length| {
            let bytes = start * size..(start + length) * size;
            let (old, new) = (
                stretch(old, &bytes, self.old.fill(), length),
                stretch(new, &bytes, self.new.fill(), length),
            );
            found.elements += length as u64;
            if old == new {
                found.identical += length as u64;
                return;
            }
            let pairs = old.chunks_exact(size).zip(new.chunks_exact(size));
            for (n, (old, new)) in pairs.enumerate() {
                let [old, new] = [old, new].map(|x| Scalar::from_ne_bytes(self.data_type, x));
                if old == new {
                    found.identical += 1;
                } else if old.is_nan() && new.is_nan() {
                    found.other_nans += 1;
                } else {
                    found.differing += 1;
                    found.first.get_or_insert_with(|| {
                        let inside = unravel((start + n) as u64, &lengths);
                        let steps = inside.iter().zip(piece);
                        ValueDifference {
                            index: steps.map(|(at, range)| at + range.start).collect(),
                            old,
                            new,
                        }
                    });
                }
            }
        });
        found
    }

    /// Adds all elements of chunks that nobody has stored, which are the fills.
    fn missing(
        &self,
        grid: &Grid,
        stored: &[u64],
        first: Option<u64>,
        found: &mut ValueComparison,
    ) {
        // Counts beyond 64 bits stay at the largest.
        let all = elements(&self.all()).unwrap_or(u64::MAX);
        let rest = all.saturating_sub(found.elements);
        if rest == 0 {
            return;
        }
        found.elements = all;
        let fill = |array: &OpenArray| Scalar::from_ne_bytes(self.data_type, array.fill());
        let (old, new) = (fill(self.old), fill(self.new));
        if old == new {
            found.identical = found.identical.saturating_add(rest);
        } else if old.is_nan() && new.is_nan() {
            found.other_nans = found.other_nans.saturating_add(rest);
        } else {
            found.differing = found.differing.saturating_add(rest);
            // Stored chunks come in order, so the first place that is not among them is the first number that is not.
            let gap = (0..).zip(stored).take_while(|(n, chunk)| *n == **chunk);
            let gap = gap.count() as u64;
            if first.is_none_or(|first| gap < first) {
                let index = grid.index(gap);
                let origin = chunk_box(&index, &self.old.chunk_shape());
                let index = origin.iter().map(|range| range.start).collect();
                found.first = Some(ValueDifference { index, old, new });
            }
        }
    }

    fn chunk_error(&self, error: &ChunkError) -> Error {
        let kind = error.failure.kind.error_kind();
        Error::new(kind, format!("{}: {error}", named(self.path)))
    }
}
