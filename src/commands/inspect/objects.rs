//! What is stored of arrays, by the names and lengths of their files.

use std::path::Path;

use rayon::prelude::*;

use super::describe::{Grid, product};
use super::gather::{Gathered, Place};
use crate::error::ErrorKind;
use crate::report::inspect::{Array, Files, Stored};
use crate::store::Objects;
use crate::ui::Ui;

/// The names of metadata documents.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"];

/// After as many failures the listing of an array ends.
const MOST_FAILURES: usize = 10;

/// Lists the files of all arrays of the stores, several arrays at once: on a file system across a network, most of the time
/// goes by in waiting.
pub(super) fn measure(ui: &Ui, threads: usize, most: u64, stores: &mut [Gathered]) {
    let arrays: usize = stores.iter().map(|store| store.places.len()).sum();
    let progress = ui.progress(u64::try_from(arrays).unwrap_or(u64::MAX), "arrays");
    let mut run = || {
        for store in &mut *stores {
            let arrays = store.report.arrays.par_iter_mut().zip(&store.places);
            let failures = arrays.map(|(array, place)| {
                let failures = measure_array(array, place, most);
                progress.advance(1);
                failures
            });
            store.unlisted = failures.flatten_iter().collect();
        }
    };
    // Where no threads are to be had, this one does it.
    match rayon::ThreadPoolBuilder::new()
        .num_threads(threads.min(arrays).max(1))
        .build()
    {
        Ok(pool) => pool.install(run),
        Err(_) => run(),
    }
}

fn measure_array(array: &mut Array, place: &Place, most: u64) -> Vec<(String, ErrorKind, String)> {
    let (stored, failures) = list(&place.directory, &place.grid, most);
    // Ratios are for people to compare; the numbers behind them are exact.
    #[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
    let ratio = |logical: u128| logical as f64 / stored.bytes as f64;
    let measurable = stored.complete && stored.bytes > 0;
    array.ratio = array.logical_bytes.filter(|_| measurable).map(ratio);
    array.stored = stored;
    let failures = failures.into_iter();
    failures
        .map(|(kind, message)| (array.path.clone(), kind, message))
        .collect()
}

/// Looks at the files of an array, at `most` of them.
fn list(directory: &Path, grid: &Grid, most: u64) -> (Stored, Vec<(ErrorKind, String)>) {
    let mut stored = Stored {
        complete: true,
        grid_objects: grid
            .shape
            .as_ref()
            .and_then(|shape| product(shape.iter().copied())),
        ..Stored::default()
    };
    let mut failures = Vec::new();
    let mut seen = 0_u64;
    if most == 0 {
        stored.complete = false;
        return (stored, failures);
    }
    for object in Objects::below(directory) {
        let object = match object {
            Ok(object) => object,
            Err(error) => {
                stored.complete = false;
                failures.push((error.kind(), crate::catalog::causes(&error)));
                if failures.len() == MOST_FAILURES {
                    break;
                }
                continue;
            }
        };
        if DOCUMENTS.contains(&object.key.as_str()) {
            continue;
        }
        if seen == most {
            stored.complete = false;
            break;
        }
        seen += 1;
        match role(&object.key, grid) {
            Role::Chunk => {
                stored.objects += 1;
                stored.bytes = stored.bytes.saturating_add(object.length);
            }
            Role::Outside => add(&mut stored.outside, object.length),
            Role::Other => add(&mut stored.other, object.length),
        }
    }
    (stored, failures)
}

/// What a file is to its array.
#[derive(Debug, PartialEq, Eq)]
enum Role {
    /// A chunk of the grid.
    Chunk,
    /// A chunk beyond the shape, as a resized array leaves behind.
    Outside,
    /// No chunk.
    Other,
}

fn role(key: &str, grid: &Grid) -> Role {
    let (Some(keys), Some(shape)) = (&grid.keys, &grid.shape) else {
        return Role::Other;
    };
    match keys.index(key, shape.len()) {
        None => Role::Other,
        Some(index) if index.iter().zip(shape).all(|(at, length)| at < length) => Role::Chunk,
        Some(_) => Role::Outside,
    }
}

fn add(files: &mut Files, length: u64) {
    files.count += 1;
    files.bytes = files.bytes.saturating_add(length);
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::codecs::ChunkKeys;
    use crate::metadata::v3::{KeyEncoding, Separator};

    fn grid(shape: &[u64]) -> Grid {
        Grid {
            keys: ChunkKeys::new("", KeyEncoding::Default(Separator::Slash)),
            shape: Some(shape.to_vec()),
        }
    }

    fn array(files: &[(&str, usize)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (key, length) in files {
            let path = directory.path().join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; *length]).unwrap();
        }
        directory
    }

    #[test]
    fn chunks_are_told_from_what_else_lies_there() {
        let files = [
            ("zarr.json", 100),
            ("c/0/0", 1),
            ("c/1/2", 2),
            ("c/2/0", 4),
            ("c/0/0.tmp", 8),
            (".DS_Store", 16),
        ];
        let directory = array(&files);
        let (stored, failures) = list(directory.path(), &grid(&[2, 3]), 1000);
        let expected = Stored {
            complete: true,
            objects: 2,
            bytes: 3,
            grid_objects: Some(6),
            outside: Files { count: 1, bytes: 4 },
            other: Files {
                count: 2,
                bytes: 24,
            },
        };
        assert_eq!(stored, expected);
        assert!(failures.is_empty());
    }

    #[test]
    fn the_listing_ends_where_it_is_told_to() {
        let directory = array(&[("c/0", 1), ("c/1", 1), ("c/2", 1)]);
        let count = |most| {
            let (stored, _) = list(directory.path(), &grid(&[3]), most);
            (stored.objects, stored.complete)
        };
        assert_eq!(count(3), (3, true));
        assert_eq!(count(2), (2, false));
        assert_eq!(count(0), (0, false));
    }

    #[test]
    fn a_grid_that_is_not_known_has_no_chunks() {
        let directory = array(&[("c/0", 1)]);
        let (stored, _) = list(directory.path(), &Grid::default(), 10);
        assert_eq!((stored.objects, stored.other.count), (0, 1));
        assert_eq!(stored.grid_objects, None);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_looked_at_is_told_and_the_rest_is_counted() {
        let directory = array(&[("c/0", 1)]);
        std::os::unix::fs::symlink("nowhere", directory.path().join("c/1")).unwrap();
        let (stored, failures) = list(directory.path(), &grid(&[3]), 10);
        assert_eq!((stored.objects, stored.complete), (1, false));
        assert_eq!(failures.len(), 1);
        assert_eq!(failures[0].0, ErrorKind::Io);
    }
}
