//! Chains as people want to see them: types and fill at every stage, the packing codecs bound, the others by name.
//!
//! Nothing has to be known or sound for this but what comes before: where a codec is not known, the stages behind it have no
//! type.

use zarrs::array::DataType as ZarrsType;
use zarrs::metadata::v3::MetadataV3;

use super::array::ArrayDocument;
use super::arrays;
use super::configuration::read_entry;
use super::error::OpenError;
use super::fill::literal;
use super::lower::{self, TRANSPOSE};
use super::v2;
use crate::metadata::Extension;
use crate::metadata::v3::{self, ChunkGrid, Codec, Sharding};
use crate::transform::chain::{Binding, bind};
use crate::transform::data_type::DataType;
use crate::transform::problem::Soundness;
use crate::transform::scalar::Scalar;

/// The chain of an array's chunks, with those of its shards in it.
#[derive(Debug)]
pub struct Model {
    /// The name of the data type in Zarr v3.
    pub type_name: String,
    /// The bytes of an element in memory, where the type is known and they are always the same.
    pub element_size: Option<usize>,
    /// The chain of the chunks.
    pub outer: Level,
}

/// One chain: that of the chunks, or that of the inner chunks of a shard.
#[derive(Debug)]
pub struct Level {
    /// The lengths of what the chain encodes; `None` for a grid that is not regular.
    pub chunk_shape: Option<Vec<u64>>,
    /// What reaches the chain.
    pub incoming: Stage,
    /// The codecs, in the order of encoding.
    pub steps: Vec<Step>,
    /// The chain of the inner chunks, where one of the steps is a shard.
    pub inner: Option<Box<Level>>,
}

/// Type and fill at one place of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// The type, where it is known and one of the real numbers.
    pub data_type: Option<DataType>,
    /// The fill, where it is stated and every codec before this place could encode it.
    pub fill: Option<Scalar>,
}

/// One codec, or a run of packing codecs, which are bound together.
#[derive(Debug)]
pub enum Step {
    /// Adjacent packing codecs that meet a real number.
    Packing(Box<Packing>),
    /// Any other codec.
    Other(Other),
}

/// A run of packing codecs.
#[derive(Debug)]
pub struct Packing {
    /// Their names.
    pub names: Vec<String>,
    /// Where each stands: a JSON pointer into the document that was given.
    pub pointers: Vec<String>,
    /// The chain of them, if it can be run, and every problem with it; indices are those of `names`.
    pub binding: Binding,
    /// Where each of the binding's problems is: a JSON pointer into the document that was given.
    pub problem_pointers: Vec<String>,
    /// What the codecs behind the run are given.
    pub outgoing: Stage,
}

/// A codec without arithmetic of ours.
#[derive(Debug)]
pub struct Other {
    /// Its name.
    pub name: String,
    /// Where it stands: a JSON pointer into the document that was given.
    pub pointer: String,
    /// What it hands on, if that is still an array, and of a known type.
    pub outgoing: Stage,
}

impl Model {
    /// The model of a document.
    ///
    /// # Errors
    ///
    /// Where a v2 document has a type that Zarr v3 has no name for.
    pub fn new(document: ArrayDocument<'_, '_>) -> Result<Self, OpenError> {
        match document {
            ArrayDocument::V3(array) => Ok(Self::of(array, &|pointer| pointer)),
            ArrayDocument::V2(array) => {
                let converted = v2::convert(array)?;
                converted.read(|array| Self::of(array, &|pointer| converted.origin(&pointer)))
            }
        }
    }

    fn of(array: &v3::Array<'_>, locate: &dyn Fn(String) -> String) -> Self {
        let data_type = DataType::from_name(array.data_type.name);
        let literal = literal(array.fill_value.value);
        let fill = data_type.and_then(|data_type| Scalar::parse(&literal, data_type).ok());
        let chunk_shape = match &array.chunk_grid {
            ChunkGrid::Regular { chunk_shape, .. } => Some(chunk_shape.value.clone()),
            ChunkGrid::Other(_) => None,
        };
        Self {
            type_name: array.data_type.name.to_owned(),
            element_size: element_size(&array.data_type),
            outer: level(
                &array.codecs,
                chunk_shape,
                Stage { data_type, fill },
                locate,
            ),
        }
    }

    /// The chains, outermost first.
    pub fn levels(&self) -> impl Iterator<Item = &Level> {
        std::iter::successors(Some(&self.outer), |level| level.inner.as_deref())
    }

    /// The runs of packing codecs, outermost first.
    pub fn packing(&self) -> impl Iterator<Item = &Packing> {
        self.levels()
            .flat_map(|level| &level.steps)
            .filter_map(|step| match step {
                Step::Packing(packing) => Some(&**packing),
                Step::Other(_) => None,
            })
    }
}

impl Model {
    /// Whether there is any codec from arrays to arrays but transposition: what a plain array has not.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        self.levels().any(|level| {
            level.steps.iter().any(|step| match step {
                Step::Packing(_) => true,
                Step::Other(other) => is_filter(&other.name),
            })
        })
    }
}

/// Whether a codec is one of those from arrays to arrays that leave the shape as it is: the packing ones, and some of numcodecs.
#[must_use]
pub fn is_filter(name: &str) -> bool {
    let name = name.strip_prefix("numcodecs.").unwrap_or(name);
    [
        "delta",
        "astype",
        "quantize",
        "bitround",
        "fixedscaleoffset",
        "scale_offset",
        "cast_value",
    ]
    .contains(&name)
}

impl Packing {
    /// Whether the run can be run.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.binding.chain.is_some()
    }
}

fn level(
    chain: &v3::Chain<'_>,
    chunk_shape: Option<Vec<u64>>,
    incoming: Stage,
    locate: &dyn Fn(String) -> String,
) -> Level {
    let mut steps = Vec::new();
    let mut inner = None;
    let mut stage = incoming;
    for step in lower::steps(&chain.codecs) {
        let step = match (step, stage.data_type) {
            (lower::Step::Packing(run), Some(data_type)) => {
                vec![Step::Packing(Box::new(packing(
                    run, data_type, stage.fill, locate,
                )))]
            }
            (lower::Step::Packing(run), None) => run
                .iter()
                .map(|codec| other(codec, Stage::default(), locate))
                .collect(),
            (lower::Step::Single(codec), _) => {
                if let Some(sharding) = &codec.sharding {
                    inner = Some(Box::new(shard(sharding, stage, locate)));
                }
                vec![other(codec, behind(codec, stage), locate)]
            }
        };
        if let Some(last) = step.last() {
            stage = last.outgoing();
        }
        steps.extend(step);
    }
    Level {
        chunk_shape,
        incoming,
        steps,
        inner,
    }
}

fn shard(sharding: &Sharding<'_>, stage: Stage, locate: &dyn Fn(String) -> String) -> Level {
    level(
        &sharding.codecs,
        Some(sharding.chunk_shape.value.clone()),
        stage,
        locate,
    )
}

fn packing(
    run: &[Codec<'_>],
    data_type: DataType,
    fill: Option<Scalar>,
    locate: &dyn Fn(String) -> String,
) -> Packing {
    let mut problems = Vec::new();
    let (names, codecs): (Vec<_>, Vec<_>) = run
        .iter()
        .enumerate()
        .map(|(index, codec)| read_entry(codec.entry.node.value, index, &mut problems))
        .unzip();
    let mut binding = bind(data_type, fill, &codecs);
    if problems
        .iter()
        .any(|problem| problem.soundness == Soundness::Invalid)
    {
        // An unknown member, say, leaves parameters that can be bound, and a chain that must not be run.
        binding.chain = None;
    }
    binding.problems.extend(problems);
    binding.problems.sort_by_key(|problem| problem.codec);
    let chain = binding.chain.as_ref();
    let outgoing = Stage {
        data_type: chain.map(|chain| chain.stored_type()),
        fill: chain.and_then(|chain| chain.fill()?.stored(codecs.len())),
    };
    let pointers = run.iter().map(|codec| &codec.entry.node.pointer);
    let problem_pointers = binding.problems.iter().map(|problem| {
        let codec = run.get(problem.codec);
        let codec = codec.map(|codec| codec.entry.node.pointer.to_string());
        locate(codec.unwrap_or_default() + &problem.member)
    });
    Packing {
        names,
        pointers: pointers
            .map(|pointer| locate(pointer.to_string()))
            .collect(),
        problem_pointers: problem_pointers.collect(),
        binding,
        outgoing,
    }
}

/// The bytes of an element of a type, if all its elements have as many.
fn element_size(data_type: &Extension<'_>) -> Option<usize> {
    let metadata: MetadataV3 = serde_json::from_value(data_type.node.value.to_serde()).ok()?;
    ZarrsType::from_metadata(&metadata).ok()?.fixed_size()
}

fn other(codec: &Codec<'_>, outgoing: Stage, locate: &dyn Fn(String) -> String) -> Step {
    Step::Other(Other {
        name: codec.entry.name.to_owned(),
        pointer: locate(codec.entry.node.pointer.to_string()),
        outgoing,
    })
}

/// What a codec hands on, if that is an array.
fn behind(codec: &Codec<'_>, stage: Stage) -> Stage {
    let name = codec.entry.name;
    if [TRANSPOSE, "numcodecs.bitround", "bitround"].contains(&name) {
        return stage;
    }
    if !arrays::knows(name) {
        return Stage::default();
    }
    let member = if name.ends_with("astype") {
        "encode_dtype"
    } else {
        "astype"
    };
    let configuration = codec.entry.configuration.as_ref();
    let stated = configuration
        .and_then(|node| node.value.get(member))
        .filter(|value| !value.is_null());
    let data_type = match stated {
        None if name.ends_with("packbits") => Some(DataType::UInt8),
        None => stage.data_type,
        Some(value) => value
            .as_str()
            .and_then(DataType::from_numpy)
            .map(|(data_type, _)| data_type),
    };
    // These codecs hand the fill on cast; whoever needs it after them decodes.
    let fill = stage
        .fill
        .filter(|fill| Some(fill.data_type()) == data_type);
    Stage { data_type, fill }
}

impl Step {
    /// What the codecs behind this step are given.
    #[must_use]
    pub const fn outgoing(&self) -> Stage {
        match self {
            Self::Packing(packing) => packing.outgoing,
            Self::Other(other) => other.outgoing,
        }
    }
}

/// Models of documents for the tests of what is made of them.
#[cfg(test)]
pub(super) mod examples {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};
    use crate::metadata::{Node, Problems};

    /// The model of an array of eight elements in one chunk.
    pub(in super::super) fn model(data_type: &str, fill: &str, codecs: &str) -> Model {
        let text = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[8],"data_type":"{data_type}","fill_value":{fill},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[8]}}}},
            "chunk_key_encoding":"default","codecs":{codecs}}}"#
        );
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        let mut problems = Problems::default();
        let document = v3::read(&Node::root(&parsed.root), &mut problems);
        assert!(problems.is_sound(), "{problems:?}");
        let v3::Document::Array(array) = document else {
            panic!("{text}");
        };
        Model::new(ArrayDocument::V3(&array.complete().unwrap())).unwrap()
    }

    /// The pair as JSON, with members as they stand in a document.
    pub(in super::super) fn pair(scale_offset: &str, cast_value: &str) -> String {
        format!(
            r#"{{"name":"scale_offset","configuration":{{{scale_offset}}}}},
            {{"name":"cast_value","configuration":{{{cast_value}}}}}"#
        )
    }
}
