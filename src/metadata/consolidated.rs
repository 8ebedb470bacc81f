//! Copies of a hierarchy's documents, kept in one place: inline in a v3 group, or as v2's
//! `.zmetadata`.

mod build;
mod compare;
mod update;

use super::extension::{Extra, extras};
use super::json::Value;
use super::node::Node;
use super::problem::{Problem, ProblemKind, Problems};

pub use build::inline;
pub use compare::{Stale, StaleKind, stale};
pub use update::{Changed, Updated, bring_in_step, update};

/// Longer paths are refused. No store takes them, and repeated in every entry below them they would
/// fill the memory.
const LONGEST_PATH: usize = 4096;

/// Consolidated metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct Consolidated<'v> {
    /// The copies, in the order of the document, those of nested blocks after the entry that holds
    /// the block.
    pub entries: Vec<Entry<'v>>,
    /// The block: the value of `consolidated_metadata`, or the whole of `.zmetadata`.
    pub node: Node<'v>,
    /// Members that are not part of the form.
    pub extras: Vec<Extra<'v>>,
}

/// A copy of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'v> {
    /// The path of the node below the group, without slashes at its ends; empty for the group
    /// itself.
    pub path: String,
    /// Which of the node's documents it is.
    pub kind: EntryKind,
    /// The copy.
    pub node: Node<'v>,
}

/// The documents that are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A `zarr.json` of an array.
    Array,
    /// A `zarr.json` of a group.
    Group,
    /// A `.zarray`.
    ZArray,
    /// A `.zgroup`.
    ZGroup,
    /// A `.zattrs`.
    ZAttrs,
}

impl EntryKind {
    /// The name of the document that is copied.
    pub fn file_name(self) -> &'static str {
        match self {
            EntryKind::Array | EntryKind::Group => "zarr.json",
            EntryKind::ZArray => ".zarray",
            EntryKind::ZGroup => ".zgroup",
            EntryKind::ZAttrs => ".zattrs",
        }
    }
}

impl<'v> Consolidated<'v> {
    /// Reads the inline block of a v3 group; `None` if it has none, or none that can be read.
    pub(super) fn inline(group: &Node<'v>, problems: &mut Problems) -> Option<Self> {
        let mut entries = Vec::new();
        let node = inline_block(group, "", &mut entries, problems)?;
        let extras = extras(&node, &["kind", "must_understand", "metadata"]);
        Some(Consolidated {
            entries,
            node,
            extras,
        })
    }

    /// Reads a `.zmetadata`; `None` if it is none.
    pub fn zmetadata(root: &Node<'v>, problems: &mut Problems) -> Option<Self> {
        if !root.is_object(problems, "an object") {
            return None;
        }
        if let Some(member) = root.required("zarr_consolidated_format", problems)
            && member.count(problems).is_some_and(|format| format != 1)
        {
            member.report(problems, ProblemKind::BadValue, "1");
        }
        let map = root.required("metadata", problems)?;
        if !map.is_object(problems, "an object of documents") {
            return None;
        }
        let mut entries = Vec::new();
        for (key, node) in members(&map) {
            let (path, file) = key.rsplit_once('/').unwrap_or(("", key));
            let kind = match file {
                ".zarray" => EntryKind::ZArray,
                ".zgroup" => EntryKind::ZGroup,
                ".zattrs" => EntryKind::ZAttrs,
                _ => {
                    let expected = "a key that ends in .zarray, .zgroup or .zattrs";
                    report_key(&node, key, expected, problems);
                    continue;
                }
            };
            // A key such as "/.zarray" has an empty path too, and names no document.
            if (path.is_empty() && key.contains('/')) || !is_path(path) {
                report_key(&node, key, "a path within the hierarchy", problems);
            } else if node.is_object(problems, "an object") {
                entries.push(Entry {
                    path: path.to_owned(),
                    kind,
                    node,
                });
            }
        }
        Some(Consolidated {
            entries,
            node: root.clone(),
            extras: extras(root, &["zarr_consolidated_format", "metadata"]),
        })
    }
}

/// Collects the entries of the block in `group`, whose own path is `base`, and of the blocks nested
/// in it.
fn inline_block<'v>(
    group: &Node<'v>,
    base: &str,
    entries: &mut Vec<Entry<'v>>,
    problems: &mut Problems,
) -> Option<Node<'v>> {
    let block = group.get("consolidated_metadata")?;
    if block.value.is_null() {
        let expected = "no such member, where nothing is consolidated";
        block.report(problems, ProblemKind::Quirk, expected);
        return None;
    }
    if !block.is_object(problems, "an object") {
        return None;
    }
    if let Some(kind) = block.required("kind", problems) {
        kind.choice(problems, &[("inline", ())])?;
    }
    match block.get("must_understand") {
        Some(flag) if flag.value.as_bool() == Some(false) => {}
        Some(flag) => flag.report(
            problems,
            ProblemKind::Quirk,
            "false, as the specification does not know the member",
        ),
        None => block.report(problems, ProblemKind::Quirk, "\"must_understand\": false"),
    }
    let map = block.required("metadata", problems)?;
    if !map.is_object(problems, "an object of documents") {
        return None;
    }
    for (key, node) in members(&map) {
        let path = if base.is_empty() {
            key.to_owned()
        } else {
            format!("{base}/{key}")
        };
        if key.is_empty() || !is_path(&path) {
            report_key(&node, key, "a path within the group", problems);
            continue;
        }
        if !node.is_object(problems, "an object") {
            continue;
        }
        let kinds = [("array", EntryKind::Array), ("group", EntryKind::Group)];
        let kind = node
            .required("node_type", problems)
            .and_then(|member| member.choice(problems, &kinds));
        let Some(kind) = kind else { continue };
        entries.push(Entry {
            path: path.clone(),
            kind,
            node: node.clone(),
        });
        if kind == EntryKind::Group {
            inline_block(&node, &path, entries, problems);
        }
    }
    Some(block)
}

fn members<'v>(map: &Node<'v>) -> impl Iterator<Item = (&'v str, Node<'v>)> + use<'v> {
    let value: &'v Value = map.value;
    let pointer = map.pointer.clone();
    let members = value.as_object().unwrap_or_default();
    members.iter().map(move |member| {
        let node = Node::new(&member.value, pointer.member(&member.name));
        (member.name.as_str(), node)
    })
}

/// Whether a path stays in the hierarchy and names a node in one way only.
fn is_path(path: &str) -> bool {
    let segment = |part: &str| !part.is_empty() && !part.bytes().all(|byte| byte == b'.');
    path.is_empty() || (path.len() <= LONGEST_PATH && path.split('/').all(segment))
}

fn report_key(node: &Node<'_>, key: &str, expected: &str, problems: &mut Problems) {
    let shown: String = key.chars().take(40).flat_map(char::escape_debug).collect();
    problems.push(Problem {
        kind: ProblemKind::BadValue,
        pointer: node.pointer.clone(),
        span: node.span(),
        found: format!("the key \"{shown}\""),
        expected: expected.to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::super::json::{Limits, NonFinite, Parsed, parse};
    use super::super::v3;
    use super::*;

    fn tree(text: &str) -> Parsed {
        parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap()
    }

    /// The entries as path and file name, and the problems, of a v3 group with this block or of a
    /// `.zmetadata`.
    fn read(text: &str) -> (Vec<(String, &'static str)>, Vec<String>) {
        let parsed = tree(text);
        let root = Node::root(&parsed.root);
        let mut problems = Problems::default();
        let consolidated = if parsed.root.get("node_type").is_some() {
            match v3::read(&root, &mut problems) {
                v3::Document::Group(group) => group.consolidated,
                _ => panic!("no group"),
            }
        } else {
            Consolidated::zmetadata(&root, &mut problems)
        };
        let entries = consolidated.map_or(Vec::new(), |consolidated| consolidated.entries);
        let entries = entries
            .into_iter()
            .map(|entry| (entry.path, entry.kind.file_name()))
            .collect();
        (
            entries,
            problems.listed.iter().map(ToString::to_string).collect(),
        )
    }

    fn inline(map: &str) -> String {
        format!(
            r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":
            {{"kind":"inline","must_understand":false,"metadata":{map}}}}}"#
        )
    }

    #[test]
    fn reads_flat_and_nested_blocks() {
        let nested = inline(r#"{"y":{"node_type":"array"}}"#);
        let text = inline(&format!(
            r#"{{"a":{{"node_type":"array"}},"g":{nested},"g/x":{{"node_type":"array"}}}}"#
        ));
        let entry = |path: &str| (path.to_owned(), "zarr.json");
        assert_eq!(
            read(&text),
            (
                vec![entry("a"), entry("g"), entry("g/y"), entry("g/x")],
                vec![]
            )
        );
    }

    #[test]
    fn entries_know_where_they_stand() {
        let text = inline(r#"{"a/b":{"node_type":"array"}}"#);
        let parsed = tree(&text);
        let v3::Document::Group(group) =
            v3::read(&Node::root(&parsed.root), &mut Problems::default())
        else {
            panic!("no group");
        };
        let node = &group.consolidated.unwrap().entries[0].node;
        assert_eq!(
            node.pointer.to_string(),
            "/consolidated_metadata/metadata/a~1b"
        );
        assert_eq!(&text[node.span()], r#"{"node_type":"array"}"#);
    }

    #[test]
    fn reads_zmetadata() {
        let text = r#"{"zarr_consolidated_format":1,"metadata":
            {".zgroup":{},"a/b/.zarray":{},"a/b/.zattrs":{},"a/.zgroup":{}}}"#;
        let entry = |path: &str, file| (path.to_owned(), file);
        assert_eq!(
            read(text),
            (
                vec![
                    entry("", ".zgroup"),
                    entry("a/b", ".zarray"),
                    entry("a/b", ".zattrs"),
                    entry("a", ".zgroup"),
                ],
                vec![]
            )
        );
    }

    #[test]
    fn reports_broken_entries_and_keeps_the_others() {
        let text =
            inline(r#"{"":{},"../a":{},"/a":{},"a//b":{},"x":1,"y":{},"z":{"node_type":"array"}}"#);
        let (entries, problems) = read(&text);
        assert_eq!(entries, [("z".to_owned(), "zarr.json")]);
        let at = "/consolidated_metadata/metadata";
        assert_eq!(
            problems,
            [
                format!("{at}/: expected a path within the group, found the key \"\""),
                format!("{at}/..~1a: expected a path within the group, found the key \"../a\""),
                format!("{at}/~1a: expected a path within the group, found the key \"/a\""),
                format!("{at}/a~1~1b: expected a path within the group, found the key \"a//b\""),
                format!("{at}/x: expected an object, found the number 1"),
                format!("{at}/y/node_type: expected a member \"node_type\", found nothing"),
            ]
        );
        let (entries, problems) = read(
            r#"{"zarr_consolidated_format":2,"metadata":{"x":{},"/.zarray":{},".zattrs":1,"a/.zgroup":{}}}"#,
        );
        assert_eq!(entries, [("a".to_owned(), ".zgroup")]);
        assert_eq!(
            problems,
            [
                "/zarr_consolidated_format: expected 1, found the number 2",
                "/metadata/x: expected a key that ends in .zarray, .zgroup or .zattrs, found the key \"x\"",
                "/metadata/~1.zarray: expected a path within the hierarchy, found the key \"/.zarray\"",
                "/metadata/.zattrs: expected an object, found the number 1",
            ]
        );
    }

    #[test]
    fn a_null_block_is_a_quirk() {
        let text = r#"{"zarr_format":3,"node_type":"group","consolidated_metadata":null}"#;
        let parsed = tree(text);
        let mut problems = Problems::default();
        v3::read(&Node::root(&parsed.root), &mut problems);
        assert!(problems.is_sound());
        assert_eq!(problems.listed[0].kind, ProblemKind::Quirk);
    }

    #[test]
    fn endless_paths_are_refused() {
        let key = "k".repeat(LONGEST_PATH + 1);
        let (entries, problems) = read(&inline(&format!(r#"{{"{key}":{{"node_type":"array"}}}}"#)));
        assert_eq!((entries.len(), problems.len()), (0, 1));
    }
}
