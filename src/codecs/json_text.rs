//! JSON values as text again, numbers spelt as they were.
//!
//! What goes through `serde_json` loses digits that a double does not hold, and parameters of codecs are rounded once, from
//! their decimal text, to the type at their place. So they travel as text.

use std::fmt::Write;

use crate::metadata::json::{Kind, Value};

/// Appends `value` as compact JSON.
pub(super) fn write(value: &Value, text: &mut String) {
    match &value.kind {
        Kind::Null => text.push_str("null"),
        Kind::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
        Kind::Number(token) => text.push_str(token),
        Kind::String(content) | Kind::NonFinite(content) => write_string(content, text),
        Kind::Array(elements) => {
            text.push('[');
            for (n, element) in elements.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write(element, text);
            }
            text.push(']');
        }
        Kind::Object(members) => {
            text.push('{');
            for (n, member) in members.iter().enumerate() {
                if n > 0 {
                    text.push(',');
                }
                write_string(&member.name, text);
                text.push(':');
                write(&member.value, text);
            }
            text.push('}');
        }
    }
}

/// Appends a string with its quotes and escapes.
pub(super) fn write_string(content: &str, text: &mut String) {
    // A string always has a JSON form, and a String never refuses to grow.
    let _ = write!(text, "{}", serde_json::Value::from(content));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};

    #[test]
    fn spellings_survive() {
        let text = r#"{"a":[1.50,10,10.0,1e400,-0],"b\n\"":{"c":null,"d":[true,false,"é"]}}"#;
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        let mut again = String::new();
        write(&parsed.root, &mut again);
        assert_eq!(again, text);
    }
}
