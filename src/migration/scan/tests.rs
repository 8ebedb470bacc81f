//! Scans of stores that are made chunk by chunk, so that every code is known.

mod changes;
mod codes;
mod comparing;
mod names;
mod shards;
mod stores;

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::error::ErrorKind;
use crate::interrupt::Interrupt;
use crate::migration::evidence::{CodeRange, Use};
use crate::transform::data_type::DataType;
use crate::transform::equivalence::{CodeSet, Comparison};
use crate::transform::scalar::Scalar;

/// A legacy codec from float32 to int16 with scale 10.
const SHORTS: &str = r#"{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":10,"dtype":"<f4","astype":"<i2"}}"#;
/// The same to uint8.
const BYTES_OF_FLOATS: &str = r#"{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":0,"scale":10,"dtype":"<f4","astype":"|u1"}}"#;
const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const TRANSPOSE: &str = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;

/// A sharding codec with an index without a checksum.
fn shard(chunk_shape: &str, codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{chunk_shape},"codecs":[{codecs}],"index_codecs":[{LITTLE}]}}}}"#
    )
}

fn shorts(values: &[i16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn longs(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// A shard of pieces, of which some are missing, with the index at its end.
fn shard_of(pieces: &[Option<Vec<u8>>]) -> Vec<u8> {
    let (mut bytes, mut index) = (Vec::new(), Vec::new());
    for piece in pieces {
        match piece {
            Some(piece) => {
                index.extend([bytes.len() as u64, piece.len() as u64]);
                bytes.extend_from_slice(piece);
            }
            None => index.extend([u64::MAX; 2]),
        }
    }
    bytes.extend(longs(&index));
    bytes
}

/// An array on disk that is being made.
struct Made {
    folder: tempfile::TempDir,
    text: String,
    threads: usize,
    memory: u64,
}

impl Made {
    fn new(shape: &str, chunks: &str, data_type: &str, codecs: &str) -> Self {
        Self::filled(shape, chunks, data_type, "0", codecs)
    }

    fn filled(shape: &str, chunks: &str, data_type: &str, fill: &str, codecs: &str) -> Self {
        let text = format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"{data_type}","fill_value":{fill},
            "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks}}}}},
            "chunk_key_encoding":"default","codecs":[{codecs}]}}"#
        );
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("zarr.json"), &text).unwrap();
        Self {
            folder,
            text,
            threads: 2,
            memory: 1 << 20,
        }
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.path().join(key)
    }

    fn with(self, key: &str, bytes: impl AsRef<[u8]>) -> Self {
        self.put(key, bytes);
        self
    }

    fn put(&self, key: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Hands on the evidence.
    fn ask<R>(&self, ask: impl FnOnce(&StoreEvidence<'_>) -> R) -> R {
        let interrupt = Interrupt::default();
        self.ask_until(&interrupt, ask)
    }

    fn ask_until<R>(&self, interrupt: &Interrupt, ask: impl FnOnce(&StoreEvidence<'_>) -> R) -> R {
        let pipeline = Pipeline {
            threads: self.threads,
            memory: self.memory,
            interrupt,
            observer: &|_| {},
        };
        let evidence = StoreEvidence::new("a/b", self.folder.path(), &self.text, &pipeline);
        ask(&evidence.unwrap())
    }

    fn try_scan(&self, list: &str, first: usize, watch: &[Scalar]) -> Result<Scan, Error> {
        let comparisons = &[];
        self.ask(|evidence| evidence.scan(&site(list, first), &Question { comparisons, watch }))
    }

    fn scan(&self, list: &str, first: usize) -> Scan {
        self.try_scan(list, first, &[]).unwrap()
    }

    fn presence(&self) -> Presence {
        self.ask(|evidence| evidence.presence()).unwrap()
    }
}

fn site(list: &str, first: usize) -> Site {
    Site {
        list: list.to_owned(),
        first,
        codecs: 1,
    }
}

/// The codes in a set, as numbers.
fn numbers(codes: &CodeSet) -> Vec<i128> {
    let mut numbers: Vec<_> = codes.iter().map(|code| code.integer().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

/// The codes that the array and padding hold, as numbers.
fn used(scan: &Scan) -> (Vec<i128>, Vec<i128>) {
    let used = scan.used.as_ref().unwrap();
    (numbers(&used.inside), numbers(&used.padding))
}

fn integer(data_type: DataType, value: i128) -> Scalar {
    Scalar::from_integer(data_type, value).unwrap()
}

fn range(data_type: DataType, least: i128, greatest: i128) -> Option<CodeRange> {
    Some(CodeRange {
        least: integer(data_type, least),
        greatest: integer(data_type, greatest),
    })
}

fn presence(chunks: u64, missing: u64, missing_inner: u64) -> Presence {
    Presence {
        chunks,
        missing,
        missing_inner,
    }
}

/// An error in one text, as far as people see it.
fn shown(error: &Error) -> String {
    let parts = [error.to_string()];
    let parts = parts.iter().chain(error.details()).chain(error.hints());
    parts.cloned().collect::<Vec<_>>().join("; ")
}

/// The inside of each type of error.
fn assert_refused(error: &Error, kind: ErrorKind, words: &[&str]) {
    let shown = shown(error);
    assert_eq!(error.kind(), kind, "{shown}");
    for word in words {
        assert!(shown.contains(word), "{shown:?} lacks {word:?}");
    }
}
