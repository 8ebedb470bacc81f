//! The type that `suggest-params` finds: the narrowest that holds the values, with scales and offsets that readers open.

use serde_json::{Value, json};

use crate::harness::Sandbox;
use crate::suggest_params::{best, floats, plan, refused, spread, write};

/// Writes an array of one chunk.
fn store(sandbox: &Sandbox, name: &str, data_type: &str, fill: Value, elements: &[Vec<u8>]) {
    let place = sandbox.path().join(name);
    write(&place, data_type, fill, elements.len(), elements);
}

fn largest_error(candidate: &Value) -> f64 {
    candidate["measured"]["max_error"].as_f64().unwrap()
}

#[test]
fn a_scale_between_the_coarsest_and_the_finest_saves_the_narrow_type() {
    let sandbox = Sandbox::new();
    // 50 codes for each unit would do but for the rounding of float32; (x - 300.5) * 60 is within 0.00834.
    let values = floats(spread(298.5, 302.5, 4000));
    store(&sandbox, "k.zarr", "float32", json!("NaN"), &values);
    let (_, candidate) = best(&sandbox, "k.zarr --max-error 0.01");
    assert_eq!(candidate["data_type"], "int8");
    assert!(largest_error(&candidate) <= 0.01);

    let values = floats(spread(281.78, 318.2, 4000));
    store(&sandbox, "n.zarr", "float32", json!("NaN"), &values);
    let (_, candidate) = best(&sandbox, "n.zarr --max-error 0.00042");
    assert!(candidate["data_type"].as_str().unwrap().ends_with("int16"));
    assert!(largest_error(&candidate) <= 0.00042);
}

#[test]
fn zero_stays_zero_in_a_type_with_hardly_enough_codes() {
    let sandbox = Sandbox::new();
    let values = floats(spread(0.0, 9842.0, 4000));
    store(&sandbox, "z.zarr", "float32", json!("NaN"), &values);
    for to in ["", "--to int16"] {
        let arguments = format!("z.zarr --max-error 0.079 {to}");
        let (array, candidate) = best(&sandbox, &arguments);
        let stored = candidate["data_type"].as_str().unwrap();
        assert!(stored.ends_with("int16"), "{arguments}: {stored}");
        assert!(largest_error(&candidate) <= 0.079, "{arguments}");
        sandbox.file("codecs.json", array["codecs"].to_string());
        let stream = |command: &str, input: &str| {
            let arguments = [
                command,
                "-",
                "-",
                "--dtype",
                "float32",
                "--codecs",
                "@codecs.json",
            ];
            sandbox.run_with(arguments, input).stdout
        };
        let back = stream("decode", &stream("encode", "0\n"));
        assert_eq!(back.trim().parse::<f32>(), Ok(0.0), "{arguments}");
    }
}

#[test]
fn a_type_that_only_rounding_keeps_out_is_said_to_be() {
    let sandbox = Sandbox::new();
    // Steps of 0.0154 are 195 codes, but floats are 0.0078 apart, so that there is no error below that but none.
    let values = floats(spread(100_000.0, 100_003.0, 4000));
    store(&sandbox, "r.zarr", "float32", json!("NaN"), &values);
    let (array, candidate) = best(&sandbox, "r.zarr --max-error 0.0077");
    assert_ne!(candidate["data_type"], "int8");
    let rejected = array["rejected"].as_array().unwrap();
    assert!(
        rejected.iter().any(|one| one["data_type"] == "int8"),
        "{rejected:?}"
    );
}

#[test]
fn few_values_may_need_fewer_codes_than_their_range() {
    let sandbox = Sandbox::new();
    // 257 codes if values were everywhere, and 255 are left beside that of NaN.
    let values = floats([0.2537, 7.1113, 15.7413]);
    store(&sandbox, "few.zarr", "float32", json!("NaN"), &values);
    let (_, candidate) = best(&sandbox, "few.zarr --max-error 0.0302");
    assert_eq!(candidate["data_type"], "int8");
    assert!(largest_error(&candidate) <= 0.0302);
}

#[test]
fn no_relative_error_is_promised_next_to_zero_without_data() {
    let sandbox = Sandbox::new();
    for range in ["-186 187", "0 187", "-186 0"] {
        for to in ["", "--to int32", "--to float16"] {
            let arguments = format!("--range {range} --relative-error 0.0042 {to}");
            let outcome = refused(&sandbox, &arguments);
            assert!(outcome.stderr.contains("next to zero"), "{outcome}");
            assert!(outcome.stderr.contains("--max-error"), "{outcome}");
        }
    }
    best(&sandbox, "--range 100 187 --relative-error 0.0042");
    best(
        &sandbox,
        "--range -186 187 --relative-error 0.0042 --to float64",
    );
    // Data are what they are.
    let values = floats(spread(-186.0, 187.0, 1000).filter(|x| x.abs() > 10.0));
    store(&sandbox, "d.zarr", "float32", json!("NaN"), &values);
    best(&sandbox, "d.zarr --relative-error 0.0042");
}

#[test]
fn integers_at_the_end_of_their_type_are_shifted_within_it() {
    let sandbox = Sandbox::new();
    for (data_type, least, size) in [
        ("int16", i64::from(i16::MIN), 2),
        ("int32", i64::from(i32::MIN), 4),
        ("int64", i64::MIN, 8),
    ] {
        for fill in [least, 0] {
            let values = (0..=100).map(|k| (least + k).to_le_bytes()[..size].to_vec());
            let values: Vec<_> = values.collect();
            store(&sandbox, "i.zarr", data_type, json!(fill), &values);
            let (array, candidate) = best(&sandbox, "i.zarr --max-error 0");
            let stored = candidate["data_type"].as_str().unwrap();
            assert!(stored.ends_with("int8"), "{data_type} {fill}: {stored}");
            let codecs = array["codecs"].as_array().unwrap();
            assert_eq!(codecs[0]["name"], "scale_offset", "{data_type} {fill}");
            let offset = codecs[0]["configuration"]["offset"].as_i64().unwrap();
            assert!(offset >= least, "{data_type} {fill}: {offset}");
            let notes = array["notes"].to_string();
            assert!(
                !notes.contains("does not open"),
                "{data_type} {fill}: {notes}"
            );
            std::fs::remove_dir_all(sandbox.path().join("i.zarr")).unwrap();
        }
    }
}

#[test]
fn a_range_wider_than_the_largest_double_gets_a_scale() {
    let sandbox = Sandbox::new();
    let values: Vec<_> = [-1.7e308_f64, 1.7e308, 1e308]
        .map(|x| x.to_le_bytes().to_vec())
        .to_vec();
    store(&sandbox, "w.zarr", "float64", json!("NaN"), &values);
    let (_, candidate) = best(&sandbox, "w.zarr --to int16");
    assert!(largest_error(&candidate) < 3e303, "{candidate}");
    best(&sandbox, "w.zarr --max-error 1e304");
}

#[test]
fn what_a_chain_decoded_in_float32_is_packed_again_without_loss() {
    let sandbox = Sandbox::new();
    for (offset, scale) in [
        (273.15_f32, 100.0_f32),
        (-90.0, 100.0),
        (-12.3, 40.0),
        (1000.0, 128.0),
    ] {
        let code = |k: i32| ((k * 7919) % 10_000 - 2315) as f32;
        let values = floats((0..3000).map(|k| code(k) / scale + offset));
        store(&sandbox, "p.zarr", "float32", json!("NaN"), &values);
        let plan = plan(&sandbox, "p.zarr --lossless");
        let candidate = &plan["arrays"][0]["candidates"][0];
        let stored = candidate["data_type"].as_str().unwrap();
        assert!(stored.ends_with("int16"), "{offset}: {stored}");
        assert_eq!(largest_error(candidate), 0.0, "{offset}");
        std::fs::remove_dir_all(sandbox.path().join("p.zarr")).unwrap();
    }
}
