//! The tree: values and members with their spans.

use std::ops::Range;

use super::pointer;

/// A JSON value and the bytes of the text that it occupies.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// What the value is.
    pub kind: Kind,
    /// Its bytes in the text, quotes and brackets included.
    pub span: Range<usize>,
}

/// The content of a [`Value`].
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as the exact text of its token.
    Number(String),
    /// A string, its escapes decoded.
    String(String),
    /// The elements of an array, in order.
    Array(Vec<Value>),
    /// The members of an object, in order and with duplicates.
    Object(Vec<Member>),
    /// A bare `NaN`, `Infinity` or `-Infinity`, which is not JSON; only under
    /// [`NonFinite::Keep`](super::NonFinite::Keep).
    NonFinite(String),
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The name, its escapes decoded.
    pub name: String,
    /// The bytes of the name in the text, quotes included.
    pub name_span: Range<usize>,
    /// The value.
    pub value: Value,
}

impl Member {
    /// The bytes of the whole member: from the name's opening quote to the value's end.
    pub fn span(&self) -> Range<usize> {
        self.name_span.start..self.value.span.end
    }
}

impl Value {
    /// The member of this object called `name`; `None` if there is none, or if this is no object.
    ///
    /// Of duplicate members the last one counts, as in most readers.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.member(name).map(|member| &member.value)
    }

    /// Like [`Value::get`], with the member's name and its span.
    pub fn member(&self, name: &str) -> Option<&Member> {
        self.as_object()?
            .iter()
            .rev()
            .find(|member| member.name == name)
    }

    /// The value that an RFC 6901 pointer such as `/codecs/0/name` leads to from here; the empty
    /// pointer leads here.
    pub fn lookup(&self, pointer: &str) -> Option<&Value> {
        if pointer.is_empty() {
            return Some(self);
        }
        let steps = pointer.strip_prefix('/')?;
        steps.split('/').try_fold(self, |value, step| {
            let step = pointer::unescape(step)?;
            match &value.kind {
                Kind::Array(elements) => elements.get(pointer::array_index(&step)?),
                _ => value.get(&step),
            }
        })
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The token of a number.
    pub fn as_number(&self) -> Option<&str> {
        match &self.kind {
            Kind::Number(token) => Some(token),
            _ => None,
        }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match &self.kind {
            Kind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.kind, Kind::Null)
    }

    /// What this is, in words that fit after "found": `an array`, `a number`.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Object(_) => "an object",
            Kind::NonFinite(_) => "a bare non-finite number",
        }
    }

    /// This value for serde_json, whose model is poorer:
    ///
    /// - an integer beyond 64 bits, or a decimal with too many digits, becomes the nearest double;
    /// - a number beyond the doubles becomes the largest finite one of its sign;
    /// - a bare non-finite number becomes the string of its name;
    /// - of duplicate members the last one stays.
    pub fn to_serde(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool(value) => serde_json::Value::Bool(*value),
            Kind::Number(token) => number_to_serde(token),
            Kind::String(text) | Kind::NonFinite(text) => serde_json::Value::String(text.clone()),
            Kind::Array(elements) => elements.iter().map(Value::to_serde).collect(),
            Kind::Object(members) => members
                .iter()
                .map(|member| (member.name.clone(), member.value.to_serde()))
                .collect(),
        }
    }
}

fn number_to_serde(token: &str) -> serde_json::Value {
    if let Ok(number) = token.parse::<serde_json::Number>() {
        return serde_json::Value::Number(number);
    }
    // serde_json refuses what overflows a double; the standard library reads it as an infinity.
    let nearest = token
        .parse::<f64>()
        .unwrap_or(0.0)
        .clamp(f64::MIN, f64::MAX);
    serde_json::Value::from(nearest)
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, NonFinite, parse};
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Value {
        parse(text.as_bytes(), &Limits::default(), NonFinite::Keep)
            .unwrap()
            .root
    }

    #[test]
    fn spans_cover_the_tokens() {
        let text = "{ \"a\" : [1.50, \"\\u00e9\"],\n\"b\": null }";
        let root = value(text);
        let member = root.member("a").unwrap();
        assert_eq!(&text[member.name_span.clone()], "\"a\"");
        assert_eq!(&text[member.span()], "\"a\" : [1.50, \"\\u00e9\"]");
        let elements = member.value.as_array().unwrap();
        assert_eq!(&text[elements[0].span.clone()], "1.50");
        assert_eq!(elements[0].as_number(), Some("1.50"));
        assert_eq!(&text[elements[1].span.clone()], "\"\\u00e9\"");
        assert_eq!(elements[1].as_str(), Some("é"));
        assert_eq!(root.span, 0..text.len());
    }

    #[test]
    fn pointers_follow_rfc_6901() {
        let root = value(r#"{"a/b":{"m~n":[10,20]},"":1,"0":{"-":3},"x":"y"}"#);
        let number = |pointer: &str| root.lookup(pointer).and_then(Value::as_number);
        assert_eq!(root.lookup(""), Some(&root));
        assert_eq!(number("/a~1b/m~0n/1"), Some("20"));
        assert_eq!(number("/"), Some("1"));
        assert_eq!(number("/0/-"), Some("3"));
        for nowhere in [
            "a",
            "/a",
            "/a~1b/m~0n/01",
            "/a~1b/m~0n/2",
            "/a~1b/m~0n/-",
            "/a~1b/m~0n/+1",
            "/a~2b",
            "/a~",
            "/x/0",
            "/a~1b/m~0n/99999999999999999999999",
        ] {
            assert_eq!(root.lookup(nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn the_last_duplicate_counts() {
        let root = value(r#"{"a":1,"b":2,"a":3}"#);
        assert_eq!(root.get("a").and_then(Value::as_number), Some("3"));
        assert_eq!(root.to_serde(), json!({"a": 3, "b": 2}));
        assert_eq!(value("[]").get("a"), None);
    }

    #[test]
    fn conversion_keeps_the_nearest_number() {
        let root =
            value("[18446744073709551615, 18446744073709551616, -0, 0.1, 1e400, -1e400, NaN]");
        assert_eq!(
            root.to_serde(),
            json!([
                u64::MAX,
                18446744073709551616.0,
                -0.0,
                0.1,
                f64::MAX,
                f64::MIN,
                "NaN"
            ])
        );
    }
}
