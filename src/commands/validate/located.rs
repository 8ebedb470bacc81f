//! Findings with their lines and columns.

use crate::metadata::DocumentKind;
use crate::metadata::json::LineIndex;
use crate::report::validate::{Finding, More, Node};
use crate::rules::{Findings, NodeKind};

/// What was found about a node, and the texts it was found in.
pub(super) struct Located<'t> {
    /// For reports.
    pub(super) node: Node,
    /// The bytes at fault of each finding.
    pub(super) spans: Vec<std::ops::Range<usize>>,
    /// The documents.
    pub(super) texts: Vec<(DocumentKind, &'t [u8])>,
    /// The directory of the node, or the single document, as a message names it.
    pub(super) place: String,
    /// Whether `place` is the document itself.
    pub(super) single: bool,
}

impl<'t> Located<'t> {
    /// Gives findings their places.
    pub(super) fn new(
        path: String,
        place: String,
        single: bool,
        kind: NodeKind,
        findings: Findings,
        texts: Vec<(DocumentKind, &'t [u8])>,
    ) -> Self {
        let mut node = Node {
            path,
            kind: kind.name().to_owned(),
            findings: Vec::new(),
            more: Vec::new(),
        };
        let mut spans = Vec::new();
        let mut lines: Vec<(DocumentKind, LineIndex<'_>)> = Vec::new();
        for finding in findings.listed {
            if !lines.iter().any(|(kind, _)| *kind == finding.document) {
                let text = texts.iter().find(|(kind, _)| *kind == finding.document);
                let text = text.map_or(&[][..], |(_, text)| *text);
                lines.push((finding.document, LineIndex::new(text)));
            }
            let Some((_, index)) = lines.iter().find(|(kind, _)| *kind == finding.document) else {
                continue;
            };
            let start = index.position(finding.span.start);
            let end = index.position(finding.span.end);
            spans.push(finding.span);
            node.findings.push(Finding {
                rule: finding.rule.to_owned(),
                severity: finding.severity,
                document: finding.document.file_name().to_owned(),
                pointer: finding.pointer,
                line: start.line,
                column: start.column,
                end_line: end.line,
                end_column: end.column,
                found: finding.found,
                expected: finding.expected,
                hint: finding.hint,
                notes: finding.notes,
            });
        }
        node.more = findings
            .more
            .into_iter()
            .map(|more| More {
                rule: more.rule.to_owned(),
                severity: more.severity,
                document: more.document.file_name().to_owned(),
                count: more.count,
                at_least: more.at_least,
            })
            .collect();
        Self {
            node,
            spans,
            texts,
            place,
            single,
        }
    }

    /// The file of a document, as a message names it.
    pub(super) fn file(&self, document: &str) -> String {
        if self.single {
            self.place.clone()
        } else if self.place == "." {
            document.to_owned()
        } else {
            format!("{}/{document}", self.place.trim_end_matches('/'))
        }
    }

    /// The text of a finding's document.
    pub(super) fn text(&self, finding: &Finding) -> &'t [u8] {
        let text = self
            .texts
            .iter()
            .find(|(kind, _)| kind.file_name() == finding.document);
        text.map_or(&[], |(_, text)| *text)
    }
}
