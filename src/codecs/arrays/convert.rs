//! `astype` and `quantize`, which both decode by NumPy's `astype`: a C cast of every element.

use std::ops::ControlFlow;

use zarrs::array::DataType as ZarrsType;
use zarrs::metadata::v3::MetadataV3;

use super::{Decoder, check_type, numpy_type};
use crate::codecs::element_type::zarrs_type;
use crate::transform::chain::{BoundChain, Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::parameters::{CastValueParameters, Codec};
use crate::transform::rounding::{OutOfRange, Rounding};

/// A codec that changes the type of elements.
#[derive(Debug)]
pub(super) struct Convert {
    /// The member that names the decoded type.
    member: &'static str,
    decoded: Option<DataType>,
    /// The encoded type; absent where it is the decoded one.
    encoded: Option<DataType>,
}

impl Convert {
    /// `astype`: decodes from `encode_dtype` to `decode_dtype`.
    pub(super) fn astype(metadata: &MetadataV3) -> Result<Self, String> {
        let encoded = numpy_type(metadata, "encode_dtype")?;
        Ok(Self {
            member: "decode_dtype",
            decoded: numpy_type(metadata, "decode_dtype")?,
            encoded: Some(encoded.ok_or("no \"encode_dtype\"")?),
        })
    }

    /// `quantize`: decodes from `astype` to `dtype`, both of floats.
    pub(super) fn quantize(metadata: &MetadataV3) -> Result<Self, String> {
        Ok(Self {
            member: "dtype",
            decoded: numpy_type(metadata, "dtype")?,
            encoded: numpy_type(metadata, "astype")?,
        })
    }

    fn types(&self, decoded: &ZarrsType) -> Result<(DataType, DataType), String> {
        let decoded = check_type(self.decoded, self.member, decoded)?;
        Ok((self.encoded.unwrap_or(decoded), decoded))
    }
}

impl Decoder for Convert {
    fn encoded_type(&self, decoded: &ZarrsType) -> Result<ZarrsType, String> {
        let (encoded, _) = self.types(decoded)?;
        zarrs_type(encoded).map_err(|error| error.to_string())
    }

    fn encoded_fill(&self, decoded: &ZarrsType, fill: &[u8]) -> Result<Vec<u8>, String> {
        let (encoded, decoded) = self.types(decoded)?;
        cast(fill.to_vec(), decoded, encoded)
    }

    fn decode(
        &self,
        bytes: Vec<u8>,
        elements: usize,
        decoded: &ZarrsType,
    ) -> Result<Vec<u8>, String> {
        let (encoded, decoded) = self.types(decoded)?;
        if elements.checked_mul(encoded.size()) != Some(bytes.len()) {
            return Err(format!(
                "{} bytes for {elements} elements of {encoded}",
                bytes.len()
            ));
        }
        cast(bytes, encoded, decoded)
    }
}

/// The C cast: integers modulo the range of the target, floats to integers by truncation, overflow of floats to an infinity.
///
/// # Errors
///
/// In words, for the first element whose cast C does not define: a float beyond an integer type.
pub(super) fn cast(bytes: Vec<u8>, from: DataType, to: DataType) -> Result<Vec<u8>, String> {
    if from == to {
        return Ok(bytes);
    }
    let chain = cast_chain(from, to)?;
    let mut target = vec![0; bytes.len() / from.size() * to.size()];
    let mut first = None;
    let _ = chain
        .pass(Direction::Encode)
        .run(&bytes, &mut target, &mut |fault| {
            first = Some(fault);
            ControlFlow::Break(())
        });
    match first {
        Some(fault) => Err(format!(
            "element {} of the chunk: {}",
            fault.index, fault.fault
        )),
        None => Ok(target),
    }
}

fn cast_chain(from: DataType, to: DataType) -> Result<BoundChain, String> {
    let (rounding, out_of_range) = match (from.is_integer(), to.is_integer()) {
        (true, true) => (Rounding::NearestEven, Some(OutOfRange::Wrap)),
        (false, true) => (Rounding::TowardsZero, None),
        (_, false) => (Rounding::NearestEven, Some(OutOfRange::Clamp)),
    };
    let parameters = CastValueParameters {
        rounding,
        out_of_range,
        ..CastValueParameters::to(to)
    };
    let binding = bind(from, None, &[Codec::CastValue(parameters)]);
    binding
        .chain
        .ok_or_else(|| format!("no cast from {from} to {to}"))
}
