//! From a plan to documents in place, and the proof that they are what was planned.

use super::MigrateLegacyArgs;
use crate::catalog::named;
use crate::error::{Error, ErrorKind};
use crate::migration::documents::{Documents, same_sources};
use crate::migration::hierarchy::{HierarchyPlan, NodeOutcome, NodePlan, Work};
use crate::migration::scan::{StoreEvidence, unchanged};
use crate::migration::{Proving, prove};
use crate::report::migrate_legacy::{Outcome, Report};
use crate::store::{
    DEFAULT_MAX_DOCUMENT, Exclusive, Place, Progress, Replacement, Rewrite, Store, read_document,
    undo, unfinished,
};
use crate::ui::Ui;

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
    let examined: Vec<_> = plan
        .arrays
        .iter()
        .filter_map(|node| node.examined.clone())
        .collect();
    let committed =
        rewrite(args, documents)?.commit(exclusive, interrupt, &unwatched, &mut || {
            same_sources(documents)?;
            unchanged(&examined, interrupt)
        })?;
    for path in &committed.reowned {
        ui.warning(format!("{path:?} belongs to another owner or group now"));
    }
    report.outcome = Outcome::Written;
    let Some(journal) = committed.journal else {
        return Ok(());
    };
    report.journal = Some(journal.to_string_lossy().into_owned());
    prove_all(work, plan, documents).map_err(|error| {
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

/// Reads back what was written, and runs the proof on it.
fn prove_all(work: &Work<'_>, plan: &HierarchyPlan, documents: &Documents) -> Result<(), Error> {
    for change in &documents.changes {
        let Some(new) = &change.new else { continue };
        let now = read_document(&change.path, DEFAULT_MAX_DOCUMENT)?;
        if now != *new {
            return Err(Error::finding(format!(
                "{:?} is not what was written to it",
                change.path
            )));
        }
    }
    plan.arrays
        .iter()
        .try_for_each(|node| prove_one(work, node))
}

fn prove_one(work: &Work<'_>, node: &NodePlan) -> Result<(), Error> {
    let NodeOutcome::Migrate(planned) = &node.outcome else {
        return Ok(());
    };
    work.pipeline.interrupt.check()?;
    let path = node.directory.join("zarr.json");
    let written = read_document(&path, DEFAULT_MAX_DOCUMENT)?;
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
