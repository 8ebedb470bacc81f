//! Where codecs as documents have them meet the arithmetic.

pub mod configuration;
