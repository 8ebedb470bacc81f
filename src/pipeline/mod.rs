//! Work on many chunks at once, within a bound on memory, until it is done, fails, or is interrupted.
//!
//! Tasks come from an iterator that is asked for the next one only when there is a thread and memory for it: a grid may
//! have more chunks than any list could hold. They are *started* in order, always. From that follows all else: the
//! failure that is reported is the one of the smallest index, however many threads there are, and in
//! [`Pipeline::ordered`] the task whose result is waited for has been started already, so nothing waits in a circle.
//!
//! Threads are plain ones. On those of rayon a codec that splits its own work could, while it waits for the parts, be
//! handed another whole task, and memory would no longer be bounded by what tasks were permitted to take.

mod gate;
mod grid;
mod ordered;
mod unordered;

pub use self::grid::GridIndices;
pub use self::unordered::{Failure, OnFailure, Outcome};
use crate::interrupt::{Interrupt, Interrupted};

/// How tasks are run.
pub struct Pipeline<'a> {
    /// How many threads work. 0 counts as 1.
    pub threads: usize,
    /// How many bytes the tasks in flight may take together. A task that declares more runs alone.
    pub memory: u64,
    /// Asked before each task.
    pub interrupt: &'a Interrupt,
    /// Told of what happens, for progress and warnings.
    pub observer: &'a dyn Observer,
}

/// What wants to know how work goes on. It is told by the threads that work, so it should be quick.
pub trait Observer: Sync {
    /// A task that declared `bytes` is done.
    fn finished(&self, bytes: u64);

    /// A task is about to run alone, since it declared more than all of `memory`.
    fn oversized(&self, bytes: u64, memory: u64) {
        tracing::warn!(
            bytes,
            memory,
            "a chunk needs more memory than is granted, and is processed alone"
        );
    }
}

/// Counts with a function, and logs warnings.
impl<F: Fn(u64) + Sync> Observer for F {
    fn finished(&self, bytes: u64) {
        self(bytes);
    }
}

/// Why work ended before it was done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stopped<E> {
    /// A task failed.
    #[error("task {task} failed")]
    Failed {
        /// Its place in the order of tasks, from 0.
        task: u64,
        /// How.
        #[source]
        error: E,
    },
    /// A signal came.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

#[cfg(test)]
mod tests;
