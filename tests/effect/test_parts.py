"""An effect's parts: grouped inside, one flat set of names outside."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from icefield import Effect, Explainer
from icefield.effect import Backing, KeptCurves, Provenance, Spread
from icefield.effect.parts import PART_FIELDS, PARTS

X = np.random.default_rng(0).normal(size=(12, 2))
EXPLAINER = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X, weights=np.arange(1.0, 13.0))


def built(**given: Any) -> Effect:
    return Effect("pd", ("a",), (np.arange(3.0),), np.zeros((1, 3)), ("y",), ("float",), **given)


@pytest.mark.parametrize("part", PARTS)
def test_every_field_of_a_part_is_an_attribute_of_the_effect(part: str) -> None:
    effect = EXPLAINER.ice(0, rows=3, quantiles=[0.5])
    for name in PART_FIELDS[part]:
        held = getattr(getattr(effect, part), name)
        found = getattr(effect, name)
        assert found is held or (name == "others" and found == tuple(held))


def test_the_names_of_columns_that_stay_are_shared() -> None:
    first, second = (EXPLAINER.partial_dependence(i) for i in (0, 1))
    assert first.provenance.others.columns is second.provenance.others.columns
    assert first.others == tuple(c for c in EXPLAINER.study.model.columns if c != first.features[0])


def test_an_effect_has_few_fields_of_its_own() -> None:
    assert len(fields(Effect)) == 16
    assert sum(map(len, PART_FIELDS.values())) == 29


def test_parts_and_their_fields_build_the_same_effect() -> None:
    curves = np.ones((1, 2, 3))
    by_name = built(individual=curves, rows=np.arange(2), n_rows=2, std=np.zeros((1, 3)), weight=np.ones(3))
    by_part = built(
        kept=KeptCurves(curves, np.arange(2)),
        provenance=Provenance(n_rows=2),
        spread=Spread(std=np.zeros((1, 3))),
        backing=Backing(weight=np.ones(3)),
    )
    for name in (name for names in PART_FIELDS.values() for name in names):
        np.testing.assert_array_equal(getattr(by_name, name), getattr(by_part, name))


def test_a_field_is_replaced_by_its_own_name_and_the_rest_of_its_part_stays() -> None:
    effect = built(std=np.zeros((1, 3)), se=np.ones((1, 3)), why="because", n_rows=7)
    changed = replace(effect, std=None, why="for another reason")
    assert changed.std is None
    assert changed.se is effect.se
    assert (changed.why, changed.n_rows) == ("for another reason", 7)
    assert (effect.why, effect.std is None) == ("because", False)


def test_a_name_that_is_no_field_is_refused() -> None:
    with pytest.raises(TypeError, match="no field 'indivdual'"):
        built(indivdual=None)
    with pytest.raises(TypeError, match="no field 'wieght'"):
        replace(built(), wieght=None)


def test_nothing_is_kept_where_no_curve_is() -> None:
    assert built().kept is None
    assert built(individual=None, rows=None).kept is None
    assert EXPLAINER.partial_dependence(0).kept is None
    assert (
        replace(EXPLAINER.ice(0), individual=None, rows=None, row_values=None, row_weights=None).kept is None
    )


def test_averages_only_leaves_the_curves_out_and_everything_else_as_it_is() -> None:
    effect = EXPLAINER.ice(0, rows=4)
    averages = effect.averages_only()
    assert effect.kept is not None
    assert averages.kept is None
    assert [averages.individual, averages.rows, averages.row_values, averages.row_weights] == [None] * 4
    assert (effect.kind, averages.kind) == ("ice", "pd")
    assert averages.spread is effect.spread
    assert averages.average is effect.average
    assert EXPLAINER.ale(0).averages_only().kind == "ale"


def test_pickles_hold_every_part() -> None:
    effect = EXPLAINER.ice(0, rows=4, quantiles=[0.5])
    again = pickle.loads(pickle.dumps(effect))
    np.testing.assert_array_equal(again.individual, effect.individual)
    np.testing.assert_array_equal(again.row_weights, effect.row_weights)
    assert (again.why, again.n_rows, again.scale) == (effect.why, effect.n_rows, effect.scale)
    assert set(again.quantiles) == {0.5}


def test_the_range_of_values_is_known_from_what_is_predicted() -> None:
    assert built(scale_label="probability").value_range == (0.0, 1.0)
    assert built(positive=True).value_range == (0.0, np.inf)
    assert built().value_range == (-np.inf, np.inf)
    assert built(scale_label="probability").center().value_range == (-np.inf, np.inf)
    assert replace(built(scale_label="probability"), kind="ale").value_range == (-np.inf, np.inf)
