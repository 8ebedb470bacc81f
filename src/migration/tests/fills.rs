//! What becomes of fills.

use super::*;
use crate::migration::outcome::FillOutcome;
use crate::migration::verdict::DecodeKind;
use DataType::*;

/// Case C05: fill 0 with an offset.
fn shifted() -> String {
    array("float32", "0.0", &fso("10", "200", "<f4", "|u1"))
}

fn given(token: &str) -> Options {
    Options {
        fill_value: Some(Draft::Number(token.to_owned())),
        ..Options::default()
    }
}

#[test]
fn a_fill_that_survives_needs_no_data() {
    let text = array("float32", "10.0", &fso("10", "10", "<f4", "|u1"));
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(plan.fill.outcome, FillOutcome::Survives);
    assert_eq!(plan.fill.code, Some(code_of(UInt8, 0)));
    assert_eq!(plan.fill.drift, None);
}

#[test]
fn a_fill_is_mapped_to_the_code_that_the_legacy_codec_stores_for_it() {
    // -2000 wraps to 48, which padding holds, and nothing else.
    let data = Data::of(UInt8, (0..=255).filter(|code| *code != 48)).with_padding([48]);
    let plan = planned(&shifted(), &Options::default(), &data);
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "scale_offset", "configuration": {"offset": 200, "scale": 10}}, {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap", "scalar_map": {"encode": [[-2000.0, 48]], "decode": [[48, -2000.0]]}}}]"#
    );
    assert_eq!(plan.fill.outcome, FillOutcome::Mapped);
    assert!(plan.fill.maps[0].is_legacys_own);
    assert_eq!(plan.fill.maps[0].code_use, Some(Use::PaddingOnly));
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.differences.compared, 255);
    assert_eq!(data.scans(), 1);
}

#[test]
fn else_to_an_end_of_the_range_and_else_to_any_code() {
    let free = |free: i64| {
        let data = Data::of(UInt8, (0..=255).filter(|code| *code != free));
        let plan = planned(&shifted(), &Options::default(), &data);
        plan.fill.maps[0].code
    };
    let some = Data::of(UInt8, [1, 2, 48]);
    let plan = planned(&shifted(), &Options::default(), &some);
    assert_eq!(plan.fill.maps[0].code, code_of(UInt8, 255));
    assert!(
        plan.text
            .contains(r#""encode": [[-2000.0, 255]], "decode": [[255, -2000.0]]"#)
    );
    for code in [0, 255, 97] {
        assert_eq!(free(code), code_of(UInt8, code));
    }
    // Padding with another code than the legacy codec's own is use.
    let padded = Data::of(UInt8, [48]).with_padding([255]);
    let plan = planned(&shifted(), &Options::default(), &padded);
    assert_eq!(plan.fill.maps[0].code, code_of(UInt8, 0));
}

#[test]
fn where_all_codes_are_used_another_fill_can_be_given_if_nothing_is_missing() {
    let all = || Data::of(UInt8, 0..=255);
    insta::assert_snapshot!(reasons(&shifted(), &Options::default(), &all()));
    let plan = planned(&shifted(), &given("200.5"), &all());
    assert_eq!(plan.fill.outcome, FillOutcome::Given);
    assert!(
        plan.text.contains(r#""fill_value": 200.5,"#),
        "{}",
        plan.text
    );
    assert_eq!(plan.changes[1].pointer, "/fill_value");
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    insta::assert_snapshot!(reasons(&shifted(), &given("0.5"), &all()));
    insta::assert_snapshot!(reasons(
        &shifted(),
        &given("200.5"),
        &all().with_missing(1, 0)
    ));
    insta::assert_snapshot!(reasons(
        &shifted(),
        &given("200.5"),
        &all().with_missing(0, 2)
    ));
    let text = Options {
        fill_value: Some(Draft::string("none")),
        ..Options::default()
    };
    insta::assert_snapshot!(reasons(&shifted(), &text, &all()));
}

#[test]
fn whether_a_code_is_used_only_the_data_tell() {
    insta::assert_snapshot!(reasons(&shifted(), &unverified(), &Data::untouched()));
}

/// Case C04.
#[test]
fn nan_is_mapped_on_the_last_cast() {
    let text = array("float32", "\"NaN\"", &fso("100", "0", "<f4", "<i2"));
    let data = Data::of(Int16, [100, 0, 300]);
    let plan = planned(&text, &Options::default(), &data);
    assert!(plan.text.contains(
        r#"{"data_type": "int16", "out_of_range": "wrap", "scalar_map": {"encode": [["NaN", -32768]], "decode": [[-32768, "NaN"]]}}"#
    ));
    assert_eq!(plan.fill.outcome, FillOutcome::Mapped);
    let exactly = planned(
        &array("float32", "\"NaN\"", &fso("100", "273.15", "<f4", "<i2")),
        &exact(),
        &data,
    );
    assert_eq!(exactly.fill.maps[0].codec, 2);
    let infinite = array("float32", "\"-Infinity\"", &fso("100", "0", "<f4", "<i2"));
    let plan = planned(&infinite, &Options::default(), &data);
    assert!(plan.text.contains(r#""decode": [[-32768, "-Infinity"]]"#));
}

#[test]
fn a_fill_that_a_narrower_float_loses_is_mapped_on_the_first_cast() {
    let text = array("float64", "-9999.9", &fso("1", "0", "<f8", "<f4"));
    let data = Data::of(Float32, [1, 2]);
    let plan = planned(&text, &Options::default(), &data);
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 1}}, {"name": "cast_value", "configuration": {"data_type": "float32", "scalar_map": {"encode": [[-9999.9, -1.0e4]], "decode": [[-1.0e4, -9999.9]]}}}]"#
            .replace("-1.0e4", "-10000.0")
    );
    assert!(plan.fill.maps[0].is_legacys_own);
    let text = array("float64", "-9999.9", &fso("0.1", "3.7", "<f8", "<f4"));
    let plan = planned(&text, &exact(), &data);
    let map = &plan.fill.maps[0];
    assert_eq!(map.codec, 0);
    let stored = map.code.to_f64() as f32;
    assert_eq!(map.value.to_f64(), f64::from(stored / 0.1 + 3.7));
    assert!(!map.is_legacys_own);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
}

#[test]
fn a_wide_integer_that_doubles_do_not_hold_is_mapped_on_the_first_cast() {
    let text = array("int64", "9007199254740993", &fso("0.5", "0", "<i8", "<i2"));
    let plan = planned(&text, &exact(), &Data::of(Int16, [0, 1]));
    let map = &plan.fill.maps[0];
    assert_eq!((map.codec, map.code), (0, code_of(Int16, -32768)));
    assert_eq!(map.value.to_f64(), map.code.to_f64() / 0.5);
    assert!(plan.text.contains("[[9007199254740993, "));
}

#[test]
fn a_map_that_would_come_back_as_another_integer_goes_to_the_first_cast() {
    // What is scaled by 0.7 and divided by it again may be a little less, and is then truncated.
    let unlucky = (1..1000).find(|n| {
        let scaled = f64::from(*n) * 0.7;
        (scaled / 0.7).trunc() != f64::from(*n) && scaled.fract() != 0.0
    });
    let fill = unlucky.unwrap();
    let text = array("int32", &fill.to_string(), &fso("0.7", "0", "<i4", "<i2"));
    let plan = planned(&text, &exact(), &Data::of(Int16, [1, 2, 3]));
    assert_eq!(plan.fill.maps[0].codec, 0);
    assert_eq!(plan.fill.drift, None);
}

#[test]
fn a_fill_that_cannot_be_computed_with_needs_the_exact_form() {
    let text = array("uint16", "0", &fso("1", "1000", "<u2", "|u1"));
    let data = Data::of(UInt8, [0, 1]);
    insta::assert_snapshot!(reasons(&text, &Options::default(), &data));
    let plan = planned(&text, &exact(), &data);
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "cast_value", "configuration": {"data_type": "float64", "rounding": "towards-zero"}}, {"name": "scale_offset", "configuration": {"offset": 1000, "scale": 1}}, {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap", "scalar_map": {"encode": [[-1000.0, 24]], "decode": [[24, -1000.0]]}}}]"#
    );
    let text = array("float32", "1e37", &fso("100", "0", "<f4", "<f4"));
    insta::assert_snapshot!(reasons(&text, &exact(), &Data::of(Float32, [0])));
}

#[test]
fn a_fill_that_was_undefined_is_zero_or_what_an_unused_code_decodes_to() {
    let undefined = |text: &str, options: &Options, data: &Data| match plan(
        text, false, options, data,
    )
    .unwrap()
    {
        Planned::Change(plan) => *plan,
        other => panic!("{other:?}"),
    };
    let text = array("float32", "0", &fso("10", "0", "<f4", "|u1"));
    let survives = undefined(&text, &Options::default(), &Data::untouched());
    assert_eq!(survives.fill.outcome, FillOutcome::Survives);
    assert_eq!(survives.fill.old, None);
    assert_eq!(survives.changes.len(), 1);
    let data = Data::of(UInt8, 0..=254).with_missing(3, 0);
    let plan = undefined(&shifted(), &Options::default(), &data);
    assert_eq!(plan.fill.outcome, FillOutcome::OfUnusedCode);
    assert!(
        plan.text.contains(r#""fill_value": 225.5,"#),
        "{}",
        plan.text
    );
    assert_eq!(plan.fill.code, Some(code_of(UInt8, 255)));
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    let all = Data::of(UInt8, 0..=255).with_missing(3, 0);
    let plan = undefined(&shifted(), &given("200"), &all);
    assert_eq!(plan.fill.outcome, FillOutcome::Given);
}

#[test]
fn wide_types_are_asked_about_a_few_codes() {
    let text = array("float64", "\"NaN\"", &fso("100", "0", "<f8", "<i4"));
    let plan = planned(&text, &Options::default(), &Data::of(Int32, [0, 7]));
    assert_eq!(plan.fill.maps[0].code, code_of(Int32, i64::from(i32::MIN)));
    let ends = [0, i64::from(i32::MIN), i64::from(i32::MAX)];
    let plan = planned(&text, &Options::default(), &Data::of(Int32, ends));
    let code = plan.fill.maps[0].code;
    assert!(!ends.contains(&i64::try_from(code.integer().unwrap()).unwrap()));
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
}

#[test]
fn a_fill_that_drifts_is_noted() {
    let text = array("float64", "1", &fso("1", "1e17", "<f8", "<f8"));
    let plan = planned(&text, &unverified(), &Data::untouched());
    assert_eq!(plan.fill.outcome, FillOutcome::Survives);
    assert_eq!(plan.fill.drift.unwrap().to_f64(), 0.0);
    assert!(
        plan.notes[0].contains("comes back through the whole chain as 0"),
        "{:?}",
        plan.notes
    );
}
