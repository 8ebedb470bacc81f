//! A single file that is built out of sight and appears whole.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::files::Files;
use super::leftovers::{Leftover, settle};
use super::publish::{Existing, Shape, check, publish};
use super::workspace::Workspace;
use super::{Place, StoreError};
use crate::interrupt::Interrupt;

/// A file that is being written. Dropped before it is published, it is removed.
#[derive(Debug)]
pub struct StagedFile {
    workspace: Workspace,
    path: PathBuf,
    file: File,
    existing: Existing,
    leftovers: Vec<Leftover>,
}

impl StagedFile {
    /// Checks that a file can be written to a place, and touches nothing: for plans.
    ///
    /// # Errors
    ///
    /// As for [`StagedFile::begin`].
    pub fn check(place: &Place, existing: Existing) -> Result<(), StoreError> {
        check(place.path(), existing, Shape::File)
    }

    /// Begins a file, after dealing with what a run that was killed may have left of one at the same place.
    ///
    /// # Errors
    ///
    /// Where the directory around the place is not there or cannot be written; where something is in place, and is not
    /// to be replaced or is no regular file; or where another process is writing to the same place.
    pub fn begin(place: &Place, existing: Existing) -> Result<Self, StoreError> {
        Self::begin_with(Files::default(), place, existing)
    }

    fn begin_with(files: Files, place: &Place, existing: Existing) -> Result<Self, StoreError> {
        let target = place.path();
        let leftovers = settle(&files, target)?;
        check(target, existing, Shape::File)?;
        let workspace = Workspace::create(files, target)?;
        let path = workspace.new_path();
        let file = workspace.files().create_new(&path)?;
        Ok(Self {
            workspace,
            path,
            file,
            existing,
            leftovers,
        })
    }

    /// What earlier runs had left, and what was done about it.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }

    /// Sets the length of the file, and takes the room for it where the file system can. What is never written
    /// reads as zeros.
    ///
    /// # Errors
    ///
    /// Where there is not enough room, or the file system has no files of that length.
    pub fn reserve(&self, length: u64) -> Result<(), StoreError> {
        self.workspace
            .files()
            .reserve(&self.file, &self.path, length)
    }

    /// Writes bytes at a place in the file. Threads may do so at the same time.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> Result<(), StoreError> {
        let files = self.workspace.files();
        files.write_all_at(&self.file, &self.path, bytes, offset)
    }

    /// Where the file is until it is published: for reading back what was written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Flushes the file, and puts it in place.
    ///
    /// # Errors
    ///
    /// Where it cannot be flushed or renamed, where somebody else put something in place meanwhile, or where a signal
    /// came. What is in place is then as it was.
    pub fn publish(self, interrupt: &Interrupt) -> Result<(), StoreError> {
        interrupt.check()?;
        self.workspace.files().sync_file(&self.path)?;
        // Windows renames no file that is open.
        drop(self.file);
        publish(self.workspace, self.existing, Shape::File)
    }
}

#[cfg(test)]
mod tests;
