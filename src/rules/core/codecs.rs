//! Lists of codecs: names, forms and order.

use super::super::array::{Array, MOST_CODECS};
use super::super::finding::{Draft, Sink, cut};
use super::values::is_own_name;
use crate::metadata::v3::{Chain, Codec};

/// What a codec takes and gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    ArrayToArray,
    ArrayToBytes,
    BytesToBytes,
}

/// The codecs of the core specification, of the registry of extensions, and of zarr-python and zarrs.
const KNOWN: [(Class, &[&str]); 3] = [
    (
        Class::ArrayToArray,
        &[
            "transpose",
            "scale_offset",
            "cast_value",
            "fixedscaleoffset",
            "bitround",
            "reshape",
            "squeeze",
            "singleton_dim",
            "pad",
            "offset",
            "delta",
            "astype",
            "quantize",
        ],
    ),
    (
        Class::ArrayToBytes,
        &[
            "bytes",
            "sharding_indexed",
            "packbits",
            "vlen-utf8",
            "vlen-bytes",
            "vlen-array",
            "vlen-ndarray",
            "vlen_v2",
            "vlen",
            "pcodec",
            "zfp",
            "zfpy",
            "optional",
            "n5_default",
            "n5_varlen",
            "n5_label_multiset",
            "label_multiset",
            "arrow-ipc",
            "jpeg",
            "jpegxl",
            "nanovdb",
        ],
    ),
    (
        Class::BytesToBytes,
        &[
            "blosc",
            "gzip",
            "zstd",
            "crc32c",
            "crc32",
            "adler32",
            "fletcher32",
            "jenkins_lookup3",
            "zlib",
            "bz2",
            "lz4",
            "lzma",
            "lzw",
            "gdeflate",
            "shuffle",
        ],
    ),
];

/// Codecs of numcodecs whose name there means another class than without the prefix.
const PREFIXED: [(&str, Class); 1] = [("numcodecs.packbits", Class::ArrayToArray)];

/// Codecs from arrays to arrays that change the shape of a chunk, or may.
const RESHAPING: [&str; 4] = ["reshape", "squeeze", "singleton_dim", "pad"];

/// What a codec takes and gives, if it is known.
fn class(name: &str) -> Option<Class> {
    if let Some((_, class)) = PREFIXED.iter().find(|(known, _)| *known == name) {
        return Some(*class);
    }
    let plain = ["numcodecs.", "zarrs."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    KNOWN
        .iter()
        .find(|(_, names)| names.contains(&plain))
        .map(|(class, _)| *class)
}

/// Whether a codec is a known one from arrays to arrays.
pub(in super::super) fn is_array_codec(name: &str) -> bool {
    class(name) == Some(Class::ArrayToArray)
}

/// Codecs from bytes to bytes whose output is as long as their input says.
const OF_ONE_SIZE: [&str; 6] = [
    "crc32c",
    "crc32",
    "adler32",
    "fletcher32",
    "jenkins_lookup3",
    "shuffle",
];

/// Whether a codec is a known one that makes bytes shorter, or longer, as they happen to be.
pub(super) fn is_compressor(name: &str) -> bool {
    let plain = name.strip_prefix("numcodecs.").unwrap_or(name);
    class(name) == Some(Class::BytesToBytes) && !OF_ONE_SIZE.contains(&plain)
}

/// Whether a codec is a known one that makes bytes of an array, as many as the values happen to need.
pub(super) fn is_of_variable_size(name: &str) -> bool {
    class(name) == Some(Class::ArrayToBytes) && !["bytes", "packbits"].contains(&name)
}

/// Whether a codec leaves the shape of a chunk as it is.
pub(super) fn keeps_shape(name: &str) -> bool {
    is_array_codec(name) && !RESHAPING.contains(&name)
}

fn each<'a, 'n>(array: &'a Array<'n>) -> impl Iterator<Item = &'a Codec<'n>> {
    array.chains().into_iter().flat_map(|chain| &chain.codecs)
}

fn named(array: &Array<'_>, codec: &Codec<'_>) -> Draft {
    let entry = &codec.entry;
    Draft::spanning(
        array.document,
        entry.node.pointer.to_string(),
        entry.name_span.clone(),
    )
    .found(format!("the codec {}", quoted(entry.name)))
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", cut(name, 60).escape_debug())
}

pub(super) fn unknown_codec(array: &Array<'_>, sink: &mut Sink<'_>) {
    const EXPECTED: &str = "a codec that a specification names";
    for codec in each(array) {
        let entry = &codec.entry;
        if class(entry.name).is_none() && entry.must_understand && !is_own_name(entry.name) {
            sink.report(array.document.kind, || {
                named(array, codec).expected(EXPECTED)
            });
        }
    }
}

/// Filters of numcodecs for objects and text.
const OBJECTS: [&str; 5] = ["json2", "msgpack2", "pickle", "categorize", "base64"];

pub(super) fn ignorable_codec(array: &Array<'_>, sink: &mut Sink<'_>) {
    for codec in each(array) {
        if class(codec.entry.name).is_none() && !codec.entry.must_understand {
            sink.report(array.document.kind, || {
                named(array, codec)
                    .expected("no \"must_understand\": false on a codec: who passes over it reads other values")
            });
        }
    }
}

pub(super) fn extension_codec(array: &Array<'_>, sink: &mut Sink<'_>) {
    for codec in each(array) {
        let entry = &codec.entry;
        if class(entry.name).is_none() && entry.must_understand && is_own_name(entry.name) {
            sink.report(array.document.kind, || {
                named(array, codec).expected("a codec that more than one program is known to read")
            });
        }
    }
    // In v2 nothing tells a name of somebody's own from a slip.
    let codecs = array
        .v2()
        .into_iter()
        .flat_map(|array| array.filters.iter().chain(&array.compressor));
    for codec in codecs {
        let id = codec.id.value;
        if class(id).is_none() && !OBJECTS.contains(&id) {
            sink.report(array.document.kind, || {
                let pointer = codec.id.pointer.to_string();
                Draft::spanning(array.document, pointer, codec.id.span.clone())
                    .found(format!("the codec {}", quoted(id)))
                    .expected("a codec of numcodecs; this one is somebody's own, or misspelt")
            });
        }
    }
}

/// Codecs that are given what they cannot take.
pub(super) fn codec_order(array: &Array<'_>, sink: &mut Sink<'_>) {
    for chain in array.chains() {
        let mut serializer: Option<&str> = None;
        for codec in &chain.codecs {
            let expected = match (class(codec.entry.name), serializer) {
                (Some(Class::ArrayToArray), Some(before)) => {
                    format!(
                        "a place before {}, which makes bytes of the array",
                        quoted(before)
                    )
                }
                (Some(Class::BytesToBytes), None) => {
                    "a place behind the codec that makes bytes of the array, such as \"bytes\""
                        .to_owned()
                }
                (Some(Class::ArrayToBytes), Some(before)) => {
                    format!(
                        "one codec that makes bytes of the array, which {} does already",
                        quoted(before)
                    )
                }
                (class, _) => {
                    // Behind a codec that is not known anything may be right.
                    if class != Some(Class::ArrayToArray) && serializer.is_none() {
                        if class.is_none() {
                            break;
                        }
                        serializer = Some(codec.entry.name);
                    }
                    continue;
                }
            };
            sink.report(array.document.kind, || {
                named(array, codec).expected(expected)
            });
        }
    }
}

pub(super) fn no_serializer(array: &Array<'_>, sink: &mut Sink<'_>) {
    let missing = |chain: &&Chain<'_>| {
        !chain.codecs.is_empty()
            && chain.codecs.iter().all(|codec| {
                class(codec.entry.name).is_some_and(|class| class != Class::ArrayToBytes)
            })
    };
    // A chain that was read in part only may well have one.
    if array
        .document
        .problems
        .iter()
        .any(|(_, p)| p.pointer.to_string().starts_with("/codecs"))
    {
        return;
    }
    for chain in array.chains().into_iter().filter(missing) {
        sink.report(array.document.kind, || {
            let start = chain.node.span().start;
            Draft::spanning(
                array.document,
                chain.node.pointer.to_string(),
                start..start + 1,
            )
            .found("codecs of which none makes bytes of the array")
            .expected("one that does, such as \"bytes\"")
        });
    }
}

pub(super) fn bare_name(array: &Array<'_>, sink: &mut Sink<'_>) {
    for codec in each(array).filter(|codec| codec.entry.is_bare()) {
        sink.report(array.document.kind, || {
            named(array, codec)
                .found(format!(
                    "the codec {} as a string",
                    quoted(codec.entry.name)
                ))
                .expected("an object with a \"name\", which is legal too and read by more programs")
                .hint(format!("write {{\"name\": {}}}", quoted(codec.entry.name)))
        });
    }
}

pub(super) fn chain_length(array: &Array<'_>, sink: &mut Sink<'_>) {
    if array.codecs > MOST_CODECS {
        sink.report(array.document.kind, || {
            let pointer = if array.document.kind == crate::metadata::DocumentKind::ZArray {
                "/filters"
            } else {
                "/codecs"
            };
            let span = array.document.span_of(pointer);
            Draft::spanning(
                array.document,
                pointer,
                span.start..(span.start + 1).min(span.end),
            )
            .found(format!("{} codecs", array.codecs))
            .expected(format!(
                "no more than {MOST_CODECS}; these were not looked at"
            ))
        });
    }
}

pub(super) fn codec_member(array: &Array<'_>, sink: &mut Sink<'_>) {
    super::super::bound::reported(array, sink);
}
