//! Parameters for packing: from what a user knows, such as an error to live with, to a chain that was run on every value.
//!
//! A first pass over the data takes what parameters depend on: `survey`, with the hidden steps of `grid` and `fit`. `frame` is what
//! every candidate must hold, `steps` the scales worth a try, `placement` the offset for each type; `candidate` binds them and
//! gives codes to what needs codes of its own. All are run on a sample, and the few best, in the second pass, on every value:
//! `trial` measures what comes back, `stored_size` what it takes. Nothing is computed here that the codecs compute; they are bound by
//! [`crate::transform::chain`] and run.

mod attributes;
mod candidate;
mod cf;
mod choice;
mod distinct;
mod elements;
mod fit;
mod frame;
mod grid;
mod halfway;
mod histogram;
mod obstacles;
mod passes;
mod placement;
mod proposal;
mod refusal;
mod squeeze;
mod steps;
mod stored_size;
mod subject;
mod survey;
mod trial;
mod wish;
mod wording;

pub use candidate::{Candidate, Origin, Sentinel};
pub use cf::CfAttributes;
pub use elements::number_text;
pub use histogram::Histogram;
pub use proposal::{Rated, Rejected, Seen, SeenStandIn, Suggestion, suggest, suggest_common};
pub use refusal::Refusal;
pub use stored_size::Storage;
pub use subject::{ArrayInput, ReadError, Subject};
pub use trial::Trial;
pub use wish::{Missing, Tolerance, Wish};
pub use wording::scalar as scalar_json;

use crate::interrupt::Interrupted;

/// Why there is no suggestion.
#[derive(Debug, thiserror::Error)]
pub enum SuggestError {
    /// What was asked for cannot be had.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// The values of the subject of this place in the list could not be read.
    #[error("{error}")]
    Unreadable {
        /// The place.
        subject: usize,
        /// Why not.
        #[source]
        error: Box<ReadError>,
    },
    /// A signal came.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<Refusal> for SuggestError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}
