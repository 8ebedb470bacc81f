//! Arrays of Zarr v2: what is written for them, and where they are refused.

use std::fs;

use serde_json::{Value, json};

use super::{array, document, tree, values};
use crate::harness::Sandbox;
use crate::stores::{succeeds, with_stores};

/// An array of Zarr v2 that is yet to be written, in one chunk.
pub(super) struct Array {
    document: Value,
    attributes: Option<Value>,
    chunks: Vec<(String, Vec<u8>)>,
}

impl Array {
    pub(super) fn new(dtype: &str, shape: &[u64], fill: Value) -> Self {
        Self {
            document: json!({
                "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C",
                "compressor": null, "fill_value": fill, "filters": null,
            }),
            attributes: None,
            chunks: Vec::new(),
        }
    }

    pub(super) fn set(mut self, member: &str, value: Value) -> Self {
        self.document[member] = value;
        self
    }

    pub(super) fn filters(self, filters: Value) -> Self {
        self.set("filters", filters)
    }

    pub(super) fn attributes(mut self, attributes: Value) -> Self {
        self.attributes = Some(attributes);
        self
    }

    pub(super) fn chunk(mut self, key: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.chunks.push((key.to_owned(), bytes.into()));
        self
    }

    pub(super) fn write(&self, sandbox: &Sandbox, path: &str) {
        let folder = sandbox.path().join(path);
        fs::create_dir_all(&folder).unwrap();
        let text = serde_json::to_string_pretty(&self.document).unwrap();
        fs::write(folder.join(".zarray"), text).unwrap();
        if let Some(attributes) = &self.attributes {
            fs::write(folder.join(".zattrs"), attributes.to_string()).unwrap();
        }
        for (key, bytes) in &self.chunks {
            let file = folder.join(key);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
}

pub(super) fn filter(offset: i64, scale: i64, dtype: &str, astype: &str) -> Value {
    json!([{"id": "fixedscaleoffset", "offset": offset, "scale": scale, "dtype": dtype, "astype": astype}])
}

/// Case C08.
#[test]
fn the_byte_order_is_that_of_astype() {
    let sandbox = Sandbox::new();
    Array::new("<f4", &[4], json!(0))
        .filters(filter(0, 10, "<f4", ">i2"))
        .chunk("0", [0, 10, 0, 20, 0, 30, 0, 40])
        .write(&sandbox, "a");
    let outcome = sandbox.run("migrate-legacy a --in-place --require-identical --format json");
    succeeds(&outcome);
    assert_eq!(array(&outcome).byte_order.as_deref(), Some("big"));
    assert_eq!(
        document(&sandbox, "a/zarr.json")["codecs"][2],
        json!({"name": "bytes", "configuration": {"endian": "big"}})
    );
    assert_eq!(values(&sandbox, "a"), "1.0 2.0 3.0 4.0");
}

/// Case C09: one byte before the filter, two after it.
#[test]
fn a_byte_that_is_stored_as_two_has_a_byte_order() {
    let sandbox = Sandbox::new();
    Array::new("|u1", &[2], json!(0))
        .filters(filter(0, 1, "|u1", "<i2"))
        .chunk("0", [1, 0, 2, 0])
        .write(&sandbox, "a");
    succeeds(&sandbox.run("migrate-legacy a --in-place --exact"));
    assert_eq!(values(&sandbox, "a"), "1 2");
}

#[test]
fn order_f_in_three_dimensions_reads_the_same() {
    let sandbox = Sandbox::new();
    Array::new("<f4", &[2, 3, 2], json!(0))
        .set("order", json!("F"))
        .filters(filter(0, 1, "<f4", "|u1"))
        .chunk("0.0.0", (0..12).collect::<Vec<u8>>())
        .write(&sandbox, "a");
    // Element [i, j, k] is stored at i + 2 j + 6 k.
    let right = "0.0 6.0 2.0 8.0 4.0 10.0 1.0 7.0 3.0 9.0 5.0 11.0";
    assert_eq!(values(&sandbox, "a"), right);
    succeeds(&sandbox.run("migrate-legacy a --in-place --require-identical"));
    assert_eq!(values(&sandbox, "a"), right);
}

#[test]
fn what_separates_the_names_of_chunks_is_found_or_asked_for() {
    let sandbox = Sandbox::new();
    let grid = |keys: [&str; 2]| {
        Array::new("<f4", &[1, 4], json!(0))
            .set("chunks", json!([1, 2]))
            .filters(filter(0, 1, "<f4", "|u1"))
            .chunk(keys[0], [1, 2])
            .chunk(keys[1], [3, 4])
    };
    grid(["0.0", "0.1"]).write(&sandbox, "dots");
    grid(["0/0", "0/1"]).write(&sandbox, "slashes");
    grid(["0.0", "0/1"]).write(&sandbox, "both");
    let separator = |store: &str| {
        document(&sandbox, &format!("{store}/zarr.json"))["chunk_key_encoding"]["configuration"]["separator"].clone()
    };
    succeeds(&sandbox.run("migrate-legacy dots --in-place"));
    assert_eq!(separator("dots"), ".");
    for store in ["slashes", "both"] {
        let before = tree(&sandbox.path().join(store));
        let outcome = sandbox.run(&format!("migrate-legacy {store} --in-place"));
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert!(outcome.stderr.contains("--separator"), "{outcome}");
        assert_eq!(tree(&sandbox.path().join(store)), before);
    }
    insta::assert_snapshot!(sandbox.run("migrate-legacy slashes -q --in-place").stderr, @r#"
    error: 1 array cannot be migrated
      - /: .zarray: the chunks are named like 0/0, and not with "." between the numbers alone; the document does not say, which means "."
    hint: --separator says which of them are the array's
    hint: --skip-impossible goes on without them
    "#);
    succeeds(&sandbox.run("migrate-legacy slashes --in-place --separator /"));
    assert_eq!(separator("slashes"), "/");
    assert_eq!(values(&sandbox, "slashes"), "1.0 2.0 3.0 4.0");
    succeeds(&sandbox.run("migrate-legacy both --in-place --separator ."));
    assert_eq!(values(&sandbox, "both"), "1.0 2.0 0.0 0.0");
    // Where the chunks say otherwise, the flag is not believed.
    let sandbox = Sandbox::new();
    grid(["0.0", "0.1"]).write(&sandbox, "dots");
    assert_eq!(
        sandbox.run("migrate-legacy dots --separator /").exit,
        Some(1)
    );
}

#[test]
fn documents_of_v2_stay_or_go() {
    let sandbox = with_stores(&["v2_group_consolidated"]);
    let root = sandbox.path().join("v2_group_consolidated");
    let before = tree(&root);
    succeeds(&sandbox.run("migrate-legacy v2_group_consolidated --in-place"));
    let kept = tree(&root);
    for (path, text) in &before {
        assert_eq!(kept.get(path), Some(text), "{path:?}");
    }
    succeeds(&sandbox.run(&format!(
        "migrate-legacy v2_group_consolidated --undo {}",
        super::journal(&sandbox)
    )));
    assert_eq!(tree(&root), before);
    succeeds(&sandbox.run("migrate-legacy v2_group_consolidated --in-place --remove-v2"));
    let mut left: Vec<_> = tree(&root)
        .into_keys()
        .filter(|path| super::is_document(path))
        .collect();
    left.sort();
    let names: Vec<_> = left.iter().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "plain/zarr.json",
            "sub/t/zarr.json",
            "sub/zarr.json",
            "zarr.json"
        ]
    );
    succeeds(&sandbox.run(&format!(
        "migrate-legacy v2_group_consolidated --undo {}",
        super::journal(&sandbox)
    )));
    assert_eq!(tree(&root), before);
}

/// Case C16: from `.zmetadata` the root gets inline copies, equal to the documents; no other group gets any.
#[test]
fn the_copies_of_zmetadata_become_inline_ones() {
    for (name, has) in [("v2_group_consolidated", true), ("v2_group", false)] {
        let sandbox = with_stores(&[name]);
        let groups = |path: &str| document(&sandbox, &format!("{name}/{path}zarr.json"));
        succeeds(&sandbox.run(&format!("migrate-legacy {name} --in-place")));
        let root = groups("");
        assert_eq!(root.get("consolidated_metadata").is_some(), has, "{name}");
        if has {
            let copies = root["consolidated_metadata"]["metadata"]
                .as_object()
                .unwrap();
            let paths: Vec<_> = copies.keys().map(String::as_str).collect();
            assert_eq!(paths, ["plain", "sub", "sub/t"]);
            for (path, copy) in copies {
                let mut copy = copy.clone();
                // As zarr-python has it, a group in it has copies of nothing.
                let nested = copy
                    .as_object_mut()
                    .unwrap()
                    .remove("consolidated_metadata");
                let nothing = json!({"kind": "inline", "must_understand": false, "metadata": {}});
                assert_eq!(nested, (path == "sub").then_some(nothing));
                assert_eq!(copy, groups(&format!("{path}/")), "{path}");
            }
            assert!(groups("sub/").get("consolidated_metadata").is_none());
        }
    }
}

/// Row R34: what cannot be converted keeps the whole hierarchy as it is, flag or not.
#[test]
fn a_hierarchy_is_converted_whole_or_not_at_all() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("g")).unwrap();
    sandbox.file("g/.zgroup", r#"{"zarr_format": 2}"#);
    Array::new("<f4", &[2], json!(0))
        .filters(filter(0, 1, "<f4", "|u1"))
        .chunk("0", [1, 2])
        .write(&sandbox, "g/legacy");
    Array::new("<i2", &[2], json!(0)).write(&sandbox, "g/plain");
    Array::new("<f4", &[2], json!(0))
        .filters(json!([{"id": "unheard-of", "level": 1}]))
        .write(&sandbox, "g/odd");
    let before = tree(sandbox.path());
    for flags in ["", "--skip-impossible", "--array legacy", "--array !odd"] {
        let outcome = sandbox.run(&format!(
            "migrate-legacy g --in-place -q --format json {flags}"
        ));
        assert_eq!(outcome.exit, Some(1), "{flags}: {outcome}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome.stderr, @r#"
            error: 1 array cannot be migrated
              - odd: .zarray /filters/0: the codec "unheard-of": it is not known
            hint: write the array anew without this codec, with the program that wrote it
            hint: a hierarchy of Zarr v2 is migrated as a whole or not at all
            "#);
        }
        assert_eq!(tree(sandbox.path()), before);
    }
    fs::remove_dir_all(sandbox.path().join("g/odd")).unwrap();
    // An array that is left out would stay legacy in a hierarchy that becomes v3.
    Array::new("<f4", &[2], json!(0))
        .filters(filter(0, 1, "<f4", "|u1"))
        .write(&sandbox, "g/other");
    let outcome = sandbox.run("migrate-legacy g --in-place --array legacy -q --format json");
    assert_eq!(outcome.exit, Some(1));
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array cannot be migrated
      - other: a hierarchy of Zarr v2 is migrated as a whole, and --array leaves this array of it out
    hint: a hierarchy of Zarr v2 is migrated as a whole or not at all
    ");
    succeeds(&sandbox.run("migrate-legacy g --in-place --array legacy --array other"));
    assert!(sandbox.path().join("g/plain/zarr.json").exists());
}

#[test]
fn an_array_alone_may_leave_its_group_behind_and_the_plan_says_so() {
    let sandbox = with_stores(&["v2_group"]);
    let array = tree(&sandbox.path().join("v2_group"));
    let array = array
        .iter()
        .find(|(_, text)| String::from_utf8_lossy(text).contains("fixedscaleoffset"));
    let path = array
        .unwrap()
        .0
        .parent()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    let outcome = sandbox.run(&format!(
        "migrate-legacy v2_group/{path} --in-place --format json"
    ));
    succeeds(&outcome);
    let notes = super::report(&outcome).notes.join("\n");
    assert!(notes.contains("stays a group of Zarr v2"), "{notes}");
    assert!(sandbox.path().join("v2_group/.zgroup").exists());
    assert!(!sandbox.path().join("v2_group/zarr.json").exists());
}

/// Row R40.
#[test]
fn a_fill_of_null_gets_a_value_that_was_undefined_before() {
    let sandbox = Sandbox::new();
    Array::new("<f4", &[2], Value::Null)
        .filters(filter(0, 1, "<f4", "|u1"))
        .chunk("0", [1, 2])
        .write(&sandbox, "a");
    let outcome = sandbox.run("migrate-legacy a --in-place --format json");
    succeeds(&outcome);
    let fill = array(&outcome).fill.unwrap();
    assert!(!fill.defined_before);
    assert_eq!((fill.value, fill.before), (json!(0.0), Value::Null));
}

/// Row R48: a text that says NaN stays a text, and a bare NaN becomes one, with a note.
#[test]
fn a_bare_nan_in_attributes_never_reaches_v3() {
    let sandbox = Sandbox::new();
    Array::new("<f4", &[2], json!(0))
        .filters(filter(0, 1, "<f4", "|u1"))
        .chunk("0", [1, 2])
        .write(&sandbox, "a");
    sandbox.file("a/.zattrs", r#"{"note": "NaN", "r": [NaN]}"#);
    let outcome = sandbox.run("migrate-legacy a --in-place --format json");
    succeeds(&outcome);
    let attributes = &document(&sandbox, "a/zarr.json")["attributes"];
    assert_eq!(attributes["note"], "NaN");
    assert_eq!(attributes["r"], json!(["NaN"]));
    let notes = array(&outcome).notes.join("\n");
    assert!(notes.contains("/r/0"), "{notes}");
}

/// Case C15: names of dimensions and the mask of xarray go where v3 has them.
#[test]
fn names_and_masks_move_with_the_hierarchy() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("g")).unwrap();
    sandbox.file("g/.zgroup", r#"{"zarr_format": 2}"#);
    Array::new("<f4", &[2], json!(0))
        .filters(filter(0, 1, "<f4", "|u1"))
        .chunk("0", [1, 2])
        .write(&sandbox, "g/legacy");
    Array::new("<i2", &[4], json!(-9999))
        .attributes(json!({"_ARRAY_DIMENSIONS": ["x"], "scale_factor": 0.01, "add_offset": 0.0}))
        .chunk(
            "0",
            [100_i16, -9999, 300, 400].map(i16::to_le_bytes).concat(),
        )
        .write(&sandbox, "g/packed");
    succeeds(&sandbox.run("migrate-legacy g --in-place --remove-v2"));
    let packed = document(&sandbox, "g/packed/zarr.json");
    assert_eq!(packed["dimension_names"], json!(["x"]));
    assert_eq!(
        packed["attributes"],
        json!({"scale_factor": 0.01, "add_offset": 0.0, "_FillValue": -9999})
    );
    let outcome = sandbox.run("decode g/packed - --cf");
    assert_eq!(outcome.stdout, "1.0\n\"NaN\"\n3.0\n4.0\n", "{outcome}");
}
