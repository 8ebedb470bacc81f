//! The documents that a plan for a hierarchy changes, in the order in which they are written.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::copies;
use super::hierarchy::{HierarchyPlan, NodeOutcome, NodePlan, Work};
use crate::catalog::{ArrayText, GroupText, Kind};
use crate::error::Error;
use crate::store::{DEFAULT_MAX_DOCUMENT, StoreError, read_document};

/// A document that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentChange {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds; `None` if it is not there.
    pub old: Option<Vec<u8>>,
    /// What it is to hold; `None` if it is to go.
    pub new: Option<Vec<u8>>,
    /// Documents of a lower step are written first: arrays, then groups from the inside out, then copies of metadata, then what goes.
    pub step: u32,
    /// What it is.
    pub role: Role,
}

/// What a document that changes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The document of an array that is migrated.
    Array,
    /// The document of an array or group that becomes Zarr v3.
    Converted,
    /// A copy of the metadata of what is below a group, in the document of the group.
    Copy,
    /// A document of Zarr v2 that goes.
    Obsolete,
}

/// The documents that change, and those of Zarr v2 that what is written was made from.
#[derive(Debug, Default)]
pub struct Documents {
    /// The changes, by step.
    pub changes: Vec<DocumentChange>,
    /// What is worth knowing about copies of metadata.
    pub notes: Vec<String>,
    /// Documents that stay, and must not have changed when the others are written.
    pub sources: Vec<(PathBuf, Vec<u8>)>,
}

const ARRAYS: u32 = 0;
/// Groups of Zarr v2 that become v3, the deepest first. No path is as deep.
const GROUPS: u32 = 1;
const DEEPEST: u32 = 1 << 16;
/// Copies, the deepest first.
pub(super) const COPIES: u32 = GROUPS + DEEPEST;
const OBSOLETE: u32 = COPIES + DEEPEST;

/// The step of something that is written from the inside out.
pub(super) fn inside_out(base: u32, path: &str) -> u32 {
    let depth = if path.is_empty() {
        0
    } else {
        u32::try_from(path.split('/').count()).unwrap_or(DEEPEST)
    };
    base + DEEPEST.saturating_sub(1).saturating_sub(depth)
}

impl HierarchyPlan {
    /// The documents that change. What stands in the way of an array is left out, and with it the group of Zarr v2 around it.
    ///
    /// # Errors
    ///
    /// Where a document of Zarr v2 can no longer be read.
    pub fn documents(&self, work: &Work<'_>) -> Result<Documents, Error> {
        let mut documents = Documents::default();
        let stuck = |tree: &str| {
            let mut nodes = self.arrays.iter();
            nodes.any(|node| node.tree.as_deref() == Some(tree) && node.is_impossible())
        };
        let entries = work.catalog.entries.iter();
        let entries: HashMap<_, _> = entries
            .map(|entry| (entry.path.as_str(), &entry.kind))
            .collect();
        for node in &self.arrays {
            if !node.tree.as_deref().is_some_and(stuck) {
                documents.node(
                    node,
                    entries.get(node.path.as_str()).copied(),
                    work.wishes.remove_v2,
                );
            }
        }
        for group in &self.groups {
            if self.tree_of(&group.path).is_some_and(stuck) {
                continue;
            }
            documents.changes.push(DocumentChange {
                path: group.directory.join("zarr.json"),
                old: None,
                new: Some(copies::converted(group, self)?.into_bytes()),
                step: inside_out(GROUPS, &group.path),
                role: Role::Converted,
            });
            let kind = entries.get(group.path.as_str()).copied();
            if let Some(Kind::Group(GroupText::V2 {
                attributes: Some(text),
                ..
            })) = kind
            {
                documents.obsolete(
                    &group.directory,
                    ".zattrs",
                    text.text.as_bytes(),
                    work.wishes.remove_v2,
                );
            }
            for name in [".zgroup", ".zmetadata"] {
                match read_document(&group.directory.join(name), DEFAULT_MAX_DOCUMENT) {
                    Ok(bytes) => {
                        documents.obsolete(&group.directory, name, &bytes, work.wishes.remove_v2)
                    }
                    Err(StoreError::NotFound(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        let (changes, notes) = copies::changes(self, work, &documents.changes)?;
        documents.changes.extend(changes);
        documents.notes = notes;
        documents
            .changes
            .sort_by(|a, b| (a.step, &a.path).cmp(&(b.step, &b.path)));
        Ok(documents)
    }

    /// The tree of Zarr v2 that a group belongs to.
    fn tree_of(&self, path: &str) -> Option<&str> {
        let mut trees = self.arrays.iter().filter_map(|node| node.tree.as_deref());
        trees.find(|tree| super::hierarchy::is_below(tree, path))
    }
}

impl Documents {
    fn node(&mut self, node: &NodePlan, kind: Option<&Kind>, remove_v2: bool) {
        let Some(text) = node.text() else { return };
        let role = match node.outcome {
            NodeOutcome::Migrate(_) => Role::Array,
            _ => Role::Converted,
        };
        self.changes.push(DocumentChange {
            path: node.directory.join("zarr.json"),
            old: (node.zarr_format == 3).then(|| node.legacy_text.clone().into_bytes()),
            new: Some(text.to_owned().into_bytes()),
            step: ARRAYS,
            role,
        });
        if let Some(Kind::Array(ArrayText::V2 { array, attributes })) = kind {
            self.obsolete(&node.directory, ".zarray", array.text.as_bytes(), remove_v2);
            if let Some(text) = attributes {
                self.obsolete(&node.directory, ".zattrs", text.text.as_bytes(), remove_v2);
            }
        }
    }

    /// Notes a document of Zarr v2 that has been converted, as something that goes or something that stays.
    fn obsolete(&mut self, directory: &Path, name: &str, bytes: &[u8], remove: bool) {
        let path = directory.join(name);
        if remove {
            self.changes.push(DocumentChange {
                path,
                old: Some(bytes.to_vec()),
                new: None,
                step: OBSOLETE,
                role: Role::Obsolete,
            });
        } else {
            self.sources.push((path, bytes.to_vec()));
        }
    }
}

/// Checks that the documents that a plan was made from are still what they were.
///
/// # Errors
///
/// Where one changed since it was read.
pub fn same_sources(documents: &Documents) -> Result<(), Error> {
    for (path, bytes) in &documents.sources {
        let now = read_document(path, DEFAULT_MAX_DOCUMENT);
        if !now.is_ok_and(|now| now == *bytes) {
            return Err(StoreError::Changed(path.clone()).into());
        }
    }
    Ok(())
}
