//! `--output`: the result at another place, and the store as it was.

use std::fs;

use zarrpack::report::migrate_legacy::Outcome;

use super::{beside, chunks, is_document, moments, report, tree};
use crate::stores::{succeeds, with_stores};

#[test]
fn a_copy_with_chunks_is_what_in_place_gives() {
    for name in [
        "group_consolidated",
        "v2_group_consolidated",
        "fso_f4_u1_plain",
    ] {
        for flags in ["", "--remove-v2"] {
            let sandbox = with_stores(&[name]);
            let root = sandbox.path().join(name);
            let (before, then) = (tree(&root), moments(&root));
            let line = format!("migrate-legacy {name} {flags}");
            let outcome = sandbox.run(&format!("{line} --output new --copy-chunks --format json"));
            succeeds(&outcome);
            let elsewhere = report(&outcome);
            assert_eq!(elsewhere.outcome, Outcome::Written);
            assert_eq!(
                (elsewhere.output.as_deref(), elsewhere.journal),
                (Some("new"), None)
            );
            assert_eq!(tree(&root), before);
            assert_eq!(moments(&root), then);
            assert_eq!(beside(&sandbox), [""; 0]);
            assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 2);
            let in_place = report(&sandbox.run(&format!("{line} --in-place --format json")));
            assert_eq!(
                tree(&sandbox.path().join("new")),
                tree(&root),
                "{name} {flags}"
            );
            assert_eq!(in_place.arrays, elsewhere.arrays);
        }
    }
}

#[test]
fn metadata_alone_is_laid_over_the_store() {
    let sandbox = with_stores(&["group_consolidated"]);
    let outcome = sandbox.run("migrate-legacy group_consolidated --output new --metadata-only");
    succeeds(&outcome);
    insta::assert_snapshot!(outcome.stderr, @r#"
    warning: "new" has no chunks: until it is laid over the store that it was made from, it reads as fill
    group_consolidated: 2 arrays migrated (1 identical, 1 with values that differ)
    warning: values of 1 array differ, as the report says
    "#);
    let new = tree(&sandbox.path().join("new"));
    assert!(new.keys().all(|path| is_document(path)), "{new:?}");
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place"));
    let mut old = tree(&sandbox.path().join("group_consolidated"));
    let chunks = chunks(&old);
    old.retain(|path, _| !chunks.contains_key(path));
    assert_eq!(new, old);
}

/// What is around STORE is neither copied nor changed, so the report does not name it.
#[test]
fn a_node_alone_goes_without_what_is_around_it() {
    let sandbox = with_stores(&["group_consolidated"]);
    let before = tree(&sandbox.path().join("group_consolidated"));
    let line = "migrate-legacy group_consolidated/model/pressure --output new --copy-chunks";
    let outcome = sandbox.run(&format!("{line} --format json"));
    succeeds(&outcome);
    let paths: Vec<_> = report(&outcome)
        .documents
        .into_iter()
        .map(|d| d.path)
        .collect();
    assert_eq!(paths, ["model/pressure/zarr.json"]);
    assert_eq!(tree(&sandbox.path().join("group_consolidated")), before);
    let names: Vec<_> = tree(&sandbox.path().join("new")).into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn what_exists_is_replaced_on_request_alone() {
    let sandbox = with_stores(&["group_consolidated", "fso_f4_u1_plain"]);
    let line = "migrate-legacy group_consolidated --output fso_f4_u1_plain --copy-chunks";
    let before = tree(sandbox.path());
    for flag in ["", "--dry-run"] {
        let outcome = sandbox.run(&format!("{line} {flag}"));
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome, @r#"
            exit: 2
            --- stderr
            error: "[FOLDER]/fso_f4_u1_plain" exists
            hint: choose another place, or pass --overwrite to replace it
            "#);
        }
    }
    assert_eq!(tree(sandbox.path()), before);
    succeeds(&sandbox.run(&format!("{line} --overwrite")));
    assert!(
        sandbox
            .path()
            .join("fso_f4_u1_plain/model/pressure/zarr.json")
            .exists()
    );
    // What is no store is nobody's to replace.
    sandbox.file("notes", "precious");
    let outcome =
        sandbox.run("migrate-legacy group_consolidated --output notes --copy-chunks --overwrite");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert_eq!(fs::read(sandbox.path().join("notes")).unwrap(), b"precious");
}

#[test]
fn the_same_place_and_nested_ones_are_2() {
    let sandbox = with_stores(&["group_consolidated"]);
    let before = tree(sandbox.path());
    #[cfg(unix)]
    std::os::unix::fs::symlink("group_consolidated", sandbox.path().join("link")).unwrap();
    for output in [
        "group_consolidated",
        "group_consolidated/new",
        "group_consolidated/model/../../group_consolidated/",
        ".",
        #[cfg(unix)]
        "link/new",
        #[cfg(unix)]
        "link",
    ] {
        let line = format!(
            "migrate-legacy group_consolidated --output {output} --copy-chunks --overwrite"
        );
        let outcome = sandbox.run(&line);
        assert_eq!(outcome.exit, Some(2), "{output}: {outcome}");
        assert_eq!(outcome.stdout, "");
    }
    #[cfg(unix)]
    fs::remove_file(sandbox.path().join("link")).unwrap();
    assert_eq!(tree(sandbox.path()), before);
}

#[test]
fn what_is_refused_leaves_nothing() {
    let sandbox = with_stores(&["fso_scale0", "group_consolidated"]);
    for line in [
        "migrate-legacy fso_scale0 --output new --copy-chunks",
        "migrate-legacy group_consolidated --output new --metadata-only --require-identical",
    ] {
        let outcome = sandbox.run(&format!("{line} --format json"));
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert_eq!(report(&outcome).outcome, Outcome::Refused);
        assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 2);
    }
}
