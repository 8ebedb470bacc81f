//! Output in place or not at all, whatever fails and wherever the process dies.

use std::collections::BTreeMap;

use super::super::files::faults::{Fault, Faults};
use super::*;
use crate::interrupt::Signal;

/// Documents, as far as it matters here.
const OLD: &str = r#"{"zarr_format": 2}"#;
const NEW: &str = r#"{"zarr_format": 3}"#;

/// A directory with room for an output.
struct Around {
    directory: tempfile::TempDir,
}

/// The files at and below a directory, by path.
type Tree = BTreeMap<String, String>;

impl Around {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn place(&self) -> Place {
        Place::resolve(self.path().join("out")).unwrap()
    }

    /// Writes a store as somebody else would.
    fn old(&self) -> Tree {
        fs::create_dir_all(self.path().join("out/old")).unwrap();
        fs::write(self.path().join("out/zarr.json"), OLD).unwrap();
        fs::write(self.path().join("out/old/zarr.json"), "old").unwrap();
        self.tree()
    }

    /// What is in place.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        read_tree(&self.path().join("out"), "", &mut tree);
        tree
    }

    /// The names of all that is there, hidden or not.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn read_tree(directory: &Path, prefix: &str, tree: &mut Tree) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_tree(&entry.path(), &name, tree);
        } else {
            tree.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// Writes the store that all these tests write.
fn write_new(files: Files, place: &Place, existing: Existing) -> Result<(), StoreError> {
    let staging = Staging::begin_with(files, place, existing)?;
    staging.write("a/c/0", b"0")?;
    staging.write("a/c/1", b"1")?;
    staging.copy(&staging.root().join("a/c/1"), "a/c/2")?;
    staging.write("a/zarr.json", b"array")?;
    staging.write("zarr.json", NEW.as_bytes())?;
    staging.publish(&Interrupt::default())
}

fn new_tree() -> Tree {
    let around = Around::new();
    write_new(Files::default(), &around.place(), Existing::Refuse).unwrap();
    around.tree()
}

#[test]
fn what_is_published_is_in_place_and_nothing_else_is_left() {
    let around = Around::new();
    write_new(Files::default(), &around.place(), Existing::Refuse).unwrap();
    assert_eq!(around.names(), ["out"]);
    let tree = around.tree();
    assert_eq!(tree["/a/c/2"], "1");
    assert_eq!(tree.len(), 5);
}

#[test]
fn nothing_is_in_place_before_and_nothing_is_left_when_dropped() {
    let around = Around::new();
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    staging.write("zarr.json", b"{}").unwrap();
    let [workspace] = around.names().try_into().unwrap();
    assert!(
        workspace.starts_with(".out.zarrpack-partial-"),
        "{workspace}"
    );
    // A reader of the group around it sees no node there.
    assert!(!around.path().join(workspace).join("zarr.json").exists());
    drop(staging);
    assert_eq!(around.names(), [""; 0]);
}

#[test]
fn what_exists_is_refused_or_replaced() {
    let around = Around::new();
    let old = around.old();
    let refused = write_new(Files::default(), &around.place(), Existing::Refuse);
    assert!(matches!(refused, Err(StoreError::Exists(_))));
    assert_eq!(around.tree(), old);
    write_new(Files::default(), &around.place(), Existing::Replace).unwrap();
    assert_eq!(around.tree(), new_tree());
    assert_eq!(around.names(), ["out"]);
}

#[test]
fn what_appears_while_the_output_is_made_is_not_lost() {
    let around = Around::new();
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    staging.write("zarr.json", NEW.as_bytes()).unwrap();
    fs::create_dir(around.path().join("out")).unwrap();
    let refused = staging.publish(&Interrupt::default());
    assert!(matches!(refused, Err(StoreError::Exists(_))));
    assert_eq!(around.names(), ["out"]);
    assert_eq!(around.tree(), Tree::new());
}

#[test]
fn only_a_node_or_an_empty_directory_is_replaced() {
    let around = Around::new();
    let replace = || Staging::check(&around.place(), Existing::Replace);
    fs::write(around.path().join("out"), "file").unwrap();
    assert!(matches!(replace(), Err(StoreError::NotReplaceable(_))));
    fs::remove_file(around.path().join("out")).unwrap();
    fs::create_dir_all(around.path().join("out/photos")).unwrap();
    assert!(matches!(replace(), Err(StoreError::NotReplaceable(_))));
    fs::remove_dir(around.path().join("out/photos")).unwrap();
    assert!(replace().is_ok());
    fs::write(around.path().join("out/.zgroup"), OLD).unwrap();
    assert!(replace().is_ok());
    let root = Place::resolve("/").unwrap();
    let refused = Staging::check(&root, Existing::Replace);
    assert!(matches!(refused, Err(StoreError::NotReplaceable(_))));
}

#[test]
fn a_directory_that_is_not_there_is_not_made() {
    let around = Around::new();
    let place = Place::resolve(around.path().join("missing/out")).unwrap();
    let refused = Staging::begin(&place, Existing::Refuse);
    assert!(
        matches!(refused, Err(StoreError::NotFound(_))),
        "{refused:?}"
    );
    assert_eq!(around.names(), [""; 0]);
}

#[test]
fn no_key_leads_out_of_the_store() {
    let around = Around::new();
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    for key in ["", "/a", "a/", "a//b", "..", "a/../b", ".", "a/./b"] {
        let refused = staging.write(key, b"");
        assert!(matches!(refused, Err(StoreError::Key(_))), "{key:?}");
    }
    for key in ["a b", "100%/#1", "é", "new\nline", "...", ".zarray", "__x"] {
        staging.write(key, b"").unwrap();
    }
}

#[test]
fn an_object_is_written_once() {
    let around = Around::new();
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    staging.write("a", b"").unwrap();
    assert!(matches!(
        staging.write("a", b""),
        Err(StoreError::Io { .. })
    ));
}

#[test]
fn a_signal_before_publishing_leaves_all_as_it_was() {
    let around = Around::new();
    let old = around.old();
    let staging = Staging::begin(&around.place(), Existing::Replace).unwrap();
    staging.write("zarr.json", NEW.as_bytes()).unwrap();
    let interrupt = Interrupt::default();
    interrupt.raise(Signal::Interrupt);
    let stopped = staging.publish(&interrupt);
    assert!(matches!(stopped, Err(StoreError::Interrupted(_))));
    assert_eq!(around.tree(), old);
    assert_eq!(around.names(), ["out"]);
}

#[test]
fn a_place_that_another_process_writes_to_is_busy() {
    let around = Around::new();
    let first = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    let second = Staging::begin(&around.place(), Existing::Refuse);
    assert!(matches!(second, Err(StoreError::Busy(_))));
    drop(first);
    assert!(Staging::begin(&around.place(), Existing::Refuse).is_ok());
}

#[test]
fn outputs_whose_long_names_begin_alike_are_told_apart() {
    let around = Around::new();
    let place = |end: &str| {
        let name = format!("{}{end}", "n".repeat(200));
        Place::resolve(around.path().join(name)).unwrap()
    };
    let first = Staging::begin(&place("1"), Existing::Refuse).unwrap();
    let second = Staging::begin(&place("2"), Existing::Refuse).unwrap();
    assert!(Staging::begin(&place("2"), Existing::Refuse).is_err());
    drop((first, second));
}

#[cfg(unix)]
#[test]
fn a_place_where_nothing_may_be_written_is_an_error_with_its_path() {
    use std::os::unix::fs::PermissionsExt;
    let around = Around::new();
    fs::set_permissions(around.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let begun = Staging::begin(&around.place(), Existing::Refuse);
    // Root may write everywhere.
    if let Err(error) = begun {
        assert!(
            matches!(
                error,
                StoreError::Io {
                    action: "create",
                    ..
                }
            ),
            "{error}"
        );
    }
    fs::set_permissions(around.path(), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn whatever_fails_the_old_output_or_the_new_one_is_in_place() {
    let new = new_tree();
    for two_steps in [false, true] {
        for at in 0.. {
            let around = Around::new();
            let old = around.old();
            let (files, faults) = faulty(at, Fault::Fails, two_steps);
            let outcome = write_new(files, &around.place(), Existing::Replace);
            let tree = around.tree();
            match outcome {
                Ok(()) => assert_eq!(tree, new, "{at}"),
                Err(error) => {
                    assert!(error.to_string().starts_with("could not"), "{error}");
                    assert!(tree == old || tree == new, "{at}: {tree:?}");
                }
            }
            settle(&Files::default(), around.place().path()).unwrap();
            let tree = around.tree();
            assert!(tree == old || tree == new, "{at}: {tree:?}");
            assert_eq!(around.names(), ["out"], "{at}");
            if !faults.struck() {
                assert!(at > 20, "{at}");
                break;
            }
        }
    }
}

#[test]
fn wherever_the_process_dies_one_whole_output_is_in_place_or_put_back() {
    let new = new_tree();
    for two_steps in [false, true] {
        let mut put_back = 0;
        for at in 0.. {
            let around = Around::new();
            let old = around.old();
            let (files, faults) = faulty(at, Fault::Dies, two_steps);
            let _ = write_new(files, &around.place(), Existing::Replace);
            let died = faults.struck();
            if died && around.tree().is_empty() {
                put_back += 1;
                let leftovers = settle(&Files::default(), around.place().path()).unwrap();
                assert!(matches!(leftovers[..], [Leftover::Restored(_)]));
            }
            let tree = around.tree();
            assert!(tree == old || tree == new, "{at}: {tree:?}");
            write_new(Files::default(), &around.place(), Existing::Replace).unwrap();
            assert_eq!(around.tree(), new, "{at}");
            assert_eq!(around.names(), ["out"], "{at}");
            if !died {
                break;
            }
        }
        assert_eq!(put_back > 0, two_steps);
    }
}

fn faulty(at: u64, fault: Fault, two_steps: bool) -> (Files, std::sync::Arc<Faults>) {
    let (files, faults) = Files::faulty(at, fault);
    if two_steps {
        (files.in_two_steps(), faults)
    } else {
        (files, faults)
    }
}

/// Makes what a process leaves that died between the two renames of a replacement.
fn died_between_renames(around: &Around) -> Tree {
    let old = around.old();
    let workspace = around.path().join(".out.zarrpack-partial-1-2-3");
    fs::create_dir_all(workspace.join("new")).unwrap();
    fs::write(workspace.join("lock"), "out").unwrap();
    fs::write(workspace.join("new/zarr.json"), NEW).unwrap();
    fs::rename(around.path().join("out"), workspace.join("old")).unwrap();
    old
}

#[test]
fn an_output_that_was_moved_aside_is_put_back() {
    let around = Around::new();
    let old = died_between_renames(&around);
    let refused = Staging::begin(&around.place(), Existing::Refuse);
    assert!(matches!(refused, Err(StoreError::Exists(_))));
    assert_eq!(around.tree(), old);
    assert_eq!(around.names(), ["out"]);
}

#[test]
fn an_output_that_was_moved_aside_is_kept_where_another_has_taken_its_place() {
    let around = Around::new();
    died_between_renames(&around);
    fs::create_dir(around.path().join("out")).unwrap();
    let staging = Staging::begin(&around.place(), Existing::Replace).unwrap();
    assert!(matches!(staging.leftovers(), [Leftover::Kept(_)]));
    drop(staging);
    assert_eq!(around.names().len(), 2);
}

#[test]
fn unfinished_output_of_a_dead_process_is_removed_and_told_of() {
    let around = Around::new();
    for name in ["1-2-0", "a3f-18c-1"] {
        let workspace = around.path().join(format!(".out.zarrpack-partial-{name}"));
        fs::create_dir_all(workspace.join("new/c")).unwrap();
        if name == "1-2-0" {
            fs::write(workspace.join("lock"), "out").unwrap();
        }
    }
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    assert!(matches!(
        staging.leftovers(),
        [Leftover::Removed(_), Leftover::Removed(_)]
    ));
    drop(staging);
    assert_eq!(around.names(), [""; 0]);
}

#[test]
fn what_only_looks_like_a_workspace_is_left_alone() {
    let around = Around::new();
    let beside = |name: &str| around.path().join(format!(".out.zarrpack-partial-{name}"));
    for name in ["mydata", "1-2", "1-2-3-4", "1-2-G", "1--3", "1-2-3.bak"] {
        fs::create_dir_all(beside(name).join("new")).unwrap();
        fs::write(beside(name).join("lock"), "out").unwrap();
        fs::write(beside(name).join("new/precious"), "").unwrap();
    }
    fs::write(beside("4-5-6"), "a file").unwrap();
    // These have the name of one, and hold what none has.
    for (name, lock) in [("1-2-3", Some("out")), ("1-2-4", None)] {
        fs::create_dir(beside(name)).unwrap();
        fs::write(beside(name).join("notes"), "precious").unwrap();
        if let Some(lock) = lock {
            fs::write(beside(name).join("lock"), lock).unwrap();
        }
    }
    let before = around.names();
    let staging = Staging::begin(&around.place(), Existing::Refuse).unwrap();
    let kept = |leftover: &Leftover| matches!(leftover, Leftover::Kept(_));
    assert_eq!(staging.leftovers().len(), 2);
    assert!(staging.leftovers().iter().all(kept));
    drop(staging);
    assert_eq!(around.names(), before);
    for name in ["1-2-3", "1-2-4"] {
        assert!(beside(name).join("notes").exists(), "{name}");
    }
    assert!(beside("mydata").join("new/precious").exists());
}

#[cfg(unix)]
#[test]
fn a_link_with_the_name_of_a_workspace_is_left_alone() {
    let around = Around::new();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("new"), "precious").unwrap();
    let link = around.path().join(".out.zarrpack-partial-1-2-3");
    std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
    drop(Staging::begin(&around.place(), Existing::Refuse).unwrap());
    assert!(link.join("new").exists());
}
