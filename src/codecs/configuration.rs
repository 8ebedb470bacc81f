//! The JSON of codecs, read into the parameters that `transform` binds: all problems at once, each with its place.

use crate::metadata::json::{IssueKind, Kind, Member, Parsed, Value};
use crate::transform::data_type::DataType;
use crate::transform::literal::Literal;
use crate::transform::parameters::{
    CastValueParameters, Codec, FixedScaleOffsetParameters, ScaleOffsetParameters,
};
use crate::transform::problem::Problem;
use crate::transform::rounding::{OutOfRange, Rounding};

/// The name of `scale_offset` in metadata.
pub const SCALE_OFFSET: &str = "scale_offset";
/// The name of `cast_value` in metadata.
pub const CAST_VALUE: &str = "cast_value";
/// The name of the legacy codec in Zarr v3 metadata.
pub const LEGACY: &str = "numcodecs.fixedscaleoffset";
/// The name of the legacy codec in Zarr v2 metadata.
pub const LEGACY_V2: &str = "fixedscaleoffset";

/// A list of codecs as a document has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// The codecs, one for each entry of the list.
    pub codecs: Vec<Codec>,
    /// Their names, as far as they have any.
    pub names: Vec<String>,
    /// What is wrong with them, in the order of the list.
    pub problems: Vec<Problem>,
}

/// Reads a JSON document that is a list of array-to-array codecs.
///
/// Duplicate members are problems: readers differ in which of them they use.
///
/// # Errors
///
/// What was found, where the document is no list.
pub fn read_list(document: &Parsed) -> Result<Reading, String> {
    let Some(entries) = document.root.as_array() else {
        return Err(document.root.type_name().to_owned());
    };
    let mut reading = Reading::default();
    for (index, entry) in entries.iter().enumerate() {
        let (name, codec) = read_entry(entry, index, &mut reading.problems);
        reading.names.push(name);
        reading.codecs.push(codec);
    }
    for issue in &document.issues {
        if let IssueKind::DuplicateMember { .. } = issue.kind {
            let pointer = issue.pointer.to_string();
            let (index, member) = pointer[1..].split_once('/').unwrap_or((&pointer[1..], ""));
            reading.problems.push(Problem::invalid(
                "json/duplicate-member",
                index.parse().unwrap_or_default(),
                format!("/{member}"),
                "a member that stands there twice",
                "each member once",
            ));
        }
    }
    reading.problems.sort_by_key(|problem| problem.codec);
    Ok(reading)
}

/// Whether `name` is that of a codec whose arithmetic is this program's own.
#[must_use]
pub fn is_packing(name: &str) -> bool {
    [SCALE_OFFSET, CAST_VALUE, LEGACY, LEGACY_V2].contains(&name)
}

/// Reads one array-to-array codec, which stands at `index` among those that are bound together: its name, as far as it has
/// one, and its parameters.
pub fn read_entry(entry: &Value, index: usize, problems: &mut Vec<Problem>) -> (String, Codec) {
    let mut reader = Reader {
        index,
        base: "/configuration",
        problems,
    };
    reader.codec(entry)
}

/// Reads one entry of a list of codecs.
struct Reader<'a> {
    index: usize,
    /// Where the parameters stand: in the configuration, or in the codec itself for a Zarr v2 filter.
    base: &'static str,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn invalid(
        &mut self,
        id: &'static str,
        member: impl Into<String>,
        found: impl std::fmt::Display,
        expected: impl Into<String>,
    ) {
        // A hostile document has millions; the first are enough.
        const MOST_PROBLEMS: usize = 1000;
        if self.problems.len() < MOST_PROBLEMS {
            let problem = Problem::invalid(id, self.index, member, found, expected);
            self.problems.push(problem);
        }
    }

    fn codec(&mut self, entry: &Value) -> (String, Codec) {
        const FORMS: &str = "the name of a codec, or an object with its \"name\"";
        if let Some(name) = entry.as_str() {
            return (name.to_owned(), self.named(name, None));
        }
        let Some(members) = entry.as_object() else {
            self.invalid("core/codec-form", "", entry.type_name(), FORMS);
            return (String::new(), Codec::Unreadable);
        };
        if let (None, Some(id)) = (entry.get("name"), entry.get("id").and_then(Value::as_str)) {
            return (id.to_owned(), self.filter(id, members));
        }
        let Some(name) = entry.get("name").and_then(Value::as_str) else {
            let found = entry.get("name").map_or("no name".to_owned(), describe);
            self.invalid("core/codec-form", "/name", found, FORMS);
            return (String::new(), Codec::Unreadable);
        };
        for member in members {
            let known = ["name", "configuration", "must_understand"];
            if !known.contains(&member.name.as_str()) {
                self.unknown_member("core/codec-member", "", &member.name, &known);
            }
        }
        if let Some(flag) = entry
            .get("must_understand")
            .filter(|m| m.as_bool().is_none())
        {
            self.invalid(
                "core/codec-form",
                "/must_understand",
                describe(flag),
                "true or false",
            );
        }
        let configuration = match entry.get("configuration") {
            None => None,
            Some(value) => match value.as_object() {
                Some(members) => Some(members),
                None => {
                    self.invalid(
                        "core/codec-form",
                        "/configuration",
                        describe(value),
                        "an object",
                    );
                    // What the configuration should say is not known, so neither is the outgoing type.
                    let codec = match name {
                        SCALE_OFFSET => self.scale_offset(&[]),
                        _ => Codec::Unreadable,
                    };
                    return (name.to_owned(), codec);
                }
            },
        };
        (name.to_owned(), self.named(name, configuration))
    }

    fn named(&mut self, name: &str, configuration: Option<&[Member]>) -> Codec {
        match (name, configuration) {
            (SCALE_OFFSET, configuration) => self.scale_offset(configuration.unwrap_or_default()),
            (CAST_VALUE, Some(members)) => self.cast_value(members),
            (LEGACY | LEGACY_V2, Some(members)) => self.legacy(members),
            (CAST_VALUE | LEGACY | LEGACY_V2, None) => {
                let (id, expected) = match name {
                    CAST_VALUE => (
                        "cast-value/configuration",
                        "a \"configuration\" with a \"data_type\"",
                    ),
                    _ => (
                        "legacy/configuration",
                        "a \"configuration\" with \"scale\" and \"offset\"",
                    ),
                };
                self.invalid(id, "/configuration", "no configuration", expected);
                Codec::Unreadable
            }
            _ => self.unknown_codec("/name", name),
        }
    }

    /// A codec in the form of a Zarr v2 filter: an `id` with the parameters beside it.
    fn filter(&mut self, id: &str, members: &[Member]) -> Codec {
        self.base = "";
        match id {
            LEGACY_V2 | LEGACY => self.legacy(members),
            _ => self.unknown_codec("/id", id),
        }
    }

    fn unknown_codec(&mut self, member: &str, name: &str) -> Codec {
        let found = match name {
            "bytes" | "sharding_indexed" | "packbits" | "vlen-utf8" | "vlen-bytes" => {
                format!("the codec {name:?}, which makes bytes of an array")
            }
            "transpose" => "the codec \"transpose\", which needs the shape of a chunk".to_owned(),
            "blosc" | "gzip" | "zstd" | "crc32c" => {
                format!("the codec {name:?}, which turns bytes into bytes")
            }
            _ => format!("the codec {:?}", shorten(name)),
        };
        let expected = format!("{SCALE_OFFSET:?}, {CAST_VALUE:?}, or for decoding {LEGACY:?}");
        self.invalid("core/unknown-codec", member, found, expected);
        Codec::Unreadable
    }

    fn unknown_member(&mut self, id: &'static str, base: &str, name: &str, known: &[&str]) {
        let escaped = shorten(name).replace('~', "~0").replace('/', "~1");
        let known: Vec<_> = known.iter().map(|name| format!("\"{name}\"")).collect();
        let found = format!("an unknown member \"{}\"", shorten(name).escape_debug());
        let expected = format!("no member but {}", known.join(", "));
        self.invalid(id, format!("{base}/{escaped}"), found, expected);
    }

    fn scale_offset(&mut self, members: &[Member]) -> Codec {
        let mut parameters = ScaleOffsetParameters::default();
        for Member { name, value, .. } in members {
            match name.as_str() {
                "offset" => parameters.offset = Some(literal(value)),
                "scale" => parameters.scale = Some(literal(value)),
                _ => {
                    let id = "scale-offset/unknown-member";
                    self.unknown_member(id, self.base, name, &["offset", "scale"]);
                }
            }
        }
        Codec::ScaleOffset(parameters)
    }

    fn cast_value(&mut self, members: &[Member]) -> Codec {
        const KNOWN: [&str; 4] = ["data_type", "rounding", "out_of_range", "scalar_map"];
        let mut data_type = None;
        let mut stated = false;
        // The rest of the parameters, bound to a type that is filled in at the end.
        let mut parameters = CastValueParameters::to(DataType::Int8);
        for Member { name, value, .. } in members {
            match name.as_str() {
                "data_type" => {
                    stated = true;
                    data_type = self.data_type(value);
                }
                "rounding" => {
                    let words = Rounding::ALL.map(Rounding::name);
                    if let Some(rounding) = self.word(name, value, &words, Rounding::from_name) {
                        parameters.rounding = rounding;
                    }
                }
                "out_of_range" => {
                    let words = OutOfRange::ALL.map(OutOfRange::name);
                    parameters.out_of_range = self.word(name, value, &words, OutOfRange::from_name);
                }
                "scalar_map" => {
                    (parameters.encode, parameters.decode) = self.scalar_map(value);
                }
                _ => self.unknown_member("cast-value/unknown-member", self.base, name, &KNOWN),
            }
        }
        if !stated {
            let place = format!("{}/data_type", self.base);
            self.invalid("cast-value/data-type", place, "no data type", type_names());
        }
        data_type.map_or(Codec::Unreadable, |data_type| {
            Codec::CastValue(CastValueParameters {
                data_type,
                ..parameters
            })
        })
    }

    /// A data type: a string, or an object with a name and nothing to configure.
    fn data_type(&mut self, value: &Value) -> Option<DataType> {
        let plain = |value: &Value| {
            let members = value.as_object().unwrap_or_default();
            members.iter().all(|member| match member.name.as_str() {
                "name" | "must_understand" => true,
                "configuration" => member.value.as_object().is_some_and(<[_]>::is_empty),
                _ => false,
            })
        };
        let name = value.as_str().or_else(|| {
            let name = value.get("name").filter(|_| plain(value))?;
            name.as_str()
        });
        let data_type = name.and_then(DataType::from_name);
        if data_type.is_none() {
            let mut expected = type_names();
            if let Some((meant, _)) = name.and_then(DataType::from_numpy) {
                expected = format!("\"{meant}\", as Zarr v3 spells it");
            }
            let place = format!("{}/data_type", self.base);
            self.invalid("cast-value/data-type", place, describe(value), expected);
        }
        data_type
    }

    fn word<T>(
        &mut self,
        name: &str,
        value: &Value,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let parsed = value.as_str().and_then(parse);
        if parsed.is_none() {
            let id = if name == "rounding" {
                "cast-value/rounding"
            } else {
                "cast-value/out-of-range"
            };
            let words: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let place = format!("{}/{name}", self.base);
            let expected = format!("{}, or no such member", words.join(", "));
            self.invalid(id, place, describe(value), expected);
        }
        parsed
    }

    fn scalar_map(&mut self, value: &Value) -> (Pairs, Pairs) {
        let id = "cast-value/scalar-map";
        let place = format!("{}/scalar_map", self.base);
        let (mut encode, mut decode) = (Vec::new(), Vec::new());
        let Some(members) = value.as_object() else {
            let expected = "an object with \"encode\", \"decode\" or both";
            self.invalid(id, place, describe(value), expected);
            return (encode, decode);
        };
        for Member { name, value, .. } in members {
            match name.as_str() {
                "encode" => encode = self.pairs(format!("{place}/encode"), value),
                "decode" => decode = self.pairs(format!("{place}/decode"), value),
                _ => {
                    let known = ["encode", "decode"];
                    self.unknown_member("cast-value/unknown-member", &place, name, &known);
                }
            }
        }
        (encode, decode)
    }

    fn pairs(&mut self, place: String, value: &Value) -> Pairs {
        let id = "cast-value/scalar-map";
        let Some(entries) = value.as_array() else {
            self.invalid(
                id,
                place,
                describe(value),
                "a list of [input, output] pairs",
            );
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (n, entry) in entries.iter().enumerate() {
            match entry.as_array() {
                Some([input, output]) => pairs.push((literal(input), literal(output))),
                Some(other) => {
                    let found = format!("a list of {}", other.len());
                    self.invalid(id, format!("{place}/{n}"), found, "an [input, output] pair");
                }
                None => {
                    let found = describe(entry);
                    self.invalid(id, format!("{place}/{n}"), found, "an [input, output] pair");
                }
            }
        }
        pairs
    }

    fn legacy(&mut self, members: &[Member]) -> Codec {
        const KNOWN: [&str; 4] = ["offset", "scale", "dtype", "astype"];
        let (mut scale, mut offset, mut dtype, mut astype) = (None, None, None, None);
        let mut readable = true;
        for Member { name, value, .. } in members {
            match name.as_str() {
                "scale" => scale = Some(literal(value)),
                "offset" => offset = Some(literal(value)),
                "dtype" | "astype" if value.is_null() => {}
                "dtype" => dtype = self.numpy_type(name, value, &mut readable),
                "astype" => astype = self.numpy_type(name, value, &mut readable),
                // numcodecs writes its own name into the configuration.
                "id" if value
                    .as_str()
                    .is_some_and(|id| [LEGACY_V2, LEGACY].contains(&id)) => {}
                _ => self.unknown_member("legacy/unknown-member", self.base, name, &KNOWN),
            }
        }
        for (name, value) in [("scale", &scale), ("offset", &offset)] {
            if value.is_none() {
                let place = format!("{}/{name}", self.base);
                self.invalid(
                    "legacy/parameter",
                    place,
                    format!("no {name}"),
                    "a JSON number",
                );
            }
        }
        let (Some(scale), Some(offset), true) = (scale, offset, readable) else {
            return Codec::Unreadable;
        };
        Codec::FixedScaleOffset(FixedScaleOffsetParameters {
            scale,
            offset,
            dtype,
            astype,
            base: self.base,
        })
    }

    fn numpy_type(&mut self, name: &str, value: &Value, readable: &mut bool) -> Option<DataType> {
        let found = value.as_str().and_then(DataType::from_numpy);
        if found.is_none() {
            *readable = false;
            let place = format!("{}/{name}", self.base);
            let expected = "a NumPy type of integers or floats, such as \"<f4\" or \"|u1\"";
            self.invalid("legacy/unsupported-type", place, describe(value), expected);
        }
        found.map(|(data_type, _)| data_type)
    }
}

type Pairs = Vec<(Literal, Literal)>;

fn literal(value: &Value) -> Literal {
    match &value.kind {
        Kind::Number(token) => Literal::Number(token.clone()),
        Kind::String(text) => Literal::String(text.clone()),
        _ => Literal::Other(describe(value)),
    }
}

/// A value for a message: scalars as they are, shortened, and the type of anything else.
fn describe(value: &Value) -> String {
    match &value.kind {
        Kind::Number(token) => shorten(token),
        Kind::String(text) => format!("\"{}\"", shorten(text).escape_debug()),
        Kind::Bool(value) => value.to_string(),
        _ => value.type_name().to_owned(),
    }
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

fn type_names() -> String {
    let names = DataType::ALL.map(DataType::name);
    format!("one of {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::json::{Limits, NonFinite, parse};

    fn read(text: &str) -> Reading {
        let parsed = parse(text.as_bytes(), &Limits::default(), NonFinite::Refuse).unwrap();
        read_list(&parsed).unwrap()
    }

    fn problems(text: &str) -> Vec<(usize, String, &'static str)> {
        let problems = read(text).problems.into_iter();
        problems.map(|p| (p.codec, p.member, p.id)).collect()
    }

    #[test]
    fn every_problem_is_found_with_its_place() {
        let text = r#"[
            {"name": "scale_offset", "configuration": {"scale": 1, "a/b": 2}, "x": 1},
            {"name": "cast_value", "configuration": {"data_type": "uint9", "rounding": "up",
                "out_of_range": "error", "scalar_map": {"encode": [[1], 2], "both": []}}},
            "cast_value",
            {"name": "cast_value", "configuration": null},
            {"name": "bytes"},
            7,
            {"configuration": {}}
        ]"#;
        assert_eq!(
            problems(text),
            [
                (0, "/x".to_owned(), "core/codec-member"),
                (
                    0,
                    "/configuration/a~1b".to_owned(),
                    "scale-offset/unknown-member"
                ),
                (
                    1,
                    "/configuration/data_type".to_owned(),
                    "cast-value/data-type"
                ),
                (
                    1,
                    "/configuration/rounding".to_owned(),
                    "cast-value/rounding"
                ),
                (
                    1,
                    "/configuration/out_of_range".to_owned(),
                    "cast-value/out-of-range"
                ),
                (
                    1,
                    "/configuration/scalar_map/encode/0".to_owned(),
                    "cast-value/scalar-map"
                ),
                (
                    1,
                    "/configuration/scalar_map/encode/1".to_owned(),
                    "cast-value/scalar-map"
                ),
                (
                    1,
                    "/configuration/scalar_map/both".to_owned(),
                    "cast-value/unknown-member"
                ),
                (2, "/configuration".to_owned(), "cast-value/configuration"),
                (3, "/configuration".to_owned(), "core/codec-form"),
                (4, "/name".to_owned(), "core/unknown-codec"),
                (5, String::new(), "core/codec-form"),
                (6, "/name".to_owned(), "core/codec-form"),
            ]
        );
    }

    #[test]
    fn spellings_that_are_legal() {
        let text = r#"["scale_offset", {"name": "scale_offset"},
            {"name": "scale_offset", "configuration": {}, "must_understand": true},
            {"name": "cast_value", "configuration": {"data_type": {"name": "int4"}}},
            {"name": "cast_value", "configuration": {"data_type": {"name": "int8", "configuration": {}}}},
            {"name": "numcodecs.fixedscaleoffset", "configuration":
                {"id": "fixedscaleoffset", "scale": 10, "offset": 0.5, "dtype": "int8", "astype": null}},
            {"id": "fixedscaleoffset", "scale": 10, "offset": 0.5, "dtype": "|i1", "astype": "u1"}]"#;
        let reading = read(text);
        assert_eq!(reading.problems, []);
        assert_eq!(reading.codecs.len(), 7);
        assert_eq!(
            reading.codecs[0],
            Codec::ScaleOffset(ScaleOffsetParameters::default())
        );
        assert_eq!(
            reading.codecs[3],
            Codec::CastValue(CastValueParameters::to(DataType::Int4))
        );
    }

    #[test]
    fn numbers_keep_their_text() {
        let reading = read(
            r#"[{"name": "scale_offset", "configuration": {"scale": 1.50, "offset": "NaN"}}]"#,
        );
        let Codec::ScaleOffset(parameters) = &reading.codecs[0] else {
            panic!("{reading:?}");
        };
        assert_eq!(parameters.scale, Some(Literal::Number("1.50".to_owned())));
        assert_eq!(parameters.offset, Some(Literal::String("NaN".to_owned())));
    }

    #[test]
    fn duplicate_members_are_problems() {
        let text = r#"[{"name": "scale_offset"}, {"name": "scale_offset", "configuration": {"scale": 1, "scale": 2}}]"#;
        let place = "/configuration/scale".to_owned();
        assert_eq!(problems(text), [(1, place, "json/duplicate-member")]);
    }

    #[test]
    fn the_legacy_codec_says_what_is_missing() {
        let text = r#"[{"name": "numcodecs.fixedscaleoffset", "configuration": {"dtype": "<U4", "gain": 1}}]"#;
        assert_eq!(
            problems(text),
            [
                (
                    0,
                    "/configuration/dtype".to_owned(),
                    "legacy/unsupported-type"
                ),
                (0, "/configuration/gain".to_owned(), "legacy/unknown-member"),
                (0, "/configuration/scale".to_owned(), "legacy/parameter"),
                (0, "/configuration/offset".to_owned(), "legacy/parameter"),
            ]
        );
    }
}
