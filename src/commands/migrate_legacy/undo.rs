//! Taking a migration back.

use std::path::Path;

use serde_json::json;

use super::{MigrateLegacyArgs, ReportFormat};
use crate::error::{Error, ExitCode};
use crate::layout::quantities::things;
use crate::report::migrate_legacy::UNDO_SCHEMA;
use crate::store::{Place, Store, undo, undo_plan};
use crate::ui::Ui;

/// Restores the documents that a journal holds, or says which it would.
pub(super) fn run(
    ui: &mut Ui,
    args: &MigrateLegacyArgs,
    store: &Store,
    journal: &Path,
) -> Result<ExitCode, Error> {
    let journal = Place::resolve(journal)?;
    let restored = undo_plan(store, journal.path())?;
    if !args.dry_run {
        undo(store, journal.path(), &|_| {})?;
    }
    match args.format {
        ReportFormat::Json => {
            let documents: Vec<_> = restored.iter().map(|path| path.to_string_lossy()).collect();
            let report = json!({
                "schema": UNDO_SCHEMA,
                "dry_run": args.dry_run,
                "documents": documents,
            });
            ui.print(format!("{report:#}\n"))?;
        }
        ReportFormat::Human => {
            let count = things(restored.len() as u64, "document");
            let text = if args.dry_run {
                format!("{count} to restore; nothing was written")
            } else {
                format!("{count} restored")
            };
            ui.print(format!("{text}\n"))?;
        }
    }
    Ok(ExitCode::Done)
}
