//! What stands below the row of an array: lines with a label, and the table of stages.

use serde_json::Value as Json;

use crate::layout::quantities::{bytes, cut, escaped, shape, things};
use crate::layout::table::{Align, Table};
use crate::report::inspect::{Array, Broken, Files, NodeNotes, Stage, Stored};

/// The longest text of one detail.
const LONGEST: usize = 1200;

/// How many sentinels, and how many problems, are shown.
const MOST_SENTINELS: usize = 8;
const MOST_PROBLEMS: usize = 20;

/// How many levels of shards are shown.
const MOST_SHARDS: usize = 4;

/// One thing below a row.
#[derive(Debug)]
pub(super) enum Detail {
    /// A text with a label, which may be wrapped.
    Text(&'static str, String),
    /// The same, about something that is wrong.
    Problem(String),
    /// Lines of a table, the first of which is its head.
    Table(Vec<String>),
}

/// The details of an array.
pub(super) fn array(array: &Array) -> Vec<Detail> {
    let mut details = Vec::new();
    let mut text = |label, text: String| details.push(Detail::Text(label, cut(&text, LONGEST)));
    if let Some(names) = &array.dimension_names
        && !names.is_empty()
    {
        let names = names
            .iter()
            .map(|name| name.as_deref().map_or("-".to_owned(), escaped));
        text("dimensions", names.collect::<Vec<_>>().join(", "));
    }
    if let Some(words) = format_words(array) {
        text("format", words);
    }
    if !array.shards.is_empty() {
        text("shards", shards(array));
    }
    if let Some(chain) = &array.chain {
        text("chain", escaped(chain));
    }
    if let Some(formula) = &array.formula {
        text("encode", formula.encode.clone());
        text("decode", formula.decode.clone());
    }
    if array.packed && array.stages.len() > 1 {
        details.push(Detail::Table(stages(&array.stages)));
    }
    packing(array, &mut details);
    stored(array, &mut details);
    notes(&array.node, &mut details);
    wrong(array, &mut details);
    details
}

/// What is worth knowing about the documents of a node.
pub(super) fn notes(node: &NodeNotes, details: &mut Vec<Detail>) {
    if !node.ignored_documents.is_empty() {
        let names = node.ignored_documents.join(", ");
        let text = format!("zarr.json wins over {names} beside it");
        details.push(Detail::Text("note", text));
    }
    if node.linked {
        details.push(Detail::Text("note", "reached through a link".to_owned()));
    }
}

/// What is wrong with what cannot be shown.
pub(super) fn broken(broken: &Broken) -> Vec<Detail> {
    let findings = broken.findings.iter().take(MOST_PROBLEMS);
    let text = |finding: &String| Detail::Problem(cut(&escaped(finding), LONGEST));
    let mut details: Vec<_> = findings.map(text).collect();
    let more = broken.findings.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        details.push(Detail::Problem(format!("and {more} more")));
    }
    details
}

/// What tells a v2 array from a v3 one.
fn format_words(array: &Array) -> Option<String> {
    let dtype = escaped(array.dtype.as_ref()?);
    let order = array.order.as_deref().unwrap_or("?");
    let separator = array.chunk_keys.separator.as_deref().unwrap_or("?");
    Some(format!(
        "Zarr v2, dtype {dtype}, order {order}, keys like 0{separator}0"
    ))
}

/// Chunks in their shards, innermost first.
fn shards(array: &Array) -> String {
    let chunks = array.chunks.as_deref().map_or("?".to_owned(), shape);
    let mut text = format!("chunks of {chunks}");
    for lengths in array.shards.iter().rev().take(MOST_SHARDS) {
        text.push_str(&format!(" in shards of {}", shape(lengths)));
    }
    if array.shards.len() > MOST_SHARDS {
        text.push_str(&format!(" in more, {} in all", array.shards.len()));
    }
    text
}

fn stages(stages: &[Stage]) -> Vec<String> {
    let mut table = Table::new([Align::Left; 5]);
    table.push(["stage", "type", "fill", "range", "step"].map(str::to_owned));
    for stage in stages {
        let known = |value: &Json| scalar(value).unwrap_or_else(|| "?".to_owned());
        let range = match (scalar(&stage.low), scalar(&stage.high)) {
            (Some(low), Some(high)) => format!("{low} .. {high}"),
            _ => "?".to_owned(),
        };
        table.push([
            escaped(stage.codec.as_deref().unwrap_or("array")),
            stage.data_type.clone().unwrap_or_else(|| "?".to_owned()),
            known(&stage.fill_value),
            range,
            known(&stage.step),
        ]);
    }
    table.lines()
}

/// Sentinels, how the fill fares, and that a codec is the legacy one.
fn packing(array: &Array, details: &mut Vec<Detail>) {
    if !array.sentinels.is_empty() {
        let shown = array.sentinels.iter().take(MOST_SENTINELS);
        let shown = shown.map(|sentinel| {
            let text = |value| scalar(value).unwrap_or_else(|| "?".to_owned());
            let (value, code) = (text(&sentinel.value), text(&sentinel.code));
            match (sentinel.encode, sentinel.decode) {
                (true, false) => format!("{code} on encoding {value}"),
                (false, true) => format!("{code} decodes to {value}"),
                _ => format!("{code} is {value}"),
            }
        });
        let mut words: Vec<_> = shown.collect();
        let more = array.sentinels.len().saturating_sub(MOST_SENTINELS);
        if more > 0 {
            words.push(format!("and {more} more"));
        }
        details.push(Detail::Text("sentinel", words.join(", ")));
    }
    if let Some(fate) = &array.fill {
        let fill = fill_text(array);
        let back = scalar(&fate.comes_back_as);
        let words = match (fate.survives, fate.drifts, back) {
            (true, false, _) => format!("{fill} survives"),
            (true, true, Some(back)) => format!("{fill} drifts: it comes back as {back}"),
            (true, true, None) => format!("{fill} survives each cast, and does not come back"),
            (false, _, Some(back)) => format!("{fill} does not survive: it comes back as {back}"),
            (false, _, None) => format!("{fill} does not survive"),
        };
        details.push(Detail::Text("fill", words));
    }
    if !array.legacy.is_empty() {
        let pointers = array.legacy.join(", ");
        let text = format!("legacy codec ({pointers}); it leaves the fill as it is");
        details.push(Detail::Text("note", text));
    }
}

/// Chunks that are missing, and files that are no chunks of the grid.
fn stored(array: &Array, details: &mut Vec<Detail>) {
    let Stored {
        objects,
        grid_objects,
        outside,
        other,
        ..
    } = array.stored;
    let unit = if array.shards.is_empty() {
        "chunk"
    } else {
        "shard"
    };
    if let Some(grid) =
        grid_objects.filter(|grid| array.stored.complete && u128::from(objects) < *grid)
    {
        let fill = fill_text(array);
        let chunks = things(grid, unit);
        let text = if objects == 0 {
            format!("0 of {chunks}: all fill ({fill})")
        } else {
            format!("{objects} of {chunks}, the others are fill ({fill})")
        };
        details.push(Detail::Text("stored", text));
    }
    let mut extra = |Files { count, bytes: size }: Files, thing: &str, place: &str| {
        if count > 0 {
            let (things, size) = (things(count, thing), bytes(size.into()));
            details.push(Detail::Text("note", format!("{things}{place}, {size}")));
        }
    };
    extra(outside, unit, " outside the shape");
    extra(other, "other file", "");
}

fn wrong(array: &Array, details: &mut Vec<Detail>) {
    for problem in array.problems.iter().take(MOST_PROBLEMS) {
        let id = problem.id.as_ref().map(|id| format!(" [{id}]"));
        let (pointer, message) = (&problem.pointer, &problem.message);
        let text = format!("{pointer}: {message}{}", id.unwrap_or_default());
        details.push(Detail::Problem(cut(&escaped(&text), LONGEST)));
    }
    let more = array.problems.len().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        details.push(Detail::Problem(format!("and {more} more")));
    }
    for unsupported in array.unsupported.iter().take(MOST_PROBLEMS) {
        let message = escaped(&unsupported.message);
        let text = format!("this version cannot decode it: {message}");
        details.push(Detail::Text("note", cut(&text, LONGEST)));
    }
}

/// The fill as people read it.
fn fill_text(array: &Array) -> String {
    match &array.fill_value {
        Json::Null if array.zarr_format == 2 => "undefined".to_owned(),
        value => scalar(value).unwrap_or_else(|| "not shown".to_owned()),
    }
}

/// The text of a scalar, without quotes and without a fraction of 0.
fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::Null | Json::Object(_) => None,
        Json::String(text) => Some(escaped(text)),
        Json::Array(_) | Json::Bool(_) => Some(escaped(&value.to_string())),
        Json::Number(number) => {
            let text = number.to_string().replace("e+", "e");
            Some(text.strip_suffix(".0").map_or(text.clone(), str::to_owned))
        }
    }
}
