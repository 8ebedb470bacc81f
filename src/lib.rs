//! Packed Zarr arrays: values that are shifted, scaled and narrowed to a smaller type.
//!
//! zarrpack is a command-line program and the library under it. [`transform`] is the arithmetic, [`metadata`] reads
//! documents, [`store`] finds and replaces files; none knows of the others. [`codecs`] brings arithmetic and documents together
//! to open arrays, [`catalog`] reads the nodes of a store, [`pieces`] and [`region`] cut arrays, and [`pipeline`] does work on many
//! chunks at once. The program is a thin shell: [`cli`] says what can be asked for, [`commands`] does it, [`ui`] prints,
//! and [`error`] says how a run can end.

pub mod catalog;
pub mod cf;
pub mod cli;
pub mod codecs;
pub mod commands;
pub mod error;
pub mod interrupt;
pub mod layout;
pub mod log;
pub mod metadata;
pub mod migration;
pub mod npy;
pub mod pieces;
pub mod pipeline;
pub mod readers;
pub mod region;
pub mod report;
pub mod rules;
pub mod selection;
pub mod standard_input;
pub mod stats;
pub mod store;
pub mod suggest;
pub mod transform;
pub mod ui;
