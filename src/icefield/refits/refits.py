"""Refits: an Explainer whose answers carry the intervals of its learner.

The full-data model answers as it always does; refits on random halves answer the same question, each about the rows that it
has not seen; `LearnerInterval` says how their spread becomes an interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.columns import TIME_KINDS
from icefield.data.features import listed_features
from icefield.data.groups import Groups
from icefield.effect import Effect, Effects
from icefield.effect.learner_interval import LearnerInterval, RefitSpread, t_quantile
from icefield.errors import InputError, ModelError
from icefield.explainer import Explainer
from icefield.libraries.sklearn.nesting import core
from icefield.models.model import read_model
from icefield.refits.fitting import Fitter, check_fit, fit_all, fits_key
from icefield.refits.halves import halves, whole_units
from icefield.refits.hypotheses import Tests, flatness, group_differences, interaction
from icefield.rows.memory import MemoryRows
from icefield.statistics.change import Change
from icefield.statistics.importance import Importance
from icefield.statistics.interactions import Interactions
from icefield.typing import EffectKind, Float, Positions

if TYPE_CHECKING:
    from icefield.report import Report

LEAST_ROWS = 40  # of which halves are fitted
LEAST_REFITS = 8  # below which t is so wide that intervals say little
FORESTS = ("ForestRegressor", "ForestClassifier", "XGBRFRegressor", "XGBRFClassifier", "BaggingRegressor", "BaggingClassifier")  # fmt: skip
NETS = ("BaseMultilayerPerceptron",)
BOOSTING = ("LGBMModel", "XGBModel", "CatBoost", "BaseHistGradientBoosting", "BaseGradientBoosting", "Booster")  # fmt: skip
LINEAR = ("LinearModel", "LinearClassifierMixin", "BaseSGD", "_GeneralizedLinearRegressor", "LinearRegression")  # fmt: skip
KINDS = {"forest": FORESTS, "neural net": NETS, "boosting": BOOSTING, "linear": LINEAR}

# Percent of 90 % intervals that held the learner's expected curve, at each point and all along it, and the widths of both over
# the oracle's, by kind of learner: `python -m benchmarks coverage --learner`, stored in benchmarks/learner_coverage.json.
MEASURED: dict[str, tuple[int, int, float, float]] = {
    "linear": (90, 90, 1.07, 1.14),
    "boosting": (91, 92, 1.15, 1.18),
    "neural net": (94, 95, 1.23, 1.33),
    "forest": (94, 96, 1.25, 1.31),
}


@dataclass(frozen=True, eq=False)
class Refit:
    """One half's model on the half that it has not seen: an Explainer's study, and which rows those are."""

    study: Study
    rows: Positions

    def explainer(self, groups: Groups | None) -> Explainer:
        """An Explainer of it, with groups of the full rows."""
        study = self.study
        if groups is not None:
            block = study.sample
            rows = MemoryRows(
                block.table, y=block.y, weights=block.weights,
                groups=Groups(groups.name, groups.codes[self.rows], groups.labels), clusters=block.clusters, seed=study.seed,
                statistics=study.rows.statistics,  # type: ignore[arg-type]
            )  # fmt: skip
            study = Study(study.model, rows, study.choices, study.plans, study.cache)
        return StudyExplainer(study)


class StudyExplainer(Explainer):
    """An Explainer of a study that is there already."""

    def __init__(self, study: Study) -> None:  # pylint: disable=super-init-not-called
        self.study = study
        self.model = study.model


class Refits(StudyExplainer):
    """A model and its learner's refits on random halves of the rows: an Explainer whose answers carry intervals.

    Made by `Explainer.refits`. `partial_dependence`, `ice`, `ale`, `effects`, `change`, `slope`, `importance` and `interactions`
    return what the Explainer's do, with intervals of **this learner's expected curve at this many rows**: what it would give, on
    average, on other data drawn like these. How far that is from the truth (bias) is not covered, and matters more with more rows.
    `flatness_test`, `group_test` and `interaction_test` give p-values. Everything else is the Explainer's own.

    Attributes
    ----------
    fitted : the refits, each with its model and the rows that it has not seen
    level : confidence level of the intervals
    about : ``"mean"`` (standard deviation of the refits) or ``"full"`` (root mean square about the full-data answer)
    kept_whole : what halves are drawn from: ``"rows"``, ``"groups"``, ``"clusters"`` or ``"stretches of time"``
    """

    def __init__(
        self, study: Study, refits: Sequence[Refit], *, level: float, about: str, kept_whole: str
    ) -> None:
        super().__init__(study)
        self.fitted = tuple(refits)
        self.level, self.about, self.kept_whole = float(level), about, kept_whole

    def __len__(self) -> int:
        return len(self.fitted)

    @property
    def target(self) -> str:
        """What the intervals cover, in words."""
        return f"this learner's expected curve at {counted(self.study.rows.n_rows)} rows"

    @property
    def how(self) -> str:
        """How intervals are formed, for notes."""
        df = len(self) - (self.about == "mean")
        spread = "their SD" if self.about == "mean" else "their RMS about it"
        return (
            f"{self.level:.0%} intervals of this learner's expected answer at {counted(self.study.rows.n_rows)} rows: that of the full-data "
            f"model ± t{df} x {spread}, {len(self)} refits on random halves of the {self.kept_whole}; bias against the truth is not covered"
        )

    def __repr__(self) -> str:
        n_rows = counted(self.study.rows.n_rows)
        whole = "" if self.kept_whole == "rows" else f", {self.kept_whole} kept whole"
        spread = "SD of the refits" if self.about == "mean" else "RMS of the refits about the full-data curve"
        return "\n".join([
            f"Refits of {self.study!r}",
            f"  {len(self)} random halves of {n_rows} rows{whole}",
            f"  {self.level:.0%} intervals of {self.target}, by the {spread}",
            f"  {measured_coverage(learner_kind(self.study.model.native))}",
            "  not covered: bias against the truth, which matters more with more rows",
        ])  # fmt: skip

    # --- curves --------------------------------------------------------------------------------

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
        """`Explainer.partial_dependence`, with `Effect.interval`; neither `rows` nor `precision` can be given."""
        _refuse_rows("precision", precision)
        _refuse_rows("rows", rows)
        effect = super().partial_dependence(
            *features, grid=grid, individual=individual, spread=spread, quantiles=quantiles, support=support, by=by
        )  # fmt: skip
        return self._around(effect, features, by)

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
        """`Explainer.ice`, with the interval of its average, except where rows are `changed`."""
        effect = super().ice(
            *features, grid=grid, rows=rows, changed=changed, quantiles=quantiles, support=support, by=by
        )
        return effect if changed is not None else self._around(effect, features, by)

    def ale(
        self,
        *features: Any,
        bins: Any = None,
        level_order: Any = "similarity",
        rows: Any = None,
        by: Any = None,
    ) -> Effect:
        """`Explainer.ale`, with `Effect.interval`; `rows` cannot be given."""
        _refuse_rows("rows", rows)
        effect = super().ale(*features, bins=bins, level_order=level_order, by=by)
        edges: Any = effect.grid[0] if len(effect.grid) == 1 else list(effect.grid)
        levels = [list(g) for g, kind in zip(effect.grid, effect.kinds) if kind in ("categorical", "boolean")]
        options: dict[str, Any] = {"level_order": levels[0]} if levels else {"bins": edges}
        return self._with_intervals(effect, [part.ale(*features, **options) for part in self._parts(by)])

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
        """`Explainer.effects`, each with `Effect.interval`."""
        if kind != "ice":
            _refuse_rows("rows", rows)
        singles = listed_features(features, self.study.model.columns, least=0)
        curves = super().effects(singles, order, spread, grid, by, kind=kind, rows=rows)
        if kind == "ale":
            return Effects({name: self.ale(f, by=by) for name, f in zip(curves, singles)})
        sets = [(f,) for f in singles] if order == 1 else list(combinations(singles, 2))
        return Effects({name: self._around(effect, f, by) for (name, effect), f in zip(curves.items(), sets)})

    def _parts(self, by: Any = None) -> list[Explainer]:
        """The refits as Explainers, in the groups of the full rows."""
        groups = self.study.grouped(by).rows.groups
        return [refit.explainer(groups) for refit in self.fitted]

    def _around(self, effect: Effect, features: Sequence[Any], by: Any) -> Effect:
        """An effect with the intervals that its refits give on the same grid."""
        grid: Any = effect.grid[0] if len(effect.grid) == 1 else list(effect.grid)
        return self._with_intervals(
            effect, [part.partial_dependence(*features, grid=grid, spread=False) for part in self._parts(by)]
        )

    def _with_intervals(self, effect: Effect, parts: Sequence[Effect]) -> Effect:
        probability = effect.scale_label == "probability" and effect.kind != "ale"
        interval = LearnerInterval.of(
            effect.average, np.stack([part.average for part in parts], axis=1), level=self.level, about=self.about,
            n_rows=self.study.rows.n_rows, logit=probability,
        )  # fmt: skip
        groups = {
            label: self._with_intervals(group, [part.groups[label] for part in parts])
            for label, group in effect.groups.items()
        }
        return replace(effect, spread=replace(effect.spread, interval=interval), groups=groups)

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
        """`Explainer.report`, whose cards carry the intervals of this learner; `rows` cannot be given."""
        _refuse_rows("rows", rows)
        from icefield.report import write_report

        return write_report(
            self.study, path, features=features, individual=individual, title=title, data_name=data_name, static=static, audit=audit, live=live,
            release=release, intervals=lambda name, effect: self._around(effect, [name], None),
        )  # fmt: skip

    # --- tables --------------------------------------------------------------------------------

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
        level: float | None = None,
        spread: bool = True,
        rows: Any = None,
    ) -> Change:
        """`Explainer.change`, with the error and the interval of this learner; `rows` cannot be given."""
        _refuse_rows("rows", rows)
        moves: dict[str, Any] = {"plus": plus, "times": times, "across": across}
        level = self.level if level is None else level
        table = super().change(
            feature, start, end, given=given, by=by, quantiles=quantiles, level=level, spread=spread, **moves
        )
        parts = [part.change(feature, start, end, spread=False, **moves) for part in self._parts(by)]
        return self._with_learner_error(table, parts, level)

    def slope(
        self,
        feature: Any,
        *,
        step: Any = None,
        given: Sequence[Any] | None = None,
        by: Any = None,
        quantiles: Any = (0.05, 0.5, 0.95),
        level: float | None = None,
        spread: bool = True,
        rows: Any = None,
    ) -> Change:
        """`Explainer.slope`, with the error and the interval of this learner; `rows` cannot be given."""
        _refuse_rows("rows", rows)
        level = self.level if level is None else level
        table = super().slope(
            feature, step=step, given=given, by=by, quantiles=quantiles, level=level, spread=spread
        )
        size: Any = step
        if size is None and table.step is not None:
            kind = self.study.feature(feature).kind
            size = timedelta(days=table.step) if kind in TIME_KINDS else table.step
            size = int(size) if kind == "integer" else size
        parts = [part.slope(feature, step=size, spread=False) for part in self._parts(by)]
        return self._with_learner_error(table, parts, level)

    def _with_learner_error(self, table: Change, parts: Sequence[Change], level: float) -> Change:
        columns = dict(table.columns)
        error, low, high = self._ends(
            columns["estimate"], np.stack([part["estimate"] for part in parts]), level
        )
        columns |= {"std_error": error, "conf_low": low, "conf_high": high}
        if "ratio" in columns:
            ratios = np.stack([part["ratio"] for part in parts])
            columns["ratio_std_error"] = RefitSpread.of(columns["ratio"], ratios, self.about).std_error
        notes = tuple(note for note in table.notes if note != table.interval)
        how = self.how.replace(f"{self.level:.0%}", f"{level:.0%}", 1)
        interval = f"{level:.0%} intervals of this learner's expected answer at {counted(self.study.rows.n_rows)} rows ({len(self)} refits)"
        return replace(table, columns=columns, notes=(how, *notes), interval=interval)

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
        """`Explainer.importance`, with ``std_error``, ``conf_low`` and ``conf_high`` of ``importance``; `rows` cannot be given."""
        _refuse_rows("rows", rows)
        table = super().importance(
            features, measure=measure, weighted=weighted, permutation=permutation, repeats=repeats, grid=grid
        )
        parts = [
            part.importance(features, measure=measure, weighted=weighted, permutation=False, grid=grid)
            for part in self._parts()
        ]
        error, low, high = self._aligned_intervals(table, parts, ("feature", "output"), "importance")
        columns = {"std_error": error, "conf_low": np.maximum(low, 0.0), "conf_high": high}
        return replace(table, columns=_insert(table, "importance", columns), notes=(self.how, *table.notes))

    def interactions(
        self,
        features: Iterable[Any] | None = None,
        *,
        method: str = "h",
        triples: Any = None,
        overall: bool = True,
        rows: Any = None,
    ) -> Interactions:
        """`Explainer.interactions`, with the ends of intervals: ``h_low``, ``h_high``, ``strength_low`` and ``strength_high``.

        Neither is ever below 0, so noise adds to both: even a learner with no interaction to find has an expected H above 0. To test
        whether there is one, use `interaction_test`.
        """
        table = super().interactions(features, method=method, triples=triples, overall=overall, rows=rows)
        parts = [
            part.interactions(features, method=method, triples=triples, overall=overall, rows=_sample(rows))
            for part in self._parts()
        ]
        for name, most in (("h", 1.0), ("strength", np.inf)):
            if name in table.columns:
                _, low, high = self._aligned_intervals(table, parts, ("features", "output"), name)
                ends = {f"{name}_low": np.maximum(low, 0.0), f"{name}_high": np.minimum(high, most)}
                table = replace(table, columns=_insert(table, name, ends))
        return replace(table, notes=(self.how, *table.notes))

    def _aligned_intervals(
        self, table: Any, parts: Sequence[Any], keys: Sequence[str], value: str
    ) -> tuple[Float, Float, Float]:
        """`_ends` of a table's column, whose rows the refits' tables have in another order."""
        values = np.stack([_aligned(table, part, keys, value) for part in parts])
        return self._ends(table[value], values, self.level)

    def _ends(self, centre: Float, values: Float, level: float) -> tuple[Float, Float, Float]:
        """Standard error and ends of the interval of each number."""
        spread = RefitSpread.of(centre, values, self.about)
        half = t_quantile(0.5 + level / 2, spread.df) * spread.std_error
        return spread.std_error, centre - half, centre + half

    # --- tests ---------------------------------------------------------------------------------

    def flatness_test(self, features: Iterable[Any] | None = None, *, grid: Any = 20) -> Tests:
        """Is the curve flat? A p-value per feature and output, with its effect size.

        Parameters
        ----------
        features : which features; all of the model's by default
        grid : of the curves, as in `partial_dependence`; more points cost power

        Notes
        -----
        The statistic is the largest absolute t over the grid of the curve less its mean; ``p_value`` is how often one so large would occur if
        the learner's expected curve were flat, ``p_adjusted`` the same for all rows of the table together (Holm 1979).
        """
        return flatness(self, self.effects(features, grid=grid))

    def group_test(self, feature: Any, *, by: Any = None, grid: Any = 20) -> Tests:
        """Is the effect the same in all groups? A p-value per pair of groups and output, with its effect size.

        Parameters
        ----------
        feature : one feature
        by : the groups, as `by` of the Explainer, whose groups are the default
        grid : as in `flatness_test`

        Notes
        -----
        Curves are compared less their means: groups may differ in level.
        """
        if by is None and self.study.rows.groups is None:
            raise InputError.about("by", "is needed, to say which groups to compare", None, 'write by="sex"')
        return group_differences(self, self.partial_dependence(feature, grid=grid, by=by))

    def interaction_test(self, features: Iterable[Any] | None = None, *, grid: Any = 6) -> Tests:
        """Is there no interaction? A p-value per pair of features and output, with its effect size.

        Parameters
        ----------
        features : which features; all of their pairs are tested. All of the model's by default
        grid : of the surfaces, along each feature

        Notes
        -----
        What is tested is the surface less both of its margins.
        """
        return interaction(self, self.effects(features, order=2, grid=grid))


# --- made of an Explainer ----------------------------------------------------------------------------


def make_refits(
    study: Study,
    fit: Any,
    y: Any,
    n: int,
    *,
    level: float,
    about: str,
    groups: Any,
    time: Any,
    blocks: int,
    processes: int | None,
    checkpoint: Any,
) -> Refits:
    """Fit a learner to random halves of a study's rows; see `Explainer.refits`."""
    study.needs_rows("refits")
    validate.count("n", n, least=LEAST_REFITS)
    validate.count("blocks", blocks)
    validate.count("processes", processes, optional=True)
    validate.share("level", level)
    validate.choice("about", about, ("auto", "mean", "full"))
    check_fit(fit)
    block = study.sample
    if not study.rows.resident or study.rows.is_sampled:
        raise InputError.about("X", "is streamed, and refits need all rows in memory", study.rows.label,
                            "read a sample of whole groups into a frame, and pass that as X")  # fmt: skip
    counting = int(np.count_nonzero(block.row_weights() > 0))
    if counting < LEAST_ROWS:
        raise InputError.about("X", f"must have at least {LEAST_ROWS} rows that count for refits on halves", f"{counting} rows")  # fmt: skip
    targets = validate.observed(y, block.table) if y is not None else block.y
    if targets is None:
        raise InputError.about(
            "y", "is needed: the targets that the learner is fitted to", None, "write ex.refits(fit, y)"
        )
    units, kept_whole = whole_units(block, groups, time, blocks)
    classes = targets if study.model.kind == "classifier" else None
    parts = list(halves(block.n_rows, int(n), study.seed, units, classes))
    learner = Fitter(fit, block.table.select(study.model.columns), study.model.form, targets, block.weights)
    work = [(fitted, seed) for fitted, _, seed in parts]
    # Interrupted, and asked again, it goes on; the learner is held so that its identity is nobody else's.
    held: tuple[Any, dict[int, Any]] = study.cache.once(
        ("refits", id(fit), fits_key(learner, work)), lambda: (fit, {})
    )
    folder = None if checkpoint is None else Path(checkpoint)
    models = fit_all(learner, work, processes=processes, checkpoint=folder, known=held[1])
    made = [_refit(study, model, rows) for model, (_, rows, _) in zip(models, parts)]
    if about == "auto":
        about = "full" if learner_kind(study.model.native) == "forest" else "mean"
    return Refits(study, made, level=level, about=about, kept_whole=kept_whole)


def _refit(study: Study, native: Any, rows: Positions) -> Refit:
    """A fitted model on the rows that it has not seen."""
    block, full = study.sample.take(rows), study.model
    model = read_model(native, block.table, target="all", scale=full.scale, row_by_row=not full.across_rows)
    if model.all_outputs != full.all_outputs:
        raise ModelError.about("fit", f"gave a model with other outputs than the Explainer's {list(full.all_outputs)}",
                            list(model.all_outputs), "fit the same kind of model")  # fmt: skip
    if set(model.columns) != set(full.columns):
        raise ModelError.about(
            "fit", "gave a model of other columns than the Explainer's", list(model.columns)
        )
    half = MemoryRows(
        block.table, y=block.y, weights=block.weights, clusters=block.clusters, seed=study.seed
    )  # fmt: skip
    return Refit(Study.of(replace(model, selected=full.selected), half, study.choices), rows)


def learner_kind(native: Any) -> str:
    """``"forest"``, ``"boosting"``, ``"neural net"``, ``"linear"``, or ``"other"``, by the names of its classes."""
    model = core(native)
    names = {kind.__name__ for kind in type(model).__mro__}
    rf = getattr(model, "boosting_type", None) == "rf" or getattr(model, "booster", None) == "rf"
    if rf:
        return "forest"
    return next((kind for kind, known in KINDS.items() if not names.isdisjoint(known)), "other")


def measured_coverage(kind: str) -> str:
    """What was measured of intervals of 90 % for learners of a kind, in words."""
    known = [MEASURED[kind]] if kind in MEASURED else list(MEASURED.values())
    points, curves, width, band = (_from_to(column) for column in zip(*known))
    whose = f"small learners of this kind ({kind})" if kind in MEASURED else "other learners"
    return (
        f"in simulations of {whose}, intervals of 90 % held it at {points} % of points and along {curves} % of curves, {width} and {band} "
        "times as wide as if the spread were known"
    )


def _from_to(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low} to {high}"


def _refuse_rows(parameter: str, given: Any) -> None:
    if given is not None:
        raise InputError.about(parameter, "cannot be given to refits: each averages over all rows that it has not seen", given,
                            "build an Explainer on the rows you mean, and call its refits")  # fmt: skip


def _sample(rows: Any) -> Any:
    """Rows to evaluate at, of a half: so many at most; which ones is for each to draw."""
    return rows // 2 if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool) else None


def _aligned(table: Any, other: Any, keys: Sequence[str], value: str) -> Float:
    """A column of another table with the same rows, in the order of this one's."""
    places = {_key(other, keys, row): row for row in range(len(other))}
    return np.array([other[value][places[_key(table, keys, row)]] for row in range(len(table))], dtype=float)


def _key(table: Any, keys: Sequence[str], row: int) -> tuple[Any, ...]:
    values = (table[name][row] for name in keys)
    return tuple(frozenset(value) if isinstance(value, tuple) else value for value in values)


def _insert(table: Any, name: str, added: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A table's columns, with some more after one of them."""
    places = list(table.columns)
    first = {column: table.columns[column] for column in places[: places.index(name) + 1]}
    return {**first, **added, **table.columns}
