//! `zarrpack encode` of stores, `.npy` files and bytes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use zarrpack::npy::{ByteOrder, ElementType, Header};

use crate::harness::{Outcome, Sandbox};
use crate::stores::{succeeds, tree};

/// What a run says, without the line of time and speed.
fn timeless(outcome: &Outcome) -> String {
    let text = outcome.to_string();
    let kept = text.lines().filter(|line| !line.ends_with("MiB/s"));
    kept.map(|line| format!("{line}\n")).collect()
}

fn document(sandbox: &Sandbox, path: &str) -> Value {
    let text = fs::read(sandbox.path().join(path)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// The document of a plain array without compression.
pub(crate) fn plain(data_type: &str, shape: &[u64], chunks: &[u64], fill: Value) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill, "attributes": {},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    })
}

/// Writes an array: its document, and its chunks by their keys.
pub(crate) fn write_array(folder: &Path, document: &Value, chunks: &[(&str, Vec<u8>)]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(
        folder.join("zarr.json"),
        serde_json::to_vec_pretty(document).unwrap(),
    )
    .unwrap();
    for (key, bytes) in chunks {
        let path = folder.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A sandbox with an array `in.zarr` of float32 in chunks of two.
pub(crate) fn with_floats(values: &[f32], fill: Value) -> Sandbox {
    let sandbox = Sandbox::new();
    let document = plain("float32", &[values.len() as u64], &[2], fill);
    let keys: Vec<String> = (0..values.len().div_ceil(2))
        .map(|n| format!("c/{n}"))
        .collect();
    let chunks = values.chunks(2).zip(&keys);
    let chunks: Vec<_> = chunks
        .map(|(values, key)| {
            let mut values = values.to_vec();
            values.resize(2, 0.0);
            (key.as_str(), floats(&values))
        })
        .collect();
    write_array(&sandbox.path().join("in.zarr"), &document, &chunks);
    sandbox
}

/// The values of a store.
fn values_of(sandbox: &Sandbox, store: &str) -> Vec<f32> {
    let values = values(sandbox, store);
    values.iter().map(|value| value.parse().unwrap()).collect()
}

/// The values of a store as lines of JSON.
pub(crate) fn values(sandbox: &Sandbox, store: &str) -> Vec<String> {
    let outcome = sandbox.run(&format!("decode {store} -"));
    succeeds(&outcome);
    outcome.stdout.lines().map(str::to_owned).collect()
}

/// What is in the folder beside the input: nothing half made must stay.
fn names(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_kind_of_loss_is_counted_and_nothing_is_written() {
    let sandbox = with_floats(&[1.0, f32::NAN, 400.0, -99.99, f32::INFINITY], json!(0.0));
    let outcome = sandbox.run("encode in.zarr out.zarr --scale 100 --to int16 --missing none");
    insta::assert_snapshot!(outcome, @"
    exit: 1
    --- stderr
    error: 1 array cannot be packed without loss; nothing was written
      - /: 1 value out of range; the first, in chunk [1] at [2], is 400.0: 40000.0 is out of the range of int16 (-32768 to 32767); values from -327.685 to 327.675 fit
      - /: 1 NaN without a code; the first, in chunk [0] at [1], is NaN: NaN has no value in int16 unless scalar_map gives it one
      - /: 1 infinite value; the first, in chunk [2] at [4], is Infinity: Infinity has no value in int16 unless scalar_map gives it one
    hint: choose --offset, --scale and --to so that the values fit; --out-of-range clamp stores the nearest that does
    hint: --missing auto finds a code for NaN
    hint: --map Infinity=CODE gives an infinity a code
    hint: --allow-loss out-of-range --allow-loss nan --allow-loss infinity writes all the same
    ");
    assert_eq!(names(&sandbox), ["in.zarr"]);
}

#[test]
fn a_code_that_no_value_uses_is_found_for_nan() {
    let sandbox = with_floats(&[1.0, f32::NAN, 327.67, -327.68], json!(0.0));
    let outcome = sandbox.run("encode in.zarr out.zarr --scale 100 --to int16");
    insta::assert_snapshot!(timeless(&outcome), @"
    exit: 0
    --- stdout
    encode   /: [4] float32 as int16
             chain: scale_offset scale 100, then cast_value int16 NaN as -32767
             chunks: [2]
             fill value: 0.0
             4 values, 1 NaN, 1 mapped, 2 at the limits
             largest error 0, relative 0, RMSE 0, bias 0
             16 bytes became 8, 2.00 times smaller; chunks written: 2

    --- stderr
    /: there is NaN, and all values are looked at to find a code for it
    ");
    assert_eq!(
        values(&sandbox, "out.zarr"),
        ["1.0", "\"NaN\"", "327.67", "-327.68"]
    );
}

#[test]
fn a_value_on_the_code_for_missing_is_refused_and_passes_where_the_code_moves() {
    let sandbox = with_floats(&[1.0, f32::NAN, -327.68, 3.0], json!(0.0));
    let run = |code: &str| {
        let arguments = format!("encode in.zarr out.zarr --scale 100 --to int16 --missing {code}");
        sandbox.run(&arguments)
    };
    insta::assert_snapshot!(run("-32768"), @"
    exit: 1
    --- stderr
    error: 1 array cannot be packed without loss; nothing was written
      - /: 1 value on a code that stands for another; the first, in chunk [1] at [2], is -327.68: it becomes the code -32768, which stands for NaN
    hint: --missing auto finds a code that no value uses
    hint: --allow-loss missing-code writes all the same
    ");
    succeeds(&run("-32767"));
    assert_eq!(
        values(&sandbox, "out.zarr"),
        ["1.0", "\"NaN\"", "-327.68", "3.0"]
    );
}

#[test]
fn input_and_output_are_apart_or_nothing_is_opened() {
    let sandbox = with_floats(&[1.0, 2.0], json!(0.0));
    fs::create_dir(sandbox.path().join("x")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("in.zarr", sandbox.path().join("link")).unwrap();
    let before = tree(&sandbox.path().join("in.zarr"));
    for output in [
        "in.zarr",
        "in.zarr/sub",
        "link",
        "link/sub",
        "x/../in.zarr",
        ".",
    ] {
        for flags in [
            "--scale 100 --to int16",
            "--scale 100 --to int16 --overwrite",
        ] {
            let outcome = sandbox.run(&format!("encode in.zarr {output} {flags}"));
            assert_eq!(outcome.exit, Some(2), "{output}: {outcome}");
        }
    }
    assert_eq!(tree(&sandbox.path().join("in.zarr")), before);
    let outcome = sandbox.run("encode in.zarr out.zarr --scale 1 --report in.zarr/report.json");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn missing_chunks_read_the_same_after_the_fill_has_changed() {
    let sandbox = Sandbox::new();
    let document = plain("float32", &[7], &[2], json!(7.5));
    write_array(
        &sandbox.path().join("in.zarr"),
        &document,
        &[("c/1", floats(&[1.0, 2.0]))],
    );
    let before = values(&sandbox, "in.zarr");
    succeeds(&sandbox.run("encode in.zarr same.zarr --scale 10 --to int16"));
    assert_eq!(values(&sandbox, "same.zarr"), before);
    assert_eq!(tree(&sandbox.path().join("same.zarr")).len(), 2);
    succeeds(&sandbox.run("encode in.zarr other.zarr --scale 10 --to int16 --fill-value -1"));
    assert_eq!(values(&sandbox, "other.zarr"), before);
    assert_eq!(document_fill(&sandbox, "other.zarr"), json!(-1.0));
    assert_eq!(tree(&sandbox.path().join("other.zarr")).len(), 5);
}

fn document_fill(sandbox: &Sandbox, store: &str) -> Value {
    document(sandbox, &format!("{store}/zarr.json"))["fill_value"].clone()
}

#[test]
fn a_fill_that_does_not_survive_is_refused_with_one_that_does() {
    let sandbox = with_floats(&[1000.0, 1100.0], json!(0.0));
    let run = "encode in.zarr out.zarr --offset 1000 --to uint8 --missing none";
    insta::assert_snapshot!(sandbox.run(run), @"
    exit: 1
    --- stderr
    error: 1 array cannot be packed without loss; nothing was written
      - /: the fill value 0.0 does not survive: the fill value -1000.0 cannot be encoded: -1000.0 is out of the range of uint8 (0 to 255); --fill-value 1000.0 would do
    hint: --allow-loss fill writes all the same
    ");
    succeeds(&sandbox.run(&format!("{run} --fill-value 1000")));
    assert_eq!(values(&sandbox, "out.zarr"), ["1000.0", "1100.0"]);
}

#[test]
fn chunks_of_nothing_but_fill_are_left_out_unless_asked_for() {
    let sandbox = with_floats(&[0.0, 0.001, 1.0, 0.0], json!(0.0));
    succeeds(&sandbox.run("encode in.zarr a.zarr --scale 10 --to int8"));
    assert_eq!(tree(&sandbox.path().join("a.zarr")).len(), 2);
    succeeds(&sandbox.run("encode in.zarr b.zarr --scale 10 --to int8 --write-empty"));
    assert_eq!(tree(&sandbox.path().join("b.zarr")).len(), 3);
    assert_eq!(values(&sandbox, "a.zarr"), values(&sandbox, "b.zarr"));
}

/// Hundredths around zero that float32 gives back exactly, as a `.npy` file.
fn on_the_grid(sandbox: &Sandbox, shape: &[u64]) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    let values: Vec<f32> = (0..count)
        .map(|n| ((n * 7919) % 30_011) as f32 / 100.0)
        .collect();
    let header = Header::new(ElementType::Float32, ByteOrder::Little, shape.to_vec());
    let mut bytes = header.to_bytes().unwrap();
    let data = floats(&values);
    bytes.extend(&data);
    sandbox.file("in.npy", bytes);
    data
}

#[test]
fn values_on_the_grid_come_back_bit_for_bit_from_the_same_bytes_for_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let data = on_the_grid(&sandbox, &[100, 90]);
    let cuts = [
        "--chunks 30,40",
        "--chunks 10,10 --shards 40,50",
        // 15 shards: one thread makes shard after shard, and several make one together.
        "--chunks 5,5 --shards 20,30",
        "--chunks 30,40 --compressor blosc:lz4:5:shuffle",
        "--chunks 30,40 --compressor gzip:1",
        "--chunks 30,40 --compressor none",
    ];
    for cut in cuts {
        let mut first = None;
        for threads in [1, 2, 8] {
            let out = format!("out{threads}.zarr");
            succeeds(&sandbox.run(&format!(
                "encode in.npy {out} --scale 100 --to int16 {cut} -j {threads} --overwrite -q"
            )));
            let files = tree(&sandbox.path().join(&out));
            assert_eq!(
                first.get_or_insert(files.clone()),
                &files,
                "{cut} {threads}"
            );
        }
        succeeds(&sandbox.run("decode out8.zarr back.npy --overwrite"));
        let back = fs::read(sandbox.path().join("back.npy")).unwrap();
        assert_eq!(back[back.len() - data.len()..], data, "{cut}");
    }
}

/// The figures of a run, but for bytes and time.
fn figures(outcome: &Outcome) -> Vec<Value> {
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let arrays = report["arrays"].as_array().unwrap();
    let kept = ["values", "losses", "errors", "storage"];
    arrays
        .iter()
        .flat_map(|array| kept.map(|member| array[member].clone()))
        .collect()
}

#[test]
fn shards_and_their_figures_are_the_same_whoever_made_them() {
    let sandbox = Sandbox::new();
    let values: Vec<f32> = (0..240 * 60).map(|n| (n % 977) as f32 * 0.37).collect();
    let mut document = plain("float32", &[240, 60], &[40, 60], json!(0.0));
    let chunks: Vec<_> = values.chunks(40 * 60).map(floats).collect();
    let keys: Vec<String> = (0..chunks.len()).map(|n| format!("c/{n}/0")).collect();
    let chunks: Vec<_> = keys.iter().map(String::as_str).zip(chunks).collect();
    write_array(&sandbox.path().join("plain.zarr"), &document, &chunks);
    // The same values, with the dimensions of the shards exchanged.
    let inner = json!([{"name": "bytes", "configuration": {"endian": "big"}}]);
    document["codecs"] = json!([
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "sharding_indexed", "configuration": {
            "chunk_shape": [6, 4], "codecs": inner, "index_location": "start",
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        }},
    ]);
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([20, 30]);
    write_array(&sandbox.path().join("transposed.zarr"), &document, &[]);
    let flags = "--to int16 --scale 50";
    for (input, cut) in [
        ("plain", "--chunks 4,6 --shards 20,30"),
        ("plain", "--chunks 4,6 --shards 240,60"),
        ("plain", "--chunks 3,60 --shards 30,60 --compressor zstd:1"),
        ("transposed", "--fill-value 7 --write-empty"),
    ] {
        let mut first = None;
        for threads in [1, 2, 8] {
            let outcome = sandbox.run(&format!(
                "encode {input}.zarr out{threads}.zarr {flags} {cut} -j {threads} --overwrite --format json"
            ));
            succeeds(&outcome);
            let files = tree(&sandbox.path().join(format!("out{threads}.zarr")));
            let made = (files, figures(&outcome));
            assert_eq!(first.get_or_insert(made.clone()), &made, "{cut} {threads}");
        }
        let expected = if input == "plain" {
            &values[..]
        } else {
            &[0.0; 240 * 60]
        };
        let read = values_of(&sandbox, "out8.zarr");
        for (read, expected) in read.iter().zip(expected) {
            assert!((read - expected).abs() <= 0.010_01, "{read} {expected}");
        }
    }
}

#[test]
fn large_shards_are_written_piece_by_piece() {
    let sandbox = Sandbox::new();
    // One shard of 256 MiB, of which two inner chunks hold anything.
    let document = plain("float32", &[8000, 8192], &[64, 64], json!(0.0));
    let chunk = |first: usize| -> Vec<u8> {
        let values: Vec<f32> = (0..64 * 64).map(|n| ((n + first) % 3000) as f32).collect();
        floats(&values)
    };
    let chunks = [
        ("c/3/1", chunk(5)),
        ("c/124/0", chunk(7)),
        ("c/0/127", chunk(9)),
    ];
    write_array(&sandbox.path().join("in.zarr"), &document, &chunks);
    let mut first = None;
    for (threads, location) in [(1, "a"), (2, "b"), (8, "c")] {
        let outcome = sandbox.run(&format!(
            "encode in.zarr {location}.zarr --to int16 --shards 8192,8192 -j {threads} --memory 16MiB"
        ));
        succeeds(&outcome);
        let files = tree(&sandbox.path().join(format!("{location}.zarr")));
        assert_eq!(files.len(), 2);
        assert_eq!(first.get_or_insert(files.clone()), &files);
    }
    for region in [
        "192:256,64:128",
        "7936:8000,0:64",
        "0:64,8128:8192",
        "100:110,100:110",
    ] {
        let raw = |store: &str| {
            let outcome = sandbox.run(&format!("decode {store} - --region {region}"));
            succeeds(&outcome);
            outcome.stdout
        };
        assert_eq!(raw("a.zarr"), raw("in.zarr"), "{region}");
    }
}

/// A hierarchy with coordinates, labels, text and a field, in Zarr v3 with consolidated metadata.
fn hierarchy(sandbox: &Sandbox) {
    let root = sandbox.path().join("in.zarr");
    let named = |mut document: Value, names: &[&str], attributes: Value| {
        document["dimension_names"] = json!(names);
        document["attributes"] = attributes;
        document
    };
    let field = named(
        plain("float32", &[2, 2], &[2, 2], json!("NaN")),
        &["y", "x"],
        json!({"units": "K", "scale_factor": 0.1, "_FillValue": "AAAAAAAA+H8=", "coordinates": "height",
            "missing_value": -9999}),
    );
    let mask = named(
        plain("uint8", &[2, 2], &[2, 2], json!(0)),
        &["y", "x"],
        json!({"flag_meanings": "sea land"}),
    );
    let y = named(plain("float64", &[2], &[2], json!(0)), &["y"], json!({}));
    let height = plain("float32", &[], &[], json!(0));
    write_array(
        &root.join("t"),
        &field,
        &[("c/0/0", floats(&[1.0, f32::NAN, 2.5, 3.0]))],
    );
    write_array(&root.join("mask"), &mask, &[("c/0/0", vec![0, 1, 1, 0])]);
    write_array(&root.join("y"), &y, &[("c/0", vec![0; 16])]);
    write_array(&root.join("height"), &height, &[("c", floats(&[2.0]))]);
    let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {"title": "test"},
        "consolidated_metadata": {"kind": "inline", "must_understand": false,
            "metadata": {"t": field, "mask": mask, "y": y, "height": height}}});
    fs::write(root.join("zarr.json"), serde_json::to_vec(&group).unwrap()).unwrap();
}

#[test]
fn what_is_not_packed_is_copied_to_the_byte() {
    let sandbox = Sandbox::new();
    hierarchy(&sandbox);
    let outcome = sandbox.run("encode in.zarr out.zarr --scale 10 --to int16");
    insta::assert_snapshot!(timeless(&outcome), @r#"
    exit: 0
    --- stdout
    copy     height: a coordinate
    copy     mask: labels
    encode   t: [2, 2] float32 as int16
             chain: scale_offset scale 10, then cast_value int16 NaN as -32768
             chunks: [2, 2]
             fill value: "NaN"
             4 values, 1 NaN, 1 mapped
             largest error 0, relative 0, RMSE 0, bias 0
             16 bytes became 8, 2.00 times smaller; chunks written: 1
             attributes removed: scale_factor (0.1), _FillValue ("AAAAAAAA+H8="), missing_value (-9999)
    copy     y: a coordinate
    "#);
    let (before, after) = (
        tree(&sandbox.path().join("in.zarr")),
        tree(&sandbox.path().join("out.zarr")),
    );
    for (path, bytes) in &before {
        let name = path.to_str().unwrap();
        if !name.starts_with("t/") && name != "zarr.json" {
            assert_eq!(after.get(path), Some(bytes), "{name}");
        }
    }
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    // The copy in the group follows.
    let group = document(&sandbox, "out.zarr/zarr.json");
    let array = document(&sandbox, "out.zarr/t/zarr.json");
    assert_eq!(group["consolidated_metadata"]["metadata"]["t"], array);
    assert_eq!(
        array["attributes"],
        json!({"units": "K", "coordinates": "height"})
    );
    assert_eq!(array["dimension_names"], json!(["y", "x"]));
}

#[test]
fn arrays_that_are_named_are_packed_whatever_they_are() {
    let sandbox = Sandbox::new();
    hierarchy(&sandbox);
    succeeds(&sandbox.run("encode in.zarr out.zarr --to int16 --array y --keep-attributes"));
    let codecs = document(&sandbox, "out.zarr/y/zarr.json")["codecs"].clone();
    assert_eq!(codecs[0]["name"], "cast_value");
    assert_eq!(
        fs::read(sandbox.path().join("in.zarr/t/zarr.json")).unwrap(),
        fs::read(sandbox.path().join("out.zarr/t/zarr.json")).unwrap()
    );
    let outcome = sandbox.run("encode in.zarr b.zarr --to int16 --array none");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn attributes_stay_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    hierarchy(&sandbox);
    let before = document(&sandbox, "in.zarr/t/zarr.json")["attributes"].clone();
    succeeds(&sandbox.run("encode in.zarr out.zarr --scale 10 --to int16 --keep-attributes"));
    assert_eq!(
        document(&sandbox, "out.zarr/t/zarr.json")["attributes"],
        before
    );
}

#[test]
fn a_mask_value_that_comes_back_stays_an_attribute() {
    let sandbox = Sandbox::new();
    let mut array = plain("float32", &[2], &[2], json!(0.0));
    array["attributes"] = json!({"_FillValue": -9999.0, "missing_value": 1e20});
    let chunk = floats(&[-9999.0, 1.5]);
    write_array(&sandbox.path().join("in.zarr"), &array, &[("c/0", chunk)]);
    let run = "encode in.zarr out.zarr --scale 10 --to int16";
    assert_eq!(sandbox.run(run).exit, Some(1));
    succeeds(&sandbox.run(&format!("{run} --map -99990=-32768")));
    assert_eq!(values(&sandbox, "out.zarr"), ["-9999.0", "1.5"]);
    let attributes = document(&sandbox, "out.zarr/zarr.json")["attributes"].clone();
    assert_eq!(attributes, json!({"_FillValue": -9999.0}));
}

#[test]
fn codes_are_taken_as_they_are() {
    let sandbox = Sandbox::new();
    let mut array = plain("int16", &[4], &[2], json!(-9999));
    array["attributes"] = json!({"scale_factor": 0.01, "add_offset": 5.0, "_FillValue": -9999,
        "valid_range": [0, 30000], "units": "m"});
    let codes =
        |codes: [i16; 2]| -> Vec<u8> { codes.iter().flat_map(|code| code.to_le_bytes()).collect() };
    let chunks = [("c/0", codes([100, -9999])), ("c/1", codes([300, 32767]))];
    write_array(&sandbox.path().join("in.zarr"), &array, &chunks);
    let run = "encode in.zarr out.zarr --values stored --scale 100 --offset 5 --to int16";
    insta::assert_snapshot!(sandbox.run(run), @"
    exit: 2
    --- stderr
    error: --values stored needs --dtype: the type that codes decode to
    ");
    succeeds(&sandbox.run(&format!("{run} --dtype float32")));
    assert_eq!(
        values(&sandbox, "out.zarr"),
        ["6.0", "\"NaN\"", "8.0", "332.67"]
    );
    for (key, bytes) in &chunks {
        assert_eq!(
            &fs::read(sandbox.path().join("out.zarr").join(key)).unwrap(),
            bytes
        );
    }
    let made = document(&sandbox, "out.zarr/zarr.json");
    assert_eq!(
        made["attributes"],
        json!({"valid_range": [5.0, 305.0], "units": "m"})
    );
    assert_eq!(
        (&made["fill_value"], &made["data_type"]),
        (&json!("NaN"), &json!("float32"))
    );
    let outcome = sandbox.run("encode in.zarr b.zarr --values stored --dtype float32 --to int32");
    assert_eq!(outcome.exit, Some(2), "{outcome}");
}

#[test]
fn unsigned_codes_in_signed_integers_become_unsigned() {
    let sandbox = Sandbox::new();
    let mut array = plain("int8", &[2], &[2], json!(0));
    array["attributes"] = json!({"_Unsigned": "true", "scale_factor": 0.5});
    write_array(
        &sandbox.path().join("in.zarr"),
        &array,
        &[("c/0", vec![3, 0xff])],
    );
    succeeds(
        &sandbox
            .run("encode in.zarr out.zarr --values stored --dtype float32 --scale 2 --to uint8"),
    );
    assert_eq!(values(&sandbox, "out.zarr"), ["1.5", "127.5"]);
}

#[test]
fn integers_that_lose_digits_are_refused() {
    let sandbox = Sandbox::new();
    let values = [(1_i64 << 53) + 1, 5];
    let chunk = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let array = plain("int64", &[2], &[2], json!(0));
    write_array(&sandbox.path().join("in.zarr"), &array, &[("c/0", chunk)]);
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --to float64"), @"
    exit: 1
    --- stderr
    error: 1 array cannot be packed without loss; nothing was written
      - /: 1 value that would come back as another; the first, in chunk [0] at [0], is 9007199254740993: it would come back as 9007199254740992
    hint: --allow-loss digits writes all the same
    ");
    succeeds(&sandbox.run("encode in.zarr out.zarr --to float64 --allow-loss digits"));
}

#[test]
fn allowed_losses_are_in_the_report() {
    let sandbox = with_floats(&[1.0, f32::NAN, 400.0, f32::NEG_INFINITY], json!(2.0));
    let outcome = sandbox.run(
        "encode in.zarr out.zarr --scale 100 --to int16 --missing none --allow-loss nan --allow-loss out-of-range \
         --allow-loss infinity --report report.json",
    );
    succeeds(&outcome);
    assert_eq!(
        values(&sandbox, "out.zarr"),
        ["1.0", "2.0", "327.67", "-327.68"]
    );
    let mut report = document(&sandbox, "report.json");
    let array = report["arrays"][0].as_object_mut().unwrap();
    array.remove("time");
    insta::assert_snapshot!(serde_json::to_string_pretty(&report).unwrap(), @r#"
    {
      "schema": "zarrpack.encode/1",
      "dry_run": false,
      "written": true,
      "verified": true,
      "allowed_losses": [
        "out-of-range",
        "nan",
        "infinity"
      ],
      "arrays": [
        {
          "path": "",
          "action": "encode",
          "input": "values",
          "data_type": "float32",
          "stored_type": "int16",
          "shape": [
            4
          ],
          "chunk_shape": [
            2
          ],
          "codecs": [
            {
              "name": "scale_offset",
              "configuration": {
                "scale": 100
              }
            },
            {
              "name": "cast_value",
              "configuration": {
                "data_type": "int16"
              }
            }
          ],
          "readers": [
            {
              "name": "zarr-python 3.4.2",
              "opens": true,
              "reason": null
            },
            {
              "name": "zarr-python 3.1.6",
              "opens": false,
              "reason": "it does not know scale_offset; it does not know cast_value"
            },
            {
              "name": "zarr-python 2.18.7",
              "opens": false,
              "reason": "it does not read Zarr v3"
            },
            {
              "name": "zarrita.js 0.7.5",
              "opens": true,
              "reason": null
            },
            {
              "name": "zarrs 0.23.14",
              "opens": false,
              "reason": "it does not support scale_offset; it supports cast_value on its main branch only"
            },
            {
              "name": "GDAL 3.14 in development",
              "opens": true,
              "reason": null
            },
            {
              "name": "tensorstore 0.1.86",
              "opens": false,
              "reason": "it does not know scale_offset; it does not know cast_value"
            },
            {
              "name": "zarr-java main",
              "opens": false,
              "reason": "its scale_offset is an open change (zarr-java#87)"
            }
          ],
          "fill_value": 2.0,
          "values": {
            "total": 4,
            "nan": 1,
            "infinite": 1,
            "mapped": 0,
            "at_limits": 2,
            "clamped": 0
          },
          "losses": [
            {
              "kind": "out-of-range",
              "allowed": true,
              "count": 1,
              "first": {
                "chunk": [
                  1
                ],
                "index": [
                  2
                ],
                "value": "400.0",
                "reason": "40000.0 is out of the range of int16 (-32768 to 32767); values from -327.685 to 327.675 fit"
              }
            },
            {
              "kind": "nan",
              "allowed": true,
              "count": 1,
              "first": {
                "chunk": [
                  0
                ],
                "index": [
                  1
                ],
                "value": "NaN",
                "reason": "NaN has no value in int16 unless scalar_map gives it one"
              }
            },
            {
              "kind": "infinity",
              "allowed": true,
              "count": 1,
              "first": {
                "chunk": [
                  1
                ],
                "index": [
                  3
                ],
                "value": "-Infinity",
                "reason": "-Infinity has no value in int16 unless scalar_map gives it one"
              }
            }
          ],
          "errors": {
            "measured": 2,
            "largest_absolute": 72.32998657226562,
            "largest_relative": 0.18082496643066406,
            "rmse": 51.14502398838095,
            "bias": -36.16499328613281
          },
          "storage": {
            "bytes_before": 16,
            "bytes_after": 8,
            "ratio": 2.0,
            "chunks_written": 2,
            "chunks_dropped": 0
          }
        }
      ]
    }
    "#);
}

#[test]
fn a_report_of_a_refusal_is_written_too() {
    let sandbox = with_floats(&[1.0, 400.0], json!(0.0));
    let outcome = sandbox
        .run("encode in.zarr out.zarr --scale 100 --to int16 --format json --report report.json");
    assert_eq!(outcome.exit, Some(1), "{outcome}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["written"], json!(false));
    assert_eq!(
        report["arrays"][0]["losses"][0]["first"]["index"],
        json!([1])
    );
    assert_eq!(document(&sandbox, "report.json"), report);
    assert_eq!(names(&sandbox), ["in.zarr", "report.json"]);
}

#[test]
fn values_that_are_clamped_are_counted() {
    let sandbox = with_floats(&[1.0, 400.0, -400.0, 327.67], json!(0.0));
    let run = "encode in.zarr out.zarr --scale 100 --to int16 --out-of-range clamp --format json";
    let outcome = sandbox.run(run);
    succeeds(&outcome);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let counts = &report["arrays"][0]["values"];
    assert_eq!(
        (&counts["clamped"], &counts["at_limits"]),
        (&json!(2), &json!(3))
    );
}

#[test]
fn a_plan_says_what_would_be_written_and_writes_nothing() {
    let sandbox = Sandbox::new();
    hierarchy(&sandbox);
    let before = tree(sandbox.path());
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --scale 10 --to int16 -n"), @r#"
    exit: 0
    --- stdout
    copy     height: a coordinate
    copy     mask: labels
    encode   t: [2, 2] float32 as int16
             chain: scale_offset scale 10, then cast_value int16
             chunks: [2, 2]
             NaN, if there is any, gets a code that no value uses
             fill value: "NaN"
             attributes removed: scale_factor (0.1), _FillValue ("AAAAAAAA+H8="), missing_value (-9999)
    copy     y: a coordinate
    "#);
    assert_eq!(tree(sandbox.path()), before);
}

#[test]
fn bytes_come_on_standard_input() {
    let sandbox = Sandbox::new();
    let values_big: Vec<u8> = [1.0_f32, 2.5, -3.0, 0.25, 5.0, 6.0]
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    let arguments =
        "encode - out.zarr --dtype float32 --shape 2,3 --byte-order big --scale 4 --to int8";
    let outcome = sandbox.run_with(arguments.split(' '), values_big.clone());
    succeeds(&outcome);
    let expected = ["1.0", "2.5", "-3.0", "0.25", "5.0", "6.0"];
    assert_eq!(values(&sandbox, "out.zarr"), expected);
    let cut = &values_big[..20];
    let arguments = format!("{arguments} --overwrite");
    insta::assert_snapshot!(sandbox.run_with(arguments.split(' '), cut.to_vec()), @"
    exit: 1
    --- stderr
    error: standard input has only 20 bytes where 24 are due: [2, 3] elements of 4 bytes
    hint: --shape and --dtype must be those of the bytes; headers must be taken off
    ");
    let more = [values_big.clone(), vec![0]].concat();
    assert_eq!(sandbox.run_with(arguments.split(' '), more).exit, Some(1));
    assert_eq!(values(&sandbox, "out.zarr"), expected);
    assert_eq!(names(&sandbox), ["out.zarr"]);
}

#[test]
fn numpy_files_in_fortran_order_are_read() {
    let sandbox = Sandbox::new();
    let mut header = Header::new(ElementType::Int16, ByteOrder::Big, vec![2, 3]);
    header.fortran_order = true;
    let mut bytes = header.to_bytes().unwrap();
    for value in [1_i16, 4, 2, 5, 3, 6] {
        bytes.extend(value.to_be_bytes());
    }
    sandbox.file("in.npy", bytes);
    succeeds(&sandbox.run("encode in.npy out.zarr --to int8 --chunks 1,2"));
    assert_eq!(values(&sandbox, "out.zarr"), ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn chains_come_from_a_plan() {
    let sandbox = Sandbox::new();
    hierarchy(&sandbox);
    let plan = |schema: &str, path: Value, data_type: &str| {
        let codecs = json!([
            {"name": "scale_offset", "configuration": {"scale": 10}},
            {"name": "cast_value", "configuration": {"data_type": "int16",
                "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}}}]);
        json!({"schema": schema, "arrays": [{"path": path, "dtype": data_type, "codecs": codecs,
            "fill_value": "NaN", "candidates": []}]})
        .to_string()
    };
    let schema = "zarrpack.suggest-params/1";
    let run = |plan: String| {
        sandbox.run_with(
            "encode in.zarr out.zarr --params - --overwrite -q".split(' '),
            plan,
        )
    };
    succeeds(&run(plan(schema, json!("t"), "float32")));
    assert_eq!(
        document(&sandbox, "out.zarr/t/zarr.json")["codecs"][1]["name"],
        "cast_value"
    );
    succeeds(&run(plan(schema, json!(null), "float32")));
    for refused in [
        plan("zarrpack.suggest-params/2", json!("t"), "float32"),
        plan(schema, json!("t"), "float64"),
        plan(schema, json!("u"), "float32"),
    ] {
        let outcome = run(refused);
        assert_eq!(outcome.exit, Some(2), "{outcome}");
    }
}

#[test]
fn chains_that_are_none_are_usage_errors() {
    let sandbox = with_floats(&[1.0, 2.0], json!(0.0));
    for flags in [
        "",
        "--scale 0 --to int16",
        "--scale NaN --to int16",
        "--to int16 --map NaN=40000",
        "--to int16 --map NaN=1 --map NaN=2",
        "--rounding nearest-even",
        "--scale 2 --codecs []",
        "--codecs [{\"name\":\"bytes\"}]",
        "--codecs {}",
        "--scale 2 --to int16 --missing 1.5",
        "--scale 2 --missing 1",
        "--scale 2 --to int16 --chunks 0",
        "--scale 2 --to int16 --chunks 1,1",
        "--scale 2 --to int16 --shards 3",
        "--scale 2 --to int16 --dtype float32",
        "--scale 2 --to int16 --shape 2",
        "--scale 2 --to int16 --format jsonl",
        "--scale 2 --to int16 --params -",
    ] {
        let outcome = sandbox.run(&format!("encode in.zarr out.zarr {flags}"));
        assert_eq!(outcome.exit, Some(2), "{flags}: {outcome}");
        assert_eq!(names(&sandbox), ["in.zarr"], "{flags}");
    }
}

#[test]
fn an_output_that_exists_is_replaced_only_when_asked_and_complete() {
    let sandbox = with_floats(&[1.0, 400.0], json!(0.0));
    succeeds(&sandbox.run("encode in.zarr out.zarr --to int32"));
    let before = tree(&sandbox.path().join("out.zarr"));
    assert_eq!(
        sandbox.run("encode in.zarr out.zarr --to int16").exit,
        Some(2)
    );
    let lossy = "encode in.zarr out.zarr --scale 100 --to int16 --overwrite";
    assert_eq!(sandbox.run(lossy).exit, Some(1));
    assert_eq!(tree(&sandbox.path().join("out.zarr")), before);
    succeeds(&sandbox.run("encode in.zarr out.zarr --to int16 --overwrite"));
    assert_ne!(tree(&sandbox.path().join("out.zarr")), before);
    assert_eq!(names(&sandbox), ["in.zarr", "out.zarr"]);
}

#[test]
fn a_chunk_that_cannot_be_read_ends_the_run() {
    let sandbox = with_floats(&[1.0, 2.0, 3.0, 4.0], json!(0.0));
    let chunk = sandbox.path().join("in.zarr/c/1");
    fs::write(&chunk, [0; 5]).unwrap();
    insta::assert_snapshot!(sandbox.run("encode in.zarr out.zarr --to int16"), @r#"
    exit: 1
    --- stderr
    error: /: chunk [1] ("c/1"): 5 bytes are stored where 8 are due
    "#);
    fs::remove_file(&chunk).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", &chunk).unwrap();
        let outcome = sandbox.run("encode in.zarr out.zarr --to int16");
        assert_eq!(outcome.exit, Some(3), "{outcome}");
    }
    assert_eq!(names(&sandbox), ["in.zarr"]);
}

#[test]
fn packed_arrays_are_packed_anew() {
    let sandbox = with_floats(&[1.0, 2.25, 3.5, 4.0], json!(0.0));
    succeeds(&sandbox.run("encode in.zarr a.zarr --scale 100 --to int32"));
    succeeds(&sandbox.run("encode a.zarr b.zarr --scale 4 --to int8"));
    assert_eq!(values(&sandbox, "b.zarr"), ["1.0", "2.25", "3.5", "4.0"]);
    let codecs = document(&sandbox, "b.zarr/zarr.json")["codecs"].clone();
    assert_eq!(codecs.as_array().unwrap().len(), 3, "{codecs}");
}

#[test]
fn transposition_stays_behind_the_chain() {
    let sandbox = Sandbox::new();
    let mut array = plain("float32", &[2, 3], &[2, 3], json!(0.0));
    array["codecs"] = json!([
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}}]);
    let chunk = [1.0_f32, 4.0, 2.0, 5.0, 3.0, 6.0];
    let chunk = chunk.iter().flat_map(|value| value.to_be_bytes()).collect();
    write_array(&sandbox.path().join("in.zarr"), &array, &[("c/0/0", chunk)]);
    succeeds(&sandbox.run("encode in.zarr out.zarr --scale 10 --to uint16"));
    assert_eq!(values(&sandbox, "out.zarr"), values(&sandbox, "in.zarr"));
    let made = document(&sandbox, "out.zarr/zarr.json")["codecs"].clone();
    let names: Vec<_> = made
        .as_array()
        .unwrap()
        .iter()
        .map(|codec| codec["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["scale_offset", "cast_value", "transpose", "bytes"]);
    assert_eq!(made[3]["configuration"]["endian"], "big");
}

#[test]
fn arrays_of_zarr_v2_become_v3_and_keep_their_keys() {
    let sandbox = Sandbox::new();
    let root = sandbox.path().join("in.zarr");
    let array = |folder: &Path, zarray: Value, zattrs: Value, chunks: &[(&str, Vec<u8>)]| {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join(".zarray"), zarray.to_string()).unwrap();
        fs::write(folder.join(".zattrs"), zattrs.to_string()).unwrap();
        for (key, bytes) in chunks {
            fs::write(folder.join(key), bytes).unwrap();
        }
    };
    let zarray = |dtype: &str, shape: Value, order: &str, fill: Value| {
        json!({"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": order,
            "compressor": null, "filters": null, "fill_value": fill})
    };
    let big = |values: &[f32]| {
        values
            .iter()
            .flat_map(|value| value.to_be_bytes())
            .collect::<Vec<u8>>()
    };
    let field = zarray(">f4", json!([2, 2]), "F", json!(null));
    let dims = json!({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"});
    array(
        &root.join("t"),
        field,
        dims,
        &[("0.0", big(&[1.0, 3.0, 2.0, 4.5]))],
    );
    let x = zarray(">f4", json!([2]), "C", json!(0.0));
    array(
        &root.join("x"),
        x,
        json!({"_ARRAY_DIMENSIONS": ["x"]}),
        &[("0", big(&[7.0, 8.0]))],
    );
    fs::write(root.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    succeeds(&sandbox.run("encode in.zarr out.zarr --scale 10 --to int16"));
    assert_eq!(values(&sandbox, "out.zarr/t"), ["1.0", "2.0", "3.0", "4.5"]);
    assert_eq!(values(&sandbox, "out.zarr/x"), ["7.0", "8.0"]);
    let files = tree(&sandbox.path().join("out.zarr"));
    let names: Vec<_> = files.keys().map(|path| path.to_str().unwrap()).collect();
    assert_eq!(
        names,
        ["t/0.0", "t/zarr.json", "x/0", "x/zarr.json", "zarr.json"]
    );
    let made = document(&sandbox, "out.zarr/t/zarr.json");
    assert_eq!(made["attributes"], json!({"units": "K"}));
    assert_eq!(made["dimension_names"], json!(["y", "x"]));
    let same = fs::read(root.join("x/0")).unwrap();
    assert_eq!(fs::read(sandbox.path().join("out.zarr/x/0")).unwrap(), same);
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_an_error_of_the_machine() {
    let sandbox = with_floats(&[1.0, 2.0], json!(0.0));
    let outcome = sandbox.run("encode in.zarr /dev/null/out.zarr --to int16");
    assert!(matches!(outcome.exit, Some(2 | 3)), "{outcome}");
    let outcome = sandbox.run("encode in.zarr nowhere/out.zarr --to int16");
    assert_eq!(outcome.exit, Some(3), "{outcome}");
}
