//! float32 and float64 among themselves: `scale_offset`, and casts between the two.

use super::Kernel;
use super::element::{Float, Raised, transform};
use super::map::{Extent, MANY, Map, NOTHING, Side};
use crate::transform::chain::Direction;
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scale_offset::ScaleOffset;

/// A kernel for one direction of `scale_offset` on a float type.
pub(super) fn scale_offset(codec: &ScaleOffset, direction: Direction) -> Option<Box<dyn Kernel>> {
    match codec.data_type {
        DataType::Float32 => Some(Scale::<f32>::boxed(codec, direction)),
        DataType::Float64 => Some(Scale::<f64>::boxed(codec, direction)),
        _ => None,
    }
}

/// A kernel for one direction of a `cast_value` between float32 and float64.
pub(super) fn cast(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    let hardware = side.rounding == Rounding::NearestEven;
    match (side.from, side.to) {
        (DataType::Float32, DataType::Float64) => Cast::<f32, f64>::boxed(side),
        (DataType::Float64, DataType::Float32) if hardware => Cast::<f64, f32>::boxed(side),
        (DataType::Float32, DataType::Float32) => Cast::<f32, f32>::boxed(side),
        (DataType::Float64, DataType::Float64) => Cast::<f64, f64>::boxed(side),
        _ => None,
    }
}

#[derive(Debug)]
struct Scale<F> {
    scale: F,
    offset: F,
    direction: Direction,
}

impl<F: Float> Scale<F> {
    fn boxed(codec: &ScaleOffset, direction: Direction) -> Box<dyn Kernel> {
        Box::new(Self {
            scale: codec.scale.map_or(F::ONE, F::of),
            offset: codec.offset.map_or(F::ZERO, F::of),
            direction,
        })
    }
}

impl<F: Float> Kernel for Scale<F> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        let (scale, offset) = (self.scale, self.offset);
        let mut raised = Raised::<F>::none();
        let mut check = |x: F, y: F| {
            raised.raise_if(y.is_infinite() & !x.is_infinite());
            y
        };
        match self.direction {
            Direction::Encode => {
                transform(source, target, |x: F| check(x, (x - offset) * scale));
            }
            Direction::Decode => {
                transform(source, target, |x: F| check(x, x / scale + offset));
            }
        }
        !raised.any()
    }

    fn target_size(&self) -> usize {
        F::SIZE
    }
}

/// The conversion of the hardware, to nearest even.
pub(super) trait Convert<T>: Float {
    fn convert(self) -> T;
}

impl<F: Float> Convert<F> for F {
    #[inline(always)]
    fn convert(self) -> F {
        self
    }
}

impl Convert<f64> for f32 {
    #[inline(always)]
    fn convert(self) -> f64 {
        self.into()
    }
}

impl Convert<f32> for f64 {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation)]
    fn convert(self) -> f32 {
        self as f32
    }
}

#[derive(Debug)]
struct Cast<S, T> {
    map: Map<S, T>,
    clamp: bool,
}

impl<S: Convert<T>, T: Float> Cast<S, T> {
    fn boxed(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
        let map = Map::new(side.map)?;
        let clamp = side.out_of_range == Some(OutOfRange::Clamp);
        Some(Box::new(Self { map, clamp }))
    }

    fn block<const MAP: u8>(&self, source: &[u8], target: &mut [u8]) -> bool {
        let Self { map, clamp } = *self;
        let mut raised = Raised::<S>::none();
        transform(source, target, |x: S| {
            let y = x.convert();
            let fits = !y.is_infinite() | x.is_infinite() | clamp;
            let (y, mapped) = map.float::<MAP>(x, y);
            raised.raise_if(!(fits | mapped));
            y
        });
        !raised.any()
    }
}

impl<S: Convert<T>, T: Float> Kernel for Cast<S, T> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        if self.map.extent() == Extent::Nothing {
            self.block::<NOTHING>(source, target)
        } else {
            self.block::<MANY>(source, target)
        }
    }

    fn target_size(&self) -> usize {
        T::SIZE
    }
}
