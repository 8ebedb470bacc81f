//! From a wish to a suggestion: both passes, and what is said about what they found.

use super::SuggestError;
use super::candidate::Candidate;
use super::choice::{Merit, Screened, gains, rank, screen, shortlist};
use super::elements::number_text;
use super::frame::Frame;
use super::histogram::Histogram;
use super::obstacles::{Obstacles, no_type};
use super::passes::{Measured, look, measure};
use super::placement::{codes_needed, room};
use super::refusal::Refusal;
use super::subject::Subject;
use super::survey::Survey;
use super::trial::Trial;
use super::wish::{Tolerance, Wish};
use crate::pipeline::Pipeline;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What is proposed, and what it rests on.
#[derive(Debug)]
pub struct Suggestion {
    /// The type of the values.
    pub data_type: DataType,
    /// What was seen of the values.
    pub seen: Seen,
    /// The candidates that were run on all values, the best first. The first one holds.
    pub candidates: Vec<Rated>,
    /// Narrower types that cannot hold the values, with the reason.
    pub rejected: Vec<Rejected>,
    /// How the values are spread.
    pub histogram: Histogram,
    /// Why the first candidate is the best, in a sentence.
    pub reason: String,
    /// What else should be known.
    pub notes: Vec<String>,
    /// The share of the data that was read.
    pub share: f64,
}

/// What was seen of the values.
#[derive(Debug, Clone)]
pub struct Seen {
    /// How many were read; chunks that were never written are not.
    pub values: u64,
    /// How many were never written, and read as the fill; `None` where only a share was read, or nothing is stored yet.
    pub unwritten: Option<u64>,
    /// The least and the greatest finite one that does not stand for a missing one.
    pub range: Option<(Scalar, Scalar)>,
    /// NaN.
    pub nan: u64,
    /// Infinities of either sign.
    pub infinities: u64,
    /// Zeros, of either sign.
    pub zeros: u64,
    /// How many of the zeros are negative.
    pub negative_zeros: u64,
    /// Values that stand for missing ones by the attributes.
    pub stand_ins: Vec<SeenStandIn>,
    /// How many distinct values there are, if they are few.
    pub distinct: Option<usize>,
    /// The decimal step of which all values are multiples, if there is one.
    pub decimal_step: Option<f64>,
    /// The exponent of the power of two of which all values are multiples.
    pub binary_step: Option<i32>,
}

/// A value that stands for missing ones, and how often it was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeenStandIn {
    /// The value.
    pub value: Scalar,
    /// How often.
    pub count: u64,
}

/// A candidate and what it did to the values.
#[derive(Debug)]
pub struct Rated {
    /// The candidate.
    pub candidate: Candidate,
    /// What it did to all values.
    pub trial: Trial,
    /// What it did to the values of each subject, where there are several.
    pub by_subject: Vec<Trial>,
    /// Whether all values came back as was asked for.
    pub holds: bool,
    /// The bytes that would be stored, as estimated.
    pub stored_bytes: Option<f64>,
    /// For each stored value.
    pub bits_per_value: Option<f64>,
    /// What the values take in memory over what would be stored.
    pub ratio: Option<f64>,
}

/// A type that cannot hold the values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The type.
    pub data_type: DataType,
    /// Why not.
    pub reason: String,
}

/// Proposes parameters for one subject.
///
/// # Errors
///
/// Where what is wished for cannot be had, the values cannot be read, or a signal came.
pub fn suggest(
    subject: &Subject<'_>,
    wish: &Wish,
    pipeline: &Pipeline<'_>,
) -> Result<Suggestion, SuggestError> {
    suggest_common(&[subject], wish, pipeline)
}

/// Proposes the same parameters for several subjects.
///
/// # Errors
///
/// As for [`suggest`].
pub fn suggest_common(
    subjects: &[&Subject<'_>],
    wish: &Wish,
    pipeline: &Pipeline<'_>,
) -> Result<Suggestion, SuggestError> {
    let Some(first) = subjects.first() else {
        return Err(Refusal::new("there is no array to choose parameters for").into());
    };
    let data_type = first.data_type;
    if let Some(other) = subjects.iter().find(|s| s.data_type != data_type) {
        return Err(Refusal::new(format!(
            "the arrays have different types, {data_type} and {}, and scalars are those of one type",
            other.data_type
        ))
        .into());
    }
    let mut survey = Survey::new(data_type, &[]);
    let mut fills = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        let seen = look(subject, place, pipeline)?;
        fills.extend(subject.fill(seen.values));
        survey.merge(&seen);
    }
    let has_data = first.has_data();
    let (whole, apart) = survey.split();
    let mut survey = whole.clone();
    let sharded = subjects.iter().any(|subject| subject.storage.is_sharded());
    let frame_of = |survey: &Survey| {
        let mut frame = Frame::new(survey, data_type, &fills, wish, has_data)?;
        frame.sharded = sharded;
        Ok::<_, Refusal>(frame)
    };
    let mut frame = frame_of(&survey)?;
    let types = types(wish, data_type);
    if types.is_empty() {
        return Err(no_type(&frame, &survey).into());
    }
    let mut screened = screen(&frame, &survey, wish, &types, has_data);
    // A fill beyond all other values may be one that stands for missing ones.
    if let Some(apart) = apart
        && let Ok(narrow) = frame_of(&apart)
    {
        let others = screen(&narrow, &apart, wish, &types, has_data);
        if gains(&others, &screened, wish.tolerance) {
            (survey, frame, screened) = (apart, narrow, others);
        }
    }
    let rejected = rejected(&frame, &survey, wish, &types, &screened);
    let mut candidates = shortlist(screened, wish.tolerance);
    let as_asked = !candidates.is_empty();
    if !as_asked {
        // What could be had instead is measured just as well, and may do.
        candidates = nearest_candidates(&frame, &survey, wish, &types, has_data);
    }
    let obstacles = Obstacles {
        frame: &frame,
        survey: &survey,
        wish,
        types: &types,
        rejected: &rejected,
    };
    if candidates.is_empty() {
        return Err(obstacles.nothing_fits().into());
    }
    let all: Vec<&Candidate> = candidates.iter().collect();
    let ends = survey.range.unwrap_or((frame.low, frame.high));
    let ends = (ends.0.to_f64(), ends.1.to_f64());
    let mut measured = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        measured.push(measure(
            subject,
            place,
            &all,
            wish.tolerance,
            &frame,
            ends,
            pipeline,
        )?);
    }
    let mut histogram = Histogram::new(ends.0, ends.1);
    for part in &measured {
        histogram.merge(&part.histogram);
    }
    let rated = rate(candidates, &measured, subjects, wish, &frame);
    // So many decimals are a scale, whatever else comes as near.
    let may_do = as_asked || !matches!(wish.tolerance, Tolerance::Decimals(_));
    let Some(best) = rated.first().filter(|best| best.holds && may_do) else {
        return Err(obstacles.none_holds(&rated, subjects).into());
    };
    let reason = reason(best, &rated, wish);
    let notes = notes(best, &survey, &frame, wish, first);
    // How many codes are needed is known for the steps that were thought of.
    let narrower =
        |rejected: &Rejected| as_asked && rejected.data_type.bits() < best.candidate.stored.bits();
    Ok(Suggestion {
        data_type,
        seen: seen(&whole, subjects, frame.grain()),
        rejected: rejected.into_iter().filter(narrower).collect(),
        candidates: rated,
        histogram,
        reason,
        notes,
        share: subjects.iter().map(|s| share(s)).fold(1.0, f64::min),
    })
}

/// The candidates of the widest types that come closest, where none can even be made that keeps what was asked for.
fn nearest_candidates(
    frame: &Frame,
    survey: &Survey,
    wish: &Wish,
    types: &[DataType],
    has_data: bool,
) -> Vec<Candidate> {
    if wish.tolerance == Tolerance::Open || frame.data_type.is_integer() {
        return Vec::new();
    }
    let wish = Wish {
        tolerance: Tolerance::Open,
        ..wish.clone()
    };
    let widest = types.iter().map(|stored| stored.bits()).max();
    let types = types.iter().filter(|stored| Some(stored.bits()) == widest);
    let types: Vec<DataType> = types.copied().collect();
    let screened = screen(frame, survey, &wish, &types, has_data);
    let mut candidates = shortlist(screened, Tolerance::Open);
    candidates.truncate(1);
    candidates
}

/// The types that may be proposed for an array of this type.
fn types(wish: &Wish, data_type: DataType) -> Vec<DataType> {
    if wish.to.is_some() {
        return wish.types();
    }
    let lossless = wish.tolerance == Tolerance::Bitwise || data_type.is_integer();
    let mut types = wish.types();
    types.retain(|stored| {
        let (bits, most) = (stored.bits(), data_type.bits());
        bits < most || !lossless && bits == most
    });
    if let (Tolerance::Open, Some(bits)) = (wish.tolerance, wish.bits) {
        // The narrowest type with as many codes, or the widest one.
        let widest = types.last().map_or(0, |stored| stored.bits());
        types.retain(|stored| stored.bits() >= bits.min(widest));
        let narrowest = types.first().map(|stored| stored.bits());
        types.retain(|stored| Some(stored.bits()) == narrowest);
    }
    let bounded = wish.tolerance != Tolerance::Open;
    if wish.all_types && bounded && data_type.is_float() && wish.bits.is_none() {
        let floats = DataType::ALL.into_iter().filter(|float| float.is_float());
        types.extend(floats.filter(|float| float.bits() < data_type.bits()));
    }
    types
}

fn rate(
    candidates: Vec<Candidate>,
    measured: &[Measured],
    subjects: &[&Subject<'_>],
    wish: &Wish,
    frame: &Frame,
) -> Vec<Rated> {
    #[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
    let stored: f64 = subjects
        .iter()
        .map(|subject| {
            let tasks = subject.all_tasks() as f64 * subject.task_elements() as f64;
            tasks.min(subject.elements() as f64)
        })
        .sum();
    let width = frame.data_type.bits().next_multiple_of(8);
    let mut rated: Vec<Rated> = candidates
        .into_iter()
        .enumerate()
        .map(|(n, candidate)| {
            let mut trial = Trial::default();
            let by_subject: Vec<_> = measured.iter().map(|m| m.trials[n].clone()).collect();
            for part in &by_subject {
                trial.merge(part);
            }
            let holds = trial.holds(wish.tolerance, frame.grain());
            let bytes = measured
                .iter()
                .map(|m| m.bytes[n])
                .try_fold(0.0, |sum, bytes| Some(sum + bytes?));
            let bits_per_value = bytes.map(|bytes| bytes * 8.0 / stored);
            Rated {
                candidate,
                trial,
                by_subject: if measured.len() > 1 {
                    by_subject
                } else {
                    Vec::new()
                },
                holds,
                stored_bytes: bytes,
                bits_per_value,
                ratio: bits_per_value
                    .filter(|bits| *bits > 0.0)
                    .map(|bits| f64::from(width) / bits),
            }
        })
        .collect();
    let merits: Vec<_> = rated
        .iter()
        .map(|rated| Merit {
            holds: rated.holds,
            is_read: wish.all_types || rated.candidate.not_opened_by_zarr_python().is_none(),
            // Where sizes cannot be told, the codes that are used tell which is smaller.
            bytes: rated
                .stored_bytes
                .unwrap_or_else(|| planned_bytes(&rated.candidate)),
            bits: rated.candidate.stored.bits(),
            error: rated.trial.errors.largest_absolute(),
            plain: Merit::plainness(&rated.candidate),
        })
        .collect();
    let order = rank(&merits, wish.tolerance);
    let mut places: Vec<Option<Rated>> = rated.drain(..).map(Some).collect();
    order
        .into_iter()
        .filter_map(|n| places.get_mut(n)?.take())
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "planning")]
fn planned_bytes(candidate: &Candidate) -> f64 {
    let codes = candidate
        .codes_used()
        .map_or(f64::INFINITY, |codes| codes as f64);
    codes.log2().min(f64::from(candidate.stored.bits()))
}

/// Why types do not hold the values, for those that do not.
fn rejected(
    frame: &Frame,
    survey: &Survey,
    wish: &Wish,
    types: &[DataType],
    screened: &[Screened],
) -> Vec<Rejected> {
    let (low, high) = frame.ends();
    let integers = frame.low.integer().zip(frame.high.integer());
    #[expect(clippy::cast_precision_loss, reason = "planning")]
    let integers = integers.map(|(low, high)| (high - low) as f64 + 1.0);
    let needed = match wish.tolerance {
        _ if integers.is_some() => integers.unwrap_or(0.0),
        // Half of the span does not overflow.
        Tolerance::Absolute(error) if error > 0.0 => {
            ((high / 2.0 - low / 2.0) / error).floor() + 1.0
        }
        Tolerance::Decimals(decimals) => codes_needed(frame, 10_f64.powi(decimals)),
        Tolerance::Relative(share) if survey.least_magnitude.is_finite() => {
            ((high / 2.0 - low / 2.0) / (share * survey.least_magnitude)).floor() + 1.0
        }
        _ => match &wish.scale {
            Some(scale) => codes_needed(frame, scale.parse().unwrap_or(1.0)),
            None => return Vec::new(),
        },
    };
    // Values on a grid of their own need no more codes than that has.
    let on_grid = screened.iter().filter(|s| s.holds).filter_map(|s| {
        let used = s.candidate.codes_used()?;
        Some(used - s.candidate.sentinels.len() as u128)
    });
    #[expect(clippy::cast_precision_loss, reason = "planning")]
    let needed = on_grid
        .min()
        .map_or(needed, |codes| needed.min(codes as f64));
    let spare = frame.spare() + usize::from(frame.given_code().is_some());
    let mut rejected: Vec<Rejected> = Vec::new();
    for stored in types.iter().copied().filter(|stored| stored.is_integer()) {
        #[expect(clippy::cast_precision_loss, reason = "planning")]
        let codes =
            room(frame, stored, 0).map_or(0.0, |(room, _)| (room.high - room.low) as f64 + 1.0);
        let reason = if needed > codes {
            let kept = match spare {
                0 => String::new(),
                1 => ", one being kept for what is missing".to_owned(),
                n => format!(", {n} being kept for what has codes of its own"),
            };
            Some(format!(
                "the values need {} codes, and it has {}{kept}",
                whole(needed),
                whole(codes)
            ))
        } else {
            missed(frame, wish, screened, stored, codes)
        };
        // Of two types with as many codes, one says it.
        if let Some(reason) = reason
            && rejected.last().is_none_or(|last| last.reason != reason)
        {
            rejected.push(Rejected {
                data_type: stored,
                reason,
            });
        }
    }
    rejected
}

/// Why a type that should have enough codes has no candidate that holds, where it has none.
fn missed(
    frame: &Frame,
    wish: &Wish,
    screened: &[Screened],
    stored: DataType,
    codes: f64,
) -> Option<String> {
    let (Tolerance::Absolute(_) | Tolerance::Relative(_), false) =
        (wish.tolerance, frame.data_type.is_integer())
    else {
        return None;
    };
    let as_wide = || {
        let as_wide = screened.iter().map(|s| (s, s.candidate.stored));
        as_wide.filter(|(_, other)| other.is_integer() && other.bits() == stored.bits())
    };
    if as_wide().any(|(s, _)| s.holds) {
        return None;
    }
    let error = |s: &Screened| match wish.tolerance {
        Tolerance::Relative(_) => s.trial.errors.largest_relative(),
        _ => s.trial.errors.largest_absolute(),
    };
    let sound = as_wide().filter(|(s, _)| s.trial.faults == 0 && s.trial.lost == 0);
    let least = sound.map(|(s, _)| error(s)).fold(f64::INFINITY, f64::min);
    if least.is_infinite() && (wish.scale.is_some() || wish.offset.is_some()) {
        // What was given stands in the way, not the type.
        return None;
    }
    let codes = whole(codes);
    Some(if least.is_finite() {
        format!(
            "{codes} codes might do, but with the rounding of {} the nearest that was found is off by {}",
            frame.data_type,
            number_text(least)
        )
    } else {
        format!(
            "{codes} codes might do, but no scale and offset were found that bring the values, and what must stay exact, into them"
        )
    })
}

/// A count as people read it.
pub(super) fn whole(count: f64) -> String {
    if count < 1e15 {
        format!("{count:.0}")
    } else {
        format!("{count:.1e}")
    }
}

fn seen(survey: &Survey, subjects: &[&Subject<'_>], grain: f64) -> Seen {
    let whole = subjects
        .iter()
        .all(|subject| subject.has_data() && share(subject) >= 1.0);
    let elements = subjects
        .iter()
        .fold(0, |n: u64, s| n.saturating_add(s.elements()));
    let stand_ins = survey.stand_ins().iter().map(|stand_in| SeenStandIn {
        value: stand_in.value,
        count: stand_in.count,
    });
    Seen {
        values: survey.values,
        unwritten: whole.then(|| elements.saturating_sub(survey.values)),
        range: survey.range,
        nan: survey.nan,
        infinities: survey.positive_infinities + survey.negative_infinities,
        zeros: survey.zeros,
        negative_zeros: survey.negative_zeros,
        stand_ins: stand_ins.collect(),
        distinct: survey.distinct(),
        // A step next to the grain of the type is one of the type, not of the data.
        decimal_step: survey
            .decimal
            .found()
            .map(|grid| grid.step)
            .filter(|step| *step > 8.0 * grain),
        binary_step: survey.binary.exponent(),
    }
}

/// The share of the tasks that were read.
#[expect(clippy::cast_precision_loss, reason = "a ratio of large numbers")]
fn share(subject: &Subject<'_>) -> f64 {
    let all = subject.all_tasks();
    let read = subject.tasks_to_read();
    if all == 0 {
        1.0
    } else {
        read as f64 / all as f64
    }
}

fn reason(best: &Rated, rated: &[Rated], wish: &Wish) -> String {
    let holding = rated.iter().filter(|rated| rated.holds);
    let open = wish.tolerance == Tolerance::Open;
    let figure = |rated: &Rated| match open {
        true => rated.trial.errors.largest_absolute(),
        false => rated
            .stored_bytes
            .unwrap_or_else(|| planned_bytes(&rated.candidate)),
    };
    let least = holding.clone().map(figure).fold(f64::INFINITY, f64::min);
    // What is nearly as good and narrower or simpler comes before it.
    let nearly = if figure(best) > least { "nearly " } else { "" };
    let of = match holding.count() {
        1 => "the only one measured that holds every value".to_owned(),
        n => format!(
            "{nearly}the {} of {n} that hold every value",
            if open { "most precise" } else { "smallest" }
        ),
    };
    let error = match wish.tolerance {
        Tolerance::Bitwise => "every value comes back bit for bit".to_owned(),
        Tolerance::Relative(_) => format!(
            "the largest relative error is {}",
            number_text(best.trial.errors.largest_relative())
        ),
        _ => format!(
            "the largest error is {}",
            number_text(best.trial.errors.largest_absolute())
        ),
    };
    format!(
        "{of}, measured on {} finite values: {error}",
        best.trial.errors.count()
    )
}

fn notes(
    best: &Rated,
    survey: &Survey,
    frame: &Frame,
    wish: &Wish,
    first: &Subject<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if !first.has_data() {
        notes.push(match first.is_exhaustive() {
            true => format!(
                "there are no data: errors were measured on every {} in the range",
                frame.data_type
            ),
            false => {
                "there are no data: errors were measured on values all over the range, and where steps meet, not on all"
                    .to_owned()
            }
        });
    }
    if survey.negative_zeros > 0 && frame.data_type.is_float() {
        notes.push(format!(
            "{} zeros are negative, and come back as positive ones, which are equal",
            survey.negative_zeros
        ));
    }
    if let Some(fill) = best.candidate.new_fill {
        notes.push(format!(
            "the fill of the array cannot be stored: the plan makes it {fill}, so chunks that were never written must be written with the old one"
        ));
    }
    notes.extend(best.candidate.not_opened_by_zarr_python());
    if best.candidate.stored.size() > frame.data_type.size() {
        notes.push(format!(
            "{} is wider than {}: nothing is gained by it",
            best.candidate.stored, frame.data_type
        ));
    }
    let grain = frame.grain();
    if let Tolerance::Absolute(error) = wish.tolerance
        && frame.data_type.is_float()
        && error < grain / 2.0
    {
        notes.push(format!(
            "neighbouring values of {} are up to {} apart, so within {} there is only the value itself",
            frame.data_type,
            number_text(grain),
            number_text(error)
        ));
    }
    if let Tolerance::Decimals(decimals) = wish.tolerance
        && 0.5 * 10_f64.powi(-decimals) < grain / 2.0
    {
        notes.push(format!(
            "neighbouring values of {} are up to {} apart: not all of the decimals asked for are in the data",
            frame.data_type,
            number_text(grain)
        ));
    }
    notes
}
