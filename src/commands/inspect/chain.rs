//! What is known of the chain of an array, and what is wrong with it.

use serde_json::Value as Json;

use super::describe::LONGEST;
use crate::codecs::configuration::{LEGACY, LEGACY_V2, is_packing};
use crate::codecs::model::{Level, Model, Step};
use crate::codecs::stages::StageOf;
use crate::codecs::{ArrayDocument, OpenArray, OpenError, OpenProblemKind};
use crate::layout::quantities::cut;
use crate::report::inspect as report;
use crate::report::inspect::{Array, Problem, Unsupported};
use crate::transform::problem::Soundness;
use crate::transform::scalar::Scalar;

/// Chains of more codecs are not shown. No array that can be decoded comes near.
pub(super) const MOST_CODECS: usize = 512;

/// The longest chain in words, and the longest message, that are repeated in the report.
const LONGEST_CHAIN: usize = 4000;
pub(super) const LONGEST_MESSAGE: usize = 500;

/// How many sentinels are told.
const MOST_SENTINELS: usize = 256;

/// Fills in what is known of the chain, and what is wrong with it.
pub(super) fn describe(document: ArrayDocument<'_, '_>, codecs: usize, array: &mut Array) {
    if codecs > MOST_CODECS {
        array.unsupported.push(Unsupported {
            pointer: String::new(),
            message: format!("{codecs} codecs; no more than {MOST_CODECS} are looked at"),
        });
        return;
    }
    if let Ok(model) = Model::new(document) {
        modelled(&model, array);
    }
    if let Err(error) = OpenArray::check(document) {
        refused(error, array);
    }
}

fn modelled(model: &Model, array: &mut Array) {
    array.chain = Some(cut(&model.to_string(), LONGEST_CHAIN));
    let bytes = model.element_size.and_then(|size| u64::try_from(size).ok());
    array.element_bytes = bytes.or(array.element_bytes);
    let mut shapes: Vec<_> = model
        .levels()
        .filter_map(|level| level.chunk_shape.clone())
        .collect();
    array.chunks = shapes.pop();
    array.shards = shapes;
    let names = || model.levels().flat_map(names);
    array.packed = names().any(|(name, _)| is_packing(name));
    array.legacy = names()
        .filter(|(name, _)| [LEGACY, LEGACY_V2].contains(name))
        .map(|(_, pointer)| pointer.to_owned())
        .collect();
    array.formula = model.formula().map(|formula| report::Formula {
        encode: formula.encode,
        decode: formula.decode,
    });
    array.stages = model.stages().iter().map(stage).collect();
    let sentinels = model.sentinels().into_iter().take(MOST_SENTINELS);
    array.sentinels = sentinels
        .map(|(pointer, sentinel)| report::Sentinel {
            pointer: pointer.to_owned(),
            value: scalar(sentinel.value),
            code: scalar(sentinel.code),
            encode: sentinel.encode,
            decode: sentinel.decode,
        })
        .collect();
    array.fill = model.fill_fate().map(|fate| report::Fill {
        survives: fate.survives,
        drifts: fate.drifts,
        comes_back_as: optional(fate.back),
    });
    for packing in model.packing() {
        let problems = packing.binding.problems.iter();
        for (problem, pointer) in problems.zip(&packing.problem_pointers) {
            array.problems.push(Problem {
                id: Some(problem.id.to_owned()),
                decodable: problem.soundness == Soundness::Unsound,
                pointer: pointer.clone(),
                message: message(&format!("{}; expected {}", problem.found, problem.expected)),
            });
        }
    }
}

/// The names of all codecs at a level, and where they stand.
fn names(level: &Level) -> impl Iterator<Item = (&str, &str)> {
    level.steps.iter().flat_map(|step| {
        let (names, pointers) = match step {
            Step::Packing(packing) => (&packing.names[..], &packing.pointers[..]),
            Step::Other(other) => (
                std::slice::from_ref(&other.name),
                std::slice::from_ref(&other.pointer),
            ),
        };
        let pairs = names.iter().zip(pointers);
        pairs.map(|(name, pointer)| (name.as_str(), pointer.as_str()))
    })
}

/// Adds the reasons why the array cannot be opened, without those that binding found already.
fn refused(error: OpenError, array: &mut Array) {
    for problem in error.problems {
        let known = array.problems.iter().any(|known| {
            let id = known.id.as_deref().unwrap_or_default();
            known.pointer == problem.pointer && problem.message.ends_with(&format!("[{id}]"))
        });
        match problem.kind {
            _ if known => {}
            OpenProblemKind::Unsound => array.problems.push(Problem {
                id: None,
                decodable: false,
                pointer: problem.pointer,
                message: message(&problem.message),
            }),
            OpenProblemKind::Unsupported => array.unsupported.push(Unsupported {
                pointer: problem.pointer,
                message: message(&problem.message),
            }),
        }
    }
}

/// A message, which may repeat a text of the document.
fn message(text: &str) -> String {
    cut(text, LONGEST_MESSAGE)
}

fn stage(stage: &StageOf<'_>) -> report::Stage {
    let extent = stage.extent;
    report::Stage {
        codec: stage.codec.map(|name| cut(name, LONGEST)),
        pointer: stage.pointer.map(str::to_owned),
        data_type: stage.stage.data_type.map(|data_type| data_type.to_string()),
        fill_value: optional(stage.stage.fill),
        low: optional(extent.map(|extent| extent.low)),
        high: optional(extent.map(|extent| extent.high)),
        step: optional(extent.and_then(|extent| extent.step)),
    }
}

fn optional(value: Option<Scalar>) -> Json {
    value.map_or(Json::Null, scalar)
}

/// A scalar in fill-value encoding.
pub(super) fn scalar(value: Scalar) -> Json {
    serde_json::from_str(&value.to_json()).unwrap_or(Json::Null)
}
