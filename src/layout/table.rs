//! Aligned columns, without borders.

use unicode_width::UnicodeWidthChar;

use super::quantities::width;

/// What stands between columns.
const GAP: &str = "  ";

/// To which side the cells of a column are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Rows of cells, of which each column becomes as wide as its widest cell.
#[derive(Debug)]
pub struct Table<const COLUMNS: usize> {
    align: [Align; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    /// A table without rows.
    #[must_use]
    pub fn new(align: [Align; COLUMNS]) -> Self {
        Self {
            align,
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: [String; COLUMNS]) {
        self.rows.push(row);
    }

    /// The rows as lines, without spaces at the end.
    pub fn lines(&self) -> Vec<String> {
        let widths: [usize; COLUMNS] = std::array::from_fn(|column| {
            let cells = self.rows.iter().map(|row| width(&row[column]));
            cells.max().unwrap_or(0)
        });
        let line = |row: &[String; COLUMNS]| {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                // A column of nothing takes no room.
                if widths[column] == 0 {
                    continue;
                }
                if !line.is_empty() {
                    line.push_str(GAP);
                }
                let padding = " ".repeat(widths[column] - width(cell));
                match self.align[column] {
                    Align::Left => line.push_str(&format!("{cell}{padding}")),
                    Align::Right => line.push_str(&format!("{padding}{cell}")),
                }
            }
            line.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// Breaks a text at spaces into lines no wider than `room`; words that are wider are broken where they must be.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        let mut used = width(&line);
        for character in word.chars() {
            let columns = character.width().unwrap_or(0);
            if used + columns > room && used > 0 {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            used += columns;
            line.push(character);
        }
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new([Align::Left, Align::Right, Align::Left, Align::Left]);
        table.push(["größe", "1", "", "x"].map(str::to_owned));
        table.push(["a", "100", "", ""].map(str::to_owned));
        assert_eq!(table.lines(), ["größe    1  x", "a      100"]);
    }

    #[test]
    fn texts_break_at_spaces_and_within_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a breakable", 5), ["a", "break", "able"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
