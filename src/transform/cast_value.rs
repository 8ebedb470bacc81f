//! `cast_value`, one element at a time: the exact definition that every kernel is held to.

use super::data_type::{DataType, Layout};
use super::fault::{Fault, FaultKind};
use super::number::{Number, Rounded};
use super::rounding::{OutOfRange, Rounding};
use super::scalar::Scalar;
use super::scalar_map::ScalarMap;

/// Converts an element to `target` by its numerical value, with a single rounding.
///
/// The order is that of the specification: an exact value stays; otherwise it is rounded (with an unbounded exponent for
/// float types), then the range is tested. Signed zeros and NaNs are kept where the target has them; a NaN keeps its sign
/// and the top of its payload, and becomes quiet on the way to another IEEE type. To its own type every value stays as it
/// is, bit for bit.
///
/// # Errors
///
/// A [`Fault`] for NaN or an infinity where the target has none, and for a value out of range without `out_of_range`, or
/// with [`OutOfRange::Wrap`] and a float target.
pub fn cast(
    value: Scalar,
    target: DataType,
    rounding: Rounding,
    out_of_range: Option<OutOfRange>,
) -> Result<Scalar, Fault> {
    if value.data_type() == target {
        return Ok(value);
    }
    let finite = match value.number() {
        Number::Finite(finite) => finite,
        special => return cast_special(value, special, target),
    };
    match (finite.round_to(target, rounding), out_of_range) {
        (Rounded::Fits(bits), _) => Ok(Scalar::from_bits(target, bits)),
        (Rounded::Beyond { side, .. }, Some(OutOfRange::Clamp)) => {
            Ok(Scalar::end(target, side, true))
        }
        (Rounded::Beyond { wrapped, .. }, Some(OutOfRange::Wrap)) if target.is_integer() => {
            Ok(Scalar::from_bits(target, wrapped))
        }
        _ => Err(Fault::new(FaultKind::OutOfRange, value, target)),
    }
}

/// Converts NaN or an infinity.
fn cast_special(value: Scalar, number: Number, target: DataType) -> Result<Scalar, Fault> {
    let bits = match (number, target.layout()) {
        (Number::Nan { negative, payload }, Layout::Float(format)) if format.has_nan() => {
            let canonical = format.canonical_nan();
            if format.has_infinity() {
                // IEEE formats: what the hardware's conversion does, quieting included.
                let sign = if negative { format.sign_bit() } else { 0 };
                sign | canonical | payload >> (64 - format.mantissa_bits)
            } else {
                canonical
            }
        }
        (Number::Infinite { negative }, Layout::Float(format)) if format.has_infinity() => {
            let sign = if negative { format.sign_bit() } else { 0 };
            sign | format.infinity()
        }
        (Number::Nan { .. }, _) => return Err(Fault::new(FaultKind::NotANumber, value, target)),
        _ => return Err(Fault::new(FaultKind::Infinite, value, target)),
    };
    Ok(Scalar::from_bits(target, bits))
}

/// A `cast_value` codec bound to its incoming type: maps, rounding and range for both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct CastValue {
    /// The type before encoding.
    pub incoming: DataType,
    /// The type after encoding.
    pub outgoing: DataType,
    /// How to round, in both directions.
    pub rounding: Rounding,
    /// What to do out of range, in both directions; an error where absent.
    pub out_of_range: Option<OutOfRange>,
    /// Pairs that come before everything else on encoding: incoming to outgoing type.
    pub encode_map: ScalarMap,
    /// Pairs that come before everything else on decoding: outgoing to incoming type.
    pub decode_map: ScalarMap,
}

impl CastValue {
    /// Encodes one element of the incoming type.
    ///
    /// # Errors
    ///
    /// As [`cast`], for a value that the map does not have.
    pub fn encode(&self, value: Scalar) -> Result<Scalar, Fault> {
        self.encode_map.get(value).map_or_else(
            || cast(value, self.outgoing, self.rounding, self.out_of_range),
            Ok,
        )
    }

    /// Decodes one element of the outgoing type.
    ///
    /// # Errors
    ///
    /// As [`cast`], for a value that the map does not have.
    pub fn decode(&self, value: Scalar) -> Result<Scalar, Fault> {
        self.decode_map.get(value).map_or_else(
            || cast(value, self.incoming, self.rounding, self.out_of_range),
            Ok,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataType::*;

    fn f64(x: f64) -> Scalar {
        Scalar::from_bits(Float64, x.to_bits())
    }

    fn nearest(x: Scalar, target: DataType) -> Result<u64, FaultKind> {
        let result = cast(x, target, Rounding::NearestEven, None);
        result.map(Scalar::bits).map_err(|fault| fault.kind)
    }

    #[test]
    fn one_rounding_from_double_to_half() {
        let x = f64(1.0 + 2_f64.powi(-11) + 2_f64.powi(-40));
        assert_eq!(nearest(x, Float16), Ok(0x3c01));
        assert_eq!(nearest(f64(65519.999), Float16), Ok(0x7bff));
        assert_eq!(nearest(f64(65520.0), Float16), Err(FaultKind::OutOfRange));
    }

    #[test]
    fn the_examples_of_wrap() {
        let wrap = |x, t| {
            let result = cast(f64(x), t, Rounding::NearestEven, Some(OutOfRange::Wrap));
            result.unwrap().integer().unwrap()
        };
        assert_eq!(wrap(128.0, Int8), -128);
        assert_eq!(wrap(32768.0, Int16), -32768);
        assert_eq!(wrap(32769.0, Int16), -32767);
        assert_eq!(wrap(-32769.0, Int16), 32767);
        assert_eq!(wrap(2550.0, UInt8), 246);
        assert_eq!(wrap(1e300, Int64), 0);
        let float = cast(
            f64(1e300),
            Float32,
            Rounding::NearestEven,
            Some(OutOfRange::Wrap),
        );
        assert_eq!(float.unwrap_err().kind, FaultKind::OutOfRange);
    }

    #[test]
    fn clamp_gives_an_infinity_or_the_largest_finite_value() {
        let clamp = |x, t| {
            let result = cast(f64(x), t, Rounding::NearestEven, Some(OutOfRange::Clamp));
            result.map(Scalar::to_f64).map_err(|fault| fault.kind)
        };
        assert_eq!(clamp(-1e300, Float32), Ok(f64::NEG_INFINITY));
        assert_eq!(clamp(1e300, Float8E4M3Fnuz), Ok(240.0));
        assert_eq!(clamp(-1.0, Float8E8M0Fnu), Ok(2_f64.powi(-127)));
        assert_eq!(clamp(300.0, UInt8), Ok(255.0));
        assert_eq!(clamp(f64::INFINITY, UInt8), Err(FaultKind::Infinite));
        assert_eq!(clamp(f64::NAN, UInt8), Err(FaultKind::NotANumber));
        assert_eq!(clamp(f64::INFINITY, Float6E2M3Fn), Err(FaultKind::Infinite));
    }

    #[test]
    fn nan_payloads_go_as_the_hardware_takes_them() {
        for bits in [
            0x7ff8_0000_0000_0000,
            0xfff0_0000_0000_0001,
            0x7ff4_5678_9abc_def0,
        ] {
            let hardware = f64::from_bits(bits) as f32;
            let x = Scalar::from_bits(Float64, bits);
            assert_eq!(nearest(x, Float32), Ok(u64::from(hardware.to_bits())));
            let wide = f64::from(hardware).to_bits();
            let narrow = Scalar::from_bits(Float32, u64::from(hardware.to_bits()));
            assert_eq!(nearest(narrow, Float64), Ok(wide));
        }
        assert_eq!(
            nearest(Scalar::nan(Float8E8M0Fnu), Float32),
            Ok(0x7fc0_0000)
        );
    }

    #[test]
    fn a_cast_to_the_same_type_changes_no_bit() {
        let signalling = [
            (Float32, 0xffa0_0001),
            (Float64, 0x7ff0_0000_0000_0001),
            (Float16, 0x7d00),
            (Float8E5M2, 0x7d),
        ];
        for (t, bits) in signalling {
            let x = Scalar::from_bits(t, bits);
            assert!(x.is_nan());
            assert_eq!(nearest(x, t), Ok(bits), "{t}");
        }
    }

    #[test]
    fn the_first_of_equal_keys_wins() {
        let code = |n| Scalar::from_bits(UInt8, n);
        let codec = CastValue {
            incoming: Float64,
            outgoing: UInt8,
            rounding: Rounding::NearestEven,
            out_of_range: None,
            encode_map: ScalarMap::new(vec![
                (Scalar::nan(Float64), code(7)),
                (Scalar::from_bits(Float64, 0xfff8_0000_0000_0001), code(8)),
                (f64(-0.0), code(9)),
            ]),
            decode_map: ScalarMap::new(vec![(code(9), f64(-1.0))]),
        };
        assert_eq!(codec.encode(f64(-f64::NAN)), Ok(code(7)));
        assert_eq!(codec.encode(f64(0.0)), Ok(code(9)));
        assert_eq!(codec.encode(f64(1.0)), Ok(code(1)));
        assert_eq!(codec.decode(code(9)), Ok(f64(-1.0)));
        assert_eq!(codec.decode(code(7)), Ok(f64(7.0)));
    }
}
