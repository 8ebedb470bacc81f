//! What is known of codes that were decoded, apart for what the array holds and for padding.

use std::ops::Range;

use crate::migration::evidence::{CodeRange, Compared, Question, Use, UsedCodes};
use crate::region::{intersection, runs};
use crate::transform::census::Census;
use crate::transform::data_type::DataType;
use crate::transform::equivalence::{Comparison, Differences, EquivalenceError};

/// The codes of some pieces. Those of all pieces are merged in any order.
pub(super) struct Tally<'q> {
    stored: DataType,
    comparisons: &'q [Comparison<'q>],
    inside: Side,
    padding: Side,
}

struct Side {
    census: Census,
    differences: Vec<Differences>,
    /// Room for what does not lie together in a piece.
    gathered: Vec<u8>,
}

impl Side {
    fn new(stored: DataType, question: &Question<'_>) -> Self {
        Self {
            census: Census::new(stored, question.watch),
            differences: vec![Differences::default(); question.comparisons.len()],
            gathered: Vec::new(),
        }
    }

    fn add(
        &mut self,
        codes: &[u8],
        comparisons: &[Comparison<'_>],
    ) -> Result<(), EquivalenceError> {
        self.census.add(codes);
        for (differences, comparison) in self.differences.iter_mut().zip(comparisons) {
            differences.merge(&comparison.stream(codes)?);
        }
        Ok(())
    }

    fn add_gathered(&mut self, comparisons: &[Comparison<'_>]) -> Result<(), EquivalenceError> {
        let gathered = std::mem::take(&mut self.gathered);
        let added = self.add(&gathered, comparisons);
        // The room stays, what was in it goes.
        self.gathered = gathered;
        self.gathered.clear();
        added
    }

    fn merge(&mut self, other: &Self) {
        self.census.merge(&other.census);
        for (differences, more) in self.differences.iter_mut().zip(&other.differences) {
            differences.merge(more);
        }
    }
}

impl<'q> Tally<'q> {
    pub(super) fn new(stored: DataType, question: &Question<'q>) -> Self {
        Self {
            stored,
            comparisons: question.comparisons,
            inside: Side::new(stored, question),
            padding: Side::new(stored, question),
        }
    }

    /// Adds the codes of a piece, in row-major order, that lies in a box of the array and perhaps beyond its edge.
    pub(super) fn add(
        &mut self,
        piece: &[Range<u64>],
        shape: &[u64],
        codes: &[u8],
    ) -> Result<(), EquivalenceError> {
        let mut ends = piece.iter().zip(shape);
        if ends.all(|(range, length)| range.end <= *length) {
            return self.inside.add(codes, self.comparisons);
        }
        let whole: Vec<_> = shape.iter().map(|length| 0..*length).collect();
        let Some(part) = intersection(piece, &whole) else {
            return self.padding.add(codes, self.comparisons);
        };
        let size = self.stored.size();
        let mut done = 0;
        // In the order of the piece, so that padding is what lies between.
        runs(&part, piece, piece, |start, _, length| {
            let (start, end) = (start * size, (start + length) * size);
            self.padding.gathered.extend_from_slice(&codes[done..start]);
            self.inside.gathered.extend_from_slice(&codes[start..end]);
            done = end;
        });
        self.padding.gathered.extend_from_slice(&codes[done..]);
        self.inside.add_gathered(self.comparisons)?;
        self.padding.add_gathered(self.comparisons)
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.inside.merge(&other.inside);
        self.padding.merge(&other.padding);
    }

    /// All codes, for narrow types.
    pub(super) fn used(&self) -> Option<UsedCodes> {
        Some(UsedCodes {
            inside: self.inside.census.codes()?,
            padding: self.padding.census.codes()?,
        })
    }

    /// How each watched code is used.
    pub(super) fn watched(&self) -> Vec<Use> {
        let sides = self.inside.census.watched().into_iter();
        let uses = sides.zip(self.padding.census.watched());
        uses.map(|(inside, padding)| match (inside, padding) {
            (true, _) => Use::Used,
            (false, true) => Use::PaddingOnly,
            (false, false) => Use::Unused,
        })
        .collect()
    }

    /// The range of all codes.
    pub(super) fn range(&self) -> Option<CodeRange> {
        let mut all = self.inside.census.clone();
        all.merge(&self.padding.census);
        let (least, greatest) = all.range()?;
        Some(CodeRange { least, greatest })
    }

    /// What the comparisons found.
    pub(super) fn compared(self) -> Vec<Compared> {
        let inside = self.inside.differences.into_iter();
        let sides = inside.zip(self.padding.differences);
        sides
            .map(|(inside, padding)| Compared { inside, padding })
            .collect()
    }
}
