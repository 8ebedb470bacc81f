//! `--report FILE`: the report as JSON, in a file that appears whole, after OUTPUT.

use std::fs::File;
use std::io::Read;

use super::DecodeArgs;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::report::decode::Report;
use crate::store::{Existing, Place, StagedFile};
use crate::ui::Ui;

/// The place of a report, if one is wanted, at which nothing has been done yet.
pub(super) struct ReportFile {
    place: Option<(Place, Existing)>,
}

/// A report that is to be written.
pub(super) struct Begun {
    file: Option<StagedFile>,
}

impl ReportFile {
    /// Looks at the place that `--report` names. It has nothing to do with INPUT and OUTPUT.
    pub(super) fn check(
        args: &DecodeArgs,
        input: &Place,
        output: Option<&Place>,
    ) -> Result<Self, Error> {
        let Some(given) = &args.report else {
            return Ok(Self { place: None });
        };
        let place = Place::resolve(given)?;
        let apart = |(other, name): (&Place, &str)| {
            Place::require_apart(other, &place).map_err(|error| {
                Error::usage(format!("--report {given:?} must be apart from {name}"))
                    .detail(error.to_string())
                    .hint("write the report to a file beside it")
            })
        };
        apart((input, "INPUT"))?;
        if let Some(output) = output {
            apart((output, "OUTPUT"))?;
        }
        if args.overwrite {
            refuse_other_files(&place)?;
        }
        StagedFile::check(&place, args.existing())?;
        Ok(Self {
            place: Some((place, args.existing())),
        })
    }

    /// Begins the file, so that a directory that cannot be written shows before the work.
    pub(super) fn begin(self, ui: &mut Ui) -> Result<Begun, Error> {
        let Some((place, existing)) = self.place else {
            return Ok(Begun { file: None });
        };
        let file = StagedFile::begin(&place, existing)?;
        for leftover in file.leftovers() {
            ui.status(leftover);
        }
        Ok(Begun { file: Some(file) })
    }
}

impl Begun {
    /// Writes the report and puts it in place.
    pub(super) fn publish(self, report: &Report, interrupt: &Interrupt) -> Result<(), Error> {
        if let Some(file) = self.file {
            file.write_at(crate::report::to_json(report)?.as_bytes(), 0)?;
            file.publish(interrupt)?;
        }
        Ok(())
    }
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
