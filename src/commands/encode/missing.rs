//! A code for missing values that no value uses, found by looking at all of them.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use super::chain::Packing;
use super::examine::{count, scalars};
use super::plan::{Blueprint, Built};
use super::tasks::Task;
use crate::catalog::named;
use crate::error::Error;
use crate::pipeline::{OnFailure, Pipeline, Stopped};
use crate::transform::chain::{BoundCodec, Direction};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// How many codes at each end of a wide type are looked at.
const CANDIDATES: i128 = 64;

/// The codes that may be taken, and those of them that are used.
struct Codes {
    data_type: DataType,
    /// Best first.
    candidates: Vec<Scalar>,
    used: Mutex<HashSet<u64>>,
}

impl Codes {
    /// All codes of a type of up to 16 bits, and those at the ends of a wider one: the end that signed types are usually
    /// given for missing values first.
    fn of(data_type: DataType) -> Self {
        let (low, high) = Scalar::finite_range(data_type);
        let (low, high) = (low.integer().unwrap_or(0), high.integer().unwrap_or(0));
        let count = if data_type.bits() <= 16 {
            high - low + 1
        } else {
            CANDIDATES
        };
        let from_low = (0..count).map(|n| low + n);
        let from_high = (0..count).map(|n| high - n);
        let mut order: Vec<i128> = if low < 0 {
            [low, high]
                .into_iter()
                .chain(from_low)
                .chain(from_high)
                .collect()
        } else {
            [high, low]
                .into_iter()
                .chain(from_high)
                .chain(from_low)
                .collect()
        };
        let mut seen = HashSet::new();
        order.retain(|code| seen.insert(*code));
        let candidates = order.into_iter();
        Self {
            data_type,
            candidates: candidates
                .filter_map(|code| Scalar::from_integer(data_type, code))
                .collect(),
            used: Mutex::new(HashSet::new()),
        }
    }

    /// Marks codes as used.
    fn mark(&self, codes: impl Iterator<Item = Scalar>) {
        let new: HashSet<u64> = codes.map(Scalar::bits).collect();
        self.add(new);
    }

    /// Marks the codes in a slice as used, those that stand nowhere near the ends of a wide type left out. `trial` stood in
    /// for as many NaNs as `nan` says.
    fn mark_all(&self, codes: &[u8], trial: Scalar, nan: u64) {
        let (low, high) = Scalar::finite_range(self.data_type);
        let mut new: HashSet<u64> = match self.data_type.size() {
            // Of the bits of a byte such types use the lower ones alone.
            1 if self.data_type.bits() < 8 => {
                scalars(self.data_type, codes).map(Scalar::bits).collect()
            }
            1 => used(codes.iter().map(|code| usize::from(*code))),
            2 => {
                let (codes, _) = codes.as_chunks::<2>();
                used(
                    codes
                        .iter()
                        .map(|code| usize::from(u16::from_ne_bytes(*code))),
                )
            }
            4 => {
                let (codes, _) = codes.as_chunks::<4>();
                let codes = codes.iter().map(|code| u32::from_ne_bytes(*code));
                let near = |code: &u32| {
                    // Modulo 2^32, so that signed types need nothing else.
                    let (low, high) = (low.bits() as u32, high.bits() as u32);
                    code.wrapping_sub(low) < CANDIDATES as u32
                        || high.wrapping_sub(*code) < CANDIDATES as u32
                };
                codes.filter(near).map(u64::from).collect()
            }
            _ => {
                let (codes, _) = codes.as_chunks::<8>();
                let codes = codes.iter().map(|code| u64::from_ne_bytes(*code));
                let near = |code: &u64| {
                    code.wrapping_sub(low.bits()) < CANDIDATES as u64
                        || high.bits().wrapping_sub(*code) < CANDIDATES as u64
                };
                codes.filter(near).collect()
            }
        };
        if new.contains(&trial.bits()) && count(trial, codes) == nan {
            new.remove(&trial.bits());
        }
        self.add(new);
    }

    fn add(&self, new: HashSet<u64>) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.extend(new);
    }

    fn first_free(&self) -> Option<Scalar> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut candidates = self.candidates.iter();
        candidates
            .find(|code| !used.contains(&code.bits()))
            .copied()
    }
}

/// The codes of up to 16 bits that occur.
fn used(codes: impl Iterator<Item = usize>) -> HashSet<u64> {
    let mut used = vec![false; 1 << 16];
    for code in codes {
        used[code] = true;
    }
    let used = used.iter().enumerate().filter(|(_, used)| **used);
    used.map(|(code, _)| code as u64).collect()
}

/// Looks at all values of an array, and gives its chain a code for NaN that none of them uses.
pub(super) fn settle(
    blueprint: &Blueprint<'_>,
    built: &Built,
    cast: usize,
    list: impl Iterator<Item = Task> + Send,
    pipeline: &Pipeline<'_>,
) -> Result<Packing, Error> {
    let packing = &built.packing;
    let cast_type = packing.outgoing(cast);
    let codes = Codes::of(cast_type);
    // What the chain itself gives a meaning, and the code of the fill.
    let mapped = packing.bound.codecs().iter().skip(cast).take(1);
    for codec in mapped {
        if let BoundCodec::CastValue(cast) = codec {
            codes.mark(cast.encode_map.entries().iter().map(|(_, code)| *code));
            codes.mark(cast.decode_map.entries().iter().map(|(code, _)| *code));
        }
    }
    if built.fill_is_given && !built.fill.is_nan() {
        codes.mark(code_after(packing, cast, built.fill).into_iter());
    }
    // With some code for NaN the kernels run over it; which one does not matter, since NaN is passed over.
    let Some(trial_code) = codes.first_free() else {
        return Err(none_free(&blueprint.path, cast_type));
    };
    let trial = packing.with_missing(cast, trial_code)?;
    let data_type = packing.bound.data_type();
    let is_last = cast + 1 == packing.bound.codecs().len();
    let size = data_type.size();
    let scanned = pipeline.unordered(
        list,
        |task| {
            let elements = crate::region::elements(&task.part).unwrap_or(u64::MAX);
            elements
                .saturating_mul(size as u64 + 8)
                .saturating_add(blueprint.source.working_bytes())
        },
        OnFailure::Stop,
        |task| -> Result<(), Error> {
            let values = blueprint.source.read(&blueprint.path, &task.part)?;
            let elements = values.len() / size;
            if is_last {
                let pass = trial.bound.pass(Direction::Encode);
                let mut encoded = vec![0; elements * pass.target().size()];
                // What fails stands there as 0, and ends the run later: that 0 is taken for used does no harm.
                let _ = pass.run(&values, &mut encoded, &mut |_| ControlFlow::Continue(()));
                let nan = scalars(data_type, &values)
                    .filter(|value| value.is_nan())
                    .count();
                codes.mark_all(&encoded, trial_code, nan as u64);
            } else {
                let values = scalars(data_type, &values).filter(|value| !value.is_nan());
                codes.mark(values.filter_map(|value| code_after(packing, cast, value)));
            }
            Ok(())
        },
    );
    scanned.into_result().map_err(|stopped| match stopped {
        Stopped::Failed { error, .. } => error,
        Stopped::Interrupted(interrupted) => interrupted.into(),
    })?;
    match codes.first_free() {
        Some(code) => packing.with_missing(cast, code),
        None => Err(none_free(&blueprint.path, cast_type)),
    }
}

/// What a value is behind the cast at a place.
fn code_after(packing: &Packing, cast: usize, value: Scalar) -> Option<Scalar> {
    let mut codecs = packing.bound.codecs().iter().take(cast + 1);
    codecs
        .try_fold(value, |value, codec| codec.encode(value))
        .ok()
}

fn none_free(path: &str, data_type: DataType) -> Error {
    let all = if data_type.bits() <= 16 {
        format!("all codes of {data_type} are used")
    } else {
        format!("all codes near the ends of {data_type} are used")
    };
    Error::finding(format!(
        "{} holds NaN, and {all}: none is free for it",
        named(path)
    ))
    .hint("choose one with --missing, a wider type with --to, or another --scale")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(data_type: DataType, value: i128) -> Scalar {
        Scalar::from_integer(data_type, value).unwrap()
    }

    #[test]
    fn the_usual_end_comes_first_and_used_codes_never() {
        let codes = Codes::of(DataType::Int16);
        assert_eq!(codes.first_free().unwrap().integer(), Some(-32768));
        codes.mark(
            [-32768, 32767]
                .map(|n| integer(DataType::Int16, n))
                .into_iter(),
        );
        assert_eq!(codes.first_free().unwrap().integer(), Some(-32767));
        let codes = Codes::of(DataType::UInt8);
        assert_eq!(codes.first_free().unwrap().integer(), Some(255));
        codes.mark((1..=255).map(|n| integer(DataType::UInt8, n)));
        assert_eq!(codes.first_free().unwrap().integer(), Some(0));
        codes.mark([integer(DataType::UInt8, 0)].into_iter());
        assert_eq!(codes.first_free(), None);
    }

    #[test]
    fn wide_types_are_searched_at_their_ends() {
        let codes = Codes::of(DataType::Int64);
        assert_eq!(codes.candidates.len(), 128);
        let bytes: Vec<u8> = [0, i64::MAX]
            .iter()
            .flat_map(|code: &i64| code.to_ne_bytes())
            .collect();
        codes.mark_all(&bytes, integer(DataType::Int64, i64::MAX.into()), 1);
        assert!(codes.used.lock().unwrap().is_empty());
        codes.mark_all(&bytes, integer(DataType::Int64, i64::MIN.into()), 0);
        assert_eq!(codes.used.lock().unwrap().len(), 1);
        codes.mark([integer(DataType::Int64, i128::from(i64::MIN))].into_iter());
        assert_eq!(
            codes.first_free().unwrap().integer(),
            Some(i128::from(i64::MIN) + 1)
        );
    }
}
