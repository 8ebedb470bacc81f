//! A chain of codecs that decodes: built from a document with every check that can be made before there is a chunk.
//!
//! zarrs binds nothing when it opens an array, puts codecs into another order than the document's, leaves out what it does not
//! know where that is said to be harmless, and encodes the fill on every decoding. So its codecs are used one by one here.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

use zarrs::array::codec::api::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, BytesToBytesCodecTraits, CodecError,
};
use zarrs::array::{ArrayBytes, BytesRepresentation, CodecOptions};

use super::error::Failure;
use super::representation::Representation;
use super::shard::Sharding;

/// A chain that decodes one kind of chunk.
#[derive(Debug)]
pub(super) struct Chain {
    /// In the order of encoding.
    pub(super) arrays: Vec<ArrayStage>,
    pub(super) serializer: Serializer,
    /// In the order of encoding.
    pub(super) bytes: Vec<ByteStage>,
    /// What decoding gives.
    pub(super) decoded: Representation,
}

/// A codec from arrays to arrays.
#[derive(Debug)]
pub(super) struct ArrayStage {
    pub(super) name: String,
    pub(super) codec: Arc<dyn ArrayToArrayCodecTraits>,
    /// What decoding gives.
    pub(super) decoded: Representation,
    pub(super) reach: Reach,
}

/// How far apart the elements are that a codec makes of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Each element becomes the one at its place.
    Element,
    /// Dimension `n` after encoding is dimension `order[n]` before it.
    Permutation(Vec<usize>),
    /// Elements depend on others.
    Chunk,
}

/// What makes bytes of an array.
#[derive(Debug)]
pub(super) enum Serializer {
    /// A codec that does it at once.
    Plain {
        name: String,
        codec: Arc<dyn ArrayToBytesCodecTraits>,
        decoded: Box<Representation>,
        encoded: BytesRepresentation,
    },
    /// Inner chunks with an index.
    Sharding(Box<Sharding>),
}

/// A codec from bytes to bytes.
#[derive(Debug)]
pub(super) struct ByteStage {
    pub(super) name: String,
    pub(super) codec: Arc<dyn BytesToBytesCodecTraits>,
    /// What decoding gives.
    pub(super) decoded: BytesRepresentation,
}

/// One thread: chunks are what runs in parallel.
pub(super) fn options() -> CodecOptions {
    static OPTIONS: OnceLock<CodecOptions> = OnceLock::new();
    *OPTIONS.get_or_init(|| {
        // The defaults ask rayon for its number of threads. Outside a pool that starts the global one, which is not ours to
        // start; inside a pool of one thread it does not.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let defaults = pool
            .map(|pool| pool.install(CodecOptions::default))
            .unwrap_or_default();
        defaults
            .with_concurrent_target(1)
            .with_chunk_concurrent_minimum(1)
    })
}

/// An error of zarrs, of which only the text tells what went wrong.
fn failure(error: CodecError, name: &str) -> Failure {
    Failure::unsound(error).in_codec(name)
}

impl Chain {
    /// The bytes that a decoded chunk takes, and those of the largest stage before it: what decoding holds at once, apart from
    /// the chunk as it is stored.
    pub(super) fn working_bytes(&self) -> u64 {
        let stages = self.arrays.iter().skip(1).map(|stage| stage.decoded.bytes);
        let serialized = match &self.serializer {
            Serializer::Plain {
                decoded, encoded, ..
            } => decoded.bytes.max(encoded.size().unwrap_or(decoded.bytes)),
            Serializer::Sharding(sharding) => sharding
                .shard
                .bytes
                .saturating_add(sharding.inner.working_bytes()),
        };
        let widest = stages.fold(serialized, u64::max);
        self.decoded.bytes.saturating_add(widest)
    }

    /// The exact number of bytes that a chunk has once its last codec has encoded it, if all chunks have the same.
    pub(super) fn encoded_size(&self) -> Option<u64> {
        let mut size = match &self.serializer {
            Serializer::Plain { encoded, .. } => *encoded,
            Serializer::Sharding(_) => return None,
        };
        for stage in &self.bytes {
            size = stage.codec.encoded_representation(&size);
        }
        match size {
            BytesRepresentation::FixedSize(size) => Some(size),
            _ => None,
        }
    }

    /// Decodes a chunk.
    ///
    /// # Errors
    ///
    /// The codec that refuses the bytes or a value, and why.
    pub(super) fn decode(&self, encoded: Cow<'_, [u8]>) -> Result<Vec<u8>, Failure> {
        let bytes = self.decode_bytes(encoded)?;
        let array = match &self.serializer {
            Serializer::Plain {
                name,
                codec,
                decoded,
                encoded,
            } => {
                check_size(&bytes, encoded, name)?;
                let fill = decoded.fill_or_zeros();
                let array =
                    codec.decode(bytes, &decoded.shape, &decoded.data_type, &fill, &options());
                let array = array.and_then(|array| Ok(array.into_fixed()?.into_owned()));
                array.map_err(|error| failure(error, name))?
            }
            Serializer::Sharding(sharding) => sharding.decode(&bytes)?,
        };
        self.decode_arrays(array, None)
    }

    /// Undoes the codecs that work on bytes.
    pub(super) fn decode_bytes<'b>(
        &self,
        encoded: Cow<'b, [u8]>,
    ) -> Result<Cow<'b, [u8]>, Failure> {
        let mut bytes = encoded;
        for stage in self.bytes.iter().rev() {
            let decoded = stage.codec.decode(bytes, &stage.decoded, &options());
            bytes = decoded.map_err(|error| failure(error, &stage.name))?;
            check_size(&bytes, &stage.decoded, &stage.name)?;
        }
        Ok(bytes)
    }

    /// Undoes the codecs that work on arrays, for a whole chunk or for a piece of it, whose shape after encoding is given.
    pub(super) fn decode_arrays(
        &self,
        array: Vec<u8>,
        piece: Option<&[NonZeroU64]>,
    ) -> Result<Vec<u8>, Failure> {
        let mut array = array;
        let mut piece = piece.map(<[_]>::to_vec);
        for stage in self.arrays.iter().rev() {
            if let (Some(shape), Reach::Permutation(order)) = (&mut piece, &stage.reach) {
                *shape = unpermute(shape, order);
            }
            let shape = piece.as_deref().unwrap_or(&stage.decoded.shape);
            let fill = stage.decoded.fill_or_zeros();
            let bytes = ArrayBytes::from(array);
            let decoded =
                stage
                    .codec
                    .decode(bytes, shape, &stage.decoded.data_type, &fill, &options());
            let decoded = decoded.and_then(|array| Ok(array.into_fixed()?.into_owned()));
            array = decoded.map_err(|error| failure(error, &stage.name))?;
        }
        Ok(array)
    }

    /// How a piece of the decoded array lies in the array that the serializer sees: dimension `n` there is dimension
    /// `order[n]` here. `None` where pieces cannot be decoded by themselves.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        let mut axes: Vec<usize> = (0..self.decoded.shape.len()).collect();
        for stage in &self.arrays {
            match &stage.reach {
                Reach::Element => {}
                Reach::Permutation(order) => axes = order.iter().map(|axis| axes[*axis]).collect(),
                Reach::Chunk => return None,
            }
        }
        Some(axes)
    }
}

/// What is true before encoding, from what is true after it: the inverse of taking dimension `order[n]` as dimension `n`.
pub(super) fn unpermute<T: Copy>(after: &[T], order: &[usize]) -> Vec<T> {
    let mut before = after.to_vec();
    for (value, axis) in after.iter().zip(order) {
        before[*axis] = *value;
    }
    before
}

/// Codecs of zarrs check sizes late or never, and some panic on what is too short.
fn check_size(bytes: &[u8], expected: &BytesRepresentation, name: &str) -> Result<(), Failure> {
    let found = bytes.len() as u64;
    match expected {
        BytesRepresentation::FixedSize(size) if found != *size => {
            Err(format!("{found} bytes where {size} are due"))
        }
        BytesRepresentation::BoundedSize(size) if found > *size => {
            Err(format!("{found} bytes where at most {size} are due"))
        }
        _ => Ok(()),
    }
    .map_err(|reason| Failure::unsound(reason).in_codec(name))
}
