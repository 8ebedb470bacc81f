//! The new document: the old text, edited at the codecs, the fill and the attributes that change, and nowhere else.

use crate::metadata::edit::{Draft, EditError, Editor};
use crate::metadata::json::Value;

use super::candidates::{draft, one_line};
use super::document::{Run, parse_text};
use super::fill::NewRun;
use super::outcome::{Change, Reason, Stop};

/// What changes in a document.
pub(super) struct Edits<'e, 'v> {
    /// The text.
    pub(super) text: &'e str,
    /// The tree of it.
    pub(super) root: &'v Value,
    /// The runs with legacy codecs, and what takes their places.
    pub(super) runs: Vec<(&'e Run<'v>, &'e NewRun)>,
    /// The new fill, where it is another.
    pub(super) fill: Option<Draft>,
    /// The attributes that go.
    pub(super) dropped: Vec<&'static str>,
}

impl Edits<'_, '_> {
    /// The new text, and the members that differ in it.
    pub(super) fn apply(&self) -> Result<(String, Vec<Change>), Stop> {
        let text = self.edit().map_err(|error| {
            Reason::new(None, format!("the document cannot be edited: {error}"))
        })?;
        let parsed = parse_text(&text)?;
        let member = |text: &str, root: &Value, pointer: &str| {
            let value = root.lookup(pointer)?;
            text.get(value.span.clone()).map(str::to_owned)
        };
        let changes = self.pointers().into_iter().map(|pointer| Change {
            old: member(self.text, self.root, &pointer),
            new: member(&text, &parsed.root, &pointer),
            pointer,
        });
        let changes = changes.collect();
        Ok((text, changes))
    }

    /// The members that change: of lists of codecs within each other the outer ones, as the place of the inner ones may move.
    fn pointers(&self) -> Vec<String> {
        let mut pointers: Vec<String> = Vec::new();
        for (run, _) in &self.runs {
            let list = &run.site.list;
            let is_inside =
                |outer: &String| list == outer || list.starts_with(&format!("{outer}/"));
            if !pointers.iter().any(is_inside) {
                pointers.push(list.clone());
            }
        }
        if self.fill.is_some() {
            pointers.push("/fill_value".to_owned());
        }
        pointers.extend(
            self.dropped
                .iter()
                .map(|name| format!("/attributes/{name}")),
        );
        pointers
    }

    fn edit(&self) -> Result<String, EditError> {
        let mut editor = Editor::new(self.text, self.root);
        for (run, new) in &self.runs {
            let Some(list) = self.root.lookup(&run.site.list) else {
                continue;
            };
            for index in (0..run.entries.len()).filter(|index| run.is_legacy_at(*index)) {
                let made = new.rewritten.codecs.iter().zip(&new.rewritten.origins);
                let made = made.filter(|(_, origin)| origin.made && origin.index == index);
                let drafts: Vec<_> = made.map(|(codec, _)| draft(codec)).collect();
                editor.replace_element(list, run.site.first + index, &drafts)?;
            }
        }
        if let Some(fill) = &self.fill {
            editor.set_member(self.root, "fill_value", fill)?;
        }
        if let Some(attributes) = self.root.get("attributes") {
            for name in &self.dropped {
                editor.remove_member(attributes, name)?;
            }
        }
        editor.apply()
    }
}

/// The codecs of a run before.
pub(super) fn old_codecs(run: &Run<'_>) -> Vec<Draft> {
    run.entries
        .iter()
        .map(|entry| Draft::from(*entry))
        .collect()
}

/// The codecs of a run after.
pub(super) fn new_codecs(run: &Run<'_>, new: &NewRun) -> Vec<Draft> {
    let codecs = new.rewritten.codecs.iter().zip(&new.rewritten.origins);
    let drafts = codecs.map(|(codec, origin)| {
        let kept = run.entries.get(origin.index).filter(|_| !origin.made);
        kept.map_or_else(|| draft(codec), |entry| Draft::from(*entry))
    });
    drafts.collect()
}

/// JSON in a few words, for a note.
pub(super) fn brief(value: &Value) -> String {
    one_line(&Draft::from(value))
}
