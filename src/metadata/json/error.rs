//! The syntax error, and the words for what the scanner and the grammar refuse.

use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::tokens::Token;

use super::{LineIndex, Position};

/// Why a text is not JSON, or is more JSON than the limits allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} at line {line} column {column}")]
pub struct SyntaxError {
    /// Whether it is no JSON, or more of it than is read.
    pub kind: SyntaxErrorKind,
    /// What is wrong, as part of a sentence.
    pub message: String,
    /// Where, in bytes from the start.
    pub offset: usize,
    /// The line of `offset`, from 1.
    pub line: usize,
    /// The column of `offset` in characters, from 1.
    pub column: usize,
}

/// The sorts of [`SyntaxError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyntaxErrorKind {
    /// The text is not JSON.
    NotJson,
    /// It has more bytes or values than [`Limits`](super::Limits) allow.
    TooLarge,
    /// It is nested deeper than they allow.
    TooDeep,
}

/// A [`SyntaxError`] whose line has not been looked up.
pub(super) struct Fault {
    pub(super) kind: SyntaxErrorKind,
    pub(super) message: String,
    pub(super) offset: usize,
}

impl Fault {
    /// Looks up the line in the text that was read.
    pub(super) fn locate(self, text: &[u8]) -> SyntaxError {
        let before = &text[..self.offset.min(text.len())];
        let Position { line, column } = LineIndex::new(before).position(self.offset);
        SyntaxError {
            kind: self.kind,
            message: self.message,
            offset: self.offset,
            line,
            column,
        }
    }
}

pub(super) fn fault<T>(message: impl Into<String>, offset: usize) -> Result<T, Fault> {
    limit(SyntaxErrorKind::NotJson, message, offset)
}

pub(super) fn limit<T>(
    kind: SyntaxErrorKind,
    message: impl Into<String>,
    offset: usize,
) -> Result<T, Fault> {
    Err(Fault {
        kind,
        message: message.into(),
        offset,
    })
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    Root,
    FirstElement,
    Element,
    FirstName,
    Name,
    Colon,
    MemberValue,
    ArrayComma,
    ObjectComma,
    End,
}

impl Expect {
    fn words(self) -> &'static str {
        match self {
            Expect::Root | Expect::Element | Expect::MemberValue => "a value",
            Expect::FirstElement => "a value or \"]\"",
            Expect::FirstName => "a member name or \"}\"",
            Expect::Name => "a member name",
            Expect::Colon => "\":\" after the member name",
            Expect::ArrayComma => "\",\" or \"]\"",
            Expect::ObjectComma => "\",\" or \"}\"",
            Expect::End => "the end of the document, which is one value",
        }
    }
}

/// What is wrong with a token that has no place here.
pub(super) fn complain(expect: Expect, token: &Token<'_>) -> String {
    match (token, expect) {
        (Token::CommentLine(_) | Token::CommentBlock(_), _) => "JSON has no comments".to_owned(),
        (Token::CloseBracket, Expect::Element) => "an array must not end with a comma".to_owned(),
        (Token::CloseBrace, Expect::Name) => "an object must not end with a comma".to_owned(),
        (Token::Number(word) | Token::Word(word), Expect::FirstName | Expect::Name) => {
            format!(
                "a member name must stand in double quotes, found {}",
                shown(word)
            )
        }
        (Token::Number(word @ ("NaN" | "Infinity" | "-Infinity")), _) => {
            format!("{word} is not a JSON number; the string \"{word}\" is the way to write it")
        }
        (Token::Number(word @ "-NaN") | Token::Word(word), _) => {
            format!("{} is not a JSON value", shown(word))
        }
        (token, _) => format!("expected {}, found {}", expect.words(), found(token)),
    }
}

/// The scanner's complaint in our words; `rest` is the text from the place it complains about.
pub(super) fn explain(kind: &ParseErrorKind, rest: &str) -> String {
    use jsonc_parser::ParseStringErrorKind as InString;
    let message = match kind {
        ParseErrorKind::SingleQuotedStringsNotAllowed => "JSON strings stand in double quotes",
        ParseErrorKind::HexadecimalNumbersNotAllowed => "JSON has no hexadecimal numbers",
        ParseErrorKind::UnaryPlusNumbersNotAllowed => {
            "a JSON number must not start with a plus sign"
        }
        ParseErrorKind::BareDecimalPointNumbersNotAllowed => {
            "a JSON number needs a digit on both sides of its decimal point"
        }
        ParseErrorKind::ExpectedDigit
        | ParseErrorKind::ExpectedDigitFollowingNegativeSign
        | ParseErrorKind::ExpectedPlusMinusOrDigitInNumberLiteral => "expected a digit of a number",
        ParseErrorKind::UnterminatedCommentBlock => "JSON has no comments",
        ParseErrorKind::String(InString::UnterminatedStringLiteral) => {
            "the string that starts here does not end"
        }
        ParseErrorKind::String(InString::ExpectedFourHexDigits) => {
            "\\u needs four hexadecimal digits"
        }
        ParseErrorKind::String(InString::InvalidUnicodeEscapeSequence(_)) => {
            "the \\u escape is half of a surrogate pair"
        }
        ParseErrorKind::String(_) => "JSON has no such escape",
        _ => return stray(rest),
    };
    message.to_owned()
}

fn found(token: &Token<'_>) -> String {
    match token {
        Token::String(_) => "a string".to_owned(),
        Token::Number(number) => format!("the number {}", shown(number)),
        token => format!("\"{}\"", token.as_str()),
    }
}

/// The beginning of a word that may be long.
fn shown(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

/// What cannot stand at the beginning of `text`: a bare word or a single character.
fn stray(text: &str) -> String {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'))
        .unwrap_or(text.len());
    match (&text[..end], text.chars().next()) {
        ("", None) => "expected more before the end of the document".to_owned(),
        ("", Some(c)) if c.is_control() => format!("{} cannot stand here", code_point(c)),
        ("", Some(c)) => format!("\"{c}\" cannot stand here"),
        (word, _) => format!("{} is not a JSON value", shown(word)),
    }
}

pub(super) fn code_point(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}
