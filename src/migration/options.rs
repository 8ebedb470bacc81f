//! What the user asks of a migration.

use crate::metadata::edit::Draft;

/// What is asked of the migration of one array.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Computes as the legacy codec does, where the plain conversion would not give the same values.
    pub exact: bool,
    /// Nothing will be written unless all values stay the same. The data are then asked which codes are in use where not all
    /// codes decode to the same values.
    pub require_identical: bool,
    /// What may be read to prove it.
    pub verify: Verify,
    /// The code that means missing, as it was given.
    pub missing: Option<String>,
    /// The fill for an array whose own does not survive.
    pub fill_value: Option<Draft>,
}

/// What may be read to prove that values stay the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verify {
    /// Every chunk that matters.
    #[default]
    Data,
    /// Some chunks, which prove nothing.
    Sample,
    /// No chunk.
    None,
}
