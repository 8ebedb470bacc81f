//! A document's chain as zarrs is given it: runs of packing codecs fused, spellings made those that zarrs knows.

use serde_json::Value as Json;
use zarrs::metadata::v3::MetadataV3;

use super::configuration::is_packing;
use super::json_text;
use super::packing::{FUSED, Packing};
use super::{arrays, bytes};
use crate::metadata::v3::Codec;

/// The name of the codec that permutes dimensions.
pub(super) const TRANSPOSE: &str = "transpose";
/// The name of the codec that writes elements one after the other.
pub(super) const BYTES: &str = "bytes";
/// The name of the codec that packs elements of a few bits.
pub(super) const PACKBITS: &str = "packbits";

/// Whether the codec with this name is decoded: ours, and those of zarrs that have been looked at. Others of zarrs overflow or
/// panic on configurations that make no sense, and are not written by programs that people use.
pub(super) fn is_decoded(name: &str) -> bool {
    const THEIRS: [&str; 6] = [
        TRANSPOSE,
        BYTES,
        PACKBITS,
        "bitround",
        "numcodecs.bitround",
        FUSED,
    ];
    THEIRS.contains(&name) || is_packing(name) || arrays::knows(name) || bytes::knows(name)
}

/// Whether the `packbits` codec in the metadata takes bits that elements of so many bits have, as zarrs does not ask.
pub(super) fn packed_bits_exist(metadata: &MetadataV3, element_bits: Option<u32>) -> bool {
    let stated = |name: &str| {
        metadata
            .configuration()
            .and_then(|members| members.get(name))
    };
    let (first, last) = (stated("first_bit"), stated("last_bit"));
    let absent = |bit: Option<&Json>| bit.is_none_or(Json::is_null);
    if absent(first) && absent(last) {
        return true;
    }
    let Some(bits) = element_bits.map(u64::from) else {
        return false;
    };
    let number = |bit: Option<&Json>, implied| {
        bit.filter(|bit| !bit.is_null())
            .map_or(Some(implied), Json::as_u64)
    };
    match (number(first, 0), number(last, bits - 1)) {
        (Some(first), Some(last)) => first <= last && last < bits,
        _ => false,
    }
}

/// One step of a lowered chain.
pub(super) enum Step<'c, 'v> {
    /// Adjacent packing codecs.
    Packing(&'c [Codec<'v>]),
    /// Any other codec.
    Single(&'c Codec<'v>),
}

/// The steps of a chain: neighbours among the packing codecs are one step.
pub(super) fn steps<'c, 'v>(codecs: &'c [Codec<'v>]) -> impl Iterator<Item = Step<'c, 'v>> {
    let runs = codecs.chunk_by(|a, b| is_packing(a.entry.name) && is_packing(b.entry.name));
    runs.map(|run| match run {
        [single] if !is_packing(single.entry.name) => Step::Single(single),
        _ => Step::Packing(run),
    })
}

/// The metadata of a run of packing codecs.
pub(super) fn fused(run: &[Codec<'_>]) -> MetadataV3 {
    let mut text = "[".to_owned();
    for (n, codec) in run.iter().enumerate() {
        if n > 0 {
            text.push(',');
        }
        json_text::write(codec.entry.node.value, &mut text);
    }
    text.push(']');
    Packing::fused(text)
}

/// The metadata of any other codec, for an array of `rank` dimensions.
pub(super) fn metadata(codec: &Codec<'_>, rank: usize) -> MetadataV3 {
    let name = codec.entry.name;
    let members = match codec
        .entry
        .configuration
        .as_ref()
        .map(|node| node.value.to_serde())
    {
        Some(Json::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let mut configuration = serde_json::Map::new();
    for (member, mut value) in members {
        if name == TRANSPOSE && member == "order" {
            value = explicit_order(value, rank);
        }
        configuration.insert(member, value);
    }
    if configuration.is_empty() {
        return MetadataV3::new(name);
    }
    MetadataV3::new_with_configuration(name, configuration)
}

/// The words that early documents have for an order, as the permutation that they stand for.
fn explicit_order(order: Json, rank: usize) -> Json {
    match order.as_str() {
        Some("C") => (0..rank).collect(),
        Some("F") => (0..rank).rev().collect(),
        _ => order,
    }
}

/// The permutation of a `transpose` codec; `None` if it is none of `rank` dimensions.
pub(super) fn permutation(metadata: &MetadataV3, rank: usize) -> Option<Vec<usize>> {
    let order = metadata.configuration()?.get("order")?.as_array()?;
    let order: Option<Vec<_>> = order
        .iter()
        .map(|axis| usize::try_from(axis.as_u64()?).ok())
        .collect();
    let order = order?;
    let mut seen = vec![false; rank];
    for axis in &order {
        let first = seen.get_mut(*axis)?;
        if std::mem::replace(first, true) {
            return None;
        }
    }
    (order.len() == rank).then_some(order)
}
