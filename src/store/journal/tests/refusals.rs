//! What is not done, and what is said instead.

use super::*;

fn store_error(failure: Failure) -> StoreError {
    match failure.cause {
        Cause::Store(error) => error,
        Cause::Caller(error) => panic!("{error}"),
    }
}

/// What a plan and a run say to a change: the same, and the store is as it was.
fn refused(around: &Around, rewrite: &Rewrite) -> StoreError {
    let before = (around.tree(), around.beside());
    let planned = rewrite.check(&around.store()).unwrap_err();
    let ran = store_error(run(Files::default(), around, rewrite.clone()).unwrap_err());
    assert_eq!(planned.to_string(), ran.to_string());
    assert_eq!((around.tree(), around.beside()), before);
    ran
}

#[test]
fn one_process_at_a_time_changes_a_hierarchy_whichever_node_it_names() {
    let around = Around::new();
    let first = Exclusive::take(&around.store(), &quiet).unwrap();
    let node = Store::open(around.root().join("g/a")).unwrap();
    let refused = Exclusive::take(&node, &quiet).unwrap_err();
    let StoreError::Locked { root, pid, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!((root, *pid), (&around.root(), Some(std::process::id())));
    assert_eq!(Error::from(refused).exit_code(), ExitCode::Io);
    drop(first);
    drop(Exclusive::take(&node, &quiet).unwrap());
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn one_at_a_time_also_where_one_of_them_could_only_lock_inside() {
    let around = Around::new();
    // As a process that may not write beside the store would have left it.
    let inside = fs::File::create(around.root().join(".zarrpack-lock")).unwrap();
    inside.lock().unwrap();
    let refused = Exclusive::take(&around.store(), &quiet).unwrap_err();
    assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    drop(inside);
    drop(Exclusive::take(&around.store(), &quiet).unwrap());
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn a_run_that_is_refused_leaves_the_way_to_the_journal_of_a_killed_one() {
    let around = Around::new();
    killed(&around, true);
    let inside = fs::File::create(around.root().join(".zarrpack-lock")).unwrap();
    inside.lock().unwrap();
    for _ in 0..2 {
        let refused = Exclusive::take(&around.store(), &quiet).unwrap_err();
        assert!(matches!(refused, StoreError::Locked { .. }), "{refused}");
    }
    drop(inside);
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    assert_eq!(exclusive.recovered().len(), 1);
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn a_journal_elsewhere_is_found_by_a_lock_file_inside_the_store_too() {
    let around = Around::new();
    killed(&around, true);
    fs::rename(
        around.path().join(".s.zarrpack-lock"),
        around.root().join(".zarrpack-lock"),
    )
    .unwrap();
    assert_eq!(unfinished(&around.store()).unwrap().len(), 1);
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    assert_eq!(exclusive.recovered().len(), 1);
    drop(exclusive);
    assert_eq!(around.tree(), old_tree());
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn undoing_that_is_refused_leaves_the_way_to_an_unfinished_journal() {
    let around = Around::new();
    killed(&around, true);
    fs::write(around.root().join("zarr.json"), "theirs").unwrap();
    let journal = around.elsewhere();
    for _ in 0..2 {
        let error = store_error(undo(&around.store(), journal.path(), &quiet).unwrap_err());
        assert!(matches!(error, StoreError::ChangedSince { .. }), "{error}");
    }
    fs::write(around.root().join("zarr.json"), OLD[0].1).unwrap();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    assert_eq!(exclusive.recovered().len(), 1);
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn of_many_threads_one_has_the_right_at_any_time() {
    let around = Around::new();
    let inside = AtomicUsize::new(0);
    let had = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let Ok(exclusive) = Exclusive::take(&around.store(), &quiet) else {
                        continue;
                    };
                    use std::sync::atomic::Ordering::SeqCst;
                    assert_eq!(inside.fetch_add(1, SeqCst), 0);
                    had.fetch_add(1, SeqCst);
                    inside.fetch_sub(1, SeqCst);
                    drop(exclusive);
                }
            });
        }
    });
    assert!(had.into_inner() > 0);
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn a_document_that_changed_since_stops_the_run() {
    let around = Around::new();
    let rewrite = around.rewrite();
    fs::write(around.root().join("g/b/zarr.json"), "{\"b\": 9}").unwrap();
    let before = around.tree();
    let error = refused(&around, &rewrite);
    assert!(matches!(&error, StoreError::Changed(path) if path.ends_with("g/b/zarr.json")));
    assert_eq!(around.tree(), before);
}

#[test]
fn a_document_that_changes_at_the_last_moment_is_left_alone_and_the_others_are_restored() {
    let around = Around::new();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    let theirs = "{\"copy\": \"of somebody else\"}";
    let failure = around
        .rewrite()
        .commit(exclusive, &Interrupt::default(), &quiet, &mut || {
            fs::write(around.root().join("zarr.json"), theirs).unwrap();
            Ok(())
        })
        .unwrap_err();
    assert!(failure.journal.is_none());
    assert!(matches!(store_error(failure), StoreError::Changed(_)));
    let mut expected = old_tree();
    expected.insert("/zarr.json".to_owned(), theirs.to_owned());
    assert_eq!(around.tree(), expected);
    assert_eq!(around.beside(), [""; 0]);
}

#[test]
fn a_document_that_appears_at_the_last_moment_is_not_lost() {
    let around = Around::new();
    let exclusive = Exclusive::take(&around.store(), &quiet).unwrap();
    let path = around.root().join("v/zarr.json");
    let failure = around
        .rewrite()
        .commit(exclusive, &Interrupt::default(), &quiet, &mut || {
            fs::write(&path, "theirs").unwrap();
            Ok(())
        })
        .unwrap_err();
    assert!(matches!(store_error(failure), StoreError::Changed(_)));
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    fs::remove_file(path).unwrap();
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn undoing_refuses_documents_that_changed_since_and_names_them() {
    let around = Around::new();
    let committed = run(Files::default(), &around, around.rewrite()).unwrap();
    let journal = committed.journal.unwrap();
    fs::write(around.root().join("g/a/zarr.json"), "{\"a\": 3}").unwrap();
    fs::remove_dir_all(around.root().join("g/b")).unwrap();
    let before = around.tree();
    let error = store_error(undo(&around.store(), &journal, &quiet).unwrap_err());
    assert_eq!(
        undo_plan(&around.store(), &journal)
            .unwrap_err()
            .to_string(),
        error.to_string()
    );
    let StoreError::ChangedSince { documents, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(documents, [around.root().join("g/b/zarr.json")]);
    fs::create_dir(around.root().join("g/b")).unwrap();
    let error = store_error(undo(&around.store(), &journal, &quiet).unwrap_err());
    let StoreError::ChangedSince { documents, .. } = error else {
        panic!("{error}")
    };
    let expected = ["g/a/zarr.json", "g/b/zarr.json"].map(|name| around.root().join(name));
    assert_eq!(documents, expected);
    assert_eq!(around.tree(), before);
    // The journal is still there, under its own name.
    assert_eq!(around.beside().len(), 1);
    assert!(journal.exists());
}

#[test]
fn a_killed_run_whose_documents_somebody_changed_is_not_mended_over_them() {
    let around = Around::new();
    killed(&around, true);
    fs::write(around.root().join("zarr.json"), "theirs").unwrap();
    let before = around.tree();
    for _ in 0..2 {
        let error = Exclusive::take(&around.store(), &quiet).unwrap_err();
        assert!(matches!(error, StoreError::ChangedSince { .. }), "{error}");
        assert_eq!(around.tree(), before);
    }
    fs::write(around.root().join("zarr.json"), OLD[0].1).unwrap();
    drop(Exclusive::take(&around.store(), &quiet).unwrap());
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn a_journal_that_cannot_be_reached_stops_the_next_run() {
    let around = Around::new();
    killed(&around, true);
    let away = around.path().join("unmounted");
    fs::rename(around.path().join("elsewhere"), &away).unwrap();
    for _ in 0..2 {
        let error = Exclusive::take(&around.store(), &quiet).unwrap_err();
        assert!(matches!(error, StoreError::JournalGone(_)), "{error}");
    }
    fs::rename(away, around.path().join("elsewhere")).unwrap();
    drop(Exclusive::take(&around.store(), &quiet).unwrap());
    assert_eq!(around.tree(), old_tree());
}

#[test]
fn the_journal_lies_outside_the_store_and_replaces_nothing() {
    let around = Around::new();
    let with = |path: &str| Rewrite {
        journal: Some(Place::resolve(around.path().join(path)).unwrap()),
        ..around.rewrite()
    };
    let error = refused(&around, &with("s/g/undo.json"));
    assert!(matches!(error, StoreError::JournalInside { .. }), "{error}");
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    fs::write(around.path().join("undo.json"), "precious").unwrap();
    let error = refused(&around, &with("undo.json"));
    assert!(matches!(error, StoreError::JournalExists(_)), "{error}");
    let error = refused(&around, &with("no/such/undo.json"));
    assert!(matches!(error, StoreError::NotFound(_)), "{error}");
}

#[test]
fn a_read_only_document_is_not_replaced() {
    let around = Around::new();
    let path = around.root().join("g/a/zarr.json");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let error = refused(&around, &around.rewrite());
    assert!(matches!(error, StoreError::ReadOnly(_)), "{error}");
}

#[cfg(unix)]
#[test]
fn links_to_documents_are_followed_inside_the_hierarchy_and_not_out_of_it() {
    use std::os::unix::fs::symlink;
    let around = Around::new();
    let document = around.root().join("g/a/zarr.json");
    let real = around.root().join("g/real.json");
    fs::rename(&document, &real).unwrap();
    symlink("../real.json", &document).unwrap();
    let committed = run(Files::default(), &around, around.rewrite()).unwrap();
    assert!(fs::symlink_metadata(&document).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), CHANGES[0].1.unwrap());
    undo(&around.store(), &committed.journal.unwrap(), &quiet).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), OLD[2].1);

    let out = around.path().join("elsewhere/zarr.json");
    fs::rename(&real, &out).unwrap();
    fs::remove_file(&document).unwrap();
    symlink(&out, &document).unwrap();
    let error = refused(&around, &around.rewrite());
    let StoreError::LeadsOut { path, target } = error else {
        panic!("{error}")
    };
    assert_eq!((path, target), (document, out));
}

#[cfg(unix)]
#[test]
fn a_document_with_two_paths_is_replaced_once_and_never_by_two_texts() {
    use std::os::unix::fs::symlink;
    let around = Around::new();
    symlink("a", around.root().join("g/again")).unwrap();
    let mut rewrite = around.rewrite();
    let again = Replacement {
        path: around.root().join("g/again/zarr.json"),
        ..rewrite.replacements[0].clone()
    };
    rewrite.replacements.push(again);
    let committed = run(Files::default(), &around, rewrite.clone()).unwrap();
    assert_eq!(committed.documents, 6);
    undo(&around.store(), &committed.journal.unwrap(), &quiet).unwrap();
    rewrite.replacements[6].new = Some(b"other".to_vec());
    let error = refused_by_both(&around, &rewrite);
    assert!(matches!(error, StoreError::Twice(_)), "{error}");
}

/// As `refused`, without reading the tree, which has a loop of names in it.
#[cfg(unix)]
fn refused_by_both(around: &Around, rewrite: &Rewrite) -> StoreError {
    let planned = rewrite.check(&around.store()).unwrap_err();
    let ran = store_error(run(Files::default(), around, rewrite.clone()).unwrap_err());
    assert_eq!(planned.to_string(), ran.to_string());
    ran
}

#[test]
fn only_a_journal_is_taken_for_one() {
    let around = Around::new();
    let committed = run(Files::default(), &around, around.rewrite()).unwrap();
    let journal = committed.journal.unwrap();
    let sound = fs::read_to_string(&journal).unwrap();
    let before = around.tree();
    for (what, text) in [
        ("no JSON", "{".to_owned()),
        ("other JSON", "{}".to_owned()),
        ("another schema", sound.replace("undo/1", "undo/2")),
        (
            "a path that climbs",
            sound.replace("\"g/a/zarr.json\"", "\"g/../../x\""),
        ),
        (
            "a text that was changed",
            sound.replace("\\\"a\\\": 1", "\\\"a\\\": 7"),
        ),
        (
            "an id that climbs",
            sound.replace("\"id\": \"", "\"id\": \"../"),
        ),
        ("no text", sound.replace("\"text\"", "\"other\"")),
    ] {
        assert_ne!(text, sound, "{what}");
        fs::write(&journal, text).unwrap();
        let error = store_error(undo(&around.store(), &journal, &quiet).unwrap_err());
        assert!(
            matches!(error, StoreError::NotAJournal { .. }),
            "{what}: {error}"
        );
        assert_eq!(around.tree(), before, "{what}");
    }
    let out = sound.replace("\"g/a/zarr.json\"", "\"/etc/hostname\"");
    fs::write(&journal, out).unwrap();
    let error = store_error(undo(&around.store(), &journal, &quiet).unwrap_err());
    assert!(matches!(error, StoreError::LeadsOut { .. }), "{error}");
    fs::write(&journal, sound).unwrap();
    undo(&around.store(), &journal, &quiet).unwrap();
    assert_eq!(around.tree(), old_tree());
}
