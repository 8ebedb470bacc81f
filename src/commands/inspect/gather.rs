//! From a store to its report, but for the sizes of what is stored.

use std::collections::HashMap;
use std::path::PathBuf;

use super::chain::LONGEST_MESSAGE;
use super::describe::{self, Grid};
use crate::catalog::{self, Entry, Found, GroupText, Kind};
use crate::error::{Error, ErrorKind};
use crate::layout::quantities::cut;
use crate::metadata::json::Value;
use crate::report::inspect::{Broken, Group, NodeNotes, PartOf, Store as StoreReport};
use crate::selection::Selection;
use crate::store::Store;

/// The report of a store, and what is needed to complete it.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The report.
    pub(super) report: StoreReport,
    /// For each array of the report, where its chunks are and how they are named.
    pub(super) places: Vec<Place>,
    /// What could not be listed of an array's files: the array's path, the kind of failure, and what failed.
    pub(super) unlisted: Vec<(String, ErrorKind, String)>,
    /// Whether there was any node, selected or not, or anything that could not be looked at.
    found: bool,
}

/// Where an array is, and how its chunks are named.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) grid: Grid,
}

/// Reads the documents of a store. Groups without a selected array are told where `keep_empty` says so.
pub(super) fn gather(store: &Store, selection: &Selection, keep_empty: bool) -> Gathered {
    let mut gathered = Gathered {
        report: StoreReport {
            store: store.place().given().to_string_lossy().into_owned(),
            part_of: store.enclosing().first().map(|group| PartOf {
                root: group.directory.to_string_lossy().into_owned(),
                path: group.path.clone(),
            }),
            ..StoreReport::default()
        },
        ..Gathered::default()
    };
    catalog::each(store, &mut |found| {
        gathered.found = true;
        match found {
            Found::Fault { path, error } => gathered.report.broken.push(Broken {
                path,
                unreadable: error.kind() == ErrorKind::Io,
                is_node: false,
                findings: vec![catalog::causes(&error)],
            }),
            Found::Node(entry) => gathered.node(*entry, selection),
        }
    });
    gathered.count_arrays(keep_empty);
    gathered
}

impl Gathered {
    /// Whether the store holds nothing of Zarr at all.
    pub(super) fn is_empty(&self) -> bool {
        !self.found
    }

    /// The error for a store that holds nothing.
    pub(super) fn nothing_found(&self) -> Error {
        let message = format!("no Zarr node in {:?}", self.report.store);
        Error::new(ErrorKind::Io, message).hint(
            "a node is a directory that holds zarr.json (version 3), .zarray or .zgroup (version 2)",
        )
    }

    fn node(&mut self, entry: Entry, selection: &Selection) {
        let node = NodeNotes {
            ignored_documents: entry.shadowed.into_iter().map(str::to_owned).collect(),
            linked: entry.linked,
        };
        match entry.kind {
            Kind::Array(text) => {
                if selection.contains(&entry.path) {
                    let (mut array, grid) = describe::describe(&text);
                    array.path = entry.path;
                    array.node = node;
                    self.report.arrays.push(array);
                    self.places.push(Place {
                        directory: entry.directory,
                        grid,
                    });
                }
            }
            Kind::Group(text) => {
                let (zarr_format, consolidated) = match &text {
                    GroupText::V3(text) => {
                        let copies = text.parsed.root.get("consolidated_metadata");
                        (3, copies.is_some_and(|value| !Value::is_null(value)))
                    }
                    GroupText::V2 { consolidated, .. } => (2, *consolidated),
                };
                self.report.groups.push(Group {
                    path: entry.path,
                    zarr_format,
                    arrays: 0,
                    consolidated,
                    node,
                });
            }
            Kind::Broken(findings) => {
                if selection.contains(&entry.path) {
                    self.report.broken.push(Broken {
                        path: entry.path,
                        unreadable: findings.iter().any(|finding| finding.kind == ErrorKind::Io),
                        is_node: true,
                        findings: findings
                            .iter()
                            .map(|finding| cut(&finding.message, LONGEST_MESSAGE))
                            .collect(),
                    });
                }
            }
        }
    }

    /// Counts the arrays below each group, and leaves out groups without any unless they are to be kept.
    fn count_arrays(&mut self, keep_empty: bool) {
        let groups = &mut self.report.groups;
        let index: HashMap<String, usize> = groups
            .iter()
            .enumerate()
            .map(|(n, group)| (group.path.clone(), n))
            .collect();
        for array in &self.report.arrays {
            let mut path = array.path.as_str();
            while !path.is_empty() {
                path = path.rsplit_once('/').map_or("", |(parent, _)| parent);
                if let Some(group) = index.get(path).and_then(|&n| groups.get_mut(n)) {
                    group.arrays += 1;
                }
            }
        }
        groups.retain(|group| keep_empty || group.arrays > 0 || group.path.is_empty());
    }

    /// Everything that is wrong: how bad, where, and what.
    pub(super) fn findings(&self) -> impl Iterator<Item = (ErrorKind, &str, String)> {
        let broken = self.report.broken.iter().flat_map(|broken| {
            let kind = if broken.unreadable {
                ErrorKind::Io
            } else {
                ErrorKind::Finding
            };
            let findings = broken.findings.iter();
            findings.map(move |finding| (kind, broken.path.as_str(), finding.clone()))
        });
        let problems = self.report.arrays.iter().flat_map(|array| {
            let problems = array.problems.iter();
            problems.map(|problem| {
                let id = problem.id.as_ref().map(|id| format!(" [{id}]"));
                let (pointer, message) = (&problem.pointer, &problem.message);
                let message = format!("{pointer}: {message}{}", id.unwrap_or_default());
                (ErrorKind::Finding, array.path.as_str(), message)
            })
        });
        let unlisted = self.unlisted.iter();
        let unlisted =
            unlisted.map(|(path, kind, message)| (*kind, path.as_str(), message.clone()));
        broken.chain(problems).chain(unlisted)
    }
}
