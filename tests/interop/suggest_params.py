"""Proposals of `zarrpack suggest-params` held against data, NumPy, and what zarr-python reads.

    suggest_params.py ZARRPACK FOLDER [--values N] [--encoder PROGRAM]

Makes an array of each of several kinds of data in FOLDER, asks zarrpack for parameters, packs the array with them (with `zarrpack
encode --params` where there is such a flag, else with zarr-python), and reads it with zarr-python. Prints a line for each kind
with the figures, one for a whole hierarchy, and exits with 1 if any failed.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BytesCodec, CastValue, ScaleOffset, ZstdCodec

random = np.random.default_rng(20240229)


def smooth(n: int, low: float, high: float, waves: float = 12.0) -> np.ndarray:
    """Values that change slowly, with some noise, from about low to about high."""
    at = np.linspace(0, waves * 2 * np.pi, n)
    wave = np.sin(at) * 0.7 + np.sin(at * 7.3) * 0.2 + random.normal(0, 0.02, n)
    return low + (high - low) * (wave + 1) / 2


def precipitation(n: int) -> np.ndarray:
    amount = random.gamma(0.5, 3e-3, n)
    amount[random.random(n) < 0.8] = 0
    return amount.astype("f4")


def reflectance(n: int) -> np.ndarray:
    values = np.clip(smooth(n, -0.02, 1.05), -0.05, 1.2).astype("f4")
    values[random.random(n) < 0.15] = np.nan
    return values


def unpacked(n: int) -> np.ndarray:
    """What a reader of CF makes of codes, in float32."""
    codes = np.round(smooth(n, -32000, 32000))
    values = (codes * 0.00175132 + 281.33).astype("f4")
    values[random.random(n) < 0.05] = np.nan
    return values


def mostly_nan(n: int) -> np.ndarray:
    values = np.full(n, np.nan, "f4")
    some = random.random(n) < 0.01
    values[some] = random.uniform(0, 40, some.sum())
    return values


# Each kind: values, fill, the error to live with.
KINDS = {
    "kelvin": (lambda n: smooth(n, 220, 310).astype("f4"), np.nan, 0.0025),
    "celsius": (lambda n: smooth(n, -53, 37).astype("f4"), 0.0, 0.005),
    "pressure": (lambda n: smooth(n, 98000, 104000).astype("f4"), np.nan, 0.5),
    "precipitation": (precipitation, 0.0, 1e-6),
    "reflectance": (reflectance, np.nan, 5e-5),
    "elevation": (lambda n: smooth(n, -11000, 8800).astype("f4"), -9999.0, 0.5),
    "wind": (lambda n: smooth(n, -60, 60).astype("f8"), np.nan, 0.01),
    "counts": (lambda n: random.poisson(40, n).astype("f4"), 0.0, 0.0),
    "hundredths": (lambda n: (np.round(smooth(n, -200, 250) * 100) * 0.01).astype("f4"), 0.0, 1e-3),
    "sixteenths": (lambda n: (np.round(smooth(n, -90, 900) * 16) / 16).astype("f4"), np.nan, 1e-6),
    "log-normal": (lambda n: np.clip(np.exp(random.normal(-7, 2.3, n)), 1e-6, 1.0).astype("f8"), np.nan, 1e-6),
    "with-offset": (lambda n: (np.round(smooth(n, 0, 580) * 100) / 100 + 273.15).astype("f4"), np.nan, 0.0),
    "unpacked": (unpacked, np.nan, 0.0),
    "fill-within": (lambda n: np.where(random.random(n) < 0.1, 12.345, smooth(n, -90, 90)).astype("f4"), 12.345, 0.05),
    "constant": (lambda n: np.full(n, 273.15, "f4"), 0.0, 0.01),
    "mostly-nan": (mostly_nan, np.nan, 0.001),
}  # fmt: skip


def write(path: Path, values: np.ndarray, fill: float, chunk: int, **more) -> zarr.Array:
    array = zarr.create_array(
        store=path, shape=values.shape, dtype=values.dtype, chunks=(chunk,), fill_value=fill,
        compressors=[ZstdCodec(level=3)], **more,
    )  # fmt: skip
    array[...] = values
    return array


def run(program: str, *arguments: str, data: str | None = None) -> tuple[int, str, str]:
    done = subprocess.run([program, *arguments], input=data, text=True, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def codec(entry: dict):
    make = {"scale_offset": ScaleOffset, "cast_value": CastValue}[entry["name"]]
    return make(**entry["configuration"])


def pack(program: str, source: Path, packed: Path, plan: dict, values, fill, chunk: int) -> str:
    """Writes the packed array, and says who did."""
    _, helped, _ = run(program, "encode", "--help")
    if "--params" in helped:
        code, _, errors = run(program, "encode", str(source), str(packed), "--params", "-", data=json.dumps(plan))
        if code != 0:
            raise RuntimeError(f"encode: exit code {code}: {errors}")
        return "encode"
    entry = plan["arrays"][0]
    if entry["fill_value"] is not None:
        fill = float(entry["fill_value"])
    write(packed, values, fill, chunk, filters=[codec(c) for c in entry["codecs"]], config={"write_empty_chunks": True})
    return "zarr-python"


def codes(packed: Path, plan: dict) -> np.ndarray:
    """The codes that are stored, read through a document without the packing codecs."""
    bare = packed.with_name(packed.name + ".codes")
    shutil.copytree(packed, bare)
    document = json.loads((bare / "zarr.json").read_text())
    # A chain that scales in float64 has another one before.
    cast = [c for c in document["codecs"] if c["name"] == "cast_value"][-1]
    document["codecs"] = [c for c in document["codecs"] if c["name"] not in ("scale_offset", "cast_value")]
    document["data_type"] = cast["configuration"]["data_type"]
    document["fill_value"] = 0
    document["attributes"] = {}
    (bare / "zarr.json").write_text(json.dumps(document))
    return zarr.open_array(bare, mode="r")[...]


def stored_bytes(store: Path) -> int:
    return sum(f.stat().st_size for f in store.rglob("*") if f.is_file() and f.name != "zarr.json")


def narrower_fits(entry: dict, values: np.ndarray, error: float) -> bool:
    """Whether the bound on the range would let a narrower type hold the values."""
    finite = values[np.isfinite(values)].astype("f8")
    bits = np.dtype(entry["candidates"][0]["data_type"]).itemsize * 8
    if bits == 8:
        return False
    span = finite.max() - finite.min()
    needed = np.floor(span / (2 * error)) + 1 if error > 0 else len(np.unique(finite))
    spare = 1 if np.isnan(values).any() else 0
    return needed + spare <= 2 ** (bits // 2)


def check_kind(program: str, encoder: str, folder: Path, name: str, n: int) -> None:
    make, fill, error = KINDS[name]
    values = make(n)
    chunk = max(n // 16, 1)
    source, packed = folder / f"{name}.zarr", folder / f"{name}.packed.zarr"
    write(source, values, fill, chunk)
    started = time.monotonic()
    code, output, errors = run(program, "suggest-params", str(source), "--max-error", repr(error), "--format", "json")
    seconds = time.monotonic() - started
    if code != 0:
        raise RuntimeError(f"suggest-params: exit code {code}: {errors}")
    plan = json.loads(output)
    entry = plan["arrays"][0]
    best = entry["candidates"][0]
    by = pack(encoder, source, packed, plan, values, fill, chunk)
    back = zarr.open_array(packed, mode="r")[...]
    assert back.dtype == values.dtype
    missing = np.isnan(values)
    assert (np.isnan(back) == missing).all(), "NaN moved"
    worst = np.abs(back[~missing].astype("f8") - values[~missing].astype("f8")).max()
    assert worst <= error, f"off by {worst}, more than {error}"
    assert worst == best["measured"]["max_error"], f"off by {worst}, and {best['measured']['max_error']} was said"
    zeros = values == 0
    assert (back[zeros] == 0).all(), "zero moved"
    raw = codes(packed, plan)
    for sentinel in best["sentinels"]:
        used = raw == sentinel["code"]
        if sentinel["value"] == "NaN":
            assert (used == missing).all(), "the code for NaN stands for something else"
        else:
            assert (values[used] == values.dtype.type(sentinel["value"])).all(), "a sentinel's code is used"
    assert not narrower_fits(entry, values, error), "a narrower type could hold the values"
    written = stored_bytes(packed)
    off = best["stored_bytes"] / written - 1
    assert abs(off) <= 0.1, f"estimated {best['stored_bytes']} bytes, {written} were written"
    print(
        f"PASS  {name:14} {best['data_type']:7} error {worst:.3g} of {error:g}, {best['bits_per_value']:.2f} bits, "
        f"{best['ratio']:.1f}x, size estimate {off:+.2%} ({by}), {values.nbytes / seconds / 1e6:.0f} MB/s",
        flush=True,
    )


def check_hierarchy(program: str, encoder: str, folder: Path, n: int) -> None:
    """Twenty variables and a coordinate, in one pipe."""
    source, packed = folder / "hierarchy.zarr", folder / "hierarchy.packed.zarr"
    root = zarr.open_group(source, mode="w")
    error = 0.005
    for number in range(20):
        values = smooth(n, number - 10, 3 * number + 5).astype("f4")
        values[:: number + 2] = np.nan
        array = root.create_array(f"v{number:02}", shape=n, dtype="f4", chunks=n // 4, fill_value=np.nan)
        array[...] = values
    x = root.create_array("x", shape=n, dtype="f8", chunks=n, dimension_names=["x"])
    x[...] = np.linspace(0, 1, n)
    suggest = [program, "suggest-params", str(source), "--max-error", repr(error), "--format", "json"]
    with subprocess.Popen(suggest, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as plan:
        done = subprocess.run(
            [encoder, "encode", str(source), str(packed), "--params", "-"], stdin=plan.stdout, capture_output=True, text=True
        )
    assert plan.returncode == 0, f"suggest-params: exit code {plan.returncode}"
    assert done.returncode == 0, f"encode: exit code {done.returncode}: {done.stderr}"
    before, after = zarr.open_group(source, mode="r"), zarr.open_group(packed, mode="r")
    worst = 0.0
    for number in range(20):
        values, back = (group[f"v{number:02}"][...].astype("f8") for group in (before, after))
        assert (np.isnan(values) == np.isnan(back)).all(), "NaN moved"
        worst = max(worst, np.nanmax(np.abs(values - back)))
    assert worst <= error, f"off by {worst}"
    assert (after["x"][...] == before["x"][...]).all(), "the coordinate changed"
    print(f"PASS  a hierarchy of 20 variables in one pipe: error {worst:.3g} of {error:g}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("zarrpack")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--values", type=int, default=1 << 18, help="values of each array")
    parser.add_argument("--encoder", help="the program that encodes, if it is another one")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in KINDS:
        try:
            check_kind(arguments.zarrpack, arguments.encoder or arguments.zarrpack, arguments.folder, name, arguments.values)
        except Exception as error:  # whatever goes wrong fails this kind alone
            failed += 1
            print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
    try:
        check_hierarchy(arguments.zarrpack, arguments.encoder or arguments.zarrpack, arguments.folder, arguments.values // 8)
    except Exception as error:
        failed += 1
        print(f"FAIL  a hierarchy of 20 variables in one pipe: {type(error).__name__}: {error}", flush=True)
    print(f"{len(KINDS) + 1 - failed} passed, {failed} failed")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
