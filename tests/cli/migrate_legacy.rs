//! `zarrpack migrate-legacy`.

mod bad;
mod docs;
mod elsewhere;
mod in_place;
mod options;
mod plan;
mod trees;
mod v2;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};
use zarrpack::report::migrate_legacy::{Array, Report, SCHEMA};

use crate::harness::{Outcome, Sandbox};
use crate::stores;

/// Every file of a tree, by its path in it.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    each_file(root, &mut |path| {
        tree.insert(
            path.strip_prefix(root).unwrap().to_owned(),
            fs::read(path).unwrap(),
        );
    });
    tree
}

/// When each file and directory of a tree was last changed.
fn moments(root: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut paths = vec![root.to_owned()];
    each_file(root, &mut |path| {
        paths.push(path.to_owned());
        paths.extend(path.parent().map(Path::to_owned));
    });
    let moment = |path: PathBuf| {
        let moment = fs::metadata(&path).unwrap().modified().unwrap();
        (path, moment)
    };
    paths.into_iter().map(moment).collect()
}

fn each_file(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, visit);
        } else {
            visit(&path);
        }
    }
}

fn is_document(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name == "zarr.json" || name.starts_with(".z")
}

/// The files that are no documents.
fn chunks(tree: &Tree) -> Tree {
    let chunks = tree.iter().filter(|(path, _)| !is_document(path));
    chunks
        .map(|(path, bytes)| (path.clone(), bytes.clone()))
        .collect()
}

/// The report that was printed, which the types hold wholly.
fn report(outcome: &Outcome) -> Report {
    let report = serde_json::from_str(&outcome.stdout);
    assert!(report.is_ok(), "{report:?}: {outcome}");
    let report: Report = report.unwrap();
    assert_eq!(report.schema, SCHEMA);
    let again = serde_json::to_string_pretty(&report).unwrap() + "\n";
    assert_eq!(
        again, outcome.stdout,
        "the types hold other than what is printed"
    );
    report
}

/// The report on the only array of a store.
fn array(outcome: &Outcome) -> Array {
    let mut report = report(outcome);
    assert_eq!(report.arrays.len(), 1, "{outcome}");
    report.arrays.remove(0)
}

/// What lies in a sandbox beside the stores: names that tell of journals and locks.
fn beside(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains("zarrpack")).collect();
    names.sort();
    names
}

/// The name of the only journal, with nothing else left over.
fn journal(sandbox: &Sandbox) -> String {
    let names = beside(sandbox);
    assert_eq!(names.len(), 1, "{names:?}");
    let name = &names[0];
    assert!(
        name.contains(".zarrpack-undo-") && name.ends_with("Z.json"),
        "{name}"
    );
    name.clone()
}

/// The legacy codec as an element of `codecs`.
fn legacy(offset: Value, scale: Value, dtype: &str, astype: &str) -> Value {
    let configuration = json!({"offset": offset, "scale": scale, "dtype": dtype, "astype": astype});
    json!({"name": "numcodecs.fixedscaleoffset", "configuration": configuration})
}

/// An array of floats that are stored as one byte by the legacy codec, in chunks of two.
fn bytes(offset: i64, scale: i64) -> stores::Array {
    stores::Array::new("float32", &[4])
        .chunks(&[2])
        .codecs(
            json!([legacy(json!(offset), json!(scale), "<f4", "|u1"), {"name": "bytes", "configuration": {"endian": "little"}}]),
        )
        .chunk("c/0", [1, 2])
        .chunk("c/1", [3, 4])
}

/// A document, parsed.
fn document(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_slice(&fs::read(sandbox.path().join(path)).unwrap()).unwrap()
}

/// The values of an array, one a line.
fn values(sandbox: &Sandbox, store: &str) -> String {
    let outcome = sandbox.run(&format!("decode {store} -"));
    stores::succeeds(&outcome);
    outcome.stdout.replace('\n', " ").trim_end().to_owned()
}
