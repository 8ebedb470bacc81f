//! `consolidated/*`: copies of documents, against the documents.

mod compare;
mod copies;

use super::Check::{Copy as OfCopy, Document as OfDocument};
use super::Severity::{Error, Warning};
use super::finding::{Draft, Sink};
use super::{Rule, rule};

pub(super) use self::copies::Compared;
pub use self::copies::Copies;

pub(super) const RULES: &[Rule] = &[
    rule(
        "consolidated/form",
        Error,
        "consolidated metadata that are not written as such",
        OfDocument(super::core::reported),
    ),
    rule(
        "consolidated/null",
        Warning,
        "a consolidated_metadata of null",
        OfDocument(super::core::reported),
    ),
    rule(
        "consolidated/must-understand",
        Warning,
        "consolidated metadata without \"must_understand\": false",
        OfDocument(super::core::reported),
    ),
    rule(
        "consolidated/differs",
        Error,
        "a copy that is not what its document says",
        OfCopy(differs),
    ),
    rule(
        "consolidated/surplus",
        Error,
        "a copy of a document that does not exist",
        OfCopy(surplus),
    ),
    rule(
        "consolidated/missing",
        Warning,
        "a node that the consolidated metadata leave out",
        OfCopy(missing),
    ),
];

fn differs(compared: &Compared<'_>, sink: &mut Sink<'_>) {
    if let Compared::Differs {
        place,
        path,
        file,
        difference,
    } = compared
    {
        sink.report(place.kind, || {
            Draft::spanning(
                &place.document(),
                format!("{}{}", place.pointer, difference.pointer),
                difference.span.clone(),
            )
            .found(format!("{} in the copy", difference.copy))
            .expected(format!(
                "{}, as {} has it",
                difference.original,
                named(path, file)
            ))
            .hint("readers that open the group see the copy; consolidate again")
        });
    }
}

fn surplus(compared: &Compared<'_>, sink: &mut Sink<'_>) {
    if let Compared::Surplus { place, path, file } = compared {
        sink.report(place.kind, || {
            Draft::spanning(
                &place.document(),
                place.pointer.as_str(),
                place.span.clone(),
            )
            .found(format!("a copy of {}", named(path, file)))
            .expected("no copy, since there is no such document")
            .hint("consolidate again")
        });
    }
}

fn missing(compared: &Compared<'_>, sink: &mut Sink<'_>) {
    if let Compared::Missing { place, path, file } = compared {
        sink.report(place.kind, || {
            Draft::spanning(
                &place.document(),
                place.pointer.as_str(),
                place.span.clone(),
            )
            .found(format!("no copy of {}", named(path, file)))
            .expected("copies of all nodes; readers that go by them do not see this one")
            .hint("consolidate again")
        });
    }
}

fn named(path: &str, file: &str) -> String {
    let path = super::finding::cut(path, 200);
    if path.is_empty() {
        file.to_owned()
    } else {
        format!("{}/{file}", path.escape_debug())
    }
}
