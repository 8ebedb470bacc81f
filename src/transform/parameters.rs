//! The parameters of codecs before they are bound to a type: literals as the document has them.

use super::data_type::DataType;
use super::literal::Literal;
use super::rounding::{OutOfRange, Rounding};

/// One array-to-array codec of a chain that is not bound yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Codec {
    /// `scale_offset`
    ScaleOffset(ScaleOffsetParameters),
    /// `cast_value`
    CastValue(CastValueParameters),
    /// `numcodecs.fixedscaleoffset`, or `fixedscaleoffset` of Zarr v2.
    FixedScaleOffset(FixedScaleOffsetParameters),
    /// A codec whose parameters are so wrong that its outgoing type is not known. The problems were reported already.
    Unreadable,
}

/// The members of a `scale_offset` configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScaleOffsetParameters {
    /// In the fill-value encoding of the incoming type.
    pub offset: Option<Literal>,
    /// In the fill-value encoding of the incoming type.
    pub scale: Option<Literal>,
}

/// The members of a `cast_value` configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct CastValueParameters {
    /// The type after encoding.
    pub data_type: DataType,
    /// How to round.
    pub rounding: Rounding,
    /// What to do out of range; an error where absent.
    pub out_of_range: Option<OutOfRange>,
    /// Pairs for encoding: fill-value encoding of the incoming type, then of `data_type`.
    pub encode: Vec<(Literal, Literal)>,
    /// Pairs for decoding: fill-value encoding of `data_type`, then of the incoming type.
    pub decode: Vec<(Literal, Literal)>,
}

impl CastValueParameters {
    /// A cast with no member but `data_type`.
    #[must_use]
    pub const fn to(data_type: DataType) -> Self {
        Self {
            data_type,
            rounding: Rounding::NearestEven,
            out_of_range: None,
            encode: Vec::new(),
            decode: Vec::new(),
        }
    }
}

/// The members of a `fixedscaleoffset` configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedScaleOffsetParameters {
    /// A JSON number.
    pub scale: Literal,
    /// A JSON number.
    pub offset: Literal,
    /// The type before encoding, where it is stated.
    pub dtype: Option<DataType>,
    /// The type after encoding, where it is stated.
    pub astype: Option<DataType>,
    /// The JSON pointer of the object that holds the members: `/configuration`, or nothing for a Zarr v2 filter.
    pub base: &'static str,
}
