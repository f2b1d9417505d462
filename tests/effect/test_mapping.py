"""`effects()`: a dict like any other, which prints briefly and draws itself."""

from __future__ import annotations

import copy
import pickle

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import icefield
from icefield.effect import Effects

X = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1] ** 2, "s": list("xyzw") * 10})


def model(rows):
    return rows["a"].to_numpy() * 2 + (rows["s"] == "y") * 5.0


@pytest.fixture(scope="module")
def found():
    return icefield.Explainer(model, X).effects(grid=5)


def test_it_is_a_dict_in_the_order_of_features(found):
    assert isinstance(found, dict)
    assert list(found) == ["a", "b", "s"]
    assert dict(found) == found
    assert found["a"].average.shape == (1, 5)
    assert copy.copy(found) == found
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is Effects
    np.testing.assert_array_equal(again["a"].average, found["a"].average)


def test_it_prints_a_line_for_each_feature(found):
    lines = repr(found).splitlines()
    assert lines[0] == "Partial dependence of 3 features"
    assert len(lines) == 5
    assert lines[1].split() == ["a", "▁▂▄▆█", "1.25", "to", "79.25"] or "▁" in lines[1]
    assert "effects['a']" in lines[-1]


def test_hundreds_are_cut_short(found):
    many = Effects(dict.fromkeys(range(100), found["a"]))
    assert "... and 70 more" in repr(many)
    assert len(repr(many).splitlines()) == 33
    assert many._repr_html_().count("<svg") == 30


def test_pairs_and_nothing_print_too(found):
    pairs = icefield.Explainer(model, X).effects(["a", "b"], order=2, grid=3)
    assert "1 pairs" in repr(pairs) or "pair" in repr(pairs)
    assert "a x b" in repr(pairs)
    assert repr(Effects()) == "Effects of no feature"


def test_plot_draws_a_panel_each_and_top_the_first(found):
    before = plt.get_fignums()
    figure = found.plot(data=None)
    assert len(figure.axes) == 3
    assert len(found.plot(top=2).axes) == 2
    for number in set(plt.get_fignums()) - set(before):
        plt.close(number)
    with pytest.raises(icefield.InputTypeError, match="no plot option"):
        found.plot(colour="red")


def test_showing_an_effect_opens_no_figure(found):
    before = plt.get_fignums()
    assert "data:image/png;base64," in found["a"]._repr_html_()
    assert plt.get_fignums() == before


def test_the_card_of_an_explainer_names_the_strongest_first_and_never_raises():
    card = icefield.Explainer(model, X)._repr_html_()
    assert card.index(">a<") < card.index(">s<") < card.index(">b<")
    assert "ex.summary()" in card

    def broken(rows):
        if len(rows) > 10:
            raise ValueError("no")
        return np.zeros(len(rows))

    plain = icefield.Explainer(broken, X)._repr_html_()
    assert "<svg" not in plain
    assert "ex.summary()" in plain


def test_completion_lists_what_users_call():
    names = {name for name in dir(icefield.Explainer(model, X)) if not name.startswith("_")}
    assert names == {
        "partial_dependence", "ice", "ale", "effects", "importance", "interactions", "regions", "conditional", "change", "slope",
        "summary", "audit", "expectations", "snapshot", "refits", "record", "plot", "report", "explore", "serve", "plan",
    }  # fmt: skip
    offered = {name for name in dir(icefield) if not name.startswith("_")}
    assert offered == {*icefield.__all__, "sklearn", "mlflow"}
    assert all(getattr(icefield, name) is not None for name in offered)
    assert dir(icefield.datasets) == ["bikes", "housing", "titanic"]
    assert dir(icefield.sklearn) == ["PartialDependenceDisplay", "partial_dependence"]
    assert dir(icefield.mlflow) == ["log"]
