//! What stands in the way where nothing is proposed, told from what was tried, and what could be had instead.

use super::candidate::Origin;
use super::choice::{Screened, screen};
use super::elements::number_text;
use super::frame::{Frame, Special, grain};
use super::grid::any_step;
use super::placement::{codes_needed, room};
use super::proposal::{Rated, Rejected, whole};
use super::refusal::Refusal;
use super::steps::is_exact;
use super::subject::Subject;
use super::survey::Survey;
use super::wish::{Tolerance, Wish};
use crate::transform::data_type::DataType;

/// An error of so many grains is one of rounding.
const ROUNDING: f64 = 2.0;

/// How many candidates are named that miss.
const NAMED: usize = 3;

/// What was asked for, of which data, and which types were tried.
pub(super) struct Obstacles<'o> {
    pub(super) frame: &'o Frame,
    pub(super) survey: &'o Survey,
    pub(super) wish: &'o Wish,
    pub(super) types: &'o [DataType],
    pub(super) rejected: &'o [Rejected],
}

/// No type is left for the values.
pub(super) fn no_type(frame: &Frame, survey: &Survey) -> Refusal {
    let data_type = frame.data_type;
    if data_type.is_integer() {
        let refusal = Refusal::new(format!(
            "the values are integers already, and no type is narrower than {data_type}"
        ));
        return with_range(refusal, survey);
    }
    Refusal::new(format!(
        "no integer type that is proposed is narrower than {data_type}"
    ))
    .hint("--types all lets narrower ones in, and --to names one")
}

fn with_range(refusal: Refusal, survey: &Survey) -> Refusal {
    match survey.range {
        Some((low, high)) => refusal.detail(format!("they go from {low} to {high}")),
        None => refusal,
    }
}

impl Obstacles<'_> {
    /// No candidate could even be made.
    pub(super) fn nothing_fits(&self) -> Refusal {
        let (frame, wish) = (self.frame, self.wish);
        if let (Some(code), Some(to)) = (frame.given_code(), wish.to)
            && !to.is_integer()
        {
            return Refusal::new(format!(
                "--missing {code} asks for a code, and {to} stores NaN as it stores other values"
            ))
            .hint("leave --missing out, or store integers");
        }
        if let Some(reason) = self.code_out_of_range() {
            return Refusal::new(reason).hint("--missing auto keeps a code that no value uses");
        }
        if let Some(refusal) = self.too_much_room() {
            return refusal;
        }
        let refusal = if frame.data_type.is_integer() {
            let pinned = wish.scale.is_some() || wish.offset.is_some();
            let refusal = match wish.to {
                _ if pinned => Refusal::new(
                    "no type holds the integers as they are with the scale and the offset that were given",
                ),
                Some(to) => Refusal::new(format!("{to} does not hold the integers, shifted or not")),
                None => Refusal::new(
                    "the values are integers already, and no narrower type holds them, shifted or not",
                )
                .hint("integers that are codes of CF packing (scale_factor, add_offset) are packed already: packing them again gains nothing"),
            };
            with_range(refusal, self.survey)
        } else {
            let (low, high) = frame.ends();
            Refusal::new(format!(
                "{} hold values from {} to {} as asked for",
                self.types_cannot(),
                number_text(low),
                number_text(high)
            ))
        };
        let (low, high) = frame.ends();
        let tiny = frame.data_type.is_float() && low < high && (1.0 / (high - low)).is_infinite();
        let refusal = if tiny {
            refusal.detail("no scale of float64 is large enough to make whole numbers of them")
        } else {
            refusal
        };
        let refusal = self.with_rejected(refusal);
        self.with_special(refusal)
    }

    /// The error can be kept of the values, and not of the room that was asked for beside them.
    fn too_much_room(&self) -> Option<Refusal> {
        let Tolerance::Absolute(error) = self.wish.tolerance else {
            return None;
        };
        let data_type = self.frame.data_type;
        let (low, high) = self.survey.range?;
        let farthest = low.to_f64().abs().max(high.to_f64().abs());
        let within = error >= grain(data_type, farthest) / 2.0;
        if self.wish.headroom == 0.0 || !within || !is_exact(self.frame, self.wish) {
            return None;
        }
        let (low, high) = self.frame.ends();
        Some(
            Refusal::new(format!(
                "with --headroom {} values go from {} to {}, where neighbouring ones of {data_type} are up to {} apart",
                number_text(self.wish.headroom),
                number_text(low),
                number_text(high),
                number_text(self.frame.grain())
            ))
            .hint("leave less room: 10 is a tenth of the span of the data on each side"),
        )
    }

    /// The words for the types that were tried, with a verb to deny.
    fn types_cannot(&self) -> String {
        let codes = self.wish.bits.map_or(String::new(), |bits| {
            format!(" with at most 2^{bits} codes")
        });
        let pinned = |name: &str, text: &Option<String>| {
            let text = text.as_ref();
            text.map_or(String::new(), |text| format!(" with the {name} {text}"))
        };
        let scale = pinned("scale", &self.wish.scale);
        let offset = pinned("offset", &self.wish.offset);
        match self.wish.to {
            Some(to) => format!("{to}{codes}{scale}{offset} cannot"),
            None => format!("no type{codes}{scale}{offset} can"),
        }
    }

    /// Says that a code which was asked for is none of any type.
    fn code_out_of_range(&self) -> Option<String> {
        let code = self.frame.given_code()?;
        let mut integers = self.types.iter().filter(|stored| stored.is_integer());
        let none = !integers.any(|stored| room(self.frame, *stored, 0).is_some());
        none.then(|| {
            format!("--missing {code} is no code of the types that were tried, or leaves none for values")
        })
    }

    fn with_rejected(&self, refusal: Refusal) -> Refusal {
        let rejected = self.rejected.iter();
        rejected.fold(refusal, |refusal, rejected| {
            refusal.detail(format!("{}: {}", rejected.data_type, rejected.reason))
        })
    }

    /// Names a value that stands in the way of candidates which hold all others.
    fn with_special(&self, refusal: Refusal) -> Refusal {
        let in_the_way = |special: &&Special| {
            let without = self.frame.without(special.value);
            screen(&without, self.survey, self.wish, self.types, true)
                .iter()
                .any(|s| s.holds)
        };
        let Some(special) = self.frame.specials().iter().find(in_the_way) else {
            return self.with_specials(refusal);
        };
        let value = special.value;
        let role = if self.frame.is_read_fill(value) {
            format!("chunks that were never written read as the fill {value}")
        } else if self.frame.fills.iter().any(|fill| fill.equals(value)) {
            format!("the fill is {value}")
        } else if self.frame.keep.iter().any(|kept| kept.equals(value)) {
            format!("{value} must stay exact")
        } else {
            format!("the data hold {value} as a value apart")
        };
        refusal.detail(format!(
            "{role}, for which no candidate has a code: scaled, it is no value of a type that the chain could scale in, or no code is left for it; all other values can be held"
        ))
    }

    /// Names the values that together stand in the way.
    fn with_specials(&self, refusal: Refusal) -> Refusal {
        let specials = self.frame.specials();
        let without = self.frame.without_specials();
        let holds = |screened: &[Screened]| screened.iter().any(|s| s.holds);
        if specials.len() < 2 || !holds(&screen(&without, self.survey, self.wish, self.types, true))
        {
            return refusal;
        }
        let values: Vec<String> = specials.iter().map(|s| s.value.to_string()).collect();
        refusal.detail(format!(
            "{} need codes of their own, and too few are left; all other values can be held",
            values.join(", ")
        ))
    }

    /// Candidates were measured, and none holds.
    pub(super) fn none_holds(&self, rated: &[Rated], subjects: &[&Subject<'_>]) -> Refusal {
        if let Some(refusal) = self.too_much_room() {
            return refusal;
        }
        // Integers come back digit by digit, or are refused.
        let is_float = self.frame.data_type.is_float();
        let sound = |rated: &&Rated| {
            let trial = &rated.trial;
            trial.faults == 0 && trial.lost == 0 && (is_float || trial.changed == 0)
        };
        let error = |rated: &Rated| rated.trial.errors.largest_absolute();
        let best = rated.iter().filter(sound);
        let best = best.min_by(|a, b| error(a).total_cmp(&error(b)));
        let mut refusal = if is_exact(self.frame, self.wish) {
            self.not_exact(best)
        } else {
            self.not_within()
        };
        if let Tolerance::Absolute(asked) = self.wish.tolerance
            && is_exact(self.frame, self.wish)
        {
            refusal = refusal.detail(format!(
                "neighbouring values of {} are up to {} apart, so within {} there is only the value itself",
                self.frame.data_type,
                number_text(self.frame.grain()),
                number_text(asked)
            ));
        }
        for rated in rated.iter().take(NAMED) {
            refusal = refusal.detail(self.miss(rated, subjects));
        }
        refusal = self.with_rejected(refusal);
        if let Some(best) = best {
            let what = match self.wish.tolerance {
                Tolerance::Relative(_) => format!(
                    "--relative-error {}",
                    number_text(best.trial.errors.largest_relative())
                ),
                _ => format!("--max-error {}", number_text(error(best))),
            };
            refusal = refusal.hint(format!("{what} can be had with {}", best.candidate.stored));
        }
        refusal
    }

    /// The values themselves were asked for.
    fn not_exact(&self, best: Option<&Rated>) -> Refusal {
        let (frame, survey) = (self.frame, self.survey);
        if self.wish.tolerance == Tolerance::Bitwise
            && survey.negative_zeros > 0
            && best.is_some_and(|best| best.trial.errors.largest_absolute() == 0.0)
        {
            return Refusal::new(format!(
                "{} zeros are negative, which integers cannot tell from positive ones; all other values come back exactly",
                survey.negative_zeros
            ));
        }
        let near = any_step(&survey.sorted_sample(), frame.grain());
        let nearly = best.filter(|best| {
            best.candidate.origin == Origin::Hidden
                && best.trial.errors.largest_absolute() <= ROUNDING * frame.grain()
                && near.is_some()
        });
        if let Some(nearly) = nearly {
            let refusal = Refusal::new(format!(
                "no chain was found that gives every value back exactly; the nearest is off by {} at most",
                number_text(nearly.trial.errors.largest_absolute())
            ));
            return self.with_negative_zeros(refusal).detail(
                "the values lie on a grid up to the rounding of their type, such as products of whole numbers and a factor do: dividing rounds some of them differently",
            );
        }
        let mut steps = Vec::new();
        if let Some(grid) = near {
            steps.push((
                format!(
                    "values are, up to the rounding of their type, {} apart or multiples of that",
                    number_text(grid.step)
                ),
                codes_needed(frame, grid.scale),
            ));
        }
        if let Some(exponent) = survey.binary.exponent() {
            steps.push((
                format!("the power of two that divides them all is 2^{exponent}"),
                codes_needed(frame, 2_f64.powi(-exponent)),
            ));
        }
        if let Some(grid) = survey.decimal.found() {
            steps.push((
                format!(
                    "the decimal step that divides them all is {}",
                    number_text(grid.step)
                ),
                codes_needed(frame, grid.scale),
            ));
        }
        let fewest = steps
            .iter()
            .map(|(_, codes)| *codes)
            .fold(f64::INFINITY, f64::min);
        #[expect(clippy::cast_precision_loss, reason = "planning")]
        let codes_of = |stored: &DataType| {
            let room = room(frame, *stored, 0);
            room.map_or(0.0, |(room, _)| (room.high - room.low) as f64 + 1.0)
        };
        let integers = self.types.iter().filter(|stored| stored.is_integer());
        let most = integers.map(codes_of).fold(0.0, f64::max);
        // A step next to the grain of the type is one of the type, not of the data.
        let (low, high) = frame.ends();
        let has_step = fewest <= (high - low) / frame.grain();
        let mut refusal = match self.wish.to {
            _ if fewest <= most => {
                Refusal::new("no chain was found that gives every value back exactly")
            }
            Some(to) if has_step => {
                Refusal::new(format!("{to} has too few codes for the step of the values"))
            }
            _ if has_step => Refusal::new(
                "the step of the values takes more codes than a type has that is narrower than theirs",
            ),
            _ => Refusal::new(format!(
                "the values have no step that would let a type narrower than {} hold them exactly",
                frame.data_type
            )),
        };
        for (step, codes) in steps {
            refusal = refusal.detail(format!("{step}: {} codes", whole(codes)));
        }
        if survey.decimal.found().is_none() {
            refusal = refusal.detail("no decimal step divides them all");
        }
        self.with_negative_zeros(refusal)
    }

    fn with_negative_zeros(&self, refusal: Refusal) -> Refusal {
        match self.survey.negative_zeros {
            0 => refusal,
            count if self.wish.tolerance == Tolerance::Bitwise => refusal.detail(format!(
                "{count} zeros are negative, which integers cannot tell from positive ones"
            )),
            _ => refusal,
        }
    }

    /// An error was asked for that values of the type can have.
    fn not_within(&self) -> Refusal {
        let cannot = self.types_cannot();
        match self.wish.tolerance {
            Tolerance::Absolute(error) => Refusal::new(format!(
                "{cannot} keep every value within {}",
                number_text(error)
            )),
            Tolerance::Relative(share) => Refusal::new(format!(
                "{cannot} keep every value within {} of itself",
                number_text(share)
            ))
            .detail(format!(
                "the least magnitude above zero is {}, the greatest {}",
                number_text(self.survey.least_magnitude),
                number_text(self.frame.ends().0.abs().max(self.frame.ends().1.abs()))
            )),
            Tolerance::Decimals(decimals) => {
                Refusal::new(format!("{cannot} keep {decimals} decimals of every value"))
            }
            Tolerance::Open | Tolerance::Bitwise => {
                Refusal::new(format!("{cannot} hold every value"))
            }
        }
    }

    /// How a candidate misses.
    fn miss(&self, rated: &Rated, subjects: &[&Subject<'_>]) -> String {
        let words = rated
            .candidate
            .words()
            .map_or_else(|| rated.candidate.stored.to_string(), |(words, _)| words);
        let errors = &rated.trial.errors;
        let what = match (&rated.trial.first_fault, self.wish.tolerance) {
            (Some((value, reason)), _) => format!(
                "{} values cannot be stored, such as {value}: {reason}",
                rated.trial.faults
            ),
            (None, _) if rated.trial.masked > 0 => {
                format!(
                    "{} values come back as one that is declared to be missing",
                    rated.trial.masked
                )
            }
            (None, _) if rated.trial.lost > 0 => {
                format!("{} values do not come back", rated.trial.lost)
            }
            (None, _) if rated.trial.changed > 0 => {
                format!("{} values come back changed", rated.trial.changed)
            }
            (None, Tolerance::Relative(_)) => format!(
                "the largest relative error is {}",
                number_text(errors.largest_relative())
            ),
            _ => format!(
                "the largest error is {}",
                number_text(errors.largest_absolute())
            ),
        };
        let each: Vec<String> = rated
            .by_subject
            .iter()
            .zip(subjects)
            .map(|(trial, subject)| {
                let error = number_text(trial.errors.largest_absolute());
                format!("{} {error}", subject.name).trim_start().to_owned()
            })
            .collect();
        if each.is_empty() {
            format!("{words}: {what}")
        } else {
            format!("{words}: {what} (by array: {})", each.join(", "))
        }
    }
}
