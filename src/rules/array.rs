//! An array as rules look at it: its document, its attributes, its chain bound as far as that goes.

use std::cell::OnceCell;

use super::document::Document;
use super::node::{Form, Node};
use crate::codecs::configuration::{CAST_VALUE, SCALE_OFFSET, is_packing};
use crate::codecs::model::{Level, Model, Packing, Stage, Step};
use crate::codecs::{ArrayDocument, OpenArray, OpenError};
use crate::metadata::json::{Kind, Value};
use crate::metadata::v3::{self, Chain, ChunkGrid, KeyEncoding};
use crate::metadata::{DocumentKind, Extension, Located, Node as Place, v2};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::problem::Problem;
use crate::transform::scalar::Scalar;

/// Chains of more codecs are counted and not looked at. No array that can be decoded comes near.
pub(super) const MOST_CODECS: usize = 512;

/// The name that stands in for a type that cannot be read.
pub(super) const NO_TYPE: &str = "";

/// An array.
pub(super) struct Array<'n> {
    /// `zarr.json` or `.zarray`.
    pub(super) document: &'n Document<'n>,
    /// The array, with what could not be read left empty. A document that says nothing of its type has none.
    pub(super) form: Complete<'n>,
    /// The chain, followed as far as it can be.
    pub(super) model: Option<Model>,
    /// Why the array cannot be opened, where its document is complete and it cannot.
    pub(super) refused: Option<OpenError>,
    /// The attributes, with the document they stand in.
    pub(super) attributes: Option<(&'n Document<'n>, Place<'n>)>,
    /// How many codecs there are.
    pub(super) codecs: usize,
    /// The problems of packing codecs that no type reaches, and where they are, once a rule has asked.
    pub(super) untyped: OnceCell<Vec<(Problem, String)>>,
}

/// The document of an array.
pub(super) enum Complete<'n> {
    V3(Box<v3::Array<'n>>),
    V2(Box<v2::Array<'n>>),
    /// Too little could be read, or there is too much of it.
    Neither,
}

/// One codec of a chain, with what reaches it.
pub(super) struct CodecAt<'m> {
    pub(super) name: &'m str,
    /// Where it stands in the document.
    pub(super) pointer: &'m str,
    /// Type and fill as they reach it.
    pub(super) incoming: Stage,
    /// The type of the values that become bytes at this level, where it is known.
    pub(super) serialized: Option<DataType>,
}

impl<'n> Array<'n> {
    /// What can be told of the array of a node, if it is one.
    pub(super) fn new(node: &'n Node<'n>) -> Option<Self> {
        let (document, form, codecs, sound) = match node.form.as_ref()? {
            Form::V3(array) => {
                let document = node.document(DocumentKind::ZarrJson)?;
                let codecs = codecs_in(document.root().and_then(|root| root.get("codecs")));
                let few = codecs <= MOST_CODECS;
                let sound = few && (**array).clone().complete().is_some();
                let form = match few.then(|| lenient(array, document)).flatten() {
                    Some(array) => Complete::V3(Box::new(array)),
                    None => Complete::Neither,
                };
                (document, form, codecs, sound)
            }
            Form::V2(array) => {
                let document = node.document(DocumentKind::ZArray)?;
                let compressor = document.root().and_then(|root| root.get("compressor"));
                let codecs = codecs_in(document.root().and_then(|root| root.get("filters")))
                    + usize::from(compressor.is_some_and(|value| value.as_object().is_some()));
                let few = codecs <= MOST_CODECS;
                let sound = few && (**array).clone().complete().is_some();
                let form = match few.then(|| lenient_v2(array, document)).flatten() {
                    Some(array) => Complete::V2(Box::new(array)),
                    None => Complete::Neither,
                };
                (document, form, codecs, sound)
            }
        };
        let mut array = Self {
            document,
            form,
            model: None,
            refused: None,
            attributes: attributes(node, document),
            codecs,
            untyped: OnceCell::new(),
        };
        let handed = match &array.form {
            Complete::V3(array) => Some(ArrayDocument::V3(array)),
            Complete::V2(array) => Some(ArrayDocument::V2(array)),
            Complete::Neither => None,
        };
        if let Some(handed) = handed {
            let model = Model::new(handed);
            let refused = if sound {
                OpenArray::check(handed).err()
            } else {
                None
            };
            array.model = model.ok();
            array.refused = refused;
        }
        Some(array)
    }

    /// The document in the form in which arrays are opened.
    pub(super) fn handed(&self) -> Option<ArrayDocument<'_, 'n>> {
        match &self.form {
            Complete::V3(array) => Some(ArrayDocument::V3(array)),
            Complete::V2(array) => Some(ArrayDocument::V2(array)),
            Complete::Neither => None,
        }
    }

    /// The v3 document.
    pub(super) fn v3(&self) -> Option<&v3::Array<'n>> {
        match &self.form {
            Complete::V3(array) => Some(array),
            _ => None,
        }
    }

    /// The v2 document.
    pub(super) fn v2(&self) -> Option<&v2::Array<'n>> {
        match &self.form {
            Complete::V2(array) => Some(array),
            _ => None,
        }
    }

    /// All chains of a v3 document: that of the chunks, and those of the inner chunks and the index of every shard.
    pub(super) fn chains(&self) -> Vec<&Chain<'n>> {
        self.v3()
            .map(|array| array.codecs.nested())
            .unwrap_or_default()
    }

    /// The type of the array, where it is one of the real numbers.
    pub(super) fn data_type(&self) -> Option<DataType> {
        self.model.as_ref()?.outer.incoming.data_type
    }

    /// The runs of packing codecs.
    pub(super) fn packing(&self) -> impl Iterator<Item = &Packing> {
        self.model.iter().flat_map(Model::packing)
    }

    /// The codecs of all levels, outermost first, with what reaches each.
    pub(super) fn places(&self) -> Vec<CodecAt<'_>> {
        let mut carried = None;
        let levels = self.model.iter().flat_map(Model::levels);
        levels
            .flat_map(|level| places(self, level, &mut carried))
            .collect()
    }

    /// What a packing codec gives out by what it says itself, whatever else is wrong with it or before it.
    fn stated_type(&self, pointer: &str, incoming: Option<DataType>) -> Option<DataType> {
        let entry = self.entry(pointer)?;
        let name = entry.get("name").and_then(Value::as_str);
        match name.or_else(|| entry.as_str()) {
            Some(CAST_VALUE) => {
                let stated = entry.lookup("/configuration/data_type")?;
                let name = stated.as_str().or_else(|| stated.get("name")?.as_str())?;
                DataType::from_name(name)
            }
            Some(SCALE_OFFSET) => incoming,
            _ => None,
        }
    }

    /// The entry of a codec in the document.
    pub(super) fn entry(&self, pointer: &str) -> Option<&'n Value> {
        self.document.root()?.lookup(pointer)
    }

    /// An attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<Place<'n>> {
        self.attributes.as_ref()?.1.get(name)
    }
}

/// The codecs of one level. `carried` is the type that reaches it from the level around it, and becomes that which reaches the
/// level in it.
fn places<'m>(
    array: &'m Array<'_>,
    level: &'m Level,
    carried: &mut Option<DataType>,
) -> Vec<CodecAt<'m>> {
    let mut stage = level.incoming;
    stage.data_type = stage.data_type.or(*carried);
    let mut found: Vec<CodecAt<'_>> = Vec::new();
    let mut serialized = stage.data_type;
    for step in &level.steps {
        let mut outgoing = step.outgoing();
        match step {
            Step::Packing(packing) => {
                let chain = packing.binding.chain.as_ref();
                let mut stated = stage;
                for (n, (name, pointer)) in packing.names.iter().zip(&packing.pointers).enumerate()
                {
                    let incoming = match chain {
                        Some(chain) => Stage {
                            data_type: chain.codecs().get(n).map(|codec| codec.incoming()),
                            fill: chain.fill().and_then(|fill| fill.encoded.get(n)).copied(),
                        },
                        None => stated,
                    };
                    found.push(CodecAt {
                        name,
                        pointer,
                        incoming,
                        serialized: None,
                    });
                    stated = Stage {
                        data_type: array.stated_type(pointer, incoming.data_type),
                        fill: None,
                    };
                }
                outgoing.data_type = outgoing.data_type.or(stated.data_type);
                serialized = outgoing.data_type;
            }
            Step::Other(other) => {
                found.push(CodecAt {
                    name: &other.name,
                    pointer: &other.pointer,
                    incoming: stage,
                    serialized: None,
                });
                if outgoing.data_type.is_none() {
                    outgoing.data_type = match other.name.as_str() {
                        "transpose" => stage.data_type,
                        name if is_packing(name) => {
                            array.stated_type(&other.pointer, stage.data_type)
                        }
                        _ => None,
                    };
                }
                if other.name == v3::SHARDING {
                    *carried = stage.data_type;
                }
                if outgoing.data_type.is_some() {
                    serialized = outgoing.data_type;
                } else if super::core::is_array_codec(&other.name) {
                    serialized = None;
                }
            }
        }
        stage = outgoing;
    }
    for place in &mut found {
        place.serialized = serialized;
    }
    found
}

/// The attributes of an array, of whichever version.
fn attributes<'n>(
    node: &'n Node<'n>,
    document: &'n Document<'n>,
) -> Option<(&'n Document<'n>, Place<'n>)> {
    let (document, attributes) = if document.kind == DocumentKind::ZarrJson {
        (document, Place::root(document.root()?).get("attributes")?)
    } else {
        let document = node.document(DocumentKind::ZAttrs)?;
        (document, Place::root(document.root()?))
    };
    attributes
        .value
        .as_object()
        .is_some()
        .then_some((document, attributes))
}

/// The codecs that a list holds, with those in the shards among them, whether or not they can be read.
fn codecs_in(list: Option<&Value>) -> usize {
    let codecs = list.and_then(Value::as_array).unwrap_or_default();
    let inside = |codec: &Value| {
        let sharded = codec.get("name").and_then(Value::as_str) == Some(v3::SHARDING);
        let configuration = codec.get("configuration").filter(|_| sharded);
        configuration.map_or(0, |configuration| {
            codecs_in(configuration.get("codecs")) + codecs_in(configuration.get("index_codecs"))
        })
    };
    codecs.len() + codecs.iter().map(inside).sum::<usize>()
}

/// The array of a document of which parts may be missing, for looking at the others.
fn lenient<'n>(array: &v3::PartialArray<'n>, document: &Document<'n>) -> Option<v3::Array<'n>> {
    let array = array.clone();
    let root = Place::root(document.root()?);
    let data_type = array.data_type.unwrap_or_else(|| Extension {
        name: NO_TYPE,
        name_span: root.span(),
        configuration: None,
        must_understand: true,
        extras: Vec::new(),
        node: root.clone(),
    });
    let codecs = match array.codecs {
        Some(codecs) => codecs,
        None => Chain::readable_part(&root.get("codecs")?),
    };
    Some(v3::Array {
        shape: array
            .shape
            .unwrap_or_else(|| absent(&root, "shape", Vec::new())),
        chunk_grid: array
            .chunk_grid
            .unwrap_or_else(|| ChunkGrid::Other(data_type.clone())),
        chunk_keys: array.chunk_keys.unwrap_or_else(|| v3::ChunkKeys {
            encoding: KeyEncoding::Other,
            entry: data_type.clone(),
        }),
        fill_value: array.fill_value.unwrap_or(root),
        data_type,
        codecs,
        optional: array.optional,
    })
}

/// The same of a v2 document.
fn lenient_v2<'n>(array: &v2::PartialArray<'n>, document: &Document<'n>) -> Option<v2::Array<'n>> {
    let array = array.clone();
    let root = Place::root(document.root()?);
    let dtype = array.dtype?;
    let rank = array.shape.as_ref().map_or(0, |shape| shape.value.len());
    let shape = array
        .shape
        .unwrap_or_else(|| absent(&root, "shape", Vec::new()));
    Some(v2::Array {
        chunks: array
            .chunks
            .filter(|chunks| chunks.value.len() == rank)
            .unwrap_or_else(|| absent(&root, "chunks", vec![1; rank])),
        shape,
        dtype,
        compressor: array.compressor.unwrap_or_default(),
        filters: array.filters.unwrap_or_default(),
        order: array
            .order
            .unwrap_or_else(|| absent(&root, "order", v2::Order::C)),
        fill_value: array
            .fill_value
            .unwrap_or_else(|| absent(&root, "fill_value", v2::FillValue::Undefined)),
        dimension_separator: array.dimension_separator,
        extras: array.extras,
    })
}

/// What stands in for a member that cannot be read.
fn absent<T>(root: &Place<'_>, name: &str, value: T) -> Located<T> {
    Located {
        value,
        pointer: root.pointer.member(name),
        span: root.span(),
    }
}

/// A scalar as a document has it.
pub(super) fn literal(value: &Value) -> Literal {
    match &value.kind {
        Kind::Number(token) => Literal::Number(token.clone()),
        Kind::String(text) | Kind::NonFinite(text) => Literal::String(text.clone()),
        _ => Literal::Other(value.type_name().to_owned()),
    }
}

/// The scalar of a type that a value is, if it is one.
pub(super) fn scalar(value: &Value, data_type: DataType) -> Option<Scalar> {
    Scalar::parse(&literal(value), data_type).ok()
}

/// A value for a message: scalars themselves, cut where they are long, and the type of all else.
pub(super) fn describe(value: &Value) -> String {
    const LONGEST: usize = 60;
    match &value.kind {
        Kind::Number(token) => super::finding::cut(token, LONGEST),
        Kind::String(text) => {
            format!("\"{}\"", super::finding::cut(text, LONGEST).escape_debug())
        }
        Kind::Bool(value) => value.to_string(),
        _ => value.type_name().to_owned(),
    }
}
