//! Replacing many documents: first all that takes their place is written and flushed out of sight, then names change.
//!
//! So the time in which a hierarchy is neither as it was nor as it will be is that of the renames, not that of the writing, and
//! a full disk shows before anything is replaced.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::super::StoreError;
use super::super::document::read_document;
use super::super::files::Files;
use super::super::parallel::for_each;
use super::record::Fingerprint;
use super::{Observer, Phase, Progress};
use crate::interrupt::Interrupt;

/// Permissions and owner of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) mode: u32,
    /// Owner and group.
    pub(super) owner: (u32, u32),
}

impl Attributes {
    #[cfg(unix)]
    pub(super) fn of(metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &fs::Metadata) -> Option<Self> {
        None
    }
}

/// Where what takes the place of a document is written.
pub(super) fn temporary(target: &Path, id: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.zarrpack-{id}"))
}

/// What takes the place of a document.
#[derive(Debug)]
pub(super) struct New<'b> {
    pub(super) bytes: Cow<'b, [u8]>,
    pub(super) attributes: Option<Attributes>,
}

/// One document to replace, create or remove.
#[derive(Debug)]
pub(super) struct Change<'b> {
    target: PathBuf,
    temporary: PathBuf,
    step: u32,
    /// What is there now.
    from: Option<Fingerprint>,
    to: Option<New<'b>>,
    /// Set before its name changes.
    begun: AtomicBool,
}

impl<'b> Change<'b> {
    pub(super) fn new(
        target: PathBuf,
        id: &str,
        step: u32,
        from: Option<Fingerprint>,
        to: Option<New<'b>>,
    ) -> Self {
        let temporary = temporary(&target, id);
        Self {
            target,
            temporary,
            step,
            from,
            to,
            begun: AtomicBool::new(false),
        }
    }

    /// Insists that the document is what it was thought to be.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if holds(&self.target, self.from.as_ref())? {
            Ok(())
        } else {
            Err(StoreError::Changed(self.target.clone()))
        }
    }

    /// Writes what will take its place beside it. False if owner or group could not be kept.
    fn prepare(&self, files: &Files) -> Result<bool, StoreError> {
        let Some(new) = &self.to else { return Ok(true) };
        // One of this name can only be what a run that was killed left of the same change.
        files.discard(&self.temporary)?;
        let file = files.create_new(&self.temporary)?;
        files.write_all(&file, &self.temporary, &new.bytes)?;
        let kept = keep(files, &file, &self.temporary, new.attributes)?;
        files.sync(&file, &self.temporary)?;
        Ok(kept)
    }

    fn publish(&self, files: &Files) -> Result<(), StoreError> {
        self.check()?;
        self.begun.store(true, Ordering::Relaxed);
        match (&self.from, &self.to) {
            (Some(_), Some(_)) => files.rename(&self.temporary, &self.target),
            (None, Some(_)) => match files.rename_new(&self.temporary, &self.target) {
                Err(StoreError::Exists(path)) => Err(StoreError::Changed(path)),
                outcome => outcome,
            },
            (Some(_), None) => files.remove_file(&self.target),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(unix)]
fn keep(
    files: &Files,
    file: &fs::File,
    path: &Path,
    attributes: Option<Attributes>,
) -> Result<bool, StoreError> {
    let Some(attributes) = attributes else {
        return Ok(true);
    };
    let made = file
        .metadata()
        .map_err(StoreError::io("look at", path))
        .map(|metadata| Attributes::of(&metadata))?;
    let same = made.is_some_and(|made| made.owner == attributes.owner);
    let kept = same || files.set_owner(file, path, attributes.owner)?;
    // Afterwards, since changing the owner may take permissions away.
    files.set_mode(file, path, attributes.mode)?;
    Ok(kept)
}

#[cfg(not(unix))]
fn keep(
    _files: &Files,
    _file: &fs::File,
    _path: &Path,
    _attributes: Option<Attributes>,
) -> Result<bool, StoreError> {
    Ok(true)
}

/// Whether a path holds these bytes, or nothing where nothing is expected.
pub(super) fn holds(path: &Path, expected: Option<&Fingerprint>) -> Result<bool, StoreError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(expected.is_none()),
        Err(error) => return Err(StoreError::io("look at", path)(error)),
    };
    let Some(expected) = expected else {
        return Ok(false);
    };
    if !metadata.is_file() || metadata.len() != expected.bytes {
        return Ok(false);
    }
    match read_document(path, expected.bytes) {
        Ok(bytes) => Ok(Fingerprint::of(&bytes) == *expected),
        // It grew since, or went.
        Err(StoreError::TooLarge { .. } | StoreError::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Changes that belong together.
pub(super) struct Changes<'a, 'b> {
    files: &'a Files,
    changes: &'a [Change<'b>],
    interrupt: &'a Interrupt,
    pub(super) observer: Observer<'a>,
}

impl<'a, 'b> Changes<'a, 'b> {
    /// Changes, in the order of their steps.
    pub(super) fn new(
        files: &'a Files,
        changes: &'a mut [Change<'b>],
        interrupt: &'a Interrupt,
        observer: Observer<'a>,
    ) -> Self {
        changes.sort_by_key(|change| change.step);
        Self {
            files,
            changes,
            interrupt,
            observer,
        }
    }

    /// The documents that may have been replaced, of those that are listed in the same order.
    pub(super) fn begun<'e, T>(&self, entries: &'e [T]) -> Vec<(&'e T, PathBuf)> {
        let pairs = entries.iter().zip(self.changes);
        pairs
            .filter(|(_, change)| change.begun.load(Ordering::Relaxed))
            .map(|(entry, change)| (entry, change.target.clone()))
            .collect()
    }

    /// Insists that every document is what it was thought to be.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.each(Phase::Checking, self.changes, &Change::check)
    }

    /// Writes and flushes everything beside its place, and names the documents whose owner cannot be kept.
    pub(super) fn prepare(&self) -> Result<Vec<PathBuf>, StoreError> {
        let reowned = Mutex::new(Vec::new());
        self.each(Phase::Preparing, self.changes, &|change| {
            if !change.prepare(self.files)? {
                let mut reowned = reowned.lock().unwrap_or_else(PoisonError::into_inner);
                reowned.push(change.target.clone());
            }
            Ok(())
        })?;
        let mut reowned = reowned.into_inner().unwrap_or_else(PoisonError::into_inner);
        reowned.sort();
        Ok(reowned)
    }

    /// Puts everything in place, step by step, each flushed before the next begins.
    pub(super) fn publish(&self) -> Result<(), StoreError> {
        for step in self.changes.chunk_by(|a, b| a.step == b.step) {
            self.each(Phase::Replacing, step, &|change| change.publish(self.files))?;
            let directories: BTreeSet<&Path> = step
                .iter()
                .filter_map(|change| change.target.parent())
                .collect();
            let directories: Vec<&Path> = directories.into_iter().collect();
            self.each(Phase::Flushing, &directories, &|directory| {
                self.files.sync_dir(directory)
            })?;
        }
        Ok(())
    }

    /// Removes what was written and not put in place. No signal stops it.
    pub(super) fn tidy_up(&self) -> Result<(), StoreError> {
        for_each(self.changes, &|change| {
            match self.files.discard(&change.temporary) {
                // A directory that is gone has taken it along.
                Err(StoreError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotADirectory =>
                {
                    Ok(())
                }
                outcome => outcome.map(|_| ()),
            }
        })
    }

    fn each<T: Sync>(
        &self,
        phase: Phase,
        items: &[T],
        act: &(dyn Fn(&T) -> Result<(), StoreError> + Sync),
    ) -> Result<(), StoreError> {
        let done = AtomicUsize::new(0);
        let tell = |done| {
            (self.observer)(Progress {
                phase,
                done,
                of: items.len(),
            });
        };
        tell(0);
        for_each(items, &|item| {
            self.interrupt.check()?;
            act(item)?;
            tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(())
        })
    }
}
