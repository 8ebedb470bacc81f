//! Shards, whole and by their inner chunks.

use super::*;

/// A shard of two inner chunks of two elements, of which the second is missing.
fn half_a_shard() -> Vec<u8> {
    let mut bytes = shorts(&[0, 2]);
    bytes.extend(longs(&[0, 4, u64::MAX, u64::MAX]));
    bytes
}

#[test]
fn the_encoded_fill_is_needed_for_missing_inner_chunks_alone() {
    let codecs = format!("{PAIR},{}", shard("[2]", LITTLE));
    for (fill, expected) in [
        ("10.5", Some([10.5, 10.5])),
        ("\"NaN\"", None),
        ("1e30", None),
    ] {
        let full = [shorts(&[0, 2, 4, 6]), longs(&[0, 4, 4, 4])].concat();
        let chunks = [("c/0", half_a_shard()), ("c/1", full)];
        let array = open(
            &document("[12]", "[4]", "float32", fill, &codecs),
            store(&chunks),
        )
        .unwrap();
        assert_eq!(
            floats(&array.decode_chunk(&[1]).unwrap().unwrap()),
            [10.0, 11.0, 12.0, 13.0]
        );
        assert_eq!(array.decode_chunk(&[2]).unwrap(), None);
        let half = array.open_shard(&[0]).unwrap().unwrap();
        assert_eq!(
            floats(&half.decode_inner_chunk(&[0]).unwrap()),
            [10.0, 11.0]
        );
        assert!(half.is_missing(&[1]).unwrap());
        match expected {
            Some(expected) => {
                assert_eq!(floats(&half.decode_inner_chunk(&[1]).unwrap()), expected);
                assert_eq!(
                    floats(&array.decode_chunk(&[0]).unwrap().unwrap())[2..],
                    expected
                );
            }
            None => {
                for error in [
                    half.decode_inner_chunk(&[1]).unwrap_err(),
                    array.decode_chunk(&[0]).unwrap_err(),
                ] {
                    assert_eq!(error.failure.inner, [vec![1]]);
                    assert!(
                        error.failure.reason.contains("cannot be encoded as int16"),
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_legacy_codec_hands_its_fill_on_cast() {
    let codecs = format!("{LEGACY},{}", shard("[2]", LITTLE));
    let text = document("[4]", "[4]", "float32", "20.9", &codecs);
    let array = open(&text, store(&[("c/0", half_a_shard())])).unwrap();
    // 20.9 is stored as 20, which decodes to 20.
    assert_eq!(
        floats(&array.decode_chunk(&[0]).unwrap().unwrap()),
        [10.0, 11.0, 20.0, 20.0]
    );
    let inside = shard("[2]", &format!("{LEGACY},{LITTLE}"));
    let text = document("[4]", "[4]", "float32", "20.9", &inside);
    let array = open(&text, store(&[("c/0", half_a_shard())])).unwrap();
    assert_eq!(
        floats(&array.decode_chunk(&[0]).unwrap().unwrap()),
        [10.0, 11.0, 20.9, 20.9]
    );
}

#[test]
fn pieces_of_a_transposed_shard_lie_where_the_chunk_has_them() {
    let transpose = r#"{"name":"transpose","configuration":{"order":[1,0]}}"#;
    // The shard is 2 by 4 as it is stored, the chunk 4 by 2; inner chunks are 1 by 2 there, 2 by 1 here.
    let codecs = format!("{PAIR},{transpose},{}", shard("[1,2]", LITTLE));
    let bytes = [
        shorts(&[0, 2, 4, 6, 8, 10, 12, 14]),
        longs(&[0, 4, 4, 4, 8, 4, 12, 4]),
    ]
    .concat();
    let text = document("[4,2]", "[4,2]", "float32", "10", &codecs);
    let array = open(&text, store(&[("c/0/0", bytes)])).unwrap();
    let whole = floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap());
    assert_eq!(whole, [10.0, 14.0, 11.0, 15.0, 12.0, 16.0, 13.0, 17.0]);
    assert_eq!(array.inner_chunk_shape(), Some(vec![2, 1]));
    let shard = array.open_shard(&[0, 0]).unwrap().unwrap();
    assert_eq!(shard.grid(), [2, 2]);
    assert_eq!(
        floats(&shard.decode_inner_chunk(&[0, 1]).unwrap()),
        [14.0, 15.0]
    );
    assert_eq!(
        floats(&shard.decode_inner_chunk(&[1, 0]).unwrap()),
        [12.0, 13.0]
    );
    assert!(shard.decode_inner_chunk(&[2, 0]).is_err());
    assert!(shard.decode_inner_chunk(&[0]).is_err());
}

#[test]
fn shards_in_shards_decode() {
    let inner = shard("[1]", &format!("{PAIR},{LITTLE}"));
    let outer = shard("[2]", &inner);
    let piece = |values: &[i16]| [shorts(values), longs(&[0, 2, 2, 2])].concat();
    let (first, second) = (piece(&[0, 2]), piece(&[4, 6]));
    let length = first.len() as u64;
    let bytes = [first, second, longs(&[0, length, length, length])].concat();
    let array = open(
        &document("[4]", "[4]", "float32", "0", &outer),
        store(&[("c/0", bytes)]),
    )
    .unwrap();
    assert_eq!(
        floats(&array.decode_chunk(&[0]).unwrap().unwrap()),
        [10.0, 11.0, 12.0, 13.0]
    );
    let shard = array.open_shard(&[0]).unwrap().unwrap();
    assert_eq!(
        floats(&shard.decode_inner_chunk(&[1]).unwrap()),
        [12.0, 13.0]
    );
}

#[test]
fn indexes_are_not_believed() {
    let codecs = shard("[2]", &format!("{PAIR},{LITTLE}"));
    let text = document("[4]", "[4]", "float32", "0", &codecs);
    for index in [
        [0, 4, u64::MAX - 3, 4],
        [0, 4, u64::MAX - 1, u64::MAX],
        [0, 4, 4, u64::MAX],
        [0, 4, 1 << 40, 4],
        [0, 4, 33, 8],
        [0, 4, 0, 0],
        [0, 4, 0, 36],
    ] {
        let bytes = [shorts(&[0, 2]), longs(&index)].concat();
        let array = open(&text, store(&[("c/0", bytes)])).unwrap();
        let error = array.decode_chunk(&[0]).unwrap_err();
        assert_eq!(error.failure.inner, [vec![1]], "{error}");
        assert_eq!(error.failure.kind, FailureKind::Unsound);
        let shard = array.open_shard(&[0]).unwrap().unwrap();
        assert_eq!(
            shard.decode_inner_chunk(&[1]).unwrap_err().failure.inner,
            [vec![1]]
        );
        assert_eq!(
            floats(&shard.decode_inner_chunk(&[0]).unwrap()),
            [10.0, 11.0]
        );
    }
    for length in 0..32 {
        let array = open(&text, store(&[("c/0", vec![0; length])])).unwrap();
        let error = array.decode_chunk(&[0]).unwrap_err();
        assert!(
            error.to_string().contains("too short for its index"),
            "{error}"
        );
        assert!(array.open_shard(&[0]).is_err());
    }
}
