//! The same proof on two documents as they are.

use super::*;
use crate::migration::verdict::{DecodeKind, Proof};
use crate::migration::{Proving, prove};
use DataType::*;

const PROVING: Proving = Proving {
    fill_is_defined: true,
    verify: Verify::Data,
    used_codes: false,
};

fn proven(old: &str, new: &str, data: &Data) -> crate::migration::verdict::DecodeVerdict {
    prove(old, new, PROVING, data).unwrap()
}

#[test]
fn a_plan_is_proven_as_it_was_planned() {
    let cases = [
        (
            array("float32", "0", &fso("10", "0", "<f4", "<i2")),
            Data::of(Int16, [1, 2]),
        ),
        (
            array("float32", "273.15", &fso("100", "273.15", "<f4", "<i2")),
            Data::of(Int16, [1, 2]),
        ),
        (
            array("float32", "0", &fso("10", "200", "<f4", "|u1")),
            Data::of(UInt8, [1, 48]),
        ),
        (
            array("int32", "0", &fso("3", "0", "<i4", "<i4")),
            Data::of(Int32, [0, 3]),
        ),
        (
            array("float32", "0", &fso("100", "273.15", "<f4", "<i4")),
            Data::of(Int32, [-30000, 3]),
        ),
    ];
    for (text, data) in cases {
        for options in [Options::default(), exact()] {
            let plan = planned(&text, &options, &data);
            let proving = Proving {
                used_codes: plan.decode.all_codes.is_some(),
                ..PROVING
            };
            let proven = prove(&text, &plan.text, proving, &data).unwrap();
            assert_eq!(proven, plan.decode, "{}", plan.text);
        }
    }
}

#[test]
fn another_value_or_another_fill_is_found() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<i2"));
    let data = Data::of(Int16, [1, 2]).with_missing(1, 0);
    let plan = planned(&text, &Options::default(), &data);
    let other = plan.text.replace(r#""scale": 10"#, r#""scale": 20"#);
    let verdict = proven(&text, &other, &data);
    assert_eq!(verdict.kind, DecodeKind::Differs);
    assert_eq!(verdict.proof, Some(Proof::AllCodes));
    let other = plan
        .text
        .replace(r#""fill_value": 0"#, r#""fill_value": 1"#);
    let verdict = proven(&text, &other, &data);
    assert_eq!(verdict.kind, DecodeKind::Differs);
    assert_eq!(verdict.missing.unwrap().chunks, 1);
    let full = Data::of(Int16, [1, 2]);
    assert_eq!(proven(&text, &other, &full).kind, DecodeKind::Identical);
}

#[test]
fn documents_that_differ_in_more_are_refused() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "<i2"));
    let data = Data::untouched();
    let plan = planned(&text, &Options::default(), &data);
    for (old, new) in [
        (r#""shape": [4]"#, r#""shape": [8]"#),
        (r#""endian": "little""#, r#""endian": "big""#),
        (r#""chunk_shape": [4]"#, r#""chunk_shape": [2]"#),
        (r#""name": "default""#, r#""name": "v2""#),
    ] {
        let other = plan.text.replace(old, new);
        assert_ne!(other, plan.text);
        prove(&text, &other, PROVING, &data).unwrap_err();
    }
    prove(&text, &plan.text, PROVING, &data).unwrap();
    prove(&text, &text, PROVING, &data).unwrap();
}
