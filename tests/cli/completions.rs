//! Completion scripts.

use std::process::Command;

use crate::harness::Sandbox;

fn script(shell: &str) -> String {
    let outcome = Sandbox::new().run(&format!("completions {shell}"));
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    assert_eq!(outcome.stderr, "");
    outcome.stdout
}

/// Lets a shell read a script without running it. A shell that is not here checks nothing.
fn check_syntax(shell: &str, option: &str) {
    let sandbox = Sandbox::new();
    let path = sandbox.file("script", script(shell));
    if let Ok(output) = Command::new(shell).arg(option).arg(path).output() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaints}");
    }
}

#[test]
fn every_shell_gets_the_commands_and_flags() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = script(shell);
        for word in [
            "encode",
            "decode",
            "completions",
            "man",
            "codecs",
            "keep-going",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_reads_its_script() {
    check_syntax("bash", "-n");
}

#[test]
fn zsh_reads_its_script() {
    check_syntax("zsh", "-n");
}

#[test]
fn fish_reads_its_script() {
    check_syntax("fish", "--no-execute");
}
