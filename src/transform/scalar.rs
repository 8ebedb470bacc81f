//! One element of a type: its bits, with numerical equality and order.

use std::cmp::Ordering;

use super::data_type::{DataType, Layout};
use super::number::{Beyond, Number};

/// One element of a [`DataType`].
///
/// Equality (`==`) is bitwise; [`Scalar::equals`] is numerical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    data_type: DataType,
    bits: u64,
}

impl Scalar {
    /// An element from its bits, of which the lowest [`DataType::bits`] count.
    #[must_use]
    pub const fn from_bits(data_type: DataType, bits: u64) -> Self {
        let n = data_type.bits();
        let unused = 64 - n;
        let bits = match data_type.layout() {
            Layout::Int { signed: true, .. } if n < 8 => {
                ((bits << unused).cast_signed() >> unused).cast_unsigned() & 0xff
            }
            _ => bits << unused >> unused,
        };
        Self { data_type, bits }
    }

    /// The element that an integer is, if the type is an integer type that holds it.
    #[must_use]
    pub fn from_integer(data_type: DataType, value: i128) -> Option<Self> {
        let (min, max) = data_type.integer_range()?;
        // In range, so the low 64 bits are the two's complement form.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (min..=max)
            .contains(&value)
            .then(|| Self::from_bits(data_type, value as u64))
    }

    /// Reads an element of [`DataType::size`] native-endian bytes; bits that the type does not use are ignored.
    ///
    /// Bytes that are missing count as zeros.
    #[must_use]
    pub fn from_ne_bytes(data_type: DataType, bytes: &[u8]) -> Self {
        let size = data_type.size().min(bytes.len());
        let mut buffer = [0; 8];
        let at = if cfg!(target_endian = "big") {
            8 - size
        } else {
            0
        };
        buffer[at..at + size].copy_from_slice(&bytes[..size]);
        Self::from_bits(data_type, u64::from_ne_bytes(buffer))
    }

    /// Writes the element as [`DataType::size`] native-endian bytes to the front of `bytes`.
    pub fn write_ne_bytes(self, bytes: &mut [u8]) {
        let size = self.data_type.size();
        let buffer = self.bits.to_ne_bytes();
        let at = if cfg!(target_endian = "big") {
            8 - size
        } else {
            0
        };
        bytes[..size].copy_from_slice(&buffer[at..at + size]);
    }

    /// The type of the element.
    #[must_use]
    pub const fn data_type(self) -> DataType {
        self.data_type
    }

    /// The bits, zero-extended from the element's bytes in memory.
    ///
    /// Signed integers of less than 8 bits fill their byte with copies of the sign.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    pub(crate) fn number(self) -> Number {
        Number::unpack(self.data_type, self.bits)
    }

    /// The value of an integer element.
    #[must_use]
    pub fn integer(self) -> Option<i128> {
        match (self.data_type.layout(), self.number()) {
            (Layout::Int { .. }, Number::Finite(f)) => {
                let magnitude = i128::from(f.significand);
                Some(if f.negative { -magnitude } else { magnitude })
            }
            _ => None,
        }
    }

    /// The value as the nearest double; exact for all types but the 64-bit integers.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self.data_type {
            DataType::Float64 => return f64::from_bits(self.bits),
            // NaN payloads take the way of the hardware.
            #[expect(clippy::cast_possible_truncation)]
            DataType::Float32 => return f64::from(f32::from_bits(self.bits as u32)),
            _ => {}
        }
        match self.number() {
            // Doubles hold every integer up to 2^53; the conversion of a wider one rounds to nearest even.
            #[expect(clippy::cast_precision_loss)]
            Number::Finite(f) if f.exponent == 0 => {
                let magnitude = f.significand as f64;
                if f.negative { -magnitude } else { magnitude }
            }
            Number::Finite(f) => {
                #[expect(clippy::cast_precision_loss)]
                let significand = f.significand as f64;
                let magnitude = significand * 2_f64.powi(f.exponent);
                if f.negative { -magnitude } else { magnitude }
            }
            Number::Infinite { negative: false } => f64::INFINITY,
            Number::Infinite { negative: true } => f64::NEG_INFINITY,
            Number::Nan { negative, payload } => {
                f64::from_bits(u64::from(negative) << 63 | 0x7ff8_0000_0000_0000 | payload >> 12)
            }
        }
    }

    /// Whether the element is NaN.
    #[must_use]
    pub fn is_nan(self) -> bool {
        matches!(self.number(), Number::Nan { .. })
    }

    /// Whether the element is neither NaN nor an infinity.
    #[must_use]
    pub fn is_finite(self) -> bool {
        matches!(self.number(), Number::Finite(_))
    }

    /// Whether the element is an infinity.
    #[must_use]
    pub fn is_infinite(self) -> bool {
        matches!(self.number(), Number::Infinite { .. })
    }

    /// The element without its sign; `None` where the type does not hold that, as with the least of a signed integer type.
    #[must_use]
    pub fn magnitude(self) -> Option<Self> {
        match (self.integer(), self.number(), self.data_type.layout()) {
            (Some(integer), ..) => Self::from_integer(self.data_type, integer.abs()),
            (None, Number::Finite(_) | Number::Infinite { .. }, Layout::Float(format))
                if format.is_signed() =>
            {
                Some(Self::from_bits(
                    self.data_type,
                    self.bits & !format.sign_bit(),
                ))
            }
            _ => Some(self),
        }
    }

    /// Whether the element is a zero of either sign.
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(self.number(), Number::Finite(f) if f.significand == 0)
    }

    /// The scalar that stands for all that equal this one numerically: the NaN that `"NaN"` means, or the positive zero.
    pub(crate) fn representative(self) -> Self {
        if self.is_nan() {
            Self::nan(self.data_type)
        } else if self.is_zero() {
            Self::from_bits(self.data_type, 0)
        } else {
            self
        }
    }

    /// The place of a number among all of its type, 0 being that of zero: neighbours have neighbouring places. Both zeros
    /// have one place. Meaningless for NaN.
    pub(crate) fn ordinal(self) -> i128 {
        match self.data_type.layout() {
            Layout::Int { .. } => self.integer().unwrap_or_default(),
            Layout::Float(format) => {
                let sign = format.sign_bit();
                let magnitude = i128::from(self.bits & !sign);
                if self.bits & sign == 0 {
                    magnitude
                } else {
                    -magnitude
                }
            }
        }
    }

    /// The number at a place, which must be that of a number of the type.
    pub(crate) fn from_ordinal(data_type: DataType, ordinal: i128) -> Self {
        let Layout::Float(format) = data_type.layout() else {
            return Self::from_integer(data_type, ordinal).unwrap_or(Self::from_bits(data_type, 0));
        };
        let magnitude = u64::try_from(ordinal.unsigned_abs()).unwrap_or(u64::MAX);
        let sign = if ordinal < 0 { format.sign_bit() } else { 0 };
        Self::from_bits(data_type, sign | magnitude)
    }

    /// Numerical equality, across types too: any NaN equals any NaN, 0.0 equals -0.0.
    #[must_use]
    pub fn equals(self, other: Self) -> bool {
        self.number().equals(other.number())
    }

    /// Numerical order, across types too; `None` where a NaN takes part.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        self.number().compare(other.number())
    }

    /// The smallest and the largest finite element of a type.
    #[must_use]
    pub fn finite_range(data_type: DataType) -> (Self, Self) {
        (
            Self::end(data_type, Beyond::Low, false),
            Self::end(data_type, Beyond::High, false),
        )
    }

    /// The element at one end of the range: an infinity if one is asked for and exists, else the last finite one.
    pub(crate) fn end(data_type: DataType, side: Beyond, infinite: bool) -> Self {
        let bits = match data_type.layout() {
            Layout::Int { bits, signed } => match (side, signed) {
                (Beyond::Low, true) => 1 << (bits - 1),
                (Beyond::Low, false) => 0,
                (Beyond::High, true) => (1 << (bits - 1)) - 1,
                (Beyond::High, false) => u64::MAX >> (64 - bits),
            },
            Layout::Float(format) => {
                let magnitude = if infinite && format.has_infinity() {
                    format.infinity()
                } else {
                    format.max_finite()
                };
                match side {
                    Beyond::High => magnitude,
                    Beyond::Low if format.is_signed() => format.sign_bit() | magnitude,
                    // float8_e8m0fnu ends at its smallest positive number.
                    Beyond::Low => 0,
                }
            }
        };
        Self::from_bits(data_type, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_integers_carry_their_sign_in_memory() {
        let x = Scalar::from_ne_bytes(DataType::Int4, &[0x0f]);
        assert_eq!(x.integer(), Some(-1));
        assert_eq!(x.bits(), 0xff);
        let y = Scalar::from_ne_bytes(DataType::UInt2, &[0xfe]);
        assert_eq!(y.integer(), Some(2));
        let mut byte = [0; 1];
        x.write_ne_bytes(&mut byte);
        assert_eq!(byte, [0xff]);
    }

    #[test]
    fn bytes_read_back() {
        for t in DataType::ALL {
            let (low, high) = Scalar::finite_range(t);
            for x in [low, high] {
                let mut bytes = [0xaa; 8];
                x.write_ne_bytes(&mut bytes);
                assert_eq!(Scalar::from_ne_bytes(t, &bytes), x);
            }
            assert!(low.compare(high) == Some(Ordering::Less), "{t}");
        }
    }

    #[test]
    fn doubles() {
        let cases = [
            (DataType::Float8E8M0Fnu, 0, 2_f64.powi(-127)),
            (DataType::Float16, 0x3c01, 1.0009765625),
            (DataType::Int64, 1 << 63, -(2_f64.powi(63))),
            (DataType::BFloat16, 1, 2_f64.powi(-133)),
            (DataType::Float64, 1, 5e-324),
        ];
        for (t, bits, want) in cases {
            assert_eq!(Scalar::from_bits(t, bits).to_f64(), want);
        }
        assert!(
            Scalar::from_bits(DataType::Float16, 0x7e00)
                .to_f64()
                .is_nan()
        );
        let e4m3 = Scalar::finite_range(DataType::Float8E4M3).1;
        assert_eq!(e4m3.to_f64(), 240.0);
    }

    #[test]
    fn integers() {
        assert_eq!(Scalar::from_integer(DataType::UInt8, 256), None);
        assert_eq!(Scalar::from_integer(DataType::Float32, 1), None);
        let least = i128::from(i64::MIN);
        let x = Scalar::from_integer(DataType::Int64, least).unwrap();
        assert_eq!(x.integer(), Some(least));
    }
}
