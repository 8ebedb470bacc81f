//! Boxes of an array: the part that `--region` asks for, pieces of it that lie together in the output, and copying between
//! boxes.

use std::ops::Range;

/// What `--region` asks for along one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// `START:STOP`, either of which may be left out.
    Slice(Option<i128>, Option<i128>),
    /// One index, which takes the dimension away.
    Index(i128),
}

/// A region as the user writes it: `0:10,:,5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionSpec {
    parts: Vec<Part>,
}

/// Why a text is no region, or none of an array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// Not the form of a region.
    #[error("{0:?} is neither an index nor START:STOP")]
    Form(String),
    /// The wrong number of dimensions.
    #[error("the region has {given} dimensions, the array {rank}")]
    Rank {
        /// Those of the region.
        given: usize,
        /// Those of the array.
        rank: usize,
    },
    /// An index beyond the array.
    #[error("{index} is out of bounds for dimension {dimension}, whose length is {length}")]
    Bounds {
        /// The index as it was given.
        index: i128,
        /// The dimension, from 0.
        dimension: usize,
        /// Its length.
        length: u64,
    },
}

/// A part of an array: a range along every dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The ranges.
    pub ranges: Vec<Range<u64>>,
    /// The lengths that the result has: those of the ranges, without the dimensions that an index takes away.
    pub shape: Vec<u64>,
}

impl std::str::FromStr for RegionSpec {
    type Err = RegionError;

    fn from_str(text: &str) -> Result<Self, RegionError> {
        let number = |text: &str| {
            let parsed = text.parse::<i64>().map(i128::from);
            parsed.map_err(|_| RegionError::Form(text.to_owned()))
        };
        let optional = |text: &str| match text {
            "" => Ok(None),
            text => number(text).map(Some),
        };
        let part = |text: &str| {
            let text = text.trim();
            match text.split_once(':') {
                Some((start, stop)) => {
                    Ok(Part::Slice(optional(start.trim())?, optional(stop.trim())?))
                }
                None => Ok(Part::Index(number(text)?)),
            }
        };
        // The region of an array without dimensions is empty.
        if text.trim().is_empty() {
            return Ok(Self { parts: Vec::new() });
        }
        let parts = text.split(',').map(part).collect::<Result<_, _>>()?;
        Ok(Self { parts })
    }
}

impl RegionSpec {
    /// The region of an array of this shape. Negative numbers count from the end, and slices are cut to the array, as in
    /// NumPy.
    ///
    /// # Errors
    ///
    /// Where the dimensions do not agree, or an index is out of bounds.
    pub fn resolve(&self, shape: &[u64]) -> Result<Region, RegionError> {
        if self.parts.len() != shape.len() {
            return Err(RegionError::Rank {
                given: self.parts.len(),
                rank: shape.len(),
            });
        }
        let mut region = Region {
            ranges: Vec::new(),
            shape: Vec::new(),
        };
        for (dimension, (part, &length)) in self.parts.iter().zip(shape).enumerate() {
            let from_start = |index: i128| {
                if index < 0 {
                    index + i128::from(length)
                } else {
                    index
                }
            };
            let cut = |index: i128| {
                let inside = from_start(index).clamp(0, i128::from(length));
                u64::try_from(inside).unwrap_or(length)
            };
            match *part {
                Part::Slice(start, stop) => {
                    let start = start.map_or(0, cut);
                    let stop = stop.map_or(length, cut).max(start);
                    region.ranges.push(start..stop);
                    region.shape.push(stop - start);
                }
                Part::Index(index) => {
                    let bounds = RegionError::Bounds {
                        index,
                        dimension,
                        length,
                    };
                    let inside = u64::try_from(from_start(index))
                        .ok()
                        .filter(|i| *i < length);
                    let inside = inside.ok_or(bounds)?;
                    region.ranges.push(inside..inside + 1);
                }
            }
        }
        Ok(region)
    }
}

impl Region {
    /// All of an array.
    #[must_use]
    pub fn all(shape: &[u64]) -> Self {
        Self {
            ranges: shape.iter().map(|&length| 0..length).collect(),
            shape: shape.to_vec(),
        }
    }
}

/// The elements in a box; `None` beyond 64 bits.
#[must_use]
pub fn elements(ranges: &[Range<u64>]) -> Option<u64> {
    if ranges.iter().any(Range::is_empty) {
        return Some(0);
    }
    let mut lengths = ranges.iter().map(|range| range.end - range.start);
    lengths.try_fold(1_u64, u64::checked_mul)
}

/// Boxes that make up a region, in row-major order, each without a gap in the row-major order of the region.
///
/// A box holds at most `limit` elements (at least one), and ends where a chunk does, where the limit allows that, so that
/// as few chunks as possible are in two boxes.
#[derive(Clone, Debug)]
pub struct Boxes {
    /// Boxes that are still to be cut or handed out, the next one last.
    stack: Vec<Vec<Range<u64>>>,
    chunk_shape: Vec<u64>,
    limit: u64,
}

impl Boxes {
    /// Cuts a region.
    #[must_use]
    pub fn new(region: &Region, chunk_shape: &[u64], limit: u64) -> Self {
        let empty = region.ranges.iter().any(Range::is_empty);
        Self {
            stack: if empty {
                Vec::new()
            } else {
                vec![region.ranges.clone()]
            },
            chunk_shape: chunk_shape.to_vec(),
            limit: limit.max(1),
        }
    }

    /// Cuts a box that is too large in two: along its first dimension that can be cut, at the end of a chunk if one is inside.
    fn cut(&self, whole: &[Range<u64>]) -> Option<[Vec<Range<u64>>; 2]> {
        let dimension = whole.iter().position(|range| range.end - range.start > 1)?;
        let range = &whole[dimension];
        let chunk = self.chunk_shape.get(dimension).copied().unwrap_or(1).max(1);
        let rest = elements(&whole[dimension + 1..]);
        // As many rows as the limit allows, down to the end of a chunk if that leaves any.
        let rows = rest.map_or(1, |rest| (self.limit / rest.max(1)).max(1));
        let most = range.start.saturating_add(rows).min(range.end - 1);
        let aligned = most / chunk * chunk;
        let chunk_end = (range.start / chunk + 1).saturating_mul(chunk);
        let at = if aligned > range.start {
            aligned
        } else if rows == 1 && rest.is_none_or(|rest| rest > self.limit) {
            // Not even a row fits: it is cut along the next dimensions, which begins with a single row.
            range.start + 1
        } else {
            most.min(chunk_end).max(range.start + 1)
        };
        let (mut first, mut second) = (whole.to_vec(), whole.to_vec());
        first[dimension].end = at;
        second[dimension].start = at;
        Some([first, second])
    }
}

impl Iterator for Boxes {
    type Item = Vec<Range<u64>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let whole = self.stack.pop()?;
            if elements(&whole).is_some_and(|n| n <= self.limit) {
                return Some(whole);
            }
            match self.cut(&whole) {
                Some([first, second]) => {
                    self.stack.push(second);
                    self.stack.push(first);
                }
                None => return Some(whole),
            }
        }
    }
}

/// What two boxes have in common; `None` if that is nothing.
#[must_use]
pub fn intersection(a: &[Range<u64>], b: &[Range<u64>]) -> Option<Vec<Range<u64>>> {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| {
            let range = a.start.max(b.start)..a.end.min(b.end);
            (!range.is_empty()).then_some(range)
        })
        .collect()
}

/// Calls `run` for every stretch of elements of `part` that lies together in row-major order both in `from` and in `to`:
/// with its offset in each, in elements, and its length. `part` is inside both.
pub fn runs(
    part: &[Range<u64>],
    from: &[Range<u64>],
    to: &[Range<u64>],
    mut run: impl FnMut(usize, usize, usize),
) {
    let length =
        |range: &Range<u64>| usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    if part.iter().any(Range::is_empty) {
        return;
    }
    // Dimensions that are whole in both boxes join the stretch; the first that is not ends it.
    let mut together = 1;
    let mut outer = part.len();
    while outer > 0 {
        let dimension = outer - 1;
        together *= length(&part[dimension]);
        outer = dimension;
        if part[dimension] != from[dimension] || part[dimension] != to[dimension] {
            break;
        }
    }
    let strides = |whole: &[Range<u64>]| {
        let mut strides = vec![1; whole.len()];
        for n in (1..whole.len()).rev() {
            strides[n - 1] = strides[n] * length(&whole[n]);
        }
        strides
    };
    let (from_strides, to_strides) = (strides(from), strides(to));
    let offset = |index: &[u64], whole: &[Range<u64>], strides: &[usize]| -> usize {
        let places = index.iter().zip(whole).zip(strides);
        places
            .map(|((index, range), stride)| length(&(range.start..*index)) * stride)
            .sum()
    };
    let mut index: Vec<u64> = part.iter().map(|range| range.start).collect();
    loop {
        run(
            offset(&index, from, &from_strides),
            offset(&index, to, &to_strides),
            together,
        );
        let mut dimension = outer;
        loop {
            if dimension == 0 {
                return;
            }
            dimension -= 1;
            index[dimension] += 1;
            if index[dimension] < part[dimension].end {
                break;
            }
            index[dimension] = part[dimension].start;
        }
    }
}

/// The place of the first element of `part` in the row-major order of `whole`, which it is inside of.
#[must_use]
pub fn offset(part: &[Range<u64>], whole: &[Range<u64>]) -> u64 {
    let dimensions = part.iter().zip(whole);
    dimensions.fold(0, |offset: u64, (part, whole)| {
        let length = whole.end.saturating_sub(whole.start);
        let inside = part.start.saturating_sub(whole.start);
        offset.saturating_mul(length).saturating_add(inside)
    })
}

/// The box of a chunk: where it lies in the array, what is beyond the edge included.
#[must_use]
pub fn chunk_box(index: &[u64], chunk_shape: &[u64]) -> Vec<Range<u64>> {
    let dimensions = index.iter().zip(chunk_shape);
    dimensions
        .map(|(&index, &length)| {
            let start = index.saturating_mul(length);
            start..start.saturating_add(length)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::single_range_in_vec_init,
        reason = "a region of one dimension is one range"
    )]

    use super::*;

    fn region(text: &str, shape: &[u64]) -> Result<Region, RegionError> {
        text.parse::<RegionSpec>()?.resolve(shape)
    }

    #[test]
    fn regions_as_numpy_reads_them() {
        let r = region("0:10,:,5", &[20, 30, 40]).unwrap();
        assert_eq!(r.ranges, [0..10, 0..30, 5..6]);
        assert_eq!(r.shape, [10, 30]);
        assert_eq!(region("-3:", &[10]).unwrap().ranges, [7..10]);
        assert_eq!(region("-1", &[10]).unwrap().ranges, [9..10]);
        assert_eq!(region("5:2", &[10]).unwrap().shape, [0]);
        assert_eq!(region("5:100", &[10]).unwrap().ranges, [5..10]);
        assert_eq!(region(" : ", &[3]).unwrap().shape, [3]);
        assert_eq!(region("", &[]).unwrap().ranges, []);
        assert!(matches!(
            region("10", &[10]),
            Err(RegionError::Bounds { .. })
        ));
        assert!(matches!(
            region("-11", &[10]),
            Err(RegionError::Bounds { .. })
        ));
        assert!(matches!(
            region("1,2", &[10]),
            Err(RegionError::Rank { .. })
        ));
        for bad in ["a", "1:2:3", "1.5", ",", "1:x"] {
            assert!(
                matches!(bad.parse::<RegionSpec>(), Err(RegionError::Form(_))),
                "{bad}"
            );
        }
    }

    #[test]
    fn boxes_cover_a_region_in_order_without_gaps() {
        let cases: [(&[u64], &[u64], u64); 6] = [
            (&[10, 7, 5], &[4, 3, 2], 70),
            (&[10, 7, 5], &[4, 3, 2], 3),
            (&[10, 7, 5], &[4, 3, 2], 1000),
            (&[1], &[1], 1),
            (&[100], &[7], 20),
            (&[], &[], 1),
        ];
        for (shape, chunks, limit) in cases {
            let all = Region::all(shape);
            assert_eq!(offset(&all.ranges, &all.ranges), 0);
            let mut next = 0;
            for piece in Boxes::new(&all, chunks, limit) {
                assert!(elements(&piece).unwrap() <= limit);
                let mut first = None;
                let mut count = 0;
                runs(&piece, &piece, &all.ranges, |_, to, length| {
                    if first.is_none() {
                        first = Some(to);
                    }
                    assert_eq!(to, first.unwrap() + count, "a gap in {piece:?}");
                    count += length;
                });
                assert_eq!(first, Some(next));
                assert_eq!(offset(&piece, &all.ranges), next as u64);
                next += count;
            }
            assert_eq!(
                next as u64,
                elements(&all.ranges).unwrap(),
                "{shape:?} {limit}"
            );
        }
    }

    #[test]
    fn boxes_end_with_chunks_where_they_can() {
        let all = Region::all(&[10, 8]);
        let pieces: Vec<_> = Boxes::new(&all, &[4, 8], 40)
            .map(|piece| piece[0].clone())
            .collect();
        assert_eq!(pieces, [0..4, 4..8, 8..10]);
    }

    #[test]
    fn runs_copy_what_two_boxes_share() {
        let (from, to) = ([2..6, 0..5], [0..8, 3..9]);
        let part = intersection(&from, &to).unwrap();
        assert_eq!(part, [2..6, 3..5]);
        let mut seen = Vec::new();
        runs(&part, &from, &to, |from, to, length| {
            seen.push((from, to, length))
        });
        assert_eq!(seen, [(3, 12, 2), (8, 18, 2), (13, 24, 2), (18, 30, 2)]);
        let mut whole = Vec::new();
        runs(&from, &from, &from, |from, to, length| {
            whole.push((from, to, length))
        });
        assert_eq!(whole, [(0, 0, 20)]);
        assert_eq!(intersection(&[0..2], &[2..3]), None);
        let mut scalar = Vec::new();
        runs(&[], &[], &[], |from, to, length| {
            scalar.push((from, to, length))
        });
        assert_eq!(scalar, [(0, 0, 1)]);
    }
}
