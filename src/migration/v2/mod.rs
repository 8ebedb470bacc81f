//! Documents of Zarr v2 as documents of Zarr v3 to be written.
//!
//! What comes out reads the same: the values, the names of dimensions, and what xarray shows as missing. The legacy codec is in
//! it still, as a codec of Zarr v3. Codecs, types and fills are converted by [`crate::codecs::v2`], which opening an array goes
//! through as well; the attributes are converted here.

mod attributes;
mod dimensions;
mod mask;
mod outcome;
#[cfg(test)]
mod tests;

use crate::codecs::v2::document;
use crate::codecs::{ArrayDocument, OpenArray, OpenProblemKind};
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::Value;
use crate::metadata::v2;
use crate::metadata::v3::Separator;

pub use outcome::{File, Note, NoteKind, Refusal};

/// The v3 document of an array, and what is said in it in another way than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayConversion {
    /// The text of `zarr.json`.
    pub text: String,
    /// Whether the v2 document states a fill. If not, the fill in the text is what readers show in its place.
    pub fill_is_defined: bool,
    /// What was changed or dropped, in the order of `.zarray`, then of `.zattrs`.
    pub notes: Vec<Note>,
}

/// The v3 document of a group, and what is said in it in another way than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupConversion {
    /// The text of `zarr.json`.
    pub text: String,
    /// What was changed, in the order of `.zattrs`.
    pub notes: Vec<Note>,
}

/// Converts the document of an array, whose chunk keys have this separator, with its attributes.
///
/// `attributes` is the content of `.zattrs`, where there is one.
///
/// # Errors
///
/// Everything that has no form in Zarr v3 with the same meaning; never an empty list.
pub fn array(
    array: &v2::Array<'_>,
    attributes: Option<&Value>,
    separator: Separator,
) -> Result<ArrayConversion, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut notes = separator_note(array, separator);
    let dimensions = dimensions::of(array, attributes, &mut refusals);
    let converted = match document(array, separator) {
        Ok(converted) => converted,
        Err(faults) => {
            refusals.splice(0..0, faults.into_iter().map(Refusal::from));
            attributes::judge(attributes, &mut refusals);
            return Err(refusals);
        }
    };
    let faults = converted
        .unwritable
        .into_iter()
        .chain(converted.unsupported);
    refusals.splice(0..0, faults.map(Refusal::from));
    if refusals.is_empty() {
        refusals = unreadable(array);
    }
    notes.extend(converted.changes.into_iter().map(Note::from));
    notes.extend(dropped(array, &dimensions));
    notes.extend(dimensions.note);
    let fill = converted.fill_is_defined.then_some(&converted.fill);
    let mask = mask::Mask {
        value_type: &converted.value_type,
        fill,
    };
    let attributes = attributes::of_array(attributes, &mask, &mut notes, &mut refusals);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let mut members = converted.members;
    members.push(("attributes", Draft::Object(attributes)));
    if let Some(names) = dimensions.names {
        let names = names.into_iter().map(Draft::String).collect();
        members.push(("dimension_names", Draft::Array(names)));
    }
    Ok(ArrayConversion {
        text: Draft::object(members).to_document(&Layout::default()),
        fill_is_defined: converted.fill_is_defined,
        notes,
    })
}

/// Converts a group with its attributes, the content of `.zattrs` where there is one.
///
/// # Errors
///
/// Where the attributes cannot be kept as they are.
pub fn group(attributes: Option<&Value>) -> Result<GroupConversion, Vec<Refusal>> {
    let mut notes = Vec::new();
    let mut refusals = Vec::new();
    let attributes = attributes::of_group(attributes, &mut notes, &mut refusals);
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let document = Draft::object([
        ("zarr_format", Draft::from(3_u64)),
        ("node_type", Draft::string("group")),
        ("attributes", Draft::Object(attributes)),
    ]);
    Ok(GroupConversion {
        text: document.to_document(&Layout::default()),
        notes,
    })
}

/// What opening the array finds wrong with it. Types that are not read here are let through.
fn unreadable(array: &v2::Array<'_>) -> Vec<Refusal> {
    let Err(error) = OpenArray::check(ArrayDocument::V2(array)) else {
        return Vec::new();
    };
    let unsound = error
        .problems
        .into_iter()
        .filter(|problem| problem.kind == OpenProblemKind::Unsound);
    unsound
        .map(|problem| Refusal {
            file: File::Array,
            pointer: problem.pointer,
            found: problem.message,
            expected: String::new(),
            hint: Some("correct .zarray, or write the array anew".to_owned()),
        })
        .collect()
}

/// A note where the separator is not the one that the document means.
fn separator_note(array: &v2::Array<'_>, separator: Separator) -> Vec<Note> {
    let stated = array.dimension_separator.as_ref();
    let meant = stated.map_or(Separator::Dot, |stated| stated.value);
    if meant == separator {
        return Vec::new();
    }
    let was = match stated {
        None => "an absent separator, which means \".\",".to_owned(),
        Some(stated) => format!("{:?}", stated.value.as_str()),
    };
    vec![Note {
        file: File::Array,
        pointer: "/dimension_separator".to_owned(),
        kind: NoteKind::Separator,
        message: format!("{was} became {:?}", separator.as_str()),
    }]
}

/// The members of `.zarray` that the specification does not know. No reader of Zarr v3 would look for them.
fn dropped(array: &v2::Array<'_>, dimensions: &dimensions::Dimensions) -> Vec<Note> {
    let extras = array
        .extras
        .iter()
        .filter(|extra| dimensions.member != Some(extra.name));
    extras
        .map(|extra| Note {
            file: File::Array,
            pointer: extra.node.pointer.to_string(),
            kind: NoteKind::Dropped,
            message: "was left out: neither Zarr v2 nor Zarr v3 has such a member".to_owned(),
        })
        .collect()
}
