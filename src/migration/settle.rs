//! Which fill the array has from now on, and how it is carried.

use crate::metadata::edit::Draft;
use crate::transform::chain::Direction;
use crate::transform::literal::Literal;
use crate::transform::scalar::Scalar;

use super::array::Planning;
use super::candidates::one_line;
use super::document::Place;
use super::fill::{Carried, Lost, Maps, NewRun, Way, carry};
use super::forms::check_readable;
use super::options::Verify;
use super::outcome::{FillOutcome, Form, Reason, Stop};
use super::unused;

/// Codes that are tried for a fill that was undefined.
const MOST_TRIED: usize = 64;

/// A fill, and the codecs that carry it.
pub(super) struct Settled {
    /// The fill.
    pub(super) fill: Scalar,
    /// What was done about it.
    pub(super) outcome: FillOutcome,
    /// The form of each site.
    pub(super) forms: Vec<Form>,
    /// The new codecs.
    pub(super) carried: Carried,
    /// What is worth knowing about it.
    pub(super) notes: Vec<String>,
}

/// Settles the fill.
///
/// # Errors
///
/// The reason for which there is none that the new codecs carry.
pub(super) fn settle(planning: &Planning<'_>, forms: Vec<Form>) -> Result<Settled, Stop> {
    let settling = Settling { planning, forms };
    if planning.declared.is_some() {
        return settling.declared();
    }
    match planning.fill {
        Some(fill) => settling.stated(fill),
        None => settling.undefined(),
    }
}

/// What was done about a fill that is carried as it is.
const fn as_it_is(carried: &Carried) -> FillOutcome {
    if carried.maps.is_empty() {
        FillOutcome::Survives
    } else {
        FillOutcome::Mapped
    }
}

struct Settling<'s, 'p> {
    planning: &'s Planning<'p>,
    forms: Vec<Form>,
}

impl Settling<'_, '_> {
    /// Carries a fill, in the exact form where the plain one loses it and the exact one is allowed.
    fn carry(&self, fill: Scalar, maps: Maps) -> Result<(Vec<Form>, Carried), Lost> {
        let Planning {
            places,
            sites,
            options,
            evidence,
            ..
        } = *self.planning;
        let mut forms = self.forms.clone();
        loop {
            let way = Way {
                places,
                sites,
                forms: &forms,
            };
            let (number, reason) = match carry(&way, fill, maps, options, evidence) {
                Ok(carried) => return Ok((forms, carried)),
                Err(Lost::At(number, reason)) => (number, reason),
                Err(stop) => return Err(stop),
            };
            match (forms.get_mut(number), sites.get(number)) {
                (Some(form @ Form::Plain), Some(site))
                    if matches!(site.attempt(Form::Exact), Some(Ok(_))) =>
                {
                    check_readable(site, Form::Exact, options, evidence)?;
                    *form = Form::Exact;
                }
                _ => return Err(Lost::At(number, reason)),
            }
        }
    }

    fn settled(
        fill: Scalar,
        outcome: FillOutcome,
        (forms, carried): (Vec<Form>, Carried),
    ) -> Settled {
        Settled {
            fill,
            outcome,
            forms,
            carried,
            notes: Vec::new(),
        }
    }

    /// The fill that the document states: as it is, with a map, or replaced by the user's.
    fn stated(&self, fill: Scalar) -> Result<Settled, Stop> {
        match self.carry(fill, Maps::Any) {
            Ok(carried) => {
                let mut settled = Self::settled(fill, as_it_is(&carried.1), carried);
                if self.planning.options.fill_value.is_some() {
                    let note = "--fill-value was not needed: the new codecs carry the fill that the array has";
                    settled.notes.push(note.to_owned());
                }
                Ok(settled)
            }
            Err(Lost::At(_, reason)) => match self.given()? {
                None => Err(reason.into()),
                Some(given) => {
                    let presence = self.planning.evidence.presence()?;
                    if presence.missing == 0 && presence.missing_inner == 0 {
                        return self.replaced(given, &reason);
                    }
                    let message = format!(
                        "{}; --fill-value cannot replace it, since {} chunks and {} inner chunks of shards were never written and read as it",
                        reason.message, presence.missing, presence.missing_inner
                    );
                    Err(Reason::new(reason.pointer, message).into())
                }
            },
            Err(Lost::Stop(stop)) => Err(stop),
        }
    }

    /// The fill of an array that had none: 0, the value of a code that nothing uses, or the user's.
    fn undefined(&self) -> Result<Settled, Stop> {
        let data_type = self.planning.data_type();
        let zero = data_type.and_then(|t| Scalar::parse(&Literal::Number("0".to_owned()), t).ok());
        let Some(zero) = zero else {
            return Err(Reason::new("/data_type".to_owned(), "the type has no zero").into());
        };
        let reason = match self.carry(zero, Maps::Harmless) {
            Ok(carried) => return Ok(Self::settled(zero, as_it_is(&carried.1), carried)),
            Err(Lost::At(_, reason)) => reason,
            Err(Lost::Stop(stop)) => return Err(stop),
        };
        if let Some(settled) = self.of_unused_code()? {
            return Ok(settled);
        }
        if let Some(given) = self.given()? {
            return self.replaced(given, &reason);
        }
        let message = format!(
            "the fill value was undefined and needs to be stated; {}, and no code was found that is unused and whose value could be it",
            reason.message
        );
        let hint = match self.planning.options.verify {
            Verify::Data => "--fill-value states one",
            _ => "--fill-value states one; with --verify data, zarrpack looks for an unused code",
        };
        Err(Reason::new(reason.pointer, message).hint(hint).into())
    }

    /// The value of a code that nothing uses, for an array whose own values meet the first site.
    fn of_unused_code(&self) -> Result<Option<Settled>, Stop> {
        let Planning {
            places,
            sites,
            options,
            evidence,
            ..
        } = *self.planning;
        let is_legacy = |place: &Place<'_>| matches!(place, Place::Run(run) if run.is_legacy());
        let mut before = places.iter().take_while(|place| !is_legacy(place));
        let direct =
            before.all(|place| matches!(place, Place::Shard | Place::Other { keeps: true, .. }));
        let ([site], true, Verify::Data) = (sites, direct, options.verify) else {
            return Ok(None);
        };
        let form = self.forms.first().copied().unwrap_or(Form::Plain);
        let Some(Ok(attempt)) = site.attempt(form) else {
            return Ok(None);
        };
        let scan = site.scan(evidence)?;
        let free = unused::free(site.old.stored_type(), None, &site.watched, scan);
        for candidate in free.take(MOST_TRIED) {
            let decoded = attempt.chain.transform(Direction::Decode, candidate.code);
            let Some(value) = decoded.ok().filter(|value| value.is_finite()) else {
                continue;
            };
            match self.carry(value, Maps::Harmless) {
                Ok((forms, carried)) => {
                    let new = carried.runs.first();
                    let comes_back = new.is_some_and(|new| {
                        let codecs = new.rewritten.codecs.len();
                        let trace = new.chain.fill();
                        trace.is_some_and(|trace| !trace.drifts(codecs))
                            && new.stored_fill() == Some(candidate.code)
                    });
                    if comes_back {
                        let outcome = FillOutcome::OfUnusedCode;
                        return Ok(Some(Self::settled(value, outcome, (forms, carried))));
                    }
                }
                Err(Lost::At(..)) => {}
                Err(Lost::Stop(stop)) => return Err(stop),
            }
        }
        Ok(None)
    }

    /// The user's fill.
    fn given(&self) -> Result<Option<Scalar>, Stop> {
        let (Some(draft), Some(data_type)) =
            (&self.planning.options.fill_value, self.planning.data_type())
        else {
            return Ok(None);
        };
        let literal = match draft {
            Draft::Number(token) => Literal::Number(token.clone()),
            Draft::String(text) => Literal::String(text.clone()),
            other => Literal::Other(one_line(other)),
        };
        Scalar::parse(&literal, data_type)
            .map(Some)
            .map_err(|error| {
                let message = format!(
                    "--fill-value must be {}, as the array's type is: {error}",
                    data_type.literal_forms()
                );
                Reason::new("/fill_value".to_owned(), message).into()
            })
    }

    fn replaced(&self, given: Scalar, reason: &Reason) -> Result<Settled, Stop> {
        match self.carry(given, Maps::Harmless) {
            Ok(carried) => Ok(Self::settled(given, FillOutcome::Given, carried)),
            Err(Lost::At(_, own)) => {
                let message = format!("{}; nor does --fill-value: {}", reason.message, own.message);
                Err(Reason::new(own.pointer, message).into())
            }
            Err(Lost::Stop(stop)) => Err(stop),
        }
    }

    /// NaN, since a code was declared missing.
    ///
    /// What was never written is then NaN too. That is what the declaration says where the fill before was NaN, or the code, or
    /// the value of the code; otherwise values would change that nobody has declared missing.
    fn declared(&self) -> Result<Settled, Stop> {
        let (Some(declared), [site], Some(data_type)) = (
            self.planning.declared,
            self.planning.sites,
            self.planning.data_type(),
        ) else {
            return Err(Stop::Impossible(Vec::new()));
        };
        let nan = Scalar::nan(data_type);
        let code = declared
            .code(site.old.stored_type())
            .map_err(|message| Reason::new(None, message))?;
        let value = site.old.transform(Direction::Decode, code).ok();
        let mut notes = Vec::new();
        if let Some(fill) = self.planning.fill.filter(|fill| !fill.is_nan()) {
            let means_missing = fill.equals(code) || value.is_some_and(|value| value.equals(fill));
            let presence = self.planning.evidence.presence()?;
            let missing = presence.missing + presence.missing_inner;
            if missing > 0 && !means_missing {
                let message = format!(
                    "{} chunks and {} inner chunks of shards were never written and read as the fill value {fill}; with --missing they \
                     would read as NaN, and {fill} is neither the code {code} nor what it decodes to",
                    presence.missing, presence.missing_inner
                );
                return Err(Reason::new("/fill_value".to_owned(), message).into());
            }
            if missing > 0 {
                notes.push(format!(
                    "{} chunks and {} inner chunks of shards were never written: they read as {fill} before, and as NaN now",
                    presence.missing, presence.missing_inner
                ));
            }
        }
        match self.carry(nan, Maps::No) {
            Ok(carried) => {
                let stored = carried.1.runs.first().and_then(NewRun::stored_fill);
                if stored != Some(code) {
                    let message =
                        format!("NaN would not be stored as the code {code} of --missing");
                    return Err(Reason::new(site.run.pointer(0), message).into());
                }
                let settled = Self::settled(nan, FillOutcome::DeclaredMissing, carried);
                Ok(Settled { notes, ..settled })
            }
            Err(Lost::At(_, reason)) => Err(reason.into()),
            Err(Lost::Stop(stop)) => Err(stop),
        }
    }
}
