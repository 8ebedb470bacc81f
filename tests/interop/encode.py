"""Makes hierarchies for zarrpack encode, and compares what it wrote with what NumPy computes and other readers read."""

import json
import sys
from pathlib import Path

import numcodecs
import numpy as np
import zarr
import zarr.codecs.numcodecs as v3_numcodecs
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

from zarr_python import open_array

SHAPE = (12, 60, 90)
KELVIN = "--offset 273.15 --scale 100 --to int16"

# Compressors of Zarr v3, and of v2.
V3 = {
    "none": None,
    "zstd": ZstdCodec(level=1),
    "gzip": GzipCodec(level=1),
    "blosc": BloscCodec(cname="zstd", clevel=1),
    "crc": [ZstdCodec(level=1), Crc32cCodec()],
    "zlib": v3_numcodecs.Zlib(level=1),
    "lz4": v3_numcodecs.LZ4(),
    "bz2": v3_numcodecs.BZ2(level=1),
    "lzma": v3_numcodecs.LZMA(preset=1),
    "shuffled": [v3_numcodecs.Shuffle(elementsize=4), v3_numcodecs.Zlib(level=1)],
}
V2 = {
    "none": None,
    "zstd": numcodecs.Zstd(1),
    "gzip": numcodecs.GZip(1),
    "blosc": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.AUTOSHUFFLE),
    "zlib": numcodecs.Zlib(1),
    "lz4": numcodecs.LZ4(),
    "bz2": numcodecs.BZ2(1),
    "lzma": numcodecs.LZMA(preset=1),
}
# zarrita reads none of these.
NOT_ZARRITA = {"lz4", "bz2", "lzma", "zlib", "shuffled"}


def field() -> np.ndarray:
    random = np.random.default_rng(7)
    values = 280 + 15 * np.sin(np.arange(np.prod(SHAPE)) / 500).reshape(SHAPE)
    values = (values + random.normal(0, 0.3, SHAPE)).astype("float32")
    values[random.random(SHAPE) < 0.02] = np.nan
    return values


def make_store(store: Path, zarr_format: int, compressors, shards=None) -> None:
    group = zarr.open_group(store, mode="w", zarr_format=zarr_format, attributes={"title": "a test"})
    sizes = dict(zip(("time", "lat", "lon"), SHAPE))

    def create(name: str, data: np.ndarray, dimensions: tuple[str, ...], attributes=None, **options):
        attributes = dict(attributes or {})
        if zarr_format == 2:
            attributes["_ARRAY_DIMENSIONS"] = list(dimensions)
        else:
            options["dimension_names"] = dimensions
        array = group.create_array(
            name, shape=data.shape, dtype=data.dtype, attributes=attributes, **options
        )
        array[...] = data

    for name, size in sizes.items():
        create(name, np.linspace(0, 1, size), (name,))
    mask = (np.indices(SHAPE[1:]).sum(0) % 3 == 0).astype("int8")
    create("lsm", mask, ("lat", "lon"), {"flag_values": [0, 1], "flag_meanings": "sea land"})
    create(
        "t2m",
        field(),
        ("time", "lat", "lon"),
        {"units": "K"},
        chunks=(5, 20, 40),
        shards=shards,
        fill_value=np.nan,
        compressors=compressors,
    )
    zarr.consolidate_metadata(store)


def make(folder: Path) -> None:
    runs: list[tuple[str, str]] = []
    stores = folder / "stores"
    for zarr_format, compressors in ((3, V3), (2, V2)):
        for name, compressor in compressors.items():
            store = f"v{zarr_format}-{name}"
            make_store(stores / store, zarr_format, compressor)
            runs.append((store, KELVIN))
    make_store(stores / "v3-sharded", 3, V3["zstd"], shards=(10, 40, 80))
    runs.append(("v3-sharded", KELVIN))
    for name, flags in {
        "sharded": "--chunks 4,20,30 --shards 8,40,60",
        "rechunked": "--chunks 7,11,13 --compressor blosc:zstd:3:bitshuffle",
        "uint16": "",
        "int32": "",
    }.items():
        chain = {
            "uint16": "--offset 200 --scale 500 --to uint16",
            "int32": "--scale 1000 --to int32 --missing -1",
        }.get(name, KELVIN)
        runs.append((f"v3-zstd@{name}", f"{chain} {flags}"))
    (folder / "runs.tsv").write_text("".join(f"{name}\t{flags}\n" for name, flags in runs))
    listed = [
        {
            "name": name,
            "arrays": [
                {"path": "t2m", "file": "t2m", "zarrita": name.split("-")[1] not in NOT_ZARRITA},
                {"path": "lat", "file": "lat", "zarrita": name.startswith("v3")},
            ],
        }
        for name, _ in runs
    ]
    (folder / "stores.json").write_text(json.dumps(listed))


failures = 0


def check(what: str, passed: bool, found: object = "") -> None:
    global failures
    failures += not passed
    print("ok  " if passed else "FAIL", what, "" if passed else found)


def close(reported: float, true: float) -> bool:
    return abs(reported - true) <= 1e-9 * max(abs(true), 1e-12)


def compare_errors(name: str, report: dict, decoded: np.ndarray) -> None:
    values = field().astype("float64")
    errors = decoded.astype("float64") - values
    finite = np.isfinite(values)
    errors = errors[finite]
    figures = report["errors"]
    for figure, true in {
        "largest_absolute": np.abs(errors).max(),
        "largest_relative": np.abs(errors / values[finite]).max(),
        "rmse": np.sqrt(np.mean(errors**2)),
        "bias": errors.mean(),
    }.items():
        check(f"{name}: {figure}", close(figures[figure], true), (figures[figure], true))
    check(f"{name}: NaNs", report["values"]["nan"] == np.isnan(values).sum())
    check(f"{name}: NaNs come back", np.array_equal(np.isnan(decoded), np.isnan(values)))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    return bool(((a.view("uint32") == b.view("uint32")) | (np.isnan(a) & np.isnan(b))).all())


def in_double_precision(packed: Path, decoded: np.ndarray) -> np.ndarray:
    """What zarrita makes of the same codes: it computes in double precision and rounds once, where the specification has the
    arithmetic of the array's type. Without an offset the two are the same."""
    document = json.loads((packed / "t2m" / "zarr.json").read_text())
    codecs = document["codecs"]
    while codecs[0]["name"] == "sharding_indexed":
        codecs = codecs[0]["configuration"]["codecs"]
    numbers = codecs[0]["configuration"]
    offset, scale = numbers.get("offset", 0), numbers.get("scale", 1)
    codes = np.rint((decoded.astype("float64") - offset) * scale)
    return (codes / scale + offset).astype("float32")


def compare_run(folder: Path, name: str) -> None:
    error = folder / "reports" / f"{name}.error"
    if error.exists():
        check(f"{name}: is encoded", False, error.read_text())
        return
    report = json.loads((folder / "reports" / f"{name}.json").read_text())
    array = next(array for array in report["arrays"] if array["path"] == "t2m")
    decoded = np.load(folder / "npy" / f"{name}.npy")
    compare_errors(name, array, decoded)
    packed = folder / "packed" / name
    check(f"{name}: zarr-python reads the same bits", same_bits(open_array(packed, "t2m")[...], decoded))
    group = zarr.open_group(packed, mode="r")
    check(f"{name}: consolidated", group.metadata.consolidated_metadata is not None)
    check(f"{name}: dimensions", group["t2m"].metadata.dimension_names == ("time", "lat", "lon"))
    source = folder / "stores" / name.split("@")[0]
    for other in "time", "lat", "lon", "lsm":
        same = np.array_equal(open_array(source, other)[...], open_array(packed, other)[...])
        check(f"{name}: {other} is the same", same)
    found = json.loads((folder / "zarrita" / name / "t2m.json").read_text()) if (
        folder / "zarrita" / name / "t2m.json"
    ).exists() else None
    if found is not None:
        bits = folder / "zarrita" / name / "t2m.bin"
        read = np.fromfile(bits, "float32").reshape(SHAPE) if bits.exists() else None
        expected = in_double_precision(packed, decoded)
        check(f"{name}: zarrita reads the same bits", read is not None and same_bits(read, expected), found)


def compare(folder: Path) -> None:
    for line in (folder / "runs.tsv").read_text().splitlines():
        compare_run(folder, line.split("\t")[0])
    print(f"{failures} failed")
    sys.exit(failures > 0)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](Path(sys.argv[2]))
