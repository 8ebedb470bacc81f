//! The interval kernels of integers: every 8-bit value by every offset and scale, and wider ones at random.

use std::ops::ControlFlow;

use proptest::prelude::*;
use zarrpack::transform::chain::{BoundChain, BoundCodec, Direction};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::literal::Literal;
use zarrpack::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
use zarrpack::transform::scalar::Scalar;

use crate::check;
use crate::inputs::{self, Dice};

fn scale_offset(offset: i128, scale: i128) -> Codec {
    Codec::ScaleOffset(ScaleOffsetParameters {
        offset: Some(Literal::Number(offset.to_string())),
        scale: Some(Literal::Number(scale.to_string())),
    })
}

/// Both steps with every result in range and no remainder, or nothing.
fn expected(t: DataType, direction: Direction, x: i128, offset: i128, scale: i128) -> Option<i128> {
    let (low, high) = Scalar::finite_range(t);
    let (low, high) = (low.integer()?, high.integer()?);
    let fits = |x: i128| (low..=high).contains(&x).then_some(x);
    match direction {
        Direction::Encode => fits(fits(x - offset)?.checked_mul(scale)?),
        Direction::Decode if x % scale != 0 => None,
        Direction::Decode => fits(fits(x / scale)? + offset),
    }
}

/// Runs elements through the kernels; the results, and whether nothing failed.
fn run(chain: &BoundChain, direction: Direction, source: &[u8]) -> (Vec<u8>, bool) {
    let pass = chain.pass(direction);
    let mut target = vec![0xa5; source.len() / pass.source().size() * pass.target().size()];
    let flow = pass.run(source, &mut target, &mut |_| ControlFlow::Break(()));
    (target, flow.is_continue())
}

/// Every 8-bit value, offset and scale, both ways: the definition against plain arithmetic, and the kernel against it.
fn every_byte(t: DataType) {
    let all = || (0..=255_u8).map(|bits| Scalar::from_bits(t, bits.into()));
    let values: Vec<_> = all().map(|x| (x, x.integer().unwrap())).collect();
    for (_, offset) in &values {
        for (_, scale) in values.iter().filter(|(_, scale)| *scale != 0) {
            let chain = inputs::chain(t, &[scale_offset(*offset, *scale)]);
            let [BoundCodec::ScaleOffset(codec)] = chain.codecs() else {
                panic!("the chain is one scale_offset");
            };
            for direction in [Direction::Encode, Direction::Decode] {
                let (mut sound, mut results, mut bad) = (Vec::new(), Vec::new(), Vec::new());
                for (x, n) in &values {
                    let want = expected(t, direction, *n, *offset, *scale);
                    let defined = match direction {
                        Direction::Encode => codec.encode(*x),
                        Direction::Decode => codec.decode(*x),
                    };
                    let context = || format!("{t} {direction:?} {n} offset {offset} scale {scale}");
                    assert_eq!(
                        defined.ok().and_then(Scalar::integer),
                        want,
                        "{}",
                        context()
                    );
                    match want {
                        Some(result) => {
                            sound.push(x.bits() as u8);
                            results.push(result as u8);
                        }
                        None => bad.push(x.bits() as u8),
                    }
                }
                let (target, whole) = run(&chain, direction, &sound);
                assert!(
                    whole && target == results,
                    "{t} {direction:?} offset {offset} scale {scale}"
                );
                // One by one, since a kernel refuses a block for any of its elements: the ends of the runs of values
                // that fail, where an interval would be off by one, and a few others.
                let fails = |byte: u8| bad.binary_search(&byte).is_ok();
                let ends = bad.iter().enumerate().filter(|(n, byte)| {
                    !fails(byte.wrapping_add(1)) || !fails(byte.wrapping_sub(1)) || n % 64 == 5
                });
                for (_, byte) in ends.take(12) {
                    let (_, whole) = run(&chain, direction, &[*byte]);
                    assert!(
                        !whole,
                        "{t} {direction:?} {byte:#x} offset {offset} scale {scale}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_int8_by_every_offset_and_scale() {
    every_byte(DataType::Int8);
}

#[test]
fn every_uint8_by_every_offset_and_scale() {
    every_byte(DataType::UInt8);
}

/// A value near those at which a step leaves the range, or any.
fn edge(t: DataType, offset: i128, scale: i128, dice: &mut Dice) -> Scalar {
    let (low, high) = Scalar::finite_range(t);
    let end = dice.pick(&[low.integer().unwrap(), high.integer().unwrap(), 0]);
    let near = dice.below(5) as i128 - 2;
    let small = dice.below(1000) as i128;
    let product = |a: i128, b: i128| a.checked_mul(b).unwrap_or_default();
    let x = dice.pick(&[
        end + near,
        end + offset + near,
        end / scale + offset + near,
        end - offset + near,
        product(end - offset, scale) + near,
        product(small, scale),
        end / scale * scale,
    ]);
    Scalar::from_integer(t, x).unwrap_or_else(|| inputs::scalar(t, dice))
}

#[test]
fn wide_integers_at_the_edges() {
    let integers = || {
        DataType::ALL
            .into_iter()
            .filter(|t| t.is_integer() && t.bits() >= 8)
    };
    for t in integers() {
        for packed in integers() {
            check(150, &any::<u64>(), |seed| {
                let dice = &mut Dice::new(seed);
                let offset = inputs::offset(t, dice).integer().unwrap();
                let scale = inputs::scale(t, dice).integer().unwrap();
                let scale = dice.pick(&[1, 1, scale]);
                let mut codecs = vec![scale_offset(offset, scale)];
                if packed != t {
                    codecs.push(Codec::CastValue(CastValueParameters::to(packed)));
                }
                let chain = inputs::chain(t, &codecs);
                for _ in 0..12 {
                    let x = edge(t, offset, scale, dice);
                    let source = inputs::elements(&[x], t, dice);
                    let (target, whole) = run(&chain, Direction::Encode, &source);
                    let want = expected(t, Direction::Encode, x.integer().unwrap(), offset, scale);
                    let want = want.and_then(|code| Scalar::from_integer(packed, code));
                    let got = whole.then(|| Scalar::from_ne_bytes(packed, &target));
                    prop_assert_eq!(got, want, "encode {} offset {} scale {}", x, offset, scale);

                    let x = edge(t, offset, scale, dice).integer().unwrap();
                    let Some(code) = Scalar::from_integer(packed, x) else {
                        continue;
                    };
                    let source = inputs::elements(&[code], packed, dice);
                    let (target, whole) = run(&chain, Direction::Decode, &source);
                    let inside = Scalar::from_integer(t, x).is_some();
                    let want = inside.then(|| expected(t, Direction::Decode, x, offset, scale));
                    let want = want.flatten().and_then(|x| Scalar::from_integer(t, x));
                    let got = whole.then(|| Scalar::from_ne_bytes(t, &target));
                    prop_assert_eq!(got, want, "decode {} offset {} scale {}", x, offset, scale);
                }
                Ok(())
            });
        }
    }
}
