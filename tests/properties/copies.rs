//! Copies that are brought in step: random documents, laid out at random, of which random members change.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use zarrpack::metadata::consolidated::{Changed, bring_in_step, stale};
use zarrpack::metadata::edit::Draft;
use zarrpack::metadata::json::{Limits, NonFinite, Value, parse};

use super::check;

/// Members by name.
type Members = BTreeMap<String, Draft>;

fn scalar() -> impl Strategy<Value = Draft> {
    let numbers = [
        "0",
        "-0",
        "10",
        "10.0",
        "1e1",
        "1E+1",
        "0.1",
        "1e-1",
        "-1.50",
        "123456789012345678901",
    ];
    prop_oneof![
        Just(Draft::Null),
        any::<bool>().prop_map(Draft::Bool),
        select(numbers.to_vec()).prop_map(|token| Draft::Number(token.to_owned())),
        "[a-zé\"\\\\/\n{},:]{0,6}".prop_map(Draft::String),
    ]
}

fn anything() -> impl Strategy<Value = Draft> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Draft::Array),
            btree_map("[a-c]{1,2}", inner, 0..3).prop_map(Draft::object),
        ]
    })
}

/// The members of an array's document, but for the one that says so.
fn members() -> impl Strategy<Value = Members> {
    let names = [
        "codecs",
        "fill_value",
        "attributes",
        "shape",
        "unknown",
        "data_type",
    ];
    btree_map(
        select(names.to_vec()).prop_map(str::to_owned),
        anything(),
        0..6,
    )
}

/// Bytes that decide on white space and order, used up in turn.
struct Whims<'w> {
    bytes: &'w [u8],
    at: usize,
}

impl Whims<'_> {
    fn next(&mut self) -> usize {
        self.at += 1;
        self.bytes[self.at % self.bytes.len()]
            .wrapping_add(self.at as u8)
            .into()
    }

    fn space(&mut self) -> &'static str {
        ["", "", " ", "\n  ", "\t", "\r\n"][self.next() % 6]
    }

    /// Writes a value with white space wherever it may stand, and members in any order.
    fn write(&mut self, draft: &Draft, text: &mut String) {
        let mut list =
            |whims: &mut Self, items: Vec<(Option<&str>, &Draft)>, brackets: [char; 2]| {
                text.push(brackets[0]);
                text.push_str(whims.space());
                for (index, (name, value)) in items.into_iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    text.push_str(whims.space());
                    if let Some(name) = name {
                        text.push_str(&serde_json::to_string(name).unwrap());
                        text.push_str(whims.space());
                        text.push(':');
                        text.push_str(whims.space());
                    }
                    whims.write(value, text);
                    text.push_str(whims.space());
                }
                text.push(brackets[1]);
            };
        match draft {
            Draft::Null => text.push_str("null"),
            Draft::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Draft::Number(token) => text.push_str(token),
            Draft::String(string) => text.push_str(&serde_json::to_string(string).unwrap()),
            Draft::Array(elements) => {
                list(
                    self,
                    elements.iter().map(|one| (None, one)).collect(),
                    ['[', ']'],
                );
            }
            Draft::Object(members) => {
                let mut items: Vec<_> = members
                    .iter()
                    .map(|(name, value)| (Some(name.as_str()), value))
                    .collect();
                if !items.is_empty() {
                    let turn = self.next() % items.len();
                    items.rotate_left(turn);
                }
                list(self, items, ['{', '}']);
            }
        }
    }

    fn text(&mut self, draft: &Draft) -> String {
        let mut text = self.space().to_owned();
        self.write(draft, &mut text);
        text.push_str(self.space());
        text
    }
}

fn value(text: &str) -> Value {
    let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse);
    parsed.unwrap().root
}

fn document(kind: &str, members: &Members) -> Draft {
    let own = [("node_type".to_owned(), Draft::string(kind))];
    Draft::object(own.into_iter().chain(members.clone()))
}

fn group(members: &Members, copies: Vec<(String, Draft)>) -> Draft {
    let block = Draft::object([
        ("kind", Draft::string("inline")),
        ("must_understand", Draft::Bool(false)),
        ("metadata", Draft::Object(copies)),
    ]);
    let Draft::Object(mut all) = document("group", members) else {
        unreachable!("a document is an object");
    };
    all.push(("consolidated_metadata".to_owned(), block));
    Draft::Object(all)
}

/// What is the same before and after, whatever the order of members.
fn sorted(draft: &Draft) -> Draft {
    match draft {
        Draft::Array(elements) => Draft::Array(elements.iter().map(sorted).collect()),
        Draft::Object(members) => {
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), sorted(value)));
            Draft::object(members.collect::<BTreeMap<_, _>>())
        }
        draft => draft.clone(),
    }
}

/// The stretches of a text between others.
fn between<'t>(text: &'t str, spans: &[Range<usize>]) -> Vec<&'t str> {
    let starts = [0].into_iter().chain(spans.iter().map(|span| span.end));
    let ends = spans.iter().map(|span| span.start).chain([text.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &text[start..end])
        .collect()
}

#[test]
fn only_copies_of_changed_documents_change_and_they_become_those_documents() {
    let strategy = (
        (members(), members(), members(), members()),
        vec(any::<u8>(), 1..40),
        any::<[bool; 2]>(),
    );
    check(
        2_000,
        &strategy,
        |((root, old, new, other), whims, [nested, stale_copy])| {
            let mut whims = Whims {
                bytes: &whims,
                at: 0,
            };
            let (old, new) = (document("array", &old), document("array", &new));
            let other = document("array", &other);
            let copy = if stale_copy { &other } else { &old };
            let inner = group(&root, vec![("a".to_owned(), copy.clone())]);
            let mut copies = vec![
                ("b".to_owned(), other.clone()),
                ("g/a".to_owned(), copy.clone()),
            ];
            if nested {
                copies.insert(1, ("g".to_owned(), inner));
            }
            let text = whims.text(&group(&root, copies));
            let (old_text, new_text) = (whims.text(&old), whims.text(&new));
            let (root, old, new) = (value(&text), value(&old_text), value(&new_text));
            let changed = [Changed {
                path: "g/a",
                old: &old,
                new: &new,
            }];
            let (edited, updated) = bring_in_step(&text, &root, &changed).unwrap();

            // Outside the copies that are named every byte is where it was.
            let mut rest = edited.as_str();
            let kept = between(&text, &updated.copies);
            for (index, stretch) in kept.iter().enumerate() {
                let at = if index + 1 == kept.len() {
                    prop_assert!(rest.ends_with(stretch));
                    rest.len() - stretch.len()
                } else if index == 0 {
                    prop_assert!(rest.starts_with(stretch));
                    0
                } else {
                    rest.find(stretch).unwrap()
                };
                rest = &rest[at + stretch.len()..];
            }

            // Every copy of the document is the new one, all else what it was.
            let edited = value(&edited);
            let at = "/consolidated_metadata/metadata/";
            let mut places = vec![format!("{at}g~1a")];
            if nested {
                places.push(format!("{at}g{at}a"));
            }
            for place in &places {
                let copy = edited.lookup(place).unwrap();
                let left = stale(&edited, &[("g/a", &new)]);
                prop_assert!(left.iter().all(|one| one.path != "g/a"), "{left:?}");
                if !stale_copy {
                    // To the digit where the change is.
                    for member in new.as_object().unwrap() {
                        let was = old.get(&member.name).map(Draft::from);
                        let found = copy.get(&member.name).map(Draft::from);
                        if was != Some(Draft::from(&member.value)) {
                            prop_assert_eq!(found, Some(Draft::from(&member.value)));
                        }
                    }
                }
            }
            let without = |group: &Value| {
                let mut draft = sorted(&Draft::from(group));
                for place in &places {
                    blank(&mut draft, place);
                }
                draft
            };
            prop_assert_eq!(without(&edited), without(&root));
            Ok(())
        },
    );
}

/// Puts null in place of what a pointer leads to.
fn blank(draft: &mut Draft, pointer: &str) {
    let mut here = draft;
    for step in pointer.split('/').skip(1) {
        let Draft::Object(members) = here else {
            unreachable!("only objects lead to copies");
        };
        let step = step.replace("~1", "/");
        let found = members.iter_mut().find(|(name, _)| *name == step);
        here = &mut found.unwrap().1;
    }
    *here = Draft::Null;
}
