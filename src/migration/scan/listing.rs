//! Which chunks of an array are stored, and what their files are like: listed before anything is read, so that a change shows
//! when they are listed again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::grid::Grid;
use crate::catalog::{causes, named};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::store::{Object, Objects, StoreError};

/// What has become of a chunk, since it was examined.
pub(super) const GONE: &str = "has gone away";
const APPEARED: &str = "was missing, and is stored now";

/// How many files are looked at between two questions whether to go on.
const STRIDE: usize = 1024;

/// The file of a chunk. An array may have millions of them, so it is small: the key follows from the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The place of the chunk in the grid.
    pub(super) chunk: u64,
    /// The length of the file.
    pub(super) length: u64,
    /// Nanoseconds since 1970 at which it was last written to; 0 where the file system does not tell.
    modified: i64,
}

/// What the files of all chunks of an array were like when they were listed. Those that were missing are those that are not in
/// the list, so that it takes no more room than the chunks that are stored.
#[derive(Clone, Debug)]
pub struct Examined {
    path: String,
    directory: PathBuf,
    pub(super) grid: Arc<Grid>,
    /// In the order of the grid.
    pub(super) stamps: Arc<[Stamp]>,
}

impl Examined {
    /// Lists the chunks of an array.
    pub(super) fn list(
        path: &str,
        directory: &Path,
        grid: Arc<Grid>,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let mut stamps = stamps(path, directory, &grid, interrupt)?;
        stamps.sort_unstable_by_key(|stamp| stamp.chunk);
        Ok(Self {
            path: path.to_owned(),
            directory: directory.to_owned(),
            grid,
            stamps: stamps.into(),
        })
    }

    /// The path of the array.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How many chunks are stored.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.stamps.len() as u64
    }

    /// How many chunks are missing.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.grid.total().saturating_sub(self.stored())
    }

    /// The bytes that are stored.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lengths = self.stamps.iter().map(|stamp| stamp.length);
        lengths.fold(0, u64::saturating_add)
    }

    /// Lists the chunks again, and compares.
    fn check(&self, interrupt: &Interrupt) -> Result<(), Error> {
        let now = Self::list(
            &self.path,
            &self.directory,
            Arc::clone(&self.grid),
            interrupt,
        )?;
        let (old, new) = (&self.stamps, &now.stamps);
        let same = old.iter().zip(&**new).take_while(|(old, new)| old == new);
        let same = same.count();
        let (chunk, what) = match (old.get(same), new.get(same)) {
            (None, None) => return Ok(()),
            (Some(old), Some(new)) if old.chunk == new.chunk => {
                let what = if old.length == new.length {
                    "was written to".to_owned()
                } else {
                    format!("had {} bytes, and has {}", old.length, new.length)
                };
                (old.chunk, what)
            }
            (Some(old), Some(new)) if new.chunk < old.chunk => (new.chunk, APPEARED.to_owned()),
            (None, Some(new)) => (new.chunk, APPEARED.to_owned()),
            (Some(old), _) => (old.chunk, GONE.to_owned()),
        };
        Err(changed(&self.path, &self.grid.key(chunk), &what))
    }
}

/// Makes sure that the chunks of all these arrays are what they were when they were examined, and that none was added.
///
/// # Errors
///
/// The first chunk that is not, in the order of the arrays and their grids; and where a directory cannot be listed, or a signal
/// came.
pub fn unchanged(examined: &[Examined], interrupt: &Interrupt) -> Result<(), Error> {
    examined.iter().try_for_each(|array| array.check(interrupt))
}

/// The error of a chunk that somebody else has changed.
pub(super) fn changed(path: &str, key: &str, what: &str) -> Error {
    let message = format!(
        "{}: the chunk {key:?} {what} since it was examined",
        named(path)
    );
    Error::new(ErrorKind::Io, message).hint("run it again once nobody writes to the store")
}

/// The files of the chunks, in no order.
fn stamps(
    path: &str,
    directory: &Path,
    grid: &Grid,
    interrupt: &Interrupt,
) -> Result<Vec<Stamp>, Error> {
    let mut stamps = Vec::new();
    if grid.total() == 0 {
        return Ok(stamps);
    }
    for (n, object) in Objects::below(directory).with_directories().enumerate() {
        if n % STRIDE == 0 {
            interrupt.check()?;
        }
        let object = match object.and_then(|object| in_place(object, grid)) {
            Ok(object) => object,
            Err(error) if is_foreign(&error, directory) => continue,
            Err(error) => {
                let message = format!(
                    "{}: could not tell which chunks are stored: {}",
                    named(path),
                    causes(&error)
                );
                return Err(Error::new(error.kind(), message));
            }
        };
        if let Some(chunk) = grid.place(&object.key) {
            stamps.push(Stamp {
                chunk,
                length: object.length,
                modified: object.modified.map_or(0, nanoseconds),
            });
        }
    }
    Ok(stamps)
}

/// Refuses a directory in the place of a chunk, and a file in that of a directory of chunks: the chunks are not missing, but nobody
/// can read them.
fn in_place(object: Object, grid: &Grid) -> Result<Object, StoreError> {
    if object.is_directory && grid.place(&object.key).is_some() {
        return Err(StoreError::DirectoryForChunk(object.path));
    }
    if !object.is_directory && grid.has_chunks_below(&object.key) {
        return Err(StoreError::FileForChunks(object.path));
    }
    Ok(object)
}

/// Whether an error is about something that is no chunk, nor on the way to one.
fn is_foreign(error: &StoreError, directory: &Path) -> bool {
    let path = match error {
        // Keys of chunks are plain.
        StoreError::NotUtf8(_) => return true,
        StoreError::NotFound(path)
        | StoreError::NotADirectory(path)
        | StoreError::NotAFile(path)
        | StoreError::TooManyLinks { link: path, .. }
        | StoreError::Io { path, .. } => path,
        _ => return false,
    };
    let below = path.strip_prefix(directory).ok();
    let first = below.and_then(|below| below.iter().next());
    let Some(first) = first.and_then(|name| name.to_str()) else {
        return false;
    };
    let numbers = first.strip_prefix("c.").unwrap_or(first);
    first != "c" && !numbers.starts_with(|c: char| c.is_ascii_digit())
}

/// Nanoseconds since 1970: until the year 2262 they fit.
fn nanoseconds(time: SystemTime) -> i64 {
    let count = |duration: Duration| i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => count(after),
        Err(before) => -count(before.duration()),
    }
}
