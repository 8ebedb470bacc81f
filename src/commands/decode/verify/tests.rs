use std::fs;

use super::super::super::rewrite::input::{Input, Watch};
use super::super::store::decode;
use super::*;
use crate::error::ExitCode;
use crate::interrupt::Interrupt;
use crate::pipeline::Pipeline;
use crate::store::{Existing, Place, Staging};
use crate::ui::UiOptions;

const DOCUMENT: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "int16", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}, "attributes": {},
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#;

/// An array of 1, 2, 3 in two chunks.
fn array(directory: &Path) {
    fs::create_dir_all(directory.join("c")).unwrap();
    fs::write(directory.join("zarr.json"), DOCUMENT).unwrap();
    for (chunk, bytes) in [("c/0", [1, 0, 2, 0]), ("c/1", [3, 0, 0, 0])] {
        fs::write(directory.join(chunk), bytes).unwrap();
    }
}

/// Verifies an array against a copy to which something was done, and gives the error.
fn after(damage: impl FnOnce(&Path)) -> Option<Error> {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("in");
    array(&directory);
    let input = Input::open(&directory, &[]).unwrap();
    let (entry, text) = input.arrays().next().unwrap();
    let decode = decode(entry, text, 1 << 20, None).unwrap();
    let place = Place::resolve(folder.path().join("out")).unwrap();
    let staging = Staging::begin(&place, Existing::Refuse).unwrap();
    array(staging.root());
    fs::write(staging.root().join("zarr.json"), &decode.document.text).unwrap();
    damage(staging.root());
    let (interrupt, watch) = (Interrupt::default(), Watch::default());
    let job = Job {
        pipeline: Pipeline {
            threads: 2,
            memory: 1 << 20,
            interrupt: &interrupt,
            observer: &watch,
        },
        staging,
        store: &directory,
    };
    let action = Action::Decode(Box::new(decode));
    let mut ui = Ui::new(UiOptions::default());
    store(
        &mut ui,
        &job,
        &[Planned { entry, action }],
        &BTreeMap::new(),
    )
    .err()
}

#[test]
fn what_was_written_is_what_is_due() {
    assert!(after(|_| ()).is_none());
}

#[test]
fn the_first_bit_that_differs_is_named() {
    let error = after(|root| {
        fs::write(root.join("c/0"), [1, 0, 2, 1]).unwrap();
        fs::write(root.join("c/1"), [4, 0, 0, 0]).unwrap();
    });
    let error = error.unwrap();
    assert_eq!(error.exit_code(), ExitCode::Findings);
    assert_eq!(
        error.to_string(),
        "/: verification failed: the element [1] was read back as 258 (bits 0x102) where 2 (bits 0x2) is due"
    );
}

#[test]
fn a_chunk_too_few_or_too_many_is_found() {
    let other = "/: verification failed: there are other chunks than were written";
    let less = after(|root| fs::remove_file(root.join("c/1")).unwrap());
    assert_eq!(less.unwrap().to_string(), other);
    let cut = after(|root| fs::write(root.join("c/1"), [3]).unwrap());
    assert!(cut.unwrap().to_string().contains("c/1"));
}

#[test]
fn a_document_that_changed_is_found() {
    let error = after(|root| {
        let text = DOCUMENT.replace("[3]", "[2]");
        fs::write(root.join("zarr.json"), text).unwrap();
    });
    assert_eq!(
        error.unwrap().to_string(),
        "/: verification failed: zarr.json is not what was written"
    );
}

#[test]
fn files_are_compared_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let mut bytes = vec![7; BLOCK + 5];
    fs::write(&a, &bytes).unwrap();
    fs::write(&b, &bytes).unwrap();
    assert!(same_files(&a, &b).unwrap());
    bytes.push(7);
    fs::write(&b, &bytes).unwrap();
    assert!(!same_files(&a, &b).unwrap());
    bytes.truncate(BLOCK + 5);
    bytes[BLOCK + 4] = 8;
    fs::write(&b, &bytes).unwrap();
    assert!(!same_files(&a, &b).unwrap());
}
