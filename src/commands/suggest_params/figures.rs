//! Figures as people read them, columns that are aligned, and a row of bars.

use serde_json::Value;
use unicode_width::UnicodeWidthStr;

/// What stands between columns.
const GAP: &str = "  ";

/// A figure in few digits: `0.00125`, `2.4e-7`.
pub(super) fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e6).contains(&magnitude) {
        // Three digits that count, without zeros at the end.
        let text = format!("{value:.2e}");
        return text.parse::<f64>().map_or(text, |short| short.to_string());
    }
    format!("{value:.2e}")
}

/// A scalar of the report in text.
pub(super) fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
        other => other.to_string(),
    }
}

/// The end of a range in few digits.
pub(super) fn end(value: &Value) -> String {
    value.as_f64().map_or_else(
        || scalar(value),
        |number| {
            if number.abs() < 1e6 && (number.abs() >= 1e-3 || number == 0.0) {
                let short = format!("{number:.4e}").parse::<f64>();
                short.map_or_else(|_| number.to_string(), |short| short.to_string())
            } else {
                format!("{number:.3e}")
            }
        },
    )
}

/// Rows of cells as lines, numbers to the right.
pub(super) fn columns<const N: usize>(rows: &[[String; N]], right: [bool; N]) -> Vec<String> {
    let widths: [usize; N] = std::array::from_fn(|n| {
        let cells = rows.iter().map(|row| row[n].width());
        cells.max().unwrap_or(0)
    });
    let line = |row: &[String; N]| {
        let mut line = String::new();
        for (n, cell) in row.iter().enumerate() {
            // A column of nothing takes no room.
            if widths[n] == 0 {
                continue;
            }
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let padding = " ".repeat(widths[n] - cell.width());
            if right[n] {
                line.push_str(&padding);
            }
            line.push_str(cell);
            if !right[n] {
                line.push_str(&padding);
            }
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Counts as a row of bars; the smallest count above zero can be seen.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the height of a bar"
)]
pub(super) fn bars(counts: &[u64], unicode: bool) -> String {
    let heights: &[char] = if unicode {
        &[' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    } else {
        &[' ', '.', ':', '-', '=', '+', '*', '#', '@']
    };
    let largest = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let most = heights.len() - 1;
    let bar = |count: &u64| {
        let height = (*count as f64 / largest * most as f64).ceil() as usize;
        heights[height.min(most)]
    };
    counts.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let texts = [0.001_249_999, 0.0, -2.4e-7, 12_345.678, 5e300].map(figure);
        assert_eq!(texts, ["0.00125", "0", "-2.40e-7", "12300", "5.00e300"]);
    }

    #[test]
    fn bars_rise_with_counts() {
        assert_eq!(bars(&[0, 1, 500, 1000], true), " ▁▄█");
        assert_eq!(bars(&[0, 1, 500, 1000], false), " .=@");
        assert_eq!(bars(&[0], false), " ");
    }
}
