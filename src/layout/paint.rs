//! Styles around texts, if there is colour.

use clap::builder::styling::Style;

/// Puts styles around texts where it is told that there is colour.
#[derive(Debug, Clone, Copy)]
pub struct Paint(pub bool);

impl Paint {
    /// The text in a style.
    #[must_use]
    pub fn with(&self, style: Style, text: &str) -> String {
        if self.0 && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}
