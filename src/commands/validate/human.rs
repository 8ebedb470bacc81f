//! The report for people: each finding under the line it is about, as a compiler shows them, node by node.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Level, Origin, Padding, Renderer, Snippet};

use super::excerpt::{Excerpt, visible};
use super::located::Located;
use crate::error::Error;
use crate::report::validate::{Finding, More, Summary};
use crate::rules::Severity;
use crate::ui::{OutputStyle, Ui};

/// The rule whose findings are told once for all arrays that they hold for.
const READERS: &str = "readers/support";

/// Prints what it is given.
pub(super) struct Human {
    style: OutputStyle,
    store: String,
    /// What is known of readers: what, how many arrays it holds for, the first of them.
    readers: Vec<(String, Vec<String>, u64, String)>,
    /// Whether anything was printed.
    printed: bool,
}

impl Human {
    pub(super) const fn new(style: OutputStyle) -> Self {
        Self {
            style,
            store: String::new(),
            readers: Vec::new(),
            printed: false,
        }
    }

    pub(super) fn begin(&mut self, store: String) {
        self.store = store;
        self.readers.clear();
    }

    pub(super) fn node(&mut self, ui: &mut Ui, located: &Located<'_>) -> Result<(), Error> {
        for (finding, span) in located.node.findings.iter().zip(&located.spans) {
            if finding.rule == READERS && finding.severity == Severity::Info {
                self.reader(finding, &located.place);
                continue;
            }
            let text = self.finding(located, finding, span);
            self.print(ui, &text)?;
        }
        for more in &located.node.more {
            let text = self.more(located, more);
            self.print(ui, &text)?;
        }
        Ok(())
    }

    fn print(&mut self, ui: &mut Ui, text: &str) -> Result<(), Error> {
        if self.printed {
            ui.print("\n")?;
        }
        self.printed = true;
        ui.print(format!("{}\n", text.trim_end()))
    }

    /// Keeps what is known of readers for the end of the store.
    fn reader(&mut self, finding: &Finding, place: &str) {
        let known = self
            .readers
            .iter_mut()
            .find(|(found, notes, ..)| *found == finding.found && *notes == finding.notes);
        match known {
            Some((_, _, count, _)) => *count += 1,
            None => self.readers.push((
                finding.found.clone(),
                finding.notes.clone(),
                1,
                place.to_owned(),
            )),
        }
    }

    fn renderer(&self) -> Renderer {
        let renderer = if self.style.color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        renderer
            .term_width(self.style.width.max(160))
            .decor_style(if self.style.unicode {
                DecorStyle::Unicode
            } else {
                DecorStyle::Ascii
            })
    }

    fn finding(
        &self,
        located: &Located<'_>,
        finding: &Finding,
        span: &std::ops::Range<usize>,
    ) -> String {
        let level = level(finding.severity);
        let file = visible(&located.file(&finding.document));
        let mut group = level
            .primary_title(visible(&finding.found))
            .id(finding.rule.as_str())
            .elements(Vec::<Padding>::new());
        let mut shown_column = finding.column;
        if located.text(finding).is_empty() {
            // Of what could not be read there is no line to show.
            let origin = Origin::path(file.clone()).line(finding.line);
            group = group.element(origin.char_column(finding.column));
        } else {
            let excerpt = Excerpt::new(located.text(finding), span);
            shown_column = excerpt.text[..excerpt.span.start].chars().count() + 1;
            let label = format!("expected {}", visible(&finding.expected));
            let annotation = AnnotationKind::Primary.span(excerpt.span).label(label);
            group = group.element(
                Snippet::source(excerpt.text)
                    .path(file.clone())
                    .line_start(finding.line)
                    .annotation(annotation),
            );
        }
        if !finding.pointer.is_empty() {
            group = group.element(Level::NOTE.message(format!("at {}", visible(&finding.pointer))));
        }
        for note in &finding.notes {
            group = group.element(Level::NOTE.message(visible(note)));
        }
        if let Some(hint) = &finding.hint {
            group = group.element(Level::HELP.message(visible(hint)));
        }
        let text = self.renderer().render(&[group]);
        if shown_column == finding.column {
            return text;
        }
        // The line was cut, and the renderer has counted in what is left of it.
        let at = |column| format!("{file}:{}:{column}", finding.line);
        text.replacen(&at(shown_column), &at(finding.column), 1)
    }

    fn more(&self, located: &Located<'_>, more: &More) -> String {
        let count = match (more.count, more.at_least) {
            (0, _) => "and more that were not counted".to_owned(),
            (count, true) => format!("and at least {count} more"),
            (count, false) => format!("and {count} more"),
        };
        let title = level(more.severity)
            .primary_title(format!(
                "{count} in {}",
                visible(&located.file(&more.document))
            ))
            .id(more.rule.as_str());
        self.renderer()
            .render(&[title.elements(Vec::<Padding>::new())])
    }

    pub(super) fn end(&mut self, ui: &mut Ui) -> Result<(), Error> {
        let readers = std::mem::take(&mut self.readers);
        for (found, notes, count, first) in readers {
            let arrays = match count {
                1 => visible(&first),
                2 => format!("{} and 1 more array", visible(&first)),
                _ => format!("{} and {} more arrays", visible(&first), count - 1),
            };
            let mut group = level(Severity::Info)
                .primary_title(visible(&found))
                .id(READERS)
                .element(Origin::path(arrays));
            for note in &notes {
                group = group.element(Level::NOTE.message(visible(note)));
            }
            let text = self.renderer().render(&[group]);
            self.print(ui, &text)?;
        }
        Ok(())
    }

    pub(super) fn finish(self, ui: &mut Ui, summary: &Summary) -> Result<(), Error> {
        if summary.documents == 0 {
            return Ok(());
        }
        if self.printed {
            ui.print("\n")?;
        }
        ui.print(format!("{}\n", in_words(summary)))
    }
}

const fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    }
}

/// The last line: `2 errors and 1 warning in 3 arrays and 1 group`.
pub(super) fn in_words(summary: &Summary) -> String {
    let counted = |count: u64, one: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    let found: Vec<_> = [
        (summary.errors, "error"),
        (summary.warnings, "warning"),
        (summary.infos, "info"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, one)| counted(count, one))
    .collect();
    let found = match found.as_slice() {
        [] => "nothing found".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    let mut nodes = Vec::new();
    if summary.arrays > 0 {
        nodes.push(counted(summary.arrays, "array"));
    }
    if summary.groups > 0 {
        nodes.push(counted(summary.groups, "group"));
    }
    if nodes.is_empty() {
        nodes.push(counted(summary.documents, "document"));
    }
    format!("{found} in {}", nodes.join(" and "))
}
