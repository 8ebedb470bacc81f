//! Whether values that are written from now on are stored as the codes that the legacy codec would have stored.

use crate::transform::cast_value::cast;
use crate::transform::chain::{BoundChain, Direction};
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

/// Codes between whose values others are tried.
const MOST_CODES: i128 = 256;

/// What two chains store, over many values.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EncodeVerdict {
    /// How many values were tried.
    pub tried: u64,
    /// Whether these are all values of the type, which proves the answer.
    pub is_proof: bool,
    /// Where the codes differ, each kind once. Empty where no difference was found.
    pub differences: Vec<EncodeDifference>,
}

/// Values that are stored as other codes.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodeDifference {
    /// What they have in common.
    pub kind: EncodeKind,
    /// How many of the values that were tried.
    pub count: u64,
    /// The first of them.
    pub value: Scalar,
    /// What the legacy codec stores for it; `None` where that depends on the machine, or is an error.
    pub old: Option<Scalar>,
    /// What the new codecs store; `None` where they refuse it.
    pub new: Option<Scalar>,
}

/// What values that are stored as other codes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EncodeKind {
    /// They are between two codes.
    Between,
    /// The legacy codec rounds to whole numbers, and the new codecs keep fractions.
    Fraction,
    /// They are beyond what the codes reach.
    Beyond,
    /// NaN.
    NotANumber,
    /// The infinities.
    Infinite,
}

impl EncodeVerdict {
    /// Whether no difference was found.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }

    /// Compares what two chains store.
    pub(super) fn of(old: &BoundChain, new: &BoundChain) -> Self {
        let data_type = old.data_type();
        let is_proof = data_type.bits() <= 16;
        let values = if is_proof {
            let all = 0..1_u64 << data_type.bits();
            all.map(|bits| Scalar::from_bits(data_type, bits)).collect()
        } else {
            probes(old)
        };
        let mut verdict = Self {
            tried: values.len() as u64,
            is_proof,
            differences: Vec::new(),
        };
        for value in values {
            verdict.compare(old, new, value);
        }
        verdict
            .differences
            .sort_by_key(|difference| difference.kind);
        verdict
    }

    fn compare(&mut self, old: &BoundChain, new: &BoundChain, value: Scalar) {
        let encode = |chain: &BoundChain| chain.transform(Direction::Encode, value).ok();
        let (before, after) = (encode(old), encode(new));
        let same = match (before, after) {
            (Some(before), Some(after)) => before.equals(after),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        let kind = kind(old, value, before, after);
        let known = self.differences.iter_mut().find(|known| known.kind == kind);
        match known {
            Some(known) => known.count += 1,
            None => self.differences.push(EncodeDifference {
                kind,
                count: 1,
                value,
                old: before,
                new: after,
            }),
        }
    }
}

impl EncodeDifference {
    /// The difference in a sentence.
    #[must_use]
    pub fn describe(&self) -> String {
        let old = self
            .old
            .map_or("no certain code".to_owned(), |code| code.to_string());
        let new = self
            .new
            .map_or("refused".to_owned(), |code| format!("stored as {code}"));
        let value = self.value;
        match self.kind {
            EncodeKind::Between => {
                format!(
                    "some values between two codes are stored as the other one: {value} was {old}, and is {new}"
                )
            }
            EncodeKind::Fraction => {
                format!(
                    "fractions are kept, where the legacy codec rounds to whole numbers: {value} was {old}, and is {new}"
                )
            }
            EncodeKind::Beyond => {
                format!("values that the codes do not reach: {value} was {old}, and is {new}")
            }
            EncodeKind::NotANumber => format!("NaN was {old}, and is {new}"),
            EncodeKind::Infinite => format!("infinities: {value} was {old}, and is {new}"),
        }
    }
}

fn kind(
    old: &BoundChain,
    value: Scalar,
    before: Option<Scalar>,
    after: Option<Scalar>,
) -> EncodeKind {
    if value.is_nan() {
        return EncodeKind::NotANumber;
    }
    if value.is_infinite() {
        return EncodeKind::Infinite;
    }
    let Some(before) = before else {
        return EncodeKind::Beyond;
    };
    let is_whole = |code: Scalar| code.to_f64().fract() == 0.0;
    if before.data_type().is_float()
        && is_whole(before)
        && after.is_some_and(|code| !is_whole(code))
    {
        return EncodeKind::Fraction;
    }
    let step = [before.ordinal() - 1, before.ordinal() + 1]
        .into_iter()
        .filter_map(|ordinal| decoded(old, before.data_type(), ordinal))
        .zip(std::iter::repeat(decoded(
            old,
            before.data_type(),
            before.ordinal(),
        )))
        .filter_map(|(neighbour, here)| Some((neighbour - here?).abs()))
        .fold(0.0, f64::max);
    let here = decoded(old, before.data_type(), before.ordinal());
    match here {
        Some(here) if (here - value.to_f64()).abs() <= step => EncodeKind::Between,
        _ => EncodeKind::Beyond,
    }
}

/// The value of the code at a place in the order of its type.
fn decoded(chain: &BoundChain, stored: DataType, ordinal: i128) -> Option<f64> {
    let (low, high) = Scalar::finite_range(stored);
    if !(low.ordinal()..=high.ordinal()).contains(&ordinal) {
        return None;
    }
    let code = Scalar::from_ordinal(stored, ordinal);
    let value = chain.transform(Direction::Decode, code).ok()?;
    Some(value.to_f64())
}

/// Values that are likely to be stored differently: those of codes, those half way between two, those beyond all codes, and the
/// ends and special values of the type.
fn probes(chain: &BoundChain) -> Vec<Scalar> {
    let data_type = chain.data_type();
    let mut doubles = Vec::new();
    for (here, next) in neighbours(chain) {
        let step = next - here;
        doubles.extend([here, here + step * 0.3, here + step * 0.5]);
    }
    if let (Some(least), Some(greatest)) = (
        doubles.iter().copied().reduce(f64::min),
        doubles.iter().copied().reduce(f64::max),
    ) {
        let span = (greatest - least).abs();
        for factor in [0.01, 1.5, 300.0, 7e4, 2e7, 5e9] {
            doubles.extend([greatest + span * factor, least - span * factor]);
        }
    }
    let mut values: Vec<_> = doubles
        .into_iter()
        .filter_map(|double| nearest(data_type, double))
        .flat_map(|value| {
            // A half is seldom a value of the type: its neighbours on both sides may fall to different codes.
            let around = [value.ordinal() - 1, value.ordinal(), value.ordinal() + 1];
            let (low, high) = Scalar::finite_range(data_type);
            let around = around.into_iter();
            around
                .filter(move |ordinal| (low.ordinal()..=high.ordinal()).contains(ordinal))
                .map(move |ordinal| Scalar::from_ordinal(data_type, ordinal))
        })
        .collect();
    let (low, high) = Scalar::finite_range(data_type);
    values.extend([low, high]);
    if data_type.has_nan() {
        values.push(Scalar::nan(data_type));
    }
    if data_type.has_infinity() {
        let infinities = [f64::NEG_INFINITY, f64::INFINITY];
        values.extend(infinities.iter().filter_map(|x| nearest(data_type, *x)));
    }
    values
}

/// The values of some codes, each with that of the next.
fn neighbours(chain: &BoundChain) -> Vec<(f64, f64)> {
    let stored = chain.stored_type();
    let decode = |code: Option<Scalar>| {
        let value = chain.transform(Direction::Decode, code?).ok()?;
        Some(value.to_f64()).filter(|value| value.is_finite())
    };
    let (low, high) = Scalar::finite_range(stored);
    let (low, high) = (low.ordinal(), high.ordinal());
    let codes = -MOST_CODES..=MOST_CODES;
    codes
        .filter_map(|n| {
            let (code, next) = if stored.is_float() {
                #[expect(clippy::cast_precision_loss)]
                let whole = n as f64;
                (nearest(stored, whole), nearest(stored, whole + 1.0))
            } else {
                // Half of them around zero, half spread over the range.
                let ordinal = if n % 2 == 0 {
                    n
                } else {
                    low + (high - low) / (2 * MOST_CODES) * (n + MOST_CODES)
                };
                let inside = (low..high).contains(&ordinal);
                let code = |ordinal| inside.then(|| Scalar::from_ordinal(stored, ordinal));
                (code(ordinal), code(ordinal + 1))
            };
            Some((decode(code)?, decode(next)?))
        })
        .collect()
}

fn nearest(data_type: DataType, double: f64) -> Option<Scalar> {
    let double = Scalar::from_bits(DataType::Float64, double.to_bits());
    let clamp = Some(OutOfRange::Clamp);
    cast(double, data_type, Rounding::NearestEven, clamp).ok()
}
