//! How the output is cut and compressed: the flags, and what they come to for one array.

use std::str::FromStr;

use clap::Args;

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

impl ChunkArgs {
    pub(super) const fn is_given(&self) -> bool {
        self.chunks.is_some() || self.shards.is_some() || self.compressor.is_some()
    }

    /// How an array is cut in the output, given how it is now, or the bytes of an element if it is not.
    pub(super) fn cut(
        &self,
        name: &str,
        shape: &[u64],
        now: Option<&Cut>,
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
        // What the pieces are that are compressed by themselves.
        let piece = chunks.clone().unwrap_or_else(|| match now {
            Some(Cut { grid, inner }) => inner.as_ref().unwrap_or(grid).clone(),
            None => usual_chunk(shape, element_size),
        });
        let shards = match (&self.shards, now) {
            (Some(ShardsArg::None), _) => None,
            (Some(ShardsArg::Lengths(lengths)), _) => {
                check("--shards", lengths)?;
                Some(lengths.clone())
            }
            (
                None,
                Some(Cut {
                    grid,
                    inner: Some(_),
                }),
            ) => Some(grid.clone()),
            (None, _) => None,
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

    #[test]
    fn what_is_not_asked_for_stays() {
        let sharded = Cut {
            grid: vec![100],
            inner: Some(vec![10]),
        };
        let cut = |chunks, shards| args(chunks, shards).cut("a", &[1000], Some(&sharded), 4);
        let shards = |grid: u64, inner: u64| Cut {
            grid: vec![grid],
            inner: Some(vec![inner]),
        };
        assert_eq!(cut(None, None).unwrap(), sharded);
        assert_eq!(cut(Some("20"), None).unwrap(), shards(100, 20));
        assert_eq!(cut(None, Some("200")).unwrap(), shards(200, 10));
        let whole = Cut {
            grid: vec![10],
            inner: None,
        };
        assert_eq!(cut(None, Some("none")).unwrap(), whole);
        assert!(cut(Some("30"), None).is_err());
        assert!(cut(Some("1,2"), None).is_err());
        assert!(cut(Some("0"), None).is_err());
    }
}
