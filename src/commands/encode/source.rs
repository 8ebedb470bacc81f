//! Where values come from: an array of a store, or elements in a file.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::super::rewrite::input::chunk_error;
use super::flat::{Flat, FlatForm};
use crate::codecs::OpenArray;
use crate::error::Error;
use crate::pieces::{self, read_box};
use crate::region::elements;

/// Where values come from.
#[derive(Debug)]
pub(super) enum Source {
    /// An array, and the directory of its chunks.
    Array(Box<OpenArray>, PathBuf),
    /// Elements in a file. What comes on standard input is one only once there is a place to keep it.
    Flat(FlatForm, OnceLock<Flat>),
}

/// A chunk that is there: its index, and its bytes in the store.
pub(super) type Existing = (Vec<u64>, u64);

impl Source {
    /// Elements in a file that is there.
    pub(super) fn file(flat: Flat) -> Self {
        Self::Flat(flat.form.clone(), OnceLock::from(flat))
    }

    pub(super) fn shape(&self) -> &[u64] {
        match self {
            Self::Array(array, _) => array.shape(),
            Self::Flat(form, _) => &form.shape,
        }
    }

    pub(super) fn data_type(&self) -> &str {
        match self {
            Self::Array(array, _) => array.data_type(),
            Self::Flat(form, _) => &form.data_type,
        }
    }

    /// The bytes of an element.
    pub(super) fn element_size(&self) -> usize {
        match self {
            Self::Array(array, _) => array.element_size(),
            Self::Flat(form, _) => form.size,
        }
    }

    /// The lengths of the pieces that are decoded in one go.
    pub(super) fn unit(&self) -> Vec<u64> {
        match self {
            Self::Array(array, _) => array
                .inner_chunk_shape()
                .unwrap_or_else(|| array.chunk_shape()),
            Self::Flat(form, _) => vec![1; form.shape.len()],
        }
    }

    /// The memory that reading takes beside what is read.
    pub(super) fn working_bytes(&self) -> u64 {
        match self {
            Self::Array(array, _) => pieces::working_bytes(array),
            Self::Flat(..) => 1 << 20,
        }
    }

    /// Reads a box of elements in row-major order, native endian.
    pub(super) fn read(&self, path: &str, part: &[Range<u64>]) -> Result<Vec<u8>, Error> {
        // A box that is a chunk of INPUT is what decoding gives, and need not be copied.
        if let Self::Array(array, _) = self
            && array.inner_chunk_shape().is_none()
            && let Some(index) = single_chunk(part, &array.chunk_shape())
        {
            let chunk = array.decode_chunk(&index);
            if let Some(chunk) = chunk.map_err(|error| chunk_error(path, &error))? {
                return Ok(chunk);
            }
        }
        let count = elements(part).unwrap_or(u64::MAX);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut values = vec![0; count.saturating_mul(self.element_size())];
        self.read_into(path, part, &mut values)?;
        Ok(values)
    }

    fn read_into(&self, path: &str, part: &[Range<u64>], into: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Array(array, _) => {
                read_box(array, part, into).map_err(|error| chunk_error(path, &error))
            }
            Self::Flat(_, flat) => {
                let flat = flat
                    .get()
                    .ok_or_else(|| Error::usage("standard input has not been read"))?;
                flat.read(part, into)
                    .map_err(|error| Error::io("could not read INPUT", error))
            }
        }
    }

    /// The chunks that are there, in row-major order: by the files, since a grid may have more chunks than any machine could
    /// ask for. `None` where nothing can be missing.
    pub(super) fn existing(&self) -> Result<Option<Vec<Existing>>, Error> {
        let Self::Array(array, directory) = self else {
            return Ok(None);
        };
        let chunks = pieces::stored_lengths(array, directory)?;
        Ok(Some(chunks))
    }

    /// The lengths of the chunks that may be missing.
    pub(super) fn chunk_shape(&self) -> Vec<u64> {
        match self {
            Self::Array(array, _) => array.chunk_shape(),
            Self::Flat(form, _) => form.shape.clone(),
        }
    }

    /// The bytes of INPUT where it has no chunks.
    pub(super) fn flat_bytes(&self) -> u64 {
        match self {
            Self::Array(..) => 0,
            Self::Flat(form, _) => form.data_bytes().unwrap_or(0),
        }
    }
}

/// The index of the chunk that a box is, if it is one, whole.
fn single_chunk(part: &[Range<u64>], lengths: &[u64]) -> Option<Vec<u64>> {
    let index = part.iter().zip(lengths).map(|(range, length)| {
        let whole = range.start % length == 0 && range.end - range.start == *length;
        whole.then(|| range.start / length)
    });
    index.collect()
}
