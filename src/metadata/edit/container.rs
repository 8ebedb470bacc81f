//! Items that come to an object or array, and items that go, with the commas between them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::json::{Kind, Member, Value};
use super::{Change, Layout};

/// The edits to the items of one object or array.
#[derive(Debug, Clone)]
pub(super) struct Container {
    span: Range<usize>,
    brackets: [char; 2],
    items: Vec<Range<usize>>,
    /// What takes the place of an item: nothing, one or several.
    replaced: BTreeMap<usize, Vec<String>>,
    /// New items after the others, with the names of new members.
    appended: Vec<(Option<String>, String)>,
}

impl Container {
    /// The container that `value` is, if it is one.
    pub(super) fn new(value: &Value) -> Option<Self> {
        let (brackets, items) = match &value.kind {
            Kind::Array(elements) => {
                let spans = elements.iter().map(|element| element.span.clone());
                (['[', ']'], spans.collect())
            }
            Kind::Object(members) => (['{', '}'], members.iter().map(Member::span).collect()),
            _ => return None,
        };
        Some(Container {
            span: value.span.clone(),
            brackets,
            items,
            replaced: BTreeMap::new(),
            appended: Vec::new(),
        })
    }

    pub(super) fn replace(&mut self, index: usize, with: Vec<String>) {
        self.replaced.insert(index, with);
    }

    /// Adds an item; of two members of one name the later takes the place of the earlier.
    pub(super) fn append(&mut self, name: Option<&str>, text: String) {
        let same = self
            .appended
            .iter_mut()
            .find(|(added, _)| name.is_some() && added.as_deref() == name);
        match same {
            Some((_, earlier)) => *earlier = text,
            None => self.appended.push((name.map(str::to_owned), text)),
        }
    }

    /// The indentation of the lines that the items stand on.
    pub(super) fn indent(&self, text: &str, layout: &Layout) -> String {
        match self.line_indent(text) {
            Some(indent) => indent.to_owned(),
            None if self.items.is_empty() => layout.inner(layout.base(text, self.span.start)),
            None => layout.base(text, self.span.start).to_owned(),
        }
    }

    /// The white space before the first item, if that stands on a line of its own.
    fn line_indent<'t>(&self, text: &'t str) -> Option<&'t str> {
        let opening = text.get(self.span.start + 1..self.items.first()?.start)?;
        opening.rsplit_once('\n').map(|(_, indent)| indent)
    }

    fn comma(&self, text: &str, layout: &Layout) -> String {
        if let Some(indent) = self.line_indent(text) {
            return layout.line_comma(indent);
        }
        let between = match self.items.as_slice() {
            [first, second, ..] => text.get(first.end..second.start),
            _ => None,
        };
        between.unwrap_or(layout.comma()).to_owned()
    }

    /// The changes to the text that the edits come to.
    pub(super) fn changes(&self, text: &str, layout: &Layout) -> Vec<Change> {
        let appended: Vec<&str> = self
            .appended
            .iter()
            .map(|(_, text)| text.as_str())
            .collect();
        let (Some(first), Some(last)) = (self.items.first(), self.items.last()) else {
            return self.fill(text, layout, &appended);
        };
        let comma = self.comma(text, layout);
        let stays = |index: &usize| self.replaced.get(index).is_none_or(|with| !with.is_empty());
        let Some(staying) = (0..self.items.len()).find(stays) else {
            // All items go. Without new ones the brackets close, whatever was between them.
            let span = if appended.is_empty() {
                self.span.start + 1..self.span.end - 1
            } else {
                first.start..last.end
            };
            return vec![Change {
                span,
                text: appended.join(&comma),
            }];
        };
        let mut changes = Vec::new();
        for (index, with) in &self.replaced {
            // An item takes the comma before it along; those before the first that stays, the comma
            // after them.
            let span = match with.as_slice() {
                [] if *index < staying => self.items[*index].start..self.items[index + 1].start,
                [] => self.items[index - 1].end..self.items[*index].end,
                _ => self.items[*index].clone(),
            };
            changes.push(Change {
                span,
                text: with.join(&comma),
            });
        }
        if !appended.is_empty() {
            changes.push(Change {
                span: last.end..last.end,
                text: format!("{comma}{}", appended.join(&comma)),
            });
        }
        changes
    }

    /// The change that puts the first items between empty brackets.
    fn fill(&self, text: &str, layout: &Layout, items: &[&str]) -> Vec<Change> {
        if items.is_empty() {
            return Vec::new();
        }
        let mut filled = String::new();
        let base = layout.base(text, self.span.start);
        layout.enclose(&mut filled, base, self.brackets, items, |text, item, _| {
            text.push_str(item)
        });
        vec![Change {
            span: self.span.clone(),
            text: filled,
        }]
    }
}
