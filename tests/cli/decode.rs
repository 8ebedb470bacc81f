//! `zarrpack decode`.

use crate::harness::Sandbox;

#[test]
fn stores_have_to_wait() {
    insta::assert_snapshot!(Sandbox::new().run("decode a.zarr -"), @"
    exit: 2
    --- stderr
    error: this version can decode streams of scalars only: INPUT and OUTPUT must both be -
    hint: for example: zarrpack decode - - --dtype float64 --codecs @chain.json
    ");
}

#[test]
fn a_stream_needs_a_type_and_codecs() {
    insta::assert_snapshot!(Sandbox::new().run("decode - -"), @"
    exit: 2
    --- stderr
    error: the following required arguments were not provided:
      --dtype <TYPE>
      --codecs <JSON>

    Usage: zarrpack decode --dtype <TYPE> --codecs <JSON> <INPUT> <OUTPUT>

    For more information, try '--help'.
    ");
}
