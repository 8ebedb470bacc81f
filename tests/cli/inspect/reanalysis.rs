//! A store of twenty arrays, as a weather service and a satellite might fill it. Its chunks have lengths and no contents, since
//! nothing that is tested with it reads them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::Sandbox;

/// The name of the store in the sandbox.
pub(crate) const NAME: &str = "reanalysis.zarr";

const HOURS: u64 = 744;

/// Writes the store.
pub(crate) fn write(sandbox: &Sandbox) -> PathBuf {
    let root = sandbox.path().join(NAME);
    for group in ["", "surface", "levels", "sentinel2"] {
        document(
            &root.join(group),
            "zarr.json",
            &json!({"zarr_format": 3, "node_type": "group", "attributes": {}}),
        );
    }
    coordinates(&root);
    surface(&root.join("surface"));
    levels(&root.join("levels"));
    sentinel2(&root.join("sentinel2"));
    archive(&root.join("archive"));
    root
}

fn coordinates(root: &Path) {
    for (name, data_type, length, bytes) in [
        ("time", "float64", HOURS, 1_482),
        ("latitude", "float32", 721, 1_207),
        ("longitude", "float32", 1440, 2_211),
    ] {
        let array = Array::new(&[length], data_type, json!(0));
        array
            .dimensions(&[name])
            .write(&root.join(name), &[(0, bytes)]);
    }
}

fn surface(group: &Path) {
    let packed = |codecs: Value, fill: Value| {
        Array::new(&[HOURS, 721, 1440], "float32", fill)
            .chunks(&[24, 721, 1440])
            .codecs(codecs)
            .dimensions(&["time", "latitude", "longitude"])
    };
    let missing = json!({"encode": [["NaN", -32768]], "decode": [[-32768, "NaN"]]});
    let temperature = || {
        json!([
            {"name": "scale_offset", "configuration": {"offset": 273.15, "scale": 100}},
            {"name": "cast_value", "configuration": {"data_type": "int16", "scalar_map": missing}},
        ])
    };
    packed(temperature(), json!("NaN")).write(&group.join("t2m"), &days(31, 19_713_402));
    packed(temperature(), json!("NaN")).write(&group.join("d2m"), &days(12, 20_108_771));
    let rain = json!([
        {"name": "scale_offset", "configuration": {"scale": 100_000}},
        {"name": "cast_value", "configuration": {"data_type": "uint16", "out_of_range": "clamp"}},
    ]);
    packed(rain, json!(0)).write(&group.join("tp"), &days(31, 4_411_092));
    let pressure = json!([{"name": "numcodecs.fixedscaleoffset", "configuration":
        {"offset": 50_000, "scale": 1, "dtype": "<f4", "astype": "<u2"}}]);
    packed(pressure, json!(0)).write(&group.join("msl"), &days(31, 15_990_114));
    let unmapped = json!([
        {"name": "scale_offset", "configuration": {"offset": 273.15, "scale": 100}},
        {"name": "cast_value", "configuration": {"data_type": "int16"}},
    ]);
    packed(unmapped, json!("NaN")).write(&group.join("sst"), &[]);
    Array::new(&[721, 1440], "uint8", json!(0))
        .dimensions(&["latitude", "longitude"])
        .write(&group.join("lsm"), &[(0, 41_377)]);
}

fn levels(group: &Path) {
    Array::new(&[37], "int32", json!(0))
        .dimensions(&["level"])
        .write(&group.join("level"), &[(0, 91)]);
    let dimensions = ["time", "level", "latitude", "longitude"];
    let array = |data_type: &str, fill: Value| {
        Array::new(&[HOURS, 37, 721, 1440], data_type, fill)
            .chunks(&[24, 37, 721, 1440])
            .dimensions(&dimensions)
    };
    let pair = json!([
        {"name": "scale_offset", "configuration": {"offset": 200, "scale": 500}},
        {"name": "cast_value", "configuration": {"data_type": "uint16"}},
    ]);
    array("float32", json!(200))
        .codecs(pair)
        .inner(&[24, 1, 103, 144])
        .write(&group.join("temperature"), &days(31, 702_118_203));
    let half = json!([
        {"name": "scale_offset", "configuration": {"scale": 1000}},
        {"name": "cast_value", "configuration": {"data_type": "float16", "out_of_range": "clamp"}},
    ]);
    array("float32", json!("NaN"))
        .codecs(half)
        .write(&group.join("humidity"), &days(31, 611_823_300));
    let wide = json!([
        {"name": "scale_offset", "configuration": {"offset": -5000, "scale": 4}},
        {"name": "cast_value", "configuration": {"data_type": "int32", "rounding": "towards-zero"}},
    ]);
    array("float64", json!(-5000))
        .codecs(wide)
        .write(&group.join("geopotential"), &days(30, 1_204_551_087));
}

fn sentinel2(group: &Path) {
    let band = |codecs: Value| {
        Array::new(&[10_980, 10_980], "uint16", json!(1000))
            .chunks(&[1024, 1024])
            .codecs(codecs)
            .dimensions(&["y", "x"])
    };
    let shifted = || {
        json!([
            {"name": "scale_offset", "configuration": {"offset": 1000}},
            {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "clamp"}},
        ])
    };
    for (name, bytes) in [("b02", 612_300), ("b03", 640_112), ("b04", 655_209)] {
        band(shifted()).write(&group.join(name), &grid(11, bytes));
    }
    let transposed = json!([
        {"name": "scale_offset", "configuration": {"offset": 1000}},
        {"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "clamp"}},
    ]);
    band(transposed).write(&group.join("b08"), &grid(11, 701_993));
    Array::new(&[10_980, 10_980], "uint8", json!(0))
        .chunks(&[2048, 2048])
        .write(&group.join("scl"), &grid(6, 80_114));
}

/// A group that was never converted from Zarr v2.
fn archive(group: &Path) {
    document(group, ".zgroup", &json!({"zarr_format": 2}));
    let mut array = json!({
        "zarr_format": 2, "shape": [HOURS, 73, 144], "chunks": [HOURS, 73, 144], "dtype": ">f4", "order": "C",
        "fill_value": "NaN", "compressor": {"id": "zlib", "level": 6},
        "filters": [{"id": "fixedscaleoffset", "dtype": ">f4", "astype": ">i2", "offset": 250.0, "scale": 50}],
    });
    let names = json!({"_ARRAY_DIMENSIONS": ["time", "lat", "lon"]});
    let directory = group.join("t850");
    document(&directory, ".zarray", &array);
    document(&directory, ".zattrs", &names);
    sparse(&directory.join("0.0.0"), 8_800_345);
    array["shape"] = json!([HOURS]);
    array["chunks"] = json!([HOURS]);
    array["filters"] = json!(null);
    array["dtype"] = json!("<M8[h]");
    array["fill_value"] = json!(0);
    let directory = group.join("time");
    document(&directory, ".zarray", &array);
    sparse(&directory.join("0"), 1_306);
}

/// A v3 array that is being described.
struct Array {
    document: Value,
    codecs: Vec<Value>,
    inner: Option<Vec<u64>>,
}

impl Array {
    /// An array in one chunk.
    fn new(shape: &[u64], data_type: &str, fill: Value) -> Self {
        Self {
            document: json!({
                "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            }),
            codecs: Vec::new(),
            inner: None,
        }
    }

    fn chunks(mut self, shape: &[u64]) -> Self {
        self.document["chunk_grid"]["configuration"]["chunk_shape"] = json!(shape);
        self
    }

    fn inner(mut self, shape: &[u64]) -> Self {
        self.inner = Some(shape.to_vec());
        self
    }

    fn codecs(mut self, codecs: Value) -> Self {
        self.codecs = codecs.as_array().unwrap().clone();
        self
    }

    fn dimensions(mut self, names: &[&str]) -> Self {
        self.document["dimension_names"] = json!(names);
        self
    }

    /// Writes the document, and chunks by their number in the first dimensions.
    fn write(mut self, directory: &Path, chunks: &[(u64, u64)]) {
        let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
        let zstd = json!({"name": "zstd", "configuration": {"level": 3, "checksum": false}});
        self.codecs.extend([bytes.clone(), zstd]);
        self.document["codecs"] = match &self.inner {
            None => json!(self.codecs),
            Some(shape) => json!([{"name": "sharding_indexed", "configuration": {
                "chunk_shape": shape, "codecs": self.codecs, "index_codecs": [bytes, {"name": "crc32c"}],
            }}]),
        };
        document(directory, "zarr.json", &self.document);
        let shape = &self.document["shape"];
        let chunk_shape = &self.document["chunk_grid"]["configuration"]["chunk_shape"];
        let lengths = shape
            .as_array()
            .unwrap()
            .iter()
            .zip(chunk_shape.as_array().unwrap());
        let grid: Vec<u64> = lengths
            .map(|(length, chunk)| length.as_u64().unwrap().div_ceil(chunk.as_u64().unwrap()))
            .collect();
        for &(number, bytes) in chunks {
            let mut rest = number;
            let mut index: Vec<String> = Vec::new();
            for length in grid.iter().rev() {
                index.insert(0, (rest % length).to_string());
                rest /= length;
            }
            sparse(&directory.join("c").join(index.join("/")), bytes);
        }
    }
}

/// Chunks of days, whose lengths differ a little.
fn days(count: u64, bytes: u64) -> Vec<(u64, u64)> {
    (0..count).map(|day| (day, bytes + 997 * day)).collect()
}

/// The chunks of a square.
fn grid(side: u64, bytes: u64) -> Vec<(u64, u64)> {
    days(side * side, bytes)
}

fn document(directory: &Path, name: &str, contents: &Value) {
    fs::create_dir_all(directory).unwrap();
    let text = serde_json::to_string_pretty(contents).unwrap();
    fs::write(directory.join(name), text).unwrap();
}

/// A file that has a length and takes no room.
fn sparse(path: &Path, length: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().set_len(length).unwrap();
}
