//! `--cf`: the attributes of an array read for decoding, and its document once they have been applied.

use clap::ValueEnum;

use super::super::rewrite::documents::edited;
use crate::catalog::{ArrayText, Entry, named};
use crate::cf::{CfDecoding, Subject, decoding as read, draft};
use crate::codecs::OpenArray;
use crate::codecs::model::Model;
use crate::error::Error;
use crate::metadata::edit::{Draft, Editor};
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::report::decode as report;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// The type of the values that CF attributes make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CfType {
    /// float64, but floats of which values are only missing keep their type
    Auto,
    /// float32, rounded once from float64
    Float32,
    /// float64
    Float64,
}

impl CfType {
    const fn wanted(self) -> Option<DataType> {
        match self {
            Self::Auto => None,
            Self::Float32 => Some(DataType::Float32),
            Self::Float64 => Some(DataType::Float64),
        }
    }
}

/// How the attributes of an array say that it is to be decoded; `None` where they say nothing.
pub(super) fn decoding(
    entry: &Entry,
    text: &ArrayText,
    array: &OpenArray,
    wanted: CfType,
) -> Result<Option<CfDecoding>, Error> {
    let codecs = text.with(|document| {
        let model = Model::new(document).ok()?;
        let names = model.packing().flat_map(|packing| &packing.names);
        Some(names.cloned().collect::<Vec<_>>())
    });
    let names = codecs.ok().flatten().unwrap_or_default();
    let codecs: Vec<_> = names.iter().map(String::as_str).collect();
    let data_type = array.element_type();
    let fill = data_type
        .filter(|_| array.fill_is_defined())
        .map(|data_type| Scalar::from_ne_bytes(data_type, array.fill()));
    let subject = Subject {
        attributes: text.attributes(),
        type_name: array.data_type(),
        data_type,
        fill,
        is_v2: matches!(text, ArrayText::V2 { .. }),
        codecs: &codecs,
    };
    read(subject, wanted.wanted()).map_err(|problems| {
        let message = format!(
            "{} cannot be decoded by its CF attributes",
            named(&entry.path)
        );
        let mut error = Error::finding(message);
        for problem in problems {
            let place = match (problem.attribute, text) {
                (Some(name), ArrayText::V3(text)) => {
                    text.place("zarr.json", &format!("/attributes/{name}"))
                }
                (Some(name), ArrayText::V2 { attributes, .. }) => match attributes {
                    Some(text) => text.place(".zattrs", &format!("/{name}")),
                    None => ".zattrs".to_owned(),
                },
                (None, ArrayText::V3(text)) => text.place("zarr.json", "/fill_value"),
                (None, ArrayText::V2 { array, .. }) => array.place(".zarray", "/fill_value"),
            };
            error = error.detail(format!("{place}: {}", problem.message));
        }
        if codecs.is_empty() {
            error.hint("correct the attribute, or decode without --cf")
        } else {
            error.hint(
                "decode without --cf; if both packings are meant, decode the result with --cf",
            )
        }
    })
}

/// The document of a plain array, changed so that it describes the unpacked values.
pub(super) fn unpacked(document: &str, cf: &CfDecoding) -> Result<String, Error> {
    let parsed = parse(document.as_bytes(), &Limits::default(), NonFinite::Keep);
    let parsed = parsed
        .map_err(|error| Error::finding("a document that was made is not JSON").because(error))?;
    let root = &parsed.root;
    let mut editor = Editor::new(document, root);
    let data_type = Draft::string(cf.unpacking.target().name());
    editor
        .set_member(root, "data_type", &data_type)
        .and_then(|()| editor.set_member(root, "fill_value", &draft(cf.fill)))
        .map_err(edited)?;
    if let Some(attributes) = root.get("attributes") {
        let moved = cf.converted.iter().map(|converted| converted.from);
        let moved =
            moved.filter(|from| !cf.converted.iter().any(|converted| converted.name == *from));
        // What is missing is NaN now; the conversion from Zarr v2 may have added an attribute that says otherwise.
        let said = (!cf.removed.contains(&"_FillValue")).then_some("_FillValue");
        for name in cf.removed.iter().copied().chain(moved).chain(said) {
            editor.remove_member(attributes, name).map_err(edited)?;
        }
        for converted in &cf.converted {
            editor
                .set_member(attributes, converted.name, &converted.draft())
                .map_err(edited)?;
        }
    }
    editor.apply().map_err(edited)
}

/// What was applied, for the report.
pub(super) fn reported(cf: &CfDecoding) -> report::Cf {
    let json = |scalar: Scalar| serde_json::from_str(&scalar.to_json()).unwrap_or_default();
    let converted = cf.converted.iter().map(|converted| report::Converted {
        from: converted.from.to_owned(),
        to: converted.name.to_owned(),
        value: match (converted.values.as_slice(), converted.list) {
            ([value], false) => json(*value),
            (values, _) => values.iter().map(|value| json(*value)).collect(),
        },
    });
    let missing = cf.missing.iter().map(|(from, value)| report::Missing {
        from: (*from).to_owned(),
        value: json(*value),
    });
    report::Cf {
        stored_type: cf.unpacking.stored().name().to_owned(),
        data_type: cf.unpacking.target().name().to_owned(),
        scale_factor: cf.scale_factor,
        add_offset: cf.add_offset,
        missing: missing.collect(),
        removed: cf.removed.iter().map(|name| (*name).to_owned()).collect(),
        converted: converted.collect(),
    }
}

/// What was applied, in words.
pub(super) fn in_words(cf: &CfDecoding) -> String {
    let stored = cf.unpacking.stored();
    let mut formula = stored.name().to_owned();
    if let Some(factor) = cf.scale_factor {
        formula.push_str(&format!(" * {factor}"));
    }
    if let Some(offset) = cf.add_offset {
        let sign = if offset.is_sign_negative() { '-' } else { '+' };
        formula.push_str(&format!(" {sign} {}", offset.abs()));
    }
    let mut words = match cf.unpacking.computes() {
        true => format!("value = {formula} in float64"),
        false => format!("{stored} as stored"),
    };
    let mut missing: Vec<_> = cf
        .missing
        .iter()
        .map(|(_, value)| value.to_string())
        .collect();
    missing.dedup();
    missing.retain(|value| value != "NaN");
    if !missing.is_empty() {
        words.push_str(&format!(", NaN for {}", missing.join(", ")));
    }
    words
}
