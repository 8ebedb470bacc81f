//! Copies of metadata in the groups around an array stay in step with it.

use std::fs;

use serde_json::{Value, json};

use super::{bytes, document, journal, report, tree};
use crate::harness::Sandbox;
use crate::stores::succeeds;

/// Two groups, one in the other, each with inline copies of all that is below it; in the inner one two legacy arrays.
fn hierarchy() -> Sandbox {
    let sandbox = Sandbox::new();
    for array in ["a", "b"] {
        bytes(0, 10).write(&sandbox, &format!("s/sub/{array}"));
    }
    let copy = |array: &str| document(&sandbox, &format!("s/sub/{array}/zarr.json"));
    let group = |copies: Value| {
        json!({
            "zarr_format": 3, "node_type": "group", "attributes": {},
            "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": copies},
        })
    };
    let inner = group(json!({"a": copy("a"), "b": copy("b")}));
    let mut plain = inner.clone();
    plain
        .as_object_mut()
        .unwrap()
        .remove("consolidated_metadata");
    let outer = group(json!({"sub": plain, "sub/a": copy("a"), "sub/b": copy("b")}));
    sandbox.file("s/sub/zarr.json", inner.to_string());
    sandbox.file("s/zarr.json", outer.to_string());
    sandbox
}

/// Holds every copy against the document that it is of.
fn in_step(sandbox: &Sandbox) {
    for (group, prefix) in [("s", "s/"), ("s/sub", "s/sub/")] {
        let document_of = document(sandbox, &format!("{group}/zarr.json"));
        let copies = document_of["consolidated_metadata"]["metadata"]
            .as_object()
            .unwrap();
        assert!(copies.len() >= 2);
        for (path, copy) in copies {
            let mut original = document(sandbox, &format!("{prefix}{path}/zarr.json"));
            original
                .as_object_mut()
                .unwrap()
                .remove("consolidated_metadata");
            assert_eq!(*copy, original, "the copy of {path} in {group}");
        }
    }
    let outcome = sandbox.run("validate s --allow readers/* --allow chain/*");
    assert!(
        !outcome.stdout.contains("[consolidated/differs]"),
        "{outcome}"
    );
}

#[test]
fn at_every_level_whichever_node_is_addressed() {
    for (line, legacy) in [
        ("migrate-legacy s", 0),
        ("migrate-legacy s/sub", 0),
        ("migrate-legacy s/sub/a", 1),
        ("migrate-legacy s --array sub/a", 1),
    ] {
        let sandbox = hierarchy();
        in_step(&sandbox);
        let before = tree(&sandbox.path().join("s"));
        let outcome = sandbox.run(&format!("{line} --in-place --format json"));
        succeeds(&outcome);
        let paths: Vec<_> = report(&outcome)
            .documents
            .into_iter()
            .map(|d| d.path)
            .collect();
        // Arrays, then the groups from the inside out.
        assert_eq!(
            paths[paths.len() - 2..],
            ["sub/zarr.json", "zarr.json"],
            "{line}"
        );
        in_step(&sandbox);
        let after = tree(&sandbox.path().join("s"));
        let left = after
            .values()
            .filter(|text| String::from_utf8_lossy(text).contains("fixedscaleoffset"));
        // The array that was left out, and its copies in both groups.
        assert_eq!(left.count(), legacy * 3, "{line}");
        let [store, _] = [line.split(' ').nth(1).unwrap(), ""];
        succeeds(&sandbox.run(&format!(
            "migrate-legacy {store} --undo {}",
            journal(&sandbox)
        )));
        assert_eq!(tree(&sandbox.path().join("s")), before);
    }
}

#[test]
fn a_stale_copy_is_brought_in_step_with_a_note() {
    let sandbox = hierarchy();
    let path = sandbox.path().join("s/zarr.json");
    let mut root: Value = document(&sandbox, "s/zarr.json");
    root["consolidated_metadata"]["metadata"]["sub/a"]["shape"] = json!([9]);
    root["consolidated_metadata"]["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("sub/b");
    fs::write(&path, root.to_string()).unwrap();
    let outcome = sandbox.run("migrate-legacy s --in-place --format json");
    succeeds(&outcome);
    insta::assert_snapshot!(report(&outcome).notes.join("\n"), @"
    /: has no copy of the metadata of sub/b, and gets none
    /: the copy of the metadata of sub/a was stale, and is brought in step
    ");
    in_step(&sandbox);
    // What had no copy gets none.
    assert!(!fs::read_to_string(path).unwrap().contains("sub/b"));
}

#[test]
fn none_is_added_where_none_was() {
    let sandbox = crate::stores::with_stores(&["group_plain"]);
    let before = tree(&sandbox.path().join("group_plain"));
    succeeds(&sandbox.run("migrate-legacy group_plain --in-place"));
    let after = tree(&sandbox.path().join("group_plain"));
    let changed: Vec<_> = before
        .keys()
        .filter(|path| before[*path] != after[*path])
        .map(|path| path.to_str().unwrap())
        .collect();
    assert_eq!(
        changed,
        ["model/pressure/zarr.json", "model/run1/temp/zarr.json"]
    );
}
