//! Plans against what numcodecs decoded: the exact form gives its bits, and the verdict on the plain one counts as NumPy does.

use std::io::{BufRead, BufReader};

use flate2::read::GzDecoder;
use serde_json::Value;

use super::*;
use crate::codecs::ArrayDocument;
use crate::codecs::model::Model;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v3};
use crate::migration::verdict::{Proof, is_same};
use crate::transform::chain::Direction;
use crate::transform::data_type::ByteOrder;

/// What numcodecs decoded.
struct Record {
    decoded: DataType,
    stored: DataType,
    codec: String,
    offset: String,
    /// Codes with their values, but those whose value an integer type does not hold.
    elements: Vec<(Scalar, Scalar)>,
}

fn records() -> Vec<Record> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/vectors/fixedscaleoffset.jsonl.gz"
    );
    let lines = BufReader::new(GzDecoder::new(std::fs::File::open(path).unwrap())).lines();
    lines
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .filter(|record| record["direction"] == "decode" && record.get("error").is_none())
        .map(|record| Record::read(&record))
        .collect()
}

impl Record {
    fn read(record: &Value) -> Self {
        let text = |name: &str| record[name].as_str().map(str::to_owned);
        let dtype = text("dtype").unwrap();
        let astype = text("astype").unwrap_or(dtype.clone());
        let (decoded, stored) = (
            DataType::from_numpy(&dtype).unwrap().0,
            DataType::from_numpy(&astype).unwrap().0,
        );
        let beyond: Vec<u64> = record["out_of_range_elements"]
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_u64).collect())
            .unwrap_or_default();
        let codes = scalars(&text("input").unwrap(), &astype);
        let values = scalars(&text("output").unwrap(), &dtype);
        let elements = codes.into_iter().zip(values).zip(0..);
        let elements = elements.filter(|(_, n)| !beyond.contains(n));
        let (scale, offset) = (record["scale"].to_string(), record["offset"].to_string());
        Self {
            decoded,
            stored,
            codec: fso(&scale, &offset, &dtype, &astype),
            offset,
            elements: elements.map(|(element, _)| element).collect(),
        }
    }

    fn data(&self) -> Data {
        Data {
            inside: self.elements.iter().map(|(code, _)| *code).collect(),
            ..Data::of(self.stored, [])
        }
    }

    /// How many elements a document decodes to other values, and how many not at all.
    fn count(&self, text: &str) -> (u64, u64) {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        let document = v3::read(&Node::root(&parsed.root), &mut Problems::default());
        let v3::Document::Array(array) = document else {
            panic!("{text}");
        };
        let model = Model::new(ArrayDocument::V3(&array.complete().unwrap())).unwrap();
        let packing = model.packing().next().unwrap();
        let chain = packing.binding.chain.as_ref().unwrap();
        let (mut differing, mut unreadable) = (0, 0);
        for (code, value) in &self.elements {
            match chain.transform(Direction::Decode, *code) {
                Ok(new) if is_same(new, *value) => {}
                Ok(_) => differing += 1,
                Err(_) => unreadable += 1,
            }
        }
        (differing, unreadable)
    }
}

fn scalars(hex: &str, dtype: &str) -> Vec<Scalar> {
    let (data_type, order) = DataType::from_numpy(dtype).unwrap();
    let digits = hex.as_bytes().as_chunks::<2>().0.iter();
    let bytes: Vec<_> = digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    let elements = bytes.chunks_exact(data_type.size()).map(|element| {
        let shift = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        let bits = match order {
            ByteOrder::Big => element.iter().fold(0, shift),
            _ => element.iter().rev().fold(0, shift),
        };
        Scalar::from_bits(data_type, bits)
    });
    elements.collect()
}

/// What became of the plans for all vectors.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    identical: usize,
    differing: usize,
    refused: usize,
}

#[test]
fn plans_agree_with_numcodecs() {
    let (mut plain, mut exactly) = (Tally::default(), Tally::default());
    let mut pairs = std::collections::BTreeSet::new();
    for record in records() {
        let fill = if record.decoded.is_float() {
            record.offset.clone()
        } else {
            "0".to_owned()
        };
        let text = array(record.decoded.name(), &fill, &record.codec);
        let data = record.data();
        for (options, tally) in [(Options::default(), &mut plain), (exact(), &mut exactly)] {
            let plan = match plan(&text, true, &options, &data).unwrap() {
                Planned::Change(plan) => plan,
                other => {
                    assert!(matches!(other, Planned::Impossible(_)), "{other:?}");
                    tally.refused += 1;
                    continue;
                }
            };
            pairs.insert((record.decoded, record.stored));
            let (values, lost) = record.count(&plan.text);
            assert_eq!(lost, 0, "{text}");
            let counted = plan.decode.differences.differing;
            match plan.decode.proof.unwrap() {
                Proof::Data => assert_eq!(counted, values, "{text}"),
                _ => assert!(counted >= values, "{text}"),
            }
            match values {
                0 => tally.identical += 1,
                _ => tally.differing += 1,
            }
        }
    }
    assert_eq!(exactly.differing, 0);
    assert_eq!(pairs.len(), 101);
    // Most that is refused in the plain form are integers that the scale does not divide, and float16 that overflow.
    let expected = |identical, differing, refused| Tally {
        identical,
        differing,
        refused,
    };
    assert_eq!(plain, expected(321, 69, 520));
    assert_eq!(exactly, expected(909, 0, 1));
}
