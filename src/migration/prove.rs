//! The proof on two documents as they are: one before a migration, and one that was read back after it.

use crate::codecs::configuration::is_packing;
use crate::error::Error;
use crate::metadata::edit::Draft;
use crate::metadata::json::Value;
use crate::metadata::v3;
use crate::transform::chain::BoundChain;
use crate::transform::equivalence::Comparison;

use super::document::{self, Place, Run};
use super::evidence::{Evidence, Question};
use super::fill::handed_before;
use super::judge::{Changed, Fills, judge};
use super::options::Verify;
use super::outcome::{Reason, Stop};
use super::verdict::{self, CodesVerdict, DecodeVerdict, Proof};

/// How two documents are compared.
#[derive(Debug, Clone, Copy)]
pub struct Proving {
    /// Whether the fill of the old document was defined.
    pub fill_is_defined: bool,
    /// What may be read.
    pub verify: Verify,
    /// Whether to ask the data which codes are in use, where not all decode alike: as a plan did that has
    /// [`DecodeVerdict::all_codes`].
    pub used_codes: bool,
}

/// Compares what two documents make of the same chunks.
///
/// Both are of Zarr v3. `evidence` is about the old one.
///
/// # Errors
///
/// Where the documents differ in more than packing codecs, fill and attributes; where a chain cannot be run; and where
/// `evidence` could not be read.
pub fn prove(
    old_text: &str,
    new_text: &str,
    proving: Proving,
    evidence: &dyn Evidence,
) -> Result<DecodeVerdict, Error> {
    proven(old_text, new_text, proving, evidence).map_err(|stop| match stop {
        Stop::Error(error) => error,
        Stop::Impossible(reasons) => {
            let error = Error::finding("the documents cannot be compared");
            reasons.into_iter().fold(error, |error, reason| {
                let place = reason
                    .pointer
                    .map_or(String::new(), |pointer| format!("{pointer}: "));
                error.detail(format!("{place}{}", reason.message))
            })
        }
    })
}

fn proven(
    old_text: &str,
    new_text: &str,
    proving: Proving,
    evidence: &dyn Evidence,
) -> Result<DecodeVerdict, Stop> {
    let (old, new) = (
        document::parse_text(old_text)?,
        document::parse_text(new_text)?,
    );
    let (old_array, new_array) = (document::read_array(&old)?, document::read_array(&new)?);
    same_but_for_packing(&old.root, &new.root, &old_array, &new_array)?;
    let (old_model, new_model) = (document::model(&old_array)?, document::model(&new_array)?);
    let old_way = document::way(&old_array, &old_model)?;
    let new_way = document::way(&new_array, &new_model)?;
    let mut changed = Vec::new();
    let places = old_way.iter().zip(&new_way).enumerate();
    for (place, pair) in places {
        let (Place::Run(old), Place::Run(new)) = pair else {
            continue;
        };
        if old.codecs == new.codecs {
            continue;
        }
        let (Some(old_chain), Some(new_chain)) = (old.chain(), new.chain()) else {
            continue;
        };
        changed.push(Changed {
            place,
            old: old_chain,
            new: new_chain,
            codes: compare(old, old_chain, new_chain, proving, evidence)?,
        });
    }
    let old_fill = old_model
        .outer
        .incoming
        .fill
        .filter(|_| proving.fill_is_defined);
    let new_fill = new_model.outer.incoming.fill;
    let fills = Fills {
        old: old_fill,
        new: new_fill,
        handed_old: handed_before(&old_way, old_fill),
        handed_new: handed_before(&new_way, new_fill),
    };
    judge(&old_way, &changed, &fills, None, evidence)
}

fn compare(
    run: &Run<'_>,
    old: &BoundChain,
    new: &BoundChain,
    proving: Proving,
    evidence: &dyn Evidence,
) -> Result<CodesVerdict, Stop> {
    let all = verdict::all_codes(old, new);
    let over_all = all.as_ref().map(|all| CodesVerdict {
        proof: Some(Proof::AllCodes),
        differences: all.clone(),
        all_codes: None,
        unreadable_padding: 0,
    });
    let may_ask = proving.verify == Verify::Data;
    match over_all {
        Some(over_all) => {
            let in_doubt = proving.used_codes || over_all.unreadable() > 0;
            if over_all.is_identical() || !may_ask || !in_doubt {
                return Ok(over_all);
            }
        }
        None if !may_ask => return Ok(verdict::tried(old, new)),
        None => {}
    }
    let comparisons = match &all {
        Some(_) => Vec::new(),
        None => Vec::from_iter(Comparison::new(old, new).ok()),
    };
    let question = Question {
        comparisons: &comparisons,
        watch: &[],
    };
    let scan = evidence.scan(&run.site, &question)?;
    verdict::of_scan(old, new, all.as_ref(), &scan, 0).ok_or_else(|| {
        let message = "the scan of the data did not tell which codes are in use";
        Reason::new(run.pointer(0), message).into()
    })
}

/// Refuses documents that differ in what no migration touches.
fn same_but_for_packing(
    old: &Value,
    new: &Value,
    old_array: &v3::Array<'_>,
    new_array: &v3::Array<'_>,
) -> Result<(), Stop> {
    const MAY_CHANGE: [&str; 3] = ["codecs", "fill_value", "attributes"];
    let names = |value: &Value| -> Vec<String> {
        let members = value.as_object().unwrap_or_default().iter();
        let members = members.filter(|member| !MAY_CHANGE.contains(&member.name.as_str()));
        members.map(|member| member.name.clone()).collect()
    };
    for name in names(old).iter().chain(&names(new)) {
        let [before, after] = [old, new].map(|root| root.get(name).map(Draft::from));
        if before != after {
            let message = "this member is not the same in both documents";
            return Err(Reason::new(format!("/{name}"), message).into());
        }
    }
    if same_chain(&old_array.codecs, &new_array.codecs) {
        Ok(())
    } else {
        let message = "the codecs around the packing ones are not the same in both documents";
        Err(Reason::new("/codecs".to_owned(), message).into())
    }
}

fn same_chain(old: &v3::Chain<'_>, new: &v3::Chain<'_>) -> bool {
    let steps = |chain: &v3::Chain<'_>| {
        let mut steps: Vec<Option<usize>> = Vec::new();
        for (n, codec) in chain.codecs.iter().enumerate() {
            let step = (!is_packing(codec.entry.name)).then_some(n);
            // A run of packing codecs is one step, however long.
            if step.is_some() || steps.last() != Some(&None) {
                steps.push(step);
            }
        }
        steps
    };
    let (before, after) = (steps(old), steps(new));
    before.len() == after.len()
        && before.into_iter().zip(after).all(|pair| match pair {
            (None, None) => true,
            (Some(a), Some(b)) => match (old.codecs.get(a), new.codecs.get(b)) {
                (Some(a), Some(b)) => same_codec(a, b),
                _ => false,
            },
            _ => false,
        })
}

fn same_codec(old: &v3::Codec<'_>, new: &v3::Codec<'_>) -> bool {
    let without_codecs = |codec: &v3::Codec<'_>| match Draft::from(codec.entry.node.value) {
        Draft::Object(members) => Draft::Object(
            members
                .into_iter()
                .map(|(name, value)| match value {
                    Draft::Object(inner) if name == "configuration" => {
                        let inner = inner.into_iter().filter(|(name, _)| name != "codecs");
                        (name, Draft::Object(inner.collect()))
                    }
                    value => (name, value),
                })
                .collect(),
        ),
        other => other,
    };
    match (&old.sharding, &new.sharding) {
        (Some(a), Some(b)) => {
            without_codecs(old) == without_codecs(new) && same_chain(&a.codecs, &b.codecs)
        }
        (None, None) => Draft::from(old.entry.node.value) == Draft::from(new.entry.node.value),
        _ => false,
    }
}
