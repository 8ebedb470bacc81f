//! The keys of chunks.

use crate::metadata::v3::{KeyEncoding, Separator};

/// How an array names its chunks, below its path in the store.
#[derive(Clone, Debug)]
pub(super) struct ChunkKeys {
    prefix: String,
    encoding: Encoding,
}

#[derive(Clone, Copy, Debug)]
enum Encoding {
    Default(Separator),
    V2(Separator),
}

impl ChunkKeys {
    /// The keys of the array at `path`, which has no slash at either end and is empty for the root; `None` for an encoding
    /// that is not known.
    pub(super) fn new(path: &str, encoding: KeyEncoding) -> Option<Self> {
        let path = path.trim_matches('/');
        Some(Self {
            prefix: if path.is_empty() {
                String::new()
            } else {
                format!("{path}/")
            },
            encoding: match encoding {
                KeyEncoding::Default(separator) => Encoding::Default(separator),
                KeyEncoding::V2(separator) => Encoding::V2(separator),
                KeyEncoding::Other => return None,
            },
        })
    }

    /// The key of the chunk at `index`.
    pub(super) fn key(&self, index: &[u64]) -> String {
        let mut key = self.prefix.clone();
        let mut numbers = index.iter().map(ToString::to_string);
        match self.encoding {
            Encoding::Default(separator) => {
                key.push('c');
                for number in numbers {
                    key.push_str(separator.as_str());
                    key.push_str(&number);
                }
            }
            Encoding::V2(separator) => {
                // A chunk without an index is still called something.
                key.push_str(&numbers.next().unwrap_or_else(|| "0".to_owned()));
                for number in numbers {
                    key.push_str(separator.as_str());
                    key.push_str(&number);
                }
            }
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_their_encoding() {
        for (path, encoding, index, key) in [
            (
                "",
                KeyEncoding::Default(Separator::Slash),
                vec![1, 2],
                "c/1/2",
            ),
            (
                "/a/b/",
                KeyEncoding::Default(Separator::Dot),
                vec![1, 2],
                "a/b/c.1.2",
            ),
            ("a", KeyEncoding::Default(Separator::Slash), vec![], "a/c"),
            ("a", KeyEncoding::V2(Separator::Dot), vec![1, 2], "a/1.2"),
            ("", KeyEncoding::V2(Separator::Slash), vec![3], "3"),
            ("a", KeyEncoding::V2(Separator::Dot), vec![], "a/0"),
        ] {
            assert_eq!(ChunkKeys::new(path, encoding).unwrap().key(&index), key);
        }
        assert!(ChunkKeys::new("", KeyEncoding::Other).is_none());
    }
}
