//! Legacy configurations that are wrong: each is named by path and pointer, and nothing is lost.

use std::fs;

use super::{beside, tree};
use crate::harness::Sandbox;

const TEXT: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "float32",
 "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default"},
 "fill_value": 0, "codecs": [{"name": "numcodecs.fixedscaleoffset", "configuration": {MEMBERS}}, {"name": "bytes"}]}"#;

#[test]
fn each_is_an_error_by_path_and_pointer() {
    let mut said = String::new();
    for members in [
        r#""offset": 0, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": "10", "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<i4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f8", "astype": "|u1""#,
        r#""offset": 0, "scale": 0, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1", "gain": 1"#,
        r#""offset": 0, "scale": 10, "scale": 10, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": "|b1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1""#,
    ] {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.path().join("g/a")).unwrap();
        sandbox.file("g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
        sandbox.file("g/a/zarr.json", TEXT.replace("MEMBERS", members));
        let before = tree(sandbox.path());
        let outcome = sandbox.run("migrate-legacy g --in-place");
        if outcome.exit == Some(0) {
            said.push_str(&format!("{members}\n  good\n"));
            continue;
        }
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert_eq!(tree(sandbox.path()), before);
        assert_eq!(beside(&sandbox), [""; 0]);
        let details = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("  - "));
        let details: Vec<_> = details.collect();
        said.push_str(&format!("{members}\n{}\n", details.join("\n")));
    }
    insta::assert_snapshot!(said, @r#"
    "offset": 0, "dtype": "<f4", "astype": "|u1"
      - a: zarr.json /codecs/0/configuration/scale: expected a JSON number, found no scale
    "offset": 0, "scale": "10", "dtype": "<f4", "astype": "|u1"
      - a: zarr.json /codecs/0/configuration/scale: expected a JSON number, found the string "10" is no float64 scalar
    "offset": 0, "scale": 10, "dtype": "<i4", "astype": "|u1"
      - a: zarr.json /codecs/0/configuration/dtype: expected float32, the type at this place of the chain, found the type int32
    "offset": 0, "scale": 10, "dtype": "<f8", "astype": "|u1"
      - a: zarr.json /codecs/0/configuration/dtype: expected float32, the type at this place of the chain, found the type float64
    "offset": 0, "scale": 0, "dtype": "<f4", "astype": "|u1"
      - a: zarr.json /codecs/0/configuration/scale: expected a number other than zero, found a scale of 0
    "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1", "gain": 1
      - a: zarr.json /codecs/0/configuration/gain: expected no member but "offset", "scale", "dtype", "astype", found an unknown member "gain"
    "offset": 0, "scale": 10, "scale": 10, "dtype": "<f4", "astype": "|u1"
      - a: zarr.json, line 3 column 113, /codecs/0/configuration/scale: expected each member once, found it a second time
    "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|b1"
      - a: zarr.json /codecs/0/configuration/astype: expected a NumPy type of integers or floats, such as "<f4" or "|u1", found "|b1"
    "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1"
      good
    "#);
}

/// The same for the filter of an array of Zarr v2, where also a byte order that is not the array's is refused.
#[test]
fn each_filter_is_an_error_by_path_and_pointer() {
    let mut said = String::new();
    for members in [
        r#""offset": 0, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": "10", "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f8", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": ">f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 0, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1", "gain": 1"#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1""#,
    ] {
        let sandbox = Sandbox::new();
        fs::create_dir_all(sandbox.path().join("a")).unwrap();
        let text = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f4", "order": "C", "compressor": null,
 "fill_value": 0, "filters": [{"id": "fixedscaleoffset", MEMBERS}]}"#;
        sandbox.file("a/.zarray", text.replace("MEMBERS", members));
        let before = tree(sandbox.path());
        let outcome = sandbox.run("migrate-legacy a --in-place");
        if outcome.exit == Some(0) {
            said.push_str(&format!("{members}\n  good\n"));
            continue;
        }
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert_eq!(tree(sandbox.path()), before);
        let details = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("  - "));
        let details: Vec<_> = details.collect();
        said.push_str(&format!("{members}\n{}\n", details.join("\n")));
    }
    insta::assert_snapshot!(said, @r#"
    "offset": 0, "dtype": "<f4", "astype": "|u1"
      - /: .zarray /filters/0/scale: no scale; expected a JSON number [legacy/parameter]
    "offset": 0, "scale": "10", "dtype": "<f4", "astype": "|u1"
      - /: .zarray /filters/0/scale: the string "10" is no float64 scalar; expected a JSON number [legacy/parameter]
    "offset": 0, "scale": 10, "dtype": "<f8", "astype": "|u1"
      - /: .zarray /filters/0/dtype: the type <f8; expected <f4, which reaches the filter
    "offset": 0, "scale": 10, "dtype": ">f4", "astype": "|u1"
      - /: .zarray /filters/0/dtype: the type >f4; expected <f4, which reaches the filter
    "offset": 0, "scale": 0, "dtype": "<f4", "astype": "|u1"
      - /: .zarray /filters/0/scale: a scale of 0; expected a number other than zero [legacy/zero-scale]
    "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1", "gain": 1
      - /: .zarray /filters/0/gain: an unknown member "gain"; expected no member but "offset", "scale", "dtype", "astype" [legacy/unknown-member]
    "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1"
      good
    "#);
}

#[test]
fn a_document_that_is_no_json_is_1_and_what_cannot_be_read_is_3() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path().join("g/b")).unwrap();
    sandbox.file("g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    super::bytes(0, 10).write(&sandbox, "g/a");
    sandbox.file("g/b/zarr.json", "{");
    let before = tree(sandbox.path());
    let outcome = sandbox.run("migrate-legacy g --in-place -q --format json");
    assert_eq!(outcome.exit, Some(1));
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array cannot be migrated
      - b: zarr.json is not JSON: the document ends inside the object that starts at line 1 column 1 at line 1 column 2
    hint: --skip-impossible goes on without them
    ");
    fs::remove_file(sandbox.path().join("g/b/zarr.json")).unwrap();
    fs::create_dir(sandbox.path().join("g/b/zarr.json")).unwrap();
    let unreadable = sandbox.run("migrate-legacy g --in-place -q --format json");
    assert_eq!(unreadable.exit, Some(3), "{unreadable}");
    assert_eq!(super::report(&unreadable).arrays.len(), 2);
    assert_eq!(tree(sandbox.path()).len(), before.len() - 1);
}
