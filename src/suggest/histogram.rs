//! How values are spread over their range.

/// How many parts the range has.
const BINS: usize = 40;

/// Counts of values in parts of their range that are equally wide.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Where the first part begins.
    pub low: f64,
    /// Where the last part ends.
    pub high: f64,
    /// How many values lie in each part; the ends belong to the first and the last one.
    pub counts: Vec<u64>,
}

impl Histogram {
    pub(super) fn new(low: f64, high: f64) -> Self {
        let bins = if low < high { BINS } else { 1 };
        Self {
            low,
            high,
            counts: vec![0; bins],
        }
    }

    /// Counts the values that lie in the range.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the number of a part"
    )]
    pub(super) fn add(&mut self, values: &[f64]) {
        // Halves, since the range may be as wide as two times the largest double.
        let span = self.high / 2.0 - self.low / 2.0;
        let bins = self.counts.len() as f64;
        for value in values {
            if (self.low..=self.high).contains(value) {
                let place = (value / 2.0 - self.low / 2.0) / span * bins;
                let place = (place as usize).min(self.counts.len() - 1);
                self.counts[place] += 1;
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *ours += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fall_into_their_parts() {
        let mut histogram = Histogram::new(0.0, 40.0);
        histogram.add(&[0.0, 0.5, 1.0, 39.9, 40.0, 41.0, f64::NAN, -1.0]);
        assert_eq!(histogram.counts[0], 2);
        assert_eq!(histogram.counts[1], 1);
        assert_eq!(histogram.counts[39], 2);
        assert_eq!(histogram.counts.iter().sum::<u64>(), 5);
    }

    #[test]
    fn one_value_and_the_widest_range_are_no_trouble() {
        let mut constant = Histogram::new(5.0, 5.0);
        constant.add(&[5.0]);
        assert_eq!(constant.counts, [1]);
        let mut widest = Histogram::new(f64::MIN, f64::MAX);
        widest.add(&[f64::MIN, 0.0, f64::MAX]);
        assert_eq!(widest.counts.iter().sum::<u64>(), 3);
    }
}
