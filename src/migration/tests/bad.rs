//! Legacy configurations that are wrong, and those that only look so.

use super::*;
use crate::migration::verdict::DecodeKind;

fn legacy(members: &str) -> String {
    let codec =
        format!(r#"{{"name": "numcodecs.fixedscaleoffset", "configuration": {{{members}}}}}"#);
    array("float32", "0", &codec)
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let mut found = String::new();
    for members in [
        r#""offset": 0, "dtype": "<f4""#,
        r#""offset": 0, "scale": "10", "dtype": "<f4""#,
        r#""offset": 0, "scale": 0, "dtype": "<f4""#,
        r#""offset": 0, "scale": -0.0, "dtype": "<f4""#,
        r#""offset": null, "scale": 1, "dtype": "<f4""#,
        r#""offset": 0, "scale": 1e400, "dtype": "<f4""#,
        r#""offset": NaN, "scale": 1, "dtype": "<f4""#,
        r#""offset": 0, "scale": 1, "dtype": "<i4""#,
        r#""offset": 0, "scale": 1, "dtype": "<f8""#,
        r#""offset": 0, "scale": 1, "dtype": "|b1""#,
        r#""offset": 0, "scale": 1, "dtype": "<f4", "gain": 2"#,
        r#""offset": 0, "scale": 1, "scale": 2"#,
        r#""offset": 0.5, "dtype": "<U4", "gain": 1"#,
    ] {
        let line = reasons(&legacy(members), &Options::default(), &Data::untouched());
        found.push_str(&format!("{members}\n{line}\n\n"));
    }
    insta::assert_snapshot!(found);
}

#[test]
fn booleans_and_complex_numbers_are_refused() {
    let mut found = String::new();
    for (data_type, fill) in [("bool", "false"), ("complex64", "[0, 0]")] {
        let text = array(data_type, fill, &fso("1", "0", "<f4", "|u1"));
        let line = reasons(&text, &Options::default(), &Data::untouched());
        found.push_str(&format!("{line}\n"));
    }
    insta::assert_snapshot!(found);
}

/// Case C19.
#[test]
fn spellings_in_the_wild_are_taken() {
    for members in [
        r#""id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": "<f4", "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": "f4", "astype": "u1""#,
        r#""offset": 0, "scale": 10, "dtype": "float32", "astype": "uint8""#,
        r#""offset": 0.0, "scale": 1e1, "astype": "|u1""#,
        r#""offset": 0, "scale": 10, "dtype": null, "astype": "u1""#,
        r#""offset": 0, "scale": 10, "dtype": ">f4", "astype": "u1""#,
    ] {
        let plan = planned(&legacy(members), &Options::default(), &Data::untouched());
        assert_eq!(plan.decode.kind, DecodeKind::Identical, "{members}");
        assert!(
            plan.text
                .contains(r#""data_type": "uint8", "out_of_range": "wrap""#)
        );
    }
    for members in [
        r#""offset": 0, "scale": 10, "dtype": "<f4""#,
        r#""offset": 0, "scale": 10, "dtype": "<f4", "astype": null"#,
        r#""offset": 0, "scale": 10"#,
    ] {
        let plan = planned(&legacy(members), &unverified(), &Data::untouched());
        assert_eq!(plan.sites[0].new.len(), 1, "{members}");
    }
    let short = legacy(r#""offset": 0, "scale": 10, "astype": ">i2""#)
        .replace("numcodecs.fixedscaleoffset", "fixedscaleoffset");
    let plan = planned(&short, &Options::default(), &Data::untouched());
    insta::assert_snapshot!(plan.notes.join("\n"));
}

#[test]
fn a_document_that_is_no_array_or_unsound_is_refused() {
    let text = array("float32", "0", &fso("10", "0", "<f4", "|u1"));
    for broken in [
        text.replace(r#""shape": [4], "#, ""),
        text.replace(r#""fill_value": 0"#, r#""fill_value": "zero""#),
        text.replace(r#""shape": [4]"#, r#""shape": [4], "shape": [4]"#),
        text.replace('}', ""),
    ] {
        assert_ne!(broken, text);
        refused(&broken, &Options::default(), &Data::untouched());
    }
}

#[test]
fn what_cannot_be_read_is_an_error() {
    struct Unreadable;
    impl Evidence for Unreadable {
        fn scan(&self, _: &Site, _: &Question<'_>) -> Result<Scan, Error> {
            Err(Error::io(
                "could not read a chunk",
                std::io::Error::other("broken disk"),
            ))
        }
        fn presence(&self) -> Result<Presence, Error> {
            Ok(Presence::default())
        }
    }
    let text = array("float64", "0", &fso("10", "0", "<f8", "<i4"));
    let error = plan(&text, true, &Options::default(), &Unreadable).unwrap_err();
    assert_eq!(error.to_string(), "could not read a chunk");
}
