//! Tasks whose results need no order, since each writes at its own place.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::gate::{Gate, Permit};
use super::{Pipeline, Stopped};
use crate::interrupt::Interrupted;

/// What a failed task does to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// No more tasks are started.
    Stop,
    /// All others are done, and failures are counted.
    GoOn {
        /// How many failures are kept: those of the smallest indices.
        keep: usize,
    },
}

/// How the tasks of a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome<E> {
    /// How many succeeded.
    pub succeeded: u64,
    /// How many failed.
    pub failed: u64,
    /// The first failures, by index.
    pub failures: Vec<Failure<E>>,
    /// The signal that ended the run early, if one did.
    pub interrupted: Option<Interrupted>,
}

/// A task that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure<E> {
    /// Its place in the order of tasks, from 0.
    pub task: u64,
    /// How.
    pub error: E,
}

impl<E> Outcome<E> {
    /// The number of tasks, if all of them were done and none failed.
    ///
    /// # Errors
    ///
    /// The signal that ended the run, else the first failure.
    pub fn into_result(self) -> Result<u64, Stopped<E>> {
        if let Some(interrupted) = self.interrupted {
            return Err(interrupted.into());
        }
        match self.failures.into_iter().next() {
            Some(Failure { task, error }) => Err(Stopped::Failed { task, error }),
            None => Ok(self.succeeded),
        }
    }
}

impl Pipeline<'_> {
    /// Runs `work` on every task. `bytes` says what a task needs while it runs.
    ///
    /// The calling thread works too, and returns when all tasks that were started have ended.
    pub fn unordered<T, E>(
        &self,
        tasks: impl Iterator<Item = T> + Send,
        bytes: impl Fn(&T) -> u64 + Sync,
        on_failure: OnFailure,
        work: impl Fn(T) -> Result<(), E> + Sync,
    ) -> Outcome<E>
    where
        T: Send,
        E: Send,
    {
        // What is done needs no turn, so nothing limits how far ahead a task may run.
        let gate = Gate::new(self, tasks, bytes, u64::MAX);
        let tally = Tally::new(on_failure);
        let worker = || {
            while let Some(ticket) = gate.take() {
                let permit = Permit::new(&gate, ticket.bytes);
                match work(ticket.task) {
                    Ok(()) => tally.success(),
                    Err(error) => {
                        if on_failure == OnFailure::Stop {
                            gate.stop();
                        }
                        tally.failure(ticket.index, error);
                    }
                }
                permit.give_back();
                self.observer.finished(ticket.bytes);
            }
        };
        thread::scope(|scope| {
            self.start_threads(self.threads.max(1) - 1, scope, || &worker);
            worker();
        });
        tally.outcome(gate.interrupted())
    }

    /// Starts threads, and returns how many: where the system refuses more, fewer have to do.
    pub(super) fn start_threads<'scope, W>(
        &self,
        wanted: usize,
        scope: &'scope thread::Scope<'scope, '_>,
        worker: impl Fn() -> W,
    ) -> usize
    where
        W: FnOnce() + Send + 'scope,
    {
        for started in 0..wanted {
            let thread = thread::Builder::new().name("zarrpack-worker".into());
            if let Err(error) = thread.spawn_scoped(scope, worker()) {
                tracing::debug!(%error, started, wanted, "could not start all threads");
                return started;
            }
        }
        wanted
    }
}

/// Counts, and the failures that are kept.
struct Tally<E> {
    keep: usize,
    counts: Mutex<Counts<E>>,
}

struct Counts<E> {
    succeeded: u64,
    failed: u64,
    kept: BTreeMap<u64, E>,
}

impl<E> Tally<E> {
    fn new(on_failure: OnFailure) -> Self {
        let keep = match on_failure {
            OnFailure::Stop => 1,
            OnFailure::GoOn { keep } => keep,
        };
        Self {
            keep,
            counts: Mutex::new(Counts {
                succeeded: 0,
                failed: 0,
                kept: BTreeMap::new(),
            }),
        }
    }

    fn success(&self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.succeeded += 1;
    }

    fn failure(&self, index: u64, error: E) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.failed += 1;
        counts.kept.insert(index, error);
        if counts.kept.len() > self.keep {
            counts.kept.pop_last();
        }
    }

    fn outcome(self, interrupted: Option<Interrupted>) -> Outcome<E> {
        let counts = self
            .counts
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let kept = counts.kept.into_iter();
        Outcome {
            succeeded: counts.succeeded,
            failed: counts.failed,
            failures: kept.map(|(task, error)| Failure { task, error }).collect(),
            interrupted,
        }
    }
}
