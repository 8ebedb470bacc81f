//! `--verify`: what was written, read back before it is published, and held against what decoding gives once more.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use super::super::rewrite::input::{chunk_error, open, stopped};
use super::source::{Source, index_in};
use super::store::{Action, Decode, Job, Planned};
use crate::catalog::{ArrayText, Catalog, Entry, GroupText, Kind, named};
use crate::error::Error;
use crate::pieces::stored_chunks;
use crate::pipeline::OnFailure;
use crate::region::chunk_box;
use crate::store::{Objects, Store};
use crate::transform::scalar::Scalar;
use crate::ui::Ui;

/// Bytes of a copied file that are compared at a time.
const BLOCK: usize = 1 << 20;

/// Compares a store that is yet to be published: every document, every chunk, every copied file.
pub(super) fn store(
    ui: &mut Ui,
    job: &Job<'_>,
    planned: &[Planned<'_>],
    groups: &BTreeMap<String, String>,
) -> Result<(), Error> {
    let written = Store::open(job.staging.root())?;
    let catalog = Catalog::read(&written);
    let nodes: HashMap<&str, &Entry> = catalog
        .entries
        .iter()
        .map(|entry| (entry.path.as_str(), entry))
        .collect();
    for (path, text) in groups {
        match nodes.get(path.as_str()).map(|entry| &entry.kind) {
            Some(Kind::Group(GroupText::V3(found))) if found.text == *text => {}
            _ => return Err(differs(path, "zarr.json is not what was written")),
        }
    }
    for node in planned {
        let path = node.entry.path.as_str();
        match &node.action {
            Action::Skip(_) => {}
            Action::Copy => files(job, node.entry)?,
            Action::Decode(decode) => match nodes.get(path).map(|entry| (entry, &entry.kind)) {
                Some((found, Kind::Array(text @ ArrayText::V3(document))))
                    if document.text == decode.document.text =>
                {
                    array(ui, job, node.entry, decode, found, text)?;
                }
                _ => return Err(differs(path, "zarr.json is not what was written")),
            },
        }
    }
    Ok(())
}

fn differs(path: &str, what: &str) -> Error {
    Error::finding(format!("{}: verification failed: {what}", named(path)))
        .hint("nothing was published; the disk, the memory or this program is at fault")
}

/// Compares the chunks of an array.
fn array(
    ui: &mut Ui,
    job: &Job<'_>,
    entry: &Entry,
    decode: &Decode,
    found: &Entry,
    text: &ArrayText,
) -> Result<(), Error> {
    let source = &decode.source;
    let written = open(found, text, job.pipeline.memory)?;
    let chunks = stored_chunks(&source.array, &entry.directory)?;
    if stored_chunks(&written, &found.directory)? != chunks {
        return Err(differs(
            &entry.path,
            "there are other chunks than were written",
        ));
    }
    let progress = ui.progress(chunks.len() as u64, "chunks verified");
    let back = written
        .working_bytes()
        .saturating_add(written.chunk_bytes());
    let working = decode.working_bytes().saturating_add(back);
    let compared = job.pipeline.unordered(
        chunks.into_iter(),
        |_| working,
        OnFailure::Stop,
        |index| -> Result<(), Error> {
            let expected = source.decode_chunk(&index)?;
            let found = written.decode_chunk(&index);
            let found = found.map_err(|error| chunk_error(&entry.path, &error))?;
            let ranges = chunk_box(&index, &source.array.chunk_shape());
            match (expected, found) {
                (Some(expected), Some(found)) => same(source, &ranges, 0, &expected, &found)?,
                (None, None) => {}
                _ => {
                    let what = format!("chunk {index:?} came or went meanwhile");
                    return Err(differs(&entry.path, &what));
                }
            }
            progress.advance(1);
            Ok(())
        },
    );
    drop(progress);
    compared.into_result().map(|_| ()).map_err(stopped)
}

/// Compares elements of a box, of which `first` is the place of the first: bit for bit.
pub(super) fn same(
    source: &Source,
    ranges: &[Range<u64>],
    first: usize,
    expected: &[u8],
    found: &[u8],
) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    let size = source.element_size().max(1);
    let pairs = expected.chunks(size).zip(found.chunks(size));
    let different = pairs.enumerate().find(|(_, (a, b))| a != b);
    let Some((place, (expected, found))) = different else {
        return Err(differs(
            &source.path,
            &format!(
                "{} bytes were read where {} are due",
                found.len(),
                expected.len()
            ),
        ));
    };
    let shown = |bytes: &[u8]| match source.element_type() {
        Some(data_type) => {
            let scalar = Scalar::from_ne_bytes(data_type, bytes);
            format!("{scalar} (bits {:#x})", scalar.bits())
        }
        None => format!("the bytes {bytes:02x?}"),
    };
    let index = index_in(ranges, first + place);
    let what = format!(
        "the element {index:?} was read back as {} where {} is due",
        shown(found),
        shown(expected)
    );
    Err(differs(&source.path, &what))
}

/// Compares the files of an array that was copied.
fn files(job: &Job<'_>, entry: &Entry) -> Result<(), Error> {
    let copies = job.staging.root().join(&entry.path);
    for object in Objects::below(&entry.directory) {
        let object = object?;
        job.pipeline.interrupt.check()?;
        if !same_files(&object.path, &copies.join(&object.key))? {
            let what = format!("{:?} is not what it was copied from", object.key);
            return Err(differs(&entry.path, &what));
        }
    }
    Ok(())
}

fn same_files(a: &Path, b: &Path) -> Result<bool, Error> {
    let open = |path: &Path| {
        File::open(path).map_err(|cause| Error::io(format!("could not read {path:?}"), cause))
    };
    let (mut first, mut second) = (open(a)?, open(b)?);
    let block = |file: &mut File, path: &Path| {
        let mut bytes = Vec::new();
        let read = file.take(BLOCK as u64).read_to_end(&mut bytes);
        read.map_err(|cause| Error::io(format!("could not read {path:?}"), cause))?;
        Ok::<_, Error>(bytes)
    };
    loop {
        let (left, right) = (block(&mut first, a)?, block(&mut second, b)?);
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests;
