//! Headers against those that NumPy wrote.

use std::fs;
use std::path::Path;

use super::*;

fn file(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/npy");
    fs::read(directory.join(format!("{name}.npy"))).unwrap()
}

fn read(bytes: &[u8]) -> Result<Header, NpyError> {
    Header::read(&mut &bytes[..])
}

/// A file of version 1 with the given header.
fn with_header(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap();
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[test]
fn headers_of_all_types_are_written_as_numpy_writes_them() {
    for element in ElementType::ALL {
        let bytes = file(element.zarr_name());
        let header = Header::new(element, ByteOrder::Little, vec![2]);
        let written = header.to_bytes().unwrap();
        assert_eq!(written, bytes[..128], "{element:?}");
        assert_eq!(bytes.len() - 128, header.data_length().unwrap() as usize);
        let byte_order = match element.size() {
            1 => ByteOrder::NATIVE,
            _ => ByteOrder::Little,
        };
        assert_eq!(
            read(&bytes).unwrap(),
            Header {
                byte_order,
                ..header
            }
        );
        assert_eq!(
            ElementType::from_zarr_name(element.zarr_name()),
            Ok(element)
        );
    }
}

#[test]
fn headers_of_all_shapes_are_written_as_numpy_writes_them() {
    for (name, shape) in [
        ("scalar", vec![]),
        ("empty", vec![3, 0, 2]),
        ("big_endian", vec![3]),
        ("fortran", vec![2, 3]),
        ("rank64", vec![1; 64]),
        ("aligned", read(&file("aligned")).unwrap().shape),
    ] {
        let bytes = file(name);
        let header = read(&bytes).unwrap();
        assert_eq!(header.shape, shape, "{name}");
        assert_eq!(header.fortran_order, name == "fortran");
        let written = header.to_bytes().unwrap();
        assert_eq!(written.len() % 64, 0);
        assert_eq!(
            written.len() as u64 + header.data_length().unwrap(),
            bytes.len() as u64
        );
        assert!(bytes.starts_with(&written), "{name}");
    }
    assert_eq!(
        read(&file("big_endian")).unwrap().byte_order,
        ByteOrder::Big
    );
}

#[test]
fn the_reader_is_left_at_the_first_element_in_all_versions() {
    for version in ["int32", "version2", "version3"] {
        let bytes = file(version);
        let mut rest = &bytes[..];
        let header = Header::read(&mut rest).unwrap();
        assert_eq!(header.element, ElementType::Int32);
        assert_eq!(rest[..8], [0, 0, 0, 0, 1, 0, 0, 0], "{version}");
    }
}

#[test]
fn types_of_one_side_only_are_named() {
    for name in ["int4", "uint2", "bfloat16", "float8_e4m3", "string"] {
        let error = ElementType::from_zarr_name(name).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    for (name, said) in [
        ("datetime64", "\"<M8[ns]\""),
        ("structured", "\"structured\""),
        ("text", "\"<U2\""),
    ] {
        let error = read(&file(name)).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}");
    }
}

#[test]
fn python_is_understood_in_other_spellings_too() {
    for text in [
        "{'descr':'<f4','fortran_order':False,'shape':(3,)}",
        "{\"shape\": (3L,), \"fortran_order\": False, \"descr\": \"<f4\"}\n",
        " { 'shape' : ( 3 , ) , 'descr' : '<f4' , 'fortran_order' : False , } ",
    ] {
        let header = read(&with_header(text)).unwrap();
        assert_eq!(
            header,
            Header::new(ElementType::Float32, ByteOrder::Little, vec![3]),
            "{text}"
        );
    }
}

#[test]
fn what_is_no_header_is_refused() {
    let sound = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    for (found, replacement) in [
        ("(3,)", "(3)"),
        ("(3,)", "[3]"),
        ("(3,)", "(-3,)"),
        ("(3,)", "(3.0,)"),
        ("(3,)", "(18446744073709551616,)"),
        ("(3,)", "(,)"),
        ("False", "0"),
        ("'<f4'", "'<f4"),
        ("'<f4'", "'<\\x66'"),
        ("'<f4'", "4"),
        ("'descr'", "'dtype'"),
        ("'shape'", "'descr'"),
        ("}", ""),
        ("}", "} #"),
        ("{", "("),
        (sound, ""),
        (sound, "{}"),
    ] {
        let text = sound.replace(found, replacement);
        let outcome = read(&with_header(&text));
        assert!(
            matches!(outcome, Err(NpyError::Syntax { .. })),
            "{text}: {outcome:?}"
        );
    }
    assert!(matches!(read(b"PK\x03\x04........"), Err(NpyError::NotNpy)));
    assert!(matches!(
        read(b"\x93NUMPY\x04\x00...."),
        Err(NpyError::Version(4, 0))
    ));
}

#[test]
fn hostile_headers_cost_nothing() {
    let long = b"\x93NUMPY\x02\x00\xff\xff\xff\xff{";
    assert!(matches!(read(long), Err(NpyError::TooLong(0xffff_ffff))));
    let deep = "(".repeat(60_000);
    assert!(matches!(
        read(&with_header(&deep)),
        Err(NpyError::Syntax { .. })
    ));
    let shape = |shape: &str| {
        read(&with_header(&format!(
            "{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape})}}"
        )))
    };
    assert!(matches!(
        shape(&"1, ".repeat(10_000)),
        Err(NpyError::Syntax { .. })
    ));
    let huge = shape("4294967296, 4294967296");
    assert!(matches!(huge, Err(NpyError::Size(_))));
    assert_eq!(
        shape("18446744073709551615, 9, 0")
            .unwrap()
            .data_length()
            .unwrap(),
        0
    );
}

#[test]
fn cut_or_changed_anywhere_a_header_is_read_or_refused() {
    let bytes = file("fortran");
    for length in 0..128 {
        let outcome = read(&bytes[..length]);
        assert!(
            matches!(outcome, Err(NpyError::Truncated)),
            "{length}: {outcome:?}"
        );
    }
    for bit in 0..128 * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let _ = read(&changed);
    }
}

#[test]
fn what_numpy_cannot_hold_is_not_written() {
    let header = |shape| Header::new(ElementType::Float64, ByteOrder::NATIVE, shape);
    assert!(matches!(
        header(vec![1; 65]).to_bytes(),
        Err(NpyError::Rank(65))
    ));
    assert!(matches!(
        header(vec![1 << 60]).to_bytes(),
        Err(NpyError::Size(_))
    ));
    assert!(header(vec![1 << 59]).to_bytes().is_ok());
    assert!(header(vec![u64::MAX; 64]).to_bytes().is_err());
}
