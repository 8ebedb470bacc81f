//! The work on a part of an array: values become codes, and every one of them is looked at.

use std::ops::{ControlFlow, Range};

use super::examine::{self, Kinds, Sentinel, all_are, beyond, count, scalars};
use super::plan::Built;
use super::tally::{LossExample, Tally};
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
        let mut codes = vec![0; elements * stored.size()];
        let mut faults: Vec<usize> = Vec::new();
        let mut patches: Vec<Scalar> = Vec::new();
        let _ = self
            .chain
            .pass(Direction::Encode)
            .run(values, &mut codes, &mut |fault| {
                let kind = loss_kind(fault.fault.kind);
                tally.loss(kind).add(1, || {
                    part.example(fault.index, fault.value, self.reason(&fault))
                });
                faults.push(fault.index);
                patches.push(self.nearest(fault.value));
                ControlFlow::Continue(())
            });
        for (index, patch) in faults.iter().zip(&patches) {
            patch.write_ne_bytes(&mut codes[index * stored.size()..][..stored.size()]);
        }
        let mut decoded = vec![0; values.len()];
        let _ = self
            .chain
            .pass(Direction::Decode)
            .run(&codes, &mut decoded, &mut |fault| {
                let at = fault.index * data_type.size();
                let value = Scalar::from_ne_bytes(data_type, &values[at..][..data_type.size()]);
                tally.loss(LossKind::OutOfRange).add(1, || {
                    let reason =
                        format!("its code {} does not decode: {}", fault.value, fault.fault);
                    part.example(fault.index, value, reason)
                });
                faults.push(fault.index);
                ControlFlow::Continue(())
            });
        faults.sort_unstable();
        let kinds = examine::measure(data_type, values, &decoded, &mut tally.errors);
        tally.nan = kinds.nan;
        tally.infinite = kinds.infinite;
        if let Some(range) = self.lenient_range {
            tally.clamped = beyond(range, values);
        }
        for sentinel in &self.sentinels {
            self.look_at_sentinel(
                part,
                *sentinel,
                (values, &codes),
                &faults,
                kinds,
                &mut tally,
            );
        }
        self.count_limits(&codes, &mut tally);
        if data_type.is_integer() && values != decoded {
            self.look_for_digits(part, (values, &codes, &decoded), &faults, &mut tally);
        }
        let is_fill = all_are(self.fill_code, &codes)
            && (!self.fill_drifts
                || scalars(data_type, values).all(|value| value.equals(self.fill)));
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

    /// Tells values that a map gave a code from values that happened to meet it.
    fn look_at_sentinel(
        &self,
        part: Part<'_>,
        sentinel: Sentinel,
        (values, codes): (&[u8], &[u8]),
        faults: &[usize],
        kinds: Kinds,
        tally: &mut Tally,
    ) {
        let met = count(sentinel.code, codes);
        if met == 0 {
            return;
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
                tally.mapped += met;
                return;
            }
        }
        let pairs = scalars(self.chain.data_type(), values)
            .zip(scalars(self.chain.stored_type(), codes))
            .enumerate();
        for (element, (value, code)) in pairs {
            if code.bits() != sentinel.code.bits() {
                continue;
            }
            if value.equals(sentinel.value) {
                tally.mapped += 1;
            } else if faults.binary_search(&element).is_err() {
                tally.loss(LossKind::MissingCode).add(1, || {
                    let reason = format!(
                        "it becomes the code {code}, which stands for {}",
                        sentinel.value
                    );
                    part.example(element, value, reason)
                });
            }
        }
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
        tally: &mut Tally,
    ) {
        let data_type = self.chain.data_type();
        let codes = scalars(self.chain.stored_type(), codes);
        let pairs = scalars(data_type, values).zip(scalars(data_type, decoded));
        for (element, ((value, back), code)) in pairs.zip(codes).enumerate() {
            let explained = || {
                let sentinel = self.sentinels.iter().any(|sentinel| sentinel.code == code);
                let clamped = self.lenient_range.is_some_and(|(low, high)| {
                    value.compare(low).is_some_and(std::cmp::Ordering::is_lt)
                        || value.compare(high).is_some_and(std::cmp::Ordering::is_gt)
                });
                sentinel || clamped || faults.binary_search(&element).is_ok()
            };
            if !value.equals(back) && !explained() {
                tally.loss(LossKind::Digits).add(1, || {
                    part.example(element, value, format!("it would come back as {back}"))
                });
            }
        }
    }

    /// Why a value has no code, and what would have one.
    fn reason(&self, fault: &ElementFault) -> String {
        let reason = fault.fault.to_string();
        match self.fits {
            Some((low, high)) if loss_kind(fault.fault.kind) == LossKind::OutOfRange => {
                format!("{reason}; values from {low} to {high} fit")
            }
            _ => reason,
        }
    }

    /// The code that stands in for a value without one, where that loss is allowed: of the nearest value that fits, and of the
    /// fill for NaN.
    fn nearest(&self, value: Scalar) -> Scalar {
        let Some((low, high)) = self.fits.filter(|_| !value.is_nan()) else {
            return self.fill_code;
        };
        let nearest = match value.compare(high) {
            Some(order) if order.is_gt() => high,
            _ => low,
        };
        let code = self.chain.transform(Direction::Encode, nearest);
        code.unwrap_or(self.fill_code)
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

/// The kind of loss that a fault is.
const fn loss_kind(kind: FaultKind) -> LossKind {
    match kind {
        FaultKind::NotANumber => LossKind::Nan,
        FaultKind::Infinite => LossKind::Infinity,
        FaultKind::OutOfRange | FaultKind::Overflow => LossKind::OutOfRange,
        FaultKind::Remainder => LossKind::Digits,
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
