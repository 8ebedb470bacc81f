//! The grid that values lay on before their type rounded them: step and start in doubles, such as unpacked CF data have.
//!
//! [`any_step`](super::grid::any_step) tells a step nearly; what is found here is meant to bring back every bit. In a type narrower
//! than float64 every value is an interval, of what rounds to it, and a grid must meet all of them. In float64 itself nothing
//! is known of a value beyond its bits, so starts are tried with the arithmetic of the codec.

use super::elements::nearest;
use super::grid::FoundGrid;
use super::steps::shortened;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many doubles are looked at before all are.
const PROBED: usize = 64;

/// How often an interval is cut to find its ends.
const CUTS: usize = 80;

/// How many starts are tried in float64.
const STARTS: u64 = 400_000;

/// How many decimals steps and starts have at most.
const DECIMALS: i32 = 15;

/// A grid that should bring back every bit, if it is scaled in float64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    pub(super) scale: f64,
    /// A value on it.
    pub(super) anchor: f64,
}

/// The grid of values in ascending order, each once, near one that was found to explain them all.
pub(super) fn fit(sorted: &[f64], data_type: DataType, near: FoundGrid) -> Option<Fit> {
    match data_type {
        DataType::Float64 => fit_doubles(sorted, near),
        float if float.is_float() => fit_intervals(sorted, float, near),
        _ => None,
    }
}

/// What rounds to a value, in steps from the first value: `low..=high` around `multiple`.
#[derive(Debug, Clone, Copy)]
struct Interval {
    multiple: f64,
    low: f64,
    high: f64,
}

fn fit_intervals(sorted: &[f64], data_type: DataType, near: FoundGrid) -> Option<Fit> {
    let first = *sorted.first()?;
    let interval = |value: f64| {
        let here = nearest(data_type, value)?.ordinal();
        let next = |n| Scalar::from_ordinal(data_type, n).to_f64();
        let (below, above) = (next(here - 1), next(here + 1));
        let finite = below.is_finite() && above.is_finite();
        // A little less than half way, where ties would tell.
        let toward = |other: f64| value + (other - value) * 0.499_999_999;
        finite.then(|| Interval {
            multiple: ((value - first) / near.step).round(),
            low: toward(below),
            high: toward(above),
        })
    };
    let all: Vec<Interval> = sorted
        .iter()
        .map(|value| interval(*value))
        .collect::<Option<_>>()?;
    // How far the best start misses for a step; at most 0 where there is one.
    let starts = |step: f64| {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        for one in &all {
            low = low.max(one.low - one.multiple * step);
            high = high.min(one.high - one.multiple * step);
        }
        (low, high)
    };
    let miss = |step: f64| {
        let (low, high) = starts(step);
        low - high
    };
    let last = all.last()?;
    let reach = 4.0 * (last.high - last.low) / last.multiple.max(1.0);
    let (mut a, mut b) = (near.step - reach, near.step + reach);
    for _ in 0..CUTS {
        let (left, right) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
        if miss(left) <= miss(right) {
            b = right;
        } else {
            a = left;
        }
    }
    let best = a / 2.0 + b / 2.0;
    if miss(best) > 0.0 {
        return None;
    }
    let end = |far: f64| {
        let (mut good, mut bad) = (best, far);
        for _ in 0..CUTS {
            let middle = good / 2.0 + bad / 2.0;
            if miss(middle) <= 0.0 {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    };
    let (least, most) = (end(near.step - reach), end(near.step + reach));
    let from_steps = shortest(least, most).map(|step| 1.0 / step);
    let from_scales = shortest(1.0 / most, 1.0 / least);
    let scales = [from_steps, from_scales, Some(1.0 / best)];
    scales.into_iter().flatten().find_map(|scale| {
        let step = 1.0 / scale;
        let (low, high) = starts(step);
        let start = (low <= high).then(|| round_start(low, high, step))?;
        Some(Fit {
            scale,
            anchor: start,
        })
    })
}

/// The number in an interval with the fewest digits.
fn shortest(low: f64, high: f64) -> Option<f64> {
    let middle = low / 2.0 + high / 2.0;
    (0..17_usize)
        .filter_map(|digits| format!("{middle:.digits$e}").parse::<f64>().ok())
        .find(|number| (low..=high).contains(number))
}

/// A start between two others or some steps beside: 0 where it is one, else the one with the fewest decimals.
fn round_start(low: f64, high: f64, step: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let beside = |start: f64| {
        let shift = ((start - middle) / step).round() * step;
        (low..=high).contains(&(start - shift))
    };
    if beside(0.0) {
        return 0.0;
    }
    for decimals in 0..DECIMALS {
        let unit = 10_f64.powi(decimals);
        // Some multiples next to the first value and next to the nearest round ones.
        let nearest = (middle * unit).round();
        for multiple in (0..200).flat_map(|n| [nearest + f64::from(n), nearest - f64::from(n)]) {
            let start = multiple / unit;
            if beside(start) {
                return start;
            }
        }
    }
    middle
}

/// A grid for doubles: starts with few decimals are tried.
fn fit_doubles(sorted: &[f64], near: FoundGrid) -> Option<Fit> {
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    let scale = shortened(near.scale, near.step).unwrap_or(near.scale);
    let explains = |anchor: f64, scale: f64, value: f64| {
        let code = ((value - anchor) * scale).round_ties_even();
        code / scale + anchor == value
    };
    let all = |anchor: f64, scale: f64| sorted.iter().all(|x| explains(anchor, scale, *x));
    let some = sorted.iter().step_by(sorted.len().div_ceil(PROBED).max(1));
    let holds =
        |anchor: f64| some.clone().all(|x| explains(anchor, scale, *x)) && all(anchor, scale);
    let anchors = [0.0, low, high, low / 2.0 + high / 2.0];
    if let Some(anchor) = anchors.into_iter().find(|anchor| holds(*anchor)) {
        return Some(Fit { scale, anchor });
    }
    // A neighbour of the scale may do where the scale was the reciprocal of a factor.
    for scale in [scale.next_down(), scale.next_up()] {
        if all(0.0, scale) {
            return Some(Fit { scale, anchor: 0.0 });
        }
    }
    let span = high - low;
    let (from, to) = (low - span, high + span);
    let mut left = STARTS;
    for decimals in 0..DECIMALS {
        let unit = 10_f64.powi(decimals);
        let (first, last) = ((from * unit).ceil(), (to * unit).floor());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of starts; too large a one ends the search"
        )]
        let count = (last - first + 1.0).max(0.0) as u64;
        if count > left {
            return None;
        }
        left -= count;
        let mut multiple = first;
        while multiple <= last {
            if holds(multiple / unit) {
                return Some(Fit {
                    scale,
                    anchor: multiple / unit,
                });
            }
            multiple += 1.0;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::grid::any_step;
    use super::*;

    fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    fn found(values: &[f64], data_type: DataType, grain: f64) -> Option<Fit> {
        fit(values, data_type, any_step(values, grain)?)
    }

    #[test]
    fn data_unpacked_into_float32_give_back_step_and_start() {
        let narrow = |x: f64| f64::from(x as f32);
        let unpacked = |factor: f64, offset: f64| {
            sorted((0..30_000).map(move |k| narrow(f64::from(k * 7 % 60_000) * factor + offset)))
        };
        for (factor, offset) in [
            (0.01, 273.15),
            (0.001_742_9, 273.15),
            (0.002_518_517_118_766_9, 297.312_5),
            (0.5, 1e-3),
        ] {
            let values = unpacked(factor, offset);
            let grain = super::super::frame::grain(DataType::Float32, values[values.len() - 1]);
            let fit = found(&values, DataType::Float32, grain);
            let fit = fit.unwrap_or_else(|| panic!("{factor} {offset}"));
            let back = |value: f64| {
                let code = ((value - fit.anchor) * fit.scale).round_ties_even();
                narrow(code / fit.scale + fit.anchor)
            };
            let lost = values.iter().filter(|x| back(**x) != **x).count();
            assert_eq!(lost, 0, "{factor} {offset}: {fit:?}");
        }
        let fit = found(&unpacked(0.01, 273.15), DataType::Float32, 6.2e-5).unwrap();
        assert_eq!((fit.scale, fit.anchor), (100.0, 0.0));
    }

    #[test]
    fn quotients_in_float64_give_back_their_start() {
        let values = sorted((0..5000).map(|k| f64::from(k) / 100.0 + 273.15));
        let fit = found(&values, DataType::Float64, 5.7e-14);
        let fit = fit.unwrap();
        assert_eq!((fit.scale, fit.anchor), (100.0, 273.15));
    }

    #[test]
    fn products_in_float64_are_no_quotients() {
        let values = sorted((1..5000).map(|k| f64::from(k) * 0.01));
        assert_eq!(found(&values, DataType::Float64, 7e-15), None);
    }

    #[test]
    fn values_on_no_grid_have_no_fit() {
        let values = sorted((1..900).map(|k| f64::from((f64::from(k).sqrt()) as f32)));
        let near = FoundGrid {
            scale: 100.0,
            step: 0.01,
            anchor: 0.0,
        };
        assert_eq!(fit(&values, DataType::Float32, near), None);
    }
}
