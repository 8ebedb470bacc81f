//! What cannot be read, what is not sound, and what changes meanwhile.

use std::time::{Duration, SystemTime};

use super::*;
use crate::interrupt::Signal;

fn made() -> Made {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    Made::new("[6]", "[2]", "float32", &codecs)
        .with("c/0", [1, 2])
        .with("c/1", [3, 4])
}

fn check(examined: &Examined) -> Result<(), Error> {
    unchanged(std::slice::from_ref(examined), &Interrupt::default())
}

#[test]
fn a_chunk_that_is_cut_off_is_a_finding() {
    let made = made().with("c/1", [3]);
    let error = made.try_scan("/codecs", 0, &[]).unwrap_err();
    assert_refused(&error, ErrorKind::Finding, &["a/b", "c/1", "1 bytes"]);
}

#[cfg(unix)]
#[test]
fn a_chunk_that_exists_and_cannot_be_read_is_not_missing() {
    use std::os::unix::fs::symlink;
    let made = made();
    symlink("/nowhere/at/all", made.path("c/2")).unwrap();
    for error in [
        made.try_scan("/codecs", 0, &[]).unwrap_err(),
        made.ask(|evidence| evidence.presence()).unwrap_err(),
    ] {
        assert_refused(&error, ErrorKind::Io, &["a/b", "c/2"]);
    }
    // What cannot be a chunk is nobody's business.
    fs::remove_file(made.path("c/2")).unwrap();
    symlink("/nowhere/at/all", made.path("notes")).unwrap();
    assert_eq!(made.presence(), presence(2, 1, 0));
}

#[test]
fn a_directory_in_the_place_of_a_chunk_is_not_missing() {
    let made = made();
    fs::create_dir(made.path("c/2")).unwrap();
    let error = made.ask(|evidence| evidence.presence()).unwrap_err();
    assert_refused(&error, ErrorKind::Io, &["a/b", "c/2", "is a directory"]);
    fs::remove_dir(made.path("c/2")).unwrap();
    // Beyond the grid there are no chunks.
    fs::create_dir(made.path("c/3")).unwrap();
    assert_eq!(made.presence(), presence(2, 1, 0));
}

#[test]
fn a_file_in_the_place_of_a_directory_of_chunks_hides_no_chunks() {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    let made = Made::new("[2,2]", "[1,1]", "float32", &codecs).with("c/0", [1]);
    let error = made.ask(|evidence| evidence.presence()).unwrap_err();
    assert_refused(&error, ErrorKind::Io, &["a/b", "c/0", "is a file"]);
}

#[test]
fn a_change_is_named_by_the_first_chunk_that_it_hit() {
    let made = made();
    let examined = made.ask(|evidence| {
        assert!(evidence.examined().is_none());
        evidence.presence().unwrap();
        evidence.examined().unwrap()
    });
    assert_eq!(
        (examined.stored(), examined.missing(), examined.bytes()),
        (2, 1, 4)
    );
    check(&examined).unwrap();

    made.put("c/2", [5, 6]);
    let appeared = check(&examined).unwrap_err();
    assert_refused(&appeared, ErrorKind::Io, &["a/b", "\"c/2\"", "was missing"]);
    fs::remove_file(made.path("c/2")).unwrap();
    check(&examined).unwrap();

    made.put("c/1", [3, 4, 5]);
    let grown = check(&examined).unwrap_err();
    assert_refused(
        &grown,
        ErrorKind::Io,
        &["\"c/1\"", "had 2 bytes, and has 3"],
    );

    fs::remove_file(made.path("c/0")).unwrap();
    let gone = check(&examined).unwrap_err();
    assert_refused(&gone, ErrorKind::Io, &["\"c/0\"", "gone away"]);
    fs::remove_dir_all(made.path("c")).unwrap();
    let gone = check(&examined).unwrap_err();
    assert_refused(&gone, ErrorKind::Io, &["\"c/0\"", "gone away"]);
}

#[test]
fn a_nanosecond_is_a_change() {
    let made = made();
    let touch = |nanoseconds| {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, nanoseconds);
        let file = fs::File::options().write(true).open(made.path("c/1"));
        file.unwrap().set_modified(time).unwrap();
    };
    touch(1);
    let examined = made.ask(|evidence| {
        evidence.presence().unwrap();
        evidence.examined().unwrap()
    });
    touch(2);
    let error = check(&examined).unwrap_err();
    assert_refused(&error, ErrorKind::Io, &["\"c/1\"", "written to"]);
    touch(1);
    check(&examined).unwrap();
}

#[test]
fn what_was_listed_once_stays_what_is_compared_with() {
    let made = made();
    made.ask(|evidence| {
        evidence.presence().unwrap();
        made.put("c/2", [5, 6]);
        let question = Question {
            comparisons: &[],
            watch: &[],
        };
        // A second question goes by the first list, so that the change shows at the end.
        let scan = evidence.scan(&site("/codecs", 0), &question).unwrap();
        assert_eq!(scan.presence, presence(2, 1, 0));
        assert!(check(&evidence.examined().unwrap()).is_err());
        fs::remove_file(made.path("c/1")).unwrap();
        let error = evidence.scan(&site("/codecs", 0), &question).unwrap_err();
        assert_refused(&error, ErrorKind::Io, &["a/b", "\"c/1\"", "gone away"]);
    });
}

#[test]
fn a_signal_ends_a_scan() {
    let made = made();
    let interrupt = Interrupt::default();
    interrupt.raise(Signal::Terminate);
    let question = Question {
        comparisons: &[],
        watch: &[],
    };
    let error = made.ask_until(&interrupt, |evidence| {
        evidence.scan(&site("/codecs", 0), &question).unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Terminated);
}

#[test]
fn codecs_that_are_not_known_are_named_where_they_stand() {
    let unknown = r#"{"name":"acme.fancy","configuration":{}}"#;
    let codecs = format!("{TRANSPOSE},{SHORTS},{LITTLE},{unknown}");
    let made = Made::new("[2,2]", "[2,2]", "float32", &codecs).with("c/0/0", [0; 8]);
    let error = made.try_scan("/codecs", 1, &[]).unwrap_err();
    assert_refused(
        &error,
        ErrorKind::Finding,
        &["a/b", "acme.fancy", "/codecs/3"],
    );
    assert_eq!(made.presence(), presence(1, 0, 0));

    // In a shard as well; its index can be read all the same.
    let inner = format!("{SHORTS},{LITTLE},{unknown}");
    let codecs = shard("[2]", &inner);
    let made = Made::new("[4]", "[4]", "float32", &codecs)
        .with("c/0", shard_of(&[Some(vec![1, 2, 3]), None]));
    let list = "/codecs/0/configuration/codecs";
    let error = made.try_scan(list, 0, &[]).unwrap_err();
    let place = format!("{list}/2");
    assert_refused(&error, ErrorKind::Finding, &["acme.fancy", &place]);
    assert_eq!(made.presence(), presence(1, 0, 1));

    // Before the site nobody knows the type, nor the shape.
    let codecs = format!("{unknown},{SHORTS},{LITTLE}");
    let made = Made::new("[2]", "[2]", "float32", &codecs);
    let error = made.try_scan("/codecs", 1, &[]).unwrap_err();
    assert_refused(
        &error,
        ErrorKind::Finding,
        &["a/b", "/codecs/1", "not known"],
    );
}

#[test]
fn documents_that_are_not_sound_are_findings() {
    let made = made();
    let interrupt = Interrupt::default();
    let pipeline = Pipeline {
        threads: 1,
        memory: 1,
        interrupt: &interrupt,
        observer: &|_| {},
    };
    for (from, to, word) in [
        ("{", "", "not JSON"),
        ("\"array\"", "\"group\"", "not sound"),
        ("[6]", "[-6]", "not sound"),
        ("\"regular\"", "\"ragged\"", "/chunk_grid"),
        ("\"default\"", "\"odd\"", "/chunk_key_encoding"),
    ] {
        let text = made.text.replacen(from, to, 1);
        let refused = StoreEvidence::new("a/b", made.folder.path(), &text, &pipeline);
        assert_refused(&refused.err().unwrap(), ErrorKind::Finding, &["a/b", word]);
    }
}
