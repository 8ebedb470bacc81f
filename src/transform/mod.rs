//! The arithmetic: types, scalars, both codecs, the legacy codec, chains of them, and fast kernels.
//!
//! Nothing here knows of stores, documents or printing. `cast_value`, `scale_offset` and `legacy` define the codecs one
//! element at a time; `chain` binds a list of codecs to a type and a fill; `apply` runs a bound chain over slices with the
//! `kernels`, which are held to the definitions; `equivalence` compares what two chains decode; `extent`
//! tells the range and the step at every stage; `census` tells which codes occur. `cf` is the arithmetic of packing by
//! attributes, which is no codec.

#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )
)]

pub mod apply;
pub mod cast_value;
pub mod census;
pub mod cf;
pub mod chain;
pub mod data_type;
pub mod equivalence;
pub mod extent;
pub mod fault;
mod fitting;
mod kernels;
pub mod legacy;
pub mod literal;
mod number;
pub mod parameters;
pub mod problem;
pub mod rounding;
pub mod scalar;
pub mod scalar_map;
pub mod scale_offset;
