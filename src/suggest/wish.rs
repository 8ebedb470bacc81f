//! What is asked for: how far values may move, which types may hold them, and what must stay as it is.

use crate::transform::data_type::DataType;

/// How far a decoded value may be from the original one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// As far as the type, the bits or the pinned scale bring it.
    Open,
    /// At most so far, for every finite value.
    Absolute(f64),
    /// Rounded to so many decimals: half a unit of the last, and what the array's own type cannot hold.
    Decimals(i32),
    /// At most so far for each unit of the value, for every finite value that is not zero.
    Relative(f64),
    /// Every value comes back bit for bit; a NaN as a NaN.
    Bitwise,
}

/// The code that stands for NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// One that no value uses, where the data or the fill is NaN.
    #[default]
    Auto,
    /// None: NaN is not to be stored.
    None,
    /// This one, whether the data hold NaN or not.
    Code(i128),
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wish {
    /// How far values may move.
    pub tolerance: Tolerance,
    /// At most two to the power of this many codes.
    pub bits: Option<u32>,
    /// The stored type, instead of a choice.
    pub to: Option<DataType>,
    /// The scale, as a number in text, instead of a choice.
    pub scale: Option<String>,
    /// The offset, as a number in text, instead of a choice.
    pub offset: Option<String>,
    /// Values that must come back as they are; without any, zero where the data hold it.
    pub keep_exact: Vec<f64>,
    /// Room to leave beyond the values on each side, in percent of their span.
    pub headroom: f64,
    /// The range to plan for, whatever the data hold within it.
    pub range: Option<(f64, f64)>,
    /// The code for NaN.
    pub missing: Missing,
    /// Whether stored types that few readers have are proposed too.
    pub all_types: bool,
    /// The share of the chunks that is read, above 0 and up to 1.
    pub share: f64,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            tolerance: Tolerance::Open,
            bits: None,
            to: None,
            scale: None,
            offset: None,
            keep_exact: Vec::new(),
            headroom: 0.0,
            range: None,
            missing: Missing::Auto,
            all_types: false,
            share: 1.0,
        }
    }
}

impl Wish {
    /// The wish of `--max-error`.
    #[must_use]
    pub fn max_error(error: f64) -> Self {
        Self {
            tolerance: Tolerance::Absolute(error),
            ..Self::default()
        }
    }

    /// The types that may be proposed, narrow ones first; of one width the signed type comes first.
    #[must_use]
    pub fn types(&self) -> Vec<DataType> {
        use DataType::{
            Int2, Int4, Int8, Int16, Int32, Int64, UInt2, UInt4, UInt8, UInt16, UInt32, UInt64,
        };
        if let Some(to) = self.to {
            return vec![to];
        }
        let small: &[DataType] = if self.all_types {
            &[Int2, UInt2, Int4, UInt4]
        } else {
            &[]
        };
        let common = [Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64];
        small.iter().copied().chain(common).collect()
    }
}
