"""Importance: how much a feature moves the predictions, by its curves and by its absence.

The partial dependence's spread over the grid (Greenwell, Boehmke & McCarthy 2018) is the
headline. Because an average can be flat while individual curves are not (Goldstein et al. 2015), the mean
spread of the individual curves stands beside it, and, when targets are known, how much worse the
model predicts when the feature's values are shuffled (Breiman 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.data.features import Feature
from icefield.effect import Effect, drawing
from icefield.engines.brute import interruptible
from icefield.errors import InputError
from icefield.sampling import PERMUTED_ROWS
from icefield.statistics.bundles import deviation, effects_with_curves, point_weights, shown_points
from icefield.statistics.observations import observed_outputs
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Backend, Float
from icefield.wording.sentences import shape_words

if TYPE_CHECKING:
    from icefield.study import Study

REPEATS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Importance(ResultTable):
    """Features by importance, one row per feature and output. `effects` holds the curves behind it.

    Columns: ``feature``, ``output``, ``importance`` (spread of the partial dependence), ``individual`` (mean
    spread of individual curves), ``strength`` and ``heterogeneity`` (in standard deviations of the
    predictions), ``direction``, ``shape``, and, when ``y`` is known, ``permutation`` and
    ``permutation_std`` (increase of the mean squared error).
    """

    effects: Mapping[Any, Effect]

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        hidden = {"permutation_std", "strength"}
        if len(set(self.columns["output"].tolist())) == 1:
            hidden.add("output")
        return {name: values for name, values in self.columns.items() if name not in hidden}

    @drawing
    def plot(
        self,
        value: str = "importance",
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
        value : which column
        top : how many features
        outputs : which outputs (names), all by default
        backend, ax, title, colors, cmap, figsize : as in `Effect.plot`
        """

    def _drawn(self, value: str = "importance", **options: Any) -> Any:
        from icefield.plots import plot_importance

        return plot_importance(self, value, **options)


def importance(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    weighted: bool = False,
    permutation: bool | None = None,
    repeats: int = REPEATS,
    grid: Any = None,
    rows: Any = None,
) -> Importance:
    """Rank features by how much they move the predictions.

    Parameters
    ----------
    study : the model and its data
    features : which features; all of the model's by default
    weighted : spread over the data's distribution of the feature instead of evenly over the grid
    permutation : permutation importance too; by default when ``y`` was given
    repeats : shuffles per feature
    grid : grid of the curves, as in `Explainer.partial_dependence`
    rows : average over these rows; by default all, or a seeded sample where each row costs predictions

    Notes
    -----
    For numbers and times the spread is the standard deviation over the K grid points, with K - 1; for
    categories and booleans a quarter of the range, which estimates a standard deviation for few levels. With
    ``weighted=True`` both are the standard deviation over the data. The missing point takes no part.

    References
    ----------
    B. M. Greenwell, B. C. Boehmke and A. J. McCarthy, "A simple and effective model-based variable
    importance measure", arXiv:1805.04755 (2018).
    """
    asked = study.listed(features)
    effects, note = effects_with_curves(study, asked, grid=grid, rows=rows)
    shuffled, loss_note = _shuffled(study, asked, permutation, repeats, rows)
    ranked = sorted(
        range(len(effects)), key=lambda i: -float(np.nanmean(curve_importance(effects[i], weighted)))
    )
    columns = _columns(study, [effects[i] for i in ranked], weighted)
    if shuffled is not None:
        columns["permutation"] = np.concatenate([shuffled[i][0] for i in ranked])
        columns["permutation_std"] = np.concatenate([shuffled[i][1] for i in ranked])
    how = "standard deviation of the partial dependence over the data" if weighted else (
        "standard deviation of the partial dependence over its grid, a quarter of the range for levels"
    )  # fmt: skip
    return Importance(
        columns=columns,
        title=f"Importance on {study.model.scale_label}: {how}",
        notes=tuple(n for n in (note, loss_note, study.how) if n),
        library=study.table.library,
        effects={effects[i].features[0]: effects[i] for i in ranked},
    )  # fmt: skip


def curve_importance(effect: Effect, weighted: bool = False) -> Float:
    """Spread of a one-way effect's average, per output."""
    return _spread(effect, effect.average, weighted)


def individual_importance(effect: Effect, weighted: bool = False, row_weights: Float | None = None) -> Float:
    """Mean spread of the kept individual curves, per output."""
    if effect.individual is None:
        return np.full(len(effect.outputs), np.nan)
    own = _spread(effect, effect.individual, weighted)
    return np.average(own, axis=1, weights=row_weights)


def _spread(effect: Effect, curves: Float, weighted: bool) -> Float:
    known = curves[..., shown_points(effect)]
    if weighted:
        return np.asarray(deviation(known, point_weights(effect)))
    if not effect.ordered[0]:
        return np.asarray((known.max(axis=-1) - known.min(axis=-1)) / 4.0)
    return known.std(axis=-1, ddof=1) if known.shape[-1] > 1 else np.zeros(known.shape[:-1])


def _columns(study: Study, effects: Sequence[Effect], weighted: bool) -> dict[str, NDArray[Any]]:
    outputs = study.model.outputs
    readings = [reading for effect in effects for reading in effect.reading.each]
    own = [individual_importance(e, weighted, e.row_weights) for e in effects]
    return {
        "feature": labels_column([e.features[0] for e in effects for _ in outputs]),
        "output": labels_column([o for _ in effects for o in outputs]),
        "importance": np.concatenate([curve_importance(e, weighted) for e in effects]),
        "individual": np.concatenate(own),
        "strength": np.array([r.strength for r in readings]),
        "heterogeneity": np.array([np.nan if r.heterogeneity is None else r.heterogeneity for r in readings]),
        "direction": labels_column([r.direction for r in readings]),
        "shape": labels_column([shape_words(r) for r in readings]),
    }


# --- permutation -----------------------------------------------------------------------------------


def _shuffled(
    study: Study, asked: Sequence[Any], wanted: bool | None, repeats: int, rows: Any
) -> tuple[list[tuple[Float, Float]] | None, str]:
    if wanted is False:
        return None, ""
    validate.count("repeats", repeats)
    observed, reason = observed_outputs(study)
    if observed is None:
        if wanted:
            raise InputError(
                f"Permutation importance compares predictions with observations, but {reason}. "
                "Hint: pass y to Explainer, on the scale of the predictions."
            )
        return None, "" if study.y is None else f"no permutation importance: {reason}"
    n_rows = study.n_rows
    used = validate.row_positions(min(PERMUTED_ROWS, n_rows) if rows is None else rows, n_rows, study.seed)
    note = f"permutation: increase of the mean squared error on {len(used):,} rows, {repeats} shuffles"
    features = study.resolve(asked)
    return [permutation_importance(study, f, observed, used, repeats) for f in features], note


def permutation_importance(
    study: Study, feature: Feature, observed: Float, used: NDArray[np.intp], repeats: int
) -> tuple[Float, Float]:
    """Mean and standard deviation over shuffles of the increase in squared error, per output.

    With weights, donors are drawn in proportion to them: a weight of 2 is a duplicated row there too.
    """
    table = study.table.take(used).select(study.model.columns)
    weights = None if study.weights is None else study.weights[used]
    truth = observed[used]
    rng = np.random.default_rng(study.seed)

    def loss(predicted: Float) -> Float:
        return np.asarray(np.average(np.square(predicted - truth), axis=0, weights=weights))

    base = loss(interruptible(study.model, table))
    worse = []
    for _ in range(repeats):
        if weights is None:
            donors = rng.permutation(len(used))
        else:
            donors = rng.choice(len(used), len(used), p=weights / weights.sum())
        donor = table.select(feature.columns).take(donors)
        shuffled = table.with_columns_of(feature.columns, donor)
        worse.append(loss(interruptible(study.model, shuffled)) - base)
    increases = np.stack(worse)
    spread = increases.std(axis=0, ddof=1) if repeats > 1 else np.zeros(increases.shape[1])
    return increases.mean(axis=0), spread
