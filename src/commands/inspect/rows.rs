//! The nodes of a report in the order of the walk, each with its place in the outline and what is below it.

use crate::layout::quantities::escaped;
use crate::report::inspect::{Array, Broken, Group, Store};

/// Below this depth nodes stand under their ancestor at it, with the rest of their path.
const DEEPEST: usize = 12;

/// A node of either kind, or something that is broken.
#[derive(Clone, Copy)]
pub(super) enum Node<'r> {
    Array(&'r Array),
    Group(&'r Group),
    Broken(&'r Broken),
    /// The store itself, where it is no node.
    Directory,
}

/// A line of the outline.
pub(super) struct Row<'r> {
    pub(super) node: Node<'r>,
    pub(super) path: &'r str,
    pub(super) name: String,
    pub(super) depth: usize,
    /// Whether no sibling follows.
    pub(super) last: bool,
    /// What is wrong at the same path.
    pub(super) faults: Vec<&'r Broken>,
    pub(super) total: Total,
}

/// What is stored of the arrays of a group.
#[derive(Clone, Copy)]
pub(super) struct Total {
    pub(super) arrays: u64,
    pub(super) stored: u128,
    pub(super) logical: Option<u128>,
    pub(super) complete: bool,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            arrays: 0,
            stored: 0,
            logical: Some(0),
            complete: true,
        }
    }
}

/// The rows of all nodes, in the order of the walk, each with its place in the outline.
pub(super) fn rows(store: &Store) -> Vec<Row<'_>> {
    let groups = store
        .groups
        .iter()
        .map(|group| (group.path.as_str(), Node::Group(group)));
    let arrays = store
        .arrays
        .iter()
        .map(|array| (array.path.as_str(), Node::Array(array)));
    let broken = store
        .broken
        .iter()
        .map(|broken| (broken.path.as_str(), Node::Broken(broken)));
    let mut nodes: Vec<_> = groups.chain(arrays).chain(broken).collect();
    // Stable, so that what is broken about a node comes after the node.
    nodes.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    if nodes.first().is_none_or(|(path, _)| !path.is_empty()) {
        nodes.insert(0, ("", Node::Directory));
    }
    let mut rows: Vec<Row<'_>> = Vec::with_capacity(nodes.len());
    // The rows that the next one may be below.
    let mut around: Vec<usize> = Vec::new();
    for (path, node) in nodes {
        if let (Some(before), Node::Broken(fault)) = (rows.last_mut(), node)
            && before.path == path
        {
            before.faults.push(fault);
            continue;
        }
        while around
            .last()
            .is_some_and(|&n| !is_inside(path, rows[n].path))
        {
            around.pop();
        }
        let depth = around.len().min(DEEPEST);
        let parent = depth.checked_sub(1).map(|n| rows[around[n]].path);
        let name = match parent {
            None => escaped(&store.store),
            Some("") => escaped(path),
            Some(parent) => escaped(path.get(parent.len() + 1..).unwrap_or(path)),
        };
        let total = match node {
            Node::Array(array) => Total {
                arrays: 1,
                stored: array.stored.bytes.into(),
                logical: array.logical_bytes,
                complete: array.stored.complete,
            },
            _ => Total::default(),
        };
        for &n in &around {
            rows[n].total.add(total);
        }
        around.push(rows.len());
        rows.push(Row {
            node,
            path,
            name,
            depth,
            last: false,
            faults: Vec::new(),
            total,
        });
    }
    mark_last(&mut rows);
    rows
}

impl Total {
    fn add(&mut self, other: Self) {
        self.arrays += other.arrays;
        self.stored += other.stored;
        self.logical = self
            .logical
            .zip(other.logical)
            .and_then(|(a, b)| a.checked_add(b));
        self.complete &= other.complete;
    }

    /// How much the arrays would take in memory for each byte stored.
    #[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
    pub(super) fn ratio(self) -> Option<f64> {
        let comparable = self.complete && self.stored > 0;
        let logical = self.logical.filter(|_| comparable)?;
        Some(logical as f64 / self.stored as f64)
    }
}

fn is_inside(path: &str, group: &str) -> bool {
    group.is_empty()
        || path
            .strip_prefix(group)
            .is_some_and(|rest| rest.starts_with('/'))
}

fn mark_last(rows: &mut [Row<'_>]) {
    // Whether a row of each depth follows before one of a smaller depth.
    let mut follows: Vec<bool> = Vec::new();
    for row in rows.iter_mut().rev() {
        follows.resize(row.depth + 1, false);
        row.last = !follows[row.depth];
        follows[row.depth] = true;
    }
}
