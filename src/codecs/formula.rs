//! What packing computes, as a formula: `stored = round((value - 273.15) * 100)`, `value = stored / 100 + 273.15`.

use super::lower::TRANSPOSE;
use super::model::{Model, Step};
use super::words::{number, short};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::DataType;
use crate::transform::legacy::FixedScaleOffset;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;
use crate::transform::scale_offset::ScaleOffset;

/// Both directions of a chain's packing codecs. Maps, and the rounding of each operation to its type, are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// From `value` to the code.
    pub encode: String,
    /// From the code to `value`.
    pub decode: String,
}

/// An expression, and how strongly its parts hold together.
struct Expression {
    text: String,
    binding: Strength,
}

/// From sums, which need parentheses wherever they are used, to names and calls, which never do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Sum,
    Product,
    Whole,
}

impl Model {
    /// The formula of the packing codecs. What they hand on is called `stored`, or `packed` where other codecs change it after
    /// them.
    ///
    /// `None` where nothing is packed, a chain is invalid, or another codec changes values before or between them.
    #[must_use]
    pub fn formula(&self) -> Option<Formula> {
        let (steps, _) = self.array_steps();
        let mut codecs = Vec::new();
        let mut changed = false;
        for step in steps {
            match step {
                Step::Packing(_) if changed => return None,
                Step::Packing(packing) => codecs.extend(packing.binding.chain.as_ref()?.codecs()),
                Step::Other(other) => changed |= other.name != TRANSPOSE,
            }
        }
        if codecs.is_empty() {
            return None;
        }
        let result = if changed { "packed" } else { "stored" };
        let encode = codecs.iter().fold(Expression::name("value"), encoded);
        let decode = codecs.iter().rev().fold(Expression::name(result), decoded);
        Some(Formula {
            encode: format!("{result} = {}", encode.text),
            decode: format!("value = {}", decode.text),
        })
    }
}

impl Expression {
    fn name(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            binding: Strength::Whole,
        }
    }

    fn call(self, function: &str) -> Self {
        Self {
            text: format!("{function}({})", self.text),
            binding: Strength::Whole,
        }
    }

    /// The text for a place that takes nothing weaker.
    fn at_least(self, binding: Strength) -> String {
        if self.binding < binding {
            format!("({})", self.text)
        } else {
            self.text
        }
    }

    fn plus(self, number: &str) -> Self {
        self.sum(number, "+", "-")
    }

    fn minus(self, number: &str) -> Self {
        self.sum(number, "-", "+")
    }

    /// A sum, in which a sign of the number joins the operator.
    fn sum(self, number: &str, operator: &str, opposite: &str) -> Self {
        let (operator, magnitude) = match number.strip_prefix('-') {
            Some(magnitude) => (opposite, magnitude),
            None => (operator, number),
        };
        if magnitude == "0" {
            return self;
        }
        let text = self.at_least(Strength::Sum);
        Self {
            text: format!("{text} {operator} {magnitude}"),
            binding: Strength::Sum,
        }
    }

    fn product(self, operator: &str, number: &str) -> Self {
        if number == "1" {
            return self;
        }
        let text = self.at_least(Strength::Product);
        Self {
            text: format!("{text} {operator} {number}"),
            binding: Strength::Product,
        }
    }
}

fn encoded(value: Expression, codec: &&BoundCodec) -> Expression {
    match codec {
        BoundCodec::ScaleOffset(codec) => {
            let (offset, scale) = parameters(codec);
            value.minus(&offset).product("*", &scale)
        }
        BoundCodec::CastValue(codec) => cast(value, codec, codec.incoming, codec.outgoing),
        BoundCodec::FixedScaleOffset(codec) => {
            let (offset, scale) = legacy_parameters(codec);
            value.minus(&offset).product("*", &scale).call("round")
        }
    }
}

fn decoded(code: Expression, codec: &&BoundCodec) -> Expression {
    match codec {
        BoundCodec::ScaleOffset(codec) => {
            let (offset, scale) = parameters(codec);
            code.product("/", &scale).plus(&offset)
        }
        BoundCodec::CastValue(codec) => cast(code, codec, codec.outgoing, codec.incoming),
        BoundCodec::FixedScaleOffset(codec) => {
            let (offset, scale) = legacy_parameters(codec);
            let value = code.product("/", &scale).plus(&offset);
            if codec.decoded.is_integer() {
                value.call("trunc")
            } else {
                value
            }
        }
    }
}

fn parameters(codec: &ScaleOffset) -> (String, String) {
    let text = |scalar: Option<Scalar>, absent: &str| scalar.map_or(absent.to_owned(), short);
    (text(codec.offset, "0"), text(codec.scale, "1"))
}

fn legacy_parameters(codec: &FixedScaleOffset) -> (String, String) {
    (number(codec.offset), number(codec.scale))
}

/// A cast that may change a value says so; one to a type that holds all values of the other does not.
fn cast(value: Expression, codec: &CastValue, from: DataType, to: DataType) -> Expression {
    let value = match (from.is_integer(), to.is_integer()) {
        (false, true) => value.call(match codec.rounding {
            Rounding::NearestEven => "round",
            Rounding::NearestAway => "round_half_away",
            Rounding::TowardsZero => "trunc",
            Rounding::TowardsPositive => "ceil",
            Rounding::TowardsNegative => "floor",
        }),
        (false, false) if from.bits() > to.bits() => value.call(to.name()),
        _ => value,
    };
    let (low, high) = Scalar::finite_range(to);
    let within = Scalar::finite_range(from);
    let fits = within.0.compare(low).is_some_and(|order| order.is_ge())
        && within.1.compare(high).is_some_and(|order| order.is_le());
    match codec.out_of_range {
        Some(_) if fits || to.is_float() => value,
        Some(OutOfRange::Clamp) => {
            let limits = format!("{}, {low}, {high}", value.text);
            Expression::name(&limits).call("clamp")
        }
        Some(OutOfRange::Wrap) => {
            let target = format!("{}, {to}", value.text);
            Expression::name(&target).call("wrap")
        }
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::examples::{model, pair};

    fn formula(data_type: &str, codecs: &str) -> String {
        match model(data_type, "0", &format!("[{codecs},\"bytes\"]")).formula() {
            Some(formula) => format!("{}; {}", formula.encode, formula.decode),
            None => "none".to_owned(),
        }
    }

    fn of_pair(data_type: &str, scale_offset: &str, cast_value: &str) -> String {
        formula(data_type, &pair(scale_offset, cast_value))
    }

    #[test]
    fn the_pair() {
        assert_eq!(
            of_pair(
                "float32",
                r#""offset":273.15,"scale":100"#,
                r#""data_type":"int16""#
            ),
            "stored = round((value - 273.15) * 100); value = stored / 100 + 273.15"
        );
        assert_eq!(
            of_pair("uint16", r#""offset":1000"#, r#""data_type":"uint8""#),
            "stored = value - 1000; value = stored + 1000"
        );
    }

    #[test]
    fn parameters_that_do_nothing_are_left_out_and_signs_join_operators() {
        assert_eq!(
            of_pair(
                "float64",
                r#""offset":-10,"scale":-0.5"#,
                r#""data_type":"float32""#
            ),
            "stored = float32((value + 10) * -0.5); value = stored / -0.5 - 10"
        );
        assert_eq!(
            of_pair(
                "float64",
                r#""offset":0,"scale":1"#,
                r#""data_type":"uint8","rounding":"towards-zero""#
            ),
            "stored = trunc(value); value = stored"
        );
    }

    #[test]
    fn what_happens_out_of_range_is_said_where_it_can_happen() {
        assert_eq!(
            of_pair(
                "float64",
                "",
                r#""data_type":"uint8","out_of_range":"clamp""#
            ),
            "stored = clamp(round(value), 0, 255); value = stored"
        );
        assert_eq!(
            of_pair("int16", "", r#""data_type":"uint8","out_of_range":"wrap""#),
            "stored = wrap(value, uint8); value = stored"
        );
        assert_eq!(
            of_pair("uint8", "", r#""data_type":"uint16","out_of_range":"wrap""#),
            "stored = value; value = wrap(stored, uint8)"
        );
    }

    #[test]
    fn sums_within_sums_keep_their_parentheses() {
        let twice = r#"{"name":"scale_offset","configuration":{"offset":1,"scale":2}}"#;
        assert_eq!(
            formula("float64", &format!("{twice},{twice}")),
            "stored = ((value - 1) * 2 - 1) * 2; value = (stored / 2 + 1) / 2 + 1"
        );
    }

    #[test]
    fn the_legacy_codec_rounds_and_truncates() {
        let legacy = r#"{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0.5,"scale":10,"astype":"|u1"}}"#;
        assert_eq!(
            formula("int16", legacy),
            "stored = round((value - 0.5) * 10); value = trunc(stored / 10 + 0.5)"
        );
        let delta = r#"{"name":"numcodecs.delta","configuration":{"dtype":"|u1"}}"#;
        assert_eq!(
            formula("float32", &format!("{legacy},{delta}")),
            "packed = round((value - 0.5) * 10); value = packed / 10 + 0.5"
        );
        assert_eq!(formula("uint8", &format!("{delta},{legacy}")), "none");
        assert_eq!(formula("uint8", delta), "none");
    }
}
