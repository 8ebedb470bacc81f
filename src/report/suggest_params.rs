//! What `suggest-params --format json` prints: the plan that `encode --params` takes, and what it rests on. `docs/suggest-params.md`
//! describes it.
//!
//! Scalars (fills, codes, ends of ranges) are in fill-value encoding: numbers, and `"NaN"`, `"Infinity"`, `"-Infinity"`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the schema.
pub const SCHEMA: &str = "zarrpack.suggest-params/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// [`SCHEMA`]
    pub schema: String,
    /// What is proposed, in the order of the walk.
    pub arrays: Vec<Array>,
    /// The arrays for which nothing is proposed.
    pub refused: Vec<Refused>,
}

/// What is proposed for an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// The path from the store; null where the proposal is for every array that is selected.
    pub path: Option<String>,
    /// The INPUT that it was made for; null where there is none, or several.
    pub input: Option<String>,
    /// The type of the array.
    pub dtype: String,
    /// The array-to-array codecs.
    pub codecs: Value,
    /// The fill that the array must get; null where its own survives.
    pub fill_value: Value,
    /// The chain in words.
    pub chain: String,
    /// What the chain computes.
    pub formula: Option<Formula>,
    /// The attributes of CF that say nearly the same; null where there are none.
    pub cf: Option<Cf>,
    /// Why this is the best, in a sentence.
    pub reason: String,
    /// What else should be known.
    pub notes: Vec<String>,
    /// What was seen of the values.
    pub seen: Seen,
    /// All that was measured, the best first: the first one is what is proposed.
    pub candidates: Vec<Candidate>,
    /// Narrower types that do not hold the values.
    pub rejected: Vec<Rejected>,
    /// How the values are spread.
    pub histogram: Histogram,
}

/// What a chain computes. `round` is to the nearest whole number, ties to even.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Formula {
    /// From `value` to the code.
    pub encode: String,
    /// From the code to `value`.
    pub decode: String,
}

/// Attributes of the CF conventions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cf {
    /// The reciprocal of the scale.
    pub scale_factor: Value,
    /// The offset.
    pub add_offset: Value,
    /// The code of what is missing; null where there is none.
    #[serde(rename = "_FillValue")]
    pub fill_value: Value,
    /// Whether `code * scale_factor + add_offset`, in float64 and then rounded to the type of the array, is the same value for every
    /// code from that of the least to that of the greatest value.
    pub exact: bool,
    /// By how much values differ at most; null where some codes have no value by these attributes.
    pub max_difference: Option<f64>,
}

/// What was seen of the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// The share of the chunks that was read; what is said of errors is said of this share.
    pub share: f64,
    /// How many values were read.
    pub values: u64,
    /// How many were never written; null where that is not known.
    pub unwritten: Option<u64>,
    /// The least finite value that does not stand for a missing one.
    pub low: Value,
    /// The greatest.
    pub high: Value,
    /// How many are NaN.
    pub nan: u64,
    /// How many are infinite.
    pub infinities: u64,
    /// How many are zero.
    pub zeros: u64,
    /// How many of these are negative.
    pub negative_zeros: u64,
    /// Values that stand for missing ones by the attributes.
    pub stand_ins: Vec<StandIn>,
    /// How many distinct values there are; null where they are many.
    pub distinct: Option<u64>,
    /// The decimal step of which all values are multiples; null where there is none.
    pub decimal_step: Value,
    /// The exponent of the power of two of which all values are multiples; null where all are zero.
    pub binary_step_exponent: Option<i32>,
}

/// A value that stands for missing ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// The value.
    pub value: Value,
    /// How often it was seen.
    pub count: u64,
}

/// One way to pack, with what it did to the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The chain in words.
    pub chain: String,
    /// The array-to-array codecs.
    pub codecs: Value,
    /// The fill that the array must get; null where its own survives.
    pub fill_value: Value,
    /// The stored type.
    pub data_type: String,
    /// The scale; null where nothing is scaled.
    pub scale: Value,
    /// The offset; null where nothing is shifted.
    pub offset: Value,
    /// Where the scale comes from: `decimal`, `binary`, `step of the data`, `finest`, `coarsest`, `pinned` or `whole`.
    pub origin: String,
    /// The distance of neighbouring values; null where it is not the same everywhere.
    pub step: Value,
    /// The codes in use, those of sentinels included; null for a float type.
    pub codes_used: Option<u64>,
    /// The codes that the type has; null for a float type and for 64 bits.
    pub codes_in_all: Option<u64>,
    /// The least value that can be stored; null where every value can.
    pub holds_low: Value,
    /// The greatest.
    pub holds_high: Value,
    /// Values with codes of their own.
    pub sentinels: Vec<Sentinel>,
    /// Whether every value came back as was asked for.
    pub holds: bool,
    /// What was measured on all values.
    pub measured: Measured,
    /// The same for each of several arrays, in their order; empty for one.
    pub by_array: Vec<OfArray>,
    /// The bytes that would be stored, as estimated; null where that cannot be told.
    pub stored_bytes: Option<u64>,
    /// The bits for each stored value.
    pub bits_per_value: Option<f64>,
    /// What the values take in memory over what would be stored.
    pub ratio: Option<f64>,
}

/// A value and its code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sentinel {
    /// The value of the array.
    pub value: Value,
    /// The value that enters the cast.
    pub key: Value,
    /// The code.
    pub code: Value,
}

/// What a chain did to the values of one of several arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfArray {
    /// The path from the store; null for a file.
    pub path: Option<String>,
    /// The INPUT that it is in.
    pub input: Option<String>,
    /// What was measured on its values.
    pub measured: Measured,
}

/// What a chain did to values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// How many finite values were measured.
    pub values: u64,
    /// The largest absolute error.
    #[serde(with = "doubles")]
    pub max_error: f64,
    /// The largest relative error of values that are not zero.
    #[serde(with = "doubles")]
    pub max_relative_error: f64,
    /// The root of the mean of squared errors.
    #[serde(with = "doubles")]
    pub rmse: f64,
    /// The mean error.
    #[serde(with = "doubles")]
    pub bias: f64,
    /// The sum of errors: what a total is off by.
    #[serde(with = "doubles")]
    pub sum_error: f64,
    /// Values that could not be encoded or decoded.
    pub faults: u64,
    /// NaN and infinities that did not come back, and finite values that became one.
    pub lost: u64,
}

/// A type that does not hold the values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// The type.
    pub data_type: String,
    /// Why not.
    pub reason: String,
}

/// Counts of values in equally wide parts of their range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Where the first part begins.
    pub low: Value,
    /// Where the last part ends.
    pub high: Value,
    /// The counts.
    pub counts: Vec<u64>,
}

/// An array for which nothing is proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// The path from the store; null for a file, and where several arrays have no common proposal.
    pub path: Option<String>,
    /// The INPUT that it is in; null where there is none, or several.
    pub input: Option<String>,
    /// Why not.
    pub message: String,
    /// What was found.
    pub details: Vec<String>,
    /// What could be had instead.
    pub hints: Vec<String>,
}

/// Doubles, which JSON has no numbers for where they are not finite.
mod doubles {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        let word = match value {
            _ if value.is_finite() => return value.serialize(serializer),
            _ if value.is_nan() => "NaN",
            _ if *value > 0.0 => "Infinity",
            _ => "-Infinity",
        };
        word.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let number = match value.as_str() {
            Some("NaN") => Some(f64::NAN),
            Some("Infinity") => Some(f64::INFINITY),
            Some("-Infinity") => Some(f64::NEG_INFINITY),
            _ => value.as_f64(),
        };
        number.ok_or_else(|| de::Error::custom(format!("expected a number, found {value}")))
    }
}
