//! From byte offsets to lines and columns, for messages that people read.

use std::borrow::Cow;

/// How far apart the character counts are remembered: within one stride they are counted anew.
const STRIDE: usize = 1024;

/// A place in a text as people count: from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// The lines of a text, for turning byte offsets into [`Position`]s and for showing the line they
/// fall in.
///
/// Takes bytes and not a string, because a document that is not UTF-8 needs its error located too.
/// Documents are often one line of many megabytes, so the time that a position takes does not
/// depend on the length of its line.
#[derive(Debug, Clone)]
pub struct LineIndex<'t> {
    text: &'t [u8],
    /// One for each multiple of [`STRIDE`] up to the end of the text, so that a text of nothing but line breaks does not take
    /// eight times its length.
    marks: Vec<Mark>,
}

/// What is known at one place.
#[derive(Debug, Clone, Copy)]
struct Mark {
    /// The number of characters before it.
    characters: usize,
    /// The number of line breaks before it.
    breaks: usize,
    /// Where the line starts that it is in.
    line_start: usize,
}

impl<'t> LineIndex<'t> {
    /// Finds the lines of `text`. They end at `\n`.
    pub fn new(text: &'t [u8]) -> Self {
        let mut mark = Mark {
            characters: 0,
            breaks: 0,
            line_start: 0,
        };
        let mut marks = Vec::with_capacity(text.len() / STRIDE + 1);
        marks.push(mark);
        for (n, stride) in text.chunks_exact(STRIDE).enumerate() {
            mark.characters += count_characters(stride);
            mark.breaks += count_breaks(stride);
            if let Some(last) = stride.iter().rposition(|byte| *byte == b'\n') {
                mark.line_start = n * STRIDE + last + 1;
            }
            marks.push(mark);
        }
        LineIndex { text, marks }
    }

    /// The place of the byte at `offset`; an offset beyond the text is taken as its end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let (mark, rest) = self.before(offset);
        let start = match rest.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => offset - rest.len() + last + 1,
            None => mark.line_start,
        };
        Position {
            line: mark.breaks + count_breaks(rest) + 1,
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    /// The text of a line, counted from 1, without its line break; bytes that are not UTF-8 are
    /// replaced.
    pub fn line(&self, line: usize) -> Option<Cow<'t, str>> {
        let breaks = line.checked_sub(1)?;
        let start = self.line_start(breaks)?;
        let rest = self.text.get(start..)?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let bytes = &rest[..end.unwrap_or(rest.len())];
        Some(String::from_utf8_lossy(
            bytes.strip_suffix(b"\r").unwrap_or(bytes),
        ))
    }

    /// Where the line starts that has so many line breaks before it.
    fn line_start(&self, breaks: usize) -> Option<usize> {
        if breaks == 0 {
            return Some(0);
        }
        // The last of the line breaks before it stands behind the last mark that has fewer before it.
        let mark = self.marks.partition_point(|mark| mark.breaks < breaks) - 1;
        let from = mark * STRIDE;
        let missing = breaks - self.marks.get(mark)?.breaks;
        let mut found = self
            .text
            .get(from..)?
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n');
        found.nth(missing - 1).map(|(at, _)| from + at + 1)
    }

    /// The last mark up to an offset, and the bytes between the two.
    fn before(&self, offset: usize) -> (Mark, &'t [u8]) {
        let stride = (offset / STRIDE).min(self.marks.len() - 1);
        (self.marks[stride], &self.text[stride * STRIDE..offset])
    }

    fn characters_before(&self, offset: usize) -> usize {
        let (mark, rest) = self.before(offset);
        mark.characters + count_characters(rest)
    }
}

fn count_breaks(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The number of bytes that start a character in UTF-8.
/// The number of bytes that start a character in UTF-8.
fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_count_characters() {
        let index = LineIndex::new("aé\r\n日本\n".as_bytes());
        let at = |offset| {
            let Position { line, column } = index.position(offset);
            (line, column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (1, 3));
        assert_eq!(at(5), (2, 1));
        assert_eq!(at(8), (2, 2));
        assert_eq!(at(12), (3, 1));
        assert_eq!(at(usize::MAX), (3, 1));
        assert_eq!(index.line(1).unwrap(), "aé");
        assert_eq!(index.line(2).unwrap(), "日本");
        assert_eq!(index.line(3).unwrap(), "");
        assert_eq!(index.line(0), None);
        assert_eq!(index.line(4), None);
    }

    #[test]
    fn an_empty_text_has_one_line() {
        let index = LineIndex::new(b"");
        assert_eq!(index.position(0), Position { line: 1, column: 1 });
        assert_eq!(index.line(1).unwrap(), "");
    }

    proptest! {
        #[test]
        fn agrees_with_counting(text in "[a\né]{0,40}", repeat in 1usize..200) {
            let text = text.repeat(repeat);
            let index = LineIndex::new(text.as_bytes());
            prop_assert_eq!(index.line(text.matches('\n').count() + 2), None);
            for offset in [0, text.len() / 3, text.len() / 2, STRIDE, 2 * STRIDE, text.len()] {
                let Some(before) = text.get(..offset) else { continue };
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
                prop_assert_eq!(index.position(offset), Position { line, column });
                let shown = index.line(line);
                prop_assert_eq!(shown.as_deref(), text.split('\n').nth(line - 1));
            }
        }
    }
}
