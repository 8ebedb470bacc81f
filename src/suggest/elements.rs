//! Elements of arrays as doubles, block by block, for what is measured about values.

use half::{bf16, f16};

use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many elements are looked at in one go: few enough to stay in the nearest cache.
pub(super) const BLOCK: usize = 1024;

/// Widens native-endian elements into `doubles`, which has room for all of them; exact but for integers beyond 53 bits.
pub(super) fn widen(data_type: DataType, elements: &[u8], doubles: &mut [f64]) {
    macro_rules! each {
        ($t:ty, $widen:expr) => {{
            const SIZE: usize = size_of::<$t>();
            let (elements, _) = elements.as_chunks::<SIZE>();
            for (double, bytes) in doubles.iter_mut().zip(elements) {
                *double = $widen(<$t>::from_ne_bytes(*bytes));
            }
        }};
    }
    match data_type {
        DataType::Float64 => each!(f64, |x: f64| x),
        DataType::Float32 => each!(f32, f64::from),
        DataType::Float16 => each!(f16, f16::to_f64),
        DataType::BFloat16 => each!(bf16, bf16::to_f64),
        DataType::Int8 => each!(i8, f64::from),
        DataType::Int16 => each!(i16, f64::from),
        DataType::Int32 => each!(i32, f64::from),
        DataType::UInt8 => each!(u8, f64::from),
        DataType::UInt16 => each!(u16, f64::from),
        DataType::UInt32 => each!(u32, f64::from),
        other => {
            for (double, bytes) in doubles.iter_mut().zip(elements.chunks_exact(other.size())) {
                *double = Scalar::from_ne_bytes(other, bytes).to_f64();
            }
        }
    }
}

/// A double as a scalar of a type, if the type holds it exactly.
pub(super) fn exact(data_type: DataType, value: f64) -> Option<Scalar> {
    let scalar = nearest(data_type, value)?;
    (scalar.to_f64() == value).then_some(scalar)
}

/// A double as the nearest scalar of a type, if that is in range.
pub(super) fn nearest(data_type: DataType, value: f64) -> Option<Scalar> {
    use crate::transform::cast_value::cast;
    use crate::transform::rounding::Rounding;
    let double = Scalar::from_bits(DataType::Float64, value.to_bits());
    cast(double, data_type, Rounding::NearestEven, None).ok()
}

/// The shortest text of a double that is a JSON number: `100`, `0.25`, `1e-12`.
#[must_use]
pub fn number_text(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-5..1e16).contains(&magnitude) {
        return format!("{value}");
    }
    format!("{value:e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_widens_as_its_scalars_do() {
        for t in DataType::ALL {
            let (low, high) = Scalar::finite_range(t);
            let mut bytes = vec![0; 2 * t.size()];
            low.write_ne_bytes(&mut bytes);
            high.write_ne_bytes(&mut bytes[t.size()..]);
            let mut doubles = [0.0; 2];
            widen(t, &bytes, &mut doubles);
            assert_eq!(doubles, [low.to_f64(), high.to_f64()], "{t}");
        }
    }

    #[test]
    fn numbers_are_short_json() {
        let texts = [100.0, 0.25, 273.15, 1e-12, 1e300, -0.1, 0.0].map(number_text);
        assert_eq!(
            texts,
            ["100", "0.25", "273.15", "1e-12", "1e300", "-0.1", "0"]
        );
    }
}
