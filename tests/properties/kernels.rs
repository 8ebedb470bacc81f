//! Kernels against definitions: every pair of types, bit for bit, values and faults.

use std::ops::ControlFlow;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use zarrpack::transform::apply::{ElementFault, Pass};
use zarrpack::transform::chain::{BoundChain, ChainFault, Direction};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::literal::Literal;
use zarrpack::transform::parameters::{Codec, FixedScaleOffsetParameters};
use zarrpack::transform::rounding::{OutOfRange, Rounding};
use zarrpack::transform::scalar::Scalar;

use crate::check;
use crate::inputs::{self, Dice};

const RANGES: [Option<OutOfRange>; 3] = [None, Some(OutOfRange::Clamp), Some(OutOfRange::Wrap)];

/// What stands beside a `cast_value`.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Alone,
    Before,
    Behind,
    Both,
}

/// A chain by its seed, and how many elements to send through.
#[derive(Clone, Debug)]
struct Case {
    shape: Shape,
    entries: (usize, usize),
    length: usize,
    seed: u64,
}

fn cases(lengths: std::ops::Range<usize>) -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        3 => Just(Shape::Alone),
        4 => Just(Shape::Before),
        1 => Just(Shape::Behind),
        1 => Just(Shape::Both),
    ];
    let entries = prop_oneof![1 => Just(0_usize), 1 => 1..=6_usize];
    let entries = (entries.clone(), entries);
    (shape, entries, lengths, any::<u64>()).prop_map(|(shape, entries, length, seed)| Case {
        shape,
        entries,
        length,
        seed,
    })
}

fn codecs(
    pair: (DataType, DataType),
    rounding: Rounding,
    out_of_range: Option<OutOfRange>,
    case: &Case,
    dice: &mut Dice,
) -> Vec<Codec> {
    let mut codecs = Vec::new();
    if matches!(case.shape, Shape::Before | Shape::Both) {
        codecs.push(inputs::scale_offset(pair.0, dice));
    }
    let cast = inputs::cast_value(pair, rounding, out_of_range, case.entries, dice);
    codecs.push(cast);
    if matches!(case.shape, Shape::Behind | Shape::Both) {
        codecs.push(inputs::scale_offset(pair.1, dice));
    }
    codecs
}

/// What the definitions make of an element, codec by codec.
fn defined(chain: &BoundChain, direction: Direction, x: Scalar) -> Result<Scalar, ChainFault> {
    let codecs = chain.codecs();
    let mut order: Vec<usize> = (0..codecs.len()).collect();
    if direction == Direction::Decode {
        order.reverse();
    }
    order.into_iter().try_fold(x, |x, codec| {
        let result = match direction {
            Direction::Encode => codecs[codec].encode(x),
            Direction::Decode => codecs[codec].decode(x),
        };
        result.map_err(|fault| ChainFault { codec, fault })
    })
}

fn run(pass: &Pass, source: &[u8]) -> (Vec<u8>, Vec<ElementFault>) {
    let mut target = vec![0xa5; source.len() / pass.source().size() * pass.target().size()];
    let mut faults = Vec::new();
    let _ = pass.run(source, &mut target, &mut |fault| {
        faults.push(fault);
        ControlFlow::Continue(())
    });
    (target, faults)
}

/// Runs elements as one slice and holds the result to what the definitions gave.
fn agree(
    pass: &Pass,
    source: &[u8],
    values: &[Scalar],
    expected: &[Result<Scalar, ChainFault>],
) -> TestCaseResult {
    let (target, faults) = run(pass, source);
    let mut wanted = vec![0; target.len()];
    let mut wanted_faults = Vec::new();
    let places = wanted.chunks_mut(pass.target().size());
    for ((index, result), place) in expected.iter().enumerate().zip(places) {
        match *result {
            Ok(x) => x.write_ne_bytes(place),
            Err(ChainFault { codec, fault }) => wanted_faults.push(ElementFault {
                index,
                value: values[index],
                codec,
                fault,
            }),
        }
    }
    if target != wanted {
        let size = pass.target().size();
        let wrong = target
            .chunks(size)
            .zip(wanted.chunks(size))
            .position(|(a, b)| a != b);
        let n = wrong.unwrap_or_default();
        let got = Scalar::from_ne_bytes(pass.target(), &target[n * size..]);
        let (x, want) = (values[n], expected[n]);
        prop_assert!(
            false,
            "element {n} of {}, {x:?}: {got:?}, not {want:?}",
            values.len()
        );
    }
    prop_assert_eq!(faults, wanted_faults);
    Ok(())
}

/// Runs elements one by one, those that the definitions take as one slice, and all of them as one slice.
///
/// A block with an element that a kernel cannot judge is left to the definitions, so mixed slices alone would test little.
fn compare(
    chain: &BoundChain,
    direction: Direction,
    values: &[Scalar],
    dice: &mut Dice,
) -> TestCaseResult {
    let pass = chain.pass(direction);
    let size = pass.source().size();
    let source = inputs::elements(values, pass.source(), dice);
    let expected: Vec<_> = values
        .iter()
        .map(|x| defined(chain, direction, *x))
        .collect();
    for (n, element) in source.chunks(size).enumerate() {
        agree(pass, element, &values[n..=n], &expected[n..=n])?;
    }
    agree(pass, &source, values, &expected)?;
    let (sound, sound_expected): (Vec<_>, Vec<_>) = values
        .iter()
        .zip(&expected)
        .filter(|(_, e)| e.is_ok())
        .unzip();
    let source = inputs::elements(&sound, pass.source(), dice);
    agree(pass, &source, &sound, &sound_expected)
}

fn is_possible((_, outgoing): (DataType, DataType), out_of_range: Option<OutOfRange>) -> bool {
    out_of_range != Some(OutOfRange::Wrap) || outgoing.is_integer()
}

/// All pairs with these incoming types, all roundings, all behaviours out of range.
fn all_pairs(incoming: impl Fn(&DataType) -> bool) {
    let strategy = cases(1..130);
    for incoming in DataType::ALL.into_iter().filter(incoming) {
        for pair in DataType::ALL.map(|outgoing| (incoming, outgoing)) {
            for rounding in Rounding::ALL {
                for range in RANGES.into_iter().filter(|range| is_possible(pair, *range)) {
                    check(6, &strategy, |case| {
                        let dice = &mut Dice::new(case.seed);
                        let codecs = codecs(pair, rounding, range, &case, dice);
                        let chain = inputs::chain(pair.0, &codecs);
                        for direction in [Direction::Encode, Direction::Decode] {
                            let values: Vec<_> = (0..case.length)
                                .map(|_| inputs::input(&chain, direction, dice))
                                .collect();
                            compare(&chain, direction, &values, dice)?;
                        }
                        Ok(())
                    });
                }
            }
        }
    }
}

#[test]
fn kernels_are_the_definitions_for_integers() {
    all_pairs(|t| t.is_integer());
}

#[test]
fn kernels_are_the_definitions_for_narrow_floats() {
    all_pairs(|t| t.is_float() && t.bits() <= 16);
}

#[test]
fn kernels_are_the_definitions_for_wide_floats() {
    all_pairs(|t| t.is_float() && t.bits() > 16);
}

/// Slices of many blocks and a bit, from types whose kernels compute.
#[test]
fn kernels_are_the_definitions_on_long_slices() {
    use DataType::*;
    let wide = [Int32, Int64, UInt32, UInt64, Float32, Float64];
    let strategy = (cases(2000..9000), 0..5_usize, 0..3_usize);
    for incoming in wide {
        for outgoing in [
            Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64,
        ] {
            check(1, &strategy, |(case, rounding, range)| {
                let dice = &mut Dice::new(case.seed);
                let (pair, range) = ((incoming, outgoing), RANGES[range]);
                let range = range.filter(|range| is_possible(pair, Some(*range)));
                let codecs = codecs(pair, Rounding::ALL[rounding], range, &case, dice);
                let chain = inputs::chain(incoming, &codecs);
                for direction in [Direction::Encode, Direction::Decode] {
                    // Few of these fail, so that most blocks stay with the kernels.
                    let values: Vec<_> = (0..case.length)
                        .map(|_| inputs::input(&chain, direction, dice))
                        .filter(|x| is_worth_keeping(&chain, direction, *x))
                        .collect();
                    let pass = chain.pass(direction);
                    let expected: Vec<_> = values
                        .iter()
                        .map(|x| defined(&chain, direction, *x))
                        .collect();
                    let source = inputs::elements(&values, pass.source(), dice);
                    agree(pass, &source, &values, &expected)?;
                }
                Ok(())
            });
        }
    }
}

/// Keeps what decodes, and one in 4096 of the rest.
fn is_worth_keeping(chain: &BoundChain, direction: Direction, x: Scalar) -> bool {
    defined(chain, direction, x).is_ok() || x.bits() & 0xfff == 7
}

/// Slices that are worth a table of all codes: every code, in any order, and some twice.
#[test]
fn tables_are_the_definitions() {
    use DataType::*;
    let strategy = (cases(40_000..40_001), 0..5_usize, 0..3_usize);
    for source in [Int16, UInt16, BFloat16, Float16] {
        for other in DataType::ALL {
            for direction in [Direction::Encode, Direction::Decode] {
                check(1, &strategy, |(case, rounding, range)| {
                    let dice = &mut Dice::new(case.seed);
                    let pair = match direction {
                        Direction::Encode => (source, other),
                        Direction::Decode => (other, source),
                    };
                    let range = RANGES[range].filter(|range| is_possible(pair, Some(*range)));
                    let codecs = codecs(pair, Rounding::ALL[rounding], range, &case, dice);
                    let chain = inputs::chain(pair.0, &codecs);
                    // An odd factor visits every code.
                    let factor = dice.next() | 1;
                    let values: Vec<_> = (0..case.length as u64)
                        .map(|n| Scalar::from_bits(source, n.wrapping_mul(factor)))
                        .collect();
                    let pass = chain.pass(direction);
                    let bytes = inputs::elements(&values, source, dice);
                    let expected: Vec<_> = values
                        .iter()
                        .map(|x| defined(&chain, direction, *x))
                        .collect();
                    agree(pass, &bytes, &values, &expected)?;
                    // The table is there now, and short slices take it too.
                    let short = 1500 * source.size();
                    agree(pass, &bytes[..short], &values[..1500], &expected[..1500])
                });
            }
        }
    }
}

/// A parameter of the legacy codec as Python writes it.
fn token(dice: &mut Dice, zero: bool) -> Literal {
    let common = [
        "10", "0.1", "100", "-3", "1e-05", "273.15", "10.0", "1000000", "1e+30", "-0.5", "7",
        "5e-324",
    ];
    let text = match dice.below(3) {
        0 => format!("{:?}", inputs::ordinary(DataType::Float64, dice).to_f64()),
        1 => inputs::scalar(DataType::Float64, dice).to_json(),
        _ => dice.pick(&common).to_owned(),
    };
    let value: Option<f64> = text.parse().ok();
    match value {
        Some(value) if value.is_finite() && (zero || value != 0.0) => Literal::Number(text),
        _ => token(dice, zero),
    }
}

#[test]
fn kernels_are_the_definition_of_the_legacy_codec() {
    let numpy = || {
        DataType::ALL
            .into_iter()
            .filter(|t| t.numpy_code().is_some())
    };
    let strategy = (any::<u64>(), 1..200_usize);
    for decoded in numpy() {
        for stored in numpy() {
            check(12, &strategy, |(seed, length)| {
                let dice = &mut Dice::new(seed);
                let codec = Codec::FixedScaleOffset(FixedScaleOffsetParameters {
                    scale: token(dice, false),
                    offset: token(dice, true),
                    dtype: Some(decoded),
                    astype: Some(stored),
                    base: "/configuration",
                });
                let chain = inputs::chain(decoded, &[codec]);
                for direction in [Direction::Encode, Direction::Decode] {
                    let values: Vec<_> = (0..length)
                        .map(|_| inputs::input(&chain, direction, dice))
                        .collect();
                    compare(&chain, direction, &values, dice)?;
                }
                Ok(())
            });
        }
    }
}
