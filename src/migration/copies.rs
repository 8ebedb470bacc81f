//! Copies of metadata in the documents of groups, brought in step with the documents that change.

use std::path::{Path, PathBuf};

use super::documents::{COPIES, DocumentChange, Role, inside_out};
use super::hierarchy::{GroupPlan, HierarchyPlan, Work, is_below};
use crate::catalog::{GroupText, Kind, named};
use crate::error::Error;
use crate::metadata::consolidated::{Changed, bring_in_step, inline};
use crate::metadata::edit::Editor;
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::store::{DEFAULT_MAX_DOCUMENT, StoreError, read_document};

/// The name of the member that holds copies.
const MEMBER: &str = "consolidated_metadata";

/// A document that changes, parsed before and after.
struct Revision {
    /// The path from the root of the hierarchy.
    path: String,
    old: Value,
    new: Value,
}

/// A group whose document may hold copies.
struct Holder {
    /// The path from the root of the hierarchy.
    path: String,
    directory: PathBuf,
    text: String,
}

/// The documents of groups that hold copies of what changes, and what is worth knowing about them.
///
/// # Errors
///
/// Where the document of a group around the store cannot be read, or its copies cannot be changed.
pub(super) fn changes(
    plan: &HierarchyPlan,
    work: &Work<'_>,
    documents: &[DocumentChange],
) -> Result<(Vec<DocumentChange>, Vec<String>), Error> {
    let root = work.store.root();
    let revisions = revisions(plan, root, documents)?;
    if revisions.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut changes, mut notes) = (Vec::new(), Vec::new());
    for holder in holders(work)? {
        let parsed = parsed(holder.text.as_bytes(), &holder.directory)?;
        if parsed.get(MEMBER).is_none_or(Value::is_null) {
            continue;
        }
        let below: Vec<_> = revisions
            .iter()
            .filter(|revision| is_below(&holder.path, &revision.path))
            .map(|revision| Changed {
                path: within(&holder.path, &revision.path),
                old: &revision.old,
                new: &revision.new,
            })
            .collect();
        if below.is_empty() {
            continue;
        }
        let document = holder.directory.join("zarr.json");
        let (text, updated) = bring_in_step(&holder.text, &parsed, &below).map_err(|error| {
            Error::finding(format!(
                "{document:?}: its copies of metadata cannot be changed"
            ))
            .because(error)
        })?;
        let group = named(&holder.path);
        for path in &updated.missing {
            notes.push(format!(
                "{group}: has no copy of the metadata of {}, and gets none",
                named(path)
            ));
        }
        let mut stale: Vec<_> = updated
            .stale
            .iter()
            .map(|stale| named(&stale.path))
            .collect();
        stale.dedup();
        for path in stale {
            notes.push(format!(
                "{group}: the copy of the metadata of {path} was stale, and is brought in step"
            ));
        }
        if text != holder.text {
            changes.push(DocumentChange {
                path: document,
                old: Some(holder.text.into_bytes()),
                new: Some(text.into_bytes()),
                step: inside_out(COPIES, &holder.path),
                role: Role::Copy,
            });
        }
    }
    Ok((changes, notes))
}

/// The document of a group of Zarr v2 that becomes v3, with copies of the documents below it where it had a `.zmetadata`.
///
/// # Errors
///
/// Never for documents that were made here.
pub(super) fn converted(group: &GroupPlan, plan: &HierarchyPlan) -> Result<String, Error> {
    if !group.consolidated {
        return Ok(group.text.clone());
    }
    let arrays = plan
        .arrays
        .iter()
        .filter_map(|node| Some((&node.path, node.text()?)));
    let groups = plan
        .groups
        .iter()
        .map(|group| (&group.path, group.text.as_str()));
    let mut below = Vec::new();
    for (path, text) in arrays.chain(groups) {
        if *path != group.path && is_below(&group.path, path) {
            below.push((
                within(&group.path, path),
                parsed(text.as_bytes(), &group.directory)?,
            ));
        }
    }
    let below: Vec<_> = below.iter().map(|(path, value)| (*path, value)).collect();
    let root = parsed(group.text.as_bytes(), &group.directory)?;
    let mut editor = Editor::new(&group.text, &root);
    let edited = editor
        .set_member(&root, MEMBER, &inline(&below))
        .and_then(|()| editor.apply());
    edited.map_err(|error| {
        Error::finding(format!(
            "{}: copies of metadata cannot be written",
            named(&group.path)
        ))
        .because(error)
    })
}

/// The documents of Zarr v3 that change, before and after.
fn revisions(
    plan: &HierarchyPlan,
    root: &Path,
    documents: &[DocumentChange],
) -> Result<Vec<Revision>, Error> {
    let mut revisions = Vec::new();
    if plan.arrays.is_empty() {
        return Ok(revisions);
    }
    for change in documents {
        let (Some(old), Some(new), Role::Array) = (&change.old, &change.new, change.role) else {
            continue;
        };
        let Some(directory) = change.path.parent() else {
            continue;
        };
        revisions.push(Revision {
            path: path_below(root, directory),
            old: parsed(old, directory)?,
            new: parsed(new, directory)?,
        });
    }
    Ok(revisions)
}

/// The groups of Zarr v3 that the change reaches: those in the store, and those around it.
fn holders(work: &Work<'_>) -> Result<Vec<Holder>, Error> {
    let root = work.store.root();
    let mut holders = Vec::new();
    let around = if work.elsewhere {
        &[]
    } else {
        work.store.enclosing()
    };
    for group in around {
        let document = group.directory.join("zarr.json");
        let bytes = match read_document(&document, DEFAULT_MAX_DOCUMENT) {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        let text = String::from_utf8(bytes)
            .map_err(|error| Error::finding(format!("{document:?}")).because(error))?;
        holders.push(Holder {
            path: path_below(root, &group.directory),
            directory: group.directory.clone(),
            text,
        });
    }
    for entry in &work.catalog.entries {
        if let Kind::Group(GroupText::V3(text)) = &entry.kind {
            holders.push(Holder {
                path: path_below(root, &entry.directory),
                directory: entry.directory.clone(),
                text: text.text.clone(),
            });
        }
    }
    Ok(holders)
}

fn path_below(root: &Path, directory: &Path) -> String {
    let path = directory.strip_prefix(root).unwrap_or(directory);
    let parts = path
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// The path of a node from a group that it is below.
fn within<'p>(group: &str, path: &'p str) -> &'p str {
    path.strip_prefix(group)
        .unwrap_or(path)
        .trim_start_matches('/')
}

fn parsed(text: &[u8], directory: &Path) -> Result<Value, Error> {
    // Documents of any size that was read before are parsed again.
    let limits = Limits {
        max_values: usize::MAX,
        ..Limits::default()
    };
    parse(text, &limits, NonFinite::Keep)
        .map(|parsed| parsed.root)
        .map_err(|error| {
            Error::finding(format!("{:?} is not JSON", directory.join("zarr.json"))).because(error)
        })
}
