//! Old or new, wholly, whatever fails and wherever the process dies; and old again when asked to.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

use super::super::files::faults::{Fault, Faults};
use super::undo::undo_with;
use super::*;
use crate::error::ExitCode;
use crate::interrupt::Signal;

mod refusals;

/// Group with a copy, two arrays, a v2 array that is to get a `zarr.json`, and one that loses its `.zarray`.
const OLD: [(&str, &str); 6] = [
    ("zarr.json", "{\"copy\": 1}\n"),
    ("g/zarr.json", "{\"copy\": 2}"),
    ("g/a/zarr.json", "{\"a\": 1}"),
    ("g/b/zarr.json", "{\"b\": 1}"),
    ("v/.zarray", "{\"zarr_format\": 2}"),
    ("w/.zarray", "{\"zarr_format\": 2, \"order\": \"C\"}"),
];

/// What becomes of them, and in which step.
const CHANGES: [(&str, Option<&str>, u32); 6] = [
    ("g/a/zarr.json", Some("{\"a\": 2, \"longer\": true}"), 0),
    ("g/b/zarr.json", Some("{}"), 0),
    ("v/zarr.json", Some("{\"v\": 3}"), 0),
    ("zarr.json", Some("{\"copy\": 3}\n"), 1),
    ("g/zarr.json", Some("{\"copy\": 4}"), 1),
    ("w/.zarray", None, 2),
];

type Tree = BTreeMap<String, String>;

struct Around {
    directory: tempfile::TempDir,
}

impl Around {
    /// A hierarchy `s`, as it is before.
    fn new() -> Self {
        // In memory where that can be had: thousands of flushes take their time on a disk.
        let memory = Path::new("/dev/shm");
        let directory = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
        let around = Self {
            directory: directory.unwrap(),
        };
        for (name, text) in OLD {
            let path = around.root().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir(around.path().join("elsewhere")).unwrap();
        around
    }

    fn path(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap()
    }

    fn root(&self) -> PathBuf {
        self.path().join("s")
    }

    fn store(&self) -> Store {
        Store::open(self.root()).unwrap()
    }

    fn elsewhere(&self) -> Place {
        Place::resolve(self.path().join("elsewhere/undo.json")).unwrap()
    }

    /// The change, planned from what is there now.
    fn rewrite(&self) -> Rewrite {
        let replacements = CHANGES.map(|(name, new, step)| Replacement {
            path: self.root().join(name),
            old: fs::read(self.root().join(name)).ok(),
            new: new.map(|text| text.as_bytes().to_vec()),
            step,
        });
        Rewrite {
            replacements: replacements.into(),
            journal: None,
        }
    }

    /// All files of the hierarchy, hidden ones included.
    fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        read_tree(&self.root(), "", &mut tree);
        tree
    }

    /// What lies beside the hierarchy, and elsewhere.
    fn beside(&self) -> Vec<String> {
        let mut tree = Tree::new();
        read_tree(&self.path(), "", &mut tree);
        tree.into_keys()
            .filter(|name| !name.starts_with("/s/"))
            .collect()
    }
}

fn read_tree(directory: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_tree(&entry.path(), &name, tree);
        } else {
            tree.insert(name, fs::read_to_string(entry.path()).unwrap());
        }
    }
}

fn old_tree() -> Tree {
    OLD.map(|(name, text)| (format!("/{name}"), text.to_owned()))
        .into()
}

fn new_tree() -> Tree {
    let mut tree = old_tree();
    for (name, text, _) in CHANGES {
        let name = format!("/{name}");
        match text {
            Some(text) => tree.insert(name, text.to_owned()),
            None => tree.remove(&name),
        };
    }
    tree
}

fn quiet(_: Progress) {}

fn run(files: Files, around: &Around, rewrite: Rewrite) -> Result<Committed, Failure> {
    let exclusive = Exclusive::take_with(files, &around.store(), None, &quiet)?;
    rewrite.commit(exclusive, &Interrupt::default(), &quiet, &mut || Ok(()))
}

#[test]
fn documents_are_replaced_created_and_removed_and_undone() {
    let around = Around::new();
    let committed = run(Files::default(), &around, around.rewrite()).unwrap();
    assert_eq!(around.tree(), new_tree());
    assert_eq!(committed.documents, 6);
    let journal = committed.journal.unwrap();
    let [name] = around.beside().try_into().unwrap();
    assert!(
        name.starts_with("/s.zarrpack-undo-") && name.ends_with("Z.json"),
        "{name}"
    );
    assert_eq!(undo_plan(&around.store(), &journal).unwrap().len(), 6);
    let undone = undo(&around.store(), &journal, &quiet).unwrap();
    assert_eq!(undone, Undone { documents: 6 });
    assert_eq!(around.tree(), old_tree());
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn a_journal_reads_as_what_it_says() {
    let around = Around::new();
    let mut rewrite = around.rewrite();
    fs::write(around.root().join("g/a/zarr.json"), b"\xff\xfe").unwrap();
    rewrite.replacements[0].old = Some(b"\xff\xfe".to_vec());
    let committed = run(Files::default(), &around, rewrite).unwrap();
    let journal = committed.journal.unwrap();
    let text = fs::read(&journal).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(json["schema"], "zarrpack.undo/1");
    let documents = json["documents"].as_array().unwrap();
    let of = |path: &str| documents.iter().find(|one| one["path"] == path).unwrap();
    assert_eq!(of("g/a/zarr.json")["old"]["base64"], "//4=");
    assert_eq!(of("zarr.json")["old"]["text"], "{\"copy\": 1}\n");
    // The SHA-256 of "{}".
    assert_eq!(
        of("g/b/zarr.json")["new"]["sha256"],
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    );
    assert!(of("v/zarr.json")["old"].is_null());
    assert!(of("w/.zarray")["new"].is_null());
    undo(&around.store(), &journal, &quiet).unwrap();
    assert_eq!(
        fs::read(around.root().join("g/a/zarr.json")).unwrap(),
        b"\xff\xfe"
    );
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_by_the_change_and_by_its_undoing() {
    use std::os::unix::fs::PermissionsExt;
    let around = Around::new();
    let mode = |name: &str| {
        let metadata = fs::metadata(around.root().join(name)).unwrap();
        metadata.permissions().mode() & 0o7777
    };
    let set = |name: &str, mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(around.root().join(name), permissions).unwrap();
    };
    set("g/a/zarr.json", 0o664);
    set("v/.zarray", 0o640);
    set("w/.zarray", 0o600);
    let committed = run(Files::default(), &around, around.rewrite()).unwrap();
    assert_eq!(mode("g/a/zarr.json"), 0o664);
    // One that is created has those of the document beside it.
    assert_eq!(mode("v/zarr.json"), 0o640);
    set("g/a/zarr.json", 0o600);
    undo(&around.store(), &committed.journal.unwrap(), &quiet).unwrap();
    assert_eq!(mode("g/a/zarr.json"), 0o664);
    assert_eq!(mode("w/.zarray"), 0o600);
}

/// What is left is old or new as a whole, or the next run makes it so. Returns which.
fn mended(around: &Around, context: &str) -> Tree {
    let half = around.tree();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    let tree = around.tree();
    assert!(
        tree == old_tree() || tree == new_tree(),
        "{context}: {tree:#?}"
    );
    if half != tree {
        assert_eq!(exclusive.recovered().len(), 1, "{context}");
        assert_eq!(tree, old_tree(), "{context}");
    }
    tree
}

/// After whatever happened: the next run completes the change, and undoing it restores everything.
fn completes(around: &Around, context: &str) {
    if mended(around, context) == old_tree() {
        assert_eq!(around.beside(), [""; 0], "{context}");
        let committed = run(Files::default(), around, around.rewrite()).unwrap();
        assert_eq!(around.tree(), new_tree(), "{context}");
        undo(&around.store(), &committed.journal.unwrap(), &quiet).unwrap();
    } else {
        let [journal] = around.beside().try_into().unwrap();
        let journal = around.path().join(&journal[1..]);
        undo(&around.store(), &journal, &quiet).unwrap();
    }
    assert_eq!(around.tree(), old_tree(), "{context}");
    assert_eq!(around.beside(), [""; 0], "{context}");
}

/// Strikes at every operation of something, by turns. Returns how many there are.
fn at_every_operation(mut act: impl FnMut(Fault, Files, &Faults, &str)) -> u64 {
    let mut most = 0;
    for fault in [Fault::Fails, Fault::Dies] {
        for at in 0.. {
            let (files, faults) = Files::faulty(at, fault);
            act(fault, files, &faults, &format!("{fault:?} at {at}"));
            if !faults.struck() {
                most = most.max(at);
                break;
            }
        }
    }
    most
}

#[test]
fn whatever_fails_and_wherever_it_dies_the_store_is_old_or_new_or_mended() {
    for elsewhere in [false, true] {
        let mut seen = [0; 3];
        let operations = at_every_operation(|fault, files, faults, context| {
            let around = Around::new();
            let mut rewrite = around.rewrite();
            rewrite.journal = elsewhere.then(|| around.elsewhere());
            let outcome = run(files, &around, rewrite);
            let tree = around.tree();
            match &outcome {
                Ok(_) => assert_eq!(tree, new_tree(), "{context}"),
                // One failure does not keep it from restoring what was.
                Err(failure) if fault == Fault::Fails => {
                    assert!(failure.journal.is_none(), "{context}: {failure:?}");
                    assert_eq!(tree, old_tree(), "{context}");
                }
                Err(failure) => {
                    let mix = tree.iter().any(|(name, text)| {
                        !name.contains("zarrpack-") && old_tree().get(name) != Some(text)
                    });
                    assert!(!mix || failure.journal.is_some(), "{context}");
                }
            }
            let half = tree != old_tree() && tree != new_tree();
            seen[usize::from(half) * 2 + usize::from(tree == new_tree())] += 1;
            if outcome.is_err() {
                assert!(faults.struck(), "{context}");
            }
            completes(&around, context);
        });
        assert!(operations >= 50, "{operations}");
        assert!(seen.iter().all(|count| *count > 2), "{seen:?}");
    }
}

#[test]
fn undoing_that_fails_or_dies_is_done_by_the_next_run_or_not_begun() {
    let operations = at_every_operation(|_, files, _, context| {
        let around = Around::new();
        let committed = run(Files::default(), &around, around.rewrite()).unwrap();
        let journal = committed.journal.unwrap();
        let undone = undo_with(files, &around.store(), &journal, &quiet);
        if undone.is_ok() {
            assert_eq!(around.tree(), old_tree(), "{context}");
        }
        completes(&around, context);
    });
    assert!(operations > 30, "{operations}");
}

#[test]
fn an_undoing_that_died_may_be_asked_for_again() {
    at_every_operation(|_, files, _, context| {
        let around = Around::new();
        let committed = run(Files::default(), &around, around.rewrite()).unwrap();
        let journal = committed.journal.unwrap();
        let undone = undo_with(files, &around.store(), &journal, &quiet);
        if undone.is_err() && !around.beside().is_empty() {
            let again = undo(&around.store(), &journal, &quiet);
            // Its last act is to remove the journal.
            let gone = matches!(
                &again,
                Err(Failure {
                    cause: Cause::Store(StoreError::NotFound(_)),
                    ..
                })
            );
            assert!(again.is_ok() || gone, "{context}: {again:?}");
        }
        // A lock file may be left, which the next run removes.
        drop(Exclusive::take(&around.store(), &quiet).unwrap());
        assert_eq!(around.tree(), old_tree(), "{context}");
        assert_eq!(around.beside(), [""; 0], "{context}");
    });
}

/// Kills a run while it replaces documents, when so many names have changed.
fn killed(around: &Around, elsewhere: bool) {
    for at in 0.. {
        let (files, _) = Files::faulty(at, Fault::Dies);
        let mut rewrite = around.rewrite();
        rewrite.journal = elsewhere.then(|| around.elsewhere());
        let failure = run(files, around, rewrite).expect_err("it dies before it is done");
        let half = around
            .tree()
            .values()
            .any(|text| text.contains("copy\": 3"));
        if half && failure.journal.is_some() {
            return;
        }
        drop(Exclusive::take(&around.store(), &quiet).unwrap());
    }
}

#[test]
fn mending_that_dies_is_mended() {
    for elsewhere in [false, true] {
        at_every_operation(|_, files, _, context| {
            let around = Around::new();
            killed(&around, elsewhere);
            let _ = Exclusive::take_with(files, &around.store(), None, &quiet);
            completes(&around, context);
        });
    }
}

#[test]
fn a_plan_sees_what_a_killed_run_left_and_touches_nothing() {
    for elsewhere in [false, true] {
        let around = Around::new();
        assert_eq!(
            unfinished(&around.store()).unwrap(),
            [""; 0].map(PathBuf::from)
        );
        killed(&around, elsewhere);
        let half = (around.tree(), around.beside());
        let [journal] = unfinished(&around.store()).unwrap().try_into().unwrap();
        assert_eq!(
            journal.starts_with(around.path().join("elsewhere")),
            elsewhere
        );
        assert_eq!((around.tree(), around.beside()), half);
        // From a node inside it is found as well.
        let node = Store::open(around.root().join("g/a")).unwrap();
        assert_eq!(unfinished(&node).unwrap(), [journal]);
        drop(Exclusive::take(&node, &quiet).unwrap());
        assert_eq!(around.tree(), old_tree());
    }
}

#[test]
fn a_signal_restores_what_was_replaced_and_ends_the_run() {
    for phase in [
        Phase::Checking,
        Phase::Preparing,
        Phase::Replacing,
        Phase::Flushing,
    ] {
        for (signal, code) in [
            (Signal::Interrupt, ExitCode::Interrupted),
            (Signal::Terminate, ExitCode::Terminated),
        ] {
            let around = Around::new();
            let interrupt = Interrupt::default();
            let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
            let raise = |progress: Progress| {
                if progress.phase == phase && progress.done > 0 {
                    interrupt.raise(signal);
                }
            };
            let failure = around
                .rewrite()
                .commit(exclusive, &interrupt, &raise, &mut || Ok(()))
                .unwrap_err();
            assert!(failure.journal.is_none());
            assert_eq!(Error::from(failure).exit_code(), code, "{phase:?}");
            assert_eq!(around.tree(), old_tree(), "{phase:?}");
            assert_eq!(around.beside(), [""; 0], "{phase:?}");
        }
    }
}

#[test]
fn steps_come_one_after_the_other_each_flushed() {
    let around = Around::new();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    let told = std::sync::Mutex::new(Vec::new());
    let observer = |progress: Progress| {
        if progress.done == progress.of {
            told.lock().unwrap().push((progress.phase, progress.of));
        }
    };
    around
        .rewrite()
        .commit(exclusive, &Interrupt::default(), &observer, &mut || Ok(()))
        .unwrap();
    let step = |of| [(Phase::Replacing, of), (Phase::Flushing, of)];
    let before = [(Phase::Checking, 6), (Phase::Preparing, 6)];
    let expected: Vec<_> = before
        .into_iter()
        .chain(step(3))
        .chain(step(2))
        .chain(step(1))
        .collect();
    assert_eq!(*told.lock().unwrap(), expected);
}

#[test]
fn the_caller_has_the_last_word_before_anything_is_replaced() {
    let around = Around::new();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    let asked = AtomicUsize::new(0);
    let failure = around
        .rewrite()
        .commit(exclusive, &Interrupt::default(), &quiet, &mut || {
            asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let visible = around
                .tree()
                .into_iter()
                .filter(|(name, _)| !name.contains("zarrpack"));
            assert_eq!(visible.collect::<Tree>(), old_tree());
            Err(Error::finding("a chunk changed"))
        })
        .unwrap_err();
    assert_eq!(asked.into_inner(), 1);
    assert_eq!(Error::from(failure).to_string(), "a chunk changed");
    assert_eq!(around.tree(), old_tree());
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn nothing_to_change_leaves_no_journal() {
    let around = Around::new();
    let rewrite = Rewrite {
        replacements: vec![Replacement {
            path: around.root().join("zarr.json"),
            old: Some(b"same".to_vec()),
            new: Some(b"same".to_vec()),
            step: 0,
        }],
        journal: None,
    };
    let committed = run(Files::default(), &around, rewrite).unwrap();
    assert_eq!((committed.journal, committed.documents), (None, 0));
    assert_eq!(around.beside(), [""; 0]);
}
