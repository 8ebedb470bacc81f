"""Writes stores with zarr-python, and what zarr-python reads from them.

In the folder given:

    stores/NAME             a store
    expected/NAME/PATH.npy  a packed array as zarr-python reads it
    streams/NAME.*          values and codes of a chain as lines of JSON and as .npy, with the chain and the type
    stores.json             what is there, for those who compare
    arrays.tsv              the packed arrays, and streams.tsv the streams, for the shell

The array at the root of a store has the path "."; the parts of other paths are joined by dots in the names of files.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr
import zarr.codecs.numcodecs as legacy
from zarr.codecs import (
    BloscCodec,
    BytesCodec,
    CastValue,
    Crc32cCodec,
    GzipCodec,
    ScaleOffset,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)

from zarr_python import open_array

Index = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """Codecs, the type of the array, and values that the codecs can hold to within `step`."""

    name: str
    dtype: str
    filters: list[Any]
    fill: Any
    low: float
    high: float
    step: float = 0.0
    with_nan: bool = False

    def values(self, shape: Index, seed: int = 0) -> np.ndarray:
        random = np.random.default_rng(seed)
        if np.dtype(self.dtype).kind in "iu":
            values = random.integers(self.low, self.high, shape, endpoint=True)
        else:
            values = random.uniform(self.low, self.high, shape)
        values = np.asarray(values, self.dtype)
        if self.with_nan:
            values[random.random(shape) < 0.1] = np.nan
        return values


def nan_is(code: int) -> dict[str, Any]:
    return {"encode": [["NaN", code]], "decode": [[code, "NaN"]]}


def pair(to: str, offset: float = 0, scale: float = 1, **cast: Any) -> list[Any]:
    return [ScaleOffset(offset=offset, scale=scale), CastValue(data_type=to, **cast)]


# The examples of the scale_offset specification.
EXAMPLES = [
    Chain(
        "example1", "float32", [ScaleOffset(offset=5, scale=0.1)], 0, -1e3, 1e3, 1e-3
    ),
    Chain("example2", "uint16", pair("uint8", 1000), 1000, 1000, 1255),
    Chain(
        "example3",
        "float64",
        pair("uint8", -10, 0.1, rounding="nearest-even", scalar_map=nan_is(0)),
        np.nan,
        0,
        2540,
        10,
        with_nan=True,
    ),
]

KELVIN = Chain("float32-int16", "float32", pair("int16", 273.15, 100), 0, 0, 600, 0.01)

CHAINS = [
    *EXAMPLES,
    KELVIN,
    Chain("float32-uint8-clamp", "float32", pair("uint8", 0, 10, out_of_range="clamp"), 0, 0, 25, 0.1),
    Chain("float32-uint16-nan", "float32", pair("uint16", -50, 500, scalar_map=nan_is(65535)), np.nan, -50, 80, 0.002, with_nan=True),
    Chain("float32-int32", "float32", pair("int32", 0, 1024, rounding="towards-zero"), -1, -1e4, 1e4, 0.002),
    Chain("float64-int16-negative-scale", "float64", pair("int16", 12.5, -8), 12.5, -4000, 4000, 0.125),
    Chain("float64-int32-nan", "float64", pair("int32", 0, 1e4, scalar_map=nan_is(-(2**31))), np.nan, -2e5, 2e5, 1e-4, with_nan=True),
    Chain("float64-uint16-rounding", "float64", pair("uint16", 0, 7, rounding="towards-positive"), 0, 0, 9000, 1 / 7),
    Chain("float64-float32", "float64", [CastValue(data_type="float32")], -0.5, -1e6, 1e6, 0.1),
    Chain("float64-float32-int16", "float64", [*pair("float32", 100, 0.5), *pair("int16", 8, 4)], 100, -1e4, 1e4, 1),
    Chain("float16-uint8", "float16", pair("uint8", 0, 8), 0, 0, 31, 0.15),
    Chain("float16-int16-nan", "float16", pair("int16", 1, 16, scalar_map=nan_is(-32768)), np.nan, -900, 900, 0.6, with_nan=True),
    Chain("uint16-int16", "uint16", pair("int16", 32768), 32768, 32768, 65535),
    Chain("uint16-uint8-wrap", "uint16", [CastValue(data_type="uint8", out_of_range="wrap")], 7, 0, 255),
    Chain("int32-int16", "int32", pair("int16", 100_000), 100_000, 67_232, 132_767),
    Chain("int32-uint8-scale", "int32", pair("uint8", -40, 5), -40, -40, 11),
    Chain("int32-uint16", "int32", [CastValue(data_type="uint16")], 1, 0, 65535),
]  # fmt: skip


def fixed(dtype: str, astype: str, offset: float, scale: float) -> dict[str, Any]:
    return {"dtype": dtype, "astype": astype, "offset": offset, "scale": scale}


@dataclass(frozen=True)
class Legacy:
    """Parameters of the codec that the pair supersedes, and values that it can hold to within `step`."""

    name: str
    parameters: dict[str, Any]
    fill: Any
    low: float
    high: float
    step: float

    def chain(self, codec: type) -> Chain:
        filters, dtype = [codec(**self.parameters)], self.parameters["dtype"]
        return Chain(
            self.name, dtype, filters, self.fill, self.low, self.high, self.step
        )


LEGACY_V3 = [
    Legacy("legacy-float32-uint8", fixed("<f4", "|u1", 10, 0.1), 10, 10, 2560, 10),
    Legacy("legacy-float32-int16", fixed("<f4", "<i2", 273.15, 100), np.nan, 0, 600, 0.01),
    Legacy("legacy-float64-uint16", fixed("<f8", "<u2", -3.5, 1000), 0, 0, 60, 0.001),
    Legacy("legacy-float64-int32", fixed("<f8", "<i4", 1, 3), -1, -1e6, 1e6, 0.4),
    Legacy("legacy-float32-float32", fixed("<f4", "<f4", 100, 5), 0, -1e3, 1e3, 0.2),
    Legacy("legacy-int32-int16", fixed("<i4", "<i2", 70_000, 1), 70_000, 40_000, 100_000, 0),
]  # fmt: skip

LEGACY_V2 = [
    Legacy("v2-float32-uint8", fixed("<f4", "|u1", 10, 0.1), 10, 10, 2560, 10),
    Legacy("v2-big-float32-int16", fixed(">f4", ">i2", 273.15, 100), 0, 0, 600, 0.01),
    Legacy("v2-little-float32-big-int16", fixed("<f4", ">i2", 0, 50), -1, -300, 300, 0.02),
    Legacy("v2-float64-uint16", fixed("<f8", "<u2", -3.5, 1000), 0, 0, 60, 0.001),
    Legacy("v2-big-int16-uint8", fixed(">i2", "|u1", 1000.0, 1.0), 1000, 1000, 1255, 0),
]  # fmt: skip


@dataclass
class Store:
    """A store that was written: the paths of its packed arrays, and of all others."""

    name: str
    packed: list[str] = field(default_factory=lambda: ["."])
    others: list[str] = field(default_factory=list)


def skip_nothing(_: Index) -> bool:
    return False


def skip_some(index: Index) -> bool:
    return sum(index) % 5 == 2


def skip_shards(index: Index) -> bool:
    """Single chunks in shards, and the shards next to the first one; see `shard_shape`."""
    shard = (index[0] // 4, *(position // 2 for position in index[1:]))
    return skip_some(index) or sum(shard) == 1


def blocks(shape: Index, block: Index) -> Iterator[tuple[Index, tuple[slice, ...]]]:
    """The grid positions of blocks, with the elements of each."""
    counts = [-(-extent // step) for extent, step in zip(shape, block, strict=True)]
    for index in np.ndindex(*counts):
        yield index, tuple(
            slice(i * step, min((i + 1) * step, extent))
            for i, step, extent in zip(index, block, shape, strict=True)
        )


def write_array(
    place: Path | zarr.Group,
    chain: Chain,
    shape: Index,
    chunks: Index,
    *,
    block: Index | None = None,
    skip: Callable[[Index], bool] = skip_nothing,
    **options: Any,
) -> zarr.Array:
    """Makes an array and writes it block by block (by default a chunk), but for those to be skipped."""
    create = place.create_array if isinstance(place, zarr.Group) else zarr.create_array
    if isinstance(place, Path):
        options["store"] = place
    array = create(
        shape=shape,
        chunks=chunks,
        dtype=chain.dtype,
        fill_value=chain.fill,
        **{"filters": chain.filters, "compressors": None, **options},
    )
    values = chain.values(shape)
    for index, region in blocks(shape, block or chunks):
        if not skip(index):
            array[region] = values[region]
            require_close(chain, np.asarray(array[region]), values[region])
    return array


def require_close(chain: Chain, read: np.ndarray, written: np.ndarray) -> None:
    """Fails where zarr-python itself does not get back what it wrote: such a store would prove nothing."""
    error = np.abs(read.astype("float64") - written.astype("float64"))
    nans_agree = np.array_equal(np.isnan(read), np.isnan(written))
    if not nans_agree or np.nanmax(error, initial=0) > chain.step:
        raise AssertionError(f"{chain.name}: zarr-python misreads what it wrote")


def shard_shape(chunk: Index) -> Index:
    """Shards are four chunks high and two wide."""
    return (4 * chunk[0], *(2 * extent for extent in chunk[1:]))


def shards_around(chunk: Index, **options: Any) -> dict[str, Any]:
    """Options for shards with the chain inside of them."""
    shards = shard_shape(chunk)
    return {"chunks": chunk, "shards": shards, "compressors": ZstdCodec(), **options}


def shards_after(chunk: Index) -> dict[str, Any]:
    """Options for shards with the chain before them."""
    inner = ShardingCodec(chunk_shape=chunk, codecs=[BytesCodec(), ZstdCodec()])
    return {"chunks": shard_shape(chunk), "serializer": inner}


def write_chains(folder: Path) -> Iterator[Store]:
    """Every chain: uncompressed, chunks over the edge, chunks missing."""
    for chain in [
        *CHAINS,
        *(entry.chain(legacy.FixedScaleOffset) for entry in LEGACY_V3),
    ]:
        write_array(folder / chain.name, chain, (37, 53), (16, 20), skip=skip_some)
        yield Store(chain.name)


def write_shards(folder: Path) -> Iterator[Store]:
    old = LEGACY_V3[0].chain(legacy.FixedScaleOffset)
    plane, line = ((37, 53), (5, 8)), ((370,), (10,))
    big = BytesCodec(endian="big")
    start = {"shape": shard_shape((5, 8)), "index_location": "start"}
    stores: dict[str, tuple[Chain, tuple[Index, Index], dict[str, Any]]] = {
        f"{chain.name}-{where}-shard": (chain, plane, options)
        for chain in [*EXAMPLES, KELVIN]
        for where, options in (
            ("inside", shards_around((5, 8))),
            ("before", shards_after((5, 8))),
        )
    }
    stores |= {
        f"{old.name}-inside-shard": (old, plane, shards_around((5, 8))),
        # zarr-python cannot write this in more than one dimension.
        f"{old.name}-before-shard": (old, line, shards_after((10,))),
        "shard-index-at-start": (KELVIN, plane, shards_around((5, 8), shards=start)),
        "shard-big-endian": (KELVIN, plane, shards_around((5, 8), serializer=big)),
        "shard-checksums": (
            KELVIN,
            plane,
            shards_around((5, 8), compressors=Crc32cCodec()),
        ),
    }
    for name, (chain, (shape, chunk), options) in stores.items():
        write_array(
            folder / name, chain, shape, block=chunk, skip=skip_shards, **options
        )
        yield Store(name)


def write_layouts(folder: Path) -> Iterator[Store]:
    """What may stand around the pair in an array."""
    long, cube = ((5000,), (700,)), ((7, 11, 13), (3, 4, 5))
    transpose = TransposeCodec(order=(2, 0, 1))
    layouts: dict[str, tuple[tuple[Index, Index], dict[str, Any]]] = {
        "zstd": (long, {"compressors": ZstdCodec(level=5)}),
        "gzip": (long, {"compressors": GzipCodec(level=6)}),
        "blosc": (long, {"compressors": BloscCodec(cname="lz4", shuffle="shuffle")}),
        "blosc-bits": (long, {"compressors": BloscCodec(shuffle="bitshuffle")}),
        "two-compressors": (long, {"compressors": [ZstdCodec(), Crc32cCodec()]}),
        "big-endian": (long, {"serializer": BytesCodec(endian="big")}),
        "transpose-before": (cube, {"filters": [transpose, *KELVIN.filters]}),
        "transpose-after": (cube, {"filters": [*KELVIN.filters, transpose]}),
        "keys-with-dots": (cube, {"chunk_key_encoding": {"name": "v2"}}),
        "dimensions": (cube, {"dimension_names": ["time", None, "x"], "attributes": {"units": "K", "range": [0, 600.5]}}),
        "no-dimensions": (((), ()), {}),
        "no-elements": (((0, 5), (4, 5)), {}),
        "one-element": (((1,), (10,)), {}),
    }  # fmt: skip
    for name, ((shape, chunks), options) in layouts.items():
        write_array(folder / name, KELVIN, shape, chunks, **options)
        yield Store(name)
    write_array(
        folder / "nothing-written", CHAINS[2], (20, 20), (8, 8), skip=lambda _: True
    )
    yield Store("nothing-written")


def write_v2(folder: Path) -> Iterator[Store]:
    for entry in LEGACY_V2:
        chain = entry.chain(numcodecs.FixedScaleOffset)
        write_array(
            folder / chain.name,
            chain,
            (37, 53),
            (16, 20),
            skip=skip_some,
            zarr_format=2,
        )
        yield Store(chain.name)
    chain = LEGACY_V2[1].chain(numcodecs.FixedScaleOffset)
    layouts: dict[str, dict[str, Any]] = {
        "v2-order-f": {"order": "F"},
        "v2-order-f-zlib": {"order": "F", "compressors": numcodecs.Zlib()},
        "v2-blosc": {"compressors": numcodecs.Blosc()},
        "v2-zstd": {"compressors": numcodecs.Zstd()},
        "v2-gzip": {"compressors": numcodecs.GZip()},
        "v2-nested-keys": {
            "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}
        },
    }
    for name, options in layouts.items():
        write_array(
            folder / name,
            chain,
            (7, 11, 13),
            (3, 4, 5),
            skip=skip_some,
            zarr_format=2,
            **options,
        )
        yield Store(name)


def write_plain(
    group: zarr.Group, name: str, values: Any, dimension: str, **options: Any
) -> None:
    """A one-dimensional array without packing, in chunks of 8."""
    values = np.asarray(values)
    is_v2 = group.metadata.zarr_format == 2
    named = (
        {"attributes": {"_ARRAY_DIMENSIONS": [dimension]}}
        if is_v2
        else {"dimension_names": [dimension]}
    )
    array = group.create_array(
        name, shape=values.shape, chunks=(8,), dtype=values.dtype, **named, **options
    )
    array[:] = values


def write_hierarchies(folder: Path) -> Iterator[Store]:
    """Groups in groups, attributes, coordinates that are not packed, consolidated metadata."""
    for consolidated in False, True:
        name = "hierarchy-consolidated" if consolidated else "hierarchy"
        root = zarr.create_group(
            folder / name, attributes={"title": "Größe", "list": [1, 2.5, None]}
        )
        deep = root.create_group("model/run", attributes={"run": {"id": 12}})
        root.create_group("empty", attributes={"kept": True})
        dimensions = ["y", "x"]
        write_array(
            root,
            KELVIN,
            (37, 53),
            name="t2m",
            block=(5, 8),
            dimension_names=dimensions,
            attributes={"units": "K"},
            **shards_around((5, 8)),
        )
        write_array(
            deep,
            EXAMPLES[2],
            (37, 53),
            (16, 20),
            name="rain",
            skip=skip_some,
            dimension_names=dimensions,
        )
        write_plain(root, "y", np.linspace(-90, 90, 37), "y")
        write_plain(root, "x", np.arange(53, dtype="int64"), "x")
        labels = np.array(["north", "süd", ""], dtype=np.dtypes.StringDType())
        write_plain(root, "label", labels, "label")
        if consolidated:
            zarr.consolidate_metadata(folder / name)
        yield Store(name, ["t2m", "model/run/rain"], ["y", "x", "label"])

    name = "v2-hierarchy"
    root = zarr.create_group(
        folder / name, zarr_format=2, attributes={"Conventions": "CF-1.10"}
    )
    deep = root.create_group("model", attributes={"run": 12})
    for group, path, entry in ((root, "t2m", 0), (deep, "rain", 1)):
        write_array(
            group,
            LEGACY_V2[entry].chain(numcodecs.FixedScaleOffset),
            (37, 53),
            (16, 20),
            name=path,
            attributes={"_ARRAY_DIMENSIONS": ["y", "x"], "units": "K"},
        )
    write_plain(root, "y", np.linspace(-90, 90, 37), "y")
    write_plain(root, "x", np.arange(53, dtype="int64"), "x")
    zarr.consolidate_metadata(folder / name)
    yield Store(name, ["t2m", "model/rain"], ["y", "x"])


def file_name(path: str) -> str:
    """A path in a hierarchy as a part of the name of a file."""
    return "root" if path == "." else path.replace("/", ".")


def describe(folder: Path, store: Store) -> dict[str, Any]:
    """Saves what the packed arrays of a store hold, and tells what there is to compare."""
    arrays = []
    expected = folder / "expected" / store.name
    expected.mkdir(parents=True)
    for path in [*store.packed, *store.others]:
        array = open_array(folder / "stores" / store.name, path)
        if path in store.packed:
            values = np.asarray(array[...])
            native = values.dtype.newbyteorder("=")
            np.save(
                expected / f"{file_name(path)}.npy",
                np.array(values, native, order="C"),
            )
        arrays.append(
            {
                "path": path,
                "file": file_name(path),
                "packed": path in store.packed,
                # zarrita reads no float16 here and nothing from an array with no elements, and takes the index of
                # every shard to be at its end.
                "zarrita": array.dtype.kind in "iuf"
                and array.dtype != "float16"
                and array.size > 0
                and store.name != "shard-index-at-start",
            }
        )
    return {"name": store.name, "arrays": arrays}


def json_lines(values: np.ndarray) -> str:
    """Values in the encoding of fill values, one a line; those of floats in all their digits."""
    words = {np.inf: "Infinity", -np.inf: "-Infinity"}
    return "".join(
        json.dumps("NaN" if value != value else words.get(value, value)) + "\n"
        for value in values.tolist()
    )


def write_stream(folder: Path, chain: Chain) -> None:
    """Has one chunk written without compression: its bytes are the codes of the chain."""
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(
        store,
        shape=(1000,),
        chunks=(1000,),
        dtype=chain.dtype,
        filters=chain.filters,
        compressors=None,
        fill_value=chain.fill,
    )
    array[:] = values = chain.values((1000,), seed=1)
    chunk = store._store_dict["c/0"].to_bytes()
    metadata = array.metadata.to_dict()
    codecs = [dict(codec) for codec in metadata["codecs"] if codec["name"] != "bytes"]

    prefix = folder / chain.name
    codes = np.frombuffer(chunk, dtype=stored_type(codecs, chain.dtype))
    prefix.with_suffix(".values.jsonl").write_text(json_lines(values))
    prefix.with_suffix(".codes.jsonl").write_text(json_lines(codes))
    np.save(prefix.with_suffix(".codes.npy"), codes)
    np.save(prefix.with_suffix(".values.npy"), np.asarray(array[:]))
    prefix.with_suffix(".chain.json").write_text(json.dumps(codecs))


def stored_type(codecs: list[dict[str, Any]], dtype: str) -> str:
    """The type that comes out of a chain."""
    for codec in codecs:
        dtype = codec.get("configuration", {}).get("data_type", dtype)
    return dtype


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder

    described = []
    writers = write_chains, write_shards, write_layouts, write_v2, write_hierarchies
    for writer in writers:
        for store in writer(folder / "stores"):
            described.append(describe(folder, store))
    (folder / "stores.json").write_text(json.dumps(described, indent=1))
    with open(folder / "arrays.tsv", "w") as lines:
        for store in described:
            for array in store["arrays"]:
                if array["packed"]:
                    print(store["name"], array["path"], array["file"], sep="\t", file=lines)  # fmt: skip

    (folder / "streams").mkdir()
    with open(folder / "streams.tsv", "w") as lines:
        for chain in CHAINS:
            write_stream(folder / "streams", chain)
            print(chain.name, chain.dtype, sep="\t", file=lines)


if __name__ == "__main__":
    main()
