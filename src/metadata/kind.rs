//! Telling documents apart, by the names of their files or by what they hold.

use super::json::Value;

/// The kinds of documents that describe a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// A v3 `zarr.json`, of an array or a group.
    ZarrJson,
    /// A v2 `.zarray`.
    ZArray,
    /// A v2 `.zgroup`.
    ZGroup,
    /// A v2 `.zattrs`.
    ZAttrs,
    /// A v2 `.zmetadata`.
    ZMetadata,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::ZarrJson,
        Self::ZArray,
        Self::ZGroup,
        Self::ZAttrs,
        Self::ZMetadata,
    ];

    /// The name that the document's file has in a store.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::ZarrJson => "zarr.json",
            Self::ZArray => ".zarray",
            Self::ZGroup => ".zgroup",
            Self::ZAttrs => ".zattrs",
            Self::ZMetadata => ".zmetadata",
        }
    }

    /// The kind whose file has this name.
    pub fn of_file(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.file_name() == name)
    }

    /// The kind that a document without a name seems to be, even if it is not a sound one; `None`
    /// if nothing in it tells. That is so of every `.zattrs`, in which anything may stand.
    pub fn recognise(root: &Value) -> Option<Self> {
        let has = |names: &[&str]| names.iter().any(|name| root.get(name).is_some());
        let format = root.get("zarr_format").and_then(Value::as_number);
        if has(&["zarr_consolidated_format"]) {
            Some(Self::ZMetadata)
        } else if format == Some("3") || has(&["node_type"]) {
            Some(Self::ZarrJson)
        } else if format.is_some() && has(&["shape", "chunks", "dtype"]) {
            Some(Self::ZArray)
        } else if format.is_some() {
            Some(Self::ZGroup)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::{Limits, NonFinite, parse};
    use super::*;

    #[test]
    fn documents_are_told_apart() {
        for (text, kind) in [
            (r#"{"zarr_format":3}"#, Some(DocumentKind::ZarrJson)),
            (r#"{"node_type":"array"}"#, Some(DocumentKind::ZarrJson)),
            (
                r#"{"zarr_format":2,"dtype":"<f4"}"#,
                Some(DocumentKind::ZArray),
            ),
            (r#"{"zarr_format":2}"#, Some(DocumentKind::ZGroup)),
            (
                r#"{"zarr_consolidated_format":1}"#,
                Some(DocumentKind::ZMetadata),
            ),
            (r#"{"units":"K"}"#, None),
            ("[]", None),
        ] {
            let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
            assert_eq!(DocumentKind::recognise(&parsed.root), kind, "{text}");
        }
    }

    #[test]
    fn files_are_told_apart() {
        for kind in DocumentKind::ALL {
            assert_eq!(DocumentKind::of_file(kind.file_name()), Some(kind));
        }
        assert_eq!(DocumentKind::of_file("zarr.jsn"), None);
    }
}
