//! Tasks whose results are consumed one by one, in the order of the tasks.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

use super::gate::{Gate, Permit, Ticket};
use super::{Pipeline, Stopped};

/// How many results may wait for their turn, for each thread. Memory is what bounds them; this is for
/// results that are small or declare nothing.
const AHEAD: usize = 4;

impl Pipeline<'_> {
    /// Runs `work` on every task, and hands the results to `consume` on the calling thread, in the order of the
    /// tasks. `bytes` says what a task and its result need until the result is consumed.
    ///
    /// Where a task can fail, its result says so, and `consume` decides whether that ends the work.
    ///
    /// # Errors
    ///
    /// The first error that `consume` returns, or the signal that ended the work.
    pub fn ordered<T, R, E>(
        &self,
        tasks: impl Iterator<Item = T> + Send,
        bytes: impl Fn(&T) -> u64 + Sync,
        work: impl Fn(T) -> R + Sync,
        mut consume: impl FnMut(R) -> Result<(), E>,
    ) -> Result<u64, Stopped<E>>
    where
        T: Send,
        R: Send,
    {
        let ahead = self.threads.max(1).saturating_mul(AHEAD);
        let gate = Gate::new(self, tasks, bytes, ahead.try_into().unwrap_or(u64::MAX));
        let run = |ticket: Ticket<T>| {
            let permit = Permit::new(&gate, ticket.bytes);
            let result = work(ticket.task);
            // What the result takes is given back when it has been consumed.
            permit.keep();
            (ticket.index, ticket.bytes, result)
        };
        let mut consumed = 0;
        let mut finish = |(task, bytes, result)| {
            consume(result).map_err(|error| Stopped::Failed { task, error })?;
            gate.give_back(bytes);
            self.observer.finished(bytes);
            consumed += 1;
            Ok::<(), Stopped<E>>(())
        };
        thread::scope(|scope| {
            // Whatever ends the consumer, a panic included, ends the workers.
            let _stop = gate.stop_on_drop();
            // Nothing bounds the channel but the gate, which lets nobody run too far ahead.
            let (sender, receiver) = mpsc::channel();
            let started = self.start_threads(self.threads.max(1), scope, || {
                let (sender, gate, run) = (sender.clone(), &gate, &run);
                move || {
                    while let Some(ticket) = gate.take() {
                        // A consumer that has left for good wants no more results.
                        let _ = sender.send(run(ticket));
                    }
                }
            });
            drop(sender);
            if started == 0 {
                while let Some(ticket) = gate.take() {
                    finish(run(ticket))?;
                }
            }
            let mut early = BTreeMap::new();
            let mut next = 0;
            for (index, bytes, result) in receiver {
                early.insert(index, (bytes, result));
                while let Some((bytes, result)) = early.remove(&next) {
                    self.interrupt.check()?;
                    finish((next, bytes, result))?;
                    next += 1;
                }
            }
            Ok::<(), Stopped<E>>(())
        })?;
        match gate.interrupted() {
            Some(interrupted) => Err(interrupted.into()),
            None => Ok(consumed),
        }
    }
}
