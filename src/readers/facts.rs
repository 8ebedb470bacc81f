//! The facts: which program does what with which feature, and how that is known.
//!
//! "Run" means that the program was tried on a small store of that kind; what was only read is said to be.

use super::Does::{Fail, Read};
use super::Feature::*;
use super::{Does, Fact, Feature, Reader, Source};

const RUN: Source = Source {
    text: "run",
    date: "2026-09",
};
const SOURCE_READ: Source = Source {
    text: "its source was read",
    date: "2026-08",
};
const TABLES: Source = Source {
    text: "its documentation and source were read",
    date: "2026-08",
};

const ZARR_PYTHON: &str = "zarr-python";
const ZARR_PYTHON_3_1: &str = "zarr-python 3.1";
const ZARR_PYTHON_2: &str = "zarr-python 2";
const ZARRITA: &str = "zarrita.js";
const ZARRS: &str = "zarrs";
const GDAL: &str = "GDAL";
const TENSORSTORE: &str = "tensorstore";
const ZARR_JAVA: &str = "zarr-java";

/// The readers, in the order of reports.
pub(super) const READERS: &[Reader] = &[
    Reader {
        key: ZARR_PYTHON,
        name: ZARR_PYTHON,
        version: "3.4.2",
        source: RUN,
    },
    Reader {
        key: ZARR_PYTHON_3_1,
        name: ZARR_PYTHON,
        version: "3.1.6",
        source: RUN,
    },
    Reader {
        key: ZARR_PYTHON_2,
        name: ZARR_PYTHON,
        version: "2.18.7",
        source: RUN,
    },
    Reader {
        key: ZARRITA,
        name: ZARRITA,
        version: "0.7.5",
        source: RUN,
    },
    Reader {
        key: ZARRS,
        name: ZARRS,
        version: "0.23.14",
        source: RUN,
    },
    Reader {
        key: GDAL,
        name: GDAL,
        version: "3.14 in development",
        source: SOURCE_READ,
    },
    Reader {
        key: TENSORSTORE,
        name: TENSORSTORE,
        version: "0.1.86",
        source: RUN,
    },
    Reader {
        key: ZARR_JAVA,
        name: ZARR_JAVA,
        version: "main",
        source: TABLES,
    },
];

const fn fact(reader: &'static str, feature: Feature, does: Does, source: Source) -> Fact {
    Fact {
        reader,
        feature,
        does,
        source,
    }
}

/// The table.
pub(super) const FACTS: &[Fact] = &[
    fact(ZARR_PYTHON, Format2, Read, RUN),
    fact(ZARR_PYTHON, Format3, Read, RUN),
    fact(ZARR_PYTHON, CoreCodec, Read, RUN),
    fact(ZARR_PYTHON, Sharding, Read, RUN),
    fact(ZARR_PYTHON, NumcodecsV2, Read, RUN),
    fact(ZARR_PYTHON, NumcodecsV3, Read, RUN),
    fact(ZARR_PYTHON, Float16, Read, RUN),
    fact(ZARR_PYTHON, ScaleOffset, Read, RUN),
    fact(ZARR_PYTHON, CastValue, Read, RUN),
    fact(ZARR_PYTHON, LegacyV2, Read, RUN),
    fact(ZARR_PYTHON, LegacyV3, Read, RUN),
    fact(
        ZARR_PYTHON,
        LegacyUnprefixed,
        Fail("it knows the legacy codec as \"numcodecs.fixedscaleoffset\" only"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        SmallType,
        Fail("it has no data types of less than 8 bits, no floats of 8 bits, and no bfloat16"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        ObjectType,
        Fail("it takes the data type of a cast as a string only"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        BareName,
        Fail("it refuses a codec that is a string"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        HexInMap,
        Fail("it fails on a hexadecimal string in scalar_map"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        DuplicateKey,
        Fail("of repeated keys in scalar_map it uses the last, not the first"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        ForeignScalar,
        Fail("it checks every scalar against the array's type, not the type at the codec's place"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        NoZeroInShard,
        Fail(
            "it tries the codecs inside a shard on 0, whatever the fill is, and they cannot encode that",
        ),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        DoubleToHalf,
        Fail("it rounds from float64 to float16 twice, so that a few values may differ"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        LostFill,
        Fail("it refuses a fill value that cannot be encoded"),
        RUN,
    ),
    fact(
        ZARR_PYTHON,
        TransposeBehindLegacy,
        Fail("it reads a transpose behind the legacy codec wrongly"),
        RUN,
    ),
    fact(ZARR_PYTHON_3_1, Format2, Read, RUN),
    fact(ZARR_PYTHON_3_1, Format3, Read, RUN),
    fact(ZARR_PYTHON_3_1, CoreCodec, Read, RUN),
    fact(ZARR_PYTHON_3_1, Sharding, Read, RUN),
    fact(ZARR_PYTHON_3_1, NumcodecsV2, Read, RUN),
    fact(ZARR_PYTHON_3_1, NumcodecsV3, Read, RUN),
    fact(ZARR_PYTHON_3_1, Float16, Read, RUN),
    fact(ZARR_PYTHON_3_1, LegacyV2, Read, RUN),
    fact(ZARR_PYTHON_3_1, LegacyV3, Read, RUN),
    fact(
        ZARR_PYTHON_3_1,
        ScaleOffset,
        Fail("it does not know scale_offset"),
        RUN,
    ),
    fact(
        ZARR_PYTHON_3_1,
        CastValue,
        Fail("it does not know cast_value"),
        RUN,
    ),
    fact(
        ZARR_PYTHON_3_1,
        LegacyUnprefixed,
        Fail("it knows the legacy codec as \"numcodecs.fixedscaleoffset\" only"),
        RUN,
    ),
    fact(
        ZARR_PYTHON_3_1,
        LegacyByteOrderV3,
        Fail("it takes the byte order from astype as well as from bytes, and reads other values"),
        RUN,
    ),
    fact(
        ZARR_PYTHON_3_1,
        TransposeBehindLegacy,
        Fail("it reads a transpose behind the legacy codec wrongly"),
        RUN,
    ),
    fact(ZARR_PYTHON_2, Format2, Read, RUN),
    fact(ZARR_PYTHON_2, NumcodecsV2, Read, RUN),
    fact(ZARR_PYTHON_2, LegacyV2, Read, RUN),
    fact(ZARR_PYTHON_2, Float16, Read, RUN),
    fact(
        ZARR_PYTHON_2,
        Format3,
        Fail("it does not read Zarr v3"),
        RUN,
    ),
    fact(ZARRITA, Format2, Read, RUN),
    fact(ZARRITA, Format3, Read, RUN),
    fact(ZARRITA, CoreCodec, Read, RUN),
    fact(ZARRITA, Sharding, Read, RUN),
    fact(ZARRITA, ScaleOffset, Read, RUN),
    fact(ZARRITA, CastValue, Read, RUN),
    fact(ZARRITA, LegacyV2, Read, SOURCE_READ),
    fact(ZARRITA, LegacyV3, Read, SOURCE_READ),
    fact(
        ZARRITA,
        SmallType,
        Fail("it has no data types of less than 8 bits, no floats of 8 bits, and no bfloat16"),
        RUN,
    ),
    fact(
        ZARRITA,
        ObjectType,
        Fail("it takes the data type of a cast as a string only"),
        RUN,
    ),
    fact(
        ZARRITA,
        BareName,
        Fail("it does not know a codec that is a string"),
        RUN,
    ),
    fact(
        ZARRITA,
        NoConfiguration,
        Fail("it fails on a scale_offset without a configuration"),
        RUN,
    ),
    fact(
        ZARRITA,
        PlusInfinity,
        Fail("it does not take \"+Infinity\""),
        RUN,
    ),
    fact(
        ZARRITA,
        UnscaledFill,
        Fail("it casts the fill value without shifting and scaling it first, which fails here"),
        RUN,
    ),
    fact(
        ZARRITA,
        LegacyByteOrderV2,
        Fail("it takes the byte order from dtype and not from astype, and reads other values"),
        SOURCE_READ,
    ),
    fact(ZARRS, Format2, Read, RUN),
    fact(ZARRS, Format3, Read, RUN),
    fact(ZARRS, CoreCodec, Read, RUN),
    fact(ZARRS, Sharding, Read, RUN),
    fact(ZARRS, Float16, Read, SOURCE_READ),
    fact(ZARRS, SmallType, Read, SOURCE_READ),
    fact(
        ZARRS,
        ScaleOffset,
        Fail("it does not support scale_offset"),
        RUN,
    ),
    fact(
        ZARRS,
        CastValue,
        Fail("it supports cast_value on its main branch only"),
        SOURCE_READ,
    ),
    fact(
        ZARRS,
        LegacyV2,
        Fail("it computes the legacy codec with float32 parameters, which gives other values"),
        RUN,
    ),
    fact(
        ZARRS,
        LegacyV3,
        Fail("it computes the legacy codec with float32 parameters, which gives other values"),
        RUN,
    ),
    fact(
        ZARRS,
        LegacyId,
        Fail("it refuses the id in the legacy codec's configuration"),
        SOURCE_READ,
    ),
    fact(GDAL, Format2, Read, SOURCE_READ),
    fact(GDAL, Format3, Read, SOURCE_READ),
    fact(GDAL, CoreCodec, Read, SOURCE_READ),
    fact(GDAL, ScaleOffset, Read, SOURCE_READ),
    fact(GDAL, CastValue, Read, SOURCE_READ),
    fact(
        GDAL,
        LegacyV3,
        Fail("it does not know numcodecs.fixedscaleoffset"),
        SOURCE_READ,
    ),
    fact(TENSORSTORE, Format2, Read, TABLES),
    fact(TENSORSTORE, Format3, Read, TABLES),
    fact(TENSORSTORE, CoreCodec, Read, TABLES),
    fact(TENSORSTORE, Sharding, Read, TABLES),
    fact(TENSORSTORE, Float16, Read, TABLES),
    fact(
        TENSORSTORE,
        ScaleOffset,
        Fail("it does not know scale_offset"),
        RUN,
    ),
    fact(
        TENSORSTORE,
        CastValue,
        Fail("it does not know cast_value"),
        SOURCE_READ,
    ),
    fact(
        TENSORSTORE,
        LegacyV2,
        Fail("it refuses filters"),
        SOURCE_READ,
    ),
    fact(
        TENSORSTORE,
        LegacyV3,
        Fail("it does not know numcodecs.fixedscaleoffset"),
        SOURCE_READ,
    ),
    fact(ZARR_JAVA, Format2, Read, TABLES),
    fact(ZARR_JAVA, Format3, Read, TABLES),
    fact(ZARR_JAVA, CoreCodec, Read, TABLES),
    fact(ZARR_JAVA, Sharding, Read, TABLES),
    fact(ZARR_JAVA, CastValue, Read, TABLES),
    fact(
        ZARR_JAVA,
        ScaleOffset,
        Fail("its scale_offset is an open change (zarr-java#87)"),
        TABLES,
    ),
];
