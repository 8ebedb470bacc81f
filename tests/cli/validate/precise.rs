//! What findings say is true of every document of their kind, and no fault hides another.

use zarrpack::rules::Severity;

use crate::harness::Sandbox;

use super::{LE, base, cast_value, errors, findings, rules_of, scale_offset, v2, with};

fn pair(members: &str, to: &str, more: &str) -> String {
    format!("{},{},{LE}", scale_offset(members), cast_value(to, more))
}

/// The hint of a rule's finding.
fn hint(document: &str, rule: &str) -> String {
    let found = findings(document);
    let finding = found.iter().find(|finding| finding.rule == rule);
    assert!(finding.is_some(), "{rule}: {found:?}");
    let finding = finding.unwrap();
    finding.hint.clone().unwrap_or_default()
}

/// The pointers of a rule's findings.
fn pointers(document: &str, rule: &str) -> Vec<String> {
    let found = findings(document).into_iter();
    found
        .filter(|finding| finding.rule == rule)
        .map(|finding| finding.pointer)
        .collect()
}

#[test]
fn fills_that_are_proposed_survive() {
    const LOST: &str = "cast-value/fill-round-trip";
    let cases = [
        ("float32", r#""offset":200,"scale":10"#, "uint8", "0.5"),
        ("float64", r#""offset":273.15,"scale":100"#, "int16", "0.5"),
        ("float32", r#""offset":200,"scale":10"#, "uint8", "200.1"),
    ];
    for (data_type, members, to, fill) in cases {
        let codecs = pair(members, to, "");
        let hint = hint(&base(data_type, fill, &codecs), LOST);
        assert!(!hint.contains("from "), "{members}: {hint}");
        let numbers = hint
            .split([' ', ';'])
            .filter(|word| word.parse::<f64>().is_ok());
        for number in numbers {
            assert_eq!(
                errors(&base(data_type, number, &codecs)),
                [""; 0],
                "{members}: {number} of {hint:?}"
            );
        }
    }
    // Whole numbers are few enough to try each.
    let codecs = pair(r#""scale":0.1"#, "uint8", "");
    assert_eq!(
        hint(&base("float64", "3", &codecs), LOST),
        "a fill value of 0 survives; fill values from 0 to 2550 in steps of 10 would do"
    );
    for number in ["10", "30", "70", "690", "2550"] {
        assert_eq!(
            errors(&base("float64", number, &codecs)),
            [""; 0],
            "{number}"
        );
    }
    let codecs = pair(r#""offset":1000"#, "uint8", "");
    assert_eq!(
        hint(
            &base("uint16", "0", &codecs),
            "scale-offset/fill-not-representable"
        ),
        "fill values from 1000 to 1255 would do"
    );
    let codecs = pair(r#""offset":-10"#, "uint8", "");
    assert_eq!(
        hint(&base("float32", "0.5", &codecs), LOST),
        "a fill value of 0 survives; fill values from -10 to 245 would do"
    );
}

#[test]
fn a_chain_that_was_not_looked_at_is_an_error_with_its_length() {
    let codecs = vec![LE; 600].join(",");
    let inner = vec![LE; 300].join(",");
    let shard = format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{inner}],"index_codecs":[{inner}]}}}}"#
    );
    let filters = vec![r#"{"id":"delta","dtype":"<f4"}"#; 513].join(",");
    for (document, length) in [
        (base("float32", "0", &codecs), 600),
        (base("float32", "0", &shard), 601),
        (v2("<f4", "0", &filters), 513),
    ] {
        let found = findings(&document);
        let finding = found
            .iter()
            .find(|finding| finding.rule == "core/chain-length")
            .unwrap();
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.found, format!("{length} codecs"));
    }
    let codecs = vec![LE; 512].join(",");
    assert!(!errors(&base("float32", "0", &codecs)).contains(&"core/chain-length".to_owned()));
}

#[test]
fn copies_of_null_and_copies_without_a_flag_are_told_apart() {
    let group = |block: &str| {
        format!(r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":{block}}}"#)
    };
    let rules = |block: &str| -> Vec<String> {
        let found = findings(&group(block)).into_iter();
        found
            .map(|finding| finding.rule)
            .filter(|rule| rule.starts_with("consolidated/"))
            .collect()
    };
    assert_eq!(rules("null"), ["consolidated/null"]);
    let flag = "consolidated/must-understand";
    assert_eq!(rules(r#"{"kind":"inline","metadata":{}}"#), [flag]);
    for value in ["null", "true"] {
        let block = format!(r#"{{"kind":"inline","must_understand":{value},"metadata":{{}}}}"#);
        assert_eq!(rules(&block), [flag]);
    }
    assert_eq!(
        rules(
            r#"{"kind":"inline","must_understand":false,"metadata":
{"g":{"zarr_format":3,"node_type":"group","consolidated_metadata":null}}}"#
        ),
        ["consolidated/null"]
    );
}

#[test]
fn mask_values_are_numbers_however_they_are_spelt() {
    let found = |data_type: &str, attributes: &str, codecs: &str| -> Vec<String> {
        let more = format!(r#""attributes":{{{attributes}}},"#);
        let found = findings(&with(data_type, "0", codecs, &more)).into_iter();
        found
            .map(|finding| finding.rule)
            .filter(|rule| ["cf/fill-cannot-match", "cf/conflicting-missing"].contains(&&**rule))
            .collect()
    };
    assert_eq!(found("int32", r#""_FillValue":1.0"#, LE), [""; 0]);
    assert_eq!(found("int32", r#""_FillValue":-9.99e2"#, LE), [""; 0]);
    assert_eq!(
        found("int32", r#""_FillValue":-999,"missing_value":-999.0"#, LE),
        [""; 0]
    );
    let cannot = "cf/fill-cannot-match";
    assert_eq!(found("int32", r#""_FillValue":1.5"#, LE), [cannot]);
    assert_eq!(found("uint8", r#""_FillValue":-999.0"#, LE), [cannot]);
    let packed = pair("", "uint8", "");
    assert_eq!(found("int32", r#""missing_value":255.0"#, &packed), [""; 0]);
    assert_eq!(
        found("int32", r#""missing_value":256.0"#, &packed),
        [cannot]
    );
}

#[test]
fn an_entry_that_clamping_or_a_map_leads_to_is_reachable() {
    const RULE: &str = "cast-value/unreachable-entry";
    let infinity = cast_value(
        "uint8",
        r#","out_of_range":"clamp","scalar_map":{"encode":[["Infinity",255]],"decode":[[255,"Infinity"]]}"#,
    );
    let nan = cast_value(
        "uint8",
        r#","out_of_range":"clamp","scalar_map":{"encode":[["NaN",255]],"decode":[[255,"NaN"]]}"#,
    );
    let found = |first: &str, second: &str| {
        let document = base("int32", "1", &format!("{first},{second},{LE}"));
        pointers(&document, RULE)
    };
    let clamps = cast_value("float16", r#","out_of_range":"clamp""#);
    let at = ["/codecs/1/configuration/scalar_map/encode/0"];
    assert_eq!(found(&clamps, &infinity), [""; 0]);
    assert_eq!(found(&clamps, &nan), at);
    let plain = cast_value("float16", "");
    assert_eq!(found(&plain, &infinity), at);
    let mapped = cast_value("float16", r#","scalar_map":{"encode":[[7,"NaN"]]}"#);
    assert_eq!(found(&mapped, &nan), [""; 0]);
    assert_eq!(found(&mapped, &infinity), at);
}

#[test]
fn a_broken_codec_does_not_hide_the_order_of_bytes_behind_it() {
    let bytes = r#"{"name":"bytes"}"#;
    for codecs in [
        format!("{},{bytes}", scale_offset(r#""scale":0"#)),
        format!("{},{bytes}", cast_value("int16", r#","rounding":"up""#)),
        format!(
            "{},{},{bytes}",
            scale_offset(r#""scale":0,"x":1"#),
            cast_value("int16", r#","scalar_map":7"#)
        ),
        format!(
            r#"{},{{"name":"transpose","configuration":{{"order":[0]}}}},{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{bytes}],"index_codecs":[{LE}]}}}}"#,
            scale_offset(r#""scale":0"#)
        ),
    ] {
        let errors = errors(&base("float32", "0", &codecs));
        assert!(
            errors.contains(&"chain/bytes-endian".to_owned()) && errors.len() > 1,
            "{codecs}: {errors:?}"
        );
    }
    // A cast to a single byte leaves nothing to order.
    let single = format!("{},{bytes}", cast_value("uint8", r#","rounding":"up""#));
    assert!(!errors(&base("float32", "0", &single)).contains(&"chain/bytes-endian".to_owned()));
}

#[test]
fn a_document_that_does_not_call_itself_an_array_is_looked_at_as_one() {
    let whole = base("float32", "0", &pair(r#""scale":0"#, "uint8", ""));
    for node_type in ["", r#""node_type":"table","#] {
        let document = whole.replace(r#""node_type":"array","#, node_type);
        let found = findings(&document);
        let rules = rules_of(&found);
        assert!(rules.contains(&"scale-offset/zero-scale"), "{rules:?}");
        assert_eq!(rules.len(), 2, "{rules:?}");
    }
}

#[test]
fn configurations_of_core_codecs_are_held_to_the_specification() {
    const RULE: &str = "core/configuration";
    let behind = |codec: &str| base("float32", "0", &format!("{LE},{codec}"));
    let cases = [
        (r#"{"name":"gzip","configuration":{"level":10}}"#, "/level"),
        (r#"{"name":"gzip","configuration":{"level":1.0}}"#, "/level"),
        (r#"{"name":"gzip","configuration":{"level":"1"}}"#, "/level"),
        (r#"{"name":"gzip","configuration":{}}"#, "/level"),
        (r#"{"name":"gzip","configuration":{"level":1,"x":1}}"#, "/x"),
        (
            r#"{"name":"zstd","configuration":{"level":23,"checksum":false}}"#,
            "/level",
        ),
        (
            r#"{"name":"zstd","configuration":{"level":1}}"#,
            "/checksum",
        ),
        (
            r#"{"name":"zstd","configuration":{"level":1,"checksum":0}}"#,
            "/checksum",
        ),
        (r#"{"name":"crc32c","configuration":{"seed":1}}"#, "/seed"),
        (
            r#"{"name":"numcodecs.zlib","configuration":{"level":10}}"#,
            "/level",
        ),
    ];
    for (codec, member) in cases {
        assert_eq!(
            pointers(&behind(codec), RULE),
            [format!("/codecs/1/configuration{member}")],
            "{codec}"
        );
    }
    let blosc = |changed: &str, value: &str| {
        let mut members = [
            ("cname", r#""zstd""#),
            ("clevel", "5"),
            ("shuffle", r#""shuffle""#),
            ("typesize", "4"),
            ("blocksize", "0"),
        ];
        for (name, held) in &mut members {
            if *name == changed {
                *held = value;
            }
        }
        let members: Vec<_> = members
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!(r#""{name}":{value}"#))
            .collect();
        let codec = format!(
            r#"{{"name":"blosc","configuration":{{{}}}}}"#,
            members.join(",")
        );
        pointers(&behind(&codec), RULE)
    };
    assert_eq!(blosc("", ""), [""; 0]);
    assert_eq!(blosc("blocksize", ""), [""; 0]);
    for (name, value) in [
        ("cname", r#""lz5""#),
        ("cname", ""),
        ("clevel", "10"),
        ("shuffle", "1"),
        ("shuffle", ""),
        ("typesize", "0"),
        ("typesize", ""),
        ("blocksize", "-1"),
    ] {
        let at = format!("/codecs/1/configuration/{name}");
        assert_eq!(blosc(name, value), [at], "{name} {value}");
    }
    for name in ["gzip", "zstd", "blosc"] {
        let bare = pointers(&behind(&format!(r#""{name}""#)), RULE);
        assert_eq!(bare, ["/codecs/1"], "{name}");
    }
    assert_eq!(pointers(&behind(r#""crc32c""#), RULE), [""; 0]);
}

#[test]
fn orders_indexes_and_keys_are_held_to_the_specification() {
    const RULE: &str = "core/configuration";
    for order in [r#""C""#, r#""F""#, "[1]", "[0,0]", "0"] {
        let codec = format!(r#"{{"name":"transpose","configuration":{{"order":{order}}}}},{LE}"#);
        assert_eq!(
            pointers(&base("float32", "0", &codec), "core/transpose-order"),
            ["/codecs/0/configuration/order"],
            "{order}"
        );
    }
    let shard = |index: &str, more: &str| {
        let codec = format!(
            r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":[2],"codecs":[{LE}],"index_codecs":[{LE}{index}]{more}}}}}"#
        );
        pointers(&base("float32", "0", &codec), RULE)
    };
    assert_eq!(shard(r#","crc32c""#, ""), [""; 0]);
    assert_eq!(
        shard(r#",{"name":"gzip","configuration":{"level":1}}"#, ""),
        ["/codecs/0/configuration/index_codecs/1"]
    );
    assert_eq!(shard("", r#","x":1"#), ["/codecs/0/configuration/x"]);
    let document = base("float32", "0", LE).replace(
        r#"{"name":"default"}"#,
        r#"{"name":"default","configuration":{"separator":"/","x":1}}"#,
    );
    assert_eq!(
        pointers(&document, RULE),
        ["/chunk_key_encoding/configuration/x"]
    );
    assert_eq!(pointers(&base("string", r#""""#, LE), RULE), ["/codecs/0"]);
}

#[test]
fn fills_and_lengths_of_other_types_are_held_to_the_specification() {
    const RULE: &str = "core/fill-value";
    let text = |fill: &str| pointers(&base("string", fill, r#"{"name":"vlen-utf8"}"#), RULE);
    assert_eq!(text(r#""""#), [""; 0]);
    assert_eq!(text("null"), ["/fill_value"]);
    assert_eq!(text("0"), ["/fill_value"]);
    let complex = |fill: &str| pointers(&base("complex64", fill, LE), RULE);
    assert_eq!(complex(r#"[0,"NaN"]"#), [""; 0]);
    assert_eq!(complex("[0,1e39]"), ["/fill_value/1"]);
    assert_eq!(complex("0"), ["/fill_value"]);
    for (name, known) in [("r8", true), ("r16", true), ("r7", false), ("r0", false)] {
        let found = pointers(&base(name, "[0]", LE), "core/unknown-data-type");
        assert_eq!(found.is_empty(), known, "{name}");
    }
    let fixed = |length: &str| {
        let document = base("here", r#""""#, LE).replace(
            r#""here""#,
            &format!(
                r#"{{"name":"fixed_length_utf32","configuration":{{"length_bytes":{length}}}}}"#
            ),
        );
        pointers(&document, "core/configuration")
    };
    assert_eq!(fixed("8"), [""; 0]);
    assert_eq!(fixed("6"), ["/data_type/configuration/length_bytes"]);
    assert_eq!(fixed("0"), ["/data_type/configuration/length_bytes"]);
}

#[test]
fn ranges_leave_out_codes_that_mean_something_else() {
    let range = |data_type: &str, fill: &str, codecs: &str| {
        let found = findings(&base(data_type, fill, codecs)).into_iter();
        let mut found = found.filter(|finding| finding.rule == "chain/range");
        found.next().map(|finding| finding.found)
    };
    let map = r#","scalar_map":{"encode":[["NaN",255]],"decode":[[255,"NaN"]]}"#;
    assert_eq!(
        range("float32", r#""NaN""#, &pair("", "uint8", map)).as_deref(),
        Some("this chain holds 0 to 254 in steps of 1")
    );
    assert_eq!(
        range("float32", "0", &pair("", "uint8", "")).as_deref(),
        Some("this chain holds 0 to 255 in steps of 1")
    );
}

#[test]
fn pairs_are_proposed_where_they_lead_to_no_error() {
    const RULE: &str = "cast-value/one-way-map";
    let hints = |fill: &str, map: &str| -> Vec<Option<String>> {
        let codecs = format!(
            "{},{LE}",
            cast_value("uint8", &format!(r#","scalar_map":{map}"#))
        );
        let found = findings(&base("float32", fill, &codecs)).into_iter();
        found
            .filter(|finding| finding.rule == RULE)
            .map(|finding| finding.hint)
            .collect()
    };
    assert_eq!(
        hints("0", r#"{"encode":[["NaN",255]]}"#),
        [Some(r#"add [255, "NaN"] to "decode""#.to_owned())]
    );
    // The pair would take the fill away, or stand there twice.
    assert_eq!(hints("255", r#"{"encode":[["NaN",255]]}"#), [None]);
    assert_eq!(
        hints("0", r#"{"encode":[["NaN",255],["Infinity",255]]}"#),
        [None, None]
    );
}

#[test]
fn attributes_that_xarray_cannot_read_are_told_of() {
    let found = |data_type: &str, attributes: &str| -> Vec<String> {
        let more = format!(r#""attributes":{{{attributes}}},"#);
        let found = findings(&with(data_type, "0", LE, &more)).into_iter();
        found
            .map(|finding| finding.rule)
            .filter(|rule| ["cf/text-number", "cf/float-fill-encoding"].contains(&&**rule))
            .collect()
    };
    for value in [r#""NaN""#, r#""!!!""#, "1.5", "[1]", "true"] {
        assert!(
            found("float32", &format!(r#""_FillValue":{value}"#))
                .contains(&"cf/float-fill-encoding".to_owned()),
            "{value}"
        );
    }
    assert_eq!(found("float32", r#""_FillValue":"AAAAAAAA+H8=""#), [""; 0]);
    assert_eq!(found("int16", r#""_FillValue":"-999""#), ["cf/text-number"]);
    for value in ["0", "0.0", "true", "[1,2]", "[]", r#""1""#] {
        assert_eq!(
            found("int16", &format!(r#""scale_factor":{value}"#)),
            ["cf/text-number"],
            "{value}"
        );
    }
    assert_eq!(found("int16", r#""scale_factor":0.5"#), [""; 0]);
}

#[test]
fn patterns_choose_nothing_in_a_single_document() {
    let outcome =
        Sandbox::new().run_with(["validate", "--array", "x", "-"], base("float32", "0", LE));
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("single document"), "{outcome}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_node_whose_name_is_no_text_is_counted_as_unreadable() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::new();
    let group = r#"{"zarr_format":3,"node_type":"group"}"#;
    let inner = sandbox.path().join("s").join(OsStr::from_bytes(b"\xff"));
    std::fs::create_dir_all(&inner).unwrap();
    sandbox.file("s/zarr.json", group);
    std::fs::write(inner.join("zarr.json"), group).unwrap();
    let outcome = sandbox.run("validate --format json s");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
    let report: zarrpack::report::validate::Report = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report.summary.unreadable, 1);
    assert_eq!(report.stores[0].unreadable.len(), 1);
}

#[test]
fn types_and_fills_of_v2_are_what_numpy_takes() {
    let fill = |dtype: &str, fill: &str| errors(&v2(dtype, fill, ""));
    for (dtype, wrong) in [
        ("<M8[s]", r#""2000-01-01""#),
        ("|V2", "0"),
        ("|S3", r#""!!""#),
        ("|S3", r#""YWJjZA==""#),
        ("|V2", r#""YWJj""#),
    ] {
        assert_eq!(fill(dtype, wrong), ["core/fill-value"], "{dtype} {wrong}");
    }
    for (dtype, right) in [
        ("<M8[s]", "5"),
        ("<c8", "[0,1]"),
        ("|S3", r#""YWJj""#),
        ("|b1", "false"),
        ("<f4", r#""NaN""#),
    ] {
        assert_eq!(fill(dtype, right), [""; 0], "{dtype} {right}");
    }
    let fields = |fields: &str| {
        let document = v2("<f4", "null", "").replace(r#""<f4""#, fields);
        errors(&document)
    };
    for wrong in [
        "[]",
        r#"[["a","foo"]]"#,
        r#"[["a","<f4"],["a","<f4"]]"#,
        "[null]",
    ] {
        assert_eq!(fields(wrong), ["core/unknown-data-type"], "{wrong}");
    }
    assert_eq!(fields(r#"[["a","<f4"],["b","<i2"]]"#), [""; 0]);
}
