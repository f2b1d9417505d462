"""Plot methods: every option is in their signatures, with the defaults and choices that pictures have."""

from __future__ import annotations

import inspect
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

import icefield
from icefield import Comparison, Effect
from icefield.effect import Drawable, drawing
from icefield.errors import InputTypeError
from icefield.plots.options import CHOICES, DEFAULTS, ONE_WAY_KINDS, TWO_WAY_KINDS
from icefield.statistics.conditional import Conditional
from icefield.statistics.importance import Importance
from icefield.statistics.interactions import Interactions
from icefield.statistics.regions import Regions
from icefield.statistics.summary import Summary

WHOLE = [Effect, Comparison, Conditional, Regions, Summary]


def keywords(plot: Any) -> dict[str, Any]:
    parameters = inspect.signature(plot).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


@pytest.mark.parametrize("owner", WHOLE, ids=lambda owner: owner.__name__)
def test_every_option_of_a_picture_is_a_keyword_with_its_default(owner: type) -> None:
    assert keywords(owner.plot) == DEFAULTS


@pytest.mark.parametrize("owner", [Importance, Interactions], ids=lambda owner: owner.__name__)
def test_bars_and_matrices_have_the_options_they_use(owner: type) -> None:
    own = keywords(owner.plot)
    assert own == {name: DEFAULTS[name] for name in own}
    assert {"backend", "ax", "top", "title", "figsize"} <= set(own)


def test_the_choices_of_the_signature_are_those_that_are_checked() -> None:
    hints = get_type_hints(Drawable.plot)
    for name, choices in CHOICES.items():
        listed = get_args(hints[name])
        # An optional choice is a union of its words and None.
        words = listed if all(isinstance(word, str) for word in listed) else get_args(listed[0])
        assert words == choices, name
    assert CHOICES["kind"] == ("auto", *ONE_WAY_KINDS, *TWO_WAY_KINDS)


@pytest.mark.parametrize(
    "owner", [*WHOLE, Importance, Interactions, icefield.Grid], ids=lambda owner: owner.__name__
)
def test_no_public_method_hides_its_options(owner: type) -> None:
    for name, method in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_"):
            kinds = {one.kind for one in inspect.signature(method).parameters.values()}
            assert inspect.Parameter.VAR_KEYWORD not in kinds, f"{owner.__name__}.{name}"


@pytest.mark.parametrize("question", ["partial_dependence", "ice", "ale"])
def test_a_comparison_asks_with_the_keywords_of_an_explainer(question: str) -> None:
    asked = [inspect.signature(getattr(owner, question)) for owner in (Comparison, icefield.Explainer)]
    assert asked[0].parameters == asked[1].parameters


def test_what_is_given_is_handed_on_and_nothing_else() -> None:
    class Sketch:
        @drawing
        def plot(self, first: Any = 1, *, title: Any = None) -> Any:
            """Draw it."""

        def _drawn(self, *args: Any, **options: Any) -> Any:
            return args, options

    assert Sketch().plot() == ((), {})
    assert Sketch().plot(2, title="t") == ((2,), {"title": "t"})
    assert Sketch().plot(first=3) == ((), {"first": 3})
    assert Sketch.plot.__doc__ == "Draw it."
    with pytest.raises(InputTypeError, match=r"no plot option `titel`\. Hint: did you mean 'title'\?$"):
        Sketch().plot(titel="t")
    with pytest.raises(TypeError, match="too many positional"):
        Sketch().plot(1, 2)


def test_tables_name_the_closest_of_their_own_options() -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    explainer = icefield.Explainer(lambda rows: rows[:, 0] + rows[:, 1], X)
    for table in (explainer.importance(), explainer.interactions(), explainer.summary()):
        with pytest.raises(InputTypeError, match=r"`tpo`.*'top'"):
            table.plot(tpo=3)
