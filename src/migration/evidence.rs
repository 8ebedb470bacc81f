//! What only the data of an array can tell: which codes it holds, and what is missing.

use crate::error::Error;
use crate::transform::equivalence::{CodeSet, Comparison, Differences};
use crate::transform::scalar::Scalar;

/// A run of packing codecs in the document of an array: the place where codes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The JSON pointer of the list of codecs: `/codecs`, or that of a shard.
    pub list: String,
    /// The place of the first codec of the run in the list.
    pub first: usize,
    /// How many codecs the run has.
    pub codecs: usize,
}

/// What is asked of all codes that a site has stored.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// Pairs of chains whose decoding is compared over all codes.
    pub comparisons: &'q [Comparison<'q>],
    /// Codes that must be told used or unused, whatever the width of the stored type. A few. A code is used where one occurs
    /// that equals it numerically: any NaN stands for any other, and zeros of either sign for each other.
    pub watch: &'q [Scalar],
}

/// How a code is used. Padding is what lies in a chunk beyond the edge of the array; where a codec before the site mixes
/// elements, as `delta` does, values inside depend on it, and it counts as held by the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Use {
    /// No chunk holds it.
    #[default]
    Unused,
    /// Only padding holds it.
    PaddingOnly,
    /// The array holds it.
    Used,
}

/// All codes of a stored type of up to 16 bits that are in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedCodes {
    /// Those that the array holds.
    pub inside: CodeSet,
    /// Those that padding holds; some are in `inside` too.
    pub padding: CodeSet,
}

/// The least and the greatest code in use, padding included, in numerical order and without NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRange {
    /// The least.
    pub least: Scalar,
    /// The greatest.
    pub greatest: Scalar,
}

/// What a comparison over the data found.
#[derive(Debug, Clone, Default)]
pub struct Compared {
    /// Of the codes that the array holds.
    pub inside: Differences,
    /// Of the codes in padding, which nobody reads, but which keep a whole chunk from being read where they cannot be decoded.
    pub padding: Differences,
}

/// How much of an array was ever written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// Chunks, or shards, that are stored.
    pub chunks: u64,
    /// Chunks, or shards, that are missing and read as the fill.
    pub missing: u64,
    /// Inner chunks that are missing in shards that are stored. A shard that is missing in a shard counts once.
    pub missing_inner: u64,
}

/// The answer to a [`Question`], from every stored chunk.
#[derive(Debug, Clone)]
pub struct Scan {
    /// All codes in use, for stored types of up to 16 bits.
    pub used: Option<UsedCodes>,
    /// For each watched code, in order.
    pub watched: Vec<Use>,
    /// The range of the codes in use; `None` where there are none.
    pub range: Option<CodeRange>,
    /// For each comparison, in order.
    pub compared: Vec<Compared>,
    /// How much there is.
    pub presence: Presence,
}

/// Answers questions about the data of one array.
pub trait Evidence {
    /// Reads every stored chunk and looks at all codes of a site, without those that missing chunks would decode to, and without
    /// those of missing inner chunks, unless a codec between the site and the shard mixes elements.
    ///
    /// # Errors
    ///
    /// Where a chunk cannot be read or is not sound, where the codecs behind the site cannot be decoded here, or where the run
    /// is interrupted.
    fn scan(&self, site: &Site, question: &Question<'_>) -> Result<Scan, Error>;

    /// Tells how much of the array was ever written. Of chunks only the indexes of shards are read.
    ///
    /// # Errors
    ///
    /// As for [`Evidence::scan`].
    fn presence(&self) -> Result<Presence, Error>;
}
