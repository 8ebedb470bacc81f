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
    error: / holds integers with scale_factor: they are packed already, and would be packed once more
    hint: --values stored keeps them as codes, with --scale for the reciprocal of scale_factor and --dtype; decode --cf unpacks them
    hint: --values logical packs the integers themselves; --array '!...' leaves the array out
    ");
    succeeds(&sandbox.run("encode in.zarr out.zarr --to int8 --values logical"));
    assert_eq!(values(&sandbox, "out.zarr"), ["0", "7", "100"]);
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
