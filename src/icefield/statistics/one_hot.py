"""Columns that are one feature: zeros and ones of which no row has two.

Moved one by one they make rows with two levels or none, which ALE does as well: only together are they a feature.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.study import Study
from icefield.data.frame import Column
from icefield.sampling import PREDICTION_ROWS, choose_rows

EXPECTED = 12.0  # rows that would have two of the columns by chance; where none does, they exclude each other
SEPARATORS = re.compile(r"[_=\-.:| \[]+")
UNNAMED = "group"


def one_hot_groups(study: Study) -> dict[str, tuple[Any, ...]]:
    """Columns of the model that look like the levels of one feature: what to call it -> its columns; found once."""
    return study.cache.once("one-hot columns", lambda: _find_groups(study))


def one_hot_group_of(study: Study, columns: Sequence[Any]) -> tuple[str, tuple[Any, ...]] | None:
    """The one-hot group of which these columns are a part; None where they are in none, or are all of it."""
    for name, group in one_hot_groups(study).items():
        if set(columns) & set(group) and not set(group) <= set(columns):
            return name, group
    return None


def _find_groups(study: Study) -> dict[str, tuple[Any, ...]]:
    chosen = choose_rows(None, study.sample.n_rows, study.seed, PREDICTION_ROWS).positions
    table = study.sample.table if chosen is None else study.sample.table.take(np.sort(chosen))
    every = {name: _flag(table.column(name)) for name in study.model.columns}
    flags = {name: inside for name, inside in every.items() if inside is not None}
    groups: dict[str, tuple[Any, ...]] = {}
    used: set[Any] = set()
    for members in _candidates(list(flags)):
        members = [name for name in members if name not in used]
        if len(members) > 1 and _exclusive([flags[name] for name in members]):
            label = _label(members, [*groups, *map(str, study.model.columns)])
            groups[label] = tuple(members)
            used.update(members)
    return groups


def _flag(column: Column) -> NDArray[np.bool_] | None:
    """Where a column of zeros and ones is one; None for any other column, or one that never changes."""
    if column.any_missing or column.kind not in ("boolean", "integer", "float"):
        return None
    values = column.to_float()
    inside = values == 1.0
    if not (inside | (values == 0.0)).all() or inside.all() or not inside.any():
        return None
    return np.asarray(inside)


def _candidates(names: list[Any]) -> list[list[Any]]:
    """Columns that may belong together: those whose names begin alike, then neighbours."""
    begin: dict[str, list[Any]] = {}
    for name in names:
        parts = SEPARATORS.split(str(name)) if isinstance(name, str) else []
        for end in range(len(parts) - 1, 0, -1):
            begin.setdefault("_".join(parts[:end]), []).append(name)
    alike = sorted((g for g in begin.values() if len(g) > 1), key=len, reverse=True)
    near = names if len(names) <= 40 else []
    return [*alike, *(near[i:j] for i in range(len(near)) for j in range(len(near), i + 1, -1))]


def _exclusive(flags: Sequence[NDArray[np.bool_]]) -> bool:
    """Whether every row has exactly one, or no row two although chance would give some."""
    count = np.sum(flags, axis=0)
    if (count == 1).all():
        return True
    if count.max() > 1:
        return False
    share = np.array([flag.mean() for flag in flags])
    pairs = len(count) * (share.sum() ** 2 - np.square(share).sum()) / 2
    return len(flags) > 2 and bool(pairs >= EXPECTED)


def _label(members: Sequence[Any], taken: Sequence[str]) -> str:
    """A name for a group of columns: the words that all their names share, or one that is not taken."""
    if all(isinstance(name, str) for name in members):
        parts = [SEPARATORS.split(name) for name in members]
        label = "_".join(words[0] for words in zip(*parts) if len(set(words)) == 1)
        if label and label not in taken:
            return label
    labels = (f"{UNNAMED}{number}" if number > 1 else UNNAMED for number in count(1))
    return next(label for label in labels if label not in taken)
