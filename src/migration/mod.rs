//! Moving arrays off the legacy codec: from the documents of a store to the documents that replace them, with the proof that
//! the values stay as they are.
//!
//! Nothing here writes. A document of Zarr v2 first becomes one of v3 that names the legacy codec still; then the legacy codec
//! gives way to `scale_offset` and `cast_value`: [`plan`] says how, [`prove()`] compares two documents. What only the data can tell is
//! asked for through [`evidence`].

mod array;
mod candidates;
mod copies;
mod document;
pub mod documents;
pub mod encoding;
pub mod evidence;
mod fill;
mod forms;
pub mod hierarchy;
mod judge;
mod missing;
mod notes;
pub mod options;
pub mod outcome;
mod prove;
mod rewrite;
pub mod scan;
mod settle;
mod site;
#[cfg(test)]
mod tests;
mod unused;
pub mod v2;
pub mod verdict;

pub use array::plan;
pub use prove::{Proving, prove};
