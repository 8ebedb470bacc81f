//! Stores on disk: finding them, walking them, and replacing what is in them as a whole.
//!
//! [`Place`] is an argument resolved, [`Store`] an existing one with the groups around it, [`walk()`] visits the nodes of a
//! hierarchy. [`Staging`] and [`StagedFile`] build an output out of sight and publish it whole. What documents mean is for callers to say: here they are names and bytes.
//!
//! This is the only module that replaces files.

mod chunks;
mod document;
mod error;
mod files;
mod flush;
mod hierarchy;
mod journal;
mod leftovers;
mod objects;
mod parallel;
mod place;
mod publish;
mod staged_file;
mod staging;
mod walk;
mod workspace;

pub use self::chunks::ChunkFiles;
pub use self::document::{DEFAULT_MAX_DOCUMENT, Document, read_document};
pub use self::error::StoreError;
pub use self::hierarchy::{Enclosing, Store, enclosing};
pub use self::journal::{
    Cause, Checked, Committed, Exclusive, Failure, Observer, Phase, Progress, Recovered,
    Replacement, Rewrite, Undone, Unrestored, undo, undo_plan, unfinished,
};
pub use self::leftovers::Leftover;
pub use self::objects::{Object, Objects};
pub use self::place::{Place, Relation};
pub use self::publish::Existing;
pub use self::staged_file::StagedFile;
pub use self::staging::{Copied, CopyObserver, StagedObject, Staging};
pub use self::walk::{Descend, Node, Visit, WalkOptions, walk};
