//! Reading `.zarray`, `.zgroup` and `.zattrs`.

use super::super::json::{Limits, NonFinite, Parsed, parse};
use super::*;

const ARRAY: &str = r#"{
    "zarr_format": 2,
    "shape": [6, 8],
    "chunks": [3, 4],
    "dtype": "<f4",
    "compressor": {"id": "zlib", "level": 1},
    "fill_value": "NaN",
    "order": "C",
    "filters": [{"id": "fixedscaleoffset", "offset": 250, "scale": 100, "dtype": "<f4", "astype": "<u2"}]
}"#;

fn tree(text: &str) -> Parsed {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap()
}

/// [`ARRAY`] with one piece of its text replaced.
fn changed(from: &str, to: &str) -> String {
    assert!(ARRAY.contains(from), "{from}");
    ARRAY.replacen(from, to, 1)
}

fn problems_of(text: &str) -> Vec<String> {
    let parsed = tree(text);
    let mut problems = Problems::default();
    array(&Node::root(&parsed.root), &mut problems);
    problems.listed.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn with_array(text: &str, check: impl FnOnce(Array<'_>)) {
    let parsed = tree(text);
    let mut problems = Problems::default();
    let array = array(&Node::root(&parsed.root), &mut problems);
    assert_eq!(problems.listed, []);
    check(array.complete().unwrap());
}

#[test]
fn reads_an_array() {
    with_array(ARRAY, |array| {
        assert_eq!(array.shape.value, [6, 8]);
        assert_eq!(array.chunks.value, [3, 4]);
        assert_eq!(
            array.dtype.value,
            DataType::Simple(Dtype::parse("<f4").unwrap())
        );
        assert_eq!(array.compressor.unwrap().id.value, "zlib");
        assert_eq!(array.filters[0].id.value, "fixedscaleoffset");
        assert_eq!(array.filters[0].node.pointer.to_string(), "/filters/0");
        assert_eq!(array.order.value, Order::C);
        assert_eq!(array.fill_value.value, FillValue::NonFinite("NaN"));
        assert_eq!(array.dimension_separator, None);
    });
}

#[test]
fn an_absent_separator_is_not_a_dot() {
    let with = |separator: &str| {
        changed(
            "\"order\"",
            &format!("\"dimension_separator\": \"{separator}\", \"order\""),
        )
    };
    let separator = |text: &str| {
        let mut found = None;
        with_array(text, |array| {
            found = array.dimension_separator.map(|separator| separator.value)
        });
        found
    };
    assert_eq!(separator(ARRAY), None);
    assert_eq!(separator(&with(".")), Some(Separator::Dot));
    assert_eq!(separator(&with("/")), Some(Separator::Slash));
    assert_eq!(
        problems_of(&with("-")),
        ["/dimension_separator: expected \".\" or \"/\", found \"-\""]
    );
}

#[test]
fn fill_values_take_their_form_from_the_type() {
    #[track_caller]
    fn fill(dtype: &str, value: &str, expected: FillValue<'_>) {
        let text = changed("\"<f4\"", dtype).replacen("\"NaN\"", value, 1);
        with_array(&text, |array| assert_eq!(array.fill_value.value, expected));
    }
    fill("\"<f4\"", "null", FillValue::Undefined);
    fill("\"<i2\"", "-9999", FillValue::Number("-9999"));
    fill("\"<f4\"", "1.50", FillValue::Number("1.50"));
    fill("\"<f4\"", "-Infinity", FillValue::NonFinite("-Infinity"));
    fill("\"<f4\"", "\"0x7fc00000\"", FillValue::Text("0x7fc00000"));
    fill("\"|b1\"", "false", FillValue::Bool(false));
    fill("\"|S3\"", "\"YWJj\"", FillValue::Base64("YWJj"));
    fill("\"|S3\"", "\"NaN\"", FillValue::Base64("NaN"));
    fill("\"<U3\"", "\"NaN\"", FillValue::Text("NaN"));
    fill(
        "[[\"a\", \"<i4\"]]",
        "\"AAAAAA==\"",
        FillValue::Base64("AAAAAA=="),
    );
    let complex = changed("\"<f4\"", "\"<c8\"").replacen("\"NaN\"", "[0, \"NaN\"]", 1);
    with_array(&complex, |array| {
        assert!(matches!(array.fill_value.value, FillValue::Other(_)))
    });
}

#[test]
fn null_means_no_codecs() {
    let text = ARRAY.replace("{\"id\": \"zlib\", \"level\": 1}", "null");
    let start = text.find("[{\"id\"").unwrap();
    let text = format!("{}null}}", &text[..start]);
    with_array(&text, |array| {
        assert_eq!(array.compressor, None);
        assert_eq!(array.filters, []);
    });
}

#[test]
fn reports_all_problems_at_once() {
    let text = r#"{
        "zarr_format": 3, "shape": [1.0], "chunks": 4, "dtype": "<f3", "compressor": "zlib",
        "order": "A", "filters": [{}, {"id": 1}], "note": 1
    }"#;
    assert_eq!(
        problems_of(text),
        [
            "/zarr_format: expected 2, found the number 3",
            "/shape/0: expected an integer from 0 to 18446744073709551615, written in digits alone, found the number 1.0",
            "/chunks: expected an array of integers, found the number 4",
            "/dtype: expected a data type such as \"<f4\", or a list of fields, found \"<f3\"",
            "/compressor: expected a codec: an object with an \"id\", found \"zlib\"",
            "/fill_value: expected a member \"fill_value\", found nothing",
            "/order: expected \"C\" or \"F\", found \"A\"",
            "/filters/0/id: expected a member \"id\", found nothing",
            "/filters/1/id: expected the name of a codec, found the number 1",
        ]
    );
    assert_eq!(
        problems_of(&changed("[3, 4]", "[3]")),
        ["/chunks: expected 2 lengths, as many as the array has dimensions, found 1 lengths"]
    );
    assert_eq!(
        problems_of("3"),
        [": expected an object, found the number 3"]
    );
}

#[test]
fn unknown_members_are_kept() {
    with_array(&changed("\"order\"", "\"note\": 1, \"order\""), |array| {
        assert_eq!(array.extras[0].name, "note");
    });
}

#[test]
fn reads_groups_and_attributes() {
    let mut problems = Problems::default();
    let parsed = tree(r#"{"zarr_format": 2, "x": 1}"#);
    assert_eq!(group(&Node::root(&parsed.root), &mut problems)[0].name, "x");
    let parsed = tree(r#"{"units": "K"}"#);
    assert!(attributes(&Node::root(&parsed.root), &mut problems).is_some());
    assert_eq!(problems.listed, []);
    let parsed = tree("[]");
    assert!(attributes(&Node::root(&parsed.root), &mut problems).is_none());
    group(&Node::root(&parsed.root), &mut problems);
    assert_eq!(problems.listed.len(), 2);
}
