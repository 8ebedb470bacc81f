//! The program, run as a process: what it prints, where, and how it exits.
//!
//! Arithmetic and documents are tested in the library, which is far quicker; here it is the wiring.

#![expect(
    clippy::unwrap_used,
    reason = "a harness that cannot do its part fails the test"
)]

mod harness;

mod closed_output;
mod completions;
mod decode;
mod decode_cf;
mod decode_csv;
mod decode_report;
mod encode;
mod encode_edges;
mod encode_losses;
mod encode_stores;
mod exit_codes;
mod global_flags;
mod help;
mod inspect;
mod man;
mod migrate_legacy;
mod scalar_streams;
mod stores;
mod suggest_edges;
mod suggest_params;
mod suggest_types;
mod tree;
mod validate;
mod version;
