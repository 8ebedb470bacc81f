//! How a value is written as text.

use super::csv;
use super::source::Source;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How an element is written as text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Element {
    Real { data_type: DataType, bits: bool },
    Bool,
    Complex { part: DataType, bits: bool },
}

impl Element {
    /// `None` for a type whose elements have no text here.
    pub(super) fn of(source: &Source, bits: bool) -> Option<Self> {
        if let Some(data_type) = source.element_type() {
            return Some(Self::Real { data_type, bits });
        }
        let complex = |part| Some(Self::Complex { part, bits });
        match source.data_type() {
            "bool" => Some(Self::Bool),
            "complex64" | "complex_float32" => complex(DataType::Float32),
            "complex128" | "complex_float64" => complex(DataType::Float64),
            _ => None,
        }
    }

    /// The element in fill-value encoding.
    pub(super) fn json(self, bytes: &[u8]) -> String {
        let real = |data_type, bytes, bits| {
            let scalar = Scalar::from_ne_bytes(data_type, bytes);
            if bits {
                scalar.to_bits_json()
            } else {
                scalar.to_json()
            }
        };
        match self {
            Self::Real { data_type, bits } => real(data_type, bytes, bits),
            Self::Bool => (bytes != [0]).to_string(),
            Self::Complex { part, bits } => {
                let (re, im) = bytes.split_at(part.size());
                format!("[{}, {}]", real(part, re, bits), real(part, im, bits))
            }
        }
    }

    /// The element as a field of csv: as in JSON, but a word without quotes.
    pub(super) fn field(self, bytes: &[u8]) -> String {
        match self {
            Self::Complex { .. } => csv::field(&self.json(bytes)),
            _ => self.json(bytes).trim_matches('"').to_owned(),
        }
    }
}
