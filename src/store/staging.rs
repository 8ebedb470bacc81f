//! A directory tree that is built out of sight and appears whole.

mod copy;

use std::fs::{self, File};
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

/// An object of a store that is being written, part by part.
#[derive(Debug)]
pub struct StagedObject {
    files: Files,
    path: PathBuf,
    file: File,
}

impl StagedObject {
    /// Writes bytes at a place in the object.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), StoreError> {
        self.files
            .write_all_at(&self.file, &self.path, bytes, offset)
    }

    /// Lets the system begin to write the object to the disk, once it is complete and has been read back: what is written by then is
    /// dropped from memory.
    pub fn begin_flush(&self) {
        Files::begin_flush(&self.file);
    }

    /// Reads as many bytes as the buffer has, from where the last reading ended.
    ///
    /// # Errors
    ///
    /// Where it cannot be read, or ends too early.
    pub fn read_back(&mut self, buffer: &mut [u8]) -> Result<(), StoreError> {
        let read = io::Read::read_exact(&mut self.file, buffer);
        read.map_err(StoreError::io("read back", &self.path))
    }

    /// Goes to a place for [`StagedObject::read_back`].
    ///
    /// # Errors
    ///
    /// Where the system refuses.
    pub fn seek(&mut self, offset: u64) -> Result<(), StoreError> {
        let sought = io::Seek::seek(&mut self.file, io::SeekFrom::Start(offset));
        sought
            .map(|_| ())
            .map_err(StoreError::io("read back", &self.path))
    }
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
        self.workspace.files().write_all(&file, &path, bytes)?;
        Files::begin_flush(&file);
        Ok(())
    }

    /// Begins an object that must not be there yet, to be written part by part.
    ///
    /// # Errors
    ///
    /// As for [`Staging::write`].
    pub fn create(&self, key: &str) -> Result<StagedObject, StoreError> {
        let path = self.path_of(key)?;
        let file = self.in_directory(&path, |files| files.create_new(&path))?;
        Ok(StagedObject {
            files: self.workspace.files().clone(),
            path,
            file,
        })
    }

    /// A file for what this run has to keep somewhere, which goes when the run ends, however it does.
    ///
    /// # Errors
    ///
    /// Where it cannot be made.
    pub fn scratch(&self) -> Result<File, StoreError> {
        let path = self.workspace.directory().join("scratch");
        self.workspace.files().create_new(&path)
    }

    /// Removes everything below a key, to begin there again; nothing need be there.
    ///
    /// # Errors
    ///
    /// Where the key is none, or something cannot be removed.
    pub fn clear(&self, key: &str) -> Result<(), StoreError> {
        let path = match key {
            "" => self.root.clone(),
            key => self.path_of(key)?,
        };
        match self.workspace.files().remove_dir_all(&path) {
            Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
        if key.is_empty() {
            self.workspace.files().create_dir(&path)?;
        }
        Ok(())
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
