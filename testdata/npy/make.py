"""Writes the .npy files beside this script. Made with NumPy 2.4.6; nothing here needs to be made again."""

from pathlib import Path

import numpy as np

here = Path(__file__).parent

for name in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
             "float16", "float32", "float64", "complex64", "complex128"]:
    np.save(here / f"{name}.npy", np.arange(2, dtype=name))
np.save(here / "scalar.npy", np.float32(1))
np.save(here / "empty.npy", np.zeros((3, 0, 2), "int16"))
np.save(here / "big_endian.npy", np.arange(3, dtype=">f8"))
np.save(here / "fortran.npy", np.asfortranarray(np.arange(6, dtype="int16").reshape(2, 3)))
np.save(here / "rank64.npy", np.zeros((1,) * 64, "uint8"))
for version in (2, 3):
    with open(here / f"version{version}.npy", "wb") as file:
        np.lib.format.write_array(file, np.arange(3, dtype="int32"), version=(version, 0))
np.save(here / "datetime64.npy", np.zeros(1, "datetime64[ns]"))
np.save(here / "structured.npy", np.zeros(1, [("a", "f4"), ("b", "i2")]))
np.save(here / "text.npy", np.array(["ab"]))

# A header that needs no padding, for which NumPy pads all the more.
for digits in range(1, 19):
    shape = (0, 10 ** (digits - 1), 10 ** 18)
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}" + " " * 20
    if (10 + len(text) + 1) % 64 == 0:
        with open(here / "aligned.npy", "wb") as file:
            header = {"descr": "|u1", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
        break
else:
    raise SystemExit("no such shape")
