//! The types that elements of a `.npy` file have.

/// The order of the bytes of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

impl ByteOrder {
    /// The order of this machine.
    pub const NATIVE: Self = if cfg!(target_endian = "little") {
        Self::Little
    } else {
        Self::Big
    };
}

/// A type of NumPy that Zarr has too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ElementType {
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float32,
    Float64,
    Complex64,
    Complex128,
}

/// A type that elements of a `.npy` file cannot have, or not here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedType {
    /// A type of Zarr.
    #[error("{0:?} cannot be written to a .npy file: NumPy has no such type")]
    Zarr(String),
    /// A type of NumPy.
    #[error("this version reads no .npy file of the type {0:?}")]
    NumPy(String),
}

impl ElementType {
    /// All types.
    pub const ALL: [Self; 14] = [
        Self::Bool,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::UInt8,
        Self::UInt16,
        Self::UInt32,
        Self::UInt64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Complex64,
        Self::Complex128,
    ];

    /// The name in Zarr v3, and how NumPy writes the type after the byte order.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Bool => ("bool", "b1"),
            Self::Int8 => ("int8", "i1"),
            Self::Int16 => ("int16", "i2"),
            Self::Int32 => ("int32", "i4"),
            Self::Int64 => ("int64", "i8"),
            Self::UInt8 => ("uint8", "u1"),
            Self::UInt16 => ("uint16", "u2"),
            Self::UInt32 => ("uint32", "u4"),
            Self::UInt64 => ("uint64", "u8"),
            Self::Float16 => ("float16", "f2"),
            Self::Float32 => ("float32", "f4"),
            Self::Float64 => ("float64", "f8"),
            Self::Complex64 => ("complex64", "c8"),
            Self::Complex128 => ("complex128", "c16"),
        }
    }

    /// The name of the type in Zarr v3.
    #[must_use]
    pub const fn zarr_name(self) -> &'static str {
        self.names().0
    }

    /// The type that has this name in Zarr v3.
    ///
    /// # Errors
    ///
    /// Where NumPy has no such type, as for `int4`, `bfloat16` and `float8_e4m3`.
    pub fn from_zarr_name(name: &str) -> Result<Self, UnsupportedType> {
        let mut types = Self::ALL.into_iter();
        types
            .find(|element| element.zarr_name() == name)
            .ok_or_else(|| UnsupportedType::Zarr(name.to_owned()))
    }

    /// The size of an element in bytes.
    #[must_use]
    pub const fn size(self) -> u64 {
        match self {
            Self::Bool | Self::Int8 | Self::UInt8 => 1,
            Self::Int16 | Self::UInt16 | Self::Float16 => 2,
            Self::Int32 | Self::UInt32 | Self::Float32 => 4,
            Self::Int64 | Self::UInt64 | Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// How a header spells the type.
    pub(super) fn descr(self, byte_order: ByteOrder) -> String {
        let order = match byte_order {
            _ if self.size() == 1 => '|',
            ByteOrder::Little => '<',
            ByteOrder::Big => '>',
        };
        format!("{order}{}", self.names().1)
    }

    /// The type that a header spells so.
    pub(super) fn from_descr(descr: &str) -> Result<(Self, ByteOrder), UnsupportedType> {
        let unsupported = || UnsupportedType::NumPy(descr.to_owned());
        // `|` is for types in which the order does not matter; NumPy takes it for native elsewhere too.
        let (byte_order, name) = match descr.split_at_checked(1) {
            Some(("<", name)) => (ByteOrder::Little, name),
            Some((">", name)) => (ByteOrder::Big, name),
            Some(("|" | "=", name)) => (ByteOrder::NATIVE, name),
            _ => return Err(unsupported()),
        };
        let mut types = Self::ALL.into_iter();
        let element = types
            .find(|element| element.names().1 == name)
            .ok_or_else(unsupported)?;
        Ok((element, byte_order))
    }
}
