//! Scalars as text: printing and parsing, and the rounding of decimals.

use proptest::prelude::*;
use zarrpack::transform::cast_value::cast;
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::literal::Literal;
use zarrpack::transform::rounding::Rounding;
use zarrpack::transform::scalar::Scalar;

use crate::check;
use crate::fractions::{Fraction, Rounded, last_code, round};
use crate::inputs::{self, Dice};

/// Reads JSON text of a number or a string without escapes.
fn parse(text: &str, t: DataType) -> Option<Scalar> {
    let literal = match text.strip_prefix('"') {
        Some(rest) => Literal::String(rest.trim_end_matches('"').to_owned()),
        None => Literal::Number(text.to_owned()),
    };
    Scalar::parse(&literal, t).ok()
}

/// What a reader gets that parses every number as a double, and narrows that.
fn by_way_of_a_double(text: &str, t: DataType) -> Option<Scalar> {
    let double = Scalar::from_bits(DataType::Float64, text.parse::<f64>().ok()?.to_bits());
    cast(double, t, Rounding::NearestEven, None).ok()
}

#[test]
fn printing_and_parsing_gives_the_same_bits() {
    for t in DataType::ALL {
        check(3000, &any::<u64>(), |seed| {
            let x = inputs::scalar(t, &mut Dice::new(seed));
            let text = x.to_json();
            prop_assert_eq!(parse(&text, t), Some(x), "{}", text);
            let bits = x.to_bits_json();
            prop_assert_eq!(parse(&bits, t), Some(x), "{}", bits);
            let map = x.to_map_json();
            prop_assert!(!map.contains("0x"));
            prop_assert!(parse(&map, t).is_some_and(|back| back.equals(x)), "{}", map);
            if t.is_float() && x.is_finite() {
                prop_assert_eq!(by_way_of_a_double(&text, t), Some(x), "{}", text);
            }
            Ok(())
        });
    }
}

/// The digits of a number, without leading and trailing zeros.
fn digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

#[test]
fn printed_decimals_are_no_longer_than_need_be() {
    check(20_000, &any::<u64>(), |bits| {
        let double = f64::from_bits(bits);
        let x = Scalar::from_bits(DataType::Float64, bits);
        if double.is_finite() {
            let shortest = format!("{double:e}");
            prop_assert!(
                digits(&x.to_json()) <= digits(&shortest),
                "{} {}",
                x,
                shortest
            );
        }
        let single = f32::from_bits(bits as u32);
        let x = Scalar::from_bits(DataType::Float32, bits & 0xffff_ffff);
        let shortest = format!("{single:e}");
        // The shortest decimal of a float32 is a few times in a billion another one to who reads a double first.
        if single.is_finite() && by_way_of_a_double(&shortest, DataType::Float32) == Some(x) {
            prop_assert!(
                digits(&x.to_json()) <= digits(&shortest),
                "{} {}",
                x,
                shortest
            );
        }
        Ok(())
    });
}

/// No decimal with fewer digits reads back, for the types that are small enough to try.
#[test]
fn decimals_of_narrow_floats_have_no_digit_to_spare() {
    for t in DataType::ALL
        .into_iter()
        .filter(|t| t.is_float() && t.bits() <= 16)
    {
        let step = if t.bits() > 8 { 97 } else { 1 };
        for code in (1..=last_code(t)).step_by(step) {
            let x = Scalar::from_bits(t, code);
            let length = digits(&x.to_json());
            for fewer in 1..length {
                let nearest = format!("{:.*e}", fewer - 1, x.to_f64());
                let reads =
                    parse(&nearest, t) == Some(x) && by_way_of_a_double(&nearest, t) == Some(x);
                assert!(!reads, "{nearest} would do for {t} {x}");
            }
        }
    }
}

fn rounds_to_nearest_even(text: &str, t: DataType) -> Result<(), TestCaseError> {
    let exact = Fraction::of_decimal(text);
    let negative = text.starts_with('-');
    let want = match round(&exact, negative, t, Rounding::NearestEven) {
        Rounded::Fits(x) => Some(x),
        _ => None,
    };
    prop_assert_eq!(parse(text, t), want, "{} as {}", text, t);
    Ok(())
}

/// Puts the same number another way: the point elsewhere, the exponent written otherwise.
fn respell(mantissa: &str, exponent: i32, dice: &mut Dice) -> String {
    let (sign, digits) = mantissa
        .strip_prefix('-')
        .map_or(("", mantissa), |digits| ("-", digits));
    let point = dice.below(digits.len() as u64) as usize;
    let (whole, fraction) = digits.split_at(point);
    let exponent = exponent + fraction.len() as i32;
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    let e = dice.pick(&["e", "E"]);
    let plus = if exponent >= 0 {
        dice.pick(&["", "+", "+0"])
    } else {
        ""
    };
    let zeros = dice.pick(&["", "0", "000000000000000000000000"]);
    format!("{sign}{whole}.{fraction}{zeros}{e}{plus}{exponent}")
}

#[test]
fn decimals_round_to_nearest_even() {
    let strategy = ("-?[1-9][0-9]{0,40}", any::<u64>());
    for t in DataType::ALL.into_iter().filter(|t| t.is_float()) {
        check(250, &strategy, |(mantissa, seed)| {
            let dice = &mut Dice::new(seed);
            let (least, largest) = (
                Scalar::from_bits(t, 1).to_f64(),
                Scalar::finite_range(t).1.to_f64(),
            );
            let (low, high) = (least.log10() as i32 - 3, largest.log10() as i32 + 2);
            let size = low + dice.below((high - low) as u64) as i32;
            let exponent = size - mantissa.len() as i32;
            rounds_to_nearest_even(&respell(&mantissa, exponent, dice), t)
        });
    }
}

/// Exact midpoints between neighbours, and numbers a hair to either side of them.
#[test]
fn midpoints_round_to_even_and_hairs_to_their_side() {
    for t in DataType::ALL.into_iter().filter(|t| t.is_float()) {
        check(160, &any::<u64>(), |seed| {
            let dice = &mut Dice::new(seed);
            let range = dice.pick(&[last_code(t), last_code(t), 4]);
            let code = dice.below(range);
            let of = |code| Fraction::of(Scalar::from_bits(t, code));
            let middle = &(&of(code) + &of(code + 1)) / &Fraction::whole(2);
            let middle = middle.decimal();
            let (mantissa, exponent) = middle.split_once('e').unwrap();
            let exponent: i32 = exponent.parse().unwrap();
            rounds_to_nearest_even(&respell(mantissa, exponent, dice), t)?;
            let zeros = dice.below(30) as usize;
            let hair = format!("{mantissa}{}1", "0".repeat(zeros));
            let above = respell(&hair, exponent - zeros as i32 - 1, dice);
            rounds_to_nearest_even(&above, t)?;
            let less = mantissa.parse::<num_bigint::BigUint>().unwrap() - 1_u8;
            let hair = format!("{less}{}", "9".repeat(zeros + 1));
            let below = respell(&hair, exponent - zeros as i32 - 1, dice);
            rounds_to_nearest_even(&below, t)?;
            rounds_to_nearest_even(&format!("-{below}"), t)
        });
    }
}
