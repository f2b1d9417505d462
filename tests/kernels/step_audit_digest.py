"""What the step audit of this level says of random forests, beside what plain walks over trees say."""

from __future__ import annotations

import hashlib

import numpy as np

from forest_walk import raw
from icefield import kernels
from icefield.core.question import Axis, Resources
from icefield.core.rows import Block
from icefield.core.step_extremes import StepExtremes, extremes_of_curves
from icefield.data.frame import table_of
from icefield.engines.trees import TreesEngine
from icefield.forest import links
from strategies import random_forest

LINKS = {
    "identity": links.identity,
    "logistic": links.logistic,
    "exp": links.exponential,
    "softmax": links.softmax,
}


def audited(seed: int, link: str) -> list[tuple[StepExtremes, StepExtremes]]:
    """Of each axis, what the kernel finds, and what the curves of plain walks are."""
    rng = np.random.default_rng([seed, len(link)])
    rows = int(rng.choice([1, 63, 64, 65, 300]))
    drawn = random_forest(rng, n_columns=4, trees=int(rng.choice([1, 6, 40])), leaves=20, numeric_only=True)
    matrix = drawn.matrix(rng, rows)
    grids = []
    for j in range(4):
        values = drawn.columns[j].values(rng, int(rng.choice([2, 30, 90])))
        known = np.unique(values[~np.isnan(values)])
        grids.append((np.append(known, np.nan) if seed % 2 else known, len(known)))
    axes = [Axis((j,), {j: grid}) for j, (grid, _) in enumerate(grids)]
    outputs = drawn.forest.n_outputs
    engine = TreesEngine(drawn.model(LINKS[link]()), "response", list(range(outputs)))
    walk = engine.step_extremes(axes, [n for _, n in grids], Block(table_of(matrix)), Resources(threads=1))
    assert walk is not None
    parts = list(walk)
    found = []
    for j, (grid, numbers) in enumerate(grids):
        moved = np.repeat(matrix[None], len(grid), axis=0)
        moved[:, :, j] = grid[:, None]
        curves = (
            LINKS[link]().apply(raw(drawn.forest, moved.reshape(-1, 4))).reshape(len(grid), rows, outputs)
        )
        plain = extremes_of_curves(np.ascontiguousarray(curves.transpose(2, 1, 0)), numbers, 0, 1e-12)
        whole = (
            np.concatenate([getattr(part, name)[j] for part in parts], axis=-1)
            for name in ("sizes", "places", "missing")
        )
        found.append((StepExtremes(0, rows, *whole), plain))
    return found


def digest(seeds: int = 6) -> str:
    """The kernel's answers on the raw scale as one text: the same at every level, to the last bit."""
    whole = hashlib.sha256()
    for seed in range(seeds):
        for found, _ in audited(seed, "identity"):
            whole.update(found.sizes.tobytes() + found.places.tobytes() + found.missing.tobytes())
    return f"{kernels.level()} {whole.hexdigest()}"


if __name__ == "__main__":
    print(digest())
