//! What stands between two codecs: elements of a type in a shape, with the fill that is due there.

use std::num::NonZeroU64;

use zarrs::array::{DataType as ZarrsType, FillValue};

use super::region::product;

/// The bytes of a chunk beyond which it is refused on sight. No memory holds as many, and sums of sizes stay far from
/// overflow, in zarrs as well, which does not look.
const MOST_BYTES: u64 = 1 << 48;

/// The bytes of an element: those of long strings of fixed size.
const MOST_ELEMENT_BYTES: usize = 1 << 20;

/// The elements of a chunk, or of a part of it, at one place of a chain.
#[derive(Clone, Debug)]
pub(super) struct Representation {
    /// The lengths.
    pub(super) shape: Vec<NonZeroU64>,
    /// The type, always one of a fixed size.
    pub(super) data_type: ZarrsType,
    /// The bytes of an element.
    pub(super) size: usize,
    /// The bytes of all elements; they fit the address space.
    pub(super) bytes: u64,
    /// The fill, or why there is none: a codec before this place cannot encode it. Only a shard's missing inner chunk asks.
    pub(super) fill: Result<FillValue, String>,
}

impl Representation {
    /// Puts one together.
    ///
    /// # Errors
    ///
    /// In words, where the type has no fixed size, or the elements do not fit the address space.
    pub(super) fn new(
        shape: Vec<NonZeroU64>,
        data_type: ZarrsType,
        fill: Result<FillValue, String>,
    ) -> Result<Self, String> {
        let size = data_type
            .fixed_size()
            .filter(|size| (1..=MOST_ELEMENT_BYTES).contains(size))
            .ok_or("values of variable size, or of a size beyond reason")?;
        let lengths = shape.iter().map(|length| length.get());
        let bytes = product(lengths)
            .and_then(|elements| elements.checked_mul(size as u64))
            .filter(|bytes| *bytes <= MOST_BYTES && isize::try_from(*bytes).is_ok())
            .ok_or_else(|| {
                format!(
                    "a chunk of {} elements of {size} bytes, more than any memory",
                    times(&shape)
                )
            })?;
        Ok(Self {
            shape,
            data_type,
            size,
            bytes,
            fill,
        })
    }

    /// The shape as plain numbers.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.shape.iter().map(|length| length.get()).collect()
    }

    /// The fill for codecs that must be given one but do not look at it on decoding.
    pub(super) fn fill_or_zeros(&self) -> FillValue {
        match &self.fill {
            Ok(fill) => fill.clone(),
            Err(_) => FillValue::new(vec![0; self.size]),
        }
    }
}

/// A shape in words, short even for a thousand dimensions.
fn times(shape: &[NonZeroU64]) -> String {
    const SHOWN: usize = 8;
    let mut lengths: Vec<_> = shape.iter().take(SHOWN).map(ToString::to_string).collect();
    if shape.len() > SHOWN {
        lengths.push(format!("... ({} dimensions)", shape.len()));
    }
    lengths.join(" x ")
}
