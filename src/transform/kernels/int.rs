//! Integers of 8 to 64 bits among themselves: `scale_offset`, `cast_value`, and the two together.
//!
//! Every step of integer arithmetic is monotonic, so the elements for which no step leaves its range are an interval.
//! It is worked out once in 128 bits; a block then tests its elements against the interval, and computes modulo 2^N.

use super::element::{Element, transform};
use super::map::{Extent, MANY, Map, NOTHING, ONE, Side};
use super::{Kernel, for_integer};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::OutOfRange;
use crate::transform::scalar::Scalar;
use crate::transform::scale_offset::ScaleOffset;

/// A kernel for one direction of `scale_offset` on an integer type.
pub(super) fn scale_offset(codec: &ScaleOffset, direction: Direction) -> Option<Box<dyn Kernel>> {
    let scale = Parameters::of(codec)?.scale;
    match direction {
        Direction::Encode => for_integer!(codec.data_type, multiply_alone::<@>(codec)).flatten(),
        Direction::Decode if scale == 1 => {
            for_integer!(codec.data_type, add_alone::<@>(codec)).flatten()
        }
        Direction::Decode => for_integer!(codec.data_type, divide::<@>(codec)).flatten(),
    }
}

/// A kernel that encodes the two codecs.
pub(super) fn encode_pair(scale: &ScaleOffset, codec: &CastValue) -> Option<Box<dyn Kernel>> {
    let side = Side::of(codec, Direction::Encode);
    if !side.map.is_empty() || side.out_of_range == Some(OutOfRange::Clamp) {
        return None;
    }
    for_integer!(scale.data_type, multiply_from::<@>(scale, side.to)).flatten()
}

/// A kernel that decodes the two codecs, for a scale of 1.
pub(super) fn decode_pair(scale: &ScaleOffset, codec: &CastValue) -> Option<Box<dyn Kernel>> {
    let side = Side::of(codec, Direction::Decode);
    let unscaled = Parameters::of(scale)?.scale == 1;
    if !unscaled || !side.map.is_empty() || side.out_of_range == Some(OutOfRange::Clamp) {
        return None;
    }
    for_integer!(scale.data_type, add_to::<@>(scale, side.from)).flatten()
}

/// A kernel for one direction of `cast_value`.
pub(super) fn cast(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    for_integer!(side.from, cast_from::<@>(side)).flatten()
}

fn multiply_alone<T: Int>(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
    Multiply::<T, T>::boxed(codec)
}

fn multiply_from<T: Int>(codec: &ScaleOffset, to: DataType) -> Option<Box<dyn Kernel>> {
    for_integer!(to, multiply::<T, @>(codec)).flatten()
}

fn multiply<T: Int, D: Int>(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
    Multiply::<T, D>::boxed(codec)
}

fn add_alone<T: Int>(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
    Add::<T, T>::boxed(codec)
}

fn add_to<T: Int>(codec: &ScaleOffset, from: DataType) -> Option<Box<dyn Kernel>> {
    for_integer!(from, add::<@, T>(codec)).flatten()
}

fn add<S: Int, T: Int>(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
    Add::<S, T>::boxed(codec)
}

fn divide<T: Int>(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
    Divide::<T>::boxed(codec)
}

fn cast_from<S: Int>(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    for_integer!(side.to, cast_pair::<S, @>(side)).flatten()
}

fn cast_pair<S: Int, T: Int>(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    Cast::<S, T>::boxed(side)
}

/// The parameters of a codec on an integer type.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    offset: i128,
    scale: i128,
}

impl Parameters {
    /// `None` for a codec on a float type.
    fn of(codec: &ScaleOffset) -> Option<Self> {
        codec.data_type.integer_range()?;
        Some(Self {
            offset: codec.offset.and_then(Scalar::integer).unwrap_or(0),
            scale: codec.scale.and_then(Scalar::integer).unwrap_or(1),
        })
    }
}

/// A native integer type, with the arithmetic modulo 2^N that kernels need.
pub(super) trait Int: Element + Ord {
    const MIN: i128;
    const MAX: i128;

    /// The number modulo 2^N.
    fn low(value: i128) -> Self;

    /// The value modulo 2^64: a conversion by way of it to another type is one truncation or extension to a compiler.
    fn to_low64(self) -> u64;
    fn from_low64(bits: u64) -> Self;

    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;

    /// Division by a power of two, rounded down.
    fn shifted_right(self, bits: u32) -> Self;

    /// The value modulo 2^N of another integer type.
    #[inline(always)]
    fn convert<T: Int>(self) -> T {
        T::from_low64(self.to_low64())
    }
}

macro_rules! int {
    ($($native:ident)*) => {$(
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            clippy::cast_sign_loss,
            clippy::cast_lossless,
            reason = "arithmetic modulo 2^N is what is asked for; which lints apply depends on the type"
        )]
        impl Int for $native {
            const MIN: i128 = $native::MIN as i128;
            const MAX: i128 = $native::MAX as i128;

            fn low(value: i128) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_low64(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn from_low64(bits: u64) -> Self {
                bits as Self
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn shifted_right(self, bits: u32) -> Self {
                self >> bits
            }
        }
    )*};
}
int!(i8 i16 i32 i64 u8 u16 u32 u64);

/// An interval of numbers, possibly empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    low: i128,
    high: i128,
}

impl Interval {
    const fn of<T: Int>() -> Self {
        Self {
            low: T::MIN,
            high: T::MAX,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
        }
    }

    const fn shifted(self, by: i128) -> Self {
        Self {
            low: self.low + by,
            high: self.high + by,
        }
    }

    /// The numbers whose product with a nonzero `factor` is in this interval.
    fn divided(self, factor: i128) -> Self {
        let Self { low, high } = self;
        let (low, high, factor) = if factor > 0 {
            (low, high, factor)
        } else {
            (-high, -low, -factor)
        };
        Self {
            low: -(-low).div_euclid(factor),
            high: high.div_euclid(factor),
        }
    }

    /// The interval as a test on a native type that holds its ends.
    fn bounds<T: Int>(self) -> Bounds<T> {
        let inside = self.and(Self::of::<T>());
        if inside.low > inside.high {
            // Nothing is at least the largest and at most the smallest.
            return Bounds {
                low: T::low(T::MAX),
                high: T::low(T::MIN),
            };
        }
        Bounds {
            low: T::low(inside.low),
            high: T::low(inside.high),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Bounds<T> {
    low: T,
    high: T,
}

impl<T: Int> Bounds<T> {
    #[inline(always)]
    fn excludes(self, value: T) -> bool {
        (value < self.low) | (value > self.high)
    }
}

/// `(x - offset) * scale`, narrowed to `D`.
#[derive(Debug)]
struct Multiply<T, D> {
    offset: T,
    scale: T,
    bounds: Bounds<T>,
    target: std::marker::PhantomData<D>,
}

impl<T: Int, D: Int> Multiply<T, D> {
    fn boxed(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
        let Parameters { offset, scale } = Parameters::of(codec)?;
        let result = Interval::of::<T>().and(Interval::of::<D>());
        let shifted = result.divided(scale).and(Interval::of::<T>());
        Some(Box::new(Self {
            offset: T::low(offset),
            scale: T::low(scale),
            bounds: shifted.shifted(offset).bounds(),
            target: std::marker::PhantomData,
        }))
    }
}

impl<T: Int, D: Int> Kernel for Multiply<T, D> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        let Self {
            offset,
            scale,
            bounds,
            ..
        } = *self;
        let mut bad = false;
        // Without a product the loop vectorises for every width at the baseline.
        if scale == T::low(1) {
            transform(source, target, |x: T| {
                bad |= bounds.excludes(x);
                x.minus(offset).convert::<D>()
            });
        } else {
            transform(source, target, |x: T| {
                bad |= bounds.excludes(x);
                x.minus(offset).times(scale).convert::<D>()
            });
        }
        !bad
    }

    fn target_size(&self) -> usize {
        D::SIZE
    }
}

/// A cast from `S`, then `+ offset`.
#[derive(Debug)]
struct Add<S, T> {
    offset: T,
    bounds: Bounds<S>,
}

impl<S: Int, T: Int> Add<S, T> {
    fn boxed(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
        let Parameters { offset, .. } = Parameters::of(codec)?;
        let code = Interval::of::<T>()
            .shifted(-offset)
            .and(Interval::of::<T>());
        Some(Box::new(Self {
            offset: T::low(offset),
            bounds: code.bounds::<S>(),
        }))
    }
}

impl<S: Int, T: Int> Kernel for Add<S, T> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        let Self { offset, bounds } = *self;
        let mut bad = false;
        transform(source, target, |code: S| {
            bad |= bounds.excludes(code);
            code.convert::<T>().plus(offset)
        });
        !bad
    }

    fn target_size(&self) -> usize {
        T::SIZE
    }
}

/// `x / scale + offset`, where the division must be exact.
///
/// Exact division by an odd number is a product with its inverse modulo 2^N (Warren, "Hacker's Delight", 10-16); powers
/// of two go by a shift before it. A quotient that is in the range of exact ones and gives `x` back is right.
#[derive(Debug)]
struct Divide<T> {
    scale: T,
    inverse: T,
    shift: u32,
    offset: T,
    bounds: Bounds<T>,
}

impl<T: Int> Divide<T> {
    fn boxed(codec: &ScaleOffset) -> Option<Box<dyn Kernel>> {
        let Parameters { offset, scale } = Parameters::of(codec)?;
        let shift = scale.trailing_zeros();
        let odd = T::low(scale >> shift);
        // Newton's iteration doubles the right bits: 3 to begin with, 96 in the end.
        let mut inverse = odd;
        for _ in 0..5 {
            inverse = inverse.times(T::low(2).minus(odd.times(inverse)));
        }
        let own = Interval::of::<T>();
        let quotients = own.divided(scale).and(own);
        let sums = own.shifted(-offset);
        Some(Box::new(Self {
            scale: T::low(scale),
            inverse,
            shift,
            offset: T::low(offset),
            bounds: quotients.and(sums).bounds(),
        }))
    }
}

impl<T: Int> Kernel for Divide<T> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        let Self {
            scale,
            inverse,
            shift,
            offset,
            bounds,
        } = *self;
        let mut bad = false;
        transform(source, target, |x: T| {
            let quotient = x.shifted_right(shift).times(inverse);
            bad |= bounds.excludes(quotient) | (quotient.times(scale) != x);
            quotient.plus(offset)
        });
        !bad
    }

    fn target_size(&self) -> usize {
        T::SIZE
    }
}

/// A cast with its map; no rounding happens among integers.
#[derive(Debug)]
struct Cast<S, T> {
    bounds: Bounds<S>,
    out_of_range: Option<OutOfRange>,
    map: Map<S, T>,
}

impl<S: Int, T: Int> Cast<S, T> {
    fn boxed(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
        let bounds = Interval::of::<T>().bounds();
        Some(Box::new(Self {
            bounds,
            out_of_range: side.out_of_range,
            map: Map::new(side.map)?,
        }))
    }

    #[inline(always)]
    fn block<const MAP: u8>(
        &self,
        source: &[u8],
        target: &mut [u8],
        convert: impl Fn(S) -> (T, bool),
    ) -> bool {
        let map = self.map;
        let mut bad = false;
        transform(source, target, |x: S| {
            let (y, excluded) = convert(x);
            let (y, mapped) = map.number::<MAP>(x, y);
            bad |= excluded & !mapped;
            y
        });
        !bad
    }

    fn run<const MAP: u8>(&self, source: &[u8], target: &mut [u8]) -> bool {
        let bounds = self.bounds;
        match self.out_of_range {
            None => {
                let convert = |x: S| (x.convert(), bounds.excludes(x));
                self.block::<MAP>(source, target, convert)
            }
            Some(OutOfRange::Wrap) => {
                self.block::<MAP>(source, target, |x: S| (x.convert(), false))
            }
            Some(OutOfRange::Clamp) => {
                let clamp = |x: S| (x.clamp(bounds.low, bounds.high).convert(), false);
                self.block::<MAP>(source, target, clamp)
            }
        }
    }
}

impl<S: Int, T: Int> Kernel for Cast<S, T> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        match self.map.extent() {
            Extent::Nothing => self.run::<NOTHING>(source, target),
            Extent::One => self.run::<ONE>(source, target),
            Extent::Nan | Extent::Many => self.run::<MANY>(source, target),
        }
    }

    fn target_size(&self) -> usize {
        T::SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_divide() {
        let interval = |low, high| Interval { low, high };
        assert_eq!(interval(-10, 10).divided(3), interval(-3, 3));
        assert_eq!(interval(-10, 11).divided(-3), interval(-3, 3));
        assert_eq!(interval(1, 2).divided(5), interval(1, 0));
        assert_eq!(interval(-128, 127).divided(-1), interval(-127, 128));
    }

    #[test]
    fn an_empty_interval_excludes_everything() {
        let bounds = Interval {
            low: 300,
            high: 400,
        }
        .bounds::<u8>();
        assert!((0..=255).all(|x| bounds.excludes(x)));
    }
}
