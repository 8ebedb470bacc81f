//! Names of dimensions, from where Zarr v2 keeps them to `dimension_names`.

use super::outcome::{File, Note, NoteKind, Refusal};
use crate::metadata::describe;
use crate::metadata::json::Value;
use crate::metadata::v2::Array;

/// The attribute in which xarray keeps the names of dimensions.
pub(super) const ATTRIBUTE: &str = "_ARRAY_DIMENSIONS";

/// The members of `.zarray` in which netCDF keeps them.
const NETCDF: [&str; 2] = ["_NCZARR_ARRAY", "_nczarr_array"];

/// Names of dimensions, where there are any.
#[derive(Debug, Default)]
pub(super) struct Dimensions<'v> {
    pub(super) names: Option<Vec<String>>,
    /// The member of `.zarray` that they come from, if they do.
    pub(super) member: Option<&'v str>,
    pub(super) note: Option<Note>,
}

/// Finds the names, as xarray does.
pub(super) fn of<'v>(
    array: &Array<'v>,
    attributes: Option<&Value>,
    refusals: &mut Vec<Refusal>,
) -> Dimensions<'v> {
    let rank = array.shape.value.len();
    let Some(stated) = attributes.and_then(|attributes| attributes.get(ATTRIBUTE)) else {
        return of_netcdf(array, rank);
    };
    let names = stated.as_array().and_then(|names| {
        let names = names.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<_>>>()
    });
    let found = match &names {
        None => match stated.as_array() {
            Some(_) => "a list of other things than strings".to_owned(),
            None => describe(stated),
        },
        Some(names) if names.len() != rank => format!("a list of length {}", names.len()),
        Some(_) => {
            let message = "moved to \"dimension_names\", where Zarr v3 has them";
            let pointer = format!("/{ATTRIBUTE}");
            return Dimensions {
                names,
                member: None,
                note: Some(Note::attribute(pointer, NoteKind::DimensionNames, message)),
            };
        }
    };
    refusals.push(Refusal {
        file: File::Attributes,
        pointer: format!("/{ATTRIBUTE}"),
        found,
        expected: format!("a list of names, as many as the array has dimensions: {rank}"),
        hint: Some(format!("correct {ATTRIBUTE}, or remove it")),
    });
    Dimensions::default()
}

/// Names as netCDF writes them: paths of which the last part counts.
fn of_netcdf<'v>(array: &Array<'v>, rank: usize) -> Dimensions<'v> {
    let mut members = array.extras.iter();
    let Some(member) = members.find(|extra| NETCDF.contains(&extra.name)) else {
        return Dimensions::default();
    };
    let paths = member.node.value.get("dimrefs").and_then(Value::as_array);
    let names: Option<Vec<_>> = paths.unwrap_or_default().iter().map(last_part).collect();
    match names {
        Some(names) if paths.is_some() && names.len() == rank => Dimensions {
            names: Some(names),
            member: Some(member.name),
            note: Some(Note {
                file: File::Array,
                pointer: format!("{}/dimrefs", member.node.pointer),
                kind: NoteKind::DimensionNames,
                message: "became \"dimension_names\", where Zarr v3 has them".to_owned(),
            }),
        },
        _ => Dimensions::default(),
    }
}

fn last_part(path: &Value) -> Option<String> {
    let path = path.as_str()?;
    Some(path.rsplit('/').next().unwrap_or(path).to_owned())
}
