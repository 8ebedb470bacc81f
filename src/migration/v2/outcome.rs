//! What a conversion has to say: notes on what it changed, and refusals.

use std::fmt;

use crate::codecs::v2::{Change, ChangeKind, Fault};

/// A document of Zarr v2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum File {
    /// `.zarray`
    Array,
    /// `.zattrs`
    Attributes,
}

impl File {
    /// The name of the file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => ".zarray",
            Self::Attributes => ".zattrs",
        }
    }
}

/// Something that is said in another way than before, or not any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where it stood.
    pub file: File,
    /// The JSON pointer of the member there.
    pub pointer: String,
    /// What sort of change it is.
    pub kind: NoteKind,
    /// What was, what is now, and why.
    pub message: String,
}

/// The sorts of [`Note`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// The separator of chunk keys is stated, or another one.
    Separator,
    /// A chunk length of 0 became 1.
    ChunkLength,
    /// A fill of null became a value.
    Fill,
    /// A codec is spelt otherwise, or by two.
    Codec,
    /// Names of dimensions moved out of the attributes.
    DimensionNames,
    /// What xarray shows as missing is said in another attribute.
    Mask,
    /// What xarray shows as missing cannot be said any more.
    MaskLost,
    /// A bare non-finite number became text, or went.
    NonFinite,
    /// A member that nobody reads was left out.
    Dropped,
}

impl NoteKind {
    /// The word for it in reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Separator => "separator",
            Self::ChunkLength => "chunk-length",
            Self::Fill => "fill",
            Self::Codec => "codec",
            Self::DimensionNames => "dimension-names",
            Self::Mask => "mask",
            Self::MaskLost => "mask-lost",
            Self::NonFinite => "non-finite",
            Self::Dropped => "dropped",
        }
    }
}

impl Note {
    pub(super) fn attribute(
        pointer: impl fmt::Display,
        kind: NoteKind,
        message: impl Into<String>,
    ) -> Self {
        Self {
            file: File::Attributes,
            pointer: pointer.to_string(),
            kind,
            message: message.into(),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, pointer, message) = (self.file.name(), &self.pointer, &self.message);
        write!(f, "{file}, {pointer}: {message}")
    }
}

impl From<Change> for Note {
    fn from(change: Change) -> Self {
        Self {
            file: File::Array,
            pointer: change.pointer,
            kind: match change.kind {
                ChangeKind::ChunkLength => NoteKind::ChunkLength,
                ChangeKind::Fill => NoteKind::Fill,
                ChangeKind::Codec => NoteKind::Codec,
            },
            message: change.message,
        }
    }
}

/// Why a document cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The document at fault.
    pub file: File,
    /// The JSON pointer of the member at fault.
    pub pointer: String,
    /// What stands there.
    pub found: String,
    /// What could stand there; empty where it is only that Zarr v3 has no such thing.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// All but the hint.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.name())?;
        if !self.pointer.is_empty() {
            write!(f, ", {}", self.pointer)?;
        }
        write!(f, ": {}", self.found)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Self {
            file: File::Array,
            pointer: fault.pointer,
            found: fault.found,
            expected: fault.expected,
            hint: fault.hint,
        }
    }
}
