//! What the names of chunks say of the separator of an array of Zarr v2, whose document need not state it.

use std::fs;
use std::path::Path;

use crate::codecs::ChunkKeys;
use crate::error::Error;
use crate::metadata::v3::{KeyEncoding, Separator};
use crate::store::StoreError;

/// The names that are looked at in one directory. A mixture that shows only behind a million of one kind is nobody's accident.
const MOST_NAMES: usize = 1 << 20;

/// The directories that are looked into.
const MOST_DIRECTORIES: usize = 1 << 10;

/// The form that the keys of chunks have on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// Chunks are named `0.0`.
    Dot,
    /// Chunks are named `0/0`.
    Slash,
    /// No chunk tells: there is none, or the array has fewer than two dimensions.
    Neither,
    /// There are chunks of either name.
    Both,
}

impl KeyForm {
    /// Whether an array with this separator has all chunks that are on disk.
    #[must_use]
    pub fn agrees_with(self, separator: Separator) -> bool {
        match self {
            Self::Dot => separator == Separator::Dot,
            Self::Slash => separator == Separator::Slash,
            Self::Neither => true,
            Self::Both => false,
        }
    }
}

/// Looks at the names of the chunks of an array of Zarr v2 in its directory. Names that are no keys of chunks in the grid say
/// nothing. The look is a short one: it ends after a million names.
///
/// # Errors
///
/// Where a directory cannot be listed.
pub fn probe_separator(directory: &Path, shape: &[u64], chunks: &[u64]) -> Result<KeyForm, Error> {
    let grid: Vec<_> = shape
        .iter()
        .zip(chunks)
        .map(|(length, chunk)| length.div_ceil((*chunk).max(1)))
        .collect();
    if grid.len() < 2 || grid.contains(&0) {
        return Ok(KeyForm::Neither);
    }
    let keys = |separator| ChunkKeys::new("", KeyEncoding::V2(separator));
    let is_chunk = |keys: &Option<ChunkKeys>, name: &str| {
        let index = keys.as_ref().and_then(|keys| keys.index(name, grid.len()));
        index.is_some_and(|index| index.iter().zip(&grid).all(|(at, length)| at < length))
    };
    let dots = keys(Separator::Dot);
    let (mut dot, mut slash) = (false, false);
    let mut looked_into = 0;
    for entry in list(directory)?.take(MOST_NAMES) {
        let (name, is_directory) = entry?;
        if !is_directory {
            dot = dot || is_chunk(&dots, &name);
        } else if !slash && looked_into < MOST_DIRECTORIES && is_number(&name, grid[0]) {
            looked_into += 1;
            slash = holds_chunk(&directory.join(&name), &grid[1..])?;
        }
        if dot && slash {
            return Ok(KeyForm::Both);
        }
    }
    Ok(match (dot, slash) {
        (true, _) => KeyForm::Dot,
        (false, true) => KeyForm::Slash,
        (false, false) => KeyForm::Neither,
    })
}

/// Whether a directory holds a chunk whose key goes on with numbers below these lengths.
fn holds_chunk(directory: &Path, grid: &[u64]) -> Result<bool, Error> {
    let [length, rest @ ..] = grid else {
        return Ok(false);
    };
    for (n, entry) in list(directory)?.take(MOST_NAMES).enumerate() {
        let (name, is_directory) = entry?;
        if is_directory == rest.is_empty() || !is_number(&name, *length) {
            continue;
        }
        if !is_directory || n < MOST_DIRECTORIES && holds_chunk(&directory.join(&name), rest)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a name is a number below a length, as keys have it.
fn is_number(name: &str, length: u64) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = name == "0" || !name.starts_with('0');
    plain && canonical && name.parse().is_ok_and(|number: u64| number < length)
}

/// The names in a directory that are text, and whether they are directories. A directory that is not there holds nothing.
fn list(
    directory: &Path,
) -> Result<impl Iterator<Item = Result<(String, bool), Error>> + use<>, Error> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => Some(entries),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(StoreError::io("list", directory)(error).into()),
    };
    let place = directory.to_owned();
    let entries = entries.into_iter().flatten();
    Ok(entries.filter_map(move |entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(StoreError::io("list", &place)(error).into())),
        };
        let name = entry.file_name().into_string().ok()?;
        // A link counts as what it leads to; one that leads nowhere, as a file.
        let kind = entry.file_type().ok()?;
        let is_directory = if kind.is_symlink() {
            entry.path().is_dir()
        } else {
            kind.is_dir()
        };
        Some(Ok((name, is_directory)))
    }))
}
