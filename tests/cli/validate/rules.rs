//! Every rule has a passing and a failing fixture, and finds what it should at the right place.

use std::fs;
use std::path::{Path, PathBuf};

use zarrpack::report::validate::{Finding, Store};
use zarrpack::rules::{self, Severity};

use super::report;
use crate::harness::Sandbox;

/// The rule whose fixture would be a file of 64 MiB.
const TOO_LARGE: &str = "json/too-large";

fn folder(rule: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/rules")
        .join(rule)
}

/// A fixture: a document, or a directory of them.
fn fixture(rule: &str, name: &str) -> PathBuf {
    let directory = folder(rule).join(name);
    if directory.is_dir() {
        directory
    } else {
        directory.with_extension("json")
    }
}

/// The findings of each fixture of one name, rule by rule, by one run of the program.
fn validate(name: &str) -> Vec<(&'static str, Vec<Finding>)> {
    let sandbox = Sandbox::new();
    let ids: Vec<_> = rules::all()
        .map(|rule| rule.id)
        .filter(|id| *id != TOO_LARGE)
        .collect();
    let paths: Vec<_> = ids
        .iter()
        .map(|id| fixture(id, name).to_str().unwrap().to_owned())
        .collect();
    let arguments = ["validate", "--format", "json"].into_iter();
    let outcome = sandbox.run_with(arguments.chain(paths.iter().map(String::as_str)), "");
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    let stores = report(&outcome).stores;
    assert_eq!(stores.len(), ids.len());
    let findings = |store: Store| {
        let nodes = store.nodes.into_iter();
        nodes.flat_map(|node| node.findings).collect()
    };
    ids.into_iter()
        .zip(stores.into_iter().map(findings))
        .collect()
}

#[test]
fn every_passing_fixture_has_no_errors_and_nothing_of_its_rule() {
    for (id, findings) in validate("passing") {
        for finding in findings {
            let bad = finding.rule == id || finding.severity == Severity::Error;
            assert!(!bad, "{id}: {finding:?}");
        }
    }
}

#[test]
fn every_failing_fixture_yields_its_rule_at_the_right_place() {
    for (id, findings) in validate("failing") {
        let expected = fs::read_to_string(folder(id).join("expected")).unwrap();
        let found = findings.iter().find(|finding| finding.rule == id);
        let Some(found) = found else {
            panic!("{id}: {findings:?}");
        };
        let (place, pointer) = expected.trim_end_matches('\n').split_once(' ').unwrap();
        let (file, place) = place.split_once(':').unwrap();
        assert_eq!(found.pointer, pointer, "{id}");
        assert_eq!(format!("{}:{}", found.line, found.column), place, "{id}");
        let named = file == "failing.json" || file.ends_with(found.document.as_str());
        assert!(named, "{id}: {file} {}", found.document);
        assert!(
            !found.found.is_empty() && !found.expected.is_empty(),
            "{id}: {found:?}"
        );
        let severity = rules::find(id).map(|rule| rule.severity);
        assert_eq!(Some(found.severity), severity, "{id}");
    }
}

#[test]
fn a_document_beyond_the_limits_is_told_of_without_being_read() {
    let sandbox = Sandbox::new();
    let huge = fs::File::create(sandbox.path().join("zarr.json")).unwrap();
    huge.set_len((64 << 20) + 1).unwrap();
    for store in ["zarr.json", "."] {
        let outcome = sandbox.run(&format!("validate --format json {store}"));
        let findings = &super::nodes(&outcome)[0].findings;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].rule, TOO_LARGE);
        assert_eq!((findings[0].line, findings[0].column), (1, 1));
        assert_eq!(outcome.exit, Some(1));
    }
}

#[test]
fn every_fixture_belongs_to_a_rule() {
    for family in fs::read_dir(folder("")).unwrap() {
        let family = family.unwrap();
        for rule in fs::read_dir(family.path()).unwrap() {
            let name = rule.unwrap().file_name();
            let id = format!(
                "{}/{}",
                family.file_name().to_str().unwrap(),
                name.to_str().unwrap()
            );
            assert!(rules::find(&id).is_some(), "{id}");
        }
    }
}

#[test]
fn the_list_has_every_rule_once() {
    let outcome = Sandbox::new().run("validate --list-rules");
    let listed: Vec<_> = outcome
        .stdout
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let all: Vec<_> = rules::all().map(|rule| rule.id).collect();
    assert_eq!(listed, all);
    let mut once = all.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), all.len());
}

#[test]
fn the_list_of_rules() {
    insta::assert_snapshot!(Sandbox::new().run("validate --list-rules").stdout);
}

#[test]
fn every_rule_can_be_explained() {
    let outcome = Sandbox::new().run("validate --explain cast-value/fill-round-trip");
    insta::assert_snapshot!(outcome);
    for rule in rules::all() {
        let page = rules::page(rule);
        assert!(page.is_some_and(|page| page.len() > 100), "{}", rule.id);
    }
}

/// What the stores of zarr-python yield, so that a change to a rule is seen.
#[test]
fn stores_of_zarr_python() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/stores");
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.contains('.'))
        .collect();
    names.sort();
    let mut lines = String::new();
    let paths: Vec<_> = names
        .iter()
        .map(|name| format!("{}/testdata/stores/{name}", env!("CARGO_MANIFEST_DIR")))
        .collect();
    let arguments = ["validate", "--format", "json"].into_iter();
    let outcome = Sandbox::new().run_with(arguments.chain(paths.iter().map(String::as_str)), "");
    for (name, store) in names.iter().zip(report(&outcome).stores) {
        lines.push_str(&format!("{name}\n"));
        for node in store.nodes {
            for finding in node.findings {
                if !finding.rule.starts_with("readers/") {
                    lines.push_str(&format!(
                        "  {} {} {}: {}\n",
                        finding.severity, finding.rule, node.path, finding.found
                    ));
                }
            }
        }
    }
    insta::assert_snapshot!(lines);
}
