//! Evidence from the chunks of a store.
//!
//! The codes of a site are what the array would hold if the run, and all that changes elements before it, were not there: so they
//! are decoded as the array of a document in memory without those codecs. Chunks are listed before any is read, and
//! [`unchanged`] lists them again.

mod compare;
mod document;
mod grid;
mod listing;
mod separator;
mod tally;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub use self::compare::{Reading, ValueComparison, ValueDifference, compare_values};
use self::document::{Behind, Rewritten};
use self::grid::Grid;
pub use self::listing::{Examined, unchanged};
use self::listing::{GONE, Stamp, changed};
pub use self::separator::{KeyForm, probe_separator};
use self::tally::Tally;
use super::evidence::{Evidence, Presence, Question, Scan, Site};
use crate::catalog::named;
use crate::codecs::{ArrayDocument, ChunkError, Gaps, OpenArray, OpenError};
use crate::error::Error;
use crate::metadata::json::{Limits, NonFinite, Parsed, parse};
use crate::metadata::{Node, Problems, v3};
use crate::pipeline::{Pipeline, Stopped};
use crate::store::ChunkFiles;
use crate::transform::equivalence::EquivalenceError;

/// The decoded bytes of a shard that are one task: enough for the index to be read again for each.
const PART: u64 = 32 << 20;

/// The evidence that an array on disk holds.
pub struct StoreEvidence<'a> {
    path: String,
    directory: PathBuf,
    document: Parsed,
    grid: Arc<Grid>,
    pipeline: &'a Pipeline<'a>,
    examined: OnceLock<Examined>,
}

impl<'a> StoreEvidence<'a> {
    /// The evidence of the array at `path` in its store, whose chunks are below `directory`. `text` is its document in Zarr v3, the
    /// legacy codec in it; for an array of Zarr v2, the document that it is converted to first. Nothing is read yet.
    ///
    /// # Errors
    ///
    /// Where the document is not sound, or has a grid or keys that are not read here.
    pub fn new(
        path: &str,
        directory: &Path,
        text: &str,
        pipeline: &'a Pipeline<'a>,
    ) -> Result<Self, Error> {
        let document = parsed(path, text)?;
        let grid = with_array(path, &document, |array| Grid::of(path, array))??;
        Ok(Self {
            path: path.to_owned(),
            directory: directory.to_owned(),
            document,
            grid: Arc::new(grid),
            pipeline,
            examined: OnceLock::new(),
        })
    }

    /// What the files of the chunks were like before the first of them was read; `None` where nothing was asked yet.
    #[must_use]
    pub fn examined(&self) -> Option<Examined> {
        self.examined.get().cloned()
    }

    /// Lists the chunks, once.
    fn list(&self) -> Result<&Examined, Error> {
        if let Some(examined) = self.examined.get() {
            return Ok(examined);
        }
        let grid = Arc::clone(&self.grid);
        let listed = Examined::list(&self.path, &self.directory, grid, self.pipeline.interrupt)?;
        Ok(self.examined.get_or_init(|| listed))
    }

    fn with_array<R>(&self, use_it: impl FnOnce(&v3::Array<'_>) -> R) -> Result<R, Error> {
        with_array(&self.path, &self.document, use_it)
    }

    fn open(&self, document: &Rewritten, refused: &str) -> Result<OpenArray, Error> {
        let parsed = parsed(&self.path, &document.text)?;
        let storage = Arc::new(ChunkFiles::below(&self.directory));
        let opened = with_array(&self.path, &parsed, |array| {
            OpenArray::open(storage.clone(), "", ArrayDocument::V3(array))
        })?;
        let array = opened.map_err(|error: OpenError| {
            let refused = Error::finding(format!("{}: {refused}", named(&self.path)));
            let problems = error.problems.iter();
            problems.fold(refused, |refused, problem| {
                refused.detail(document.located(problem))
            })
        })?;
        storage.limit(array.longest_stored_chunk());
        Ok(array.with_granted_memory(self.pipeline.memory))
    }

    fn chunk_error(&self, error: &ChunkError) -> Error {
        let kind = error.failure.kind.error_kind();
        Error::new(kind, format!("{}: {error}", named(&self.path)))
    }

    /// The error of a chunk that was listed and is not there any more.
    fn gone(&self, chunk: u64) -> Error {
        changed(&self.path, &self.grid.key(chunk), GONE)
    }

    /// Runs `work` on tasks in parallel and adds up the gaps that it finds.
    fn count_gaps<T: Send>(
        &self,
        tasks: impl Iterator<Item = T> + Send,
        bytes: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(T) -> Result<Gaps, Error> + Sync,
    ) -> Result<Gaps, Error> {
        let mut gaps = Gaps::default();
        let done = self.pipeline.ordered(tasks, bytes, work, |found| {
            let found: Gaps = found?;
            gaps.missing += found.missing;
            gaps.filled += found.filled;
            Ok(())
        });
        done.map_err(stopped)?;
        Ok(gaps)
    }

    fn present(&self, gaps: Gaps) -> Result<Presence, Error> {
        let examined = self.list()?;
        Ok(Presence {
            chunks: examined.stored(),
            missing: examined.missing(),
            missing_inner: gaps.missing,
        })
    }

    /// Decodes the codes of a site, and counts them.
    fn tally<'q>(
        &self,
        array: &OpenArray,
        behind: &Behind,
        question: &Question<'q>,
    ) -> Result<(Tally<'q>, Gaps), Error> {
        let examined = self.list()?;
        let idle: Mutex<Vec<Tally<'q>>> = Mutex::new(Vec::new());
        let chunk_shape = array.chunk_shape();
        // Where values hang on padding, it counts as held by the array.
        let edge = if behind.mixes {
            vec![u64::MAX; chunk_shape.len()]
        } else {
            array.shape().to_vec()
        };
        let work = |task: Task| {
            let index = self.grid.index(task.chunk);
            let origin: Vec<_> = index
                .iter()
                .zip(&chunk_shape)
                .map(|(at, length)| at.saturating_mul(*length))
                .collect();
            let taken = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut tally = taken.unwrap_or_else(|| Tally::new(behind.stored, question));
            let mut counted = Ok(());
            let decoded = array.stored_pieces(&index, task.parts, &mut |piece, codes| {
                let ranges = piece.iter().zip(&origin);
                let ranges: Vec<_> = ranges
                    .map(|(range, origin)| {
                        range.start.saturating_add(*origin)..range.end.saturating_add(*origin)
                    })
                    .collect();
                if counted.is_ok() {
                    counted = tally.add(&ranges, &edge, codes);
                }
            });
            idle.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(tally);
            counted.map_err(|error| self.incomparable(&error))?;
            let gaps = decoded.map_err(|error| self.chunk_error(&error))?;
            gaps.ok_or_else(|| self.gone(task.chunk))
        };
        let memory = Memory::of(array);
        let gaps = self.count_gaps(
            tasks(&examined.stamps, array),
            |task| memory.needed(task),
            work,
        )?;
        let idle = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all = Tally::new(behind.stored, question);
        idle.iter().for_each(|tally| all.merge(tally));
        Ok((all, gaps))
    }

    fn incomparable(&self, error: &EquivalenceError) -> Error {
        Error::finding(format!("{}: {error}", named(&self.path)))
    }
}

impl Evidence for StoreEvidence<'_> {
    fn scan(&self, site: &Site, question: &Question<'_>) -> Result<Scan, Error> {
        let behind = self.with_array(|array| document::behind(&self.path, array, site))??;
        let asked = question.comparisons.iter().map(|asked| asked.stored_type());
        let asked = asked.chain(question.watch.iter().map(|code| code.data_type()));
        let stored = behind.stored;
        let mut asked = asked.filter(|codes| *codes != stored);
        if let Some(codes) = asked.next() {
            return Err(self.incomparable(&EquivalenceError::Codes { codes, stored }));
        }
        let names = &behind.names;
        let array = self.open(
            &behind.document,
            &format!(
                "what {names} stored cannot be decoded here, so the codes cannot be looked at"
            ),
        )?;
        let (tally, gaps) = self.tally(&array, &behind, question)?;
        if gaps.filled > 0 && !behind.fill_is_known {
            return Err(Error::finding(format!(
                "{}: inner chunks are missing in shards behind a codec that mixes elements, and the fill that {names} would have there is not known",
                named(&self.path)
            )));
        }
        Ok(Scan {
            used: tally.used(),
            watched: tally.watched(),
            range: tally.range(),
            compared: tally.compared(),
            presence: self.present(gaps)?,
        })
    }

    fn presence(&self) -> Result<Presence, Error> {
        let examined = self.list()?;
        let shards = |array: &v3::Array<'_>| {
            let sharded = array
                .codecs
                .codecs
                .iter()
                .any(|codec| codec.sharding.is_some());
            sharded.then(|| document::shards_alone(&self.path, array))
        };
        let Some(document) = self.with_array(shards)?.transpose()? else {
            return self.present(Gaps::default());
        };
        let array = self.open(&document, "the indexes of its shards cannot be read here")?;
        let gaps = self.count_gaps(
            examined.stamps.iter(),
            |stamp| match array.parts() {
                // Shards that are compressed as a whole, or decoded as one.
                1 => stamp.length.saturating_add(array.working_bytes()),
                // The index, encoded and decoded.
                parts => parts.saturating_mul(32).min(stamp.length.saturating_mul(2)),
            },
            |stamp| {
                let gaps = array.gaps(&self.grid.index(stamp.chunk));
                let gaps = gaps.map_err(|error| self.chunk_error(&error))?;
                gaps.ok_or_else(|| self.gone(stamp.chunk))
            },
        )?;
        self.present(gaps)
    }
}

/// A chunk, or a part of a shard.
struct Task {
    chunk: u64,
    /// The bytes of the whole chunk in the store.
    length: u64,
    parts: Range<u64>,
}

/// Chunks in the order of the grid; shards that are large come in several parts, however many threads there are.
fn tasks<'s>(
    stamps: &'s [Stamp],
    array: &OpenArray,
) -> impl Iterator<Item = Task> + Send + use<'s> {
    let parts = array.parts();
    let each = parts
        .div_ceil(array.chunk_bytes().div_ceil(PART).max(1))
        .max(1);
    stamps.iter().flat_map(move |stamp| {
        let starts = (0..parts.div_ceil(each)).map(move |n| n * each);
        starts.map(move |start| Task {
            chunk: stamp.chunk,
            length: stamp.length,
            parts: start..start.saturating_add(each).min(parts),
        })
    })
}

/// What a task takes.
struct Memory {
    /// Decoding a chunk, or an inner chunk.
    working: u64,
    /// Whether the whole chunk as it is stored is in memory.
    whole: bool,
    /// The copies that are made at the edge of the array.
    copies: u64,
}

impl Memory {
    fn of(array: &OpenArray) -> Self {
        let chunk = array.chunk_shape();
        let edges = array.shape().iter().zip(&chunk);
        let has_edge = edges.into_iter().any(|(length, chunk)| length % chunk != 0);
        let inner = (array.parts() > 1)
            .then(|| array.inner_working_bytes())
            .flatten();
        let working = inner.unwrap_or_else(|| array.working_bytes());
        Self {
            working,
            whole: inner.is_none(),
            copies: if has_edge { working / 2 } else { 0 },
        }
    }

    fn needed(&self, task: &Task) -> u64 {
        // An inner chunk as it is stored is rarely larger than its codes.
        let stored = if self.whole {
            task.length
        } else {
            task.length.min(self.working / 2)
        };
        self.working
            .saturating_add(stored)
            .saturating_add(self.copies)
    }
}

fn parsed(path: &str, text: &str) -> Result<Parsed, Error> {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).map_err(|error| {
        Error::finding(format!("{}: zarr.json is not JSON", named(path))).because(error)
    })
}

/// Hands on the array that a document describes.
fn with_array<R>(
    path: &str,
    document: &Parsed,
    use_it: impl FnOnce(&v3::Array<'_>) -> R,
) -> Result<R, Error> {
    let mut problems = Problems::default();
    let array = match v3::read(&Node::root(&document.root), &mut problems) {
        v3::Document::Array(array) => array.complete(),
        _ => None,
    };
    let array = array.filter(|_| problems.is_sound());
    let refused = || {
        let refused = Error::finding(format!("{}: zarr.json is not sound", named(path)));
        let problems = problems.listed.iter();
        problems.fold(refused, |refused, problem| {
            refused.detail(problem.to_string())
        })
    };
    array.as_ref().map(use_it).ok_or_else(refused)
}

/// The error of work that was stopped.
fn stopped(stopped: Stopped<Error>) -> Error {
    match stopped {
        Stopped::Failed { error, .. } => error,
        Stopped::Interrupted(interrupted) => interrupted.into(),
    }
}
