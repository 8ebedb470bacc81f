"""zarr-python's part in the measurements: it makes the array, and decodes it too."""

import argparse
import time
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import CastValue, ScaleOffset, ZstdCodec

COLUMNS = 32768


def bands(array: zarr.Array) -> list[slice]:
    """The rows of the array by rows of chunks: what is read or written at once, chunks concurrently."""
    rows, step = array.shape[0], array.chunks[0]
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]


def make(store: Path, mebibytes: int, chunk_side: int, compressor: str) -> None:
    """Writes temperatures in hundredths of a kelvin: waves with noise, so that they compress as measurements do."""
    array = zarr.create_array(
        store,
        shape=(mebibytes * 2**20 // (4 * COLUMNS), COLUMNS),
        chunks=(chunk_side, chunk_side),
        dtype="float32",
        filters=[ScaleOffset(offset=273.15, scale=100), CastValue(data_type="int16")],
        compressors=ZstdCodec() if compressor == "zstd" else None,
        fill_value=0,
    )
    random = np.random.default_rng(0)
    x = np.arange(COLUMNS, dtype="float32") / 500
    noise = random.normal(0, 0.05, (chunk_side, COLUMNS)).astype("float32")
    for number, band in enumerate(bands(array)):
        y = np.arange(band.start, band.stop, dtype="float32")[:, None] / 900
        waves = 280 + 15 * np.sin(x) * np.cos(y)
        array[band] = waves + np.roll(noise, number * 997, 1)[: len(waves)]


def decode_to_npy(source: Path, target: Path) -> None:
    array = zarr.open_array(source, mode="r")
    result = np.lib.format.open_memmap(target, "w+", array.dtype, array.shape)
    for band in bands(array):
        result[band] = array[band]


def decode_to_store(source: Path, target: Path) -> None:
    array = zarr.open_array(source, mode="r")
    result = zarr.create_array(
        target,
        shape=array.shape,
        chunks=array.chunks,
        dtype=array.dtype,
        compressors=array.compressors,
        fill_value=array.fill_value,
    )
    for band in bands(array):
        result[band] = array[band]


def load(path: Path) -> np.ndarray | zarr.Array:
    if path.is_file():
        return np.load(path, mmap_mode="r")
    return zarr.open_array(path, mode="r")


def require_same(source: Path, target: Path) -> None:
    """Fails unless the target holds what zarr-python reads from the source."""
    array, result = zarr.open_array(source, mode="r"), load(target)
    for band in bands(array):
        np.testing.assert_array_equal(array[band], result[band], strict=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("make")
    command.add_argument("store", type=Path)
    command.add_argument("mebibytes", type=int)
    command.add_argument("chunk_side", type=int)
    command.add_argument("compressor", choices=["none", "zstd"])
    for name in "npy", "store", "same":
        command = commands.add_parser(name)
        command.add_argument("source", type=Path)
        command.add_argument("target", type=Path)
    arguments = vars(parser.parse_args())
    run = {
        "make": make,
        "npy": decode_to_npy,
        "store": decode_to_store,
        "same": require_same,
    }[arguments.pop("command")]
    start = time.perf_counter()
    run(**arguments)
    # Without the time to start Python and to import zarr.
    print(f"{time.perf_counter() - start:.6f}")


if __name__ == "__main__":
    main()
