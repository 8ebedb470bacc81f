//! `numcodecs.packbits`: eight booleans a byte, most significant bit first, behind a byte that counts the unused bits.

use std::num::NonZeroU64;

use zarrs::array::DataType as ZarrsType;
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::Decoder;
use crate::codecs::element_type::zarrs_type;
use crate::transform::data_type::DataType;

#[derive(Debug)]
pub(super) struct PackBits;

impl Decoder for PackBits {
    fn encoded_type(&self, decoded: &ZarrsType) -> Result<ZarrsType, String> {
        if decoded.name(ZarrVersion::V3).as_deref() != Some("bool") {
            return Err("bits of what is no boolean".to_owned());
        }
        zarrs_type(DataType::UInt8).map_err(|error| error.to_string())
    }

    fn encoded_shape(&self, decoded: &[NonZeroU64]) -> Result<Vec<NonZeroU64>, String> {
        let bits = decoded
            .iter()
            .try_fold(1_u64, |product, length| product.checked_mul(length.get()));
        let bytes = bits.and_then(|bits| NonZeroU64::new(bits.div_ceil(8) + 1));
        bytes
            .map(|bytes| vec![bytes])
            .ok_or_else(|| "too many booleans".to_owned())
    }

    fn encoded_fill(&self, _: &ZarrsType, fill: &[u8]) -> Result<Vec<u8>, String> {
        Ok(fill.to_vec())
    }

    fn decode(&self, encoded: Vec<u8>, elements: usize, _: &ZarrsType) -> Result<Vec<u8>, String> {
        let (unused, packed) = encoded
            .split_first()
            .ok_or("no byte that counts unused bits")?;
        let bits = packed.len() * 8;
        if bits.checked_sub(usize::from(*unused)) != Some(elements) {
            return Err(format!(
                "{bits} bits, {unused} of them unused, for {elements} booleans"
            ));
        }
        let spread = packed
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |bit| (byte >> bit) & 1));
        Ok(spread.take(elements).collect())
    }
}
