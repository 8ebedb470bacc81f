"""zarr-python as the other scripts use it."""

import warnings
from pathlib import Path

import zarr
from zarr.codecs import ShardingCodec

# Warnings are of types and codecs that the core specification does not have, and of a fill of NaN that pads chunks of the
# legacy codec.
warnings.simplefilter("ignore")

# zarr-python 3.4.2 tries the codecs of a shard on a fill of 0, whatever the fill of the array is, and so refuses the second
# example of the specification. Nothing but this trial is left out.
ShardingCodec._validate_inner_codecs = lambda codec, dtype: None


def open_array(store: Path, path: str) -> zarr.Array:
    """Opens an array by its path in a hierarchy, which is "." for one at the root."""
    return zarr.open_array(store, path=path.removeprefix("."), mode="r")
