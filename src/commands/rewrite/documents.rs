//! Documents of a store that is written from another: those of groups, and the pieces that documents of arrays are made of.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::catalog::{Catalog, GroupText, Kind, Text};
use crate::error::Error;
use crate::metadata::edit::{Draft, EditError, Editor, Layout};
use crate::metadata::json::{IssueKind, Limits, NonFinite, Value, parse};
use crate::metadata::{Node, Problems, v3};

/// The attribute in which xarray keeps the names of dimensions in Zarr v2.
const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// An extension with its configuration.
pub(in super::super) fn extension<const N: usize>(
    name: &str,
    configuration: [(&str, Draft); N],
) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", Draft::object(configuration)),
    ])
}

/// Numbers as a document has them.
pub(in super::super) fn numbers(numbers: &[u64]) -> Draft {
    Draft::Array(numbers.iter().copied().map(Draft::from).collect())
}

/// The names of dimensions that xarray keeps in attributes of Zarr v2, if there are as many as dimensions, and the attributes
/// that are left.
pub(in super::super) fn attributes_v2(
    attributes: Option<&Text>,
    rank: usize,
) -> (Option<Vec<&str>>, Draft) {
    let attributes = attributes.map(|text| &text.parsed.root);
    let names = attributes
        .and_then(|root| root.get(ARRAY_DIMENSIONS))
        .and_then(Value::as_array);
    let names: Option<Vec<&str>> =
        names.and_then(|names| names.iter().map(Value::as_str).collect());
    let names = names.filter(|names| names.len() == rank);
    let kept = attributes
        .and_then(Value::as_object)
        .unwrap_or_default()
        .iter();
    let kept = kept.filter(|member| names.is_none() || member.name != ARRAY_DIMENSIONS);
    let kept = Draft::object(kept.map(|member| (member.name.clone(), Draft::from(&member.value))));
    (names, kept)
}

/// The documents of all groups, by path, given those of the arrays that changed.
///
/// Consolidated metadata is kept where it was: copies of changed arrays change with them, and `.zmetadata` becomes inline. It
/// is left out where an array that it lists was skipped.
pub(in super::super) fn groups(
    catalog: &Catalog,
    arrays: &BTreeMap<&str, &str>,
    copied: &BTreeMap<&str, &str>,
    skipped: &[&str],
) -> Result<BTreeMap<String, String>, Error> {
    let mut documents = BTreeMap::new();
    let mut consolidate = Vec::new();
    for entry in &catalog.entries {
        let Kind::Group(group) = &entry.kind else {
            continue;
        };
        let skips = skipped
            .iter()
            .any(|path| inside(path, &entry.path).is_some());
        let text = match group {
            GroupText::V3(text) => group_v3(text, &entry.path, arrays, skips)?,
            GroupText::V2 {
                attributes,
                consolidated,
            } => {
                if *consolidated && !skips {
                    consolidate.push(entry.path.as_str());
                }
                let root = attributes.as_ref().map(|text| &text.parsed.root);
                let attributes = root.map_or(Draft::object::<String>([]), Draft::from);
                let document = Draft::object([
                    ("zarr_format", Draft::from(3_u64)),
                    ("node_type", Draft::string("group")),
                    ("attributes", attributes),
                ]);
                document.to_document(&Layout::default())
            }
        };
        documents.insert(entry.path.clone(), text);
    }
    for path in consolidate {
        let all = arrays
            .iter()
            .chain(copied)
            .map(|(path, text)| (*path, *text));
        let nodes = all.chain(
            documents
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str())),
        );
        let mut copies = BTreeMap::new();
        for (node, text) in nodes {
            if let Some(name) = inside(node, path).filter(|name| !name.is_empty()) {
                copies.insert(name.to_owned(), draft(text)?);
            }
        }
        let block = Draft::object([
            ("kind", Draft::string("inline")),
            ("must_understand", Draft::Bool(false)),
            ("metadata", Draft::object(copies)),
        ]);
        if let Some(document) = documents.get_mut(path)
            && let Draft::Object(mut members) = draft(document)?
        {
            members.push(("consolidated_metadata".to_owned(), block));
            *document = Draft::Object(members).to_document(&Layout::default());
        }
    }
    Ok(documents)
}

/// The paths that inline consolidated metadata lists and at which there is no node.
pub(in super::super) fn stale_copies(catalog: &Catalog) -> Vec<String> {
    let nodes: HashSet<&str> = catalog
        .entries
        .iter()
        .map(|entry| entry.path.as_str())
        .collect();
    let mut stale = BTreeSet::new();
    for entry in &catalog.entries {
        let Kind::Group(GroupText::V3(text)) = &entry.kind else {
            continue;
        };
        let mut problems = Problems::default();
        let root = Node::root(&text.parsed.root);
        let v3::Document::Group(group) = v3::read(&root, &mut problems) else {
            continue;
        };
        for copy in group.consolidated.iter().flat_map(|block| &block.entries) {
            let path = joined(&entry.path, &copy.path);
            if !nodes.contains(path.as_str()) {
                stale.insert(path);
            }
        }
    }
    stale.into_iter().collect()
}

/// The path of a node from its group's path and its own below the group.
fn joined(group: &str, path: &str) -> String {
    match (group, path) {
        ("", path) => path.to_owned(),
        (group, "") => group.to_owned(),
        (group, path) => format!("{group}/{path}"),
    }
}

/// The path of a node below a group, empty for the group itself; `None` if it is not below.
fn inside<'p>(path: &'p str, group: &str) -> Option<&'p str> {
    if group.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(group)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

fn group_v3(
    text: &Text,
    path: &str,
    arrays: &BTreeMap<&str, &str>,
    skips: bool,
) -> Result<String, Error> {
    let mut problems = Problems::default();
    let root = Node::root(&text.parsed.root);
    let v3::Document::Group(group) = v3::read(&root, &mut problems) else {
        return Err(Error::finding("zarr.json is no group"));
    };
    let Some(consolidated) = group.consolidated else {
        return editor(text, 0..0).apply().map_err(edited);
    };
    let mut editor = editor(text, consolidated.node.span());
    if skips {
        editor
            .remove_member(root.value, "consolidated_metadata")
            .map_err(edited)?;
        return editor.apply().map_err(edited);
    }
    let mut bare = non_finite(text);
    for entry in &consolidated.entries {
        let full = joined(path, &entry.path);
        if let Some(document) = arrays.get(full.as_str()) {
            let span = entry.node.span();
            bare.retain(|number| !(span.start <= number.start && number.end <= span.end));
            editor.replace(entry.node.value, &draft(document)?);
        }
    }
    let block = consolidated.node.span();
    for number in bare {
        if block.start <= number.start && number.end <= block.end {
            quote(&mut editor, text, number);
        }
    }
    editor.apply().map_err(edited)
}

/// An editor that has made strings of the bare non-finite numbers outside `kept`.
pub(in super::super) fn editor(text: &Text, kept: std::ops::Range<usize>) -> Editor<'_> {
    let mut editor = Editor::new(&text.text, &text.parsed.root);
    for number in non_finite(text) {
        if number.end <= kept.start || kept.end <= number.start {
            quote(&mut editor, text, number);
        }
    }
    editor
}

fn quote(editor: &mut Editor<'_>, text: &Text, number: std::ops::Range<usize>) {
    let quoted = format!("\"{}\"", &text.text[number.clone()]);
    editor.replace_text(number, quoted);
}

fn non_finite(text: &Text) -> Vec<std::ops::Range<usize>> {
    let issues = text
        .parsed
        .issues
        .iter()
        .filter(|issue| issue.kind == IssueKind::NonFinite);
    issues.map(|issue| issue.span.clone()).collect()
}

pub(in super::super) fn draft(document: &str) -> Result<Draft, Error> {
    let parsed = parse(document.as_bytes(), &Limits::default(), NonFinite::Keep);
    let parsed = parsed
        .map_err(|error| Error::finding("a document that was made is not JSON").because(error))?;
    Ok(Draft::from(&parsed.root))
}

pub(in super::super) fn edited(error: EditError) -> Error {
    Error::finding("a document cannot be edited").because(error)
}
