//! What is checked, and when a run fails.

use std::fs;

use super::{LE, base, cast_value, findings, nodes, report, rules_of, scale_offset};
use crate::harness::Sandbox;

/// An array with a warning and infos, and no errors.
fn warned() -> String {
    let wrapping = cast_value("int16", r#","out_of_range":"wrap""#);
    base(
        "float32",
        "0",
        &format!("{},{wrapping},{LE}", scale_offset(r#""scale":100"#)),
    )
}

fn broken() -> String {
    base(
        "float32",
        "0",
        &format!("{},{LE}", scale_offset(r#""scale":0"#)),
    )
}

fn exit(flags: &str, document: &str) -> Option<i32> {
    let arguments = format!("validate {flags} -");
    Sandbox::new()
        .run_with(arguments.split_whitespace(), document)
        .exit
}

#[test]
fn a_run_fails_from_a_severity_on() {
    for (flags, broken_exit, warned_exit) in [
        ("", 1, 0),
        ("--fail-on error", 1, 0),
        ("--fail-on warning", 1, 1),
        ("--fail-on info", 1, 1),
        ("--fail-on never", 0, 0),
    ] {
        assert_eq!(exit(flags, &broken()), Some(broken_exit), "{flags}");
        assert_eq!(exit(flags, &warned()), Some(warned_exit), "{flags}");
    }
    let plain = base("float32", "0", LE);
    assert_eq!(exit("--fail-on info", &plain), Some(0));
}

#[test]
fn rules_are_left_out_or_made_errors() {
    assert_eq!(exit("--deny chain/wraps", &warned()), Some(1));
    assert_eq!(
        exit("--fail-on warning --allow chain/wraps", &warned()),
        Some(0)
    );
    assert_eq!(exit("--allow scale-offset/zero-scale", &broken()), Some(0));
    assert_eq!(
        exit(
            "--allow scale-offset/* --deny scale-offset/zero-scale",
            &broken()
        ),
        Some(1)
    );
    let outcome = Sandbox::new().run_with(
        [
            "validate",
            "--format",
            "json",
            "--allow",
            "scale-offset/*",
            "-",
        ],
        broken(),
    );
    // Another rule does not tell of it in the place of the one that was left out.
    assert_eq!(nodes(&outcome).len(), 0, "{outcome}");
}

#[test]
fn rules_that_do_not_exist_are_a_matter_of_usage() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("validate --allow wraps x"));
    insta::assert_snapshot!(sandbox.run("validate --allow cf/* --deny cf/* x"));
    insta::assert_snapshot!(sandbox.run("validate"));
}

#[test]
fn what_cannot_be_read_is_3_whatever_fails() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("validate --fail-on never nowhere"));
    fs::create_dir(sandbox.path().join("empty")).unwrap();
    insta::assert_snapshot!(sandbox.run("validate empty"));
    sandbox.file("zarr.json", broken());
    // The rest is checked all the same.
    let outcome = sandbox.run("validate --format json nowhere zarr.json");
    assert_eq!(outcome.exit, Some(3));
    let printed: zarrpack::report::validate::Report =
        serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(printed.summary.errors, 1);
}

#[cfg(unix)]
#[test]
fn a_document_that_is_no_file_is_unreadable() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path().join("s/zarr.json")).unwrap();
    let outcome = sandbox.run("validate s");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    assert!(outcome.stderr.contains("not a regular file"), "{outcome}");
}

/// Two arrays in a group: one broken, one with a warning.
fn hierarchy() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, document) in [("a", broken()), ("b", warned())] {
        fs::create_dir_all(sandbox.path().join("s").join(name)).unwrap();
        sandbox.file(&format!("s/{name}/zarr.json"), document);
    }
    sandbox.file(
        "s/zarr.json",
        r#"{"zarr_format":3,"node_type":"group","colour":1}"#,
    );
    sandbox
}

#[test]
fn a_tree_of_documents_is_checked_without_a_chunk() {
    let outcome = hierarchy().run("validate --format json s");
    let paths: Vec<_> = nodes(&outcome).into_iter().map(|node| node.path).collect();
    assert_eq!(paths, ["", "a", "b"]);
    let summary = report(&outcome).summary;
    assert_eq!(
        (summary.arrays, summary.groups, summary.documents),
        (2, 1, 3)
    );
}

#[test]
fn arrays_are_chosen_by_patterns() {
    let sandbox = hierarchy();
    let outcome = sandbox.run("validate --format json --array b s");
    let paths: Vec<_> = nodes(&outcome).into_iter().map(|node| node.path).collect();
    assert_eq!((paths, outcome.exit), (vec!["b".to_owned()], Some(0)));
    let outcome = sandbox.run("validate --array c s");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn several_stores_are_checked_in_one_run() {
    let sandbox = hierarchy();
    let outcome = sandbox.run("validate --format json s/a s/b/zarr.json s");
    let report = report(&outcome);
    let stores: Vec<_> = report
        .stores
        .iter()
        .map(|store| store.store.as_str())
        .collect();
    assert_eq!(stores, ["s/a", "s/b/zarr.json", "s"]);
    assert_eq!(outcome.exit, Some(1));
}

#[test]
fn a_single_document_is_recognised_or_said_to_be_something() {
    let attributes = r#"{"scale": NaN}"#;
    let sandbox = Sandbox::new();
    let rules = |flags: &str, document: &str| {
        let arguments = format!("validate --format json {flags} -");
        let outcome = sandbox.run_with(arguments.split_whitespace(), document);
        let nodes = nodes(&outcome).into_iter();
        let rules: Vec<_> = nodes
            .flat_map(|node| node.findings)
            .map(|f| f.rule)
            .collect();
        rules.join(" ")
    };
    assert!(rules("", attributes).contains("core/unrecognised"));
    assert_eq!(rules("--kind .zattrs", attributes), "json/non-finite");
    assert_eq!(rules("", r#"{"zarr_format": 2}"#), "");
    assert_eq!(
        rules("", r#"{"zarr_format": 2, "dtype": "<f4"}"#)
            .matches("core/missing-member")
            .count(),
        6
    );
    assert_eq!(
        rules("--kind zarr.json", r#"{"zarr_format": 2}"#),
        "core/missing-member core/zarr-format"
    );
    assert_eq!(
        rules("", "{\"zarr_consolidated_format\": 1}"),
        "consolidated/form"
    );
    // A name says what a document is, and --kind knows better.
    sandbox.file(".zattrs", "{}");
    assert_eq!(sandbox.run("validate .zattrs").exit, Some(0));
    assert_eq!(sandbox.run("validate --kind .zarray .zattrs").exit, Some(1));
    let outcome = hierarchy().run("validate --kind .zattrs s");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn members_that_are_missing_do_not_hide_what_else_is_wrong() {
    let codecs = format!(r#"{},{{"name":"bytes"}}"#, scale_offset(r#""scale":0"#));
    let document = format!(
        r#"{{"zarr_format":3,"node_type":"array","data_type":"float32","codecs":[{codecs}]}}"#
    );
    let found = findings(&document);
    let rules = rules_of(&found);
    for rule in ["core/missing-member", "scale-offset/zero-scale"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    // Nor does a type that is not known.
    let found = findings(&base(
        "float33",
        "0",
        &format!("{},{LE}", scale_offset(r#""scale":0"#)),
    ));
    let rules = rules_of(&found);
    for rule in ["core/unknown-data-type", "scale-offset/zero-scale"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

#[test]
fn copies_of_v2_are_compared_too() {
    let sandbox = Sandbox::new();
    let array = super::v2("<f4", "0", "");
    fs::create_dir_all(sandbox.path().join("s/a")).unwrap();
    sandbox.file("s/.zgroup", r#"{"zarr_format":2}"#);
    sandbox.file("s/a/.zarray", &array);
    sandbox.file("s/a/.zattrs", r#"{"units":"K"}"#);
    let copies = |attributes: &str, surplus: &str| {
        format!(
            r#"{{"zarr_consolidated_format":1,"metadata":{{".zgroup":{{"zarr_format":2}},
            "a/.zarray":{array}{attributes}{surplus}}}}}"#
        )
    };
    let check = |zmetadata: String| {
        sandbox.file("s/.zmetadata", zmetadata);
        let nodes = nodes(&sandbox.run("validate --format json s"));
        let findings = nodes.into_iter().flat_map(|node| node.findings);
        findings
            .map(|finding| format!("{} {}", finding.rule, finding.pointer))
            .collect::<Vec<_>>()
    };
    assert_eq!(check(copies(r#","a/.zattrs":{"units":"K"}"#, "")), [""; 0]);
    assert_eq!(check(copies("", "")), ["consolidated/missing "]);
    assert_eq!(
        check(copies(
            r#","a/.zattrs":{"units":"C"}"#,
            r#","b/.zgroup":{"zarr_format":2}"#
        )),
        [
            "consolidated/differs /metadata/a~1.zattrs/units",
            "consolidated/surplus /metadata/b~1.zgroup"
        ]
    );
    // Empty attributes are as good as none.
    assert_eq!(
        check(copies(r#","a/.zattrs":{"units":"K"},".zattrs":{}"#, "")),
        [""; 0]
    );
}
