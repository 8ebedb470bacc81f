//! `suggest-params` at its edges: attributes of CF, grids that hide, fills among the values, float types, wide integers, unsound arrays,
//! odd data, and signals.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::suggest_params::{
    best, floats, group, plan, refused, spread, write, write_half, write_with,
};

fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<Vec<u8>> {
    values
        .into_iter()
        .map(|x| x.to_le_bytes().to_vec())
        .collect()
}

/// Writes an array of one chunk, and returns its name.
fn one_chunk<'n>(
    sandbox: &Sandbox,
    name: &'n str,
    data_type: &str,
    fill: Value,
    elements: &[Vec<u8>],
) -> &'n str {
    let place = sandbox.path().join(name);
    write(&place, data_type, fill, elements.len(), elements);
    name
}

fn sentinels(candidate: &Value) -> Vec<(Value, Value)> {
    let sentinels = candidate["sentinels"].as_array().unwrap().iter();
    sentinels
        .map(|one| (one["value"].clone(), one["code"].clone()))
        .collect()
}

#[test]
fn numbers_of_cf_are_those_of_the_chain_and_exact_means_every_code() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 3000));
    one_chunk(&sandbox, "t.zarr", "float32", json!("NaN"), &values);
    for (scale, offset) in [
        ("100", "273.15"),
        ("128", "256"),
        ("64.1", "250"),
        ("100", "0.1"),
    ] {
        let arguments = format!("t.zarr --to int32 --scale {scale} --offset {offset}");
        let (array, candidate) = best(&sandbox, &arguments);
        let cf = &array["cf"];
        let (scale, offset): (f32, f32) = (scale.parse().unwrap(), offset.parse().unwrap());
        let (factor, add) = (1.0 / f64::from(scale), f64::from(offset));
        assert_eq!(cf["scale_factor"].as_f64(), Some(factor), "{arguments}");
        assert_eq!(cf["add_offset"].as_f64(), Some(add), "{arguments}");
        assert_eq!(cf["_FillValue"], candidate["sentinels"][0]["code"]);
        let code = |value: f32| ((value - offset) * scale).round_ties_even() as i32;
        let differences = (code(180.0)..=code(330.0)).map(|code| {
            let codec = code as f32 / scale + offset;
            let unpacked = (f64::from(code) * factor + add) as f32;
            (f64::from(codec) - f64::from(unpacked)).abs()
        });
        let largest = differences.fold(0.0, f64::max);
        assert_eq!(cf["exact"], json!(largest == 0.0), "{arguments}");
        assert_eq!(cf["max_difference"].as_f64(), Some(largest), "{arguments}");
    }
}

#[test]
fn formulas_of_float16_have_the_numbers_that_it_holds() {
    let sandbox = Sandbox::new();
    // 0.1 in float16 is 0.0999755859375, and 254.8 is 254.75.
    let arguments = "--range 200 300 --dtype float16 --to int16 --scale 0.1 --offset 254.8";
    let (array, _) = best(&sandbox, arguments);
    assert_eq!(
        array["formula"]["decode"],
        "value = stored / 0.0999755859375 + 254.75"
    );
    assert_eq!(array["cf"]["add_offset"], 254.75);
    assert_eq!(
        array["cf"]["scale_factor"].as_f64(),
        Some(1.0 / 0.099_975_585_937_5)
    );
}

#[test]
fn one_code_for_what_is_missing_is_the_fill_value_of_cf() {
    let sandbox = Sandbox::new();
    let declared = json!({"attributes": {"missing_value": -9999.0}});
    let store = |name: &str, more: &[f32], attributes: &Value| {
        let values = floats(spread(0.0, 100.0, 1000).chain(more.iter().copied()));
        let place = sandbox.path().join(name);
        write_with(
            &place,
            "float32",
            json!("NaN"),
            values.len(),
            &values,
            attributes.clone(),
        );
    };
    store("nan.zarr", &[f32::NAN], &json!({}));
    let (array, candidate) = best(&sandbox, "nan.zarr --max-error 0.05");
    assert_eq!(array["cf"]["_FillValue"], candidate["sentinels"][0]["code"]);

    let values = floats(spread(0.0, 100.0, 1000).chain([-9999.0]));
    let place = sandbox.path().join("missing.zarr");
    write_with(
        &place,
        "float32",
        json!(-9999.0),
        1001,
        &values,
        declared.clone(),
    );
    let (array, candidate) = best(&sandbox, "missing.zarr --max-error 0.05");
    assert_eq!(
        sentinels(&candidate),
        [(json!(-9999.0), array["cf"]["_FillValue"].clone())]
    );

    // Two missing values have no one attribute, and an infinity is not missing.
    store("both.zarr", &[f32::NAN, -9999.0], &declared);
    assert_eq!(
        best(&sandbox, "both.zarr --max-error 0.05").0["cf"],
        Value::Null
    );
    let values = floats(spread(0.0, 100.0, 1000).chain([f32::INFINITY]));
    one_chunk(&sandbox, "infinite.zarr", "float32", json!(0.0), &values);
    let (array, candidate) = best(&sandbox, "infinite.zarr --max-error 0.05");
    assert_eq!(candidate["sentinels"][0]["value"], "Infinity");
    assert_eq!(array["cf"], Value::Null);
}

#[test]
fn a_value_to_keep_that_is_on_no_round_grid_is_the_offset() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 5000));
    one_chunk(&sandbox, "t.zarr", "float32", json!("NaN"), &values);
    let (array, candidate) = best(&sandbox, "t.zarr --max-error 0.5 --keep-exact 273.15");
    assert_eq!(candidate["data_type"], "int8");
    assert_eq!(
        array["codecs"][0]["configuration"],
        json!({"offset": 273.15})
    );
    assert_eq!(
        sentinels(&candidate).len(),
        1,
        "NaN alone has a code of its own"
    );
    // Two such values cannot both be the offset; one gets a code.
    let (_, candidate) = best(
        &sandbox,
        "t.zarr --to int8 --keep-exact 273.15 --keep-exact 300.003",
    );
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() < 0.5);
    assert!(sentinels(&candidate).len() >= 2, "{candidate}");
}

#[test]
fn float32_values_on_a_grid_with_an_offset_come_back_bit_for_bit() {
    let sandbox = Sandbox::new();
    // From 273.15 on, 60001 steps of 0.01: the codes of no 16-bit type, unless shifted, which in float32 costs a digit.
    let values = (0..=60_000).map(|k| (f64::from(k) / 100.0 + 273.15) as f32);
    one_chunk(&sandbox, "h.zarr", "float32", json!("NaN"), &floats(values));
    let (array, candidate) = best(&sandbox, "h.zarr --lossless");
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(candidate["scale"], 100);
    assert_eq!(array["codecs"][0]["configuration"]["data_type"], "float64");
    let values = (0..=60_000).map(|k| (f64::from(k) / 100.0 + 273.15) as f32);
    let text: String = values
        .clone()
        .step_by(97)
        .map(|x| format!("{x}\n"))
        .collect();
    sandbox.file("codecs.json", array["codecs"].to_string());
    let run = |command, input| {
        let arguments = [
            command,
            "-",
            "-",
            "--dtype",
            "float32",
            "--codecs",
            "@codecs.json",
        ];
        sandbox.run_with(arguments, input)
    };
    let back = run("decode", run("encode", text).stdout).stdout;
    let back: Vec<f32> = back.lines().map(|x| x.parse().unwrap()).collect();
    assert_eq!(back, values.step_by(97).collect::<Vec<f32>>());

    // A factor and an offset as files of CF have them.
    let values =
        (0..20_000).map(|k| (f64::from(k * 7919 % 65_000 - 32_500) * 0.001_751_32 + 281.33) as f32);
    one_chunk(&sandbox, "c.zarr", "float32", json!("NaN"), &floats(values));
    let (array, candidate) = best(&sandbox, "c.zarr --lossless");
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(array["cf"]["scale_factor"], 0.001_751_32);
}

#[test]
fn quotients_in_float64_come_back_and_products_are_refused_with_what_can_be_had() {
    let sandbox = Sandbox::new();
    let quotients = (0..=60_000).map(|k| f64::from(k) / 100.0 + 273.15);
    one_chunk(
        &sandbox,
        "q.zarr",
        "float64",
        json!("NaN"),
        &doubles(quotients),
    );
    let (array, candidate) = best(&sandbox, "q.zarr --lossless");
    assert_eq!(candidate["data_type"], "uint16");
    assert_eq!(
        array["codecs"][0]["configuration"],
        json!({"offset": 273.15, "scale": 100})
    );
    // 35 * 0.01 is 0.35000000000000003, and 35 / 100 is 0.35: no division gives all products back.
    let products = (-5000..=5000).map(|k| f64::from(k) * 0.01);
    one_chunk(
        &sandbox,
        "p.zarr",
        "float64",
        json!(0.0),
        &doubles(products),
    );
    let outcome = refused(&sandbox, "p.zarr --lossless");
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: no chain was found that gives every value back exactly; the nearest is off by 7.105427357601002e-15 at most
      - the values lie on a grid up to the rounding of their type, such as products of whole numbers and a factor do: dividing rounds some of them differently
      - float64 -> scale_offset (scale 100) -> cast_value int16: 1320 values come back changed
      - float64 -> scale_offset (scale 100) -> cast_value int32: 1320 values come back changed
      - float64 -> scale_offset (offset -100, scale 100) -> cast_value uint16: 7061 values come back changed
    hint: --max-error 7.105427357601002e-15 can be had with int16
    ");
    let (_, candidate) = best(&sandbox, "p.zarr --max-error 7.105427357601002e-15");
    assert_eq!(candidate["data_type"], "int16");
    assert_eq!(candidate["scale"], 100);
}

#[test]
fn a_fill_among_the_values_gets_a_code_and_one_that_gives_way_makes_room_for_nan() {
    let sandbox = Sandbox::new();
    let values = || spread(-100.0, 100.0, 2000).chain([12.345; 20]);
    let declared = json!({"attributes": {"_FillValue": 12.345}});
    let place = sandbox.path().join("declared.zarr");
    write_with(
        &place,
        "float32",
        json!(12.345),
        2020,
        &floats(values()),
        declared,
    );
    one_chunk(
        &sandbox,
        "fill.zarr",
        "float32",
        json!(12.345),
        &floats(values()),
    );
    for store in ["declared.zarr", "fill.zarr"] {
        let (array, candidate) = best(&sandbox, &format!("{store} --max-error 0.05"));
        assert_eq!(candidate["data_type"], "int16");
        assert_eq!(sentinels(&candidate), [(json!(12.345), json!(-32768))]);
        let key = candidate["sentinels"][0]["key"].as_f64().unwrap();
        let scale = candidate["scale"].as_f64().unwrap();
        assert!((key - 12.345 * scale).abs() < 1e-4, "{candidate}");
        assert_eq!(array["fill_value"], Value::Null);
    }
    // Scaled, 3e38 is no float32; no chunk reads as it.
    let values = floats(spread(-100.0, 100.0, 2000).chain([f32::NAN]));
    one_chunk(&sandbox, "far.zarr", "float32", json!(3e38), &values);
    let (array, _) = best(&sandbox, "far.zarr --max-error 0.05");
    assert_eq!(array["fill_value"], "NaN");
}

#[test]
fn float_types_store_nan_and_infinities_as_they_are_as_far_as_they_have_them() {
    let sandbox = Sandbox::new();
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let values = floats(spread(-3.0, 3.0, 1000).chain(odd));
    one_chunk(&sandbox, "t.zarr", "float32", json!("NaN"), &values);
    for stored in [
        "float32",
        "float16",
        "bfloat16",
        "float8_e5m2",
        "float8_e4m3",
    ] {
        let (array, candidate) = best(&sandbox, &format!("t.zarr --to {stored}"));
        assert_eq!(
            array["codecs"],
            json!([{"name": "cast_value", "configuration": {"data_type": stored}}])
        );
        assert_eq!(candidate["measured"]["lost"], 0);
    }
    // This one has a NaN, no infinities, and 240 at its end.
    let (_, candidate) = best(&sandbox, "t.zarr --to float8_e4m3fnuz");
    assert_eq!(
        sentinels(&candidate),
        [
            (json!("Infinity"), json!(-240.0)),
            (json!("-Infinity"), json!(-220.0))
        ]
    );
    // This one has neither, and its values go to 6.
    let (_, candidate) = best(&sandbox, "t.zarr --to float4_e2m1fn");
    assert_eq!(
        sentinels(&candidate),
        [
            (json!("NaN"), json!(-6.0)),
            (json!("Infinity"), json!(-4.0)),
            (json!("-Infinity"), json!(6.0)),
        ]
    );
    let outcome = refused(&sandbox, "t.zarr --to float16 --missing 7");
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: --missing 7 asks for a code, and float16 stores NaN as it stores other values
    hint: leave --missing out, or store integers
    ");
    // A fill that float16 rounds has a code beyond the values, and is no value of theirs.
    let values = floats(spread(0.0, 60_000.0, 1000).chain([-9999.0; 5]));
    one_chunk(&sandbox, "f.zarr", "float32", json!(-9999.0), &values);
    let (_, candidate) = best(&sandbox, "f.zarr --to float16");
    assert_eq!(candidate["sentinels"][0]["value"], -9999.0);
    assert_eq!(candidate["measured"]["lost"], 0);
    let same = floats([273.15; 100]);
    one_chunk(&sandbox, "c.zarr", "float32", json!("NaN"), &same);
    let (array, candidate) = best(&sandbox, "c.zarr --to float16");
    assert_eq!(
        array["codecs"][0]["configuration"],
        json!({"offset": 273.15})
    );
    assert_eq!(candidate["measured"]["max_error"], 0.0);
}

#[test]
fn wide_and_small_types_are_used_as_far_as_they_help() {
    let sandbox = Sandbox::new();
    let values: Vec<f32> = spread(180.0, 330.0, 3000).collect();
    one_chunk(
        &sandbox,
        "s.zarr",
        "float32",
        json!("NaN"),
        &floats(values.clone()),
    );
    let double = values.iter().map(|x| f64::from(*x) * 1.000_000_123);
    one_chunk(
        &sandbox,
        "d.zarr",
        "float64",
        json!("NaN"),
        &doubles(double),
    );
    let error = |candidate: &Value| candidate["measured"]["max_error"].as_f64().unwrap();
    // 24 bits of float32 are 2^-16 apart at 180.
    for wish in [
        "--to int32",
        "--to int64",
        "--to uint64",
        "--bits 24",
        "--bits 32",
        "--bits 64",
    ] {
        let (_, candidate) = best(&sandbox, &format!("s.zarr {wish}"));
        assert_eq!(error(&candidate), 0.0, "{wish}");
    }
    let (array, _) = best(&sandbox, "s.zarr --to int64");
    assert_eq!(
        array["notes"],
        json!(["int64 is wider than float32: nothing is gained by it"])
    );
    for wish in ["--to int64", "--to uint64", "--bits 64"] {
        let (_, candidate) = best(&sandbox, &format!("d.zarr {wish}"));
        assert_eq!(error(&candidate), 0.0, "{wish}");
    }
    let (_, candidate) = best(&sandbox, "d.zarr --bits 40");
    assert!(
        error(&candidate) < 2.0 * 75.0 / 2_f64.powi(40),
        "{candidate}"
    );
    assert!(candidate["codes_used"].as_u64().unwrap() <= 1 << 40);
    let (_, candidate) = best(&sandbox, "s.zarr --to int4");
    assert!(error(&candidate) < 5.5, "{candidate}");
    let (_, candidate) = best(&sandbox, "s.zarr --bits 4");
    assert_eq!(candidate["data_type"], "int8");
    assert!(candidate["codes_used"].as_u64().unwrap() <= 16);
}

#[test]
fn integers_of_64_bits_are_shifted_exactly_or_refused() {
    let sandbox = Sandbox::new();
    let high = 1_u64 << 63;
    let values: Vec<_> = (0..200)
        .map(|n| (high + n).to_le_bytes().to_vec())
        .collect();
    one_chunk(&sandbox, "u.zarr", "uint64", json!(high), &values);
    let (array, candidate) = best(&sandbox, "u.zarr --lossless");
    assert_eq!(candidate["data_type"], "uint8");
    let offset: u64 = array["codecs"][0]["configuration"]["offset"]
        .as_u64()
        .unwrap();
    assert!(offset <= high && high + 199 - offset <= 255);
    let (_, candidate) = best(&sandbox, "u.zarr --to int64");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
    insta::assert_snapshot!(refused(&sandbox, "u.zarr --bits 7"), @"
    exit: 1
    --- stderr
    error: the values are integers already, and no narrower type holds them, shifted or not
      - they go from 9223372036854775808 to 9223372036854776007
      - int8: the values need 200 codes, and it has 128
    hint: integers that are codes of CF packing (scale_factor, add_offset) are packed already: packing them again gains nothing
    ");
    let values: Vec<_> = (-100..100_i16).map(|n| n.to_le_bytes().to_vec()).collect();
    one_chunk(&sandbox, "i.zarr", "int16", json!(0), &values);
    insta::assert_snapshot!(refused(&sandbox, "i.zarr --to int4"), @"
    exit: 1
    --- stderr
    error: int4 does not hold the integers, shifted or not
      - they go from -100 to 99
      - int4: the values need 200 codes, and it has 16
    ");
    let (array, _) = best(&sandbox, "i.zarr --to int32");
    assert_eq!(
        array["notes"],
        json!(["int32 is wider than int16: nothing is gained by it"])
    );
}

#[test]
fn float16_data_are_packed_or_refused_for_a_true_reason() {
    let sandbox = Sandbox::new();
    // Tenths from 0 to 29.9, as float16 has them: 300 codes.
    let bits = |value: f64| half::f16::from_f64(value).to_le_bytes().to_vec();
    let tenths: Vec<_> = (0..300).map(|k| bits(f64::from(k) / 10.0)).collect();
    one_chunk(&sandbox, "t.zarr", "float16", json!(0.0), &tenths);
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --lossless"), @"
    exit: 1
    --- stderr
    error: the step of the values takes more codes than a type has that is narrower than theirs
      - the power of two that divides them all is 2^-13: 244993 codes
      - the decimal step that divides them all is 0.1: 300 codes
      - float16 -> scale_offset (scale 8) -> cast_value uint8: 240 values come back changed
    hint: --max-error 0.05078125 can be had with uint8
    ");
    let (_, candidate) = best(&sandbox, "t.zarr --to int16");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
    let (_, candidate) = best(&sandbox, "t.zarr --to int32");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
    one_chunk(&sandbox, "f.zarr", "float16", json!(0.0), &tenths[..256]);
    let (_, candidate) = best(&sandbox, "f.zarr --lossless");
    assert_eq!(candidate["scale"], 10);
    assert_eq!(candidate["measured"]["max_error"], 0.0);
    // Offsets far away would cost digits.
    let wide: Vec<_> = (0..3000)
        .map(|k| bits(f64::from(k * 40 - 60_000)))
        .collect();
    one_chunk(&sandbox, "w.zarr", "float16", json!(0.0), &wide);
    let (_, candidate) = best(&sandbox, "w.zarr --max-error 100");
    let offset = candidate["offset"].as_f64().unwrap_or(0.0);
    assert!(offset.abs() <= 200_000.0, "{candidate}");
}

#[test]
fn small_types_are_proposed_where_they_are_let_in_and_said_to_have_few_readers() {
    let sandbox = Sandbox::new();
    let values = floats(spread(0.0, 7.0, 1000));
    one_chunk(&sandbox, "t.zarr", "float32", json!(0.0), &values);
    let (array, candidate) = best(&sandbox, "t.zarr --max-error 0.5 --types all");
    assert!(candidate["data_type"].as_str().unwrap().ends_with("int4"));
    let note = array["notes"][0].as_str().unwrap();
    assert!(
        note.starts_with(
            "zarr-python 3.4.2 does not open this: it has no data types of less than 8 bits"
        ),
        "{note}"
    );
    let (array, candidate) = best(&sandbox, "t.zarr --max-error 0.5");
    assert!(candidate["data_type"].as_str().unwrap().ends_with("int8"));
    assert_eq!(array["notes"], json!([]));
    // Narrower floats are for relative errors.
    let values = (0..1000).map(|k| 10_f32.powf(k as f32 / 100.0 - 5.0));
    one_chunk(&sandbox, "r.zarr", "float32", json!(0.0), &floats(values));
    let (_, candidate) = best(&sandbox, "r.zarr --relative-error 0.01 --types all");
    assert_eq!(candidate["data_type"], "float16");
    assert!(
        candidate["measured"]["max_relative_error"]
            .as_f64()
            .unwrap()
            <= 0.01
    );
    // Without an error nothing says that they are precise enough.
    let (array, _) = best(&sandbox, "r.zarr --bits 8 --types all");
    for candidate in array["candidates"].as_array().unwrap() {
        assert!(candidate["data_type"].as_str().unwrap().ends_with("int8"));
    }
}

#[test]
fn an_unsound_array_is_refused_and_the_others_get_their_proposals() {
    let sandbox = Sandbox::new();
    let root = sandbox.path().join("h.zarr");
    group(&root);
    let values = floats(spread(0.0, 1.0, 100));
    for name in ["a", "b", "c"] {
        write(&root.join(name), "float32", json!("NaN"), 100, &values);
    }
    fs::write(root.join("b/zarr.json"), "{").unwrap();
    let document = fs::read_to_string(root.join("c/zarr.json")).unwrap();
    let unknown = document.replace("\"bytes\"", "\"unheard-of\"");
    fs::write(root.join("c/zarr.json"), unknown).unwrap();
    let run = |expected| {
        let outcome = sandbox.run("suggest-params h.zarr --max-error 0.01 --format json");
        assert_eq!(outcome.exit, Some(expected), "{outcome}");
        let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(plan["arrays"].as_array().unwrap().len(), 1);
        assert_eq!(plan["arrays"][0]["path"], "a");
        plan["refused"].as_array().unwrap().clone()
    };
    let paths = |refused: &[Value]| {
        let paths = refused
            .iter()
            .map(|one| one["path"].as_str().unwrap().to_owned());
        paths.collect::<Vec<_>>()
    };
    let refused = run(1);
    assert_eq!(paths(&refused), ["b", "c"]);
    assert_eq!(refused[0]["input"], "h.zarr");
    assert_eq!(refused[0]["message"], "its metadata cannot be relied upon");
    assert!(
        refused[0]["details"][0]
            .as_str()
            .unwrap()
            .contains("zarr.json")
    );
    assert!(refused[1]["details"].to_string().contains("unheard-of"));
    // What cannot be read at all is another matter.
    fs::remove_file(root.join("b/zarr.json")).unwrap();
    fs::create_dir(root.join("b/zarr.json")).unwrap();
    let refused = run(3);
    assert!(paths(&refused).contains(&"b".to_owned()), "{refused:?}");
    // Nobody asks for these.
    let outcome = sandbox.run("suggest-params h.zarr --array a --max-error 0.01");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
}

#[test]
fn one_proposal_serves_those_of_several_inputs_that_can_be_read() {
    let sandbox = Sandbox::new();
    for (name, low) in [("a.zarr", 0.0), ("b.zarr", 10.0), ("c.zarr", 20.0)] {
        let values = floats(spread(low, low + 5.0, 300));
        write(
            &sandbox.path().join(name),
            "float32",
            json!("NaN"),
            100,
            &values,
        );
    }
    fs::write(sandbox.path().join("b.zarr/c/1"), b"short").unwrap();
    let run = |arguments: &str, expected| {
        let outcome = sandbox.run(&format!("suggest-params {arguments} --format json"));
        assert_eq!(outcome.exit, Some(expected), "{outcome}");
        serde_json::from_str::<Value>(&outcome.stdout).unwrap()
    };
    let plan = run("a.zarr b.zarr c.zarr --common --max-error 0.05", 1);
    assert_eq!(plan["refused"][0]["input"], "b.zarr");
    assert!(plan["refused"][0]["details"].to_string().contains("c/1"));
    let array = &plan["arrays"][0];
    assert_eq!(
        (&array["seen"]["low"], &array["seen"]["high"]),
        (&json!(0.0), &json!(25.0))
    );
    let by_array = array["candidates"][0]["by_array"].as_array().unwrap();
    let named: Vec<_> = by_array
        .iter()
        .map(|one| {
            (
                one["input"].as_str().unwrap(),
                one["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(named, [("a.zarr", ""), ("c.zarr", "")]);
    assert_eq!(by_array[0]["measured"]["values"], 300);
    let plan = run("a.zarr nowhere.zarr --common --max-error 0.05", 3);
    assert_eq!(plan["refused"][0]["input"], "nowhere.zarr");
    assert_eq!(plan["arrays"][0]["seen"]["high"], 5.0);
}

#[test]
fn what_is_no_quantity_is_left_out_unless_it_is_asked_for() {
    let sandbox = Sandbox::new();
    let root = sandbox.path().join("h.zarr");
    group(&root);
    let values = floats(spread(0.0, 9.0, 100));
    let with = |name: &str, more: Value| {
        write_with(
            &root.join(name),
            "float32",
            json!("NaN"),
            100,
            &values,
            more,
        );
    };
    with(
        "t",
        json!({"attributes": {"coordinates": "lat", "bounds": "t_bounds"}}),
    );
    with("x", json!({"dimension_names": ["x"]}));
    with("lat", json!({}));
    with("t_bounds", json!({}));
    with("kind", json!({"attributes": {"flag_values": [0, 1]}}));
    let bools: Vec<_> = (0..100).map(|n| vec![n % 2]).collect();
    write(&root.join("mask"), "bool", json!(false), 100, &bools);
    let outcome = sandbox.run("suggest-params h.zarr --max-error 0.05 --format json");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    let plan: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(plan["arrays"].as_array().unwrap().len(), 1);
    assert_eq!(plan["arrays"][0]["path"], "t");
    insta::assert_snapshot!(outcome.stderr, @"left out: kind (labels), lat (a coordinate), mask (no real numbers), t_bounds (a coordinate), x (a coordinate); --array selects them");
    let chosen = crate::suggest_params::plan(&sandbox, "h.zarr --array lat --max-error 0.05");
    assert_eq!(chosen["arrays"][0]["path"], "lat");
    // An array that is INPUT was asked for.
    let (array, _) = best(&sandbox, "h.zarr/x --max-error 0.05");
    assert_eq!(array["path"], "");
    let (array, _) = best(&sandbox, "h.zarr/kind --max-error 0.05");
    assert_eq!(array["path"], "");
    let outcome = refused(&sandbox, "h.zarr/mask --max-error 0.05");
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: bool is no type of real numbers, and is not packed
    ");
}

#[test]
fn odd_data_get_a_proposal_or_a_true_reason() {
    let sandbox = Sandbox::new();
    let store = |name: &'static str, values: &[f32]| {
        one_chunk(
            &sandbox,
            name,
            "float32",
            json!("NaN"),
            &floats(values.iter().copied()),
        )
    };
    // Nothing but one value, and one value and NaN.
    for (name, values) in [
        ("one.zarr", vec![1e30; 5]),
        ("nan.zarr", vec![1e30, f32::NAN]),
    ] {
        let store = store(name, &values);
        let (array, candidate) = best(&sandbox, &format!("{store} --lossless"));
        assert_eq!(array["codecs"][0]["configuration"], json!({"offset": 1e30}));
        assert_eq!(candidate["data_type"], "int8");
    }
    // Below the least normal number a scale is beyond float32, and float64 is scaled in.
    let tiny = store("tiny.zarr", &[1e-40, 3e-45, 2e-39, 0.0]);
    let (_, candidate) = best(&sandbox, &format!("{tiny} --max-error 1e-41"));
    assert!(candidate["measured"]["max_error"].as_f64().unwrap() <= 1e-41);
    let least = doubles([5e-324, 1e-310, 0.0]);
    one_chunk(&sandbox, "least.zarr", "float64", json!(0.0), &least);
    insta::assert_snapshot!(refused(&sandbox, "least.zarr --to int16"), @"
    exit: 1
    --- stderr
    error: int16 cannot hold values from 0 to 1e-310 as asked for
      - no scale of float64 is large enough to make whole numbers of them
    ");
    let huge = store("huge.zarr", &[-3.4e38, 0.0, 1.7e38, 3.4e38]);
    let (_, candidate) = best(&sandbox, &format!("{huge} --max-error 1e35"));
    assert_eq!(candidate["data_type"], "int16");
    insta::assert_snapshot!(refused(&sandbox, &format!("{huge} --decimals 2")), @"
    exit: 1
    --- stderr
    error: no type can keep 2 decimals of every value
      - float32 -> scale_offset (scale 4.9303807e-32) -> cast_value int32 [NaN<->-2147483648]: the largest error is 0
      - int8: the values need 6.8e40 codes, and it has 255, one being kept for what is missing
      - int16: the values need 6.8e40 codes, and it has 65535, one being kept for what is missing
      - int32: the values need 6.8e40 codes, and it has 4294967295, one being kept for what is missing
    hint: --max-error 0 can be had with int32
    ");
    let zeros = store("zeros.zarr", &[-0.0, 0.0, 1.0, 2.0]);
    insta::assert_snapshot!(refused(&sandbox, &format!("{zeros} --lossless")), @"
    exit: 1
    --- stderr
    error: 1 zeros are negative, which integers cannot tell from positive ones; all other values come back exactly
      - float32 -> cast_value int8 [NaN<->-128]: 1 values come back changed
      - float32 -> cast_value uint8 [NaN<->255]: 1 values come back changed
      - float32 -> cast_value int16 [NaN<->-32768]: 1 values come back changed
    hint: --max-error 0 can be had with int8
    ");
    let (array, _) = best(&sandbox, &format!("{zeros} --max-error 0"));
    assert!(
        array["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("1 zeros are negative")
    );
    let infinite = store(
        "infinite.zarr",
        &[f32::INFINITY, f32::NEG_INFINITY, 1.5, 2.0],
    );
    let (_, candidate) = best(&sandbox, &format!("{infinite} --lossless"));
    assert_eq!(sentinels(&candidate).len(), 3);
    insta::assert_snapshot!(
        refused(&sandbox, &format!("{huge} --max-error 1e35 --keep-exact 1e39")),
        @"
    exit: 1
    --- stderr
    error: 1e39 is no value of float32
    hint: the array must hold a value for it to be kept, or to end a range
    "
    );
    // No dimension, and no elements.
    let scalar = json!({"shape": [], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}});
    let place = sandbox.path().join("scalar.zarr");
    write_with(&place, "float32", json!("NaN"), 1, &floats([3.5]), scalar);
    fs::remove_dir_all(place.join("c")).unwrap();
    fs::write(place.join("c"), 3.5_f32.to_le_bytes()).unwrap();
    let (array, candidate) = best(&sandbox, "scalar.zarr --max-error 0.1");
    assert_eq!(array["seen"]["values"], 1);
    assert_eq!(candidate["offset"], 3.5);
    let place = sandbox.path().join("empty.zarr");
    write_with(
        &place,
        "float32",
        json!(0.0),
        1,
        &floats([0.0]),
        json!({"shape": [0]}),
    );
    fs::remove_dir_all(place.join("c")).unwrap();
    insta::assert_snapshot!(refused(&sandbox, "empty.zarr --max-error 0.1"), @"
    exit: 1
    --- stderr
    error: the data hold no finite value to choose parameters by
      - no chunk is stored, or the array is empty
    hint: --range MIN MAX plans for values that are yet to come
    ");
}

#[test]
fn refusals_measure_what_could_be_had_instead() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 3000));
    one_chunk(&sandbox, "t.zarr", "float32", json!("NaN"), &values);
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --max-error 1e-9 --to int16"), @"
    exit: 1
    --- stderr
    error: the values have no step that would let a type narrower than float32 hold them exactly
      - the power of two that divides them all is 2^-16: 9830401 codes
      - the decimal step that divides them all is 0.00001: 15000001 codes
      - neighbouring values of float32 are up to 0.000030517578125 apart, so within 1e-9 there is only the value itself
      - float32 -> scale_offset (offset 255, scale 435) -> cast_value int16 [NaN<->-32768]: the largest error is 0.00115966796875
      - int16: the values need 75000000001 codes, and it has 65535, one being kept for what is missing
    hint: --max-error 0.00115966796875 can be had with int16
    ");
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --decimals 12"), @"
    exit: 1
    --- stderr
    error: no type can keep 12 decimals of every value
      - float32 -> scale_offset (scale 65536) -> cast_value int32 [NaN<->-2147483648]: the largest error is 0
      - int8: the values need 150000000000001 codes, and it has 255, one being kept for what is missing
      - int16: the values need 150000000000001 codes, and it has 65535, one being kept for what is missing
      - int32: the values need 150000000000001 codes, and it has 4294967295, one being kept for what is missing
    hint: --max-error 0 can be had with int32
    ");
    insta::assert_snapshot!(refused(&sandbox, "t.zarr --max-error 0.01 --offset 1e30"), @"
    exit: 1
    --- stderr
    error: no type with the offset 1e30 can hold values from 180 to 330 as asked for
      - int8: the values need 7501 codes, and it has 255, one being kept for what is missing
    ");
    insta::assert_snapshot!(
        refused(&sandbox, "t.zarr --max-error 0.01 --to int16 --missing 40000"),
        @"
    exit: 1
    --- stderr
    error: --missing 40000 is no code of the types that were tried, or leaves none for values
    hint: --missing auto keeps a code that no value uses
    "
    );
    // What is said to be had can be had.
    for (wish, rest) in [
        ("--max-error 1e-9", "--to int16"),
        ("--relative-error 1e-9", "--to int8"),
    ] {
        let outcome = refused(&sandbox, &format!("t.zarr {wish} {rest}"));
        let hint = outcome
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix("hint: "))
            .unwrap();
        let (had, _) = hint.split_once(" can be had with").unwrap();
        best(&sandbox, &format!("t.zarr {had} {rest}"));
    }
    // Half of the chunks read as a fill for which no type has room.
    let fill = json!(1.7e308);
    let values = spread(180.0, 330.0, 400).map(f64::from);
    write_half(
        &sandbox.path().join("f.zarr"),
        "float64",
        fill,
        &doubles(values),
    );
    let outcome = refused(&sandbox, "f.zarr --max-error 0.005");
    assert!(
        outcome.stderr.contains("read as the fill 1.7e308"),
        "{outcome}"
    );
    assert!(!plan(&sandbox, "t.zarr --max-error 0.1")["arrays"][0]["reason"].is_null());
}

/// The signals that a process has handlers for, as Linux tells them.
#[cfg(target_os = "linux")]
fn heeds_signals(id: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap_or(0));
    let bit = |signal: u32| 1_u64 << (signal - 1);
    caught & bit(2) != 0 && caught & bit(15) != 0
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_run_and_leaves_nothing() {
    use std::process::{Command, Stdio};
    for (signal, exit) in [("-INT", 130), ("-TERM", 143)] {
        let sandbox = Sandbox::new();
        let mut run = Command::new(env!("CARGO_BIN_EXE_zarrpack"))
            .args("suggest-params --range 1 1000 --max-error 0.005 -j 1 --format json".split(' '))
            .current_dir(sandbox.path())
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !heeds_signals(run.id()) {
            assert!(
                run.try_wait().unwrap().is_none(),
                "it ended before it was asked to"
            );
            std::thread::yield_now();
        }
        let id = run.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &id])
                .status()
                .unwrap()
                .success()
        );
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(exit));
        assert_eq!(output.stdout, b"");
        assert_eq!(fs::read_dir(sandbox.path()).unwrap().count(), 0);
    }
}

/// A document of an array of float32 in one shard of inner chunks of 4.
fn in_a_shard(sandbox: &Sandbox, name: &str) {
    let path = sandbox.path().join(name).join("zarr.json");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    document["codecs"] = json!([{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [4], "codecs": [little], "index_codecs": [little]}}]);
    fs::write(&path, document.to_string()).unwrap();
}

#[test]
fn what_is_rounded_does_not_become_a_value_that_is_declared_to_be_missing() {
    let sandbox = Sandbox::new();
    let values = floats(spread(0.0001, 1.0, 999).chain([0.0; 7]));
    let more = json!({"attributes": {"missing_value": 0.0}});
    let place = sandbox.path().join("r.zarr");
    write_with(&place, "float32", json!("NaN"), 1006, &values, more);
    for wish in ["--max-error 0.005", "--decimals 2", "--to int8"] {
        let (_, candidate) = best(&sandbox, &format!("r.zarr {wish}"));
        assert_eq!(candidate["measured"]["lost"], 0, "{wish}");
        let own = sentinels(&candidate);
        assert!(
            own.iter().any(|(value, _)| value.as_f64() == Some(0.0)),
            "{own:?}"
        );
        let encode = format!("suggest-params r.zarr {wish} --format json");
        let plan = sandbox.run(&encode);
        fs::write(sandbox.path().join("plan.json"), &plan.stdout).unwrap();
        let packed = sandbox.run("encode r.zarr p.zarr --params plan.json");
        assert_eq!(packed.exit, Some(0), "{packed}");
        fs::remove_dir_all(sandbox.path().join("p.zarr")).unwrap();
    }
    // Asked for by name, the grid that has it is refused.
    let said = refused(&sandbox, "r.zarr --scale 100 --offset 0").to_string();
    assert!(said.contains("declared to be missing"), "{said}");
}

#[test]
fn in_shards_zero_has_a_code_where_a_reader_tries_it() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 3000));
    one_chunk(&sandbox, "s.zarr", "float32", json!("NaN"), &values);
    let (_, plain) = best(&sandbox, "s.zarr --max-error 0.0022");
    assert_eq!(sentinels(&plain).len(), 1);
    let (_, wanted) = best(
        &sandbox,
        "s.zarr --max-error 0.0022 --scale 400 --offset 250",
    );
    assert_eq!(sentinels(&wanted).len(), 1);
    let mut shard: Vec<u8> = values.concat();
    for n in 0..750_u64 {
        shard.extend((n * 16).to_le_bytes());
        shard.extend(16_u64.to_le_bytes());
    }
    in_a_shard(&sandbox, "s.zarr");
    fs::write(sandbox.path().join("s.zarr/c/0"), shard).unwrap();
    let (array, sharded) = best(
        &sandbox,
        "s.zarr --max-error 0.0022 --scale 400 --offset 250",
    );
    assert_eq!(sentinels(&sharded)[1].0.as_f64(), Some(0.0));
    assert_eq!(array["notes"], json!([]));
}

#[test]
fn integers_that_a_float_type_changes_are_refused() {
    let sandbox = Sandbox::new();
    let values: Vec<_> = [680_457_605_u32, 5, 3_941_339_347]
        .map(|x| x.to_le_bytes().to_vec())
        .to_vec();
    for fill in [0_u32, 3_941_339_347] {
        one_chunk(&sandbox, "u.zarr", "uint32", json!(fill), &values);
        let said = refused(&sandbox, "u.zarr --to float32").to_string();
        assert!(said.contains("float32"), "{said}");
        fs::remove_dir_all(sandbox.path().join("u.zarr")).unwrap();
    }
}

#[test]
fn attributes_of_cf_mask_nothing_that_is_a_value_and_compare_wide_integers_exactly() {
    let sandbox = Sandbox::new();
    let values = floats(spread(10.0, 20.0, 1000).chain([-9999.0; 50]));
    one_chunk(&sandbox, "f.zarr", "float32", json!(-9999.0), &values);
    let (array, _) = best(&sandbox, "f.zarr --max-error 0.05");
    assert_eq!(array["cf"], Value::Null);

    let values: Vec<_> = [-9_042_586_559_582_950_081_i64, -9_042_586_559_582_950_080]
        .map(|x| x.to_le_bytes().to_vec())
        .to_vec();
    one_chunk(
        &sandbox,
        "w.zarr",
        "int64",
        json!(-9_042_586_559_582_950_081_i64),
        &values,
    );
    let (array, candidate) = best(&sandbox, "w.zarr --max-error 0 --headroom 1");
    assert_eq!(candidate["measured"]["max_error"], 0.0);
    assert_eq!(array["cf"]["exact"], false, "{}", array["cf"]);
}

#[test]
fn the_range_that_holds_leaves_out_codes_that_are_kept() {
    let sandbox = Sandbox::new();
    let values = floats((0..500).map(|k| k as f32));
    one_chunk(&sandbox, "h.zarr", "float32", json!("NaN"), &values);
    let (_, candidate) = best(&sandbox, "h.zarr --scale 100 --offset 0 --to uint16");
    let high = candidate["holds_high"].as_f64().unwrap();
    assert!((655.33..655.346).contains(&high), "{high}");
}

#[test]
fn without_a_code_for_nan_the_fill_is_another() {
    let sandbox = Sandbox::new();
    let values = floats(spread(180.0, 330.0, 1000));
    one_chunk(&sandbox, "n.zarr", "float32", json!("NaN"), &values);
    let (array, candidate) = best(&sandbox, "n.zarr --max-error 1 --missing none");
    assert_eq!(sentinels(&candidate), []);
    assert!(array["fill_value"].is_number(), "{}", array["fill_value"]);
}

#[test]
fn the_index_of_a_shard_counts_beyond_the_edge_and_chunks_of_fill_count_nothing() {
    let sandbox = Sandbox::new();
    // One shard of 750 inner chunks, of which the array reaches into the first.
    let values = floats((0..4).map(|k| k as f32));
    let place = sandbox.path().join("s.zarr");
    write(&place, "float32", json!(5.0), 3000, &values);
    in_a_shard(&sandbox, "s.zarr");
    let mut shard: Vec<u8> = values.concat();
    shard.extend(0_u64.to_le_bytes());
    shard.extend(16_u64.to_le_bytes());
    shard.resize(16 + 750 * 16, 0xff);
    fs::write(place.join("c/0"), shard).unwrap();
    let (_, candidate) = best(&sandbox, "s.zarr --to int8");
    let bytes = candidate["stored_bytes"].as_u64().unwrap();
    assert!((750 * 16..750 * 16 + 50).contains(&bytes), "{bytes}");

    one_chunk(&sandbox, "f.zarr", "float32", json!(5.0), &floats([5.0; 4]));
    let (_, candidate) = best(&sandbox, "f.zarr --to int8");
    assert_eq!(candidate["stored_bytes"], 0);
}

#[test]
fn a_type_that_nobody_knows_is_called_so_and_broken_metadata_has_a_document() {
    let sandbox = Sandbox::new();
    let place = sandbox.path().join("g.zarr");
    group(&place);
    for (name, data_type) in [("a", "float32"), ("b", "float31")] {
        let values = floats(spread(0.0, 1.0, 100));
        write(&place.join(name), data_type, json!(0), 100, &values);
    }
    let outcome = sandbox.run("suggest-params g.zarr --max-error 0.01");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    let said = outcome.to_string();
    assert!(
        said.contains(r#"b (its type, "float31", is not known)"#),
        "{said}"
    );

    fs::create_dir(sandbox.path().join("x.zarr")).unwrap();
    fs::write(sandbox.path().join("x.zarr/zarr.json"), "{").unwrap();
    let outcome = sandbox.run("suggest-params x.zarr --max-error 0.01 --format json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(document["arrays"], json!([]));
    assert_eq!(document["refused"].as_array().unwrap().len(), 1);
}

#[test]
fn an_input_that_is_not_there_is_not_called_unsound() {
    let sandbox = Sandbox::new();
    one_chunk(&sandbox, "t.zarr", "float32", json!(0), &floats([0.0, 1.0]));
    let outcome = sandbox.run("suggest-params t.zarr none.zarr --common --max-error 0.1");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    let said = outcome.to_string();
    assert!(said.contains("it cannot be read"), "{said}");
    assert!(!said.contains("relied upon"), "{said}");
}

#[test]
fn room_beside_the_values_is_not_taken_for_them() {
    let sandbox = Sandbox::new();
    one_chunk(
        &sandbox,
        "t.zarr",
        "float32",
        json!(0),
        &floats(spread(180.0, 330.0, 50)),
    );
    let said = refused(&sandbox, "t.zarr --max-error 0.01 --headroom 1e30").to_string();
    assert!(said.contains("--headroom 1e30 values go from"), "{said}");
}

#[test]
fn the_table_fits_into_narrow_terminals() {
    let sandbox = Sandbox::new().set("COLUMNS", "80");
    one_chunk(
        &sandbox,
        "t.zarr",
        "float32",
        json!("NaN"),
        &floats(spread(180.0, 330.0, 500)),
    );
    let outcome = sandbox.run("suggest-params t.zarr --max-error 0.005");
    let head = outcome
        .stdout
        .lines()
        .find(|line| line.contains("CHAIN"))
        .unwrap();
    assert!(
        head.contains("MAX ERROR") && !head.contains("BIAS"),
        "{head}"
    );
    let codecs = |line: &&str| line.contains("[{");
    let longest = outcome
        .stdout
        .lines()
        .filter(|line| !codecs(line))
        .map(str::len)
        .max();
    assert!(longest <= Some(80), "{outcome}");
}

#[test]
fn codes_in_use_include_those_of_declared_values_on_the_grid() {
    let sandbox = Sandbox::new();
    let values = floats((0..101).map(|k| k as f32).chain([-50.0; 3]));
    let more = json!({"attributes": {"missing_value": -50.0}});
    let place = sandbox.path().join("t.zarr");
    write_with(&place, "float32", json!("NaN"), 104, &values, more);
    let (_, candidate) = best(&sandbox, "t.zarr --lossless");
    assert_eq!(candidate["data_type"], "int8");
    // 0 to 100, -50 and NaN.
    assert_eq!(candidate["codes_used"], 103);
}
