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
    Encode arrays through scale_offset and cast_value into a packed store

    Usage: zarrpack encode [OPTIONS] <INPUT> <OUTPUT>

    Arguments:
      <INPUT>   Store or .npy file to encode, or "-" for standard input
      <OUTPUT>  Store to write, or "-" for a stream of scalars on standard output

    Options:
          --array <GLOB>         Arrays to pack: a glob on their paths, or !GLOB to leave some out;
                                 repeatable
          --values <DOMAIN>      What INPUT holds [default: logical, but integers with attributes of CF
                                 packing are refused] [possible values: logical, stored]
          --fill-value <VALUE>   Fill value of the packed arrays, in the encoding of their type; missing
                                 chunks are then written out with the old fill
          --keep-attributes      Keep attributes that a chain replaces, such as scale_factor
          --allow-loss <KIND>    Write although values of this kind are lost; repeatable [possible
                                 values: out-of-range, nan, infinity, missing-code, fill, digits]
          --write-empty          Write chunks that hold nothing but the fill value
          --overwrite            Replace OUTPUT if it exists, once the new one is complete; and the file
                                 of --report
      -n, --dry-run              Print what would be written, and write nothing
          --verify               Read back what was written, and compare it; the default
          --no-verify            Do not read back what was written
          --format <FORM>        Form of the report, human (the default) or json; or of a stream of
                                 scalars, jsonl [possible values: human, json, jsonl]
          --report <FILE>        Write the report as JSON to a file as well, also where the run was
                                 refused
          --offset <NUMBER>      Number that is subtracted before scaling
          --scale <NUMBER>       Factor that shifted values are multiplied by: the reciprocal of CF's
                                 scale_factor
          --to <TYPE>            Data type to store
          --rounding <MODE>      How to round [default: nearest-even]
          --out-of-range <MODE>  What to store for values out of range: clamp or wrap [default: refuse
                                 them]
          --map <A=B>            Code B for value A, in both directions; repeatable
          --missing <CODE>       Code for NaN: auto finds one that no value uses, where there are NaNs;
                                 none refuses NaN [default: auto]
          --params <FILE>        Take chains from what suggest-params printed: a file, or - for standard
                                 input
          --max-error <ERROR>    Find the chain whose errors are at most this large, as suggest-params
                                 would recommend it
          --chunks <LENGTHS>     Lengths of the chunks, such as 1,512,512; with shards, those of the
                                 pieces in them [default: as in INPUT]
          --shards <LENGTHS>     Lengths of the shards, multiples of those of the chunks, or none
                                 [default: as in INPUT]
          --compressor <CODEC>   Compressor: zstd:5, gzip:5, blosc:lz4:5:shuffle or none [default: as in
                                 INPUT]
          --shape <LENGTHS>      Shape of the array whose bytes come on standard input, such as
                                 24,721,1440
          --byte-order <ORDER>   Order of the bytes of an element on standard input [default: that of
                                 this machine] [possible values: little, big]
          --dtype <TYPE>         Data type of the array, such as float64: what encode takes and decode
                                 gives
          --codecs <JSON>        Codecs of the chain: a JSON list, or @FILE to read it from a file
          --bits                 Print floating-point numbers as hexadecimal bit patterns
          --keep-going           Go on after a scalar that fails: print {"error": "..."} in its place,
                                 and exit with 1 at the end
      -h, --help                 Print help (see more with '--help')

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
