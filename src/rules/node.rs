//! A node with its documents, which rules look at.

use super::document::Document;
use crate::metadata::{DocumentKind, Node as Place, Problems, v2, v3};

/// What a node is, as far as its documents tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// An array.
    Array,
    /// A group.
    Group,
    /// Nothing that can be told.
    Unknown,
}

impl NodeKind {
    /// The word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Group => "group",
            Self::Unknown => "unknown",
        }
    }
}

/// A node.
#[derive(Debug)]
pub struct Node<'d> {
    /// Its documents.
    pub documents: Vec<Document<'d>>,
    /// The names of v2 documents that stand beside a `zarr.json` and do not count.
    pub shadowed: &'d [&'static str],
    /// What it is.
    pub kind: NodeKind,
    /// The form in which its array was read, if it is one.
    pub(super) form: Option<Form<'d>>,
    /// The consolidated metadata that it holds.
    pub(super) has_consolidated: bool,
}

/// The document of an array as it was read.
#[derive(Debug)]
pub(super) enum Form<'d> {
    /// A `zarr.json`.
    V3(Box<v3::PartialArray<'d>>),
    /// A `.zarray`.
    V2(Box<v2::PartialArray<'d>>),
}

impl<'d> Node<'d> {
    /// Reads the documents of a node.
    #[must_use]
    pub fn new(mut documents: Vec<Document<'d>>, shadowed: &'d [&'static str]) -> Self {
        let mut form = None;
        let mut kind = NodeKind::Unknown;
        let mut has_consolidated = false;
        for document in &mut documents {
            let found = match document.kind {
                DocumentKind::ZArray => NodeKind::Array,
                DocumentKind::ZGroup | DocumentKind::ZMetadata => NodeKind::Group,
                DocumentKind::ZarrJson | DocumentKind::ZAttrs => NodeKind::Unknown,
            };
            if kind == NodeKind::Unknown {
                kind = found;
            }
            let Some(root) = document.root() else {
                continue;
            };
            let root = Place::root(root);
            let mut problems = Problems::default();
            match document.kind {
                DocumentKind::ZarrJson => match v3::read(&root, &mut problems) {
                    v3::Document::Array(array) => {
                        form = Some(Form::V3(array));
                        kind = NodeKind::Array;
                    }
                    v3::Document::Group(group) => {
                        kind = NodeKind::Group;
                        has_consolidated = group.consolidated.is_some();
                    }
                    v3::Document::Neither => {
                        let array = v3::read_unnamed_array(&root, &mut problems);
                        form = array.map(|array| Form::V3(Box::new(array)));
                    }
                },
                DocumentKind::ZArray => {
                    form = Some(Form::V2(Box::new(v2::array(&root, &mut problems))));
                }
                DocumentKind::ZGroup => {
                    v2::group(&root, &mut problems);
                }
                DocumentKind::ZAttrs => {
                    v2::attributes(&root, &mut problems);
                }
                DocumentKind::ZMetadata => {
                    crate::metadata::consolidated::Consolidated::zmetadata(&root, &mut problems);
                    has_consolidated = true;
                }
            }
            document.take(problems);
        }
        Self {
            documents,
            shadowed,
            kind,
            form,
            has_consolidated,
        }
    }

    /// The document of a kind.
    pub(super) fn document(&self, kind: DocumentKind) -> Option<&Document<'d>> {
        self.documents.iter().find(|document| document.kind == kind)
    }

    /// Whether the node holds consolidated metadata that can be compared.
    #[must_use]
    pub const fn has_consolidated(&self) -> bool {
        self.has_consolidated
    }
}
