//! JSON that is yet to be written, and the layout to write it in.

use std::fmt::Write;

use super::super::json::{Kind, Member, Value};

/// A value to be put into a document.
///
/// Numbers are the tokens that will stand in the text. serde_json's values would lose their
/// spelling.
#[derive(Debug, Clone, PartialEq)]
pub enum Draft {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as the token to write.
    Number(String),
    /// A string, without escapes.
    String(String),
    /// An array.
    Array(Vec<Draft>),
    /// An object's members, in order.
    Object(Vec<(String, Draft)>),
}

impl Draft {
    /// A string.
    pub fn string(text: impl Into<String>) -> Self {
        Draft::String(text.into())
    }

    /// An object with these members.
    pub fn object<N: Into<String>>(members: impl IntoIterator<Item = (N, Draft)>) -> Self {
        Draft::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        )
    }

    /// The text of a document that holds this alone, with a line break at its end.
    pub fn to_document(&self, layout: &Layout) -> String {
        let mut text = String::new();
        self.write(&mut text, layout, "");
        text.push_str(&layout.newline);
        text
    }

    /// Writes this into a text whose current line is indented by `base`.
    pub(super) fn write(&self, text: &mut String, layout: &Layout, base: &str) {
        match self {
            Draft::Null => text.push_str("null"),
            Draft::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Draft::Number(token) => text.push_str(token),
            Draft::String(string) => write_string(text, string),
            Draft::Array(elements) => {
                layout.enclose(text, base, ['[', ']'], elements, |text, element, base| {
                    element.write(text, layout, base);
                })
            }
            Draft::Object(members) => layout.enclose(
                text,
                base,
                ['{', '}'],
                members,
                |text, (name, value), base| {
                    write_member(text, layout, base, name, value);
                },
            ),
        }
    }
}

pub(super) fn write_member(
    text: &mut String,
    layout: &Layout,
    base: &str,
    name: &str,
    value: &Draft,
) {
    write_string(text, name);
    text.push_str(&layout.colon);
    value.write(text, layout, base);
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
}

/// A copy of what a document holds. Numbers keep their tokens; bare non-finite numbers become the
/// strings that stand for them, since a draft is always JSON.
impl From<&Value> for Draft {
    fn from(value: &Value) -> Self {
        match &value.kind {
            Kind::Null => Draft::Null,
            Kind::Bool(value) => Draft::Bool(*value),
            Kind::Number(token) => Draft::Number(token.clone()),
            Kind::String(text) | Kind::NonFinite(text) => Draft::String(text.clone()),
            Kind::Array(elements) => Draft::Array(elements.iter().map(Draft::from).collect()),
            Kind::Object(members) => Draft::object(
                members
                    .iter()
                    .map(|member| (member.name.clone(), Draft::from(&member.value))),
            ),
        }
    }
}

impl From<u64> for Draft {
    fn from(number: u64) -> Self {
        Draft::Number(number.to_string())
    }
}

/// How a document is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// What one level of nesting is indented by; `None` if all stands on one line.
    indent: Option<String>,
    newline: String,
    /// The comma between values on one line, with its space.
    comma: String,
    colon: String,
}

impl Default for Layout {
    /// Two spaces for each level, as zarr-python writes.
    fn default() -> Self {
        Layout {
            indent: Some("  ".to_owned()),
            newline: "\n".to_owned(),
            comma: ", ".to_owned(),
            colon: ": ".to_owned(),
        }
    }
}

impl Layout {
    /// The layout of a document, judged by its outermost object or array; the default where that is
    /// empty.
    pub fn of(text: &str, root: &Value) -> Self {
        let mut layout = Layout::default();
        let (first, second) = match &root.kind {
            Kind::Object(members) => {
                if let Some(member) = members.first()
                    && let Some(colon) = text.get(member.name_span.end..member.value.span.start)
                    && !colon.contains('\n')
                {
                    colon.clone_into(&mut layout.colon);
                }
                let mut spans = members.iter().map(Member::span);
                (spans.next(), spans.next())
            }
            Kind::Array(elements) => {
                let mut spans = elements.iter().map(|element| element.span.clone());
                (spans.next(), spans.next())
            }
            _ => (None, None),
        };
        let Some(first) = first else { return layout };
        let opening = text
            .get(root.span.start + 1..first.start)
            .unwrap_or_default();
        match opening.rsplit_once('\n') {
            Some((before, indent)) => {
                if before.ends_with('\r') {
                    "\r\n".clone_into(&mut layout.newline);
                }
                layout.indent = Some(indent.to_owned());
            }
            None => {
                layout.indent = None;
                if let Some(comma) = second.and_then(|second| text.get(first.end..second.start)) {
                    comma.clone_into(&mut layout.comma);
                }
            }
        }
        layout
    }

    /// The indentation of the line on which `offset` stands; none in a document of one line.
    pub(super) fn base<'t>(&self, text: &'t str, offset: usize) -> &'t str {
        // In a large document without lines, looking for the start of the line would take long.
        if self.indent.is_none() {
            return "";
        }
        let before = text.get(..offset).unwrap_or_default();
        let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
        let blank = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
        &line[..blank]
    }

    /// The indentation one level below `base`.
    pub(super) fn inner(&self, base: &str) -> String {
        format!("{base}{}", self.indent.as_deref().unwrap_or_default())
    }

    /// The comma between items that stand on one line.
    pub(super) fn comma(&self) -> &str {
        &self.comma
    }

    /// The comma and the line break between items that are indented by `indent`.
    pub(super) fn line_comma(&self, indent: &str) -> String {
        format!(",{}{indent}", self.newline)
    }

    /// Writes items between brackets.
    pub(super) fn enclose<T>(
        &self,
        text: &mut String,
        base: &str,
        [open, close]: [char; 2],
        items: &[T],
        mut write: impl FnMut(&mut String, &T, &str),
    ) {
        text.push(open);
        match &self.indent {
            Some(_) if !items.is_empty() => {
                let inner = self.inner(base);
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    text.push_str(&self.newline);
                    text.push_str(&inner);
                    write(text, item, &inner);
                }
                text.push_str(&self.newline);
                text.push_str(base);
            }
            _ => {
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { &self.comma } else { "" });
                    write(text, item, base);
                }
            }
        }
        text.push(close);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::json::{Limits, NonFinite, parse};
    use super::*;

    fn layout(text: &str) -> Layout {
        let root = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse)
            .unwrap()
            .root;
        Layout::of(text, &root)
    }

    fn sample() -> Draft {
        Draft::object([
            (
                "a",
                Draft::Array(vec![1.into(), Draft::Null, Draft::Array(vec![])]),
            ),
            (
                "b\n\"\\\u{1}é",
                Draft::object([("c", Draft::Number("1.50".to_owned()))]),
            ),
        ])
    }

    #[test]
    fn writes_in_the_layout_of_a_document() {
        let name = "\"b\\n\\\"\\\\\\u0001é\"";
        assert_eq!(
            sample().to_document(&Layout::default()),
            format!(
                "{{\n  \"a\": [\n    1,\n    null,\n    []\n  ],\n  {name}: {{\n    \"c\": 1.50\n  }}\n}}\n"
            )
        );
        assert_eq!(
            sample().to_document(&layout("{\"x\":1,\"y\":2}")),
            format!("{{\"a\":[1,null,[]],{name}:{{\"c\":1.50}}}}\n")
        );
        assert_eq!(
            sample().to_document(&layout("[1, 2]")),
            format!("{{\"a\": [1, null, []], {name}: {{\"c\": 1.50}}}}\n")
        );
        assert_eq!(
            Draft::Array(vec![Draft::Bool(true)]).to_document(&layout("{\r\n\t\"x\" : 1\r\n}")),
            "[\r\n\ttrue\r\n]\r\n"
        );
        assert_eq!(layout("{}"), Layout::default());
    }

    #[test]
    fn drafts_copy_documents() {
        let text = sample().to_document(&Layout::default());
        let root = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse)
            .unwrap()
            .root;
        assert_eq!(Draft::from(&root), sample());
    }
}
