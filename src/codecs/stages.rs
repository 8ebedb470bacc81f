//! The stages of a chain in a row, through shards: what each can hold, what its maps set apart, and how the fill fares.

use super::arrays;
use super::lower::TRANSPOSE;
use super::model::{Model, Other, Packing, Stage, Step};
use crate::metadata::v3::SHARDING;
use crate::transform::cast_value::CastValue;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::DataType;
use crate::transform::extent::Extent;
use crate::transform::scalar::Scalar;
use crate::transform::scalar_map::ScalarMap;

/// Codecs that make bytes of whatever values they are given, and give them all back.
const LOSSLESS: [&str; 4] = ["bytes", "packbits", "numcodecs.pcodec", "pcodec"];

/// The problems that a fill has that does not survive.
const LOST_FILL: [&str; 2] = [
    "cast-value/fill-round-trip",
    "scale-offset/fill-not-representable",
];

/// The array, or what an array-to-array codec hands on.
#[derive(Clone, Debug, PartialEq)]
pub struct StageOf<'m> {
    /// The codec; `None` for the array.
    pub codec: Option<&'m str>,
    /// Where the codec stands: a JSON pointer into the document that was given.
    pub pointer: Option<&'m str>,
    /// Type and fill.
    pub stage: Stage,
    /// What the stage can hold, maps left out, where a plain range describes it.
    pub extent: Option<Extent>,
}

/// A value that a map sets apart, and the code that stands for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sentinel {
    /// What enters the cast.
    pub value: Scalar,
    /// What leaves it.
    pub code: Scalar,
    /// Whether encoding makes the code of the value.
    pub encode: bool,
    /// Whether decoding makes the value of the code.
    pub decode: bool,
}

/// How the fill of an array fares in its packing codecs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillFate {
    /// Whether every codec can encode it, and each `cast_value` gives it back.
    pub survives: bool,
    /// Whether the whole chain gives it back as another value, or not at all.
    pub drifts: bool,
    /// What it comes back as, where it does.
    pub back: Option<Scalar>,
}

impl Model {
    /// The array-to-array steps from the array to the values that become bytes, and the name of what makes bytes of them.
    ///
    /// After a step that hands on nothing known, the rest is left out.
    pub(super) fn array_steps(&self) -> (Vec<&Step>, Option<&str>) {
        let mut steps = Vec::new();
        for level in self.levels() {
            let mut sharded = false;
            for step in &level.steps {
                match step {
                    Step::Packing(packing) => {
                        steps.push(step);
                        if !packing.is_valid() {
                            return (steps, None);
                        }
                    }
                    Step::Other(other) if other.outgoing.data_type.is_some() => steps.push(step),
                    Step::Other(other) if other.name == SHARDING && level.inner.is_some() => {
                        sharded = true;
                        break;
                    }
                    Step::Other(other) => return (steps, Some(&other.name)),
                }
            }
            if !sharded {
                break;
            }
        }
        (steps, None)
    }

    /// The stages from the array on.
    #[must_use]
    pub fn stages(&self) -> Vec<StageOf<'_>> {
        let (steps, serializer) = self.array_steps();
        let incoming = |n: usize| match n.checked_sub(1).and_then(|before| steps.get(before)) {
            Some(before) => before.outgoing(),
            None => self.outer.incoming,
        };
        let mut extent = serializer
            .filter(|name| LOSSLESS.contains(name))
            .and(incoming(steps.len()).data_type)
            .map(Extent::of);
        // Ranges are carried from the stored values back to the array.
        let mut stages = Vec::new();
        for (n, step) in steps.iter().enumerate().rev() {
            match step {
                Step::Packing(packing) => extent = packed(packing, extent, &mut stages),
                Step::Other(other) => {
                    stages.push(StageOf {
                        codec: Some(&other.name),
                        pointer: Some(&other.pointer),
                        stage: other.outgoing,
                        extent,
                    });
                    extent = before(other, incoming(n).data_type, extent);
                }
            }
        }
        stages.push(StageOf {
            codec: None,
            pointer: None,
            stage: self.outer.incoming,
            extent,
        });
        stages.reverse();
        stages
    }

    /// The sentinels of all casts, each with the JSON pointer of its codec.
    #[must_use]
    pub fn sentinels(&self) -> Vec<(&str, Sentinel)> {
        let mut found = Vec::new();
        for packing in self.packing() {
            let codecs = packing
                .binding
                .chain
                .iter()
                .flat_map(|chain| chain.codecs());
            for (pointer, codec) in packing.pointers.iter().zip(codecs) {
                if let BoundCodec::CastValue(cast) = codec {
                    found.extend(sentinels(cast).map(|sentinel| (pointer.as_str(), sentinel)));
                }
            }
        }
        found
    }

    /// How the fill fares; `None` where nothing is packed, a chain is invalid, or the fill is not known. Nor is it told for the
    /// legacy codec, which does not transform fills.
    #[must_use]
    pub fn fill_fate(&self) -> Option<FillFate> {
        let mut fate: Option<FillFate> = None;
        for packing in self.packing() {
            let chain = packing.binding.chain.as_ref()?;
            let is_legacy = |codec: &BoundCodec| matches!(codec, BoundCodec::FixedScaleOffset(_));
            if chain.codecs().iter().any(is_legacy) {
                return None;
            }
            let codecs = chain.codecs().len();
            let lost = packing
                .binding
                .problems
                .iter()
                .any(|problem| LOST_FILL.contains(&problem.id));
            // A run that the fill does not reach comes after one that could not encode it.
            let (drifts, back) = match chain.fill() {
                Some(trace) => (trace.drifts(codecs), trace.decoded.get(codecs).copied()),
                None => (true, None),
            };
            let before = fate.unwrap_or(FillFate {
                survives: true,
                drifts: false,
                back,
            });
            fate = Some(FillFate {
                survives: before.survives && !lost && chain.fill().is_some(),
                drifts: before.drifts || drifts,
                back: before.back,
            });
        }
        self.outer.incoming.fill.and(fate)
    }
}

/// Adds the stages behind the codecs of a run, last first, and tells what can enter it.
fn packed<'m>(
    packing: &'m Packing,
    stored: Option<Extent>,
    stages: &mut Vec<StageOf<'m>>,
) -> Option<Extent> {
    let chain = packing.binding.chain.as_ref();
    let extents = match (chain, stored) {
        (Some(chain), Some(stored)) => chain.extents(stored),
        _ => Vec::new(),
    };
    let extent = |n: usize| extents.get(n).copied().flatten();
    for (n, name) in packing.names.iter().enumerate().rev() {
        let codec = chain.and_then(|chain| chain.codecs().get(n));
        stages.push(StageOf {
            codec: Some(name),
            pointer: packing.pointers.get(n).map(String::as_str),
            stage: Stage {
                data_type: codec.map(BoundCodec::outgoing),
                fill: chain
                    .and_then(|chain| chain.fill()?.encoded.get(n + 1))
                    .copied(),
            },
            extent: extent(n + 1),
        });
    }
    extent(0)
}

/// What can enter a codec without arithmetic of ours.
fn before(other: &Other, incoming: Option<DataType>, after: Option<Extent>) -> Option<Extent> {
    if !arrays::knows(&other.name) {
        // Dimensions are permuted, or bits of values are cleared, which leaves the range as it is.
        let step = |extent: Extent| Extent {
            step: extent.step.filter(|_| other.name == TRANSPOSE),
            ..extent
        };
        return after.map(step);
    }
    // Differences of integers wrap around, so that any integer can come of them.
    let wraps = other.name.ends_with("delta") && incoming == other.outgoing.data_type;
    incoming
        .filter(|data_type| wraps && data_type.is_integer())
        .map(Extent::of)
}

/// The map of a cast: pairs of encoding, then those of decoding alone.
pub(super) fn sentinels(codec: &CastValue) -> impl Iterator<Item = Sentinel> {
    let holds = |map: &ScalarMap, from: Scalar, to: Scalar| {
        map.get(from).is_some_and(|output| output.equals(to))
    };
    let encode = codec
        .encode_map
        .entries()
        .iter()
        .map(move |&(value, code)| Sentinel {
            value,
            code,
            encode: true,
            decode: holds(&codec.decode_map, code, value),
        });
    let decode = codec
        .decode_map
        .entries()
        .iter()
        .filter(move |(code, value)| !holds(&codec.encode_map, *value, *code))
        .map(|&(code, value)| Sentinel {
            value,
            code,
            encode: false,
            decode: true,
        });
    encode.chain(decode)
}

#[cfg(test)]
mod tests {
    use super::super::model::examples::{model, pair};
    use super::super::words::short;
    use super::*;

    const PAIR: (&str, &str) = (
        r#""offset":-10,"scale":0.1"#,
        r#""data_type":"uint8","scalar_map":{"encode":[["NaN",255]],"decode":[[255,"NaN"],[254,0]]}"#,
    );

    /// A line for each stage: codec, type, fill, range, step.
    fn stages(data_type: &str, fill: &str, codecs: &str) -> String {
        let model = model(data_type, fill, codecs);
        let text = |scalar: Option<Scalar>| scalar.map_or("?".to_owned(), short);
        let lines = model.stages().into_iter().map(|stage| {
            let extent = stage.extent;
            format!(
                "{} {} fill {}, {}..{} by {}\n",
                stage.codec.unwrap_or("array"),
                stage.stage.data_type.map_or("?", DataType::name),
                text(stage.stage.fill),
                text(extent.map(|extent| extent.low)),
                text(extent.map(|extent| extent.high)),
                text(extent.and_then(|extent| extent.step)),
            )
        });
        lines.collect()
    }

    #[test]
    fn the_pair_has_three_stages() {
        let codecs = format!("[{},\"bytes\"]", pair(PAIR.0, PAIR.1));
        insta::assert_snapshot!(stages("float64", "\"NaN\"", &codecs), @"
        array float64 fill NaN, -10..2540 by 10
        scale_offset float64 fill NaN, 0..255 by 1
        cast_value uint8 fill 255, 0..255 by 1
        ");
    }

    #[test]
    fn ranges_come_through_shards_and_transpositions() {
        let [scale, cast] = [
            r#"{"name":"scale_offset","configuration":{"scale":4}}"#,
            r#"{"name":"cast_value","configuration":{"data_type":"int8"}}"#,
        ];
        let codecs = format!(
            r#"[{scale},{{"name":"transpose","configuration":{{"order":[0]}}}},
            {{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{cast},"bytes"],
            "index_codecs":["bytes"]}}}}]"#
        );
        insta::assert_snapshot!(stages("float32", "1", &codecs), @"
        array float32 fill 1, -32..31.75 by 0.25
        scale_offset float32 fill 4, -128..127 by 1
        transpose float32 fill 4, -128..127 by 1
        cast_value int8 fill 4, -128..127 by 1
        ");
    }

    #[test]
    fn behind_what_is_not_known_there_is_no_range() {
        let codecs = format!("[{},\"nope\",\"bytes\"]", pair(PAIR.0, PAIR.1));
        insta::assert_snapshot!(stages("float64", "0", &codecs), @"
        array float64 fill 0, ?..? by ?
        scale_offset float64 fill 1, ?..? by ?
        cast_value uint8 fill 1, ?..? by ?
        ");
        insta::assert_snapshot!(stages("bool", "false", "[\"bytes\"]"), @"array ? fill ?, ?..? by ?");
    }

    #[test]
    fn an_invalid_chain_ends_the_stages() {
        let codecs = format!("[{},\"bytes\"]", pair(r#""scale":0"#, PAIR.1));
        insta::assert_snapshot!(stages("float64", "0", &codecs), @"
        array float64 fill 0, ?..? by ?
        scale_offset ? fill ?, ?..? by ?
        cast_value ? fill ?, ?..? by ?
        ");
    }

    #[test]
    fn differences_wrap_around() {
        let codecs = r#"[{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":10,"dtype":"<f4","astype":"<i2"}},
            {"name":"numcodecs.delta","configuration":{"dtype":"<i2"}},"bytes"]"#;
        insta::assert_snapshot!(stages("float32", "7", codecs), @"
        array float32 fill 7, -3276.8..3276.7 by 0.1
        numcodecs.fixedscaleoffset int16 fill 7, -32768..32767 by 1
        numcodecs.delta int16 fill 7, -32768..32767 by 1
        ");
    }

    #[test]
    fn sentinels_have_their_directions() {
        let codecs = format!("[{},\"bytes\"]", pair(PAIR.0, PAIR.1));
        let model = model("float64", "0", &codecs);
        let shown: Vec<_> = model
            .sentinels()
            .into_iter()
            .map(|(pointer, sentinel)| format!("{pointer} {sentinel}"))
            .collect();
        assert_eq!(shown, ["/codecs/1 NaN<->255", "/codecs/1 0<-254"]);
    }

    #[test]
    fn a_fill_survives_or_drifts_or_is_lost() {
        let fate = |fill: &str| {
            let codecs = format!("[{},\"bytes\"]", pair(PAIR.0, r#""data_type":"uint8""#));
            let fate = model("float64", fill, &codecs).fill_fate().unwrap();
            (fate.survives, fate.drifts, fate.back.map(short))
        };
        assert_eq!(fate("0"), (true, false, Some("0".to_owned())));
        assert_eq!(fate("3"), (false, true, Some("0".to_owned())));
        assert_eq!(fate("\"NaN\""), (false, true, None));
        let codecs = r#"[{"name":"scale_offset","configuration":{"offset":1e17}},"bytes"]"#;
        let fate = model("float64", "1", codecs).fill_fate().unwrap();
        assert!(fate.survives && fate.drifts, "{fate:?}");
        assert_eq!(model("float64", "1", "[\"bytes\"]").fill_fate(), None);
        let legacy = r#"[{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":1}},"bytes"]"#;
        assert_eq!(model("float64", "1", legacy).fill_fate(), None);
    }
}
