"""Compares what zarrpack decoded and encoded with what zarr-python read and wrote, and with what zarrita reads.

Takes the folder that make_stores.py filled and in which there are, where they could be made:

    decoded/NAME             the store as zarrpack decodes it
    npy/NAME/PATH.npy        one array as zarrpack decodes it
    zarrita/NAME/PATH.*      one array of decoded/NAME as zarrita reads it
    streams/NAME.encoded.*   values of a stream as zarrpack encodes them, and codes in NAME.decoded.*

A file whose name ends in .error holds what a run of zarrpack said that failed. Values are the same if their bits are; any NaN
is the same as any other.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
import xarray
import zarr

from zarr_python import open_array

PACKING = {"scale_offset", "cast_value", "numcodecs.fixedscaleoffset"}


class Different(Exception):
    """What was compared is not the same; the text says how."""


class Report:
    """Prints a line for each comparison, and counts them."""

    def __init__(self) -> None:
        self.passed = self.failed = 0

    def check(self, what: str, compare: Callable[..., None], *args: Any) -> None:
        try:
            compare(*args)
        except Exception as error:  # whatever goes wrong fails this comparison alone
            self.failed += 1
            kind = "" if isinstance(error, Different) else f"{type(error).__name__}: "
            print(f"FAIL  {what}: {kind}{shorten(str(error), 400)}")
        else:
            self.passed += 1
            print(f"PASS  {what}")


def require_success(result: Path) -> None:
    """Fails if the run of zarrpack that was to make this failed."""
    error = result.with_name(f"{result.name}.error")
    if error.exists():
        raise Different(" ".join(error.read_text().split()))


def require_equal(name: str, expected: Any, found: Any) -> None:
    if found != expected:
        raise Different(f"{name} is {found!r}, not {expected!r}")


def require_same_values(expected: np.ndarray, found: np.ndarray) -> None:
    """Compares type, shape and bits; the byte order in memory does not matter."""
    found = np.asarray(found)
    require_equal("the type", expected.dtype, found.dtype.newbyteorder("="))
    require_equal("the shape", expected.shape, found.shape)
    expected, found = np.ravel(expected), np.ravel(found.astype(expected.dtype))
    bits = f"u{expected.dtype.itemsize}"
    same = expected.view(bits) == found.view(bits)
    if expected.dtype.kind == "f":
        same |= np.isnan(expected) & np.isnan(found)
    if not same.all():
        first = int(np.argmin(same))
        raise Different(
            f"{same.size - same.sum()} of {same.size} elements differ, the first at {first} in C order: "
            f"{found[first]!r}, not {expected[first]!r}"
        )


def all_codecs(codecs: list[dict[str, Any]]) -> list[str]:
    """The names of codecs, with those inside of shards."""
    names = []
    for codec in codecs:
        names.append(codec["name"])
        names += all_codecs(codec.get("configuration", {}).get("codecs", []))
    return names


def chunk_grid(array: zarr.Array) -> tuple[int, ...]:
    """The lengths of the chunks that the store has, which are shards where there are any.

    `array.chunks` are the inner chunks of a shard, but only where nothing stands before the shard."""
    if array.metadata.zarr_format == 2:
        return tuple(array.metadata.chunks)
    return tuple(array.metadata.chunk_grid.chunk_shape)


def inner_chunks(array: zarr.Array) -> list[list[int]]:
    """The lengths of the chunks inside of shards."""
    if array.metadata.zarr_format == 2:
        return []
    found, codecs = [], array.metadata.to_dict()["codecs"]
    while codecs:
        shards = [codec for codec in codecs if codec["name"] == "sharding_indexed"]
        found += [list(shard["configuration"]["chunk_shape"]) for shard in shards]
        codecs = [
            codec for shard in shards for codec in shard["configuration"]["codecs"]
        ]
    return found


def compare_metadata(source: zarr.Array, decoded: zarr.Array) -> None:
    """Everything that a reader of the values sees beside them."""
    attributes, dimensions = dict(source.attrs), None
    if source.metadata.zarr_format == 2:
        dimensions = attributes.pop("_ARRAY_DIMENSIONS", None)
        require_equal("a v2 attribute", None, decoded.attrs.get("_ARRAY_DIMENSIONS"))
    else:
        dimensions = source.metadata.dimension_names
    require_equal("the Zarr format", 3, decoded.metadata.zarr_format)
    require_equal("the chunk grid", chunk_grid(source), chunk_grid(decoded))
    require_equal("the shard grid", inner_chunks(source), inner_chunks(decoded))
    kept = dict(decoded.attrs)
    if source.metadata.zarr_format == 2:
        # What xarray takes for missing is the fill there, and this attribute in Zarr v3.
        for said in (attributes, kept):
            said.pop("_FillValue", None)
    require_equal("the attributes", attributes, kept)
    found = decoded.metadata.dimension_names
    require_equal("the dimension names", dimensions and tuple(dimensions), found)
    native = source.dtype.newbyteorder("=")
    fills = (
        np.asarray(array.metadata.fill_value, native) for array in (source, decoded)
    )
    try:
        require_same_values(*fills)
    except Different as error:
        raise Different(f"the fill value: {error}") from None
    left = PACKING & set(all_codecs(decoded.metadata.to_dict()["codecs"]))
    require_equal("what is left of the packing", set(), left)


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def compare_copy(source: Path, decoded: Path) -> None:
    expected, found = files_below(source), files_below(decoded)
    require_equal("the list of files", list(expected), list(found))
    changed = [name for name in expected if expected[name] != found[name]]
    require_equal("the list of changed files", [], changed)


def compare_strings(source: zarr.Array, decoded: zarr.Array) -> None:
    require_equal("the list of values", source[:].tolist(), decoded[:].tolist())


class StoreComparison:
    """The comparisons of one store and its arrays."""

    def __init__(self, report: Report, folder: Path, description: dict[str, Any]):
        self.report = report
        self.folder = folder
        self.name = description["name"]
        self.arrays = description["arrays"]
        self.source = folder / "stores" / self.name
        self.decoded = folder / "decoded" / self.name

    def run(self) -> None:
        self.report.check(f"{self.name}: decode", require_success, self.decoded)
        for array in self.arrays:
            path = array["path"]
            where = self.name if path == "." else f"{self.name}/{path}"
            checks: dict[str, Callable[[dict[str, Any]], None]] = {}
            if array["packed"]:
                checks["as .npy"] = self.compare_npy
                checks["metadata"] = self.compare_metadata
            checks["by zarr-python"] = self.compare_zarr_python
            if array["zarrita"]:
                checks["by zarrita"] = self.compare_zarrita
            if not array["packed"] and (self.source / path / "zarr.json").exists():
                checks["copied"] = self.compare_copy
            for what, compare in checks.items():
                self.report.check(f"{where}: {what}", compare, array)
        if len(self.arrays) > 1:
            self.report.check(f"{self.name}: groups", self.compare_groups)
            self.report.check(f"{self.name}: consolidated", self.compare_consolidated)
            self.report.check(f"{self.name}: by xarray", self.compare_xarray)

    def expected(self, array: dict[str, Any]) -> np.ndarray:
        if array["packed"]:
            return np.load(self.folder / "expected" / self.name / f"{array['file']}.npy")  # fmt: skip
        return np.asarray(open_array(self.source, array["path"])[...])

    def both(self, array: dict[str, Any]) -> list[zarr.Array]:
        return [
            open_array(store, array["path"]) for store in (self.source, self.decoded)
        ]

    def compare_npy(self, array: dict[str, Any]) -> None:
        result = self.folder / "npy" / self.name / f"{array['file']}.npy"
        require_success(result)
        require_same_values(self.expected(array), np.load(result))

    def compare_metadata(self, array: dict[str, Any]) -> None:
        compare_metadata(*self.both(array))

    def compare_zarr_python(self, array: dict[str, Any]) -> None:
        source, decoded = self.both(array)
        if source.dtype.kind == "T":
            compare_strings(source, decoded)
        else:
            require_same_values(self.expected(array), decoded[...])

    def compare_zarrita(self, array: dict[str, Any]) -> None:
        found = self.folder / "zarrita" / self.name / array["file"]
        description = json.loads(Path(f"{found}.json").read_text())
        if "error" in description:
            raise Different(description["error"])
        values = np.fromfile(f"{found}.bin", description["data_type"])
        require_same_values(self.expected(array), values.reshape(description["shape"]))

    def compare_copy(self, array: dict[str, Any]) -> None:
        compare_copy(self.source / array["path"], self.decoded / array["path"])

    def compare_groups(self) -> None:
        """The same nodes, and the same attributes on groups."""
        expected, found = (
            {
                path: dict(node.attrs) if isinstance(node, zarr.Group) else None
                for path, node in [("", root), *root.members(max_depth=None)]
            }
            for root in (
                zarr.open_group(store, mode="r", use_consolidated=False)
                for store in (self.source, self.decoded)
            )
        )
        require_equal("the hierarchy", expected, found)

    def compare_consolidated(self) -> None:
        """Consolidated metadata is there if it was, and says what the documents of the nodes say."""
        nodes = {
            str(path.parent.relative_to(self.decoded)): json.loads(path.read_text())
            for path in self.decoded.rglob("zarr.json")
        }
        consolidated = nodes.pop(".").get("consolidated_metadata")
        source = zarr.open_group(self.source, mode="r")
        require_equal(
            "whether there is any",
            source.metadata.consolidated_metadata is not None,
            consolidated is not None,
        )
        if consolidated is not None:
            copies = consolidated["metadata"]
            for document in [*nodes.values(), *copies.values()]:
                document.pop("consolidated_metadata", None)
            require_equal("the consolidated metadata", nodes, copies)

    def compare_xarray(self) -> None:
        """The data set at the root has the same variables, with the same dimensions."""
        expected, found = (
            {
                name: variable.dims
                for name, variable in xarray.open_dataset(
                    store, engine="zarr", mask_and_scale=False
                ).variables.items()
            }
            for store in (self.source, self.decoded)
        )
        require_equal("the set of variables", expected, found)


def read_stream(path: Path, dtype: np.dtype) -> np.ndarray:
    """Scalars as `--bits` prints them: integers as numbers, floats as hexadecimal strings."""
    require_success(path)
    lines = path.with_name(f"{path.name}.jsonl").read_text().splitlines()
    scalars = [json.loads(line) for line in lines]
    if dtype.kind != "f":
        return np.array(scalars, dtype)
    bits = [int(scalar, 16) for scalar in scalars]
    return np.array(bits, f"u{dtype.itemsize}").view(dtype)


def compare_stream(expected: Path, found: Path) -> None:
    values = np.load(expected)
    require_same_values(values, read_stream(found, values.dtype))


def compare_folder(names: list[str], folder: Path) -> None:
    """Nothing is left over beside what was made."""
    found = {path.name for path in folder.iterdir() if path.suffix != ".error"}
    require_equal("what is left over", set(), found - set(names))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    report = Report()
    stores = json.loads((folder / "stores.json").read_text())
    for description in stores:
        StoreComparison(report, folder, description).run()
    streams = folder / "streams"
    for chain in sorted(streams.glob("*.chain.json")):
        name = chain.name.removesuffix(".chain.json")
        for verb, what in ("encoded", "codes"), ("decoded", "values"):
            report.check(
                f"{name}: stream {verb}",
                compare_stream,
                streams / f"{name}.{what}.npy",
                streams / f"{name}.{verb}",
            )
    names = [description["name"] for description in stores]
    report.check("leftovers", compare_folder, names, folder / "decoded")
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
