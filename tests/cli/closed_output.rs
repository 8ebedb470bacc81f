//! Standard output that goes away, or that cannot take more.

use std::io;

use crate::harness::Sandbox;

const COMMANDS: [&str; 4] = ["--help", "--version", "completions bash", "man"];

#[test]
fn a_closed_pipe_ends_quietly() {
    for command in COMMANDS {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let outcome = Sandbox::new().run_into(command, writer);
        assert_eq!(outcome.exit, Some(0), "{command}: {outcome}");
        assert_eq!(outcome.stderr, "", "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let outcomes = COMMANDS.map(|command| {
        let full = std::fs::File::create("/dev/full").unwrap();
        Sandbox::new().run_into(command, full).to_string()
    });
    insta::assert_snapshot!(outcomes[0], @"
    exit: 3
    --- stderr
    error: could not write to standard output
      caused by: No space left on device (os error 28)
    ");
    assert!(
        outcomes.iter().all(|outcome| *outcome == outcomes[0]),
        "{outcomes:#?}"
    );
}
