//! The 26 real-number types, each with its name and memory layout: the one list of types.

use std::fmt;

/// The values with an all-ones exponent, and the ones a float format gives up for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// Infinities and NaNs in the topmost exponent, as in IEEE 754.
    Ieee,
    /// No infinities, one NaN where negative zero would be, no negative zero (`fnuz`).
    NanForNegativeZero,
    /// No infinities and no NaN (`fn` types of 4 and 6 bits).
    None,
    /// Powers of two alone: no sign, no zero, no infinities, NaN in the topmost code (`float8_e8m0fnu`).
    PowersOfTwo,
}

/// The layout of a binary floating-point format, from the most significant bit: sign, exponent, mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FloatFormat {
    pub(crate) exponent_bits: u32,
    pub(crate) mantissa_bits: u32,
    pub(crate) bias: i32,
    pub(crate) specials: Specials,
}

impl FloatFormat {
    const fn new(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Self {
        Self {
            exponent_bits,
            mantissa_bits,
            bias,
            specials,
        }
    }

    pub(crate) const fn is_signed(self) -> bool {
        !matches!(self.specials, Specials::PowersOfTwo)
    }

    pub(crate) const fn has_zero(self) -> bool {
        !matches!(self.specials, Specials::PowersOfTwo)
    }

    pub(crate) const fn has_negative_zero(self) -> bool {
        matches!(self.specials, Specials::Ieee | Specials::None)
    }

    pub(crate) const fn has_infinity(self) -> bool {
        matches!(self.specials, Specials::Ieee)
    }

    pub(crate) const fn has_nan(self) -> bool {
        !matches!(self.specials, Specials::None)
    }

    /// Sign, exponent and mantissa together.
    pub(crate) const fn bits(self) -> u32 {
        self.exponent_bits + self.mantissa_bits + self.is_signed() as u32
    }

    pub(crate) const fn sign_bit(self) -> u64 {
        if self.is_signed() {
            1 << (self.exponent_bits + self.mantissa_bits)
        } else {
            0
        }
    }

    pub(crate) const fn exponent_mask(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    pub(crate) const fn mantissa_mask(self) -> u64 {
        (1 << self.mantissa_bits) - 1
    }

    /// The exponent of the smallest normal number.
    pub(crate) const fn min_exponent(self) -> i32 {
        if self.has_zero() {
            1 - self.bias
        } else {
            -self.bias
        }
    }

    /// The bits of the largest finite number, without a sign.
    pub(crate) const fn max_finite(self) -> u64 {
        let all = (1 << (self.exponent_bits + self.mantissa_bits)) - 1;
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa_bits),
            Specials::NanForNegativeZero | Specials::None => all,
            Specials::PowersOfTwo => all - 1,
        }
    }

    /// The bits of positive infinity; meaningless where there is none.
    pub(crate) const fn infinity(self) -> u64 {
        self.exponent_mask() << self.mantissa_bits
    }

    /// The bits of the NaN that `"NaN"` stands for; meaningless where there is none.
    pub(crate) const fn canonical_nan(self) -> u64 {
        match self.specials {
            Specials::Ieee => self.infinity() | (1 << (self.mantissa_bits - 1)),
            Specials::NanForNegativeZero | Specials::None => {
                1 << (self.exponent_bits + self.mantissa_bits)
            }
            Specials::PowersOfTwo => self.exponent_mask(),
        }
    }
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// An integer of so many bits, two's complement where signed.
    Int {
        /// 2 to 64.
        bits: u32,
        /// Whether negative values exist.
        signed: bool,
    },
    /// A binary floating-point format.
    Float(FloatFormat),
}

macro_rules! data_types {
    ($($variant:ident $name:literal $numpy:expr, $layout:expr;)*) => {
        /// A real-number data type of Zarr v3 that `scale_offset` and `cast_value` are defined for.
        ///
        /// In memory an element takes 1, 2, 4 or 8 bytes, native endian. Types of less than 8 bits take one byte:
        /// the unused upper bits are ignored on reading, and are written as copies of the sign (signed integers) or as
        /// zeros.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DataType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl DataType {
            /// All types, integers first, each kind from narrow to wide.
            pub const ALL: [DataType; data_types!(@count $($variant)*)] = [$(DataType::$variant,)*];

            /// The name in Zarr v3 metadata.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(DataType::$variant => $name,)*
                }
            }

            pub(crate) const fn layout(self) -> Layout {
                match self {
                    $(DataType::$variant => $layout,)*
                }
            }

            /// The kind and size in a NumPy type string (`"f4"` of `"<f4"`), for the types that NumPy has.
            #[must_use]
            pub const fn numpy_code(self) -> Option<&'static str> {
                match self {
                    $(DataType::$variant => $numpy,)*
                }
            }
        }
    };
    (@count $($variant:ident)*) => { [$(DataType::$variant),*].len() };
}

const fn int(bits: u32) -> Layout {
    Layout::Int { bits, signed: true }
}

const fn uint(bits: u32) -> Layout {
    Layout::Int {
        bits,
        signed: false,
    }
}

const fn float(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> Layout {
    Layout::Float(FloatFormat::new(exponent, mantissa, bias, specials))
}

data_types! {
    Int2 "int2" None, int(2);
    Int4 "int4" None, int(4);
    Int8 "int8" Some("i1"), int(8);
    Int16 "int16" Some("i2"), int(16);
    Int32 "int32" Some("i4"), int(32);
    Int64 "int64" Some("i8"), int(64);
    UInt2 "uint2" None, uint(2);
    UInt4 "uint4" None, uint(4);
    UInt8 "uint8" Some("u1"), uint(8);
    UInt16 "uint16" Some("u2"), uint(16);
    UInt32 "uint32" Some("u4"), uint(32);
    UInt64 "uint64" Some("u8"), uint(64);
    Float4E2M1Fn "float4_e2m1fn" None, float(2, 1, 1, Specials::None);
    Float6E2M3Fn "float6_e2m3fn" None, float(2, 3, 1, Specials::None);
    Float6E3M2Fn "float6_e3m2fn" None, float(3, 2, 3, Specials::None);
    Float8E3M4 "float8_e3m4" None, float(3, 4, 3, Specials::Ieee);
    Float8E4M3 "float8_e4m3" None, float(4, 3, 7, Specials::Ieee);
    Float8E4M3B11Fnuz "float8_e4m3b11fnuz" None, float(4, 3, 11, Specials::NanForNegativeZero);
    Float8E4M3Fnuz "float8_e4m3fnuz" None, float(4, 3, 8, Specials::NanForNegativeZero);
    Float8E5M2 "float8_e5m2" None, float(5, 2, 15, Specials::Ieee);
    Float8E5M2Fnuz "float8_e5m2fnuz" None, float(5, 2, 16, Specials::NanForNegativeZero);
    Float8E8M0Fnu "float8_e8m0fnu" None, float(8, 0, 127, Specials::PowersOfTwo);
    BFloat16 "bfloat16" None, float(8, 7, 127, Specials::Ieee);
    Float16 "float16" Some("f2"), float(5, 10, 15, Specials::Ieee);
    Float32 "float32" Some("f4"), float(8, 23, 127, Specials::Ieee);
    Float64 "float64" Some("f8"), float(11, 52, 1023, Specials::Ieee);
}

/// The order of the bytes of an element, as a NumPy type string states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// `<`
    Little,
    /// `>`
    Big,
    /// `|`, `=`, or no mark: one byte, or whatever the surroundings say.
    Unstated,
}

impl DataType {
    /// The type with this name in Zarr v3 metadata.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// The type that a NumPy or Zarr v2 spelling names: `"<f4"`, `"f4"`, `"|u1"` or `"float32"`.
    #[must_use]
    pub fn from_numpy(spelling: &str) -> Option<(Self, ByteOrder)> {
        let (order, code) = match spelling.as_bytes().first()? {
            b'<' => (ByteOrder::Little, &spelling[1..]),
            b'>' => (ByteOrder::Big, &spelling[1..]),
            b'|' | b'=' => (ByteOrder::Unstated, &spelling[1..]),
            _ => (ByteOrder::Unstated, spelling),
        };
        let named = |t: &Self| t.numpy_code() == Some(code);
        let long = |t: &Self| t.numpy_code().is_some() && t.name() == spelling;
        let found = Self::ALL.into_iter().find(|t| named(t) || long(t))?;
        Some((found, order))
    }

    /// The bytes that one element takes in memory: 1, 2, 4 or 8.
    #[must_use]
    pub const fn size(self) -> usize {
        match self.bits() {
            0..=8 => 1,
            9..=16 => 2,
            17..=32 => 4,
            _ => 8,
        }
    }

    /// The bits that carry the value: 2 to 64.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self.layout() {
            Layout::Int { bits, .. } => bits,
            Layout::Float(format) => format.bits(),
        }
    }

    /// Whether the type holds integers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.layout(), Layout::Int { .. })
    }

    /// Whether the type holds floating-point numbers.
    #[must_use]
    pub const fn is_float(self) -> bool {
        !self.is_integer()
    }

    /// Whether the type has a NaN.
    #[must_use]
    pub const fn has_nan(self) -> bool {
        match self.layout() {
            Layout::Int { .. } => false,
            Layout::Float(format) => format.has_nan(),
        }
    }

    /// Whether the type has infinities.
    #[must_use]
    pub const fn has_infinity(self) -> bool {
        match self.layout() {
            Layout::Int { .. } => false,
            Layout::Float(format) => format.has_infinity(),
        }
    }

    /// The smallest and largest value of an integer type.
    pub(crate) const fn integer_range(self) -> Option<(i128, i128)> {
        match self.layout() {
            Layout::Int { bits, signed: true } => {
                Some((-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1))
            }
            Layout::Int {
                bits,
                signed: false,
            } => Some((0, (1_i128 << bits) - 1)),
            Layout::Float(_) => None,
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_read_back() {
        for t in DataType::ALL {
            assert_eq!(DataType::from_name(t.name()), Some(t));
        }
        assert_eq!(DataType::ALL.len(), 26);
        assert_eq!(DataType::from_name("float31"), None);
    }

    #[test]
    fn numpy_spellings() {
        let little = Some((DataType::Float32, ByteOrder::Little));
        assert_eq!(DataType::from_numpy("<f4"), little);
        let big = Some((DataType::Int16, ByteOrder::Big));
        assert_eq!(DataType::from_numpy(">i2"), big);
        for spelling in ["f4", "float32", "=f4"] {
            let unstated = Some((DataType::Float32, ByteOrder::Unstated));
            assert_eq!(DataType::from_numpy(spelling), unstated);
        }
        let byte = Some((DataType::UInt8, ByteOrder::Unstated));
        assert_eq!(DataType::from_numpy("|u1"), byte);
        for spelling in ["", "<", "<float32", "f3", "b1", "<U4", "bfloat16", "é4"] {
            assert_eq!(DataType::from_numpy(spelling), None, "{spelling}");
        }
    }

    #[test]
    fn sizes_and_ranges() {
        assert_eq!(DataType::Int2.size(), 1);
        assert_eq!(DataType::Float6E2M3Fn.bits(), 6);
        assert_eq!(DataType::Float8E8M0Fnu.bits(), 8);
        assert_eq!(DataType::BFloat16.size(), 2);
        assert_eq!(DataType::Int2.integer_range(), Some((-2, 1)));
        let widest = Some((0, i128::from(u64::MAX)));
        assert_eq!(DataType::UInt64.integer_range(), widest);
        assert_eq!(DataType::Float16.integer_range(), None);
    }
}
