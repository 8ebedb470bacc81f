//! Blosc, zstd and gzip of Zarr v2 as the codecs of the Zarr v3 specification.

use super::types::named;
use crate::metadata::describe;
use crate::metadata::edit::Draft;
use crate::metadata::json::Value;

/// A member of a compressor that numcodecs would not take either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::codecs) struct Misfit {
    pub(in crate::codecs) member: String,
    pub(in crate::codecs) found: String,
    pub(in crate::codecs) expected: &'static str,
}

/// A compressor in the terms of the specification, with what had to be decided on the way.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::codecs) struct Core {
    pub(in crate::codecs) codec: Draft,
    /// What blosc's automatic choice of a shuffle came to.
    pub(in crate::codecs) chosen_shuffle: Option<&'static str>,
}

/// Spells a compressor for elements of `size` bytes; `None` where the specification has none that does the same.
///
/// # Errors
///
/// Where the compressor is one of the three, but its configuration makes no sense.
pub(in crate::codecs) fn core(
    id: &str,
    configuration: &Value,
    size: u64,
) -> Result<Option<Core>, Misfit> {
    let members = Members { configuration };
    let codec = match id {
        "blosc" => return blosc(&members, size).map(Some),
        "gzip" => {
            members.only(&["level"])?;
            match members.integer("level", 1, "a level")? {
                (level, 0..=9) => Some(named("gzip", [("level", level)])),
                _ => None,
            }
        }
        "zstd" => {
            members.only(&["level", "checksum"])?;
            let checksum = members.flag("checksum")?;
            match members.integer("level", 0, "a level")? {
                (level, -131_072..=22) => Some(named(
                    "zstd",
                    [("level", level), ("checksum", Draft::Bool(checksum))],
                )),
                _ => None,
            }
        }
        _ => None,
    };
    Ok(codec.map(|codec| Core {
        codec,
        chosen_shuffle: None,
    }))
}

fn blosc(members: &Members<'_>, size: u64) -> Result<Core, Misfit> {
    const NAMES: [&str; 6] = ["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"];
    members.only(&["cname", "clevel", "shuffle", "blocksize", "typesize"])?;
    let name = match members.get("cname") {
        None => "lz4",
        Some(value) => value
            .as_str()
            .filter(|name| NAMES.contains(name))
            .ok_or_else(|| misfit("cname", value, "blosclz, lz4, lz4hc, snappy, zlib or zstd"))?,
    };
    let expected = "a level from 0 to 9";
    let (level, number) = members.integer("clevel", 5, expected)?;
    members.check("clevel", (0..=9).contains(&number), expected)?;
    let expected = "a number of bytes";
    let (block, number) = members.integer("blocksize", 0, expected)?;
    members.check("blocksize", number >= 0, expected)?;
    // Blosc takes elements of more than 255 bytes for bytes.
    let size = if (1..=255).contains(&size) { size } else { 1 };
    let expected = "a number of bytes from 1 to 255";
    let (typesize, number) = members.integer("typesize", size, expected)?;
    members.check("typesize", (1..=255).contains(&number), expected)?;
    let mut chosen_shuffle = None;
    let expected = "-1, 0, 1 or 2";
    let shuffle = match members.integer("shuffle", 1, expected)?.1 {
        0 => "noshuffle",
        1 => "shuffle",
        2 => "bitshuffle",
        // numcodecs shuffles bits where elements are bytes, and bytes elsewhere.
        -1 => *chosen_shuffle.insert(if number == 1 { "bitshuffle" } else { "shuffle" }),
        _ => {
            members.check("shuffle", false, expected)?;
            "noshuffle"
        }
    };
    let codec = named(
        "blosc",
        [
            ("cname", Draft::string(name)),
            ("clevel", level),
            ("shuffle", Draft::string(shuffle)),
            ("typesize", typesize),
            ("blocksize", block),
        ],
    );
    Ok(Core {
        codec,
        chosen_shuffle,
    })
}

/// The members of a codec, `id` among them.
struct Members<'v> {
    configuration: &'v Value,
}

impl<'v> Members<'v> {
    fn get(&self, name: &str) -> Option<&'v Value> {
        self.configuration.get(name)
    }

    /// Refuses members that numcodecs does not know, and so would not open the array.
    fn only(&self, known: &[&str]) -> Result<(), Misfit> {
        let members = self.configuration.as_object().unwrap_or_default();
        let stranger = members
            .iter()
            .find(|member| member.name != "id" && !known.contains(&member.name.as_str()));
        match stranger {
            None => Ok(()),
            Some(member) => Err(Misfit {
                member: member.name.clone(),
                found: "a member that the codec does not have".to_owned(),
                expected: "none but those that numcodecs knows",
            }),
        }
    }

    /// An integer, as the token that was written and as a number.
    fn integer(
        &self,
        name: &str,
        otherwise: u64,
        expected: &'static str,
    ) -> Result<(Draft, i64), Misfit> {
        let Some(value) = self.get(name) else {
            return Ok((Draft::from(otherwise), otherwise.cast_signed()));
        };
        let number = value.as_number().and_then(|token| token.parse().ok());
        number
            .map(|number| (Draft::from(value), number))
            .ok_or_else(|| misfit(name, value, expected))
    }

    fn flag(&self, name: &str) -> Result<bool, Misfit> {
        match self.get(name) {
            None => Ok(false),
            Some(value) => value
                .as_bool()
                .ok_or_else(|| misfit(name, value, "true or false")),
        }
    }

    fn check(&self, name: &str, fits: bool, expected: &'static str) -> Result<(), Misfit> {
        match self.get(name) {
            Some(value) if !fits => Err(misfit(name, value, expected)),
            _ => Ok(()),
        }
    }
}

fn misfit(member: &str, value: &Value, expected: &'static str) -> Misfit {
    Misfit {
        member: member.to_owned(),
        found: describe(value),
        expected,
    }
}
