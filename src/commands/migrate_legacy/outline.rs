//! The report of a migration for people: what changes in each array, and what that does to its values.

use clap::builder::styling::{AnsiColor, Style};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::catalog::named;
use crate::layout::paint::Paint;
use crate::layout::quantities::{escaped, things};
use crate::layout::table::wrap;
use crate::report::migrate_legacy::{
    Action, Array, Change, Decode, Document, DocumentAction, Encode, Fill, Outcome, Problem, Report,
};
use crate::report::reader;
use crate::ui::OutputStyle;

/// The columns of the labels.
const LABEL: usize = 10;

/// How many paths of arrays with the same plan are named.
const NAMED: usize = 8;

/// How many characters of one codec are shown.
const LONGEST: usize = 2000;

const NAME: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const WRONG: Style = AnsiColor::Red.on_default().bold();
const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();

/// The lines of a report.
pub(super) fn lines(report: &Report, style: OutputStyle) -> Vec<String> {
    let paint = Paint(style.color);
    let mut lines = vec![paint.with(NAME, &title(report))];
    // Arrays of one kind often have one plan: it is shown once.
    let mut blocks: Vec<(Vec<&str>, &Array, Vec<String>)> = Vec::new();
    for array in &report.arrays {
        let body = body(array, style.width, &paint);
        match blocks.last_mut() {
            Some((paths, first, known)) if *known == body && heading(first) == heading(array) => {
                paths.push(&array.path);
            }
            _ => blocks.push((vec![&array.path], array, body)),
        }
    }
    for (paths, array, body) in blocks {
        lines.push(String::new());
        let mut names: Vec<_> = paths.iter().take(NAMED).map(|path| named(path)).collect();
        if paths.len() > NAMED {
            names.push(format!("and {} more", paths.len() - NAMED));
        }
        let heading = heading(array);
        lines.push(format!(
            "{}  {heading}",
            paint.with(NAME, &names.join(", "))
        ));
        lines.extend(body);
    }
    let mut end = Vec::new();
    for note in &report.notes {
        labelled(&mut end, &paint, ("note", FAINT), note, style.width);
    }
    if let Some(text) = documents(&report.documents, report.outcome) {
        labelled(&mut end, &paint, ("documents", FAINT), &text, style.width);
    }
    if let Some(journal) = &report.journal {
        let text = format!("{journal:?}, for --undo");
        labelled(&mut end, &paint, ("journal", FAINT), &text, style.width);
    }
    if !end.is_empty() {
        lines.push(String::new());
        lines.extend(end);
    }
    lines
}

/// The report in a line.
pub(super) fn title(report: &Report) -> String {
    let summary = &report.summary;
    let store = escaped(&report.store);
    if report.arrays.is_empty() {
        return match summary.selected {
            0 => format!("{store}: no arrays"),
            selected => format!(
                "{store}: nothing to migrate, no legacy codec in {}",
                things(selected, "array")
            ),
        };
    }
    let mut words = Vec::new();
    let migrated = summary.migrate;
    let verb = match report.outcome {
        Outcome::Written => "migrated",
        Outcome::Planned | Outcome::Refused => "to migrate",
    };
    if migrated > 0 {
        let verdicts = [
            (summary.identical, "identical"),
            (summary.differs, "with values that differ"),
            (summary.unproven, "unproven"),
        ];
        let verdicts = verdicts.iter().filter(|(count, _)| *count > 0);
        let verdicts: Vec<_> = verdicts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        words.push(format!(
            "{} {verb} ({})",
            things(migrated, "array"),
            verdicts.join(", ")
        ));
    }
    if summary.convert > 0 {
        words.push(format!("{} to Zarr v3 only", summary.convert));
    }
    if summary.impossible > 0 {
        words.push(format!("{} impossible", summary.impossible));
    }
    let end = match report.outcome {
        Outcome::Planned => "; nothing was written",
        Outcome::Refused => "; refused, nothing was written",
        Outcome::Written => "",
    };
    format!("{store}: {}{end}", words.join(", "))
}

fn heading(array: &Array) -> String {
    let mut words = Vec::new();
    match array.action {
        Action::Impossible => words.push("cannot be migrated".to_owned()),
        Action::Convert => words.push("from Zarr v2 to v3, no legacy codec".to_owned()),
        Action::Migrate => {
            if let (Some(data_type), Some(stored)) = (&array.data_type, &array.stored_type) {
                words.push(format!(
                    "{} stored as {}",
                    escaped(data_type),
                    escaped(stored)
                ));
            }
            words.extend(
                array
                    .byte_order
                    .as_ref()
                    .map(|order| format!("{order}-endian")),
            );
            words.extend(array.form.as_ref().map(|form| format!("{form} conversion")));
            if array.zarr_format == 2 {
                words.push("from Zarr v2 to v3".to_owned());
            }
        }
    }
    words.join(", ")
}

fn body(array: &Array, columns: usize, paint: &Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for change in &array.changes {
        lines.extend(diff(change, paint));
    }
    let mut text =
        |label, style, text: &str| labelled(&mut lines, paint, (label, style), text, columns);
    if let Some(fill) = &array.fill {
        text("fill", FAINT, &fill_words(fill));
    }
    if let Some(decode) = &array.decode {
        let style = if decode.verdict == "identical" {
            FAINT
        } else {
            WRONG
        };
        text("decode", style, &decode_words(decode));
        for note in &decode.notes {
            text("", FAINT, note);
        }
    }
    if let Some(encode) = &array.encode {
        text("encode", FAINT, &encode_words(encode));
    }
    if !array.readers.is_empty() {
        text("readers", FAINT, &reader::in_words(&array.readers));
    }
    for note in &array.notes {
        text("note", FAINT, note);
    }
    for problem in &array.problems {
        text("problem", WRONG, &problem_words(problem));
        if let Some(hint) = &problem.hint {
            text("hint", FAINT, hint);
        }
    }
    lines
}

/// What changes in a member: for a list, element by element.
fn diff(change: &Change, paint: &Paint) -> Vec<String> {
    let old = items(&change.old);
    let new = items(&change.new);
    let mut lines = vec![format!(
        "  {}",
        paint.with(FAINT, &escaped(&change.pointer))
    )];
    let [old, new] = [&old, &new].map(|items| items.iter().map(String::as_str).collect::<Vec<_>>());
    let diff = TextDiff::from_slices(&old, &new);
    for item in diff.iter_all_changes() {
        let (sign, style) = match item.tag() {
            ChangeTag::Delete => ("-", REMOVED),
            ChangeTag::Insert => ("+", ADDED),
            ChangeTag::Equal => (" ", FAINT),
        };
        let text = crate::layout::quantities::cut(item.value(), LONGEST);
        lines.push(format!(
            "  {}",
            paint.with(style, &format!("{sign} {text}"))
        ));
    }
    lines
}

/// A value as texts of one line: the elements of a list, or the value itself.
fn items(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(elements) => elements.iter().map(Value::to_string).collect(),
        value => vec![value.to_string()],
    }
}

fn fill_words(fill: &Fill) -> String {
    let mut words = fill.value.to_string();
    if !fill.code.is_null() {
        words.push_str(&format!(", stored as code {}", fill.code));
    }
    format!("{words}: {}", fill.reason)
}

fn decode_words(decode: &Decode) -> String {
    let compared = match decode.proof.as_deref() {
        Some("all-codes") => format!("over all {} codes", decode.compared),
        Some("used-codes") => format!("over the {} codes in use", decode.compared),
        Some("data") => format!("over all {} stored elements", decode.compared),
        _ => "without a look at the data".to_owned(),
    };
    if decode.verdict != "differs" {
        return format!("{} {compared}", decode.verdict);
    }
    let mut words = format!(
        "differs {compared}: {} decode to another value",
        decode.differing
    );
    if let Some(difference) = decode.largest_difference {
        words.push_str(&format!(", by {difference} at most"));
        if let Some(ulps) = decode.largest_ulps {
            words.push_str(&format!(" ({ulps} units in the last place)"));
        }
    }
    if let Some(first) = &decode.first {
        words.push_str(&format!(
            "; first code {}: {} becomes {}",
            first.code, first.old, first.new
        ));
    }
    if decode.become_unreadable > 0 {
        words.push_str(&format!(
            "; {} can be decoded no more",
            decode.become_unreadable
        ));
        if let Some(first) = &decode.first_unreadable {
            words.push_str(&format!(
                ", first code {}, now {}: {}",
                first.code, first.old, first.reason
            ));
        }
    }
    words
}

fn encode_words(encode: &Encode) -> String {
    let verdict = if encode.same {
        "what is written later is stored as the same codes"
    } else {
        "what is written later may be stored as other codes"
    };
    match encode.notes.as_slice() {
        [] => verdict.to_owned(),
        notes => format!("{verdict}: {}", notes.join("; ")),
    }
}

fn problem_words(problem: &Problem) -> String {
    let place = [problem.file.as_deref(), problem.pointer.as_deref()];
    let place: Vec<_> = place.into_iter().flatten().map(escaped).collect();
    match place.as_slice() {
        [] => problem.message.clone(),
        place => format!("{}: {}", place.join(" "), problem.message),
    }
}

fn documents(documents: &[Document], outcome: Outcome) -> Option<String> {
    let count = |action| {
        let of = documents
            .iter()
            .filter(|document| document.action == action);
        of.count()
    };
    let words = match outcome {
        Outcome::Written => ["created", "replaced", "removed"],
        Outcome::Planned | Outcome::Refused => ["to create", "to replace", "to remove"],
    };
    let actions = [
        DocumentAction::Create,
        DocumentAction::Replace,
        DocumentAction::Remove,
    ];
    let words: Vec<_> = actions
        .into_iter()
        .map(count)
        .zip(words)
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn labelled(
    lines: &mut Vec<String>,
    paint: &Paint,
    (label, style): (&str, Style),
    text: &str,
    columns: usize,
) {
    let room = columns.saturating_sub(LABEL + 2).max(24);
    for (n, line) in wrap(&escaped(text), room).into_iter().enumerate() {
        let label = if n == 0 { label } else { "" };
        let padding = " ".repeat(LABEL - label.len());
        lines.push(format!("  {}{padding}{line}", paint.with(style, label)));
    }
}
