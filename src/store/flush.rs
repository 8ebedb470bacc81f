//! Flushing all of a directory tree, so that it survives a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::StoreError;
use super::files::Files;
use crate::interrupt::Interrupt;

/// Flushes at a time. A file system answers many at once nearly as fast as one, whatever the number of processors.
const FLUSHES: usize = 8;

/// A file or directory to flush.
enum Item {
    File(PathBuf),
    Directory(PathBuf),
}

/// Flushes every file and directory at and below `root`.
pub(super) fn flush_tree(
    files: &Files,
    root: &Path,
    interrupt: &Interrupt,
) -> Result<(), StoreError> {
    let (sender, receiver) = mpsc::sync_channel(FLUSHES * 16);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        let flushing: Vec<_> = (0..FLUSHES)
            .map_while(|_| {
                let flush = || flush_all(files, &receiver, interrupt);
                thread::Builder::new().spawn_scoped(scope, flush).ok()
            })
            .collect();
        if flushing.is_empty() {
            return list(root, &mut |item| flush_one(files, &item, interrupt));
        }
        // Where nobody receives any more, a flush has failed, and that is told below.
        let listed = list(root, &mut |item| {
            let _ = sender.send(item);
            Ok(())
        });
        drop(sender);
        let mut outcome = listed;
        for thread in flushing {
            let flushed = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome = outcome.and(flushed);
        }
        outcome
    })
}

/// Flushes what is received until there is no more. After a failure the rest is received and left, so that
/// the sender does not wait for ever.
fn flush_all(
    files: &Files,
    receiver: &Mutex<Receiver<Item>>,
    interrupt: &Interrupt,
) -> Result<(), StoreError> {
    let mut outcome = Ok(());
    loop {
        let received = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(item) = received else { return outcome };
        if outcome.is_ok() {
            outcome = flush_one(files, &item, interrupt);
        }
    }
}

fn flush_one(files: &Files, item: &Item, interrupt: &Interrupt) -> Result<(), StoreError> {
    interrupt.check()?;
    match item {
        Item::File(path) => files.sync_file(path),
        Item::Directory(path) => files.sync_dir(path),
    }
}

/// Lists a directory and all that is in it.
fn list(
    root: &Path,
    found: &mut dyn FnMut(Item) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = || StoreError::io("list", &directory);
        for entry in fs::read_dir(&directory).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let kind = entry.file_type().map_err(failed())?;
            if kind.is_dir() {
                directories.push(entry.path());
            } else if kind.is_file() {
                found(Item::File(entry.path()))?;
            }
        }
        found(Item::Directory(directory))?;
    }
    Ok(())
}
