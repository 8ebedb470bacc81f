use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarrs::storage::byte_range::ByteRangeIterator;
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{
    MaybeBytesIterator, ReadableStorageTraits, StorageError, StoreKey, WritableStorageTraits,
};

use super::*;
use crate::error::ErrorKind;
use crate::metadata::json::{Limits, NonFinite, parse};
use crate::metadata::{Node, Problems, v2, v3};

const LITTLE: &str = r#"{"name":"bytes","configuration":{"endian":"little"}}"#;
const BIG: &str = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
const PAIR: &str = r#"{"name":"scale_offset","configuration":{"offset":10,"scale":2}},
    {"name":"cast_value","configuration":{"data_type":"int16"}}"#;
const LEGACY: &str = r#"{"name":"numcodecs.fixedscaleoffset",
    "configuration":{"offset":10,"scale":2,"dtype":"<f4","astype":"<i2"}}"#;

fn document(shape: &str, chunks: &str, data_type: &str, fill: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format":3,"node_type":"array","shape":{shape},"data_type":"{data_type}","fill_value":{fill},
        "chunk_grid":{{"name":"regular","configuration":{{"chunk_shape":{chunks}}}}},
        "chunk_key_encoding":"default","codecs":[{codecs}]}}"#
    )
}

fn shard(chunks: &str, codecs: &str) -> String {
    format!(
        r#"{{"name":"sharding_indexed","configuration":{{"chunk_shape":{chunks},"codecs":[{codecs}],
        "index_codecs":[{LITTLE}]}}}}"#
    )
}

fn store(chunks: &[(&str, Vec<u8>)]) -> Arc<MemoryStore> {
    let store = MemoryStore::new();
    for (key, bytes) in chunks {
        store
            .set(&StoreKey::new(*key).unwrap(), bytes.clone().into())
            .unwrap();
    }
    Arc::new(store)
}

fn open(text: &str, storage: Arc<MemoryStore>) -> Result<OpenArray, OpenError> {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
    let root = Node::root(&parsed.root);
    let mut problems = Problems::default();
    if parsed.root.get("node_type").is_none() {
        let array = v2::array(&root, &mut problems).complete().unwrap();
        return OpenArray::open(storage, "", ArrayDocument::V2(&array));
    }
    let v3::Document::Array(array) = v3::read(&root, &mut problems) else {
        panic!("{text}");
    };
    OpenArray::open(storage, "", ArrayDocument::V3(&array.complete().unwrap()))
}

/// The first problem of a document that cannot be opened.
fn problem(text: &str) -> OpenProblem {
    match open(text, store(&[])) {
        Ok(_) => panic!("opened: {text}"),
        Err(error) => error.problems.into_iter().next().unwrap(),
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_ne_bytes(*bytes))
        .collect()
}

fn shorts(values: &[i16]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn longs(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

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
    assert_eq!(array(8).stored_size(&[1]).unwrap(), None);
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
fn documents_that_zarrs_would_open_are_refused() {
    for (codecs, pointer, words) in [
        (r#""bytes""#, "/codecs/0", "bytes"),
        (
            &format!(r#"{LITTLE},{{"name":"nope","must_understand":false}}"#),
            "/codecs/1",
            "not known",
        ),
        (
            &format!("{LITTLE},{PAIR}"),
            "/codecs/1",
            "behind a codec that makes bytes",
        ),
        (
            &format!(r#"{LITTLE},{{"name":"transpose","configuration":{{"order":[0]}}}}"#),
            "/codecs/1",
            "behind",
        ),
        (&format!("{LITTLE},{LITTLE}"), "/codecs/1", "a second codec"),
        (
            &format!(r#"{{"name":"gzip","configuration":{{"level":1}}}},{LITTLE}"#),
            "/codecs/0",
            "before a codec",
        ),
        (PAIR, "/codecs", "no codec that makes bytes"),
        (
            &format!(r#"{{"name":"scale_offset","configuration":{{"scale":"1"}}}},{LITTLE}"#),
            "/codecs/0/configuration/scale",
            "scale-offset/scalar",
        ),
        (
            &format!(r#"{{"name":"scale_offset","configuration":{{"gain":1}}}},{LITTLE}"#),
            "/codecs/0/configuration/gain",
            "unknown member",
        ),
        (
            &format!(
                r#"{PAIR},{{"name":"cast_value","configuration":{{"data_type":"float16","out_of_range":"wrap"}}}},{LITTLE}"#
            ),
            "/codecs/2/configuration/out_of_range",
            "wrap",
        ),
        (
            &format!(r#"{{"name":"transpose","configuration":{{"order":[1]}}}},{LITTLE}"#),
            "/codecs/0",
            "transpose",
        ),
        (
            &shard("[3]", LITTLE),
            "/codecs/0/configuration/chunk_shape",
            "do not fill a shard",
        ),
        (
            &shard("[2]", r#""bytes""#),
            "/codecs/0/configuration/codecs/0",
            "bytes",
        ),
        (
            &shard("[2,2]", LITTLE),
            "/codecs/0/configuration/chunk_shape",
            "dimensions",
        ),
        (
            &format!(r#"{{"name":"numcodecs.delta","configuration":{{"dtype":"<i8"}}}},{LITTLE}"#),
            "/codecs/0",
            "the type at this place",
        ),
    ] {
        let problem = problem(&document("[4]", "[4]", "float32", "0", codecs));
        assert_eq!(problem.pointer, pointer, "{problem}");
        assert!(problem.message.contains(words), "{problem}");
    }
    let compressed_index = shard("[2]", LITTLE).replace(
        &format!("\"index_codecs\":[{LITTLE}]"),
        &format!(r#""index_codecs":[{LITTLE},{{"name":"gzip","configuration":{{"level":1}}}}]"#),
    );
    let problem = problem(&document("[4]", "[4]", "float32", "0", &compressed_index));
    assert!(problem.message.contains("encoded size"), "{problem}");
}

#[test]
fn fills_and_types_are_checked() {
    for (data_type, fill, pointer) in [
        ("uint8", "256", "/fill_value"),
        ("float32", "1e39", "/fill_value"),
        ("bool", "2", "/fill_value"),
        ("string", "\"\"", "/data_type"),
        ("float31", "0", "/data_type"),
        ("complex64", "0", "/fill_value"),
    ] {
        let problem = problem(&document("[4]", "[4]", data_type, fill, LITTLE));
        assert_eq!(problem.pointer, pointer, "{problem}");
    }
    for (data_type, fill, bytes) in [
        ("bool", "true", vec![1]),
        ("int16", "-2", (-2_i16).to_ne_bytes().to_vec()),
        (
            "float32",
            "\"0x7fc00001\"",
            0x7fc0_0001_u32.to_ne_bytes().to_vec(),
        ),
        (
            "complex64",
            "[1.0, \"NaN\"]",
            [1.0_f32.to_ne_bytes(), f32::NAN.to_ne_bytes()].concat(),
        ),
    ] {
        let array = open(&document("[4]", "[4]", data_type, fill, LITTLE), store(&[])).unwrap();
        assert_eq!(array.fill(), bytes, "{data_type}");
        assert_eq!(array.element_size(), bytes.len());
    }
}

#[test]
fn hostile_documents_are_answered_at_once() {
    let start = Instant::now();
    let many = |length: &str, rank: usize| format!("[{}]", vec![length; rank].join(","));
    for (length, rank) in [
        ("1099511627776", 1),
        ("9223372036854775807", 1),
        ("18446744073709551615", 1),
        ("4294967296", 2),
        ("2", 1000),
        ("9223372036854775807", 1000),
    ] {
        let shape = many(length, rank);
        for codecs in [
            LITTLE.to_owned(),
            format!("{PAIR},{LITTLE}"),
            format!(
                r#"{PAIR},{LITTLE},{{"name":"zstd","configuration":{{"level":1,"checksum":false}}}}"#
            ),
            shard(&many("1", rank), LITTLE),
            shard(&shape, LITTLE),
            format!(r#"{{"name":"transpose","configuration":{{"order":"F"}}}},{LITTLE}"#),
        ] {
            let text = document(&shape, &shape, "float32", "0", &codecs);
            let key = format!("c/{}", vec!["0"; rank].join("/"));
            let chunks = [(key.as_str(), vec![0; 100])];
            if let Ok(array) = open(&text, store(&chunks)) {
                let index = vec![0; rank];
                assert!(array.decode_chunk(&index).is_err(), "{length} {rank}");
                // An index of one inner chunk can be read; the inner chunk is as large as the shard.
                if let Ok(shard) = array.open_shard(&index) {
                    let error = shard.unwrap().decode_inner_chunk(&index).unwrap_err();
                    assert_eq!(error.failure.kind, FailureKind::TooLarge, "{error}");
                }
            }
        }
    }
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    // Many dimensions are no problem by themselves.
    let ones = many("1", 1000);
    let text = document(&ones, &ones, "float32", "0", LITTLE);
    let key = format!("c/{}", vec!["0"; 1000].join("/"));
    let array = open(&text, store(&[(&key, vec![0; 4])])).unwrap();
    assert_eq!(array.decode_chunk(&vec![0; 1000]).unwrap().unwrap(), [0; 4]);
}

#[test]
fn long_chains_are_refused() {
    let codecs = vec![r#""scale_offset""#; 100].join(",");
    let problem = problem(&document(
        "[4]",
        "[4]",
        "float32",
        "0",
        &format!("{codecs},{LITTLE}"),
    ));
    assert!(problem.message.contains("101 codecs"), "{problem}");
}

#[test]
fn arrays_without_elements_open() {
    let array = open(
        &document("[0,4]", "[0,2]", "float32", "0", LITTLE),
        store(&[]),
    )
    .unwrap();
    assert_eq!(array.grid_shape(), [0, 2]);
    assert_eq!(array.chunk_shape(), [1, 2]);
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

fn v2_document(dtype: &str, fill: &str, order: &str, filters: &str, compressor: &str) -> String {
    format!(
        r#"{{"zarr_format":2,"shape":[2,2],"chunks":[2,2],"dtype":{dtype},"fill_value":{fill},"order":"{order}",
        "filters":{filters},"compressor":{compressor}}}"#
    )
}

#[test]
fn bytes_of_v2_chunks_have_the_order_of_the_last_filter() {
    let filters =
        r#"[{"id":"fixedscaleoffset","dtype":"<f4","astype":">i2","scale":2,"offset":10}]"#;
    let chunk: Vec<u8> = [0_i16, 2, 4, 6]
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    for (order, expected) in [
        ("C", [10.0, 11.0, 12.0, 13.0]),
        ("F", [10.0, 12.0, 11.0, 13.0]),
    ] {
        let text = v2_document("\"<f4\"", "0", order, filters, "null");
        let array = open(&text, store(&[("0.0", chunk.clone())])).unwrap();
        assert_eq!(
            floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
            expected
        );
    }
    // A filter may stand where the compressor does.
    let compressor = filters.trim_matches(['[', ']']);
    let text = v2_document("\"<f4\"", "0", "C", "null", compressor);
    let array = open(&text, store(&[("0.0", chunk)])).unwrap();
    assert_eq!(
        floats(&array.decode_chunk(&[0, 0]).unwrap().unwrap()),
        [10.0, 11.0, 12.0, 13.0]
    );
}

#[test]
fn v2_documents_that_do_not_fit_are_refused_at_their_members() {
    let legacy = |dtype: &str| {
        format!(
            r#"[{{"id":"fixedscaleoffset","dtype":"{dtype}","astype":"|u1","scale":2,"offset":1}}]"#
        )
    };
    let gzip = r#"{"id":"gzip","level":1}"#;
    for (dtype, fill, filters, pointer, kind) in [
        (
            "\"<f4\"",
            "0",
            legacy("<f8").as_str(),
            "/filters/0/dtype",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            &legacy(">f4"),
            "/filters/0/dtype",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            &legacy("<f4").replace(":2", ":0"),
            "/filters/0/scale",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<f4\"",
            "0",
            r#"[{"id":"zzz"}]"#,
            "/filters/0",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<f4\"",
            "0",
            &format!("[{gzip},{}]", legacy("<f4").trim_matches(['[', ']'])),
            "/filters/1",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"|S3\"",
            "\"\"",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<U3\"",
            "\"\"",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<M8[ns]\"",
            "0",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"|O\"",
            "0",
            r#"[{"id":"vlen-utf8"}]"#,
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            r#"[["a","<i4"]]"#,
            "null",
            "null",
            "/dtype",
            OpenProblemKind::Unsupported,
        ),
        (
            "\"<i2\"",
            "0.5",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
        (
            "\"<i2\"",
            "\"NaN\"",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
        (
            "\"|u1\"",
            "-1",
            "null",
            "/fill_value",
            OpenProblemKind::Unsound,
        ),
    ] {
        let problem = problem(&v2_document(dtype, fill, "C", filters, "null"));
        assert_eq!(
            (problem.pointer.as_str(), problem.kind),
            (pointer, kind),
            "{problem}"
        );
    }
}

#[test]
fn fills_of_v2_documents() {
    for (dtype, fill, defined, bytes) in [
        ("\"<f4\"", "null", false, vec![0; 4]),
        ("\"|b1\"", "null", false, vec![0]),
        ("\"|b1\"", "1", true, vec![1]),
        ("\"<i2\"", "-3.0", true, (-3_i16).to_ne_bytes().to_vec()),
        ("\">i2\"", "7", true, 7_i16.to_ne_bytes().to_vec()),
        (
            "\"<f8\"",
            "\"-Infinity\"",
            true,
            f64::NEG_INFINITY.to_ne_bytes().to_vec(),
        ),
        (
            "\"<c8\"",
            "[1.0,2.0]",
            true,
            [1.0_f32.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat(),
        ),
        ("\"<c8\"", "null", false, vec![0; 8]),
    ] {
        let array = open(&v2_document(dtype, fill, "C", "null", "null"), store(&[])).unwrap();
        assert_eq!(
            (array.fill(), array.fill_is_defined()),
            (bytes.as_slice(), defined),
            "{dtype} {fill}"
        );
    }
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
    let shape: Vec<NonZeroU64> = array.chain().decoded.shape.clone();
    assert_eq!(shape.len(), 1);
}
