//! Reading `zarr.json`.

use proptest::prelude::*;
use serde_json::json;

use super::super::json::{Limits, NonFinite, Parsed, parse};
use super::*;

fn tree(text: &str) -> Parsed {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap()
}

/// An array of two dimensions, with `changes` made to its members; null takes a member away.
fn array_with(changes: &serde_json::Value) -> String {
    let mut document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [6, 4],
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3, 2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"units": "K"},
    });
    let members = document.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    document.to_string()
}

/// What is wrong with a document: pointer, the text at the span, what was expected.
fn problems_of(text: &str) -> Vec<String> {
    let parsed = tree(text);
    let mut problems = Problems::default();
    read(&Node::root(&parsed.root), &mut problems);
    assert_eq!(problems.more, 0);
    problems
        .listed
        .iter()
        .map(|problem| {
            assert!(text.get(problem.span.clone()).is_some());
            problem.to_string()
        })
        .collect()
}

#[track_caller]
fn wrong(changes: &serde_json::Value, expected: &[&str]) {
    assert_eq!(problems_of(&array_with(changes)), expected);
}

#[track_caller]
fn with_array(changes: &serde_json::Value, check: impl FnOnce(Array<'_>)) {
    let text = array_with(changes);
    let parsed = tree(&text);
    let mut problems = Problems::default();
    let Document::Array(array) = read(&Node::root(&parsed.root), &mut problems) else {
        panic!("no array: {text}");
    };
    assert_eq!(problems.listed, []);
    check(array.complete().unwrap());
}

#[test]
fn reads_an_array() {
    with_array(&json!({"dimension_names": ["y", null]}), |array| {
        assert_eq!(array.shape.value, [6, 4]);
        assert_eq!(array.data_type.name, "float32");
        assert!(array.data_type.is_bare());
        assert!(matches!(&array.chunk_grid,
            ChunkGrid::Regular { chunk_shape, .. } if chunk_shape.value == [3, 2]));
        assert_eq!(
            array.chunk_keys.encoding,
            KeyEncoding::Default(Separator::Slash)
        );
        assert_eq!(array.fill_value.value.as_number(), Some("0.0"));
        let codec = &array.codecs.codecs[0];
        assert_eq!(codec.entry.name, "bytes");
        assert_eq!(codec.entry.node.pointer.to_string(), "/codecs/0");
        let configuration = codec.entry.configuration.as_ref().unwrap();
        assert_eq!(configuration.pointer.to_string(), "/codecs/0/configuration");
        assert_eq!(
            array.optional.dimension_names.unwrap().value,
            [Some("y"), None]
        );
        assert!(array.optional.attributes.unwrap().get("units").is_some());
    });
}

#[test]
fn reads_bare_names_and_implied_separators() {
    let changes = json!({
        "codecs": ["scale_offset", "bytes"],
        "chunk_key_encoding": "v2",
        "data_type": {"name": "numpy.datetime64", "configuration": {"unit": "s"}},
    });
    with_array(&changes, |array| {
        assert_eq!(array.chunk_keys.encoding, KeyEncoding::V2(Separator::Dot));
        assert!(
            array
                .codecs
                .codecs
                .iter()
                .all(|codec| codec.entry.is_bare())
        );
        assert!(!array.data_type.is_bare());
    });
    let slashed =
        json!({"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}});
    with_array(&slashed, |array| {
        assert_eq!(array.chunk_keys.encoding, KeyEncoding::V2(Separator::Slash));
    });
}

#[test]
fn keeps_what_it_does_not_read() {
    let changes = json!({
        "chunk_grid": {"name": "rectilinear", "configuration": {}},
        "chunk_key_encoding": {"name": "other"},
        "codecs": [{"name": "bytes", "comment": "why"}],
        "note": {"must_understand": false},
        "storage_transformers": [{"name": "x", "must_understand": false}],
    });
    with_array(&changes, |array| {
        assert!(matches!(array.chunk_grid, ChunkGrid::Other(_)));
        assert_eq!(array.chunk_keys.encoding, KeyEncoding::Other);
        assert_eq!(array.codecs.codecs[0].entry.extras[0].name, "comment");
        assert_eq!(array.optional.extras[0].name, "note");
        assert_eq!(array.optional.storage_transformers[0].name, "x");
    });
}

fn sharding(codecs: &serde_json::Value) -> serde_json::Value {
    json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1, 2],
        "codecs": codecs,
        "index_codecs": ["bytes", "crc32c"],
    }})
}

#[test]
fn shards_are_trees() {
    let inner = sharding(&json!([{"name": "cast_value"}, "bytes"]));
    let outer = sharding(&json!([inner]));
    with_array(&json!({"codecs": [outer]}), |array| {
        let shard = array.codecs.codecs[0].sharding.as_ref().unwrap();
        assert_eq!(shard.chunk_shape.value, [1, 2]);
        assert_eq!(shard.index_location, IndexLocation::End);
        assert_eq!(
            array.codecs.innermost().codecs[0]
                .entry
                .node
                .pointer
                .to_string(),
            "/codecs/0/configuration/codecs/0/configuration/codecs/0"
        );
        let places: Vec<_> = array
            .codecs
            .nested()
            .iter()
            .map(|chain| chain.node.pointer.to_string())
            .collect();
        assert_eq!(
            places,
            [
                "/codecs",
                "/codecs/0/configuration/codecs",
                "/codecs/0/configuration/codecs/0/configuration/codecs",
                "/codecs/0/configuration/codecs/0/configuration/index_codecs",
                "/codecs/0/configuration/index_codecs",
            ]
        );
    });
}

#[test]
fn reports_all_problems_at_once() {
    let changes = json!({
        "zarr_format": 2,
        "shape": [-1, 1e2, 4.0, "4"],
        "data_type": 7,
        "chunk_grid": {"name": "regular"},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "-"}},
        "fill_value": null,
        "codecs": [{"configuration": {}}, "", 3, {"name": "x", "configuration": [], "must_understand": 1}],
        "attributes": [],
        "dimension_names": ["x", 1],
        "storage_transformers": ["t"],
        "extra": 1,
    });
    wrong(
        &changes,
        &[
            "/zarr_format: expected 3, found the number 2",
            "/shape/0: expected an integer from 0 to 18446744073709551615, written in digits alone, found the number -1",
            "/shape/1: expected an integer from 0 to 18446744073709551615, written in digits alone, found the number 100.0",
            "/shape/2: expected an integer from 0 to 18446744073709551615, written in digits alone, found the number 4.0",
            "/shape/3: expected an integer from 0 to 18446744073709551615, written in digits alone, found \"4\"",
            "/data_type: expected the name of a data type, or an object with its \"name\", found the number 7",
            "/chunk_grid/configuration: expected a \"configuration\" with a member \"chunk_shape\", found nothing",
            "/chunk_key_encoding/configuration/separator: expected \".\" or \"/\", found \"-\"",
            "/fill_value: expected a member \"fill_value\", found nothing",
            "/codecs/0/name: expected a member \"name\", found nothing",
            "/codecs/1: expected a name, found \"\"",
            "/codecs/2: expected the name of a codec, or an object with its \"name\", found the number 3",
            "/codecs/3/configuration: expected an object, found an array",
            "/codecs/3/must_understand: expected true or false, found the number 1",
            "/attributes: expected an object, found an array",
            "/dimension_names/1: expected a name or null, found the number 1",
            "/storage_transformers/0: expected no storage transformer, as none is known, found the storage transformer \"t\"",
            "/extra: expected only known members, or an object with \"must_understand\": false, found an unknown member",
        ],
    );
}

#[test]
fn reports_problems_inside_shards() {
    let codec = json!({"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1],
        "codecs": [],
        "index_codecs": [{}],
        "index_location": "middle",
    }});
    wrong(
        &json!({"codecs": [codec, {"name": "sharding_indexed"}]}),
        &[
            "/codecs/0/configuration/codecs: expected at least one codec, found an array",
            "/codecs/0/configuration/index_codecs/0/name: expected a member \"name\", found nothing",
            "/codecs/0/configuration/index_location: expected \"start\" or \"end\", found \"middle\"",
            "/codecs/1/configuration: expected a \"configuration\" with a member \"chunk_shape\", found nothing",
        ],
    );
    let mut short = sharding(&json!(["bytes"]));
    short["configuration"]["chunk_shape"] = json!([1]);
    wrong(
        &json!({"codecs": [short]}),
        &[
            "/codecs/0/configuration/chunk_shape: expected 2 lengths, as many as the shard has dimensions, found 1 lengths",
        ],
    );
}

#[test]
fn ranks_must_agree() {
    wrong(
        &json!({"shape": [6, 4, 2], "dimension_names": ["x"]}),
        &[
            "/chunk_grid/configuration/chunk_shape: expected 3 lengths, as many as the array has dimensions, found 2 lengths",
            "/dimension_names: expected 3 names, as many as the array has dimensions, found 1 names",
        ],
    );
}

#[test]
fn quirks_leave_a_document_sound() {
    let text = array_with(
        &json!({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 2]}}}),
    );
    let parsed = tree(&text);
    let mut problems = Problems::default();
    read(&Node::root(&parsed.root), &mut problems);
    assert_eq!(problems.listed[0].kind, ProblemKind::Quirk);
    assert_eq!(
        problems.listed[0].pointer.to_string(),
        "/chunk_grid/configuration/chunk_shape/0"
    );
    assert!(problems.is_sound() && !problems.is_empty());
}

#[test]
fn hostile_shapes_cost_their_text() {
    let lengths = vec!["18446744073709551616"; 5000].join(",");
    let text = array_with(&json!({"shape": "here"}))
        .replace("\"here\"", &format!("[9223372036854775808,{lengths}]"));
    let parsed = tree(&text);
    let mut problems = Problems::default();
    read(&Node::root(&parsed.root), &mut problems);
    assert_eq!((problems.listed.len(), problems.more), (1000, 4000));
    assert!(!problems.is_sound());
    let rank = vec![u64::MAX; 1000];
    let changes = json!({
        "shape": rank,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": rank}},
    });
    with_array(&changes, |array| assert_eq!(array.shape.value.len(), 1000));
}

#[test]
fn reads_a_group() {
    let parsed = tree(
        r#"{"zarr_format":3,"node_type":"group","attributes":{"a":1},"x":{"must_understand":false}}"#,
    );
    let mut problems = Problems::default();
    let Document::Group(group) = read(&Node::root(&parsed.root), &mut problems) else {
        panic!("no group");
    };
    assert_eq!(problems.listed, []);
    assert!(group.attributes.is_some() && group.consolidated.is_none());
    assert_eq!(group.extras[0].name, "x");
}

#[test]
fn a_document_must_say_what_it_is() {
    assert_eq!(problems_of("[]"), [": expected an object, found an array"]);
    assert_eq!(
        problems_of("{}"),
        [
            "/zarr_format: expected a member \"zarr_format\", found nothing",
            "/node_type: expected a member \"node_type\", found nothing",
        ]
    );
    assert_eq!(
        problems_of(r#"{"zarr_format":3,"node_type":"table"}"#),
        ["/node_type: expected \"array\" or \"group\", found \"table\""]
    );
}

proptest! {
    /// Any member may be replaced by anything: the reader reports, and completes only what is
    /// there.
    #[test]
    fn any_document_gets_an_answer(
        path in prop::sample::select(vec![
            "/shape", "/shape/0", "/chunk_grid", "/chunk_grid/configuration", "/chunk_grid/configuration/chunk_shape",
            "/codecs", "/codecs/0", "/codecs/0/configuration", "/codecs/0/configuration/codecs/0/name",
            "/codecs/0/configuration/chunk_shape", "/dimension_names", "/attributes", "/node_type", "/zarr_format",
        ]),
        value in prop::sample::select(vec![
            "null", "true", "-1", "1e400", "\"x\"", "[]", "[[]]", "{}", "{\"name\":{}}", "NaN", "[null,0]",
        ]),
    ) {
        let base = array_with(&json!({"codecs": [sharding(&json!([{"name": "bytes"}]))], "dimension_names": ["a", "b"]}));
        let span = tree(&base).root.lookup(path).unwrap().span.clone();
        let text = format!("{}{value}{}", &base[..span.start], &base[span.end..]);
        let parsed = tree(&text);
        let mut problems = Problems::default();
        if let Document::Array(array) = read(&Node::root(&parsed.root), &mut problems)
            && problems.is_sound()
        {
            prop_assert!(array.complete().is_some());
        }
    }
}
