//! The definitions against exact fractions: every pair of types for `cast_value`, every type for `scale_offset`.

use num_bigint::BigInt;
use proptest::prelude::*;
use zarrpack::transform::cast_value::cast;
use zarrpack::transform::chain::Direction;
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::rounding::{OutOfRange, Rounding};
use zarrpack::transform::scalar::Scalar;
use zarrpack::transform::scale_offset::ScaleOffset;

use crate::check;
use crate::fractions::{Fraction, Rounded, double, last_code, round, sign_bit};
use crate::inputs::{self, Dice};

/// What a float scalar is, by the model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Class {
    Finite,
    Infinite { negative: bool },
    Nan,
}

fn classify(x: Scalar) -> Class {
    if x.data_type().is_integer() {
        return Class::Finite;
    }
    match double(x.data_type(), x.bits()) {
        x if x.is_nan() => Class::Nan,
        x if x.is_infinite() => Class::Infinite { negative: x < 0.0 },
        _ => Class::Finite,
    }
}

fn is_negative(x: Scalar) -> bool {
    x.data_type().is_float() && double(x.data_type(), x.bits()).is_sign_negative()
}

/// An integer modulo 2^N.
fn wrap(whole: &BigInt, t: DataType) -> Scalar {
    let modulus = BigInt::from(1) << t.bits();
    let rest = ((whole % &modulus) + &modulus) % &modulus;
    Scalar::from_bits(t, u64::try_from(rest).unwrap())
}

/// What a cast should give; `None` for an error. NaNs stand for all NaNs.
fn expected_cast(
    x: Scalar,
    target: DataType,
    rounding: Rounding,
    out_of_range: Option<OutOfRange>,
) -> Option<Scalar> {
    let infinity = |negative| {
        let sign = if negative { sign_bit(target) } else { 0 };
        let infinity = Scalar::from_bits(target, sign | (last_code(target) + 1));
        infinity.is_infinite().then_some(infinity)
    };
    match classify(x) {
        Class::Nan if target.has_nan() => Some(inputs::nan(target)),
        Class::Nan => None,
        Class::Infinite { .. } if target.is_integer() => None,
        Class::Infinite { negative } => infinity(negative),
        Class::Finite => {
            let (low, high) = Scalar::finite_range(target);
            let rounded = round(&Fraction::of(x), is_negative(x), target, rounding);
            match (rounded, out_of_range) {
                (Rounded::Fits(x), _) => Some(x),
                (_, None) => None,
                (
                    Rounded::Low(Some(whole)) | Rounded::High(Some(whole)),
                    Some(OutOfRange::Wrap),
                ) => Some(wrap(&whole, target)),
                (_, Some(OutOfRange::Wrap)) => None,
                (Rounded::Low(_), _) if target.is_float() => Some(
                    infinity(true)
                        .filter(|_| sign_bit(target) != 0)
                        .unwrap_or(low),
                ),
                (Rounded::High(_), _) if target.is_float() => Some(infinity(false).unwrap_or(high)),
                (Rounded::Low(_), _) => Some(low),
                (Rounded::High(_), _) => Some(high),
            }
        }
    }
}

/// A scalar of `from` at, next to or half way between values of `to`.
fn near(from: DataType, to: DataType, dice: &mut Dice) -> Scalar {
    if dice.one_in(3) {
        return inputs::scalar(from, dice);
    }
    let a = inputs::scalar(to, dice);
    let b = Scalar::from_bits(to, a.bits().wrapping_add(1));
    let middle = dice.pick(&[a.to_f64(), a.to_f64() / 2.0 + b.to_f64() / 2.0]);
    match inputs::nearest(from, middle) {
        Some(x) => inputs::nudged(x, dice),
        None => inputs::scalar(from, dice),
    }
}

fn same(a: Option<Scalar>, b: Option<Scalar>) -> bool {
    a == b || a.is_some_and(Scalar::is_nan) && b.is_some_and(Scalar::is_nan)
}

fn casts(from: impl Fn(&DataType) -> bool) {
    for from in DataType::ALL.into_iter().filter(from) {
        for to in DataType::ALL {
            check(160, &any::<u64>(), |seed| {
                let dice = &mut Dice::new(seed);
                let x = near(from, to, dice);
                for rounding in Rounding::ALL {
                    for range in [None, Some(OutOfRange::Clamp), Some(OutOfRange::Wrap)] {
                        let got = cast(x, to, rounding, range).ok();
                        let want = expected_cast(x, to, rounding, range);
                        prop_assert!(
                            same(got, want),
                            "{x:?} to {to}, {rounding}, {range:?}: {got:?}, not {want:?}"
                        );
                    }
                }
                Ok(())
            });
        }
    }
}

#[test]
fn casts_from_integers_round_once() {
    casts(|t| t.is_integer());
}

#[test]
fn casts_from_floats_round_once() {
    casts(|t| t.is_float());
}

#[test]
fn casts_of_all_narrow_codes_round_once() {
    use DataType::*;
    let narrow = DataType::ALL.into_iter().filter(|t| t.bits() <= 8);
    for from in narrow.chain([Float16, BFloat16]) {
        // All codes of 8 bits, and a sample of those of 16.
        let step = if from.bits() > 8 { 251 } else { 1 };
        for to in DataType::ALL.into_iter().filter(|t| t.bits() <= 16) {
            for code in (0..1_u64 << from.bits()).step_by(step) {
                let x = Scalar::from_bits(from, code);
                let rounding = Rounding::ALL[(code % 5) as usize];
                let got = cast(x, to, rounding, Some(OutOfRange::Clamp)).ok();
                let want = expected_cast(x, to, rounding, Some(OutOfRange::Clamp));
                assert!(
                    same(got, want),
                    "{x:?} to {to}, {rounding}: {got:?}, not {want:?}"
                );
            }
        }
    }
}

/// A finite number as a step of `scale_offset` leaves it, with the sign that a zero has.
#[derive(Clone)]
struct Exact {
    value: Fraction,
    negative: bool,
}

impl Exact {
    fn of(x: Scalar) -> Self {
        let value = Fraction::of(x);
        let negative = is_negative(x) || value.is_negative();
        Self { value, negative }
    }

    fn sum(self, other: Self) -> Self {
        let value = &self.value + &other.value;
        let negative = if value.is_zero() {
            // Only zeros that are both negative add up to a negative zero.
            self.value.is_zero() && self.negative && other.negative
        } else {
            value.is_negative()
        };
        Self { value, negative }
    }

    fn negated(self) -> Self {
        Self {
            value: -self.value,
            negative: !self.negative,
        }
    }

    fn product(self, other: Self) -> Self {
        Self {
            value: &self.value * &other.value,
            negative: self.negative != other.negative,
        }
    }

    fn quotient(self, other: Self) -> Self {
        Self {
            value: &self.value / &other.value,
            negative: self.negative != other.negative,
        }
    }

    /// To the type that steps are rounded to: nearest even for a float, not at all for an integer.
    fn rounded(self, t: DataType) -> Option<Self> {
        match round(&self.value, self.negative, t, Rounding::NearestEven) {
            Rounded::Fits(x) if t.is_float() || Fraction::of(x) == self.value => Some(Self::of(x)),
            _ => None,
        }
    }
}

/// Both steps of one direction on a finite number; `None` for an error.
fn expected_steps(codec: &ScaleOffset, direction: Direction, x: Scalar) -> Option<Exact> {
    let t = codec.data_type;
    // float8_e8m0fnu has no zero to stand for an absent offset.
    let nothing = Exact {
        value: Fraction::whole(0),
        negative: false,
    };
    let offset = codec.offset.map_or(nothing, Exact::of);
    let scale = codec.scale.map_or(
        Exact {
            value: Fraction::whole(1),
            negative: false,
        },
        Exact::of,
    );
    let x = Exact::of(x);
    match direction {
        Direction::Encode => x
            .sum(offset.negated())
            .rounded(t)?
            .product(scale)
            .rounded(t),
        Direction::Decode => x.quotient(scale).rounded(t)?.sum(offset).rounded(t),
    }
}

fn expected_scale_offset(codec: &ScaleOffset, direction: Direction, x: Scalar) -> Option<Scalar> {
    let t = codec.data_type;
    match classify(x) {
        Class::Nan => Some(x),
        Class::Infinite { negative } => {
            let flips = codec.scale.is_some_and(is_negative);
            let sign = if negative != flips { sign_bit(t) } else { 0 };
            Some(Scalar::from_bits(t, sign | (last_code(t) + 1)))
        }
        Class::Finite => {
            let result = expected_steps(codec, direction, x)?;
            match round(&result.value, result.negative, t, Rounding::NearestEven) {
                Rounded::Fits(x) => Some(x),
                _ => None,
            }
        }
    }
}

#[test]
fn scale_offset_rounds_every_step_once() {
    for t in DataType::ALL {
        check(2000, &any::<u64>(), |seed| {
            let dice = &mut Dice::new(seed);
            let codec = ScaleOffset {
                data_type: t,
                offset: (!dice.one_in(5)).then(|| inputs::offset(t, dice)),
                scale: (!dice.one_in(5)).then(|| inputs::scale(t, dice)),
            };
            for direction in [Direction::Encode, Direction::Decode] {
                let x = if dice.one_in(2) {
                    inputs::ordinary(t, dice)
                } else {
                    inputs::scalar(t, dice)
                };
                let got = match direction {
                    Direction::Encode => codec.encode(x).ok(),
                    Direction::Decode => codec.decode(x).ok(),
                };
                let want = expected_scale_offset(&codec, direction, x);
                prop_assert!(
                    same(got, want),
                    "{codec:?} {direction:?} {x:?}: {got:?}, not {want:?}"
                );
            }
            Ok(())
        });
    }
}
