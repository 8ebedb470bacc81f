//! The objects below a directory, for those who read chunks: regular files alone, none larger than a limit.
//!
//! What has a name but cannot be read (a link to nothing, a pipe, a device, a directory, or a file where there should be a
//! directory of chunks) is an error and not a missing chunk, which would be read as fill.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use zarrs::storage::byte_range::{ByteRange, ByteRangeIterator};
use zarrs::storage::{
    Bytes, MaybeBytes, MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey,
};

use super::StoreError;

/// The objects below a directory.
#[derive(Debug)]
pub struct ChunkFiles {
    directory: PathBuf,
    limit: AtomicU64,
}

impl ChunkFiles {
    /// The objects below a directory, of any size.
    #[must_use]
    pub fn below(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            limit: AtomicU64::new(u64::MAX),
        }
    }

    /// Refuses to read more than so many bytes of an object at a time.
    pub fn limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Opens an object, and tells its length; `None` where nothing has the name.
    fn open(&self, key: &StoreKey) -> Result<Option<(File, u64)>, StorageError> {
        let path = self.directory.join(key.as_str());
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match fs::symlink_metadata(&path) {
            Err(error) if missing(&error) => {
                self.require_way(&path)?;
                return Ok(None);
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                self.require_way(&path)?;
                return Err(error.into());
            }
            found => found?,
        };
        // Asked for before opening, since opening a pipe waits for somebody to write to it.
        let metadata = match fs::metadata(&path) {
            Err(error) if missing(&error) => return Err(link_to_nothing(&path)),
            found => found?,
        };
        if metadata.is_dir() {
            return Err(other(&StoreError::DirectoryForChunk(path)));
        }
        if !metadata.is_file() {
            return Err(other(&StoreError::NotAFile(path)));
        }
        Ok(Some((File::open(&path)?, metadata.len())))
    }

    /// Insists that what is missing is missing from a directory: that what is there of the way to it is a directory.
    fn require_way(&self, path: &Path) -> Result<(), StorageError> {
        let ways = path.ancestors().skip(1);
        for way in ways.take_while(|way| *way != self.directory) {
            match fs::symlink_metadata(way) {
                Err(_) => continue,
                Ok(found) if found.is_dir() => {}
                Ok(_) => match fs::metadata(way) {
                    Ok(found) if found.is_dir() => {}
                    Ok(_) => return Err(other(&StoreError::FileForChunks(way.to_owned()))),
                    Err(_) => return Err(link_to_nothing(way)),
                },
            }
            break;
        }
        Ok(())
    }

    fn read(&self, file: &mut File, start: u64, length: u64) -> Result<Bytes, StorageError> {
        let limit = self.limit.load(Ordering::Relaxed);
        if length > limit {
            return Err(StorageError::Other(format!(
                "{length} bytes are stored, far more than a chunk of this array can take ({limit})"
            )));
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length {
            Ok(bytes.into())
        } else {
            Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
        }
    }
}

fn link_to_nothing(path: &Path) -> StorageError {
    StorageError::Other(format!("{path:?} is a link to nothing"))
}

fn other(error: &StoreError) -> StorageError {
    StorageError::Other(error.to_string())
}

impl ReadableStorageTraits for ChunkFiles {
    fn get(&self, key: &StoreKey) -> Result<MaybeBytes, StorageError> {
        let Some((mut file, length)) = self.open(key)? else {
            return Ok(None);
        };
        self.read(&mut file, 0, length).map(Some)
    }

    fn get_partial_many<'a>(
        &'a self,
        key: &StoreKey,
        ranges: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        let Some((mut file, length)) = self.open(key)? else {
            return Ok(None);
        };
        let pieces = ranges.map(move |range: ByteRange| {
            let (start, end) = (range.start(length), range.end(length));
            if start > end || end > length {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            self.read(&mut file, start, end - start)
        });
        Ok(Some(Box::new(pieces)))
    }

    fn size_key(&self, key: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(self.open(key)?.map(|(_, length)| length))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> StoreKey {
        StoreKey::new(name).unwrap()
    }

    #[test]
    fn what_is_there_is_read_and_what_is_not_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("c")).unwrap();
        fs::write(folder.path().join("c/0"), b"abcdef").unwrap();
        let files = ChunkFiles::below(folder.path());
        assert_eq!(files.get(&key("c/0")).unwrap().unwrap(), "abcdef");
        assert_eq!(files.get(&key("c/1")).unwrap(), None);
        assert_eq!(files.get(&key("d/0/1")).unwrap(), None);
        assert_eq!(files.size_key(&key("c/0")).unwrap(), Some(6));
        let range = ByteRange::FromStart(2, Some(3));
        assert_eq!(
            files.get_partial(&key("c/0"), range).unwrap().unwrap(),
            "cde"
        );
        assert!(
            files
                .get_partial(&key("c/0"), ByteRange::FromStart(5, Some(3)))
                .is_err()
        );
        let refused = |name| files.get(&key(name)).unwrap_err().to_string();
        assert!(refused("c").contains("is a directory"), "{}", refused("c"));
        for below in ["c/0/1", "c/0/1/2"] {
            assert!(refused(below).contains("is a file"), "{}", refused(below));
        }
        files.limit(5);
        assert!(files.get(&key("c/0")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_has_a_name_and_cannot_be_read_is_not_missing() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("0")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("1")).unwrap();
        let files = ChunkFiles::below(folder.path());
        for name in ["0", "1", "0/1", "0/1/2", "1/0"] {
            assert!(files.get(&key(name)).is_err(), "{name}");
            assert!(files.size_key(&key(name)).is_err(), "{name}");
        }
    }
}
