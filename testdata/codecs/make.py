"""Writes vectors.jsonl: bytes that numcodecs encodes, and what it decodes them to.

Run with numcodecs 0.16.6 and NumPy 2.4.6; needs no other package.

One JSON object a line: name and configuration as in Zarr v3 metadata, `encoded` and `decoded` as bytes in
hexadecimal, little-endian. Codecs on arrays also have `dtype`, the decoded type, and `astype`, the encoded one.
"""

import json
import sys
import zlib

import numcodecs
import numpy as np

rng = np.random.default_rng(20)
# Runs, noise and a pattern, so that every kind of token of a compressor occurs.
DATA = b"".join(
    [
        bytes(300),
        rng.integers(0, 256, 200, dtype="u1").tobytes(),
        np.arange(250, dtype="<u2").tobytes(),
        b"zarrpack " * 30,
        np.linspace(0, 1, 37, dtype="<f8").tobytes(),
    ]
)

records = []


def on_bytes(codec, data=DATA, **extra):
    configuration = dict(codec.get_config())
    name = configuration.pop("id")
    encoded = bytes(memoryview(codec.encode(data)).cast("B"))
    assert bytes(memoryview(codec.decode(encoded)).cast("B")) == data, name
    records.append(
        {
            "name": f"numcodecs.{name}",
            "configuration": configuration,
            "encoded": encoded.hex(),
            "decoded": data.hex(),
            **extra,
        }
    )


on_bytes(numcodecs.GZip(5))
on_bytes(numcodecs.Zlib(5))
on_bytes(numcodecs.BZ2(5))
on_bytes(numcodecs.Zstd(3))
on_bytes(numcodecs.Zstd(3, checksum=True))
on_bytes(numcodecs.LZ4())
on_bytes(numcodecs.LZMA())
on_bytes(numcodecs.LZMA(preset=9))
on_bytes(numcodecs.LZMA(format=2))
on_bytes(numcodecs.LZMA(format=3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]))
on_bytes(numcodecs.LZMA(format=3, filters=[{"id": 0x4000000000000001, "dict_size": 65536}]))
for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
    for shuffle in [0, 1, 2]:
        on_bytes(numcodecs.Blosc(cname, 5, shuffle))
on_bytes(numcodecs.Blosc("lz4", 0))
on_bytes(numcodecs.Blosc("zstd", 9, 1, blocksize=256))
for size in [1, 2, 4, 8]:
    on_bytes(numcodecs.Shuffle(size), DATA[: len(DATA) // 8 * 8])
for data in [DATA, DATA[:1], DATA[:731], DATA[300:313], DATA[300:312]]:
    on_bytes(numcodecs.Fletcher32(), data)
    for codec in [numcodecs.CRC32, numcodecs.Adler32]:
        for location in ["start", "end"]:
            record = codec(location)
            on_bytes(record, data)
            records[-1]["configuration"]["location"] = location
    for seed in [0, 7, 0xFFFFFFFF]:
        on_bytes(numcodecs.JenkinsLookup3(seed), data)
        records[-1]["configuration"] = {"initval": seed}
assert zlib.crc32(DATA) == int.from_bytes(numcodecs.CRC32().encode(DATA)[:4], "little")


def on_arrays(codec, values, astype=None):
    configuration = dict(codec.get_config())
    name = configuration.pop("id")
    encoded = np.ascontiguousarray(codec.encode(values))
    with np.errstate(all="ignore"):
        decoded = codec.decode(encoded)
    decoded = np.ascontiguousarray(decoded).view(values.dtype)
    records.append(
        {
            "name": f"numcodecs.{name}",
            "configuration": configuration,
            "dtype": values.dtype.name,
            "astype": astype or np.dtype(configuration.get("astype") or values.dtype).name,
            "encoded": encoded.tobytes().hex(),
            "decoded": decoded.tobytes().hex(),
        }
    )


for code in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]:
    info = np.iinfo(code)
    values = np.array([info.max, info.min, 0, 1, 100, 7, info.max - 1, 3], dtype=code)
    on_arrays(numcodecs.Delta(code), values)
small = np.array([100, 102, 104, 101, 90, 217, 90], dtype="u1")
for wide in ["i2", "u4", "i8", "f4", "f8"]:
    on_arrays(numcodecs.Delta(wide, "i1"), small.astype(wide))
on_arrays(numcodecs.Delta("f8", "f4"), rng.normal(size=40))
for code in ["f2", "f4", "f8"]:
    on_arrays(numcodecs.Delta(code), rng.normal(size=60).astype(code))
on_arrays(numcodecs.Delta("f4"), np.array([1, np.nan, 2, np.inf, 3], dtype="f4"))

numbers = [0, 1, 2, 3, 100, 127]
for narrow in ["i1", "u2", "i8", "f2", "f4"]:
    for wide in ["i2", "i4", "u8", "f4", "f8"]:
        values = np.array(numbers, dtype=wide)
        on_arrays(numcodecs.AsType(narrow, wide), values, np.dtype(narrow).name)
on_arrays(numcodecs.AsType("i4", "i1"), np.array([-128, 127, 5], dtype="i1"), "int32")
on_arrays(numcodecs.AsType("f8", "f4"), rng.normal(size=20).astype("f4"), "float64")
# What only a decoder meets: values that do not fit.
for encoded, code, target in [
    (np.array([300, -1, 65536, 2**31 - 1], "i4"), "i4", "u1"),
    (np.array([1e300, -1e300, 1e-50, 0.1], "f8"), "f8", "f4"),
    (np.array([2.9, -2.9, 0.5, 126.999], "f8"), "f8", "i1"),
    (np.array([2**63, 2**64 - 1, 2**53 + 1], "u8"), "u8", "f4"),
]:
    codec = numcodecs.AsType(code, target)
    with np.errstate(all="ignore"):
        decoded = codec.decode(encoded)
    records.append(
        {
            "name": "numcodecs.astype",
            "configuration": {"encode_dtype": encoded.dtype.str, "decode_dtype": decoded.dtype.str},
            "dtype": decoded.dtype.name,
            "astype": encoded.dtype.name,
            "encoded": encoded.tobytes().hex(),
            "decoded": decoded.tobytes().hex(),
        }
    )

for dtype, astype in [("f8", "f8"), ("f8", "f4"), ("f4", "f4"), ("f4", "f2"), ("f2", "f4")]:
    on_arrays(numcodecs.Quantize(2, dtype, astype), rng.normal(size=25).astype(dtype))
for code in ["f2", "f4", "f8"]:
    on_arrays(numcodecs.BitRound(5), rng.normal(size=25).astype(code))
for length in [1, 7, 8, 9, 64, 101]:
    on_arrays(numcodecs.PackBits(), rng.integers(0, 2, length).astype(bool), "uint8")

with open(sys.argv[1], "w") as out:
    for record in records:
        out.write(json.dumps(record) + "\n")
print(len(records), "records")
