//! From what the codes of each site decode to, to the verdict on the values of an array, missing chunks included.

use crate::transform::chain::{BoundChain, Direction};
use crate::transform::equivalence::{Differences, Verdict};
use crate::transform::scalar::Scalar;

use super::document::Place;
use super::evidence::{Evidence, Presence};
use super::outcome::Stop;
use super::verdict::{
    CodesVerdict, Declared, DecodeKind, DecodeVerdict, Missing, MissingInner, Proof, is_same,
};

/// A run that changes: what was there, what takes its place, and what its codes decode to.
pub(super) struct Changed<'c> {
    /// Its place on the way from the array.
    pub(super) place: usize,
    /// The chain before.
    pub(super) old: &'c BoundChain,
    /// The chain after.
    pub(super) new: &'c BoundChain,
    /// Its codes.
    pub(super) codes: CodesVerdict,
}

/// The fills of both documents.
pub(super) struct Fills {
    /// The fill of the array before; `None` where it was undefined.
    pub(super) old: Option<Scalar>,
    /// The fill of the array after.
    pub(super) new: Option<Scalar>,
    /// What was handed to each shard.
    pub(super) handed_old: Vec<Option<Scalar>>,
    /// What is handed to each shard.
    pub(super) handed_new: Vec<Option<Scalar>>,
}

/// The verdict on an array.
pub(super) fn judge(
    places: &[Place<'_>],
    changed: &[Changed<'_>],
    fills: &Fills,
    declared: Option<Declared>,
    evidence: &dyn Evidence,
) -> Result<DecodeVerdict, Stop> {
    let mut differences = Differences::default();
    let mut all_codes: Option<Differences> = None;
    for change in changed {
        differences.merge(&change.codes.differences);
        if let Some(all) = &change.codes.all_codes {
            all_codes.get_or_insert_default().merge(all);
        }
    }
    let is_proven = changed.iter().all(|change| change.codes.proof.is_some());
    let proof = changed.iter().filter_map(|change| change.codes.proof).max();
    let mut asked = Asked {
        evidence,
        presence: None,
    };
    let missing = asked.missing(fills)?;
    let missing_inner = asked.missing_inner(places, changed, fills)?;
    let first = changed.iter().find(|change| !change.codes.is_identical());
    let before = first.and_then(|change| computing(places.get(..change.place)?));
    let unreadable = changed.iter().any(|change| change.codes.unreadable() > 0);
    let differs = differences.verdict() != Verdict::Identical || unreadable;
    let kind = if missing.is_some() || missing_inner.is_some() || is_proven && differs {
        DecodeKind::Differs
    } else if is_proven {
        DecodeKind::Identical
    } else {
        DecodeKind::Unproven
    };
    Ok(DecodeVerdict {
        kind,
        proof: proof.filter(|_| is_proven),
        differences,
        all_codes,
        missing_inner,
        missing,
        declared,
        before,
    })
}

/// The last codec before a place that computes with values.
fn computing(places: &[Place<'_>]) -> Option<String> {
    places.iter().rev().find_map(|place| match place {
        Place::Run(run) => run.packing.names.last().cloned(),
        Place::Other { keeps: true, .. } | Place::Shard => None,
        Place::Other { name, .. } => Some((*name).to_owned()),
    })
}

/// Evidence with the presence of chunks asked for at most once.
struct Asked<'e> {
    evidence: &'e dyn Evidence,
    presence: Option<Presence>,
}

impl Asked<'_> {
    fn presence(&mut self) -> Result<Presence, Stop> {
        match self.presence {
            Some(presence) => Ok(presence),
            None => Ok(*self.presence.insert(self.evidence.presence()?)),
        }
    }

    /// What missing chunks read as, where the fill of the array changes.
    fn missing(&mut self, fills: &Fills) -> Result<Option<Missing>, Stop> {
        let (Some(old), Some(new)) = (fills.old, fills.new) else {
            return Ok(None);
        };
        if is_same(old, new) {
            return Ok(None);
        }
        let presence = self.presence()?;
        let missing = Missing::of(presence, Some(old), new);
        Ok((missing.chunks > 0 || missing.inner_chunks > 0).then_some(missing))
    }

    /// What missing inner chunks read as, where a codec that changes stands before their shard.
    fn missing_inner(
        &mut self,
        places: &[Place<'_>],
        changed: &[Changed<'_>],
        fills: &Fills,
    ) -> Result<Option<MissingInner>, Stop> {
        let shards = places
            .iter()
            .enumerate()
            .filter(|(_, place)| matches!(place, Place::Shard));
        for (n, (at, _)) in shards.enumerate() {
            if !changed.iter().any(|change| change.place < at) {
                continue;
            }
            let handed = |fills: &[Option<Scalar>]| fills.get(n).copied().flatten();
            let (old, new) = (handed(&fills.handed_old), handed(&fills.handed_new));
            let before = places.get(..at).unwrap_or_default();
            let old_value = old.and_then(|code| back(before, changed, code, |change| change.old));
            let new_value = new.and_then(|code| back(before, changed, code, |change| change.new));
            let same = match (old_value, new_value) {
                (Some(old), Some(new)) => is_same(old, new),
                _ => {
                    let certain = |change: &Changed<'_>| {
                        change.codes.is_identical() && change.codes.proof == Some(Proof::AllCodes)
                    };
                    old.is_some() && old == new && changed.iter().all(certain)
                }
            };
            if same {
                continue;
            }
            let count = self.presence()?.missing_inner;
            if count > 0 {
                return Ok(Some(MissingInner {
                    count,
                    old: old_value,
                    new: new_value,
                }));
            }
        }
        Ok(None)
    }
}

/// What a code that is handed to a shard decodes to, where nothing but packing codecs computes before it.
fn back<'c>(
    before: &[Place<'_>],
    changed: &[Changed<'c>],
    code: Scalar,
    side: fn(&Changed<'c>) -> &'c BoundChain,
) -> Option<Scalar> {
    let mut value = code;
    for (at, place) in before.iter().enumerate().rev() {
        match place {
            Place::Shard | Place::Other { keeps: true, .. } => {}
            Place::Other { .. } => return None,
            Place::Run(run) => {
                let change = changed.iter().find(|change| change.place == at);
                let chain = match change {
                    Some(change) => side(change),
                    None => run.chain()?,
                };
                value = chain.transform(Direction::Decode, value).ok()?;
            }
        }
    }
    Some(value)
}
