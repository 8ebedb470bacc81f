//! Measures over many values: how far decoded values are from the original ones.

/// A sum of doubles whose error does not grow with the number of terms (Neumaier's variant of Kahan's summation).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, term: f64) {
        let total = self.total + term;
        self.lost += if self.total.abs() >= term.abs() {
            (self.total - total) + term
        } else {
            (term - total) + self.total
        };
        self.total = total;
    }

    fn value(self) -> f64 {
        self.total + self.lost
    }
}

/// The errors of decoded values, each being `decoded - original` in double precision.
///
/// Parts merged in one order give the same bits whoever measured them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ErrorMeasures {
    count: u64,
    largest_absolute: f64,
    largest_relative: f64,
    sum: Sum,
    squares: Sum,
    /// The squares of errors outside [`PLAIN`], scaled by `SMALL` or `LARGE` before: as they are they vanish or overflow.
    small_squares: Sum,
    large_squares: Sum,
}

/// Errors between these have squares that doubles hold.
const PLAIN: std::ops::Range<f64> = 1e-140..1e140;

/// Squares below this have lost digits.
const LEAST_SQUARE: f64 = 1e-290;

/// Powers of two that bring errors outside [`PLAIN`] nearer to 1: 2^600 and 2^-600.
const SMALL: f64 = f64::from_bits((1023 + 600) << 52);
const LARGE: f64 = f64::from_bits((1023 - 600) << 52);

/// The same measures over a few values whose errors are alike enough in size to be summed up plainly.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartMeasures {
    /// How many values.
    pub count: u64,
    /// The largest absolute error.
    pub largest_absolute: f64,
    /// The largest relative error.
    pub largest_relative: f64,
    /// The sum of the errors.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// Sums of doubles have an order, so that each of so many lanes has its own, and lanes become vectors.
pub const LANES: usize = 4;

/// The error of a value, and the value.
pub type ErrorOf = (f64, f64);

impl PartMeasures {
    /// Measures errors but for the largest relative one, and tells whether one of those may be larger than `known`: a division for
    /// each value would take longer than all the rest. A value that is NaN is relative to nothing.
    #[inline(always)]
    pub fn over(
        rows: impl Iterator<Item = [ErrorOf; LANES]>,
        rest: impl Iterator<Item = ErrorOf>,
        known: f64,
    ) -> (Self, bool) {
        let mut count = 0;
        let mut largest = [0.0; LANES];
        let mut margins = [f64::NEG_INFINITY; LANES];
        let mut sum = [0.0; LANES];
        let mut squares = [0.0; LANES];
        let mut add = |n: usize, (error, value): ErrorOf| {
            let size = error.abs();
            largest[n] = larger(size, largest[n]);
            // Rounding keeps order: where the quotient is larger than what is known, the error is not below the product.
            margins[n] = larger(size - known * value.abs(), margins[n]);
            sum[n] += error;
            squares[n] += error * error;
        };
        for row in rows {
            count += LANES as u64;
            for (n, error) in row.into_iter().enumerate() {
                add(n, error);
            }
        }
        for (n, error) in rest.enumerate() {
            count += 1;
            add(n, error);
        }
        let total = |lanes: [f64; LANES]| lanes.into_iter().fold(0.0, |sum, lane| sum + lane);
        let part = Self {
            count,
            largest_absolute: largest.into_iter().fold(0.0, larger),
            largest_relative: 0.0,
            sum: total(sum),
            squares: total(squares),
        };
        let further =
            part.largest_absolute > 0.0 && margins.into_iter().any(|margin| margin >= 0.0);
        (part, further)
    }

    /// The relative size of an error; none beside a value of 0.
    #[must_use]
    pub fn relative((error, value): ErrorOf) -> f64 {
        if value == 0.0 {
            0.0
        } else {
            (error / value).abs()
        }
    }
}

/// The larger of two numbers, the second of which is not NaN: what `max` takes care of keeps loops from becoming vectors.
#[must_use]
#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl ErrorMeasures {
    /// Adds what was measured on a few values.
    pub fn add_part(&mut self, part: &PartMeasures) {
        self.count += part.count;
        self.largest_absolute = self.largest_absolute.max(part.largest_absolute);
        self.largest_relative = self.largest_relative.max(part.largest_relative);
        self.sum.add(part.sum);
        self.squares.add(part.squares);
    }

    /// Measures one finite value.
    pub fn add(&mut self, original: f64, decoded: f64) {
        let error = decoded - original;
        self.count += 1;
        self.largest_absolute = self.largest_absolute.max(error.abs());
        if original != 0.0 {
            self.largest_relative = self.largest_relative.max((error / original).abs());
        }
        self.sum.add(error);
        self.squares.add(error * error);
        self.add_far(error);
    }

    /// Keeps the square of an error that is too small or too large to have one.
    fn add_far(&mut self, error: f64) {
        let size = error.abs();
        if size >= PLAIN.end {
            self.large_squares.add((size * LARGE).powi(2));
        } else if size > 0.0 && size < PLAIN.start {
            self.small_squares.add((size * SMALL).powi(2));
        }
    }

    /// Measures finite values, as many originals as decoded ones, whose errors are finite too: faster than one by one, for a last
    /// bit of the sums.
    pub fn add_all(&mut self, originals: &[f64], decoded: &[f64]) {
        const TERMS: usize = 256;
        let blocks = originals.chunks(TERMS).zip(decoded.chunks(TERMS));
        for (originals, decoded) in blocks {
            let (rows, rest) = originals.as_chunks::<LANES>();
            let (decoded_rows, decoded_rest) = decoded.as_chunks::<LANES>();
            let rows = rows.iter().zip(decoded_rows).map(|(values, decoded)| {
                std::array::from_fn(|n| (decoded[n] - values[n], values[n]))
            });
            let error = |(value, decoded): (&f64, &f64)| (decoded - value, *value);
            let rest = rest.iter().zip(decoded_rest).map(error);
            let (mut part, further) = PartMeasures::over(rows, rest, self.largest_relative);
            if further {
                let errors = originals.iter().zip(decoded).map(error);
                part.largest_relative = errors.map(PartMeasures::relative).fold(0.0, larger);
            }
            self.add_part(&part);
            if part.largest_absolute > 0.0 && !PLAIN.contains(&part.largest_absolute) {
                for (value, decoded) in originals.iter().zip(decoded) {
                    self.add_far(decoded - value);
                }
            }
        }
    }

    /// Adds what was measured on another part.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.largest_absolute = self.largest_absolute.max(other.largest_absolute);
        self.largest_relative = self.largest_relative.max(other.largest_relative);
        self.sum.add(other.sum.value());
        self.squares.add(other.squares.value());
        self.small_squares.add(other.small_squares.value());
        self.large_squares.add(other.large_squares.value());
    }

    /// How many values were measured.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The largest absolute error, in the unit of the values.
    #[must_use]
    pub const fn largest_absolute(&self) -> f64 {
        self.largest_absolute
    }

    /// The largest error relative to the original value, over the values that are not zero.
    #[must_use]
    pub const fn largest_relative(&self) -> f64 {
        self.largest_relative
    }

    /// The root of the mean of the squares of the errors; 0 where nothing was measured.
    #[must_use]
    pub fn rmse(&self) -> f64 {
        let plain = self.mean(self.squares);
        if plain.is_finite() && plain >= LEAST_SQUARE {
            return plain.sqrt();
        }
        if plain.is_finite() {
            return self.mean(self.small_squares).sqrt() / SMALL;
        }
        // Of parts that were summed up elsewhere it is not known.
        let large = self.mean(self.large_squares).sqrt() / LARGE;
        if large > 0.0 { large } else { f64::INFINITY }
    }

    /// The mean of the errors; 0 where nothing was measured.
    #[must_use]
    pub fn bias(&self) -> f64 {
        self.mean(self.sum)
    }

    #[allow(clippy::cast_precision_loss)]
    fn mean(&self, sum: Sum) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        sum.value() / self.count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_measured() {
        let mut left = ErrorMeasures::default();
        left.add(1.0, 1.5);
        left.add(0.0, 0.25);
        let mut right = ErrorMeasures::default();
        right.add(-4.0, -5.0);
        left.merge(&right);
        assert_eq!(left.count(), 3);
        assert_eq!(left.largest_absolute(), 1.0);
        assert_eq!(left.largest_relative(), 0.5);
        assert_eq!(left.bias(), -0.25 / 3.0);
        assert_eq!(left.rmse(), (1.3125_f64 / 3.0).sqrt());
    }

    #[test]
    fn many_values_are_measured_as_one_by_one() {
        let originals: Vec<f64> = (0..1000).map(|k| f64::from(k % 7) - 3.0).collect();
        let decoded: Vec<f64> = originals.iter().map(|x| x * 1.25 + 0.5).collect();
        let (mut all, mut each) = (ErrorMeasures::default(), ErrorMeasures::default());
        all.add_all(&originals, &decoded);
        for (original, decoded) in originals.iter().zip(&decoded) {
            each.add(*original, *decoded);
        }
        // Small multiples of a power of two, whose sums are exact in any order.
        assert_eq!(all, each);
    }

    #[test]
    fn a_sum_keeps_what_a_plain_one_loses() {
        let mut sum = Sum::default();
        for term in [1.0, 1e100, 1.0, -1e100] {
            sum.add(term);
        }
        assert_eq!(sum.value(), 2.0);
    }

    #[test]
    fn errors_whose_squares_are_no_doubles_have_a_root_mean_square() {
        for error in [3e-303, 3e200] {
            let mut all = ErrorMeasures::default();
            all.add_all(&[0.0, 0.0], &[error, -error]);
            let mut one = ErrorMeasures::default();
            one.add(0.0, error);
            all.merge(&one);
            assert!((all.rmse() / error - 1.0).abs() < 1e-12, "{}", all.rmse());
        }
    }

    #[test]
    fn nothing_measured_is_no_error() {
        assert_eq!(ErrorMeasures::default().rmse(), 0.0);
        assert_eq!(ErrorMeasures::default().bias(), 0.0);
    }
}
