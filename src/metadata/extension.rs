//! The form in which Zarr v3 names what can be extended: data types, chunk grids, chunk key
//! encodings, codecs.
//!
//! It is either a bare name or an object of a name, a configuration and `must_understand`.

use std::ops::Range;

use super::node::Node;
use super::problem::{Problem, ProblemKind, Problems};

/// A named thing with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension<'v> {
    /// The name.
    pub name: &'v str,
    /// The bytes of the name; the whole entry where that is a bare string.
    pub name_span: Range<usize>,
    /// The configuration, always an object, if there is one.
    pub configuration: Option<Node<'v>>,
    /// Whether a reader that does not know it has to give up; true unless the document says
    /// otherwise.
    pub must_understand: bool,
    /// Members beside the three.
    pub extras: Vec<Extra<'v>>,
    /// The entry.
    pub node: Node<'v>,
}

/// A member that the specification does not name.
///
/// Such members are kept when a document is edited. [`Extra::ignorable`] says whether they may be
/// passed over.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra<'v> {
    /// The member's name.
    pub name: &'v str,
    /// The bytes of its name.
    pub name_span: Range<usize>,
    /// Its value.
    pub node: Node<'v>,
}

impl Extra<'_> {
    /// Whether the member says of itself, by `"must_understand": false`, that readers may ignore
    /// it.
    pub fn ignorable(&self) -> bool {
        let flag = self.node.value.get("must_understand");
        flag.and_then(|flag| flag.as_bool()) == Some(false)
    }
}

impl<'v> Extension<'v> {
    /// Whether it is written as a bare string, which is legal but not read by every program.
    pub fn is_bare(&self) -> bool {
        self.node.value.as_object().is_none()
    }

    /// Reads an entry; `None` if it has no usable name or configuration, which is then among the
    /// problems.
    pub(super) fn read(node: &Node<'v>, problems: &mut Problems, what: &str) -> Option<Self> {
        let expected = format!("the name of a {what}, or an object with its \"name\"");
        if let Some(name) = node.value.as_str() {
            return Some(Extension {
                name: non_empty(name, node, problems)?,
                name_span: node.span(),
                configuration: None,
                must_understand: true,
                extras: Vec::new(),
                node: node.clone(),
            });
        }
        if !node.is_object(problems, &expected) {
            return None;
        }
        // Each member is read before any of them can end the reading, so that all their problems
        // are found.
        let name = node.required("name", problems).and_then(|member| {
            let name = member.string(problems, "a name")?;
            Some((non_empty(name, &member, problems)?, member.span()))
        });
        let configuration = match node.get("configuration") {
            Some(member) => member
                .is_object(problems, "an object")
                .then_some(Some(member)),
            None => Some(None),
        };
        let must_understand = match node.get("must_understand") {
            Some(member) => member.boolean(problems),
            None => Some(true),
        };
        let (name, name_span) = name?;
        Some(Extension {
            name,
            name_span,
            configuration: configuration?,
            must_understand: must_understand?,
            extras: extras(node, &["name", "configuration", "must_understand"]),
            node: node.clone(),
        })
    }

    /// A member of the configuration, whose absence is a problem, as is that of the configuration
    /// itself.
    pub(super) fn required(&self, name: &str, problems: &mut Problems) -> Option<Node<'v>> {
        if let Some(configuration) = &self.configuration {
            return configuration.required(name, problems);
        }
        problems.push(Problem {
            kind: ProblemKind::Missing,
            pointer: self.node.pointer.member("configuration"),
            span: self.node.span(),
            found: "nothing".to_owned(),
            expected: format!("a \"configuration\" with a member \"{name}\""),
        });
        None
    }
}

fn non_empty<'v>(name: &'v str, node: &Node<'v>, problems: &mut Problems) -> Option<&'v str> {
    if name.is_empty() {
        node.report(problems, ProblemKind::BadValue, "a name");
        return None;
    }
    Some(name)
}

/// The members of an object that are not among the `known` ones.
pub(super) fn extras<'v>(node: &Node<'v>, known: &[&str]) -> Vec<Extra<'v>> {
    let members = node.value.as_object().unwrap_or_default();
    members
        .iter()
        .filter(|member| !known.contains(&member.name.as_str()))
        .map(|member| Extra {
            name: &member.name,
            name_span: member.name_span.clone(),
            node: Node::new(&member.value, node.pointer.member(&member.name)),
        })
        .collect()
}
