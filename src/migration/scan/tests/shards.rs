//! Shards, whose missing inner chunks hold no codes.

use super::*;
use std::io::Write;

const INNER: &str = "/codecs/0/configuration/codecs";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const GZIP: &str = r#"{"name":"gzip","configuration":{"level":1}}"#;

#[test]
fn missing_inner_chunks_hold_no_codes() {
    let inside = shard("[2]", &format!("{SHORTS},{LITTLE}"));
    let before = format!("{SHORTS},{}", shard("[2]", LITTLE));
    for (codecs, list) in [(inside, INNER), (before, "/codecs")] {
        // The last chunk has padding, and an inner chunk that is all padding.
        let made = Made::filled("[9]", "[6]", "float32", "77", &codecs)
            .with(
                "c/0",
                shard_of(&[Some(shorts(&[1, 2])), None, Some(shorts(&[3, 4]))]),
            )
            .with(
                "c/1",
                shard_of(&[
                    Some(shorts(&[5, 6])),
                    Some(shorts(&[7, 8])),
                    Some(shorts(&[9, 10])),
                ]),
            );
        let scan = made.scan(list, 0);
        assert_eq!(used(&scan), (vec![1, 2, 3, 4, 5, 6, 7], vec![8, 9, 10]));
        assert_eq!(scan.presence, presence(2, 0, 1));
        assert_eq!(made.presence(), presence(2, 0, 1));
    }
}

/// Shards of two shards of two inner chunks of one element, at both levels with something missing.
fn nested(codecs: &str, pack: impl Fn(Vec<u8>) -> Vec<u8>) -> Made {
    let full = pack(shard_of(&[Some(shorts(&[1])), Some(shorts(&[2]))]));
    let half = pack(shard_of(&[None, Some(shorts(&[3]))]));
    Made::filled("[11]", "[4]", "float32", "77", codecs)
        .with("c/0", shard_of(&[Some(full), Some(half.clone())]))
        .with("c/2", shard_of(&[None, Some(half)]))
}

#[test]
fn shards_in_shards_have_gaps_at_both_levels() {
    let deep = "/codecs/0/configuration/codecs/0/configuration/codecs";
    let chains = [
        (
            shard("[2]", &shard("[1]", &format!("{SHORTS},{LITTLE}"))),
            deep,
        ),
        (
            shard("[2]", &format!("{SHORTS},{}", shard("[1]", LITTLE))),
            INNER,
        ),
        (
            format!("{SHORTS},{}", shard("[2]", &shard("[1]", LITTLE))),
            "/codecs",
        ),
    ];
    for (codecs, list) in chains {
        let made = nested(&codecs, |shard| shard);
        let scan = made.scan(list, 0);
        assert_eq!(used(&scan), (vec![1, 2, 3], vec![3]));
        // One in the second inner shard of the first, the whole first inner shard of the last and one in its second.
        assert_eq!(scan.presence, presence(2, 1, 3));
        assert_eq!(made.presence(), presence(2, 1, 3));
    }
}

#[test]
fn inner_shards_that_are_compressed_are_looked_into() {
    let inner = format!("{},{GZIP}", shard("[1]", &format!("{SHORTS},{LITTLE}")));
    let made = nested(&shard("[2]", &inner), |shard| gzip(&shard));
    let scan = made.scan("/codecs/0/configuration/codecs/0/configuration/codecs", 0);
    assert_eq!(used(&scan), (vec![1, 2, 3], vec![3]));
    assert_eq!(scan.presence, presence(2, 1, 3));
    assert_eq!(made.presence(), presence(2, 1, 3));
}

#[test]
fn shards_that_are_compressed_whole_are_looked_into() {
    let codecs = format!("{},{GZIP}", shard("[2]", &format!("{SHORTS},{LITTLE}")));
    let made = Made::filled("[4]", "[4]", "float32", "77", &codecs)
        .with("c/0", gzip(&shard_of(&[None, Some(shorts(&[5, 6]))])));
    let scan = made.scan(INNER, 0);
    assert_eq!(used(&scan), (vec![5, 6], vec![]));
    assert_eq!(scan.presence, presence(1, 0, 1));
    assert_eq!(made.presence(), presence(1, 0, 1));
}

#[test]
fn transposes_before_and_in_shards_leave_padding_where_it_is() {
    // Chunks are four by two, two by four as they are stored; inner chunks there are one by two, and two by one inside.
    let codecs = format!(
        "{TRANSPOSE},{}",
        shard("[1,2]", &format!("{TRANSPOSE},{SHORTS},{LITTLE}"))
    );
    let pieces = [[1, 2], [3, 104], [105, 106], [107, 108]].map(|piece| Some(shorts(&piece)));
    let made = Made::new("[3,1]", "[4,2]", "float32", &codecs).with("c/0/0", shard_of(&pieces));
    let scan = made.scan("/codecs/1/configuration/codecs", 1);
    assert_eq!(used(&scan), (vec![1, 2, 3], vec![104, 105, 106, 107, 108]));

    // The second inner chunk of the first stored row missing takes the third row of the first column with it.
    let mut gap = pieces;
    gap[1] = None;
    made.put("c/0/0", shard_of(&gap));
    let scan = made.scan("/codecs/1/configuration/codecs", 1);
    assert_eq!(used(&scan), (vec![1, 2], vec![105, 106, 107, 108]));
    assert_eq!(scan.presence, presence(1, 0, 1));
}

#[test]
fn an_index_at_the_start_is_found_there() {
    let codecs = shard("[2]", &format!("{SHORTS},{LITTLE}"))
        .replace("\"codecs\"", "\"index_location\":\"start\",\"codecs\"");
    let bytes = [longs(&[u64::MAX, u64::MAX, 32, 4]), shorts(&[8, 9])].concat();
    let made = Made::new("[4]", "[4]", "float32", &codecs).with("c/0", bytes);
    let scan = made.scan(INNER, 0);
    assert_eq!(used(&scan), (vec![8, 9], vec![]));
    assert_eq!(scan.presence.missing_inner, 1);
}

#[test]
fn fill_that_a_mixing_codec_turns_into_codes_is_counted_where_it_is_known() {
    let delta = r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i2"}}"#;
    let codecs = format!("{SHORTS},{delta},{}", shard("[2]", LITTLE));
    let gaps = || shard_of(&[Some(shorts(&[10, 1])), None]);
    // The legacy codec hands 4.0 on as 4, and the differences that are missing read as that.
    let made = Made::filled("[4]", "[4]", "float32", "4", &codecs).with("c/0", gaps());
    let scan = made.scan("/codecs", 0);
    assert_eq!(used(&scan).0, [10, 11, 15, 19]);
    assert_eq!(scan.presence, presence(1, 0, 1));

    let made = Made::filled("[4]", "[4]", "float32", "\"NaN\"", &codecs).with("c/0", gaps());
    let error = made.try_scan("/codecs", 0, &[]).unwrap_err();
    assert_refused(&error, ErrorKind::Finding, &["a/b", "missing", "fill"]);
    made.put(
        "c/0",
        shard_of(&[Some(shorts(&[10, 1])), Some(shorts(&[1, 1]))]),
    );
    assert_eq!(used(&made.scan("/codecs", 0)).0, [10, 11, 12, 13]);
}

#[test]
fn large_shards_are_scanned_in_parts() {
    // Three parts of 32 MiB of codes, in 24 inner chunks of which a few are stored.
    let inner = 1_usize << 21;
    let codecs = shard(&format!("[{inner}]"), &format!("{SHORTS},{LITTLE},{GZIP}"));
    let length = 24 * inner;
    let made = Made::new(
        &format!("[{length}]"),
        &format!("[{length}]"),
        "float32",
        &codecs,
    );
    let piece = |value: i16| Some(gzip(&shorts(&vec![value; inner])));
    let mut pieces = vec![None; 24];
    for (n, value) in [(0, 5), (9, 6), (23, 7)] {
        pieces[n] = piece(value);
    }
    let made = made.with("c/0", shard_of(&pieces));
    let array = made.ask(|evidence| {
        let behind = evidence.with_array(|array| document::behind("", array, &site(INNER, 0)));
        evidence
            .open(&behind.unwrap().unwrap().document, "")
            .unwrap()
    });
    let examined = made.ask(|evidence| evidence.list().unwrap().clone());
    let parts: Vec<_> = tasks(&examined.stamps, &array)
        .map(|task| task.parts)
        .collect();
    assert_eq!(parts, [0..8, 8..16, 16..24]);
    let scan = made.scan(INNER, 0);
    assert_eq!(used(&scan), (vec![5, 6, 7], vec![]));
    assert_eq!(scan.presence, presence(1, 0, 21));
}

#[test]
fn indexes_that_point_nowhere_are_findings() {
    let codecs = shard("[2]", &format!("{SHORTS},{LITTLE}"));
    let bytes = [shorts(&[1, 2]), longs(&[0, 4, 1 << 40, 4])].concat();
    let made = Made::new("[4]", "[4]", "float32", &codecs).with("c/0", bytes);
    let in_scan = made.try_scan(INNER, 0, &[]).unwrap_err();
    let in_presence = made.ask(|evidence| evidence.presence()).unwrap_err();
    for error in [in_scan, in_presence] {
        assert_refused(
            &error,
            ErrorKind::Finding,
            &["a/b", "c/0", "inner chunk [1]"],
        );
    }
    made.put("c/0", [1, 2]);
    let error = made.ask(|evidence| evidence.presence()).unwrap_err();
    assert_refused(&error, ErrorKind::Finding, &["a/b", "c/0", "too short"]);
}
