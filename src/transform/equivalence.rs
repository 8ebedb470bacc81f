//! Equivalence: what two chains decode from the same stored codes, and how far apart that is.
//!
//! The comparison asks about decoding alone. Every code of a stored type of up to 16 bits can be tried, which proves the
//! answer for any data ([`Comparison::exhaustive`]), or for the data that holds certain codes only
//! ([`Comparison::restricted`]). Wider types are compared over the codes that occur ([`Comparison::stream`]). Results of
//! parts merge in any order into the same whole.

use std::ops::{ControlFlow, Range};

use super::apply::{ElementFault, Pass};
use super::chain::{BoundChain, ChainFault, Direction};
use super::data_type::{DataType, Layout};
use super::scalar::Scalar;

/// Elements of a wide stored type that are decoded both ways before they are compared: what they become stays in the
/// second-level cache.
const BLOCK: usize = 1 << 12;

/// The same for stored types of up to 16 bits: enough for a pass to find a table of all codes worth building.
const NARROW_BLOCK: usize = 1 << 15;

/// Why a comparison cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EquivalenceError {
    /// The chains store different types, so that no code means anything to both.
    #[error("one chain stores {old}, the other {new}")]
    StoredTypes {
        /// What the old chain stores.
        old: DataType,
        /// What the new chain stores.
        new: DataType,
    },
    /// The chains belong to arrays of different types.
    #[error("one chain decodes to {old}, the other to {new}")]
    ArrayTypes {
        /// What the old chain decodes to.
        old: DataType,
        /// What the new chain decodes to.
        new: DataType,
    },
    /// A stored type with more codes than can all be tried or remembered.
    #[error("{0} has more codes than can be tried one by one; types of up to 16 bits have not")]
    TooManyCodes(DataType),
    /// A set of codes of another type than the chains store.
    #[error("the codes are {codes}, the chains store {stored}")]
    Codes {
        /// The type of the codes in the set.
        codes: DataType,
        /// What the chains store.
        stored: DataType,
    },
    /// Bytes that are no whole number of elements.
    #[error("{bytes} bytes are no whole number of {stored} elements")]
    PartialElement {
        /// How many bytes there are.
        bytes: usize,
        /// What the chains store.
        stored: DataType,
    },
}

/// The codes of a stored type of up to 16 bits that occur somewhere, or do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSet {
    data_type: DataType,
    words: Vec<u64>,
}

impl CodeSet {
    /// The empty set of codes of a type.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::TooManyCodes`] for a type of more than 16 bits.
    pub fn new(data_type: DataType) -> Result<Self, EquivalenceError> {
        if data_type.bits() > 16 {
            return Err(EquivalenceError::TooManyCodes(data_type));
        }
        let codes = 1_usize << data_type.bits();
        Ok(Self {
            data_type,
            words: vec![0; codes.div_ceil(64)],
        })
    }

    /// The type of the codes.
    #[must_use]
    pub const fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Adds a code. One of another type is taken by its bits.
    pub fn insert(&mut self, code: Scalar) {
        let (word, bit) = self.place(code.bits());
        self.words[word] |= bit;
    }

    /// Adds every element of `codes`, native endian; bytes behind the last whole element are not looked at.
    pub fn insert_elements(&mut self, codes: &[u8]) {
        if self.data_type.size() == 1 {
            for code in codes {
                let (word, bit) = self.place(u64::from(*code));
                self.words[word] |= bit;
            }
            return;
        }
        for code in codes.chunks_exact(2) {
            let code = u16::from_ne_bytes([code[0], code[1]]);
            let (word, bit) = self.place(u64::from(code));
            self.words[word] |= bit;
        }
    }

    /// Whether a code is in the set. One of another type is looked up by its bits.
    #[must_use]
    pub fn contains(&self, code: Scalar) -> bool {
        let (word, bit) = self.place(code.bits());
        self.words[word] & bit != 0
    }

    /// Adds the codes of another set of the same type.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::Codes`] where the types differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), EquivalenceError> {
        if self.data_type != other.data_type {
            return Err(EquivalenceError::Codes {
                codes: other.data_type,
                stored: self.data_type,
            });
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
        Ok(())
    }

    /// How many codes are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        let ones = self.words.iter().map(|word| word.count_ones() as usize);
        ones.sum()
    }

    /// Whether no code is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// The codes in the set, by their bits as unsigned numbers.
    pub fn iter(&self) -> impl Iterator<Item = Scalar> + '_ {
        all_codes(self.data_type).filter(|code| self.contains(*code))
    }

    /// The codes of the type that are not in the set, by their bits as unsigned numbers.
    pub fn missing(&self) -> impl Iterator<Item = Scalar> + '_ {
        all_codes(self.data_type).filter(|code| !self.contains(*code))
    }

    /// The word and the bit of a code. Bits that the type does not use are ignored.
    fn place(&self, bits: u64) -> (usize, u64) {
        let code = bits & (u64::MAX >> (64 - self.data_type.bits()));
        // Below 2^16, so a `usize` holds it.
        let word = (code / 64) as usize;
        (word, 1 << (code % 64))
    }
}

/// Every code of a type of up to 16 bits.
fn all_codes(data_type: DataType) -> impl Iterator<Item = Scalar> {
    (0..1_u64 << data_type.bits()).map(move |code| Scalar::from_bits(data_type, code))
}

/// A code that two chains decode to different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// What is stored.
    pub code: Scalar,
    /// What the old chain makes of it.
    pub old: Scalar,
    /// What the new chain makes of it.
    pub new: Scalar,
}

/// A code that the old chain decodes and the new one does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostCode {
    /// What is stored.
    pub code: Scalar,
    /// What the old chain makes of it.
    pub old: Scalar,
    /// Where the new chain fails, and why.
    pub fault: ChainFault,
}

/// What the differences mean for a reader, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Whatever the old chain decodes, the new one decodes to the same bits, and nothing else.
    Identical,
    /// Some codes decode to other values, or decode with the new chain only.
    Differs,
    /// Some codes that the old chain decodes are errors with the new one.
    BecomesUnreadable,
}

/// What two chains made of some codes. Every code that was compared counts once for each time it occurred.
///
/// The result does not depend on the order of the codes, nor on how they were divided into parts: the examples are those
/// of the lowest codes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// The codes that were decoded both ways: the sum of the next five.
    pub compared: u64,
    /// Codes that decode to the same bits. Any NaN is the same as any other; -0.0 is not the same as 0.0.
    pub identical: u64,
    /// Codes that decode to different values.
    pub differing: u64,
    /// Codes that the old chain decodes, and the new one does not.
    pub become_unreadable: u64,
    /// Codes that the new chain decodes, and the old one does not; where the old one is the legacy codec, the C cast of
    /// their value is undefined.
    pub become_readable: u64,
    /// Codes that neither chain decodes.
    pub unreadable_in_both: u64,
    /// How many of `differing` have NaN or an infinity on one side, and are in neither of the largest differences.
    pub not_finite: u64,
    /// The largest absolute difference between the two values of a code, both finite; 0.0 without any.
    pub largest_difference: f64,
    /// The largest distance between the two values of a code, both finite, in units in the last place: how many values of
    /// the array's type the way from one to the other passes. Zeros of either sign are one value. For an integer type it
    /// is the largest difference, exactly.
    pub largest_ulps: u64,
    /// The lowest code that decodes to different values.
    pub first_difference: Option<ValueChange>,
    /// The lowest code that becomes unreadable.
    pub first_unreadable: Option<LostCode>,
}

impl Differences {
    /// Adds the result of other codes. Associative and commutative, with [`Differences::default`] as the neutral element.
    pub fn merge(&mut self, other: &Self) {
        self.compared += other.compared;
        self.identical += other.identical;
        self.differing += other.differing;
        self.become_unreadable += other.become_unreadable;
        self.become_readable += other.become_readable;
        self.unreadable_in_both += other.unreadable_in_both;
        self.not_finite += other.not_finite;
        self.largest_difference = self.largest_difference.max(other.largest_difference);
        self.largest_ulps = self.largest_ulps.max(other.largest_ulps);
        keep_lowest(&mut self.first_difference, other.first_difference, |c| {
            c.code
        });
        keep_lowest(&mut self.first_unreadable, other.first_unreadable, |c| {
            c.code
        });
    }

    /// What the differences mean for a reader.
    ///
    /// Codes that neither chain decodes change nothing. One that only the new chain decodes is a difference: readers of
    /// the old chain got something, though not the same everywhere.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        if self.become_unreadable > 0 {
            Verdict::BecomesUnreadable
        } else if self.differing > 0 || self.become_readable > 0 {
            Verdict::Differs
        } else {
            Verdict::Identical
        }
    }
}

/// Replaces an example by one with a lower code.
fn keep_lowest<T: Copy>(kept: &mut Option<T>, other: Option<T>, code: impl Fn(&T) -> Scalar) {
    let Some(other) = other else { return };
    let lower = |kept: &T| rank(code(&other)) < rank(code(kept));
    if kept.as_ref().is_none_or(lower) {
        *kept = Some(other);
    }
}

/// Two chains between the same types, ready to be compared on decoding. Any number of threads may use one.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    old: &'a Pass,
    new: &'a Pass,
}

impl<'a> Comparison<'a> {
    /// Prepares to compare what two chains decode.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::StoredTypes`] and [`EquivalenceError::ArrayTypes`] where the chains do not lie between the same
    /// types.
    pub fn new(old: &'a BoundChain, new: &'a BoundChain) -> Result<Self, EquivalenceError> {
        if old.stored_type() != new.stored_type() {
            return Err(EquivalenceError::StoredTypes {
                old: old.stored_type(),
                new: new.stored_type(),
            });
        }
        if old.data_type() != new.data_type() {
            return Err(EquivalenceError::ArrayTypes {
                old: old.data_type(),
                new: new.data_type(),
            });
        }
        Ok(Self {
            old: old.pass(Direction::Decode),
            new: new.pass(Direction::Decode),
        })
    }

    /// The type of the codes.
    #[must_use]
    pub const fn stored_type(&self) -> DataType {
        self.old.source()
    }

    /// The type that the codes decode to.
    #[must_use]
    pub const fn data_type(&self) -> DataType {
        self.old.target()
    }

    /// Compares every code of the stored type, once.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::TooManyCodes`] for a stored type of more than 16 bits.
    pub fn exhaustive(&self) -> Result<Differences, EquivalenceError> {
        let stored = self.stored_type();
        if stored.bits() > 16 {
            return Err(EquivalenceError::TooManyCodes(stored));
        }
        self.stream(&elements(stored, all_codes(stored)))
    }

    /// Compares every code of a set, once.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::Codes`] for a set of another type than the stored one.
    pub fn restricted(&self, codes: &CodeSet) -> Result<Differences, EquivalenceError> {
        let stored = self.stored_type();
        if codes.data_type() != stored {
            return Err(EquivalenceError::Codes {
                codes: codes.data_type(),
                stored,
            });
        }
        self.stream(&elements(stored, codes.iter()))
    }

    /// Compares every element of `codes`, native endian.
    ///
    /// # Errors
    ///
    /// [`EquivalenceError::PartialElement`] where the bytes are no whole number of elements.
    pub fn stream(&self, codes: &[u8]) -> Result<Differences, EquivalenceError> {
        let stored = self.stored_type();
        let (from, to) = (stored.size(), self.data_type().size());
        if !codes.len().is_multiple_of(from) {
            return Err(EquivalenceError::PartialElement {
                bytes: codes.len(),
                stored,
            });
        }
        let block = if stored.bits() <= 16 {
            NARROW_BLOCK
        } else {
            BLOCK
        };
        let room = block.min(codes.len() / from) * to;
        let (mut old, mut new) = (Side::with_room(room), Side::with_room(room));
        let mut differences = Differences::default();
        for codes in codes.chunks(block * from) {
            let length = codes.len() / from * to;
            old.decode(self.old, codes, length);
            new.decode(self.new, codes, length);
            let tally = Tally {
                array: self.data_type(),
                stored,
                old: &old,
                new: &new,
            };
            tally.block(codes, length, &mut differences);
        }
        Ok(differences)
    }
}

/// Codes as native-endian elements.
fn elements(data_type: DataType, codes: impl Iterator<Item = Scalar>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for code in codes {
        let at = bytes.len();
        bytes.resize(at + data_type.size(), 0);
        code.write_ne_bytes(&mut bytes[at..]);
    }
    bytes
}

/// What one of the chains made of a block.
struct Side {
    values: Vec<u8>,
    /// In the order of elements.
    faults: Vec<ElementFault>,
}

impl Side {
    fn with_room(bytes: usize) -> Self {
        Self {
            values: vec![0; bytes],
            faults: Vec::new(),
        }
    }

    fn decode(&mut self, pass: &Pass, codes: &[u8], length: usize) {
        let Self { values, faults } = self;
        faults.clear();
        // Nothing breaks off, so the pass always goes to the end.
        let _ = pass.run(codes, &mut values[..length], &mut |fault| {
            faults.push(fault);
            ControlFlow::Continue(())
        });
    }
}

/// The comparison of one decoded block.
struct Tally<'a> {
    array: DataType,
    stored: DataType,
    old: &'a Side,
    new: &'a Side,
}

impl Tally<'_> {
    fn block(&self, codes: &[u8], length: usize, differences: &mut Differences) {
        let (old, new) = (&self.old.values[..length], &self.new.values[..length]);
        let elements = codes.len() / self.stored.size();
        differences.compared += elements as u64;
        let faultless = self.old.faults.is_empty() && self.new.faults.is_empty();
        if faultless && old == new {
            differences.identical += elements as u64;
        } else if faultless {
            self.values(0..elements, codes, differences);
        } else {
            self.around_faults(elements, codes, differences);
        }
    }

    /// Compares the values between elements on which a chain failed, and counts those.
    fn around_faults(&self, elements: usize, codes: &[u8], differences: &mut Differences) {
        let (mut old, mut new) = (self.old.faults.as_slice(), self.new.faults.as_slice());
        let mut done = 0;
        loop {
            let heads = [old.first(), new.first()];
            let Some(next) = heads.into_iter().flatten().map(|fault| fault.index).min() else {
                break;
            };
            self.values(done..next, codes, differences);
            done = next + 1;
            let [in_old, in_new] = heads.map(|head| head.filter(|fault| fault.index == next));
            old = &old[usize::from(in_old.is_some())..];
            new = &new[usize::from(in_new.is_some())..];
            match (in_old, in_new) {
                (Some(_), Some(_)) => differences.unreadable_in_both += 1,
                (Some(_), None) => differences.become_readable += 1,
                (None, Some(fault)) => {
                    differences.become_unreadable += 1;
                    let lost = LostCode {
                        code: fault.value,
                        old: element(self.array, &self.old.values, next),
                        fault: ChainFault {
                            codec: fault.codec,
                            fault: fault.fault,
                        },
                    };
                    keep_lowest(&mut differences.first_unreadable, Some(lost), |l| l.code);
                }
                (None, None) => {}
            }
        }
        self.values(done..elements, codes, differences);
    }

    /// Compares values that both chains decode.
    fn values(&self, range: Range<usize>, codes: &[u8], differences: &mut Differences) {
        match self.array.size() {
            1 => self.values_of::<1>(range, codes, differences),
            2 => self.values_of::<2>(range, codes, differences),
            4 => self.values_of::<4>(range, codes, differences),
            _ => self.values_of::<8>(range, codes, differences),
        }
    }

    fn values_of<const SIZE: usize>(
        &self,
        range: Range<usize>,
        codes: &[u8],
        differences: &mut Differences,
    ) {
        let bytes = range.start * SIZE..range.end * SIZE;
        let (old, _) = self.old.values[bytes.clone()].as_chunks::<SIZE>();
        let (new, _) = self.new.values[bytes].as_chunks::<SIZE>();
        let mut differing = 0;
        for (n, (old, new)) in old.iter().zip(new).enumerate() {
            if old == new {
                continue;
            }
            let [old, new] = [old, new].map(|bytes| Scalar::from_ne_bytes(self.array, bytes));
            match distance(old, new) {
                Some((difference, ulps)) => {
                    differences.largest_difference = differences.largest_difference.max(difference);
                    differences.largest_ulps = differences.largest_ulps.max(ulps);
                }
                None if old.is_nan() && new.is_nan() => continue,
                None => differences.not_finite += 1,
            }
            differing += 1;
            let code = element(self.stored, codes, range.start + n);
            let change = ValueChange { code, old, new };
            keep_lowest(&mut differences.first_difference, Some(change), |c| c.code);
        }
        differences.differing += differing;
        differences.identical += (range.end - range.start) as u64 - differing;
    }
}

/// The element at an index of a native-endian slice.
fn element(data_type: DataType, elements: &[u8], index: usize) -> Scalar {
    Scalar::from_ne_bytes(data_type, &elements[index * data_type.size()..])
}

/// The absolute difference of two elements of one type, and their distance in units in the last place; `None` where one
/// is not finite.
fn distance(a: Scalar, b: Scalar) -> Option<(f64, u64)> {
    if !a.is_finite() || !b.is_finite() {
        return None;
    }
    let ulps = rank(a).abs_diff(rank(b));
    let difference = if a.data_type().is_integer() {
        // Differences of 64-bit integers beyond 2^53 are rounded once; `ulps` has them exactly.
        #[expect(clippy::cast_precision_loss)]
        let difference = ulps as f64;
        difference
    } else {
        (a.to_f64() - b.to_f64()).abs()
    };
    Some((difference, ulps))
}

/// The place of an element among all finite ones of its type, by value: neighbours are one apart, and zeros of either
/// sign share a place.
fn rank(x: Scalar) -> u64 {
    const MIDDLE: u64 = 1 << 63;
    match x.data_type().layout() {
        Layout::Int { signed: false, .. } => x.bits(),
        Layout::Int { bits, signed: true } => {
            let unused = 64 - bits;
            let value = (x.bits() << unused).cast_signed() >> unused;
            value.cast_unsigned() ^ MIDDLE
        }
        Layout::Float(format) => {
            let magnitude = x.bits() & !format.sign_bit();
            if x.bits() == magnitude {
                MIDDLE + magnitude
            } else {
                MIDDLE - magnitude
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::chain::bind;
    use crate::transform::fault::FaultKind;
    use crate::transform::literal::Literal;
    use crate::transform::parameters::{
        CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
    };
    use crate::transform::rounding::{OutOfRange, Rounding};
    use DataType::*;

    fn number(text: &str) -> Literal {
        Literal::Number(text.to_owned())
    }

    fn legacy(scale: &str, offset: &str, astype: DataType) -> Codec {
        Codec::FixedScaleOffset(FixedScaleOffsetParameters {
            scale: number(scale),
            offset: number(offset),
            dtype: None,
            astype: Some(astype),
            base: "/configuration",
        })
    }

    fn scale_offset(scale: &str, offset: &str) -> Codec {
        Codec::ScaleOffset(ScaleOffsetParameters {
            scale: Some(number(scale)),
            offset: Some(number(offset)),
        })
    }

    fn cast(data_type: DataType, rounding: Rounding, out_of_range: Option<OutOfRange>) -> Codec {
        Codec::CastValue(CastValueParameters {
            rounding,
            out_of_range,
            ..CastValueParameters::to(data_type)
        })
    }

    fn wrap(data_type: DataType) -> Codec {
        cast(
            data_type,
            Rounding::NearestEven,
            data_type.is_integer().then_some(OutOfRange::Wrap),
        )
    }

    fn chain(data_type: DataType, codecs: &[Codec]) -> BoundChain {
        let binding = bind(data_type, None, codecs);
        binding
            .chain
            .unwrap_or_else(|| panic!("{:?}", binding.problems))
    }

    fn integer(data_type: DataType, value: i128) -> Scalar {
        Scalar::from_integer(data_type, value).unwrap()
    }

    /// The legacy codec against its plain conversion, on all codes.
    fn plain(decoded: DataType, stored: DataType, scale: &str, offset: &str) -> Differences {
        let old = chain(decoded, &[legacy(scale, offset, stored)]);
        let new = chain(decoded, &[scale_offset(scale, offset), wrap(stored)]);
        Comparison::new(&old, &new).unwrap().exhaustive().unwrap()
    }

    /// The legacy codec against the conversion by way of float64, on all codes.
    fn exact(decoded: DataType, stored: DataType, scale: &str, offset: &str) -> Differences {
        let old = chain(decoded, &[legacy(scale, offset, stored)]);
        let (rounding, out_of_range) = if decoded.is_integer() {
            (Rounding::TowardsZero, None)
        } else {
            (Rounding::NearestEven, Some(OutOfRange::Clamp))
        };
        let first = cast(Float64, rounding, out_of_range);
        let new = chain(decoded, &[first, scale_offset(scale, offset), wrap(stored)]);
        Comparison::new(&old, &new).unwrap().exhaustive().unwrap()
    }

    #[test]
    fn plain_conversions_differ_as_measured_with_numpy() {
        // Scale, offset, and for uint16 and int16: percent of codes that differ, largest distance.
        let measured = [
            ("0.1", "10", [(0.0, 0), (0.0, 0)]),
            ("100", "273.15", [(27.48, 1), (40.74, 22282)]),
            ("10000", "-0.1", [(30.67, 279), (32.62, 279)]),
            ("1e6", "1000", [(0.0, 0), (0.0, 0)]),
            ("256", "0", [(0.0, 0), (0.0, 0)]),
            ("100", "5", [(1.31, 1), (3.94, 246)]),
            ("3", "7", [(0.25, 1), (0.48, 5)]),
        ];
        for (scale, offset, expected) in measured {
            for (stored, (percent, ulps)) in [UInt16, Int16].into_iter().zip(expected) {
                let found = plain(Float32, stored, scale, offset);
                assert_eq!(found.compared, 65536);
                assert_eq!(found.identical + found.differing, 65536);
                let share = found.differing as f64 / 655.36;
                let context = format!("{scale} {offset} {stored} {found:?}");
                assert!((share - percent).abs() < 0.005, "{context}");
                assert_eq!(found.largest_ulps, ulps, "{context}");
                let verdict = if ulps == 0 {
                    Verdict::Identical
                } else {
                    Verdict::Differs
                };
                assert_eq!(found.verdict(), verdict, "{context}");
                assert_eq!(found.first_difference.is_some(), ulps > 0, "{context}");
                assert_eq!(found.largest_difference > 0.0, ulps > 0, "{context}");
            }
            for stored in [UInt8, Int8, UInt16, Int16] {
                let found = plain(Float64, stored, scale, offset);
                assert_eq!(
                    found.verdict(),
                    Verdict::Identical,
                    "float64 {scale} {offset}"
                );
            }
        }
    }

    #[test]
    fn exact_conversions_are_identical() {
        for (scale, offset) in [
            ("100", "273.15"),
            ("10000", "-0.1"),
            ("3", "7"),
            ("1e-40", "0"),
        ] {
            for stored in [UInt8, Int8, UInt16, Int16] {
                for decoded in [Float32, Float16] {
                    let found = exact(decoded, stored, scale, offset);
                    assert_eq!(
                        found.identical, found.compared,
                        "{decoded} {stored} {scale}"
                    );
                    assert_eq!(found.verdict(), Verdict::Identical);
                }
            }
        }
    }

    #[test]
    fn codes_whose_value_is_undefined_are_unreadable_in_both() {
        let found = exact(Int8, Int16, "2", "0.5");
        // -128.5 and 127.5 are the last values that truncate into int8.
        assert_eq!(found.identical, 2 * 128 + 2 * 128 - 1 + 2);
        assert_eq!(found.unreadable_in_both, 65536 - found.identical);
        assert_eq!(found.verdict(), Verdict::Identical);
    }

    #[test]
    fn integer_codes_that_the_scale_does_not_divide_become_unreadable() {
        let old = chain(Int32, &[legacy("3", "0", Int32)]);
        let new = chain(Int32, &[scale_offset("3", "0")]);
        let comparison = Comparison::new(&old, &new).unwrap();
        let codes = [5, 0, 1, 2, 3].map(|code| integer(Int32, code));
        let found = comparison
            .stream(&elements(Int32, codes.into_iter()))
            .unwrap();
        assert_eq!((found.compared, found.identical), (5, 2));
        assert_eq!((found.differing, found.become_unreadable), (0, 3));
        assert_eq!(found.verdict(), Verdict::BecomesUnreadable);
        let first = found.first_unreadable.unwrap();
        assert_eq!(first.code, integer(Int32, 1));
        assert_eq!(first.old, integer(Int32, 0));
        assert_eq!(first.fault.codec, 0);
        assert_eq!(first.fault.fault.kind, FaultKind::Remainder);
        assert_eq!(
            comparison.exhaustive(),
            Err(EquivalenceError::TooManyCodes(Int32))
        );
    }

    #[test]
    fn codes_of_the_legacy_codec_that_are_undefined_become_readable() {
        let old = chain(Int8, &[legacy("1", "0", Int16)]);
        let new = chain(Int8, &[wrap(Int16)]);
        let found = Comparison::new(&old, &new).unwrap().exhaustive().unwrap();
        assert_eq!((found.identical, found.become_readable), (256, 65536 - 256));
        assert_eq!(found.verdict(), Verdict::Differs);
        let back = Comparison::new(&new, &old).unwrap().exhaustive().unwrap();
        assert_eq!(back.become_unreadable, found.become_readable);
        let first = back.first_unreadable.unwrap();
        assert_eq!(
            (first.code, first.old),
            (integer(Int16, -32768), integer(Int8, 0))
        );
    }

    #[test]
    fn a_subset_of_codes_has_its_own_verdict() {
        let old = chain(Int16, &[legacy("3", "0", Int16)]);
        let new = chain(Int16, &[scale_offset("3", "0")]);
        let comparison = Comparison::new(&old, &new).unwrap();
        let all = comparison.exhaustive().unwrap();
        assert_eq!(all.verdict(), Verdict::BecomesUnreadable);
        assert_eq!(all.become_unreadable, 65536 - 21845);
        let mut used = CodeSet::new(Int16).unwrap();
        let codes = [300, -6, 0, 300].map(|code| integer(Int16, code));
        used.insert_elements(&elements(Int16, codes.into_iter()));
        let found = comparison.restricted(&used).unwrap();
        assert_eq!((found.compared, found.identical), (3, 3));
        assert_eq!(found.verdict(), Verdict::Identical);
        used.insert(integer(Int16, 7));
        let found = comparison.restricted(&used).unwrap();
        assert_eq!((found.compared, found.become_unreadable), (4, 1));
        let empty = CodeSet::new(Int16).unwrap();
        assert_eq!(comparison.restricted(&empty), Ok(Differences::default()));
    }

    #[test]
    fn code_sets() {
        let mut set = CodeSet::new(Int4).unwrap();
        assert!(set.is_empty());
        // The upper bits of a byte do not count.
        set.insert_elements(&[0xff, 0x0f, 0x13]);
        let codes: Vec<_> = set.iter().filter_map(Scalar::integer).collect();
        assert_eq!(codes, [3, -1]);
        assert_eq!((set.len(), set.missing().count()), (2, 14));
        assert!(!set.is_empty());
        assert!(set.contains(integer(Int4, -1)) && !set.contains(integer(Int4, 1)));
        let mut other = CodeSet::new(Int4).unwrap();
        other.insert(integer(Int4, -8));
        other.insert(integer(Int4, 3));
        set.merge(&other).unwrap();
        assert_eq!(set.len(), 3);
        let wrong = EquivalenceError::Codes {
            codes: UInt16,
            stored: Int4,
        };
        let wide = CodeSet::new(UInt16).unwrap();
        assert_eq!(set.merge(&wide), Err(wrong));
        assert_eq!(wide.missing().count(), 65536);
        assert_eq!(
            CodeSet::new(Float32),
            Err(EquivalenceError::TooManyCodes(Float32))
        );
    }

    #[test]
    fn zeros_of_different_sign_differ_and_nans_do_not() {
        let old = chain(Float32, &[]);
        let new = chain(Float32, &[scale_offset("1", "0")]);
        let bits = [
            0x8000_0000,
            0x7fa0_0001,
            0xffc0_1234,
            0x3f80_0000,
            0x7f80_0000,
        ];
        let codes = bits.map(|bits| Scalar::from_bits(Float32, bits));
        let codes = elements(Float32, codes.into_iter());
        let found = Comparison::new(&old, &new).unwrap().stream(&codes).unwrap();
        assert_eq!(
            (found.identical, found.differing, found.not_finite),
            (4, 1, 0)
        );
        assert_eq!((found.largest_difference, found.largest_ulps), (0.0, 0));
        let zero = Scalar::from_bits(Float32, 0);
        let negative = Scalar::from_bits(Float32, 0x8000_0000);
        let change = ValueChange {
            code: negative,
            old: negative,
            new: zero,
        };
        assert_eq!(found.first_difference, Some(change));
        assert_eq!(found.verdict(), Verdict::Differs);
    }

    #[test]
    fn infinities_have_no_distance() {
        let old = chain(Float32, &[legacy("1e-38", "0", UInt8)]);
        let first = cast(Float64, Rounding::NearestEven, Some(OutOfRange::Clamp));
        let new = chain(Float32, &[first, scale_offset("2e-38", "0"), wrap(UInt8)]);
        let found = Comparison::new(&old, &new).unwrap().exhaustive().unwrap();
        // Code 3 is 3e38 and 1.5e38; 4 to 6 are infinite with the first scale only, and the rest with both.
        assert_eq!(
            (found.identical, found.differing, found.not_finite),
            (250, 6, 3)
        );
        assert_eq!(found.first_difference.unwrap().code, integer(UInt8, 1));
        assert!((found.largest_difference - 1.5e38).abs() < 1e32);
        assert_eq!(found.largest_ulps, 1 << 23);
    }

    #[test]
    fn nan_on_one_side_is_a_difference_without_a_distance() {
        let plain = chain(Float32, &[wrap(UInt8)]);
        let missing = Codec::CastValue(CastValueParameters {
            decode: vec![(number("255"), Literal::String("NaN".to_owned()))],
            ..CastValueParameters::to(UInt8)
        });
        let mapped = chain(Float32, &[missing]);
        for (old, new) in [(&plain, &mapped), (&mapped, &plain)] {
            let found = Comparison::new(old, new).unwrap().exhaustive().unwrap();
            assert_eq!(
                (found.identical, found.differing, found.not_finite),
                (255, 1, 1)
            );
            assert_eq!(found.first_difference.unwrap().code, integer(UInt8, 255));
            assert_eq!((found.largest_difference, found.largest_ulps), (0.0, 0));
        }
    }

    #[test]
    fn distances_of_the_widest_integers_are_exact() {
        let old = chain(UInt64, &[]);
        let new = chain(UInt64, &[scale_offset("1", "18446744073709551615")]);
        let codes = elements(UInt64, [integer(UInt64, 0)].into_iter());
        let found = Comparison::new(&old, &new).unwrap().stream(&codes).unwrap();
        assert_eq!(found.largest_ulps, u64::MAX);
        assert_eq!(found.largest_difference, 2_f64.powi(64));
        let least = rank(integer(Int64, i64::MIN.into()));
        let most = rank(integer(Int64, i64::MAX.into()));
        assert_eq!(most - least, u64::MAX);
        assert_eq!(rank(integer(Int4, 1)) - rank(integer(Int4, -1)), 2);
    }

    #[test]
    fn neighbours_are_one_apart_in_every_float_type() {
        for t in DataType::ALL
            .into_iter()
            .filter(|t| t.is_float() && t.bits() <= 16)
        {
            let mut finite: Vec<_> = all_codes(t).filter(|x| x.is_finite()).collect();
            finite.sort_by(|a, b| a.compare(*b).unwrap());
            for pair in finite.windows(2) {
                let step = u64::from(!pair[0].equals(pair[1]));
                assert_eq!(rank(pair[1]) - rank(pair[0]), step, "{t} {pair:?}");
            }
        }
    }

    #[test]
    fn parts_merge_into_the_whole_in_any_order() {
        let old = chain(Int16, &[legacy("1", "0.25", Int32)]);
        let new = chain(Int16, &[wrap(Int32)]);
        let comparison = Comparison::new(&old, &new).unwrap();
        let codes = (0..20_000_i128).map(|n| integer(Int32, (n * 7_919_993) % 400_000 - 200_000));
        let codes = elements(Int32, codes);
        let whole = comparison.stream(&codes).unwrap();
        assert!(whole.differing > 0 && whole.become_readable > 0 && whole.identical > 0);
        for part in [4, 4000, 16384, 16388, 60_000] {
            let parts: Vec<_> = codes
                .chunks(part)
                .map(|codes| comparison.stream(codes).unwrap())
                .collect();
            let (mut forth, mut back) = (Differences::default(), Differences::default());
            parts.iter().for_each(|part| forth.merge(part));
            parts.iter().rev().for_each(|part| back.merge(part));
            assert_eq!(forth, whole);
            assert_eq!(back, whole);
        }
        let (front, rest) = codes.split_at(36_000);
        let mut merged = Differences::default();
        std::thread::scope(|scope| {
            let threads = [front, rest].map(|part| scope.spawn(|| comparison.stream(part)));
            for thread in threads {
                merged.merge(&thread.join().unwrap().unwrap());
            }
        });
        assert_eq!(merged, whole);
    }

    #[test]
    fn merging_adds_counts_and_keeps_the_largest_and_the_lowest() {
        let change = |code| ValueChange {
            code: integer(Int8, code),
            old: integer(Int8, 0),
            new: integer(Int8, 1),
        };
        let one = Differences {
            compared: 100,
            identical: 50,
            differing: 20,
            become_unreadable: 15,
            become_readable: 10,
            unreadable_in_both: 5,
            not_finite: 3,
            largest_difference: 0.5,
            largest_ulps: 9,
            first_difference: Some(change(-3)),
            first_unreadable: None,
        };
        let other = Differences {
            compared: 10,
            identical: 4,
            differing: 3,
            become_unreadable: 1,
            become_readable: 1,
            unreadable_in_both: 1,
            not_finite: 2,
            largest_difference: 0.75,
            largest_ulps: 4,
            first_difference: Some(change(2)),
            first_unreadable: None,
        };
        let expected = Differences {
            compared: 110,
            identical: 54,
            differing: 23,
            become_unreadable: 16,
            become_readable: 11,
            unreadable_in_both: 6,
            not_finite: 5,
            largest_difference: 0.75,
            largest_ulps: 9,
            first_difference: Some(change(-3)),
            first_unreadable: None,
        };
        for (a, b) in [(&one, &other), (&other, &one)] {
            let mut merged = a.clone();
            merged.merge(b);
            assert_eq!(merged, expected);
        }
        let mut same = one.clone();
        same.merge(&Differences::default());
        assert_eq!(same, one);
    }

    #[test]
    fn chains_between_other_types_are_refused() {
        let packed = chain(Float32, &[wrap(UInt8)]);
        let wider = chain(Float32, &[wrap(UInt16)]);
        let double = chain(Float64, &[wrap(UInt8)]);
        let error = Comparison::new(&packed, &wider).unwrap_err();
        assert_eq!(
            error.to_string(),
            "one chain stores uint8, the other uint16"
        );
        let error = Comparison::new(&packed, &double).unwrap_err();
        assert_eq!(
            error.to_string(),
            "one chain decodes to float32, the other to float64"
        );
        let same = Comparison::new(&wider, &wider).unwrap();
        let error = same.stream(&[1, 2, 3]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "3 bytes are no whole number of uint16 elements"
        );
        assert!(same.restricted(&CodeSet::new(UInt8).unwrap()).is_err());
        assert_eq!((same.stored_type(), same.data_type()), (UInt16, Float32));
    }
}
