//! One way to pack: codecs with their parameters, bound to the type and the fill, and what each code stands for.

use super::frame::Frame;
use crate::transform::chain::{BoundChain, Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::parameters::{CastValueParameters, Codec, ScaleOffsetParameters};
use crate::transform::scalar::Scalar;

/// Where a scale comes from, for the reader of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// It was given.
    Pinned,
    /// Its step is a round decimal.
    Decimal,
    /// Its step is a power of two.
    Binary,
    /// Its step is that of the data.
    Hidden,
    /// It makes the most of the codes that there are.
    Finest,
    /// It makes the most of the error that is allowed.
    Coarsest,
    /// The values themselves are stored, shifted at most.
    Whole,
}

impl Origin {
    /// The word for it in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pinned => "pinned",
            Self::Decimal => "decimal",
            Self::Binary => "binary",
            Self::Hidden => "step of the data",
            Self::Finest => "finest",
            Self::Coarsest => "coarsest",
            Self::Whole => "whole",
        }
    }
}

/// How many codes next to each end of a float type sentinels may have.
const SPARE_ENDS: usize = 8;

/// A value that no arithmetic reaches, with the code that stands for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sentinel {
    /// The value of the array.
    pub value: Scalar,
    /// The value that enters the cast.
    pub key: Scalar,
    /// The code.
    pub code: Scalar,
    /// Whether it stands for what is missing: NaN, and what attributes or the fill declare.
    pub is_missing: bool,
}

/// One way to pack.
#[derive(Debug)]
pub struct Candidate {
    /// The codecs.
    pub codecs: Vec<Codec>,
    /// The chain of them.
    pub chain: BoundChain,
    /// The stored type.
    pub stored: DataType,
    /// The scale as it is written; `None` where nothing is scaled.
    pub scale: Option<String>,
    /// The offset as it is written; `None` where nothing is shifted.
    pub offset: Option<String>,
    /// Where the scale comes from.
    pub origin: Origin,
    /// The values with a code of their own.
    pub sentinels: Vec<Sentinel>,
    /// The fill that the array must get, where its own does not survive.
    pub new_fill: Option<Scalar>,
    /// The codes of the least and of the greatest value; in a float type, what they are stored as.
    pub ends: (Scalar, Scalar),
    /// How many values that are declared to be missing have codes on the grid, beyond those ends.
    declared_beyond: u128,
    /// The codes that values may have; `None` for a float type.
    room: Option<Room>,
    /// Whether it is for chunks in shards.
    pub(super) sharded: bool,
}

/// Codes that sentinels may have and that values may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// The least code of a value.
    pub(super) low: i128,
    /// The greatest code of a value.
    pub(super) high: i128,
}

/// What the codecs of a candidate are made of.
#[derive(Debug, Clone)]
pub(super) struct Recipe {
    pub(super) scale: Option<String>,
    pub(super) offset: Option<String>,
    pub(super) origin: Origin,
    pub(super) stored: DataType,
    /// The codes that sentinels get, in the order in which sentinels need them; for a float type they are those that no value
    /// reaches.
    pub(super) spare: Vec<i128>,
    /// The codes of values; `None` for a float type.
    pub(super) room: Option<Room>,
    /// Whether float64 is scaled in, though the values are of a narrower float type.
    pub(super) wide: bool,
    /// Whether values are rounded, so that what is declared to be missing must not lie on their grid.
    pub(super) rounds: bool,
}

/// The type to scale in where values other than regular ones overflow the array's own.
const fn wider(data_type: DataType) -> Option<DataType> {
    use DataType::{Float64, Int64, UInt64};
    match data_type {
        Float64 | Int64 | UInt64 => None,
        float if float.is_float() => Some(Float64),
        _ => Some(Int64),
    }
}

impl Candidate {
    /// The codes from the least to the greatest value, and those of sentinels; `None` for a float type.
    #[must_use]
    pub fn codes_used(&self) -> Option<u128> {
        let (a, b) = (self.ends.0.integer()?, self.ends.1.integer()?);
        Some(a.abs_diff(b) + 1 + self.declared_beyond + self.sentinels.len() as u128)
    }

    /// The codes that the stored type has; `None` for a float type.
    #[must_use]
    pub fn codes_in_all(&self) -> Option<u128> {
        self.stored
            .is_integer()
            .then(|| 1_u128 << self.stored.bits())
    }

    /// The least and the greatest value that can be stored without a code that is kept for another; `None` where no plain range
    /// says it.
    #[must_use]
    pub fn holds_range(&self) -> Option<(Scalar, Scalar)> {
        let (low, high) = self.chain.fitting_range()?;
        let Some(room) = self.room else {
            return Some((low, high));
        };
        let inside = self.chain.transform(Direction::Decode, self.ends.0).ok()?;
        Some((
            self.farthest(inside, low, room),
            self.farthest(inside, high, room),
        ))
    }

    /// The value nearest to `end`, on the way from one inside, whose code values may have.
    fn farthest(&self, inside: Scalar, end: Scalar, room: Room) -> Scalar {
        let holds = |value: Scalar| {
            let code = self.chain.transform(Direction::Encode, value).ok();
            let code = code.and_then(Scalar::integer);
            code.is_some_and(|code| (room.low..=room.high).contains(&code))
        };
        if holds(end) {
            return end;
        }
        let (mut good, mut bad) = (inside.ordinal(), end.ordinal());
        while good.abs_diff(bad) > 1 {
            let middle = good + (bad - good) / 2;
            if holds(Scalar::from_ordinal(end.data_type(), middle)) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        Scalar::from_ordinal(end.data_type(), good)
    }

    /// Whether chunks in shards can be opened by a reader that tries to encode 0 there.
    pub(super) fn suits_shards(&self) -> bool {
        !self.sharded || encodes_zero(&self.chain)
    }

    /// What fill codes behind the chain see.
    #[must_use]
    pub fn stored_fill(&self) -> Option<Scalar> {
        self.chain.fill()?.stored(self.codecs.len())
    }

    /// Makes the candidate that a recipe describes, with a code for each value that needs one; `None` where it is not sound, or
    /// does not keep what must be kept.
    ///
    /// Where a value that needs a code of its own leaves the type when it is scaled, a wider type is scaled in.
    pub(super) fn make(frame: &Frame, recipe: &Recipe) -> Option<Self> {
        let shifted = recipe.scale.is_some() || recipe.offset.is_some();
        let wide = wider(frame.data_type).filter(|_| shifted && recipe.stored.is_integer());
        if recipe.wide {
            return Self::make_in(frame, recipe, Some(wide?));
        }
        let narrow = Self::make_in(frame, recipe, None);
        if narrow.as_ref().is_some_and(Self::suits_shards) {
            return narrow;
        }
        let wide = wide.and_then(|wide| Self::make_in(frame, recipe, Some(wide)));
        match (narrow, wide) {
            (Some(_), Some(wide)) if wide.suits_shards() => Some(wide),
            (narrow, wide) => narrow.or(wide),
        }
    }

    fn make_in(frame: &Frame, recipe: &Recipe, wide: Option<DataType>) -> Option<Self> {
        let shift = scale_offset(recipe);
        let widening = wide.map(|wide| Codec::CastValue(cast(wide, &[])));
        let plain = |maps: &[(Scalar, Scalar)]| -> Vec<Codec> {
            let cast = Codec::CastValue(cast(recipe.stored, maps));
            let before = widening.iter().chain(&shift).cloned();
            before.chain([cast]).collect()
        };
        let bare = bind(frame.data_type, None, &plain(&[])).chain?;
        let ends = (
            bare.transform(Direction::Encode, frame.low).ok()?,
            bare.transform(Direction::Encode, frame.high).ok()?,
        );
        let inside = |code: Scalar| match (recipe.room, code.integer()) {
            (Some(room), Some(code)) => (room.low..=room.high).contains(&code),
            // What a float type holds comes back as it is, NaN and infinities too.
            (room, _) => room.is_none(),
        };
        if !inside(ends.0) || !inside(ends.1) {
            return None;
        }
        let comes_back = |chain: &BoundChain, value: Scalar| {
            let code = chain.transform(Direction::Encode, value).ok()?;
            let back = chain.transform(Direction::Decode, code).ok()?;
            Some((code, back.equals(value)))
        };
        let reached = |code: Scalar| {
            let ends = ends.0.integer().zip(ends.1.integer()).zip(code.integer());
            ends.is_some_and(|((a, b), code)| (a.min(b)..=a.max(b)).contains(&code))
        };
        // What is rounded must not become a value that is declared to be missing.
        let collides = |declared: &Scalar| {
            comes_back(&bare, *declared).is_some_and(|(code, same)| same && reached(code))
        };
        if recipe.rounds && frame.stand_ins.iter().any(collides) {
            return None;
        }
        let mut declared_beyond = 0;
        let mut apart = Vec::new();
        let mut taken = Vec::new();
        for special in frame.specials() {
            let traced = bind(frame.data_type, Some(special.value), &plain(&[]));
            match comes_back(&bare, special.value) {
                Some((code, true)) if traced.problems.is_empty() && inside(code) => {
                    let is_beyond = frame.is_declared(special.value) && !reached(code);
                    declared_beyond += u128::from(is_beyond);
                    taken.push(code);
                }
                _ => apart.push(special),
            }
        }
        let mut spare = spare(recipe, ends, &taken).into_iter();
        let mut sentinels: Vec<Sentinel> = Vec::new();
        let mut new_fill = None;
        for special in apart {
            let key = key(&bare, special.value);
            let code = key.and_then(|_| match special.code {
                Some(_) if recipe.room.is_none() => None,
                None if special.is_unwanted => None,
                Some(code) => Scalar::from_integer(recipe.stored, code),
                None => spare.next(),
            });
            match (key, code) {
                (Some(key), Some(code)) => sentinels.push(Sentinel {
                    value: special.value,
                    key,
                    code,
                    is_missing: frame.is_missing(special.value),
                }),
                _ if special.only_fill => new_fill = Some(special.value),
                _ => return None,
            }
        }
        let zero = Scalar::from_bits(frame.data_type, 0);
        if frame.sharded
            && !encodes_zero(&bare)
            && !sentinels.iter().any(|s| s.value.equals(zero))
            && let (Some(key), Some(code)) = (key(&bare, zero), spare.next())
        {
            sentinels.push(Sentinel {
                value: zero,
                key,
                code,
                is_missing: false,
            });
        }
        let maps: Vec<_> = sentinels.iter().map(|s| (s.key, s.code)).collect();
        let codecs = plain(&maps);
        let fills = match new_fill {
            None => frame.fills.clone(),
            Some(given_up) => vec![frame.other_fill(&bare, given_up)?],
        };
        for fill in fills.iter().skip(1) {
            if !bind(frame.data_type, Some(*fill), &codecs)
                .problems
                .is_empty()
            {
                return None;
            }
        }
        let binding = bind(frame.data_type, fills.first().copied(), &codecs);
        if !binding.problems.is_empty() {
            return None;
        }
        let chain = binding.chain?;
        let kept = sentinels
            .iter()
            .map(|sentinel| sentinel.value)
            .chain(frame.keep.iter().copied())
            .chain(frame.specials().iter().map(|special| special.value))
            .filter(|value| new_fill.is_none_or(|given_up| !given_up.equals(*value)))
            .chain(fills.iter().copied());
        for value in kept {
            if !comes_back(&chain, value).is_some_and(|(_, kept)| kept) {
                return None;
            }
        }
        Some(Self {
            codecs,
            stored: chain.stored_type(),
            chain,
            scale: recipe.scale.clone(),
            offset: recipe.offset.clone(),
            origin: recipe.origin,
            sentinels,
            new_fill: new_fill.and(fills.first().copied()),
            ends,
            declared_beyond,
            room: recipe.room,
            sharded: frame.sharded,
        })
    }
}

/// Whether the bits of nothing can be encoded.
fn encodes_zero(chain: &BoundChain) -> bool {
    let zero = Scalar::from_bits(chain.data_type(), 0);
    chain.transform(Direction::Encode, zero).is_ok()
}

/// The codes that sentinels may have, in the order in which they get them.
fn spare(recipe: &Recipe, ends: (Scalar, Scalar), taken: &[Scalar]) -> Vec<Scalar> {
    if recipe.room.is_some() {
        let codes = recipe.spare.iter();
        return codes
            .filter_map(|code| Scalar::from_integer(recipe.stored, *code))
            .collect();
    }
    // The ends of a float type, as far as no value reaches.
    let (least, greatest) = Scalar::finite_range(recipe.stored);
    let reached = [ends.0.ordinal(), ends.1.ordinal()];
    let (low, high) = (reached[0].min(reached[1]), reached[0].max(reached[1]));
    let below = (least.ordinal()..low).take(SPARE_ENDS);
    let above = (high + 1..=greatest.ordinal()).rev().take(SPARE_ENDS);
    below
        .chain(above)
        .map(|ordinal| Scalar::from_ordinal(recipe.stored, ordinal))
        .filter(|code| code.is_finite() && !taken.iter().any(|taken| taken.equals(*code)))
        .collect()
}

/// What enters the last cast of a value that has no code yet; `None` where no number does.
fn key(chain: &BoundChain, value: Scalar) -> Option<Scalar> {
    let (_, before) = chain.codecs().split_last()?;
    let key = before
        .iter()
        .try_fold(value, |value, codec| codec.encode(value).ok())?;
    // An overflow has no number that tells it from others.
    (key.is_finite() || !value.is_finite()).then_some(key)
}

fn scale_offset(recipe: &Recipe) -> Option<Codec> {
    let number = |text: &Option<String>| text.clone().map(Literal::Number);
    (recipe.scale.is_some() || recipe.offset.is_some()).then(|| {
        Codec::ScaleOffset(ScaleOffsetParameters {
            offset: number(&recipe.offset),
            scale: number(&recipe.scale),
        })
    })
}

fn cast(stored: DataType, maps: &[(Scalar, Scalar)]) -> CastValueParameters {
    let pairs = maps
        .iter()
        .map(|(key, code)| (literal(*key), literal(*code)));
    let (encode, decode): (Vec<_>, Vec<_>) = pairs
        .map(|(key, code)| ((key.clone(), code.clone()), (code, key)))
        .unzip();
    CastValueParameters {
        encode,
        decode,
        ..CastValueParameters::to(stored)
    }
}

/// A scalar as maps have it.
fn literal(scalar: Scalar) -> Literal {
    let text = scalar.to_map_json();
    match text.strip_prefix('"') {
        Some(text) => Literal::String(text.trim_end_matches('"').to_owned()),
        None => Literal::Number(text),
    }
}
