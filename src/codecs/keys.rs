//! The keys of chunks, made and read.

use crate::metadata::v3::{KeyEncoding, Separator};

/// How an array names its chunks, below its path in the store.
#[derive(Clone, Debug)]
pub struct ChunkKeys {
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
    #[must_use]
    pub fn new(path: &str, encoding: KeyEncoding) -> Option<Self> {
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
    #[must_use]
    pub fn key(&self, index: &[u64]) -> String {
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

    /// The index of the chunk that has a key; `None` for what is no key of a chunk of `rank` dimensions.
    #[must_use]
    pub fn index(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let key = key.strip_prefix(&self.prefix)?;
        let (separator, numbers) = match self.encoding {
            Encoding::Default(separator) => {
                let rest = key.strip_prefix('c')?;
                if rank == 0 {
                    return rest.is_empty().then(Vec::new);
                }
                (separator, rest.strip_prefix(separator.as_str())?)
            }
            Encoding::V2(_) if rank == 0 => return (key == "0").then(Vec::new),
            Encoding::V2(separator) => (separator, key),
        };
        let index: Vec<u64> = numbers
            .split(separator.as_str())
            .map(number)
            .collect::<Option<_>>()?;
        (index.len() == rank).then_some(index)
    }

    /// The numbers that the index of every chunk below a directory of this name begins with; `None` where the keys of chunks of
    /// `rank` dimensions lead through no such directory.
    fn directory(&self, name: &str, rank: usize) -> Option<Vec<u64>> {
        let name = name.strip_prefix(&self.prefix)?;
        let numbers = match self.encoding {
            Encoding::Default(Separator::Slash) if rank > 0 => match name.strip_prefix('c')? {
                "" => return Some(Vec::new()),
                rest => rest.strip_prefix('/')?,
            },
            Encoding::V2(Separator::Slash) => name,
            Encoding::Default(_) | Encoding::V2(_) => return None,
        };
        let numbers = numbers.split('/').map(number);
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        (numbers.len() < rank).then_some(numbers)
    }

    /// Whether the keys of chunks of a grid lead through a directory of this name.
    #[must_use]
    pub fn has_chunks_below(&self, name: &str, grid: &[u64]) -> bool {
        let numbers = self.directory(name, grid.len());
        !grid.contains(&0)
            && numbers.is_some_and(|numbers| numbers.iter().zip(grid).all(|(n, length)| n < length))
    }
}

/// A number as keys have it: digits alone, and no zeros before others.
fn number(digits: &str) -> Option<u64> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    (plain && canonical).then(|| digits.parse().ok())?
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
            let keys = ChunkKeys::new(path, encoding).unwrap();
            assert_eq!(keys.key(&index), key);
            assert_eq!(keys.index(key, index.len()), Some(index));
        }
        assert!(ChunkKeys::new("", KeyEncoding::Other).is_none());
    }

    #[test]
    fn keys_lead_through_directories() {
        let keys = |encoding| ChunkKeys::new("a", encoding).unwrap();
        let default = keys(KeyEncoding::Default(Separator::Slash));
        assert_eq!(default.directory("a/c", 2), Some(vec![]));
        assert_eq!(default.directory("a/c/7", 2), Some(vec![7]));
        for name in ["a/c/7/8", "a/c/x", "a/c/", "a/7", "a", "c/7"] {
            assert_eq!(default.directory(name, 2), None, "{name}");
        }
        assert_eq!(default.directory("a/c", 0), None);
        assert!(default.has_chunks_below("a/c/7", &[8, 1]));
        assert!(!default.has_chunks_below("a/c/8", &[8, 1]));
        assert!(!default.has_chunks_below("a/c", &[8, 0]));
        let v2 = keys(KeyEncoding::V2(Separator::Slash));
        assert_eq!(v2.directory("a/7", 2), Some(vec![7]));
        assert_eq!(v2.directory("a/7", 1), None);
        for flat in [
            KeyEncoding::Default(Separator::Dot),
            KeyEncoding::V2(Separator::Dot),
        ] {
            for name in ["a/c", "a/7", "a/c.7"] {
                assert_eq!(keys(flat).directory(name, 2), None, "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_key_has_no_index() {
        let default = ChunkKeys::new("", KeyEncoding::Default(Separator::Slash)).unwrap();
        for key in [
            "",
            "c",
            "c/",
            "c/1",
            "c/1/2/3",
            "c/01/2",
            "c/1/+2",
            "c/1/-2",
            "c/1.2",
            "d/1/2",
            "c1/2",
            "c//2",
            "c/1/99999999999999999999",
            "zarr.json",
            "c/1/2.tmp",
        ] {
            assert_eq!(default.index(key, 2), None, "{key}");
        }
        assert_eq!(default.index("c/0/10", 2), Some(vec![0, 10]));
        assert_eq!(default.index("c/0", 0), None);
        let v2 = ChunkKeys::new("", KeyEncoding::V2(Separator::Dot)).unwrap();
        assert_eq!(v2.index("0", 0), Some(vec![]));
        assert_eq!(v2.index("1", 0), None);
        assert_eq!(v2.index("1/2", 2), None);
        assert_eq!(v2.index(".zarray", 1), None);
    }
}
