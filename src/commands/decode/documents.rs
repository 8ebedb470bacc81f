//! The documents of a plain store, from those of a packed one.

use super::super::rewrite::documents::{attributes_v2, draft, edited, editor, extension, numbers};
use super::cf;
use super::source::Source;
use crate::catalog::{ArrayText, Text};
use crate::codecs::{OpenArray, PlainChain, plain_chain, plain_chain_v2};
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v2, v3};
use crate::migration;

/// The document of a plain array, and what became of its codecs.
#[derive(Debug)]
pub(super) struct PlainDocument {
    /// `zarr.json`
    pub(super) text: String,
    /// The names of compressors that zstd stands in for.
    pub(super) replaced: Vec<String>,
}

/// The document that an array has when nothing in it is packed any more.
///
/// A document of Zarr v3 keeps all its text but that of `codecs`, and of bare non-finite numbers, which become strings; and
/// what CF attributes change that were applied.
pub(super) fn array(text: &ArrayText, source: &Source) -> Result<PlainDocument, Error> {
    let mut document = plain(text, &source.array, source.element_size())?;
    if let Some(cf) = &source.cf {
        document.text = cf::unpacked(&document.text, cf)?;
    }
    Ok(document)
}

fn plain(text: &ArrayText, array: &OpenArray, element_size: usize) -> Result<PlainDocument, Error> {
    match text {
        ArrayText::V3(text) => {
            let mut problems = Problems::default();
            let v3::Document::Array(partial) =
                v3::read(&Node::root(&text.parsed.root), &mut problems)
            else {
                return Err(Error::finding("zarr.json is no array"));
            };
            let codecs = partial
                .codecs
                .ok_or_else(|| Error::finding("zarr.json has no codecs"))?;
            let PlainChain {
                codecs: plain,
                replaced,
            } = plain_chain(&codecs, element_size);
            let mut editor = editor(text, &[codecs.node.span()]);
            editor.replace(codecs.node.value, &plain);
            Ok(PlainDocument {
                text: editor.apply().map_err(edited)?,
                replaced,
            })
        }
        ArrayText::V2 {
            array: document,
            attributes,
        } => {
            let mut problems = Problems::default();
            let v2 = v2::array(&Node::root(&document.parsed.root), &mut problems).complete();
            let v2 = v2.ok_or_else(|| Error::finding(".zarray is incomplete"))?;
            let compressor = v2
                .compressor
                .as_ref()
                .map(|codec| (codec.id.value, codec.node.value));
            let PlainChain { codecs, replaced } = plain_chain_v2(compressor, element_size);
            let draft = array_v2(array, codecs, said_v2(&v2, attributes.as_ref()))?;
            Ok(PlainDocument {
                text: draft.to_document(&Layout::default()),
                replaced,
            })
        }
    }
}

/// What the attributes of an array of Zarr v2 say in Zarr v3: names of dimensions, and the rest.
///
/// xarray takes the fill of Zarr v2 for missing, and of Zarr v3 only an attribute: converting says so, where it can.
fn said_v2(array: &v2::Array<'_>, attributes: Option<&Text>) -> (Option<Draft>, Draft) {
    let root = attributes.map(|text| &text.parsed.root);
    let converted = migration::v2::array(array, root, v3::Separator::Dot).ok();
    let said = converted.and_then(|converted| {
        let parsed = parse(
            converted.text.as_bytes(),
            &Limits::default(),
            NonFinite::Keep,
        )
        .ok()?;
        let names = parsed.root.get("dimension_names").map(Draft::from);
        Some((names, Draft::from(parsed.root.get("attributes")?)))
    });
    said.unwrap_or_else(|| {
        let (names, kept) = attributes_v2(attributes, array.shape.value.len());
        let names = names.map(|names| names.into_iter().map(Draft::string).collect());
        (names.map(Draft::Array), kept)
    })
}

/// The v3 document of an array of Zarr v2, given what its attributes say.
fn array_v2(
    array: &OpenArray,
    codecs: Draft,
    (names, kept): (Option<Draft>, Draft),
) -> Result<Draft, Error> {
    let grid = [("chunk_shape", numbers(&array.chunk_shape()))];
    let keys = [("separator", Draft::string("/"))];
    let mut members = vec![
        ("zarr_format", Draft::from(3_u64)),
        ("node_type", Draft::string("array")),
        ("shape", numbers(array.shape())),
        ("data_type", Draft::string(array.data_type())),
        ("chunk_grid", extension("regular", grid)),
        ("chunk_key_encoding", extension("default", keys)),
        ("fill_value", draft(array.fill_json())?),
        ("codecs", codecs),
        ("attributes", kept),
    ];
    members.extend(names.map(|names| ("dimension_names", names)));
    Ok(Draft::object(members))
}
