//! The output of `decode` and `encode`: keys in it, and what is copied into it as it is.

use std::path::Path;

use crate::catalog::{Entry, named};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::store::{Objects, Staging};

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
    for object in Objects::below(&entry.directory) {
        let object = object?;
        interrupt.check()?;
        if !wanted(&object.key) {
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
