//! The work on a part of an array: values become codes, and every one of them is looked at.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::{ControlFlow, Range};

use super::examine::{self, Kinds, Sentinel, all_are, beyond, count, scalars};
use super::one_way::{OneWay, is_mapped};
use super::plan::Built;
use super::stand_in::StandIn;
use super::tally::{Loss, LossExample, Tally};
use super::{Domain, LossKind};
use crate::region::runs;
use crate::transform::apply::ElementFault;
use crate::transform::chain::Direction;
use crate::transform::fault::FaultKind;
use crate::transform::scalar::Scalar;

/// The codes of a part of an array, and what is known of them.
#[derive(Debug)]
pub(super) struct Codes {
    /// The codes, in row-major order of the part.
    pub(super) codes: Vec<u8>,
    /// What they decode to.
    pub(super) decoded: Vec<u8>,
    /// What was counted.
    pub(super) tally: Tally,
    /// Whether all of the part is as a missing chunk is read.
    pub(super) is_fill: bool,
}

/// A part of an array that is looked at: its chunk in the output, and its box in the array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) chunk: &'a [u64],
    pub(super) place: &'a [Range<u64>],
}

impl Part<'_> {
    /// The place in the array of an element of the part.
    fn index(&self, element: usize) -> Vec<u64> {
        let mut rest = element as u64;
        let mut index: Vec<u64> = self
            .place
            .iter()
            .rev()
            .map(|range| {
                let length = (range.end - range.start).max(1);
                let at = range.start + rest % length;
                rest /= length;
                at
            })
            .collect();
        index.reverse();
        index
    }

    fn example(&self, element: usize, value: Scalar, reason: String) -> LossExample {
        LossExample {
            chunk: self.chunk.to_vec(),
            index: self.index(element),
            value: value.to_string(),
            reason,
        }
    }
}

/// What was lost on a part: how many of each kind, and the first of them by its place, in whatever order they are found.
#[derive(Debug, Default)]
struct Found(BTreeMap<LossKind, (u64, usize, LossExample)>);

impl Found {
    /// Counts one more; an example is made only if none is known that comes before.
    fn note(&mut self, kind: LossKind, element: usize, example: impl FnOnce() -> LossExample) {
        match self.0.entry(kind) {
            Entry::Vacant(entry) => {
                entry.insert((1, element, example()));
            }
            Entry::Occupied(mut entry) => {
                let (count, first, known) = entry.get_mut();
                *count += 1;
                if element < *first {
                    (*first, *known) = (element, example());
                }
            }
        }
    }

    fn losses(self) -> BTreeMap<LossKind, Loss> {
        let losses = self.0.into_iter().map(|(kind, (count, _, first))| {
            let first = Some(first);
            (kind, Loss { count, first })
        });
        losses.collect()
    }
}

impl Built {
    /// Encodes a part, decodes it again, and looks at every value.
    pub(super) fn encode(&self, part: Part<'_>, values: Vec<u8>) -> Codes {
        match self.domain {
            Domain::Logical => self.encode_values(part, &values),
            Domain::Stored => self.take_codes(part, values),
        }
    }

    fn encode_values(&self, part: Part<'_>, values: &[u8]) -> Codes {
        let (data_type, stored) = (self.chain.data_type(), self.chain.stored_type());
        let elements = values.len() / data_type.size();
        let mut tally = Tally {
            values: elements as u64,
            ..Tally::default()
        };
        let mut found = Found::default();
        let mut codes = vec![0; elements * stored.size()];
        let mut faults: Vec<usize> = Vec::new();
        let mut patches: Vec<Scalar> = Vec::new();
        let _ = self
            .chain
            .pass(Direction::Encode)
            .run(values, &mut codes, &mut |fault| {
                let kind = loss_kind(fault.value, fault.fault.kind);
                found.note(kind, fault.index, || {
                    part.example(fault.index, fault.value, self.reason(&fault))
                });
                faults.push(fault.index);
                patches.push(self.stand_ins.for_value(fault.value).code);
                ControlFlow::Continue(())
            });
        for (index, patch) in faults.iter().zip(&patches) {
            patch.write_ne_bytes(&mut codes[index * stored.size()..][..stored.size()]);
        }
        faults.sort_unstable();
        let mut decoded = vec![0; values.len()];
        let mut undecoded: Vec<(usize, StandIn)> = Vec::new();
        let _ = self
            .chain
            .pass(Direction::Decode)
            .run(&codes, &mut decoded, &mut |fault| {
                let at = fault.index * data_type.size();
                let value = Scalar::from_ne_bytes(data_type, &values[at..][..data_type.size()]);
                if faults.binary_search(&fault.index).is_err() {
                    found.note(LossKind::OutOfRange, fault.index, || {
                        let reason =
                            format!("its code {} does not decode: {}", fault.value, fault.fault);
                        part.example(fault.index, value, reason)
                    });
                }
                undecoded.push((fault.index, self.stand_ins.for_value(value)));
                ControlFlow::Continue(())
            });
        for (index, stand_in) in &undecoded {
            let (code, value) = (stand_in.code, stand_in.value);
            code.write_ne_bytes(&mut codes[index * stored.size()..][..stored.size()]);
            value.write_ne_bytes(&mut decoded[index * data_type.size()..][..data_type.size()]);
        }
        faults.extend(undecoded.iter().map(|(index, _)| index));
        faults.sort_unstable();
        let is_fill = all_are(self.fill_code, &codes)
            && (!self.fill_drifts
                || scalars(data_type, values).all(|value| value.equals(self.fill)));
        // A part that is left out is read as the fill, whatever its code decodes to.
        let left_out = is_fill && self.fill_drifts && !self.write_empty;
        let kinds = if left_out {
            examine::measure(data_type, values, values, &mut tally.errors)
        } else {
            examine::measure(data_type, values, &decoded, &mut tally.errors)
        };
        tally.nan = kinds.nan;
        tally.infinite = kinds.infinite;
        if let Some(range) = self.lenient_range {
            tally.clamped = self.clamped(range, values);
        }
        for sentinel in &self.sentinels {
            let met = (values, &codes[..]);
            tally.mapped += self.look_at_sentinel(part, *sentinel, met, &faults, kinds, &mut found);
        }
        self.look_for_one_way(part, (values, &codes), &faults, &mut found);
        self.count_limits(&codes, &mut tally);
        if data_type.is_integer() && values != decoded {
            self.look_for_digits(part, (values, &codes, &decoded), &faults, &mut found);
        }
        tally.losses = found.losses();
        Codes {
            codes,
            decoded,
            tally,
            is_fill,
        }
    }

    /// Codes that INPUT holds already.
    fn take_codes(&self, part: Part<'_>, codes: Vec<u8>) -> Codes {
        let data_type = self.chain.data_type();
        let elements = codes.len() / self.chain.stored_type().size();
        let mut tally = Tally {
            values: elements as u64,
            ..Tally::default()
        };
        let mut decoded = vec![0; elements * data_type.size()];
        let _ = self
            .chain
            .pass(Direction::Decode)
            .run(&codes, &mut decoded, &mut |fault| {
                tally.loss(LossKind::OutOfRange).add(1, || {
                    let reason = format!("it does not decode: {}", fault.fault);
                    part.example(fault.index, fault.value, reason)
                });
                ControlFlow::Continue(())
            });
        for sentinel in &self.sentinels {
            tally.mapped += count(sentinel.code, &codes);
        }
        tally.nan = scalars(data_type, &decoded)
            .filter(|value| value.is_nan())
            .count() as u64;
        self.count_limits(&codes, &mut tally);
        let is_fill = all_are(self.fill_code, &codes) && !self.fill_drifts;
        Codes {
            codes,
            decoded,
            tally,
            is_fill,
        }
    }

    /// Counts values out of range that the chain clamps or wraps. What a map gives a code is none of them.
    fn clamped(&self, range: (Scalar, Scalar), values: &[u8]) -> u64 {
        let outside = beyond(range, values);
        if outside == 0 || !self.maps_numbers {
            return outside;
        }
        let (low, high) = range;
        let values = scalars(self.chain.data_type(), values);
        let is_outside = |value: &Scalar| {
            value.is_finite()
                && (value.compare(low).is_some_and(Ordering::is_lt)
                    || value.compare(high).is_some_and(Ordering::is_gt))
        };
        let mapped = values.filter(|value| is_outside(value) && is_mapped(&self.chain, *value));
        outside - mapped.count() as u64
    }

    /// Tells values that a map gave a code from values that happened to meet it, and returns how many the former are.
    fn look_at_sentinel(
        &self,
        part: Part<'_>,
        sentinel: Sentinel,
        (values, codes): (&[u8], &[u8]),
        faults: &[usize],
        kinds: Kinds,
        found: &mut Found,
    ) -> u64 {
        let met = count(sentinel.code, codes);
        if met == 0 {
            return 0;
        }
        if sentinel.value.is_nan() && met == kinds.nan && faults.is_empty() {
            // As many as there are NaNs: but they may be others.
            let only = self
                .sentinels
                .iter()
                .filter(|other| other.value.is_nan())
                .count()
                == 1;
            if only {
                return met;
            }
        }
        let mut mapped = 0;
        for (element, value, code) in self.on_code(sentinel.code, values, codes) {
            if value.equals(sentinel.value) {
                mapped += 1;
            } else if faults.binary_search(&element).is_err()
                && !self.goes_one_way(code, value)
                && !self.rounds_to(sentinel, value)
            {
                found.note(OneWay::kind(value), element, || {
                    let reason = format!(
                        "it becomes the code {code}, which stands for {}",
                        sentinel.value
                    );
                    part.example(element, value, reason)
                });
            }
        }
        mapped
    }

    /// Counts values that a map gives a code which decodes to something else.
    fn look_for_one_way(
        &self,
        part: Part<'_>,
        (values, codes): (&[u8], &[u8]),
        faults: &[usize],
        found: &mut Found,
    ) {
        for entry in &self.one_way {
            if count(entry.code, codes) == 0 {
                continue;
            }
            for (element, value, code) in self.on_code(entry.code, values, codes) {
                let lost = entry.takes(&self.chain, value) && !value.equals(entry.back);
                if !lost || faults.binary_search(&element).is_ok() {
                    continue;
                }
                found.note(OneWay::kind(value), element, || {
                    let reason = format!(
                        "a map gives it the code {code}, which decodes to {}",
                        entry.back
                    );
                    part.example(element, value, reason)
                });
            }
        }
    }

    /// Whether a value is so close to the one of a sentinel that the arithmetic before the map does not tell them apart: it is rounded
    /// like any other then, unless that makes it missing.
    fn rounds_to(&self, sentinel: Sentinel, value: Scalar) -> bool {
        let is_missing = !sentinel.value.is_finite()
            || self
                .missing
                .iter()
                .any(|missing| missing.equals(sentinel.value));
        !is_missing && value.is_finite() && is_mapped(&self.chain, value)
    }

    /// Whether an entry of a map that decoding does not undo gives a value its code.
    fn goes_one_way(&self, code: Scalar, value: Scalar) -> bool {
        let mut entries = self.one_way.iter();
        entries.any(|entry| entry.code.equals(code) && entry.takes(&self.chain, value))
    }

    /// The elements with a code, and their values.
    fn on_code<'a>(
        &self,
        wanted: Scalar,
        values: &'a [u8],
        codes: &'a [u8],
    ) -> impl Iterator<Item = (usize, Scalar, Scalar)> + use<'a> {
        let values = scalars(self.chain.data_type(), values);
        let codes = scalars(self.chain.stored_type(), codes);
        let pairs = values.zip(codes).enumerate();
        pairs
            .filter(move |(_, (_, code))| code.equals(wanted))
            .map(|(element, (value, code))| (element, value, code))
    }

    fn count_limits(&self, codes: &[u8], tally: &mut Tally) {
        let stored = self.chain.stored_type();
        if !stored.is_integer() {
            return;
        }
        let (low, high) = Scalar::finite_range(stored);
        let taken = |limit: &Scalar| {
            let mut sentinels = self.sentinels.iter();
            sentinels.any(|sentinel| sentinel.code == *limit)
        };
        for limit in [low, high].into_iter().filter(|limit| !taken(limit)) {
            tally.at_limits += count(limit, codes);
        }
    }

    /// Counts integers that come back as others, where neither a map nor the range explains it.
    fn look_for_digits(
        &self,
        part: Part<'_>,
        (values, codes, decoded): (&[u8], &[u8], &[u8]),
        faults: &[usize],
        found: &mut Found,
    ) {
        let data_type = self.chain.data_type();
        let codes = scalars(self.chain.stored_type(), codes);
        let pairs = scalars(data_type, values).zip(scalars(data_type, decoded));
        for (element, ((value, back), code)) in pairs.zip(codes).enumerate() {
            let explained = || {
                let mut sentinels = self.sentinels.iter();
                let mapped = sentinels.any(|sentinel| sentinel.code.equals(code))
                    || self.goes_one_way(code, value);
                let clamped = self.lenient_range.is_some_and(|(low, high)| {
                    value.compare(low).is_some_and(std::cmp::Ordering::is_lt)
                        || value.compare(high).is_some_and(std::cmp::Ordering::is_gt)
                });
                mapped || clamped || faults.binary_search(&element).is_ok()
            };
            if !value.equals(back) && !explained() {
                found.note(LossKind::Digits, element, || {
                    part.example(element, value, format!("it would come back as {back}"))
                });
            }
        }
    }

    /// Why a value has no code, and what would have one.
    fn reason(&self, fault: &ElementFault) -> String {
        let reason = fault.fault.to_string();
        match self.fits {
            Some((low, high))
                if loss_kind(fault.value, fault.fault.kind) == LossKind::OutOfRange =>
            {
                format!("{reason}; values from {low} to {high} fit")
            }
            _ => reason,
        }
    }

    /// A piece that the encoder takes, whole, from the codes of a part of the array: what lies beyond the array is fill.
    pub(super) fn expand(
        &self,
        piece: &[Range<u64>],
        part: &[Range<u64>],
        codes: &[u8],
    ) -> Vec<u8> {
        let size = self.chain.stored_type().size();
        let mut fill = [0; 8];
        self.fill_code.write_ne_bytes(&mut fill[..size]);
        let lengths = piece.iter().map(|range| range.end - range.start);
        let elements: u64 = lengths.product();
        let elements = usize::try_from(elements).unwrap_or(usize::MAX);
        let mut whole = fill[..size].repeat(elements);
        if let Some(inside) = crate::region::intersection(piece, part) {
            runs(&inside, part, piece, |from, to, length| {
                whole[to * size..(to + length) * size]
                    .copy_from_slice(&codes[from * size..(from + length) * size]);
            });
        }
        whole
    }
}

/// The kind of loss that a fault is. What becomes infinite, or NaN, on its way is out of range.
fn loss_kind(value: Scalar, kind: FaultKind) -> LossKind {
    match kind {
        FaultKind::NotANumber if value.is_nan() => LossKind::Nan,
        FaultKind::Infinite if value.is_infinite() => LossKind::Infinity,
        FaultKind::Remainder => LossKind::Digits,
        FaultKind::NotANumber
        | FaultKind::Infinite
        | FaultKind::OutOfRange
        | FaultKind::Overflow => LossKind::OutOfRange,
    }
}

/// Copies a box out of another, both in row-major order, of elements of so many bytes.
pub(super) fn cut_out(
    part: &[Range<u64>],
    whole: &[Range<u64>],
    elements: &[u8],
    size: usize,
) -> Vec<u8> {
    let lengths = part.iter().map(|range| range.end - range.start);
    let count: u64 = lengths.product();
    let mut cut = vec![0; usize::try_from(count).unwrap_or(usize::MAX) * size];
    runs(part, whole, part, |from, to, length| {
        cut[to * size..(to + length) * size]
            .copy_from_slice(&elements[from * size..(from + length) * size]);
    });
    cut
}
