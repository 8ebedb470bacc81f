//! JSON given to a flag: in the command line itself, or as `@FILE`.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap_lex::OsStrExt;

use crate::error::Error;

/// The most that is read from a file: far above any real document, far below what would exhaust a machine.
const MAX_BYTES: u64 = 64 << 20;

/// Where a flag says its JSON is. Nothing is read before [`JsonSource::read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonSource {
    /// In the command line.
    Inline(String),
    /// In a file.
    File(PathBuf),
}

/// Why an argument is no [`JsonSource`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JsonSourceError {
    /// `@` alone.
    #[error("a file name is missing after @")]
    NoName,
    /// `@-`.
    #[error("standard input is taken by the data; name a file after @, or write the JSON here")]
    StandardInput,
    /// Bytes that are no text, and so no JSON.
    #[error("not valid UTF-8")]
    NotUtf8,
}

/// JSON text, not parsed yet, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonArg {
    /// The text as it was written.
    pub text: String,
    /// Where it was written; its [`Display`](fmt::Display) form is for messages.
    pub origin: JsonOrigin,
}

/// Where JSON text came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonOrigin {
    /// The value of the flag of this name, such as `--codecs`.
    Flag(&'static str),
    /// A file that a flag named.
    File(PathBuf),
}

impl JsonSource {
    /// What clap needs to take such a value; file names need not be UTF-8.
    pub fn parser() -> impl TypedValueParser<Value = Self> {
        OsStringValueParser::new().try_map(Self::from_argument)
    }

    fn from_argument(argument: OsString) -> Result<Self, JsonSourceError> {
        match argument.strip_prefix("@") {
            Some(name) if name.is_empty() => Err(JsonSourceError::NoName),
            Some(name) if name == "-" => Err(JsonSourceError::StandardInput),
            Some(name) => Ok(Self::File(name.into())),
            None => argument
                .into_string()
                .map(Self::Inline)
                .map_err(|_| JsonSourceError::NotUtf8),
        }
    }

    /// Gets the text. `flag` is the name of the flag that this is the value of, with its dashes.
    ///
    /// # Errors
    ///
    /// Of kind [`Io`](crate::error::ErrorKind::Io) where the file cannot be read, and of kind
    /// [`Usage`](crate::error::ErrorKind::Usage) where what it holds cannot be JSON.
    pub fn read(&self, flag: &'static str) -> Result<JsonArg, Error> {
        match self {
            Self::Inline(text) => Ok(JsonArg {
                text: text.clone(),
                origin: JsonOrigin::Flag(flag),
            }),
            Self::File(path) => Ok(JsonArg {
                text: read_text(path, flag)?,
                origin: JsonOrigin::File(path.clone()),
            }),
        }
    }
}

impl JsonArg {
    /// Advice for a text that turned out to be no JSON: perhaps it was meant as the name of a file.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match &self.origin {
            JsonOrigin::Flag(flag) if Path::new(&self.text).is_file() => Some(format!(
                "to read the JSON from the file of that name, write {flag} @{}",
                self.text
            )),
            JsonOrigin::Flag(_) | JsonOrigin::File(_) => None,
        }
    }
}

impl fmt::Display for JsonOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::File(path) => write!(f, "{path:?}"),
        }
    }
}

fn read_text(path: &Path, flag: &str) -> Result<String, Error> {
    let bytes = read_at_most(path, MAX_BYTES + 1)
        .map_err(|error| Error::io(format!("could not read {path:?}, named by {flag}"), error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::usage(format!(
            "{path:?}, named by {flag}, is larger than 64 MiB"
        )));
    }
    tracing::info!(file = ?path, bytes = bytes.len(), "read the JSON for {flag}");
    String::from_utf8(bytes).map_err(|error| {
        Error::usage(format!("{path:?}, named by {flag}, is not valid UTF-8"))
            .because(error.utf8_error())
    })
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn source(argument: &str) -> Result<JsonSource, JsonSourceError> {
        JsonSource::from_argument(argument.into())
    }

    #[test]
    fn an_at_sign_names_a_file() {
        assert_eq!(source("[]"), Ok(JsonSource::Inline("[]".into())));
        assert_eq!(source(""), Ok(JsonSource::Inline(String::new())));
        assert_eq!(source("@a.json"), Ok(JsonSource::File("a.json".into())));
        assert_eq!(source("@@a"), Ok(JsonSource::File("@a".into())));
        assert_eq!(source("@"), Err(JsonSourceError::NoName));
        assert_eq!(source("@-"), Err(JsonSourceError::StandardInput));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_name_need_not_be_text() {
        use std::os::unix::ffi::OsStringExt;
        let named = |bytes: &[u8]| JsonSource::from_argument(OsString::from_vec(bytes.to_vec()));
        assert!(matches!(named(b"@\xff"), Ok(JsonSource::File(_))));
        assert_eq!(named(b"\xff"), Err(JsonSourceError::NotUtf8));
    }

    #[test]
    fn text_keeps_its_origin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.json");
        std::fs::write(&path, "[1]\n").unwrap();
        let read = JsonSource::File(path.clone()).read("--codecs").unwrap();
        assert_eq!(read.text, "[1]\n");
        assert_eq!(read.origin.to_string(), format!("{path:?}"));
        let read = source("[2]").unwrap().read("--codecs").unwrap();
        assert_eq!(read.text, "[2]");
        assert_eq!(read.origin.to_string(), "--codecs");
    }

    #[test]
    fn what_cannot_be_read_is_told_from_what_cannot_be_json() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str| {
            let source = JsonSource::File(folder.path().join(name));
            source.read("--codecs").unwrap_err()
        };
        std::fs::write(folder.path().join("latin1"), b"\"\xe9\"").unwrap();
        let huge = File::create(folder.path().join("huge")).unwrap();
        huge.set_len(MAX_BYTES + 1).unwrap();
        assert_eq!(read("absent").kind(), ErrorKind::Io);
        assert_eq!(read("").kind(), ErrorKind::Io);
        assert_eq!(read("latin1").kind(), ErrorKind::Usage);
        assert_eq!(read("huge").kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_forgotten_at_sign_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chain.json");
        std::fs::write(&path, "[]").unwrap();
        let name = path.to_str().unwrap();
        let forgotten = source(name).unwrap().read("--codecs").unwrap();
        assert!(
            forgotten
                .hint()
                .is_some_and(|hint| hint.ends_with(&format!("--codecs @{name}")))
        );
        assert_eq!(source("[").unwrap().read("--codecs").unwrap().hint(), None);
    }
}
