//! Flags that say how arrays are migrated, and which.

use std::fs;

use serde_json::{Value, json};
use zarrpack::report::migrate_legacy::Outcome;

use super::{array, beside, bytes, document, journal, legacy, report, tree, values};
use crate::harness::Sandbox;
use crate::stores::{Array, succeeds, with_stores};

/// Case C10: float32, scale 100, offset 273.15.
#[test]
fn require_identical_writes_nothing_where_a_value_would_change() {
    let sandbox = with_stores(&["fso_f4_u2_zstd_2d"]);
    let before = tree(sandbox.path());
    let line = "migrate-legacy fso_f4_u2_zstd_2d --in-place --require-identical";
    let outcome = sandbox.run(line);
    assert_eq!(outcome.exit, Some(1));
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array not proven to keep all values
      - /
    hint: --exact computes as the legacy codec did
    ");
    assert_eq!(tree(sandbox.path()), before);
    let refused = report(&sandbox.run(&format!("{line} --format json")));
    assert_eq!(refused.outcome, Outcome::Refused);

    let exact = sandbox.run(&format!("{line} --exact --format json"));
    succeeds(&exact);
    let exact = array(&exact);
    assert_eq!(exact.form.as_deref(), Some("exact"));
    let names: Vec<_> = document(&sandbox, "fso_f4_u2_zstd_2d/zarr.json")["codecs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|codec| codec["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        ["cast_value", "scale_offset", "cast_value", "bytes", "zstd"]
    );
}

#[test]
fn exact_writes_the_plain_conversion_where_that_is_identical() {
    let sandbox = with_stores(&["fso_f4_u1_plain"]);
    let plain = array(&sandbox.run("migrate-legacy fso_f4_u1_plain --format json"));
    let exact = array(&sandbox.run("migrate-legacy fso_f4_u1_plain --exact --format json"));
    assert_eq!(exact, plain);
    assert_eq!(exact.form.as_deref(), Some("plain"));
}

#[test]
fn what_was_not_looked_at_is_unproven() {
    let sandbox = with_stores(&["fso_f8_i4_gzip"]);
    let line = "migrate-legacy fso_f8_i4_gzip --format json";
    for (flag, verdict) in [
        ("", "identical"),
        ("--verify sample", "unproven"),
        ("--verify none", "unproven"),
    ] {
        let array = array(&sandbox.run(&format!("{line} {flag}")));
        assert_eq!(array.decode.unwrap().verdict, verdict, "{flag}");
    }
    let outcome = sandbox.run(&format!(
        "{line} --verify none --require-identical --in-place"
    ));
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert_eq!(beside(&sandbox), [""; 0]);
    succeeds(&sandbox.run(&format!("{line} --verify none --in-place")));
    journal(&sandbox);
}

/// Case C01, as an array of Zarr v2 and of v3.
#[test]
fn a_code_that_was_declared_missing_becomes_nan() {
    let sandbox = Sandbox::new();
    super::v2::Array::new("<f8", &[3], json!(255))
        .filters(json!([{"id": "fixedscaleoffset", "offset": 0, "scale": 2, "dtype": "<f8", "astype": "|u1"}]))
        .attributes(json!({"_FillValue": 255, "units": "K"}))
        .chunk("0", [1, 255, 199])
        .write(&sandbox, "v2");
    let codecs = json!([legacy(json!(0), json!(2), "<f8", "|u1"), {"name": "bytes"}]);
    Array::new("float64", &[3])
        .fill(json!(255))
        .codecs(codecs)
        .attributes(json!({"_FillValue": 255, "units": "K"}))
        .chunk("c/0", [1, 255, 199])
        .write(&sandbox, "v3");
    for store in ["v2", "v3"] {
        // Never unasked.
        succeeds(&sandbox.run(&format!(
            "migrate-legacy {store} --output {store}.plain --copy-chunks"
        )));
        assert_eq!(
            values(&sandbox, &format!("{store}.plain")),
            "0.5 127.5 99.5"
        );
        let outcome = sandbox.run(&format!(
            "migrate-legacy {store} --missing 255 --in-place --format json"
        ));
        succeeds(&outcome);
        let array = array(&outcome);
        assert_eq!(array.decode.unwrap().verdict, "differs");
        assert_eq!(values(&sandbox, store), r#"0.5 "NaN" 99.5"#);
        let written = document(&sandbox, &format!("{store}/zarr.json"));
        assert_eq!(written["fill_value"], "NaN");
        assert_eq!(written["attributes"], json!({"units": "K"}));
        assert_eq!(
            written["codecs"][1]["configuration"]["scalar_map"],
            json!({"encode": [["NaN", 255]], "decode": [[255, "NaN"]]})
        );
    }
    let refused = sandbox.run("migrate-legacy v3.plain --missing 256 --in-place");
    succeeds(&refused);
}

/// Case C05: fill 0 with offset 200 and scale 10.
fn all_codes() -> Sandbox {
    let sandbox = Sandbox::new();
    Array::new("float32", &[256])
        .codecs(json!([legacy(json!(200), json!(10), "<f4", "|u1"), {"name": "bytes"}]))
        .chunk("c/0", (0..=255).collect::<Vec<u8>>())
        .write(&sandbox, "a");
    sandbox
}

#[test]
fn a_fill_that_has_no_code_left_is_refused_or_given() {
    let sandbox = all_codes();
    let outcome = sandbox.run("migrate-legacy a --in-place");
    assert_eq!(outcome.exit, Some(1));
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array cannot be migrated
      - /: zarr.json /fill_value: the fill value 0.0 would not survive: the fill value -2000.0 is stored as 48 and comes back as 48.0, and all 256 codes of uint8 are in use, so that none is free to stand for it
    hint: where no chunk is missing, --fill-value gives the array another fill
    hint: --skip-impossible goes on without them
    ");
    assert_eq!(beside(&sandbox), [""; 0]);
    let before = values(&sandbox, "a");
    let outcome = sandbox
        .run("migrate-legacy a --in-place --fill-value 204.8 --require-identical --format json");
    succeeds(&outcome);
    let fill = array(&outcome).fill.unwrap();
    assert_eq!(
        (fill.value, fill.before, fill.code),
        (json!(204.8), json!(0.0), json!(48))
    );
    assert_eq!(values(&sandbox, "a"), before);
}

#[test]
fn a_fill_of_missing_chunks_keeps_its_value_by_a_map() {
    let sandbox = Sandbox::new();
    // One chunk whole, one at the edge, one missing.
    Array::new("float32", &[5])
        .chunks(&[2])
        .codecs(json!([legacy(json!(200), json!(10), "<f4", "|u1"), {"name": "bytes"}]))
        .chunk("c/0", [48, 255])
        .chunk("c/2", [0, 48])
        .write(&sandbox, "a");
    assert_eq!(values(&sandbox, "a"), "204.8 225.5 0.0 0.0 200.0");
    let refused = sandbox.run("migrate-legacy a --fill-value 204.8 --verify none");
    assert_eq!(refused.exit, Some(1), "{refused}");
    let outcome = sandbox.run("migrate-legacy a --in-place --require-identical --format json");
    succeeds(&outcome);
    let array = array(&outcome);
    let cast = &array.changes[0].new[1]["configuration"];
    // 48 and 255 are in use: the lowest code is, too.
    let code = array.fill.unwrap().code;
    assert_eq!(
        cast["scalar_map"],
        json!({"encode": [[-2000.0, code]], "decode": [[code, -2000.0]]})
    );
    assert!(![json!(48), json!(255), json!(0)].contains(&code), "{code}");
    assert_eq!(values(&sandbox, "a"), "204.8 225.5 0.0 0.0 200.0");
}

/// uint16 fill 0 with offset 1000: not even `scale_offset` can hold it.
#[test]
fn a_fill_that_the_arithmetic_cannot_hold_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    Array::new("uint16", &[2])
        .codecs(json!([legacy(json!(1000), json!(1), "<u2", "|u1"), {"name": "bytes"}]))
        .chunk("c/0", [1, 2])
        .write(&sandbox, "a");
    let outcome = sandbox.run("migrate-legacy a --in-place");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array cannot be migrated
      - /: zarr.json /fill_value: the fill value 0 would not survive: the fill value 0 cannot be encoded: 0 - 1000 is not a value of uint16 (0 to 65535)
    hint: --exact, which computes in a wider type, may carry it; where no chunk is missing, so may --fill-value
    hint: --skip-impossible goes on without them
    ");
    let exact = array(&sandbox.run("migrate-legacy a --exact --format json"));
    assert_eq!(exact.decode.unwrap().verdict, "identical");
}

/// Case C12: a fraction as the scale of integers.
#[test]
fn integers_with_a_fraction_are_migrated_exactly_or_not_at_all() {
    let sandbox = Sandbox::new();
    Array::new("int16", &[4])
        .codecs(json!([legacy(json!(0), json!(0.25), "<i2", "<i2"), {"name": "bytes", "configuration": {"endian": "little"}}]))
        .chunk("c/0", [0_i16, 1, 2, -2].map(i16::to_le_bytes).concat())
        .write(&sandbox, "a");
    let outcome = sandbox.run("migrate-legacy a --in-place");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert_eq!(values(&sandbox, "a"), "0 4 8 -8");
    let outcome = sandbox.run("migrate-legacy a --in-place --exact --format json");
    succeeds(&outcome);
    assert_eq!(values(&sandbox, "a"), "0 4 8 -8");
    let readers = array(&outcome).readers;
    let zarr_python = readers
        .iter()
        .find(|r| r.name == "zarr-python 3.4.2")
        .unwrap();
    assert_eq!(zarr_python.opens, Some(false), "{zarr_python:?}");
}

/// Case C13: the legacy codec truncates, where the new one finds a remainder.
#[test]
fn integers_that_do_not_divide_need_the_exact_form() {
    let sandbox = Sandbox::new();
    let stored = [0_i32, 1, 2, 3, 5].map(i32::to_le_bytes).concat();
    Array::new("int32", &[5])
        .codecs(json!([legacy(json!(0), json!(3), "<i4", "<i4"), {"name": "bytes", "configuration": {"endian": "little"}}]))
        .chunk("c/0", stored)
        .write(&sandbox, "a");
    assert_eq!(values(&sandbox, "a"), "0 0 0 1 1");
    let outcome = sandbox.run("migrate-legacy a --in-place");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert!(outcome.stderr.contains("--exact"), "{outcome}");
    succeeds(&sandbox.run("migrate-legacy a --in-place --exact --require-identical"));
    assert_eq!(values(&sandbox, "a"), "0 0 0 1 1");
}

/// Case C19 and row R23: no `astype`, other spellings, an `id` besides.
#[test]
fn spellings_in_the_wild_are_migrated() {
    for (configuration, codecs) in [
        (
            json!({"id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1"}),
            3,
        ),
        (
            json!({"offset": 0, "scale": 10.0, "dtype": "f4", "astype": "u1"}),
            3,
        ),
        (
            json!({"offset": 0, "scale": 10, "dtype": "float32", "astype": "uint8"}),
            3,
        ),
        (json!({"offset": 0, "scale": 10, "astype": "uint8"}), 3),
        (
            json!({"offset": 0, "scale": 10, "dtype": "<f4", "astype": null}),
            2,
        ),
    ] {
        let sandbox = Sandbox::new();
        let stored = if codecs == 3 {
            vec![1, 2]
        } else {
            [1_f32, 2.0].map(f32::to_le_bytes).concat()
        };
        let name = "numcodecs.fixedscaleoffset";
        let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
        Array::new("float32", &[2])
            .codecs(json!([{"name": name, "configuration": configuration}, bytes]))
            .chunk("c/0", stored)
            .write(&sandbox, "a");
        succeeds(&sandbox.run("migrate-legacy a --in-place --require-identical"));
        let written = document(&sandbox, "a/zarr.json");
        assert_eq!(
            written["codecs"].as_array().unwrap().len(),
            codecs,
            "{written}"
        );
        assert_eq!(values(&sandbox, "a"), "0.1 0.2");
    }
}

#[test]
fn arrays_that_cannot_be_migrated_are_left_out_on_request() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("g")).unwrap();
    sandbox.file("g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    bytes(0, 10).write(&sandbox, "g/good");
    bytes(0, 0).write(&sandbox, "g/bad");
    let before = tree(sandbox.path());
    let outcome = sandbox.run("migrate-legacy g --in-place -q --format json");
    assert_eq!(outcome.exit, Some(1));
    insta::assert_snapshot!(outcome.stderr, @"
    error: 1 array cannot be migrated
      - bad: zarr.json /codecs/0/configuration/scale: expected a number other than zero, found a scale of 0
    hint: --skip-impossible goes on without them
    ");
    assert_eq!(tree(sandbox.path()), before);
    let outcome = sandbox.run("migrate-legacy g --in-place --skip-impossible");
    assert_eq!(outcome.exit, Some(1));
    assert!(
        outcome
            .stdout
            .starts_with("g: 1 array migrated (1 identical), 1 impossible\n"),
        "{outcome}"
    );
    let name = |path: &str| -> Value { document(&sandbox, path)["codecs"][0]["name"].clone() };
    assert_eq!(name("g/good/zarr.json"), "scale_offset");
    assert_eq!(name("g/bad/zarr.json"), "numcodecs.fixedscaleoffset");
    // Where the array is not selected, it is in nobody's way.
    let outcome = sandbox.run("migrate-legacy g --array !bad --check");
    succeeds(&outcome);
}
