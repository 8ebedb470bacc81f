//! Compressed streams: gzip, zlib, bzip2, Zstandard, LZMA.

use std::io::Read;

use bzip2::read::MultiBzDecoder;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Filters, LzmaOptions, Stream};
use serde_json::Value;
use zarrs::metadata::Configuration;

use super::{Decoder, Room};

/// The memory that a stream's own dictionary may take. The largest preset of `xz` takes 65 MiB.
const DICTIONARY: u64 = 128 << 20;

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

/// The forms that Python's `lzma` writes.
#[derive(Clone, Debug)]
pub(super) enum Lzma {
    /// A container that says what it is: `.xz`, or the older `.lzma`.
    Container,
    /// No container: the filters stand in the metadata.
    Raw(Vec<RawFilter>),
}

/// A filter of a raw stream, in Python's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawFilter {
    Delta {
        distance: u32,
    },
    Lzma1 {
        dictionary: Option<u32>,
        preset: u32,
    },
    Lzma2 {
        dictionary: Option<u32>,
        preset: u32,
    },
}

impl Lzma {
    /// Reads the configuration that numcodecs writes: `format` and, for a raw stream, `filters`.
    pub(super) fn new(configuration: &Configuration) -> Result<Self, String> {
        const RAW: u64 = 3;
        if configuration.get("format").and_then(Value::as_u64) != Some(RAW) {
            return Ok(Self::Container);
        }
        let filters = configuration.get("filters").and_then(Value::as_array);
        let filters = filters.ok_or("a raw LZMA stream without \"filters\"")?;
        let filters: Result<Vec<_>, _> = filters.iter().map(RawFilter::read).collect();
        Ok(Self::Raw(filters?))
    }
}

impl RawFilter {
    fn read(filter: &Value) -> Result<Self, String> {
        let number = |name: &str| {
            filter
                .get(name)
                .and_then(Value::as_u64)
                .map(u32::try_from)
                .and_then(Result::ok)
        };
        let preset = number("preset").unwrap_or(6);
        let dictionary = number("dict_size");
        // The numbers are liblzma's, which Python hands through.
        match filter.get("id").and_then(Value::as_u64) {
            Some(0x03) => Ok(Self::Delta {
                distance: number("dist").unwrap_or(1),
            }),
            Some(0x4000_0000_0000_0001) => Ok(Self::Lzma1 { dictionary, preset }),
            Some(0x21) => Ok(Self::Lzma2 { dictionary, preset }),
            _ => Err(format!("the LZMA filter {filter}, which is not known")),
        }
    }
}

impl Decoder for Lzma {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        let unsound = |error: liblzma::stream::Error| error.to_string();
        let stream = match self {
            Self::Container => {
                Stream::new_auto_decoder(DICTIONARY, CONCATENATED).map_err(unsound)?
            }
            Self::Raw(list) => {
                let mut filters = Filters::new();
                for filter in list {
                    let options = |dictionary: Option<u32>, preset| {
                        let mut options = LzmaOptions::new_preset(preset).map_err(unsound)?;
                        let bytes = dictionary.unwrap_or(8 << 20);
                        if u64::from(bytes) > DICTIONARY {
                            return Err(format!("a dictionary of {bytes} bytes"));
                        }
                        if dictionary.is_some() {
                            options.dict_size(bytes);
                        }
                        Ok(options)
                    };
                    match *filter {
                        RawFilter::Delta { distance } => {
                            // The property of a delta filter is its distance less one.
                            let property =
                                distance.checked_sub(1).and_then(|d| u8::try_from(d).ok());
                            let property = property
                                .ok_or_else(|| format!("a delta filter over {distance} bytes"))?;
                            filters.delta_properties(&[property]).map_err(unsound)?
                        }
                        RawFilter::Lzma1 { dictionary, preset } => {
                            filters.lzma1(&options(dictionary, preset)?)
                        }
                        RawFilter::Lzma2 { dictionary, preset } => {
                            filters.lzma2(&options(dictionary, preset)?)
                        }
                    };
                }
                Stream::new_raw_decoder(&filters).map_err(unsound)?
            }
        };
        drain(XzDecoder::new_stream(encoded, stream), encoded.len(), room)
    }

    fn encoded_size(&self, _: u64) -> Option<u64> {
        None
    }
}

/// Reads a decoder to its end, or to the first byte too many.
fn drain(decoder: impl Read, encoded: usize, room: Room) -> Result<Vec<u8>, String> {
    // What is due is asked for at once where the stream may well hold it, and not on the word of a document alone.
    let plausible = (encoded as u64).saturating_mul(256).saturating_add(1 << 16);
    let likely = room.exact.unwrap_or(0).min(plausible);
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
