//! What is wrong with a document although it could be read.

use std::collections::HashMap;
use std::ops::Range;

use super::{Member, Pointer};

/// The number of issues that are listed one by one; the rest is counted.
const LISTED_ISSUES: usize = 1000;

/// Objects with fewer members than this are searched for duplicates by comparing all pairs.
const FEW_MEMBERS: usize = 8;

/// Something that a reader may pass over, at the price that readers differ about the document.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    /// What it is.
    pub kind: IssueKind,
    /// The value that it is about.
    pub pointer: Pointer,
    /// Where to point: the later duplicate's name, or the number.
    pub span: Range<usize>,
}

/// The kinds of [`Issue`].
#[derive(Debug, Clone, PartialEq)]
pub enum IssueKind {
    /// An object has two members of one name.
    DuplicateMember {
        /// The bytes of the name where it stood first.
        first: Range<usize>,
    },
    /// A bare `NaN`, `Infinity` or `-Infinity`.
    NonFinite,
}

/// Issues as they are found.
#[derive(Default)]
pub(super) struct Issues {
    listed: Vec<Issue>,
    more: usize,
}

impl Issues {
    pub(super) fn push(&mut self, kind: IssueKind, pointer: Pointer, span: Range<usize>) {
        if self.listed.len() < LISTED_ISSUES {
            self.listed.push(Issue {
                kind,
                pointer,
                span,
            });
        } else {
            self.more += 1;
        }
    }

    /// The listed ones in the order of the text, and how many there are beside them.
    pub(super) fn finish(mut self) -> (Vec<Issue>, usize) {
        self.listed.sort_by_key(|issue| issue.span.start);
        (self.listed, self.more)
    }
}

/// A member whose name stood in its object before.
pub(super) struct Duplicate {
    pub(super) name: String,
    pub(super) span: Range<usize>,
    pub(super) first: Range<usize>,
}

/// The members whose name stands in the list before them.
pub(super) fn duplicates(members: &[Member]) -> Vec<Duplicate> {
    let duplicate = |member: &Member, first: &Member| Duplicate {
        name: member.name.clone(),
        span: member.name_span.clone(),
        first: first.name_span.clone(),
    };
    if members.len() < FEW_MEMBERS {
        let earlier = |index: usize, name: &str| members[..index].iter().find(|m| m.name == name);
        return members
            .iter()
            .enumerate()
            .filter_map(|(i, member)| Some(duplicate(member, earlier(i, &member.name)?)))
            .collect();
    }
    let mut seen: HashMap<&str, &Member> = HashMap::with_capacity(members.len());
    let mut found = Vec::new();
    for member in members {
        match seen.get(member.name.as_str()) {
            Some(first) => found.push(duplicate(member, first)),
            None => {
                seen.insert(&member.name, member);
            }
        }
    }
    found
}
