"""The statistics' methods of an Explainer: each with its keywords, its meaning and an example.

They hand over to the modules beside this one, which are imported when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icefield import validate
from icefield.core.study import Study

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.audit.result import Audit
    from icefield.effect import Effect
    from icefield.statistics.change import Change
    from icefield.statistics.conditional import Conditional
    from icefield.statistics.importance import Importance
    from icefield.statistics.interactions import Interactions
    from icefield.statistics.regions import Regions
    from icefield.statistics.summary import Summary


@validate.keywords_told
class StatisticsMethods:
    """What an Explainer answers beyond curves."""

    study: Study

    if not TYPE_CHECKING:  # for which every name would be one then

        def __getattr__(self, name: str) -> Any:
            raise validate.unknown_question(self, name)

    @validate.renamed("order", "level_order")
    def ale(
        self,
        *features: Any,
        bins: Any = None,
        level_order: Any = "similarity",
        rows: Any = None,
        by: Any = None,
    ) -> Effect:
        """Accumulated local effects of one feature, or the pure interaction effect of two.

        `bins` is the number of quantile bins or their edges; `level_order` how levels are ordered: ``"similarity"`` (of
        the other features' distributions), ``"given"`` (the data's own order) or the levels themselves; `by` gives an
        effect per group too, as `by` of the Explainer; see `icefield.statistics.ale.ale`.

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2])
        >>> ex = icefield.Explainer(lambda rows: 2 * rows[:, 0] + rows[:, 1], X)
        >>> ex.ale(0, bins=2).average
        array([[-3.6,  0.4,  4.4]])
        """
        self.study.needs_rows("accumulated local effects")
        from icefield.statistics.ale import ale

        return ale(self.study.grouped(by), *features, bins=bins, order=level_order, rows=rows)

    def change(
        self,
        feature: Any,
        start: Any = ...,
        end: Any = ...,
        *,
        plus: Any = None,
        times: Any = None,
        across: Mapping[Any, Any] | None = None,
        given: Sequence[Any] | None = None,
        by: Any = None,
        quantiles: Any = (0.05, 0.5, 0.95),
        level: float = 0.95,
        spread: bool = True,
        rows: Any = None,
    ) -> Change:
        """How predictions change when a feature changes by a stated amount: mean, standard error and spread over rows.

        Parameters
        ----------
        feature : one feature; or a mapping for several that move together, ``{"age": (30, 50), "income": {"plus": 1000}}``,
            or a list of ``(feature, start, end)``
        start, end : values that all rows take; without `start`, rows start where they are. None is a missing value
        plus, times : from each row's own value to that plus, or times, a number (a duration for times)
        across : ``{"sex": ("male", "female")}`` for a difference of changes: how much the change differs when these go
            from the first value to the second
        given : the columns that a causal interpretation adjusts for; a note names those left out
        by : an answer per group too, as `by` of the Explainer
        quantiles : of rows' changes
        level : confidence level of the intervals
        spread : with errors, and how rows differ; False for the means alone, which cost less
        rows : average over these rows only: a number (sampled with the seed), a mask or positions

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(4.0), [0.0, 1.0, 0.0, 1.0]])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] * (1 + rows[:, 1]), X)
        >>> ex.change(0, 1.0, 3.0)["estimate"]
        array([3.])
        """
        self.study.needs_rows("changes")
        from icefield.statistics.change import change

        return change(
            self.study.grouped(by),
            feature,
            start,
            end,
            plus=plus,
            times=times,
            across=across,
            given=given,
            quantiles=quantiles,
            level=level,
            spread=spread,
            rows=rows,
        )

    def slope(
        self,
        feature: Any,
        *,
        step: Any = None,
        given: Sequence[Any] | None = None,
        by: Any = None,
        quantiles: Any = (0.05, 0.5, 0.95),
        level: float = 0.95,
        spread: bool = True,
        rows: Any = None,
    ) -> Change:
        """The average slope of predictions along a feature, at rows' own values.

        The derivative of smooth models; of step functions (trees) the change per unit over a tenth of the middle 90 % of
        the data. A note says which, and `Change.step` over what step.

        Parameters
        ----------
        feature : one number or time (per day)
        step : step of the central difference, in units of the feature
        given, by, quantiles, level, spread, rows : as in `change`

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.linspace(0.0, 2.0, 5)[:, None]
        >>> icefield.Explainer(lambda rows: rows[:, 0] ** 2, X).slope(0)["estimate"].round(3)
        array([2.])
        """
        self.study.needs_rows("slopes")
        from icefield.statistics.change import slope

        return slope(
            self.study.grouped(by),
            feature,
            step=step,
            given=given,
            quantiles=quantiles,
            level=level,
            spread=spread,
            rows=rows,
        )

    def audit(
        self,
        features: Iterable[Any] | None = None,
        *,
        increasing: Any = (),
        decreasing: Any = (),
        declared: bool = True,
        everywhere: bool = True,
        seconds: float = 10.0,
        bounds: Any = False,
        flips: Any = None,
        threshold: float | None = None,
        points: int = 100,
        worst: int = 3,
        by: Any = None,
        rows: Any = None,
    ) -> Audit:
        """Whether predictions only rise or only fall along features, with a proof or a counter-example.

        On all given rows, at every threshold of a model made of trees (on a grid for others, and it says so); and for every
        possible input, where trees allow it.

        Parameters
        ----------
        features : which; all of the model's by default
        increasing, decreasing : features along which predictions must never fall, or never rise
        declared : also hold the model to the monotone and interaction constraints it was fitted with
        everywhere : also decide for every possible input: every number, a missing value in columns that have some, the levels
            that categories have
        seconds : time limit of that search; what is undecided by then has a bound
        bounds : True for the lowest and the highest possible prediction over all inputs, or a box: ``{"age": (18, 30), "sex": ["male"]}``
        flips : a column, or several: what changing it alone does to predictions
        threshold : predictions of at least this count as positive decisions, for `flips`
        points : of the grid, where thresholds are not known
        worst : how many rows to name as counter-examples, for each feature
        by : shares by group too, as `by` of the Explainer
        rows : these rows only: a number (sampled with the seed), a mask or positions

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(4.0), [0.0, 1.0, 0.0, 1.0]])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] * (1 - 2 * rows[:, 1]), X)
        >>> found = ex.audit(increasing=[0])
        >>> found.ok, found["falls"].tolist()
        (False, [0.5, 0.75])
        """
        self.study.needs_rows("audits")
        from icefield.audit.auditing import audit

        return audit(
            self.study.grouped(by),
            features,
            increasing=increasing,
            decreasing=decreasing,
            declared=declared,
            everywhere=everywhere,
            seconds=seconds,
            bounds=bounds,
            flips=flips,
            threshold=threshold,
            points=points,
            worst=worst,
            rows=rows,
        )

    def expectations(self, features: Iterable[Any] | None = None, *, seconds: float = 10.0) -> str:
        """A first file of expectations (TOML), drafted from what holds now; `icefield.check` holds a model to it.

        Parameters
        ----------
        features : which; all of the model's by default
        seconds : time limit of the statements about every possible input
        """
        self.study.needs_rows("expectations")
        from icefield.audit.expectations import draft

        return draft(self.study, features, seconds)

    def snapshot(self, path: str | Path, *, refits: Any = None) -> Path:
        """Write the model's effects to a folder of small sorted files, to compare the next model with (`icefield.check`).

        Written over an earlier snapshot, numbers that differ by noise stay as they were, so that the files' diff is what changed.

        Parameters
        ----------
        path : the folder
        refits : fitted models (the same model fitted to other draws of the data), or how many to make of halves of the rows (the
            Explainer needs ``y`` then; weights are handed on, clusters stay whole): how far they differ is how much a number may change. Without, a share of the predictions'
            standard deviation is allowed, and answers say so
        """
        self.study.needs_rows("snapshots")
        from icefield.audit.snapshot import snapshot

        return snapshot(self.study, path, refits)

    def conditional(self, feature: Any, *, bins: Any = 20, rows: Any = None) -> Conditional:
        """Observed and predicted means per bin (the M-plot), with PD and ALE, in one table.

        Parameters
        ----------
        feature : one feature
        bins : number of quantile bins, or the edges; categories have their levels
        rows : whose means and effects: a mask or positions, all rows by default. Bins are those of all rows whichever
            are chosen, so that tables of different rows compare. A number is how many rows, sampled with the seed, the
            partial dependence averages over while means stay those of all rows; without any, that is so where each row
            costs predictions

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(6.0), np.arange(6.0)])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] + rows[:, 1], X, y=2 * X[:, 0])
        >>> ex.conditional(0, bins=2)["predicted"]
        array([2., 8.])
        """
        self.study.needs_rows("means per bin")
        from icefield.statistics.conditional import conditional

        return conditional(self.study, feature, bins=bins, rows=rows)

    def importance(
        self,
        features: Iterable[Any] | None = None,
        *,
        measure: str = "movement",
        weighted: bool = False,
        permutation: bool | None = None,
        repeats: int = 5,
        grid: Any = None,
        rows: Any = None,
    ) -> Importance:
        """Features by how much they move the predictions, with direction and shape.

        Parameters
        ----------
        features : which features; all of the model's by default
        measure : what features are ranked by: ``"movement"``, how far rows' predictions move with the feature over
            the data, in standard deviations of the predictions, as everywhere; or ``"curve_sd"``, the classical
            standard deviation of the partial dependence over its grid
        weighted : `curve_sd` and `individual` over the data's distribution of the feature instead of evenly over the
            grid
        permutation : permutation importance too; by default when ``y`` was given
        repeats : shuffles per feature
        grid : grid of the curves, as in `partial_dependence`
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0)])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] + 3 * rows[:, 1], X)
        >>> ex.importance()["feature"]
        array([1, 0])
        """
        self.study.needs_rows("importances")
        from icefield.statistics.importance import importance

        return importance(
            self.study,
            features,
            measure=measure,
            weighted=weighted,
            permutation=permutation,
            repeats=repeats,
            grid=grid,
            rows=rows,
        )

    def interactions(
        self,
        features: Iterable[Any] | None = None,
        *,
        method: str = "h",
        triples: Any = None,
        overall: bool = True,
        rows: Any = None,
    ) -> Interactions:
        """Friedman's H of every pair, and of each feature with all others.

        Parameters
        ----------
        features : which features; all of the model's by default
        method : ``"h"``, or ``"variance"`` for Greenwell et al.'s statistic: how much the importance of
            one feature varies along the other
        triples : True for the three-way statistic of every triple, or the triples wanted
        overall : also each feature's interaction with all others together
        rows : evaluate at these rows; by default all where the engine can, else 300 sampled with the seed

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
        >>> ex.interactions().pairs()["h"]
        array([1.])
        """
        self.study.needs_rows("H statistics")
        from icefield.statistics.interactions import interactions

        return interactions(self.study, features, method=method, triples=triples, overall=overall, rows=rows)

    def regions(
        self,
        feature: Any,
        *,
        method: str = "rules",
        depth: int = 2,
        clusters: int | None = None,
        least_rows: float = 0.02,
        least_removed: float | None = None,
        grid: Any = None,
        rows: Any = None,
    ) -> Regions:
        """Readable rules on other features within which a feature's individual curves agree.

        Parameters
        ----------
        feature : one feature
        method : ``"rules"``, or ``"clusters"`` to cluster the curves and explain each cluster by a rule
        depth : levels of splits, so at most ``2 ** depth`` regions
        clusters : how many clusters; None adds clusters while each removes `least_removed`
        least_rows : least share of rows in a region
        least_removed : least share of all heterogeneity that a split must remove: 0.10 by default, and 0.35
            for the first split of curves that differ little
        grid : grid of the curves
        rows : use these rows' curves; by default at most 1,000, sampled with the seed

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.tile(np.arange(10.0), 20), np.repeat([0, 1], 100)])
        >>> ex = icefield.Explainer(lambda rows: rows[:, 0] * np.where(rows[:, 1] > 0, 1, -1), X)
        >>> ex.regions(0)["rule"].tolist()
        ['1 <= 0.5', '1 > 0.5']
        """
        self.study.needs_rows("regions")
        from icefield.statistics.regions import regions

        return regions(
            self.study,
            feature,
            method=method,
            depth=depth,
            clusters=clusters,
            least_rows=least_rows,
            least_removed=least_removed,
            grid=grid,
            rows=rows,
        )

    def summary(
        self, features: Iterable[Any] | None = None, *, grid: Any = None, rows: Any = None
    ) -> Summary:
        """What each feature does, how strongly, with whom, and how far the data supports it.

        Parameters
        ----------
        features : which features; all of the model's by default
        grid : grid of the curves
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.column_stack([np.arange(20.0), np.arange(20.0) % 7])
        >>> icefield.Explainer(lambda rows: rows[:, 0] - 2 * rows[:, 1], X).summary()["shape"].tolist()
        ['linear, increasing', 'linear, decreasing']
        """
        self.study.needs_rows("a summary")
        from icefield.statistics.summary import summary

        return summary(self.study, features, grid=grid, rows=rows)
