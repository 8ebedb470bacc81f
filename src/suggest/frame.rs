//! What every candidate must hold: a range, values with codes of their own, values that stay exact, the fill.

use super::elements::{exact, nearest};
use super::refusal::Refusal;
use super::survey::Survey;
use super::wish::{Missing, Tolerance, Wish};
use crate::transform::chain::{BoundChain, Direction};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What every candidate must hold.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) data_type: DataType,
    /// The least and the greatest value to be stored, headroom included.
    pub(super) low: Scalar,
    pub(super) high: Scalar,
    /// The fills of the arrays, each once.
    pub(super) fills: Vec<Scalar>,
    /// Values that must come back as they are.
    pub(super) keep: Vec<Scalar>,
    /// The values other than regular ones.
    specials: Vec<Special>,
    /// The values that attributes declare to be missing: no errors of them are measured, and nothing else may become one.
    pub(super) stand_ins: Vec<Scalar>,
    /// The fills that readers take for missing without an attribute.
    masked_fills: Vec<Scalar>,
    /// The reciprocals of the steps of which all values are multiples.
    grids: Vec<f64>,
    /// Whether chunks lie in shards, in which one reader tries to encode 0, whatever the fill is.
    pub(super) sharded: bool,
    /// The most bits that codes may take.
    pub(super) bits: Option<u32>,
    /// Whether the fill may be another one in the output.
    may_change_fill: bool,
    /// The fills that values which nobody has written are.
    read_fills: Vec<Scalar>,
}

/// The fill of an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fill {
    pub(super) value: Scalar,
    /// Whether chunks were never written, so that it is a value of the data.
    pub(super) is_read: bool,
    /// Whether readers take it for missing without an attribute that says so, as in Zarr v2.
    pub(super) is_masked: bool,
}

/// A value that may need a code of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Special {
    pub(super) value: Scalar,
    /// The code that it must have, if one was asked for.
    pub(super) code: Option<i128>,
    /// Whether only the fill is this value, so that another fill would do.
    pub(super) only_fill: bool,
    /// Whether it must not have a code, as was asked for: another fill takes its place.
    pub(super) is_unwanted: bool,
}

impl Frame {
    /// The frame for what was seen, for the fills of the arrays, and what is wished for.
    pub(super) fn new(
        survey: &Survey,
        data_type: DataType,
        fills: &[Fill],
        wish: &Wish,
        has_data: bool,
    ) -> Result<Self, Refusal> {
        let (low, high) = range(survey, data_type, wish)?;
        if !has_data && has_no_relative_grid(survey, data_type, wish) {
            return Err(Refusal::relative_at_zero(data_type, (low, high)));
        }
        let mut keep: Vec<Scalar> = Vec::new();
        for value in &wish.keep_exact {
            // As the array holds it: 273.15 is no float32, and what is nearest to it is meant.
            let kept = nearest(data_type, *value).filter(|value| value.is_finite());
            keep.push(kept.ok_or_else(|| Refusal::not_a_value(*value, data_type))?);
        }
        let zero = || low.to_f64() <= 0.0 && high.to_f64() >= 0.0;
        if survey.zeros > 0 || !has_data && zero() {
            keep.extend(exact(data_type, 0.0));
        }
        let mut distinct: Vec<Scalar> = Vec::new();
        for fill in fills {
            if !distinct.iter().any(|known| known.equals(fill.value)) {
                distinct.push(fill.value);
            }
        }
        let mut frame = Self {
            data_type,
            low,
            high,
            may_change_fill: distinct.len() == 1 && !fills.iter().any(|fill| fill.is_read),
            fills: distinct,
            read_fills: fills
                .iter()
                .filter(|fill| fill.is_read)
                .map(|fill| fill.value)
                .collect(),
            keep,
            stand_ins: survey
                .stand_ins()
                .iter()
                .filter(|s| s.declared)
                .map(|s| s.value)
                .collect(),
            masked_fills: fills
                .iter()
                .filter(|fill| fill.is_masked)
                .map(|fill| fill.value)
                .collect(),
            grids: grids(survey),
            sharded: false,
            specials: Vec::new(),
            bits: wish.bits,
        };
        frame.collect_specials(survey, wish, has_data)?;
        Ok(frame)
    }

    fn collect_specials(
        &mut self,
        survey: &Survey,
        wish: &Wish,
        has_data: bool,
    ) -> Result<(), Refusal> {
        let data_type = self.data_type;
        if data_type.has_nan() {
            let fill = self.fills.iter().any(|fill| fill.is_nan());
            let wanted = match wish.missing {
                Missing::Auto => survey.nan > 0 || fill || !has_data,
                Missing::None if survey.nan > 0 => return Err(Refusal::nan_unwanted(survey.nan)),
                Missing::None if self.read_fills.iter().any(|fill| fill.is_nan()) => {
                    return Err(Refusal::nan_unread());
                }
                Missing::None => fill,
                Missing::Code(_) => true,
            };
            if wanted {
                self.specials.push(Special {
                    value: Scalar::nan(data_type),
                    code: match wish.missing {
                        Missing::Code(code) => Some(code),
                        _ => None,
                    },
                    only_fill: wish.missing == Missing::None && self.may_change_fill,
                    is_unwanted: wish.missing == Missing::None && self.may_change_fill,
                });
            }
        } else if let Missing::Code(_) = wish.missing {
            return Err(Refusal::no_nan(data_type));
        }
        let infinities = [
            (survey.positive_infinities, f64::INFINITY),
            (survey.negative_infinities, f64::NEG_INFINITY),
        ];
        for (count, value) in infinities {
            if count > 0 {
                self.special(exact(data_type, value), false);
            }
        }
        for stand_in in survey.stand_ins() {
            if stand_in.count > 0 {
                self.special(Some(stand_in.value), false);
            }
        }
        for value in self.keep.clone() {
            self.special(Some(value), false);
        }
        for fill in self.fills.clone() {
            self.special(Some(fill), true);
        }
        Ok(())
    }

    fn special(&mut self, value: Option<Scalar>, only_fill: bool) {
        let Some(value) = value else { return };
        if !self.specials.iter().any(|s| s.value.equals(value)) {
            self.specials.push(Special {
                value,
                code: None,
                only_fill: only_fill && self.may_change_fill,
                is_unwanted: false,
            });
        }
    }

    /// The frame without one of the values that may need codes of their own.
    pub(super) fn without(&self, value: Scalar) -> Self {
        let mut frame = self.clone();
        frame.specials.retain(|s| !s.value.equals(value));
        frame.fills.retain(|fill| !fill.equals(value));
        frame.keep.retain(|kept| !kept.equals(value));
        frame
    }

    /// The frame without a fill that has a code kept for it though another fill would do; `None` where there is none.
    pub(super) fn without_spare_fill(&self) -> Option<Self> {
        let kept = |s: &&Special| s.only_fill && s.code.is_none() && !self.is_between(s.value);
        let value = self.specials.iter().find(kept)?.value;
        Some(self.without(value))
    }

    /// The frame without all values that may need codes of their own.
    pub(super) fn without_specials(&self) -> Self {
        Self {
            specials: Vec::new(),
            fills: Vec::new(),
            keep: Vec::new(),
            ..self.clone()
        }
    }

    /// Whether values that nobody has written are this one.
    pub(super) fn is_read_fill(&self, value: Scalar) -> bool {
        self.read_fills.iter().any(|fill| fill.equals(value))
    }

    /// The values that may need codes of their own; NaN first.
    pub(super) fn specials(&self) -> &[Special] {
        &self.specials
    }

    /// How many codes to spare for them, given that those between the ends have one.
    pub(super) fn spare(&self) -> usize {
        let apart = self.specials.iter().filter(|s| !self.is_between(s.value));
        apart.filter(|s| s.code.is_none() && !s.is_unwanted).count()
    }

    /// The code that NaN must have, if one was asked for.
    pub(super) fn given_code(&self) -> Option<i128> {
        self.specials.iter().find_map(|special| special.code)
    }

    /// Whether a value stands for what is missing.
    pub(super) fn is_missing(&self, value: Scalar) -> bool {
        let among = |values: &[Scalar]| values.iter().any(|known| known.equals(value));
        value.is_nan() || among(&self.stand_ins) || among(&self.masked_fills)
    }

    /// Whether attributes declare a value to be missing.
    pub(super) fn is_declared(&self, value: Scalar) -> bool {
        self.stand_ins.iter().any(|known| known.equals(value))
    }

    /// Whether all values lie on the grid of a scale through zero, so that none is rounded onto another.
    pub(super) fn is_on_grid(&self, scale: f64) -> bool {
        self.grids.iter().any(|grid| {
            let times = scale / grid;
            times >= 0.5 && (times - times.round()).abs() < 1e-9 * times
        })
    }

    /// How many of the values that may need codes of their own lie among the others, where a grid may miss them.
    pub(super) fn between(&self) -> usize {
        let specials = self.specials.iter();
        specials.filter(|s| self.is_between(s.value)).count()
    }

    fn is_between(&self, value: Scalar) -> bool {
        value.compare(self.low).is_some_and(|order| order.is_ge())
            && value.compare(self.high).is_some_and(|order| order.is_le())
    }

    /// A fill for the output where the array's own cannot be stored: NaN if that is stored, else the least value that comes
    /// back as it is.
    pub(super) fn other_fill(&self, bare: &BoundChain, given_up: Scalar) -> Option<Scalar> {
        let mut stored = self.specials.iter().map(|special| special.value);
        let nan = stored.find(|value| value.is_nan() && !given_up.is_nan());
        nan.or_else(|| {
            let code = bare.transform(Direction::Encode, self.low).ok()?;
            bare.transform(Direction::Decode, code).ok()
        })
    }

    /// The distance of neighbouring values at the end of the range that is farther from zero.
    pub(super) fn grain(&self) -> f64 {
        let farthest = self.low.to_f64().abs().max(self.high.to_f64().abs());
        grain(self.data_type, farthest)
    }

    /// The ends as doubles.
    pub(super) fn ends(&self) -> (f64, f64) {
        (self.low.to_f64(), self.high.to_f64())
    }
}

/// The distance from a value to the next one of a type.
pub(super) fn grain(data_type: DataType, value: f64) -> f64 {
    let Some(here) = nearest(data_type, value) else {
        return 0.0;
    };
    if data_type.is_integer() {
        return 1.0;
    }
    let next = Scalar::from_ordinal(data_type, here.ordinal() + 1);
    if next.is_finite() {
        return next.to_f64() - here.to_f64();
    }
    here.to_f64() - Scalar::from_ordinal(data_type, here.ordinal() - 1).to_f64()
}

/// Whether a relative error is asked for of values next to zero, which are not all tried: those below half a step become zero, and
/// a narrower float type has none as small either.
fn has_no_relative_grid(survey: &Survey, data_type: DataType, wish: &Wish) -> bool {
    let (Tolerance::Relative(_), Some((low, high))) = (wish.tolerance, survey.range) else {
        return false;
    };
    let as_wide = |to: DataType| to.is_float() && to.bits() >= data_type.bits();
    let count = (high.ordinal() - low.ordinal()).unsigned_abs() + 1;
    data_type.is_float()
        && low.to_f64() <= 0.0
        && high.to_f64() >= 0.0
        && u128::from(survey.values) < count
        && !wish.to.is_some_and(as_wide)
}

/// The reciprocals of the steps of which all values are multiples.
fn grids(survey: &Survey) -> Vec<f64> {
    let decimal = survey.decimal.found().filter(|grid| grid.anchor == 0.0);
    let binary = survey.binary.exponent();
    let binary = binary.map(|exponent| 2_f64.powi(-exponent));
    decimal
        .map(|grid| grid.scale)
        .into_iter()
        .chain(binary)
        .collect()
}

/// The range to plan for: that of the data, or the one that was given if it holds the data, with headroom.
fn range(survey: &Survey, data_type: DataType, wish: &Wish) -> Result<(Scalar, Scalar), Refusal> {
    let seen = survey.range;
    let given = match wish.range {
        None => None,
        Some((low, high)) => {
            let of = |value| {
                nearest(data_type, value).ok_or_else(|| Refusal::not_a_value(value, data_type))
            };
            Some((of(low)?, of(high)?))
        }
    };
    let (low, high) = match (given, seen) {
        (None, None) => return Err(Refusal::nothing_finite(survey)),
        (None, Some(seen)) => seen,
        (Some(given), None) => given,
        (Some(given), Some(seen)) => {
            let below = seen.0.compare(given.0).is_some_and(|order| order.is_lt());
            let above = seen.1.compare(given.1).is_some_and(|order| order.is_gt());
            if below || above {
                return Err(Refusal::beyond_range(given, seen));
            }
            given
        }
    };
    if wish.headroom == 0.0 {
        return Ok((low, high));
    }
    let share = wish.headroom / 100.0;
    let (from, to) = (low.to_f64(), high.to_f64());
    let room = to * share - from * share;
    let (least, greatest) = Scalar::finite_range(data_type);
    let finite = |value| nearest(data_type, value).filter(|value| value.is_finite());
    let with_room = (
        finite(from - room).unwrap_or(least),
        finite(to + room).unwrap_or(greatest),
    );
    // Doubles round integers of 64 bits, and room is never less than none.
    let is_below = |a: Scalar, b: Scalar| a.compare(b).is_some_and(|order| order.is_lt());
    let low = if is_below(with_room.0, low) {
        with_room.0
    } else {
        low
    };
    let high = if is_below(high, with_room.1) {
        with_room.1
    } else {
        high
    };
    Ok((low, high))
}
