//! Elements in a file one after the other: a `.npy` file, or bytes.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::error::Error;
use crate::npy::{ByteOrder, Header};
use crate::region::runs;

/// Bytes that are read at once although some between them are not wanted.
const WINDOW: usize = 1 << 20;

/// Bytes between two stretches up to which both are read at once.
const GAP: usize = 32 << 10;

/// What elements in a file are.
#[derive(Debug, Clone)]
pub(super) struct FlatForm {
    /// The name of the type in Zarr v3.
    pub(super) data_type: String,
    /// The bytes of an element.
    pub(super) size: usize,
    /// The bytes that have an order among themselves: those of an element, or of a half of a complex one.
    pub(super) byte_order: ByteOrder,
    /// Whether the first index runs fastest.
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

impl FlatForm {
    /// The bytes of all elements.
    pub(super) fn data_bytes(&self) -> Result<u64, Error> {
        let mut shape = self.shape.iter();
        let bytes = shape.try_fold(self.size as u64, |n, length| n.checked_mul(*length));
        bytes
            .filter(|bytes| i64::try_from(*bytes).is_ok())
            .ok_or_else(|| {
                Error::usage(format!(
                    "an array of {:?} elements is too large",
                    self.shape
                ))
            })
    }
}

/// Elements in a file.
#[derive(Debug)]
pub(super) struct Flat {
    file: File,
    /// Where the first element begins.
    start: u64,
    pub(super) form: FlatForm,
}

/// Opens a `.npy` file.
pub(super) fn open_npy(path: &Path) -> Result<Flat, Error> {
    let failed = |error: io::Error| Error::io(format!("could not read {path:?}"), error);
    let mut file = File::open(path).map_err(failed)?;
    let header = Header::read(&mut file).map_err(|error| match error {
        crate::npy::NpyError::Io(error) => failed(error),
        error => Error::finding(format!("{path:?} cannot be read as a .npy file"))
            .because(error)
            .hint("INPUT is a store, a .npy file, or - for bytes"),
    })?;
    let start = io::Seek::stream_position(&mut file).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let size = usize::try_from(header.element.size()).unwrap_or(usize::MAX);
    let form = FlatForm {
        data_type: header.element.zarr_name().to_owned(),
        size,
        byte_order: header.byte_order,
        fortran_order: header.fortran_order && header.shape.len() > 1,
        shape: header.shape,
    };
    let due = form.data_bytes()?;
    let found = length.saturating_sub(start);
    if found != due {
        return Err(Error::finding(format!(
            "{path:?} holds {found} bytes of elements where its header announces {due}"
        )));
    }
    Ok(Flat::new(file, start, form))
}

impl Flat {
    pub(super) const fn new(file: File, start: u64, form: FlatForm) -> Self {
        Self { file, start, form }
    }

    /// Reads a box of elements in row-major order, native endian.
    pub(super) fn read(&self, part: &[Range<u64>], into: &mut [u8]) -> io::Result<()> {
        let whole: Vec<_> = self.form.shape.iter().map(|&length| 0..length).collect();
        if self.form.fortran_order {
            let reversed =
                |ranges: &[Range<u64>]| -> Vec<_> { ranges.iter().rev().cloned().collect() };
            let (part, whole) = (reversed(part), reversed(&whole));
            let mut columns = vec![0; into.len()];
            self.gather(&part, &whole, &mut columns)?;
            transpose(&columns, &part, self.form.size, into);
        } else {
            self.gather(part, &whole, into)?;
        }
        if self.form.size > 1 && self.form.byte_order != ByteOrder::NATIVE {
            for element in into.chunks_exact_mut(self.form.size) {
                element.reverse();
            }
        }
        Ok(())
    }

    /// Reads a box of an array of the shape of `whole`, both in row-major order. Stretches that lie close together are read at
    /// once.
    fn gather(&self, part: &[Range<u64>], whole: &[Range<u64>], into: &mut [u8]) -> io::Result<()> {
        let size = self.form.size;
        let mut window = Window {
            flat: self,
            first: 0,
            end: 0,
            pieces: Vec::new(),
            bytes: Vec::new(),
        };
        let mut outcome = Ok(());
        runs(part, whole, part, |from, to, length| {
            if outcome.is_ok() {
                outcome = window.add(from * size, to * size, length * size, into);
            }
        });
        outcome?;
        window.read(into)
    }
}

/// Stretches of the file that are read at once.
struct Window<'f> {
    flat: &'f Flat,
    first: usize,
    end: usize,
    /// Offset in the file, offset in the box, length.
    pieces: Vec<(usize, usize, usize)>,
    bytes: Vec<u8>,
}

impl Window<'_> {
    fn add(&mut self, from: usize, to: usize, length: usize, into: &mut [u8]) -> io::Result<()> {
        let far = from < self.end || from - self.end > GAP || from + length - self.first > WINDOW;
        if far && !self.pieces.is_empty() {
            self.read(into)?;
        }
        if self.pieces.is_empty() {
            self.first = from;
        }
        self.end = from + length;
        self.pieces.push((from, to, length));
        Ok(())
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<()> {
        let start = self.flat.start + self.first as u64;
        match self.pieces.as_slice() {
            [] => {}
            [(_, to, length)] => read_at(&self.flat.file, &mut into[*to..to + length], start)?,
            pieces => {
                self.bytes.resize(self.end - self.first, 0);
                read_at(&self.flat.file, &mut self.bytes, start)?;
                for (from, to, length) in pieces {
                    let from = from - self.first;
                    into[*to..to + length].copy_from_slice(&self.bytes[from..from + length]);
                }
            }
        }
        self.pieces.clear();
        Ok(())
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    // One place in the file for all threads.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// Writes a box whose dimensions are in reversed order, in row-major order of that, in the right order.
fn transpose(columns: &[u8], reversed: &[Range<u64>], size: usize, into: &mut [u8]) {
    let lengths: Vec<usize> = reversed
        .iter()
        .map(|range| usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
        .collect();
    // The stride in the result of each dimension of the reversed box: its last dimension is the first of the result, which runs
    // slowest.
    let mut strides = vec![1; lengths.len()];
    for n in 1..lengths.len() {
        strides[n] = strides[n - 1] * lengths[n - 1];
    }
    let mut at = vec![0; lengths.len()];
    for element in columns.chunks_exact(size) {
        let to: usize = at
            .iter()
            .zip(&strides)
            .map(|(at, stride)| at * stride)
            .sum();
        into[to * size..(to + 1) * size].copy_from_slice(element);
        for (at, length) in at.iter_mut().zip(&lengths).rev() {
            *at += 1;
            if *at < *length {
                break;
            }
            *at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The elements 0, 1, 2 and so on of a shape, in a file behind three bytes.
    fn flat(shape: &[u64], fortran_order: bool, byte_order: ByteOrder) -> Flat {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"xyz").unwrap();
        for n in 0..shape.iter().product::<u64>() as u16 {
            let bytes = match byte_order {
                ByteOrder::Little => n.to_le_bytes(),
                ByteOrder::Big => n.to_be_bytes(),
            };
            file.write_all(&bytes).unwrap();
        }
        let form = FlatForm {
            data_type: "uint16".to_owned(),
            size: 2,
            byte_order,
            fortran_order,
            shape: shape.to_vec(),
        };
        Flat::new(file, 3, form)
    }

    fn read(flat: &Flat, part: &[Range<u64>]) -> Vec<u16> {
        let elements: u64 = part.iter().map(|range| range.end - range.start).product();
        let mut bytes = vec![0; 2 * elements as usize];
        flat.read(part, &mut bytes).unwrap();
        let (elements, _) = bytes.as_chunks::<2>();
        elements
            .iter()
            .map(|bytes| u16::from_ne_bytes(*bytes))
            .collect()
    }

    #[test]
    fn boxes_are_read_in_row_major_order() {
        for byte_order in [ByteOrder::Little, ByteOrder::Big] {
            let rows = flat(&[3, 4], false, byte_order);
            assert_eq!(read(&rows, &[1..3, 1..3]), [5, 6, 9, 10]);
            assert_eq!(read(&rows, &[0..3, 0..4]), (0..12).collect::<Vec<_>>());
            let columns = flat(&[3, 4], true, byte_order);
            assert_eq!(read(&columns, &[1..3, 1..3]), [4, 7, 5, 8]);
            assert_eq!(read(&columns, &[0..1, 0..4]), [0, 3, 6, 9]);
        }
        let cube = flat(&[2, 3, 4], true, ByteOrder::Little);
        let expected: Vec<u16> = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]
            .iter()
            .flat_map(|n| [*n, n + 1])
            .collect();
        let mut got = read(&cube, &[0..2, 0..3, 0..4]);
        assert_eq!(&got[..5], [0, 6, 12, 18, 2]);
        got.sort_unstable();
        assert_eq!(got, expected);
        assert_eq!(read(&flat(&[], false, ByteOrder::NATIVE), &[]), [0]);
    }

    #[test]
    fn stretches_far_apart_are_read_one_by_one() {
        let wide = flat(&[3, 20_000], false, ByteOrder::NATIVE);
        assert_eq!(
            read(&wide, &[0..3, 5..7]),
            [5, 6, 20_005, 20_006, 40_005, 40_006]
        );
    }
}
