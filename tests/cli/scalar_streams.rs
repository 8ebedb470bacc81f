//! `zarrpack encode - -` and `zarrpack decode - -`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::harness::{Outcome, Sandbox};

/// The codecs of the specification's third example.
const EXAMPLE_3: &str = include_str!("../../testdata/example3.json");

fn stream(command: &str, dtype: &str, codecs: &str, flags: &str, input: &str) -> Outcome {
    let arguments = [command, "-", "-", "--dtype", dtype, "--codecs", codecs];
    let all = arguments.into_iter().chain(flags.split_whitespace());
    Sandbox::new().run_with(all, input)
}

fn encode(dtype: &str, codecs: &str, flags: &str, input: &str) -> Outcome {
    stream("encode", dtype, codecs, flags, input)
}

fn decode(dtype: &str, codecs: &str, flags: &str, input: &str) -> Outcome {
    stream("decode", dtype, codecs, flags, input)
}

#[test]
fn the_third_example_of_the_specification() {
    insta::assert_snapshot!(encode("float64", EXAMPLE_3, "", "10\n20.4\n\"NaN\"\n"), @"
    exit: 0
    --- stdout
    2
    3
    0
    ");
    insta::assert_snapshot!(decode("float64", EXAMPLE_3, "", "2\n3\n0\n"), @r#"
    exit: 0
    --- stdout
    10.0
    20.0
    "NaN"
    "#);
}

#[test]
fn every_type_goes_through_a_chain_that_fits_it() {
    let integers = [
        "int2", "int4", "int8", "int16", "int32", "int64", "uint2", "uint4", "uint8", "uint16",
        "uint32", "uint64",
    ];
    let floats = [
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
        "bfloat16",
        "float16",
        "float32",
        "float64",
    ];
    for dtype in integers {
        let codecs = r#"[{"name": "scale_offset", "configuration": {"offset": 1}}, {"name": "cast_value", "configuration": {"data_type": "uint2"}}]"#;
        let outcome = encode(dtype, codecs, "", "1\n");
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str()),
            (Some(0), "0\n"),
            "{dtype} {outcome}"
        );
        let outcome = decode(dtype, codecs, "", "0\n");
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str()),
            (Some(0), "1\n"),
            "{dtype} {outcome}"
        );
    }
    for dtype in floats {
        let codecs = r#"[{"name": "scale_offset", "configuration": {"scale": 2}}, {"name": "cast_value", "configuration": {"data_type": "int8"}}]"#;
        let outcome = encode(dtype, codecs, "", "0.5\n1.0\n2\n");
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str()),
            (Some(0), "1\n2\n4\n"),
            "{dtype} {outcome}"
        );
        let outcome = decode(dtype, codecs, "", "1\n2\n4\n");
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str()),
            (Some(0), "0.5\n1.0\n2.0\n"),
            "{dtype} {outcome}"
        );
    }
}

#[test]
fn bits_are_printed_in_whole_bytes() {
    let cast = |to: &str| {
        format!(r#"[{{"name": "cast_value", "configuration": {{"data_type": "{to}"}}}}]"#)
    };
    let bits =
        |dtype: &str, to: &str, input: &str| encode(dtype, &cast(to), "--bits", input).stdout;
    assert_eq!(
        bits("float64", "float32", "1.5\n\"NaN\"\n-0.0\n"),
        "\"0x3fc00000\"\n\"0x7fc00000\"\n\"0x80000000\"\n"
    );
    assert_eq!(
        bits("float32", "float4_e2m1fn", "\"0xc0c00000\"\n"),
        "\"0x0f\"\n"
    );
    assert_eq!(bits("float32", "bfloat16", "1\n"), "\"0x3f80\"\n");
    assert_eq!(bits("float32", "int16", "-1\n"), "-1\n");
}

#[test]
fn the_first_failure_ends_the_stream_after_what_came_before_it() {
    insta::assert_snapshot!(encode("float64", EXAMPLE_3, "", "10\n99999\n20\n"), @"
    exit: 1
    --- stdout
    2

    --- stderr
    error: line 2: 99999.0 cannot be encoded: codec 1 (cast_value): 10000.900000000001 is out of the range of uint8 (0 to 255); values from -15.0 to 2544.9999999999995 fit
    hint: --keep-going goes on after a scalar that fails
    ");
}

#[test]
fn keep_going_answers_every_line() {
    let input = "10\n99999\n\nNaN\n\"NaN\"\n\"Infinity\"\ntrue\n\"10\"\n1e999\n20";
    insta::assert_snapshot!(encode("float64", EXAMPLE_3, "--keep-going", input), @r#"
    exit: 1
    --- stdout
    2
    {"error":"99999.0 cannot be encoded: codec 1 (cast_value): 10000.900000000001 is out of the range of uint8 (0 to 255); values from -15.0 to 2544.9999999999995 fit"}
    {"error":"an empty line; expected a number, \"NaN\", \"Infinity\", \"-Infinity\" or a string of \"0x\" and 16 hex digits"}
    {"error":"a bare NaN is no JSON; expected \"NaN\""}
    0
    {"error":"Infinity cannot be encoded: codec 1 (cast_value): Infinity has no value in uint8 unless scalar_map gives it one; values from -15.0 to 2544.9999999999995 fit"}
    {"error":"true is no scalar; expected a number, \"NaN\", \"Infinity\", \"-Infinity\" or a string of \"0x\" and 16 hex digits"}
    {"error":"the string \"10\" is no float64 scalar; expected a number, \"NaN\", \"Infinity\", \"-Infinity\" or a string of \"0x\" and 16 hex digits"}
    {"error":"1e999 is out of the range of float64 (-1.7976931348623157e308 to 1.7976931348623157e308); expected a number, \"NaN\", \"Infinity\", \"-Infinity\" or a string of \"0x\" and 16 hex digits"}
    3

    --- stderr
    warning: 7 of 10 scalars failed: 1 infinite, 1 out-of-range, 5 unreadable
    "#);
}

#[test]
fn integers_say_what_went_wrong() {
    let thirds = r#"[{"name": "scale_offset", "configuration": {"scale": 3, "offset": 1000}}]"#;
    insta::assert_snapshot!(decode("int16", thirds, "--keep-going", "6\n7\n32766\n32767\n32768\n1.5\n"), @r#"
    exit: 1
    --- stdout
    1002
    {"error":"7 cannot be decoded: codec 0 (scale_offset): 7 / 3 leaves a remainder, so it is not a value of int16"}
    11922
    {"error":"32767 cannot be decoded: codec 0 (scale_offset): 32767 / 3 leaves a remainder, so it is not a value of int16"}
    {"error":"32768 is out of the range of int16 (-32768 to 32767); expected an integer from -32768 to 32767"}
    {"error":"1.5 is not written as an integer, as int16 needs; expected an integer from -32768 to 32767"}

    --- stderr
    warning: 4 of 6 scalars failed: 2 remainder, 2 unreadable
    "#);
    insta::assert_snapshot!(encode("uint16", r#"[{"name": "scale_offset", "configuration": {"offset": 1000}}, {"name": "cast_value", "configuration": {"data_type": "uint8"}}]"#, "--keep-going", "1000\n0\n1256\n"), @r#"
    exit: 1
    --- stdout
    0
    {"error":"0 cannot be encoded: codec 0 (scale_offset): 0 - 1000 is not a value of uint16 (0 to 65535); values from 1000 to 1255 fit"}
    {"error":"1256 cannot be encoded: codec 1 (cast_value): 256 is out of the range of uint8 (0 to 255); values from 1000 to 1255 fit"}

    --- stderr
    warning: 2 of 3 scalars failed: 1 out-of-range, 1 overflow
    "#);
}

#[test]
fn an_invalid_chain_names_every_problem_before_any_output() {
    let codecs = r#"[
        {"name": "scale_offset", "configuration": {"scale": 0, "offset": "NaN", "extra": 1}},
        {"name": "cast_value", "configuration": {"data_type": "float32", "out_of_range": "wrap", "rounding": "up"}},
        {"name": "scale_offset", "configuration": {"scale": 1e-60, "offset": true}},
        {"name": "cast_value", "configuration": {"data_type": "uint8",
            "scalar_map": {"encode": [["NaN", 256], [1, 2, 3]], "decode": [[0.5, "nan"]]}}}
    ]"#;
    insta::assert_snapshot!(encode("float64", codecs, "", "1\n"), @r#"
    exit: 2
    --- stderr
    error: the chain in --codecs is invalid
      - codec 0 (scale_offset), /configuration/extra: an unknown member "extra"; expected no member but "offset", "scale" [scale-offset/unknown-member]
      - codec 0 (scale_offset), /configuration/offset: an offset of "NaN"; expected a finite number [scale-offset/not-finite]
      - codec 0 (scale_offset), /configuration/scale: a scale of 0; expected a number other than zero [scale-offset/zero-scale]
      - codec 1 (cast_value), /configuration/rounding: "up"; expected "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away", or no such member [cast-value/rounding]
      - codec 1 (cast_value), /configuration/out_of_range: "wrap" with the data type float32; expected an integer data type, or "clamp", or no out_of_range [cast-value/wrap-needs-integer]
      - codec 2 (scale_offset), /configuration/offset: true is no scalar; expected a number, "NaN", "Infinity", "-Infinity" or a string of "0x" and 8 hex digits [scale-offset/scalar]
      - codec 2 (scale_offset), /configuration/scale: a scale of 1e-60, which is 0 as a float32; expected a number other than zero [scale-offset/zero-scale]
      - codec 3 (cast_value), /configuration/scalar_map/encode/1: a list of 3; expected an [input, output] pair [cast-value/scalar-map]
      - codec 3 (cast_value), /configuration/scalar_map/encode/0/1: 256 is out of the range of uint8 (0 to 255); expected an integer from 0 to 255 [cast-value/map-scalar]
      - codec 3 (cast_value), /configuration/scalar_map/decode/0/0: 0.5 is not written as an integer, as uint8 needs; expected an integer from 0 to 255 [cast-value/map-scalar]
      - codec 3 (cast_value), /configuration/scalar_map/decode/0/1: the string "nan" is no float32 scalar; expected a number, "NaN", "Infinity", "-Infinity" or a string of "0x" and 8 hex digits [cast-value/map-scalar]
    "#);
}

#[test]
fn the_chain_must_be_a_list_of_codecs() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run_with(["encode", "-", "-", "--dtype", "int8", "--codecs", "{\"name\": \"scale_offset\"}"], ""), @"
    exit: 2
    --- stderr
    error: --codecs is an object; expected a list of codecs
    ");
    insta::assert_snapshot!(sandbox.run_with(["encode", "-", "-", "--dtype", "int8", "--codecs", "[{\"name\": \"scale_offset\",}]"], ""), @"
    exit: 2
    --- stderr
    error: --codecs is not JSON
      caused by: an object must not end with a comma at line 1 column 26
    ");
    insta::assert_snapshot!(sandbox.run_with(["encode", "-", "-", "--dtype", "int8", "--codecs", "[{\"name\": \"bytes\"}, \"transpose\", \"zzz\", 1]"], ""), @r#"
    exit: 2
    --- stderr
    error: the chain in --codecs is invalid
      - codec 0 (bytes), /name: the codec "bytes", which makes bytes of an array; expected "scale_offset", "cast_value", or for decoding "numcodecs.fixedscaleoffset" [core/unknown-codec]
      - codec 1 (transpose), /name: the codec "transpose", which needs the shape of a chunk; expected "scale_offset", "cast_value", or for decoding "numcodecs.fixedscaleoffset" [core/unknown-codec]
      - codec 2 (zzz), /name: the codec "zzz"; expected "scale_offset", "cast_value", or for decoding "numcodecs.fixedscaleoffset" [core/unknown-codec]
      - codec 3: a number; expected the name of a codec, or an object with its "name" [core/codec-form]
    "#);
    let deep = "[".repeat(100_000);
    let outcome = sandbox.run_with(
        ["encode", "-", "-", "--dtype", "int8", "--codecs", &deep],
        "",
    );
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn an_unknown_type_is_refused_with_the_right_spelling() {
    insta::assert_snapshot!(encode("<f4", "[]", "", ""), @r#"
    exit: 2
    --- stderr
    error: invalid data type "<f4": Zarr v3 spells it float32

    Usage: zarrpack encode [OPTIONS] <INPUT> <OUTPUT>

    For more information, try '--help'.
    "#);
    insta::assert_snapshot!(encode("float", "[]", "", ""), @"
    exit: 2
    --- stderr
    error: invalid value 'float' for '--dtype <TYPE>'
      [possible values: int2, int4, int8, int16, int32, int64, uint2, uint4, uint8, uint16, uint32, uint64, float4_e2m1fn, float6_e2m3fn, float6_e3m2fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, bfloat16, float16, float32, float64]

      tip: a similar value exists: 'float64'

    For more information, try '--help'.
    ");
}

#[test]
fn an_unsound_chain_runs_with_a_warning() {
    let codecs = r#"[{"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 0], ["NaN", 1]]}}}]"#;
    insta::assert_snapshot!(encode("float32", codecs, "", "\"NaN\"\n"), @r#"
    exit: 0
    --- stdout
    0

    --- stderr
    warning: codec 0 (cast_value), /configuration/scalar_map/encode/1/0: the input "NaN", which as a float32 is the same as "NaN" before it; expected each input once; readers differ in which of equal ones they use [cast-value/duplicate-key]
    "#);
}

#[test]
fn the_legacy_codec_is_decoded_and_not_encoded() {
    let codecs = r#"[{"name": "numcodecs.fixedscaleoffset", "configuration": {"scale": 100, "offset": 273.15, "dtype": "<f4", "astype": "<i2"}}]"#;
    insta::assert_snapshot!(decode("float32", codecs, "", "-30000\n0\n"), @"
    exit: 0
    --- stdout
    -26.85
    273.15
    ");
    insta::assert_snapshot!(encode("float32", codecs, "", "1\n"), @"
    exit: 2
    --- stderr
    error: the chain in --codecs is invalid
      - codec 0 (numcodecs.fixedscaleoffset): the legacy codec, which is read and not written; expected scale_offset and cast_value, which supersede it, to encode [legacy/read-only]
    ");
    // The same bytes through the codecs that supersede it: the arithmetic is float32, and rounds elsewhere.
    let pair = r#"[{"name": "scale_offset", "configuration": {"scale": 100, "offset": 273.15}}, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "wrap"}}]"#;
    assert_eq!(
        decode("float32", pair, "", "-30000\n").stdout,
        "-26.850006\n"
    );
    let filter = r#"[{"id": "fixedscaleoffset", "scale": 0, "offset": 0.5, "dtype": "<f8", "astype": "u1"}]"#;
    insta::assert_snapshot!(decode("float32", filter, "", "1\n"), @"
    exit: 2
    --- stderr
    error: the chain in --codecs is invalid
      - codec 0 (fixedscaleoffset), /dtype: the type float64; expected float32, the type at this place of the chain [legacy/dtype-mismatch]
      - codec 0 (fixedscaleoffset), /scale: a scale of 0; expected a number other than zero [legacy/zero-scale]
    ");
}

#[test]
fn a_chain_of_nothing_prints_what_it_reads() {
    let outcome = encode(
        "float32",
        "[]",
        "",
        "0.1\n1e-45\n\"NaN\"\n\"0x7fc00001\"\n-0.0\n\"-Infinity\"\n16777217\n",
    );
    assert_eq!(
        outcome.stdout,
        "0.1\n1e-45\n\"NaN\"\n\"0x7fc00001\"\n-0.0\n\"-Infinity\"\n16777216.0\n"
    );
    assert_eq!(
        encode("uint64", "[]", "", "18446744073709551615\n").stdout,
        "18446744073709551615\n"
    );
    assert_eq!(encode("int8", "[]", "", "").exit, Some(0));
}

#[test]
fn lines_end_in_any_way_and_hold_one_scalar() {
    let outcome = encode("int8", "[]", "", " 1 \r\n\t2\r\n3");
    assert_eq!(
        (outcome.exit, outcome.stdout.as_str()),
        (Some(0), "1\n2\n3\n"),
        "{outcome}"
    );
    for bad in [
        "1 2\n", "1,\n", "[1]\n", "\"1\n", "+1\n", "0x1\n", "01\n", "1e0\n", "null\n", "\u{0}\n",
        "é\n",
    ] {
        let outcome = encode("int8", "[]", "", bad);
        assert_eq!(
            (outcome.exit, outcome.stdout.as_str()),
            (Some(1), ""),
            "{bad:?} {outcome}"
        );
        assert!(outcome.stderr.starts_with("error: line 1: "), "{outcome}");
    }
}

#[test]
fn hostile_lines_get_an_answer() {
    let sandbox = Sandbox::new();
    let arguments = [
        "encode",
        "-",
        "-",
        "--dtype",
        "float64",
        "--codecs",
        "[]",
        "--keep-going",
    ];
    let mut input = vec![b'1'; 10 << 20];
    input.extend(b"\n2\n\xff\xfe\n3\n");
    let outcome = sandbox.run_with(arguments, input);
    insta::assert_snapshot!(outcome, @r#"
    exit: 1
    --- stdout
    {"error":"a line longer than 65536 bytes; expected one JSON scalar"}
    2.0
    {"error":"not valid UTF-8"}
    3.0

    --- stderr
    warning: 2 of 4 scalars failed: 2 unreadable
    "#);
    let outcome = sandbox.run_with(arguments, vec![0; 1 << 20]);
    assert_eq!(outcome.exit, Some(1));
}

#[test]
fn many_lines_come_back_in_order() {
    let input: String = (0..50_000).map(|n| format!("{n}\n")).collect();
    let codecs = r#"[{"name": "scale_offset", "configuration": {"offset": -5}}]"#;
    let outcome = encode("int32", codecs, "", &input);
    let want: String = (5..50_005).map(|n| format!("{n}\n")).collect();
    assert_eq!(outcome.exit, Some(0));
    assert!(
        outcome.stdout == want,
        "the lines are not the ones expected"
    );
}

fn records(name: &str) -> impl Iterator<Item = Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/vectors")
        .join(name);
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

/// Whether a printed line is what a vector accepts.
fn accepts(expected: &Value, line: &Value) -> bool {
    if let Some(any) = expected.get("any") {
        return any.as_array().unwrap().iter().any(|one| accepts(one, line));
    }
    if expected.get("error").is_some() || expected.get("note").is_some() {
        return line.get("error").is_some();
    }
    let expected = expected.get("value").unwrap_or(expected);
    if expected == "NaN" {
        // As bits, any NaN; every exponent bit of it is set, or it is the negative zero of a type without one.
        return line.is_string();
    }
    line == expected
}

fn check(record: &Value, command: &str, dtype: &Value, codecs: &Value) {
    let lines = |list: &Value| -> String {
        list.as_array()
            .unwrap()
            .iter()
            .map(|scalar| format!("{scalar}\n"))
            .collect()
    };
    let flags = "--bits --keep-going -qq";
    let outcome = stream(
        command,
        dtype.as_str().unwrap(),
        &codecs.to_string(),
        flags,
        &lines(&record["input"]),
    );
    let printed: Vec<Value> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let expected = record["output"].as_array().unwrap();
    assert_eq!(printed.len(), expected.len(), "{record} {outcome}");
    for (line, expected) in printed.iter().zip(expected) {
        assert!(
            accepts(expected, line),
            "{line} is not {expected}: {record}"
        );
    }
}

#[test]
fn a_sample_of_the_vectors() {
    let mut compared = 0;
    for (name, every) in [
        ("cast_value.float.jsonl.gz", 17),
        ("cast_value.int.jsonl.gz", 11),
        ("cast_value.scalar_map.jsonl.gz", 4),
    ] {
        for record in records(name).step_by(every) {
            let out_of_range = record["out_of_range"].as_array().unwrap().last().unwrap();
            let rounding = record["rounding"].as_array().unwrap().last().unwrap();
            let (src, dst) = (&record["src"], &record["dst"]);
            for (command, dtype, to) in [("encode", src, dst), ("decode", dst, src)] {
                let mut configuration = json!({"data_type": to, "rounding": rounding});
                if !out_of_range.is_null() {
                    configuration["out_of_range"] = out_of_range.clone();
                }
                if out_of_range == "wrap" && to.as_str().unwrap().contains("float") {
                    continue;
                }
                // For decoding, the array type is the target and the stored type the source.
                let map = json!({ command: record["scalar_map"] });
                if !record["scalar_map"].is_null() {
                    configuration["scalar_map"] = map;
                }
                let codecs = json!([{"name": "cast_value", "configuration": configuration}]);
                check(&record, command, dtype, &codecs);
                compared += 1;
            }
        }
    }
    for record in records("scale_offset.jsonl.gz").step_by(12) {
        let mut configuration = json!({});
        for name in ["offset", "scale"] {
            if !record[name].is_null() {
                configuration[name] = record[name].clone();
            }
        }
        let codecs = json!([{"name": "scale_offset", "configuration": configuration}]);
        check(
            &record,
            record["direction"].as_str().unwrap(),
            &record["dtype"],
            &codecs,
        );
        compared += 1;
    }
    assert!(compared >= 500, "only {compared} runs");
}

#[test]
fn codecs_behind_an_unknown_type_are_judged_all_the_same() {
    let codecs = r#"[
        {"name": "cast_value", "configuration": {"data_type": "float99"}},
        {"name": "scale_offset", "configuration": {"scale": 0, "offset": null}},
        {"name": "cast_value", "configuration": {"data_type": "float32", "out_of_range": "wrap"}},
        {"name": "numcodecs.fixedscaleoffset", "configuration": {"scale": 1, "offset": 0}}
    ]"#;
    insta::assert_snapshot!(encode("float64", codecs, "", "1\n"), @r#"
    exit: 2
    --- stderr
    error: the chain in --codecs is invalid
      - codec 0 (cast_value), /configuration/data_type: "float99"; expected one of int2, int4, int8, int16, int32, int64, uint2, uint4, uint8, uint16, uint32, uint64, float4_e2m1fn, float6_e2m3fn, float6_e3m2fn, float8_e3m4, float8_e4m3, float8_e4m3b11fnuz, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu, bfloat16, float16, float32, float64 [cast-value/data-type]
      - codec 1 (scale_offset), /configuration/offset: an offset of null; expected a number, or a string that is a fill value of the type at this place [scale-offset/scalar]
      - codec 1 (scale_offset), /configuration/scale: a scale of 0; expected a number other than zero [scale-offset/zero-scale]
      - codec 2 (cast_value), /configuration/out_of_range: "wrap" with the data type float32; expected an integer data type, or "clamp", or no out_of_range [cast-value/wrap-needs-integer]
      - codec 3 (numcodecs.fixedscaleoffset): the legacy codec, which is read and not written; expected scale_offset and cast_value, which supersede it, to encode [legacy/read-only]
    "#);
}

#[test]
fn a_line_without_an_end_ends_the_stream() {
    let sandbox = Sandbox::new();
    let arguments = ["encode", "-", "-", "--dtype", "float64", "--codecs", "[]"];
    // More than a line may hold, and no line break: the rest must not be waited for.
    let outcome = sandbox.run_with(arguments, vec![b'1'; 200_000]);
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: line 1: a line longer than 65536 bytes; expected one JSON scalar
    hint: --keep-going goes on after a scalar that fails
    ");
}

#[test]
fn a_long_map_is_bound_and_looked_up_quickly() {
    let pairs: Vec<String> = (0..200_000)
        .map(|n| format!("[{n}, {}]", n % 100))
        .collect();
    let codecs = format!(
        r#"[{{"name": "cast_value", "configuration": {{"data_type": "uint8", "scalar_map": {{"encode": [{}]}}}}}}]"#,
        pairs.join(",")
    );
    let sandbox = Sandbox::new();
    sandbox.file("chain.json", codecs);
    let input: String = (0..50_000).map(|n| format!("{n}\n")).collect();
    let arguments = [
        "encode",
        "-",
        "-",
        "--dtype",
        "float64",
        "--codecs",
        "@chain.json",
    ];
    let outcome = sandbox.run_with(arguments, input);
    assert_eq!(outcome.exit, Some(0), "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with("0\n1\n2\n"));
}

#[test]
fn nothing_in_the_input_commands_the_terminal() {
    let outcome = encode("float64", "[]", "", "\u{1b}[31mred\u{7}\n");
    insta::assert_snapshot!(outcome, @r#"
    exit: 1
    --- stderr
    error: line 1: \u{1b}[31mred\u{7} is no scalar; expected a number, "NaN", "Infinity", "-Infinity" or a string of "0x" and 16 hex digits
    hint: --keep-going goes on after a scalar that fails
    "#);
}

#[test]
fn flags_may_be_repeated() {
    assert_eq!(
        encode(
            "int8",
            "[]",
            "--bits --bits --keep-going --keep-going",
            "1\n"
        )
        .exit,
        Some(0)
    );
}
