//! The types of every JSON output. Each document names its schema, and a schema never changes shape.

pub mod decode;
pub mod inspect;
pub mod migrate_legacy;
pub mod validate;
