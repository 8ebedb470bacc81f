//! `decode` to a NumPy file, of any size.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use super::super::rewrite::input::{Input, Watch, heed_signals, shares, stopped};
use super::super::rewrite::report_file::ReportFile;
use super::source::Source;
use super::{DecodeArgs, Format, reporting, verify};
use crate::cli::GlobalArgs;
use crate::error::{Error, ExitCode};
use crate::npy::{ByteOrder, ElementType, Header};
use crate::pieces::covering;
use crate::pipeline::{GridIndices, OnFailure, Pipeline};
use crate::region::{Boxes, Region, elements, offset};
use crate::store::{Place, StagedFile};
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
    let report_place = ReportFile::check(
        args.report.as_deref(),
        args.existing(),
        &[(input.store.place(), "INPUT"), (&output, "OUTPUT")],
    )?;
    let (threads, memory, share) = shares(global);
    let (entry, text) = input.only_array(ui)?;
    let source = Source::open(entry, text, memory, args.cf)?;
    source.announce(ui);
    let region = args.region_of(&source.array)?;
    let header = header(&source, &region)?;
    let unsound = |error: crate::npy::NpyError| Error::finding(error.to_string());
    let data = header.data_length().map_err(unsound)?;
    if args.overwrite {
        refuse_other_files(&output, args)?;
    }
    let array = reporting::decoded_region(&source, args, &region);
    let report = reporting::report(args, "npy", vec![array]);
    if args.dry_run {
        StagedFile::check(&output, args.existing())?;
        if args.format != Some(Format::Json) {
            ui.print(format!(
                "would write {data} bytes of {} to {:?}\n",
                source.data_type(),
                args.output
            ))?;
        }
    } else {
        let interrupt = heed_signals()?;
        let report_file = report_place.begin(ui)?;
        let file = StagedFile::begin(&output, args.existing())?;
        for leftover in file.leftovers() {
            ui.status(leftover);
        }
        let bytes = header.to_bytes().map_err(unsound)?;
        file.reserve(bytes.len() as u64 + data)?;
        file.write_at(&bytes, 0)?;
        let npy = Npy {
            source: &source,
            region: &region,
            file: &file,
            header: &bytes,
        };
        let pipeline = Pipeline {
            threads,
            memory,
            interrupt: &interrupt,
            observer: &Watch::default(),
        };
        npy.each(ui, &pipeline, share, Task::Write)?;
        if args.verify {
            npy.verify_header(data)?;
            npy.each(ui, &pipeline, share, Task::Compare)?;
        }
        file.publish(&interrupt)?;
        report_file.publish(&report)?;
    }
    if args.format == Some(Format::Json) {
        ui.print(crate::report::to_json(&report)?)?;
    }
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

fn header(source: &Source, region: &Region) -> Result<Header, Error> {
    let element = ElementType::from_zarr_name(source.data_type());
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

/// What is done with each part of the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    Write,
    /// Read back and held against what decoding gives.
    Compare,
}

/// A file with the array that goes into it.
struct Npy<'a> {
    source: &'a Source,
    region: &'a Region,
    file: &'a StagedFile,
    /// What stands before the data.
    header: &'a [u8],
}

impl Npy<'_> {
    /// Does something with every part of the file.
    fn each(
        &self,
        ui: &mut Ui,
        pipeline: &Pipeline<'_>,
        share: u64,
        task: Task,
    ) -> Result<(), Error> {
        let source = self.source;
        let size = source.element_size() as u64;
        let data = elements(&self.region.ranges).unwrap_or(u64::MAX);
        let unit = match task {
            Task::Write => "bytes",
            Task::Compare => "bytes verified",
        };
        let progress = ui.progress(data.saturating_mul(size), unit);
        let done = match self.boxes(share / 2) {
            Some(boxes) => pipeline.unordered(
                boxes,
                |part| {
                    let read = match task {
                        Task::Write => 0,
                        Task::Compare => elements(part).unwrap_or(u64::MAX).saturating_mul(size),
                    };
                    source
                        .box_bytes(part)
                        .saturating_add(read)
                        .saturating_add(source.working_bytes())
                },
                OnFailure::Stop,
                |part| {
                    let done = self.do_box(&part, task)?;
                    progress.advance(done);
                    Ok::<_, Error>(())
                },
            ),
            None => pipeline.unordered(
                covering(&self.region.ranges, &source.array.chunk_shape()) as GridIndices,
                |_| source.working_bytes().saturating_mul(2),
                OnFailure::Stop,
                |index| {
                    let done = self.do_chunk(&index, task)?;
                    progress.advance(done);
                    Ok(())
                },
            ),
        };
        drop(progress);
        done.into_result().map(|_| ()).map_err(stopped)
    }

    /// The boxes to write one by one, where chunks lie so scattered in the file that it pays to put them together in memory
    /// first, and a whole row of chunks fits into `limit` bytes.
    fn boxes(&self, limit: u64) -> Option<Boxes> {
        let array = &self.source.array;
        let (chunk_shape, shape) = (array.chunk_shape(), array.shape());
        let size = self.source.element_size() as u64;
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

    /// Writes or compares a box, which lies together in the file.
    fn do_box(&self, part: &[Range<u64>], task: Task) -> Result<u64, Error> {
        let bytes = self.source.read_box(part)?;
        let place = offset(part, &self.region.ranges);
        let at = place.saturating_mul(self.source.element_size() as u64);
        self.do_bytes(at, &bytes, task)?;
        Ok(bytes.len() as u64)
    }

    /// Writes or compares what is wanted of a chunk, stretch by stretch.
    fn do_chunk(&self, index: &[u64], task: Task) -> Result<u64, Error> {
        let mut done = 0;
        // The file is zeros already.
        let zero = vec![0; self.source.element_size()];
        let skipped: &[u8] = match task {
            Task::Write => &zero,
            Task::Compare => &[],
        };
        self.source
            .scatter_chunk(index, &self.region.ranges, skipped, |at, bytes| {
                done += bytes.len() as u64;
                self.do_bytes(at as u64, bytes, task)
            })?;
        Ok(done)
    }

    /// Writes or compares bytes of the data.
    fn do_bytes(&self, at: u64, bytes: &[u8], task: Task) -> Result<(), Error> {
        let offset = self.header.len() as u64 + at;
        if task == Task::Write {
            return Ok(self.file.write_at(bytes, offset)?);
        }
        let found = self.read(offset, bytes.len())?;
        let first = usize::try_from(at).unwrap_or(usize::MAX) / self.source.element_size().max(1);
        verify::same(self.source, &self.region.ranges, first, bytes, &found)
    }

    /// Compares what stands before the data, and the length of the file.
    fn verify_header(&self, data: u64) -> Result<(), Error> {
        let found = self.read(0, self.header.len())?;
        let length = std::fs::metadata(self.file.path())
            .map_err(|cause| Error::io("could not look at what was written", cause))?
            .len();
        if found == self.header && length == self.header.len() as u64 + data {
            return Ok(());
        }
        Err(Error::finding(
            "verification failed: the header or the length of the file is not what was written",
        ))
    }

    /// Reads back bytes of the file.
    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        let read = File::open(self.file.path()).and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(&mut bytes)
        });
        read.map_err(|cause| Error::io("could not read back what was written", cause))?;
        Ok(bytes)
    }
}
