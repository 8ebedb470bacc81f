//! Where documents and journals may lie, and whether they can be written there.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::super::document::{V2_NAMES, V3_NAME};
use super::super::{Store, StoreError};
use super::name::JournalName;
use super::replace::Attributes;

/// The directories that a hierarchy consists of.
#[derive(Debug, Clone)]
pub(super) struct Places {
    root: PathBuf,
    /// The outermost groups. There is more than one where a link leads from one hierarchy into another.
    tops: Vec<PathBuf>,
}

impl Places {
    pub(super) fn of(store: &Store) -> Self {
        let root = store.root().to_owned();
        let mut directories: Vec<&Path> = store
            .enclosing()
            .iter()
            .map(|group| &*group.directory)
            .chain([store.directory()])
            .collect();
        directories.sort();
        let mut tops: Vec<PathBuf> = Vec::new();
        for directory in directories {
            if !tops.iter().any(|top| directory.starts_with(top)) {
                tops.push(directory.to_owned());
            }
        }
        Self { root, tops }
    }

    /// The outermost group, beside which the journal lies.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The outermost groups, in an order that is the same for all processes.
    pub(super) fn tops(&self) -> &[PathBuf] {
        &self.tops
    }

    fn contain(&self, path: &Path) -> bool {
        self.tops.iter().any(|top| path.starts_with(top))
    }

    /// The file that a document is, links followed. It need not be there.
    pub(super) fn resolve(&self, path: &Path) -> Result<PathBuf, StoreError> {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                    return Err(StoreError::NotFound(path.to_owned()));
                };
                if fs::symlink_metadata(path).is_ok() {
                    // A link that leads nowhere.
                    return Err(StoreError::NotFound(path.to_owned()));
                }
                let parent = fs::canonicalize(parent).map_err(StoreError::io("follow", parent))?;
                parent.join(name)
            }
            Err(error) => return Err(StoreError::io("follow", path)(error)),
        };
        if self.contain(&target) {
            Ok(target)
        } else {
            Err(StoreError::LeadsOut {
                path: path.to_owned(),
                target,
            })
        }
    }

    /// A path as a journal tells it: from the root, where it is inside.
    pub(super) fn told(&self, target: &Path) -> String {
        let Ok(inside) = target.strip_prefix(&self.root) else {
            return target.to_string_lossy().into_owned();
        };
        let names: Vec<_> = inside
            .components()
            .map(Component::as_os_str)
            .map(|name| name.to_string_lossy())
            .collect();
        names.join("/")
    }

    /// The file that a journal tells of, where `base` was the root.
    pub(super) fn untold(&self, base: &Path, told: &str) -> Result<PathBuf, StoreError> {
        let path = base.join(told);
        let target = self.resolve(&path)?;
        // Paths in journals have no links, unless somebody put one there since.
        if target == path {
            Ok(target)
        } else {
            Err(StoreError::LeadsOut { path, target })
        }
    }

    /// Insists that a journal can be made, as far as that can be told without writing.
    pub(super) fn check_journal(&self, name: &JournalName) -> Result<(), StoreError> {
        for path in [
            name.complete().to_owned(),
            name.unfinished(),
            name.writing(),
        ] {
            if fs::symlink_metadata(&path).is_ok() {
                return Err(StoreError::JournalExists(path));
            }
        }
        if let Some(store) = self
            .tops
            .iter()
            .find(|top| name.directory().starts_with(top))
        {
            return Err(StoreError::JournalInside {
                journal: name.complete().to_owned(),
                store: store.clone(),
            });
        }
        let directory = name.directory();
        let metadata = fs::metadata(directory).map_err(StoreError::io("look at", directory))?;
        if !metadata.is_dir() {
            return Err(StoreError::NotADirectory(directory.to_owned()));
        }
        if may_write(directory) {
            Ok(())
        } else {
            Err(StoreError::NoJournalPlace(directory.to_owned()))
        }
    }
}

/// Says where a journal was to lie, if that is why it could not be made.
pub(super) fn no_journal(directory: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Io { source, .. }
            if matches!(
                source.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            StoreError::NoJournalPlace(directory.to_owned())
        }
        error => error,
    }
}

/// Insists that a document can be replaced. A rename would also replace one that is read-only, but not by the will of whoever made it so.
pub(super) fn check_writable(target: &Path) -> Result<(), StoreError> {
    let denied = |path: &Path| StoreError::Io {
        action: "write to",
        path: path.to_owned(),
        source: io::ErrorKind::PermissionDenied.into(),
    };
    match fs::metadata(target) {
        Ok(metadata) if metadata.permissions().readonly() => {
            return Err(StoreError::ReadOnly(target.to_owned()));
        }
        Ok(_) if !may_write(target) => return Err(denied(target)),
        _ => {}
    }
    match target.parent() {
        Some(parent) if !may_write(parent) => Err(denied(parent)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(not(unix))]
fn may_write(_path: &Path) -> bool {
    // Trying will tell.
    true
}

/// The permissions of the documents beside one that is to be created.
pub(super) fn permissions_beside(target: &Path) -> Option<Attributes> {
    let names = V2_NAMES.into_iter().chain([V3_NAME]);
    names
        .filter_map(|name| fs::metadata(target.with_file_name(name)).ok())
        .find_map(|metadata| Attributes::of(&metadata))
}

/// Whether a file belongs to somebody else, so that a new one in its place may not.
#[cfg(unix)]
pub(super) fn is_foreign(attributes: Option<Attributes>) -> bool {
    let user = rustix::process::geteuid();
    attributes.is_some_and(|attributes| !user.is_root() && attributes.owner.0 != user.as_raw())
}

#[cfg(not(unix))]
pub(super) fn is_foreign(_attributes: Option<Attributes>) -> bool {
    false
}
