//! A directory tree that is built out of sight and appears whole.

mod copy;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::files::Files;
use super::flush::flush_tree;
use super::leftovers::{Leftover, settle};
use super::publish::{Existing, Shape, check, publish};
use super::workspace::Workspace;
use super::{Place, StoreError};
use crate::interrupt::Interrupt;

pub use self::copy::{Copied, CopyObserver};

/// A store that is being written. Dropped before it is published, it is removed.
#[derive(Debug)]
pub struct Staging {
    workspace: Workspace,
    root: PathBuf,
    existing: Existing,
    leftovers: Vec<Leftover>,
}

impl Staging {
    /// Checks that a store can be written to a place, and touches nothing: for plans.
    ///
    /// # Errors
    ///
    /// As for [`Staging::begin`].
    pub fn check(place: &Place, existing: Existing) -> Result<(), StoreError> {
        check(place.path(), existing, Shape::Tree)
    }

    /// Begins a store, after dealing with what a run that was killed may have left of one at the same place.
    ///
    /// # Errors
    ///
    /// Where the directory around the place is not there or cannot be written; where something is in place, and is not
    /// to be replaced or is no store; or where another process is writing to the same place.
    pub fn begin(place: &Place, existing: Existing) -> Result<Self, StoreError> {
        Self::begin_with(Files::default(), place, existing)
    }

    fn begin_with(files: Files, place: &Place, existing: Existing) -> Result<Self, StoreError> {
        let target = place.path();
        let leftovers = settle(&files, target)?;
        check(target, existing, Shape::Tree)?;
        let workspace = Workspace::create(files, target)?;
        let root = workspace.new_path();
        workspace.files().create_dir(&root)?;
        Ok(Self {
            workspace,
            root,
            existing,
            leftovers,
        })
    }

    /// What earlier runs had left, and what was done about it.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// The directory in which to build. What others write here is published too; they need not flush it.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes an object that must not be there yet. Threads may do so at the same time.
    ///
    /// # Errors
    ///
    /// Where the key is none, or the file cannot be made or written.
    pub fn write(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path_of(key)?;
        let file = self.in_directory(&path, |files| files.create_new(&path))?;
        self.workspace.files().write_all(&file, &path, bytes)
    }

    /// Copies a file to an object, bytes and permissions, and returns its length.
    ///
    /// # Errors
    ///
    /// Where the key is none, `from` is no regular file, or one of the two cannot be read or written.
    pub fn copy(&self, from: &Path, key: &str) -> Result<u64, StoreError> {
        let path = self.path_of(key)?;
        let metadata = fs::metadata(from).map_err(StoreError::io("read", from))?;
        if !metadata.is_file() {
            return Err(StoreError::NotAFile(from.to_owned()));
        }
        self.in_directory(&path, |files| files.copy(from, &path))
    }

    /// Makes a directory, also where no object is in it.
    ///
    /// # Errors
    ///
    /// Where the key is none, or the directory cannot be made.
    pub fn create_directory(&self, key: &str) -> Result<(), StoreError> {
        let path = self.path_of(key)?;
        self.workspace.files().create_dir_all(&path)
    }

    /// Flushes everything, and puts it in place.
    ///
    /// # Errors
    ///
    /// Where something cannot be flushed or renamed, where somebody else put something in place meanwhile, or where a
    /// signal comes before the renaming. What is in place is then as it was.
    pub fn publish(self, interrupt: &Interrupt) -> Result<(), StoreError> {
        flush_tree(self.workspace.files(), &self.root, interrupt)?;
        publish(self.workspace, self.existing, Shape::Tree)
    }

    /// Does something in the directory of a file, which is made if it is not there.
    fn in_directory<T>(
        &self,
        path: &Path,
        operation: impl Fn(&Files) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let files = self.workspace.files();
        match (operation(files), path.parent()) {
            (Err(StoreError::Io { source, .. }), Some(parent))
                if source.kind() == io::ErrorKind::NotFound && self.root.is_dir() =>
            {
                files.create_dir_all(parent)?;
                operation(files)
            }
            (outcome, _) => outcome,
        }
    }

    /// The path of an object. A key has no way out of the root, whatever document it was made from.
    fn path_of(&self, key: &str) -> Result<PathBuf, StoreError> {
        let parts = || key.split('/');
        let is_name = |part: &str| {
            let mut components = Path::new(part).components();
            matches!(
                (components.next(), components.next()),
                (Some(Component::Normal(name)), None) if name.to_str() == Some(part)
            )
        };
        if parts().all(is_name) {
            Ok(parts().fold(self.root.clone(), |path, part| path.join(part)))
        } else {
            Err(StoreError::Key(key.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests;
