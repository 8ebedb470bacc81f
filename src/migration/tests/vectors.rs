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

#[test]
fn timing() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<i2"));
    let start = std::time::Instant::now();
    for _ in 0..20 {
        planned(&text, &Options::default(), &Data::untouched());
    }
    eprintln!("f4 i2 {:?}", start.elapsed() / 20);
    let text = array("float32", "273.15", &fso("100", "273.15", "<f4", "<i2"));
    let start = std::time::Instant::now();
    for _ in 0..20 {
        planned(&text, &exact(), &Data::untouched());
    }
    eprintln!("f4 i2 exact {:?}", start.elapsed() / 20);
    let text = array("int16", "0", &fso("1", "0", "<i2", "<i2"));
    let start = std::time::Instant::now();
    for _ in 0..20 {
        planned(&text, &Options::default(), &Data::untouched());
    }
    eprintln!("i2 i2 {:?}", start.elapsed() / 20);
    eprintln!("{}", records().len());
}

#[test]
fn plans_agree_with_numcodecs() {
    let (mut identical, mut differing, mut refused, mut pairs) = (0, 0, 0, Vec::new());
    for record in records() {
        let fill = if record.decoded.is_float() {
            record.offset.clone()
        } else {
            "0".to_owned()
        };
        let text = array(record.decoded.name(), &fill, &record.codec);
        let data = record.data();
        let Planned::Change(plain) = plan(&text, true, &Options::default(), &data).unwrap() else {
            refused += 1;
            continue;
        };
        let (values, lost) = record.count(&plain.text);
        assert_eq!(lost, 0, "{text}");
        match plain.decode.proof.unwrap() {
            Proof::Data => assert_eq!(plain.decode.differences.differing, values, "{text}"),
            _ => assert!(
                plain.decode.differences.differing > 0 || values == 0,
                "{text}"
            ),
        }
        if values > 0 {
            differing += 1;
        } else {
            identical += 1;
        }
        pairs.push((record.decoded, record.stored));
    }
    pairs.sort();
    pairs.dedup();
    println!("{identical} {differing} {refused} {}", pairs.len());
    assert!(identical > 0 && differing > 0 && pairs.len() > 20);
}

#[test]
fn exact_plans_decode_as_numcodecs_does() {
    let mut planned = 0;
    for record in records() {
        let fill = if record.decoded.is_float() {
            record.offset.clone()
        } else {
            "0".to_owned()
        };
        let text = array(record.decoded.name(), &fill, &record.codec);
        if let Planned::Change(exact) = plan(&text, true, &exact(), &record.data()).unwrap() {
            assert_eq!(record.count(&exact.text), (0, 0), "{text}\n{}", exact.text);
            planned += 1;
        }
    }
    println!("{planned}");
    assert!(planned > 100);
}
