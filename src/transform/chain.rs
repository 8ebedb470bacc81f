//! Chains: a list of codecs bound to a type and, where there is one, a fill.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::apply::Pass;
use super::cast_value::CastValue;
use super::data_type::DataType;
use super::extent::Extent;
use super::fault::Fault;
use super::fitting::fitting_range;
use super::legacy::{self, FixedScaleOffset, Parameter};
use super::literal::Literal;
use super::parameters::{
    CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
};
use super::problem::{Problem, Soundness};
use super::rounding::OutOfRange;
use super::scalar::Scalar;
use super::scalar_map::ScalarMap;
use super::scale_offset::ScaleOffset;

/// A codec bound to its incoming type.
#[derive(Clone, Debug, PartialEq)]
pub enum BoundCodec {
    /// `scale_offset`
    ScaleOffset(ScaleOffset),
    /// `cast_value`
    CastValue(CastValue),
    /// The legacy codec.
    FixedScaleOffset(FixedScaleOffset),
}

impl BoundCodec {
    /// The type before encoding.
    #[must_use]
    pub const fn incoming(&self) -> DataType {
        match self {
            Self::ScaleOffset(codec) => codec.data_type,
            Self::CastValue(codec) => codec.incoming,
            Self::FixedScaleOffset(codec) => codec.decoded,
        }
    }

    /// The type after encoding.
    #[must_use]
    pub const fn outgoing(&self) -> DataType {
        match self {
            Self::ScaleOffset(codec) => codec.data_type,
            Self::CastValue(codec) => codec.outgoing,
            Self::FixedScaleOffset(codec) => codec.stored,
        }
    }

    /// Encodes one element.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the codec.
    pub fn encode(&self, value: Scalar) -> Result<Scalar, Fault> {
        match self {
            Self::ScaleOffset(codec) => codec.encode(value),
            Self::CastValue(codec) => codec.encode(value),
            Self::FixedScaleOffset(codec) => codec.encode(value),
        }
    }

    /// Decodes one element.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the codec.
    pub fn decode(&self, value: Scalar) -> Result<Scalar, Fault> {
        match self {
            Self::ScaleOffset(codec) => codec.decode(value),
            Self::CastValue(codec) => codec.decode(value),
            Self::FixedScaleOffset(codec) => codec.decode(value),
        }
    }
}

/// Encoding or decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From logical values to stored ones.
    Encode,
    /// From stored values to logical ones.
    Decode,
}

/// The failure of an element somewhere in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainFault {
    /// The index of the codec that failed.
    pub codec: usize,
    /// What failed there.
    pub fault: Fault,
}

/// The way of a fill value through a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct FillTrace {
    /// The fill at every stage: of the array, then after each codec. It ends early where a codec fails on it.
    pub encoded: Vec<Scalar>,
    /// What the last of `encoded` decodes to, stage by stage back to the array; empty where encoding failed, and ends
    /// early where a codec fails.
    pub decoded: Vec<Scalar>,
}

impl FillTrace {
    /// The fill that the chunk encoding sees, where the chain can encode it.
    #[must_use]
    pub fn stored(&self, codecs: usize) -> Option<Scalar> {
        self.encoded.get(codecs).copied()
    }

    /// Whether the fill comes back through the whole chain as another value, or not at all.
    #[must_use]
    pub fn drifts(&self, codecs: usize) -> bool {
        match (self.encoded.first(), self.decoded.get(codecs)) {
            (Some(fill), Some(back)) => !fill.equals(*back),
            _ => true,
        }
    }
}

/// What binding found: a chain unless a problem is [`Soundness::Invalid`], and all problems.
#[derive(Debug)]
pub struct Binding {
    /// The chain, where it can be run.
    pub chain: Option<BoundChain>,
    /// Every problem, in the order of codecs.
    pub problems: Vec<Problem>,
}

/// A chain checked against a type and a fill, with its kernels chosen.
#[derive(Debug)]
pub struct BoundChain {
    data_type: DataType,
    codecs: Vec<BoundCodec>,
    fill: Option<FillTrace>,
    encoder: Pass,
    decoder: Pass,
    fitting: OnceLock<Option<(Scalar, Scalar)>>,
}

/// Binds codecs to the type of an array and to its fill, if it has one.
///
/// All problems are found at once, up to a thousand. Where the type at a place is unknown, because of a problem before it,
/// parameters are judged by what holds for every type.
#[must_use]
pub fn bind(data_type: DataType, fill: Option<Scalar>, codecs: &[Codec]) -> Binding {
    let mut problems = Vec::new();
    let mut bound = Vec::new();
    // How many codecs stand before the first one that has no incoming type, or cannot be bound.
    let mut gapless = codecs.len();
    let mut current = Some(data_type);
    for (index, codec) in codecs.iter().enumerate() {
        let mut place = Place {
            index,
            problems: &mut problems,
        };
        let Some(incoming) = current else {
            gapless = gapless.min(index);
            current = place.judge_untyped(codec);
            continue;
        };
        let result = match codec {
            Codec::ScaleOffset(p) => Some(BoundCodec::ScaleOffset(place.scale_offset(p, incoming))),
            Codec::CastValue(p) => Some(BoundCodec::CastValue(place.cast_value(p, incoming))),
            Codec::FixedScaleOffset(p) => place.legacy(p, incoming),
            Codec::Unreadable => None,
        };
        current = result.as_ref().map(BoundCodec::outgoing);
        if result.is_none() {
            gapless = gapless.min(index);
        }
        bound.extend(result);
    }
    let invalid = |p: &Problem| p.soundness == Soundness::Invalid;
    let complete = bound.len() == codecs.len() && !problems.iter().any(invalid);
    let fill = fill.and_then(|fill| {
        // In a chain that cannot be run, the fill goes as far as the codecs before the first that is at fault.
        let faulty = problems.iter().filter(|p| invalid(p)).map(|p| p.codec);
        let runs = &bound[..faulty.min().map_or(gapless, |first| first.min(gapless))];
        let trace = trace_fill(fill, runs);
        fill_problems(&trace, runs, &mut problems);
        if !complete && trace.stored(runs.len()).is_some_and(Scalar::is_nan) {
            lost_nan(&bound[..gapless], runs.len(), &mut problems);
        }
        complete.then_some(trace)
    });
    problems.sort_by_key(|p| p.codec);
    let chain = complete.then(|| BoundChain {
        data_type,
        encoder: Pass::compile(data_type, &bound, Direction::Encode),
        decoder: Pass::compile(data_type, &bound, Direction::Decode),
        codecs: bound,
        fill,
        fitting: OnceLock::new(),
    });
    Binding { chain, problems }
}

impl BoundChain {
    /// The type of the array: before encoding.
    #[must_use]
    pub const fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The type of the stored values: after encoding.
    #[must_use]
    pub fn stored_type(&self) -> DataType {
        self.codecs
            .last()
            .map_or(self.data_type, BoundCodec::outgoing)
    }

    /// The codecs, in the order of encoding.
    #[must_use]
    pub fn codecs(&self) -> &[BoundCodec] {
        &self.codecs
    }

    /// The way of the fill through the chain, where one was given.
    #[must_use]
    pub const fn fill(&self) -> Option<&FillTrace> {
        self.fill.as_ref()
    }

    /// Whether a value could be the fill: the chain encodes it, each cast gives it back, and so does the whole chain.
    #[must_use]
    pub fn accepts_fill(&self, fill: Scalar) -> bool {
        let trace = trace_fill(fill, &self.codecs);
        let mut problems = Vec::new();
        fill_problems(&trace, &self.codecs, &mut problems);
        problems.is_empty()
            && trace.stored(self.codecs.len()).is_some()
            && !trace.drifts(self.codecs.len())
    }

    /// The kernels for one direction.
    #[must_use]
    pub const fn pass(&self, direction: Direction) -> &Pass {
        match direction {
            Direction::Encode => &self.encoder,
            Direction::Decode => &self.decoder,
        }
    }

    /// Transforms one element by the exact definitions.
    ///
    /// # Errors
    ///
    /// The failure of the first codec that fails.
    pub fn transform(&self, direction: Direction, value: Scalar) -> Result<Scalar, ChainFault> {
        transform_scalar(&self.codecs, direction, value)
    }

    /// The least and the greatest array value that the chain encodes; everything between them is encoded as well.
    ///
    /// Maps are left out, since they stand for single values. `None` where every finite value is encoded, or where none was
    /// found that is.
    #[must_use]
    pub fn fitting_range(&self) -> Option<(Scalar, Scalar)> {
        *self.fitting.get_or_init(|| fitting_range(self))
    }

    /// The range of array values that the chain can store, maps left out: what the ends of the stored type decode to, as far as
    /// the types on the way hold it.
    ///
    /// `None` for a chain that no plain range describes.
    #[must_use]
    pub fn representable_range(&self) -> Option<(Scalar, Scalar)> {
        let extents = self.extents(Extent::of(self.stored_type()));
        let array = extents.first().copied().flatten()?;
        Some((array.low, array.high))
    }
}

/// Transforms one element through all codecs.
pub(super) fn transform_scalar(
    codecs: &[BoundCodec],
    direction: Direction,
    value: Scalar,
) -> Result<Scalar, ChainFault> {
    let mut value = value;
    for step in 0..codecs.len() {
        let codec = match direction {
            Direction::Encode => step,
            Direction::Decode => codecs.len() - 1 - step,
        };
        let result = match direction {
            Direction::Encode => codecs[codec].encode(value),
            Direction::Decode => codecs[codec].decode(value),
        };
        value = result.map_err(|fault| ChainFault { codec, fault })?;
    }
    Ok(value)
}

/// Sends the fill through the chain and back.
///
/// The legacy codec hands its fill on cast, not transformed, and gives it back as it was.
fn trace_fill(fill: Scalar, codecs: &[BoundCodec]) -> FillTrace {
    let mut encoded = vec![fill];
    for codec in codecs {
        let Some(current) = encoded.last().copied() else {
            break;
        };
        let next = match codec {
            BoundCodec::FixedScaleOffset(codec) => legacy::cast_fill(current, codec.stored),
            other => other.encode(current),
        };
        match next {
            Ok(next) => encoded.push(next),
            Err(_) => break,
        }
    }
    let mut decoded = Vec::new();
    if encoded.len() == codecs.len() + 1 {
        decoded.extend(encoded.last().copied());
        for (index, codec) in codecs.iter().enumerate().rev() {
            let Some(current) = decoded.last().copied() else {
                break;
            };
            let next = match codec {
                BoundCodec::FixedScaleOffset(_) => Ok(encoded[index]),
                other => other.decode(current),
            };
            match next {
                Ok(next) => decoded.push(next),
                Err(_) => break,
            }
        }
    }
    FillTrace { encoded, decoded }
}

/// The specification's demands on the fill: it can be encoded, and each `cast_value` gives it back.
fn fill_problems(trace: &FillTrace, codecs: &[BoundCodec], problems: &mut Vec<Problem>) {
    for (index, codec) in codecs.iter().enumerate() {
        let Some(&fill) = trace.encoded.get(index) else {
            break;
        };
        match codec {
            BoundCodec::ScaleOffset(_) => {
                if let Err(fault) = codec.encode(fill) {
                    problems.push(
                        Problem::invalid(
                            "scale-offset/fill-not-representable",
                            index,
                            "",
                            format!("the fill value {fill} cannot be encoded: {fault}"),
                            format!(
                                "a fill value whose shifted and scaled form is a {}",
                                fault.target
                            ),
                        )
                        .unsound(),
                    );
                }
            }
            BoundCodec::CastValue(_) => {
                let found = match codec.encode(fill) {
                    Err(fault) => format!("the fill value {fill} cannot be encoded: {fault}"),
                    Ok(code) => match codec.decode(code) {
                        Ok(back) if back.equals(fill) => continue,
                        Ok(back) => format!(
                            "the fill value {fill} is stored as {code} and comes back as {back}"
                        ),
                        Err(fault) => format!(
                            "the fill value {fill} is stored as {code} and does not come back: {fault}"
                        ),
                    },
                };
                let expected = "a fill value that survives encoding and decoding";
                let problem =
                    Problem::invalid("cast-value/fill-round-trip", index, "", found, expected);
                problems.push(problem.unsound());
            }
            BoundCodec::FixedScaleOffset(_) => {}
        }
    }
}

/// Follows a fill of NaN through codecs of which the one at `from` is at fault. Only a cast makes something else of a NaN,
/// whatever the numbers beside it are.
fn lost_nan(codecs: &[BoundCodec], from: usize, problems: &mut Vec<Problem>) {
    for (index, codec) in codecs.iter().enumerate().skip(from) {
        let cast = match codec {
            BoundCodec::ScaleOffset(_) => continue,
            BoundCodec::CastValue(cast) => cast,
            BoundCodec::FixedScaleOffset(_) => return,
        };
        let at_fault = |p: &Problem| p.codec == index && p.soundness == Soundness::Invalid;
        let fill = Scalar::nan(cast.incoming);
        match cast.encode(fill) {
            // What is wrong with its map may be the entry that is needed.
            Err(_) if problems.iter().any(at_fault) => return,
            Err(fault) => {
                let found = format!("the fill value {fill} cannot be encoded: {fault}");
                let expected = "a fill value that survives encoding and decoding";
                let id = "cast-value/fill-round-trip";
                problems.push(Problem::invalid(id, index, "", found, expected).unsound());
                return;
            }
            Ok(code) if !code.is_nan() => return,
            Ok(_) => {}
        }
    }
}

/// The place of the codec that is being bound, where problems are noted.
struct Place<'a> {
    index: usize,
    problems: &'a mut Vec<Problem>,
}

/// The problems of a chain that are listed. A hostile document has millions.
const MOST_PROBLEMS: usize = 1000;

impl Place<'_> {
    /// Notes a problem; beyond the limit, only what makes the chain invalid if nothing before has.
    fn note(&mut self, problem: Problem) {
        let invalid = |p: &Problem| p.soundness == Soundness::Invalid;
        let full = self.problems.len() >= MOST_PROBLEMS;
        if !full || invalid(&problem) && !self.problems.iter().any(invalid) {
            self.problems.push(problem);
        }
    }

    fn invalid(
        &mut self,
        id: &'static str,
        member: impl Into<String>,
        found: impl std::fmt::Display,
        expected: impl Into<String>,
    ) {
        let problem = Problem::invalid(id, self.index, member, found, expected);
        self.note(problem);
    }

    fn scalar(
        &mut self,
        id: &'static str,
        member: &str,
        literal: &Literal,
        data_type: DataType,
    ) -> Option<Scalar> {
        match Scalar::parse(literal, data_type) {
            Ok(scalar) => Some(scalar),
            Err(error) => {
                self.invalid(id, member, error, data_type.literal_forms());
                None
            }
        }
    }

    fn scale_offset(
        &mut self,
        parameters: &ScaleOffsetParameters,
        data_type: DataType,
    ) -> ScaleOffset {
        const OFFSET: &str = "/configuration/offset";
        const SCALE: &str = "/configuration/scale";
        let id = "scale-offset/scalar";
        let offset = parameters.offset.as_ref().and_then(|literal| {
            let offset = self.scalar(id, OFFSET, literal, data_type)?;
            if !offset.is_finite() {
                self.invalid(
                    "scale-offset/not-finite",
                    OFFSET,
                    format!("an offset of {literal}"),
                    "a finite number",
                );
            }
            Some(offset)
        });
        let scale = parameters.scale.as_ref().and_then(|literal| {
            let scale = self.scalar(id, SCALE, literal, data_type)?;
            if !scale.is_finite() {
                self.invalid(
                    "scale-offset/not-finite",
                    SCALE,
                    format!("a scale of {literal}"),
                    "a finite number",
                );
            } else if scale.is_zero() {
                let found = if is_zero_text(literal) {
                    format!("a scale of {literal}")
                } else {
                    format!("a scale of {literal}, which is 0 as a {data_type}")
                };
                self.invalid(
                    "scale-offset/zero-scale",
                    SCALE,
                    found,
                    "a number other than zero",
                );
            }
            Some(scale)
        });
        ScaleOffset {
            data_type,
            offset,
            scale,
        }
    }

    fn cast_value(&mut self, parameters: &CastValueParameters, incoming: DataType) -> CastValue {
        let outgoing = parameters.data_type;
        self.wrap_needs_integer(parameters);
        let encode_map = self.map("encode", &parameters.encode, incoming, outgoing);
        let decode_map = self.map("decode", &parameters.decode, outgoing, incoming);
        CastValue {
            incoming,
            outgoing,
            rounding: parameters.rounding,
            out_of_range: parameters.out_of_range,
            encode_map,
            decode_map,
        }
    }

    fn map(
        &mut self,
        name: &str,
        pairs: &[(Literal, Literal)],
        from: DataType,
        to: DataType,
    ) -> ScalarMap {
        let mut map: Vec<(Scalar, Scalar)> = Vec::new();
        let mut known: HashMap<Scalar, &Literal> = HashMap::new();
        for (n, (key, value)) in pairs.iter().enumerate() {
            let place = format!("/configuration/scalar_map/{name}/{n}");
            let id = "cast-value/map-scalar";
            let input = self.scalar(id, &format!("{place}/0"), key, from);
            let output = self.scalar(id, &format!("{place}/1"), value, to);
            let (Some(input), Some(output)) = (input, output) else {
                continue;
            };
            if let Some(first) = known.get(&input.representative()) {
                let problem = Problem::invalid(
                    "cast-value/duplicate-key",
                    self.index,
                    format!("{place}/0"),
                    format!("the input {key}, which as a {from} is the same as {first} before it"),
                    "each input once; readers differ in which of equal ones they use",
                );
                self.note(problem.unsound());
            }
            known.entry(input.representative()).or_insert(key);
            map.push((input, output));
        }
        ScalarMap::new(map)
    }

    /// Judges a codec whose incoming type is unknown by what holds for every type, and says what it gives out.
    fn judge_untyped(&mut self, codec: &Codec) -> Option<DataType> {
        match codec {
            Codec::ScaleOffset(parameters) => {
                let offset = parameters
                    .offset
                    .as_ref()
                    .map(|literal| ("offset", literal));
                let scale = parameters.scale.as_ref().map(|literal| ("scale", literal));
                for (name, literal) in offset.into_iter().chain(scale) {
                    self.untyped_parameter(name, literal);
                }
                None
            }
            Codec::CastValue(parameters) => {
                self.wrap_needs_integer(parameters);
                Some(parameters.data_type)
            }
            Codec::FixedScaleOffset(parameters) => parameters.astype.or(parameters.dtype),
            Codec::Unreadable => None,
        }
    }

    fn untyped_parameter(&mut self, name: &str, literal: &Literal) {
        let member = format!("/configuration/{name}");
        let article = if name == "scale" { "a" } else { "an" };
        let found = format!("{article} {name} of {literal}");
        match literal {
            Literal::Other(_) => {
                let expected =
                    "a number, or a string that is a fill value of the type at this place";
                self.invalid("scale-offset/scalar", member, found, expected);
            }
            Literal::Number(_) if name == "scale" && is_zero_text(literal) => {
                self.invalid(
                    "scale-offset/zero-scale",
                    member,
                    found,
                    "a number other than zero",
                );
            }
            Literal::String(text) if text.ends_with("Infinity") || text == "NaN" => {
                self.invalid("scale-offset/not-finite", member, found, "a finite number");
            }
            _ => {}
        }
    }

    fn wrap_needs_integer(&mut self, parameters: &CastValueParameters) {
        let outgoing = parameters.data_type;
        if parameters.out_of_range == Some(OutOfRange::Wrap) && outgoing.is_float() {
            self.invalid(
                "cast-value/wrap-needs-integer",
                "/configuration/out_of_range",
                format!("\"wrap\" with the data type {outgoing}"),
                "an integer data type, or \"clamp\", or no out_of_range",
            );
        }
    }

    fn legacy(
        &mut self,
        parameters: &FixedScaleOffsetParameters,
        incoming: DataType,
    ) -> Option<BoundCodec> {
        let base = parameters.base;
        let decoded = parameters.dtype.unwrap_or(incoming);
        let stored = parameters.astype.unwrap_or(decoded);
        if decoded != incoming {
            self.invalid(
                "legacy/dtype-mismatch",
                format!("{base}/dtype"),
                format!("the type {decoded}"),
                format!("{incoming}, the type at this place of the chain"),
            );
        }
        for (member, data_type) in [("dtype", decoded), ("astype", stored)] {
            if !legacy::is_supported(data_type) {
                self.invalid(
                    "legacy/unsupported-type",
                    format!("{base}/{member}"),
                    format!("the type {data_type}"),
                    "an integer type of 8 to 64 bits, float16, float32 or float64",
                );
            }
        }
        let mut number = |member: &str, literal| match Parameter::parse(literal) {
            Ok(parameter) => Some(parameter),
            Err(error) => {
                self.invalid(
                    "legacy/parameter",
                    format!("{base}/{member}"),
                    error,
                    "a JSON number",
                );
                None
            }
        };
        let offset = number("offset", &parameters.offset);
        let scale = number("scale", &parameters.scale);
        if scale.is_some_and(|scale| scale.double() == 0.0) {
            let found = format!("a scale of {}", parameters.scale);
            self.invalid(
                "legacy/zero-scale",
                format!("{base}/scale"),
                found,
                "a number other than zero",
            );
        }
        // With placeholders the rest of the chain can still be judged; the problem above keeps it from running.
        let placeholder = Parameter::Float(1.0);
        Some(BoundCodec::FixedScaleOffset(FixedScaleOffset {
            decoded: incoming,
            stored,
            scale: scale.unwrap_or(placeholder),
            offset: offset.unwrap_or(placeholder),
        }))
    }
}

/// Whether a literal says zero itself, rather than being rounded to it.
fn is_zero_text(literal: &Literal) -> bool {
    match literal {
        Literal::Number(text) => {
            let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
            !mantissa.contains(|c: char| c.is_ascii_digit() && c != '0')
        }
        _ => true,
    }
}
