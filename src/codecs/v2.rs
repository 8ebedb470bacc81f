//! Zarr v2 documents as Zarr v3 documents in memory.
//!
//! The chain of zarrs for v2 gives chunks the byte order of the array's `dtype`, though the bytes come from the last filter.

use super::error::{OpenError, OpenProblem};
use crate::metadata::v2::Array;
use crate::metadata::v3;

/// A v2 document rewritten.
pub(super) struct Converted {
    /// The v3 document.
    pub(super) text: String,
    /// Whether the v2 document states a fill.
    pub(super) fill_is_defined: bool,
}

/// Rewrites a document.
pub(super) fn convert(_array: &Array<'_>) -> Result<Converted, OpenError> {
    Err(OpenProblem::unsupported("", "a Zarr v2 array").into())
}

impl Converted {
    /// Reads the v3 document.
    pub(super) fn read<T>(
        &self,
        _use_it: impl FnOnce(&v3::Array<'_>) -> T,
    ) -> Result<T, OpenError> {
        Err(OpenProblem::unsupported("", &self.text).into())
    }

    /// Points into the v2 document.
    pub(super) fn locate(&self, error: OpenError) -> OpenError {
        error
    }
}
