//! Decoding the legacy codec: integers through float64, float32 and float64 in themselves.

use super::element::{Float, transform};
use super::float::Convert;
use super::int_to_float::Widen;
use super::{Kernel, for_integer};
use crate::transform::data_type::DataType;
use crate::transform::legacy::FixedScaleOffset;

/// A kernel that decodes the legacy codec to float32 or float64.
pub(super) fn decode(codec: &FixedScaleOffset) -> Option<Box<dyn Kernel>> {
    match (codec.stored, codec.decoded) {
        (DataType::Float32, DataType::Float32) => Some(float::<f32, f32>(codec)),
        (DataType::Float32, DataType::Float64) => Some(float::<f32, f64>(codec)),
        (DataType::Float64, DataType::Float32) => Some(float::<f64, f32>(codec)),
        (DataType::Float64, DataType::Float64) => Some(float::<f64, f64>(codec)),
        (stored, DataType::Float32) => for_integer!(stored, integer::<@, f32>(codec)),
        (stored, DataType::Float64) => for_integer!(stored, integer::<@, f64>(codec)),
        _ => None,
    }
}

type Block<W> = fn(W, W, &[u8], &mut [u8]);

/// A decoder whose arithmetic is in `W`. Nothing can go wrong: overflow gives infinities, as in numcodecs.
#[derive(Debug)]
struct Decode<W> {
    scale: W,
    offset: W,
    target_size: usize,
    block: Block<W>,
}

impl<W: Float> Kernel for Decode<W> {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        (self.block)(self.scale, self.offset, source, target);
        true
    }

    fn target_size(&self) -> usize {
        self.target_size
    }
}

fn integer<I: Widen<f64>, T: Float>(codec: &FixedScaleOffset) -> Box<dyn Kernel>
where
    f64: Convert<T>,
{
    Box::new(Decode {
        scale: codec.scale.double(),
        offset: codec.offset.double(),
        target_size: T::SIZE,
        block: |scale, offset, source, target| {
            transform(source, target, |code: I| {
                (code.widen() / scale + offset).convert()
            });
        },
    })
}

fn float<W: Convert<T>, T: Float>(codec: &FixedScaleOffset) -> Box<dyn Kernel>
where
    f64: Convert<W>,
{
    Box::new(Decode {
        scale: codec.scale.double().convert(),
        offset: codec.offset.double().convert(),
        target_size: T::SIZE,
        block: |scale: W, offset: W, source, target| {
            transform(source, target, |code: W| (code / scale + offset).convert());
        },
    })
}
