//! A file system that fails at a chosen moment.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Files;

/// What happens at the chosen operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Fault {
    /// It fails, as on a full disk. What comes after works.
    Fails,
    /// The process is gone: neither it nor anything after it happens.
    Dies,
}

/// Counts operations, and strikes at one of them.
#[derive(Debug)]
pub(in super::super) struct Faults {
    at: u64,
    fault: Fault,
    seen: AtomicU64,
}

impl Faults {
    pub(super) fn strike(&self) -> Option<io::Error> {
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        let strikes = match self.fault {
            Fault::Fails => seen == self.at,
            Fault::Dies => seen >= self.at,
        };
        strikes.then(|| io::ErrorKind::StorageFull.into())
    }

    /// Whether the moment has come.
    pub(in super::super) fn struck(&self) -> bool {
        self.seen.load(Ordering::Relaxed) > self.at
    }
}

impl Files {
    /// A file system on which the operation after `at` others strikes.
    pub(in super::super) fn faulty(at: u64, fault: Fault) -> (Self, Arc<Faults>) {
        let faults = Arc::new(Faults {
            at,
            fault,
            seen: AtomicU64::new(0),
        });
        let files = Self {
            faults: Some(Arc::clone(&faults)),
            two_steps: false,
        };
        (files, faults)
    }

    /// The same on a system that cannot swap names.
    pub(in super::super) fn in_two_steps(mut self) -> Self {
        self.two_steps = true;
        self
    }
}
