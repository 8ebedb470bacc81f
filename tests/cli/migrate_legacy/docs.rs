//! What `docs/migrate-legacy.md` and the README show is what is printed.

use std::fs;
use std::path::Path;

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
        let members = outcome
            .stdout
            .lines()
            .filter_map(|line| line.trim().split_once("\": "));
        for (member, _) in members {
            let member = member.trim_start_matches('"');
            // Members of what the report quotes are those of documents.
            if [
                "name",
                "configuration",
                "endian",
                "data_type",
                "out_of_range",
                "scalar_map",
                "encode",
                "decode",
                "dtype",
                "astype",
            ]
            .contains(&member)
            {
                continue;
            }
            assert!(
                page.contains(&format!("`{member}`")),
                "docs/migrate-legacy.md lacks `{member}`"
            );
        }
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
