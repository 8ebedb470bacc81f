//! The columns of `--format csv`: for each dimension its coordinate, or the index where it has none.

use std::ops::Range;

use super::super::rewrite::documents::attributes_v2;
use super::super::rewrite::input::Input;
use super::DecodeArgs;
use super::element::Element;
use super::source::Source;
use crate::catalog::{ArrayText, Catalog, Entry, Kind, named};
use crate::error::Error;
use crate::metadata::json::Value;
use crate::region::Region;
use crate::report::decode::Column as Reported;
use crate::store::Store;
use crate::ui::Ui;

/// The memory that the text of one coordinate takes, its handle included.
const TEXT_BYTES: u64 = 48;

/// The columns before the one of values.
pub(super) struct Columns {
    columns: Vec<Column>,
}

struct Column {
    name: String,
    coordinate: Option<Coordinate>,
}

/// An array of one dimension whose values stand for the indices of a dimension.
struct Coordinate {
    source: Source,
    element: Element,
    /// Where it is, for the report.
    path: String,
    /// All of it that the region asks for, and where that begins, if it is small enough to be kept.
    loaded: Option<(u64, Vec<u8>)>,
}

impl Columns {
    /// Looks for a coordinate of each dimension: an array of one dimension in the same group that has the name and the length
    /// of the dimension.
    pub(super) fn find(
        ui: &mut Ui,
        input: &Input,
        entry: &Entry,
        text: &ArrayText,
        source: &Source,
        args: &DecodeArgs,
        memory: u64,
    ) -> Self {
        let shape = source.array.shape();
        let names = dimension_names(text, shape.len());
        let reserved = |name: &str| {
            let indices = 0..shape.len();
            name == "value" || indices.into_iter().any(|n| name == index_name(n))
        };
        let mut columns = Vec::new();
        for (n, length) in shape.iter().enumerate() {
            let name = names.get(n).and_then(Option::as_deref);
            // A name that two columns would have tells nobody which is which.
            let name = name.filter(|name| {
                let same = names.iter().filter(|other| other.as_deref() == Some(name));
                same.count() == 1 && !reserved(name)
            });
            let coordinate = name.and_then(|name| {
                let found = coordinate(input, entry, name, *length, args, memory);
                found.unwrap_or_else(|reason| {
                    let own = named(&entry.path);
                    ui.warning(format!(
                        "{own}: the column of dimension {name:?} has indices, since {reason}"
                    ));
                    None
                })
            });
            columns.push(Column {
                name: match (&coordinate, name) {
                    (Some(_), Some(name)) => name.to_owned(),
                    _ => index_name(n),
                },
                coordinate,
            });
        }
        Self { columns }
    }

    /// Reads the coordinates that a region needs, as far as they take no more than `limit` bytes each.
    pub(super) fn load(&mut self, region: &Region, limit: u64) -> Result<(), Error> {
        for (column, range) in self.columns.iter_mut().zip(&region.ranges) {
            if let Some(coordinate) = &mut column.coordinate
                && coordinate.source.box_bytes(std::slice::from_ref(range)) <= limit
            {
                let values = coordinate.source.read_box(std::slice::from_ref(range))?;
                coordinate.loaded = Some((range.start, values));
            }
        }
        Ok(())
    }

    /// The header row.
    pub(super) fn header(&self) -> String {
        let names = self.columns.iter().map(|column| field(&column.name) + ",");
        names.collect::<String>() + "value\n"
    }

    /// The fields of each column that the rows of a box take theirs from; each with its comma.
    pub(super) fn fields(&self, part: &[Range<u64>]) -> Result<Vec<Vec<String>>, Error> {
        let columns = self.columns.iter().zip(part);
        columns
            .map(|(column, range)| match &column.coordinate {
                Some(coordinate) => coordinate.fields(range),
                None => Ok(range.clone().map(|n| format!("{n},")).collect()),
            })
            .collect()
    }

    /// The memory that the fields of a box take.
    pub(super) fn fields_bytes(&self, part: &[Range<u64>]) -> u64 {
        let columns = self.columns.iter().zip(part);
        let bytes = columns.map(|(column, range)| {
            let texts = (range.end - range.start).saturating_mul(TEXT_BYTES);
            match &column.coordinate {
                Some(coordinate) if coordinate.loaded.is_none() => texts
                    .saturating_add(coordinate.source.box_bytes(std::slice::from_ref(range)))
                    .saturating_add(coordinate.source.working_bytes()),
                _ => texts,
            }
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// What the report says of them.
    pub(super) fn reported(&self) -> Vec<Reported> {
        let columns = self.columns.iter().map(|column| Reported {
            name: column.name.clone(),
            coordinate: column
                .coordinate
                .as_ref()
                .map(|coordinate| coordinate.path.clone()),
        });
        columns.collect()
    }
}

impl Coordinate {
    fn fields(&self, range: &Range<u64>) -> Result<Vec<String>, Error> {
        let size = self.source.element_size();
        let read;
        let values = match &self.loaded {
            Some((start, values)) => {
                let place = |n: u64| usize::try_from(n - start).unwrap_or(usize::MAX) * size;
                &values[place(range.start)..place(range.end)]
            }
            None => {
                read = self.source.read_box(std::slice::from_ref(range))?;
                &read
            }
        };
        let fields = values
            .chunks_exact(size)
            .map(|bytes| self.element.field(bytes) + ",");
        Ok(fields.collect())
    }
}

/// The name of a column of indices.
fn index_name(dimension: usize) -> String {
    format!("dim_{dimension}")
}

/// The names of an array's dimensions, those that it has.
fn dimension_names(text: &ArrayText, rank: usize) -> Vec<Option<String>> {
    match text {
        ArrayText::V3(text) => {
            let names = text.parsed.root.get("dimension_names");
            let names = names.and_then(Value::as_array).unwrap_or_default();
            names
                .iter()
                .map(|name| name.as_str().map(str::to_owned))
                .collect()
        }
        ArrayText::V2 { attributes, .. } => {
            let (names, _) = attributes_v2(attributes.as_ref(), rank);
            let names = names.unwrap_or_default();
            names
                .into_iter()
                .map(|name| Some(name.to_owned()))
                .collect()
        }
    }
}

/// The coordinate of a dimension; `None` if there is no array that could be it, an error in words if it cannot be used.
fn coordinate(
    input: &Input,
    entry: &Entry,
    name: &str,
    length: u64,
    args: &DecodeArgs,
    memory: u64,
) -> Result<Option<Coordinate>, String> {
    let is_node_name = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    if !is_node_name {
        return Ok(None);
    }
    let outside;
    let (path, found) = match entry.path.rsplit_once('/') {
        _ if entry.path.is_empty() => {
            outside = beside(input, name);
            (name.to_owned(), outside.entries.first())
        }
        Some((group, _)) => in_catalog(&input.catalog, format!("{group}/{name}")),
        None => in_catalog(&input.catalog, name.to_owned()),
    };
    let Some(found) = found else {
        return Ok(None);
    };
    let Kind::Array(text) = &found.kind else {
        return match &found.kind {
            Kind::Broken(_) => Err(format!("{} is not sound", named(&path))),
            _ => Ok(None),
        };
    };
    if found.directory == entry.directory {
        return Ok(None);
    }
    // What has other dimensions is no coordinate, and need not be readable.
    let names = dimension_names(text, 1);
    if names.len() > 1 || names.iter().flatten().any(|own| own != name) {
        return Ok(None);
    }
    let source = Source::open(found, text, memory, args.cf).map_err(|error| {
        let details = error.details().iter();
        details.fold(error.to_string(), |text, detail| text + "; " + detail)
    })?;
    if source.array.shape() != [length] {
        return Ok(None);
    }
    let element = Element::of(&source, false).ok_or_else(|| {
        format!(
            "values of type {} cannot be printed ({})",
            source.data_type(),
            named(&path)
        )
    })?;
    Ok(Some(Coordinate {
        source,
        element,
        path,
        loaded: None,
    }))
}

fn in_catalog(catalog: &Catalog, path: String) -> (String, Option<&Entry>) {
    let found = catalog.entries.iter().find(|entry| entry.path == path);
    (path, found)
}

/// A node beside INPUT, in the group that INPUT is in.
fn beside(input: &Input, name: &str) -> Catalog {
    let group = input.store.enclosing().last();
    let store = group.and_then(|group| Store::open(group.directory.join(name)).ok());
    store.map(|store| Catalog::read(&store)).unwrap_or_default()
}

/// A field as RFC 4180 has it: in quotes where it must be.
pub(super) fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        for (text, expected) in [
            ("plain text", "plain text"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
