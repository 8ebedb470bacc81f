//! What people have run into: documents, what was asked for, and what is found.

use super::{LE, base, cast_value, errors, findings, nodes, rules_of, scale_offset, v2, with};
use crate::harness::Sandbox;

/// A document that somebody came with.
struct Case {
    /// The row of the collection.
    row: &'static str,
    /// What it asks for.
    asks: &'static str,
    document: String,
    /// The rules that have to find something; with none, nothing may be an error.
    rules: &'static [&'static str],
    /// What the finding has to say.
    says: &'static str,
}

fn case(
    row: &'static str,
    asks: &'static str,
    document: String,
    rules: &'static [&'static str],
    says: &'static str,
) -> Case {
    Case {
        row,
        asks,
        document,
        rules,
        says,
    }
}

fn legacy(members: &str) -> String {
    format!(r#"{{"name":"numcodecs.fixedscaleoffset","configuration":{{{members}}}}}"#)
}

fn filter(members: &str) -> String {
    format!(r#"{{"id":"fixedscaleoffset",{members}}}"#)
}

fn cases() -> Vec<Case> {
    const LEGACY: &str = r#""scale":10,"offset":0,"dtype":"<f4","astype":"<i2""#;
    let pair = |members: &str, to: &str, more: &str| {
        format!("{},{},{LE}", scale_offset(members), cast_value(to, more))
    };
    let scaled = |scale: &str| {
        base(
            "float32",
            "0",
            &format!("{},{LE}", scale_offset(&format!(r#""scale":{scale}"#))),
        )
    };
    let attributes = |data_type: &str, fill: &str, attributes: &str| {
        with(
            data_type,
            fill,
            LE,
            &format!(r#""attributes":{{{attributes}}},"#),
        )
    };
    vec![
        case(
            "R01",
            "a legacy warning that names migrate-legacy",
            base("float32", "0", &format!("{},{LE}", legacy(LEGACY))),
            &["legacy/codec"],
            "migrate-legacy",
        ),
        case(
            "R03 fill 0",
            "an error that names the fills that would do",
            base("uint16", "0", &pair(r#""offset":1000"#, "uint8", "")),
            &["scale-offset/fill-not-representable"],
            "from 1000 to 1255",
        ),
        case(
            "R03 fill 1000",
            "valid",
            base("uint16", "1000", &pair(r#""offset":1000"#, "uint8", "")),
            &[],
            "",
        ),
        case(
            "R04",
            "a hexadecimal scale is legal",
            scaled(r#""0x42c80000""#),
            &[],
            "",
        ),
        case(
            "R06, C09",
            "endian is required for what the cast hands on",
            base(
                "int8",
                "0",
                &format!(r#"{},{{"name":"bytes"}}"#, cast_value("int16", "")),
            ),
            &["chain/bytes-endian"],
            "int16",
        ),
        case(
            "C09",
            "valid, as one byte reaches bytes",
            base(
                "float32",
                "0.0",
                &format!(
                    r#"{},{},{{"name":"bytes"}}"#,
                    scale_offset(r#""scale":10"#),
                    cast_value("uint8", "")
                ),
            ),
            &[],
            "",
        ),
        case(
            "R08, C19",
            "an error on the text \"0\"",
            scaled(r#""0""#),
            &["scale-offset/scalar"],
            "no float32 scalar",
        ),
        case(
            "C19 zero",
            "an error on 0",
            scaled("0"),
            &["scale-offset/zero-scale"],
            "0",
        ),
        case(
            "C19 negative zero",
            "an error on -0.0",
            scaled("-0.0"),
            &["scale-offset/zero-scale"],
            "-0.0",
        ),
        case(
            "C19 zero bits",
            "an error on zero as bits",
            scaled(r#""0x00000000""#),
            &["scale-offset/zero-scale"],
            "0x00000000",
        ),
        case(
            "C19 NaN",
            "an error on NaN",
            scaled(r#""NaN""#),
            &["scale-offset/not-finite"],
            "NaN",
        ),
        case(
            "C19 Infinity",
            "an error on Infinity",
            scaled(r#""Infinity""#),
            &["scale-offset/not-finite"],
            "Infinity",
        ),
        case(
            "C19 draft word",
            "an error on out_of_range error",
            base(
                "float32",
                "0",
                &pair(r#""scale":10"#, "int16", r#","out_of_range":"error""#),
            ),
            &["cast-value/out-of-range"],
            "error",
        ),
        case(
            "C19 wrap",
            "an error on wrap to a float",
            base(
                "float32",
                "0",
                &pair(r#""scale":10"#, "float16", r#","out_of_range":"wrap""#),
            ),
            &["cast-value/wrap-needs-integer"],
            "float16",
        ),
        case(
            "C19 +Infinity",
            "accepted with a warning",
            base(
                "float32",
                "0",
                &pair(
                    r#""scale":10"#,
                    "int16",
                    r#","scalar_map":{"encode":[["+Infinity",1]],"decode":[[1,"Infinity"]]}"#,
                ),
            ),
            &["cast-value/plus-infinity"],
            "+Infinity",
        ),
        case(
            "R10, C06",
            "an error: 0.05 comes back as 0",
            base("float32", "0.05", &pair(r#""scale":10"#, "int16", "")),
            &["cast-value/fill-round-trip"],
            "comes back as 0",
        ),
        case(
            "C06 NaN",
            "an error: NaN is mapped one way",
            base(
                "float32",
                r#""NaN""#,
                &pair(
                    r#""scale":100"#,
                    "int16",
                    r#","scalar_map":{"encode":[["NaN",-32768]]}"#,
                ),
            ),
            &["cast-value/fill-round-trip", "cast-value/one-way-map"],
            "-32768",
        ),
        case(
            "C04",
            "an error: NaN cannot be cast, wrap or not",
            base(
                "float32",
                r#""NaN""#,
                &pair(
                    r#""scale":100,"offset":0"#,
                    "int16",
                    r#","out_of_range":"wrap""#,
                ),
            ),
            &["cast-value/fill-round-trip"],
            "NaN",
        ),
        case(
            "C05",
            "an error: fill 0 wraps to 48",
            base(
                "float32",
                "0.0",
                &pair(
                    r#""scale":10,"offset":200"#,
                    "uint8",
                    r#","out_of_range":"wrap""#,
                ),
            ),
            &["cast-value/fill-round-trip"],
            "48",
        ),
        case(
            "R12",
            "known readers as an info",
            base("float32", "0", &pair(r#""scale":100"#, "int16", "")),
            &["readers/support"],
            "zarr-python 3.4.2",
        ),
        case(
            "R13",
            "the chain inside a shard is checked",
            base(
                "float32",
                "0",
                &format!(
                    r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{}],"index_codecs":[{LE},{{"name":"crc32c"}}]}}}}"#,
                    pair(r#""scale":0"#, "int16", "")
                ),
            ),
            &["scale-offset/zero-scale"],
            "a scale of 0",
        ),
        case(
            "R21",
            "a fractional scale is accepted",
            v2(
                "<f4",
                "0",
                &filter(r#""scale":81.17,"offset":0,"dtype":"<f4","astype":"<i2""#),
            ),
            &[],
            "",
        ),
        case(
            "R21 text",
            "a scale in quotes is refused",
            v2(
                "<f4",
                "0",
                &filter(r#""scale":"10","offset":0,"dtype":"<f4","astype":"<i2""#),
            ),
            &["legacy/parameter"],
            "10",
        ),
        case(
            "R31 id",
            "an id in the configuration can be read",
            base(
                "float32",
                "0",
                &format!(
                    "{},{LE}",
                    legacy(&format!(r#""id":"fixedscaleoffset",{LEGACY}"#))
                ),
            ),
            &["legacy/extra-id"],
            "id",
        ),
        case(
            "R31 no astype",
            "astype may be missing",
            base(
                "float32",
                "0",
                &format!("{},{LE}", legacy(r#""scale":10,"offset":0,"dtype":"f4""#)),
            ),
            &["legacy/missing-type"],
            "astype",
        ),
        case(
            "C19 dtype",
            "an error on a dtype that is not the array's",
            v2(
                "<f4",
                "0",
                &filter(r#""scale":10,"offset":0,"dtype":"<f8","astype":"<i2""#),
            ),
            &["legacy/dtype-mismatch"],
            "<f8",
        ),
        case(
            "C08",
            "a warning where byte orders disagree",
            v2(
                "<f4",
                "0.0",
                &filter(r#""scale":10,"offset":0,"dtype":"<f4","astype":">i2""#),
            ),
            &["legacy/byte-order"],
            "big",
        ),
        case(
            "C12",
            "a fractional scale on integers is invalid",
            base(
                "int16",
                "0",
                &format!("{},{LE}", scale_offset(r#""scale":0.25"#)),
            ),
            &["scale-offset/scalar"],
            "0.25",
        ),
        case(
            "C03",
            "the range of what can be stored",
            base("float32", "0.0", &pair(r#""scale":100"#, "int16", "")),
            &["chain/range"],
            "-327.68 to 327.67 in steps of 0.01",
        ),
        case(
            "R46, E2",
            "the line and the key of a bare NaN",
            attributes("float32", "0", r#""missing_value":NaN"#),
            &["json/non-finite"],
            "NaN",
        ),
        case(
            "R48",
            "the text is kept, the bare token reported",
            attributes("float32", "0", r#""note":"NaN","r":[NaN]"#),
            &["json/non-finite"],
            "not finite",
        ),
        case(
            "C17, R67",
            "an error on packing attributes beside a packing chain",
            with(
                "float32",
                r#""NaN""#,
                &pair(
                    r#""scale":10000,"offset":-0.1"#,
                    "uint16",
                    r#","scalar_map":{"encode":[["NaN",0]],"decode":[[0,"NaN"]]}"#,
                ),
                r#""attributes":{"scale_factor":0.0001,"add_offset":-0.1},"#,
            ),
            &["cf/packing-attributes"],
            "scale_factor",
        ),
        case(
            "E1, R52",
            "a number as _FillValue stops xarray",
            attributes("float64", "0", r#""_FillValue":-9999.0"#),
            &["cf/float-fill-encoding"],
            "AAAAAICHw8A=",
        ),
        case(
            "C15, R50",
            "xarray finds neither names nor mask",
            attributes(
                "int16",
                "-9999",
                r#""_ARRAY_DIMENSIONS":["x"],"scale_factor":0.01"#,
            ),
            &["cf/array-dimensions", "cf/fill-not-masked"],
            "dimension_names",
        ),
        case(
            "R51",
            "readers will not mask",
            base("int16", "100", LE),
            &["cf/fill-not-masked"],
            "100",
        ),
        case(
            "R76",
            "packing attributes on floats",
            attributes("float64", "0", r#""scale_factor":0.01"#),
            &["cf/packing-on-float"],
            "floats",
        ),
        case(
            "R78",
            "which code a negative _FillValue is",
            attributes("int8", "0", r#""_Unsigned":"true","_FillValue":-1"#),
            &["cf/unsigned-fill"],
            "255",
        ),
        case(
            "R79",
            "valid_range in the wrong units",
            attributes(
                "int16",
                "0",
                r#""scale_factor":0.01,"valid_range":[0.0,40.0]"#,
            ),
            &["cf/valid-range-units"],
            "packed",
        ),
        case(
            "R80",
            "two missing markers",
            attributes("int16", "0", r#""_FillValue":-999,"missing_value":-99"#),
            &["cf/conflicting-missing"],
            "-999",
        ),
        case(
            "R100",
            "an unknown codec is an error",
            base("float32", "0", &format!(r#"{LE},{{"name":"brotle"}}"#)),
            &["core/unknown-codec"],
            "brotle",
        ),
    ]
}

#[test]
fn documents_of_reports_yield_what_their_rows_ask_for() {
    let cases = cases();
    assert!(cases.len() >= 30);
    for Case {
        row,
        asks,
        document,
        rules,
        says,
    } in &cases
    {
        let found = findings(document);
        if rules.is_empty() {
            assert_eq!(errors(document), [""; 0], "{row}: {asks}");
        }
        for rule in *rules {
            assert!(rules_of(&found).contains(rule), "{row}: {asks}\n{found:#?}");
        }
        let texts: Vec<_> = found
            .iter()
            .filter(|finding| rules.contains(&finding.rule.as_str()))
            .map(|finding| format!("{finding:?}"))
            .collect();
        let said = says.is_empty() || texts.iter().any(|text| text.contains(says));
        assert!(said, "{row}: {asks}\n{texts:#?}");
    }
}

#[test]
fn a_mask_value_that_is_scaled_with_the_data_cannot_match() {
    let sandbox = Sandbox::new();
    sandbox.file(
        ".zarray",
        v2(
            "<f8",
            "255",
            &filter(r#""offset":0,"scale":2,"dtype":"<f8","astype":"|u1""#),
        ),
    );
    sandbox.file(".zattrs", r#"{"_FillValue": 255}"#);
    let outcome = sandbox.run("validate --format json .");
    let nodes = nodes(&outcome);
    let found = nodes[0]
        .findings
        .iter()
        .find(|finding| finding.rule == "cf/fill-cannot-match");
    let hint = found.and_then(|finding| finding.hint.as_deref());
    assert_eq!(
        hint,
        Some("if 255 is the code that means missing, readers see it as 127.5")
    );
}

#[test]
fn a_copy_that_was_forgotten_is_an_error() {
    let sandbox = Sandbox::new();
    let old = base(
        "float32",
        "0",
        &format!(
            "{},{LE}",
            legacy(r#""scale":10,"offset":0,"dtype":"<f4","astype":"<i2""#)
        ),
    );
    let new = base(
        "float32",
        "0",
        &format!(
            "{},{},{LE}",
            scale_offset(r#""scale":10,"offset":0"#),
            cast_value("int16", "")
        ),
    );
    let group = format!(
        r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":
        {{"kind":"inline","must_understand":false,"metadata":{{"a":{old}}}}}}}"#
    );
    std::fs::create_dir(sandbox.path().join("a")).unwrap();
    sandbox.file("zarr.json", group);
    sandbox.file("a/zarr.json", new);
    let outcome = sandbox.run("validate --format json .");
    let found: Vec<_> = nodes(&outcome)
        .into_iter()
        .flat_map(|node| node.findings)
        .filter(|finding| finding.rule == "consolidated/differs")
        .map(|finding| finding.pointer)
        .collect();
    assert_eq!(found, ["/consolidated_metadata/metadata/a/codecs"]);
    // The array alone, with the group around it.
    let outcome = sandbox.run("validate --format json a");
    let found: Vec<_> = nodes(&outcome)
        .into_iter()
        .flat_map(|node| node.findings)
        .filter(|finding| finding.rule == "consolidated/differs")
        .collect();
    assert_eq!(found.len(), 1, "{outcome}");
}

/// The broken documents that no other validator finds fault with, and the one that zarr-python opens.
#[test]
fn seven_broken_documents_yield_their_own_rules() {
    let f32 = |fill: &str, codecs: &str| base("float32", fill, codecs);
    let to_int16 = cast_value("int16", "");
    for (document, rule) in [
        (
            f32("0", &format!("{},{LE}", scale_offset(r#""scale":0"#))),
            "scale-offset/zero-scale",
        ),
        (
            f32(
                "0",
                &format!("{},{LE}", scale_offset(r#""scale":1.5,"foo":1"#)),
            ),
            "scale-offset/unknown-member",
        ),
        (
            f32(r#""NaN""#, &format!("{to_int16},{LE}")),
            "cast-value/fill-round-trip",
        ),
        (
            f32(
                "0",
                &format!(
                    "{},{LE}",
                    cast_value("float16", r#","out_of_range":"wrap""#)
                ),
            ),
            "cast-value/wrap-needs-integer",
        ),
        (
            base(
                "int32",
                "0",
                &format!("{},{LE}", scale_offset(r#""scale":0.5"#)),
            ),
            "scale-offset/scalar",
        ),
        (
            f32("0", &format!("{LE},{}", scale_offset(r#""scale":2"#))),
            "core/codec-order",
        ),
        (
            f32(
                "280.1234",
                &format!("{},{to_int16},{LE}", scale_offset(r#""scale":100"#)),
            ),
            "cast-value/fill-round-trip",
        ),
    ] {
        assert_eq!(errors(&document), [rule], "{document}");
    }
}

#[test]
fn a_document_with_all_faults_yields_all_that_apply() {
    let all = |fill: &str| {
        let codecs = [
            scale_offset(r#""scale":100"#),
            cast_value("int32", ""),
            scale_offset(r#""scale":0.5"#),
            cast_value("float32", r#","out_of_range":"wrap""#),
            scale_offset(r#""scale":0,"foo":1"#),
            LE.to_owned(),
            scale_offset(r#""scale":2"#),
        ];
        let mut found = errors(&base("float32", fill, &codecs.join(",")));
        found.sort();
        found
    };
    let expected = [
        "cast-value/fill-round-trip",
        "cast-value/wrap-needs-integer",
        "core/codec-order",
        "scale-offset/scalar",
        "scale-offset/unknown-member",
        "scale-offset/zero-scale",
    ];
    assert_eq!(all(r#""NaN""#), expected);
    assert_eq!(all("280.1234"), expected);
}

/// A NaN meets its end at a cast even behind a codec that is at fault itself.
#[test]
fn a_fill_of_nan_is_followed_past_what_is_wrong() {
    let codecs = format!(
        "{},{},{LE}",
        scale_offset(r#""scale":0"#),
        cast_value("int16", "")
    );
    let mut found = errors(&base("float32", r#""NaN""#, &codecs));
    found.sort();
    assert_eq!(
        found,
        ["cast-value/fill-round-trip", "scale-offset/zero-scale"]
    );
    let mapped = cast_value(
        "int16",
        r#","scalar_map":{"encode":[["NaN",0]],"decode":[[0,"NaN"]]}"#,
    );
    let codecs = format!("{},{mapped},{LE}", scale_offset(r#""scale":0"#));
    assert_eq!(
        errors(&base("float32", r#""NaN""#, &codecs)),
        ["scale-offset/zero-scale"]
    );
}

#[test]
fn the_specification_has_no_errors_once_its_examples_are_whole() {
    let first = format!("{},{LE}", scale_offset(r#""offset":5,"scale":0.1"#));
    assert_eq!(errors(&base("float32", "0", &first)), [""; 0]);
    let second = format!(
        r#"{},{},"bytes""#,
        scale_offset(r#""offset":1000"#),
        cast_value("uint8", "")
    );
    assert_eq!(errors(&base("uint16", "1000", &second)), [""; 0]);
    let third = format!(
        r#"{},{},"bytes""#,
        scale_offset(r#""offset":-10,"scale":0.1"#),
        cast_value(
            "uint8",
            r#","rounding":"nearest-even","scalar_map":{"encode":[["NaN",0]],"decode":[[0,"NaN"]]}"#
        )
    );
    assert_eq!(errors(&base("float64", r#""NaN""#, &third)), [""; 0]);
    let found = findings(&base("uint16", "0", &second));
    let lost: Vec<_> = found
        .iter()
        .filter(|finding| finding.rule == "scale-offset/fill-not-representable")
        .collect();
    assert_eq!(lost.len(), 1);
    assert_eq!(
        lost[0].hint.as_deref(),
        Some("fill values from 1000 to 1255 would do")
    );
}
