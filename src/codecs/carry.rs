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
    /// The lengths of the inner chunks of a shard, if they change.
    inner_chunks: Option<&'a [u64]>,
    /// The names of the compressors that zstd stands in for.
    pub(super) replaced: Vec<String>,
}

/// What the chunks of an array that is written look like, as far as that is not carried over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkChanges {
    /// The compressor, or none where the list is empty.
    pub compressor: Option<Vec<Draft>>,
    /// The lengths of the pieces of a shard.
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
            let chain = match changes.shards {
                Some(false) => chain.innermost(),
                _ => chain,
            };
            (carry.level(chain), sharded)
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
        let innermost = !chain.codecs.iter().any(|codec| codec.sharding.is_some());
        let mut arrays = match innermost {
            true => self.packing.to_vec(),
            false => Vec::new(),
        };
        let mut serializer = None;
        let mut after = Vec::new();
        for codec in &chain.codecs {
            match codec.entry.name {
                TRANSPOSE => arrays.push(Draft::from(codec.entry.node.value)),
                SHARDING => serializer = Some(self.shard(codec)),
                "bytes" => serializer = Some(bytes(Some(codec), self.element_size)),
                "packbits" => serializer = Some(bytes(None, self.element_size)),
                name => {
                    let configuration = codec.entry.configuration.as_ref();
                    let configuration = configuration.map(|node| node.value);
                    after.extend(self.on_bytes(name, configuration, codec.entry.is_bare()));
                }
            }
        }
        arrays.push(serializer.unwrap_or_else(|| bytes(None, self.element_size)));
        arrays.append(&mut after);
        if innermost {
            arrays.extend(
                self.compressor
                    .iter()
                    .flat_map(|codecs| codecs.iter().cloned()),
            );
        }
        arrays
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

    fn shard(&mut self, codec: &Codec<'_>) -> Draft {
        let Some(sharding) = &codec.sharding else {
            return bytes(None, self.element_size);
        };
        let inner = self.level(&sharding.codecs);
        let nested = sharding
            .codecs
            .codecs
            .iter()
            .any(|codec| codec.sharding.is_some());
        let members = codec
            .entry
            .configuration
            .iter()
            .flat_map(|node| node.value.as_object());
        let members = members.flatten().map(|member| {
            let value = match (member.name.as_str(), self.inner_chunks) {
                ("codecs", _) => Draft::Array(inner.clone()),
                ("chunk_shape", Some(lengths)) if !nested => numbers(lengths),
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
