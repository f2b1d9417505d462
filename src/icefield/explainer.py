"""Explainer: a model, its data, and the choices that hold for every question.

The recipe for any question is the same and reads top to bottom in `Explainer._effects`: find the
features, place the grids, pick the rows, let the engine answer, dress the answer as Effects.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.data.features import Feature, resolve
from icefield.data.frame import ArrayTable, Table, table_of
from icefield.data.grid import specifications, whole_steps
from icefield.data.groups import groups_of
from icefield.data.whereabouts import Whereabouts
from icefield.effect import Effect, KeptCurves
from icefield.engines import Answer, Moments, Question, Resources, Sample
from icefield.engines.brute import interruptible
from icefield.errors import EngineError, InputError, complaint
from icefield.models.model import Model, read_model
from icefield.plan import Plan, choose, without_trees
from icefield.precision import until_precise
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.statistics.conditional import Conditional
    from icefield.statistics.importance import Importance
    from icefield.statistics.interactions import Interactions
    from icefield.statistics.regions import Regions
    from icefield.statistics.summary import Summary

PREDICTION_SAMPLE = 2_000  # rows behind `Effect.baseline` and `Effect.output_std`


class Explainer:
    """Explain a fitted model on data.

    Parameters
    ----------
    model : any fitted model: scikit-learn estimators and pipelines, LightGBM, XGBoost and CatBoost
        wrappers or Boosters, PyTorch modules, ONNX models, or a callable ``f(rows) -> predictions``
    X : pandas or polars DataFrame, pyarrow Table, numpy array or scipy sparse matrix; may hold
        further columns for `by` and `weights`. It is neither changed nor copied, and some of it is remembered:
        do not change it while the Explainer is in use
    y : observed targets, one per row; only what compares with observations needs them
    target : which outputs. None means all of them, except that a binary classifier gives its
        positive class; ``"all"`` always means all; otherwise a class label or output name, or a position
    scale : ``"response"``, what ``predict`` or ``predict_proba`` returns, or ``"raw"``, the margin
    weights : one non-negative weight per row, or a column of X; 2 counts as a duplicated row
    by : a column of X or one label per row: every effect gets a curve per group too
    background : ``"data"`` averages over the rows of X, ``"training"`` with a tree model's own
        training counts
    engine : ``"auto"``, ``"trees"`` or ``"brute"``; ``"auto"`` only ever picks a faster way to the
        same number
    threads : how many threads; None chooses
    seed : for everything sampled
    processes : run a slow pure-Python model in this many processes (it must be picklable)
    memory : bytes an effect may use beside the input

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
        scale: str = "response",
        weights: Any = None,
        by: Any = None,
        background: str = "data",
        engine: str = "auto",
        threads: int | None = None,
        seed: int = 0,
        processes: int | None = None,
        memory: int = 256 * 2**20,
    ) -> None:
        validate.choice("scale", scale, ("response", "raw"))
        validate.choice("background", background, ("data", "training"))
        validate.choice("engine", engine, ("auto", "trees", "brute"))
        validate.count("threads", threads, optional=True)
        validate.count("processes", processes, optional=True)
        validate.count("memory", memory)
        validate.count("seed", seed, least=0)
        table = _named_like_the_model(table_of(X), model)
        if table.n_rows == 0 or not table.names:
            raise InputError(
                complaint("X", "must have at least one row and one column", f"{table.n_rows} rows")
            )
        self.table: Table = table
        self.model: Model = read_model(model, table, target=target, scale=scale)
        self.weights = validate.weights(weights, table)
        self.y = validate.observed(y, table.n_rows)
        self.groups = groups_of(by, table, self.weights)
        self.background, self.engine, self.seed = background, engine, int(seed)
        self.resources = Resources(int(memory), threads, processes, int(seed))
        self._lock = threading.RLock()
        self._whereabouts = Whereabouts(table, self.weights, self.seed)
        if background == "training" and (self.weights is not None or self.groups is not None):
            self._needs_rows("`weights`" if self.weights is not None else "`by`")
        if engine == "trees" or background == "training":
            self.plan  # noqa: B018  (a clear error now beats one at the first question)

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
    ) -> Effect:
        """Partial dependence: the mean prediction over the rows with these features replaced.

        Parameters
        ----------
        *features : one, two or more columns by name or position, or one-hot groups
            ``{"embarked": ["embarked_C", ...]}``
        grid : a `Grid`, a number of points or the values; for several features a sequence or mapping
        individual : keep every row's own curve as well
        spread : also the standard deviation and standard error; by default for one feature only
        quantiles : probabilities of the curves' quantiles to compute
        rows : average over these rows only: a number (sampled with the seed), a mask or positions
        precision : add random rows only until the standard error is below this share of the
            curve's range; `Effect.n_rows` and `Effect.why` say how far that was
        support : also how much data stands behind each grid point, given the other features; plots
            fade by it. See `icefield.statistics.support.Support`

        Examples
        --------
        >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
        >>> ex = Explainer(lambda r: 5 + 2 * r[:, 0] + 3 * r[:, 1] + 4 * r[:, 0] * r[:, 1], X)
        >>> ex.partial_dependence(0, 1, grid=[[2.0], [20.0]]).average
        array([[[229.]]])
        """
        self._check_features(features)
        validate.flag("individual", individual)
        validate.flag("spread", spread, optional=True)
        validate.flag("support", support)
        chosen = None if rows is None else validate.row_positions(rows, self.table.n_rows, self.seed)
        if precision is not None:
            effect = self._to_precision(features, grid, spread, quantiles, individual, chosen, precision)
            return self._supported(effect, features, support)
        kept = None
        if individual:
            kept = np.arange(self.table.n_rows if chosen is None else len(chosen))
        effect = self._effects([features], "pd", grid, spread, quantiles, kept, chosen)[0]
        return self._supported(effect, features, support)

    def ice(
        self, *features: Any, grid: Any = None, rows: Any = None, quantiles: Any = None, support: bool = False
    ) -> Effect:
        """Individual conditional expectation: the same with individual curves kept.

        `rows` chooses whose curves: a number (sampled with the seed), a mask or positions, all by
        default. The average and spread are over all rows in any case. `support` is as in
        `partial_dependence`.

        Examples
        --------
        >>> X = np.array([[1.0, 5.0], [2.0, 6.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
        >>> ex.ice(0, grid=[0.0, 1.0]).individual
        array([[[0., 5.],
                [0., 6.]]])
        """
        self._check_features(features)
        validate.flag("support", support)
        kept = np.arange(self.table.n_rows)
        if rows is not None:
            kept = validate.row_positions(rows, self.table.n_rows, self.seed)
        effect = self._effects([features], "ice", grid, True, quantiles, kept, None)[0]
        return self._supported(effect, features, support)

    def effects(
        self, features: Iterable[Any] | None = None, order: int = 1, spread: bool = False, grid: Any = None
    ) -> dict[Any, Effect]:
        """Every feature's partial dependence (``order=1``) or every pair's (``order=2``), in one pass.

        Returns a mapping of feature, or pair of features, to `Effect`.
        """
        validate.count("order", order)
        if order > 2:
            raise InputError(
                complaint("order", "must be 1 or 2", order, "use partial_dependence(a, b, c) for one triple")
            )
        validate.flag("spread", spread)
        if isinstance(features, (str, int, np.integer, Mapping)):
            features = [features]
        singles = validate.listed("features", self.model.columns if features is None else features)
        labels = [self._feature(f).label for f in singles]
        if len(set(labels)) != len(labels):
            raise InputError(complaint("features", "names the same feature twice", singles))
        asked = [(f,) for f in singles] if order == 1 else list(combinations(singles, 2))
        if not asked:
            raise InputError(complaint("features", f"must name at least {order} features", features))
        found = self._effects(asked, "pd", grid, spread, None, None, None)
        return {e.features[0] if order == 1 else e.features: e for e in found}

    # --- statistics ----------------------------------------------------------------------------

    def ale(self, *features: Any, bins: Any = None, order: Any = "similarity", rows: Any = None) -> Effect:
        """Accumulated local effects of one feature, or the pure interaction effect of two.

        `bins` is the number of quantile bins or their edges, `order` how levels are ordered; see
        `icefield.statistics.ale.ale`.

        Examples
        --------
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0) ** 2])
        >>> ex = Explainer(lambda rows: 2 * rows[:, 0] + rows[:, 1], X)
        >>> ex.ale(0, bins=2).average
        array([[-3.6,  0.4,  4.4]])
        """
        self._needs_rows("accumulated local effects")
        from icefield.statistics.ale import ale

        return ale(self, *features, bins=bins, order=order, rows=rows)

    def conditional(self, feature: Any, **options: Any) -> Conditional:
        """Observed and predicted means per bin (the M-plot), with PD and ALE, in one table.

        See `icefield.statistics.conditional.conditional` for the options.

        Examples
        --------
        >>> X = np.column_stack([np.arange(6.0), np.arange(6.0)])
        >>> ex = Explainer(lambda rows: rows[:, 0] + rows[:, 1], X, y=2 * X[:, 0])
        >>> ex.conditional(0, bins=2)["predicted"]
        array([2., 8.])
        """
        self._needs_rows("means per bin")
        from icefield.statistics.conditional import conditional

        return conditional(self, feature, **options)

    def importance(self, features: Iterable[Any] | None = None, **options: Any) -> Importance:
        """Features by how much they move the predictions, with direction and shape.

        See `icefield.statistics.importance.importance` for the options.

        Examples
        --------
        >>> X = np.column_stack([np.arange(5.0), np.arange(5.0)])
        >>> ex = Explainer(lambda rows: rows[:, 0] + 3 * rows[:, 1], X)
        >>> ex.importance()["feature"]
        array([1, 0])
        """
        self._needs_rows("importances")
        from icefield.statistics.importance import importance

        return importance(self, features, **options)

    def interactions(self, features: Iterable[Any] | None = None, **options: Any) -> Interactions:
        """Friedman's H of every pair, and of each feature with all others.

        See `icefield.statistics.interactions.interactions` for the options.

        Examples
        --------
        >>> X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
        >>> ex = Explainer(lambda rows: rows[:, 0] * rows[:, 1], X)
        >>> ex.interactions().pairs()["h"]
        array([1.])
        """
        self._needs_rows("H statistics")
        from icefield.statistics.interactions import interactions

        return interactions(self, features, **options)

    def regions(self, feature: Any, **options: Any) -> Regions:
        """Readable rules on other features within which a feature's individual curves agree.

        See `icefield.statistics.regions.regions` for the options.

        Examples
        --------
        >>> X = np.column_stack([np.tile(np.arange(10.0), 20), np.repeat([0, 1], 100)])
        >>> ex = Explainer(lambda rows: rows[:, 0] * np.where(rows[:, 1] > 0, 1, -1), X)
        >>> ex.regions(0)["rule"].tolist()
        ['1 <= 0.5', '1 > 0.5']
        """
        self._needs_rows("regions")
        from icefield.statistics.regions import regions

        return regions(self, feature, **options)

    def summary(self, features: Iterable[Any] | None = None, **options: Any) -> Summary:
        """What each feature does, how strongly, with whom, and how far the data supports it.

        See `icefield.statistics.summary.summary` for the options.

        Examples
        --------
        >>> X = np.column_stack([np.arange(20.0), np.arange(20.0) % 7])
        >>> Explainer(lambda rows: rows[:, 0] - 2 * rows[:, 1], X).summary()["shape"].tolist()
        ['linear, increasing', 'linear, decreasing']
        """
        self._needs_rows("a summary")
        from icefield.statistics.summary import summary

        return summary(self, features, **options)

    def report(self, path: str | Path, **options: Any) -> Path:
        """Write one offline, interactive HTML file about the model; see `icefield.report.write_report`.

        Examples
        --------
        >>> ex.report("report.html")  # doctest: +SKIP
        """
        from icefield.report import write_report

        return write_report(self, path, **options)

    # --- pictures ------------------------------------------------------------------------------

    def plot(self, features: Iterable[Any] | None = None, top: int = 6, **options: Any) -> Any:
        """Small multiples on a shared axis: the features asked for, or the `top` that move most.

        The options are those of `Effect.plot`.
        """
        validate.count("top", top)
        from icefield.plots import plot_many
        from icefield.statistics.importance import curve_importance

        effects = list(self.effects(features, spread=self.background == "data").values())
        if features is None:
            effects.sort(key=lambda effect: -float(curve_importance(effect).mean()))
            effects = effects[:top]
        return plot_many(effects, **options)

    # --- the recipe ----------------------------------------------------------------------------

    def _effects(
        self,
        asked: Sequence[tuple[Any, ...]],
        kind: str,
        grid: Any,
        spread: bool | None,
        quantiles: Sequence[float] | None,
        kept: NDArray[np.intp] | None,
        chosen: NDArray[np.intp] | None,
    ) -> list[Effect]:
        # 1. The features and their grids.
        features = [tuple(self._feature(f) for f in names) for names in asked]
        if isinstance(grid, Mapping):
            specifications(grid, [f.label for fs in features for f in fs])
        grids = [self._grids(fs, grid) for fs in features]
        # 2. What is wanted of the curves.
        wanted = validate.probabilities(quantiles)
        questions = [
            Question(
                tuple(f.axis(values, self.table) for f, values in zip(fs, gs)),
                spread=self._default_spread(len(fs), chosen) if spread is None else bool(spread),
                quantiles=wanted,
                rows=kept,
            )
            for fs, (gs, _) in zip(features, grids)
        ]
        # 3. The rows, and the engine's answers.
        sample = self._sample(chosen)
        answers = self._answers(questions, sample)
        # 4. Effects, with what pictures need of the data.
        said = "" if chosen is None else f"averaged over {len(chosen):,} of {self.table.n_rows:,} rows"
        return [
            self._effect(
                kind,
                fs,
                gs,
                "; ".join(filter(None, [notes, said])),
                question,
                answer,
                chosen,
                whole_steps(grid),
            )
            for fs, (gs, notes), question, answer in zip(features, grids, questions, answers)
        ]

    def _effect(
        self,
        kind: str,
        features: tuple[Feature, ...],
        grid: tuple[NDArray[Any], ...],
        notes: str,
        question: Question,
        answer: Answer,
        chosen: NDArray[np.intp] | None,
        steps: bool = False,
    ) -> Effect:
        used = "; ".join(part for part in (self.plan.why, notes, *answer.notes) if part)
        rows = question.rows if question.rows is None or chosen is None else chosen[question.rows]
        codes, labels = (None, ()) if self.groups is None else (self.groups.codes, self.groups.labels)
        point_weights = self._whereabouts.point_weights(features, grid, codes, len(labels))
        distribution = self._whereabouts.distribution(features)
        baseline, output_std = self._prediction_moments(chosen)

        def dressed(moments: Moments, quantiles: Float | None, weight: Float) -> Effect:
            return Effect(
                kind=kind,
                features=tuple(f.label for f in features),
                grid=grid,
                average=moments.average,
                outputs=self.model.outputs,
                kinds=tuple(f.kind for f in features),
                scale=self.model.scale,
                scale_label=self.model.scale_label,
                background=self.background,
                engine=answer.engine or self.plan.engine.name,
                why=used,
                n_rows=moments.count,
                weight=weight,
                std=moments.std,
                se=moments.se,
                quantiles=None if quantiles is None else dict(zip(question.quantiles, quantiles)),
                by=None if self.groups is None else self.groups.name,
                distribution=distribution,
                baseline=baseline,
                output_std=output_std,
                steps=steps,
                library=self.table.library,
            )

        effect = dressed(answer.total, answer.quantiles, point_weights[0])
        groups = {}
        for g, label in enumerate(labels):
            own = answer.group_quantiles[g] if answer.group_quantiles else None
            groups[label] = dressed(answer.groups[g], own, point_weights[1 + g])
        row_values = None
        if rows is not None:
            row_values = {n: self.table.column(n).shown(rows) for n in self.table.names}
        row_weights = None if rows is None or self.weights is None else self.weights[rows]
        others = tuple(c for c in self.model.columns if not any(c in f.columns for f in features))
        return replace(
            effect,
            groups=groups,
            kept=KeptCurves(answer.curves, rows, row_values, row_weights),
            provenance=replace(effect.provenance, others=others),
        )

    def _supported(self, effect: Effect, features: tuple[Any, ...], wanted: bool) -> Effect:
        """The effect with its support, where that is wanted."""
        if not wanted:
            return effect
        self._needs_rows("support")
        from icefield.statistics.support import with_support

        return with_support(self, effect, features=features)

    def _to_precision(
        self,
        features: tuple[Any, ...],
        grid: Any,
        spread: bool | None,
        quantiles: Any,
        individual: bool,
        chosen: NDArray[np.intp] | None,
        precision: float,
    ) -> Effect:
        """Average over more and more seeded random rows until the standard error is small enough."""
        validate.share("precision", precision)
        if quantiles is not None or individual:
            raise InputError(
                complaint("precision", "works on averages only; quantiles and individual curves do not merge", precision,
                          "choose the rows with rows=...")
            )  # fmt: skip
        pool = np.arange(self.table.n_rows) if chosen is None else chosen
        order = np.random.default_rng(self.seed).permutation(pool)
        found = tuple(self._feature(f) for f in features)
        grids, notes = self._grids(found, grid)
        question = Question(tuple(f.axis(v, self.table) for f, v in zip(found, grids)), spread=True)

        answer, used, said = until_precise(
            lambda rows: self._answers([question], self._sample(rows))[0], order, precision
        )
        notes = "; ".join(filter(None, [notes, said]))
        return self._effect("pd", found, grids, notes, question, answer, used)

    # --- pieces of the recipe ------------------------------------------------------------------

    @property
    def plan(self) -> Plan:
        """The engine that answers and why; chosen at the first question."""
        with self._lock:
            return self._plan

    @cached_property
    def _plan(self) -> Plan:
        return choose(self.model, self.table, self.engine, self.background)

    def _answers(self, questions: Sequence[Question], sample: Sample) -> list[Answer]:
        """The engine's answers; values the trees turn out not to know are left to brute force."""
        from icefield.forest import CannotRead

        try:
            return self.plan.engine.answer(questions, sample, self.resources)
        except CannotRead as reason:
            engine = without_trees(self.model, str(reason), self.engine, self.background).engine
            note = f"but brute force here, because {reason}"
            answers = engine.answer(questions, sample, self.resources)
            return [replace(a, engine=engine.name, notes=(note, *a.notes)) for a in answers]

    def _feature(self, asked: Any) -> Feature:
        return resolve(asked, self.table, self.model.columns)

    def _default_spread(self, n_features: int, chosen: NDArray[np.intp] | None) -> bool:
        """Spread comes with one feature, and with rows chosen to save time, whose error it states."""
        return self.background == "data" and (n_features == 1 or chosen is not None)

    def _needs_rows(self, what: str) -> None:
        if self.background == "training":
            from icefield.engines.training import refusal

            raise refusal(what)

    def _check_features(self, features: tuple[Any, ...]) -> None:
        if not features:
            raise InputError(
                complaint(
                    "features", "must name at least one feature", (), f"for example {self.model.columns[0]!r}"
                )
            )
        labels = [self._feature(f).columns for f in features]
        moving = [c for columns in labels for c in columns]
        if len(set(moving)) != len(moving):
            raise InputError(complaint("features", "names the same column twice", list(features)))

    def _grids(self, features: tuple[Feature, ...], grid: Any) -> tuple[tuple[NDArray[Any], ...], str]:
        if isinstance(grid, Mapping):
            grid = {f.label: grid[f.label] for f in features if f.label in grid}
        return self._whereabouts.grids(features, grid, self._thresholds)

    def _thresholds(self, feature: Feature) -> Float:
        """Where the model itself changes along a feature, for ``Grid("thresholds")``."""
        if self.plan.trees is None:
            raise EngineError(
                f"Grid('thresholds') needs a model read as trees: {self.plan.why}. Hint: use Grid('quantile')."
            )
        from icefield.engines.trees import last_values_left

        return last_values_left(self.plan.trees, feature.columns[0], self.table.select(self.model.columns))

    def _sample(self, chosen: NDArray[np.intp] | None) -> Sample:
        codes = None if self.groups is None else self.groups.codes
        n_groups = 0 if self.groups is None else len(self.groups.labels)
        if chosen is None:
            return Sample(self.table, self.weights, codes, n_groups)
        return Sample(
            self.table.take(chosen),
            None if self.weights is None else self.weights[chosen],
            None if codes is None else codes[chosen],
            n_groups,
        )

    def _prediction_moments(self, chosen: NDArray[np.intp] | None) -> tuple[Float, Float]:
        """Mean and standard deviation of the model's own predictions, on a seeded sample of rows.

        Rows chosen because the model is slow are not followed by thousands of others.
        """
        if chosen is not None and len(chosen) < PREDICTION_SAMPLE:
            return self._moments_of_predictions(chosen)
        with self._lock:
            return self._prediction_sample

    @cached_property
    def _prediction_sample(self) -> tuple[Float, Float]:
        count = min(PREDICTION_SAMPLE, self.table.n_rows)
        return self._moments_of_predictions(validate.row_positions(count, self.table.n_rows, self.seed))

    def _moments_of_predictions(self, rows: NDArray[np.intp]) -> tuple[Float, Float]:
        weights = None if self.weights is None else self.weights[rows]
        moments = Moments.of(interruptible(self.model, self.table.take(rows)), weights, True)
        return moments.average, np.asarray(moments.std)

    def __repr__(self) -> str:
        kind = type(self.model.native).__name__
        return (
            f"Explainer({kind}, {self.table.n_rows:,} rows x {len(self.model.columns)} features, "
            f"{self.model.scale_label} of {', '.join(map(str, self.model.outputs[:5]))})"
        )


def _named_like_the_model(table: Table, model: Any) -> Table:
    """An array without names takes the names the model was fitted with."""
    names = getattr(model, "feature_names_in_", None)
    if (
        isinstance(table, ArrayTable)
        and not table.named
        and names is not None
        and len(names) == len(table.names)
    ):
        return table.renamed([str(n) for n in names])
    return table
