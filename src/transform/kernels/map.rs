//! One direction of a `cast_value`, and its map in a form that vectorises.

use super::element::{Element, Float};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

/// One direction of a `cast_value`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) from: DataType,
    pub(super) to: DataType,
    pub(super) rounding: Rounding,
    pub(super) out_of_range: Option<OutOfRange>,
    pub(super) map: &'a [(Scalar, Scalar)],
}

impl<'a> Side<'a> {
    pub(super) fn of(codec: &'a CastValue, direction: Direction) -> Self {
        let (from, to, map) = match direction {
            Direction::Encode => (codec.incoming, codec.outgoing, &codec.encode_map),
            Direction::Decode => (codec.outgoing, codec.incoming, &codec.decode_map),
        };
        Self {
            from,
            to,
            rounding: codec.rounding,
            out_of_range: codec.out_of_range,
            map,
        }
    }
}

/// The entries that a kernel tests per element.
pub(super) const WIDTH: usize = 4;

/// A map of at most [`WIDTH`] keys and a NaN key, padded so that every element takes the same steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<K, V> {
    /// Later keys first, so that the first of equal keys has the last word. Padding repeats the last one.
    keys: [K; WIDTH],
    values: [V; WIDTH],
    /// How many of `keys` are real: the padding of an empty map must not match.
    used: usize,
    nan: Option<V>,
}

/// How much of a map a kernel has to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Nothing,
    NanOnly,
    Keys,
}

impl<K: Element, V: Element> Map<K, V> {
    /// A map of native elements; `None` where there are too many entries.
    pub(super) fn new(entries: &[(Scalar, Scalar)]) -> Option<Self> {
        let nan = entries.iter().find(|(key, _)| key.is_nan());
        let nan = nan.map(|(_, value)| V::of(*value));
        let keys = entries.iter().filter(|(key, _)| !key.is_nan());
        let mut pairs: Vec<(K, V)> = keys
            .map(|(key, value)| (K::of(*key), V::of(*value)))
            .collect();
        pairs.reverse();
        if pairs.len() > WIDTH {
            return None;
        }
        let used = pairs.len();
        let last = pairs.last().copied().unwrap_or_default();
        pairs.resize(WIDTH, last);
        let mut map = Self {
            keys: [last.0; WIDTH],
            values: [last.1; WIDTH],
            used,
            nan,
        };
        for (n, (key, value)) in pairs.into_iter().enumerate() {
            map.keys[n] = key;
            map.values[n] = value;
        }
        Some(map)
    }

    pub(super) fn extent(&self) -> Extent {
        match (self.used, self.nan) {
            (0, None) => Extent::Nothing,
            (0, Some(_)) => Extent::NanOnly,
            _ => Extent::Keys,
        }
    }

    /// What the map makes of `key`, and whether it has it; `otherwise` if not. NaN keys are not looked at.
    #[inline(always)]
    pub(super) fn look_up_number(&self, key: K, otherwise: V) -> (V, bool) {
        let some = self.used > 0;
        let (mut value, mut hit) = (otherwise, false);
        for n in 0..WIDTH {
            let equal = (key == self.keys[n]) & some;
            value = if equal { self.values[n] } else { value };
            hit |= equal;
        }
        (value, hit)
    }
}

impl<K: Float, V: Element> Map<K, V> {
    /// What the map makes of NaN, if `key` is one.
    #[inline(always)]
    pub(super) fn look_up_nan(&self, key: K, otherwise: V) -> (V, bool) {
        let hit = key.is_nan() & self.nan.is_some();
        let value = self.nan.unwrap_or(otherwise);
        (if hit { value } else { otherwise }, hit)
    }
}
