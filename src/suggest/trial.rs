//! Candidates run through the real chain on values: what comes back is held against what went in.

use std::ops::ControlFlow;

use super::candidate::Candidate;
use super::elements::{BLOCK, widen};
use super::wish::Tolerance;
use crate::stats::ErrorMeasures;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What a candidate did to values. Parts merged in one order give the same bits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trial {
    /// The errors of finite values.
    pub errors: ErrorMeasures,
    /// Values that could not be encoded or decoded.
    pub faults: u64,
    /// The first of them, and why.
    pub first_fault: Option<(Scalar, String)>,
    /// NaN and infinities that did not come back, finite values that came back as one of them, and those of `masked`.
    pub lost: u64,
    /// Values that came back as one that is declared to be missing.
    pub masked: u64,
    /// Values that did not come back bit for bit, where that is asked for, or where they are integers.
    pub changed: u64,
}

impl Trial {
    /// Adds what happened to other values.
    pub fn merge(&mut self, other: &Self) {
        self.errors.merge(&other.errors);
        self.faults += other.faults;
        if self.first_fault.is_none() {
            self.first_fault.clone_from(&other.first_fault);
        }
        self.lost += other.lost;
        self.masked += other.masked;
        self.changed += other.changed;
    }

    /// Whether every value came back within a tolerance. `grain` is the distance of neighbouring values at the farther end of
    /// the data.
    #[must_use]
    pub fn holds(&self, tolerance: Tolerance, grain: f64) -> bool {
        let within = match tolerance {
            Tolerance::Open | Tolerance::Bitwise => true,
            Tolerance::Absolute(error) => self.errors.largest_absolute() <= error,
            Tolerance::Decimals(decimals) => {
                let half = 0.5 * 10_f64.powi(-decimals);
                self.errors.largest_absolute() <= half + grain
            }
            Tolerance::Relative(share) => self.errors.largest_relative() <= share,
        };
        // What changes is counted of floats only where every bit is asked for, and of integers, of which readers expect each digit.
        within && self.faults == 0 && self.lost == 0 && self.changed == 0
    }
}

/// Runs candidates on values; holds what that needs, so that nothing is allocated for each block.
pub(super) struct Bench {
    data_type: DataType,
    bitwise: bool,
    /// The values that stand for missing ones, which no error is measured of: chains keep them as they are, or are none.
    stand_ins: Vec<f64>,
    originals: Vec<f64>,
    decoded: Vec<f64>,
    codes: Vec<u8>,
    back: Vec<u8>,
}

impl Bench {
    pub(super) fn new(data_type: DataType, tolerance: Tolerance, stand_ins: &[Scalar]) -> Self {
        Self {
            data_type,
            stand_ins: stand_ins.iter().map(|value| value.to_f64()).collect(),
            bitwise: tolerance == Tolerance::Bitwise || data_type.is_integer(),
            originals: vec![0.0; BLOCK],
            decoded: vec![0.0; BLOCK],
            codes: vec![0; BLOCK * 8],
            back: vec![0; BLOCK * data_type.size()],
        }
    }

    /// Runs each candidate on all elements, and hands the values of each block to `look`.
    pub(super) fn run(
        &mut self,
        elements: &[u8],
        candidates: &[&Candidate],
        trials: &mut [Trial],
        mut look: impl FnMut(&[f64]),
    ) {
        let size = self.data_type.size();
        for block in elements.chunks(BLOCK * size) {
            let count = block.len() / size;
            widen(self.data_type, block, &mut self.originals[..count]);
            look(&self.originals[..count]);
            for (candidate, trial) in candidates.iter().zip(&mut *trials) {
                self.try_block(block, count, candidate, trial);
            }
        }
    }

    fn try_block(&mut self, block: &[u8], count: usize, candidate: &Candidate, trial: &mut Trial) {
        let codes = &mut self.codes[..count * candidate.stored.size()];
        let back = &mut self.back[..block.len()];
        let mut faulted: Vec<usize> = Vec::new();
        let mut encode = |fault: crate::transform::apply::ElementFault| {
            note(trial, fault.value, &fault.fault);
            faulted.push(fault.index);
            ControlFlow::Continue(())
        };
        let _ = candidate
            .chain
            .pass(Direction::Encode)
            .run(block, codes, &mut encode);
        let size = self.data_type.size();
        let encoding = faulted.len();
        let mut decode = |fault: crate::transform::apply::ElementFault| {
            // What was not encoded has no code that could fail. Faults come in order.
            if faulted[..encoding].binary_search(&fault.index).is_err() {
                let at = fault.index * size;
                let value = Scalar::from_ne_bytes(self.data_type, &block[at..]);
                note(trial, value, &fault.fault);
                faulted.push(fault.index);
            }
            ControlFlow::Continue(())
        };
        let _ = candidate
            .chain
            .pass(Direction::Decode)
            .run(codes, back, &mut decode);
        let decoded = &mut self.decoded[..count];
        widen(self.data_type, back, decoded);
        let originals = &self.originals[..count];
        // What failed is counted, and no error of it is known.
        for index in &faulted {
            decoded[*index] = originals[*index];
        }
        let declared = |x: &f64| self.stand_ins.contains(x);
        if !self.stand_ins.is_empty() {
            let pairs = originals.iter().zip(&*decoded);
            let masked = pairs.filter(|(x, y)| declared(y) && !declared(x)).count() as u64;
            trial.masked += masked;
            trial.lost += masked;
        }
        if originals.iter().any(declared) {
            let pairs = originals.iter().copied().zip(decoded.iter().copied());
            let pairs = pairs.filter(|(x, y)| !declared(x) || x != y);
            let (originals, decoded): (Vec<_>, Vec<_>) = pairs.unzip();
            trial.lost += measure(&originals, &decoded, &mut trial.errors);
        } else {
            trial.lost += measure(originals, decoded, &mut trial.errors);
        }
        if self.bitwise && *block != *back {
            let pairs = block.chunks_exact(size).zip(back.chunks_exact(size));
            let changed = pairs
                .zip(originals)
                .filter(|((a, b), x)| a != b && !x.is_nan());
            trial.changed += changed.count() as u64;
        }
    }
}

/// Measures the errors of the finite values, and counts those that are lost.
fn measure(originals: &[f64], decoded: &[f64], errors: &mut ErrorMeasures) -> u64 {
    // A sum of differences is finite only if all of them are.
    let all: f64 = originals.iter().zip(decoded).map(|(x, y)| y - x).sum();
    if all.is_finite() {
        errors.add_all(originals, decoded);
        return 0;
    }
    let mut lost = 0;
    for (x, y) in originals.iter().zip(decoded) {
        if x.is_finite() && y.is_finite() {
            errors.add(*x, *y);
        } else {
            let same = x.is_nan() && y.is_nan() || x == y;
            lost += u64::from(!same);
        }
    }
    lost
}

fn note(trial: &mut Trial, value: Scalar, fault: &crate::transform::fault::Fault) {
    trial.faults += 1;
    if trial.first_fault.is_none() {
        trial.first_fault = Some((value, fault.to_string()));
    }
}
