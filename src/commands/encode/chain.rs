//! The chain of an array: what the flags ask for, bound to the type of the array.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::params::Plan;
use super::values::{LiteralArg, NoLiteral, draft};
use crate::catalog::named;
use crate::cli::{DataTypeParser, JsonSource};
use crate::codecs::configuration::{
    CAST_VALUE, LEGACY, LEGACY_V2, Reading, SCALE_OFFSET, read_list,
};
use crate::error::Error;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::transform::chain::{BoundChain, BoundCodec, Direction, bind};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::parameters::Codec;
use crate::transform::rounding::{OutOfRange, Rounding};
use crate::transform::scalar::Scalar;

use super::examine::Sentinel;

/// The flags that make a chain.
#[derive(Debug, Clone, Args)]
pub struct ChainArgs {
    /// Number that is subtracted before scaling
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub offset: Option<LiteralArg>,

    /// Factor that shifted values are multiplied by: the reciprocal of CF's scale_factor
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    pub scale: Option<LiteralArg>,

    /// Data type to store
    #[arg(long, value_name = "TYPE", value_parser = DataTypeParser, hide_possible_values = true)]
    pub to: Option<DataType>,

    /// How to round [default: nearest-even]
    #[arg(long, value_name = "MODE", value_parser = rounding)]
    pub rounding: Option<Rounding>,

    /// What to store for values out of range: clamp or wrap [default: refuse them]
    #[arg(long, value_name = "MODE", value_parser = out_of_range)]
    pub out_of_range: Option<OutOfRange>,

    /// Code B for value A, in both directions; repeatable
    ///
    /// A is the value that enters the cast, after shifting and scaling: NaN stays NaN, and with --scale 100 a missing -9999
    /// is -999900.
    #[arg(long, value_name = "A=B", allow_hyphen_values = true)]
    pub map: Vec<MapArg>,

    /// Code for NaN: auto finds one that no value uses, where there are NaNs; none refuses NaN [default: auto]
    ///
    /// With --codecs and --params, which say themselves what NaN becomes, nothing is added unless this is given.
    #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
    pub missing: Option<MissingArg>,

    /// Take chains from what suggest-params printed: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub params: Option<PathBuf>,

    /// Find the chain whose errors are at most this large, as suggest-params would recommend it
    #[arg(long, value_name = "ERROR", value_parser = tolerance)]
    pub max_error: Option<f64>,
}

/// A pair of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapArg {
    /// The value that enters the cast.
    pub value: LiteralArg,
    /// Its code.
    pub code: LiteralArg,
}

/// Why a text is no [`MapArg`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoMap {
    /// There is no pair.
    #[error("expected a value and its code, such as NaN=-32768")]
    NoPair,
    /// One of the two is no scalar.
    #[error(transparent)]
    NoLiteral(#[from] NoLiteral),
}

impl FromStr for MapArg {
    type Err = NoMap;

    fn from_str(text: &str) -> Result<Self, NoMap> {
        let (value, code) = text.split_once('=').ok_or(NoMap::NoPair)?;
        Ok(Self {
            value: value.parse()?,
            code: code.parse()?,
        })
    }
}

/// The value of `--missing`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingArg {
    /// A code that no value uses, if one is needed.
    Auto,
    /// None.
    None,
    /// This one.
    Code(LiteralArg),
}

impl FromStr for MissingArg {
    type Err = NoLiteral;

    fn from_str(text: &str) -> Result<Self, NoLiteral> {
        match text {
            "auto" => Ok(Self::Auto),
            "none" => Ok(Self::None),
            text => text.parse().map(Self::Code),
        }
    }
}

fn rounding(text: &str) -> Result<Rounding, String> {
    let words = Rounding::ALL.map(Rounding::name).join(", ");
    Rounding::from_name(text).ok_or_else(|| format!("expected one of {words}"))
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number, 0 or more".to_owned())
}

fn out_of_range(text: &str) -> Result<OutOfRange, String> {
    OutOfRange::from_name(text).ok_or_else(|| "expected clamp or wrap".to_owned())
}

impl ChainArgs {
    /// A flag that was given, if one was.
    pub(super) fn given(&self) -> Option<&'static str> {
        let flags = [
            ("--missing", self.missing.is_some()),
            ("--params", self.params.is_some()),
            ("--max-error", self.max_error.is_some()),
        ];
        let other = flags.into_iter().find(|(_, given)| *given);
        self.parts().or(other.map(|(flag, _)| flag))
    }

    /// A flag that is a part of a chain, if one was given.
    fn parts(&self) -> Option<&'static str> {
        let flags = [
            ("--offset", self.offset.is_some()),
            ("--scale", self.scale.is_some()),
            ("--to", self.to.is_some()),
            ("--rounding", self.rounding.is_some()),
            ("--out-of-range", self.out_of_range.is_some()),
            ("--map", !self.map.is_empty()),
        ];
        let given = flags.into_iter().find(|(_, given)| *given);
        given.map(|(flag, _)| flag)
    }

    /// The codecs that the flags spell out.
    fn codecs(&self) -> Result<Vec<Draft>, Error> {
        let mut codecs = Vec::new();
        let parameters = [("offset", &self.offset), ("scale", &self.scale)];
        let parameters = parameters.iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some((*name, value.draft()))
        });
        let parameters: Vec<_> = parameters.collect();
        if !parameters.is_empty() {
            codecs.push(codec(SCALE_OFFSET, Draft::object(parameters)));
        }
        let Some(to) = self.to else {
            let casts = [
                ("--rounding", self.rounding.is_some()),
                ("--out-of-range", self.out_of_range.is_some()),
                ("--map", !self.map.is_empty()),
            ];
            return match casts.iter().find(|(_, given)| *given) {
                Some((flag, _)) => Err(Error::usage(format!("{flag} needs --to"))),
                None => Ok(codecs),
            };
        };
        let mut members = vec![("data_type", Draft::string(to.name()))];
        if let Some(rounding) = self.rounding {
            members.push(("rounding", Draft::string(rounding.name())));
        }
        if let Some(out_of_range) = self.out_of_range {
            members.push(("out_of_range", Draft::string(out_of_range.name())));
        }
        if !self.map.is_empty() {
            let pairs = |turned: bool| {
                let pairs = self.map.iter().map(|MapArg { value, code }| {
                    let (a, b) = (value.draft(), code.draft());
                    Draft::Array(if turned { vec![b, a] } else { vec![a, b] })
                });
                Draft::Array(pairs.collect())
            };
            let map = Draft::object([("encode", pairs(false)), ("decode", pairs(true))]);
            members.push(("scalar_map", map));
        }
        codecs.push(codec(CAST_VALUE, Draft::object(members)));
        Ok(codecs)
    }
}

fn codec(name: &str, configuration: Draft) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", configuration),
    ])
}

/// The chain that is asked for, for every array that is packed.
#[derive(Debug)]
pub(super) struct Wanted {
    source: WantedSource,
    /// `--missing`, where it was given.
    missing: Option<MissingArg>,
}

#[derive(Debug)]
enum WantedSource {
    /// One chain for all arrays.
    Codecs {
        codecs: Vec<Draft>,
        origin: String,
        parts: bool,
    },
    /// One each.
    Plan(Plan),
    /// One each, still to be found: with errors of at most this.
    Sought(f64),
}

impl Wanted {
    /// Reads what the flags ask for, files that they name included.
    pub(super) fn read(args: &ChainArgs, codecs: Option<&JsonSource>) -> Result<Self, Error> {
        let ways = [
            args.parts(),
            codecs.map(|_| "--codecs"),
            args.params.as_ref().map(|_| "--params"),
            args.max_error.map(|_| "--max-error"),
        ];
        let ways: Vec<_> = ways.into_iter().flatten().collect();
        let source = match (ways.as_slice(), codecs, &args.params) {
            ([], ..) => {
                return Err(
                    Error::usage("no chain: nothing says how values become codes")
                        .hint("give --offset, --scale and --to, or --codecs, or --params"),
                );
            }
            ([a, b, ..], ..) => {
                return Err(
                    Error::usage(format!("{a} and {b} are two ways to give the chain"))
                        .hint("give one of them"),
                );
            }
            (_, Some(source), _) => {
                let text = source.read("--codecs")?;
                let parsed = parse(text.text.as_bytes(), &Limits::default(), NonFinite::Refuse);
                let refused = |error: Error| match text.hint() {
                    Some(hint) => error.hint(hint),
                    None => error,
                };
                let parsed = parsed.map_err(|cause| {
                    refused(Error::usage(format!("{} is not JSON", text.origin)).because(cause))
                })?;
                let origin = text.origin.to_string();
                let reading = read_list(&parsed).map_err(|found| {
                    refused(Error::usage(format!(
                        "{origin} is {found}; expected a list of codecs"
                    )))
                })?;
                refuse_problems(&origin, &reading, &[])?;
                WantedSource::Codecs {
                    codecs: object_forms(&parsed.root),
                    origin,
                    parts: false,
                }
            }
            (_, _, Some(path)) => WantedSource::Plan(Plan::read(path)?),
            _ if let Some(error) = args.max_error => {
                if args.missing.is_some() {
                    return Err(Error::usage("--missing cannot be used with --max-error")
                        .hint("a code for NaN is part of the chain that is found; suggest-params takes --missing"));
                }
                WantedSource::Sought(error)
            }
            _ => WantedSource::Codecs {
                codecs: args.codecs()?,
                origin: "the command line".to_owned(),
                parts: true,
            },
        };
        Ok(Self {
            source,
            missing: args.missing.clone(),
        })
    }

    /// The plan, if chains come from one.
    pub(super) const fn plan(&self) -> Option<&Plan> {
        match &self.source {
            WantedSource::Plan(plan) => Some(plan),
            WantedSource::Codecs { .. } | WantedSource::Sought(_) => None,
        }
    }

    /// The largest error of the chains that are still to be found.
    pub(super) const fn sought(&self) -> Option<f64> {
        match self.source {
            WantedSource::Sought(error) => Some(error),
            _ => None,
        }
    }

    /// Whether codes that INPUT calls missing are to be taken for values.
    pub(super) fn takes_missing_as_values(&self) -> bool {
        self.missing == Some(MissingArg::None)
    }

    /// The chains that were found.
    pub(super) const fn found(plan: Plan) -> Self {
        Self {
            source: WantedSource::Plan(plan),
            missing: None,
        }
    }
}

/// The codecs of a list in the form of objects, which every reader takes.
pub(super) fn object_forms(list: &Value) -> Vec<Draft> {
    let entries = list.as_array().unwrap_or_default();
    let form = |entry| match Draft::from(entry) {
        Draft::String(name) => codec(&name, Draft::object::<String>([])),
        Draft::Object(mut members) => {
            if !members.iter().any(|(name, _)| name == "configuration") {
                members.push(("configuration".to_owned(), Draft::object::<String>([])));
            }
            Draft::Object(members)
        }
        other => other,
    };
    entries.iter().map(form).collect()
}

/// What becomes of NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// The chain says it, or there is no NaN.
    Settled,
    /// The cast at this place gets a code for it if there turns out to be one.
    Auto(usize),
}

/// The chain of one array.
#[derive(Debug)]
pub(super) struct Packing {
    /// The codecs, as the document will have them.
    pub(super) drafts: Vec<Draft>,
    pub(super) bound: BoundChain,
    pub(super) missing: Missing,
    /// The fill value that a plan asks for.
    pub(super) fill: Option<Literal>,
    parameters: Vec<Codec>,
}

/// The chain that is asked for, bound to the type of an array.
///
/// This is the one place where a chain comes from, however it was asked for.
///
/// # Errors
///
/// Where the chain is none for arrays of this type, or a plan has none for this array.
pub(super) fn for_array(
    wanted: &Wanted,
    path: &str,
    data_type: DataType,
) -> Result<Packing, Error> {
    let (codecs, origin, fill, parts) = match &wanted.source {
        WantedSource::Codecs {
            codecs,
            origin,
            parts,
        } => (codecs.clone(), origin.clone(), None, *parts),
        WantedSource::Plan(plan) => {
            let entry = plan.for_array(path, data_type)?;
            let origin = plan.origin.clone();
            (entry.codecs.clone(), origin, entry.fill.clone(), false)
        }
        WantedSource::Sought(_) => {
            let message = format!("{}: its chain was not looked for", named(path));
            return Err(Error::finding(message));
        }
    };
    let place = format!("{} for {}, which holds {data_type}", origin, named(path));
    let mut packing = Packing::read(data_type, codecs, &place)?;
    if packing.bound.codecs().is_empty() {
        return Err(Error::usage(format!("the chain in {place}, is empty"))
            .hint("decode writes stores in which nothing is packed"));
    }
    packing.fill = fill;
    // What the chain says itself is not added to unless that is asked for.
    let missing = match (&wanted.missing, parts) {
        (None, false) => return Ok(packing),
        (None, true) => &MissingArg::Auto,
        (Some(missing), _) => missing,
    };
    let cast = packing.cast_without_nan();
    match (missing, cast) {
        (MissingArg::None, _) | (MissingArg::Auto, None) => Ok(packing),
        (MissingArg::Auto, Some(cast)) => {
            packing.missing = Missing::Auto(cast);
            Ok(packing)
        }
        (MissingArg::Code(_), None) => Err(Error::usage(format!(
            "--missing: the chain in {place}, needs no code for NaN"
        ))
        .hint("there is no NaN in such arrays, or the chain has its code already")),
        (MissingArg::Code(code), Some(cast)) => {
            let stored = packing.outgoing(cast);
            let code = Scalar::parse(&code.0, stored);
            let code = code.map_err(|error| Error::usage(format!("--missing: {error}")))?;
            packing.with_missing(cast, code)
        }
    }
}

impl Packing {
    /// Reads and binds codecs.
    fn read(data_type: DataType, drafts: Vec<Draft>, place: &str) -> Result<Self, Error> {
        let text = Draft::Array(drafts.clone()).to_document(&Layout::default());
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse);
        let parsed =
            parsed.map_err(|error| Error::usage(format!("{place}, is not JSON")).because(error))?;
        let reading = read_list(&parsed)
            .map_err(|found| Error::usage(format!("{place}, is {found}; expected a list")))?;
        let binding = bind(data_type, None, &reading.codecs);
        refuse_problems(place, &reading, &binding.problems)?;
        let bound = binding
            .chain
            .ok_or_else(|| Error::usage(format!("the chain in {place}, is invalid")))?;
        Ok(Self {
            drafts,
            bound,
            missing: Missing::Settled,
            fill: None,
            parameters: reading.codecs,
        })
    }

    /// The cast that loses NaN and has no code for it.
    fn cast_without_nan(&self) -> Option<usize> {
        let casts = self.bound.codecs().iter().enumerate();
        let mut reach = casts.filter_map(|(n, codec)| match codec {
            BoundCodec::CastValue(cast) => Some((n, cast)),
            _ => None,
        });
        let nan = Literal::String("NaN".to_owned());
        let (n, cast) =
            reach.find(|(_, cast)| cast.incoming.has_nan() && !cast.outgoing.has_nan())?;
        let nan = Scalar::parse(&nan, cast.incoming).ok()?;
        cast.encode_map.get(nan).is_none().then_some(n)
    }

    /// The type that the codec at a place makes.
    pub(super) fn outgoing(&self, codec: usize) -> DataType {
        let codec = self.bound.codecs().get(codec);
        codec.map_or(self.bound.stored_type(), BoundCodec::outgoing)
    }

    /// The same chain with a code for NaN, both ways.
    pub(super) fn with_missing(&self, cast: usize, code: Scalar) -> Result<Self, Error> {
        self.with_missing_codes(cast, &[code])
    }

    /// The same chain with codes that are all NaN. The first is the one that NaN is given.
    pub(super) fn with_missing_codes(&self, cast: usize, codes: &[Scalar]) -> Result<Self, Error> {
        let mut drafts = self.drafts.clone();
        if let Some(Draft::Object(members)) = drafts.get_mut(cast)
            && let Some((_, Draft::Object(members))) =
                members.iter_mut().find(|(name, _)| name == "configuration")
        {
            let at = members.iter().position(|(name, _)| name == "scalar_map");
            let at = at.unwrap_or_else(|| {
                members.push(("scalar_map".to_owned(), Draft::object::<String>([])));
                members.len() - 1
            });
            let nan = || Draft::string("NaN");
            for (n, code) in codes.iter().enumerate() {
                let code = raw(&code.to_json());
                if n == 0 {
                    add_pair(&mut members[at].1, "encode", nan(), code.clone());
                }
                add_pair(&mut members[at].1, "decode", code, nan());
            }
        }
        let mut with = Self::read(
            self.bound.data_type(),
            drafts,
            "the chain with a code for NaN",
        )?;
        with.fill.clone_from(&self.fill);
        Ok(with)
    }

    /// The chain bound to a fill as well, and what is wrong with that.
    pub(super) fn with_fill(&self, fill: Scalar) -> (Option<BoundChain>, Vec<String>) {
        let binding = bind(self.bound.data_type(), Some(fill), &self.parameters);
        let problems = binding.problems.iter();
        (
            binding.chain,
            problems.map(|problem| problem.found.clone()).collect(),
        )
    }

    /// The same chain without maps.
    pub(super) fn without_maps(&self) -> Option<BoundChain> {
        let mut parameters = self.parameters.clone();
        for codec in &mut parameters {
            if let Codec::CastValue(cast) = codec {
                cast.encode.clear();
                cast.decode.clear();
            }
        }
        bind(self.bound.data_type(), None, &parameters).chain
    }

    /// The same chain refusing what it would clamp or wrap; `None` if it does neither.
    pub(super) fn strict(&self) -> Option<BoundChain> {
        let mut parameters = self.parameters.clone();
        let mut lenient = false;
        for codec in &mut parameters {
            if let Codec::CastValue(cast) = codec {
                lenient |= cast.out_of_range.take().is_some();
            }
        }
        let strict = lenient.then(|| bind(self.bound.data_type(), None, &parameters).chain);
        strict.flatten()
    }

    /// Whether a map gives some finite value a code.
    pub(super) fn maps_numbers(&self) -> bool {
        self.bound.codecs().iter().any(|codec| match codec {
            BoundCodec::CastValue(cast) => {
                let mut entries = cast.encode_map.entries().iter();
                entries.any(|(value, _)| value.is_finite())
            }
            _ => false,
        })
    }

    /// The codes that stand for one value, with what they decode to.
    pub(super) fn sentinels(&self) -> Vec<Sentinel> {
        let mut sentinels: Vec<Sentinel> = Vec::new();
        for (n, codec) in self.bound.codecs().iter().enumerate() {
            let BoundCodec::CastValue(cast) = codec else {
                continue;
            };
            for (entry, _) in cast.decode_map.entries() {
                let behind = &self.bound.codecs()[n + 1..];
                let code = behind
                    .iter()
                    .try_fold(*entry, |code, codec| codec.encode(code));
                let Ok(code) = code else { continue };
                // A later cast may clamp it, or map it to something else.
                let mut back = behind.iter().rev();
                let back = back.try_fold(code, |code, codec| codec.decode(code));
                if !back.is_ok_and(|back| back.equals(*entry)) {
                    continue;
                }
                let Ok(value) = self.bound.transform(Direction::Decode, code) else {
                    continue;
                };
                if !sentinels.iter().any(|known| known.code == code) {
                    sentinels.push(Sentinel { code, value });
                }
            }
        }
        sentinels
    }
}

/// A scalar's JSON as a draft.
pub(super) fn raw(json: &str) -> Draft {
    match json
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    {
        Some(word) => Draft::string(word),
        None => draft(&Literal::Number(json.to_owned())),
    }
}

fn add_pair(map: &mut Draft, direction: &str, from: Draft, to: Draft) {
    let Draft::Object(members) = map else { return };
    let at = members.iter().position(|(name, _)| name == direction);
    let at = at.unwrap_or_else(|| {
        members.push((direction.to_owned(), Draft::Array(Vec::new())));
        members.len() - 1
    });
    if let Draft::Array(pairs) = &mut members[at].1 {
        pairs.push(Draft::Array(vec![from, to]));
    }
}

/// Refuses a chain with any problem: what is only unsound is not written either.
fn refuse_problems(
    place: &str,
    reading: &Reading,
    bound: &[crate::transform::problem::Problem],
) -> Result<(), Error> {
    const MOST_LISTED: usize = 100;
    let mut problems: Vec<String> = reading
        .problems
        .iter()
        .chain(bound)
        .map(ToString::to_string)
        .collect();
    for (n, name) in reading.names.iter().enumerate() {
        if name == LEGACY || name == LEGACY_V2 {
            problems.push(format!(
                "codec {n}: the legacy codec, which is read and not written; expected scale_offset and cast_value"
            ));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let error = Error::usage(format!("the chain in {place}, is invalid"));
    let listed = problems.into_iter().take(MOST_LISTED);
    Err(listed.fold(error, Error::detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packing(codecs: &str, data_type: DataType) -> Packing {
        let parsed = parse(codecs.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        Packing::read(data_type, object_forms(&parsed.root), "a test").unwrap()
    }

    const PAIR: &str = r#"[{"name":"scale_offset","configuration":{"scale":100}},
        {"name":"cast_value","configuration":{"data_type":"int16"}}]"#;

    #[test]
    fn a_code_for_nan_is_added_both_ways() {
        let pair = packing(PAIR, DataType::Float32);
        assert_eq!(pair.cast_without_nan(), Some(1));
        let code = Scalar::from_integer(DataType::Int16, -32768).unwrap();
        let with = pair.with_missing(1, code).unwrap();
        assert_eq!(with.cast_without_nan(), None);
        let text = Draft::Array(with.drafts.clone()).to_document(&Layout::default());
        let text: String = text.split_whitespace().collect();
        assert!(
            text.ends_with(
                r#""scalar_map":{"encode":[["NaN",-32768]],"decode":[[-32768,"NaN"]]}}}]"#
            ),
            "{text}"
        );
        let sentinels = with.sentinels();
        assert_eq!(sentinels.len(), 1);
        assert!(sentinels[0].value.is_nan() && sentinels[0].code.equals(code));
    }

    #[test]
    fn integers_need_no_code_for_nan() {
        let pair =
            r#"["scale_offset",{"name":"cast_value","configuration":{"data_type":"uint8"}}]"#;
        assert_eq!(packing(pair, DataType::Int16).cast_without_nan(), None);
    }

    #[test]
    fn sentinels_of_an_early_cast_are_told_by_the_last_code() {
        let chain = r#"[{"name":"cast_value","configuration":{"data_type":"int32","scalar_map":
              {"encode":[["NaN",7]],"decode":[[7,"NaN"]]}}},
            {"name":"scale_offset","configuration":{"offset":5}},
            {"name":"cast_value","configuration":{"data_type":"uint8"}}]"#;
        let sentinels = packing(chain, DataType::Float64).sentinels();
        assert_eq!(sentinels[0].code.integer(), Some(2));
    }

    #[test]
    fn a_chain_that_clamps_has_a_strict_twin() {
        let clamp = PAIR.replace(r#""int16""#, r#""int16","out_of_range":"clamp""#);
        let strict = packing(&clamp, DataType::Float32).strict().unwrap();
        assert!(strict.fitting_range().is_some());
        assert!(packing(PAIR, DataType::Float32).strict().is_none());
    }

    #[test]
    fn maps_are_pairs() {
        let map: MapArg = "-999900=-32768".parse().unwrap();
        assert_eq!(map.value.to_string(), "-999900");
        assert_eq!(map.code.to_string(), "-32768");
        assert!("NaN".parse::<MapArg>().is_err());
        assert!("nan=1".parse::<MapArg>().is_err());
    }
}
