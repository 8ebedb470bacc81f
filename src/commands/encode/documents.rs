//! The documents of a packed array: the one that is published, and one of its codes, by which chunks are written.

use super::super::rewrite::documents::{edited, editor, extension, numbers};
use super::attributes::Changes;
use crate::catalog::Text;
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::Value;
use crate::metadata::{Node, Problems, v3};

/// What an array is in the output.
#[derive(Debug)]
pub(super) struct Spec<'a> {
    pub(super) shape: &'a [u64],
    /// The type that readers see.
    pub(super) data_type: &'a str,
    /// The fill in that type; `None` to leave it as the document has it.
    pub(super) fill: Option<Draft>,
    /// The chunks of the grid; shards, where there are shards.
    pub(super) grid: &'a [u64],
    pub(super) codecs: Draft,
    pub(super) attributes: &'a Changes,
}

/// The published document of an array that INPUT has as a document of Zarr v3: all its text stays but what changes.
pub(super) fn from_v3(text: &Text, spec: &Spec<'_>) -> Result<String, Error> {
    let mut problems = Problems::default();
    let v3::Document::Array(partial) = v3::read(&Node::root(&text.parsed.root), &mut problems)
    else {
        return Err(Error::finding("zarr.json is no array"));
    };
    let array = partial
        .complete()
        .ok_or_else(|| Error::finding("zarr.json is incomplete"))?;
    let mut replaced = vec![(array.codecs.node.value, spec.codecs.clone())];
    if let Some(fill) = &spec.fill {
        replaced.push((array.fill_value.value, fill.clone()));
    }
    if array.data_type.name != spec.data_type {
        replaced.push((array.data_type.node.value, Draft::string(spec.data_type)));
    }
    let same_grid = matches!(&array.chunk_grid, v3::ChunkGrid::Regular { chunk_shape, .. } if chunk_shape.value == spec.grid);
    if !same_grid && let Some(grid) = text.parsed.root.get("chunk_grid") {
        let configuration = [("chunk_shape", numbers(spec.grid))];
        replaced.push((grid, extension("regular", configuration)));
    }
    let attributes = array.optional.attributes.map(|node| node.value);
    let mut kept: Vec<_> = replaced
        .iter()
        .map(|(value, _)| value.span.clone())
        .collect();
    let converted = &spec.attributes.converted;
    let renamed = converted.iter().map(|conversion| &conversion.from);
    // What gets another name goes, unless something else gets its own.
    let renamed = renamed.filter(|from| converted.iter().all(|other| other.name != **from));
    let removed = spec.attributes.removed.iter().map(|(name, _)| name);
    let removed: Vec<_> = removed.chain(renamed).collect();
    let touched = removed.iter().copied();
    for name in touched.chain(converted.iter().map(|conversion| &conversion.name)) {
        let members = attributes.and_then(Value::as_object).unwrap_or_default();
        let named = members.iter().filter(|member| member.name == *name);
        kept.extend(named.map(|member| member.span()));
    }
    let mut editor = editor(text, &kept);
    for (value, new) in &replaced {
        editor.replace(value, new);
    }
    if let Some(attributes) = attributes {
        for name in removed {
            editor.remove_member(attributes, name).map_err(edited)?;
        }
        for conversion in converted {
            editor
                .set_member(attributes, &conversion.name, &conversion.new)
                .map_err(edited)?;
        }
    }
    editor.apply().map_err(edited)
}

/// The published document of an array that has no document yet.
pub(super) fn new(fill: Draft, spec: &Spec<'_>) -> String {
    let mut members = array_members(spec, keys_default(), fill);
    members.push(("attributes", Draft::object::<String>([])));
    Draft::object(members).to_document(&Layout::default())
}

/// The document of the codes alone: an array of the stored type in which nothing is packed.
pub(super) fn of_codes(keys: Draft, fill: Draft, spec: &Spec<'_>) -> String {
    Draft::object(array_members(spec, keys, fill)).to_document(&Layout::default())
}

fn array_members<'a>(spec: &Spec<'_>, keys: Draft, fill: Draft) -> Vec<(&'a str, Draft)> {
    vec![
        ("zarr_format", Draft::from(3_u64)),
        ("node_type", Draft::string("array")),
        ("shape", numbers(spec.shape)),
        ("data_type", Draft::string(spec.data_type)),
        (
            "chunk_grid",
            extension("regular", [("chunk_shape", numbers(spec.grid))]),
        ),
        ("chunk_key_encoding", keys),
        ("fill_value", fill),
        ("codecs", spec.codecs.clone()),
    ]
}

/// How chunks are named in an array that is carried over.
pub(super) fn keys(text: &Text) -> Draft {
    let keys = text.parsed.root.get("chunk_key_encoding");
    keys.map_or_else(keys_default, Draft::from)
}

pub(super) fn keys_default() -> Draft {
    extension("default", [("separator", Draft::string("/"))])
}
