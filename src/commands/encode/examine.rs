//! Looking at values beside their codes and what those decode to: nothing is lost unseen, and the errors are known.
//!
//! Loops over elements are here and not in `transform`, since they compare and count, and transform nothing. Each is over one
//! native type, in blocks, so that it runs at the pace of memory.

use crate::stats::{ErrorMeasures, LANES, PartMeasures, larger};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// Elements that are measured together.
const BLOCK: usize = 1024;

/// A code that stands for one value, which it decodes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sentinel {
    pub(super) code: Scalar,
    pub(super) value: Scalar,
}

/// What an element can be compared and measured as.
trait Element: Copy + PartialOrd {
    const SIZE: usize;
    fn read(bytes: &[u8]) -> Self;
    fn to_f64(self) -> f64;
    /// `decoded - self` in double precision, rounded once.
    fn error(self, decoded: Self) -> f64;
}

macro_rules! element {
    ($($native:ty: $wide:ty),*) => {$(
        impl Element for $native {
            const SIZE: usize = size_of::<$native>();

            #[inline]
            fn read(bytes: &[u8]) -> Self {
                let mut native = [0; Self::SIZE];
                native.copy_from_slice(bytes);
                Self::from_ne_bytes(native)
            }

            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, reason = "64-bit integers are rounded once")]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, reason = "64-bit integers are rounded once")]
            fn error(self, decoded: Self) -> f64 {
                (decoded as $wide - self as $wide) as f64
            }
        }
    )*};
}

element!(i8: i32, i16: i32, i32: i64, i64: i128, u8: i32, u16: i32, u32: i64, u64: i128, f32: f64, f64: f64);

/// Calls a generic function for the native type of a data type; `None` for types that no machine has.
macro_rules! native {
    ($data_type:expr, $function:ident($($argument:expr),*)) => {
        match $data_type {
            DataType::Int8 => Some($function::<i8>($($argument),*)),
            DataType::Int16 => Some($function::<i16>($($argument),*)),
            DataType::Int32 => Some($function::<i32>($($argument),*)),
            DataType::Int64 => Some($function::<i64>($($argument),*)),
            DataType::UInt8 => Some($function::<u8>($($argument),*)),
            DataType::UInt16 => Some($function::<u16>($($argument),*)),
            DataType::UInt32 => Some($function::<u32>($($argument),*)),
            DataType::UInt64 => Some($function::<u64>($($argument),*)),
            DataType::Float32 => Some($function::<f32>($($argument),*)),
            DataType::Float64 => Some($function::<f64>($($argument),*)),
            _ => None,
        }
    };
}

/// What the values of a part are.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Kinds {
    pub(super) nan: u64,
    pub(super) infinite: u64,
}

/// Measures the errors of decoded values, where both are finite, and counts those that are not.
pub(super) fn measure(
    data_type: DataType,
    values: &[u8],
    decoded: &[u8],
    errors: &mut ErrorMeasures,
) -> Kinds {
    match native!(data_type, measure_native(values, decoded, errors)) {
        Some(kinds) => kinds,
        None => measure_scalars(data_type, values, decoded, errors),
    }
}

fn measure_native<T: Element>(values: &[u8], decoded: &[u8], errors: &mut ErrorMeasures) -> Kinds {
    let mut kinds = Kinds::default();
    let blocks = values
        .chunks(BLOCK * T::SIZE)
        .zip(decoded.chunks(BLOCK * T::SIZE));
    for (values, decoded) in blocks {
        let known = errors.largest_relative();
        let part = measure_plain::<T, false>(values, decoded, known)
            .or_else(|| measure_plain::<T, true>(values, decoded, known))
            .unwrap_or_else(|| measure_each::<T>(values, decoded));
        if part.count < (values.len() / T::SIZE) as u64 {
            for value in values.chunks_exact(T::SIZE).map(T::read) {
                kinds.nan += u64::from(value.to_f64().is_nan());
                kinds.infinite += u64::from(value.to_f64().is_infinite());
            }
        }
        errors.add_part(&part);
    }
    kinds
}

/// Measures a block in which no relative error is larger than the largest so far; `None` for any other block, and for one that
/// holds what is not finite unless that is `MASKED`.
fn measure_plain<T: Element, const MASKED: bool>(
    values: &[u8],
    decoded: &[u8],
    known: f64,
) -> Option<PartMeasures> {
    let is_finite =
        |value: T, decoded: T| value.to_f64().is_finite() & decoded.to_f64().is_finite();
    let error = |value: &[u8], decoded: &[u8]| {
        let (value, decoded) = (T::read(value), T::read(decoded));
        let counts = !MASKED || is_finite(value, decoded);
        let error = if counts { value.error(decoded) } else { 0.0 };
        (error, value.to_f64())
    };
    let rows = values.chunks_exact(LANES * T::SIZE);
    let decoded_rows = decoded.chunks_exact(LANES * T::SIZE);
    let rest = rows.remainder().chunks_exact(T::SIZE);
    let decoded_rest = decoded_rows.remainder().chunks_exact(T::SIZE);
    let rows = rows.zip(decoded_rows).map(|(values, decoded)| {
        std::array::from_fn(|n| {
            let at = n * T::SIZE..(n + 1) * T::SIZE;
            error(&values[at.clone()], &decoded[at])
        })
    });
    let rest = rest.zip(decoded_rest);
    let rest = rest.map(|(value, decoded)| error(value, decoded));
    let (mut part, further) = PartMeasures::over(rows, rest, known);
    if MASKED {
        let values = values.chunks_exact(T::SIZE).map(T::read);
        let decoded = decoded.chunks_exact(T::SIZE).map(T::read);
        let pairs = values.zip(decoded);
        part.count = pairs.map(|(a, b)| u64::from(is_finite(a, b))).sum();
    }
    // One NaN or infinity makes the sums into such.
    let finite = part.sum.is_finite() && part.squares.is_finite();
    (finite && !further).then_some(part)
}

/// Measures a block value by value.
fn measure_each<T: Element>(values: &[u8], decoded: &[u8]) -> PartMeasures {
    let mut part = PartMeasures::default();
    let values = values.chunks_exact(T::SIZE).map(T::read);
    let decoded = decoded.chunks_exact(T::SIZE).map(T::read);
    for (value, decoded) in values.zip(decoded) {
        let original = value.to_f64();
        let finite = original.is_finite() & decoded.to_f64().is_finite();
        let error = if finite { value.error(decoded) } else { 0.0 };
        let size = error.abs();
        part.count += u64::from(finite);
        part.largest_absolute = larger(size, part.largest_absolute);
        // Where the error is 0 so is this, also beside a value that is not finite.
        let relative = if size > 0.0 {
            PartMeasures::relative((error, original))
        } else {
            0.0
        };
        part.largest_relative = larger(relative, part.largest_relative);
        part.sum += error;
        part.squares += error * error;
    }
    part
}

fn measure_scalars(
    data_type: DataType,
    values: &[u8],
    decoded: &[u8],
    errors: &mut ErrorMeasures,
) -> Kinds {
    let mut kinds = Kinds::default();
    for (value, decoded) in scalars(data_type, values).zip(scalars(data_type, decoded)) {
        kinds.nan += u64::from(value.is_nan());
        kinds.infinite += u64::from(value.is_infinite());
        if value.is_finite() && decoded.is_finite() {
            errors.add(value.to_f64(), decoded.to_f64());
        }
    }
    kinds
}

/// How many elements equal one: zeros of either sign are one, and so are all NaNs.
pub(super) fn count(element: Scalar, elements: &[u8]) -> u64 {
    let data_type = element.data_type();
    if data_type.is_float() && (element.is_zero() || element.is_nan()) {
        let equal = scalars(data_type, elements).filter(|other| other.equals(element));
        return equal.count() as u64;
    }
    let mut bytes = [0; 8];
    let size = element.data_type().size();
    element.write_ne_bytes(&mut bytes[..size]);
    macro_rules! equal {
        ($integer:ty) => {{
            let (parts, _) = elements.as_chunks::<{ size_of::<$integer>() }>();
            let mut native = [0; size_of::<$integer>()];
            native.copy_from_slice(&bytes[..size]);
            let wanted = <$integer>::from_ne_bytes(native);
            // Counters as wide as the elements, in blocks that they do not overflow on, let loops become vectors.
            let blocks = parts.chunks(usize::from(u8::MAX));
            let count = |block: &[[u8; size_of::<$integer>()]]| {
                block
                    .iter()
                    .map(|part| <$integer>::from(<$integer>::from_ne_bytes(*part) == wanted))
                    .sum::<$integer>()
            };
            blocks.map(|block| u64::from(count(block))).sum()
        }};
    }
    match size {
        1 => equal!(u8),
        2 => equal!(u16),
        4 => equal!(u32),
        _ => equal!(u64),
    }
}

/// How many values are finite and beyond a range.
pub(super) fn beyond(range: (Scalar, Scalar), values: &[u8]) -> u64 {
    let data_type = range.0.data_type();
    let counted = native!(data_type, beyond_native(range, values));
    counted.unwrap_or_else(|| {
        let outside = |value: &Scalar| {
            value.is_finite()
                && (value
                    .compare(range.0)
                    .is_some_and(std::cmp::Ordering::is_lt)
                    || value
                        .compare(range.1)
                        .is_some_and(std::cmp::Ordering::is_gt))
        };
        scalars(data_type, values).filter(outside).count() as u64
    })
}

fn beyond_native<T: Element>(range: (Scalar, Scalar), values: &[u8]) -> u64 {
    let read = |scalar: Scalar| {
        let mut bytes = [0; 8];
        scalar.write_ne_bytes(&mut bytes[..T::SIZE]);
        T::read(&bytes[..T::SIZE])
    };
    let (low, high) = (read(range.0), read(range.1));
    let outside = |value: &[u8]| {
        let value = T::read(value);
        value.to_f64().is_finite() && (value < low || value > high)
    };
    let values = values.chunks_exact(T::SIZE);
    values.map(|value| u64::from(outside(value))).sum()
}

/// The elements of a slice one by one.
pub(super) fn scalars(
    data_type: DataType,
    elements: &[u8],
) -> impl ExactSizeIterator<Item = Scalar> + '_ {
    let elements = elements.chunks_exact(data_type.size());
    elements.map(move |element| Scalar::from_ne_bytes(data_type, element))
}

/// Whether all elements have the bits of one.
pub(super) fn all_are(element: Scalar, elements: &[u8]) -> bool {
    let mut bytes = [0; 8];
    let size = element.data_type().size();
    element.write_ne_bytes(&mut bytes[..size]);
    // Most parts differ in their first element.
    elements
        .chunks_exact(size)
        .all(|part| part == &bytes[..size])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(elements: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
        elements.into_iter().flatten().collect()
    }

    #[test]
    fn errors_are_those_of_the_definition() {
        let values: Vec<f32> = (0..5000).map(|n| n as f32 * 0.37 - 900.0).collect();
        let decoded: Vec<f32> = values.iter().map(|x| (x * 8.0).round() / 8.0).collect();
        let mut one_by_one = ErrorMeasures::default();
        for (x, y) in values.iter().zip(&decoded) {
            one_by_one.add(f64::from(*x), f64::from(*y));
        }
        let mut errors = ErrorMeasures::default();
        let values = bytes(values.iter().map(|x| x.to_ne_bytes()));
        let decoded = bytes(decoded.iter().map(|x| x.to_ne_bytes()));
        let kinds = measure(DataType::Float32, &values, &decoded, &mut errors);
        assert_eq!(kinds, Kinds::default());
        assert_eq!(errors.count(), 5000);
        assert_eq!(errors.largest_absolute(), one_by_one.largest_absolute());
        assert_eq!(errors.largest_relative(), one_by_one.largest_relative());
        assert!((errors.rmse() - one_by_one.rmse()).abs() < 1e-15);
        assert!((errors.bias() - one_by_one.bias()).abs() < 1e-15);
    }

    #[test]
    fn the_largest_relative_error_is_found_wherever_it_stands() {
        // Sizes from denormals on, exact ones among them, and the same largest error more than once.
        let mut values = vec![0.0, -0.0, 3.0, 5e-324, 1e-320, -2e-310, 1e300];
        let mut decoded = vec![1.0, 0.0, 3.0, 1e-323, 1e-320, -3e-310, 1.5e300];
        for n in 0..4000_u32 {
            let value = f64::from(n) * 0.01 + 1.0;
            values.push(value);
            decoded.push(value * (1.0 + f64::from(n % 97) * 0.01));
        }
        for turn in [0, 3, 1500, 3999] {
            let mut one_by_one = ErrorMeasures::default();
            for (x, y) in values.iter().zip(&decoded) {
                one_by_one.add(*x, *y);
            }
            let mut errors = ErrorMeasures::default();
            let bytes_of = |doubles: &[f64]| bytes(doubles.iter().map(|x| x.to_ne_bytes()));
            let (original, back) = (bytes_of(&values), bytes_of(&decoded));
            measure(DataType::Float64, &original, &back, &mut errors);
            let found = errors.largest_relative();
            assert_eq!(found, one_by_one.largest_relative(), "turned by {turn}");
            values.rotate_left(turn);
            decoded.rotate_left(turn);
        }
    }

    #[test]
    fn a_mask_changes_no_error() {
        let mut values = Vec::new();
        let mut decoded = Vec::new();
        let mut one_by_one = ErrorMeasures::default();
        for n in 0..5003_u16 {
            let value = f32::from(n) * 0.37 + 2.0;
            let back = (value * 8.0).round() / 8.0;
            let (value, back) = match n % 7 {
                0 => (f32::NAN, f32::NAN),
                1 => (f32::INFINITY, 600.0),
                2 => (value, f32::NEG_INFINITY),
                _ => (value, back),
            };
            if value.is_finite() && back.is_finite() {
                one_by_one.add(value.into(), back.into());
            }
            values.extend(value.to_ne_bytes());
            decoded.extend(back.to_ne_bytes());
        }
        let mut errors = ErrorMeasures::default();
        let kinds = measure(DataType::Float32, &values, &decoded, &mut errors);
        assert_eq!((kinds.nan, kinds.infinite), (715, 715));
        assert_eq!(errors.count(), one_by_one.count());
        assert_eq!(errors.largest_absolute(), one_by_one.largest_absolute());
        assert_eq!(errors.largest_relative(), one_by_one.largest_relative());
        assert!((errors.rmse() - one_by_one.rmse()).abs() < 1e-15);
        assert!((errors.bias() - one_by_one.bias()).abs() < 1e-15);
    }

    #[test]
    fn what_is_not_finite_is_counted_and_not_measured() {
        let values = [1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0];
        let decoded = [1.5, f64::NAN, 7.0, 7.0, 0.25];
        let mut errors = ErrorMeasures::default();
        let values = bytes(values.iter().map(|x| x.to_ne_bytes()));
        let decoded = bytes(decoded.iter().map(|x: &f64| x.to_ne_bytes()));
        let kinds = measure(DataType::Float64, &values, &decoded, &mut errors);
        assert_eq!(
            kinds,
            Kinds {
                nan: 1,
                infinite: 2
            }
        );
        assert_eq!((errors.count(), errors.largest_absolute()), (2, 0.5));
        assert_eq!(errors.largest_relative(), 0.5);
    }

    #[test]
    fn wide_integers_are_subtracted_before_they_are_rounded() {
        let mut errors = ErrorMeasures::default();
        let values = bytes([((1_i64 << 53) + 1).to_ne_bytes(), i64::MIN.to_ne_bytes()]);
        let decoded = bytes([(1_i64 << 53).to_ne_bytes(), i64::MAX.to_ne_bytes()]);
        measure(DataType::Int64, &values, &decoded, &mut errors);
        assert_eq!(errors.largest_absolute(), 2_f64.powi(64));
        assert_eq!(errors.bias(), (2_f64.powi(64) - 2.0) / 2.0);
    }

    #[test]
    fn types_that_no_machine_has_are_measured_too() {
        let values = [0x3c, 0x44];
        let decoded = [0x38, 0x44];
        let mut errors = ErrorMeasures::default();
        measure(DataType::Float8E4M3, &values, &decoded, &mut errors);
        assert_eq!(errors.largest_absolute(), 0.5);
    }

    #[test]
    fn codes_are_counted_as_maps_find_them() {
        let half = |bits| Scalar::from_bits(DataType::Float16, bits);
        let codes = bytes([0_u16, 0x8000, 0x7e00, 0xfe01, 0x3c00].map(u16::to_ne_bytes));
        assert_eq!(count(half(0x8000), &codes), 2);
        assert_eq!(count(half(0x7e00), &codes), 2);
        assert_eq!(count(half(0x3c00), &codes), 1);
        let code = Scalar::from_integer(DataType::Int16, -32768).unwrap();
        let codes = bytes([-32768_i16, 5, -32768].map(i16::to_ne_bytes));
        assert_eq!(count(code, &codes), 2);
        assert_eq!(count(code, &codes.repeat(70_000)), 140_000);
        let byte = Scalar::from_integer(DataType::UInt8, 7).unwrap();
        assert_eq!(count(byte, &[7; 1000]), 1000);
        assert!(!all_are(code, &codes));
        assert!(all_are(code, &codes[..2]));
    }

    #[test]
    fn what_lies_beyond_a_range_is_counted() {
        let scalar = |x: f32| Scalar::from_bits(DataType::Float32, x.to_bits().into());
        let values = [-2.0, -1.0, 0.0, f32::NAN, f32::INFINITY, 1.0, 1.5_f32];
        let values = bytes(values.map(f32::to_ne_bytes));
        assert_eq!(beyond((scalar(-1.0), scalar(1.0)), &values), 2);
    }
}
