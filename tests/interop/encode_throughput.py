"""zarr-python's part in the measurements of encode: it makes the input, and encodes it too."""

import sys
import time
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec, CastValue, ScaleOffset, ZstdCodec

COLUMNS = 32768
COMPRESSORS = {"none": None, "zstd": ZstdCodec(level=1), "blosc": BloscCodec(cname="lz4", clevel=5)}


def bands(array: zarr.Array) -> list[slice]:
    """The rows by rows of chunks, or of shards."""
    step = (array.shards or array.chunks)[0]
    return [slice(start, min(start + step, array.shape[0])) for start in range(0, array.shape[0], step)]


def create(store: Path, mebibytes: int, form: str, side: int, shard: int, filters) -> zarr.Array:
    return zarr.create_array(
        store,
        shape=(mebibytes * 2**20 // (4 * COLUMNS), COLUMNS),
        chunks=(side, side),
        shards=(shard, shard) if shard else None,
        dtype="float32",
        filters=filters,
        compressors=COMPRESSORS[form],
        fill_value=0,
    )


def main() -> None:
    command, store, form, mebibytes, side, shard, *rest = sys.argv[1:]
    mebibytes, side, shard = int(mebibytes), int(side), int(shard)
    start = time.perf_counter()
    if command == "make":
        array = create(Path(store), mebibytes, form, side, shard, None)
        random = np.random.default_rng(0)
        x = np.arange(COLUMNS, dtype="float32") / 500
        noise = random.normal(0, 0.05, (side, COLUMNS)).astype("float32")
        for number, band in enumerate(bands(array)):
            rows = band.stop - band.start
            y = np.arange(band.start, band.stop, dtype="float32")[:, None] / 900
            shifted = np.roll(noise, number * 997, 1)
            repeated = np.tile(shifted, (-(-rows // side), 1))[:rows]
            array[band] = 280 + 15 * np.sin(x) * np.cos(y) + repeated
    else:
        source = zarr.open_array(store, mode="r")
        filters = [ScaleOffset(offset=273.15, scale=100), CastValue(data_type="int16")]
        array = create(Path(rest[0]), mebibytes, form, side, shard, filters)
        for band in bands(array):
            array[band] = source[band]
    print(f"{time.perf_counter() - start:.6f}")


if __name__ == "__main__":
    main()
