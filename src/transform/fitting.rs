//! The values that fit: the widest interval of array values that a chain encodes.

use super::cast_value::cast;
use super::chain::{BoundChain, BoundCodec};
use super::scalar::Scalar;

/// The least and the greatest array value that the chain encodes without its maps, everything between them included.
///
/// `None` where no value of a few likely ones fits, or where every finite value does. The ends are found by bisection, for
/// which it is enough that a chain without wrapping keeps the order of values, or turns it round.
pub(super) fn fitting_range(chain: &BoundChain) -> Option<(Scalar, Scalar)> {
    let fits = |value: Scalar| encodes(chain.codecs(), value);
    let start = likely(chain).into_iter().find(|value| fits(*value))?;
    let (least, greatest) = Scalar::finite_range(chain.data_type());
    let low = furthest(start, least, fits);
    let high = furthest(start, greatest, fits);
    let everything = low.equals(least) && high.equals(greatest);
    (!everything).then_some((low, high))
}

/// Array values of which one is likely to fit: what a few codes decode to, and a few small numbers.
fn likely(chain: &BoundChain) -> Vec<Scalar> {
    let stored = chain.stored_type();
    let (low, high) = Scalar::finite_range(stored);
    let (from, to) = (low.ordinal(), high.ordinal());
    let codes = [0, 1, from / 2 + to / 2, from, to, from / 4, to / 4];
    let decoded = codes.into_iter().filter(|code| (from..=to).contains(code));
    let decoded = decoded.filter_map(|code| {
        let code = Scalar::from_ordinal(stored, code);
        let mut codecs = chain.codecs().iter().rev();
        codecs.try_fold(code, |value, codec| match codec {
            BoundCodec::CastValue(c) => cast(value, c.incoming, c.rounding, c.out_of_range).ok(),
            other => other.decode(value).ok(),
        })
    });
    let (least, greatest) = Scalar::finite_range(chain.data_type());
    let (least, greatest) = (least.ordinal(), greatest.ordinal());
    let small = [0, 1, 2, 3, 4, 5, 8, 10].into_iter();
    let small = small.filter(|n| (least..=greatest).contains(n));
    let small = small.map(|n| Scalar::from_ordinal(chain.data_type(), n));
    decoded
        .filter(|value| value.is_finite())
        .chain(small)
        .collect()
}

/// Whether the codecs encode a value; maps stand for single values, and are left out.
fn encodes(codecs: &[BoundCodec], value: Scalar) -> bool {
    let encoded = codecs.iter().try_fold(value, |value, codec| match codec {
        BoundCodec::CastValue(c) => cast(value, c.outgoing, c.rounding, c.out_of_range).ok(),
        other => other.encode(value).ok(),
    });
    encoded.is_some()
}

/// The furthest value from `good`, which fits, towards `end` that fits as well.
fn furthest(good: Scalar, end: Scalar, fits: impl Fn(Scalar) -> bool) -> Scalar {
    if fits(end) {
        return end;
    }
    let (mut inside, mut outside) = (good.ordinal(), end.ordinal());
    while inside.abs_diff(outside) > 1 {
        let middle = inside + (outside - inside) / 2;
        if fits(Scalar::from_ordinal(good.data_type(), middle)) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    Scalar::from_ordinal(good.data_type(), inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::chain::{Direction, bind};
    use crate::transform::data_type::DataType::{self, *};
    use crate::transform::literal::Literal;
    use crate::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
    use crate::transform::rounding::{OutOfRange, Rounding};

    fn scale_offset(offset: &str, scale: &str) -> Codec {
        let number = |text: &str| Some(Literal::Number(text.to_owned()));
        Codec::ScaleOffset(ScaleOffsetParameters {
            offset: number(offset),
            scale: number(scale),
        })
    }

    fn chain(
        data_type: DataType,
        offset: &str,
        scale: &str,
        cast: CastValueParameters,
    ) -> BoundChain {
        let binding = bind(
            data_type,
            None,
            &[scale_offset(offset, scale), Codec::CastValue(cast)],
        );
        binding.chain.unwrap()
    }

    /// The ends fit, and what is next to them does not.
    fn check(chain: &BoundChain) -> (Scalar, Scalar) {
        let (low, high) = chain.fitting_range().unwrap();
        let fits = |n| {
            let value = Scalar::from_ordinal(chain.data_type(), n);
            chain.transform(Direction::Encode, value).is_ok()
        };
        assert!(fits(low.ordinal()) && fits(high.ordinal()), "{low} {high}");
        let (least, greatest) = Scalar::finite_range(chain.data_type());
        assert!(low == least || !fits(low.ordinal() - 1), "{low}");
        assert!(high == greatest || !fits(high.ordinal() + 1), "{high}");
        (low, high)
    }

    #[test]
    fn ends_are_exact() {
        let to = CastValueParameters::to;
        let (low, high) = check(&chain(Float64, "-10", "0.1", to(UInt8)));
        assert_eq!(
            (low.to_string().as_str(), high.to_string().as_str()),
            ("-15.0", "2544.9999999999995")
        );
        check(&chain(Float32, "0", "0.001", to(UInt32)));
        check(&chain(Float64, "-10", "10", to(Int64)));
        check(&chain(
            Float16,
            "1000",
            "10",
            CastValueParameters {
                rounding: Rounding::TowardsZero,
                ..to(Int8)
            },
        ));
        check(&chain(
            Float32,
            "0",
            "100",
            CastValueParameters {
                rounding: Rounding::TowardsPositive,
                ..to(Int16)
            },
        ));
        check(&chain(Float32, "5", "-2", to(UInt16)));
        check(&chain(Int16, "0", "1", to(Float8E3M4)));
        let (low, high) = check(&chain(UInt16, "1000", "1", to(UInt8)));
        assert_eq!((low.integer(), high.integer()), (Some(1000), Some(1255)));
    }

    #[test]
    fn nothing_is_said_where_everything_fits() {
        for out_of_range in [OutOfRange::Clamp, OutOfRange::Wrap] {
            let cast = CastValueParameters {
                out_of_range: Some(out_of_range),
                ..CastValueParameters::to(Int8)
            };
            let chain = chain(Float32, "10", "0.01", cast);
            assert_eq!(chain.fitting_range(), None);
        }
    }
}
