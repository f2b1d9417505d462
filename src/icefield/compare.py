"""Comparison: the same question asked of several models.

`compare` takes Explainers or Effects by name. Given Explainers, a Comparison answers their
questions (`partial_dependence`, `ice`, `ale`) for each of them on one shared grid and gives a
Comparison of Effects; that one is drawn on shared axes and tabulated, or, where the models are
refits of one, becomes a band. Nothing is computed that one Explainer would not compute alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icefield import validate
from icefield.effect import Effect, Spread, drawing
from icefield.effect.tidy import as_csv, models_frame
from icefield.errors import InputError, InputTypeError, did_you_mean
from icefield.typing import (
    AxisScale,
    Backend,
    BandShown,
    CurvesShown,
    DataShown,
    Layout,
    LevelOrder,
    MaskShown,
    PictureKind,
)

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.report import Report


class Comparison(Mapping[Any, Any]):
    """Several Explainers, or several Effects of the same features, by name. Made by `compare`.

    It is a mapping of name -> Explainer or Effect.
    """

    def __init__(self, members: Mapping[Any, Any]) -> None:
        self._members = dict(members)

    @property
    def of_effects(self) -> bool:
        """Whether this compares Effects (else Explainers)."""
        return isinstance(next(iter(self._members.values())), Effect)

    # --- asking every model --------------------------------------------------------------------

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
    ) -> Comparison:
        """`Explainer.partial_dependence` of every model, on the first model's grid unless one is given."""
        return self._answers(
            "partial_dependence", features, grid=grid, individual=individual, spread=spread, quantiles=quantiles,
            rows=rows, precision=precision, support=support, by=by,
        )  # fmt: skip

    def ice(
        self,
        *features: Any,
        grid: Any = None,
        rows: Any = None,
        changed: Mapping[Any, Any] | None = None,
        quantiles: Any = None,
        support: bool = False,
        by: Any = None,
    ) -> Comparison:
        """`Explainer.ice` of every model, on the first model's grid unless one is given."""
        return self._answers(
            "ice",
            features,
            grid=grid,
            rows=rows,
            changed=changed,
            quantiles=quantiles,
            support=support,
            by=by,
        )

    @validate.renamed("order", "level_order")
    def ale(
        self,
        *features: Any,
        bins: Any = None,
        level_order: Any = "similarity",
        rows: Any = None,
        by: Any = None,
    ) -> Comparison:
        """`Explainer.ale` of every model."""
        return self._answers("ale", features, bins=bins, level_order=level_order, rows=rows, by=by)

    def _answers(self, question: str, features: tuple[Any, ...], **options: Any) -> Comparison:
        answers: dict[Any, Effect] = {}
        for name, explainer in self._explainers(question).items():
            answers[name] = getattr(explainer, question)(*features, **options)
            if "grid" in options and options["grid"] is None:
                # The same points for all, or a table could not put the models side by side.
                grid = answers[name].grid
                options["grid"] = grid[0] if len(grid) == 1 else grid
        return Comparison(_comparable(answers))

    # --- looking -------------------------------------------------------------------------------

    @drawing
    def plot(
        self,
        *features: Any,
        backend: Backend = "matplotlib",
        ax: Any = None,
        kind: PictureKind = "auto",
        center: Any = None,
        derivative: bool = False,
        band: BandShown | None = "auto",
        data: DataShown | None = "auto",
        curves: CurvesShown | None = "auto",
        max_curves: int | None = None,
        color_by: Any = None,
        highlight: Any = None,
        mask: MaskShown | None = "auto",
        interaction: Any = False,
        sort: LevelOrder = "auto",
        top: int | None = None,
        outputs: Any = None,
        layout: Layout = "auto",
        share_y: bool = True,
        x_scale: AxisScale = "auto",
        title: str | None = None,
        colors: Any = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the models on shared axes, with the options of `Effect.plot`.

        A comparison of Explainers takes the features too, as `partial_dependence` does, and draws these.
        """

    def _drawn(self, *features: Any, **options: Any) -> Any:
        from icefield.plots import plot_comparison

        if not self.of_effects:
            if not features:
                raise InputError.about("features", "are needed to draw a comparison of Explainers", features,
                                    'write comparison.plot("age")')  # fmt: skip
            return self.partial_dependence(*features).plot(**options)
        if features:
            raise InputError.about(
                "features", "are already chosen in a comparison of Effects", features, "leave them out"
            )
        return plot_comparison(self._members, **options)

    def to_frame(self) -> Any:
        """A tidy table: one row per model, output and grid point, in the first model's frame library."""
        return models_frame(self._effects("to_frame"))

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """`to_frame` as CSV: written to `path`, or returned as text without one."""
        return as_csv(self.to_frame(), path)

    def report(
        self,
        path: str | Path | None = None,
        *,
        features: Iterable[Any] | None = None,
        title: str | None = None,
        rows: Any = None,
        data_name: str | None = None,
        static: bool = False,
    ) -> Path | Report:
        """Write one offline, interactive HTML file about the models side by side, with what changed at the top; return its path.

        Parameters
        ----------
        path : where to write; ``.html`` is usual. Without it, an object is returned that a notebook shows in a frame and that has ``.save(path)``
        features : which features; by default those that all models have
        title : heading of the page
        rows : average over these rows; by default all, or a seeded sample where each row costs predictions
        data_name : what the rows are, such as ``"test 2024"``, for the text of the page
        static : no script: the same pictures as images, for mail and where scripts are not allowed

        Notes
        -----
        Curves of all models are computed on the first model's grid. A change is the standard deviation, over the data, of
        the difference of two average curves, in standard deviations of the first model's predictions: a model that
        predicts more everywhere has the same effects. Scores are shown where Explainers were given ``y``.

        Examples
        --------
        >>> compare({"old": ex, "new": other}).report("comparison.html")  # doctest: +SKIP
        """
        from icefield.report import write_report

        studies = {name: explainer.study for name, explainer in self._explainers("report").items()}
        return write_report(
            studies, path, features=features, title=title, rows=rows, data_name=data_name, static=static
        )

    def band(self, quantiles: Sequence[float] | None = None) -> Effect:
        """The models as refits of one: their mean, and the spread between them.

        Returns an `Effect` with ``over="refits"``: `average` is the mean of the refits' averages, `std` their
        standard deviation (with K - 1), `quantiles` (where asked for) theirs, `individual` the refits'
        own averages and `n_rows` their number. It describes these refits and is no confidence interval: where all average over
        the same rows, their 5 % to 95 % quantiles contain the learner's expected curve at 80 % of points, and the whole curve
        40 % of the time. `Explainer.refits` gives intervals whose coverage was measured.

        Examples
        --------
        >>> import icefield
        >>> import numpy as np
        >>> X = np.array([[0.0], [1.0], [2.0]])
        >>> slopes = [1.0, 2.0, 3.0]
        >>> refits = [icefield.Explainer(lambda rows, b=b: b * rows[:, 0], X) for b in slopes]
        >>> band = compare(refits).partial_dependence(0).band()
        >>> band.average.tolist(), band.std.round(9).tolist()
        ([[0.0, 2.0, 4.0]], [[0.0, 1.0, 2.0]])
        """
        from icefield.statistics.refit_band import refit_band

        effects = self._effects("band")
        first_name, first = next(iter(effects.items()))
        for name, effect in effects.items():
            if effect.outputs != first.outputs:
                raise InputError.about("members", f"must have the same outputs to be refits of one model: {first_name!r} "
                                    f"has {list(first.outputs)}, {name!r} has others", list(effect.outputs))  # fmt: skip
            _check_same_grid(effects, first_name, name)
        return refit_band(effects, quantiles)

    def difference(self, baseline: Any = None) -> Comparison:
        """Every model's averages minus those of `baseline` (the first model by default), where grids agree."""
        effects = self._effects("difference")
        name = next(iter(effects)) if baseline is None else baseline
        if name not in effects:
            raise InputError.about(
                "baseline", "names no member of the comparison", baseline, did_you_mean(name, effects)
            )
        base = effects[name]
        differences = {}
        for other, effect in effects.items():
            if other == name:
                continue
            _check_same_grid(effects, name, other)
            label = f"difference in {effect.scale_label}"
            differences[other] = replace(
                effect.averages_only(), average=effect.average - base.average, spread=Spread(), groups={},
                predictions=replace(effect.predictions, scale_label=label, positive=False),
            )  # fmt: skip
        return Comparison(differences)

    def _effects(self, method: str) -> dict[Any, Effect]:
        if not self.of_effects:
            raise InputTypeError(
                f"{method}() needs effects. Hint: compute them first: comparison.partial_dependence(...).{method}()."
            )
        return self._members

    def _explainers(self, method: str) -> dict[Any, Any]:
        if self.of_effects:
            raise InputTypeError(
                f"This comparison holds Effects, not models. Hint: {method}() needs "
                "icefield.compare of Explainers."
            )
        return self._members

    def __getitem__(self, name: Any) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __repr__(self) -> str:
        from icefield.wording.names import name_text

        names = ", ".join(name_text(name, 30) for name in self._members)
        if not self.of_effects:
            return f"Comparison of {len(self)} Explainers: {names}"
        from icefield.printing import comparison_text

        return comparison_text(self._members)


def compare(members: Mapping[Any, Any] | Sequence[Any], X: Any = None) -> Comparison:
    """Put several models, or several refits of one, side by side.

    Parameters
    ----------
    members : mapping of name -> Explainer, or of name -> Effect of the same features; or a list of
        either, as of refits, which are then numbered from 0; with `X` also of fitted models
    X : the rows on which models are explained, each by an Explainer of its own

    Examples
    --------
    >>> import icefield
    >>> import numpy as np
    >>> X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    >>> steep = icefield.Explainer(lambda rows: 3 * rows[:, 0], X)
    >>> flat = icefield.Explainer(lambda rows: 0 * rows[:, 0], X)
    >>> both = compare({"steep": steep, "flat": flat}).partial_dependence(0)
    >>> both["steep"].average.tolist(), both["flat"].average.tolist()
    ([[3.0, 6.0, 9.0]], [[0.0, 0.0, 0.0]])
    >>> list(compare({"steep": lambda rows: 3 * rows[:, 0], "flat": lambda rows: 0 * rows[:, 0]}, X))
    ['steep', 'flat']
    """
    if isinstance(members, (list, tuple)):
        members = dict(enumerate(members))
    if not isinstance(members, Mapping):
        raise InputTypeError.about("members", "must map names to Explainers or Effects, or list them", members,
                                'write compare({"forest": explainer_1, "boosting": explainer_2})')  # fmt: skip
    if not members:
        raise InputError.about("members", "must hold at least one Explainer or Effect", members)
    if X is not None:
        from icefield.explainer import Explainer

        explained = [name for name, member in members.items() if isinstance(member, (Effect, Explainer))]
        if explained:
            raise InputTypeError.about("X", f"is for models, and {explained[0]!r} has its own rows already", type(X).__name__,
                                    "leave X out, or pass the fitted models")  # fmt: skip
        members = {name: Explainer(model, X) for name, model in members.items()}
    effects = [isinstance(member, Effect) for member in members.values()]
    if all(effects):
        return Comparison(_comparable(dict(members)))
    if any(effects):
        raise InputTypeError.about(
            "members", "must hold Explainers or Effects, not both", members, "compute the effects first"
        )
    for name, member in members.items():
        if not hasattr(member, "partial_dependence"):
            raise InputTypeError.about("members", f"must hold Explainers or Effects, and {name!r} is neither", member,
                                    "write icefield.Explainer(model, X), or give the rows to all models: compare(models, X)")  # fmt: skip
    return Comparison(members)


def _comparable(effects: dict[Any, Effect]) -> dict[Any, Effect]:
    """Effects that may share axes: of the same features, in the same view, with the same number of outputs."""
    first_name, first = next(iter(effects.items()))
    for name, effect in effects.items():
        for what, value, other in (
            ("features", effect.features, first.features),
            ("view", effect.view, first.view),
            ("number of outputs", len(effect.outputs), len(first.outputs)),
            ("scale", effect.scale, first.scale),
        ):
            if value != other:
                raise InputError.about("members", f"must agree in their {what}: {first_name!r} has {other!r}, {name!r} has another", value)  # fmt: skip
    return effects


def _check_same_grid(effects: Mapping[Any, Effect], name: Any, other: Any) -> None:
    first, second = effects[name], effects[other]
    same = all([str(v) for v in a] == [str(v) for v in b] for a, b in zip(first.grid, second.grid))
    if first.average.shape != second.average.shape or not same:
        from icefield.wording.names import name_text

        argument = "bins=edges" if first.kind == "ale" else "grid=values"
        raise InputError(
            f"{name_text(other)!r} and {name_text(name)!r} were computed at different grid points. Hint: "
            f"compare(explainers).{'ale' if first.kind == 'ale' else 'partial_dependence'}(..., {argument}) asks "
            "all at the same ones."
        )
