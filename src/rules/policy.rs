//! Which rules run, and how bad what they find is: `--allow` and `--deny`.

use std::collections::HashMap;
use std::str::FromStr;

use super::{FAMILIES, Rule, Severity, all, find};

/// A rule or a family of rules, as the command line names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePattern {
    /// One rule.
    Rule(&'static str),
    /// All rules of a family: `cf/*`.
    Family(String),
}

/// Why the command line names no rules, or names them in two ways.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// There is no such rule.
    #[error("there is no rule {given:?}{near}; --list-rules lists them")]
    Unknown {
        /// What was given.
        given: String,
        /// The rules that it is like, in words.
        near: String,
    },
    /// A rule is allowed and denied.
    #[error("{0} is both allowed and denied")]
    Both(String),
}

impl FromStr for RulePattern {
    type Err = PolicyError;

    fn from_str(given: &str) -> Result<Self, PolicyError> {
        if let Some(family) = given.strip_suffix("/*")
            && all().any(|rule| family_of(rule) == family)
        {
            return Ok(Self::Family(family.to_owned()));
        }
        find(given)
            .map(|rule| Self::Rule(rule.id))
            .ok_or_else(|| PolicyError::Unknown {
                given: given.to_owned(),
                near: near(given),
            })
    }
}

impl RulePattern {
    /// Whether a rule is meant.
    #[must_use]
    pub fn names(&self, rule: &Rule) -> bool {
        match self {
            Self::Rule(id) => *id == rule.id,
            Self::Family(family) => family_of(rule) == family,
        }
    }
}

fn family_of(rule: &Rule) -> &str {
    rule.id.split('/').next().unwrap_or_default()
}

/// The rules of the same name in other families, or the family's others.
fn near(given: &str) -> String {
    let (family, name) = given.split_once('/').unwrap_or((given, ""));
    let same_name: Vec<_> = all()
        .filter(|rule| {
            let own = rule.id.split('/').nth(1).unwrap_or_default();
            own == name || own == given || (name.len() > 3 && own.contains(name))
        })
        .map(|rule| rule.id)
        .collect();
    if !same_name.is_empty() {
        return format!(" (did you mean {}?)", same_name.join(" or "));
    }
    let families = FAMILIES.iter().filter_map(|rules| rules.first());
    if families
        .map(family_of)
        .any(|known| known == family && name.is_empty())
    {
        return format!(" (did you mean \"{family}/*\"?)");
    }
    String::new()
}

/// The severities of all rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    changed: HashMap<&'static str, Option<Severity>>,
}

impl Policy {
    /// The policy that leaves out what is allowed and makes errors of what is denied. One rule counts for more than its family.
    ///
    /// # Errors
    ///
    /// Where the same rule, or the same family, is allowed and denied.
    pub fn new(allow: &[RulePattern], deny: &[RulePattern]) -> Result<Self, PolicyError> {
        if let Some(both) = allow.iter().find(|pattern| deny.contains(pattern)) {
            let name = match both {
                RulePattern::Rule(id) => (*id).to_owned(),
                RulePattern::Family(family) => format!("{family}/*"),
            };
            return Err(PolicyError::Both(name));
        }
        let mut changed = HashMap::new();
        for rule in all() {
            let asks = |patterns: &[RulePattern], single: bool| {
                patterns.iter().any(|pattern| match pattern {
                    RulePattern::Rule(id) => single && *id == rule.id,
                    RulePattern::Family(family) => !single && *family == family_of(rule),
                })
            };
            for single in [false, true] {
                if asks(allow, single) {
                    changed.insert(rule.id, None);
                }
                if asks(deny, single) {
                    changed.insert(rule.id, Some(Severity::Error));
                }
            }
        }
        Ok(Self { changed })
    }

    /// How bad what a rule finds is; `None` where it does not run.
    #[must_use]
    pub fn severity(&self, rule: &Rule) -> Option<Severity> {
        match self.changed.get(rule.id) {
            Some(changed) => *changed,
            None => Some(rule.severity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(allow: &[&str], deny: &[&str], id: &str) -> Option<Severity> {
        let patterns = |texts: &[&str]| -> Vec<RulePattern> {
            texts.iter().map(|text| text.parse().unwrap()).collect()
        };
        let policy = Policy::new(&patterns(allow), &patterns(deny)).unwrap();
        policy.severity(find(id).unwrap())
    }

    #[test]
    fn a_rule_counts_for_more_than_its_family() {
        assert_eq!(severity(&[], &[], "legacy/codec"), Some(Severity::Warning));
        assert_eq!(severity(&["legacy/*"], &[], "legacy/codec"), None);
        assert_eq!(
            severity(&["legacy/*"], &["legacy/codec"], "legacy/codec"),
            Some(Severity::Error)
        );
        assert_eq!(
            severity(&["legacy/codec"], &["legacy/*"], "legacy/codec"),
            None
        );
    }

    #[test]
    fn what_is_named_in_two_ways_is_refused() {
        let pattern = || vec!["cf/*".parse().unwrap()];
        assert_eq!(
            Policy::new(&pattern(), &pattern()),
            Err(PolicyError::Both("cf/*".to_owned()))
        );
    }

    #[test]
    fn unknown_rules_are_refused_with_what_was_meant() {
        let near = |text: &str| match text.parse::<RulePattern>() {
            Err(PolicyError::Unknown { near, .. }) => near,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            near("scale-offset/duplicate-key"),
            " (did you mean cast-value/duplicate-key?)"
        );
        assert_eq!(near("cf"), " (did you mean \"cf/*\"?)");
        assert_eq!(near("nonsense/*"), "");
    }
}
