//! Codes that may stand for a fill: which ones are tried, in which order, and whether the data use them.

use crate::transform::cast_value::cast;
use crate::transform::data_type::DataType;
use crate::transform::equivalence::CodeSet;
use crate::transform::rounding::Rounding;
use crate::transform::scalar::Scalar;

use super::evidence::{Scan, Use};

/// A code that may stand for the fill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The code.
    pub(super) code: Scalar,
    /// Whether padding holds it.
    pub(super) code_use: Use,
    /// Whether it is what the legacy codec stores for the fill.
    pub(super) is_own: bool,
}

/// The codes of a stored type of more than 16 bits that are asked about: what the legacy codec stores for the fill, the ends
/// of the range, and some between, each of which every arithmetic here holds exactly.
///
/// For narrower types a scan tells of all codes, and nothing has to be asked.
pub(super) fn watched(stored: DataType, own: Option<Scalar>) -> Vec<Scalar> {
    let mut codes = Vec::new();
    if stored.bits() <= 16 {
        return codes;
    }
    codes.extend(own.filter(|code| serves(*code)));
    codes.extend(ends(stored));
    if stored.is_integer() {
        let (low, high) = Scalar::finite_range(stored);
        let step = (high.ordinal() - low.ordinal() + 1) / 16;
        codes.extend((0..16).map(|n| Scalar::from_ordinal(stored, low.ordinal() + n * step)));
    } else {
        let largest = Scalar::finite_range(stored).1.ordinal();
        for n in 1..4 {
            codes.push(Scalar::from_ordinal(stored, n - largest));
            codes.push(Scalar::from_ordinal(stored, largest - n));
        }
        // The ends may decode to infinities. Powers of two come through most arithmetic as they were.
        for exponent in [10, 12, 15, 16, 20, 24, 30, 40, 60, 100] {
            let power = 2_f64.powi(exponent);
            codes.extend(
                [-power, power]
                    .iter()
                    .filter_map(|power| exactly(stored, *power)),
            );
        }
    }
    let mut distinct = Vec::new();
    for code in codes {
        if serves(code) && !distinct.contains(&code) {
            distinct.push(code);
        }
    }
    distinct
}

/// The codes that nothing uses, in the order in which they are to be taken.
pub(super) fn free<'s>(
    stored: DataType,
    own: Option<Scalar>,
    watched: &'s [Scalar],
    scan: &'s Scan,
) -> Box<dyn Iterator<Item = Candidate> + 's> {
    let own = own.filter(|code| serves(*code));
    let candidate = move |(code, code_use): (Scalar, Use)| {
        let is_own = own == Some(code);
        // In padding the legacy codec has left what it stores for the fill, and what reads it makes the fill of it again.
        let free = code_use == Use::Unused || is_own && code_use == Use::PaddingOnly;
        free.then_some(Candidate {
            code,
            code_use,
            is_own,
        })
    };
    let Some(used) = &scan.used else {
        let uses = watched.iter().copied().zip(scan.watched.iter().copied());
        return Box::new(uses.filter_map(candidate));
    };
    let use_of = |code: Scalar| {
        if used.inside.contains(code) {
            Use::Used
        } else if used.padding.contains(code) {
            Use::PaddingOnly
        } else {
            Use::Unused
        }
    };
    let first = own.into_iter().chain(ends(stored));
    let codes = first.chain(inwards(&used.inside));
    Box::new(
        codes
            .map(move |code| (code, use_of(code)))
            .filter_map(candidate),
    )
}

/// The code that a double is.
fn exactly(stored: DataType, double: f64) -> Option<Scalar> {
    let double = Scalar::from_bits(DataType::Float64, double.to_bits());
    cast(double, stored, Rounding::NearestEven, None).ok()
}

/// Whether a code can stand for a fill at all: a finite number, and no zero of a float, which maps do not tell from the other.
fn serves(code: Scalar) -> bool {
    code.is_finite() && !(code.data_type().is_float() && code.is_zero())
}

/// The ends of the range, the one first that people take for a missing value.
fn ends(stored: DataType) -> [Scalar; 2] {
    let (low, high) = Scalar::finite_range(stored);
    if low.is_zero() {
        [high, low]
    } else {
        [low, high]
    }
}

/// The codes that the array does not hold, from that end on.
fn inwards(inside: &CodeSet) -> impl Iterator<Item = Scalar> + '_ {
    let stored = inside.data_type();
    let (low, high) = Scalar::finite_range(stored);
    let downwards = low.is_zero();
    let codes = (low.ordinal()..=high.ordinal()).map(move |ordinal| {
        let ordinal = if downwards {
            high.ordinal() - (ordinal - low.ordinal())
        } else {
            ordinal
        };
        Scalar::from_ordinal(stored, ordinal)
    });
    codes.filter(|code| serves(*code) && !inside.contains(*code))
}
