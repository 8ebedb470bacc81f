//! Codec chains as trees: a `sharding_indexed` codec holds two chains of its own.

use super::super::extension::Extension;
use super::super::node::{Located, Node};
use super::super::problem::{ProblemKind, Problems};

/// The name of the codec that holds chains of its own.
pub const SHARDING: &str = "sharding_indexed";

/// One codec of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Codec<'v> {
    /// Its name, its configuration, and where they stand.
    pub entry: Extension<'v>,
    /// What a [`SHARDING`] codec holds; `None` for every other codec.
    pub sharding: Option<Sharding<'v>>,
}

/// The configuration of a `sharding_indexed` codec.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharding<'v> {
    /// The lengths of the inner chunks.
    pub chunk_shape: Located<Vec<u64>>,
    /// The chain of the inner chunks.
    pub codecs: Chain<'v>,
    /// The chain of the index.
    pub index_codecs: Chain<'v>,
    /// Where in the shard the index stands.
    pub index_location: IndexLocation,
}

/// The place of a shard's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexLocation {
    /// Before the inner chunks.
    Start,
    /// After them; the default.
    End,
}

/// Codecs in the order in which they encode.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain<'v> {
    /// The codecs.
    pub codecs: Vec<Codec<'v>>,
    /// The array that lists them.
    pub node: Node<'v>,
}

impl<'v> Chain<'v> {
    /// Every chain in this one: itself, then those of its shards, inner chunks before the index, at
    /// any depth.
    pub fn nested(&self) -> Vec<&Chain<'v>> {
        let inner = self
            .codecs
            .iter()
            .filter_map(|codec| codec.sharding.as_ref())
            .flat_map(|sharding| [&sharding.codecs, &sharding.index_codecs])
            .flat_map(Chain::nested);
        std::iter::once(self).chain(inner).collect()
    }

    /// The chain of the innermost chunks: this one, if it does not shard.
    pub fn innermost(&self) -> &Chain<'v> {
        self.codecs
            .iter()
            .find_map(|codec| codec.sharding.as_ref())
            .map_or(self, |sharding| sharding.codecs.innermost())
    }

    /// The codecs before the first one that cannot be read, for whoever looks at a document that is not sound. The problems
    /// of the chain are those that reading the document has found.
    #[must_use]
    pub fn readable_part(node: &Node<'v>) -> Self {
        let mut problems = Problems::default();
        let elements = node.elements(&mut problems, "an array of codecs");
        let codecs = elements
            .into_iter()
            .flatten()
            .map_while(|element| Codec::read(&element, &mut problems))
            .collect();
        Chain {
            codecs,
            node: node.clone(),
        }
    }

    /// Reads a chain; `None` if any codec in it, at any depth, cannot be read.
    pub(super) fn read(node: &Node<'v>, problems: &mut Problems) -> Option<Self> {
        let elements = node.elements(problems, "an array of codecs")?;
        if elements.len() == 0 {
            node.report(problems, ProblemKind::BadValue, "at least one codec");
            return None;
        }
        let mut complete = true;
        let mut codecs = Vec::with_capacity(elements.len());
        for element in elements {
            match Codec::read(&element, problems) {
                Some(codec) => codecs.push(codec),
                None => complete = false,
            }
        }
        complete.then(|| Chain {
            codecs,
            node: node.clone(),
        })
    }
}

impl<'v> Codec<'v> {
    fn read(node: &Node<'v>, problems: &mut Problems) -> Option<Self> {
        let entry = Extension::read(node, problems, "codec")?;
        let sharding = match entry.name {
            SHARDING => Some(Sharding::read(&entry, problems)?),
            _ => None,
        };
        Some(Codec { entry, sharding })
    }
}

impl<'v> Sharding<'v> {
    fn read(entry: &Extension<'v>, problems: &mut Problems) -> Option<Self> {
        // All members are read before the first missing one ends it.
        let chunk_shape = entry
            .required("chunk_shape", problems)
            .and_then(|node| node.chunk_lengths(problems, None));
        entry.configuration.as_ref()?;
        let mut chain = |name| {
            let node = entry.required(name, problems)?;
            Chain::read(&node, problems)
        };
        let codecs = chain("codecs");
        let index_codecs = chain("index_codecs");
        let location = entry.configuration.as_ref()?.get("index_location");
        let index_location = match location {
            None => Some(IndexLocation::End),
            Some(node) => node.choice(
                problems,
                &[("start", IndexLocation::Start), ("end", IndexLocation::End)],
            ),
        };
        Some(Sharding {
            chunk_shape: chunk_shape?,
            codecs: codecs?,
            index_codecs: index_codecs?,
            index_location: index_location?,
        })
    }
}
