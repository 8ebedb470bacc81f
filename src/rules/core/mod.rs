//! `core/*`: what the specifications of Zarr v2 and v3 ask of metadata, as far as no data are needed to tell.

mod codecs;
mod configurations;
mod members;
mod opening;
mod shapes;
mod values;

use super::Check::{Array as OfArray, Document as OfDocument, Node as OfNode};
use super::Severity::{Error, Info, Warning};
use super::{Rule, rule};

pub(super) use self::codecs::is_array_codec;
pub(super) use self::members::reported;
pub(super) use self::opening::{ID as REST, rest};
pub(crate) use self::values::is_known_type;
pub(super) use self::values::rounded;

pub(super) const RULES: &[Rule] = &[
    rule(
        "core/unrecognised",
        Error,
        "a document that does not say what it is",
        OfNode(members::unrecognised),
    ),
    rule(
        "core/missing-member",
        Error,
        "a mandatory member that is absent",
        OfDocument(members::reported),
    ),
    rule(
        "core/wrong-type",
        Error,
        "a value of another JSON type than the member takes",
        OfDocument(members::reported),
    ),
    rule(
        "core/bad-value",
        Error,
        "a value that the member does not take",
        OfDocument(members::reported),
    ),
    rule(
        "core/zarr-format",
        Error,
        "a version of the format that is not the document's",
        OfDocument(members::reported),
    ),
    rule(
        "core/node-type",
        Error,
        "a node that is neither array nor group",
        OfDocument(members::reported),
    ),
    rule(
        "core/unknown-member",
        Error,
        "a member that the specification does not know and that may not be ignored",
        OfDocument(members::reported),
    ),
    rule(
        "core/storage-transformer",
        Error,
        "a storage transformer, none of which is known",
        OfDocument(members::reported),
    ),
    rule(
        "core/shadowed-document",
        Warning,
        "a document of v2 beside a zarr.json, which wins",
        OfNode(members::shadowed),
    ),
    rule(
        "core/length",
        Error,
        "a length that is no integer from 0 to 2^64 - 1",
        OfDocument(members::reported),
    ),
    rule(
        "core/chunk-rank",
        Error,
        "chunks of another number of dimensions than the array",
        OfDocument(members::reported),
    ),
    rule(
        "core/chunk-length-zero",
        Error,
        "a chunk length of 0 along a dimension that has elements",
        OfDocument(shapes::chunk_length_zero),
    ),
    rule(
        "core/empty-chunk-length",
        Warning,
        "a chunk length of 0 along a dimension of length 0",
        OfDocument(shapes::empty_chunk_length),
    ),
    rule(
        "core/dimension-names",
        Error,
        "names of dimensions that do not fit the shape",
        OfDocument(members::reported),
    ),
    rule(
        "core/duplicate-dimension-names",
        Warning,
        "two dimensions of one name",
        OfArray(shapes::duplicate_dimension_names),
    ),
    rule(
        "core/unknown-chunk-grid",
        Error,
        "a chunk grid that no specification knows",
        OfArray(values::unknown_chunk_grid),
    ),
    rule(
        "core/key-encoding",
        Error,
        "an encoding of chunk keys that makes no keys",
        OfDocument(members::reported),
    ),
    rule(
        "core/unknown-key-encoding",
        Error,
        "an encoding of chunk keys that no specification knows",
        OfArray(values::unknown_key_encoding),
    ),
    rule(
        "core/data-type",
        Error,
        "a dtype that NumPy does not have",
        OfDocument(members::reported),
    ),
    rule(
        "core/unknown-data-type",
        Error,
        "a data type that no specification knows",
        OfArray(values::unknown_data_type),
    ),
    rule(
        "core/fill-value",
        Error,
        "a fill value that is no value of the data type",
        OfArray(values::fill_value),
    ),
    rule(
        "core/fill-spelling",
        Warning,
        "a fill value spelt \"+Infinity\"",
        OfArray(values::fill_spelling),
    ),
    rule(
        "core/rounded-fill",
        Warning,
        "a fill value that a small float type rounds",
        OfArray(values::rounded_fill),
    ),
    rule(
        "core/no-codecs",
        Error,
        "a list of codecs without any",
        OfDocument(members::reported),
    ),
    rule(
        "core/unknown-codec",
        Error,
        "a codec that no specification knows",
        OfArray(codecs::unknown_codec),
    ),
    rule(
        "core/ignorable-codec",
        Warning,
        "an unknown codec that readers may pass over",
        OfArray(codecs::ignorable_codec),
    ),
    rule(
        "core/extension-codec",
        Warning,
        "a codec of somebody's own",
        OfArray(codecs::extension_codec),
    ),
    rule(
        "core/codec-order",
        Error,
        "codecs in an order in which they cannot work",
        OfArray(codecs::codec_order),
    ),
    rule(
        "core/no-serializer",
        Error,
        "a chain that never makes bytes of the array",
        OfArray(codecs::no_serializer),
    ),
    rule(
        "core/codec-member",
        Error,
        "a member of a packing codec beside its name and configuration",
        OfArray(codecs::codec_member),
    ),
    rule(
        "core/bare-name",
        Info,
        "a codec written as a bare string",
        OfArray(codecs::bare_name),
    ),
    rule(
        "core/chain-length",
        Error,
        "a chain of more codecs than are looked at",
        OfArray(codecs::chain_length),
    ),
    rule(
        "core/transpose-order",
        Error,
        "an order that is no permutation of the dimensions",
        OfArray(shapes::transpose_order),
    ),
    rule(
        "core/shard-shape",
        Error,
        "inner chunks of another number of dimensions than the shard",
        OfDocument(members::reported),
    ),
    rule(
        "core/shard-divides",
        Error,
        "inner chunks that do not fill their shard without a rest",
        OfArray(shapes::shard_divides),
    ),
    rule(
        opening::ID,
        Error,
        "a configuration that does not fit, or an array that cannot be opened for another reason",
        OfArray(configurations::configuration),
    ),
];
