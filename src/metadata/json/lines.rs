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
    /// The offset at which each line starts.
    starts: Vec<usize>,
    /// The number of characters before each multiple of [`STRIDE`].
    counts: Vec<usize>,
}

impl<'t> LineIndex<'t> {
    /// Finds the lines of `text`. They end at `\n`.
    pub fn new(text: &'t [u8]) -> Self {
        let ends = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(offset, _)| offset + 1);
        let mut total = 0;
        let counts = text
            .chunks(STRIDE)
            .map(|chunk| {
                let before = total;
                total += count_characters(chunk);
                before
            })
            .collect();
        LineIndex {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
            counts,
        }
    }

    /// The place of the byte at `offset`; an offset beyond the text is taken as its end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        // The first line starts at 0, so at least one line starts at or before any offset.
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        Position {
            line,
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    /// The text of a line, counted from 1, without its line break; bytes that are not UTF-8 are
    /// replaced.
    pub fn line(&self, line: usize) -> Option<Cow<'t, str>> {
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let end = self.starts.get(line).map_or(self.text.len(), |end| end - 1);
        let bytes = self.text.get(start..end)?;
        Some(String::from_utf8_lossy(
            bytes.strip_suffix(b"\r").unwrap_or(bytes),
        ))
    }

    fn characters_before(&self, offset: usize) -> usize {
        let stride = offset / STRIDE;
        match self.counts.get(stride) {
            Some(before) => before + count_characters(&self.text[stride * STRIDE..offset]),
            // The end of a text whose length is a multiple of the stride, the empty text included.
            None => self.counts.last().map_or(0, |before| {
                before + count_characters(&self.text[(stride - 1) * STRIDE..offset])
            }),
        }
    }
}

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
            for offset in [0, text.len() / 3, text.len() / 2, STRIDE, 2 * STRIDE, text.len()] {
                let Some(before) = text.get(..offset) else { continue };
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
                prop_assert_eq!(index.position(offset), Position { line, column });
            }
        }
    }
}
