//! The distinct values of an array, as long as they are few.

/// How many distinct values count as few.
pub(super) const FEW: usize = 4096;

const SLOTS: usize = 2 * FEW;

/// A set of bit patterns that gives up beyond [`FEW`].
#[derive(Debug, Clone)]
pub(super) struct Distinct {
    /// An open hash table; `None` once there are too many.
    slots: Option<Vec<Option<u64>>>,
    count: usize,
    last: Option<u64>,
}

impl Distinct {
    pub(super) fn new() -> Self {
        Self {
            slots: Some(Vec::new()),
            count: 0,
            last: None,
        }
    }

    /// Adds values by their bits.
    pub(super) fn extend(&mut self, values: impl Iterator<Item = u64>) {
        for value in values {
            if self.slots.is_none() {
                return;
            }
            if self.last != Some(value) {
                self.last = Some(value);
                self.insert(value);
            }
        }
    }

    fn insert(&mut self, value: u64) {
        let Some(slots) = &mut self.slots else { return };
        if slots.is_empty() {
            slots.resize(SLOTS, None);
        }
        // Fibonacci hashing: the upper bits of the product are well mixed.
        let mut at = (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS;
        loop {
            match slots[at] {
                Some(known) if known == value => return,
                Some(_) => at = (at + 1) % SLOTS,
                None => break,
            }
        }
        slots[at] = Some(value);
        self.count += 1;
        if self.count > FEW {
            self.slots = None;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        match &other.slots {
            Some(slots) => self.extend(slots.iter().flatten().copied()),
            None => self.slots = None,
        }
    }

    /// How many there are, if they are few.
    pub(super) fn count(&self) -> Option<usize> {
        self.slots.as_ref().map(|_| self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_once_until_there_are_too_many() {
        let mut left = Distinct::new();
        left.extend([1, 1, 2, 1, u64::MAX].into_iter());
        let mut right = Distinct::new();
        right.extend(0..2);
        left.merge(&right);
        assert_eq!(left.count(), Some(4));
        right.extend(0..FEW as u64);
        assert_eq!(right.count(), Some(FEW));
        right.extend(FEW as u64..FEW as u64 + 1);
        assert_eq!(right.count(), None);
        left.merge(&right);
        assert_eq!(left.count(), None);
    }
}
