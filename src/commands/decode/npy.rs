//! `decode` to a NumPy file, of any size.

use std::fs::File;
use std::io::Read;

use super::super::rewrite::input::{Input, Watch, chunk_error, heed_signals, shares, stopped};
use super::DecodeArgs;
use crate::cli::GlobalArgs;
use crate::codecs::{ChunkError, OpenArray};
use crate::error::{Error, ExitCode};
use crate::npy::{ByteOrder, ElementType, Header};
use crate::pieces::{Values, chunk_pieces, covering, read_box, working_bytes};
use crate::pipeline::{GridIndices, OnFailure, Pipeline};
use crate::region::{Boxes, Region, elements};
use crate::store::{Existing, Place, StagedFile, StoreError};
use crate::ui::Ui;

/// Stretches of the file from which on writing them one by one costs little.
const LONG_STRETCH: u64 = 64 << 10;

/// The size of boxes where a row of chunks is smaller: enough for a write to cost little, few enough for all threads to have
/// work.
const SMALL_BOX: u64 = 16 << 20;

pub(super) fn run(ui: &mut Ui, global: &GlobalArgs, args: &DecodeArgs) -> Result<ExitCode, Error> {
    let input = Input::open(&args.input, &args.array)?;
    let output = Place::resolve(&args.output)?;
    Place::require_apart(input.store.place(), &output)?;
    let (threads, memory, share) = shares(global);
    let array = input.only_array(ui, memory)?;
    let region = match &args.region {
        Some(spec) => spec
            .resolve(array.shape())
            .map_err(|error| Error::usage(format!("--region: {error}")))?,
        None => Region::all(array.shape()),
    };
    let header = header(&array, &region)?;
    let existing = if args.overwrite {
        Existing::Replace
    } else {
        Existing::Refuse
    };
    if args.overwrite {
        refuse_other_files(&output, args)?;
    }
    if args.dry_run {
        StagedFile::check(&output, existing)?;
        let length = header
            .data_length()
            .map_err(|error| Error::finding(error.to_string()))?;
        ui.print(format!(
            "would write {} bytes of {} to {:?}\n",
            length,
            array.data_type(),
            args.output
        ))?;
        return Ok(ExitCode::Done);
    }
    let interrupt = heed_signals()?;
    let file = StagedFile::begin(&output, existing)?;
    for leftover in file.leftovers() {
        ui.status(leftover);
    }
    let bytes = header
        .to_bytes()
        .map_err(|error| Error::finding(error.to_string()))?;
    let data = header
        .data_length()
        .map_err(|error| Error::finding(error.to_string()))?;
    file.reserve(bytes.len() as u64 + data)?;
    file.write_at(&bytes, 0)?;
    let writer = Writer {
        array: &array,
        region: &region,
        file: &file,
        start: bytes.len() as u64,
    };
    let progress = ui.progress(data, "bytes");
    let size = array.element_size() as u64;
    let boxes = writer.boxes(share / 2);
    let pipeline = Pipeline {
        threads,
        memory,
        interrupt: &interrupt,
        observer: &Watch::default(),
    };
    let written = match boxes {
        Some(boxes) => pipeline.unordered(
            boxes,
            |part| {
                elements(part)
                    .unwrap_or(u64::MAX)
                    .saturating_mul(size)
                    .saturating_add(working_bytes(&array))
            },
            OnFailure::Stop,
            |part| {
                writer
                    .write_box(&part)
                    .inspect(|written| progress.advance(*written))
                    .map(|_| ())
            },
        ),
        None => pipeline.unordered(
            writer.chunks(),
            |_| working_bytes(&array),
            OnFailure::Stop,
            |index| {
                writer
                    .write_chunk(&index)
                    .inspect(|written| progress.advance(*written))
                    .map(|_| ())
            },
        ),
    };
    drop(progress);
    written.into_result().map_err(stopped)?;
    file.publish(&interrupt)?;
    Ok(ExitCode::Done)
}

/// Refuses to replace a file that is not empty and no `.npy` file, whatever its name says.
fn refuse_other_files(output: &Place, args: &DecodeArgs) -> Result<(), Error> {
    if !output.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let opened = File::open(output.path()).and_then(|file| file.take(6).read_to_end(&mut start));
    opened.map_err(|cause| Error::io(format!("could not read {:?}", args.output), cause))?;
    if start.is_empty() || start == b"\x93NUMPY" {
        return Ok(());
    }
    let message = format!(
        "{:?} is no .npy file, and is not replaced by one",
        args.output
    );
    Err(Error::usage(message).hint("remove it first, or choose another name"))
}

fn header(array: &OpenArray, region: &Region) -> Result<Header, Error> {
    let element = ElementType::from_zarr_name(array.data_type());
    let element = element.map_err(|error| {
        Error::finding(error.to_string())
            .hint("decode to a store, or to - with --format jsonl or raw")
    })?;
    Ok(Header {
        element,
        byte_order: ByteOrder::NATIVE,
        fortran_order: false,
        shape: region.shape.clone(),
    })
}

/// Why a part of the file was not written.
enum Failed {
    Chunk(ChunkError),
    Store(StoreError),
}

impl From<ChunkError> for Failed {
    fn from(error: ChunkError) -> Self {
        Self::Chunk(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Chunk(error) => chunk_error("", &error),
            Failed::Store(error) => error.into(),
        }
    }
}

struct Writer<'a> {
    array: &'a OpenArray,
    region: &'a Region,
    file: &'a StagedFile,
    /// Where the data begin in the file.
    start: u64,
}

impl Writer<'_> {
    /// The boxes to write one by one, where chunks lie so scattered in the file that it pays to put them together in memory
    /// first, and a whole row of chunks fits into `limit` bytes.
    fn boxes(&self, limit: u64) -> Option<Boxes> {
        let (chunk_shape, shape) = (self.array.chunk_shape(), self.array.shape());
        let size = self.array.element_size() as u64;
        let mut stretch = size;
        for (chunk, length) in chunk_shape.iter().zip(shape).rev() {
            stretch = stretch.saturating_mul(*chunk.min(length));
            if chunk < length {
                break;
            }
        }
        let rest = self.region.ranges.get(1..).unwrap_or_default();
        let row = elements(rest)?
            .checked_mul(size)?
            .checked_mul(*chunk_shape.first()?)?;
        let scattered = stretch < LONG_STRETCH && row <= limit;
        let bytes = row.max(SMALL_BOX.min(limit));
        scattered.then(|| Boxes::new(self.region, &chunk_shape, bytes / size))
    }

    fn chunks(&self) -> GridIndices {
        covering(&self.region.ranges, &self.array.chunk_shape())
    }

    /// Writes a box, which lies together in the file.
    fn write_box(&self, part: &[std::ops::Range<u64>]) -> Result<u64, Failed> {
        let size = self.array.element_size();
        let length = elements(part)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.saturating_mul(size)];
        read_box(self.array, part, &mut bytes)?;
        let mut at = None;
        crate::region::runs(part, part, &self.region.ranges, |_, to, _| {
            at.get_or_insert(to as u64 * size as u64);
        });
        self.file.write_at(&bytes, self.start + at.unwrap_or(0))?;
        Ok(bytes.len() as u64)
    }

    /// Writes what is wanted of a chunk, stretch by stretch.
    fn write_chunk(&self, index: &[u64]) -> Result<u64, Failed> {
        let mut written = 0;
        chunk_pieces(self.array, index, &self.region.ranges, |piece, values| {
            // The file is zeros already.
            if let Values::Fill(fill) = values
                && fill.iter().all(|byte| *byte == 0)
            {
                return Ok(());
            }
            values.scatter(
                piece,
                &self.region.ranges,
                self.array.element_size(),
                |at, bytes| {
                    written += bytes.len() as u64;
                    self.file
                        .write_at(bytes, self.start + at as u64)
                        .map_err(Failed::from)
                },
            )
        })?;
        Ok(written)
    }
}
