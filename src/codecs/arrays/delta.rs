//! `delta`: each element is stored as its difference from the one before it.

use half::f16;
use zarrs::array::DataType as ZarrsType;
use zarrs::metadata::v3::MetadataV3;

use super::convert::cast;
use super::{Decoder, check_type, numpy_type};
use crate::codecs::element_type::zarrs_type;
use crate::transform::data_type::DataType;

#[derive(Debug)]
pub(super) struct Delta {
    decoded: Option<DataType>,
    encoded: Option<DataType>,
}

impl Delta {
    /// Reads the configuration: `dtype`, and `astype` where the differences have another type.
    pub(super) fn new(metadata: &MetadataV3) -> Result<Self, String> {
        Ok(Self {
            decoded: numpy_type(metadata, "dtype")?,
            encoded: numpy_type(metadata, "astype")?,
        })
    }

    fn types(&self, decoded: &ZarrsType) -> Result<(DataType, DataType), String> {
        let decoded = check_type(self.decoded, "dtype", decoded)?;
        let encoded = self.encoded.unwrap_or(decoded);
        if encoded.is_float() && decoded.is_integer() {
            return Err(format!(
                "differences of {encoded} for integers, which NumPy does not sum up"
            ));
        }
        Ok((encoded, decoded))
    }
}

impl Decoder for Delta {
    fn encoded_type(&self, decoded: &ZarrsType) -> Result<ZarrsType, String> {
        let (encoded, _) = self.types(decoded)?;
        zarrs_type(encoded).map_err(|error| error.to_string())
    }

    fn encoded_fill(&self, decoded: &ZarrsType, fill: &[u8]) -> Result<Vec<u8>, String> {
        let (encoded, decoded) = self.types(decoded)?;
        cast(fill.to_vec(), decoded, encoded)
    }

    /// NumPy casts the differences to the decoded type and sums them up there, element after element.
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
        let mut sums = cast(bytes, encoded, decoded)?;
        match (decoded.is_float(), decoded.size()) {
            (false, 1) => accumulate(
                &mut sums,
                u8::from_ne_bytes,
                u8::to_ne_bytes,
                u8::wrapping_add,
            ),
            (false, 2) => accumulate(
                &mut sums,
                u16::from_ne_bytes,
                u16::to_ne_bytes,
                u16::wrapping_add,
            ),
            (false, 4) => accumulate(
                &mut sums,
                u32::from_ne_bytes,
                u32::to_ne_bytes,
                u32::wrapping_add,
            ),
            (false, 8) => accumulate(
                &mut sums,
                u64::from_ne_bytes,
                u64::to_ne_bytes,
                u64::wrapping_add,
            ),
            // A sum of two halves is exact in float32, so that it is rounded once.
            (true, 2) => accumulate(&mut sums, f16::from_ne_bytes, f16::to_ne_bytes, |a, b| {
                f16::from_f32(a.to_f32() + b.to_f32())
            }),
            (true, 4) => accumulate(&mut sums, f32::from_ne_bytes, f32::to_ne_bytes, |a, b| {
                a + b
            }),
            (true, 8) => accumulate(&mut sums, f64::from_ne_bytes, f64::to_ne_bytes, |a, b| {
                a + b
            }),
            _ => return Err(format!("differences of {decoded}")),
        }
        Ok(sums)
    }
}

/// Replaces every element by the sum of all up to it. Signed integers add like unsigned ones.
fn accumulate<const SIZE: usize, T: Copy>(
    bytes: &mut [u8],
    read: fn([u8; SIZE]) -> T,
    write: fn(T) -> [u8; SIZE],
    add: impl Fn(T, T) -> T,
) {
    let mut sum = None;
    for element in bytes.as_chunks_mut::<SIZE>().0 {
        let next = read(*element);
        let total = sum.map_or(next, |sum| add(sum, next));
        *element = write(total);
        sum = Some(total);
    }
}
