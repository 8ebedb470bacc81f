//! A place in a document, and the typed reads that every kind of document shares.
//!
//! Reads report to a list and go on, so that one pass finds every problem.

use std::ops::Range;

use super::json::{Kind, Pointer, Value};
use super::problem::{Problem, ProblemKind, Problems, describe};

/// Something read from a document, with the place it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// What was read.
    pub value: T,
    /// The way to it from the document's root.
    pub pointer: Pointer,
    /// Its bytes in the document's text.
    pub span: Range<usize>,
}

/// A value in a document and the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'v> {
    /// The value, with its span.
    pub value: &'v Value,
    /// The way to it from the document's root.
    pub pointer: Pointer,
}

impl<'v> Node<'v> {
    /// The root of a document.
    pub fn root(value: &'v Value) -> Self {
        Node::new(value, Pointer::root())
    }

    pub(super) fn new(value: &'v Value, pointer: Pointer) -> Self {
        Node { value, pointer }
    }

    /// The value's bytes in the document's text.
    pub fn span(&self) -> Range<usize> {
        self.value.span.clone()
    }

    pub(super) fn locate<T>(&self, value: T) -> Located<T> {
        Located {
            value,
            pointer: self.pointer.clone(),
            span: self.span(),
        }
    }

    /// The member called `name`, if this object has it.
    pub fn get(&self, name: &str) -> Option<Node<'v>> {
        let value = self.value.get(name)?;
        Some(Node::new(value, self.pointer.member(name)))
    }

    /// The member called `name`, whose absence is a problem.
    pub(super) fn required(&self, name: &str, problems: &mut Problems) -> Option<Node<'v>> {
        let member = self.get(name);
        if member.is_none() {
            let start = self.value.span.start;
            problems.push(Problem {
                kind: ProblemKind::Missing,
                pointer: self.pointer.member(name),
                span: start..start + 1,
                found: "nothing".to_owned(),
                expected: format!("a member \"{name}\""),
            });
        }
        member
    }

    /// Reports this value.
    pub(super) fn report(
        &self,
        problems: &mut Problems,
        kind: ProblemKind,
        expected: impl Into<String>,
    ) {
        problems.push(Problem {
            kind,
            pointer: self.pointer.clone(),
            span: self.span(),
            found: describe(self.value),
            expected: expected.into(),
        });
    }

    /// Whether this is an object; reported otherwise.
    pub(super) fn is_object(&self, problems: &mut Problems, expected: &str) -> bool {
        let object = self.value.as_object().is_some();
        if !object {
            self.report(problems, ProblemKind::WrongType, expected);
        }
        object
    }

    /// The elements of an array.
    pub(super) fn elements(
        &self,
        problems: &mut Problems,
        expected: &str,
    ) -> Option<impl ExactSizeIterator<Item = Node<'v>> + use<'v>> {
        let Some(elements) = self.value.as_array() else {
            self.report(problems, ProblemKind::WrongType, expected);
            return None;
        };
        let pointer = self.pointer.clone();
        Some(
            elements
                .iter()
                .enumerate()
                .map(move |(index, value)| Node::new(value, pointer.index(index))),
        )
    }

    pub(super) fn string(&self, problems: &mut Problems, expected: &str) -> Option<&'v str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.report(problems, ProblemKind::WrongType, expected);
        }
        text
    }

    pub(super) fn boolean(&self, problems: &mut Problems) -> Option<bool> {
        let value = self.value.as_bool();
        if value.is_none() {
            self.report(problems, ProblemKind::WrongType, "true or false");
        }
        value
    }

    /// A count: an integer from 0 that is written as one, so neither `1.0` nor `1e2`.
    pub(super) fn count(&self, problems: &mut Problems) -> Option<u64> {
        const EXPECTED: &str = "an integer from 0 to 18446744073709551615, written in digits alone";
        let Kind::Number(token) = &self.value.kind else {
            self.report(problems, ProblemKind::WrongType, EXPECTED);
            return None;
        };
        // The token is a JSON number, so it parses exactly when it has neither sign, point nor
        // exponent, and fits.
        let count = token.parse().ok();
        if count.is_none() {
            self.report(problems, ProblemKind::BadValue, EXPECTED);
        }
        count
    }

    /// The lengths of an array's dimensions or of its chunks.
    pub(super) fn counts(&self, problems: &mut Problems) -> Option<Located<Vec<u64>>> {
        let elements = self.elements(problems, "an array of integers")?;
        let mut complete = true;
        let mut counts = Vec::with_capacity(elements.len());
        for element in elements {
            match element.count(problems) {
                Some(count) => counts.push(count),
                None => complete = false,
            }
        }
        complete.then(|| self.locate(counts))
    }

    /// One of a few words, each standing for a value.
    pub(super) fn choice<T: Copy>(
        &self,
        problems: &mut Problems,
        choices: &[(&str, T)],
    ) -> Option<T> {
        let words: Vec<_> = choices
            .iter()
            .map(|(word, _)| format!("\"{word}\""))
            .collect();
        let expected = words.join(" or ");
        let text = self.string(problems, &expected)?;
        let choice = choices.iter().find(|(word, _)| *word == text);
        if choice.is_none() {
            self.report(problems, ProblemKind::BadValue, expected);
        }
        choice.map(|(_, value)| *value)
    }

    /// The format number of the document, which must be `expected`.
    pub(super) fn zarr_format(&self, problems: &mut Problems, expected: u64) {
        if let Some(member) = self.required("zarr_format", problems)
            && member
                .count(problems)
                .is_some_and(|found| found != expected)
        {
            member.report(problems, ProblemKind::BadValue, expected.to_string());
        }
    }

    /// The lengths of chunks in an array of `rank` dimensions, where the rank is known.
    pub(super) fn chunk_lengths(
        &self,
        problems: &mut Problems,
        rank: Option<usize>,
    ) -> Option<Located<Vec<u64>>> {
        let counts = self.counts(problems)?;
        if let Some(rank) = rank
            && counts.value.len() != rank
        {
            problems.push(Problem {
                kind: ProblemKind::BadValue,
                pointer: self.pointer.clone(),
                span: self.span(),
                found: format!("{} lengths", counts.value.len()),
                expected: format!("{rank} lengths, as many as the array has dimensions"),
            });
        }
        let zeros = counts
            .value
            .iter()
            .enumerate()
            .filter(|(_, length)| **length == 0);
        for (index, _) in zeros {
            if let Some(element) = self.value.as_array().and_then(|e| e.get(index)) {
                Node::new(element, self.pointer.index(index)).report(
                    problems,
                    ProblemKind::Quirk,
                    "a chunk length of at least 1",
                );
            }
        }
        Some(counts)
    }
}
