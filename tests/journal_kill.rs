//! Runs that are killed while they replace the documents of a hierarchy: afterwards every document is wholly old or wholly
//! new, the next run completes, and undoing restores every byte.
//!
//! The process that is killed is this test itself, started again with an environment variable. It says on standard output
//! what it begins, and is killed some time after it has said a certain word.

#![expect(clippy::unwrap_used, reason = "a test that cannot do its part fails")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use zarrpack::error::Error;
use zarrpack::interrupt::Interrupt;
use zarrpack::store::{Exclusive, Place, Replacement, Rewrite, Store, undo, unfinished};

const STORE: &str = "ZARRPACK_TEST_JOURNAL_STORE";
const JOURNAL: &str = "ZARRPACK_TEST_JOURNAL_PATH";
const GROUPS: usize = 5;
const ARRAYS: usize = 50;

type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// Not a test when the others run: what they start and kill.
#[test]
fn child() {
    let Some(root) = std::env::var_os(STORE) else {
        return;
    };
    let interrupt = Interrupt::install().unwrap();
    if let Err(error) = migrate(Path::new(&root), &interrupt) {
        say(&format!("failed {error}: {}", error.hints().join("; ")));
        std::process::exit(error.exit_code().number().into());
    }
}

fn say(what: &str) {
    // Whole lines at once, whatever thread they come from.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{what}");
    let _ = out.flush();
}

/// What a command does that changes documents.
fn migrate(root: &Path, interrupt: &Interrupt) -> Result<(), Error> {
    let store = Store::open(root)?;
    let said = Mutex::new(None);
    let observer = |progress: zarrpack::store::Progress| {
        let mut said = said.lock().unwrap();
        if *said != Some(progress.phase) {
            *said = Some(progress.phase);
            say(&format!("{:?}", progress.phase));
        }
    };
    let exclusive = Exclusive::take(&store, &observer)?;
    let replacements = planned(root);
    let journal = std::env::var_os(JOURNAL).map(|path| Place::resolve(path).unwrap());
    let rewrite = Rewrite {
        replacements,
        journal,
    };
    let committed = rewrite.commit(exclusive, interrupt, &observer, &mut || Ok(()))?;
    if let Some(journal) = committed.journal {
        say(&format!("journal {}", journal.display()));
    }
    Ok(())
}

/// Every document that is still old, and what is to become of it: arrays first.
fn planned(root: &Path) -> Vec<Replacement> {
    let mut replacements = Vec::new();
    for (path, text) in tree(root) {
        let Ok(old) = String::from_utf8(text) else {
            continue;
        };
        if old.contains("legacy") {
            replacements.push(Replacement {
                step: u32::from(old.contains("group")),
                new: Some(old.replace("legacy", "scale_offset").into_bytes()),
                old: Some(old.into_bytes()),
                path,
            });
        }
    }
    replacements
}

fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
            } else {
                tree.insert(entry.path(), fs::read(entry.path()).unwrap());
            }
        }
    }
    tree
}

/// Nested groups, each with a copy of the arrays below it, and the arrays.
fn hierarchy(root: &Path) {
    let array = |n: usize| format!(r#"{{"node_type": "array", "n": {n}, "codecs": ["legacy"]}}"#);
    let mut group = root.to_owned();
    for depth in 0..GROUPS {
        let mut copies = Vec::new();
        for n in 0..ARRAYS / GROUPS {
            let directory = group.join(format!("a{n}"));
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("zarr.json"), array(depth * 100 + n)).unwrap();
            copies.push(format!(r#""a{n}": {}"#, array(depth * 100 + n)));
        }
        let text = format!(
            r#"{{"node_type": "group", "consolidated_metadata": {{{}}}}}"#,
            copies.join(", ")
        );
        fs::write(group.join("zarr.json"), text).unwrap();
        group = group.join("g");
    }
}

fn start(root: &Path, journal: Option<&Path>) -> Child {
    command(root, journal).spawn().unwrap()
}

fn command(root: &Path, journal: Option<&Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture"])
        .env(STORE, root)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(journal) = journal {
        command.env(JOURNAL, journal);
    }
    command
}

/// Reads on until the child says a word; false if it ends first.
fn wait_for(child: &mut Child, word: &str) -> bool {
    let lines = BufReader::new(child.stdout.as_mut().unwrap());
    for line in lines.lines() {
        if line.is_ok_and(|line| line.ends_with(word)) {
            return true;
        }
    }
    false
}

/// How a run that was ended left its documents.
#[derive(Debug, Default)]
struct Seen {
    old: usize,
    mixed: usize,
    new: usize,
    after: BTreeMap<&'static str, usize>,
}

/// Runs, ends and checks as often as asked for, at moments spread over the phases.
fn end_at_random(rounds: u64, signal: &str) -> Seen {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let mut seen = Seen::default();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..rounds {
        let root = directory.join(format!("s{round}.zarr"));
        fs::create_dir(&root).unwrap();
        hierarchy(&root);
        let old = tree(&root);
        let mut new = old.clone();
        for replacement in planned(&root) {
            new.insert(replacement.path, replacement.new.unwrap());
        }
        let elsewhere = directory.join(format!("undo{round}.json"));
        let journal = (round % 4 == 3).then_some(elsewhere.as_path());
        let words = [
            "Checking",
            "Preparing",
            "Replacing",
            "Replacing",
            "Flushing",
        ];
        let word = words[usize::try_from(round).unwrap() % words.len()];

        let mut child = start(&root, journal);
        wait_for(&mut child, word);
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Replacing takes a few milliseconds, the other phases tens of them.
        let within = if word == "Replacing" { 1_000 } else { 20_000 };
        std::thread::sleep(Duration::from_micros(random % within));
        let id = child.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let status = child.wait().unwrap();

        let mut mixed = tree(&root);
        mixed.retain(|path, _| path.ends_with("zarr.json"));
        for (path, text) in &mixed {
            assert!(*text == old[path] || *text == new[path], "{path:?}");
        }
        *seen.after.entry(word).or_default() += 1;
        match &mixed {
            mixed if *mixed == old => seen.old += 1,
            mixed if *mixed == new => seen.new += 1,
            _ => {
                seen.mixed += 1;
                assert_eq!(unfinished(&Store::open(&root).unwrap()).unwrap().len(), 1);
            }
        }
        if signal == "-TERM" {
            // Not one that the shell or the test harness would have made of it.
            assert!(matches!(status.code(), Some(0 | 143)), "{status}");
            assert!(mixed == old || mixed == new);
            assert_eq!(mixed == new, status.code() == Some(0));
        }

        migrate(&root, &Interrupt::default()).unwrap();
        assert_eq!(tree(&root), new);
        let journals: Vec<PathBuf> = tree(&directory)
            .into_keys()
            .filter(|path| !path.starts_with(&root))
            .collect();
        let [journal] = journals.try_into().unwrap();
        undo(&Store::open(&root).unwrap(), &journal, &|_| ()).unwrap();
        assert_eq!(tree(&root), old);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    }
    say(&format!("{signal}: {seen:?}"));
    seen
}

#[cfg(unix)]
#[test]
fn runs_that_are_killed_at_any_moment_leave_what_the_next_run_mends() {
    end_at_random(20, "-KILL");
}

#[cfg(unix)]
#[test]
fn runs_that_are_asked_to_end_restore_what_was() {
    end_at_random(20, "-TERM");
}

#[cfg(unix)]
#[test]
fn who_may_not_write_beside_the_store_is_told_to_put_the_journal_elsewhere() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    let directory = tempfile::tempdir().unwrap();
    let around = directory.path().join("around");
    let root = around.join("s.zarr");
    let elsewhere = directory.path().join("elsewhere");
    for made in [&root, &elsewhere] {
        fs::create_dir_all(made).unwrap();
    }
    hierarchy(&root);
    let is_root = fs::metadata(&root).unwrap().uid() == 0;
    if is_root {
        // Whom permissions do not stop has to become somebody else.
        let mut theirs = vec![elsewhere.clone()];
        for path in tree(&root).into_keys() {
            let around = path.ancestors().take_while(|path| path.starts_with(&root));
            theirs.extend(around.map(Path::to_owned));
        }
        theirs
            .iter()
            .for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    }
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    set(directory.path(), 0o755);
    set(&around, 0o555);
    let run = |journal: Option<&Path>| {
        let mut command = command(&root, journal);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.code(), said)
    };
    let old = tree(&root);
    let (code, said) = run(None);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("cannot be written to") && said.contains("--journal"),
        "{said}"
    );
    assert_eq!(tree(&root), old);
    let (code, said) = run(Some(&elsewhere.join("undo.json")));
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(planned(&root), []);
    assert_eq!(tree(&elsewhere).len(), 1);
    // Nothing is left in the store either.
    assert_eq!(tree(&root).len(), old.len());
    set(&around, 0o755);
}

/// Needs a system that lets anybody mount a small disk, and tries nothing elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    const SCRIPT: &str = r#"
        mount -t tmpfs -o size=2m none "$DISK" || exit 77
        cp -r "$SOURCE" "$DISK/s.zarr"
        dd if=/dev/zero of="$DISK/fill" bs=1k count=9999 2>/dev/null
        truncate -s "-${ROOM}k" "$DISK/fill"
        "$TEST" --exact child --nocapture
        code=$?
        rm "$DISK/fill"
        diff -r "$SOURCE" "$DISK/s.zarr" >/dev/null && echo unchanged
        echo "left: $(ls -A "$DISK" | tr '\n' ' ')"
        exit $code
    "#;
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("source.zarr");
    let disk = directory.path().join("disk");
    fs::create_dir_all(&source).unwrap();
    fs::create_dir(&disk).unwrap();
    hierarchy(&source);
    let mut codes = Vec::new();
    for room in ["0", "4", "24", "64", "160", "1024"] {
        let output = Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-c", SCRIPT])
            .env("TEST", std::env::current_exe().unwrap())
            .env("SOURCE", &source)
            .env("DISK", &disk)
            .env("ROOM", room)
            .env(STORE, disk.join("s.zarr"))
            .output();
        let Ok(output) = output else { return };
        let said = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => assert!(
                said.contains("left: s.zarr s.zarr.zarrpack-undo-"),
                "{said}"
            ),
            Some(3) => {
                assert!(said.contains("failed could not"), "{said}");
                assert!(said.contains("unchanged\nleft: s.zarr \n"), "{said}");
            }
            // No such disk can be had here.
            _ => return,
        }
        codes.push(output.status.code());
    }
    assert_eq!(codes.iter().filter(|code| **code == Some(3)).count(), 5);
}

#[cfg(unix)]
#[test]
#[ignore = "takes minutes"]
fn two_hundred_runs_are_killed() {
    let seen = end_at_random(200, "-KILL");
    assert!(seen.mixed > 0, "{seen:?}");
}

#[cfg(unix)]
#[test]
#[ignore = "takes minutes"]
fn two_hundred_runs_are_asked_to_end() {
    end_at_random(200, "-TERM");
}
