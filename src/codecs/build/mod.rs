//! From documents to chains: every check that can be made without a chunk, all problems at once.

mod codecs;
mod sharding;

use std::num::NonZeroU64;

use zarrs::array::codec::api::Codec as ZarrsCodec;
use zarrs::array::{DataType as ZarrsType, FillValue};
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::PluginCreateError;

use super::array::Layout;
use super::element_type::element_type;
use super::error::{OpenError, OpenProblem};
use super::fill::fill_bytes;
use super::json_text;
use super::keys::ChunkKeys;
use super::lower;
use super::representation::Representation;
use super::v2;
use crate::metadata::Extension;
use crate::metadata::v3::{self, ChunkGrid, Codec};

/// What a v3 document says of its array.
///
/// # Errors
///
/// Every problem that keeps the array from being opened.
pub(super) fn layout(array: &v3::Array<'_>, path: &str) -> Result<Layout, OpenError> {
    let mut problems = Vec::new();
    let layout = Builder {
        problems: &mut problems,
    }
    .layout(array, path);
    match layout {
        Some(layout) if problems.is_empty() => Ok(layout),
        _ => Err(OpenError { problems }),
    }
}

/// What a v2 document says of its array.
///
/// # Errors
///
/// As for [`layout`], with pointers into the v2 document.
pub(super) fn layout_v2(
    array: &crate::metadata::v2::Array<'_>,
    path: &str,
) -> Result<Layout, OpenError> {
    let converted = v2::convert(array)?;
    if !converted.unsupported.is_empty() {
        let problems = converted.unsupported;
        return Err(OpenError { problems });
    }
    let layout = converted.read(|array| layout(array, path))?;
    layout
        .map(|layout| Layout {
            fill_is_defined: converted.fill_is_defined,
            ..layout
        })
        .map_err(|error| converted.locate(error))
}

/// Builds what a document describes, and notes what is wrong with it.
struct Builder<'p> {
    problems: &'p mut Vec<OpenProblem>,
}

impl Builder<'_> {
    fn layout(&mut self, array: &v3::Array<'_>, path: &str) -> Option<Layout> {
        if let Some(transformer) = array.optional.storage_transformers.first() {
            let pointer = &transformer.node.pointer;
            self.unsupported(
                pointer,
                format!("the storage transformer {:?}", transformer.name),
            );
        }
        let keys = ChunkKeys::new(path, array.chunk_keys.encoding);
        if keys.is_none() {
            let entry = &array.chunk_keys.entry;
            self.unsupported(
                &entry.node.pointer,
                format!("the chunk key encoding {:?}", entry.name),
            );
        }
        let chunk_shape = self.chunk_shape(array);
        let data_type = self.data_type(array)?;
        let fill = fill_bytes(&array.fill_value, &data_type);
        let fill = match fill {
            Ok(fill) => fill,
            Err(message) => {
                self.unsound(&array.fill_value.pointer, message);
                return None;
            }
        };
        let chunk_shape = chunk_shape?;
        let grid_shape = array
            .shape
            .value
            .iter()
            .zip(&chunk_shape)
            .map(|(length, chunk)| length.div_ceil(chunk.get()));
        let decoded = Representation::new(
            chunk_shape.clone(),
            data_type.clone(),
            Ok(FillValue::new(fill.clone())),
        );
        let decoded = match decoded {
            Ok(decoded) => decoded,
            Err(message) => {
                self.unsupported("/chunk_grid", message);
                return None;
            }
        };
        let chain = self.chain(&array.codecs, decoded)?;
        let mut fill_json = String::new();
        json_text::write(array.fill_value.value, &mut fill_json);
        Some(Layout {
            shape: array.shape.value.clone(),
            grid_shape: grid_shape.collect(),
            data_type: array.data_type.name.to_owned(),
            element_type: element_type(&data_type),
            fill,
            fill_json,
            fill_is_defined: true,
            keys: keys?,
            chain,
        })
    }

    fn chunk_shape(&mut self, array: &v3::Array<'_>) -> Option<Vec<NonZeroU64>> {
        match &array.chunk_grid {
            ChunkGrid::Regular { chunk_shape, .. } => {
                if chunk_shape.value.len() != array.shape.value.len() {
                    let (found, expected) = (chunk_shape.value.len(), array.shape.value.len());
                    let message = format!("chunks of {found} dimensions in an array of {expected}");
                    self.unsound(&chunk_shape.pointer, message);
                    return None;
                }
                let lengths = chunk_shape.value.iter().zip(&array.shape.value);
                for (n, (chunk, whole)) in lengths.enumerate() {
                    if *chunk == 0 && *whole > 0 {
                        let message = format!(
                            "found a chunk length of 0 along a dimension of {whole}; expected at least 1"
                        );
                        self.unsound(format!("{}/{n}", chunk_shape.pointer), message);
                        return None;
                    }
                }
                Some(at_least_one(&chunk_shape.value))
            }
            ChunkGrid::Other(entry) => {
                self.unsupported(
                    &entry.node.pointer,
                    format!("the chunk grid {:?}", entry.name),
                );
                None
            }
        }
    }

    fn data_type(&mut self, array: &v3::Array<'_>) -> Option<ZarrsType> {
        let entry = &array.data_type;
        let json = entry.node.value.to_serde();
        let metadata = serde_json::from_value::<MetadataV3>(json);
        let data_type = metadata
            .map_err(|error| error.to_string())
            .and_then(|metadata| {
                ZarrsType::from_metadata(&metadata).map_err(|error| match error {
                    PluginCreateError::Unsupported(_) => "which is not known".to_owned(),
                    other => other.to_string(),
                })
            });
        match data_type {
            Ok(data_type)
                if data_type.fixed_size().is_some_and(|size| size > 0)
                    && !data_type.is_optional() =>
            {
                Some(data_type)
            }
            Ok(_) => {
                let message = format!(
                    "the data type {:?}, whose values are of no fixed size",
                    entry.name
                );
                self.unsupported(&entry.node.pointer, message);
                None
            }
            Err(reason) => {
                self.unsupported(
                    &entry.node.pointer,
                    format!("the data type {:?}: {reason}", entry.name),
                );
                None
            }
        }
    }

    /// Makes a codec of zarrs, or of ours.
    fn create(&mut self, entry: &Extension<'_>, metadata: &MetadataV3) -> Option<ZarrsCodec> {
        if !lower::is_decoded(metadata.name()) {
            // That a reader may pass over it does not help: chunks cannot be decoded without it.
            let message = format!("the codec {:?}, which is not known", entry.name);
            self.unsupported(&entry.node.pointer, message);
            return None;
        }
        match ZarrsCodec::from_metadata(metadata) {
            Ok(codec) => Some(codec),
            Err(error) => {
                self.unsound(
                    &entry.node.pointer,
                    format!("the codec {:?}: {error}", entry.name),
                );
                None
            }
        }
    }

    fn accept<T, E: std::fmt::Display>(
        &mut self,
        codec: &Codec<'_>,
        result: Result<T, E>,
    ) -> Option<T> {
        result
            .map_err(|error| {
                self.unsound(
                    &codec.entry.node.pointer,
                    format!("the codec {:?}: {error}", codec.entry.name),
                )
            })
            .ok()
    }

    fn unsound(&mut self, pointer: impl std::fmt::Display, message: impl std::fmt::Display) {
        self.problems.push(OpenProblem::unsound(pointer, message));
    }

    fn unsupported(&mut self, pointer: impl std::fmt::Display, message: impl std::fmt::Display) {
        self.problems
            .push(OpenProblem::unsupported(pointer, message));
    }
}

/// Lengths of chunks. Writers have written 0 for a dimension of no elements, which holds no chunk either way.
fn at_least_one(lengths: &[u64]) -> Vec<NonZeroU64> {
    lengths
        .iter()
        .map(|length| NonZeroU64::new(*length).unwrap_or(NonZeroU64::MIN))
        .collect()
}
