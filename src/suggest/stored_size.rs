//! How much codes take when they are stored as the array's chunks are: with its shards, its order and its compressor.

use crate::catalog::ArrayText;
use crate::codecs::{OpenArray, PlainEncoder, plain_chain, plain_chain_v2};
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::v3::Chain;
use crate::metadata::{Node, Problems, v2, v3};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// The sizes of elements that there are.
const SIZES: [usize; 4] = [1, 2, 4, 8];

/// What an index of a shard has for each inner chunk.
const INDEX_ENTRY: u64 = 16;

/// What follows the entries, as indices usually are written.
const CHECKSUM: u64 = 4;

/// The zstd level of stores that do not exist yet.
const USUAL_LEVEL: u64 = 5;

/// How pieces of an array are stored, whatever their type will be.
#[derive(Debug, Clone)]
pub struct Storage {
    /// The lengths of a piece: a chunk, or an inner chunk of a shard.
    shape: Vec<u64>,
    /// The codecs of a piece, for each of [`SIZES`].
    codecs: Vec<Draft>,
    /// The bytes of the index of a shard; `None` where chunks are no shards.
    index: Option<u64>,
}

impl Storage {
    /// Whether chunks lie in shards.
    pub(super) const fn is_sharded(&self) -> bool {
        self.index.is_some()
    }

    /// What is stored beside the pieces of a chunk that is stored.
    pub(super) fn beside(&self) -> u64 {
        self.index.unwrap_or(0)
    }

    /// How the pieces of an array are stored, without what packs them.
    #[must_use]
    pub fn of(text: &ArrayText, array: &OpenArray) -> Self {
        let inner = array.inner_chunk_shape();
        // A shard has an entry for each of its inner chunks, wherever the array ends.
        let index = inner.as_ref().map(|inner| {
            let lengths = array.chunk_shape().into_iter().zip(inner);
            let entries = lengths
                .map(|(length, inner)| length / (*inner).max(1))
                .fold(1, u64::saturating_mul);
            entries.saturating_mul(INDEX_ENTRY).saturating_add(CHECKSUM)
        });
        let shape = inner.clone().unwrap_or(array.chunk_shape());
        let codecs = SIZES.map(|size| {
            let chain = match text {
                ArrayText::V3(text) => {
                    let mut problems = Problems::default();
                    match v3::read(&Node::root(&text.parsed.root), &mut problems) {
                        v3::Document::Array(array) => array
                            .codecs
                            .map(|chain| plain_chain(piece(&chain, inner.is_some()), size).codecs),
                        _ => None,
                    }
                }
                ArrayText::V2 { array, .. } => chain_v2(array, size),
            };
            chain.unwrap_or_else(|| usual(size))
        });
        Self {
            shape,
            codecs: codecs.into(),
            index,
        }
    }

    /// How a store that does not exist yet is thought to keep pieces of so many elements.
    #[must_use]
    pub fn usual(elements: u64) -> Self {
        Self {
            shape: vec![elements],
            codecs: SIZES.map(usual).into(),
            index: None,
        }
    }

    /// What pieces of codes take.
    ///
    /// # Errors
    ///
    /// In words, where such codes are not stored by this version.
    pub(super) fn encoder(&self, stored: DataType, fill: Option<Scalar>) -> Result<Sizer, String> {
        let length = self.shape.iter().try_fold(stored.size(), |bytes, length| {
            bytes.checked_mul(usize::try_from(*length).ok()?)
        });
        let length = length.ok_or("a piece is larger than memory")?;
        let place = SIZES.iter().position(|size| *size == stored.size());
        let codecs = place.and_then(|place| self.codecs.get(place));
        let codecs = codecs.cloned().unwrap_or_else(|| usual(stored.size()));
        let fill = fill.filter(|fill| fill.data_type() == stored);
        let literal = |scalar: Scalar| match scalar.to_json() {
            text if text.starts_with('"') => Draft::string(text.trim_matches('"')),
            text => Draft::Number(text),
        };
        let numbers = Draft::Array(self.shape.iter().copied().map(Draft::from).collect());
        let grid = Draft::object([
            ("name", Draft::string("regular")),
            (
                "configuration",
                Draft::object([("chunk_shape", numbers.clone())]),
            ),
        ]);
        let document = Draft::object([
            ("zarr_format", Draft::from(3_u64)),
            ("node_type", Draft::string("array")),
            ("shape", numbers),
            ("data_type", Draft::string(stored.name())),
            ("chunk_grid", grid),
            (
                "chunk_key_encoding",
                Draft::object([("name", Draft::string("default"))]),
            ),
            ("fill_value", fill.map_or(Draft::from(0_u64), literal)),
            ("codecs", codecs),
        ]);
        let fill = fill.map(|fill| {
            let mut code = vec![0; stored.size()];
            fill.write_ne_bytes(&mut code);
            code
        });
        Ok(Sizer {
            encoder: PlainEncoder::new(&document.to_document(&Layout::default()))?,
            length,
            fill,
        })
    }
}

/// Tells what pieces of codes take.
pub(super) struct Sizer {
    encoder: PlainEncoder,
    /// The bytes of a piece of codes.
    length: usize,
    /// The code of which whole pieces are left out.
    fill: Option<Vec<u8>>,
}

impl Sizer {
    /// The bytes that a piece takes; none where it is nothing but fill, and left out.
    pub(super) fn size(&self, mut codes: Vec<u8>) -> Result<u64, String> {
        // The last block of a file is shorter; zeros compress to next to nothing.
        codes.resize(self.length, 0);
        let empty = |fill: &Vec<u8>| codes.chunks_exact(fill.len()).all(|code| code == fill);
        if self.fill.as_ref().is_some_and(empty) {
            return Ok(0);
        }
        Ok(self.encoder.encode(codes)?.len() as u64)
    }
}

/// The chain of the pieces: that inside the shard, where there is one and its inner chunks are pieces.
fn piece<'c, 'v>(chain: &'c Chain<'v>, sharded: bool) -> &'c Chain<'v> {
    let sharding = chain
        .codecs
        .iter()
        .find_map(|codec| codec.sharding.as_ref());
    match sharding {
        Some(sharding) if sharded => &sharding.codecs,
        _ => chain,
    }
}

fn chain_v2(text: &crate::catalog::Text, size: usize) -> Option<Draft> {
    let mut problems = Problems::default();
    let array = v2::array(&Node::root(&text.parsed.root), &mut problems).complete()?;
    let compressor = array
        .compressor
        .as_ref()
        .map(|codec| (codec.id.value, codec.node.value));
    let Draft::Array(mut codecs) = plain_chain_v2(compressor, size).codecs else {
        return None;
    };
    let rank = array.shape.value.len() as u64;
    let fortran = text
        .parsed
        .root
        .get("order")
        .and_then(|order| order.as_str())
        == Some("F");
    if fortran && rank > 1 {
        let order = Draft::Array((0..rank).rev().map(Draft::from).collect());
        let configuration = Draft::object([("order", order)]);
        let transpose = Draft::object([
            ("name", Draft::string("transpose")),
            ("configuration", configuration),
        ]);
        codecs.insert(0, transpose);
    }
    Some(Draft::Array(codecs))
}

/// The codecs of stores that do not exist yet.
fn usual(size: usize) -> Draft {
    let bytes = if size == 1 {
        Draft::object([("name", Draft::string("bytes"))])
    } else {
        Draft::object([
            ("name", Draft::string("bytes")),
            (
                "configuration",
                Draft::object([("endian", Draft::string("little"))]),
            ),
        ])
    };
    let zstd = Draft::object([
        ("name", Draft::string("zstd")),
        (
            "configuration",
            Draft::object([
                ("level", Draft::from(USUAL_LEVEL)),
                ("checksum", Draft::Bool(false)),
            ]),
        ),
    ]);
    Draft::Array(vec![bytes, zstd])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_nothing_but_fill_are_left_out() {
        let storage = Storage::usual(16);
        let fill = Scalar::from_integer(DataType::Int8, -128);
        let sizer = storage.encoder(DataType::Int8, fill).unwrap();
        assert_eq!(sizer.size(vec![0x80; 16]), Ok(0));
        assert_ne!(sizer.size(vec![0x81; 16]), Ok(0));
    }

    #[test]
    fn codes_of_every_type_have_a_size() {
        let storage = Storage::usual(4096);
        for t in DataType::ALL {
            let sizer = storage.encoder(t, None).unwrap();
            let size = sizer.size(vec![0; 4096 * t.size()]).unwrap();
            assert!((1..200).contains(&size), "{t}: {size}");
        }
    }
}
