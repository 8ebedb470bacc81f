//! LZ4 blocks as numcodecs writes them: the decoded size in four bytes, then one block.

use super::{Decoder, Room};

/// No sequence of an LZ4 block makes more bytes of one than this.
const MOST_OF_ONE_BYTE: u64 = 255;

#[derive(Debug)]
pub(super) struct Lz4;

impl Decoder for Lz4 {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        let (header, block) = encoded
            .split_first_chunk::<4>()
            .ok_or("no room for the size before an LZ4 block")?;
        let size = u32::from_le_bytes(*header);
        room.check(u64::from(size))?;
        let most = (block.len() as u64).saturating_mul(MOST_OF_ONE_BYTE);
        if u64::from(size) > most {
            return Err(format!(
                "{} bytes of LZ4 cannot hold the {size} bytes that they announce",
                block.len()
            ));
        }
        let size = usize::try_from(size).map_err(|error| error.to_string())?;
        let mut bytes = vec![0; size];
        let written = lz4_flex::block::decompress_into(block, &mut bytes)
            .map_err(|error| error.to_string())?;
        if written != size {
            return Err(format!("{written} bytes where {size} are announced"));
        }
        Ok(bytes)
    }

    fn encode(&self, decoded: &[u8]) -> Option<Result<Vec<u8>, String>> {
        // What numcodecs can tell in its header, and LZ4 itself takes.
        const MOST: usize = 0x7e00_0000;
        if decoded.len() > MOST {
            let found = decoded.len();
            return Some(Err(format!(
                "{found} bytes, and LZ4 takes at most {MOST} at once"
            )));
        }
        let mut encoded = (decoded.len() as u32).to_le_bytes().to_vec();
        encoded.extend(lz4_flex::block::compress(decoded));
        Some(Ok(encoded))
    }

    fn encoded_size(&self, _: u64) -> Option<u64> {
        None
    }
}
