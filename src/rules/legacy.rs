//! `legacy/*`: the codec that the pair supersedes, and the ways in which it has been written.

use super::Check::Array as OfArray;
use super::array::Array;
use super::bound::reported;
use super::finding::{Draft, Sink};
use super::{
    Rule,
    Severity::{Error, Info, Warning},
    rule,
};
use crate::codecs::configuration::{LEGACY, LEGACY_V2};
use crate::metadata::json::Value;
use crate::metadata::v2::{ByteOrder, DataType, Dtype};

pub(super) const RULES: &[Rule] = &[
    rule(
        "legacy/codec",
        Warning,
        "the legacy codec fixedscaleoffset",
        OfArray(codec),
    ),
    rule(
        "legacy/configuration",
        Error,
        "a legacy codec without its parameters",
        OfArray(reported),
    ),
    rule(
        "legacy/parameter",
        Error,
        "a scale or offset that is no JSON number",
        OfArray(reported),
    ),
    rule(
        "legacy/zero-scale",
        Error,
        "a scale of zero",
        OfArray(reported),
    ),
    rule(
        "legacy/unknown-member",
        Error,
        "a parameter that the legacy codec does not have",
        OfArray(reported),
    ),
    rule(
        "legacy/unsupported-type",
        Error,
        "a dtype or astype that the legacy codec does not have",
        OfArray(reported),
    ),
    rule(
        "legacy/dtype-mismatch",
        Error,
        "a dtype that is not the type of the values that come in",
        OfArray(dtype_mismatch),
    ),
    rule(
        "legacy/byte-order",
        Warning,
        "byte orders that disagree",
        OfArray(byte_order),
    ),
    rule(
        "legacy/compressor",
        Warning,
        "the filter in the place of the compressor",
        OfArray(compressor),
    ),
    rule(
        "legacy/unprefixed",
        Warning,
        "the codec in v3 without the prefix that readers know it by",
        OfArray(unprefixed),
    ),
    rule(
        "legacy/missing-type",
        Warning,
        "a dtype or astype that is left out",
        OfArray(missing_type),
    ),
    rule(
        "legacy/extra-id",
        Info,
        "an id in the configuration of v3",
        OfArray(extra_id),
    ),
    rule(
        "legacy/transpose-behind",
        Warning,
        "a transpose behind the legacy codec",
        OfArray(transpose_behind),
    ),
];

/// A legacy codec in a document.
struct Entry<'a> {
    /// Where it stands.
    pointer: String,
    /// Where its parameters stand below that.
    base: &'static str,
    /// Its name, to point at.
    name_span: std::ops::Range<usize>,
    /// Its name.
    name: &'a str,
    /// The object that holds its parameters.
    parameters: Option<&'a Value>,
}

fn entries<'a>(array: &'a Array<'_>) -> Vec<Entry<'a>> {
    let version_3 = array.chains().into_iter().flat_map(|chain| &chain.codecs);
    let version_3 = version_3
        .filter(|codec| [LEGACY, LEGACY_V2].contains(&codec.entry.name))
        .map(|codec| Entry {
            pointer: codec.entry.node.pointer.to_string(),
            base: "/configuration",
            name_span: codec.entry.name_span.clone(),
            name: codec.entry.name,
            parameters: codec.entry.configuration.as_ref().map(|node| node.value),
        });
    let version_2 = array
        .v2()
        .into_iter()
        .flat_map(|array| array.filters.iter().chain(&array.compressor));
    let version_2 = version_2
        .filter(|codec| codec.id.value == LEGACY_V2)
        .map(|codec| Entry {
            pointer: codec.node.pointer.to_string(),
            base: "",
            name_span: codec.id.span.clone(),
            name: codec.id.value,
            parameters: Some(codec.node.value),
        });
    version_3.chain(version_2).collect()
}

impl Entry<'_> {
    fn draft(&self, array: &Array<'_>) -> Draft {
        Draft::spanning(
            array.document,
            self.pointer.as_str(),
            self.name_span.clone(),
        )
    }

    fn member(&self, array: &Array<'_>, name: &str) -> Draft {
        Draft::at(
            array.document,
            format!("{}{}/{name}", self.pointer, self.base),
        )
    }

    fn stated(&self, name: &str) -> Option<&str> {
        self.parameters?.get(name)?.as_str()
    }
}

fn codec(array: &Array<'_>, sink: &mut Sink<'_>) {
    for entry in entries(array) {
        sink.report(array.document.kind, || {
            entry
                .draft(array)
                .found(format!("the legacy codec \"{}\"", entry.name))
                .expected("scale_offset and cast_value, which supersede it")
                .hint("zarrpack migrate-legacy rewrites the metadata, and leaves the chunks as they are")
        });
    }
}

fn dtype_mismatch(array: &Array<'_>, sink: &mut Sink<'_>) {
    reported(array, sink);
    // In v2 the byte order counts too, and the conversion to v3 tells.
    if array.v2().is_none() {
        return;
    }
    for problem in array.refused.iter().flat_map(|error| &error.problems) {
        let codec = problem.pointer.strip_suffix("/dtype");
        let is_legacy =
            codec.is_some_and(|codec| entries(array).iter().any(|entry| entry.pointer == codec));
        if is_legacy {
            sink.report(array.document.kind, || {
                Draft::at(array.document, problem.pointer.as_str())
                    .found(&problem.message)
                    .expected("the type, and in Zarr v2 the byte order, of the values that reach the filter")
            });
        }
    }
}

/// The byte order that a spelling states for values of several bytes.
fn stated_order(text: &str) -> Option<ByteOrder> {
    let dtype = Dtype::parse(text)?;
    (dtype.size > 1).then_some(dtype.byte_order)
}

fn byte_order(array: &Array<'_>, sink: &mut Sink<'_>) {
    let big = |order: ByteOrder| order == ByteOrder::Big;
    if let Some(document) = array.v2() {
        let DataType::Simple(dtype) = &document.dtype.value else {
            return;
        };
        for entry in entries(array) {
            let Some(order) = entry.stated("astype").and_then(stated_order) else {
                continue;
            };
            if dtype.size > 1 && big(order) != big(dtype.byte_order) {
                sink.report(array.document.kind, || {
                    entry
                        .member(array, "astype")
                        .found(format!(
                            "an astype of {}-endian values in an array of {dtype}",
                            if big(order) { "big" } else { "little" }
                        ))
                        .expected("one byte order")
                        .hint("the stored bytes have the order of astype; zarr-python's own migration and zarrita.js take that of dtype, and read other values")
                });
            }
        }
        return;
    }
    for chain in array.chains() {
        let endian = chain
            .codecs
            .iter()
            .find(|codec| codec.entry.name == "bytes");
        let endian = endian.and_then(|codec| {
            codec
                .entry
                .configuration
                .as_ref()?
                .value
                .get("endian")?
                .as_str()
        });
        for entry in entries(array) {
            let here = chain
                .codecs
                .iter()
                .any(|codec| codec.entry.node.pointer.to_string() == entry.pointer);
            let order = entry.stated("astype").and_then(stated_order);
            let (Some(endian), Some(order), true) = (endian, order, here) else {
                continue;
            };
            let disagree = matches!(
                (order, endian),
                (ByteOrder::Big, "little") | (ByteOrder::Little, "big")
            );
            if disagree {
                sink.report(array.document.kind, || {
                    entry
                        .member(array, "astype")
                        .found(format!("an astype of another byte order than bytes, which says \"{endian}\""))
                        .expected("one byte order")
                        .hint("the order that bytes states counts; zarr-python before 3.2 reads other values")
                });
            }
        }
    }
}

fn compressor(array: &Array<'_>, sink: &mut Sink<'_>) {
    for entry in entries(array)
        .iter()
        .filter(|entry| entry.pointer == "/compressor")
    {
        sink.report(array.document.kind, || {
            entry
                .draft(array)
                .found("fixedscaleoffset as the compressor")
                .expected("a filter in \"filters\"; migrate-legacy refuses it here")
        });
    }
}

fn unprefixed(array: &Array<'_>, sink: &mut Sink<'_>) {
    for entry in entries(array) {
        if array.v3().is_some() && entry.name == LEGACY_V2 {
            sink.report(array.document.kind, || {
                entry
                    .draft(array)
                    .found("\"fixedscaleoffset\" in Zarr v3")
                    .expected(format!("\"{LEGACY}\", the name that zarr-python reads"))
            });
        }
    }
}

fn missing_type(array: &Array<'_>, sink: &mut Sink<'_>) {
    for entry in entries(array) {
        let Some(parameters) = entry.parameters else {
            continue;
        };
        for (name, meaning) in [("dtype", "the incoming type"), ("astype", "dtype")] {
            if parameters.get(name).is_none_or(Value::is_null) {
                sink.report(array.document.kind, || {
                    entry
                        .draft(array)
                        .found(format!("no \"{name}\""))
                        .expected(format!(
                            "\"{name}\", which the specification demands; {meaning} is taken for it"
                        ))
                });
            }
        }
    }
}

fn extra_id(array: &Array<'_>, sink: &mut Sink<'_>) {
    for entry in entries(array).iter().filter(|_| array.v3().is_some()) {
        if entry
            .parameters
            .is_some_and(|parameters| parameters.get("id").is_some())
        {
            sink.report(array.document.kind, || {
                let draft = entry.member(array, "id");
                draft
                    .found("an \"id\" in the configuration")
                    .expected("none; zarr-python drops it, zarrs refuses the codec for it")
            });
        }
    }
}

fn transpose_behind(array: &Array<'_>, sink: &mut Sink<'_>) {
    for chain in array.chains() {
        let names: Vec<_> = chain.codecs.iter().map(|codec| codec.entry.name).collect();
        let Some(at) = names
            .iter()
            .position(|name| [LEGACY, LEGACY_V2].contains(name))
        else {
            continue;
        };
        for codec in chain
            .codecs
            .iter()
            .skip(at)
            .filter(|codec| codec.entry.name == "transpose")
        {
            sink.report(array.document.kind, || {
                Draft::spanning(
                    array.document,
                    codec.entry.node.pointer.to_string(),
                    codec.entry.name_span.clone(),
                )
                .found("a transpose behind the legacy codec")
                .expected("it before the legacy codec; zarr-python reads this order wrongly")
            });
        }
    }
}
