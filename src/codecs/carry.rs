//! Carrying a chain over to another array: what stays of the codecs when elements get another size, and packing comes or goes.

use serde_json::Value as Json;

use super::encode::is_written;
use super::lower::TRANSPOSE;
use super::v2::core_compressor;
use crate::metadata::edit::{Draft, Layout};
use crate::metadata::json::Value;
use crate::metadata::v3::{Chain, Codec, SHARDING};

/// Codecs from bytes to bytes that every reader of Zarr v3 has.
const CORE: [&str; 3] = ["gzip", "zstd", "crc32c"];

/// The level of the compressor that stands in for one that few readers have, or that is only read here.
const SUBSTITUTE_LEVEL: u64 = 5;

/// How a chain is carried over.
#[derive(Debug)]
pub(super) struct Carry<'a> {
    /// The bytes of an element as it is stored.
    element_size: usize,
    /// The packing codecs, first in the chain of the innermost chunks.
    packing: &'a [Draft],
    /// Whether the codecs of numcodecs stay where they can be written. Else those of the specification stand in for them.
    keep_numcodecs: bool,
    /// What stands in for the compressors, if they are not carried over.
    compressor: Option<&'a [Draft]>,
    /// The lengths of the inner chunks of a shard along the dimensions of the array, if they change. There are no shards in shards
    /// then.
    inner_chunks: Option<&'a [u64]>,
    /// The names of the compressors that zstd stands in for.
    pub(super) replaced: Vec<String>,
}

/// What the chunks of an array that is written look like, as far as that is not carried over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkChanges {
    /// The compressor, or none where the list is empty.
    pub compressor: Option<Vec<Draft>>,
    /// The lengths of the pieces of a shard along the dimensions of the array, if they change. Shards in shards become shards of
    /// such pieces.
    pub inner_chunks: Option<Vec<u64>>,
    /// Whether there are shards; as before where it is absent. With shards where there were none, `inner_chunks` is set too.
    pub shards: Option<bool>,
}

/// A chain in which packing codecs come first, and the names of the compressors that zstd stands in for.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedChain {
    /// The codecs, as a document has them.
    pub codecs: Draft,
    /// The names of the compressors that zstd stands in for, because they are read here and not written.
    pub replaced: Vec<String>,
}

/// Where the codecs behind the packing ones come from.
#[derive(Clone, Copy, Debug)]
pub enum CarriedFrom<'c, 'v> {
    /// A v3 document.
    V3(&'c Chain<'v>),
    /// Nothing.
    New,
}

/// The chain of an array whose elements have so many bytes as they are stored, with `packing` as its codecs from arrays to
/// arrays but transposition.
#[must_use]
pub fn packed_chain(
    from: CarriedFrom<'_, '_>,
    packing: &[Draft],
    element_size: usize,
    changes: &ChunkChanges,
) -> PackedChain {
    let mut carry = Carry {
        element_size,
        packing,
        keep_numcodecs: true,
        compressor: changes.compressor.as_deref(),
        inner_chunks: changes.inner_chunks.as_deref(),
        replaced: Vec::new(),
    };
    let (codecs, sharded) = match from {
        CarriedFrom::V3(chain) => {
            let sharded = chain.codecs.iter().any(|codec| codec.sharding.is_some());
            let codecs = match changes.shards {
                Some(false) => carry.without_shards(chain),
                _ => carry.level(chain),
            };
            (codecs, sharded)
        }
        CarriedFrom::New => (carry.level_v2(std::iter::empty()), false),
    };
    let codecs = match (changes.shards, &changes.inner_chunks) {
        (Some(true), Some(inner)) if !sharded => vec![new_shard(inner, codecs)],
        _ => codecs,
    };
    PackedChain {
        codecs: Draft::Array(codecs),
        replaced: carry.replaced,
    }
}

impl Carry<'static> {
    /// For arrays in which nothing is packed, and which every reader of Zarr v3 opens.
    pub(super) const fn plain(element_size: usize) -> Self {
        Self {
            element_size,
            packing: &[],
            keep_numcodecs: false,
            compressor: None,
            inner_chunks: None,
            replaced: Vec::new(),
        }
    }
}

impl Carry<'_> {
    /// A chain of a v3 document: that of chunks, or of inner chunks.
    pub(super) fn level(&mut self, chain: &Chain<'_>) -> Vec<Draft> {
        if !chain.codecs.iter().any(|codec| codec.sharding.is_some()) {
            return self.without_shards(chain);
        }
        let mut level = Level {
            rank: shard_rank(chain),
            ..Level::default()
        };
        for codec in &chain.codecs {
            match codec.entry.name {
                SHARDING => {
                    let shard = self.shard(codec, &level.order);
                    level.serializer.get_or_insert(shard);
                }
                _ => self.carry(codec, &mut level),
            }
        }
        level.into_codecs(self.element_size)
    }

    /// The chain of the innermost chunks, behind whatever stands before shards and before whatever stands behind them.
    fn without_shards(&mut self, chain: &Chain<'_>) -> Vec<Draft> {
        let mut all = Level {
            before: self.packing.to_vec(),
            ..Level::default()
        };
        let mut behind_shards = Vec::new();
        let mut chain = Some(chain);
        while let Some(codecs) = chain.take() {
            for codec in &codecs.codecs {
                match &codec.sharding {
                    Some(sharding) => chain = Some(&sharding.codecs),
                    None => self.carry(codec, &mut all),
                }
            }
            if chain.is_some() {
                behind_shards.push(std::mem::take(&mut all.behind));
            }
        }
        for codec in behind_shards.into_iter().rev().flatten() {
            // Twice the same compressor or checksum serves nobody.
            if !all.behind.contains(&codec) {
                all.behind.push(codec);
            }
        }
        let compressor = self.compressor.unwrap_or_default();
        all.behind.extend(compressor.iter().cloned());
        all.into_codecs(self.element_size)
    }

    /// A codec other than shards carried over, if it stays.
    fn carry(&mut self, codec: &Codec<'_>, level: &mut Level) {
        match codec.entry.name {
            TRANSPOSE => {
                level.order = transposed(&level.order, codec, level.rank);
                level.before.push(Draft::from(codec.entry.node.value));
            }
            "bytes" => level.serializer = Some(bytes(Some(codec), self.element_size)),
            "packbits" => level.serializer = Some(bytes(None, self.element_size)),
            name => {
                let configuration = codec.entry.configuration.as_ref();
                let configuration = configuration.map(|node| node.value);
                let carried = self.on_bytes(name, configuration, codec.entry.is_bare());
                level.behind.extend(carried);
            }
        }
    }

    /// The chain of an array of Zarr v2 without filters.
    pub(super) fn level_v2<'v>(
        &mut self,
        codecs: impl Iterator<Item = (&'v str, &'v Value)>,
    ) -> Vec<Draft> {
        let mut chain = self.packing.to_vec();
        chain.push(bytes(None, self.element_size));
        for (id, configuration) in codecs {
            chain.extend(self.on_bytes_v2(id, configuration));
        }
        chain.extend(
            self.compressor
                .iter()
                .flat_map(|codecs| codecs.iter().cloned()),
        );
        chain
    }

    /// A codec from bytes to bytes carried over, if it stays.
    fn on_bytes(&mut self, name: &str, configuration: Option<&Value>, bare: bool) -> Option<Draft> {
        let plain = name.strip_prefix("numcodecs.").unwrap_or(name);
        if self.compressor.is_some() && (is_compressor(plain) || plain == "shuffle") {
            return None;
        }
        match name {
            _ if CORE.contains(&name) => Some(object_form(name, configuration, bare)),
            "blosc" => Some(self.blosc(configuration)),
            _ if self.keep_numcodecs && name != plain => self.numcodecs(plain, configuration),
            _ if is_compressor(plain) => Some(self.substitute(name)),
            _ => None,
        }
    }

    fn on_bytes_v2(&mut self, id: &str, configuration: &Value) -> Option<Draft> {
        if self.compressor.is_some() && (is_compressor(id) || id == "shuffle") {
            return None;
        }
        match core_compressor(id, configuration, self.element_size as u64) {
            Ok(Some(core)) => Some(core.codec),
            _ if self.keep_numcodecs => self.numcodecs(id, Some(configuration)),
            _ if is_compressor(id) => Some(self.substitute(id)),
            _ => None,
        }
    }

    /// A codec of numcodecs under its name in Zarr v3, if chunks can be written with it; zstd for another compressor.
    fn numcodecs(&mut self, plain: &str, configuration: Option<&Value>) -> Option<Draft> {
        let absent = |name: &str| configuration.is_none_or(|members| members.get(name).is_none());
        // The specification has some of them, and readers of numcodecs' own names are few.
        if let Some(members) = configuration
            && absent("checksum")
            && let Ok(Some(core)) = core_compressor(plain, members, self.element_size as u64)
        {
            return Some(core.codec);
        }
        let name = format!("numcodecs.{plain}");
        let members = configuration
            .and_then(Value::as_object)
            .unwrap_or_default()
            .iter()
            .filter(|member| member.name != "id")
            .map(|member| {
                let value = match member.name.as_str() {
                    "elementsize" => Draft::from(self.element_size as u64),
                    _ => Draft::from(&member.value),
                };
                (member.name.clone(), value)
            });
        let mut members: Vec<_> = members.collect();
        if plain == "shuffle" && absent("elementsize") {
            members.push((
                "elementsize".to_owned(),
                Draft::from(self.element_size as u64),
            ));
        }
        let members = Draft::Object(members);
        if is_written(&name, &to_serde(&members)) {
            return Some(configured_by(&name, members));
        }
        is_compressor(plain).then(|| self.substitute(plain))
    }

    fn substitute(&mut self, name: &str) -> Draft {
        self.replaced.push(name.to_owned());
        zstd(Draft::from(SUBSTITUTE_LEVEL))
    }

    /// A shard carried over, in whose chunks the dimensions stand in an order; none is that of the array.
    fn shard(&mut self, codec: &Codec<'_>, order: &Option<Vec<usize>>) -> Draft {
        let Some(sharding) = &codec.sharding else {
            return bytes(None, self.element_size);
        };
        let inner = match self.inner_chunks {
            Some(_) => self.without_shards(&sharding.codecs),
            None => self.level(&sharding.codecs),
        };
        let lengths = self.inner_chunks.map(|lengths| match order {
            Some(order) => order
                .iter()
                .filter_map(|n| lengths.get(*n).copied())
                .collect(),
            None => lengths.to_vec(),
        });
        let members = codec
            .entry
            .configuration
            .iter()
            .flat_map(|node| node.value.as_object());
        let members = members.flatten().map(|member| {
            let value = match (member.name.as_str(), &lengths) {
                ("codecs", _) => Draft::Array(inner.clone()),
                ("chunk_shape", Some(lengths)) => numbers(lengths),
                _ => Draft::from(&member.value),
            };
            (member.name.clone(), value)
        });
        configured_by(SHARDING, Draft::object(members))
    }

    /// Blosc, told the size of what it shuffles now.
    fn blosc(&self, configuration: Option<&Value>) -> Draft {
        let members = configuration.and_then(Value::as_object).unwrap_or_default();
        let members = members.iter().map(|member| {
            let value = match member.name.as_str() {
                "typesize" => Draft::from(self.element_size as u64),
                _ => Draft::from(&member.value),
            };
            (member.name.clone(), value)
        });
        configured_by("blosc", Draft::object(members))
    }
}

/// The codecs of a chain that is put together.
#[derive(Debug, Default)]
struct Level {
    /// Those from arrays to arrays.
    before: Vec<Draft>,
    /// The dimensions of the array in the order that they have behind the transpositions so far; `None` where there was none.
    order: Option<Vec<usize>>,
    /// How many dimensions there are, where shards are carried over.
    rank: usize,
    serializer: Option<Draft>,
    /// Those from bytes to bytes.
    behind: Vec<Draft>,
}

impl Level {
    fn into_codecs(self, element_size: usize) -> Vec<Draft> {
        let serializer = self.serializer.unwrap_or_else(|| bytes(None, element_size));
        let mut codecs = self.before;
        codecs.push(serializer);
        codecs.extend(self.behind);
        codecs
    }
}

/// The number of dimensions, as the shards of a chain have it.
fn shard_rank(chain: &Chain<'_>) -> usize {
    let mut shards = chain
        .codecs
        .iter()
        .filter_map(|codec| codec.sharding.as_ref());
    shards
        .next()
        .map_or(0, |sharding| sharding.chunk_shape.value.len())
}

/// The order of dimensions behind one more transposition.
fn transposed(before: &Option<Vec<usize>>, codec: &Codec<'_>, rank: usize) -> Option<Vec<usize>> {
    let configuration = codec.entry.configuration.as_ref()?.value;
    let order = configuration.get("order")?;
    let axes: Option<Vec<usize>> = match order.as_str() {
        // The words of early documents.
        Some("C") => Some((0..rank).collect()),
        Some("F") => Some((0..rank).rev().collect()),
        _ => {
            let axes = order.as_array()?.iter();
            axes.map(|axis| axis.as_number()?.parse().ok()).collect()
        }
    };
    match before {
        None => axes,
        Some(before) => axes?
            .iter()
            .map(|axis| before.get(*axis).copied())
            .collect(),
    }
}

/// How the chunks of an array are cut into the pieces of shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardLevels {
    /// The lengths of the pieces of a shard, along the dimensions of the array.
    pub inner: Vec<u64>,
    /// Those of the chunks inside all shards: the same unless pieces are shards themselves.
    pub innermost: Vec<u64>,
    /// Whether pieces are shards themselves.
    pub nested: bool,
    /// Whether a codec behind the shards takes them as a whole, so that no piece can be read or written by itself.
    pub whole: bool,
}

impl ShardLevels {
    /// The levels of a chain; `None` where it has no shards.
    #[must_use]
    pub fn of(chain: &Chain<'_>) -> Option<Self> {
        Self::behind(chain, None)
    }

    fn behind(chain: &Chain<'_>, mut order: Option<Vec<usize>>) -> Option<Self> {
        let rank = shard_rank(chain);
        for (n, codec) in chain.codecs.iter().enumerate() {
            if codec.entry.name == TRANSPOSE {
                order = transposed(&order, codec, rank);
            }
            let Some(sharding) = &codec.sharding else {
                continue;
            };
            let lengths = &sharding.chunk_shape.value;
            let inner = match &order {
                None => lengths.clone(),
                Some(order) => {
                    let mut inner = vec![1; lengths.len()];
                    for (axis, length) in order.iter().zip(lengths) {
                        *inner.get_mut(*axis)? = *length;
                    }
                    inner
                }
            };
            let below = Self::behind(&sharding.codecs, order);
            return Some(Self {
                nested: below.is_some(),
                innermost: below.map_or_else(|| inner.clone(), |below| below.innermost),
                inner,
                whole: n + 1 < chain.codecs.len(),
            });
        }
        None
    }
}

/// A shard of inner chunks with these codecs, as zarr-python makes it.
fn new_shard(inner_chunks: &[u64], codecs: Vec<Draft>) -> Draft {
    let index = vec![
        bytes(None, 8),
        Draft::object([("name", Draft::string("crc32c"))]),
    ];
    configured(
        SHARDING,
        [
            ("chunk_shape", numbers(inner_chunks)),
            ("codecs", Draft::Array(codecs)),
            ("index_codecs", Draft::Array(index)),
            ("index_location", Draft::string("end")),
        ],
    )
}

fn numbers(lengths: &[u64]) -> Draft {
    Draft::Array(lengths.iter().copied().map(Draft::from).collect())
}

fn to_serde(draft: &Draft) -> Json {
    serde_json::from_str(&draft.to_document(&Layout::default())).unwrap_or_default()
}

/// Whether a codec, named without a prefix, compresses bytes, as opposed to checking or rearranging them.
fn is_compressor(name: &str) -> bool {
    const COMPRESSORS: [&str; 8] = ["zlib", "gzip", "zstd", "bz2", "lzma", "lz4", "blosc", "lzf"];
    COMPRESSORS.contains(&name)
}

fn configured_by(name: &str, configuration: Draft) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", configuration),
    ])
}

fn configured<const N: usize>(name: &str, members: [(&str, Draft); N]) -> Draft {
    configured_by(name, Draft::object(members))
}

fn zstd(level: Draft) -> Draft {
    configured("zstd", [("level", level), ("checksum", Draft::Bool(false))])
}

/// The codec in the form of an object, which every reader takes.
fn object_form(name: &str, configuration: Option<&Value>, bare: bool) -> Draft {
    let mut members = vec![("name", Draft::string(name))];
    if let Some(configuration) = configuration.filter(|_| !bare) {
        members.push(("configuration", Draft::from(configuration)));
    }
    Draft::object(members)
}

/// The `bytes` codec for elements of a size, in the order of bytes that `codec` has.
fn bytes(codec: Option<&Codec<'_>>, element_size: usize) -> Draft {
    if element_size <= 1 {
        return Draft::object([("name", Draft::string("bytes"))]);
    }
    let configuration = codec.and_then(|codec| codec.entry.configuration.as_ref());
    let endian = configuration.and_then(|node| node.value.get("endian"));
    let endian = endian.and_then(Value::as_str).unwrap_or("little");
    configured("bytes", [("endian", Draft::string(endian))])
}
