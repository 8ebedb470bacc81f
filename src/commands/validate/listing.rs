//! `--list-rules` and `--explain`.

use serde_json::json;

use super::ValidateFormat;
use crate::error::{Error, ExitCode};
use crate::rules::{self, Rule, RulePattern};
use crate::ui::Ui;

/// Prints all rules.
pub(super) fn list(ui: &mut Ui, format: ValidateFormat) -> Result<ExitCode, Error> {
    if format == ValidateFormat::Json {
        let rules: Vec<_> = rules::all()
            .map(
                |rule| json!({"rule": rule.id, "severity": rule.severity, "summary": rule.summary}),
            )
            .collect();
        let document = json!({"schema": "zarrpack.validate.rules/1", "rules": rules});
        ui.print(format!("{document:#}\n"))?;
        return Ok(ExitCode::Done);
    }
    let widest = rules::all().map(|rule| rule.id.len()).max().unwrap_or(0);
    for rule in rules::all() {
        let Rule {
            id,
            severity,
            summary,
            ..
        } = rule;
        ui.print(format!("{id:widest$}  {:7}  {summary}\n", severity.name()))?;
    }
    Ok(ExitCode::Done)
}

/// Prints the pages of a rule, or of a family's rules.
pub(super) fn explain(
    ui: &mut Ui,
    pattern: &RulePattern,
    format: ValidateFormat,
) -> Result<ExitCode, Error> {
    if format != ValidateFormat::Human {
        return Err(Error::usage("--explain prints a page for people only"));
    }
    let mut first = true;
    for rule in rules::all().filter(|rule| pattern.names(rule)) {
        if !first {
            ui.print("\n")?;
        }
        first = false;
        let page = rules::page(rule).unwrap_or(rule.summary);
        ui.print(format!("{} ({})\n\n{page}\n", rule.id, rule.severity))?;
    }
    Ok(ExitCode::Done)
}
