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
            map: map.entries(),
        }
    }
}

/// The most keys, besides NaN, that a kernel tests per element.
pub(super) const WIDTH: usize = 4;

/// A map of at most [`WIDTH`] keys and a NaN key, padded so that every element takes the same steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<K, V> {
    /// Later keys first, so that the first of equal keys has the last word. Padding repeats the last one.
    keys: [K; WIDTH],
    values: [V; WIDTH],
    /// Whether `keys` holds any key at all: the padding of an empty map must not match.
    any: bool,
    /// Whether NaN is a key, and what it becomes.
    nan: bool,
    nan_value: V,
    extent: Extent,
}

/// How much of a map a kernel has to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Nothing,
    /// NaN alone.
    Nan,
    /// One key that is a number.
    One,
    /// Anything.
    Many,
}

pub(super) const NOTHING: u8 = Extent::Nothing as u8;
pub(super) const NAN: u8 = Extent::Nan as u8;
pub(super) const ONE: u8 = Extent::One as u8;
pub(super) const MANY: u8 = Extent::Many as u8;

impl<K: Element, V: Element> Map<K, V> {
    /// A map of native elements; `None` where there are too many entries.
    pub(super) fn new(entries: &[(Scalar, Scalar)]) -> Option<Self> {
        Self::with(entries, K::of, V::of)
    }
}

impl<K: Copy + Default + PartialEq, V: Copy + Default> Map<K, V> {
    /// A map whose keys and values are made from the scalars; `None` where there are too many entries.
    pub(super) fn with(
        entries: &[(Scalar, Scalar)],
        key_of: impl Fn(Scalar) -> K,
        value_of: impl Fn(Scalar) -> V,
    ) -> Option<Self> {
        let nan = entries.iter().find(|(key, _)| key.is_nan());
        let keys = entries.iter().filter(|(key, _)| !key.is_nan()).rev();
        let mut pairs: Vec<(K, V)> = keys
            .map(|(key, value)| (key_of(*key), value_of(*value)))
            .collect();
        if pairs.len() > WIDTH {
            return None;
        }
        let extent = match (pairs.len(), nan) {
            (0, None) => Extent::Nothing,
            (0, Some(_)) => Extent::Nan,
            (1, None) => Extent::One,
            _ => Extent::Many,
        };
        let any = !pairs.is_empty();
        pairs.resize(WIDTH, pairs.last().copied().unwrap_or_default());
        let (mut keys, mut values) = ([K::default(); WIDTH], [V::default(); WIDTH]);
        for (n, (key, value)) in pairs.into_iter().enumerate() {
            (keys[n], values[n]) = (key, value);
        }
        Some(Self {
            keys,
            values,
            any,
            nan: nan.is_some(),
            nan_value: nan.map_or(V::default(), |(_, value)| value_of(*value)),
            extent,
        })
    }

    pub(super) const fn extent(&self) -> Extent {
        self.extent
    }

    /// What the map makes of `key`, and whether it has it; `otherwise` if not. NaN keys are not looked at.
    ///
    /// `EXTENT` is at least that of the map.
    #[inline(always)]
    pub(super) fn number<const EXTENT: u8>(&self, key: K, otherwise: V) -> (V, bool) {
        match EXTENT {
            ONE => {
                let hit = key == self.keys[0];
                (if hit { self.values[0] } else { otherwise }, hit)
            }
            MANY => {
                let (mut value, mut hit) = (otherwise, false);
                for n in 0..WIDTH {
                    let equal = (key == self.keys[n]) & self.any;
                    value = if equal { self.values[n] } else { value };
                    hit |= equal;
                }
                (value, hit)
            }
            _ => (otherwise, false),
        }
    }
}

impl<K: Float, V: Copy + Default> Map<K, V> {
    /// What the map makes of `key`, NaN or not, and whether it has it; `otherwise` if not.
    ///
    /// `EXTENT` is at least that of the map.
    #[inline(always)]
    pub(super) fn float<const EXTENT: u8>(&self, key: K, otherwise: V) -> (V, bool) {
        let (value, number) = self.number::<EXTENT>(key, otherwise);
        let nan = match EXTENT {
            NAN => key.is_nan(),
            MANY => key.is_nan() & self.nan,
            _ => false,
        };
        (if nan { self.nan_value } else { value }, number | nan)
    }
}
