//! Why nothing is proposed, in words, with what could be had instead.

use super::elements::number_text;
use super::survey::Survey;
use crate::codecs::short;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// Why nothing is proposed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What stands in the way.
    pub message: String,
    /// What was found, one thing each.
    pub details: Vec<String>,
    /// What could be had instead.
    pub hints: Vec<String>,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            details: Vec::new(),
            hints: Vec::new(),
        }
    }

    pub(super) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The integers of an array are codes already, as an attribute says.
    #[must_use]
    pub fn already_packed(attribute: &str) -> Self {
        Self::new(format!(
            "the values are packed already: they are integers, which readers unpack by the attribute {attribute}"
        ))
        .hint("packing the codes once more gains nothing; parameters are for the values that they stand for")
    }

    /// The array cannot be decoded; the details say why.
    #[must_use]
    pub fn unreadable() -> Self {
        Self::new("the array cannot be decoded")
    }

    /// Documents cannot be relied upon, or not be read, for these reasons.
    pub fn unsound(reasons: impl IntoIterator<Item = String>) -> Self {
        let refusal = Self::new("its metadata cannot be relied upon");
        reasons.into_iter().fold(refusal, Self::detail)
    }

    /// What was given, or a part of it, is not there or cannot be read, for these reasons.
    pub fn not_read(reasons: impl IntoIterator<Item = String>) -> Self {
        let refusal = Self::new("it cannot be read");
        reasons.into_iter().fold(refusal, Self::detail)
    }

    /// A chunk cannot be read, for this reason.
    #[must_use]
    pub fn of_chunk(reason: impl Into<String>) -> Self {
        Self::new("not all of its values can be read").detail(reason)
    }

    /// The values are no real numbers.
    #[must_use]
    pub fn no_numbers(data_type: &str) -> Self {
        Self::new(format!(
            "{data_type} is no type of real numbers, and is not packed"
        ))
    }

    pub(super) fn nothing_finite(survey: &Survey) -> Self {
        let refusal = Self::new("the data hold no finite value to choose parameters by");
        let refusal = match survey.values {
            0 => refusal.detail("no chunk is stored, or the array is empty"),
            _ => refusal.detail(format!(
                "of {} values {} are NaN, {} infinite, and {} stand for missing ones",
                survey.values,
                survey.nan,
                survey.positive_infinities + survey.negative_infinities,
                survey.stand_ins().iter().map(|s| s.count).sum::<u64>(),
            )),
        };
        refusal.hint("--range MIN MAX plans for values that are yet to come")
    }

    pub(super) fn nan_unwanted(count: u64) -> Self {
        Self::new(format!(
            "{count} values are NaN, and --missing none leaves no code for them"
        ))
        .hint("--missing auto keeps a code that no value uses")
    }

    pub(super) fn nan_unread() -> Self {
        Self::new(
            "chunks that were never written read as NaN, the fill, and --missing none leaves no code for that",
        )
        .hint("--missing auto keeps a code that no value uses")
    }

    pub(super) fn no_nan(data_type: DataType) -> Self {
        Self::new(format!(
            "--missing keeps a code for NaN, and {data_type} has no NaN"
        ))
    }

    pub(super) fn not_a_value(value: f64, data_type: DataType) -> Self {
        Self::new(format!("{} is no value of {data_type}", number_text(value)))
            .hint("the array must hold a value for it to be kept, or to end a range")
    }

    pub(super) fn relative_at_zero(data_type: DataType, (low, high): (Scalar, Scalar)) -> Self {
        Self::new(format!(
            "no chain keeps a relative error of every {data_type} from {low} to {high}: next to zero there is always a value that becomes zero"
        ))
        .detail("integers stand for multiples of one step, and what is below half of it becomes 0; narrower float types end too")
        .hint("--max-error bounds the error of values next to zero as well; a --range on one side of zero has a least magnitude; data given as INPUT are measured as they are")
    }

    pub(super) fn beyond_range(given: (Scalar, Scalar), seen: (Scalar, Scalar)) -> Self {
        Self::new(format!(
            "the data go from {} to {}, beyond --range {} {}",
            short(seen.0),
            short(seen.1),
            short(given.0),
            short(given.1)
        ))
        .hint("widen the range, or leave it out to plan for the data alone")
    }
}
