//! One run with legacy codecs, the runs that may take its place, and what has been found out about its codes.

use std::cell::OnceCell;

use crate::transform::chain::{BoundChain, Direction, bind};
use crate::transform::equivalence::{Comparison, Differences, Verdict};
use crate::transform::scalar::Scalar;

use super::candidates::{Rewritten, rewrite};
use super::document::Run;
use super::evidence::{Evidence, Question, Scan};
use super::missing::Declaration;
use super::options::{Options, Verify};
use super::outcome::{Form, Reason, Stop};
use super::unused;
use super::verdict::{self, CodesVerdict, Proof};

/// A run with legacy codecs in it.
pub(super) struct Site<'m> {
    /// The run as it is.
    pub(super) run: &'m Run<'m>,
    /// Its chain.
    pub(super) old: &'m BoundChain,
    /// The runs that may take its place, or why they cannot: plain, then exact where that is asked for and another one.
    attempts: Vec<(Form, Result<Attempt, Vec<Reason>>)>,
    /// Codes of a wide stored type that are asked about in the scan.
    pub(super) watched: Vec<Scalar>,
    scan: OnceCell<Scan>,
}

/// A run that may take the place of another.
pub(super) struct Attempt {
    /// Its codecs, with the map of a declared code.
    pub(super) rewritten: Rewritten,
    /// The chain of them, bound without a fill.
    pub(super) chain: BoundChain,
    /// The same without the map of a declared code, where there is one.
    bare: Option<BoundChain>,
    /// What the bare chain decodes from all codes, for types of up to 16 bits.
    all: Option<Differences>,
}

impl Attempt {
    fn new(run: &Run<'_>, form: Form, declared: Option<&Declaration>) -> Result<Self, Vec<Reason>> {
        let rewritten = rewrite(run, form)?;
        let chain = bound(run, &rewritten)?;
        let (rewritten, chain, bare) = match declared {
            None => (rewritten, chain, None),
            Some(declared) => {
                let mapped = declared.mapped(run, &rewritten).map_err(|r| vec![r])?;
                let with_map = bound(run, &mapped)?;
                (mapped, with_map, Some(chain))
            }
        };
        let plain = bare.as_ref().unwrap_or(&chain);
        let all = run.chain().and_then(|old| verdict::all_codes(old, plain));
        Ok(Self {
            rewritten,
            chain,
            bare,
            all,
        })
    }

    /// The chain that shows what happens to codes that were not declared missing.
    pub(super) fn bare(&self) -> &BoundChain {
        self.bare.as_ref().unwrap_or(&self.chain)
    }
}

/// Binds a rewritten run without a fill.
fn bound(run: &Run<'_>, rewritten: &Rewritten) -> Result<BoundChain, Vec<Reason>> {
    let binding = bind(run.incoming, None, &rewritten.codecs);
    let reasons: Vec<_> = binding
        .problems
        .iter()
        .map(|problem| {
            let origin = rewritten.origins.get(problem.codec);
            let pointer = origin.and_then(|origin| run.pointer(origin.index));
            let message = format!("expected {}, found {}", problem.expected, problem.found);
            Reason::new(pointer, message)
        })
        .collect();
    match binding.chain {
        Some(chain) if reasons.is_empty() => Ok(chain),
        _ => Err(reasons),
    }
}

impl<'m> Site<'m> {
    /// Prepares a run; `None` where it has no legacy codec.
    ///
    /// `fill` is what reaches it as the document is.
    pub(super) fn new(
        run: &'m Run<'m>,
        fill: Option<Scalar>,
        options: &Options,
        declared: Option<&Declaration>,
    ) -> Option<Self> {
        let old = run.chain().filter(|_| run.is_legacy())?;
        let mut attempts = vec![(Form::Plain, Attempt::new(run, Form::Plain, declared))];
        if options.exact {
            let exact = Attempt::new(run, Form::Exact, declared);
            let is_plain = match (&attempts[0].1, &exact) {
                (Ok(plain), Ok(exact)) => plain.rewritten == exact.rewritten,
                _ => false,
            };
            if !is_plain {
                attempts.push((Form::Exact, exact));
            }
        }
        let own = fill.and_then(|fill| old.transform(Direction::Encode, fill).ok());
        Some(Self {
            run,
            old,
            attempts,
            watched: unused::watched(old.stored_type(), own),
            scan: OnceCell::new(),
        })
    }

    /// What the data say, asked once.
    pub(super) fn scan(&self, evidence: &dyn Evidence) -> Result<&Scan, Stop> {
        if let Some(scan) = self.scan.get() {
            return Ok(scan);
        }
        let chains = self.compared().map(|(_, chain)| chain);
        let comparisons = chains.map(|new| Comparison::new(self.old, new));
        let comparisons: Result<Vec<_>, _> = comparisons.collect();
        let comparisons = comparisons.map_err(|error| {
            // Both chains lie between the types of the run, so this cannot be.
            Reason::new(self.run.pointer(0), error.to_string())
        })?;
        let question = Question {
            comparisons: &comparisons,
            watch: &self.watched,
        };
        let scan = evidence.scan(&self.run.site, &question)?;
        Ok(self.scan.get_or_init(|| scan))
    }

    /// What the data said, if they were asked.
    pub(super) fn scanned(&self) -> Option<&Scan> {
        self.scan.get()
    }

    /// The chains that a scan compares the old one with. Those of narrow types are compared by the codes in use.
    fn compared(&self) -> impl Iterator<Item = ((Form, bool), &BoundChain)> {
        let attempts = self
            .attempts
            .iter()
            .filter_map(|(form, attempt)| Some((*form, attempt.as_ref().ok()?)));
        attempts
            .filter(|(_, attempt)| attempt.all.is_none())
            .flat_map(|(form, attempt)| {
                let mapped = attempt.bare.is_some().then_some(&attempt.chain);
                let bare = ((form, false), attempt.bare());
                std::iter::once(bare).chain(mapped.map(|chain| ((form, true), chain)))
            })
    }

    /// The run of a form, or why there is none.
    pub(super) fn attempt(&self, form: Form) -> Option<Result<&Attempt, &[Reason]>> {
        let found = self.attempts.iter().find(|(known, _)| *known == form)?;
        Some(found.1.as_ref().map_err(Vec::as_slice))
    }

    /// Whether the exact form could be written, were it asked for.
    pub(super) fn may_be_exact(&self) -> bool {
        let plain = self.attempt(Form::Plain).and_then(Result::ok);
        rewrite(self.run, Form::Exact).is_ok_and(|exact| {
            plain.is_none_or(|plain| plain.rewritten.codecs.len() != exact.codecs.len())
        })
    }

    /// Whether the plain form is certain to decode the same values, so that the exact one is not needed.
    pub(super) fn plain_is_identical(
        &self,
        options: &Options,
        evidence: &dyn Evidence,
    ) -> Result<bool, Stop> {
        let Some(Ok(attempt)) = self.attempt(Form::Plain) else {
            return Ok(false);
        };
        match &attempt.all {
            Some(all) => Ok(verdict::unreadable(all) == 0 && all.verdict() == Verdict::Identical),
            None => Ok(self.verdict(Form::Plain, options, evidence)?.is_identical()),
        }
    }

    /// What becomes of the codes of the site, apart from one that was declared missing; with the data as far as they have been or
    /// must be asked.
    pub(super) fn verdict(
        &self,
        form: Form,
        options: &Options,
        evidence: &dyn Evidence,
    ) -> Result<CodesVerdict, Stop> {
        let attempt = match self.attempt(form) {
            Some(Ok(attempt)) => attempt,
            Some(Err(reasons)) => return Err(Stop::Impossible(reasons.to_vec())),
            None => return Err(Stop::Impossible(Vec::new())),
        };
        let new = attempt.bare();
        let Some(all) = &attempt.all else {
            if options.verify != Verify::Data {
                return Ok(verdict::tried(self.old, new));
            }
            return self.of_scan(form, attempt, false, evidence);
        };
        let over_all = CodesVerdict {
            proof: Some(Proof::AllCodes),
            differences: all.clone(),
            all_codes: None,
            unreadable_padding: 0,
        };
        let in_doubt = over_all.unreadable() > 0 || options.require_identical;
        let asked = self.scanned().is_some() || in_doubt && options.verify == Verify::Data;
        if over_all.is_identical() || !asked {
            return Ok(over_all);
        }
        self.of_scan(form, attempt, false, evidence)
    }

    /// What becomes of the codes of the site with a chain that has maps: of narrow types the codes in use where they are known,
    /// of wide ones what the scan compared.
    pub(super) fn mapped_verdict(
        &self,
        form: Form,
        mapped: &BoundChain,
        is_declared: bool,
        options: &Options,
        evidence: &dyn Evidence,
    ) -> Result<CodesVerdict, Stop> {
        let Some(Ok(attempt)) = self.attempt(form) else {
            return Err(Stop::Impossible(Vec::new()));
        };
        let Some(all) = verdict::all_codes(self.old, mapped) else {
            if options.verify != Verify::Data {
                return Ok(verdict::tried(self.old, mapped));
            }
            return self.of_scan(form, attempt, is_declared, evidence);
        };
        let over_all = CodesVerdict {
            proof: Some(Proof::AllCodes),
            differences: all,
            all_codes: None,
            unreadable_padding: 0,
        };
        let used = self.scanned().and_then(|scan| scan.used.as_ref());
        match used {
            Some(used) if !over_all.is_identical() => {
                Ok(
                    verdict::used_codes(self.old, mapped, &over_all.differences, used)
                        .unwrap_or(over_all),
                )
            }
            _ => Ok(over_all),
        }
    }

    fn of_scan(
        &self,
        form: Form,
        attempt: &Attempt,
        is_mapped: bool,
        evidence: &dyn Evidence,
    ) -> Result<CodesVerdict, Stop> {
        let scan = self.scan(evidence)?;
        let at = self
            .compared()
            .position(|(compared, _)| compared == (form, is_mapped));
        verdict::of_scan(
            self.old,
            attempt.bare(),
            attempt.all.as_ref(),
            scan,
            at.unwrap_or_default(),
        )
        .ok_or_else(|| {
            let message = "the scan of the data did not tell which codes are in use";
            Reason::new(self.run.pointer(0), message).into()
        })
    }
}
