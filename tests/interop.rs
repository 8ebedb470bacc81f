//! Other readers: zarr-python and zarrita against the program, by the scripts in `tests/interop`.

use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "takes a minute, and needs what tests/interop/setup sets up"]
fn other_readers_agree_with_the_program() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop/run");
    let status = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_zarrpack"))
        .status()
        .expect("bash runs the script");
    assert!(status.success(), "tests/interop/run: {status}");
}
