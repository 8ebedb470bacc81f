//! `--in-place` and `--undo`: documents, journals, locks; chunks stay.

use std::fs;
use std::path::Path;

use serde_json::Value;
use zarrpack::report::migrate_legacy::{Outcome, UNDO_SCHEMA};

use super::{beside, bytes, chunks, document, journal, report, tree, values};
use crate::harness::Sandbox;
use crate::stores::{copy, succeeds, testdata, with_stores};

/// The values that zarr-python read of each array of a reference store, by the path of the array.
fn expected(name: &str) -> Vec<(String, Vec<u8>)> {
    let note = fs::read(testdata(&format!("{name}.json"))).unwrap();
    let note: Value = serde_json::from_slice(&note).unwrap();
    let files = note["expected"].as_object().unwrap().iter();
    let files = files.filter(|(path, _)| !path.starts_with("cf_decoded:"));
    files
        .map(|(path, file)| {
            let path = path.trim_matches('/').to_owned();
            let folder = testdata(&format!("{name}.expected"));
            (path, fs::read(folder.join(file.as_str().unwrap())).unwrap())
        })
        .collect()
}

/// The values of an array, as a `.npy` file.
fn decoded(sandbox: &Sandbox, store: &str) -> Vec<u8> {
    succeeds(&sandbox.run(&format!("decode {store} out.npy --overwrite")));
    fs::read(sandbox.path().join("out.npy")).unwrap()
}

/// Every reference store that names the legacy codec.
fn legacy_stores() -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(testdata("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.ends_with(".expected") && names_legacy(&path) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names
}

fn names_legacy(root: &Path) -> bool {
    let documents = tree(root);
    let mut documents = documents
        .iter()
        .filter(|(path, _)| super::is_document(path));
    documents.any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("fixedscaleoffset"))
}

/// Migrates every reference store, looks at all that was written, and takes it back. Returns a line for each.
fn every_store(flags: &str) -> String {
    let mut said = String::new();
    for name in legacy_stores() {
        let sandbox = with_stores(&[&name]);
        let root = sandbox.path().join(&name);
        let before = tree(&root);
        let mut old = Vec::new();
        // A scale of 0 is read by nobody but numcodecs, as NaN, and refused below.
        let readable = expected(&name).into_iter().filter(|_| name != "fso_scale0");
        for (path, values) in readable {
            old.push(decoded(&sandbox, &format!("{name}/{path}")));
            // zarr-python takes the axes of one of them in the wrong order; its files from v2 may be big-endian.
            if !name.starts_with("v2_") {
                let same = old.last() == Some(&values);
                assert_eq!(same, name != "fso_transpose_after", "{name}/{path}");
            }
        }
        let outcome = sandbox.run(&format!(
            "migrate-legacy {name} --in-place --remove-v2 --format json {flags}"
        ));
        let report = report(&outcome);
        if report.outcome == Outcome::Refused {
            assert_eq!(outcome.exit, Some(1), "{name}: {outcome}");
            assert_eq!(tree(&root), before, "{name}");
            assert_eq!(beside(&sandbox), [""; 0]);
            let problems = report.arrays.iter().flat_map(|array| &array.problems);
            let problems: Vec<_> = problems.map(|problem| problem.message.as_str()).collect();
            said.push_str(&format!("{name}: refused: {}\n", problems.join("; ")));
            continue;
        }
        succeeds(&outcome);
        assert_eq!(report.outcome, Outcome::Written);
        let after = tree(&root);
        assert_eq!(chunks(&after), chunks(&before), "{name}");
        assert!(!names_legacy(&root), "{name}");
        let verdict = |path: &str| {
            let array = report.arrays.iter().find(|array| array.path == path);
            array.map(|array| {
                let decode = array.decode.as_ref();
                decode.map_or("as it was".to_owned(), |decode| decode.verdict.clone())
            })
        };
        for ((path, _), old) in expected(&name).into_iter().zip(old) {
            let same = decoded(&sandbox, &format!("{name}/{path}")) == old;
            let verdict = verdict(&path);
            if verdict.as_deref() != Some("differs") {
                assert!(same, "{name}/{path}: values changed");
            }
            if let Some(verdict) = verdict {
                let same = if same {
                    ""
                } else {
                    ", and values in the data do"
                };
                said.push_str(&format!("{name}/{path}: {verdict}{same}\n"));
            }
        }
        let checked = sandbox.run(&format!(
            "validate {name} --allow readers/* --fail-on error"
        ));
        assert!(
            !checked.stdout.contains("[consolidated/differs]"),
            "{name}: {checked}"
        );
        let undone = sandbox.run(&format!(
            "migrate-legacy {name} --undo {}",
            journal(&sandbox)
        ));
        succeeds(&undone);
        assert_eq!(tree(&root), before, "{name}");
        assert_eq!(beside(&sandbox), [""; 0]);
    }
    said
}

#[test]
fn every_reference_store_is_migrated_and_restored() {
    insta::assert_snapshot!(every_store(""), @"
    fso_0d/: identical
    fso_astype_omitted/: identical
    fso_bytes_big_le_names/: identical
    fso_bytes_little_be_astype/: identical
    fso_f4_i2_blosc_3d/: identical
    fso_f4_u1_plain/: identical
    fso_f4_u2_zstd_2d/: differs, and values in the data do
    fso_f8_i4_gzip/: identical
    fso_i2_u1_scale01: refused: expected an integer from -32768 to 32767, since scale_offset takes its numbers in the type of the values there, int16; found a scale of 0.1, which is no whole number
    fso_i4_i2_scale10/: identical
    fso_long_names_zlib/: identical
    fso_nanfill_missing/: identical
    fso_outer_before_sharding/: identical
    fso_scale0: refused: expected a number other than zero, found a scale of 0
    fso_sharded_inner_partial/: differs
    fso_then_delta/: differs
    fso_transpose_after/: identical
    fso_transpose_before/: identical
    fso_two_chained/: identical
    fso_v2keys_dot/: identical
    fso_zerofill_missing/: identical
    group_consolidated/model/pressure: identical
    group_consolidated/model/run1/temp: differs, and values in the data do
    group_plain/model/pressure: identical
    group_plain/model/run1/temp: differs, and values in the data do
    v2_be_none/: differs
    v2_c_zlib/: identical
    v2_f_blosc/: differs
    v2_group/sub/t: differs, and values in the data do
    v2_group/plain: as it was
    v2_group_consolidated/sub/t: differs, and values in the data do
    v2_group_consolidated/plain: as it was
    v2_int16: refused: expected an integer from -32768 to 32767, since scale_offset takes its numbers in the type of the values there, int16; found a scale of 0.1, which is no whole number
    v2_le_dtype_be_astype/: differs
    v2_nanfill_missing/: identical
    v2_nullfill/: identical
    v2_shuffle_filter/: differs
    v2_slash_zstd/: differs, and values in the data do
    ");
}

#[test]
fn every_reference_store_is_migrated_exactly_and_restored() {
    insta::assert_snapshot!(every_store("--exact"), @"
    fso_0d/: identical
    fso_astype_omitted/: identical
    fso_bytes_big_le_names/: identical
    fso_bytes_little_be_astype/: identical
    fso_f4_i2_blosc_3d/: identical
    fso_f4_u1_plain/: identical
    fso_f4_u2_zstd_2d/: identical
    fso_f8_i4_gzip/: identical
    fso_i2_u1_scale01/: identical
    fso_i4_i2_scale10/: identical
    fso_long_names_zlib/: identical
    fso_nanfill_missing/: identical
    fso_outer_before_sharding/: identical
    fso_scale0: refused: expected a number other than zero, found a scale of 0
    fso_sharded_inner_partial/: identical
    fso_then_delta/: identical
    fso_transpose_after/: identical
    fso_transpose_before/: identical
    fso_two_chained/: identical
    fso_v2keys_dot/: identical
    fso_zerofill_missing/: identical
    group_consolidated/model/pressure: identical
    group_consolidated/model/run1/temp: identical
    group_plain/model/pressure: identical
    group_plain/model/run1/temp: identical
    v2_be_none/: identical
    v2_c_zlib/: identical
    v2_f_blosc/: identical
    v2_group/sub/t: identical
    v2_group/plain: as it was
    v2_group_consolidated/sub/t: identical
    v2_group_consolidated/plain: as it was
    v2_int16/: identical
    v2_le_dtype_be_astype/: identical
    v2_nanfill_missing/: identical
    v2_nullfill/: identical
    v2_shuffle_filter/: identical
    v2_slash_zstd/: identical
    ");
}

#[test]
fn the_report_says_what_was_written() {
    let sandbox = Sandbox::new();
    bytes(0, 10).write(&sandbox, "a");
    let outcome = sandbox.run("migrate-legacy a --in-place --journal undo.json");
    insta::assert_snapshot!(outcome, @r#"
    exit: 0
    --- stdout
    a: 1 array migrated (1 identical)

    /  float32 stored as uint8, little-endian, plain conversion
      /codecs
      - {"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":10,"dtype":"<f4","astype":"|u1"}}
      + {"name":"scale_offset","configuration":{"offset":0,"scale":10}}
      + {"name":"cast_value","configuration":{"data_type":"uint8","out_of_range":"wrap"}}
        {"name":"bytes","configuration":{"endian":"little"}}
      fill      0.0, stored as code 0: the new codecs give it back
      decode    identical over all 256 codes
      encode    what is written later may be stored as other codes: values that the codes do not reach:
                509000000.0 was no certain code, and is stored as 0
      readers   opened by zarr-python 3.4.2, zarrita.js 0.7.5, GDAL 3.14 in development; not by
                zarr-python 3.1.6, zarr-python 2.18.7, zarrs 0.23.14, tensorstore 0.1.86, zarr-java main
      note      a stored 0 may be a former NaN, which the legacy codec does not tell apart; it stays the
                number that it decodes to

      documents 1 replaced
      journal   "[FOLDER]/undo.json", for --undo

    --- stderr
    a: 1 array migrated (1 identical)
    "#);
    assert_eq!(values(&sandbox, "a"), "0.1 0.2 0.3 0.4");
    insta::assert_snapshot!(sandbox.run("migrate-legacy a --undo undo.json --dry-run"), @"
    exit: 0
    --- stdout
    1 document to restore; nothing was written
    ");
    assert_ne!(
        document(&sandbox, "a/zarr.json")["codecs"][0]["name"],
        "numcodecs.fixedscaleoffset"
    );
    let undone = sandbox.run("migrate-legacy a --undo undo.json --format json");
    succeeds(&undone);
    let undone: Value = serde_json::from_str(&undone.stdout).unwrap();
    assert_eq!(undone["schema"], UNDO_SCHEMA);
    assert_eq!(undone["documents"].as_array().unwrap().len(), 1);
    insta::assert_snapshot!(sandbox.run("migrate-legacy a --undo undo.json"), @r#"
    exit: 3
    --- stderr
    error: "[FOLDER]/undo.json" does not exist
    "#);
}

#[test]
fn a_second_run_has_nothing_to_do_and_writes_nothing() {
    let sandbox = with_stores(&["group_consolidated"]);
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place -q"));
    let (after, left) = (tree(sandbox.path()), beside(&sandbox));
    let again = sandbox.run("migrate-legacy group_consolidated --in-place");
    insta::assert_snapshot!(again, @"
    exit: 0
    --- stdout
    group_consolidated: nothing to migrate, no legacy codec in 4 arrays
    ");
    assert_eq!(tree(sandbox.path()), after);
    assert_eq!(beside(&sandbox), left);
}

#[test]
fn what_the_plan_does_not_name_keeps_its_text() {
    let sandbox = Sandbox::new();
    let text = concat!(
        "{ \"node_type\" : \"array\",\t\"zarr_format\": 3,\r\n",
        "\"shape\":[4], \"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}},\n",
        "  \"data_type\": \"float32\", \"fill_value\": 0e0, \"chunk_key_encoding\": {\"name\":\"default\"},\n",
        "  \"codecs\": [{\"name\": \"numcodecs.fixedscaleoffset\", \"configuration\": ",
        "{\"scale\": 1.00e1, \"offset\": 0, \"dtype\": \"<f4\", \"astype\": \"|u1\"}}, {\"name\": \"bytes\"}],\n",
        "  \"attributes\": {\"z\": 1.50, \"a\": 1e400, \"\\u00e9\": \"\\u00e9\"},\n",
        "  \"unknown\": {\"name\": \"x\", \"must_understand\": false} }\n\n",
    );
    fs::create_dir(sandbox.path().join("a")).unwrap();
    sandbox.file("a/zarr.json", text);
    succeeds(&sandbox.run("migrate-legacy a --in-place"));
    let new = fs::read_to_string(sandbox.path().join("a/zarr.json")).unwrap();
    let (before, old_rest) = text.split_once("{\"name\": \"numcodecs.").unwrap();
    let (_, after) = old_rest.split_once(", {\"name\": \"bytes\"}").unwrap();
    assert!(new.starts_with(before), "{new}");
    assert!(new.ends_with(after), "{new}");
    assert!(new.contains("1.00e1"), "{new}");
}

#[cfg(unix)]
#[test]
fn permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    bytes(0, 10).write(&sandbox, "a");
    let path = sandbox.path().join("a/zarr.json");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    succeeds(&sandbox.run("migrate-legacy a --in-place"));
    assert_eq!(mode(), 0o640);
    let journal = journal(&sandbox);
    succeeds(&sandbox.run(&format!("migrate-legacy a --undo {journal}")));
    assert_eq!(mode(), 0o640);
}

#[cfg(unix)]
#[test]
fn a_document_that_is_a_link_is_replaced_where_it_leads_inside_the_store() {
    let sandbox = with_stores(&["group_plain"]);
    let pressure = sandbox.path().join("group_plain/model/pressure");
    fs::rename(pressure.join("zarr.json"), pressure.join("real.json")).unwrap();
    std::os::unix::fs::symlink("real.json", pressure.join("zarr.json")).unwrap();
    succeeds(&sandbox.run("migrate-legacy group_plain --in-place"));
    assert!(
        fs::symlink_metadata(pressure.join("zarr.json"))
            .unwrap()
            .is_symlink()
    );
    let text = fs::read_to_string(pressure.join("real.json")).unwrap();
    assert!(text.contains("scale_offset"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_document_that_is_a_link_out_of_the_store_is_refused() {
    let sandbox = with_stores(&["group_plain"]);
    let path = sandbox.path().join("group_plain/model/pressure/zarr.json");
    fs::rename(&path, sandbox.path().join("real.json")).unwrap();
    std::os::unix::fs::symlink("../../../real.json", &path).unwrap();
    let before = tree(sandbox.path());
    for flag in ["--in-place", "--in-place --dry-run"] {
        let outcome = sandbox.run(&format!(
            "migrate-legacy group_plain {flag} -q --format json"
        ));
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert_eq!(outcome.stdout, "");
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome.stderr, @r#"
            error: "[FOLDER]/group_plain/model/pressure/zarr.json" leads to "[FOLDER]/real.json", outside the hierarchy
            hint: run on the hierarchy that the document belongs to
            "#);
        }
    }
    assert_eq!(tree(sandbox.path()), before);
}

#[cfg(unix)]
#[test]
fn a_read_only_document_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = with_stores(&["group_plain"]);
    let path = sandbox.path().join("group_plain/model/pressure/zarr.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let before = tree(sandbox.path());
    for flag in ["--in-place", "--in-place --dry-run"] {
        let outcome = sandbox.run(&format!("migrate-legacy group_plain {flag} -q"));
        assert_eq!(outcome.exit, Some(3), "{outcome}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(outcome.stderr, @r#"
            error: "[FOLDER]/group_plain/model/pressure/zarr.json" is read-only
            hint: give it permission to be written if it may be changed
            "#);
        }
    }
    assert_eq!(tree(sandbox.path()), before);
}

#[test]
fn a_store_that_another_run_changes_is_3() {
    use zarrpack::store::{Exclusive, Store};
    let sandbox = with_stores(&["group_consolidated"]);
    let root = sandbox.path().join("group_consolidated");
    let before = tree(&root);
    let held = Exclusive::take(&Store::open(&root).unwrap(), &|_| ()).unwrap();
    // Whichever node of the hierarchy either of them was given.
    for store in ["group_consolidated", "group_consolidated/model/pressure"] {
        let outcome = sandbox.run(&format!("migrate-legacy {store} --in-place"));
        assert_eq!(outcome.exit, Some(3), "{outcome}");
        assert_eq!(outcome.stdout, "");
        for part in [
            "error: another process",
            "is changing \"[FOLDER]/group_consolidated\"",
            "hint: wait for it",
        ] {
            assert!(outcome.stderr.contains(part), "{outcome}");
        }
    }
    succeeds(&sandbox.run("migrate-legacy group_consolidated"));
    assert_eq!(tree(&root), before);
    drop(held);
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place"));
}

/// What a run that was killed leaves: its journal, not yet complete, and some documents replaced.
#[test]
fn what_a_killed_run_left_is_restored_before_the_next_begins() {
    let sandbox = with_stores(&["group_consolidated"]);
    let root = sandbox.path().join("group_consolidated");
    let before = tree(&root);
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place -q"));
    let after = tree(&root);
    let name = journal(&sandbox);
    let unfinished = format!("{name}.unfinished");
    fs::rename(sandbox.path().join(&name), sandbox.path().join(&unfinished)).unwrap();
    // One document was not replaced yet.
    fs::write(root.join("zarr.json"), &before[Path::new("zarr.json")]).unwrap();

    let plan = sandbox.run("migrate-legacy group_consolidated --check -q --format json");
    assert_eq!(plan.exit, Some(0), "{plan}");
    let plan = sandbox.run("migrate-legacy group_consolidated --check");
    assert!(plan.stderr.starts_with("warning: "), "{plan}");
    assert!(plan.stderr.contains(&unfinished), "{plan}");

    let outcome = sandbox.run("migrate-legacy group_consolidated --in-place");
    succeeds(&outcome);
    assert!(
        outcome.stderr.starts_with("restored 2 documents"),
        "{outcome}"
    );
    assert_eq!(tree(&root), after);
    succeeds(&sandbox.run(&format!(
        "migrate-legacy group_consolidated --undo {}",
        journal(&sandbox)
    )));
    assert_eq!(tree(&root), before);
}

#[test]
fn a_journal_of_another_store_and_changed_documents_are_not_undone() {
    let sandbox = with_stores(&["group_consolidated", "group_plain"]);
    succeeds(&sandbox.run("migrate-legacy group_consolidated --in-place -q --journal undo.json"));
    let other = sandbox.run("migrate-legacy group_plain --undo undo.json");
    assert_eq!(other.exit, Some(1), "{other}");
    assert!(other.stderr.contains("not of this store"), "{other}");
    let path = sandbox.path().join("group_consolidated/time/zarr.json");
    let changed = sandbox
        .path()
        .join("group_consolidated/model/pressure/zarr.json");
    let text = fs::read_to_string(&changed).unwrap();
    fs::write(&changed, format!("{text} ")).unwrap();
    let before = tree(sandbox.path());
    for flag in ["", "--dry-run"] {
        let outcome = sandbox.run(&format!(
            "migrate-legacy group_consolidated --undo undo.json {flag}"
        ));
        assert_ne!(outcome.exit, Some(0), "{outcome}");
        assert!(outcome.stderr.contains("pressure/zarr.json"), "{outcome}");
    }
    assert_eq!(tree(sandbox.path()), before);
    // Once it is as it was, all goes back; documents that the journal does not hold are nobody's business.
    fs::write(&changed, text).unwrap();
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\n").unwrap();
    succeeds(&sandbox.run("migrate-legacy group_consolidated --undo undo.json"));
}

#[test]
fn a_journal_undoes_its_own_store_alone_and_knows_it_where_it_was_moved() {
    let sandbox = with_stores(&["group_plain"]);
    copy(
        &sandbox.path().join("group_plain"),
        &sandbox.path().join("twin"),
    );
    succeeds(&sandbox.run("migrate-legacy group_plain --in-place -q --journal undo.json"));
    let before = tree(sandbox.path());
    // The documents of the other store are what the journal would restore: nothing to do, and the journal gone.
    let outcome = sandbox.run("migrate-legacy twin --undo undo.json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert_eq!(tree(sandbox.path()), before);
    fs::rename(
        sandbox.path().join("group_plain"),
        sandbox.path().join("moved"),
    )
    .unwrap();
    let outcome = sandbox.run("migrate-legacy twin --undo undo.json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    succeeds(&sandbox.run("migrate-legacy moved --undo undo.json"));
    assert_eq!(
        tree(&sandbox.path().join("moved")),
        tree(&sandbox.path().join("twin"))
    );
}

#[test]
fn a_journal_inside_the_store_is_refused() {
    let sandbox = with_stores(&["group_plain"]);
    let before = tree(sandbox.path());
    let line =
        "migrate-legacy group_plain --in-place --journal group_plain/undo.json -q --format json";
    let outcome = sandbox.run(line);
    assert_ne!(outcome.exit, Some(0));
    insta::assert_snapshot!(outcome, @r#"
    exit: 2
    --- stderr
    error: the undo journal "[FOLDER]/group_plain/undo.json" would lie inside "[FOLDER]/group_plain"
    hint: pass --journal PATH with a path outside the store
    "#);
    assert_eq!(tree(sandbox.path()), before);
}
