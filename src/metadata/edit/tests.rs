//! Edits, one by one and in combination.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tree(text: &str) -> Value {
    parse(text.as_bytes(), &Limits::default(), NonFinite::Keep)
        .unwrap()
        .root
}

#[track_caller]
fn edited(
    text: &str,
    edit: impl FnOnce(&mut Editor<'_>, &Value) -> Result<(), EditError>,
) -> String {
    let root = tree(text);
    let mut editor = Editor::new(text, &root);
    edit(&mut editor, &root).unwrap();
    editor.apply().unwrap()
}

fn number(token: &str) -> Draft {
    Draft::Number(token.to_owned())
}

#[test]
fn members_are_set_in_place() {
    let text = "{ \"a\" : 1,\n   \"b\":  [1 , 2 ] }";
    let set = |name: &str, value: Draft| {
        edited(text, |editor, root| editor.set_member(root, name, &value))
    };
    assert_eq!(
        set("a", number("1.50")),
        "{ \"a\" : 1.50,\n   \"b\":  [1 , 2 ] }"
    );
    assert_eq!(set("b", Draft::Null), "{ \"a\" : 1,\n   \"b\":  null }");
}

#[test]
fn members_are_added_in_the_layout_of_the_document() {
    let pretty = "{\n    \"a\": {},\n    \"b\": {\n        \"c\": 1\n    }\n}\n";
    let value = Draft::object([("x", number("1"))]);
    assert_eq!(
        edited(pretty, |editor, root| editor.set_member(root, "n", &value)),
        "{\n    \"a\": {},\n    \"b\": {\n        \"c\": 1\n    },\n    \"n\": {\n        \"x\": 1\n    }\n}\n"
    );
    assert_eq!(
        edited(pretty, |editor, root| editor.set_member(
            root.get("a").unwrap(),
            "n",
            &value
        )),
        "{\n    \"a\": {\n        \"n\": {\n            \"x\": 1\n        }\n    },\n    \"b\": {\n        \"c\": 1\n    }\n}\n"
    );
    assert_eq!(
        edited(pretty, |editor, root| editor.set_member(
            root.get("b").unwrap(),
            "n",
            &Draft::Null
        )),
        "{\n    \"a\": {},\n    \"b\": {\n        \"c\": 1,\n        \"n\": null\n    }\n}\n"
    );
    assert_eq!(
        edited("{\"a\":1,\"b\":{}}", |editor, root| {
            editor.set_member(root, "n", &value)?;
            editor.set_member(root.get("b").unwrap(), "m", &value)
        }),
        "{\"a\":1,\"b\":{\"m\":{\"x\":1}},\"n\":{\"x\":1}}"
    );
    assert_eq!(
        edited("{\"a\": 1}", |editor, root| editor.set_member(
            root,
            "n",
            &Draft::Null
        )),
        "{\"a\": 1, \"n\": null}"
    );
    assert_eq!(
        edited("{ }", |editor, root| editor.set_member(
            root,
            "n",
            &Draft::Null
        )),
        "{\n  \"n\": null\n}"
    );
}

#[test]
fn members_take_one_comma_along() {
    let text = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}";
    let without = |names: &[&str]| {
        edited(text, |editor, root| {
            names
                .iter()
                .try_for_each(|name| editor.remove_member(root, name))
        })
    };
    assert_eq!(without(&["a"]), "{\n  \"b\": 2,\n  \"c\": 3\n}");
    assert_eq!(without(&["b"]), "{\n  \"a\": 1,\n  \"c\": 3\n}");
    assert_eq!(without(&["c"]), "{\n  \"a\": 1,\n  \"b\": 2\n}");
    assert_eq!(without(&["a", "b"]), "{\n  \"c\": 3\n}");
    assert_eq!(without(&["b", "c"]), "{\n  \"a\": 1\n}");
    assert_eq!(without(&["a", "b", "c"]), "{}");
    assert_eq!(without(&["x"]), text);
}

#[test]
fn removals_and_additions_meet() {
    let text = "{\"a\": 1, \"b\": 2}";
    let swap = |names: &[&str]| {
        edited(text, |editor, root| {
            names
                .iter()
                .try_for_each(|name| editor.remove_member(root, name))?;
            editor.set_member(root, "n", &number("3"))?;
            editor.set_member(root, "m", &number("4"))?;
            editor.set_member(root, "n", &number("5"))
        })
    };
    assert_eq!(swap(&["b"]), "{\"a\": 1, \"n\": 5, \"m\": 4}");
    assert_eq!(swap(&["a"]), "{\"b\": 2, \"n\": 5, \"m\": 4}");
    assert_eq!(swap(&["a", "b"]), "{\"n\": 5, \"m\": 4}");
}

#[test]
fn one_codec_becomes_two() {
    let text = "{\n  \"codecs\": [\n    {\"name\": \"old\"},\n    \"bytes\"\n  ]\n}";
    let codec = |name: &str| Draft::object([("name", Draft::string(name))]);
    let chain = |index, drafts: &[Draft]| {
        edited(text, |editor, root| {
            editor.replace_element(root.get("codecs").unwrap(), index, drafts)
        })
    };
    assert_eq!(
        chain(0, &[codec("scale_offset"), codec("cast_value")]),
        "{\n  \"codecs\": [\n    {\n      \"name\": \"scale_offset\"\n    },\n    {\n      \"name\": \"cast_value\"\n    },\n    \"bytes\"\n  ]\n}"
    );
    assert_eq!(chain(0, &[]), "{\n  \"codecs\": [\n    \"bytes\"\n  ]\n}");
    assert_eq!(
        edited(text, |editor, root| editor.push_element(
            root.get("codecs").unwrap(),
            &Draft::string("crc32c")
        )),
        "{\n  \"codecs\": [\n    {\"name\": \"old\"},\n    \"bytes\",\n    \"crc32c\"\n  ]\n}"
    );
    assert_eq!(
        edited("[]", |editor, root| editor.push_element(root, &number("1"))),
        "[\n  1\n]"
    );
}

#[test]
fn impossible_edits_are_refused() {
    let text = "{\"a\": [1, {\"b\": 2}], \"é\": 1}";
    let root = tree(text);
    let array = root.get("a").unwrap();
    let not_a = |found, expected| Err(EditError::NotA { found, expected });
    let mut editor = Editor::new(text, &root);
    assert_eq!(
        editor.set_member(array, "x", &Draft::Null),
        not_a("an array", "an object")
    );
    assert_eq!(
        editor.remove_member(&array.as_array().unwrap()[0], "x"),
        not_a("a number", "an object")
    );
    assert_eq!(
        editor.push_element(&root, &Draft::Null),
        not_a("an object", "an array")
    );
    assert_eq!(
        editor.replace_element(array, 2, &[]),
        Err(EditError::NoElement(2))
    );
    assert_eq!(editor.apply().unwrap(), text);

    let attempt = |edit: &dyn Fn(&mut Editor<'_>)| {
        let mut editor = Editor::new(text, &root);
        edit(&mut editor);
        editor.apply()
    };
    let inner = root.lookup("/a/1/b").unwrap();
    let overlap = attempt(&|editor| {
        editor.replace(inner, &Draft::Null);
        editor.replace_element(array, 1, &[]).unwrap();
    });
    assert_eq!(overlap, Err(EditError::Overlap(inner.span.start)));
    let twice = attempt(&|editor| {
        editor.replace_text(0..0, " ".to_owned());
        editor.replace_text(0..0, " ".to_owned());
    });
    assert_eq!(twice, Err(EditError::Overlap(0)));
    let accent = text.find('é').unwrap();
    for span in [0..99, accent + 1..accent + 2] {
        let out = attempt(&|editor| editor.replace_text(span.clone(), String::new()));
        assert_eq!(out, Err(EditError::OutOfText(span)));
    }
    let broken = attempt(&|editor| editor.replace(inner, &number("1.")));
    assert!(matches!(broken, Err(EditError::Broken(_))));
}

/// One edit to the object or array that it is applied to.
#[derive(Debug, Clone)]
enum Step {
    Set(&'static str, u64),
    Remove(&'static str),
    Splice(usize, Vec<u64>),
    Push(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || prop::sample::select(vec!["a", "b", "c", "d", "e"]);
    let step = prop_oneof![
        (name(), 100u64..999).prop_map(|(name, value)| Step::Set(name, value)),
        name().prop_map(Step::Remove),
        (0usize..4, prop::collection::vec(100u64..999, 0..3))
            .prop_map(|(i, with)| Step::Splice(i, with)),
        (100u64..999).prop_map(Step::Push),
    ];
    prop::collection::vec(step, 0..6)
}

/// A document in some layout, with an object "o" and an array "l" of varying lengths.
fn document() -> impl Strategy<Value = String> {
    let space = || prop::sample::select(vec!["", " ", "\n", "\n    ", "\r\n\t"]);
    let object = prop::sample::subsequence(vec!["a", "b", "c"], 0..=3);
    (object, 0usize..4, prop::collection::vec(space(), 8)).prop_map(|(names, length, s)| {
        let members: Vec<_> = names
            .iter()
            .map(|name| format!("{}\"{name}\"{}:{}1{}", s[0], s[1], s[2], s[3]))
            .collect();
        let elements = vec![format!("{}2{}", s[4], s[5]); length];
        let (members, elements) = (members.join(","), elements.join(","));
        format!(
            "{{{}\"o\":{{{members}}},{}\"l\":[{elements}],\"x\":{{ \"y\" :1e0}}}}",
            s[6], s[7]
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn edits_do_what_they_say_and_nothing_else(text in document(), steps in steps()) {
        let root = tree(&text);
        let (object, array) = (root.get("o").unwrap(), root.get("l").unwrap());
        let before = root.to_serde();
        let length = array.as_array().unwrap().len();
        let mut members = before["o"].as_object().unwrap().clone();
        let mut elements: Vec<Vec<u64>> = vec![vec![2]; length];
        let mut pushed = Vec::new();
        let mut editor = Editor::new(&text, &root);
        let mut touched = std::collections::HashSet::new();
        for step in steps {
            match step {
                // An existing member is edited once: twice is an overlap, which has its own test.
                Step::Set(name, value) if object.get(name).is_none() || touched.insert(name) => {
                    editor.set_member(object, name, &value.into()).unwrap();
                    members.insert(name.to_owned(), json!(value));
                }
                Step::Remove(name) if object.get(name).is_some() && touched.insert(name) => {
                    editor.remove_member(object, name).unwrap();
                    members.shift_remove(name);
                }
                Step::Splice(index, with) if index < length => {
                    let drafts: Vec<_> = with.iter().map(|value| Draft::from(*value)).collect();
                    editor.replace_element(array, index, &drafts).unwrap();
                    elements[index] = with;
                }
                Step::Push(value) => {
                    editor.push_element(array, &value.into()).unwrap();
                    pushed.push(value);
                }
                _ => {}
            }
        }
        let changes = editor.changes().unwrap();
        let result = editor.apply().unwrap();

        // The result holds what was asked for, in order.
        elements.push(pushed);
        let after = tree(&result).to_serde();
        prop_assert_eq!(&after["l"], &json!(elements.concat()));
        let expected: Vec<_> = members.iter().collect();
        prop_assert_eq!(after["o"].as_object().unwrap().iter().collect::<Vec<_>>(), expected);

        // Outside the changes the text is the same to the byte.
        let (mut old, mut new) = (text.as_str(), result.as_str());
        let mut done = 0;
        for change in changes {
            let kept = change.span.start - done;
            prop_assert_eq!(&old[..kept], &new[..kept]);
            old = &old[kept + change.span.len()..];
            new = &new[kept..];
            prop_assert!(new.starts_with(&change.text));
            new = &new[change.text.len()..];
            done = change.span.end;
        }
        prop_assert_eq!(old, new);
    }
}
