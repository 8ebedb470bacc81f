//! Chunks: what they decode to, and what is said of those that do not.

use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::{MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey};

use super::*;
use crate::error::ErrorKind;

#[test]
fn a_run_of_packing_codecs_is_one_pass() {
    let codecs =
        format!(r#"{PAIR},{{"name":"transpose","configuration":{{"order":[1,0]}}}},{LITTLE}"#);
    let array = open(
        &document("[2,2]", "[2,2]", "float32", "0", &codecs),
        store(&[("c/0/0", shorts(&[0, 2, 4, 6]))]),
    )
    .unwrap();
    assert_eq!(array.chain().arrays.len(), 2);
    assert_eq!(
        floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
        [10.0, 12.0, 11.0, 13.0]
    );
}

#[test]
fn orders_of_old_documents_are_understood() {
    for (order, expected) in [
        ("\"C\"", [10.0, 11.0, 12.0, 13.0]),
        ("\"F\"", [10.0, 12.0, 11.0, 13.0]),
    ] {
        let codecs =
            format!(r#"{{"name":"transpose","configuration":{{"order":{order}}}}},{PAIR},{BIG}"#);
        let chunk = [0_i16, 2, 4, 6]
            .iter()
            .flat_map(|value| value.to_be_bytes())
            .collect();
        let document = document("[2,2]", "[2,2]", "float32", "0", &codecs);
        let array = open(&document, store(&[("c/0/0", chunk)])).unwrap();
        assert_eq!(
            floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
            expected
        );
    }
}

#[test]
fn a_value_that_does_not_decode_is_named_with_its_place() {
    let codecs = format!(
        r#"{{"name":"scale_offset","configuration":{{"offset":10}}}},
        {{"name":"cast_value","configuration":{{"data_type":"int32"}}}},{LITTLE}"#
    );
    let bytes = [0_i32, 0, 0, 0, 300, 0]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let array = open(
        &document("[2,3]", "[2,3]", "uint8", "10", &codecs),
        store(&[("c/0/0", bytes)]),
    )
    .unwrap();
    let error = array.decode_chunk(&[0, 0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "chunk [0, 0] (\"c/0/0\"): codec \"scale_offset -> cast_value\": element [1, 1], which is 300 (int32), fails in \
         cast_value: 300 is out of the range of uint8 (0 to 255)"
    );
    assert_eq!(error.failure.kind, FailureKind::Unsound);
}

#[test]
fn chunks_of_another_size_are_refused() {
    let array = |length| {
        let chunks = [("c/0", vec![0; length])];
        open(
            &document("[4]", "[4]", "float32", "0", &format!("{PAIR},{LITTLE}")),
            store(&chunks),
        )
        .unwrap()
    };
    assert_eq!(array(8).stored_size(&[0]).unwrap(), Some(8));
    assert!(array(8).decode_chunk(&[0]).unwrap().is_some());
    for length in [0, 1, 7, 9, 1000] {
        let error = array(length).decode_chunk(&[0]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("bytes are stored where 8 are due"),
            "{error}"
        );
    }
}

#[test]
fn memory_is_bounded_before_it_is_taken() {
    let text = document(
        "[1000]",
        "[1000]",
        "float32",
        "0",
        &format!(r#"{LITTLE},{{"name":"gzip","configuration":{{"level":1}}}}"#),
    );
    let array = open(&text, store(&[("c/0", vec![0; 10])]))
        .unwrap()
        .with_max_memory(1000);
    let error = array.decode_chunk(&[0]).unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::TooLarge);
    assert_eq!(error.failure.kind.error_kind(), ErrorKind::Finding);
    assert_eq!(array.chunk_bytes(), 4000);
    assert!(array.working_bytes() >= 8000);
}

#[test]
fn elements_of_less_than_a_byte_are_cleaned() {
    let codecs = r#"{"name":"cast_value","configuration":{"data_type":"int4"}},"bytes""#;
    let chunk = vec![0x07, 0xff, 0x88, 0x1f];
    let array = open(
        &document("[4]", "[4]", "int8", "0", codecs),
        store(&[("c/0", chunk)]),
    )
    .unwrap();
    let decoded = array.decode_chunk(&[0]).unwrap().unwrap();
    assert_eq!(decoded, [7, 0xff, 0xf8, 0xff]);
}

/// A store that cannot be read.
struct Broken;

impl ReadableStorageTraits for Broken {
    fn get_partial_many<'a>(
        &'a self,
        _: &StoreKey,
        _: ByteRangeIterator<'a>,
    ) -> Result<MaybeBytesIterator<'a>, StorageError> {
        Err(StorageError::Other("the disk is on fire".to_owned()))
    }

    fn size_key(&self, _: &StoreKey) -> Result<Option<u64>, StorageError> {
        Ok(Some(16))
    }

    fn supports_get_partial(&self) -> bool {
        true
    }
}

#[test]
fn what_cannot_be_read_is_told_from_what_is_not_sound() {
    let text = document("[4]", "[4]", "float32", "0", LITTLE);
    let mut array = open(&text, store(&[])).unwrap();
    array.storage = Arc::new(Broken);
    let error = array.decode_chunk(&[0]).unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Unreadable);
    assert_eq!(error.failure.kind.error_kind(), ErrorKind::Io);
    assert_eq!(
        error.to_string(),
        "chunk [0] (\"c/0\"): the disk is on fire"
    );
}

#[test]
fn arrays_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<OpenArray>();
    shared::<Shard<'_>>();
}

#[test]
fn a_chunk_that_cannot_be_looked_at_is_not_missing() {
    let directory = tempfile::tempdir().unwrap();
    let text = document("[4]", "[4]", "float32", "0", LITTLE);
    let mut array = open(&text, store(&[])).unwrap();
    array.storage = Arc::new(zarrs::filesystem::FilesystemStore::new(directory.path()).unwrap());
    assert_eq!(array.decode_chunk(&[0]).unwrap(), None);
    // Where the directory of the chunks should be, there is a file.
    std::fs::write(directory.path().join("c"), "").unwrap();
    let error = array.decode_chunk(&[0]).unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Unreadable, "{error}");
    let error = array.stored_size(&[0]).unwrap_err();
    assert_eq!(error.failure.kind, FailureKind::Unreadable, "{error}");
}

#[test]
fn there_is_nothing_outside_the_grid() {
    let array = open(&document("[4]", "[4]", "float32", "0", LITTLE), store(&[])).unwrap();
    for index in [&[1][..], &[0, 0], &[]] {
        let error = array.decode_chunk(index).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("there is no such chunk in a grid of [1]"),
            "{error}"
        );
    }
}
