//! The filters and the compressor of a v2 array as one chain of Zarr v3.

use super::compressor::{self, Core};
use super::fault::{Change, ChangeKind, Fault};
use super::types::{Endian, VARIABLE, ValueType, named};
use crate::codecs::{arrays, bytes};
use crate::metadata::edit::Draft;
use crate::metadata::json::Value;
use crate::metadata::v2::{Array, ByteOrder, Codec, Dtype, DtypeKind, Order};

/// The members in which filters name types, the one that they take first.
const TYPE_MEMBERS: [(&str, [&str; 2]); 4] = [
    ("astype", ["decode_dtype", "encode_dtype"]),
    ("fixedscaleoffset", ["dtype", "astype"]),
    ("delta", ["dtype", "astype"]),
    ("quantize", ["dtype", "astype"]),
];

/// The size of an element that the shuffle filter takes where none is stated.
const SHUFFLE_SIZE: u64 = 4;

/// The codecs of a v3 document.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) codecs: Vec<Draft>,
    /// Where each codec comes from: a pointer into the v2 document.
    pub(super) origins: Vec<String>,
    /// Codecs that are not known. They keep their place, so that the chain can be shown.
    pub(super) unsupported: Vec<Fault>,
    /// What keeps the chain from being written, but not from being read.
    pub(super) unwritable: Vec<Fault>,
    pub(super) changes: Vec<Change>,
}

/// Converts the codecs of an array whose values have this type.
///
/// # Errors
///
/// The first codec that cannot be understood at its place.
pub(super) fn chain(array: &Array<'_>, value_type: &ValueType) -> Result<Chain, Fault> {
    let mut builder = Builder {
        array,
        current: value_type.clone(),
        serialized: false,
        bytes_filtered: false,
        chain: Chain::default(),
    };
    let rank = array.shape.value.len();
    if array.order.value == Order::F && rank > 1 {
        let order = (0..rank as u64).rev().map(Draft::from).collect();
        let transpose = named("transpose", [("order", Draft::Array(order))]);
        builder.push(&array.order.pointer, transpose);
    }
    for codec in array.filters.iter().chain(&array.compressor) {
        builder.codec(codec)?;
    }
    builder.serialize()?;
    Ok(builder.chain)
}

struct Builder<'a, 'v> {
    array: &'a Array<'v>,
    /// The type of what the codecs so far hand on, with its order of bytes.
    current: ValueType,
    /// Whether a codec has made bytes of the array.
    serialized: bool,
    /// Whether a codec has gone over these bytes, which numcodecs hands on as elements of one byte.
    bytes_filtered: bool,
    chain: Chain,
}

impl Builder<'_, '_> {
    fn push(&mut self, origin: &dyn std::fmt::Display, codec: Draft) {
        self.chain.codecs.push(codec);
        self.chain.origins.push(origin.to_string());
    }

    fn change(&mut self, codec: &Codec<'_>, message: String) {
        let change = Change::new(&codec.node.pointer, ChangeKind::Codec, message);
        self.chain.changes.push(change);
    }

    /// A filter or the compressor, which numcodecs treats alike.
    fn codec(&mut self, codec: &Codec<'_>) -> Result<(), Fault> {
        let id = codec.id.value;
        let name = format!("numcodecs.{id}");
        if arrays::knows(&name) || ["fixedscaleoffset", "bitround"].contains(&id) {
            self.on_arrays(codec, &name)
        } else if let Some((_, taken)) = VARIABLE.iter().find(|(name, _)| *name == id) {
            self.variable(codec, taken)
        } else if bytes::knows(id) {
            self.on_bytes(codec, &name)
        } else {
            let unsupported = Fault::unsupported(&codec.node.pointer, unsupported(id));
            self.chain.unsupported.push(
                unsupported.hint(
                    "write the array anew without this codec, with the program that wrote it",
                ),
            );
            self.push(&codec.node.pointer, entry(id, members(codec)));
            Ok(())
        }
    }

    fn on_arrays(&mut self, codec: &Codec<'_>, name: &str) -> Result<(), Fault> {
        let id = codec.id.value;
        if self.serialized {
            let found = format!("the filter {id:?} behind one that makes bytes of the array");
            return Err(Fault::unsupported(&codec.node.pointer, found));
        }
        let mut configuration = members(codec);
        match (id, &self.current) {
            (_, ValueType::Simple(dtype)) if dtype.v3_name().is_some() => {}
            (_, other) => {
                let found = format!("the filter {id:?} on values of {other}");
                return Err(Fault::unsupported(&codec.node.pointer, found));
            }
        }
        match id {
            "packbits" => {
                self.current = ValueType::Simple(Dtype {
                    byte_order: ByteOrder::NotApplicable,
                    kind: DtypeKind::UInt,
                    size: 1,
                    unit: None,
                });
            }
            "bitround" => self.floats_alone(codec),
            "quantize" => return self.quantize(codec, name, configuration),
            _ => {
                self.follow(codec, &mut configuration)?;
            }
        }
        self.push(&codec.node.pointer, entry(name, configuration));
        Ok(())
    }

    /// What was rounded is floats, for which zarr-python takes integers as well in Zarr v3, and reads other values.
    fn floats_alone(&mut self, codec: &Codec<'_>) {
        if let ValueType::Simple(dtype) = &self.current
            && dtype.kind != DtypeKind::Float
        {
            let found = format!("the filter \"bitround\" on values of {dtype}");
            let fault = Fault::unsound(&codec.node.pointer, found, "it on floats alone");
            self.chain.unwritable.push(fault);
        }
    }

    /// The filter decodes by a cast alone. zarr-python does not see it where the filter is a codec of Zarr v3, so another codec
    /// does the cast.
    fn quantize(
        &mut self,
        codec: &Codec<'_>,
        name: &str,
        mut configuration: Members,
    ) -> Result<(), Fault> {
        let before = self.current.clone();
        self.follow(codec, &mut configuration)?;
        let (ValueType::Simple(before), ValueType::Simple(after)) = (&before, &self.current) else {
            return Ok(());
        };
        if same_but_order(before, after) {
            self.push(&codec.node.pointer, entry(name, configuration));
            return Ok(());
        }
        let (before, after) = (native(before), native(after));
        set(&mut configuration, "astype", Draft::string(&before));
        let message = format!(
            "\"quantize\" from {before} to {after} became \"quantize\" and \"astype\", since zarr-python does not change the type for \"quantize\" in Zarr v3"
        );
        self.push(&codec.node.pointer, entry(name, configuration));
        let cast = named(
            "numcodecs.astype",
            [
                ("encode_dtype", Draft::string(after)),
                ("decode_dtype", Draft::string(before)),
            ],
        );
        self.push(&codec.node.pointer, cast);
        self.change(codec, message);
        Ok(())
    }

    /// Notes the type that a filter hands on, after a check that it takes the one it is given, and spells types for Zarr v3.
    fn follow(&mut self, codec: &Codec<'_>, configuration: &mut Members) -> Result<(), Fault> {
        let id = codec.id.value;
        let members = TYPE_MEMBERS.iter().find(|(filter, _)| *filter == id);
        let (Some((_, [taken, given])), ValueType::Simple(current)) = (members, &self.current)
        else {
            return Ok(());
        };
        let current = current.clone();
        match member_type(codec, taken)? {
            Some(dtype) if !same(&dtype, &current) => {
                return Err(mismatch(codec, taken, &dtype, &current));
            }
            Some(_) => {}
            // numcodecs has to be told, except by zarr-python in the legacy codec.
            None if id != "fixedscaleoffset" => {
                set(configuration, taken, Draft::string(native(&current)));
            }
            None => {}
        }
        match member_type(codec, given)? {
            Some(dtype) => self.current = ValueType::Simple(dtype),
            None if id == "astype" => {
                let pointer = codec.node.pointer.member(given);
                return Err(Fault::unsound(
                    pointer,
                    "nothing",
                    "the type that is stored",
                ));
            }
            None => {}
        }
        // The order of bytes is that of the `bytes` codec in Zarr v3, and what reaches a filter is in the machine's order.
        for member in [taken, given] {
            if let Some(dtype) = member_type(codec, member)?
                && dtype.size > 1
                && dtype.byte_order == ByteOrder::Big
            {
                let spelt = native(&dtype);
                self.change(
                    codec,
                    format!("{member} {dtype} became {spelt}: in Zarr v3 the \"bytes\" codec has the order of bytes"),
                );
                set(configuration, member, Draft::string(spelt));
            }
        }
        Ok(())
    }

    /// A filter that makes bytes of objects.
    fn variable(&mut self, codec: &Codec<'_>, taken: &ValueType) -> Result<(), Fault> {
        let id = codec.id.value;
        if self.serialized || self.current != *taken {
            let found = format!("the filter {id:?} on values of {}", self.current);
            return Err(Fault::unsound(
                &codec.node.pointer,
                found,
                "it first, on an array with the dtype |O",
            ));
        }
        self.serialized = true;
        self.bytes_filtered = true;
        let codec_of_v3 = Draft::object([("name", Draft::string(id))]);
        self.push(&codec.node.pointer, codec_of_v3);
        Ok(())
    }

    fn on_bytes(&mut self, codec: &Codec<'_>, name: &str) -> Result<(), Fault> {
        self.serialize()?;
        let id = codec.id.value;
        let size = match self.bytes_filtered {
            true => 1,
            false => self.current.size().unwrap_or(1),
        };
        self.bytes_filtered = true;
        let configuration = || members(codec);
        let converted = match compressor::core(id, codec.node.value, size) {
            Ok(Some(Core {
                codec: converted,
                chosen_shuffle,
            })) => {
                if let Some(shuffle) = chosen_shuffle {
                    let message = format!(
                        "the automatic shuffle of blosc became {shuffle:?}, which it is for elements of this size"
                    );
                    self.change(codec, message);
                }
                converted
            }
            Ok(None) => self.of_numcodecs(codec, name),
            Err(misfit) => {
                let pointer = codec.node.pointer.member(&misfit.member);
                let fault = Fault::unsound(pointer, misfit.found, misfit.expected);
                self.chain.unwritable.push(fault);
                entry(name, configuration())
            }
        };
        self.push(&codec.node.pointer, converted);
        Ok(())
    }

    /// A codec of bytes that keeps its name, or is in the specification under the same one.
    fn of_numcodecs(&mut self, codec: &Codec<'_>, name: &str) -> Draft {
        let mut configuration = members(codec);
        let stated = |member: &str| {
            codec
                .node
                .value
                .get(member)
                .filter(|value| !value.is_null())
        };
        match codec.id.value {
            "crc32c"
                if stated("location").is_none_or(|location| location.as_str() == Some("end")) =>
            {
                Draft::object([("name", Draft::string("crc32c"))])
            }
            // Without a size numcodecs takes 4, and zarr-python that of the array's type.
            "shuffle" if stated("elementsize").is_none() => {
                set(&mut configuration, "elementsize", Draft::from(SHUFFLE_SIZE));
                entry(name, configuration)
            }
            _ => entry(name, configuration),
        }
    }

    /// Makes bytes of the array, unless that has been done.
    fn serialize(&mut self) -> Result<(), Fault> {
        if std::mem::replace(&mut self.serialized, true) {
            return Ok(());
        }
        if let ValueType::VariableText | ValueType::VariableBytes = self.current {
            let found = format!("a codec of bytes on {}", self.current);
            let expected = "\"vlen-utf8\" or \"vlen-bytes\" first";
            let pointer = self
                .array
                .filters
                .first()
                .or(self.array.compressor.as_ref());
            let pointer = pointer.map_or(&self.array.dtype.pointer, |codec| &codec.node.pointer);
            return Err(Fault::unsound(pointer, found, expected));
        }
        let codec = match self.current.endian() {
            None => Draft::object([("name", Draft::string("bytes"))]),
            Some(endian) => named("bytes", [("endian", Draft::string(Endian::word(endian)))]),
        };
        let origin = &self.array.dtype.pointer;
        self.chain.codecs.push(codec);
        self.chain.origins.push(origin.to_string());
        Ok(())
    }
}

/// The members of a configuration.
type Members = Vec<(String, Draft)>;

/// The members of a codec but its `id`.
fn members(codec: &Codec<'_>) -> Members {
    let members = codec.node.value.as_object().unwrap_or_default();
    let members = members.iter().filter(|member| member.name != "id");
    members
        .map(|member| (member.name.clone(), Draft::from(&member.value)))
        .collect()
}

fn set(members: &mut Members, name: &str, value: Draft) {
    match members.iter_mut().find(|(member, _)| member == name) {
        Some((_, old)) => *old = value,
        None => members.push((name.to_owned(), value)),
    }
}

fn entry(name: &str, configuration: Members) -> Draft {
    Draft::object([
        ("name", Draft::string(name)),
        ("configuration", Draft::Object(configuration)),
    ])
}

/// The type that a member of a filter names, if it does.
fn member_type(codec: &Codec<'_>, name: &str) -> Result<Option<Dtype>, Fault> {
    let Some(node) = codec.node.get(name).filter(|node| !node.value.is_null()) else {
        return Ok(None);
    };
    let dtype = node.value.as_str().and_then(Dtype::parse);
    let dtype = dtype.filter(|dtype| dtype.v3_name().is_some());
    dtype.map(Some).ok_or_else(|| {
        let found = described(node.value);
        Fault::unsound(
            &node.pointer,
            found,
            "a NumPy type of numbers, such as \"<f4\"",
        )
    })
}

fn described(value: &Value) -> String {
    crate::metadata::describe(value)
}

/// numcodecs looks at the bytes as if they were of the filter's type, so that readers get scrambled values, or fail.
fn mismatch(codec: &Codec<'_>, member: &str, stated: &Dtype, current: &Dtype) -> Fault {
    let pointer = codec.node.pointer.member(member);
    let found = format!("the type {stated}");
    let expected = format!("{current}, which reaches the filter");
    let hint = if same_but_order(stated, current) {
        "only the order of bytes differs, but readers of Zarr v2 do not swap bytes here, so that what they read is not what was written; find out which of the two is true, and correct .zarray"
    } else {
        "readers of Zarr v2 take bytes of one type for those of the other; find out which of the two is true, and correct .zarray"
    };
    Fault::unsound(pointer, found, expected).hint(hint)
}

/// Whether two types are one, down to the order of their bytes. A type without a mark is little-endian, and single bytes have
/// no order whatever their mark.
fn same(a: &Dtype, b: &Dtype) -> bool {
    let big = |dtype: &Dtype| dtype.size > 1 && dtype.byte_order == ByteOrder::Big;
    same_but_order(a, b) && big(a) == big(b)
}

fn same_but_order(a: &Dtype, b: &Dtype) -> bool {
    a.kind == b.kind && a.size == b.size
}

/// The spelling of a type without an order of its own.
fn native(dtype: &Dtype) -> String {
    let byte_order = match dtype.size {
        0 | 1 => ByteOrder::NotApplicable,
        _ => ByteOrder::Little,
    };
    Dtype {
        byte_order,
        ..dtype.clone()
    }
    .to_string()
}

fn unsupported(id: &str) -> String {
    let reason = match id {
        "vlen-array" | "json2" | "msgpack2" | "pickle" => "Zarr v3 has no objects",
        "categorize" | "base64" => "Zarr v3 has no such codec",
        "zfpy" | "pcodec" => "this version does not decode it",
        _ => "it is not known",
    };
    format!("the codec {id:?}: {reason}")
}
