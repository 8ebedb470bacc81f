//! `zarrpack decode --format csv`: columns of coordinates.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::stores::{Array, succeeds};

/// A group with an array of time, latitude and a third dimension that has no coordinate.
fn grid() -> Sandbox {
    let sandbox = Sandbox::new();
    let values: Vec<u8> = (0..12_i16).flat_map(i16::to_le_bytes).collect();
    Array::new("int16", &[2, 3, 2])
        .dimensions(&["time", "lat", "band"])
        .chunk("c/0/0/0", values)
        .write(&sandbox, "in.zarr/g/t2m");
    Array::new("int64", &[2])
        .dimensions(&["time"])
        .chunk("c/0", [17_i64, 18].map(i64::to_le_bytes).concat())
        .write(&sandbox, "in.zarr/g/time");
    Array::new("float32", &[3])
        .chunks(&[2])
        .dimensions(&["lat"])
        .fill(json!("NaN"))
        .chunk("c/0", [89.9_f32, 0.1].map(f32::to_le_bytes).concat())
        .write(&sandbox, "in.zarr/g/lat");
    // Of another length, in another group, of two dimensions: no coordinate of a dimension.
    Array::new("int64", &[3])
        .dimensions(&["band"])
        .write(&sandbox, "in.zarr/g/band");
    Array::new("int64", &[2])
        .dimensions(&["band"])
        .write(&sandbox, "in.zarr/band");
    for group in ["in.zarr", "in.zarr/g"] {
        let text = r#"{"zarr_format": 3, "node_type": "group"}"#;
        sandbox.file(&format!("{group}/zarr.json"), text);
    }
    sandbox
}

#[test]
fn dimensions_have_their_coordinates() {
    let sandbox = grid();
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array g/t2m --format csv"), @"
    exit: 0
    --- stdout
    time,lat,dim_2,value
    17,89.9,0,0
    17,89.9,1,1
    17,0.1,0,2
    17,0.1,1,3
    17,NaN,0,4
    17,NaN,1,5
    18,89.9,0,6
    18,89.9,1,7
    18,0.1,0,8
    18,0.1,1,9
    18,NaN,0,10
    18,NaN,1,11
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array g/t2m --format csv --region 1,1:,0"), @"
    exit: 0
    --- stdout
    time,lat,dim_2,value
    18,0.1,0,8
    18,NaN,0,10
    ");
    // Asked for by itself, an array has the same neighbours.
    let whole = sandbox
        .run("decode in.zarr - --array g/t2m --format csv")
        .stdout;
    assert_eq!(
        sandbox
            .run("decode in.zarr/g - --array t2m --format csv")
            .stdout,
        whole
    );
    assert_eq!(
        sandbox.run("decode in.zarr/g/t2m - --format csv").stdout,
        whole
    );
    for flags in ["-j1 --memory 1", "-j8"] {
        let line = format!("decode in.zarr - --array g/t2m --format csv {flags} -qq");
        assert_eq!(sandbox.run(&line).stdout, whole, "{flags}");
    }
    // A coordinate is not its own coordinate.
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array g/time --format csv"), @"
    exit: 0
    --- stdout
    dim_0,value
    0,17
    1,18
    ");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array band --format csv --region :1"), @"
    exit: 0
    --- stdout
    dim_0,value
    0,0
    ");
}

#[test]
fn coordinates_are_unpacked_like_values() {
    let sandbox = grid();
    let path = sandbox.path().join("in.zarr/g/time/zarr.json");
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    document["attributes"] = json!({"scale_factor": 0.5});
    fs::write(&path, document.to_string()).unwrap();
    let line = "decode in.zarr - --array g/t2m --format csv --region :,0,0";
    insta::assert_snapshot!(sandbox.run(&format!("{line} --cf")), @"
    exit: 0
    --- stdout
    time,lat,dim_2,value
    8.5,89.9,0,0
    9.0,89.9,0,6
    ");
    insta::assert_snapshot!(sandbox.run(line), @"
    exit: 0
    --- stdout
    time,lat,dim_2,value
    17,89.9,0,0
    18,89.9,0,6
    ");
}

#[test]
fn a_coordinate_that_cannot_be_used_gives_way_to_the_index() {
    let sandbox = grid();
    let path = sandbox.path().join("in.zarr/g/time/zarr.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"bytes\"", "\"nonsense\"")).unwrap();
    sandbox.file("in.zarr/g/lat/zarr.json", "{}");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array g/t2m --format csv --region :,0,0"), @r#"
    exit: 0
    --- stdout
    dim_0,dim_1,dim_2,value
    0,0,0,0
    1,0,0,6

    --- stderr
    warning: 2 problems with metadata
    warning: g/lat: zarr.json, line 1 column 1, /zarr_format: expected a member "zarr_format", found nothing
    warning: g/lat: zarr.json, line 1 column 1, /node_type: expected a member "node_type", found nothing
    warning: g/t2m: the column of dimension "time" has indices, since g/time cannot be decoded; zarr.json, line 21 column 5, /codecs/0: the codec "nonsense", which is not known
    warning: g/t2m: the column of dimension "lat" has indices, since g/lat is not sound
    "#);
    // One whose chunk is cut short is no reason to print something else than was asked for.
    fs::write(&path, text).unwrap();
    fs::write(sandbox.path().join("in.zarr/g/time/c/0"), [0; 3]).unwrap();
    let outcome = sandbox.run("decode in.zarr - --array g/t2m --format csv -qq");
    assert_eq!((outcome.exit, outcome.stdout.as_str()), (Some(1), ""));
}

#[test]
fn names_are_quoted_and_never_stand_twice() {
    let sandbox = Sandbox::new();
    let name = "a,\"b\"";
    Array::new("int8", &[1, 1, 1, 1])
        .dimensions(&["x", name, "x", "value"])
        .chunk("c/0/0/0/0", [5])
        .write(&sandbox, "in.zarr/v");
    for name in ["x", name, "value"] {
        Array::new("int8", &[1])
            .dimensions(&[name])
            .chunk("c/0", [7])
            .write(&sandbox, &format!("in.zarr/{name}"));
    }
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --array v --format csv"), @r#"
    exit: 0
    --- stdout
    dim_0,"a,""b""",dim_2,dim_3,value
    0,7,0,0,5
    "#);
}

#[test]
fn complex_values_are_one_field() {
    let sandbox = Sandbox::new();
    Array::new("complex64", &[1])
        .fill(json!([0, 0]))
        .chunk("c/0", [1.5_f32, f32::NAN].map(f32::to_le_bytes).concat())
        .write(&sandbox, "in.zarr");
    insta::assert_snapshot!(sandbox.run("decode in.zarr - --format csv"), @r#"
    exit: 0
    --- stdout
    dim_0,value
    0,"[1.5, ""NaN""]"
    "#);
}

#[test]
fn the_report_names_the_columns() {
    let sandbox = grid();
    succeeds(
        &sandbox.run("decode in.zarr - --array g/t2m --format csv --region 0,:,: --report r.json"),
    );
    let report: Value =
        serde_json::from_slice(&fs::read(sandbox.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(report["form"], "csv");
    assert_eq!(
        report["arrays"][0]["columns"],
        json!([
            {"name": "time", "coordinate": "g/time"},
            {"name": "lat", "coordinate": "g/lat"},
            {"name": "dim_2", "coordinate": null},
        ])
    );
    assert_eq!(
        report["arrays"][0]["region"],
        json!([[0, 1], [0, 3], [0, 2]])
    );
}
