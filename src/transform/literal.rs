//! Scalars as text: the fill-value encoding of Zarr v3, read and written.

use std::cmp::Ordering;
use std::fmt;

use super::cast_value::cast;
use super::data_type::{DataType, Layout};
use super::number::Number;
use super::rounding::Rounding;
use super::scalar::Scalar;

/// One value of a document, as a place for a scalar holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Literal {
    /// A number: its text, as it stands.
    Number(String),
    /// A string: its content, unescaped.
    String(String),
    /// Anything else (a boolean, null, a list, an object): its text, for messages.
    Other(String),
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) | Self::Other(text) => f.write_str(text),
            Self::String(text) => write!(f, "{text:?}"),
        }
    }
}

/// Why a literal is no scalar of a type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiteralError {
    /// Neither a number nor a string.
    #[error("{0} is no scalar")]
    NotAScalar(String),
    /// A string that is not one of the spellings the type has.
    #[error("the string {found:?} is no {data_type} scalar")]
    UnknownString {
        /// The string.
        found: String,
        /// The type asked for.
        data_type: DataType,
    },
    /// A hexadecimal string of the wrong width, or with bits set that the type does not have.
    #[error("the bit pattern {found:?} does not have the width of {data_type} ({expected})")]
    Width {
        /// The string.
        found: String,
        /// The type asked for.
        data_type: DataType,
        /// The digits that it takes.
        expected: String,
    },
    /// A number with a fraction or an exponent, for an integer type.
    #[error("{found} is not written as an integer, as {data_type} needs")]
    NotAnInteger {
        /// The text.
        found: String,
        /// The type asked for.
        data_type: DataType,
    },
    /// A number outside the range of the type.
    #[error("{found} is out of the range of {data_type} ({low} to {high})")]
    OutOfRange {
        /// The text.
        found: String,
        /// The type asked for.
        data_type: DataType,
        /// The smallest finite value.
        low: Scalar,
        /// The largest finite value.
        high: Scalar,
    },
    /// Text that is no JSON number.
    #[error("{0} is no JSON number")]
    NotANumber(String),
}

impl DataType {
    /// The forms of a scalar of this type in documents, in words.
    #[must_use]
    pub fn literal_forms(self) -> String {
        match self.layout() {
            Layout::Int { .. } => {
                let (low, high) = Scalar::finite_range(self);
                format!("an integer from {low} to {high}")
            }
            Layout::Float(_) => {
                let digits = self.size() * 2;
                let nan = if self.has_nan() { ", \"NaN\"" } else { "" };
                let infinity = if self.has_infinity() {
                    ", \"Infinity\", \"-Infinity\""
                } else {
                    ""
                };
                format!("a number{nan}{infinity} or a string of \"0x\" and {digits} hex digits")
            }
        }
    }
}

impl Scalar {
    /// Reads a scalar in the fill-value encoding of `data_type`.
    ///
    /// A number for a float type is rounded once, to nearest even, from its decimal text. Integers take no fraction and
    /// no exponent. `"+Infinity"` is taken for `"Infinity"`.
    ///
    /// # Errors
    ///
    /// A [`LiteralError`] where the literal is none of the forms of the type, or out of its range.
    pub fn parse(literal: &Literal, data_type: DataType) -> Result<Self, LiteralError> {
        match literal {
            Literal::Number(text) if !is_json_number(text) => {
                Err(LiteralError::NotANumber(shorten(text)))
            }
            Literal::Number(text) if data_type.is_integer() => parse_integer(text, data_type),
            Literal::Number(text) => parse_decimal(text, data_type),
            Literal::String(text) => parse_string(text, data_type),
            Literal::Other(text) => Err(LiteralError::NotAScalar(shorten(text))),
        }
    }

    /// The JSON text of the scalar in fill-value encoding.
    ///
    /// A finite float is the shortest decimal that reads back to the same bits both when parsed as its type and when
    /// parsed as a double and then narrowed. A NaN other than the one that `"NaN"` stands for is its bit pattern.
    #[must_use]
    pub fn to_json(self) -> String {
        match self.number() {
            Number::Nan { .. } if self == Self::nan(self.data_type()) => "\"NaN\"".to_owned(),
            Number::Nan { .. } => self.to_bits_json(),
            _ => self.to_number_json(),
        }
    }

    /// The JSON text of the scalar for `scalar_map`: as [`Scalar::to_json`], with every NaN as `"NaN"`, since
    /// zarr-python reads no bit patterns there and any NaN matches any other.
    #[must_use]
    pub fn to_map_json(self) -> String {
        if self.is_nan() {
            "\"NaN\"".to_owned()
        } else {
            self.to_number_json()
        }
    }

    /// The JSON text of the scalar with floats as bit patterns, in whole bytes, unused upper bits 0.
    #[must_use]
    pub fn to_bits_json(self) -> String {
        if self.data_type().is_integer() {
            return self.to_number_json();
        }
        let digits = self.data_type().size() * 2;
        format!("\"0x{:0digits$x}\"", self.bits())
    }

    fn to_number_json(self) -> String {
        match (self.integer(), self.number()) {
            (Some(integer), _) => integer.to_string(),
            (None, Number::Finite(_)) => shortest_decimal(self),
            (None, Number::Nan { .. }) => "\"NaN\"".to_owned(),
            (None, Number::Infinite { negative }) => {
                let sign = if negative { "-" } else { "" };
                format!("\"{sign}Infinity\"")
            }
        }
    }

    /// The NaN that `"NaN"` stands for. Meaningless for a type without NaN.
    pub(crate) fn nan(data_type: DataType) -> Self {
        match data_type.layout() {
            Layout::Float(format) => Self::from_bits(data_type, format.canonical_nan()),
            Layout::Int { .. } => Self::from_bits(data_type, 0),
        }
    }
}

impl fmt::Display for Scalar {
    /// The text of the scalar in fill-value encoding, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_json().trim_matches('"'))
    }
}

/// A text for a message, cut where it is long.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether `text` is a number by the grammar of JSON.
fn is_json_number(text: &str) -> bool {
    let digits = |s: &str| s.len() - s.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.starts_with('0') {
        return false;
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let n = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = &fraction[n..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let n = digits(exponent);
        return n > 0 && n == exponent.len();
    }
    rest.is_empty()
}

fn out_of_range(text: &str, data_type: DataType) -> LiteralError {
    let (low, high) = Scalar::finite_range(data_type);
    LiteralError::OutOfRange {
        found: shorten(text),
        data_type,
        low,
        high,
    }
}

fn parse_integer(text: &str, data_type: DataType) -> Result<Scalar, LiteralError> {
    if text.contains(['.', 'e', 'E']) {
        return Err(LiteralError::NotAnInteger {
            found: shorten(text),
            data_type,
        });
    }
    // What i128 cannot hold, no type can.
    text.parse::<i128>()
        .ok()
        .and_then(|value| Scalar::from_integer(data_type, value))
        .ok_or_else(|| out_of_range(text, data_type))
}

fn parse_string(text: &str, data_type: DataType) -> Result<Scalar, LiteralError> {
    let unknown = || LiteralError::UnknownString {
        found: shorten(text),
        data_type,
    };
    let Layout::Float(format) = data_type.layout() else {
        return Err(unknown());
    };
    let bits = match text {
        "NaN" if format.has_nan() => format.canonical_nan(),
        "Infinity" | "+Infinity" if format.has_infinity() => format.infinity(),
        "-Infinity" if format.has_infinity() => format.sign_bit() | format.infinity(),
        _ => {
            let digits = text.strip_prefix("0x").ok_or_else(unknown)?;
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(unknown());
            }
            let width = data_type.size() * 2;
            let bits = u64::from_str_radix(digits, 16).ok();
            bits.filter(|bits| digits.len() == width && bits >> (data_type.bits() - 1) <= 1)
                .ok_or_else(|| LiteralError::Width {
                    found: shorten(text),
                    data_type,
                    expected: if data_type.bits().is_multiple_of(8) {
                        format!("\"0x\" and {width} hex digits")
                    } else {
                        format!(
                            "\"0x\" and {width} hex digits, at most 0x{:02x}",
                            u64::MAX >> (64 - data_type.bits())
                        )
                    },
                })?
        }
    };
    Ok(Scalar::from_bits(data_type, bits))
}

/// Rounds a decimal to a float type, once.
fn parse_decimal(text: &str, data_type: DataType) -> Result<Scalar, LiteralError> {
    let overflow = || out_of_range(text, data_type);
    // The grammar was checked, so the standard library's correctly rounded parsers take it.
    let bits = match data_type {
        DataType::Float64 => {
            let x = text.parse::<f64>().map_err(|_| overflow())?;
            x.is_finite().then_some(x.to_bits())
        }
        DataType::Float32 => {
            let x = text.parse::<f32>().map_err(|_| overflow())?;
            x.is_finite().then_some(u64::from(x.to_bits()))
        }
        _ => {
            let x = text.parse::<f64>().map_err(|_| overflow())?;
            if x.is_infinite() {
                return Err(overflow());
            }
            let x = Scalar::from_bits(DataType::Float64, round_to_odd(text, x).to_bits());
            let narrowed = cast(x, data_type, Rounding::NearestEven, None);
            narrowed.ok().map(Scalar::bits)
        }
    };
    let bits = bits.ok_or_else(overflow)?;
    Ok(Scalar::from_bits(data_type, bits))
}

/// The double next to the decimal `text` that has an odd last bit, unless `nearest` equals it.
///
/// A second rounding to a type at least two bits narrower then gives what one rounding of the text would
/// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
fn round_to_odd(text: &str, nearest: f64) -> f64 {
    let magnitude = nearest.abs();
    // The exact decimal expansion of a double has at most 767 significant digits.
    let exact = Decimal::read(&format!("{magnitude:.766e}"));
    let odd = magnitude.to_bits() & 1 == 1;
    let rounded = match Decimal::read(text.trim_start_matches('-')).compare(&exact) {
        Ordering::Equal => magnitude,
        _ if odd => magnitude,
        Ordering::Greater => magnitude.next_up(),
        Ordering::Less => magnitude.next_down(),
    };
    rounded.copysign(nearest)
}

/// A decimal as digits and the power of ten behind the decimal point that stands before them: `0.d1d2d3... * 10^e`.
struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let limit = if exponent.starts_with('-') {
            i64::MIN / 2
        } else {
            i64::MAX / 2
        };
        let exponent = exponent.parse::<i64>().unwrap_or(limit);
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|d| **d == b'0').count();
        digits.drain(..leading);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let places = i64::try_from(whole.len()).unwrap_or(i64::MAX / 4)
            - i64::try_from(leading).unwrap_or(i64::MAX / 4);
        let exponent = if digits.is_empty() {
            i64::MIN
        } else {
            exponent.saturating_add(places)
        };
        Self { digits, exponent }
    }

    fn compare(&self, other: &Self) -> Ordering {
        let by_exponent = self.exponent.cmp(&other.exponent);
        by_exponent.then_with(|| self.digits.cmp(&other.digits))
    }
}

/// The shortest decimal that reads back both as the type and through a double.
fn shortest_decimal(x: Scalar) -> String {
    let value = x.to_f64();
    let reads_back = |text: &str| {
        let narrowed = text.parse::<f64>().ok().and_then(|double| {
            let double = Scalar::from_bits(DataType::Float64, double.to_bits());
            cast(double, x.data_type(), Rounding::NearestEven, None).ok()
        });
        narrowed == Some(x) && parse_decimal(text, x.data_type()).as_ref() == Ok(&x)
    };
    let shortest = match x.data_type() {
        DataType::Float64 => return format!("{value:?}"),
        // Exact, so the digits are those of the float32.
        #[expect(clippy::cast_possible_truncation)]
        DataType::Float32 => Some(format!("{:?}", value as f32)),
        _ => None,
    };
    if let Some(text) = shortest.filter(|text| reads_back(text)) {
        return text;
    }
    let found = (0..17).find_map(|digits| {
        candidates(value, digits)
            .into_iter()
            .find(|text| reads_back(text))
    });
    let text = found.unwrap_or_else(|| format!("{value:.16e}"));
    // Through the text of a double: the same digits, in the usual form.
    text.parse::<f64>()
        .map_or(text, |double| format!("{double:?}"))
}

/// The decimals with `digits + 1` significant digits around `value`, nearest first.
fn candidates(value: f64, digits: usize) -> Vec<String> {
    let nearest = format!("{value:.digits$e}");
    let Some((mantissa, exponent)) = nearest.split_once('e') else {
        return vec![nearest];
    };
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let whole = mantissa.replace(['.', '-'], "").parse::<u64>();
    let exponent = exponent.parse::<i64>();
    let mut all = vec![nearest.clone()];
    if let (Ok(whole), Ok(exponent), Ok(digits)) = (whole, exponent, i64::try_from(digits)) {
        for neighbour in [whole + 1, whole.saturating_sub(1)] {
            all.push(format!("{sign}{neighbour}e{}", exponent - digits));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str, t: DataType) -> Result<Scalar, LiteralError> {
        Scalar::parse(&Literal::Number(text.to_owned()), t)
    }

    fn string(text: &str, t: DataType) -> Result<Scalar, LiteralError> {
        Scalar::parse(&Literal::String(text.to_owned()), t)
    }

    fn bits(text: &str, t: DataType) -> u64 {
        number(text, t).unwrap().bits()
    }

    #[test]
    fn decimals_round_once() {
        use DataType::*;
        // 1 + 2^-11 + 2^-40 lies above the tie, which a way through float32 would lose.
        assert_eq!(bits("1.00048828125091", Float16), 0x3c01);
        assert_eq!(bits("1.00048828125", Float16), 0x3c00);
        // A tie, and a hair above and below it, far beyond the digits of a double.
        let tie = "1.00048828125";
        assert_eq!(bits(&format!("{tie}{}1", "0".repeat(900)), Float16), 0x3c01);
        assert_eq!(bits("1.00146484375", Float16), 0x3c02);
        let below = format!("1.00146484374{}", "9".repeat(900));
        assert_eq!(bits(&below, Float16), 0x3c01);
        assert_eq!(bits("-1.0625", Float8E4M3), 0xb8);
        assert_eq!(bits("1e-400", Float8E4M3), 0);
        assert_eq!(bits("65519.99999999999999999999", Float16), 0x7bff);
        assert!(number("65520", Float16).is_err());
        assert!(number("1e400", Float64).is_err());
        assert!(number("3.5e38", Float32).is_err());
        assert_eq!(bits("-0.0", Float32), 0x8000_0000);
        assert_eq!(bits("-0", Float16), 0x8000);
        assert_eq!(bits("3.0", Float8E8M0Fnu), 129);
        assert!(number("0", Float8E8M0Fnu).is_err());
        assert!(number("-1", Float8E8M0Fnu).is_err());
        assert!(number("1e99999999999999999999", Float64).is_err());
        assert!(number("1e99999999999999999999", Float16).is_err());
        assert_eq!(bits("1e-99999999999999999999", Float16), 0);
        assert_eq!(bits("0e99999999999999999999", Float16), 0);
    }

    #[test]
    fn integers_are_exact() {
        use DataType::*;
        assert_eq!(
            number("18446744073709551615", UInt64).unwrap().integer(),
            Some(u64::MAX.into())
        );
        assert_eq!(number("-0", UInt8).unwrap().integer(), Some(0));
        for text in ["5.0", "1e3", "0.5"] {
            let error = number(text, Int32).unwrap_err();
            assert!(matches!(error, LiteralError::NotAnInteger { .. }), "{text}");
        }
        for text in ["256", "-1", "18446744073709551616", &"9".repeat(500)] {
            let error = number(text, UInt8).unwrap_err();
            assert!(matches!(error, LiteralError::OutOfRange { .. }), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_json_number_is_refused() {
        for text in [
            "", "-", "+1", ".5", "1.", "01", "1e", "1e+", "inf", "nan", "0x10", "1 ", "1_0", "--1",
        ] {
            for t in [DataType::Float64, DataType::Int8, DataType::Float16] {
                assert_eq!(
                    number(text, t),
                    Err(LiteralError::NotANumber(text.to_owned()))
                );
            }
        }
        for text in ["0", "-0", "10", "1.5", "1e5", "1E-5", "-0.0e+00"] {
            assert!(number(text, DataType::Float64).is_ok(), "{text}");
        }
    }

    #[test]
    fn strings() {
        use DataType::*;
        assert_eq!(string("0x41200000", Float32).unwrap().to_f64(), 10.0);
        assert_eq!(string("0x0f", Float4E2M1Fn).unwrap().to_f64(), -6.0);
        assert_eq!(string("NaN", Float32).unwrap().bits(), 0x7fc0_0000);
        assert_eq!(string("NaN", BFloat16).unwrap().bits(), 0x7fc0);
        assert_eq!(string("NaN", Float8E5M2Fnuz).unwrap().bits(), 0x80);
        assert_eq!(string("NaN", Float8E8M0Fnu).unwrap().bits(), 0xff);
        assert_eq!(string("+Infinity", Float16).unwrap().bits(), 0x7c00);
        assert_eq!(
            string("-Infinity", Float64).unwrap().to_f64(),
            f64::NEG_INFINITY
        );
        let refused = [
            ("10", Float32),
            ("nan", Float32),
            ("inf", Float32),
            ("0x4120", Float32),
            ("0X41200000", Float32),
            ("0x+1200000", Float32),
            ("0x1f", Float4E2M1Fn),
            ("0x40", Float6E2M3Fn),
            ("NaN", Float6E2M3Fn),
            ("Infinity", Float8E4M3Fnuz),
            ("Infinity", Float8E8M0Fnu),
            ("NaN", Int8),
            ("0x01", Int8),
            ("", Float64),
            ("0x", Float64),
        ];
        for (text, t) in refused {
            assert!(string(text, t).is_err(), "{text} {t}");
        }
        let other = Literal::Other("true".to_owned());
        let error = Scalar::parse(&other, Float32).unwrap_err();
        assert_eq!(error.to_string(), "true is no scalar");
    }

    #[test]
    fn every_narrow_scalar_prints_and_parses_back() {
        for t in DataType::ALL.into_iter().filter(|t| t.bits() <= 16) {
            for code in 0..1_u64 << t.bits() {
                let x = Scalar::from_bits(t, code);
                let text = x.to_json();
                let back = match text.strip_prefix('"') {
                    Some(rest) => string(rest.trim_end_matches('"'), t),
                    None => number(&text, t),
                };
                assert_eq!(back.as_ref(), Ok(&x), "{text} {t}");
                if t.is_float() {
                    let hex = x.to_bits_json();
                    assert_eq!(string(hex.trim_matches('"'), t), Ok(x));
                }
            }
        }
    }

    #[test]
    fn printed_decimals_are_the_shortest() {
        let cases = [
            (DataType::Float16, "0.1"),
            (DataType::Float32, "0.1"),
            (DataType::Float64, "0.1"),
            (DataType::BFloat16, "3.39e38"),
            (DataType::Float32, "16777216.0"),
            (DataType::Float64, "1e300"),
            (DataType::Float16, "65500.0"),
            (DataType::Float32, "-9999.9"),
            (DataType::Float8E5M2, "0.09"),
            (DataType::Float32, "1e-45"),
            (DataType::Float64, "-0.0"),
        ];
        for (t, text) in cases {
            assert_eq!(number(text, t).unwrap().to_json(), text, "{t}");
        }
        // The shortest float32 decimal of these bits is read as another float32 by way of a double.
        let trap = Scalar::from_bits(DataType::Float32, 0x15ae_43fd);
        let through_a_double = |text: &str| text.parse::<f64>().unwrap() as f32;
        assert_eq!(through_a_double(&trap.to_json()).to_bits(), 0x15ae_43fd);
    }
}
