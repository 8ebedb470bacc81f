//! The two passes over the data: one that looks, one that measures.

use super::SuggestError;
use super::candidate::Candidate;
use super::frame::Frame;
use super::halfway::halfway;
use super::histogram::Histogram;
use super::stored_size::Sizer;
use super::subject::{ReadError, Subject};
use super::survey::Survey;
use super::trial::{Bench, Trial};
use super::wish::Tolerance;
use crate::pipeline::{Pipeline, Stopped};

/// How many values are kept as a sample, from how many tasks at most.
const SAMPLE: u64 = 1 << 16;
const SAMPLED_TASKS: u64 = 1 << 12;

/// How many bytes of values are compressed to estimate sizes, unless there are fewer.
const COMPRESSED: u64 = 64 << 20;

/// How many steps of a candidate are looked at halfway, where there are no data.
const HALVES: u64 = 1 << 20;

/// Looks at all values of a subject.
pub(super) fn look(
    subject: &Subject<'_>,
    place: usize,
    pipeline: &Pipeline<'_>,
) -> Result<Survey, SuggestError> {
    let empty = || Survey::new(subject.data_type, &subject.stand_ins).with_fill(subject.fill);
    let tasks = subject.tasks_to_read();
    let sampled = tasks.clamp(1, SAMPLED_TASKS);
    let keep = SAMPLE.div_ceil(sampled);
    let (bytes, per_task) = (subject.task_bytes(), subject.task_elements());
    let mut all = empty();
    let done = pipeline.ordered(
        subject.tasks().zip(0_u64..),
        |_| bytes,
        |(task, nth)| {
            let mut survey = empty();
            let keep = if chosen(nth, sampled, tasks) { keep } else { 0 };
            subject.read(task, |piece| {
                let elements = (piece.values.len() / subject.data_type.size()) as u64;
                let share = u128::from(elements) * u128::from(keep);
                let share = share.div_ceil(u128::from(per_task.max(1)));
                survey.look(piece.values, usize::try_from(share).unwrap_or(1));
            })?;
            Ok(survey)
        },
        |survey: Result<Survey, ReadError>| {
            all.merge(&survey?);
            Ok(())
        },
    );
    done.map_err(|stopped| failed(place, stopped))?;
    Ok(all)
}

/// What candidates did to the values of one subject.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) trials: Vec<Trial>,
    /// The bytes that each candidate takes, as far as they can be told.
    pub(super) bytes: Vec<Option<f64>>,
    pub(super) histogram: Histogram,
}

/// Runs candidates on all values of a subject.
pub(super) fn measure(
    subject: &Subject<'_>,
    place: usize,
    candidates: &[&Candidate],
    tolerance: Tolerance,
    frame: &Frame,
    range: (f64, f64),
    pipeline: &Pipeline<'_>,
) -> Result<Measured, SuggestError> {
    let sizers: Vec<Option<Sizer>> = candidates
        .iter()
        .map(|candidate| {
            let sizer = subject
                .storage
                .encoder(candidate.stored, candidate.stored_fill());
            sizer
                .inspect_err(|reason| tracing::debug!(%reason, "sizes are not estimated"))
                .ok()
        })
        .collect();
    let histogram = || Histogram::new(range.0, range.1);
    let mut all = Part {
        trials: vec![Trial::default(); candidates.len()],
        bytes: vec![Some(0); candidates.len()],
        histogram: histogram(),
        compressed: 0,
    };
    // The codes of a piece, and what they are compressed into.
    let widest = candidates.iter().map(|candidate| candidate.stored.size());
    let widest = widest.max().unwrap_or(1) as u64;
    let piece = subject.piece_elements().saturating_mul(2 * widest);
    let bytes = subject.task_bytes().saturating_add(piece);
    let size = subject.data_type.size() as u64;
    let task = subject.task_elements().saturating_mul(size).max(1);
    let tasks = subject.tasks_to_read();
    let wanted = if subject.has_data() {
        COMPRESSED.div_ceil(task).min(tasks)
    } else {
        // What nobody has measured yet compresses as nobody knows.
        0
    };
    let done = pipeline.ordered(
        subject.tasks().zip(0_u64..),
        |_| bytes,
        |(task, nth)| {
            let compress = chosen(nth, wanted, tasks);
            let mut part = Part {
                trials: vec![Trial::default(); candidates.len()],
                bytes: vec![Some(0); candidates.len()],
                histogram: histogram(),
                compressed: u64::from(compress),
            };
            let mut bench = Bench::new(subject.data_type, tolerance, &frame.stand_ins);
            subject.read(task, |piece| {
                bench.run(piece.values, candidates, &mut part.trials, |values| {
                    part.histogram.add(values);
                });
                if compress {
                    for ((candidate, sizer), bytes) in
                        candidates.iter().zip(&sizers).zip(&mut part.bytes)
                    {
                        let took = sizer
                            .as_ref()
                            .and_then(|sizer| sizer.size(codes(candidate, piece.whole)).ok());
                        *bytes = bytes.zip(took).map(|(all, took)| all + took);
                    }
                }
            })?;
            for bytes in part.bytes.iter_mut().flatten().filter(|bytes| **bytes > 0) {
                *bytes = bytes.saturating_add(subject.storage.beside());
            }
            Ok(part)
        },
        |part: Result<Part, ReadError>| {
            all.merge(&part?);
            Ok(())
        },
    );
    done.map_err(|stopped| failed(place, stopped))?;
    if !subject.has_data() && !subject.is_exhaustive() {
        let mut bench = Bench::new(subject.data_type, tolerance, &frame.stand_ins);
        for (candidate, trial) in candidates.iter().zip(&mut all.trials) {
            pipeline.interrupt.check()?;
            let halves = halfway(frame, candidate, HALVES);
            bench.run(&halves, &[candidate], std::slice::from_mut(trial), |_| ());
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let whole = |bytes: u64| bytes as f64 / all.compressed as f64 * subject.all_tasks() as f64;
    let bytes = all
        .bytes
        .iter()
        .zip(&sizers)
        .map(|(bytes, sizer)| {
            let known = sizer.is_some() && all.compressed > 0;
            bytes.filter(|_| known).map(whole)
        })
        .collect();
    Ok(Measured {
        trials: all.trials,
        bytes,
        histogram: all.histogram,
    })
}

/// Whether the task of this place is one of so many that are spread evenly over all.
fn chosen(place: u64, wanted: u64, all: u64) -> bool {
    let before = |n: u64| u128::from(n) * u128::from(wanted) / u128::from(all.max(1));
    before(place) < before(place + 1)
}

/// What one task found.
struct Part {
    trials: Vec<Trial>,
    bytes: Vec<Option<u64>>,
    histogram: Histogram,
    /// How many tasks were compressed.
    compressed: u64,
}

impl Part {
    fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.trials.iter_mut().zip(&other.trials) {
            ours.merge(theirs);
        }
        for (ours, theirs) in self.bytes.iter_mut().zip(&other.bytes) {
            *ours = ours.zip(*theirs).map(|(a, b)| a + b);
        }
        self.histogram.merge(&other.histogram);
        self.compressed += other.compressed;
    }
}

/// The codes of whole pieces; what cannot be encoded, beyond the edge of the array perhaps, is zeros.
fn codes(candidate: &Candidate, elements: &[u8]) -> Vec<u8> {
    use crate::transform::chain::Direction;
    let count = elements.len() / candidate.chain.data_type().size();
    let mut codes = vec![0; count * candidate.stored.size()];
    let pass = candidate.chain.pass(Direction::Encode);
    let _ = pass.run(elements, &mut codes, &mut |_| {
        std::ops::ControlFlow::Continue(())
    });
    codes
}

fn failed(subject: usize, stopped: Stopped<ReadError>) -> SuggestError {
    match stopped {
        Stopped::Failed { error, .. } => SuggestError::Unreadable {
            subject,
            error: Box::new(error),
        },
        Stopped::Interrupted(interrupted) => interrupted.into(),
    }
}
