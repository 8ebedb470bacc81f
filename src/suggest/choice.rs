//! Which candidates are tried on a sample, which of them on all values, and in which order they are shown.

use super::candidate::{Candidate, Origin};
use super::elements::BLOCK;
use super::frame::Frame;
use super::halfway::halfway;
use super::placement::{place, place_floats, place_integers, room};
use super::squeeze::squeezed;
use super::steps::{Step, coarsest, is_exact, least, steps};
use super::survey::Survey;
use super::trial::{Bench, Trial};
use super::wish::{Tolerance, Wish};
use crate::transform::data_type::DataType;

/// How many candidates are run on all values.
const MOST: usize = 8;

/// Of which so many are the ones that should take least.
const SMALLEST: usize = 4;

/// How many steps of a candidate are looked at halfway, where there are no data.
const SAMPLED_HALVES: u64 = 1 << 11;

/// How many widths are tried with one step, where the first that fits misses the tolerance.
const WIDTHS: usize = 2;

/// Sizes that differ by less are taken for the same.
const SAME_SIZE: f64 = 1.02;

/// Errors that differ by less are taken for the same.
const SAME_ERROR: f64 = 1.1;

/// A candidate, and what it did to the sample.
#[derive(Debug)]
pub(super) struct Screened {
    pub(super) candidate: Candidate,
    pub(super) trial: Trial,
    pub(super) holds: bool,
}

/// Makes candidates, and runs them on the sample.
pub(super) fn screen(
    frame: &Frame,
    survey: &Survey,
    wish: &Wish,
    types: &[DataType],
    has_data: bool,
) -> Vec<Screened> {
    let mut screen = Screen {
        frame,
        wish,
        sample: survey.sample_elements(),
        no_data: !has_data,
        bench: Bench::new(frame.data_type, wish.tolerance, &frame.stand_ins),
        screened: Vec::new(),
    };
    let scale = wish.scale.as_deref();
    let pins = (scale, wish.offset.as_deref());
    let (integers, floats): (Vec<_>, Vec<_>) = types.iter().partition(|t| t.is_integer());
    for stored in floats {
        if let Some(candidate) = place_floats(frame, stored, pins) {
            screen.try_on_sample(candidate);
        }
    }
    if frame.data_type.is_integer() {
        for stored in integers {
            if let Some(candidate) = place_integers(frame, stored, pins) {
                screen.try_on_sample(candidate);
            }
        }
        return screen.screened;
    }
    let open = wish.tolerance == Tolerance::Open && scale.is_none();
    if open {
        // Nothing but the codes bounds the step, and each type has as many as it has.
        for same_width in integers.chunk_by(|a, b| a.bits() == b.bits()) {
            let bare = frame.without_spare_fill();
            let rooms = same_width.iter().filter_map(|stored| {
                let bare = || room(bare.as_ref()?, *stored, 0);
                room(frame, *stored, 0).or_else(bare)
            });
            let Some((room, _)) = rooms.max_by_key(|(room, _)| room.high - room.low) else {
                continue;
            };
            #[expect(clippy::cast_precision_loss, reason = "planning")]
            let codes = (room.high - room.low) as f64;
            for step in steps(frame, survey, wish, codes) {
                screen.try_widths(&step, same_width, pins.1);
            }
        }
    } else {
        for step in steps(frame, survey, wish, 0.0) {
            screen.try_widths(&step, &integers, pins.1);
        }
        // A type is too narrow only if it is for the coarsest step too.
        let holding = screen.screened.iter().filter(|s| s.holds);
        let narrowest = holding.map(s_bits).min().unwrap_or(u32::MAX);
        let narrower = integers.iter().copied().filter(|t| t.bits() < narrowest);
        let narrower: Vec<_> = narrower.collect();
        for step in coarsest(survey, wish) {
            screen.try_widths(&step, &narrower, pins.1);
        }
        if let Some(least) = least(survey, wish).filter(|_| !is_exact(frame, wish)) {
            screen.squeeze(&narrower, least, pins.1);
        }
    }
    screen.screened
}

struct Screen<'s> {
    frame: &'s Frame,
    wish: &'s Wish,
    sample: Vec<u8>,
    /// Whether the sample stands for values that are not known, so that the worst ones must be looked for.
    no_data: bool,
    bench: Bench,
    screened: Vec<Screened>,
}

impl Screen<'_> {
    /// Tries a step with the narrowest type that it fits into, and with wider ones as long as it misses the tolerance there.
    fn try_widths(&mut self, step: &Step, types: &[DataType], offset: Option<&str>) {
        let mut tried = 0;
        for same_width in types.chunk_by(|a, b| a.bits() == b.bits()) {
            let fitting = same_width
                .iter()
                .filter_map(|stored| place(self.frame, step, *stored, offset));
            let mut fitting: Vec<_> = fitting.collect();
            // What needs no offset is simplest, signed or not.
            fitting.sort_by_key(|candidate| candidate.offset.is_some());
            if fitting.is_empty() {
                continue;
            }
            for candidate in fitting {
                if self.try_on_sample(candidate) {
                    return;
                }
            }
            tried += 1;
            if tried == WIDTHS {
                return;
            }
        }
    }

    /// Tries the narrowest types whose codes should do with finer scales too: a round one that holds and a fine one, of the
    /// first type where there is any; of the others the one that comes closest, which tells why they do not do.
    fn squeeze(&mut self, types: &[DataType], least: f64, offset: Option<&str>) {
        for same_width in types.chunk_by(|a, b| a.bits() == b.bits()) {
            if self
                .screened
                .iter()
                .any(|s| s.holds && same_width.iter().any(|stored| stored.bits() == s_bits(s)))
            {
                return;
            }
            let steps = same_width.iter().map(|stored| {
                let squeezed = squeezed(self.frame, *stored, least, offset.is_some());
                (*stored, squeezed)
            });
            let steps: Vec<_> = steps.collect();
            let mut closest: Option<Screened> = None;
            let mut any = false;
            for fine in [false, true] {
                let of_type = steps.iter().flat_map(|(stored, squeezed)| {
                    let steps = if fine {
                        &squeezed.fine
                    } else {
                        &squeezed.round
                    };
                    steps.iter().map(|step| (*stored, step))
                });
                let mut tries: Vec<_> = of_type.collect();
                // Zero on the grid is simplest.
                tries.sort_by_key(|(_, step)| step.anchor != 0.0);
                for (stored, step) in tries {
                    let Some(candidate) = place(self.frame, step, stored, offset) else {
                        continue;
                    };
                    let screened = self.run_on_sample(candidate, true);
                    if screened.holds {
                        any = true;
                        self.screened.push(screened);
                        break;
                    }
                    if closest
                        .as_ref()
                        .is_none_or(|other| misses(&screened) < misses(other))
                    {
                        closest = Some(screened);
                    }
                }
            }
            if any {
                return;
            }
            if let Some(closest) = closest {
                self.try_on_sample(closest.candidate);
            }
        }
    }

    fn try_on_sample(&mut self, candidate: Candidate) -> bool {
        let screened = self.run_on_sample(candidate, false);
        let opens = screened.candidate.suits_shards();
        let holds = screened.holds;
        self.screened.push(screened);
        // A wider type may open where this one does not.
        holds && opens
    }

    /// Runs a candidate on the sample, as long as it holds if so wished.
    fn run_on_sample(&mut self, candidate: Candidate, while_it_holds: bool) -> Screened {
        let mut trial = Trial::default();
        let size = self.frame.data_type.size();
        let grain = self.frame.grain();
        let tolerance = self.wish.tolerance;
        for part in self.sample.chunks(BLOCK * size) {
            let trials = std::slice::from_mut(&mut trial);
            self.bench.run(part, &[&candidate], trials, |_| ());
            if while_it_holds && !trial.holds(tolerance, grain) {
                break;
            }
        }
        let is_over = while_it_holds && !trial.holds(tolerance, grain);
        if self.no_data && !is_over {
            let halves = halfway(self.frame, &candidate, SAMPLED_HALVES);
            let trials = std::slice::from_mut(&mut trial);
            self.bench.run(&halves, &[&candidate], trials, |_| ());
        }
        let holds = trial.holds(tolerance, grain);
        Screened {
            candidate,
            trial,
            holds,
        }
    }
}

/// By how much a candidate misses that does not hold.
fn misses(screened: &Screened) -> (u64, u64) {
    let trial = &screened.trial;
    // Doubles of one sign are in the order of their bits.
    (
        trial.faults + trial.lost,
        trial.errors.largest_absolute().to_bits(),
    )
}

/// Whether candidates are worth a code more for a value apart: for a narrower type or, where no error is given, half the error.
pub(super) fn gains(apart: &[Screened], whole: &[Screened], tolerance: Tolerance) -> bool {
    let holding = |screened: &[Screened], figure: &dyn Fn(&Screened) -> f64| {
        let holding = screened.iter().filter(|s| s.holds);
        holding.map(figure).fold(f64::INFINITY, f64::min)
    };
    let bits = |screened| holding(screened, &|s| f64::from(s_bits(s)));
    let error = |screened| holding(screened, &|s| s.trial.errors.largest_absolute());
    bits(apart) < bits(whole) || tolerance == Tolerance::Open && 2.0 * error(apart) < error(whole)
}

/// The candidates that are worth measuring on all values: those that hold on the sample or, if none does, those that come
/// closest.
pub(super) fn shortlist(mut screened: Vec<Screened>, tolerance: Tolerance) -> Vec<Candidate> {
    let any = screened.iter().any(|s| s.holds);
    screened.retain(|s| s.holds == any);
    let error = |s: &Screened| s.trial.errors.largest_absolute();
    let by_error = |a: &Screened, b: &Screened| {
        let failed = |s: &Screened| s.trial.faults + s.trial.lost;
        (failed(a), s_bits(a))
            .cmp(&(failed(b), s_bits(b)))
            .then(error(a).total_cmp(&error(b)))
    };
    if !any || tolerance == Tolerance::Open {
        screened.sort_by(by_error);
        screened.truncate(if any { MOST } else { SMALLEST });
        return screened.into_iter().map(|s| s.candidate).collect();
    }
    screened.sort_by_key(|s| (s_bits(s), s.candidate.codes_used().unwrap_or(0)));
    let narrowest = screened.first().map_or(0, s_bits);
    let mut chosen: Vec<usize> = (0..screened.len().min(SMALLEST)).collect();
    // One that should hold on all values if any does.
    let narrow = || (0..screened.len()).filter(|n| s_bits(&screened[*n]) == narrowest);
    chosen.extend(narrow().min_by(|a, b| error(&screened[*a]).total_cmp(&error(&screened[*b]))));
    let is_hidden = |n: &usize| screened[*n].candidate.origin == Origin::Hidden;
    chosen.extend(narrow().filter(is_hidden).take(2));
    let wider = (0..screened.len()).filter(|n| s_bits(&screened[*n]) > narrowest);
    chosen.extend(wider.min_by(|a, b| error(&screened[*a]).total_cmp(&error(&screened[*b]))));
    chosen.sort_unstable();
    chosen.dedup();
    let all = screened.into_iter().enumerate();
    all.filter(|(n, _)| chosen.contains(n))
        .map(|(_, s)| s.candidate)
        .collect()
}

fn s_bits(screened: &Screened) -> u32 {
    screened.candidate.stored.bits()
}

/// What candidates are ranked by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Merit {
    pub(super) holds: bool,
    /// Whether the reader that most people have opens it, or nobody asked for that.
    pub(super) is_read: bool,
    /// The bytes that are stored, as estimated.
    pub(super) bytes: f64,
    pub(super) bits: u32,
    /// The largest error.
    pub(super) error: f64,
    /// How little there is to explain: no offset, a round scale.
    pub(super) plain: u32,
}

impl Merit {
    pub(super) fn plainness(candidate: &Candidate) -> u32 {
        let origin = match candidate.origin {
            Origin::Hidden | Origin::Pinned | Origin::Whole => 0,
            Origin::Decimal => 1,
            Origin::Binary => 2,
            Origin::Finest | Origin::Coarsest => 3,
        };
        let sentinels = u32::try_from(candidate.sentinels.len()).unwrap_or(u32::MAX);
        4 * sentinels.min(100)
            + 4 * u32::from(candidate.new_fill.is_some())
            + origin
            + u32::from(candidate.offset.is_some())
            // Scaling in another type takes a codec more.
            + 2 * u32::from(candidate.codecs.len() > 2)
            // Where small types are let in, of two that take the same the one that more readers open.
            + 100 * u32::from(candidate.not_opened_by_zarr_python().is_some())
    }
}

/// The order of candidates, the best first: those that hold and that readers open, by size where a tolerance is given and by error
/// where not.
pub(super) fn rank(merits: &[Merit], tolerance: Tolerance) -> Vec<usize> {
    let by_size = tolerance != Tolerance::Open;
    let mut left: Vec<usize> = (0..merits.len()).collect();
    let mut ranked = Vec::new();
    while !left.is_empty() {
        let any = left.iter().any(|n| merits[*n].holds);
        let holding = || left.iter().copied().filter(|n| merits[*n].holds == any);
        let read = holding().any(|n| merits[n].is_read);
        let eligible = || holding().filter(|n| merits[*n].is_read == read);
        let figure = |n: usize| match by_size && any {
            true => merits[n].bytes,
            false => merits[n].error,
        };
        let same = if by_size && any {
            SAME_SIZE
        } else {
            SAME_ERROR
        };
        let least = eligible().map(figure).fold(f64::INFINITY, f64::min);
        let close = eligible().filter(|n| figure(*n) <= least * same);
        let best = close.min_by(|a, b| {
            let (a, b) = (&merits[*a], &merits[*b]);
            (a.bits, a.plain)
                .cmp(&(b.bits, b.plain))
                .then(a.error.total_cmp(&b.error))
        });
        let Some(best) = best else {
            // Figures that are no numbers; the order stays.
            ranked.append(&mut left);
            break;
        };
        left.retain(|n| *n != best);
        ranked.push(best);
    }
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merit(holds: bool, bytes: f64, bits: u32, error: f64) -> Merit {
        Merit {
            holds,
            is_read: true,
            bytes,
            bits,
            error,
            plain: 0,
        }
    }

    #[test]
    fn what_holds_comes_first_and_then_what_is_small() {
        let merits = [
            merit(false, 1.0, 8, 9.0),
            merit(true, 100.0, 16, 0.1),
            merit(true, 50.0, 16, 0.2),
            // No more than a hair larger, and wider.
            merit(true, 49.9, 32, 0.2),
        ];
        let tolerance = Tolerance::Absolute(1.0);
        assert_eq!(rank(&merits, tolerance), [2, 3, 1, 0]);
        assert_eq!(rank(&merits, Tolerance::Open), [1, 2, 3, 0]);
    }

    #[test]
    fn what_few_read_comes_after_what_many_read() {
        let mut merits = [
            merit(true, 1.0, 8, 0.1),
            merit(true, 100.0, 16, 0.1),
            merit(false, 0.5, 8, 9.0),
        ];
        merits[0].is_read = false;
        assert_eq!(rank(&merits, Tolerance::Absolute(1.0)), [1, 0, 2]);
    }

    #[test]
    fn figures_that_are_no_numbers_end_the_ranking() {
        let merits = [merit(true, f64::NAN, 8, 0.0); 2];
        assert_eq!(rank(&merits, Tolerance::Bitwise), [0, 1]);
    }
}
