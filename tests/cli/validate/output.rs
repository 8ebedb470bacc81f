//! The forms of the report.

use super::{LE, base, cast_value, report, scale_offset};
use crate::harness::Sandbox;

/// Over several lines, as documents are.
const DOCUMENT: &str = r#"{
  "zarr_format": 3,
  "node_type": "array",
  "shape": [4],
  "data_type": "float32",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
  "chunk_key_encoding": {"name": "default"},
  "fill_value": 280.1234,
  "codecs": [
    {"name": "scale_offset", "configuration": {"scale": 100}},
    {"name": "cast_value", "configuration": {"data_type": "int16"}},
    {"name": "bytes"}
  ],
  "attributes": {"scale_factor": 0.01}
}
"#;

#[test]
fn for_people_findings_stand_under_the_line() {
    let sandbox = Sandbox::new();
    sandbox.file("zarr.json", DOCUMENT);
    insta::assert_snapshot!(sandbox.run("validate ."));
}

#[test]
fn in_unicode_and_in_colour() {
    let sandbox = Sandbox::new().set("LANG", "en_US.UTF-8");
    sandbox.file("zarr.json", DOCUMENT);
    let outcome = sandbox.run("validate --allow readers/* --allow chain/* .");
    insta::assert_snapshot!(outcome);
    assert!(!outcome.stdout.contains('\u{1b}'));
    let coloured = sandbox.run("validate --color always .");
    assert!(coloured.stdout.contains('\u{1b}'));
}

#[test]
fn for_programs_the_report_parses_back() {
    let sandbox = Sandbox::new();
    sandbox.file("zarr.json", DOCUMENT);
    let outcome = sandbox.run("validate --format json .");
    assert_eq!(report(&outcome).summary.errors, 3);
    insta::assert_snapshot!(
        sandbox.run("validate --format json --allow readers/* --allow cf/* --allow chain/* .")
    );
}

#[test]
fn for_github_each_finding_is_a_command_the_worst_first() {
    let sandbox = Sandbox::new();
    sandbox.file("zarr.json", DOCUMENT);
    let outcome = sandbox.run("validate --format github --allow readers/* .");
    insta::assert_snapshot!(outcome);
    let mut lines: Vec<_> = outcome.stdout.lines().collect();
    lines.pop();
    for line in lines {
        let rest = line.strip_prefix("::").unwrap();
        let (command, message) = rest.split_once("::").unwrap();
        let (name, properties) = command.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&name), "{line}");
        assert!(!message.is_empty());
        for property in properties.split(',') {
            let (name, value) = property.split_once('=').unwrap();
            assert!(
                ["file", "line", "col", "endColumn", "endLine", "title"].contains(&name),
                "{line}"
            );
            assert!(!value.is_empty() && !value.contains(':'), "{line}");
        }
    }
}

#[test]
fn nothing_found_is_said_in_a_line() {
    let sandbox = Sandbox::new();
    sandbox.file("zarr.json", base("float32", "0", LE));
    insta::assert_snapshot!(sandbox.run("validate zarr.json"), @"
    exit: 0
    --- stdout
    nothing found in 1 array
    ");
}

#[test]
fn what_is_known_of_readers_is_said_once_for_a_store() {
    let sandbox = Sandbox::new();
    let pair = format!(
        "{},{},{LE}",
        scale_offset(r#""scale":100"#),
        cast_value("int16", "")
    );
    sandbox.file("zarr.json", r#"{"zarr_format":3,"node_type":"group"}"#);
    for name in ["a", "b", "c"] {
        std::fs::create_dir(sandbox.path().join(name)).unwrap();
        sandbox.file(&format!("{name}/zarr.json"), base("float32", "0", &pair));
    }
    let outcome = sandbox.run("validate --allow chain/range .");
    assert_eq!(outcome.stdout.matches("readers/support").count(), 1);
    assert!(outcome.stdout.contains("a and 2 more arrays"), "{outcome}");
}

#[test]
fn what_a_document_hides_is_made_visible() {
    let document =
        base("float32", "0", LE).replace("\"shape\"", "\"\\u001b[31m\u{202e}\":1,\"shape\"");
    let outcome = Sandbox::new().run_with(["validate", "-"], document);
    assert!(
        !outcome.stdout.contains(['\u{1b}', '\u{202e}']),
        "{outcome}"
    );
    assert!(outcome.stdout.contains("u{202e}"), "{outcome}");
}

#[test]
fn the_examples_of_the_pages_are_what_is_printed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in ["README.md", "docs/validate.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let (_, example) = text.split_once("$ zarrpack validate ").unwrap();
        let (command, printed) = example.split_once('\n').unwrap();
        let (printed, _) = printed.split_once("```").unwrap();
        let sandbox = Sandbox::new();
        let document = command.split(' ').next_back().unwrap();
        let copy = sandbox.path().join(document);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(root.join(document), copy).unwrap();
        let outcome = sandbox.run(&format!("validate {command}").replace('\'', ""));
        assert_eq!(outcome.stdout, printed, "{page}");
    }
}
