//! Which codes occur: all of them for narrow types, for wide ones their range and a few that are watched.

use super::data_type::{DataType, Layout};
use super::equivalence::CodeSet;
use super::scalar::Scalar;

/// Elements that are looked at before it is asked whether there is more to find.
const BLOCK: usize = 1 << 12;

/// What is known of the codes that were counted. Parts of the data can be counted apart and merged in any order.
#[derive(Clone, Debug)]
pub struct Census {
    data_type: DataType,
    watched: Vec<(Scalar, bool)>,
    found: Found,
}

#[derive(Clone, Debug)]
enum Found {
    /// For each code of up to 16 bits whether it occurs. A byte each: bits would have to be read before they are written.
    Codes(Box<[bool]>),
    /// The least and the greatest place of a code in the order of its type.
    Range(Option<(i64, i64)>),
}

impl Census {
    /// Nothing counted yet. Of wide types, those codes are looked for that equal a watched one numerically.
    #[must_use]
    pub fn new(data_type: DataType, watch: &[Scalar]) -> Self {
        let found = if data_type.bits() <= 16 {
            Found::Codes(vec![false; 1 << (8 * data_type.size())].into())
        } else {
            Found::Range(None)
        };
        Self {
            data_type,
            watched: watch.iter().map(|code| (*code, false)).collect(),
            found,
        }
    }

    /// Counts every element of `codes`, native endian; bytes behind the last whole element are not looked at.
    pub fn add(&mut self, codes: &[u8]) {
        match &mut self.found {
            Found::Codes(seen) => add_codes(seen, codes),
            Found::Range(range) => {
                widen(range, wide_range(self.data_type, codes));
                for (code, seen) in &mut self.watched {
                    *seen = *seen || occurs(*code, codes);
                }
            }
        }
    }

    /// Adds what was counted of other data, with the same type and the same watched codes.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.found, &other.found) {
            (Found::Codes(seen), Found::Codes(more)) => {
                for (seen, more) in seen.iter_mut().zip(more) {
                    *seen |= more;
                }
            }
            (Found::Range(range), Found::Range(more)) => widen(range, *more),
            _ => {}
        }
        for ((_, seen), (_, more)) in self.watched.iter_mut().zip(&other.watched) {
            *seen |= more;
        }
    }

    /// All codes that occur, for types of up to 16 bits.
    #[must_use]
    pub fn codes(&self) -> Option<CodeSet> {
        let Found::Codes(seen) = &self.found else {
            return None;
        };
        let mut set = CodeSet::new(self.data_type).ok()?;
        for (code, _) in (0..).zip(seen).filter(|(_, seen)| **seen) {
            set.insert(Scalar::from_bits(self.data_type, code));
        }
        Some(set)
    }

    /// For each watched code, in order, whether one that equals it numerically occurs.
    #[must_use]
    pub fn watched(&self) -> Vec<bool> {
        let codes = self.codes();
        let occurs = |(code, seen): &(Scalar, bool)| match &codes {
            Some(codes) => codes.iter().any(|other| other.equals(*code)),
            None => *seen,
        };
        self.watched.iter().map(occurs).collect()
    }

    /// The least and the greatest code in numerical order, without NaN; -0.0 comes before 0.0.
    #[must_use]
    pub fn range(&self) -> Option<(Scalar, Scalar)> {
        match &self.found {
            Found::Codes(_) => {
                let codes = self.codes()?;
                let numbers = || codes.iter().filter(|code| !code.is_nan());
                let place = |code: &Scalar| (code.ordinal(), !is_negative_zero(*code));
                Some((numbers().min_by_key(place)?, numbers().max_by_key(place)?))
            }
            Found::Range(range) => {
                let (least, greatest) = (*range)?;
                let at = |place| Scalar::from_bits(self.data_type, bits(self.data_type, place));
                Some((at(least), at(greatest)))
            }
        }
    }
}

fn is_negative_zero(code: Scalar) -> bool {
    code.data_type().is_float() && code.is_zero() && code.bits() != 0
}

fn widen(range: &mut Option<(i64, i64)>, more: Option<(i64, i64)>) {
    *range = match (*range, more) {
        (Some((least, greatest)), Some((low, high))) => Some((least.min(low), greatest.max(high))),
        (known, more) => known.or(more),
    };
}

fn add_codes(seen: &mut [bool], codes: &[u8]) {
    if let Ok(seen) = <&mut [bool; 256]>::try_from(&mut *seen) {
        for block in codes.chunks(BLOCK) {
            // Data that holds every code is common, and there is nothing more to find.
            if seen.iter().all(|seen| *seen) {
                return;
            }
            for code in block {
                seen[usize::from(*code)] = true;
            }
        }
    } else if let Ok(seen) = <&mut [bool; 65536]>::try_from(seen) {
        for code in codes.as_chunks::<2>().0 {
            seen[usize::from(u16::from_ne_bytes(*code))] = true;
        }
    }
}

/// The places of the least and the greatest element. Each type has its own loop, which the compiler can make one of vectors.
fn wide_range(data_type: DataType, codes: &[u8]) -> Option<(i64, i64)> {
    let signed = !matches!(data_type.layout(), Layout::Int { signed: false, .. });
    match (data_type.size(), data_type.is_float(), signed) {
        (4, true, _) => places(codes.as_chunks::<4>().0, |code| {
            float32_place(u32::from_ne_bytes(*code))
        })
        .map(|(least, greatest)| (i64::from(least), i64::from(greatest))),
        (4, false, true) => places(codes.as_chunks::<4>().0, |code| {
            let place = i32::from_ne_bytes(*code);
            (place, place)
        })
        .map(|(least, greatest)| (i64::from(least), i64::from(greatest))),
        (4, false, false) => places(codes.as_chunks::<4>().0, |code| {
            let place = (u32::from_ne_bytes(*code) ^ 1 << 31).cast_signed();
            (place, place)
        })
        .map(|(least, greatest)| (i64::from(least), i64::from(greatest))),
        (_, true, _) => places(codes.as_chunks::<8>().0, |code| {
            float64_place(u64::from_ne_bytes(*code))
        }),
        (_, false, true) => places(codes.as_chunks::<8>().0, |code| {
            let place = i64::from_ne_bytes(*code);
            (place, place)
        }),
        (_, false, false) => places(codes.as_chunks::<8>().0, |code| {
            let place = (u64::from_ne_bytes(*code) ^ 1 << 63).cast_signed();
            (place, place)
        }),
    }
}

/// The least and the greatest of what each element contributes to either; a NaN contributes what no number is beyond.
fn places<T, const SIZE: usize>(
    codes: &[[u8; SIZE]],
    place: impl Fn(&[u8; SIZE]) -> (T, T),
) -> Option<(T, T)>
where
    T: Ord + Copy,
{
    let (mut least, mut greatest) = place(codes.first()?);
    for code in codes {
        let (low, high) = place(code);
        least = least.min(low);
        greatest = greatest.max(high);
    }
    (least <= greatest).then_some((least, greatest))
}

/// The place of a float, whose bits are sign and magnitude, among all of its type.
const fn float32_place(bits: u32) -> (i32, i32) {
    let place = flip32(bits.cast_signed());
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    if nan {
        (i32::MAX, i32::MIN)
    } else {
        (place, place)
    }
}

const fn float64_place(bits: u64) -> (i64, i64) {
    let place = flip64(bits.cast_signed());
    let nan = bits & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000;
    if nan {
        (i64::MAX, i64::MIN)
    } else {
        (place, place)
    }
}

/// Turns the order of negative numbers round; its own inverse.
const fn flip32(bits: i32) -> i32 {
    bits ^ ((bits >> 31) & i32::MAX)
}

const fn flip64(bits: i64) -> i64 {
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The bits of the element at a place.
fn bits(data_type: DataType, place: i64) -> u64 {
    // A place of a type of 32 bits is a number of 32 bits.
    let narrow = i32::try_from(place).unwrap_or_default();
    match (data_type.layout(), data_type.size()) {
        (Layout::Float(_), 4) => u64::from(flip32(narrow).cast_unsigned()),
        (Layout::Float(_), _) => flip64(place).cast_unsigned(),
        (Layout::Int { signed: true, .. }, 4) => u64::from(narrow.cast_unsigned()),
        (Layout::Int { signed: true, .. }, _) => place.cast_unsigned(),
        (Layout::Int { signed: false, .. }, 4) => u64::from(narrow.cast_unsigned() ^ 1 << 31),
        (Layout::Int { signed: false, .. }, _) => place.cast_unsigned() ^ 1 << 63,
    }
}

/// Whether an element equals a wide code numerically.
fn occurs(code: Scalar, codes: &[u8]) -> bool {
    // Clearing a bit, or none, makes zeros of either sign one; all NaNs lie beyond the infinity.
    match (code.data_type().size(), code.data_type().layout()) {
        (4, Layout::Float(_)) if code.is_nan() => any(codes.as_chunks::<4>().0, |other| {
            u32::from_ne_bytes(*other) & 0x7fff_ffff > 0x7f80_0000
        }),
        (8, Layout::Float(_)) if code.is_nan() => any(codes.as_chunks::<8>().0, |other| {
            u64::from_ne_bytes(*other) & (u64::MAX >> 1) > 0x7ff0_0000_0000_0000
        }),
        (4, _) => {
            let mut bytes = [0; 4];
            code.write_ne_bytes(&mut bytes);
            let bits = u32::from_ne_bytes(bytes);
            let mask = if zero_of_float(code) {
                u32::MAX >> 1
            } else {
                u32::MAX
            };
            any(codes.as_chunks::<4>().0, |other| {
                u32::from_ne_bytes(*other) & mask == bits & mask
            })
        }
        (8, _) => {
            let mask = if zero_of_float(code) {
                u64::MAX >> 1
            } else {
                u64::MAX
            };
            any(codes.as_chunks::<8>().0, |other| {
                u64::from_ne_bytes(*other) & mask == code.bits() & mask
            })
        }
        _ => false,
    }
}

fn zero_of_float(code: Scalar) -> bool {
    code.data_type().is_float() && code.is_zero()
}

/// Whether there is one, block by block: a loop that may end at every element does not become one of vectors.
fn any<const SIZE: usize>(codes: &[[u8; SIZE]], is: impl Fn(&[u8; SIZE]) -> bool) -> bool {
    let mut blocks = codes.chunks(BLOCK);
    blocks.any(|block| block.iter().fold(false, |found, code| found | is(code)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataType::*;

    fn scalars(data_type: DataType, bits: &[u64]) -> Vec<Scalar> {
        let scalars = bits.iter().map(|bits| Scalar::from_bits(data_type, *bits));
        scalars.collect()
    }

    fn bytes(codes: &[Scalar]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for code in codes {
            let mut element = [0; 8];
            code.write_ne_bytes(&mut element);
            bytes.extend_from_slice(&element[..code.data_type().size()]);
        }
        bytes
    }

    /// Bits that are something special in some type.
    fn interesting() -> Vec<u64> {
        let mut all = vec![0, 1, 2, 3, 0x7f, 0x80, 0xff];
        for width in [16, 32, 64] {
            let top = 1_u64 << (width - 1);
            all.extend([top - 1, top, top + 1, u64::MAX >> (64 - width)]);
        }
        all.extend([0x3c00, 0x7c00, 0xfc00, 0x7e01, 0x7f80, 0xff80]);
        all.extend([0x3f80_0000, 0x7f80_0000, 0xff80_0000, 0xffc0_0001]);
        all.extend([0x3ff0 << 48, 0x7ff0 << 48, 0xfff0 << 48, 0xfff8 << 48 | 1]);
        all
    }

    #[test]
    fn all_types_agree_with_scalars_compared_one_by_one() {
        for data_type in DataType::ALL {
            let all = scalars(data_type, &interesting());
            for take in [
                &all[..],
                &all[..1],
                &all[3..9],
                &all[7..8],
                &all[8..10],
                &[],
            ] {
                let mut census = Census::new(data_type, &all);
                census.add(&bytes(take));
                let watched: Vec<bool> = all
                    .iter()
                    .map(|code| take.iter().any(|other| other.equals(*code)))
                    .collect();
                assert_eq!(census.watched(), watched, "{data_type}");
                let numbers: Vec<_> = take.iter().filter(|code| !code.is_nan()).collect();
                match census.range() {
                    None => assert!(numbers.is_empty(), "{data_type}"),
                    Some((least, greatest)) => {
                        assert!(take.contains(&least) && take.contains(&greatest));
                        for number in numbers {
                            assert!(number.ordinal() >= least.ordinal(), "{data_type}");
                            assert!(number.ordinal() <= greatest.ordinal(), "{data_type}");
                        }
                    }
                }
                match census.codes() {
                    None => assert!(data_type.bits() > 16),
                    Some(codes) => {
                        for code in &all {
                            assert_eq!(codes.contains(*code), take.contains(code), "{data_type}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn zeros_of_either_sign_are_told_apart_in_ranges_and_not_when_watched() {
        for (data_type, negative) in [
            (Float16, 0x8000),
            (Float32, 1 << 31),
            (Float64, 1_u64 << 63),
        ] {
            let [plus, minus] = [0, negative].map(|bits| Scalar::from_bits(data_type, bits));
            let mut census = Census::new(data_type, &[plus, minus]);
            census.add(&bytes(&[plus]));
            assert_eq!(census.watched(), [true, true]);
            assert_eq!(census.range(), Some((plus, plus)));
            census.add(&bytes(&[minus]));
            assert_eq!(census.range(), Some((minus, plus)), "{data_type}");
        }
    }

    #[test]
    fn nothing_but_nan_has_no_range() {
        for (data_type, nan) in [
            (Float16, 0x7e00),
            (Float32, 0xffff_ffff),
            (Float64, u64::MAX),
        ] {
            let nan = Scalar::from_bits(data_type, nan);
            let mut census = Census::new(data_type, &[Scalar::nan(data_type)]);
            census.add(&bytes(&[nan, nan]));
            assert_eq!(census.range(), None);
            assert_eq!(census.watched(), [true]);
        }
    }

    #[test]
    fn parts_merge_into_the_whole_in_any_order() {
        for data_type in DataType::ALL {
            let all = scalars(data_type, &interesting());
            let mut whole = Census::new(data_type, &all);
            whole.add(&bytes(&all));
            let parts: Vec<_> = all
                .chunks(5)
                .map(|part| {
                    let mut census = Census::new(data_type, &all);
                    census.add(&bytes(part));
                    census
                })
                .collect();
            let mut forward = Census::new(data_type, &all);
            let mut backward = forward.clone();
            parts.iter().for_each(|part| forward.merge(part));
            parts.iter().rev().for_each(|part| backward.merge(part));
            for merged in [forward, backward] {
                assert_eq!(merged.codes(), whole.codes());
                assert_eq!(merged.range(), whole.range());
                assert_eq!(merged.watched(), whole.watched());
            }
        }
    }

    #[test]
    fn codes_in_long_data_are_found_wherever_they_stand() {
        for data_type in [UInt8, Int16, UInt32, Float64] {
            for at in [0, BLOCK - 1, BLOCK, 3 * BLOCK - 1] {
                let needle = Scalar::from_bits(data_type, 77);
                let mut codes = vec![Scalar::from_bits(data_type, 5); 3 * BLOCK];
                codes[at] = needle;
                let mut census = Census::new(data_type, &[needle]);
                census.add(&bytes(&codes));
                assert_eq!(census.watched(), [true], "{data_type} at {at}");
                assert_eq!(census.range().unwrap().1, needle);
            }
        }
    }
}
