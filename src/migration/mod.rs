//! Moving arrays off the legacy codec: from the documents of a store to the documents that replace them, with the proof that
//! the values stay as they are.
//!
//! Nothing here writes. A document of Zarr v2 first becomes one of v3 that names the legacy codec still; then the legacy codec
//! gives way to `scale_offset` and `cast_value`. What only the data can tell is asked for through [`evidence`].

pub mod evidence;
pub mod v2;
