//! Why an array cannot be opened, and why a chunk of it cannot be decoded.

use std::fmt;

use crate::error::ErrorKind;

/// Why an array cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    /// What is wrong with the document, in its order; never empty.
    pub problems: Vec<OpenProblem>,
}

/// One thing in a document that keeps its array from being opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenProblem {
    /// The JSON pointer of the member at fault, in the document that was given.
    pub pointer: String,
    /// Whether the document is at fault, or this program.
    pub kind: OpenProblemKind,
    /// What was found, and what was expected.
    pub message: String,
}

/// Who is to blame for an [`OpenProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenProblemKind {
    /// The document breaks a specification.
    Unsound,
    /// The document may well be sound, but this program does not read such arrays.
    Unsupported,
}

impl OpenProblem {
    pub(super) fn unsound(pointer: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self {
            pointer: pointer.to_string(),
            kind: OpenProblemKind::Unsound,
            message: message.to_string(),
        }
    }

    pub(super) fn unsupported(pointer: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self {
            pointer: pointer.to_string(),
            kind: OpenProblemKind::Unsupported,
            message: message.to_string(),
        }
    }
}

impl fmt::Display for OpenProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

impl From<OpenProblem> for OpenError {
    fn from(problem: OpenProblem) -> Self {
        Self {
            problems: vec![problem],
        }
    }
}

/// The first problem, and how many more there are.
impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [] => f.write_str("the array cannot be opened"),
            [only] => only.fmt(f),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}

impl std::error::Error for OpenError {}

/// Why a chunk cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkError {
    /// The key of the chunk in its store.
    pub key: String,
    /// The index of the chunk in the grid.
    pub chunk: Vec<u64>,
    /// What went wrong.
    pub failure: Box<Failure>,
}

/// What went wrong in a chunk, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Who is to blame.
    pub kind: FailureKind,
    /// The index of the inner chunk in its shard, outermost shard first; empty where it is not about one.
    pub inner: Vec<Vec<u64>>,
    /// The codec that refused the bytes or a value, where one did.
    pub codec: Option<String>,
    /// What went wrong, in words.
    pub reason: String,
}

/// Who is to blame for a [`ChunkError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The chunk could not be read at all.
    Unreadable,
    /// The chunk was read, and its bytes are not what the document says, or hold a value that does not decode.
    Unsound,
    /// Decoding would take more memory than is allowed.
    TooLarge,
}

impl FailureKind {
    /// The kind of the error that a command ends with.
    #[must_use]
    pub const fn error_kind(self) -> ErrorKind {
        match self {
            Self::Unreadable => ErrorKind::Io,
            Self::Unsound | Self::TooLarge => ErrorKind::Finding,
        }
    }
}

impl Failure {
    pub(super) fn new(kind: FailureKind, reason: impl fmt::Display) -> Self {
        Self {
            kind,
            inner: Vec::new(),
            codec: None,
            reason: reason.to_string(),
        }
    }

    pub(super) fn unsound(reason: impl fmt::Display) -> Self {
        Self::new(FailureKind::Unsound, reason)
    }

    pub(super) fn unreadable(reason: impl fmt::Display) -> Self {
        Self::new(FailureKind::Unreadable, reason)
    }

    pub(super) fn too_large(bytes: u64, limit: u64, what: &str) -> Self {
        let reason = format!("{what} of {bytes} bytes, and no more than {limit} are allowed");
        Self::new(FailureKind::TooLarge, reason)
    }

    pub(super) fn in_codec(mut self, name: &str) -> Self {
        self.codec.get_or_insert_with(|| name.to_owned());
        self
    }

    pub(super) fn in_inner_chunk(mut self, index: &[u64]) -> Self {
        self.inner.insert(0, index.to_vec());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for index in &self.inner {
            write!(f, "inner chunk {index:?}: ")?;
        }
        if let Some(codec) = &self.codec {
            write!(f, "codec {codec:?}: ")?;
        }
        f.write_str(&self.reason)
    }
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            key,
            chunk,
            failure,
        } = self;
        write!(f, "chunk {chunk:?} ({key:?}): {failure}")
    }
}

impl std::error::Error for ChunkError {}
