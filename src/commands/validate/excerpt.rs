//! The line around a place in a document, cut and made harmless: a document of one line may have sixty million characters.

use std::fmt::Write;
use std::ops::Range;

/// How many characters are shown before the place, of it, and behind it.
const BEFORE: usize = 60;
const WITHIN: usize = 60;
const BEHIND: usize = 60;

/// Bytes of a character at most.
const WIDEST: usize = 4;

/// What stands where a line was cut.
const CUT: &str = "...";

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The text.
    pub(super) text: String,
    /// The bytes of it to point at.
    pub(super) span: Range<usize>,
}

impl Excerpt {
    /// The first line of `span` in a text.
    pub(super) fn new(text: &[u8], span: &Range<usize>) -> Self {
        let start = span.start.min(text.len());
        let end = span.end.clamp(start, text.len());
        let mut shown = String::new();

        let before = &text[start.saturating_sub(BEFORE * WIDEST)..start];
        let line_start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let complete = line_start > 0 || before.len() == start;
        let before = String::from_utf8_lossy(&before[line_start..]);
        let skipped = before.chars().count().saturating_sub(BEFORE);
        if skipped > 0 || !complete {
            shown.push_str(CUT);
        }
        escape(before.chars().skip(skipped), &mut shown);
        let from = shown.len();

        let within = line(&text[start..end.min(start + WITHIN * WIDEST)]);
        let whole = within.len() == end - start;
        let within = String::from_utf8_lossy(within);
        escape(within.chars().take(WITHIN), &mut shown);
        let mut to = shown.len();
        if within.chars().nth(WITHIN).is_some() {
            shown.push_str(CUT);
        } else if whole {
            let behind = line(&text[end..(end + BEHIND * WIDEST).min(text.len())]);
            let behind = String::from_utf8_lossy(behind);
            escape(behind.chars().take(BEHIND), &mut shown);
            if behind.chars().nth(BEHIND).is_some() {
                shown.push_str(CUT);
            }
        }
        if from == to {
            // There is always something to point at, even at the end of the text.
            to = shown[from..]
                .chars()
                .next()
                .map_or(from, |c| from + c.len_utf8());
            if to == from {
                shown.push(' ');
                to += 1;
            }
        }
        Self {
            text: shown,
            span: from..to,
        }
    }
}

/// The bytes up to the end of the line.
fn line(bytes: &[u8]) -> &[u8] {
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(bytes.len());
    let bytes = &bytes[..end];
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// Adds characters, those escaped that would command a terminal or hide.
fn escape(characters: impl Iterator<Item = char>, shown: &mut String) {
    for c in characters {
        match c {
            '\t' => shown.push_str("    "),
            c if is_hidden(c) => {
                // A String never refuses to grow.
                let _ = write!(shown, "{}", c.escape_unicode());
            }
            c => shown.push(c),
        }
    }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text from outside for a message.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    escape(text.chars(), &mut shown);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> (String, String) {
        let excerpt = Excerpt::new(text.as_bytes(), &span);
        let pointed = excerpt.text[excerpt.span.clone()].to_owned();
        (excerpt.text, pointed)
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        let text = "{\n  \"scale\": 0,\n}";
        assert_eq!(
            shown(text, 13..14),
            ("  \"scale\": 0,".to_owned(), "0".to_owned())
        );
    }

    #[test]
    fn of_a_long_line_the_neighbourhood_is_shown() {
        let text = format!("{}0{}", "a".repeat(1_000_000), "é".repeat(1_000_000));
        let (line, pointed) = shown(&text, 1_000_000..1_000_001);
        assert_eq!(pointed, "0");
        assert_eq!(line.chars().count(), 3 + 60 + 1 + 60 + 3);
        let (line, pointed) = shown(&text, 0..text.len());
        assert_eq!((line.len(), pointed.len()), (63, 60));
    }

    #[test]
    fn of_many_lines_the_first_is_shown() {
        assert_eq!(shown("[{\r\n 1}]", 1..7), ("[{".to_owned(), "{".to_owned()));
    }

    #[test]
    fn what_would_command_a_terminal_is_escaped() {
        let (line, pointed) = shown("\u{1b}[31m\"\u{202e}x\"\t", 5..11);
        assert_eq!(pointed, "\"\\u{202e}x\"");
        assert_eq!(line, "\\u{1b}[31m\"\\u{202e}x\"    ");
    }

    #[test]
    fn the_end_of_a_text_can_be_pointed_at() {
        assert_eq!(shown("{", 1..1), ("{ ".to_owned(), " ".to_owned()));
        assert_eq!(shown("", 0..0), (" ".to_owned(), " ".to_owned()));
        let (_, pointed) = shown("ab\u{fffd}", 9..20);
        assert_eq!(pointed, " ");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let excerpt = Excerpt::new(b"{\"\xff\xfe\"}", &(2..3));
        assert_eq!(&excerpt.text[excerpt.span], "\u{fffd}");
    }
}
