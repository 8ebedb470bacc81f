//! The version of the program, and of the library that reads and writes the arrays.

use crate::harness::Sandbox;

#[test]
fn the_long_version_names_zarrs_too() {
    let outcome = Sandbox::new().run("--version");
    assert_eq!(outcome.exit, Some(0));
    assert_eq!(
        outcome.stdout,
        format!(
            "zarrpack {}\nzarrs {}\n",
            env!("CARGO_PKG_VERSION"),
            zarrs::version::version_str()
        )
    );
}

#[test]
fn the_short_version_is_one_line() {
    let outcome = Sandbox::new().run("-V");
    assert_eq!(outcome.exit, Some(0));
    assert_eq!(
        outcome.stdout,
        format!("zarrpack {}\n", env!("CARGO_PKG_VERSION"))
    );
}
