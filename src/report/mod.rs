//! The types of every JSON output. Each document names its schema, and a schema never changes shape.

pub mod encode;
pub mod inspect;
