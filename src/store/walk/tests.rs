//! Hierarchies on disk, plain and odd.

use std::convert::Infallible;

use super::*;

const GROUP: &str = r#"{"zarr_format":3,"node_type":"group"}"#;
const ARRAY: &str = r#"{"zarr_format":3,"node_type":"array"}"#;

struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        tree.document("", "zarr.json", GROUP);
        tree
    }

    fn root(&self) -> &Path {
        self.directory.path()
    }

    fn document(&self, node: &str, name: &str, text: &str) {
        let directory = self.root().join(node);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(name), text).unwrap();
    }

    /// What a walk comes across, a line each.
    fn walked(&self) -> Vec<String> {
        walked(self.root(), &WalkOptions::default())
    }
}

fn walked(root: &Path, options: &WalkOptions) -> Vec<String> {
    let mut lines = Vec::new();
    let Ok(()) = walk(root, options, &mut |visit| {
        let (line, descend) = match visit {
            Visit::Node(node) => describe(&node),
            Visit::Fault { path, error } => {
                let error = error.to_string().replace(root.to_str().unwrap(), "");
                (format!("{path}: {error}"), Descend::Yes)
            }
        };
        lines.push(line);
        Ok::<_, Infallible>(descend)
    });
    lines
}

fn describe(node: &Node) -> (String, Descend) {
    let mut line = node.path.clone();
    let mut descend = Descend::Yes;
    for document in &node.documents {
        match &document.bytes {
            Ok(bytes) if bytes == ARRAY.as_bytes() => descend = Descend::No,
            Ok(_) => {}
            Err(_) => line.push_str(" unread"),
        }
        line.push_str(&format!(" {}", document.name));
    }
    for name in &node.shadowed {
        line.push_str(&format!(" ({name})"));
    }
    if node.linked {
        line.push_str(" linked");
    }
    (line, descend)
}

#[test]
fn parents_come_before_children_and_siblings_by_name() {
    let tree = Tree::new();
    for group in ["b", "a", "a/z", "a/B", "a-b"] {
        tree.document(group, "zarr.json", GROUP);
    }
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            "a zarr.json",
            "a/B zarr.json",
            "a/z zarr.json",
            "a-b zarr.json",
            "b zarr.json",
        ]
    );
}

#[test]
fn below_an_array_nothing_is_looked_for() {
    let tree = Tree::new();
    tree.document("v3", "zarr.json", ARRAY);
    tree.document("v3/c", "zarr.json", GROUP);
    tree.document("v2", ".zarray", "{}");
    tree.document("v2/0", "zarr.json", GROUP);
    assert_eq!(tree.walked(), [" zarr.json", "v2 .zarray", "v3 zarr.json"]);
}

#[test]
fn zarr_json_wins_over_what_stands_beside_it() {
    let tree = Tree::new();
    for name in [".zattrs", ".zarray", "zarr.json"] {
        tree.document("a", name, ARRAY);
    }
    tree.document("b", ".zattrs", "{}");
    tree.document("b", ".zgroup", "{}");
    tree.document("b", ".zmetadata", "{}");
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            "a zarr.json (.zarray) (.zattrs)",
            "b .zgroup .zattrs .zmetadata",
        ]
    );
}

#[test]
fn nodes_below_plain_directories_are_found_unless_hidden() {
    let tree = Tree::new();
    tree.document("plain/a", "zarr.json", ARRAY);
    tree.document(".git/a", "zarr.json", ARRAY);
    tree.document(".node", "zarr.json", GROUP);
    tree.document(".node/a", "zarr.json", ARRAY);
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            ".node zarr.json",
            ".node/a zarr.json",
            "plain/a zarr.json",
        ]
    );
}

#[test]
fn names_may_hold_anything() {
    let tree = Tree::new();
    for name in [
        "a b",
        "100%",
        "#1",
        "é",
        "new\nline",
        "__x",
        "*",
        "'\"",
        "~",
        "...",
    ] {
        tree.document(name, "zarr.json", ARRAY);
    }
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            "#1 zarr.json",
            "'\" zarr.json",
            "* zarr.json",
            "... zarr.json",
            "100% zarr.json",
            "__x zarr.json",
            "a b zarr.json",
            "new\nline zarr.json",
            "~ zarr.json",
            "é zarr.json",
        ]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf8_is_a_fault() {
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new();
    let name = std::ffi::OsStr::from_bytes(b"a\xffb");
    fs::create_dir(tree.root().join(name)).unwrap();
    tree.document("z", "zarr.json", ARRAY);
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            "a\u{fffd}b: the name of \"/a\\xFFb\" is not UTF-8",
            "z zarr.json",
        ]
    );
}

#[test]
fn a_document_that_cannot_be_read_is_still_one() {
    let tree = Tree::new();
    fs::create_dir_all(tree.root().join("a/zarr.json")).unwrap();
    tree.document("b", "zarr.json", "{  }");
    let options = WalkOptions {
        max_document: 3,
        ..WalkOptions::default()
    };
    assert_eq!(
        walked(tree.root(), &options),
        [
            " unread zarr.json",
            "a unread zarr.json",
            "b unread zarr.json"
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_document_that_is_a_link_to_nowhere_is_still_one() {
    let tree = Tree::new();
    fs::create_dir(tree.root().join("a")).unwrap();
    std::os::unix::fs::symlink("gone", tree.root().join("a/zarr.json")).unwrap();
    assert_eq!(tree.walked(), [" zarr.json", "a unread zarr.json"]);
}

#[cfg(unix)]
#[test]
fn links_to_directories_are_followed_once_around() {
    use std::os::unix::fs::symlink;
    let tree = Tree::new();
    let elsewhere = Tree::new();
    elsewhere.document("a", "zarr.json", ARRAY);
    tree.document("g", "zarr.json", GROUP);
    symlink("..", tree.root().join("g/up")).unwrap();
    symlink(".", tree.root().join("g/self")).unwrap();
    symlink("nowhere", tree.root().join("g/gone")).unwrap();
    symlink(elsewhere.root(), tree.root().join("g/other")).unwrap();
    assert_eq!(
        tree.walked(),
        [
            " zarr.json",
            "g zarr.json",
            "g/other zarr.json linked",
            "g/other/a zarr.json linked",
            "g/self: \"/g/self\" leads back to \"/g\", which it is in",
            "g/up: \"/g/up\" leads back to \"\", which it is in",
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_that_multiply_come_to_an_end() {
    use std::os::unix::fs::symlink;
    // Each level has two links to the next: 2^30 paths to the last.
    let tree = Tree::new();
    for level in 0..30 {
        tree.document(&format!("d{level:02}"), "zarr.json", GROUP);
        for name in ["x", "y"] {
            let target = format!("../d{:02}", level + 1);
            symlink(target, tree.root().join(format!("d{level:02}/{name}"))).unwrap();
        }
    }
    let options = WalkOptions {
        max_links: 500,
        ..WalkOptions::default()
    };
    let lines = walked(tree.root(), &options);
    let followed = lines.iter().filter(|line| line.ends_with("linked"));
    assert!(followed.count() <= 500);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("more than 500 links"))
    );
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_read_does_not_end_the_walk() {
    use std::os::unix::fs::PermissionsExt;
    let tree = Tree::new();
    tree.document("a", "zarr.json", GROUP);
    tree.document("b", "zarr.json", GROUP);
    let locked = tree.root().join("a");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let lines = tree.walked();
    let may_read_all = fs::read_dir(&locked).is_ok();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    if !may_read_all {
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].starts_with("a: could not look for"), "{lines:?}");
        assert_eq!(lines[2], "b zarr.json");
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_the_system_cannot_name_is_a_fault() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let tree = Tree::new();
    let mode = Mode::from_raw_mode(0o700);
    let name = "d".repeat(200);
    let mut at = openat(CWD, tree.root(), OFlags::DIRECTORY, mode).unwrap();
    for _ in 0..30 {
        mkdirat(&at, &name, mode).unwrap();
        at = openat(&at, &name, OFlags::DIRECTORY, mode).unwrap();
        let file = openat(&at, "zarr.json", OFlags::CREATE | OFlags::WRONLY, mode).unwrap();
        rustix::io::write(&file, GROUP.as_bytes()).unwrap();
    }
    let lines = tree.walked();
    let (last, nodes) = lines.split_last().unwrap();
    assert!((3..30).contains(&nodes.len()), "{}", nodes.len());
    assert!(last.contains("could not look for"), "{last}");
}

#[test]
fn depth_does_not_use_up_the_stack() {
    let tree = Tree::new();
    let mut path = String::from("d");
    for _ in 0..400 {
        tree.document(&path, "zarr.json", GROUP);
        path.push_str("/d");
    }
    let walk = || walked(tree.root(), &WalkOptions::default()).len();
    let nodes = std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(128 << 10);
        small.spawn_scoped(scope, walk).unwrap().join().unwrap()
    });
    assert_eq!(nodes, 401);
}

#[test]
fn the_visitor_may_end_the_walk() {
    let tree = Tree::new();
    tree.document("a", "zarr.json", GROUP);
    let mut visits = 0;
    let outcome = walk(tree.root(), &WalkOptions::default(), &mut |_| {
        visits += 1;
        Err("enough")
    });
    assert_eq!(outcome, Err("enough"));
    assert_eq!(visits, 1);
}
