//! What each stage of a chain can hold: the ends of its range, and the distance of neighbouring values.
//!
//! Both are carried from the stored values back to the array, without the maps, which stand for single values. They describe a
//! chain to people; whether a value can be encoded is for the codecs to say.

use std::cmp::Ordering;

use super::cast_value::{CastValue, cast};
use super::chain::{BoundChain, BoundCodec};
use super::data_type::DataType;
use super::fault::FaultKind;
use super::legacy::{FixedScaleOffset, Parameter};
use super::scalar::Scalar;
use super::scale_offset::ScaleOffset;

/// The values that a stage of a chain can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The smallest.
    pub low: Scalar,
    /// The largest.
    pub high: Scalar,
    /// The distance of neighbours, where it is the same everywhere: nominally, before the rounding of the type.
    pub step: Option<Scalar>,
}

impl Extent {
    /// All finite values of a type.
    #[must_use]
    pub fn of(data_type: DataType) -> Self {
        let (low, high) = Scalar::finite_range(data_type);
        let step = Scalar::from_integer(data_type, 1);
        Self { low, high, step }
    }

    /// Puts the ends in order; `None` where one is not finite.
    fn between(a: Scalar, b: Scalar, step: Option<Scalar>) -> Option<Self> {
        if !a.is_finite() || !b.is_finite() {
            return None;
        }
        let (low, high) = if a.compare(b)?.is_le() {
            (a, b)
        } else {
            (b, a)
        };
        Some(Self { low, high, step })
    }
}

impl BoundChain {
    /// What the array and each codec after it can hold, in the order of encoding, given what the codecs behind the chain can
    /// hold. It is `None` from the stage on, towards the array, that no plain range describes.
    #[must_use]
    pub fn extents(&self, stored: Extent) -> Vec<Option<Extent>> {
        let mut extents = vec![Some(stored)];
        let mut current = Some(stored);
        for codec in self.codecs().iter().rev() {
            current = current.and_then(|after| codec.extent_before(after));
            extents.push(current);
        }
        extents.reverse();
        extents
    }
}

impl BoundCodec {
    /// What can enter the codec, given what may leave it.
    fn extent_before(&self, after: Extent) -> Option<Extent> {
        match self {
            Self::ScaleOffset(codec) if codec.data_type.is_integer() => {
                scaled_integers(codec, after)
            }
            Self::ScaleOffset(codec) => scaled_floats(codec, after),
            Self::CastValue(codec) => uncast(codec, after),
            Self::FixedScaleOffset(codec) => legacy(codec, after),
        }
    }
}

/// The float values that scaling brings into the range. Where unscaling an end leaves the type, the end of the type is the last
/// value that can be scaled.
fn scaled_floats(codec: &ScaleOffset, after: Extent) -> Option<Extent> {
    let negative = codec.scale.is_some_and(is_negative);
    let (least, most) = Scalar::finite_range(codec.data_type);
    let unscale = |value, limit| match codec.decode(value) {
        Ok(value) => Some(value),
        Err(fault) if fault.kind == FaultKind::Overflow => Some(limit),
        Err(_) => None,
    };
    let (low, high) = if negative {
        (unscale(after.low, most)?, unscale(after.high, least)?)
    } else {
        (unscale(after.low, least)?, unscale(after.high, most)?)
    };
    let scale_alone = ScaleOffset {
        offset: None,
        ..*codec
    };
    let step = after.step.and_then(|step| scale_alone.decode(step).ok());
    Extent::between(low, high, positive(step))
}

/// The integers whose scaled form lies in the range. Codes between the multiples of the scale come from no integer.
fn scaled_integers(codec: &ScaleOffset, after: Extent) -> Option<Extent> {
    let parameter = |scalar: Option<Scalar>, absent| match scalar {
        Some(scalar) => scalar.integer(),
        None => Some(absent),
    };
    let (offset, scale) = (parameter(codec.offset, 0)?, parameter(codec.scale, 1)?);
    if scale == 0 {
        return None;
    }
    let (low, high) = (after.low.integer()?, after.high.integer()?);
    let (low, high) = if scale < 0 {
        (-high, -low)
    } else {
        (low, high)
    };
    let divisor = scale.abs();
    // The range of any type divides without leaving 128 bits, and so does the sum with an offset.
    let first = -(-low).div_euclid(divisor) + offset;
    let last = high.div_euclid(divisor) + offset;
    let (least, most) = codec.data_type.integer_range()?;
    let (first, last) = (first.max(least), last.min(most));
    if first > last {
        return None;
    }
    let of = |value| Scalar::from_integer(codec.data_type, value);
    let step = after.step.and_then(Scalar::integer);
    let step = step.and_then(|step| of(step / greatest_common_divisor(step, divisor)));
    Extent::between(of(first)?, of(last)?, step)
}

/// The values of the incoming type that lie in the range; rounded where an end is none of them.
fn uncast(codec: &CastValue, after: Extent) -> Option<Extent> {
    let (least, most) = Scalar::finite_range(codec.incoming);
    let into = |value: Scalar| match cast(value, codec.incoming, codec.rounding, None) {
        Ok(value) => Some(value),
        Err(_) if value.compare(most) == Some(Ordering::Greater) => Some(most),
        Err(_) if value.compare(least) == Some(Ordering::Less) => Some(least),
        Err(_) => None,
    };
    let step = after.step.and_then(|step| {
        let rounding = codec.rounding;
        cast(step, codec.incoming, rounding, None).ok()
    });
    Extent::between(into(after.low)?, into(after.high)?, positive(step))
}

/// What the ends decode to. Decoding into integers truncates, which leaves no two of them closer than 1.
fn legacy(codec: &FixedScaleOffset, after: Extent) -> Option<Extent> {
    let (a, b) = (
        codec.decode(after.low).ok()?,
        codec.decode(after.high).ok()?,
    );
    let scale_alone = FixedScaleOffset {
        offset: Parameter::Float(0.0),
        ..*codec
    };
    let step = after.step.and_then(|step| {
        let step = scale_alone.decode(step).ok()?;
        if step.is_zero() {
            Scalar::from_integer(codec.decoded, 1)
        } else {
            Some(step)
        }
    });
    Extent::between(a, b, positive(step))
}

fn is_negative(scalar: Scalar) -> bool {
    scalar.to_f64().is_sign_negative()
}

/// A step without its sign, which that of the scale gave it; `None` where the type rounds it to nothing, or beyond itself.
fn positive(step: Option<Scalar>) -> Option<Scalar> {
    step.and_then(Scalar::magnitude)
        .filter(|step| step.is_finite() && !step.is_zero())
}

fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::super::chain::bind;
    use super::super::literal::Literal;
    use super::super::parameters::{
        CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
    };
    use super::*;
    use DataType::*;

    fn number(text: &str) -> Option<Literal> {
        (!text.is_empty()).then(|| Literal::Number(text.to_owned()))
    }

    fn scale_offset(offset: &str, scale: &str) -> Codec {
        Codec::ScaleOffset(ScaleOffsetParameters {
            offset: number(offset),
            scale: number(scale),
        })
    }

    fn to(data_type: DataType) -> Codec {
        Codec::CastValue(CastValueParameters::to(data_type))
    }

    fn legacy(offset: &str, scale: &str, stored: DataType) -> Codec {
        Codec::FixedScaleOffset(FixedScaleOffsetParameters {
            scale: number(scale).unwrap(),
            offset: number(offset).unwrap(),
            dtype: None,
            astype: Some(stored),
            base: "/configuration",
        })
    }

    /// The extents of a chain, a line for each stage.
    fn extents(data_type: DataType, codecs: &[Codec]) -> String {
        let chain = bind(data_type, None, codecs).chain.unwrap();
        let stored = Extent::of(chain.stored_type());
        let lines = chain
            .extents(stored)
            .into_iter()
            .map(|extent| match extent {
                None => "?".to_owned(),
                Some(Extent { low, high, step }) => {
                    let step = step.map_or("?".to_owned(), |step| step.to_string());
                    format!("{low}..{high} by {step}")
                }
            });
        lines.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn the_pair_on_floats() {
        assert_eq!(
            extents(Float64, &[scale_offset("-10", "0.1"), to(UInt8)]),
            "-10.0..2540.0 by 10.0 | 0.0..255.0 by 1.0 | 0..255 by 1"
        );
        assert_eq!(
            extents(Float32, &[scale_offset("273.15", "100"), to(Int16)]),
            "-54.53..600.82 by 0.01 | -32768.0..32767.0 by 1.0 | -32768..32767 by 1"
        );
    }

    #[test]
    fn a_negative_scale_turns_the_range_around_and_not_the_step() {
        assert_eq!(
            extents(Float64, &[scale_offset("", "-2"), to(UInt8)]),
            "-127.5..0.0 by 0.5 | 0.0..255.0 by 1.0 | 0..255 by 1"
        );
        assert_eq!(
            extents(Int16, &[scale_offset("5", "-10"), to(UInt8)]),
            "-20..5 by 1 | 0..255 by 1 | 0..255 by 1"
        );
    }

    #[test]
    fn integers_are_shifted_exactly_and_stay_in_their_type() {
        assert_eq!(
            extents(UInt16, &[scale_offset("1000", ""), to(UInt8)]),
            "1000..1255 by 1 | 0..255 by 1 | 0..255 by 1"
        );
        assert_eq!(
            extents(UInt8, &[scale_offset("200", "")]),
            "200..255 by 1 | 0..255 by 1"
        );
        assert_eq!(
            extents(Int64, &[scale_offset("", "3")]),
            "-3074457345618258602..3074457345618258602 by 1 | -9223372036854775808..9223372036854775807 by 1"
        );
        assert_eq!(
            extents(UInt64, &[scale_offset("18446744073709551615", "1")]),
            "18446744073709551615..18446744073709551615 by 1 | 0..18446744073709551615 by 1"
        );
    }

    #[test]
    fn casts_keep_what_both_types_hold() {
        assert_eq!(
            extents(Int8, &[to(Int16)]),
            "-128..127 by 1 | -32768..32767 by 1"
        );
        assert_eq!(extents(UInt16, &[to(Int8)]), "0..127 by 1 | -128..127 by 1");
        assert_eq!(
            extents(Float32, &[to(Float16)]),
            "-65504.0..65504.0 by ? | -65500.0..65500.0 by ?"
        );
        assert_eq!(
            extents(Float8E4M3, &[to(UInt16)]),
            "0.0..240.0 by 1.0 | 0..65535 by 1"
        );
    }

    #[test]
    fn ends_that_do_not_unscale_are_those_of_the_type() {
        assert_eq!(
            extents(Float16, &[scale_offset("", "0.001"), to(UInt16)]),
            "0.0..65500.0 by 999.5 | 0.0..65500.0 by 1.0 | 0..65535 by 1"
        );
        assert_eq!(
            extents(Float16, &[scale_offset("", "-0.001")]),
            "-65500.0..65500.0 by ? | -65500.0..65500.0 by ?"
        );
    }

    #[test]
    fn a_step_that_the_type_cannot_hold_is_left_out() {
        assert_eq!(
            extents(Float4E2M1Fn, &[scale_offset("", "6"), to(UInt2)]),
            "0.0..0.5 by ? | 0.0..3.0 by 1.0 | 0..3 by 1"
        );
    }

    #[test]
    fn the_legacy_codec() {
        assert_eq!(
            extents(Float64, &[legacy("1000", "10", Int32)]),
            "-214747364.8..214749364.7 by 0.1 | -2147483648..2147483647 by 1"
        );
        assert_eq!(
            extents(Int16, &[legacy("0", "0.1", UInt8)]),
            "0..2550 by 10 | 0..255 by 1"
        );
        assert_eq!(
            extents(Int32, &[legacy("0", "10", Int16)]),
            "-3276..3276 by 1 | -32768..32767 by 1"
        );
        // 255000 is no int16, and the C cast of it is undefined.
        assert_eq!(
            extents(Int16, &[legacy("0", "0.001", UInt8)]),
            "? | 0..255 by 1"
        );
    }

    #[test]
    fn every_pair_of_types_has_an_answer() {
        for a in DataType::ALL {
            for b in DataType::ALL {
                let Some(chain) = bind(a, None, &[scale_offset("1", "1"), to(b)]).chain else {
                    continue;
                };
                let extents = chain.extents(Extent::of(b));
                assert_eq!(extents.len(), 3, "{a} {b}");
                for extent in extents.into_iter().flatten() {
                    assert!(extent.low.compare(extent.high).unwrap().is_le(), "{a} {b}");
                }
            }
        }
    }
}
