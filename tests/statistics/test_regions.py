"""Regions: the rules must be the ones the curves were made from, and absent where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.data.frame import Column
from icefield.statistics.partition import Condition, Limits, RegionRows, partition, readable_cut
from icefield.statistics.region_ledger import ledger


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


# --- rules and the features that readings name --------------------------------------------------------


def parity_beside_a_pair(weak=0.3):
    """The sign of a product decides most; one more feature, alone, a little: it is the only one that interacts as a pair."""
    model = lambda r: r[:, 0] * np.sign(r[:, 1] * r[:, 2]) + weak * r[:, 0] * np.sign(r[:, 3])  # noqa: E731
    return Explainer(model, six(800))


def test_rules_on_other_columns_than_those_named_say_how_they_are_related():
    ex = parity_beside_a_pair()
    reading, found = ex.summary().readings[0], ex.regions(0)
    assert [name for name, _ in reading.interacts] == [3]
    assert {split.column for split in found.splits} == {1, 2}
    told = [note for note in found.notes if "not among what 0 interacts with most (3)" in note]
    assert len(told) == 1
    assert told[0].startswith("1 and 2: ")
    assert told[0].endswith(" no rule on that alone explains enough")
    assert found.removed > 0.9
    assert reading.mostly_open
    assert "it interacts with 3 (" in reading.sentence
    assert "which accounts for little of that, see regions()" in reading.sentence


def test_what_rules_on_the_named_features_alone_would_explain_is_said():
    """A feature of four levels that each respond in their own way, and one that is stronger as a pair but tells less."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"x": rng.uniform(-1, 1, 900), "p": rng.random(900) < 0.5, "q": rng.normal(size=900)})
    parity = lambda d: np.sign(d["q"]) * np.sign(d["s"])  # noqa: E731
    X["s"] = rng.normal(size=900)
    model = lambda d: (d["x"] * (0.7 * np.where(d["p"], 1, -1) + parity(d))).to_numpy()  # noqa: E731
    ex = Explainer(model, X, row_by_row=True)
    reading, found = ex.summary().readings["x"], ex.regions("x")
    assert [name for name, _ in reading.interacts] == ["p"]
    note = next(note for note in found.notes if "not among what x interacts with most (p)" in note)
    by_named = int(note.split("would explain only ")[1].split(" %")[0])
    assert 25 < by_named < 40 < 100 * found.removed
    assert not reading.mostly_open


def test_what_accounts_for_most_is_not_said_to_be_little(rng):
    X = rng.uniform(-1, 1, size=(600, 4))
    for model in (lambda r: r[:, 0] * np.sign(r[:, 1]) + r[:, 2], lambda r: r[:, 0] * r[:, 1] + r[:, 2]):
        reading = Explainer(model, X).summary().readings[0]
        assert reading.interacts
        assert not reading.mostly_open
        assert "little" not in reading.sentence


def test_other_columns_come_after_one_that_is_named():
    """Of what the named feature leaves, others explain much; the first split still is on it."""
    drawn = dict(zip("abc", np.random.default_rng(0).integers(0, 2, (3, 600))))
    columns = {name: Column(name, "integer", values, values < 0) for name, values in drawn.items()}
    own = drawn["a"] + 1.3 * drawn["b"]
    response, weights = own[:, None], np.ones(600)
    assert partition(columns, response, weights, Limits())[1][0].column == "b"
    parts, splits = partition(columns, response, weights, Limits(), first={"a": columns["a"]})
    assert [split.column for split in splits] == ["a", "b", "b"]
    assert len(parts) == 4
    nothing = {"c": columns["c"]}
    assert partition(columns, response, weights, Limits(), first=nothing)[1] == []


def test_a_partner_of_another_output_is_said_to_be(rng):
    X = pd.DataFrame(rng.uniform(-1, 1, size=(500, 4)), columns=list("abcd"))

    def model(d):
        first = d["a"] * np.sign(d["b"]) + d["d"]
        return np.column_stack([first, 0.5 * d["a"] * np.sign(d["c"]) + 0.1 * d["a"] + 0.2 * d["d"]])

    ex = Explainer(model, X, row_by_row=True)
    summary, found = ex.summary(), ex.regions("a")
    named = {r.output: r.interacts[0][0] for r in summary.decisions["a"].readings}
    assert set(named.values()) == {"b", "c"}
    own = summary.readings["a"].output
    (other,) = set(named) - {own}
    assert {split.column for split in found.splits} == {"b", "c"}
    note = f"{named[other]}: a interacts with it in output {other}, and rules are for all outputs together"
    assert note in found.notes
    assert not any(note.startswith(f"{named[own]}: a interacts") for note in found.notes)


def test_where_no_rule_explains_enough_no_interaction_is_denied():
    X = np.random.default_rng(2).uniform(-1, 1, size=(1_200, 10))
    model = lambda r: r[:, 0] * np.sign(r[:, 1:]).sum(axis=1)  # noqa: E731
    ex = Explainer(model, X)
    reading, found = ex.summary().readings[0], ex.regions(0, least_removed=0.3)
    assert reading.interacts
    assert found.splits == ()
    assert any(
        "apart well: what each feature that it interacts with explains is too little" in n
        for n in found.notes
    )
    assert " others" in reading.sentence  # more than two are named


def test_curves_that_just_agree_deny_no_interaction(rng):
    """An interaction that just counts, and differences that just do not."""
    b = rng.normal(size=800)
    X = np.column_stack([rng.normal(size=800), b, 0.8 * b + 0.6 * rng.normal(size=800)])
    seen = 0
    for size in np.linspace(0.08, 0.2, 13):
        ex = Explainer(lambda r, size=size: r[:, 0] + size * r[:, 1] * r[:, 2], X)
        reading, notes = ex.summary().readings[1], " ".join(ex.regions(1).notes)
        if reading.interacts:
            assert "the curves agree" not in notes
            seen += "differ by less than 0.15 SD: no regions are needed" in notes
        elif "no regions are needed" in notes:
            assert "the curves agree: no regions are needed" in notes
    assert seen


def test_the_ledger_says_why_cuts_were_not_made():
    ex = parity_beside_a_pair()
    lines = ledger(ex.study, ex.regions(0))
    others = [line for line in lines if line.why_not]
    assert others
    assert all(
        line.why_not.startswith("under the")
        or line.why_not == "the splits that were made remove more together"
        for line in others
    )


def test_regions_of_several_outputs_speak_of_the_one_that_is_moved_most(rng):
    X = pd.DataFrame(rng.uniform(-1, 1, size=(500, 3)), columns=list("abc"))
    ex = Explainer(
        lambda d: np.column_stack([np.full(len(d), 7.0), d["a"] * np.sign(d["b"]) + d["c"]]),
        X,
        row_by_row=True,
    )
    found = ex.regions("a")
    assert found["effect"].tolist() == ["linear, decreasing (1)", "linear, increasing (1)"]
    assert "of the predictions over all outputs" in found.title


def test_values_that_are_listed_stand_without_the_bounds_before_them():
    rows = np.ones(3, dtype=bool)
    conditions = (
        Condition("k", "<=", 1),
        Condition("b", ">", 0.5),
        Condition("b", "<=", 2.0),
        Condition("k", "in", (0,)),
    )
    assert RegionRows(conditions, rows).rule == "b > 0.5 and b <= 2 and k == 0"


def test_rules_begin_with_what_is_named_where_columns_that_go_together_share_an_interaction():
    """Each of three copies interacts too weakly to be named; as any of them tells rows apart, it stands for all three."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"x": rng.uniform(-1, 1, 900), "p": rng.random(900) < 0.5, "t": rng.normal(size=900)})
    for name in ("c1", "c2", "c3"):
        X[name] = X.get("c1", pd.Series(rng.normal(size=900))) + 0.02 * rng.normal(size=900)

    def model(d):
        slope = 0.35 * np.where(d["p"], 1, -1) + 0.2 * (d["c1"] + d["c2"] + d["c3"])
        return (d["x"] * slope + 0.9 * d["t"]).to_numpy()

    ex = Explainer(model, X, row_by_row=True)
    reading, found = ex.summary().readings["x"], ex.regions("x")
    assert [name for name, _ in reading.interacts] == ["p"]
    assert dict(reading.partners)["c1"] > 2 * dict(reading.partners)["p"]
    assert found.splits[0].column == "p"
    assert {split.column for split in found.splits[1:]} < {"c1", "c2", "c3"}
    (note,) = (note for note in found.notes if "not among what x interacts with most (p)" in note)
    by_named = int(note.split("would explain only ")[1].split(" %")[0])
    assert by_named == round(100 * found.splits[0].removed)
    assert found.removed > found.splits[0].removed + 0.3
    why = [
        line.why_not
        for line in ledger(ex.study, found)
        if line.removed > found.splits[0].removed and line.why_not
    ]
    assert why
    assert set(why) == {"rules begin with a feature that it is known to interact with"}


def test_a_class_that_hardly_occurs_decides_no_rule():
    """In its own SD, a chance of a hundredth moves as much as one of a half."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 4)), columns=list("abcd"))

    class Chances:
        classes_ = np.array(["no", "yes", "rare"])

        def predict(self, d):
            return self.classes_[self.predict_proba(d).argmax(axis=1)]

        def predict_proba(self, d):
            yes = 0.5 + 0.3 * np.tanh(d["a"] * np.sign(d["b"]))
            rare = 0.01 + 0.008 * np.tanh(2 * d["a"] + 2 * d["d"]) * np.sign(d["c"])
            return np.column_stack([1 - yes - rare, yes, rare])

    ex = Explainer(Chances(), X)
    assert ex.summary().readings["a"].interacts[0][0] == "b"
    found = ex.regions("a")
    assert {split.column for split in found.splits} == {"b"}
    assert found.removed > 0.9
    assert ex.regions("d").splits == ()
    assert "the curves" in ex.regions("d").notes[-1]
