//! `migrate-legacy --in-place`, the program itself, killed or asked to end at random moments: afterwards every document parses
//! and is wholly old or wholly new, the next run completes, and `--undo` restores every byte.
//!
//! `tests/journal_kill.rs` does the same to the library alone, with phases that it is told of. Here they are told apart by
//! what lies on the disk after the end.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot do its part fails")]
#![allow(clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const GROUPS: usize = 5;
const ARRAYS: usize = 50;

type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                tree.insert(name, fs::read(path).unwrap());
            }
        }
    }
    tree
}

/// Groups one in the other, ten arrays in each, and in each group copies of all that is below it.
fn hierarchy(root: &Path) {
    let array = |n: usize| {
        json!({
            "zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
            "chunk_key_encoding": {"name": "default"}, "fill_value": n,
            "codecs": [
                {"name": "numcodecs.fixedscaleoffset", "configuration": {
                    "offset": n, "scale": 10, "dtype": "<f4", "astype": "|u1"}},
                {"name": "bytes"},
            ],
        })
    };
    let mut below: BTreeMap<String, Value> = BTreeMap::new();
    for depth in (0..GROUPS).rev() {
        let group = root.join("g/".repeat(depth));
        for n in 0..ARRAYS / GROUPS {
            let directory = group.join(format!("a{n}"));
            fs::create_dir_all(directory.join("c")).unwrap();
            let document = array(depth * 10 + n);
            fs::write(directory.join("zarr.json"), document.to_string()).unwrap();
            fs::write(directory.join("c/0"), [1, 2, 3, 4]).unwrap();
            below.insert(format!("a{n}"), document);
        }
        let mut document = json!({"zarr_format": 3, "node_type": "group"});
        let plain = document.clone();
        document["consolidated_metadata"] =
            json!({"kind": "inline", "must_understand": false, "metadata": below});
        fs::write(group.join("zarr.json"), document.to_string()).unwrap();
        // Seen from the group around it, all has one more name before it.
        below = below
            .into_iter()
            .map(|(path, copy)| (format!("g/{path}"), copy))
            .collect();
        below.insert("g".to_owned(), plain);
    }
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zarrpack"));
    command
        .arg("migrate-legacy")
        .arg(root)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

fn finishes(root: &Path, arguments: &[&str]) {
    let Output { status, stderr, .. } = command(root, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{arguments:?}: {status}: {said}");
}

/// The file that a document is: another one once it has been replaced.
fn file(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}

/// Waits until a document has been replaced, or the run is over.
fn wait_for(child: &mut Child, document: &Path, was: u64) {
    while file(document) == was && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// How long a run takes: all of it, and the replacing, from the first array to the document of the outermost group.
fn calibrate(root: &Path) -> (Duration, Duration) {
    hierarchy(root);
    let [first, last] = ["a0/zarr.json", "zarr.json"].map(|name| root.join(name));
    let was = [&first, &last].map(|path| file(path));
    let begun = Instant::now();
    let mut child = command(root, &["--in-place", "-q"]).spawn().unwrap();
    wait_for(&mut child, &first, was[0]);
    let replacing = Instant::now();
    wait_for(&mut child, &last, was[1]);
    let replaced = replacing.elapsed();
    assert!(child.wait().unwrap().success());
    (begun.elapsed(), replaced)
}

/// What lies beside the store.
fn beside(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "s.zarr").collect();
    names.sort();
    names
}

/// How far a run was when it ended, by what it left.
fn phase(documents: &Tree, old: &Tree, new: &Tree, beside: &[String]) -> &'static str {
    let unfinished = beside.iter().any(|name| name.ends_with(".unfinished"));
    match (documents == old, documents == new, unfinished) {
        (true, _, false) => "before the journal, or all taken back",
        (true, _, true) => "journal written, no document replaced",
        (_, true, true) => "all documents replaced, not yet complete",
        (_, true, false) => "complete",
        _ => "documents being replaced",
    }
}

/// Runs, ends and checks as often as asked for. Returns how many runs ended in which phase.
fn end_at_random(rounds: u64, signal: &str) -> BTreeMap<&'static str, u64> {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let calibrated = directory.join("calibrated/s.zarr");
    fs::create_dir_all(&calibrated).unwrap();
    let (whole, replacing) = calibrate(&calibrated);
    let new = tree(&calibrated);
    let mut seen = BTreeMap::new();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..rounds {
        let around = directory.join(round.to_string());
        let root = around.join("s.zarr");
        fs::create_dir_all(&root).unwrap();
        hierarchy(&root);
        let old = tree(&root);
        let first = root.join("a0/zarr.json");
        let was = file(&first);

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut child = command(&root, &["--in-place", "-q"]).spawn().unwrap();
        // Replacing is a small part of a run: two rounds of three aim at it, and the third at the whole.
        let within = if round % 3 < 2 {
            wait_for(&mut child, &first, was);
            // Alone on a machine, a run is faster than the one that was measured.
            replacing / 3
        } else {
            whole
        };
        let within = u64::try_from(within.as_micros()).unwrap().max(1);
        std::thread::sleep(Duration::from_micros(random % within));
        let id = child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let status = child.wait().unwrap();

        let mut documents = tree(&root);
        documents.retain(|path, _| old.contains_key(path));
        assert_eq!(documents.len(), old.len());
        for (path, text) in &documents {
            assert!(*text == old[path] || *text == new[path], "{path:?}");
            if path.ends_with("zarr.json") {
                serde_json::from_slice::<Value>(text).unwrap();
            }
        }
        let left = beside(&around);
        let phase = phase(&documents, &old, &new, &left);
        *seen.entry(phase).or_default() += 1;
        if signal == "-TERM" {
            // A run that was asked to end leaves all old or all new, and nothing for the next one to mend.
            assert!(documents == old || documents == new, "{phase}");
            assert!(
                !left.iter().any(|name| name.ends_with(".unfinished")),
                "{left:?}"
            );
            // The signal itself ends it only before it listens.
            match (status.code(), status.signal()) {
                (Some(0), _) => assert_eq!(phase, "complete"),
                (Some(143), _) => {}
                (None, Some(15)) => assert!(documents == old),
                _ => unreachable!("{status}"),
            }
        }

        finishes(&root, &["--in-place", "-q"]);
        assert_eq!(tree(&root), new);
        let [journal] = beside(&around).try_into().unwrap();
        let journal = around.join(journal);
        finishes(&root, &["--undo", journal.to_str().unwrap()]);
        assert_eq!(tree(&root), old);
        assert_eq!(beside(&around), [""; 0]);
        fs::remove_dir_all(&around).unwrap();
    }
    eprintln!("{signal}: {seen:?}; a run takes {whole:?}, its replacing {replacing:?}");
    seen
}

#[test]
fn migrations_that_are_killed_leave_what_the_next_run_mends() {
    end_at_random(9, "-KILL");
}

#[test]
fn migrations_that_are_asked_to_end_leave_all_old_or_all_new() {
    end_at_random(9, "-TERM");
}

#[test]
#[ignore = "takes minutes"]
fn two_hundred_migrations_are_killed() {
    let seen = end_at_random(200, "-KILL");
    let replacing = seen.get("documents being replaced");
    assert!(replacing.is_some_and(|count| *count >= 67), "{seen:?}");
}

#[test]
#[ignore = "takes minutes"]
fn two_hundred_migrations_are_asked_to_end() {
    end_at_random(200, "-TERM");
}
