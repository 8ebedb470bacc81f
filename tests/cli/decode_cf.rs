//! `zarrpack decode --cf`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::stores::{Array, succeeds};

/// A group with an array of int16 that CF attributes pack: 0, 100, the missing value, and a chunk that is missing.
fn packed() -> Sandbox {
    let sandbox = Sandbox::new();
    let attributes = json!({
        "units": "K", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -9999,
        "valid_range": [-1000, 5000], "long_name": "air temperature"
    });
    Array::new("int16", &[5])
        .chunks(&[3])
        .fill(json!(-9999))
        .attributes(attributes)
        .chunk("c/0", [0_i16, 100, -9999].map(i16::to_le_bytes).concat())
        .write(&sandbox, "in.zarr/t2m");
    sandbox.file(
        "in.zarr/zarr.json",
        r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#,
    );
    sandbox
}

/// Changes an attribute of the array; `null` takes it away.
fn set(sandbox: &Sandbox, name: &str, value: &Value) {
    let path = sandbox.path().join("in.zarr/t2m/zarr.json");
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let attributes = document["attributes"].as_object_mut().unwrap();
    match value {
        Value::Null => attributes.remove(name),
        value => attributes.insert(name.to_owned(), value.clone()),
    };
    fs::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
}

#[test]
fn attributes_become_values() {
    let sandbox = packed();
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr - --array t2m"), @r#"
    exit: 0
    --- stdout
    273.15
    274.15
    "NaN"
    "NaN"
    "NaN"

    --- stderr
    t2m: float64 values: value = int16 * 0.01 + 273.15 in float64, NaN for -9999
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array t2m"), @"
    exit: 0
    --- stdout
    0
    100
    -9999
    -9999
    -9999
    ");
    insta::assert_snapshot!(sandbox.run("decode --cf=float32 in.zarr - --array t2m --format csv -q"), @"
    exit: 0
    --- stdout
    dim_0,value
    0,273.15
    1,274.15
    2,NaN
    3,NaN
    4,NaN
    ");
}

#[test]
fn a_store_has_the_values_and_not_the_attributes() {
    let sandbox = packed();
    insta::assert_snapshot!(sandbox.run("decode --cf --verify in.zarr out.zarr"), @"
    exit: 0
    --- stdout
    decode  t2m float64 [5]
            value = int16 * 0.01 + 273.15 in float64, NaN for -9999
            attributes: removed scale_factor, add_offset, _FillValue; valid_range is now 263.15 to 323.15
    ");
    let written = fs::read_to_string(sandbox.path().join("out.zarr/t2m/zarr.json")).unwrap();
    insta::assert_snapshot!(written, @r#"
    {
      "zarr_format": 3,
      "node_type": "array",
      "shape": [
        5
      ],
      "data_type": "float64",
      "chunk_grid": {
        "name": "regular",
        "configuration": {
          "chunk_shape": [
            3
          ]
        }
      },
      "chunk_key_encoding": {
        "name": "default"
      },
      "fill_value": "NaN",
      "codecs": [
        {
          "name": "bytes",
          "configuration": {
            "endian": "little"
          }
        }
      ],
      "attributes": {
        "units": "K",
        "valid_range": [
          263.15,
          323.15
        ],
        "long_name": "air temperature"
      }
    }
    "#);
    let values = fs::read(sandbox.path().join("out.zarr/t2m/c/0")).unwrap();
    let values: Vec<_> = values
        .chunks(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(values[..2], [273.15, 100.0 * 0.01 + 273.15]);
    assert!(values[2].is_nan());
    assert!(!sandbox.path().join("out.zarr/t2m/c/1").exists());
    // There is nothing left to apply.
    insta::assert_snapshot!(sandbox.run("decode --cf out.zarr again.zarr"), @"
    exit: 0
    --- stdout
    copy    t2m
    ");
}

#[test]
fn every_form_has_the_same_values() {
    let sandbox = packed();
    succeeds(&sandbox.run("decode --cf --verify in.zarr out.zarr -q"));
    for flags in ["", "-j1 --memory 1KiB", "--region 1:5"] {
        let of = |input: &str, output: &str, cf: &str| {
            let line =
                format!("decode {cf} {input} {output} --array t2m -q {flags} --overwrite --verify");
            succeeds(&sandbox.run(&line));
            fs::read(sandbox.path().join(output)).unwrap()
        };
        assert_eq!(of("in.zarr", "a.npy", "--cf"), of("out.zarr", "b.npy", ""));
        let text = |input: &str, cf: &str| {
            sandbox
                .run(&format!("decode {cf} {input} - --array t2m -q {flags}"))
                .stdout
        };
        assert_eq!(text("in.zarr", "--cf"), text("out.zarr", ""));
    }
}

#[test]
fn what_the_report_says_was_done() {
    let sandbox = packed();
    set(&sandbox, "valid_range", &Value::Null);
    set(&sandbox, "valid_min", &json!(-1000));
    set(&sandbox, "scale_factor", &json!("-0.5"));
    let outcome = sandbox.run("decode --cf in.zarr out.zarr --dry-run --format json");
    succeeds(&outcome);
    insta::assert_snapshot!(outcome, @r#"
    exit: 0
    --- stdout
    {
      "schema": "zarrpack.decode/1",
      "input": "in.zarr",
      "output": "out.zarr",
      "form": "zarr",
      "dry_run": true,
      "verified": false,
      "arrays": [
        {
          "path": "t2m",
          "action": "decode",
          "data_type": "float64",
          "shape": [
            5
          ],
          "region": null,
          "fill_value": "NaN",
          "replaced": [],
          "cf": {
            "stored_type": "int16",
            "data_type": "float64",
            "scale_factor": -0.5,
            "add_offset": 273.15,
            "missing": [
              {
                "from": "_FillValue",
                "value": -9999
              }
            ],
            "removed": [
              "scale_factor",
              "add_offset",
              "_FillValue"
            ],
            "converted": [
              {
                "from": "valid_min",
                "to": "valid_max",
                "value": 773.15
              }
            ]
          },
          "columns": null,
          "warnings": [
            "scale_factor: \"-0.5\" is text and was taken for the number that it spells"
          ],
          "reason": null
        }
      ]
    }

    --- stderr
    warning: t2m: scale_factor: "-0.5" is text and was taken for the number that it spells
    "#);
}

#[test]
fn packing_that_is_in_the_codecs_too_is_refused() {
    let sandbox = Sandbox::new();
    // CASES: applied twice.
    Array::new("float32", &[4])
        .fill(json!("NaN"))
        .codecs(json!([
            {"name": "scale_offset", "configuration": {"scale": 10000, "offset": -0.1}},
            {"name": "cast_value", "configuration": {"data_type": "uint16", "scalar_map": {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}}},
            {"name": "bytes", "configuration": {"endian": "little"}}
        ]))
        .attributes(json!({"scale_factor": 0.0001, "add_offset": -0.1, "_FillValue": "AAAAAAAA+H8="}))
        .chunk("c/0", [1000_u16, 2000, 6000, 0].map(u16::to_le_bytes).concat())
        .write(&sandbox, "in.zarr");
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr out.zarr"), @"
    exit: 1
    --- stderr
    error: 1 array cannot be decoded
      - / cannot be decoded by its CF attributes
      - zarr.json, line 56 column 21, /attributes/scale_factor: it would be applied on top of what the codecs do already (scale_offset, cast_value)
      - zarr.json, line 57 column 19, /attributes/add_offset: it would be applied on top of what the codecs do already (scale_offset, cast_value)
    hint: decode without --cf; if both packings are meant, decode the result with --cf
    hint: --skip-undecodable goes on without them
    ");
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr -"), @"
    exit: 1
    --- stderr
    error: / cannot be decoded by its CF attributes
      - zarr.json, line 56 column 21, /attributes/scale_factor: it would be applied on top of what the codecs do already (scale_offset, cast_value)
      - zarr.json, line 57 column 19, /attributes/add_offset: it would be applied on top of what the codecs do already (scale_offset, cast_value)
    hint: decode without --cf; if both packings are meant, decode the result with --cf
    ");
    assert!(!sandbox.path().join("out.zarr").exists());
    // The mask alone is no harm, and a plain reader wants it gone.
    let path = sandbox.path().join("in.zarr/zarr.json");
    let text = fs::read_to_string(&path).unwrap();
    let text = text
        .replace("\"scale_factor\"", "\"factor\"")
        .replace("\"add_offset\"", "\"offset_\"");
    fs::write(&path, text).unwrap();
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr -"), @r#"
    exit: 0
    --- stdout
    0.0
    0.1
    0.5
    "NaN"

    --- stderr
    /: float32 values: float32 as stored
    "#);
}

#[test]
fn attributes_that_are_not_clear_are_refused_with_their_place() {
    let sandbox = packed();
    set(&sandbox, "scale_factor", &json!([0.1, 0.2]));
    set(&sandbox, "_FillValue", &json!(70000));
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr out.zarr"), @"
    exit: 1
    --- stderr
    error: 1 array cannot be decoded
      - t2m cannot be decoded by its CF attributes
      - zarr.json, line 30 column 21, /attributes/scale_factor: expected one value, found a list of 2
      - zarr.json, line 35 column 19, /attributes/_FillValue: expected a value of int16, found 70000
    hint: correct the attribute, or decode without --cf
    hint: --skip-undecodable goes on without them
    ");
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr out.zarr --skip-undecodable"), @"
    exit: 1
    --- stdout
    skip    t2m: t2m cannot be decoded by its CF attributes; zarr.json, line 30 column 21, /attributes/scale_factor: expected one value, found a list of 2; zarr.json, line 35 column 19, /attributes/_FillValue: expected a value of int16, found 70000

    --- stderr
    warning: skipped: t2m cannot be decoded by its CF attributes; zarr.json, line 30 column 21, /attributes/scale_factor: expected one value, found a list of 2; zarr.json, line 35 column 19, /attributes/_FillValue: expected a value of int16, found 70000
    ");
    let sandbox = packed();
    set(&sandbox, "scale_factor", &json!("0.01"));
    set(&sandbox, "missing_value", &json!([7]));
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr - --array t2m --region :1"), @r#"
    exit: 0
    --- stdout
    273.15

    --- stderr
    warning: t2m: scale_factor: "0.01" is text and was taken for the number that it spells
    t2m: float64 values: value = int16 * 0.01 + 273.15 in float64, NaN for -9999, 7
    "#);
}

#[test]
fn an_integer_that_no_double_holds_is_not_rounded() {
    let sandbox = Sandbox::new();
    let values = [1_i64, (1 << 53) + 1, 3].map(i64::to_le_bytes).concat();
    Array::new("int64", &[3])
        .attributes(json!({"missing_value": -1}))
        .chunk("c/0", values)
        .write(&sandbox, "in.zarr");
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr out.zarr"), @"
    exit: 1
    --- stderr
    error: /: the element [1] has no value by the CF attributes: float64 does not hold the stored integer 9007199254740993
    hint: decode without --cf, or leave the array out with --array
    ");
    // What is not asked for does not matter.
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr - --region 2 -q"), @"
    exit: 0
    --- stdout
    3.0
    ");
    for output in ["out.npy", "-"] {
        assert_eq!(
            sandbox.run(&format!("decode --cf in.zarr {output}")).exit,
            Some(1)
        );
    }
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
}

#[test]
fn what_lies_beyond_the_edge_is_nobodys_value() {
    let sandbox = Sandbox::new();
    let values = [1_i64, 2, (1 << 53) + 1].map(i64::to_le_bytes).concat();
    Array::new("int64", &[2])
        .chunks(&[3])
        .attributes(json!({"missing_value": -1}))
        .chunk("c/0", values)
        .write(&sandbox, "in.zarr");
    succeeds(&sandbox.run("decode --cf --verify in.zarr out.zarr"));
}

#[test]
fn a_store_of_v2_as_xarray_writes_it() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path().join("in.zarr/t")).unwrap();
    sandbox.file("in.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    sandbox.file(
        "in.zarr/t/.zarray",
        r#"{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"<i2","order":"C","compressor":null,"filters":null,"fill_value":-9999}"#,
    );
    sandbox.file(
        "in.zarr/t/.zattrs",
        r#"{"_ARRAY_DIMENSIONS":["x"],"scale_factor":0.01,"add_offset":0.0}"#,
    );
    sandbox.file(
        "in.zarr/t/0",
        [100_i16, -9999, 300, 400].map(i16::to_le_bytes).concat(),
    );
    insta::assert_snapshot!(sandbox.run("decode --cf --verify in.zarr out.zarr"), @"
    exit: 0
    --- stdout
    decode  t float64 [4]
            value = int16 * 0.01 + 0 in float64, NaN for -9999
            attributes: removed scale_factor, add_offset
    ");
    insta::assert_snapshot!(sandbox.run("decode out.zarr - --array t"), @r#"
    exit: 0
    --- stdout
    1.0
    "NaN"
    3.0
    4.0
    "#);
    let written = fs::read_to_string(sandbox.path().join("out.zarr/t/zarr.json")).unwrap();
    let document: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(document["attributes"], json!({}));
    assert_eq!(document["fill_value"], "NaN");
}

#[test]
fn arrays_that_are_not_selected_keep_their_attributes() {
    let sandbox = packed();
    fs::create_dir_all(sandbox.path().join("in.zarr/b")).unwrap();
    for file in ["zarr.json", "c/0"] {
        let to = sandbox.path().join("in.zarr/b").join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(sandbox.path().join("in.zarr/t2m").join(file), to).unwrap();
    }
    insta::assert_snapshot!(sandbox.run("decode --cf in.zarr out.zarr --array b --verify"), @"
    exit: 0
    --- stdout
    decode  b float64 [5]
            value = int16 * 0.01 + 273.15 in float64, NaN for -9999
            attributes: removed scale_factor, add_offset, _FillValue; valid_range is now 263.15 to 323.15
    copy    t2m
    ");
}
