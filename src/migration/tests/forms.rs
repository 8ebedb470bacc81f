//! What is written for each pair of types, and why some of it cannot be.

use super::*;
use crate::migration::outcome::Form;
use crate::migration::verdict::{DecodeKind, Proof};
use DataType::*;

/// The new codecs of an array with these types, whose data hold nothing.
fn written(data_type: &str, codec: &str, options: &Options, stored: DataType) -> String {
    let text = array(data_type, "0", codec);
    codecs(&planned(&text, options, &Data::of(stored, [])))
}

#[test]
fn an_array_without_the_legacy_codec_is_left_alone() {
    let text = document("float32", "0", r#"["bytes"]"#);
    let planned = plan(&text, true, &Options::default(), &Data::untouched()).unwrap();
    assert!(matches!(planned, Planned::Nothing));
}

#[test]
fn the_plain_conversion_has_the_same_numbers_and_wraps() {
    let plain =
        |data_type, codec: String, stored| written(data_type, &codec, &Options::default(), stored);
    assert_eq!(
        plain("float32", fso("1e2", "0.50", "<f4", "<i2"), Int16),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0.50, "scale": 1e2}}, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "wrap"}}]"#
    );
    assert_eq!(
        plain("float64", fso("2", "0", "<f8", "<f4"), Float32),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 2}}, {"name": "cast_value", "configuration": {"data_type": "float32"}}]"#
    );
    assert_eq!(
        plain("float64", fso("2", "0", "<f8", "<f8"), Float64),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 2}}]"#
    );
}

#[test]
fn an_integer_type_takes_integers() {
    let text = array("int32", "0", &fso("10.0", "1e2", "<i4", "<i2"));
    let plan = planned(&text, &Options::default(), &Data::of(Int16, [0, 10, -30]));
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "scale_offset", "configuration": {"offset": 100, "scale": 10}}, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "wrap"}}]"#
    );
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.proof, Some(Proof::UsedCodes));
    // Codes that ten does not divide are errors now, and nothing uses them.
    assert_eq!(
        plan.decode.all_codes.unwrap().become_unreadable,
        65536 - 6553
    );
}

#[test]
fn the_exact_form_computes_as_numcodecs_does() {
    let exactly = |data_type, codec: String, stored| written(data_type, &codec, &exact(), stored);
    // The fill is what -27315 decodes to, but not quite what it is scaled to.
    assert_eq!(
        exactly("float32", fso("100", "273.15", "<f4", "<i2"), Int16),
        r#"[{"name": "cast_value", "configuration": {"data_type": "float64", "out_of_range": "clamp"}}, {"name": "scale_offset", "configuration": {"offset": 273.15, "scale": 100}}, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "wrap", "scalar_map": {"encode": [[-27314.999999999996, -27315]], "decode": [[-27315, -27314.999999999996]]}}}]"#
    );
    assert_eq!(
        exactly("int16", fso("0.25", "0", "<i2", "<i2"), Int16),
        r#"[{"name": "cast_value", "configuration": {"data_type": "float64", "rounding": "towards-zero"}}, {"name": "scale_offset", "configuration": {"offset": 0, "scale": 0.25}}, {"name": "cast_value", "configuration": {"data_type": "int16", "out_of_range": "wrap"}}]"#
    );
    assert_eq!(
        exactly("float64", fso("0.1", "3.7", "<f8", "<f4"), Float32)
            .replace(r#""scale": 0.1"#, "s"),
        r#"[{"name": "cast_value", "configuration": {"data_type": "float32", "out_of_range": "clamp"}}, {"name": "scale_offset", "configuration": {"offset": 3.7, s}}]"#
    );
    assert_eq!(
        exactly("int32", fso("0.1", "0", "<i4", "<f4"), Float32),
        r#"[{"name": "cast_value", "configuration": {"data_type": "float32", "rounding": "towards-zero"}}, {"name": "scale_offset", "configuration": {"offset": 0, "scale": 0.1}}]"#
    );
}

#[test]
fn what_the_plain_form_decodes_alike_is_not_made_exact() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<i2"));
    let plan = planned(&text, &exact(), &Data::untouched());
    assert_eq!(plan.sites[0].form, Form::Plain);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.proof, Some(Proof::AllCodes));
    let text = array("float64", "0", &fso("100", "273.15", "<f8", "<i4"));
    let data = Data::of(Int32, [1, -5, 100_000]);
    let plan = planned(&text, &exact(), &data);
    assert_eq!(plan.sites[0].form, Form::Plain);
    assert_eq!(plan.decode.proof, Some(Proof::Data));
    assert_eq!(plan.decode.differences.compared, 3);
}

#[test]
fn a_wide_type_is_made_exact_where_its_data_differ() {
    let text = array("float32", "0", &fso("100", "273.15", "<f4", "<i4"));
    let differing = Data::of(Int32, [-30000, 0]);
    let plain = planned(&text, &Options::default(), &differing);
    assert_eq!(plain.decode.kind, DecodeKind::Differs);
    assert_eq!(plain.decode.differences.differing, 1);
    let plan = planned(&text, &exact(), &differing);
    assert_eq!(plan.sites[0].form, Form::Exact);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
}

/// Case C10.
#[test]
fn the_plain_form_says_how_many_codes_differ() {
    let text = array("float32", "273.15", &fso("100", "273.15", "<f4", "<i2"));
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    assert_eq!(plan.decode.proof, Some(Proof::AllCodes));
    assert_eq!(plan.decode.differences.compared, 65536);
    assert_eq!(plan.decode.differences.differing, 26701);
    let plan = planned(&text, &exact(), &Data::untouched());
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.sites[0].form, Form::Exact);
    assert!(!plan.encode.is_same());
}

#[test]
fn asked_to_be_identical_it_looks_at_the_codes_in_use() {
    let text = array("float32", "273.15", &fso("100", "273.15", "<f4", "<i2"));
    let options = Options {
        require_identical: true,
        ..Options::default()
    };
    let plan = planned(&text, &options, &Data::of(Int16, [0, 100]));
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.proof, Some(Proof::UsedCodes));
    assert_eq!(plan.decode.all_codes.unwrap().differing, 26701);
    let plan = planned(&text, &options, &Data::of(Int16, [0, -30000]));
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    assert_eq!(plan.decode.differences.differing, 1);
}

/// Case C12.
#[test]
fn a_fraction_on_an_integer_type_is_refused_with_the_chain_that_could_be_written() {
    let text = array("int16", "0", &fso("0.25", "0", "<i2", "<i2"));
    let data = Data::of(Int16, [0, 1, 2, -2, 8191]);
    insta::assert_snapshot!(reasons(&text, &Options::default(), &data));
    let plan = planned(&text, &exact(), &data);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.proof, Some(Proof::UsedCodes));
    // 8192 decodes to 32768, of which C makes -32768, and the new chain nothing.
    let data = Data::of(Int16, [0, 8192]);
    insta::assert_snapshot!(reasons(&text, &exact(), &data));
}

/// Case C13.
#[test]
fn codes_that_the_scale_does_not_divide_are_lost_only_if_they_are_used() {
    let text = array("int32", "0", &fso("3", "0", "<i4", "<i4"));
    let plan = planned(&text, &Options::default(), &Data::of(Int32, [0, 3, -6]));
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.proof, Some(Proof::Data));
    assert_eq!(plan.fill.code, Some(code_of(Int32, 0)));
    let used = Data::of(Int32, [0, 1, 2, 3, 5]);
    insta::assert_snapshot!(reasons(&text, &Options::default(), &used));
    insta::assert_snapshot!(reasons(&text, &unverified(), &used));
    let padded = Data::of(Int32, [0, 3]).with_padding([1]);
    insta::assert_snapshot!(reasons(&text, &Options::default(), &padded));
    let plan = planned(&text, &exact(), &used);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
}

#[test]
fn without_the_data_a_wide_type_is_unproven() {
    let text = array("float64", "0", &fso("10", "0", "<f8", "<i4"));
    let data = Data::untouched();
    let plan = planned(&text, &unverified(), &data);
    assert_eq!(plan.decode.kind, DecodeKind::Unproven);
    assert_eq!(plan.decode.proof, None);
    assert!(plan.decode.differences.compared > 4000);
}

#[test]
fn numbers_that_the_type_of_the_values_does_not_have_need_the_exact_form() {
    for (scale, offset) in [("1e39", "0"), ("1e-50", "0"), ("1", "1e300")] {
        let text = array("float32", "0", &fso(scale, offset, "<f4", "|u1"));
        let reasons = refused(&text, &Options::default(), &Data::untouched());
        let hint = reasons[0].hint.as_deref().unwrap();
        assert!(hint.starts_with("--exact writes "), "{hint}");
    }
    let text = array("float32", "0", &fso("1e-50", "0", "<f4", "<f4"));
    insta::assert_snapshot!(reasons(&text, &exact(), &Data::untouched()));
}

#[test]
fn a_number_that_numcodecs_rounds_twice_is_written_as_it_rounds_it() {
    // Half way between two float32 plus a little: as a double it is the half, which goes to the even one.
    let token = "1.00000017881393421514957253748434595763683319091796875001";
    let text = array("float32", "0", &fso(token, "0", "<f4", "<f4"));
    let plan = planned(&text, &unverified(), &Data::untouched());
    assert_eq!(
        codecs(&plan),
        r#"[{"name": "scale_offset", "configuration": {"offset": 0, "scale": 1.0000002}}]"#
    );
}

#[test]
fn future_encodes_keep_fractions_where_the_legacy_codec_rounds() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<f4"));
    let plan = planned(&text, &unverified(), &Data::untouched());
    let lines: Vec<_> = plan
        .encode
        .differences
        .iter()
        .map(|d| d.describe())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    let text = array("float32", "0", &fso("10", "0", "<f4", "<u2"));
    let plan = planned(&text, &unverified(), &Data::untouched());
    let lines: Vec<_> = plan
        .encode
        .differences
        .iter()
        .map(|d| d.describe())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn all_else_in_the_document_keeps_its_bytes() {
    let text = array("float32", "0.50", &fso("10", "0", "<f4", "|u1"));
    let plan = planned(&text, &Options::default(), &Data::untouched());
    let old = fso("10", "0", "<f4", "|u1");
    let new = r#"{"name": "scale_offset", "configuration": {"offset": 0, "scale": 10}}, {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "wrap"}}"#;
    assert_eq!(plan.text, text.replace(&old, new));
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(plan.changes[0].pointer, "/codecs");
    assert_eq!(
        plan.changes[0].old.as_deref(),
        Some(format!("[{old}, {LE}]").as_str())
    );
    assert_eq!(
        plan.changes[0].new.as_deref(),
        Some(format!("[{new}, {LE}]").as_str())
    );
}

/// Case C02.
#[test]
fn a_stored_zero_may_be_a_former_nan() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<i2"));
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(
        plan.notes,
        [
            "a stored 0 may be a former NaN, which the legacy codec does not tell apart; it stays the number that it decodes to"
        ]
    );
}
