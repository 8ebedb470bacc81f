//! What arrays are in their hierarchy: values to pack, or coordinates, labels and whatever holds no real numbers.

use std::collections::HashSet;

use crate::catalog::{ArrayText, Catalog, Entry, GroupText, Kind};
use crate::metadata::json::Value;
use crate::transform::data_type::DataType;

/// The attribute in which xarray keeps the names of dimensions in Zarr v2.
const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// Attributes that name other arrays of the same group, as the CF conventions have them.
const NAMING: [&str; 4] = ["coordinates", "bounds", "climatology", "grid_mapping"];

/// Attributes of arrays whose values are not quantities but words.
const WORDS: [&str; 3] = ["flag_values", "flag_masks", "flag_meanings"];

/// The arrays that are not packed unless they are asked for.
#[derive(Debug, Default)]
pub(in crate::commands) struct Roles {
    /// The paths of those that attributes name.
    named: HashSet<String>,
    /// The paths of groups that hold label images.
    labels: HashSet<String>,
}

impl Roles {
    /// Looks at the attributes of all nodes.
    pub(in crate::commands) fn of(catalog: &Catalog) -> Self {
        let mut roles = Self::default();
        for entry in &catalog.entries {
            let (group, attributes) = match &entry.kind {
                Kind::Array(text) => (parent(&entry.path), text.attributes()),
                Kind::Group(GroupText::V3(text)) => {
                    (entry.path.as_str(), text.parsed.root.get("attributes"))
                }
                Kind::Group(GroupText::V2 { attributes, .. }) => (
                    entry.path.as_str(),
                    attributes.as_ref().map(|text| &text.parsed.root),
                ),
                Kind::Broken(_) => continue,
            };
            let Some(attributes) = attributes else {
                continue;
            };
            for name in NAMING {
                let names = attributes.get(name).and_then(Value::as_str);
                for name in names.unwrap_or_default().split_whitespace() {
                    // Names such as "crs: x y" of a grid mapping have a colon.
                    let name = name.trim_end_matches(':');
                    roles.named.insert(joined(group, name));
                }
            }
            let ome = attributes.get("ome").unwrap_or(attributes);
            if matches!(entry.kind, Kind::Group(_)) && ome.get("image-label").is_some() {
                roles.labels.insert(entry.path.clone());
            }
        }
        roles
    }

    /// Why an array is not packed unless it is asked for; `None` if it is packed.
    pub(in crate::commands) fn left_alone(
        &self,
        entry: &Entry,
        text: &ArrayText,
        type_name: &str,
    ) -> Option<&'static str> {
        if DataType::from_name(type_name).is_none() {
            return Some("no real numbers");
        }
        let name = entry.path.rsplit('/').next().unwrap_or_default();
        let is_dimension = matches!(dimensions(text).as_slice(), [Some(only)] if *only == name);
        if is_dimension || self.named.contains(&entry.path) {
            return Some("a coordinate");
        }
        let words = text
            .attributes()
            .is_some_and(|attributes| WORDS.iter().any(|word| attributes.get(word).is_some()));
        if words || self.labels.contains(parent(&entry.path)) {
            return Some("labels");
        }
        None
    }
}

/// The names of the dimensions, as far as they have any.
fn dimensions(text: &ArrayText) -> Vec<Option<&str>> {
    let names = match text {
        ArrayText::V3(text) => text.parsed.root.get("dimension_names"),
        ArrayText::V2 { attributes, .. } => attributes
            .as_ref()
            .and_then(|text| text.parsed.root.get(ARRAY_DIMENSIONS)),
    };
    let names = names.and_then(Value::as_array).unwrap_or_default();
    names.iter().map(Value::as_str).collect()
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn joined(group: &str, name: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{group}/{name}")
    }
}
