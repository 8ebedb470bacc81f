//! A candidate as documents and people have it: the codecs in JSON, the chain in words, the formula, and who can read it.

use super::candidate::Candidate;
use super::elements::number_text;
use crate::codecs::ArrayDocument;
use crate::codecs::formula::Formula;
use crate::codecs::model::Model;
use crate::codecs::short;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::v3::SHARDING;
use crate::metadata::{Node, Problems, v3};
use crate::readers::{Opens, readers};
use crate::transform::chain::{BoundCodec, Direction};
use crate::transform::literal::Literal;
use crate::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
use crate::transform::scalar::Scalar;

/// What stands behind the packing codecs where the chain is shown.
const BYTES: &str = "bytes";

impl Candidate {
    /// The array-to-array codecs as a document has them.
    #[must_use]
    pub fn codecs_json(&self) -> Draft {
        Draft::Array(self.codecs.iter().filter_map(codec).collect())
    }

    /// The chain in words and what it computes.
    #[must_use]
    pub fn words(&self) -> Option<(String, Option<Formula>)> {
        self.with_document(false, |document| {
            let model = Model::new(document).ok()?;
            let words = model.to_string();
            let words = words
                .strip_suffix(&format!(" -> {BYTES}"))
                .unwrap_or(&words);
            Some((words.to_owned(), model.formula()))
        })?
        .map(|(words, formula)| (words, formula.map(|formula| self.in_full(formula))))
    }

    /// A formula with the numbers that its parameters are in a type of so few digits that the shortest texts are others.
    fn in_full(&self, formula: Formula) -> Formula {
        if self.chain.data_type().bits() > 16 {
            return formula;
        }
        let shifts = self.chain.codecs().iter().filter_map(|codec| match codec {
            BoundCodec::ScaleOffset(codec) => Some([codec.offset, codec.scale]),
            _ => None,
        });
        let numbers = shifts.flatten().flatten().filter_map(Scalar::magnitude);
        let texts: Vec<_> = numbers
            .map(|number| (short(number), number_text(number.to_f64())))
            .collect();
        let of = |token: &str| {
            let known = texts.iter().find(|(short, _)| short == token);
            known.map_or_else(|| token.to_owned(), |(_, full)| full.clone())
        };
        let rewritten = |text: &str| {
            let parts = text.split_inclusive([' ', '(', ')']);
            let parts = parts.map(|part| {
                let end = part.trim_end_matches([' ', '(', ')']);
                of(end) + &part[end.len()..]
            });
            parts.collect::<String>()
        };
        Formula {
            encode: rewritten(&formula.encode),
            decode: rewritten(&formula.decode),
        }
    }

    /// What the reader that most people have makes of an array with this chain: its name and version, why it does not open it, and
    /// which other readers are known to; `None` where it opens it.
    #[must_use]
    pub fn not_opened_by_zarr_python(&self) -> Option<String> {
        let verdicts = self.with_document(self.sharded, readers)?;
        let first = verdicts.first()?;
        let Opens::No(reason) = &first.opens else {
            return None;
        };
        let others = verdicts.iter().filter(|one| one.opens == Opens::Yes);
        let others: Vec<_> = others
            .map(|one| format!("{} {}", one.reader, one.version))
            .collect();
        let others = match others.as_slice() {
            [] => "no other program is known to".to_owned(),
            some => format!("known to: {}", some.join(", ")),
        };
        Some(format!(
            "{} {} does not open this: {reason}; {others}",
            first.reader, first.version
        ))
    }

    /// Hands on the document of an array that is packed so, in shards or not.
    fn with_document<R>(
        &self,
        sharded: bool,
        look: impl FnOnce(ArrayDocument<'_, '_>) -> R,
    ) -> Option<R> {
        // Where there is no fill yet, one that the chain carries.
        let fill = self
            .chain
            .fill()
            .and_then(|fill| fill.encoded.first().copied());
        let fill = fill.or_else(|| self.chain.transform(Direction::Decode, self.ends.0).ok());
        let fill = fill.map_or(Draft::from(0_u64), scalar);
        let Draft::Array(mut codecs) = self.codecs_json() else {
            return None;
        };
        codecs.push(Draft::object([("name", Draft::string(BYTES))]));
        let shape = || Draft::Array(vec![Draft::from(1_u64)]);
        let named = |name: &str, configuration| {
            Draft::object([
                ("name", Draft::string(name)),
                ("configuration", configuration),
            ])
        };
        if sharded {
            let little = Draft::object([("endian", Draft::string("little"))]);
            let inner = Draft::object([
                ("chunk_shape", shape()),
                ("codecs", Draft::Array(codecs)),
                ("index_codecs", Draft::Array(vec![named(BYTES, little)])),
            ]);
            codecs = vec![named(SHARDING, inner)];
        }
        let text = Draft::object([
            ("zarr_format", Draft::from(3_u64)),
            ("node_type", Draft::string("array")),
            ("shape", shape()),
            ("data_type", Draft::string(self.chain.data_type().name())),
            ("fill_value", fill),
            (
                "chunk_grid",
                named("regular", Draft::object([("chunk_shape", shape())])),
            ),
            (
                "chunk_key_encoding",
                Draft::object([("name", Draft::string("default"))]),
            ),
            ("codecs", Draft::Array(codecs)),
        ])
        .to_document(&Layout::default());
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).ok()?;
        let mut problems = Problems::default();
        let v3::Document::Array(array) = v3::read(&Node::root(&parsed.root), &mut problems) else {
            return None;
        };
        Some(look(ArrayDocument::V3(&array.complete()?)))
    }

    /// The distance of neighbouring values, in text; `None` where it is not the same everywhere.
    #[must_use]
    pub fn step(&self) -> Option<String> {
        if !self.stored.is_integer() {
            return None;
        }
        let scale: f64 = match &self.scale {
            Some(text) => text.parse().ok()?,
            None => 1.0,
        };
        Some(number_text(1.0 / scale.abs()))
    }
}

fn codec(codec: &Codec) -> Option<Draft> {
    let (name, configuration) = match codec {
        Codec::ScaleOffset(ScaleOffsetParameters { offset, scale }) => {
            let members = [("offset", offset), ("scale", scale)];
            let members = members
                .into_iter()
                .filter_map(|(name, value)| Some((name, literal(value.as_ref()?))));
            ("scale_offset", Draft::object(members))
        }
        Codec::CastValue(cast) => ("cast_value", cast_value(cast)),
        Codec::FixedScaleOffset(_) | Codec::Unreadable => return None,
    };
    Some(Draft::object([
        ("name", Draft::string(name)),
        ("configuration", configuration),
    ]))
}

fn cast_value(cast: &CastValueParameters) -> Draft {
    let mut members = vec![("data_type", Draft::string(cast.data_type.name()))];
    if !cast.encode.is_empty() {
        let pairs = |pairs: &[(Literal, Literal)]| {
            let pairs = pairs.iter();
            Draft::Array(
                pairs
                    .map(|(from, to)| Draft::Array(vec![literal(from), literal(to)]))
                    .collect(),
            )
        };
        members.push((
            "scalar_map",
            Draft::object([
                ("encode", pairs(&cast.encode)),
                ("decode", pairs(&cast.decode)),
            ]),
        ));
    }
    Draft::object(members)
}

fn literal(literal: &Literal) -> Draft {
    match literal {
        Literal::Number(text) | Literal::Other(text) => Draft::Number(text.clone()),
        Literal::String(text) => Draft::string(text.clone()),
    }
}

/// A scalar in fill-value encoding.
#[must_use]
pub fn scalar(value: Scalar) -> Draft {
    let text = value.to_json();
    match text.strip_prefix('"') {
        Some(text) => Draft::string(text.trim_end_matches('"')),
        None => Draft::Number(text),
    }
}
