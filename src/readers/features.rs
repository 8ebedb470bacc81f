//! What of a document the facts are about.

use std::collections::{BTreeSet, HashSet};

use super::Feature;
use crate::codecs::ArrayDocument;
use crate::codecs::configuration::{CAST_VALUE, LEGACY, LEGACY_V2, SCALE_OFFSET};
use crate::codecs::model::{Model, Step};
use crate::metadata::json::{Kind, Value};
use crate::metadata::v2::{self, ByteOrder, Dtype};
use crate::metadata::v3::{self, Codec, SHARDING};
use crate::transform::chain::{Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::parameters::{CastValueParameters, Codec as Parameters};
use crate::transform::scalar::Scalar;

/// Longer chains are no chains of arrays that anybody has.
const MOST_CODECS: usize = 64;

/// The entries of a map that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// The text of a chain that is bound to see how its fill fares.
const LONGEST_CHAIN: usize = 1 << 20;

const CORE: [&str; 6] = ["transpose", "bytes", "blosc", "gzip", "zstd", "crc32c"];

/// The features that a document has.
pub(super) fn features(document: ArrayDocument<'_, '_>) -> BTreeSet<Feature> {
    let mut features = BTreeSet::new();
    match document {
        ArrayDocument::V3(array) => version_3(array, &mut features),
        ArrayDocument::V2(array) => version_2(array, &mut features),
    }
    features
}

fn version_3(array: &v3::Array<'_>, features: &mut BTreeSet<Feature>) {
    features.insert(Feature::Format3);
    data_type(array.data_type.name, features);
    let chains = array.codecs.nested();
    if chains.iter().map(|chain| chain.codecs.len()).sum::<usize>() > MOST_CODECS {
        features.insert(Feature::OtherCodec);
        return;
    }
    let array_type = DataType::from_name(array.data_type.name);
    for codec in chains.iter().flat_map(|chain| &chain.codecs) {
        one_codec(codec, array_type, features);
    }
    for chain in &chains {
        around_legacy(&chain.codecs, features);
    }
    // The fill is looked up in maps; those that take as much room as this no reader has.
    if array.codecs.node.span().len() <= LONGEST_CHAIN {
        fills(array, array_type, features);
    }
}

fn data_type(name: &str, features: &mut BTreeSet<Feature>) {
    match DataType::from_name(name) {
        Some(DataType::Float16) => {
            features.insert(Feature::Float16);
        }
        Some(known) if DataType::from_numpy(known.name()).is_none() => {
            features.insert(Feature::SmallType);
        }
        Some(_) => {}
        None if ["bool", "complex64", "complex128"].contains(&name) => {}
        None => {
            features.insert(Feature::OtherType);
        }
    }
}

fn one_codec(codec: &Codec<'_>, array_type: Option<DataType>, features: &mut BTreeSet<Feature>) {
    let entry = &codec.entry;
    if entry.is_bare() {
        features.insert(Feature::BareName);
    }
    let configuration = entry.configuration.as_ref().map(|node| node.value);
    let feature = match entry.name {
        SCALE_OFFSET => {
            if configuration.is_none() && !entry.is_bare() {
                features.insert(Feature::NoConfiguration);
            }
            if let (Some(members), Some(array_type)) = (configuration, array_type)
                && ["offset", "scale"]
                    .into_iter()
                    .filter_map(|name| members.get(name))
                    .any(|value| is_foreign(value, array_type))
            {
                features.insert(Feature::ForeignScalar);
            }
            Feature::ScaleOffset
        }
        CAST_VALUE => {
            if let Some(members) = configuration {
                cast_value(members, array_type, features);
            }
            Feature::CastValue
        }
        LEGACY | LEGACY_V2 => {
            if configuration.is_some_and(|members| members.get("id").is_some()) {
                features.insert(Feature::LegacyId);
            }
            if entry.name == LEGACY {
                Feature::LegacyV3
            } else {
                Feature::LegacyUnprefixed
            }
        }
        SHARDING => Feature::Sharding,
        name if CORE.contains(&name) => Feature::CoreCodec,
        name if name.starts_with("numcodecs.") => Feature::NumcodecsV3,
        _ => Feature::OtherCodec,
    };
    features.insert(feature);
}

fn cast_value(members: &Value, array_type: Option<DataType>, features: &mut BTreeSet<Feature>) {
    match members.get("data_type") {
        Some(value) if value.as_object().is_some() => {
            features.insert(Feature::ObjectType);
            if let Some(name) = value.get("name").and_then(Value::as_str) {
                data_type(name, features);
            }
        }
        Some(value) => {
            let name = value.as_str().unwrap_or_default();
            data_type(name, features);
            if (array_type, name) == (Some(DataType::Float16), "float64") {
                features.insert(Feature::DoubleToHalf);
            }
        }
        None => {}
    }
    let map = members.get("scalar_map");
    for direction in ["encode", "decode"] {
        let entries = map
            .and_then(|map| map.get(direction))
            .and_then(Value::as_array);
        let entries = entries.unwrap_or_default();
        let mut keys = HashSet::new();
        for entry in entries.iter().take(MOST_ENTRIES) {
            let Some([key, value]) = entry.as_array() else {
                continue;
            };
            // The side that faces the array.
            let outer = if direction == "encode" { key } else { value };
            // In types of floats an entry beyond their range becomes infinite for the check alone, and passes.
            let checked = match array_type {
                Some(array_type) if array_type.is_float() => Some(DataType::Float64),
                other => other,
            };
            if checked.is_some_and(|checked| is_foreign(outer, checked)) {
                features.insert(Feature::ForeignScalar);
            }
            for text in [key, value].into_iter().filter_map(Value::as_str) {
                if text == "+Infinity" {
                    features.insert(Feature::PlusInfinity);
                } else if text.starts_with("0x") {
                    features.insert(Feature::HexInMap);
                }
            }
            let text = match &key.kind {
                Kind::Number(text) | Kind::String(text) => text,
                _ => continue,
            };
            if !keys.insert(text) {
                features.insert(Feature::DuplicateKey);
            }
        }
    }
}

/// Whether a scalar is no value of a type. Whole numbers with a fraction of zero are taken for integers, as readers in Python do.
fn is_foreign(value: &Value, data_type: DataType) -> bool {
    let whole = value
        .as_number()
        .and_then(|text| text.strip_suffix(".0"))
        .map(|text| Literal::Number(text.to_owned()));
    Scalar::parse(&whole.unwrap_or_else(|| literal(value)), data_type).is_err()
}

/// What readers of the legacy codec get wrong about the codecs behind it.
fn around_legacy(codecs: &[Codec<'_>], features: &mut BTreeSet<Feature>) {
    let Some(at) = codecs.iter().position(|codec| is_legacy(codec.entry.name)) else {
        return;
    };
    let behind = &codecs[at + 1..];
    if behind.iter().any(|codec| codec.entry.name == "transpose") {
        features.insert(Feature::TransposeBehindLegacy);
    }
    let configuration = codecs[at].entry.configuration.as_ref();
    let stated = configuration.and_then(|node| node.value.get("astype")?.as_str());
    let order = stated
        .and_then(Dtype::parse)
        .filter(|dtype| dtype.size > 1)
        .map(|dtype| dtype.byte_order);
    let endian = behind
        .iter()
        .find(|codec| codec.entry.name == "bytes")
        .and_then(|codec| {
            codec
                .entry
                .configuration
                .as_ref()?
                .value
                .get("endian")?
                .as_str()
        });
    if let (Some(ByteOrder::Little), Some("big")) | (Some(ByteOrder::Big), Some("little")) =
        (order, endian)
    {
        features.insert(Feature::LegacyByteOrderV3);
    }
}

fn is_legacy(name: &str) -> bool {
    [LEGACY, LEGACY_V2].contains(&name)
}

fn fills(array: &v3::Array<'_>, array_type: Option<DataType>, features: &mut BTreeSet<Feature>) {
    let Ok(model) = Model::new(ArrayDocument::V3(array)) else {
        return;
    };
    let mut inner = model.outer.inner.as_deref();
    while let Some(level) = inner {
        let loses_zero = level.steps.iter().any(|step| match step {
            Step::Packing(packing) => packing.binding.chain.as_ref().is_some_and(|chain| {
                let zero = Scalar::from_bits(chain.data_type(), 0);
                chain.transform(Direction::Encode, zero).is_err()
            }),
            Step::Other(_) => false,
        });
        if loses_zero {
            features.insert(Feature::NoZeroInShard);
        }
        inner = level.inner.as_deref();
    }
    for packing in model.packing() {
        let Some(chain) = &packing.binding.chain else {
            continue;
        };
        let Some(fill) = chain.fill() else { continue };
        if fill.stored(chain.codecs().len()).is_none() {
            features.insert(Feature::LostFill);
        }
    }
    // zarrita.js hands the fill to the first cast as it is in the array.
    let names = || {
        array
            .codecs
            .nested()
            .into_iter()
            .flat_map(|chain| &chain.codecs)
    };
    let casts = names().find(|codec| codec.entry.name == CAST_VALUE);
    let scales = names().any(|codec| codec.entry.name == SCALE_OFFSET);
    let (Some(cast), Some(array_type), true) = (casts, array_type, scales) else {
        return;
    };
    let fill = Scalar::parse(&literal(array.fill_value.value), array_type).ok();
    let parameters = cast_alone(cast);
    if let (Some(fill), Some(parameters)) = (fill, parameters) {
        let binding = bind(array_type, Some(fill), &[parameters]);
        let trace = binding.chain.as_ref().and_then(|chain| chain.fill());
        if trace.is_some_and(|trace| trace.stored(1).is_none()) {
            features.insert(Feature::UnscaledFill);
        }
    }
}

/// A cast with what decides about a fill that is no key of its map.
fn cast_alone(codec: &Codec<'_>) -> Option<Parameters> {
    let mut problems = Vec::new();
    let (_, codec) =
        crate::codecs::configuration::read_entry(codec.entry.node.value, 0, &mut problems);
    match codec {
        Parameters::CastValue(parameters) if problems.is_empty() => {
            Some(Parameters::CastValue(CastValueParameters {
                encode: parameters.encode.into_iter().take(MOST_ENTRIES).collect(),
                decode: Vec::new(),
                ..parameters
            }))
        }
        _ => None,
    }
}

fn version_2(array: &v2::Array<'_>, features: &mut BTreeSet<Feature>) {
    features.insert(Feature::Format2);
    let array_order = match &array.dtype.value {
        v2::DataType::Simple(dtype) => {
            match dtype.v3_name() {
                Some(name) => data_type(name, features),
                None => {
                    features.insert(Feature::OtherType);
                }
            }
            Some(dtype.byte_order)
        }
        v2::DataType::Structured(_) => {
            features.insert(Feature::OtherType);
            None
        }
    };
    for codec in array
        .filters
        .iter()
        .chain(&array.compressor)
        .take(MOST_CODECS)
    {
        if codec.id.value != LEGACY_V2 {
            features.insert(Feature::NumcodecsV2);
            continue;
        }
        features.insert(Feature::LegacyV2);
        let stated = codec.node.value.get("astype").and_then(Value::as_str);
        let order = stated
            .and_then(Dtype::parse)
            .filter(|dtype| dtype.size > 1)
            .map(|dtype| dtype.byte_order);
        if let (
            Some(ByteOrder::Little | ByteOrder::Unmarked | ByteOrder::NotApplicable),
            Some(ByteOrder::Big),
        )
        | (Some(ByteOrder::Big), Some(ByteOrder::Little | ByteOrder::Unmarked)) =
            (array_order, order)
        {
            features.insert(Feature::LegacyByteOrderV2);
        }
    }
}

fn literal(value: &Value) -> Literal {
    match &value.kind {
        Kind::Number(token) => Literal::Number(token.clone()),
        Kind::String(text) | Kind::NonFinite(text) => Literal::String(text.clone()),
        _ => Literal::Other(value.type_name().to_owned()),
    }
}
