//! `suggest-params` as a process: what it proposes, what it refuses, and that its plan is what its table says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Outcome, Sandbox};

/// Writes an array of one dimension, uncompressed, in chunks of `chunk` elements; the last one is filled up with zeros.
pub(crate) fn write(
    directory: &Path,
    data_type: &str,
    fill: Value,
    chunk: usize,
    elements: &[Vec<u8>],
) {
    write_with(directory, data_type, fill, chunk, elements, json!({}));
}

pub(crate) fn write_with(
    directory: &Path,
    data_type: &str,
    fill: Value,
    chunk: usize,
    elements: &[Vec<u8>],
    more: Value,
) {
    fs::create_dir_all(directory.join("c")).unwrap();
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [elements.len()], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    for (name, value) in more.as_object().unwrap() {
        document[name] = value.clone();
    }
    fs::write(directory.join("zarr.json"), document.to_string()).unwrap();
    for (n, part) in elements.chunks(chunk).enumerate() {
        let mut bytes = part.concat();
        bytes.resize(chunk * elements[0].len(), 0);
        fs::write(directory.join(format!("c/{n}")), bytes).unwrap();
    }
}

pub(crate) fn floats(values: impl IntoIterator<Item = f32>) -> Vec<Vec<u8>> {
    values
        .into_iter()
        .map(|x| x.to_le_bytes().to_vec())
        .collect()
}

/// Values all over a range, in no order and on no grid; the first two are its ends.
pub(crate) fn spread(low: f32, high: f32, count: u32) -> impl Iterator<Item = f32> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let between = move |n: u32| {
        let at = (f64::from(n) * GOLDEN).fract();
        (f64::from(low) + f64::from(high - low) * at) as f32
    };
    [low, high].into_iter().chain((2..count).map(between))
}

pub(crate) fn group(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    fs::write(
        directory.join("zarr.json"),
        r#"{"zarr_format":3,"node_type":"group"}"#,
    )
    .unwrap();
}

/// The plan that a run prints.
pub(crate) fn plan(sandbox: &Sandbox, arguments: &str) -> Value {
    let outcome = sandbox.run(&format!("suggest-params {arguments} --format json"));
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(plan["schema"], "zarrpack.suggest-params/1");
    plan
}

/// The first proposal of a plan, and its best candidate.
pub(crate) fn best(sandbox: &Sandbox, arguments: &str) -> (Value, Value) {
    let array = plan(sandbox, arguments)["arrays"][0].clone();
    let candidate = array["candidates"][0].clone();
    assert_eq!(candidate["codecs"], array["codecs"]);
    assert_eq!(candidate["holds"], true);
    (array, candidate)
}

pub(crate) fn refused(sandbox: &Sandbox, arguments: &str) -> Outcome {
    let outcome = sandbox.run(&format!("suggest-params {arguments}"));
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    outcome
}

#[test]
fn a_proposal_is_shown_in_every_form() {
    let sandbox = Sandbox::new();
    let mut values: Vec<f32> = spread(180.0, 330.0, 2000).collect();
    values.extend([f32::NAN; 3]);
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        500,
        &floats(values),
    );
    let outcome = sandbox.run("suggest-params t.zarr --max-error 0.005");
    insta::assert_snapshot!(outcome, @r#"
    exit: 0
    --- stdout
    t.zarr: float32
      values        2003 read, 3 NaN, 2000 distinct, from 180 to 330
      spread        180 [@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@] 330

         CHAIN            TYPE           CODES  MAX ERROR               HOLDS  SENTINEL          BITS
      >  (x - 260) * 400  int16    60002/65536    0.00125      178.08..341.92  NaN=-32768       19.97
         (x - 300) * 250  int16    37502/65536    0.00201      168.93..431.07  NaN=-32768       19.97
         (x - 300) * 200  int16    30002/65536     0.0025      136.16..463.84  NaN=-32768       19.97
         x * 128          uint16   19202/65536    0.00391  -0.0039062..511.99  NaN=65535        19.97
         (x - 300) * 256  int16    38402/65536    0.00195            172..428  NaN=-32768       19.97
         x * 65536        int32   9830402/2^32          0       -32768..32768  NaN=-2147483648  39.94

      recommended   float32 -> scale_offset (offset 260, scale 400) -> cast_value int16 [NaN<->-32768]
      because       the smallest of 6 that hold every value, measured on 2000 finite values: the largest
                    error is 0.001251220703125
      too narrow    int8: the values need 15001 codes, and it has 255, one being kept for what is
                    missing
      encode        stored = round((value - 260) * 400)
      decode        value = stored / 400 + 260
      CF            scale_factor 0.0025, add_offset 260, _FillValue -32768; the same codes, and values
                    that differ by 3.05e-5 at most, since CF multiplies in float64 and the codec divides
      codecs        [{"name":"scale_offset","configuration":{"offset":260,"scale":400}},{"name":"cast_value","configuration":{"data_type":"int16","scalar_map":{"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}}}]
    "#);
}

#[test]
fn pressures_that_spoil_a_coarser_step_are_kept_on_their_own_grid() {
    let sandbox = Sandbox::new();
    let values = spread(101_325.0, 101_335.0, 5000);
    write(
        &sandbox.path().join("p.zarr"),
        "float32",
        json!("NaN"),
        5000,
        &floats(values),
    );
    let (_, candidate) = best(&sandbox, "p.zarr --max-error 0.005");
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
}

#[test]
fn temperatures_that_miss_the_tolerance_by_a_grain_get_a_finer_step() {
    let sandbox = Sandbox::new();
    let values = spread(180.0, 330.0, 200_000);
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        50_000,
        &floats(values),
    );
    let array = plan(&sandbox, "t.zarr --max-error 0.0025")["arrays"][0].clone();
    for candidate in array["candidates"].as_array().unwrap() {
        assert_ne!(
            candidate["scale"], 200,
            "half of its step is the tolerance, and the arithmetic rounds"
        );
        assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 0.0025);
    }
    assert_eq!(array["candidates"][0]["data_type"], "int16");
}

#[test]
fn hundredths_in_float32_come_back_bit_for_bit() {
    let sandbox = Sandbox::new();
    let values = (-5000..=5000).map(|k| (f64::from(k) * 0.01) as f32);
    write(
        &sandbox.path().join("h.zarr"),
        "float32",
        json!(0.0),
        1000,
        &floats(values),
    );
    let (array, candidate) = best(&sandbox, "h.zarr --lossless");
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(
        array["codecs"],
        json!([
            {"name": "scale_offset", "configuration": {"scale": 100}},
            {"name": "cast_value", "configuration": {"data_type": "int16"}},
        ])
    );
    assert_eq!(array["seen"]["decimal_step"], 0.01);
}

#[test]
fn values_without_a_step_are_not_kept_bit_for_bit_by_a_narrower_type() {
    let sandbox = Sandbox::new();
    let values = (1..3000).map(|k| (k as f32).sqrt()).chain([1e-20]);
    write(
        &sandbox.path().join("r.zarr"),
        "float32",
        json!(0.0),
        3000,
        &floats(values),
    );
    insta::assert_snapshot!(refused(&sandbox, "r.zarr --lossless"), @"
    exit: 1
    --- stderr
    error: the values have no step that would let a type narrower than float32 hold them exactly
      - the power of two that divides them all is 2^-87: 8.5e27 codes
      - no decimal step divides them all
      - float32 -> scale_offset (scale 1190) -> cast_value uint16: 2938 values come back changed
    hint: --max-error 0.000423431396484375 can be had with uint16
    ");
    // Next to 54.8 there is nothing within 1e-9 but the value itself, and one of them is next to zero.
    let (_, candidate) = best(&sandbox, "r.zarr --max-error 1e-9");
    assert_eq!(candidate["data_type"], "int32");
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 1e-9);
}

#[test]
fn zero_stays_zero_where_the_data_hold_it() {
    let sandbox = Sandbox::new();
    let values = std::iter::once(0.0).chain(spread(-3e-6, 0.03, 4000));
    write(
        &sandbox.path().join("e4.zarr"),
        "float32",
        json!("NaN"),
        5000,
        &floats(values),
    );
    let (array, _) = best(&sandbox, "e4.zarr --to int16");
    let codecs = array["codecs"].to_string();
    sandbox.file("codecs.json", &codecs);
    let codes = sandbox.run_with(
        [
            "encode",
            "-",
            "-",
            "--dtype",
            "float32",
            "--codecs",
            "@codecs.json",
        ],
        "0\n",
    );
    let values = sandbox.run_with(
        [
            "decode",
            "-",
            "-",
            "--dtype",
            "float32",
            "--codecs",
            "@codecs.json",
        ],
        codes.stdout,
    );
    assert_eq!(values.stdout, "0.0\n");
}

#[test]
fn the_code_for_nan_is_one_that_no_value_uses() {
    let sandbox = Sandbox::new();
    // 0 to 100 in uint8, as a hundred tutorials pack it; 254 steps at most are left where NaN needs a code.
    let values = spread(0.0, 100.0, 1000).chain([f32::NAN]);
    write(
        &sandbox.path().join("n.zarr"),
        "float32",
        json!("NaN"),
        2000,
        &floats(values),
    );
    let (_, candidate) = best(&sandbox, "n.zarr --to uint8");
    assert_eq!(candidate["sentinels"][0]["value"], "NaN");
    assert_eq!(candidate["sentinels"][0]["code"], 255);
    assert!(candidate["codes_used"].as_u64().unwrap() <= 256);
    assert!(candidate["scale"].as_f64().unwrap() <= 2.54);
    let (_, candidate) = best(&sandbox, "n.zarr --max-error 0.5 --missing 7");
    assert_eq!(candidate["sentinels"][0]["code"], 7);
    let outcome = refused(&sandbox, "n.zarr --max-error 0.5 --missing none");
    assert!(
        outcome
            .stderr
            .starts_with("error: 1 values are NaN, and --missing none"),
        "{outcome}"
    );
}

#[test]
fn values_that_stand_for_missing_ones_keep_themselves_without_widening_the_range() {
    let sandbox = Sandbox::new();
    let values = spread(10.0, 20.0, 1000).chain([-9999.0; 50]);
    let attributes = json!({"attributes": {"missing_value": -9999.0}});
    let place = sandbox.path().join("s.zarr");
    write_with(
        &place,
        "float32",
        json!(1e20),
        2000,
        &floats(values),
        attributes,
    );
    let (array, candidate) = best(&sandbox, "s.zarr --max-error 0.05");
    assert_eq!(
        array["seen"]["stand_ins"],
        json!([{"value": -9999.0, "count": 50}])
    );
    assert_eq!(array["seen"]["high"], 20.0);
    assert_eq!(candidate["data_type"], "uint8");
    assert_eq!(
        array["fill_value"],
        Value::Null,
        "the fill has a code of its own"
    );
    let values: Vec<&Value> = candidate["sentinels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| &s["value"])
        .collect();
    assert_eq!(values, [&json!(-9999.0), &json!(1e20)]);
}

#[test]
fn a_fill_that_cannot_be_stored_gives_way_and_the_plan_says_so() {
    let sandbox = Sandbox::new();
    let values: Vec<_> = (1000_u16..1200).map(|x| x.to_le_bytes().to_vec()).collect();
    write(
        &sandbox.path().join("u.zarr"),
        "uint16",
        json!(0),
        200,
        &values,
    );
    let (array, candidate) = best(&sandbox, "u.zarr --lossless");
    assert_eq!(candidate["data_type"], "uint8");
    assert_eq!(array["fill_value"], 1000);
    assert!(
        array["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("the fill of the array cannot be stored")
    );
}

/// An array of four chunks, of which two are written.
pub(crate) fn write_half(directory: &Path, data_type: &str, fill: Value, elements: &[Vec<u8>]) {
    write(directory, data_type, fill, elements.len() / 4, elements);
    for missing in ["c/1", "c/3"] {
        fs::remove_file(directory.join(missing)).unwrap();
    }
}

#[test]
fn the_fill_of_chunks_that_were_never_written_is_a_value_of_the_data() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 4000));
    write_half(
        &sandbox.path().join("s.zarr"),
        "float32",
        json!(3e38),
        &values,
    );
    let (array, candidate) = best(&sandbox, "s.zarr --max-error 0.005");
    assert_eq!(array["fill_value"], Value::Null, "it is kept");
    assert_eq!(array["seen"]["unwritten"], 2000);
    assert_eq!(candidate["sentinels"][0]["value"].as_f64(), Some(3e38));
    assert_eq!(
        array["codecs"][0],
        json!({"name": "cast_value", "configuration": {"data_type": "float64"}})
    );
    assert_eq!(array["codecs"][1]["name"], "scale_offset");

    // Unsigned integers would leave their type below the offset.
    let values: Vec<_> = (1000_u16..1200).map(|x| x.to_le_bytes().to_vec()).collect();
    write_half(&sandbox.path().join("u.zarr"), "uint16", json!(0), &values);
    let (array, candidate) = best(&sandbox, "u.zarr --lossless");
    assert_eq!(array["fill_value"], Value::Null);
    assert_eq!(candidate["data_type"], "int8");
    assert_eq!(candidate["sentinels"][0]["value"], 0);
}

#[test]
fn a_fill_of_unwritten_chunks_that_no_chain_carries_is_named_in_the_refusal() {
    let sandbox = Sandbox::new();
    let values: Vec<_> = spread(180.0, 330.0, 4000)
        .map(|x| f64::from(x).to_le_bytes().to_vec())
        .collect();
    write_half(
        &sandbox.path().join("s.zarr"),
        "float64",
        json!(1.7e308),
        &values,
    );
    let outcome = refused(&sandbox, "s.zarr --max-error 0.005");
    let reason = "chunks that were never written read as the fill 1.7e308, for which no candidate has a code";
    assert!(outcome.stderr.contains(reason), "{outcome}");
}

#[test]
fn a_stand_in_beyond_the_type_once_scaled_is_scaled_in_a_wider_one() {
    let sandbox = Sandbox::new();
    let missing = 9.969_21e36_f32;
    let values = spread(180.0, 330.0, 1000).chain([missing; 50]);
    write_with(
        &sandbox.path().join("s.zarr"),
        "float32",
        json!(0.0),
        1050,
        &floats(values),
        json!({"attributes": {"_FillValue": 9.969_21e36}}),
    );
    let (array, candidate) = best(&sandbox, "s.zarr --max-error 0.00005");
    assert_eq!(candidate["holds"], true);
    assert_eq!(array["seen"]["stand_ins"][0]["count"], 50);
    assert_eq!(array["codecs"][0]["configuration"]["data_type"], "float64");
    assert_eq!(
        candidate["sentinels"][0]["value"].as_f64(),
        Some(9.969_21e36)
    );
}

#[test]
fn a_range_without_data_is_tried_halfway_between_steps_too() {
    let sandbox = Sandbox::new();
    // In float32, (0.71 - 0) * 50 is 35.5, and 36 / 50 is 0.72: off by 0.01000005.
    let pinned = refused(
        &sandbox,
        "--range 0 1 --max-error 0.01 --scale 50 --offset 0",
    );
    assert!(pinned.stderr.contains("0.0100000"), "{pinned}");
    let (_, candidate) = best(&sandbox, "--range 0 1 --max-error 0.01");
    assert_ne!(candidate["scale"], 50);
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 0.01);
}

#[test]
fn errors_are_those_of_values_that_do_not_stand_for_missing_ones() {
    let sandbox = Sandbox::new();
    let values: Vec<f32> = spread(10.0, 20.0, 1000).collect();
    let mut diluted = vec![-9999.0; 9000];
    diluted.extend(&values);
    let attributes = json!({"attributes": {"missing_value": -9999.0}});
    for (name, values) in [("a.zarr", values), ("b.zarr", diluted)] {
        let place = sandbox.path().join(name);
        let (count, values) = (values.len(), floats(values));
        write_with(
            &place,
            "float32",
            json!(-9999.0),
            count,
            &values,
            attributes.clone(),
        );
    }
    let measured = |store: &str| {
        let arguments = format!("{store} --to int16 --scale 100 --offset 15");
        best(&sandbox, &arguments).1["measured"].clone()
    };
    let (plain, diluted) = (measured("a.zarr"), measured("b.zarr"));
    assert_eq!(diluted["values"], 1000);
    let rmse = |measured: &Value| measured["rmse"].as_f64().unwrap();
    assert!(
        (rmse(&diluted) / rmse(&plain) - 1.0).abs() < 1e-9,
        "{diluted}"
    );
}

#[test]
fn the_narrowest_type_is_found_with_the_coarsest_step() {
    let sandbox = Sandbox::new();
    let values = (0..1000).map(|k| (f64::from(k) * 140.0 / 999.0) as f32);
    write(
        &sandbox.path().join("s.zarr"),
        "float32",
        json!(0.0),
        1000,
        &floats(values),
    );
    for more in ["", "--to uint8", "--bits 8"] {
        let (_, candidate) = best(&sandbox, &format!("s.zarr --max-error 0.3 {more}"));
        assert!(candidate["data_type"].as_str().unwrap().ends_with("int8"));
        assert_eq!(candidate["scale"], 1.67, "{more}");
        assert_eq!(candidate["codes_used"], 235, "{more}");
        assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 0.3);
    }
}

#[test]
fn a_fill_that_the_data_hold_beyond_all_other_values_gets_a_code_of_its_own() {
    let sandbox = Sandbox::new();
    let values = floats(spread(10.0, 20.0, 1000).chain([-9999.0; 50]));
    write(
        &sandbox.path().join("f.zarr"),
        "float32",
        json!(-9999.0),
        1050,
        &values,
    );
    let (array, candidate) = best(&sandbox, "f.zarr --max-error 0.05");
    assert_eq!(candidate["data_type"], "uint8");
    assert_eq!(candidate["sentinels"][0]["value"], -9999.0);
    // Nothing declares it to be missing: it is a value like others.
    assert_eq!(candidate["measured"]["values"], 1050);
    assert_eq!(array["seen"]["low"], -9999.0);

    let integers = (1000_i32..1200).chain([-32768; 10]);
    let values: Vec<_> = integers.map(|x| x.to_le_bytes().to_vec()).collect();
    write(
        &sandbox.path().join("i.zarr"),
        "int32",
        json!(-32768),
        210,
        &values,
    );
    let (_, candidate) = best(&sandbox, "i.zarr --lossless");
    assert!(candidate["data_type"].as_str().unwrap().ends_with("int8"));
    assert_eq!(candidate["sentinels"][0]["value"], -32768);

    // One next to the others needs none.
    let values: Vec<_> = (0_u16..256).map(|x| x.to_le_bytes().to_vec()).collect();
    write(
        &sandbox.path().join("u.zarr"),
        "uint16",
        json!(0),
        256,
        &values,
    );
    let (_, candidate) = best(&sandbox, "u.zarr --lossless");
    assert_eq!(candidate["data_type"], "uint8");
    assert_eq!(candidate["sentinels"], json!([]));
}

#[test]
fn a_damaged_chunk_of_one_array_leaves_the_others_their_proposals() {
    let sandbox = Sandbox::new();
    let place = sandbox.path().join("s.zarr");
    group(&place);
    for name in ["a", "b"] {
        let values = floats(spread(0.0, 1.0, 300));
        write(&place.join(name), "float32", json!("NaN"), 100, &values);
    }
    fs::write(place.join("a/c/1"), b"short").unwrap();
    let outcome = sandbox.run("suggest-params s.zarr --max-error 0.01 --format json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(plan["arrays"][0]["path"], "b");
    assert_eq!(plan["refused"][0]["path"], "a");
    let details = plan["refused"][0]["details"].to_string();
    assert!(details.contains("c/1"), "{details}");
}

#[test]
fn numbers_with_a_sign_and_an_exponent_are_values_of_flags() {
    let sandbox = Sandbox::new();
    let arguments = "--range -1E2 -5e-1 --to int16 --offset -1e+1 --scale -1e-1";
    let (_, candidate) = best(&sandbox, arguments);
    assert_eq!(candidate["data_type"], "int16");
    let offset: f64 = candidate["offset"].to_string().parse().unwrap();
    assert_eq!(offset, -10.0);
}

#[test]
fn constant_data_are_an_offset() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.path().join("c.zarr"),
        "float32",
        json!("NaN"),
        100,
        &floats([273.15; 100]),
    );
    let (array, candidate) = best(&sandbox, "c.zarr --max-error 0.01");
    assert_eq!(
        array["codecs"][0]["configuration"],
        json!({"offset": 273.15})
    );
    assert_eq!(candidate["data_type"], "int8");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
}

#[test]
fn a_bad_input_is_refused_in_clear_words() {
    let sandbox = Sandbox::new();
    let place = |name: &str| sandbox.path().join(name);
    write(
        &place("nan.zarr"),
        "float32",
        json!("NaN"),
        10,
        &floats([f32::NAN; 10]),
    );
    insta::assert_snapshot!(refused(&sandbox, "nan.zarr --max-error 1"), @"
    exit: 1
    --- stderr
    error: the data hold no finite value to choose parameters by
      - of 10 values 10 are NaN, 0 infinite, and 0 stand for missing ones
    hint: --range MIN MAX plans for values that are yet to come
    ");
    let codes: Vec<_> = (0_i16..100).map(|x| x.to_le_bytes().to_vec()).collect();
    let attributes = json!({"attributes": {"scale_factor": 0.1}});
    write_with(
        &place("cf.zarr"),
        "int16",
        json!(0),
        100,
        &codes,
        attributes,
    );
    insta::assert_snapshot!(refused(&sandbox, "cf.zarr --max-error 1"), @"
    exit: 1
    --- stderr
    error: the values are packed already: they are integers, which readers unpack by the attribute scale_factor
    hint: packing the codes once more gains nothing; parameters are for the values that they stand for
    ");
    let wide: Vec<_> = (-30_000_i16..30_000)
        .map(|x| x.to_le_bytes().to_vec())
        .collect();
    write(&place("wide.zarr"), "int16", json!(0), 60_000, &wide);
    insta::assert_snapshot!(refused(&sandbox, "wide.zarr --max-error 1"), @"
    exit: 1
    --- stderr
    error: the values are integers already, and no narrower type holds them, shifted or not
      - they go from -30000 to 29999
      - int8: the values need 60000 codes, and it has 256
    hint: integers that are codes of CF packing (scale_factor, add_offset) are packed already: packing them again gains nothing
    ");
    write(
        &place("t.zarr"),
        "float32",
        json!("NaN"),
        2000,
        &floats(spread(180.0, 330.0, 2000)),
    );
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --max-error 0.005 --to int8"), @"
    exit: 1
    --- stderr
    error: int8 cannot keep every value within 0.005
      - float32 -> scale_offset (offset 255.02959, scale 1.69) -> cast_value int8 [NaN<->-128]: the largest error is 0.29583740234375
      - int8: the values need 15001 codes, and it has 255, one being kept for what is missing
    hint: --max-error 0.29583740234375 can be had with int8
    ");
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --max-error 0.005 --range 200 300"), @"
    exit: 1
    --- stderr
    error: the data go from 180 to 330, beyond --range 200 300
    hint: widen the range, or leave it out to plan for the data alone
    ");
}

#[test]
fn each_wish_does_what_it_says() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        9000,
        &floats(spread(180.0, 330.0, 9000)),
    );
    let (_, candidate) = best(&sandbox, "t.zarr --decimals 2");
    assert_eq!(candidate["scale"], 100);
    let (_, candidate) = best(&sandbox, "t.zarr --bits 12");
    assert!(candidate["codes_used"].as_u64().unwrap() <= 4096);
    assert_eq!(candidate["data_type"], "int16");
    let (_, candidate) = best(&sandbox, "t.zarr --to int16");
    assert_eq!(candidate["data_type"], "int16");
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() < 0.0013);
    let (_, candidate) = best(&sandbox, "t.zarr --relative-error 1e-3");
    assert!(
        candidate["measured"]["max_relative_error"]
            .as_f64()
            .unwrap()
            <= 1e-3
    );
    let (_, candidate) = best(&sandbox, "t.zarr --scale 100 --offset 255");
    assert_eq!(
        (&candidate["scale"], &candidate["offset"]),
        (&json!(100), &json!(255))
    );
    let (_, candidate) = best(&sandbox, "t.zarr --max-error 0.005 --headroom 10");
    assert!(candidate["holds_low"].as_f64().unwrap() <= 165.0);
    assert!(candidate["holds_high"].as_f64().unwrap() >= 345.0);
    let (_, candidate) = best(&sandbox, "t.zarr --max-error 0.005 --keep-exact 273.15");
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 0.005);
}

#[test]
fn a_range_needs_no_data_and_every_value_in_it_is_tried() {
    let sandbox = Sandbox::new();
    let (array, candidate) = best(&sandbox, "--range 250 300 --max-error 0.005");
    assert_eq!(array["path"], Value::Null);
    assert_eq!(array["dtype"], "float32");
    // From 250 to 256 the floats are 2^-16 apart, from there on 2^-15.
    assert_eq!(
        candidate["measured"]["values"],
        6 * (1 << 16) + 44 * (1 << 15) + 1
    );
    assert_eq!(
        candidate["sentinels"][0]["value"], "NaN",
        "what will be missing is not known"
    );
    assert_eq!(candidate["stored_bytes"], Value::Null);
}

#[test]
fn arrays_of_one_variable_get_one_proposal() {
    let sandbox = Sandbox::new();
    let place = |name: &str| sandbox.path().join(name);
    write(
        &place("a.zarr"),
        "float32",
        json!(0.0),
        1000,
        &floats(spread(-10.0, 10.0, 1000)),
    );
    write(
        &place("b.zarr"),
        "float32",
        json!(0.0),
        1000,
        &floats(spread(50.0, 60.0, 1000)),
    );
    let (array, candidate) = best(&sandbox, "a.zarr b.zarr --common --max-error 0.005");
    assert_eq!(array["path"], Value::Null);
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(candidate["by_array"].as_array().unwrap().len(), 2);
    let outcome = refused(
        &sandbox,
        "a.zarr b.zarr --common --max-error 0.005 --to int8",
    );
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: int8 cannot keep every value within 0.005
      - float32 -> scale_offset (offset 25, scale 3.64) -> cast_value int8: the largest error is 0.1371326446533203 (by array: a.zarr 0.1371326446533203, b.zarr 0.13665008544921875)
      - int8: the values need 7001 codes, and it has 256
    hint: --max-error 0.1371326446533203 can be had with int8
    ");
    let outcome = sandbox.run("suggest-params a.zarr b.zarr --max-error 0.005");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn a_hierarchy_gets_a_proposal_for_each_variable() {
    let sandbox = Sandbox::new();
    let root = sandbox.path().join("h.zarr");
    group(&root);
    for n in 0..20_u8 {
        let low = f32::from(n);
        let values = floats(spread(low, 2.0 * low + 1.0, 100));
        write(
            &root.join(format!("v{n:02}")),
            "float32",
            json!("NaN"),
            40,
            &values,
        );
    }
    let names = json!({"dimension_names": ["x"]});
    write_with(
        &root.join("x"),
        "float32",
        json!(0.0),
        100,
        &floats(spread(0.0, 9.0, 100)),
        names,
    );
    let flags: Vec<_> = (0..100).map(|n| vec![n]).collect();
    write(&root.join("flag"), "int8", json!(0), 100, &flags);
    let outcome = sandbox.run("suggest-params h.zarr --decimals 2 --format json");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let arrays = plan["arrays"].as_array().unwrap();
    let paths: Vec<_> = arrays
        .iter()
        .map(|array| array["path"].as_str().unwrap())
        .collect();
    let expected: Vec<_> = (0..20).map(|n| format!("v{n:02}")).collect();
    assert_eq!(paths, expected);
    insta::assert_snapshot!(outcome.stderr, @"
    left out: x (a coordinate); --array selects them
    flag: left as it is: the values are integers already, and no type is narrower than int8
    ");
}

#[test]
fn files_of_numpy_are_read_in_either_byte_order() {
    let sandbox = Sandbox::new();
    let header = "{'descr': '>f8', 'fortran_order': False, 'shape': (3, 200), }";
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").bytes());
    for value in spread(-5.0, 5.0, 600) {
        bytes.extend(f64::from(value).to_be_bytes());
    }
    sandbox.file("x.npy", &bytes);
    let (array, candidate) = best(&sandbox, "x.npy --max-error 0.05");
    assert_eq!(array["seen"]["low"], -5.0);
    assert_eq!(array["path"], Value::Null);
    assert_eq!(candidate["data_type"], "int8");
    sandbox.file("short.npy", &bytes[..1000]);
    let outcome = refused(&sandbox, "short.npy --max-error 0.05");
    insta::assert_snapshot!(outcome, @r#"
    exit: 1
    --- stderr
    error: "short.npy": the header promises 4800 bytes of data, and 872 follow
    "#);
}

#[test]
fn the_plan_does_not_depend_on_the_number_of_threads() {
    let sandbox = Sandbox::new();
    let values = spread(-40.0, 60.0, 30_000).chain([f32::NAN, f32::INFINITY]);
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        700,
        &floats(values),
    );
    let one = plan(&sandbox, "t.zarr --max-error 0.01 -j 1");
    assert_eq!(plan(&sandbox, "t.zarr --max-error 0.01 -j 7"), one);
    assert_eq!(
        plan(&sandbox, "t.zarr --max-error 0.01 -j 3 --memory 1KiB"),
        one
    );
}

#[test]
fn a_share_of_the_chunks_is_said_to_be_one() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        100,
        &floats(spread(0.0, 1.0, 2000)),
    );
    let (array, candidate) = best(&sandbox, "t.zarr --max-error 0.01 --sample 25");
    assert_eq!(array["seen"]["share"], 0.25);
    assert_eq!(array["seen"]["values"], 500);
    assert_eq!(candidate["measured"]["values"], 500);
    let outcome = sandbox.run("suggest-params t.zarr --max-error 0.01 --sample 25");
    assert!(
        outcome.stdout.contains("25 % of the chunks were read"),
        "{outcome}"
    );
}

#[test]
fn a_damaged_chunk_is_named() {
    let sandbox = Sandbox::new();
    let place = sandbox.path().join("t.zarr");
    write(
        &place,
        "float32",
        json!("NaN"),
        100,
        &floats(spread(0.0, 1.0, 300)),
    );
    fs::write(place.join("c/1"), b"short").unwrap();
    let outcome = sandbox.run("suggest-params t.zarr --max-error 0.01");
    assert_eq!(outcome.exit, Some(1));
    assert!(outcome.stderr.contains("c/1"), "{outcome}");
}

#[test]
fn flags_that_say_nothing_or_too_much_are_usage_errors() {
    let sandbox = Sandbox::new();
    write(
        &sandbox.path().join("t.zarr"),
        "float32",
        json!("NaN"),
        100,
        &floats(spread(0.0, 1.0, 100)),
    );
    for arguments in [
        "t.zarr",
        "",
        "--max-error 1",
        "t.zarr --max-error -1",
        "t.zarr --max-error nan",
        "t.zarr --max-error 1 --decimals 2",
        "t.zarr --scale 0",
        "t.zarr --scale 0x1",
        "t.zarr --max-error 1 --sample 0",
        "t.zarr --max-error 1 --dtype float32",
        "t.zarr --max-error 1 --array nothing",
        "--range 0 1 --lossless",
        "--range 1 0 --max-error 1",
    ] {
        let outcome = sandbox.run(&format!("suggest-params {arguments}"));
        assert_eq!(outcome.exit, Some(2), "{arguments}: {outcome}");
    }
}

#[test]
fn reference_stores_get_a_proposal_or_a_reason() {
    let sandbox = Sandbox::new();
    let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores");
    let mut proposed = 0;
    for entry in fs::read_dir(stores).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() || path.to_str().unwrap().ends_with(".expected") {
            continue;
        }
        let path = path.to_str().unwrap();
        let outcome = sandbox.run_with(
            [
                "suggest-params",
                path,
                "--max-error",
                "0.1",
                "--format",
                "json",
            ],
            "",
        );
        assert!(matches!(outcome.exit, Some(0 | 1)), "{path}: {outcome}");
        let plan: Result<Value, _> = serde_json::from_str(&outcome.stdout);
        let Ok(plan) = plan else {
            assert_eq!(outcome.exit, Some(1), "{path}: {outcome}");
            continue;
        };
        for array in plan["arrays"].as_array().unwrap() {
            proposed += 1;
            let error = array["candidates"][0]["measured"]["max_error"]
                .as_f64()
                .unwrap();
            assert!(error <= 0.1, "{path}: {error}");
        }
    }
    assert!(proposed > 10, "{proposed}");
}
