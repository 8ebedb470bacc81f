//! Codes that are declared missing.

use super::*;
use crate::migration::outcome::FillOutcome;
use crate::migration::verdict::DecodeKind;
use DataType::*;

fn missing(code: &str) -> Options {
    Options {
        missing: Some(code.to_owned()),
        ..Options::default()
    }
}

/// Case C01.
fn masked() -> String {
    array("float64", "255", &fso("2", "0", "<f8", "|u1")).replace(
        r#""attributes": {"a": 1.50}"#,
        r#""attributes": {"_FillValue": 255, "a": 1.50, "missing_value": 255}"#,
    )
}

#[test]
fn the_code_becomes_nan_and_nan_the_fill() {
    let data = Data::of(UInt8, [1, 255, 199]).with_missing(2, 0);
    let plan = planned(&masked(), &missing("255"), &data);
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 2}}, {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap", "scalar_map": {"encode": [["NaN", 255]], "decode": [[255, "NaN"]]}}}]"#
    );
    assert!(plan.text.contains(r#""fill_value": "NaN""#));
    assert!(
        plan.text.contains(r#""attributes": {"a": 1.50}"#),
        "{}",
        plan.text
    );
    assert_eq!(plan.fill.outcome, FillOutcome::DeclaredMissing);
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    assert_eq!(plan.decode.differences.differing, 1);
    let declared = plan.decode.declared.unwrap();
    assert_eq!(declared.value.unwrap().to_f64(), 127.5);
    assert!(!declared.others_differ);
    let pointers: Vec<_> = plan
        .changes
        .iter()
        .map(|change| change.pointer.as_str())
        .collect();
    assert_eq!(
        pointers,
        [
            "/codecs",
            "/fill_value",
            "/attributes/_FillValue",
            "/attributes/missing_value"
        ]
    );
    insta::assert_snapshot!(plan.notes.join("\n"));
}

#[test]
fn another_missing_value_stays() {
    let text = masked().replace(r#""missing_value": 255"#, r#""missing_value": 254"#);
    let plan = planned(&text, &missing("255"), &Data::of(UInt8, [1]));
    assert!(
        plan.text
            .contains(r#""attributes": {"a": 1.50, "missing_value": 254}"#),
        "{}",
        plan.text
    );
}

#[test]
fn chunks_that_were_never_written_must_mean_missing_too() {
    let zero = masked().replace(r#""fill_value": 255"#, r#""fill_value": 0"#);
    let plan = planned(&zero, &missing("255"), &Data::of(UInt8, [1]));
    assert_eq!(plan.fill.outcome, FillOutcome::DeclaredMissing);
    let data = Data::of(UInt8, [1]).with_missing(2, 1);
    insta::assert_snapshot!(reasons(&zero, &missing("255"), &data));
    // 127.5 is what 255 decodes to.
    let decoded = masked().replace(r#""fill_value": 255"#, r#""fill_value": 127.5"#);
    planned(&decoded, &missing("255"), &data);
}

#[test]
fn integers_have_no_nan_and_some_chains_no_cast() {
    let mut found = String::new();
    for (data_type, dtype, astype, code) in [
        ("int32", "<i4", "|u1", "255"),
        ("float32", "<f4", "<f4", "255"),
        ("float32", "<f4", "|u1", "256"),
        ("float32", "<f4", "|u1", "25.5"),
        ("float64", "<f8", "<f4", "NaN"),
    ] {
        let text = array(data_type, "0", &fso("1", "0", dtype, astype));
        let line = reasons(&text, &missing(code), &Data::of(Float32, [1]));
        found.push_str(&format!("{line}\n"));
    }
    insta::assert_snapshot!(found);
}

#[test]
fn a_float_code_can_be_missing() {
    let text = array("float64", "0", &fso("10", "0", "<f8", "<f4"));
    let data = Data::of(Float32, [1, -9999]);
    let plan = planned(&text, &missing("-9999"), &data);
    assert!(
        plan.text
            .contains(r#""encode": [["NaN", -9999.0]], "decode": [[-9999.0, "NaN"]]"#)
    );
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    // 1/10 is another number in float32 than in float64.
    assert_eq!(plan.decode.differences.differing, 2);
    assert!(plan.decode.declared.unwrap().others_differ);
    let exactly = Options {
        exact: true,
        ..missing("-9999")
    };
    let plan = planned(&text, &exactly, &data);
    assert_eq!(plan.fill.code, Some(code_of(Float32, -9999)));
    assert!(plan.text.contains(r#"[["NaN", "#), "{}", plan.text);
    assert_eq!(plan.decode.differences.differing, 1);
    assert!(!plan.decode.declared.unwrap().others_differ);
}
