//! What runs that were killed have left beside their output.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::StoreError;
use super::files::Files;
use super::workspace::{Found, find, split};

/// Something that an earlier run left, and what was done about it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leftover {
    /// Unfinished output. It was removed.
    Removed(PathBuf),
    /// The output as it was before a run that was killed while it put another in its place. It is back.
    Restored(PathBuf),
    /// Something that this run does not dare to remove: its process may live, or it holds an output that was
    /// moved aside, and there is another in its place now.
    Kept(PathBuf),
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(path) => write!(f, "removed {path:?}, left unfinished by an earlier run"),
            Self::Restored(path) => {
                write!(
                    f,
                    "put back {path:?}, which an earlier run was killed while replacing"
                )
            }
            Self::Kept(path) => {
                write!(
                    f,
                    "left {path:?} of an earlier run alone; remove it if nothing in it is missed"
                )
            }
        }
    }
}

/// Deals with what earlier runs have left of an output.
pub(super) fn settle(files: &Files, target: &Path) -> Result<Vec<Leftover>, StoreError> {
    let mut leftovers = Vec::new();
    for found in find(target)? {
        match found {
            Found::Alive(_) => return Err(StoreError::Busy(target.to_owned())),
            Found::Unknown(directory) => leftovers.push(Leftover::Kept(directory)),
            Found::Dead(directory, lock) => {
                leftovers.extend(settle_dead(files, target, directory, lock)?);
            }
        }
    }
    Ok(leftovers)
}

/// Deals with the workspace of a process that is gone.
///
/// That `old` is there tells that the process died between the two steps of a replacement or after them. Then `new`
/// is still there in the one case, and not in the other.
fn settle_dead(
    files: &Files,
    target: &Path,
    directory: PathBuf,
    lock: Option<File>,
) -> Result<Option<Leftover>, StoreError> {
    let (old, new) = (directory.join("old"), directory.join("new"));
    let restored = exists(&old) && !exists(target);
    if restored {
        files.rename_new(&old, target)?;
        files.sync_dir(split(target)?.0)?;
    } else if exists(&old) && exists(&new) {
        return Ok(Some(Leftover::Kept(directory)));
    }
    let removed = if lock.is_none() && is_empty(&directory) {
        // Perhaps its process lives after all and is about to lock it: then this fails, or that process makes another.
        files.remove_dir(&directory)
    } else {
        drop(lock);
        files.remove_dir_all(&directory)
    };
    Ok(match removed {
        _ if restored => Some(Leftover::Restored(target.to_owned())),
        Ok(()) => Some(Leftover::Removed(directory)),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => None,
        Err(error) => {
            tracing::debug!(?directory, %error, "could not remove what an earlier run left");
            Some(Leftover::Kept(directory))
        }
    })
}

/// Whether anything is there. Where that cannot be told, something is.
fn exists(path: &Path) -> bool {
    !fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}
