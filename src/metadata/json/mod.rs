//! Strict JSON (RFC 8259) that remembers where every value stands.
//!
//! Three things set it apart from an ordinary reader. Each value and each member name has a byte
//! span, so that problems can be shown under a caret and documents edited in place. Numbers stay
//! the text that was written. And what other readers pass over in silence is reported: duplicate
//! members and bare `NaN` tokens.

#[cfg(test)]
mod conformance;
mod error;
mod issue;
mod limits;
mod lines;
mod parse;
mod pointer;
mod value;

pub use error::{SyntaxError, SyntaxErrorKind};
pub use issue::{Issue, IssueKind};
pub use limits::{Limits, NonFinite};
pub use lines::{LineIndex, Position};
pub use parse::{Parsed, parse};
pub use pointer::Pointer;
pub use value::{Kind, Member, Value};
