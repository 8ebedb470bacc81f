//! `zarrpack validate`.

mod cases;
mod ci;
mod control;
mod hostile;
mod output;
mod precise;
mod rules;

use zarrpack::report::validate::{Finding, Node, Report, SCHEMA};

use crate::harness::{Outcome, Sandbox};

/// The bytes codec of little-endian values.
const LE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;

/// A v3 array of four elements in one chunk.
fn base(data_type: &str, fill: &str, codecs: &str) -> String {
    with(data_type, fill, codecs, "")
}

/// The same with more members.
fn with(data_type: &str, fill: &str, codecs: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"{data_type}","fill_value":{fill},
"chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":[4]}}}},
"chunk_key_encoding":{{"name":"default"}},{more}
"codecs":[{codecs}]}}"#
    )
}

/// A v2 array of four elements in one chunk.
fn v2(dtype: &str, fill: &str, filters: &str) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"{dtype}","fill_value":{fill},"order":"C",
"compressor":null,"filters":[{filters}]}}"#
    )
}

/// A `scale_offset` with these members.
fn scale_offset(members: &str) -> String {
    format!(r#"{{"name":"scale_offset","configuration":{{{members}}}}}"#)
}

/// A `cast_value` to a type, with more members.
fn cast_value(data_type: &str, more: &str) -> String {
    format!(r#"{{"name":"cast_value","configuration":{{"data_type":"{data_type}"{more}}}}}"#)
}

fn report(outcome: &Outcome) -> Report {
    assert!(matches!(outcome.exit, Some(0 | 1)), "{outcome}");
    let report: Report = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report.schema, SCHEMA);
    let again = serde_json::to_string_pretty(&report).unwrap() + "\n";
    assert_eq!(again, outcome.stdout, "the types hold all that is printed");
    report
}

/// What is found in a document.
fn findings(document: &str) -> Vec<Finding> {
    let outcome = Sandbox::new().run_with(["validate", "--format", "json", "-"], document);
    let mut report = report(&outcome);
    let nodes = report.stores.remove(0).nodes.into_iter();
    nodes.flat_map(|node| node.findings).collect()
}

fn rules_of(findings: &[Finding]) -> Vec<&str> {
    findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .collect()
}

/// The rules of errors that were found in a document.
fn errors(document: &str) -> Vec<String> {
    let found = findings(document).into_iter();
    found
        .filter(|finding| finding.severity == zarrpack::rules::Severity::Error)
        .map(|finding| finding.rule)
        .collect()
}

/// The nodes of the only store.
fn nodes(outcome: &Outcome) -> Vec<Node> {
    report(outcome).stores.remove(0).nodes
}
