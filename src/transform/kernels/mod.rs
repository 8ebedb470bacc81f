//! Block kernels: the codecs on slices, fast, for blocks in which nothing goes wrong.
//!
//! A kernel either produces exactly what the definitions of the codecs give for every element of a block, or says that
//! the block holds an element it cannot judge; that block is then done by the definitions, which find the fault or the
//! value. Kernels test by flags over a block, never by an early return, so that the compiler vectorises the loops.
//!
//! Each kernel picks the function that runs a block when it is built. A variant for wider vector units, chosen at run
//! time, is one more function to pick from.

mod element;
mod float;
mod float_to_int;
mod int;
mod int_to_float;
mod legacy;
mod map;
mod table;

use std::fmt;

use super::cast_value::CastValue;
use super::chain::{BoundCodec, Direction};
use super::scale_offset::ScaleOffset;

pub(super) use table::Table;

/// Runs a block of elements, native endian, from `source` into `target`.
///
/// False means that at least one element needs the definitions; what `target` holds is then of no use.
pub(super) trait Kernel: fmt::Debug + Send + Sync {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool;

    /// The bytes of an element that the kernel writes.
    fn target_size(&self) -> usize;
}

/// The kernels for a list of codecs, in the order in which they run; `None` where one codec has none.
pub(super) fn select(codecs: &[BoundCodec], direction: Direction) -> Option<Vec<Box<dyn Kernel>>> {
    let mut kernels = Vec::new();
    let mut rest = codecs;
    while !rest.is_empty() {
        let (kernel, used) = match direction {
            Direction::Encode => next(rest, direction)?,
            Direction::Decode => next_back(rest)?,
        };
        kernels.extend(kernel);
        rest = match direction {
            Direction::Encode => &rest[used..],
            Direction::Decode => &rest[..rest.len() - used],
        };
    }
    Some(kernels)
}

/// A kernel for the first codecs of a list, and how many they are. No kernel stands for no change at all.
type Selected = Option<(Option<Box<dyn Kernel>>, usize)>;

fn next(codecs: &[BoundCodec], direction: Direction) -> Selected {
    if let [
        BoundCodec::ScaleOffset(scale),
        BoundCodec::CastValue(cast),
        ..,
    ] = codecs
        && let Some(kernel) = pair(scale, cast, direction)
    {
        return Some((Some(kernel), 2));
    }
    Some((single(codecs.first()?, direction)?, 1))
}

fn next_back(codecs: &[BoundCodec]) -> Selected {
    if let [
        ..,
        BoundCodec::ScaleOffset(scale),
        BoundCodec::CastValue(cast),
    ] = codecs
        && let Some(kernel) = pair(scale, cast, Direction::Decode)
    {
        return Some((Some(kernel), 2));
    }
    Some((single(codecs.last()?, Direction::Decode)?, 1))
}

/// A fused kernel for `scale_offset` and `cast_value`.
fn pair(scale: &ScaleOffset, cast: &CastValue, direction: Direction) -> Option<Box<dyn Kernel>> {
    match direction {
        Direction::Encode => {
            float_to_int::encode(Some(scale), cast).or_else(|| int::encode_pair(scale, cast))
        }
        Direction::Decode => {
            int_to_float::decode(Some(scale), cast).or_else(|| int::decode_pair(scale, cast))
        }
    }
}

/// A kernel for one codec. `Some(None)` is a codec that changes nothing.
#[expect(clippy::option_option)]
fn single(codec: &BoundCodec, direction: Direction) -> Option<Option<Box<dyn Kernel>>> {
    match codec {
        BoundCodec::ScaleOffset(codec) => scale_offset(codec, direction),
        BoundCodec::CastValue(codec) => {
            let side = map::Side::of(codec, direction);
            if side.from == side.to && side.map.is_empty() {
                return Some(None);
            }
            float_to_int::cast(&side)
                .or_else(|| int_to_float::cast(&side))
                .or_else(|| int::cast(&side))
                .or_else(|| float::cast(&side))
                .map(Some)
        }
        BoundCodec::FixedScaleOffset(codec) => match direction {
            Direction::Encode => None,
            Direction::Decode => legacy::decode(codec).map(Some),
        },
    }
}

#[expect(clippy::option_option)]
fn scale_offset(codec: &ScaleOffset, direction: Direction) -> Option<Option<Box<dyn Kernel>>> {
    let nothing = codec.offset.is_none() && codec.scale.is_none();
    // Decoding without parameters still turns -0.0 into +0.0.
    if nothing && (codec.data_type.is_integer() || direction == Direction::Encode) {
        return Some(None);
    }
    float::scale_offset(codec, direction)
        .or_else(|| int::scale_offset(codec, direction))
        .map(Some)
}

/// Calls a generic constructor for the native integer type that a `DataType` is in memory.
macro_rules! for_integer {
    ($data_type:expr, $function:ident::<$($before:ty,)* @ $(, $after:ty)*>($($argument:expr),*)) => {
        match $data_type {
            DataType::Int8 => Some($function::<$($before,)* i8 $(, $after)*>($($argument),*)),
            DataType::Int16 => Some($function::<$($before,)* i16 $(, $after)*>($($argument),*)),
            DataType::Int32 => Some($function::<$($before,)* i32 $(, $after)*>($($argument),*)),
            DataType::Int64 => Some($function::<$($before,)* i64 $(, $after)*>($($argument),*)),
            DataType::UInt8 => Some($function::<$($before,)* u8 $(, $after)*>($($argument),*)),
            DataType::UInt16 => Some($function::<$($before,)* u16 $(, $after)*>($($argument),*)),
            DataType::UInt32 => Some($function::<$($before,)* u32 $(, $after)*>($($argument),*)),
            DataType::UInt64 => Some($function::<$($before,)* u64 $(, $after)*>($($argument),*)),
            _ => None,
        }
    };
}
use for_integer;
