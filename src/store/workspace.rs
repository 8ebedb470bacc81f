//! The directory in which an output is built, beside the place that it is for.
//!
//! It is called `.NAME.zarrpack-partial-UNIQUE` and holds
//!
//! - `lock`, locked as long as the process lives, with the name of the output in it;
//! - `new`, what is being built;
//! - `old`, for a moment, what was at the output's place before.
//!
//! Only what is called so, and holds nothing else, is taken for one: what belongs to somebody else is never removed.
//!
//! It has no document of its own, so a reader of the group around the output does not take it for a node.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use super::StoreError;
use super::files::Files;

/// What stands between the name of the output and what makes the name of the workspace unique.
const MARK: &str = ".zarrpack-partial-";

/// How much of the output's name is used, in bytes: names of files have an end.
const NAME_LENGTH: usize = 128;

/// How often to try again when somebody tidies up a workspace that is just being made.
const ATTEMPTS: usize = 100;

const LOCK: &str = "lock";

/// All that is ever in a workspace.
const CONTENTS: [&str; 4] = [LOCK, "new", "old", SCRATCH];

/// What a run has to keep somewhere until it ends.
pub(super) const SCRATCH: &str = "scratch";

/// A workspace of this process. Removed when it is dropped, with all that is in it.
#[derive(Debug)]
pub(super) struct Workspace {
    files: Files,
    /// Where the output will be.
    target: PathBuf,
    directory: PathBuf,
    /// Held, and locked where the file system can.
    lock: Option<File>,
    /// Set when something is in here that must not be lost.
    precious: bool,
}

impl Workspace {
    /// Makes a workspace for an output.
    pub(super) fn create(files: Files, target: &Path) -> Result<Self, StoreError> {
        let (parent, name) = split(target)?;
        for _ in 0..ATTEMPTS {
            let directory = parent.join(unique(name));
            let lock = match make(&files, &directory) {
                Ok(Some(lock)) => lock,
                Ok(None) => continue,
                Err(error) => {
                    let _ = files.remove_dir_all(&directory);
                    return Err(error);
                }
            };
            let workspace = Self {
                files,
                target: target.to_owned(),
                directory,
                lock: Some(lock),
                precious: false,
            };
            if let Some(lock) = &workspace.lock {
                let path = workspace.directory.join(LOCK);
                workspace
                    .files
                    .write_all(lock, &path, name.as_encoded_bytes())?;
            }
            return Ok(workspace);
        }
        Err(StoreError::Busy(target.to_owned()))
    }

    pub(super) const fn files(&self) -> &Files {
        &self.files
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// What is being built.
    pub(super) fn new_path(&self) -> PathBuf {
        self.directory.join("new")
    }

    /// What was there before, while it is moved aside.
    pub(super) fn old_path(&self) -> PathBuf {
        self.directory.join("old")
    }

    /// Says whether something is in here that must not be lost with the workspace.
    pub(super) const fn set_precious(&mut self, precious: bool) {
        self.precious = precious;
    }

    /// Removes the workspace and tells how that went.
    pub(super) fn remove(mut self) -> Result<(), StoreError> {
        self.remove_once()
    }

    fn remove_once(&mut self) -> Result<(), StoreError> {
        // A second attempt, by the destructor, would do no better.
        let precious = std::mem::replace(&mut self.precious, true);
        if precious {
            return Ok(());
        }
        // Windows removes no file that is open.
        self.lock = None;
        self.files.remove_dir_all(&self.directory)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Err(error) = self.remove_once() {
            tracing::warn!(directory = ?self.directory, %error, "could not remove unfinished output");
        }
    }
}

/// Makes the directory and its lock; `None` if the name was taken, or somebody tidied it up meanwhile.
fn make(files: &Files, directory: &Path) -> Result<Option<File>, StoreError> {
    let is = |error: &StoreError, kind| matches!(error, StoreError::Io { source, .. } if source.kind() == kind);
    match files.create_dir(directory) {
        Ok(()) => {}
        Err(error) if is(&error, io::ErrorKind::AlreadyExists) => return Ok(None),
        Err(error) => return Err(error),
    }
    let path = directory.join(LOCK);
    let lock = match files.create_new(&path) {
        Ok(lock) => lock,
        Err(error) if is(&error, io::ErrorKind::NotFound) && !directory.exists() => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        Ok(()) if path.exists() => Ok(Some(lock)),
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
        // Without locks, what a killed process leaves is named but not removed.
        Err(TryLockError::Error(_)) => Ok(Some(lock)),
    }
}

/// The directory and the name of an output.
pub(super) fn split(target: &Path) -> Result<(&Path, &OsStr), StoreError> {
    match (target.parent(), target.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(StoreError::NotReplaceable(target.to_owned())),
    }
}

/// How the names of all workspaces for an output begin.
fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    match name.to_str() {
        Some(name) => prefix.push(&name[..name.floor_char_boundary(NAME_LENGTH)]),
        // Such a name can be cut nowhere safely, and need not be: the lock has it.
        None => prefix.push("output"),
    }
    prefix.push(MARK);
    prefix
}

fn unique(name: &OsStr) -> OsString {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanoseconds = time.map_or(0, |time| time.as_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut unique = prefix(name);
    unique.push(format!("{:x}-{nanoseconds:x}-{count:x}", process::id()));
    unique
}

/// Whether a name is one that [`unique`] makes, for an output whose names begin with `prefix`.
fn is_unique(name: &OsStr, prefix: &OsStr) -> bool {
    let rest = name.as_encoded_bytes();
    let Some(rest) = rest.strip_prefix(prefix.as_encoded_bytes()) else {
        return false;
    };
    let hex = |part: &[u8]| {
        let digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        !part.is_empty() && part.iter().all(digit)
    };
    let parts = rest.split(|byte| *byte == b'-');
    parts.clone().count() == 3 && parts.clone().all(hex)
}

/// Whether a directory holds nothing but what a workspace has in it.
fn holds_only_our_own(directory: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(directory) else {
        return false;
    };
    let ours = |name: OsString| CONTENTS.iter().any(|own| name == **own);
    entries.all(|entry| entry.is_ok_and(|entry| ours(entry.file_name())))
}

/// A workspace that was found, with what is known of its process.
#[derive(Debug)]
pub(super) enum Found {
    /// Its process lives.
    Alive(PathBuf),
    /// Its process is gone. The lock, if there was one, is held now, so that nobody else tidies up too.
    Dead(PathBuf, Option<File>),
    /// The file system has no locks, so nobody knows; or it holds something that no workspace has.
    Unknown(PathBuf),
}

/// The workspaces for an output.
pub(super) fn find(target: &Path) -> Result<Vec<Found>, StoreError> {
    let (parent, name) = split(target)?;
    let prefix = prefix(name);
    let failed = || StoreError::io("list", parent);
    let mut found = Vec::new();
    for entry in fs::read_dir(parent).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        // A link is none, wherever it leads.
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && is_unique(&entry.file_name(), &prefix) {
            found.extend(examine(entry.path(), name));
        }
    }
    found.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(found)
}

impl Found {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Alive(path) | Self::Dead(path, _) | Self::Unknown(path) => path,
        }
    }
}

fn examine(directory: PathBuf, name: &OsStr) -> Option<Found> {
    let path = directory.join(LOCK);
    let lock = match File::options().read(true).write(true).open(&path) {
        Ok(lock) => lock,
        // Just being made, or its process died in that moment, or in the one of removing it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match directory.is_dir() {
                true if holds_only_our_own(&directory) => Some(Found::Dead(directory, None)),
                true => Some(Found::Unknown(directory)),
                false => None,
            };
        }
        Err(_) => return Some(Found::Unknown(directory)),
    };
    let output = fs::read(&path).unwrap_or_default();
    if !output.is_empty() && output != name.as_encoded_bytes() {
        return None;
    }
    Some(match lock.try_lock() {
        Ok(()) if !holds_only_our_own(&directory) => Found::Unknown(directory),
        Ok(()) => Found::Dead(directory, Some(lock)),
        Err(TryLockError::WouldBlock) => Found::Alive(directory),
        Err(TryLockError::Error(_)) => Found::Unknown(directory),
    })
}
