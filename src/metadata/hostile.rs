//! Every reader on documents made of the right words in the wrong places.

use proptest::prelude::*;

use super::consolidated::Consolidated;
use super::json::{Limits, NonFinite, parse};
use super::{DocumentKind, Node, Problems, v2, v3};

const NAMES: [&str; 26] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "index_codecs",
    "chunk_shape",
    "attributes",
    "dimension_names",
    "storage_transformers",
    "consolidated_metadata",
    "kind",
    "metadata",
    "must_understand",
    "name",
    "configuration",
    "id",
    "dtype",
    "chunks",
    "compressor",
    "filters",
    "order",
    "a/../.zarray",
];

const WORDS: [&str; 14] = [
    "\"array\"",
    "\"group\"",
    "\"sharding_indexed\"",
    "\"regular\"",
    "\"default\"",
    "\"inline\"",
    "\"<f4\"",
    "\"\"",
    "2",
    "3",
    "-1e2",
    "NaN",
    "null",
    "false",
];

fn document() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&WORDS[..]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 60, 8, |inner| {
        let member = (prop::sample::select(&NAMES[..]), inner.clone())
            .prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            3 => prop::collection::vec(member, 0..8).prop_map(|items| format!("{{{}}}", items.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn readers_report_and_return(text in document()) {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Keep).unwrap();
        let root = Node::root(&parsed.root);
        let mut problems = Problems::default();
        DocumentKind::recognise(&parsed.root);
        v3::read(&root, &mut problems);
        v2::array(&root, &mut problems);
        v2::group(&root, &mut problems);
        v2::attributes(&root, &mut problems);
        Consolidated::zmetadata(&root, &mut problems);
        for problem in problems.listed {
            prop_assert!(text.get(problem.span.clone()).is_some(), "{}", problem);
        }
    }
}
