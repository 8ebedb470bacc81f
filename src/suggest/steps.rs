//! The scales that are worth a try: round decimals, powers of two, the step that the data have, and the finest that fits.

use super::candidate::Origin;
use super::elements::number_text;
use super::fit::fit;
use super::frame::Frame;
use super::grid::{FoundGrid, any_step};
use super::survey::Survey;
use super::wish::{Tolerance, Wish};
use crate::transform::data_type::DataType;

/// The digits of round decimal scales.
const ROUND: [&str; 6] = ["1", "2", "2.5", "4", "5", "8"];

/// How many decades of finer decimals are tried after the coarsest step that could do, and how many powers of two.
const DECADES: i32 = 3;
const POWERS: i32 = 9;

/// How many round steps are tried below the finest one where the number of codes is all that is given.
const BELOW_FINEST: usize = 6;

/// Doubles tell so many codes apart.
const TOLD_APART: f64 = 9_007_199_254_740_992.0;

/// A scale, and the grid that it makes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// As a number.
    pub(super) scale: f64,
    /// As it is written.
    pub(super) text: String,
    pub(super) origin: Origin,
    /// A value that must be on the grid; 0 as long as zero may be.
    pub(super) anchor: f64,
    /// Whether float64 is scaled in, though the values are of a narrower float type.
    pub(super) wide: bool,
}

impl Step {
    pub(super) fn of(scale: f64, origin: Origin) -> Self {
        Self {
            scale,
            text: number_text(scale),
            origin,
            anchor: 0.0,
            wide: false,
        }
    }

    fn found(grid: FoundGrid) -> Self {
        Self {
            anchor: grid.anchor,
            ..Self::of(grid.scale, Origin::Hidden)
        }
    }
}

/// The scales for a wish about floats, coarse ones first. `codes` is how many codes there are at most.
pub(super) fn steps(frame: &Frame, survey: &Survey, wish: &Wish, codes: f64) -> Vec<Step> {
    if let Some(text) = &wish.scale {
        let scale = text.parse().unwrap_or(1.0);
        return vec![Step {
            text: text.clone(),
            ..Step::of(scale, Origin::Pinned)
        }];
    }
    let (low, high) = frame.ends();
    if low == high {
        // Nothing but one value: no step matters, and the offset is the value.
        return vec![Step {
            anchor: low,
            ..Step::of(1.0, Origin::Whole)
        }];
    }
    let mut steps = match wish.tolerance {
        Tolerance::Decimals(decimals) => {
            return vec![Step::of(10_f64.powi(decimals), Origin::Decimal)];
        }
        Tolerance::Absolute(error) => within(error),
        Tolerance::Relative(share) => within(share * survey.least_magnitude),
        Tolerance::Open => finest_of(codes, low, high),
        Tolerance::Bitwise => Vec::new(),
    };
    steps.extend(hidden(frame, survey, wish));
    steps.retain(|step| step.scale.is_finite() && step.scale > 0.0);
    // The simpler way to scale comes first.
    steps.sort_by(|a, b| a.scale.total_cmp(&b.scale).then(a.wide.cmp(&b.wide)));
    steps.dedup_by(|later, kept| {
        (later.scale, later.anchor, later.wide) == (kept.scale, kept.anchor, kept.wide)
    });
    steps
}

/// The steps of which half is within an error.
fn within(error: f64) -> Vec<Step> {
    // The coarsest step may be a hair too coarse for the arithmetic; it is measured like all others.
    let least = 0.5 / error * (1.0 - 1e-9);
    if !least.is_finite() || least <= 0.0 {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let first = decade(least) - 1;
    for exponent in first..first + DECADES + 2 {
        let scales = ROUND
            .into_iter()
            .filter_map(|digits| round(digits, exponent));
        let scales = scales.filter(|scale| (least..=least * 1000.0).contains(scale));
        steps.extend(scales.map(|scale| Step::of(scale, Origin::Decimal)));
    }
    let first = power(least);
    for exponent in first..first + POWERS {
        let scale = 2_f64.powi(exponent);
        if scale >= least {
            steps.push(Step::of(scale, Origin::Binary));
        }
    }
    steps
}

/// The least scale that a tolerance allows, where the scale is free.
pub(super) fn least(survey: &Survey, wish: &Wish) -> Option<f64> {
    let error = match wish.tolerance {
        Tolerance::Absolute(error) => error,
        Tolerance::Relative(share) => share * survey.least_magnitude,
        _ => return None,
    };
    let least = 0.5 / error;
    (wish.scale.is_none() && least.is_finite() && least > 0.0).then_some(least)
}

/// The coarsest steps that a tolerance allows, in few digits and in all: narrow types may have room for no others.
pub(super) fn coarsest(survey: &Survey, wish: &Wish) -> Vec<Step> {
    let Some(least) = least(survey, wish) else {
        return Vec::new();
    };
    let mut scales = Vec::new();
    for digits in [3, 4] {
        let exponent = decade(least) - digits + 1;
        let above = (least / 10_f64.powi(exponent)).ceil();
        scales.extend(format!("{above}e{exponent}").parse::<f64>().ok());
    }
    scales.push(least);
    scales.retain(|scale| scale.is_finite() && *scale > 0.0);
    scales.dedup();
    let steps = scales.into_iter();
    steps
        .map(|scale| Step::of(scale, Origin::Coarsest))
        .collect()
}

/// The finest steps for so many codes.
fn finest_of(codes: f64, low: f64, high: f64) -> Vec<Step> {
    // Half of the span does not overflow.
    let half = high / 2.0 - low / 2.0;
    let most = |codes: f64| codes / 2.0 / half;
    let mut steps = finest(most(codes.min(TOLD_APART)));
    if codes > TOLD_APART {
        // With powers of two, codes may be larger than what doubles tell apart.
        let farthest = low.abs().max(high.abs());
        for most in [most(codes), codes / 2.0 / farthest] {
            let powers = [power(most) - 1, power(most)].map(|exponent| 2_f64.powi(exponent));
            steps.extend(powers.map(|scale| Step::of(scale, Origin::Binary)));
        }
    }
    steps
}

/// The finest steps for a scale of at most `most`.
fn finest(most: f64) -> Vec<Step> {
    if !most.is_finite() || most <= 0.0 {
        return Vec::new();
    }
    let mut steps = Vec::new();
    let last = decade(most);
    for exponent in last - 1..=last {
        let scales = ROUND
            .into_iter()
            .filter_map(|digits| round(digits, exponent));
        steps.extend(
            scales
                .filter(|scale| *scale <= most)
                .map(|scale| Step::of(scale, Origin::Decimal)),
        );
    }
    let last = power(most);
    for exponent in last - 2..=last {
        let scale = 2_f64.powi(exponent);
        if scale <= most {
            steps.push(Step::of(scale, Origin::Binary));
        }
    }
    steps.sort_by(|a, b| b.scale.total_cmp(&a.scale));
    steps.truncate(BELOW_FINEST);
    // Three digits leave less than a hundredth of the codes unused; a spare code or two may take the last ones.
    let exponent = decade(most) - 2;
    let digits = (most / 10_f64.powi(exponent)).floor();
    for less in [0.0, 1.0] {
        let text = format!("{}e{exponent}", digits - less);
        if let Ok(scale) = text.parse() {
            steps.push(Step::of(scale, Origin::Finest));
        }
    }
    steps
}

/// Whether a wish asks for the values themselves, since the type has no others as near.
pub(super) fn is_exact(frame: &Frame, wish: &Wish) -> bool {
    match wish.tolerance {
        Tolerance::Bitwise => true,
        Tolerance::Absolute(error) => error < frame.grain() / 2.0,
        Tolerance::Open | Tolerance::Decimals(_) | Tolerance::Relative(_) => false,
    }
}

/// The steps that the data have, and refinements of them are not: one is enough to hold every value.
fn hidden(frame: &Frame, survey: &Survey, wish: &Wish) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    steps.extend(survey.decimal.found().map(Step::found));
    if let Some(exponent) = survey.binary.exponent() {
        steps.push(Step::of(2_f64.powi(-exponent), Origin::Hidden));
    }
    let sorted = survey.sorted_sample();
    let found = any_step(&sorted, frame.grain());
    if let Some(grid) = found
        && !steps
            .iter()
            .any(|step| (step.scale * grid.step - 1.0).abs() < 1e-6)
    {
        // A short reciprocal, or a short scale, is what somebody once chose.
        let scale = shortened(grid.scale, grid.step).unwrap_or(grid.scale);
        steps.push(Step {
            anchor: grid.anchor,
            ..Step::of(scale, Origin::Hidden)
        });
    }
    if is_exact(frame, wish) {
        let is_double = frame.data_type == DataType::Float64;
        let wide = |step: &Step| Step {
            wide: true,
            ..step.clone()
        };
        if !is_double {
            // An offset costs a rounding in the type of the values, and none in float64.
            let decimal = steps.iter().filter(|step| step.scale.log2().fract() != 0.0);
            let decimal: Vec<_> = decimal.map(wide).collect();
            steps.extend(decimal);
        }
        let fitted = found.and_then(|grid| fit(&sorted, frame.data_type, grid));
        steps.extend(fitted.map(|fit| Step {
            anchor: fit.anchor,
            wide: fit.wide && !is_double,
            ..Step::of(fit.scale, Origin::Hidden)
        }));
    }
    steps
}

/// A scale near the one found that has few digits, or a step that has.
pub(super) fn shortened(scale: f64, step: f64) -> Option<f64> {
    let near = |x: f64| (x / scale - 1.0).abs() < 1e-7;
    for digits in 0..8 {
        let short: f64 = format!("{scale:.digits$e}").parse().ok()?;
        if near(short) {
            return Some(short);
        }
        let short: f64 = format!("{step:.digits$e}").parse().ok()?;
        if near(1.0 / short) {
            return Some(1.0 / short);
        }
    }
    None
}

/// A round decimal, read from its text so that it is the nearest double.
fn round(digits: &str, exponent: i32) -> Option<f64> {
    format!("{digits}e{exponent}").parse().ok()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "exponents of doubles are small"
)]
fn decade(value: f64) -> i32 {
    value.log10().floor() as i32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "exponents of doubles are small"
)]
fn power(value: f64) -> i32 {
    value.log2().floor() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_begin_where_half_of_one_is_the_tolerance() {
        let steps = within(0.005);
        assert!(steps.iter().any(|s| s.text == "100"));
        assert!(steps.iter().all(|s| s.scale >= 99.99), "{steps:?}");
        assert!(
            steps
                .iter()
                .any(|s| s.text == "128" && s.origin == Origin::Binary)
        );
        assert_eq!(within(0.0), []);
    }

    #[test]
    fn the_coarsest_steps_are_twice_the_tolerance_in_few_digits_and_in_all() {
        let survey = Survey::new(crate::transform::data_type::DataType::Float32, &[]);
        let scales = |error| {
            let steps = coarsest(&survey, &Wish::max_error(error));
            steps.into_iter().map(|s| s.text).collect::<Vec<_>>()
        };
        assert_eq!(scales(0.3), ["1.67", "1.667", "1.6666666666666667"]);
        assert_eq!(scales(0.005), ["100"]);
        assert_eq!(scales(0.0), [""; 0]);
    }

    #[test]
    fn the_finest_steps_fit() {
        let steps = finest(436.9);
        assert!(steps.iter().all(|step| step.scale <= 436.9), "{steps:?}");
        assert!(steps.iter().any(|step| step.text == "436"));
        assert!(steps.iter().any(|step| step.text == "400"));
    }

    #[test]
    fn a_step_that_somebody_chose_is_recognised() {
        assert_eq!(shortened(99.999_999_99, 0.010_000_000_001), Some(100.0));
        assert_eq!(shortened(1.0 / 0.0017, 0.0017), Some(1.0 / 0.0017));
    }
}
