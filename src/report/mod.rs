//! The types of every JSON output. Each document names its schema, and a schema never changes shape.

pub mod decode;
pub mod encode;
pub mod inspect;
pub mod migrate_legacy;
pub mod reader;
pub mod suggest_params;
pub mod validate;

use serde::Serialize;

use crate::error::Error;

/// A report as the text that is printed, with a line break at its end.
///
/// # Errors
///
/// Where the report has no form in JSON; never for the types of this module.
pub fn to_json(report: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(report)
        .map_err(|error| Error::io("could not write the report as JSON", error))?;
    Ok(text + "\n")
}
