//! Chains in words: `float64 -> scale_offset (offset -10, scale 0.1) -> cast_value uint8 [NaN<->0] -> bytes -> zstd`.

use std::fmt::{self, Display};

use super::model::{Level, Model, Packing, Step};
use super::stages::{Sentinel, sentinels};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::BoundCodec;
use crate::transform::data_type::DataType;
use crate::transform::legacy::{FixedScaleOffset, Parameter};
use crate::transform::rounding::Rounding;
use crate::transform::scalar::Scalar;
use crate::transform::scale_offset::ScaleOffset;

/// What stands between two stages.
const ARROW: &str = " -> ";

/// The type of the array and its whole chain; the chain of inner chunks stands in parentheses behind its shard.
impl Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{ARROW}{}", self.type_name, self.outer)
    }
}

/// The codecs of the chain, without the type that reaches it.
impl Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.steps.iter().enumerate() {
            if n > 0 {
                f.write_str(ARROW)?;
            }
            match (step, &self.inner) {
                (Step::Packing(packing), _) => packing.fmt(f)?,
                (Step::Other(other), Some(inner))
                    if other.name == crate::metadata::v3::SHARDING =>
                {
                    let shape = inner.chunk_shape.as_deref().unwrap_or_default();
                    write!(f, "{} {shape:?} ({inner})", other.name)?;
                }
                (Step::Other(other), _) => f.write_str(&other.name)?,
            }
        }
        Ok(())
    }
}

/// The codecs of the run with their parameters; the names alone where they cannot be bound.
impl Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(chain) = &self.binding.chain else {
            return write!(f, "{} (invalid)", self.names.join(ARROW));
        };
        for (n, (name, codec)) in self.names.iter().zip(chain.codecs()).enumerate() {
            if n > 0 {
                f.write_str(ARROW)?;
            }
            f.write_str(name)?;
            match codec {
                BoundCodec::ScaleOffset(codec) => scale_offset(codec, f)?,
                BoundCodec::CastValue(codec) => cast_value(codec, f)?,
                BoundCodec::FixedScaleOffset(codec) => legacy(codec, f)?,
            }
        }
        Ok(())
    }
}

fn scale_offset(codec: &ScaleOffset, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (codec.offset, codec.scale) {
        (None, None) => Ok(()),
        (Some(offset), None) => write!(f, " (offset {})", short(offset)),
        (None, Some(scale)) => write!(f, " (scale {})", short(scale)),
        (Some(offset), Some(scale)) => {
            write!(f, " (offset {}, scale {})", short(offset), short(scale))
        }
    }
}

/// The text of a scalar without the fraction that says no more than that it is a float.
#[must_use]
pub fn short(scalar: Scalar) -> String {
    let text = scalar.to_string();
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The text of a parameter of the legacy codec.
pub(super) fn number(parameter: Parameter) -> String {
    match parameter {
        Parameter::Integer {
            exact: Some(exact), ..
        } => exact.to_string(),
        other => short(Scalar::from_bits(
            DataType::Float64,
            other.double().to_bits(),
        )),
    }
}

fn legacy(codec: &FixedScaleOffset, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (offset, scale) = (number(codec.offset), number(codec.scale));
    write!(f, " {} (offset {offset}, scale {scale})", codec.stored)
}

fn cast_value(codec: &CastValue, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, " {}", codec.outgoing)?;
    let rounding = (codec.rounding != Rounding::NearestEven).then(|| codec.rounding.name());
    let options: Vec<_> = rounding
        .into_iter()
        .chain(codec.out_of_range.map(|word| word.name()))
        .collect();
    if !options.is_empty() {
        write!(f, " ({})", options.join(", "))?;
    }
    let pairs: Vec<_> = sentinels(codec)
        .map(|sentinel| sentinel.to_string())
        .collect();
    if !pairs.is_empty() {
        write!(f, " [{}]", pairs.join(", "))?;
    }
    Ok(())
}

/// `NaN<->0`, with the arrow of the one direction that holds where it is not both.
impl Display for Sentinel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = match (self.encode, self.decode) {
            (true, false) => "->",
            (false, true) => "<-",
            _ => "<->",
        };
        write!(f, "{}{arrow}{}", short(self.value), short(self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ArrayDocument;
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};
    use crate::metadata::{Node, Problems, v2, v3};

    fn words_of(text: &str) -> String {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        let root = Node::root(&parsed.root);
        let mut problems = Problems::default();
        if parsed.root.get("node_type").is_none() {
            let array = v2::array(&root, &mut problems).complete().unwrap();
            return Model::new(ArrayDocument::V2(&array)).unwrap().to_string();
        }
        let v3::Document::Array(array) = v3::read(&root, &mut problems) else {
            panic!("{text}");
        };
        let array = array.complete().unwrap();
        Model::new(ArrayDocument::V3(&array)).unwrap().to_string()
    }

    fn v3_words(data_type: &str, fill: &str, codecs: &str) -> String {
        words_of(&format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":[8],"data_type":"{data_type}","fill_value":{fill},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[8]}}}},
            "chunk_key_encoding":"default","codecs":{codecs}}}"#
        ))
    }

    const PAIR: &str = r#"{"name":"scale_offset","configuration":{"offset":-10,"scale":0.1}},
        {"name":"cast_value","configuration":{"data_type":"uint8","out_of_range":"clamp","rounding":"towards-zero",
        "scalar_map":{"encode":[["NaN",0],[-1,255]],"decode":[[0,"NaN"],[254,"Infinity"]]}}}"#;

    #[test]
    fn the_pair_with_its_parameters() {
        assert_eq!(
            v3_words(
                "float64",
                "\"NaN\"",
                &format!(r#"[{PAIR},"bytes",{{"name":"zstd"}}]"#)
            ),
            "float64 -> scale_offset (offset -10, scale 0.1) -> \
             cast_value uint8 (towards-zero, clamp) [NaN<->0, -1->255, Infinity<-254] -> bytes -> zstd"
        );
    }

    #[test]
    fn shards_hold_their_chains() {
        let codecs = format!(
            r#"[{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{PAIR},"bytes"],
            "index_codecs":["bytes"]}}}}]"#
        );
        let words = v3_words("float32", "\"NaN\"", &codecs);
        assert!(
            words.starts_with("float32 -> sharding_indexed [2] (scale_offset (offset -10"),
            "{words}"
        );
        assert!(words.ends_with(" -> bytes)"), "{words}");
    }

    #[test]
    fn unknown_codecs_hide_what_comes_behind_them_alone() {
        let codecs = r#"[{"name":"scale_offset","configuration":{"scale":2}},"nope",
            {"name":"cast_value","configuration":{"data_type":"uint8"}},"bytes"]"#;
        let words = v3_words("float32", "0", codecs);
        assert_eq!(
            words,
            "float32 -> scale_offset (scale 2) -> nope -> cast_value -> bytes"
        );
    }

    #[test]
    fn what_cannot_be_bound_is_named() {
        let codecs = r#"[{"name":"scale_offset","configuration":{"scale":0}},"bytes"]"#;
        assert_eq!(
            v3_words("float32", "0", codecs),
            "float32 -> scale_offset (invalid) -> bytes"
        );
    }

    #[test]
    fn v2_arrays_are_shown_as_v3_ones() {
        let words = words_of(
            r#"{"zarr_format":2,"shape":[4,4],"chunks":[2,2],"dtype":">f4","fill_value":0,"order":"F",
            "filters":[{"id":"fixedscaleoffset","dtype":">f4","astype":"|u1","scale":10,"offset":0.5},
            {"id":"zzz"}],"compressor":{"id":"zlib","level":1}}"#,
        );
        assert_eq!(
            words,
            "float32 -> transpose -> numcodecs.fixedscaleoffset uint8 (offset 0.5, scale 10) -> zzz -> bytes -> \
             numcodecs.zlib"
        );
    }
}
