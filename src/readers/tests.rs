//! Verdicts on whole documents, against what those programs were seen to do.

use super::*;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v2, v3};

fn verdicts(text: &str) -> Vec<ReaderVerdict> {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
    let root = Node::root(&parsed.root);
    let mut problems = Problems::default();
    if parsed.root.get("node_type").is_none() {
        let array = v2::array(&root, &mut problems).complete().unwrap();
        return readers(ArrayDocument::V2(&array));
    }
    let v3::Document::Array(array) = v3::read(&root, &mut problems) else {
        panic!("{text}");
    };
    readers(ArrayDocument::V3(&array.complete().unwrap()))
}

fn v3_array(data_type: &str, fill: &str, codecs: &str) -> Vec<ReaderVerdict> {
    verdicts(&format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"{data_type}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4]}}}},
        "chunk_key_encoding":{{"name":"default"}},"codecs":[{codecs}]}}"#
    ))
}

fn of(verdicts: &[ReaderVerdict], reader: &str) -> String {
    let key = READERS.iter().position(|known| known.key == reader);
    let verdict = &verdicts[key.unwrap()];
    match &verdict.opens {
        Opens::Yes => "yes".to_owned(),
        Opens::Unknown => "unknown".to_owned(),
        Opens::No(why) => why.clone(),
    }
}

const LE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

#[test]
fn a_plain_array_is_read_by_all_readers_of_its_version() {
    let verdicts = v3_array("float32", "0", LE);
    for reader in ["zarr-python", "zarrita.js", "zarrs", "GDAL", "tensorstore"] {
        assert_eq!(of(&verdicts, reader), "yes", "{reader}");
    }
    assert_eq!(of(&verdicts, "zarr-python 2"), "it does not read Zarr v3");
}

#[test]
fn the_pair_is_read_by_three() {
    let pair = r#"{"name":"scale_offset","configuration":{"scale":100}},
        {"name":"cast_value","configuration":{"data_type":"int16"}}"#;
    let verdicts = v3_array("float32", "0", &format!("{pair},{LE}"));
    let reads: Vec<_> = verdicts
        .iter()
        .filter(|verdict| verdict.opens == Opens::Yes)
        .map(|verdict| verdict.reader)
        .collect();
    assert_eq!(reads, ["zarr-python", "zarrita.js", "GDAL"]);
    assert_eq!(
        of(&verdicts, "zarr-java"),
        "its scale_offset is an open change (zarr-java#87)"
    );
}

#[test]
fn the_second_example_of_the_specification_is_not_read_by_zarrita() {
    let pair = r#"{"name":"scale_offset","configuration":{"offset":1000}},
        {"name":"cast_value","configuration":{"data_type":"uint8"}}"#;
    let verdicts = v3_array("uint16", "1000", &format!("{pair},{LE}"));
    assert!(of(&verdicts, "zarrita.js").contains("without shifting and scaling"));
    assert_eq!(of(&verdicts, "zarr-python"), "yes");
    // A fill that is the same before and after scaling can be cast either way.
    let verdicts = v3_array("uint16", "7", &format!("{pair},{LE}"));
    assert_eq!(of(&verdicts, "zarrita.js"), "yes");
    assert!(of(&verdicts, "zarr-python").contains("cannot be encoded"));
}

#[test]
fn spellings_that_single_readers_refuse() {
    let map = |pairs: &str| {
        format!(
            r#"{{"name":"cast_value","configuration":{{"data_type":"uint8","scalar_map":{pairs}}}}},{LE}"#
        )
    };
    let hex = v3_array("float32", "0", &map(r#"{"encode":[["0x7fc00000",0]]}"#));
    assert!(of(&hex, "zarr-python").contains("hexadecimal"));
    assert_eq!(of(&hex, "zarrita.js"), "yes");
    let plus = v3_array("float32", "0", &map(r#"{"encode":[["+Infinity",0]]}"#));
    assert!(of(&plus, "zarrita.js").contains("+Infinity"));
    let twice = v3_array("float32", "0", &map(r#"{"encode":[["NaN",0],["NaN",1]]}"#));
    assert!(of(&twice, "zarr-python").contains("uses the last"));
    let bare = v3_array("float32", "0", r#""scale_offset","bytes""#);
    assert!(of(&bare, "zarr-python").contains("string"));
    assert!(of(&bare, "zarrita.js").contains("string"));
    let empty = v3_array(
        "float32",
        "0",
        &format!(r#"{{"name":"scale_offset"}},{LE}"#),
    );
    assert_eq!(of(&empty, "zarr-python"), "yes");
    assert!(of(&empty, "zarrita.js").contains("without a configuration"));
}

#[test]
fn an_exact_chain_on_integers_is_not_read_by_zarr_python() {
    let chain = r#"{"name":"cast_value","configuration":{"data_type":"float64","rounding":"towards-zero"}},
        {"name":"scale_offset","configuration":{"scale":0.25}},
        {"name":"cast_value","configuration":{"data_type":"int16"}}"#;
    let verdicts = v3_array("int16", "0", &format!("{chain},{LE}"));
    assert!(of(&verdicts, "zarr-python").contains("against the array's type"));
    assert_eq!(of(&verdicts, "zarrita.js"), "yes");
}

#[test]
fn entries_of_a_map_beyond_the_floats_of_the_array_are_read_by_zarr_python() {
    let chain = r#"{"name":"cast_value","configuration":{"data_type":"float64"}},
        {"name":"scale_offset","configuration":{"scale":100}},
        {"name":"cast_value","configuration":{"data_type":"int16","scalar_map":
            {"encode":[[9.969209968386869e38,-32768]],"decode":[[-32768,9.969209968386869e38]]}}},
        {"name":"bytes","configuration":{"endian":"little"}}"#;
    let verdicts = v3_array("float32", "9.96921e36", chain);
    assert_eq!(of(&verdicts, "zarr-python"), "yes");
    // A scale beyond them becomes infinite for good.
    let verdicts = v3_array(
        "float32",
        "0",
        &chain.replace("\"scale\":100", "\"scale\":1e300"),
    );
    assert!(of(&verdicts, "zarr-python").contains("against the array's type"));
}

#[test]
fn types_that_few_readers_have() {
    let codecs = format!(r#"{{"name":"cast_value","configuration":{{"data_type":"int4"}}}},{LE}"#);
    let verdicts = v3_array("float32", "0", &codecs);
    assert!(of(&verdicts, "zarr-python").contains("less than 8 bits"));
    assert_eq!(of(&verdicts, "GDAL"), "unknown");
}

fn v2_array(dtype: &str, astype: &str) -> Vec<ReaderVerdict> {
    verdicts(&format!(
        r#"{{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"{dtype}","fill_value":0,"order":"C","compressor":null,
        "filters":[{{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"{dtype}","astype":"{astype}"}}]}}"#
    ))
}

#[test]
fn the_legacy_filter_and_its_byte_order() {
    let little = v2_array("<f4", "<i2");
    for reader in ["zarr-python", "zarr-python 2", "zarrita.js"] {
        assert_eq!(of(&little, reader), "yes", "{reader}");
    }
    assert!(of(&little, "zarrs").contains("float32 parameters"));
    assert_eq!(of(&little, "tensorstore"), "it refuses filters");
    for (dtype, astype) in [("<f4", ">i2"), (">f4", "<i2"), (">f4", "i2")] {
        let mixed = v2_array(dtype, astype);
        assert!(
            of(&mixed, "zarrita.js").contains("byte order"),
            "{dtype} {astype}"
        );
    }
    assert_eq!(of(&v2_array(">f4", "|u1"), "zarrita.js"), "yes");
}

#[test]
fn every_fact_is_about_a_reader_and_stands_once() {
    for (n, fact) in FACTS.iter().enumerate() {
        assert!(
            READERS.iter().any(|reader| reader.key == fact.reader),
            "{fact:?}"
        );
        let again = FACTS[..n]
            .iter()
            .any(|other| other.reader == fact.reader && other.feature == fact.feature);
        assert!(!again, "{fact:?}");
    }
}

#[test]
fn verdicts_cite_a_source_with_a_date() {
    for verdict in v2_array("<f4", "<i2") {
        assert!(verdict.source.date.len() == 7 && !verdict.source.text.is_empty());
    }
}
