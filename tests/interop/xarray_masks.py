"""Compares a data set of Zarr v2 as xarray opens it before and after `zarrpack migrate-legacy`.

    python xarray_masks.py make STORE
    python xarray_masks.py compare BEFORE AFTER

The first writes a store made for this: fills and `_FillValue` of every kind of type, beside the packing attributes of CF, with
coordinates, missing chunks and the legacy codec. The second takes this store and a copy that was migrated. xarray has to find the
same variables, dimensions, coordinates, types, values, missing ones among them, and attributes in both. Where no mask can be said
in Zarr v3, the values have to be the same once masks are left aside. Prints a line for each variable, and exits with 1 if one
differs. tests/interop/migrate_v2 does all of it.
"""

import argparse
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import xarray

NAN = math.nan
X = ["x"]

# Variables that xarray shows partly as missing in Zarr v2, and cannot in Zarr v3, since it would not open them with a mask.
LOST = {"bytes_masked", "text_masked", "variable_text_masked"}

# Attributes that say in another form what they said before, and where NaN is no number in JSON.
CHANGED = {"_FillValue", "missing_value"}


class Different(Exception):
    """What was compared is not the same; the text says how."""


def variable(
    root: Path,
    name: str,
    values: Any,
    fill: Any = None,
    dims: list[str] | None = None,
    filters: list[dict[str, Any]] | None = None,
    dtype: str | None = None,
    missing_chunk: bool = False,
    **attributes: Any,
) -> None:
    """Writes an array of Zarr v2, as zarr-python 2.18 does; one of one dimension has chunks of two."""
    values = np.asarray(values)
    dims = X[: values.ndim] if dims is None else dims
    folder = root / name
    folder.mkdir()
    chunks = [2] * values.ndim
    document = {
        "zarr_format": 2,
        "shape": list(values.shape),
        "chunks": chunks,
        "dtype": dtype or values.dtype.str,
        "fill_value": fill,
        "order": "C",
        "filters": filters,
        "compressor": None,
    }
    (folder / ".zarray").write_text(json.dumps(document, indent=4, sort_keys=True))
    attributes = {"_ARRAY_DIMENSIONS": dims, **attributes}
    (folder / ".zattrs").write_text(json.dumps(attributes, indent=4, sort_keys=True))
    grid = tuple(-(-length // 2) for length in values.shape)
    for index in np.ndindex(grid):
        if missing_chunk and index == tuple(length - 1 for length in grid):
            continue
        part = values[tuple(slice(2 * at, 2 * at + 2) for at in index)]
        chunk = np.zeros(chunks, values.dtype)
        chunk[tuple(slice(length) for length in part.shape)] = part
        for configuration in filters or []:
            chunk = numcodecs.get_codec(configuration).encode(chunk)
        path = folder / (".".join(map(str, index)) or "0")
        path.write_bytes(numcodecs.compat.ensure_bytes(chunk))


def legacy(dtype: str, astype: str, scale: float, offset: float) -> list[dict[str, Any]]:
    return [{"id": "fixedscaleoffset", "dtype": dtype, "astype": astype, "scale": scale, "offset": offset}]  # fmt: skip


def make(root: Path) -> None:
    def put(name: str, *args: Any, **options: Any) -> None:
        variable(root, name, *args, **options)

    (root / ".zgroup").write_text('{"zarr_format": 2}')
    (root / ".zattrs").write_text('{"Conventions": "CF-1.8", "title": "NaN", "limit": NaN}')
    floats = np.array([0, 1.5, NAN, 3], "<f4")
    integers = np.array([0, 1, -1, 300], "<i2")
    # Coordinates. xarray takes the 0 of a coordinate for missing, too, where that is the fill.
    put("x", np.array([0, 1, 2, 3], "<i4"), axis="X")
    put("time", np.array([0, 1, 31, 59], "<i8"), dims=["time"], units="days since 2000-01-01", calendar="standard")
    put("lat", np.array([0.0, 1.5], "<f8"), "NaN", dims=["lat"], units="degrees_north")
    put("lon", np.array([0.0, 1.5], "<f4"), 0.0, dims=["lon"])
    put("since", np.array([0, 5, 31, 59], "<i8"), 5, units="hours since 1970-01-01")
    # The legacy codec. Its steps are powers of two, so that every way of computing gives the same.
    packed = np.array([0, 1.5, -2.25, 100], "<f4")
    put("legacy_zero", packed, 0.0, filters=legacy("<f4", "<i2", 4, 0), missing_chunk=True)
    put("legacy_nan", packed, "NaN", filters=legacy("<f4", ">i2", 4, 0), _FillValue=7.0, missing_chunk=True)
    put("legacy_null", packed, None, filters=legacy("<f4", "<i4", 8, 0.5), _FillValue=1.5, valid_range=[-NAN, 3.0])
    put("legacy_grid", np.arange(16, dtype="<f8").reshape(2, 2, 4), 3.0, dims=["lat", "lon", "x"], filters=legacy("<f8", "|u1", 2, 0))
    # Floats.
    put("float_fill", floats, 1.5, _FillValue=3.0)
    put("float_fraction", np.array([0.1, 0.2, 0.3, 0.1], "<f4"), 0.1)
    put("float_nan", floats, "NaN", missing_value=1.5)
    put("float_infinite", np.array([1, math.inf, -math.inf, 2], "<f8"), "Infinity")
    put("float_null", floats)
    put("float_null_masked", floats, _FillValue=3)
    put("float_null_fraction", np.array([0.1, 0.2, 0.3, 0.1], "<f4"), _FillValue=0.1)
    put("float_null_nan", floats, _FillValue=NAN, scale_factor=2.0)
    put("float_missing_nan", floats, missing_value=NAN, scale_factor=2.0)
    put("float_nan_packed", np.array([0.1, 1.5, NAN, 3], "<f4"), "NaN", scale_factor=0.1, _FillValue=1.5)
    put("float_nan_offset", np.array([0.1, 1.5, NAN, 3], "<f4"), "NaN", add_offset=0.1)
    put("float_missing_list", floats, missing_value=[NAN], add_offset=0.1)
    put("half", np.array([1.1, 2, 3, 4], "<f2"), 1.1)
    put("complex", np.array([1 + 2j, 3, 4j, 1], "<c8"), [1.0, 2.0])
    put("complex_nan", np.array([1 + 2j, 3, 4j, 1], ">c16"), ["NaN", 0.0])
    # Integers and booleans, with the attributes of CF.
    put("cf", np.array([100, -9999, 300, 400], "<i2"), -9999, scale_factor=0.01, add_offset=5.0)
    put("cf_two_masks", integers, 0, missing_value=1, scale_factor=0.5)
    put("cf_other_mask", integers, 0, _FillValue=1)
    put("cf_missing_nan", integers, missing_value=NAN)
    put("cf_missing_nan_packed", integers, missing_value=NAN, scale_factor=0.1)
    put("cf_float32", integers, -1, scale_factor=0.1)
    put("cf_missing_list", floats, missing_value=[NAN, 1.5])
    put("unsigned", np.array([0, 1, -1, -2], "|i1"), -1, _Unsigned="true", scale_factor=0.5)
    put("unsigned_null", np.array([0, 1, -1, -2], "<i2"), _FillValue=-1, _Unsigned="true")
    put("integer_null_masked", integers, _FillValue=[1])
    put("integer_null_float", integers, _FillValue=1.0)
    put("integer_null_nan", integers, _FillValue=NAN)
    put("integer_fill_chunk", integers, 300, missing_chunk=True)
    put("flag", np.array([True, False, True, False]), False)
    # Text and times. numcodecs is asked for text of any length.
    put("bytes", np.array([b"a", b"bc", b"", b"d"], "|S2"))
    put("text", np.array(["a", "bc", "", "é"], ">U2"))
    put("variable_text", np.array(["a", "bc", "", "é"], object), dtype="|O", filters=[{"id": "vlen-utf8"}])
    put("moment", np.array([0, 5, "NaT", 7], "<M8[ns]"), 5)
    put("span", np.array([0, 5, "NaT", 7], "<m8[s]"))
    put("bytes_masked", np.array([b"a", b"b", b"c", b"a"]), "YQ==")
    put("text_masked", np.array(["a", "b", "c", "a"]), "a", _FillValue="b")
    put("variable_text_masked", np.array(["a", "", "c", "a"], object), "", dtype="|O", filters=[{"id": "vlen-utf8"}])


def opened(store: Path, **options: Any) -> xarray.Dataset:
    with xarray.open_dataset(store, engine="zarr", consolidated=False, **options) as dataset:
        return dataset.load()


def require_same(what: str, before: Any, after: Any) -> None:
    if before != after:
        raise Different(f"{what} is {after!r}, and was {before!r}")


def kind(dtype: np.dtype) -> Any:
    """The type but for the order of bytes, and for the length of text, which xarray gets wrong in Zarr v2."""
    return dtype.kind if dtype.kind in "OTU" else dtype.newbyteorder("=")


def bits(values: np.ndarray) -> Any:
    if values.dtype.kind in "OTU":
        return ["NaN" if value != value else value for value in values.ravel().tolist()]
    values = values.astype(values.dtype.newbyteorder("="))
    return values.dtype.str, values.tobytes()


def plain(attributes: dict[str, Any]) -> Any:
    """Attributes as JSON, non-finite numbers as the words that stand for them."""
    kept = {name: value for name, value in attributes.items() if name not in CHANGED}
    encoded = json.dumps(kept, sort_keys=True, default=lambda value: np.asarray(value).tolist())
    return json.loads(encoded, parse_constant=str)


def compare(before: xarray.DataArray, after: xarray.DataArray) -> None:
    require_same("the list of dimensions", before.dims, after.dims)
    require_same("the set of coordinates", set(before.coords), set(after.coords))
    require_same("the type", *(kind(array.dtype) for array in (before, after)))
    require_same("the value", bits(before.values), bits(after.values))
    require_same("the set of attributes", plain(before.attrs), plain(after.attrs))
    for name in "scale_factor", "add_offset", "_Unsigned", "units", "calendar":
        require_same(name, before.encoding.get(name), after.encoding.get(name))


class Report:
    """Prints a line for each comparison, and counts them."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, what: str, comparison: Any, *args: Any) -> None:
        try:
            comparison(*args)
        except Exception as error:  # whatever goes wrong fails this comparison alone
            self.failed += 1
            kind = "" if isinstance(error, Different) else f"{type(error).__name__}: "
            print(f"FAIL  {what}: {kind}{error}")
        else:
            self.passed += 1
            print(f"PASS  {what}")


def compare_datasets(report: Report, way: str, before: xarray.Dataset, after: xarray.Dataset) -> None:
    for what, of in {
        "the set of variables": lambda dataset: set(dataset.variables),
        "the lengths of dimensions": lambda dataset: dict(dataset.sizes),
        "the attributes of the group": lambda dataset: plain(dataset.attrs),
    }.items():
        report.check(f"{way}: {what}", require_same, what, of(before), of(after))
    for name in sorted(before.variables):
        if way == "raw" or name not in LOST:
            report.check(f"{way}: {name}", lambda name: compare(before[name], after[name]), name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("make").add_argument("store", type=Path)
    places = actions.add_parser("compare")
    places.add_argument("before", type=Path)
    places.add_argument("after", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.action == "make":
        arguments.store.mkdir()
        make(arguments.store)
        return
    report = Report()
    written = {(path.parent / "zarr.json").exists() for path in arguments.before.rglob(".z*")}
    report.check("before", require_same, "whether there is Zarr v3", {False}, written)
    nodes = {path.parent.relative_to(arguments.before) for path in arguments.before.rglob(".z*")}
    written = {(arguments.after / node / "zarr.json").exists() for node in nodes}
    report.check("after", require_same, "whether all is Zarr v3", {True}, written)
    for way, options in ("masked", {}), ("raw", {"mask_and_scale": False}):
        datasets = (opened(store, **options) for store in (arguments.before, arguments.after))
        compare_datasets(report, way, *datasets)
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
