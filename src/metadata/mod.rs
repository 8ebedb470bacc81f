//! Zarr metadata documents: reading them with positions, and editing their text.
//!
//! Everything here works on the bytes of one document. Nothing opens a file, and nothing computes
//! with the numbers that a document holds: they stay the tokens that were written, so that `10` and
//! `10.0` remain two things.
//!
//! [`json::parse`] makes a tree; [`v3::read`], the readers in [`v2`] and [`consolidated`] give
//! views into it and report to a list of [`Problems`]; [`edit::Editor`] changes the text.

pub mod consolidated;
pub mod edit;
mod extension;
#[cfg(test)]
mod hostile;
pub mod json;
mod kind;
mod node;
mod problem;
pub mod v2;
pub mod v3;

pub use extension::{Extension, Extra};
pub use kind::DocumentKind;
pub use node::{Located, Node};
pub(crate) use problem::describe;
pub use problem::{Problem, ProblemKind, Problems};
