//! Zarr metadata documents: reading them with positions, and editing their text.
//!
//! Everything here works on the bytes of one document. Nothing opens a file, and nothing computes with the numbers that a
//! document holds: they stay the tokens that were written, so that `10` and `10.0` remain two things.

pub mod json;
