//! What is worth knowing about the migration of an array besides the verdicts.

use crate::metadata::v3;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::{ByteOrder, DataType};
use crate::transform::legacy::FixedScaleOffset;

use super::document::Run;

/// What is worth knowing about the legacy codecs of a run.
pub(super) fn of_run(run: &Run<'_>, array: &v3::Array<'_>, notes: &mut Vec<String>) {
    let bound = run.chain().map_or(&[][..], |chain| chain.codecs());
    for (index, (entry, codec)) in run.entries.iter().zip(bound).enumerate() {
        let BoundCodec::FixedScaleOffset(legacy) = codec else {
            continue;
        };
        notes.extend(former_nan(legacy));
        let pointer = run.pointer(index).unwrap_or_default();
        let name = run.packing.names.get(index).map_or("", String::as_str);
        if !name.starts_with("numcodecs.") {
            notes.push(format!(
                "{pointer}: zarr-python knows this codec as \"numcodecs.{name}\" only, and does not open the array as it is"
            ));
        }
        let configuration = entry.get("configuration");
        let stated = |member: &str| configuration?.get(member)?.as_str();
        let order = stated("astype")
            .and_then(DataType::from_numpy)
            .map_or(ByteOrder::Unstated, |(_, order)| order);
        if let Some(stored) = endian(run, array)
            && order != ByteOrder::Unstated
            && order != stored
            && legacy.stored.size() > 1
        {
            notes.push(format!(
                "{pointer}: the byte order in \"astype\" is not that of the codec \"bytes\", which alone decides in Zarr v3"
            ));
        }
    }
}

/// What the legacy codec may have made of NaN.
fn former_nan(legacy: &FixedScaleOffset) -> Option<String> {
    if !legacy.decoded.has_nan() || legacy.stored.is_float() {
        return None;
    }
    let codes = match legacy.stored {
        DataType::Int32 => "-2147483648".to_owned(),
        DataType::Int64 => "-9223372036854775808".to_owned(),
        DataType::UInt64 => "9223372036854775808".to_owned(),
        DataType::UInt32 => "0 or 2147483648".to_owned(),
        _ => "0".to_owned(),
    };
    Some(format!(
        "a stored {codes} may be a former NaN, which the legacy codec does not tell apart; it stays the number that it decodes to"
    ))
}

/// The byte order that the codec behind a run states.
fn endian(run: &Run<'_>, array: &v3::Array<'_>) -> Option<ByteOrder> {
    let chains = array.codecs.nested();
    let chain = chains
        .into_iter()
        .find(|chain| chain.node.pointer.to_string() == run.site.list)?;
    let bytes = chain
        .codecs
        .iter()
        .find(|codec| codec.entry.name == "bytes")?;
    let configuration = bytes.entry.configuration.as_ref()?;
    match configuration.value.get("endian")?.as_str()? {
        "little" => Some(ByteOrder::Little),
        "big" => Some(ByteOrder::Big),
        _ => None,
    }
}
