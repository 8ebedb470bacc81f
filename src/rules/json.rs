//! `json/*`: what keeps a text from being JSON that all readers read alike.

use super::Check::Document as OfDocument;
use super::document::Document;
use super::finding::{Draft, Sink};
use super::{Rule, Severity::Error, rule};
use crate::metadata::json::{Issue, IssueKind, SyntaxErrorKind};

pub(super) const RULES: &[Rule] = &[
    rule(
        "json/syntax",
        Error,
        "a text that is not JSON",
        OfDocument(syntax),
    ),
    rule(
        "json/non-finite",
        Error,
        "a bare NaN or Infinity, which JSON does not have",
        OfDocument(non_finite),
    ),
    rule(
        "json/duplicate-member",
        Error,
        "a member that stands twice in its object",
        OfDocument(duplicate_member),
    ),
    rule(
        "json/too-deep",
        Error,
        "arrays and objects nested beyond reason",
        OfDocument(too_deep),
    ),
    rule(
        "json/too-large",
        Error,
        "a document of more bytes or values than are read",
        OfDocument(too_large),
    ),
];

fn syntax(document: &Document<'_>, sink: &mut Sink<'_>) {
    refused(
        document,
        SyntaxErrorKind::NotJson,
        "JSON, as RFC 8259 has it",
        sink,
    );
}

fn too_deep(document: &Document<'_>, sink: &mut Sink<'_>) {
    refused(
        document,
        SyntaxErrorKind::TooDeep,
        "metadata of a few levels",
        sink,
    );
}

fn too_large(document: &Document<'_>, sink: &mut Sink<'_>) {
    refused(
        document,
        SyntaxErrorKind::TooLarge,
        "a document that can be read within bounds",
        sink,
    );
}

fn refused(document: &Document<'_>, kind: SyntaxErrorKind, expected: &str, sink: &mut Sink<'_>) {
    let Err(error) = document.parsed else { return };
    if error.kind == kind {
        sink.report(document.kind, || {
            let end = (error.offset + 1).min(document.bytes.len());
            Draft::spanning(document, "", error.offset.min(end)..end)
                .found(&error.message)
                .expected(expected)
        });
    }
}

fn non_finite(document: &Document<'_>, sink: &mut Sink<'_>) {
    issues(document, sink, |issue| match issue.kind {
        IssueKind::NonFinite => Some((
            "a bare number that is not finite",
            "the number in quotes, such as \"NaN\"",
        )),
        IssueKind::DuplicateMember { .. } => None,
    });
}

fn duplicate_member(document: &Document<'_>, sink: &mut Sink<'_>) {
    issues(document, sink, |issue| match issue.kind {
        IssueKind::DuplicateMember { .. } => Some((
            "a member whose name stood in the object before",
            "each member once; readers differ in which of two they use",
        )),
        IssueKind::NonFinite => None,
    });
}

fn issues(
    document: &Document<'_>,
    sink: &mut Sink<'_>,
    words: impl Fn(&Issue) -> Option<(&'static str, &'static str)>,
) {
    let Ok(parsed) = document.parsed else { return };
    let mut any = false;
    for issue in &parsed.issues {
        let Some((found, expected)) = words(issue) else {
            continue;
        };
        any = true;
        sink.report(document.kind, || {
            Draft::spanning(document, issue.pointer.to_string(), issue.span.clone())
                .found(found)
                .expected(expected)
        });
    }
    // Those beyond the first thousand are counted together, whatever they are.
    if any && parsed.more_issues > 0 {
        sink.count(document.kind, 0, true);
    }
}
