//! The base64 in which xarray writes the `_FillValue` of float arrays of Zarr v3: that of eight bytes.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The text of a double.
pub(super) fn encode(bits: u64) -> String {
    let bytes = bits.to_le_bytes();
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut word = 0_u32;
        for n in 0..3 {
            word = word << 8 | u32::from(group.get(n).copied().unwrap_or(0));
        }
        for n in 0..4 {
            if n > group.len() {
                text.push('=');
                continue;
            }
            let digit = usize::try_from(word >> (18 - 6 * n) & 63).unwrap_or(0);
            text.push(char::from(DIGITS[digit]));
        }
    }
    text
}

/// The bits of the double in a text; `None` if it is not the base64 of eight bytes.
pub(super) fn decode(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('=')?;
    if digits.len() != 11 {
        return None;
    }
    let mut value = 0_u128;
    for digit in digits.bytes() {
        let place = DIGITS.iter().position(|known| *known == digit)?;
        value = value << 6 | u128::try_from(place).ok()?;
    }
    // Eleven digits hold 66 bits, of which the last two are no part of a byte.
    let bytes = u64::try_from(value >> 2).ok()?.to_be_bytes();
    Some(u64::from_le_bytes(bytes))
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
