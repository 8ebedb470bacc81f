//! Where codecs as documents have them meet the arithmetic, and zarrs.
//!
//! This is the only module that sees the codec traits of zarrs. [`OpenArray`] opens the array of a v3 or v2 document and
//! decodes its chunks; a v2 document becomes a v3 one in memory first. [`configuration`] reads the JSON of the packing codecs into
//! the parameters that [`crate::transform`] binds. All else is below the surface: a chain of codecs is built with every
//! check that zarrs leaves out, runs of packing codecs become one, and decompressors stop at what a chunk may hold.

mod array;
mod arrays;
mod build;
mod bytes;
mod carry;
mod chain;
pub mod configuration;
mod element_type;
mod encode;
mod error;
mod fill;
pub mod formula;
mod json_text;
mod keys;
mod lower;
pub mod model;
mod packing;
mod plain;
mod region;
mod register;
mod representation;
mod shard;
pub mod stages;
mod stored;
#[cfg(test)]
mod tests;
pub mod v2;
#[cfg(test)]
mod vectors;
mod words;

pub use array::{ArrayDocument, OpenArray};
pub use carry::{CarriedFrom, ChunkChanges, PackedChain, ShardLevels, packed_chain};
pub use encode::{ChunkEncoder, ShardIndex};
pub use error::{ChunkError, Failure, FailureKind, OpenError, OpenProblem, OpenProblemKind};
pub use keys::ChunkKeys;
pub use plain::{PlainChain, PlainEncoder, plain_chain, plain_chain_v2};
pub use register::register_all;
pub use shard::Shard;
pub use stored::{Gaps, TakePiece};
pub use words::short;
