//! The fill on its way through the new chain: whether it survives, and the map that carries it where it does not.

use crate::transform::cast_value::cast;
use crate::transform::chain::{Binding, BoundChain, BoundCodec, Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::equivalence::CodeSet;
use crate::transform::problem::Problem;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

use super::candidates::{Rewritten, has_map};
use super::document::{Place, Run};
use super::evidence::{Evidence, Scan, Use};
use super::options::{Options, Verify};
use super::outcome::{FillMap, Form, Reason, Stop};
use super::site::Site;
use super::unused::{self, Candidate};
use super::verdict::is_same;

/// Codes of one cast that are tried for a map before it is given up: one of them serves, unless none does.
const MOST_TRIED: usize = 4096;

/// The maps that may be added for a fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maps {
    /// None.
    No,
    /// Those that change the value of no code.
    Harmless,
    /// Those to codes that nothing uses too.
    Any,
}

/// What a fill is carried through.
pub(super) struct Way<'s, 'm> {
    /// The places, from the array on.
    pub(super) places: &'m [Place<'m>],
    /// The runs with legacy codecs among them.
    pub(super) sites: &'s [Site<'m>],
    /// The form of each.
    pub(super) forms: &'s [Form],
}

/// A fill that the new chain carries.
pub(super) struct Carried {
    /// The new runs, one for each site.
    pub(super) runs: Vec<NewRun>,
    /// The fill as it is handed to each shard.
    pub(super) handed: Vec<Option<Scalar>>,
    /// The maps that were added.
    pub(super) maps: Vec<FillMap>,
}

/// A run that takes the place of one with legacy codecs, with all its maps.
pub(super) struct NewRun {
    /// The codecs.
    pub(super) rewritten: Rewritten,
    /// The chain, bound with the fill.
    pub(super) chain: BoundChain,
}

impl NewRun {
    /// What the run stores the fill as.
    pub(super) fn stored_fill(&self) -> Option<Scalar> {
        self.chain.fill()?.stored(self.rewritten.codecs.len())
    }
}

/// A fill that the new chain does not carry.
pub(super) enum Lost {
    /// At a site: its number, and why.
    At(usize, Reason),
    /// Something else ended the planning.
    Stop(Stop),
}

impl From<Stop> for Lost {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// Carries a fill through the new chain.
///
/// # Errors
///
/// Where a codec loses it, and no map may or can carry it.
pub(super) fn carry(
    way: &Way<'_, '_>,
    fill: Scalar,
    maps: Maps,
    options: &Options,
    evidence: &dyn Evidence,
) -> Result<Carried, Lost> {
    let mut carried = Carried {
        runs: Vec::new(),
        handed: Vec::new(),
        maps: Vec::new(),
    };
    // The fill after the change; what it was before is in the model.
    let mut current = Some(fill);
    for place in way.places {
        match place {
            Place::Other { outgoing, .. } => {
                current = current.and_then(|fill| handed_on(fill, (*outgoing)?));
            }
            Place::Shard => carried.handed.push(current),
            Place::Run(run) if run.is_legacy() => {
                let number = carried.runs.len();
                let (Some(site), Some(form)) = (way.sites.get(number), way.forms.get(number))
                else {
                    continue;
                };
                let Some(fill) = current else {
                    let message = "the fill value that reaches this codec is not known, as a codec before it cannot hold the array's";
                    return Err(Lost::At(number, Reason::new(run.pointer(0), message)));
                };
                let search = Search {
                    site,
                    number,
                    form: *form,
                    fill,
                    own: site.old.transform(Direction::Encode, fill).ok(),
                };
                let (new, map) = search.carry(maps, options, evidence)?;
                current = new.stored_fill();
                carried.runs.push(new);
                carried.maps.extend(map);
            }
            Place::Run(run) => {
                let known = |fill| behind(run, fill);
                current = match current {
                    Some(fill) => known(fill).map_err(|reason| match carried.runs.len() {
                        0 => Lost::Stop(reason.into()),
                        sites => Lost::At(sites - 1, reason),
                    })?,
                    None => None,
                };
            }
        }
    }
    Ok(carried)
}

/// The fill that a document hands to each shard, with the legacy codec handing it on cast and not transformed.
pub(super) fn handed_before(places: &[Place<'_>], fill: Option<Scalar>) -> Vec<Option<Scalar>> {
    let mut current = fill;
    let mut handed = Vec::new();
    for place in places {
        match place {
            Place::Other { outgoing, .. } => {
                current = current.and_then(|fill| handed_on(fill, (*outgoing)?));
            }
            Place::Shard => handed.push(current),
            Place::Run(run) => {
                current = current.and_then(|fill| {
                    let chain = bind(run.incoming, Some(fill), &run.codecs).chain?;
                    chain.fill()?.stored(run.codecs.len())
                });
            }
        }
    }
    handed
}

/// The fill that reaches each run with a legacy codec in a document.
pub(super) fn reaching(places: &[Place<'_>], fill: Option<Scalar>) -> Vec<Option<Scalar>> {
    let mut current = fill;
    let mut reaching = Vec::new();
    for place in places {
        match place {
            Place::Other { outgoing, .. } => {
                current = current.and_then(|fill| handed_on(fill, (*outgoing)?));
            }
            Place::Shard => {}
            Place::Run(run) => {
                if run.is_legacy() {
                    reaching.push(current);
                }
                current = current.and_then(|fill| {
                    let chain = bind(run.incoming, Some(fill), &run.codecs).chain?;
                    chain.fill()?.stored(run.codecs.len())
                });
            }
        }
    }
    reaching
}

/// What a codec of numcodecs hands on for a fill: the fill, cast as C does; `None` where that is undefined.
fn handed_on(fill: Scalar, outgoing: DataType) -> Option<Scalar> {
    let (rounding, out_of_range) = if outgoing.is_float() {
        (Rounding::NearestEven, Some(OutOfRange::Clamp))
    } else {
        (Rounding::TowardsZero, None)
    };
    cast(fill, outgoing, rounding, out_of_range).ok()
}

/// The fill behind a run that stays as it is.
///
/// # Errors
///
/// Where the run carried the fill of before, or that is not known, and does not carry this one.
fn behind(run: &Run<'_>, fill: Scalar) -> Result<Option<Scalar>, Reason> {
    let binding = bind(run.incoming, Some(fill), &run.codecs);
    let as_before = run
        .chain()
        .and_then(|chain| chain.fill()?.encoded.first().copied())
        .is_some_and(|before| before == fill);
    if let (Some(problem), false) = (binding.problems.first(), as_before) {
        let message = format!(
            "behind the new codecs this one would be handed another fill value: {}; expected {}",
            problem.found, problem.expected
        );
        return Err(Reason::new(run.pointer(problem.codec), message));
    }
    let chain = binding.chain.as_ref();
    Ok(chain.and_then(|chain| chain.fill()?.stored(run.codecs.len())))
}

/// The search for a way to carry a fill through one site.
struct Search<'s, 'm> {
    site: &'s Site<'m>,
    number: usize,
    form: Form,
    fill: Scalar,
    /// What the legacy codec stores for it.
    own: Option<Scalar>,
}

impl Search<'_, '_> {
    fn carry(
        &self,
        maps: Maps,
        options: &Options,
        evidence: &dyn Evidence,
    ) -> Result<(NewRun, Option<FillMap>), Lost> {
        let attempt = match self.site.attempt(self.form) {
            Some(Ok(attempt)) => attempt,
            Some(Err(reasons)) => return Err(Stop::Impossible(reasons.to_vec()).into()),
            None => return Err(Stop::Impossible(Vec::new()).into()),
        };
        let rewritten = &attempt.rewritten;
        let binding = self.bind(rewritten);
        let Some(problem) = binding.problems.first() else {
            return self
                .complete(rewritten.clone(), binding)
                .map(|new| (new, None));
        };
        let origin = rewritten.origins.get(problem.codec).copied();
        let is_cast = problem.id == "cast-value/fill-round-trip" && origin.is_some_and(|o| o.made);
        if !is_cast {
            return Err(self.lost(self.unrepresentable(problem)));
        }
        if maps == Maps::No {
            return Err(self.lost(self.reason(problem)));
        }
        // The cast that loses the fill, or one before it.
        let casts = (0..=problem.codec).rev().filter(|index| {
            rewritten.origins.get(*index).is_some_and(|o| o.made)
                && matches!(
                    attempt.chain.codecs().get(*index),
                    Some(BoundCodec::CastValue(_))
                )
        });
        let place = |cast| MapPlace {
            rewritten,
            binding: &binding,
            cast,
            otherwise: &problem.found,
        };
        for cast in casts.clone() {
            if let Some((new, map)) = self.harmless(&place(cast))? {
                return Ok((new, Some(map)));
            }
        }
        if maps == Maps::Harmless {
            return Err(self.lost(self.reason(problem)));
        }
        if options.verify != Verify::Data {
            let reason = self.reason(problem).hint(
                "with --verify data, zarrpack looks for a code that no chunk uses and that can stand for it",
            );
            return Err(self.lost(reason));
        }
        let scan = self.site.scan(evidence)?;
        for cast in casts {
            if let Some((new, map)) = self.unused(&place(cast), scan)? {
                return Ok((new, Some(map)));
            }
        }
        Err(self.lost(self.no_code(problem, scan)))
    }

    fn bind(&self, rewritten: &Rewritten) -> Binding {
        bind(self.site.run.incoming, Some(self.fill), &rewritten.codecs)
    }

    fn complete(&self, rewritten: Rewritten, binding: Binding) -> Result<NewRun, Lost> {
        match binding.chain {
            Some(chain) => Ok(NewRun { rewritten, chain }),
            None => Err(self.lost(Reason::new(
                self.site.run.pointer(0),
                "the new codecs cannot be run",
            ))),
        }
    }

    /// A map to the code that decodes to the fill anyway, as long as it changes the value of no code.
    fn harmless(&self, place: &MapPlace<'_>) -> Result<Option<(NewRun, FillMap)>, Lost> {
        let old = self.site.old;
        let decodes_to_fill = |code: &Scalar| {
            let value = old.transform(Direction::Decode, *code);
            value.is_ok_and(|value| is_same(value, self.fill))
        };
        let Some(code) = self.own.filter(decodes_to_fill) else {
            return Ok(None);
        };
        let candidate = Candidate {
            code,
            code_use: Use::Used,
            is_own: true,
        };
        let Some((new, map)) = self.map(place, candidate, None)? else {
            return Ok(None);
        };
        let value = new.chain.transform(Direction::Decode, code);
        if !value.is_ok_and(|value| is_same(value, self.fill)) {
            return Ok(None);
        }
        let map = FillMap {
            code_use: None,
            ..map
        };
        Ok(Some((new, map)))
    }

    /// A map to the first unused code that serves.
    fn unused(&self, place: &MapPlace<'_>, scan: &Scan) -> Result<Option<(NewRun, FillMap)>, Lost> {
        let site = self.site;
        let stored = site.old.stored_type();
        let candidates = unused::free(stored, self.own, &site.watched, scan);
        for candidate in candidates.take(MOST_TRIED) {
            if let Some(found) = self.map(place, candidate, Some(scan))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A map on one cast to one code; `None` where it does not bring the fill back, or changes what another code decodes to.
    fn map(
        &self,
        place: &MapPlace<'_>,
        candidate: Candidate,
        scan: Option<&Scan>,
    ) -> Result<Option<(NewRun, FillMap)>, Lost> {
        let MapPlace {
            rewritten, cast, ..
        } = *place;
        let Candidate { code, .. } = candidate;
        let trace = place.binding.chain.as_ref().and_then(BoundChain::fill);
        let key = trace.and_then(|trace| trace.encoded.get(cast).copied());
        let (Some(key), Some(tail)) = (key, self.tail(rewritten, cast)) else {
            return Ok(None);
        };
        let Ok(value) = tail.transform(Direction::Decode, code) else {
            return Ok(None);
        };
        let mapped = rewritten.with_map(cast, key, value);
        let bound = self.bind(&mapped);
        let Some(chain) = bound.chain.as_ref().filter(|_| bound.problems.is_empty()) else {
            return Ok(None);
        };
        let codecs = mapped.codecs.len();
        let carries = chain
            .fill()
            .is_some_and(|trace| trace.stored(codecs) == Some(code) && !trace.drifts(codecs));
        let used = scan.and_then(|scan| Some(&scan.used.as_ref()?.inside));
        if !carries || !stands_alone(&tail, code, value, used) {
            return Ok(None);
        }
        let map = FillMap {
            site: self.number,
            codec: cast,
            key,
            value,
            code,
            code_use: Some(candidate.code_use),
            is_legacys_own: candidate.is_own,
            otherwise: place.otherwise.to_owned(),
        };
        self.complete(mapped, bound).map(|new| Some((new, map)))
    }

    /// The codecs behind a cast.
    fn tail(&self, rewritten: &Rewritten, cast: usize) -> Option<BoundChain> {
        let bound = match self.site.attempt(self.form) {
            Some(Ok(attempt)) => attempt.chain.codecs().get(cast)?,
            _ => return None,
        };
        let codecs = rewritten.codecs.get(cast + 1..)?;
        bind(bound.outgoing(), None, codecs).chain
    }

    fn lost(&self, reason: Reason) -> Lost {
        Lost::At(self.number, reason)
    }

    /// Why the fill does not survive.
    fn reason(&self, problem: &Problem) -> Reason {
        let message = format!(
            "the fill value {} would not survive: {}",
            self.fill, problem.found
        );
        Reason::new(Some("/fill_value".to_owned()), message)
    }

    /// No map helps where the fill cannot be computed with, or where it is lost in a codec that stays as it is.
    fn unrepresentable(&self, problem: &Problem) -> Reason {
        let reason = self.reason(problem);
        if self.form == Form::Plain
            && self.site.run.incoming != super::candidates::arithmetic(self.site.old.stored_type())
        {
            reason.hint(
                "--exact, which computes in a wider type, may carry it; where no chunk is missing, so may --fill-value",
            )
        } else {
            reason.hint("where no chunk is missing, --fill-value gives the array another fill")
        }
    }

    fn no_code(&self, problem: &Problem, scan: &Scan) -> Reason {
        let stored = self.site.old.stored_type();
        let free = unused::free(stored, self.own, &self.site.watched, scan).next();
        let codes = match (free, &scan.used) {
            (None, Some(_)) => format!(
                "and all {} codes of {stored} are in use, so that none is free to stand for it",
                1_u64 << stored.bits()
            ),
            (None, None) => format!("and no code of {stored} that was looked for is unused"),
            (Some(_), _) => "and no map to an unused code brings it back as it was".to_owned(),
        };
        let reason = self.reason(problem);
        Reason {
            message: format!("{}, {codes}", reason.message),
            ..reason
        }
        .hint("where no chunk is missing, --fill-value gives the array another fill")
    }
}

/// Where a map may be added.
struct MapPlace<'s> {
    rewritten: &'s Rewritten,
    /// The run, bound with the fill.
    binding: &'s Binding,
    /// The cast that gets the map.
    cast: usize,
    /// What becomes of the fill without it.
    otherwise: &'s str,
}

/// Whether no other code decodes to the same value at the place of a map, so that the map changes nothing but the code that it is
/// for. Only codes in use count, where these are known.
pub(super) fn stands_alone(
    tail: &BoundChain,
    code: Scalar,
    value: Scalar,
    used: Option<&CodeSet>,
) -> bool {
    if tail.codecs().is_empty() {
        return true;
    }
    let collides = |other: Scalar| {
        other != code
            && tail
                .transform(Direction::Decode, other)
                .is_ok_and(|decoded| decoded.equals(value))
    };
    if let Some(used) = used {
        return !used.iter().any(collides);
    }
    // Dividing, adding and casting without a map keep the order of codes, so that equals are neighbours.
    let keeps_order = tail.codecs().iter().all(|codec| match codec {
        BoundCodec::ScaleOffset(_) => true,
        BoundCodec::CastValue(cast) => cast.incoming.is_float() && !has_map(codec),
        BoundCodec::FixedScaleOffset(_) => false,
    });
    let (low, high) = Scalar::finite_range(code.data_type());
    let mut neighbours = [code.ordinal() - 1, code.ordinal() + 1]
        .into_iter()
        .filter(|ordinal| (low.ordinal()..=high.ordinal()).contains(ordinal))
        .map(|ordinal| Scalar::from_ordinal(code.data_type(), ordinal));
    keeps_order && !neighbours.any(collides)
}
