//! Packed Zarr arrays: values that are shifted, scaled and narrowed to a smaller type.

pub mod metadata;
