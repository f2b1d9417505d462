"""The contract without an engine: partitions of a table, worked on as workers do, delivered as clusters may."""

from __future__ import annotations

import base64
import datetime as dt
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import ClusterError, Explainer, Grid, InputError
from icefield.cli.shell_errors import for_shell
from icefield.errors import ErrorMessage, IcefieldError
from icefield.forest import CannotRead
from icefield.rows.distributed import ray as ray_dataset
from icefield.rows.distributed import spark as spark_frame
from icefield.rows.distributed import worker
from icefield.rows.distributed.backend import Backend, Census, tasks_for
from icefield.rows.distributed.broadcast import versions_of
from icefield.rows.distributed.dask import _task_ranges
from icefield.rows.distributed.partition_result import (
    KINDS,
    Failure,
    Outcome,
    check_parts,
    in_smallest_type,
    without_duplicates,
)
from icefield.rows.distributed.polling import Heartbeat, wait_for
from rows.distributed.agreement import MODELS, agree, agree_all, changes_agree
from rows.rows import FEATURES, GRID, NUMBERS, booster, table

try:
    import cloudpickle
except ImportError:  # older versions of joblib bring their own
    from joblib.externals import cloudpickle


class Parts(Backend):
    """A table in parts, each worked on from its pickled plan; `deliver` does with the outcomes what a cluster may do."""

    label = "the parts"

    def __init__(self, rows: pd.DataFrame, cuts: Any, deliver: Any = list, merged_by: int = 0) -> None:
        self.parts = [table(rows[a:b]) for a, b in zip([0, *cuts], [*cuts, len(rows)])]
        self._whole = table(rows)
        self._deliver, self._merged_by = deliver, merged_by
        self.sent: list[int] = []
        self.largest: list[int] = []  # what a partition gave back, by pass
        self.merged: list[int] = []

    @property
    def schema(self) -> Any:
        return self._whole.schema.remove_metadata()

    def first(self, columns: Any, rows: int) -> Any:
        return self._whole.select(list(columns)).slice(0, rows)

    def dumps(self, thing: Any) -> bytes:
        return bytes(cloudpickle.dumps(thing))

    def census(self, columns: Any, listed: Any) -> Census:
        seen = [worker.census_of(part.to_batches(), listed) for part in self.parts]
        levels = {name: list(dict.fromkeys(v for _, own in seen for v in own[name])) for name in listed}
        return Census(tuple(rows for rows, _ in seen), sum(rows for rows, _ in seen), levels)

    def outcomes(self, model: Any, task: Any, columns: Any, progress: Any) -> Any:
        found = [worker.run_partition(model, task, n, part.to_batches()) for n, part in enumerate(self.parts)]
        self.sent = [len(one.to_bytes()) for one in found]
        self.largest.append(max(self.sent))
        size = self._merged_by
        while size > 1 and len(found) > size:
            found = [
                worker.merge_on_worker(model, task, found[at : at + size])
                for at in range(0, len(found), size)
            ]
        self.merged = [len(one.to_bytes()) for one in found]
        return [Outcome.from_bytes(one.to_bytes()) for one in self._deliver(found)]


def test_parts_give_what_the_table_gives(plain, few_rows):
    agree_all(plain, Parts(plain, [100, 1_700, 1_700, 2_999]), few_rows)


@pytest.mark.parametrize("name", MODELS)
def test_changes_and_slopes_of_parts_are_those_of_the_table(name, plain, few_rows):
    with few_rows(300):
        options = {"weights": "w", "by": "side"} if name != "lightgbm classifier" else {}
        changes_agree(
            MODELS[name](plain, NUMBERS), plain, Parts(plain, [100, 1_700, 1_700, 2_999]), **options
        )


@pytest.mark.parametrize("seed", range(6))
def test_any_parts_order_and_merging_give_the_same(seed, data, few_rows):
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, len(data), rng.integers(0, 30))).tolist()
    model = booster(data)
    expected = Explainer(model, table(data)).effects(grid=GRID)
    shuffled = data.sample(frac=1.0, random_state=seed).reset_index(drop=True)

    def shuffle(found: list[Outcome]) -> list[Outcome]:
        return [found[i] for i in rng.permutation(len(found))]

    with few_rows(300):
        found = Explainer(model, Parts(shuffled, cuts, shuffle, merged_by=seed)).effects(grid=GRID)
    for feature in FEATURES:
        assert np.array_equal(found[feature].average, expected[feature].average)
        assert np.array_equal(found[feature].weight, expected[feature].weight)


def test_float_sums_do_not_depend_on_who_was_quickest(data, few_rows):
    model, cuts = booster(data), [700, 1_500, 2_200]
    with few_rows(300):
        one, other = (
            Explainer(model, Parts(data, cuts, deliver)).partial_dependence("x0", grid=GRID["x0"])
            for deliver in (list, lambda found: found[::-1])
        )
    assert np.array_equal(one.average, other.average)
    assert np.array_equal(one.std, other.std)


def test_a_partition_that_comes_twice_counts_once(plain):
    twice = Parts(plain, [1_000, 2_000], lambda found: [*found, found[1]])
    agree(booster(plain, NUMBERS), plain, twice, ["effects", "one-way, with spread", "ale"])


def test_a_partition_that_does_not_come_back_is_named(plain):
    lost = Parts(plain, [1_000, 2_000], lambda found: [found[0], found[2]])
    with pytest.raises(ClusterError, match="Partition 1 of the parts, of 1000 rows, did not come back"):
        Explainer(booster(plain, NUMBERS), lost).effects()


def test_a_partition_within_two_merged_ones_is_refused():
    with pytest.raises(ClusterError, match="Partition 1 came back twice"):
        without_duplicates([Outcome({0: 5, 1: 5}), Outcome({1: 5, 2: 5})])


def test_other_rows_than_before_are_refused():
    assert check_parts({0: 2, 1: 3}, (2, 3), 5, "X") == 5
    with pytest.raises(ClusterError, match="4 rows in this pass and 5 before, partition 1 2 instead of 3"):
        check_parts({0: 2, 1: 2}, (2, 3), 5, "X")


def test_the_sample_depends_on_places_alone(data, few_rows):
    model = booster(data)
    with few_rows(300):
        drawn = [
            Explainer(model, Parts(data, cuts)).table.column("x0").values
            for cuts in ([], [7, 2_000], [1_500])
        ]
    assert len(drawn[0]) == 300
    assert all(np.array_equal(drawn[0], other) for other in drawn)


@pytest.mark.parametrize("parts", [1, 5, 40])
def test_ranks_are_off_by_no_more_than_is_said(parts):
    rng = np.random.default_rng(parts)
    rows = pd.DataFrame({"x0": rng.lognormal(size=60_000), "x2": rng.normal(size=60_000)})
    rows["y"] = rows.x0
    model = booster(rows, ["x0", "x2"])
    cuts = np.linspace(0, len(rows), parts + 1)[1:-1].astype(int).tolist()
    explainer = Explainer(model, Parts(rows, cuts))
    explainer.effects(["x0", "x2"])
    for name in ("x0", "x2"):
        summary = explainer.study.rows._columns._of_sketch(name)
        assert 0 < summary.rank_error < 0.002
        ordered, weights = np.asarray(summary.column.values), summary.weights
        reached = np.cumsum(weights) / weights.sum()
        true = np.searchsorted(np.sort(rows[name].to_numpy()), ordered, side="right") / len(rows)
        assert np.abs(reached - true).max() <= summary.rank_error + 1.0 / len(rows)


def test_what_comes_back_of_a_later_pass_is_a_few_kilobytes(data, few_rows):
    there = Parts(data, [1_000, 2_000])
    with few_rows(300):
        explainer = Explainer(booster(data), there)
        explainer.effects(["x0", "k"], grid={"x0": GRID["x0"], "k": GRID["k"]})
        explainer.partial_dependence("x2", grid=GRID["x2"])
    assert max(there.sent) < 8_192


def test_the_first_pass_of_many_columns_travels_lightly_however_often_it_is_merged():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(12_000, 60)), columns=[f"x{i}" for i in range(60)])
    rows["y"] = rows.x0 + rows.x1
    there = Parts(rows, np.arange(200, 12_000, 200).tolist(), merged_by=4)
    explainer = Explainer(booster(rows, list(rows.columns[:60])), there, memory=64_000_000)
    assert explainer.study.rows.sample.n_rows == 12_000
    assert max(there.sent) < 2**20
    assert max(there.merged) < 4 * 2**20
    sketched = [explainer.study.rows._columns._of_sketch(f"x{i}") for i in range(0, 60, 9)]
    assert max(one.rank_error for one in sketched) < 0.01


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0], [1.0, 255.0], [1.0, 256.0], [-3.0, 2.0], [0.5, 1.0], [0.1, 1.0], [np.nan, 1.0], [np.inf, -np.inf, 2.0**70], [2.0**53, 1.0],
        [2**63 - 1, -1], [2**32, 0], [2**40 + 1, 3], [True, False], [1e-320, 1.0], [3.4e38, 1e39],
    ],
)  # fmt: skip
def test_values_are_the_same_to_the_bit_in_fewer_bytes(values):
    array = np.array(values)
    small = in_smallest_type(array)
    assert small.nbytes <= array.nbytes
    back = small.astype(array.dtype)
    assert back.tobytes() == array.tobytes() or np.isnan(array).any()
    assert np.array_equal(back, array, equal_nan=array.dtype.kind == "f")
    given = Outcome({0: 1}, [{"a": array}])
    for found in (Outcome.from_bytes(given.to_bytes()), pickle.loads(pickle.dumps(given))):
        (state,) = found.states
        assert state["a"].dtype == array.dtype
        assert np.array_equal(state["a"], array, equal_nan=array.dtype.kind == "f")


def travelled(error: Exception, where: str = "partition 3") -> Exception:
    """An error after it went through a row of bytes, as an outcome does, and through a message of Spark's."""
    packed = Outcome.from_bytes(Outcome({3: 0}, failure=Failure.of(3, error)).to_bytes())
    assert packed.failure is not None
    with pytest.raises(RuntimeError) as raised:
        spark_frame._row(3, packed)
    marked = spark_frame._failure_in(f"Job aborted:\n  {raised.value}\n at org.apache.spark")
    assert marked is not None
    first, second = packed.failure.error(where), marked.error(where)
    assert (type(first), str(first)) == (type(second), str(second))
    return second


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if issubclass(kind, IcefieldError)])
def test_errors_of_icefield_s_keep_their_class_and_fields(kind):
    found = travelled(kind(ErrorMessage.of("rows", "must be at least 1", -3, "write rows=10")))
    assert type(found) is kind
    assert isinstance(found, IcefieldError)
    assert (found.parameter, str(found.received), found.hint) == ("rows", "-3", "write rows=10")
    assert str(found) == "Argument `rows` must be at least 1 (in partition 3), got -3. Hint: write rows=10."
    assert for_shell(found) == "--rows must be at least 1 (in partition 3), got -3. Hint: write --rows 10."
    assert (
        str(travelled(kind("All is lost. Hint: start again.")))
        == "All is lost. (In partition 3.) Hint: start again."
    )


def test_other_errors_say_what_they_said():
    class Own(InputError):
        """Of a class that the driver does not know."""

    assert isinstance(travelled(CannotRead("a value that no tree knows")), CannotRead)
    assert str(travelled(CannotRead("a value that no tree knows"))) == "a value that no tree knows"
    assert type(travelled(Own(ErrorMessage.of("X", "is odd", lambda: 0)))) is InputError
    assert "partition 3 failed: KeyError" in str(travelled(KeyError("x")))
    assert len(str(travelled(ValueError("x" * 10**6)))) < 3_000


class Bomb:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


def forged(content: bytes) -> str:
    return f"icefield-failure<{base64.b64encode(zlib.compress(content)).decode()}>"


@pytest.mark.parametrize("content", [
    b"", b"not JSON", b"[1, 2]", b"null", b"[" * 100_000, b'{"number": 1, "said": "x"}', b"\x00" * 10**7,
    b'{"number": true, "said": "x", "kind": "InputError"}', b'{"number": 1, "said": ["x"], "kind": "InputError"}',
    b'{"number": 1, "said": "x", "kind": "InputError", "message": {"problem": {}}}',
    b'{"number": 1, "said": "x", "kind": "InputError", "message": {"problem": [{"argument": [1]}]}}',
    b'{"number": 1, "said": "x", "kind": "InputError", "message": {"parameter": "X", "other": 1}}',
], ids=lambda content: ascii(content[:40]))  # fmt: skip
def test_a_text_that_only_looks_like_a_failure_is_text(content):
    found = spark_frame._spark_error(RuntimeError(f"a cell held {forged(content)}"), "the frame")
    assert type(found) is ClusterError
    assert "Work on the frame failed" in str(found)


@pytest.mark.parametrize("name", ["os.system", "SystemExit", "Exception", "IcefieldError", "__import__", ""])
def test_a_forged_failure_chooses_no_class_but_icefield_s(name):
    content = json.dumps({"number": 1, "said": "x", "kind": name, "message": {"problem": "boo"}}).encode()
    assert type(spark_frame._spark_error(RuntimeError(forged(content)), "the frame")) is ClusterError


def test_pickles_that_come_back_are_not_loaded(tmp_path):
    """Neither in an error message, nor as an outcome, nor as the levels of a column."""
    mark = tmp_path / "mark"
    bomb = pickle.dumps(Bomb(mark))
    spark_frame._spark_error(RuntimeError(forged(bomb)), "the frame")
    for read in (Outcome.from_bytes, ray_dataset._levels_of):
        with pytest.raises(Exception):  # noqa: B017 - of JSON's, numpy's or Arrow's
            read(bomb)
    assert not mark.exists()
    pickle.loads(bomb)
    assert mark.exists()


@pytest.mark.parametrize("name", ["|O", "|V8", "nonsense"])
def test_arrays_that_come_back_hold_plain_values(name):
    about = json.dumps(
        {"parts": [], "states": [{"a": [name, [1]]}], "versions": {}, "failure": None}
    ).encode()
    with pytest.raises((ValueError, TypeError)):
        Outcome.from_bytes(len(about).to_bytes(8, "little") + about + b"\0" * 8)


def test_outcomes_and_levels_travel_as_they_are():
    state = {
        "numbers": np.array([[1.5, np.nan], [np.inf, -0.0]]), "none": np.zeros((0, 3)), "one": np.array(7),
        "texts": np.array(["a", "ü"]), "days": np.array(["2024-01-01"], "datetime64[D]"), "flags": np.array([True]),
        "turned": np.arange(6).reshape(2, 3).T,
    }  # fmt: skip
    found = Outcome.from_bytes(Outcome({4: 2, 1: 3}, [state, {}], {"numpy": "2"}).to_bytes())
    assert (found.parts, found.versions, found.failure) == ({4: 2, 1: 3}, {"numpy": "2"}, None)
    assert list(found.states[0]) == list(state)
    for name, values in state.items():
        np.testing.assert_array_equal(found.states[0][name], values)
        assert found.states[0][name].dtype == values.dtype
        assert found.states[0][name].flags.writeable
    levels = {"rows": ["a", "b"], "k": [1, 2], "day": [dt.date(2024, 1, 1)], "none": [], "flag": [True]}
    assert ray_dataset._levels_of(ray_dataset._packed_levels(9, levels)) == (9, levels)


def test_libraries_of_a_pipeline_are_known(data):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found = versions_of(make_pipeline(StandardScaler(), booster(data, NUMBERS)))
    assert {"icefield", "sklearn", "lightgbm"} <= found.keys()


def test_a_model_that_does_not_pickle_is_refused(plain, tmp_path, complains):
    from rows.distributed import models

    with complains("model", "pickled"):
        Explainer(models.Locked(tmp_path), Parts(plain, [1_000]), row_by_row=True).partial_dependence(
            "x0", grid=[0.0]
        )


def test_nobody_waits_for_the_dead():
    import threading

    cancelled: list[bool] = []
    with (
        Heartbeat(lambda: False, "The cluster", patience=0.3) as heartbeat,
        pytest.raises(ClusterError, match="no sign of life"),
    ):
        wait_for(threading.Event().wait, look=heartbeat.check, cancel=lambda: cancelled.append(True))
    assert cancelled == [True]


def test_a_checkpoint_keeps_passes_that_are_complete(plain, tmp_path):
    model = booster(plain, NUMBERS)
    asked = {"features": ["x0"], "grid": {"x0": GRID["x0"]}}
    first = Explainer(model, Parts(plain, [1_000]), checkpoint=tmp_path / "sums").effects(**asked)

    def never(found: list[Outcome]) -> list[Outcome]:
        raise AssertionError("no pass is needed")

    again = Explainer(model, Parts(plain, [1_000], never), checkpoint=tmp_path / "sums").effects(**asked)
    assert np.array_equal(first["x0"].average, again["x0"].average)


def test_the_model_travels_without_the_rows(plain):
    many = pd.concat([plain] * 40, ignore_index=True)
    explainer = Explainer(booster(plain, NUMBERS), Parts(many, [1_000]))
    explainer.effects(["x0"], grid={"x0": [0.0]})
    assert len(explainer.study.rows._packed_model.content) < 400_000


def test_what_a_partition_gives_back_is_small():
    """100 trees and 60 columns, one-way questions: at most 1 MB of the first pass, 256 KB of later ones."""
    import lightgbm as lgb

    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(10_000, 60)), columns=[f"x{i}" for i in range(60)])
    y = rows.sum(axis=1) + rows.x0 * rows.x1
    model = lgb.LGBMRegressor(n_estimators=100, verbose=-1, n_jobs=1).fit(rows[:3_000], y[:3_000])
    there = Parts(rows, np.arange(500, 10_000, 500).tolist())
    explainer = Explainer(model, there)
    explainer.effects()  # the whole of the sample travels with the first pass
    explainer.effects(spread=True, grid=Grid("quantile", points=5, exact=True))
    assert explainer.study.rows.sample.n_rows == len(rows)
    first, *later = there.largest
    assert 100_000 < first <= 1_000_000
    assert later
    assert max(later) <= 256_000


def test_small_partitions_are_taken_together():
    """Two tasks at least for each that runs at once, neighbours of about as many rows; large ones stay as they are."""
    assert tasks_for(1_200_000, 2_000, 2) == 60
    assert tasks_for(1_000, 10, 2) == 4
    assert tasks_for(1_000, 7, 2) == tasks_for(10**7, 100, 2) == tasks_for(1_000, 10, 0) == 0
    found = _task_ranges([0] * 50 + [600] * 100 + [0, 9_000], 6)
    assert [n for own in found for n in own] == list(range(152))  # each once, in order
    assert found[0].stop > 60  # leading empty partitions cost no task
    assert len(found) == 6
    assert _task_ranges([5, 0, 7], 0) == [range(1), range(1, 2), range(2, 3)]


def test_executors_without_icefield_are_told_of_pyspark_python():
    error = RuntimeError(
        "An exception was thrown from the Python worker:\nModuleNotFoundError: No module named 'icefield'\n"
    )
    told = spark_frame._spark_error(error, "the Spark DataFrame")
    assert isinstance(told, ClusterError)
    assert "No module named 'icefield'" in str(told)
    assert "PYSPARK_PYTHON" in str(told)
