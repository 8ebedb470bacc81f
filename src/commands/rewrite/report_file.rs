//! `--report FILE`: the report as JSON, in a file that appears whole, after OUTPUT. `decode` and `encode` have it.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::standard_input;
use crate::store::{Existing, Place, StagedFile, StoreError};
use crate::ui::Ui;

/// The place of a report, if one is wanted, at which nothing has been done yet.
pub(in super::super) struct ReportFile {
    place: Option<(Place, Existing)>,
}

/// A report that is to be written.
pub(in super::super) struct Begun {
    file: Option<StagedFile>,
}

impl ReportFile {
    /// Looks at the place that `--report` names. It has nothing to do with the places that are read and written, each of which comes
    /// with the word for it.
    pub(in super::super) fn check(
        given: Option<&Path>,
        existing: Existing,
        others: &[(&Place, &str)],
    ) -> Result<Self, Error> {
        let Some(given) = given else {
            return Ok(Self { place: None });
        };
        let place = Place::resolve(given).map_err(of_report)?;
        for (other, name) in others {
            Place::require_apart(other, &place).map_err(|error| {
                let apart = Error::usage(format!("--report {given:?} must be apart from {name}"));
                let apart = match error {
                    StoreError::Nested { inner, outer } => {
                        apart.detail(format!("{inner:?} lies inside {outer:?}"))
                    }
                    StoreError::Same(_) => apart,
                    error => apart.detail(error.to_string()),
                };
                apart.hint("write the report to a file beside it")
            })?;
        }
        if existing == Existing::Replace {
            refuse_other_files(&place)?;
        }
        StagedFile::check(&place, existing).map_err(of_report)?;
        Ok(Self {
            place: Some((place, existing)),
        })
    }

    /// Begins the file, so that a directory that cannot be written shows before the work.
    pub(in super::super) fn begin(self, ui: &mut Ui) -> Result<Begun, Error> {
        let Some((place, existing)) = self.place else {
            return Ok(Begun { file: None });
        };
        let file = StagedFile::begin(&place, existing).map_err(of_report)?;
        for leftover in file.leftovers() {
            ui.status(leftover);
        }
        Ok(Begun { file: Some(file) })
    }
}

impl Begun {
    /// Writes the report and puts it in place. No signal keeps it from that: what it tells of has been done.
    pub(in super::super) fn publish(self, report: &impl Serialize) -> Result<(), Error> {
        if let Some(file) = self.file {
            file.write_at(crate::report::to_json(report)?.as_bytes(), 0)
                .and_then(|()| file.publish(&Interrupt::default()))
                .map_err(of_report)?;
        }
        Ok(())
    }
}

/// An error of the place of the report, which says so.
fn of_report(error: StoreError) -> Error {
    Error::from(error).about("--report")
}

/// Refuses a report in the place of the file that standard input reads.
pub(in super::super) fn refuse_standard_input(given: &Path) -> Result<(), Error> {
    let place = Place::resolve(given).map_err(of_report)?;
    let read = standard_input::metadata().filter(Metadata::is_file);
    if read.is_some_and(|read| place.is_one_with(&read)) {
        return Err(
            Error::usage(format!("--report {given:?} is what standard input reads"))
                .hint("write the report to another file"),
        );
    }
    Ok(())
}

/// Refuses to replace what is no report: a slip of the keyboard names a file that is dear to somebody.
fn refuse_other_files(place: &Place) -> Result<(), Error> {
    if !place.is_file() {
        return Ok(());
    }
    let mut start = Vec::new();
    let opened = File::open(place.path()).and_then(|file| file.take(256).read_to_end(&mut start));
    opened.map_err(|cause| Error::io(format!("could not read {:?}", place.given()), cause))?;
    let is_report = String::from_utf8_lossy(&start).contains("\"zarrpack.");
    if start.is_empty() || is_report {
        return Ok(());
    }
    let message = format!(
        "{:?} is no report, and is not replaced by one",
        place.given()
    );
    Err(Error::usage(message).hint("remove it first, or choose another name"))
}
