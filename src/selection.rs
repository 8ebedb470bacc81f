//! Choosing arrays by the patterns of `--array`.
//!
//! A pattern is held against the whole path of an array, such as `model/run1/temp`, which has no leading slash and is empty
//! for an array that is the root. `*` and `?` stop at `/`, `**` crosses any number of levels, `[ab]` and `{a,b}` are
//! alternatives, a backslash takes the meaning from what follows it, and `!` at the start excludes.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::Error;

/// One pattern, as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayPattern {
    given: String,
    excludes: bool,
    glob: globset::Glob,
}

/// Why a pattern is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It starts with a slash.
    #[error("paths of arrays have no leading slash")]
    LeadingSlash,
    /// It ends with a slash.
    #[error("paths of arrays have no trailing slash")]
    TrailingSlash,
    /// `**` with something else beside it, which some programs read as `*` and others as any path.
    #[error("\"**\" must be alone between slashes")]
    PartOfLevel,
    /// It cannot be read, or is too much to match with.
    #[error("{0}")]
    Syntax(globset::ErrorKind),
}

impl FromStr for ArrayPattern {
    type Err = PatternError;

    fn from_str(given: &str) -> Result<Self, PatternError> {
        let (excludes, pattern) = match given.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, given),
        };
        if pattern.starts_with('/') {
            return Err(PatternError::LeadingSlash);
        }
        if pattern.ends_with('/') {
            return Err(PatternError::TrailingSlash);
        }
        if pattern
            .split('/')
            .any(|level| level != "**" && level.contains("**"))
        {
            return Err(PatternError::PartOfLevel);
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| PatternError::Syntax(error.kind().clone()))?;
        Ok(Self {
            given: given.to_owned(),
            excludes,
            glob,
        })
    }
}

impl ArrayPattern {
    /// Whether it leaves arrays out.
    #[must_use]
    pub const fn excludes(&self) -> bool {
        self.excludes
    }
}

/// Which arrays were asked for.
#[derive(Debug, Default)]
pub struct Selection {
    patterns: Vec<ArrayPattern>,
    set: GlobSet,
    /// Whether the pattern in the same place has matched anything yet.
    used: Vec<AtomicBool>,
}

impl Selection {
    /// The arrays that one of the patterns selects, or all if none selects, without those that one excludes. The order of
    /// patterns does not matter.
    ///
    /// # Errors
    ///
    /// Where the patterns together are too much to match with.
    pub fn new(patterns: Vec<ArrayPattern>) -> Result<Self, PatternError> {
        let mut set = GlobSetBuilder::new();
        for pattern in &patterns {
            set.add(pattern.glob.clone());
        }
        let set = set
            .build()
            .map_err(|error| PatternError::Syntax(error.kind().clone()))?;
        let used = patterns.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self {
            patterns,
            set,
            used,
        })
    }

    /// Whether the array at a path is selected.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        let mut selected = self.is_default();
        let mut excluded = false;
        for at in self.set.matches(path) {
            self.used[at].store(true, Ordering::Relaxed);
            if self.patterns[at].excludes {
                excluded = true;
            } else {
                selected = true;
            }
        }
        selected && !excluded
    }

    /// Whether no pattern selects, so that a command's own choice holds but for what is excluded.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.patterns.iter().all(|pattern| pattern.excludes)
    }

    /// The patterns, as given, that matched none of the paths asked about so far.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let patterns = self.patterns.iter().zip(&self.used);
        patterns
            .filter(|(_, used)| !used.load(Ordering::Relaxed))
            .map(|(pattern, _)| pattern.given.as_str())
    }

    /// Insists, after all arrays were asked about, that every pattern has matched one. One that has not is mistyped, or
    /// the store is another than it was thought to be.
    ///
    /// # Errors
    ///
    /// Of the kind usage, naming the patterns.
    pub fn require_all_used(&self) -> Result<(), Error> {
        let unused: Vec<String> = self
            .unused()
            .map(|pattern| format!("{pattern:?}"))
            .collect();
        if unused.is_empty() {
            return Ok(());
        }
        let message = format!("no array matches --array {}", unused.join(", "));
        Err(Error::usage(message).hint(
            "a pattern is held against the whole path, such as \"model/temp\"; \"**/temp\" finds it at any depth",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 7] = [
        "",
        "temp",
        "model/temp",
        "model/run1/temp",
        "model/run1/TEMP",
        "model/a b",
        "!odd",
    ];

    fn selection(patterns: &[&str]) -> Selection {
        let patterns = patterns
            .iter()
            .map(|pattern| pattern.parse().unwrap())
            .collect();
        Selection::new(patterns).unwrap()
    }

    fn selected(patterns: &[&str]) -> Vec<&'static str> {
        let selection = selection(patterns);
        PATHS
            .into_iter()
            .filter(|path| selection.contains(path))
            .collect()
    }

    #[test]
    fn without_patterns_everything_is_selected() {
        assert_eq!(selected(&[]), PATHS);
        assert!(Selection::default().contains("any/path"));
    }

    #[test]
    fn a_star_stops_at_a_slash_and_two_cross_it() {
        assert_eq!(selected(&["temp"]), ["temp"]);
        assert_eq!(selected(&["*/temp"]), ["model/temp"]);
        assert_eq!(selected(&["model/*"]), ["model/temp", "model/a b"]);
        assert_eq!(
            selected(&["**/temp"]),
            ["temp", "model/temp", "model/run1/temp"]
        );
        assert_eq!(
            selected(&["model/**/temp"]),
            ["model/temp", "model/run1/temp"]
        );
        let below = [
            "model/temp",
            "model/run1/temp",
            "model/run1/TEMP",
            "model/a b",
        ];
        assert_eq!(selected(&["model/**"]), below);
        assert_eq!(selected(&["**"]), PATHS);
    }

    #[test]
    fn the_root_array_is_the_empty_path() {
        assert_eq!(selected(&[""]), [""]);
        assert_eq!(selected(&["*"]), ["", "temp", "!odd"]);
    }

    #[test]
    fn exclusion_wins_in_any_order() {
        let expected = ["temp", "model/run1/temp"];
        assert_eq!(selected(&["**/temp", "!model/temp"]), expected);
        assert_eq!(selected(&["!model/temp", "**/temp"]), expected);
        assert_eq!(selected(&["!model/**"]), ["", "temp", "!odd"]);
        assert_eq!(selected(&[r"\!odd"]), ["!odd"]);
    }

    #[test]
    fn alternatives_and_case() {
        assert_eq!(selected(&["{temp,model/a?b}"]), ["temp", "model/a b"]);
        assert_eq!(selected(&["model/run1/[T]*"]), ["model/run1/TEMP"]);
        assert_eq!(selected(&["Temp"]), [""; 0]);
    }

    #[test]
    fn a_pattern_that_selects_nothing_is_told() {
        let selection = selection(&["**/temp", "nothing", "!nobody"]);
        for path in PATHS {
            let _ = selection.contains(path);
        }
        assert_eq!(
            selection.unused().collect::<Vec<_>>(),
            ["nothing", "!nobody"]
        );
        let error = selection.require_all_used().unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"no array matches --array "nothing", "!nobody""#
        );
        assert!(!selection.is_default());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        let parse = |text: &str| text.parse::<ArrayPattern>().unwrap_err();
        assert_eq!(parse("/temp"), PatternError::LeadingSlash);
        assert_eq!(parse("!/temp"), PatternError::LeadingSlash);
        assert_eq!(parse("model/"), PatternError::TrailingSlash);
        assert_eq!(parse("**temp"), PatternError::PartOfLevel);
        for text in ["[a", "{a", "a}", r"a\"] {
            assert!(matches!(parse(text), PatternError::Syntax(_)), "{text}");
        }
    }
}
