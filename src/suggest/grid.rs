//! The grid that values lie on without showing it: whole multiples of a decimal or of a binary step, as their type holds them.

use half::f16;

use crate::transform::data_type::DataType;

/// Decimals beyond which no step is looked for.
const MOST_DECIMALS: u32 = 15;

/// Above this the multiples of a step are not told apart any more, or have no type narrower than the array's.
const LARGEST: f64 = 4_503_599_627_370_496.0;

/// How many steps the closest values may be apart.
const STEPS_APART: u8 = 8;

/// The coarsest decimal step of which all values are multiples, or multiples from some start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DecimalGrid {
    data_type: DataType,
    /// `None` once there is none.
    state: Option<State>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct State {
    decimals: u32,
    /// The first value in units of the last decimal.
    first: Option<i64>,
    /// What divides all values, and all differences from the first, in these units.
    divisor: u64,
    difference: u64,
}

impl DecimalGrid {
    pub(super) const fn new(data_type: DataType) -> Self {
        let knows = matches!(
            data_type,
            DataType::Float64 | DataType::Float32 | DataType::Float16
        );
        let state = State {
            decimals: 0,
            first: None,
            divisor: 0,
            difference: 0,
        };
        Self {
            data_type,
            state: if knows { Some(state) } else { None },
        }
    }

    /// Looks at finite values.
    pub(super) fn extend(&mut self, values: &[f64]) {
        for &value in values {
            let Some(state) = &mut self.state else { return };
            let Some(multiple) = multiple(self.data_type, value, state) else {
                self.state = None;
                return;
            };
            state.add(multiple);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let (Some(a), Some(mut b)) = (&mut self.state, other.state) else {
            self.state = None;
            return;
        };
        let decimals = a.decimals.max(b.decimals);
        if !a.refine(decimals) || !b.refine(decimals) {
            self.state = None;
            return;
        }
        if let Some(first) = b.first {
            a.add(first);
        }
        a.divisor = greatest_common_divisor(a.divisor, b.divisor);
        a.difference = greatest_common_divisor(a.difference, b.difference);
    }

    /// The grid, where there is one.
    pub(super) fn found(&self) -> Option<FoundGrid> {
        let state = self.state?;
        let first = state.first?;
        let unit = ten_to(state.decimals);
        let of = |step: u64, anchor: i64| FoundGrid {
            scale: unit / to_double(step),
            step: to_double(step) / unit,
            anchor: anchor as f64 / unit,
        };
        if state.divisor > 0 && state.difference <= state.divisor.saturating_mul(2) {
            return Some(of(state.divisor, 0));
        }
        (state.difference > 0).then(|| of(state.difference, first))
    }
}

/// A grid of values: `anchor + k * step` with whole k, where `scale` is the reciprocal of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FoundGrid {
    pub(super) scale: f64,
    pub(super) step: f64,
    /// A value on the grid; 0 where zero is.
    pub(super) anchor: f64,
}

impl State {
    fn add(&mut self, multiple: i64) {
        let first = *self.first.get_or_insert(multiple);
        // Most values are multiples of what was found before; a division tells.
        let magnitude = multiple.unsigned_abs();
        if self.divisor == 0 || !magnitude.is_multiple_of(self.divisor) {
            self.divisor = greatest_common_divisor(self.divisor, magnitude);
        }
        let difference = multiple.abs_diff(first);
        if self.difference == 0 || !difference.is_multiple_of(self.difference) {
            self.difference = greatest_common_divisor(self.difference, difference);
        }
    }

    /// Goes over to a finer unit. False where numbers become too large.
    fn refine(&mut self, decimals: u32) -> bool {
        while self.decimals < decimals {
            self.decimals += 1;
            let tenfold = |n: u64| n.checked_mul(10).filter(|n| to_double(*n) <= LARGEST);
            let (Some(divisor), Some(difference)) =
                (tenfold(self.divisor), tenfold(self.difference))
            else {
                return false;
            };
            (self.divisor, self.difference) = (divisor, difference);
            if let Some(first) = &mut self.first {
                match first.checked_mul(10).filter(|n| n.abs() as f64 <= LARGEST) {
                    Some(refined) => *first = refined,
                    None => return false,
                }
            }
        }
        true
    }
}

/// A value in units of the state's last decimal, to which decimals are added as the value needs them.
fn multiple(data_type: DataType, value: f64, state: &mut State) -> Option<i64> {
    // A float32 tells nine digits at most, so with more every value is on every grid.
    let most = match data_type {
        DataType::Float64 => LARGEST,
        _ => 999_999_999.0,
    };
    loop {
        let unit = ten_to(state.decimals);
        let multiple = (value * unit).round_ties_even();
        if multiple.abs() > most {
            return None;
        }
        let back = multiple / unit;
        let back = match data_type {
            #[expect(clippy::cast_possible_truncation, reason = "rounding as the array did")]
            DataType::Float32 => f64::from(back as f32),
            DataType::Float16 => f16::from_f64(back).to_f64(),
            _ => back,
        };
        if back == value {
            #[expect(clippy::cast_possible_truncation, reason = "below 2^52")]
            return Some(multiple as i64);
        }
        if state.decimals == MOST_DECIMALS || !state.refine(state.decimals + 1) {
            return None;
        }
    }
}

/// The exponent of the largest power of two that divides every value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BinaryGrid {
    exponent: i32,
}

impl BinaryGrid {
    pub(super) const fn new() -> Self {
        Self { exponent: i32::MAX }
    }

    /// Looks at finite values.
    pub(super) fn extend(&mut self, values: &[f64]) {
        let mut least = self.exponent;
        for value in values {
            let bits = value.to_bits();
            let mantissa = bits & ((1 << 52) - 1);
            let exponent = ((bits >> 52) & 0x7ff) as i32;
            // Below the smallest normal number there is no implicit bit.
            let (mantissa, exponent) = match exponent {
                0 => (mantissa, -1074),
                _ => (mantissa | 1 << 52, exponent - 1075),
            };
            let lowest = if mantissa == 0 {
                i32::MAX
            } else {
                exponent + mantissa.trailing_zeros().cast_signed()
            };
            least = least.min(lowest);
        }
        self.exponent = least;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.exponent = self.exponent.min(other.exponent);
    }

    /// The exponent; `None` where all values are zero.
    pub(super) fn exponent(self) -> Option<i32> {
        (self.exponent < i32::MAX).then_some(self.exponent)
    }
}

/// The step of values that lie on a grid of any step, from some of them in ascending order, each once.
///
/// It is guessed from the closest neighbours, which may be several steps apart, made more precise by ever farther ones, and must
/// then explain all.
pub(super) fn any_step(sorted: &[f64], grain: f64) -> Option<FoundGrid> {
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let closest = gaps
        .filter(|gap| *gap > 4.0 * grain)
        .fold(f64::INFINITY, f64::min);
    if sorted.len() < 8 || !closest.is_finite() {
        return None;
    }
    (1..=STEPS_APART).find_map(|apart| step_near(sorted, grain, closest, f64::from(apart)))
}

/// The step, if the closest values are so many steps apart.
fn step_near(sorted: &[f64], grain: f64, closest: f64, apart: f64) -> Option<FoundGrid> {
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    let mut step = closest / apart;
    if (high - low) / step > 1e9 {
        return None;
    }
    // Pairs twice as far apart tell a step twice as precisely, and what is known of it tells how many steps they are apart.
    let mut reach = closest * 1.5;
    loop {
        let (mut distances, mut multiples) = (0.0, 0.0);
        let (mut pairs, mut fitting) = (0_usize, 0_usize);
        let mut far = 0;
        for (near, value) in sorted.iter().enumerate() {
            far = far.max(near);
            while sorted
                .get(far + 1)
                .is_some_and(|next| next - value <= reach)
            {
                far += 1;
            }
            if far == near {
                continue;
            }
            let distance = sorted[far] - value;
            let multiple = (distance / step).round();
            pairs += 1;
            if multiple >= 1.0 && (distance - multiple * step).abs() <= step * 0.25 {
                fitting += 1;
                distances += distance;
                multiples += multiple;
            }
        }
        // By chance every second one fits.
        if fitting * 10 < pairs * 9 {
            return None;
        }
        if fitting > 0 {
            step = distances / multiples;
        }
        if reach >= high - low {
            break;
        }
        reach = (reach * 2.0).min(high - low);
    }
    // Far pairs that share no value, so that what each was rounded by averages out.
    let half = sorted.len() / 2;
    let pairs = sorted.iter().zip(sorted.iter().skip(half));
    let (mut distances, mut multiples) = (0.0, 0.0);
    for (near, far) in pairs {
        distances += far - near;
        multiples += ((far - near) / step).round();
    }
    if multiples > 0.0 {
        step = distances / multiples;
    }
    let slack = (2.0 * grain).max(step * 1e-6);
    let explains = |value: &f64| {
        let distance = value - low;
        (distance - (distance / step).round() * step).abs() <= slack
    };
    if slack > step * 0.1 || !sorted.iter().all(explains) {
        return None;
    }
    let on_zero = (low / step - (low / step).round()).abs() * step <= slack;
    Some(FoundGrid {
        scale: 1.0 / step,
        step,
        anchor: if on_zero { 0.0 } else { low },
    })
}

fn ten_to(exponent: u32) -> f64 {
    10_f64.powi(exponent.cast_signed())
}

#[expect(clippy::cast_precision_loss, reason = "kept below 2^52")]
fn to_double(n: u64) -> f64 {
    n as f64
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(data_type: DataType, values: &[f64]) -> Option<(f64, f64)> {
        let mut whole = DecimalGrid::new(data_type);
        whole.extend(values);
        // Parts in any order tell the same.
        let mut parts = DecimalGrid::new(data_type);
        for value in values.iter().rev() {
            let mut part = DecimalGrid::new(data_type);
            part.extend(&[*value]);
            parts.merge(&part);
        }
        let of = |grid: DecimalGrid| grid.found().map(|found| (found.scale, found.step));
        assert_eq!(of(whole), of(parts));
        of(whole)
    }

    #[test]
    fn multiples_of_a_hundredth_in_float32_are_found() {
        let narrowed = |k: i32| f64::from((f64::from(k) * 0.01) as f32);
        let values: Vec<f64> = (-5000..=5000).map(narrowed).collect();
        assert_eq!(decimal(DataType::Float32, &values), Some((100.0, 0.01)));
        let mut spoilt = values;
        spoilt.push(f64::from(0.123_456_79_f32));
        let found = decimal(DataType::Float32, &spoilt);
        assert_ne!(found, Some((100.0, 0.01)));
    }

    #[test]
    fn coarse_steps_and_shifted_grids_are_found() {
        assert_eq!(
            decimal(DataType::Float64, &[300.0, -200.0, 1000.0]),
            Some((0.01, 100.0))
        );
        let shifted = [273.15, 273.65, 274.15, 275.15];
        assert_eq!(decimal(DataType::Float64, &shifted), Some((2.0, 0.5)));
        assert_eq!(decimal(DataType::Float64, &[1.0 / 3.0]), None);
    }

    #[test]
    fn the_binary_step_is_that_of_the_lowest_bit() {
        let mut grid = BinaryGrid::new();
        assert_eq!(grid.exponent(), None);
        grid.extend(&[0.0, 3.0, 0.75, 1024.0]);
        assert_eq!(grid.exponent(), Some(-2));
        grid.extend(&[5e-324]);
        assert_eq!(grid.exponent(), Some(-1074));
    }

    #[test]
    fn a_step_of_any_length_is_found() {
        let step = 0.001_742_9;
        let values: Vec<f64> = (0..900)
            .map(|k| 5.5 + step * f64::from(k * k % 65_521))
            .collect();
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let found = any_step(&sorted, 1e-14).unwrap();
        assert!((found.step - step).abs() < 1e-12, "{found:?}");
        // No two of these are one step apart, but two and three.
        let gaps: Vec<f64> = (0..900)
            .map(|k| 5.5 + step * f64::from(k * 5 / 2))
            .collect();
        let found = any_step(&gaps, 1e-14).unwrap();
        assert!((found.step - step).abs() < 1e-12, "{found:?}");
        // A few values far from the others, in float32.
        let narrow = |k: i32| f64::from((f64::from(k) * 0.001_751_32 + 281.33) as f32);
        let tail: Vec<f64> = [-30_855, -30_854, -30_820, -30_700]
            .into_iter()
            .chain((-30_000..30_000).step_by(3))
            .map(narrow)
            .collect();
        let found = any_step(&tail, 3.1e-5).unwrap();
        assert!((found.step - 0.001_751_32).abs() < 1e-9, "{found:?}");
        let irregular: Vec<f64> = (1..900).map(|k| f64::from(k).sqrt()).collect();
        assert_eq!(any_step(&irregular, 1e-14), None);
    }
}
