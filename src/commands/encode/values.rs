//! Scalars as flags take them: JSON, or the words for what JSON has no numbers for without quotes.

use std::fmt;
use std::str::FromStr;

use crate::metadata::edit::Draft;
use crate::transform::literal::Literal;

/// A scalar of a type that is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralArg(pub(super) Literal);

/// Why a text is no [`LiteralArg`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a number, NaN, Infinity, -Infinity, or 0x and the hex digits of a bit pattern")]
pub struct NoLiteral;

impl FromStr for LiteralArg {
    type Err = NoLiteral;

    fn from_str(text: &str) -> Result<Self, NoLiteral> {
        let text = text.trim();
        let quoted = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let word = quoted.unwrap_or(text);
        if ["NaN", "Infinity", "-Infinity", "+Infinity"].contains(&word) || is_pattern(word) {
            return Ok(Self(Literal::String(word.to_owned())));
        }
        let number = serde_json::from_str::<serde_json::Number>(text).is_ok() || is_huge(text);
        if quoted.is_none() && number {
            return Ok(Self(Literal::Number(text.to_owned())));
        }
        Err(NoLiteral)
    }
}

impl fmt::Display for LiteralArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Literal::Number(text) | Literal::String(text) | Literal::Other(text) => {
                f.write_str(text)
            }
        }
    }
}

impl LiteralArg {
    /// The scalar as a document has it.
    pub(super) fn draft(&self) -> Draft {
        draft(&self.0)
    }
}

/// A literal as a document has it.
pub(super) fn draft(literal: &Literal) -> Draft {
    match literal {
        Literal::Number(text) => Draft::Number(text.clone()),
        Literal::String(text) | Literal::Other(text) => Draft::string(text),
    }
}

fn is_pattern(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a text is a number that serde_json refuses because no double is as large. Whoever binds it says which type it is
/// too large for.
fn is_huge(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let starts = digits.starts_with(|c: char| c.is_ascii_digit());
    let rest = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    starts && rest && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_need_no_quotes() {
        let number = |text: &str| Ok(LiteralArg(Literal::Number(text.to_owned())));
        let word = |text: &str| Ok(LiteralArg(Literal::String(text.to_owned())));
        for text in ["0", "-1.5", "1e400", "273.15", "18446744073709551616"] {
            assert_eq!(text.parse(), number(text));
        }
        assert_eq!("NaN".parse(), word("NaN"));
        assert_eq!("\"NaN\"".parse(), word("NaN"));
        assert_eq!("-Infinity".parse(), word("-Infinity"));
        assert_eq!("0x7fc00000".parse(), word("0x7fc00000"));
        for text in [
            "", "nan", "1,5", "0x", "0xg", "\"1\"", "true", "1 2", "+1", ".5",
        ] {
            assert_eq!(text.parse::<LiteralArg>(), Err(NoLiteral), "{text}");
        }
    }
}
