"""Trees that are trees: whether the links between a model's nodes can be followed without harm.

Libraries follow the links in their files without looking: a child outside the tree is wild memory, a
circle never ends. What any library's trees have in common is checked here, once.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.libraries.native_files import LoadError

Links = tuple[NDArray[Any], NDArray[Any], int, NDArray[Any], int]
"""One tree, as `tree_problem` takes it."""


def check_links(trees: Iterable[Links]) -> None:
    """Raise for the first tree whose links do not form a tree."""
    for number, tree in enumerate(trees):
        problem = tree_problem(*tree)
        if problem:
            raise LoadError(f"tree {number}: {problem}")


def tree_problem(
    left: NDArray[Any], right: NDArray[Any], leaves_below: int, columns: NDArray[Any], n_columns: int
) -> str:
    """Why links do not form one tree from node 0, or an empty text.

    `leaves_below` is the number of leaves when they are negative numbers, 0 when they are nodes with
    both children -1; `columns` are those that nodes split on.

    Examples
    --------
    >>> tree_problem(np.array([1, -1, -1]), np.array([2, -1, -1]), 0, np.array([0, 0, 0]), 1)
    ''
    >>> tree_problem(np.array([1, 0]), np.array([-1, -2]), 2, np.array([0, 0]), 1)
    'a node has two parents, or is its own ancestor'
    """
    if not left.shape == right.shape == columns.shape or left.ndim != 1 or not len(left):
        return "its lists of nodes differ in length"
    if ((columns < 0) | (columns >= n_columns)).any():
        return "a node splits on a column or set that is not there"
    children = np.concatenate([left, right])
    if ((children < -(leaves_below or 1)) | (children >= len(left))).any():
        return "a child lies outside the tree"
    if not leaves_below and ((left == -1) != (right == -1)).any():
        return "a node has one child"
    parents = np.bincount(children[children >= 0], minlength=len(left))
    if parents[0] != 0 or (parents[1:] > 1).any():
        return "a node has two parents, or is its own ancestor"
    # One parent each, yet not below the root: such nodes form a circle.
    n_below, frontier = 1, np.array([0])
    while len(frontier):
        below = np.concatenate([left[frontier], right[frontier]])
        frontier = below[below >= 0]
        n_below += len(frontier)
    return "some nodes form a circle" if n_below < 1 + int((parents[1:] == 1).sum()) else ""


def check_finite(values: Any, what: str) -> None:
    """Raise where numbers that a model adds up are not all finite."""
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise LoadError(f"{what} holds {numbers[~np.isfinite(numbers)].flat[0]}, which is no finite number")


def check_count(values: Any, count: int, what: str) -> None:
    """Raise where a list is not as long as another part of the file says."""
    if len(values) != count:
        raise LoadError(f"{what} has {len(values)} entries where {count} belong")


def check_steps(bounds: NDArray[np.int64], last: int, what: str, through: str) -> None:
    """Raise where the offsets at which parts of a list begin do not ascend from 0 to `last`."""
    if len(bounds) and (bounds[0] != 0 or (np.diff(bounds) < 0).any() or bounds[-1] != last):
        raise LoadError(f"{what} do not follow each other through {through}")


def check_within(values: Any, below: int, what: str) -> None:
    """Raise where indices are not whole numbers from 0 to below a limit."""
    numbers = np.asarray(values)
    if numbers.size and (numbers.dtype.kind not in "iu" or (numbers < 0).any() or (numbers >= below).any()):
        raise LoadError(f"{what} points outside of what it counts")


def trial_rows(columns: int, rows: int = 128) -> NDArray[np.float64]:
    """Rows of all kinds of numbers, on which a loaded model is tested in a child process."""
    rng = np.random.default_rng(0)
    kinds = [
        rng.normal(size=(rows, columns)),
        rng.normal(0, 1e3, (rows, columns)),
        rng.integers(-2, 70, (rows, columns)).astype(float),
    ]
    kinds += [np.full((rows, columns), value) for value in (np.nan, 1e30, -1e30, 2.0**31)]
    return np.choose(
        rng.choice(len(kinds), (rows, columns), p=[0.3, 0.2, 0.3, 0.08, 0.04, 0.04, 0.04]), kinds
    )


def try_rows(answer: Callable[[Any], Any], rows: Any) -> None:
    """Have a model predict rows, which may crash the process; its errors and warnings are ignored."""
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        answer(rows)
