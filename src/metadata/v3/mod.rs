//! Zarr v3 documents: the `zarr.json` of an array or a group.

mod chunks;
mod codec;
#[cfg(test)]
mod tests;

use super::consolidated::Consolidated;
use super::extension::{Extension, Extra, extras};
use super::node::{Located, Node};
use super::problem::{Problem, ProblemKind, Problems};

pub use chunks::{ChunkGrid, ChunkKeys, KeyEncoding, Separator};
pub use codec::{Chain, Codec, IndexLocation, SHARDING, Sharding};

/// A `zarr.json`, as far as it could be read.
#[derive(Debug, Clone, PartialEq)]
pub enum Document<'v> {
    /// The document of an array.
    Array(Box<PartialArray<'v>>),
    /// The document of a group.
    Group(Group<'v>),
    /// The document does not say which of the two it is.
    Neither,
}

/// The document of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<'v> {
    /// The lengths of the dimensions.
    pub shape: Located<Vec<u64>>,
    /// The type of the values.
    pub data_type: Extension<'v>,
    /// How the array is cut into chunks.
    pub chunk_grid: ChunkGrid<'v>,
    /// How the chunks' keys are made.
    pub chunk_keys: ChunkKeys<'v>,
    /// The value of what was never written, as it stands in the document.
    pub fill_value: Node<'v>,
    /// The codecs.
    pub codecs: Chain<'v>,
    /// What does not depend on the mandatory members.
    pub optional: Optional<'v>,
}

/// The members that a document need not have.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Optional<'v> {
    /// The user's attributes, an object.
    pub attributes: Option<Node<'v>>,
    /// The names of the dimensions, any of which may be absent.
    pub dimension_names: Option<Located<Vec<Option<&'v str>>>>,
    /// The storage transformers.
    pub storage_transformers: Vec<Extension<'v>>,
    /// Members that the specification does not name.
    pub extras: Vec<Extra<'v>>,
}

/// The document of an array of which any member may be missing or unreadable, as the problems then
/// say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartialArray<'v> {
    /// See [`Array::shape`].
    pub shape: Option<Located<Vec<u64>>>,
    /// See [`Array::data_type`].
    pub data_type: Option<Extension<'v>>,
    /// See [`Array::chunk_grid`].
    pub chunk_grid: Option<ChunkGrid<'v>>,
    /// See [`Array::chunk_keys`].
    pub chunk_keys: Option<ChunkKeys<'v>>,
    /// See [`Array::fill_value`].
    pub fill_value: Option<Node<'v>>,
    /// See [`Array::codecs`].
    pub codecs: Option<Chain<'v>>,
    /// See [`Array::optional`].
    pub optional: Optional<'v>,
}

/// The document of a group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group<'v> {
    /// The user's attributes, an object.
    pub attributes: Option<Node<'v>>,
    /// The copies of the documents below this group.
    pub consolidated: Option<Consolidated<'v>>,
    /// Members that the specification does not name.
    pub extras: Vec<Extra<'v>>,
}

impl<'v> PartialArray<'v> {
    /// The array, if every mandatory member could be read.
    pub fn complete(self) -> Option<Array<'v>> {
        Some(Array {
            shape: self.shape?,
            data_type: self.data_type?,
            chunk_grid: self.chunk_grid?,
            chunk_keys: self.chunk_keys?,
            fill_value: self.fill_value?,
            codecs: self.codecs?,
            optional: self.optional,
        })
    }
}

/// Reads a `zarr.json`, or a copy of one inside consolidated metadata.
///
/// Every problem is reported and nothing stops at the first. Members that are sound can be used
/// whatever the others are; those of unsound documents should only be looked at, not acted upon.
pub fn read<'v>(root: &Node<'v>, problems: &mut Problems) -> Document<'v> {
    if !root.is_object(problems, "an object") {
        return Document::Neither;
    }
    root.zarr_format(problems, 3);
    let kinds = [("array", true), ("group", false)];
    let is_array = root
        .required("node_type", problems)
        .and_then(|node| node.choice(problems, &kinds));
    match is_array {
        Some(true) => Document::Array(Box::new(array(root, problems))),
        Some(false) => Document::Group(group(root, problems)),
        None => Document::Neither,
    }
}

/// Reads a document that does not say what it is, or not rightly, as that of an array, if its other members leave no doubt. It is
/// to be looked at and not to be acted upon: [`read`] has told of it.
pub fn read_unnamed_array<'v>(
    root: &Node<'v>,
    problems: &mut Problems,
) -> Option<PartialArray<'v>> {
    let version = root.get("zarr_format")?;
    let named = ["array", "group"].map(Some);
    let node_type = root.get("node_type").and_then(|node| node.value.as_str());
    let has = |name: &&str| root.value.get(name).is_some();
    let telling = ["shape", "data_type", "chunk_grid", "codecs"];
    let is_array = version.value.as_number() == Some("3")
        && !named.contains(&node_type)
        && telling.iter().filter(|name| has(name)).count() >= 3;
    is_array.then(|| array(root, problems))
}

fn array<'v>(root: &Node<'v>, problems: &mut Problems) -> PartialArray<'v> {
    let shape = root
        .required("shape", problems)
        .and_then(|node| node.counts(problems));
    let rank = shape.as_ref().map(|shape| shape.value.len());
    let data_type = root
        .required("data_type", problems)
        .and_then(|node| Extension::read(&node, problems, "data type"));
    let chunk_grid = root
        .required("chunk_grid", problems)
        .and_then(|node| ChunkGrid::read(&node, problems, rank));
    let chunk_keys = root
        .required("chunk_key_encoding", problems)
        .and_then(|node| ChunkKeys::read(&node, problems));
    let fill_value = root.required("fill_value", problems);
    let codecs = root
        .required("codecs", problems)
        .and_then(|node| Chain::read(&node, problems));
    if let (Some(ChunkGrid::Regular { chunk_shape, .. }), Some(codecs)) = (&chunk_grid, &codecs) {
        check_shards(codecs, chunk_shape.value.len(), problems);
    }
    PartialArray {
        shape,
        data_type,
        chunk_grid,
        chunk_keys,
        fill_value,
        codecs,
        optional: optional(root, problems, rank),
    }
}

/// Inner chunks have as many dimensions as the chunks that they divide.
fn check_shards(chain: &Chain<'_>, rank: usize, problems: &mut Problems) {
    for sharding in chain
        .codecs
        .iter()
        .filter_map(|codec| codec.sharding.as_ref())
    {
        let chunk_shape = &sharding.chunk_shape;
        if chunk_shape.value.len() != rank {
            problems.push(Problem {
                kind: ProblemKind::BadValue,
                pointer: chunk_shape.pointer.clone(),
                span: chunk_shape.span.clone(),
                found: format!("{} lengths", chunk_shape.value.len()),
                expected: format!("{rank} lengths, as many as the shard has dimensions"),
            });
        }
        check_shards(&sharding.codecs, chunk_shape.value.len(), problems);
    }
}

fn optional<'v>(root: &Node<'v>, problems: &mut Problems, rank: Option<usize>) -> Optional<'v> {
    const KNOWN: [&str; 11] = [
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
        "attributes",
        "dimension_names",
        "storage_transformers",
    ];
    Optional {
        attributes: attributes(root, problems),
        dimension_names: root
            .get("dimension_names")
            .and_then(|node| dimension_names(&node, problems, rank)),
        storage_transformers: root
            .get("storage_transformers")
            .map(|node| storage_transformers(&node, problems))
            .unwrap_or_default(),
        extras: unknown(root, &KNOWN, problems),
    }
}

fn group<'v>(root: &Node<'v>, problems: &mut Problems) -> Group<'v> {
    const KNOWN: [&str; 4] = [
        "zarr_format",
        "node_type",
        "attributes",
        "consolidated_metadata",
    ];
    Group {
        attributes: attributes(root, problems),
        consolidated: Consolidated::inline(root, problems),
        extras: unknown(root, &KNOWN, problems),
    }
}

fn attributes<'v>(root: &Node<'v>, problems: &mut Problems) -> Option<Node<'v>> {
    root.get("attributes")
        .filter(|node| node.is_object(problems, "an object"))
}

fn dimension_names<'v>(
    node: &Node<'v>,
    problems: &mut Problems,
    rank: Option<usize>,
) -> Option<Located<Vec<Option<&'v str>>>> {
    const EXPECTED: &str = "an array of names, or null for a dimension that has none";
    let mut complete = true;
    let mut names = Vec::new();
    for element in node.elements(problems, EXPECTED)? {
        let name = element.value.as_str();
        if name.is_none() && !element.value.is_null() {
            element.report(problems, ProblemKind::WrongType, "a name or null");
            complete = false;
        }
        names.push(name);
    }
    if let Some(rank) = rank
        && names.len() != rank
    {
        problems.push(Problem {
            kind: ProblemKind::BadValue,
            pointer: node.pointer.clone(),
            span: node.span(),
            found: format!("{} names", names.len()),
            expected: format!("{rank} names, as many as the array has dimensions"),
        });
    }
    complete.then(|| node.locate(names))
}

/// No storage transformer is known, so each has to allow that it be ignored.
fn storage_transformers<'v>(node: &Node<'v>, problems: &mut Problems) -> Vec<Extension<'v>> {
    let Some(elements) = node.elements(problems, "an array of storage transformers") else {
        return Vec::new();
    };
    let mut transformers = Vec::new();
    for element in elements {
        let Some(entry) = Extension::read(&element, problems, "storage transformer") else {
            continue;
        };
        if entry.must_understand {
            problems.push(Problem {
                kind: ProblemKind::NotUnderstood,
                pointer: element.pointer.clone(),
                span: element.span(),
                found: format!("the storage transformer \"{}\"", entry.name.escape_debug()),
                expected: "no storage transformer, as none is known".to_owned(),
            });
        }
        transformers.push(entry);
    }
    transformers
}

/// Members that the specification does not name, each of which has to allow that it be ignored.
fn unknown<'v>(root: &Node<'v>, known: &[&str], problems: &mut Problems) -> Vec<Extra<'v>> {
    let extras = extras(root, known);
    for extra in extras.iter().filter(|extra| !extra.ignorable()) {
        problems.push(Problem {
            kind: ProblemKind::NotUnderstood,
            pointer: extra.node.pointer.clone(),
            span: extra.name_span.clone(),
            found: "an unknown member".to_owned(),
            expected: "only known members, or an object with \"must_understand\": false".to_owned(),
        });
    }
    extras
}
