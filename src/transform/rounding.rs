//! The words of `cast_value`: how to round, and what to do out of range.

use std::fmt;

/// How `cast_value` rounds a value that the target type cannot hold exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest value, ties to the even one: what an absent `rounding` means.
    #[default]
    NearestEven,
    /// Towards zero: truncation.
    TowardsZero,
    /// Towards positive infinity: ceiling.
    TowardsPositive,
    /// Towards negative infinity: floor.
    TowardsNegative,
    /// To the nearest value, ties away from zero.
    NearestAway,
}

impl Rounding {
    /// All of them, in the order of the specification.
    pub const ALL: [Self; 5] = [
        Self::NearestEven,
        Self::TowardsZero,
        Self::TowardsPositive,
        Self::TowardsNegative,
        Self::NearestAway,
    ];

    /// The word in metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NearestEven => "nearest-even",
            Self::TowardsZero => "towards-zero",
            Self::TowardsPositive => "towards-positive",
            Self::TowardsNegative => "towards-negative",
            Self::NearestAway => "nearest-away",
        }
    }

    /// The mode that a word in metadata names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What `cast_value` does with a rounded value outside the target's range, where it is not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// The nearest end of the range; an infinity where the target has one.
    Clamp,
    /// Modulo 2^N, two's complement. Acts on integer targets only.
    Wrap,
}

impl OutOfRange {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Clamp, Self::Wrap];

    /// The word in metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clamp => "clamp",
            Self::Wrap => "wrap",
        }
    }

    /// The behaviour that a word in metadata names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.name() == name)
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
