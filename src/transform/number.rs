//! Exact numbers behind the bits of every type: unpacking, and packing with one rounding.

use std::cmp::Ordering;

use super::data_type::{DataType, FloatFormat, Layout, Specials};
use super::rounding::Rounding;

/// A finite number, `±significand * 2^exponent`. Every finite value of every type is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finite {
    pub(crate) negative: bool,
    pub(crate) significand: u64,
    pub(crate) exponent: i32,
}

/// What the bits of an element stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// Not a number. The payload is the mantissa, moved to the top of 64 bits.
    Nan {
        negative: bool,
        payload: u64,
    },
    Infinite {
        negative: bool,
    },
    Finite(Finite),
}

/// The side on which a number falls out of a type's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beyond {
    Low,
    High,
}

/// A number after rounding to a type: its bits, as many as the type has, or the side it fell out on.
///
/// `wrapped` is the rounded number modulo 2^N for an integer type of N bits, 0 for a float type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounded {
    Fits(u64),
    Beyond { side: Beyond, wrapped: u64 },
}

impl Number {
    /// Reads the low bits of `bits` as an element of `data_type`.
    pub(crate) fn unpack(data_type: DataType, bits: u64) -> Self {
        match data_type.layout() {
            Layout::Int { bits: n, signed } => {
                let unused = 64 - n;
                let (negative, significand) = if signed {
                    let value = (bits << unused).cast_signed() >> unused;
                    (value < 0, value.unsigned_abs())
                } else {
                    (false, bits << unused >> unused)
                };
                Self::Finite(Finite {
                    negative,
                    significand,
                    exponent: 0,
                })
            }
            Layout::Float(format) => Self::unpack_float(format, bits),
        }
    }

    fn unpack_float(format: FloatFormat, bits: u64) -> Self {
        let negative = bits & format.sign_bit() != 0;
        let exponent = bits >> format.mantissa_bits & format.exponent_mask();
        let mantissa = bits & format.mantissa_mask();
        let topmost = exponent == format.exponent_mask();
        match format.specials {
            Specials::Ieee if topmost && mantissa == 0 => return Self::Infinite { negative },
            Specials::Ieee if topmost => {
                let payload = mantissa << (64 - format.mantissa_bits);
                return Self::Nan { negative, payload };
            }
            Specials::NanForNegativeZero if negative && exponent == 0 && mantissa == 0 => {
                return Self::nan();
            }
            Specials::PowersOfTwo if topmost => return Self::nan(),
            _ => {}
        }
        let normal = exponent != 0 || !format.has_zero();
        let significand = if normal {
            mantissa | 1 << format.mantissa_bits
        } else {
            mantissa
        };
        // The exponent field has at most 11 bits.
        let stored = i32::try_from(exponent).unwrap_or(i32::MAX);
        let unbiased = if normal {
            stored - format.bias
        } else {
            format.min_exponent()
        };
        Self::Finite(Finite {
            negative,
            significand,
            exponent: unbiased - format.mantissa_bits.cast_signed(),
        })
    }

    /// The NaN that `"NaN"` stands for.
    pub(crate) const fn nan() -> Self {
        Self::Nan {
            negative: false,
            payload: 1 << 63,
        }
    }

    /// Numerical equality: any NaN equals any NaN, 0.0 equals -0.0.
    pub(crate) fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Nan { .. }, Self::Nan { .. }) => true,
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }

    /// Numerical order; `None` where a NaN takes part.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        let rank = |n: Self| match n {
            Self::Nan { .. } => None,
            Self::Infinite { negative: true } => Some(-2),
            Self::Infinite { negative: false } => Some(2),
            Self::Finite(f) if f.significand == 0 => Some(0),
            Self::Finite(f) => Some(if f.negative { -1 } else { 1 }),
        };
        let (a, b) = (rank(self)?, rank(other)?);
        Some(a.cmp(&b).then_with(|| match (self, other) {
            (Self::Finite(a), Self::Finite(b)) if a.significand != 0 => {
                let magnitude = a.compare_magnitude(b);
                if a.negative {
                    magnitude.reverse()
                } else {
                    magnitude
                }
            }
            _ => Ordering::Equal,
        }))
    }
}

impl Finite {
    /// Compares two nonzero magnitudes.
    fn compare_magnitude(self, other: Self) -> Ordering {
        let normalise = |f: Self| {
            let shift = f.significand.leading_zeros();
            (f.exponent - shift.cast_signed(), f.significand << shift)
        };
        normalise(self).cmp(&normalise(other))
    }

    /// Rounds to `data_type`, with an unbounded exponent for float types, and tests the range after that.
    pub(crate) fn round_to(self, data_type: DataType, rounding: Rounding) -> Rounded {
        match data_type.layout() {
            Layout::Int { bits, signed } => self.round_to_integer(bits, signed, rounding),
            Layout::Float(format) => self.round_to_float(format, rounding),
        }
    }

    fn round_to_integer(self, bits: u32, signed: bool, rounding: Rounding) -> Rounded {
        let mask = u64::MAX >> (64 - bits);
        // `magnitude` is None from 2^64 on, where no type reaches.
        let (magnitude, low) = if self.exponent >= 0 {
            let shift = self.exponent.unsigned_abs();
            let lost = shift > self.significand.leading_zeros() && self.significand != 0;
            let low = self.significand.checked_shl(shift).unwrap_or(0);
            ((!lost).then_some(low), low)
        } else {
            let shift = self.exponent.unsigned_abs();
            let rounded = shift_right(self.significand, shift, self.negative, rounding);
            (Some(rounded), rounded)
        };
        let negative = self.negative && magnitude != Some(0);
        let limit = match (signed, negative) {
            (false, false) => mask,
            (false, true) => 0,
            (true, false) => mask >> 1,
            (true, true) => (mask >> 1) + 1,
        };
        let wrapped = if negative { low.wrapping_neg() } else { low } & mask;
        if magnitude.is_some_and(|m| m <= limit) {
            return Rounded::Fits(wrapped);
        }
        Rounded::Beyond {
            side: if negative { Beyond::Low } else { Beyond::High },
            wrapped,
        }
    }

    fn round_to_float(self, format: FloatFormat, rounding: Rounding) -> Rounded {
        let beyond = |side| Rounded::Beyond { side, wrapped: 0 };
        let sign = if self.negative { format.sign_bit() } else { 0 };
        let zero = if format.has_negative_zero() { sign } else { 0 };
        if self.significand == 0 {
            return if format.has_zero() {
                Rounded::Fits(zero)
            } else {
                beyond(Beyond::Low)
            };
        }
        if self.negative && !format.is_signed() {
            return beyond(Beyond::Low);
        }
        let mantissa_bits = format.mantissa_bits.cast_signed();
        let top = self.exponent + 63 - self.significand.leading_zeros().cast_signed();
        // The weight of the last mantissa bit: fixed below the smallest normal number, where a format has a zero to
        // round to. One without has no subnormal numbers either.
        let leading = if format.has_zero() {
            top.max(format.min_exponent())
        } else {
            top
        };
        let mut unit = leading - mantissa_bits;
        let shift = self.exponent - unit;
        let mut mantissa = if shift >= 0 {
            self.significand << shift
        } else {
            shift_right(
                self.significand,
                shift.unsigned_abs(),
                self.negative,
                rounding,
            )
        };
        if mantissa >> (format.mantissa_bits + 1) != 0 {
            mantissa >>= 1;
            unit += 1;
        }
        if mantissa == 0 {
            return Rounded::Fits(zero);
        }
        if !format.has_zero() && unit < format.min_exponent() {
            return beyond(Beyond::Low);
        }
        let hidden = 1 << format.mantissa_bits;
        let magnitude = if mantissa < hidden {
            mantissa
        } else {
            let biased = unit + mantissa_bits + format.bias;
            u64::from(biased.unsigned_abs()) << format.mantissa_bits | (mantissa - hidden)
        };
        if magnitude <= format.max_finite() {
            return Rounded::Fits(sign | magnitude);
        }
        beyond(if self.negative {
            Beyond::Low
        } else {
            Beyond::High
        })
    }
}

/// `value / 2^shift` for `shift >= 1`, rounded to a whole number.
fn shift_right(value: u64, shift: u32, negative: bool, rounding: Rounding) -> u64 {
    // 2^shift as a 128-bit number; from 2^66 on every quotient is below one quarter.
    let unit = 1_u128 << shift.min(66);
    let (whole, rest) = (u128::from(value) / unit, u128::from(value) % unit);
    // whole < 2^63, since shift is at least 1.
    #[expect(clippy::cast_possible_truncation)]
    let whole = whole as u64;
    if rest == 0 {
        return whole;
    }
    let up = match (rounding, (rest * 2).cmp(&unit)) {
        (Rounding::NearestEven | Rounding::NearestAway, Ordering::Less) => false,
        (Rounding::NearestEven | Rounding::NearestAway, Ordering::Greater) => true,
        (Rounding::NearestEven, Ordering::Equal) => whole % 2 == 1,
        (Rounding::NearestAway, Ordering::Equal) => true,
        (Rounding::TowardsZero, _) => false,
        (Rounding::TowardsPositive, _) => !negative,
        (Rounding::TowardsNegative, _) => negative,
    };
    whole + u64::from(up)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finite(negative: bool, significand: u64, exponent: i32) -> Finite {
        Finite {
            negative,
            significand,
            exponent,
        }
    }

    #[test]
    fn every_code_of_the_narrow_types_packs_back() {
        for t in DataType::ALL.into_iter().filter(|t| t.bits() <= 16) {
            for code in 0..1_u64 << t.bits() {
                if let Number::Finite(f) = Number::unpack(t, code) {
                    let Rounded::Fits(back) = f.round_to(t, Rounding::TowardsZero) else {
                        panic!("{t} {code:#x} does not fit itself");
                    };
                    let mask = u64::MAX >> (64 - t.bits());
                    assert_eq!(back & mask, code, "{t}");
                }
            }
        }
    }

    #[test]
    fn half_and_microfloat_agree_on_the_layouts() {
        for code in 0..=u16::MAX {
            let f16 = f64::from(half::f16::from_bits(code)).to_bits();
            let bf16 = f64::from(half::bf16::from_bits(code)).to_bits();
            for (t, want) in [(DataType::Float16, f16), (DataType::BFloat16, bf16)] {
                let ours = Number::unpack(t, u64::from(code));
                assert!(ours.equals(Number::unpack(DataType::Float64, want)));
            }
        }
        macro_rules! check {
            ($($variant:ident $theirs:ident;)*) => {$(
                for code in 0..1_u64 << DataType::$variant.bits() {
                    let want = microfloat::$theirs::from_bits(code as u8).to_f64();
                    let ours = Number::unpack(DataType::$variant, code);
                    let want = Number::unpack(DataType::Float64, want.to_bits());
                    assert!(ours.equals(want), "{} {code:#x}", DataType::$variant);
                }
            )*};
        }
        check! {
            Float4E2M1Fn f4e2m1fn;
            Float6E2M3Fn f6e2m3fn;
            Float6E3M2Fn f6e3m2fn;
            Float8E3M4 f8e3m4;
            Float8E4M3 f8e4m3;
            Float8E4M3B11Fnuz f8e4m3b11fnuz;
            Float8E4M3Fnuz f8e4m3fnuz;
            Float8E5M2 f8e5m2;
            Float8E5M2Fnuz f8e5m2fnuz;
            Float8E8M0Fnu f8e8m0fnu;
        }
    }

    #[test]
    fn ties_and_directions() {
        use Rounding::*;
        let cases = [
            (NearestEven, 2, 2),
            (NearestAway, 3, 3),
            (TowardsZero, 2, 2),
            (TowardsPositive, 3, 2),
            (TowardsNegative, 2, 3),
        ];
        for (mode, positive, negative) in cases {
            // ±2.5
            assert_eq!(shift_right(5, 1, false, mode), positive, "{mode:?}");
            let expected = if mode == NearestAway { 3 } else { negative };
            assert_eq!(shift_right(5, 1, true, mode), expected, "{mode:?}");
        }
        assert_eq!(shift_right(u64::MAX, 64, false, NearestEven), 1);
        assert_eq!(shift_right(1 << 63, 64, false, NearestEven), 0);
        assert_eq!(shift_right(1 << 63, 64, false, NearestAway), 1);
        assert_eq!(shift_right(u64::MAX, 65, false, NearestEven), 0);
        assert_eq!(shift_right(1, 2000, false, TowardsPositive), 1);
    }

    #[test]
    fn the_edges_of_the_widest_integers() {
        let round = |f: Finite, t| f.round_to(t, Rounding::NearestEven);
        let most = finite(true, 1, 63);
        assert_eq!(round(most, DataType::Int64), Rounded::Fits(1 << 63));
        let beyond = Rounded::Beyond {
            side: Beyond::High,
            wrapped: 0,
        };
        assert_eq!(round(finite(false, 1, 64), DataType::UInt64), beyond);
        assert_eq!(round(finite(false, 1, 1000), DataType::UInt64), beyond);
        let fits = Rounded::Fits(u64::MAX);
        assert_eq!(round(finite(false, u64::MAX, 0), DataType::UInt64), fits);
        let none = Rounded::Fits(0);
        assert_eq!(round(finite(true, 1, -2), DataType::UInt8), none);
    }

    #[test]
    fn order() {
        let one = Number::Finite(finite(false, 1, 0));
        let same = Number::Finite(finite(false, 4, -2));
        let less = Number::Finite(finite(true, 1, 100));
        let zero = Number::Finite(finite(true, 0, 3));
        let infinity = Number::Infinite { negative: false };
        assert_eq!(one.compare(same), Some(Ordering::Equal));
        assert_eq!(less.compare(one), Some(Ordering::Less));
        assert_eq!(
            zero.compare(Number::Finite(finite(false, 0, 0))),
            Some(Ordering::Equal)
        );
        assert_eq!(zero.compare(less), Some(Ordering::Greater));
        assert_eq!(infinity.compare(one), Some(Ordering::Greater));
        assert_eq!(Number::nan().compare(one), None);
        assert!(Number::nan().equals(Number::Nan {
            negative: true,
            payload: 3
        }));
    }
}
