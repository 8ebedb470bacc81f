//! Blosc chunks. The library is C, and allocates what the header says: the header is judged first.

use std::borrow::Cow;

use zarrs::array::BytesRepresentation;
use zarrs::array::codec::api::BytesToBytesCodecTraits;
use zarrs::array::codec::{BloscCodec, BloscCompressionLevel, BloscCompressor, BloscShuffleMode};

use super::{Decoder, Room};
use crate::codecs::chain::options;

/// The bytes of a header.
const HEADER: usize = 16;

/// The flag for contents that are stored as they are.
const MEMCPYED: u8 = 0x02;

#[derive(Debug)]
pub(super) struct Blosc {
    codec: BloscCodec,
}

impl Blosc {
    /// The decoder, which needs none of the options that chunks were written with: they say it themselves.
    pub(super) fn new() -> Result<Self, String> {
        let level = BloscCompressionLevel::try_from(5)
            .map_err(|level| format!("no Blosc level {level}"))?;
        let codec = BloscCodec::new(
            BloscCompressor::LZ4,
            level,
            None,
            BloscShuffleMode::NoShuffle,
            None,
        );
        Ok(Self {
            codec: codec.map_err(|error| error.to_string())?,
        })
    }
}

impl Decoder for Blosc {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        let size = judge(encoded, room)?;
        if size == 0 {
            return Ok(Vec::new());
        }
        let representation = BytesRepresentation::FixedSize(size);
        let bytes = self
            .codec
            .decode(Cow::Borrowed(encoded), &representation, &options());
        bytes
            .map(Cow::into_owned)
            .map_err(|error| error.to_string())
    }

    fn encoded_size(&self, _: u64) -> Option<u64> {
        None
    }
}

/// Checks what a header says against the bytes that are there, and returns the decoded size.
fn judge(encoded: &[u8], room: Room) -> Result<u64, String> {
    let header = encoded
        .first_chunk::<HEADER>()
        .ok_or("no room for a Blosc header")?;
    let [version, _, flags, type_size, sizes @ ..] = header;
    let mut sizes = sizes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes));
    let mut next = || sizes.next().unwrap_or_default();
    let (decoded, block, compressed) = (next(), next(), next());
    if !(1..=2).contains(version) {
        return Err(format!("version {version} of the Blosc format"));
    }
    if compressed as usize != encoded.len() {
        return Err(format!(
            "{} bytes of Blosc, of which the header announces {compressed}",
            encoded.len()
        ));
    }
    room.check(u64::from(decoded))?;
    if decoded > i32::MAX.cast_unsigned() {
        return Err(format!("{decoded} bytes in one Blosc chunk"));
    }
    if *type_size == 0 || (decoded > 0 && (block == 0 || block > decoded)) {
        return Err(format!(
            "blocks of {block} bytes of elements of {type_size}, in {decoded} bytes"
        ));
    }
    if flags & MEMCPYED != 0 {
        return if encoded.len() == HEADER + decoded as usize {
            Ok(u64::from(decoded))
        } else {
            Err(format!(
                "{} bytes of Blosc for {decoded} that are stored as they are",
                encoded.len()
            ))
        };
    }
    if decoded > 0 {
        judge_blocks(encoded, decoded.div_ceil(block) as usize)?;
    }
    Ok(u64::from(decoded))
}

/// Checks that each block begins inside the chunk, behind the table of where they begin.
fn judge_blocks(encoded: &[u8], blocks: usize) -> Result<(), String> {
    let table = blocks
        .checked_mul(4)
        .and_then(|length| encoded.get(HEADER..HEADER.checked_add(length)?));
    let table = table.ok_or_else(|| format!("no room for the table of {blocks} Blosc blocks"))?;
    let first = HEADER + table.len();
    for start in table.as_chunks::<4>().0 {
        let start = u32::from_le_bytes(*start) as usize;
        // The length of a block's first part stands at its start.
        if start < first || start > encoded.len().saturating_sub(4) {
            return Err(format!(
                "a Blosc block at {start} in {} bytes",
                encoded.len()
            ));
        }
    }
    Ok(())
}
