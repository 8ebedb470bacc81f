//! The files of an array: its chunks, and whatever else lies below its directory.

use std::fs::{self, ReadDir};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::StoreError;

/// How many links to directories may lead to a file, one inside the other. It takes a loop to have more.
const MAX_LINKS: u8 = 4;

/// A file below a directory, or a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its path from the directory, with slashes.
    pub key: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its length in bytes.
    pub length: u64,
    /// When it was last written to, where the file system tells.
    pub modified: Option<SystemTime>,
    /// Whether it is a directory, which only [`Objects::with_directories`] lists.
    pub is_directory: bool,
}

/// The files at and below a directory, in no order: an array may have more of them than can be sorted.
///
/// Files that have been seen are forgotten; what is kept are directories that are still to be listed. After an error the
/// rest follows.
#[derive(Debug)]
pub struct Objects {
    /// The directory that is being listed.
    listing: Option<(ReadDir, Directory)>,
    pending: Vec<Directory>,
    with_directories: bool,
}

#[derive(Debug, Clone)]
struct Directory {
    path: PathBuf,
    /// What the keys of files in it begin with, a slash at the end included.
    prefix: String,
    /// The links that led here.
    links: u8,
}

impl Objects {
    /// Lists a directory.
    #[must_use]
    pub fn below(directory: &Path) -> Self {
        let start = Directory {
            path: directory.to_owned(),
            prefix: String::new(),
            links: 0,
        };
        Self {
            listing: None,
            pending: vec![start],
            with_directories: false,
        }
    }

    /// Lists the directories below it as well, each before what is in it: for callers to whom one may stand in the place of a file.
    #[must_use]
    pub const fn with_directories(mut self) -> Self {
        self.with_directories = true;
        self
    }

    /// Puts a directory on the list of those to be listed.
    fn descend(&mut self, path: PathBuf, key: String, links: u8) -> Option<Object> {
        self.pending.push(Directory {
            path: path.clone(),
            prefix: format!("{key}/"),
            links,
        });
        self.with_directories.then_some(Object {
            key,
            path,
            length: 0,
            modified: None,
            is_directory: true,
        })
    }

    /// Looks at one entry of the directory that is being listed.
    fn examine(
        &mut self,
        entry: &fs::DirEntry,
        directory: &Directory,
    ) -> Result<Option<Object>, StoreError> {
        let path = entry.path();
        let Some(key) = entry
            .file_name()
            .to_str()
            .map(|name| format!("{}{name}", directory.prefix))
        else {
            return Err(StoreError::NotUtf8(path));
        };
        let kind = entry
            .file_type()
            .map_err(StoreError::io("look at", &path))?;
        if kind.is_dir() {
            return Ok(self.descend(path, key, directory.links));
        }
        let metadata = fs::metadata(&path).map_err(StoreError::io("look at", &path))?;
        if metadata.is_file() {
            return Ok(Some(Object {
                key,
                path,
                length: metadata.len(),
                modified: metadata.modified().ok(),
                is_directory: false,
            }));
        }
        if !metadata.is_dir() {
            return Err(StoreError::NotAFile(path));
        }
        if directory.links == MAX_LINKS {
            return Err(StoreError::TooManyLinks {
                link: path,
                limit: MAX_LINKS.into(),
            });
        }
        Ok(self.descend(path, key, directory.links + 1))
    }
}

impl Iterator for Objects {
    type Item = Result<Object, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((mut entries, directory)) = self.listing.take() else {
                let directory = self.pending.pop()?;
                match fs::read_dir(&directory.path) {
                    Ok(entries) => self.listing = Some((entries, directory)),
                    Err(error) => return Some(Err(StoreError::io("list", &directory.path)(error))),
                }
                continue;
            };
            let examined = match entries.next() {
                None => continue,
                Some(Ok(entry)) => self.examine(&entry, &directory).transpose(),
                // The listing is not taken up again: an error that stays would be met for ever.
                Some(Err(error)) => {
                    return Some(Err(StoreError::io("list", &directory.path)(error)));
                }
            };
            self.listing = Some((entries, directory));
            if examined.is_some() {
                return examined;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(directory: &Path) -> Vec<String> {
        let mut keys: Vec<String> = Objects::below(directory)
            .map(|object| match object {
                Ok(object) => format!("{} {}", object.key, object.length),
                Err(error) => error.to_string(),
            })
            .collect();
        keys.sort();
        keys
    }

    #[test]
    fn every_file_has_its_key_and_length() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir_all(root.join("c/0/1")).unwrap();
        fs::create_dir_all(root.join("empty")).unwrap();
        for (key, text) in [
            ("zarr.json", "{}"),
            ("c/0/1/2", "abc"),
            ("0.0", ""),
            ("a b", "1"),
        ] {
            fs::write(root.join(key), text).unwrap();
        }
        assert_eq!(keys(root), ["0.0 0", "a b 1", "c/0/1/2 3", "zarr.json 2"]);
        let directories = Objects::below(root).with_directories().map(Result::unwrap);
        let directories = directories.filter(|object| object.is_directory);
        let mut directories: Vec<_> = directories.map(|object| object.key).collect();
        directories.sort();
        assert_eq!(directories, ["c", "c/0", "c/0/1", "empty"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_around_in_circles() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("0"), "abc").unwrap();
        symlink(elsewhere.path(), root.join("c")).unwrap();
        symlink(elsewhere.path().join("0"), root.join("1")).unwrap();
        symlink("nowhere", root.join("gone")).unwrap();
        let missing = format!("{:?} does not exist", root.join("gone"));
        assert_eq!(keys(root), [missing.as_str(), "1 3", "c/0 3"]);
        symlink(".", elsewhere.path().join("again")).unwrap();
        let keys = keys(root);
        assert_eq!(keys.len(), 7, "{keys:?}");
        assert!(keys[0].contains("more than 4 links"), "{keys:?}");
    }

    #[test]
    fn what_is_no_directory_is_an_error_and_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let mut objects = Objects::below(&directory.path().join("none"));
        assert!(matches!(objects.next(), Some(Err(StoreError::NotFound(_)))));
        assert!(objects.next().is_none());
    }
}
