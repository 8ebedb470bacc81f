//! From a suggestion to its report.

use serde_json::Value;

use super::inputs::Chosen;
use crate::metadata::edit::{Draft, Layout};
use crate::report::suggest_params as report;
use crate::suggest::{Candidate, Rated, Refusal, Seen, Suggestion, Trial, scalar_json};
use crate::transform::scalar::Scalar;

/// What became of an array.
pub(super) enum Entry {
    /// A proposal.
    Array(Box<report::Array>),
    /// None.
    Refused {
        /// Which array; nothing where all have no common proposal.
        place: Option<Place>,
        refusal: Box<Refusal>,
    },
}

/// Which array, of which INPUT.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: Option<String>,
    pub(super) input: Option<String>,
}

impl Place {
    pub(super) fn of(one: &Chosen) -> Self {
        Self {
            path: one.is_in_store().then(|| one.path.clone()),
            input: one.input.clone(),
        }
    }
}

/// The proposal for one array.
pub(super) fn one_array(one: &Chosen, suggestion: &Suggestion) -> Vec<Entry> {
    let Place { path, input } = Place::of(one);
    let array = array(path, input, suggestion, &[]);
    array
        .map(|array| Entry::Array(Box::new(array)))
        .into_iter()
        .collect()
}

/// The proposal that serves all arrays.
pub(super) fn all_arrays(all: &[&Chosen], suggestion: &Suggestion) -> Vec<Entry> {
    let of = |path: Option<String>, input: Option<String>| {
        array(path, input, suggestion, all).map(|array| Entry::Array(Box::new(array)))
    };
    let first = all.first().and_then(|one| one.input.clone());
    let one_store = all
        .iter()
        .all(|one| one.is_in_store() && one.input == first);
    if !one_store {
        return of(None, None).into_iter().collect();
    }
    let each = all
        .iter()
        .filter_map(|one| of(Some(one.path.clone()), one.input.clone()));
    each.collect()
}

fn array(
    path: Option<String>,
    input: Option<String>,
    suggestion: &Suggestion,
    all: &[&Chosen],
) -> Option<report::Array> {
    let best = &suggestion.candidates.first()?.candidate;
    let (chain, formula) = best.words()?;
    let cf = best.cf_attributes().map(|cf| report::Cf {
        scale_factor: number(cf.scale_factor),
        add_offset: number(cf.add_offset),
        fill_value: cf.fill_value.map_or(Value::Null, scalar),
        exact: cf.exact,
        max_difference: cf.largest_difference,
    });
    let rejected = suggestion.rejected.iter().map(|one| report::Rejected {
        data_type: one.data_type.name().to_owned(),
        reason: one.reason.clone(),
    });
    Some(report::Array {
        path,
        input,
        dtype: suggestion.data_type.name().to_owned(),
        codecs: json(&best.codecs_json()),
        fill_value: best.new_fill.map_or(Value::Null, scalar),
        chain,
        formula: formula.map(|formula| report::Formula {
            encode: formula.encode,
            decode: formula.decode,
        }),
        cf,
        reason: suggestion.reason.clone(),
        notes: suggestion.notes.clone(),
        seen: seen(&suggestion.seen, suggestion.share),
        candidates: suggestion
            .candidates
            .iter()
            .map(|rated| candidate(rated, all))
            .collect(),
        rejected: rejected.collect(),
        histogram: report::Histogram {
            low: number(suggestion.histogram.low),
            high: number(suggestion.histogram.high),
            counts: suggestion.histogram.counts.clone(),
        },
    })
}

fn seen(seen: &Seen, share: f64) -> report::Seen {
    let end = |value: Option<Scalar>| value.map_or(Value::Null, scalar);
    let stand_ins = seen.stand_ins.iter().map(|one| report::StandIn {
        value: scalar(one.value),
        count: one.count,
    });
    report::Seen {
        share,
        values: seen.values,
        unwritten: seen.unwritten,
        low: end(seen.range.map(|range| range.0)),
        high: end(seen.range.map(|range| range.1)),
        nan: seen.nan,
        infinities: seen.infinities,
        zeros: seen.zeros,
        negative_zeros: seen.negative_zeros,
        stand_ins: stand_ins.collect(),
        distinct: seen.distinct.map(|count| count as u64),
        decimal_step: seen.decimal_step.map_or(Value::Null, number),
        binary_step_exponent: seen.binary_step,
    }
}

fn candidate(rated: &Rated, all: &[&Chosen]) -> report::Candidate {
    let candidate = &rated.candidate;
    let holds = candidate.holds_range();
    let end = |end: Option<Scalar>| end.map_or(Value::Null, scalar);
    let text = |text: &Option<String>| {
        let text = text.as_deref();
        text.map_or(Value::Null, |text| token(text.to_owned()))
    };
    let sentinels = candidate.sentinels.iter().map(|one| report::Sentinel {
        value: scalar(one.value),
        key: scalar(one.key),
        code: scalar(one.code),
    });
    let by_array = rated.by_subject.iter().zip(all).map(|(trial, one)| {
        let Place { path, input } = Place::of(one);
        report::OfArray {
            path,
            input,
            measured: measured(trial),
        }
    });
    report::Candidate {
        chain: chain_words(candidate),
        codecs: json(&candidate.codecs_json()),
        fill_value: candidate.new_fill.map_or(Value::Null, scalar),
        data_type: candidate.stored.name().to_owned(),
        scale: text(&candidate.scale),
        offset: text(&candidate.offset),
        origin: candidate.origin.name().to_owned(),
        step: text(&candidate.step()),
        codes_used: candidate.codes_used().and_then(|n| u64::try_from(n).ok()),
        codes_in_all: candidate.codes_in_all().and_then(|n| u64::try_from(n).ok()),
        holds_low: end(holds.map(|range| range.0)),
        holds_high: end(holds.map(|range| range.1)),
        sentinels: sentinels.collect(),
        holds: rated.holds,
        measured: measured(&rated.trial),
        by_array: by_array.collect(),
        stored_bytes: rated.stored_bytes.map(rounded),
        bits_per_value: rated.bits_per_value,
        ratio: rated.ratio,
    }
}

fn chain_words(candidate: &Candidate) -> String {
    candidate
        .words()
        .map(|(words, _)| words)
        .unwrap_or_default()
}

#[expect(clippy::cast_precision_loss, reason = "a sum of errors is no count")]
fn measured(trial: &Trial) -> report::Measured {
    let errors = &trial.errors;
    report::Measured {
        values: errors.count(),
        max_error: errors.largest_absolute(),
        max_relative_error: errors.largest_relative(),
        rmse: errors.rmse(),
        bias: errors.bias(),
        sum_error: errors.bias() * errors.count() as f64,
        faults: trial.faults,
        lost: trial.lost,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of bytes"
)]
fn rounded(bytes: f64) -> u64 {
    bytes.round() as u64
}

pub(super) fn refused(place: Option<&Place>, refusal: &Refusal) -> report::Refused {
    report::Refused {
        path: place.and_then(|place| place.path.clone()),
        input: place.and_then(|place| place.input.clone()),
        message: refusal.message.clone(),
        details: refusal.details.clone(),
        hints: refusal.hints.clone(),
    }
}

/// A scalar in fill-value encoding.
fn scalar(value: Scalar) -> Value {
    json(&scalar_json(value))
}

fn number(value: f64) -> Value {
    if value.is_nan() {
        return Value::from("NaN");
    }
    if value.is_infinite() {
        return Value::from(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    token(crate::suggest::number_text(value))
}

fn token(text: String) -> Value {
    json(&Draft::Number(text))
}

/// A draft as a value of the report, which every number of a draft is.
fn json(draft: &Draft) -> Value {
    serde_json::from_str(&draft.to_document(&Layout::default())).unwrap_or_default()
}
