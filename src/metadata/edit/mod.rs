//! Changing a document's text where it changes, and nowhere else.
//!
//! Members that nobody asked to change keep their order, their spelling and their white space to
//! the byte, unknown ones included. Edits are collected against the text as it was read and applied
//! together.

mod container;
mod draft;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use super::json::{Limits, NonFinite, SyntaxError, Value, parse};
use container::Container;

pub use draft::{Draft, Layout};

/// A stretch of the text and what takes its place; an insertion where the stretch is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The bytes of the text as it was read.
    pub span: Range<usize>,
    /// The new text.
    pub text: String,
}

/// Why edits cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// A member was to be changed in what is no object, or an element in what is no array.
    #[error("{found} cannot be edited like {expected}")]
    NotA {
        /// What the value is.
        found: &'static str,
        /// What it was taken for.
        expected: &'static str,
    },
    /// An array has no element of this index.
    #[error("the array has no element {0}")]
    NoElement(usize),
    /// Two edits touch the same bytes.
    #[error("two edits overlap at byte {0}")]
    Overlap(usize),
    /// A span is not one of this text.
    #[error("bytes {} to {} are no part of the text", .0.start, .0.end)]
    OutOfText(Range<usize>),
    /// The edited text is not JSON, because a replacement was none.
    #[error("the edited document is not JSON")]
    Broken(#[source] SyntaxError),
}

/// Edits to one document.
#[derive(Debug, Clone)]
pub struct Editor<'t> {
    text: &'t str,
    layout: Layout,
    /// Objects and arrays whose members come and go, by where they start.
    containers: BTreeMap<usize, Container>,
    changes: Vec<Change>,
}

impl<'t> Editor<'t> {
    /// Starts editing the text that `root` was parsed from. New parts are laid out as the document
    /// is.
    pub fn new(text: &'t str, root: &Value) -> Self {
        Editor {
            text,
            layout: Layout::of(text, root),
            containers: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    /// Puts another value in place of one.
    pub fn replace(&mut self, value: &Value, with: &Draft) {
        let mut text = String::new();
        with.write(
            &mut text,
            &self.layout,
            self.layout.base(self.text, value.span.start),
        );
        self.replace_text(value.span.clone(), text);
    }

    /// Puts another text in place of a stretch of the document, or inserts it where the stretch is
    /// empty.
    pub fn replace_text(&mut self, span: Range<usize>, text: String) {
        self.changes.push(Change { span, text });
    }

    /// Gives a member another value, or adds it after the others if the object has none of that
    /// name.
    ///
    /// Of duplicate members the last one is changed, since that is the one that readers see.
    ///
    /// # Errors
    ///
    /// When `object` is no object.
    pub fn set_member(
        &mut self,
        object: &Value,
        name: &str,
        value: &Draft,
    ) -> Result<(), EditError> {
        if let Some(member) = object.get(name) {
            self.replace(member, value);
            return Ok(());
        }
        let (text, layout) = (self.text, self.layout.clone());
        let container = self.container(object, "an object")?;
        let mut added = String::new();
        draft::write_member(
            &mut added,
            &layout,
            &container.indent(text, &layout),
            name,
            value,
        );
        container.append(Some(name), added);
        Ok(())
    }

    /// Takes away all members of a name; an object that has none stays as it is.
    ///
    /// # Errors
    ///
    /// When `object` is no object.
    pub fn remove_member(&mut self, object: &Value, name: &str) -> Result<(), EditError> {
        let members = object.as_object().unwrap_or_default();
        let container = self.container(object, "an object")?;
        for (index, _) in members
            .iter()
            .enumerate()
            .filter(|(_, member)| member.name == name)
        {
            container.replace(index, Vec::new());
        }
        Ok(())
    }

    /// Puts any number of elements, or none, in place of one.
    ///
    /// # Errors
    ///
    /// When `array` is no array, or has no element `index`.
    pub fn replace_element(
        &mut self,
        array: &Value,
        index: usize,
        with: &[Draft],
    ) -> Result<(), EditError> {
        let length = array.as_array().map_or(0, <[Value]>::len);
        let (text, layout) = (self.text, self.layout.clone());
        let container = self.container(array, "an array")?;
        if index >= length {
            return Err(EditError::NoElement(index));
        }
        let indent = container.indent(text, &layout);
        let texts = with.iter().map(|draft| {
            let mut text = String::new();
            draft.write(&mut text, &layout, &indent);
            text
        });
        container.replace(index, texts.collect());
        Ok(())
    }

    /// Adds an element after the others.
    ///
    /// # Errors
    ///
    /// When `array` is no array.
    pub fn push_element(&mut self, array: &Value, element: &Draft) -> Result<(), EditError> {
        let (text, layout) = (self.text, self.layout.clone());
        let container = self.container(array, "an array")?;
        let mut added = String::new();
        element.write(&mut added, &layout, &container.indent(text, &layout));
        container.append(None, added);
        Ok(())
    }

    /// The changes that the edits come to, in the order of the text.
    ///
    /// # Errors
    ///
    /// When two edits overlap, or one reaches beyond the text.
    pub fn changes(&self) -> Result<Vec<Change>, EditError> {
        let inner = self
            .containers
            .values()
            .flat_map(|container| container.changes(self.text, &self.layout));
        let mut changes: Vec<_> = self.changes.iter().cloned().chain(inner).collect();
        changes.sort_by_key(|change| (change.span.start, change.span.end));
        for change in &changes {
            if self.text.get(change.span.clone()).is_none() {
                return Err(EditError::OutOfText(change.span.clone()));
            }
        }
        // Two insertions at one place overlap too, for their order would be a matter of chance.
        let overlap = changes
            .windows(2)
            .find(|pair| pair[1].span.start < pair[0].span.end || pair[1].span == pair[0].span);
        match overlap {
            Some(pair) => Err(EditError::Overlap(pair[1].span.start)),
            None => Ok(changes),
        }
    }

    /// The document with all edits made. It is parsed again, so what comes back is JSON.
    ///
    /// # Errors
    ///
    /// As for [`Editor::changes`], and when the result is not JSON.
    pub fn apply(&self) -> Result<String, EditError> {
        let mut edited = String::with_capacity(self.text.len());
        let mut copied = 0;
        for change in self.changes()? {
            edited.push_str(&self.text[copied..change.span.start]);
            edited.push_str(&change.text);
            copied = change.span.end;
        }
        edited.push_str(&self.text[copied..]);
        // The limits have been applied to what was read; what bare numbers it has are not for this
        // to judge.
        let limits = Limits {
            max_bytes: u64::MAX,
            max_values: usize::MAX,
            ..Limits::default()
        };
        parse(edited.as_bytes(), &limits, NonFinite::Keep).map_err(EditError::Broken)?;
        Ok(edited)
    }

    fn container(
        &mut self,
        value: &Value,
        expected: &'static str,
    ) -> Result<&mut Container, EditError> {
        let not = EditError::NotA {
            found: value.type_name(),
            expected,
        };
        if value.type_name() != expected {
            return Err(not);
        }
        // Only the first edit to a container lists its items, of which there may be many.
        match self.containers.entry(value.span.start) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Container::new(value).ok_or(not)?)),
        }
    }
}
