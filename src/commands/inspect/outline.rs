//! The report of a store as an outline: a row for each node, and below it what there is to say of it.

use clap::builder::styling::{AnsiColor, Style};

use super::details::{self, Detail};
use super::rows::{Node, Row, rows};
use crate::layout::paint::Paint;
use crate::layout::quantities::{
    bytes, count, cut, cut_front, escaped, ratio, shape, things, width,
};
use crate::layout::table::{Align, Table, wrap};
use crate::report::inspect::{Store, Stored};
use crate::ui::OutputStyle;

/// The characters that a type has at most.
const TYPE: usize = 24;

/// The columns of the labels.
const LABEL: usize = 12;

const HEAD: Style = Style::new().underline();
const NAME: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const WRONG: Style = AnsiColor::Red.on_default().bold();

/// The heads of the columns. That of names is missing where the store is an array.
const HEADS: [&str; 7] = [
    "NAME", "TYPE", "SHAPE", "CHUNKS", "STORED", "RATIO", "OBJECTS",
];

/// What draws the branches.
struct Branches {
    pass: &'static str,
    fork: &'static str,
    last: &'static str,
    none: &'static str,
}

const UNICODE: Branches = Branches {
    pass: "│   ",
    fork: "├── ",
    last: "└── ",
    none: "    ",
};

const ASCII: Branches = Branches {
    pass: "|   ",
    fork: "|-- ",
    last: "`-- ",
    none: "    ",
};

/// The lines of a store.
pub(super) fn lines(store: &Store, style: OutputStyle) -> Vec<String> {
    let rows = rows(store);
    let mut lines = Vec::new();
    let (Some(root), branches) = (rows.first(), if style.unicode { UNICODE } else { ASCII }) else {
        return lines;
    };
    let paint = Paint(style.color);
    lines.extend(title(store, root, style.width, &paint));
    let prefixes = prefixes(&rows, &branches);
    let mut table = Table::new([
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Left,
        Align::Right,
        Align::Right,
        Align::Right,
    ]);
    let is_array = matches!(root.node, Node::Array(_));
    let heads = HEADS.map(|head| if is_array && head == "NAME" { "" } else { head });
    table.push(heads.map(str::to_owned));
    let room = (style.width * 2 / 5).max(20);
    for (row, (branch, _)) in rows.iter().zip(&prefixes) {
        let name = match row.depth {
            0 => String::new(),
            _ => {
                let taken = width(branch);
                format!(
                    "{branch}{}",
                    cut_front(&row.name, room.saturating_sub(taken).max(12))
                )
            }
        };
        table.push(cells(row, name));
    }
    let mut table = table.lines().into_iter();
    if let (Some(heads), true) = (table.next(), rows.len() > 1 || is_array) {
        lines.push(paint.with(HEAD, &heads));
    }
    for ((row, (branch, below)), line) in rows.iter().zip(&prefixes).zip(table) {
        // The root has its title instead, unless it is an array.
        if row.depth > 0 || is_array {
            let rest = line.strip_prefix(branch.as_str()).unwrap_or(&line);
            let end = rest.find("  ").unwrap_or(rest.len());
            let (name, cells) = rest.split_at(if is_array { 0 } else { end });
            lines.push(format!(
                "{}{}{cells}",
                paint.with(FAINT, branch),
                paint.with(NAME, name)
            ));
        }
        let room = style.width.saturating_sub(width(below));
        for line in detail_lines(&details_of(store, row), room, &paint) {
            lines.push(format!("{}{line}", paint.with(FAINT, below)));
        }
    }
    lines
}

/// What stands before the name of each row, and before what is below it.
fn prefixes(rows: &[Row<'_>], branches: &Branches) -> Vec<(String, String)> {
    let mut prefixes = Vec::with_capacity(rows.len());
    // For each depth from 1, whether more comes at it.
    let mut open: Vec<bool> = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        let has_children = rows.get(n + 1).is_some_and(|next| next.depth > row.depth);
        let inner = if has_children { branches.pass } else { "  " };
        if row.depth == 0 {
            prefixes.push((String::new(), inner.to_owned()));
            continue;
        }
        open.truncate(row.depth - 1);
        let pass = |open: &bool| if *open { branches.pass } else { branches.none };
        let above: String = open.iter().map(pass).collect();
        let fork = if row.last {
            branches.last
        } else {
            branches.fork
        };
        let below = format!("{above}{}{inner}", pass(&!row.last));
        prefixes.push((format!("{above}{fork}"), below));
        open.push(!row.last);
    }
    prefixes
}

/// What the store is, in a line or two.
fn title(store: &Store, root: &Row<'_>, columns: usize, paint: &Paint) -> Vec<String> {
    let what = match root.node {
        Node::Array(array) => format!("Zarr v{} array", array.zarr_format),
        Node::Group(group) => {
            let consolidated = if group.consolidated {
                ", consolidated"
            } else {
                ""
            };
            format!("Zarr v{} group{consolidated}", group.zarr_format)
        }
        Node::Broken(_) => "broken".to_owned(),
        Node::Directory => "a directory, no node itself".to_owned(),
    };
    let total = root.total;
    let below = store.groups.iter().filter(|group| !group.path.is_empty());
    let mut words = vec![what];
    if !matches!(root.node, Node::Array(_)) {
        words.push(things(total.arrays, "array"));
    }
    if let groups @ 1.. = below.count() {
        words.push(things(groups as u128, "group"));
    }
    if total.arrays > 0 && !matches!(root.node, Node::Array(_)) {
        words.push(format!(
            "{} stored",
            stored_text(total.stored, total.complete)
        ));
        if let Some(logical) = total.logical {
            words.push(format!("{} in memory", bytes(logical)));
        }
    }
    let text = format!("{}: {}", root.name, words.join(", "));
    let mut lines = wrap(&text, columns);
    if let Some(first) = lines.first_mut()
        && let Some(rest) = first.strip_prefix(&root.name)
    {
        *first = format!("{}{rest}", paint.with(NAME, &root.name));
    }
    lines
}

fn stored_text(stored: u128, complete: bool) -> String {
    match (stored, complete) {
        (_, true) => bytes(stored),
        (0, false) => "?".to_owned(),
        (_, false) => format!(">{}", bytes(stored)),
    }
}

/// The cells of a row.
fn cells(row: &Row<'_>, name: String) -> [String; HEADS.len()] {
    let empty = String::new;
    let shown = |value: Option<f64>| value.map_or(empty(), ratio);
    match row.node {
        Node::Array(array) => [
            name,
            cut(&escaped(&array.data_type), TYPE),
            shape(&array.shape),
            array.chunks.as_deref().map_or("?".to_owned(), shape),
            stored_text(array.stored.bytes.into(), array.stored.complete),
            shown(array.ratio),
            objects(&array.stored),
        ],
        Node::Group(_) => [
            format!("{name}/"),
            things(row.total.arrays, "array"),
            empty(),
            empty(),
            stored_text(row.total.stored, row.total.complete),
            shown(row.total.ratio()),
            empty(),
        ],
        Node::Broken(_) => [
            name,
            "broken".to_owned(),
            empty(),
            empty(),
            empty(),
            empty(),
            empty(),
        ],
        Node::Directory => std::array::from_fn(|_| empty()),
    }
}

/// How many chunk objects there are, of how many.
fn objects(stored: &Stored) -> String {
    let bound = if stored.complete { "" } else { ">" };
    let found = match (stored.complete, stored.objects) {
        (false, 0) => "?".to_owned(),
        (_, objects) => format!("{bound}{}", count(objects.into())),
    };
    match stored.grid_objects {
        Some(grid) => format!("{found}/{}", count(grid)),
        None => format!("{found}/?"),
    }
}

fn details_of(store: &Store, row: &Row<'_>) -> Vec<Detail> {
    let mut found = Vec::new();
    if let (0, Some(part_of)) = (row.depth, &store.part_of) {
        let (root, path) = (escaped(&part_of.root), escaped(&part_of.path));
        found.push(Detail::Text("part of", format!("{root}, as {path}")));
    }
    match row.node {
        Node::Array(array) => found.extend(details::array(array)),
        Node::Group(group) => details::notes(&group.node, &mut found),
        Node::Broken(broken) => found.extend(details::broken(broken)),
        Node::Directory => {}
    }
    let faults = row.faults.iter().copied();
    found.extend(faults.flat_map(details::broken));
    found
}

fn detail_lines(details: &[Detail], room: usize, paint: &Paint) -> Vec<String> {
    let mut lines = Vec::new();
    let room = room.saturating_sub(LABEL).max(24);
    for detail in details {
        let (label, style, text) = match detail {
            Detail::Text(label, text) => (*label, FAINT, text),
            Detail::Problem(text) => ("problem", WRONG, text),
            Detail::Table(rows) => {
                for (n, row) in rows.iter().enumerate() {
                    lines.push(match n {
                        0 => paint.with(FAINT, row),
                        _ => row.clone(),
                    });
                }
                continue;
            }
        };
        for (n, line) in wrap(text, room).into_iter().enumerate() {
            let label = if n == 0 { label } else { "" };
            let padding = " ".repeat(LABEL - label.len());
            lines.push(format!("{}{padding}{line}", paint.with(style, label)));
        }
    }
    lines
}
