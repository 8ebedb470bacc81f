//! The base64 in which xarray writes the `_FillValue` of float arrays of Zarr v3: that of eight bytes.

use data_encoding::BASE64;

/// The text of a double, given as its bits.
#[must_use]
pub fn encode(bits: u64) -> String {
    BASE64.encode(&bits.to_le_bytes())
}

/// The bits of the double in a text; `None` if it is not the base64 of eight bytes.
#[must_use]
pub fn decode(text: &str) -> Option<u64> {
    let bytes = BASE64.decode(text.as_bytes()).ok()?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_what_xarray_writes() {
        assert_eq!(encode(f64::NAN.to_bits()), "AAAAAAAA+H8=");
        assert_eq!(decode("AAAAAAAA+H8="), Some(f64::NAN.to_bits()));
    }

    #[test]
    fn doubles_in_base64_are_read() {
        assert_eq!(decode("AAAAAICHw8A=").map(f64::from_bits), Some(-9999.0));
        assert_eq!(decode("a text"), None);
    }

    #[test]
    fn doubles_come_back() {
        for value in [0.0, -1.5, 1e300, 255.0, f64::MIN_POSITIVE] {
            let text = encode(value.to_bits());
            assert_eq!(decode(&text), Some(value.to_bits()), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_doubles() {
        for text in [
            "",
            "=",
            "AAAA",
            "AAAAAAAA+H8",
            "AAAAAAAA-H8=",
            "NaN",
            "AAAAAAAAAAA+H8=",
        ] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
