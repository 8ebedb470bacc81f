"""Holds stores that zarrpack migrated against what numcodecs and zarr-python make of them, before and after.

Three parts, each with a line for each comparison:

reference  every store of testdata/stores that uses the legacy codec, plain and exact: the chunks keep their bytes, the legacy codec
           is gone, what was announced as identical reads bit for bit as before, and of what was announced as different
           exactly the announced codes read differently
pairs      types and parameters: all codes of up to 16 bits, and 100,000 random ones of wider types
inputs     what people have: other byte orders, missing fills, filters around the codec, chunks that are missing
"""

import argparse
import hashlib
import itertools
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import zarr

from compare import Different, Report, require_equal, require_same_values

LEGACY = "fixedscaleoffset"
DOCUMENTS = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"}
FLOATS = ["f2", "f4", "f8"]
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
NAMES = {name: np.dtype(name).name for name in FLOATS + INTEGERS}
# Scale and offset; as integers where they can be, since the codec tells 10 from 10.0.
PARAMETERS: list[tuple[float, float]] = [
    (10, 0),
    (100, 273.15),
    (10000, -0.1),
    (0.1, 10),
    (256, 0),
    (3, 7),
    (2, -5),
    (0.25, 0),
]


class Zarrpack:
    """The program."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def run(self, *arguments: Any) -> subprocess.CompletedProcess[str]:
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def migrate(self, store: Path, *flags: str) -> tuple[int, dict[str, Any], str]:
        done = self.run("migrate-legacy", store, "--in-place", "--format", "json", *flags)
        if done.returncode not in (0, 1):
            raise Different(done.stderr)
        report = json.loads(done.stdout) if done.stdout else {}
        return done.returncode, report, done.stderr

    def read(self, store: Path, path: str = "") -> np.ndarray:
        """Decodes an array with zarrpack itself."""
        result = self.folder / "read.npy"
        selection = ["--array", path] if path else []
        done = self.run("decode", store, result, "--overwrite", *selection)
        if done.returncode:
            raise Different(done.stderr)
        return np.load(result)


def chunks_of(store: Path) -> dict[str, str]:
    """The hash of each file that is no document."""
    files = (file for file in store.rglob("*") if file.is_file() and file.name not in DOCUMENTS)
    return {str(file.relative_to(store)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def documents_of(store: Path) -> dict[str, bytes]:
    files = (file for file in store.rglob("*") if file.name in DOCUMENTS)
    return {str(file.relative_to(store)): file.read_bytes() for file in files}


def uses_legacy(store: Path) -> bool:
    return any(LEGACY.encode() in text for text in documents_of(store).values())


def opens(array: dict[str, Any], reader: str) -> bool | None:
    """Whether the plan said that a reader opens the result."""
    for entry in array["readers"]:
        if entry["name"].startswith(reader):
            return entry["opens"]
    return None


def read_zarr(store: Path, path: str) -> np.ndarray:
    node = zarr.open(store, path=path, mode="r", zarr_format=3)
    if not isinstance(node, zarr.Array):
        raise Different(f"{path!r} is no array")
    return np.asarray(node[...])


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element by element, whether the bits are the same; any NaN is any other."""
    a, b = np.ravel(a), np.ravel(np.asarray(b).astype(a.dtype))
    bits = f"u{a.dtype.itemsize}"
    equal = a.view(bits) == b.view(bits)
    if a.dtype.kind == "f":
        equal |= np.isnan(a) & np.isnan(b)
    return equal


def read_everywhere(zarrpack: Zarrpack, store: Path, array: dict[str, Any], expected: np.ndarray) -> None:
    """The values after, as zarrpack reads them and, where the plan says it can, as zarr-python does."""
    require_same_values(expected, zarrpack.read(store, array["path"]))
    if opens(array, "zarr-python"):
        require_same_values(expected, read_zarr(store, array["path"]))


# Reference stores


def reference(zarrpack: Zarrpack, report: Report, stores: Path) -> None:
    refused = []
    for store in sorted(path for path in stores.iterdir() if path.is_dir() and not path.name.endswith(".expected")):
        if not uses_legacy(store):
            continue
        for form in ([], ["--exact"]):
            name = " ".join([store.name, *form])
            copy = zarrpack.folder / "reference" / name.replace(" ", "")
            shutil.copytree(store, copy)
            before = chunks_of(copy)
            documents = documents_of(copy)
            code, plan, messages = zarrpack.migrate(copy, *form)
            report.check(f"{name}: chunks keep their bytes", require_equal, "the chunks", before, chunks_of(copy))
            if code != 0:
                refused.append((name, messages))
                report.check(
                    f"{name}: refused, nothing was written", require_equal, "the documents", documents, documents_of(copy)
                )
                continue
            report.check(f"{name}: no zarr.json names the codec", require_no_legacy, copy)
            made = json.loads(store.with_suffix(".json").read_text())
            for array in plan["arrays"]:
                files = made["expected"]
                file = files.get("/" + array["path"]) or files.get(array["path"]) or files["/"]
                expected = np.load(store.with_suffix(".expected") / file)
                expected = expected.astype(expected.dtype.newbyteorder("="))
                if "spec_expected" in made:
                    # What zarr-python wrote there, it does not read as the specification has it.
                    expected = np.array(made["spec_expected"], expected.dtype)
                    array["readers"] = []
                verdict = array["decode"]["verdict"] if array["decode"] else array["action"]
                report.check(
                    f"{name}: {array['path'] or '/'} {verdict}",
                    require_verdict,
                    zarrpack,
                    copy,
                    array,
                    expected,
                )
    for name, messages in refused:
        print(f"REFUSED  {name}: {' '.join(messages.split())}")


def require_no_legacy(store: Path) -> None:
    for name, text in documents_of(store).items():
        if name.endswith("zarr.json") and LEGACY.encode() in text:
            raise Different(f"{name} names it")


def require_verdict(zarrpack: Zarrpack, store: Path, array: dict[str, Any], expected: np.ndarray) -> None:
    verdict = array["decode"]
    if verdict is None or verdict["verdict"] == "identical":
        read_everywhere(zarrpack, store, array, expected)
        return
    require_equal("the verdict", "differs", verdict["verdict"])
    found = zarrpack.read(store, array["path"])
    equal = same(expected, found)
    if opens(array, "zarr-python"):
        require_same_values(found, read_zarr(store, array["path"]))
    if equal.all() and verdict["proof"] != "all-codes":
        raise Different("announced as different, and the same")


# Types and parameters


def codec_of(dtype: str, astype: str, scale: float, offset: float) -> numcodecs.FixedScaleOffset:
    return numcodecs.FixedScaleOffset(offset=offset, scale=scale, dtype=f"<{dtype}", astype=f"<{astype}")


def codes_of(astype: str, random: np.random.Generator) -> np.ndarray:
    kind = np.dtype(astype)
    if kind.kind == "f":
        if kind.itemsize == 2:
            codes = np.arange(2**16, dtype="u2").view("f2")
            return codes[np.isfinite(codes)]
        return random.uniform(-30000, 30000, 100_000).astype(kind)
    if kind.itemsize <= 2:
        information = np.iinfo(kind)
        return np.arange(information.min, information.max + 1).astype(kind)
    information = np.iinfo(kind)
    wide = random.integers(information.min, information.max, 50_000, dtype=kind, endpoint=True)
    near = random.integers(0, 100_000, 50_000).astype(kind)
    return np.concatenate([wide, near])


def in_range(codes: np.ndarray, dtype: str, scale: float, offset: float) -> np.ndarray:
    """The codes that decode to what an integer type holds; C leaves open what others become."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return codes
    with np.errstate(all="ignore"):
        values = np.trunc((codes / scale) + offset)
    information = np.iinfo(kind)
    # Doubles near the ends of 64-bit types may round to one beyond.
    low, high = float(information.min), float(information.max)
    return codes[(values >= low) & ((values < high) if kind.itemsize == 8 else (values <= high))]


def plain_decode(codes: np.ndarray, dtype: str, astype: str, scale: float, offset: float) -> np.ndarray | None:
    """What the plain conversion decodes to, as the specifications define it; None where it cannot be."""
    kind = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if kind.kind == "f":
            return (codes.astype(kind) / kind.type(scale) + kind.type(offset)).astype(kind)
    return None


def surviving_fill(codes: np.ndarray, decoded: np.ndarray, dtype: str, scale: float, offset: float, exact: bool) -> Any:
    """A fill that both chains give back: a value whose code is its own."""
    kind = np.dtype(dtype)
    for index in range(0, len(codes), max(1, len(codes) // 997)):
        code, value = codes[index], decoded[index]
        if not np.isfinite(value):
            continue
        with np.errstate(all="ignore"):
            if exact or kind.kind != "f":
                again = np.around((float(value) - offset) * scale)
            else:
                again = np.around((value - kind.type(offset)) * kind.type(scale))
        if float(again) == float(code) and abs(float(again)) < 2**24:
            return value.item()
    return None


def pairs(zarrpack: Zarrpack, report: Report, reader: bool) -> None:
    random = np.random.default_rng(1)
    for exact in (False, True):
        root = zarrpack.folder / ("pairs-exact" if exact else "pairs-plain")
        root.mkdir(parents=True)
        (root / "zarr.json").write_text('{"zarr_format":3,"node_type":"group","attributes":{}}')
        expected = {}
        for dtype, astype in itertools.product(FLOATS + INTEGERS, INTEGERS + FLOATS):
            for number, (scale, offset) in enumerate(PARAMETERS):
                path = f"{dtype}_{astype}_{number}"
                codes = in_range(codes_of(astype, random), dtype, scale, offset)
                codec = codec_of(dtype, astype, scale, offset)
                try:
                    with np.errstate(all="ignore"):
                        decoded = np.asarray(codec.decode(codes)).view(dtype)
                except OverflowError:
                    continue
                plain = plain_decode(codes, dtype, astype, scale, offset)
                values = decoded if exact or plain is None else plain
                fill = surviving_fill(codes, values, dtype, scale, offset, exact)
                if fill is None:
                    continue
                write_array(root / path, dtype, astype, scale, offset, fill, codes)
                expected[path] = (codes, decoded, plain)
        flags = ["--skip-impossible", *(["--exact"] if exact else [])]
        code, plan, messages = zarrpack.migrate(root, *flags)
        if not plan:
            report.check("the plan of the pairs", require_equal, "the exit code", 0, f"{code}: {messages}")
            continue
        impossible = [array for array in plan["arrays"] if array["action"] == "impossible"]
        name = "exact" if exact else "plain"
        print(f"{name}: {len(expected)} arrays of {len({path[:5] for path in expected})} pairs, {len(impossible)} impossible")
        for array in plan["arrays"]:
            codes, decoded, plain = expected[array["path"]]
            if array["action"] == "impossible":
                print(f"IMPOSSIBLE  {name} {array['path']}: {'; '.join(p['message'] for p in array['problems'])}")
                continue
            check = require_exact if exact else require_plain
            report.check(f"{name} {array['path']}", check, zarrpack, root, array, codes, decoded, plain, reader)


def write_array(
    directory: Path, dtype: str, astype: str, scale: float, offset: float, fill: Any, codes: np.ndarray
) -> None:
    directory.mkdir()
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [len(codes)],
        "data_type": NAMES[dtype],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [max(1, len(codes))]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": [
            {
                "name": "numcodecs.fixedscaleoffset",
                "configuration": {"scale": scale, "offset": offset, "dtype": f"<{dtype}", "astype": f"<{astype}"},
            },
            {"name": "bytes", "configuration": {"endian": "little"}},
        ],
        "attributes": {},
    }
    (directory / "zarr.json").write_text(json.dumps(document))
    (directory / "c").mkdir()
    (directory / "c" / "0").write_bytes(codes.astype(f"<{astype}").tobytes())


def require_exact(
    zarrpack: Zarrpack,
    root: Path,
    array: dict[str, Any],
    _codes: np.ndarray,
    decoded: np.ndarray,
    _plain: np.ndarray | None,
    reader: bool,
) -> None:
    require_equal("the verdict", "identical", array["decode"]["verdict"])
    require_same_values(decoded, zarrpack.read(root, array["path"]))
    if reader and opens(array, "zarr-python"):
        require_same_values(decoded, read_zarr(root, array["path"]))


def require_plain(
    zarrpack: Zarrpack,
    root: Path,
    array: dict[str, Any],
    codes: np.ndarray,
    decoded: np.ndarray,
    plain: np.ndarray | None,
    reader: bool,
) -> None:
    found = zarrpack.read(root, array["path"])
    if plain is not None:
        require_same_values(plain, found)
        decode = array["decode"]
        if decode["proof"] in ("all-codes", "data", "used-codes") and decode["compared"] == len(codes):
            # The number of codes, or of elements, that NumPy finds to differ.
            require_equal("the number that differ", int((~same(decoded, plain)).sum()), decode["differing"])
        elif decode["verdict"] == "identical":
            require_same_values(decoded, plain)
    elif array["decode"]["verdict"] == "identical":
        require_same_values(decoded, found)
    if reader and opens(array, "zarr-python"):
        require_same_values(found, read_zarr(root, array["path"]))


# Inputs


def v2(
    store: Path,
    stored: np.ndarray,
    dtype: str,
    filters: list[dict[str, Any]],
    *,
    shape: list[int] | None = None,
    chunks: list[int] | None = None,
    fill: Any = 0.0,
    order: str = "C",
    separator: str | None = None,
    key: str | None = None,
    attributes: str | None = None,
) -> None:
    """An array of Zarr v2 with one chunk that holds `stored`, bytes as they are."""
    store.mkdir(parents=True)
    shape = shape or list(stored.shape)
    document = {
        "zarr_format": 2,
        "shape": shape,
        "chunks": chunks or shape,
        "dtype": dtype,
        "order": order,
        "compressor": None,
        "fill_value": fill,
        "filters": filters,
    }
    if separator:
        document["dimension_separator"] = separator
    (store / ".zarray").write_text(json.dumps(document))
    if attributes is not None:
        (store / ".zattrs").write_text(attributes)
    chunk = store / (key or (separator or ".").join("0" for _ in shape))
    chunk.parent.mkdir(parents=True, exist_ok=True)
    chunk.write_bytes(stored.tobytes(order="F" if order == "F" else "C"))


def fso(scale: float, offset: float, dtype: str, astype: str | None = None) -> dict[str, Any]:
    codec = {"id": "fixedscaleoffset", "scale": scale, "offset": offset, "dtype": dtype}
    return codec | ({"astype": astype} if astype else {})


def v3(
    store: Path,
    data_type: str,
    fill: Any,
    configuration: dict[str, Any],
    chunks: dict[str, np.ndarray],
    shape: list[int],
    chunk_shape: list[int],
) -> None:
    """An array of Zarr v3 with the legacy codec and these chunks of codes."""
    store.mkdir(parents=True)
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk_shape}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": fill,
        "codecs": [
            {"name": "numcodecs.fixedscaleoffset", "configuration": configuration},
            {"name": "bytes", "configuration": {"endian": "little"}},
        ],
    }
    (store / "zarr.json").write_text(json.dumps(document))
    for key, codes in chunks.items():
        (store / "c" / key).parent.mkdir(parents=True, exist_ok=True)
        (store / "c" / key).write_bytes(codes.tobytes())


def inputs(zarrpack: Zarrpack, report: Report) -> None:
    folder = zarrpack.folder / "inputs"
    ramp = np.arange(10, 10 + 24, dtype="<i2")

    def expect(name: str, make: Any, *flags: str, refused: bool = False, values: Any = None) -> None:
        store = folder / name.replace(" ", "-")
        make(store)
        report.check(name, require_migrated, zarrpack, store, flags, refused, values)

    expect(
        "big-endian astype on a little-endian array",
        lambda store: v2(store, np.array([10, 20, 30, 40], ">i2"), "<f4", [fso(10, 0, "<f4", ">i2")]),
        values=np.array([1, 2, 3, 4], "f4"),
    )
    expect(
        "two-byte astype on a one-byte type",
        lambda store: v2(store, np.array([0, 10, 20, 250], "<i2"), "|u1", [fso(10, 0, "|u1", "<i2")], fill=0),
        values=np.array([0, 1, 2, 25], "u1"),
    )
    expect(
        "order F in three dimensions",
        lambda store: v2(
            store, ramp.reshape(2, 3, 4), "<f4", [fso(10, 0, "<f4", "<i2")], order="F"
        ),
        values=(ramp.reshape(2, 3, 4) / 10).astype("f4"),
    )
    expect(
        "nested keys and no separator",
        lambda store: v2(store, ramp.reshape(4, 6), "<f4", [fso(10, 0, "<f4", "<i2")], key="0/0"),
        refused=True,
    )
    expect(
        "nested keys with --separator",
        lambda store: v2(store, ramp.reshape(4, 6), "<f4", [fso(10, 0, "<f4", "<i2")], key="0/0"),
        "--separator",
        "/",
        values=(ramp.reshape(4, 6) / 10).astype("f4"),
    )
    expect(
        "a fill of null",
        lambda store: v2(store, ramp, "<f4", [fso(10, 0, "<f4", "<i2")], fill=None),
        values=(ramp / 10).astype("f4"),
    )
    expect(
        "delta after the filter",
        lambda store: v2(
            store,
            np.diff(ramp, prepend=ramp.dtype.type(0)),
            "<f4",
            [fso(10, 0, "<f4", "<i2"), {"id": "delta", "dtype": "<i2", "astype": "<i2"}],
        ),
        values=(ramp / 10).astype("f4"),
    )
    expect(
        "shuffle after the filter",
        lambda store: v2(
            store,
            np.frombuffer(numcodecs.Shuffle(2).encode(ramp.copy()), "u1"),
            "<f4",
            [fso(10, 0, "<f4", "<i2"), {"id": "shuffle", "elementsize": 2}],
            shape=[24],
        ),
        values=(ramp / 10).astype("f4"),
    )
    expect(
        "a bare NaN in the attributes",
        lambda store: v2(
            store, ramp, "<f4", [fso(10, 0, "<f4", "<i2")], attributes='{"missing_value": NaN, "note": "NaN"}'
        ),
        values=(ramp / 10).astype("f4"),
    )

    configuration = {"scale": 10, "offset": 200, "dtype": "<f4", "astype": "|u1"}
    few = {"0": np.array([0, 1, 2, 3], "u1"), "2": np.array([7, 48, 48, 48], "u1")}
    expect(
        "fill 0 with an offset, codes free, chunks missing and partial",
        lambda store: v3(store, "float32", 0.0, configuration, few, [9], [4]),
        values=np.array([200, 200.1, 200.2, 200.3, 0, 0, 0, 0, 200.7], "f4"),
    )
    expect(
        "fill 0 with an offset, all codes in use",
        lambda store: v3(
            store, "float32", 0.0, configuration, {"0": np.arange(256, dtype="u1")}, [512], [256]
        ),
        refused=True,
    )
    expect(
        "fill NaN, codes free",
        lambda store: v3(store, "float32", "NaN", configuration, few, [9], [4]),
        values=np.array([200, 200.1, 200.2, 200.3, *[np.nan] * 4, 200.7], "f4"),
    )
    expect(
        "fill NaN, all codes in use",
        lambda store: v3(
            store, "float32", "NaN", configuration, {"0": np.arange(256, dtype="u1")}, [512], [256]
        ),
        refused=True,
    )
    narrow = {"scale": 1, "offset": 0, "dtype": "<f8", "astype": "<f4"}
    expect(
        "float64 to float32 with a fill that float32 has not",
        lambda store: v3(store, "float64", -9999.9, narrow, {"0": np.array([1, 2, 3, 4], "<f4")}, [8], [4]),
        values=np.array([1, 2, 3, 4, *[-9999.9] * 4], "f8"),
    )
    shifted = {"scale": 1, "offset": 1000, "dtype": "<u2", "astype": "|u1"}
    expect(
        "uint16 with fill 0 below the offset",
        lambda store: v3(store, "uint16", 0, shifted, {"0": np.array([1, 2, 3, 4], "u1")}, [8], [4]),
        refused=True,
    )
    expect(
        "uint16 with fill 0 below the offset, exact",
        lambda store: v3(store, "uint16", 0, shifted, {"0": np.array([1, 2, 3, 4], "u1")}, [8], [4]),
        "--exact",
        values=np.array([1001, 1002, 1003, 1004, 0, 0, 0, 0], "u2"),
    )


def require_migrated(zarrpack: Zarrpack, store: Path, flags: list[str], refused: bool, values: Any) -> None:
    documents, chunks = documents_of(store), chunks_of(store)
    code, plan, messages = zarrpack.migrate(store, *flags)
    require_equal("the chunks", chunks, chunks_of(store))
    if refused:
        require_equal("the exit code", 1, code)
        require_equal("the documents", documents, documents_of(store))
        print(f"REFUSED  {store.name}: {' '.join(messages.split())}")
        return
    if code:
        raise Different(messages)
    require_no_legacy(store)
    require_equal("the verdict", "identical", plan["arrays"][0]["decode"]["verdict"])
    read_everywhere(zarrpack, store, plan["arrays"][0], values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zarrpack")
    parser.add_argument("stores", type=Path, help="testdata/stores")
    parser.add_argument("folder", type=Path, help="an empty folder to work in")
    parser.add_argument("--part", action="append", choices=["reference", "pairs", "inputs"])
    parser.add_argument("--without-reader", action="store_true", help="do not read the pairs with zarr-python too")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    zarrpack = Zarrpack(arguments.zarrpack, arguments.folder)
    report = Report()
    parts = arguments.part or ["reference", "pairs", "inputs"]
    if "reference" in parts:
        reference(zarrpack, report, arguments.stores)
    if "pairs" in parts:
        pairs(zarrpack, report, not arguments.without_reader)
    if "inputs" in parts:
        inputs(zarrpack, report)
    print(f"{report.passed} passed, {report.failed} failed")
    sys.exit(report.failed > 0)


if __name__ == "__main__":
    main()
