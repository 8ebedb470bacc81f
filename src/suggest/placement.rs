//! Where codes lie: which offset brings the values into a type, with codes to spare and a number that people can read.

use super::candidate::{Candidate, Origin, Recipe, Room};
use super::elements::{nearest, number_text};
use super::frame::Frame;
use super::steps::Step;
use crate::codecs::short;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// The largest code for which doubles tell neighbours apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How many digits an offset may have before those of the step are better.
const DIGITS: i32 = 14;

/// How many round numbers are looked at on either side of the middle.
const BESIDE: i32 = 12;

/// The codes that a type has for values and for what needs codes of its own, `more` of them for what lies among the values;
/// `None` where there is no room.
pub(super) fn room(frame: &Frame, stored: DataType, more: usize) -> Option<(Room, Vec<i128>)> {
    let (mut low, mut high) = ends(stored)?;
    if let Some(bits) = frame.bits.filter(|bits| *bits < stored.bits()) {
        let codes = 1_i128 << bits;
        (low, high) = if low < 0 {
            (-codes / 2, codes / 2 - 1)
        } else {
            (0, codes - 1)
        };
    }
    let given = frame.given_code();
    let mut spare = Vec::new();
    let (mut first, mut last) = (low, high);
    if let Some(code) = given {
        if !(low..=high).contains(&code) {
            return None;
        }
        // The larger side of it is for values.
        if code - low < high - code {
            first = code + 1;
        } else {
            last = code - 1;
        }
    }
    for _ in 0..frame.spare() + more {
        // The ends that packed files usually spare: the least code of a signed type, the greatest of an unsigned one.
        if low < 0 {
            spare.push(first);
            first += 1;
        } else {
            spare.push(last);
            last -= 1;
        }
    }
    (first <= last).then_some((
        Room {
            low: first,
            high: last,
        },
        spare,
    ))
}

/// The least and the greatest code of an integer type.
fn ends(stored: DataType) -> Option<(i128, i128)> {
    let (low, high) = Scalar::finite_range(stored);
    Some((low.integer()?, high.integer()?))
}

/// The codes that values need with a step; at least as many as a chain then uses.
pub(super) fn codes_needed(frame: &Frame, scale: f64) -> f64 {
    let (low, high) = frame.ends();
    ((high * scale).round() - (low * scale).round()).abs() + 1.0
}

/// The candidate with this step and type, if the values fit.
pub(super) fn place(
    frame: &Frame,
    step: &Step,
    stored: DataType,
    pinned: Option<&str>,
) -> Option<Candidate> {
    let short_in = |number: f64| match step.wide {
        true => number_text(number),
        false => short_in(frame.data_type, number),
    };
    let scale = match step.origin {
        Origin::Pinned => step.text.clone(),
        _ => short_in(step.scale),
    };
    let rounds = pinned.is_none()
        && !matches!(step.origin, Origin::Hidden | Origin::Whole)
        && !frame.is_on_grid(step.scale);
    with_spare_codes(frame, stored, |room, spare| {
        let offsets = match pinned {
            Some(offset) => vec![Some(offset.to_owned())],
            None => anchored(frame, step, room, rounds)
                .into_iter()
                .map(|offset| (offset != 0.0).then(|| short_in(offset)))
                .collect(),
        };
        let recipe = |offset: Option<String>| Recipe {
            scale: (step.scale != 1.0).then(|| scale.clone()),
            offset,
            origin: step.origin,
            stored,
            spare: spare.clone(),
            room: Some(room),
            wide: step.wide,
            rounds,
        };
        offsets.into_iter().map(recipe).collect()
    })
}

/// Makes a candidate of the first recipe that gives one, keeps the fill, and can be opened where chunks lie in shards. What lies
/// among the values gets spare codes only where no recipe does without; and only then the fill gives way.
fn with_spare_codes(
    frame: &Frame,
    stored: DataType,
    recipes: impl Fn(Room, Vec<i128>) -> Vec<Recipe>,
) -> Option<Candidate> {
    let (mut unopened, mut with_new_fill) = (None, None);
    let most = frame.between() + usize::from(frame.sharded);
    let rooms = (0..=most).map_while(|more| room(frame, stored, more));
    // Without the code that was kept for a fill which may be another one.
    let bare = frame.without_spare_fill();
    let last = bare.and_then(|frame| room(&frame, stored, 0));
    for (room, spare) in rooms.chain(last) {
        for recipe in recipes(room, spare) {
            match Candidate::make(frame, &recipe) {
                Some(candidate) if candidate.new_fill.is_none() => {
                    if candidate.suits_shards() {
                        return Some(candidate);
                    }
                    unopened.get_or_insert(candidate);
                }
                Some(candidate) => {
                    with_new_fill.get_or_insert(candidate);
                }
                None => {}
            }
        }
    }
    unopened.or(with_new_fill)
}

/// The shortest text that a type reads as the nearest it has to a number.
fn short_in(data_type: DataType, number: f64) -> String {
    nearest(data_type, number).map_or_else(|| number_text(number), short)
}

/// How far the grid of a step may be from values that must not lie on it, in steps.
const APART: [f64; 2] = [0.5, 0.25];

/// The offsets for the grid of a step and, where zero need not be on it, for those through values that must be kept and, where
/// values are rounded, for those that miss what is declared to be missing.
fn anchored(frame: &Frame, step: &Step, room: Room, rounds: bool) -> Vec<f64> {
    let mut all = offsets(frame, step, room);
    if step.anchor == 0.0 {
        let kept = frame.keep.iter().map(|value| value.to_f64());
        for anchor in kept.filter(|value| *value != 0.0) {
            let step = Step {
                anchor,
                ..step.clone()
            };
            all.extend(offsets(frame, &step, room));
        }
        let declared = frame.stand_ins.iter().map(|value| value.to_f64());
        for value in declared.filter(|value| rounds && value.is_finite()) {
            for part in APART {
                let step = Step {
                    anchor: tidy(value + part / step.scale),
                    ..step.clone()
                };
                all.extend(offsets(frame, &step, room));
            }
        }
    }
    all
}

/// The offsets that bring the values into the room, the best first.
#[expect(
    clippy::cast_precision_loss,
    reason = "planning; what comes of it is measured"
)]
fn offsets(frame: &Frame, step: &Step, room: Room) -> Vec<f64> {
    let (low, high) = frame.ends();
    let (least, greatest) = ((room.low as f64).max(-EXACT), (room.high as f64).min(EXACT));
    let from_anchor = |value: f64| ((value - step.anchor) * step.scale).round();
    // Shifts of the grid, in steps, that keep both ends in the room.
    // A negative scale turns them round.
    let (a, b) = (from_anchor(low), from_anchor(high));
    let first = a.max(b) - greatest;
    let last = a.min(b) - least;
    // Without an offset codes may be larger than what doubles tell apart: nothing is planned with them.
    let unshifted = a.min(b) >= room.low as f64 && a.max(b) <= room.high as f64;
    if !(first.is_finite() && last.is_finite()) || first > last {
        return match step.anchor == 0.0 && unshifted {
            true => vec![0.0],
            false => Vec::new(),
        };
    }
    // Offsets far from the values cost them digits.
    let span = high - low;
    let (near, far) = (from_anchor(low - span), from_anchor(high + span));
    let (first, last) = match (first.max(near.min(far)), last.min(near.max(far))) {
        (near_first, near_last) if near_first <= near_last => (near_first, near_last),
        _ => (first, last),
    };
    let at = |shift: f64| tidy(step.anchor + shift / step.scale);
    let mut offsets = Vec::new();
    if step.anchor == 0.0 && unshifted {
        offsets.push(0.0);
    }
    if step.anchor != 0.0 && (first..=last).contains(&0.0) {
        offsets.push(step.anchor);
    }
    let on_grid = |offset: f64| {
        let shift = (offset - step.anchor) * step.scale;
        (shift - shift.round()).abs() <= 1e-9 * shift.abs().max(1.0)
    };
    offsets.extend(roundest(at(first), at(last), &on_grid));
    // A round number of steps is always on the grid.
    offsets.extend(roundest(first, last, &|shift| shift.fract() == 0.0).map(at));
    offsets
}

/// A sum without what its rounding added.
fn tidy(sum: f64) -> f64 {
    let short: f64 = format!("{sum:.13e}").parse().unwrap_or(sum);
    if (short - sum).abs() <= 4.0 * f64::EPSILON * sum.abs() {
        return short;
    }
    sum
}

/// The number between two others that has the fewest digits and is accepted; near the middle, where there are several.
pub(super) fn roundest(low: f64, high: f64, accept: &dyn Fn(f64) -> bool) -> Option<f64> {
    if low <= 0.0 && high >= 0.0 && accept(0.0) {
        return Some(0.0);
    }
    let middle = low / 2.0 + high / 2.0;
    let largest = low.abs().max(high.abs());
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "exponents of doubles are small"
    )]
    let top = largest.log10().ceil() as i32;
    for exponent in (top - DIGITS..=top).rev() {
        let unit = 10_f64.powi(exponent);
        if unit == 0.0 || !unit.is_finite() {
            continue;
        }
        let first = (low / unit).ceil();
        let last = (high / unit).floor();
        if first > last {
            continue;
        }
        let nearest = (middle / unit).round().clamp(first, last);
        let beside = (0..BESIDE).flat_map(|n| [nearest + f64::from(n), nearest - f64::from(n)]);
        for multiple in beside.filter(|multiple| (first..=last).contains(multiple)) {
            // Read from text, so that it is the nearest double to the round number.
            let text = format!("{multiple}e{exponent}");
            if let Ok(number) = text.parse::<f64>()
                && (low..=high).contains(&number)
                && accept(number)
            {
                return Some(number);
            }
        }
    }
    None
}

/// The candidates that store integers as they are, shifted at most, in this type.
pub(super) fn place_integers(
    frame: &Frame,
    stored: DataType,
    pinned: (Option<&str>, Option<&str>),
) -> Option<Candidate> {
    let (low, high) = (frame.low.integer()?, frame.high.integer()?);
    with_spare_codes(frame, stored, |room, spare| {
        let offsets = match pinned.1 {
            Some(offset) => vec![Some(offset.to_owned())],
            None => whole_offsets(frame.data_type, (low, high), room)
                .into_iter()
                .map(|offset| (offset != 0).then(|| offset.to_string()))
                .collect(),
        };
        let recipe = |offset: Option<String>| Recipe {
            scale: pinned.0.map(str::to_owned),
            offset,
            origin: if pinned.0.is_some() {
                Origin::Pinned
            } else {
                Origin::Whole
            },
            stored,
            spare: spare.clone(),
            room: Some(room),
            wide: false,
            rounds: false,
        };
        offsets.into_iter().map(recipe).collect()
    })
}

/// The shifts of integers that bring them into the room, the best first.
fn whole_offsets(data_type: DataType, (low, high): (i128, i128), room: Room) -> Vec<i128> {
    let (first, last) = (high - room.high, low - room.low);
    // What the type itself does not hold costs a wider one to shift in, which fewer readers open.
    let Some((least, greatest)) = ends(data_type) else {
        return Vec::new();
    };
    let inside = |offset: i128| (least..=greatest).contains(&offset);
    if first > last {
        return Vec::new();
    }
    let mut offsets = Vec::new();
    if (first..=last).contains(&0) {
        offsets.push(0);
    }
    let mut unit = 10_i128.pow(19);
    while unit > 0 {
        // The greatest multiple that fits: unsigned values must not become negative on the way.
        let multiple = last.min(low).div_euclid(unit) * unit;
        if multiple >= first {
            offsets.push(multiple);
            break;
        }
        unit /= 10;
    }
    if least < 0 && !offsets.iter().any(|offset| inside(*offset)) {
        // Next to the least value of the type there is no round one below; signed ones may become negative.
        let from = first.max(least);
        let mut unit = 10_i128.pow(19);
        while unit > 0 {
            let multiple = -(-from).div_euclid(unit) * unit;
            if multiple <= last.min(greatest) {
                offsets.push(multiple);
                break;
            }
            unit /= 10;
        }
    }
    offsets.extend([low, last, first]);
    offsets.sort_by_key(|offset| !inside(*offset));
    offsets
}

/// The candidate that stores values as floats of a narrower type, scaled at most.
pub(super) fn place_floats(
    frame: &Frame,
    stored: DataType,
    pinned: (Option<&str>, Option<&str>),
) -> Option<Candidate> {
    if frame.given_code().is_some() {
        // NaN is stored as other values are, and gets no code.
        return None;
    }
    let recipe = |scale: Option<String>, offset: Option<String>| Recipe {
        origin: match (&scale, pinned.0) {
            (_, Some(_)) => Origin::Pinned,
            (Some(_), None) => Origin::Binary,
            (None, None) => Origin::Whole,
        },
        scale,
        offset,
        stored,
        spare: Vec::new(),
        room: None,
        wide: false,
        rounds: false,
    };
    let offset = || pinned.1.map(str::to_owned);
    if let Some(scale) = pinned.0 {
        return Candidate::make(frame, &recipe(Some(scale.to_owned()), offset()));
    }
    let (low, high) = frame.ends();
    if low == high && frame.data_type.is_float() && pinned.1.is_none() {
        // Nothing but one value: it is the offset.
        let only = (low != 0.0).then(|| short(frame.low));
        if let Some(candidate) = Candidate::make(frame, &recipe(None, only)) {
            return Some(candidate);
        }
    }
    if let Some(candidate) = Candidate::make(frame, &recipe(None, offset())) {
        return Some(candidate);
    }
    // The power of two that brings the farthest value to half of the end of the type.
    let farthest = low.abs().max(high.abs());
    let end = Scalar::finite_range(stored).1.to_f64() / 2.0;
    let scale = 2_f64.powf((end / farthest).log2().floor());
    let usable = frame.data_type.is_float() && scale.is_finite() && scale > 0.0;
    usable
        .then(|| Candidate::make(frame, &recipe(Some(number_text(scale)), offset())))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_as_round_as_they_can_be() {
        let any = |_: f64| true;
        assert_eq!(roundest(248.08, 261.9, &any), Some(250.0));
        assert_eq!(roundest(101_306.1, 101_344.9, &any), Some(101_330.0));
        assert_eq!(roundest(-3.0, 5.0, &any), Some(0.0));
        assert_eq!(roundest(0.123_45, 0.123_46, &any), Some(0.12345));
        assert_eq!(roundest(1.0, 2.0, &|_| false), None);
        // From 0.1 on, every fourth tenth: 48.5, 48.9, 49.3, 49.7 and so on.
        let fourth = |x: f64| ((x - 0.1) * 2.5 + 1e-9).fract() < 2e-9;
        assert_eq!(roundest(48.6, 49.2, &fourth), Some(48.9));
        assert_eq!(tidy(0.1 + 0.2), 0.3);
        assert_eq!(tidy(1.0 / 3.0), 1.0 / 3.0);
    }
}
