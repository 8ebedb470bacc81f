//! Where findings go: each form of the report takes one node after the other.

use std::path::Path;

use super::github::Github;
use super::human::Human;
use super::located::Located;
use super::{Report, SCHEMA, Summary, ValidateFormat};
use crate::error::Error;
use crate::report::validate::{Store, Unreadable};
use crate::ui::Ui;

/// A form of the report.
pub(super) enum Output {
    /// Printed node by node.
    Human(Human),
    /// Printed at the end.
    Json(Vec<Store>),
    /// Printed at the end, worst first.
    Github(Github),
}

impl Output {
    pub(super) fn new(format: ValidateFormat, ui: &Ui) -> Self {
        match format {
            ValidateFormat::Human => Self::Human(Human::new(ui.output_style())),
            ValidateFormat::Json => Self::Json(Vec::new()),
            ValidateFormat::Github => Self::Github(Github::default()),
        }
    }

    /// Begins with a STORE.
    pub(super) fn begin(&mut self, given: &Path) {
        let store = given.to_string_lossy().into_owned();
        match self {
            Self::Human(human) => human.begin(store),
            Self::Github(github) => github.begin(store),
            Self::Json(stores) => stores.push(Store {
                store,
                ..Store::default()
            }),
        }
    }

    /// Takes what was found about a node.
    pub(super) fn node(&mut self, ui: &mut Ui, located: Located<'_>) -> Result<(), Error> {
        match self {
            Self::Human(human) => human.node(ui, &located),
            Self::Github(github) => {
                github.node(&located);
                Ok(())
            }
            Self::Json(stores) => {
                if let Some(store) = stores.last_mut() {
                    store.nodes.push(located.node);
                }
                Ok(())
            }
        }
    }

    /// Takes what could not be read.
    pub(super) fn unreadable(&mut self, unreadable: Unreadable) {
        match self {
            Self::Human(_) => {}
            Self::Github(github) => github.unreadable(&unreadable),
            Self::Json(stores) => {
                if let Some(store) = stores.last_mut() {
                    store.unreadable.push(unreadable);
                }
            }
        }
    }

    /// Ends with a STORE.
    pub(super) fn end(&mut self, ui: &mut Ui) -> Result<(), Error> {
        match self {
            Self::Human(human) => human.end(ui),
            Self::Json(_) | Self::Github(_) => Ok(()),
        }
    }

    /// Ends the report.
    pub(super) fn finish(self, ui: &mut Ui, summary: Summary) -> Result<(), Error> {
        match self {
            Self::Human(human) => human.finish(ui, &summary),
            Self::Github(github) => github.finish(ui, &summary),
            Self::Json(stores) => {
                let report = Report {
                    schema: SCHEMA.to_owned(),
                    stores,
                    summary,
                };
                ui.print(crate::report::to_json(&report)?)
            }
        }
    }
}
