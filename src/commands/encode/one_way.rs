//! Values that a map gives a code which decodes to something else: a chain may say so, and it loses them all the same.

use super::LossKind;
use super::chain::Packing;
use crate::transform::chain::{BoundChain, BoundCodec, Direction};
use crate::transform::scalar::Scalar;

/// An entry of a map that is not undone by decoding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OneWay {
    /// The place of the cast in the chain.
    cast: usize,
    /// The value that enters the cast.
    entering: Scalar,
    /// The code behind the whole chain.
    pub(super) code: Scalar,
    /// What the code decodes to.
    pub(super) back: Scalar,
}

impl OneWay {
    /// All such entries of a chain. Codes that do not decode are found when they are decoded.
    pub(super) fn of(packing: &Packing) -> Vec<Self> {
        let bound = &packing.bound;
        let mut found = Vec::new();
        for (cast, codec) in bound.codecs().iter().enumerate() {
            let BoundCodec::CastValue(map) = codec else {
                continue;
            };
            for (entering, code) in map.encode_map.entries() {
                let mut behind = bound.codecs()[cast + 1..].iter();
                let Ok(code) = behind.try_fold(*code, |code, codec| codec.encode(code)) else {
                    continue;
                };
                let Ok(back) = bound.transform(Direction::Decode, code) else {
                    continue;
                };
                let again = entering_value(bound, cast, back);
                if again.is_none_or(|again| !again.equals(*entering))
                    || entering.is_nan() && !back.is_nan()
                {
                    found.push(Self {
                        cast,
                        entering: *entering,
                        code,
                        back,
                    });
                }
            }
        }
        found
    }

    /// Whether it is this entry that gives a value its code.
    pub(super) fn takes(&self, chain: &BoundChain, value: Scalar) -> bool {
        entering_value(chain, self.cast, value).is_some_and(|found| found.equals(self.entering))
    }

    /// The kind of loss that this is for a value.
    pub(super) fn kind(value: Scalar) -> LossKind {
        if value.is_nan() {
            LossKind::Nan
        } else if value.is_infinite() {
            LossKind::Infinity
        } else {
            LossKind::MissingCode
        }
    }
}

/// Whether a map gives a value its code, in any cast of a chain.
pub(super) fn is_mapped(chain: &BoundChain, value: Scalar) -> bool {
    let mut current = value;
    for codec in chain.codecs() {
        if let BoundCodec::CastValue(cast) = codec
            && cast.encode_map.get(current).is_some()
        {
            return true;
        }
        match codec.encode(current) {
            Ok(next) => current = next,
            Err(_) => return false,
        }
    }
    false
}

/// What a value is when it enters a cast.
fn entering_value(chain: &BoundChain, cast: usize, value: Scalar) -> Option<Scalar> {
    let mut before = chain.codecs()[..cast].iter();
    before
        .try_fold(value, |value, codec| codec.encode(value))
        .ok()
}
