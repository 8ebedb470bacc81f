//! What `decode` and `encode` share: a store that is read, and another that is written from it.

pub(super) mod documents;
pub(super) mod input;
pub(super) mod output;
pub(super) mod report_file;
