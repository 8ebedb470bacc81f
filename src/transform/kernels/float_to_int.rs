//! float32 and float64 to integers of 8 to 64 bits, with `scale_offset` before it or without.

use std::fmt::Debug;

use super::element::{Element, Float, Raised, transform};
use super::map::{Extent, MANY, Map, NAN, NOTHING, ONE, Side};
use super::{Kernel, for_integer};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;
use crate::transform::scale_offset::ScaleOffset;

/// A kernel that encodes `scale_offset` and `cast_value`.
pub(super) fn encode(scale: Option<&ScaleOffset>, codec: &CastValue) -> Option<Box<dyn Kernel>> {
    let side = Side::of(codec, Direction::Encode);
    // An infinity may come from a finite value, which is an error whatever the map says of infinities.
    if scale.is_some() && side.map.iter().any(|(key, _)| key.is_infinite()) {
        return None;
    }
    select(scale, &side)
}

/// A kernel for one direction of `cast_value` alone.
pub(super) fn cast(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    select(None, side)
}

fn select(scale: Option<&ScaleOffset>, side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    if side.out_of_range == Some(OutOfRange::Wrap) && side.from.is_integer() {
        return None;
    }
    match side.from {
        DataType::Float32 => for_integer!(side.to, build::<f32, @>(scale, side)).flatten(),
        DataType::Float64 => for_integer!(side.to, build::<f64, @>(scale, side)).flatten(),
        _ => None,
    }
}

/// Rounding a float to a whole number and narrowing it to an integer type.
pub(super) trait Narrow<I>: Float {
    /// The type that rounding happens in: wide enough for the range of `I` and one more bit.
    type Work: Whole;

    /// The ends of the range of `I`, as whole numbers of the working type.
    const RANGE: (Self::Work, Self::Work);

    fn widen(self) -> Self::Work;

    /// Narrows a whole number inside [`Narrow::RANGE`]. Outside it any integer may come out.
    fn narrow(whole: Self::Work) -> I;

    /// Rounds to nearest even and narrows, and says whether the rounded number is inside [`Narrow::RANGE`].
    #[inline(always)]
    fn narrow_nearest(value: Self::Work) -> (I, bool) {
        let (low, high) = Self::RANGE;
        let whole = value.round::<NEAREST_EVEN>();
        (Self::narrow(whole), (whole >= low) & (whole <= high))
    }
}

/// Rounding to whole numbers.
pub(super) trait Whole: Copy + Default + PartialOrd + Debug + Send + Sync + 'static {
    fn of_f64(value: f64) -> Self;

    fn round<const MODE: u8>(self) -> Self;

    fn clamp(self, range: (Self, Self)) -> Self;
}

const NEAREST_EVEN: u8 = 0;
const TOWARDS_ZERO: u8 = 1;
const TOWARDS_POSITIVE: u8 = 2;
const TOWARDS_NEGATIVE: u8 = 3;
const NEAREST_AWAY: u8 = 4;

macro_rules! whole {
    ($($native:ident $magic:literal)*) => {$(
        impl Whole for $native {
            #[allow(clippy::cast_possible_truncation, reason = "exact for the codes that are converted")]
            fn of_f64(value: f64) -> Self {
                value as $native
            }

            /// By adding and subtracting 1.5 * 2^p, p being the mantissa bits, the hardware rounds to a whole number,
            /// ties to even. Right below 2^(p - 1) in magnitude; a number beyond stays beyond, or is whole already.
            #[inline(always)]
            fn round<const MODE: u8>(self) -> Self {
                let nearest = (self + $magic) - $magic;
                let (up, down) = (nearest + 1.0, nearest - 1.0);
                match MODE {
                    TOWARDS_ZERO => {
                        let over = (nearest > self) & (self > 0.0);
                        let under = (nearest < self) & (self < 0.0);
                        if over { down } else if under { up } else { nearest }
                    }
                    TOWARDS_POSITIVE => if nearest < self { up } else { nearest },
                    TOWARDS_NEGATIVE => if nearest > self { down } else { nearest },
                    NEAREST_AWAY => {
                        // The difference is exact: both are multiples of the unit of `self`, and at most 0.5 apart.
                        let rest = self - nearest;
                        let over = (rest == 0.5) & (self > 0.0);
                        let under = (rest == -0.5) & (self < 0.0);
                        if over { up } else if under { down } else { nearest }
                    }
                    _ => nearest,
                }
            }

            #[inline(always)]
            fn clamp(self, (low, high): (Self, Self)) -> Self {
                let raised = if self < low { low } else { self };
                if raised > high { high } else { raised }
            }
        }
    )*};
}
whole!(f32 12_582_912.0 f64 6_755_399_441_055_744.0);

/// The integer is in the low bits of the sum with the magic number.
macro_rules! narrow_by_magic {
    ($float:ident $work:ident $magic:literal: $($int:ident)*) => {$(
        impl Narrow<$int> for $float {
            type Work = $work;

            const RANGE: ($work, $work) = ($int::MIN as $work, $int::MAX as $work);

            #[inline(always)]
            fn widen(self) -> $work {
                self.into()
            }

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                reason = "the integer is in the low bits; which lints apply depends on the types"
            )]
            fn narrow(whole: $work) -> $int {
                (whole + $magic).to_bits() as $int
            }

            /// The low end is even and the high end odd, so that of the ties next to them the low one is inside.
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_possible_wrap,
                reason = "the integer is in the low bits; which lints apply depends on the types"
            )]
            #[expect(clippy::manual_range_contains, reason = "`&` has no branch")]
            fn narrow_nearest(value: $work) -> ($int, bool) {
                const LOW: $work = $int::MIN as $work - 0.5;
                const HIGH: $work = $int::MAX as $work + 0.5;
                let code = (value + $magic).to_bits() as $int;
                (code, (value >= LOW) & (value < HIGH))
            }
        }
    )*};
}
narrow_by_magic!(f32 f32 12_582_912.0: i8 u8 i16 u16);
narrow_by_magic!(f32 f64 6_755_399_441_055_744.0: i32 u32);
narrow_by_magic!(f64 f64 6_755_399_441_055_744.0: i8 u8 i16 u16 i32 u32);

/// A double that is rounded by the standard library, for the integers that a magic number does not reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct Wide(f64);

impl Whole for Wide {
    fn of_f64(value: f64) -> Self {
        Self(value)
    }

    #[inline(always)]
    fn round<const MODE: u8>(self) -> Self {
        Self(match MODE {
            TOWARDS_ZERO => self.0.trunc(),
            TOWARDS_POSITIVE => self.0.ceil(),
            TOWARDS_NEGATIVE => self.0.floor(),
            NEAREST_AWAY => self.0.round(),
            _ => self.0.round_ties_even(),
        })
    }

    /// Nothing to do: narrowing saturates.
    #[inline(always)]
    fn clamp(self, _: (Self, Self)) -> Self {
        self
    }
}

macro_rules! narrow_wide {
    ($($float:ident $int:ident $high:literal;)*) => {$(
        impl Narrow<$int> for $float {
            type Work = Wide;

            // The largest double below the end of the range, which no double is.
            #[expect(clippy::cast_precision_loss, reason = "the low end is a power of two or 0")]
            const RANGE: (Wide, Wide) = (Wide($int::MIN as f64), Wide($high));

            #[inline(always)]
            fn widen(self) -> Wide {
                Wide(self.into())
            }

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturating is what is wanted; which lints apply depends on the types"
            )]
            fn narrow(whole: Wide) -> $int {
                whole.0 as $int
            }
        }
    )*};
}
narrow_wide! {
    f32 i64 9_223_372_036_854_774_784.0;
    f64 i64 9_223_372_036_854_774_784.0;
    f32 u64 18_446_744_073_709_549_568.0;
    f64 u64 18_446_744_073_709_549_568.0;
}

type Block<F, W> = fn(&Parameters<F, W>, &[u8], &mut [u8]) -> bool;

#[derive(Debug)]
struct Parameters<F, W> {
    offset: F,
    scale: F,
    /// From scaled values to codes as whole numbers: replaced before it is rounded, a value comes out as its code.
    map: Map<F, W>,
}

#[derive(Debug)]
struct FloatToInt<F, W> {
    parameters: Parameters<F, W>,
    target_size: usize,
    block: Block<F, W>,
}

impl<F: Float, W: Whole> Kernel for FloatToInt<F, W> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        (self.block)(&self.parameters, source, target)
    }

    fn target_size(&self) -> usize {
        self.target_size
    }
}

fn build<F: Narrow<I>, I: Element>(
    scale: Option<&ScaleOffset>,
    side: &Side<'_>,
) -> Option<Box<dyn Kernel>> {
    // The definitions know codes that no double holds.
    let exact = |code: &Scalar| code.integer().is_some_and(|code| code.abs() <= 1 << 53);
    if !side.map.iter().all(|(_, code)| exact(code)) {
        return None;
    }
    let map = Map::with(side.map, F::of, |code| F::Work::of_f64(code.to_f64()))?;
    let clamp = side.out_of_range == Some(OutOfRange::Clamp);
    // Wrapping blocks are as good as plain ones until a value is out of range, which the definitions then wrap.
    let block: Block<F, F::Work> = match (side.rounding, clamp, map.extent()) {
        (Rounding::NearestEven, false, Extent::Nothing) => {
            run::<F, I, NEAREST_EVEN, false, NOTHING>
        }
        (Rounding::NearestEven, false, Extent::Nan) => run::<F, I, NEAREST_EVEN, false, NAN>,
        (Rounding::NearestEven, false, Extent::One) => run::<F, I, NEAREST_EVEN, false, ONE>,
        (Rounding::NearestEven, false, Extent::Many) => run::<F, I, NEAREST_EVEN, false, MANY>,
        (Rounding::NearestEven, true, Extent::Nothing) => run::<F, I, NEAREST_EVEN, true, NOTHING>,
        (Rounding::NearestEven, true, Extent::Nan) => run::<F, I, NEAREST_EVEN, true, NAN>,
        (Rounding::NearestEven, true, _) => run::<F, I, NEAREST_EVEN, true, MANY>,
        (Rounding::TowardsZero, false, _) => run::<F, I, TOWARDS_ZERO, false, MANY>,
        (Rounding::TowardsZero, true, _) => run::<F, I, TOWARDS_ZERO, true, MANY>,
        (Rounding::TowardsPositive, false, _) => run::<F, I, TOWARDS_POSITIVE, false, MANY>,
        (Rounding::TowardsPositive, true, _) => run::<F, I, TOWARDS_POSITIVE, true, MANY>,
        (Rounding::TowardsNegative, false, _) => run::<F, I, TOWARDS_NEGATIVE, false, MANY>,
        (Rounding::TowardsNegative, true, _) => run::<F, I, TOWARDS_NEGATIVE, true, MANY>,
        (Rounding::NearestAway, false, _) => run::<F, I, NEAREST_AWAY, false, MANY>,
        (Rounding::NearestAway, true, _) => run::<F, I, NEAREST_AWAY, true, MANY>,
    };
    Some(Box::new(FloatToInt {
        parameters: Parameters {
            offset: scale.and_then(|s| s.offset).map_or(F::ZERO, F::of),
            scale: scale.and_then(|s| s.scale).map_or(F::ONE, F::of),
            map,
        },
        target_size: I::SIZE,
        block,
    }))
}

fn run<F: Narrow<I>, I: Element, const MODE: u8, const CLAMP: bool, const MAP: u8>(
    parameters: &Parameters<F, F::Work>,
    source: &[u8],
    target: &mut [u8],
) -> bool {
    let Parameters { offset, scale, map } = *parameters;
    let mut raised = Raised::<F>::none();
    transform(source, target, |x: F| {
        let scaled = (x - offset) * scale;
        let (value, mapped) = map.float::<MAP>(scaled, scaled.widen());
        let (code, fits) = if CLAMP {
            let whole = value.round::<MODE>();
            (
                F::narrow(whole.clamp(F::RANGE)),
                mapped | scaled.is_finite(),
            )
        } else if MODE == NEAREST_EVEN {
            F::narrow_nearest(value)
        } else {
            let (low, high) = F::RANGE;
            let whole = value.round::<MODE>();
            (F::narrow(whole), (whole >= low) & (whole <= high))
        };
        raised.raise_if(!fits);
        code
    });
    !raised.any()
}
