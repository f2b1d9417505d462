"""Summary statistics of a table's columns: grids, histograms, and how many rows are near each grid point.

Every question needs grid points, how many rows stand nearest to each, and histograms for the
pictures. Asking for all pairs would repeat that for every pair, so it is kept per feature here;
for large data the per-row parts are not kept but recomputed in blocks, so that memory stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.distribution import (
    Binned,
    Distribution,
    Joint,
    Marginal,
    binned,
    joint_of,
    marginal_of,
)
from icefield.data.features import Feature, check_levels, feature_column, nearest_counts, nearest_points
from icefield.data.frame import NUMERIC_KINDS, Column, Table
from icefield.data.grid import Grid, grid_values, is_of_thresholds, specifications
from icefield.threads import BackgroundTasks
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.data.groups import Groups
    from icefield.data.look import Look

BLOCK = 262_144  # rows placed at a time
JOINT_ROWS = 200_000  # joint distributions are of at most this many rows
KEPT_PLACES = 256
WORTH_THREADS = 500_000  # values


_Waiting = tuple[Feature, int, list[Any]]  # how many features move with it, and which grids are wanted


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column that stands for all rows.

    Attributes
    ----------
    column : every row's value, every value that occurs, or values of a quantile sketch
    weights : the weight each value stands for
    rank_error : the largest share of the weight by which a rank may be off
    distinct : whether every value that occurs is there
    """

    column: Column
    weights: Float
    rank_error: float = 0.0
    distinct: bool = True


class MemoryStatistics:
    """Summary statistics of the columns of one table, with or without weights, each worked out once."""

    def __init__(self, table: Table, weights: Float | None, seed: int) -> None:
        self.table, self.weights, self.seed = table, weights, seed
        self._lock = threading.RLock()
        self._grids: dict[Any, tuple[NDArray[Any], str]] = {}
        self._places: dict[Any, NDArray[np.int32]] = {}
        self._nearby: dict[Any, Float] = {}
        self._marginals: dict[Any, Marginal] = {}
        self._joints: dict[Any, Joint] = {}
        self._binned: dict[Any, Binned] = {}
        self._groups: dict[Feature, Column] = {}
        self._rng = np.random.default_rng(seed)

    def column(self, feature: Feature) -> Column:
        """The feature's values; those of a one-hot group are read once."""
        if not feature.is_group:
            return self.table.column(feature.columns[0])
        with self._lock:
            if feature not in self._groups:
                self._groups[feature] = feature_column(feature, self.table)
            return self._groups[feature]

    def values(self, feature: Feature) -> ColumnValues:
        """Every row's value, and its weight."""
        weights = np.ones(self.table.n_rows) if self.weights is None else self.weights
        return ColumnValues(self.column(feature), weights)

    def needs_pass(self, features: Sequence[Feature], asked: Any, groups: Groups | None) -> bool:
        """Never: the rows are here."""
        return False

    def summarised(
        self, sets: Iterable[tuple[Sequence[Feature], Any]], threads: int
    ) -> BackgroundTasks[None] | None:
        """The columns of many features summarised side by side, for the grids that will be asked for; None where one by one is as good.

        `sets` are features that move together, and what was passed as their grid. Grids of the model's own thresholds
        wait for the model.
        """  # fmt: skip
        waiting: dict[Any, _Waiting] = {}
        for features, asked in sets:
            if not (asked is None or isinstance(asked, (Grid, int))) or is_of_thresholds(asked):
                continue
            for feature in features:
                key = (feature.columns, len(features))
                if (feature.columns, asked, len(features)) not in self._grids:
                    known = waiting.setdefault(key, (feature, len(features), []))[2]
                    if asked not in known:
                        known.append(asked)
        if len(waiting) < 2 or len(waiting) * self.table.n_rows < WORTH_THREADS:
            return None
        rooms = list[Float]()
        blocks = list(self._blocks(list(waiting.values()), threads))
        return BackgroundTasks(threads, lambda block: self._summarise(block, rooms), blocks)

    def _blocks(self, waiting: Sequence[_Waiting], threads: int) -> Iterator[Sequence[_Waiting]]:
        """Features whose columns are looked at together."""
        from icefield.data.looks import side_by_side

        for together in side_by_side([self.column(feature).values for feature, _, _ in waiting], threads):
            yield [waiting[i] for i in together]

    def _summarise(self, block: Sequence[_Waiting], rooms: list[Float]) -> None:
        """Several grids of each of some features, from one look at it; `rooms` are taken for copies and given back."""
        from icefield.data.looks import can_look

        columns = [self.column(feature).values for feature, _, _ in block]
        room = kept = None
        if self.weights is None and can_look(columns):
            size = (len(columns) + 1) * len(columns[0])
            room = rooms.pop() if rooms else np.empty(size)
            room = room if room.size >= size else np.empty(size)
            kept = self._know_together(block, room)
        for i, (feature, n_features, asked) in enumerate(block):
            wanted = [g for g in asked if (feature.columns, g, n_features) not in self._grids]
            look = self._look(feature, None if kept is None else kept[i]) if wanted else None
            for one in wanted:
                self._grid(feature, one, n_features, None, look)
        if room is not None:
            rooms.append(room)

    def _know_together(self, block: Sequence[_Waiting], room: Float) -> Float | None:
        """Keep what a look at neighbouring columns tells of them; gives their values, in any order."""
        from icefield.data.together import even_points, known_together, usual_points

        _, n_features, (wanted, *_) = block[0]
        # What is wanted first of the first is wanted of all, as a rule; the rest finds these values in one piece.
        even = even_points(wanted, n_features) or usual_points(n_features)
        named = [(feature.label, self.column(feature)) for feature, _, _ in block]
        found, looks = known_together(named, self._rug_rows, even, room)
        for (feature, n, asked), known in zip(block, found):
            if known is None:
                continue
            self.column(feature).note_complete()
            with self._lock:
                self._marginals.setdefault((feature.label, feature.columns), known.marginal)
                if n == n_features and wanted in asked and even_points(wanted, n) == even:
                    self._grids.setdefault((feature.columns, wanted, n), (known.grid, ""))
                    if n == 1:
                        self._nearby[feature.columns, known.grid.tobytes()] = known.nearest
        return looks.kept

    @cached_property
    def _rug_rows(self) -> NDArray[np.int64]:
        from icefield.data.together import rug_rows

        return rug_rows(self.table.n_rows, self.seed)

    @cached_property
    def _joint_rows(self) -> Any:
        """Rows that joint distributions are of."""
        if self.table.n_rows <= JOINT_ROWS:
            return slice(None)
        return np.sort(self._rng.choice(self.table.n_rows, JOINT_ROWS, replace=False))

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """Those rows in a random order."""
        self._joint_rows  # noqa: B018  # which is drawn first, so that both are always the same
        return self._rng.permutation(min(self.table.n_rows, JOINT_ROWS))

    def grids(
        self, features: Sequence[Feature], asked: Any, thresholds: Callable[[Feature], Float] | None
    ) -> tuple[tuple[NDArray[Any], ...], str]:
        """The grid of every feature for what was passed as ``grid=``, and notes about them."""
        values, notes = [], []
        for feature, wanted in zip(features, specifications(asked, [f.label for f in features])):
            points, note = self._grid(feature, wanted, len(features), thresholds)
            values.append(points)
            if note:
                notes.append(f"{feature.label}: {note}")
        return tuple(values), "; ".join(notes)

    def _grid(
        self,
        feature: Feature,
        wanted: Any,
        n_features: int,
        thresholds: Callable[[Feature], Float] | None,
        look: Look | None = None,
    ) -> tuple[NDArray[Any], str]:
        column = self.column(feature)
        own = None if thresholds is None else lambda: thresholds(feature)
        # True is no number of points, though it equals one and would find its grid.
        if isinstance(wanted, bool) or not (wanted is None or isinstance(wanted, (Grid, int))):
            points, note = grid_values(wanted, column, n_features, self.weights, own)
            check_levels(feature, column, points)
            return points, note
        key = (feature.columns, wanted, n_features)
        with self._lock:
            if key in self._grids:
                return self._grids[key]
        look = look or self._look(feature)  # several columns at once, where threads ask for them
        if look is not None:
            self._describe(feature, look)
        found = grid_values(wanted, column, n_features, self.weights, own, look)
        if look is not None and n_features == 1 and len(found[0]) > 1:
            counts = nearest_counts(found[0], column, look)
            if counts is not None:
                with self._lock:
                    self._nearby[feature.columns, found[0].tobytes()] = counts
        with self._lock:
            return self._grids.setdefault(key, found)

    def _look(self, feature: Feature, values: NDArray[Any] | None = None) -> Look | None:
        """A look at a column of numbers without weights, from which all that is known of it comes at once.

        `values` are a copy of the column's that is at hand.
        """
        column = self.column(feature)
        if self.weights is not None or column.kind not in NUMERIC_KINDS:
            return None
        from icefield.data.look import Look  # which loads the kernels

        if column.kind != "float" and column.any_missing:  # whose values there are some other number
            return None
        look = Look.at(column.values if values is None else values)
        if look is not None and look.finite == len(column.values):
            column.note_complete()
        return look

    def _describe(self, feature: Feature, look: Look) -> None:
        """What pictures need of a column that has just been looked at, which gathers most of what its grid needs too."""
        label = (feature.label, feature.columns)
        if label not in self._marginals:
            marginal = self._summary(feature, look)
            with self._lock:
                self._marginals.setdefault(label, marginal)

    def point_weights(
        self,
        features: Sequence[Feature],
        grid: Sequence[NDArray[Any]],
        groups: Groups | None,
    ) -> list[Float]:
        """Weight of the data nearest to each grid point: over all rows, then per group."""
        codes, n_groups = (None, 0) if groups is None else (groups.codes, len(groups.labels))
        if len(features) == 1 and codes is None:
            looked_up = self._nearby.get((features[0].columns, grid[0].tobytes()))
            if looked_up is not None:
                return [looked_up]
        shape = tuple(len(values) for values in grid)
        size = int(np.prod(shape))
        sums = np.zeros((n_groups + 1, size))
        for rows, places in self._placed(features, grid):
            has = places[0] >= 0
            flat = places[0].astype(np.int64)
            for at, length in zip(places[1:], shape[1:]):
                has &= at >= 0
                flat *= length
                flat += at
            weights = None if self.weights is None else self.weights[rows]
            every = bool(has.all())
            inside = flat if every else flat[has]
            kept = weights if weights is None or every else weights[has]
            sums[0] += np.bincount(inside, kept, minlength=size)
            if codes is not None:
                group = codes[rows] if every else codes[rows][has]
                known = group >= 0
                flat_groups = group[known] * size + inside[known]
                counted = np.bincount(
                    flat_groups, None if kept is None else kept[known], minlength=n_groups * size
                )
                sums[1:] += counted.reshape(n_groups, size)
        return [s.reshape(shape) for s in sums]

    def _placed(
        self, features: Sequence[Feature], grid: Sequence[NDArray[Any]]
    ) -> Iterator[tuple[slice, list[NDArray[np.int32]]]]:
        """Blocks of rows with each row's nearest grid point per feature (-1: none)."""
        n_rows = self.table.n_rows
        if n_rows <= BLOCK:
            yield slice(0, n_rows), [self._place(f, values) for f, values in zip(features, grid)]
            return
        for start in range(0, n_rows, BLOCK):
            rows = slice(start, min(start + BLOCK, n_rows))
            yield rows, [_nearest(self.column(f), values, rows) for f, values in zip(features, grid)]

    def _place(self, feature: Feature, values: NDArray[Any]) -> NDArray[np.int32]:
        content = tuple(values.tolist()) if values.dtype == object else values.tobytes()
        key = (feature.columns, content)
        with self._lock:
            if key not in self._places:
                if len(self._places) >= KEPT_PLACES:
                    self._places.clear()
                self._places[key] = _nearest(self.column(feature), values, slice(None))
            return self._places[key]

    def distribution(self, features: Sequence[Feature]) -> Distribution:
        """What pictures need of the data of one, two or more features."""
        marginals = tuple(self._marginal(f) for f in features)
        if len(features) != 2:
            return Distribution(marginals)
        return Distribution(marginals, self._joint(features[0], features[1]))

    def _marginal(self, feature: Feature) -> Marginal:
        key = (feature.label, feature.columns)
        with self._lock:
            if key not in self._marginals:
                self._marginals[key] = self._summary(feature, None)
            return self._marginals[key]

    def _summary(self, feature: Feature, look: Look | None) -> Marginal:
        rng = np.random.default_rng(self.seed)
        return marginal_of(feature.label, self.column(feature), self.weights, rng, look)

    def _joint(self, first: Feature, second: Feature) -> Joint:
        key = (first.columns, second.columns)
        with self._lock:
            if key not in self._joints:
                self._joints[key] = joint_of(
                    (first.label, second.label),
                    (self._joint_column(first), self._joint_column(second)),
                    (self._bins(first), self._bins(second)),
                    None if self.weights is None else self.weights[self._joint_rows],
                    self._order,
                )
            return self._joints[key]

    def _joint_column(self, feature: Feature) -> Column:
        return self.column(feature).part(self._joint_rows)

    def _bins(self, feature: Feature) -> Binned:
        if feature.columns not in self._binned:
            self._binned[feature.columns] = binned(self._joint_column(feature))
        return self._binned[feature.columns]


def _nearest(column: Column, values: NDArray[Any], rows: slice) -> NDArray[np.int32]:
    nearest, has = nearest_points(values, column.part(rows))
    return np.where(has, nearest, -1).astype(np.int32)
