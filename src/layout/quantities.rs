//! Sizes, shapes, ratios and names as people read them, none of them long.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The units of bytes, each 1024 of the one before.
const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];

/// The columns that a shape takes at most.
const SHAPE: usize = 44;

/// A number of bytes in the largest unit that it has one of: `8.0 EiB`.
pub fn bytes(count: u128) -> String {
    if count < 1024 {
        return format!("{count} B");
    }
    // A tenth of a unit is all that is shown.
    #[expect(clippy::cast_precision_loss, reason = "rounded to a tenth anyway")]
    let mut amount = count as f64;
    let mut unit = 0;
    // What would be shown as 1024.0 is one of the next unit.
    while amount >= 1023.95 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if amount >= 1023.95 {
        return format!("{amount:.1e} {}", UNITS[unit]);
    }
    format!("{amount:.1} {}", UNITS[unit])
}

/// A count in at most seven characters where it is large: `1.2e18`.
pub fn count(count: u128) -> String {
    if count < 1_000_000 {
        return count.to_string();
    }
    #[expect(clippy::cast_precision_loss, reason = "rounded to two digits anyway")]
    let rounded = count as f64;
    format!("{rounded:.1e}")
}

/// A number of things.
pub fn things(number: impl Into<u128>, thing: &str) -> String {
    let number = number.into();
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// A ratio: `4.2x`, `1030x`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        ratio if ratio < 99.95 => format!("{ratio:.1}x"),
        ratio if ratio < 1e6 => format!("{ratio:.0}x"),
        ratio => format!("{ratio:.1e}x"),
    }
}

/// A shape: `8760x721x1440`; `scalar` where there are no dimensions, and cut where there are many.
pub fn shape(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "scalar".to_owned();
    }
    let rest = format!("x... ({} dimensions)", lengths.len());
    let mut text = String::new();
    // What would do if the next length did not fit any more.
    let mut short = String::new();
    for length in lengths {
        if text.len() + rest.len() <= SHAPE {
            short.clone_from(&text);
        }
        if !text.is_empty() {
            text.push('x');
        }
        text.push_str(&length.to_string());
        if text.len() > SHAPE {
            return format!("{short}{rest}");
        }
    }
    text
}

/// A text, cut where it is longer than a number of characters.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The end of a text, as wide as there is room.
pub fn cut_front(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut used = 3;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= room
    };
    let kept: usize = text
        .chars()
        .rev()
        .take_while(fits)
        .map(char::len_utf8)
        .sum();
    format!("...{}", &text[text.len() - kept..])
}

/// The columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// A text from outside, without what would move the cursor or hide.
pub fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            // Quotes are no danger here, and common.
            let plain = matches!(c, '"' | '\'' | '\\');
            let escaped = (!plain).then(|| c.escape_debug());
            let unescaped = plain.then_some(c);
            escaped.into_iter().flatten().chain(unescaped)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_largest_unit_that_fits() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (1 << 63, "8.0 EiB"),
            (1 << 90, "1.0e3 YiB"),
            (u128::MAX, "2.8e14 YiB"),
        ];
        for (n, text) in cases {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn counts_and_ratios_stay_short() {
        assert_eq!(count(999_999), "999999");
        assert_eq!(count(1 << 60), "1.2e18");
        assert_eq!(things(1_u64, "array"), "1 array");
        assert_eq!(things(0_u64, "array"), "0 arrays");
        assert_eq!(ratio(0.25), "0.2x");
        assert_eq!(ratio(99.96), "100x");
        assert_eq!(ratio(2e9), "2.0e9x");
    }

    #[test]
    fn shapes_of_many_dimensions_are_cut() {
        assert_eq!(shape(&[]), "scalar");
        assert_eq!(shape(&[8760, 721]), "8760x721");
        assert_eq!(
            shape(&[2; 1000]),
            "2x2x2x2x2x2x2x2x2x2x2x... (1000 dimensions)"
        );
        let widest = shape(&[u64::MAX; 1000]);
        assert_eq!(widest, "18446744073709551615x... (1000 dimensions)");
        assert_eq!(shape(&[1 << 62; 2]).len(), 39);
    }

    #[test]
    fn texts_are_cut_at_either_end() {
        assert_eq!(cut("grün", 3), "grü...");
        assert_eq!(cut("grün", 4), "grün");
        assert_eq!(cut_front("a/b/c/temperature", 10), "...erature");
        assert_eq!(cut_front("temp", 4), "temp");
        assert_eq!(cut_front("temp", 2), "...");
    }

    #[test]
    fn what_would_move_the_cursor_is_escaped() {
        assert_eq!(escaped("a\u{1b}[2Jb\n"), r"a\u{1b}[2Jb\n");
        assert_eq!(escaped("température 'a' \"b\""), "température 'a' \"b\"");
    }
}
