//! The manual.

use std::process::Command;

use clap::CommandFactory;
use zarrpack::cli::Cli;

use crate::harness::Sandbox;

fn pages() -> Vec<(String, String)> {
    let sandbox = Sandbox::new();
    let root = Cli::command();
    let names = root.get_subcommands().map(|command| command.get_name());
    [""].into_iter()
        .chain(names)
        .map(|name| {
            let outcome = sandbox.run(&format!("man {name}"));
            assert_eq!(outcome.exit, Some(0), "{outcome}");
            assert_eq!(outcome.stderr, "");
            (name.to_owned(), outcome.stdout)
        })
        .collect()
}

#[test]
fn every_command_has_a_page() {
    for (name, page) in pages() {
        let title = match name.as_str() {
            "" => ".TH zarrpack 1 ".to_owned(),
            name => format!(".TH zarrpack-{name} 1 "),
        };
        assert!(page.contains(&title), "{page}");
        for heading in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "EXAMPLES",
            "\"EXIT CODES\"",
        ] {
            assert!(
                page.contains(&format!("\n.SH {heading}\n")),
                "{name}: {heading}"
            );
        }
    }
}

#[test]
fn the_formatter_has_nothing_to_complain_about() {
    for (name, page) in pages() {
        let sandbox = Sandbox::new();
        let path = sandbox.file("page.1", page);
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tascii"]).arg(path);
        // Where there is no formatter, nothing is checked.
        if let Ok(output) = groff.output() {
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {complaints}");
            assert_eq!(complaints, "", "{name}");
        }
    }
}

#[test]
fn an_unknown_command_has_none() {
    insta::assert_snapshot!(Sandbox::new().run("man migrate"), @r#"
    exit: 2
    --- stderr
    error: there is no command "migrate"
    hint: the commands are inspect, validate, encode, decode, migrate-legacy, suggest-params, completions, man
    "#);
}
