//! Codecs from bytes to bytes: what decoding makes never grows beyond what a chunk may hold.
//!
//! Where zarrs has the codec as well, it stays in charge of encoding.

mod blosc;
mod checksum;
mod inflate;
mod lz4;
mod lzma;
mod shuffle;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use zarrs::array::codec::api::{
    BytesToBytesCodecTraits, Codec, CodecError, CodecMetadataOptions, CodecTraits, CodecTraitsV3,
    PartialDecoderCapability, PartialEncoderCapability, RecommendedConcurrency,
};
use zarrs::array::codec::{BloscCodec, Bz2Codec, GzipCodec, ZlibCodec, ZstdCodec};
use zarrs::array::{ArrayBytesRaw, BytesRepresentation, CodecOptions};
use zarrs::metadata::Configuration;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use super::chain::options;

/// What a decoder may make where nothing says how much is due, as around values of variable size.
const UNSTATED_ROOM: u64 = 256 << 20;

/// The room for decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Room {
    /// The number of bytes that is due, where it is known.
    exact: Option<u64>,
    /// The number beyond which decoding stops.
    at_most: u64,
}

impl Room {
    const fn exactly(bytes: u64) -> Self {
        Self {
            exact: Some(bytes),
            at_most: bytes,
        }
    }

    const fn at_most(bytes: u64) -> Self {
        Self {
            exact: None,
            at_most: bytes,
        }
    }

    /// Refuses a size that a header states.
    fn check(self, bytes: u64) -> Result<(), String> {
        match self.exact {
            Some(exact) if exact != bytes => Err(format!("{bytes} bytes where {exact} are due")),
            _ if bytes > self.at_most => Err(self.overflow()),
            _ => Ok(()),
        }
    }

    fn overflow(self) -> String {
        format!("more than the {} bytes that are due", self.at_most)
    }
}

impl From<&BytesRepresentation> for Room {
    fn from(representation: &BytesRepresentation) -> Self {
        match representation {
            BytesRepresentation::FixedSize(size) => Self::exactly(*size),
            BytesRepresentation::BoundedSize(size) => Self::at_most(*size),
            BytesRepresentation::UnboundedSize => Self::at_most(UNSTATED_ROOM),
        }
    }
}

/// A codec as it is made here: all of decoding, and encoding where zarrs does not do that.
trait Decoder: Debug + Send + Sync + 'static {
    /// Decodes.
    ///
    /// # Errors
    ///
    /// In words, what is wrong with the bytes, among it that they want more than the room.
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String>;

    /// Encodes; `None` where this is left to zarrs.
    ///
    /// # Errors
    ///
    /// In words, why the bytes cannot be encoded.
    fn encode(&self, _decoded: &[u8]) -> Option<Result<Vec<u8>, String>> {
        None
    }

    /// The encoded size of so many bytes, where all bytes of that number have the same.
    fn encoded_size(&self, decoded: u64) -> Option<u64>;
}

/// A codec of zarrs made of a [`Decoder`].
#[derive(Debug)]
struct ByteCodec {
    metadata: MetadataV3,
    decoder: Box<dyn Decoder>,
    /// The codec of zarrs, where it has one and understands the configuration.
    encoder: Option<Arc<dyn BytesToBytesCodecTraits>>,
}

/// The name of a codec without the prefix that numcodecs' codecs have in Zarr v3.
fn plain(name: &str) -> &str {
    name.strip_prefix("numcodecs.").unwrap_or(name)
}

/// Whether the codec with this name is made here.
pub(super) fn knows(name: &str) -> bool {
    const KNOWN: [&str; 13] = [
        "gzip",
        "zlib",
        "bz2",
        "zstd",
        "lzma",
        "lz4",
        "blosc",
        "shuffle",
        "crc32",
        "crc32c",
        "adler32",
        "fletcher32",
        "jenkins_lookup3",
    ];
    KNOWN.contains(&plain(name))
}

/// Makes the codec that the metadata describe.
///
/// # Errors
///
/// What is wrong with the parts of the configuration that decoding needs.
pub(super) fn create(metadata: &MetadataV3) -> Result<Codec, PluginCreateError> {
    let empty = Configuration::default();
    let configuration = metadata.configuration().unwrap_or(&empty);
    type Encoder = fn(&MetadataV3) -> Result<Codec, PluginCreateError>;
    let none: Option<Encoder> = None;
    let (decoder, encoder): (Result<Box<dyn Decoder>, String>, _) = match plain(metadata.name()) {
        "gzip" => (
            Ok(Box::new(inflate::Inflate::Gzip)),
            Some(GzipCodec::create as Encoder),
        ),
        "zlib" => (
            Ok(Box::new(inflate::Inflate::Zlib)),
            Some(ZlibCodec::create as Encoder),
        ),
        "bz2" => (
            Ok(Box::new(inflate::Inflate::Bz2)),
            Some(Bz2Codec::create as Encoder),
        ),
        "zstd" => (
            Ok(Box::new(inflate::Inflate::Zstd)),
            Some(ZstdCodec::create as Encoder),
        ),
        "lzma" => (lzma::Lzma::new(configuration).map(boxed), none),
        "lz4" => (Ok(Box::new(lz4::Lz4)), none),
        "blosc" => (
            blosc::Blosc::new().map(boxed),
            Some(BloscCodec::create as Encoder),
        ),
        "shuffle" => (shuffle::Shuffle::new(configuration).map(boxed), none),
        name => (
            checksum::Checksum::new(name, configuration).map(boxed),
            none,
        ),
    };
    let encoder = encoder.and_then(|create| match create(metadata) {
        Ok(Codec::BytesToBytes(codec)) => Some(codec),
        // What was written once is read, whatever its writer's options would mean for another writing.
        _ => None,
    });
    Ok(Codec::BytesToBytes(Arc::new(ByteCodec {
        metadata: metadata.clone(),
        decoder: decoder.map_err(PluginCreateError::Other)?,
        encoder,
    })))
}

/// Whether chunks can be written with the codec that the metadata describe.
pub(super) fn is_written(metadata: &MetadataV3) -> bool {
    let trial = Cow::Borrowed(&[0_u8; 64][..]);
    match create(metadata) {
        Ok(Codec::BytesToBytes(codec)) => codec.encode(trial, &options()).is_ok(),
        _ => false,
    }
}

/// As [`is_written`], for a name and a configuration.
pub(super) fn is_written_with(name: &str, configuration: &serde_json::Value) -> bool {
    let members = configuration.as_object().cloned().unwrap_or_default();
    knows(name) && is_written(&MetadataV3::new_with_configuration(name, members))
}

fn boxed(decoder: impl Decoder) -> Box<dyn Decoder> {
    Box::new(decoder)
}

impl ExtensionName for ByteCodec {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        matches!(version, ZarrVersion::V3).then(|| self.metadata.name().to_owned().into())
    }
}

impl CodecTraits for ByteCodec {
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

impl BytesToBytesCodecTraits for ByteCodec {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn BytesToBytesCodecTraits> {
        self
    }

    fn recommended_concurrency(
        &self,
        _: &BytesRepresentation,
    ) -> Result<RecommendedConcurrency, CodecError> {
        Ok(RecommendedConcurrency::new_maximum(1))
    }

    fn encoded_representation(&self, decoded: &BytesRepresentation) -> BytesRepresentation {
        if let Some(encoder) = &self.encoder {
            return encoder.encoded_representation(decoded);
        }
        match decoded {
            BytesRepresentation::FixedSize(size) => self.decoder.encoded_size(*size).map_or(
                BytesRepresentation::UnboundedSize,
                BytesRepresentation::FixedSize,
            ),
            BytesRepresentation::BoundedSize(size) => self.decoder.encoded_size(*size).map_or(
                BytesRepresentation::UnboundedSize,
                BytesRepresentation::BoundedSize,
            ),
            BytesRepresentation::UnboundedSize => BytesRepresentation::UnboundedSize,
        }
    }

    fn encode<'a>(
        &self,
        decoded: ArrayBytesRaw<'a>,
        options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        match &self.encoder {
            Some(encoder) => encoder.encode(decoded, options),
            None => match self.decoder.encode(&decoded) {
                Some(encoded) => encoded.map(Cow::Owned).map_err(CodecError::Other),
                None => {
                    let name = self.metadata.name();
                    Err(CodecError::Other(format!(
                        "{name:?} is read, and not written with this configuration"
                    )))
                }
            },
        }
    }

    fn decode<'a>(
        &self,
        encoded: ArrayBytesRaw<'a>,
        decoded: &BytesRepresentation,
        _: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        let bytes = self.decoder.decode(&encoded, decoded.into());
        bytes.map(Cow::Owned).map_err(CodecError::Other)
    }
}
