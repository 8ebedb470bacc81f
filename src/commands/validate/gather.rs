//! From STOREs to findings, node by node, so that no more than one node's documents are held, and the consolidated copies of the
//! groups around it.

use std::convert::Infallible;
use std::io::Read;
use std::path::Path;

use super::located::Located;
use super::output::Output;
use crate::catalog;
use crate::error::{Error, ErrorKind};
use crate::metadata::DocumentKind;
use crate::metadata::json::{Limits, NonFinite, Parsed, SyntaxError, SyntaxErrorKind, parse};
use crate::report::validate::{Summary, Unreadable};
use crate::rules::{self, Copies, Document, Findings, Node, NodeKind, Policy, Severity};
use crate::selection::Selection;
use crate::store::{
    self, DEFAULT_MAX_DOCUMENT, Descend, Enclosing, Place, Store, StoreError, Visit, WalkOptions,
};
use crate::ui::Ui;

/// The values of one document: those of a map of a million entries, and of consolidated metadata of thirty thousand arrays.
const MOST_VALUES: usize = 4_000_000;

/// The longest path in a message.
const LONGEST_PATH: usize = 4096;

/// Reads, and has the rules look.
pub(super) struct Gatherer<'r> {
    pub(super) policy: &'r Policy,
    pub(super) selection: &'r Selection,
    pub(super) summary: Summary,
    /// What single documents are said to be.
    pub(super) kind: Option<DocumentKind>,
    /// Whether there was a single document.
    pub(super) kind_used: bool,
    /// STOREs that could not be opened, and what could not be read in them.
    pub(super) errors: Vec<Error>,
}

/// A document as it was read.
struct Text {
    kind: DocumentKind,
    bytes: Vec<u8>,
    parsed: Result<Parsed, SyntaxError>,
}

impl Text {
    fn new(kind: DocumentKind, bytes: Vec<u8>) -> Self {
        let limits = Limits {
            max_values: MOST_VALUES,
            ..Limits::default()
        };
        let parsed = parse(&bytes, &limits, NonFinite::Keep);
        Self {
            kind,
            bytes,
            parsed,
        }
    }

    /// A document that is too large to be read.
    fn too_large(kind: DocumentKind, limit: u64) -> Self {
        Self {
            kind,
            bytes: Vec::new(),
            parsed: Err(SyntaxError {
                kind: SyntaxErrorKind::TooLarge,
                message: format!("a document of more than {limit} bytes"),
                offset: 0,
                line: 1,
                column: 1,
            }),
        }
    }

    fn document(&self) -> Document<'_> {
        Document::new(self.kind, &self.bytes, self.parsed.as_ref())
    }
}

impl Gatherer<'_> {
    /// Looks at what one argument names.
    pub(super) fn one(
        &mut self,
        ui: &mut Ui,
        given: &Path,
        output: &mut Output,
    ) -> Result<(), Error> {
        if given.as_os_str() == "-" {
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .take(DEFAULT_MAX_DOCUMENT + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| Error::io("could not read standard input", error))?;
            return self.single(ui, "<stdin>".to_owned(), None, bytes, output);
        }
        let place = match Place::resolve(given) {
            Ok(place) => place,
            Err(error) => {
                self.errors.push(error.into());
                return Ok(());
            }
        };
        if place.is_file() {
            let name = given.to_string_lossy().into_owned();
            let named = given.file_name().and_then(|name| name.to_str());
            let kind = named.and_then(DocumentKind::of_file);
            return match store::read_document(place.path(), DEFAULT_MAX_DOCUMENT + 1) {
                Ok(bytes) => self.single(ui, name, kind, bytes, output),
                Err(StoreError::TooLarge { .. }) => {
                    let text = Text::too_large(
                        self.kind.or(kind).unwrap_or(DocumentKind::ZarrJson),
                        DEFAULT_MAX_DOCUMENT,
                    );
                    self.kind_used = true;
                    self.alone(ui, name, &text, output)
                }
                Err(error) => {
                    self.errors.push(error.into());
                    Ok(())
                }
            };
        }
        match Store::at(place) {
            Ok(store) => self.store(ui, &store, output),
            Err(error) => {
                self.errors.push(error.into());
                Ok(())
            }
        }
    }

    /// A document by itself.
    fn single(
        &mut self,
        ui: &mut Ui,
        name: String,
        kind: Option<DocumentKind>,
        bytes: Vec<u8>,
        output: &mut Output,
    ) -> Result<(), Error> {
        if !self.selection.is_default() {
            return Err(Error::usage(format!(
                "--array chooses arrays below a STORE, and {name:?} is a single document"
            )));
        }
        self.kind_used = true;
        let mut text = Text::new(DocumentKind::ZarrJson, bytes);
        let recognised = || DocumentKind::recognise(&text.parsed.as_ref().ok()?.root);
        text.kind = self
            .kind
            .or(kind)
            .or_else(recognised)
            .unwrap_or(DocumentKind::ZarrJson);
        self.alone(ui, name, &text, output)
    }

    fn alone(
        &mut self,
        ui: &mut Ui,
        name: String,
        text: &Text,
        output: &mut Output,
    ) -> Result<(), Error> {
        let node = Node::new(vec![text.document()], &[]);
        self.count(&node);
        let findings = rules::check(&node, self.policy);
        let texts = vec![(text.kind, text.bytes.as_slice())];
        let located = Located::new(String::new(), name, true, node.kind, findings, texts);
        self.show(ui, located, output)
    }

    fn count(&mut self, node: &Node<'_>) {
        self.summary.documents += node.documents.len() as u64;
        match node.kind {
            NodeKind::Array => self.summary.arrays += 1,
            NodeKind::Group => self.summary.groups += 1,
            NodeKind::Unknown => {}
        }
    }

    /// Counts what was found and hands it on, if there is anything.
    fn show(
        &mut self,
        ui: &mut Ui,
        located: Located<'_>,
        output: &mut Output,
    ) -> Result<(), Error> {
        let listed = located.node.findings.iter();
        let listed = listed.map(|finding| (finding.severity, 1));
        let more = located.node.more.iter();
        for (severity, count) in listed.chain(more.map(|more| (more.severity, more.count))) {
            match severity {
                Severity::Error => self.summary.errors += count,
                Severity::Warning => self.summary.warnings += count,
                Severity::Info => self.summary.infos += count,
            }
        }
        if located.node.findings.is_empty() && located.node.more.is_empty() {
            return Ok(());
        }
        output.node(ui, located)
    }

    fn store(&mut self, ui: &mut Ui, store: &Store, output: &mut Output) -> Result<(), Error> {
        let given = store.place().given().to_string_lossy().into_owned();
        let mut walk = Walk {
            given: given.trim_end_matches('/').to_owned(),
            copies: Copies::default(),
            met: false,
            failed: None,
        };
        if walk.given.is_empty() {
            walk.given = "/".to_owned();
        }
        for group in store.enclosing() {
            self.enclosing(group, &mut walk, output);
        }
        let options = WalkOptions::default();
        let walked: Result<(), Infallible> =
            store::walk(store.directory(), &options, &mut |visit| {
                // After a failure to print nothing more is worth the work.
                if walk.failed.is_some() {
                    return Ok(Descend::No);
                }
                let visited = match visit {
                    Visit::Node(node) => self.node(ui, node, &mut walk, output),
                    Visit::Fault { path, error } => {
                        walk.copies.excuse(&path);
                        self.fault(&walk.given, path, &error, output);
                        walk.met = true;
                        Ok(Descend::No)
                    }
                };
                Ok(visited.unwrap_or_else(|error| {
                    walk.failed = Some(error);
                    Descend::No
                }))
            });
        let Ok(()) = walked;
        if let Some(error) = walk.failed {
            return Err(error);
        }
        self.leave(ui, None, &mut walk, output)?;
        if !walk.met {
            let error = Error::new(ErrorKind::Io, format!("no Zarr node in {given:?}"));
            self.errors.push(error.hint(
                "a node is a directory that holds zarr.json (version 3), .zarray or .zgroup (version 2)",
            ));
        }
        Ok(())
    }

    /// Reads the copies that a group around the store holds.
    fn enclosing(&mut self, group: &Enclosing, walk: &mut Walk, output: &mut Output) {
        let v3 = group.directory.join("zarr.json").exists();
        let kind = if v3 {
            DocumentKind::ZarrJson
        } else {
            DocumentKind::ZMetadata
        };
        let path = group.directory.join(kind.file_name());
        match store::read_document(&path, DEFAULT_MAX_DOCUMENT) {
            Ok(bytes) => {
                let text = Text::new(kind, bytes);
                let name = group.directory.to_string_lossy().into_owned();
                let documents = [text.document()];
                walk.copies.hold(name, None, group.path.clone(), &documents);
            }
            Err(StoreError::NotFound(_)) if !v3 => {}
            Err(error) => self.fault(
                &walk.given,
                group.directory.to_string_lossy().into_owned(),
                &error,
                output,
            ),
        }
    }

    fn node(
        &mut self,
        ui: &mut Ui,
        found: store::Node,
        walk: &mut Walk,
        output: &mut Output,
    ) -> Result<Descend, Error> {
        walk.met = true;
        self.leave(ui, Some(&found.path), walk, output)?;
        let mut texts = Vec::new();
        for document in found.documents {
            let Some(kind) = DocumentKind::of_file(document.name) else {
                continue;
            };
            match document.bytes {
                Ok(bytes) => texts.push(Text::new(kind, bytes)),
                Err(StoreError::TooLarge { limit, .. }) => {
                    texts.push(Text::too_large(kind, limit));
                }
                Err(error) => {
                    walk.copies.excuse(&found.path);
                    self.fault(&walk.given, found.path.clone(), &error, output);
                }
            }
        }
        let documents = texts.iter().map(Text::document).collect();
        let node = Node::new(documents, &found.shadowed);
        let selected = match node.kind {
            NodeKind::Array | NodeKind::Unknown => self.selection.contains(&found.path),
            NodeKind::Group => self.selection.is_default(),
        };
        if node.has_consolidated() {
            let name = join(&walk.given, &found.path);
            let base = Some(found.path.clone());
            let held = walk
                .copies
                .hold(name.clone(), base, String::new(), &node.documents);
            if !held {
                ui.warning(format!(
                    "the consolidated metadata of {name:?} are not compared: with those around it they are too many"
                ));
            }
        }
        walk.copies
            .meet(&found.path, &node.documents, selected, self.policy);
        if selected {
            self.count(&node);
            let findings = rules::check(&node, self.policy);
            let bytes = texts
                .iter()
                .map(|text| (text.kind, text.bytes.as_slice()))
                .collect();
            let place = join(&walk.given, &found.path);
            let located = Located::new(found.path, place, false, node.kind, findings, bytes);
            self.show(ui, located, output)?;
        }
        Ok(match node.kind {
            NodeKind::Array => Descend::No,
            NodeKind::Group | NodeKind::Unknown => Descend::Yes,
        })
    }

    /// Shows what was found about the copies of the groups that the walk has left.
    fn leave(
        &mut self,
        ui: &mut Ui,
        path: Option<&str>,
        walk: &mut Walk,
        output: &mut Output,
    ) -> Result<(), Error> {
        let report = self.selection.is_default();
        for holder in walk.copies.leave(path, report, self.policy) {
            let findings = holder.findings;
            if findings == Findings::default() {
                continue;
            }
            let texts = vec![(holder.kind, holder.bytes.as_slice())];
            let path = holder.path.clone().unwrap_or_else(|| holder.name.clone());
            let located = Located::new(path, holder.name, false, NodeKind::Group, findings, texts);
            self.show(ui, located, output)?;
        }
        Ok(())
    }

    /// Notes what could not be looked at. Whatever kept it from being read, nothing can be said of it, and the run says so.
    fn fault(&mut self, given: &str, path: String, error: &StoreError, output: &mut Output) {
        let message = catalog::causes(error);
        let place = join(given, &path);
        let place: String = place.chars().take(LONGEST_PATH).collect();
        self.errors
            .push(Error::new(error.kind(), format!("{place:?}: {message}")));
        self.summary.unreadable += 1;
        output.unreadable(Unreadable { path, message });
    }
}

/// The walk through one store.
struct Walk {
    /// STORE, as it was given.
    given: String,
    copies: Copies,
    /// Whether there was anything.
    met: bool,
    /// What ended it.
    failed: Option<Error>,
}

fn join(given: &str, path: &str) -> String {
    if path.is_empty() {
        given.to_owned()
    } else if given == "." {
        path.to_owned()
    } else if given.ends_with('/') {
        format!("{given}{path}")
    } else {
        format!("{given}/{path}")
    }
}
