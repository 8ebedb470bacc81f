//! Putting a finished output in its place.
//!
//! What is guaranteed, on a file system that does what POSIX says:
//!
//! - At no moment is an unfinished output at the output's place. It gets there by one rename, after every file and
//!   directory of it was flushed, and this module reports success after the directory that holds its name was
//!   flushed too. So after success a power cut takes nothing back, and after one at an earlier moment the output is
//!   there whole or not at all.
//! - Replacing is one step where the system can swap two names (Linux on all usual local file systems, macOS on APFS): then at
//!   every moment, and after a power cut at every moment, the old output or the new one is in place. Elsewhere it is two
//!   renames, and between them nothing is in place; the old output is then `old` in the workspace, and the next run
//!   that writes to the same place puts it back.
//! - Without `Existing::Replace`, what somebody else puts in place meanwhile is not replaced (on Linux and macOS; elsewhere it
//!   is tested just before).
//!
//! What is not: a disk or a network server that says it has flushed what it has not makes all of this void. Windows has no
//! way to flush a directory, so that there a power cut soon after success may take the output back, though not
//! leave it in parts. A file system that has no locks lets the next run see that something was left, but not
//! that its process is gone.

use std::fs;
use std::path::Path;

use super::StoreError;
use super::document::{DEFAULT_MAX_DOCUMENT, V3_NAME, read_document};
use super::workspace::{Workspace, split};

/// What to do where something is at the output's place already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Existing {
    /// Refuse, and leave it alone.
    #[default]
    Refuse,
    /// Replace it when the new output is complete.
    Replace,
}

/// What an output is, on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Tree,
    File,
}

/// Checks that an output can be made at a place as far as that can be told without writing.
pub(super) fn check(target: &Path, existing: Existing, shape: Shape) -> Result<(), StoreError> {
    let (parent, _) = split(target)?;
    let around = fs::metadata(parent).map_err(StoreError::io("look at", parent))?;
    if !around.is_dir() {
        return Err(StoreError::NotADirectory(parent.to_owned()));
    }
    let found = match fs::symlink_metadata(target) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::io("look at", target)(error)),
    };
    let replaceable = match shape {
        Shape::File => found.is_file(),
        Shape::Tree => found.is_dir() && is_ours_to_replace(target)?,
    };
    match existing {
        Existing::Refuse => Err(StoreError::Exists(target.to_owned())),
        Existing::Replace if replaceable => Ok(()),
        Existing::Replace => Err(StoreError::NotReplaceable(target.to_owned())),
    }
}

/// Whether a directory is a node or empty. Any other is somebody's home, or a collection of stores, and no
/// flag makes it right to remove that.
fn is_ours_to_replace(directory: &Path) -> Result<bool, StoreError> {
    // What the documents of a node say of themselves; attributes alone make no node.
    let nodes = [V3_NAME, ".zarray", ".zgroup"];
    for path in nodes.map(|name| directory.join(name)) {
        if path.is_file() {
            let text = read_document(&path, DEFAULT_MAX_DOCUMENT)?;
            if text.windows(13).any(|window| window == b"\"zarr_format\"") {
                return Ok(true);
            }
        }
    }
    let mut entries = fs::read_dir(directory).map_err(StoreError::io("list", directory))?;
    Ok(entries.next().is_none())
}

/// Puts what a workspace holds in its place. All of it must have been flushed.
pub(super) fn publish(
    mut workspace: Workspace,
    existing: Existing,
    shape: Shape,
) -> Result<(), StoreError> {
    workspace.files().sync_dir(workspace.directory())?;
    let target = workspace.target().to_owned();
    let (parent, _) = split(&target)?;
    check(&target, existing, shape)?;
    let new = workspace.new_path();
    let published = workspace.files().rename_new(&new, &target);
    match published {
        Err(StoreError::Exists(_)) if existing == Existing::Replace => {
            replace(&mut workspace, shape)?
        }
        published => published?,
    }
    // Where this fails, a power cut may bring the old output back: it has to stay where it is.
    workspace.set_precious(existing == Existing::Replace);
    workspace.files().sync_dir(parent)?;
    workspace.set_precious(false);
    if let Err(error) = workspace.remove() {
        tracing::warn!(?target, %error, "the output is complete, but what it replaced could not be removed");
    }
    Ok(())
}

/// Replaces what is in place. When this fails, it is in place still, or in the workspace, which then stays.
fn replace(workspace: &mut Workspace, shape: Shape) -> Result<(), StoreError> {
    let files = workspace.files().clone();
    let target = workspace.target().to_owned();
    let (new, old) = (workspace.new_path(), workspace.old_path());
    if shape == Shape::File {
        return files.rename(&new, &target);
    }
    if files.exchange(&new, &target)? {
        return Ok(());
    }
    let (parent, _) = split(&target)?;
    files.rename(&target, &old)?;
    workspace.set_precious(true);
    let renamed = files
        .sync_dir(workspace.directory())
        .and_then(|()| files.sync_dir(parent))
        .and_then(|()| files.rename_new(&new, &target));
    if renamed.is_err() && files.rename_new(&old, &target).is_ok() {
        workspace.set_precious(false);
    }
    renamed
}
