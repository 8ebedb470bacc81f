//! The values that a chain treats worst: those halfway between two that come back as they are, and their neighbours.

use super::candidate::Candidate;
use super::elements::nearest;
use super::frame::Frame;
use crate::transform::scalar::Scalar;

/// How many neighbours on each side: arithmetic in the type of the values turns round some of them late.
const NEIGHBOURS: i128 = 2;

/// The elements halfway between the steps of a candidate, of `most` steps at most: all or, beyond that, as many at either end of
/// the codes as evenly between them. None for a float type.
pub(super) fn halfway(frame: &Frame, candidate: &Candidate, most: u64) -> Vec<u8> {
    let number = |text: &Option<String>, absent: f64| {
        let text = text.as_deref();
        text.map_or(Some(absent), |text| text.parse().ok())
    };
    let (Some(a), Some(b), Some(scale), Some(offset)) = (
        candidate.ends.0.integer(),
        candidate.ends.1.integer(),
        number(&candidate.scale, 1.0),
        number(&candidate.offset, 0.0),
    ) else {
        return Vec::new();
    };
    let (first, last) = (a.min(b), a.max(b));
    let size = frame.data_type.size();
    let mut bytes = Vec::new();
    let mut element = vec![0; size];
    for code in chosen(first, last, most) {
        #[expect(clippy::cast_precision_loss, reason = "neighbours are looked at too")]
        let half = (code as f64 + 0.5) / scale + offset;
        let Some(middle) = nearest(frame.data_type, half) else {
            continue;
        };
        for step in -NEIGHBOURS..=NEIGHBOURS {
            let value = Scalar::from_ordinal(frame.data_type, middle.ordinal() + step);
            let inside = value.compare(frame.low).is_some_and(|order| order.is_ge())
                && value.compare(frame.high).is_some_and(|order| order.is_le());
            if inside {
                value.write_ne_bytes(&mut element);
                bytes.extend_from_slice(&element);
            }
        }
    }
    bytes
}

/// The codes from `first` to `last`, or some of them.
fn chosen(first: i128, last: i128, most: u64) -> Vec<i128> {
    let count = last - first + 1;
    let most = i128::from(most.max(4));
    if count <= most {
        return (first..=last).collect();
    }
    let quarter = most / 4;
    let between = (0..most / 2).map(|n| first + count * n / (most / 2));
    let low = first..first + quarter;
    let high = last - quarter + 1..last + 1;
    low.chain(between).chain(high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codes_are_chosen_as_long_as_they_are_few() {
        assert_eq!(chosen(-2, 1, 4), [-2, -1, 0, 1]);
        let some = chosen(0, 999, 8);
        assert_eq!(some, [0, 1, 0, 250, 500, 750, 998, 999]);
    }
}
