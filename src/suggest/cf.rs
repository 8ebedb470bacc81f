//! The attributes of the CF conventions that say what a chain says, and whether readers of them get the same values.

use super::candidate::Candidate;
use super::elements::{nearest, widen};
use crate::transform::cf::Unpacking;
use crate::transform::chain::{BoundCodec, Direction};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many codes are all compared; of more, so many are.
const ALL: i128 = 1 << 22;

/// The same for types whose values are made one by one.
const ALL_SLOWLY: i128 = 1 << 16;

/// How many codes are compared in one go.
const BLOCK: usize = 1 << 12;

/// Below this doubles hold every integer.
const EXACT: i128 = 1 << 53;

/// The attributes of the CF conventions that say nearly the same.
#[derive(Debug, Clone, PartialEq)]
pub struct CfAttributes {
    /// The reciprocal of the scale as the chain has it, as the nearest double.
    pub scale_factor: f64,
    /// The offset as the chain has it.
    pub add_offset: f64,
    /// The code of what is missing.
    pub fill_value: Option<Scalar>,
    /// Whether readers get the same value for every code from that of the least to that of the greatest value:
    /// `code * scale_factor + add_offset` in float64, rounded to the type of the array.
    pub exact: bool,
    /// By how much values differ, where not every one is the same; `None` where readers refuse a code, or get no number for it.
    pub largest_difference: Option<f64>,
}

impl Candidate {
    /// The attributes of CF that say nearly the same.
    ///
    /// `None` where there are none that do: codes that are no integers of whole bytes, values other than one missing value that
    /// have codes of their own, or a scale without a reciprocal.
    #[must_use]
    pub fn cf_attributes(&self) -> Option<CfAttributes> {
        if !self.stored.is_integer() || self.stored.bits() < 8 {
            return None;
        }
        let fill_value = match self.sentinels.as_slice() {
            [] => None,
            [one] if one.is_missing => Some(one.code),
            _ => return None,
        };
        let shift = self.chain.codecs().iter().find_map(|codec| match codec {
            BoundCodec::ScaleOffset(codec) => Some(codec),
            _ => None,
        });
        let number = |of: Option<Scalar>, absent: f64| of.map_or(absent, Scalar::to_f64);
        let scale = number(shift.and_then(|codec| codec.scale), 1.0);
        let scale_factor = 1.0 / scale;
        let add_offset = number(shift.and_then(|codec| codec.offset), 0.0);
        if !scale_factor.is_finite() || scale_factor == 0.0 {
            return None;
        }
        let compared = self.compare(scale_factor, add_offset)?;
        Some(CfAttributes {
            scale_factor,
            add_offset,
            fill_value,
            exact: compared == Some(0.0) && self.is_proven(scale, add_offset),
            largest_difference: compared,
        })
    }

    /// The codes between those of the ends: the first, the last, how many of them are compared, and whether that is all.
    fn codes_between(&self) -> Option<Codes> {
        let (a, b) = (self.ends.0.integer()?, self.ends.1.integer()?);
        let most = match self.chain.data_type() {
            DataType::Float32 | DataType::Float64 => ALL,
            _ => ALL_SLOWLY,
        };
        let (low, high) = (a.min(b), a.max(b));
        Some(Codes {
            low,
            high,
            compared: most.min(high - low + 1),
        })
    }

    /// Whether what holds for the codes that are compared holds for all.
    fn is_proven(&self, scale: f64, add_offset: f64) -> bool {
        let Some(codes) = self.codes_between() else {
            return false;
        };
        // A power of two, whose only bits are those of the exponent, moves no digit.
        let moves_no_digit = scale.to_bits() << 12 == 0 && add_offset == 0.0;
        let held = codes.low.abs().max(codes.high.abs()) <= EXACT;
        codes.are_all() || moves_no_digit && held
    }

    /// The largest difference of what both make of the codes; `Some(None)` where one of them makes nothing of one.
    fn compare(&self, scale_factor: f64, add_offset: f64) -> Option<Option<f64>> {
        let codes = self.codes_between()?;
        let data_type = self.chain.data_type();
        // What float64 gives is rounded to the type of the array: once, by either way.
        let target = match data_type {
            DataType::Float32 => DataType::Float32,
            _ => DataType::Float64,
        };
        let (factor, offset) = (Some(scale_factor), Some(add_offset));
        let unpacking = Unpacking::new(self.stored, target, factor, offset, &[])?;
        let reserved: Vec<_> = self.sentinels.iter().map(|s| s.code.integer()).collect();
        let mut largest = 0.0_f64;
        let mut ours = vec![0.0; BLOCK];
        let mut theirs = vec![0.0; BLOCK];
        let blocks = (0..codes.compared).step_by(BLOCK);
        for first in blocks {
            let block: Vec<Scalar> = (first..codes.compared)
                .take(BLOCK)
                .map(|n| codes.nth(n))
                .filter(|code| !reserved.contains(&Some(*code)))
                .filter_map(|code| Scalar::from_integer(self.stored, code))
                .collect();
            let mut stored = vec![0; block.len() * self.stored.size()];
            for (code, place) in block
                .iter()
                .zip(stored.chunks_exact_mut(self.stored.size()))
            {
                code.write_ne_bytes(place);
            }
            let mut decoded = vec![0; block.len() * data_type.size()];
            let mut faults = 0;
            let pass = self.chain.pass(Direction::Decode);
            let _ = pass.run(&stored, &mut decoded, &mut |_| {
                faults += 1;
                std::ops::ControlFlow::Continue(())
            });
            let mut unpacked = vec![0; block.len() * target.size()];
            if faults > 0 || unpacking.run(&stored, &mut unpacked).is_err() {
                return Some(None);
            }
            if data_type.is_integer() {
                for (x, y) in decoded
                    .chunks_exact(data_type.size())
                    .zip(unpacked.chunks_exact(target.size()))
                {
                    let x = Scalar::from_ne_bytes(data_type, x).integer()?;
                    let y = Scalar::from_ne_bytes(target, y).to_f64();
                    largest = largest.max(distance(x, y));
                }
                continue;
            }
            let (ours, theirs) = (&mut ours[..block.len()], &mut theirs[..block.len()]);
            widen(data_type, &decoded, ours);
            widen(target, &unpacked, theirs);
            for (x, y) in ours.iter().zip(&mut *theirs) {
                if target != data_type && data_type != DataType::Float64 {
                    let Some(narrow) = nearest(data_type, *y) else {
                        return Some(None);
                    };
                    *y = narrow.to_f64();
                }
                largest = largest.max((x - *y).abs());
            }
        }
        Some(Some(largest))
    }
}

/// The distance of an integer and a double, either of which the other type may not hold.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "what is beyond 2^96 has no fraction, and is far from every integer of an array"
)]
fn distance(integer: i128, double: f64) -> f64 {
    const FAR: f64 = 79_228_162_514_264_337_593_543_950_336.0;
    if double.is_nan() || double.abs() >= FAR {
        return (double - integer as f64).abs();
    }
    let whole = double.trunc() as i128;
    ((whole - integer) as f64 + double.fract()).abs()
}

/// Codes that are compared, evenly spread from the first to the last.
#[derive(Clone, Copy)]
struct Codes {
    low: i128,
    high: i128,
    compared: i128,
}

impl Codes {
    const fn are_all(self) -> bool {
        self.compared == self.high - self.low + 1
    }

    const fn nth(self, n: i128) -> i128 {
        if self.are_all() {
            return self.low + n;
        }
        self.low + (self.high - self.low) * n / (self.compared - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidate::{Origin, Recipe, Room};
    use super::super::frame::Frame;
    use super::super::survey::Survey;
    use super::super::wish::Wish;
    use super::*;

    fn attributes(
        data_type: DataType,
        ends: (f64, f64),
        scale: &str,
        offset: Option<&str>,
    ) -> CfAttributes {
        let wish = Wish {
            range: Some(ends),
            missing: super::super::Missing::None,
            ..Wish::max_error(1.0)
        };
        let survey = Survey::new(data_type, &[]);
        let frame = Frame::new(&survey, data_type, &[], &wish, true).unwrap();
        let recipe = Recipe {
            scale: Some(scale.to_owned()),
            offset: offset.map(str::to_owned),
            origin: Origin::Pinned,
            stored: DataType::Int16,
            spare: Vec::new(),
            room: Some(Room {
                low: -32768,
                high: 32767,
            }),
            wide: false,
            rounds: false,
        };
        let candidate = Candidate::make(&frame, &recipe).unwrap();
        candidate.cf_attributes().unwrap()
    }

    #[test]
    fn a_power_of_two_alone_says_the_same() {
        let cf = attributes(DataType::Float32, (-100.0, 100.0), "128", None);
        assert_eq!((cf.scale_factor, cf.add_offset), (0.0078125, 0.0));
        assert!(cf.exact, "{cf:?}");
    }

    #[test]
    fn an_offset_that_the_type_rounds_into_says_it_only_for_some_codes() {
        // 0.1 in float32 is 0.10000000149011612, and the sum is rounded once by CF and twice by the codec.
        let cf = attributes(DataType::Float32, (-100.0, 100.0), "128", Some("0.1"));
        assert_eq!(cf.add_offset, 0.100_000_001_490_116_12);
        let code = 3.0_f64;
        let codec = f64::from(3.0_f32 / 128.0 + 0.1_f32);
        let unpacked = f64::from((code * cf.scale_factor + cf.add_offset) as f32);
        assert_eq!(codec, unpacked, "both are rounded once here");
        assert!(cf.exact, "{cf:?}");
    }

    #[test]
    fn quotients_and_products_are_compared_code_by_code() {
        // 0.01 in float32 is 0.009999999776482582, and 100 is 100.
        let cf = attributes(DataType::Float32, (-300.0, 300.0), "100", None);
        assert_eq!(cf.scale_factor, 0.01);
        let differs = (-30_000..=30_000).any(|code| {
            f64::from(code as f32 / 100.0_f32) != f64::from((f64::from(code) * 0.01) as f32)
        });
        assert_eq!(cf.exact, !differs);
        let cf = attributes(DataType::Float64, (-300.0, 300.0), "100", None);
        assert!(
            !cf.exact,
            "35 / 100 is 0.35, and 35 * 0.01 is 0.35000000000000003"
        );
        let difference = cf.largest_difference.unwrap();
        assert!((0.0..1e-13).contains(&difference), "{difference}");
    }

    #[test]
    fn integers_and_doubles_are_compared_without_rounding() {
        assert_eq!(
            distance(-9_042_586_559_582_950_081, -9_042_586_559_582_949_376.0),
            705.0
        );
        assert_eq!(distance(-3, -3.25), 0.25);
        assert_eq!(distance(7, 7.0), 0.0);
        assert_eq!(distance(0, f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn numbers_are_those_of_the_chain() {
        let cf = attributes(DataType::Float32, (200.0, 300.0), "0.01", Some("273.15"));
        assert_eq!(cf.add_offset, 273.149_993_896_484_4);
        assert_eq!(cf.scale_factor, 1.0 / 0.009_999_999_776_482_582);
        let cf = attributes(DataType::Float16, (-100.0, 100.0), "0.1", Some("0.1"));
        assert_eq!(cf.add_offset, 0.099_975_585_937_5);
        assert_eq!(cf.scale_factor, 1.0 / 0.099_975_585_937_5);
    }
}
