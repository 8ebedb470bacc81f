//! A second model of the types: exact fractions, and rounding by search among all values of a type.
//!
//! Nothing here looks at how the library rounds. Values of float types come from `half`, `microfloat` and the hardware.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

use num_bigint::{BigInt, Sign};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::rounding::Rounding;
use zarrpack::transform::scalar::Scalar;

/// A fraction, not in lowest terms; the denominator is positive.
#[derive(Clone, Debug)]
pub(crate) struct Fraction {
    numerator: BigInt,
    denominator: BigInt,
}

impl Fraction {
    pub(crate) fn new(numerator: BigInt, denominator: BigInt) -> Self {
        assert_ne!(denominator.sign(), Sign::NoSign);
        if denominator.sign() == Sign::Minus {
            return Self::new(-numerator, -denominator);
        }
        Self {
            numerator,
            denominator,
        }
    }

    pub(crate) fn whole(n: impl Into<BigInt>) -> Self {
        Self::new(n.into(), BigInt::from(1))
    }

    /// `n * 2^exponent`
    pub(crate) fn scaled(n: impl Into<BigInt>, exponent: i32) -> Self {
        let power = BigInt::from(1) << exponent.unsigned_abs();
        if exponent < 0 {
            Self::new(n.into(), power)
        } else {
            Self::whole(n.into() * power)
        }
    }

    pub(crate) fn of_double(x: f64) -> Self {
        assert!(x.is_finite());
        let bits = x.to_bits();
        let (field, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let magnitude = if field == 0 {
            Self::scaled(mantissa, -1074)
        } else {
            Self::scaled(mantissa + (1 << 52), field as i32 - 1075)
        };
        if x.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    }

    /// The value of a finite scalar.
    pub(crate) fn of(x: Scalar) -> Self {
        match x.data_type() {
            DataType::UInt64 => Self::whole(x.bits()),
            DataType::Int64 => Self::whole(x.bits() as i64),
            t if t.is_integer() => Self::whole(integer(t, x.bits())),
            t => Self::of_double(double(t, x.bits())),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.sign() == Sign::NoSign
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.numerator.sign() == Sign::Minus
    }

    pub(crate) fn abs(&self) -> Self {
        Self::new(
            self.numerator.magnitude().clone().into(),
            self.denominator.clone(),
        )
    }

    fn floor(&self) -> BigInt {
        let (quotient, rest) = (
            &self.numerator / &self.denominator,
            &self.numerator % &self.denominator,
        );
        if rest.sign() == Sign::Minus {
            quotient - 1
        } else {
            quotient
        }
    }

    /// The decimal digits of the value, all of them, if its denominator is a power of two.
    pub(crate) fn decimal(&self) -> String {
        let places = self.denominator.bits() - 1;
        assert_eq!(self.denominator, BigInt::from(1) << places);
        let digits =
            self.numerator.magnitude() * num_bigint::BigUint::from(5_u8).pow(places as u32);
        let sign = if self.is_negative() { "-" } else { "" };
        format!("{sign}{digits}e-{places}")
    }

    /// The value of a JSON number.
    pub(crate) fn of_decimal(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let places = mantissa
            .split_once('.')
            .map_or(0, |(_, fraction)| fraction.len() as i32);
        let numerator: BigInt = mantissa.replace('.', "").parse().unwrap();
        let exponent = exponent.parse::<i32>().unwrap() - places;
        let power = BigInt::from(10).pow(exponent.unsigned_abs());
        if exponent < 0 {
            Self::new(numerator, power)
        } else {
            Self::whole(numerator * power)
        }
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (
            &self.numerator * &other.denominator,
            &other.numerator * &self.denominator,
        );
        a.cmp(&b)
    }
}

impl Neg for Fraction {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.numerator, self.denominator)
    }
}

impl Add for &Fraction {
    type Output = Fraction;

    fn add(self, other: Self) -> Fraction {
        Fraction::new(
            &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Sub for &Fraction {
    type Output = Fraction;

    fn sub(self, other: Self) -> Fraction {
        self + &-other.clone()
    }
}

impl Mul for &Fraction {
    type Output = Fraction;

    fn mul(self, other: Self) -> Fraction {
        Fraction::new(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Div for &Fraction {
    type Output = Fraction;

    fn div(self, other: Self) -> Fraction {
        Fraction::new(
            &self.numerator * &other.denominator,
            &self.denominator * &other.numerator,
        )
    }
}

fn integer(t: DataType, bits: u64) -> i64 {
    use DataType::*;
    match t {
        Int2 => [0, 1, -2, -1][(bits & 3) as usize],
        Int4 => (bits & 15) as i64 - if bits & 8 == 0 { 0 } else { 16 },
        Int8 => i64::from(bits as i8),
        Int16 => i64::from(bits as i16),
        Int32 => i64::from(bits as i32),
        UInt2 => (bits & 3) as i64,
        UInt4 => (bits & 15) as i64,
        UInt8 | UInt16 | UInt32 => bits as i64,
        _ => panic!("{t} is not held by an i64"),
    }
}

/// The value of the bits of a float type.
pub(crate) fn double(t: DataType, bits: u64) -> f64 {
    use DataType::*;
    let byte = bits as u8;
    match t {
        Float4E2M1Fn => microfloat::f4e2m1fn::from_bits(byte).to_f64(),
        Float6E2M3Fn => microfloat::f6e2m3fn::from_bits(byte).to_f64(),
        Float6E3M2Fn => microfloat::f6e3m2fn::from_bits(byte).to_f64(),
        Float8E3M4 => microfloat::f8e3m4::from_bits(byte).to_f64(),
        Float8E4M3 => microfloat::f8e4m3::from_bits(byte).to_f64(),
        Float8E4M3B11Fnuz => microfloat::f8e4m3b11fnuz::from_bits(byte).to_f64(),
        Float8E4M3Fnuz => microfloat::f8e4m3fnuz::from_bits(byte).to_f64(),
        Float8E5M2 => microfloat::f8e5m2::from_bits(byte).to_f64(),
        Float8E5M2Fnuz => microfloat::f8e5m2fnuz::from_bits(byte).to_f64(),
        Float8E8M0Fnu => microfloat::f8e8m0fnu::from_bits(byte).to_f64(),
        BFloat16 => half::bf16::from_bits(bits as u16).to_f64(),
        Float16 => half::f16::from_bits(bits as u16).to_f64(),
        Float32 => f32::from_bits(bits as u32).into(),
        Float64 => f64::from_bits(bits),
        _ => panic!("{t} is no float type"),
    }
}

/// The codes of the positive finite values of a float type: from 0 to this one, in the order of values.
pub(crate) fn last_code(t: DataType) -> u64 {
    use DataType::*;
    match t {
        Float4E2M1Fn => 0x7,
        Float6E2M3Fn | Float6E3M2Fn => 0x1f,
        Float8E3M4 => 0x6f,
        Float8E4M3 => 0x77,
        Float8E5M2 => 0x7b,
        Float8E4M3B11Fnuz | Float8E4M3Fnuz | Float8E5M2Fnuz => 0x7f,
        Float8E8M0Fnu => 0xfe,
        BFloat16 => 0x7f7f,
        Float16 => 0x7bff,
        Float32 => 0x7f7f_ffff,
        Float64 => 0x7fef_ffff_ffff_ffff,
        _ => panic!("{t} is no float type"),
    }
}

/// The bit of the sign, in the types that have one.
pub(crate) fn sign_bit(t: DataType) -> u64 {
    match t {
        DataType::Float8E8M0Fnu => 0,
        _ => 1 << (t.bits() - 1),
    }
}

fn has_negative_zero(t: DataType) -> bool {
    use DataType::*;
    !matches!(
        t,
        Float8E4M3B11Fnuz | Float8E4M3Fnuz | Float8E5M2Fnuz | Float8E8M0Fnu
    )
}

/// A fraction after rounding to a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Rounded {
    Fits(Scalar),
    /// Rounded to a whole number, for an integer type.
    Low(Option<BigInt>),
    High(Option<BigInt>),
}

/// Rounds to a type. `negative` is the sign of a zero that went in.
pub(crate) fn round(x: &Fraction, negative: bool, t: DataType, rounding: Rounding) -> Rounded {
    if t.is_integer() {
        return round_to_integer(x, t, rounding);
    }
    let negative = negative || x.is_negative();
    let magnitude = x.abs();
    let value = |code| Fraction::of_double(double(t, code));
    let beyond = || {
        if negative {
            Rounded::Low(None)
        } else {
            Rounded::High(None)
        }
    };
    if t == DataType::Float8E8M0Fnu {
        // Negative numbers and zero have no neighbours; below 2^-127 the spacing goes on as if there were more powers.
        let half_of_least = Fraction::scaled(1, -128);
        if negative || magnitude <= half_of_least {
            return Rounded::Low(None);
        }
        if magnitude < value(0) {
            let up = goes_up(&half_of_least, &magnitude, &value(0), false, true, rounding);
            return if up {
                Rounded::Fits(Scalar::from_bits(t, 0))
            } else {
                Rounded::Low(None)
            };
        }
    }
    // The last code whose value is not above.
    let (mut low, mut high) = (0, last_code(t) + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle) <= magnitude {
            low = middle;
        } else {
            high = middle;
        }
    }
    let below = value(low);
    let above = if low < last_code(t) {
        value(low + 1)
    } else if t == DataType::Float8E8M0Fnu {
        &below + &below
    } else {
        &(&below + &below) - &value(low - 1)
    };
    let code = if magnitude == below {
        low
    } else if magnitude >= above {
        return beyond();
    } else {
        let odd = low % 2 == 1 || t == DataType::Float8E8M0Fnu;
        low + u64::from(goes_up(&below, &magnitude, &above, negative, odd, rounding))
    };
    if code > last_code(t) {
        return beyond();
    }
    let sign = if negative && (code != 0 || has_negative_zero(t)) {
        sign_bit(t)
    } else {
        0
    };
    Rounded::Fits(Scalar::from_bits(t, sign | code))
}

/// Whether a magnitude strictly between two neighbours goes to the upper one. `odd` speaks of the lower one.
fn goes_up(
    below: &Fraction,
    x: &Fraction,
    above: &Fraction,
    negative: bool,
    odd: bool,
    rounding: Rounding,
) -> bool {
    match rounding {
        Rounding::TowardsZero => false,
        Rounding::TowardsPositive => !negative,
        Rounding::TowardsNegative => negative,
        Rounding::NearestEven | Rounding::NearestAway => match (x + x).cmp(&(below + above)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => odd || rounding == Rounding::NearestAway,
        },
    }
}

fn round_to_integer(x: &Fraction, t: DataType, rounding: Rounding) -> Rounded {
    let floor = x.floor();
    let (below, above) = (Fraction::whole(floor.clone()), Fraction::whole(&floor + 1));
    let whole = if *x == below {
        floor
    } else {
        let up = match (rounding, x.is_negative()) {
            (Rounding::TowardsPositive, _) | (Rounding::TowardsZero, true) => true,
            (Rounding::TowardsNegative, _) | (Rounding::TowardsZero, false) => false,
            (_, negative) => match (x + x).cmp(&(&below + &above)) {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal if rounding == Rounding::NearestAway => !negative,
                Ordering::Equal => floor.bit(0),
            },
        };
        floor + i32::from(up)
    };
    let (low, high) = Scalar::finite_range(t);
    let (low, high) = (low.integer().unwrap(), high.integer().unwrap());
    match i128::try_from(&whole) {
        Ok(value) if (low..=high).contains(&value) => {
            Rounded::Fits(Scalar::from_integer(t, value).unwrap())
        }
        _ if whole.sign() == Sign::Minus => Rounded::Low(Some(whole)),
        _ => Rounded::High(Some(whole)),
    }
}
