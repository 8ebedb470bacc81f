//! Every rule of the conversion, and every refusal with its words.

use super::*;
use crate::metadata::json::{Limits, NonFinite, Parsed, parse};
use crate::metadata::{Node, Problems};

fn tree(text: &str) -> Parsed {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap()
}

/// A `.zarray` with these members in place of the ones that most have.
fn zarray(members: &str) -> String {
    let mut text = "{\"zarr_format\":2".to_owned();
    let given = tree(&format!("{{{members}}}"));
    for (name, value) in [
        ("shape", "[2]"),
        ("chunks", "[2]"),
        ("dtype", "\"<f4\""),
        ("fill_value", "0"),
        ("order", "\"C\""),
        ("filters", "null"),
        ("compressor", "null"),
    ] {
        if given.root.get(name).is_none() {
            text += &format!(",\"{name}\":{value}");
        }
    }
    format!("{text},{members}}}")
}

fn convert(
    members: &str,
    attributes: Option<&str>,
    separator: Separator,
) -> Result<ArrayConversion, Vec<Refusal>> {
    let parsed = tree(&zarray(members));
    let mut problems = Problems::default();
    let read = v2::array(&Node::root(&parsed.root), &mut problems).complete();
    let attributes = attributes.map(tree);
    let attributes = attributes.as_ref().map(|parsed| &parsed.root);
    array(&read.unwrap(), attributes, separator)
}

/// The notes or refusals of a conversion, one a line, with the hints.
fn said(result: &Result<ArrayConversion, Vec<Refusal>>) -> String {
    let lines: Vec<String> = match result {
        Ok(converted) => {
            let notes = converted.notes.iter();
            notes
                .map(|note| format!("[{}] {note}", note.kind.id()))
                .collect()
        }
        Err(refusals) => refusals
            .iter()
            .map(|refusal| match &refusal.hint {
                Some(hint) => format!("{refusal} ({hint})"),
                None => refusal.to_string(),
            })
            .collect(),
    };
    lines.join("\n")
}

/// One member of the document that comes out, on one line, or the refusals; and the notes but for that on masks, which all
/// arrays with a fill have.
fn member(name: &str, members: &str) -> String {
    let result = convert(members, None, Separator::Dot);
    let Ok(mut converted) = result.clone() else {
        return said(&result);
    };
    converted.notes.retain(|note| note.pointer != "/_FillValue");
    let document = tree(&converted.text);
    let value = document.root.get(name).map(|value| {
        let mut text = String::new();
        compact(value, &mut text);
        text
    });
    let mut text = value.unwrap_or_else(|| "nothing".to_owned());
    for line in said(&Ok(converted)).lines() {
        text += &format!("\n  {line}");
    }
    text
}

fn compact(value: &Value, text: &mut String) {
    let draft = Draft::from(value);
    let spaced = draft.to_document(&Layout::of("[1,2]", &tree("[1,2]").root));
    text.push_str(spaced.trim_end());
}

fn codecs(members: &str) -> String {
    member("codecs", members)
}

/// A table with a line for each case.
fn table<'c>(cases: impl IntoIterator<Item = &'c str>, show: impl Fn(&str) -> String) -> String {
    let lines: Vec<_> = cases
        .into_iter()
        .map(|case| format!("{case}\n  {}", show(case).replace('\n', "\n  ")))
        .collect();
    lines.join("\n")
}

#[test]
fn documents_are_laid_out_as_zarr_python_does() {
    let converted = convert(
        r#""dimension_separator":"/","fill_value":"NaN""#,
        Some(r#"{"_ARRAY_DIMENSIONS":["x"],"scale":1.50}"#),
        Separator::Slash,
    );
    insta::assert_snapshot!(converted.unwrap().text, @r#"
    {
      "zarr_format": 3,
      "node_type": "array",
      "shape": [
        2
      ],
      "data_type": "float32",
      "chunk_grid": {
        "name": "regular",
        "configuration": {
          "chunk_shape": [
            2
          ]
        }
      },
      "chunk_key_encoding": {
        "name": "v2",
        "configuration": {
          "separator": "/"
        }
      },
      "fill_value": "NaN",
      "codecs": [
        {
          "name": "bytes",
          "configuration": {
            "endian": "little"
          }
        }
      ],
      "attributes": {
        "scale": 1.50
      },
      "dimension_names": [
        "x"
      ]
    }
    "#);
}

#[test]
fn stored_bytes_have_the_order_of_the_last_array_filter() {
    let cases = [
        r#""dtype":"<f4","filters":null"#,
        r#""dtype":">f4","filters":null"#,
        r#""dtype":"|u1","filters":null"#,
        r#""dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f4","astype":">i2"}]"#,
        r#""dtype":">f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0.50,"dtype":">f4","astype":"<i2"}]"#,
        r#""dtype":">f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":">f4"}]"#,
        r#""dtype":"|u1","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"|u1","astype":">i2"}]"#,
        r#""dtype":"<f8","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f8","astype":"<i4"},{"id":"delta","dtype":"<i4","astype":">i2"}]"#,
        r#""dtype":"<f4","compressor":{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f4","astype":">u2"}"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "dtype":"<f4","filters":null
      [{"name": "bytes","configuration": {"endian": "little"}}]
    "dtype":">f4","filters":null
      [{"name": "bytes","configuration": {"endian": "big"}}]
    "dtype":"|u1","filters":null
      [{"name": "bytes"}]
    "dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f4","astype":">i2"}]
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0,"dtype": "<f4","astype": "<i2"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: astype >i2 became <i2: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":">f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0.50,"dtype":">f4","astype":"<i2"}]
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0.50,"dtype": "<f4","astype": "<i2"}},{"name": "bytes","configuration": {"endian": "little"}}]
        [codec] .zarray, /filters/0: dtype >f4 became <f4: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":">f4","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":">f4"}]
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0,"dtype": "<f4"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: dtype >f4 became <f4: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":"|u1","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"|u1","astype":">i2"}]
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0,"dtype": "|u1","astype": "<i2"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: astype >i2 became <i2: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":"<f8","filters":[{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f8","astype":"<i4"},{"id":"delta","dtype":"<i4","astype":">i2"}]
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0,"dtype": "<f8","astype": "<i4"}},{"name": "numcodecs.delta","configuration": {"dtype": "<i4","astype": "<i2"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/1: astype >i2 became <i2: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":"<f4","compressor":{"id":"fixedscaleoffset","scale":10,"offset":0,"dtype":"<f4","astype":">u2"}
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 10,"offset": 0,"dtype": "<f4","astype": "<u2"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /compressor: astype >u2 became <u2: in Zarr v3 the "bytes" codec has the order of bytes
    "#);
}

#[test]
fn filters_take_the_type_that_reaches_them() {
    let legacy = |array: &str, filter: &str| {
        format!(
            r#""dtype":"{array}","filters":[{{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"{filter}","astype":"|i1"}}]"#
        )
    };
    for (array, filter) in [
        ("<f4", "f4"),
        ("<f4", "float32"),
        ("<f4", "=f4"),
        ("|u1", "u1"),
        ("|u1", ">u1"),
        ("|u1", "uint8"),
    ] {
        assert!(convert(&legacy(array, filter), None, Separator::Dot).is_ok());
    }
    let cases = [
        legacy("<f4", ">f4"),
        legacy(">f4", "f4"),
        legacy("<f4", "<f8"),
        legacy("<f4", "<i4"),
        legacy("|u1", "|i1"),
        legacy("<f4", "<f3"),
        r#""filters":[{"id":"astype","decode_dtype":"<f8","encode_dtype":"<f4"}]"#.to_owned(),
        r#""filters":[{"id":"astype","decode_dtype":"<f4"}]"#.to_owned(),
        r#""filters":[{"id":"delta","dtype":"<f4","astype":"<i2"},{"id":"quantize","digits":1,"dtype":"<f4"}]"#.to_owned(),
        r#""filters":[{"id":"quantize","digits":1,"dtype":3}]"#.to_owned(),
    ];
    insta::assert_snapshot!(table(cases.iter().map(String::as_str), codecs), @r#"
    "dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":">f4","astype":"|i1"}]
      .zarray, /filters/0/dtype: the type >f4; expected <f4, which reaches the filter (only the order of bytes differs, but readers of Zarr v2 do not swap bytes here, so that what they read is not what was written; find out which of the two is true, and correct .zarray)
    "dtype":">f4","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"f4","astype":"|i1"}]
      .zarray, /filters/0/dtype: the type f4; expected >f4, which reaches the filter (only the order of bytes differs, but readers of Zarr v2 do not swap bytes here, so that what they read is not what was written; find out which of the two is true, and correct .zarray)
    "dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"<f8","astype":"|i1"}]
      .zarray, /filters/0/dtype: the type <f8; expected <f4, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    "dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"<i4","astype":"|i1"}]
      .zarray, /filters/0/dtype: the type <i4; expected <f4, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    "dtype":"|u1","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"|i1","astype":"|i1"}]
      .zarray, /filters/0/dtype: the type |i1; expected |u1, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    "dtype":"<f4","filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"<f3","astype":"|i1"}]
      .zarray, /filters/0/dtype: "<f3"; expected a NumPy type of numbers, such as "<f4"
    "filters":[{"id":"astype","decode_dtype":"<f8","encode_dtype":"<f4"}]
      .zarray, /filters/0/decode_dtype: the type <f8; expected <f4, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    "filters":[{"id":"astype","decode_dtype":"<f4"}]
      .zarray, /filters/0/encode_dtype: nothing; expected the type that is stored
    "filters":[{"id":"delta","dtype":"<f4","astype":"<i2"},{"id":"quantize","digits":1,"dtype":"<f4"}]
      .zarray, /filters/1/dtype: the type <f4; expected <i2, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    "filters":[{"id":"quantize","digits":1,"dtype":3}]
      .zarray, /filters/0/dtype: the number 3; expected a NumPy type of numbers, such as "<f4"
    "#);
}

#[test]
fn legacy_filters_that_make_no_sense_are_refused() {
    let cases = [
        r#""filters":[{"id":"fixedscaleoffset","offset":0,"dtype":"<f4","astype":"|u1"}]"#,
        r#""filters":[{"id":"fixedscaleoffset","scale":"10","offset":0,"dtype":"<f4","astype":"|u1"}]"#,
        r#""filters":[{"id":"fixedscaleoffset","scale":0,"offset":0,"dtype":"<f4","astype":"|u1"}]"#,
        r#""filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f4","astype":"|u1","x":1}]"#,
        r#""dtype":"|b1","fill_value":false,"filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"|b1","astype":"|u1"}]"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "filters":[{"id":"fixedscaleoffset","offset":0,"dtype":"<f4","astype":"|u1"}]
      .zarray, /filters/0/scale: no scale; expected a JSON number [legacy/parameter] (correct .zarray, or write the array anew)
    "filters":[{"id":"fixedscaleoffset","scale":"10","offset":0,"dtype":"<f4","astype":"|u1"}]
      .zarray, /filters/0/scale: the string "10" is no float64 scalar; expected a JSON number [legacy/parameter] (correct .zarray, or write the array anew)
    "filters":[{"id":"fixedscaleoffset","scale":0,"offset":0,"dtype":"<f4","astype":"|u1"}]
      .zarray, /filters/0/scale: a scale of 0; expected a number other than zero [legacy/zero-scale] (correct .zarray, or write the array anew)
    "filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f4","astype":"|u1","x":1}]
      .zarray, /filters/0/x: an unknown member "x"; expected no member but "offset", "scale", "dtype", "astype" [legacy/unknown-member] (correct .zarray, or write the array anew)
    "dtype":"|b1","fill_value":false,"filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"|b1","astype":"|u1"}]
      .zarray, /filters/0: "numcodecs.fixedscaleoffset" takes real numbers, and meets another type (correct .zarray, or write the array anew)
    "#);
}

#[test]
fn order_f_is_a_reversed_transpose_from_two_dimensions_on() {
    let cases = [
        r#""shape":[],"chunks":[],"order":"F""#,
        r#""shape":[4],"chunks":[2],"order":"F""#,
        r#""shape":[4,4,4],"chunks":[2,2,2],"order":"F","filters":[{"id":"delta","dtype":"<f4"}]"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "shape":[],"chunks":[],"order":"F"
      [{"name": "bytes","configuration": {"endian": "little"}}]
    "shape":[4],"chunks":[2],"order":"F"
      [{"name": "bytes","configuration": {"endian": "little"}}]
    "shape":[4,4,4],"chunks":[2,2,2],"order":"F","filters":[{"id":"delta","dtype":"<f4"}]
      [{"name": "transpose","configuration": {"order": [2,1,0]}},{"name": "numcodecs.delta","configuration": {"dtype": "<f4"}},{"name": "bytes","configuration": {"endian": "little"}}]
    "#);
}

#[test]
fn compressors_keep_their_options() {
    let cases = [
        r#""compressor":{"id":"blosc","cname":"lz4hc","clevel":9,"shuffle":2,"blocksize":256}"#,
        r#""compressor":{"id":"blosc"}"#,
        r#""compressor":{"id":"blosc","shuffle":-1}"#,
        r#""dtype":"|u1","compressor":{"id":"blosc","shuffle":-1}"#,
        r#""dtype":"<U100","fill_value":"","compressor":{"id":"blosc","shuffle":0}"#,
        r#""dtype":"<f8","filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f8","astype":"<i2"}],"compressor":{"id":"blosc","shuffle":1}"#,
        r#""filters":[{"id":"shuffle","elementsize":4}],"compressor":{"id":"blosc","shuffle":1}"#,
        r#""compressor":{"id":"zstd","level":-5}"#,
        r#""compressor":{"id":"zstd","level":30,"checksum":true}"#,
        r#""compressor":{"id":"zstd","checksum":true}"#,
        r#""compressor":{"id":"gzip","level":9}"#,
        r#""compressor":{"id":"gzip"}"#,
        r#""compressor":{"id":"gzip","level":-1}"#,
        r#""compressor":{"id":"zlib","level":-1}"#,
        r#""compressor":{"id":"lz4","acceleration":1}"#,
        r#""compressor":{"id":"bz2","level":3}"#,
        r#""compressor":{"id":"lzma","format":1,"check":-1,"preset":null,"filters":null}"#,
        r#""compressor":{"id":"crc32c","location":"start"}"#,
        r#""compressor":{"id":"shuffle"}"#,
        r#""filters":[{"id":"fletcher32"},{"id":"adler32"},{"id":"crc32c","location":"end"},{"id":"jenkins_lookup3","initval":3,"prefix":null}]"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "compressor":{"id":"blosc","cname":"lz4hc","clevel":9,"shuffle":2,"blocksize":256}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "blosc","configuration": {"cname": "lz4hc","clevel": 9,"shuffle": "bitshuffle","typesize": 4,"blocksize": 256}}]
    "compressor":{"id":"blosc"}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "shuffle","typesize": 4,"blocksize": 0}}]
    "compressor":{"id":"blosc","shuffle":-1}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "shuffle","typesize": 4,"blocksize": 0}}]
        [codec] .zarray, /compressor: the automatic shuffle of blosc became "shuffle", which it is for elements of this size
    "dtype":"|u1","compressor":{"id":"blosc","shuffle":-1}
      [{"name": "bytes"},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "bitshuffle","typesize": 1,"blocksize": 0}}]
        [codec] .zarray, /compressor: the automatic shuffle of blosc became "bitshuffle", which it is for elements of this size
    "dtype":"<U100","fill_value":"","compressor":{"id":"blosc","shuffle":0}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "noshuffle","typesize": 1,"blocksize": 0}}]
    "dtype":"<f8","filters":[{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f8","astype":"<i2"}],"compressor":{"id":"blosc","shuffle":1}
      [{"name": "numcodecs.fixedscaleoffset","configuration": {"scale": 1,"offset": 0,"dtype": "<f8","astype": "<i2"}},{"name": "bytes","configuration": {"endian": "little"}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "shuffle","typesize": 2,"blocksize": 0}}]
    "filters":[{"id":"shuffle","elementsize":4}],"compressor":{"id":"blosc","shuffle":1}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.shuffle","configuration": {"elementsize": 4}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "shuffle","typesize": 1,"blocksize": 0}}]
    "compressor":{"id":"zstd","level":-5}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "zstd","configuration": {"level": -5,"checksum": false}}]
    "compressor":{"id":"zstd","level":30,"checksum":true}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.zstd","configuration": {"level": 30,"checksum": true}}]
    "compressor":{"id":"zstd","checksum":true}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "zstd","configuration": {"level": 0,"checksum": true}}]
    "compressor":{"id":"gzip","level":9}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "gzip","configuration": {"level": 9}}]
    "compressor":{"id":"gzip"}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "gzip","configuration": {"level": 1}}]
    "compressor":{"id":"gzip","level":-1}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.gzip","configuration": {"level": -1}}]
    "compressor":{"id":"zlib","level":-1}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.zlib","configuration": {"level": -1}}]
    "compressor":{"id":"lz4","acceleration":1}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.lz4","configuration": {"acceleration": 1}}]
    "compressor":{"id":"bz2","level":3}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.bz2","configuration": {"level": 3}}]
    "compressor":{"id":"lzma","format":1,"check":-1,"preset":null,"filters":null}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.lzma","configuration": {"format": 1,"check": -1,"preset": null,"filters": null}}]
    "compressor":{"id":"crc32c","location":"start"}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.crc32c","configuration": {"location": "start"}}]
    "compressor":{"id":"shuffle"}
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.shuffle","configuration": {"elementsize": 4}}]
    "filters":[{"id":"fletcher32"},{"id":"adler32"},{"id":"crc32c","location":"end"},{"id":"jenkins_lookup3","initval":3,"prefix":null}]
      [{"name": "bytes","configuration": {"endian": "little"}},{"name": "numcodecs.fletcher32","configuration": {}},{"name": "numcodecs.adler32","configuration": {}},{"name": "crc32c"},{"name": "numcodecs.jenkins_lookup3","configuration": {"initval": 3,"prefix": null}}]
    "#);
}

#[test]
fn compressors_that_numcodecs_would_not_take_are_refused() {
    let cases = [
        r#""compressor":{"id":"blosc","cname":"lz5"}"#,
        r#""compressor":{"id":"blosc","clevel":10}"#,
        r#""compressor":{"id":"blosc","shuffle":3}"#,
        r#""compressor":{"id":"blosc","blocksize":-1}"#,
        r#""compressor":{"id":"blosc","typesize":0}"#,
        r#""compressor":{"id":"blosc","threads":1}"#,
        r#""compressor":{"id":"gzip","level":1.5}"#,
        r#""compressor":{"id":"zstd","level":1,"checksum":1}"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "compressor":{"id":"blosc","cname":"lz5"}
      .zarray, /compressor/cname: "lz5"; expected blosclz, lz4, lz4hc, snappy, zlib or zstd
    "compressor":{"id":"blosc","clevel":10}
      .zarray, /compressor/clevel: the number 10; expected a level from 0 to 9
    "compressor":{"id":"blosc","shuffle":3}
      .zarray, /compressor/shuffle: the number 3; expected -1, 0, 1 or 2
    "compressor":{"id":"blosc","blocksize":-1}
      .zarray, /compressor/blocksize: the number -1; expected a number of bytes
    "compressor":{"id":"blosc","typesize":0}
      .zarray, /compressor/typesize: the number 0; expected a number of bytes from 1 to 255
    "compressor":{"id":"blosc","threads":1}
      .zarray, /compressor/threads: a member that the codec does not have; expected none but those that numcodecs knows
    "compressor":{"id":"gzip","level":1.5}
      .zarray, /compressor/level: the number 1.5; expected a level
    "compressor":{"id":"zstd","level":1,"checksum":1}
      .zarray, /compressor/checksum: the number 1; expected true or false
    "#);
}

#[test]
fn filters_keep_their_side_of_the_bytes() {
    let cases = [
        r#""dtype":"|b1","fill_value":false,"filters":[{"id":"packbits"}]"#,
        r#""filters":[{"id":"bitround","keepbits":3}]"#,
        r#""dtype":">f8","filters":[{"id":"quantize","digits":2,"dtype":">f8","astype":">f4"}]"#,
        r#""dtype":">f8","filters":[{"id":"quantize","digits":2,"dtype":">f8"}]"#,
        r#""dtype":"<f8","filters":[{"id":"astype","encode_dtype":">f4","decode_dtype":"<f8"}]"#,
        r#""dtype":"<i4","filters":[{"id":"delta"}]"#,
        r#""filters":[{"id":"shuffle"},{"id":"delta","dtype":"<f4"}]"#,
        r#""filters":[{"id":"zlib","level":1}],"compressor":{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f4"}"#,
        r#""dtype":"<i4","filters":[{"id":"packbits"}]"#,
        r#""dtype":"<i4","filters":[{"id":"bitround","keepbits":3}]"#,
        r#""dtype":"<M8[ns]","filters":[{"id":"delta","dtype":"<i8"}]"#,
        r#""filters":[{"id":"categorize","labels":["a"],"dtype":"<f4"}]"#,
        r#""filters":[{"id":"base64"},{"id":"acme"}]"#,
        r#""compressor":{"id":"pcodec","level":8}"#,
        r#""filters":[{"id":"vlen-utf8"}]"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "dtype":"|b1","fill_value":false,"filters":[{"id":"packbits"}]
      [{"name": "numcodecs.packbits","configuration": {}},{"name": "bytes"}]
    "filters":[{"id":"bitround","keepbits":3}]
      [{"name": "numcodecs.bitround","configuration": {"keepbits": 3}},{"name": "bytes","configuration": {"endian": "little"}}]
    "dtype":">f8","filters":[{"id":"quantize","digits":2,"dtype":">f8","astype":">f4"}]
      [{"name": "numcodecs.quantize","configuration": {"digits": 2,"dtype": "<f8","astype": "<f8"}},{"name": "numcodecs.astype","configuration": {"encode_dtype": "<f4","decode_dtype": "<f8"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: dtype >f8 became <f8: in Zarr v3 the "bytes" codec has the order of bytes
        [codec] .zarray, /filters/0: astype >f4 became <f4: in Zarr v3 the "bytes" codec has the order of bytes
        [codec] .zarray, /filters/0: "quantize" from <f8 to <f4 became "quantize" and "astype", since zarr-python does not change the type for "quantize" in Zarr v3
    "dtype":">f8","filters":[{"id":"quantize","digits":2,"dtype":">f8"}]
      [{"name": "numcodecs.quantize","configuration": {"digits": 2,"dtype": "<f8"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: dtype >f8 became <f8: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":"<f8","filters":[{"id":"astype","encode_dtype":">f4","decode_dtype":"<f8"}]
      [{"name": "numcodecs.astype","configuration": {"encode_dtype": "<f4","decode_dtype": "<f8"}},{"name": "bytes","configuration": {"endian": "big"}}]
        [codec] .zarray, /filters/0: encode_dtype >f4 became <f4: in Zarr v3 the "bytes" codec has the order of bytes
    "dtype":"<i4","filters":[{"id":"delta"}]
      [{"name": "numcodecs.delta","configuration": {"dtype": "<i4"}},{"name": "bytes","configuration": {"endian": "little"}}]
    "filters":[{"id":"shuffle"},{"id":"delta","dtype":"<f4"}]
      .zarray, /filters/1: the filter "delta" behind one that makes bytes of the array
    "filters":[{"id":"zlib","level":1}],"compressor":{"id":"fixedscaleoffset","scale":1,"offset":0,"dtype":"<f4"}
      .zarray, /compressor: the filter "fixedscaleoffset" behind one that makes bytes of the array
    "dtype":"<i4","filters":[{"id":"packbits"}]
      .zarray, /filters/0: the codec "numcodecs.packbits": bits of what is no boolean (correct .zarray, or write the array anew)
    "dtype":"<i4","filters":[{"id":"bitround","keepbits":3}]
      .zarray, /filters/0: the filter "bitround" on values of <i4; expected it on floats alone
    "dtype":"<M8[ns]","filters":[{"id":"delta","dtype":"<i8"}]
      .zarray, /filters/0: the filter "delta" on values of <M8[ns]
    "filters":[{"id":"categorize","labels":["a"],"dtype":"<f4"}]
      .zarray, /filters/0: the codec "categorize": Zarr v3 has no such codec (write the array anew without this codec, with the program that wrote it)
    "filters":[{"id":"base64"},{"id":"acme"}]
      .zarray, /filters/0: the codec "base64": Zarr v3 has no such codec (write the array anew without this codec, with the program that wrote it)
      .zarray, /filters/1: the codec "acme": it is not known (write the array anew without this codec, with the program that wrote it)
    "compressor":{"id":"pcodec","level":8}
      .zarray, /compressor: the codec "pcodec": this version does not decode it (write the array anew without this codec, with the program that wrote it)
    "filters":[{"id":"vlen-utf8"}]
      .zarray, /filters/0: the filter "vlen-utf8" on values of <f4; expected it first, on an array with the dtype |O
    "#);
}

#[test]
fn types_are_those_of_one_table() {
    let cases = [
        r#""dtype":"|b1","fill_value":false"#,
        r#""dtype":"|i1""#,
        r#""dtype":">i8""#,
        r#""dtype":"<u4""#,
        r#""dtype":"<f2""#,
        r#""dtype":"<f8""#,
        r#""dtype":"<c8","fill_value":null"#,
        r#""dtype":"<c16","fill_value":null"#,
        r#""dtype":"<M8[ns]""#,
        r#""dtype":">M8[25s]""#,
        r#""dtype":"<M8[μs]""#,
        r#""dtype":"<m8""#,
        r#""dtype":"<m8[0s]""#,
        r#""dtype":"|S5","fill_value":"""#,
        r#""dtype":">U2","fill_value":"""#,
        r#""dtype":"|V3","fill_value":null"#,
        r#""dtype":[["a","<i4"],["b","|S2"],["c",[["d","<M8[D]"]]]],"fill_value":null"#,
        r#""dtype":"|O","fill_value":"","filters":[{"id":"vlen-utf8"}]"#,
        r#""dtype":"|O","fill_value":"","compressor":{"id":"vlen-bytes"}"#,
        r#""dtype":"<f16""#,
        r#""dtype":"<c32","fill_value":null"#,
        r#""dtype":"|S0","fill_value":"""#,
        r#""dtype":"|O","fill_value":null,"filters":[{"id":"json2"}]"#,
        r#""dtype":"|O","fill_value":null"#,
        r#""dtype":[["a","<i4"],["b",">i4"]],"fill_value":null"#,
        r#""dtype":[["a","<i4",[2]]],"fill_value":null"#,
        r#""dtype":[["a","|O"]],"fill_value":null"#,
        r#""dtype":[["a","<i4"],["a","<i4"]],"fill_value":null"#,
        r#""dtype":[],"fill_value":null"#,
        r#""dtype":[["","<i4"]],"fill_value":null"#,
        r#""dtype":["a"],"fill_value":null"#,
        r#""dtype":[["a","x"]],"fill_value":null"#,
    ];
    insta::assert_snapshot!(table(cases, |case| member("data_type", case)), @r#"
    "dtype":"|b1","fill_value":false
      "bool"
    "dtype":"|i1"
      "int8"
    "dtype":">i8"
      "int64"
    "dtype":"<u4"
      "uint32"
    "dtype":"<f2"
      "float16"
    "dtype":"<f8"
      "float64"
    "dtype":"<c8","fill_value":null
      "complex64"
        [fill] .zarray, /fill_value: null became [ 0.0, 0.0 ]: what was never written had no defined value
    "dtype":"<c16","fill_value":null
      "complex128"
        [fill] .zarray, /fill_value: null became [ 0.0, 0.0 ]: what was never written had no defined value
    "dtype":"<M8[ns]"
      {"name": "numpy.datetime64","configuration": {"unit": "ns","scale_factor": 1}}
    "dtype":">M8[25s]"
      {"name": "numpy.datetime64","configuration": {"unit": "s","scale_factor": 25}}
    "dtype":"<M8[μs]"
      {"name": "numpy.datetime64","configuration": {"unit": "us","scale_factor": 1}}
    "dtype":"<m8"
      {"name": "numpy.timedelta64","configuration": {"unit": "generic","scale_factor": 1}}
    "dtype":"<m8[0s]"
      .zarray, /dtype: the dtype <m8[0s]: a count of units that NumPy does not take
    "dtype":"|S5","fill_value":""
      {"name": "null_terminated_bytes","configuration": {"length_bytes": 5}}
    "dtype":">U2","fill_value":""
      {"name": "fixed_length_utf32","configuration": {"length_bytes": 8}}
    "dtype":"|V3","fill_value":null
      {"name": "raw_bytes","configuration": {"length_bytes": 3}}
        [fill] .zarray, /fill_value: null became "AAAA": what was never written had no defined value
    "dtype":[["a","<i4"],["b","|S2"],["c",[["d","<M8[D]"]]]],"fill_value":null
      {"name": "struct","configuration": {"fields": [{"name": "a","data_type": "int32"},{"name": "b","data_type": {"name": "null_terminated_bytes","configuration": {"length_bytes": 2}}},{"name": "c","data_type": {"name": "struct","configuration": {"fields": [{"name": "d","data_type": {"name": "numpy.datetime64","configuration": {"unit": "D","scale_factor": 1}}}]}}}]}}
        [fill] .zarray, /fill_value: null became { "a": 0, "b": "", "c": { "d": 0 } }: what was never written had no defined value
    "dtype":"|O","fill_value":"","filters":[{"id":"vlen-utf8"}]
      "string"
    "dtype":"|O","fill_value":"","compressor":{"id":"vlen-bytes"}
      "variable_length_bytes"
    "dtype":"<f16"
      .zarray, /dtype: the dtype <f16: numbers of more than 64 bits, which Zarr v3 does not have
    "dtype":"<c32","fill_value":null
      .zarray, /dtype: the dtype <c32: numbers of more than 64 bits, which Zarr v3 does not have
    "dtype":"|S0","fill_value":""
      .zarray, /dtype: the dtype |S0: values of no bytes, which Zarr v3 does not have
    "dtype":"|O","fill_value":null,"filters":[{"id":"json2"}]
      .zarray, /dtype: the dtype |O: Python objects; Zarr v3 has them only as text behind the filter vlen-utf8 and as bytes behind vlen-bytes (write the array anew with a type that Zarr v3 has)
    "dtype":"|O","fill_value":null
      .zarray, /dtype: the dtype |O: Python objects; Zarr v3 has them only as text behind the filter vlen-utf8 and as bytes behind vlen-bytes (write the array anew with a type that Zarr v3 has)
    "dtype":[["a","<i4"],["b",">i4"]],"fill_value":null
      .zarray, /dtype: fields of both byte orders; Zarr v3 has one order for all
    "dtype":[["a","<i4",[2]]],"fill_value":null
      .zarray, /dtype/0: a field that is an array of its own, which Zarr v3 does not have
    "dtype":[["a","|O"]],"fill_value":null
      .zarray, /dtype/0/1: the dtype |O: objects, which only a whole array can have
    "dtype":[["a","<i4"],["a","<i4"]],"fill_value":null
      .zarray, /dtype/1: the field "a" a second time; expected each name once
    "dtype":[],"fill_value":null
      .zarray, /dtype: no fields; expected at least one
    "dtype":[["","<i4"]],"fill_value":null
      .zarray, /dtype/0/0: a field without a name of its own
    "dtype":["a"],"fill_value":null
      .zarray, /dtype/0: a string; expected a field: its name and its type
    "dtype":[["a","x"]],"fill_value":null
      .zarray, /dtype/0/1: "x"; expected a data type such as "<f4"
    "#);
}

#[test]
fn text_and_bytes_of_any_length_come_first_in_their_chain() {
    let cases = [
        r#""dtype":"|O","fill_value":"","shape":[2,2],"chunks":[2,2],"order":"F","filters":[{"id":"vlen-utf8"},{"id":"crc32"}],"compressor":{"id":"blosc"}"#,
        r#""dtype":"|O","fill_value":"","filters":[{"id":"zlib"},{"id":"vlen-utf8"}]"#,
        r#""dtype":"|O","fill_value":"","filters":[{"id":"delta","dtype":"<f4"},{"id":"vlen-utf8"}]"#,
        r#""dtype":"|O","fill_value":"","filters":[{"id":"vlen-utf8"},{"id":"vlen-bytes"}]"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "dtype":"|O","fill_value":"","shape":[2,2],"chunks":[2,2],"order":"F","filters":[{"id":"vlen-utf8"},{"id":"crc32"}],"compressor":{"id":"blosc"}
      [{"name": "transpose","configuration": {"order": [1,0]}},{"name": "vlen-utf8"},{"name": "numcodecs.crc32","configuration": {}},{"name": "blosc","configuration": {"cname": "lz4","clevel": 5,"shuffle": "shuffle","typesize": 1,"blocksize": 0}}]
    "dtype":"|O","fill_value":"","filters":[{"id":"zlib"},{"id":"vlen-utf8"}]
      .zarray, /filters/0: a codec of bytes on text; expected "vlen-utf8" or "vlen-bytes" first
    "dtype":"|O","fill_value":"","filters":[{"id":"delta","dtype":"<f4"},{"id":"vlen-utf8"}]
      .zarray, /filters/0: the filter "delta" on values of text
    "dtype":"|O","fill_value":"","filters":[{"id":"vlen-utf8"},{"id":"vlen-bytes"}]
      .zarray, /filters/1: the filter "vlen-bytes" on values of text; expected it first, on an array with the dtype |O
    "#);
}

#[test]
fn records_have_one_order_of_bytes() {
    let cases = [
        r#""dtype":[["a",">i4"],["b","|u1"],["c",">U1"]],"fill_value":null"#,
        r#""dtype":[["a","|i1"],["b","|b1"]],"fill_value":null"#,
    ];
    insta::assert_snapshot!(table(cases, codecs), @r#"
    "dtype":[["a",">i4"],["b","|u1"],["c",">U1"]],"fill_value":null
      [{"name": "bytes","configuration": {"endian": "big"}}]
        [fill] .zarray, /fill_value: null became { "a": 0, "b": 0, "c": "" }: what was never written had no defined value
    "dtype":[["a","|i1"],["b","|b1"]],"fill_value":null
      [{"name": "bytes"}]
        [fill] .zarray, /fill_value: null became { "a": 0, "b": false }: what was never written had no defined value
    "#);
}

#[test]
fn fills_have_the_spelling_of_the_type() {
    let cases = [
        r#""dtype":"<f4","fill_value":0"#,
        r#""dtype":"<f4","fill_value":0.10"#,
        r#""dtype":"<f4","fill_value":-0.0"#,
        r#""dtype":"<f4","fill_value":1e39"#,
        r#""dtype":"<f4","fill_value":"NaN""#,
        r#""dtype":"<f4","fill_value":-Infinity"#,
        r#""dtype":"<f4","fill_value":"1.5""#,
        r#""dtype":"<f4","fill_value":"0x7fc00000""#,
        r#""dtype":"<f4","fill_value":false"#,
        r#""dtype":"<i2","fill_value":-9999"#,
        r#""dtype":"<i2","fill_value":-0.0"#,
        r#""dtype":"<i2","fill_value":true"#,
        r#""dtype":"<i2","fill_value":32768"#,
        r#""dtype":"<i2","fill_value":0.5"#,
        r#""dtype":"<i2","fill_value":"NaN""#,
        r#""dtype":"<u8","fill_value":18446744073709551615"#,
        r#""dtype":"|u1","fill_value":-1"#,
        r#""dtype":"|b1","fill_value":1"#,
        r#""dtype":"|b1","fill_value":0.0"#,
        r#""dtype":"|b1","fill_value":2"#,
        r#""dtype":"<c8","fill_value":[1,"NaN"]"#,
        r#""dtype":"<c8","fill_value":[NaN,-Infinity]"#,
        r#""dtype":"<c8","fill_value":2.5"#,
        r#""dtype":"<c8","fill_value":[1,1e39]"#,
        r#""dtype":"<c8","fill_value":[1]"#,
        r#""dtype":"<c8","fill_value":["1",2]"#,
        r#""dtype":"<M8[ns]","fill_value":-9223372036854775808"#,
        r#""dtype":"<M8[ns]","fill_value":"NaT""#,
        r#""dtype":"<M8[ns]","fill_value":"2000-01-01""#,
        r#""dtype":"<M8[ns]","fill_value":9223372036854775808"#,
        r#""dtype":"|S3","fill_value":"YWJj""#,
        r#""dtype":"|S3","fill_value":"YWJjZA==""#,
        r#""dtype":"|S3","fill_value":"?""#,
        r#""dtype":"|S3","fill_value":0"#,
        r#""dtype":"<U2","fill_value":"éa""#,
        r#""dtype":"<U2","fill_value":"abc""#,
        r#""dtype":"|V3","fill_value":"AAEC""#,
        r#""dtype":"|V3","fill_value":"AAE=""#,
        r#""dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":0"#,
        r#""dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":"NaN""#,
        r#""dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":false"#,
        r#""dtype":"|O","filters":[{"id":"vlen-bytes"}],"fill_value":"YQ==""#,
        r#""dtype":"|O","filters":[{"id":"vlen-bytes"}],"fill_value":"a""#,
        r#""dtype":[["a",">i2"],["b",">c8"]],"fill_value":"AQI/gAAAf8AAAA==""#,
        r#""dtype":[["a","<f4"],["s","|S3"],["u","<U2"],["t","|b1"]],"fill_value":"AADIQmEAAOkAAAAAAAAAAQ==""#,
        r#""dtype":[["u","<U1"]],"fill_value":"AADYAA==""#,
        r#""dtype":[["a","<i4"]],"fill_value":"AAAA""#,
        r#""dtype":[["a","<i4"]],"fill_value":0"#,
    ];
    insta::assert_snapshot!(table(cases, |case| member("fill_value", case)), @r#"
    "dtype":"<f4","fill_value":0
      0
    "dtype":"<f4","fill_value":0.10
      0.10
    "dtype":"<f4","fill_value":-0.0
      -0.0
    "dtype":"<f4","fill_value":1e39
      .zarray, /fill_value: the fill value 1e39; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<f4","fill_value":"NaN"
      "NaN"
    "dtype":"<f4","fill_value":-Infinity
      "-Infinity"
    "dtype":"<f4","fill_value":"1.5"
      .zarray, /fill_value: the fill value "1.5"; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<f4","fill_value":"0x7fc00000"
      .zarray, /fill_value: the fill value "0x7fc00000"; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<f4","fill_value":false
      .zarray, /fill_value: the fill value false; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<i2","fill_value":-9999
      -9999
    "dtype":"<i2","fill_value":-0.0
      0
    "dtype":"<i2","fill_value":true
      1
    "dtype":"<i2","fill_value":32768
      .zarray, /fill_value: the fill value 32768; expected a value of <i2, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<i2","fill_value":0.5
      .zarray, /fill_value: the fill value 0.5; expected a value of <i2, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<i2","fill_value":"NaN"
      .zarray, /fill_value: the fill value "NaN"; expected a value of <i2, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<u8","fill_value":18446744073709551615
      18446744073709551615
    "dtype":"|u1","fill_value":-1
      .zarray, /fill_value: the fill value -1; expected a value of |u1, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|b1","fill_value":1
      true
    "dtype":"|b1","fill_value":0.0
      false
    "dtype":"|b1","fill_value":2
      .zarray, /fill_value: the fill value 2; expected a value of |b1, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<c8","fill_value":[1,"NaN"]
      [1,"NaN"]
    "dtype":"<c8","fill_value":[NaN,-Infinity]
      ["NaN","-Infinity"]
    "dtype":"<c8","fill_value":2.5
      [2.5,0.0]
    "dtype":"<c8","fill_value":[1,1e39]
      .zarray, /fill_value: the fill value an array; expected a value of <c8, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<c8","fill_value":[1]
      .zarray, /fill_value: the fill value an array; expected a value of <c8, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<c8","fill_value":["1",2]
      .zarray, /fill_value: the fill value an array; expected a value of <c8, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<M8[ns]","fill_value":-9223372036854775808
      -9223372036854775808
    "dtype":"<M8[ns]","fill_value":"NaT"
      -9223372036854775808
    "dtype":"<M8[ns]","fill_value":"2000-01-01"
      .zarray, /fill_value: the fill value "2000-01-01"; expected a value of <M8[ns], or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<M8[ns]","fill_value":9223372036854775808
      .zarray, /fill_value: the fill value 9223372036854775808; expected a value of <M8[ns], or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|S3","fill_value":"YWJj"
      "YWJj"
    "dtype":"|S3","fill_value":"YWJjZA=="
      .zarray, /fill_value: the fill value "YWJjZA=="; expected base64 of up to 3 bytes, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|S3","fill_value":"?"
      .zarray, /fill_value: the fill value "?"; expected base64 of up to 3 bytes, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|S3","fill_value":0
      .zarray, /fill_value: the fill value 0; expected base64 of up to 3 bytes, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"<U2","fill_value":"éa"
      "éa"
    "dtype":"<U2","fill_value":"abc"
      .zarray, /fill_value: the fill value "abc"; expected text of up to 2 characters, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|V3","fill_value":"AAEC"
      "AAEC"
    "dtype":"|V3","fill_value":"AAE="
      .zarray, /fill_value: the fill value "AAE="; expected base64 of 3 bytes, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":0
      "0"
    "dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":"NaN"
      "NaN"
    "dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":false
      .zarray, /fill_value: the fill value false; expected text, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":"|O","filters":[{"id":"vlen-bytes"}],"fill_value":"YQ=="
      "YQ=="
    "dtype":"|O","filters":[{"id":"vlen-bytes"}],"fill_value":"a"
      .zarray, /fill_value: the fill value "a"; expected base64, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":[["a",">i2"],["b",">c8"]],"fill_value":"AQI/gAAAf8AAAA=="
      {"a": 258,"b": [1.0,"NaN"]}
    "dtype":[["a","<f4"],["s","|S3"],["u","<U2"],["t","|b1"]],"fill_value":"AADIQmEAAOkAAAAAAAAAAQ=="
      {"a": 100.0,"s": "YQ==","u": "é","t": true}
    "dtype":[["u","<U1"]],"fill_value":"AADYAA=="
      .zarray, /fill_value: the fill value "AADYAA=="; expected base64 of the 4 bytes of a record, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":[["a","<i4"]],"fill_value":"AAAA"
      .zarray, /fill_value: the fill value "AAAA"; expected base64 of the 4 bytes of a record, or null (set fill_value in .zarray to the value that missing chunks have)
    "dtype":[["a","<i4"]],"fill_value":0
      .zarray, /fill_value: the fill value 0; expected base64 of the 4 bytes of a record, or null (set fill_value in .zarray to the value that missing chunks have)
    "#);
}

#[test]
fn a_fill_of_null_becomes_what_readers_show() {
    let cases = [
        r#""dtype":"<f4","fill_value":null"#,
        r#""dtype":"|b1","fill_value":null"#,
        r#""dtype":"<c8","fill_value":null"#,
        r#""dtype":"<M8[ns]","fill_value":null"#,
        r#""dtype":"|S3","fill_value":null"#,
        r#""dtype":"<U3","fill_value":null"#,
        r#""dtype":"|V3","fill_value":null"#,
        r#""dtype":[["a","<i4"],["t","<M8[s]"],["u","<U1"]],"fill_value":null"#,
        r#""dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":null"#,
    ];
    insta::assert_snapshot!(table(cases, |case| member("fill_value", case)), @r#"
    "dtype":"<f4","fill_value":null
      0
        [fill] .zarray, /fill_value: null became 0: what was never written had no defined value
    "dtype":"|b1","fill_value":null
      false
        [fill] .zarray, /fill_value: null became false: what was never written had no defined value
    "dtype":"<c8","fill_value":null
      [0.0,0.0]
        [fill] .zarray, /fill_value: null became [ 0.0, 0.0 ]: what was never written had no defined value
    "dtype":"<M8[ns]","fill_value":null
      -9223372036854775808
        [fill] .zarray, /fill_value: null became -9223372036854775808: what was never written had no defined value
    "dtype":"|S3","fill_value":null
      ""
        [fill] .zarray, /fill_value: null became "": what was never written had no defined value
    "dtype":"<U3","fill_value":null
      ""
        [fill] .zarray, /fill_value: null became "": what was never written had no defined value
    "dtype":"|V3","fill_value":null
      "AAAA"
        [fill] .zarray, /fill_value: null became "AAAA": what was never written had no defined value
    "dtype":[["a","<i4"],["t","<M8[s]"],["u","<U1"]],"fill_value":null
      {"a": 0,"t": 0,"u": ""}
        [fill] .zarray, /fill_value: null became { "a": 0, "t": 0, "u": "" }: what was never written had no defined value
    "dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":null
      ""
        [fill] .zarray, /fill_value: null became "": what was never written had no defined value
    "#);
    let defined = |fill: &str| {
        let members = format!(r#""fill_value":{fill}"#);
        let converted = convert(&members, None, Separator::Dot);
        converted.unwrap().fill_is_defined
    };
    assert_eq!((defined("null"), defined("0")), (false, true));
}

#[test]
fn chunks_of_no_length_are_for_dimensions_of_none() {
    let cases = [
        r#""shape":[0,3],"chunks":[0,2]"#,
        r#""shape":[2,3],"chunks":[2,0]"#,
        r#""shape":[2,3],"chunks":[2]"#,
    ];
    insta::assert_snapshot!(table(cases, |case| member("chunk_grid", case)), @r#"
    "shape":[0,3],"chunks":[0,2]
      {"name": "regular","configuration": {"chunk_shape": [1,2]}}
        [chunk-length] .zarray, /chunks/0: a chunk length of 0 became 1, the least of Zarr v3; the dimension has no elements
    "shape":[2,3],"chunks":[2,0]
      .zarray, /chunks/1: a chunk length of 0 along a dimension of 3; expected at least 1
    "shape":[2,3],"chunks":[2]
      .zarray, /chunks: a list of length 1; expected a length for each dimension of the array: 2
    "#);
}

#[test]
fn separators_are_always_stated() {
    let keys = |members: &str, separator| {
        let result = convert(members, None, separator);
        let text = result.as_ref().unwrap().text.clone();
        let stated = tree(&text);
        let stated = stated
            .root
            .lookup("/chunk_key_encoding/configuration/separator");
        let stated = stated.and_then(Value::as_str).map(str::to_owned);
        let notes = said(&result);
        (stated.unwrap(), notes.lines().next().map(str::to_owned))
    };
    let null = r#""fill_value":null,"#;
    let none = |members: &str, separator| {
        let (stated, first) = keys(&format!("{null}{members}"), separator);
        assert!(first.unwrap().starts_with("[fill]"));
        stated
    };
    assert_eq!(none(r#""dtype":"<f4""#, Separator::Dot), ".");
    assert_eq!(none(r#""dimension_separator":"/""#, Separator::Slash), "/");
    let (stated, note) = keys(r#""dtype":"<f4""#, Separator::Slash);
    assert_eq!(stated, "/");
    insta::assert_snapshot!(note.unwrap(), @r#"[separator] .zarray, /dimension_separator: an absent separator, which means ".", became "/""#);
    let (stated, note) = keys(r#""dimension_separator":"/""#, Separator::Dot);
    assert_eq!(stated, ".");
    insta::assert_snapshot!(note.unwrap(), @r#"[separator] .zarray, /dimension_separator: "/" became ".""#);
}

/// What becomes of the attributes of an array with these members, whose fill is null unless they say otherwise.
fn attributes_of(case: &str) -> String {
    let (members, attributes) = case.split_once(" | ").unwrap();
    let members = match members.contains("fill_value") {
        true => members.to_owned(),
        false => format!("{members},\"fill_value\":null"),
    };
    let result = convert(&members, Some(attributes), Separator::Dot);
    let Ok(mut converted) = result.clone() else {
        return said(&result);
    };
    converted.notes.retain(|note| note.kind != NoteKind::Fill);
    let document = tree(&converted.text);
    let mut text = String::new();
    compact(document.root.get("attributes").unwrap(), &mut text);
    if let Some(names) = document.root.get("dimension_names") {
        text.push_str("  dimension_names: ");
        compact(names, &mut text);
    }
    let notes = said(&Ok(converted));
    for line in notes.lines() {
        text += &format!("\n  {line}");
    }
    text
}

#[test]
fn names_of_dimensions_move() {
    let cases = [
        r#""shape":[2,2],"chunks":[2,2] | {"units":"K","_ARRAY_DIMENSIONS":["y","x"],"a":1}"#,
        r#""shape":[],"chunks":[] | {"_ARRAY_DIMENSIONS":[]}"#,
        r#""dtype":"<f4" | {}"#,
        r#""dtype":"<f4" | {"_ARRAY_DIMENSIONS":["y","x"]}"#,
        r#""dtype":"<f4" | {"_ARRAY_DIMENSIONS":[null]}"#,
        r#""dtype":"<f4" | {"_ARRAY_DIMENSIONS":"x"}"#,
        r#""_NCZARR_ARRAY":{"dimrefs":["/group/x"],"storage":"chunked"} | {}"#,
        r#""_NCZARR_ARRAY":{"dimrefs":["/x"]} | {"_ARRAY_DIMENSIONS":["y"]}"#,
        r#""_NCZARR_ARRAY":{"dimrefs":["/x","/y"]} | {}"#,
    ];
    insta::assert_snapshot!(table(cases, attributes_of), @r#"
    "shape":[2,2],"chunks":[2,2] | {"units":"K","_ARRAY_DIMENSIONS":["y","x"],"a":1}
      {"units": "K","a": 1}  dimension_names: ["y","x"]
        [dimension-names] .zattrs, /_ARRAY_DIMENSIONS: moved to "dimension_names", where Zarr v3 has them
    "shape":[],"chunks":[] | {"_ARRAY_DIMENSIONS":[]}
      {}  dimension_names: []
        [dimension-names] .zattrs, /_ARRAY_DIMENSIONS: moved to "dimension_names", where Zarr v3 has them
    "dtype":"<f4" | {}
      {}
    "dtype":"<f4" | {"_ARRAY_DIMENSIONS":["y","x"]}
      .zattrs, /_ARRAY_DIMENSIONS: a list of length 2; expected a list of names, as many as the array has dimensions: 1 (correct _ARRAY_DIMENSIONS, or remove it)
    "dtype":"<f4" | {"_ARRAY_DIMENSIONS":[null]}
      .zattrs, /_ARRAY_DIMENSIONS: a list of other things than strings; expected a list of names, as many as the array has dimensions: 1 (correct _ARRAY_DIMENSIONS, or remove it)
    "dtype":"<f4" | {"_ARRAY_DIMENSIONS":"x"}
      .zattrs, /_ARRAY_DIMENSIONS: "x"; expected a list of names, as many as the array has dimensions: 1 (correct _ARRAY_DIMENSIONS, or remove it)
    "_NCZARR_ARRAY":{"dimrefs":["/group/x"],"storage":"chunked"} | {}
      {}  dimension_names: ["x"]
        [dimension-names] .zarray, /_NCZARR_ARRAY/dimrefs: became "dimension_names", where Zarr v3 has them
    "_NCZARR_ARRAY":{"dimrefs":["/x"]} | {"_ARRAY_DIMENSIONS":["y"]}
      {}  dimension_names: ["y"]
        [dropped] .zarray, /_NCZARR_ARRAY: was left out: neither Zarr v2 nor Zarr v3 has such a member
        [dimension-names] .zattrs, /_ARRAY_DIMENSIONS: moved to "dimension_names", where Zarr v3 has them
    "_NCZARR_ARRAY":{"dimrefs":["/x","/y"]} | {}
      {}
        [dropped] .zarray, /_NCZARR_ARRAY: was left out: neither Zarr v2 nor Zarr v3 has such a member
    "#);
}

#[test]
fn the_fill_is_the_mask() {
    let cases = [
        r#""dtype":"<i2","fill_value":-9999 | {"scale_factor":0.01}"#,
        r#""dtype":"<i2","fill_value":-9999.0 | {"a":1,"_FillValue":0,"b":2}"#,
        r#""dtype":"<i2","fill_value":-9999 | {"_FillValue":-9999}"#,
        r#""dtype":"<u8","fill_value":18446744073709551615 | {}"#,
        r#""dtype":"|b1","fill_value":0 | {}"#,
        r#""dtype":"<f4","fill_value":0.1 | {}"#,
        r#""dtype":"<f8","fill_value":0.1 | {"_FillValue":0.1}"#,
        r#""dtype":"<f2","fill_value":"-Infinity" | {"_FillValue":NaN}"#,
        r#""dtype":"<f4","fill_value":"NaN" | {}"#,
        r#""dtype":"<f4","fill_value":"NaN" | {"_FillValue":5}"#,
        r#""dtype":"<f4","fill_value":"NaN" | {"_FillValue":5,"scale_factor":0.1}"#,
        r#""dtype":"<f4","fill_value":"NaN" | {"add_offset":0.1}"#,
        r#""dtype":"<c8","fill_value":[0.1,2] | {}"#,
        r#""dtype":"<c8","fill_value":[1,"NaN"] | {"_FillValue":1}"#,
        r#""dtype":"<i2","fill_value":-1 | {"_Unsigned":"true"}"#,
        r#""dtype":"<i8","fill_value":-1 | {"_Unsigned":"true"}"#,
        r#""dtype":"<i2","fill_value":-1 | {"_Unsigned":"false"}"#,
        r#""dtype":"<M8[ns]","fill_value":5 | {"_FillValue":5}"#,
        r#""dtype":"<M8[ns]","fill_value":5 | {}"#,
        r#""dtype":"|S1","fill_value":"YQ==" | {}"#,
        r#""dtype":"<U1","fill_value":"a" | {"_FillValue":"b"}"#,
        r#""dtype":[["a","<i4"]],"fill_value":"AAAAAA==" | {"_FillValue":"AAAAAA=="}"#,
        r#""dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":"" | {}"#,
        r#""fill_value":0,"filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"<f4","astype":"|u1"}] | {"_FillValue":255}"#,
    ];
    insta::assert_snapshot!(table(cases, attributes_of), @r#"
    "dtype":"<i2","fill_value":-9999 | {"scale_factor":0.01}
      {"scale_factor": 0.01,"_FillValue": -9999}
        [mask] .zattrs, /_FillValue: added with the fill -9999, which xarray takes for missing in Zarr v2
    "dtype":"<i2","fill_value":-9999.0 | {"a":1,"_FillValue":0,"b":2}
      {"a": 1,"_FillValue": -9999,"b": 2}
        [mask] .zattrs, /_FillValue: 0 became the fill -9999, which xarray takes for missing in Zarr v2, whatever stands here
    "dtype":"<i2","fill_value":-9999 | {"_FillValue":-9999}
      {"_FillValue": -9999}
    "dtype":"<u8","fill_value":18446744073709551615 | {}
      {"_FillValue": 18446744073709551615}
        [mask] .zattrs, /_FillValue: added with the fill 18446744073709551615, which xarray takes for missing in Zarr v2
    "dtype":"|b1","fill_value":0 | {}
      {"_FillValue": false}
        [mask] .zattrs, /_FillValue: added with the fill false, which xarray takes for missing in Zarr v2
    "dtype":"<f4","fill_value":0.1 | {}
      {"_FillValue": "AAAAoJmZuT8="}
        [mask] .zattrs, /_FillValue: added with the fill 0.1, which xarray takes for missing in Zarr v2
    "dtype":"<f8","fill_value":0.1 | {"_FillValue":0.1}
      {"_FillValue": "mpmZmZmZuT8="}
        [mask] .zattrs, /_FillValue: 0.1 became the fill 0.1, which xarray takes for missing in Zarr v2, whatever stands here
    "dtype":"<f2","fill_value":"-Infinity" | {"_FillValue":NaN}
      {"_FillValue": "AAAAAAAA8P8="}
        [mask] .zattrs, /_FillValue: NaN became the fill "-Infinity", which xarray takes for missing in Zarr v2, whatever stands here
    "dtype":"<f4","fill_value":"NaN" | {}
      {}
    "dtype":"<f4","fill_value":"NaN" | {"_FillValue":5}
      {}
        [mask] .zattrs, /_FillValue: 5, to which xarray paid no heed in Zarr v2, went: the fill is NaN, which is missing without a mask
    "dtype":"<f4","fill_value":"NaN" | {"_FillValue":5,"scale_factor":0.1}
      {"_FillValue": "AAAAAAAA+H8=","scale_factor": 0.1}
        [mask] .zattrs, /_FillValue: 5 became this: base64 of NaN, which changes no value, but without which xarray would unpack in another type
    "dtype":"<f4","fill_value":"NaN" | {"add_offset":0.1}
      {"add_offset": 0.1,"_FillValue": "AAAAAAAA+H8="}
        [mask] .zattrs, /_FillValue: base64 of NaN, which changes no value, but without which xarray would unpack in another type
    "dtype":"<c8","fill_value":[0.1,2] | {}
      {"_FillValue": ["AAAAoJmZuT8=","AAAAAAAAAEA="]}
        [mask] .zattrs, /_FillValue: added with the fill [0.1, 2], which xarray takes for missing in Zarr v2
    "dtype":"<c8","fill_value":[1,"NaN"] | {"_FillValue":1}
      {}
        [mask] .zattrs, /_FillValue: 1, to which xarray paid no heed in Zarr v2, went: the fill is NaN, which is missing without a mask
    "dtype":"<i2","fill_value":-1 | {"_Unsigned":"true"}
      {"_Unsigned": "true","_FillValue": -1}
        [mask] .zattrs, /_FillValue: added with the fill -1, which xarray takes for missing in Zarr v2; by _Unsigned it stands for 65535 of uint16
    "dtype":"<i8","fill_value":-1 | {"_Unsigned":"true"}
      {"_Unsigned": "true","_FillValue": -1}
        [mask] .zattrs, /_FillValue: added with the fill -1, which xarray takes for missing in Zarr v2; by _Unsigned it stands for 18446744073709551615 of uint64
    "dtype":"<i2","fill_value":-1 | {"_Unsigned":"false"}
      {"_Unsigned": "false","_FillValue": -1}
        [mask] .zattrs, /_FillValue: added with the fill -1, which xarray takes for missing in Zarr v2
    "dtype":"<M8[ns]","fill_value":5 | {"_FillValue":5}
      {}
        [mask] .zattrs, /_FillValue: 5 went: xarray does not open arrays of times with a _FillValue in Zarr v3
    "dtype":"<M8[ns]","fill_value":5 | {}
      {}
    "dtype":"|S1","fill_value":"YQ==" | {}
      {}
        [mask-lost] .zattrs, /_FillValue: xarray does not open arrays of bytes with a _FillValue in Zarr v3, so that "YQ==" is not shown as missing any more
    "dtype":"<U1","fill_value":"a" | {"_FillValue":"b"}
      {}
        [mask-lost] .zattrs, /_FillValue: "b" went: xarray does not open arrays of text with a _FillValue in Zarr v3, so that "a" is not shown as missing any more
    "dtype":[["a","<i4"]],"fill_value":"AAAAAA==" | {"_FillValue":"AAAAAA=="}
      {}
        [mask] .zattrs, /_FillValue: "AAAAAA==" went: xarray does not open arrays of records with a _FillValue in Zarr v3
    "dtype":"|O","filters":[{"id":"vlen-utf8"}],"fill_value":"" | {}
      {}
        [mask-lost] .zattrs, /_FillValue: xarray does not open arrays of text with a _FillValue in Zarr v3, so that "" is not shown as missing any more
    "fill_value":0,"filters":[{"id":"fixedscaleoffset","scale":2,"offset":0,"dtype":"<f4","astype":"|u1"}] | {"_FillValue":255}
      {"_FillValue": "AAAAAAAAAAA="}
        [mask] .zattrs, /_FillValue: 255 became the fill 0, which xarray takes for missing in Zarr v2, whatever stands here
    "#);
}

#[test]
fn with_a_fill_of_null_the_attribute_stays_the_mask() {
    let cases = [
        r#""dtype":"<i2" | {"_FillValue":-9999}"#,
        r#""dtype":"<i2" | {"_FillValue":-9999.0}"#,
        r#""dtype":"<i2" | {"_FillValue":1.5}"#,
        r#""dtype":"<i2" | {"_FillValue":[1]}"#,
        r#""dtype":"<i2" | {"_FillValue":[1,2]}"#,
        r#""dtype":"<i2" | {"_FillValue":NaN}"#,
        r#""dtype":"<i2" | {"_FillValue":"x"}"#,
        r#""dtype":"|b1" | {"_FillValue":false}"#,
        r#""dtype":"|b1" | {"_FillValue":255}"#,
        r#""dtype":"<f4" | {"_FillValue":0.1}"#,
        r#""dtype":"<f4" | {"_FillValue":-Infinity}"#,
        r#""dtype":"<f4" | {"_FillValue":1e400}"#,
        r#""dtype":"<f4" | {"_FillValue":NaN}"#,
        r#""dtype":"<f4" | {"_FillValue":"NaN"}"#,
        r#""dtype":"<f4" | {"_FillValue":NaN,"scale_factor":2.0}"#,
        r#""dtype":"<f4" | {"_FillValue":[NaN,1]}"#,
        r#""dtype":"<f4" | {}"#,
        r#""dtype":"<c8" | {"_FillValue":[1,2]}"#,
        r#""dtype":"<c8" | {"_FillValue":1}"#,
        r#""dtype":"<c8" | {"_FillValue":[1,NaN]}"#,
        r#""dtype":"<c8" | {"_FillValue":[1]}"#,
        r#""dtype":"<m8[s]" | {"_FillValue":5}"#,
        r#""dtype":"|S1" | {"_FillValue":"YQ=="}"#,
    ];
    insta::assert_snapshot!(table(cases, attributes_of), @r#"
    "dtype":"<i2" | {"_FillValue":-9999}
      {"_FillValue": -9999}
    "dtype":"<i2" | {"_FillValue":-9999.0}
      {"_FillValue": -9999.0}
    "dtype":"<i2" | {"_FillValue":1.5}
      {}
        [mask] .zattrs, /_FillValue: 1.5 went: no value of the type equals it, and xarray would take it for an integer in Zarr v3
    "dtype":"<i2" | {"_FillValue":[1]}
      {"_FillValue": 1}
        [mask] .zattrs, /_FillValue: a list of 1 became 1, as xarray has it in Zarr v3
    "dtype":"<i2" | {"_FillValue":[1,2]}
      .zattrs, /_FillValue: a list of 2 values; xarray takes one in Zarr v3; expected one value (correct _FillValue in .zattrs, or remove it)
    "dtype":"<i2" | {"_FillValue":NaN}
      {}
        [mask] .zattrs, /_FillValue: NaN went: it is missing without a mask
    "dtype":"<i2" | {"_FillValue":"x"}
      {}
        [mask] .zattrs, /_FillValue: "x" went: it is no value of the type, and keeps xarray from opening the array in Zarr v3
    "dtype":"|b1" | {"_FillValue":false}
      {"_FillValue": false}
    "dtype":"|b1" | {"_FillValue":255}
      {}
        [mask] .zattrs, /_FillValue: 255 went: it is no value of the type, and keeps xarray from opening the array in Zarr v3
    "dtype":"<f4" | {"_FillValue":0.1}
      {"_FillValue": "mpmZmZmZuT8="}
        [mask] .zattrs, /_FillValue: 0.1 became base64 of the double, as xarray has it in Zarr v3
    "dtype":"<f4" | {"_FillValue":-Infinity}
      {"_FillValue": "AAAAAAAA8P8="}
        [mask] .zattrs, /_FillValue: -Infinity became base64 of the double, as xarray has it in Zarr v3
    "dtype":"<f4" | {"_FillValue":1e400}
      {"_FillValue": "AAAAAAAA8H8="}
        [mask] .zattrs, /_FillValue: 1e400 became base64 of the double, as xarray has it in Zarr v3
    "dtype":"<f4" | {"_FillValue":NaN}
      {}
        [mask] .zattrs, /_FillValue: NaN went: it is missing without a mask
    "dtype":"<f4" | {"_FillValue":"NaN"}
      {}
        [mask] .zattrs, /_FillValue: "NaN" went: it is no value of the type, and keeps xarray from opening the array in Zarr v3
    "dtype":"<f4" | {"_FillValue":NaN,"scale_factor":2.0}
      {"_FillValue": "AAAAAAAA+H8=","scale_factor": 2.0}
        [mask] .zattrs, /_FillValue: NaN became this: base64 of NaN, which changes no value, but without which xarray would unpack in another type
    "dtype":"<f4" | {"_FillValue":[NaN,1]}
      .zattrs, /_FillValue: a list of 2 values; xarray takes one in Zarr v3; expected one value (correct _FillValue in .zattrs, or remove it)
    "dtype":"<f4" | {}
      {}
    "dtype":"<c8" | {"_FillValue":[1,2]}
      {"_FillValue": ["AAAAAAAA8D8=","AAAAAAAAAEA="]}
        [mask] .zattrs, /_FillValue: the list became base64 of two doubles, as xarray has it in Zarr v3
    "dtype":"<c8" | {"_FillValue":1}
      {"_FillValue": ["AAAAAAAA8D8=","AAAAAAAAAAA="]}
        [mask] .zattrs, /_FillValue: 1 became base64 of two doubles, as xarray has it in Zarr v3
    "dtype":"<c8" | {"_FillValue":[1,NaN]}
      {}
        [mask] .zattrs, /_FillValue: a NaN went: it is missing without a mask
    "dtype":"<c8" | {"_FillValue":[1]}
      .zattrs, /_FillValue: a list of length 1; expected the two numbers of a complex one (correct _FillValue in .zattrs, or remove it)
    "dtype":"<m8[s]" | {"_FillValue":5}
      {}
        [mask] .zattrs, /_FillValue: 5 went: xarray does not open arrays of times with a _FillValue in Zarr v3
    "dtype":"|S1" | {"_FillValue":"YQ=="}
      {}
        [mask-lost] .zattrs, /_FillValue: "YQ==" went: xarray does not open arrays of bytes with a _FillValue in Zarr v3, so that it is not shown as missing any more
    "#);
}

#[test]
fn bare_numbers_that_json_does_not_have_never_get_through() {
    let cases = [
        r#""dtype":"<f4" | {"note":"NaN","r":[NaN,{"a/b":[-Infinity]}]}"#,
        r#""dtype":"<f4" | {"missing_value":NaN}"#,
        r#""dtype":"<f4" | {"missing_value":NaN,"add_offset":1.0}"#,
        r#""dtype":"<f4" | {"missing_value":[NaN,1.0,Infinity]}"#,
        r#""dtype":"<f4" | {"missing_value":-Infinity}"#,
        r#""dtype":"<f4" | {"missing_value":[NaN]}"#,
        r#""dtype":"<f4" | {"missing_value":[]}"#,
        r#""dtype":"<f4" | {"missing_value":"NaN"}"#,
        r#""dtype":"<i2" | {"missing_value":NaN,"scale_factor":0.5}"#,
        r#""dtype":"<U1" | {"missing_value":NaN}"#,
    ];
    insta::assert_snapshot!(table(cases, attributes_of), @r#"
    "dtype":"<f4" | {"note":"NaN","r":[NaN,{"a/b":[-Infinity]}]}
      {"note": "NaN","r": ["NaN",{"a/b": ["-Infinity"]}]}
        [non-finite] .zattrs, /r/0: NaN became the text "NaN": JSON has no such number
        [non-finite] .zattrs, /r/1/a~1b/0: -Infinity became the text "-Infinity": JSON has no such number
    "dtype":"<f4" | {"missing_value":NaN}
      {}
        [non-finite] .zattrs, /missing_value: NaN went, since JSON has no such number: it is missing without a mask
    "dtype":"<f4" | {"missing_value":NaN,"add_offset":1.0}
      {"add_offset": 1.0,"_FillValue": "AAAAAAAA+H8="}
        [mask] .zattrs, /_FillValue: base64 of NaN, which changes no value, but without which xarray would unpack in another type
        [non-finite] .zattrs, /missing_value: NaN went, since JSON has no such number: it is missing without a mask
    "dtype":"<f4" | {"missing_value":[NaN,1.0,Infinity]}
      {"missing_value": [1.0]}
        [non-finite] .zattrs, /missing_value/0: NaN went, since JSON has no such number: it is missing without a mask
        [mask-lost] .zattrs, /missing_value/2: Infinity went, since JSON has no such number: it is not shown as missing any more
    "dtype":"<f4" | {"missing_value":-Infinity}
      {}
        [mask-lost] .zattrs, /missing_value: -Infinity went, since JSON has no such number: it is not shown as missing any more
    "dtype":"<f4" | {"missing_value":[NaN]}
      {}
        [non-finite] .zattrs, /missing_value/0: NaN went, since JSON has no such number: it is missing without a mask
    "dtype":"<f4" | {"missing_value":[]}
      {"missing_value": []}
    "dtype":"<f4" | {"missing_value":"NaN"}
      {"missing_value": "NaN"}
    "dtype":"<i2" | {"missing_value":NaN,"scale_factor":0.5}
      {"scale_factor": 0.5}
        [non-finite] .zattrs, /missing_value: NaN went, since JSON has no such number: it is missing without a mask
    "dtype":"<U1" | {"missing_value":NaN}
      {"missing_value": "NaN"}
        [non-finite] .zattrs, /missing_value: NaN became the text "NaN": JSON has no such number
    "#);
}

#[test]
fn other_attributes_stay_as_they_are() {
    let attributes = r#"{"z":1.50,"a":[1E+2,-0,12345678901234567890123,null,true],"\u00e9\n":{"\"":"\u0001"},"":{}}"#;
    let converted = convert(r#""fill_value":null"#, Some(attributes), Separator::Dot).unwrap();
    let document = tree(&converted.text);
    let kept = Draft::from(document.root.get("attributes").unwrap());
    assert_eq!(kept, Draft::from(&tree(attributes).root));
    assert!(converted.text.contains("1.50") && converted.text.contains("1E+2"));
    assert_eq!(
        converted
            .notes
            .iter()
            .map(|note| note.kind)
            .collect::<Vec<_>>(),
        [NoteKind::Fill]
    );
}

#[test]
fn attributes_on_which_readers_differ_are_refused() {
    let cases = [
        r#""dtype":"<f4" | {"a":1,"b":[{"c":1,"c":2}],"a":2}"#,
        r#""dtype":"<f4" | [1]"#,
    ];
    insta::assert_snapshot!(table(cases, attributes_of), @r#"
    "dtype":"<f4" | {"a":1,"b":[{"c":1,"c":2}],"a":2}
      .zattrs, /b/0/c: the member a second time, so that readers differ about it; expected each member once (remove one of the two from .zattrs)
      .zattrs, /a: the member a second time, so that readers differ about it; expected each member once (remove one of the two from .zattrs)
    "dtype":"<f4" | [1]
      .zattrs: an array; expected an object (correct .zattrs)
    "#);
}

#[test]
fn members_that_nobody_reads_are_named() {
    insta::assert_snapshot!(codecs(r#""fill_value":null,"note":1"#), @r#"
    [{"name": "bytes","configuration": {"endian": "little"}}]
      [fill] .zarray, /fill_value: null became 0: what was never written had no defined value
      [dropped] .zarray, /note: was left out: neither Zarr v2 nor Zarr v3 has such a member
    "#);
}

#[test]
fn all_refusals_come_at_once() {
    let members =
        r#""shape":[2,2],"chunks":[0,2],"fill_value":"x","filters":[{"id":"delta","dtype":"<f8"}]"#;
    let attributes = r#"{"_ARRAY_DIMENSIONS":["x"],"a":1,"a":2}"#;
    let result = convert(members, Some(attributes), Separator::Dot);
    insta::assert_snapshot!(said(&result), @r#"
    .zarray, /filters/0/dtype: the type <f8; expected <f4, which reaches the filter (readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray)
    .zarray, /fill_value: the fill value "x"; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    .zattrs, /_ARRAY_DIMENSIONS: a list of length 1; expected a list of names, as many as the array has dimensions: 2 (correct _ARRAY_DIMENSIONS, or remove it)
    .zattrs, /a: the member a second time, so that readers differ about it; expected each member once (remove one of the two from .zattrs)
    "#);
    let members = r#""shape":[2,2],"chunks":[0,2],"fill_value":1e39,"filters":[{"id":"acme"}],"compressor":{"id":"blosc","clevel":10}"#;
    let result = convert(members, Some(attributes), Separator::Dot);
    insta::assert_snapshot!(said(&result), @r#"
    .zarray, /compressor/clevel: the number 10; expected a level from 0 to 9
    .zarray, /fill_value: the fill value 1e39; expected a value of <f4, or null (set fill_value in .zarray to the value that missing chunks have)
    .zarray, /chunks/0: a chunk length of 0 along a dimension of 2; expected at least 1
    .zarray, /filters/0: the codec "acme": it is not known (write the array anew without this codec, with the program that wrote it)
    .zattrs, /_ARRAY_DIMENSIONS: a list of length 1; expected a list of names, as many as the array has dimensions: 2 (correct _ARRAY_DIMENSIONS, or remove it)
    .zattrs, /a: the member a second time, so that readers differ about it; expected each member once (remove one of the two from .zattrs)
    "#);
}

#[test]
fn groups_keep_their_attributes() {
    let attributes = tree(r#"{"b":[NaN,1.0],"_FillValue":NaN,"a":{}}"#);
    let converted = group(Some(&attributes.root)).unwrap();
    insta::assert_snapshot!(converted.text, @r#"
    {
      "zarr_format": 3,
      "node_type": "group",
      "attributes": {
        "b": [
          "NaN",
          1.0
        ],
        "_FillValue": "NaN",
        "a": {}
      }
    }
    "#);
    let notes: Vec<_> = converted.notes.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    .zattrs, /b/0: NaN became the text "NaN": JSON has no such number
    .zattrs, /_FillValue: NaN became the text "NaN": JSON has no such number
    "#);
    assert_eq!(
        group(None).unwrap().text,
        "{\n  \"zarr_format\": 3,\n  \"node_type\": \"group\",\n  \"attributes\": {}\n}\n"
    );
    let twice = tree(r#"{"a":1,"a":1}"#);
    assert_eq!(
        group(Some(&twice.root)).unwrap_err()[0].to_string(),
        ".zattrs, /a: the member a second time, so that readers differ about it; expected each member once"
    );
}
