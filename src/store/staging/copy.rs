//! Copying the files of a store into one that is being written.
//!
//! Where the file system can share blocks between files (Btrfs, XFS, APFS through the standard library, and others), a copy shares
//! them: both files then are the same bytes by construction, and only the length is compared. Elsewhere bytes are
//! hashed as they are read, written, and the written file is read again and hashed. That catches what was lost on the way to the file system, and
//! not always what the disk itself loses, since a system may answer from memory. Letting the system copy by itself
//! (`copy_file_range`) would gain nothing, as both sides would have to be read for the hash.
//!
//! Links are followed, so that the copy stands by itself: a link out of the store becomes a copy of what it leads to. A link to nothing is
//! an error, and so is one that leads around in circles. Permissions are kept, owners and times are not. What a killed run of this
//! program left in the store is not copied, and neither are empty directories, which mean nothing.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use super::super::objects::{Object, Objects};
use super::super::parallel::for_each_of;
use super::{Staging, StoreError};
use crate::interrupt::Interrupt;

/// How much is read at a time.
const PIECE: usize = 1 << 20;

/// What was copied, so far or in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many of the files share their blocks with the originals.
    pub shared: u64,
}

/// Is told of progress, from several threads.
pub type CopyObserver<'a> = &'a (dyn Fn(Copied) + Sync);

impl Staging {
    /// Copies all files at and below a directory, several at a time, but for those whose keys are skipped.
    ///
    /// # Errors
    ///
    /// Where a file cannot be read or written, is no regular file, changes while it is read, or where the copy is not the same; and
    /// where a signal comes.
    pub fn copy_store(
        &self,
        from: &Path,
        skip: &(dyn Fn(&str) -> bool + Sync),
        interrupt: &Interrupt,
        observer: CopyObserver<'_>,
    ) -> Result<Copied, StoreError> {
        let wanted = Objects::below(from).filter(|object| match object {
            Ok(object) => !is_leftover(&object.key) && !skip(&object.key),
            Err(_) => true,
        });
        self.copy_objects(wanted, interrupt, observer)
    }

    /// Copies some files of a directory by their keys, such as its documents.
    ///
    /// # Errors
    ///
    /// As for [`Staging::copy_store`].
    pub fn copy_files(
        &self,
        from: &Path,
        keys: &[String],
        interrupt: &Interrupt,
        observer: CopyObserver<'_>,
    ) -> Result<Copied, StoreError> {
        let wanted = keys.iter().map(|key| {
            let path = from.join(key);
            let metadata = fs::metadata(&path).map_err(StoreError::io("read", &path))?;
            Ok(Object {
                key: key.clone(),
                length: metadata.len(),
                modified: metadata.modified().ok(),
                path,
                is_directory: false,
            })
        });
        self.copy_objects(wanted, interrupt, observer)
    }

    fn copy_objects(
        &self,
        objects: impl Iterator<Item = Result<Object, StoreError>> + Send,
        interrupt: &Interrupt,
        observer: CopyObserver<'_>,
    ) -> Result<Copied, StoreError> {
        let counts = [const { AtomicU64::new(0) }; 3];
        let copied = || {
            let [files, bytes, shared] = &counts;
            Copied {
                files: files.load(Ordering::Relaxed),
                bytes: bytes.load(Ordering::Relaxed),
                shared: shared.load(Ordering::Relaxed),
            }
        };
        for_each_of(&Mutex::new(objects), &|object: Object| {
            interrupt.check()?;
            let (bytes, shared) = self.copy_verified(&object.path, &object.key, interrupt)?;
            for (count, more) in counts.iter().zip([1, bytes, u64::from(shared)]) {
                count.fetch_add(more, Ordering::Relaxed);
            }
            observer(copied());
            Ok(())
        })?;
        Ok(copied())
    }

    /// Copies one file, and tells its length and whether the two share their blocks.
    fn copy_verified(
        &self,
        from: &Path,
        key: &str,
        interrupt: &Interrupt,
    ) -> Result<(u64, bool), StoreError> {
        let failed = || StoreError::io("read", from);
        let to = self.path_of(key)?;
        let before = fs::metadata(from).map_err(failed())?;
        if !before.is_file() {
            return Err(StoreError::NotAFile(from.to_owned()));
        }
        let original = File::open(from).map_err(failed())?;
        let copy = self.in_directory(&to, |files| files.create_new(&to))?;
        let files = self.workspace.files();
        let shared = files.share(&original, &copy, &to)?;
        let hash = if shared {
            None
        } else {
            let write = |piece: &[u8]| files.write_all(&copy, &to, piece);
            Some(read(original, from, interrupt, &write)?)
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            files.set_mode(&copy, &to, before.permissions().mode() & 0o7777)?;
        }
        drop(copy);
        let after = fs::metadata(from).map_err(failed())?;
        if before.len() != after.len() || before.modified().ok() != after.modified().ok() {
            return Err(StoreError::Changed(from.to_owned()));
        }
        verify(&to, before.len(), hash, interrupt)?;
        Ok((before.len(), shared))
    }
}

type Hash = [u8; 32];

/// Reads a file to its end, and hands out what it holds.
fn read(
    mut file: File,
    path: &Path,
    interrupt: &Interrupt,
    piece: &dyn Fn(&[u8]) -> Result<(), StoreError>,
) -> Result<Hash, StoreError> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; PIECE];
    loop {
        interrupt.check()?;
        let length = match file.read(&mut buffer) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(StoreError::io("read", path)(error)),
        };
        let bytes = &buffer[..length];
        hash.update(bytes);
        piece(bytes)?;
    }
}

/// Insists that a copy has a length and, where the two do not share their blocks, a hash.
fn verify(
    copy: &PathBuf,
    length: u64,
    hash: Option<Hash>,
    interrupt: &Interrupt,
) -> Result<(), StoreError> {
    let failed = || StoreError::io("read back", copy);
    let file = File::open(copy).map_err(failed())?;
    let same_length = file.metadata().map_err(failed())?.len() == length;
    let same = match hash {
        Some(hash) if same_length => read(file, copy, interrupt, &|_| Ok(()))? == hash,
        _ => same_length,
    };
    if same {
        Ok(())
    } else {
        Err(StoreError::CopyDiffers(copy.clone()))
    }
}

/// Whether a key is that of something which a run of this program left.
fn is_leftover(key: &str) -> bool {
    key.split('/')
        .any(|name| name.starts_with('.') && name.contains(".zarrpack-"))
}

#[cfg(test)]
mod tests {
    use super::super::super::files::Files;
    use super::super::super::files::faults::Fault;
    use super::*;
    use crate::interrupt::Signal;
    use crate::store::{Existing, Place};
    use std::collections::BTreeMap;

    struct Around {
        directory: tempfile::TempDir,
    }

    impl Around {
        /// A store `s` with something of everything in it.
        fn new() -> Self {
            let around = Self {
                directory: tempfile::tempdir().unwrap(),
            };
            let big = vec![7; 3 * PIECE + 5];
            let files: [(&str, &[u8]); 7] = [
                ("zarr.json", b"{}"),
                ("a/zarr.json", b"{\"a\": 1}"),
                ("a/c/0/0", &big),
                ("a/c/0/1", b""),
                ("README.md", b"not a chunk"),
                (".zarrpack-lock", b"left"),
                ("a/.zarr.json.zarrpack-20260101T000000Z-1", b"left"),
            ];
            for (key, bytes) in files {
                let path = around.store().join(key);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
            around
        }

        fn path(&self) -> PathBuf {
            self.directory.path().canonicalize().unwrap()
        }

        fn store(&self) -> PathBuf {
            self.path().join("s")
        }

        fn staging(&self, files: Files) -> Result<Staging, StoreError> {
            let place = Place::resolve(self.path().join("out")).unwrap();
            Staging::begin_with(files, &place, Existing::Refuse)
        }

        fn copy(&self, files: Files, interrupt: &Interrupt) -> Result<Copied, StoreError> {
            let staging = self.staging(files)?;
            let copied =
                staging.copy_store(&self.store(), &|key| key == "zarr.json", interrupt, &|_| ())?;
            staging.write("zarr.json", b"{\"new\": true}")?;
            staging.publish(interrupt)?;
            Ok(copied)
        }
    }

    fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
        Objects::below(root)
            .map(|object| object.unwrap())
            .map(|object| (object.key, fs::read(object.path).unwrap()))
            .collect()
    }

    #[test]
    fn every_file_is_copied_but_for_what_is_written_anew_and_what_was_left() {
        let around = Around::new();
        let copied = around
            .copy(Files::default(), &Interrupt::default())
            .unwrap();
        let mut expected = tree(&around.store());
        expected.retain(|key, _| !key.contains(".zarrpack-"));
        expected.insert("zarr.json".to_owned(), b"{\"new\": true}".to_vec());
        assert_eq!(tree(&around.path().join("out")), expected);
        assert_eq!(copied.files, 4);
        assert_eq!(copied.bytes, 3 * PIECE as u64 + 5 + 8 + 11);
    }

    #[test]
    fn documents_alone_are_copied_by_their_keys() {
        let around = Around::new();
        let staging = around.staging(Files::default()).unwrap();
        let interrupt = Interrupt::default();
        let keys = ["a/zarr.json".to_owned()];
        staging
            .copy_files(&around.store(), &keys, &interrupt, &|_| ())
            .unwrap();
        staging.publish(&interrupt).unwrap();
        let copied = tree(&around.path().join("out"));
        assert_eq!(copied.into_keys().collect::<Vec<_>>(), keys);
    }

    #[test]
    fn nothing_appears_when_anything_fails() {
        for at in 0.. {
            let around = Around::new();
            let (files, faults) = Files::faulty(at, Fault::Fails);
            let outcome = around.copy(files, &Interrupt::default());
            if !faults.struck() {
                outcome.unwrap();
                assert!(at > 20, "{at}");
                break;
            }
            let complete = around.path().join("out/a/c/0/0").exists();
            assert!(outcome.is_err() || complete, "{at}");
            if outcome.is_err() && around.path().join("out").exists() {
                // Only the very last flush can fail after the renaming.
                assert!(complete, "{at}");
            }
        }
    }

    #[test]
    fn a_signal_ends_it_and_leaves_nothing() {
        let around = Around::new();
        let interrupt = Interrupt::default();
        interrupt.raise(Signal::Terminate);
        let outcome = around.copy(Files::default(), &interrupt);
        assert!(matches!(outcome, Err(StoreError::Interrupted(_))));
        assert_eq!(fs::read_dir(around.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_copy_that_is_not_the_same_is_refused() {
        let around = Around::new();
        let path = around.store().join("README.md");
        let hash = |text: &str| Some(Sha256::digest(text).into());
        let interrupt = Interrupt::default();
        let check = |length, hash| verify(&path, length, hash, &interrupt);
        assert!(check(11, hash("not a chunk")).is_ok());
        assert!(check(11, None).is_ok());
        for (length, hash) in [
            (12, None),
            (11, hash("not a chunK")),
            (10, hash("not a chun")),
        ] {
            let refused = check(length, hash);
            assert!(matches!(refused, Err(StoreError::CopyDiffers(_))));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_what_cannot_be_copied_is_told() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let around = Around::new();
        let elsewhere = around.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join("1"), "linked").unwrap();
        symlink(&elsewhere, around.store().join("a/d")).unwrap();
        symlink(elsewhere.join("1"), around.store().join("a/e")).unwrap();
        fs::set_permissions(
            around.store().join("README.md"),
            fs::Permissions::from_mode(0o640),
        )
        .unwrap();
        around
            .copy(Files::default(), &Interrupt::default())
            .unwrap();
        let out = around.path().join("out");
        for key in ["a/d/1", "a/e"] {
            let metadata = fs::symlink_metadata(out.join(key)).unwrap();
            assert!(metadata.is_file(), "{key}");
        }
        let mode = fs::metadata(out.join("README.md")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o640);
        fs::remove_dir_all(out).unwrap();
        symlink("nowhere", around.store().join("a/f")).unwrap();
        let outcome = around.copy(Files::default(), &Interrupt::default());
        assert!(matches!(outcome, Err(StoreError::NotFound(_))));
        assert!(!around.path().join("out").exists());
    }
}
