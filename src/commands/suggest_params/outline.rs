//! The report for people: what was seen, a table of candidates, and the recommended one in every form.

use unicode_width::UnicodeWidthStr;

use super::figures::{bars, columns, end, figure, scalar};
use crate::catalog::named;
use crate::report::suggest_params::{Array, Candidate, Cf, Seen};
use crate::ui::OutputStyle;

/// The width of labels.
const LABEL: usize = 12;

/// The columns of the table that are left out where lines are too short for all, the first one first.
const LEAST_FIRST: [usize; 8] = [7, 6, 2, 11, 9, 8, 4, 10];

/// The lines of one array.
pub(super) fn lines(array: &Array, style: OutputStyle) -> Vec<String> {
    let mut lines = vec![title(array)];
    let mut text = |label: &str, text: &str| {
        let room = style.width.saturating_sub(LABEL + 4).max(20);
        for (n, line) in wrap(text, room).into_iter().enumerate() {
            let label = if n == 0 { label } else { "" };
            lines.push(format!("  {label:<LABEL$}  {line}"));
        }
    };
    text("values", &seen(&array.seen));
    let histogram = &array.histogram;
    if histogram.counts.len() > 1 {
        let bars = bars(&histogram.counts, style.unicode);
        let (low, high) = (end(&histogram.low), end(&histogram.high));
        text("spread", &format!("{low} [{bars}] {high}"));
    }
    lines.push(String::new());
    // Where nothing tells how wide lines may be, no column is left out.
    let room = if style.is_told {
        style.width
    } else {
        usize::MAX
    };
    lines.extend(table(&array.candidates, room));
    lines.push(String::new());
    let mut text = |label: &str, text: &str| {
        let room = style.width.saturating_sub(LABEL + 4).max(20);
        for (n, line) in wrap(text, room).into_iter().enumerate() {
            let label = if n == 0 { label } else { "" };
            lines.push(format!("  {label:<LABEL$}  {line}"));
        }
    };
    text("recommended", &array.chain);
    text("because", &array.reason);
    for rejected in &array.rejected {
        text(
            "too narrow",
            &format!("{}: {}", rejected.data_type, rejected.reason),
        );
    }
    if let Some(formula) = &array.formula {
        text("encode", &formula.encode);
        text("decode", &formula.decode);
    }
    if !array.fill_value.is_null() {
        text("fill_value", &scalar(&array.fill_value));
    }
    if let Some(cf) = &array.cf {
        text("CF", &cf_words(cf));
    }
    for note in &array.notes {
        text("note", note);
    }
    if array.seen.share < 1.0 {
        let share = figure(array.seen.share * 100.0);
        text(
            "note",
            &format!(
                "{share} % of the chunks were read: what is said of errors is said of them alone"
            ),
        );
    }
    // Not wrapped, so that it can be pasted.
    lines.push(format!("  {:<LABEL$}  {}", "codecs", array.codecs));
    lines
}

fn title(array: &Array) -> String {
    let name = match (&array.path, &array.input) {
        (Some(path), _) if !path.is_empty() => named(path),
        (_, Some(input)) => input.escape_debug().to_string(),
        (_, None) => "all selected arrays".to_owned(),
    };
    format!("{name}: {}", array.dtype)
}

fn seen(seen: &Seen) -> String {
    let mut parts = vec![format!("{} read", seen.values)];
    let mut count = |n: u64, what: &str| {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    };
    count(seen.nan, "NaN");
    count(seen.infinities, "infinite");
    count(seen.zeros, "zero");
    count(seen.unwritten.unwrap_or(0), "never written");
    for stand_in in &seen.stand_ins {
        count(
            stand_in.count,
            &format!("are {} (missing)", scalar(&stand_in.value)),
        );
    }
    if let Some(distinct) = seen.distinct {
        count(distinct, "distinct");
    }
    let (low, high) = (scalar(&seen.low), scalar(&seen.high));
    parts.push(format!("from {low} to {high}"));
    if let Some(step) = seen.decimal_step.as_f64() {
        parts.push(format!("in steps of {step}"));
    }
    parts.join(", ")
}

fn table(candidates: &[Candidate], room: usize) -> Vec<String> {
    let head = [
        "",
        "CHAIN",
        "STEP",
        "TYPE",
        "CODES",
        "MAX ERROR",
        "RMSE",
        "BIAS",
        "HOLDS",
        "SENTINEL",
        "BITS",
        "RATIO",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for (n, candidate) in candidates.iter().enumerate() {
        rows.push(row(n == 0, candidate));
    }
    let right = [
        false, false, true, false, true, true, true, true, true, false, true, true,
    ];
    let mut lines = columns(&rows, right);
    for column in LEAST_FIRST {
        if lines.iter().all(|line| line.width() + 2 <= room) {
            break;
        }
        // A column of nothing takes no room.
        for row in &mut rows {
            row[column].clear();
        }
        lines = columns(&rows, right);
    }
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

fn row(best: bool, candidate: &Candidate) -> [String; 12] {
    let mark = match (best, candidate.holds) {
        (true, _) => ">",
        (false, true) => "",
        (false, false) => "x",
    };
    let codes = match (candidate.codes_used, candidate.codes_in_all) {
        (Some(used), Some(all)) if all.is_power_of_two() && all > 1 << 16 => {
            format!("{used}/2^{}", all.trailing_zeros())
        }
        (Some(used), Some(all)) => format!("{used}/{all}"),
        (Some(used), None) => format!("{used}/2^64"),
        _ => String::new(),
    };
    let sentinels = candidate
        .sentinels
        .iter()
        .map(|one| format!("{}={}", scalar(&one.value), scalar(&one.code)));
    let measured = &candidate.measured;
    let holds = if candidate.holds_low.is_null() {
        "all".to_owned()
    } else {
        format!(
            "{}..{}",
            end(&candidate.holds_low),
            end(&candidate.holds_high)
        )
    };
    [
        mark.to_owned(),
        transformation(candidate),
        candidate.step.as_f64().map_or(String::new(), figure),
        candidate.data_type.clone(),
        codes,
        figure(measured.max_error),
        figure(measured.rmse),
        figure(measured.bias),
        holds,
        sentinels.collect::<Vec<_>>().join(" "),
        candidate
            .bits_per_value
            .map_or(String::new(), |bits| format!("{bits:.2}")),
        candidate
            .ratio
            .map_or(String::new(), |ratio| format!("{ratio:.1}x")),
    ]
}

/// What happens to a value, in the fewest words: `(x - 260) * 400`.
fn transformation(candidate: &Candidate) -> String {
    let shifted = match scalar(&candidate.offset).as_str() {
        "-" => "x".to_owned(),
        offset => match offset.strip_prefix('-') {
            Some(magnitude) => format!("(x + {magnitude})"),
            None => format!("(x - {offset})"),
        },
    };
    let computed = match scalar(&candidate.scale).as_str() {
        "-" => shifted,
        scale => format!("{shifted} * {scale}"),
    };
    // A cast before the last one is to the type that is scaled in.
    let first = candidate.codecs.get(0);
    let wide =
        first.filter(|first| first["name"] == "cast_value" && candidate.codecs[1].is_object());
    match wide.and_then(|first| first["configuration"]["data_type"].as_str()) {
        Some(wide) => format!("{computed} in {wide}"),
        None => computed,
    }
}

fn cf_words(cf: &Cf) -> String {
    let mut text = format!(
        "scale_factor {}, add_offset {}",
        scalar(&cf.scale_factor),
        scalar(&cf.add_offset)
    );
    if !cf.fill_value.is_null() {
        text.push_str(&format!(", _FillValue {}", scalar(&cf.fill_value)));
    }
    match (cf.exact, cf.max_difference) {
        (true, _) => text.push_str("; the same values"),
        (false, Some(0.0)) => {
            text.push_str("; the same codes, and the same values for those that were compared");
        }
        (false, Some(difference)) => text.push_str(&format!(
            "; the same codes, and values that differ by {} at most, since CF multiplies in float64 and the codec divides",
            figure(difference)
        )),
        (false, None) => {
            text.push_str("; the same codes, of which readers in float64 hold not all");
        }
    }
    text
}

/// Breaks a text at spaces.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && line.width() + 1 + word.width() > room {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() || word.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}
