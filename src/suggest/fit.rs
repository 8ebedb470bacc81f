//! The grid that values lay on before their type rounded them: step and start in doubles, such as unpacked CF data have.
//!
//! [`any_step`](super::grid::any_step) tells a step nearly; what is found here is meant to bring back every bit. In a type narrower
//! than float64 every value is an interval, of what rounds to it, and a grid must meet all of them. In float64 itself nothing
//! is known of a value beyond its bits, and a chain that decoded in a narrower type rounded more than once: there, starts are tried
//! with the arithmetic of the codec.

use half::{bf16, f16};

use super::elements::nearest;
use super::grid::FoundGrid;
use super::steps::shortened;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many doubles are looked at before all are.
const PROBED: usize = 64;

/// How often an interval is cut to find its ends.
const CUTS: usize = 80;

/// How many starts are tried with the arithmetic of the codec.
const STARTS: u64 = 400_000;

/// Starts that people choose: zero Celsius, and the triple point of water.
const CHOSEN: [f64; 3] = [273.15, -273.15, 273.16];

/// How many decimals steps and starts have at most.
const DECIMALS: i32 = 15;

/// A grid that should bring back every bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    pub(super) scale: f64,
    /// A value on it.
    pub(super) anchor: f64,
    /// Whether it does so if it is scaled in float64, though the values are of a narrower type.
    pub(super) wide: bool,
}

/// The grid of values in ascending order, each once, near one that was found to explain them all.
pub(super) fn fit(sorted: &[f64], data_type: DataType, near: FoundGrid) -> Option<Fit> {
    match data_type {
        DataType::Float64 => fit_quotients(sorted, data_type, near),
        // Values that were rounded once are in their intervals, and those that the codec decoded in their own type are not.
        float if float.is_float() => {
            let fit = fit_intervals(sorted, float, near);
            fit.or_else(|| fit_quotients(sorted, float, near))
        }
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
            wide: true,
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

/// The arithmetic of the codec in the type of the values.
#[derive(Debug, Clone, Copy)]
struct Quotients {
    data_type: DataType,
    scale: f64,
}

impl Quotients {
    /// A result as the type has it: doubles hold sums, products and quotients of narrower floats well enough to be rounded twice.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding as the codec does"
    )]
    fn rounded(self, x: f64) -> f64 {
        match self.data_type {
            DataType::Float32 => f64::from(x as f32),
            DataType::Float16 => f16::from_f64(x).to_f64(),
            DataType::BFloat16 => bf16::from_f64(x).to_f64(),
            _ => x,
        }
    }

    /// Whether a value comes back with this start.
    fn explains(self, start: f64, value: f64) -> bool {
        let shifted = self.rounded(value - start);
        let code = self.rounded(shifted * self.scale).round_ties_even();
        let quotient = self.rounded(code / self.scale);
        self.rounded(quotient + start) == value
    }
}

/// A grid for the arithmetic of the codec in the type of the values: starts that people choose and those with few decimals are tried.
fn fit_quotients(sorted: &[f64], data_type: DataType, near: FoundGrid) -> Option<Fit> {
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    let scale = shortened(near.scale, near.step).unwrap_or(near.scale);
    let with_scale = |scale: f64| Quotients { data_type, scale };
    let quotients = with_scale(with_scale(scale).rounded(scale));
    let fit = |scale: f64, anchor: f64| Fit {
        scale,
        anchor,
        wide: false,
    };
    let all = |quotients: Quotients, start: f64| {
        sorted.iter().all(|value| quotients.explains(start, *value))
    };
    let some = sorted.iter().step_by(sorted.len().div_ceil(PROBED).max(1));
    let holds = |start: f64| {
        let start = quotients.rounded(start);
        let mut some = some.clone();
        some.all(|value| quotients.explains(start, *value)) && all(quotients, start)
    };
    let chosen = [0.0, low, high, low / 2.0 + high / 2.0].into_iter();
    let mut chosen = chosen.chain(CHOSEN);
    if let Some(start) = chosen.find(|start| holds(*start)) {
        return Some(fit(scale, start));
    }
    if data_type == DataType::Float64 {
        // A neighbour of the scale may do where the scale was the reciprocal of a factor.
        for scale in [scale.next_down(), scale.next_up()] {
            if all(with_scale(scale), 0.0) {
                return Some(fit(scale, 0.0));
            }
        }
    }
    let span = high - low;
    let step = near.step;
    // Around the values, and as far as codes of 16 bits reach.
    let around = (low - span, high + span);
    let reached = (high - 65_535.0 * step, low + 32_768.0 * step);
    let reached = (reached.0.min(around.0), reached.1.max(around.1));
    [around, reached].into_iter().find_map(|(from, to)| {
        let start = round_start_where(from, to, &holds)?;
        Some(fit(scale, start))
    })
}

/// The number in a range with the fewest decimals that is accepted, as long as there are not too many to try.
fn round_start_where(from: f64, to: f64, accept: &dyn Fn(f64) -> bool) -> Option<f64> {
    let largest = from.abs().max(to.abs());
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "exponents of doubles are small"
    )]
    let top = largest.log10().floor() as i32;
    let mut left = STARTS;
    for decimals in -top.max(0)..DECIMALS {
        let unit = 10_f64.powi(decimals.abs());
        let start = |multiple: f64| match decimals {
            0.. => multiple / unit,
            _ => multiple * unit,
        };
        let multiple = |start: f64| match decimals {
            0.. => start * unit,
            _ => start / unit,
        };
        let (first, last) = (multiple(from).ceil(), multiple(to).floor());
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
            if accept(start(multiple)) {
                return Some(start(multiple));
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
    fn quotients_in_float32_give_back_their_start() {
        for offset in [273.15_f32, -90.0, -12.3, 1000.0, 0.5] {
            let code = |k: i32| f64::from((k * 7919) % 10_000 - 2315) as f32;
            let decoded = (0..3000).map(|k| f64::from(code(k) / 100.0 + offset));
            let values = sorted(decoded);
            let farthest = values[0].abs().max(values[values.len() - 1].abs());
            let grain = super::super::frame::grain(DataType::Float32, farthest);
            let fit = found(&values, DataType::Float32, grain);
            let fit = fit.unwrap_or_else(|| panic!("{offset}"));
            let (scale, start) = (fit.scale as f32, fit.anchor as f32);
            let lost = values.iter().filter(|value| {
                let value = **value as f32;
                let code = ((value - start) * scale).round_ties_even();
                code / scale + start != value
            });
            assert!(fit.wide || lost.count() == 0, "{offset}: {fit:?}");
        }
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
