//! What is wrong with a chain, found when it is bound.

use std::fmt;

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Soundness {
    /// The specification forbids it, yet the chain can be run.
    Unsound,
    /// Nothing can run.
    Invalid,
}

/// One problem of a chain, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// A stable identifier, such as `scale-offset/zero-scale`.
    pub id: &'static str,
    /// Whether the chain can be run all the same.
    pub soundness: Soundness,
    /// The index of the codec in the chain.
    pub codec: usize,
    /// The JSON pointer of the member inside the codec, such as `/configuration/scale`; empty for the codec itself.
    pub member: String,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl Problem {
    /// A problem that keeps the chain from running.
    #[must_use]
    pub fn invalid(
        id: &'static str,
        codec: usize,
        member: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self {
            id,
            soundness: Soundness::Invalid,
            codec,
            member: member.into(),
            found: found.to_string(),
            expected: expected.into(),
        }
    }

    /// The same problem as one that lets the chain run.
    #[must_use]
    pub fn unsound(self) -> Self {
        Self {
            soundness: Soundness::Unsound,
            ..self
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            codec,
            member,
            found,
            expected,
            ..
        } = self;
        write!(f, "codec {codec}")?;
        if !member.is_empty() {
            write!(f, ", {member}")?;
        }
        write!(f, ": {found}; expected {expected} [{id}]")
    }
}
