//! The legacy codec in shards and before them, beside other codecs, and more than once.

use super::*;
use crate::migration::verdict::{DecodeKind, Proof};
use DataType::*;

fn shard(inner: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [2], "codecs": [{inner}], "index_codecs": [{LE}, {{"name": "crc32c"}}]}}}}"#
    )
}

fn delta(dtype: &str) -> String {
    format!(r#"{{"name": "numcodecs.delta", "configuration": {{"dtype": "{dtype}"}}}}"#)
}

const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [0]}}"#;

#[test]
fn inside_a_shard_the_inner_list_changes() {
    let inner = format!("{}, {LE}", fso("10", "0", "<f4", "<i2"));
    let nested = format!("[{}]", shard(&shard(&inner)));
    let text = document("float32", "5.0", &nested);
    let plan = planned(
        &text,
        &Options::default(),
        &Data::untouched().with_missing(1, 5),
    );
    let list = "/codecs/0/configuration/codecs/0/configuration/codecs";
    assert_eq!(plan.changes[0].pointer, list);
    assert_eq!(plan.sites[0].list, list);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert!(!plan.text.contains("numcodecs"));
}

#[test]
fn before_a_shard_missing_inner_chunks_read_as_another_value() {
    // Handed on as 10 before, and decoded to 11; as 0 now, and decoded to 10.
    let codecs = format!(
        "[{}, {}]",
        fso("10", "10", "<f4", "|u1"),
        shard("\"bytes\"")
    );
    let text = document("float32", "10.0", &codecs);
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    let plan = planned(
        &text,
        &Options::default(),
        &Data::untouched().with_missing(2, 7),
    );
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    let inner = plan.decode.missing_inner.unwrap();
    assert_eq!(inner.count, 7);
    assert_eq!(inner.old.unwrap().to_f64(), 11.0);
    assert_eq!(inner.new.unwrap().to_f64(), 10.0);
    // 0 is handed on as 0 either way.
    let text = text
        .replace(r#""fill_value": 10.0"#, r#""fill_value": 0"#)
        .replace(r#""offset": 10"#, r#""offset": 0"#);
    let plan = planned(
        &text,
        &Options::default(),
        &Data::untouched().with_missing(0, 7),
    );
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
}

#[test]
fn behind_a_codec_that_is_not_known_the_codes_can_be_compared_all_the_same() {
    let unknown = r#"{"name": "example.unknown", "configuration": {}}"#;
    let codecs = format!("[{}, {unknown}, {LE}]", fso("10", "0", "<f4", "<i2"));
    let plan = planned(
        &document("float32", "0", &codecs),
        &Options::default(),
        &Data::untouched(),
    );
    assert_eq!(plan.decode.proof, Some(Proof::AllCodes));
    // A wide type needs the data, which nobody can decode.
    let codecs = codecs.replace("<i2", "<i4");
    insta::assert_snapshot!(reasons(
        &document("float32", "0", &codecs),
        &Options::default(),
        &Data::untouched()
    ));
    // With a shard behind it, what missing inner chunks read as is not known.
    let codecs = format!(
        "[{}, {unknown}, {}]",
        fso("10", "0", "<f4", "<i2"),
        shard(LE)
    );
    let text = document("float32", "0", &codecs);
    let plan = planned(
        &text,
        &Options::default(),
        &Data::untouched().with_missing(0, 1),
    );
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
}

#[test]
fn in_front_of_a_codec_that_is_not_known_it_is_refused() {
    let codecs = format!(
        r#"[{{"name": "example.unknown"}}, {}, {LE}]"#,
        fso("10", "0", "<f4", "<i2")
    );
    insta::assert_snapshot!(reasons(
        &document("float32", "0", &codecs),
        &Options::default(),
        &Data::untouched()
    ));
}

#[test]
fn transposition_and_delta_stay_where_they_are() {
    let legacy = fso("100", "10", "<f4", "<i2");
    for before in [TRANSPOSE, ""] {
        let list: Vec<_> = [before, &legacy, &delta("<i2"), LE]
            .into_iter()
            .filter(|c| !c.is_empty())
            .map(str::to_owned)
            .collect();
        let text = document("float32", "10.0", &format!("[{}]", list.join(", ")));
        let plan = planned(&text, &Options::default(), &Data::untouched());
        assert_eq!(plan.decode.before, None);
        assert_eq!(plan.text.matches("numcodecs.delta").count(), 1);
        assert_eq!(plan.text.matches("cast_value").count(), 1);
    }
}

#[test]
fn differences_that_a_codec_adds_up_are_said_to_be_those_of_what_it_is_handed() {
    let codecs = format!(
        "[{}, {}, {LE}]",
        delta("<f4"),
        fso("100", "273.15", "<f4", "<i2")
    );
    let text = document("float32", "273.15", &codecs);
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(plan.decode.kind, DecodeKind::Differs);
    assert_eq!(plan.decode.before.as_deref(), Some("numcodecs.delta"));
    let plan = planned(&text, &exact(), &Data::untouched());
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    assert_eq!(plan.decode.before, None);
}

#[test]
fn two_in_a_run_are_compared_as_one() {
    // Stored as (value - 10) * 100, plus 5, in uint16.
    let codecs = format!(
        "[{}, {}, {LE}]",
        fso("100", "10", "<f4", "<i2"),
        fso("1", "-5", "<i2", "<u2")
    );
    let text = document("float32", "10.0", &codecs);
    let data = Data::of(UInt16, 0..100);
    let plan = planned(&text, &Options::default(), &data);
    let site = &plan.sites[0];
    assert_eq!((site.first, site.old.len(), site.new.len()), (0, 2, 4));
    assert_eq!((site.incoming, site.stored), (Float32, UInt16));
    assert_eq!(plan.decode.proof, Some(Proof::UsedCodes));
    assert!(!plan.text.contains("numcodecs"));
}

#[test]
fn of_two_sites_only_the_one_next_to_the_array_may_differ() {
    let two = |first: &str, second: &str| {
        let codecs = format!("[{first}, {TRANSPOSE}, {second}, {LE}]");
        document("float64", "0", &codecs)
    };
    let exactly_two = fso("2", "0", "<f4", "<i2");
    let differs = fso("100", "5", "<f4", "<i2");
    let data = Data::of(Int16, [1, 2]);
    // The first site stores float32, whose codes are compared over the data.
    let text = two(&fso("1", "0", "<f8", "<f4"), &exactly_two);
    let wide = Data::of(Float32, [1, 2]);
    let plan = planned(&text, &Options::default(), &wide);
    assert_eq!(plan.sites.len(), 2);
    assert_eq!(plan.sites[1].first, 2);
    assert_eq!(plan.decode.kind, DecodeKind::Identical);
    let text = two(&fso("1", "5", "<f8", "<f2"), &differs.replace("<f4", "<f2"));
    insta::assert_snapshot!(reasons(&text, &unverified(), &data));
}

#[test]
fn codecs_of_the_new_kind_around_it_stay() {
    let scale = r#"{"name": "scale_offset", "configuration": {"scale": 2}}"#;
    let codecs = format!("[{scale}, {}, {LE}]", fso("10", "0", "<f4", "<i2"));
    let text = document("float32", "0", &codecs);
    let plan = planned(&text, &Options::default(), &Data::untouched());
    assert_eq!(plan.sites[0].new.len(), 3);
    assert!(plan.text.contains(scale));
    assert_eq!(plan.decode.proof, Some(Proof::AllCodes));
}

#[test]
fn the_fill_reaches_a_site_cast_by_the_codecs_before_it() {
    let astype = r#"{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f4", "decode_dtype": "<f8"}}"#;
    let codecs = format!("[{astype}, {}, {LE}]", fso("10", "0", "<f4", "<i2"));
    let plan = planned(
        &document("float64", "12", &codecs),
        &Options::default(),
        &Data::untouched(),
    );
    assert_eq!(plan.fill.code, Some(code_of(Int16, 120)));
    let astype = astype.replace("<f4", "<i2");
    let codecs = format!("[{astype}, {}, {LE}]", fso("10", "0", "<i2", "<i2"));
    let text = document("float64", "\"NaN\"", &codecs);
    insta::assert_snapshot!(reasons(&text, &Options::default(), &Data::of(Int16, [0])));
}

#[test]
fn in_the_index_of_a_shard_it_is_refused() {
    let codecs =
        format!("[{}]", shard(LE)).replace(r#"{"name": "crc32c"}"#, &fso("10", "0", "<f4", "<i2"));
    insta::assert_snapshot!(reasons(
        &document("float32", "0", &codecs),
        &Options::default(),
        &Data::untouched()
    ));
}
