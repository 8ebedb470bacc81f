//! The lock that lets one process at a time change a hierarchy.
//!
//! It is an operating system's lock on a file beside the outermost group, `.NAME.zarrpack-lock`, so that a run on any node meets
//! that of a run on any other, and a process that dies lets go of it. The file also holds the number of the process and, once there is one,
//! the place of its journal: that is how the next run finds a journal that `--journal` put elsewhere. Where the process
//! may not write beside the store, the file is `.zarrpack-lock` inside it; every run looks at both places.
//!
//! The file is removed while it is still locked, and whoever locks a file makes sure that it still has its name, so that
//! two processes never hold two files of one name. Where the file system has no locks, the file itself is the
//! lock: one that a dead process left has to be removed by hand.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use serde::{Deserialize, Serialize};

use super::super::StoreError;
use super::super::files::Files;
use super::super::place::Identity;
use super::name::{lock_beside, lock_inside};

const SCHEMA: &str = "zarrpack.lock/1";

/// How often to try again when another process removes its lock file just now.
const ATTEMPTS: usize = 100;

/// What a lock file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    schema: String,
    pid: u32,
    journal: Option<PathBuf>,
}

/// A lock that is held. Dropped, it is let go, and its file removed unless the next process needs what it holds.
#[derive(Debug)]
pub(super) struct Lock {
    files: Files,
    path: PathBuf,
    file: File,
    /// The journal that the file named when it was found: a process died, and its journal has not been dealt with.
    found: Option<PathBuf>,
    keep: bool,
    /// One that a dead process left at the other place.
    other: Option<Box<Lock>>,
}

impl Lock {
    /// Takes the lock of a hierarchy.
    pub(super) fn take(files: &Files, root: &Path) -> Result<Self, StoreError> {
        let inside = lock_inside(root);
        let mut beside = None;
        if let Some(path) = lock_beside(root) {
            beside = acquire(files, root, path, true)?;
        }
        if let Some(mut lock) = beside {
            lock.other = acquire(files, root, inside, false)?.map(Box::new);
            return Ok(lock);
        }
        let path = inside.clone();
        acquire(files, root, inside, true)?.ok_or(StoreError::Io {
            action: "create",
            path,
            source: io::ErrorKind::PermissionDenied.into(),
        })
    }

    /// The journals that dead processes named.
    pub(super) fn found(&self) -> impl Iterator<Item = &Path> {
        let other = self.other.as_ref().and_then(|other| other.found.as_deref());
        self.found.as_deref().into_iter().chain(other)
    }

    /// Forgets the journals that dead processes named, but for one that is yet to be dealt with.
    pub(super) fn forget(&mut self, except: &dyn Fn(&Path) -> bool) {
        if let Some(other) = &mut self.other {
            other.forget(except);
            if !other.keep {
                self.other = None;
            }
        }
        if !self.found.as_deref().is_some_and(except) {
            self.found = None;
            self.keep = false;
        }
    }

    /// Names the journal of this process, for the next one.
    pub(super) fn point_to(&self, journal: &Path) -> Result<(), StoreError> {
        self.write(Some(journal))?;
        self.files.sync(&self.file, &self.path)?;
        match self.path.parent() {
            Some(parent) => self.files.sync_dir(parent),
            None => Ok(()),
        }
    }

    /// Leaves the file when the lock is let go, because the next process needs what it holds.
    pub(super) const fn keep(&mut self) {
        self.keep = true;
    }

    fn write(&self, journal: Option<&Path>) -> Result<(), StoreError> {
        let content = Content {
            schema: SCHEMA.to_owned(),
            pid: process::id(),
            journal: journal.map(Path::to_owned),
        };
        // The only path that JSON cannot hold is one that is not UTF-8.
        let text = serde_json::to_vec(&content)
            .map_err(|_| StoreError::NotUtf8(journal.unwrap_or(&self.path).to_owned()))?;
        self.files.rewrite(&self.file, &self.path, &text)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if !self.keep
            && let Err(error) = self.files.discard(&self.path)
        {
            tracing::warn!(lock = ?self.path, %error, "could not remove the lock file");
        }
    }
}

/// Locks a file; `None` if it is not there and is not to be made, or may not be.
fn acquire(
    files: &Files,
    root: &Path,
    path: PathBuf,
    create: bool,
) -> Result<Option<Lock>, StoreError> {
    for _ in 0..ATTEMPTS {
        let (file, made) = match open(files, &path, create)? {
            Opened::Found(file) => (file, false),
            Opened::Made(file) => (file, true),
            Opened::Refused => return Ok(None),
            Opened::Gone => continue,
        };
        let held = || StoreError::Locked {
            root: root.to_owned(),
            pid: content(&path).map(|content| content.pid),
            lock: path.clone(),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held()),
            Err(TryLockError::Error(_)) if made => {}
            Err(TryLockError::Error(_)) => return Err(held()),
        }
        if !has_name(&file, &path) {
            continue;
        }
        let found = content(&path).and_then(|content| content.journal);
        let lock = Lock {
            files: files.clone(),
            path,
            file,
            keep: found.is_some(),
            found,
            other: None,
        };
        // What a dead process wrote stays until its journal is dealt with.
        if made {
            lock.write(None)?;
        }
        return Ok(Some(lock));
    }
    Err(StoreError::Locked {
        root: root.to_owned(),
        pid: None,
        lock: path,
    })
}

enum Opened {
    Found(File),
    Made(File),
    /// It may not be made here.
    Refused,
    /// It was removed just now.
    Gone,
}

fn open(files: &Files, path: &Path, create: bool) -> Result<Opened, StoreError> {
    if create {
        match files.create_new(path) {
            Ok(file) => return Ok(Opened::Made(file)),
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            }
            Err(StoreError::Io { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                return Ok(Opened::Refused);
            }
            Err(error) => return Err(error),
        }
    }
    let opened = match File::options().read(true).write(true).open(path) {
        // The file of another user can be locked, though not written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
        opened => opened,
    };
    match opened {
        Ok(file) => Ok(Opened::Found(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound && create => Ok(Opened::Gone),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Opened::Refused),
        Err(error) => Err(StoreError::io("open", path)(error)),
    }
}

/// Whether a file that was opened by a name still has it.
fn has_name(file: &File, path: &Path) -> bool {
    match file.metadata() {
        Ok(metadata) => path.exists() && Identity::of(&metadata) == Identity::at(path),
        Err(_) => false,
    }
}

fn content(path: &Path) -> Option<Content> {
    let text = fs::read(path).ok()?;
    let content: Content = serde_json::from_slice(&text).ok()?;
    (content.schema == SCHEMA).then_some(content)
}

/// The journals that the lock files of a hierarchy name, whether its processes live or not.
pub(super) fn journals_named(root: &Path) -> Vec<PathBuf> {
    let paths = lock_beside(root).into_iter().chain([lock_inside(root)]);
    paths.filter_map(|path| content(&path)?.journal).collect()
}
