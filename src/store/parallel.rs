//! Many small operations on files, several at a time: a file system answers many nearly as fast as one.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::StoreError;

/// Operations at a time, whatever the number of processors: they wait for the disk.
pub(super) const ABREAST: NonZero<usize> = NonZero::new(8).expect("eight is not zero");

/// Does something with each item. After a failure no further item is begun; those in hand are finished, and of several failures
/// that of the earliest item is told.
pub(super) fn for_each<T: Sync>(
    items: &[T],
    act: &(dyn Fn(&T) -> Result<(), StoreError> + Sync),
) -> Result<(), StoreError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            if let Err(error) = act(item) {
                failed.store(true, Ordering::Relaxed);
                return Some((index, error));
            }
        }
        None
    };
    let failure = thread::scope(|scope| {
        // This thread works too, so it does not matter how many others the system grants.
        let others: Vec<_> = (1..ABREAST.get().min(items.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut failures: Vec<_> = work().into_iter().collect();
        for thread in others {
            let outcome = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            failures.extend(outcome);
        }
        failures.into_iter().min_by_key(|(index, _)| *index)
    });
    failure.map_or(Ok(()), |(_, error)| Err(error))
}

/// Does something with each item of a list that is made meanwhile. After a failure no further item is begun.
pub(super) fn for_each_of<T, I>(
    items: &Mutex<I>,
    act: &(dyn Fn(T) -> Result<(), StoreError> + Sync),
) -> Result<(), StoreError>
where
    I: Iterator<Item = Result<T, StoreError>> + Send,
{
    // Each turn takes one item, so that threads need not know how many there are.
    let next = || {
        let mut items = items.lock().unwrap_or_else(PoisonError::into_inner);
        items.next()
    };
    let failed = AtomicBool::new(false);
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let Some(item) = next() else { break };
            if let Err(error) = item.and_then(act) {
                failed.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..ABREAST.get())
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        others.into_iter().fold(work(), |outcome, thread| {
            let other = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome.and(other)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_its_turn_once() {
        let seen: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        let items: Vec<usize> = (0..100).collect();
        for_each(&items, &|index| {
            seen[*index].fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn a_failure_is_told_and_nothing_is_begun_after_it() {
        let begun = AtomicUsize::new(0);
        let items: Vec<usize> = (0..10_000).collect();
        let outcome = for_each(&items, &|_| {
            begun.fetch_add(1, Ordering::Relaxed);
            Err(StoreError::Empty)
        });
        assert!(matches!(outcome, Err(StoreError::Empty)));
        assert!(begun.into_inner() <= ABREAST.get());
    }
}
