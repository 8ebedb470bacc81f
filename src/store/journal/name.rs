//! Where a journal lies, and its three names: while it is being written, while it is needed to mend a store, and afterwards.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Place, StoreError};

/// What stands between the name of the store and the time.
const MARK: &str = ".zarrpack-undo-";
const SUFFIX: &str = ".json";
const WRITING: &str = ".writing";
const UNFINISHED: &str = ".unfinished";

/// How much of a store's name is used, in bytes: names of files have an end.
const NAME_LENGTH: usize = 128;

/// A journal, by the name that it has in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JournalName(PathBuf);

impl JournalName {
    /// The journal that is found under any of its three names.
    pub(super) fn from_any(path: &Path) -> Self {
        let shorter = path.file_name().and_then(OsStr::to_str).and_then(|name| {
            let mut suffixes = [WRITING, UNFINISHED].into_iter();
            suffixes.find_map(|suffix| name.strip_suffix(suffix))
        });
        Self(shorter.map_or_else(|| path.to_owned(), |name| path.with_file_name(name)))
    }

    /// A new name beside a store, or at a place that was asked for.
    pub(super) fn new(root: &Path, asked: Option<&Place>, stamp: &str) -> Result<Self, StoreError> {
        if let Some(place) = asked {
            return Ok(Self(place.path().to_owned()));
        }
        let Some(parent) = root.parent() else {
            return Err(StoreError::NoJournalPlace(root.to_owned()));
        };
        let name = format!("{}{MARK}{stamp}{SUFFIX}", short(root));
        Ok(Self(parent.join(name)))
    }

    /// Its name once the change is complete: it then serves to undo it.
    pub(super) fn complete(&self) -> &Path {
        &self.0
    }

    /// Its name while documents may be replaced. A store beside which it lies is to be rolled back.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.with(UNFINISHED)
    }

    /// Its name before it is whole. No document has been touched then.
    pub(super) fn writing(&self) -> PathBuf {
        self.with(WRITING)
    }

    /// The directory that it lies in.
    pub(super) fn directory(&self) -> &Path {
        self.0.parent().unwrap_or(&self.0)
    }

    fn with(&self, suffix: &str) -> PathBuf {
        let mut path = OsString::from(&self.0);
        path.push(suffix);
        path.into()
    }
}

/// The journals beside a store that are not complete, by age.
pub(super) fn unfinished_beside(root: &Path) -> Result<Vec<JournalName>, StoreError> {
    let Some(parent) = root.parent() else {
        return Ok(Vec::new());
    };
    let prefix = format!("{}{MARK}", short(root));
    let failed = || StoreError::io("list", parent);
    let mut found = Vec::new();
    let entries = match fs::read_dir(parent) {
        Ok(entries) => entries,
        // A directory may let one through and yet not be listed. Then nothing was written there either.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Ok(found),
        Err(error) => return Err(failed()(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| {
            name.starts_with(&prefix) && (name.ends_with(UNFINISHED) || name.ends_with(WRITING))
        });
        let journal = JournalName::from_any(&entry.path());
        if is_one && !found.contains(&journal) {
            found.push(journal);
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// The lock file beside a store.
pub(super) fn lock_beside(root: &Path) -> Option<PathBuf> {
    let parent = root.parent()?;
    Some(parent.join(format!(".{}.zarrpack-lock", short(root))))
}

/// The lock file inside a store, for those who may not write beside it.
pub(super) fn lock_inside(root: &Path) -> PathBuf {
    root.join(".zarrpack-lock")
}

/// The time in UTC to the microsecond, in a form that sorts and fits into a name.
pub(super) fn stamp() -> String {
    jiff::Timestamp::now()
        .strftime("%Y%m%dT%H%M%S.%6fZ")
        .to_string()
}

fn short(root: &Path) -> &str {
    let name = root.file_name().and_then(OsStr::to_str);
    // A name that is not UTF-8 can be cut nowhere safely.
    let name = name.unwrap_or("store");
    &name[..name.floor_char_boundary(NAME_LENGTH)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_known_by_each_of_its_names() {
        let name = JournalName::new(Path::new("/d/s.zarr"), None, "T").unwrap();
        assert_eq!(name.complete(), Path::new("/d/s.zarr.zarrpack-undo-T.json"));
        for path in [
            name.complete().to_owned(),
            name.unfinished(),
            name.writing(),
        ] {
            assert_eq!(JournalName::from_any(&path), name);
        }
        assert_eq!(name.directory(), Path::new("/d"));
    }

    #[test]
    fn only_unfinished_journals_of_the_store_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("s.zarr");
        for name in [
            "s.zarr.zarrpack-undo-2.json.unfinished",
            "s.zarr.zarrpack-undo-1.json.writing",
            "s.zarr.zarrpack-undo-1.json.unfinished",
            "s.zarr.zarrpack-undo-3.json",
            "t.zarr.zarrpack-undo-4.json.unfinished",
        ] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        let found = unfinished_beside(&root).unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|journal| journal.0.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["s.zarr.zarrpack-undo-1.json", "s.zarr.zarrpack-undo-2.json"]
        );
    }

    #[test]
    fn stamps_sort_and_hold_microseconds() {
        let stamp = stamp();
        assert_eq!(stamp.len(), "20261129T224313.123456Z".len(), "{stamp}");
        assert!(stamp <= self::stamp());
    }
}
