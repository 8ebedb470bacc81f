//! Configurations of the codecs of the core specification: members that are missing, unknown or hold what they do not take.

use super::super::array::{Array, describe};
use super::super::finding::{Draft, Sink};
use super::codecs::{is_compressor, is_of_variable_size};
use crate::metadata::json::Value;
use crate::metadata::v3::{ChunkGrid, Codec, KeyEncoding, SHARDING};
use crate::metadata::{Extension, Node};

/// What a member takes.
enum Takes {
    /// An integer between two, in digits alone.
    Integer(i64, i64),
    /// One of some words.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// What other rules look at.
    Anything,
}

/// A member of a configuration.
struct Member {
    name: &'static str,
    takes: Takes,
    required: bool,
}

const fn must(name: &'static str, takes: Takes) -> Member {
    Member {
        name,
        takes,
        required: true,
    }
}

const fn may(name: &'static str, takes: Takes) -> Member {
    Member {
        name,
        takes,
        required: false,
    }
}

const COMPRESSORS: Takes = Takes::Word(&["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"]);
const SHUFFLES: Takes = Takes::Word(&["noshuffle", "shuffle", "bitshuffle"]);
const ENDIAN: Takes = Takes::Word(&["little", "big"]);
const NUMCODECS: Member = may("id", Takes::Anything);

/// The codecs whose configurations are known. That of `blosc` has a `typesize` unless nothing is shuffled.
const CODECS: [(&str, &[Member]); 10] = [
    ("gzip", &[must("level", Takes::Integer(0, 9))]),
    (
        "zstd",
        &[
            must("level", Takes::Integer(-131_072, 22)),
            must("checksum", Takes::Flag),
        ],
    ),
    (
        "blosc",
        &[
            must("cname", COMPRESSORS),
            must("clevel", Takes::Integer(0, 9)),
            must("shuffle", SHUFFLES),
            may("typesize", Takes::Integer(1, i64::MAX)),
            may("blocksize", Takes::Integer(0, i64::MAX)),
        ],
    ),
    ("crc32c", &[]),
    ("transpose", &[may("order", Takes::Anything)]),
    ("bytes", &[may("endian", ENDIAN)]),
    (
        SHARDING,
        &[
            may("chunk_shape", Takes::Anything),
            may("codecs", Takes::Anything),
            may("index_codecs", Takes::Anything),
            may("index_location", Takes::Anything),
        ],
    ),
    (
        "numcodecs.zlib",
        &[NUMCODECS, may("level", Takes::Integer(-1, 9))],
    ),
    (
        "numcodecs.gzip",
        &[NUMCODECS, may("level", Takes::Integer(-1, 9))],
    ),
    (
        "numcodecs.bz2",
        &[NUMCODECS, may("level", Takes::Integer(1, 9))],
    ),
];

/// Reports what is wrong with the configurations of codecs, and of what else has one.
pub(super) fn configuration(array: &Array<'_>, sink: &mut Sink<'_>) {
    let Some(document) = array.v3() else { return };
    for codec in array.chains().into_iter().flat_map(|chain| &chain.codecs) {
        let known = CODECS.iter().find(|(name, _)| *name == codec.entry.name);
        if let Some((_, members)) = known {
            members_of(array, &codec.entry, members, sink);
        }
        index(array, codec, sink);
    }
    // Entries that could not be read stand in as those of the data type.
    let keys = &document.chunk_keys;
    if keys.encoding != KeyEncoding::Other {
        let separator = [may("separator", Takes::Anything)];
        members_of(array, &keys.entry, &separator, sink);
    }
    if let ChunkGrid::Regular { entry, .. } = &document.chunk_grid {
        let chunk_shape = [may("chunk_shape", Takes::Anything)];
        members_of(array, entry, &chunk_shape, sink);
    }
    text_length(array, &document.data_type, sink);
    let first = document.codecs.codecs.iter();
    let mut first = first.skip_while(|codec| codec.entry.name == "transpose");
    let data_type = document.data_type.name;
    if let Some(codec) = first.next()
        && codec.entry.name == "bytes"
        && VARIABLE.contains(&data_type)
    {
        sink.report(array.document.kind, || {
            named(array, &codec.entry)
                .found(format!("\"bytes\" on values of the type \"{data_type}\""))
                .expected("a codec for values of different lengths, such as \"vlen-utf8\" or \"vlen-bytes\"")
        });
    }
}

/// Types whose elements are of different lengths.
const VARIABLE: [&str; 4] = [
    "string",
    "bytes",
    "variable_length_utf8",
    "variable_length_bytes",
];

fn members_of(array: &Array<'_>, entry: &Extension<'_>, members: &[Member], sink: &mut Sink<'_>) {
    let unshuffled = entry
        .configuration
        .as_ref()
        .and_then(|node| node.value.get("shuffle")?.as_str())
        == Some("noshuffle");
    let required = |member: &&Member| {
        member.required || entry.name == "blosc" && member.name == "typesize" && !unshuffled
    };
    let Some(configuration) = &entry.configuration else {
        let names: Vec<_> = members
            .iter()
            .filter(required)
            .map(|member| format!("\"{}\"", member.name))
            .collect();
        if !names.is_empty() {
            sink.report(array.document.kind, || {
                named(array, entry)
                    .found(format!("\"{}\" without a configuration", entry.name))
                    .expected(format!("a \"configuration\" with {}", names.join(", ")))
            });
        }
        return;
    };
    for member in members {
        match configuration.get(member.name) {
            None if required(&member) => sink.report(array.document.kind, || {
                Draft::at(
                    array.document,
                    configuration.pointer.member(member.name).to_string(),
                )
                .found("nothing")
                .expected(format!("{}, which must be stated", words(&member.takes)))
            }),
            Some(node) if !takes(&member.takes, node.value) => {
                sink.report(array.document.kind, || {
                    at(array, &node)
                        .found(describe(node.value))
                        .expected(words(&member.takes))
                });
            }
            _ => {}
        }
    }
    for member in configuration.value.as_object().unwrap_or_default() {
        let ignorable = member.value.get("must_understand").and_then(Value::as_bool);
        if ignorable == Some(false) || members.iter().any(|known| known.name == member.name) {
            continue;
        }
        sink.report(array.document.kind, || {
            let pointer = configuration.pointer.member(&member.name).to_string();
            let names: Vec<_> = members
                .iter()
                .map(|member| format!("\"{}\"", member.name))
                .collect();
            let expected = if names.is_empty() {
                "no members".to_owned()
            } else {
                format!("no members but {}", names.join(", "))
            };
            Draft::spanning(array.document, pointer, member.name_span.clone())
                .found("an unknown member")
                .expected(expected)
        });
    }
}

fn takes(takes: &Takes, value: &Value) -> bool {
    match takes {
        Takes::Integer(low, high) => value
            .as_number()
            .and_then(|token| token.parse::<i64>().ok())
            .is_some_and(|number| (*low..=*high).contains(&number)),
        Takes::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        Takes::Flag => value.as_bool().is_some(),
        Takes::Anything => true,
    }
}

fn words(takes: &Takes) -> String {
    match takes {
        Takes::Integer(low, i64::MAX) => format!("an integer from {low} on"),
        Takes::Integer(low, high) => format!("an integer from {low} to {high}"),
        Takes::Word(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("one of {}", words.join(", "))
        }
        Takes::Flag => "true or false".to_owned(),
        Takes::Anything => "a value".to_owned(),
    }
}

/// Codecs of a shard's index that make it as long as it happens to be: readers have to know where it begins.
fn index(array: &Array<'_>, codec: &Codec<'_>, sink: &mut Sink<'_>) {
    let Some(sharding) = &codec.sharding else {
        return;
    };
    for inner in &sharding.index_codecs.codecs {
        let name = inner.entry.name;
        if is_compressor(name) || is_of_variable_size(name) {
            sink.report(array.document.kind, || {
                named(array, &inner.entry)
                    .found(format!("\"{name}\" on the index of a shard"))
                    .expected("codecs whose output always has one length, such as \"bytes\" and \"crc32c\"")
            });
        }
    }
}

/// The length of text of four bytes a character.
fn text_length(array: &Array<'_>, data_type: &Extension<'_>, sink: &mut Sink<'_>) {
    let configuration = data_type
        .configuration
        .as_ref()
        .filter(|_| data_type.name == "fixed_length_utf32");
    let Some(node) = configuration.and_then(|node| node.get("length_bytes")) else {
        return;
    };
    let length = node
        .value
        .as_number()
        .and_then(|token| token.parse::<u64>().ok());
    if !length.is_some_and(|length| length > 0 && length % 4 == 0) {
        sink.report(array.document.kind, || {
            at(array, &node)
                .found(describe(node.value))
                .expected("a multiple of 4 that is not 0: each character takes 4 bytes")
        });
    }
}

fn at(array: &Array<'_>, node: &Node<'_>) -> Draft {
    Draft::spanning(array.document, node.pointer.to_string(), node.span())
}

fn named(array: &Array<'_>, entry: &Extension<'_>) -> Draft {
    Draft::spanning(
        array.document,
        entry.node.pointer.to_string(),
        entry.name_span.clone(),
    )
}
