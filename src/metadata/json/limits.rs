//! What a caller decides about reading a document.

/// What a document may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The length of the text in bytes.
    pub max_bytes: u64,
    /// How many arrays and objects may be open at once. Trees are walked and dropped by recursion,
    /// so no value above [`Limits::DEEPEST`] has an effect.
    pub max_depth: usize,
    /// The number of values. In memory a value takes some fifty times the two bytes that it can be
    /// written in.
    pub max_values: usize,
}

impl Limits {
    /// The greatest depth that is ever accepted.
    pub const DEEPEST: usize = 512;
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_bytes: 64 << 20,
            max_depth: Self::DEEPEST,
            max_values: 8_000_000,
        }
    }
}

/// What to do with bare `NaN`, `Infinity` and `-Infinity`, which Python writes although JSON has no
/// such numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonFinite {
    /// Refuse the document.
    Refuse,
    /// Keep them as [`Kind::NonFinite`](super::Kind::NonFinite), each listed as an issue.
    Keep,
}
