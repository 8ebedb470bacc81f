//! Compressed streams: gzip, zlib, bzip2, Zstandard.

use std::io::Read;

use bzip2::read::MultiBzDecoder;
use flate2::read::{MultiGzDecoder, ZlibDecoder};

use super::{Decoder, Room};

/// The memory that a stream's own dictionary may take. The largest preset of `xz` takes 65 MiB.
pub(super) const DICTIONARY: u64 = 128 << 20;

/// Formats without options for decoding.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inflate {
    Gzip,
    Zlib,
    Bz2,
    Zstd,
}

impl Decoder for Inflate {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        match self {
            Self::Gzip => drain(MultiGzDecoder::new(encoded), encoded.len(), room),
            Self::Zlib => drain(ZlibDecoder::new(encoded), encoded.len(), room),
            Self::Bz2 => drain(MultiBzDecoder::new(encoded), encoded.len(), room),
            Self::Zstd => {
                if let Some(bytes) = at_once(encoded, room)? {
                    return Ok(bytes);
                }
                let mut decoder =
                    zstd::Decoder::with_buffer(encoded).map_err(|error| error.to_string())?;
                decoder
                    .window_log_max(DICTIONARY.ilog2())
                    .map_err(|error| error.to_string())?;
                drain(decoder, encoded.len(), room)
            }
        }
    }

    fn encoded_size(&self, _: u64) -> Option<u64> {
        None
    }
}

/// Decodes a single frame that says it holds what is due, without the copy that a stream makes; `None` for anything else.
fn at_once(encoded: &[u8], room: Room) -> Result<Option<Vec<u8>>, String> {
    let stated = zstd::zstd_safe::get_frame_content_size(encoded);
    let single = zstd::zstd_safe::find_frame_compressed_size(encoded) == Ok(encoded.len());
    let length = match stated {
        Ok(Some(stated))
            if single && Some(stated) == room.exact && stated <= plausible(encoded.len()) =>
        {
            stated
        }
        _ => return Ok(None),
    };
    let length = usize::try_from(length).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|error| error.to_string())?;
    let decoded = zstd::bulk::Decompressor::new()
        .and_then(|mut decoder| decoder.decompress_to_buffer(encoded, &mut bytes));
    decoded.map_err(|error| error.to_string())?;
    room.check(bytes.len() as u64)?;
    Ok(Some(bytes))
}

/// The bytes that a stream may well hold.
const fn plausible(encoded: usize) -> u64 {
    (encoded as u64).saturating_mul(256).saturating_add(1 << 16)
}

/// Reads a decoder to its end, or to the first byte too many.
pub(super) fn drain(decoder: impl Read, encoded: usize, room: Room) -> Result<Vec<u8>, String> {
    // What is due is asked for at once where the stream may well hold it, and not on the word of a document alone.
    let likely = room.exact.unwrap_or(0).min(plausible(encoded));
    let mut bytes = Vec::new();
    let likely = usize::try_from(likely).unwrap_or(0);
    bytes
        .try_reserve_exact(likely)
        .map_err(|error| error.to_string())?;
    decoder
        .take(room.at_most.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > room.at_most {
        return Err(room.overflow());
    }
    room.check(bytes.len() as u64)?;
    Ok(bytes)
}
