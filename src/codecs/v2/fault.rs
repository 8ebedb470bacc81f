//! What is said about a v2 document on its way to Zarr v3: faults that stand in the way, and changes of meaning or spelling.

use std::fmt;

use crate::codecs::error::{OpenProblem, OpenProblemKind};

/// Why something in a `.zarray` has no form in Zarr v3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON pointer of the member at fault.
    pub pointer: String,
    /// Whether the document is at fault, or Zarr v3 or this program has no such thing.
    pub kind: OpenProblemKind,
    /// What stands there.
    pub found: String,
    /// What could stand there; empty where nothing is wrong with it but that it is not supported.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Fault {
    pub(super) fn unsound(
        pointer: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self {
            pointer: pointer.to_string(),
            kind: OpenProblemKind::Unsound,
            found: found.to_string(),
            expected: expected.to_string(),
            hint: None,
        }
    }

    pub(super) fn unsupported(pointer: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self {
            kind: OpenProblemKind::Unsupported,
            ..Self::unsound(pointer, found, "")
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The fault without its pointer and its hint.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.found)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

impl From<Fault> for OpenProblem {
    fn from(fault: Fault) -> Self {
        Self {
            message: fault.to_string(),
            pointer: fault.pointer,
            kind: fault.kind,
        }
    }
}

/// Something that a v3 document says in another way than the `.zarray` that it comes from, so that both mean the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The JSON pointer of the member in the `.zarray`.
    pub pointer: String,
    /// What sort of change it is.
    pub kind: ChangeKind,
    /// What was, what is now, and why.
    pub message: String,
}

/// The sorts of [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A chunk length of 0 became 1.
    ChunkLength,
    /// A fill of null became a value.
    Fill,
    /// A codec is spelt otherwise, or by two.
    Codec,
}

impl Change {
    pub(super) fn new(
        pointer: impl fmt::Display,
        kind: ChangeKind,
        message: impl Into<String>,
    ) -> Self {
        Self {
            pointer: pointer.to_string(),
            kind,
            message: message.into(),
        }
    }
}
