//! Runs with many numbers of threads: the same results, in the same bounds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::*;
use crate::interrupt::Signal;

const THREADS: [usize; 6] = [0, 1, 2, 3, 8, 33];

fn pipeline<'a>(
    threads: usize,
    memory: u64,
    interrupt: &'a Interrupt,
    observer: &'a dyn Observer,
) -> Pipeline<'a> {
    Pipeline {
        threads,
        memory,
        interrupt,
        observer,
    }
}

/// Takes a little time, more or less of it, so that tasks overtake each other.
fn dawdle(task: u64) {
    thread::sleep(Duration::from_micros(task * 7919 % 97));
}

#[test]
fn all_tasks_are_done_whatever_the_number_of_threads() {
    let interrupt = Interrupt::default();
    for threads in THREADS {
        let places: Vec<AtomicU64> = (0..500).map(|_| AtomicU64::new(0)).collect();
        let bytes = AtomicU64::new(0);
        let observer = |done| {
            bytes.fetch_add(done, Ordering::Relaxed);
        };
        let outcome = pipeline(threads, 100, &interrupt, &observer).unordered(
            0..500_u64,
            |task| task % 10,
            OnFailure::Stop,
            |task| {
                dawdle(task);
                places[usize::try_from(task).unwrap()].store(task + 1, Ordering::Relaxed);
                Ok::<(), ()>(())
            },
        );
        assert_eq!(outcome.into_result(), Ok(500));
        let written = places.iter().map(|place| place.load(Ordering::Relaxed));
        assert!(written.eq(1..=500), "{threads}");
        assert_eq!(bytes.load(Ordering::Relaxed), 50 * 45);
    }
}

#[test]
fn results_come_in_order_whatever_the_number_of_threads() {
    let interrupt = Interrupt::default();
    for threads in THREADS {
        let mut results = Vec::new();
        let outcome = pipeline(threads, 100, &interrupt, &|_| {}).ordered(
            0..500_u64,
            |task| task % 60,
            |task| {
                dawdle(task);
                task * task
            },
            |result| {
                results.push(result);
                Ok::<(), ()>(())
            },
        );
        assert_eq!(outcome, Ok(500));
        assert!(results.into_iter().eq((0..500).map(|task| task * task)));
    }
}

/// Counts what is in flight, and remembers the most.
#[derive(Default)]
struct Gauge {
    now: Mutex<(u64, u64)>,
    most: AtomicU64,
    most_tasks: AtomicU64,
}

impl Gauge {
    fn add(&self, bytes: u64) {
        let mut now = self.now.lock().unwrap();
        now.0 += bytes;
        now.1 += 1;
        self.most.fetch_max(now.0, Ordering::Relaxed);
        self.most_tasks.fetch_max(now.1, Ordering::Relaxed);
    }

    fn remove(&self, bytes: u64) {
        let mut now = self.now.lock().unwrap();
        now.0 -= bytes;
        now.1 -= 1;
    }
}

#[test]
fn tasks_in_flight_stay_within_memory() {
    let interrupt = Interrupt::default();
    let gauge = Gauge::default();
    let outcome = pipeline(16, 1000, &interrupt, &|_| {}).unordered(
        0..300_u64,
        |task| 100 + task,
        OnFailure::Stop,
        |task| {
            gauge.add(100 + task);
            dawdle(task);
            gauge.remove(100 + task);
            Ok::<(), ()>(())
        },
    );
    assert_eq!(outcome.into_result(), Ok(300));
    assert!(gauge.most.load(Ordering::Relaxed) <= 1000);
    assert!(gauge.most_tasks.load(Ordering::Relaxed) > 1);
}

#[test]
fn results_that_wait_for_their_turn_count_as_memory() {
    let interrupt = Interrupt::default();
    let gauge = Gauge::default();
    let outcome = pipeline(16, 1000, &interrupt, &|_| {}).ordered(
        0..300_u64,
        |_| 100,
        |task| {
            gauge.add(100);
            // The first of every ten lets the others wait.
            thread::sleep(Duration::from_millis(if task % 10 == 0 { 2 } else { 0 }));
        },
        |()| {
            gauge.remove(100);
            Ok::<(), ()>(())
        },
    );
    assert_eq!(outcome, Ok(300));
    assert!(gauge.most.load(Ordering::Relaxed) <= 1000);
}

#[test]
fn a_small_result_does_not_let_tasks_run_ahead_for_ever() {
    let interrupt = Interrupt::default();
    let gauge = Gauge::default();
    let outcome = pipeline(2, 1000, &interrupt, &|_| {}).ordered(
        0..1000_u64,
        |_| 0,
        |_| gauge.add(0),
        |()| {
            thread::sleep(Duration::from_micros(10));
            gauge.remove(0);
            Ok::<(), ()>(())
        },
    );
    assert_eq!(outcome, Ok(1000));
    assert!(gauge.most_tasks.load(Ordering::Relaxed) <= 8);
}

/// Remembers what was oversized.
#[derive(Default)]
struct Sizes(Mutex<Vec<(u64, u64)>>);

impl Observer for Sizes {
    fn finished(&self, _: u64) {}

    fn oversized(&self, bytes: u64, memory: u64) {
        self.0.lock().unwrap().push((bytes, memory));
    }
}

#[test]
fn a_task_beyond_all_memory_runs_alone_and_is_told_of() {
    let interrupt = Interrupt::default();
    let sizes = Sizes::default();
    let gauge = Gauge::default();
    let bytes = |task: u64| if task == 20 { u64::MAX } else { 1 };
    let outcome = pipeline(8, 1000, &interrupt, &sizes).unordered(
        0..40_u64,
        |&task| bytes(task),
        OnFailure::Stop,
        |task| {
            gauge.add(bytes(task) >> 1);
            dawdle(task);
            let alone = gauge.now.lock().unwrap().1 == 1;
            gauge.remove(bytes(task) >> 1);
            if task == 20 && !alone {
                Err("not alone")
            } else {
                Ok(())
            }
        },
    );
    assert_eq!(outcome.into_result(), Ok(40));
    assert_eq!(*sizes.0.lock().unwrap(), [(u64::MAX, 1000)]);
}

#[test]
fn the_failure_of_the_smallest_index_is_the_one_that_is_told() {
    let interrupt = Interrupt::default();
    for threads in THREADS {
        let started = AtomicU64::new(0);
        let outcome = pipeline(threads, 1 << 20, &interrupt, &|_| {}).unordered(
            0_u64..,
            |_| 1,
            OnFailure::Stop,
            |task| {
                started.fetch_add(1, Ordering::Relaxed);
                // The first to fail is the slowest to do so.
                thread::sleep(Duration::from_micros(if task == 50 { 5000 } else { 50 }));
                if task >= 50 { Err(task) } else { Ok(()) }
            },
        );
        let expected = Stopped::Failed {
            task: 50,
            error: 50,
        };
        assert_eq!(outcome.into_result(), Err(expected), "{threads}");
        assert!(started.load(Ordering::Relaxed) < 51 + 2 * 33);
    }
}

#[test]
fn all_failures_are_counted_and_the_first_ones_kept() {
    let interrupt = Interrupt::default();
    for threads in THREADS {
        let outcome = pipeline(threads, 1 << 20, &interrupt, &|_| {}).unordered(
            0..300_u64,
            |_| 1,
            OnFailure::GoOn { keep: 3 },
            |task| {
                dawdle(task);
                if task % 7 == 5 { Err(task) } else { Ok(()) }
            },
        );
        let kept: Vec<u64> = outcome
            .failures
            .iter()
            .map(|failure| failure.error)
            .collect();
        assert_eq!(kept, [5, 12, 19]);
        assert_eq!((outcome.succeeded, outcome.failed), (257, 43));
    }
}

#[test]
fn what_is_consumed_ends_with_the_consumers_error() {
    let interrupt = Interrupt::default();
    for threads in THREADS {
        let mut consumed = Vec::new();
        let outcome = pipeline(threads, 1 << 20, &interrupt, &|_| {}).ordered(
            0_u64..,
            |_| 1,
            |task| if task < 20 { Ok(task) } else { Err("bad") },
            |result| {
                consumed.push(result?);
                Ok(())
            },
        );
        let error = "bad";
        assert_eq!(outcome, Err(Stopped::Failed { task: 20, error }));
        assert!(consumed.into_iter().eq(0..20));
    }
}

#[test]
fn a_signal_ends_the_work() {
    for threads in THREADS {
        let interrupt = Interrupt::default();
        let pipeline = pipeline(threads, 1 << 20, &interrupt, &|_| {});
        let expected = Interrupted(Signal::Terminate);
        let outcome = pipeline.unordered(
            0_u64..,
            |_| 1,
            OnFailure::GoOn { keep: 1 },
            |task| {
                if task == 30 {
                    interrupt.raise(Signal::Terminate);
                }
                Ok::<(), ()>(())
            },
        );
        assert_eq!(outcome.into_result(), Err(expected.into()));
        let outcome = pipeline.ordered(0_u64.., |_| 1, |_| (), |()| Ok::<(), ()>(()));
        assert_eq!(outcome, Err(expected.into()));
    }
}

#[test]
fn a_panic_of_a_task_is_passed_on_and_nobody_waits_for_ever() {
    let interrupt = Interrupt::default();
    let attempt = |ordered: bool| {
        let interrupt = &interrupt;
        thread::spawn({
            let interrupt = interrupt.clone();
            move || {
                let pipeline = pipeline(4, 10, &interrupt, &|_| {});
                let work = |task: u64| assert!(task != 9, "nine");
                if ordered {
                    let consume = |()| Ok::<(), ()>(());
                    pipeline.ordered(0..100_u64, |_| 10, work, consume).is_ok()
                } else {
                    let work = |task| {
                        work(task);
                        Ok::<(), ()>(())
                    };
                    let outcome = pipeline.unordered(0..100_u64, |_| 10, OnFailure::Stop, work);
                    outcome.into_result().is_ok()
                }
            }
        })
        .join()
    };
    assert!(attempt(true).is_err());
    assert!(attempt(false).is_err());
}

#[test]
fn no_list_of_tasks_is_made() {
    let interrupt = Interrupt::default();
    let grid = GridIndices::new(&[1 << 40, 1 << 40]);
    let outcome = pipeline(4, 1 << 20, &interrupt, &|_| {}).unordered(
        grid,
        |_| 1,
        OnFailure::Stop,
        |index| if index[1] == 1000 { Err(()) } else { Ok(()) },
    );
    let expected = Stopped::Failed {
        task: 1000,
        error: (),
    };
    assert_eq!(outcome.into_result(), Err(expected));
}
