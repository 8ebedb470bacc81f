//! `zarrpack encode` where something is lost, or could be: what stands in for values, what is missing, what is counted.

use serde_json::{Value, json};

use crate::encode_stores::{floats, plain, values, with_floats, write_array};
use crate::harness::Sandbox;
use crate::stores::succeeds;

/// The report of an array that was packed on its own.
fn report(sandbox: &Sandbox, command: &str) -> Value {
    let outcome = sandbox.run(&format!("{command} --overwrite --format json"));
    succeeds(&outcome);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["arrays"][0].clone()
}

/// A sandbox with an array `in.zarr` of int16 in one chunk, with attributes.
fn with_codes(codes: &[i16], data_type: &str, attributes: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut document = plain(
        data_type,
        &[codes.len() as u64],
        &[codes.len() as u64],
        json!(1),
    );
    document["attributes"] = attributes.clone();
    let bytes: Vec<u8> = match data_type {
        "int16" => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
        _ => codes.iter().map(|code| *code as u8).collect(),
    };
    write_array(
        &sandbox.path().join("in.zarr"),
        &document,
        &[("c/0", bytes)],
    );
    sandbox
}

#[test]
fn a_value_whose_loss_is_allowed_never_becomes_missing() {
    let infinite = f32::INFINITY;
    // With a fill of NaN, with NaN in the data, with a code for NaN that was chosen, with infinities.
    let cases = [
        (vec![1.0, -400.0, 3.0, 400.0], json!("NaN"), ""),
        (vec![1.0, -400.0, 400.0, f32::NAN], json!(0.0), ""),
        (
            vec![1.0, -400.0, 400.0, f32::NAN],
            json!(0.0),
            "--missing -32768",
        ),
        (vec![1.0, -infinite, infinite, f32::NAN], json!(0.0), ""),
    ];
    for (given, fill, flags) in cases {
        let sandbox = with_floats(&given, fill);
        let report = report(
            &sandbox,
            &format!(
                "encode in.zarr out.zarr --scale 100 --to int16 {flags} --allow-loss out-of-range --allow-loss infinity"
            ),
        );
        assert_eq!(report["losses"][0]["count"], 2, "{given:?}");
        let expected: Vec<_> = given
            .iter()
            .map(|value| match value {
                value if value.is_nan() => "\"NaN\"".to_owned(),
                value if *value < -327.0 => "-327.67".to_owned(),
                value if *value > 327.0 => "327.67".to_owned(),
                value => format!("{value:?}"),
            })
            .collect();
        assert_eq!(values(&sandbox, "out.zarr"), expected, "{flags}");
    }
}

#[test]
fn a_map_of_some_other_value_to_the_end_of_the_range_is_no_stand_in() {
    let sandbox = with_floats(&[1.0, 400.0, -9999.0, 2.0], json!(0.0));
    succeeds(&sandbox.run(
        "encode in.zarr out.zarr --scale 100 --to int16 --map -999900=32767 --allow-loss out-of-range",
    ));
    assert_eq!(
        values(&sandbox, "out.zarr"),
        ["1.0", "327.66", "-9999.0", "2.0"]
    );
}

#[test]
fn every_code_that_the_attributes_call_missing_becomes_nan() {
    let cases = [
        (
            json!({"_FillValue": 0, "missing_value": 7}),
            vec![0, 7],
            "int16",
        ),
        (json!({"missing_value": [7, 8]}), vec![7, 8], "int16"),
        (json!({"_FillValue": "7"}), vec![7], "int16"),
        (
            json!({"_FillValue": -1, "_Unsigned": "true"}),
            vec![-1],
            "int8",
        ),
        (
            json!({"_FillValue": 255, "_Unsigned": "true"}),
            vec![-1],
            "int8",
        ),
        (json!({"scale_factor": 0.1}), vec![], "int16"),
    ];
    let codes = [0, 7, 8, -1, 100];
    for (attributes, missing, data_type) in cases {
        let sandbox = with_codes(&codes, data_type, &attributes);
        let unsigned = attributes.get("_Unsigned").is_some();
        let to = if unsigned { "uint8" } else { data_type };
        let command =
            format!("encode in.zarr out.zarr --values stored --dtype float32 --scale 10 --to {to}");
        let report = report(&sandbox, &command);
        assert_eq!(report["values"]["nan"], missing.len(), "{attributes}");
        let expected: Vec<_> = codes
            .iter()
            .map(|code| match code {
                code if missing.contains(code) => "\"NaN\"".to_owned(),
                -1 if unsigned => "25.5".to_owned(),
                code => format!("{:?}", f32::from(*code) / 10.0),
            })
            .collect();
        assert_eq!(values(&sandbox, "out.zarr"), expected, "{attributes}");
    }
}

#[test]
fn codes_for_missing_that_cannot_be_are_refused_and_so_is_a_chain_that_takes_them_for_values() {
    for attributes in [json!({"_FillValue": 7.5}), json!({"missing_value": 99999})] {
        let sandbox = with_codes(&[0, 7, 8], "int16", &attributes);
        let outcome = sandbox
            .run("encode in.zarr out.zarr --values stored --dtype float32 --scale 10 --to int16");
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        assert!(
            outcome.stderr.contains("expected a value of int16"),
            "{outcome}"
        );
        assert!(!sandbox.path().join("out.zarr").exists());
    }
    let sandbox = with_codes(&[0, 7, 8], "int16", &json!({"_FillValue": 7}));
    let chain = r#"[{"name":"cast_value","configuration":{"data_type":"int16"}}]"#;
    std::fs::write(sandbox.path().join("chain.json"), chain).unwrap();
    let command = "encode in.zarr out.zarr --values stored --dtype float32 --codecs @chain.json";
    insta::assert_snapshot!(sandbox.run(command), @"
    exit: 1
    --- stderr
    error: /: _FillValue says that the code 7 is missing, and the chain decodes it to 7.0
    hint: decode it to NaN with a map, such as --map NaN=7; --missing none takes it for a value
    ");
    succeeds(&sandbox.run(&format!("{command} --missing none")));
    assert_eq!(values(&sandbox, "out.zarr"), ["0.0", "7.0", "8.0"]);
}

#[test]
fn codes_for_missing_stay_where_no_value_is_nan_and_limits_are_decoded() {
    let attributes = json!({"_FillValue": -9, "valid_min": 0, "valid_max": 8, "valid_range": [0, 8], "scale_factor": -1});
    let sandbox = with_codes(&[0, 7, -9], "int16", &attributes);
    succeeds(
        &sandbox.run("encode in.zarr out.zarr --values stored --dtype int32 --scale -1 --to int16"),
    );
    assert_eq!(values(&sandbox, "out.zarr"), ["0", "-7", "9"]);
    let text = std::fs::read_to_string(sandbox.path().join("out.zarr/zarr.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let expected =
        json!({"_FillValue": 9, "valid_min": -8, "valid_max": 0, "valid_range": [-8, 0]});
    assert_eq!(document["attributes"], expected);
}

#[test]
fn integers_that_are_packed_already_are_not_packed_once_more_unless_asked_for() {
    let sandbox = with_codes(&[0, 7, 100], "int16", &json!({"scale_factor": 0.02}));
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --to int8"), @"
    exit: 2
    --- stderr
    error: / holds integers with scale_factor: they are codes, and would be packed once more
    hint: --values stored keeps them as codes, with --scale for the reciprocal of scale_factor and --dtype; decode --cf unpacks them
    hint: --values logical packs the integers themselves; --array '!...' leaves the array out
    ");
    succeeds(&sandbox.run("encode in.zarr out.zarr --to int8 --values logical"));
    assert_eq!(values(&sandbox, "out.zarr"), ["0", "7", "100"]);
    // In a hierarchy they stay as they are, unless they are named.
    let group = sandbox.path().join("group.zarr");
    std::fs::create_dir(&group).unwrap();
    let document = json!({"zarr_format": 3, "node_type": "group"});
    sandbox.file("group.zarr/zarr.json", document.to_string());
    std::fs::rename(sandbox.path().join("in.zarr"), group.join("packed")).unwrap();
    let document = plain("float32", &[1], &[1], json!(0.0));
    write_array(&group.join("t"), &document, &[("c/0", floats(&[1.0]))]);
    let outcome = sandbox.run("encode group.zarr packed.zarr --to int8");
    succeeds(&outcome);
    assert!(
        outcome.stdout.contains("copy     packed: packed already"),
        "{outcome}"
    );
    let outcome = sandbox.run("encode group.zarr again.zarr --to int8 --array packed");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn a_map_that_decoding_does_not_undo_loses_values() {
    let sandbox = with_floats(&[1.0, f32::NAN, -9999.0, f32::INFINITY], json!(1.0));
    let chain = json!([{"name": "cast_value", "configuration": {"data_type": "int16", "scalar_map": {
        "encode": [["NaN", 0], [-9999, -1], ["Infinity", 5]],
    }}}]);
    std::fs::write(sandbox.path().join("chain.json"), chain.to_string()).unwrap();
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --codecs @chain.json"), @"
    exit: 1
    --- stderr
    error: 1 array cannot be packed without loss; nothing was written
      - /: 1 NaN without a code; the first, in chunk [0] at [1], is NaN: a map gives it the code 0, which decodes to 0.0
      - /: 1 infinite value; the first, in chunk [1] at [3], is Infinity: a map gives it the code 5, which decodes to 5.0
      - /: 1 value on a code that stands for another; the first, in chunk [1] at [2], is -9999.0: a map gives it the code -1, which decodes to -1.0
    hint: scalar_map loses what it encodes unless decode has the pairs as well
    hint: --allow-loss nan --allow-loss infinity --allow-loss missing-code writes all the same
    ");
    succeeds(&sandbox.run(
        "encode in.zarr out.zarr --codecs @chain.json --allow-loss nan --allow-loss infinity --allow-loss missing-code",
    ));
    assert_eq!(values(&sandbox, "out.zarr"), ["1.0", "0.0", "-1.0", "5.0"]);
}

#[test]
fn what_stands_in_for_a_value_can_be_decoded() {
    let sandbox = Sandbox::new();
    let wide = [(1_i64 << 53) + 1, i64::MAX, i64::MIN, 5];
    let bytes = wide.iter().flat_map(|value| value.to_le_bytes()).collect();
    let document = plain("int64", &[4], &[4], json!(0));
    write_array(
        &sandbox.path().join("wide.zarr"),
        &document,
        &[("c/0", bytes)],
    );
    for verify in ["--verify", "--no-verify"] {
        let report = report(
            &sandbox,
            &format!(
                "encode wide.zarr out.zarr --to float64 --allow-loss digits --allow-loss out-of-range {verify}"
            ),
        );
        let count = |n: usize| {
            (
                report["losses"][n]["kind"].clone(),
                report["losses"][n]["count"].clone(),
            )
        };
        assert_eq!(count(0), (json!("out-of-range"), json!(1)));
        assert_eq!(count(1), (json!("digits"), json!(1)));
        assert_eq!(
            values(&sandbox, "out.zarr"),
            [
                "9007199254740992",
                "9223372036854774784",
                "-9223372036854775808",
                "5"
            ]
        );
    }
}

#[test]
fn errors_are_those_of_what_is_read_and_a_chunk_that_is_left_out_is_read_as_the_fill() {
    // (0 - 273.15) + 273.15 is no zero in float32.
    let sandbox = with_floats(&[0.0, 0.0, 0.0, 0.0], json!(0.0));
    let report = report(
        &sandbox,
        "encode in.zarr out.zarr --offset 273.15 --to float64 --allow-loss fill",
    );
    assert_eq!(report["errors"]["largest_absolute"], 0.0);
    assert_eq!(values(&sandbox, "out.zarr"), ["0.0"; 4]);
}

#[test]
fn a_value_is_counted_once_and_what_a_map_takes_is_not_clamped() {
    let sandbox = Sandbox::new();
    let document = plain("int32", &[1], &[1], json!(0));
    let bytes = i32::MAX.to_le_bytes().to_vec();
    write_array(
        &sandbox.path().join("one.zarr"),
        &document,
        &[("c/0", bytes)],
    );
    let report_of_one = report(
        &sandbox,
        "encode one.zarr out.zarr --scale 10 --to float32 --allow-loss out-of-range",
    );
    assert_eq!(report_of_one["losses"][0]["count"], 1);
    let sandbox = with_floats(&[1.0, -9999.0, 400.0, f32::NAN], json!(0.0));
    let clamped = report(
        &sandbox,
        "encode in.zarr out.zarr --scale 100 --to int16 --out-of-range clamp --map -999900=-32768",
    );
    assert_eq!(clamped["values"]["clamped"], 1);
    assert_eq!(clamped["values"]["mapped"], 2);
}

#[test]
fn the_first_example_is_the_first_by_its_place() {
    let sandbox = with_floats(&[0.4, 9.0, 72.0, 3.0], json!(3.0));
    let outcome =
        sandbox.run("encode in.zarr out.zarr --to uint8 --map 72=9 --missing 0 --format json");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let loss = &report["arrays"][0]["losses"][0];
    assert_eq!(
        (&loss["kind"], &loss["count"]),
        (&json!("missing-code"), &json!(2))
    );
    assert_eq!(loss["first"]["index"], json!([0]));
}

#[test]
fn a_fill_that_nobody_asked_for_takes_no_code() {
    let sandbox = Sandbox::new();
    let given = floats(&[3.0, f32::NAN]);
    let outcome = sandbox.run_with(
        "encode - out.zarr --dtype float32 --byte-order little --shape 2 --offset 3 --scale 100 --to int8"
            .split(' '),
        given,
    );
    succeeds(&outcome);
    assert!(outcome.stdout.contains("NaN as -128"), "{outcome}");
}

#[test]
fn numbers_beyond_a_range_are_told_in_full() {
    let sandbox = with_floats(&[1.0, 2_147_483_648.0], json!(0.0));
    let outcome = sandbox.run("encode in.zarr out.zarr --to int32");
    assert!(
        outcome
            .stderr
            .contains("2147483648 is out of the range of int32"),
        "{outcome}"
    );
}

/// A sandbox with `in.zarr` of int16, one code a chunk, some of which are missing.
fn with_gaps(codes: &[Option<i16>], fill: &Value, attributes: &Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let mut document = plain("int16", &[codes.len() as u64], &[1], fill.clone());
    document["attributes"] = attributes.clone();
    let keys: Vec<String> = (0..codes.len()).map(|n| format!("c/{n}")).collect();
    let chunks = codes.iter().zip(&keys).filter_map(|(code, key)| {
        let code = (*code)?;
        Some((key.as_str(), code.to_le_bytes().to_vec()))
    });
    let chunks: Vec<_> = chunks.collect();
    write_array(&sandbox.path().join("in.zarr"), &document, &chunks);
    sandbox
}

#[test]
fn missing_chunks_of_codes_keep_their_value_where_the_fill_changes() {
    let gaps = [Some(1), None, Some(5)];
    let command =
        "encode in.zarr out.zarr --values stored --dtype float64 --scale 2 --to int16 --overwrite";
    let sandbox = with_gaps(&gaps, &json!(3), &json!({"scale_factor": 0.5}));
    for flags in ["--fill-value 9.5", "--fill-value 9.5 --write-empty", ""] {
        succeeds(&sandbox.run(&format!("{command} {flags}")));
        assert_eq!(
            values(&sandbox, "out.zarr"),
            ["0.5", "1.5", "2.5"],
            "{flags}"
        );
    }
    let missing = with_gaps(&gaps, &json!(7), &json!({"_FillValue": 7}));
    for flags in ["--fill-value 9.5", "--fill-value NaN", ""] {
        succeeds(&missing.run(&format!("{command} {flags}")));
        assert_eq!(
            values(&missing, "out.zarr"),
            ["0.5", "\"NaN\"", "2.5"],
            "{flags}"
        );
    }
}

#[test]
fn missing_chunks_of_codes_without_a_fill_are_read_as_zeros() {
    let sandbox = Sandbox::new();
    let array = json!({
        "zarr_format": 2, "shape": [2], "chunks": [1], "dtype": "<i2", "compressor": null,
        "fill_value": null, "order": "C", "filters": null,
    });
    std::fs::create_dir(sandbox.path().join("in.zarr")).unwrap();
    sandbox.file("in.zarr/.zarray", array.to_string());
    sandbox.file(
        "in.zarr/.zattrs",
        json!({"scale_factor": 0.5, "add_offset": 1}).to_string(),
    );
    sandbox.file("in.zarr/0", 4_i16.to_le_bytes());
    succeeds(&sandbox.run(
        "encode in.zarr out.zarr --values stored --dtype float64 --scale 2 --offset 1 --to int16",
    ));
    assert_eq!(values(&sandbox, "out.zarr"), ["3.0", "1.0"]);
}

#[test]
fn a_zero_of_either_sign_meets_a_code_of_zero() {
    let cases: [(&[f32], &str); 4] = [
        (&[0.0, 2.0, f32::NAN], "--scale -1 --to float16 --map NaN=0"),
        (&[-0.0, 2.0, -9999.0], "--to float16 --map -9999=0"),
        (&[0.0, 2.0, f32::NAN], "--to float16 --map NaN=-0.0"),
        (&[-1e-9, 2.0, f32::NAN], "--to float16 --map NaN=0"),
    ];
    for (given, flags) in cases {
        let sandbox = with_floats(given, json!(2.0));
        let outcome = sandbox.run(&format!("encode in.zarr out.zarr {flags} --format json"));
        assert_eq!(outcome.exit, Some(1), "{outcome}");
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let loss = &report["arrays"][0]["losses"][0];
        assert_eq!(loss["kind"], "missing-code", "{flags}");
        assert_eq!(loss["first"]["index"], json!([0]), "{flags}");
    }
}

#[test]
fn integers_that_unsigned_makes_others_are_codes_too() {
    let sandbox = with_codes(&[-1, 2, 3], "int16", &json!({"_Unsigned": "true"}));
    let outcome = sandbox.run("encode in.zarr out.zarr --to int8");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("_Unsigned"), "{outcome}");
}

/// The attributes of `out.zarr`, once codes were encoded with some flags.
fn attributes_after(sandbox: &Sandbox, flags: &str) -> Value {
    succeeds(&sandbox.run(&format!(
        "encode in.zarr out.zarr --values stored {flags} --overwrite"
    )));
    let text = std::fs::read_to_string(sandbox.path().join("out.zarr/zarr.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    document["attributes"].clone()
}

#[test]
fn masks_of_integers_stay_in_every_spelling() {
    for (attributes, expected) in [
        (json!({"_FillValue": "5"}), json!({"_FillValue": 5})),
        (
            json!({"missing_value": ["5"]}),
            json!({"missing_value": [5]}),
        ),
        (
            json!({"missing_value": [5, 6.0]}),
            json!({"missing_value": [5, 6]}),
        ),
        (
            json!({"_Unsigned": "true", "missing_value": -128}),
            json!({"missing_value": 128}),
        ),
    ] {
        let unsigned = attributes.get("_Unsigned").is_some();
        let sandbox = with_codes(&[1, 5, 6], "int8", &attributes);
        let to = if unsigned { "uint8" } else { "int8" };
        let after = attributes_after(&sandbox, &format!("--dtype int32 --to {to}"));
        assert_eq!(after, expected, "{attributes}");
    }
}

#[test]
fn bounds_of_codes_become_those_of_values() {
    for (attributes, flags, expected) in [
        // One bound alone, and a scale that exchanges them.
        (
            json!({"valid_max": 2}),
            "--scale -2 --offset 1 --to int16",
            json!({"valid_min": 0.0}),
        ),
        (
            json!({"valid_min": 2, "valid_max": "x"}),
            "--scale -2 --offset 1 --to int16",
            json!({"valid_max": 0.0}),
        ),
        // A code that is missing says nothing of the direction.
        (
            json!({"_FillValue": 0, "valid_range": [1, 50], "valid_min": 1, "valid_max": 50, "_Unsigned": "true"}),
            "--scale -2 --offset 1 --to uint16",
            json!({"valid_range": [-24.0, 0.5], "valid_min": -24.0, "valid_max": 0.5}),
        ),
        // A bound may be the code for missing.
        (
            json!({"_FillValue": 255, "valid_range": [0, 255]}),
            "--scale 2 --to int16",
            json!({"valid_range": [0.0, 127.5]}),
        ),
    ] {
        let sandbox = with_codes(&[1, 5, 6], "int16", &attributes);
        let mut after = attributes_after(&sandbox, &format!("--dtype float32 {flags}"));
        // Text is no bound.
        if let Some(members) = after.as_object_mut() {
            members.retain(|_, value| value != "x");
        }
        assert_eq!(after, expected, "{attributes}");
    }
}

#[test]
fn a_chain_that_disagrees_with_the_attributes_is_refused() {
    let sandbox = with_codes(
        &[1, 5, 6],
        "int16",
        &json!({"scale_factor": 0.5, "add_offset": 10}),
    );
    insta::assert_snapshot!(
        sandbox.run("encode in.zarr out.zarr --values stored --dtype float32 --scale 0.5 --offset 10 --to int16"),
        @"
    exit: 2
    --- stderr
    error: /: the chain decodes the code 1 to 12.0, and its attributes to 10.5
    hint: --scale is the reciprocal of scale_factor, and --offset is add_offset
    "
    );
    for offset in ["10", "10.0000001"] {
        succeeds(&sandbox.run(&format!(
            "encode in.zarr out.zarr --values stored --dtype float32 --scale 2 --offset {offset} --to int16 --overwrite"
        )));
    }
}

#[test]
fn a_value_is_lost_in_one_way_only() {
    let map = |encode: Value, decode: Value| {
        json!([{"name": "cast_value", "configuration": {"data_type": "uint8",
            "scalar_map": {"encode": encode, "decode": decode}}}])
    };
    for (given, chain, kind) in [
        (f32::NAN, map(json!([["NaN", 0]]), json!([[0, 5.0]])), "nan"),
        (
            f32::INFINITY,
            map(json!([["Infinity", 0]]), json!([[0, 5.0]])),
            "infinity",
        ),
        (9.0, map(json!([[9, 100]]), json!([])), "missing-code"),
    ] {
        let sandbox = with_floats(&[given, 3.0], json!(3.0));
        sandbox.file("chain.json", chain.to_string());
        let report = report(
            &sandbox,
            &format!("encode in.zarr out.zarr --codecs @chain.json --allow-loss {kind}"),
        );
        assert_eq!(report["losses"].as_array().unwrap().len(), 1, "{chain}");
        assert_eq!(report["losses"][0]["count"], 1, "{chain}");
    }
    let sandbox = with_codes(&[0, 1], "int16", &json!({}));
    sandbox.file("chain.json", map(json!([[0, 100]]), json!([])).to_string());
    let report = report(
        &sandbox,
        "encode in.zarr out.zarr --codecs @chain.json --allow-loss missing-code",
    );
    assert_eq!(report["losses"].as_array().unwrap().len(), 1);
}

#[test]
fn a_map_that_a_later_cast_clamps_marks_no_code() {
    let sandbox = with_codes(&[300, 1], "int16", &json!({}));
    let chain = json!([
        {"name": "cast_value", "configuration": {"data_type": "int32",
            "scalar_map": {"decode": [[2_147_483_647_i64, -10000]]}}},
        {"name": "cast_value", "configuration": {"data_type": "int8", "out_of_range": "clamp"}},
    ]);
    sandbox.file("chain.json", chain.to_string());
    succeeds(&sandbox.run("encode in.zarr out.zarr --codecs @chain.json"));
    assert_eq!(values(&sandbox, "out.zarr"), ["127", "1"]);
}

#[test]
fn a_finite_value_that_overflows_on_its_way_is_out_of_range() {
    let sandbox = with_floats(&[1.0, 3e38], json!(1.0));
    let outcome = sandbox.run("encode in.zarr out.zarr --scale 1000 --to int16 --format json");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let losses = &report["arrays"][0]["losses"];
    assert_eq!(losses.as_array().unwrap().len(), 1);
    assert_eq!(losses[0]["kind"], "out-of-range");
}

#[test]
fn a_report_says_what_input_was_taken_for() {
    let sandbox = with_codes(&[1, 2], "int16", &json!({}));
    let command = "encode in.zarr out.zarr --to int16";
    assert_eq!(report(&sandbox, command)["input"], "values");
    let command = format!("{command} --values stored --dtype float32");
    assert_eq!(report(&sandbox, &command)["input"], "codes");
    let outcome = sandbox.run(&format!("{command} --overwrite"));
    assert!(
        outcome
            .stdout
            .contains("float32 as int16, the codes of INPUT as they are"),
        "{outcome}"
    );
}

#[test]
fn a_chain_without_codecs_is_refused() {
    let sandbox = with_floats(&[1.0, 2.0], json!(0.0));
    sandbox.file("chain.json", "[]");
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --codecs @chain.json"), @r#"
    exit: 2
    --- stderr
    error: the chain in "chain.json" for /, which holds float32, is empty
    hint: decode writes stores in which nothing is packed
    "#);
}

#[test]
fn a_chunk_beyond_the_memory_that_is_granted_is_warned_of_like_of_anything_else() {
    let sandbox = with_floats(&[1.0; 4096], json!(0.0));
    let outcome = sandbox.run(
        "encode in.zarr out.zarr --to int16 --chunks 4096 --compressor none --memory 1KiB --no-verify",
    );
    succeeds(&outcome);
    insta::assert_snapshot!(outcome.stderr, @"warning: chunks need 48.0 KiB of memory, more than the 1.0 KiB that --memory grants, and are processed one at a time");
}

#[test]
fn a_value_that_arithmetic_does_not_tell_from_a_kept_one_is_rounded_to_it_unless_that_is_missing() {
    // (1.1e-5 - 468.63467) * 0.271 is the same float32 as for 0.
    let sandbox = with_floats(&[1.1e-5, 0.5, 933.1293, 0.0], json!(0.0));
    let plan = sandbox.run("suggest-params in.zarr --to int8 --format json");
    assert_eq!(plan.exit, Some(0), "{plan}");
    sandbox.file("plan.json", &plan.stdout);
    succeeds(&sandbox.run("encode in.zarr out.zarr --params plan.json"));
    let chain = json!([
        {"name": "scale_offset", "configuration": {"offset": 9.95, "scale": 10}},
        {"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map":
            {"encode": [[-99.5, -126]], "decode": [[-126, -99.5]]}}},
    ]);
    let sandbox = with_floats(&[0.0, -2e-7, 5.0, 9.95], json!(9.95));
    sandbox.file("chain.json", chain.to_string());
    let report = report(&sandbox, "encode in.zarr out.zarr --codecs @chain.json");
    assert_eq!(report["values"]["mapped"], 1);
    let read = values(&sandbox, "out.zarr");
    assert_eq!((read[0].as_str(), read[1].as_str()), ("0.0", "0.0"));
    // The same where 0 is missing.
    let path = sandbox.path().join("in.zarr/zarr.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    document["attributes"] = json!({"missing_value": [7, 0.0]});
    std::fs::write(&path, document.to_string()).unwrap();
    let outcome = sandbox.run("encode in.zarr again.zarr --codecs @chain.json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    assert!(outcome.stderr.contains("stands for 0.0"), "{outcome}");
}
