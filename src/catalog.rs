//! The nodes of a store with their documents read and judged: what every command that takes a STORE begins with.

use std::path::PathBuf;

use crate::codecs::ArrayDocument;
use crate::error::{Error, ErrorKind};
use crate::metadata::json::{IssueKind, Limits, LineIndex, NonFinite, Parsed, Value, parse};
use crate::metadata::{Node, Problem, ProblemKind, Problems, v2, v3};
use crate::store::{self, Descend, Store, StoreError, Visit, WalkOptions};

/// The values of one document. Consolidated metadata of thirty thousand arrays has fewer; in memory, with what is made of them,
/// they take half a gigabyte at most.
const MOST_VALUES: usize = 3_000_000;

/// A node of a hierarchy.
#[derive(Debug)]
pub struct Entry {
    /// The path from the start of the walk, without slashes at the ends; empty for the start.
    pub path: String,
    /// Its directory.
    pub directory: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// The names of v2 documents that stand beside a `zarr.json` and do not count.
    pub shadowed: Vec<&'static str>,
    /// Whether a link to a directory led here, at this node or above it.
    pub linked: bool,
}

/// What is come across in a store.
#[derive(Debug)]
pub enum Found {
    /// A node.
    Node(Box<Entry>),
    /// Something that could not be looked at.
    Fault {
        /// The path from the start of the walk.
        path: String,
        /// Why not.
        error: StoreError,
    },
}

/// What a node is.
#[derive(Debug)]
pub enum Kind {
    /// An array whose documents can be relied upon.
    Array(ArrayText),
    /// A group whose documents can be relied upon.
    Group(GroupText),
    /// A node whose documents cannot be read, or cannot be relied upon.
    Broken(Vec<Finding>),
}

/// The document of an array, parsed.
#[derive(Debug)]
pub enum ArrayText {
    /// A `zarr.json`.
    V3(Text),
    /// A `.zarray`, and the `.zattrs` beside it.
    V2 {
        /// `.zarray`
        array: Text,
        /// `.zattrs`
        attributes: Option<Text>,
    },
}

/// The document of a group, parsed.
#[derive(Debug)]
pub enum GroupText {
    /// A `zarr.json`.
    V3(Text),
    /// A `.zgroup` with what stands beside it.
    V2 {
        /// `.zattrs`
        attributes: Option<Text>,
        /// Whether there is a `.zmetadata`.
        consolidated: bool,
    },
}

/// A document as text and as a tree.
#[derive(Debug)]
pub struct Text {
    /// The text.
    pub text: String,
    /// The tree.
    pub parsed: Parsed,
}

/// Something wrong with a node.
#[derive(Debug)]
pub struct Finding {
    /// Whether it could not be read, or was read and is refused.
    pub kind: ErrorKind,
    /// What and where, in one line.
    pub message: String,
}

/// The nodes of a store, and what the walk could not look at.
#[derive(Debug, Default)]
pub struct Catalog {
    /// The nodes, parents first, siblings by name.
    pub entries: Vec<Entry>,
    /// What could not be looked at: a path and why.
    pub faults: Vec<(String, StoreError)>,
}

impl Catalog {
    /// Walks a store and reads all its documents.
    #[must_use]
    pub fn read(store: &Store) -> Self {
        let mut catalog = Self::default();
        each(store, &mut |found| match found {
            Found::Node(entry) => catalog.entries.push(*entry),
            Found::Fault { path, error } => catalog.faults.push((path, error)),
        });
        catalog
    }

    /// The errors of everything in the store that could not be read or relied upon, if there are any.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        let mut findings = Vec::new();
        for (path, error) in &self.faults {
            findings.push((error.kind(), format!("{}: {}", named(path), causes(error))));
        }
        for entry in &self.entries {
            if let Kind::Broken(broken) = &entry.kind {
                for finding in broken {
                    findings.push((
                        finding.kind,
                        format!("{}: {}", named(&entry.path), finding.message),
                    ));
                }
            }
        }
        let worst = if findings.iter().any(|(kind, _)| *kind == ErrorKind::Io) {
            ErrorKind::Io
        } else {
            ErrorKind::Finding
        };
        let count = findings.len();
        let (_, first) = findings.first()?;
        if count == 1 {
            return Some(Error::new(worst, first.clone()));
        }
        let error = Error::new(worst, format!("{count} problems with metadata"));
        Some(
            findings
                .into_iter()
                .fold(error, |error, (_, message)| error.detail(message)),
        )
    }
}

/// Walks a store and hands on one node after the other, its documents read, so that no more than one node's are held.
pub fn each(store: &Store, take: &mut dyn FnMut(Found)) {
    let visited: Result<(), std::convert::Infallible> =
        store::walk(store.directory(), &WalkOptions::default(), &mut |visit| {
            let node = match visit {
                Visit::Fault { path, error } => {
                    take(Found::Fault { path, error });
                    return Ok(Descend::No);
                }
                Visit::Node(node) => node,
            };
            let kind = judge(node.documents);
            // Below what may be a group there may be nodes; below what is no sound document as well.
            let descend = match kind {
                Kind::Array(_) => Descend::No,
                Kind::Group(_) | Kind::Broken(_) => Descend::Yes,
            };
            take(Found::Node(Box::new(Entry {
                path: node.path,
                directory: node.directory,
                kind,
                shadowed: node.shadowed,
                linked: node.linked,
            })));
            Ok(descend)
        });
    let Ok(()) = visited;
}

impl ArrayText {
    /// The attributes, where there are any.
    #[must_use]
    pub fn attributes(&self) -> Option<&Value> {
        match self {
            Self::V3(text) => text.parsed.root.get("attributes"),
            Self::V2 { attributes, .. } => attributes.as_ref().map(|text| &text.parsed.root),
        }
    }

    /// Hands the document on in the form in which arrays are opened.
    ///
    /// # Errors
    ///
    /// Never for an entry of a catalogue, whose arrays are complete.
    pub fn with<R>(
        &self,
        use_document: impl FnOnce(ArrayDocument<'_, '_>) -> R,
    ) -> Result<R, Incomplete> {
        let mut problems = Problems::default();
        match self {
            Self::V3(text) => match v3::read(&Node::root(&text.parsed.root), &mut problems) {
                v3::Document::Array(array) => array
                    .complete()
                    .map(|array| use_document(ArrayDocument::V3(&array))),
                _ => None,
            },
            Self::V2 { array, .. } => v2::array(&Node::root(&array.parsed.root), &mut problems)
                .complete()
                .map(|array| use_document(ArrayDocument::V2(&array))),
        }
        .ok_or(Incomplete)
    }
}

/// A document that was sound when it was read and is not any more.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the document is incomplete")]
pub struct Incomplete;

/// A path for a message: the root of a hierarchy has no name of its own.
#[must_use]
pub fn named(path: &str) -> String {
    if path.is_empty() {
        "/".to_owned()
    } else {
        path.escape_debug().to_string()
    }
}

/// An error in one line, with what the operating system said.
#[must_use]
pub fn causes(error: &StoreError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Decides what a node is from its documents.
fn judge(documents: Vec<store::Document>) -> Kind {
    let mut findings = Vec::new();
    let names: Vec<_> = documents.iter().map(|document| document.name).collect();
    let mut texts: Vec<(&'static str, Text)> = Vec::new();
    for document in documents {
        // Consolidated copies are for rules to compare; reading goes by the documents themselves.
        if document.name == ".zmetadata" {
            continue;
        }
        match read(document) {
            Ok((name, text)) => texts.push((name, text)),
            Err(finding) => findings.push(finding),
        }
    }
    let mut take = |name: &str| {
        let at = texts.iter().position(|(known, _)| *known == name)?;
        Some(texts.swap_remove(at).1)
    };
    let kind = if let Some(text) = take("zarr.json") {
        judge_v3(text, &mut findings)
    } else if let Some(array) = take(".zarray") {
        let mut problems = Problems::default();
        let complete = v2::array(&Node::root(&array.parsed.root), &mut problems)
            .complete()
            .is_some();
        report(".zarray", &array, &problems, &mut findings);
        let attributes = take(".zattrs").inspect(|text| attributes(text, &mut findings));
        complete.then_some(Kind::Array(ArrayText::V2 { array, attributes }))
    } else if names.contains(&".zgroup")
        || names.contains(&".zattrs")
        || names.contains(&".zmetadata")
    {
        if let Some(group) = take(".zgroup") {
            let mut problems = Problems::default();
            v2::group(&Node::root(&group.parsed.root), &mut problems);
            report(".zgroup", &group, &problems, &mut findings);
        }
        let attributes = take(".zattrs").inspect(|text| attributes(text, &mut findings));
        let consolidated = names.contains(&".zmetadata");
        Some(Kind::Group(GroupText::V2 {
            attributes,
            consolidated,
        }))
    } else {
        None
    };
    match kind {
        Some(kind) if findings.is_empty() => kind,
        _ => Kind::Broken(findings),
    }
}

fn judge_v3(text: Text, findings: &mut Vec<Finding>) -> Option<Kind> {
    const NAME: &str = "zarr.json";
    let mut problems = Problems::default();
    let (array, complete) = match v3::read(&Node::root(&text.parsed.root), &mut problems) {
        v3::Document::Array(array) => (true, array.complete().is_some()),
        v3::Document::Group(_) => (false, true),
        v3::Document::Neither => (false, false),
    };
    report(NAME, &text, &problems, findings);
    match (array, complete) {
        (_, false) => None,
        (true, true) => Some(Kind::Array(ArrayText::V3(text))),
        (false, true) => Some(Kind::Group(GroupText::V3(text))),
    }
}

fn attributes(text: &Text, findings: &mut Vec<Finding>) {
    let mut problems = Problems::default();
    v2::attributes(&Node::root(&text.parsed.root), &mut problems);
    report(".zattrs", text, &problems, findings);
}

fn read(document: store::Document) -> Result<(&'static str, Text), Finding> {
    let name = document.name;
    let bytes = document.bytes.map_err(|error| Finding {
        kind: error.kind(),
        message: causes(&error),
    })?;
    let limits = Limits {
        max_values: MOST_VALUES,
        ..Limits::default()
    };
    // A bare NaN in the attributes is no reason to keep data from their owner.
    let parsed = parse(&bytes, &limits, NonFinite::Keep);
    let finding = |message: String| Finding {
        kind: ErrorKind::Finding,
        message,
    };
    let parsed = parsed.map_err(|error| finding(format!("{name} is not JSON: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|error| finding(format!("{name}: {error}")))?;
    // Of members that stand twice each reader picks one. In attributes that is their business.
    let lines = LineIndex::new(text.as_bytes());
    for issue in &parsed.issues {
        let pointer = issue.pointer.to_string();
        let attribute = name == ".zattrs" || pointer.contains("/attributes/");
        if let (IssueKind::DuplicateMember { .. }, false) = (&issue.kind, attribute) {
            let position = lines.position(issue.span.start);
            let (line, column) = (position.line, position.column);
            return Err(finding(format!(
                "{name}, line {line} column {column}, {pointer}: expected each member once, found it a second time"
            )));
        }
    }
    Ok((name, Text { text, parsed }))
}

/// Notes the problems that keep a document from being relied upon.
fn report(name: &str, text: &Text, problems: &Problems, findings: &mut Vec<Finding>) {
    let lines = LineIndex::new(text.text.as_bytes());
    for problem in &problems.listed {
        let Problem {
            kind,
            pointer,
            span,
            found,
            expected,
        } = problem;
        if *kind == ProblemKind::Quirk {
            continue;
        }
        let position = lines.position(span.start);
        let (line, column) = (position.line, position.column);
        findings.push(Finding {
            kind: ErrorKind::Finding,
            message: format!(
                "{name}, line {line} column {column}, {pointer}: expected {expected}, found {found}"
            ),
        });
    }
    if problems.more > 0 {
        findings.push(Finding {
            kind: ErrorKind::Finding,
            message: format!("{name}: {} more problems", problems.more),
        });
    }
}

impl Text {
    /// Where in the document, whose name is given, a JSON pointer leads: with line and column, if there is anything.
    #[must_use]
    pub fn place(&self, name: &str, pointer: &str) -> String {
        // Of a member that is not there, the place where it should be.
        let mut prefix = pointer;
        let value = loop {
            match (self.parsed.root.lookup(prefix), prefix.rfind('/')) {
                (Some(value), _) => break value,
                (None, Some(at)) => prefix = &prefix[..at],
                (None, None) => break &self.parsed.root,
            }
        };
        let position = LineIndex::new(self.text.as_bytes()).position(value.span.start);
        let (line, column) = (position.line, position.column);
        match pointer {
            "" => format!("{name}, line {line} column {column}"),
            pointer => format!("{name}, line {line} column {column}, {pointer}"),
        }
    }

    /// Whether the document holds bare non-finite numbers, which are no JSON.
    #[must_use]
    pub fn has_non_finite(&self) -> bool {
        let mut issues = self.parsed.issues.iter();
        issues.any(|issue| issue.kind == IssueKind::NonFinite)
    }
}
