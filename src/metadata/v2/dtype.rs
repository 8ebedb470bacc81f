//! NumPy's spellings of data types, as Zarr v2 and the numcodecs codecs use them.

use std::fmt;

/// A simple data type: `<f4`, `float32`, `|u1`, `<M8[ns]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// The mark before the type, or what stands for it.
    pub byte_order: ByteOrder,
    /// The kind of the values.
    pub kind: DtypeKind,
    /// The number in the spelling: bytes for most kinds, characters of four bytes each for
    /// [`DtypeKind::Unicode`], and 0 for [`DtypeKind::Object`].
    pub size: u32,
    /// The unit of [`DtypeKind::DateTime`] and [`DtypeKind::TimeDelta`], such as `ns` or `25s`, if
    /// one is given.
    pub unit: Option<String>,
}

/// The byte order of a data type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// `<`
    Little,
    /// `>`
    Big,
    /// `|`
    NotApplicable,
    /// `=` or no mark: that of the machine that wrote it, which by now means little-endian.
    Unmarked,
}

/// The kinds of values that a data type can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DtypeKind {
    /// `b`
    Bool,
    /// `i`
    Int,
    /// `u`
    UInt,
    /// `f`
    Float,
    /// `c`
    Complex,
    /// `m`
    TimeDelta,
    /// `M`
    DateTime,
    /// `S`
    Bytes,
    /// `U`
    Unicode,
    /// `V`
    Void,
    /// `O`
    Object,
}

/// NumPy's names for types of one spelling each, and the spelling. `int` and `uint` have 64 bits
/// since NumPy 2, and had them before wherever stores are usually written.
const NAMES: [(&str, &str); 22] = [
    ("bool", "b1"),
    ("bool_", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("int", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("uint", "u8"),
    ("float16", "f2"),
    ("half", "f2"),
    ("float32", "f4"),
    ("single", "f4"),
    ("float64", "f8"),
    ("double", "f8"),
    ("float", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
    ("object", "O"),
];

impl Dtype {
    /// Reads any of the spellings that NumPy takes: a name, or a letter and a size with or without
    /// a byte order. `None` for what NumPy does not know either, and for its one-letter codes,
    /// which no program writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (byte_order, rest) = match text.chars().next()? {
            '<' => (ByteOrder::Little, &text[1..]),
            '>' => (ByteOrder::Big, &text[1..]),
            '|' => (ByteOrder::NotApplicable, &text[1..]),
            '=' => (ByteOrder::Unmarked, &text[1..]),
            _ => (ByteOrder::Unmarked, text),
        };
        let named = NAMES.iter().find(|(name, _)| *name == text);
        let (spelling, unit) = match (named, rest.strip_suffix(']')) {
            (Some((_, spelling)), _) => (*spelling, None),
            (None, None) => (rest, None),
            (None, Some(open)) => {
                let (spelling, unit) = open.split_once('[')?;
                (spelling, Some(unit))
            }
        };
        let spelling = long_time_name(spelling, text);
        let kind = DtypeKind::from_letter(spelling.chars().next()?)?;
        let size = size(kind, &spelling[1..])?;
        let timed = matches!(kind, DtypeKind::DateTime | DtypeKind::TimeDelta);
        let unit_fits = unit.is_none_or(|unit| timed && is_time_unit(unit));
        unit_fits.then(|| Dtype {
            byte_order,
            kind,
            size,
            unit: unit.map(str::to_owned),
        })
    }

    /// The name that Zarr v3 has for numbers and booleans of this kind and size: `float32`. Those
    /// of other kinds depend on more than the name.
    pub fn v3_name(&self) -> Option<&'static str> {
        Some(match (self.kind, self.size) {
            (DtypeKind::Bool, 1) => "bool",
            (DtypeKind::Int, 1) => "int8",
            (DtypeKind::Int, 2) => "int16",
            (DtypeKind::Int, 4) => "int32",
            (DtypeKind::Int, 8) => "int64",
            (DtypeKind::UInt, 1) => "uint8",
            (DtypeKind::UInt, 2) => "uint16",
            (DtypeKind::UInt, 4) => "uint32",
            (DtypeKind::UInt, 8) => "uint64",
            (DtypeKind::Float, 2) => "float16",
            (DtypeKind::Float, 4) => "float32",
            (DtypeKind::Float, 8) => "float64",
            (DtypeKind::Complex, 8) => "complex64",
            (DtypeKind::Complex, 16) => "complex128",
            _ => return None,
        })
    }
}

/// `datetime64` and `timedelta64` are the only names that can carry a unit, and no byte order
/// stands before a name.
fn long_time_name<'t>(spelling: &'t str, text: &str) -> &'t str {
    match spelling {
        "datetime64" if text.starts_with(spelling) => "M8",
        "timedelta64" if text.starts_with(spelling) => "m8",
        other => other,
    }
}

/// The size of a type of this kind, if NumPy has one of that size.
fn size(kind: DtypeKind, digits: &str) -> Option<u32> {
    if kind == DtypeKind::Object {
        // NumPy writes "|O"; "|O8" was written on the way through its older versions.
        return matches!(digits, "" | "8" | "4").then_some(0);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse().ok()?;
    let possible = match kind {
        DtypeKind::Bool => size == 1,
        DtypeKind::Int | DtypeKind::UInt => matches!(size, 1 | 2 | 4 | 8),
        DtypeKind::Float => matches!(size, 2 | 4 | 8 | 12 | 16),
        DtypeKind::Complex => matches!(size, 8 | 16 | 24 | 32),
        DtypeKind::TimeDelta | DtypeKind::DateTime => size == 8,
        DtypeKind::Bytes | DtypeKind::Unicode | DtypeKind::Void | DtypeKind::Object => true,
    };
    possible.then_some(size)
}

/// A unit of time, perhaps with a count before it.
fn is_time_unit(unit: &str) -> bool {
    const UNITS: [&str; 15] = [
        "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic",
    ];
    let name = unit.trim_start_matches(|c: char| c.is_ascii_digit());
    UNITS.contains(&name)
}

impl DtypeKind {
    fn from_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'b' => DtypeKind::Bool,
            'i' => DtypeKind::Int,
            'u' => DtypeKind::UInt,
            'f' => DtypeKind::Float,
            'c' => DtypeKind::Complex,
            'm' => DtypeKind::TimeDelta,
            'M' => DtypeKind::DateTime,
            'S' | 'a' => DtypeKind::Bytes,
            'U' => DtypeKind::Unicode,
            'V' => DtypeKind::Void,
            'O' => DtypeKind::Object,
            _ => return None,
        })
    }

    fn letter(self) -> char {
        match self {
            DtypeKind::Bool => 'b',
            DtypeKind::Int => 'i',
            DtypeKind::UInt => 'u',
            DtypeKind::Float => 'f',
            DtypeKind::Complex => 'c',
            DtypeKind::TimeDelta => 'm',
            DtypeKind::DateTime => 'M',
            DtypeKind::Bytes => 'S',
            DtypeKind::Unicode => 'U',
            DtypeKind::Void => 'V',
            DtypeKind::Object => 'O',
        }
    }
}

/// The short spelling; an unmarked byte order stays unmarked.
impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.byte_order {
            ByteOrder::Little => "<",
            ByteOrder::Big => ">",
            ByteOrder::NotApplicable => "|",
            ByteOrder::Unmarked => "",
        };
        write!(f, "{mark}{}", self.kind.letter())?;
        if self.kind != DtypeKind::Object {
            write!(f, "{}", self.size)?;
        }
        match &self.unit {
            Some(unit) => write!(f, "[{unit}]"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_type() {
        let float = |byte_order| Dtype {
            byte_order,
            kind: DtypeKind::Float,
            size: 4,
            unit: None,
        };
        assert_eq!(Dtype::parse("<f4"), Some(float(ByteOrder::Little)));
        assert_eq!(Dtype::parse(">f4"), Some(float(ByteOrder::Big)));
        assert_eq!(Dtype::parse("|f4"), Some(float(ByteOrder::NotApplicable)));
        for unmarked in ["f4", "=f4", "float32", "single"] {
            assert_eq!(
                Dtype::parse(unmarked),
                Some(float(ByteOrder::Unmarked)),
                "{unmarked}"
            );
        }
    }

    #[test]
    fn names_of_version_3() {
        for (text, name) in [
            ("|u1", Some("uint8")),
            ("int", Some("int64")),
            ("uint16", Some("uint16")),
            ("<i8", Some("int64")),
            ("bool", Some("bool")),
            ("<c16", Some("complex128")),
            ("<f16", None),
            ("<M8[ns]", None),
            ("|S3", None),
        ] {
            assert_eq!(Dtype::parse(text).unwrap().v3_name(), name, "{text}");
        }
    }

    #[test]
    fn short_spellings_print_as_they_were_written() {
        for text in [
            "<f4", ">i2", "|u1", "|b1", "<M8[ns]", ">m8[25s]", "<M8", "|S10", "<U3", "|V16", "|O",
            "f8",
        ] {
            assert_eq!(Dtype::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Dtype::parse("datetime64[ns]").unwrap().to_string(),
            "M8[ns]"
        );
        assert_eq!(Dtype::parse("timedelta64").unwrap().to_string(), "m8");
    }

    #[test]
    fn refuses_what_is_no_type() {
        for text in [
            "",
            "<",
            "f",
            "f3",
            "<float32",
            "floats",
            "x4",
            "i-1",
            "i+1",
            "i 4",
            "f4[s]",
            "M8[",
            "M8]",
            "M8[x]",
            "M8[]",
            "S",
            "u99999999999",
            "é4",
            "<é",
            "i4é",
            "|O9",
            "<datetime64[ns]",
            "M8[ns]x",
        ] {
            assert_eq!(Dtype::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_undoes_printing(text in "[<>|=]?[biufcmMSUVOa][0-9]{0,3}(\\[[0-9]?[YMWDhmsnu]{0,2}\\])?") {
            if let Some(dtype) = Dtype::parse(&text) {
                prop_assert_eq!(Dtype::parse(&dtype.to_string()), Some(dtype));
            }
        }

        #[test]
        fn any_text_gets_an_answer(text in "\\PC{0,12}") {
            let _ = Dtype::parse(&text);
        }
    }
}
