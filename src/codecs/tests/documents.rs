//! Documents that must not open, and hostile ones.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn documents_that_zarrs_would_open_are_refused() {
    for (codecs, pointer, words) in [
        (r#""bytes""#, "/codecs/0", "bytes"),
        (
            &format!(r#"{LITTLE},{{"name":"nope","must_understand":false}}"#),
            "/codecs/1",
            "not known",
        ),
        (
            &format!("{LITTLE},{PAIR}"),
            "/codecs/1",
            "behind a codec that makes bytes",
        ),
        (
            &format!(r#"{LITTLE},{{"name":"transpose","configuration":{{"order":[0]}}}}"#),
            "/codecs/1",
            "behind",
        ),
        (&format!("{LITTLE},{LITTLE}"), "/codecs/1", "a second codec"),
        (
            &format!(r#"{{"name":"gzip","configuration":{{"level":1}}}},{LITTLE}"#),
            "/codecs/0",
            "before a codec",
        ),
        (PAIR, "/codecs", "no codec that makes bytes"),
        (
            &format!(r#"{{"name":"scale_offset","configuration":{{"scale":"1"}}}},{LITTLE}"#),
            "/codecs/0/configuration/scale",
            "scale-offset/scalar",
        ),
        (
            &format!(r#"{{"name":"scale_offset","configuration":{{"gain":1}}}},{LITTLE}"#),
            "/codecs/0/configuration/gain",
            "unknown member",
        ),
        (
            &format!(
                r#"{PAIR},{{"name":"cast_value","configuration":{{"data_type":"float16","out_of_range":"wrap"}}}},{LITTLE}"#
            ),
            "/codecs/2/configuration/out_of_range",
            "wrap",
        ),
        (
            &format!(r#"{{"name":"transpose","configuration":{{"order":[1]}}}},{LITTLE}"#),
            "/codecs/0",
            "transpose",
        ),
        (
            &shard("[3]", LITTLE),
            "/codecs/0/configuration/chunk_shape",
            "do not fill a shard",
        ),
        (
            &shard("[2]", r#""bytes""#),
            "/codecs/0/configuration/codecs/0",
            "bytes",
        ),
        (
            &shard("[2,2]", LITTLE),
            "/codecs/0/configuration/chunk_shape",
            "dimensions",
        ),
        (
            &format!(r#"{{"name":"numcodecs.delta","configuration":{{"dtype":"<i8"}}}},{LITTLE}"#),
            "/codecs/0",
            "the type at this place",
        ),
    ] {
        let problem = problem(&document("[4]", "[4]", "float32", "0", codecs));
        assert_eq!(problem.pointer, pointer, "{problem}");
        assert!(problem.message.contains(words), "{problem}");
    }
    let compressed_index = shard("[2]", LITTLE).replace(
        &format!("\"index_codecs\":[{LITTLE}]"),
        &format!(r#""index_codecs":[{LITTLE},{{"name":"gzip","configuration":{{"level":1}}}}]"#),
    );
    let problem = problem(&document("[4]", "[4]", "float32", "0", &compressed_index));
    assert!(problem.message.contains("encoded size"), "{problem}");
}

#[test]
fn fills_and_types_are_checked() {
    for (data_type, fill, pointer) in [
        ("uint8", "256", "/fill_value"),
        ("float32", "1e39", "/fill_value"),
        ("bool", "2", "/fill_value"),
        ("string", "\"\"", "/data_type"),
        ("float31", "0", "/data_type"),
        ("complex64", "0", "/fill_value"),
    ] {
        let problem = problem(&document("[4]", "[4]", data_type, fill, LITTLE));
        assert_eq!(problem.pointer, pointer, "{problem}");
    }
    for (data_type, fill, bytes) in [
        ("bool", "true", vec![1]),
        ("int16", "-2", (-2_i16).to_ne_bytes().to_vec()),
        (
            "float32",
            "\"0x7fc00001\"",
            0x7fc0_0001_u32.to_ne_bytes().to_vec(),
        ),
        (
            "complex64",
            "[1.0, \"NaN\"]",
            [1.0_f32.to_ne_bytes(), f32::NAN.to_ne_bytes()].concat(),
        ),
    ] {
        let array = open(&document("[4]", "[4]", data_type, fill, LITTLE), store(&[])).unwrap();
        assert_eq!(array.fill(), bytes, "{data_type}");
        assert_eq!(array.element_size(), bytes.len());
    }
}

#[test]
fn hostile_documents_are_answered_at_once() {
    let start = Instant::now();
    let many = |length: &str, rank: usize| format!("[{}]", vec![length; rank].join(","));
    for (length, rank) in [
        ("1099511627776", 1),
        ("9223372036854775807", 1),
        ("18446744073709551615", 1),
        ("4294967296", 2),
        ("2", 1000),
        ("9223372036854775807", 1000),
    ] {
        let shape = many(length, rank);
        for codecs in [
            LITTLE.to_owned(),
            format!("{PAIR},{LITTLE}"),
            format!(
                r#"{PAIR},{LITTLE},{{"name":"zstd","configuration":{{"level":1,"checksum":false}}}}"#
            ),
            shard(&many("1", rank), LITTLE),
            shard(&shape, LITTLE),
            format!(r#"{{"name":"transpose","configuration":{{"order":"F"}}}},{LITTLE}"#),
        ] {
            let text = document(&shape, &shape, "float32", "0", &codecs);
            let key = format!("c/{}", vec!["0"; rank].join("/"));
            let chunks = [(key.as_str(), vec![0; 100])];
            if let Ok(array) = open(&text, store(&chunks)) {
                let index = vec![0; rank];
                assert!(array.decode_chunk(&index).is_err(), "{length} {rank}");
                // An index of one inner chunk can be read; the inner chunk is as large as the shard.
                if let Ok(shard) = array.open_shard(&index) {
                    let error = shard.unwrap().decode_inner_chunk(&index).unwrap_err();
                    assert_eq!(error.failure.kind, FailureKind::TooLarge, "{error}");
                }
            }
        }
    }
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    // Many dimensions are no problem by themselves.
    let ones = many("1", 1000);
    let text = document(&ones, &ones, "float32", "0", LITTLE);
    let key = format!("c/{}", vec!["0"; 1000].join("/"));
    let array = open(&text, store(&[(&key, vec![0; 4])])).unwrap();
    assert_eq!(array.decode_chunk(&vec![0; 1000]).unwrap().unwrap(), [0; 4]);
}

#[test]
fn long_chains_are_refused() {
    let codecs = vec![r#""scale_offset""#; 100].join(",");
    let problem = problem(&document(
        "[4]",
        "[4]",
        "float32",
        "0",
        &format!("{codecs},{LITTLE}"),
    ));
    assert!(problem.message.contains("101 codecs"), "{problem}");
}

#[test]
fn arrays_without_elements_open() {
    let array = open(
        &document("[0,4]", "[0,2]", "float32", "0", LITTLE),
        store(&[]),
    )
    .unwrap();
    assert_eq!(array.grid_shape(), [0, 2]);
    assert_eq!(array.chunk_shape(), [1, 2]);
}

#[test]
fn codecs_of_zarrs_that_panic_are_kept_out() {
    for codecs in [
        r#"{"name":"reshape","configuration":{"shape":[[0,0,0]]}},"bytes""#,
        r#"{"name":"zarrs.squeeze"},"bytes""#,
        r#"{"name":"packbits","configuration":{"first_bit":7,"last_bit":1}}"#,
        r#"{"name":"packbits","configuration":{"last_bit":9}}"#,
        r#"{"name":"zarrs.vlen"}"#,
    ] {
        let problem = problem(&document("[4]", "[4]", "uint8", "0", codecs));
        assert_eq!(problem.pointer, "/codecs/0", "{problem}");
    }
    let bits = r#"{"name":"packbits","configuration":{"first_bit":0,"last_bit":3}}"#;
    let text = document("[4]", "[4]", "uint8", "0", bits);
    let array = open(&text, store(&[("c/0", vec![0x21, 0x43])])).unwrap();
    assert_eq!(array.decode_chunk(&[0]).unwrap().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn elements_beyond_reason_are_refused() {
    for data_type in ["r18446744073709551608", "r9223372036854775808", "r7"] {
        let problem = problem(&document("[4]", "[4]", data_type, "[]", "\"bytes\""));
        assert!(
            ["/data_type", "/fill_value"].contains(&problem.pointer.as_str()),
            "{problem}"
        );
    }
}

#[test]
fn models_follow_type_and_fill_as_far_as_they_are_known() {
    let delta = r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i2","astype":"<i4"}}"#;
    let inner = shard("[2]", &format!("{PAIR},{delta},{LITTLE}"));
    let text = document("[4]", "[4]", "float32", "11", &format!("{inner},\"zstd\""));
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
    let v3::Document::Array(array) = v3::read(&Node::root(&parsed.root), &mut Problems::default())
    else {
        panic!("{text}");
    };
    let array = array.complete().unwrap();
    let model = model::Model::new(ArrayDocument::V3(&array)).unwrap();
    let levels: Vec<_> = model.levels().collect();
    assert_eq!(levels.len(), 2);
    assert_eq!(levels[1].chunk_shape.as_deref(), Some(&[2][..]));
    assert_eq!(levels[1].incoming, levels[0].incoming);
    let stages: Vec<_> = levels[1].steps.iter().map(|step| step.outgoing()).collect();
    let names: Vec<_> = stages
        .iter()
        .map(|stage| stage.data_type.map(|t| t.name()))
        .collect();
    assert_eq!(names, [Some("int16"), Some("int32"), None]);
    // (11 - 10) * 2
    assert_eq!(
        stages[0].fill.map(|fill| fill.to_string()).as_deref(),
        Some("2")
    );
    let packing: Vec<_> = model.packing().collect();
    assert_eq!(packing[0].pointers[1], "/codecs/0/configuration/codecs/1");
    assert!(packing[0].is_valid());
    assert!(packing[0].binding.problems.is_empty());
}
