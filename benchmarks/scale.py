"""Beyond memory: every feature's exact partial dependence over generated Parquet, streamed.

Each piece of work runs in a process of its own, so that its peak memory is its own: merely decoding the columns, one
streamed `predict` pass, and all-feature exact PD with grids (`Explainer(model, folder).effects()`). The goal is
1.5 times the decoding or 0.15 of the predict pass, whichever is larger, within 1 GB.

Sizes are rows in millions: ``ICEFIELD_SCALE=1,20 python -m benchmarks scale``; by default 1, 3, 10, 30 and 100, as far
as the disk has room. Files lie in a temporary folder (``TMPDIR``) and are deleted at the end. With
``ICEFIELD_SCALE_PICTURE=path.png`` the figures are drawn as well.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, TREES, ROWS_A_FILE = 20, 100, 1_000_000
SIZES = (1, 3, 10, 30, 100)
MOST_PREDICTED = 3  # million rows; a predict pass over more takes as much longer
BYTES_A_ROW = 5 * COLUMNS
SPARED = 4 * 2**30  # of the disk
BATCH = 131_072
NAMES = [f"x{i}" for i in range(COLUMNS)]


def rows(number: int) -> Any:
    """One file's rows: normal, uniform, skewed and whole numbers, some missing."""
    import pyarrow as pa

    rng = np.random.default_rng(number)
    values = {name: rng.standard_normal(ROWS_A_FILE, np.float32) for name in NAMES[:10]}
    values |= {name: rng.random(ROWS_A_FILE, np.float32) for name in NAMES[10:14]}
    values |= {name: np.exp(rng.standard_normal(ROWS_A_FILE, np.float32)) for name in NAMES[14:17]}
    values |= {name: rng.integers(0, 50, ROWS_A_FILE, np.int16) for name in NAMES[17:]}
    values[NAMES[0]][::10] = np.nan
    return pa.table(values)


def fitted(folder: Path) -> Path:
    import lightgbm as lgb

    few = rows(0).slice(0, 50_000).to_pandas()
    y = few.x0.fillna(0) + few.x1 * few.x2 + np.sin(3 * few.x10) + few.x17 / 10
    y = y + few[NAMES].fillna(0).sum(axis=1) / 20
    model = lgb.LGBMRegressor(n_estimators=TREES, verbose=-1).fit(few, y)
    path = folder / "model.txt"
    model.booster_.save_model(str(path))
    return path


# --- what is measured, each in a process of its own --------------------------------------------------


def batches(folder: str, files: int | None = None) -> Any:
    """Record batches of the first files, or of all."""
    import pyarrow.dataset as ds

    paths = sorted(str(path) for path in Path(folder).iterdir())[:files]
    read = ds.dataset(paths).scanner(columns=NAMES, batch_size=BATCH, batch_readahead=2, fragment_readahead=1)
    return read.to_batches()


def decode(_: str, folder: str) -> int:
    return sum(batch.num_rows for batch in batches(folder))


def predict(model: str, folder: str) -> int:
    import lightgbm as lgb

    booster, count = lgb.Booster(model_file=model), 0
    for batch in batches(folder, MOST_PREDICTED):
        count += len(booster.predict(np.column_stack([column.to_numpy() for column in batch.columns])))
    return count


def effects(model: str, folder: str) -> int:
    import lightgbm as lgb

    from icefield import Explainer

    found = Explainer(lgb.Booster(model_file=model), folder).effects()
    return int(found["x0"].n_rows)


WORK = {"decode": decode, "predict": predict, "effects": effects}


def measured(what: str, model: Path, folder: Path, size: int) -> dict[str, float]:
    """Seconds of one piece of work over all rows, without starting Python, and the peak memory of its process."""
    command = [sys.executable, "-m", "benchmarks.scale", what, str(model), str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    share = found["rows"] / (size * ROWS_A_FILE)
    return {**found, **{name: found[name] / share for name in ("seconds", "processor")}}


def child(what: str, model: str, folder: str) -> None:
    # Starting libraries is nobody's work.
    import lightgbm  # noqa: F401
    import pyarrow.dataset  # noqa: F401

    import icefield  # noqa: F401

    began, busy = time.perf_counter(), time.process_time()
    count = WORK[what](model, folder)
    seconds, processor = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"rows": count, "seconds": seconds, "processor": processor, "peak_mb": peak}))


def sizes() -> list[int]:
    asked = os.environ.get("ICEFIELD_SCALE")
    if asked:
        return sorted(int(size) for size in asked.split(","))
    free = shutil.disk_usage(tempfile.gettempdir()).free - SPARED
    return [size for size in SIZES if size * ROWS_A_FILE * BYTES_A_ROW < free]


def main() -> None:
    import pyarrow.parquet as pq

    known: dict[int, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="icefield-scale-") as scratch:
        model, folder = fitted(Path(scratch)), Path(scratch) / "rows"
        folder.mkdir()
        written = 0
        print(
            f"{COLUMNS} columns, LightGBM {TREES} trees; a predict pass beyond {MOST_PREDICTED} million rows is scaled"
        )
        for size in sizes():
            for number in range(written, size):
                pq.write_table(rows(number), folder / f"{number:04d}.parquet", row_group_size=BATCH)
            written = size
            known[size] = {what: measured(what, model, folder, size) for what in WORK}
            tell(size, known[size])
    if os.environ.get("ICEFIELD_SCALE_PICTURE"):
        draw(known, os.environ["ICEFIELD_SCALE_PICTURE"])


def tell(size: int, found: dict[str, dict[str, float]]) -> None:
    for what, of in found.items():
        print(
            f"{size:>4} million rows  {what:<8} {size * ROWS_A_FILE / of['seconds']:>12,.0f} rows/s {of['seconds']:>8.2f} s, "
            f"{of['processor']:>8.2f} processor s, peak {of['peak_mb']:>5,.0f} MB"
        )
    for unit in ("seconds", "processor"):
        own, decoding, predicting = (found[what][unit] for what in ("effects", "decode", "predict"))
        goal = max(1.5 * decoding, 0.15 * predicting)
        print(
            f"{size:>4} million rows  by {unit:<9}: all-feature PD is {own / decoding:.2f} x decoding, "
            f"{own / predicting:.3f} of a streamed predict, {own / goal:.2f} of the goal",
            flush=True,
        )


def draw(known: dict[int, dict[str, dict[str, float]]], path: str) -> None:
    """Processor seconds and peak memory by the number of rows."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, (time_axes, memory_axes) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    at = list(known)
    for what, label in (
        ("predict", "one streamed predict"),
        ("effects", "all-feature exact PD"),
        ("decode", "decoding alone"),
    ):
        time_axes.plot(at, [known[size][what]["processor"] for size in at], marker="o", label=label)
    goal = [max(1.5 * of["decode"]["processor"], 0.15 * of["predict"]["processor"]) for of in known.values()]
    time_axes.plot(at, goal, "--", color="grey", label="goal")
    time_axes.set(xscale="log", yscale="log", xlabel="million rows of 20 columns", ylabel="processor seconds")
    time_axes.legend(frameon=False)
    memory_axes.plot(at, [known[size]["effects"]["peak_mb"] for size in at], marker="o", color="C1")
    memory_axes.axhline(1024, ls="--", color="grey")
    memory_axes.set(
        xscale="log",
        ylim=(0, 1100),
        xlabel="million rows of 20 columns",
        ylabel="peak memory of all-feature PD, MB",
    )
    for axes in (time_axes, memory_axes):
        axes.set_xticks(at, [str(size) for size in at])
        axes.minorticks_off()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    child(*sys.argv[1:])
