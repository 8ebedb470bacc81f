//! Members that are missing, unknown or of the wrong kind.

use super::super::document::Document;
use super::super::finding::{Draft, Sink};
use super::super::node::Node;
use crate::metadata::{DocumentKind, ProblemKind};

/// What reading a document has found that belongs to the rule.
pub(in super::super) fn reported(document: &Document<'_>, sink: &mut Sink<'_>) {
    let rule = sink.rule();
    if rule == "core/missing-member" && is_unrecognised(document) {
        return;
    }
    let mut any = false;
    for (_, problem) in document.problems.iter().filter(|(id, _)| *id == rule) {
        any = true;
        sink.report(document.kind, || {
            let draft = Draft::problem(document, problem);
            match problem.kind {
                ProblemKind::NotUnderstood if rule == "core/unknown-member" => {
                    draft.hint("put what is yours into \"attributes\"")
                }
                _ => draft,
            }
        });
    }
    if any && document.more_problems > 0 {
        sink.count(document.kind, 0, true);
    }
}

/// A document that is JSON and nothing more, where its name does not say what it is.
pub(super) fn unrecognised(node: &Node<'_>, sink: &mut Sink<'_>) {
    for document in &node.documents {
        let Some(root) = document.root().filter(|_| is_unrecognised(document)) else {
            continue;
        };
        sink.report(document.kind, || {
            Draft::spanning(document, "", root.span.start..root.span.start + 1)
                .found("an object with neither \"zarr_format\" nor \"node_type\"")
                .expected("metadata of Zarr v2 or v3")
        });
    }
}

/// Whether nothing in a document says what it is. Attributes may be anything, and a document that is no object has a rule of its own.
fn is_unrecognised(document: &Document<'_>) -> bool {
    let root = document.root();
    document.kind == DocumentKind::ZarrJson
        && root.is_some_and(|root| {
            root.as_object().is_some() && DocumentKind::recognise(root).is_none()
        })
}

/// Documents of v2 that no reader looks at.
pub(super) fn shadowed(node: &Node<'_>, sink: &mut Sink<'_>) {
    let Some(document) = node.document(DocumentKind::ZarrJson) else {
        return;
    };
    for name in node.shadowed {
        sink.report(document.kind, || {
            Draft::spanning(document, "", 0..0)
                .found(format!("a {name} beside this document"))
                .expected("metadata of one version; readers use zarr.json, and some use the other")
                .hint(format!("remove {name} once no reader of Zarr v2 needs it"))
        });
    }
}
