//! What `docs/ci.md` and `.pre-commit-hooks.yaml` promise.

use std::fs;
use std::path::Path;

use super::{LE, base, scale_offset};
use crate::harness::Sandbox;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The lines below `key:` in a small YAML file, without a parser for all of YAML.
fn value<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text
        .lines()
        .find_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix(key));
    line.and_then(|rest| rest.strip_prefix(": "))
        .unwrap()
        .trim()
}

#[test]
fn the_hook_runs_on_documents_and_finds_what_is_wrong() {
    let hook = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let entry = value(&hook, "entry");
    let (program, arguments) = entry.split_once(' ').unwrap();
    assert_eq!(program, "zarrpack");
    let files = value(&hook, "files").trim_matches('\'');
    assert_eq!(
        files,
        r"(^|/)(zarr\.json|\.zarray|\.zgroup|\.zattrs|\.zmetadata)$"
    );
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("good")).unwrap();
    fs::create_dir(sandbox.path().join("bad")).unwrap();
    sandbox.file("good/zarr.json", base("float32", "0", LE));
    sandbox.file(
        "bad/zarr.json",
        base(
            "float32",
            "0",
            &format!("{},{LE}", scale_offset(r#""scale":0"#)),
        ),
    );
    // The hook is given the names of the files that changed.
    assert_eq!(
        sandbox.run(&format!("{arguments} good/zarr.json")).exit,
        Some(0)
    );
    let outcome = sandbox.run(&format!("{arguments} good/zarr.json bad/zarr.json"));
    assert_eq!(outcome.exit, Some(1));
    assert!(outcome.stdout.contains("bad/zarr.json:"), "{outcome}");
}

/// The page shows the hook's repository entry, a workflow and the exit codes; all commands in it run.
#[test]
fn commands_of_the_page_run() {
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let hook = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    assert!(page.contains(&format!("id: {}", value(&hook, "id"))));
    let sandbox = Sandbox::new();
    let store = sandbox.path().join("data/era5.zarr");
    fs::create_dir_all(&store).unwrap();
    fs::write(store.join("zarr.json"), base("float32", "0", LE)).unwrap();
    let commands: Vec<_> = page
        .lines()
        .filter_map(|line| {
            line.trim_start_matches(['$', ' '])
                .strip_prefix("- run: ")
                .or(line.strip_prefix("$ "))
        })
        .filter_map(|line| line.strip_prefix("zarrpack "))
        .collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let arguments: Vec<_> = command
            .split_whitespace()
            .map(|word| word.trim_matches('\''))
            .collect();
        let outcome = sandbox.run_with(arguments, "");
        assert_eq!(outcome.exit, Some(0), "{command}\n{outcome}");
    }
}

#[test]
fn exit_codes_of_the_page_are_those_of_the_program() {
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    let sandbox = Sandbox::new();
    sandbox.file("good.json", base("float32", "0", LE));
    sandbox.file("bad.json", "{");
    for (code, arguments) in [
        (0, "validate good.json"),
        (1, "validate bad.json"),
        (2, "validate --fail-on nonsense good.json"),
        (3, "validate missing.json"),
    ] {
        assert_eq!(sandbox.run(arguments).exit, Some(code), "{arguments}");
        assert!(page.contains(&format!("| {code} |")), "{code}");
    }
}
