//! Documents that exist in memory only: of what a run of packing codecs has stored, and of shards whose codecs do not matter.

use crate::catalog::named;
use crate::codecs::model::{Model, Packing, Step, is_filter};
use crate::codecs::{ArrayDocument, OpenProblem};
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::Value;
use crate::metadata::v3::{self, Chain, Codec};
use crate::migration::evidence::Site;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

const TRANSPOSE: &str = "transpose";
/// The one codec that keeps the shape and makes an element of several.
const DELTA: &str = "delta";

/// A document for reading, and where its parts come from.
pub(super) struct Rewritten {
    /// The document.
    pub(super) text: String,
    /// For each codec that is in it its pointer there and in the original document, outer ones first.
    origins: Vec<(String, String)>,
}

/// The document of what a site has stored.
pub(super) struct Behind {
    pub(super) document: Rewritten,
    /// The stored type.
    pub(super) stored: DataType,
    /// Whether the fill of the document is the one that the run hands on; if not, it stands in for one that is not known.
    pub(super) fill_is_known: bool,
    /// Whether a codec before the site mixes elements, so that values of the array hang on codes in padding too.
    pub(super) mixes: bool,
    /// The codecs of the site.
    pub(super) names: String,
}

impl Rewritten {
    /// A problem with the place that it has in the original document.
    pub(super) fn located(&self, problem: &OpenProblem) -> String {
        let origin = self.origins.iter().rev().find_map(|(new, old)| {
            let rest = problem.pointer.strip_prefix(new.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{old}{rest}"))
        });
        match origin {
            Some(origin) => format!("zarr.json, {origin}: {}", problem.message),
            None => format!("zarr.json: {}", problem.message),
        }
    }
}

/// The document of what a site has stored: its stored type is the type of the array, and all that changes elements before it is
/// gone. What transposes stays, so that pieces lie where they do in the array.
pub(super) fn behind(path: &str, array: &v3::Array<'_>, site: &Site) -> Result<Behind, Error> {
    let place = format!("{}: zarr.json, {}/{}", named(path), site.list, site.first);
    let model = Model::new(ArrayDocument::V3(array))
        .map_err(|error| Error::finding(format!("{}: {error}", named(path))))?;
    let (packing, at) = find(&model, site).ok_or_else(|| {
        Error::finding(format!(
            "{place}: the type that reaches this codec is not known, so that what it has stored cannot be looked at"
        ))
        .hint("a codec before it is not known to this version")
    })?;
    let end = at + site.codecs;
    let chain = packing.binding.chain.as_ref().ok_or_else(|| {
        let refused = Error::finding(format!("{place}: the codec cannot be bound"));
        let problems = packing.binding.problems.iter();
        problems.fold(refused, |refused, problem| {
            refused.detail(problem.to_string())
        })
    })?;
    let last = end.checked_sub(1).and_then(|last| chain.codecs().get(last));
    let (Some(last), Some(names)) = (last, packing.names.get(at..end)) else {
        let codecs = site.codecs;
        return Err(Error::finding(format!(
            "{place}: there is no run of {codecs} packing codecs"
        )));
    };
    let stored = last.outgoing();
    let fill = chain.fill().and_then(|fill| fill.stored(end));
    let literal = fill.unwrap_or(Scalar::from_bits(stored, 0));
    let mut builder = Builder {
        path,
        goal: Goal::Behind(site),
        mixes: false,
        origins: Vec::new(),
    };
    let codecs = builder.chain(&array.codecs, "/codecs")?;
    Ok(Behind {
        mixes: builder.mixes,
        document: builder.document(array, stored.name(), scalar(literal), codecs),
        stored,
        fill_is_known: fill.is_some(),
        names: names.join(" and "),
    })
}

/// The document of an array of which nothing matters but where shards have inner chunks: these are bare.
pub(super) fn shards_alone(path: &str, array: &v3::Array<'_>) -> Result<Rewritten, Error> {
    let mut builder = Builder {
        path,
        goal: Goal::Shards,
        mixes: false,
        origins: Vec::new(),
    };
    let codecs = builder.chain(&array.codecs, "/codecs")?;
    // Elements as large as any, so that no shard seems too large for its elements.
    Ok(builder.document(array, "float64", Draft::from(0_u64), codecs))
}

/// The run of packing codecs that a site is, or is a part of, and where in the run it begins.
fn find<'m>(model: &'m Model, site: &Site) -> Option<(&'m Packing, usize)> {
    let pointer = format!("{}/{}", site.list, site.first);
    let steps = model.levels().flat_map(|level| &level.steps);
    let mut runs = steps.filter_map(|step| match step {
        Step::Packing(packing) => Some(&**packing),
        Step::Other(_) => None,
    });
    runs.find_map(|run| {
        let at = run.pointers.iter().position(|other| *other == pointer)?;
        Some((run, at))
    })
}

fn scalar(value: Scalar) -> Draft {
    let json = value.to_json();
    match json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'))
    {
        Some(text) => Draft::string(text),
        None => Draft::Number(json),
    }
}

/// What a document is made for.
#[derive(Clone, Copy)]
enum Goal<'s> {
    Behind(&'s Site),
    Shards,
}

struct Builder<'s> {
    path: &'s str,
    goal: Goal<'s>,
    mixes: bool,
    origins: Vec<(String, String)>,
}

impl Builder<'_> {
    fn document(
        self,
        array: &v3::Array<'_>,
        data_type: &str,
        fill: Draft,
        codecs: Draft,
    ) -> Rewritten {
        let numbers = array.shape.value.iter().copied().map(Draft::from);
        let v3::ChunkGrid::Regular { entry: grid, .. } = &array.chunk_grid else {
            // Refused before, when the grid was made.
            return Rewritten {
                text: String::new(),
                origins: self.origins,
            };
        };
        let document = Draft::object([
            ("zarr_format", Draft::from(3_u64)),
            ("node_type", Draft::string("array")),
            ("shape", Draft::Array(numbers.collect())),
            ("data_type", Draft::string(data_type)),
            ("chunk_grid", Draft::from(grid.node.value)),
            (
                "chunk_key_encoding",
                Draft::from(array.chunk_keys.entry.node.value),
            ),
            ("fill_value", fill),
            ("codecs", codecs),
        ]);
        Rewritten {
            text: document.to_document(&Layout::default()),
            origins: self.origins,
        }
    }

    /// A chain without what is not needed; `pointer` is its place in the new document.
    fn chain(&mut self, chain: &Chain<'_>, pointer: &str) -> Result<Draft, Error> {
        let list = chain.node.pointer.to_string();
        let codecs = &chain.codecs;
        let shard = codecs.iter().position(|codec| codec.sharding.is_some());
        let (before, behind) = match (self.goal, shard) {
            (Goal::Behind(site), _) if site.list == list => (site.first, site.first + site.codecs),
            (_, Some(shard)) => (shard, shard),
            // Inner chunks of which nothing is read.
            (Goal::Shards, None) => {
                let endian = [("endian", Draft::string("little"))];
                return Ok(Draft::Array(vec![Draft::object([
                    ("name", Draft::string("bytes")),
                    ("configuration", Draft::object(endian)),
                ])]));
            }
            (Goal::Behind(_), None) => (0, 0),
        };
        let mut kept = Vec::new();
        for (n, codec) in codecs.iter().enumerate() {
            if n < before && !self.is_transpose(codec)? || (before..behind).contains(&n) {
                continue;
            }
            let here = format!("{pointer}/{}", kept.len());
            let there = codec.entry.node.pointer.to_string();
            self.origins.push((here.clone(), there));
            kept.push(match &codec.sharding {
                Some(sharding) if self.goes_into(sharding) => {
                    let inner = format!("{here}/configuration/codecs");
                    let inner = self.chain(&sharding.codecs, &inner)?;
                    with_codecs(codec.entry.node.value, inner)
                }
                _ => Draft::from(codec.entry.node.value),
            });
        }
        Ok(Draft::Array(kept))
    }

    /// Whether the chain of a shard changes as well.
    fn goes_into(&self, sharding: &v3::Sharding<'_>) -> bool {
        match self.goal {
            Goal::Shards => true,
            Goal::Behind(site) => {
                let list = sharding.codecs.node.pointer.to_string();
                site.list == list || site.list.starts_with(&format!("{list}/"))
            }
        }
    }

    /// Whether a codec transposes; if not, it must leave the shape as it is.
    fn is_transpose(&mut self, codec: &Codec<'_>) -> Result<bool, Error> {
        let name = codec.entry.name;
        self.mixes |= name.strip_prefix("numcodecs.").unwrap_or(name) == DELTA;
        if name == TRANSPOSE || is_filter(name) {
            return Ok(name == TRANSPOSE);
        }
        let pointer = &codec.entry.node.pointer;
        Err(Error::finding(format!(
            "{}: zarr.json, {pointer}: the codec {name:?} is not known and may change the shape, so that what is stored behind it cannot be looked at",
            named(self.path)
        )))
    }
}

/// The entry of a shard with another chain for its inner chunks.
fn with_codecs(entry: &Value, codecs: Draft) -> Draft {
    let members = entry.as_object().unwrap_or_default().iter();
    Draft::object(members.map(|member| {
        let value = match member.name.as_str() {
            "configuration" => {
                let members = member.value.as_object().unwrap_or_default().iter();
                Draft::object(members.map(|member| {
                    let value = match member.name.as_str() {
                        "codecs" => codecs.clone(),
                        _ => Draft::from(&member.value),
                    };
                    (member.name.clone(), value)
                }))
            }
            _ => Draft::from(&member.value),
        };
        (member.name.clone(), value)
    }))
}
