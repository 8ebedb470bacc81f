//! The first look at the data: what of them parameters depend on.

use super::distinct::Distinct;
use super::elements::{BLOCK, widen};
use super::grid::{BinaryGrid, DecimalGrid};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What was seen of the values. Parts merged in one order give the same, whoever looked at them.
#[derive(Debug, Clone)]
pub(super) struct Survey {
    data_type: DataType,
    /// Declared stand-ins for missing values, which are left out of what follows.
    stand_ins: Vec<StandIn>,
    pub(super) values: u64,
    pub(super) nan: u64,
    pub(super) positive_infinities: u64,
    pub(super) negative_infinities: u64,
    pub(super) zeros: u64,
    pub(super) negative_zeros: u64,
    /// The least and the greatest finite value that is no stand-in.
    pub(super) range: Option<(Scalar, Scalar)>,
    /// The least magnitude above zero.
    pub(super) least_magnitude: f64,
    pub(super) decimal: DecimalGrid,
    pub(super) binary: BinaryGrid,
    distinct: Distinct,
    /// Bits of some values, evenly spread.
    pub(super) sample: Vec<u64>,
}

/// A value that stands for missing ones, and how often it was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StandIn {
    pub(super) value: Scalar,
    pub(super) count: u64,
    /// Whether attributes say so; a fill may be one without.
    pub(super) declared: bool,
}

impl Survey {
    /// Nothing seen yet. `stand_ins` are looked for in their order; NaN is none.
    pub(super) fn new(data_type: DataType, stand_ins: &[Scalar]) -> Self {
        let stand_ins = stand_ins.iter().map(|value| StandIn {
            value: *value,
            count: 0,
            declared: true,
        });
        Self {
            data_type,
            stand_ins: stand_ins.collect(),
            values: 0,
            nan: 0,
            positive_infinities: 0,
            negative_infinities: 0,
            zeros: 0,
            negative_zeros: 0,
            range: None,
            least_magnitude: f64::INFINITY,
            decimal: DecimalGrid::new(data_type),
            binary: BinaryGrid::new(),
            distinct: Distinct::new(),
            sample: Vec::new(),
        }
    }

    /// Looks for the fill of the array as for stand-ins; [`Survey::split`] tells what it is.
    pub(super) fn with_fill(mut self, fill: Option<Scalar>) -> Self {
        let known = |value: Scalar| self.stand_ins.iter().any(|s| s.value.equals(value));
        if let Some(value) = fill.filter(|fill| fill.is_finite() && !known(*fill)) {
            self.stand_ins.push(StandIn {
                value,
                count: 0,
                declared: false,
            });
        }
        self
    }

    /// What was seen with fills that nothing declares counted among the values and, where those alone make the range wider,
    /// with them as stand-ins.
    pub(super) fn split(self) -> (Self, Option<Self>) {
        let mut whole = self.clone();
        whole.stand_ins.retain(|s| s.declared);
        let fills = self.stand_ins.iter().filter(|s| !s.declared && s.count > 0);
        for fill in fills {
            whole.absorb(*fill);
        }
        let wider = self.range.is_some() && whole.range != self.range;
        (whole, wider.then_some(self))
    }

    /// Counts a stand-in among the values.
    fn absorb(&mut self, stand_in: StandIn) {
        let StandIn { value, count, .. } = stand_in;
        self.widen_range(value, value);
        let double = value.to_f64();
        if double == 0.0 {
            self.zeros += count;
        }
        if self.data_type.is_integer() {
            self.distinct.extend(std::iter::once(value.bits()));
            return;
        }
        if double != 0.0 {
            self.least_magnitude = self.least_magnitude.min(double.abs());
        }
        self.binary.extend(&[double]);
        self.decimal.extend(&[double]);
        let bits = (double + 0.0).to_bits();
        self.distinct.extend(std::iter::once(bits));
    }

    /// Looks at native-endian elements, and keeps about `keep` of them as a sample; none for 0.
    pub(super) fn look(&mut self, elements: &[u8], keep: usize) {
        let size = self.data_type.size();
        let count = elements.len() / size;
        self.values += count as u64;
        let stride = count.div_ceil(keep.max(1)).max(1) * size;
        let kept = if keep == 0 { &[] } else { elements };
        for bytes in kept.chunks(stride) {
            if let Some(first) = bytes.get(..size) {
                let bits = Scalar::from_ne_bytes(self.data_type, first).bits();
                self.sample.push(bits);
            }
        }
        if self.data_type.is_integer() {
            self.look_at_integers(elements);
        } else {
            self.look_at_floats(elements);
        }
    }

    fn look_at_floats(&mut self, elements: &[u8]) {
        let size = self.data_type.size();
        let stand_ins: Vec<f64> = self.stand_ins.iter().map(|s| s.value.to_f64()).collect();
        let (mut doubles, mut kept) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for block in elements.chunks(BLOCK * size) {
            let doubles = &mut doubles[..block.len() / size];
            widen(self.data_type, block, doubles);
            for (value, stand_in) in stand_ins.iter().zip(&mut self.stand_ins) {
                stand_in.count += doubles.iter().filter(|x| *x == value).count() as u64;
            }
            // What is not regular goes out; where nothing branches, this runs at the pace of memory.
            let mut regular = 0;
            for x in &*doubles {
                kept[regular] = *x;
                let is_regular = x.is_finite() && !stand_ins.contains(x);
                regular += usize::from(is_regular);
            }
            if regular < doubles.len() {
                self.count_irregular(doubles);
                if stand_ins.contains(&0.0) {
                    let negative = doubles.iter().filter(|x| x.to_bits() == 1 << 63);
                    self.negative_zeros += negative.count() as u64;
                }
            }
            let kept = &kept[..regular];
            for x in kept {
                low = low.min(*x);
                high = high.max(*x);
                let magnitude = x.abs();
                if magnitude > 0.0 {
                    self.least_magnitude = self.least_magnitude.min(magnitude);
                }
                self.zeros += u64::from(magnitude == 0.0);
                self.negative_zeros += u64::from(x.to_bits() == 1 << 63);
            }
            self.binary.extend(kept);
            self.decimal.extend(kept);
            self.distinct
                .extend(kept.iter().map(|x| (x + 0.0).to_bits()));
        }
        self.add_range(low, high);
    }

    fn count_irregular(&mut self, doubles: &[f64]) {
        for x in doubles {
            self.nan += u64::from(x.is_nan());
            self.positive_infinities += u64::from(*x == f64::INFINITY);
            self.negative_infinities += u64::from(*x == f64::NEG_INFINITY);
        }
    }

    fn add_range(&mut self, low: f64, high: f64) {
        if low > high {
            return;
        }
        let of = |value| super::elements::exact(self.data_type, value);
        if let (Some(low), Some(high)) = (of(low), of(high)) {
            self.widen_range(low, high);
        }
    }

    fn look_at_integers(&mut self, elements: &[u8]) {
        let size = self.data_type.size();
        let stand_ins: Vec<_> = self.stand_ins.iter().map(|s| s.value.integer()).collect();
        let mut ends: Option<(i128, i128)> = None;
        for bytes in elements.chunks_exact(size) {
            let scalar = Scalar::from_ne_bytes(self.data_type, bytes);
            let integer = scalar.integer();
            if let Some(n) = stand_ins.iter().position(|value| *value == integer) {
                self.stand_ins[n].count += 1;
                continue;
            }
            let Some(integer) = integer else { continue };
            let (low, high) = ends.unwrap_or((integer, integer));
            ends = Some((low.min(integer), high.max(integer)));
            self.zeros += u64::from(integer == 0);
            self.distinct.extend(std::iter::once(scalar.bits()));
        }
        let of = |integer| Scalar::from_integer(self.data_type, integer);
        if let Some((low, high)) = ends
            && let (Some(low), Some(high)) = (of(low), of(high))
        {
            self.widen_range(low, high);
        }
    }

    /// Counts a range as seen.
    pub(super) fn widen_range(&mut self, low: Scalar, high: Scalar) {
        let (mut least, mut greatest) = self.range.unwrap_or((low, high));
        if low.compare(least).is_some_and(|order| order.is_lt()) {
            least = low;
        }
        if high.compare(greatest).is_some_and(|order| order.is_gt()) {
            greatest = high;
        }
        self.range = Some((least, greatest));
    }

    /// Adds what was seen of another part.
    pub(super) fn merge(&mut self, other: &Self) {
        self.values += other.values;
        self.nan += other.nan;
        self.positive_infinities += other.positive_infinities;
        self.negative_infinities += other.negative_infinities;
        self.zeros += other.zeros;
        self.negative_zeros += other.negative_zeros;
        for theirs in &other.stand_ins {
            match self.stand_ins.iter_mut().find(|s| s.value == theirs.value) {
                Some(ours) => {
                    ours.count += theirs.count;
                    ours.declared |= theirs.declared;
                }
                None => self.stand_ins.push(*theirs),
            }
        }
        if let Some((low, high)) = other.range {
            self.widen_range(low, high);
        }
        self.least_magnitude = self.least_magnitude.min(other.least_magnitude);
        self.decimal.merge(&other.decimal);
        self.binary.merge(other.binary);
        self.distinct.merge(&other.distinct);
        self.sample.extend_from_slice(&other.sample);
    }

    /// The stand-ins that were looked for, in order.
    pub(super) fn stand_ins(&self) -> &[StandIn] {
        &self.stand_ins
    }

    /// How many distinct regular values there are, if they are few.
    pub(super) fn distinct(&self) -> Option<usize> {
        self.distinct.count()
    }

    /// The sample and the ends of the range as native-endian elements.
    pub(super) fn sample_elements(&self) -> Vec<u8> {
        let size = self.data_type.size();
        let ends = self
            .range
            .iter()
            .flat_map(|(low, high)| [low.bits(), high.bits()]);
        let sample: Vec<u64> = self.sample.iter().copied().chain(ends).collect();
        let mut bytes = vec![0; sample.len() * size];
        for (bits, bytes) in sample.iter().zip(bytes.chunks_exact_mut(size)) {
            Scalar::from_bits(self.data_type, *bits).write_ne_bytes(bytes);
        }
        bytes
    }

    /// The regular values of the sample as doubles, in ascending order, each once.
    pub(super) fn sorted_sample(&self) -> Vec<f64> {
        let doubles = self
            .sample
            .iter()
            .map(|bits| Scalar::from_bits(self.data_type, *bits));
        let regular = doubles.filter(|x| x.is_finite() && self.is_regular(*x));
        let mut sorted: Vec<f64> = regular.map(|x| x.to_f64() + 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        sorted
    }

    fn is_regular(&self, value: Scalar) -> bool {
        !self.stand_ins.iter().any(|s| s.value.equals(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float32(value: f32) -> Scalar {
        Scalar::from_bits(DataType::Float32, value.to_bits().into())
    }

    fn elements(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_ne_bytes()).collect()
    }

    #[test]
    fn values_that_are_not_regular_are_counted_and_left_out_of_the_range() {
        let mut survey = Survey::new(DataType::Float32, &[float32(-9999.0)]);
        let values = [
            1.5,
            f32::NAN,
            -9999.0,
            -0.0,
            0.0,
            f32::INFINITY,
            -2.25,
            f32::NEG_INFINITY,
        ];
        survey.look(&elements(&values), 4);
        assert_eq!(survey.values, 8);
        assert_eq!((survey.nan, survey.zeros, survey.negative_zeros), (1, 2, 1));
        assert_eq!(
            (survey.positive_infinities, survey.negative_infinities),
            (1, 1)
        );
        assert_eq!(survey.stand_ins()[0].count, 1);
        assert_eq!(survey.range, Some((float32(-2.25), float32(1.5))));
        assert_eq!(survey.least_magnitude, 1.5);
        assert_eq!(survey.distinct(), Some(3));
        assert_eq!(survey.binary.exponent(), Some(-2));
    }

    #[test]
    fn parts_tell_what_the_whole_tells() {
        let values: Vec<f32> = (0..5000).map(|k| k as f32 * 0.5 - 100.0).collect();
        let mut whole = Survey::new(DataType::Float32, &[]);
        whole.look(&elements(&values), 100);
        let mut parts = Survey::new(DataType::Float32, &[]);
        for part in values.chunks(777) {
            let mut survey = Survey::new(DataType::Float32, &[]);
            survey.look(&elements(part), 20);
            parts.merge(&survey);
        }
        assert_eq!(whole.range, parts.range);
        assert_eq!(whole.zeros, parts.zeros);
        assert_eq!(whole.decimal.found(), parts.decimal.found());
        assert_eq!(whole.binary, parts.binary);
        assert_eq!(whole.distinct(), parts.distinct());
    }

    #[test]
    fn wide_integers_keep_every_digit() {
        let mut survey = Survey::new(DataType::UInt64, &[]);
        let values = [u64::MAX, u64::MAX - 1];
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
        survey.look(&bytes, 2);
        let (low, high) = survey.range.unwrap();
        assert_eq!(low.integer(), Some(i128::from(u64::MAX) - 1));
        assert_eq!(high.integer(), Some(i128::from(u64::MAX)));
    }
}
