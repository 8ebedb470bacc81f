//! Zarr v2 documents.

use super::*;

fn v2_document(dtype: &str, fill: &str, order: &str, filters: &str, compressor: &str) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":[2,2],"chunks":[2,2],"dtype":{dtype},"fill_value":{fill},"order":"{order}",
        "filters":{filters},"compressor":{compressor}}}"#
    )
}

#[test]
fn bytes_of_v2_chunks_have_the_order_of_the_last_filter() {
    let filters =
        r#"[{"id":"fixedscaleoffset","dtype":"<f4","astype":">i2","scale":2,"offset":10}]"#;
    let chunk: Vec<u8> = [0_i16, 2, 4, 6]
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    for (order, expected) in [
        ("C", [10.0, 11.0, 12.0, 13.0]),
        ("F", [10.0, 12.0, 11.0, 13.0]),
    ] {
        let text = v2_document("\"<f4\"", "0", order, filters, "null");
        let array = open(&text, store(&[("0.0", chunk.clone())])).unwrap();
        assert_eq!(
            floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
            expected
        );
    }
    // A filter may stand where the compressor does.
    let compressor = filters.trim_matches(['[', ']']);
    let text = v2_document("\"<f4\"", "0", "C", "null", compressor);
    let array = open(&text, store(&[("0.0", chunk)])).unwrap();
    assert_eq!(
        floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
        [10.0, 11.0, 12.0, 13.0]
    );
}

#[test]
fn v2_documents_that_do_not_fit_are_refused_at_their_members() {
    let legacy = |dtype: &str| {
        format!(
            r#"[{{"id":"fixedscaleoffset","dtype":"{dtype}","astype":"|u1","scale":2,"offset":1}}]"#
        )
    };
    let gzip = r#"{"id":"gzip","level":1}"#;
    for (dtype, fill, filters, pointer, kind) in [
        (
            "\"<f4\"",
            "0",
            legacy("<f8").as_str(),
            "/filters/0/dtype",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            &legacy(">f4"),
            "/filters/0/dtype",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            &legacy("<f4").replace(":2", ":0"),
            "/filters/0/scale",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            r#"[{"id":"zzz"}]"#,
            "/filters/0",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<f4\"",
            "0",
            &format!("[{gzip},{}]", legacy("<f4").trim_matches(['[', ']'])),
            "/filters/1",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"|S3\"",
            "\"\"",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<U3\"",
            "\"\"",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<M8[ns]\"",
            "0",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"|O\"",
            "0",
            r#"[{"id":"vlen-utf8"}]"#,
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            r#"[["a","<i4"]]"#,
            "null",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<i2\"",
            "0.5",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<i2\"",
            "\"NaN\"",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
        (
            "\"|u1\"",
            "-1",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
    ] {
        let problem = problem(&v2_document(dtype, fill, "C", filters, "null"));
        assert_eq!(
            (problem.pointer.as_str(), problem.kind),
            (pointer, kind),
            "{problem}"
        );
    }
}

#[test]
fn fills_of_v2_documents() {
    for (dtype, fill, defined, bytes) in [
        ("\"<f4\"", "null", false, vec![0; 4]),
        ("\"|b1\"", "null", false, vec![0]),
        ("\"|b1\"", "1", true, vec![1]),
        ("\"<i2\"", "-3.0", true, (-3_i16).to_ne_bytes().to_vec()),
        ("\">i2\"", "7", true, 7_i16.to_ne_bytes().to_vec()),
        (
            "\"<f8\"",
            "\"-Infinity\"",
            true,
            f64::NEG_INFINITY.to_ne_bytes().to_vec(),
        ),
        (
            "\"<c8\"",
            "[1.0,2.0]",
            true,
            [1.0_f32.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat(),
        ),
        ("\"<c8\"", "null", false, vec![0; 8]),
    ] {
        let array = open(&v2_document(dtype, fill, "C", "null", "null"), store(&[])).unwrap();
        assert_eq!(
            (array.fill(), array.fill_is_defined()),
            (bytes.as_slice(), defined),
            "{dtype} {fill}"
        );
    }
}

#[test]
fn filters_of_numcodecs_work_together() {
    // Differences of 1, 3, 6, 10 in another type and order, then their bytes shuffled.
    let filters =
        r#"[{"id":"delta","dtype":"<i4","astype":">i2"},{"id":"shuffle","elementsize":2}]"#;
    let chunk = vec![0, 0, 0, 0, 1, 2, 3, 4];
    let array = open(
        &v2_document("\"<i4\"", "0", "C", filters, "null"),
        store(&[("0.0", chunk)]),
    )
    .unwrap();
    let expected: Vec<u8> = [1_i32, 3, 6, 10]
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    assert_eq!(array.decode_chunk(&[0, 0]).unwrap().unwrap(), expected);
    // Each takes what the one before it gives.
    let filters = r#"[{"id":"astype","decode_dtype":"<f8","encode_dtype":">f4"},
        {"id":"bitround","keepbits":5},
        {"id":"quantize","digits":2,"dtype":">f4","astype":"<f4"}]"#;
    let chunk = [1.5_f32, 2.0, -3.0, 0.25]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let array = open(
        &v2_document("\"<f8\"", "0", "C", filters, "null"),
        store(&[("0.0", chunk)]),
    )
    .unwrap();
    let expected: Vec<u8> = [1.5_f64, 2.0, -3.0, 0.25]
        .iter()
        .flat_map(|value| value.to_ne_bytes())
        .collect();
    assert_eq!(array.decode_chunk(&[0, 0]).unwrap().unwrap(), expected);
    let text = v2_document("\"|b1\"", "false", "C", r#"[{"id":"packbits"}]"#, "null");
    let array = open(&text, store(&[("0.0", vec![4, 0b1011_0000])])).unwrap();
    assert_eq!(array.decode_chunk(&[0, 0]).unwrap().unwrap(), [1, 0, 1, 1]);
}
