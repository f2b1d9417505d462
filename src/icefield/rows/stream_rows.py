"""Rows that are streamed: files, datasets, lazy frames. Curves are added up over every row, pass by pass.

The first pass surveys the columns and draws a seeded sample. What needs rows together (regions, support, kept curves,
quantiles of curves, pairs in pictures) is asked of that sample; its size is part of every sentence that says how an
answer came about.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from icefield import validate
from icefield.core.rows import Accumulator, Block, GridRequest, PendingStatistics, Rows
from icefield.core.weight_totals import WeightTotals
from icefield.counts import counted
from icefield.data.column_statistics import MemoryStatistics
from icefield.data.features import Feature
from icefield.data.frame import Table
from icefield.data.grid import Grid, specifications
from icefield.data.groups import Groups
from icefield.errors import InputError
from icefield.forest import CannotRead
from icefield.models.across_rows import not_row_by_row
from icefield.rows.block_reader import BlockReader, check_some_weight
from icefield.rows.checkpoint import Checkpoint
from icefield.rows.grouping import Grouping
from icefield.rows.passes import run_pass
from icefield.rows.quantile_refinement import exact_summaries
from icefield.rows.rank_sketch import RankSummary
from icefield.rows.stream import Stream
from icefield.rows.stream_statistics import StreamStatistics, SurveyedColumns, is_exact
from icefield.rows.survey import Survey
from icefield.sampling import STREAMED_ROWS
from icefield.threads import available_processors

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.core.engine import Choices
    from icefield.models.model import Model
    from icefield.rows.source import NamedColumns


class StreamRows(Rows):
    """The rows of a stream.

    Parameters
    ----------
    stream : the rows, with all columns that are needed
    model : the model that will be asked about them
    choices : what may be used, and the seed of the sample; for rows elsewhere, the engine too
    beside : columns of the stream that hold targets, weights and groups
    checkpoint : the file in which long passes write their sums; None for none
    """

    resident = False
    _sketching: Mapping[str, int] = {}  # what the first pass remembers of a column, if not the usual

    def __init__(
        self,
        stream: Stream,
        model: Model,
        choices: Choices,
        beside: NamedColumns,
        checkpoint: Path | None = None,
    ) -> None:
        self._stream, self._model, self._choices, self._resources = stream, model, choices, choices.resources
        self._beside, self._weights, self._by = beside, beside.weights, beside.by
        named = [beside.by, beside.weights]
        self._checkpoint = None if checkpoint is None else Checkpoint(checkpoint, stream, model, named)
        self.label = stream.source.label
        self._lock = threading.RLock()
        self._survey_result: Survey | None = None

    def __reduce__(self) -> Any:
        """To another process goes where the rows come from; they are read again there."""
        return self._stream.source.rows, (self._model, self._choices, self._beside, None)

    # --- without a pass ------------------------------------------------------------------------

    @cached_property
    def head(self) -> Table:
        return self._stream.source.table(self._stream.head().arrow)

    @property
    def beside(self) -> list[str]:
        return self._reader.columns

    @property
    def can_count_at_once(self) -> bool:
        return self._survey_result is None and self._weights is None and self._by is None

    def grouped(self, by: Any) -> NoReturn:
        raise InputError.about("by", "in a single call needs the rows in memory, and these are streamed", by,
                               "give it to the Explainer: icefield.Explainer(model, X, by=...)")  # fmt: skip

    def check_choice(self, rows: Any) -> None:
        if not isinstance(rows, (int, np.integer, np.ndarray)):
            raise InputError.about("rows", "must be a number of rows: the rows of a stream have no positions", rows,
                                   "write rows=1000 for a seeded sample")  # fmt: skip

    def check_row_by_row(self, model: Model) -> None:
        if model.across_rows:
            raise not_row_by_row(
                model, "X", "is streamed block by block", self.label,
                "choose rows to ask it about with rows=..., or load the data",
            )  # fmt: skip

    def identity(self) -> Any:
        return self._stream.source.identity()

    def described(self, n_features: int) -> str:
        rows = "?" if self._stream.n_rows is None else counted(self._stream.n_rows)
        return f"{rows} rows x {n_features} features streamed from {self.label}"

    # --- after the first pass ------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        if self._stream.n_rows is None:
            return self.sample.n_rows
        return int(self._stream.n_rows)

    @property
    def said(self) -> str:
        every, sampled = self._stream.n_rows, self.sample.n_rows
        if every is None or every == sampled:
            return f"rows streamed from {self.label}"
        return (
            f"curves over all {counted(every)} rows streamed from {self.label}, what needs rows together over "
            f"a seeded sample of {counted(sampled)}"
        )

    @cached_property
    def sample(self) -> Block:
        table = self._sample_table
        groups, weights, y = self.groups, self._sample_statistics.weights, self._beside.y
        codes, n_groups = (None, 0) if groups is None else (groups.codes, len(groups.labels))
        observed = None if y is None else validate.observed(y, table)
        return Block(table, weights, codes, n_groups, self._copies, y=observed)

    @property
    def groups(self) -> Groups | None:
        return None if self._grouping is None else self._grouping.groups(self._sample_table)

    @property
    def n_groups(self) -> int:
        return 0 if self._grouping is None else len(self._grouping.labels)

    @cached_property
    def statistics(self) -> StreamStatistics:
        return StreamStatistics(self._columns, self._sample_statistics, self._resources.seed)

    @cached_property
    def weight_totals(self) -> WeightTotals | None:
        if self._weights is None:
            return None
        totals = WeightTotals(self.n_groups + 1, self.beside)
        self.fold([totals])
        return totals

    @cached_property
    def _sample_table(self) -> Table:
        """The rows of the sample."""
        rows = self._survey.sample_rows()
        if rows is None:
            raise InputError.about("X", "has no rows", self.label)
        return self._stream.source.table(rows)

    @cached_property
    def _sample_statistics(self) -> MemoryStatistics:
        weights = None
        if self._weights is not None:
            check_some_weight(self._survey.largest_weight)
            weights = validate.weights(self._weights, self._sample_table)
        return MemoryStatistics(self._sample_table, weights, self._resources.seed)

    @cached_property
    def _columns(self) -> SurveyedColumns:
        return SurveyedColumns(self._stream, self._survey, self._sample_statistics)

    @cached_property
    def _grouping(self) -> Grouping | None:
        return None if self._by is None else Grouping.of(self._by, *self._columns.of_column(self._by))

    @property
    def _copies(self) -> bool:
        return self._weights is None or self._survey.copies

    @cached_property
    def _reader(self) -> BlockReader:
        return BlockReader(self._weights, self._grouping, self._copies)

    # --- passes --------------------------------------------------------------------------------

    def fold(self, accumulators: Sequence[Accumulator]) -> None:
        self._pass(accumulators, self._reader)

    def _pass(self, accumulators: Sequence[Accumulator], reader: BlockReader) -> None:
        run_pass(self._stream, reader, accumulators, self._threads, self._checkpoint)

    @property
    def _threads(self) -> int:
        return self._resources.threads or available_processors()

    @property
    def _survey(self) -> Survey:
        """The result of the first pass, which is made when this is first read."""
        with self._lock:
            return self._first_pass([]) if self._survey_result is None else self._survey_result

    def _first_pass(self, also: Sequence[Accumulator]) -> Survey:
        schema = self._stream.source.schema
        named = dict.fromkeys([*self._model.columns, *([] if self._by is None else [self._by])])
        row_bytes = max(1, self.head.row_bytes)
        rows = int(np.clip(self._resources.memory // 8 // row_bytes, 1, STREAMED_ROWS))
        survey = Survey(
            {name: schema.field(name).type for name in named},
            rows, self._weights, self._resources.seed, self._resources.memory, **self._sketching,
        )  # fmt: skip
        self._pass([survey, *also], BlockReader(self._weights))
        self._survey_result = survey
        return survey

    def summarise(self, requests: Iterable[GridRequest], threads: int) -> PendingStatistics:
        return _FirstPass(self, list(requests))

    def survey_with(self, also: Sequence[Accumulator]) -> bool:
        """Make the first pass, if it was not made yet, and take accumulators along; whether these have seen every row."""
        with self._lock:
            if self._survey_result is not None:
                return False
            try:
                self._first_pass(also)
            except CannotRead:  # the engine does not know a value among the rows: counts are asked for again
                self._first_pass([])
                return False
            return bool(also)

    def refine(self, requests: Sequence[GridRequest]) -> None:
        """Find the exact quantiles that grids ask for, of all features together."""
        requested: dict[Any, tuple[Feature, int, Grid, RankSummary]] = {}
        for request in requests:
            if not any(map(is_exact, _grids_in(request.grid))):
                continue
            features = request.features
            for feature, grid in zip(features, specifications(request.grid, [f.label for f in features])):
                if self.statistics.lacks_exact(feature, len(features), grid):
                    sketch = self._columns.sketched(feature.columns[0])
                    if sketch is not None:
                        requested[feature.label] = (feature, len(features), grid, sketch)
        if not requested:
            return
        probabilities = [(sketch, grid.probabilities(n)) for _, n, grid, sketch in requested.values()]
        beside = [] if self._weights is None else [self._weights]
        summaries = exact_summaries(
            probabilities, beside, self.n_rows, self._resources.memory, lambda item: self.fold([item])
        )
        for (feature, n_features, grid, _), (values, weights) in zip(requested.values(), summaries):
            exact = self._columns.exact(feature.columns[0], values, weights)
            self.statistics.keep_exact(feature, n_features, grid, exact)


class _FirstPass(PendingStatistics):
    """Statistics of a stream: the first pass, and those that exact quantiles need."""

    def __init__(self, rows: StreamRows, requests: Sequence[GridRequest]) -> None:
        self._rows, self._requests = rows, requests

    def result(self, also: Sequence[Accumulator] = ()) -> tuple[StreamStatistics, bool]:
        is_counted = self._rows.survey_with(also)
        self._rows.refine(self._requests)
        return self._rows.statistics, is_counted


def _grids_in(grid: Any) -> Iterable[Any]:
    """The grids that were passed as ``grid=``, one or several."""
    if isinstance(grid, dict):
        return grid.values()
    return grid if isinstance(grid, (list, tuple)) else [grid]
