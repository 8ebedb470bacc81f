//! The rules of `validate`: each a function that looks at the documents of one node and reports what it finds.
//!
//! A rule has an id that never changes its meaning, a severity, a line for lists and a page for people (`docs/rules`). Rules do
//! no arithmetic: what codecs do to types, fills and ranges is what [`crate::codecs`] and [`crate::transform`] say, and how a
//! document reads is what [`crate::metadata`] says. They run whether the document is sound or not, so that one run finds all.

mod array;
mod bound;
mod cast_value;
mod cf;
mod chain;
mod consolidated;
mod core;
mod document;
mod finding;
mod json;
mod legacy;
mod node;
mod pages;
mod policy;
mod readers;
mod scale_offset;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::consolidated::Copies;
pub(crate) use self::core::is_known_type;
pub use self::document::Document;
pub use self::finding::{Finding, Findings, More};
pub use self::node::{Node, NodeKind};
pub use self::pages::page;
pub use self::policy::{Policy, PolicyError, RulePattern};

/// How bad a finding is.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Allowed, and likely to be a mistake or to hurt somebody.
    Warning,
    /// A specification forbids it, or readers get wrong values.
    Error,
}

impl Severity {
    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// The id: family and name.
    pub id: &'static str,
    /// How bad what it finds is, unless the caller says otherwise.
    pub severity: Severity,
    /// What it finds, in one line.
    pub summary: &'static str,
    check: Check,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// A node with its documents.
    Node(fn(&Node<'_>, &mut finding::Sink<'_>)),
    /// Each document, even one that is no JSON.
    Document(fn(&Document<'_>, &mut finding::Sink<'_>)),
    /// An array, as far as it could be read.
    Array(fn(&array::Array<'_>, &mut finding::Sink<'_>)),
    /// A copy in consolidated metadata and its document, or what has no counterpart.
    Copy(fn(&consolidated::Compared<'_>, &mut finding::Sink<'_>)),
}

const fn rule(id: &'static str, severity: Severity, summary: &'static str, check: Check) -> Rule {
    Rule {
        id,
        severity,
        summary,
        check,
    }
}

/// The families, in the order of lists.
const FAMILIES: [&[Rule]; 9] = [
    json::RULES,
    core::RULES,
    scale_offset::RULES,
    cast_value::RULES,
    chain::RULES,
    legacy::RULES,
    cf::RULES,
    consolidated::RULES,
    readers::RULES,
];

/// All rules.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.into_iter().flatten()
}

/// The rule with an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// Runs the rules on one node.
#[must_use]
pub fn check(node: &Node<'_>, policy: &Policy) -> Findings {
    let mut findings = Findings::default();
    let array = array::Array::new(node);
    for rule in all() {
        let mut sink = findings.sink(rule, rule.severity);
        match (rule.check, &array) {
            (Check::Node(check), _) => check(node, &mut sink),
            (Check::Array(check), Some(array)) => check(array, &mut sink),
            (Check::Document(check), _) => {
                for document in &node.documents {
                    check(document, &mut sink);
                }
            }
            (Check::Array(_), None) | (Check::Copy(_), _) => {}
        }
    }
    if let (Some(array), Some(rule)) = (&array, find(core::REST)) {
        let known = findings.listed.clone();
        core::rest(array, &known, &mut findings.sink(rule, rule.severity));
    }
    // What is allowed is left out at the end, so that no other rule tells of it in its place.
    findings.apply(policy);
    findings.sort();
    findings
}
