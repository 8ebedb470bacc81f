//! Chains: codecs in their order, each made for what reaches it.

use std::num::NonZeroU64;
use std::sync::Arc;

use zarrs::array::BytesRepresentation;
use zarrs::array::codec::api::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, Codec as ZarrsCodec,
};

use super::super::chain::{ArrayStage, ByteStage, Chain, Reach, Serializer, options};
use super::super::configuration::read_entry;
use super::super::element_type::element_type;
use super::super::lower::{self, BYTES, PACKBITS, Step, TRANSPOSE};
use super::super::representation::Representation;
use super::Builder;
use crate::metadata::v3::{self, Codec, SHARDING};
use crate::transform::chain::bind;
use crate::transform::data_type::DataType;
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
    /// Builds the chain of a chunk, an inner chunk or an index.
    pub(super) fn chain(
        &mut self,
        codecs: &v3::Chain<'_>,
        decoded: Representation,
    ) -> Option<Chain> {
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
        let bits = element_type(&incoming.data_type).map(DataType::bits);
        if name == PACKBITS && !lower::packed_bits_exist(&metadata, bits) {
            let message = "a \"first_bit\" or \"last_bit\" that elements of this type do not have";
            self.unsound(&codec.entry.node.pointer, message);
            return None;
        }
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
                if codec.entry.name == BYTES {
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
