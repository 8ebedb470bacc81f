//! LZMA as Python's `lzma` writes it: containers, and raw streams whose filters stand in the metadata.

use std::io::Read;

use liblzma::read::{XzDecoder, XzEncoder};
use liblzma::stream::{CONCATENATED, Check, Filters, LzmaOptions, Stream};
use serde_json::Value;
use zarrs::metadata::Configuration;

use super::inflate::{DICTIONARY, drain};
use super::{Decoder, Room};

/// The codec `lzma`: Python's module of that name.
#[derive(Clone, Debug)]
pub(super) struct Lzma {
    form: Form,
    preset: u32,
    /// The check in a container; `None` for one that is not known here.
    check: Option<Check>,
}

/// The forms that Python's `lzma` writes.
#[derive(Clone, Debug)]
enum Form {
    /// A container that says what it is: `.xz`.
    Xz,
    /// The older `.lzma`, which says it too.
    Alone,
    /// Such a container, written with filters that are not looked at here.
    Filtered,
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
    /// Reads the configuration that numcodecs writes: `format`, `check`, `preset` and, for a raw stream, `filters`.
    pub(super) fn new(configuration: &Configuration) -> Result<Self, String> {
        let member = |name: &str| configuration.get(name).filter(|value| !value.is_null());
        let filters = member("filters").and_then(Value::as_array);
        // The numbers are liblzma's, which Python hands through.
        let form = match (member("format").and_then(Value::as_u64), filters) {
            (Some(3), filters) => {
                let filters = filters.ok_or("a raw LZMA stream without \"filters\"")?;
                let filters: Result<Vec<_>, _> = filters.iter().map(RawFilter::read).collect();
                Form::Raw(filters?)
            }
            (_, Some(_)) => Form::Filtered,
            (Some(2), None) => Form::Alone,
            _ => Form::Xz,
        };
        let check = match member("check").and_then(Value::as_i64) {
            None | Some(-1 | 4) => Some(Check::Crc64),
            Some(0) => Some(Check::None),
            Some(1) => Some(Check::Crc32),
            Some(10) => Some(Check::Sha256),
            _ => None,
        };
        let preset = member("preset").and_then(Value::as_u64);
        let preset = preset.and_then(|preset| u32::try_from(preset).ok());
        Ok(Self {
            form,
            preset: preset.unwrap_or(6),
            check,
        })
    }

    /// A stream that encodes; `None` for a form that is only read.
    fn encoder(&self) -> Option<Result<Stream, String>> {
        let stream = match &self.form {
            Form::Xz => Stream::new_easy_encoder(self.preset, self.check?),
            Form::Alone => LzmaOptions::new_preset(self.preset)
                .and_then(|options| Stream::new_lzma_encoder(&options)),
            Form::Filtered => return None,
            Form::Raw(list) => {
                return Some(filters(list).and_then(|filters| {
                    Stream::new_raw_encoder(&filters).map_err(|error| error.to_string())
                }));
            }
        };
        Some(stream.map_err(|error| error.to_string()))
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
        let stream = match &self.form {
            Form::Raw(list) => Stream::new_raw_decoder(&filters(list)?).map_err(unsound)?,
            _ => Stream::new_auto_decoder(DICTIONARY, CONCATENATED).map_err(unsound)?,
        };
        drain(XzDecoder::new_stream(encoded, stream), encoded.len(), room)
    }

    fn encode(&self, decoded: &[u8]) -> Option<Result<Vec<u8>, String>> {
        let encoder = self.encoder()?;
        Some(encoder.and_then(|stream| {
            let mut encoded = Vec::new();
            XzEncoder::new_stream(decoded, stream)
                .read_to_end(&mut encoded)
                .map_err(|error| error.to_string())?;
            Ok(encoded)
        }))
    }

    fn encoded_size(&self, _: u64) -> Option<u64> {
        None
    }
}

/// The filters of a raw stream, as liblzma has them.
fn filters(list: &[RawFilter]) -> Result<Filters, String> {
    let unsound = |error: liblzma::stream::Error| error.to_string();
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
                let property = distance.checked_sub(1).and_then(|d| u8::try_from(d).ok());
                let property =
                    property.ok_or_else(|| format!("a delta filter over {distance} bytes"))?;
                filters.delta_properties(&[property]).map_err(unsound)?
            }
            RawFilter::Lzma1 { dictionary, preset } => filters.lzma1(&options(dictionary, preset)?),
            RawFilter::Lzma2 { dictionary, preset } => filters.lzma2(&options(dictionary, preset)?),
        };
    }
    Ok(filters)
}
