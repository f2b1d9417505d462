"""The effects of all features, or all pairs, of one kind, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from icefield import validate
from icefield.core.effects import Request, compute_effects
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.data.grid import DEFAULT_POINTS, MOST_AUTO
from icefield.effect import Effect
from icefield.errors import BudgetError, InputError
from icefield.typing import Positions

KINDS = ("pd", "ice", "ale")
ALONE = {"ice": "ice(a, b)", "ale": "ale(a, b)"}  # what gives pairs of a kind


def every_effect(
    study: Study,
    features: Iterable[Any] | None,
    *,
    kind: str = "pd",
    order: int = 1,
    spread: bool = False,
    grid: Any = None,
    rows: Any = None,
    by: Any = None,
) -> dict[Any, Effect]:
    """Features, or pairs of them, with their effects; parameters are those of `Explainer.effects`."""
    validate.choice("kind", kind, KINDS)
    validate.count("order", order)
    if order > 2:
        raise InputError.about("order", "must be 1 or 2", order, "use partial_dependence(a, b, c)")
    if order == 2 and kind != "pd":
        problem = f"must be 1 for kind={kind!r}"
        raise InputError.about("order", problem, order, f"compute pairs with {ALONE[kind]}")
    validate.flag("spread", spread)
    singles = listed_features(features, study.model.columns, least=0)
    sets = [(f,) for f in singles] if order == 1 else list(combinations(singles, 2))
    labels = [study.feature(f).label for f in singles]
    if len(set(labels)) != len(labels):
        raise InputError.about("features", "names the same feature twice", singles)
    if not sets:
        raise InputError.about("features", f"must name at least {order} features", features)
    if kind == "ale":
        return dict(zip(labels, _local(study, singles, grid, rows, by)))
    if kind == "ice":
        curve_rows = _curve_rows(study, len(singles), grid, rows)
        request = Request(sets=sets, kind="ice", grid=grid, spread=True, kept=curve_rows)
    else:
        chosen = study.chosen(rows)
        request = Request(
            sets=sets, grid=grid, spread=spread, rows=chosen.positions, sampled_from=chosen.sampled_from
        )
    effects = compute_effects(study.grouped(by), request)
    return {e.features[0] if order == 1 else e.features: e for e in effects}


def _local(study: Study, features: list[Any], grid: Any, rows: Any, by: Any) -> list[Effect]:
    from icefield.statistics.ale import ales

    study.needs_rows("accumulated local effects")
    if grid is not None:
        problem = "is for kind='pd' and 'ice': ALE has bins"
        raise InputError.about("grid", problem, grid, "use ale(feature, bins=...)")
    effects = []
    for effect in ales(study.grouped(by), features, rows=rows):
        if not isinstance(effect, Effect):
            raise effect
        effects.append(effect)
    return effects


def _curve_rows(study: Study, n_features: int, grid: Any, rows: Any) -> Positions:
    """Positions of the rows whose ICE curves are kept; an error where all features' together exceed the budget."""
    n = study.sample.n_rows
    positions = np.arange(n) if rows is None else validate.row_positions(rows, n, study.seed)
    points = MOST_AUTO if grid is None else DEFAULT_POINTS[1]
    points = int(grid) if isinstance(grid, (int, np.integer)) else points
    a_row, memory = 8 * len(study.model.outputs) * n_features * points, study.resources.memory
    if len(positions) * a_row > memory:
        problem = f"{counted(len(positions))} individual curves of {counted(n_features)} features would take about {len(positions) * a_row / 2**20:,.0f} MB"
        hint = f"keep a sample of the curves with rows={max(1, memory // a_row)} (averages still use every row), or raise Explainer(memory=...)"
        raise BudgetError.saying(f"{problem}, over the budget of {memory / 2**20:,.0f} MB.", hint)
    return positions
