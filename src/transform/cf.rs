//! Unpacks what the CF conventions call packed data: `value = stored * scale_factor + add_offset`, and missing values.
//!
//! Both operations are those of float64, each rounded once; the result is then rounded once more if the values are to be
//! float32. [`Unpacking::value`] defines it; [`Unpacking::run`] is the same on slices.

use super::data_type::DataType;
use super::scalar::Scalar;

/// Elements that are done before any of them is looked at again.
const BLOCK: usize = 1024;

/// Packed numbers of one type to values of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpacking {
    stored: DataType,
    target: DataType,
    scale_factor: Option<f64>,
    add_offset: Option<f64>,
    missing: Vec<Scalar>,
}

/// Why a stored number has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnpackFault {
    /// An integer that the arithmetic, or the type of the values, does not hold.
    #[error("{target} does not hold the stored integer {stored}")]
    Inexact {
        /// The integer.
        stored: Scalar,
        /// The type that does not hold it.
        target: DataType,
    },
    /// A finite number whose value is beyond the type.
    #[error("the value of the stored number {stored} is out of the range of {target}")]
    Overflow {
        /// The number.
        stored: Scalar,
        /// The type that does not hold the value.
        target: DataType,
    },
}

impl Unpacking {
    /// Unpacking from `stored` to `target`, which is float32, float64, or `stored` itself if there is no arithmetic (and a NaN,
    /// if anything is missing). `None` where it is neither, or a factor or offset is not finite.
    ///
    /// `missing` are numbers of the stored type that become NaN. A NaN among them has no effect, since NaN stays NaN.
    #[must_use]
    pub fn new(
        stored: DataType,
        target: DataType,
        scale_factor: Option<f64>,
        add_offset: Option<f64>,
        missing: &[Scalar],
    ) -> Option<Self> {
        let missing: Vec<_> = missing
            .iter()
            .copied()
            .filter(|value| !value.is_nan())
            .collect();
        let computes = scale_factor.is_some() || add_offset.is_some();
        let target_fits = match target {
            DataType::Float32 | DataType::Float64 => true,
            target => target == stored && !computes && (missing.is_empty() || target.has_nan()),
        };
        let finite = [scale_factor, add_offset]
            .into_iter()
            .flatten()
            .all(f64::is_finite);
        let typed = missing.iter().all(|value| value.data_type() == stored);
        (target_fits && finite && typed).then_some(Self {
            stored,
            target,
            scale_factor,
            add_offset,
            missing,
        })
    }

    /// The type of what is stored.
    #[must_use]
    pub const fn stored(&self) -> DataType {
        self.stored
    }

    /// The type of the values.
    #[must_use]
    pub const fn target(&self) -> DataType {
        self.target
    }

    /// Whether there is anything to multiply or to add.
    #[must_use]
    pub const fn computes(&self) -> bool {
        self.scale_factor.is_some() || self.add_offset.is_some()
    }

    /// Whether every number keeps its bits.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.keeps_bits() && self.missing.is_empty()
    }

    /// Whether numbers that are not missing keep their bits.
    fn keeps_bits(&self) -> bool {
        self.stored == self.target && !self.computes()
    }

    /// The same without missing values: for limits, which are numbers whatever they equal.
    #[must_use]
    pub fn of_limits(&self) -> Self {
        Self {
            missing: Vec::new(),
            ..self.clone()
        }
    }

    /// The value of a stored number.
    ///
    /// # Errors
    ///
    /// Where the result is not finite though the number is, or an integer loses digits on its way to a float.
    pub fn value(&self, stored: Scalar) -> Result<Scalar, UnpackFault> {
        if self.missing.iter().any(|missing| missing.equals(stored)) {
            return Ok(Scalar::nan(self.target));
        }
        if self.keeps_bits() {
            return Ok(stored);
        }
        let wide = stored.to_f64();
        let inexact = |target| UnpackFault::Inexact { stored, target };
        if stored
            .integer()
            .is_some_and(|integer| !is_integer(wide, integer))
        {
            return Err(inexact(DataType::Float64));
        }
        let value = self.compute(wide);
        let (bits, narrow) = if self.target == DataType::Float32 {
            let narrow = to_f32(value);
            (u64::from(narrow.to_bits()), f64::from(narrow))
        } else {
            (value.to_bits(), value)
        };
        if wide.is_finite() && !narrow.is_finite() {
            let target = self.target;
            return Err(UnpackFault::Overflow { stored, target });
        }
        // A number that is only handed on must arrive.
        if !self.computes()
            && stored
                .integer()
                .is_some_and(|integer| !is_integer(narrow, integer))
        {
            return Err(inexact(self.target));
        }
        Ok(Scalar::from_bits(self.target, bits))
    }

    fn compute(&self, wide: f64) -> f64 {
        let mut value = wide;
        if let Some(factor) = self.scale_factor {
            value *= factor;
        }
        if let Some(offset) = self.add_offset {
            value += offset;
        }
        value
    }

    /// Unpacks the elements of `source` into `target`, both native endian, as far as both reach.
    ///
    /// # Errors
    ///
    /// The first element that has no value, with its index; what is behind its block is not written.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), (usize, UnpackFault)> {
        let (from, to) = (self.stored.size(), self.target.size());
        let blocks = source
            .chunks(BLOCK * from)
            .zip(target.chunks_mut(BLOCK * to));
        for (n, (source, target)) in blocks.enumerate() {
            if !self.fast(source, target) {
                self.exact(source, target)
                    .map_err(|(index, fault)| (n * BLOCK + index, fault))?;
            }
        }
        Ok(())
    }

    /// A block by the definition.
    fn exact(&self, source: &[u8], target: &mut [u8]) -> Result<(), (usize, UnpackFault)> {
        let elements = source.chunks_exact(self.stored.size());
        let places = target.chunks_exact_mut(self.target.size());
        for (index, (element, place)) in elements.zip(places).enumerate() {
            let value = self.value(Scalar::from_ne_bytes(self.stored, element));
            value.map_err(|fault| (index, fault))?.write_ne_bytes(place);
        }
        Ok(())
    }

    /// A block by the instructions of the machine. False where one of its elements is for the definition to judge.
    fn fast(&self, source: &[u8], target: &mut [u8]) -> bool {
        match self.stored {
            DataType::Int8 => self.typed::<i8>(source, target),
            DataType::Int16 => self.typed::<i16>(source, target),
            DataType::Int32 => self.typed::<i32>(source, target),
            DataType::Int64 => self.typed::<i64>(source, target),
            DataType::UInt8 => self.typed::<u8>(source, target),
            DataType::UInt16 => self.typed::<u16>(source, target),
            DataType::UInt32 => self.typed::<u32>(source, target),
            DataType::UInt64 => self.typed::<u64>(source, target),
            DataType::Float32 => self.typed::<f32>(source, target),
            DataType::Float64 => self.typed::<f64>(source, target),
            _ => false,
        }
    }

    fn typed<S: Element>(&self, source: &[u8], target: &mut [u8]) -> bool {
        let missing: Vec<S> = self
            .missing
            .iter()
            .map(|value| {
                let mut bytes = [0; 8];
                value.write_ne_bytes(&mut bytes);
                S::load(&bytes)
            })
            .collect();
        if self.keeps_bits() {
            let length = source.len().min(target.len());
            target[..length].copy_from_slice(&source[..length]);
            if !missing.is_empty() {
                let nan = Scalar::nan(self.target);
                for place in target.chunks_exact_mut(S::SIZE) {
                    if missing.contains(&S::load(place)) {
                        nan.write_ne_bytes(place);
                    }
                }
            }
            return true;
        }
        let mut sound = true;
        let elements = source.chunks_exact(S::SIZE).map(S::load);
        if self.target == DataType::Float32 {
            for (element, place) in elements.zip(target.chunks_exact_mut(4)) {
                let wide = element.wide();
                let narrow = to_f32(self.compute(wide));
                let masked = missing.contains(&element);
                let held = self.computes() || !S::INTEGER || f64::from(narrow) == wide;
                sound &= masked
                    || element.is_exact() && held && (narrow.is_finite() || !wide.is_finite());
                let value = if masked { f32::NAN } else { narrow };
                place.copy_from_slice(&value.to_ne_bytes());
            }
        } else {
            for (element, place) in elements.zip(target.chunks_exact_mut(8)) {
                let wide = element.wide();
                let value = self.compute(wide);
                let masked = missing.contains(&element);
                sound &= masked || element.is_exact() && (value.is_finite() || !wide.is_finite());
                let value = if masked { f64::NAN } else { value };
                place.copy_from_slice(&value.to_ne_bytes());
            }
        }
        sound
    }
}

/// The nearest float32, ties to even.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding is what it is for; an infinity is looked for after it"
)]
const fn to_f32(value: f64) -> f32 {
    value as f32
}

/// Whether a float is exactly an integer of at most 64 bits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "floats near such integers are far inside i128"
)]
fn is_integer(value: f64, integer: i128) -> bool {
    value as i128 == integer
}

/// A type of the machine that packed numbers have.
trait Element: Copy + PartialEq {
    const SIZE: usize;
    const INTEGER: bool;

    /// Reads the element at the front of `bytes`; bytes that are missing count as zeros.
    fn load(bytes: &[u8]) -> Self;

    /// The nearest double.
    fn wide(self) -> f64;

    /// Whether the nearest double is the element.
    fn is_exact(self) -> bool;
}

macro_rules! elements {
    ($($type:ty, $integer:literal, |$x:ident| $exact:expr;)*) => {$(
        impl Element for $type {
            const SIZE: usize = size_of::<$type>();
            const INTEGER: bool = $integer;

            fn load(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Self::from_ne_bytes([0; size_of::<$type>()]), |bytes| Self::from_ne_bytes(*bytes))
            }

            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, reason = "the types differ in whether it is exact")]
            fn wide(self) -> f64 {
                self as f64
            }

            fn is_exact(self) -> bool {
                let $x = self;
                $exact
            }
        }
    )*};
}

elements! {
    i8, true, |_x| true;
    i16, true, |_x| true;
    i32, true, |_x| true;
    i64, true, |x| is_integer(x.wide(), i128::from(x));
    u8, true, |_x| true;
    u16, true, |_x| true;
    u32, true, |_x| true;
    u64, true, |x| is_integer(x.wide(), i128::from(x));
    f32, false, |_x| true;
    f64, false, |_x| true;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(data_type: DataType, value: i128) -> Scalar {
        Scalar::from_integer(data_type, value).unwrap()
    }

    fn f64_of(value: f64) -> Scalar {
        Scalar::from_bits(DataType::Float64, value.to_bits())
    }

    #[test]
    fn the_arithmetic_is_that_of_float64_with_two_roundings() {
        let unpacking = Unpacking::new(
            DataType::Int16,
            DataType::Float64,
            Some(0.01),
            Some(273.15),
            &[],
        )
        .unwrap();
        for code in [-32768_i16, -100, 0, 1, 29, 32767] {
            let value = unpacking.value(integer(DataType::Int16, code.into()));
            let product = f64::from(code) * 0.01;
            assert_eq!(value, Ok(f64_of(product + 273.15)));
        }
        // 0.01 as a double is a little too large, and 35 times that shows it.
        let factor =
            Unpacking::new(DataType::Int16, DataType::Float64, Some(0.01), None, &[]).unwrap();
        let value = factor.value(integer(DataType::Int16, 29)).unwrap();
        assert_eq!(value.to_json(), "0.29");
        let value = factor.value(integer(DataType::Int16, 35)).unwrap();
        assert_eq!(value.to_json(), "0.35000000000000003");
    }

    #[test]
    fn missing_values_are_nan_and_nan_stays() {
        let missing = [integer(DataType::UInt8, 255), integer(DataType::UInt8, 0)];
        let unpacking = Unpacking::new(
            DataType::UInt8,
            DataType::Float32,
            Some(0.5),
            None,
            &missing,
        );
        let mut values = [0; 16];
        unpacking
            .unwrap()
            .run(&[0, 1, 254, 255], &mut values)
            .unwrap();
        let values: Vec<_> = values
            .chunks(4)
            .map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap()))
            .collect();
        assert!(values[0].is_nan() && values[3].is_nan());
        assert_eq!(values[1..3], [0.5, 127.0]);
        let nan = Scalar::from_bits(DataType::Float32, 0x7fc0_0001);
        let kept = Unpacking::new(DataType::Float32, DataType::Float32, None, None, &[nan]);
        let kept = kept.unwrap();
        assert!(kept.is_identity());
        assert_eq!(kept.value(nan), Ok(nan));
    }

    #[test]
    fn what_a_double_does_not_hold_is_a_fault() {
        let large = integer(DataType::Int64, (1 << 53) + 1);
        for scale in [None, Some(1.0)] {
            let unpacking =
                Unpacking::new(DataType::Int64, DataType::Float64, scale, None, &[]).unwrap();
            assert_eq!(
                unpacking.value(large),
                Err(UnpackFault::Inexact {
                    stored: large,
                    target: DataType::Float64
                })
            );
            let mut source = 7_i64.to_ne_bytes().to_vec();
            source.extend(((1_i64 << 53) + 1).to_ne_bytes());
            let (index, fault) = unpacking.run(&source, &mut [0; 16]).unwrap_err();
            assert_eq!((index, Err(fault)), (1, unpacking.value(large)));
        }
        // Unless it means that there is no value.
        let unpacking =
            Unpacking::new(DataType::Int64, DataType::Float64, None, None, &[large]).unwrap();
        assert!(unpacking.value(large).unwrap().is_nan());
        // The largest uint64 is next to 2^64, which it is not.
        let unpacking =
            Unpacking::new(DataType::UInt64, DataType::Float64, None, None, &[]).unwrap();
        assert!(
            unpacking
                .value(integer(DataType::UInt64, u64::MAX.into()))
                .is_err()
        );
    }

    #[test]
    fn a_value_beyond_float32_is_a_fault_and_an_infinity_is_not() {
        let unpacking =
            Unpacking::new(DataType::Float64, DataType::Float32, Some(1e30), None, &[]).unwrap();
        let stored = f64_of(1e9);
        assert!(matches!(
            unpacking.value(stored),
            Err(UnpackFault::Overflow { .. })
        ));
        assert!(unpacking.run(&1e9_f64.to_ne_bytes(), &mut [0; 4]).is_err());
        assert!(
            unpacking
                .value(f64_of(f64::INFINITY))
                .unwrap()
                .is_infinite()
        );
    }

    #[test]
    fn a_narrower_type_holds_integers_or_refuses_them() {
        let unpacking = Unpacking::new(DataType::Int32, DataType::Float32, None, None, &[]);
        let unpacking = unpacking.unwrap();
        assert!(
            unpacking
                .value(integer(DataType::Int32, 16_777_216))
                .is_ok()
        );
        assert!(
            unpacking
                .value(integer(DataType::Int32, 16_777_217))
                .is_err()
        );
        assert!(
            unpacking
                .run(&16_777_217_i32.to_ne_bytes(), &mut [0; 4])
                .is_err()
        );
    }

    #[test]
    fn slices_agree_with_the_definition() {
        for stored in DataType::ALL {
            let (low, high) = Scalar::finite_range(stored);
            let mut samples: Vec<Scalar> = (0..4000_u64)
                .map(|n| Scalar::from_bits(stored, n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7))
                .collect();
            samples.extend([low, high]);
            let missing = [samples[3], samples[5], low];
            for (target, scale, offset) in [
                (DataType::Float64, Some(0.1), Some(-3.0)),
                (DataType::Float32, Some(1e-3), None),
                (DataType::Float64, None, None),
                (DataType::Float32, None, None),
                (DataType::Float64, None, Some(0.1)),
                (stored, None, None),
            ] {
                let Some(unpacking) = Unpacking::new(stored, target, scale, offset, &missing)
                else {
                    assert!(target == stored && !stored.has_nan(), "{stored} {target}");
                    continue;
                };
                let good: Vec<_> = samples
                    .iter()
                    .filter(|sample| unpacking.value(**sample).is_ok())
                    .collect();
                let mut source = vec![0; good.len() * stored.size()];
                for (sample, place) in good.iter().zip(source.chunks_mut(stored.size())) {
                    sample.write_ne_bytes(place);
                }
                let mut values = vec![0; good.len() * target.size()];
                unpacking.run(&source, &mut values).unwrap();
                for (sample, value) in good.iter().zip(values.chunks(target.size())) {
                    let value = Scalar::from_ne_bytes(target, value);
                    assert_eq!(
                        Ok(value),
                        unpacking.value(**sample),
                        "{stored} {target} {sample}"
                    );
                }
            }
        }
    }
}
