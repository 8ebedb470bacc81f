"""Compares `decode --cf` with what xarray makes of the same attributes.

    cf.py FOLDER ZARRPACK

writes stores below FOLDER, with xarray and by hand, in Zarr v2 and v3, and decodes each array with zarrpack, to a store and to an
`.npy` file. Which values are missing must be the same, and values must be the same bits where xarray has float64. xarray has
float32 where no factor and no offset is given and the stored numbers are integers of 8 or 16 bits; zarrpack has float64 there, and
the numbers must be equal. xarray has integers for an integral factor without an offset; there too the numbers must be equal.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray
import zarr

Case = tuple[str, int, Path, str]


def codes(dtype: str) -> np.ndarray:
    """Numbers of a type: its limits and some between."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.array([0, 1, -1, 0.1, 1e20, -9999, np.nan, np.inf, 12345.678, 3e-5], kind)
    info = np.iinfo(kind)
    low, high = max(info.min, -(2**52)), min(info.max, 2**52)
    ends = [0, 1, 2, 35, 100, low, high, low + 1, high - 1]
    return np.array(ends + list(np.linspace(low, high, 191).astype(kind)), kind)


# Attributes for a stored type.
ATTRIBUTES: list[tuple[str, dict[str, Any]]] = [
    ("i2", {"scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32768}),
    ("i2", {"scale_factor": 0.01, "_FillValue": 100}),
    ("i2", {"add_offset": 0.1, "missing_value": 35}),
    ("i2", {"scale_factor": 0.1, "_FillValue": 1, "missing_value": 2}),
    ("i2", {"_FillValue": 35}),
    ("i2", {"scale_factor": -0.25, "add_offset": 1000, "_FillValue": 0}),
    ("u1", {"scale_factor": 0.5, "add_offset": -3, "_FillValue": 255}),
    ("u1", {"missing_value": 0}),
    ("i1", {"scale_factor": 0.1, "_Unsigned": "true", "_FillValue": -1}),
    ("i1", {"_Unsigned": "true"}),
    ("u1", {"_Unsigned": "false", "scale_factor": 0.3}),
    ("u2", {"scale_factor": 1e-05, "add_offset": 0.0}),
    ("i4", {"scale_factor": 1e-07, "add_offset": 12.5, "_FillValue": -2147483648}),
    ("i4", {"_FillValue": 0}),
    ("u4", {"scale_factor": 3.3}),
    ("i8", {"scale_factor": 0.001, "_FillValue": 1}),
    ("f4", {"_FillValue": 1e20}),
    ("f4", {"missing_value": -9999}),
    ("f4", {"scale_factor": 0.1, "add_offset": 5.5, "_FillValue": -9999}),
    ("f8", {"_FillValue": -9999, "scale_factor": 2.5}),
    ("i2", {"scale_factor": 2}),
]


def stores(folder: Path) -> Iterator[Case]:
    """Writes the stores, and says where each array is."""
    for number, (dtype, attributes) in enumerate(ATTRIBUTES):
        for zarr_format in (2, 3):
            name = f"{number:02} {dtype} v{zarr_format}"
            yield name, zarr_format, by_hand(folder / f"{number}_{zarr_format}", dtype, attributes, zarr_format), "a"
    values = np.array([[270.15, np.nan, 280.5], [250.25, 300.0, 310.75]])
    encodings = {
        "packed": {"dtype": "i2", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32768},
        "unsigned": {"dtype": "u1", "scale_factor": 0.5, "add_offset": 240.0, "_FillValue": 255},
        "floats": {"dtype": "f4", "_FillValue": -9999.0},
        "plain": {"dtype": "f8", "_FillValue": None},
    }
    for zarr_format in (2, 3):
        place = folder / f"written_{zarr_format}"
        variables = {name: (("y", "x"), values) for name in encodings}
        dataset = xarray.Dataset(variables, coords={"y": [10.0, 20.0], "x": [1, 2, 3]})
        dataset.to_zarr(place, zarr_format=zarr_format, encoding=encodings, consolidated=False)
        for name in encodings:
            yield f"{name} as xarray writes it, v{zarr_format}", zarr_format, place, name


def by_hand(place: Path, dtype: str, attributes: dict[str, Any], zarr_format: int) -> Path:
    """An array with attributes as they stand, two chunks of which one is missing."""
    data = codes(dtype)
    attributes = dict(attributes)
    # In v2 the fill is what _FillValue is in v3, and xarray reads no attribute of that name.
    fill = attributes.get("_FillValue") if zarr_format == 3 else attributes.pop("_FillValue", None)
    if zarr_format == 3 and np.dtype(dtype).kind == "f" and "_FillValue" in attributes:
        # Of the stored type, as xarray writes it: a double that no float32 equals would never match for xarray.
        number = np.dtype(dtype).type(fill)
        attributes["_FillValue"] = xarray.backends.zarr.FillValueCoder.encode(number, number.dtype)
    length = data.size
    group = zarr.create_group(place, zarr_format=zarr_format)
    array = group.create_array(
        "a",
        shape=(2 * length,),
        chunks=(length,),
        dtype=dtype,
        fill_value=fill,
        attributes=attributes | ({"_ARRAY_DIMENSIONS": ["x"]} if zarr_format == 2 else {}),
        dimension_names=["x"] if zarr_format == 3 else None,
    )
    if fill is None and zarr_format == 2:
        # What was never written has no value in v2 without a fill.
        array[:] = np.concatenate([data, data[::-1]])
    else:
        array[:length] = data
    return place


def compare(case: Case, zarrpack: str) -> str | None:
    """Why zarrpack and xarray differ; None if they do not."""
    name, zarr_format, place, path = case
    dataset = xarray.open_zarr(
        place, zarr_format=zarr_format, consolidated=False, decode_times=False, chunks=None
    )
    theirs = dataset[path].values
    plain, npy = place.with_name(f"{place.name}.{path}.zarr"), place.with_name(f"{place.name}.{path}.npy")
    for output in (plain, npy):
        command = [zarrpack, "decode", "--cf", "--verify", "-q", place, output, "--array", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"{output.name}: exit code {done.returncode}: {done.stderr}"
    ours = np.load(npy)
    stored = zarr.open_group(plain, mode="r")[path]
    if not np.array_equal(stored[...], ours, equal_nan=ours.dtype.kind == "f"):
        return "the store and the .npy file differ"
    left = {"scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"} & set(stored.attrs)
    if left:
        return f"attributes are left: {left}"
    # What xarray reads from the result is the same again.
    again = xarray.open_zarr(plain, consolidated=False, decode_times=False, chunks=None)[path].values
    for what, values in (("", ours), ("read by xarray: ", again)):
        if theirs.shape != values.shape:
            return f"{what}shape {values.shape}, xarray has {theirs.shape}"
        if not np.array_equal(np.isnan(theirs), np.isnan(values)):
            return f"{what}other values are missing"
        if theirs.dtype == values.dtype == np.float64:
            same = theirs.view("u8") == values.view("u8")
        else:
            same = theirs.astype("f8") == values.astype("f8")
        wrong = ~(same | np.isnan(theirs))
        if wrong.any():
            return f"{what}{values[wrong][0]!r}, xarray has {theirs[wrong][0]!r}"
    return None


def main() -> None:
    folder, zarrpack = Path(sys.argv[1]), sys.argv[2]
    passed = failed = 0
    for case in stores(folder / "cf"):
        reason = compare(case, zarrpack)
        passed, failed = passed + (reason is None), failed + (reason is not None)
        print(f"PASS  cf {case[0]}" if reason is None else f"FAIL  cf {case[0]}: {reason}")
    print(json.dumps({"passed": passed, "failed": failed}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
