"""Several models asked the same question."""

from __future__ import annotations

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")


import icefield
from icefield.compare import Comparison, compare
from icefield.errors import InputError, InputTypeError

X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [0.0, 1.0, 0.0, 1.0], "c": ["x", "y", "x", "y"]})


def line(slope):
    return icefield.Explainer(lambda rows: slope * rows["a"].to_numpy() + rows["b"].to_numpy(), X)


@pytest.fixture
def both():
    return compare({"steep": line(3.0), "flat": line(0.5)})


def test_every_model_answers_on_one_grid(both):
    answers = both.partial_dependence("a")
    assert isinstance(answers, Comparison)
    assert answers.of_effects
    assert list(answers) == ["steep", "flat"]
    assert len(answers) == 2
    np.testing.assert_array_equal(answers["steep"].grid[0], answers["flat"].grid[0])
    np.testing.assert_allclose(answers["steep"].average[0], 3 * answers["steep"].grid[0] + 0.5)
    np.testing.assert_allclose(answers["flat"].average[0], 0.5 * answers["flat"].grid[0] + 0.5)


def test_a_given_grid_is_used_for_all(both):
    answers = both.partial_dependence("a", grid=[0.0, 10.0])
    assert [e.grid[0].tolist() for e in answers.values()] == [[0.0, 10.0]] * 2


def test_models_with_other_rows_are_asked_at_the_first_ones_grid():
    other = icefield.Explainer(lambda rows: rows["a"].to_numpy(), X.assign(a=X["a"] * 10))
    answers = compare({"here": line(1.0), "there": other}).partial_dependence("a")
    assert answers["there"].grid[0].tolist() == answers["here"].grid[0].tolist()


def test_curves_of_every_model(both):
    answers = both.ice("a", rows=[0, 2])
    assert answers["flat"].individual.shape == (1, 2, 4)


def test_two_features(both):
    answers = both.partial_dependence("a", "b")
    assert answers["flat"].average.shape == (1, 4, 2)
    figure = answers.plot()
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["steep", "flat"]


def test_table_of_all_models(both):
    frame = both.partial_dependence("a", grid=[1.0, 2.0]).to_frame()
    assert list(frame.columns) == ["model", "output", "a", "average", "std"]
    assert frame["model"].tolist() == ["steep", "steep", "flat", "flat"]
    np.testing.assert_allclose(frame["average"], [3.5, 6.5, 1.0, 1.5])
    np.testing.assert_allclose(frame["std"], 0.5)


def test_table_of_levels_and_of_a_feature_with_a_taken_name():
    data = X.rename(columns={"c": "model"})
    explainer = icefield.Explainer(lambda rows: (rows["model"] == "x").to_numpy() * 1.0, data)
    frame = compare({"one": explainer}).partial_dependence("model").to_frame()
    assert frame["model_"].tolist() == ["x", "y"]
    np.testing.assert_allclose(frame["average"], [1.0, 0.0])


def test_plot_overlays_models(both):
    ax = both.plot("a")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["steep", "flat"]
    assert both.partial_dependence("a").plot(backend="plotly").data


def test_difference_from_a_baseline(both):
    answers = both.partial_dependence("a")
    gap = answers.difference()
    assert list(gap) == ["flat"]
    np.testing.assert_allclose(gap["flat"].average[0], -2.5 * answers["flat"].grid[0])
    assert gap["flat"].scale_label == "difference in prediction"
    assert list(answers.difference("flat")) == ["steep"]
    gap.plot()


def test_difference_needs_the_same_points(both, complains):
    a = both["steep"].partial_dependence("a", grid=[1.0, 2.0])
    b = both["flat"].partial_dependence("a", grid=[1.0, 3.0])
    with pytest.raises(InputError, match="different grid points"):
        compare({"a": a, "b": b}).difference()
    with complains("baseline", "'steep'"):
        both.partial_dependence("a").difference("stepe")


def test_repr_says_what_is_compared(both):
    assert repr(both) == "Comparison of 2 Explainers: steep, flat"
    assert repr(both.partial_dependence("a", "b")) == "Comparison of 2 effects of a × b: steep, flat"


def test_comparisons_of_one_feature_print_their_values(both):
    answers = both.partial_dependence("a", grid=[1.0, 2.0, 4.0])
    assert repr(answers).splitlines() == [
        "Comparison of 2 effects of a: steep, flat",
        "                       steep        flat",
        "               1         3.5           1",
        "               2         6.5         1.5",
        "               4        12.5         2.5",
        "  furthest apart at 4: steep 12.5, flat 2.5",
    ]
    assert len(repr(answers.difference()).splitlines()) == 5  # of one model nothing is apart
    other = both["flat"].partial_dependence("a", grid=[1.0, 3.0])
    assert repr(compare({"steep": answers["steep"], "flat": other})).count("\n") == 0


def test_groups_of_one_question(both):
    answers = both.partial_dependence("a", by="c")
    assert list(answers["steep"].groups) == ["x", "y"]
    assert not both.partial_dependence("a")["steep"].groups


def test_differences_are_named_after_the_target():
    explainers = [
        icefield.Explainer(
            lambda rows, b=b: b * rows["a"].to_numpy(), X, target_name="delay", units={"delay": "min"}
        )
        for b in (1, 2)
    ]
    gap = compare(explainers).partial_dependence("a").difference()
    assert gap.plot().get_ylabel() == "difference in predicted delay (min)"


def test_what_cannot_be_compared(both, complains):
    effect = both["steep"].partial_dependence("a")
    with complains("members", "must map names", error=TypeError):
        compare(effect)
    with complains("members", "at least one"):
        compare([])
    with complains("members", "at least one"):
        compare({})
    with complains("members", "not both", error=TypeError):
        compare({"a": effect, "b": both["flat"]})
    with complains("members", "'b' is neither", error=TypeError):
        compare({"a": both["flat"], "b": 3})
    with complains("members", "features"):
        compare({"a": effect, "b": both["flat"].partial_dependence("b")})
    with complains("members", "view"):
        compare({"a": effect, "b": effect.center()})


def test_questions_for_the_wrong_kind_of_member(both, complains):
    answers = both.partial_dependence("a")
    with pytest.raises(InputTypeError, match=r"needs icefield\.compare of Explainers"):
        answers.partial_dependence("a")
    with pytest.raises(InputTypeError, match="compute them first"):
        both.to_frame()
    with complains("features", 'plot("age")'):
        both.plot()
    with complains("features", "already chosen"):
        answers.plot("a")


def test_models_and_rows_are_enough(both, complains):
    def steep(rows):
        return 3.0 * rows["a"].to_numpy() + rows["b"].to_numpy()

    def flat(rows):
        return 0.5 * rows["a"].to_numpy() + rows["b"].to_numpy()

    answers = compare({"steep": steep, "flat": flat}, X).partial_dependence("a")
    for name, effect in both.partial_dependence("a").items():
        np.testing.assert_array_equal(answers[name].average, effect.average)
    assert list(compare([steep, flat], X)) == [0, 1]
    with complains("X", "'steep' has its own rows", error=TypeError):
        compare(both, X)
    with complains("members", "compare(models, X)", error=TypeError):
        compare({"steep": steep})
