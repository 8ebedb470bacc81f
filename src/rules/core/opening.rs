//! What keeps an array from being opened and no other rule has told.

use super::super::array::Array;
use super::super::finding::{Draft, Finding, Sink};
use crate::codecs::OpenProblemKind;

/// The rule's id.
pub(in super::super) const ID: &str = "core/configuration";

/// Reports what opening the array has found and `findings` do not cover.
pub(in super::super) fn rest(array: &Array<'_>, findings: &[Finding], sink: &mut Sink<'_>) {
    let problems = array.refused.iter().flat_map(|error| &error.problems);
    for problem in problems.filter(|problem| problem.kind == OpenProblemKind::Unsound) {
        let covers = |finding: &&Finding| {
            let inside = |a: &str, b: &str| {
                b.strip_prefix(a)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            finding.document == array.document.kind
                && finding.severity == super::Error
                && !finding.pointer.is_empty()
                && (inside(&finding.pointer, &problem.pointer)
                    || inside(&problem.pointer, &finding.pointer))
        };
        if findings.iter().any(|finding| covers(&finding)) {
            continue;
        }
        sink.report(array.document.kind, || {
            Draft::at(array.document, problem.pointer.as_str())
                .found(&problem.message)
                .expected("what the codec or the type can work with")
        });
    }
}
