"""Interactions: how far a joint effect is from the sum of its parts (Friedman & Popescu 2008).

All statistics are sums over rows of partial dependence functions evaluated *at the rows' own values* and
centred there. `Study.own_averages` gives them: at all rows in one pass where the scale is additive over
trees, otherwise at a stated, seeded sample of rows crossed with itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.core.averages_at_rows import EvaluatedRows, averages_at_rows
from icefield.core.effects import Request, compute_effects
from icefield.core.prediction_level import prediction_level
from icefield.core.study import Study
from icefield.counts import counted
from icefield.data.features import Feature, listed_features
from icefield.effect import drawing
from icefield.errors import BudgetError, InputError
from icefield.sampling import CROSSED_ROWS
from icefield.statistics.pair_check import TRIED_FROM, UNSUPPORTED, check_pairs
from icefield.statistics.tables import ResultTable, labels_column
from icefield.statistics.thresholds import THRESHOLDS
from icefield.typing import Backend, Float
from icefield.wording.labels import model_quantity

_Name = tuple[Any, ...]  # of a set of features: the part it plays, and their labels
METHODS = ("h", "variance")
# Rounding leaves squares of about this share of the predictions' own; below it a sum counts as zero.
NOISE = 1e-20
SET_BYTES = 100  # about what a pair takes, with its name and statistics, for one output
SUMMED_ROWS = 2_000  # at which the interactions of all pairs are added up
LEAST_JOINT = (
    0.05  # a joint effect below this share of the predictions' SD is none: H would divide noise by noise
)


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(ResultTable):
    """Interaction statistics, strongest first, one row per set of features and output.

    Columns: ``features``, ``order`` (1: a feature with all others together, 2: a pair, 3: a
    triple), ``output``, ``h`` and ``h_squared`` (share of the joint effect's variance that is interaction, at
    most 1; 0 where there is no joint effect), ``strength`` (the unnormalised form: root mean square of the
    interaction, in the predictions' own unit) and ``strength_se`` (its standard error from the rows it was evaluated
    at; 0 where those were all). With ``y``, for pairs that are not too weak to try: ``held_out`` (the size of the interaction
    that held-out rows confirm, same unit) and ``supported`` (whether these rows support it: ``"yes"``, ``"no"``, or ``"unclear"``: too
    few rows, or too much noise, to tell); unsupported pairs are listed last.
    For ``method="variance"``: ``strength`` is Greenwell et al.'s statistic.

    In a frame (`to_frame`) ``features``, a tuple here, are columns of their own: ``feature_1``, ``feature_2``, and
    ``feature_3`` where there are triples; missing where a set has fewer, as a feature with all others together has
    no second.
    """

    features: tuple[Any, ...]
    # What is left of the pairs' joint effects without their parts, summed, at `summed_rows(n_evaluated)`.
    pure: Float | None = field(default=None, kw_only=True)
    n_evaluated: int = field(default=0, kw_only=True)

    @property
    def shown(self) -> Mapping[str, NDArray[Any]]:
        return {
            name: values for name, values in self.columns.items() if name not in ("strength_se", "held_out")
        }

    @property
    def framed(self) -> Mapping[str, NDArray[Any]]:
        sets = self.columns["features"].tolist()
        if len({type(label) for names in sets for label in names}) > 1:  # positions beside groups' names
            sets = [tuple(str(label) for label in names) for names in sets]
        places = range(max([2, *(len(names) for names in sets)]))
        columns = {
            f"feature_{i + 1}": labels_column([names[i] if i < len(names) else None for names in sets])
            for i in places
        }
        return columns | {name: values for name, values in self.columns.items() if name != "features"}

    @property
    def unsupported(self) -> set[tuple[Any, ...]]:
        """With ``y``: pairs of the model that the data does not support in any output."""
        answers: dict[tuple[Any, ...], set[Any]] = {}
        for names, answer in zip(self.columns["features"].tolist(), self.columns.get("supported", ())):
            answers.setdefault(names, set()).add(answer)
        return {names for names, each in answers.items() if each - {None} == {UNSUPPORTED}}

    def pairs(self) -> Interactions:
        """Only the pairs."""
        return self._only(2)

    def overall(self) -> Interactions:
        """Only the features' interaction with all others together."""
        return self._only(1)

    def _only(self, order: int) -> Interactions:
        rows = self.columns["order"] == order
        columns = {name: values[rows] for name, values in self.columns.items()}
        return Interactions(columns, self.title, self.notes, self.library, self.features)

    def matrix(self, value: str = "strength", output: Any = None) -> Float:
        """Pairs as a symmetric matrix over `features`, NaN on the diagonal unless overall values exist."""
        place = {name: i for i, name in enumerate(self.features)}
        out = np.full((len(place), len(place)), np.nan)
        outputs = self.columns["output"].tolist()
        wanted = outputs[0] if output is None else output
        for row, names in enumerate(self.columns["features"].tolist()):
            if outputs[row] != wanted or len(names) > 2:
                continue
            i, j = place[names[0]], place[names[-1]]
            out[i, j] = out[j, i] = self.columns[value][row]
        return out

    @drawing
    def plot(
        self,
        value: str = "strength",
        output: Any = None,
        *,
        backend: Backend = "matplotlib",
        ax: Any = None,
        top: int | None = None,
        title: str | None = None,
        cmap: Any = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """The matrix of pairwise interactions, the features with the strongest first.

        Parameters
        ----------
        value : which column
        output : which output, the first by default
        top : how many features
        backend, ax, title, cmap, figsize : as in `Effect.plot`
        """

    def _drawn(self, value: str = "strength", output: Any = None, **options: Any) -> Any:
        from icefield.plots import plot_interactions

        return plot_interactions(self, value, output, **options)


def interactions(
    study: Study,
    features: Iterable[Any] | None = None,
    *,
    method: str = "h",
    triples: Any = None,
    overall: bool = True,
    rows: Any = None,
) -> Interactions:
    """Friedman's H for every pair of features, and for each feature with all others.

    Parameters are those of `Explainer.interactions`.

    Notes
    -----
    With centred partial dependence functions F, sums over (weighted) rows:

    ``H_jk^2 = sum (F_jk - F_j - F_k)^2 / sum F_jk^2``,
    ``H_j^2 = sum (F - F_j - F_without_j)^2 / sum F^2`` and
    ``H_jkl^2 = sum (F_jkl - F_jk - F_jl - F_kl + F_j + F_k + F_l)^2 / sum F_jkl^2``.

    Where the joint effect is below a twentieth of the predictions' standard deviation there is none to speak of, and
    H is 0; where features go together the parts can outweigh the whole, and H is 1. The unnormalised ``strength`` is the
    root of the numerator's mean: unlike H it does not grow when the joint effect is weak, so rows
    are sorted by it.

    References
    ----------
    J. H. Friedman and B. E. Popescu, "Predictive learning via rule ensembles", Annals of Applied
    Statistics 2 (2008), 916-954, section 8.1. B. M. Greenwell et al., arXiv:1805.04755 (2018), section 4.
    """
    validate.choice("method", method, METHODS)
    if study.background == "training":
        raise InputError(
            "Interactions are evaluated at the rows of X; the training counts have no rows. "
            'Hint: use Explainer(..., background="data").'
        )
    features = study.resolve(listed_features(features, study.model.columns, least=2))
    _check_fits(study, features, triples)
    wanted_triples = _triples(study, features, triples)
    if method == "variance":
        return _by_variance(study, features, rows)
    sets: dict[_Name, Sequence[Feature]] = {("alone", f.label): (f,) for f in features}
    if overall:
        everything = study.resolve(study.model.columns)
        sets["all",] = everything
        sets |= {("without", f.label): [e for e in everything if e.label not in f.columns] for f in features}
    sets |= {("pair", *(f.label for f in pair)): pair for pair in combinations(features, 2)}
    sets |= {("triple", *(f.label for f in triple)): triple for triple in wanted_triples}

    return _evaluate(study, features, sets, rows, keeps_surfaces=bool(wanted_triples))


def _check_fits(study: Study, features: Sequence[Feature], triples: Any) -> None:
    """Refuse more pairs, or triples, than the budget has room for, with their number: all of wide tables are never ready."""
    size = 3 if triples is True else 2
    count, memory = comb(len(features), size), study.resources.memory
    needed = SET_BYTES * count * len(study.model.outputs)
    if needed <= memory:
        return
    fitting = len(features)
    while fitting > size and SET_BYTES * comb(fitting, size) * len(study.model.outputs) > memory:
        fitting = int(0.9 * fitting)
    raise BudgetError.saying(
            f"{counted(len(features))} features have {counted(count)} {'triples' if size == 3 else 'pairs'}, which would take "
            f"about {needed / 2**20:,.0f} MB, over the budget of {memory / 2**20:,.0f} MB.",
            f"choose some features, such as the first of importance(), with features=[...] (about {counted(fitting)} fit), or raise "
            "Explainer(memory=...)",
        )  # fmt: skip


def pair_interactions(study: Study, pairs: Sequence[tuple[Any, Any]]) -> Interactions:
    """The statistics of these pairs alone, features as a user names them, at the rows `interactions` uses."""
    features: dict[Any, Feature] = {}
    resolved = []
    for names in pairs:
        pair_features = study.resolve(names)
        features |= {f.label: f for f in pair_features}
        resolved.append(pair_features)
    sets: dict[_Name, Sequence[Feature]] = {("alone", label): (f,) for label, f in features.items()}
    sets |= {("pair", *(f.label for f in pair)): pair for pair in resolved}
    return _evaluate(study, tuple(features.values()), sets, None)


def _evaluate(
    study: Study,
    features: Sequence[Feature],
    sets: Mapping[_Name, Sequence[Feature]],
    rows: Any,
    keeps_surfaces: bool = False,
) -> Interactions:
    statistics = _Statistics(study.sample.n_rows, keeps_surfaces)
    averages_at_rows(study, sets, rows, statistics)
    return statistics.table(study, features)


def _triples(study: Study, features: Sequence[Feature], triples: Any) -> list[tuple[Feature, ...]]:
    if triples is None or triples is False:
        return []
    if triples is True:
        return list(combinations(features, 3))
    by_label = {f.label: f for f in features}
    wanted = []
    for triple in triples:
        labels = [f.label for f in study.resolve(triple)]
        if len(set(labels)) != 3 or any(label not in by_label for label in labels):
            raise InputError.about("triples", "must list triples of three different features among `features`", triple,
                          'write triples=[("a", "b", "c")]')  # fmt: skip
        wanted.append(tuple(by_label[label] for label in labels))
    return wanted


def summed_rows(n_rows: int) -> NDArray[np.intp]:
    """Places of the rows at which the interactions of all pairs are added up, some of very many.

    By chance: every so many-th row of an hourly table would be a few hours of the day.
    """
    if n_rows <= SUMMED_ROWS:
        return np.arange(n_rows)
    return np.unique(np.random.default_rng(0).integers(0, n_rows, SUMMED_ROWS))


class _Statistics:
    """The statistics of every set of features, taken in as the averages come: single features first.

    Averages are kept by name only as long as others need them: there is one for every pair, as long as the data.
    """

    def __init__(self, population: int, keeps_surfaces: bool) -> None:
        self._population, self.keeps_surfaces = population, keeps_surfaces

    def begin(self, rows: EvaluatedRows) -> None:
        """Start anew with averages at these rows."""
        self.share, self.why = rows.weights / rows.weights.sum(), rows.why
        # What is sampled is both where the averages are taken and what they are taken over: twice the variance.
        self._sampled = 2.0 * max(0.0, 1.0 - len(self.share) / self._population)
        self._alone: dict[Any, Float] = {}
        self._all: Float | None = None
        self._surfaces: dict[frozenset[Any], Float] = {}
        self._features: list[tuple[Any, ...]] = []
        self._rest: list[Float] = []
        self._rest_se: list[Float] = []
        self._whole: list[Float] = []
        self._pure: Float | None = None
        self._some = summed_rows(len(self.share))

    def take(self, name: _Name, values: Float) -> None:
        """Take in a set's averages, ``(outputs, rows)``, which are changed in place."""
        role, *labels = name
        values -= np.einsum("oi,i->o", values, self.share)[
            :, None
        ]  # one thread: too few rows for BLAS to help
        if role == "alone":
            self._alone[labels[0]] = values
        elif role == "all":
            self._all = values
        elif role == "without":
            self._take_overall(labels[0], values)
        elif role == "pair":
            self._take_pair(labels, values)
        else:
            self._take_triple(labels, values)

    def _take_overall(self, label: Any, without: Float) -> None:
        if self._all is None:
            raise RuntimeError("averages of all features must come before those without one")
        without += self._alone[label]
        without -= self._all
        self._add([label], without, self._mean_square(self._all))

    def _take_pair(self, labels: Sequence[Any], joint: Float) -> None:
        if self.keeps_surfaces:
            self._surfaces[frozenset(labels)] = joint.copy()
        size = self._mean_square(joint)
        for label in labels:  # in place: a pass over all rows for every pair is what this costs
            joint -= self._alone[label]
        some = joint[:, self._some]
        self._pure = some if self._pure is None else self._pure + some
        self._add(labels, joint, size)

    def _take_triple(self, labels: Sequence[Any], joint: Float) -> None:
        size = self._mean_square(joint)
        for label in labels:
            joint += self._alone[label]
        for pair in combinations(labels, 2):
            joint -= self._surfaces[frozenset(pair)]
        self._add(labels, joint, size)

    def _add(self, labels: Sequence[Any], rest: Float, size: Float) -> None:
        """Append a set's statistics: from what its parts leave of a joint effect, and the mean square of the whole."""
        self._features.append(tuple(labels))
        size_of_rest = self._mean_square(rest)
        self._rest.append(size_of_rest)
        self._rest_se.append(self._standard_error(rest, size_of_rest))
        self._whole.append(size)

    def _mean_square(self, values: Float) -> Float:
        return np.einsum("oi,oi,i->o", values, values, self.share)

    def _standard_error(self, rest: Float, mean_square: Float) -> Float:
        """Standard error of the mean square, from the rows it was evaluated at."""
        if self._sampled == 0.0:
            return np.zeros_like(mean_square)
        apart = np.square(np.square(rest) - mean_square[:, None])
        return np.sqrt(self._sampled * np.einsum("oi,i->o", apart, np.square(self.share)))

    def table(self, study: Study, features: Sequence[Feature]) -> Interactions:
        rest, whole = np.stack(self._rest), np.stack(self._whole)
        # Differences of equal numbers leave rounding behind; it must not look like an interaction.
        floor = NOISE * max(float(whole.max()), float(np.max(_level(study)) ** 2))
        rest = np.where(rest <= floor, 0.0, rest)
        noise = np.maximum(floor, np.square(LEAST_JOINT * _unit(study)))
        squared = np.divide(rest, whole, out=np.zeros_like(rest), where=whole > noise)
        squared = np.minimum(squared, 1.0)
        strength = np.sqrt(rest)
        # Of a root: half the error of the square, over the root.
        error = np.stack(self._rest_se) / np.where(strength > 0, 2.0 * strength, 1.0)
        order = np.array([len(labels) for labels in self._features])
        measures: dict[str, NDArray[Any]] = {
            "h": np.sqrt(squared), "h_squared": squared, "strength": strength, "strength_se": error
        }  # fmt: skip
        held_out = _held_out(study, features, self._features, strength)
        measures |= held_out
        place = _places(held_out.get("supported"), strength, _unit(study))
        ranked = np.lexsort((-rest.mean(axis=1), place, order))
        made = _table(study, features, self._features, ranked, measures, "Friedman's H", self.why)
        return replace(made, pure=self._pure, n_evaluated=len(self.share))


def _held_out(
    study: Study, features: Sequence[Feature], sets: Sequence[tuple[Any, ...]], strength: Float
) -> dict[str, NDArray[Any]]:
    """Columns ``(sets, outputs)`` with, for each pair, its size and support in held-out rows; none without y."""
    by_label = {f.label: f for f in features}
    pairs = {labels: [by_label[label] for label in labels] for labels in sets if len(labels) == 2}
    sizes = {labels: size for labels, size in zip(sets, strength) if len(labels) == 2}
    tried = check_pairs(study, pairs, sizes, _unit(study))
    if not tried:
        return {}
    size = np.full(strength.shape, np.nan)
    supported = np.full(strength.shape, None, dtype=object)
    for row, labels in enumerate(sets):
        for o, answer in enumerate(tried.get(labels, [])):
            if answer is not None:
                size[row, o], supported[row, o] = answer.size, answer.supported
    return {"held_out": size, "supported": supported}


def _places(supported: NDArray[Any] | None, strength: Float, unit: Float) -> NDArray[np.intp]:
    """Where each set ranks: 0 for those worth a look, 1 for those that the data does not support, 2 for those too weak to try."""
    if supported is None:
        return np.zeros(len(strength), dtype=np.intp)
    answers = [{*row} - {None} for row in supported.tolist()]
    refused = np.array([each == {UNSUPPORTED} for each in answers])
    weak = ~(strength >= TRIED_FROM * THRESHOLDS["interaction"] * unit).any(axis=1)
    return np.where(refused, 1, np.where(weak, 2, 0)).astype(np.intp)


def _table(
    study: Study,
    features: Sequence[Feature],
    sets: Sequence[tuple[Any, ...]],
    ranked: NDArray[np.intp],
    measures: Mapping[str, NDArray[Any]],
    what: str,
    why: str,
) -> Interactions:
    """One row per set of features and output; `measures` are ``(sets, outputs)``."""
    outputs = study.model.outputs
    return Interactions(
        columns={
            "features": labels_column([sets[i] for i in ranked for _ in outputs]),
            "order": np.repeat([len(sets[i]) for i in ranked], len(outputs)),
            "output": labels_column([o for _ in ranked for o in outputs]),
            **{name: values[ranked].ravel() for name, values in measures.items()},
        },
        title=f"Interactions ({what}) in {model_quantity(study.naming, study.model)}",
        notes=(why,),
        library=study.sample.table.library,
        naming=study.naming,
        features=tuple(f.label for f in features),
    )


def _level(study: Study) -> Float:
    level = prediction_level(study)
    return np.abs(level.baseline) + level.std


def _unit(study: Study) -> Float:
    """One unit of effects per output: the SD of the predictions, or what stands for it."""
    level = prediction_level(study)
    return level.std if level.unit is None else level.unit


def _by_variance(study: Study, features: Sequence[Feature], rows: Any) -> Interactions:
    """Greenwell et al.: the standard deviation, along one feature, of the other's importance."""
    chosen = study.chosen(rows, when_costly=CROSSED_ROWS)
    sets = [tuple(_user_name(f) for f in pair) for pair in combinations(features, 2)]
    effects = compute_effects(study, Request(sets=sets, spread=False, rows=chosen.positions))
    values = np.stack([_variance_statistic(effect) for effect in effects])
    used = study.sample.n_rows if chosen.positions is None else len(chosen.positions)
    return _table(
        study,
        features,
        [effect.features for effect in effects],
        np.argsort(-values.mean(axis=1), kind="stable"),
        {"strength": values},
        "spread of one feature's importance along the other",
        f"{counted(used)} of {counted(study.sample.n_rows)} rows",
    )


def _user_name(feature: Feature) -> Any:
    """A feature as a user would name it."""
    return {feature.label: list(feature.columns)} if feature.is_group else feature.label


def _variance_statistic(effect: Any) -> Float:
    from icefield.statistics.ice_statistics import shown_points

    surface = effect.average[:, shown_points(effect, 0)][:, :, shown_points(effect, 1)]

    def importance(axis: int) -> Float:
        if effect.ordered[axis - 1]:
            return surface.std(axis=axis, ddof=1) if surface.shape[axis] > 1 else surface.take(0, axis) * 0.0
        return np.asarray((surface.max(axis=axis) - surface.min(axis=axis)) / 4.0)

    def spread(values: Float) -> Float:
        return values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.zeros(len(values))

    return 0.5 * (spread(importance(1)) + spread(importance(2)))
