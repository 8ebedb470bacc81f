//! An existing store: the directory that an argument names, and the groups around it.

use std::path::{Path, PathBuf};

use super::document::stands_at;
use super::{Place, StoreError};

/// A directory that holds a hierarchy or a part of one.
#[derive(Debug, Clone)]
pub struct Store {
    place: Place,
    enclosing: Vec<Enclosing>,
}

/// A group around a store. It may hold a copy of the store's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosing {
    /// The group's directory.
    pub directory: PathBuf,
    /// The path of the store inside the group, such as `a/b`.
    pub path: String,
}

impl Store {
    /// Opens what STORE or INPUT names: the one function in which another sort of place than a local
    /// directory would be told from it.
    ///
    /// A store need not hold anything yet: whether a node is there, the walk says.
    ///
    /// # Errors
    ///
    /// Where no directory is there, or it cannot be reached.
    pub fn open(argument: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::at(Place::resolve(argument)?)
    }

    /// Opens the store at a place.
    ///
    /// # Errors
    ///
    /// As for [`Store::open`].
    pub fn at(place: Place) -> Result<Self, StoreError> {
        place.require_directory()?;
        let enclosing = enclosing(&place)?;
        Ok(Self { place, enclosing })
    }

    /// The place of the store.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// The directory of the store, without links and `..`.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.place.path()
    }

    /// The groups around the store, outermost first.
    #[must_use]
    pub fn enclosing(&self) -> &[Enclosing] {
        &self.enclosing
    }

    /// The directory of the hierarchy: the outermost group around the store, or the store itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        match self.enclosing.first() {
            Some(group) => &group.directory,
            None => self.directory(),
        }
    }

    /// The path of the store inside its hierarchy, without a leading slash; empty for the root.
    #[must_use]
    pub fn path_in_root(&self) -> &str {
        self.enclosing.first().map_or("", |group| &group.path)
    }
}

/// The groups around a place, outermost first. Nothing need be there.
///
/// # Errors
///
/// Where it cannot be told whether a directory is a group.
pub fn enclosing(place: &Place) -> Result<Vec<Enclosing>, StoreError> {
    let mut enclosing = groups_around(place.path())?;
    // A node that is a link is a member of the groups around the link as well as of those around
    // the directory that it leads to.
    if let Some(link) = link_itself(place.given(), place.path()) {
        for group in groups_around(&link)? {
            if !enclosing.contains(&group) {
                enclosing.push(group);
            }
        }
    }
    enclosing.sort_by_key(|group| std::cmp::Reverse(group.path.matches('/').count()));
    Ok(enclosing)
}

/// The groups around a directory, innermost first. There is no gap in a hierarchy: the first directory
/// upwards that is no group is outside.
fn groups_around(directory: &Path) -> Result<Vec<Enclosing>, StoreError> {
    let mut groups = Vec::new();
    let mut path = String::new();
    let mut below = directory;
    while let (Some(parent), Some(name)) = (below.parent(), below.file_name()) {
        let Some(name) = name.to_str() else { break };
        path = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{name}/{path}")
        };
        if !is_group(parent)? {
            break;
        }
        groups.push(Enclosing {
            directory: parent.to_owned(),
            path: path.clone(),
        });
        below = parent;
    }
    Ok(groups)
}

/// Whether a directory around a node is a group. Only a group has nodes inside it, so the name of its
/// document is enough.
fn is_group(directory: &Path) -> Result<bool, StoreError> {
    Ok(stands_at(&directory.join("zarr.json"))? || stands_at(&directory.join(".zgroup"))?)
}

/// The path of the link that the last component of an argument is, with everything before it resolved.
fn link_itself(given: &Path, resolved: &Path) -> Option<PathBuf> {
    let name = given.file_name()?;
    let parent = match given.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    let link = parent.canonicalize().ok()?.join(name);
    (link != resolved).then_some(link)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn hierarchy(groups: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        for group in groups {
            fs::create_dir_all(root.join(group)).unwrap();
            fs::write(root.join(group).join("zarr.json"), "{}").unwrap();
        }
        (directory, root)
    }

    #[test]
    fn a_root_has_nothing_around_it() {
        let (_guard, root) = hierarchy(&["s.zarr"]);
        let store = Store::open(root.join("s.zarr")).unwrap();
        assert_eq!(store.enclosing(), []);
        assert_eq!(store.root(), root.join("s.zarr"));
        assert_eq!(store.path_in_root(), "");
    }

    #[test]
    fn groups_are_found_upwards_as_far_as_they_go_without_a_gap() {
        let (_guard, root) = hierarchy(&["x", "x/gap/s", "x/gap/s/g", "x/gap/s/g/a"]);
        let store = Store::open(root.join("x/gap/s/g/a")).unwrap();
        assert_eq!(store.root(), root.join("x/gap/s"));
        assert_eq!(store.path_in_root(), "g/a");
        let paths: Vec<&str> = store.enclosing().iter().map(|g| g.path.as_str()).collect();
        assert_eq!(paths, ["g/a", "a"]);
    }

    #[test]
    fn v2_groups_count() {
        let (_guard, root) = hierarchy(&[]);
        fs::create_dir_all(root.join("s/a")).unwrap();
        fs::write(root.join("s/.zgroup"), "{}").unwrap();
        let store = Store::open(root.join("s/a")).unwrap();
        assert_eq!(store.root(), root.join("s"));
    }

    #[cfg(unix)]
    #[test]
    fn a_linked_node_belongs_to_the_groups_around_the_link() {
        let (_guard, root) = hierarchy(&["s", "elsewhere", "elsewhere/a"]);
        std::os::unix::fs::symlink(root.join("elsewhere/a"), root.join("s/b")).unwrap();
        let store = Store::open(root.join("s/b")).unwrap();
        assert_eq!(store.directory(), root.join("elsewhere/a"));
        let directories: Vec<&Path> = store.enclosing().iter().map(|g| &*g.directory).collect();
        assert_eq!(directories, [root.join("elsewhere"), root.join("s")]);
    }

    #[test]
    fn a_store_is_a_directory() {
        let (_guard, root) = hierarchy(&["s"]);
        assert!(matches!(
            Store::open(root.join("s/zarr.json")),
            Err(StoreError::NotADirectory(_))
        ));
        assert!(matches!(
            Store::open(root.join("t")),
            Err(StoreError::NotFound(_))
        ));
    }
}
