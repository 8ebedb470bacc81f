//! Stores that a test makes for itself, array by array, and copies of those of the test data.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Outcome, Sandbox};

/// An array of Zarr v3 that is yet to be written.
pub(crate) struct Array {
    document: Value,
    chunks: Vec<(String, Vec<u8>)>,
}

impl Array {
    /// An array in one chunk, without any compression, filled with 0.
    pub(crate) fn new(data_type: &str, shape: &[u64]) -> Self {
        let document = json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
            "chunk_key_encoding": {"name": "default"},
            "fill_value": 0,
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "attributes": {},
        });
        let chunks = Vec::new();
        Self { document, chunks }
    }

    fn set(mut self, member: &str, value: Value) -> Self {
        self.document[member] = value;
        self
    }

    pub(crate) fn chunks(self, shape: &[u64]) -> Self {
        let grid = json!({"name": "regular", "configuration": {"chunk_shape": shape}});
        self.set("chunk_grid", grid)
    }

    pub(crate) fn fill(self, fill: Value) -> Self {
        self.set("fill_value", fill)
    }

    pub(crate) fn codecs(self, codecs: Value) -> Self {
        self.set("codecs", codecs)
    }

    pub(crate) fn attributes(self, attributes: Value) -> Self {
        self.set("attributes", attributes)
    }

    pub(crate) fn dimensions(self, names: &[&str]) -> Self {
        self.set("dimension_names", json!(names))
    }

    /// A chunk as it is stored.
    pub(crate) fn chunk(mut self, key: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.chunks.push((key.to_owned(), bytes.into()));
        self
    }

    /// Writes the array into a folder of a sandbox.
    pub(crate) fn write(&self, sandbox: &Sandbox, path: &str) {
        let folder = sandbox.path().join(path);
        fs::create_dir_all(&folder).unwrap();
        let text = serde_json::to_string_pretty(&self.document).unwrap();
        fs::write(folder.join("zarr.json"), text).unwrap();
        for (key, bytes) in &self.chunks {
            let file = folder.join(key);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
}

/// A sandbox that has the stores of the test data, by copies of them.
pub(crate) fn with_stores(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        copy(&testdata(name), &sandbox.path().join(name));
    }
    sandbox
}

pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/stores")
        .join(name)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn succeeds(outcome: &Outcome) {
    assert_eq!(outcome.exit, Some(0), "{outcome}");
}

/// Every file below a folder, with what it holds.
pub(crate) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut stack = vec![folder.to_owned()];
    while let Some(path) = stack.pop() {
        for entry in fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                stack.push(path);
            } else {
                let relative = path.strip_prefix(folder).unwrap().to_owned();
                files.insert(relative, fs::read(&path).unwrap());
            }
        }
    }
    files
}
