//! Walking a hierarchy: every node with its documents, parents first, siblings by name.
//!
//! The walk holds the names of the directories that are still to be visited beside and above the one at
//! hand, and the documents of one node; nothing else, whatever the size of the hierarchy. It does not
//! recurse, so that depth costs memory only.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::document::{V2_NAMES, V3_NAME, stands_at};
use super::place::Identity;
use super::{DEFAULT_MAX_DOCUMENT, Document, StoreError, read_document};

/// A node of a hierarchy: a directory with at least one document.
#[derive(Debug)]
pub struct Node {
    /// The path from where the walk began, without a leading slash; empty for the start itself.
    pub path: String,
    /// The directory.
    pub directory: PathBuf,
    /// The documents that count: `zarr.json` alone where there is one, else all of v2 that there are.
    pub documents: Vec<Document>,
    /// The names of v2 documents that stand beside a `zarr.json` and do not count.
    pub shadowed: Vec<&'static str>,
    /// Whether a link to a directory led here, at this node or above it.
    pub linked: bool,
}

/// What a walk comes across.
#[derive(Debug)]
pub enum Visit {
    /// A node.
    Node(Node),
    /// Something that could not be looked at, or was not followed. The walk goes on beside it.
    Fault {
        /// The path of the directory from where the walk began; lossy where it is not UTF-8.
        path: String,
        /// What is the matter.
        error: StoreError,
    },
}

/// Whether to look for nodes below the one that was just visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Descend {
    /// Look: it is a group, or may be one.
    Yes,
    /// Do not: below an array there are chunks, not nodes, and there may be millions.
    No,
}

/// Bounds of a walk.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// The largest document that is read, in bytes.
    pub max_document: u64,
    /// How many links to directories are followed. Each may lead to many nodes, and to more links.
    pub max_links: usize,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            max_document: DEFAULT_MAX_DOCUMENT,
            max_links: 10_000,
        }
    }
}

/// Visits the nodes at and below a directory.
///
/// A directory without documents is no node and is not visited, but nodes below it are found, unless its
/// name begins with a dot: that is where version control and unfinished output live. Where a v2 array is
/// the node, the walk does not descend whatever `visit` answers.
///
/// # Errors
///
/// What `visit` returns; everything that the walk itself comes across is visited as a fault.
pub fn walk<E>(
    start: &Path,
    options: &WalkOptions,
    visit: &mut dyn FnMut(Visit) -> Result<Descend, E>,
) -> Result<(), E> {
    let mut walk = Walk {
        options,
        links_left: options.max_links,
        path: String::new(),
        directory: start.to_owned(),
        stack: Vec::new(),
        linked: false,
    };
    walk.enter(false, visit)?;
    while walk.advance() {
        walk.next(visit)?;
    }
    Ok(())
}

/// A directory whose children are being visited.
struct Level {
    /// The children that remain, last first.
    children: Vec<Child>,
    identity: Option<Identity>,
    /// The length of the path of the directory.
    path_length: usize,
    /// Whether a link led here or above.
    linked: bool,
}

struct Child {
    name: OsString,
    link: bool,
}

struct Walk<'a> {
    options: &'a WalkOptions,
    links_left: usize,
    /// The path and the directory of the child at hand.
    path: String,
    directory: PathBuf,
    linked: bool,
    /// The levels above the child at hand.
    stack: Vec<Level>,
}

type Visitor<'v, E> = &'v mut dyn FnMut(Visit) -> Result<Descend, E>;

impl Walk<'_> {
    /// Leaves levels that are done. False if none is left.
    fn advance(&mut self) -> bool {
        while self
            .stack
            .last()
            .is_some_and(|level| level.children.is_empty())
        {
            self.stack.pop();
            self.directory.pop();
        }
        !self.stack.is_empty()
    }

    /// Goes to the next child of the innermost level.
    fn next<E>(&mut self, visit: Visitor<'_, E>) -> Result<(), E> {
        let Some(level) = self.stack.last_mut() else {
            return Ok(());
        };
        let Some(child) = level.children.pop() else {
            return Ok(());
        };
        self.path.truncate(level.path_length);
        self.linked = level.linked || child.link;
        self.directory.push(&child.name);
        if !self.path.is_empty() {
            self.path.push('/');
        }
        self.path.push_str(&child.name.to_string_lossy());
        let levels = self.stack.len();
        if child.name.to_str().is_none() {
            self.fault(StoreError::NotUtf8(self.directory.clone()), visit)?;
        } else if !child.link {
            self.enter(child.name.as_encoded_bytes().starts_with(b"."), visit)?;
        } else if let Some(error) = self.refuse_link() {
            self.fault(error, visit)?;
        } else {
            self.links_left -= 1;
            self.enter(child.name.as_encoded_bytes().starts_with(b"."), visit)?;
        }
        if self.stack.len() == levels {
            self.directory.pop();
        }
        Ok(())
    }

    /// Visits the directory at hand, and prepares to descend into it.
    fn enter<E>(&mut self, hidden: bool, visit: Visitor<'_, E>) -> Result<(), E> {
        let descend = match self.node() {
            Ok(None) if hidden => Descend::No,
            Ok(None) => Descend::Yes,
            Ok(Some(node)) => {
                let is_v2_array = node
                    .documents
                    .iter()
                    .any(|document| document.name == ".zarray");
                match visit(Visit::Node(node))? {
                    _ if is_v2_array => Descend::No,
                    descend => descend,
                }
            }
            Err(error) => {
                self.fault(error, visit)?;
                Descend::No
            }
        };
        if descend == Descend::Yes {
            match children(&self.directory) {
                Ok(children) => self.stack.push(Level {
                    children,
                    identity: Identity::at(&self.directory),
                    path_length: self.path.len(),
                    linked: self.linked,
                }),
                Err(error) => self.fault(error, visit)?,
            }
        }
        Ok(())
    }

    /// Reads the documents of the directory at hand; `None` if there are none.
    fn node(&self) -> Result<Option<Node>, StoreError> {
        let mut v2 = Vec::new();
        for name in V2_NAMES {
            if stands_at(&self.directory.join(name))? {
                v2.push(name);
            }
        }
        let (count, shadowed) = if stands_at(&self.directory.join(V3_NAME))? {
            (vec![V3_NAME], v2)
        } else {
            (v2, Vec::new())
        };
        if count.is_empty() {
            return Ok(None);
        }
        let read = |name| Document {
            name,
            bytes: read_document(&self.directory.join(name), self.options.max_document),
        };
        Ok(Some(Node {
            path: self.path.clone(),
            directory: self.directory.clone(),
            documents: count.into_iter().map(read).collect(),
            shadowed,
            linked: self.linked,
        }))
    }

    /// Why the link at hand is not to be followed, if so.
    fn refuse_link(&self) -> Option<StoreError> {
        let identity = match fs::metadata(&self.directory) {
            Ok(metadata) => Identity::of(&metadata),
            Err(error) => return Some(StoreError::io("follow", &self.directory)(error)),
        };
        let around = || {
            self.directory
                .ancestors()
                .skip(1)
                .zip(self.stack.iter().rev())
        };
        if let Some(identity) = identity
            && let Some((target, _)) = around().find(|(_, level)| level.identity == Some(identity))
        {
            return Some(StoreError::Loop {
                link: self.directory.clone(),
                target: target.to_owned(),
            });
        }
        (self.links_left == 0).then(|| StoreError::TooManyLinks {
            link: self.directory.clone(),
            limit: self.options.max_links,
        })
    }

    fn fault<E>(&self, error: StoreError, visit: Visitor<'_, E>) -> Result<(), E> {
        let path = self.path.clone();
        visit(Visit::Fault { path, error }).map(|_| ())
    }
}

/// The directories in a directory, and the links to directories, last first.
fn children(directory: &Path) -> Result<Vec<Child>, StoreError> {
    let failed = || StoreError::io("list", directory);
    let mut children = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let kind = entry.file_type().map_err(failed())?;
        let link = kind.is_symlink();
        // A link that leads nowhere is no directory. Nor is it a node, so nothing is lost with it.
        if kind.is_dir() || link && fs::metadata(entry.path()).is_ok_and(|target| target.is_dir()) {
            children.push(Child {
                name: entry.file_name(),
                link,
            });
        }
    }
    children.sort_unstable_by(|a, b| b.name.cmp(&a.name));
    Ok(children)
}

#[cfg(test)]
mod tests;
