use super::*;
use crate::metadata::json::{Limits, NonFinite, parse};

/// What the attributes of an array say; `data_type` `None` for one that is no number.
fn read_with(
    attributes: &str,
    change: impl FnOnce(&mut Subject<'_>),
    wanted: Option<DataType>,
) -> Result<Option<CfDecoding>, Vec<CfProblem>> {
    let parsed = parse(attributes.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap();
    let mut subject = Subject {
        attributes: Some(&parsed.root),
        type_name: "int16",
        data_type: Some(DataType::Int16),
        fill: Scalar::from_integer(DataType::Int16, 0),
        is_v2: false,
        codecs: &[],
    };
    change(&mut subject);
    decoding(subject, wanted)
}

fn read(attributes: &str) -> CfDecoding {
    read_with(attributes, |_| (), None).unwrap().unwrap()
}

fn of_type(data_type: DataType) -> impl FnOnce(&mut Subject<'_>) {
    move |subject| {
        subject.data_type = Some(data_type);
        subject.fill = Some(Scalar::from_bits(data_type, 0));
    }
}

fn refused(attributes: &str) -> String {
    let problems = read_with(attributes, |_| (), None).unwrap_err();
    let problems = problems.into_iter().map(|problem| {
        let attribute = problem.attribute.unwrap_or("fill_value");
        format!("{attribute}: {}", problem.message)
    });
    problems.collect::<Vec<_>>().join("; ")
}

#[test]
fn a_factor_makes_doubles_and_takes_its_attributes_along() {
    let cf =
        read(r#"{"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -9999, "units": "K"}"#);
    assert_eq!(cf.unpacking.target(), DataType::Float64);
    assert_eq!(cf.removed, ["scale_factor", "add_offset", "_FillValue"]);
    assert_eq!(cf.fill.to_json(), "273.15");
    assert_eq!(cf.missing.len(), 1);
    let value = |n| {
        let stored = Scalar::from_integer(DataType::Int16, n).unwrap();
        cf.unpacking.value(stored).unwrap().to_json()
    };
    assert_eq!(value(-9999), "\"NaN\"");
    assert_eq!(value(100), "274.15");
    assert!(cf.warnings.is_empty());
}

#[test]
fn the_type_of_values_is_a_choice() {
    let target = |attributes, data_type, wanted| {
        let cf = read_with(attributes, of_type(data_type), wanted).unwrap();
        cf.unwrap().unpacking.target()
    };
    use DataType::{Float32, Float64, Int16, Int32, UInt8};
    let (scale, mask) = (r#"{"scale_factor": 2}"#, r#"{"missing_value": 1}"#);
    assert_eq!(target(scale, Int16, None), Float64);
    assert_eq!(target(scale, Float32, None), Float64);
    assert_eq!(target(scale, Float32, Some(Float32)), Float32);
    assert_eq!(target(mask, Int32, None), Float64);
    assert_eq!(target(mask, Float32, None), Float32);
    assert_eq!(target(mask, Float32, Some(Float64)), Float64);
    assert_eq!(target(mask, Int32, Some(Float32)), Float32);
    let unsigned = r#"{"_Unsigned": "true"}"#;
    assert_eq!(target(unsigned, DataType::Int8, None), UInt8);
    assert_eq!(target(unsigned, DataType::Int8, Some(Float32)), UInt8);
}

#[test]
fn unsigned_bytes_are_read_so_and_their_missing_values_too() {
    for missing in ["-1", "255"] {
        let text = format!(
            r#"{{"_Unsigned": "true", "_FillValue": {missing}, "scale_factor": 0.5, "valid_range": [0, -2]}}"#
        );
        let cf = read_with(&text, of_type(DataType::Int8), None)
            .unwrap()
            .unwrap();
        assert_eq!(cf.unpacking.stored(), DataType::UInt8);
        assert_eq!(cf.missing[0].1, Scalar::from_bits(DataType::UInt8, 255));
        let range: Vec<_> = cf.converted[0].values.iter().map(|v| v.to_json()).collect();
        assert_eq!(range, ["0.0", "127.0"]);
    }
    // What the type says already makes no difference.
    let same = read_with(r#"{"_Unsigned": "true"}"#, of_type(DataType::UInt8), None);
    let same = same.unwrap().unwrap();
    assert!(same.unpacking.is_identity() && same.unsigned.is_none());
    // Without the attribute, 255 is no int8.
    let text = r#"{"_FillValue": 255}"#;
    assert!(read_with(text, of_type(DataType::Int8), None).is_err());
}

#[test]
fn limits_follow_the_values() {
    let limits = |attributes: &str| {
        let converted = read(attributes).converted.into_iter();
        let texts = converted.map(|c| {
            let values: Vec<_> = c.values.iter().map(|v| v.to_json()).collect();
            format!("{} -> {} {}", c.from, c.name, values.join(" "))
        });
        texts.collect::<Vec<_>>()
    };
    assert_eq!(
        limits(r#"{"scale_factor": 0.5, "valid_min": -10, "valid_range": [-10, 20]}"#),
        [
            "valid_min -> valid_min -5.0",
            "valid_range -> valid_range -5.0 10.0"
        ]
    );
    assert_eq!(
        limits(r#"{"scale_factor": -0.5, "valid_min": -10, "valid_range": [-10, 20]}"#),
        [
            "valid_min -> valid_max 5.0",
            "valid_range -> valid_range -10.0 5.0"
        ]
    );
    // The same number may be a limit and mean missing.
    assert_eq!(
        limits(r#"{"scale_factor": 0.5, "valid_max": 4, "_FillValue": 4}"#),
        ["valid_max -> valid_max 2.0"]
    );
    assert_eq!(limits(r#"{"missing_value": 4, "valid_max": 4}"#), [""; 0]);
    // A fraction is no int16: whoever wrote it meant values.
    let cf = read(r#"{"scale_factor": 0.5, "valid_max": 4.5}"#);
    assert!(cf.converted.is_empty());
    assert_eq!(
        cf.warnings,
        ["valid_max is not in packed units (int16), and stays as it is"]
    );
}

#[test]
fn odd_spellings_are_taken_with_a_word_or_refused() {
    let cf = read(r#"{"scale_factor": "0.5", "add_offset": [1], "_FillValue": ["-1"]}"#);
    assert_eq!((cf.scale_factor, cf.add_offset), (Some(0.5), Some(1.0)));
    assert_eq!(cf.warnings.len(), 3, "{:?}", cf.warnings);
    assert_eq!(
        refused(r#"{"scale_factor": [1, 2]}"#),
        "scale_factor: expected one value, found a list of 2"
    );
    assert_eq!(
        refused(r#"{"scale_factor": 0}"#),
        "scale_factor: expected a number other than 0"
    );
    assert_eq!(
        refused(r#"{"scale_factor": null, "add_offset": true}"#),
        "scale_factor: expected a number, found null; add_offset: expected a number, found a boolean"
    );
    assert_eq!(
        refused(r#"{"_Unsigned": "yes"}"#),
        "_Unsigned: expected \"true\" or \"false\", found \"yes\""
    );
    assert_eq!(
        refused(r#"{"_FillValue": 40000}"#),
        "_FillValue: expected a value of int16"
    );
    assert_eq!(
        refused(r#"{"scale_factor": 1, "scale_factor": 2}"#),
        "scale_factor: expected it once, found it twice"
    );
    let nan = read(r#"{"missing_value": NaN}"#);
    assert!(nan.missing.is_empty());
    assert_eq!(
        nan.warnings,
        ["missing_value: nothing that is stored as int16 can be that"]
    );
}

#[test]
fn an_array_is_not_unpacked_twice() {
    const CODECS: &[&str] = &["scale_offset", "cast_value"];
    let read = |attributes: &str, codecs: &'static [&'static str], data_type| {
        let change = |subject: &mut Subject<'_>| {
            of_type(data_type)(subject);
            subject.codecs = codecs;
        };
        read_with(attributes, change, None)
    };
    let float = DataType::Float32;
    let packed = r#"{"scale_factor": 0.0001, "add_offset": -0.1}"#;
    let problems = read(packed, CODECS, float).unwrap_err();
    assert_eq!(problems.len(), 2);
    assert!(problems[0].message.contains("scale_offset, cast_value"));
    assert!(read(packed, &CODECS[1..], float).is_err());
    assert!(read(packed, CODECS, DataType::Int16).is_err());
    // A narrower integer is no packing of values.
    assert!(read(packed, &CODECS[1..], DataType::Int16).is_ok());
    // And a missing value is one before and after.
    let masked = read(r#"{"_FillValue": -1}"#, CODECS, float)
        .unwrap()
        .unwrap();
    assert_eq!(masked.unpacking.target(), float);
}

#[test]
fn the_fill_of_v2_is_missing_where_xarray_says_so() {
    let v2 = |attributes: &str, fill: Option<i128>| {
        let change = |subject: &mut Subject<'_>| {
            subject.is_v2 = true;
            subject.fill = fill.and_then(|fill| Scalar::from_integer(DataType::Int16, fill));
        };
        read_with(attributes, change, None).unwrap()
    };
    let missing = |cf: Option<CfDecoding>| {
        let missing = cf.into_iter().flat_map(|cf| cf.missing);
        missing
            .map(|(from, value)| format!("{from} {value}"))
            .collect::<Vec<_>>()
    };
    let (names, both) = (
        r#"{"_ARRAY_DIMENSIONS": ["x"], "scale_factor": 0.5}"#,
        r#"{"_ARRAY_DIMENSIONS": ["x"], "_FillValue": -1}"#,
    );
    assert_eq!(missing(v2(names, Some(-9))), ["fill_value -9"]);
    assert_eq!(missing(v2(names, None)), [""; 0]);
    assert_eq!(missing(v2(r#"{"scale_factor": 0.5}"#, Some(-9))), [""; 0]);
    assert_eq!(missing(v2(both, Some(-1))), ["_FillValue -1"]);
    let differ = v2(both, Some(0)).unwrap();
    assert_eq!(differ.warnings.len(), 1);
    assert_eq!(missing(Some(differ)), ["_FillValue -1"]);
    let bare = v2(r#"{"_ARRAY_DIMENSIONS": ["x"]}"#, Some(0)).unwrap();
    assert_eq!((bare.warnings.len(), bare.removed.len()), (1, 0));
    assert!(v2(r#"{"_ARRAY_DIMENSIONS": ["x"]}"#, None).is_none());
    assert!(v2(names, None).unwrap().warnings[0].contains("there is no fill_value"));
}

#[test]
fn attributes_that_say_nothing_change_nothing() {
    assert!(
        read_with(r#"{"units": "K", "valid_min": 3}"#, |_| (), None)
            .unwrap()
            .is_none()
    );
    let text = |subject: &mut Subject<'_>| {
        subject.data_type = None;
        subject.type_name = "string";
    };
    assert!(
        read_with(r#"{"_FillValue": "n/a"}"#, text, None)
            .unwrap()
            .is_none()
    );
    assert!(read_with(r#"{"scale_factor": 2}"#, text, None).is_err());
}
