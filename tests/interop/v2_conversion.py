"""Compares what zarr-python reads from arrays of Zarr v2 with what it reads from the same chunks by the documents of Zarr v3
that stand beside those of v2.

    python v2_conversion.py FOLDER

FOLDER is a hierarchy with both documents at each node, such as testdata/v2 or a copy of it after `zarrpack migrate-legacy`
(without --remove-v2). Types, shapes, values and fills have to be the same, and the attributes but for the ones that the
conversion is there to change. Prints a line for each array, and exits with 1 if one differs.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import zarr

# What the conversion moves, or says in another form; xarray_masks.py is about these.
CHANGED = {"_ARRAY_DIMENSIONS", "_FillValue", "missing_value"}


class Different(Exception):
    """What was compared is not the same; the text says how."""


def require_same(what: str, before: Any, after: Any) -> None:
    if before != after:
        raise Different(f"{what} is {after!r}, and was {before!r}")


def bits(values: Any) -> Any:
    """Something that is equal where values are the same, NaN of any kind among them."""
    values = np.asarray(values)
    if values.dtype.kind in "OT":
        return values.tolist()
    # In the order of the machine: the order of the stored bytes is not that of the values any more.
    values = values.astype(values.dtype.newbyteorder("="))
    return values.dtype.str if values.dtype.names is None else values.dtype.descr, values.tobytes()


def native(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "T" else dtype.newbyteorder("=")


def without_nan(value: Any) -> Any:
    """Attributes as they are in JSON, where there are no numbers for these."""
    return json.loads(json.dumps(value), parse_constant=str)


def compare(folder: Path) -> None:
    before, after = (zarr.open_array(folder, mode="r", zarr_format=version) for version in (2, 3))
    require_same("the shape", before.shape, after.shape)
    require_same("the type", native(before.dtype), native(after.dtype))
    require_same("the value", bits(before[...]), bits(after[...]))
    if before.fill_value is not None:
        fills = (np.asarray(array.fill_value, array.dtype) for array in (before, after))
        require_same("the fill value", *map(bits, fills))
    kept = (
        {name: without_nan(value) for name, value in dict(array.attrs).items() if name not in CHANGED}
        for array in (before, after)
    )
    require_same("the attributes", *kept)
    names = before.attrs.get("_ARRAY_DIMENSIONS")
    if names is not None:
        require_same("the dimension names", tuple(names), after.metadata.dimension_names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    failed = 0
    arrays = sorted(path.parent for path in folder.rglob(".zarray"))
    for array in arrays:
        name = array.relative_to(folder)
        try:
            compare(array)
        except Exception as error:  # whatever goes wrong fails this array alone
            failed += 1
            kind = "" if isinstance(error, Different) else f"{type(error).__name__}: "
            print(f"FAIL  {name}: {kind}{error}")
        else:
            print(f"PASS  {name}")
    print(f"{len(arrays) - failed} passed, {failed} failed")
    sys.exit(failed > 0 or not arrays)


if __name__ == "__main__":
    main()
