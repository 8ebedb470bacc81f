//! Checksums of 32 bits beside the bytes that they are of.

use serde_json::Value;
use zarrs::metadata::Configuration;

use super::{Decoder, Room};

/// A checksum of some kind, before or behind the bytes.
#[derive(Debug)]
pub(super) struct Checksum {
    kind: Kind,
    at_start: bool,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Crc32,
    Crc32c,
    Adler32,
    Fletcher32,
    JenkinsLookup3 { seed: u32 },
}

impl Checksum {
    /// Reads the configuration of the codec called `name`, without a prefix.
    pub(super) fn new(name: &str, configuration: &Configuration) -> Result<Self, String> {
        let (kind, at_start) = match name {
            "crc32" => (Kind::Crc32, true),
            "crc32c" => (Kind::Crc32c, false),
            "adler32" => (Kind::Adler32, true),
            "fletcher32" => (Kind::Fletcher32, false),
            "jenkins_lookup3" => {
                if configuration
                    .get("prefix")
                    .is_some_and(|prefix| !prefix.is_null())
                {
                    return Err("a \"prefix\" of bytes, which has no form in JSON".to_owned());
                }
                let seed = configuration.get("initval").map_or(Some(0), Value::as_u64);
                let seed = seed.and_then(|seed| u32::try_from(seed).ok());
                let seed = seed.ok_or("an \"initval\" that is no number of 32 bits")?;
                (Kind::JenkinsLookup3 { seed }, false)
            }
            other => return Err(format!("the checksum {other:?}")),
        };
        let movable = matches!(kind, Kind::Crc32 | Kind::Crc32c | Kind::Adler32);
        let at_start = match configuration.get("location").filter(|_| movable) {
            None | Some(Value::Null) => at_start,
            Some(word) => match word.as_str() {
                Some("start") => true,
                Some("end") => false,
                _ => {
                    return Err(format!(
                        "the \"location\" {word}; expected \"start\" or \"end\""
                    ));
                }
            },
        };
        Ok(Self { kind, at_start })
    }
}

impl Checksum {
    /// The checksum of some bytes.
    fn of(&self, bytes: &[u8]) -> u32 {
        match self.kind {
            Kind::Crc32 => crc32fast::hash(bytes),
            Kind::Crc32c => crc32c::crc32c(bytes),
            Kind::Adler32 => simd_adler32::adler32(&bytes),
            Kind::Fletcher32 => fletcher32(bytes),
            Kind::JenkinsLookup3 { seed } => jenkins_lookup3(bytes, seed),
        }
    }
}

impl Decoder for Checksum {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        let parts = if self.at_start {
            encoded.split_first_chunk::<4>()
        } else {
            encoded
                .split_last_chunk::<4>()
                .map(|(bytes, sum)| (sum, bytes))
        };
        let (stored, bytes) = parts.ok_or("no room for a checksum")?;
        room.check(bytes.len() as u64)?;
        let stored = u32::from_le_bytes(*stored);
        let computed = self.of(bytes);
        if stored != computed {
            return Err(format!(
                "the checksum {stored:08x} is stored, and the bytes have {computed:08x}"
            ));
        }
        Ok(bytes.to_vec())
    }

    fn encode(&self, decoded: &[u8]) -> Option<Result<Vec<u8>, String>> {
        let sum = self.of(decoded).to_le_bytes();
        let parts = if self.at_start {
            [&sum[..], decoded]
        } else {
            [decoded, &sum[..]]
        };
        Some(Ok(parts.concat()))
    }

    fn encoded_size(&self, decoded: u64) -> Option<u64> {
        decoded.checked_add(4)
    }
}

/// Fletcher's checksum in the form of HDF5: over 16-bit words, most significant byte first, the last one filled up with 0.
fn fletcher32(bytes: &[u8]) -> u32 {
    // As many words as can be summed up before 32 bits overflow.
    const WORDS: usize = 360;
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let (mut first, mut second) = (0_u32, 0_u32);
    for block in bytes.chunks(2 * WORDS) {
        for word in block.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            first += u32::from(u16::from_be_bytes([word[0], low]));
            second += first;
        }
        first = fold(first);
        second = fold(second);
    }
    (fold(second) << 16) | fold(first)
}

/// Bob Jenkins' lookup3 in the form of HDF5: `hashlittle`, one byte at a time.
fn jenkins_lookup3(bytes: &[u8], seed: u32) -> u32 {
    // The definition counts bytes in 32 bits.
    let length = bytes.len() as u32;
    let start = 0xdead_beef_u32.wrapping_add(length).wrapping_add(seed);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        let (block, behind) = rest.split_at(12);
        add(&mut state, block);
        mix(&mut state);
        rest = behind;
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

/// Adds up to twelve bytes to the three words, least significant byte first.
fn add(state: &mut [u32; 3], block: &[u8]) {
    for (word, part) in state.iter_mut().zip(block.chunks(4)) {
        let mut bytes = [0; 4];
        bytes[..part.len()].copy_from_slice(part);
        *word = word.wrapping_add(u32::from_le_bytes(bytes));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    *a = a.wrapping_sub(*c) ^ c.rotate_left(4);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(6);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(8);
    *b = b.wrapping_add(*a);
    *a = a.wrapping_sub(*c) ^ c.rotate_left(16);
    *c = c.wrapping_add(*b);
    *b = b.wrapping_sub(*a) ^ a.rotate_left(19);
    *a = a.wrapping_add(*c);
    *c = c.wrapping_sub(*b) ^ b.rotate_left(4);
    *b = b.wrapping_add(*a);
}

fn finish([a, b, c]: &mut [u32; 3]) {
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(14));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(11));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(25));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(16));
    *a = (*a ^ *c).wrapping_sub(c.rotate_left(4));
    *b = (*b ^ *a).wrapping_sub(a.rotate_left(14));
    *c = (*c ^ *b).wrapping_sub(b.rotate_left(24));
}
