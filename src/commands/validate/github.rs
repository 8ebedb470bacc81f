//! The report for GitHub: a workflow command for each finding, the worst first, since no more than ten of a kind are shown.

use super::human::in_words;
use super::located::Located;
use crate::error::Error;
use crate::report::validate::{Summary, Unreadable};
use crate::rules::Severity;
use crate::ui::Ui;

/// Commands as they come together.
#[derive(Default)]
pub(super) struct Github {
    store: String,
    commands: Vec<(Severity, String)>,
}

impl Github {
    pub(super) fn begin(&mut self, store: String) {
        self.store = store;
    }

    pub(super) fn node(&mut self, located: &Located<'_>) {
        for finding in &located.node.findings {
            let mut properties = vec![
                ("file", located.file(&finding.document)),
                ("line", finding.line.to_string()),
                ("col", finding.column.to_string()),
            ];
            // Columns are only taken where the lines are the same.
            if finding.end_line == finding.line {
                properties.push(("endColumn", finding.end_column.to_string()));
            } else {
                properties.push(("endLine", finding.end_line.to_string()));
            }
            properties.push(("title", finding.rule.clone()));
            let mut message = format!("{}; expected {}", finding.found, finding.expected);
            for note in finding.notes.iter().chain(&finding.hint) {
                message.push('\n');
                message.push_str(note);
            }
            self.push(finding.severity, &properties, &message);
        }
        for more in &located.node.more {
            let file = located.file(&more.document);
            let properties = [("file", file), ("title", more.rule.clone())];
            self.push(
                more.severity,
                &properties,
                &format!("and {} more", more.count),
            );
        }
    }

    pub(super) fn unreadable(&mut self, unreadable: &Unreadable) {
        let file = format!("{}/{}", self.store, unreadable.path);
        let properties = [("file", file), ("title", "unreadable".to_owned())];
        self.push(Severity::Error, &properties, &unreadable.message);
    }

    fn push(&mut self, severity: Severity, properties: &[(&str, String)], message: &str) {
        let command = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let properties: Vec<_> = properties
            .iter()
            .map(|(name, value)| format!("{name}={}", property(value)))
            .collect();
        let line = format!("::{command} {}::{}", properties.join(","), data(message));
        self.commands.push((severity, line));
    }

    pub(super) fn finish(mut self, ui: &mut Ui, summary: &Summary) -> Result<(), Error> {
        self.commands
            .sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
        for (_, command) in self.commands {
            ui.print(command + "\n")?;
        }
        if summary.documents == 0 {
            return Ok(());
        }
        ui.print(format!("{}\n", in_words(summary)))
    }
}

/// A message as workflow commands escape it.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property as workflow commands escape it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        assert_eq!(data("100 %\r\n::error::x"), "100 %25%0D%0A::error::x");
        assert_eq!(property("a,b:c\n"), "a%2Cb%3Ac%0A");
    }
}
