//! Lookup tables of a whole chain, for source types of up to 16 bits.

use super::Kernel;
use super::element::{Element, transform};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What every code of a type of up to 16 bits becomes.
#[derive(Debug)]
pub(in crate::transform) struct Table {
    wide_source: bool,
    entries: Entries,
    /// One flag for each code that fails; empty where none does.
    faulty: Vec<bool>,
}

#[derive(Debug)]
enum Entries {
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

impl Table {
    /// Tabulates `definition` for every code of `source`.
    ///
    /// Codes of less than 8 bits have one entry for each byte, since bits that the type does not use are ignored.
    pub(in crate::transform) fn build(
        source: DataType,
        target: DataType,
        definition: impl Fn(Scalar) -> Option<Scalar>,
    ) -> Self {
        let codes = 0..1_u64 << (source.size() * 8);
        let results: Vec<_> = codes
            .map(|code| definition(Scalar::from_bits(source, code)))
            .collect();
        let bits = || results.iter().map(|r| r.map_or(0, Scalar::bits));
        // Every bit pattern of the target has its size.
        #[expect(clippy::cast_possible_truncation)]
        let entries = match target.size() {
            1 => Entries::One(bits().map(|b| b as u8).collect()),
            2 => Entries::Two(bits().map(|b| b as u16).collect()),
            4 => Entries::Four(bits().map(|b| b as u32).collect()),
            _ => Entries::Eight(bits().collect()),
        };
        let faulty: Vec<bool> = results.iter().map(Option::is_none).collect();
        Self {
            wide_source: source.size() == 2,
            entries,
            faulty: if faulty.contains(&true) {
                faulty
            } else {
                Vec::new()
            },
        }
    }

    fn block<S: Element + Into<u16>, T: Element>(
        &self,
        entries: &[T],
        source: &[u8],
        target: &mut [u8],
    ) -> bool {
        let entry = |code: S| usize::from(code.into());
        if self.faulty.is_empty() {
            transform(source, target, |code: S| entries[entry(code)]);
            return true;
        }
        let mut bad = false;
        transform(source, target, |code: S| {
            bad |= self.faulty[entry(code)];
            entries[entry(code)]
        });
        !bad
    }

    fn entries<T: Element>(&self, entries: &[T], source: &[u8], target: &mut [u8]) -> bool {
        if self.wide_source {
            self.block::<u16, T>(entries, source, target)
        } else {
            self.block::<u8, T>(entries, source, target)
        }
    }
}

impl Kernel for Table {
    fn run(&self, source: &[u8], target: &mut [u8]) -> bool {
        match &self.entries {
            Entries::One(entries) => self.entries(entries, source, target),
            Entries::Two(entries) => self.entries(entries, source, target),
            Entries::Four(entries) => self.entries(entries, source, target),
            Entries::Eight(entries) => self.entries(entries, source, target),
        }
    }

    fn target_size(&self) -> usize {
        match self.entries {
            Entries::One(_) => 1,
            Entries::Two(_) => 2,
            Entries::Four(_) => 4,
            Entries::Eight(_) => 8,
        }
    }
}
