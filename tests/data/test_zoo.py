"""The frame zoo: every odd column and array is right on every effect, or refused with the library's own error.

"Right" is a plain loop over plain Python values: for each grid value and each row, the same formula that the model
computes from whatever frame it is handed. A model reads its frame with the frame's own library, so a
column that was written back in another type, order or level shows as another number.
"""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sparse
from odd_columns import SPECIMENS, Specimen, Z, encoded

from icefield import Effect, Explainer
from icefield.errors import IcefieldError

ANSWERED = [specimen for specimen in SPECIMENS if not specimen.refused]
REFUSED = [specimen for specimen in SPECIMENS if specimen.refused]


def named(specimens: Sequence[Specimen]) -> Any:
    return pytest.mark.parametrize("specimen", specimens, ids=[s.name for s in specimens])


# --- a model that reads any frame, and the same formula on plain values ------------------------------


def missing(value: Any) -> bool:
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def score(value: Any) -> float:
    """One value as a number, the same for every library's form of it."""
    if missing(value):
        return 2.5
    if isinstance(value, (np.datetime64, dt.date)):
        return since_2020(value) / np.timedelta64(1, "D") / 7.0
    if isinstance(value, (np.timedelta64, dt.timedelta)):
        return float(np.timedelta64(value) / np.timedelta64(1, "h")) / 9.0
    if isinstance(value, (bool, int, float, decimal.Decimal, np.number, np.bool_)):
        number = float(value)
        if np.isinf(number):
            return 9.0 * np.sign(number)
        return number if abs(number) < 1e15 else 3.0 + float(int(value) % 11)
    text = value.decode() if isinstance(value, bytes) else str(value)
    return sum(place * ord(letter) for place, letter in enumerate(text, 3)) % 997 / 100.0


def since_2020(value: Any) -> Any:
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.replace(tzinfo=None)  # what clocks show: a grid is in the column's own zone
    if isinstance(value, pd.Timestamp):
        value = value.to_datetime64()
    return np.datetime64(value).astype("datetime64[ns]") - np.datetime64("2020-01-01", "ns")


def formula(x: Any, z: Any) -> float:
    return score(x) * (1.0 + float(z) / 2.0) + float(z)


def listed(rows: Any, name: str, position: int) -> list[Any]:
    if isinstance(rows, np.ndarray):
        return list(rows[:, position])
    if sparse.issparse(rows):
        return rows.tocsc()[:, [position]].toarray().ravel().tolist()
    column = rows[name]
    return column.to_pylist() if isinstance(rows, pa.Table) else list(column.to_list())


def model(rows: Any) -> np.ndarray:
    zs = [0.0 if isinstance(z, (str, bytes)) else z for z in listed(rows, "z", 1)]
    return np.array([formula(x, z) for x, z in zip(listed(rows, "x", 0), zs)])


class Case:
    """A specimen with its Explainer and what its columns hold."""

    def __init__(self, specimen: Specimen) -> None:
        self.frame = specimen.make()
        self.explainer = Explainer(model, self.frame, engine="brute")
        self.x, self.z = self.explainer.model.columns
        self.values = [None if missing(v) else v for v in specimen.values]
        texts = isinstance(self.frame, np.ndarray) and self.frame.dtype.kind in "UST"
        column = self.explainer.table.column(self.z)
        self.zs = [0.0] * len(Z) if texts else column.to_float().tolist()

    @property
    def finite(self) -> bool:
        """Whether some value has a place on an axis."""
        return any(v is not None and not (isinstance(v, float) and np.isinf(v)) for v in self.values)

    def average(self, point: Any) -> float:
        return float(np.mean([formula(point, z) for z in self.zs]))


def close(found: Any, wanted: Any) -> None:
    # Half and single precision and times in coarse units are exact here; 1e-9 is rounding of the sums.
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def effect_is(case: Case, effect: Effect) -> None:
    close(effect.average[0], [case.average(point) for point in listed_points(effect)])


def listed_points(effect: Effect, axis: int = 0) -> list[Any]:
    return list(effect.grid[axis])


# --- the same on every effect ------------------------------------------------------------------------


@pytest.mark.sampled(3)
@named(ANSWERED)
def test_a_specimen_is_right_on_every_effect(specimen: Specimen) -> None:
    case = Case(specimen)
    explainer, x, z = case.explainer, case.x, case.z
    # Curves.
    curve = explainer.partial_dependence(x)
    effect_is(case, curve)
    shown = {score(v) for v in case.values}
    assert {score(point) for point in listed_points(curve)} <= shown | {score(np.inf), score(-np.inf)}
    rows = [5, 0, 17]
    ice = explainer.ice(x, rows=rows)
    close(ice.individual[0], [[formula(p, case.zs[row]) for p in listed_points(ice)] for row in rows])
    assert [score(v) for v in ice.row_values[x]] == pytest.approx([score(case.values[row]) for row in rows])
    # Two features.
    surface = explainer.partial_dependence(x, z, grid=5)
    others = [0.0 if isinstance(v, (str, bytes)) else v for v in listed_points(surface, 1)]
    close(surface.average[0], [[formula(p, q) for q in others] for p in listed_points(surface)])
    # Tables built from curves.
    found = explainer.importance([x])
    effect_is(case, found.effects[x])
    summary = explainer.summary()
    effect_is(case, summary.effects[x])
    effect_is(case, explainer.regions(x).effect)
    explainer.regions(z)
    friedman(case)
    if case.finite:
        local_effects(case, explainer.ale(x))
        explainer.ale(x, z)
    else:
        with pytest.raises(IcefieldError):
            explainer.ale(x)


def friedman(case: Case) -> None:
    """H of the pair, from averages at all rows' own values."""
    table = np.array([[formula(x, z) for z in case.zs] for x in case.values])
    joint, first, second = np.diagonal(table), table.mean(axis=1), table.mean(axis=0)
    joint, first, second = joint - joint.mean(), first - first.mean(), second - second.mean()
    size = float(np.square(joint).sum())
    wanted = 0.0 if size < 1e-20 else np.sqrt(np.square(joint - first - second).sum() / size)
    pairs = case.explainer.interactions(overall=False).pairs()
    close(pairs["h"], [wanted])


def local_effects(case: Case, effect: Effect) -> None:
    """ALE over the effect's own nodes: changes across each step, accumulated and centred."""
    nodes = listed_points(effect)
    if effect.ordered[0]:
        stand, ends = rows_in_bins(case, effect)
    else:
        stand, ends = rows_at_levels(case, nodes)
    curve = [0.0]
    for step, rows in enumerate(stand):
        changes = [formula(nodes[step + 1], case.zs[r]) - formula(nodes[step], case.zs[r]) for r in rows]
        curve.append(curve[-1] + float(np.mean(changes)))
    centre = np.mean([np.mean([curve[node] for node in own]) for own in ends])
    close(effect.average[0], np.array(curve) - centre)


def rows_in_bins(case: Case, effect: Effect) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    nodes = effect.grid[0]
    values = case.explainer.table.column(case.x).values
    stand: list[list[int]] = [[] for _ in nodes[1:]]
    ends: list[tuple[int, ...]] = []
    for row, value in enumerate(case.values):
        if value is None or (isinstance(value, float) and np.isinf(value)):
            continue
        place = max(0, int(np.searchsorted(nodes, values[row])) - 1)
        if len(nodes) > 1:
            stand[place].append(row)
        ends.append((place, place + 1) if len(nodes) > 1 else (0,))
    return stand, ends


def rows_at_levels(case: Case, nodes: list[Any]) -> tuple[list[list[int]], list[tuple[int, ...]]]:
    place = {score(level): i for i, level in enumerate(nodes)}
    at = [None if v is None else place[score(v)] for v in case.values]
    stand = [[r for r, level in enumerate(at) if level in (step, step + 1)] for step in range(len(nodes) - 1)]
    return stand, [(level,) for level in at if level is not None]


@named(REFUSED)
def test_a_specimen_is_refused_in_the_library_s_own_words(specimen: Specimen) -> None:
    for words in refusals(specimen):
        assert "Hint" in words or "must" in words


def refusals(specimen: Specimen) -> list[str]:
    """What each effect says, or the Explainer where it says so at once."""
    try:
        explainer = Explainer(lambda rows: np.zeros(len(listed(rows, "z", 1))), specimen.make())
    except IcefieldError as error:
        return [str(error)]
    said = []
    for ask in (
        explainer.partial_dependence, explainer.ice, explainer.ale, explainer.regions,
        lambda x: explainer.partial_dependence(x, 1), lambda x: explainer.importance([x]),
        lambda x: explainer.interactions([x, 1]), lambda x: explainer.summary([x]),
    ):  # fmt: skip
        with pytest.raises(IcefieldError) as caught:
            ask(0)
        said.append(str(caught.value))
    return said


def test_the_zoo_is_large() -> None:
    assert len(SPECIMENS) > 150
    assert len({specimen.name for specimen in SPECIMENS}) == len(SPECIMENS)


@named([s for s in ANSWERED if not s.name.startswith("numpy records")])
def test_a_specimen_stays_as_it_was(specimen: Specimen) -> None:
    frame, other = specimen.make(), specimen.make()
    explainer = Explainer(model, frame)
    explainer.partial_dependence(0)
    explainer.partial_dependence(0, grid=list(explainer.partial_dependence(0).grid[0])[:1])
    if isinstance(frame, pd.DataFrame):
        assert frame.dtypes.tolist() == other.dtypes.tolist()
        assert str(frame["x"].tolist()) == str(other["x"].tolist())
    elif isinstance(frame, pl.DataFrame):
        assert frame.schema == other.schema
        assert str(frame["x"].to_list()) == str(other["x"].to_list())
    elif isinstance(frame, (pa.Table, pa.RecordBatch)):
        assert frame.schema == other.schema
        assert str(frame.to_pylist()) == str(other.to_pylist())
    elif isinstance(frame, np.ndarray):
        assert frame.dtype == other.dtype
        assert str(frame.tolist()) == str(other.tolist())
    else:
        assert (sparse.issparse(frame) and (frame != other).nnz == 0) or frame == other


# --- what the zoo was built for ----------------------------------------------------------------------


@pytest.mark.parametrize("where", ["pyarrow", "pandas"])
def test_an_arrow_dictionary_with_repeated_values_does_not_shift_levels(where: str) -> None:
    levels = pa.array(["low", "high", "low", "top"])  # "low" twice, as when levels are lower-cased
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3] * 6), levels)
    table = pa.table({"x": column, "z": Z})
    if where == "pandas":
        series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column])))
        table = pd.DataFrame({"x": series, "z": Z})
    effect = Explainer(model, table).partial_dependence("x")
    assert list(effect.grid[0]) == ["low", "high", "top"]
    close(effect.average[0], [np.mean([formula(v, z) for z in Z]) for v in ("low", "high", "top")])
    assert effect.weight.tolist() == [12.0, 6.0, 6.0]
    assert Explainer(model, table, by="x").partial_dependence("z").groups.keys() == {"low", "high", "top"}


@pytest.mark.parametrize("where", ["pyarrow", "pandas"])
def test_a_null_inside_an_arrow_dictionary_is_missing(where: str) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None] * 6), pa.array(["low", None, "top"]))
    table = pa.table({"x": column, "z": Z})
    if where == "pandas":
        series = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column])))
        table = pd.DataFrame({"x": series, "z": Z})
    effect = Explainer(model, table).partial_dependence("x")
    assert list(effect.grid[0]) == ["low", "top", None]
    assert effect.weight.tolist() == [6.0, 6.0, 12.0]
    assert effect.missing_last == (True,)
    assert effect.distribution.marginals[0].missing == 12.0


def test_a_repeated_dictionary_given_as_groups_is_read_by_value() -> None:
    groups = encoded([0, 1, 2, 3] * 6, ["a", "b", "a", None])
    effect = Explainer(model, pd.DataFrame({"x": Z, "z": Z}), by=groups).partial_dependence("z")
    assert list(effect.groups) == ["a", "b", None]


def test_a_column_of_infinities_has_no_curve_and_says_so() -> None:
    explainer = Explainer(model, pd.DataFrame({"x": [np.inf, -np.inf] * 12, "z": Z}))
    for ask in (explainer.partial_dependence, explainer.ice, explainer.ale, explainer.regions):
        with pytest.raises(IcefieldError, match=r"infinite in every row|no finite value"):
            ask("x")
    close(
        explainer.partial_dependence("x", grid=[np.inf]).average[0],
        [np.mean([formula(np.inf, z) for z in Z])],
    )


def test_ten_thousand_levels() -> None:
    rng = np.random.default_rng(0)
    towns = [f"town {i:05d}" for i in rng.permutation(10_000)] * 2
    frame = pd.DataFrame({"town": pd.Categorical(towns), "z": rng.normal(size=20_000).round(3)})
    size = np.arange(10_000) % 13

    def by_code(rows: Any) -> np.ndarray:
        return size[rows["town"].cat.codes.to_numpy()] * (1.0 + rows["z"].to_numpy())

    explainer = Explainer(by_code, frame, row_by_row=True)
    level = 1.0 + frame["z"].mean()
    effect = explainer.partial_dependence("town", rows=None)
    codes = frame["town"].cat.categories.get_indexer(effect.grid[0])
    np.testing.assert_allclose(effect.average[0], size[codes] * level, atol=1e-9)
    local = explainer.ale("town")
    assert len(local.grid[0]) == 10_000
    assert np.isfinite(local.average).all()
    assert "compared with the 200 most frequent" in local.why
    for ask in (
        lambda: explainer.importance(), lambda: explainer.interactions(rows=50), lambda: explainer.summary(),
        lambda: explainer.regions("z", rows=200), lambda: explainer.partial_dependence("town", "z", rows=200),
    ):  # fmt: skip
        ask()


@pytest.mark.parametrize("grid", [[[2.0]], [np.array([2.0])], [pd.Series([2.0])], [pl.Series([2.0])]])
def test_a_list_of_one_list_is_the_grid_of_one_feature(grid: Any) -> None:
    explainer = Explainer(model, pd.DataFrame({"x": Z, "z": Z}))
    assert explainer.partial_dependence("x", grid=grid).grid[0].tolist() == [2.0]
    assert explainer.partial_dependence("x", "z", grid=[*grid, [1.0]]).grid[0].tolist() == [2.0]


def test_levels_that_are_tuples_stay_levels_in_a_grid() -> None:
    frame = pd.DataFrame({"x": pd.Series([(1, 2), (3, 4)] * 12, dtype=object), "z": Z})
    assert list(Explainer(model, frame).partial_dependence("x", grid=[(3, 4)]).grid[0]) == [(3, 4)]
