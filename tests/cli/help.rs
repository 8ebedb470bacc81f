//! Help: the reference of all commands, kept here so that a change to it is seen.

use clap::CommandFactory;
use zarrpack::cli::Cli;

use crate::harness::Sandbox;

#[test]
fn reference() {
    let sandbox = Sandbox::new();
    let mut pages = vec![sandbox.run("--help").stdout];
    for command in Cli::command().get_subcommands() {
        let outcome = sandbox.run(&format!("{} --help", command.get_name()));
        assert_eq!(outcome.exit, Some(0), "{outcome}");
        assert_eq!(outcome.stderr, "");
        pages.push(outcome.stdout);
    }
    insta::assert_snapshot!(pages.join("\n======\n\n"));
}

#[test]
fn short_help_is_one_line_for_each_flag() {
    insta::assert_snapshot!(Sandbox::new().run("encode -h"), @r#"
    exit: 0
    --- stdout
    Encode values into the codes that a chain of codecs stores

    Usage: zarrpack encode [OPTIONS] <INPUT> <OUTPUT>

    Arguments:
      <INPUT>   Where to read: "-" is standard input, one JSON scalar a line
      <OUTPUT>  Where to write: "-" is standard output, one JSON scalar a line

    Options:
          --format <FORM>  Form of the data [default: jsonl] [possible values: jsonl]
          --dtype <TYPE>   Data type of the array, such as float64: what encode takes and decode gives
          --codecs <JSON>  Codecs of the chain: a JSON list, or @FILE to read it from a file
          --bits           Print floating-point numbers as hexadecimal bit patterns
          --keep-going     Go on after a scalar that fails: print {"error": "..."} in its place, and
                           exit with 1 at the end
      -h, --help           Print help (see more with '--help')

    Global options:
      -v, --verbose...       Log more to standard error; repeat for debugging and tracing
      -q, --quiet...         Print fewer messages; repeat to hide warnings too
          --color <WHEN>     When to use colour [default: auto] [possible values: auto, always, never]
          --progress <WHEN>  When to show progress on standard error [default: auto] [possible values:
                             auto, always, never]
      -j, --threads <N>      Number of threads [default: one for each processor]
          --memory <SIZE>    Bound on the memory for chunks in flight [default: a quarter of the memory
                             at hand]
    "#);
}

#[test]
fn help_is_a_command_too() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.run("help encode").stdout,
        sandbox.run("encode --help").stdout
    );
}
