//! Plans: what is printed, and that nothing is written for it.

use std::fs;

use serde_json::json;
use zarrpack::report::migrate_legacy::{Action, DocumentAction, Outcome};

use super::{array, bytes, legacy, moments, report, tree};
use crate::harness::Sandbox;
use crate::stores::{Array, succeeds, with_stores};

#[test]
fn of_a_hierarchy() {
    let sandbox = with_stores(&["group_consolidated"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy group_consolidated"));
}

#[test]
fn of_a_hierarchy_of_v2() {
    let sandbox = with_stores(&["v2_group_consolidated"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy v2_group_consolidated"));
}

#[test]
fn where_the_fill_needs_a_map() {
    let sandbox = with_stores(&["fso_zerofill_missing"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy fso_zerofill_missing"));
}

#[test]
fn that_is_impossible() {
    let sandbox = with_stores(&["fso_i2_u1_scale01"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy fso_i2_u1_scale01"));
}

#[test]
fn with_nothing_to_do() {
    let sandbox = with_stores(&["so_example1_f4"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy so_example1_f4"), @"
    exit: 0
    --- stdout
    so_example1_f4: nothing to migrate, no legacy codec in 1 array
    ");
    succeeds(&sandbox.run("migrate-legacy so_example1_f4 --check"));
}

#[test]
fn arrays_with_the_same_plan_are_shown_once() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("g")).unwrap();
    sandbox.file("g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    for n in 0..12 {
        bytes(0, 10).write(&sandbox, &format!("g/a{n:02}"));
    }
    let outcome = sandbox.run("migrate-legacy g");
    assert!(
        outcome.stdout.contains(
            "\na00, a01, a02, a03, a04, a05, a06, a07, and 4 more  float32 stored as uint8"
        ),
        "{outcome}"
    );
    assert_eq!(
        outcome.stdout.matches("\"scale_offset\"").count(),
        1,
        "{outcome}"
    );
    assert!(
        outcome.stdout.contains("documents 12 to replace"),
        "{outcome}"
    );
}

#[test]
fn as_json_holds_everything() {
    let sandbox = with_stores(&["group_consolidated"]);
    let outcome = sandbox.run("migrate-legacy group_consolidated --format json");
    succeeds(&outcome);
    assert_eq!(outcome.stderr, "");
    let report = report(&outcome);
    assert_eq!(report.outcome, Outcome::Planned);
    assert_eq!(
        (report.journal.as_deref(), report.output.as_deref()),
        (None, None)
    );
    assert_eq!(report.store, "group_consolidated");
    let summary = report.summary;
    assert_eq!((summary.selected, summary.migrate), (4, 2));
    assert_eq!((summary.identical, summary.differs), (1, 1));
    let paths: Vec<_> = report.documents.iter().map(|d| d.path.as_str()).collect();
    // Arrays first, then the copies.
    assert_eq!(
        paths,
        [
            "model/pressure/zarr.json",
            "model/run1/temp/zarr.json",
            "zarr.json"
        ]
    );
    let actions = report.documents.iter().map(|d| d.action);
    assert!(
        actions
            .into_iter()
            .all(|action| action == DocumentAction::Replace)
    );
    let [pressure, temp] = report.arrays.as_slice() else {
        panic!("{outcome}");
    };
    assert_eq!(pressure.action, Action::Migrate);
    let decode = pressure.decode.as_ref().unwrap();
    assert_eq!(
        (decode.verdict.as_str(), decode.compared),
        ("identical", 65_536)
    );
    assert_eq!(decode.proof.as_deref(), Some("all-codes"));
    let [change] = pressure.changes.as_slice() else {
        panic!("{outcome}");
    };
    assert_eq!(change.pointer, "/codecs");
    assert_eq!(change.new[0]["name"], "scale_offset");
    // 9,840 is what NumPy counts as well: oracle of the float32 formula against numcodecs.
    let decode = temp.decode.as_ref().unwrap();
    assert_eq!(
        (decode.verdict.as_str(), decode.differing),
        ("differs", 9840)
    );
    assert_eq!(decode.largest_ulps, Some(1));
    let first = decode.first.as_ref().unwrap();
    assert_eq!((&first.code, &first.old), (&json!(3208), &json!(282.08)));
}

#[cfg(unix)]
#[test]
fn plans_and_checks_leave_every_moment_of_a_read_only_tree_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let names = [
        "group_consolidated",
        "v2_group_consolidated",
        "fso_f8_i4_gzip",
    ];
    let sandbox = with_stores(&names);
    for name in names {
        let root = sandbox.path().join(name);
        let (before, then) = (tree(&root), moments(&root));
        let set = |mode: u32| {
            for path in then.keys() {
                let mode = if path.is_dir() { mode | 0o111 } else { mode };
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        };
        set(0o444);
        let check = sandbox.run(&format!("migrate-legacy {name} --check"));
        let plan = sandbox.run(&format!("migrate-legacy {name} --dry-run"));
        let elsewhere = format!("migrate-legacy {name} --dry-run --output o --copy-chunks");
        let elsewhere = sandbox.run(&elsewhere);
        set(0o644);
        assert_eq!(check.exit, Some(1), "{check}");
        succeeds(&plan);
        succeeds(&elsewhere);
        assert!(plan.stdout.contains("nothing was written"), "{plan}");
        assert_eq!(moments(&root), then);
        assert_eq!(tree(&root), before);
    }
    let left = fs::read_dir(sandbox.path()).unwrap().count();
    assert_eq!(left, names.len());
}

#[test]
fn a_dry_run_in_place_writes_nothing_and_takes_no_lock() {
    let sandbox = with_stores(&["group_consolidated"]);
    let root = sandbox.path().join("group_consolidated");
    let (before, then) = (tree(&root), moments(sandbox.path()));
    let outcome = sandbox.run("migrate-legacy group_consolidated --in-place -n --format json");
    succeeds(&outcome);
    assert_eq!(report(&outcome).outcome, Outcome::Planned);
    assert_eq!(tree(&root), before);
    assert_eq!(moments(sandbox.path()), then);
}

#[test]
fn check_is_1_only_while_there_is_work() {
    let sandbox = with_stores(&["group_consolidated"]);
    let check = || {
        sandbox
            .run("migrate-legacy group_consolidated --check")
            .exit
    };
    assert_eq!(check(), Some(1));
    succeeds(&sandbox.run("migrate-legacy group_consolidated --array time --check"));
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place"));
    assert_eq!(check(), Some(0));
}

/// Case C02.
#[test]
fn zero_may_be_a_former_nan_and_the_plan_says_so() {
    let sandbox = Sandbox::new();
    let codecs = json!([legacy(json!(0), json!(100), "<f4", "<i2"), {"name": "bytes", "configuration": {"endian": "little"}}]);
    Array::new("float32", &[3])
        .fill(json!("NaN"))
        .codecs(codecs)
        .chunk("c/0", [100_i16, 0, 300].map(i16::to_le_bytes).concat())
        .write(&sandbox, "a");
    let array = array(&sandbox.run("migrate-legacy a --format json"));
    assert!(array.notes[0].contains("may be a former NaN"), "{array:?}");
    // Case C04: a fill of NaN gets a code that no chunk has, never the recipe alone.
    let fill = array.fill.unwrap();
    assert_eq!((fill.value, fill.mapped), (json!("NaN"), true));
    let cast = &array.changes[0].new[1]["configuration"];
    assert_eq!(cast["scalar_map"]["encode"][0][0], "NaN");
    assert_ne!(fill.code, json!(0));
}

#[test]
fn what_is_no_store_is_3() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("empty")).unwrap();
    insta::assert_snapshot!(sandbox.run("migrate-legacy empty"), @r#"
    exit: 3
    --- stderr
    error: no Zarr array or group in "empty"
    hint: STORE is a directory with zarr.json, .zarray or .zgroup, or one above it
    "#);
    insta::assert_snapshot!(sandbox.run("migrate-legacy nowhere"), @r#"
    exit: 3
    --- stderr
    error: "nowhere" does not exist
    "#);
}

#[test]
fn a_pattern_that_selects_nothing_is_2() {
    let sandbox = with_stores(&["group_plain"]);
    insta::assert_snapshot!(sandbox.run("migrate-legacy group_plain --array nothing --in-place"), @r#"
    exit: 2
    --- stderr
    error: no array matches --array "nothing"
    hint: a pattern is held against the whole path, such as "model/temp"; "**/temp" finds it at any depth
    "#);
    assert_eq!(super::beside(&sandbox), [""; 0]);
}

#[test]
fn flags_that_contradict_each_other_are_2() {
    let sandbox = with_stores(&["group_plain"]);
    for flags in [
        "--in-place --output x --copy-chunks",
        "--output x",
        "--output x --copy-chunks --metadata-only",
        "--copy-chunks",
        "--overwrite",
        "--check --in-place",
        "--journal j.json",
        "--undo j.json --in-place",
        "--undo j.json --exact",
        "--undo j.json --array a",
        "--separator ,",
        "--verify some",
        "--fill-value NaN",
    ] {
        let outcome = sandbox.run(&format!("migrate-legacy group_plain {flags}"));
        assert_eq!(outcome.exit, Some(2), "{flags}: {outcome}");
        assert_eq!(outcome.stdout, "", "{flags}");
    }
    assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
}
