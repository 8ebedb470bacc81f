//! Consolidated metadata for a group that had none of its own form.

use super::super::edit::Draft;
use super::super::json::Value;
use super::compare::COPIES;

/// The value of `consolidated_metadata` for a group, from the documents of all nodes below it, by their paths from the group.
///
/// Its form is that of zarr-python: one flat list, parents before children and siblings by name, in which the copy of a group
/// has an empty list of its own.
#[must_use]
pub fn inline(nodes: &[(&str, &Value)]) -> Draft {
    let mut nodes: Vec<_> = nodes.iter().filter(|(path, _)| !path.is_empty()).collect();
    nodes.sort_by_key(|(path, _)| (path.matches('/').count(), *path));
    block(
        nodes
            .into_iter()
            .map(|(path, document)| ((*path).to_owned(), copy(document)))
            .collect(),
    )
}

fn block(copies: Vec<(String, Draft)>) -> Draft {
    Draft::object([
        ("kind", Draft::string("inline")),
        ("must_understand", Draft::Bool(false)),
        ("metadata", Draft::Object(copies)),
    ])
}

fn copy(document: &Value) -> Draft {
    let mut copy = Draft::from(document);
    if document.get("node_type").and_then(Value::as_str) == Some("group")
        && let Draft::Object(members) = &mut copy
    {
        members.retain(|(name, _)| name != COPIES);
        members.push((COPIES.to_owned(), block(Vec::new())));
    }
    copy
}

#[cfg(test)]
mod tests {
    use super::super::super::edit::{Editor, Layout};
    use super::super::super::json::{Limits, NonFinite, parse};
    use super::super::stale;
    use super::*;

    fn value(text: &str) -> Value {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse);
        parsed.unwrap().root
    }

    #[test]
    fn the_list_is_flat_and_in_the_order_of_zarr_python() {
        let array = value(r#"{"node_type": "array", "fill_value": 1.50}"#);
        let own = value(
            r#"{"zarr_format": 3, "node_type": "group",
                "consolidated_metadata": {"kind": "inline", "metadata": {}}}"#,
        );
        let root = value(r#"{"zarr_format": 3, "node_type": "group"}"#);
        let nodes = [
            ("", &root),
            ("b", &own),
            ("b/x", &array),
            ("a", &array),
            ("b/c", &own),
            ("b/c/y", &array),
        ];
        let text = inline(&nodes).to_document(&Layout::default());
        let keys: Vec<String> = value(&text)
            .get("metadata")
            .and_then(Value::as_object)
            .unwrap()
            .iter()
            .map(|member| member.name.clone())
            .collect();
        assert_eq!(keys, ["a", "b", "b/c", "b/x", "b/c/y"]);
        assert!(text.contains("\"fill_value\": 1.50"), "{text}");

        let source = "{\"zarr_format\": 3, \"node_type\": \"group\"}";
        let root = value(source);
        let mut editor = Editor::new(source, &root);
        editor.set_member(&root, COPIES, &inline(&nodes)).unwrap();
        let group = value(&editor.apply().unwrap());
        assert_eq!(stale(&group, &nodes), []);
    }
}
