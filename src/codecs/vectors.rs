//! What numcodecs encodes and decodes, for the tests of codecs.

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;
use zarrs::metadata::v3::MetadataV3;

/// One line of the vectors.
pub(super) struct Vector {
    pub(super) metadata: MetadataV3,
    /// The decoded and the encoded type, for codecs on arrays.
    pub(super) types: Option<(String, String)>,
    pub(super) encoded: Vec<u8>,
    pub(super) decoded: Vec<u8>,
}

/// All vectors; see `testdata/codecs` for who made them.
pub(super) fn vectors() -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/codecs/vectors.jsonl.gz");
    let file = std::fs::File::open(path).unwrap();
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    lines
        .map(|line| vector(&serde_json::from_str(&line.unwrap()).unwrap()))
        .collect()
}

fn vector(record: &Value) -> Vector {
    let text = |name: &str| record[name].as_str().unwrap();
    let configuration = record["configuration"].as_object().unwrap().clone();
    Vector {
        metadata: MetadataV3::new_with_configuration(text("name"), configuration),
        types: record
            .get("dtype")
            .map(|_| (text("dtype").to_owned(), text("astype").to_owned())),
        encoded: hex(text("encoded")),
        decoded: hex(text("decoded")),
    }
}

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().as_chunks::<2>().0.iter();
    pairs
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
