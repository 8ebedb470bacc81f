//! `zarrpack decode` of stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use zarrs::array::ArrayBytes;
use zarrs::filesystem::FilesystemStore;

use crate::harness::Sandbox;
use crate::stores::{succeeds, tree};

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores")
}

/// A sandbox with a copy of a store of the test data, called `in.zarr`.
fn with_store(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    copy_tree(&testdata().join(name), &sandbox.path().join("in.zarr"));
    sandbox
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

/// The stores of the test data, each with the paths of its arrays and the files that hold their values.
fn stores() -> Vec<(String, Vec<(String, PathBuf)>)> {
    let mut stores = Vec::new();
    for entry in fs::read_dir(testdata()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let notes: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let name = notes["store"].as_str().unwrap().to_owned();
        let folder = testdata().join(format!("{name}.expected"));
        let expected = notes["expected"].as_object().into_iter().flatten();
        let arrays = expected.filter_map(|(path, file)| {
            let file = folder.join(file.as_str()?);
            (!path.starts_with("cf_decoded") && file.exists()).then(|| (path.clone(), file))
        });
        stores.push((name.clone(), arrays.collect()));
    }
    stores.sort();
    stores
}

/// The elements of a `.npy` file, little-endian, behind the header as text.
fn npy(path: &Path) -> (String, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..end].to_vec()).unwrap();
    let size: usize = header.split("'descr': '").nth(1).unwrap()[2..3]
        .parse()
        .unwrap();
    let mut data = bytes[end..].to_vec();
    if header.contains("'>") {
        data.chunks_mut(size).for_each(<[u8]>::reverse);
    }
    let header = header.replace("'>", "'<");
    if header.contains("'fortran_order': True") {
        data = in_c_order(&data, &shape_of(&header), size);
    }
    let header = header.replace("'fortran_order': True", "'fortran_order': False");
    (header.trim_end().to_owned(), data)
}

fn shape_of(header: &str) -> Vec<usize> {
    let shape = header
        .split("'shape': (")
        .nth(1)
        .unwrap()
        .split(')')
        .next()
        .unwrap();
    let lengths = shape
        .split(',')
        .map(str::trim)
        .filter(|length| !length.is_empty());
    lengths.map(|length| length.parse().unwrap()).collect()
}

/// Elements whose first index runs fastest, put so that the last one does.
fn in_c_order(data: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut ordered = Vec::with_capacity(data.len());
    for n in 0..shape.iter().product() {
        let (mut rest, mut place) = (n, 0);
        for (axis, length) in shape.iter().enumerate().rev() {
            place += rest % length * shape[..axis].iter().product::<usize>();
            rest /= length;
        }
        ordered.extend(&data[place * size..][..size]);
    }
    ordered
}

#[test]
fn every_reference_array_comes_back_bit_for_bit() {
    let mut compared = 0;
    for (name, arrays) in stores() {
        // One cannot be read, and of the other zarr-python's own reading is wrong: see tests/stores.rs.
        if ["fso_scale0", "fso_transpose_after"].contains(&name.as_str()) {
            continue;
        }
        let sandbox = with_store(&name);
        succeeds(&sandbox.run("decode in.zarr plain.zarr -q"));
        for (path, expected) in arrays {
            for store in ["in.zarr", "plain.zarr"] {
                let mut arguments = vec!["decode", store, "out.npy", "--overwrite", "-qq"];
                if path != "/" {
                    arguments.extend(["--array", &path]);
                }
                succeeds(&sandbox.run_with(arguments, ""));
                let (got, expected) = (npy(&sandbox.path().join("out.npy")), npy(&expected));
                assert_eq!(got.0, expected.0, "{name} {path} {store}");
                let same = got.1 == expected.1 || only_nans_differ(&got, &expected);
                assert!(same, "{name} {path} {store}");
                if store == "plain.zarr" {
                    let theirs = by_zarrs(&sandbox.path().join(store), &path);
                    assert_eq!(theirs, got.1, "{name} {path} as zarrs reads it");
                }
            }
            compared += 1;
        }
    }
    assert!(compared > 50, "only {compared} arrays");
}

/// The elements of an array of a plain store as zarrs reads them, without any codec of this project.
fn by_zarrs(store: &Path, path: &str) -> Vec<u8> {
    let storage = std::sync::Arc::new(FilesystemStore::new(store).unwrap());
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    };
    let array = zarrs::array::Array::open(storage, &path).unwrap();
    let all = array.subset_all();
    let bytes: ArrayBytes<'_> = array.retrieve_array_subset(&all).unwrap();
    bytes.into_fixed().unwrap().into_owned()
}

/// Whether two arrays of floats differ in nothing but the bits of NaNs.
fn only_nans_differ(a: &(String, Vec<u8>), b: &(String, Vec<u8>)) -> bool {
    let equal = |a: &[u8], b: &[u8]| match a.len() {
        4 => {
            let of = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
            of(a).is_nan() && of(b).is_nan()
        }
        8 => {
            let of = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
            of(a).is_nan() && of(b).is_nan()
        }
        _ => false,
    };
    let size = match a.0.split("'<").nth(1).unwrap().split('\'').next().unwrap() {
        "f4" => 4,
        "f8" => 8,
        _ => return false,
    };
    let mut pairs = a.1.chunks(size).zip(b.1.chunks(size));
    a.1.len() == b.1.len() && pairs.all(|(a, b)| a == b || equal(a, b))
}

#[test]
fn a_plain_store_keeps_everything_but_the_packing() {
    let sandbox = with_store("group_consolidated");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr"), @"
    exit: 0
    --- stdout
    decode  model/pressure float64 [10]
    copy    model/run1/mask
    decode  model/run1/temp float32 [8, 10]
    copy    time
    ");
    let (before, after) = (
        tree(&sandbox.path().join("in.zarr")),
        tree(&sandbox.path().join("out.zarr")),
    );
    let names = |tree: &BTreeMap<PathBuf, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    for (path, bytes) in &after {
        if path.ends_with("zarr.json") {
            let text = std::str::from_utf8(bytes).unwrap();
            let document: Value = serde_json::from_str(text).unwrap();
            assert!(
                !text.contains("fixedscaleoffset") && !text.contains("cast_value"),
                "{text}"
            );
            let original: Value = serde_json::from_slice(&before[path]).unwrap();
            for member in [
                "shape",
                "data_type",
                "fill_value",
                "attributes",
                "chunk_grid",
                "dimension_names",
            ] {
                assert_eq!(
                    document.get(member),
                    original.get(member),
                    "{}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn threads_and_memory_do_not_change_a_byte() {
    for name in ["group_plain", "so_cv_sharded_partial", "fso_f4_i2_blosc_3d"] {
        let sandbox = with_store(name);
        let mut first = None;
        for (n, flags) in ["-j1", "-j2", "-j8", "-j8 --memory 1KiB"]
            .into_iter()
            .enumerate()
        {
            succeeds(&sandbox.run(&format!("decode in.zarr out{n}.zarr -qq {flags}")));
            let files = tree(&sandbox.path().join(format!("out{n}.zarr")));
            assert_eq!(*first.get_or_insert(files.clone()), files, "{name} {flags}");
        }
    }
}

#[test]
fn values_are_printed() {
    let sandbox = with_store("so_example3_nan");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --region 0:4"), @r#"
    exit: 0
    --- stdout
    1620.0
    2090.0
    2140.0
    "NaN"
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --region 2:4 --format csv"), @"
    exit: 0
    --- stdout
    dim_0,value
    2,2140.0
    3,NaN
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --region=-1 --bits"), @r#"
    exit: 0
    --- stdout
    "0x7ff8000000000000"
    "#);
    let raw = sandbox.run("decode in.zarr - --region 0:0 --format raw");
    assert_eq!((raw.exit, raw.stdout.as_str()), (Some(0), ""));
    let sandbox = with_store("fso_f4_u2_zstd_2d");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --region=1,:3 --format csv"), @"
    exit: 0
    --- stdout
    dim_0,dim_1,value
    1,0,261.73
    1,1,272.53
    1,2,270.57
    ");
}

#[test]
fn a_region_becomes_a_smaller_file() {
    let sandbox = with_store("fso_f4_u2_zstd_2d");
    succeeds(&sandbox.run("decode in.zarr all.npy"));
    succeeds(&sandbox.run("decode in.zarr part.npy --region 1:3,2"));
    let (header, part) = npy(&sandbox.path().join("part.npy"));
    assert!(header.contains("'shape': (2,)"), "{header}");
    let (header, all) = npy(&sandbox.path().join("all.npy"));
    let columns = shape_of(&header)[1];
    let element = |row: usize| &all[(row * columns + 2) * 4..][..4];
    assert_eq!(part, [element(1), element(2)].concat());
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    let sandbox = with_store("group_plain");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.npy"), @"
    exit: 2
    --- stderr
    error: this takes one array, and 4 are selected
      - model/pressure
      - model/run1/mask
      - model/run1/temp
      - time
    hint: choose one with --array
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array nothing"), @r#"
    exit: 2
    --- stderr
    error: no array matches --array "nothing"
    hint: a pattern is held against the whole path, such as "model/temp"; "**/temp" finds it at any depth
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array time --region 1,2"), @"
    exit: 2
    --- stderr
    error: --region: the region has 2 dimensions, the array 1
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array time --region 99"), @"
    exit: 2
    --- stderr
    error: --region: 99 is out of bounds for dimension 0, whose length is 5
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array time --region 1:2:3"), @r#"
    exit: 2
    --- stderr
    error: invalid value '1:2:3' for '--region <REGION>': "2:3" is neither an index nor START:STOP

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --region 1"), @"
    exit: 2
    --- stderr
    error: --region cannot be used for a store
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --format csv"), @"
    exit: 2
    --- stderr
    error: --format jsonl, csv or raw cannot be used for a store
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --dtype int8 --codecs []"), @"
    exit: 2
    --- stderr
    error: --dtype and --codecs cannot be used for a store
    ");
    insta::assert_snapshot!(sandbox.run("decode - out.zarr"), @"
    exit: 2
    --- stderr
    error: INPUT is - only where OUTPUT is - too
    hint: decode - - transforms a stream of scalars
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr in.zarr"), @r#"
    exit: 2
    --- stderr
    error: input and output are the same place, "in.zarr"
    hint: links and ".." were resolved; write to a directory beside the input
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr in.zarr/model/out.zarr"), @r#"
    exit: 2
    --- stderr
    error: "in.zarr/model/out.zarr" lies inside "in.zarr": input and output must be apart
    hint: links and ".." were resolved; write to a directory beside the input
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr/model ."), @r#"
    exit: 2
    --- stderr
    error: "in.zarr/model" lies inside ".": input and output must be apart
    hint: links and ".." were resolved; write to a directory beside the input
    "#);
    insta::assert_snapshot!(sandbox.run("decode nothing.zarr out.zarr"), @r#"
    exit: 3
    --- stderr
    error: "nothing.zarr" does not exist
    "#);
    assert!(!sandbox.path().join("out.zarr").exists());
}

#[test]
fn a_folder_without_zarr_is_said_to_be_one() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("empty")).unwrap();
    insta::assert_snapshot!(sandbox.run("decode empty out.zarr"), @r#"
    exit: 3
    --- stderr
    error: no Zarr array or group in "empty"
    hint: INPUT is a directory with zarr.json, .zarray or .zgroup, or one above it
    "#);
}

#[test]
fn an_existing_output_is_replaced_only_when_asked() {
    let sandbox = with_store("so_example3_nan");
    sandbox.file("out.npy", b"\x93NUMPY precious");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.npy"), @r#"
    exit: 2
    --- stderr
    error: "[FOLDER]/out.npy" exists
    hint: choose another place, or pass --overwrite to replace it
    "#);
    assert_eq!(
        fs::read(sandbox.path().join("out.npy")).unwrap(),
        b"\x93NUMPY precious"
    );
    succeeds(&sandbox.run("decode in.zarr out.npy --overwrite"));
    assert!(
        fs::read(sandbox.path().join("out.npy"))
            .unwrap()
            .starts_with(b"\x93NUMPY")
    );
}

#[test]
fn a_dry_run_touches_nothing() {
    let sandbox = with_store("group_plain");
    let before = tree(sandbox.path());
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --dry-run"), @"
    exit: 0
    --- stdout
    decode  model/pressure float64 [10]
    copy    model/run1/mask
    decode  model/run1/temp float32 [8, 10]
    copy    time
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.npy --dry-run --array time"), @r#"
    exit: 0
    --- stdout
    would write 40 bytes of int64 to "out.npy"
    "#);
    assert_eq!(tree(sandbox.path()), before);
}

#[test]
fn the_report_is_for_programs_too() {
    let sandbox = with_store("v2_c_zlib");
    let outcome = sandbox.run("decode in.zarr out.zarr --format json");
    succeeds(&outcome);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["schema"], "zarrpack.decode/1");
    assert_eq!(report["arrays"][0]["action"], "decode");
    assert_eq!(report["arrays"][0]["replaced"], serde_json::json!(["zlib"]));
}

#[test]
fn a_chunk_that_does_not_decode_leaves_no_output() {
    let sandbox = with_store("fso_f4_u2_zstd_2d");
    let chunk = sandbox.path().join("in.zarr/c/0/0");
    let bytes = fs::read(&chunk).unwrap();
    fs::write(&chunk, &bytes[..bytes.len() / 2]).unwrap();
    for output in ["out.npy", "out.zarr"] {
        let outcome = sandbox.run(&format!("decode in.zarr {output}"));
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert!(outcome.stderr.contains("c/0/0"), "{outcome}");
        assert!(!sandbox.path().join(output).exists());
    }
    assert_eq!(sandbox.run("decode in.zarr -").exit, Some(1));
    // What cannot be read at all is another matter.
    fs::remove_file(&chunk).unwrap();
    fs::create_dir(&chunk).unwrap();
    assert_eq!(sandbox.run("decode in.zarr out.npy").exit, Some(3));
    assert_eq!(
        fs::read_dir(sandbox.path()).unwrap().count(),
        1,
        "something is left over"
    );
}

#[test]
fn an_array_that_cannot_be_decoded_can_be_left_out() {
    let sandbox = with_store("group_consolidated");
    let broken = tree(&sandbox.path().join("in.zarr"));
    let (path, text) = broken
        .iter()
        .find(|(_, text)| {
            String::from_utf8_lossy(text).contains("\"node_type\": \"array\"")
                && String::from_utf8_lossy(text).contains("fixedscaleoffset")
        })
        .unwrap();
    let text =
        String::from_utf8_lossy(text).replace("numcodecs.fixedscaleoffset", "numcodecs.nonsense");
    fs::write(sandbox.path().join("in.zarr").join(path), text).unwrap();
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr"), @r#"
    exit: 0
    --- stdout
    copy    model/pressure
    copy    model/run1/mask
    decode  model/run1/temp float32 [8, 10]
    copy    time

    --- stderr
    warning: model/pressure: copied as it is, though it cannot be decoded here: zarr.json, line 22 column 5, /codecs/0: the codec "numcodecs.nonsense", which is not known
    "#);
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --skip-undecodable"), @r#"
    exit: 2
    --- stderr
    error: "[FOLDER]/out.zarr" exists
    hint: choose another place, or pass --overwrite to replace it
    "#);
}

#[test]
fn a_broken_document_is_named_with_line_and_member() {
    let sandbox = with_store("so_example3_nan");
    let path = sandbox.path().join("in.zarr/zarr.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"shape\"", "\"shapes\"")).unwrap();
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr"), @r#"
    exit: 1
    --- stderr
    error: 2 problems with metadata
      - /: zarr.json, line 1 column 1, /shape: expected a member "shape", found nothing
      - /: zarr.json, line 2 column 3, /shapes: expected only known members, or an object with "must_understand": false, found an unknown member
    hint: --skip-undecodable goes on without what cannot be read
    "#);
    fs::write(&path, &text[..100]).unwrap();
    insta::assert_snapshot!(sandbox.run("decode in.zarr -"), @"
    exit: 1
    --- stderr
    error: /: zarr.json is not JSON: the string that starts here does not end at line 8 column 5
    ");
}

#[test]
fn bare_nan_in_attributes_is_no_reason_to_keep_the_data() {
    let sandbox = with_store("so_example3_nan");
    let path = sandbox.path().join("in.zarr/zarr.json");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace(
        "\"attributes\": {}",
        "\"attributes\": {\"missing_value\": NaN, \"note\": \"NaN\"}",
    );
    fs::write(&path, &text).unwrap();
    succeeds(&sandbox.run("decode in.zarr out.zarr"));
    let written = fs::read_to_string(sandbox.path().join("out.zarr/zarr.json")).unwrap();
    let document: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(document["attributes"]["missing_value"], "NaN");
}

/// Changes the text of the document of the store in a sandbox.
fn edit(sandbox: &Sandbox, document: &str, from: &str, to: &str) {
    let path = sandbox.path().join("in.zarr").join(document);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_chunk_that_has_a_name_and_cannot_be_read_is_not_missing() {
    for (n, kind) in ["link", "pipe", "device"].into_iter().enumerate() {
        let sandbox = with_store("fso_f4_u2_zstd_2d");
        let chunk = sandbox.path().join("in.zarr/c/0/0");
        fs::remove_file(&chunk).unwrap();
        match n {
            0 => std::os::unix::fs::symlink("/nowhere/at/all", &chunk).unwrap(),
            1 => assert!(
                std::process::Command::new("mkfifo")
                    .arg(&chunk)
                    .status()
                    .unwrap()
                    .success()
            ),
            _ => std::os::unix::fs::symlink("/dev/zero", &chunk).unwrap(),
        }
        for output in ["out.npy", "out.zarr", "-"] {
            let outcome = sandbox.run(&format!("decode in.zarr {output}"));
            assert_eq!(outcome.exit, Some(3), "{kind} {output} {outcome}");
        }
        assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 1);
    }
}

#[test]
fn overwriting_takes_away_nothing_but_zarr_and_npy() {
    let sandbox = with_store("so_example3_nan");
    for (folder, file, text) in [
        ("a", "zarr.json", "{}"),
        ("b", ".zattrs", "{}"),
        ("c", "notes", "keep"),
    ] {
        fs::create_dir(sandbox.path().join(folder)).unwrap();
        sandbox.file(&format!("{folder}/{file}"), text);
        sandbox.file(&format!("{folder}/keep"), "precious");
        let outcome = sandbox.run(&format!("decode in.zarr {folder} --overwrite"));
        assert_eq!(outcome.exit, Some(2), "{outcome}");
        assert_eq!(
            fs::read(sandbox.path().join(folder).join("keep")).unwrap(),
            b"precious"
        );
    }
    sandbox.file("note.npy", "precious");
    assert_eq!(
        sandbox.run("decode in.zarr note.npy --overwrite").exit,
        Some(2)
    );
    succeeds(&sandbox.run("decode in.zarr plain.zarr"));
    succeeds(&sandbox.run("decode in.zarr plain.zarr --overwrite"));
}

#[test]
fn members_that_stand_twice_are_refused() {
    let sandbox = with_store("so_example3_nan");
    edit(
        &sandbox,
        "zarr.json",
        "\"fill_value\":",
        "\"fill_value\": 0, \"fill_value\":",
    );
    let outcome = sandbox.run("decode in.zarr -");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert!(
        outcome
            .stderr
            .contains("/fill_value: expected each member once"),
        "{outcome}"
    );
}

#[test]
fn attributes_may_hold_any_json() {
    let sandbox = with_store("so_example3_nan");
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let attributes = format!("\"attributes\": {{\"big\": 1e999, \"deep\": {deep}}}");
    edit(&sandbox, "zarr.json", "\"attributes\": {}", &attributes);
    succeeds(&sandbox.run("decode in.zarr out.zarr"));
    let written = fs::read_to_string(sandbox.path().join("out.zarr/zarr.json")).unwrap();
    assert!(
        written.contains("1e999") && written.contains(&deep),
        "{written}"
    );
}

#[cfg(unix)]
#[test]
fn links_do_not_bring_files_from_elsewhere() {
    let sandbox = with_store("group_plain");
    let secret = sandbox.file("secret", "keep this to yourself");
    std::os::unix::fs::symlink(secret, sandbox.path().join("in.zarr/time/c/secret")).unwrap();
    let outcome = sandbox.run("decode in.zarr out.zarr");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert!(!sandbox.path().join("out.zarr").exists());
}

#[test]
fn a_chunk_length_of_zero_is_refused() {
    let sandbox = with_store("so_example3_nan");
    let path = sandbox.path().join("in.zarr/zarr.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document["chunk_grid"]["configuration"]["chunk_shape"] = serde_json::json!([0]);
    fs::write(&path, document.to_string()).unwrap();
    let outcome = sandbox.run("decode in.zarr -");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert!(
        outcome
            .stderr
            .contains("/chunk_grid/configuration/chunk_shape/0"),
        "{outcome}"
    );
}

#[test]
fn copies_of_what_is_not_there_are_left_out() {
    let sandbox = with_store("group_consolidated");
    fs::remove_file(sandbox.path().join("in.zarr/time/zarr.json")).unwrap();
    let outcome = sandbox.run("decode in.zarr out.zarr");
    succeeds(&outcome);
    assert!(
        outcome
            .stderr
            .contains("time: listed by consolidated metadata"),
        "{outcome}"
    );
    let root = fs::read_to_string(sandbox.path().join("out.zarr/zarr.json")).unwrap();
    assert!(!root.contains("\"time\""), "{root}");
}

#[test]
fn what_is_broken_elsewhere_is_a_warning() {
    let sandbox = with_store("group_plain");
    sandbox.file("in.zarr/model/zarr.json", "{");
    let outcome = sandbox.run("decode in.zarr - --array time");
    succeeds(&outcome);
    assert!(
        outcome
            .stderr
            .starts_with("warning: model: zarr.json is not JSON"),
        "{outcome}"
    );
}

#[test]
fn an_array_that_is_the_root_is_not_skipped() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("in.zarr")).unwrap();
    let document = serde_json::json!({
        "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "scale_offset", "configuration": {"scale": 0.25}}, {"name": "bytes", "configuration": {"endian": "little"}}],
    });
    sandbox.file("in.zarr/zarr.json", document.to_string());
    insta::assert_snapshot!(sandbox.run("decode in.zarr out.zarr --skip-undecodable"), @"
    exit: 1
    --- stderr
    warning: /: 0.25 is not written as an integer, as int16 needs [scale-offset/scalar]
    error: 1 array cannot be decoded
      - / cannot be decoded
      - zarr.json, line 1 column 251, /codecs/0/configuration/scale: 0.25 is not written as an integer, as int16 needs; expected an integer from -32768 to 32767 [scale-offset/scalar]
    ");
    assert!(!sandbox.path().join("out.zarr").exists());
}
