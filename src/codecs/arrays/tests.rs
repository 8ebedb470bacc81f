use serde_json::json;

use super::super::register_all;
use super::super::vectors::vectors;
use super::*;

fn codec(metadata: &MetadataV3) -> Arc<dyn ArrayToArrayCodecTraits> {
    register_all();
    match Codec::from_metadata(metadata).unwrap() {
        Codec::ArrayToArray(codec) => codec,
        _ => panic!("{metadata:?}"),
    }
}

fn named_type(name: &str) -> ZarrsType {
    ZarrsType::from_metadata(&MetadataV3::new(name)).unwrap()
}

fn shape(elements: usize) -> [NonZeroU64; 1] {
    [NonZeroU64::new(elements as u64).unwrap()]
}

/// Decodes elements; the fill plays no part.
fn decode(
    metadata: &MetadataV3,
    encoded: &[u8],
    elements: usize,
    decoded: &ZarrsType,
) -> Result<Vec<u8>, String> {
    let fill = FillValue::new(vec![0; decoded.fixed_size().unwrap()]);
    let bytes = ArrayBytes::from(encoded.to_vec());
    let options = CodecOptions::default();
    let decoded = codec(metadata).decode(bytes, &shape(elements), decoded, &fill, &options);
    let bytes = decoded.and_then(|bytes| Ok(bytes.into_fixed()?.into_owned()));
    bytes.map_err(|error| error.to_string())
}

/// Elements with every NaN made the same one, if they are floats.
fn canonical(bytes: &[u8], data_type: &str) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if data_type == "float32" {
        for element in bytes.as_chunks_mut::<4>().0 {
            if f32::from_ne_bytes(*element).is_nan() {
                *element = f32::NAN.to_ne_bytes();
            }
        }
    }
    bytes
}

fn metadata(name: &str, configuration: serde_json::Value) -> MetadataV3 {
    MetadataV3::new_with_configuration(name, configuration.as_object().unwrap().clone())
}

#[test]
fn arrays_of_numcodecs_decode() {
    let mut compared = 0;
    for vector in vectors() {
        let Some((dtype, astype)) = &vector.types else {
            continue;
        };
        let decoded_type = named_type(dtype);
        let elements = vector.decoded.len() / decoded_type.fixed_size().unwrap();
        let made = codec(&vector.metadata);
        assert_eq!(
            made.encoded_data_type(&decoded_type).unwrap(),
            named_type(astype),
            "{:?}",
            vector.metadata
        );
        let decoded = decode(&vector.metadata, &vector.encoded, elements, &decoded_type);
        let decoded = decoded.unwrap_or_else(|error| panic!("{:?}: {error}", vector.metadata));
        assert_eq!(
            canonical(&decoded, dtype),
            canonical(&vector.decoded, dtype),
            "{:?}",
            vector.metadata
        );
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn wrong_sizes_are_refused() {
    let int32 = named_type("int32");
    for (name, configuration, data_type) in [
        ("numcodecs.delta", json!({"dtype": "<i4"}), &int32),
        (
            "numcodecs.astype",
            json!({"encode_dtype": "<i2", "decode_dtype": "<i4"}),
            &int32,
        ),
        ("numcodecs.packbits", json!({}), &named_type("bool")),
    ] {
        let metadata = metadata(name, configuration);
        for length in [0, 1, 5, 7, 9] {
            assert!(
                decode(&metadata, &vec![0; length], 100, data_type).is_err(),
                "{name} {length}"
            );
        }
    }
}

#[test]
fn types_that_do_not_fit_are_refused() {
    let float32 = named_type("float32");
    for (name, configuration) in [
        ("numcodecs.delta", json!({"dtype": "<i4"})),
        ("numcodecs.delta", json!({"dtype": "<M8[ns]"})),
        (
            "numcodecs.astype",
            json!({"encode_dtype": "<i2", "decode_dtype": "<f8"}),
        ),
        ("numcodecs.quantize", json!({"dtype": "<f8", "digits": 2})),
    ] {
        register_all();
        let created = Codec::from_metadata(&metadata(name, configuration.clone()));
        let refused = match created {
            Ok(Codec::ArrayToArray(codec)) => codec.encoded_data_type(&float32).is_err(),
            Ok(_) => false,
            Err(_) => true,
        };
        assert!(refused, "{name} {configuration}");
    }
    let floats_for_integers = metadata("numcodecs.delta", json!({"dtype": "<i4", "astype": "<f4"}));
    assert!(
        codec(&floats_for_integers)
            .encoded_data_type(&named_type("int32"))
            .is_err()
    );
    assert!(
        codec(&metadata("numcodecs.packbits", json!({})))
            .encoded_data_type(&float32)
            .is_err()
    );
}

#[test]
fn casts_that_c_leaves_open_are_refused() {
    let metadata = metadata(
        "numcodecs.astype",
        json!({"encode_dtype": "<f8", "decode_dtype": "|u1"}),
    );
    let uint8 = named_type("uint8");
    for value in [256.0, -1.0, f64::NAN, f64::INFINITY] {
        let encoded = [1.0_f64.to_ne_bytes(), value.to_ne_bytes()].concat();
        let error = decode(&metadata, &encoded, 2, &uint8).unwrap_err();
        assert!(error.starts_with("element 1 of the chunk"), "{error}");
    }
}

#[test]
fn the_fill_is_handed_on_cast() {
    let metadata = metadata("numcodecs.delta", json!({"dtype": "<i4", "astype": "|i1"}));
    let fill = FillValue::from(300_i32);
    let encoded = codec(&metadata)
        .encoded_fill_value(&named_type("int32"), &fill)
        .unwrap();
    assert_eq!(encoded.as_ne_bytes(), [44]);
}
