"""Explainer: what a user holds. A facade over a `Study`, with a method for every question.

Each method checks its plain arguments, asks the study, and hands back the result. Statistics, pictures and the report
are imported when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.effects import Request, compute_effects, compute_to_precision
from icefield.core.engine import Choices, Plan
from icefield.core.question import Resources
from icefield.core.study import Study, for_one_call
from icefield.data.frame import Table
from icefield.data.groups import Groups
from icefield.data.naming import naming_of
from icefield.effect import Effect, Effects, drawing
from icefield.errors import InputError, InputTypeError
from icefield.models.across_rows import not_row_by_row
from icefield.models.model import Model
from icefield.rows.open_rows import BesideColumns, open_rows
from icefield.typing import (
    AxisScale,
    Backend,
    Background,
    BandShown,
    DataShown,
    EffectKind,
    EngineChoice,
    Float,
    Layout,
    LevelOrder,
    PictureKind,
    Scale,
)

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.audit.result import Audit
    from icefield.effect.record import Record
    from icefield.refits import Refits
    from icefield.report import Report
    from icefield.statistics.change import Change
    from icefield.statistics.conditional import Conditional
    from icefield.statistics.importance import Importance
    from icefield.statistics.interactions import Interactions
    from icefield.statistics.regions import Regions
    from icefield.statistics.summary import Summary

CARD_ROWS, CARD_POINTS, CARD_TOP, CARD_COLUMNS = 200, 20, 6, 100  # of what a notebook shows of an Explainer
QUESTIONS = (
    "partial_dependence", "ice", "ale", "effects", "importance", "interactions", "regions", "conditional", "change", "slope", "summary",
    "audit", "expectations", "snapshot", "refits", "record", "plot", "report", "explore", "serve", "plan",
)  # fmt: skip


@validate.explain_keywords
class Explainer:
    """Explain a fitted model on data.

    Parameters
    ----------
    model : any fitted model: scikit-learn estimators and pipelines, LightGBM, XGBoost and CatBoost
        wrappers or Boosters, PyTorch modules, ONNX models, or a callable ``f(rows) -> predictions``. After
        it has been refitted, calls are refused: build a new Explainer
    X : pandas or polars DataFrame, pyarrow Table, numpy array or scipy sparse matrix; may hold
        further columns for `by` and `weights`. It is neither changed nor copied, and statistics of it are kept:
        do not change it while the Explainer is in use. Rows beyond memory are streamed: a path, folder or glob of
        Parquet, Arrow or CSV files, also by a URL (``s3://``, ``gs://``, ``abfs://``, ``https://`` or any that fsspec knows), a Delta
        or Iceberg table, a pyarrow Dataset, a polars LazyFrame, a DuckDB relation, or a function
        that opens a RecordBatchReader; or stay on a cluster: a Dask or Spark DataFrame, a Ray Dataset. `y`, `weights` and
        `by` are then names of columns
    y : observed targets, one per row, or a column of X; needed only where predictions are compared with observations
    target : which outputs. None means all of them, except that a binary classifier gives its
        positive class; ``"all"`` always means all; otherwise a class label or output name, or a position
    scale : ``"response"``, what ``predict`` or ``predict_proba`` returns, or ``"raw"``, the margin
    weights : one non-negative weight per row, or a column of X; a weight of 2 counts the row twice
    by : a column of X or one label per row: every effect also gets a curve per group
    cluster : a column of X or one label per row: rows with the same label (of one person, one day) count as one
        observation in standard errors
    background : ``"data"`` averages over the rows of X, ``"training"`` with a tree model's own
        training counts
    engine : ``"auto"``, ``"trees"``, ``"gpu"`` (trees, on a GPU through CuPy) or ``"brute"``; ``"auto"`` only
        ever picks a faster way to the same number
    threads : how many threads; None chooses
    seed : seed of all random samples
    processes : run a slow pure-Python model in this many processes (it must be picklable)
    memory : bytes an effect may use beside the input
    checkpoint : for streamed rows, a file to which long passes save their sums every 20 seconds, to resume from
        after an interruption
    names : what sentences, axes, cards and the report call columns and their values: a mapping of a column to its name,
        to a mapping of values to names (``{"season": {1: "spring"}}``), or to a pair of both. Numbers whose
        values have names are codes without an order
    units : a mapping of a column, or of `target_name`, to its unit; ``"month"``, ``"weekday"`` (Monday is 0),
        ``"ISO weekday"`` (Monday is 1), ``"weekday from Sunday"`` (Sunday is 0), ``"time of day"`` (hours) and
        ``"HHMM"`` say what numbers mean, ``"code"`` that they have no order
    target_name : what is predicted: ``"delay"``
    row_by_row : declare that the model predicts each row independently of the others in the call. Estimators of known
        libraries do not need it; without it any other model or function gets all rows in one call at every grid
        point, and its rows cannot be streamed
    storage_options : how the store of a URL is reached, as in pandas (``{"key": ..., "secret": ...}``) or polars
        (``{"aws_access_key_id": ...}``); by default from the environment. Credentials are never shown

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    >>> ex = Explainer(lambda rows: 10 + 3 * rows[:, 0] + 2 * rows[:, 1], X)
    >>> ex.partial_dependence(0, grid=[2.0, 3.0]).average
    array([[28., 31.]])
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        target: Any = None,
        scale: Scale = "response",
        weights: Any = None,
        by: Any = None,
        cluster: Any = None,
        background: Background = "data",
        engine: EngineChoice = "auto",
        threads: int | None = None,
        seed: int = 0,
        processes: int | None = None,
        memory: int = 256 * 2**20,
        checkpoint: str | Path | None = None,
        names: Any = None,
        units: Any = None,
        target_name: str | None = None,
        row_by_row: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        validate.choice("scale", scale, ("response", "raw"))
        validate.choice("background", background, ("data", "training"))
        validate.choice("engine", engine, ("auto", "trees", "gpu", "brute"))
        hint = "leave it out, or write threads=None, to use all there are"
        validate.count("threads", threads, optional=True, hint=hint)
        validate.count("processes", processes, optional=True)
        validate.count("memory", memory)
        validate.count("seed", seed, least=0)
        validate.flag("row_by_row", row_by_row)
        resources = Resources(int(memory), threads, processes, int(seed))
        choices = Choices(background, engine, resources)
        beside = BesideColumns(y, weights, by, cluster)
        opened = open_rows(
            model,
            X,
            beside,
            choices,
            target=target,
            scale=scale,
            row_by_row=row_by_row,
            checkpoint=checkpoint,
            storage_options=storage_options,
        )
        naming = naming_of(opened.head, names=names, units=units, target_name=target_name)
        self.study = Study.of(opened.model, opened.rows, replace(choices, naming=naming))
        for name, given in (("weights", weights), ("by", by), ("cluster", cluster)):
            if given is not None:
                self.study.needs_rows(f"`{name}`")
        self.model: Model = self.study.model

    if not TYPE_CHECKING:  # for which every name would be one then

        def __getattr__(self, name: str) -> Any:
            raise validate.unknown_question(self, name)

    @property
    def table(self) -> Table:
        """The rows; for a stream, a sample of them."""
        return self.study.sample.table

    @property
    def weights(self) -> Float | None:
        return self.study.sample.weights

    @property
    def y(self) -> NDArray[Any] | None:
        return self.study.sample.y

    @property
    def groups(self) -> Groups | None:
        return self.study.rows.groups

    @property
    def plan(self) -> Plan:
        """The engine in use and why it was chosen; decided at the first call."""
        plan = self.study.plan
        return replace(plan, why=self.study.why(plan))

    # --- questions -----------------------------------------------------------------------------

    def partial_dependence(
        self,
        *features: Any,
        grid: Any = None,
        individual: bool = False,
        spread: bool | None = None,
        quantiles: Sequence[float] | None = None,
        rows: Any = None,
        precision: float | None = None,
        support: bool = False,
        by: Any = None,
    ) -> Effect:
        """Partial dependence: the mean prediction over the rows with these features replaced.

        Parameters
        ----------
        *features : one, two or more columns by name or position, or one-hot groups
            ``{"embarked": ["embarked_C", ...]}``
        grid : a `Grid`, a number of points or the values, which keep the order given (a missing one last); for several
            features a sequence or mapping
        individual : keep every row's own curve as well
        spread : also the standard deviation and standard error; by default for one feature only
        quantiles : probabilities of the curves' quantiles to compute
        rows : average over these rows only: a number (sampled with the seed), a mask or positions. The standard
            error of a sample is relative to the curve of all rows
        precision : add random rows only until the standard error is below this share of the
            curve's range, measured on rows that were not used to find its ends; `Effect.n_rows` and `Effect.why` say how
            many rows that took
        support : also compute how much data supports each grid point, given the other features; plots
            fade where it is low. See `icefield.statistics.support.Support`
        by : also a curve per group, as `by` of the Explainer, for this call only

        Examples
        --------
        >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
        >>> ex = Explainer(lambda r: 5 + 2 * r[:, 0] + 3 * r[:, 1] + 4 * r[:, 0] * r[:, 1], X)
        >>> ex.partial_dependence(0, 1, grid=[[2.0], [20.0]]).average
        array([[[229.]]])
        >>> {label: group.n_rows for label, group in ex.partial_dependence(0, by=["a", "b", "a"]).groups.items()}
        {'a': 2, 'b': 1}
        """
        study = self.study.grouped(by)
        resolved = study.resolve(features)
        validate.flag("individual", individual)
        validate.flag("spread", spread, optional=True)
        validate.flag("support", support)
        picked = study.chosen(rows)
        chosen = picked.positions
        if precision is not None:
            validate.share("precision", precision)
            if quantiles is not None or individual:
                raise InputError.about("precision", "works on averages only; quantiles and individual curves do not merge", precision,
                                    "choose the rows with rows=...")  # fmt: skip
            if self.model.across_rows:
                hint = "choose the rows with rows=..."
                raise not_row_by_row(self.model, "precision", "adds rows call by call", precision, hint)
            effect = compute_to_precision(study, resolved, precision, grid=grid, rows=chosen)
            return self._with_support(effect, features, support)
        kept = np.arange(study.sample.n_rows if chosen is None else len(chosen)) if individual else None
        request = Request(sets=[resolved], grid=grid, spread=spread, quantiles=quantiles, rows=chosen,
                  sampled_from=picked.sampled_from, kept=kept)  # fmt: skip
        return self._with_support(compute_effects(study, request)[0], features, support)

    def ice(
        self,
        *features: Any,
        grid: Any = None,
        rows: Any = None,
        changed: Mapping[Any, Any] | None = None,
        quantiles: Any = None,
        support: bool = False,
        by: Any = None,
    ) -> Effect:
        """Individual conditional expectation (ICE): partial dependence that keeps the curves of single rows.

        `rows` chooses the rows: a number (sampled with the seed), a mask or positions, all by
        default; `changed` first replaces values of theirs, ``{"temp": 30.0, "weather": None}`` (None is a missing
        value). The average and spread are over all rows as they are in any case. `support` and `by` are as in
        `partial_dependence`.

        Examples
        --------
        >>> X = np.array([[1.0, 5.0], [2.0, 6.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
        >>> ex.ice(0, grid=[0.0, 1.0]).individual
        array([[[0., 5.],
                [0., 6.]]])
        >>> ex.ice(0, grid=[0.0, 1.0], rows=[1], changed={1: 9.0}).individual
        array([[[0., 9.]]])
        """
        resolved = self.study.resolve(features)
        validate.flag("support", support)
        kept = np.arange(self.study.sample.n_rows)
        if rows is not None:
            kept = validate.row_positions(rows, self.study.sample.n_rows, self.study.seed)
        request = Request(sets=[resolved], kind="ice", grid=grid, spread=True, quantiles=quantiles, kept=kept)
        effect = compute_effects(self.study.grouped(by), request)[0]
        if changed is not None:
            from icefield.core.changed_rows import with_changed_rows

            effect = with_changed_rows(self.study, effect, resolved, kept, changed)
        return self._with_support(effect, features, support)

    def _with_support(self, effect: Effect, features: tuple[Any, ...], support: bool) -> Effect:
        """The effect with its support, where that is wanted."""
        if not support:
            return effect
        self.study.needs_rows("support")
        from icefield.statistics.support import with_support

        return with_support(self.study, effect, features=features)

    def effects(
        self,
        features: Iterable[Any] | None = None,
        order: int = 1,
        spread: bool = False,
        grid: Any = None,
        by: Any = None,
        *,
        kind: EffectKind = "pd",
        rows: Any = None,
    ) -> Effects:
        """Every feature's effect (``order=1``), or every pair's partial dependence (``order=2``), in one pass.

        Returns a dict of feature, or pair of features, to `Effect`, which prints briefly and has ``.plot()``. `kind` is ``"pd"``, ``"ice"`` or ``"ale"``; `grid`, `rows` and
        `by` are as in `partial_dependence`, `ice` and `ale`: ``effects(kind="ice", rows=1000)`` keeps the ICE curves of 1,000 rows.
        """
        from icefield.statistics.every_effect import every_effect

        study = self.study
        return Effects(every_effect(study, features, kind=kind, order=order, spread=spread, grid=grid, rows=rows, by=by))  # fmt: skip

    # --- statistics ----------------------------------------------------------------------------

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

        Parameters
        ----------
        *features : one or two features
        bins : number of quantile bins (40 one-way, 20 two-way) or the bin edges; for two features also a pair of those
        level_order : how levels are ordered: ``"similarity"`` (of the other features' distributions, Apley & Zhu's
            appendix), ``"given"`` (the data's own order) or the levels themselves
        rows : use these rows only: a number (sampled with the seed), a mask or positions
        by : also an effect per group, as `by` of the Explainer

        Examples
        --------
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2])
        >>> ex = Explainer(lambda rows: 2 * rows[:, 0] + rows[:, 1], X)
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
        feature : one feature; or a mapping for several that change together, ``{"age": (30, 50), "income": {"plus": 1000}}``,
            or a list of ``(feature, start, end)``
        start, end : values that all rows are set to; without `start`, rows start at their own value. None is a missing value
        plus, times : from each row's own value to that plus, or times, a number (a duration for times)
        across : ``{"sex": ("male", "female")}`` for a difference of changes: how much the change differs when these go
            from the first value to the second
        given : the columns that a causal interpretation adjusts for; a note names those left out
        by : also a result per group, as `by` of the Explainer
        quantiles : probabilities of the quantiles of rows' changes
        level : confidence level of the intervals
        spread : also standard errors and how rows differ; False for the means alone, which cost less
        rows : average over these rows only: a number (sampled with the seed), a mask or positions

        Examples
        --------
        >>> X = np.column_stack([np.arange(4.0), [0.0, 1.0, 0.0, 1.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * (1 + rows[:, 1]), X)
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
        the data. A note says which, and `Change.step` which step was taken.

        Parameters
        ----------
        feature : one number or time (per day)
        step : step of the central difference, in units of the feature
        given, by, quantiles, level, spread, rows : as in `change`

        Examples
        --------
        >>> X = np.linspace(0.0, 2.0, 5)[:, None]
        >>> Explainer(lambda rows: rows[:, 0] ** 2, X).slope(0)["estimate"].round(3)
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

        On all given rows, at every threshold of a model made of trees (for others on a grid, as a note says); and for every
        possible input, where trees allow it.

        Parameters
        ----------
        features : which; all of the model's by default
        increasing, decreasing : features along which predictions must never fall, or never rise
        declared : also test the monotone and interaction constraints that the model was fitted with
        everywhere : also decide for every possible input: every number, a missing value in columns that have some, the levels
            that categories have
        seconds : time limit of that search; what is undecided by then has a bound
        bounds : True for the lowest and the highest possible prediction over all inputs, or a box: ``{"age": (18, 30), "sex": ["male"]}``
        flips : a column or several: also test how predictions change when only this column changes
        threshold : predictions of at least this count as positive decisions, for `flips`
        points : number of grid points, where thresholds are not known
        worst : how many rows to name as counter-examples, for each feature
        by : also shares per group, as `by` of the Explainer
        rows : test these rows only: a number (sampled with the seed), a mask or positions

        Examples
        --------
        >>> X = np.column_stack([np.arange(4.0), [0.0, 1.0, 0.0, 1.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * (1 - 2 * rows[:, 1]), X)
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
        """A draft of an expectations file (TOML) from how the model behaves now; `icefield.check` checks models against it.

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

        When written over an earlier snapshot, numbers that differ only by noise are kept, so that a diff of the files shows what changed.

        Parameters
        ----------
        path : the folder
        refits : fitted models (the same model fitted to other draws of the data), or how many to fit on halves of the rows (the
            Explainer then needs ``y``; weights are passed on, clusters stay whole): a number may change as far as these differ. Without refits, a tenth of
            the predictions' standard deviation is allowed, and results say so
        """
        self.study.needs_rows("snapshots")
        from icefield.audit.snapshot import snapshot

        return snapshot(self.study, path, refits)

    def conditional(self, feature: Any, *, bins: Any = 20, rows: Any = None) -> Conditional:
        """Observed and predicted means per bin (the M-plot), with PD and ALE, in one table.

        Parameters
        ----------
        feature : one feature
        bins : number of quantile bins, or the bin edges; categories have a bin per level
        rows : compute means and effects of these rows: a mask or positions, all rows by default. Bins are always those of all
            rows, so that tables of different rows can be compared. With a number, only the partial dependence averages over so many
            rows, sampled with the seed, and means stay those of all rows; this is the default where each row costs
            predictions

        Examples
        --------
        >>> X = np.column_stack([np.arange(6.0), np.arange(6.0)])
        >>> ex = Explainer(lambda rows: rows[:, 0] + rows[:, 1], X, y=2 * X[:, 0])
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
            the data, in standard deviations of the predictions, as in all other tables; or ``"curve_sd"``, the classical
            standard deviation of the partial dependence over its grid
        weighted : compute `curve_sd` and `individual` over the data's distribution of the feature, not evenly over the
            grid
        permutation : also permutation importance; by default when ``y`` was given
        repeats : shuffles per feature
        grid : grid of the curves behind `curve_sd`, as in `partial_dependence`; by default evenly spaced points
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions

        Examples
        --------
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0)])
        >>> ex = Explainer(lambda rows: rows[:, 0] + 3 * rows[:, 1], X)
        >>> ex.importance()["feature"]
        array([1, 0])
        """
        self.study.needs_rows("importances")
        from icefield.statistics.importance import importance

        return importance(
            for_one_call(self.study),
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
        >>> X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
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
        least_rows : least share of rows in a region; never under 10 curves
        least_removed : least share of all heterogeneity that a split must remove: 0.10 by default (more for fewer than 120
            curves, where chance removes some), and 0.35 for the first split of curves that differ little, as those of a model
            that has fitted noise do (0.50 for two splits that only work together)
        grid : grid of the curves; by default the grid of the readings
        rows : use these rows' curves; by default those behind readings and summaries, at most 1,000 sampled with the seed

        Examples
        --------
        >>> X = np.column_stack([np.tile(np.arange(10.0), 20), np.repeat([0, 1], 100)])
        >>> ex = Explainer(lambda rows: rows[:, 0] * np.where(rows[:, 1] > 0, 1, -1), X)
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
        """What each feature does and how strongly, which features it interacts with, and how far the data supports it.

        Parameters
        ----------
        features : which features; all of the model's by default
        grid : grid of the curves in `Summary.effects`; shapes and strengths are read on a grid of their own
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions

        Examples
        --------
        >>> X = np.column_stack([np.arange(20.0), np.arange(20.0) % 7])
        >>> Explainer(lambda rows: rows[:, 0] - 2 * rows[:, 1], X).summary()["shape"].tolist()
        ['linear, increasing', 'linear, decreasing']
        """
        self.study.needs_rows("a summary")
        from icefield.statistics.summary import summary

        return summary(for_one_call(self.study), features, grid=grid, rows=rows)

    def refits(
        self,
        fit: Any,
        y: Any = None,
        n: int = 15,
        *,
        level: float = 0.9,
        about: str = "auto",
        groups: Any = None,
        time: Any = None,
        blocks: int = 20,
        processes: int | None = None,
        checkpoint: str | Path | None = None,
    ) -> Refits:
        """Refit the learner on random halves of the rows; the `Refits` returned gives results with intervals.

        Parameters
        ----------
        fit : an estimator, of which unfitted copies are fitted with seeds of their own; or a function ``fit(X, y)`` that returns a fitted
            model, and receives ``seed`` and ``weights`` if it has parameters of these names. Include in it whatever chooses its settings
            (a search, early stopping)
        y : targets; by default those of the Explainer
        n : how many refits; 15 are enough, 8 the least
        level : confidence level of the intervals
        about : ``"mean"``: standard deviation of the refits; ``"full"``: root mean square about the full-data answer, for learners that
            are smoother on half the rows; ``"auto"``: the second for forests
        groups : a column or one label per row: rows of one label stay together; by default the Explainer's `cluster`
        time : a column or one value per row: rows are divided along it into `blocks` periods, which stay together
        processes : fit in this many processes; the learner must then be picklable
        checkpoint : a folder to which every fitted model is pickled, to resume from after an interruption. Unpickling runs code:
            name no folder that others can write to

        Returns
        -------
        `Refits`: an Explainer whose effects, changes, importances and interactions carry intervals of *this learner's expected curve
        at this many rows*, and that has tests. Without `checkpoint`, this Explainer remembers the fits that were done before Ctrl-C.

        Notes
        -----
        The interval is the full-data curve ± t x SD of the refits' curves, each over the half that it has not seen. Only at one
        half do the variances due to training rows, background rows and seeds all count once. Probabilities are treated on the logit scale.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(200, 2))
        >>> y = X[:, 0] + rng.normal(size=200)
        >>> def fit(X, y):
        ...     slopes = np.linalg.lstsq(X, y, rcond=None)[0]
        ...     return lambda rows: rows @ slopes
        >>> curve = Explainer(fit(X, y), X).refits(fit, y).partial_dependence(0, grid=[0.0, 1.0])
        >>> bool((curve.interval.low[0, 1] < 1.0 < curve.interval.high[0, 1]))
        True
        """
        from icefield.refits.refits import make_refits

        return make_refits(
            self.study, fit, y, n, level=level, about=about, groups=groups, time=time, blocks=blocks,
            processes=processes, checkpoint=checkpoint,
        )  # fmt: skip

    def report(
        self,
        path: str | Path | None = None,
        *,
        features: Iterable[Any] | None = None,
        individual: bool = False,
        title: str | None = None,
        rows: Any = None,
        data_name: str | None = None,
        static: bool = False,
        audit: Any = None,
        live: bool = False,
        release: int | None = None,
    ) -> Path | Report:
        """Write one offline, interactive HTML file about the model, and return its path.

        With ``y`` it also says how well the predictions fit the rows given. The 50 features that move the predictions most have cards.

        Parameters
        ----------
        path : where to write; without it, an object is returned that a notebook shows in a frame and that has ``.save(path)``
        features : which features; all of the model's by default
        individual : put ICE curves of a sample of rows into the file. Without it the file contains averages,
            quantiles and counts only, and says so. Those are still values of the data: of each column with a card about 41
            exact numbers (grid points, quantiles, the smallest and the largest), and its levels, also one that only a
            single row has. Use `release` for a page to publish
        release : show no value that fewer than K rows have, K being this number (at least 2). Grids, histograms and ALE are at rounded numbers and
            times between the K-th smallest and largest, or at values that K rows share; rarer levels are one point,
            "n other levels"; groups, cells and means of fewer rows, bands with fewer rows beyond them, regions, and columns without
            anything to show (such as people's names) are left out. The curves at those points are as exact as ever. The file still holds the names of columns,
            numbers of rows, shares of the data, scores, averages of predictions and hashes of the data. Not with
            `individual`, `live` or `audit`, which reveal single rows
        title : heading of the page
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions
        data_name : what the rows are, such as ``"test 2024"``, for the text of the page
        static : no script: the same pictures as images, for mail and where scripts are not allowed
        audit : a section for whoever validates the model: an `Audit`, a `Check`, a list of these, a mapping of arguments for `audit`, or
            True. It records what was asked, hashes of model, data and expectations, versions, seed, limits and what was sampled
        live : add a live row: choose or type one in, drag any value, and its prediction and all its ICE curves follow, offline.
            The file then holds the model itself and a few rows, and says so; for models that are read as trees

        Examples
        --------
        >>> ex.report("report.html")  # doctest: +SKIP
        """
        from icefield.report import write_report

        return write_report(
            self.study, path, features=features, individual=individual, title=title, rows=rows, data_name=data_name, static=static,
            audit=audit, live=live, release=release,
        )  # fmt: skip

    def record(self, run_id: str | None = None) -> Record:
        """What identifies results: the run, the model and the rows. Tables carry it as columns: ``to_frame(record=...)``.

        The run's id is made at the first call and stays the same; `run_id` sets it to one of yours, such as a job's.

        Examples
        --------
        >>> ex = Explainer(lambda rows: rows[:, 0], np.array([[1.0], [2.0]]))
        >>> ex.record("nightly 7").columns
        {'run_id': 'nightly 7', 'model_hash': '...', 'data_version': '...'}
        >>> ex.record().run_id == ex.record().run_id
        True
        """
        from icefield.core.hashes import record_of

        if run_id is not None and not isinstance(run_id, str):
            raise InputTypeError.about("run_id", "must be a text", run_id, 'write run_id="nightly 7"')
        return record_of(self.study, self._run_id if run_id is None else run_id)

    @cached_property
    def _run_id(self) -> str:
        from uuid import uuid4

        return uuid4().hex

    def explore(
        self,
        *,
        beside: Mapping[str, Explainer] | None = None,
        title: str | None = None,
        rows: bool = True,
        state: dict[str, Any] | None = None,
        letters: bool = True,
    ) -> Any:
        """The live explorer as a notebook widget (``pip install "icefield[explore]"``): brush rows, drag values, see all curves change.

        Parameters
        ----------
        beside : Explainers of other models on the same rows, by name, to switch to and to compare with
        title : heading of the page
        rows : whether single rows may be shown: at most 20,000 sampled points, and the row of "What if"
        state : an earlier `state` of the widget, to continue from
        letters : whether single letters are shortcuts while the explorer has the focus

        Examples
        --------
        >>> ex.explore()  # doctest: +SKIP
        """
        from icefield.explore.widget import check_installed, explorer_widget

        check_installed()
        return explorer_widget(self._controller(beside, title, rows), state, letters)

    def serve(
        self,
        *,
        beside: Mapping[str, Explainer] | None = None,
        title: str | None = None,
        rows: bool = True,
        host: str = "127.0.0.1",
        port: int = 0,
        browser: bool = True,
        block: bool = True,
    ) -> Any:
        """The live explorer in a browser (``pip install "icefield[serve]"``), until interrupted.

        Prints the address, which contains a secret: whoever has it sees the data's summaries and, with `rows`, sampled rows. The
        environment variable ``ICEFIELD_TOKEN`` keeps the secret, and a `port` the rest of the address, over restarts.

        Parameters
        ----------
        beside, title, rows : as in `explore`
        host, port : where to listen: this machine only, and any free port, by default
        browser : open the address in a browser
        block : stay until Ctrl-C; otherwise return at once, an object with ``.url`` and ``.close()``

        Examples
        --------
        >>> ex.serve()  # doctest: +SKIP
        """
        from icefield.explore.server import check_installed, serve

        check_installed()
        return serve(
            self._controller(beside, title, rows), host=host, port=port, browser=browser, block=block
        )

    def _controller(self, beside: Mapping[str, Explainer] | None, title: str | None, rows: bool) -> Any:
        from icefield.explore import Controller

        name = type(self.model.native).__name__
        models = self if not beside else {name if name not in beside else f"{name} (this)": self, **beside}
        return Controller(models, title=title, rows=rows)

    # --- pictures ------------------------------------------------------------------------------

    @drawing
    def plot(
        self,
        features: Iterable[Any] | None = None,
        top: int = 6,
        *,
        by: Any = None,
        backend: Backend = "matplotlib",
        ax: Any = None,
        kind: PictureKind = "auto",
        center: Any = None,
        derivative: bool = False,
        band: BandShown | None = "auto",
        data: DataShown | None = "auto",
        sort: LevelOrder = "auto",
        outputs: Any = None,
        layout: Layout = "auto",
        share_y: bool = True,
        x_scale: AxisScale = "auto",
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Small multiples on a shared axis: the features given, or the `top` features that move predictions most.

        `by` draws a curve per group, as `by` of the Explainer. The other options are those of `Effect.plot`, as far as
        curves of one feature have them.
        """

    def _drawn(
        self, features: Iterable[Any] | None = None, top: int = 6, by: Any = None, **options: Any
    ) -> Any:
        validate.count("top", top)
        from icefield.plots import plot_many

        effects = list(self.effects(features, spread=self.study.background == "data", by=by).values())
        if features is None:
            effects = [effects[place] for place in self._feature_order()[:top]]
        return plot_many(effects, **options)

    def _feature_order(self) -> list[int]:
        """Places of the model's columns, those that move the predictions most first."""
        columns = list(self.study.model.columns)
        if self.study.background == "data":
            from icefield.statistics.decision import decisions

            return [columns.index(name) for name in decisions(self.study)]
        from icefield.statistics.importance import curve_importance

        spread = [-float(curve_importance(e).mean()) for e in self.effects().values()]
        return np.argsort(spread, kind="stable").tolist()

    def __repr__(self) -> str:
        return repr(self.study)

    def _repr_html_(self) -> str:
        from icefield.printing import explainer_html

        effects, note = self._card_effects()
        return explainer_html(repr(self), effects, note)

    def _card_effects(self) -> tuple[list[Effect], str]:
        """Curves for the card of a notebook, and what they were computed from; a card must not keep anyone waiting.

        So there are none of rows that are not in memory, nor of hundreds of features; and a sample of rows stands for all.
        """
        columns = len(self.study.model.columns)
        if self.study.background != "data" or not self.study.rows.resident or columns > CARD_COLUMNS:
            return [], ""
        rows = min(self.study.sample.n_rows, CARD_ROWS)
        try:
            effects = list(self.effects(rows=rows, grid=CARD_POINTS).values())
        except Exception:  # of the model too: what is wrong is said when it is asked for
            return [], ""
        from icefield.statistics.importance import curve_importance

        effects.sort(key=lambda effect: -float(curve_importance(effect, weighted=True).mean()))
        return effects[:CARD_TOP], f"strongest first, from {rows:,} rows"

    def __dir__(self) -> list[str]:
        """What completion offers: the questions, pictures and the report."""
        return [name for name in super().__dir__() if name.startswith("__") or name in QUESTIONS]
