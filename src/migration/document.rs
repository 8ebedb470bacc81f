//! The document of an array as a migration sees it: the way of a value through runs of packing codecs, shards and the rest.

use crate::codecs::ArrayDocument;
use crate::codecs::configuration::{LEGACY, LEGACY_V2, is_packing, read_entry};
use crate::codecs::model::{Level, Model, Packing, Step};
use crate::error::Error;
use crate::metadata::json::{IssueKind, Limits, NonFinite, Parsed, Value, parse};
use crate::metadata::{Node, ProblemKind, Problems, v3};
use crate::transform::chain::BoundChain;
use crate::transform::data_type::DataType;
use crate::transform::parameters::Codec;
use crate::transform::problem::Soundness;

use super::evidence;
use super::outcome::{Reason, Stop};

/// The codecs that hand on the fill and the values as they are, apart from their order.
const KEEPING: [&str; 3] = ["transpose", "bitround", "numcodecs.bitround"];

/// One place on the way from the array to its bytes.
#[derive(Debug)]
pub(super) enum Place<'m> {
    /// A run of packing codecs.
    Run(Run<'m>),
    /// Another codec that hands on an array.
    Other {
        /// Its name.
        name: &'m str,
        /// The type that it hands on, where that is known.
        outgoing: Option<DataType>,
        /// Whether it leaves fill and values alone.
        keeps: bool,
    },
    /// A `sharding_indexed` codec. The way goes on in its inner chunks.
    Shard,
}

/// A run of packing codecs that meet a real number.
#[derive(Debug)]
pub(super) struct Run<'m> {
    /// Where it stands.
    pub(super) site: evidence::Site,
    /// What the model knows of it.
    pub(super) packing: &'m Packing,
    /// The type that enters it.
    pub(super) incoming: DataType,
    /// Its codecs as the document has them.
    pub(super) entries: Vec<&'m Value>,
    /// The same, read.
    pub(super) codecs: Vec<Codec>,
}

impl Run<'_> {
    /// Whether there is a legacy codec in it.
    pub(super) fn is_legacy(&self) -> bool {
        self.packing.names.iter().any(|name| is_legacy(name))
    }

    /// Whether the codec at an index is a legacy one.
    pub(super) fn is_legacy_at(&self, index: usize) -> bool {
        self.packing
            .names
            .get(index)
            .is_some_and(|name| is_legacy(name))
    }

    /// The pointer of the codec at an index.
    pub(super) fn pointer(&self, index: usize) -> Option<String> {
        self.packing.pointers.get(index).cloned()
    }

    /// The chain, where it can be run.
    pub(super) fn chain(&self) -> Option<&BoundChain> {
        self.packing.binding.chain.as_ref()
    }
}

/// Whether a codec is the legacy one, under either of its names.
pub(super) fn is_legacy(name: &str) -> bool {
    [LEGACY, LEGACY_V2].contains(&name)
}

/// Parses the text of a `zarr.json`.
pub(super) fn parse_text(text: &str) -> Result<Parsed, Stop> {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep)
        .map_err(|error| Reason::new(None, format!("the document is not JSON: {error}")).into())
}

/// The array that a document describes.
///
/// # Errors
///
/// Every reason for which the document cannot be relied upon.
pub(super) fn read_array(parsed: &Parsed) -> Result<v3::Array<'_>, Stop> {
    let mut reasons = Vec::new();
    for issue in &parsed.issues {
        let pointer = issue.pointer.to_string();
        let is_attribute = pointer.starts_with("/attributes/");
        if let (IssueKind::DuplicateMember { .. }, false) = (&issue.kind, is_attribute) {
            let message = "expected each member once, found it a second time";
            reasons.push(Reason::new(pointer, message));
        }
    }
    let mut problems = Problems::default();
    let document = v3::read(&Node::root(&parsed.root), &mut problems);
    for problem in &problems.listed {
        if problem.kind != ProblemKind::Quirk {
            let message = format!("expected {}, found {}", problem.expected, problem.found);
            reasons.push(Reason::new(problem.pointer.to_string(), message));
        }
    }
    let array = match document {
        v3::Document::Array(array) => array.complete(),
        _ => None,
    };
    match array {
        Some(array) if reasons.is_empty() => Ok(array),
        _ if reasons.is_empty() => {
            Err(Reason::new(None, "expected the document of an array").into())
        }
        _ => Err(Stop::Impossible(reasons)),
    }
}

/// The model of an array.
pub(super) fn model(array: &v3::Array<'_>) -> Result<Model, Stop> {
    Model::new(ArrayDocument::V3(array)).map_err(|error| {
        Error::finding("the array cannot be read")
            .because(error)
            .into()
    })
}

/// Whether any chain of the array, those of shard indexes included, names the legacy codec.
pub(super) fn has_legacy(array: &v3::Array<'_>) -> bool {
    let chains = array.codecs.nested();
    let mut codecs = chains.iter().flat_map(|chain| &chain.codecs);
    codecs.any(|codec| is_legacy(codec.entry.name))
}

/// The way of a value from the array to its bytes.
///
/// # Errors
///
/// A reason for each legacy codec that is not on the way, or that meets no real number, or that cannot be run.
pub(super) fn way<'m>(array: &'m v3::Array<'_>, model: &'m Model) -> Result<Vec<Place<'m>>, Stop> {
    let mut places = Vec::new();
    let mut chain = Some(&array.codecs);
    let mut level = Some(&model.outer);
    while let (Some(codecs), Some(steps)) = (chain, level) {
        chain = one_level(codecs, steps, &mut places);
        level = steps.inner.as_deref();
    }
    let reasons = problems(array, &places);
    if reasons.is_empty() {
        Ok(places)
    } else {
        Err(Stop::Impossible(reasons))
    }
}

/// Adds the places of one list of codecs; gives the list of the inner chunks, if it ends in a shard.
fn one_level<'m, 'v>(
    chain: &'m v3::Chain<'v>,
    level: &'m Level,
    places: &mut Vec<Place<'m>>,
) -> Option<&'m v3::Chain<'v>> {
    let list = chain.node.pointer.to_string();
    let mut incoming = level.incoming.data_type;
    let mut at = 0;
    for step in &level.steps {
        let outgoing = step.outgoing().data_type;
        match step {
            Step::Packing(packing) => {
                let run = chain
                    .codecs
                    .get(at..at + packing.names.len())
                    .unwrap_or_default();
                let mut noted = Vec::new();
                let entries: Vec<_> = run.iter().map(|codec| codec.entry.node.value).collect();
                let codecs = entries.iter().enumerate();
                let codecs = codecs.map(|(n, entry)| read_entry(entry, n, &mut noted).1);
                places.push(Place::Run(Run {
                    site: evidence::Site {
                        list: list.clone(),
                        first: at,
                        codecs: run.len(),
                    },
                    packing,
                    incoming: incoming?,
                    codecs: codecs.collect(),
                    entries,
                }));
                at += packing.names.len();
            }
            Step::Other(other) => {
                let sharding = chain
                    .codecs
                    .get(at)
                    .and_then(|codec| codec.sharding.as_ref());
                if let Some(sharding) = sharding {
                    places.push(Place::Shard);
                    return Some(&sharding.codecs);
                }
                // Bytes from here on, or nothing that is known; a shard behind it still has a fill.
                let no_shard = |codec: &v3::Codec<'_>| codec.sharding.is_none();
                let rest = chain.codecs.get(at + 1..).unwrap_or_default();
                if outgoing.is_none() && rest.iter().all(no_shard) {
                    return None;
                }
                places.push(Place::Other {
                    name: &other.name,
                    outgoing,
                    keeps: KEEPING.contains(&other.name.as_str()),
                });
                at += 1;
            }
        }
        incoming = outgoing;
    }
    None
}

/// What keeps the legacy codecs of an array from being replaced, whatever they are replaced by.
fn problems(array: &v3::Array<'_>, places: &[Place<'_>]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let mut reached = Vec::new();
    for place in places {
        let Place::Run(run) = place else { continue };
        reached.extend(run.packing.pointers.iter().cloned());
        let binding = &run.packing.binding;
        for (problem, pointer) in binding.problems.iter().zip(&run.packing.problem_pointers) {
            if problem.soundness == Soundness::Invalid {
                let message = format!("expected {}, found {}", problem.expected, problem.found);
                reasons.push(Reason::new(pointer.clone(), message));
            }
        }
    }
    let unreadable = !reasons.is_empty();
    for chain in array.codecs.nested() {
        for (n, codec) in chain.codecs.iter().enumerate() {
            let pointer = codec.entry.node.pointer.to_string();
            if !is_legacy(codec.entry.name) || reached.contains(&pointer) {
                continue;
            }
            if unreadable {
                // Behind a codec that is wrong, nothing is known.
                continue;
            }
            let before = chain.codecs[..n].iter().map(|codec| codec.entry.name);
            reasons.push(unreached(array, pointer, before.collect()));
        }
    }
    reasons
}

/// Why a legacy codec is not on the way of the values.
fn unreached(array: &v3::Array<'_>, pointer: String, before: Vec<&str>) -> Reason {
    let data_type = array.data_type.name;
    if DataType::from_name(data_type).is_none() {
        let message = format!(
            "the data type is {data_type:?}, which numcodecs lets through and cast_value is not defined for; expected an integer \
             or a float"
        );
        return Reason::new("/data_type".to_owned(), message);
    }
    let blocking = before.iter().rev().find(|name| !is_packing(name));
    let message = match blocking {
        _ if pointer.contains("/index_codecs/") => {
            "the legacy codec stands among the codecs of a shard's index; expected only codecs that give back every number there"
                .to_owned()
        }
        Some(name) => format!(
            "the legacy codec stands behind the codec {name:?}, after which the type of the values is not known here"
        ),
        None => "the type of the values that reach the legacy codec is not known here".to_owned(),
    };
    Reason::new(pointer, message)
}
