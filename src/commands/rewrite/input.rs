//! The input of `decode` and `encode`: a store, the arrays in it that are selected, and the pipeline that reads them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::catalog::{ArrayText, Catalog, Entry, GroupText, Kind, named};
use crate::cli::GlobalArgs;
use crate::codecs::model::Model;
use crate::codecs::{ArrayDocument, ChunkError, OpenArray, OpenProblem};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Interrupt;
use crate::layout::quantities::bytes as bytes_in_words;
use crate::pipeline::{Observer, Stopped};
use crate::selection::{ArrayPattern, Selection};
use crate::store::{ChunkFiles, Store};
use crate::ui::Ui;

/// An input store with what was found in it.
pub(in super::super) struct Input {
    pub(in super::super) store: Store,
    pub(in super::super) catalog: Catalog,
    pub(in super::super) selection: Selection,
}

impl Input {
    /// Opens INPUT and reads every document in it.
    pub(in super::super) fn open(input: &Path, patterns: &[ArrayPattern]) -> Result<Self, Error> {
        let store = Store::open(input)?;
        let catalog = Catalog::read(&store);
        if catalog.faults.is_empty() && catalog.entries.iter().all(is_only_attributes) {
            return Err(Error::new(
                ErrorKind::Io,
                format!("no Zarr array or group in {input:?}"),
            )
            .hint("INPUT is a directory with zarr.json, .zarray or .zgroup, or one above it"));
        }
        let selection = Selection::new(patterns.to_vec());
        let selection = selection.map_err(|error| Error::usage(format!("--array: {error}")))?;
        Ok(Self {
            store,
            catalog,
            selection,
        })
    }

    /// The arrays whose documents are sound.
    pub(in super::super) fn arrays(&self) -> impl Iterator<Item = (&Entry, &ArrayText)> {
        self.catalog
            .entries
            .iter()
            .filter_map(|entry| match &entry.kind {
                Kind::Array(text) => Some((entry, text)),
                _ => None,
            })
    }

    /// The one array that is selected.
    pub(in super::super) fn only_array(&self, ui: &mut Ui) -> Result<(&Entry, &ArrayText), Error> {
        let selected: Vec<_> = self
            .arrays()
            .filter(|(entry, _)| self.selection.contains(&entry.path))
            .collect();
        match selected.as_slice() {
            [(entry, text)] => {
                // What is broken elsewhere does not matter here, and should be known.
                if let Some(error) = self.catalog.error() {
                    ui.warning(&error);
                    for detail in error.details().iter().take(20) {
                        ui.warning(detail);
                    }
                }
                warn_of_fill(ui, entry, text);
                Ok((entry, text))
            }
            [] => {
                // What is broken may be what was meant.
                if let Some(error) = self.catalog.error() {
                    return Err(error);
                }
                self.selection.require_all_used()?;
                Err(Error::new(ErrorKind::Io, "INPUT holds no array"))
            }
            many => {
                let count = many.len();
                let mut error =
                    Error::usage(format!("this takes one array, and {count} are selected"));
                for (entry, _) in many.iter().take(10) {
                    error = error.detail(named(&entry.path));
                }
                Err(error.hint("choose one with --array"))
            }
        }
    }
}

/// Whether a directory has attributes, and nothing that says what they are of.
fn is_only_attributes(entry: &Entry) -> bool {
    match &entry.kind {
        Kind::Group(GroupText::V2 { consolidated, .. }) => {
            !consolidated && !entry.directory.join(".zgroup").exists()
        }
        _ => false,
    }
}

/// Opens an array. Its chunks may take as much memory as the machine is likely to have for them: one beyond `memory` is
/// decoded alone.
pub(in super::super) fn open(
    entry: &Entry,
    text: &ArrayText,
    memory: u64,
) -> Result<OpenArray, Error> {
    let named = named(&entry.path);
    let storage = Arc::new(ChunkFiles::below(&entry.directory));
    let opened = text.with(|document| OpenArray::open(storage.clone(), "", document));
    let opened = opened.map_err(|error| Error::finding(format!("{named}: {error}")))?;
    let array = opened.map_err(|error| {
        let refused = Error::finding(format!("{named} cannot be decoded"));
        error.problems.iter().fold(refused, |refused, problem| {
            refused.detail(place(text, problem))
        })
    })?;
    storage.limit(array.longest_stored_chunk());
    Ok(array.with_granted_memory(memory).keeping_indices())
}

/// A problem of an array's document, with the place that it is at.
pub(in super::super) fn place(text: &ArrayText, problem: &OpenProblem) -> String {
    let (name, text) = match text {
        ArrayText::V3(text) => ("zarr.json", text),
        ArrayText::V2 { array, .. } => (".zarray", array),
    };
    format!(
        "{}: {}",
        text.place(name, &problem.pointer),
        problem.message
    )
}

/// Warns where the fill does not come back from the chain. It does not stop reading: missing chunks are the fill.
pub(in super::super) fn warn_of_fill(ui: &mut Ui, entry: &Entry, text: &ArrayText) {
    let warnings = text.with(|document: ArrayDocument<'_, '_>| {
        let model = Model::new(document).ok()?;
        let problems = model
            .packing()
            .flat_map(|packing| &packing.binding.problems);
        Some(
            problems
                .map(|problem| format!("{} [{}]", problem.found, problem.id))
                .collect::<Vec<_>>(),
        )
    });
    for warning in warnings.ok().flatten().into_iter().flatten() {
        ui.warning(format!("{}: {warning}", named(&entry.path)));
    }
}

/// The error of a chunk of an array.
pub(in super::super) fn chunk_error(path: &str, error: &ChunkError) -> Error {
    Error::new(
        error.failure.kind.error_kind(),
        format!("{}: {error}", named(path)),
    )
}

/// Watches work, and warns once where a chunk is larger than the memory that was granted.
#[derive(Debug, Default)]
pub(in super::super) struct Watch {
    warned: AtomicBool,
}

impl Observer for Watch {
    fn finished(&self, _: u64) {}

    fn oversized(&self, bytes: u64, memory: u64) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            let (needed, granted) = (bytes_in_words(bytes.into()), bytes_in_words(memory.into()));
            tracing::warn!(
                "chunks need {needed} of memory, more than the {granted} that --memory grants, and are processed one at a time"
            );
        }
    }
}

/// Starts to heed signals.
pub(in super::super) fn heed_signals() -> Result<Interrupt, Error> {
    Interrupt::install().map_err(|error| Error::io("could not heed signals", error))
}

/// The error of work that was stopped.
pub(in super::super) fn stopped<E: Into<Error>>(stopped: Stopped<E>) -> Error {
    match stopped {
        Stopped::Failed { error, .. } => error.into(),
        Stopped::Interrupted(interrupted) => interrupted.into(),
    }
}

/// How many threads work, and how many bytes each of them may take.
pub(in super::super) fn shares(global: &GlobalArgs) -> (usize, u64, u64) {
    let (threads, memory) = (global.threads(), global.memory());
    (threads, memory, memory / threads.max(1) as u64)
}
