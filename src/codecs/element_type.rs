//! The data types of zarrs, and those that there is arithmetic for.

use zarrs::array::DataType as ZarrsType;
use zarrs::array::codec::api::CodecError;
use zarrs::metadata::v3::MetadataV3;
use zarrs::plugin::{ExtensionName, ZarrVersion};

use crate::transform::data_type::DataType;

/// The type that the arithmetic knows this one as; `None` for complex numbers, booleans and all that is no number.
pub(super) fn element_type(data_type: &ZarrsType) -> Option<DataType> {
    let name = data_type.name(ZarrVersion::V3)?;
    DataType::from_name(&name)
}

/// The type of zarrs with this name.
///
/// # Errors
///
/// Where zarrs does not have it.
pub(super) fn zarrs_type(data_type: DataType) -> Result<ZarrsType, CodecError> {
    let metadata = MetadataV3::new(data_type.name());
    ZarrsType::from_metadata(&metadata).map_err(|error| CodecError::Other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zarrs_has_every_type_in_the_same_size() {
        for t in DataType::ALL {
            let theirs = zarrs_type(t).unwrap();
            assert_eq!(element_type(&theirs), Some(t));
            assert_eq!(theirs.fixed_size(), Some(t.size()), "{t}");
        }
    }
}
