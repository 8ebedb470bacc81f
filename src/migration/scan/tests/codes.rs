//! Which codes are found, and where.

use super::*;
use crate::transform::chain::{BoundChain, bind};
use crate::transform::literal::Literal;
use crate::transform::parameters::{Codec, FixedScaleOffsetParameters};

/// Five by three elements in chunks of two by two: the last row and the last column have padding. One chunk is missing.
fn edges() -> Made {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    Made::new("[5,3]", "[2,2]", "float32", &codecs)
        .with("c/0/0", [1, 2, 3, 4])
        .with("c/0/1", [5, 200, 6, 201])
        .with("c/1/0", [1, 2, 3, 4])
        .with("c/2/0", [7, 8, 202, 5])
        .with("c/2/1", [9, 203, 204, 205])
}

#[test]
fn padding_is_told_from_what_the_array_holds() {
    let scan = edges().scan("/codecs", 0);
    let (inside, padding) = used(&scan);
    assert_eq!(inside, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(padding, [5, 200, 201, 202, 203, 204, 205]);
    assert_eq!(scan.range, range(DataType::UInt8, 1, 205));
    assert_eq!(scan.presence, presence(5, 1, 0));
    assert_eq!(edges().presence(), presence(5, 1, 0));
}

#[test]
fn watched_codes_are_told_by_their_use() {
    let watch = [5, 200, 0, 9].map(|code| integer(DataType::UInt8, code));
    let scan = edges().try_scan("/codecs", 0, &watch).unwrap();
    assert_eq!(
        scan.watched,
        [Use::Used, Use::PaddingOnly, Use::Unused, Use::Used]
    );
}

fn legacy(scale: &str, data_type: DataType, astype: DataType) -> BoundChain {
    let codec = Codec::FixedScaleOffset(FixedScaleOffsetParameters {
        scale: Literal::Number(scale.to_owned()),
        offset: Literal::Number("0".to_owned()),
        dtype: None,
        astype: Some(astype),
        base: "/configuration",
    });
    bind(data_type, None, &[codec]).chain.unwrap()
}

#[test]
fn comparisons_count_the_array_and_padding_apart() {
    let old = legacy("10", DataType::Float32, DataType::UInt8);
    let new = legacy("5", DataType::Float32, DataType::UInt8);
    let comparisons = [
        Comparison::new(&old, &new).unwrap(),
        Comparison::new(&old, &old).unwrap(),
    ];
    let question = Question {
        comparisons: &comparisons,
        watch: &[],
    };
    let made = edges();
    let scan = made.ask(|evidence| evidence.scan(&site("/codecs", 0), &question).unwrap());
    let [differs, same] = &scan.compared[..] else {
        panic!("{:?}", scan.compared);
    };
    assert_eq!((differs.inside.compared, differs.padding.compared), (13, 7));
    assert_eq!(
        (differs.inside.differing, differs.padding.differing),
        (13, 7)
    );
    let lowest = |code| Some(integer(DataType::UInt8, code));
    let first = |found: &crate::transform::equivalence::Differences| {
        found.first_difference.map(|change| change.code)
    };
    assert_eq!(first(&differs.inside), lowest(1));
    assert_eq!(first(&differs.padding), lowest(5));
    assert_eq!((same.inside.identical, same.padding.identical), (13, 7));

    let other = legacy("5", DataType::Float32, DataType::Int16);
    let comparisons = [Comparison::new(&other, &other).unwrap()];
    let question = Question {
        comparisons: &comparisons,
        watch: &[],
    };
    let error = made.ask(|evidence| evidence.scan(&site("/codecs", 0), &question).unwrap_err());
    assert_refused(&error, ErrorKind::Finding, &["a/b", "int16", "uint8"]);
}

#[test]
fn results_do_not_hang_on_threads_or_memory() {
    let codecs = format!("{SHORTS},{}", shard("[3,5]", LITTLE));
    let mut made = Made::new("[40,33]", "[6,10]", "float32", &codecs);
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    for row in 0..7 {
        for column in 0..4 {
            let mut piece = || {
                let values: Vec<_> = (0..15).map(|_| (random() % 3000) as i16).collect();
                (random() % 4 > 0).then(|| shorts(&values))
            };
            let shard = shard_of(&[piece(), piece(), piece(), piece()]);
            if (row, column) != (2, 3) {
                made.put(&format!("c/{row}/{column}"), shard);
            }
        }
    }
    let old = legacy("10", DataType::Float32, DataType::Int16);
    let new = legacy("10.0000001", DataType::Float32, DataType::Int16);
    let comparisons = [Comparison::new(&old, &new).unwrap()];
    let watch = [7, 1500, 3001].map(|code| integer(DataType::Int16, code));
    let mut results = Vec::new();
    for (threads, memory) in [(1, 1 << 20), (2, 1 << 20), (8, 1 << 20), (8, 1), (0, 0)] {
        (made.threads, made.memory) = (threads, memory);
        let question = Question {
            comparisons: &comparisons,
            watch: &watch,
        };
        let scan = made.ask(|evidence| evidence.scan(&site("/codecs", 0), &question).unwrap());
        assert!(scan.compared[0].inside.differing > 0);
        results.push(format!("{scan:?}"));
    }
    results.dedup();
    assert_eq!(results.len(), 1);
}

#[test]
fn transposes_on_either_side_leave_padding_where_it_is() {
    // One row and two columns of three are inside a chunk of two by three.
    for codecs in [
        format!("{TRANSPOSE},{BYTES_OF_FLOATS},{LITTLE}"),
        format!("{BYTES_OF_FLOATS},{TRANSPOSE},{LITTLE}"),
    ] {
        let first = usize::from(codecs.starts_with(TRANSPOSE));
        // Column by column.
        let made =
            Made::new("[1,2]", "[2,3]", "float32", &codecs).with("c/0/0", [1, 11, 2, 12, 13, 14]);
        let (inside, padding) = used(&made.scan("/codecs", first));
        assert_eq!(inside, [1, 2], "{codecs}");
        assert_eq!(padding, [11, 12, 13, 14], "{codecs}");
    }
}

#[test]
fn early_words_for_order_are_understood() {
    let order = r#"{"name":"transpose","configuration":{"order":"F"}}"#;
    let codecs = format!("{order},{BYTES_OF_FLOATS},{LITTLE}");
    let made = Made::new("[2,2,1]", "[2,2,2]", "float32", &codecs);
    // The last dimension runs slowest.
    let made = made.with("c/0/0/0", [1, 2, 3, 4, 15, 16, 17, 18]);
    let (inside, padding) = used(&made.scan("/codecs", 1));
    assert_eq!(inside, [1, 2, 3, 4]);
    assert_eq!(padding, [15, 16, 17, 18]);
}

const DELTA_OF_SHORTS: &str = r#"{"name":"numcodecs.delta","configuration":{"dtype":"<i2"}}"#;

#[test]
fn codecs_behind_the_site_are_decoded() {
    let zstd = r#"{"name":"zstd","configuration":{"level":1,"checksum":false}}"#;
    let codecs = format!("{SHORTS},{DELTA_OF_SHORTS},{LITTLE},{zstd}");
    let bytes = zstd::encode_all(&shorts(&[100, 1, 1, -300])[..], 1).unwrap();
    let made = Made::new("[3]", "[4]", "float32", &codecs).with("c/0", bytes);
    let scan = made.scan("/codecs", 0);
    assert_eq!(used(&scan), (vec![100, 101, 102], vec![-198]));
    assert_eq!(scan.range, range(DataType::Int16, -198, 102));
}

#[test]
fn padding_counts_as_held_where_a_codec_before_the_site_mixes_elements() {
    let delta = r#"{"name":"numcodecs.delta","configuration":{"dtype":"<f4"}}"#;
    let codecs = format!("{delta},{SHORTS},{LITTLE}");
    let made = Made::new("[2,1]", "[2,2]", "float32", &codecs).with("c/0/0", shorts(&[1, 2, 3, 4]));
    let (inside, padding) = used(&made.scan("/codecs", 1));
    assert_eq!(inside, [1, 2, 3, 4]);
    assert_eq!(padding, [0; 0]);
}

#[test]
fn each_site_of_a_chain_has_its_own_codes() {
    let second = r#"{"name":"numcodecs.fixedscaleoffset","configuration":{"offset":-5,"scale":1,"dtype":"<i2","astype":"<u2"}}"#;
    let codecs = format!("{SHORTS},{second},{LITTLE}");
    let made = Made::new("[2]", "[2]", "float32", &codecs).with("c/0", shorts(&[7, 30]));
    // Parts of a run are sites too.
    assert_eq!(used(&made.scan("/codecs", 0)).0, [2, 25]);
    assert_eq!(used(&made.scan("/codecs", 1)).0, [7, 30]);
    let both = Site {
        codecs: 2,
        ..site("/codecs", 0)
    };
    let question = Question {
        comparisons: &[],
        watch: &[],
    };
    let scan = made.ask(|evidence| evidence.scan(&both, &question).unwrap());
    assert_eq!(used(&scan).0, [7, 30]);
    assert_eq!(scan.used.unwrap().inside.data_type(), DataType::UInt16);
    let three = Site { codecs: 3, ..both };
    let error = made.ask(|evidence| evidence.scan(&three, &question).unwrap_err());
    assert_refused(&error, ErrorKind::Finding, &["a/b", "/codecs/0", "3"]);
}

#[test]
fn wide_codes_have_a_range_and_are_watched() {
    let wide = |astype: &str| {
        format!(
            r#"{{"name":"numcodecs.fixedscaleoffset","configuration":{{"offset":0,"scale":1,"dtype":"<f8","astype":"{astype}"}}}},{LITTLE}"#
        )
    };
    let codes = [-5_i32, 70000, 3, -90000];
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    let made = Made::new("[3]", "[4]", "float64", &wide("<i4")).with("c/0", bytes);
    let watch = [3, -90000, 4].map(|code| integer(DataType::Int32, code));
    let scan = made.try_scan("/codecs", 0, &watch).unwrap();
    assert_eq!(scan.range, range(DataType::Int32, -90000, 70000));
    assert_eq!(scan.watched, [Use::Used, Use::PaddingOnly, Use::Unused]);
    assert!(scan.used.is_none());

    let codes = [f32::NAN, 2.5, -0.0, f32::NEG_INFINITY];
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    let made = Made::new("[4]", "[4]", "float64", &wide("<f4")).with("c/0", bytes);
    let float = |bits| Scalar::from_bits(DataType::Float32, u64::from(bits));
    let watch = [0xffc0_0123_u32, 0, 1, 2.5_f32.to_bits()].map(float);
    let scan = made.try_scan("/codecs", 0, &watch).unwrap();
    assert_eq!(scan.watched, [Use::Used, Use::Used, Use::Unused, Use::Used]);
    let range = scan.range.unwrap();
    assert_eq!(range.least, float(f32::NEG_INFINITY.to_bits()));
    assert_eq!(range.greatest, float(2.5_f32.to_bits()));
}

#[test]
fn big_endian_codes_are_read_as_such() {
    let big = r#"{"name":"bytes","configuration":{"endian":"big"}}"#;
    let codecs = format!("{SHORTS},{big}");
    let made = Made::new("[2]", "[2]", "float32", &codecs).with("c/0", [1, 0, 0, 5]);
    assert_eq!(used(&made.scan("/codecs", 0)).0, [5, 256]);
}

#[test]
fn an_array_without_dimensions_has_one_chunk() {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    let made = Made::new("[]", "[]", "float32", &codecs);
    assert_eq!(made.presence(), presence(0, 1, 0));
    assert_eq!(made.scan("/codecs", 0).range, None);
    let made = made.with("c", [9]);
    let scan = made.scan("/codecs", 0);
    assert_eq!(used(&scan), (vec![9], vec![]));
    assert_eq!(scan.presence, presence(1, 0, 0));
}

#[test]
fn an_empty_array_has_no_chunks_whatever_lies_there() {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    for chunks in ["[2,2]", "[0,2]"] {
        let made = Made::new("[0,4]", chunks, "float32", &codecs).with("c/0/0", [1, 2, 3, 4]);
        let scan = made.scan("/codecs", 0);
        assert_eq!(scan.presence, presence(0, 0, 0));
        assert_eq!(used(&scan), (vec![], vec![]));
        assert_eq!(scan.range, None);
    }
}

#[test]
fn chunks_beyond_the_shape_and_other_files_do_not_count() {
    let made = edges()
        .with("c/3/0", [99, 99, 99, 99])
        .with("c/0/2", [99, 99])
        .with("c/00/0", [98])
        .with("notes.txt", "hello")
        .with("c/0/0.tmp", [97; 4]);
    let scan = made.scan("/codecs", 0);
    assert_eq!(scan.presence, presence(5, 1, 0));
    assert_eq!(used(&scan).0, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn grids_beyond_counting_take_as_long_as_what_is_stored() {
    let codecs = format!("{BYTES_OF_FLOATS},{LITTLE}");
    let shape = format!("[{},{}]", 1_u64 << 30, 1_u64 << 30);
    let made = Made::new(&shape, "[1,1]", "float32", &codecs).with("c/1000000/7", [42]);
    let scan = made.scan("/codecs", 0);
    assert_eq!(used(&scan).0, [42]);
    assert_eq!(scan.presence, presence(1, (1 << 60) - 1, 0));

    let shape = format!("[{},{}]", 1_u64 << 40, 1_u64 << 40);
    let made = Made::new("[2,2]", "[1,1]", "float32", &codecs);
    let text = made.text.replace("[2,2]", &shape);
    let interrupt = Interrupt::default();
    let pipeline = Pipeline {
        threads: 1,
        memory: 1,
        interrupt: &interrupt,
        observer: &|_| {},
    };
    let refused = StoreEvidence::new("a/b", made.folder.path(), &text, &pipeline);
    assert_refused(
        &refused.err().unwrap(),
        ErrorKind::Finding,
        &["a/b", "2^64"],
    );
}
