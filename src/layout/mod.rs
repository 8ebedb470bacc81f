//! Text laid out for people: aligned columns, wrapped lines, sizes and shapes in words.

pub mod quantities;
pub mod table;
