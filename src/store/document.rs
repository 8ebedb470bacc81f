//! Reading one document, never more of it than a limit.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::StoreError;

/// The largest document that is read unless the caller says otherwise: 64 MiB.
pub const DEFAULT_MAX_DOCUMENT: u64 = 64 << 20;

/// The names that documents have. A directory with one of them is a node.
pub(super) const V3_NAME: &str = "zarr.json";
pub(super) const V2_NAMES: [&str; 4] = [".zarray", ".zgroup", ".zattrs", ".zmetadata"];

/// A document of a node.
#[derive(Debug)]
pub struct Document {
    /// The name of its file: `zarr.json`, `.zarray`, `.zgroup`, `.zattrs` or `.zmetadata`.
    pub name: &'static str,
    /// What it holds, or why that could not be read.
    pub bytes: Result<Vec<u8>, StoreError>,
}

/// Reads a file as a document.
///
/// # Errors
///
/// Where there is none, where it is larger than `limit`, or no regular file, or cannot be read.
pub fn read_document(path: &Path, limit: u64) -> Result<Vec<u8>, StoreError> {
    // Asked for before opening, since opening a pipe waits for somebody to write to it.
    let metadata = fs::metadata(path).map_err(StoreError::io("read", path))?;
    if !metadata.is_file() {
        return Err(StoreError::NotAFile(path.to_owned()));
    }
    let too_large = || StoreError::TooLarge {
        path: path.to_owned(),
        limit,
    };
    if metadata.len() > limit {
        return Err(too_large());
    }
    // The file may grow while it is read: the limit holds for what comes, not for what was promised.
    let file = File::open(path).map_err(StoreError::io("read", path))?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(StoreError::io("read", path))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
        Ok(bytes)
    } else {
        Err(too_large())
    }
}

/// Whether a document stands at a path. Anything but its absence counts: what cannot be read is to be
/// reported, not overlooked.
pub(super) fn stands_at(path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(is_link(path)),
        Err(error) => Err(StoreError::io("look for", path)(error)),
    }
}

/// A link that leads nowhere does stand there.
fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_up_to_the_limit_and_not_beyond() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".zattrs");
        fs::write(&path, "{    }").unwrap();
        assert_eq!(read_document(&path, 6).unwrap(), b"{    }");
        let refused = read_document(&path, 5);
        assert!(matches!(
            refused,
            Err(StoreError::TooLarge { limit: 5, .. })
        ));
    }

    #[test]
    fn a_sparse_file_of_a_tebibyte_is_refused_unread() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("zarr.json");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        let refused = read_document(&path, DEFAULT_MAX_DOCUMENT);
        assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let refused = read_document(directory.path(), 10);
        assert!(matches!(refused, Err(StoreError::NotAFile(_))));
        let missing = read_document(&directory.path().join("none"), 10);
        assert!(matches!(missing, Err(StoreError::NotFound(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_does_not_make_the_reader_wait() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("zarr.json");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(matches!(
            read_document(&path, 10),
            Err(StoreError::NotAFile(_))
        ));
    }
}
