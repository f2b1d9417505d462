"""The summary: which features matter, how, with whom, how far to trust it, and what to look at next.

What is said of each feature is its `Decision`. The summary adds the curves for pictures, how far the data supports
them, and what to look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.core.prediction_level import prediction_level
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import listed_features
from icefield.effect import Drawable, Effect
from icefield.effect.data_support import Support
from icefield.errors import BudgetError
from icefield.progress import Progress
from icefield.statistics.decision import Decisions, decisions_beside
from icefield.statistics.findings import findings
from icefield.statistics.fit_check import FitCheck, fit_check
from icefield.statistics.ice_sample import IceRequest
from icefield.statistics.reading import Reading
from icefield.statistics.support import expect_disagreements, pd_ale_disagreement, support_of, surroundings
from icefield.statistics.tables import ResultTable, labels_column
from icefield.wording.labels import model_quantity
from icefield.wording.overview import opening_text
from icefield.wording.sentences import enumerated, shape_words, summary_warning, unsupported_words
from icefield.wording.values import few_digits

MOST_PAIRS = 4_000_000  # of a feature and a column that are looked at for associations
LEAST_SUPPORTED = 100  # features that are compared with all columns, however many these are
A_FEATURE = 40_000  # bytes that are kept of one: its curve, its grid, its histogram and what is said of it
BUDGETS = 8  # memory budgets that a summary may take
OUTPUT_LINES = 5  # features whose effect on several outputs is told


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Drawable, ResultTable):
    """Features by how much they move the predictions.

    Columns: ``feature``, ``movement``, by which they are ranked: how far rows' predictions move with the feature;
    movement² = strength² + heterogeneity², ``strength`` of the average and ``heterogeneity`` how individual curves
    differ, all in standard deviations of the predictions. ``output``, which the row describes, where there are several:
    the one that the feature moves most. ``shape``, ``partner`` and ``interaction`` (the strongest pair, same unit),
    with ``y`` ``supported`` (whether held-out rows support that pair, as in `Interactions`), ``outside`` (share of moved rows outside the data; of more
    than 2,000 columns, for the features that move predictions most, as a note says), ``warning`` and ``next`` (what to
    look at).

    Attributes
    ----------
    effects : mapping of feature -> Effect with curves and support
    readings : mapping of feature -> Reading of the output it moves most
    opening : what the model predicts, what drives it, and the one caution that matters, in a few sentences
    warnings : what to keep in mind before anything else
    fit : with ``y``, how well it is predicted and whether that holds on other rows; None without
    decisions : mapping of feature -> Decision, from which everything here is written
    """

    effects: Mapping[Any, Effect]
    readings: Mapping[Any, Reading]
    warnings: tuple[str, ...]
    fit: FitCheck | None
    decisions: Decisions
    opening: str = ""

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        return {name: cells for name, cells in self.columns.items() if name not in ("interaction", "warning")}

    def _drawn(self, **options: Any) -> Any:
        """Small multiples of the features' effects, most important first."""
        from icefield.plots import plot_many

        return plot_many({name: effect.averages_only() for name, effect in self.effects.items()}, **options)


def summary(
    study: Study, features: Iterable[Any] | None = None, *, grid: Any = None, rows: Any = None
) -> Summary:
    """Rank features and say what each does, with whom, and how far the data supports it.

    Parameters are those of `Explainer.summary`.
    """
    names = listed_features(features, study.model.columns)
    _check_fits(len(names), study.resources.memory)
    made, (effects,) = decisions_beside(study, names, IceRequest(grid), rows=rows)
    around = surroundings(study)
    supports = {}
    strongest = list(made)[: max(LEAST_SUPPORTED, MOST_PAIRS // len(study.model.columns))]
    around.expect(strongest)
    with Progress("what the data supports", total=len(strongest)) as progress:
        for name in strongest:
            effect, features = effects[name], study.resolve([made[name].asked])
            supports[name] = support_of(study, features, effect.grid, effect.weight, around)
            progress.advance()
    if study.background == "data":
        doubtful = [name for name, support in supports.items() if support.doubtful]
        expect_disagreements(study, [made[name].asked for name in doubtful])
        for name in doubtful:
            other = pd_ale_disagreement(study, effects[name], made[name].asked)
            supports[name] = replace(supports[name], disagreement=other)
    supported = {
        name: replace(effects[name], backing=replace(effects[name].backing, support=supports.get(name)))
        for name in made
    }
    left_out = ""
    if len(strongest) < len(made):
        left_out = (
            f"support was computed for the {counted(len(strongest))} features that move predictions most: "
            f"each is compared with {counted(len(study.model.columns))} columns"
        )
    return _table(study, made, supported, "; ".join(filter(None, (made.note, left_out))))


def _check_fits(n_features: int, memory: int) -> None:
    """Refuse so many features that what is kept of them would take the machine's memory."""
    size, fitting = n_features * A_FEATURE, max(LEAST_SUPPORTED, BUDGETS * memory // A_FEATURE)
    if n_features > fitting:
        problem = f"A summary of {counted(n_features)} features would take about {size / 2**20:,.0f} MB"
        some = f"such as the first of importance(), with features=[...] (about {counted(fitting)} fit)"
        budget = f"over {BUDGETS} times the budget of {memory / 2**20:,.0f} MB."
        hint = f"choose some features, {some}, or raise Explainer(memory=...)"
        raise BudgetError.saying(f"{problem}, {budget}", hint)


def _table(study: Study, made: Decisions, effects: Mapping[Any, Effect], note: str) -> Summary:
    readings = [decision.reading for decision in made.values()]
    partners = [decision.partner for decision in made.values()]
    warned = {name: summary_warning(each.reading, effects[name].support) for name, each in made.items()}
    several = len(study.model.outputs) > 1
    supported = _support_column(readings)
    columns = {
        "feature": labels_column(list(made)),
        **({"output": labels_column([r.output for r in readings])} if several else {}),
        "movement": np.array([decision.movement for decision in made.values()]),
        "strength": np.array([r.strength for r in readings]),
        "heterogeneity": np.array([r.heterogeneity or 0.0 for r in readings]),
        "shape": labels_column([shape_words(r) for r in readings]),
        "partner": labels_column([None if p is None else str(p[0]) for p in partners]),
        "interaction": np.array([np.nan if p is None else p[1] for p in partners]),
        **({} if supported is None else {"supported": supported}),
        "outside": np.array([e.support.outside if e.support else np.nan for e in effects.values()]),
        "warning": labels_column([warned[name] or None for name in made]),
        "next": labels_column([next_steps(made, name, effects[name]) for name in made]),
    }
    fit = fit_check(study)
    warnings = tuple(f"{study.naming.name(name)}: {text}" for name, text in warned.items() if text)
    warnings = (*((fit.caution,) if fit is not None and fit.caution else ()), *warnings)
    opening = opening_of(study, made, fit, {name: effect.support for name, effect in effects.items()})
    about = opening, *(f"! {w}" for w in warnings), *_per_output(made), unsupported_words(readings)
    notes = (*about, note, *_about_all(study, fit), study.how)
    return Summary(
        columns=columns,
        title=f"{study!r}",
        notes=tuple(filter(None, notes)),
        library=study.sample.table.library,
        naming=study.naming,
        effects=effects,
        readings={name: decision.reading for name, decision in made.items()},
        warnings=warnings,
        fit=fit,
        decisions=made,
        opening=opening,
    )


def _support_column(readings: Sequence[Reading]) -> NDArray[Any] | None:
    """Whether the data supports each feature's strongest pair; None where no pair was tried."""
    first = [next(iter(r.interactions_supported), None) for r in readings]
    return labels_column(first) if any(answer is not None for answer in first) else None


def opening_of(
    study: Study, made: Decisions, fit: FitCheck | None, supports: Mapping[Any, Support | None]
) -> str:
    """The opening, the same in a summary, in a report and in the shell."""
    unit = study.naming.target_unit if study.model.scale_label == "prediction" else ""
    what = model_quantity(study.naming, study.model)
    return opening_text(findings(study, made, fit, supports), what, unit or "")


def _per_output(made: Decisions) -> Iterator[str]:
    """Features that do one thing to one output and another to the next."""
    n_lines = 0
    for decision in made.values():
        shapes: dict[str, list[str]] = {}
        for reading in decision.readings:
            shapes.setdefault(shape_words(reading), []).append(str(reading.output))
        if len(shapes) > 1 and decision.reading.responds and n_lines < OUTPUT_LINES:
            n_lines += 1
            by = [f"{words} in {enumerated(outputs)}" for words, outputs in shapes.items()]
            yield f"{decision.reading.naming.name(decision.feature)}: {'; '.join(by)}"


def _about_all(study: Study, fit: FitCheck | None) -> Iterator[str]:
    """What holds for every line: how well y is predicted, and which unit strengths have where it is not the SD."""
    if fit is not None and not fit.caution:
        yield str(fit)
    unit = prediction_level(study).unit
    if unit is not None:
        size = enumerated([few_digits(float(value)) for value in unit[:3]])
        yield (
            f"sizes are in robust SD ({size}), from how far most predictions lie apart: a few lie far from all others and "
            "would make everything else look flat"
        )


def next_steps(made: Decisions, name: Any, effect: Effect) -> str | None:
    """Calls to make next, as a user writes them; None where there is nothing more to see."""
    decision = made[name]
    feature, reading = repr(decision.asked), decision.reading
    if effect.support is not None and effect.support.doubtful and not reading.flat:
        if effect.support.one_hot is not None:
            return f"partial_dependence({effect.support.one_hot!r})"
        return f"ale({feature})"
    steps = []
    if decision.partner is not None:
        other = decision.partner[0]
        written = repr(made[other].asked if other in made else other)
        steps.append(f"partial_dependence({feature}, {written})")
    if reading.curves_differ:
        steps.append(f"regions({feature})")
    return ", ".join(steps) or None
