//! The pages of rules, from `docs/rules`: what a rule finds, why it matters, an example, how to mend it.

use super::Rule;

/// The files, one for each family. Each rule's page is the section under the heading with its id.
const FILES: [&str; 9] = [
    include_str!("../../docs/rules/json.md"),
    include_str!("../../docs/rules/core.md"),
    include_str!("../../docs/rules/scale-offset.md"),
    include_str!("../../docs/rules/cast-value.md"),
    include_str!("../../docs/rules/chain.md"),
    include_str!("../../docs/rules/legacy.md"),
    include_str!("../../docs/rules/cf.md"),
    include_str!("../../docs/rules/consolidated.md"),
    include_str!("../../docs/rules/readers.md"),
];

/// The page of a rule, as Markdown without its heading; `None` if nobody has written it.
#[must_use]
pub fn page(rule: &Rule) -> Option<&'static str> {
    let heading = format!("\n## {}\n", rule.id);
    FILES.iter().find_map(|file| {
        let start = file.find(&heading)? + heading.len();
        let rest = file.get(start..)?;
        let end = rest.find("\n## ").unwrap_or(rest.len());
        Some(rest.get(..end)?.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;

    #[test]
    fn every_rule_has_a_page_that_says_what_why_and_how_to_mend() {
        for rule in all() {
            let Some(page) = page(rule) else {
                panic!("{} has no page", rule.id);
            };
            for part in ["**Why.** ", "```json", "**Mend.** "] {
                assert!(page.contains(part), "{}: no {part:?}", rule.id);
            }
        }
    }

    #[test]
    fn every_page_belongs_to_a_rule() {
        for file in FILES {
            for line in file.lines() {
                if let Some(id) = line.strip_prefix("## ") {
                    assert!(super::super::find(id).is_some(), "{id}");
                }
            }
        }
    }
}
