//! What is wrong with a document that is sound JSON, and where.

use std::fmt;
use std::ops::Range;

use super::json::{Pointer, Value};

/// The number of problems that are listed one by one; the rest is counted.
const LISTED: usize = 1000;

/// One thing that a document says or leaves out against its specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// The value at fault; for a missing member, where it should be.
    pub pointer: Pointer,
    /// The bytes at fault; for a missing member, the brace that opens its object.
    pub span: Range<usize>,
    /// What the document has there: `the number -1`, `nothing`.
    pub found: String,
    /// What it should have.
    pub expected: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem {
            pointer,
            found,
            expected,
            ..
        } = self;
        write!(f, "{pointer}: expected {expected}, found {found}")
    }
}

/// The sorts of [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A mandatory member is absent.
    Missing,
    /// A value of another JSON type than the specification's.
    WrongType,
    /// A value of the right type that cannot stand there.
    BadValue,
    /// Something unknown that the document does not allow to be ignored.
    NotUnderstood,
    /// Against the letter of the specification, but written by known programs, read by all, and
    /// clear in its meaning.
    Quirk,
}

/// The problems of one document, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    /// The first thousand.
    pub listed: Vec<Problem>,
    /// How many more there are.
    pub more: usize,
    faulty: bool,
}

impl Problems {
    /// Whether the document can be relied upon: it has no problems but quirks.
    pub fn is_sound(&self) -> bool {
        !self.faulty
    }

    /// Whether there is nothing to report at all.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn push(&mut self, problem: Problem) {
        self.faulty |= problem.kind != ProblemKind::Quirk;
        if self.listed.len() < LISTED {
            self.listed.push(problem);
        } else {
            self.more += 1;
        }
    }
}

/// A value as a message shows it: scalars themselves, cut where they are long, and the type of all
/// else.
pub(crate) fn describe(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        return format!("\"{}\"", cut(text).escape_debug());
    }
    match (value.as_number(), value.as_bool()) {
        (Some(token), _) => format!("the number {}", cut(token)),
        (_, Some(value)) => value.to_string(),
        _ => value.type_name().to_owned(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
