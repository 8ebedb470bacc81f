//! Lengths and dimensions that do not go together.

use std::collections::HashMap;

use super::super::array::Array;
use super::super::document::Document;
use super::super::finding::{Draft, Sink};
use crate::metadata::Problem;
use crate::metadata::json::Value;
use crate::metadata::v3::{Chain, ChunkGrid};

/// Chunk lengths of 0 where there is something to hold.
pub(super) fn chunk_length_zero(document: &Document<'_>, sink: &mut Sink<'_>) {
    zeros(document, sink, false);
}

/// Chunk lengths of 0 where there is nothing.
pub(super) fn empty_chunk_length(document: &Document<'_>, sink: &mut Sink<'_>) {
    zeros(document, sink, true);
}

fn zeros(document: &Document<'_>, sink: &mut Sink<'_>, empty: bool) {
    for (rule, problem) in &document.problems {
        if *rule == "core/chunk-length-zero" && is_empty(document, problem) == empty {
            sink.report(document.kind, || Draft::problem(document, problem));
        }
    }
}

/// Whether the dimension of a chunk length has no elements. Inner chunks must have some whatever the array has.
fn is_empty(document: &Document<'_>, problem: &Problem) -> bool {
    let pointer = problem.pointer.to_string();
    let index = ["/chunks/", "/chunk_grid/configuration/chunk_shape/"]
        .iter()
        .find_map(|start| pointer.strip_prefix(start));
    let length = index.and_then(|index| document.root()?.lookup(&format!("/shape/{index}")));
    length.and_then(Value::as_number) == Some("0")
}

/// Two dimensions of one name.
pub(super) fn duplicate_dimension_names(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(names) = array
        .v3()
        .and_then(|array| array.optional.dimension_names.as_ref())
    else {
        return;
    };
    let mut seen = HashMap::new();
    for (index, name) in names.value.iter().enumerate() {
        let Some(name) = name else { continue };
        if let Some(first) = seen.get(name) {
            sink.report(array.document.kind, || {
                Draft::at(array.document, format!("/dimension_names/{index}"))
                    .found(format!("the name of dimension {first}, a second time"))
                    .expected("a name of its own; programs that select by name fail")
            });
        } else {
            seen.insert(name, index);
        }
    }
}

/// The lengths of what a chain encodes, where they are known.
type Lengths = Option<Vec<u64>>;

/// Orders of `transpose` that are none.
pub(super) fn transpose_order(array: &Array<'_>, sink: &mut Sink<'_>) {
    each_shape(array, &mut |codec, lengths| {
        if codec.name != "transpose" {
            return;
        }
        let pointer = format!("{}/configuration/order", codec.pointer);
        let order = array.entry(&pointer);
        let Some(rank) = lengths.as_ref().map(Vec::len) else {
            return;
        };
        // Drafts of the specification had words for two orders, which it has no more and readers refuse.
        if order.and_then(Value::as_array).is_some() && permutation(order, rank).is_some() {
            return;
        }
        sink.report(array.document.kind, || {
            let found = match order {
                None => "no order".to_owned(),
                Some(order) => match order.as_array() {
                    Some(axes) => format!("a list of {} that is no permutation", axes.len()),
                    None => super::super::array::describe(order),
                },
            };
            Draft::at(array.document, pointer)
                .found(found)
                .expected(format!(
                    "each number from 0 to {} once",
                    rank.saturating_sub(1)
                ))
        });
    });
}

/// Inner chunks that leave a rest.
pub(super) fn shard_divides(array: &Array<'_>, sink: &mut Sink<'_>) {
    each_shape(array, &mut |codec, lengths| {
        let (Some(inner), Some(lengths)) = (&codec.inner, lengths) else {
            return;
        };
        if inner.len() != lengths.len() {
            return;
        }
        for (n, (whole, part)) in lengths.iter().zip(inner.iter()).enumerate() {
            if *part > 0 && whole % part != 0 {
                sink.report(array.document.kind, || {
                    let pointer = format!("{}/configuration/chunk_shape/{n}", codec.pointer);
                    Draft::at(array.document, pointer)
                        .found(format!("inner chunks of {part} in a shard of {whole}"))
                        .expected(format!("a length that divides {whole}"))
                });
            }
        }
    });
}

/// A codec as far as shapes are concerned.
struct Shaped<'c> {
    name: &'c str,
    pointer: String,
    /// The lengths of inner chunks, for a shard.
    inner: Option<&'c [u64]>,
}

/// Visits the codecs of all chains but those of indexes, with the lengths that reach each.
fn each_shape(array: &Array<'_>, visit: &mut dyn FnMut(&Shaped<'_>, &Lengths)) {
    let Some(document) = array.v3() else { return };
    let lengths = match &document.chunk_grid {
        ChunkGrid::Regular { chunk_shape, .. } => Some(chunk_shape.value.clone()),
        ChunkGrid::Other(_) => None,
    };
    each_in_chain(&document.codecs, lengths, visit);
}

fn each_in_chain(
    chain: &Chain<'_>,
    lengths: Lengths,
    visit: &mut dyn FnMut(&Shaped<'_>, &Lengths),
) {
    let mut lengths = lengths;
    for codec in &chain.codecs {
        let name = codec.entry.name;
        let inner = codec
            .sharding
            .as_ref()
            .map(|s| s.chunk_shape.value.as_slice());
        let shaped = Shaped {
            name,
            pointer: codec.entry.node.pointer.to_string(),
            inner,
        };
        visit(&shaped, &lengths);
        if let Some(sharding) = &codec.sharding {
            let inner = Some(sharding.chunk_shape.value.clone());
            each_in_chain(&sharding.codecs, inner, visit);
            return;
        }
        if name == "transpose" {
            let order = codec.entry.configuration.as_ref();
            let order = order.and_then(|node| node.value.get("order"));
            lengths = lengths.and_then(|lengths| {
                let axes = permutation(order, lengths.len())?;
                axes.into_iter()
                    .map(|axis| lengths.get(axis).copied())
                    .collect()
            });
        } else if !super::codecs::keeps_shape(name) {
            lengths = None;
        }
    }
}

/// The axes of an order, if it is one of `rank` dimensions.
fn permutation(order: Option<&Value>, rank: usize) -> Option<Vec<usize>> {
    let order = order?;
    match order.as_str() {
        Some("C") => return Some((0..rank).collect()),
        Some("F") => return Some((0..rank).rev().collect()),
        _ => {}
    }
    let axes: Option<Vec<usize>> = order
        .as_array()?
        .iter()
        .map(|axis| axis.as_number()?.parse().ok())
        .collect();
    let axes = axes?;
    let mut seen = vec![false; rank];
    for axis in &axes {
        if std::mem::replace(seen.get_mut(*axis)?, true) {
            return None;
        }
    }
    (axes.len() == rank).then_some(axes)
}
