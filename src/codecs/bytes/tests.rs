use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::codecs::vectors::{Vector, vectors};

fn codec(metadata: &MetadataV3) -> Arc<dyn BytesToBytesCodecTraits> {
    match create(metadata).unwrap() {
        Codec::BytesToBytes(codec) => codec,
        _ => panic!("{metadata:?}"),
    }
}

fn named(name: &str) -> Arc<dyn BytesToBytesCodecTraits> {
    codec(&MetadataV3::new(name))
}

fn decode(
    codec: &dyn BytesToBytesCodecTraits,
    encoded: &[u8],
    room: BytesRepresentation,
) -> Result<Vec<u8>, String> {
    let decoded = codec.decode(Cow::Borrowed(encoded), &room, &CodecOptions::default());
    decoded
        .map(Cow::into_owned)
        .map_err(|error| error.to_string())
}

fn exactly(bytes: &[u8]) -> BytesRepresentation {
    BytesRepresentation::FixedSize(bytes.len() as u64)
}

fn on_bytes() -> Vec<Vector> {
    let mut vectors = vectors();
    vectors.retain(|vector| vector.types.is_none());
    vectors
}

#[test]
fn bytes_of_numcodecs_decode() {
    let vectors = on_bytes();
    assert!(vectors.len() > 70, "{}", vectors.len());
    for vector in &vectors {
        assert!(knows(vector.metadata.name()), "{:?}", vector.metadata);
        let codec = codec(&vector.metadata);
        let decoded = decode(&*codec, &vector.encoded, exactly(&vector.decoded));
        assert_eq!(
            decoded.as_ref(),
            Ok(&vector.decoded),
            "{:?}",
            vector.metadata
        );
        let roomy = BytesRepresentation::BoundedSize(vector.decoded.len() as u64 + 100);
        let decoded = decode(&*codec, &vector.encoded, roomy);
        assert_eq!(
            decoded.as_ref(),
            Ok(&vector.decoded),
            "{:?}",
            vector.metadata
        );
    }
}

#[test]
fn sizes_are_exact_where_they_can_be() {
    for vector in on_bytes() {
        let encoded = codec(&vector.metadata).encoded_representation(&exactly(&vector.decoded));
        if let BytesRepresentation::FixedSize(size) = encoded {
            assert_eq!(size, vector.encoded.len() as u64, "{:?}", vector.metadata);
        }
    }
}

#[test]
fn nothing_is_decoded_into_too_little_room() {
    for vector in on_bytes() {
        let room = BytesRepresentation::BoundedSize(vector.decoded.len() as u64 - 1);
        let error = decode(&*codec(&vector.metadata), &vector.encoded, room).unwrap_err();
        assert!(error.contains("due"), "{:?}: {error}", vector.metadata);
    }
}

/// Whatever comes out has the length that is due, and nothing panics.
fn bear(codec: &dyn BytesToBytesCodecTraits, bytes: &[u8], due: usize) -> bool {
    match decode(codec, bytes, BytesRepresentation::FixedSize(due as u64)) {
        Ok(decoded) => {
            assert_eq!(decoded.len(), due);
            true
        }
        Err(_) => false,
    }
}

#[test]
fn cut_bytes_never_panic() {
    for vector in on_bytes() {
        let codec = codec(&vector.metadata);
        for cut in 0..vector.encoded.len() {
            let accepted = bear(&*codec, &vector.encoded[..cut], vector.decoded.len());
            assert!(!accepted, "{:?} cut to {cut}", vector.metadata);
        }
    }
}

#[test]
fn flipped_bits_never_panic() {
    for vector in on_bytes() {
        let codec = codec(&vector.metadata);
        let mut bytes = vector.encoded.clone();
        for bit in 0..bytes.len() * 8 {
            // Every bit of what may be a header, some of the rest.
            if bit > 64 * 8 && bit % 13 != 0 {
                continue;
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
            bear(&*codec, &bytes, vector.decoded.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn flipped_bits_show_under_a_checksum() {
    for vector in on_bytes() {
        let name = plain(vector.metadata.name());
        if !["crc32", "adler32", "fletcher32", "jenkins_lookup3"].contains(&name) {
            continue;
        }
        let codec = codec(&vector.metadata);
        for bit in 0..vector.encoded.len() * 8 {
            let mut bytes = vector.encoded.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let error = decode(&*codec, &bytes, exactly(&vector.decoded)).unwrap_err();
            assert!(error.starts_with("the checksum"), "{error}");
        }
    }
}

#[test]
fn bombs_are_left_alone() {
    const SIZE: usize = 16 << 20;
    let zeros = vec![0; SIZE];
    let best = flate2::Compression::best();
    let bombs = [
        ("gzip", {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), best);
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }),
        ("numcodecs.zlib", {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), best);
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }),
        ("numcodecs.bz2", {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }),
        ("zstd", zstd::encode_all(&zeros[..], 3).unwrap()),
        ("numcodecs.lzma", {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 6);
            encoder.write_all(&zeros).unwrap();
            encoder.finish().unwrap()
        }),
        ("numcodecs.lz4", {
            let mut encoded = u32::try_from(SIZE).unwrap().to_le_bytes().to_vec();
            encoded.extend(lz4_flex::block::compress(&zeros));
            encoded
        }),
        ("blosc", {
            let configuration =
                json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "blocksize": 0});
            let configuration = configuration.as_object().unwrap().clone();
            let blosc = codec(&MetadataV3::new_with_configuration("blosc", configuration));
            let encoded = blosc.encode(Cow::Borrowed(&zeros), &CodecOptions::default());
            encoded.unwrap().into_owned()
        }),
    ];
    for (name, bomb) in bombs {
        let codec = named(name);
        let start = Instant::now();
        let room = BytesRepresentation::FixedSize(1 << 20);
        let error = decode(&*codec, &bomb, room).unwrap_err();
        assert!(error.contains("due"), "{name}: {error}");
        assert!(
            start.elapsed() < Duration::from_secs(1),
            "{name}: {:?}",
            start.elapsed()
        );
        let whole = decode(&*codec, &bomb, BytesRepresentation::FixedSize(SIZE as u64)).unwrap();
        assert!(whole == zeros, "{name}");
    }
}

#[test]
fn announced_sizes_are_not_believed() {
    let due = BytesRepresentation::FixedSize(1 << 30);
    // A gibibyte of LZ4 in five bytes.
    let mut lz4 = (1_u32 << 30).to_le_bytes().to_vec();
    lz4.push(0);
    let error = decode(&*named("numcodecs.lz4"), &lz4, due).unwrap_err();
    assert!(error.contains("cannot hold"), "{error}");
    // A gibibyte of Blosc without blocks.
    let mut blosc = vec![2, 1, 0x21, 4];
    for size in [1_u32 << 30, 1 << 20, 20] {
        blosc.extend(size.to_le_bytes());
    }
    blosc.extend([0; 4]);
    let error = decode(&*named("blosc"), &blosc, due).unwrap_err();
    assert!(error.contains("table of 1024 Blosc blocks"), "{error}");
}

#[test]
fn members_of_gzip_follow_each_other() {
    let member = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let both = [member(b"zarr"), member(b"pack")].concat();
    let decoded = decode(&*named("gzip"), &both, BytesRepresentation::FixedSize(8));
    assert_eq!(decoded.unwrap(), b"zarrpack");
}

#[test]
fn configurations_that_decoding_needs_are_checked() {
    for (name, configuration) in [
        ("numcodecs.shuffle", json!({"elementsize": -1})),
        ("numcodecs.crc32", json!({"location": "middle"})),
        (
            "numcodecs.jenkins_lookup3",
            json!({"initval": 4_294_967_296_u64}),
        ),
        (
            "numcodecs.jenkins_lookup3",
            json!({"initval": 0, "prefix": [1]}),
        ),
        ("numcodecs.lzma", json!({"format": 3})),
        (
            "numcodecs.lzma",
            json!({"format": 3, "filters": [{"id": 99}]}),
        ),
    ] {
        let configuration = configuration.as_object().unwrap().clone();
        let metadata = MetadataV3::new_with_configuration(name, configuration);
        assert!(create(&metadata).is_err(), "{metadata:?}");
    }
    for (name, configuration) in [
        ("numcodecs.zlib", json!({"level": "eleven"})),
        ("blosc", json!({"cname": "lz5"})),
    ] {
        let configuration = configuration.as_object().unwrap().clone();
        let metadata = MetadataV3::new_with_configuration(name, configuration);
        assert!(create(&metadata).is_ok(), "{metadata:?}");
    }
}

#[test]
fn zarrs_still_encodes() {
    for name in ["gzip", "numcodecs.zlib", "bz2", "zstd"] {
        let configuration = json!({"level": 1, "checksum": false});
        let mut configuration = configuration.as_object().unwrap().clone();
        if name != "zstd" {
            configuration.remove("checksum");
        }
        let codec = codec(&MetadataV3::new_with_configuration(name, configuration));
        let encoded = codec
            .encode(Cow::Borrowed(b"zarrpack"), &CodecOptions::default())
            .unwrap();
        let decoded = decode(&*codec, &encoded, BytesRepresentation::FixedSize(8));
        assert_eq!(decoded.unwrap(), b"zarrpack", "{name}");
    }
    // Without a level zarrs does not know how to encode.
    let error = named("numcodecs.zlib")
        .encode(Cow::Borrowed(b"zarrpack"), &CodecOptions::default())
        .unwrap_err();
    assert!(error.to_string().contains("not written"), "{error}");
}

/// What zarrs leaves to this project is written as numcodecs reads it: what comes back is what went in, and where the format
/// leaves no choice the bytes are those of numcodecs.
#[test]
fn what_is_written_is_what_numcodecs_reads() {
    let mut identical = 0;
    for vector in on_bytes() {
        let codec = codec(&vector.metadata);
        let name = plain(vector.metadata.name());
        let encoded = codec.encode(Cow::Borrowed(&vector.decoded), &CodecOptions::default());
        let Ok(encoded) = encoded else {
            assert!(!is_written(&vector.metadata), "{:?}", vector.metadata);
            continue;
        };
        let decoded = decode(&*codec, &encoded, exactly(&vector.decoded));
        assert_eq!(decoded, Ok(vector.decoded.clone()), "{:?}", vector.metadata);
        let sums = [
            "shuffle",
            "crc32",
            "crc32c",
            "adler32",
            "fletcher32",
            "jenkins_lookup3",
        ];
        if sums.contains(&name) {
            assert_eq!(*encoded, vector.encoded, "{:?}", vector.metadata);
            identical += 1;
        }
    }
    assert!(identical > 10, "{identical}");
}

#[test]
fn most_of_numcodecs_is_written() {
    for vector in on_bytes() {
        let name = vector.metadata.name();
        if ["zlib", "lz4", "bz2", "shuffle", "crc32", "lzma"].contains(&plain(name)) {
            let filtered = vector.metadata.configuration().is_some_and(|members| {
                members.get("format").and_then(serde_json::Value::as_u64) != Some(3)
                    && members
                        .get("filters")
                        .is_some_and(|filters| !filters.is_null())
            });
            assert!(
                filtered || is_written(&vector.metadata),
                "{:?}",
                vector.metadata
            );
        }
    }
}
