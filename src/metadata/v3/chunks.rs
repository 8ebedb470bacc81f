//! Where chunks begin and what their keys look like.

use super::super::extension::Extension;
use super::super::node::{Located, Node};
use super::super::problem::Problems;

/// How an array is cut into chunks.
#[derive(Debug, Clone, PartialEq)]
pub enum ChunkGrid<'v> {
    /// All chunks have these lengths.
    Regular {
        /// One length for each dimension.
        chunk_shape: Located<Vec<u64>>,
        /// The entry.
        entry: Extension<'v>,
    },
    /// A grid that is not read here.
    Other(Extension<'v>),
}

/// How chunk keys are made.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkKeys<'v> {
    /// The encoding.
    pub encoding: KeyEncoding,
    /// The entry, to tell what was written from what is implied.
    pub entry: Extension<'v>,
}

/// The encodings of chunk keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEncoding {
    /// `c/0/1`; the separator is `/` unless another is given.
    Default(Separator),
    /// `0.1`, as in Zarr v2; the separator is `.` unless another is given.
    V2(Separator),
    /// An encoding that is not read here.
    Other,
}

/// What stands between the numbers of a chunk key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// `.`
    Dot,
    /// `/`
    Slash,
}

impl Separator {
    /// The words for it in documents.
    pub(in super::super) const WORDS: [(&'static str, Self); 2] =
        [(".", Self::Dot), ("/", Self::Slash)];

    /// The character.
    pub fn as_str(self) -> &'static str {
        match self {
            Separator::Dot => ".",
            Separator::Slash => "/",
        }
    }
}

impl<'v> ChunkGrid<'v> {
    pub(super) fn read(
        node: &Node<'v>,
        problems: &mut Problems,
        rank: Option<usize>,
    ) -> Option<Self> {
        let entry = Extension::read(node, problems, "chunk grid")?;
        if entry.name != "regular" {
            return Some(ChunkGrid::Other(entry));
        }
        let chunk_shape = entry
            .required("chunk_shape", problems)?
            .chunk_lengths(problems, rank)?;
        Some(ChunkGrid::Regular { chunk_shape, entry })
    }
}

impl<'v> ChunkKeys<'v> {
    pub(super) fn read(node: &Node<'v>, problems: &mut Problems) -> Option<Self> {
        let entry = Extension::read(node, problems, "chunk key encoding")?;
        let separator = entry
            .configuration
            .as_ref()
            .and_then(|configuration| configuration.get("separator"));
        let mut or = |implied| match &separator {
            None => Some(implied),
            Some(node) => node.choice(problems, &Separator::WORDS),
        };
        let encoding = match entry.name {
            "default" => KeyEncoding::Default(or(Separator::Slash)?),
            "v2" => KeyEncoding::V2(or(Separator::Dot)?),
            _ => KeyEncoding::Other,
        };
        Some(ChunkKeys { encoding, entry })
    }
}
