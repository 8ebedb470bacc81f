//! What rules report, and how much of it is kept.

use std::ops::Range;

use super::document::Document;
use super::policy::Policy;
use super::{Rule, Severity, find};
use crate::metadata::DocumentKind;
use crate::metadata::Problem;

/// How many findings of one rule in one document are listed. A hostile document has millions; the rest is counted.
const LISTED: usize = 20;

/// The longest texts of a finding, in characters.
const LONGEST: usize = 400;

/// The notes that a finding has at most.
const MOST_NOTES: usize = 40;

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The document it is in.
    pub document: DocumentKind,
    /// The JSON pointer of the value at fault; for what is missing, where it should be.
    pub pointer: String,
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What explains it, such as the way of a fill value.
    pub notes: Vec<String>,
}

/// Findings that are counted and not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct More {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad they are.
    pub severity: Severity,
    /// The document they are in.
    pub document: DocumentKind,
    /// How many there are, or how many at least.
    pub count: u64,
    /// Whether there may be still more, which nobody counted.
    pub at_least: bool,
}

/// The findings about one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Those that are listed.
    pub listed: Vec<Finding>,
    /// Those that are not.
    pub more: Vec<More>,
}

impl Findings {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.more.is_empty()
    }

    /// Takes over the findings of another look at the same node.
    pub fn append(&mut self, mut other: Self) {
        self.listed.append(&mut other.listed);
        self.more.append(&mut other.more);
    }

    pub(super) fn sink(&mut self, rule: &'static Rule, severity: Severity) -> Sink<'_> {
        let before = self.listed.len();
        Sink {
            rule,
            severity,
            findings: self,
            before,
        }
    }

    /// A sink that goes on where others of the same rule have ended.
    pub(super) fn sink_going_on(&mut self, rule: &'static Rule, severity: Severity) -> Sink<'_> {
        let others = self.listed.iter().filter(|finding| finding.rule != rule.id);
        let before = others.count();
        Sink {
            rule,
            severity,
            findings: self,
            before,
        }
    }

    /// Leaves out what the policy allows, and gives the rest its severity.
    pub(super) fn apply(&mut self, policy: &Policy) {
        let severity = |id: &str| find(id).and_then(|rule| policy.severity(rule));
        self.listed.retain_mut(|finding| {
            severity(finding.rule).is_some_and(|severity| {
                finding.severity = severity;
                true
            })
        });
        self.more.retain_mut(|more| {
            severity(more.rule).is_some_and(|severity| {
                more.severity = severity;
                true
            })
        });
    }

    /// Puts what is listed in the order of the documents.
    pub(super) fn sort(&mut self) {
        self.listed
            .sort_by_key(|finding| (finding.document.file_name(), finding.span.start));
    }
}

/// Where one rule reports.
pub(super) struct Sink<'f> {
    rule: &'static Rule,
    severity: Severity,
    findings: &'f mut Findings,
    before: usize,
}

/// A finding without the rule.
pub(super) struct Draft {
    pub(super) document: DocumentKind,
    pub(super) pointer: String,
    pub(super) span: Range<usize>,
    pub(super) found: String,
    pub(super) expected: String,
    pub(super) hint: Option<String>,
    pub(super) notes: Vec<String>,
}

impl Draft {
    /// A draft about the value, or the missing member, that a pointer leads to.
    pub(super) fn at(document: &Document<'_>, pointer: impl Into<String>) -> Self {
        let pointer = pointer.into();
        Self {
            document: document.kind,
            span: document.span_of(&pointer),
            pointer,
            found: String::new(),
            expected: String::new(),
            hint: None,
            notes: Vec::new(),
        }
    }

    /// A draft about certain bytes.
    pub(super) fn spanning(
        document: &Document<'_>,
        pointer: impl Into<String>,
        span: Range<usize>,
    ) -> Self {
        Self {
            document: document.kind,
            span,
            pointer: pointer.into(),
            found: String::new(),
            expected: String::new(),
            hint: None,
            notes: Vec::new(),
        }
    }

    /// A problem that reading the document has found.
    pub(super) fn problem(document: &Document<'_>, problem: &Problem) -> Self {
        Self::spanning(document, problem.pointer.to_string(), problem.span.clone())
            .found(&problem.found)
            .expected(&problem.expected)
    }

    pub(super) fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    pub(super) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }
}

impl Sink<'_> {
    /// Reports; what is beyond the limit is counted without being made.
    pub(super) fn report(&mut self, kind: DocumentKind, draft: impl FnOnce() -> Draft) {
        if self.findings.listed.len() - self.before >= LISTED {
            self.count(kind, 1, false);
            return;
        }
        let draft = draft();
        self.findings.listed.push(Finding {
            rule: self.rule.id,
            severity: self.severity,
            document: draft.document,
            pointer: cut(&draft.pointer, LONGEST),
            span: draft.span,
            found: cut(&draft.found, LONGEST),
            expected: cut(&draft.expected, LONGEST),
            hint: draft.hint.map(|hint| cut(&hint, LONGEST)),
            notes: draft
                .notes
                .iter()
                .take(MOST_NOTES)
                .map(|note| cut(note, LONGEST))
                .collect(),
        });
    }

    /// The rule that reports.
    pub(super) fn rule(&self) -> &'static str {
        self.rule.id
    }

    /// Counts findings that are not listed.
    pub(super) fn count(&mut self, kind: DocumentKind, count: u64, at_least: bool) {
        let known = self
            .findings
            .more
            .iter_mut()
            .find(|more| more.rule == self.rule.id && more.document == kind);
        match known {
            Some(more) => {
                more.count += count;
                more.at_least |= at_least;
            }
            None => self.findings.more.push(More {
                rule: self.rule.id,
                severity: self.severity,
                document: kind,
                count,
                at_least,
            }),
        }
    }
}

/// A text without its end, where it is long.
pub(super) fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
