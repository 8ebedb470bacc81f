//! The codes that stand in for values without one, where that loss is allowed.

use std::cmp::Ordering;

use super::examine::Sentinel;
use crate::transform::chain::{BoundChain, Direction};
use crate::transform::scalar::Scalar;

/// How many codes are looked at from the end of a range inwards.
const STEPS: u32 = 4096;

/// A code, and what it decodes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StandIn {
    pub(super) code: Scalar,
    pub(super) value: Scalar,
}

/// The stand-ins of a chain.
#[derive(Debug)]
pub(super) struct StandIns {
    least: Option<StandIn>,
    greatest: Option<StandIn>,
    fill: StandIn,
}

impl StandIns {
    /// The stand-ins of a chain that encodes the values of a range, or all finite ones.
    ///
    /// At the ends of the range there may be codes that stand for something else, or that do not decode: those next to them are
    /// taken then.
    pub(super) fn of(
        chain: &BoundChain,
        range: Option<(Scalar, Scalar)>,
        sentinels: &[Sentinel],
        fill: StandIn,
    ) -> Self {
        let (low, high) = range.unwrap_or_else(|| Scalar::finite_range(chain.data_type()));
        let ends = [low, high].map(|value| chain.transform(Direction::Encode, value).ok());
        let [Some(low), Some(high)] = ends else {
            let (least, greatest) = (None, None);
            return Self {
                least,
                greatest,
                fill,
            };
        };
        let inwards = |from: Scalar, to: Scalar| {
            let (from, to) = (from.ordinal(), to.ordinal());
            let step = if from <= to { 1 } else { -1 };
            let codes = (0..=i128::from(STEPS)).map(move |n| from + n * step);
            let mut codes = codes.take_while(|code| (to - code) * step >= 0);
            codes.find_map(|code| {
                let code = Scalar::from_ordinal(chain.stored_type(), code);
                let taken = sentinels.iter().any(|sentinel| sentinel.code.equals(code));
                let value = chain.transform(Direction::Decode, code);
                let value = value.ok().filter(|value| value.is_finite() && !taken)?;
                Some(StandIn { code, value })
            })
        };
        Self {
            least: inwards(low, high),
            greatest: inwards(high, low),
            fill,
        }
    }

    /// The stand-in of a value: the nearest that there is, and the fill for NaN.
    pub(super) fn for_value(&self, value: Scalar) -> StandIn {
        let (Some(least), Some(greatest)) = (self.least, self.greatest) else {
            return self.fill;
        };
        if value.is_nan() {
            return self.fill;
        }
        match (value.compare(least.value), value.compare(greatest.value)) {
            (_, Some(Ordering::Greater | Ordering::Equal)) => greatest,
            (Some(Ordering::Less | Ordering::Equal), _) => least,
            // Its own code is taken, or does not decode.
            _ => {
                let distance = |end: StandIn| (value.to_f64() - end.value.to_f64()).abs();
                if distance(least) <= distance(greatest) {
                    least
                } else {
                    greatest
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::configuration::read_list;
    use crate::metadata::json::{Limits, NonFinite, parse};
    use crate::transform::chain::bind;
    use crate::transform::data_type::DataType;

    fn chain(data_type: DataType, codecs: &str) -> BoundChain {
        let parsed = parse(codecs.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        let reading = read_list(&parsed).unwrap();
        bind(data_type, None, &reading.codecs).chain.unwrap()
    }

    fn stand_ins(chain: &BoundChain, sentinels: &[i128]) -> StandIns {
        let stored = chain.stored_type();
        let sentinels: Vec<_> = sentinels
            .iter()
            .map(|code| Sentinel {
                code: Scalar::from_integer(stored, *code).unwrap(),
                value: Scalar::from_bits(chain.data_type(), 0),
            })
            .collect();
        let fill = StandIn {
            code: Scalar::from_bits(stored, 0),
            value: Scalar::from_bits(chain.data_type(), 0),
        };
        StandIns::of(chain, chain.fitting_range(), &sentinels, fill)
    }

    fn double(value: f64) -> Scalar {
        Scalar::from_bits(DataType::Float64, value.to_bits())
    }

    #[test]
    fn codes_that_stand_for_something_else_are_passed_over() {
        let chain = chain(
            DataType::Float64,
            r#"[{"name":"scale_offset","configuration":{"scale":-10}},
                {"name":"cast_value","configuration":{"data_type":"int8"}}]"#,
        );
        let stand_ins = stand_ins(&chain, &[-128, -127, 127]);
        let code = |value| stand_ins.for_value(double(value)).code.integer();
        assert_eq!(code(1e9), Some(-126));
        assert_eq!(code(f64::INFINITY), Some(-126));
        assert_eq!(code(-1e9), Some(126));
        assert_eq!(code(f64::NAN), Some(0));
        // Between the ends the nearer one.
        assert_eq!(code(12.69), Some(-126));
        assert_eq!(code(12.0), Some(-126));
        assert_eq!(code(-12.0), Some(126));
    }

    #[test]
    fn codes_that_do_not_decode_are_passed_over() {
        // 2^63 is a float64, and no int64.
        let wide = chain(
            DataType::Int64,
            r#"[{"name":"cast_value","configuration":{"data_type":"float64"}}]"#,
        );
        let greatest = Scalar::from_integer(DataType::Int64, i64::MAX.into()).unwrap();
        let stand_in = stand_ins(&wide, &[]).for_value(greatest);
        assert_eq!(stand_in.value.integer(), Some((1 << 63) - 1024));
        assert_eq!(stand_in.code.to_f64(), 9_223_372_036_854_774_784.0);
        // 590 / 0.009 is beyond float16.
        let up = chain(
            DataType::Float16,
            r#"[{"name":"scale_offset","configuration":{"scale":0.009}},
                {"name":"cast_value","configuration":{"data_type":"int32","rounding":"towards-positive"}}]"#,
        );
        let greatest = Scalar::finite_range(DataType::Float16).1;
        let stand_in = stand_ins(&up, &[]).for_value(greatest);
        assert_eq!(stand_in.code.integer(), Some(589));
        assert!(stand_in.value.is_finite());
    }
}
