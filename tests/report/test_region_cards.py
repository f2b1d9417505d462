"""Sizes of effects beside each other: signs where all run one way, and the same decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.report import build
from icefield.report.region_cards import runs_one_way, size_texts


def reading_of(function: Any) -> Any:
    X = np.linspace(-1, 1, 200).reshape(-1, 1)
    return Explainer(function, X).partial_dependence(0).reading


RISING, FALLING = reading_of(lambda r: 3 * r[:, 0]), reading_of(lambda r: -20 * r[:, 0])
TURNING, FLAT = reading_of(lambda r: 10 * r[:, 0] ** 2), reading_of(lambda r: 0 * r[:, 0])


def test_sizes_have_signs_where_all_run_one_way() -> None:
    assert runs_one_way([RISING, FALLING, FLAT])
    assert not runs_one_way([RISING, TURNING])
    assert not runs_one_way([FLAT])
    rising, falling = size_texts([RISING, FALLING])
    assert rising[0] == "+"
    assert falling[0] == "−"
    assert "." not in rising + falling  # what tells 5 from 36 needs no decimals
    assert all(text[0].isdigit() for text in size_texts([RISING, TURNING], signed=False))


def test_regions_of_a_product_have_opposite_sizes() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=400), "side": rng.choice([-1.0, 1.0], 400)})
    explainer = Explainer(lambda r: 10 * r["x"] * r["side"], X, target_name="delay", units={"delay": "min"})
    region = next(r for r in build(explainer.study).regions if r.name == "x")
    assert region.signed
    assert {rule.size[0] for rule in region.rules} == {"+", "−"}
    assert region.sizes == ", ".join(rule.size for rule in region.rules) + " min"
    assert any("falls" in rule.effect for rule in region.rules)
