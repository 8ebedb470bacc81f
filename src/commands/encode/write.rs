//! Writing an array: boxes read, encoded, written and read back by many threads at once, within a bound on memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::rewrite::input::chunk_error;
use super::super::rewrite::output::key;
use super::chain::{Missing, Packing};
use super::job::{Codes, Part, cut_out};
use super::missing;
use super::plan::{Blueprint, Built, with_array};
use super::shards::{Piece, ShardWriter, piece_box};
use super::source::Existing;
use super::tally::{InOrder, Tally};
use super::tasks::{Counted, Task, Tasks};
use super::{EncodeArgs, LossKind};
use crate::catalog::named;
use crate::codecs::{ArrayDocument, Failure, OpenArray};
use crate::error::{Error, ErrorKind};
use crate::pieces::{chunk_pieces, covering};
use crate::pipeline::{OnFailure, Pipeline, Stopped};
use crate::region::{chunk_box, elements, intersection};
use crate::store::{ChunkFiles, Staging};
use crate::transform::scalar::Scalar;
use crate::ui::{Progress, Ui};

/// What all arrays of a run share.
pub(super) struct Run<'a> {
    pub(super) args: &'a EncodeArgs,
    pub(super) pipeline: &'a Pipeline<'a>,
    pub(super) staging: &'a Staging,
    /// Set once something is lost that must not be: from then on values are looked at, and nothing is written.
    pub(super) refused: &'a AtomicBool,
}

/// What became of an array.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) built: Built,
    pub(super) tally: Tally,
    /// The bytes of the chunks in INPUT.
    pub(super) bytes_before: u64,
    pub(super) elapsed: Duration,
    /// Time spent on reading, on transforming and compressing, and on writing and reading back, over all threads.
    pub(super) split: [Duration; 3],
}

/// Why work on an array ends early.
pub(super) enum Stop {
    /// There is a NaN, and a code for it has to be found first.
    NeedsCode,
    /// It cannot go on.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Time spent by all threads.
#[derive(Debug, Default)]
struct Clock([AtomicU64; 3]);

/// The parts of the work that are timed.
#[derive(Debug, Clone, Copy)]
enum Phase {
    Read,
    Process,
    Write,
}

impl Clock {
    fn time<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let spent = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.0[phase as usize].fetch_add(spent, Ordering::Relaxed);
        result
    }

    fn split(&self) -> [Duration; 3] {
        [0, 1, 2].map(|n| Duration::from_nanos(self.0[n].load(Ordering::Relaxed)))
    }

    /// The shares of the parts, for people.
    fn shares(&self) -> String {
        let spent = self.split().map(|part| part.as_secs_f64());
        let all = spent.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let [read, process, write] = spent.map(|part| (part / all * 100.0).round());
        format!("read {read}% process {process}% write {write}%")
    }
}

impl Run<'_> {
    /// Encodes an array, and writes it unless something is lost.
    pub(super) fn array(
        &self,
        ui: &mut Ui,
        blueprint: &Blueprint<'_>,
        packing: Packing,
    ) -> Result<Outcome, Error> {
        let start = Instant::now();
        let existing = blueprint.source.existing()?;
        let bytes_before = existing
            .as_ref()
            .map_or(blueprint.source.flat_bytes(), |existing| {
                existing.iter().map(|(_, bytes)| bytes).sum()
            });
        let clock = Clock::default();
        let mut built = blueprint.build(packing)?;
        if let Missing::Auto(cast) = built.packing.missing
            && built.fill.is_nan()
        {
            built = self.with_code(blueprint, &built, cast, existing.as_deref())?;
        }
        loop {
            let attempt = self.attempt(ui, blueprint, &built, existing.as_deref(), &clock);
            match (attempt, built.packing.missing) {
                (Ok(tally), _) => {
                    return Ok(Outcome {
                        built,
                        tally,
                        bytes_before,
                        elapsed: start.elapsed(),
                        split: clock.split(),
                    });
                }
                (Err(Stop::Failed(error)), _) => return Err(error),
                (Err(Stop::NeedsCode), Missing::Auto(cast)) => {
                    ui.status(format!(
                        "{}: there is NaN, and all values are looked at to find a code for it",
                        named(&blueprint.path)
                    ));
                    self.staging.clear(&blueprint.path)?;
                    built = self.with_code(blueprint, &built, cast, existing.as_deref())?;
                }
                (Err(Stop::NeedsCode), Missing::Settled) => {
                    return Err(Error::finding("NaN has a code, and needs another"));
                }
            }
        }
    }

    /// The same array with a code for NaN that no value uses.
    fn with_code(
        &self,
        blueprint: &Blueprint<'_>,
        built: &Built,
        cast: usize,
        existing: Option<&[Existing]>,
    ) -> Result<Built, Error> {
        let writer = Writer::new(self, blueprint, built, existing, None)?;
        let (_, tasks) = writer.list();
        let packing = missing::settle(blueprint, built, cast, tasks, self.pipeline)?;
        blueprint.build(packing)
    }

    fn attempt(
        &self,
        ui: &mut Ui,
        blueprint: &Blueprint<'_>,
        built: &Built,
        existing: Option<&[Existing]>,
        clock: &Clock,
    ) -> Result<Tally, Stop> {
        let mut tally = Tally::default();
        if let Some(loss) = &built.fill_loss {
            tally.loss(LossKind::Fill).add(1, || loss.clone());
            self.judge(&tally);
        }
        let reader = if self.args.verifies() {
            Some(self.reader(blueprint, built)?)
        } else {
            None
        };
        let writer = Writer::new(self, blueprint, built, existing, reader.as_ref())?;
        let size = blueprint.source.element_size() as u64;
        let (count, tasks) = writer.list();
        let task_bytes = writer.task_bytes();
        let total = count.map_or(0, |count| count.saturating_mul(task_bytes));
        let progress = ui.progress_bytes(total);
        let done = |task: &Task| {
            let bytes = elements(&task.part).unwrap_or(0).saturating_mul(size);
            progress.advance(bytes);
            progress.say(|| clock.shares());
        };
        let written = if !writer.tasks.in_blocks {
            writer.whole(tasks, clock, &done)?
        } else if writer.shards_keep_threads_busy() {
            writer.shards_at_once(clock, &done)?
        } else {
            writer.shard_by_shard(tasks, clock, &done)?
        };
        drop::<Progress>(progress);
        tally.merge(written);
        if !self.refused.load(Ordering::Relaxed) {
            let document = key(&blueprint.path, "zarr.json");
            let written = self.staging.write(&document, built.document.as_bytes());
            written.map_err(Error::from)?;
        }
        Ok(tally)
    }

    /// Opens the array that is being written, by the document that will be published.
    fn reader(&self, blueprint: &Blueprint<'_>, built: &Built) -> Result<OpenArray, Error> {
        let mut directory = self.staging.root().to_owned();
        directory.extend(blueprint.path.split('/').filter(|name| !name.is_empty()));
        let storage = Arc::new(ChunkFiles::below(directory));
        let opened = with_array(&built.document, |array| {
            OpenArray::open(storage, "", ArrayDocument::V3(array))
                .map_err(|error| error.to_string())
        });
        let opened = opened.and_then(|opened| opened).map_err(|reason| {
            Error::usage(format!(
                "{} could not be read back as it would be written",
                named(&blueprint.path)
            ))
            .detail(reason)
        })?;
        Ok(opened.with_max_memory(u64::MAX))
    }

    /// Takes note of losses that are not allowed.
    fn judge(&self, tally: &Tally) {
        let refused = |(kind, loss): (&LossKind, &super::tally::Loss)| {
            loss.count > 0 && !self.args.allow_loss.contains(kind)
        };
        if tally.losses.iter().any(refused) {
            self.refused.store(true, Ordering::Relaxed);
        }
    }
}

/// The work on one array.
struct Writer<'a> {
    run: &'a Run<'a>,
    blueprint: &'a Blueprint<'a>,
    built: &'a Built,
    existing: Option<&'a [Existing]>,
    reader: Option<&'a OpenArray>,
    tasks: Tasks,
    /// The lengths of the chunks of INPUT that may be missing.
    input_chunk: Vec<u64>,
}

/// What a worker has made of a piece of a shard.
struct Streamed {
    task: Task,
    outcome: Result<(Vec<Piece>, Tally), Stop>,
}

impl<'a> Writer<'a> {
    fn new(
        run: &'a Run<'a>,
        blueprint: &'a Blueprint<'a>,
        built: &'a Built,
        existing: Option<&'a [Existing]>,
        reader: Option<&'a OpenArray>,
    ) -> Result<Self, Error> {
        let source = &blueprint.source;
        let size = source.element_size();
        let tasks = Tasks::new(source.shape(), &source.unit(), size, &built.encoder);
        Ok(Self {
            run,
            blueprint,
            built,
            // With another fill there is something to write everywhere.
            existing: existing.filter(|_| !built.writes_missing),
            reader,
            tasks,
            input_chunk: source.chunk_shape(),
        })
    }

    fn list(&self) -> Counted<'_, Task> {
        self.tasks.list(self.existing_boxes())
    }

    /// The boxes of the chunks of INPUT that are there.
    fn existing_boxes(&self) -> Option<Vec<Vec<Range<u64>>>> {
        self.existing.map(|existing| {
            let boxes = existing
                .iter()
                .map(|(index, _)| chunk_box(index, &self.input_chunk));
            boxes.collect()
        })
    }

    /// Whether there are enough shards for each thread to make its own. Else all threads work on one.
    fn shards_keep_threads_busy(&self) -> bool {
        const SHARDS_OF_A_THREAD: u64 = 8;
        let threads = self.run.pipeline.threads.max(1) as u64;
        let (count, _) = self.tasks.shards(self.existing_boxes());
        count.is_none_or(|count| count / threads >= SHARDS_OF_A_THREAD)
    }

    /// The bytes of the values of a task.
    fn task_bytes(&self) -> u64 {
        let shape = self.blueprint.source.shape();
        let lengths = self
            .tasks
            .span
            .iter()
            .zip(shape)
            .map(|(span, whole)| *span.min(whole));
        let size = self.blueprint.source.element_size() as u64;
        lengths.fold(size, u64::saturating_mul)
    }

    /// The memory that a task takes at most.
    fn working_bytes(&self) -> u64 {
        let values = self.task_bytes();
        let piece = match self.tasks.in_blocks {
            true => self.built.encoder.inner_chunk_shape(),
            false => Some(self.built.encoder.chunk_shape()),
        };
        let elements = piece
            .unwrap_or_default()
            .iter()
            .fold(1, |n: u64, m| n.saturating_mul(*m));
        let logical = self.built.chain.data_type().size() as u64;
        let stored = self.built.chain.stored_type().size() as u64;
        let reading_back = self.reader.map_or(0, |reader| {
            reader
                .inner_working_bytes()
                .unwrap_or_else(|| reader.working_bytes())
        });
        let of_piece = |size: u64| elements.saturating_mul(size);
        // What a task has when it reads; when values have become codes, and those values again; when codes are encoded; and when
        // they are read back. Of these it is never in two at once.
        let piece = if of_piece(logical) < values {
            of_piece(logical)
        } else {
            0
        };
        let read = values.saturating_add(self.blueprint.source.working_bytes());
        let sum = |parts: [u64; 3]| parts.into_iter().fold(0, u64::saturating_add);
        let processed = sum([values, piece, of_piece(stored + logical)]);
        let kept = if piece > 0 { values } else { 0 };
        let working = self.built.encoder.working_bytes();
        let encoded = sum([kept, of_piece(2 * stored + logical), working]);
        let compared = sum([kept, of_piece(stored + logical), reading_back]);
        read.max(processed).max(encoded).max(compared)
    }

    /// Runs tasks that write whole chunks.
    fn whole(
        &self,
        tasks: impl Iterator<Item = Task> + Send,
        clock: &Clock,
        done: &(impl Fn(&Task) + Sync),
    ) -> Result<Tally, Stop> {
        let working = self.working_bytes();
        let all = InOrder::default();
        let outcome = self.run.pipeline.unordered(
            (0_u64..).zip(tasks),
            |_| working,
            OnFailure::Stop,
            |(number, task)| -> Result<(), Stop> {
                let mut tally = Tally::default();
                self.each_part(
                    &task,
                    &self.built.encoder.chunk_shape(),
                    clock,
                    |chunk, place, part, codes| {
                        let mut codes = codes;
                        tally.merge(std::mem::take(&mut codes.tally));
                        if self.may_write() {
                            self.write_chunk(chunk, place, part, codes, clock, &mut tally)?;
                        }
                        Ok(())
                    },
                )?;
                all.add(number, tally);
                done(&task);
                Ok(())
            },
        );
        outcome.into_result().map_err(stopped)?;
        Ok(all.sum())
    }

    /// Runs tasks each of which makes a shard, block by block.
    fn shards_at_once(&self, clock: &Clock, done: &(impl Fn(&Task) + Sync)) -> Result<Tally, Stop> {
        // Each shard that is being made has its own index, and remembers its pieces.
        const OF_A_PIECE: u64 = 48;
        let pieces = self.built.encoder.inner_grid().into_iter();
        let index = pieces.fold(OF_A_PIECE, u64::saturating_mul);
        let working = self.working_bytes().saturating_add(index);
        let (_, shards) = self.tasks.shards(self.existing_boxes());
        let all = InOrder::default();
        let outcome = self.run.pipeline.unordered(
            (0_u64..).zip(shards),
            |_| working,
            OnFailure::Stop,
            |(number, shard)| -> Result<(), Stop> {
                let mut writer = self.shard_writer();
                for task in self.tasks.blocks_of(&shard) {
                    self.run.pipeline.interrupt.check().map_err(Error::from)?;
                    let (pieces, tally) = self.pieces(&task, clock)?;
                    writer.tally.merge(tally);
                    if self.may_write() {
                        clock.time(Phase::Write, || writer.write(&shard, pieces))?;
                    }
                    done(&task);
                }
                all.add(number, self.finished(writer, clock)?);
                Ok(())
            },
        );
        outcome.into_result().map_err(stopped)?;
        Ok(all.sum())
    }

    /// Runs tasks that make blocks of shards, and writes those in order.
    fn shard_by_shard(
        &self,
        tasks: impl Iterator<Item = Task> + Send,
        clock: &Clock,
        done: &(impl Fn(&Task) + Sync),
    ) -> Result<Tally, Stop> {
        let working = self.working_bytes();
        let mut sum = Tally::default();
        let mut current: Option<(Vec<u64>, ShardWriter<'_>)> = None;
        let ended = self.run.pipeline.ordered(
            tasks,
            |_| working,
            |task| {
                let outcome = self.pieces(&task, clock);
                Streamed { task, outcome }
            },
            |Streamed { task, outcome }| -> Result<(), Stop> {
                let (pieces, tally) = outcome?;
                if let Some((_, writer)) = current.take_if(|(shard, _)| *shard != task.shard) {
                    sum.merge(self.finished(writer, clock)?);
                }
                let (_, writer) =
                    current.get_or_insert_with(|| (task.shard.clone(), self.shard_writer()));
                writer.tally.merge(tally);
                if self.may_write() {
                    clock.time(Phase::Write, || writer.write(&task.shard, pieces))?;
                }
                done(&task);
                Ok(())
            },
        );
        ended.map_err(stopped)?;
        if let Some((_, writer)) = current {
            sum.merge(self.finished(writer, clock)?);
        }
        Ok(sum)
    }

    fn shard_writer(&self) -> ShardWriter<'a> {
        let path = &self.blueprint.path;
        ShardWriter::new(self.built, self.run.staging, path, self.reader)
    }

    /// Completes a shard, unless nothing may be written any more, and says what was counted on it.
    fn finished(&self, writer: ShardWriter<'_>, clock: &Clock) -> Result<Tally, Stop> {
        match self.may_write() {
            true => clock.time(Phase::Write, || writer.finish()),
            false => Ok(writer.tally),
        }
    }

    /// The pieces of a shard that a task makes.
    fn pieces(&self, task: &Task, clock: &Clock) -> Result<(Vec<Piece>, Tally), Stop> {
        let lengths = self.built.encoder.inner_chunk_shape().unwrap_or_default();
        let shard = chunk_box(&task.shard, &self.built.encoder.chunk_shape());
        let mut tally = Tally::default();
        let mut pieces = Vec::new();
        self.each_part(task, &lengths, clock, |index, _, part, codes| {
            let mut codes = codes;
            tally.merge(std::mem::take(&mut codes.tally));
            if !self.may_write() || codes.is_fill && !self.run.args.write_empty {
                return Ok(());
            }
            let inner: Vec<u64> = index
                .iter()
                .zip(&lengths)
                .zip(&shard)
                .map(|((n, length), shard)| n - shard.start / length)
                .collect();
            let place = piece_box(&shard, &inner, &lengths);
            let encoded = clock.time(Phase::Process, || {
                let piece = if part == place {
                    std::mem::take(&mut codes.codes)
                } else {
                    self.built.expand(&place, part, &codes.codes)
                };
                let omit = !self.run.args.write_empty && !self.built.fill_drifts;
                self.built.encoder.encode_inner_chunk(piece, omit)
            });
            let encoded =
                encoded.map_err(|error| failure(&self.blueprint.path, &task.shard, &error))?;
            if let Some(reader) = self.reader {
                let back = clock.time(Phase::Write, || reader.decode_inner_bytes(&encoded));
                let back =
                    back.map_err(|error| failure(&self.blueprint.path, &task.shard, &error))?;
                let size = reader.element_size();
                let back = cut_out(part, &place, &back, size);
                self.compare(&task.shard, &back, &codes.decoded)?;
            }
            pieces.push(Piece {
                checksum: crc32c::crc32c(&encoded),
                inner,
                encoded,
            });
            Ok(())
        })?;
        pieces.sort_by_cached_key(|piece| self.built.encoder.inner_number(&piece.inner));
        Ok((pieces, tally))
    }

    /// Reads the box of a task, and hands on the codes of each chunk of these lengths in it: with the index of the chunk, its
    /// box, and the part of that which is in the array.
    fn each_part(
        &self,
        task: &Task,
        lengths: &[u64],
        clock: &Clock,
        mut take: impl FnMut(&[u64], &[Range<u64>], &[Range<u64>], Codes) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if !self.is_there(&task.part) {
            return Ok(());
        }
        let source = &self.blueprint.source;
        let size = source.element_size();
        let path = &self.blueprint.path;
        let mut values = clock.time(Phase::Read, || source.read(path, &task.part))?;
        for index in covering(&task.part, lengths) {
            let place = chunk_box(&index, lengths);
            let Some(part) = intersection(&place, &task.part) else {
                continue;
            };
            if !self.is_there(&part) {
                continue;
            }
            let values = if part == task.part {
                std::mem::take(&mut values)
            } else {
                cut_out(&part, &task.part, &values, size)
            };
            let chunk = if task.shard.is_empty() {
                &index
            } else {
                &task.shard
            };
            let seen = Part {
                chunk,
                place: &part,
            };
            let codes = clock.time(Phase::Process, || self.built.encode(seen, values));
            if let Missing::Auto(_) = self.built.packing.missing
                && codes.tally.losses.contains_key(&LossKind::Nan)
            {
                return Err(Stop::NeedsCode);
            }
            self.run.judge(&codes.tally);
            take(&index, &place, &part, codes)?;
        }
        Ok(())
    }

    /// Whether INPUT has something of a box: what it has nothing of stays missing.
    fn is_there(&self, part: &[Range<u64>]) -> bool {
        self.existing.is_none_or(|existing| {
            covering(part, &self.input_chunk).any(|index| {
                existing
                    .binary_search_by(|(known, _)| known.as_slice().cmp(&index))
                    .is_ok()
            })
        })
    }

    fn may_write(&self) -> bool {
        !self.run.refused.load(Ordering::Relaxed)
    }

    /// Writes a chunk or a whole shard, and reads it back.
    fn write_chunk(
        &self,
        chunk: &[u64],
        place: &[Range<u64>],
        part: &[Range<u64>],
        mut codes: Codes,
        clock: &Clock,
        tally: &mut Tally,
    ) -> Result<(), Stop> {
        let path = &self.blueprint.path;
        let write_empty = self.run.args.write_empty;
        if codes.is_fill && !write_empty {
            tally.dropped += 1;
            return Ok(());
        }
        let encoder = &self.built.encoder;
        let encoded = clock.time(Phase::Process, || match encoder.inner_chunk_shape() {
            Some(_) => self.built.shard(place, part, &codes, write_empty),
            None => {
                let whole = if part == place {
                    std::mem::take(&mut codes.codes)
                } else {
                    self.built.expand(place, part, &codes.codes)
                };
                let omit = !write_empty && !self.built.fill_drifts;
                encoder.encode_chunk(whole, omit).map(Some)
            }
        });
        let Some(encoded) = encoded.map_err(|error| failure(path, chunk, &error))? else {
            tally.dropped += 1;
            return Ok(());
        };
        clock.time(Phase::Write, || {
            let object = key(path, &encoder.chunk_key(chunk));
            self.run
                .staging
                .write(&object, &encoded)
                .map_err(Error::from)?;
            tally.chunks += 1;
            tally.bytes += encoded.len() as u64;
            drop(encoded);
            let Some(reader) = self.reader else {
                return Ok(());
            };
            let size = reader.element_size();
            let mut same = true;
            let read = chunk_pieces(reader, chunk, part, |piece, values| {
                values.scatter(piece, part, size, |at, back| {
                    same &= self.is_same(back, &codes.decoded[at..at + back.len()]);
                    Ok::<(), crate::codecs::ChunkError>(())
                })
            });
            read.map_err(|error| chunk_error(path, &error))?;
            match same {
                true => Ok(()),
                false => Err(mismatch(path, chunk).into()),
            }
        })
    }

    fn compare(&self, chunk: &[u64], back: &[u8], expected: &[u8]) -> Result<(), Stop> {
        match self.is_same(back, expected) {
            true => Ok(()),
            false => Err(mismatch(&self.blueprint.path, chunk).into()),
        }
    }

    /// Whether elements are those that were expected. A fill may be another NaN, or a zero of another sign.
    fn is_same(&self, back: &[u8], expected: &[u8]) -> bool {
        if back == expected {
            return true;
        }
        let data_type = self.built.chain.data_type();
        let size = data_type.size();
        let scalar = |bytes| Scalar::from_ne_bytes(data_type, bytes);
        let mut pairs = back.chunks_exact(size).zip(expected.chunks_exact(size));
        back.len() == expected.len() && pairs.all(|(a, b)| a == b || scalar(a).equals(scalar(b)))
    }
}

/// The error of work that was stopped.
fn stopped(stopped: Stopped<Stop>) -> Stop {
    match stopped {
        Stopped::Failed { error, .. } => error,
        Stopped::Interrupted(interrupted) => Stop::Failed(interrupted.into()),
    }
}

/// The error of a chunk that cannot be encoded.
pub(super) fn failure(path: &str, chunk: &[u64], error: &Failure) -> Error {
    Error::finding(format!(
        "{}: chunk {chunk:?} cannot be encoded: {error}",
        named(path)
    ))
}

/// The error of a chunk that does not read back.
pub(super) fn mismatch(path: &str, chunk: &[u64]) -> Error {
    Error::new(
        ErrorKind::Io,
        format!(
            "{}: chunk {chunk:?} does not read back as it was written",
            named(path)
        ),
    )
    .hint("the disk or the memory of this machine may be faulty; nothing was published")
}
