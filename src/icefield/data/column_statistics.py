"""Summary statistics of a table's columns: grids, histograms, and how many rows are near each grid point.

Every question needs grid points, how many rows stand nearest to each, and histograms for the
pictures. Asking for all pairs would repeat that for every pair, so it is kept per feature here;
for large data the per-row parts are not kept but recomputed in blocks, so that memory stays bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.data.distribution import Binned, Distribution, Joint, Marginal, binned, joint_of, marginal_of
from icefield.data.features import (
    Feature,
    check_levels,
    feature_column,
    level_counts_near,
    nearest_counts,
    nearest_points,
)
from icefield.data.frame import NUMERIC_KINDS, ORDERED_KINDS, Column, Table
from icefield.data.grid import (
    NO_STEPS,
    Grid,
    Points,
    Steps,
    grid_points,
    is_of_thresholds,
    planned,
    specifications,
    with_missing_last,
    with_steps,
)
from icefield.threads import BackgroundTasks
from icefield.typing import Array, Float, Int32, Int64, Positions

if TYPE_CHECKING:
    from icefield.data.column_summary import ColumnSummary, NeighbourSummaries
    from icefield.data.groups import Groups

BLOCK = 262_144  # rows placed at a time
JOINT_ROWS = 200_000  # joint distributions are of at most this many rows
KEPT_PLACES = 256
WORTH_THREADS = 500_000  # values
FEW_ROWS = 4096  # that are counted as they are placed


Waiting = tuple[Feature, int, list[Any]]  # how many features move with it, and which grids are wanted
Stepping = Mapping[Any, Steps]  # by column
HELD = 2**23  # bytes of columns that wait for the model's thresholds before more are summarised


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column's values over all rows, or weighted values that represent them.

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


@dataclass(frozen=True, eq=False)
class Together:
    """Features whose columns were summarised together, as far as that is possible.

    Attributes
    ----------
    block : the features, and which grids are wanted of them
    plan, counted : the grid that was found, and by their numbers features with rows counted near its points
    summaries, room : what was found and the memory it uses; None where each column has a way of its own
    """

    block: Sequence[Waiting]
    plan: Any = None
    counted: Mapping[int, Feature] = field(default_factory=dict)
    summaries: NeighbourSummaries | None = None
    room: Float | None = None

    @property
    def size(self) -> int:
        """In bytes."""
        return 0 if self.room is None else self.room.nbytes


class SummaryTasks:
    """Columns that threads summarise while the model is read; results are kept until its thresholds are known, as far as memory allows.

    Entered twice, as `BackgroundTasks` are.
    """

    def __init__(
        self, statistics: MemoryStatistics, threads: int, blocks: Sequence[Sequence[Waiting]]
    ) -> None:
        self._statistics = statistics
        self._rooms, self._held = list[Float](), list[Together]()
        self._steps: Stepping = NO_STEPS
        self._told, self._lock = threading.Event(), threading.Lock()
        self._tasks = BackgroundTasks(threads, self._work, blocks)

    def __enter__(self) -> SummaryTasks:
        self._tasks.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._told.set()
        self._tasks.__exit__()
        # Given back at once, and not when somebody looks for cycles.
        self._rooms.clear()
        self._held.clear()

    def __len__(self) -> int:
        return len(self._tasks)

    def tell(self, steps: Stepping) -> None:
        """Where the model moves."""
        if not self._told.is_set():
            self._steps = steps
            self._told.set()

    def results(self) -> Iterator[None]:
        """One of each block of columns, when it is summarised."""
        self.tell(NO_STEPS)
        yield from self._tasks.results()
        self._finish()

    def _work(self, block: Sequence[Waiting]) -> None:
        together = self._statistics.summarise_together(block, self._rooms)
        with self._lock:
            self._held.append(together)
            too_much = sum(one.size for one in self._held) > HELD
        if too_much:
            self._told.wait()
        if self._told.is_set():
            self._finish()

    def _finish(self) -> None:
        while True:
            with self._lock:
                if not self._held:
                    return
                together = self._held.pop()
            self._statistics.summarise(together, self._steps)
            if together.room is not None:
                self._rooms.append(together.room)


class MemoryStatistics:
    """Summary statistics of the columns of one table, with or without weights, each worked out once."""

    def __init__(self, table: Table, weights: Float | None, seed: int) -> None:
        self.table, self.weights, self.seed = table, weights, seed
        self._lock = threading.RLock()
        self._grids: dict[Any, Points] = {}
        self._stepped: dict[Any, Points] = {}
        self._uncounted: dict[Any, tuple[Feature, Array]] = {}
        self._places: dict[Any, Int32] = {}
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

    def summarised(self, sets: Iterable[tuple[Sequence[Feature], Any]], threads: int) -> SummaryTasks | None:
        """The columns of many features summarised side by side, for the grids that will be asked for; None where one by one is as good.

        `sets` are features that move together, and what was passed as their grid. Grids of the model's own thresholds
        wait for the model.
        """  # fmt: skip
        waiting: dict[Any, Waiting] = {}
        for features, asked in sets:
            usual = isinstance(asked, (Grid, int, type(None))) and not isinstance(asked, bool)
            if not usual or is_of_thresholds(asked):
                continue
            plan = planned(asked, len(features))
            for feature in features:
                key = (feature.columns, len(features))
                if (feature.columns, plan, len(features)) not in self._grids:
                    known = waiting.setdefault(key, (feature, len(features), []))[2]
                    if plan not in known:
                        known.append(plan)
        if len(waiting) < 2 or len(waiting) * self.table.n_rows < WORTH_THREADS:
            return None
        return SummaryTasks(self, threads, list(self._blocks(list(waiting.values()), threads)))

    def _blocks(self, waiting: Sequence[Waiting], threads: int) -> Iterator[Sequence[Waiting]]:
        """Features whose columns are summarised together."""
        from icefield.data.column_summary import side_by_side

        for together in side_by_side([_stored(self.column(feature)) for feature, _, _ in waiting], threads):
            yield [waiting[i] for i in together]

    def summarise_together(self, block: Sequence[Waiting], rooms: list[Float]) -> Together:
        """A first summary of some features' columns, together where they are neighbours in a matrix; `rooms` are taken for copies."""
        from icefield.data.column_summary import NeighbourSummaries, can_be_together, places_of

        columns = [self.column(feature) for feature, _, _ in block]
        stored = [_stored(column) for column in columns]
        if self.weights is not None or not can_be_together(stored):
            return Together(block)
        size = (len(columns) + 1) * len(stored[0])
        room = rooms.pop() if rooms else np.empty(size)
        room = room if room.size >= size else np.empty(size)
        _, n_features, (plan, *_) = block[0]
        # What is wanted first of the first is wanted of all, as a rule; the rest finds these values in one piece.
        if (places := places_of(plan, n_features)) is None:
            plan = planned(None, n_features)
            places = places_of(plan, n_features)
        assert places is not None  # of the usual grid there always are
        summaries = NeighbourSummaries(stored, self._rug_rows, places, room)
        counted: dict[int, Feature] = {}
        for i, (feature, n, asked) in enumerate(block):
            known = summaries.column(i, feature.label, columns[i])
            if known is None:
                continue
            columns[i].note_missing(known.missing)
            grid, nearest = known.grid, known.nearest
            if known.missing and plan.missing == "show":
                grid, nearest = with_missing_last(grid), np.append(nearest, float(known.missing))
            with self._lock:
                self._marginals.setdefault((feature.label, feature.columns), known.marginal)
                if n == n_features and plan in asked:
                    points = Points(grid, spaced=plan.kind == "auto")
                    self._grids.setdefault((feature.columns, plan, n), points)
                    if n == 1:
                        self._nearby[feature.columns, grid.tobytes()] = nearest
                        counted |= {i: feature} if points.spaced else {}
        return Together(block, plan, counted, summaries, room)

    def summarise(self, together: Together, steps: Stepping) -> None:
        """What a first summary left: columns of their own ways, each from another summary, and points beside the model's thresholds."""
        kept = None if together.summaries is None else together.summaries.kept
        for i, (feature, n_features, asked) in enumerate(together.block):
            wanted = [g for g in asked if (feature.columns, g, n_features) not in self._grids]
            summary = self._summary_of(feature, None if kept is None else kept[i]) if wanted else None
            for plan in wanted:
                found = self._points(feature, plan, n_features, None, summary)
                if found.spaced and summary is not None and not feature.is_group:
                    self._add_steps(feature, plan, found, summary, steps)
        if together.summaries is not None and steps:
            self._add_steps_together(together, together.summaries, steps)

    def _add_steps(
        self, feature: Feature, plan: Grid, found: Points, summary: ColumnSummary, steps: Stepping
    ) -> None:
        more = with_steps(plan, found, steps.get(feature.columns[0]))
        if more is found:
            return
        counts = nearest_counts(more.values, self.column(feature), summary)
        with self._lock:
            if counts is not None and self._stepped.setdefault((feature.columns, plan), more) is more:
                self._nearby[feature.columns, more.values.tobytes()] = counts

    def _add_steps_together(self, together: Together, summaries: NeighbourSummaries, steps: Stepping) -> None:
        """Points beside thresholds for columns that were summarised together, and how many rows are near each."""
        grids, keys = {}, {}
        for i, feature in together.counted.items():
            key = (feature.columns, together.plan)
            with self._lock:
                if key in self._stepped:
                    continue
                found = self._grids[feature.columns, together.plan, 1]
            more = with_steps(together.plan, found, steps.get(feature.columns[0]))
            if more is not found:
                own = more.values[:-1] if np.isnan(more.values[-1]) else more.values
                grids[i], keys[i] = own, (feature.columns, more.values.tobytes())
            with self._lock:
                self._stepped[key] = more
        if grids:
            for i, counts in summaries.counts_near(grids):
                missing = float(summaries.missing[i])
                shown = missing and together.plan.missing == "show"
                self._nearby[keys[i]] = np.append(counts, missing) if shown else counts

    @cached_property
    def _rug_rows(self) -> Int64:
        from icefield.data.column_summary import rug_rows

        return rug_rows(self.table.n_rows, self.seed)

    @cached_property
    def _joint_rows(self) -> Any:
        """Rows that joint distributions are of."""
        if self.table.n_rows <= JOINT_ROWS:
            return slice(None)
        return np.sort(self._rng.choice(self.table.n_rows, JOINT_ROWS, replace=False))

    @cached_property
    def _order(self) -> Positions:
        """Those rows in a random order."""
        self._joint_rows  # noqa: B018  # which is drawn first, so that both are always the same
        return self._rng.permutation(min(self.table.n_rows, JOINT_ROWS))

    def grids(
        self,
        features: Sequence[Feature],
        asked: Any,
        thresholds: Callable[[Feature], Float] | None,
        steps: Stepping = NO_STEPS,
    ) -> tuple[tuple[Array, ...], str]:
        """The grid of every feature for what was passed as ``grid=``, and notes about them."""
        values, notes = [], []
        for feature, wanted in zip(features, specifications(asked, [f.label for f in features])):
            found = self._grid(feature, wanted, len(features), thresholds, steps)
            values.append(found.values)
            if found.note:
                notes.append(f"{feature.label}: {found.note}")
        return tuple(values), "; ".join(notes)

    def _grid(
        self,
        feature: Feature,
        wanted: Any,
        n_features: int,
        thresholds: Callable[[Feature], Float] | None,
        steps: Stepping,
    ) -> Points:
        own = None if thresholds is None else lambda: thresholds(feature)
        # True is no number of points, though it equals one and would find its grid.
        plan = wanted if isinstance(wanted, bool) else planned(wanted, n_features)
        if not isinstance(plan, Grid):
            column = self.column(feature)
            found = grid_points(wanted, column, n_features, self.weights, own)
            check_levels(feature, column, found.values)
            return found
        found = self._points(feature, plan, n_features, own)
        own_steps = None if feature.is_group else steps.get(feature.columns[0])
        if not found.spaced or own_steps is None:
            return found
        key = (feature.columns, plan)
        with self._lock:
            if key not in self._stepped:
                more = with_steps(plan, found, own_steps)
                if more is not found and self.table.n_rows > FEW_ROWS:
                    self._uncounted[feature.columns, more.values.tobytes()] = feature, more.values
                self._stepped[key] = more
            return self._stepped[key]

    def _points(
        self,
        feature: Feature,
        plan: Grid,
        n_features: int,
        thresholds: Callable[[], Float] | None,
        summary: ColumnSummary | None = None,
    ) -> Points:
        """The grid of a feature before points beside the model's thresholds are added."""
        key = (feature.columns, plan, n_features)
        with self._lock:
            if key in self._grids:
                return self._grids[key]
        column = self.column(feature)
        summary = summary or self._summary_of(feature)  # several columns at once, where threads ask for them
        if summary is not None:
            self._marginal(feature, summary)  # which gathers most of what the grid needs too
        found = grid_points(plan, column, n_features, self.weights, thresholds, summary)
        if summary is not None and n_features == 1 and len(found.values) > 1:
            counts = nearest_counts(found.values, column, summary)
            if counts is not None:
                with self._lock:
                    self._nearby[feature.columns, found.values.tobytes()] = counts
        with self._lock:
            return self._grids.setdefault(key, found)

    def _count_stepped(self) -> None:
        """Count the rows near the points of grids that model's thresholds were added to, neighbouring columns together."""
        from icefield.data.column_summary import counts_near, side_by_side

        waiting, self._uncounted = list(self._uncounted.items()), {}
        if self.weights is not None:
            return
        known = list[tuple[Any, Array, Column]]()
        for key, (feature, values) in waiting:
            column = self.column(feature)
            if values.dtype != object and (column.kind == "float" or not column.any_missing):
                known.append((key, values, column))
        columns = [_as_floats(column.values) for _, _, column in known]
        grids = [v[:-1] if column.any_missing and np.isnan(v[-1]) else v for _, v, column in known]
        for together in side_by_side(columns, 1):
            counted = counts_near([columns[i] for i in together], [grids[i] for i in together])
            for i, counts in zip(together, counted):
                key, values, column = known[i]
                if len(counts) < len(values):
                    counts = np.append(counts, float(np.count_nonzero(column.missing)))
                self._nearby[key] = counts

    def _summary_of(self, feature: Feature, values: Array | None = None) -> ColumnSummary | None:
        """The summary of a column of numbers without weights, from which all that is known of it comes at once.

        `values` are a copy of the column's that is at hand.
        """
        column = self.column(feature)
        if self.weights is not None or column.kind not in NUMERIC_KINDS:
            return None
        from icefield.data.column_summary import ColumnSummary  # which loads the kernels

        if column.kind != "float" and column.any_missing:  # whose values there are some other number
            return None
        summary = ColumnSummary.of(column.values if values is None else values)
        if summary is not None and summary.finite == len(column.values):
            column.note_complete()
        return summary

    def point_weights(
        self, features: Sequence[Feature], grid: Sequence[Array], groups: Groups | None
    ) -> list[Float]:
        """Weight of the data nearest to each grid point: over all rows, then per group."""
        codes, n_groups = (None, 0) if groups is None else (groups.codes, len(groups.labels))
        if len(features) == 1 and codes is None:
            column = self.column(features[0])
            if self.weights is None and column.kind not in ORDERED_KINDS:
                return [level_counts_near(grid[0], column)]
            if (features[0].columns, grid[0].tobytes()) in self._uncounted:
                with self._lock:
                    self._count_stepped()
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
                kept = None if kept is None else kept[known]
                flat_groups = group[known] * size + inside[known]
                sums[1:] += np.bincount(flat_groups, kept, minlength=n_groups * size).reshape(n_groups, size)
        return [s.reshape(shape) for s in sums]

    def _placed(
        self, features: Sequence[Feature], grid: Sequence[Array]
    ) -> Iterator[tuple[slice, list[Int32]]]:
        """Blocks of rows with each row's nearest grid point per feature (-1: none)."""
        n_rows = self.table.n_rows
        if n_rows <= BLOCK:
            yield slice(0, n_rows), [self._place(f, values) for f, values in zip(features, grid)]
            return
        for start in range(0, n_rows, BLOCK):
            rows = slice(start, min(start + BLOCK, n_rows))
            yield rows, [_nearest(self.column(f), values, rows) for f, values in zip(features, grid)]

    def _place(self, feature: Feature, values: Array) -> Int32:
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
        return Distribution(marginals, self._joint(*features) if len(features) == 2 else None)

    def _marginal(self, feature: Feature, summary: ColumnSummary | None = None) -> Marginal:
        key = (feature.label, feature.columns)
        if key not in self._marginals:
            rng = np.random.default_rng(self.seed)
            found = marginal_of(feature.label, self.column(feature), self.weights, rng, summary)
            with self._lock:
                self._marginals.setdefault(key, found)
        return self._marginals[key]

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


def _stored(column: Column) -> Array:
    """Numbers, or the codes of levels: objects are made of these for nobody who can do without."""
    return column.values if column.kind in ORDERED_KINDS else column.stored_codes


def _as_floats(values: Array) -> Array:
    """Numbers as a kernel takes them: floats where they lie, others as float64."""
    return values if values.dtype in (np.float64, np.float32) else values.astype(np.float64)


def _nearest(column: Column, values: Array, rows: slice) -> Int32:
    nearest, has = nearest_points(values, column.part(rows))
    return np.where(has, nearest, -1).astype(np.int32)
