//! What a narrow type can be tried with: scales from the coarsest that an error allows to the finest that there are codes for, each
//! with offsets at the middle of the range.
//!
//! Arithmetic in the type of the values adds a little to half a step, so the coarsest scale that should do often does not, and
//! one between that and the finest does.

use super::candidate::Origin;
use super::elements::nearest;
use super::frame::Frame;
use super::placement::{room, roundest};
use super::steps::Step;
use crate::transform::data_type::DataType;

/// How many digits a scale has that people can read.
const DIGITS: i32 = 4;

/// How many scales are tried of as many digits.
const OF_EACH: i32 = 4;

/// How far beyond the middle of the last code a value may lie, in steps, that the code stands for.
const BEYOND: f64 = 0.49;

/// How much coarser than the coarsest step that should do one may be: few values may all lie where its error is smaller.
const NEARLY: f64 = 0.95;

/// How many powers of two are looked at for an offset.
const POWERS: i32 = 60;

/// The steps to try, each with a value that has to be on the grid.
#[derive(Debug, Default)]
pub(super) struct Squeezed {
    /// With scales of few digits, the coarse ones first.
    pub(super) round: Vec<Step>,
    /// With the finest scales.
    pub(super) fine: Vec<Step>,
}

/// The steps between `least` and the finest for the codes of a type; none where it has too few. A pinned offset has no others
/// beside it.
pub(super) fn squeezed(frame: &Frame, stored: DataType, least: f64, pinned: bool) -> Squeezed {
    let mut all = Squeezed::default();
    let between = frame.between();
    // Values that must be kept may be on the grid, or have codes of their own.
    for more in [0, between].into_iter().take(1 + between.min(1)) {
        let Some((room, _)) = room(frame, stored, more) else {
            continue;
        };
        #[expect(clippy::cast_precision_loss, reason = "planning")]
        let ends = (room.low as f64, room.high as f64);
        let (low, high) = frame.ends();
        // Half of the span does not overflow.
        let half = high / 2.0 - low / 2.0;
        let scale_for = |codes: f64| codes / 2.0 / half;
        let most = scale_for(ends.1 - ends.0 + 2.0 * BEYOND);
        if !most.is_finite() || most < least * NEARLY {
            continue;
        }
        let from = least.min(most);
        let mut add = |scale: f64, fine: bool| {
            // The arithmetic is with the scale that the type has.
            let Some(scale) = nearest(frame.data_type, scale).map(|scale| scale.to_f64()) else {
                return;
            };
            if !(scale.is_finite() && scale > 0.0) {
                return;
            }
            let (steps, origin) = match fine {
                true => (&mut all.fine, Origin::Finest),
                false => (&mut all.round, Origin::Decimal),
            };
            let at = |anchor| Step {
                anchor,
                ..Step::of(scale, origin)
            };
            steps.push(at(0.0));
            if !pinned {
                let least = high - (ends.1 + BEYOND) / scale;
                let most = low - (ends.0 - BEYOND) / scale;
                steps.extend(offsets(least, most).map(at));
            }
        };
        for scale in round_scales(from, most) {
            add(scale, false);
        }
        for codes in [ends.1 - ends.0, ends.1 - ends.0 - 1.0] {
            if scale_for(codes) >= least * NEARLY {
                add(scale_for(codes), true);
            }
        }
        for share in [1.0, 0.75, 0.5, 0.25, 0.0] {
            add(from + (most - from) * share, true);
        }
    }
    let same = |a: &mut Step, b: &mut Step| (a.scale, a.anchor) == (b.scale, b.anchor);
    all.round.dedup_by(same);
    all.fine.dedup_by(same);
    all
}

/// Scales of few digits between two others, those of the fewest first.
fn round_scales(least: f64, most: f64) -> Vec<f64> {
    let mut scales: Vec<f64> = Vec::new();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "exponents of doubles are small"
    )]
    let top = most.log10().floor() as i32;
    for digits in 1..=DIGITS {
        let exponent = top - digits + 1;
        let unit = 10_f64.powi(exponent);
        let (first, last) = ((least / unit).ceil(), (most / unit).floor());
        if !(first.is_finite() && last.is_finite()) || first > last {
            continue;
        }
        let mut before = f64::NAN;
        for n in 0..OF_EACH {
            let share = f64::from(n) / f64::from(OF_EACH - 1);
            let multiple = (first + (last - first) * share).round();
            // Read from text, so that it is the nearest double to the round number.
            let scale = format!("{multiple}e{exponent}").parse::<f64>();
            if let Ok(scale) = scale
                && multiple != before
                && !scales.contains(&scale)
            {
                scales.push(scale);
            }
            before = multiple;
        }
    }
    scales
}

/// Offsets between two ends: of the fewest decimal digits, of the fewest binary ones, and the middle.
fn offsets(least: f64, most: f64) -> impl Iterator<Item = f64> {
    let middle = least / 2.0 + most / 2.0;
    let any = (least <= most).then_some(middle);
    let decimal = any.and_then(|_| roundest(least, most, &|_| true));
    let binary = any.and_then(|middle| {
        let top = least.abs().max(most.abs()).log2().ceil();
        (0..POWERS)
            .map(|n| 2_f64.powf(top - f64::from(n)))
            .map(|unit| (middle / unit).round() * unit)
            .find(|offset| (least..=most).contains(offset))
    });
    let all = [decimal, binary, any].into_iter().flatten();
    all.filter(|offset| *offset != 0.0 && offset.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_as_few_digits_as_they_can() {
        let scales = round_scales(50.0, 63.5);
        assert_eq!(scales[..2], [50.0, 60.0]);
        assert!(scales.contains(&63.5), "{scales:?}");
        assert!(scales.iter().all(|x| (50.0..=63.5).contains(x)));
        assert_eq!(round_scales(2.0, 1.0), [0.0; 0]);
    }

    #[test]
    fn offsets_lie_between_their_ends() {
        let all: Vec<f64> = offsets(4920.9, 4921.4).collect();
        assert_eq!(all, [4921.0, 4921.0, 4921.15]);
        assert_eq!(offsets(1.0, 0.5).count(), 0);
        assert_eq!(offsets(-1.0, 1.0).count(), 0, "zero is tried anyway");
    }
}
