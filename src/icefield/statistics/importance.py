"""Importance: how much a feature moves the predictions, by its curves and by its absence.

Features are ranked by the number every other table and the report rank them by: how far rows' predictions move with
the feature over the data (`Decision.movement`). The classical measure, the partial dependence's spread over its grid
(Greenwell, Boehmke & McCarthy 2018), stands beside it and ranks when asked for by name; so does the mean spread of
the individual curves (Goldstein et al. 2015), and, when targets are known, how much worse the model predicts when
the feature's values are shuffled (Breiman 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import Feature, listed_features
from icefield.data.grid import Grid
from icefield.effect import Effect, drawing
from icefield.errors import InputError
from icefield.models.pace import interruptible
from icefield.sampling import PERMUTED_ROWS
from icefield.statistics.decision import Decision, decisions_beside
from icefield.statistics.ice_sample import IceRequest
from icefield.statistics.ice_statistics import deviation, point_weights, shown_points
from icefield.statistics.observations import observed_outputs
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Backend, Float
from icefield.wording.labels import model_quantity
from icefield.wording.sentences import importance_words

REPEATS = 5
MEASURES = ("movement", "curve_sd")


@dataclass(frozen=True, eq=False, repr=False)
class Importance(ResultTable):
    """Features by importance, one row per feature and output. `effects` holds the curves behind it.

    Columns: ``feature``, ``output``, ``importance`` (the measure features are ranked by), ``movement`` with its parts
    ``strength`` and ``heterogeneity`` (in standard deviations of the predictions), ``curve_sd`` (standard
    deviation of the partial dependence over its grid) and ``individual`` (mean spread of individual curves), both in the predictions' own
    unit, ``direction``, ``shape``, and, when ``y`` is known, ``permutation`` and ``permutation_std`` (increase of the
    mean squared error).
    """

    effects: Mapping[Any, Effect]
    measure: str = "movement"

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = {"permutation_std", "strength", self.measure}
        if len(set(self.columns["output"].tolist())) == 1:
            hidden.add("output")
        return {name: values for name, values in self.columns.items() if name not in hidden}

    @drawing
    def plot(
        self,
        value: str | Sequence[str] = "importance",
        *,
        backend: Backend = "matplotlib",
        ax: Any = None,
        top: int | None = None,
        outputs: Any = None,
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Bars, longest first, coloured by direction, with the shape of each effect.

        Parameters
        ----------
        value : which column, or several, drawn side by side in the order of the first: ``"permutation"`` has lines
            for its spread over shuffles, ``"disagreement"`` is how differently rows respond (``heterogeneity``)
        top : how many features
        outputs : which outputs (names), all by default
        backend, ax, title, colors, cmap, figsize : as in `Effect.plot`
        """

    def _drawn(self, value: str | Sequence[str] = "importance", **options: Any) -> Any:
        from icefield.plots import plot_importance

        if value == "spread":
            validate.old_word('plot("spread")', 'plot("curve_sd")')
            value = "curve_sd"
        return plot_importance(self, value, **options)


def importance(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    measure: str = "movement",
    weighted: bool = False,
    permutation: bool | None = None,
    repeats: int = REPEATS,
    grid: Any = None,
    rows: Any = None,
) -> Importance:
    """Rank features by how much they move the predictions.

    Parameters are those of `Explainer.importance`.

    Notes
    -----
    For numbers and times `curve_sd` is the standard deviation over the K grid points, with K - 1; for
    categories and booleans a quarter of the range, which estimates a standard deviation for few levels. With
    ``weighted=True`` both are the standard deviation over the data. The missing point takes no part.

    References
    ----------
    B. M. Greenwell, B. C. Boehmke and A. J. McCarthy, "A simple and effective model-based variable
    importance measure", arXiv:1805.04755 (2018).
    """
    if measure == "spread":
        validate.old_word('measure="spread"', 'measure="curve_sd"')
        measure = "curve_sd"
    validate.choice("measure", measure, MEASURES)
    names = listed_features(features, study.model.columns)
    # The classical measure is over an even grid.
    even = IceRequest(Grid() if grid is None else grid, spread=False)
    sizes: dict[Any, Float] = {}  # read when the curves are there: those of many features do not stay

    def see(effect: Effect) -> None:
        sizes[effect.features[0]] = individual_importance(effect, weighted, effect.row_weights)

    made, (curves,) = decisions_beside(study, names, even, rows=rows, see=see)
    ranked = list(made)
    if measure == "curve_sd":
        ranked.sort(key=lambda name: -float(np.nanmean(curve_importance(curves[name], weighted))))
    shuffled, loss_note = _permuted(study, [made[name].asked for name in ranked], permutation, repeats, rows)
    columns = _columns(study, [(made[name], curves[name], sizes[name]) for name in ranked], measure, weighted)
    if shuffled is not None:
        columns["permutation"], columns["permutation_std"] = map(np.concatenate, zip(*shuffled))
    notes = _how_measures_differ(study, columns, list(made), weighted), made.note, loss_note, study.how
    return Importance(
        columns=columns,
        title=f"Importance for {model_quantity(study.naming, study.model)}: {_how(measure, weighted)}",
        notes=tuple(filter(None, notes)),
        library=study.sample.table.library,
        naming=study.naming,
        effects={name: curves[name] for name in ranked},
        measure=measure,
    )


def _how(measure: str, weighted: bool) -> str:
    if measure == "movement":
        return "how far rows' predictions move with the feature, in SD of the predictions"
    if weighted:
        return "standard deviation of the partial dependence over the data"
    return "standard deviation of the partial dependence over its grid, a quarter of the range for levels"


def _how_measures_differ(
    study: Study, columns: Mapping[str, NDArray[Any]], ranked: Sequence[Any], weighted: bool
) -> str:
    """Two measures in one table: how they differ, and where most."""
    over = "the data" if weighted else "the grid points, which count alike however few rows are near"
    text = f"movement is of every row's curve, over the data; curve_sd of the average alone, over {over}"
    spread: dict[Any, float] = {}
    for name, size in zip(columns["feature"].tolist(), columns["curve_sd"].tolist()):
        spread[name] = max(spread.get(name, 0.0), size)
    by_movement = {name: place for place, name in enumerate(ranked)}
    by_sd = {name: place for place, name in enumerate(sorted(ranked, key=lambda name: -spread[name]))}
    apart = max(ranked, key=lambda name: abs(by_movement[name] - by_sd[name]))
    if by_movement[apart] != by_sd[apart]:
        places = f"rank {by_movement[apart] + 1} by movement, {by_sd[apart] + 1} by curve_sd"
        text += f". They differ most for {study.naming.name(apart)}: {places}"
    return text


def curve_importance(effect: Effect, weighted: bool = False) -> Float:
    """Spread of a one-way effect's average, per output."""
    return _spread(effect, effect.average, weighted)


def individual_importance(effect: Effect, weighted: bool = False, row_weights: Float | None = None) -> Float:
    """Mean spread of the kept individual curves, per output."""
    if effect.individual is None:
        return np.full(len(effect.outputs), np.nan)
    spreads = _spread(effect, effect.individual, weighted)
    return np.average(spreads, axis=1, weights=row_weights)


def _spread(effect: Effect, curves: Float, weighted: bool) -> Float:
    known = curves[..., shown_points(effect)]
    if weighted:
        return np.asarray(deviation(known, point_weights(effect)))
    if not effect.ordered[0]:
        return np.asarray((known.max(axis=-1) - known.min(axis=-1)) / 4.0)
    return known.std(axis=-1, ddof=1) if known.shape[-1] > 1 else np.zeros(known.shape[:-1])


def _columns(
    study: Study, ranked: Sequence[tuple[Decision, Effect, Float]], measure: str, weighted: bool
) -> dict[str, NDArray[Any]]:
    outputs = study.model.outputs
    readings = [reading for decision, _, _ in ranked for reading in decision.readings]
    measures = {
        "movement": np.array([r.movement for r in readings]),
        "curve_sd": np.concatenate([curve_importance(effect, weighted) for _, effect, _ in ranked]),
    }
    spread = measures["curve_sd"]
    shares = np.nan_to_num(spread) / max(float(np.nanmax(spread, initial=0.0)), 1e-300)  # of the largest
    return {
        "feature": labels_column([decision.feature for decision, _, _ in ranked for _ in outputs]),
        "output": labels_column([o for _ in ranked for o in outputs]),
        "importance": measures[measure].copy(),
        **measures,
        "individual": np.concatenate([spreads for _, _, spreads in ranked]),
        "strength": np.array([r.strength for r in readings]),
        "heterogeneity": np.array([np.nan if r.heterogeneity is None else r.heterogeneity for r in readings]),
        "direction": labels_column([r.direction for r in readings]),
        "shape": labels_column([importance_words(r, s) for r, s in zip(readings, shares)]),
    }


def _permuted(
    study: Study, names: Sequence[Any], wanted: bool | None, repeats: int, rows: Any
) -> tuple[list[tuple[Float, Float]] | None, str]:
    if wanted is False:
        return None, ""
    validate.count("repeats", repeats)
    observed, reason = observed_outputs(study)
    if observed is None:
        if wanted:
            problem = f"Permutation importance compares predictions with observations, but {reason}."
            raise InputError.saying(problem, "pass y to Explainer, on the scale of the predictions")
        return None, "" if study.sample.y is None else f"no permutation importance: {reason}"
    n_rows = study.sample.n_rows
    used = validate.row_positions(min(PERMUTED_ROWS, n_rows) if rows is None else rows, n_rows, study.seed)
    note = f"permutation: increase of the mean squared error on {counted(len(used))} rows, {repeats} shuffles"
    features = study.resolve(names)
    return [permutation_importance(study, f, observed, used, repeats) for f in features], note


def permutation_importance(
    study: Study, feature: Feature, observed: Float, used: NDArray[np.intp], repeats: int
) -> tuple[Float, Float]:
    """Mean and standard deviation over shuffles of the increase in squared error, per output.

    With weights, donors are drawn in proportion to them: a weight of 2 is a duplicated row there too.
    """
    table = study.sample.table.take(used).select(study.model.columns)
    weights = None if study.sample.weights is None else study.sample.weights[used]
    truth = observed[used]
    rng = np.random.default_rng(study.seed)

    def loss(predicted: Float) -> Float:
        return np.asarray(np.average(np.square(predicted - truth), axis=0, weights=weights))

    base = loss(interruptible(study.model, table))
    worse = []
    for _ in range(repeats):
        n, share = len(used), None if weights is None else weights / weights.sum()
        donors = rng.permutation(n) if share is None else rng.choice(n, n, p=share)
        donor = table.select(feature.columns).take(donors)
        shuffled = table.with_columns_of(feature.columns, donor)
        worse.append(loss(interruptible(study.model, shuffled)) - base)
    increases = np.stack(worse)
    spread = increases.std(axis=0, ddof=1) if repeats > 1 else np.zeros(increases.shape[1])
    return increases.mean(axis=0), spread
