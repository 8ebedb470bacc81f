//! What the names of chunks say of the separator.

use super::*;
use crate::metadata::v3::Separator;

fn probe(files: &[&str], shape: &[u64], chunks: &[u64]) -> KeyForm {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    probe_separator(folder.path(), shape, chunks).unwrap()
}

#[test]
fn keys_say_what_separates_them() {
    let (shape, chunks) = ([10, 10], [5, 2]);
    for (files, expected) in [
        (&[".zarray", "0.0", "1.4"][..], KeyForm::Dot),
        (&[".zarray", "0/0"], KeyForm::Slash),
        (&["1/4", "0.3"], KeyForm::Both),
        (&[".zarray", ".zattrs"], KeyForm::Neither),
        (&[], KeyForm::Neither),
    ] {
        assert_eq!(probe(files, &shape, &chunks), expected, "{files:?}");
    }
}

#[test]
fn names_that_are_no_chunks_of_the_grid_say_nothing() {
    let (shape, chunks) = ([10, 10], [5, 2]);
    for files in [
        &["2.0", "0.5", "0.0.0", "0", "00.0", "a.b", "0.0/0"][..],
        &["2/0", "0/5", "0/0/0", "00/1", "1/04", "x/0", "0/0.0"],
    ] {
        assert_eq!(probe(files, &shape, &chunks), KeyForm::Neither, "{files:?}");
    }
    assert_eq!(
        probe(&["0.9", "0/2/3/4", "1/4"], &shape, &chunks),
        KeyForm::Slash
    );
}

#[test]
fn three_dimensions_are_followed_down() {
    let (shape, chunks) = ([4, 4, 4], [2, 2, 2]);
    assert_eq!(probe(&["0/1/1"], &shape, &chunks), KeyForm::Slash);
    assert_eq!(probe(&["0/1"], &shape, &chunks), KeyForm::Neither);
    assert_eq!(probe(&["0/0/9", "1/1/0"], &shape, &chunks), KeyForm::Slash);
    assert_eq!(probe(&["0.1.1"], &shape, &chunks), KeyForm::Dot);
}

#[test]
fn one_dimension_or_none_cannot_tell() {
    assert_eq!(probe(&["0", "1"], &[4], &[2]), KeyForm::Neither);
    assert_eq!(probe(&["0"], &[], &[]), KeyForm::Neither);
    assert_eq!(probe(&["0.0"], &[0, 4], &[2, 2]), KeyForm::Neither);
    assert_eq!(probe(&["0.0"], &[4, 4], &[0, 2]), KeyForm::Dot);
}

#[test]
fn an_array_agrees_with_the_form_that_has_all_its_chunks() {
    let agreeing = |form: KeyForm| {
        [Separator::Dot, Separator::Slash].map(|separator| form.agrees_with(separator))
    };
    assert_eq!(agreeing(KeyForm::Dot), [true, false]);
    assert_eq!(agreeing(KeyForm::Slash), [false, true]);
    assert_eq!(agreeing(KeyForm::Neither), [true, true]);
    assert_eq!(agreeing(KeyForm::Both), [false, false]);
}

#[test]
fn a_directory_that_is_not_there_holds_no_chunks_and_a_file_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let none = probe_separator(&folder.path().join("none"), &[4, 4], &[2, 2]);
    assert_eq!(none.unwrap(), KeyForm::Neither);
    fs::write(folder.path().join("file"), "").unwrap();
    let error = probe_separator(&folder.path().join("file"), &[4, 4], &[2, 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}
