//! Which known programs read an array, as reports have it.

use serde::{Deserialize, Serialize};

use crate::readers::{Opens, ReaderVerdict};

/// The reader that most people have.
const MOST_USED: &str = "zarr-python 3.4";

/// A reader of Zarr.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// Its name and version.
    pub name: String,
    /// Whether it can open the result; null where that is not known.
    pub opens: Option<bool>,
    /// Why not.
    pub reason: Option<String>,
}

impl From<ReaderVerdict> for Reader {
    fn from(verdict: ReaderVerdict) -> Self {
        let (opens, reason) = match verdict.opens {
            Opens::Yes => (Some(true), None),
            Opens::No(reason) => (Some(false), Some(reason)),
            Opens::Unknown => (None, None),
        };
        let name = format!("{} {}", verdict.reader, verdict.version);
        Self {
            name: name.trim_end().to_owned(),
            opens,
            reason,
        }
    }
}

impl Reader {
    fn is_most_used(&self) -> bool {
        self.name.starts_with(MOST_USED)
    }

    /// Whether this is the reader that most people have, and does not open the array.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        self.is_most_used() && self.opens == Some(false)
    }
}

/// Readers in words. Why one does not open the array is said of the one that most people have.
#[must_use]
pub fn in_words(readers: &[Reader]) -> String {
    let mut words = Vec::new();
    for (opens, what) in [
        (Some(true), "opened by"),
        (Some(false), "not by"),
        (None, "unknown of"),
    ] {
        let of = readers.iter().filter(|reader| reader.opens == opens);
        let names: Vec<_> = of
            .map(|reader| match &reader.reason {
                Some(reason) if reader.is_most_used() => format!("{} ({reason})", reader.name),
                _ => reader.name.clone(),
            })
            .collect();
        if !names.is_empty() {
            words.push(format!("{what} {}", names.join(", ")));
        }
    }
    words.join("; ")
}
