//! The report of `encode` as JSON: `zarrpack.encode/1`.

use serde::Serialize;

use super::reader::Reader;

/// The report.
#[derive(Debug, Clone, Serialize)]
pub struct EncodeReport {
    /// `zarrpack.encode/1`
    pub schema: &'static str,
    /// Whether this is a plan, and nothing was written or looked at.
    pub dry_run: bool,
    /// Whether OUTPUT was written: not in a dry run, and not where something was lost.
    pub written: bool,
    /// Whether what was written was read back and compared.
    pub verified: bool,
    /// The kinds of loss that were allowed.
    pub allowed_losses: Vec<&'static str>,
    /// The arrays, in the order of INPUT.
    pub arrays: Vec<EncodedArray>,
}

/// One array.
#[derive(Debug, Clone, Serialize)]
pub struct EncodedArray {
    /// Its path; empty for the root.
    pub path: String,
    /// `encode`, `copy`, `convert`: copied with a document of Zarr v3, or `refuse`, after which no other array was looked at.
    pub action: &'static str,
    /// Why it is copied or refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What INPUT was taken to hold: `values`, or `codes` that are stored as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<&'static str>,
    /// The type that readers see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_type: Option<String>,
    /// The type that is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_type: Option<String>,
    /// The shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<u64>>,
    /// The lengths of the chunks; of the pieces of shards, where there are shards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_shape: Option<Vec<u64>>,
    /// The lengths of the shards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shard_shape: Option<Vec<u64>>,
    /// The packing codecs, as the document has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codecs: Option<serde_json::Value>,
    /// Which readers can open what is written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<Reader>,
    /// `auto` in a plan where NaN, if there is any, gets a code that no value uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<&'static str>,
    /// The fill value, as the document has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill_value: Option<serde_json::Value>,
    /// Compressors that are read and not written here: zstd stands in for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced_compressors: Vec<String>,
    /// Attributes that the chain replaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed_attributes: Vec<RemovedAttribute>,
    /// Attributes that were converted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub converted_attributes: Vec<ConvertedAttribute>,
    /// What was counted, unless this is a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ValueCounts>,
    /// Every kind of loss that happened, or would have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossCount>,
    /// The errors of what is stored, over all values that are finite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorFigures>,
    /// Chunks and bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storage: Option<StorageFigures>,
    /// Time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeFigures>,
}

/// An attribute that is gone.
#[derive(Debug, Clone, Serialize)]
pub struct RemovedAttribute {
    /// Its name.
    pub name: String,
    /// What it was.
    pub value: serde_json::Value,
}

/// An attribute that was converted.
#[derive(Debug, Clone, Serialize)]
pub struct ConvertedAttribute {
    /// Its name.
    pub name: String,
    /// Its name now, where that is another: a negative scale makes a least value a greatest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
    /// What it was.
    pub from: serde_json::Value,
    /// What it is.
    pub to: serde_json::Value,
}

/// Numbers of values.
#[derive(Debug, Clone, Serialize)]
pub struct ValueCounts {
    /// All that were looked at: those of chunks that are not missing.
    pub total: u64,
    /// NaN.
    pub nan: u64,
    /// Infinities.
    pub infinite: u64,
    /// Those that a map gave their codes.
    pub mapped: u64,
    /// Those whose codes are the ends of the stored type.
    pub at_limits: u64,
    /// Those out of range, where the chain says to clamp or wrap.
    pub clamped: u64,
}

/// A kind of loss.
#[derive(Debug, Clone, Serialize)]
pub struct LossCount {
    /// The kind, as `--allow-loss` takes it.
    pub kind: &'static str,
    /// Whether it was allowed.
    pub allowed: bool,
    /// How many values.
    pub count: u64,
    /// The first.
    pub first: LossFirst,
}

/// The first value of a kind of loss, in the order of chunks.
#[derive(Debug, Clone, Serialize)]
pub struct LossFirst {
    /// The chunk of OUTPUT; none for a fill value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chunk: Vec<u64>,
    /// The place in the array.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub index: Vec<u64>,
    /// The value.
    pub value: String,
    /// What happened to it, and what would fit.
    pub reason: String,
}

/// Errors, each the decoded value less the original one.
#[derive(Debug, Clone, Serialize)]
pub struct ErrorFigures {
    /// The values that were measured.
    pub measured: u64,
    /// The largest without its sign.
    pub largest_absolute: serde_json::Value,
    /// The largest relative to the original value, over values other than zero.
    pub largest_relative: serde_json::Value,
    /// The root of the mean of their squares.
    pub rmse: serde_json::Value,
    /// Their mean.
    pub bias: serde_json::Value,
}

/// Chunks and bytes.
#[derive(Debug, Clone, Serialize)]
pub struct StorageFigures {
    /// The bytes of the chunks in INPUT.
    pub bytes_before: u64,
    /// Those in OUTPUT.
    pub bytes_after: u64,
    /// How many times smaller OUTPUT is; absent where it has no bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Chunks, or shards, that were written.
    pub chunks_written: u64,
    /// Those that hold nothing but the fill value, and were left out.
    pub chunks_dropped: u64,
}

/// Time.
#[derive(Debug, Clone, Serialize)]
pub struct TimeFigures {
    /// From start to end.
    pub seconds: f64,
    /// Bytes of values a second.
    pub bytes_per_second: f64,
    /// Over all threads, on reading.
    pub read_seconds: f64,
    /// Over all threads, on transforming, looking at values, and compressing.
    pub process_seconds: f64,
    /// Over all threads, on writing and reading back.
    pub write_seconds: f64,
}
