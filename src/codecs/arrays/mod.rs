//! Codecs of numcodecs from arrays to arrays, beside the packing ones: they are read, and never written.

mod convert;
mod delta;
mod packbits;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::sync::Arc;

use serde_json::Value;
use zarrs::array::codec::api::{
    ArrayCodecTraits, ArrayToArrayCodecTraits, Codec, CodecError, CodecMetadataOptions,
    CodecTraits, PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::array::{ArrayBytes, CodecOptions, DataType as ZarrsType, FillValue};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use super::element_type::element_type;
use crate::transform::data_type::DataType;

/// The decoding half of a codec.
trait Decoder: Debug + Send + Sync + 'static {
    /// The type after encoding.
    ///
    /// # Errors
    ///
    /// In words, where the codec does not take the type.
    fn encoded_type(&self, decoded: &ZarrsType) -> Result<ZarrsType, String>;

    /// The shape after encoding.
    fn encoded_shape(&self, decoded: &[NonZeroU64]) -> Result<Vec<NonZeroU64>, String> {
        Ok(decoded.to_vec())
    }

    /// The fill that codecs behind this one see: the decoded one, cast.
    fn encoded_fill(&self, decoded: &ZarrsType, fill: &[u8]) -> Result<Vec<u8>, String>;

    /// Decodes the elements of a chunk, `elements` of them, into the decoded type.
    ///
    /// # Errors
    ///
    /// In words, what is wrong with the elements.
    fn decode(
        &self,
        encoded: Vec<u8>,
        elements: usize,
        decoded: &ZarrsType,
    ) -> Result<Vec<u8>, String>;
}

/// A codec of zarrs made of a [`Decoder`].
#[derive(Debug)]
struct ArrayCodec {
    metadata: MetadataV3,
    decoder: Box<dyn Decoder>,
}

/// Whether the codec with this name is made here. The core codec `packbits` is another than that of numcodecs.
pub(super) fn knows(name: &str) -> bool {
    let plain = name.strip_prefix("numcodecs.").unwrap_or(name);
    ["delta", "astype", "quantize"].contains(&plain) || name == "numcodecs.packbits"
}

/// Makes the codec that the metadata describe.
///
/// # Errors
///
/// What is wrong with the configuration.
pub(super) fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
    let name = metadata
        .name()
        .strip_prefix("numcodecs.")
        .unwrap_or(metadata.name());
    let decoder: Result<Box<dyn Decoder>, String> = match name {
        "delta" => delta::Delta::new(metadata).map(boxed),
        "astype" => convert::Convert::astype(metadata).map(boxed),
        "quantize" => convert::Convert::quantize(metadata).map(boxed),
        _ => Ok(boxed(packbits::PackBits)),
    };
    Ok(Codec::ArrayToArray(Arc::new(ArrayCodec {
        metadata: metadata.clone(),
        decoder: decoder.map_err(PluginCreateError::Other)?,
    })))
}

fn boxed(decoder: impl Decoder) -> Box<dyn Decoder> {
    Box::new(decoder)
}

/// The type that a member of a configuration names in NumPy's way; `None` where it is absent or null. Its byte order is
/// that of the bytes that the codec once gave, and says nothing in Zarr v3.
fn numpy_type(metadata: &MetadataV3, member: &str) -> Result<Option<DataType>, String> {
    let value = metadata
        .configuration()
        .and_then(|members| members.get(member));
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(DataType::from_numpy) {
            Some((data_type, _)) => Ok(Some(data_type)),
            None => Err(format!(
                "the {member:?} {value}, which is no type of integers or floats that NumPy has"
            )),
        },
    }
}

/// Checks the type that a codec says it decodes to against the one at its place.
fn check_type(
    stated: Option<DataType>,
    member: &str,
    incoming: &ZarrsType,
) -> Result<DataType, String> {
    let found = element_type(incoming).ok_or("a type that holds no integers or floats")?;
    match stated {
        Some(stated) if stated != found => Err(format!(
            "{member:?} is {stated}, and the type at this place of the chain is {found}"
        )),
        _ => Ok(found),
    }
}

impl ExtensionName for ArrayCodec {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        matches!(version, ZarrVersion::V3).then(|| self.metadata.name().to_owned().into())
    }
}

impl CodecTraits for ArrayCodec {
    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn configuration(&self, _: ZarrVersion, _: &CodecMetadataOptions) -> Option<Configuration> {
        Some(self.metadata.configuration().cloned().unwrap_or_default())
    }

    fn partial_decoder_capability(&self) -> PartialDecoderCapability {
        PartialDecoderCapability {
            partial_read: false,
            partial_decode: false,
        }
    }

    fn partial_encoder_capability(&self) -> PartialEncoderCapability {
        PartialEncoderCapability {
            partial_encode: false,
        }
    }
}

impl ArrayCodecTraits for ArrayCodec {
    fn recommended_concurrency(
        &self,
        _: &[NonZeroU64],
        _: &ZarrsType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }
}

impl ArrayToArrayCodecTraits for ArrayCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToArrayCodecTraits> {
        self
    }

    fn encoded_data_type(&self, decoded: &ZarrsType) -> Result<ZarrsType, CodecError> {
        self.decoder
            .encoded_type(decoded)
            .map_err(CodecError::Other)
    }

    fn encoded_fill_value(
        &self,
        decoded: &ZarrsType,
        fill: &FillValue,
    ) -> Result<FillValue, CodecError> {
        let fill = self.decoder.encoded_fill(decoded, fill.as_ne_bytes());
        fill.map(FillValue::new).map_err(CodecError::Other)
    }

    fn encoded_shape(&self, decoded: &[NonZeroU64]) -> Result<Vec<NonZeroU64>, CodecError> {
        self.decoder
            .encoded_shape(decoded)
            .map_err(CodecError::Other)
    }

    fn encode<'a>(
        &self,
        _: ArrayBytes<'a>,
        _: &[NonZeroU64],
        _: &ZarrsType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let name = self.metadata.name();
        Err(CodecError::Other(format!(
            "{name:?} is read, and never written"
        )))
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        decoded: &ZarrsType,
        _: &FillValue,
        _: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        let elements = shape.iter().try_fold(1_usize, |product, length| {
            product.checked_mul(usize::try_from(length.get()).ok()?)
        });
        let elements = elements.ok_or_else(|| CodecError::Other("too many elements".to_owned()))?;
        let bytes = self
            .decoder
            .decode(encoded.into_fixed()?.into_owned(), elements, decoded);
        bytes.map(ArrayBytes::from).map_err(CodecError::Other)
    }
}
