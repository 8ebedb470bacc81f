//! STORE, INPUT and OUTPUT: what an argument names, once links and `..` are resolved.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::{env, fs};

use super::StoreError;

/// Links that are followed before a path is taken for a loop; the number that Linux has.
const MAX_LINKS: usize = 40;

/// A place in the file system. Nothing need be there.
#[derive(Debug, Clone)]
pub struct Place {
    given: PathBuf,
    path: PathBuf,
    metadata: Option<fs::Metadata>,
}

/// How one place lies to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Neither contains the other.
    Apart,
    /// They are one.
    Same,
    /// The first is inside the second.
    Inside,
    /// The second is inside the first.
    Around,
}

impl Place {
    /// Resolves an argument. What does not exist is resolved as far as it does, and what is left is
    /// appended, so that two names of one place are equal before anything is made there.
    ///
    /// # Errors
    ///
    /// Where the argument is empty or a URL, or where the path cannot be followed: a file in the place
    /// of a directory, no permission, a loop of links.
    pub fn resolve(given: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let given = given.into();
        if given.as_os_str().is_empty() {
            return Err(StoreError::Empty);
        }
        if is_url(&given) && fs::symlink_metadata(&given).is_err() {
            return Err(StoreError::Url(given));
        }
        let absolute = if given.is_absolute() {
            given.clone()
        } else {
            let here = env::current_dir().map_err(StoreError::io("find", Path::new(".")))?;
            here.join(&given)
        };
        let path = canonical(&absolute)?;
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::io("look at", &path)(error)),
        };
        Ok(Self {
            given,
            path,
            metadata,
        })
    }

    /// The argument, as it was given.
    #[must_use]
    pub fn given(&self) -> &Path {
        &self.given
    }

    /// The absolute path without links and `..`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether anything was there when the place was resolved.
    #[must_use]
    pub const fn exists(&self) -> bool {
        self.metadata.is_some()
    }

    /// Whether a regular file was there.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.metadata.as_ref().is_some_and(fs::Metadata::is_file)
    }

    /// Whether what was there is the file of this metadata, whatever path or handle led to either.
    #[must_use]
    pub fn is_one_with(&self, metadata: &fs::Metadata) -> bool {
        let identity = Identity::of(metadata);
        identity.is_some() && self.identity() == identity
    }

    /// Insists on a directory.
    ///
    /// # Errors
    ///
    /// Where nothing is there, or something else.
    pub fn require_directory(&self) -> Result<&Path, StoreError> {
        match &self.metadata {
            None => Err(StoreError::NotFound(self.given.clone())),
            Some(metadata) if metadata.is_dir() => Ok(&self.path),
            Some(_) => Err(StoreError::NotADirectory(self.given.clone())),
        }
    }

    /// How this place lies to another, by path and, where the system numbers its files, by number:
    /// a file system that is mounted twice, or that ignores case, has two paths to one directory.
    #[must_use]
    pub fn relation(&self, other: &Self) -> Relation {
        let same = self.path == other.path
            || self
                .identity()
                .is_some_and(|id| other.identity() == Some(id));
        if same {
            Relation::Same
        } else if self.is_inside(other) {
            Relation::Inside
        } else if other.is_inside(self) {
            Relation::Around
        } else {
            Relation::Apart
        }
    }

    /// Insists that what is read and what is written have nothing to do with each other.
    ///
    /// # Errors
    ///
    /// Where they are the same, or one is inside the other.
    pub fn require_apart(input: &Self, output: &Self) -> Result<(), StoreError> {
        let nested = |inner: &Self, outer: &Self| StoreError::Nested {
            inner: inner.given.clone(),
            outer: outer.given.clone(),
        };
        match input.relation(output) {
            Relation::Apart => Ok(()),
            Relation::Same => Err(StoreError::Same(output.given.clone())),
            Relation::Inside => Err(nested(input, output)),
            Relation::Around => Err(nested(output, input)),
        }
    }

    fn identity(&self) -> Option<Identity> {
        self.metadata.as_ref().and_then(Identity::of)
    }

    fn is_inside(&self, outer: &Self) -> bool {
        self.path.starts_with(&outer.path)
            || outer.identity().is_some_and(|id| {
                let mut around = self.path.ancestors().skip(1);
                around.any(|path| Identity::at(path) == Some(id))
            })
    }
}

/// What tells a file or a directory from all others, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// That of the file or directory at a path, links followed.
    pub(super) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().and_then(Self::of)
    }

    #[cfg(unix)]
    pub(super) fn of(metadata: &fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            number: metadata.ino(),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn of(_metadata: &fs::Metadata) -> Option<Self> {
        None
    }
}

fn is_url(given: &Path) -> bool {
    given
        .to_str()
        .and_then(|text| text.split_once("://"))
        .is_some_and(|(scheme, _)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        })
}

/// The canonical form of an absolute path of which a part may not exist.
///
/// The system resolves what is there. Of the rest, `..` takes back what came before it, and a link that
/// leads nowhere yet is replaced by where it leads, for that is where a write would end up.
fn canonical(absolute: &Path) -> Result<PathBuf, StoreError> {
    let mut path = absolute.to_owned();
    let mut links = 0;
    'resolve: loop {
        // The components that do not exist, last first.
        let mut rest: Vec<OsString> = Vec::new();
        let mut prefix = path.clone();
        loop {
            match fs::canonicalize(&prefix) {
                Ok(base) => {
                    return Ok(rest
                        .into_iter()
                        .rev()
                        .fold(base, |path, name| path.join(name)));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("follow", &prefix)(error)),
            }
            let last = prefix.components().next_back();
            match (last, prefix.parent()) {
                (Some(Component::Normal(name)), Some(parent)) => {
                    if let Ok(target) = fs::read_link(&prefix) {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(StoreError::Io {
                                action: "follow",
                                path: prefix.clone(),
                                source: io::Error::other("too many links"),
                            });
                        }
                        let target = parent.join(target);
                        path = rest
                            .into_iter()
                            .rev()
                            .fold(target, |path, name| path.join(name));
                        continue 'resolve;
                    }
                    rest.push(name.to_owned());
                    prefix = parent.to_owned();
                }
                // `missing/..`: what is before both decides, and it may exist with what comes after.
                (Some(Component::ParentDir), Some(parent)) => {
                    let before = canonical(parent)?;
                    let target = before.parent().unwrap_or(&before).to_owned();
                    path = rest
                        .into_iter()
                        .rev()
                        .fold(target, |path, name| path.join(name));
                    continue 'resolve;
                }
                _ => return Err(StoreError::NotFound(absolute.to_owned())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(path: PathBuf) -> Place {
        Place::resolve(path).unwrap()
    }

    fn relation(a: PathBuf, b: PathBuf) -> Relation {
        place(a).relation(&place(b))
    }

    /// A directory for a test, by its canonical path.
    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        (directory, path)
    }

    #[test]
    fn what_does_not_exist_has_a_canonical_path_too() {
        let (_guard, root) = directory();
        fs::create_dir(root.join("a")).unwrap();
        for (given, expected) in [
            ("a", "a"),
            ("a/./b/c", "a/b/c"),
            ("a/../b", "b"),
            ("missing/../a", "a"),
            ("missing/deep/../../a/x", "a/x"),
            ("a/missing/..", "a"),
            ("b/", "b"),
        ] {
            assert_eq!(
                place(root.join(given)).path(),
                root.join(expected),
                "{given}"
            );
        }
        assert!(!place(root.join("b")).exists());
        assert!(place(root.join("a")).exists());
    }

    #[test]
    fn a_relative_path_starts_here() {
        let here = env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(
            place("no such thing".into()).path(),
            here.join("no such thing")
        );
        assert_eq!(place(".".into()).path(), here);
    }

    #[test]
    fn relations_go_by_components() {
        let (_guard, root) = directory();
        fs::create_dir_all(root.join("a/b")).unwrap();
        let of = |a: &str, b: &str| relation(root.join(a), root.join(b));
        assert_eq!(of("a", "a/../a"), Relation::Same);
        assert_eq!(of("a", "a/b"), Relation::Around);
        assert_eq!(of("a/b/new", "a"), Relation::Inside);
        assert_eq!(of("a", "ab"), Relation::Apart);
        assert_eq!(of("new", "new"), Relation::Same);
        assert_eq!(of("new/x", "new"), Relation::Inside);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_hide_that_places_are_one() {
        use std::os::unix::fs::symlink;
        let (_guard, root) = directory();
        fs::create_dir_all(root.join("a/b")).unwrap();
        symlink(root.join("a"), root.join("link")).unwrap();
        symlink("new", root.join("dangling")).unwrap();
        let of = |a: &str, b: &str| relation(root.join(a), root.join(b));
        assert_eq!(of("a", "link"), Relation::Same);
        assert_eq!(of("link/b", "a"), Relation::Inside);
        assert_eq!(of("a", "link/b/../new"), Relation::Around);
        assert_eq!(of("dangling", "new"), Relation::Same);
        assert_eq!(of("dangling/x/y", "new"), Relation::Inside);
        // `..` after a link goes up from where the link leads.
        assert_eq!(of("link/../a", "a"), Relation::Same);
    }

    #[cfg(unix)]
    #[test]
    fn a_loop_of_links_is_an_error() {
        use std::os::unix::fs::symlink;
        let (_guard, root) = directory();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        let error = Place::resolve(root.join("a/x")).unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Io {
                    action: "follow",
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn input_and_output_must_be_apart() {
        let (_guard, root) = directory();
        fs::create_dir(root.join("in")).unwrap();
        let check =
            |output: &str| Place::require_apart(&place(root.join("in")), &place(root.join(output)));
        assert!(check("out").is_ok());
        assert!(matches!(check("in"), Err(StoreError::Same(_))));
        assert!(matches!(check("in/out"), Err(StoreError::Nested { .. })));
        assert!(matches!(check("."), Err(StoreError::Nested { .. })));
    }

    #[test]
    fn odd_arguments_are_told_from_paths() {
        assert!(matches!(Place::resolve(""), Err(StoreError::Empty)));
        for url in [
            "s3://bucket/key",
            "https://example.org/a.zarr",
            "file:///tmp",
        ] {
            assert!(
                matches!(Place::resolve(url), Err(StoreError::Url(_))),
                "{url}"
            );
        }
        let (_guard, root) = directory();
        fs::write(root.join("file"), "").unwrap();
        let file = place(root.join("file"));
        assert!(matches!(
            file.require_directory(),
            Err(StoreError::NotADirectory(_))
        ));
        assert!(matches!(
            Place::resolve(root.join("file/below")),
            Err(StoreError::NotADirectory(_))
        ));
        assert!(matches!(
            place(root.join("none")).require_directory(),
            Err(StoreError::NotFound(_))
        ));
    }
}
