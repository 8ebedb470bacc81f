//! What `decode` reports as JSON. `docs/decode.md` describes it.
//!
//! Scalars are in fill-value encoding: numbers, and `"NaN"`, `"Infinity"`, `"-Infinity"`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the schema.
pub const SCHEMA: &str = "zarrpack.decode/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`]
    pub schema: String,
    /// INPUT, as it was given.
    pub input: String,
    /// OUTPUT, as it was given.
    pub output: String,
    /// `zarr`, `npy`, `csv`, `jsonl` or `raw`.
    pub form: String,
    /// Whether this is a plan, and nothing was written.
    pub dry_run: bool,
    /// Whether what was written was read back and compared with what decoding gives.
    pub verified: bool,
    /// The arrays, in the order of the walk; for other forms than `zarr`, the one.
    pub arrays: Vec<Array>,
}

/// An array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// The path from INPUT, without slashes at the ends; empty for INPUT itself.
    pub path: String,
    /// What was done with it.
    pub action: Action,
    /// The type of the values; null where they were not decoded.
    pub data_type: Option<String>,
    /// The lengths of its dimensions; null where it was not decoded.
    pub shape: Option<Vec<u64>>,
    /// The part that `--region` chose: start and stop along each dimension.
    pub region: Option<Vec<[u64; 2]>>,
    /// What a chunk that is missing reads as; null where it was not decoded, or values have no encoding as one scalar.
    pub fill_value: Value,
    /// The compressors that zstd stands in for.
    pub replaced: Vec<String>,
    /// What CF attributes were applied; null where none were.
    pub cf: Option<Cf>,
    /// The columns of csv before `value`.
    pub columns: Option<Vec<Column>>,
    /// What is worth knowing besides.
    pub warnings: Vec<String>,
    /// Why it was left out.
    pub reason: Option<String>,
}

/// What was done with an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Its values were decoded.
    Decode,
    /// Its files were copied as they are.
    #[default]
    Copy,
    /// It was left out.
    Skip,
}

/// CF attributes that were applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cf {
    /// The type of what the attributes are about, `_Unsigned` heeded.
    pub stored_type: String,
    /// The type of the values.
    pub data_type: String,
    /// What stored numbers were multiplied by.
    pub scale_factor: Option<f64>,
    /// What was added then.
    pub add_offset: Option<f64>,
    /// The stored numbers that became NaN.
    pub missing: Vec<Missing>,
    /// The attributes that are not in OUTPUT any more.
    pub removed: Vec<String>,
    /// The attributes that are in the units of the values now.
    pub converted: Vec<Converted>,
}

/// A stored number that means that there is no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The attribute that says so, or `fill_value`.
    pub from: String,
    /// The number.
    pub value: Value,
}

/// An attribute that changed its units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Converted {
    /// Its name before.
    pub from: String,
    /// Its name now.
    pub to: String,
    /// What it is now.
    pub value: Value,
}

/// A column of csv.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its name in the header.
    pub name: String,
    /// The path of the array whose values it holds, from INPUT; null for a column of indices.
    pub coordinate: Option<String>,
}
