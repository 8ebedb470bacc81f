//! The legacy codec `fixedscaleoffset`, one element at a time, bit for bit as numcodecs computes it with NumPy 2.
//!
//! The definition is the program (`numcodecs.FixedScaleOffset`), not the pseudocode of the `scale_offset` specification:
//! see `decode` and `encode` for where the arithmetic happens.

use super::cast_value::cast;
use super::data_type::DataType;
use super::fault::{Fault, FaultKind};
use super::literal::{Literal, LiteralError};
use super::rounding::{OutOfRange, Rounding};
use super::scalar::Scalar;

/// A parameter of the legacy codec, as Python's JSON reader gives it: an integer and a float behave differently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter {
    /// A number written without fraction and exponent. `exact` is absent beyond 128 bits.
    Integer {
        /// The integer.
        exact: Option<i128>,
        /// The nearest double.
        double: f64,
    },
    /// Any other number.
    Float(f64),
}

impl Parameter {
    /// Reads a JSON number.
    ///
    /// # Errors
    ///
    /// A [`LiteralError`] for anything but a number that a double holds.
    pub fn parse(literal: &Literal) -> Result<Self, LiteralError> {
        let double = Scalar::parse(literal, DataType::Float64)?.to_f64();
        match literal {
            Literal::Number(text) if !text.contains(['.', 'e', 'E']) => Ok(Self::Integer {
                exact: text.parse().ok(),
                double,
            }),
            Literal::Number(_) => Ok(Self::Float(double)),
            _ => Err(LiteralError::NotAScalar(literal.to_string())),
        }
    }

    /// The value as a double, which is what NumPy makes of either kind beside a double.
    #[must_use]
    pub const fn double(self) -> f64 {
        match self {
            Self::Integer { double, .. } | Self::Float(double) => double,
        }
    }
}

/// A `fixedscaleoffset` codec bound to its types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedScaleOffset {
    /// The type before encoding: `dtype`.
    pub decoded: DataType,
    /// The type after encoding: `astype`, or `dtype` where absent.
    pub stored: DataType,
    /// What encoding multiplies with.
    pub scale: Parameter,
    /// What encoding subtracts.
    pub offset: Parameter,
}

/// The types that numcodecs and `cast_value` both know.
#[must_use]
pub const fn is_supported(data_type: DataType) -> bool {
    data_type.numpy_code().is_some()
}

impl FixedScaleOffset {
    /// Decodes one element: `(code / scale) + offset`, then a C cast to the decoded type.
    ///
    /// The arithmetic is in float64 for every integer stored type, and in the stored type for a float one, to which both
    /// parameters are rounded first.
    ///
    /// # Errors
    ///
    /// A [`Fault`] where the C cast into an integer type is undefined: NaN, an infinity, a value out of range.
    pub fn decode(&self, code: Scalar) -> Result<Scalar, Fault> {
        let arithmetic = if self.stored.is_float() {
            self.stored
        } else {
            DataType::Float64
        };
        let code = convert(code, arithmetic)?;
        let unscaled = operate(code, self.scale.double(), |c, s| c / s)?;
        let value = operate(unscaled, self.offset.double(), |u, o| u + o)?;
        convert(value, self.decoded)
    }

    /// Encodes one element: `around((x - offset) * scale)`, then a C cast to the stored type.
    ///
    /// The arithmetic is in the decoded type. An integer one wraps while the parameters are integers, and becomes float64
    /// at the first float parameter. C casts that leave an 8 or 16 bit type wrap below 2^31, as they do on common hardware.
    ///
    /// # Errors
    ///
    /// A [`Fault`] where NumPy refuses an integer parameter outside an integer type, and where the result of the C cast
    /// depends on the machine.
    pub fn encode(&self, value: Scalar) -> Result<Scalar, Fault> {
        let shifted = self.encode_step(value, self.offset, i128::wrapping_sub, |x, o| x - o)?;
        let scaled = self.encode_step(shifted, self.scale, i128::wrapping_mul, |x, s| x * s)?;
        let whole = if scaled.data_type().is_float() {
            around(scaled)?
        } else {
            scaled
        };
        c_cast(whole, self.stored)
    }

    /// One step of encoding, in the type that NumPy computes it in.
    fn encode_step(
        &self,
        value: Scalar,
        parameter: Parameter,
        integers: fn(i128, i128) -> i128,
        floats: fn(f64, f64) -> f64,
    ) -> Result<Scalar, Fault> {
        let data_type = value.data_type();
        match (value.integer(), parameter) {
            (Some(x), Parameter::Integer { exact, .. }) => {
                let refused = Fault::new(FaultKind::Overflow, value, data_type);
                let y = exact.and_then(|exact| Scalar::from_integer(data_type, exact));
                let y = y.and_then(Scalar::integer).ok_or(refused)?;
                Ok(wrap(integers(x, y), data_type))
            }
            (Some(_), Parameter::Float(double)) => {
                let value = convert(value, DataType::Float64)?;
                operate(value, double, floats)
            }
            (None, _) => operate(value, parameter.double(), floats),
        }
    }
}

/// The value that a C cast gives where it is the same everywhere, or an overflow to a float type, which is an infinity.
///
/// A float becomes an integer by truncation.
fn convert(value: Scalar, target: DataType) -> Result<Scalar, Fault> {
    if target.is_float() {
        return cast(
            value,
            target,
            Rounding::NearestEven,
            Some(OutOfRange::Clamp),
        );
    }
    cast(value, target, Rounding::TowardsZero, None)
}

/// The fill that codecs behind the legacy one see: the array's, cast and not transformed.
pub(super) fn cast_fill(fill: Scalar, stored: DataType) -> Result<Scalar, Fault> {
    c_cast(fill, stored)
}

/// The C cast of an encoded value, with what x86-64 does out of range where that does not depend on the position.
fn c_cast(value: Scalar, target: DataType) -> Result<Scalar, Fault> {
    if let Some(integer) = value.integer().filter(|_| target.is_integer()) {
        return Ok(wrap(integer, target));
    }
    // Conversions to 8 and 16 bits go through int32, and keep its low bits.
    let narrow = target.is_integer() && target.bits() <= 16;
    match convert(value, if narrow { DataType::Int32 } else { target }) {
        Ok(whole) if narrow => Ok(wrap(whole.integer().unwrap_or_default(), target)),
        Err(fault) => Err(Fault::new(fault.kind, value, target)),
        converted => converted,
    }
}

/// An integer modulo 2^N.
fn wrap(value: i128, target: DataType) -> Scalar {
    // The low 64 bits are all that counts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Scalar::from_bits(target, value as u64)
}

/// A float operation in the type of `value`, to which the parameter is rounded first (NumPy's weak Python scalars).
///
/// Results beyond the range are infinities, as in hardware.
fn operate(value: Scalar, parameter: f64, operation: fn(f64, f64) -> f64) -> Result<Scalar, Fault> {
    let data_type = value.data_type();
    let parameter = Scalar::from_bits(DataType::Float64, parameter.to_bits());
    let parameter = convert(parameter, data_type)?;
    // Doubles hold more than twice the precision of float32 and float16 and two bits, so that rounding twice is innocuous;
    // results between the two in the subnormal range of float32 are exact or have as many bits to spare.
    let result = operation(value.to_f64(), parameter.to_f64());
    let result = Scalar::from_bits(DataType::Float64, result.to_bits());
    convert(result, data_type)
}

/// To the nearest whole number, ties to even.
fn around(value: Scalar) -> Result<Scalar, Fault> {
    let whole = value.to_f64().round_ties_even();
    let whole = Scalar::from_bits(DataType::Float64, whole.to_bits());
    convert(whole, value.data_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataType::*;

    fn codec(decoded: DataType, stored: DataType, scale: &str, offset: &str) -> FixedScaleOffset {
        let parameter = |text: &str| Parameter::parse(&Literal::Number(text.to_owned())).unwrap();
        FixedScaleOffset {
            decoded,
            stored,
            scale: parameter(scale),
            offset: parameter(offset),
        }
    }

    fn of(data_type: DataType, x: f64) -> Scalar {
        let x = Scalar::from_bits(Float64, x.to_bits());
        cast(x, data_type, Rounding::NearestEven, None).unwrap()
    }

    fn encode(codec: &FixedScaleOffset, x: f64) -> Result<f64, FaultKind> {
        let code = codec.encode(of(codec.decoded, x));
        code.map(Scalar::to_f64).map_err(|fault| fault.kind)
    }

    fn decode(codec: &FixedScaleOffset, code: f64) -> Result<f64, FaultKind> {
        let value = codec.decode(of(codec.stored, code));
        value.map(Scalar::to_f64).map_err(|fault| fault.kind)
    }

    #[test]
    fn integer_codes_decode_in_doubles_and_float_codes_in_their_type() {
        let (scale, offset) = (100.0, 273.15);
        let integers = codec(Float32, Int16, "100", "273.15");
        let singles = codec(Float64, Float32, "100", "273.15");
        let mut differ = 0;
        for code in -32768..=32767_i16 {
            let double = f64::from(code) / scale + offset;
            assert_eq!(decode(&integers, code.into()), Ok((double as f32).into()));
            let single = f32::from(code) / scale as f32 + offset as f32;
            assert_eq!(decode(&singles, code.into()), Ok(single.into()));
            differ += u32::from(double as f32 != single);
        }
        assert!(differ > 20_000);
    }

    #[test]
    fn decoding_to_integers_truncates() {
        let thirds = codec(Int32, Int32, "3", "0");
        for (code, value) in [(0, 0), (2, 0), (3, 1), (5, 1), (-2, 0), (-5, -1)] {
            assert_eq!(decode(&thirds, code.into()), Ok(value.into()));
        }
        let tenths = codec(UInt8, Int16, "0.1", "0");
        assert_eq!(decode(&tenths, 25.0), Ok(250.0));
        assert_eq!(decode(&tenths, 26.0), Err(FaultKind::OutOfRange));
        assert_eq!(decode(&tenths, -1.0), Err(FaultKind::OutOfRange));
        let nan = codec(Int8, Float32, "1", "0").decode(Scalar::nan(Float32));
        assert_eq!(nan.unwrap_err().kind, FaultKind::NotANumber);
    }

    #[test]
    fn overflow_into_float32_is_an_infinity() {
        let small = codec(Float32, UInt8, "1e-38", "0");
        assert_eq!(decode(&small, 35.0), Ok(f64::INFINITY));
        assert_eq!(decode(&small, 0.0), Ok(0.0));
    }

    #[test]
    fn conversions_to_narrow_integers_wrap_inside_int32() {
        for (stored, x, code) in [
            (UInt8, 300.0, 44.0),
            (UInt8, -1.0, 255.0),
            (Int8, 200.0, -56.0),
            (UInt16, 70_000.0, 4464.0),
            (Int16, -40_000.0, 25_536.0),
            (UInt8, 2_147_483_647.0, 255.0),
        ] {
            assert_eq!(
                encode(&codec(Float64, stored, "1", "0"), x),
                Ok(code),
                "{stored}"
            );
        }
        assert_eq!(encode(&codec(Float64, Float32, "3", "0"), 0.5), Ok(2.0));
        assert_eq!(
            encode(&codec(Float64, Float32, "1", "0"), 1e300),
            Ok(f64::INFINITY)
        );
        let beyond = [UInt8, Int8, UInt16, Int16].map(|t| (t, 2_147_483_648.0));
        for (stored, x) in beyond
            .into_iter()
            .chain([(Int32, 3e9), (UInt32, -1.0), (Int64, 1e19)])
        {
            let result = encode(&codec(Float64, stored, "1", "0"), x);
            assert_eq!(result, Err(FaultKind::OutOfRange), "{stored}");
        }
    }

    #[test]
    fn integer_parameters_keep_the_arithmetic_of_an_integer_type() {
        let wrapping = codec(UInt8, UInt8, "1", "5");
        assert_eq!(encode(&wrapping, 0.0), Ok(251.0));
        assert_eq!(encode(&codec(UInt8, UInt8, "3", "0"), 100.0), Ok(44.0));
        assert_eq!(encode(&codec(Int16, Int8, "1", "0"), 300.0), Ok(44.0));
        for (scale, offset) in [("1", "1000"), ("1", "-1"), ("256", "0")] {
            let refused = codec(UInt8, UInt8, scale, offset);
            assert_eq!(encode(&refused, 7.0), Err(FaultKind::Overflow));
            assert!(decode(&codec(UInt8, UInt8, scale, "0"), 0.0).is_ok());
        }
        // A float parameter goes over to doubles, which round to even in the end.
        let doubles = codec(UInt8, Int16, "1", "5.0");
        assert_eq!(encode(&doubles, 0.0), Ok(-5.0));
        let halves = codec(UInt8, Int16, "0.5", "0");
        for (x, code) in [(1.0, 0.0), (3.0, 2.0), (5.0, 2.0)] {
            assert_eq!(encode(&halves, x), Ok(code));
        }
    }

    #[test]
    fn the_types_of_numcodecs_are_supported() {
        let supported = DataType::ALL.into_iter().filter(|t| is_supported(*t));
        assert_eq!(supported.count(), 11);
        assert!(is_supported(Float16) && is_supported(UInt64));
        assert!(!is_supported(BFloat16) && !is_supported(Int4));
    }

    #[test]
    fn the_fill_is_cast_and_not_transformed() {
        assert_eq!(cast_fill(of(Float32, 10.7), Int16), Ok(of(Int16, 10.0)));
        assert_eq!(cast_fill(of(Float32, 300.0), UInt8), Ok(of(UInt8, 44.0)));
        assert!(cast_fill(Scalar::nan(Float32), UInt8).is_err());
    }
}
