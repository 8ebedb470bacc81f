//! `scale_offset`, `cast_value` and the legacy codec for zarrs: a run of them is one codec, which goes over a chunk once.
//!
//! zarrs makes a codec from its own metadata alone, without the type that reaches it, and hands the numbers in it on as
//! doubles. So the chain is bound when the first chunk (or the question for the outgoing type) brings a type, and a run that
//! this program fuses carries its list of codecs as JSON text, in which numbers keep all their digits.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use zarrs::array::codec::api::{
    ArrayCodecTraits, ArrayToArrayCodecTraits, Codec as ZarrsCodec, CodecError,
    CodecMetadataOptions, CodecTraits, PartialDecoderCapability, PartialEncoderCapability,
    RecommendedConcurrency,
};
use zarrs::array::{ArrayBytes, CodecOptions, DataType as ZarrsType, FillValue};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use super::configuration::{self, Reading};
use super::element_type::{element_type, zarrs_type};
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::transform::apply::ElementFault;
use crate::transform::chain::{BoundChain, Direction, bind};
use crate::transform::parameters::Codec;
use crate::transform::problem::Soundness;
use crate::transform::scalar::Scalar;

/// The name of a fused run in documents that exist in memory only.
pub(super) const FUSED: &str = "zarrpack.packing";

/// The member of a fused run's configuration that holds the codecs, as text.
const CODECS: &str = "codecs";

/// A run of packing codecs.
#[derive(Debug)]
pub(super) struct Packing {
    metadata: MetadataV3,
    reading: Reading,
    bound: OnceLock<BoundChain>,
}

impl Packing {
    /// The metadata of a run of codecs, given as a JSON list.
    pub(super) fn fused(codecs: String) -> MetadataV3 {
        let mut configuration = serde_json::Map::new();
        configuration.insert(CODECS.to_owned(), codecs.into());
        MetadataV3::new_with_configuration(FUSED, configuration)
    }

    /// Makes the codec of a fused run, or of a single packing codec under its own name.
    ///
    /// # Errors
    ///
    /// What is wrong with the metadata, as far as that can be told without a type.
    pub(super) fn create(metadata: &MetadataV3) -> Result<ZarrsCodec, PluginCreateError> {
        let invalid = |error: &dyn std::fmt::Display| PluginCreateError::Other(error.to_string());
        let text = match metadata
            .configuration()
            .and_then(|members| members.get(CODECS))
        {
            Some(codecs) if metadata.name() == FUSED => {
                codecs.as_str().unwrap_or_default().to_owned()
            }
            _ => serde_json::to_string(&[metadata]).map_err(|error| invalid(&error))?,
        };
        let document = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse)
            .map_err(|error| invalid(&error))?;
        let reading = configuration::read_list(&document).map_err(|found| invalid(&found))?;
        if let Some(problem) = reading.problems.first() {
            return Err(invalid(problem));
        }
        Ok(ZarrsCodec::ArrayToArray(Arc::new(Self {
            metadata: metadata.clone(),
            reading,
            bound: OnceLock::new(),
        })))
    }

    /// The chain for elements of `data_type`.
    fn bound(&self, data_type: &ZarrsType) -> Result<&BoundChain, CodecError> {
        let element = element_type(data_type).ok_or_else(|| {
            CodecError::UnsupportedDataType(data_type.clone(), self.reading.names.join(" -> "))
        })?;
        if let Some(chain) = self.bound.get() {
            return if chain.data_type() == element {
                Ok(chain)
            } else {
                let bound = chain.data_type();
                Err(CodecError::Other(format!(
                    "bound to {bound}, and met {element}"
                )))
            };
        }
        let binding = bind(element, None, &self.reading.codecs);
        match binding.chain {
            Some(chain) => Ok(self.bound.get_or_init(|| chain)),
            None => {
                let worst = binding
                    .problems
                    .iter()
                    .find(|p| p.soundness == Soundness::Invalid);
                let reason =
                    worst.map_or("the chain cannot be bound".to_owned(), ToString::to_string);
                Err(CodecError::Other(reason))
            }
        }
    }

    fn run(
        &self,
        direction: Direction,
        bytes: ArrayBytes<'_>,
        shape: &[NonZeroU64],
        data_type: &ZarrsType,
    ) -> Result<ArrayBytes<'static>, CodecError> {
        let pass = self.bound(data_type)?.pass(direction);
        let source = bytes.into_fixed()?;
        let elements = shape.iter().try_fold(1_usize, |product, length| {
            product.checked_mul(usize::try_from(length.get()).ok()?)
        });
        let expected = elements.and_then(|n| n.checked_mul(pass.source().size()));
        if expected != Some(source.len()) {
            let found = source.len();
            return Err(CodecError::Other(format!(
                "{found} bytes do not fill a chunk of {shape:?} elements"
            )));
        }
        let mut target = vec![0; source.len() / pass.source().size() * pass.target().size()];
        let mut first = None;
        // A chunk with a value that cannot be transformed is of no use, so the first one ends it.
        let _ = pass.run(&source, &mut target, &mut |fault| {
            first = Some(fault);
            ControlFlow::Break(())
        });
        match first {
            Some(fault) => Err(CodecError::Other(self.describe(&fault, shape))),
            None => Ok(target.into()),
        }
    }

    fn describe(&self, fault: &ElementFault, shape: &[NonZeroU64]) -> String {
        let ElementFault {
            index,
            value,
            codec,
            fault,
        } = fault;
        let name = self
            .reading
            .names
            .get(*codec)
            .map_or("the codec", String::as_str);
        let place = coordinates(*index, shape);
        let data_type = value.data_type();
        format!("element {place}, which is {value} ({data_type}), fails in {name}: {fault}")
    }
}

/// The place of an element in a chunk, as a list of indices.
fn coordinates(index: usize, shape: &[NonZeroU64]) -> String {
    let mut rest = index as u64;
    let mut place: Vec<_> = shape
        .iter()
        .rev()
        .map(|length| {
            let at = rest % length.get();
            rest /= length.get();
            at.to_string()
        })
        .collect();
    place.reverse();
    format!("[{}]", place.join(", "))
}

impl ExtensionName for Packing {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        matches!(version, ZarrVersion::V3).then(|| self.metadata.name().to_owned().into())
    }
}

impl CodecTraits for Packing {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(self.metadata.configuration().cloned().unwrap_or_default())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability {
            partial_read: true,
            partial_decode: true,
        }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability {
            partial_encode: false,
        }
    }
}

impl ArrayCodecTraits for Packing {
    fn recommended_concurrency(
        &self,
        _: &[NonZeroU64],
        _: &ZarrsType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }
}

impl ArrayToArrayCodecTraits for Packing {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToArrayCodecTraits> {
        self
    }

    fn encoded_data_type(&self, data_type: &ZarrsType) -> Result<ZarrsType, CodecError> {
        zarrs_type(self.bound(data_type)?.stored_type())
    }

    /// The fill that codecs behind this one see. The legacy codec hands it on cast, not transformed.
    fn encoded_fill_value(
        &self,
        data_type: &ZarrsType,
        fill: &FillValue,
    ) -> Result<FillValue, CodecError> {
        let chain = self.bound(data_type)?;
        let fill = Scalar::from_ne_bytes(chain.data_type(), fill.as_ne_bytes());
        let traced = bind(chain.data_type(), Some(fill), &self.reading.codecs).chain;
        let codecs = self.reading.codecs.len();
        let stored = traced
            .as_ref()
            .and_then(|chain| chain.fill()?.stored(codecs));
        let Some(stored) = stored else {
            let reason = format!(
                "the fill value {fill} cannot be encoded as {}",
                chain.stored_type()
            );
            return Err(CodecError::Other(reason));
        };
        let mut bytes = vec![0; stored.data_type().size()];
        stored.write_ne_bytes(&mut bytes);
        Ok(FillValue::new(bytes))
    }

    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &ZarrsType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        if self
            .reading
            .codecs
            .iter()
            .any(|codec| matches!(codec, Codec::FixedScaleOffset(_)))
        {
            return Err(CodecError::Other(
                "the legacy codec is read, never written".to_owned(),
            ));
        }
        self.run(Direction::Encode, bytes, shape, data_type)
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &ZarrsType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        self.run(Direction::Decode, bytes, shape, data_type)
    }
}
