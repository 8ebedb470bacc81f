//! Packing loses at most half a step, or a step, and what the arithmetic of the type itself loses.

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use zarrpack::transform::chain::Direction;
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
use zarrpack::transform::rounding::Rounding;
use zarrpack::transform::scalar::Scalar;

use crate::check;
use crate::fractions::Fraction;
use crate::inputs::{self, Dice};

/// The distance from a float's magnitude to the next larger one.
fn ulp(x: Scalar) -> Fraction {
    let t = x.data_type();
    let magnitude = x.bits() & (u64::MAX >> (65 - t.bits()));
    let magnitude = Scalar::from_bits(t, magnitude);
    let (_, largest) = Scalar::finite_range(t);
    // The largest finite value is as far from the one below it.
    let lower = if magnitude == largest {
        Scalar::from_bits(t, magnitude.bits() - 1)
    } else {
        magnitude
    };
    let upper = Scalar::from_bits(t, lower.bits() + 1);
    &Fraction::of(upper) - &Fraction::of(lower)
}

/// A whole number of the range of codes, anywhere in it or near its ends.
fn code(low: f64, high: f64, dice: &mut Dice) -> f64 {
    match dice.below(4) {
        0 => (dice.unit() - 0.5) * 200.0,
        1 => low + dice.unit() * 3.0,
        2 => high - dice.unit() * 3.0,
        _ => low + dice.unit() * (high - low),
    }
}

/// Encodes and decodes one value and holds the difference to the bound. `None` where it does not fit.
fn lossy(
    float: DataType,
    packed: DataType,
    rounding: Rounding,
    seed: u64,
) -> Option<TestCaseResult> {
    let dice = &mut Dice::new(seed);
    let parameter = |dice: &mut Dice| {
        let size = 10_f64.powf(dice.unit() * 8.0 - 4.0);
        let sign = dice.pick(&[1.0, -1.0]);
        inputs::nearest(float, dice.pick(&[sign * size, (sign * size).round()]))
    };
    let scale = parameter(dice).filter(|scale| scale.is_finite() && !scale.is_zero())?;
    let offset = parameter(dice).filter(|offset| offset.is_finite())?;
    let (low, high) = Scalar::finite_range(packed);
    let code = code(low.to_f64(), high.to_f64(), dice);
    let x = inputs::nearest(float, code / scale.to_f64() + offset.to_f64())?;
    let codecs = [
        Codec::ScaleOffset(ScaleOffsetParameters {
            offset: Some(inputs::literal(offset)),
            scale: Some(inputs::literal(scale)),
        }),
        Codec::CastValue(CastValueParameters {
            rounding,
            ..CastValueParameters::to(packed)
        }),
    ];
    let chain = inputs::chain(float, &codecs);
    let code = chain.transform(Direction::Encode, x).ok()?;
    let back = chain.transform(Direction::Decode, code).ok()?;
    let shifted = inputs::nearest(float, x.to_f64() - offset.to_f64())?;
    let widest = [x, offset, shifted].into_iter().map(ulp).max()?;
    let step = &Fraction::whole(1) / &Fraction::of(scale).abs();
    let step = match rounding {
        Rounding::NearestEven | Rounding::NearestAway => &step / &Fraction::whole(2),
        _ => step,
    };
    let bound = &step + &(&Fraction::whole(4) * &widest);
    let error = (&Fraction::of(back) - &Fraction::of(x)).abs();
    Some(if error <= bound {
        Ok(())
    } else {
        let what = format!("{x} by offset {offset}, scale {scale} is {code}, which is {back}");
        Err(TestCaseError::fail(what))
    })
}

#[test]
fn decode_after_encode_is_off_by_at_most_half_a_step() {
    for float in [DataType::Float16, DataType::Float32, DataType::Float64] {
        for packed in DataType::ALL.into_iter().filter(|t| t.is_integer()) {
            for rounding in Rounding::ALL {
                check(400, &any::<u64>(), |seed| {
                    lossy(float, packed, rounding, seed).unwrap_or(Ok(()))
                });
                let fits = |seed: &u64| lossy(float, packed, rounding, *seed).is_some();
                let tried = (0..100).filter(fits).count();
                assert!(
                    tried > 10,
                    "{float} to {packed}: only {tried} of 100 values fit"
                );
            }
        }
    }
}
