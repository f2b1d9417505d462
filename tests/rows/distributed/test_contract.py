"""The contract without an engine: partitions of a table, worked on as workers do, delivered as clusters may."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from icefield import ClusterError, Explainer, InputError
from icefield.forest import CannotRead
from icefield.rows.distributed import worker
from icefield.rows.distributed.backend import Backend, Census
from icefield.rows.distributed.broadcast import versions_of
from icefield.rows.distributed.partition_result import Failure, Outcome, check_parts, once
from icefield.rows.distributed.polling import Lifeline, waited
from rows.distributed.agreement import agree, agree_all
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

    @property
    def schema(self) -> Any:
        return self._whole.schema.remove_metadata()

    def first(self, columns: Any, rows: int) -> Any:
        return self._whole.select(list(columns)).slice(0, rows)

    def dumps(self, thing: Any) -> bytes:
        return bytes(cloudpickle.dumps(thing))

    def census(self, columns: Any, listed: Any) -> Census:
        seen = [worker.looked(part.to_batches(), listed) for part in self.parts]
        levels = {name: list(dict.fromkeys(v for _, own in seen for v in own[name])) for name in listed}
        return Census(tuple(rows for rows, _ in seen), sum(rows for rows, _ in seen), levels)

    def outcomes(self, model: Any, task: Any, columns: Any, all_columns: Any, progress: Any) -> Any:
        ways = (model.name, lambda: model.content), (task.name, lambda: task.content)
        found = [worker.worked(*ways, n, part.to_batches()) for n, part in enumerate(self.parts)]
        self.sent = [len(one.packed()) for one in found]
        if self._merged_by:
            size = self._merged_by
            found = [worker.united(*ways, found[at : at + size]) for at in range(0, len(found), size)]
        return [pickle.loads(one.packed()) for one in self._deliver(found)]


def test_parts_give_what_the_table_gives(plain, few_rows):
    agree_all(plain, Parts(plain, [100, 1_700, 1_700, 2_999]), few_rows)


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
        once([Outcome({0: 5, 1: 5}), Outcome({1: 5, 2: 5})])


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


def test_an_error_with_another_way_stays_what_it_is():
    found = Failure.of(3, CannotRead("a value that no tree knows")).error("partition 3")
    assert isinstance(found, CannotRead)
    assert isinstance(Failure.of(3, InputError("bad")).error("partition 3"), InputError)
    assert "partition 3 failed: KeyError" in str(Failure.of(3, KeyError("x")).error("partition 3"))


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
        Lifeline(lambda: False, "The cluster", patience=0.3) as lifeline,
        pytest.raises(ClusterError, match="no sign of life"),
    ):
        waited(threading.Event().wait, look=lifeline.check, cancel=lambda: cancelled.append(True))
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
