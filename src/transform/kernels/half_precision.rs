//! float32 to float16 and bfloat16, by the conversions of the `half` crate, which use the hardware's where it has them.

use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};
use half::{bf16, f16};

use super::Kernel;
use super::element::{Element, Raised};
use super::map::Side;
use crate::transform::data_type::DataType;
use crate::transform::rounding::{OutOfRange, Rounding};

/// A kernel for one direction of a `cast_value`. From float32 only: from float64 the crate rounds twice.
pub(super) fn cast(side: &Side<'_>) -> Option<Box<dyn Kernel>> {
    if side.rounding != Rounding::NearestEven || !side.map.is_empty() {
        return None;
    }
    let clamp = side.out_of_range == Some(OutOfRange::Clamp);
    match (side.from, side.to) {
        (DataType::Float32, DataType::Float16) => Some(Box::new(Narrow {
            clamp,
            convert: |from, to| {
                to.reinterpret_cast_mut::<f16>()
                    .convert_from_f32_slice(from)
            },
            infinity: f16::INFINITY.to_bits(),
        })),
        (DataType::Float32, DataType::BFloat16) => Some(Box::new(Narrow {
            clamp,
            convert: |from, to| {
                to.reinterpret_cast_mut::<bf16>()
                    .convert_from_f32_slice(from)
            },
            infinity: bf16::INFINITY.to_bits(),
        })),
        _ => None,
    }
}

/// The elements that are converted at a time.
const LANES: usize = 16;

#[derive(Debug)]
struct Narrow {
    /// Whether a finite value that becomes an infinity is right.
    clamp: bool,
    convert: fn(&[f32], &mut [u16]),
    infinity: u16,
}

impl Kernel for Narrow {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        let mut raised = Raised::<f32>::none();
        let (mut values, mut halves) = ([0_f32; LANES], [0_u16; LANES]);
        let targets = target.chunks_mut(LANES * u16::SIZE);
        for (from, to) in source.chunks(LANES * f32::SIZE).zip(targets) {
            let elements = from.len() / f32::SIZE;
            for (value, bytes) in values.iter_mut().zip(from.chunks_exact(f32::SIZE)) {
                *value = f32::read(bytes);
            }
            (self.convert)(&values[..elements], &mut halves[..elements]);
            for ((bytes, half), value) in to.chunks_exact_mut(u16::SIZE).zip(halves).zip(values) {
                let infinite = half & 0x7fff == self.infinity;
                raised.raise_if(infinite & value.is_finite());
                half.write(bytes);
            }
        }
        self.clamp || !raised.any()
    }

    fn target_size(&self) -> usize {
        u16::SIZE
    }
}
