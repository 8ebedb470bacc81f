"""Writes the arrays beside it as zarr-python 2.18 and other programs of its time write them: keys sorted, no separator where it
is a dot, bare NaN in attributes.

    python make.py FOLDER

Documents and chunks are made by hand with numcodecs; zarr-python has to read from them what went in. The `zarr.json` in each
folder is what zarrpack made of them; tests/interop/v2_conversion.py holds what zarr-python reads from both against each other.
"""

import base64
import itertools
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr
from numcodecs.compat import ensure_bytes

NAN = math.nan


def write(path: Path, document: Any) -> None:
    path.write_text(json.dumps(document, indent=4, sort_keys=True, ensure_ascii=True))


def codec(configuration: dict[str, Any] | None) -> Any:
    return configuration and numcodecs.get_codec(configuration)


def array(
    name: str,
    values: Any,
    fill: Any = 0,
    chunks: tuple[int, ...] | None = None,
    dtype: Any = None,
    order: str = "C",
    filters: list[dict[str, Any]] | None = None,
    compressor: dict[str, Any] | None = None,
    separator: str | None = None,
    attributes: dict[str, Any] | None = None,
    skip: tuple[int, ...] | None = None,
    **extra: Any,
) -> None:
    """Writes an array; the chunk at `skip` is left out."""
    values = np.asarray(values)
    chunks = values.shape if chunks is None else chunks
    folder = ROOT / name
    folder.mkdir()
    dtype = values.dtype.str if dtype is None else dtype
    document = {
        "zarr_format": 2,
        "shape": values.shape,
        "chunks": chunks,
        "dtype": dtype,
        "fill_value": fill,
        "order": order,
        "filters": filters,
        "compressor": compressor,
        **extra,
    }
    if separator:
        document["dimension_separator"] = separator
    write(folder / ".zarray", document)
    if attributes is not None:
        write(folder / ".zattrs", attributes)
    grid = [range(-(-n // c) if c else 0) for n, c in zip(values.shape, chunks, strict=True)]
    for index in itertools.product(*grid):
        if index == skip:
            continue
        begin = [i * c for i, c in zip(index, chunks, strict=True)]
        part = values[tuple(slice(b, b + c) for b, c in zip(begin, chunks, strict=True))]
        chunk = np.zeros(chunks, values.dtype, order=order)
        chunk[tuple(slice(n) for n in part.shape)] = part
        for step in [*(filters or []), compressor]:
            if step:
                chunk = codec(step).encode(chunk)
        key = (separator or ".").join(map(str, index)) or "0"
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(ensure_bytes(chunk))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = zarr.open_array(folder, mode="r", zarr_format=2)[...]
    expected = values.copy()
    if skip is not None:
        return
    if expected.dtype == object:
        assert read.tolist() == expected.tolist(), name
    elif expected.dtype.kind == "V":
        assert read.dtype == expected.dtype and read.tobytes() == expected.tobytes(), name
    else:
        np.testing.assert_array_equal(read, expected, name)


def fso(dtype: str, astype: str, scale: Any, offset: Any) -> dict[str, Any]:
    return {"id": "fixedscaleoffset", "dtype": dtype, "astype": astype, "scale": scale, "offset": offset}  # fmt: skip


def main() -> None:
    write(ROOT / ".zgroup", {"zarr_format": 2})
    write(ROOT / ".zattrs", {"title": "NaN", "limits": [NAN, -math.inf], "é": {"a": 1.50}})
    x = {"_ARRAY_DIMENSIONS": ["x"]}
    # Legacy filters.
    array("big_endian_astype", np.array([1, 2, 3, 4], "<f4"), 0.0, filters=[fso("<f4", ">i2", 10, 0)], attributes=x)
    array("one_byte_dtype", np.array([10, 11, 12, 255], "|u1"), 7, filters=[fso("|u1", "<i2", 2.0, 10)])
    grid = np.arange(24, dtype="<f8").reshape(2, 3, 4) * 0.5
    array("order_f_delta_shuffle", grid, 0.0, (2, 2, 4), order="F", separator="/",
          filters=[fso("<f8", ">i4", 2, 0), {"id": "delta", "dtype": ">i4", "astype": ">i4"}, {"id": "shuffle", "elementsize": 4}],
          compressor={"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0},
          attributes={"_ARRAY_DIMENSIONS": ["time", "lat", "lon"], "units": "K"})  # fmt: skip
    array("as_compressor", np.array([1.5, 2.5, 3.5], "<f4"), "NaN", compressor=fso("<f4", "|u1", 2, 1), attributes=x)
    array("blosc_typesize", np.arange(6, dtype="<f8"), -9999.0, (4,), filters=[fso("f8", "i2", 1, 0)],
          compressor={"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 1, "blocksize": 0},
          attributes={"_ARRAY_DIMENSIONS": ["x"], "_FillValue": 5.0}, skip=(1,))  # fmt: skip
    # Other filters.
    array("quantize_astype", np.array([1.5, 2.25, -3.5, NAN], "<f8"), "NaN", filters=[{"id": "quantize", "digits": 2, "dtype": "<f8", "astype": ">f4"}], compressor={"id": "bz2", "level": 1})
    array("astype_bitround", np.array([1.5, 2, -3, 0.25], ">f8"), 1.5,
          filters=[{"id": "astype", "encode_dtype": "<f4", "decode_dtype": ">f8"}, {"id": "bitround", "keepbits": 5}, {"id": "adler32"}],
          compressor={"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None})  # fmt: skip
    array("checksums", np.arange(5, dtype="<u2"), 65535,
          filters=[{"id": "fletcher32"}, {"id": "jenkins_lookup3", "initval": 3, "prefix": None}, {"id": "crc32c"}, {"id": "crc32"}],
          compressor={"id": "lz4", "acceleration": 1})  # fmt: skip
    array("shuffle_default", np.arange(8, dtype="<i8"), -1, filters=[{"id": "shuffle"}], compressor={"id": "zlib", "level": 1})
    array("packbits", np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], bool), 1, (4,), filters=[{"id": "packbits"}])
    array("delta_big", np.array([[1, 3], [2, 7]], ">i4"), 9, order="F", filters=[{"id": "delta", "dtype": ">i4"}], compressor={"id": "gzip", "level": 1})
    # Types.
    array("complex", np.array([1 + 2j, complex(3, NAN)], ">c8"), [1.0, "NaN"], attributes={"_FillValue": [1.0, 2.0]})
    array("complex_fill", np.array([1 + 2j, 3], "<c16"), [1, 2.5], compressor={"id": "zstd", "level": 1, "checksum": True})
    array("datetime", np.array([1, 2, "NaT"], "<M8[ns]"), -9223372036854775808, compressor={"id": "gzip", "level": 9}, attributes={**x, "_FillValue": 0})
    array("timedelta", np.array([1, -2], ">m8[10s]"), 5)
    array("bytes", np.array([b"a", b"bcd"], "|S3"), "YWI=", attributes=x)
    array("text", np.array(["a", "bé"], ">U3"), "é\u2713", attributes={**x, "_FillValue": "a"})
    array("raw", np.array([b"abc", b"def"], "|V3"), "AAEC")
    fields = [["a", ">i4"], ["b", ">f8"], ["s", "|S2"], ["in", [["u", ">U1"], ["t", "|b1"], ["c", ">c8"], ["d", ">M8[D]"]]]]
    record = np.dtype([("a", ">i4"), ("b", ">f8"), ("s", "S2"), ("in", [("u", ">U1"), ("t", "?"), ("c", ">c8"), ("d", ">M8[D]")])])
    filled = np.array([(1, 2.5, b"x", ("é", True, 1 + 2j, 3)), (-7, math.inf, b"yz", ("u", False, NAN, "NaT"))], record)
    array("record", filled, base64.b64encode(filled[1].tobytes()).decode(), dtype=fields)
    text = np.array([["a", "bé"], ["", "longer"]], object)
    array("variable_text", text, "", dtype="|O", order="F", filters=[{"id": "vlen-utf8"}], compressor={"id": "zstd", "level": 0})
    many = np.empty(2, object)
    many[:] = [b"a\0b", b""]
    array("variable_bytes", many, "YQ==", dtype="|O", filters=[{"id": "vlen-bytes"}, {"id": "crc32"}])
    # Shapes and fills.
    array("no_elements", np.zeros((0, 3), "<i2"), 0, (0, 3))
    array("scalar", np.array(2.5, "<f4"), -0.0, attributes={"_ARRAY_DIMENSIONS": []})
    array("null_fill", np.array([1, 5, 3, 4], "<f4"), None, (2,), attributes={**x, "_FillValue": 5, "missing_value": NAN}, skip=(1,))
    array("null_fill_of_times", np.array([1, 2], "<M8[s]"), None, (1,), skip=(1,))
    array("half", np.array([1.1, 2], "<f2"), 1.1, attributes={**x, "_FillValue": NAN, "note": "NaN", "r": [NAN, 1.50, {"b": NAN}], "inf": math.inf})
    array("float_fill_of_integers", np.array([1, 0], "<i4"), 0.0, attributes=x)
    array("cf", np.array([100, -9999, 300, 400], "<i2"), -9999, attributes={**x, "scale_factor": 0.01, "add_offset": 0.0})
    array("unsigned", np.array([1, -1], "|i1"), -1, attributes={**x, "_Unsigned": "true", "long": 12345678901234567890123})
    array("netcdf", np.array([1, 2], "<i2"), None, _NCZARR_ARRAY={"dimrefs": ["/group/y"]}, attributes={"_FillValue": [-1]})


if __name__ == "__main__":
    ROOT = Path(sys.argv[1])
    main()
