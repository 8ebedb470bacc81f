//! Integers of 8 to 64 bits to float32 and float64, with `scale_offset` after it or without.

use super::element::{Element, Float, Raised, transform};
use super::map::{Extent, MANY, Map, NOTHING, ONE, Side};
use super::{Kernel, for_integer};
use crate::transform::cast_value::CastValue;
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::Rounding;
use crate::transform::scalar::Scalar;
use crate::transform::scale_offset::ScaleOffset;

/// A kernel that decodes `scale_offset` and `cast_value`.
pub(super) fn decode(scale: Option<&ScaleOffset>, codec: &CastValue) -> Option<Box<dyn Kernel>> {
    select(scale, &Side::of(codec, Direction::Decode))
}

/// A kernel for one direction of `cast_value` alone.
pub(super) fn cast(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    select(None, side)
}

fn select(scale: Option<&ScaleOffset>, side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    let precision = match side.to {
        DataType::Float32 => 24,
        DataType::Float64 => 53,
        _ => return None,
    };
    // The hardware rounds to nearest even; the other modes are for the definitions, where there is anything to round.
    if side.from.bits() > precision && side.rounding != Rounding::NearestEven {
        return None;
    }
    match side.to {
        DataType::Float32 => for_integer!(side.from, build::<@, f32>(scale, side)).flatten(),
        _ => for_integer!(side.from, build::<@, f64>(scale, side)).flatten(),
    }
}

/// The conversion of the hardware, to nearest even.
pub(super) trait Widen<F>: Element {
    /// Whether the float holds every value of the integer type.
    const EXACT: bool;

    fn widen(self) -> F;
}

macro_rules! widen {
    ($float:ident: $($int:ident)*) => {$(
        impl Widen<$float> for $int {
            const EXACT: bool = size_of::<$int>() < size_of::<$float>();

            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "which of the lints apply depends on the pair")]
            #[allow(clippy::cast_precision_loss, clippy::cast_lossless)]
            fn widen(self) -> $float {
                self as $float
            }
        }
    )*};
}
widen!(f32: i8 i16 i32 i64 u8 u16 u32 u64);
widen!(f64: i8 i16 i32 i64 u8 u16 u32 u64);

type Block<I, F> = fn(&Parameters<I, F>, &[u8], &mut [u8]) -> bool;

#[derive(Debug)]
struct Parameters<I, F> {
    scale: F,
    offset: F,
    /// From codes to logical values, so behind `scale_offset`.
    map: Map<I, F>,
    /// The same with the codes as floats, which a vector of floats compares in its own lanes.
    float_map: Map<F, F>,
}

#[derive(Debug)]
struct IntToFloat<I, F> {
    parameters: Parameters<I, F>,
    block: Block<I, F>,
}

impl<I: Element, F: Float> Kernel for IntToFloat<I, F> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        (self.block)(&self.parameters, source, target)
    }

    fn target_size(&self) -> usize {
        F::SIZE
    }
}

fn build<I: Widen<F>, F: Float>(
    scale: Option<&ScaleOffset>,
    side: &Side<'_>,
) -> Option<Box<dyn Kernel>> {
    let finish = |(key, value): &(Scalar, Scalar)| match scale {
        Some(scale) => scale.decode(*value).ok().map(|value| (*key, value)),
        None => Some((*key, *value)),
    };
    let entries: Option<Vec<_>> = side.map.iter().map(finish).collect();
    let entries = entries?;
    let map: Map<I, F> = Map::new(&entries)?;
    let float_map = Map::with(&entries, |code| I::of(code).widen(), F::of)?;
    let block: Block<I, F> = match map.extent() {
        Extent::Nothing => run::<I, F, NOTHING>,
        Extent::One => run::<I, F, ONE>,
        Extent::Nan | Extent::Many => run::<I, F, MANY>,
    };
    Some(Box::new(IntToFloat {
        parameters: Parameters {
            scale: scale.and_then(|s| s.scale).map_or(F::ONE, F::of),
            offset: scale.and_then(|s| s.offset).map_or(F::ZERO, F::of),
            map,
            float_map,
        },
        block,
    }))
}

fn run<I: Widen<F>, F: Float, const MAP: u8>(
    parameters: &Parameters<I, F>,
    source: &[u8],
    target: &mut [u8],
) -> bool {
    let Parameters {
        scale,
        offset,
        map,
        float_map,
    } = *parameters;
    let mut raised = Raised::<F>::none();
    transform(source, target, |code: I| {
        let wide = code.widen();
        let value = wide / scale + offset;
        let fits = value.is_finite();
        let (value, mapped) = if I::EXACT {
            float_map.number::<MAP>(wide, value)
        } else {
            map.number::<MAP>(code, value)
        };
        raised.raise_if(!(fits | mapped));
        value
    });
    !raised.any()
}
