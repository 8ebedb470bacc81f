//! Files in place or not at all.

use std::{fs, thread};

use super::super::files::faults::Fault;
use super::*;

fn place(directory: &tempfile::TempDir) -> Place {
    Place::resolve(directory.path().join("out.npy")).unwrap()
}

fn names(directory: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(directory.path()).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

fn write(files: Files, place: &Place, existing: Existing) -> Result<(), StoreError> {
    let file = StagedFile::begin_with(files, place, existing)?;
    file.reserve(6)?;
    file.write_at(b"new", 3)?;
    file.write_at(b"all", 0)?;
    file.publish(&Interrupt::default())
}

#[test]
fn threads_write_at_their_places() {
    let directory = tempfile::tempdir().unwrap();
    let file = StagedFile::begin(&place(&directory), Existing::Refuse).unwrap();
    file.reserve(64).unwrap();
    thread::scope(|scope| {
        for n in [3, 1, 0, 2_u8] {
            let file = &file;
            scope.spawn(move || file.write_at(&[n + 1; 16], u64::from(n) * 16).unwrap());
        }
    });
    file.publish(&Interrupt::default()).unwrap();
    let bytes = fs::read(directory.path().join("out.npy")).unwrap();
    assert!(
        bytes
            .iter()
            .enumerate()
            .all(|(at, &byte)| usize::from(byte) == at / 16 + 1)
    );
    assert_eq!(names(&directory), ["out.npy"]);
}

#[test]
fn what_is_not_written_reads_as_zeros() {
    let directory = tempfile::tempdir().unwrap();
    let file = StagedFile::begin(&place(&directory), Existing::Refuse).unwrap();
    file.reserve(4).unwrap();
    file.write_at(b"x", 3).unwrap();
    file.publish(&Interrupt::default()).unwrap();
    assert_eq!(
        fs::read(directory.path().join("out.npy")).unwrap(),
        b"\0\0\0x"
    );
}

#[test]
fn more_room_than_there_is_is_refused_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = StagedFile::begin(&place(&directory), Existing::Refuse).unwrap();
    for length in [1 << 60, u64::MAX] {
        let refused = file.reserve(length).unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("could not reserve room for")
        );
    }
    drop(file);
    assert_eq!(names(&directory), [""; 0]);
}

#[test]
fn a_file_is_replaced_by_a_file_only() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("out.npy"), "old").unwrap();
    let refused = write(Files::default(), &place(&directory), Existing::Refuse);
    assert!(matches!(refused, Err(StoreError::Exists(_))));
    write(Files::default(), &place(&directory), Existing::Replace).unwrap();
    assert_eq!(
        fs::read(directory.path().join("out.npy")).unwrap(),
        b"allnew"
    );
    fs::remove_file(directory.path().join("out.npy")).unwrap();
    fs::create_dir(directory.path().join("out.npy")).unwrap();
    let refused = write(Files::default(), &place(&directory), Existing::Replace);
    assert!(matches!(refused, Err(StoreError::NotReplaceable(_))));
}

#[test]
fn whatever_fails_the_old_file_or_the_new_one_is_in_place() {
    for fault in [Fault::Fails, Fault::Dies] {
        for at in 0.. {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join("out.npy"), "old").unwrap();
            let (files, faults) = Files::faulty(at, fault);
            let outcome = write(files, &place(&directory), Existing::Replace);
            let bytes = fs::read(directory.path().join("out.npy")).unwrap();
            assert!(bytes == b"old" || bytes == b"allnew", "{at}");
            if !faults.struck() {
                outcome.unwrap();
                assert!(at > 5);
                break;
            }
            write(Files::default(), &place(&directory), Existing::Replace).unwrap();
            assert_eq!(names(&directory), ["out.npy"], "{fault:?} {at}");
        }
    }
}
