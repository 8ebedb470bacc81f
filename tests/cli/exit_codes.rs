//! Exit codes that do not belong to one command.

use crate::harness::Sandbox;

#[test]
fn done_is_0() {
    let outcome = Sandbox::new().run("man");
    assert_eq!(outcome.exit, Some(0), "{outcome}");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn usage_is_2() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("encoed"), @"
    exit: 2
    --- stderr
    error: unrecognized subcommand 'encoed'

      tip: some similar subcommands exist: 'decode', 'encode'

    Usage: zarrpack [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("encode - - --bogus"), @"
    exit: 2
    --- stderr
    error: unexpected argument '--bogus' found

      tip: to pass '--bogus' as a value, use '-- --bogus'

    Usage: zarrpack encode <INPUT> <OUTPUT>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("completions tcsh"), @"
    exit: 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}

#[test]
fn a_command_line_without_a_command_is_2_with_help_on_stderr() {
    let outcome = Sandbox::new().run("");
    assert_eq!(outcome.exit, Some(2));
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("Usage: zarrpack"), "{outcome}");
}

#[test]
fn what_cannot_be_read_is_3() {
    let outcome = Sandbox::new().run("decode - - --dtype float32 --codecs @chain.json");
    insta::assert_snapshot!(outcome, @r#"
    exit: 3
    --- stderr
    error: could not read "chain.json", named by --codecs
      caused by: No such file or directory (os error 2)
    "#);
}
