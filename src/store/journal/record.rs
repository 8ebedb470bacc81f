//! What a journal holds: every document as it was, and the hash of what took its place.

use std::path::{Component, Path, PathBuf};

use data_encoding::{BASE64, HEXLOWER};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::super::StoreError;
use super::super::document::read_document;
use super::replace::{Attributes, Change, New};

const SCHEMA: &str = "zarrpack.undo/1";

/// The largest journal that is read.
const MAX_JOURNAL: u64 = 4 << 30;

/// Length and SHA-256 of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Fingerprint {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self {
            bytes: bytes.len() as u64,
            sha256: HEXLOWER.encode(&Sha256::digest(bytes)),
        }
    }
}

/// A journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    schema: String,
    /// Who wrote it.
    program: String,
    /// The time, in UTC.
    created: String,
    /// What makes the names of temporary files unique.
    pub(super) id: String,
    /// Where the hierarchy was. Only told; paths begin where it is now.
    pub(super) root: String,
    pub(super) documents: Vec<Entry>,
}

/// A document.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its path, below the root where it lies there.
    pub(super) path: String,
    /// Documents of one step were replaced at a time, and flushed before those of the next.
    step: u32,
    /// As it was; nothing if it was not there.
    old: Option<Original>,
    /// What took its place; nothing if it was removed.
    new: Option<Fingerprint>,
}

/// A document as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Original {
    #[serde(flatten)]
    fingerprint: Fingerprint,
    /// Its permissions, in octal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    /// The numbers of its owner and group.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<(u32, u32)>,
    /// What it held, if that is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What it held otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Record {
    pub(super) fn new(root: &Path, id: String, documents: Vec<Entry>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            program: concat!("zarrpack ", env!("CARGO_PKG_VERSION")).to_owned(),
            created: jiff::Timestamp::now().to_string(),
            id,
            root: root.to_string_lossy().into_owned(),
            documents,
        }
    }

    pub(super) fn read(path: &Path) -> Result<Self, StoreError> {
        let not_one = |reason: String| StoreError::NotAJournal {
            path: path.to_owned(),
            reason,
        };
        let text = read_document(path, MAX_JOURNAL)?;
        let record: Self =
            serde_json::from_slice(&text).map_err(|error| not_one(error.to_string()))?;
        if record.schema != SCHEMA {
            return Err(not_one(format!(
                "its schema is {:?} and not {SCHEMA:?}",
                record.schema
            )));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        if record.id.is_empty() || !record.id.chars().all(plain) {
            return Err(not_one(format!("the id {:?} is none", record.id)));
        }
        for entry in &record.documents {
            entry.check().map_err(&not_one)?;
        }
        Ok(record)
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>, StoreError> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| StoreError::Io {
            action: "write",
            path: PathBuf::from("journal"),
            source: error.into(),
        })?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Entry {
    pub(super) fn new(
        path: String,
        step: u32,
        old: Option<(Vec<u8>, Option<Attributes>)>,
        new: Option<Fingerprint>,
    ) -> Self {
        let old = old.map(|(bytes, attributes)| {
            let fingerprint = Fingerprint::of(&bytes);
            let (text, base64) = match String::from_utf8(bytes) {
                Ok(text) => (Some(text), None),
                Err(error) => (None, Some(BASE64.encode(error.as_bytes()))),
            };
            Original {
                fingerprint,
                mode: attributes.map(|attributes| format!("{:04o}", attributes.mode)),
                owner: attributes.map(|attributes| attributes.owner),
                text,
                base64,
            }
        });
        Self {
            path,
            step,
            old,
            new,
        }
    }

    /// Whether this is something that a journal can hold; otherwise why not.
    fn check(&self) -> Result<(), String> {
        let path = Path::new(&self.path);
        let climbs = path
            .components()
            .any(|part| matches!(part, Component::ParentDir | Component::CurDir));
        if path.file_name().is_none() || climbs {
            return Err(format!("{:?} is the path of no document", self.path));
        }
        if let Some(old) = &self.old {
            let bytes = old.content()?;
            if Fingerprint::of(&bytes) != old.fingerprint {
                return Err(format!("what it holds of {:?} was changed", self.path));
            }
            old.attributes()?;
        }
        Ok(())
    }

    /// The document's fingerprint before the change.
    pub(super) fn before(&self) -> Option<&Fingerprint> {
        self.old.as_ref().map(|old| &old.fingerprint)
    }

    /// The document's fingerprint after the change.
    pub(super) const fn after(&self) -> Option<&Fingerprint> {
        self.new.as_ref()
    }

    /// The change that takes this one back. Checked before, so what cannot be read is nothing here.
    pub(super) fn inverse(&self, target: PathBuf, id: &str) -> Change<'_> {
        let to = self.old.as_ref().and_then(|old| {
            Some(New {
                bytes: old.content().ok()?,
                attributes: old.attributes().ok()?,
            })
        });
        // What came last goes first.
        Change::new(target, id, u32::MAX - self.step, self.new.clone(), to)
    }
}

impl Original {
    fn content(&self) -> Result<std::borrow::Cow<'_, [u8]>, String> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Ok(text.as_bytes().into()),
            (None, Some(text)) => match BASE64.decode(text.as_bytes()) {
                Ok(bytes) => Ok(bytes.into()),
                Err(error) => Err(error.to_string()),
            },
            _ => Err("a document has to have one of \"text\" and \"base64\"".to_owned()),
        }
    }

    fn attributes(&self) -> Result<Option<Attributes>, String> {
        let (Some(mode), Some(owner)) = (&self.mode, self.owner) else {
            return Ok(None);
        };
        match u32::from_str_radix(mode, 8) {
            Ok(mode) if mode <= 0o7777 => Ok(Some(Attributes { mode, owner })),
            _ => Err(format!("{mode:?} are no permissions")),
        }
    }
}
