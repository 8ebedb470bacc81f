//! From a plan to documents in place, and the proof that they are what was planned.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::rewrite::output::refuse_stale_copies;
use super::MigrateLegacyArgs;
use crate::catalog::named;
use crate::error::{Error, ErrorKind};
use crate::migration::documents::{DocumentChange, Documents, same_sources};
use crate::migration::hierarchy::{HierarchyPlan, NodeOutcome, NodePlan, Work};
use crate::migration::scan::{Examined, StoreEvidence, unchanged};
use crate::migration::{Proving, prove};
use crate::report::migrate_legacy::{Outcome, Report};
use crate::store::{
    Copied, DEFAULT_MAX_DOCUMENT, Exclusive, Objects, Place, Progress, Replacement, Rewrite,
    Staging, Store, StoreError, read_document, undo, unfinished,
};
use crate::ui::Ui;

/// The names of documents.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

/// Nobody watches the replacing of documents, which takes a moment.
fn unwatched(_: Progress) {}

/// Takes the right to change a store, and says what a run that was killed had left.
pub(super) fn begin(ui: &mut Ui, store: &Store) -> Result<Exclusive, Error> {
    let exclusive = Exclusive::take(store, &unwatched)?;
    for recovered in exclusive.recovered() {
        ui.status(format!(
            "restored {} documents that a run which was killed had replaced, by {:?}",
            recovered.documents, recovered.journal
        ));
    }
    Ok(exclusive)
}

/// Says where a run that was killed, or one that is under way, has left a store half changed.
pub(super) fn warn_of_unfinished(ui: &mut Ui, store: &Store) {
    for journal in unfinished(store).unwrap_or_default() {
        ui.warning(format!(
            "{journal:?} is the journal of a run that is under way or was killed; the next run with --in-place restores what it holds"
        ));
    }
}

/// The change as the store makes it.
fn rewrite(args: &MigrateLegacyArgs, documents: &Documents) -> Result<Rewrite, Error> {
    let journal = args.journal.as_ref().map(Place::resolve).transpose()?;
    let replacements = documents.changes.iter().map(|change| Replacement {
        path: change.path.clone(),
        old: change.old.clone(),
        new: change.new.clone(),
        step: change.step,
    });
    Ok(Rewrite {
        replacements: replacements.collect(),
        journal,
    })
}

/// Checks, for a plan, that it could be written.
pub(super) fn check(
    ui: &mut Ui,
    args: &MigrateLegacyArgs,
    store: &Store,
    documents: &Documents,
) -> Result<(), Error> {
    let checked = rewrite(args, documents)?.check(store)?;
    for path in checked.reowned {
        ui.warning(format!("{path:?} will belong to another owner or group"));
    }
    Ok(())
}

/// Writes a plan, and proves that what is there is what was planned.
pub(super) fn in_place(
    ui: &mut Ui,
    args: &MigrateLegacyArgs,
    exclusive: Exclusive,
    work: &Work<'_>,
    plan: &HierarchyPlan,
    documents: &Documents,
    report: &mut Report,
) -> Result<(), Error> {
    let interrupt = work.pipeline.interrupt;
    let examined = examined(plan);
    let committed =
        rewrite(args, documents)?.commit(exclusive, interrupt, &unwatched, &mut || {
            same_sources(documents)?;
            unchanged(&examined, interrupt)
        })?;
    for path in &committed.reowned {
        ui.warning(format!("{path:?} belongs to another owner or group now"));
    }
    let Some(journal) = committed.journal else {
        return Ok(());
    };
    report.outcome = Outcome::Written;
    report.journal = Some(journal.to_string_lossy().into_owned());
    let changes: Vec<_> = documents
        .changes
        .iter()
        .map(|change| ((), change))
        .collect();
    prove_all(work, plan, &|path| Some(path.to_owned()), &changes).map_err(|error| {
        // An interruption says nothing against what was written.
        if error.kind() == ErrorKind::Finding {
            match undo(work.store, &journal, &unwatched) {
                Ok(_) => error.hint("the documents were restored as they had been"),
                Err(failure) => error
                    .detail(Error::from(failure).to_string())
                    .hint(format!("--undo {journal:?} restores the documents")),
            }
        } else {
            error.hint(format!(
                "all documents were written; --undo {journal:?} restores them as they were"
            ))
        }
    })
}

/// Writes the store with the planned documents to another place.
pub(super) fn to_output(
    ui: &mut Ui,
    args: &MigrateLegacyArgs,
    output: &Place,
    work: &Work<'_>,
    plan: &HierarchyPlan,
    documents: &Documents,
    report: &mut Report,
) -> Result<(), Error> {
    let interrupt = work.pipeline.interrupt;
    let source = work.store.directory();
    let staging = Staging::begin(output, args.existing())?;
    for leftover in staging.leftovers() {
        ui.status(leftover);
    }
    let changes: Vec<_> = documents
        .changes
        .iter()
        .filter_map(|change| Some((key(source, &change.path)?, change)))
        .collect();
    let changed: HashSet<&str> = changes.iter().map(|(key, _)| key.as_str()).collect();
    let progress = ui.progress(0, "files copied");
    let counted = AtomicU64::new(0);
    let observer = |copied: Copied| {
        let before = counted.fetch_max(copied.files, Ordering::Relaxed);
        progress.advance(copied.files.saturating_sub(before));
    };
    let copied = if args.metadata_only {
        let mut keys = Vec::new();
        for entry in &work.catalog.entries {
            let paths = DOCUMENTS.iter().map(|name| entry.directory.join(name));
            let keys_of = paths
                .filter(|path| path.exists())
                .filter_map(|path| key(source, &path));
            keys.extend(keys_of.filter(|key| !changed.contains(key.as_str())));
        }
        staging.copy_files(source, &keys, interrupt, &observer)?
    } else {
        staging.copy_store(source, &|key| changed.contains(key), interrupt, &observer)?
    };
    drop(progress);
    tracing::info!(
        files = copied.files,
        bytes = copied.bytes,
        shared = copied.shared,
        "copied the store"
    );
    for (key, change) in &changes {
        if let Some(new) = &change.new {
            staging.write(key, new)?;
        }
    }
    for (key, change) in &changes {
        if let Some(old) = &change.old
            && read_document(&source.join(key), DEFAULT_MAX_DOCUMENT)? != *old
        {
            return Err(StoreError::Changed(source.join(key)).into());
        }
    }
    same_sources(documents)?;
    unchanged(&examined(plan), interrupt)?;
    let written = staging.root().to_owned();
    prove_all(
        work,
        plan,
        &|path: &Path| Some(written.join(path.strip_prefix(source).ok()?)),
        &changes,
    )?;
    staging.publish(interrupt)?;
    report.outcome = Outcome::Written;
    report.output = Some(output.given().to_string_lossy().into_owned());
    if args.metadata_only {
        ui.warning(format!(
            "{:?} has no chunks: until it is laid over the store that it was made from, it reads as fill",
            output.given()
        ));
    }
    Ok(())
}

/// Checks, for a plan, that it could be written to another place.
pub(super) fn check_output(args: &MigrateLegacyArgs, output: &Place) -> Result<(), Error> {
    Staging::check(output, args.existing())?;
    refuse_stale_copies(output)?;
    if args.metadata_only && output.exists() {
        for object in Objects::below(output.path()) {
            let object = object?;
            let name = object.key.rsplit('/').next().unwrap_or_default();
            if !DOCUMENTS.contains(&name) {
                return Err(Error::usage(format!(
                    "{:?} holds more than documents, such as {:?}, and --metadata-only would replace it by documents alone",
                    output.given(),
                    object.key
                ))
                .hint("write the documents to another place, and lay them over the store from there"));
            }
        }
    }
    Ok(())
}

/// The key of a file of the store.
fn key(store: &Path, path: &Path) -> Option<String> {
    let parts = path.strip_prefix(store).ok()?.components();
    let parts: Option<Vec<_>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn examined(plan: &HierarchyPlan) -> Vec<Examined> {
    plan.arrays
        .iter()
        .filter_map(|node| node.examined.clone())
        .collect()
}

/// Reads back what was written, and runs the proof on it. `place` says where a document of the store was written to.
fn prove_all<K>(
    work: &Work<'_>,
    plan: &HierarchyPlan,
    place: &dyn Fn(&Path) -> Option<PathBuf>,
    changes: &[(K, &DocumentChange)],
) -> Result<(), Error> {
    for (_, change) in changes {
        let (Some(new), Some(path)) = (&change.new, place(&change.path)) else {
            continue;
        };
        if read_document(&path, DEFAULT_MAX_DOCUMENT)? != *new {
            return Err(Error::finding(format!(
                "{path:?} is not what was written to it"
            )));
        }
    }
    plan.arrays
        .iter()
        .try_for_each(|node| match place(&node.directory.join("zarr.json")) {
            Some(path) => prove_one(work, node, &path),
            None => Ok(()),
        })
}

fn prove_one(work: &Work<'_>, node: &NodePlan, path: &Path) -> Result<(), Error> {
    let NodeOutcome::Migrate(planned) = &node.outcome else {
        return Ok(());
    };
    work.pipeline.interrupt.check()?;
    let written = read_document(path, DEFAULT_MAX_DOCUMENT)?;
    let written = String::from_utf8(written).map_err(|error| {
        Error::finding(format!("{path:?} is not what was written to it")).because(error)
    })?;
    let evidence = StoreEvidence::new(
        &node.path,
        &node.directory,
        &node.legacy_text,
        work.pipeline,
    )?;
    let proven = prove(
        &node.legacy_text,
        &written,
        Proving {
            fill_is_defined: node.fill_is_defined,
            verify: work.wishes.array.verify,
            used_codes: planned.decode.all_codes.is_some(),
        },
        &evidence,
    )?;
    if proven.kind == planned.decode.kind && proven.differences == planned.decode.differences {
        return Ok(());
    }
    Err(Error::finding(format!(
        "{}: what was written does not decode as planned",
        named(&node.path)
    ))
    .detail(format!(
        "planned: {:?}, {} of {} differ; found: {:?}, {} of {}",
        planned.decode.kind,
        planned.decode.differences.differing,
        planned.decode.differences.compared,
        proven.kind,
        proven.differences.differing,
        proven.differences.compared
    )))
}
