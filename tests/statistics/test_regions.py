"""Regions: the rules must be the ones the curves were made from, and absent where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.statistics.partition import readable_cut


def explained(model, rows, **options):
    """Asked of many points at once, which is quicker."""
    return Explainer(model, rows, row_by_row=True, **options)


@pytest.fixture
def frame(rng):
    return pd.DataFrame({
        "temp": rng.normal(size=300),
        "hum": rng.uniform(0, 1, 300),
        "workingday": rng.integers(0, 2, 300),
        "season": rng.choice(["spring", "summer", "autumn", "winter"], 300),
        "flag": rng.random(300) < 0.5,
    })  # fmt: skip


def test_finds_the_threshold_and_removes_everything(frame):
    model = lambda f: (f["temp"] * np.where(f["hum"] > 0.8, -1, 1)).to_numpy()  # noqa: E731
    found = explained(model, frame).regions("temp")
    assert found["rule"].tolist() == ["hum <= 0.8", "hum > 0.8"]
    assert found.removed == pytest.approx(1.0)
    assert [s.column for s in found.splits] == ["hum"]
    np.testing.assert_allclose(found["heterogeneity"], 0.0, atol=1e-9)
    assert found["effect"].tolist() == ["linear, increasing", "linear, decreasing"]
    assert found["rows"].sum() == 300
    assert found["rows"][1] == (frame["hum"] > 0.8).sum()


def test_rules_of_two_conditions(frame):
    inside = lambda f: (f["workingday"] == 0) & (f["hum"] > 0.6)  # noqa: E731
    model = lambda f: (3 * f["temp"] * inside(f)).to_numpy(float)  # noqa: E731
    found = explained(model, frame).regions("temp")
    assert found.removed == pytest.approx(1.0, abs=1e-6)
    rules = dict(zip(found["rule"].tolist(), found["rows"].tolist()))
    both = [r for r in rules if "workingday == 0" in r and "hum > 0.6" in r]
    assert len(both) == 1
    assert rules[both[0]] == inside(frame).sum()


def test_levels_booleans_and_removed_shares(frame):
    def model(f):
        warm = f["season"].isin(["spring", "summer"])
        return (f["temp"] * warm + 0.3 * f["flag"] * f["temp"]).to_numpy(float)

    found = explained(model, frame).regions("temp", depth=1)
    assert set(found["rule"].tolist()) == {"season in {spring, summer}", "season in {autumn, winter}"}
    assert 0.8 < found.removed < 1.0
    assert found.splits[0].removed == pytest.approx(found.removed)
    by_flag = explained(lambda f: (f["temp"] * f["flag"]).to_numpy(float), frame).regions("temp")
    assert set(by_flag["rule"].tolist()) == {"flag == False", "flag == True"}


def test_missing_values_are_a_side_of_their_own(rng):
    frame = pd.DataFrame(
        {"x": rng.normal(size=200), "m": np.where(rng.random(200) < 0.4, np.nan, rng.normal(size=200))}
    )
    model = lambda f: (f["x"] * np.where(f["m"].isna(), -1.0, 1.0)).to_numpy()  # noqa: E731
    found = explained(model, frame).regions("x")
    assert set(found["rule"].tolist()) == {"m is known", "m is missing"}
    assert found.removed == pytest.approx(1.0)


def test_nothing_to_split(frame):
    additive = explained(lambda f: (f["temp"] + f["hum"]).to_numpy(), frame).regions("temp")
    assert additive["rule"].tolist() == ["all rows"]
    assert additive.removed == 0.0
    assert additive.splits == ()
    assert "agree" in additive.notes[-1]


def test_differences_no_rule_explains_are_not_explained(rng):
    X = rng.normal(size=(400, 6))
    # A three-way parity: no single column tells the curves apart, so nothing is claimed.
    parity = lambda r: r[:, 0] * np.sign(r[:, 1] * r[:, 2] * r[:, 3] * r[:, 4] * r[:, 5])  # noqa: E731
    found = explained(parity, X).regions(0)
    assert found["rule"].tolist() == ["all rows"]
    assert "no rule" in found.notes[-1]


def test_small_differences_are_split_only_by_what_explains_them(rng):
    X = rng.normal(size=(1000, 7))
    slopes = np.sign(X[:, 1:5])
    weak = explained(lambda r: r[:, 5] + 0.1 * r[:, 0] * np.sign(r[:, 1:5]).sum(axis=1), X)
    assert np.allclose(slopes.std(axis=0), 1, atol=0.01)  # four columns, each a quarter of the differences
    assert not weak.regions(0).splits
    assert weak.regions(0, least_removed=0.1).splits
    one = explained(lambda r: r[:, 5] + 0.2 * r[:, 0] * np.sign(r[:, 1]), X)
    assert [s.column for s in one.regions(0).splits] == [1]


def test_clusters_and_the_rules_that_explain_them(frame):
    model = lambda f: (f["temp"] * np.where(f["hum"] > 0.7, -1, 1)).to_numpy()  # noqa: E731
    found = explained(model, frame).regions("temp", method="clusters")
    assert found["rule"].tolist() == ["hum <= 0.7", "hum > 0.7"]
    np.testing.assert_allclose(found["precision"], 1.0)
    np.testing.assert_allclose(found["recall"], 1.0)
    assert found.removed == pytest.approx(1.0)


def test_as_many_clusters_as_asked(frame):
    model = lambda f: (f["temp"] * f["hum"] * 3).to_numpy()  # noqa: E731
    found = explained(model, frame).regions("temp", method="clusters", clusters=3)
    assert len(found) == 3
    assert (np.diff(found["rows"]) <= 0).all()
    assert ((found["precision"] > 0) & (found["precision"] <= 1)).all()


def test_a_weight_of_two_is_a_duplicated_row(frame):
    weights = np.arange(300) % 3
    model = lambda f: (f["temp"] * f["hum"] * 3).to_numpy()  # noqa: E731
    one = explained(model, frame, weights=weights).regions("temp", depth=1)
    copied = frame.loc[frame.index.repeat(weights)].reset_index(drop=True)
    two = explained(model, copied).regions("temp", depth=1)
    assert one.heterogeneity == pytest.approx(two.heterogeneity)
    assert one.removed == pytest.approx(two.removed)
    np.testing.assert_allclose(one["share"], two["share"])


def test_groups_are_the_regions_own_curves(frame):
    model = lambda f: (f["temp"] * np.where(f["hum"] > 0.5, -1, 1) + f["hum"]).to_numpy()  # noqa: E731
    ex = explained(model, frame)
    found = ex.regions("temp")
    inside = (frame["hum"] > 0.5).to_numpy()
    effect = ex.partial_dependence("temp", grid=found.effect.grid[0], rows=inside)
    np.testing.assert_allclose(found.effect.groups["hum > 0.5"].average, effect.average)


def test_several_outputs_are_split_together(frame):
    model = lambda f: np.column_stack([f["temp"] * np.where(f["hum"] > 0.5, -1, 1), f["temp"]])  # noqa: E731
    found = explained(model, frame).regions("temp")
    assert found["rule"].tolist() == ["hum <= 0.5", "hum > 0.5"]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.7912, 0.8345, 0.8), (12.3, 19.7, 20.0), (-3.0, 5.0, 1.0), (1.0001, 1.0002, 1.0001), (4, 7, 4)],
)
def test_readable_cuts(low, high, expected):
    cut = readable_cut(low, high)
    assert low <= cut < high or cut == expected
    assert low <= cut < high


def test_wrong_arguments(frame, complains):
    ex = explained(lambda f: f["temp"].to_numpy(), frame)
    with complains("method", "'rules'"):
        ex.regions("temp", method="trees")
    with complains("depth", "at least 1"):
        ex.regions("temp", depth=0)
    with complains("least_rows", "between 0 and 1"):
        ex.regions("temp", least_rows=2)
    with complains("clusters", "at least 2"):
        ex.regions("temp", method="clusters", clusters=1)


# --- two cuts at once --------------------------------------------------------------------------------


def six(rows, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(rows, 6))


@pytest.mark.parametrize("rows", [300, 2_000])
@pytest.mark.parametrize("cuts", [(0.0, 0.0), (0.3, -0.2)])
def test_a_sign_that_two_columns_decide_together_is_found(rows, cuts):
    """Either side of one column holds both kinds of rows: one cut after the other finds nothing."""
    found = explained(
        lambda r: r[:, 0] * np.sign((r[:, 1] - cuts[0]) * (r[:, 2] - cuts[1])), six(rows)
    ).regions(0)
    assert len(found["rule"]) == 4
    assert found.removed > 0.95
    assert {split.column for split in found.splits} == {1, 2}
    assert found.splits[0].together > 0.95
    assert any("with the splits that follow" in note for note in found.notes)
    # Every condition stands where the sign changes.
    for rule in found["rule"].tolist():
        for part in rule.split(" and "):
            column, _, value = part.replace("−", "-").split()
            assert float(value) == pytest.approx(cuts[int(column) - 1], abs=0.05)


def test_levels_that_decide_together_are_found(rng):
    frame = pd.DataFrame({"x": rng.uniform(-1, 1, 600), "a": rng.choice(["p", "q"], 600), "b": rng.random(600) < 0.5,
                          "z": rng.normal(size=600)})  # fmt: skip
    model = lambda f: (f["x"] * np.where((f["a"] == "p") == f["b"].astype(bool), 1, -1)).to_numpy()  # noqa: E731
    found = explained(model, frame).regions("x")
    assert {split.column for split in found.splits} == {"a", "b"}
    assert found.removed > 0.99


def test_a_small_group_is_found():
    """Four rows in a hundred respond; they stand in a corner of two columns."""
    found = explained(
        lambda r: 4 * r[:, 0] * ((r[:, 1] > 0.6) & (r[:, 2] > 0.6)) + r[:, 3], six(1_500)
    ).regions(0)
    assert found.removed > 0.9
    assert min(found["share"]) == pytest.approx(0.04, abs=0.015)


def test_a_band_of_one_column_is_found():
    found = explained(lambda r: r[:, 0] * (np.abs(r[:, 1]) < 0.3), six(1_000)).regions(0)
    assert found.removed > 0.95
    assert {split.column for split in found.splits} == {1}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("rows", [60, 200, 1_000])
def test_curves_that_differ_without_a_rule_are_not_split(rows, seed):
    """Many pairs of cuts are tried; noise must not look like one that tells."""
    # A slope of its own for every row, that no cut has anything to do with.
    model = lambda r: r[:, 0] * np.sin(1e5 * (r[:, 1:] @ np.arange(1, 6)))  # noqa: E731
    found = explained(model, six(rows, seed)).regions(0)
    assert len(found["rule"]) == 1, found["rule"]
    assert "one or two splits" in " ".join(found.notes)


def test_rules_that_rest_on_rows_unlike_the_data_say_so(rng):
    """The slope differs only where x is far from z, and there are no such rows."""
    z = rng.uniform(-1, 1, 800)
    X = np.column_stack([z + rng.normal(0, 0.05, 800), z, rng.normal(size=800)])

    def wild(r):
        far = np.abs(r[:, 0] - r[:, 1]) > 0.5
        return r[:, 0] + far * 3 * r[:, 0] * np.sign(r[:, 2])

    said = " ".join(explained(wild, X).regions(0).notes)
    assert "do not occur in the data" in said
    honest = explained(lambda r: r[:, 0] * np.sign(r[:, 2]), X[rng.permutation(800)] * [1, 0, 1]).regions(0)
    assert honest.splits
    assert "do not occur in the data" not in " ".join(honest.notes)
