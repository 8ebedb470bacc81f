//! Documents that nobody would write get an answer, and a short one.

use serde_json::json;

use super::{LE, base, report, scale_offset};
use crate::harness::{Outcome, Sandbox};

/// Runs the program in both forms: what it says is short, and the last is handed back.
fn validate(document: &str) -> Outcome {
    let sandbox = Sandbox::new();
    sandbox.file("zarr.json", document);
    let outcome = sandbox.run("validate .");
    assert!(
        matches!(outcome.exit, Some(0 | 1)),
        "{:?} {}",
        outcome.exit,
        outcome.stderr
    );
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    assert!(outcome.stdout.len() < 100_000, "{}", outcome.stdout.len());
    let outcome = sandbox.run("validate --format json .");
    assert!(outcome.stdout.len() < 100_000, "{}", outcome.stdout.len());
    outcome
}

#[test]
fn a_line_of_twenty_million_characters_is_cut() {
    let huge = "x".repeat(20_000_000);
    let outcome = validate(&base(&huge, "0", LE));
    let found = &report(&outcome).stores[0].nodes[0].findings[0];
    assert_eq!(found.rule, "core/unknown-data-type");
    let outcome = validate(&base(
        "float32",
        "0",
        &scale_offset(&format!(r#""{huge}":1"#)),
    ));
    assert_eq!(outcome.exit, Some(1));
    let before = format!(
        r#"{{"zarr_format":3,"node_type":"array","attributes":{{"a":"{huge}"}},"shape":-1}}"#
    );
    let outcome = validate(&before);
    let nodes = &report(&outcome).stores[0].nodes;
    let columns: Vec<_> = nodes[0]
        .findings
        .iter()
        .map(|finding| finding.column)
        .collect();
    assert!(
        columns.iter().any(|column| *column > 20_000_000),
        "{columns:?}"
    );
}

#[test]
fn of_a_million_findings_a_few_are_listed_and_the_rest_is_counted() {
    let members: String = (0..200_000).map(|n| format!(r#""m{n}":1,"#)).collect();
    let document = base("float32", "0", LE).replacen("{", &format!("{{{members}"), 1);
    let outcome = validate(&document);
    let node = &report(&outcome).stores[0].nodes[0];
    assert_eq!(node.findings.len(), 20);
    assert_eq!((node.more[0].count, node.more[0].at_least), (980, true));
    let zeros = vec![0; 10_000];
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": vec![1_u64 << 63; 10_000], "data_type": "float32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": zeros}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    let outcome = validate(&document.to_string());
    assert_eq!(report(&outcome).stores[0].nodes[0].findings.len(), 20);
}

#[test]
fn a_chain_of_many_codecs_is_counted() {
    let codecs = vec![LE; 100_000].join(",");
    let outcome = validate(&base("float32", "0", &codecs));
    let nodes = &report(&outcome).stores[0].nodes;
    assert_eq!(nodes[0].findings[0].rule, "core/chain-length");
}

#[test]
fn a_map_of_many_entries_is_looked_at_whole() {
    let entries: Vec<_> = (0..100_000).map(|n| format!("[{n},{}]", n % 200)).collect();
    let cast = format!(
        r#"{{"name":"cast_value","configuration":{{"data_type":"uint8","scalar_map":{{"encode":[{}]}}}}}}"#,
        entries.join(",")
    );
    let outcome = validate(&base("float32", "0", &format!("{cast},{LE}")));
    let node = &report(&outcome).stores[0].nodes[0];
    let more: Vec<_> = node
        .more
        .iter()
        .map(|more| (more.rule.as_str(), more.count))
        .collect();
    assert_eq!(more, [("cast-value/one-way-map", 99_780)]);
}

#[test]
fn nesting_beyond_reason_is_told_of() {
    for depth in [512, 513, 1_000_000] {
        let document = "[".repeat(depth);
        let outcome = validate(&document);
        let rule = report(&outcome).stores[0].nodes[0].findings[0].rule.clone();
        let expected = if depth > 512 {
            "json/too-deep"
        } else {
            "json/syntax"
        };
        assert_eq!(rule, expected, "{depth}");
    }
}

#[test]
fn copies_in_copies_in_copies_are_compared() {
    let nested = (0..150).fold("{}".to_owned(), |inner, _| {
        format!(
            r#"{{"g":{{"zarr_format":3,"node_type":"group","consolidated_metadata":
            {{"kind":"inline","must_understand":false,"metadata":{inner}}}}}}}"#
        )
    });
    let document = format!(
        r#"{{"zarr_format":3,"node_type":"group","consolidated_metadata":
        {{"kind":"inline","must_understand":false,"metadata":{nested}}}}}"#
    );
    let outcome = validate(&document);
    let node = &report(&outcome).stores[0].nodes[0];
    assert_eq!(node.findings.len(), 20);
    assert_eq!(
        (node.more[0].rule.as_str(), node.more[0].count),
        ("consolidated/surplus", 130)
    );
}

#[test]
fn documents_bent_at_every_byte_get_an_answer() {
    let stores = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores");
    for (path, name) in [
        ("so_cv_sharded_partial/zarr.json", "zarr.json"),
        ("v2_f_blosc/.zarray", ".zarray"),
    ] {
        let text = std::fs::read(stores.join(path)).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let text = serde_json::to_vec(&value).unwrap();
        let sandbox = Sandbox::new();
        let mut nodes = 0;
        for at in 0..text.len() {
            let mut bent = text.clone();
            bent[at] ^= 1 << (at % 8);
            let node = format!("{nodes:06}");
            std::fs::create_dir(sandbox.path().join(&node)).unwrap();
            sandbox.file(&format!("{node}/{name}"), bent);
            nodes += 1;
        }
        let outcome = sandbox.run("validate --format json .");
        assert_eq!(outcome.exit, Some(1), "{}", outcome.stderr);
        assert_eq!(report(&outcome).summary.documents, nodes);
    }
}
