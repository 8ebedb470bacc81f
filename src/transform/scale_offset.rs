//! `scale_offset`, one element at a time: the exact definition that every kernel is held to.

use super::cast_value::cast;
use super::data_type::DataType;
use super::fault::{Fault, FaultKind};
use super::rounding::Rounding;
use super::scalar::Scalar;

/// A `scale_offset` codec bound to its type: `(x - offset) * scale`, and back `x / scale + offset`.
///
/// The scalars are of `data_type`, finite, the scale is not zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaleOffset {
    /// The type before and after encoding.
    pub data_type: DataType,
    /// What encoding subtracts; acts as 0 where absent.
    pub offset: Option<Scalar>,
    /// What encoding multiplies with; acts as 1 where absent.
    pub scale: Option<Scalar>,
}

/// The four operations of the codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Subtract,
    Multiply,
    Divide,
    Add,
}

impl Operation {
    const fn sign(self) -> char {
        match self {
            Self::Subtract => '-',
            Self::Multiply => '*',
            Self::Divide => '/',
            Self::Add => '+',
        }
    }
}

impl ScaleOffset {
    /// Encodes one element.
    ///
    /// # Errors
    ///
    /// A [`Fault`] where a step gives a value that the type does not have, or an infinity from a finite one.
    pub fn encode(&self, value: Scalar) -> Result<Scalar, Fault> {
        let shifted = self.step(Operation::Subtract, value, self.offset)?;
        self.step(Operation::Multiply, shifted, self.scale)
    }

    /// Decodes one element.
    ///
    /// # Errors
    ///
    /// As [`ScaleOffset::encode`]; and for an integer that the scale does not divide.
    pub fn decode(&self, value: Scalar) -> Result<Scalar, Fault> {
        let unscaled = self.step(Operation::Divide, value, self.scale)?;
        self.step(Operation::Add, unscaled, self.offset)
    }

    fn step(
        &self,
        operation: Operation,
        value: Scalar,
        parameter: Option<Scalar>,
    ) -> Result<Scalar, Fault> {
        if let (Some(x), Some(parameter)) = (value.integer(), parameter) {
            let result = self.integer_step(operation, value, x, parameter.integer());
            return result.map_err(|fault| fault.in_operation(operation.sign(), parameter));
        }
        let parameter = match (parameter, operation) {
            (Some(parameter), _) => parameter,
            // Nothing changes an integer, and adding 0.0 changes no float but -0.0, which decoding makes +0.0.
            (None, Operation::Add) if self.has_zero_float() => Scalar::from_bits(self.data_type, 0),
            (None, _) => return Ok(value),
        };
        let result = self.float_step(operation, value, parameter);
        result.map_err(|fault| fault.in_operation(operation.sign(), parameter))
    }

    fn has_zero_float(&self) -> bool {
        self.data_type.is_float() && self.data_type != DataType::Float8E8M0Fnu
    }

    fn integer_step(
        &self,
        operation: Operation,
        value: Scalar,
        x: i128,
        parameter: Option<i128>,
    ) -> Result<Scalar, Fault> {
        let fault = |kind| Fault::new(kind, value, self.data_type);
        // Bound scalars of an integer type are integers, the scale is not 0. The product of two numbers of 64 bits may
        // leave 128 signed ones, and is then out of every range.
        let parameter = parameter.ok_or_else(|| fault(FaultKind::Overflow))?;
        let result = match operation {
            Operation::Subtract => x.checked_sub(parameter),
            Operation::Multiply => x.checked_mul(parameter),
            Operation::Divide if parameter == 0 || x % parameter != 0 => {
                return Err(fault(FaultKind::Remainder));
            }
            Operation::Divide => x.checked_div(parameter),
            Operation::Add => x.checked_add(parameter),
        };
        let result = result.and_then(|result| Scalar::from_integer(self.data_type, result));
        result.ok_or_else(|| fault(FaultKind::Overflow))
    }

    /// One operation, rounded to the type to nearest even.
    fn float_step(
        &self,
        operation: Operation,
        value: Scalar,
        parameter: Scalar,
    ) -> Result<Scalar, Fault> {
        let fault = || Fault::new(FaultKind::Overflow, value, self.data_type);
        let result = match self.data_type {
            DataType::Float32 => {
                // The bits of a float32 are 32.
                #[expect(clippy::cast_possible_truncation)]
                let of = |s: Scalar| f32::from_bits(s.bits() as u32);
                let (x, p) = (of(value), of(parameter));
                let result = match operation {
                    Operation::Subtract => x - p,
                    Operation::Multiply => x * p,
                    Operation::Divide => x / p,
                    Operation::Add => x + p,
                };
                Scalar::from_bits(self.data_type, u64::from(result.to_bits()))
            }
            _ => {
                // Types of up to 16 bits compute in doubles: 53 bits of precision are more than twice theirs and two,
                // so rounding again to the type is as good as rounding once (Figueroa, "When is double rounding
                // innocuous?", 1995), and no exponent of theirs comes near the ends of the double's range.
                let (x, p) = (value.to_f64(), parameter.to_f64());
                let result = match operation {
                    Operation::Subtract => x - p,
                    Operation::Multiply => x * p,
                    Operation::Divide => x / p,
                    Operation::Add => x + p,
                };
                let double = Scalar::from_bits(DataType::Float64, result.to_bits());
                cast(double, self.data_type, Rounding::NearestEven, None).map_err(|_| fault())?
            }
        };
        if result.is_finite() || !value.is_finite() {
            Ok(result)
        } else {
            Err(fault())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataType::*;

    fn codec(data_type: DataType, offset: Option<f64>, scale: Option<f64>) -> ScaleOffset {
        let scalar = |x: f64| {
            let x = Scalar::from_bits(Float64, x.to_bits());
            cast(x, data_type, Rounding::NearestEven, None).unwrap()
        };
        ScaleOffset {
            data_type,
            offset: offset.map(scalar),
            scale: scale.map(scalar),
        }
    }

    fn of(data_type: DataType, x: f64) -> Scalar {
        let x = Scalar::from_bits(Float64, x.to_bits());
        cast(x, data_type, Rounding::NearestEven, None).unwrap()
    }

    #[test]
    fn the_third_example_of_the_specification() {
        let codec = codec(Float64, Some(-10.0), Some(0.1));
        assert_eq!(codec.encode(of(Float64, 0.0)), Ok(of(Float64, 1.0)));
        assert_eq!(codec.encode(of(Float64, 2540.0)), Ok(of(Float64, 255.0)));
        assert_eq!(codec.decode(of(Float64, 255.0)), Ok(of(Float64, 2540.0)));
    }

    #[test]
    fn decoding_makes_negative_zero_positive_even_without_parameters() {
        for t in [Float64, Float32, Float16, Float4E2M1Fn] {
            let none = codec(t, None, None);
            let zero = of(t, -0.0);
            assert_eq!(none.encode(zero), Ok(zero), "{t}");
            assert_eq!(none.decode(zero), Ok(of(t, 0.0)), "{t}");
        }
        let none = codec(Float8E8M0Fnu, None, None);
        let least = Scalar::from_bits(Float8E8M0Fnu, 0);
        assert_eq!(none.decode(least), Ok(least));
    }

    #[test]
    fn integers_check_every_step() {
        let codec = codec(Int8, Some(-3.0), Some(-1.0));
        // 125 + 3 = 128 is no int8, though -128 would be.
        let fault = codec.encode(of(Int8, 125.0)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Overflow);
        let fault = codec.decode(of(Int8, -128.0)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Overflow);
        let thirds = super::tests::codec(Int32, None, Some(3.0));
        assert_eq!(thirds.decode(of(Int32, -6.0)), Ok(of(Int32, -2.0)));
        let fault = thirds.decode(of(Int32, 1.0)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Remainder);
    }

    #[test]
    fn the_widest_integers_are_exact() {
        let integer = |t, x: i128| Scalar::from_integer(t, x).unwrap();
        let wide = ScaleOffset {
            data_type: Int64,
            offset: Some(integer(Int64, -1)),
            scale: None,
        };
        let most = integer(Int64, i64::MAX.into());
        assert_eq!(wide.encode(most).unwrap_err().kind, FaultKind::Overflow);
        let odd = integer(Int64, (1 << 53) + 1);
        assert_eq!(wide.encode(odd), Ok(integer(Int64, (1 << 53) + 2)));
        let unsigned = ScaleOffset {
            data_type: UInt64,
            offset: None,
            scale: Some(integer(UInt64, 3)),
        };
        let third = integer(UInt64, i128::from(u64::MAX / 3));
        assert_eq!(unsigned.encode(third), Ok(integer(UInt64, u64::MAX.into())));
    }

    #[test]
    fn infinities_pass_and_overflow_fails() {
        let codec = codec(Float32, None, Some(1e30));
        let infinity = of(Float32, f64::NEG_INFINITY);
        assert_eq!(codec.encode(infinity), Ok(infinity));
        assert!(codec.encode(of(Float32, f64::NAN)).unwrap().is_nan());
        let fault = codec.encode(of(Float32, 1e30)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Overflow);
        // 8 bits without infinities: 240 is the last value.
        let fnuz = super::tests::codec(Float8E4M3Fnuz, None, Some(2.0));
        let fault = fnuz.encode(of(Float8E4M3Fnuz, 240.0)).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Overflow);
    }
}
