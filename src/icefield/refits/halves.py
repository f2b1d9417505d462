"""Random halves of the rows, with the rows of a group, or of a stretch of time, kept together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.rows import Block
from icefield.counts import counted
from icefield.data.columns import ORDERED_KINDS
from icefield.data.groups import clusters_of, column_of
from icefield.errors import InputError, InputTypeError
from icefield.typing import Positions

LEAST_UNITS = 8  # groups, or blocks, since halves are drawn from them
TRIES = 100  # for halves that hold every class


def halves(
    n_rows: int, count: int, seed: int, units: Positions | None = None, classes: NDArray[Any] | None = None
) -> Iterator[tuple[Positions, Positions, int]]:
    """So many random halves: the rows to fit, the rows to evaluate, and a seed for the fit.

    Parameters
    ----------
    n_rows : how many rows there are
    count : how many halves
    seed : which halves, and which seeds
    units : one code per row of rows that stay together, or None
    classes : one class per row, each of which must be among the rows to fit, or None

    Examples
    --------
    >>> fitted, evaluated, _ = next(halves(6, 1, seed=0))
    >>> len(fitted), len(evaluated), sorted([*fitted.tolist(), *evaluated.tolist()])
    (3, 3, [0, 1, 2, 3, 4, 5])
    """
    rng = np.random.default_rng(seed)
    sizes = None if units is None else np.bincount(units)
    wanted = None if classes is None else len(np.unique(classes))
    for _ in range(count):
        for _ in range(TRIES):
            fitted = _half(n_rows, units, sizes, rng)
            if classes is None or len(np.unique(classes[fitted])) == wanted:
                break
        else:
            raise InputError.about("y", "has a class of so few rows that a half may lack it", f"{wanted} classes",
                                "leave out the rows of rare classes, or merge these classes")  # fmt: skip
        yield np.flatnonzero(fitted), np.flatnonzero(~fitted), int(rng.integers(2**31 - 1))


def _half(
    n_rows: int, units: Positions | None, sizes: NDArray[np.intp] | None, rng: np.random.Generator
) -> NDArray[np.bool_]:
    chosen = np.zeros(n_rows, dtype=bool)
    if units is None or sizes is None:
        chosen[rng.permutation(n_rows)[: n_rows // 2]] = True
        return chosen
    order = rng.permutation(len(sizes))
    total = np.cumsum(sizes[order])[:-1]
    taken = order[: 1 + int(np.argmin(np.abs(total - n_rows / 2)))]
    return np.isin(units, taken)


def whole_units(block: Block, groups: Any, time: Any, blocks: int) -> tuple[Positions | None, str]:
    """One code per row of rows that stay together, None where each may go alone, and what they are called.

    `groups` is a column or one label per row, by default the Explainer's clusters; `time` a column or one value per row,
    whose order is cut into this many `blocks`.
    """
    if groups is not None and time is not None:
        raise InputError.about(
            "time", "cannot be given together with groups: halves keep one or the other whole", time
        )
    units: Positions | None
    if time is not None:
        units, kind = _stretches(block, time, blocks), "stretches of time"
    else:
        units = block.clusters if groups is None else clusters_of(groups, block.table, "groups")
        kind = "groups" if groups is not None else "clusters"
    if units is None:
        return None, "rows"
    count = int(units.max()) + 1
    if count < LEAST_UNITS:
        raise InputError.about("groups" if time is None else "blocks", f"must be at least {LEAST_UNITS}, since halves are drawn from them",
                            counted(count), "leave it out where rows are independent")  # fmt: skip
    return units, kind


def _stretches(block: Block, time: Any, blocks: int) -> Positions:
    column = column_of("time", time, block.table)
    if column.kind not in ORDERED_KINDS or column.any_missing:
        problem = "must be numbers or times that have an order, none of them missing"
        raise InputTypeError.about("time", problem, column.kind)
    values = column.values
    order = np.argsort(values, kind="stable")
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order)) * blocks // len(order)
    # Rows of one moment are in one block.
    _, first, moment = np.unique(values, return_index=True, return_inverse=True)
    return np.unique(places[first][moment], return_inverse=True)[1].astype(np.intp)
