//! What `docs/migrate-legacy.md` and the README show is what is printed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::Sandbox;
use crate::stores::{copy, succeeds, testdata};

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn with_stores_as_cloned(names: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    for name in names {
        copy(
            &testdata(name),
            &sandbox.path().join("testdata/stores").join(name),
        );
    }
    sandbox
}

#[test]
fn the_page_shows_what_is_printed() {
    let sandbox = with_stores_as_cloned(&["fso_zerofill_missing", "fso_f4_u2_zstd_2d"]);
    let page = page("docs/migrate-legacy.md");
    for line in [
        "migrate-legacy testdata/stores/fso_zerofill_missing",
        "migrate-legacy testdata/stores/fso_f4_u2_zstd_2d",
        "migrate-legacy testdata/stores/fso_f4_u2_zstd_2d --exact",
    ] {
        let outcome = sandbox.run(line);
        succeeds(&outcome);
        let shown = format!("$ zarrpack {line}\n{}", outcome.stdout);
        assert!(
            page.contains(&shown),
            "docs/migrate-legacy.md shows other than\n{shown}"
        );
    }
}

#[test]
fn the_page_names_every_member_of_the_report() {
    let sandbox = with_stores_as_cloned(&["fso_zerofill_missing", "fso_scale0"]);
    let page = page("docs/migrate-legacy.md");
    for store in ["fso_zerofill_missing", "fso_scale0"] {
        let outcome = sandbox.run(&format!(
            "migrate-legacy testdata/stores/{store} --format json"
        ));
        let mut members = BTreeSet::new();
        collect(
            &serde_json::from_str(&outcome.stdout).unwrap(),
            &mut members,
        );
        for member in members {
            assert!(
                page.contains(&format!("`{member}`")),
                "docs/migrate-legacy.md lacks `{member}`"
            );
        }
    }
}

/// The names of all members, but for those of documents that the report quotes.
fn collect(value: &Value, members: &mut BTreeSet<String>) {
    match value {
        Value::Array(elements) => elements
            .iter()
            .for_each(|element| collect(element, members)),
        Value::Object(object) => {
            for (name, value) in object {
                members.insert(name.clone());
                if !["old", "new"].contains(&name.as_str()) {
                    collect(value, members);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_readme_shows_what_is_printed() {
    let sandbox = with_stores_as_cloned(&["fso_f4_u1_plain"]);
    let line = "migrate-legacy testdata/stores/fso_f4_u1_plain";
    let outcome = sandbox.run(line);
    let shown = format!("$ zarrpack {line}\n{}", outcome.stdout);
    assert!(
        page("README.md").contains(&shown),
        "README.md shows other than\n{shown}"
    );
}
