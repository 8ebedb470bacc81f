//! `zarrpack encode`.

use crate::harness::Sandbox;

#[test]
fn stores_have_to_wait() {
    insta::assert_snapshot!(Sandbox::new().run("encode a.zarr b.zarr"), @"
    exit: 2
    --- stderr
    error: this version can encode streams of scalars only: INPUT and OUTPUT must both be -
    hint: for example: zarrpack encode - - --dtype float64 --codecs @chain.json
    ");
    insta::assert_snapshot!(Sandbox::new().run("encode - b.zarr --dtype int8 --codecs []"), @"
    exit: 2
    --- stderr
    error: this version can encode streams of scalars only: INPUT and OUTPUT must both be -
    hint: for example: zarrpack encode - - --dtype float64 --codecs @chain.json
    ");
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
      [possible values: jsonl]

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
