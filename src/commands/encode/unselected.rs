//! Arrays that are not packed: those of Zarr v3 are copied to the byte, those of v2 get a document of v3 beside their chunks,
//! since beside a `zarr.json` they would vanish from readers.

use super::super::rewrite::documents::attributes_v2;
use crate::catalog::ArrayText;
use crate::codecs::v2_codecs;
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::{Node, Problems, v2};

/// The document of v3 that an array is given; `None` where it has one.
///
/// # Errors
///
/// Where there is none that says what the v2 document says.
pub(super) fn action(text: &ArrayText, _reason: &str) -> Result<Option<String>, Error> {
    let ArrayText::V2 { array, attributes } = text else {
        return Ok(None);
    };
    let mut problems = Problems::default();
    let document = v2::array(&Node::root(&array.parsed.root), &mut problems).complete();
    let document = document.ok_or_else(|| Error::finding(".zarray is incomplete"))?;
    let members = v2_codecs(&document).map_err(|error| {
        Error::finding("it cannot be carried over to Zarr v3").detail(format!(".zarray, {error}"))
    })?;
    let (names, kept) = attributes_v2(attributes.as_ref(), document.shape.value.len());
    let mut members = members;
    members.push(("attributes".to_owned(), kept));
    if let Some(names) = names {
        let names = names.into_iter().map(Draft::string);
        members.push(("dimension_names".to_owned(), Draft::Array(names.collect())));
    }
    Ok(Some(Draft::Object(members).to_document(&Layout::default())))
}
