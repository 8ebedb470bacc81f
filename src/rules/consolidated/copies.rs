//! The consolidated metadata of the groups around the node at hand, held against the documents that the walk meets.

use std::collections::HashMap;
use std::ops::Range;

use super::super::document::Document;
use super::super::finding::Findings;
use super::super::policy::Policy;
use super::super::{Check, all};
use super::compare::{Difference, difference};
use crate::metadata::consolidated::{Consolidated, EntryKind};
use crate::metadata::json::{Kind, Parsed, Value};
use crate::metadata::{DocumentKind, Node, Problems, v3};

/// The text of all consolidated metadata that is kept at a time. Groups in groups may each have as much as a document may hold.
const MOST_TEXT: usize = 256 << 20;

/// A place in the document that holds the copies.
pub(in super::super) struct Place {
    pub(super) kind: DocumentKind,
    pub(super) pointer: String,
    pub(super) span: Range<usize>,
}

impl Place {
    /// A stand-in for the document, whose text is not needed.
    pub(super) const fn document(&self) -> Document<'static> {
        const NOTHING: &crate::metadata::json::SyntaxError = &crate::metadata::json::SyntaxError {
            kind: crate::metadata::json::SyntaxErrorKind::NotJson,
            message: String::new(),
            offset: 0,
            line: 0,
            column: 0,
        };
        Document::new(self.kind, &[], Err(NOTHING))
    }
}

/// What holding copies against documents has found.
pub(in super::super) enum Compared<'c> {
    /// A copy is not what its document says.
    Differs {
        place: &'c Place,
        path: &'c str,
        file: &'static str,
        difference: Difference,
    },
    /// A copy has no document.
    Surplus {
        place: &'c Place,
        path: &'c str,
        file: &'static str,
    },
    /// A document has no copy.
    Missing {
        place: &'c Place,
        path: &'c str,
        file: &'static str,
    },
}

/// The copies that a group holds.
#[derive(Debug)]
pub struct Holder {
    /// What to call the group.
    pub name: String,
    /// The document that holds the copies.
    pub kind: DocumentKind,
    /// Its text.
    pub bytes: Vec<u8>,
    /// What was found about them.
    pub findings: Findings,
    /// The path of the group from where the walk began; `None` for a group around that.
    pub path: Option<String>,
    /// What comes before the paths of the walk in the paths of the copies.
    prefix: String,
    block: Range<usize>,
    block_pointer: &'static str,
    entries: HashMap<(String, &'static str), Copy>,
}

#[derive(Debug)]
struct Copy {
    value: Value,
    pointer: String,
    met: bool,
}

/// The groups around the node at hand that hold copies, outermost first.
#[derive(Debug, Default)]
pub struct Copies {
    holders: Vec<Holder>,
}

impl Copies {
    /// Begins to compare with the copies in the documents of a group. False where they are more than can be kept, and nothing
    /// is compared.
    ///
    /// `path` is that of the group from where the walk began, `prefix` what leads from a group around that to the walk's
    /// beginning; one of them is given.
    pub fn hold(
        &mut self,
        name: String,
        path: Option<String>,
        prefix: String,
        documents: &[Document<'_>],
    ) -> bool {
        for document in documents {
            let Ok(parsed) = document.parsed else {
                continue;
            };
            let (block_pointer, found) = match document.kind {
                DocumentKind::ZarrJson => ("/consolidated_metadata", inline(parsed)),
                DocumentKind::ZMetadata => ("", zmetadata(parsed)),
                _ => continue,
            };
            let Some((block, entries)) = found else {
                continue;
            };
            let kept: usize = self.holders.iter().map(|holder| holder.bytes.len()).sum();
            if kept + document.bytes.len() > MOST_TEXT {
                return false;
            }
            self.holders.push(Holder {
                name: name.clone(),
                kind: document.kind,
                bytes: document.bytes.to_vec(),
                findings: Findings::default(),
                path: path.clone(),
                prefix: prefix.clone(),
                block,
                block_pointer,
                entries,
            });
        }
        true
    }

    /// Holds the documents of a node against their copies, unless it is not to be reported on.
    pub fn meet(&mut self, path: &str, documents: &[Document<'_>], report: bool, policy: &Policy) {
        for holder in &mut self.holders {
            let Some(relative) = holder.relative(path) else {
                continue;
            };
            for document in documents {
                holder.meet(&relative, document, report, policy);
            }
        }
    }

    /// Takes it that what is at and below a path could not be looked at, so that nothing can be said of its copies.
    pub fn excuse(&mut self, path: &str) {
        for holder in &mut self.holders {
            let Some(relative) = holder.relative(path) else {
                continue;
            };
            for ((known, _), copy) in &mut holder.entries {
                copy.met |= is_at_or_below(known, &relative);
            }
        }
    }

    /// Ends with the groups that a path is not in: their copies without documents are reported, if asked for.
    pub fn leave(&mut self, path: Option<&str>, report: bool, policy: &Policy) -> Vec<Holder> {
        let stays = |holder: &Holder| match (&holder.path, path) {
            (_, None) => false,
            (None, _) => true,
            (Some(base), Some(path)) => is_at_or_below(path, base),
        };
        let first = self
            .holders
            .iter()
            .position(|holder| !stays(holder))
            .unwrap_or(self.holders.len());
        let mut left = self.holders.split_off(first);
        for holder in &mut left {
            if report {
                holder.unmet(policy);
            }
            holder.entries = HashMap::new();
        }
        // Groups inside come before those around them, as the walk has left them.
        left.reverse();
        left
    }
}

impl Holder {
    /// The path of a node in the copies.
    fn relative(&self, path: &str) -> Option<String> {
        match &self.path {
            Some(base) if base.is_empty() => Some(path.to_owned()),
            Some(base) if path == base => Some(String::new()),
            Some(base) => Some(
                path.strip_prefix(base.as_str())?
                    .strip_prefix('/')?
                    .to_owned(),
            ),
            None if path.is_empty() => Some(self.prefix.clone()),
            None => Some(format!("{}/{path}", self.prefix)),
        }
    }

    fn meet(&mut self, path: &str, document: &Document<'_>, report: bool, policy: &Policy) {
        if path.is_empty() && document.kind == self.kind {
            return;
        }
        let file = document.kind.file_name();
        if document.kind == DocumentKind::ZMetadata {
            return;
        }
        let compared = match self.entries.get_mut(&(path.to_owned(), file)) {
            Some(copy) => {
                copy.met = true;
                let original = document.parsed.ok().map(|parsed| &parsed.root);
                let found = original.and_then(|original| difference(&copy.value, original));
                found.map(|difference| {
                    let place = Place {
                        kind: self.kind,
                        pointer: copy.pointer.clone(),
                        span: copy.value.span.clone(),
                    };
                    (place, Some(difference))
                })
            }
            // The copy of v2 attributes may be left out where there are none.
            None if file == ".zattrs" && is_empty(document) => None,
            None => {
                let place = Place {
                    kind: self.kind,
                    pointer: self.block_pointer.to_owned(),
                    span: self.block.start..self.block.start + 1,
                };
                Some((place, None))
            }
        };
        if let (Some((place, difference)), true) = (compared, report) {
            let place = &place;
            run(
                &match difference {
                    Some(difference) => Compared::Differs {
                        place,
                        path,
                        file,
                        difference,
                    },
                    None => Compared::Missing { place, path, file },
                },
                &mut self.findings,
                policy,
            );
        }
    }

    /// Reports the copies that no document was met for.
    fn unmet(&mut self, policy: &Policy) {
        let mut unmet: Vec<_> = self
            .entries
            .iter()
            .filter(|((path, file), copy)| {
                let empty = copy.value.as_object().is_some_and(<[_]>::is_empty);
                let inside = self.path.is_some() || is_at_or_below(path, &self.prefix);
                // The group's own document holds the copies and is none of them.
                !copy.met && inside && !(*file == ".zattrs" && empty)
            })
            .collect();
        unmet.sort_by_key(|(_, copy)| copy.value.span.start);
        let mut findings = std::mem::take(&mut self.findings);
        for ((path, file), copy) in unmet {
            let place = Place {
                kind: self.kind,
                pointer: copy.pointer.clone(),
                span: copy.value.span.start..copy.value.span.start + 1,
            };
            let compared = Compared::Surplus {
                place: &place,
                path,
                file,
            };
            run(&compared, &mut findings, policy);
        }
        findings.sort();
        self.findings = findings;
    }
}

fn run(compared: &Compared<'_>, findings: &mut Findings, policy: &Policy) {
    for rule in all() {
        if let (Check::Copy(check), Some(severity)) = (rule.check, policy.severity(rule)) {
            check(compared, &mut findings.sink_going_on(rule, severity));
        }
    }
}

fn is_at_or_below(path: &str, around: &str) -> bool {
    around.is_empty()
        || path
            .strip_prefix(around)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_empty(document: &Document<'_>) -> bool {
    let root = document.parsed.ok().map(|parsed| &parsed.root);
    root.is_some_and(|root| root.as_object().is_some_and(<[_]>::is_empty))
}

type Entries = HashMap<(String, &'static str), Copy>;

fn inline(parsed: &Parsed) -> Option<(Range<usize>, Entries)> {
    let mut problems = Problems::default();
    match v3::read(&Node::root(&parsed.root), &mut problems) {
        v3::Document::Group(group) => group.consolidated.map(|block| collect(&block)),
        _ => None,
    }
}

fn zmetadata(parsed: &Parsed) -> Option<(Range<usize>, Entries)> {
    let mut problems = Problems::default();
    Consolidated::zmetadata(&Node::root(&parsed.root), &mut problems).map(|block| collect(&block))
}

fn collect(block: &Consolidated<'_>) -> (Range<usize>, Entries) {
    let entries = block.entries.iter().map(|entry| {
        let copy = Copy {
            value: without_nested(entry.node.value, entry.kind),
            pointer: entry.node.pointer.to_string(),
            met: false,
        };
        ((entry.path.clone(), entry.kind.file_name()), copy)
    });
    (block.node.span(), entries.collect())
}

/// A copy without the copies in it, which are entries of their own.
fn without_nested(value: &Value, kind: EntryKind) -> Value {
    match (&value.kind, kind) {
        (Kind::Object(members), EntryKind::Group) => Value {
            kind: Kind::Object(
                members
                    .iter()
                    .filter(|member| member.name != "consolidated_metadata")
                    .cloned()
                    .collect(),
            ),
            span: value.span.clone(),
        },
        _ => value.clone(),
    }
}
