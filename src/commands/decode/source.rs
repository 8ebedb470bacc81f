//! Where values come from: an array that is decoded and, with `--cf`, unpacked by its attributes.

use std::ops::Range;

use super::super::rewrite::input::{chunk_error, open};
use super::cf::{CfType, decoding, in_words};
use crate::catalog::{ArrayText, Entry, named};
use crate::cf::CfDecoding;
use crate::codecs::{ChunkError, OpenArray};
use crate::error::Error;
use crate::pieces::{Values, chunk_pieces, read_box, working_bytes};
use crate::region::{chunk_box, elements};
use crate::transform::cf::Unpacking;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;
use crate::ui::Ui;

/// An array whose values are wanted.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) array: OpenArray,
    pub(super) cf: Option<CfDecoding>,
}

impl Source {
    /// Opens an array for a run.
    pub(super) fn open(
        entry: &Entry,
        text: &ArrayText,
        memory: u64,
        cf: Option<CfType>,
    ) -> Result<Self, Error> {
        let array = open(entry, text, memory)?;
        let cf = match cf {
            Some(wanted) => decoding(entry, text, &array, wanted)?,
            None => None,
        };
        Ok(Self {
            path: entry.path.clone(),
            array,
            cf,
        })
    }

    /// Says what is worth a second look.
    pub(super) fn warn(&self, ui: &mut Ui) {
        for warning in self.cf.iter().flat_map(|cf| &cf.warnings) {
            ui.warning(format!("{}: {warning}", named(&self.path)));
        }
    }

    /// Says what is worth a second look, and what the attributes do, where no report does.
    pub(super) fn announce(&self, ui: &mut Ui) {
        self.warn(ui);
        if let Some(cf) = &self.cf {
            let (path, words) = (named(&self.path), in_words(cf));
            ui.status(format!("{path}: {} values: {words}", self.data_type()));
        }
    }

    /// The name of the type of the values in Zarr v3.
    pub(super) fn data_type(&self) -> &str {
        match &self.cf {
            Some(cf) => cf.unpacking.target().name(),
            None => self.array.data_type(),
        }
    }

    /// The type of the values, if it is one of the real numbers.
    pub(super) fn element_type(&self) -> Option<DataType> {
        match &self.cf {
            Some(cf) => Some(cf.unpacking.target()),
            None => self.array.element_type(),
        }
    }

    /// The bytes of a value.
    pub(super) fn element_size(&self) -> usize {
        match &self.cf {
            Some(cf) => cf.unpacking.target().size(),
            None => self.array.element_size(),
        }
    }

    /// What missing chunks read as.
    pub(super) fn fill(&self) -> Option<Scalar> {
        match &self.cf {
            Some(cf) => Some(cf.fill),
            None => {
                let data_type = self.array.element_type()?;
                Some(Scalar::from_ne_bytes(data_type, self.array.fill()))
            }
        }
    }

    /// The memory that decoding one chunk takes, or one inner chunk where there are shards.
    pub(super) fn working_bytes(&self) -> u64 {
        working_bytes(&self.array)
    }

    /// The memory that a box takes besides: its values, and what they are unpacked from.
    pub(super) fn box_bytes(&self, part: &[Range<u64>]) -> u64 {
        let stored = self.unpacking().map_or(0, |_| self.array.element_size());
        let size = (self.element_size() + stored) as u64;
        elements(part).unwrap_or(u64::MAX).saturating_mul(size)
    }

    /// The arithmetic, if there is any.
    fn unpacking(&self) -> Option<&Unpacking> {
        self.cf
            .as_ref()
            .map(|cf| &cf.unpacking)
            .filter(|unpacking| !unpacking.is_identity())
    }

    /// The values of a chunk, with what lies beyond the edge of the array; `None` where it is missing.
    pub(super) fn decode_chunk(&self, index: &[u64]) -> Result<Option<Vec<u8>>, Error> {
        let stored = self.array.decode_chunk(index);
        let stored = stored.map_err(|error| chunk_error(&self.path, &error))?;
        let Some(stored) = stored else {
            return Ok(None);
        };
        let ranges = chunk_box(index, &self.array.chunk_shape());
        self.unpack(stored, &ranges).map(Some)
    }

    /// Reads a box: its values in row-major order.
    pub(super) fn read_box(&self, wanted: &[Range<u64>]) -> Result<Vec<u8>, Error> {
        let mut stored = buffer(wanted, self.array.element_size());
        read_box(&self.array, wanted, &mut stored)
            .map_err(|error| chunk_error(&self.path, &error))?;
        self.unpack(stored, wanted)
    }

    /// Hands on the values of one chunk that lie in a box, each stretch with its place in the box in bytes. Where all values
    /// of a piece are `skipped`, the piece is left out.
    pub(super) fn scatter_chunk<E: From<Error>>(
        &self,
        index: &[u64],
        wanted: &[Range<u64>],
        skipped: &[u8],
        mut run: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (from, to) = (self.array.element_size(), self.element_size());
        let mut unpacked = Vec::new();
        let taken = chunk_pieces(&self.array, index, wanted, |piece, values| {
            if let Values::Fill(fill) = values {
                let fill = self.unpack_at(fill, wanted, 0).map_err(Failed::Other)?;
                if fill == skipped {
                    return Ok(());
                }
            }
            values.scatter(piece, wanted, from, |at, bytes| {
                if self.unpacking().is_none() {
                    return run(at, bytes).map_err(|error| Failed::Run(error));
                }
                unpacked.resize(bytes.len() / from * to, 0);
                self.unpack_into(bytes, &mut unpacked, wanted, at / from)
                    .map_err(Failed::Other)?;
                run(at / from * to, &unpacked).map_err(|error| Failed::Run(error))
            })
        });
        taken.map_err(|failed| match failed {
            Failed::Run(error) => error,
            Failed::Other(error) => error.into(),
            Failed::Chunk(error) => chunk_error(&self.path, &error).into(),
        })
    }

    /// The values of stored elements that make up a box.
    fn unpack(&self, stored: Vec<u8>, ranges: &[Range<u64>]) -> Result<Vec<u8>, Error> {
        if self.unpacking().is_none() {
            return Ok(stored);
        }
        self.unpack_at(&stored, ranges, 0)
    }

    fn unpack_at(
        &self,
        stored: &[u8],
        ranges: &[Range<u64>],
        first: usize,
    ) -> Result<Vec<u8>, Error> {
        let mut values =
            vec![0; stored.len() / self.array.element_size().max(1) * self.element_size()];
        self.unpack_into(stored, &mut values, ranges, first)?;
        Ok(values)
    }

    /// Unpacks elements of a box, of which `first` is the place of the first.
    fn unpack_into(
        &self,
        stored: &[u8],
        values: &mut [u8],
        ranges: &[Range<u64>],
        first: usize,
    ) -> Result<(), Error> {
        let (Some(unpacking), Some(cf)) = (self.unpacking(), &self.cf) else {
            values.copy_from_slice(stored);
            return Ok(());
        };
        let (from, to) = (self.array.element_size(), self.element_size());
        let mut done = 0;
        while let Err((at, fault)) = unpacking.run(&stored[done * from..], &mut values[done * to..])
        {
            // What lies beyond the edge of the array is nobody's value, and only has to be something.
            let index = index_in(ranges, first + done + at);
            let mut places = index.iter().zip(self.array.shape());
            if places.all(|(n, length)| n < length) {
                return Err(Error::finding(format!(
                    "{}: the element {index:?} has no value by the CF attributes: {fault}",
                    named(&self.path)
                ))
                .hint("decode without --cf, or leave the array out with --array"));
            }
            let place = done + at;
            cf.fill.write_ne_bytes(&mut values[place * to..]);
            // The block of the fault was done up to the fault.
            done = place + 1;
        }
        Ok(())
    }
}

/// Why the pieces of a chunk were not handed on.
enum Failed<E> {
    Chunk(ChunkError),
    Other(Error),
    Run(E),
}

impl<E> From<ChunkError> for Failed<E> {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

/// Room for the elements of a box.
fn buffer(part: &[Range<u64>], size: usize) -> Vec<u8> {
    let length = elements(part)
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(usize::MAX);
    vec![0; length.saturating_mul(size)]
}

/// The index in the array of an element of a box, by its place in row-major order.
pub(super) fn index_in(ranges: &[Range<u64>], place: usize) -> Vec<u64> {
    let mut rest = place as u64;
    let mut index: Vec<u64> = ranges
        .iter()
        .rev()
        .map(|range| {
            let length = (range.end - range.start).max(1);
            let n = range.start + rest % length;
            rest /= length;
            n
        })
        .collect();
    index.reverse();
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_a_box_have_their_index() {
        let ranges = [2..4, 0..3];
        let all: Vec<_> = (0..6).map(|place| index_in(&ranges, place)).collect();
        assert_eq!(all, [[2, 0], [2, 1], [2, 2], [3, 0], [3, 1], [3, 2]]);
        assert_eq!(index_in(&[], 0), Vec::<u64>::new());
    }
}
