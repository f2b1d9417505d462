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
        told = f"must be 1 for kind={kind!r}"
        raise InputError.about("order", told, order, f"compute pairs with {ALONE[kind]}")
    validate.flag("spread", spread)
    singles = listed_features(features, study.model.columns, least=0)
    asked = [(f,) for f in singles] if order == 1 else list(combinations(singles, 2))
    labels = [study.feature(f).label for f in singles]
    if len(set(labels)) != len(labels):
        raise InputError.about("features", "names the same feature twice", singles)
    if not asked:
        raise InputError.about("features", f"must name at least {order} features", features)
    if kind == "ale":
        return dict(zip(labels, _local(study, singles, grid, rows, by)))
    if kind == "ice":
        kept = _kept(study, len(singles), grid, rows)
        request = Request(sets=asked, kind="ice", grid=grid, spread=True, kept=kept)
    else:
        own = study.chosen(rows)
        request = Request(
            sets=asked, grid=grid, spread=spread, rows=own.positions, sampled_from=own.sampled_from
        )
    found = compute_effects(study.grouped(by), request)
    return {e.features[0] if order == 1 else e.features: e for e in found}


def _local(study: Study, features: list[Any], grid: Any, rows: Any, by: Any) -> list[Effect]:
    from icefield.statistics.ale import ales

    study.needs_rows("accumulated local effects")
    if grid is not None:
        told = "is for kind='pd' and 'ice': ALE has bins"
        raise InputError.about("grid", told, grid, "use ale(feature, bins=...)")
    found = []
    for one in ales(study.grouped(by), features, rows=rows):
        if not isinstance(one, Effect):
            raise one
        found.append(one)
    return found


def _kept(study: Study, n_features: int, grid: Any, rows: Any) -> Positions:
    """Whose curves are kept; all features' together must fit the budget."""
    n = study.sample.n_rows
    kept = np.arange(n) if rows is None else validate.row_positions(rows, n, study.seed)
    points = MOST_AUTO if grid is None else DEFAULT_POINTS[1]
    points = int(grid) if isinstance(grid, (int, np.integer)) else points
    a_row, memory = 8 * len(study.model.outputs) * n_features * points, study.resources.memory
    if len(kept) * a_row > memory:
        told = f"{counted(len(kept))} individual curves of {counted(n_features)} features would take about {len(kept) * a_row / 2**20:,.0f} MB"
        hint = f"keep a sample of the curves with rows={max(1, memory // a_row)} (averages still use every row), or raise Explainer(memory=...)"
        raise BudgetError.saying(f"{told}, over the budget of {memory / 2**20:,.0f} MB.", hint)
    return kept
