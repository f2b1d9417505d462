"""`PartialDependenceDisplay`: scikit-learn's pictures of icefield's numbers.

Drawing is inherited. `from_estimator` is not: scikit-learn's own looks its `partial_dependence` up
in its module, so the arguments are checked and the curves computed here, and only finished
results reach the inherited constructor and `plot`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats.mstats import mquantiles
from sklearn.base import is_regressor
from sklearn.inspection import PartialDependenceDisplay as _ScikitLearnDisplay
from sklearn.utils.parallel import Parallel, delayed

from icefield.sklearn.arguments import categorical_positions, column_of, names_of, position_of, rows_of
from icefield.sklearn.dependence import partial_dependence
from icefield.typing import Float

Pair = tuple[int, ...]


class PartialDependenceDisplay(_ScikitLearnDisplay):
    """Partial dependence and ICE plots, drawn by scikit-learn from icefield's numbers.

    The constructor, `plot` and every attribute are those of `sklearn.inspection.PartialDependenceDisplay`,
    of which this is a subclass.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = make_friedman1(random_state=0)
    >>> display = PartialDependenceDisplay.from_estimator(LinearRegression().fit(X, y), X, [0, (0, 1)])
    >>> display.lines_.shape
    (1, 2)
    """

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Any,
        *,
        sample_weight: Any = None,
        categorical_features: Any = None,
        feature_names: Any = None,
        target: Any = None,
        response_method: str = "auto",
        n_cols: int = 3,
        grid_resolution: int = 100,
        percentiles: tuple[float, float] = (0.05, 0.95),
        custom_values: dict[Any, Any] | None = None,
        method: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        line_kw: dict[str, Any] | None = None,
        ice_lines_kw: dict[str, Any] | None = None,
        pd_line_kw: dict[str, Any] | None = None,
        contour_kw: dict[str, Any] | None = None,
        ax: Any = None,
        kind: str | Sequence[str] = "average",
        centered: bool = False,
        subsample: float | int | None = 1000,
        random_state: Any = None,
    ) -> PartialDependenceDisplay:
        """Compute and draw, one plot for each entry of `features`.

        Parameters
        ----------
        estimator, X, sample_weight, categorical_features, feature_names, response_method, \
        grid_resolution, percentiles, custom_values, method : as for `partial_dependence`
        features : list of columns (a curve each) and pairs of columns (a surface each), by position or name
        target : the class of a multi-class classifier or the output of a multi-output regressor
        n_cols : plots per row of the figure
        n_jobs, verbose : how many entries of `features` are computed at once, and how much joblib prints
        line_kw, ice_lines_kw, pd_line_kw, contour_kw : keywords for matplotlib
        ax : one Axes to divide, or one for each plot
        kind : ``"average"``, ``"individual"`` or ``"both"``, for all plots or one for each
        centered : start every curve at zero
        subsample, random_state : how many individual curves are drawn, and which
        """
        # 1. What is asked.
        target_position = _class_position(estimator, target)
        X = rows_of(X)
        feature_names = names_of(X, feature_names)
        kinds = [kind] * len(features) if isinstance(kind, str) else list(kind)
        pairs = _pairs(features, kinds, feature_names)
        categorical = _categorical(X, pairs, kinds, categorical_features, feature_names, grid_resolution)
        _check_axes(ax, len(pairs))
        _check_range(pairs, feature_names)
        _check_subsample(subsample)

        # 2. The curves and surfaces.
        results = Parallel(n_jobs=n_jobs, verbose=verbose)(
            delayed(partial_dependence)(
                estimator,
                X,
                pair,
                sample_weight=sample_weight,
                feature_names=feature_names,
                categorical_features=categorical_features,
                response_method=response_method,
                method=method,
                grid_resolution=grid_resolution,
                percentiles=percentiles,
                kind=one_kind,
                custom_values=custom_values,
            )
            for pair, one_kind in zip(pairs, kinds)
        )
        if is_regressor(estimator):
            target_position = _task_position(results[0], target)

        # 3. The picture.
        display = cls(
            pd_results=results,
            features=pairs,
            feature_names=feature_names,
            target_idx=target_position,
            deciles=_deciles(X, pairs, categorical),
            kind=kind,
            subsample=subsample,
            random_state=random_state,
            is_categorical=categorical,
        )
        return display.plot(
            ax=ax,
            n_cols=n_cols,
            line_kw=line_kw,
            ice_lines_kw=ice_lines_kw,
            pd_line_kw=pd_line_kw,
            contour_kw=contour_kw,
            centered=centered,
        )


# --- which output ----------------------------------------------------------------------------------


def _class_position(estimator: Any, target: Any) -> int:
    classes = getattr(estimator, "classes_", ())
    if np.size(classes) <= 2:
        return 0
    if target is None:
        raise ValueError(f"target must be specified for multi-class: one of {list(classes)!r}.")
    matches = np.flatnonzero(np.asarray(classes) == target)
    if len(matches) == 0:
        raise ValueError(f"target not in est.classes_, got {target}.")
    return int(matches[0])


def _task_position(result: Any, target: Any) -> int:
    tasks = len(result["average"] if "average" in result else result["individual"])
    if tasks <= 1:
        return 0
    if target is None:
        raise ValueError(f"target must be specified for multi-output regressors: 0 to {tasks - 1}.")
    if not 0 <= target < tasks:
        raise ValueError(f"target must be in [0, n_tasks], got {target} with n_tasks={tasks}.")
    return int(target)


# --- which plots -----------------------------------------------------------------------------------


def _pairs(features: Any, kinds: Sequence[str], feature_names: Sequence[str]) -> list[Pair]:
    """Every entry as a tuple of one or two positions."""
    if len(kinds) != len(features):
        raise ValueError(
            "When `kind` is provided as a list of strings, it should contain as many elements as "
            f"`features`: {len(kinds)} kinds for {len(features)} features."
        )
    pairs = [_pair(entry, feature_names) for entry in features]
    surfaces = [len(pair) == 2 for pair in pairs]
    if any(surface and kind != "average" for surface, kind in zip(surfaces, kinds)):
        possible = ["average" if surface else kind for surface, kind in zip(surfaces, kinds)]
        raise ValueError(
            "ICE plot cannot be rendered for 2-way feature interactions. 2-way feature interactions "
            f"mandates PD plots using the 'average' kind: write kind={possible!r} for features={features!r}."
        )
    return pairs


def _pair(entry: Any, feature_names: Sequence[str]) -> Pair:
    members = (entry,) if isinstance(entry, (Integral, str)) else entry
    problem = (
        "Each entry in features must be either an int, a string, or an iterable of size at most 2, "
        f"got {entry!r}."
    )
    try:
        pair = tuple(position_of(member, feature_names) for member in members)
    except TypeError as error:
        raise ValueError(problem) from error
    if len(pair) not in (1, 2):
        raise ValueError(problem)
    return pair


def _check_range(pairs: Sequence[Pair], feature_names: Sequence[str]) -> None:
    n_names = len(feature_names)
    for position in chain.from_iterable(pairs):
        if position >= n_names:
            raise ValueError(
                f"All entries of features must be less than len(feature_names) = {n_names}, got {position}."
            )


def _check_axes(ax: Any, n_expected: int) -> None:
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes) and np.asarray(ax, dtype=object).size != n_expected:
        raise ValueError(f"Expected ax to have {n_expected} axes, got {np.asarray(ax, dtype=object).size}")


def _check_subsample(subsample: Any) -> None:
    if isinstance(subsample, Integral):
        if subsample <= 0:
            raise ValueError(f"When an integer, subsample={subsample} should be positive.")
    elif isinstance(subsample, Real) and not 0 < float(subsample) < 1:
        raise ValueError(f"When a floating-point, subsample={subsample} should be in the (0, 1) range.")


# --- categories and deciles ------------------------------------------------------------------------


def _categorical(
    X: Any,
    pairs: Sequence[Pair],
    kinds: Sequence[str],
    categorical_features: Any,
    feature_names: Sequence[str],
    grid_resolution: int,
) -> list[tuple[bool, ...]]:
    """For each plot, which of its columns are categories; what cannot be drawn is refused."""
    positions = categorical_positions(categorical_features, feature_names, X.shape[1])
    flags = [tuple(position in positions for position in pair) for pair in pairs]
    if any(len(set(flag)) == 2 for flag in flags):
        raise ValueError(
            "Two-way partial dependence plots are not supported for pairs of continuous and categorical "
            "features."
        )
    with_categories = {position for pair, flag in zip(pairs, flags) if any(flag) for position in pair}
    if with_categories:
        fewest = min(len(set(np.asarray(column_of(X, position)).tolist())) for position in with_categories)
        if grid_resolution < fewest:
            raise ValueError(
                "The resolution of the computed grid is less than the minimum number of categories in the "
                f"targeted categorical features. Expect the `grid_resolution` to be greater than {fewest}. "
                f"Got {grid_resolution} instead."
            )
    if any(any(flag) and kind != "average" for flag, kind in zip(flags, kinds)):
        raise ValueError("It is not possible to display individual effects for categorical features.")
    return flags


def _deciles(X: Any, pairs: Sequence[Pair], categorical: Sequence[tuple[bool, ...]]) -> dict[int, Float]:
    numeric = {p for pair, flags in zip(pairs, categorical) for p, flag in zip(pair, flags) if not flag}
    tenths = np.arange(0.1, 1.0, 0.1)
    return {p: mquantiles(column_of(X, p), prob=tenths) for p in sorted(numeric)}
