//! What is written for each array, decided before anything is: its chain bound, its documents, its encoder.

use super::attributes::{self, Changes};
use super::chain::{Missing, Packing, Wanted, for_array, raw};
use super::chunks::{Cut, Limit, Present};
use super::codes::Codes;
use super::documents::{self, Spec};
use super::examine::Sentinel;
use super::one_way::OneWay;
use super::source::Source;
use super::stand_in::{StandIn, StandIns};
use super::tally::LossExample;
use super::{Domain, EncodeArgs};
use crate::catalog::{ArrayText, Text, named};
use crate::cf::Subject;
use crate::codecs::{
    ArrayDocument, CarriedFrom, ChunkChanges, ChunkEncoder, ShardLevels, packed_chain,
};
use crate::error::Error;
use crate::metadata::edit::Draft;
use crate::metadata::json::{Limits, NonFinite, Value, parse};
use crate::metadata::{Node, Problems, v3};
use crate::readers::readers;
use crate::report::reader::Reader;
use crate::transform::chain::{BoundChain, BoundCodec, Direction};
use crate::transform::data_type::DataType;
use crate::transform::scalar::Scalar;

/// What is known of an array before its chain is settled: a code for NaN may have to be found in the data.
#[derive(Debug)]
pub(super) struct Blueprint<'a> {
    pub(super) path: String,
    pub(super) source: Source,
    /// The document in INPUT, if it has one.
    text: Option<V3Text<'a>>,
    /// What the document was read as, if INPUT has one.
    original: Option<&'a ArrayText>,
    args: &'a EncodeArgs,
    /// The type that readers of OUTPUT see.
    pub(super) data_type: DataType,
    cut: Cut,
    /// How INPUT is cut, where it is.
    now: Option<Present>,
    /// The fill of INPUT, in its type; `None` where it is undefined.
    input_fill: Option<Scalar>,
}

/// The document of an array of Zarr v3, or what one of v2 becomes.
#[derive(Debug)]
pub(super) enum V3Text<'a> {
    /// It is in INPUT.
    Read(&'a Text),
    /// It was made from one of v2.
    Made(Box<Text>),
}

impl std::ops::Deref for V3Text<'_> {
    type Target = Text;

    fn deref(&self) -> &Text {
        match self {
            Self::Read(text) => text,
            Self::Made(text) => text,
        }
    }
}

/// An array whose chain is settled.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) domain: Domain,
    pub(super) packing: Packing,
    /// The chain, bound to the fill.
    pub(super) chain: BoundChain,
    pub(super) fill: Scalar,
    /// Whether INPUT or a flag says what the fill is.
    pub(super) fill_is_given: bool,
    /// What the fill is stored as; where it cannot be, zero.
    pub(super) fill_code: Scalar,
    /// Whether the code of the fill decodes to something else.
    pub(super) fill_drifts: bool,
    /// Why the fill does not survive, if it does not.
    pub(super) fill_loss: Option<LossExample>,
    /// Whether missing chunks have to be written, because OUTPUT has another fill.
    pub(super) writes_missing: bool,
    pub(super) sentinels: Vec<Sentinel>,
    /// The values that attributes call missing.
    pub(super) missing: Vec<Scalar>,
    /// Entries of maps that decoding does not undo.
    pub(super) one_way: Vec<OneWay>,
    /// Whether a map gives some number a code.
    pub(super) maps_numbers: bool,
    /// What is stored for values without a code, where that is allowed.
    pub(super) stand_ins: StandIns,
    /// Whether chunks are written that hold nothing but the fill.
    pub(super) write_empty: bool,
    /// The values that fit, where not all do.
    pub(super) fits: Option<(Scalar, Scalar)>,
    /// The values that are neither clamped nor wrapped, by a chain that does that.
    pub(super) lenient_range: Option<(Scalar, Scalar)>,
    pub(super) encoder: ChunkEncoder,
    /// The published document.
    pub(super) document: String,
    /// Which readers open the array.
    pub(super) readers: Vec<Reader>,
    /// The compressors that zstd stands in for.
    pub(super) replaced: Vec<String>,
    pub(super) attributes: Changes,
    /// How the output is cut.
    pub(super) cut: Cut,
}

impl<'a> Blueprint<'a> {
    /// Looks at an array, and at what is asked for.
    pub(super) fn new(
        path: &str,
        source: Source,
        text: Option<V3Text<'a>>,
        original: Option<&'a ArrayText>,
        args: &'a EncodeArgs,
    ) -> Result<Self, Error> {
        let name = named(path);
        let incoming = DataType::from_name(source.data_type()).ok_or_else(|| {
            let found = source.data_type();
            Error::usage(format!(
                "{name} holds {found}, and scale_offset and cast_value take real numbers"
            ))
            .hint("leave it out with --array '!...', and it is copied")
        })?;
        let data_type = match args.domain() {
            Domain::Logical => incoming,
            Domain::Stored => args.stream.dtype.ok_or_else(|| {
                Error::usage("--values stored needs --dtype: the type that codes decode to")
            })?,
        };
        if args.values.is_none() {
            refuse_codes(&name, incoming, original)?;
        }
        let (input_fill, now) = match &source {
            Source::Array(array, _) => {
                let defined = array.fill_is_defined();
                let fill = defined.then(|| Scalar::from_ne_bytes(incoming, array.fill()));
                let grid = array.chunk_shape();
                let shards = text.as_deref().and_then(shard_levels);
                (fill, Some(Present { grid, shards }))
            }
            Source::Flat(..) => (None, None),
        };
        let size = incoming.size();
        let cut = args.chunks.cut(&name, source.shape(), now.as_ref(), size)?;
        Ok(Self {
            path: path.to_owned(),
            source,
            text,
            original,
            args,
            data_type,
            cut,
            now,
            input_fill,
        })
    }

    /// Refuses chunks that would take more memory than the machine is likely to have: a chunk is stored whole, however little of it
    /// is inside the array.
    pub(super) fn require_bounded(&self, packing: &Packing, memory: u64) -> Result<(), Error> {
        let value = self.data_type.size().max(self.incoming().size());
        // Of codes there are those of the whole chunk, what they are encoded as, and what is read back.
        let element = value + 3 * packing.bound.stored_type().size();
        let shards = self.now.as_ref().and_then(|now| now.shards.as_ref());
        let whole = shards.is_some_and(|shards| shards.whole);
        let limit = Limit::of(memory);
        self.cut
            .require_bounded(&named(&self.path), element as u64, whole, limit)
    }

    /// The type of the elements of INPUT.
    fn incoming(&self) -> DataType {
        match self.args.domain() {
            Domain::Logical => self.data_type,
            Domain::Stored => {
                DataType::from_name(self.source.data_type()).unwrap_or(self.data_type)
            }
        }
    }

    fn attributes(&self) -> Option<&Value> {
        self.text.as_deref()?.parsed.root.get("attributes")
    }

    /// The chain that is asked for.
    pub(super) fn packing(&self, wanted: &Wanted) -> Result<Packing, Error> {
        let packing = for_array(wanted, &self.path, self.data_type)?;
        if self.args.domain() == Domain::Logical {
            return Ok(packing);
        }
        let (found, stored) = (self.incoming(), packing.bound.stored_type());
        let original = self.original.and_then(ArrayText::attributes);
        let reinterpreted = attributes::is_reinterpreted(original, found)
            && found.size() == stored.size()
            && stored.is_integer();
        if found != stored && !reinterpreted {
            return Err(Error::usage(format!(
                "{} holds {found}, and the chain stores {stored}",
                named(&self.path)
            ))
            .hint("with --values stored, --to is the type of INPUT"));
        }
        let Some(codes) = self.codes(stored) else {
            return Ok(packing);
        };
        if let Some(disagreement) = codes.disagreement(&packing) {
            return Err(
                Error::usage(format!("{}: {disagreement}", named(&self.path)))
                    .hint("--scale is the reciprocal of scale_factor, and --offset is add_offset"),
            );
        }
        self.with_missing_codes(packing, &codes, wanted.takes_missing_as_values())
    }

    /// The array as one of codes, where it has attributes.
    fn codes(&self, stored: DataType) -> Option<Codes<'_>> {
        let text = self.original?;
        let subject = Subject {
            attributes: text.attributes(),
            type_name: self.source.data_type(),
            data_type: Some(self.incoming()),
            fill: self.input_fill,
            is_v2: matches!(text, ArrayText::V2 { .. }),
            codecs: &[],
        };
        Some(Codes { subject, stored })
    }

    /// A chain in which what the attributes of INPUT call missing is missing too.
    fn with_missing_codes(
        &self,
        mut packing: Packing,
        codes: &Codes<'_>,
        as_values: bool,
    ) -> Result<Packing, Error> {
        let found = codes.missing().map_err(|problems| {
            let error = Error::finding(format!(
                "{}: its attributes do not say which codes are missing",
                named(&self.path)
            ));
            problems.iter().fold(error, |error, problem| {
                let name = problem.attribute.unwrap_or("fill_value");
                error.detail(format!("{name}: {}", problem.message))
            })
        })?;
        let Missing::Auto(cast) = packing.missing else {
            if as_values || !self.data_type.has_nan() {
                return Ok(packing);
            }
            // What the chain says itself has to agree.
            for (name, code) in &found {
                let value = packing.bound.transform(Direction::Decode, *code);
                if let Some(value) = value.ok().filter(|value| !value.is_nan()) {
                    return Err(Error::finding(format!(
                        "{}: {name} says that the code {code} is missing, and the chain decodes it to {value}",
                        named(&self.path)
                    ))
                    .hint(format!("decode it to NaN with a map, such as --map NaN={code}; --missing none takes it for a value")));
                }
            }
            return Ok(packing);
        };
        let mut missing: Vec<Scalar> = Vec::new();
        for (_, code) in found {
            if !missing.iter().any(|known| known.equals(code)) {
                missing.push(code);
            }
        }
        if missing.is_empty() {
            packing.missing = Missing::Settled;
            return Ok(packing);
        }
        packing.with_missing_codes(cast, &missing)
    }

    /// Builds all that is needed to write the array with a chain.
    pub(super) fn build(&self, packing: Packing) -> Result<Built, Error> {
        let stored = packing.bound.stored_type();
        let (fill, input_code) = self.fill(&packing)?;
        let (chain, problems) = packing.with_fill(fill);
        let chain = chain.ok_or_else(|| {
            Error::usage(format!("the chain for {} is invalid", named(&self.path)))
        })?;
        let codecs = chain.codecs().len();
        let trace = chain.fill();
        let code = trace.and_then(|trace| trace.stored(codecs));
        let fill_drifts = trace.is_none_or(|trace| trace.drifts(codecs));
        let fill_code = code.unwrap_or_else(|| Scalar::from_bits(stored, 0));
        let mut lost = problems;
        if let Some(input) = input_code.filter(|input| *input != fill_code) {
            lost.push(format!(
                "the fill value {input} of INPUT decodes to {fill}, which is stored as {fill_code}"
            ));
        }
        let fill_loss = (!lost.is_empty()).then(|| LossExample {
            chunk: Vec::new(),
            index: Vec::new(),
            value: fill.to_string(),
            reason: self.fill_reason(&packing, fill, &lost),
        });
        let sentinels = packing.sentinels();
        let strict = packing.strict();
        let lenient_range = strict.as_ref().and_then(BoundChain::fitting_range);
        let fits = lenient_range.or_else(|| chain.fitting_range());
        let back = chain.transform(Direction::Decode, fill_code);
        let of_fill = StandIn {
            code: fill_code,
            value: back.unwrap_or(fill),
        };
        let stand_ins = StandIns::of(&chain, fits, &sentinels, of_fill);
        let changes = match self.attributes() {
            Some(attributes) if !self.args.keep_attributes => {
                let changes = match (self.args.domain(), self.codes(stored)) {
                    (Domain::Stored, Some(codes)) => codes.changes(attributes, &packing),
                    _ => Changes::of_values(attributes, &packing),
                };
                changes.with_values_of(self.original.and_then(ArrayText::attributes))
            }
            _ => Changes::default(),
        };
        let (document, codes, replaced) = self.documents(&packing, fill, fill_code, &changes)?;
        let encoder = encoder(&codes).map_err(|error| {
            Error::usage(format!("{} cannot be written", named(&self.path))).detail(error)
        })?;
        let writes_missing = match (self.args.domain(), self.input_fill) {
            (Domain::Stored, Some(input)) => reinterpret(input, stored) != fill_code,
            (Domain::Logical, Some(input)) => !input.equals(fill),
            (_, None) => false,
        };
        Ok(Built {
            domain: self.args.domain(),
            chain,
            fill,
            fill_is_given: self.input_fill.is_some()
                || self.args.fill_value.is_some()
                || packing.fill.is_some(),
            fill_code,
            fill_drifts,
            fill_loss,
            writes_missing,
            missing: attributes::missing_values(self.attributes(), self.data_type),
            one_way: OneWay::of(&packing),
            maps_numbers: packing.maps_numbers(),
            stand_ins,
            write_empty: self.args.write_empty,
            sentinels,
            fits,
            lenient_range,
            encoder,
            readers: readers_of(&document),
            document,
            replaced,
            attributes: changes,
            packing,
            cut: self.cut.clone(),
        })
    }

    /// Which readers open the array once a code for NaN has been found, whichever it is.
    pub(super) fn readers_with_code(&self, packing: &Packing, cast: usize) -> Vec<Reader> {
        let taken = |code: &Scalar| match packing.bound.codecs().get(cast) {
            Some(BoundCodec::CastValue(cast)) => {
                let mut entries = cast.decode_map.entries().iter();
                entries.any(|(key, _)| key == code)
            }
            _ => false,
        };
        let (low, high) = Scalar::finite_range(packing.outgoing(cast));
        let free = [low, high].into_iter().find(|code| !taken(code));
        let packing = free.and_then(|code| packing.with_missing(cast, code).ok());
        let built = packing.and_then(|packing| self.build(packing).ok());
        built.map_or_else(Vec::new, |built| built.readers)
    }

    /// The fill of the output, and where INPUT holds codes that of INPUT as a code, if it is kept.
    fn fill(&self, packing: &Packing) -> Result<(Scalar, Option<Scalar>), Error> {
        let data_type = self.data_type;
        let asked = self
            .args
            .fill_value
            .as_ref()
            .map(|fill| (&fill.0, "--fill-value"));
        let planned = packing
            .fill
            .as_ref()
            .map(|fill| (fill, "the fill value of the plan"));
        if let Some((literal, origin)) = asked.or(planned) {
            let fill = Scalar::parse(literal, data_type).map_err(|error| {
                Error::usage(format!("{origin} for {}: {error}", named(&self.path)))
            })?;
            return Ok((fill, None));
        }
        match (self.input_fill, self.args.domain()) {
            (Some(fill), Domain::Logical) => Ok((fill, None)),
            (Some(fill), Domain::Stored) => {
                let code = reinterpret(fill, packing.bound.stored_type());
                let fill = packing.bound.transform(Direction::Decode, code);
                let fill = fill.map_err(|fault| {
                    Error::finding(format!(
                        "{}: the fill value {code} does not decode: {}",
                        named(&self.path),
                        fault.fault
                    ))
                    .hint("--fill-value gives another")
                })?;
                Ok((fill, Some(code)))
            }
            (None, Domain::Stored) if matches!(self.source, Source::Array(..)) => {
                // What was never written is undefined, and read as zeros.
                let zero = Scalar::from_bits(packing.bound.stored_type(), 0);
                let fill = packing.bound.transform(Direction::Decode, zero).ok();
                let fill = fill.filter(|fill| packing.with_fill(*fill).1.is_empty());
                Ok((fill.unwrap_or_else(|| self.free_fill(packing)), None))
            }
            (None, _) => Ok((self.free_fill(packing), None)),
        }
    }

    /// A fill that survives, for an array in which nothing is missing or what is missing is undefined.
    fn free_fill(&self, packing: &Packing) -> Scalar {
        let zero = Scalar::from_bits(self.data_type, 0);
        let mut candidates = vec![zero];
        candidates.extend(packing.sentinels().iter().map(|sentinel| sentinel.value));
        candidates.extend(surviving(packing, zero));
        let survives = |fill: &&Scalar| packing.with_fill(**fill).1.is_empty();
        *candidates.iter().find(survives).unwrap_or(&zero)
    }

    /// Why the fill is lost, and what would not be.
    fn fill_reason(&self, packing: &Packing, lossy: Scalar, lost: &[String]) -> String {
        let mut reason = format!(
            "the fill value {lossy} does not survive: {}",
            lost.join("; ")
        );
        let fill = self
            .input_fill
            .filter(|_| self.args.domain() == Domain::Logical);
        let zero = Scalar::from_bits(self.data_type, 0);
        let nearest = surviving(packing, fill.unwrap_or(zero));
        let mut choices: Vec<String> = nearest
            .into_iter()
            .take(1)
            .map(|fill| format!("--fill-value {}", fill.to_json().trim_matches('"')))
            .collect();
        let nan = packing
            .sentinels()
            .iter()
            .any(|sentinel| sentinel.value.is_nan());
        if nan || matches!(packing.missing, Missing::Auto(_)) {
            choices.push("--fill-value NaN".to_owned());
            choices.dedup();
        }
        if !choices.is_empty() {
            reason.push_str(&format!("; {} would do", choices.join(" or ")));
        }
        reason
    }

    /// The published document, that of the codes, and the compressors that zstd stands in for.
    fn documents(
        &self,
        packing: &Packing,
        fill: Scalar,
        fill_code: Scalar,
        changes: &Changes,
    ) -> Result<(String, String, Vec<String>), Error> {
        let stored = packing.bound.stored_type();
        let now = self.now.as_ref().and_then(|now| now.shards.as_ref());
        let (was_sharded, is_sharded) = (now.is_some(), self.cut.inner.is_some());
        let stays = |inner: &Vec<u64>| {
            let nested_and_asked =
                |now: &ShardLevels| now.nested && self.args.chunks.chunks.is_some();
            now.is_some_and(|now| now.inner == *inner && !nested_and_asked(now))
        };
        let chunks = ChunkChanges {
            compressor: match (&self.args.chunks.compressor, self.text.as_deref()) {
                (Some(compressor), _) => Some(compressor.codecs(stored.size())),
                // What is new is compressed as zarr-python does it.
                (None, None) => Some(super::CompressorArg::Zstd { level: 3 }.codecs(stored.size())),
                (None, Some(_)) => None,
            },
            inner_chunks: self.cut.inner.clone().filter(|inner| !stays(inner)),
            shards: (was_sharded != is_sharded).then_some(is_sharded),
        };
        let chains = |from: CarriedFrom<'_, '_>| {
            let chain = |packing: &[Draft]| packed_chain(from, packing, stored.size(), &chunks);
            (chain(&packing.drafts), chain(&[]))
        };
        let shape = self.source.shape();
        // The digits of the document stay where the fill does.
        let keeps = self.args.domain() == Domain::Logical
            && self.input_fill.is_some_and(|input| input == fill);
        let spec = |codecs: Draft, data_type: &'a str| Spec {
            shape,
            data_type,
            fill: (!keeps).then(|| raw(&fill.to_json())),
            grid: &self.cut.grid,
            codecs,
            attributes: changes,
        };
        let name = self.data_type.name();
        let ((packed, plain), document) = match self.text.as_deref() {
            None => {
                let chains = chains(CarriedFrom::New);
                let spec = spec(chains.0.codecs.clone(), name);
                (chains, documents::new(raw(&fill.to_json()), &spec))
            }
            Some(text) => {
                let mut problems = Problems::default();
                let root = Node::root(&text.parsed.root);
                let v3::Document::Array(array) = v3::read(&root, &mut problems) else {
                    return Err(Error::finding("zarr.json is no array"));
                };
                let codecs = array
                    .codecs
                    .ok_or_else(|| Error::finding("zarr.json has no codecs"))?;
                let chains = chains(CarriedFrom::V3(&codecs));
                let document = documents::from_v3(text, &spec(chains.0.codecs.clone(), name))?;
                (chains, document)
            }
        };
        let keys = self
            .text
            .as_deref()
            .map_or_else(documents::keys_default, documents::keys);
        let codes = documents::of_codes(
            keys,
            raw(&fill_code.to_json()),
            &spec(plain.codecs, stored.name()),
        );
        Ok((document, codes, packed.replaced))
    }
}

/// How the chunks of an array are cut into the pieces of shards.
fn shard_levels(text: &Text) -> Option<ShardLevels> {
    let mut problems = Problems::default();
    let root = Node::root(&text.parsed.root);
    match v3::read(&root, &mut problems) {
        v3::Document::Array(array) => ShardLevels::of(&array.codecs?),
        _ => None,
    }
}

/// Refuses integers that are codes of CF packing, where nothing says whether they are to be taken for codes or for values.
fn refuse_codes(
    name: &str,
    data_type: DataType,
    original: Option<&ArrayText>,
) -> Result<(), Error> {
    let packing = attributes::packed_by(original.and_then(ArrayText::attributes), data_type);
    match packing {
        None => Ok(()),
        Some(attribute) => Err(Error::usage(format!(
            "{name} holds integers with {attribute}: they are codes, and would be packed once more"
        ))
        .hint("--values stored keeps them as codes, with --scale for the reciprocal of scale_factor and --dtype; decode --cf unpacks them")
        .hint("--values logical packs the integers themselves; --array '!...' leaves the array out")),
    }
}

/// Fills near a value that survive the chain.
fn surviving(packing: &Packing, fill: Scalar) -> Vec<Scalar> {
    let bound = &packing.bound;
    let stored = bound.stored_type();
    let ends = bound
        .fitting_range()
        .map_or_else(Vec::new, |(low, high)| vec![low, high]);
    let near = [fill].into_iter().chain(ends);
    let codes = near.filter_map(|value| bound.transform(Direction::Encode, value).ok());
    let codes = codes.chain((0..=16).map(|n| Scalar::from_bits(stored, n)));
    let fills = codes.filter_map(|code| bound.transform(Direction::Decode, code).ok());
    fills
        .filter(|fill| {
            let (chain, problems) = packing.with_fill(*fill);
            let drifts = chain.is_none_or(|chain| {
                let codecs = chain.codecs().len();
                chain.fill().is_none_or(|trace| trace.drifts(codecs))
            });
            problems.is_empty() && !drifts
        })
        .collect()
}

/// The same bits as an element of a type of the same size.
fn reinterpret(value: Scalar, data_type: DataType) -> Scalar {
    Scalar::from_bits(data_type, value.bits())
}

/// Which readers open the array of a document.
fn readers_of(document: &str) -> Vec<Reader> {
    let readers = with_array(document, |array| {
        let verdicts = readers(ArrayDocument::V3(array)).into_iter();
        verdicts.map(Reader::from).collect()
    });
    readers.unwrap_or_default()
}

/// An encoder for the array of a document.
fn encoder(document: &str) -> Result<ChunkEncoder, String> {
    with_array(document, |array| {
        ChunkEncoder::new(ArrayDocument::V3(array)).map_err(|error| error.to_string())
    })?
}

/// Reads the document of an array that was made here.
pub(super) fn with_array<R>(
    document: &str,
    use_it: impl FnOnce(&v3::Array<'_>) -> R,
) -> Result<R, String> {
    let parsed = parse(document.as_bytes(), &Limits::default(), NonFinite::Keep);
    let parsed = parsed.map_err(|error| error.to_string())?;
    let mut problems = Problems::default();
    let document = v3::read(&Node::root(&parsed.root), &mut problems);
    let array = match document {
        v3::Document::Array(array) => array.complete(),
        _ => None,
    };
    match array {
        Some(array) => Ok(use_it(&array)),
        None => Err("the document is no array".to_owned()),
    }
}
