//! Documents of Zarr v2 in `testdata/v2` as documents of Zarr v3: compared with the ones beside them, which zarr-python reads
//! the same values from, and both opened.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrpack::codecs::{ArrayDocument, OpenArray};
use zarrpack::metadata::json::{Limits, NonFinite, Parsed, parse};
use zarrpack::metadata::v3::Separator;
use zarrpack::metadata::{Node, Problems, v2, v3};
use zarrpack::migration::v2::{array, group};
use zarrs::filesystem::FilesystemStore;

/// Types that are converted, and that this program does not read.
const NOT_READ: [&str; 9] = [
    "bytes",
    "datetime",
    "null_fill_of_times",
    "raw",
    "record",
    "text",
    "timedelta",
    "variable_bytes",
    "variable_text",
];

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v2")
}

/// The folders of nodes in a folder, itself among them.
fn nodes(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for entry in entries {
        if entry.join(".zarray").is_file() || entry.join(".zgroup").is_file() {
            found.extend(nodes(&entry));
        }
    }
    found
}

fn document(path: &Path) -> Option<Parsed> {
    let text = fs::read(path).ok()?;
    Some(parse(&text, &Limits::default(), NonFinite::Keep).unwrap())
}

/// The text of `zarr.json` for a node, or the refusals.
fn convert(node: &Path) -> Result<String, String> {
    let attributes = document(&node.join(".zattrs"));
    let attributes = attributes.as_ref().map(|parsed| &parsed.root);
    let said = |notes: &[zarrpack::migration::v2::Note]| {
        for note in notes {
            println!("{}: {note}", node.display());
        }
    };
    let refused = |refusals: Vec<zarrpack::migration::v2::Refusal>| {
        let lines: Vec<_> = refusals.iter().map(ToString::to_string).collect();
        format!("{}: {}", node.display(), lines.join("; "))
    };
    let Some(parsed) = document(&node.join(".zarray")) else {
        let converted = group(attributes).map_err(refused)?;
        said(&converted.notes);
        return Ok(converted.text);
    };
    let mut problems = Problems::default();
    let read = v2::array(&Node::root(&parsed.root), &mut problems)
        .complete()
        .unwrap();
    let separator = read.dimension_separator.as_ref();
    let separator = separator.map_or(Separator::Dot, |separator| separator.value);
    let converted = array(&read, attributes, separator).map_err(refused)?;
    said(&converted.notes);
    Ok(converted.text)
}

#[test]
fn documents_become_those_that_zarr_python_was_shown_to_read() {
    let nodes = nodes(&testdata());
    assert!(nodes.len() > 30);
    for node in nodes {
        let expected = fs::read_to_string(node.join("zarr.json")).unwrap();
        assert_eq!(convert(&node), Ok(expected), "{}", node.display());
    }
}

/// The bytes of all chunks, by index; none for a missing one.
fn chunks(array: &OpenArray) -> Vec<Option<Vec<u8>>> {
    let mut indices = vec![Vec::new()];
    for length in array.grid_shape() {
        indices = indices
            .into_iter()
            .flat_map(|index| (0..*length).map(move |at| [index.clone(), vec![at]].concat()))
            .collect();
    }
    let chunks = indices
        .iter()
        .map(|index| array.decode_chunk(index).unwrap());
    chunks.collect()
}

#[test]
fn both_documents_open_as_the_same_array() {
    let mut read = 0;
    for node in nodes(&testdata()) {
        let name = node.file_name().unwrap().to_str().unwrap();
        let Some(parsed) = document(&node.join(".zarray")) else {
            continue;
        };
        let storage = Arc::new(FilesystemStore::new(&node).unwrap());
        let mut problems = Problems::default();
        let before = v2::array(&Node::root(&parsed.root), &mut problems)
            .complete()
            .unwrap();
        let before = OpenArray::open(storage.clone(), "", ArrayDocument::V2(&before));
        assert_eq!(before.is_err(), NOT_READ.contains(&name), "{name}");
        let Ok(before) = before else { continue };
        let parsed = document(&node.join("zarr.json")).unwrap();
        let v3::Document::Array(after) = v3::read(&Node::root(&parsed.root), &mut problems) else {
            panic!("{name} is no array");
        };
        assert!(problems.is_sound(), "{name}: {problems:?}");
        let after = after.complete().unwrap();
        let after = OpenArray::open(storage, "", ArrayDocument::V3(&after))
            .map_err(|error| format!("{name}: {error}"))
            .unwrap();
        assert_eq!(before.data_type(), after.data_type(), "{name}");
        assert_eq!(before.shape(), after.shape(), "{name}");
        assert_eq!(before.fill(), after.fill(), "{name}");
        assert_eq!(chunks(&before), chunks(&after), "{name}");
        read += 1;
    }
    assert!(read > 20);
}

/// For tests/interop: what `migrate-legacy --in-place` does with documents that have nothing of the legacy codec.
#[test]
#[ignore = "writes zarr.json beside every document in the folder that ZARRPACK_V2 names"]
fn converts_the_folder_in_the_environment() {
    let folder = std::env::var_os("ZARRPACK_V2").expect("ZARRPACK_V2 names a folder");
    let mut refused = Vec::new();
    for node in nodes(Path::new(&folder)) {
        match convert(&node) {
            Ok(text) => fs::write(node.join("zarr.json"), text).unwrap(),
            Err(refusal) => refused.push(refusal),
        }
    }
    assert_eq!(refused, [""; 0]);
}
