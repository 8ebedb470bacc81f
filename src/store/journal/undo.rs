//! Restoring documents from a journal: when asked to, and where a run was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::files::Files;
use super::super::{Store, StoreError};
use super::lock::journals_named;
use super::name::{JournalName, unfinished_beside};
use super::places::Places;
use super::record::{Entry, Record};
use super::replace::{Change, Changes, holds, temporary};
use super::{Cause, Exclusive, Failure, Observer, Phase, Progress, Unrestored};
use crate::interrupt::Interrupt;

/// A run that was killed, and whose documents were restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Its journal, which is gone now.
    pub journal: PathBuf,
    /// How many documents it had replaced.
    pub documents: usize,
}

/// A change that was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// How many documents were restored. The others were as they had been.
    pub documents: usize,
}

/// The unfinished journals of a hierarchy: a run that was killed has left them, or one that is under way. For plans, which write nothing.
///
/// # Errors
///
/// Where the directory around the hierarchy cannot be listed.
pub fn unfinished(store: &Store) -> Result<Vec<PathBuf>, StoreError> {
    let places = Places::of(store);
    let mut found = Vec::new();
    for top in places.tops() {
        let named = journals_named(top);
        let named = named.iter().map(|path| JournalName::from_any(path));
        for journal in named.chain(unfinished_beside(top)?) {
            let path = journal.unfinished();
            if exists(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// The documents that a journal would restore: for plans.
///
/// # Errors
///
/// Where it is no journal, or documents have changed since.
pub fn undo_plan(store: &Store, journal: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let places = Places::of(store);
    let record = Record::read(&find(&JournalName::from_any(journal)))?;
    require_own(&places, &record, journal, false)?;
    let targets = targets(&places, places.root(), &record, journal)?;
    let restoring = restoring(&record, &targets, journal)?;
    require_own(&places, &record, journal, restoring.is_empty())?;
    Ok(restoring.into_iter().map(|(_, target)| target).collect())
}

/// Insists that a journal is about this hierarchy: undoing removes it, and it is the only way back of the one that it is about. One that
/// was moved since is known by its documents.
fn require_own(
    places: &Places,
    record: &Record,
    journal: &Path,
    restores_nothing: bool,
) -> Result<(), StoreError> {
    let root = Path::new(&record.root);
    let is_own = places.tops().iter().any(|top| top == root);
    if is_own || !restores_nothing && fs::symlink_metadata(root).is_err() {
        return Ok(());
    }
    Err(StoreError::OtherJournal {
        journal: journal.to_owned(),
        root: root.to_owned(),
    })
}

/// Restores every document of a journal, byte for byte, removes those that the change had created, and then the journal.
///
/// It is not ended by signals, since it takes no longer than ending it would.
///
/// # Errors
///
/// Where it is no journal, where documents have changed since, which are named then, or where something cannot be written.
pub fn undo(store: &Store, journal: &Path, observer: Observer<'_>) -> Result<Undone, Failure> {
    undo_with(Files::default(), store, journal, observer)
}

pub(super) fn undo_with(
    files: Files,
    store: &Store,
    journal: &Path,
    observer: Observer<'_>,
) -> Result<Undone, Failure> {
    let name = JournalName::from_any(journal);
    let found = find(&name);
    let record = Record::read(&found)?;
    let mut exclusive = Exclusive::take_with(files, store, Some(&name), observer)?;
    let (files, places) = (exclusive.files.clone(), exclusive.places.clone());
    require_own(&places, &record, &found, false)?;
    let targets = targets(&places, places.root(), &record, &found)?;
    let restoring = restoring(&record, &targets, &found)?;
    require_own(&places, &record, &found, restoring.is_empty())?;
    let unfinished = name.unfinished();
    if found != unfinished {
        // From here on the next run would go on with this, wherever it stops.
        exclusive.point_to(&unfinished)?;
        files.rename_new(&found, &unfinished)?;
        files.sync_dir(name.directory())?;
    }
    let restored = restore(&files, &record.id, &restoring, observer)
        .and_then(|()| tidy_up(&files, &record, &targets))
        .and_then(|()| files.discard(&unfinished));
    match restored {
        Ok(_) => {
            // Should the power fail first, the next run finds the journal, and nothing to restore.
            let _ = files.sync_dir(name.directory());
            exclusive.forget_journals();
            Ok(Undone {
                documents: restoring.len(),
            })
        }
        Err(cause) => {
            exclusive.keep_locks();
            Err(Failure {
                cause: Cause::Store(cause),
                journal: Some(Box::new(Unrestored {
                    journal: unfinished,
                    cause: StoreError::Unfinished,
                })),
            })
        }
    }
}

impl Exclusive {
    /// Restores what runs that were killed have left.
    pub(super) fn recover(
        &mut self,
        except: Option<&JournalName>,
        observer: Observer<'_>,
    ) -> Result<(), StoreError> {
        let mut journals: Vec<(JournalName, Option<PathBuf>)> = Vec::new();
        for top in self.places.tops() {
            let beside = unfinished_beside(top)?;
            journals.extend(beside.into_iter().map(|name| (name, Some(top.clone()))));
        }
        for path in self.locks.iter().flat_map(|lock| lock.found()) {
            let name = JournalName::from_any(path);
            if journals.iter().all(|(known, _)| *known != name) {
                journals.push((name, None));
            }
        }
        journals.retain(|(name, _)| Some(name) != except);
        // What came last goes first.
        for (name, base) in journals.into_iter().rev() {
            let settled = self.settle(&name, base, observer)?;
            self.recovered.extend(settled);
        }
        Ok(())
    }

    /// Deals with the journal of a run that was killed. It lies beside `base`, or elsewhere.
    fn settle(
        &self,
        name: &JournalName,
        base: Option<PathBuf>,
        observer: Observer<'_>,
    ) -> Result<Option<Recovered>, StoreError> {
        let unfinished = name.unfinished();
        if !name.directory().is_dir() {
            return Err(StoreError::JournalGone(unfinished));
        }
        // Nothing was touched before it was whole.
        self.files.discard(&name.writing())?;
        if !exists(&unfinished) {
            return Ok(None);
        }
        let record = Record::read(&unfinished)?;
        let base = match base {
            Some(base) => base,
            None => {
                let root = Path::new(&record.root).to_owned();
                if !self.places.tops().contains(&root) {
                    return Err(StoreError::UnfinishedElsewhere {
                        journal: unfinished,
                        root,
                    });
                }
                root
            }
        };
        let targets = targets(&self.places, &base, &record, &unfinished)?;
        let restoring = restoring(&record, &targets, &unfinished)?;
        restore(&self.files, &record.id, &restoring, observer)?;
        tidy_up(&self.files, &record, &targets)?;
        self.files.discard(&unfinished)?;
        self.files.sync_dir(name.directory())?;
        Ok(Some(Recovered {
            documents: restoring.len(),
            journal: unfinished,
        }))
    }
}

/// A journal under whichever of its names it has.
fn find(name: &JournalName) -> PathBuf {
    let unfinished = name.unfinished();
    if exists(&unfinished) {
        unfinished
    } else {
        name.complete().to_owned()
    }
}

/// The files of the documents of a journal.
fn targets(
    places: &Places,
    base: &Path,
    record: &Record,
    journal: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    let mut gone = Vec::new();
    let mut targets = Vec::new();
    for entry in &record.documents {
        match places.untold(base, &entry.path) {
            Ok(target) => targets.push(target),
            Err(StoreError::NotFound(_) | StoreError::NotADirectory(_)) => {
                gone.push(base.join(&entry.path));
            }
            Err(error) => return Err(error),
        }
    }
    changed_since(journal, gone)?;
    Ok(targets)
}

/// The documents that are not as they were. All of them must be as the change left them.
fn restoring<'r>(
    record: &'r Record,
    targets: &[PathBuf],
    journal: &Path,
) -> Result<Vec<(&'r Entry, PathBuf)>, StoreError> {
    let mut restoring = Vec::new();
    let mut changed = Vec::new();
    for (entry, target) in record.documents.iter().zip(targets) {
        if holds(target, entry.before())? {
            continue;
        }
        if holds(target, entry.after())? {
            restoring.push((entry, target.clone()));
        } else {
            changed.push(target.clone());
        }
    }
    changed_since(journal, changed)?;
    Ok(restoring)
}

fn changed_since(journal: &Path, documents: Vec<PathBuf>) -> Result<(), StoreError> {
    if documents.is_empty() {
        return Ok(());
    }
    Err(StoreError::ChangedSince {
        journal: journal.to_owned(),
        documents,
    })
}

/// Restores documents, as far as nobody changed them since. Those are named in the end.
pub(super) fn roll_back(
    files: &Files,
    id: &str,
    entries: &[(&Entry, PathBuf)],
    observer: Observer<'_>,
) -> Result<(), StoreError> {
    let mut restoring = Vec::new();
    let mut foreign = None;
    for (entry, target) in entries {
        if holds(target, entry.before())? {
            continue;
        }
        if holds(target, entry.after())? {
            restoring.push((*entry, target.clone()));
        } else {
            foreign = foreign.or_else(|| Some(target.clone()));
        }
    }
    restore(files, id, &restoring, observer)?;
    foreign.map_or(Ok(()), |path| Err(StoreError::Changed(path)))
}

/// Restores documents, all of which are as the change left them.
fn restore(
    files: &Files,
    id: &str,
    entries: &[(&Entry, PathBuf)],
    observer: Observer<'_>,
) -> Result<(), StoreError> {
    let mut inverse: Vec<Change<'_>> = entries
        .iter()
        .map(|(entry, target)| entry.inverse(target.clone(), id))
        .collect();
    // No signal stops this half-way.
    let interrupt = Interrupt::default();
    let told = |mut progress: Progress| {
        progress.phase = Phase::RollingBack;
        observer(progress);
    };
    let changes = Changes::new(files, &mut inverse, &interrupt, &told);
    changes.prepare()?;
    changes.publish()
}

/// Removes what a run had written and not put in place.
fn tidy_up(files: &Files, record: &Record, targets: &[PathBuf]) -> Result<(), StoreError> {
    targets
        .iter()
        .try_for_each(|target| files.discard(&temporary(target, &record.id)).map(|_| ()))
}

/// Whether anything is there. Where that cannot be told, something is.
fn exists(path: &Path) -> bool {
    !fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
