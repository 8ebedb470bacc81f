//! Properties of the arithmetic and of edited documents, on random and adversarial values.
//!
//! The definitions of the codecs are held to exact fractions (`fractions`, `exact`) and to another implementation
//! (`peer`), the kernels to the definitions bit for bit (`kernels`, `integers`), packing to its error bound (`packing`),
//! and text to the scalars it stands for (`text`). Copies of documents are brought in step (`copies`). Values come from `inputs`.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a property that cannot be tried fails"
)]

mod copies;
mod exact;
mod fractions;
mod inputs;
mod integers;
mod kernels;
mod migration;
mod packing;
mod peer;
mod text;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// Tries a property on so many cases.
fn check<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    if let Err(failure) = TestRunner::new(config).run(strategy, property) {
        panic!("{failure}");
    }
}
