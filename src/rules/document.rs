//! One document of a node, read, with the rule that each of its problems belongs to.

use std::ops::Range;

use crate::metadata::json::{Kind, Parsed, SyntaxError, Value};
use crate::metadata::{DocumentKind, Problem, ProblemKind, Problems};

/// A document.
#[derive(Debug)]
pub struct Document<'d> {
    /// What it should be.
    pub kind: DocumentKind,
    /// Its bytes.
    pub bytes: &'d [u8],
    /// Its tree, or why there is none.
    pub parsed: Result<&'d Parsed, &'d SyntaxError>,
    /// What reading it has found, with the rule that it belongs to.
    pub(super) problems: Vec<(&'static str, Problem)>,
    /// How many more problems there are.
    pub(super) more_problems: usize,
}

impl<'d> Document<'d> {
    /// A document that has been parsed, or could not be.
    #[must_use]
    pub const fn new(
        kind: DocumentKind,
        bytes: &'d [u8],
        parsed: Result<&'d Parsed, &'d SyntaxError>,
    ) -> Self {
        Self {
            kind,
            bytes,
            parsed,
            problems: Vec::new(),
            more_problems: 0,
        }
    }

    /// The value that the document holds.
    pub(super) fn root(&self) -> Option<&'d Value> {
        self.parsed.ok().map(|parsed| &parsed.root)
    }

    pub(super) fn take(&mut self, problems: Problems) {
        self.more_problems += problems.more;
        let kind = self.kind;
        self.problems.extend(
            problems
                .listed
                .into_iter()
                .map(|problem| (rule_of(&problem, kind), problem)),
        );
    }

    /// The bytes that a pointer leads to; for what is not there, the brace or bracket of the nearest value around it that is.
    pub(super) fn span_of(&self, pointer: &str) -> Range<usize> {
        let Some(root) = self.root() else { return 0..0 };
        let mut pointer = pointer;
        if let Some(value) = root.lookup(pointer) {
            return value.span.clone();
        }
        while let Some((parent, _)) = pointer.rsplit_once('/') {
            pointer = parent;
            if let Some(value) = root.lookup(pointer) {
                return match value.kind {
                    Kind::Object(_) | Kind::Array(_) => value.span.start..value.span.start + 1,
                    _ => value.span.clone(),
                };
            }
        }
        root.span.clone()
    }

    /// The bytes of the name of the member that a pointer leads to.
    pub(super) fn name_span(&self, pointer: &str) -> Range<usize> {
        let named = pointer.rsplit_once('/').and_then(|(parent, name)| {
            let name = name.replace("~1", "/").replace("~0", "~");
            let member = self.root()?.lookup(parent)?.member(&name)?;
            Some(member.name_span.clone())
        });
        named.unwrap_or_else(|| self.span_of(pointer))
    }
}

/// The rule that a problem of a document belongs to.
fn rule_of(problem: &Problem, kind: DocumentKind) -> &'static str {
    let pointer = problem.pointer.to_string();
    let pointer = pointer.as_str();
    if kind == DocumentKind::ZMetadata || pointer.starts_with("/consolidated_metadata") {
        return match problem.kind {
            ProblemKind::Quirk
                if pointer.ends_with("/consolidated_metadata") && problem.found == "null" =>
            {
                "consolidated/null"
            }
            ProblemKind::Quirk => "consolidated/must-understand",
            ProblemKind::NotUnderstood if pointer == "/consolidated_metadata" => {
                "core/unknown-member"
            }
            _ => "consolidated/form",
        };
    }
    match problem.kind {
        ProblemKind::Missing => "core/missing-member",
        ProblemKind::WrongType => "core/wrong-type",
        ProblemKind::NotUnderstood if pointer.starts_with("/storage_transformers/") => {
            "core/storage-transformer"
        }
        ProblemKind::NotUnderstood => "core/unknown-member",
        // Whether it is an error depends on the shape: the array's rules tell.
        ProblemKind::Quirk => "core/chunk-length-zero",
        ProblemKind::BadValue => bad_value(pointer),
    }
}

fn bad_value(pointer: &str) -> &'static str {
    match pointer {
        "/zarr_format" => "core/zarr-format",
        "/node_type" => "core/node-type",
        "/dtype" => "core/data-type",
        "/chunks" | "/chunk_grid/configuration/chunk_shape" => "core/chunk-rank",
        _ if pointer.starts_with("/dimension_names") => "core/dimension-names",
        _ if pointer.starts_with("/chunk_key_encoding")
            || pointer.starts_with("/dimension_separator") =>
        {
            "core/key-encoding"
        }
        _ if pointer.ends_with("/chunk_shape") => "core/shard-shape",
        _ if pointer.ends_with("codecs") => "core/no-codecs",
        _ if ["/shape/", "/chunks/"]
            .iter()
            .any(|start| pointer.starts_with(start))
            || pointer.contains("/chunk_shape/") =>
        {
            "core/length"
        }
        _ => "core/bad-value",
    }
}
