//! Attributes: all kept, but for the few that mean something else in Zarr v3, and for numbers that are no JSON.

use std::collections::HashSet;

use super::dimensions;
use super::mask::{self, Mask, Outcome};
use super::outcome::{File, Note, NoteKind, Refusal};
use crate::codecs::v2::ValueType;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Kind, Member, Pointer, Value};
use crate::metadata::v2::DtypeKind;

/// The attribute that makes integers those of the other sign.
const UNSIGNED: &str = "_Unsigned";

/// The members of an object, in order.
type Members = Vec<(String, Draft)>;

/// The attributes of an array, without the names of dimensions.
pub(super) fn of_array(
    attributes: Option<&Value>,
    mask: &Mask<'_>,
    notes: &mut Vec<Note>,
    refusals: &mut Vec<Refusal>,
) -> Members {
    judge(attributes, refusals);
    let members = attributes.and_then(Value::as_object).unwrap_or_default();
    let mut set = masked(attributes, mask, mask.outcome(attributes), notes, refusals);
    let mut kept = Members::with_capacity(members.len() + 1);
    for member in members {
        let value = match member.name.as_str() {
            dimensions::ATTRIBUTE => continue,
            mask::ATTRIBUTE => match set.take() {
                Some(value) => value,
                None => continue,
            },
            mask::MISSING if is_number(mask.value_type) => match missing(member, notes) {
                Some(value) => value,
                None => continue,
            },
            _ => finite(member, notes),
        };
        kept.push((member.name.clone(), value));
    }
    if let Some(value) = set {
        kept.push((mask::ATTRIBUTE.to_owned(), value));
    }
    kept
}

/// The attributes of a group.
pub(super) fn of_group(
    attributes: Option<&Value>,
    notes: &mut Vec<Note>,
    refusals: &mut Vec<Refusal>,
) -> Members {
    judge(attributes, refusals);
    let members = attributes.and_then(Value::as_object).unwrap_or_default();
    let members = members
        .iter()
        .map(|member| (member.name.clone(), finite(member, notes)));
    members.collect()
}

/// Refuses attributes that are no object, and objects with two members of one name, of which each reader picks one.
pub(super) fn judge(attributes: Option<&Value>, refusals: &mut Vec<Refusal>) {
    let Some(attributes) = attributes else { return };
    if attributes.as_object().is_none() {
        refusals.push(Refusal {
            file: File::Attributes,
            pointer: String::new(),
            found: attributes.type_name().to_owned(),
            expected: "an object".to_owned(),
            hint: Some("correct .zattrs".to_owned()),
        });
        return;
    }
    twice(attributes, &Pointer::root(), refusals);
}

fn twice(value: &Value, pointer: &Pointer, refusals: &mut Vec<Refusal>) {
    if let Some(elements) = value.as_array() {
        for (index, element) in elements.iter().enumerate() {
            if is_container(element) {
                twice(element, &pointer.index(index), refusals);
            }
        }
    }
    let members = value.as_object().unwrap_or_default();
    let mut seen = HashSet::with_capacity(members.len());
    for member in members {
        if !seen.insert(member.name.as_str()) {
            refusals.push(Refusal {
                file: File::Attributes,
                pointer: pointer.member(&member.name).to_string(),
                found: "the member a second time, so that readers differ about it".to_owned(),
                expected: "each member once".to_owned(),
                hint: Some("remove one of the two from .zattrs".to_owned()),
            });
        }
        if is_container(&member.value) {
            twice(&member.value, &pointer.member(&member.name), refusals);
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value.kind, Kind::Array(_) | Kind::Object(_))
}

/// The value of the mask, with a note on what became of it.
fn masked(
    attributes: Option<&Value>,
    mask: &Mask<'_>,
    outcome: Outcome,
    notes: &mut Vec<Note>,
    refusals: &mut Vec<Refusal>,
) -> Option<Draft> {
    let pointer = format!("/{}", mask::ATTRIBUTE);
    let existing = attributes.and_then(|attributes| attributes.get(mask::ATTRIBUTE));
    let mut note = |kind, message: String| notes.push(Note::attribute(&pointer, kind, message));
    match outcome {
        Outcome::None => None,
        Outcome::Kept => existing.map(Draft::from),
        Outcome::Set(value, mut message) => {
            if let Some(code) = unsigned(attributes, mask, &value) {
                message = format!("{message}; {code}");
            }
            note(NoteKind::Mask, message);
            Some(value)
        }
        Outcome::Removed(message) => {
            note(NoteKind::Mask, message);
            None
        }
        Outcome::Lost(message) => {
            note(NoteKind::MaskLost, message);
            None
        }
        Outcome::Refused(found, expected) => {
            refusals.push(Refusal {
                file: File::Attributes,
                pointer,
                found,
                expected: expected.to_owned(),
                hint: Some("correct _FillValue in .zattrs, or remove it".to_owned()),
            });
            None
        }
    }
}

/// What a negative mask is where `_Unsigned` makes the stored integers unsigned.
fn unsigned(attributes: Option<&Value>, mask: &Mask<'_>, value: &Draft) -> Option<String> {
    let word = attributes?.get(UNSIGNED)?.as_str()?;
    let (ValueType::Simple(dtype), Draft::Number(token)) = (mask.value_type, value) else {
        return None;
    };
    let value: i64 = token.parse().ok().filter(|value| *value < 0)?;
    let bits = dtype.size * 8;
    let signed = dtype.kind == DtypeKind::Int && bits <= 64;
    (signed && word == "true").then(|| {
        let code = value.cast_unsigned() & (u64::MAX >> (64 - bits));
        format!("by {UNSIGNED} it stands for {code} of uint{bits}")
    })
}

fn is_number(value_type: &ValueType) -> bool {
    match value_type {
        ValueType::Simple(dtype) => dtype.v3_name().is_some(),
        _ => false,
    }
}

/// `missing_value` without what JSON has no numbers for. As text these would be masks that no number equals, for which xarray
/// nevertheless makes floats of integers, and doubles of floats.
fn missing(member: &Member, notes: &mut Vec<Note>) -> Option<Draft> {
    let pointer = Pointer::root().member(&member.name);
    if went(&member.value, &pointer, notes) {
        return None;
    }
    let Some(elements) = member.value.as_array() else {
        return Some(finite(member, notes));
    };
    let mut kept = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        let pointer = pointer.index(index);
        if !went(element, &pointer, notes) {
            quoted(element, &pointer, notes);
            kept.push(Draft::from(element));
        }
    }
    let nothing_left = kept.is_empty() && !elements.is_empty();
    (!nothing_left).then_some(Draft::Array(kept))
}

/// Whether a mask is a bare non-finite number, and so goes, with a note.
fn went(value: &Value, pointer: &Pointer, notes: &mut Vec<Note>) -> bool {
    let Kind::NonFinite(word) = &value.kind else {
        return false;
    };
    let (kind, consequence) = match word.as_str() {
        "NaN" => (NoteKind::NonFinite, "it is missing without a mask"),
        _ => (NoteKind::MaskLost, "it is not shown as missing any more"),
    };
    let message = format!("{word} went, since JSON has no such number: {consequence}");
    notes.push(Note::attribute(pointer, kind, message));
    true
}

/// An attribute as it is, bare non-finite numbers as text.
fn finite(member: &Member, notes: &mut Vec<Note>) -> Draft {
    quoted(&member.value, &Pointer::root().member(&member.name), notes);
    Draft::from(&member.value)
}

/// Notes the bare non-finite numbers in a value, which a draft has as text.
fn quoted(value: &Value, pointer: &Pointer, notes: &mut Vec<Note>) {
    match &value.kind {
        Kind::NonFinite(word) => {
            let message = format!("{word} became the text \"{word}\": JSON has no such number");
            notes.push(Note::attribute(pointer, NoteKind::NonFinite, message));
        }
        Kind::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                if holds_words(element) {
                    quoted(element, &pointer.index(index), notes);
                }
            }
        }
        Kind::Object(members) => {
            for member in members {
                if holds_words(&member.value) {
                    quoted(&member.value, &pointer.member(&member.name), notes);
                }
            }
        }
        _ => {}
    }
}

/// Whether a bare non-finite number can be in a value, so that a pointer to it may be needed.
fn holds_words(value: &Value) -> bool {
    is_container(value) || matches!(value.kind, Kind::NonFinite(_))
}
