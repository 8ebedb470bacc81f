//! The header of NumPy's `.npy` files.
//!
//! A file is a magic string, a version, the length of a header, the header, and the elements with nothing between
//! them. The header is a Python dictionary with three keys, padded so that the elements begin at a multiple of 64.
//! Here headers are written as NumPy writes them, byte for byte, and read in all three versions of the format,
//! within bounds whatever a file says.

mod element;
mod literal;

use std::fmt::Write;
use std::io::{self, Read};

pub use self::element::{ByteOrder, ElementType, UnsupportedType};
use self::literal::Dictionary;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Where elements begin is a multiple of this.
const ALIGNMENT: usize = 64;

/// NumPy leaves room for the first dimension to grow to as many digits.
const ROOM_TO_GROW: usize = 21;

/// NumPy has no arrays of more dimensions.
const MAX_RANK: usize = 64;

/// The longest header that is read. One of 64 dimensions has less than 2 KiB; only structured types need more.
const MAX_HEADER: usize = 64 << 10;

/// What the header of a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub element: ElementType,
    /// The order of the bytes of an element.
    pub byte_order: ByteOrder,
    /// Whether the first index runs fastest, not the last.
    pub fortran_order: bool,
    /// The shape; empty for a scalar.
    pub shape: Vec<u64>,
}

/// Why a header could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file could not be read.
    #[error("could not read the header of a .npy file")]
    Io(#[from] io::Error),
    /// The file ends within its header.
    #[error("the file ends within its header")]
    Truncated,
    /// It is another sort of file.
    #[error("the file does not begin as a .npy file does")]
    NotNpy,
    /// A version that NumPy has not made yet.
    #[error("version {0}.{1} of the .npy format is unknown")]
    Version(u8, u8),
    /// More than any array needs.
    #[error("a header of {0} bytes is longer than the limit of {MAX_HEADER} bytes")]
    TooLong(u64),
    /// No dictionary of the three keys.
    #[error("the header is not sound: expected {expected} at byte {at} of it")]
    Syntax {
        /// The offset in the header.
        at: usize,
        /// What should be there.
        expected: &'static str,
    },
    /// A type that NumPy lacks, or that is not supported here.
    #[error(transparent)]
    Type(#[from] UnsupportedType),
    /// More dimensions than NumPy has.
    #[error("an array of {0} dimensions cannot be a .npy file: NumPy has at most {MAX_RANK}")]
    Rank(usize),
    /// More bytes than a file can have.
    #[error("an array of shape {0:?} is larger than any file")]
    Size(Vec<u64>),
}

impl Header {
    /// The header of an array in row-major order.
    #[must_use]
    pub const fn new(element: ElementType, byte_order: ByteOrder, shape: Vec<u64>) -> Self {
        Self {
            element,
            byte_order,
            fortran_order: false,
            shape,
        }
    }

    /// The number of bytes of all elements.
    ///
    /// # Errors
    ///
    /// Where that is more than a file can have.
    pub fn data_length(&self) -> Result<u64, NpyError> {
        if self.shape.contains(&0) {
            return Ok(0);
        }
        let size = self.element.size();
        self.shape
            .iter()
            .try_fold(size, |bytes, &length| bytes.checked_mul(length))
            // Offsets in files are signed.
            .filter(|&bytes| i64::try_from(bytes).is_ok())
            .ok_or_else(|| NpyError::Size(self.shape.clone()))
    }

    /// The bytes with which a file begins, up to the first element.
    ///
    /// # Errors
    ///
    /// Where NumPy has no such arrays: too many dimensions, or too many bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NpyError> {
        if self.shape.len() > MAX_RANK {
            return Err(NpyError::Rank(self.shape.len()));
        }
        self.data_length()?;
        let text = self.dictionary();
        // Magic, version, length, text, padding, newline. The text of 64 dimensions fits the 16 bits of version 1.
        let before = MAGIC.len() + 4;
        // NumPy pads by at least one byte, also where nothing is missing.
        let total = (before + text.len() + 2).next_multiple_of(ALIGNMENT);
        let length = u16::try_from(total - before).map_err(|_| NpyError::Rank(self.shape.len()))?;
        let mut bytes = Vec::with_capacity(total);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&[1, 0]);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(total - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The dictionary as Python prints it, with NumPy's room to grow.
    fn dictionary(&self) -> String {
        let descr = self.element.descr(self.byte_order);
        let fortran_order = if self.fortran_order { "True" } else { "False" };
        let mut text =
            format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': (");
        for (dimension, length) in self.shape.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = write!(text, "{}{length}", if dimension == 0 { "" } else { ", " });
        }
        text.push_str(if self.shape.len() == 1 {
            ",), }"
        } else {
            "), }"
        });
        let grows = if self.fortran_order {
            self.shape.last()
        } else {
            self.shape.first()
        };
        if let Some(length) = grows {
            let digits = length.to_string().len();
            text.extend(std::iter::repeat_n(' ', ROOM_TO_GROW - digits));
        }
        text
    }

    /// Reads a header, and leaves the reader at the first element.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, is no `.npy` file, or holds an array of another sort than [`ElementType`] has.
    pub fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        read_exact(reader, &mut start)?;
        let [magic @ .., major, minor] = start;
        if &magic != MAGIC {
            return Err(NpyError::NotNpy);
        }
        let length: u64 = match (major, minor) {
            (1, 0) => {
                let mut length = [0; 2];
                read_exact(reader, &mut length)?;
                u16::from_le_bytes(length).into()
            }
            // In version 3 the text is UTF-8; in the others it is Latin-1. All that is understood is ASCII.
            (2 | 3, 0) => {
                let mut length = [0; 4];
                read_exact(reader, &mut length)?;
                u32::from_le_bytes(length).into()
            }
            _ => return Err(NpyError::Version(major, minor)),
        };
        let size = usize::try_from(length).unwrap_or(usize::MAX);
        if size > MAX_HEADER {
            return Err(NpyError::TooLong(length));
        }
        let mut text = vec![0; size];
        read_exact(reader, &mut text)?;
        Self::parse(&text)
    }

    fn parse(text: &[u8]) -> Result<Self, NpyError> {
        let Dictionary {
            descr,
            fortran_order,
            shape,
        } = Dictionary::parse(text)?;
        let (element, byte_order) = ElementType::from_descr(&descr)?;
        if shape.len() > MAX_RANK {
            return Err(NpyError::Rank(shape.len()));
        }
        let header = Self {
            element,
            byte_order,
            fortran_order,
            shape,
        };
        header.data_length()?;
        Ok(header)
    }
}

fn read_exact(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), NpyError> {
    reader
        .read_exact(bytes)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => NpyError::Truncated,
            _ => NpyError::Io(error),
        })
}

#[cfg(test)]
mod tests;
