"""How time grows with rows, columns, trees, classes, grid points, levels of categories and missing values: ``python -m benchmarks growth [WHAT ...]``.

Each is doubled four times while the others stay. Processor seconds of all threads, the least of three, all features'
curves from a cold Explainer; a straight line of slope one in the picture is time in proportion. Without `WHAT` all are measured.
Figures are stored in ``growth.json`` beside this file; the picture in the documentation is drawn once all are there.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "growth.png"
STORED = Path(__file__).with_name("growth.json")
FITTED, REPEATS, DOUBLED = 5_000, 3, 4
# Where each of them starts; the others stay at the values of `BESIDE`. Two classes are one sum of trees, three are three.
# Levels are those of a quarter of the columns, missing values so many in a thousand of all; with either, the data is a frame.
STARTS = {
    "rows": 12_500, "columns": 12, "trees": 12, "classes": 3, "grid points": 25, "levels": 8, "missing": 50,
}  # fmt: skip
BESIDE = {
    "rows": 50_000, "columns": 24, "trees": 50, "classes": 2, "grid points": 100, "levels": 0, "missing": 0,
}  # fmt: skip


def _as_frame(X: np.ndarray, levels: int, missing: int) -> Any:
    """A matrix as a frame with missing values and categories, the same rule whichever rows there are."""
    import pandas as pd

    rng, frame = np.random.default_rng(2), pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for i, name in enumerate(frame):
        own = frame[name].to_numpy(copy=True)
        own[rng.random(len(own)) < missing / 1000] = np.nan
        if levels and i % 4 == 3:
            places = np.clip((np.nan_to_num(own) + 3) / 6 * levels, 0, levels - 1)
            codes = np.where(np.isnan(own), -1, places).astype(np.int16)
            frame[name] = pd.Categorical.from_codes(codes, [f"level {k}" for k in range(levels)])
        else:
            frame[name] = own
    return frame


def seconds(
    rows: int, columns: int, trees: int, classes: int, points: int, levels: int, missing: int, scale: str
) -> float:
    """Processor seconds of all curves."""
    from lightgbm import LGBMClassifier

    from icefield import Explainer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, columns))
    fitted = rng.normal(size=(FITTED, columns))
    score = fitted[:, 0] * fitted[:, 1] + fitted.sum(axis=1) / columns**0.5 + rng.normal(size=FITTED)
    y = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    if levels or missing:
        X, fitted = _as_frame(X, levels, missing), _as_frame(fitted, levels, missing)
    model = LGBMClassifier(n_estimators=trees, verbose=-1).fit(fitted, y)
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        Explainer(model, X, scale=scale).effects(grid=points)
        found.append(time.process_time() - began)
    return min(found)


def measured(what: str, scale: str) -> list[tuple[int, float]]:
    """Sizes and seconds as one of them doubles."""
    out = []
    for doubling in range(DOUBLED + 1):
        sizes = BESIDE | {what: STARTS[what] * 2**doubling}
        if what == "columns":
            sizes["rows"] = 20_000
        out.append((sizes[what], seconds(*sizes.values(), scale=scale)))
    return out


def drawn(found: dict[tuple[str, str], list[tuple[int, float]]], path: Path) -> None:
    """A panel for each, both axes logarithmic."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(STARTS), figsize=(17, 2.9), layout="constrained")
    for ax, what in zip(axes, STARTS):
        for (name, scale), line in found.items():
            if name != what:
                continue
            x, y = (np.array(values, float) for values in zip(*line))
            ax.plot(x / x[0], y / y[0], "o-" if scale == "raw" else "s--", label=scale, ms=4)
        ax.plot([1, 2**DOUBLED], [1, 2**DOUBLED], color="0.6", lw=1, label="in proportion")
        ax.set(xscale="log", yscale="log", title=what)
        low, high = ax.get_ylim()
        ax.set_xticks([2**k for k in range(DOUBLED + 1)], [str(2**k) for k in range(DOUBLED + 1)])
        ax.set_yticks([2**k for k in range(7)], [str(2**k) for k in range(7)])
        ax.set_ylim(low, high)
        ax.minorticks_off()
    axes[0].set_ylabel("times the processor time")
    figure.supxlabel("times as many", fontsize="medium")
    axes[0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def main(arguments: list[str] | None = None) -> None:
    given = list(sys.argv[2:] if arguments is None else arguments)
    warnings.simplefilter("ignore")
    stored: dict[str, dict[str, Any]] = json.loads(STORED.read_text()) if STORED.exists() else {}
    for what in given or STARTS:
        for scale in ("raw", "response"):
            line = measured(what, scale)
            steps = " ".join(f"{b / a:5.2f}" for (_, a), (_, b) in pairwise(line))
            print(f"{what:12} {scale:9} {line[0][1]:7.3f} s, then x {steps}", flush=True)
            stored.setdefault(what, {})[scale] = [[size, round(took, 4)] for size, took in line]
            STORED.write_text(json.dumps(stored, indent=1) + "\n")
    if all(what in stored for what in STARTS):
        drawn({(what, scale): own for what in STARTS for scale, own in stored[what].items()}, PICTURE)


if __name__ == "__main__":
    main(sys.argv[1:])
