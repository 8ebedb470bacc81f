//! What can go wrong with files and directories, and how a run ends then.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupted;

/// Why a store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An argument that names nothing.
    #[error("an empty path names no place")]
    Empty,
    /// A URL.
    #[error("{0:?} is not a local path, and this version opens nothing else")]
    Url(PathBuf),
    /// Nothing is there.
    #[error("{0:?} does not exist")]
    NotFound(PathBuf),
    /// Something else than a directory is there.
    #[error("{0:?} is not a directory")]
    NotADirectory(PathBuf),
    /// Something else than a regular file is there: a directory, a pipe, a device.
    #[error("{0:?} is not a regular file")]
    NotAFile(PathBuf),
    /// A directory has the name of a chunk.
    #[error("{0:?} is a directory, and a chunk of this name is a file")]
    DirectoryForChunk(PathBuf),
    /// A file has the name of a directory of chunks.
    #[error("{0:?} is a file, and chunks lie in a directory of this name")]
    FileForChunks(PathBuf),
    /// A file beyond the limit for documents.
    #[error("{path:?} is larger than the limit of {limit} bytes for a document")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// A name that cannot be part of a Zarr path.
    #[error("the name of {0:?} is not UTF-8")]
    NotUtf8(PathBuf),
    /// A link to a directory that it is in.
    #[error("{link:?} leads back to {target:?}, which it is in")]
    Loop {
        /// The link.
        link: PathBuf,
        /// The directory, by the path that led to it first.
        target: PathBuf,
    },
    /// More links to directories than anybody means.
    #[error("{link:?} was not followed: the hierarchy has more than {limit} links to directories")]
    TooManyLinks {
        /// The first link that was not followed.
        link: PathBuf,
        /// How many were.
        limit: usize,
    },
    /// What is to be written is there already.
    #[error("{0:?} exists")]
    Exists(PathBuf),
    /// What exists may not be replaced, whatever was asked for.
    #[error("{0:?} exists, and is not what would be written there")]
    NotReplaceable(PathBuf),
    /// Another process is writing the same output.
    #[error("another process is writing to {0:?}")]
    Busy(PathBuf),
    /// Another process is changing the same hierarchy.
    #[error("another process{} is changing {root:?}", process(*.pid))]
    Locked {
        /// The outermost group.
        root: PathBuf,
        /// The number of the process, if that is known.
        pid: Option<u32>,
        /// The lock file.
        lock: PathBuf,
    },
    /// A document is not what a change was planned from, or what it left.
    #[error("{0:?} was changed by somebody else meanwhile")]
    Changed(PathBuf),
    /// A copy was read back and is not the same.
    #[error("{0:?} does not hold what was copied to it")]
    CopyDiffers(PathBuf),
    /// Documents are not what the change left that is to be undone.
    #[error("{} changed since {journal:?} was written", several(.documents))]
    ChangedSince {
        /// The journal.
        journal: PathBuf,
        /// The documents.
        documents: Vec<PathBuf>,
    },
    /// A document that is a link, or reached through one, and lies elsewhere.
    #[error("{path:?} leads to {target:?}, outside the hierarchy")]
    LeadsOut {
        /// The document.
        path: PathBuf,
        /// Where it is.
        target: PathBuf,
    },
    /// Links make two documents one, and they are to become different.
    #[error("{0:?} would have to become two different documents, for links lead to it")]
    Twice(PathBuf),
    /// A document without permission to write.
    #[error("{0:?} is read-only")]
    ReadOnly(PathBuf),
    /// The undo journal would be part of the store.
    #[error("the undo journal {journal:?} would lie inside {store:?}")]
    JournalInside {
        /// The journal.
        journal: PathBuf,
        /// The hierarchy.
        store: PathBuf,
    },
    /// Something has the name of the undo journal.
    #[error("{0:?} exists, and the undo journal replaces nothing")]
    JournalExists(PathBuf),
    /// The undo journal cannot be made where it belongs.
    #[error("the undo journal cannot be written to {0:?}")]
    NoJournalPlace(PathBuf),
    /// A run that was killed has left its journal where nothing is any more.
    #[error("an earlier run was killed, and its journal {0:?} cannot be reached")]
    JournalGone(PathBuf),
    /// A run on another hierarchy was killed that also changed documents of this one.
    #[error("an earlier run on {root:?} was killed, and its journal {journal:?} is unfinished")]
    UnfinishedElsewhere {
        /// The journal.
        journal: PathBuf,
        /// The hierarchy that it is for.
        root: PathBuf,
    },
    /// Some documents were restored, and others not.
    #[error("not all documents are restored")]
    Unfinished,
    /// A file that is no journal.
    #[error("{path:?} is no undo journal: {reason}")]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A journal of another hierarchy.
    #[error("{journal:?} is the undo journal of {root:?}, not of this store")]
    OtherJournal {
        /// The journal.
        journal: PathBuf,
        /// The hierarchy whose documents it holds.
        root: PathBuf,
    },
    /// Input and output are one place.
    #[error("input and output are the same place, {0:?}")]
    Same(PathBuf),
    /// One of input and output contains the other.
    #[error("{inner:?} lies inside {outer:?}: input and output must be apart")]
    Nested {
        /// The one inside.
        inner: PathBuf,
        /// The one around it.
        outer: PathBuf,
    },
    /// A key that would leave the directory that is being written.
    #[error("{0:?} is not a key of a store")]
    Key(String),
    /// A signal came.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The operating system refused.
    #[error("could not {action} {path:?}")]
    Io {
        /// What was tried, as in "could not read".
        action: &'static str,
        /// With which file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl StoreError {
    /// Gives an operating system's error a place; for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path),
            io::ErrorKind::NotADirectory => Self::NotADirectory(path),
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    /// How a run ends that ends with this error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Empty
            | Self::Url(_)
            | Self::Exists(_)
            | Self::NotReplaceable(_)
            | Self::Same(_)
            | Self::Nested { .. }
            | Self::JournalInside { .. }
            | Self::JournalExists(_)
            | Self::Key(_) => ErrorKind::Usage,
            Self::TooLarge { .. }
            | Self::NotUtf8(_)
            | Self::LeadsOut { .. }
            | Self::Twice(_)
            | Self::OtherJournal { .. }
            | Self::NotAJournal { .. } => ErrorKind::Finding,
            Self::Loop { .. }
            | Self::TooManyLinks { .. }
            | Self::Busy(_)
            | Self::NotFound(_)
            | Self::NotADirectory(_)
            | Self::NotAFile(_)
            | Self::DirectoryForChunk(_)
            | Self::FileForChunks(_)
            | Self::Locked { .. }
            | Self::Changed(_)
            | Self::CopyDiffers(_)
            | Self::ChangedSince { .. }
            | Self::ReadOnly(_)
            | Self::NoJournalPlace(_)
            | Self::JournalGone(_)
            | Self::UnfinishedElsewhere { .. }
            | Self::Unfinished
            | Self::Io { .. } => ErrorKind::Io,
            Self::Interrupted(Interrupted(signal)) => signal.kind(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Locked { lock, .. } => {
                return Some(format!(
                    "wait for it; if no such process lives, on no machine, remove {lock:?}"
                ));
            }
            Self::UnfinishedElsewhere { root, .. } => {
                return Some(format!(
                    "run on {root:?} first, which restores its documents"
                ));
            }
            Self::DirectoryForChunk(_) | Self::FileForChunks(_) => Some(
                "readers take the fill value for chunks there: restore them, or move it away if they are to be missing",
            ),
            Self::Changed(_) => {
                Some("run again: the change is planned anew from what is there now")
            }
            Self::ChangedSince { .. } => Some(
                "the journal holds the documents as they were: compare them, and restore by hand what is wanted",
            ),
            Self::LeadsOut { .. } => Some("run on the hierarchy that the document belongs to"),
            Self::ReadOnly(_) => Some("give it permission to be written if it may be changed"),
            Self::JournalInside { .. } => Some("pass --journal PATH with a path outside the store"),
            Self::JournalExists(_) => Some("pass --journal PATH with a path at which nothing is"),
            Self::NoJournalPlace(_) => {
                Some("pass --journal PATH with a path in a directory that can be written to")
            }
            Self::JournalGone(_) => Some(
                "make its directory reachable again: the store may be half changed, and the journal mends it",
            ),
            Self::Exists(_) => Some("choose another place, or pass --overwrite to replace it"),
            Self::NotReplaceable(_) => {
                Some("only a Zarr node, an empty directory or a file of the same sort is replaced")
            }
            Self::Same(_) | Self::Nested { .. } => {
                Some("links and \"..\" were resolved; write to a directory beside the input")
            }
            _ => None,
        };
        hint.map(str::to_owned)
    }
}

/// A process by its number, if that is known.
fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" ({pid})"))
}

/// Some of many documents.
fn several(documents: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<_> = documents
        .iter()
        .take(SHOWN)
        .map(|path| format!("{path:?}"))
        .collect();
    let more = match documents.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let mut user = Self::new(error.kind(), error.to_string());
        if let Some(hint) = error.hint() {
            user = user.hint(hint);
        }
        match error {
            StoreError::Io { source, .. } => user.because(source),
            _ => user,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ExitCode;

    #[test]
    fn an_error_of_the_system_names_the_path_and_keeps_its_cause() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        let error = Error::from(StoreError::io("write", Path::new("out/c/0"))(full));
        assert_eq!(error.exit_code(), ExitCode::Io);
        assert_eq!(error.to_string(), r#"could not write "out/c/0""#);
        assert_eq!(error.causes().count(), 1);
    }

    #[test]
    fn what_exists_is_a_matter_of_usage_and_has_a_hint() {
        let error = Error::from(StoreError::Exists("out".into()));
        assert_eq!(error.exit_code(), ExitCode::Usage);
        assert!(error.hints()[0].contains("--overwrite"));
    }
}
