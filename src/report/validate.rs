//! What `validate --format json` prints: one document for all STOREs. `docs/validate.md` describes it.

use serde::{Deserialize, Serialize};

use crate::rules::Severity;

/// The name of the schema.
pub const SCHEMA: &str = "zarrpack.validate/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`]
    pub schema: String,
    /// The stores and documents, in the order of the command line.
    pub stores: Vec<Store>,
    /// Counts over all of them.
    pub summary: Summary,
}

/// A store, or a single document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// STORE, as it was given; `-` for standard input.
    pub store: String,
    /// The nodes about which anything was found. A group with consolidated metadata may stand here twice: once for its own
    /// documents, and behind what is below it for what its copies say.
    pub nodes: Vec<Node>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// A node about which something was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The path from the store, without slashes at the ends; empty for the store itself, and for a single document. For a group
    /// around the store, its directory.
    pub path: String,
    /// `array`, `group` or `unknown`.
    pub kind: String,
    /// What was found, in the order of the documents.
    pub findings: Vec<Finding>,
    /// What was found as well and is not listed.
    pub more: Vec<More>,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// The rule.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// The name of the document's file, such as `zarr.json`.
    pub document: String,
    /// The JSON pointer of the value at fault, or of what is missing.
    pub pointer: String,
    /// The line at which the text at fault begins, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// The line at which it ends.
    pub end_line: usize,
    /// The column behind its last character.
    pub end_column: usize,
    /// What is there.
    pub found: String,
    /// What should be there.
    pub expected: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What explains it.
    pub notes: Vec<String>,
}

/// Findings of one rule that are counted and not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct More {
    /// The rule.
    pub rule: String,
    /// How bad they are.
    pub severity: Severity,
    /// The name of the document's file.
    pub document: String,
    /// How many there are beyond those that are listed.
    pub count: u64,
    /// Whether there may be still more.
    pub at_least: bool,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unreadable {
    /// The path from the store.
    pub path: String,
    /// What is the matter.
    pub message: String,
}

/// Counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Findings that are errors, those that are not listed included.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// Infos.
    pub infos: u64,
    /// Arrays that were looked at.
    pub arrays: u64,
    /// Groups that were looked at.
    pub groups: u64,
    /// Documents that were read.
    pub documents: u64,
    /// Things that could not be read.
    pub unreadable: u64,
    /// `error`, `warning`, `info` or `never`: from which severity on the run fails.
    pub fail_on: String,
    /// Whether findings made the run fail.
    pub failed: bool,
}
