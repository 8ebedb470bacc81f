//! Scalars that are likely to go wrong, and codecs to send them through.

use zarrpack::transform::cast_value::cast;
use zarrpack::transform::chain::{BoundChain, Direction, bind};
use zarrpack::transform::data_type::DataType;
use zarrpack::transform::literal::Literal;
use zarrpack::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
use zarrpack::transform::rounding::{OutOfRange, Rounding};
use zarrpack::transform::scalar::Scalar;

/// A stream of random numbers from a seed (SplitMix64), much faster to draw from than a strategy.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.next() as f64 / u64::MAX as f64
    }
}

/// The scalar nearest to a double, if there is one.
pub(crate) fn nearest(data_type: DataType, x: f64) -> Option<Scalar> {
    let x = Scalar::from_bits(DataType::Float64, x.to_bits());
    let clamp = Some(OutOfRange::Clamp);
    cast(x, data_type, Rounding::NearestEven, clamp).ok()
}

/// A scalar a few bit patterns away, which for most floats is as many units in the last place.
pub(crate) fn nudged(x: Scalar, dice: &mut Dice) -> Scalar {
    let steps = dice.pick(&[0, 0, 0, 1, 1, 2, u64::MAX, u64::MAX, u64::MAX - 1]);
    Scalar::from_bits(x.data_type(), x.bits().wrapping_add(steps))
}

/// A scalar of modest size.
pub(crate) fn ordinary(data_type: DataType, dice: &mut Dice) -> Scalar {
    let size = dice.pick(&[4.0, 130.0, 300.0, 70_000.0]);
    let x = (dice.unit() - 0.5) * 2.0 * size;
    let x = dice.pick(&[x, x.round(), (x * 2.0).round() / 2.0, x.trunc() + 0.5]);
    nearest(data_type, x).unwrap_or_else(|| Scalar::from_bits(data_type, dice.next()))
}

/// Any scalar, the difficult ones far more often than their share.
pub(crate) fn scalar(data_type: DataType, dice: &mut Dice) -> Scalar {
    match dice.below(8) {
        0 | 1 => Scalar::from_bits(data_type, dice.next()),
        2 => {
            let (low, high) = Scalar::finite_range(data_type);
            let end = dice.pick(&[low, high]);
            nudged(end, dice)
        }
        3 => special(data_type, dice),
        4 => {
            // The ends of other types, and powers of two, where precision runs out.
            let other = dice.pick(&DataType::ALL);
            let (low, high) = Scalar::finite_range(other);
            let power = 2_f64.powi(dice.below(140) as i32 - 70);
            let end = dice.pick(&[low.to_f64(), high.to_f64(), power, -power]);
            let x = end + dice.pick(&[0.0, 0.5, -0.5, 1.0, -1.0]);
            match nearest(data_type, x) {
                Some(x) => nudged(x, dice),
                None => special(data_type, dice),
            }
        }
        _ => {
            let x = ordinary(data_type, dice);
            nudged(x, dice)
        }
    }
}

/// Zeros, subnormals, infinities and NaNs of all kinds.
fn special(data_type: DataType, dice: &mut Dice) -> Scalar {
    let bits = data_type.bits();
    let sign = if dice.one_in(2) { 1 << (bits - 1) } else { 0 };
    let magnitude = match dice.below(6) {
        0 => 0,
        1 => 1 + dice.below(3),
        2 => infinity_or_near(data_type),
        // Around infinity lie the largest finite values, and the signalling NaNs of the IEEE types.
        3 => infinity_or_near(data_type)
            .wrapping_add(dice.below(5))
            .wrapping_sub(2),
        4 => infinity_or_near(data_type) | dice.next(),
        _ => u64::MAX >> (64 - bits) >> 1,
    };
    Scalar::from_bits(data_type, sign ^ magnitude)
}

fn infinity_or_near(data_type: DataType) -> u64 {
    Scalar::finite_range(data_type).1.bits().wrapping_add(1)
}

/// A finite scalar other than zero, as a scale must be.
pub(crate) fn scale(data_type: DataType, dice: &mut Dice) -> Scalar {
    loop {
        let x = match dice.below(7) {
            0 | 1 => nearest(
                data_type,
                dice.pick(&[0.1, 1.0, 2.0, 10.0, 100.0, 256.0, -1.0, 0.01]),
            ),
            2 | 3 => Some(ordinary(data_type, dice)),
            // So small that dividing by it overflows, or so large that multiplying does.
            4 => {
                let largest = Scalar::finite_range(data_type).1.bits();
                let bits = if dice.one_in(2) {
                    1 + dice.below(4)
                } else {
                    largest.wrapping_sub(dice.below(4))
                };
                Some(Scalar::from_bits(data_type, bits))
            }
            _ => Some(scalar(data_type, dice)),
        };
        if let Some(x) = x.filter(|x| x.is_finite() && !x.is_zero()) {
            return x;
        }
    }
}

/// A finite scalar, as an offset must be.
pub(crate) fn offset(data_type: DataType, dice: &mut Dice) -> Scalar {
    loop {
        let x = if dice.one_in(3) {
            scalar(data_type, dice)
        } else {
            ordinary(data_type, dice)
        };
        if x.is_finite() {
            return x;
        }
    }
}

/// A scalar as a document would hold it: floats by their bits, so that NaNs keep theirs.
pub(crate) fn literal(x: Scalar) -> Literal {
    let text = x.to_bits_json();
    match text.strip_prefix('"') {
        Some(rest) => Literal::String(rest.trim_end_matches('"').to_owned()),
        None => Literal::Number(text),
    }
}

/// The NaN of a type that `"NaN"` stands for.
pub(crate) fn nan(data_type: DataType) -> Scalar {
    Scalar::parse(&Literal::String("NaN".to_owned()), data_type).unwrap()
}

/// A random `scale_offset`, with one parameter absent now and then.
pub(crate) fn scale_offset(data_type: DataType, dice: &mut Dice) -> Codec {
    Codec::ScaleOffset(ScaleOffsetParameters {
        offset: (!dice.one_in(6)).then(|| literal(offset(data_type, dice))),
        scale: (!dice.one_in(6)).then(|| literal(scale(data_type, dice))),
    })
}

/// A `cast_value` with maps of so many random entries.
pub(crate) fn cast_value(
    (incoming, outgoing): (DataType, DataType),
    rounding: Rounding,
    out_of_range: Option<OutOfRange>,
    entries: (usize, usize),
    dice: &mut Dice,
) -> Codec {
    Codec::CastValue(CastValueParameters {
        rounding,
        out_of_range,
        encode: map(incoming, outgoing, entries.0, dice),
        decode: map(outgoing, incoming, entries.1, dice),
        ..CastValueParameters::to(outgoing)
    })
}

/// Map entries in which NaNs, infinities, zeros and repeated keys are common.
fn map(from: DataType, to: DataType, entries: usize, dice: &mut Dice) -> Vec<(Literal, Literal)> {
    let mut keys: Vec<Scalar> = Vec::new();
    for _ in 0..entries {
        let key = match dice.below(4) {
            0 => special(from, dice),
            1 if !keys.is_empty() => dice.pick(&keys),
            2 => ordinary(from, dice),
            _ => scalar(from, dice),
        };
        keys.push(key);
    }
    let pairs = keys
        .into_iter()
        .map(|key| (literal(key), literal(scalar(to, dice))));
    pairs.collect()
}

/// Binds codecs that are sound enough to run.
pub(crate) fn chain(data_type: DataType, codecs: &[Codec]) -> BoundChain {
    let binding = bind(data_type, None, codecs);
    binding
        .chain
        .unwrap_or_else(|| panic!("{codecs:?}: {:?}", binding.problems))
}

/// A value for one direction of a chain, near something that its other direction can give: a whole code, the middle
/// between two, a key of a map.
pub(crate) fn input(chain: &BoundChain, direction: Direction, dice: &mut Dice) -> Scalar {
    let (from, to, back) = match direction {
        Direction::Encode => (chain.data_type(), chain.stored_type(), Direction::Decode),
        Direction::Decode => (chain.stored_type(), chain.data_type(), Direction::Encode),
    };
    if dice.one_in(3) {
        return scalar(from, dice);
    }
    let end = scalar(to, dice);
    let Ok(x) = chain.transform(back, end) else {
        return scalar(from, dice);
    };
    let next = Scalar::from_bits(to, end.bits().wrapping_add(1));
    if dice.one_in(2)
        && let Ok(y) = chain.transform(back, next)
        && let Some(middle) = nearest(from, x.to_f64() / 2.0 + y.to_f64() / 2.0)
    {
        return nudged(middle, dice);
    }
    nudged(x, dice)
}

/// Scalars as native-endian elements, with noise in the bits that the type does not use.
pub(crate) fn elements(scalars: &[Scalar], data_type: DataType, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = vec![0; scalars.len() * data_type.size()];
    for (x, bytes) in scalars.iter().zip(bytes.chunks_mut(data_type.size())) {
        x.write_ne_bytes(bytes);
        if data_type.bits() < 8 {
            let used = u8::MAX >> (8 - data_type.bits());
            bytes[0] = bytes[0] & used | (dice.next() as u8) & !used;
        }
    }
    bytes
}
