"""Ranks of a stream: sketches whose error is stated and kept, and exact quantiles in another pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from icefield import Explainer, Grid
from icefield.core.rows import GridRequest
from icefield.data.distribution import weighted_quantiles
from icefield.rows import stream, stream_rows
from icefield.rows.column_sketch import ColumnSketch

N = 40_000
SHAPES: dict[str, Callable[[np.random.Generator], Any]] = {
    "normal": lambda rng: rng.normal(size=N),
    "skewed": lambda rng: np.exp(3 * rng.normal(size=N)),
    "both signs, skewed": lambda rng: rng.choice([-1.0, 1.0], N) * np.exp(2 * rng.normal(size=N)),
    "sorted": lambda rng: np.sort(rng.normal(size=N)),
    "a heap at zero": lambda rng: np.where(rng.random(N) < 0.4, 0.0, rng.normal(size=N)),
    "far apart": lambda rng: np.concatenate([rng.normal(size=N // 2), 1e9 + rng.normal(size=N // 2)]),
    "huge": lambda rng: rng.normal(size=N) * 1e300,
    "float32": lambda rng: rng.gamma(0.3, size=N).astype(np.float32),
    "whole": lambda rng: rng.integers(-(2**62), 2**62, N),
    "first one value, then many": lambda rng: np.concatenate([np.zeros(N // 2), rng.normal(size=N // 2)]),
    "missing and infinite": lambda rng: np.where(
        rng.random(N) < 0.1, np.nan, np.where(rng.random(N) < 0.01, np.inf, rng.normal(size=N))
    ),
}


def surveyed(values: Any, weights: Any = None, rows: int = 3_000, resume: bool = False) -> ColumnSketch:
    kind = pa.array(values[:1]).type
    survey = ColumnSketch(kind, points=256, n_cells=2_048)
    for start in range(0, len(values), rows):
        part = slice(start, start + rows)
        survey.add(pa.array(values[part]), None if weights is None else weights[part])
        if resume:
            written, survey = survey.state(), ColumnSketch(kind, points=256, n_cells=2_048)
            survey.restore(written)
    return survey


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_are_off_by_no_more_than_is_said(shape, weighted, rng):
    values = SHAPES[shape](rng)
    weights = rng.integers(0, 5, N) / 2.0 if weighted else None
    survey = surveyed(values, weights)
    shown, stands_for, distinct = survey.values
    assert not distinct
    own = np.ones(N) if weights is None else weights
    finite = np.isfinite(values.astype(np.float64))
    total = own[finite].sum()
    assert np.isclose(stands_for.sum(), total, rtol=1e-12)
    order = np.argsort(values[finite], kind="stable")
    ordered, reached = values[finite][order], np.cumsum(own[finite][order])
    at_most = np.append(0.0, reached)[np.searchsorted(ordered, shown, side="right")]
    below = np.append(0.0, reached)[np.searchsorted(ordered, shown, side="left")]
    said = np.cumsum(stands_for)
    slack = survey.rank_error * total * (1 + 1e-9)
    assert (np.maximum(below - said, said - stands_for - at_most) <= slack).all()
    assert survey.rank_error < 0.02
    assert np.isin(shown, values).all()  # what stands for others has occurred
    assert survey.missing == np.isnan(values.astype(np.float64)).sum() or weighted


@pytest.mark.parametrize("shape", SHAPES)
def test_a_survey_that_is_written_down_goes_on_as_it_was(shape, rng):
    values = SHAPES[shape](rng)
    one, other = surveyed(values, resume=True), surveyed(values)
    assert one.missing == other.missing
    assert np.isclose(one.values[1].sum(), other.values[1].sum())
    assert one.rank_error < 0.02


def test_few_values_are_all_counted(rng):
    values = rng.choice([0.5, 1.5, 7.0, np.nan], N)
    survey = surveyed(values)
    shown, counts, distinct = survey.values
    assert distinct
    assert shown.tolist() == [0.5, 1.5, 7.0]
    assert counts.tolist() == [float((values == v).sum()) for v in shown]
    assert survey.missing == np.isnan(values).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_few_values_are_counted_beside_other_columns(weighted, rng):
    """Columns are counted by the same threads, whose memory they share."""
    many, few = rng.normal(size=N), rng.integers(0, 7, N)
    weights = rng.integers(0, 3, N) / 4.0 if weighted else None
    surveys = [ColumnSketch(pa.array(v[:1]).type, 256, 2_048) for v in (many, few)]
    for start in range(0, N, 4_000):
        for survey, values in zip(surveys, (many, few)):
            own = None if weights is None else weights[start : start + 4_000]
            survey.add(pa.array(values[start : start + 4_000]), own)
    shown, counts, distinct = surveys[1].values
    assert distinct
    assert shown.tolist() == list(range(7))
    assert np.allclose(counts, np.bincount(few, weights), rtol=1e-12)


class Linear:
    def __call__(self, rows: Any) -> Any:
        return rows.column("a").to_numpy() + rows.column("when").cast(pa.int64()).to_numpy() / 1e18


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(stream, "LEAST_ROWS", 1_000)
    monkeypatch.setattr(stream, "MOST_ROWS", 2_000)
    monkeypatch.setattr(stream_rows, "STREAMED_ROWS", 500)


@pytest.mark.parametrize("memory", [2**28, 2**20])
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s not in ("huge", "missing and infinite")])
def test_exact_quantiles_are_those_of_the_table(shape, weights, memory, rng, small, monkeypatch):
    rows = pd.DataFrame({"a": SHAPES[shape](rng), "w": rng.integers(0, 5, N) / 2.0})
    rows["when"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.gamma(1.0, 1e6, N), unit="s")
    whole = pa.Table.from_pandas(rows, preserve_index=False)

    def opened():
        return pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=1_500))

    model = Linear()
    memory_ex, streamed = (
        Explainer(model, whole, weights=weights),
        Explainer(model, opened, weights=weights, memory=memory),
    )
    passes: list[Any] = []
    run = stream_rows.StreamRows._pass
    monkeypatch.setattr(
        stream_rows.StreamRows,
        "_pass",
        lambda self, accumulators, *given: (
            passes.append(accumulators[0].title),
            run(self, accumulators, *given),
        )[1],
    )
    for grid in (
        Grid("quantile", 15, exact=True),
        Grid("uniform", 9, exact=True),
        Grid("quantile", 5, trim=(0.0, 1.0), exact=True),
    ):
        given = {"features": ["a", "when"], "grid": grid}
        mine, theirs = memory_ex.study, streamed.study
        for feature in given["features"]:
            requests = [GridRequest((theirs.feature(name),), grid) for name in given["features"]]
            with theirs.rows.summarise(requests, 2) as pending, pending:
                statistics, _ = pending.result()
            (expected,), _ = mine.rows.statistics.grids((mine.feature(feature),), grid, None)
            (found,), notes = statistics.grids((theirs.feature(feature),), grid, None)
            assert np.array_equal(found, expected), feature
            assert "sketch" not in notes
    if memory == 2**28:
        assert passes.count("finding quantiles") == 3  # one a grid, for both features


def test_a_grid_from_exact_quantiles_has_exact_weights(rng, small):
    rows = pd.DataFrame({"a": rng.normal(size=N), "when": pd.Timestamp("2020-01-01")})
    whole = pa.Table.from_pandas(rows, preserve_index=False)

    def opened():
        return pa.RecordBatchReader.from_batches(whole.schema, whole.to_batches(max_chunksize=1_500))

    asked = {"grid": Grid("quantile", 7, exact=True), "spread": False}
    expected = Explainer(Linear(), whole, row_by_row=True).partial_dependence("a", **asked)
    found = Explainer(Linear(), opened, row_by_row=True).partial_dependence("a", **asked)
    assert np.array_equal(found.grid[0], expected.grid[0])
    assert np.array_equal(found.weight, expected.weight)
    assert np.allclose(found.average, expected.average, rtol=1e-12)
    assert "sketch" not in found.why
    assert (
        "sketch"
        in Explainer(Linear(), opened, row_by_row=True).partial_dependence("a", grid=Grid("quantile", 7)).why
    )


def test_exact_is_true_or_false(complains):
    with complains("exact", "yes", error=TypeError):
        Grid("quantile", exact="yes")


def test_values_between_brackets_are_where_the_sketch_has_them(rng):
    values = rng.normal(size=N)
    survey = surveyed(values)
    from icefield.rows.quantile_refinement import brackets_of
    from icefield.rows.rank_sketch import RankSummary

    shown, weights, _ = survey.values
    probabilities = np.array([0.0, 0.1, 0.5, 1.0])
    for bracket in brackets_of(RankSummary("a", shown, weights, survey.rank_error), probabilities):
        assert bracket.low < bracket.high
    for p, quantile in zip(probabilities, weighted_quantiles(values, probabilities, None)):
        if 0 < p < 1:
            own = brackets_of(RankSummary("a", shown, weights, survey.rank_error), np.array([p]))
            assert own[0].low < quantile <= own[0].high
