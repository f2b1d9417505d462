"""How effects look when printed."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.data.columns import object_array
from icefield.effect import Effects
from icefield.printing import effect_title, explainer_html
from icefield.wording.values import printed_value

FRAME = pd.DataFrame({"a": [1.0, 2.0, np.nan], "s": ["x", "y", "z"]})


def model(rows) -> np.ndarray:
    return rows["a"].fillna(0).to_numpy() + (rows["s"] == "y")


def test_the_text_says_what_how_and_where():
    text = repr(Explainer(model, FRAME, by="s").ice("a"))
    assert text.startswith("Individual conditional expectation of prediction")
    assert "on a" in text
    assert "from 0.3333 to 2.333 over 3 grid points" in text
    assert "missing" in text
    assert "3 individual curves kept" in text
    assert "by s: x, y, z" in text
    assert "3 rows, data background, brute engine" in text


def test_views_are_named():
    effect = Explainer(model, FRAME).partial_dependence("a")
    assert "centred" in effect_title(effect.center())
    assert "slope" in effect_title(effect.derivative())


def test_many_outputs_are_cut_short():
    wide = Explainer(lambda rows: np.zeros((len(rows), 9)), FRAME).partial_dependence("a", "s")
    assert "..." in effect_title(wide)
    assert "3 x 3 grid points" in repr(wide)


def test_curves_without_a_value_are_shown():
    effect = Explainer(model, FRAME).partial_dependence("s")
    nothing = replace(effect, average=np.full_like(effect.average, np.nan))
    assert "no value over 3 grid points" in repr(nothing)
    assert "nan" in nothing._repr_html_()


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs


@pytest.mark.parametrize(
    "name", ["</td><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><b', "&lt;", "\u202e"]
)
def test_names_never_become_markup(name):
    effect = Explainer(model, FRAME).partial_dependence("s")
    hostile = replace(
        effect, features=(name,), outputs=(name,), scale_label=name, why=name, by=name, groups={name: effect},
        grid=(object_array([name, "y", None]),), engine=name,
    )  # fmt: skip
    seen = Tags()
    seen.feed(hostile._repr_html_())
    assert seen.tags <= {"p", "b", "small", "table", "thead", "tbody", "tr", "th", "td", "img"}
    assert {key for key, _ in seen.attributes} == {"class", "alt", "style", "src"}
    assert {value for key, value in seen.attributes if key == "style" and "padding" in value} <= {
        f"text-align: {side}; padding: 0.25em 0.6em" for side in ("left", "right")
    }
    assert dict(seen.attributes)["src"].startswith("data:image/png;base64,")
    several = Tags()
    several.feed(Effects({name: hostile})._repr_html_() + explainer_html(name, [hostile], name))
    assert several.tags <= {
        "p",
        "b",
        "small",
        "code",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "svg",
        "rect",
    }
    assert name in repr(hostile)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "missing"), (np.nan, "missing"), (pd.NA, "missing"), (pd.NaT, "missing"), (np.datetime64("NaT", "D"), "missing"),
        (np.datetime64("2020-01-02T00:00:00.000000000"), "2020-01-02"), (np.datetime64("2020-01-02T03:04:05.600"), "2020-01-02 03:04:05.6"),
        (np.datetime64("2020-01-02"), "2020-01-02"), (np.datetime64("2020-10"), "2020-10"), (np.timedelta64(3, "D"), "3 days"),
        (1.23456789, "1.23457"), (10, "10"), (True, "True"), ("a", "a"), (("a", 1), "('a', 1)"),
    ],
    ids=str,
)  # fmt: skip
def test_values_for_people(value, text):
    assert printed_value(value) == text
