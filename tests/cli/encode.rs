//! `zarrpack encode`.

use crate::harness::Sandbox;

#[test]
fn packed_arrays_are_written_to_a_store() {
    insta::assert_snapshot!(Sandbox::new().run("encode a.zarr -"), @"
    exit: 2
    --- stderr
    error: OUTPUT is - only where INPUT is - too: packed arrays are written to a store
    hint: encode - - transforms a stream of scalars; name a directory to write
    ");
    insta::assert_snapshot!(Sandbox::new().run("encode - b.zarr --dtype int8 --codecs []"), @"
    exit: 2
    --- stderr
    error: bytes on standard input need --dtype and --shape
    hint: for example: --dtype float32 --shape 24,721,1440
    ");
    insta::assert_snapshot!(Sandbox::new().run("encode a.zarr b.zarr --codecs []"), @r#"
    exit: 3
    --- stderr
    error: "a.zarr" does not exist
    "#);
}

#[test]
fn a_stream_has_no_use_for_what_is_about_stores() {
    for flags in [
        "--array a",
        "--scale 2",
        "--missing none",
        "--params x",
        "--chunks 1",
        "--shape 1",
        "--fill-value 1",
        "--dry-run",
        "--no-verify",
        "--report x",
        "--format json",
    ] {
        let outcome = Sandbox::new().run(&format!("encode - - --dtype int8 --codecs [] {flags}"));
        assert_eq!(outcome.exit, Some(2), "{flags}: {outcome}");
    }
}

#[test]
fn a_stream_needs_a_type_and_codecs() {
    insta::assert_snapshot!(Sandbox::new().run("encode - -"), @"
    exit: 2
    --- stderr
    error: a stream of scalars needs --dtype and --codecs
    hint: for example: zarrpack encode - - --dtype float64 --codecs @chain.json
    ");
}

#[test]
fn there_is_one_form_of_stream() {
    let outcome = Sandbox::new().run("encode - - --dtype int8 --codecs [] --format csv");
    insta::assert_snapshot!(outcome, @"
    exit: 2
    --- stderr
    error: invalid value 'csv' for '--format <FORM>'
      [possible values: human, json, jsonl]

    For more information, try '--help'.
    ");
}

#[test]
fn codecs_in_a_file_that_cannot_be_read_name_the_file() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("encode - - --dtype int8 --codecs @no.json"), @r#"
    exit: 3
    --- stderr
    error: could not read "no.json", named by --codecs
      caused by: No such file or directory (os error 2)
    "#);
    insta::assert_snapshot!(sandbox.run("encode - - --dtype int8 --codecs @."), @r#"
    exit: 3
    --- stderr
    error: could not read ".", named by --codecs
      caused by: Is a directory (os error 21)
    "#);
}

#[test]
fn codecs_in_a_file_must_be_text() {
    let sandbox = Sandbox::new();
    sandbox.file("latin1.json", b"[\"\xe9\"]");
    insta::assert_snapshot!(sandbox.run("encode - - --dtype int8 --codecs @latin1.json"), @r#"
    exit: 2
    --- stderr
    error: "latin1.json", named by --codecs, is not valid UTF-8
      caused by: invalid utf-8 sequence of 1 bytes from index 2
    "#);
}

#[test]
fn codecs_need_a_file_name_after_the_at_sign() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("encode - - --dtype int8 --codecs @"), @"
    exit: 2
    --- stderr
    error: invalid value '@' for '--codecs <JSON>': a file name is missing after @

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("encode - - --dtype int8 --codecs @-"), @"
    exit: 2
    --- stderr
    error: invalid value '@-' for '--codecs <JSON>': standard input is taken by the data; name a file after @, or write the JSON here

    For more information, try '--help'.
    ");
}
