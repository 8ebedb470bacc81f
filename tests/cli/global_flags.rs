//! Flags that every command takes.

use crate::harness::{Outcome, Sandbox};

/// A command line that ends with an error of its own, after the flags were taken.
const FAILS: &str = "encode a -";

fn run(flags_before: &str, flags_after: &str) -> Outcome {
    Sandbox::new().run(&format!("{flags_before} {FAILS} {flags_after}"))
}

#[test]
fn they_work_before_and_after_the_command() {
    let flags = [
        "-v",
        "-vv --quiet",
        "-q -q",
        "--color never",
        "--progress=always",
        "-j 4",
        "--threads 4",
        "--memory 512MiB",
        "--memory=2G",
    ];
    for flags in flags {
        for outcome in [run(flags, ""), run("", flags)] {
            assert!(
                outcome.stderr.contains("error: OUTPUT is - only"),
                "{flags}: {outcome}"
            );
            assert_eq!(outcome.exit, Some(2), "{flags}");
        }
    }
}

#[test]
fn verbose_logs_to_stderr() {
    let outcome = Sandbox::new().run("-vv man");
    assert!(
        outcome.stderr.contains("DEBUG zarrpack::commands: parsed"),
        "{outcome}"
    );
    assert!(!outcome.stdout.contains("DEBUG"), "{outcome}");
}

#[test]
fn quiet_still_reports_errors() {
    let outcome = run("-qqqq", "");
    assert!(outcome.stderr.starts_with("error: "), "{outcome}");
}

#[test]
fn limits_refuse_what_makes_no_sense() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("man --memory 0"), @"
    exit: 2
    --- stderr
    error: invalid value '0' for '--memory <SIZE>': must be at least one byte

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("man --memory -1"), @"
    exit: 2
    --- stderr
    error: invalid value '-1' for '--memory <SIZE>': expected a number of bytes or a size such as 512MiB or 2G

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("man --memory lots"), @"
    exit: 2
    --- stderr
    error: invalid value 'lots' for '--memory <SIZE>': expected a number of bytes or a size such as 512MiB or 2G

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("man -j 0"), @"
    exit: 2
    --- stderr
    error: invalid value '0' for '--threads <N>': expected a number from 1 to 4096

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("man -j -1"), @"
    exit: 2
    --- stderr
    error: invalid value '-1' for '--threads <N>': expected a number from 1 to 4096

    For more information, try '--help'.
    ");
}

/// Whether a run's error, a parse error and help are coloured, which must be all or none of them.
fn coloured(sandbox: &Sandbox, flags: &str) -> bool {
    let texts = [
        sandbox.run(&format!("{flags} {FAILS}")).stderr,
        sandbox.run(&format!("{FAILS} {flags} --bogus")).stderr,
        sandbox.run(&format!("man --help {flags}")).stdout,
    ];
    let coloured = texts.each_ref().map(|text| text.contains('\u{1b}'));
    assert!(coloured.iter().all(|&c| c == coloured[0]), "{texts:#?}");
    coloured[0]
}

#[test]
fn colour_follows_the_flag_then_the_environment() {
    let plain = Sandbox::new();
    assert!(!coloured(&plain, ""));
    assert!(!coloured(&plain, "--color never"));
    assert!(coloured(&plain, "--color always"));

    // As if standard output and standard error were terminals.
    let forced = Sandbox::new().set("CLICOLOR_FORCE", "1");
    assert!(coloured(&forced, ""));
    assert!(coloured(&forced, "--color=auto"));
    assert!(!coloured(&forced, "--color=never"));

    let without = Sandbox::new()
        .set("CLICOLOR_FORCE", "1")
        .set("NO_COLOR", "1");
    assert!(!coloured(&without, ""));
    assert!(coloured(&without, "--color=always"));
}

#[test]
fn the_log_follows_the_colour_too() {
    let logged = |flags| Sandbox::new().run(flags).stderr.contains('\u{1b}');
    assert!(!logged("-vv man"));
    assert!(logged("-vv --color always man"));
}
