//! From documents to chains: every check that can be made without a chunk, all problems at once.

use std::num::NonZeroU64;
use std::sync::Arc;

use zarrs::array::codec::api::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, Codec as ZarrsCodec,
};
use zarrs::array::{BytesRepresentation, DataType as ZarrsType, FillValue};
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::PluginCreateError;

use super::array::Layout;
use super::chain::{ArrayStage, ByteStage, Chain, Reach, Serializer, options};
use super::configuration::read_entry;
use super::element_type::element_type;
use super::error::{OpenError, OpenProblem};
use super::fill::fill_bytes;
use super::json_text;
use super::keys::ChunkKeys;
use super::lower::{self, Step, TRANSPOSE};
use super::representation::Representation;
use super::shard::Sharding;
use super::v2;
use crate::metadata::v3::{self, ChunkGrid, Codec, IndexLocation, SHARDING};
use crate::transform::chain::bind;
use crate::transform::problem::Soundness;

/// The length of a chain. Each codec costs memory and time, and no more than a handful make sense.
const MOST_CODECS: usize = 64;

/// Codecs whose every element depends on the one at its place alone, beside the packing ones.
const ELEMENTWISE: [&str; 6] = [
    "numcodecs.astype",
    "astype",
    "numcodecs.quantize",
    "quantize",
    "numcodecs.bitround",
    "bitround",
];

/// What a v3 document says of its array.
///
/// # Errors
///
/// Every problem that keeps the array from being opened.
pub(super) fn layout(array: &v3::Array<'_>, path: &str) -> Result<Layout, OpenError> {
    let mut problems = Vec::new();
    let layout = Builder {
        problems: &mut problems,
    }
    .layout(array, path);
    match layout {
        Some(layout) if problems.is_empty() => Ok(layout),
        _ => Err(OpenError { problems }),
    }
}

/// What a v2 document says of its array.
///
/// # Errors
///
/// As for [`layout`], with pointers into the v2 document.
pub(super) fn layout_v2(
    array: &crate::metadata::v2::Array<'_>,
    path: &str,
) -> Result<Layout, OpenError> {
    let converted = v2::convert(array)?;
    if !converted.unsupported.is_empty() {
        let problems = converted.unsupported;
        return Err(OpenError { problems });
    }
    let layout = converted.read(|array| layout(array, path))?;
    layout
        .map(|layout| Layout {
            fill_is_defined: converted.fill_is_defined,
            ..layout
        })
        .map_err(|error| converted.locate(error))
}

struct Builder<'p> {
    problems: &'p mut Vec<OpenProblem>,
}

/// What a chain is built up from.
#[derive(Default)]
struct Parts {
    arrays: Vec<ArrayStage>,
    serializer: Option<Serializer>,
    bytes: Vec<ByteStage>,
    /// What the next codec from bytes to bytes is given.
    size: Option<BytesRepresentation>,
}

impl Builder<'_> {
    fn layout(&mut self, array: &v3::Array<'_>, path: &str) -> Option<Layout> {
        if let Some(transformer) = array.optional.storage_transformers.first() {
            let pointer = &transformer.node.pointer;
            self.unsupported(
                pointer,
                format!("the storage transformer {:?}", transformer.name),
            );
        }
        let keys = ChunkKeys::new(path, array.chunk_keys.encoding);
        if keys.is_none() {
            let entry = &array.chunk_keys.entry;
            self.unsupported(
                &entry.node.pointer,
                format!("the chunk key encoding {:?}", entry.name),
            );
        }
        let chunk_shape = self.chunk_shape(array);
        let data_type = self.data_type(array)?;
        let fill = fill_bytes(&array.fill_value, &data_type);
        let fill = match fill {
            Ok(fill) => fill,
            Err(message) => {
                self.unsound(&array.fill_value.pointer, message);
                return None;
            }
        };
        let chunk_shape = chunk_shape?;
        let grid_shape = array
            .shape
            .value
            .iter()
            .zip(&chunk_shape)
            .map(|(length, chunk)| length.div_ceil(chunk.get()));
        let decoded = Representation::new(
            chunk_shape.clone(),
            data_type.clone(),
            Ok(FillValue::new(fill.clone())),
        );
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(message) => {
                self.unsupported("/chunk_grid", message);
                return None;
            }
        };
        let chain = self.chain(&array.codecs, decoded)?;
        let mut fill_json = String::new();
        json_text::write(array.fill_value.value, &mut fill_json);
        Some(Layout {
            shape: array.shape.value.clone(),
            grid_shape: grid_shape.collect(),
            data_type: array.data_type.name.to_owned(),
            element_type: element_type(&data_type),
            fill,
            fill_json,
            fill_is_defined: true,
            keys: keys?,
            chain,
        })
    }

    fn chunk_shape(&mut self, array: &v3::Array<'_>) -> Option<Vec<NonZeroU64>> {
        match &array.chunk_grid {
            ChunkGrid::Regular { chunk_shape, .. } => {
                if chunk_shape.value.len() != array.shape.value.len() {
                    let (found, expected) = (chunk_shape.value.len(), array.shape.value.len());
                    let message = format!("chunks of {found} dimensions in an array of {expected}");
                    self.unsound(&chunk_shape.pointer, message);
                    return None;
                }
                Some(at_least_one(&chunk_shape.value))
            }
            ChunkGrid::Other(entry) => {
                self.unsupported(
                    &entry.node.pointer,
                    format!("the chunk grid {:?}", entry.name),
                );
                None
            }
        }
    }

    fn data_type(&mut self, array: &v3::Array<'_>) -> Option<ZarrsType> {
        let entry = &array.data_type;
        let json = entry.node.value.to_serde();
        let metadata = serde_json::from_value::<MetadataV3>(json);
        let data_type = metadata
            .map_err(|error| error.to_string())
            .and_then(|metadata| {
                ZarrsType::from_metadata(&metadata).map_err(|error| match error {
                    PluginCreateError::Unsupported(_) => "which is not known".to_owned(),
                    other => other.to_string(),
                })
            });
        match data_type {
            Ok(data_type)
                if data_type.fixed_size().is_some_and(|size| size > 0)
                    && !data_type.is_optional() =>
            {
                Some(data_type)
            }
            Ok(_) => {
                let message = format!(
                    "the data type {:?}, whose values are of no fixed size",
                    entry.name
                );
                self.unsupported(&entry.node.pointer, message);
                None
            }
            Err(reason) => {
                self.unsupported(
                    &entry.node.pointer,
                    format!("the data type {:?}: {reason}", entry.name),
                );
                None
            }
        }
    }

    /// Builds the chain of a chunk, an inner chunk or an index.
    fn chain(&mut self, codecs: &v3::Chain<'_>, decoded: Representation) -> Option<Chain> {
        let count = codecs.codecs.len();
        if count > MOST_CODECS {
            let message =
                format!("a chain of {count} codecs; this program takes up to {MOST_CODECS}");
            self.unsupported(&codecs.node.pointer, message);
            return None;
        }
        let mut parts = Parts::default();
        let mut current = decoded.clone();
        for step in lower::steps(&codecs.codecs) {
            match step {
                Step::Packing(run) => current = self.packing(run, current, &mut parts)?,
                Step::Single(codec) if codec.entry.name == SHARDING => {
                    let sharding = self.sharding(codec, current.clone())?;
                    let size = BytesRepresentation::BoundedSize(sharding.encoded_bound());
                    let serializer = Serializer::Sharding(Box::new(sharding));
                    self.serialize(codec, serializer, size, &mut parts)?;
                }
                Step::Single(codec) => current = self.single(codec, current, &mut parts)?,
            }
        }
        let Some(serializer) = parts.serializer else {
            self.unsound(
                &codecs.node.pointer,
                "no codec that makes bytes of an array, such as \"bytes\"",
            );
            return None;
        };
        Some(Chain {
            arrays: parts.arrays,
            serializer,
            bytes: parts.bytes,
            decoded,
        })
    }

    /// A run of packing codecs, bound here once to find every problem with its place.
    fn packing(
        &mut self,
        run: &[Codec<'_>],
        incoming: Representation,
        parts: &mut Parts,
    ) -> Option<Representation> {
        let names: Vec<_> = run.iter().map(|codec| codec.entry.name).collect();
        let name = names.join(" -> ");
        if let (Some(_), Some(codec)) = (&parts.serializer, run.first()) {
            self.out_of_order(codec);
            return None;
        }
        let mut problems = Vec::new();
        let mut codecs = Vec::new();
        for (index, codec) in run.iter().enumerate() {
            codecs.push(read_entry(codec.entry.node.value, index, &mut problems).1);
        }
        let Some(element) = element_type(&incoming.data_type) else {
            let codec = run.first()?;
            let message = format!("{name:?} takes real numbers, and meets another type");
            self.unsound(&codec.entry.node.pointer, message);
            return None;
        };
        if problems.is_empty() {
            problems = bind(element, None, &codecs).problems;
        }
        problems.retain(|problem| problem.soundness == Soundness::Invalid);
        for problem in &problems {
            let pointer = run
                .get(problem.codec)
                .map(|codec| codec.entry.node.pointer.to_string());
            let pointer = format!("{}{}", pointer.unwrap_or_default(), problem.member);
            let message = format!(
                "{}; expected {} [{}]",
                problem.found, problem.expected, problem.id
            );
            self.unsound(pointer, message);
        }
        if !problems.is_empty() {
            return None;
        }
        let codec = self.create(&run.first()?.entry, &lower::fused(run))?;
        match codec {
            ZarrsCodec::ArrayToArray(codec) => {
                self.array_stage(run.first()?, name, codec, Reach::Element, incoming, parts)
            }
            _ => None,
        }
    }

    fn single(
        &mut self,
        codec: &Codec<'_>,
        incoming: Representation,
        parts: &mut Parts,
    ) -> Option<Representation> {
        let name = codec.entry.name.to_owned();
        let metadata = lower::metadata(codec, incoming.shape.len());
        match self.create(&codec.entry, &metadata)? {
            ZarrsCodec::ArrayToArray(made) => {
                if parts.serializer.is_some() {
                    self.out_of_order(codec);
                    return None;
                }
                let reach = match codec.entry.name {
                    TRANSPOSE => {
                        let order = lower::permutation(&metadata, incoming.shape.len());
                        let Some(order) = order else {
                            let rank = incoming.shape.len();
                            let message =
                                format!("an order that is no permutation of {rank} dimensions");
                            self.unsound(&codec.entry.node.pointer, message);
                            return None;
                        };
                        Reach::Permutation(order)
                    }
                    name if ELEMENTWISE.contains(&name) => Reach::Element,
                    _ => Reach::Chunk,
                };
                self.array_stage(codec, name, made, reach, incoming, parts)
            }
            ZarrsCodec::ArrayToBytes(made) => {
                let encoded = made.encoded_representation(
                    &incoming.shape,
                    &incoming.data_type,
                    &incoming.fill_or_zeros(),
                );
                let encoded = self.accept(codec, encoded)?;
                if codec.entry.name == "bytes" {
                    self.try_element(codec, &*made, &incoming)?;
                }
                let serializer = Serializer::Plain {
                    name,
                    codec: made,
                    decoded: Box::new(incoming.clone()),
                    encoded,
                };
                self.serialize(codec, serializer, encoded, parts)?;
                Some(incoming)
            }
            ZarrsCodec::BytesToBytes(made) => {
                let Some(decoded) = parts.size else {
                    let message = format!(
                        "{:?} before a codec that makes bytes of the array",
                        codec.entry.name
                    );
                    self.unsound(&codec.entry.node.pointer, message);
                    return None;
                };
                parts.size = Some(bound(made.encoded_representation(&decoded), &decoded));
                parts.bytes.push(ByteStage {
                    name,
                    codec: made,
                    decoded,
                });
                Some(incoming)
            }
        }
    }

    fn array_stage(
        &mut self,
        codec: &Codec<'_>,
        name: String,
        made: Arc<dyn ArrayToArrayCodecTraits>,
        reach: Reach,
        decoded: Representation,
        parts: &mut Parts,
    ) -> Option<Representation> {
        let data_type = self.accept(codec, made.encoded_data_type(&decoded.data_type))?;
        let shape = self.accept(codec, made.encoded_shape(&decoded.shape))?;
        let fill = decoded.fill.clone().and_then(|fill| {
            let encoded = made.encoded_fill_value(&decoded.data_type, &fill);
            encoded.map_err(|error| format!("codec {name:?}: {error}"))
        });
        let encoded = Representation::new(shape, data_type, fill);
        let encoded = self.accept(codec, encoded)?;
        parts.arrays.push(ArrayStage {
            name,
            codec: made,
            decoded,
            reach,
        });
        Some(encoded)
    }

    fn serialize(
        &mut self,
        codec: &Codec<'_>,
        serializer: Serializer,
        size: BytesRepresentation,
        parts: &mut Parts,
    ) -> Option<()> {
        if parts.serializer.is_some() {
            let message = format!(
                "{:?}, a second codec that makes bytes of an array",
                codec.entry.name
            );
            self.unsound(&codec.entry.node.pointer, message);
            return None;
        }
        parts.serializer = Some(serializer);
        parts.size = Some(size);
        Some(())
    }

    fn sharding(&mut self, codec: &Codec<'_>, shard: Representation) -> Option<Sharding> {
        let document = codec.sharding.as_ref()?;
        let pointer = &document.chunk_shape.pointer;
        let lengths = at_least_one(&document.chunk_shape.value);
        if lengths.len() != shard.shape.len() {
            let (found, expected) = (lengths.len(), shard.shape.len());
            self.unsound(
                pointer,
                format!("inner chunks of {found} dimensions in a shard of {expected}"),
            );
            return None;
        }
        let divides = |(whole, part): (&NonZeroU64, &NonZeroU64)| whole.get() % part.get() == 0;
        if !shard.shape.iter().zip(&lengths).all(divides) {
            self.unsound(
                pointer,
                "inner chunks that do not fill a shard without a rest",
            );
            return None;
        }
        let grid: Vec<_> = shard
            .shape
            .iter()
            .zip(&lengths)
            .map(|(whole, part)| whole.get() / part.get())
            .collect();
        let inner = Representation::new(lengths, shard.data_type.clone(), shard.fill.clone());
        let inner = self.accept(codec, inner)?;
        let inner = self.chain(&document.codecs, inner)?;
        let (index, index_bytes) = self.index(codec, &document.index_codecs, &grid)?;
        Some(Sharding {
            shard,
            inner,
            index,
            index_bytes,
            index_first: document.index_location == IndexLocation::Start,
            grid,
        })
    }

    /// The chain of a shard's index: offset and length of each inner chunk.
    fn index(
        &mut self,
        codec: &Codec<'_>,
        codecs: &v3::Chain<'_>,
        grid: &[u64],
    ) -> Option<(Chain, u64)> {
        let mut shape = at_least_one(grid);
        shape.extend(NonZeroU64::new(2));
        let numbers =
            ZarrsType::from_metadata(&MetadataV3::new("uint64")).map_err(|error| error.to_string());
        let numbers = self.accept(codec, numbers)?;
        let fill = Ok(FillValue::from(u64::MAX));
        let index = self.accept(codec, Representation::new(shape, numbers, fill))?;
        let chain = self.chain(codecs, index)?;
        let Some(bytes) = chain.encoded_size() else {
            self.unsupported(
                &codecs.node.pointer,
                "an index whose encoded size is not always the same",
            );
            return None;
        };
        Some((chain, bytes))
    }

    /// Makes a codec of zarrs, or of ours.
    fn create(
        &mut self,
        entry: &crate::metadata::Extension<'_>,
        metadata: &MetadataV3,
    ) -> Option<ZarrsCodec> {
        match ZarrsCodec::from_metadata(metadata) {
            Ok(codec) => Some(codec),
            Err(PluginCreateError::Unsupported(_)) => {
                // That a reader may pass over it does not help: chunks cannot be decoded without it.
                self.unsupported(
                    &entry.node.pointer,
                    format!("the codec {:?}, which is not known", entry.name),
                );
                None
            }
            Err(error) => {
                self.unsound(
                    &entry.node.pointer,
                    format!("the codec {:?}: {error}", entry.name),
                );
                None
            }
        }
    }

    /// Decodes one element of zeros, since a `bytes` codec without an order of bytes fails on elements and not before.
    fn try_element(
        &mut self,
        codec: &Codec<'_>,
        made: &dyn ArrayToBytesCodecTraits,
        incoming: &Representation,
    ) -> Option<()> {
        let element = vec![0; incoming.size];
        let fill = incoming.fill_or_zeros();
        let one = [NonZeroU64::MIN];
        let decoded = made.decode(element.into(), &one, &incoming.data_type, &fill, &options());
        self.accept(codec, decoded).map(|_| ())
    }

    fn out_of_order(&mut self, codec: &Codec<'_>) {
        let message = format!(
            "{:?}, which takes an array, behind a codec that makes bytes of it",
            codec.entry.name
        );
        self.unsound(&codec.entry.node.pointer, message);
    }

    fn accept<T, E: std::fmt::Display>(
        &mut self,
        codec: &Codec<'_>,
        result: Result<T, E>,
    ) -> Option<T> {
        result
            .map_err(|error| {
                self.unsound(
                    &codec.entry.node.pointer,
                    format!("the codec {:?}: {error}", codec.entry.name),
                )
            })
            .ok()
    }

    fn unsound(&mut self, pointer: impl std::fmt::Display, message: impl std::fmt::Display) {
        self.problems.push(OpenProblem::unsound(pointer, message));
    }

    fn unsupported(&mut self, pointer: impl std::fmt::Display, message: impl std::fmt::Display) {
        self.problems
            .push(OpenProblem::unsupported(pointer, message));
    }
}

/// Lengths of chunks. Writers have written 0 for a dimension of no elements, which holds no chunk either way.
fn at_least_one(lengths: &[u64]) -> Vec<NonZeroU64> {
    lengths
        .iter()
        .map(|length| NonZeroU64::new(*length).unwrap_or(NonZeroU64::MIN))
        .collect()
}

/// The size of what a codec made. Compressors of other programs need not keep to the bound that zarrs has for its own.
fn bound(encoded: BytesRepresentation, decoded: &BytesRepresentation) -> BytesRepresentation {
    const OVERHEAD: u64 = 1 << 16;
    match (encoded, decoded.size()) {
        (BytesRepresentation::FixedSize(_), _) => encoded,
        (_, Some(size)) => {
            BytesRepresentation::BoundedSize(size.saturating_mul(2).saturating_add(OVERHEAD))
        }
        (_, None) => BytesRepresentation::UnboundedSize,
    }
}
