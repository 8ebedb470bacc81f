//! Text laid out for people: aligned columns, wrapped lines, styles, sizes and shapes in words.

pub mod paint;
pub mod quantities;
pub mod table;
