//! Stores on disk: finding them, walking them, and replacing what is in them as a whole.
//!
//! [`Place`] is an argument resolved, [`Store`] an existing one with the groups around it, [`walk()`] visits the nodes of a
//! hierarchy. What documents mean is for callers to say: here they are names and bytes.
//!
//! This is the only module that replaces files.

mod document;
mod error;
mod hierarchy;
mod place;
mod walk;

pub use self::document::{DEFAULT_MAX_DOCUMENT, Document, read_document};
pub use self::error::StoreError;
pub use self::hierarchy::{Enclosing, Store};
pub use self::place::{Place, Relation};
pub use self::walk::{Descend, Node, Visit, WalkOptions, walk};
