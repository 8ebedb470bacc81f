//! What parameters are chosen for: an array, a `.npy` file, or a range of values that nobody has written yet.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::attributes::{packing, stand_ins};
use super::elements::nearest;
use super::frame::Fill;
use super::refusal::Refusal;
use super::stored_size::Storage;
use crate::catalog::ArrayText;
use crate::codecs::{ChunkError, OpenArray};
use crate::npy::{ByteOrder, Header};
use crate::pieces;
use crate::pieces::{Values, chunk_pieces, working_bytes};
use crate::region::{elements, intersection};
use crate::store::StoreError;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many values of a file are read in one go.
const FILE_BLOCK: u64 = 1 << 20;

/// How many values stand for a range without data, if the type has more in it than the most that are all tried.
const IMAGINED: u64 = 1 << 20;
const ALL_TRIED: u64 = 1 << 24;

/// Values to choose parameters for.
pub struct Subject<'a> {
    /// What it is called in messages, where there are several.
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// The fill of the array, where it has one.
    pub(super) fill: Option<Scalar>,
    /// Values that stand for missing ones, as attributes declare them; NaN is none of them.
    pub(super) stand_ins: Vec<Scalar>,
    /// Whether readers take the fill for missing without an attribute that says so.
    masks_fill: bool,
    /// How chunks are stored, for the estimate of sizes.
    pub(super) storage: Storage,
    source: Source<'a>,
    /// The places of the tasks that are read, where that is not all of them.
    share: f64,
}

enum Source<'a> {
    Array {
        array: &'a OpenArray,
        /// The chunks that are stored.
        chunks: &'a [Vec<u64>],
        /// The box of the array.
        whole: Vec<Range<u64>>,
    },
    File {
        path: PathBuf,
        /// Where elements begin.
        start: u64,
        count: u64,
        swapped: bool,
    },
    Range {
        low: f64,
        high: f64,
        /// The place of the first value among all of its type, and their number, where all are tried.
        all: Option<(i128, u64)>,
    },
}

/// What is known of an array beside its values, for [`ArrayInput::subject`].
#[derive(Debug)]
pub struct ArrayInput {
    chunks: Vec<Vec<u64>>,
    stand_ins: Vec<Scalar>,
    masks_fill: bool,
    storage: Storage,
    packed_by: Option<&'static str>,
}

impl ArrayInput {
    /// Lists the chunks of an array, and reads what its document and its attributes say of values and of their storage.
    ///
    /// # Errors
    ///
    /// Where a directory cannot be listed.
    pub fn read(array: &OpenArray, text: &ArrayText, directory: &Path) -> Result<Self, StoreError> {
        let data_type = array.element_type();
        let packed_by = data_type
            .filter(|data_type| data_type.is_integer())
            .and_then(|_| packing(text));
        let (chunks, stand_ins) = match data_type {
            Some(data_type) if packed_by.is_none() => (
                pieces::stored_chunks(array, directory)?,
                stand_ins(text, data_type),
            ),
            _ => (Vec::new(), Vec::new()),
        };
        Ok(Self {
            chunks,
            stand_ins,
            masks_fill: matches!(text, ArrayText::V2 { .. }),
            storage: Storage::of(text, array),
            packed_by,
        })
    }

    /// The values of the array.
    ///
    /// # Errors
    ///
    /// Where they are no real numbers, or codes already.
    pub fn subject<'a>(&'a self, array: &'a OpenArray) -> Result<Subject<'a>, Refusal> {
        if let Some(attribute) = self.packed_by {
            return Err(Refusal::already_packed(attribute));
        }
        let stand_ins = self.stand_ins.clone();
        let subject = Subject::array(array, &self.chunks, stand_ins, self.storage.clone());
        let subject = subject.map(|subject| Subject {
            masks_fill: self.masks_fill,
            ..subject
        });
        subject.ok_or_else(|| Refusal::no_numbers(array.data_type()))
    }
}

/// Why values could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A chunk could not be decoded.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// A file could not be read.
    #[error("could not read {path:?}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
}

/// Values that lie together.
pub(super) struct Piece<'p> {
    /// The elements of the array, in some order.
    pub(super) values: &'p [u8],
    /// All that is stored together with them, in its order: a chunk with what lies beyond the edge of the array.
    pub(super) whole: &'p [u8],
}

impl<'a> Subject<'a> {
    /// The subject that an array is, with the chunks that are stored and what its attributes declare.
    ///
    /// `None` where its values are no real numbers.
    #[must_use]
    pub fn array(
        array: &'a OpenArray,
        chunks: &'a [Vec<u64>],
        stand_ins: Vec<Scalar>,
        storage: Storage,
    ) -> Option<Self> {
        let data_type = array.element_type()?;
        let fill = array
            .fill_is_defined()
            .then(|| Scalar::from_ne_bytes(data_type, array.fill()));
        Some(Self {
            name: String::new(),
            data_type,
            fill,
            stand_ins,
            masks_fill: false,
            storage,
            source: Source::Array {
                array,
                chunks,
                whole: array.shape().iter().map(|length| 0..*length).collect(),
            },
            share: 1.0,
        })
    }

    /// The subject that a `.npy` file is, whose header has been read; its elements begin at `start`.
    ///
    /// `None` where its values are no real numbers.
    #[must_use]
    pub fn file(path: &Path, header: &Header, start: u64) -> Option<Self> {
        let data_type = DataType::from_name(header.element.zarr_name())?;
        let count = header
            .shape
            .iter()
            .try_fold(1_u64, |n, l| n.checked_mul(*l))?;
        Some(Self {
            name: String::new(),
            data_type,
            fill: None,
            stand_ins: Vec::new(),
            masks_fill: false,
            storage: Storage::usual(FILE_BLOCK.min(count.max(1))),
            source: Source::File {
                path: path.to_owned(),
                start,
                count,
                swapped: header.byte_order != ByteOrder::NATIVE,
            },
            share: 1.0,
        })
    }

    /// A range of values of a type, for which there are no data.
    #[must_use]
    pub fn range(data_type: DataType, low: f64, high: f64) -> Self {
        Self {
            name: String::new(),
            data_type,
            fill: None,
            stand_ins: Vec::new(),
            masks_fill: false,
            storage: Storage::usual(IMAGINED),
            source: Source::Range {
                low,
                high,
                all: all_between(data_type, low, high),
            },
            share: 1.0,
        }
    }

    /// Gives it a name for messages.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Reads a share of the data only, in chunks that are spread evenly.
    #[must_use]
    pub const fn with_share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Whether there are data.
    #[must_use]
    pub const fn has_data(&self) -> bool {
        !matches!(self.source, Source::Range { .. })
    }

    /// The type of the values.
    #[must_use]
    pub const fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The number of chunks, or blocks of a file, that each pass reads.
    #[must_use]
    pub fn tasks_to_read(&self) -> u64 {
        self.tasks().count() as u64
    }

    /// The number of values, those that were never written included.
    pub(super) fn elements(&self) -> u64 {
        match &self.source {
            Source::Array { whole, .. } => elements(whole).unwrap_or(u64::MAX),
            Source::File { count, .. } => *count,
            Source::Range { all, .. } => all.map_or(IMAGINED, |(_, count)| count),
        }
    }

    /// Whether every value of a range without data is tried.
    pub(super) const fn is_exhaustive(&self) -> bool {
        matches!(self.source, Source::Range { all: Some(_), .. })
    }

    /// The fill, and whether any of the values are it because nobody has written them; `read` is how many were written.
    pub(super) fn fill(&self, read: u64) -> Option<Fill> {
        let value = self.fill?;
        let is_read = match &self.source {
            Source::Array {
                array,
                chunks,
                whole,
            } if self.share < 1.0 => {
                let lengths = whole.iter().zip(array.chunk_shape());
                let in_all = lengths
                    .map(|(range, length)| (range.end - range.start).div_ceil(length.max(1)))
                    .fold(1_u64, u64::saturating_mul);
                (chunks.len() as u64) < in_all
            }
            Source::Array { .. } => read < self.elements(),
            _ => false,
        };
        Some(Fill {
            value,
            is_read,
            is_masked: self.masks_fill,
        })
    }

    /// The tasks of a pass over the data, by number.
    pub(super) fn tasks(&self) -> impl Iterator<Item = u64> + Send + use<> {
        let share = self.share;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "which chunks are read need not be exact"
        )]
        let before = move |n: u64| (n as f64 * share).ceil() as u64;
        (0..self.all_tasks()).filter(move |n| share >= 1.0 || before(*n) < before(n + 1))
    }

    pub(super) fn all_tasks(&self) -> u64 {
        match &self.source {
            Source::Array { chunks, .. } => chunks.len() as u64,
            Source::File { count, .. } => count.div_ceil(FILE_BLOCK),
            Source::Range { all, .. } => all.map_or(1, |(_, count)| count.div_ceil(IMAGINED)),
        }
    }

    /// The values of one task at most.
    pub(super) fn task_elements(&self) -> u64 {
        match &self.source {
            Source::Array { array, .. } => array.chunk_bytes() / self.data_type.size() as u64,
            Source::File { .. } => FILE_BLOCK,
            Source::Range { .. } => IMAGINED,
        }
    }

    /// The memory that reading a task takes.
    pub(super) fn task_bytes(&self) -> u64 {
        let size = self.data_type.size() as u64;
        match &self.source {
            // What lies inside the array may be copied out of a chunk.
            Source::Array { array, .. } => {
                working_bytes(array).saturating_add(self.piece_elements().saturating_mul(size))
            }
            Source::File { .. } => FILE_BLOCK * size,
            Source::Range { .. } => IMAGINED * size,
        }
    }

    /// The elements of one piece.
    pub(super) fn piece_elements(&self) -> u64 {
        match &self.source {
            Source::Array { array, .. } => {
                let shape = array.inner_chunk_shape().unwrap_or(array.chunk_shape());
                shape.iter().fold(1, |n, length| n.saturating_mul(*length))
            }
            Source::File { count, .. } => FILE_BLOCK.min(*count),
            Source::Range { .. } => IMAGINED,
        }
    }

    /// Hands the pieces of a task to `take`.
    pub(super) fn read(&self, task: u64, mut take: impl FnMut(Piece<'_>)) -> Result<(), ReadError> {
        match &self.source {
            Source::Array {
                array,
                chunks,
                whole,
            } => {
                let place = usize::try_from(task).unwrap_or(usize::MAX);
                let Some(index) = chunks.get(place) else {
                    return Ok(());
                };
                let size = self.data_type.size();
                let read: Result<(), ChunkError> =
                    chunk_pieces(array, index, whole, |piece, values| {
                        let Values::Data(data) = values else {
                            // A chunk that went away since it was listed.
                            return Ok(());
                        };
                        let inside = intersection(piece, whole);
                        if inside.as_deref() == Some(piece) {
                            take(Piece {
                                values: data,
                                whole: data,
                            });
                            return Ok(());
                        }
                        let mut kept = Vec::new();
                        values.scatter(piece, whole, size, |_, bytes| {
                            kept.extend_from_slice(bytes);
                            Ok::<(), ChunkError>(())
                        })?;
                        take(Piece {
                            values: &kept,
                            whole: data,
                        });
                        Ok(())
                    });
                Ok(read?)
            }
            Source::File {
                path,
                start,
                count,
                swapped,
            } => {
                let size = self.data_type.size();
                let first = task * FILE_BLOCK;
                let length = FILE_BLOCK.min(count.saturating_sub(first));
                let at = start + first * size as u64;
                let mut bytes = read_block(path, at, length * size as u64)?;
                if *swapped {
                    bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
                }
                take(Piece {
                    values: &bytes,
                    whole: &bytes,
                });
                Ok(())
            }
            Source::Range { low, high, all } => {
                let bytes = match all {
                    Some((first, count)) => {
                        let done = task * IMAGINED;
                        let count = IMAGINED.min(count.saturating_sub(done));
                        enumerate(self.data_type, first + i128::from(done), count)
                    }
                    None => imagine(self.data_type, *low, *high),
                };
                take(Piece {
                    values: &bytes,
                    whole: &bytes,
                });
                Ok(())
            }
        }
    }
}

fn read_block(path: &Path, at: u64, length: u64) -> Result<Vec<u8>, ReadError> {
    use std::io::{Seek, SeekFrom};
    let failed = |cause| ReadError::File {
        path: path.to_owned(),
        cause,
    };
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(at)).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(length).read_to_end(&mut bytes).map_err(failed)?;
    if read as u64 != length {
        return Err(failed(std::io::Error::new(
            std::io::ErrorKind::UnexpectedEof,
            "the file ends before its last element",
        )));
    }
    Ok(bytes)
}

/// The values of a type in a range, if they are few enough to try all: the place of the first one, and how many there are.
fn all_between(data_type: DataType, low: f64, high: f64) -> Option<(i128, u64)> {
    let (low, high) = (nearest(data_type, low)?, nearest(data_type, high)?);
    let count = u64::try_from(high.ordinal() - low.ordinal() + 1).ok()?;
    (count <= ALL_TRIED).then_some((low.ordinal(), count))
}

/// So many values of a type from a place on.
fn enumerate(data_type: DataType, first: i128, count: u64) -> Vec<u8> {
    let size = data_type.size();
    let mut bytes = Vec::new();
    let mut element = vec![0; size];
    for n in 0..i128::from(count) {
        Scalar::from_ordinal(data_type, first + n).write_ne_bytes(&mut element);
        bytes.extend_from_slice(&element);
    }
    bytes
}

/// Values of a type all over a range: both ends, and points that fall into no step with any grid.
fn imagine(data_type: DataType, low: f64, high: f64) -> Vec<u8> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let size = data_type.size();
    let mut bytes = Vec::new();
    let mut element = vec![0; size];
    let mut add = |value: f64| {
        if let Some(value) = nearest(data_type, value) {
            value.write_ne_bytes(&mut element);
            bytes.extend_from_slice(&element);
        }
    };
    add(low);
    add(high);
    let mut at = 0.0_f64;
    for _ in 2..IMAGINED {
        at = (at + GOLDEN).fract();
        // Without leaving the doubles where the range is as wide as they are.
        add(low * (1.0 - at) + high * at);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_tasks_is_spread_evenly() {
        let subject = |share| {
            let mut subject = Subject::range(DataType::Float32, 0.0, 1.0).with_share(share);
            subject.source = Source::File {
                path: PathBuf::new(),
                start: 0,
                count: 10 * FILE_BLOCK,
                swapped: false,
            };
            subject.tasks().collect::<Vec<_>>()
        };
        assert_eq!(subject(1.0), (0..10).collect::<Vec<_>>());
        assert_eq!(subject(0.25).len(), 3);
        assert_eq!(subject(0.001), [0]);
    }

    #[test]
    fn every_value_of_a_short_range_is_tried() {
        let subject = Subject::range(DataType::Float16, -1.0, 1.0);
        assert!(subject.is_exhaustive());
        let mut values = Vec::new();
        for task in subject.tasks() {
            let read = subject.read(task, |piece| values.extend_from_slice(piece.values));
            read.unwrap();
        }
        // 15 exponents of 1,024 values each, on both sides of one zero, and the ends themselves.
        assert_eq!(values.len() / 2, 2 * 15 * 1024 + 1);
        assert!(!Subject::range(DataType::Float32, -1.0, 1.0).is_exhaustive());
    }

    #[test]
    fn imagined_values_reach_both_ends_and_stay_inside() {
        let bytes = imagine(DataType::Float32, 180.0, 330.0);
        let values: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
            .collect();
        assert_eq!((values[0], values[1]), (180.0, 330.0));
        assert!(values.iter().all(|x| (180.0..=330.0).contains(x)));
    }
}
