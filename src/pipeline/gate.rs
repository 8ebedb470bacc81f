//! Handing out tasks in order, as threads and memory become free.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Pipeline;
use crate::interrupt::Interrupted;

/// Where threads get their tasks, and wait for them.
pub(super) struct Gate<'a, I: Iterator, F> {
    pipeline: &'a Pipeline<'a>,
    /// What a task declares to need.
    bytes: F,
    /// How far tasks may run ahead of the first that is not done with.
    ahead: u64,
    state: Mutex<State<I>>,
    changed: Condvar,
}

struct State<I: Iterator> {
    tasks: I,
    /// The task that is next, with its bytes, once it was asked for.
    peeked: Option<(I::Item, u64)>,
    exhausted: bool,
    /// The index of the next task.
    next: u64,
    /// The bytes of the tasks in flight, and how many those are.
    in_use: u64,
    in_flight: u64,
    /// How many tasks are done with.
    done: u64,
    stopped: bool,
    interrupted: Option<Interrupted>,
}

/// A task with the permission to run it.
pub(super) struct Ticket<T> {
    pub(super) index: u64,
    pub(super) bytes: u64,
    pub(super) task: T,
}

impl<'a, I, F> Gate<'a, I, F>
where
    I: Iterator,
    F: Fn(&I::Item) -> u64,
{
    pub(super) fn new(pipeline: &'a Pipeline<'a>, tasks: I, bytes: F, ahead: u64) -> Self {
        Self {
            pipeline,
            bytes,
            ahead,
            state: Mutex::new(State {
                tasks,
                peeked: None,
                exhausted: false,
                next: 0,
                in_use: 0,
                in_flight: 0,
                done: 0,
                stopped: false,
                interrupted: None,
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits until the next task may start, and takes it; `None` once no more tasks will start.
    pub(super) fn take(&self) -> Option<Ticket<I::Item>> {
        let mut state = self.state();
        loop {
            if let Err(interrupted) = self.pipeline.interrupt.check() {
                state.interrupted = Some(interrupted);
                self.stop_locked(&mut state);
            }
            if state.stopped || !self.peek(&mut state) {
                return None;
            }
            if let Some(ticket) = self.admit(&mut state) {
                drop(state);
                if ticket.bytes > self.pipeline.memory {
                    let observer = self.pipeline.observer;
                    observer.oversized(ticket.bytes, self.pipeline.memory);
                }
                return Some(ticket);
            }
            state = self.wait(state);
        }
    }

    /// Gives back what a task was granted.
    pub(super) fn give_back(&self, bytes: u64) {
        let mut state = self.state();
        state.in_use -= bytes;
        state.in_flight -= 1;
        state.done += 1;
        drop(state);
        self.changed.notify_all();
    }

    /// Lets no more tasks start.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        self.stop_locked(&mut state);
    }

    /// Stops when what is returned is dropped.
    pub(super) const fn stop_on_drop(&self) -> StopOnDrop<'_, 'a, I, F> {
        StopOnDrop(self)
    }

    /// The signal that ended the work, if one did.
    pub(super) fn interrupted(&self) -> Option<Interrupted> {
        self.state().interrupted
    }

    fn state(&self) -> MutexGuard<'_, State<I>> {
        // A thread that panics while it holds the lock leaves numbers behind, and they are sound at every point.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<I>>) -> MutexGuard<'s, State<I>> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    fn stop_locked(&self, state: &mut State<I>) {
        state.stopped = true;
        self.changed.notify_all();
    }

    /// Makes sure that the next task is known; false if there is none.
    fn peek(&self, state: &mut State<I>) -> bool {
        if state.peeked.is_none() && !state.exhausted {
            match state.tasks.next() {
                Some(task) => {
                    let bytes = (self.bytes)(&task);
                    state.peeked = Some((task, bytes));
                }
                None => {
                    state.exhausted = true;
                    self.changed.notify_all();
                }
            }
        }
        state.peeked.is_some()
    }

    /// Takes the next task if there is room for it.
    fn admit(&self, state: &mut State<I>) -> Option<Ticket<I::Item>> {
        let memory = self.pipeline.memory;
        let (task, bytes) = state.peeked.take_if(|&mut (_, bytes)| {
            let fits = state
                .in_use
                .checked_add(bytes)
                .is_some_and(|sum| sum <= memory);
            (fits || state.in_flight == 0) && state.next - state.done < self.ahead
        })?;
        let index = state.next;
        state.next += 1;
        state.in_use += bytes;
        state.in_flight += 1;
        Some(Ticket { index, bytes, task })
    }
}

/// What a task was granted. If the task panics, nothing more is started, and what it had is given back, so that
/// no other thread waits for it for ever.
pub(super) struct Permit<'g, 'a, I: Iterator, F: Fn(&I::Item) -> u64> {
    gate: &'g Gate<'a, I, F>,
    /// `None` once the task has ended.
    bytes: Option<u64>,
}

impl<'g, 'a, I: Iterator, F: Fn(&I::Item) -> u64> Permit<'g, 'a, I, F> {
    pub(super) const fn new(gate: &'g Gate<'a, I, F>, bytes: u64) -> Self {
        let bytes = Some(bytes);
        Self { gate, bytes }
    }

    /// The task has ended, and its memory is free.
    pub(super) fn give_back(mut self) {
        if let Some(bytes) = self.bytes.take() {
            self.gate.give_back(bytes);
        }
    }

    /// The task has ended, and its result goes on to use its memory.
    pub(super) fn keep(mut self) {
        self.bytes = None;
    }
}

impl<I: Iterator, F: Fn(&I::Item) -> u64> Drop for Permit<'_, '_, I, F> {
    fn drop(&mut self) {
        if let Some(bytes) = self.bytes.take() {
            self.gate.stop();
            self.gate.give_back(bytes);
        }
    }
}

/// Lets no more tasks start once it is dropped.
pub(super) struct StopOnDrop<'g, 'a, I: Iterator, F: Fn(&I::Item) -> u64>(&'g Gate<'a, I, F>);

impl<I: Iterator, F: Fn(&I::Item) -> u64> Drop for StopOnDrop<'_, '_, I, F> {
    fn drop(&mut self) {
        self.0.stop();
    }
}
