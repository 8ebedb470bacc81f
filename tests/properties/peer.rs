//! `cast_value` against the crate `zarr-cast-value`, for the types that it knows.
//!
//! Left out is what it gets wrong: float64 to float16 to nearest goes through float32 there, and rounds twice.

use half::f16;
use proptest::prelude::*;
use zarr_cast_value as peer;
use zarrpack::transform::cast_value::CastValue;
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::rounding::{OutOfRange, Rounding};
use zarrpack::transform::scalar::Scalar;
use zarrpack::transform::scalar_map::ScalarMap;

use crate::check;
use crate::inputs::{self, Dice};

/// A native type of both libraries.
trait Native: peer::CastNum {
    const DATA_TYPE: DataType;

    fn of(x: Scalar) -> Self;

    fn scalar(self) -> Scalar;
}

macro_rules! native {
    ($($native:ident $data_type:ident $of:expr, $bits:expr;)*) => {$(
        impl Native for $native {
            const DATA_TYPE: DataType = DataType::$data_type;

            fn of(x: Scalar) -> Self {
                $of(x.bits())
            }

            fn scalar(self) -> Scalar {
                Scalar::from_bits(Self::DATA_TYPE, $bits(self))
            }
        }
    )*};
}
native! {
    i8 Int8 |b| b as i8, |x| x as u64;
    i16 Int16 |b| b as i16, |x| x as u64;
    i32 Int32 |b| b as i32, |x| x as u64;
    i64 Int64 |b| b as i64, |x| x as u64;
    u8 UInt8 |b| b as u8, u64::from;
    u16 UInt16 |b| b as u16, u64::from;
    u32 UInt32 |b| b as u32, u64::from;
    u64 UInt64 |b| b, |x| x;
    f16 Float16 |b| f16::from_bits(b as u16), |x: f16| x.to_bits().into();
    f32 Float32 |b| f32::from_bits(b as u32), |x: f32| x.to_bits().into();
    f64 Float64 f64::from_bits, f64::to_bits;
}

fn mode(rounding: Rounding) -> peer::RoundingMode {
    match rounding {
        Rounding::NearestEven => peer::RoundingMode::NearestEven,
        Rounding::TowardsZero => peer::RoundingMode::TowardsZero,
        Rounding::TowardsPositive => peer::RoundingMode::TowardsPositive,
        Rounding::TowardsNegative => peer::RoundingMode::TowardsNegative,
        Rounding::NearestAway => peer::RoundingMode::NearestAway,
    }
}

fn range(out_of_range: Option<OutOfRange>) -> Option<peer::OutOfRangeMode> {
    out_of_range.map(|word| match word {
        OutOfRange::Clamp => peer::OutOfRangeMode::Clamp,
        OutOfRange::Wrap => peer::OutOfRangeMode::Wrap,
    })
}

/// Holds casts from one native type to another to what the peer's function gives for a value and a codec.
fn agree<S: Native, T: Native>(theirs: impl Fn(S, &CastValue) -> Option<T>) {
    for rounding in Rounding::ALL {
        let nearest = matches!(rounding, Rounding::NearestEven | Rounding::NearestAway);
        if nearest && (S::DATA_TYPE, T::DATA_TYPE) == (DataType::Float64, DataType::Float16) {
            continue;
        }
        for out_of_range in [None, Some(OutOfRange::Clamp), Some(OutOfRange::Wrap)] {
            if out_of_range == Some(OutOfRange::Wrap) && T::DATA_TYPE.is_float() {
                continue;
            }
            check(40, &any::<u64>(), |seed| {
                let dice = &mut Dice::new(seed);
                let scalar = |t, dice: &mut Dice| inputs::scalar(t, dice);
                let entries = dice.below(4);
                let map =
                    (0..entries).map(|_| (scalar(S::DATA_TYPE, dice), scalar(T::DATA_TYPE, dice)));
                let codec = CastValue {
                    incoming: S::DATA_TYPE,
                    outgoing: T::DATA_TYPE,
                    rounding,
                    out_of_range,
                    encode_map: ScalarMap::new(map.collect()),
                    decode_map: ScalarMap::default(),
                };
                for _ in 0..8 {
                    let x = scalar(S::DATA_TYPE, dice);
                    let (got, want) = (
                        codec.encode(x).ok(),
                        theirs(S::of(x), &codec).map(T::scalar),
                    );
                    let nan = got.is_some_and(Scalar::is_nan) && want.is_some_and(Scalar::is_nan);
                    prop_assert!(
                        nan || got == want,
                        "{x:?} by {codec:?}: {got:?}, not {want:?}"
                    );
                }
                Ok(())
            });
        }
    }
}

fn entries<S: Native, T: Native>(codec: &CastValue) -> Vec<peer::MapEntry<S, T>> {
    let entries = codec
        .encode_map
        .entries()
        .iter()
        .map(|(key, value)| peer::MapEntry {
            src: S::of(*key),
            tgt: T::of(*value),
        });
    entries.collect()
}

macro_rules! pairs {
    ($function:ident $config:ident, $with_rounding:tt: $($source:ident)* => $targets:tt) => {$(
        pairs!(@targets $function $config, $with_rounding: $source => $targets);
    )*};
    (@targets $function:ident $config:ident, $with_rounding:tt: $source:ident => ($($target:ident)*)) => {$(
        agree::<$source, $target>(|x, codec| {
            let config = pairs!(@config $config, $with_rounding, codec);
            peer::$function(x, &config).ok()
        });
    )*};
    (@config $config:ident, rounding, $codec:ident) => {
        peer::$config {
            map_entries: entries($codec),
            rounding: mode($codec.rounding),
            out_of_range: range($codec.out_of_range),
        }
    };
    (@config $config:ident, exact, $codec:ident) => {
        peer::$config {
            map_entries: entries($codec),
            out_of_range: range($codec.out_of_range),
        }
    };
}

#[test]
fn casts_among_integers() {
    pairs!(convert_int_to_int IntToIntConfig, exact:
        i8 i16 i32 i64 u8 u16 u32 u64 => (i8 i16 i32 i64 u8 u16 u32 u64));
}

#[test]
fn casts_among_floats() {
    pairs!(convert_float_to_float FloatToFloatConfig, rounding: f16 f32 f64 => (f16 f32 f64));
}

#[test]
fn casts_from_floats_to_integers() {
    pairs!(convert_float_to_int FloatToIntConfig, rounding:
        f16 f32 f64 => (i8 i16 i32 i64 u8 u16 u32 u64));
}

#[test]
fn casts_from_integers_to_floats() {
    pairs!(convert_int_to_float IntToFloatConfig, rounding:
        i8 i16 i32 i64 u8 u16 u32 u64 => (f16 f32 f64));
}
