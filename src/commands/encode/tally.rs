//! What is counted while values become codes: values, losses with the first example of each kind, errors, bytes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::LossKind;
use crate::stats::ErrorMeasures;

/// The first value that was lost in a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LossExample {
    /// The chunk of the output.
    pub(super) chunk: Vec<u64>,
    /// The place in the array.
    pub(super) index: Vec<u64>,
    /// The value, in fill-value encoding.
    pub(super) value: String,
    /// What happened to it.
    pub(super) reason: String,
}

/// How many values are lost in a way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) count: u64,
    pub(super) first: Option<LossExample>,
}

impl Loss {
    /// Counts one more; the example is made for the first alone.
    pub(super) fn add(&mut self, count: u64, example: impl FnOnce() -> LossExample) {
        self.count += count;
        if self.first.is_none() {
            self.first = Some(example());
        }
    }
}

/// What was counted over a part of an array, or over all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) values: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    /// Values that a map gave their codes.
    pub(super) mapped: u64,
    /// Values whose codes are the ends of the stored type.
    pub(super) at_limits: u64,
    /// Values out of range that the chain clamps or wraps as it says.
    pub(super) clamped: u64,
    pub(super) losses: BTreeMap<LossKind, Loss>,
    pub(super) errors: ErrorMeasures,
    /// Chunks or shards that were written, and their bytes.
    pub(super) chunks: u64,
    pub(super) bytes: u64,
    /// Chunks that are nothing but fill, and were left out.
    pub(super) dropped: u64,
}

impl Tally {
    /// Adds what was counted on a part that comes behind.
    pub(super) fn merge(&mut self, part: Self) {
        self.values += part.values;
        self.nan += part.nan;
        self.infinite += part.infinite;
        self.mapped += part.mapped;
        self.at_limits += part.at_limits;
        self.clamped += part.clamped;
        for (kind, loss) in part.losses {
            let sum = self.losses.entry(kind).or_default();
            sum.count += loss.count;
            sum.first = sum.first.take().or(loss.first);
        }
        self.errors.merge(&part.errors);
        self.chunks += part.chunks;
        self.bytes += part.bytes;
        self.dropped += part.dropped;
    }

    /// The losses of a kind, to count more.
    pub(super) fn loss(&mut self, kind: LossKind) -> &mut Loss {
        self.losses.entry(kind).or_default()
    }
}

/// Tallies of tasks that end in any order, merged in the order of the tasks: sums of doubles depend on it.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    sum: Tally,
    next: u64,
    early: BTreeMap<u64, Tally>,
}

impl InOrder {
    /// Adds the tally of a task.
    pub(super) fn add(&self, task: u64, tally: Tally) {
        let mut guard = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *guard;
        state.early.insert(task, tally);
        while let Some(tally) = state.early.remove(&state.next) {
            state.sum.merge(tally);
            state.next += 1;
        }
    }

    /// The sum over all tasks.
    pub(super) fn sum(self) -> Tally {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut sum = state.sum;
        for tally in state.early.into_values() {
            sum.merge(tally);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(value: &str, count: u64) -> Tally {
        let mut tally = Tally {
            values: count,
            ..Tally::default()
        };
        tally.loss(LossKind::Nan).add(count, || LossExample {
            chunk: vec![0],
            index: vec![0],
            value: value.to_owned(),
            reason: String::new(),
        });
        tally
    }

    #[test]
    fn the_first_example_is_that_of_the_first_task_whichever_ends_first() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let all = InOrder::default();
            for task in order {
                all.add(task, lossy(&task.to_string(), task + 1));
            }
            let sum = all.sum();
            assert_eq!(sum.values, 6);
            let loss = &sum.losses[&LossKind::Nan];
            assert_eq!(loss.count, 6);
            assert_eq!(loss.first.as_ref().unwrap().value, "0");
        }
    }
}
