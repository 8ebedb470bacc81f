//! Kernels against memcpy: `cargo bench --bench kernels`.
//!
//! Every kernel runs over 64 MiB of its wider side, on one thread, into a buffer that exists. A round times the kernel and
//! then a memcpy of the same 64 MiB; printed is the median over the rounds of the time divided by that of the memcpy. As a
//! ratio within one run the figure says something even on a machine that does other things as well.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use zarr_cast_value::{FloatToIntConfig, RoundingMode, convert_slice_float_to_int};
use zarrpack::transform::chain::{BoundChain, Direction, bind};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::literal::Literal;
use zarrpack::transform::parameters::{
    CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
};
use zarrpack::transform::rounding::OutOfRange;
use zarrpack::transform::scalar::Scalar;

const BYTES: usize = 64 << 20;
const ROUNDS: usize = 15;

fn number(text: &str) -> Literal {
    Literal::Number(text.to_owned())
}

fn scale_offset(offset: &str, scale: Option<&str>) -> Codec {
    Codec::ScaleOffset(ScaleOffsetParameters {
        offset: Some(number(offset)),
        scale: scale.map(number),
    })
}

fn cast(data_type: DataType) -> CastValueParameters {
    CastValueParameters::to(data_type)
}

fn nan_to_zero(data_type: DataType) -> CastValueParameters {
    let nan = Literal::String("NaN".to_owned());
    CastValueParameters {
        encode: vec![(nan.clone(), number("0"))],
        decode: vec![(number("0"), nan)],
        ..cast(data_type)
    }
}

fn chain(data_type: DataType, codecs: &[Codec]) -> BoundChain {
    let binding = bind(data_type, None, codecs);
    binding
        .chain
        .expect("the chains of the benchmark are valid")
}

/// Native-endian elements of the array type that the chain can store.
fn values(chain: &BoundChain, elements: usize) -> Vec<u8> {
    let stored = chain.stored_type();
    let (low, high) = Scalar::finite_range(stored);
    let (low, high) = (low.integer().unwrap_or(0), high.integer().unwrap_or(200));
    let decode = |code| {
        let code = Scalar::from_integer(stored, code).unwrap_or(Scalar::from_bits(stored, 0x3c00));
        chain.transform(Direction::Decode, code).ok()
    };
    // Codes all over the range, those that decode, without 0, which stands for NaN in some chains.
    // Multiples of 10, where there are enough of them, for scales that have to divide them.
    let step = (high - low) / 4096;
    let step = if step > 10 { step - step % 10 } else { 1 };
    let codes = (0..4096)
        .map(|n| low - low % step + n * step)
        .filter(|code| *code <= high && *code != 0);
    let samples: Vec<Scalar> = codes.filter_map(decode).collect();
    let mut bytes = vec![0; elements * chain.data_type().size()];
    for (n, element) in bytes.chunks_exact_mut(chain.data_type().size()).enumerate() {
        samples[n * 7919 % samples.len()].write_ne_bytes(element);
    }
    bytes
}

/// Runs one direction of a chain over a slice in which nothing fails.
fn run(chain: &BoundChain, direction: Direction, source: &[u8], target: &mut [u8]) {
    let flow = chain
        .pass(direction)
        .run(source, target, &mut |_| ControlFlow::Break(()));
    assert!(flow.is_continue(), "an element failed");
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Times `work` against memcpy and prints a line.
fn measure(name: &str, mut work: impl FnMut()) {
    let from = vec![1_u8; BYTES];
    let mut to = vec![0_u8; BYTES];
    work();
    let mut ratios = Vec::new();
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let kernel = time(&mut work);
        let copy = time(|| to.copy_from_slice(black_box(&from)));
        black_box(&mut to);
        ratios.push(kernel.as_secs_f64() / copy.as_secs_f64());
        rates.push(BYTES as f64 / kernel.as_secs_f64() / 1e9);
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    println!(
        "{name:<58} {:>5.2} x memcpy  {:>5.1} GB/s",
        ratios[ROUNDS / 2],
        rates[ROUNDS / 2]
    );
}

/// Both directions of a chain.
fn both(name: &str, data_type: DataType, codecs: &[Codec]) {
    let chain = chain(data_type, codecs);
    let (wide, narrow) = (data_type.size(), chain.stored_type().size());
    let elements = BYTES / wide.max(narrow);
    let decoded = values(&chain, elements);
    let mut encoded = vec![0; elements * narrow];
    measure(&format!("encode {name}"), || {
        run(&chain, Direction::Encode, &decoded, &mut encoded)
    });
    let mut target = vec![0; elements * wide];
    measure(&format!("decode {name}"), || {
        run(&chain, Direction::Decode, &encoded, &mut target)
    });
}

/// The same pair as two passes over whole buffers.
fn unfused(name: &str, data_type: DataType, first: Codec, second: CastValueParameters) {
    let whole = chain(
        data_type,
        &[first.clone(), Codec::CastValue(second.clone())],
    );
    let first = chain(data_type, &[first]);
    let second = chain(data_type, &[Codec::CastValue(second)]);
    let elements = BYTES / data_type.size();
    let decoded = values(&whole, elements);
    let mut between = vec![0; decoded.len()];
    let mut encoded = vec![0; elements * whole.stored_type().size()];
    measure(&format!("encode {name}, two passes"), || {
        run(&first, Direction::Encode, &decoded, &mut between);
        run(&second, Direction::Encode, &between, &mut encoded);
    });
    let mut target = vec![0; decoded.len()];
    measure(&format!("decode {name}, two passes"), || {
        run(&second, Direction::Decode, &encoded, &mut between);
        run(&first, Direction::Decode, &between, &mut target);
    });
}

/// Only decoding, for the legacy codec.
fn legacy(name: &str, decoded: DataType, stored: DataType) {
    let codec = Codec::FixedScaleOffset(FixedScaleOffsetParameters {
        scale: number("100"),
        offset: number("273.15"),
        dtype: None,
        astype: Some(stored),
        base: "/configuration",
    });
    let chain = chain(decoded, &[codec]);
    let elements = BYTES / decoded.size();
    let codes: Vec<u8> = (0..elements * stored.size())
        .map(|n| (n * 31 % 251) as u8)
        .collect();
    let mut target = vec![0; elements * decoded.size()];
    measure(&format!("decode {name}"), || {
        run(&chain, Direction::Decode, &codes, &mut target)
    });
}

/// The cast alone, by the crate that zarr-python uses.
fn zarr_cast_value(name: &str, out_of_range: Option<zarr_cast_value::OutOfRangeMode>) {
    let config = FloatToIntConfig {
        map_entries: Vec::new(),
        rounding: RoundingMode::NearestEven,
        out_of_range,
    };
    let source: Vec<f32> = (0..BYTES / 4).map(|n| (n % 250) as f32).collect();
    let mut target = vec![0_u8; source.len()];
    measure(name, || {
        let done = convert_slice_float_to_int(&source, &mut target, &config);
        assert!(done.is_ok(), "an element failed");
    });
}

fn main() {
    use DataType::*;
    let pair = |offset, scale, to| {
        [
            scale_offset(offset, Some(scale)),
            Codec::CastValue(cast(to)),
        ]
    };
    both("float32 -> uint8", Float32, &pair("-10", "0.5", UInt8));
    both("float32 -> int16", Float32, &pair("273.15", "100", Int16));
    both("float64 -> int16", Float64, &pair("273.15", "100", Int16));
    both(
        "float32 -> int32",
        Float32,
        &pair("0", "0.0009765625", Int32),
    );
    both("float64 -> uint32", Float64, &pair("273.15", "100", UInt32));
    both(
        "float64 -> uint8, NaN mapped",
        Float64,
        &[
            scale_offset("-10", Some("0.1")),
            Codec::CastValue(nan_to_zero(UInt8)),
        ],
    );
    both(
        "float32 -> int16, NaN mapped",
        Float32,
        &[
            scale_offset("273.15", Some("100")),
            Codec::CastValue(nan_to_zero(Int16)),
        ],
    );
    let clamp = CastValueParameters {
        out_of_range: Some(OutOfRange::Clamp),
        ..cast(Int16)
    };
    both(
        "float32 -> int16, clamp",
        Float32,
        &[scale_offset("273.15", Some("100")), Codec::CastValue(clamp)],
    );
    both(
        "uint16 -> uint8 by offset",
        UInt16,
        &[scale_offset("1000", None), Codec::CastValue(cast(UInt8))],
    );
    both(
        "int32 -> int16, cast alone",
        Int32,
        &[Codec::CastValue(cast(Int16))],
    );
    both(
        "int32 scaled by 10",
        Int32,
        &[scale_offset("1000", Some("10"))],
    );
    both(
        "float32 -> float16",
        Float32,
        &[Codec::CastValue(cast(Float16))],
    );
    both(
        "float32 -> bfloat16",
        Float32,
        &[Codec::CastValue(cast(BFloat16))],
    );
    both(
        "float64 -> float32",
        Float64,
        &[Codec::CastValue(cast(Float32))],
    );
    unfused(
        "float32 -> uint8",
        Float32,
        scale_offset("-10", Some("0.5")),
        cast(UInt8),
    );
    unfused(
        "float32 -> int16",
        Float32,
        scale_offset("273.15", Some("100")),
        cast(Int16),
    );
    legacy("legacy uint16 -> float32", Float32, UInt16);
    legacy("legacy int16 -> float64", Float64, Int16);
    zarr_cast_value("zarr-cast-value float32 -> uint8, cast alone", None);
    zarr_cast_value(
        "zarr-cast-value float32 -> uint8, cast alone, clamp",
        Some(zarr_cast_value::OutOfRangeMode::Clamp),
    );
}
