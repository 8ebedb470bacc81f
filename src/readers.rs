//! Which known programs read an array: one table of facts, each with its source and date, and what it says of a document.
//!
//! A fact is about one program and one feature of a document. What no fact covers is unknown, and said to be: a reader that
//! nobody has tried is not called good.

mod facts;
mod features;

use std::collections::BTreeSet;
use std::fmt;

use self::facts::{FACTS, READERS};
use self::features::features;
use crate::codecs::ArrayDocument;

/// What is known of one reader and one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderVerdict {
    /// The program.
    pub reader: &'static str,
    /// The version that the facts are about.
    pub version: &'static str,
    /// Whether it opens the array and reads the right values.
    pub opens: Opens,
    /// Where the fact that decided comes from.
    pub source: Source,
}

/// Whether a reader opens an array and reads the right values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opens {
    /// It does.
    Yes,
    /// It does not, and why: it gives an error, or other values.
    No(String),
    /// Nothing is known of the reader and some part of the document.
    Unknown,
}

/// Where a fact comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// How it is known: by running the program, or by reading something.
    pub text: &'static str,
    /// Year and month.
    pub date: &'static str,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.text, self.date)
    }
}

/// Something in a document that readers differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Feature {
    /// The array is one of Zarr v2.
    Format2,
    /// The array is one of Zarr v3.
    Format3,
    /// `transpose`, `bytes`, and the compressors and the checksum of the core specification.
    CoreCodec,
    /// `sharding_indexed`
    Sharding,
    /// `scale_offset`
    ScaleOffset,
    /// `cast_value`
    CastValue,
    /// `numcodecs.fixedscaleoffset`
    LegacyV3,
    /// The legacy codec in a v3 document without the prefix.
    LegacyUnprefixed,
    /// The filter `fixedscaleoffset`
    LegacyV2,
    /// Another codec of numcodecs in v3.
    NumcodecsV3,
    /// Another filter or compressor of numcodecs in v2.
    NumcodecsV2,
    /// Any other codec.
    OtherCodec,
    /// A data type of less than 8 bits, or a float of 8 bits, or bfloat16.
    SmallType,
    /// A float16, as array type or behind a cast.
    Float16,
    /// A data type other than numbers and booleans.
    OtherType,
    /// The data type of a cast is an object.
    ObjectType,
    /// A codec that is a string alone.
    BareName,
    /// A `scale_offset` without a configuration.
    NoConfiguration,
    /// `"+Infinity"` in a map.
    PlusInfinity,
    /// A hexadecimal string in a map.
    HexInMap,
    /// A map that repeats a key.
    DuplicateKey,
    /// A parameter that is no value of the array's own type.
    ForeignScalar,
    /// A cast between float16 and float64.
    DoubleToHalf,
    /// A chain inside a shard that cannot encode 0.
    NoZeroInShard,
    /// The fill cannot be cast as it is, before it is shifted and scaled.
    UnscaledFill,
    /// The fill cannot be encoded.
    LostFill,
    /// A `transpose` behind the legacy codec.
    TransposeBehindLegacy,
    /// The legacy filter hands on another byte order than the array's `dtype` has.
    LegacyByteOrderV2,
    /// The legacy codec's `astype` has another byte order than `bytes`.
    LegacyByteOrderV3,
    /// The legacy codec's configuration has an `id`.
    LegacyId,
}

impl Feature {
    /// Whether a reader needs support for it, so that its silence is no consent. The others are harmless unless a fact says
    /// otherwise.
    const fn needs_support(self) -> bool {
        matches!(
            self,
            Self::Format2
                | Self::Format3
                | Self::CoreCodec
                | Self::Sharding
                | Self::ScaleOffset
                | Self::CastValue
                | Self::LegacyV3
                | Self::LegacyUnprefixed
                | Self::LegacyV2
                | Self::NumcodecsV3
                | Self::NumcodecsV2
                | Self::OtherCodec
                | Self::SmallType
                | Self::Float16
                | Self::OtherType
        )
    }
}

/// What a reader does with a feature.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    /// It reads it.
    Read,
    /// It does not, or gives other values.
    Fail(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    reader: &'static str,
    feature: Feature,
    does: Does,
    source: Source,
}

/// A program that reads Zarr.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    /// What facts call it.
    key: &'static str,
    name: &'static str,
    version: &'static str,
    /// What is cited where nothing is known.
    source: Source,
}

/// What is known of each reader and an array, in the order of the table.
#[must_use]
pub fn readers(document: ArrayDocument<'_, '_>) -> Vec<ReaderVerdict> {
    let features = features(document);
    READERS
        .iter()
        .map(|reader| judge(reader, &features))
        .collect()
}

fn judge(reader: &Reader, features: &BTreeSet<Feature>) -> ReaderVerdict {
    let mut reasons: Vec<&'static str> = Vec::new();
    let mut source = None;
    let mut unknown = false;
    let mut supported = reader.source;
    for feature in features {
        let fact = FACTS
            .iter()
            .find(|fact| fact.reader == reader.key && fact.feature == *feature);
        match fact.map(|fact| (fact.does, fact.source)) {
            Some((Does::Fail(reason), from)) => {
                reasons.push(reason);
                source.get_or_insert(from);
            }
            Some((Does::Read, from)) => supported = from,
            None => unknown |= feature.needs_support(),
        }
    }
    let opens = match (reasons.is_empty(), unknown) {
        (false, _) => Opens::No(reasons.join("; ")),
        (true, true) => Opens::Unknown,
        (true, false) => Opens::Yes,
    };
    ReaderVerdict {
        reader: reader.name,
        version: reader.version,
        source: source.unwrap_or(if opens == Opens::Yes {
            supported
        } else {
            reader.source
        }),
        opens,
    }
}

#[cfg(test)]
mod tests;
