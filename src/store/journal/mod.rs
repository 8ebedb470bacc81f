//! Replacing many documents of a hierarchy as one change that can be undone.
//!
//! A run takes the lock of the hierarchy ([`Exclusive`]), which first mends what a run that was killed may have left. Then
//! [`Rewrite::commit`]
//!
//! 1. checks that every document is what the change was planned from;
//! 2. writes the journal, `NAME.zarrpack-undo-TIME.json.unfinished` beside the outermost group, with every document as it was, and
//!    flushes it;
//! 3. writes what takes the place of the documents beside them, under hidden names, and flushes it;
//! 4. renames, step by step, and flushes the directories of a step before the next begins;
//! 5. takes `.unfinished` off the journal's name. From then on it serves to [`undo()`] the change.
//!
//! What is guaranteed, on a file system that does what POSIX says:
//!
//! - Every document is at every moment wholly the old or wholly the new one, also after a power cut.
//! - Whenever a run is killed, or the power fails, the store is as it was, or as it was to be, or an unfinished journal lies
//!   where the next run finds it: beside the store by its name, or elsewhere by what the lock file says. That run restores
//!   every document, and only then begins.
//! - A run that fails or is interrupted restores every document that it had replaced. Where it cannot, it names the journal,
//!   and the next run tries again.
//! - No document is replaced that is not, just before, byte for byte what was planned from, and none is restored
//!   that somebody has changed since: such documents are named, and left alone.
//! - Permissions are kept, and owner and group as far as the system allows; where it does not, the documents are told.
//!   A created document takes them from another document beside it.
//! - A document that is a link is replaced where the link leads, if that is inside the hierarchy, and refused if not.
//!
//! What is not: a document that has several hard links keeps the old contents under the other names, and access lists and
//! extended attributes beyond permissions are not kept, since the new document is a new file. Somebody who changes a document in
//! the instant between the last check and the rename loses that change. Readers may see documents of different
//! steps, or of one step, old and new at one time; the caller orders the steps so that this does least harm. A disk or server that says
//! it has flushed what it has not makes all of this void. Without locks in the file system, a lock file that a killed
//! process left has to be removed by hand.

mod lock;
mod name;
mod places;
mod record;
mod replace;
mod undo;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use self::lock::Lock;
use self::name::{JournalName, stamp};
use self::places::{Places, check_writable, permissions_beside};
use self::record::{Entry, Fingerprint, Record};
use self::replace::{Attributes, Change, Changes, New};
use self::undo::roll_back;
use super::files::Files;
use super::{Place, Store, StoreError};
use crate::error::Error;
use crate::interrupt::Interrupt;

pub use self::undo::{Recovered, Undone, undo, undo_plan, unfinished};

/// One document that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The document. An absolute path.
    pub path: PathBuf,
    /// What it holds, as the change was planned from; `None` if it must not be there.
    pub old: Option<Vec<u8>>,
    /// What it is to hold; `None` if it is to be removed.
    pub new: Option<Vec<u8>>,
    /// When its turn comes: documents of one step are replaced together, after those of all smaller steps are flushed.
    pub step: u32,
}

/// A change of many documents.
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    /// The documents, each once. Those that do not change are left alone.
    pub replacements: Vec<Replacement>,
    /// Where the journal is to lie, if not beside the store.
    pub journal: Option<Place>,
}

/// What can be said of a change before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// How many documents change.
    pub documents: usize,
    /// Documents whose owner or group will be another afterwards, unless the system allows to give files away.
    pub reowned: Vec<PathBuf>,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The journal, which undoes it; `None` where there was nothing to change.
    pub journal: Option<PathBuf>,
    /// How many documents changed.
    pub documents: usize,
    /// Documents whose owner or group could not be kept.
    pub reowned: Vec<PathBuf>,
}

/// A change that was not made, or an undoing that did not come to its end.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// Where documents could not be restored: the journal that restores them. `None` where all documents are as they were.
    pub journal: Option<Box<Unrestored>>,
}

/// The journal of a store that is neither as it was nor as it was to be.
#[derive(Debug)]
pub struct Unrestored {
    /// The journal.
    pub journal: PathBuf,
    /// Why the documents could not be restored at once.
    pub cause: StoreError,
}

/// Why a change was not made.
#[derive(Debug)]
pub enum Cause {
    /// A document or the journal could not be read or written, or a signal came.
    Store(StoreError),
    /// The caller had a reason at the last moment.
    Caller(Box<Error>),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self {
            cause: Cause::Store(error),
            journal: None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let error = match failure.cause {
            Cause::Store(error) => Self::from(error),
            Cause::Caller(error) => *error,
        };
        match failure.journal.map(|unrestored| *unrestored) {
            None => error,
            Some(Unrestored { journal, cause }) => error
                .detail(format!(
                    "the store is half changed: documents could not be restored: {}",
                    Causes(&cause)
                ))
                .hint(format!(
                    "the next run restores it with the journal {journal:?}, as does --undo"
                )),
        }
    }
}

/// An error and what is behind it, in one line.
struct Causes<'e>(&'e dyn std::error::Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Documents are compared with what was planned from.
    Checking,
    /// New documents are written out of sight.
    Preparing,
    /// Documents are replaced.
    Replacing,
    /// Directories are flushed.
    Flushing,
    /// Documents are restored, or what was written out of sight is removed.
    RollingBack,
}

/// How far a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The phase. It may come more than once, for different steps.
    pub phase: Phase,
    /// How many documents or directories are done.
    pub done: usize,
    /// Of how many.
    pub of: usize,
}

/// Is told of progress, from several threads.
pub type Observer<'a> = &'a (dyn Fn(Progress) + Sync);

/// The right to change the documents of a hierarchy. One process has it at a time, and loses it when it dies.
#[derive(Debug)]
pub struct Exclusive {
    files: Files,
    places: Places,
    locks: Vec<Lock>,
    recovered: Vec<Recovered>,
}

impl Exclusive {
    /// Takes the right to change the hierarchy that a store belongs to, and restores what runs that were killed have left half
    /// changed.
    ///
    /// # Errors
    ///
    /// Where another process has it, where the lock file can be made neither beside the hierarchy nor inside, or where documents
    /// cannot be restored.
    pub fn take(store: &Store, observer: Observer<'_>) -> Result<Self, StoreError> {
        Self::take_with(Files::default(), store, None, observer)
    }

    /// Takes the right, and leaves one journal alone.
    fn take_with(
        files: Files,
        store: &Store,
        except: Option<&JournalName>,
        observer: Observer<'_>,
    ) -> Result<Self, StoreError> {
        let places = Places::of(store);
        let mut locks = Vec::new();
        for top in places.tops() {
            locks.push(Lock::take(&files, top)?);
        }
        let mut exclusive = Self {
            files,
            places,
            locks,
            recovered: Vec::new(),
        };
        // Where this fails, the lock files that name journals stay.
        exclusive.recover(except, observer)?;
        let is_exception = |path: &Path| Some(&JournalName::from_any(path)) == except;
        exclusive
            .locks
            .iter_mut()
            .for_each(|lock| lock.forget(&is_exception));
        Ok(exclusive)
    }

    /// What runs that were killed had left, and was restored.
    #[must_use]
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// Leaves the lock files, unlocked, because they name a journal.
    fn keep_locks(&mut self) {
        self.locks.iter_mut().for_each(Lock::keep);
    }

    /// Lets the lock files go with the locks.
    fn forget_journals(&mut self) {
        self.locks
            .iter_mut()
            .for_each(|lock| lock.forget(&|_| false));
    }

    fn point_to(&self, journal: &Path) -> Result<(), StoreError> {
        self.locks
            .iter()
            .try_for_each(|lock| lock.point_to(journal))
    }
}

/// A replacement with the file that it comes down to.
struct Planned {
    target: PathBuf,
    replacement: Replacement,
    attributes: Option<Attributes>,
}

impl Rewrite {
    /// Checks that the change can be made, as far as that can be told without writing: for plans.
    ///
    /// # Errors
    ///
    /// Where a document changed since it was read, is read-only, or is a link that leads out of the hierarchy, where a directory cannot
    /// be written to, or where the journal cannot lie where it is to.
    pub fn check(&self, store: &Store) -> Result<Checked, StoreError> {
        let places = Places::of(store);
        let name = JournalName::new(places.root(), self.journal.as_ref(), &stamp())?;
        places.check_journal(&name)?;
        let planned = self.clone().plan(&places)?;
        let mut reowned = Vec::new();
        for one in &planned {
            let expected = one.replacement.old.as_deref().map(Fingerprint::of);
            if !replace::holds(&one.target, expected.as_ref())? {
                return Err(StoreError::Changed(one.target.clone()));
            }
            check_writable(&one.target)?;
            if places::is_foreign(one.attributes) && one.replacement.new.is_some() {
                reowned.push(one.target.clone());
            }
        }
        Ok(Checked {
            documents: planned.len(),
            reowned,
        })
    }

    /// Makes the change. `before_publish` is called when everything is prepared and nothing is replaced: the moment to look once more at what
    /// the change depends on.
    ///
    /// A signal ends it before the last document is replaced, not after.
    ///
    /// # Errors
    ///
    /// As for [`Rewrite::check`]; where something cannot be written, where a signal comes, and where `before_publish` fails. All
    /// documents are as they were then, or the journal is named.
    pub fn commit(
        self,
        mut exclusive: Exclusive,
        interrupt: &Interrupt,
        observer: Observer<'_>,
        before_publish: &mut dyn FnMut() -> Result<(), Error>,
    ) -> Result<Committed, Failure> {
        let (files, places) = (exclusive.files.clone(), exclusive.places.clone());
        let id = format!("{}-{}", stamp(), std::process::id());
        let name = JournalName::new(places.root(), self.journal.as_ref(), &stamp())?;
        places.check_journal(&name)?;
        let planned = self.plan(&places)?;
        let documents = planned.len();
        if planned.is_empty() {
            before_publish().map_err(Failure::caller)?;
            return Ok(Committed {
                journal: None,
                documents,
                reowned: Vec::new(),
            });
        }
        for one in &planned {
            check_writable(&one.target)?;
        }
        let (record, mut changes) = split(planned, &places, &id);
        let changes = Changes::new(&files, &mut changes, interrupt, observer);
        changes.check()?;
        exclusive.point_to(&name.unfinished())?;
        if let Err(error) = write(&files, &name, &record) {
            // No document was touched, so a journal that stays does no harm.
            let _ = files.discard(&name.writing());
            let _ = files.discard(&name.unfinished());
            return Err(error.into());
        }
        let published = changes
            .prepare()
            .map_err(Failure::from)
            .and_then(|reowned| {
                before_publish().map_err(Failure::caller)?;
                Ok(reowned)
            })
            .and_then(|reowned| {
                changes.publish()?;
                files.rename_new(&name.unfinished(), name.complete())?;
                Ok(reowned)
            });
        match published {
            Ok(reowned) => {
                // Should the power fail before this is on the disk, the next run restores the old documents.
                if let Err(error) = files.sync_dir(name.directory()) {
                    tracing::warn!(%error, "the change is complete, but may be taken back by a power cut");
                }
                Ok(Committed {
                    journal: Some(name.complete().to_owned()),
                    documents,
                    reowned,
                })
            }
            Err(failure) => Err(changes.take_back(failure, &record, &name, &mut exclusive)),
        }
    }

    /// Finds the files behind the documents, and orders them by step.
    fn plan(self, places: &Places) -> Result<Vec<Planned>, StoreError> {
        let mut planned: Vec<Planned> = Vec::new();
        for replacement in self.replacements {
            if replacement.old == replacement.new {
                continue;
            }
            let target = places.resolve(&replacement.path)?;
            let attributes = match fs::symlink_metadata(&target) {
                Ok(metadata) => Attributes::of(&metadata),
                Err(_) => permissions_beside(&target),
            };
            planned.push(Planned {
                target,
                replacement,
                attributes,
            });
        }
        planned.sort_by(|a, b| a.target.cmp(&b.target));
        // Links inside a hierarchy give one document several paths.
        if let Some(pair) = planned.windows(2).find(|pair| {
            let [a, b] = [&pair[0].replacement, &pair[1].replacement];
            pair[0].target == pair[1].target && (&a.old, &a.new) != (&b.old, &b.new)
        }) {
            return Err(StoreError::Twice(pair[0].target.clone()));
        }
        planned.dedup_by(|a, b| a.target == b.target);
        planned.sort_by_key(|one| one.replacement.step);
        Ok(planned)
    }
}

impl Failure {
    fn caller(error: Error) -> Self {
        Self {
            cause: Cause::Caller(Box::new(error)),
            journal: None,
        }
    }
}

/// What the journal holds, and what is to be done, in one order.
fn split(planned: Vec<Planned>, places: &Places, id: &str) -> (Record, Vec<Change<'static>>) {
    let mut entries = Vec::new();
    let mut changes = Vec::new();
    for one in planned {
        let Replacement { old, new, step, .. } = one.replacement;
        let after = new.as_deref().map(Fingerprint::of);
        let before = old.map(|bytes| (bytes, one.attributes));
        let entry = Entry::new(places.told(&one.target), step, before, after);
        let to = new.map(|bytes| New {
            bytes: bytes.into(),
            attributes: one.attributes,
        });
        let from = entry.before().cloned();
        changes.push(Change::new(one.target, id, step, from, to));
        entries.push(entry);
    }
    (Record::new(places.root(), id.to_owned(), entries), changes)
}

/// Writes a journal. It has its name only once it is whole.
fn write(files: &Files, name: &JournalName, record: &Record) -> Result<(), StoreError> {
    let writing = name.writing();
    let file = files
        .create_new(&writing)
        .map_err(|error| places::no_journal(name.directory(), error))?;
    files.write_all(&file, &writing, &record.to_json()?)?;
    files.sync(&file, &writing)?;
    // Windows renames no file that is open.
    drop(file);
    files.rename_new(&writing, &name.unfinished())?;
    files.sync_dir(name.directory())
}

impl Changes<'_, '_> {
    /// Restores what was replaced, and removes the journal with all other traces.
    fn take_back(
        &self,
        mut failure: Failure,
        record: &Record,
        name: &JournalName,
        exclusive: &mut Exclusive,
    ) -> Failure {
        let files = &exclusive.files;
        let begun = self.begun(&record.documents);
        let restored = roll_back(files, &record.id, &begun, self.observer)
            .and_then(|()| self.tidy_up())
            .and_then(|()| files.discard(&name.unfinished()).map(|_| ()));
        match restored {
            Ok(()) => {
                // Should the power fail first, the next run finds the journal, and nothing to restore.
                let _ = files.sync_dir(name.directory());
            }
            Err(cause) => {
                exclusive.keep_locks();
                failure.journal = Some(Box::new(Unrestored {
                    journal: name.unfinished(),
                    cause,
                }));
            }
        }
        failure
    }
}

#[cfg(test)]
mod tests;
