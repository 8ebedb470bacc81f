//! Why one element cannot be transformed.

use std::fmt;

use super::data_type::DataType;
use super::scalar::Scalar;

/// The kinds of failure, as reports count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// NaN, and the target type has none.
    NotANumber,
    /// An infinity, and the target type has none.
    Infinite,
    /// A value beyond the range of the type that `cast_value` or the legacy codec casts to.
    OutOfRange,
    /// An operation of `scale_offset` whose result the type cannot hold.
    Overflow,
    /// An integer division of `scale_offset` that leaves a remainder.
    Remainder,
}

impl FaultKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 5] = [
        Self::NotANumber,
        Self::Infinite,
        Self::OutOfRange,
        Self::Overflow,
        Self::Remainder,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotANumber => "not-a-number",
            Self::Infinite => "infinite",
            Self::OutOfRange => "out-of-range",
            Self::Overflow => "overflow",
            Self::Remainder => "remainder",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The failure of one codec on one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// The value that entered the operation that failed.
    pub operand: Scalar,
    /// The type that could not hold the result.
    pub target: DataType,
    /// The arithmetic that failed, if it was some: its sign and the other operand.
    pub operation: Option<(char, Scalar)>,
}

impl Fault {
    pub(crate) const fn new(kind: FaultKind, operand: Scalar, target: DataType) -> Self {
        Self {
            kind,
            operand,
            target,
            operation: None,
        }
    }

    pub(crate) const fn in_operation(self, sign: char, parameter: Scalar) -> Self {
        Self {
            operation: Some((sign, parameter)),
            ..self
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            operand, target, ..
        } = self;
        let (low, high) = Scalar::finite_range(*target);
        match (self.kind, self.operation) {
            (FaultKind::NotANumber | FaultKind::Infinite, _) => {
                write!(
                    f,
                    "{operand} has no value in {target} unless scalar_map gives it one"
                )
            }
            (FaultKind::OutOfRange, _) => {
                let operand = long(*operand);
                write!(
                    f,
                    "{operand} is out of the range of {target} ({low} to {high})"
                )
            }
            (FaultKind::Overflow, Some((sign, parameter))) => {
                write!(f, "{operand} {sign} {parameter} is not a value of {target}")?;
                if target.is_integer() {
                    write!(f, " ({low} to {high})")?;
                }
                Ok(())
            }
            (FaultKind::Overflow, None) => {
                write!(f, "the result for {operand} is not a value of {target}")
            }
            (FaultKind::Remainder, Some((_, parameter))) => {
                write!(
                    f,
                    "{operand} / {parameter} leaves a remainder, so it is not a value of {target}"
                )
            }
            (FaultKind::Remainder, None) => {
                write!(
                    f,
                    "the division of {operand} leaves a remainder in {target}"
                )
            }
        }
    }
}

/// A number that its shortest form does not give in full, such as a float32 of 2^31, in full up to 10^21: the shortest form may lie
/// on the other side of the end of a range.
fn long(value: Scalar) -> String {
    let number = value.to_f64();
    let short = value.to_string();
    let whole = value.data_type().is_float() && number.fract() == 0.0 && number.abs() < 1e21;
    if whole && (number.abs() >= 1e16 || short.parse() != Ok(number)) {
        return format!("{number:.0}");
    }
    short
}

impl std::error::Error for Fault {}
