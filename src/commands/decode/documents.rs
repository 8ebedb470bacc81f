//! The documents of a plain store, from those of a packed one.

use super::super::rewrite::documents::{attributes_v2, draft, edited, editor, extension, numbers};
use super::cf;
use super::source::Source;
use crate::catalog::{ArrayText, Text};
use crate::codecs::{OpenArray, PlainChain, plain_chain, plain_chain_v2};
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::{Node, Problems, v2, v3};

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
            let mut editor = editor(text, codecs.node.span());
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
            let draft = array_v2(array, codecs, attributes.as_ref())?;
            Ok(PlainDocument {
                text: draft.to_document(&Layout::default()),
                replaced,
            })
        }
    }
}

/// The v3 document of an array of Zarr v2.
fn array_v2(array: &OpenArray, codecs: Draft, attributes: Option<&Text>) -> Result<Draft, Error> {
    let (names, kept) = attributes_v2(attributes, array.shape().len());
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
    if let Some(names) = names {
        members.push((
            "dimension_names",
            Draft::Array(names.into_iter().map(Draft::string).collect()),
        ));
    }
    Ok(Draft::object(members))
}
