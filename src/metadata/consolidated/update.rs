//! Bringing the copies that a group holds in step with documents that change.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::edit::{Draft, EditError, Editor};
use super::super::json::Value;
use super::super::node::Node;
use super::super::problem::Problems;
use super::Consolidated;
use super::compare::{COPIES, Stale, agree, members, pairs};

/// A node whose document changes.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'v> {
    /// The path of the node below the group that holds the copies.
    pub path: &'v str,
    /// Its document before.
    pub old: &'v Value,
    /// Its document afterwards.
    pub new: &'v Value,
}

/// What was done to the copies of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updated {
    /// The copies that change: where they stand in the text as it was, in its order. Nothing outside of them is touched.
    pub copies: Vec<Range<usize>>,
    /// What of them did not agree with the old documents. It is brought in step as well.
    pub stale: Vec<Stale>,
    /// Changed nodes of which the group has no copy. None is added.
    pub missing: Vec<String>,
}

/// Brings the inline copies in the text of a group's `zarr.json` in step with documents that change.
///
/// # Errors
///
/// Where the text cannot be edited.
pub fn bring_in_step(
    text: &str,
    group: &Value,
    changed: &[Changed<'_>],
) -> Result<(String, Updated), EditError> {
    let mut editor = Editor::new(text, group);
    let updated = update(&mut editor, group, changed)?;
    Ok((editor.apply()?, updated))
}

/// Adds the edits that bring the inline copies of a group in step to others of its document.
///
/// Of a copy only those members are replaced that change in the document, and those that were stale. A copy that is listed twice, flat
/// and in the block of a group between, is changed in both places.
///
/// # Errors
///
/// Where a copy cannot be edited.
pub fn update(
    editor: &mut Editor<'_>,
    group: &Value,
    changed: &[Changed<'_>],
) -> Result<Updated, EditError> {
    let mut updated = Updated::default();
    let Some(consolidated) = Consolidated::inline(&Node::root(group), &mut Problems::default())
    else {
        return Ok(updated);
    };
    let by_path: HashMap<&str, &Changed<'_>> =
        changed.iter().map(|change| (change.path, change)).collect();
    let mut copied = HashSet::new();
    for entry in &consolidated.entries {
        let Some(change) = by_path.get(entry.path.as_str()) else {
            continue;
        };
        copied.insert(change.path);
        updated
            .stale
            .extend(members(&entry.path, &entry.node, change.old));
        if update_copy(editor, entry.node.value, change)? {
            updated.copies.push(entry.node.span());
        }
    }
    updated.copies.sort_by_key(|span| span.start);
    let missing = changed
        .iter()
        .filter(|change| !change.path.is_empty() && !copied.contains(change.path));
    updated.missing = missing.map(|change| change.path.to_owned()).collect();
    Ok(updated)
}

/// Brings one copy in step, and tells whether it was not.
fn update_copy(
    editor: &mut Editor<'_>,
    copy: &Value,
    change: &Changed<'_>,
) -> Result<bool, EditError> {
    let changing: HashSet<&str> = pairs(change.old, change.new)
        .into_iter()
        .filter(|(_, old, new)| draft(*old) != draft(*new))
        .map(|(name, _, _)| name)
        .collect();
    let mut touched = false;
    for (name, found, new) in pairs(copy, change.new) {
        let in_step = if changing.contains(name) {
            // To the digit, since the change may be one of spelling.
            draft(found) == draft(new)
        } else {
            agree(name, found, new)
        };
        if name == COPIES || in_step {
            continue;
        }
        touched = true;
        match new {
            Some(new) => editor.set_member(copy, name, &Draft::from(new))?,
            None => editor.remove_member(copy, name)?,
        }
    }
    Ok(touched)
}

fn draft(value: Option<&Value>) -> Option<Draft> {
    value.map(Draft::from)
}

#[cfg(test)]
mod tests {
    use super::super::super::json::{Limits, NonFinite, parse};
    use super::super::{StaleKind, stale};
    use super::*;

    fn value(text: &str) -> Value {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep);
        parsed.unwrap().root
    }

    const OLD: &str = r#"{"zarr_format": 3, "node_type": "array", "fill_value": 0.0,
        "codecs": ["legacy"], "attributes": {"_FillValue": 1}, "chunk_grid": "r"}"#;
    const NEW: &str = r#"{"zarr_format": 3, "node_type": "array", "fill_value": "NaN",
        "codecs": [{"name": "pair"}], "chunk_grid": "r", "dimension_names": ["x"]}"#;

    #[test]
    fn members_that_change_are_replaced_and_nothing_else() {
        // The layout is odd on purpose.
        let text = "{\"node_type\":\"group\",\n \"consolidated_metadata\" : {\"kind\":\"inline\", \"must_understand\":false,
  \"metadata\": {
    \"other\":{\"node_type\" :\"array\",\"fill_value\":1.0e+02},
    \"g/a\": {
      \"fill_value\": 0,  \"node_type\": \"array\",
      \"codecs\": [\"legacy\"],
      \"attributes\": {\"_FillValue\": 1},
      \"chunk_grid\": {\"name\":   \"r\"}, \"zarr_format\": 3
    }
  }},  \"x\": 1.50 }\n";
        let (root, old, new) = (value(text), value(OLD), value(NEW));
        let changed = [Changed {
            path: "g/a",
            old: &old,
            new: &new,
        }];
        let (edited, updated) = bring_in_step(text, &root, &changed).unwrap();
        let expected = text
            .replace("\"fill_value\": 0,", "\"fill_value\": \"NaN\",")
            .replace("[\"legacy\"]", "[{\"name\":\"pair\"}]")
            .replace("      \"attributes\": {\"_FillValue\": 1},\n", "")
            .replace(
                "\"zarr_format\": 3\n",
                "\"zarr_format\": 3,\n      \"dimension_names\":[\"x\"]\n",
            );
        assert_eq!(edited, expected);
        assert_eq!(updated.stale, []);
        assert_eq!(updated.missing, [""; 0]);
        let [span] = updated.copies.clone().try_into().unwrap();
        assert!(text[span].starts_with("{\n      \"fill_value\": 0,"));
        let nodes = [("g/a", &new)];
        let left = stale(&value(&edited), &nodes);
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].kind, StaleKind::NoNode);
    }

    #[test]
    fn every_copy_is_found_flat_and_nested() {
        let nested = format!(
            r#"{{"node_type": "group", "consolidated_metadata": {{"kind": "inline",
                "must_understand": false, "metadata": {{"a": {OLD}}}}}}}"#
        );
        let text = format!(
            r#"{{"node_type": "group", "consolidated_metadata": {{"kind": "inline",
                "must_understand": false, "metadata": {{"g": {nested}, "g/a": {OLD}}}}}}}"#
        );
        let (root, old, new) = (value(&text), value(OLD), value(NEW));
        let changed = [
            Changed {
                path: "g/a",
                old: &old,
                new: &new,
            },
            Changed {
                path: "b",
                old: &old,
                new: &new,
            },
        ];
        let (edited, updated) = bring_in_step(&text, &root, &changed).unwrap();
        assert_eq!(updated.copies.len(), 2);
        assert_eq!(updated.missing, ["b"]);
        assert_eq!(edited.matches("pair").count(), 2);
        assert_eq!(edited.matches("legacy").count(), 0);
    }

    #[test]
    fn a_copy_that_was_stale_is_told_and_brought_in_step() {
        let copy = OLD
            .replace("legacy", "older")
            .replace("\"chunk_grid\": \"r\"", "\"left\": true");
        let text = format!(
            r#"{{"node_type": "group", "consolidated_metadata": {{"kind": "inline",
                "must_understand": false, "metadata": {{"a": {copy}}}}}}}"#
        );
        let (root, old, new) = (value(&text), value(OLD), value(NEW));
        let changed = [Changed {
            path: "a",
            old: &old,
            new: &new,
        }];
        let (edited, updated) = bring_in_step(&text, &root, &changed).unwrap();
        let told: Vec<_> = updated
            .stale
            .iter()
            .map(|one| one.pointer.to_string())
            .collect();
        let at = "/consolidated_metadata/metadata/a";
        assert_eq!(
            told,
            [
                format!("{at}/codecs"),
                format!("{at}/left"),
                format!("{at}/chunk_grid")
            ]
        );
        assert_eq!(stale(&value(&edited), &[("a", &new)]), []);
    }

    #[test]
    fn a_change_of_spelling_reaches_the_copy() {
        let document = |offset: &str| {
            value(&format!(
                r#"{{"node_type": "array", "codecs": [{{"name": "s", "configuration": {{"offset": {offset}}}}}]}}"#
            ))
        };
        let text = r#"{"node_type": "group", "consolidated_metadata": {"kind": "inline", "must_understand": false,
            "metadata": {"a": {"node_type": "array", "codecs": [{"name": "s", "configuration": {"offset": 10}}]}}}}"#;
        let (old, new) = (document("10"), document("10.0"));
        let changed = [Changed {
            path: "a",
            old: &old,
            new: &new,
        }];
        let (edited, _) = bring_in_step(text, &value(text), &changed).unwrap();
        assert!(edited.contains("\"offset\": 10.0"), "{edited}");
    }

    #[test]
    fn a_group_without_copies_stays_as_it_is() {
        let text = "{\"node_type\": \"group\"}";
        let (old, new) = (value(OLD), value(NEW));
        let changed = [Changed {
            path: "a",
            old: &old,
            new: &new,
        }];
        let (edited, updated) = bring_in_step(text, &value(text), &changed).unwrap();
        assert_eq!((edited.as_str(), updated), (text, Updated::default()));
    }
}
