//! Whether what is stored decodes to the same values as before: the words for it, and how it is told from comparisons.

use crate::transform::chain::{BoundChain, Direction};
use crate::transform::data_type::DataType;
use crate::transform::equivalence::{CodeSet, Comparison, Differences, Verdict};
use crate::transform::scalar::Scalar;

use super::evidence::{Compared, Presence, Scan, UsedCodes};

/// What becomes of the values of an array whose chain changes.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeVerdict {
    /// In a word.
    pub kind: DecodeKind,
    /// What was compared; `None` where nothing was proven.
    pub proof: Option<Proof>,
    /// Of the codes, or of the stored elements, that were compared. Where nothing was proven, these are some codes of the type.
    pub differences: Differences,
    /// Of all codes, where only those in use were compared for the verdict.
    pub all_codes: Option<Differences>,
    /// What missing inner chunks read as, where that changes.
    pub missing_inner: Option<MissingInner>,
    /// What missing chunks read as, where that changes.
    pub missing: Option<Missing>,
    /// The code that was declared missing; its change to NaN is among the differences.
    pub declared: Option<Declared>,
    /// The codec that the compared values are still handed to before they are the array's, where one is that computes with
    /// them: differences are then those of what it is handed.
    pub before: Option<String>,
}

/// Whether values change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeKind {
    /// No value changes.
    Identical,
    /// Values change.
    Differs,
    /// It was not allowed to find out.
    Unproven,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// All codes of the stored type were decoded both ways.
    AllCodes,
    /// All codes in use were decoded both ways.
    UsedCodes,
    /// All that is stored was decoded both ways.
    Data,
}

impl Proof {
    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllCodes => "all-codes",
            Self::UsedCodes => "used-codes",
            Self::Data => "data",
        }
    }
}

/// Missing inner chunks that read as another value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissingInner {
    /// How many there are.
    pub count: u64,
    /// What they read as before, where that can be told.
    pub old: Option<Scalar>,
    /// What they read as now, where that can be told.
    pub new: Option<Scalar>,
}

/// Missing chunks that read as another value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missing {
    /// How many chunks, or shards, there are.
    pub chunks: u64,
    /// How many inner chunks there are in shards that are stored.
    pub inner_chunks: u64,
    /// What they read as before; `None` where that was undefined.
    pub old: Option<Scalar>,
    /// What they read as now.
    pub new: Scalar,
}

impl Missing {
    pub(super) const fn of(presence: Presence, old: Option<Scalar>, new: Scalar) -> Self {
        Self {
            chunks: presence.missing,
            inner_chunks: presence.missing_inner,
            old,
            new,
        }
    }
}

/// A code that was declared missing.
#[derive(Debug, Clone, PartialEq)]
pub struct Declared {
    /// The code.
    pub code: Scalar,
    /// What it decoded to before; `None` where that was undefined.
    pub value: Option<Scalar>,
    /// What was compared besides: whether other codes decode to other values too.
    pub others_differ: bool,
}

/// What two chains decode from the codes of one site.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CodesVerdict {
    pub(super) proof: Option<Proof>,
    pub(super) differences: Differences,
    pub(super) all_codes: Option<Differences>,
    /// Codes that the new chain cannot decode, and that padding holds. They keep a chunk from being read.
    pub(super) unreadable_padding: u64,
}

impl CodesVerdict {
    /// Codes that can be decoded no more. Those that the legacy codec has no defined value for are among them: its readers
    /// make something of them, and of the rest of the chunk.
    pub(super) const fn unreadable(&self) -> u64 {
        unreadable(&self.differences) + self.unreadable_padding
    }

    /// Whether it is certain that no value changes.
    pub(super) fn is_identical(&self) -> bool {
        self.proof.is_some()
            && self.unreadable() == 0
            && self.differences.verdict() == Verdict::Identical
    }
}

/// Codes that the new chain cannot decode.
pub(super) const fn unreadable(differences: &Differences) -> u64 {
    differences.become_unreadable + differences.unreadable_in_both
}

/// Decodes all codes of a stored type of up to 16 bits both ways; `None` for a wider one.
pub(super) fn all_codes(old: &BoundChain, new: &BoundChain) -> Option<Differences> {
    Comparison::new(old, new).ok()?.exhaustive().ok()
}

/// The verdict over the codes that a scan found in use; `None` where it did not tell.
pub(super) fn used_codes(
    old: &BoundChain,
    new: &BoundChain,
    all: &Differences,
    used: &UsedCodes,
) -> Option<CodesVerdict> {
    let comparison = Comparison::new(old, new).ok()?;
    let restricted = |codes: &CodeSet| comparison.restricted(codes).ok();
    let inside = restricted(&used.inside)?;
    let mut padding = CodeSet::new(used.padding.data_type()).ok()?;
    for code in used.padding.iter() {
        if !used.inside.contains(code) {
            padding.insert(code);
        }
    }
    Some(CodesVerdict {
        proof: Some(Proof::UsedCodes),
        differences: inside,
        all_codes: Some(all.clone()),
        unreadable_padding: unreadable(&restricted(&padding)?),
    })
}

/// The verdict over all that is stored.
pub(super) fn data(compared: &Compared) -> CodesVerdict {
    CodesVerdict {
        proof: Some(Proof::Data),
        differences: compared.inside.clone(),
        all_codes: None,
        unreadable_padding: unreadable(&compared.padding),
    }
}

/// What some codes of a wide type show, which proves nothing.
pub(super) fn tried(old: &BoundChain, new: &BoundChain) -> CodesVerdict {
    let codes = samples(old.stored_type());
    let comparison = Comparison::new(old, new);
    let differences = comparison.ok().and_then(|c| c.stream(&codes).ok());
    CodesVerdict {
        proof: None,
        differences: differences.unwrap_or_default(),
        all_codes: None,
        unreadable_padding: 0,
    }
}

/// Codes of a wide type that are likely to show a difference: around zero and the ends, and spread over all bit patterns.
fn samples(stored: DataType) -> Vec<u8> {
    const SPREAD: u64 = 4096;
    let (low, high) = Scalar::finite_range(stored);
    let near = [low.ordinal(), 0, high.ordinal()].into_iter();
    let near = near.flat_map(|middle| (-64..=64).map(move |n| middle + n));
    let near = near.filter(|ordinal| (low.ordinal()..=high.ordinal()).contains(ordinal));
    let near = near.map(|ordinal| Scalar::from_ordinal(stored, ordinal));
    // The golden ratio spreads any number of them evenly.
    let spread = (0..SPREAD).map(|n| {
        let bits = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Scalar::from_bits(stored, bits >> (64 - stored.bits()))
    });
    let mut bytes = Vec::new();
    for code in near.chain(spread) {
        let at = bytes.len();
        bytes.resize(at + stored.size(), 0);
        code.write_ne_bytes(&mut bytes[at..]);
    }
    bytes
}

/// The lowest code that the new chain cannot decode, for stored types of up to 16 bits, among those in use where that is known.
pub(super) fn first_unreadable(
    new: &BoundChain,
    used: Option<&UsedCodes>,
) -> Option<(Scalar, String)> {
    let stored = new.stored_type();
    if stored.bits() > 16 {
        return None;
    }
    let (low, high) = Scalar::finite_range(stored);
    let codes = (low.ordinal()..=high.ordinal())
        .map(|ordinal| Scalar::from_ordinal(stored, ordinal))
        .filter(|code| used.is_none_or(|u| u.inside.contains(*code) || u.padding.contains(*code)));
    let mut failures = codes.filter_map(|code| {
        let fault = new.transform(Direction::Decode, code).err()?.fault;
        Some((code, fault.to_string()))
    });
    failures.next()
}

/// The verdict of one comparison in a scan, whatever the width of the stored type.
pub(super) fn of_scan(
    old: &BoundChain,
    new: &BoundChain,
    all: Option<&Differences>,
    scan: &Scan,
    comparison: usize,
) -> Option<CodesVerdict> {
    match (all, &scan.used) {
        (Some(all), Some(used)) => used_codes(old, new, all, used),
        (Some(_), None) => None,
        (None, _) => scan.compared.get(comparison).map(data),
    }
}

/// Whether two values are the same to a reader: bit for bit, or both NaN.
pub(super) fn is_same(a: Scalar, b: Scalar) -> bool {
    a == b || a.is_nan() && b.is_nan()
}
