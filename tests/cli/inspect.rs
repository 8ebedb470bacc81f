//! `zarrpack inspect`.

mod reanalysis;

use std::fs;
use std::path::Path;

use zarrpack::report::inspect::{Array, Report, SCHEMA};

use crate::harness::{Outcome, Sandbox};
use crate::stores::{copy, testdata, with_stores};

fn inspect(name: &str) -> Outcome {
    with_stores(&[name]).run(&format!("inspect {name}"))
}

fn report(outcome: &Outcome) -> Report {
    let report: Report = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report.schema, SCHEMA);
    let again = serde_json::to_string_pretty(&report).unwrap() + "\n";
    assert_eq!(again, outcome.stdout, "the types hold all that is printed");
    report
}

/// The report of the only array of a store of the test data.
fn array(name: &str) -> Array {
    let outcome = with_stores(&[name]).run(&format!("inspect --format json {name}"));
    let mut report = report(&outcome);
    report.stores.remove(0).arrays.remove(0)
}

#[test]
fn the_pair_with_a_sentinel_and_missing_chunks() {
    insta::assert_snapshot!(inspect("so_example3_nan"));
}

#[test]
fn integers_shifted() {
    insta::assert_snapshot!(inspect("so_example2_u2_u1"));
}

#[test]
fn a_sharded_array() {
    insta::assert_snapshot!(inspect("so_cv_sharded_partial"));
}

#[test]
fn a_legacy_array_of_zarr_v2() {
    insta::assert_snapshot!(inspect("v2_le_dtype_be_astype"));
}

#[test]
fn a_hierarchy() {
    insta::assert_snapshot!(inspect("group_consolidated"));
}

#[test]
fn an_array_inside_a_hierarchy() {
    let sandbox = with_stores(&["group_plain"]);
    insta::assert_snapshot!(sandbox.run("inspect group_plain/model/run1/temp"));
    let outcome = sandbox.run("inspect --format json group_plain/model");
    let part_of = report(&outcome).stores[0].part_of.clone().unwrap();
    assert_eq!(part_of.path, "model");
    assert!(part_of.root.ends_with("group_plain"), "{}", part_of.root);
}

#[test]
fn twenty_arrays_as_the_documentation_shows_them() {
    let sandbox = Sandbox::new().set("LANG", "C.UTF-8");
    reanalysis::write(&sandbox);
    let outcome = sandbox.run(&format!("inspect {}", reanalysis::NAME));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/inspect.md");
    let page = fs::read_to_string(page).unwrap();
    let parts = [outcome.stdout.as_str(), outcome.stderr.as_str()];
    for part in parts {
        assert!(
            page.contains(part),
            "docs/inspect.md shows another output than:\n{outcome}"
        );
    }
    assert_eq!(outcome.exit, Some(1));

    let json = sandbox.run(&format!("inspect --format json {}", reanalysis::NAME));
    let report = report(&json);
    let arrays = &report.stores[0].arrays;
    assert_eq!(arrays.len(), 20);
    let named = |path: &str| arrays.iter().find(|array| array.path == path).unwrap();
    assert_eq!(named("levels/temperature").shards, [[24, 37, 721, 1440]]);
    assert_eq!(
        named("levels/temperature").chunks.as_deref(),
        Some(&[24, 1, 103, 144][..])
    );
    assert_eq!(named("surface/d2m").stored.objects, 12);
    assert_eq!(named("surface/d2m").stored.grid_objects, Some(31));
    assert_eq!(named("archive/time").data_type, "<M8[h]");
    assert!(!named("archive/time").unsupported.is_empty());
    assert_eq!(named("archive/t850").legacy, ["/filters/0"]);
}

#[test]
fn the_readme_shows_what_is_printed() {
    let sandbox = Sandbox::new();
    let store = "testdata/stores/so_example3_nan";
    copy(&testdata("so_example3_nan"), &sandbox.path().join(store));
    let outcome = sandbox.run(&format!("inspect {store}"));
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(readme).unwrap();
    assert!(readme.contains(&outcome.stdout), "{outcome}");
}

#[test]
fn the_outline_without_unicode_and_in_eighty_columns() {
    let sandbox = Sandbox::new().set("COLUMNS", "80");
    reanalysis::write(&sandbox);
    let outcome = sandbox.run(&format!(
        "inspect {} --array surface/t2m --array archive/*",
        reanalysis::NAME
    ));
    insta::assert_snapshot!(outcome);
    assert!(outcome.stdout.is_ascii());
    assert!(
        outcome.stdout.lines().all(|line| line.len() <= 80),
        "{outcome}"
    );
}

#[test]
fn colour_is_laid_over_the_same_text() {
    let sandbox = with_stores(&["group_plain"]);
    let plain = sandbox.run("inspect group_plain").stdout;
    let coloured = sandbox.run("inspect group_plain --color always").stdout;
    assert_ne!(plain, coloured);
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn json_has_the_stages() {
    let array = array("so_example3_nan");
    let stages = serde_json::to_value(&array.stages).unwrap();
    let expected = serde_json::json!([
        {"codec": null, "pointer": null, "data_type": "float64", "fill_value": "NaN",
            "low": -10.0, "high": 2540.0, "step": 10.0},
        {"codec": "scale_offset", "pointer": "/codecs/0", "data_type": "float64", "fill_value": "NaN",
            "low": 0.0, "high": 255.0, "step": 1.0},
        {"codec": "cast_value", "pointer": "/codecs/1", "data_type": "uint8", "fill_value": 0,
            "low": 0, "high": 255, "step": 1},
    ]);
    assert_eq!(stages, expected);
    assert_eq!((array.stored.objects, array.stored.bytes), (2, 12));
    assert_eq!(array.logical_bytes, Some(160));
    let fill = array.fill.unwrap();
    assert!(fill.survives && !fill.drifts, "{fill:?}");
    assert_eq!(array.sentinels.len(), 1);
}

#[test]
fn json_of_an_array_is_a_contract() {
    let sandbox = with_stores(&["so_example2_u2_u1"]);
    insta::assert_snapshot!(sandbox.run("inspect --format json so_example2_u2_u1"));
}

#[test]
fn every_store_of_the_test_data_has_a_report() {
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores");
    let mut names: Vec<_> = fs::read_dir(stores)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir() && path.extension().is_none())
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let sandbox = Sandbox::new();
    let arguments = ["inspect", "--format", "json"].into_iter();
    let outcome = sandbox.run_with(arguments.chain(names.iter().map(String::as_str)), "");
    let report = report(&outcome);
    assert_eq!(report.stores.len(), names.len());
    // The scale of this one is 0.
    assert_eq!(outcome.exit, Some(1), "{}", outcome.stderr);
    assert_eq!(
        outcome.stderr.matches("error:").count(),
        1,
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("fso_scale0"), "{}", outcome.stderr);
}

#[test]
fn arrays_are_chosen_by_patterns() {
    let sandbox = with_stores(&["group_plain"]);
    let shown = |patterns: &str| {
        let outcome = sandbox.run(&format!("inspect --format json group_plain {patterns}"));
        let store = report(&outcome).stores.remove(0);
        let arrays: Vec<_> = store.arrays.into_iter().map(|array| array.path).collect();
        let groups: Vec<_> = store.groups.into_iter().map(|group| group.path).collect();
        format!("arrays {}; groups {}", arrays.join(" "), groups.join(" "))
    };
    assert_eq!(
        shown("--array **/temp"),
        "arrays model/run1/temp; groups  model model/run1"
    );
    assert_eq!(
        shown("--array time --array model/*"),
        "arrays model/pressure time; groups  model"
    );
    assert_eq!(shown("--array !model/**"), "arrays time; groups ");
    insta::assert_snapshot!(sandbox.run("inspect group_plain --array nothing"), @r#"
    exit: 2
    --- stderr
    error: no array matches --array "nothing"
    hint: a pattern is held against the whole path, such as "model/temp"; "**/temp" finds it at any depth
    "#);
    insta::assert_snapshot!(sandbox.run("inspect group_plain --array /model"), @"
    exit: 2
    --- stderr
    error: invalid value '/model' for '--array <GLOB>': paths of arrays have no leading slash

    For more information, try '--help'.
    ");
}

#[test]
fn several_stores_are_shown_one_after_the_other() {
    let sandbox = with_stores(&["so_example1_f4", "v2_nullfill"]);
    insta::assert_snapshot!(sandbox.run("inspect so_example1_f4 v2_nullfill"));
}

#[test]
fn a_store_that_is_missing_does_not_hide_the_others() {
    let sandbox = with_stores(&["so_example1_f4"]);
    let outcome = sandbox.run("inspect --format json so_example1_f4 nowhere.zarr");
    assert_eq!(outcome.exit, Some(3));
    assert_eq!(report(&outcome).stores.len(), 1);
    insta::assert_snapshot!(outcome.stderr, @r#"error: "nowhere.zarr" does not exist"#);
}

#[test]
fn where_there_is_nothing_to_read() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("empty")).unwrap();
    sandbox.file("zarr.json", "{}");
    insta::assert_snapshot!(sandbox.run("inspect empty"), @r#"
    exit: 3
    --- stderr
    error: no Zarr node in "empty"
    hint: a node is a directory that holds zarr.json (version 3), .zarray or .zgroup (version 2)
    "#);
    insta::assert_snapshot!(sandbox.run("inspect zarr.json"), @r#"
    exit: 3
    --- stderr
    error: "zarr.json" is not a directory
    "#);
    insta::assert_snapshot!(sandbox.run("inspect nowhere.zarr"), @r#"
    exit: 3
    --- stderr
    error: "nowhere.zarr" does not exist
    "#);
    insta::assert_snapshot!(sandbox.run("inspect s3://bucket/a.zarr"), @r#"
    exit: 2
    --- stderr
    error: "s3://bucket/a.zarr" is not a local path, and this version opens nothing else
    "#);
    insta::assert_snapshot!(sandbox.run("inspect"), @"
    exit: 2
    --- stderr
    error: the following required arguments were not provided:
      <STORE>...

    Usage: zarrpack inspect <STORE>...

    For more information, try '--help'.
    ");
}

#[test]
fn quiet_leaves_results_and_errors() {
    let sandbox = with_stores(&["fso_scale0"]);
    let loud = sandbox.run("inspect fso_scale0");
    let quiet = sandbox.run("inspect -qqq fso_scale0");
    assert_eq!(loud.to_string(), quiet.to_string());
}

#[test]
fn broken_nodes_are_told_and_the_rest_is_shown() {
    let sandbox = with_stores(&["group_plain"]);
    sandbox.file(
        "group_plain/model/pressure/zarr.json",
        "{\"zarr_format\": 3,",
    );
    let sound = fs::read_to_string(testdata("group_plain/time/zarr.json")).unwrap();
    sandbox.file(
        "group_plain/time/zarr.json",
        sound.replace("\"int64\"", "64"),
    );
    insta::assert_snapshot!(sandbox.run("inspect group_plain"));
    let outcome = sandbox.run("inspect --format json group_plain");
    let store = report(&outcome).stores.remove(0);
    let broken: Vec<_> = store
        .broken
        .iter()
        .map(|broken| broken.path.as_str())
        .collect();
    assert_eq!(broken, ["model/pressure", "time"]);
    assert!(
        store
            .broken
            .iter()
            .all(|broken| broken.is_node && !broken.unreadable)
    );
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_3_and_the_rest_is_shown() {
    use std::os::unix::fs::symlink;
    let sandbox = with_stores(&["group_plain"]);
    let document = sandbox.path().join("group_plain/time/zarr.json");
    fs::remove_file(&document).unwrap();
    // Reading a directory fails for everybody, even for those whom permissions do not stop.
    fs::create_dir(&document).unwrap();
    symlink(
        "nowhere",
        sandbox.path().join("group_plain/model/pressure/c/1"),
    )
    .unwrap();
    let outcome = sandbox.run("inspect group_plain");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    assert!(outcome.stdout.contains("temp"), "{outcome}");
    insta::assert_snapshot!(outcome.stderr);
}

#[cfg(unix)]
#[test]
fn links_are_noted_and_loops_are_found() {
    use std::os::unix::fs::symlink;
    let sandbox = with_stores(&["group_plain"]);
    symlink("../time", sandbox.path().join("group_plain/model/clock")).unwrap();
    symlink("..", sandbox.path().join("group_plain/model/again")).unwrap();
    insta::assert_snapshot!(sandbox.run("inspect group_plain --array **/clock"));
}

#[test]
fn documents_of_both_versions_side_by_side() {
    let sandbox = with_stores(&["so_example1_f4"]);
    sandbox.file("so_example1_f4/.zarray", "{}");
    sandbox.file("so_example1_f4/.zattrs", "{}");
    let outcome = sandbox.run("inspect so_example1_f4");
    assert_eq!(outcome.exit, Some(0));
    let note = "note        zarr.json wins over .zarray, .zattrs beside it";
    assert!(outcome.stdout.contains(note), "{outcome}");
}

#[test]
fn what_is_no_chunk_is_not_counted() {
    let sandbox = with_stores(&["so_example1_f4"]);
    let before = array("so_example1_f4").stored;
    sandbox.file("so_example1_f4/c/99", "beyond");
    sandbox.file("so_example1_f4/c/0.tmp", "left behind");
    let outcome = sandbox.run("inspect --format json so_example1_f4");
    let stored = report(&outcome).stores[0].arrays[0].stored.clone();
    assert_eq!(
        (stored.objects, stored.bytes),
        (before.objects, before.bytes)
    );
    assert_eq!((stored.outside.count, stored.outside.bytes), (1, 6));
    assert_eq!((stored.other.count, stored.other.bytes), (1, 11));
}

#[test]
fn the_listing_of_chunks_has_a_limit() {
    let sandbox = with_stores(&["fso_f4_u2_zstd_2d"]);
    let row = |most: &str| {
        let outcome = sandbox.run(&format!("inspect fso_f4_u2_zstd_2d --max-objects {most}"));
        assert_eq!(outcome.exit, Some(0), "{outcome}");
        outcome.stdout.lines().nth(2).unwrap().to_owned()
    };
    insta::assert_snapshot!(row("0"), @"float32  13x20  5x8          ?             ?/9");
    assert!(row("4").ends_with(">4/9"), "{}", row("4"));
    assert!(row("9").ends_with(" 9/9"), "{}", row("9"));
}

#[test]
fn names_cannot_move_the_cursor() {
    let sandbox = with_stores(&["so_example1_f4"]);
    let text = fs::read_to_string(testdata("so_example1_f4/zarr.json")).unwrap();
    let evil = text.replace("\"bytes\"", "\"by\\u001b[2Jtes\"");
    assert_ne!(evil, text);
    sandbox.file("so_example1_f4/zarr.json", evil);
    let outcome = sandbox.run("inspect so_example1_f4");
    assert!(!outcome.to_string().contains('\u{1b}'), "{outcome}");
    assert!(outcome.stdout.contains(r"by\u{1b}[2Jtes"), "{outcome}");
}

#[test]
fn nothing_is_written() {
    let sandbox = with_stores(&["group_plain"]);
    let listing = |sandbox: &Sandbox| {
        let mut paths: Vec<_> = walk(sandbox.path());
        paths.sort();
        paths
    };
    let before = listing(&sandbox);
    sandbox.run("inspect group_plain");
    assert_eq!(listing(&sandbox), before);
}

fn walk(directory: &Path) -> Vec<(std::path::PathBuf, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        found.push((
            path.clone(),
            fs::metadata(&path).unwrap().modified().unwrap(),
        ));
        if path.is_dir() {
            found.extend(walk(&path));
        }
    }
    found
}
