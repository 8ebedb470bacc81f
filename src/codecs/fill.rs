//! Fill values as bytes.

use zarrs::array::{DataType as ZarrsType, FillValueMetadata};

use super::element_type::element_type;
use crate::metadata::Node;
use crate::metadata::json::{Kind, Value};
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

/// The bytes of the fill value that a v3 document states, native endian.
///
/// # Errors
///
/// In words, where it is no value of the type.
pub(super) fn fill_bytes(node: &Node<'_>, data_type: &ZarrsType) -> Result<Vec<u8>, String> {
    let Some(element) = element_type(data_type) else {
        let metadata: FillValueMetadata =
            serde_json::from_value(node.value.to_serde()).map_err(|error| error.to_string())?;
        let fill = data_type.fill_value_v3(&metadata);
        return fill
            .map(|fill| fill.as_ne_bytes().to_vec())
            .map_err(|error| error.to_string());
    };
    let fill = Scalar::parse(&literal(node.value), element).map_err(|error| error.to_string())?;
    let mut bytes = vec![0; element.size()];
    fill.write_ne_bytes(&mut bytes);
    Ok(bytes)
}

/// A fill value as a literal.
pub(super) fn literal(value: &Value) -> Literal {
    match &value.kind {
        Kind::Number(token) => Literal::Number(token.clone()),
        Kind::String(text) | Kind::NonFinite(text) => Literal::String(text.clone()),
        _ => Literal::Other(value.type_name().to_owned()),
    }
}
