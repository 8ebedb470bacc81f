//! Arrays of Zarr v2 as arrays of v3: the document that they are packed by, or that is put beside their chunks where they are
//! not, since beside a `zarr.json` they would vanish from readers.

use crate::catalog::{ArrayText, Text};
use crate::error::Error;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::v3::Separator;
use crate::metadata::{Node, Problems, v2};
use crate::migration::v2::{ArrayConversion, array};

/// The document of v3 that an array of v2 becomes, and what it says in another way; `None` for an array of v3.
///
/// # Errors
///
/// Where there is none that says what the v2 document says.
pub(super) fn converted(text: &ArrayText) -> Result<Option<ArrayConversion>, Error> {
    let ArrayText::V2 {
        array: document,
        attributes,
    } = text
    else {
        return Ok(None);
    };
    let mut problems = Problems::default();
    let document = v2::array(&Node::root(&document.parsed.root), &mut problems).complete();
    let document = document.ok_or_else(|| Error::finding(".zarray is incomplete"))?;
    let separator = document.dimension_separator.as_ref();
    let separator = separator.map_or(Separator::Dot, |separator| separator.value);
    let attributes = attributes.as_ref().map(|text| &text.parsed.root);
    let converted = array(&document, attributes, separator).map_err(|refusals| {
        let error = Error::finding("it cannot be carried over to Zarr v3");
        refusals
            .iter()
            .fold(error, |error, refusal| error.detail(refusal.to_string()))
    })?;
    Ok(Some(converted))
}

/// A document that was made here, parsed.
pub(super) fn parsed(text: String) -> Result<Text, Error> {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep);
    let parsed = parsed
        .map_err(|error| Error::finding("a document that was made is not JSON").because(error))?;
    Ok(Text { text, parsed })
}
