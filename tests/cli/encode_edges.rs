//! `zarrpack encode` and `decode` at their edges: chunks that are no files, groups around OUTPUT, reports, signals, sizes beyond
//! reason, and shards behind or around other codecs.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::stores::{Array, succeeds, tree};

fn floats(values: &[f32]) -> Vec<u8> {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    bytes.collect()
}

/// An array of four rows of four in chunks of two by two, of which all but the first are stored.
fn squares(keys: &[&str; 3]) -> Array {
    let array = Array::new("float32", &[4, 4]).chunks(&[2, 2]);
    let bytes = floats(&[1.0, 2.0, 3.0, 4.0]);
    keys.iter()
        .fold(array, |array, key| array.chunk(key, bytes.clone()))
}

/// A store of one array with these values.
fn with(values: &[f32]) -> Sandbox {
    let sandbox = Sandbox::new();
    Array::new("float32", &[values.len() as u64])
        .chunk("c/0", floats(values))
        .write(&sandbox, "in");
    sandbox
}

fn read(sandbox: &Sandbox, path: &str) -> Value {
    let text = fs::read(sandbox.path().join(path)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// The values of a store, as lines.
fn values(sandbox: &Sandbox, store: &str) -> String {
    let outcome = sandbox.run(&format!("decode {store} -"));
    succeeds(&outcome);
    outcome.stdout
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_directory_in_the_place_of_a_chunk_is_no_missing_chunk() {
    let sandbox = Sandbox::new();
    squares(&["c/0/1", "c/1/0", "c/1/1"]).write(&sandbox, "in");
    succeeds(&sandbox.run("encode in missing --scale 10 --to int16"));
    fs::create_dir(sandbox.path().join("in/c/0/0")).unwrap();
    insta::assert_snapshot!(sandbox.run("encode in out --scale 10 --to int16"), @r#"
    exit: 3
    --- stderr
    error: "[FOLDER]/in/c/0/0" is a directory, and a chunk of this name is a file
    hint: readers take the fill value for chunks there: restore them, or move it away if they are to be missing
    "#);
    for output in ["out", "out.npy", "-"] {
        let outcome = sandbox.run(&format!("decode in {output}"));
        assert_eq!(outcome.exit, Some(3), "{output}: {outcome}");
    }
    assert_eq!(names(&sandbox), ["in", "missing"]);
}

#[test]
fn a_file_in_the_place_of_a_directory_of_chunks_hides_no_chunks() {
    let sandbox = Sandbox::new();
    for place in ["c/0", "c"] {
        Array::new("float32", &[4, 4])
            .chunks(&[2, 2])
            .chunk(place, "x")
            .write(&sandbox, "in");
        for command in [
            "encode in out --scale 10 --to int16",
            "decode in out",
            "decode in -",
        ] {
            let outcome = sandbox.run(command);
            assert_eq!(outcome.exit, Some(3), "{command}: {outcome}");
            assert!(outcome.stderr.contains("is a file"), "{outcome}");
        }
        fs::remove_dir_all(sandbox.path().join("in")).unwrap();
    }
    assert!(names(&sandbox).is_empty());
}

#[test]
fn keys_of_v2_are_no_directories_and_nodes_beside_them_do_not_matter() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path().join("g");
    fs::create_dir_all(folder.join("0")).unwrap();
    fs::write(folder.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let document = json!({
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "compressor": null, "filters": null,
        "fill_value": 0, "order": "C",
    });
    fs::write(folder.join("0/.zarray"), document.to_string()).unwrap();
    fs::write(folder.join("0/1"), floats(&[1.0, 2.0])).unwrap();
    // Beyond the end of the array, and no chunk of it.
    fs::create_dir(folder.join("0/2")).unwrap();
    succeeds(&sandbox.run("encode g out --scale 10 --to int16"));
    assert_eq!(values(&sandbox, "out/0"), "0.0\n0.0\n1.0\n2.0\n");
    fs::create_dir(folder.join("0/0")).unwrap();
    let outcome = sandbox.run("encode g other --scale 10 --to int16");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    assert_eq!(sandbox.run("decode g other").exit, Some(3));
}

/// A group of one array, with consolidated metadata.
fn consolidated() -> Sandbox {
    let sandbox = Sandbox::new();
    Array::new("float32", &[2])
        .chunk("c/0", floats(&[1.0, 2.0]))
        .write(&sandbox, "group/a");
    let copy = read(&sandbox, "group/a/zarr.json");
    let group = json!({
        "zarr_format": 3, "node_type": "group", "attributes": {},
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {"a": copy}},
    });
    fs::write(sandbox.path().join("group/zarr.json"), group.to_string()).unwrap();
    Array::new("float32", &[2])
        .chunk("c/0", floats(&[3.0, 4.0]))
        .write(&sandbox, "in");
    sandbox
}

#[test]
fn an_output_in_a_consolidated_group_is_refused() {
    let sandbox = consolidated();
    let before = tree(sandbox.path());
    insta::assert_snapshot!(sandbox.run("encode in group/a --scale 100 --to int32 --overwrite"), @r#"
    exit: 2
    --- stderr
    error: "group/a" lies in the group "[FOLDER]/group", whose zarr.json holds a copy of the metadata of everything in it, and would not be true of "a" any more
    hint: write to a place outside the group, or remove its consolidated metadata first and consolidate it again afterwards
    "#);
    for command in [
        "encode in group/b --scale 100 --to int32",
        "decode in group/b",
        "decode in group/a --overwrite",
    ] {
        let outcome = sandbox.run(command);
        assert_eq!(outcome.exit, Some(2), "{command}: {outcome}");
    }
    assert_eq!(tree(sandbox.path()), before);
    // Without copies there is nothing to go stale.
    let group = json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata": null});
    fs::write(sandbox.path().join("group/zarr.json"), group.to_string()).unwrap();
    succeeds(&sandbox.run("encode in group/b --scale 100 --to int32"));
    succeeds(&sandbox.run("decode in group/c"));
    // Nor for what is no part of the hierarchy.
    let sandbox = consolidated();
    succeeds(&sandbox.run("decode in group/values.npy"));
}

#[test]
fn copies_of_v2_count_as_well() {
    let sandbox = with(&[1.0, 2.0]);
    fs::create_dir_all(sandbox.path().join("group/sub")).unwrap();
    for (name, text) in [
        (".zgroup", r#"{"zarr_format": 2}"#),
        ("sub/.zgroup", r#"{"zarr_format": 2}"#),
        (
            ".zmetadata",
            r#"{"zarr_consolidated_format": 1, "metadata": {}}"#,
        ),
    ] {
        fs::write(sandbox.path().join("group").join(name), text).unwrap();
    }
    let outcome = sandbox.run("encode in group/sub/a --scale 100 --to int32");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert!(outcome.stderr.contains(".zmetadata"), "{outcome}");
}

const ENCODE: &str = "encode in out --scale 10 --to int16";

#[test]
fn a_report_replaces_nothing_unless_asked_for_and_then_only_a_report() {
    let sandbox = with(&[1.0, 2.0]);
    sandbox.file("notes", "precious");
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report notes")), @r#"
    exit: 2
    --- stderr
    error: --report: "[FOLDER]/notes" exists
    hint: choose another place, or pass --overwrite to replace it
    "#);
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report notes --overwrite")), @r#"
    exit: 2
    --- stderr
    error: "notes" is no report, and is not replaced by one
    hint: remove it first, or choose another name
    "#);
    assert_eq!(names(&sandbox), ["in", "notes"]);
    succeeds(&sandbox.run(&format!("{ENCODE} --report r.json")));
    succeeds(&sandbox.run(&format!("{ENCODE} --report r.json --overwrite")));
    assert_eq!(names(&sandbox), ["in", "notes", "out", "r.json"]);
}

#[test]
fn a_report_is_apart_from_all_that_is_read_and_written() {
    let sandbox = with(&[1.0, 2.0]);
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report out/r.json")), @r#"
    exit: 2
    --- stderr
    error: --report "out/r.json" must be apart from OUTPUT
      - "out/r.json" lies inside "out"
    hint: write the report to a file beside it
    "#);
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report out")), @r#"
    exit: 2
    --- stderr
    error: --report "out" must be apart from OUTPUT
    hint: write the report to a file beside it
    "#);
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report in/r.json")), @r#"
    exit: 2
    --- stderr
    error: --report "in/r.json" must be apart from INPUT
      - "in/r.json" lies inside "in"
    hint: write the report to a file beside it
    "#);
    sandbox.file("plan.json", "{}");
    let outcome = sandbox.run("encode in out --params plan.json --report plan.json --overwrite");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("--params"), "{outcome}");
    let outcome = sandbox.run(&format!("{ENCODE} --report r.json --dry-run"));
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert_eq!(names(&sandbox), ["in", "plan.json"]);
}

#[cfg(target_os = "linux")]
#[test]
fn what_keeps_a_report_from_being_written_is_said_of_the_report() {
    let sandbox = with(&[1.0, 2.0]);
    insta::assert_snapshot!(sandbox.run(&format!("{ENCODE} --report /dev/full --overwrite")), @r#"
    exit: 2
    --- stderr
    error: --report: "/dev/full" exists, and is not what would be written there
    hint: only a Zarr node, an empty directory or a file of the same sort is replaced
    "#);
}

#[test]
fn a_report_tells_of_every_refusal() {
    let sandbox = with(&[0.0, 1.0, 2.0, 3.0, f32::NAN]);
    let outcome = sandbox.run("encode in out --to uint2 --fill-value NaN --report r.json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    let report = read(&sandbox, "r.json");
    assert_eq!(report["written"], false);
    assert_eq!(report["arrays"][0]["action"], "refuse");
    let reason = report["arrays"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("all codes of uint2 are used"), "{reason}");
    assert_eq!(names(&sandbox), ["in", "r.json"]);
}

#[test]
fn bytes_beyond_those_that_are_due_are_told_without_a_wrong_figure() {
    let sandbox = Sandbox::new();
    let run = |bytes: usize| {
        let line = "encode - out --dtype float32 --shape 4 --scale 10 --to int16";
        sandbox.run_with(line.split_whitespace(), vec![0; bytes])
    };
    insta::assert_snapshot!(run(32), @r"
    exit: 1
    --- stderr
    error: standard input has more than the 16 bytes that are due: [4] elements of 4 bytes
    hint: --shape and --dtype must be those of the bytes; headers must be taken off
    ");
    insta::assert_snapshot!(run(12), @r"
    exit: 1
    --- stderr
    error: standard input has only 12 bytes where 16 are due: [4] elements of 4 bytes
    hint: --shape and --dtype must be those of the bytes; headers must be taken off
    ");
    assert!(names(&sandbox).is_empty());
}

#[test]
fn what_cannot_be_read_is_not_called_broken() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path().join("in/zarr.json")).unwrap();
    let outcome = sandbox.run(ENCODE);
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    assert!(!outcome.stderr.contains("mended"), "{outcome}");
}

#[test]
fn chunks_that_no_machine_holds_are_refused_before_anything_is_written() {
    let sandbox = Sandbox::new();
    squares(&["c/0/1", "c/1/0", "c/1/1"]).write(&sandbox, "in");
    insta::assert_snapshot!(sandbox.run("encode in out --to float64 --chunks 1099511627776,1 --memory 1GiB"), @r"
    exit: 2
    --- stderr
    error: /: to write a chunk of [1099511627776, 1] elements would take 30786325577728 bytes of memory, and 2147483648 are the most here
    hint: --chunks gives smaller ones; --memory grants more
    ");
    insta::assert_snapshot!(sandbox.run("encode in out --to float64 --shards 1099511627776,2 --memory 1GiB"), @r"
    exit: 2
    --- stderr
    error: /: to write the index of a shard of [1099511627776, 2] elements in chunks of [2, 2] would take 35184372088832 bytes of memory, and 2147483648 are the most here
    hint: --shards gives smaller ones; --memory grants more
    ");
    for cut in ["--chunks 68719476736,4", "--chunks 4,68719476736 --dry-run"] {
        let line = format!("encode in out --to float64 --memory 1GiB {cut}");
        assert_eq!(sandbox.run(&line).exit, Some(2), "{cut}");
    }
    Array::new("float32", &[4, 4])
        .chunks(&[1 << 40, 4])
        .write(&sandbox, "huge");
    let outcome = sandbox.run("encode huge out --scale 10 --to int16 --memory 1GiB");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    succeeds(&sandbox.run("encode huge small --scale 10 --to int16 --chunks 4,4"));
    assert_eq!(names(&sandbox), ["huge", "in", "small"]);
}

#[test]
fn the_plan_and_the_report_say_where_most_people_cannot_open_the_result() {
    let sandbox = with(&[1.0, 2.0]);
    let small = "encode in out --to int4 --dry-run";
    let outcome = sandbox.run(small);
    succeeds(&outcome);
    let line = outcome
        .stdout
        .lines()
        .find(|line| line.contains("readers:"));
    assert!(
        line.unwrap().contains("not by zarr-python 3.4"),
        "{outcome}"
    );
    for fill in ["0", "NaN"] {
        let outcome = sandbox.run(&format!("{ENCODE} --fill-value {fill} --dry-run"));
        succeeds(&outcome);
        assert!(!outcome.stdout.contains("readers:"), "{outcome}");
    }
    let outcome = sandbox.run(&format!("{ENCODE} --format json"));
    succeeds(&outcome);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let readers = report["arrays"][0]["readers"].as_array().unwrap();
    let first = &readers[0];
    assert!(
        first["name"]
            .as_str()
            .unwrap()
            .starts_with("zarr-python 3.4")
    );
    assert_eq!(first["opens"], true);
}

/// The codecs of shards of pieces of these lengths.
fn sharding(lengths: &[u64], codecs: Value) -> Value {
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": lengths, "codecs": codecs,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }})
}

/// A shard of these pieces.
fn shard(pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = pieces.concat();
    let mut at = 0;
    for piece in pieces {
        bytes.extend(u64::to_le_bytes(at));
        bytes.extend((piece.len() as u64).to_le_bytes());
        at += piece.len() as u64;
    }
    bytes
}

fn plain() -> Value {
    json!([{"name": "bytes", "configuration": {"endian": "little"}}])
}

/// The names of the codecs of a chain, those of shards in brackets.
fn chain(codecs: &Value) -> String {
    let codecs = codecs.as_array().unwrap().iter();
    let names = codecs.map(|codec| {
        let name = codec["name"].as_str().unwrap();
        match name {
            "sharding_indexed" => {
                let configuration = &codec["configuration"];
                let lengths = &configuration["chunk_shape"];
                format!("{lengths}({})", chain(&configuration["codecs"]))
            }
            name => name.to_owned(),
        }
    });
    names.collect::<Vec<_>>().join(" ")
}

/// Encodes an array in several ways, of which each must leave the values as they are and give these chunks and codecs.
fn cuts(array: &Array, expected: &[(&str, Value, &str)]) {
    let sandbox = Sandbox::new();
    array.write(&sandbox, "in");
    let before = values(&sandbox, "in");
    for (n, (flags, grid, codecs)) in expected.iter().enumerate() {
        let outcome = sandbox.run(&format!("encode in out{n} --to int16 {flags}"));
        assert_eq!(outcome.exit, Some(0), "{flags}: {outcome}");
        assert_eq!(values(&sandbox, &format!("out{n}")), before, "{flags}");
        let document = read(&sandbox, &format!("out{n}/zarr.json"));
        assert_eq!(
            document["chunk_grid"]["configuration"]["chunk_shape"], *grid,
            "{flags}"
        );
        assert_eq!(chain(&document["codecs"]), *codecs, "{flags}");
    }
}

const EIGHT: [f32; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

#[test]
fn shards_with_a_checksum_behind_them_are_cut_as_asked_for() {
    let mut bytes = shard(&[floats(&EIGHT[..4]), floats(&EIGHT[4..])]);
    bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
    let array = Array::new("float32", &[8])
        .codecs(json!([sharding(&[4], plain()), {"name": "crc32c"}]))
        .chunk("c/0", bytes);
    cuts(
        &array,
        &[
            ("", json!([8]), "[4](cast_value bytes) crc32c"),
            ("--shards none", json!([4]), "cast_value bytes crc32c"),
            ("--chunks 2", json!([8]), "[2](cast_value bytes) crc32c"),
            (
                "--chunks 3 --shards none",
                json!([3]),
                "cast_value bytes crc32c",
            ),
            ("--shards 16", json!([16]), "[4](cast_value bytes) crc32c"),
        ],
    );
}

#[test]
fn shards_in_shards_are_cut_as_asked_for() {
    let half = |values: &[f32]| shard(&[floats(&values[..2]), floats(&values[2..])]);
    let array = Array::new("float32", &[8])
        .codecs(json!([sharding(&[4], json!([sharding(&[2], plain())]))]))
        .chunk("c/0", shard(&[half(&EIGHT[..4]), half(&EIGHT[4..])]));
    cuts(
        &array,
        &[
            ("", json!([8]), "[4]([2](cast_value bytes))"),
            ("--chunks 2 --shards 2", json!([2]), "[2](cast_value bytes)"),
            ("--chunks 3 --shards 6", json!([6]), "[3](cast_value bytes)"),
            ("--chunks 4", json!([8]), "[4](cast_value bytes)"),
            ("--shards 16", json!([16]), "[4]([2](cast_value bytes))"),
            ("--shards none", json!([2]), "cast_value bytes"),
        ],
    );
}

#[test]
fn a_transposition_before_shards_stays_and_lengths_follow_it() {
    // Rows of six, turned: pieces of three by two of the columns.
    let element = |row: usize, column: usize| (row * 6 + column) as f32;
    let piece = |column: usize, row: usize| {
        let places = (0..3).flat_map(|c| (0..2).map(move |r| (row + r, column + c)));
        floats(&places.map(|(r, c)| element(r, c)).collect::<Vec<_>>())
    };
    for order in [json!([1, 0]), json!("F")] {
        let turned = json!({"name": "transpose", "configuration": {"order": order}});
        let array = Array::new("float32", &[4, 6])
            .codecs(json!([turned, sharding(&[3, 2], plain())]))
            .chunk(
                "c/0/0",
                shard(&[piece(0, 0), piece(0, 2), piece(3, 0), piece(3, 2)]),
            );
        cuts(
            &array,
            &[
                ("", json!([4, 6]), "transpose [3,2](cast_value bytes)"),
                (
                    "--chunks 4,1",
                    json!([4, 6]),
                    "transpose [1,4](cast_value bytes)",
                ),
                ("--shards none", json!([2, 3]), "cast_value transpose bytes"),
                (
                    "--shards 2,6 --chunks 1,6",
                    json!([2, 6]),
                    "transpose [6,1](cast_value bytes)",
                ),
            ],
        );
    }
}

#[cfg(unix)]
mod signals {
    use std::fs::File;
    use std::io::Write;
    use std::process::{Child, Stdio};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// Waits until something is so.
    fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn send(child: &Child, signal: Signal) {
        let pid = i32::try_from(child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    const STREAM: &str = "encode - out --dtype float32 --shape 4 --scale 10 --to int16";

    fn begins_output(sandbox: &Sandbox) {
        wait("no output begun", || {
            let names = names(sandbox);
            names.iter().any(|name| name.contains("zarrpack-partial"))
        });
    }

    /// Whether this test was started with SIGHUP ignored, which those that it starts inherit.
    fn hanging_up_is_ignored() -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.is_none_or(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1)
    }

    #[test]
    fn the_first_signal_ends_waiting_for_a_pipe_and_leaves_nothing() {
        for (signal, exit) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            if signal == Signal::HUP && hanging_up_is_ignored() {
                continue;
            }
            let sandbox = Sandbox::new();
            let mut child = sandbox.start(STREAM, Stdio::piped());
            begins_output(&sandbox);
            let mut input = child.stdin.take().unwrap();
            input.write_all(&[0; 6]).unwrap();
            // Programs that run others hand on what the terminal has sent to all of them already.
            send(&child, signal);
            send(&child, signal);
            let outcome = sandbox.end(child);
            assert_eq!(outcome.exit, Some(exit), "{outcome}");
            assert!(names(&sandbox).is_empty(), "{:?}", names(&sandbox));
            drop(input);
        }
    }

    #[test]
    fn what_was_started_to_outlive_its_terminal_does() {
        let sandbox = Sandbox::new();
        let mut child = sandbox.start_without_hanging_up(STREAM);
        begins_output(&sandbox);
        send(&child, Signal::HUP);
        let mut input = child.stdin.take().unwrap();
        input.write_all(&floats(&EIGHT[..4])).unwrap();
        drop(input);
        let outcome = sandbox.end(child);
        assert_eq!(outcome.exit, Some(0), "{outcome}");
        assert_eq!(values(&sandbox, "out"), "0.0\n1.0\n2.0\n3.0\n");
    }

    #[test]
    fn a_signal_that_comes_once_output_is_in_place_changes_nothing() {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path().join("in")).unwrap();
        let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
        fs::write(sandbox.path().join("in/zarr.json"), group).unwrap();
        for n in 0..150 {
            Array::new("float32", &[2])
                .chunk("c/0", floats(&[1.0, 2.0]))
                .write(&sandbox, &format!("in/a{n}"));
        }
        // The report is longer than a pipe, so that the run does not end before it is read.
        let line = format!("{ENCODE} --format json --report r.json");
        let child = sandbox.start(&line, Stdio::null());
        wait("no report", || sandbox.path().join("r.json").exists());
        assert!(sandbox.path().join("out").exists());
        send(&child, Signal::TERM);
        let outcome = child.wait_with_output().unwrap();
        assert_eq!(outcome.status.code(), Some(0));
        let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
        assert_eq!(report["written"], true);
        assert_eq!(names(&sandbox), ["in", "out", "r.json"]);
    }

    #[test]
    fn a_report_does_not_replace_what_standard_input_reads() {
        let sandbox = Sandbox::new();
        for contents in [floats(&EIGHT[..4]), br#"{"schema": "zarrpack."#.to_vec()] {
            let path = sandbox.file("x.bin", &contents);
            for flags in ["", "--overwrite"] {
                let line = format!("{STREAM} --report ./x.bin {flags}");
                let child = sandbox.start(&line, File::open(&path).unwrap());
                let outcome = sandbox.end(child);
                assert_eq!(outcome.exit, Some(2), "{outcome}");
                assert!(
                    outcome.stderr.contains("is what standard input reads"),
                    "{outcome}"
                );
                assert_eq!(fs::read(&path).unwrap(), contents);
            }
        }
        assert_eq!(names(&sandbox), ["x.bin"]);
    }
}
