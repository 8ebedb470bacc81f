//! Whether two documents say the same: numbers by value, members in any order.

use std::collections::HashMap;
use std::ops::Range;

use super::super::array::describe;
use crate::metadata::json::{Kind, Member, Value};

/// The first thing that a copy and its document do not agree on.
pub(in super::super) struct Difference {
    /// Where it is in the copy.
    pub(super) pointer: String,
    /// The bytes of it there.
    pub(super) span: Range<usize>,
    /// What the copy has.
    pub(super) copy: String,
    /// What the document has.
    pub(super) original: String,
}

/// Members that mean the same empty as absent.
const EMPTY_OR_ABSENT: [&str; 2] = ["attributes", "storage_transformers"];

/// The member that the copy of a group leaves out or fills in otherwise.
const NESTED: &str = "consolidated_metadata";

/// Compares a copy with its document.
pub(super) fn difference(copy: &Value, original: &Value) -> Option<Difference> {
    let (Some(copied), Some(written)) = (copy.as_object(), original.as_object()) else {
        return values(copy, original, &mut String::new());
    };
    objects(copy, copied, written, &mut String::new(), true)
}

fn values(copy: &Value, original: &Value, pointer: &mut String) -> Option<Difference> {
    let same = match (&copy.kind, &original.kind) {
        (Kind::Object(copied), Kind::Object(written)) => {
            return objects(copy, copied, written, pointer, false);
        }
        (Kind::Array(copied), Kind::Array(written)) if copied.len() == written.len() => {
            for (n, (copied, written)) in copied.iter().zip(written).enumerate() {
                let length = pointer.len();
                pointer.push_str(&format!("/{n}"));
                let found = values(copied, written, pointer);
                pointer.truncate(length);
                if found.is_some() {
                    return found;
                }
            }
            return None;
        }
        (Kind::Array(copied), Kind::Array(written)) => {
            return Some(Difference {
                pointer: pointer.clone(),
                span: copy.span.start..copy.span.start + 1,
                copy: format!("a list of {}", copied.len()),
                original: format!("a list of {}", written.len()),
            });
        }
        (Kind::Number(a), Kind::Number(b)) => same_number(a, b),
        (a, b) => a == b,
    };
    (!same).then(|| Difference {
        pointer: pointer.clone(),
        span: copy.span.clone(),
        copy: describe(copy),
        original: describe(original),
    })
}

fn objects(
    copy: &Value,
    copied: &[Member],
    written: &[Member],
    pointer: &mut String,
    root: bool,
) -> Option<Difference> {
    let left_out = |member: &Member| {
        let empty = match &member.value.kind {
            Kind::Object(members) => members.is_empty(),
            Kind::Array(elements) => elements.is_empty(),
            _ => false,
        };
        root && (member.name == NESTED || empty && EMPTY_OR_ABSENT.contains(&member.name.as_str()))
    };
    // Of members that stand twice the last counts, as everywhere.
    let original: HashMap<&str, &Value> = written
        .iter()
        .map(|member| (member.name.as_str(), &member.value))
        .collect();
    for member in copied.iter().filter(|member| !left_out(member)) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&member.name.replace('~', "~0").replace('/', "~1"));
        let found = match original.get(member.name.as_str()) {
            Some(value) => values(&member.value, value, pointer),
            None => Some(Difference {
                pointer: pointer.clone(),
                span: member.name_span.clone(),
                copy: "a member".to_owned(),
                original: "no such member".to_owned(),
            }),
        };
        pointer.truncate(length);
        if found.is_some() {
            return found;
        }
    }
    let names: HashMap<&str, ()> = copied
        .iter()
        .map(|member| (member.name.as_str(), ()))
        .collect();
    let absent = written
        .iter()
        .filter(|member| !left_out(member))
        .find(|member| !names.contains_key(member.name.as_str()));
    absent.map(|member| Difference {
        pointer: pointer.clone(),
        span: copy.span.start..copy.span.start + 1,
        copy: format!(
            "no member \"{}\"",
            super::super::finding::cut(&member.name, 60).escape_debug()
        ),
        original: "one".to_owned(),
    })
}

/// Whether two tokens are one number. Integers are compared digit by digit, since doubles do not tell large ones apart.
fn same_number(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let whole = |token: &str| !token.contains(['.', 'e', 'E']);
    if whole(a) && whole(b) {
        return a.trim_start_matches('-').trim_start_matches('0').is_empty()
            && b.trim_start_matches('-').trim_start_matches('0').is_empty();
    }
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};

    fn first(copy: &str, original: &str) -> Option<(String, String, String)> {
        let tree = |text: &str| {
            parse(text.as_bytes(), &Limits::default(), NonFinite::Keep)
                .unwrap()
                .root
        };
        difference(&tree(copy), &tree(original))
            .map(|found| (found.pointer, found.copy, found.original))
    }

    #[test]
    fn spelling_and_order_make_no_difference() {
        assert_eq!(
            first(r#"{"a":10,"b":[1.5e1]}"#, r#"{"b":[15],"a":10.0}"#),
            None
        );
        assert_eq!(first(r#"{"attributes":{}}"#, "{}"), None);
        assert_eq!(first("{}", r#"{"storage_transformers":[]}"#), None);
        assert_eq!(first(r#"{"consolidated_metadata":{"a":1}}"#, "{}"), None);
        assert_eq!(first(r#"{"a":-0}"#, r#"{"a":0}"#), None);
    }

    #[test]
    fn what_differs_is_named() {
        let found = |copy: &str, original: &str| {
            let (pointer, copy, original) = first(copy, original).unwrap();
            format!("{pointer}: {copy} / {original}")
        };
        assert_eq!(
            found(r#"{"a":{"x/y":[1,2]}}"#, r#"{"a":{"x/y":[1,3]}}"#),
            "/a/x~1y/1: 2 / 3"
        );
        assert_eq!(
            found(r#"{"a":[1]}"#, r#"{"a":[1,2]}"#),
            "/a: a list of 1 / a list of 2"
        );
        assert_eq!(found(r#"{"a":1}"#, "{}"), "/a: a member / no such member");
        assert_eq!(found("{}", r#"{"a":1}"#), ": no member \"a\" / one");
        assert_eq!(
            found(r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#),
            "/a: 9007199254740993 / 9007199254740992"
        );
        assert_eq!(found(r#"{"a":"1"}"#, r#"{"a":1}"#), "/a: \"1\" / 1");
        assert_eq!(
            found(r#"{"a":{"attributes":{}}}"#, r#"{"a":{}}"#),
            "/a/attributes: a member / no such member"
        );
    }
}
