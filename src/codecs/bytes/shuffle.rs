//! The `shuffle` filter: first bytes of all elements, then all second bytes, and so on.

use serde_json::Value;
use zarrs::metadata::Configuration;

use super::{Decoder, Room};

#[derive(Debug)]
pub(super) struct Shuffle {
    element: usize,
}

impl Shuffle {
    /// Reads the configuration: `elementsize`, by default 4.
    pub(super) fn new(configuration: &Configuration) -> Result<Self, String> {
        let element = match configuration.get("elementsize") {
            None | Some(Value::Null) => Some(4),
            Some(size) => size.as_u64().and_then(|size| usize::try_from(size).ok()),
        };
        let element = element.ok_or("an \"elementsize\" that is no number of bytes")?;
        Ok(Self { element })
    }
}

impl Decoder for Shuffle {
    fn decode(&self, encoded: &[u8], room: Room) -> Result<Vec<u8>, String> {
        room.check(encoded.len() as u64)?;
        if self.element <= 1 {
            return Ok(encoded.to_vec());
        }
        if !encoded.len().is_multiple_of(self.element) {
            return Err(format!(
                "{} bytes are no whole number of elements of {}",
                encoded.len(),
                self.element
            ));
        }
        let elements = encoded.len() / self.element;
        let mut bytes = vec![0; encoded.len()];
        if elements == 0 {
            return Ok(bytes);
        }
        for (n, plane) in encoded.chunks_exact(elements).enumerate() {
            for (byte, element) in plane.iter().zip(bytes.chunks_exact_mut(self.element)) {
                element[n] = *byte;
            }
        }
        Ok(bytes)
    }

    fn encode(&self, decoded: &[u8]) -> Option<Result<Vec<u8>, String>> {
        if self.element <= 1 {
            return Some(Ok(decoded.to_vec()));
        }
        if !decoded.len().is_multiple_of(self.element) {
            let (found, element) = (decoded.len(), self.element);
            return Some(Err(format!(
                "{found} bytes are no whole number of elements of {element}"
            )));
        }
        let elements = decoded.len() / self.element;
        let mut bytes = vec![0; decoded.len()];
        if elements > 0 {
            for (n, plane) in bytes.chunks_exact_mut(elements).enumerate() {
                for (byte, element) in plane.iter_mut().zip(decoded.chunks_exact(self.element)) {
                    *byte = element[n];
                }
            }
        }
        Some(Ok(bytes))
    }

    fn encoded_size(&self, decoded: u64) -> Option<u64> {
        Some(decoded)
    }
}
