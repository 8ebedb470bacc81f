//! Which copies are stale: whether two documents say the same.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::json::{Kind, Member, Pointer, Value};
use super::super::node::Node;
use super::super::problem::Problems;
use super::Consolidated;

/// A copy that does not say what its document says.
#[derive(Debug, Clone, PartialEq)]
pub struct Stale {
    /// The path of the node below the group.
    pub path: String,
    /// What is stale.
    pub kind: StaleKind,
    /// Where in the group's document: the member, the copy, or the list that lacks one.
    pub pointer: Pointer,
    /// The same place as bytes of the text.
    pub span: Range<usize>,
}

/// What of a copy is stale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StaleKind {
    /// A member differs from the document's, or only one of the two has it.
    Member(String),
    /// There is a copy and no such node.
    NoNode,
    /// There is a node and no copy of it.
    NoCopy,
}

/// Compares the inline copies in a group's `zarr.json` with the documents of the nodes below it, given by their paths from the
/// group.
///
/// What is only written otherwise is not stale: the order of members, the spelling of numbers, members that have their
/// default, codecs without a configuration. The copies that a copied group has of its own members are left out of the comparison of
/// that group, and compared by themselves.
#[must_use]
pub fn stale(group: &Value, nodes: &[(&str, &Value)]) -> Vec<Stale> {
    let mut stale = Vec::new();
    let Some(consolidated) = Consolidated::inline(&Node::root(group), &mut Problems::default())
    else {
        return stale;
    };
    let documents: HashMap<&str, &Value> = nodes.iter().copied().collect();
    let mut copied = HashSet::new();
    for entry in &consolidated.entries {
        copied.insert(entry.path.as_str());
        match documents.get(entry.path.as_str()) {
            Some(document) => stale.extend(members(&entry.path, &entry.node, document)),
            None => stale.push(Stale {
                path: entry.path.clone(),
                kind: StaleKind::NoNode,
                pointer: entry.node.pointer.clone(),
                span: entry.node.span(),
            }),
        }
    }
    let missing = nodes
        .iter()
        .filter(|(path, _)| !path.is_empty() && !copied.contains(path));
    stale.extend(missing.map(|(path, _)| Stale {
        path: (*path).to_owned(),
        kind: StaleKind::NoCopy,
        pointer: consolidated.node.pointer.clone(),
        span: consolidated.node.span(),
    }));
    stale
}

/// The members of a copy that do not say what the document says.
pub(super) fn members(path: &str, copy: &Node<'_>, document: &Value) -> Vec<Stale> {
    let stale = pairs(copy.value, document)
        .into_iter()
        .filter(|(name, found, expected)| *name != COPIES && !agree(name, *found, *expected));
    stale
        .map(|(name, found, _)| Stale {
            path: path.to_owned(),
            kind: StaleKind::Member(name.to_owned()),
            pointer: copy.pointer.member(name),
            span: found.map_or(copy.span(), |value| value.span.clone()),
        })
        .collect()
}

/// The member that holds the copies of other documents.
pub(super) const COPIES: &str = "consolidated_metadata";

/// A name, and the members that two objects have of it.
pub(super) type Pair<'v> = (&'v str, Option<&'v Value>, Option<&'v Value>);

/// The members of two objects by name, each name once: of duplicates the last, which is the one that readers see.
pub(super) fn pairs<'v>(a: &'v Value, b: &'v Value) -> Vec<Pair<'v>> {
    let [a, b] = [a, b].map(|value| value.as_object().unwrap_or_default());
    let find = |members: &'v [_]| -> HashMap<&'v str, &'v Value> {
        let member = |member: &'v Member| (member.name.as_str(), &member.value);
        members.iter().map(member).collect()
    };
    let (of_a, of_b) = (find(a), find(b));
    let mut seen = HashSet::new();
    a.iter()
        .chain(b)
        .map(|member| member.name.as_str())
        .filter(|name| seen.insert(*name))
        .map(|name| (name, of_a.get(name).copied(), of_b.get(name).copied()))
        .collect()
}

/// Whether two documents say the same in one member.
pub(super) fn agree(name: &str, a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) if EXTENSIONS.contains(&name) => same_extension(a, b),
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        (Some(present), None) | (None, Some(present)) => is_default(name, present),
    }
}

/// Members whose values name extensions, or list them.
const EXTENSIONS: [&str; 5] = [
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "storage_transformers",
];

/// Whether a member may as well be left out.
fn is_default(name: &str, value: &Value) -> bool {
    match name {
        "attributes" => is_empty(value),
        "storage_transformers" => value.as_array().is_some_and(<[_]>::is_empty),
        "dimension_names" => value.is_null(),
        _ => false,
    }
}

fn is_empty(object: &Value) -> bool {
    object.as_object().is_some_and(<[_]>::is_empty)
}

/// Whether two extensions, or lists of them, are the same: an empty configuration may be left out, and then the object too.
fn same_extension(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Array(a), Kind::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_extension(a, b))
        }
        (Kind::String(name), Kind::Object(_)) => is_bare(b, name),
        (Kind::Object(_), Kind::String(name)) => is_bare(a, name),
        (Kind::Object(_), Kind::Object(_)) => {
            pairs(a, b)
                .into_iter()
                .all(|(name, a, b)| match (name, a, b) {
                    ("configuration", Some(a), Some(b)) => same_configuration(a, b),
                    ("configuration", Some(one), None) | ("configuration", None, Some(one)) => {
                        is_empty(one)
                    }
                    (_, Some(a), Some(b)) => same(a, b),
                    _ => false,
                })
        }
        _ => same(a, b),
    }
}

/// As [`same`], with the codecs inside a shard.
fn same_configuration(a: &Value, b: &Value) -> bool {
    let (Kind::Object(_), Kind::Object(_)) = (&a.kind, &b.kind) else {
        return same(a, b);
    };
    pairs(a, b)
        .into_iter()
        .all(|(name, a, b)| match (name, a, b) {
            ("codecs" | "index_codecs", Some(a), Some(b)) => same_extension(a, b),
            (_, Some(a), Some(b)) => same(a, b),
            _ => false,
        })
}

fn is_bare(object: &Value, name: &str) -> bool {
    let members = object.as_object().unwrap_or_default();
    members.iter().all(|member| match member.name.as_str() {
        "name" => member.value.as_str() == Some(name),
        "configuration" => is_empty(&member.value),
        _ => false,
    })
}

/// Whether two values are the same, however they are written.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Bool(a), Kind::Bool(b)) => a == b,
        (Kind::Number(a), Kind::Number(b)) => same_number(a, b),
        // Whoever copies a bare number as JSON makes a string of it.
        (Kind::String(a) | Kind::NonFinite(a), Kind::String(b) | Kind::NonFinite(b)) => a == b,
        (Kind::Array(a), Kind::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Kind::Object(_), Kind::Object(_)) => pairs(a, b)
            .into_iter()
            .all(|(_, a, b)| a.zip(b).is_some_and(|(a, b)| same(a, b))),
        _ => false,
    }
}

/// Two whole numbers are the same if all digits are, others if programs that copy them make one double of both.
fn same_number(a: &str, b: &str) -> bool {
    let whole = |token: &str| !token.contains(['.', 'e', 'E']) && token != "-0";
    if a == b || whole(a) && whole(b) {
        return a == b;
    }
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.to_bits() == b.to_bits(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::json::{Limits, NonFinite, parse};
    use super::*;

    fn value(text: &str) -> Value {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep);
        parsed.unwrap().root
    }

    fn group(copies: &str) -> Value {
        value(&format!(
            r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata":
                {{"kind": "inline", "must_understand": false, "metadata": {copies}}}}}"#
        ))
    }

    /// The stale members of a copy of one array.
    fn differences(copy: &str, document: &str) -> Vec<String> {
        let members = |text: &str| format!(r#"{{"node_type": "array", {text}}}"#);
        let group = group(&format!(r#"{{"a": {}}}"#, members(copy)));
        let document = value(&members(document));
        let stale = stale(&group, &[("a", &document)]);
        stale.iter().map(|one| one.pointer.to_string()).collect()
    }

    #[test]
    fn what_is_only_written_otherwise_is_not_stale() {
        for (copy, document) in [
            (r#""a": 1, "b": [2]"#, r#""b":[2],"a":1"#),
            (r#""f": 0.1"#, r#""f": 1e-1"#),
            (r#""f": 10"#, r#""f": 10.0"#),
            (
                r#""f": 0.1"#,
                r#""f": 0.1000000000000000055511151231257827"#,
            ),
            (r#""n": "\u00e9""#, r#""n": "é""#),
            (r#""n": "NaN""#, r#""n": NaN"#),
            (
                r#""attributes": {}, "storage_transformers": []"#,
                r#""dimension_names": null"#,
            ),
            (r#""codecs": [{"name": "bytes"}]"#, r#""codecs": ["bytes"]"#),
            (
                r#""codecs": [{"name": "s", "configuration": {"codecs": [{"name": "b"}]}}]"#,
                r#""codecs": [{"configuration": {"codecs": ["b"]}, "name": "s"}]"#,
            ),
            (
                r#""codecs": [{"name": "crc32c", "configuration": {}}]"#,
                r#""codecs": [{"name": "crc32c"}]"#,
            ),
        ] {
            assert_eq!(differences(copy, document), [""; 0], "{copy} {document}");
            assert_eq!(differences(document, copy), [""; 0], "{document} {copy}");
        }
    }

    #[test]
    fn what_says_something_else_is_stale() {
        let at = "/consolidated_metadata/metadata/a";
        for (copy, document, member) in [
            (r#""f": 0.1"#, r#""f": 0.10000000000000002"#, "f"),
            (r#""f": 0.0"#, r#""f": -0.0"#, "f"),
            (r#""f": 9007199254740993"#, r#""f": 9007199254740992"#, "f"),
            (r#""f": "10""#, r#""f": 10"#, "f"),
            (r#""attributes": {"x": 1}"#, "\"y\": 1", "attributes"),
            (
                r#""codecs": ["a", "b"]"#,
                r#""codecs": ["b", "a"]"#,
                "codecs",
            ),
            (
                r#""codecs": [{"name": "s", "configuration": {"offset": 1}}]"#,
                r#""codecs": [{"name": "s"}]"#,
                "codecs",
            ),
            (
                r#""codecs": [{"name": "s", "must_understand": false}]"#,
                r#""codecs": ["s"]"#,
                "codecs",
            ),
        ] {
            let found = differences(copy, document);
            assert!(
                found.contains(&format!("{at}/{member}")),
                "{copy}: {found:?}"
            );
        }
    }

    #[test]
    fn nodes_and_copies_without_each_other_are_stale() {
        let array = r#"{"node_type": "array"}"#;
        let nested = format!(
            r#"{{"node_type": "group", "consolidated_metadata":
                {{"kind": "inline", "must_understand": false, "metadata": {{"x": {array}}}}}}}"#
        );
        let group = group(&format!(r#"{{"g": {nested}, "gone": {array}}}"#));
        let (array, own) = (value(array), value(r#"{"node_type": "group"}"#));
        let stale = stale(
            &group,
            &[("", &group), ("g", &own), ("g/x", &array), ("new", &array)],
        );
        let found: Vec<_> = stale
            .iter()
            .map(|one| (one.path.as_str(), &one.kind))
            .collect();
        assert_eq!(
            found,
            [("gone", &StaleKind::NoNode), ("new", &StaleKind::NoCopy)]
        );
    }

    #[test]
    fn a_group_without_copies_has_no_stale_ones() {
        let array = value(r#"{"node_type": "array"}"#);
        let group = value(r#"{"zarr_format": 3, "node_type": "group"}"#);
        assert_eq!(stale(&group, &[("a", &array)]), []);
    }
}
