//! How the output is cut and compressed: the flags, and what they come to for one array.

use std::str::FromStr;

use clap::Args;

use crate::codecs::ShardLevels;
use crate::error::Error;
use crate::metadata::edit::Draft;

/// The bytes of a chunk where nothing says how large chunks are.
const USUAL_CHUNK: u64 = 4 << 20;

/// The flags that say how the output is cut and compressed.
#[derive(Debug, Clone, Args)]
pub struct ChunkArgs {
    /// Lengths of the chunks, such as 1,512,512; with shards, those of the pieces in them [default: as in INPUT]
    #[arg(long, value_name = "LENGTHS")]
    pub chunks: Option<LengthsArg>,

    /// Lengths of the shards, multiples of those of the chunks, or none [default: as in INPUT]
    #[arg(long, value_name = "LENGTHS")]
    pub shards: Option<ShardsArg>,

    /// Compressor: zstd:5, gzip:5, blosc:lz4:5:shuffle or none [default: as in INPUT]
    #[arg(long, value_name = "CODEC")]
    pub compressor: Option<CompressorArg>,
}

/// Lengths of dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LengthsArg(pub Vec<u64>);

/// Why a text is no [`LengthsArg`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected lengths such as 24,721,1440, or nothing for an array without dimensions")]
pub struct NoLengths;

impl FromStr for LengthsArg {
    type Err = NoLengths;

    fn from_str(text: &str) -> Result<Self, NoLengths> {
        if text.trim().is_empty() {
            return Ok(Self(Vec::new()));
        }
        let lengths = text.split(',').map(|length| {
            let digits = length.trim();
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse().ok().filter(|_| plain).ok_or(NoLengths)
        });
        lengths.collect::<Result<_, _>>().map(Self)
    }
}

/// Shards, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardsArg {
    /// No shards.
    None,
    /// Their lengths.
    Lengths(Vec<u64>),
}

impl FromStr for ShardsArg {
    type Err = NoLengths;

    fn from_str(text: &str) -> Result<Self, NoLengths> {
        match text {
            "none" => Ok(Self::None),
            text => text
                .parse::<LengthsArg>()
                .map(|lengths| Self::Lengths(lengths.0)),
        }
    }
}

/// A compressor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompressorArg {
    /// None.
    None,
    /// Zstandard.
    Zstd {
        /// The level.
        level: i64,
    },
    /// gzip.
    Gzip {
        /// The level.
        level: u64,
    },
    /// Blosc.
    Blosc {
        /// The compressor inside.
        name: String,
        /// Its level.
        level: u64,
        /// How bytes are rearranged before.
        shuffle: String,
    },
}

/// Why a text is no [`CompressorArg`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected none, zstd:LEVEL (-7 to 22), gzip:LEVEL (0 to 9), or blosc:NAME:LEVEL:SHUFFLE with lz4, lz4hc, blosclz, snappy, zlib or zstd, a level from 0 to 9, and shuffle, bitshuffle or noshuffle"
)]
pub struct NoCompressor;

impl FromStr for CompressorArg {
    type Err = NoCompressor;

    fn from_str(text: &str) -> Result<Self, NoCompressor> {
        let parts: Vec<&str> = text.split(':').collect();
        let level = |text: Option<&&str>, usual: i64, most: i64, least: i64| {
            let level = text.map_or(Ok(usual), |text| text.parse::<i64>());
            level
                .ok()
                .filter(|level| (least..=most).contains(level))
                .ok_or(NoCompressor)
        };
        let one_of = |text: Option<&&str>, usual: &str, words: &[&str]| {
            let word = text.map_or(usual, |text| text);
            words
                .contains(&word)
                .then(|| word.to_owned())
                .ok_or(NoCompressor)
        };
        match parts.as_slice() {
            ["none"] => Ok(Self::None),
            ["zstd", rest @ ..] if rest.len() <= 1 => Ok(Self::Zstd {
                level: level(rest.first(), 3, 22, -7)?,
            }),
            ["gzip", rest @ ..] if rest.len() <= 1 => Ok(Self::Gzip {
                level: level(rest.first(), 5, 9, 0)?.unsigned_abs(),
            }),
            ["blosc", rest @ ..] if rest.len() <= 3 => Ok(Self::Blosc {
                name: one_of(
                    rest.first(),
                    "lz4",
                    &["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"],
                )?,
                level: level(rest.get(1), 5, 9, 0)?.unsigned_abs(),
                shuffle: one_of(
                    rest.get(2),
                    "shuffle",
                    &["shuffle", "bitshuffle", "noshuffle"],
                )?,
            }),
            _ => Err(NoCompressor),
        }
    }
}

impl CompressorArg {
    /// The codecs, for elements of so many bytes.
    pub(super) fn codecs(&self, element_size: usize) -> Vec<Draft> {
        let codec = |name: &str, members: Vec<(&str, Draft)>| {
            vec![Draft::object([
                ("name", Draft::string(name)),
                ("configuration", Draft::object(members)),
            ])]
        };
        match self {
            Self::None => Vec::new(),
            Self::Zstd { level } => {
                let level = Draft::Number(level.to_string());
                codec(
                    "zstd",
                    vec![("level", level), ("checksum", Draft::Bool(false))],
                )
            }
            Self::Gzip { level } => codec("gzip", vec![("level", Draft::from(*level))]),
            Self::Blosc {
                name,
                level,
                shuffle,
            } => codec(
                "blosc",
                vec![
                    ("cname", Draft::string(name)),
                    ("clevel", Draft::from(*level)),
                    ("shuffle", Draft::string(shuffle)),
                    ("typesize", Draft::from(element_size as u64)),
                    ("blocksize", Draft::from(0)),
                ],
            ),
        }
    }
}

/// How an array is cut: chunks, or shards with chunks in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cut {
    /// The lengths of the chunks of the grid: shards, where there are shards.
    pub(super) grid: Vec<u64>,
    /// The lengths of the pieces of a shard.
    pub(super) inner: Option<Vec<u64>>,
}

/// How an array of INPUT is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Present {
    /// The lengths of the chunks of the grid.
    pub(super) grid: Vec<u64>,
    /// What they are cut into, where they are shards.
    pub(super) shards: Option<ShardLevels>,
}

impl Present {
    /// The lengths of what is compressed by itself.
    fn piece(&self) -> &[u64] {
        let shards = self.shards.as_ref();
        shards.map_or(&self.grid, |shards| &shards.innermost)
    }
}

/// A bound on what is held in memory at a time: a chunk, however little of it is inside the array, and the index of a shard.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    pub(super) bytes: u64,
}

impl Limit {
    /// What chunks may take where they are granted so much memory: one beyond that is worked on alone, up to what a machine is likely
    /// to have.
    pub(super) fn of(memory: u64) -> Self {
        Self {
            bytes: memory.saturating_mul(2).max(LIKELY_MEMORY),
        }
    }
}

/// The bytes that an entry in the index of a shard takes while it is written: an offset and a length, as numbers, encoded, and read
/// back as both.
const INDEX_ENTRY: u64 = 4 * 16;

/// The memory that every machine is thought to have. [`crate::codecs::OpenArray::with_granted_memory`] has the same.
const LIKELY_MEMORY: u64 = 2 << 30;

fn count(lengths: &[u64]) -> u64 {
    let count = lengths.iter().copied();
    count.fold(1, u64::saturating_mul)
}

impl ChunkArgs {
    pub(super) const fn is_given(&self) -> bool {
        self.chunks.is_some() || self.shards.is_some() || self.compressor.is_some()
    }

    /// How an array is cut in the output, given how it is now, or the bytes of an element if it is not.
    pub(super) fn cut(
        &self,
        name: &str,
        shape: &[u64],
        now: Option<&Present>,
        element_size: usize,
    ) -> Result<Cut, Error> {
        let refused = |message: String| Error::usage(format!("{name}: {message}"));
        let check = |flag: &str, lengths: &[u64]| {
            if lengths.len() != shape.len() {
                let (found, rank) = (lengths.len(), shape.len());
                return Err(refused(format!(
                    "{flag} has {found} lengths, and the array {rank} dimensions"
                )));
            }
            if lengths.contains(&0) {
                return Err(refused(format!("{flag} must have lengths of at least 1")));
            }
            Ok(())
        };
        let chunks = self.chunks.as_ref().map(|lengths| lengths.0.clone());
        if let Some(chunks) = &chunks {
            check("--chunks", chunks)?;
        }
        let shards = match (&self.shards, now) {
            (Some(ShardsArg::None), _) => None,
            (Some(ShardsArg::Lengths(lengths)), _) => {
                check("--shards", lengths)?;
                Some(lengths.clone())
            }
            (None, Some(now)) if now.shards.is_some() => Some(now.grid.clone()),
            (None, _) => None,
        };
        let piece = match (chunks, now) {
            (Some(chunks), _) => chunks,
            (None, None) => usual_chunk(shape, element_size),
            (None, Some(now)) => match &now.shards {
                // Whatever the pieces of shards are cut into stays as it is.
                Some(levels) if shards.is_some() => levels.inner.clone(),
                _ => now.piece().to_vec(),
            },
        };
        let Some(shards) = shards else {
            return Ok(Cut {
                grid: piece,
                inner: None,
            });
        };
        if !shards
            .iter()
            .zip(&piece)
            .all(|(shard, piece)| shard % piece == 0)
        {
            return Err(refused(format!(
                "shards of {shards:?} are no multiples of chunks of {piece:?}"
            ))
            .hint("give both --chunks and --shards, or --shards none"));
        }
        Ok(Cut {
            grid: shards,
            inner: Some(piece),
        })
    }
}

/// Chunks of a usual size: the array halved along its longest dimension until it is small enough.
fn usual_chunk(shape: &[u64], element_size: usize) -> Vec<u64> {
    let mut chunk: Vec<u64> = shape.iter().map(|length| (*length).max(1)).collect();
    let bytes = |chunk: &[u64]| {
        let elements = chunk
            .iter()
            .try_fold(1_u64, |n, length| n.checked_mul(*length));
        elements.and_then(|n| n.checked_mul(element_size as u64))
    };
    while bytes(&chunk).is_none_or(|bytes| bytes > USUAL_CHUNK) {
        match chunk.iter_mut().max() {
            Some(longest) if *longest > 1 => *longest = longest.div_ceil(2),
            _ => break,
        }
    }
    chunk
}

impl Cut {
    /// Refuses chunks and indices of shards beyond a bound, for elements that take so many bytes while a chunk is written. `whole`
    /// says that shards are put together as a whole.
    pub(super) fn require_bounded(
        &self,
        name: &str,
        element_bytes: u64,
        whole: bool,
        limit: Limit,
    ) -> Result<(), Error> {
        let (piece, what, flag) = match &self.inner {
            Some(inner) if !whole => (inner, "a chunk", "--chunks"),
            Some(_) => (&self.grid, "a shard", "--shards"),
            None => (&self.grid, "a chunk", "--chunks"),
        };
        let refused = |what: String, bytes: u64, flag: &str| {
            let bytes = match bytes {
                u64::MAX => "more than 2^64".to_owned(),
                bytes => bytes.to_string(),
            };
            let limit = limit.bytes;
            Error::usage(format!(
                "{name}: to write {what} would take {bytes} bytes of memory, and {limit} are the most here"
            ))
            .hint(format!("{flag} gives smaller ones; --memory grants more"))
        };
        let bytes = count(piece).saturating_mul(element_bytes);
        if bytes > limit.bytes {
            return Err(refused(
                format!("{what} of {piece:?} elements"),
                bytes,
                flag,
            ));
        }
        let Some(inner) = &self.inner else {
            return Ok(());
        };
        let pieces = self.grid.iter().zip(inner);
        let pieces: Vec<u64> = pieces.map(|(shard, piece)| shard / piece.max(&1)).collect();
        let bytes = count(&pieces).saturating_mul(INDEX_ENTRY);
        if bytes > limit.bytes {
            let shards = &self.grid;
            let what =
                format!("the index of a shard of {shards:?} elements in chunks of {inner:?}");
            return Err(refused(what, bytes, "--shards"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressors_have_defaults_and_bounds() {
        assert_eq!("zstd".parse(), Ok(CompressorArg::Zstd { level: 3 }));
        assert_eq!("zstd:-5".parse(), Ok(CompressorArg::Zstd { level: -5 }));
        assert_eq!("gzip:9".parse(), Ok(CompressorArg::Gzip { level: 9 }));
        let blosc = |name: &str, level, shuffle: &str| {
            Ok(CompressorArg::Blosc {
                name: name.to_owned(),
                level,
                shuffle: shuffle.to_owned(),
            })
        };
        assert_eq!("blosc".parse(), blosc("lz4", 5, "shuffle"));
        assert_eq!(
            "blosc:zstd:1:bitshuffle".parse(),
            blosc("zstd", 1, "bitshuffle")
        );
        for text in [
            "",
            "zstd:23",
            "gzip:10",
            "blosc:lzo",
            "blosc:lz4:5:x",
            "none:1",
            "lz4",
        ] {
            assert_eq!(text.parse::<CompressorArg>(), Err(NoCompressor), "{text}");
        }
    }

    #[test]
    fn chunks_without_a_model_are_of_a_usual_size() {
        assert_eq!(usual_chunk(&[100, 100], 4), [100, 100]);
        let chunk = usual_chunk(&[8760, 721, 1440], 4);
        assert!(
            chunk.iter().product::<u64>() * 4 <= USUAL_CHUNK,
            "{chunk:?}"
        );
        assert_eq!(usual_chunk(&[], 8), Vec::<u64>::new());
        assert_eq!(usual_chunk(&[0, 5], 8), [1, 5]);
    }

    fn args(chunks: Option<&str>, shards: Option<&str>) -> ChunkArgs {
        ChunkArgs {
            chunks: chunks.map(|text| text.parse().unwrap()),
            shards: shards.map(|text| text.parse().unwrap()),
            compressor: None,
        }
    }

    fn sharded(grid: u64, inner: u64, innermost: u64) -> Present {
        Present {
            grid: vec![grid],
            shards: Some(ShardLevels {
                inner: vec![inner],
                innermost: vec![innermost],
                nested: inner != innermost,
                whole: false,
            }),
        }
    }

    fn cut(grid: u64, inner: Option<u64>) -> Cut {
        Cut {
            grid: vec![grid],
            inner: inner.map(|inner| vec![inner]),
        }
    }

    #[test]
    fn what_is_not_asked_for_stays() {
        let now = sharded(100, 10, 10);
        let asked = |chunks, shards| args(chunks, shards).cut("a", &[1000], Some(&now), 4);
        assert_eq!(asked(None, None).unwrap(), cut(100, Some(10)));
        assert_eq!(asked(Some("20"), None).unwrap(), cut(100, Some(20)));
        assert_eq!(asked(None, Some("200")).unwrap(), cut(200, Some(10)));
        assert_eq!(asked(None, Some("none")).unwrap(), cut(10, None));
        assert!(asked(Some("30"), None).is_err());
        assert!(asked(Some("1,2"), None).is_err());
        assert!(asked(Some("0"), None).is_err());
    }

    #[test]
    fn shards_in_shards_stay_until_their_pieces_are_asked_for() {
        let now = sharded(8, 4, 2);
        let asked = |chunks, shards| args(chunks, shards).cut("a", &[8], Some(&now), 4);
        assert_eq!(asked(None, None).unwrap(), cut(8, Some(4)));
        assert_eq!(asked(None, Some("16")).unwrap(), cut(16, Some(4)));
        assert_eq!(asked(Some("3"), Some("6")).unwrap(), cut(6, Some(3)));
        assert_eq!(asked(None, Some("none")).unwrap(), cut(2, None));
    }

    #[test]
    fn what_no_machine_holds_is_refused() {
        let limit = Limit::of(0);
        let check = |cut: &Cut, whole| cut.require_bounded("a", 4, whole, limit);
        check(&cut(1 << 29, None), false).unwrap();
        let error = check(&cut((1 << 29) + 1, None), false).unwrap_err();
        assert_eq!(error.exit_code(), crate::error::ExitCode::Usage);
        assert!(error.to_string().contains("2147483652 bytes"), "{error}");
        assert!(error.hints()[0].contains("--chunks"));
        check(&cut(1 << 40, Some(1 << 20)), false).unwrap();
        assert!(check(&cut(1 << 40, Some(1 << 20)), true).is_err());
        let error = check(&cut(1 << 40, Some(2)), false).unwrap_err();
        assert!(
            error.to_string().contains("the index of a shard"),
            "{error}"
        );
        assert!(check(&cut(u64::MAX, None), false).is_err());
        let granted = Limit::of(1 << 40);
        cut(1 << 39, None)
            .require_bounded("a", 4, false, granted)
            .unwrap();
    }
}
