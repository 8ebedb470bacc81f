//! `zarrpack decode --report` and `--verify`, and where INPUT is not what it should be.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::stores::{Array, succeeds};

fn store() -> Sandbox {
    let sandbox = Sandbox::new();
    Array::new("int16", &[2])
        .chunk("c/0", [1_i16, 2].map(i16::to_le_bytes).concat())
        .write(&sandbox, "in.zarr");
    sandbox
}

fn report(sandbox: &Sandbox, name: &str) -> Value {
    serde_json::from_slice(&fs::read(sandbox.path().join(name)).unwrap()).unwrap()
}

#[test]
fn every_form_of_output_has_a_report() {
    let sandbox = store();
    for (n, (output, form)) in [
        ("out.zarr", "zarr"),
        ("out.npy", "npy"),
        ("-", "jsonl"),
        ("- --format csv", "csv"),
        ("- --format raw", "raw"),
    ]
    .into_iter()
    .enumerate()
    {
        succeeds(&sandbox.run(&format!(
            "decode in.zarr {output} --report r{n}.json --verify"
        )));
        let report = report(&sandbox, &format!("r{n}.json"));
        assert_eq!(report["schema"], "zarrpack.decode/1");
        assert_eq!(report["form"], form);
        assert_eq!(report["verified"], n < 2, "{form}");
    }
    let text = fs::read_to_string(sandbox.path().join("r1.json")).unwrap();
    insta::assert_snapshot!(text, @r#"
    {
      "schema": "zarrpack.decode/1",
      "input": "in.zarr",
      "output": "out.npy",
      "form": "npy",
      "dry_run": false,
      "verified": true,
      "arrays": [
        {
          "path": "",
          "action": "decode",
          "data_type": "int16",
          "shape": [
            2
          ],
          "region": null,
          "fill_value": 0,
          "replaced": [],
          "cf": null,
          "columns": null,
          "warnings": [],
          "reason": null
        }
      ]
    }
    "#);
    // What --format json prints is the same document.
    let printed =
        sandbox.run("decode in.zarr out.npy --overwrite --format json --report r1.json --verify");
    succeeds(&printed);
    assert_eq!(printed.stdout, text);
    let left = fs::read_dir(sandbox.path()).unwrap().count();
    assert_eq!(left, 1 + 2 + 5, "something is left over");
}

#[test]
fn a_report_is_apart_from_what_it_is_about() {
    let sandbox = store();
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --report out.zarr/r.json"), @r#"
    exit: 2
    --- stderr
    error: --report "out.zarr/r.json" must be apart from OUTPUT
      - "out.zarr/r.json" lies inside "out.zarr"
    hint: write the report to a file beside it
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --report in.zarr/r.json"), @r#"
    exit: 2
    --- stderr
    error: --report "in.zarr/r.json" must be apart from INPUT
      - "in.zarr/r.json" lies inside "in.zarr"
    hint: write the report to a file beside it
    "#);
    for line in [
        "decode in.zarr out.npy --report out.npy",
        "decode in.zarr out.zarr --report out.zarr",
        "decode in.zarr out.zarr --report in.zarr",
        "decode in.zarr out.zarr --report .",
    ] {
        assert_eq!(sandbox.run(line).exit, Some(2), "{line}");
    }
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
}

#[test]
fn a_report_replaces_nothing_but_a_report() {
    let sandbox = store();
    sandbox.file("notes", "precious");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --report notes"), @r#"
    exit: 2
    --- stderr
    error: --report: "[FOLDER]/notes" exists
    hint: choose another place, or pass --overwrite to replace it
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --report notes --overwrite"), @r#"
    exit: 2
    --- stderr
    error: "notes" is no report, and is not replaced by one
    hint: remove it first, or choose another name
    "#);
    assert_eq!(fs::read(sandbox.path().join("notes")).unwrap(), b"precious");
    succeeds(&sandbox.run("decode in.zarr - --report r.json"));
    succeeds(&sandbox.run("decode in.zarr - --report r.json --overwrite"));
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --dry-run --report s.json"), @"
    exit: 2
    --- stderr
    error: --report cannot be used with --dry-run, which writes nothing
    hint: --format json prints the plan
    ");
    insta::assert_snapshot!(sandbox.run("decode - - --dtype int8 --codecs [] --report s.json"), @"
    exit: 2
    --- stderr
    error: --report cannot be used for a stream of scalars
    ");
    // A report that has no place keeps the output from being made.
    assert_eq!(
        sandbox
            .run("decode in.zarr out.zarr --report no/where.json")
            .exit,
        Some(3)
    );
    assert!(!sandbox.path().join("out.zarr").exists());
}

#[test]
fn a_run_that_fails_leaves_no_report() {
    let sandbox = store();
    fs::write(sandbox.path().join("in.zarr/c/0"), [0; 3]).unwrap();
    for output in ["out.zarr --cf", "out.npy", "-"] {
        let flags = "--report r.json --array **";
        let outcome = sandbox.run(&format!("decode in.zarr {output} {flags}"));
        if output.starts_with("out.zarr") {
            // Nothing in it is packed: its files are copied.
            succeeds(&outcome);
            fs::remove_file(sandbox.path().join("r.json")).unwrap();
            fs::remove_dir_all(sandbox.path().join("out.zarr")).unwrap();
        } else {
            assert_eq!(outcome.exit, Some(1), "{outcome}");
        }
    }
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
}

#[test]
fn verification_takes_nothing_amiss_that_is_right() {
    for (codecs, stored) in [
        (json!([{"name": "bytes"}]), vec![1, 255]),
        (
            json!([{"name": "cast_value", "configuration": {"data_type": "uint8"}}, {"name": "bytes"}]),
            vec![1, 255],
        ),
    ] {
        let sandbox = Sandbox::new();
        let data_type = if codecs[1].is_null() {
            "uint8"
        } else {
            "float32"
        };
        Array::new(data_type, &[3])
            .chunks(&[2])
            .codecs(codecs)
            .chunk("c/0", stored)
            .write(&sandbox, "in.zarr");
        for flags in ["-j1", "-j4 --memory 1"] {
            for output in ["out.zarr", "out.npy"] {
                let line = format!("decode in.zarr {output} --verify --overwrite {flags}");
                succeeds(&sandbox.run(&line));
            }
        }
    }
}

#[test]
fn an_array_that_cannot_be_opened_is_named_with_line_and_column() {
    let sandbox = Sandbox::new();
    Array::new("int16", &[2])
        .codecs(json!([{"name": "nonsense"}, {"name": "bytes"}]))
        .write(&sandbox, "in.zarr");
    insta::assert_snapshot!(sandbox.run("decode in.zarr -"), @r#"
    exit: 1
    --- stderr
    error: / cannot be decoded
      - zarr.json, line 21 column 5, /codecs/0: the codec "nonsense", which is not known
    "#);
}

#[test]
fn attributes_alone_are_no_store() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("in")).unwrap();
    sandbox.file("in/.zattrs", "{}");
    for output in ["-", "out.npy", "out.zarr"] {
        let outcome = sandbox.run(&format!("decode in {output}"));
        assert_eq!(outcome.exit, Some(3), "{outcome}");
    }
    insta::assert_snapshot!(sandbox.run("decode in -"), @r#"
    exit: 3
    --- stderr
    error: no Zarr array or group in "in"
    hint: INPUT is a directory with zarr.json, .zarray or .zgroup, or one above it
    "#);
    sandbox.file("in/.zgroup", r#"{"zarr_format": 2}"#);
    insta::assert_snapshot!(sandbox.run("decode in -"), @"
    exit: 3
    --- stderr
    error: INPUT holds no array
    ");
}

#[cfg(unix)]
#[test]
fn a_loop_of_links_could_not_be_read() {
    let sandbox = store();
    fs::create_dir(sandbox.path().join("g.zarr")).unwrap();
    fs::rename(
        sandbox.path().join("in.zarr"),
        sandbox.path().join("g.zarr/a"),
    )
    .unwrap();
    sandbox.file(
        "g.zarr/zarr.json",
        r#"{"zarr_format": 3, "node_type": "group"}"#,
    );
    std::os::unix::fs::symlink("..", sandbox.path().join("g.zarr/up")).unwrap();
    std::os::unix::fs::symlink(".", sandbox.path().join("g.zarr/self")).unwrap();
    for command in ["inspect g.zarr", "decode g.zarr out.zarr"] {
        let outcome = sandbox.run(command);
        assert_eq!(outcome.exit, Some(3), "{outcome}");
        assert!(outcome.stderr.contains("leads back to"), "{outcome}");
    }
}
