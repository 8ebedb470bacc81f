//! The output of `decode` and `encode`: keys in it, and what is copied into it as it is.

use std::path::Path;
use std::sync::Arc;

use crate::catalog::{Entry, Kind, named};
use crate::codecs::OpenArray;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::pieces::stored_chunk;
use crate::store::{
    ChunkFiles, DEFAULT_MAX_DOCUMENT, Enclosing, Objects, Place, Staging, StoreError, enclosing,
    read_document,
};

/// Refuses an OUTPUT inside a group whose consolidated metadata would not be true of it any more: readers that open the group would
/// decode its chunks by an old document, or not find it.
pub(in super::super) fn refuse_stale_copies(output: &Place) -> Result<(), Error> {
    for Enclosing { directory, path } in enclosing(output)? {
        let Some(document) = consolidated(&directory)? else {
            continue;
        };
        return Err(Error::usage(format!(
            "{:?} lies in the group {directory:?}, whose {document} holds a copy of the metadata of everything in it, and would not be true of {path:?} any more",
            output.given()
        ))
        .hint("write to a place outside the group, or remove its consolidated metadata first and consolidate it again afterwards"));
    }
    Ok(())
}

/// The document of a group that holds consolidated metadata, if there is any.
fn consolidated(group: &Path) -> Result<Option<&'static str>, Error> {
    let read = |name: &str| match read_document(&group.join(name), DEFAULT_MAX_DOCUMENT) {
        Ok(text) => Ok(Some(text)),
        Err(StoreError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    };
    if read(".zmetadata")?.is_some() {
        return Ok(Some(".zmetadata"));
    }
    let Some(text) = read("zarr.json")? else {
        return Ok(None);
    };
    let member = "consolidated_metadata";
    let holds = match parse(&text, &Limits::default(), NonFinite::Keep) {
        Ok(parsed) => parsed
            .root
            .get(member)
            .is_some_and(|block| !block.is_null()),
        // Nobody can say what is in it but that it is mentioned.
        Err(_) => String::from_utf8_lossy(&text).contains(member),
    };
    Ok(holds.then_some("zarr.json"))
}

/// The key of an object of a node.
pub(in super::super) fn key(path: &str, object: &str) -> String {
    if path.is_empty() {
        object.to_owned()
    } else {
        format!("{path}/{object}")
    }
}

/// The key of a chunk in the default encoding.
pub(in super::super) fn default_key(index: &[u64]) -> String {
    index
        .iter()
        .fold("c".to_owned(), |key, n| format!("{key}/{n}"))
}

/// Copies all files of an array as they are.
pub(in super::super) fn copy(
    staging: &Staging,
    store: &Path,
    entry: &Entry,
    interrupt: &Interrupt,
) -> Result<(), Error> {
    copy_objects(staging, store, entry, interrupt, &|_| true)
}

/// Copies those files of an array as they are whose keys are wanted.
pub(in super::super) fn copy_objects(
    staging: &Staging,
    store: &Path,
    entry: &Entry,
    interrupt: &Interrupt,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<(), Error> {
    let array = opened(entry);
    for object in Objects::below(&entry.directory).with_directories() {
        let object = object?;
        interrupt.check()?;
        if let Some(array) = &array {
            stored_chunk(array, &object)?;
        }
        if object.is_directory || !wanted(&object.key) {
            continue;
        }
        if leads_out(&object.path, store) && !may_be_chunk(&object.key) {
            return Err(Error::finding(format!(
                "{}: {:?} is a link that leads out of the store, and no chunk",
                named(&entry.path),
                object.path
            )));
        }
        staging.copy(&object.path, &key(&entry.path, &object.key))?;
    }
    Ok(())
}

/// The array of a node, which says what is a chunk; `None` where nobody here can tell.
fn opened(entry: &Entry) -> Option<OpenArray> {
    let Kind::Array(text) = &entry.kind else {
        return None;
    };
    let storage = Arc::new(ChunkFiles::below(&entry.directory));
    text.with(|document| OpenArray::open(storage, "", document))
        .ok()?
        .ok()
}

/// Whether a path is, by its links, outside of the store. Chunks may be, where a tool keeps large files elsewhere; anything else
/// could be a secret that a hostile store wants copied.
fn leads_out(path: &Path, store: &Path) -> bool {
    let inside = path
        .canonicalize()
        .is_ok_and(|path| path.starts_with(store));
    !inside
}

fn may_be_chunk(key: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = key.split(['/', '.']);
    parts.all(|part| part == "c" || number(part))
}
