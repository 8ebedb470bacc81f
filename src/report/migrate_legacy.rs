//! What `migrate-legacy --format json` prints. `docs/migrate-legacy.md` describes it.
//!
//! Scalars (fills, codes, values) are in fill-value encoding: numbers, and `"NaN"`, `"Infinity"`, `"-Infinity"`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::reader::Reader;

/// The name of the schema.
pub const SCHEMA: &str = "zarrpack.migrate-legacy/1";

/// The name of the schema of what `--undo` prints.
pub const UNDO_SCHEMA: &str = "zarrpack.migrate-legacy.undo/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`]
    pub schema: String,
    /// STORE, as it was given.
    pub store: String,
    /// The directory of the outermost group around STORE, or of STORE itself.
    pub root: String,
    /// What became of the plan.
    pub outcome: Outcome,
    /// The selected arrays that have anything to do with it, in the order of the walk.
    pub arrays: Vec<Array>,
    /// Every document that changes, in the order in which they are written; paths are relative to `root`.
    pub documents: Vec<Document>,
    /// What is worth knowing about the hierarchy as a whole.
    pub notes: Vec<String>,
    /// The arrays, counted.
    pub summary: Summary,
    /// The file that undoes what was written.
    pub journal: Option<String>,
    /// The place that the store was copied to, instead of being changed.
    pub output: Option<String>,
}

/// What became of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing was written: this is the plan.
    Planned,
    /// Nothing was written, since something stood in the way.
    Refused,
    /// All documents were written, read back and proven.
    Written,
}

/// An array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// The path from the store, without slashes at the ends; empty for the store itself.
    pub path: String,
    /// 2 or 3: the version that it has before.
    pub zarr_format: u8,
    /// What is done with it.
    pub action: Action,
    /// `plain` or `exact`: the form of the new chain.
    pub form: Option<String>,
    /// The array's data type.
    pub data_type: Option<String>,
    /// The type of the stored codes.
    pub stored_type: Option<String>,
    /// The order of the stored bytes; null for types of one byte.
    pub byte_order: Option<String>,
    /// Members of the document that change. A document of version 2 is replaced as a whole: the pointers are then those of
    /// its members before, or of the new document after.
    pub changes: Vec<Change>,
    /// What happens to the fill.
    pub fill: Option<Fill>,
    /// Whether what is stored decodes to the same values.
    pub decode: Option<Decode>,
    /// Whether what is written from now on is stored as the same codes.
    pub encode: Option<Encode>,
    /// Which readers can open the result.
    pub readers: Vec<Reader>,
    /// What is worth knowing besides.
    pub notes: Vec<String>,
    /// Why it cannot be migrated.
    pub problems: Vec<Problem>,
}

/// What is done with an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The legacy codec gives way to the new ones.
    #[default]
    Migrate,
    /// The document of Zarr v2 becomes one of v3, as the group around it does. It had no legacy codec.
    Convert,
    /// It cannot be migrated.
    Impossible,
}

/// A member of a document that changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Where it stands.
    pub pointer: String,
    /// What it was; null where it was not there, or was null.
    pub old: Value,
    /// What it becomes; null where it is taken away.
    pub new: Value,
}

/// What happens to the fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// What missing chunks read as from now on.
    pub value: Value,
    /// What they read as before, where that is another value; null also where it was undefined.
    pub before: Value,
    /// Whether a fill was stated before.
    pub defined_before: bool,
    /// The code that the fill is stored as.
    pub code: Value,
    /// Whether a map had to be written for it.
    pub mapped: bool,
    /// Why.
    pub reason: String,
}

/// What is stored, decoded both ways.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decode {
    /// `identical`, `differs` or `unproven`.
    pub verdict: String,
    /// What it was proven over: `all-codes`, `used-codes` or `data`; null for what is unproven.
    pub proof: Option<String>,
    /// How many codes, or stored elements, were compared.
    pub compared: u64,
    /// How many of these decode to another value.
    pub differing: u64,
    /// How many of these can be decoded no more.
    pub become_unreadable: u64,
    /// The largest distance between the values of one code; null where one is not finite.
    pub largest_difference: Option<f64>,
    /// The same in units in the last place of the array's type.
    pub largest_ulps: Option<u64>,
    /// The first code that decodes to another value.
    pub first: Option<Example>,
    /// The first code that can be decoded no more, and why.
    pub first_unreadable: Option<Unreadable>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// A code that decodes to another value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The code.
    pub code: Value,
    /// The value before.
    pub old: Value,
    /// The value after.
    pub new: Value,
}

/// A code that can be decoded no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unreadable {
    /// The code.
    pub code: Value,
    /// The value before.
    pub old: Value,
    /// Why it cannot be decoded.
    pub reason: String,
}

/// What is written from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encode {
    /// Whether the same values are stored as the same codes.
    pub same: bool,
    /// Where not, or why.
    pub notes: Vec<String>,
}

/// Why an array cannot be migrated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The name of the document.
    pub file: Option<String>,
    /// Where in it.
    pub pointer: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

/// A document that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// The path below `root`.
    pub path: String,
    /// What happens to it.
    pub action: DocumentAction,
    /// Why, where it is not the document of an array that is migrated.
    pub reason: Option<String>,
}

/// What happens to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DocumentAction {
    /// It was not there.
    Create,
    /// It is replaced.
    Replace,
    /// It goes.
    Remove,
}

/// Arrays, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Selected arrays.
    pub selected: u64,
    /// Those that are migrated.
    pub migrate: u64,
    /// Those that become Zarr v3 and had no legacy codec.
    pub convert: u64,
    /// Those that cannot be migrated.
    pub impossible: u64,
    /// Of those that are migrated: the values stay the same.
    pub identical: u64,
    /// Of those that are migrated: some values change.
    pub differs: u64,
    /// Of those that are migrated: nothing was proven.
    pub unproven: u64,
}
