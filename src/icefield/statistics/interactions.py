"""Interactions: how far a joint effect is from the sum of its parts (Friedman & Popescu 2008).

All statistics are sums over rows of partial dependence functions evaluated *at the rows' own values* and
centred there. `own_averages` is the one thing that differs between engines: an engine whose scale is
additive over trees may evaluate them at all rows in one pass; otherwise a stated, seeded sample of rows
is crossed with itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield import validate
from icefield.data.features import Feature
from icefield.effect import drawing
from icefield.engines import Axis, Question, Sample
from icefield.errors import InputError, complaint
from icefield.statistics import inquiry
from icefield.statistics.tables import ResultTable, labels_column
from icefield.typing import Backend, Float

if TYPE_CHECKING:
    from icefield.explainer import Explainer

Columns = tuple[Any, ...]
Features = tuple[Feature, ...]
SAMPLE_ROWS = 300  # a subset of features then costs at most 90,000 predictions
METHODS = ("h", "variance")
# Rounding leaves squares of about this share of the predictions' own; below it a sum counts as zero.
NOISE = 1e-20


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(ResultTable):
    """Interaction statistics, strongest first, one row per set of features and output.

    Columns: ``features``, ``order`` (1: a feature with all others together, 2: a pair, 3: a
    triple), ``output``, ``h`` and ``h_squared`` (share of the joint effect's variance that is interaction;
    0 where there is no joint effect), ``strength`` (the unnormalised form: root mean square of the interaction,
    in the predictions' own unit). For ``method="variance"``: ``strength`` is Greenwell et al.'s statistic.
    """

    features: tuple[Any, ...]

    def pairs(self) -> Interactions:
        """Only the pairs."""
        return self._only(2)

    def overall(self) -> Interactions:
        """Only the features' interaction with all others together."""
        return self._only(1)

    def _only(self, order: int) -> Interactions:
        kept = self.columns["order"] == order
        columns = {name: values[kept] for name, values in self.columns.items()}
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
    explainer: Explainer,
    features: Iterable[Any] | None = None,
    *,
    method: str = "h",
    triples: Any = None,
    overall: bool = True,
    rows: Any = None,
) -> Interactions:
    """Friedman's H for every pair of features, and for each feature with all others.

    Parameters
    ----------
    explainer : the model and its data
    features : which features; all of the model's by default
    method : ``"h"``, or ``"variance"`` for Greenwell et al.'s statistic: how much the importance of
        one feature varies along the other
    triples : True for the three-way statistic of every triple, or the triples wanted
    overall : also each feature's interaction with all others together
    rows : evaluate at these rows; by default all where the engine can, else 300 sampled with the seed

    Notes
    -----
    With centred partial dependence functions F, sums over (weighted) rows:

    ``H_jk^2 = sum (F_jk - F_j - F_k)^2 / sum F_jk^2``,
    ``H_j^2 = sum (F - F_j - F_without_j)^2 / sum F^2`` and
    ``H_jkl^2 = sum (F_jkl - F_jk - F_jl - F_kl + F_j + F_k + F_l)^2 / sum F_jkl^2``.

    Where the denominator is zero there is no joint effect and H is 0. The unnormalised ``strength`` is the
    root of the numerator's mean: unlike H it does not grow when the joint effect is weak, so rows
    are sorted by it.

    References
    ----------
    J. H. Friedman and B. E. Popescu, "Predictive learning via rule ensembles", Annals of Applied
    Statistics 2 (2008), 916-954, section 8.1. B. M. Greenwell et al., arXiv:1805.04755 (2018), section 4.
    """
    validate.choice("method", method, METHODS)
    if explainer.background == "training":
        raise InputError(
            "Interactions are evaluated at the rows of X; the training counts have no rows. "
            'Hint: use Explainer(..., background="data").'
        )
    found = _found(explainer, features)
    wanted_triples = _triples(explainer, found, triples)
    if method == "variance":
        return _by_variance(explainer, found, rows)
    from icefield.forest import CannotRead

    try:
        return _by_h(explainer, found, wanted_triples, overall, rows)
    except CannotRead as reason:  # a value the trees do not know, in a row met late
        inquiry.give_up_trees(explainer, str(reason))
        return _by_h(explainer, found, wanted_triples, overall, rows)


def _by_h(
    explainer: Explainer, found: list[Feature], wanted_triples: list[Features], overall: bool, rows: Any
) -> Interactions:
    pairs = list(combinations(found, 2))
    everything = inquiry.features_found(explainer, explainer.model.columns)
    without = [tuple(f for f in everything if f.label not in one.columns) for one in found]
    sets: list[Features] = [(f,) for f in found]
    if overall:
        sets += [everything, *(others for others in without if others)]
    values, why, weights = own_averages(explainer, [*sets, *pairs, *wanted_triples], rows)
    share = weights / weights.sum()
    own = (_centred(value, share) for value in values)
    table = _Rows(explainer.model.outputs, share)
    singles = {f.label: next(own) for f in found}
    if overall:
        whole = next(own)
        for feature, others in zip(found, without):
            rest = next(own) if others else np.zeros_like(whole)
            rest += singles[feature.label]
            rest -= whole
            table.add((feature,), rest, table.mean_square(whole))
    surfaces: dict[frozenset[Any], Float] = {}
    for pair in pairs:
        joint = next(own)
        if wanted_triples:
            surfaces[frozenset(f.label for f in pair)] = joint.copy()
        size = table.mean_square(joint)
        for feature in pair:  # in place: a pass over all rows for every pair is what this costs
            joint -= singles[feature.label]
        table.add(pair, joint, size)
    for triple in wanted_triples:
        joint = next(own)
        size = table.mean_square(joint)
        for feature in triple:
            joint += singles[feature.label]
        for pair in combinations(triple, 2):
            joint -= surfaces[frozenset(f.label for f in pair)]
        table.add(triple, joint, size)
    next(own, None)  # runs the engine's walk to its end, so that its threads go home now
    return table.result(explainer, found, "Interactions (Friedman's H)", why)


def _found(explainer: Explainer, features: Iterable[Any] | None) -> list[Feature]:
    if isinstance(features, (str, int, Mapping)):
        features = [features]
    asked = list(explainer.model.columns if features is None else features)
    if len(asked) < 2:
        raise InputError(
            complaint("features", "must name at least two features", asked, "interactions need a pair")
        )
    return list(inquiry.features_found(explainer, asked))


def _triples(explainer: Explainer, found: Sequence[Feature], triples: Any) -> list[Features]:
    if triples is None or triples is False:
        return []
    if triples is True:
        return list(combinations(found, 3))
    by_label = {f.label: f for f in found}
    wanted = []
    for triple in triples:
        labels = [f.label for f in inquiry.features_found(explainer, triple)]
        if len(set(labels)) != 3 or any(label not in by_label for label in labels):
            raise InputError(
                complaint("triples", "must list triples of three different features among `features`", triple,
                          'write triples=[("a", "b", "c")]')
            )  # fmt: skip
        wanted.append(tuple(by_label[label] for label in labels))
    return wanted


# --- partial dependence at the rows' own values ----------------------------------------------------


def own_averages(
    explainer: Explainer, sets: Sequence[Features], rows: Any
) -> tuple[Iterator[Float], str, Float]:
    """Partial dependence of sets of features at rows' own values, ``(outputs, rows)`` each, in order.

    The arrays are the caller's to change.

    Also returns which rows and why these, and the rows' weights. An engine with a method
    ``own_averages(sets of columns, sample, resources)`` answers one array after the other in one
    walk; it returns None when it cannot (the scale is not additive, tables too large).
    """
    n_rows = explainer.table.n_rows
    in_one_walk = getattr(explainer.plan.engine, "own_averages", None)

    def walked(sample: Sample) -> Iterator[Float] | None:
        if in_one_walk is None:
            return None
        answers: Iterator[Float] | None = in_one_walk(
            [_moving(features) for features in sets], sample, explainer.resources
        )
        return answers

    if rows is None:
        sample = inquiry.chosen_rows(explainer, None)
        answers = walked(sample)
        if answers is not None:
            return answers, f"all {n_rows:,} rows: {explainer.plan.why}", _row_weights(sample)
    wanted = min(SAMPLE_ROWS, n_rows) if rows is None else rows
    used = validate.row_positions(wanted, n_rows, explainer.seed)
    why = f"{len(used):,} of {n_rows:,} rows"
    if len(used) < n_rows:
        why += ", sampled with the seed" if isinstance(wanted, (int, np.integer)) else ", as given"
        why += f"; {_what_gives_all_rows(explainer)}"
    sample = inquiry.chosen_rows(explainer, used)
    answers = walked(sample)
    if answers is None:
        crossed = _CrossedSample(explainer, sample)
        answers = (crossed(features) for features in sets)
    return answers, why, _row_weights(sample)


def _row_weights(sample: Sample) -> Float:
    return np.ones(sample.n_rows) if sample.weights is None else sample.weights


def _what_gives_all_rows(explainer: Explainer) -> str:
    brute = f"rows={explainer.table.n_rows} evaluates at all rows, each crossed with each"
    if explainer.plan.engine.name == "brute":
        return f"all rows at once need a model read as trees ({explainer.plan.why}); {brute}"
    if not getattr(explainer.plan.engine, "additive", True) and explainer.model.scale == "response":
        return f'all rows at once need a scale that is additive over the trees: scale="raw"; {brute}'
    return brute


def _moving(features: Sequence[Feature]) -> Columns:
    return tuple(column for feature in features for column in feature.columns)


class _CrossedSample:
    """Partial dependence at the sampled rows' own values, averaged over the same rows."""

    def __init__(self, explainer: Explainer, sample: Sample) -> None:
        self.explainer, self.model, self.table = explainer, explainer.model, sample.table
        self.sample = Sample(sample.table, sample.weights)

    def __call__(self, features: Sequence[Feature]) -> Float:
        columns = _moving(features)
        if set(columns) >= set(self.model.columns):
            # Nothing is left to average over. A copy: the array may be the model's own.
            return np.array(self.model.predict(self.table).T, dtype=np.float64)
        first, place = self._distinct(columns)
        points = {name: _grid_values(self.table.column(name), first) for name in columns}
        question = Question((Axis(columns, points),), spread=False)
        (answer,) = inquiry.answers(self.explainer, [question], self.sample)
        return answer.total.average[:, place]

    def _distinct(self, columns: Columns) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows that show each combination first, and each row's combination: ties are asked once."""
        codes = np.zeros(self.table.n_rows, dtype=np.int64)
        for name in columns:
            column = self.table.column(name)
            own = column.codes if column.kind != "float" else _codes_of_floats(column.values)
            codes = np.unique(codes * (int(own.max()) + 2) + own + 1, return_inverse=True)[1]
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        return first.astype(np.intp), place.astype(np.intp)


def _codes_of_floats(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.unique(values, return_inverse=True, equal_nan=True)[1].astype(np.int64)


def _grid_values(column: Any, rows: NDArray[np.intp]) -> NDArray[Any]:
    """Values of some rows in the form grids have: the dtype's own missing value, or None."""
    values = column.values[rows]
    gone = column.missing[rows]
    if not gone.any() or values.dtype.kind in "fmM":
        return np.asarray(values)
    out = values.astype(object)
    out[gone] = None
    return np.asarray(out)


# --- statistics ------------------------------------------------------------------------------------


def _centred(values: Float, share: Float) -> Float:
    """Values less their weighted mean, in place: they come fresh from the engine."""
    values -= np.einsum("oi,i->o", values, share)[:, None]  # one thread: rows are too few for BLAS to help
    return values


class _Rows:
    """Rows of the result, collected one set of features at a time."""

    def __init__(self, outputs: Sequence[Any], share: Float) -> None:
        self.outputs, self.share = outputs, share
        self.features: list[tuple[Any, ...]] = []
        self.numbers: list[tuple[Float, Float]] = []

    def mean_square(self, values: Float) -> Float:
        return np.einsum("oi,oi,i->o", values, values, self.share)

    def add(self, features: Sequence[Feature], rest: Float, joint_size: Float) -> None:
        """Take in what is left of a joint effect without its parts, and the mean square of the whole."""
        self.features.append(tuple(f.label for f in features))
        self.numbers.append((self.mean_square(rest), joint_size))

    def result(self, explainer: Explainer, found: Sequence[Feature], title: str, why: str) -> Interactions:
        numerator = np.stack([n for n, _ in self.numbers])
        denominator = np.stack([d for _, d in self.numbers])
        # Differences of equal numbers leave rounding behind; it must not look like an interaction.
        floor = NOISE * max(float(denominator.max()), float(np.max(_level(explainer)) ** 2))
        numerator = np.where(numerator <= floor, 0.0, numerator)
        squared = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > floor)
        order = np.array([len(f) for f in self.features])
        ranked = np.lexsort((-numerator.mean(axis=1), order))
        n_outputs = len(self.outputs)
        return Interactions(
            columns={
                "features": labels_column([self.features[i] for i in ranked for _ in range(n_outputs)]),
                "order": np.repeat(order[ranked], n_outputs),
                "output": labels_column([o for _ in ranked for o in self.outputs]),
                "h": np.sqrt(squared[ranked]).ravel(),
                "h_squared": squared[ranked].ravel(),
                "strength": np.sqrt(numerator[ranked]).ravel(),
            },
            title=f"{title} on {explainer.model.scale_label}",
            notes=(why,),
            library=explainer.table.library,
            features=tuple(f.label for f in found),
        )


def _level(explainer: Explainer) -> Float:
    baseline, spread = inquiry.prediction_moments(explainer)
    return np.abs(baseline) + spread


def _by_variance(explainer: Explainer, found: Sequence[Feature], rows: Any) -> Interactions:
    """Greenwell et al.: the standard deviation, along one feature, of the other's importance."""
    strengths, names = [], []
    n_rows = explainer.table.n_rows
    limit = SAMPLE_ROWS if rows is None and explainer.plan.engine.name == "brute" else rows
    used = n_rows if limit is None else len(validate.row_positions(limit, n_rows, explainer.seed))
    for effect in _surfaces(explainer, found, limit):
        names.append(effect.features)
        strengths.append(_variance_statistic(effect))
    values = np.stack(strengths)
    ranked = np.argsort(-values.mean(axis=1), kind="stable")
    outputs = explainer.model.outputs
    return Interactions(
        columns={
            "features": labels_column([names[i] for i in ranked for _ in outputs]),
            "order": np.full(len(names) * len(outputs), 2),
            "output": labels_column([o for _ in ranked for o in outputs]),
            "strength": values[ranked].ravel(),
        },
        title=f"Interactions (spread of one feature's importance along the other) on {explainer.model.scale_label}",
        notes=(f"{used:,} of {n_rows:,} rows",),
        library=explainer.table.library,
        features=tuple(f.label for f in found),
    )


def _surfaces(explainer: Explainer, found: Sequence[Feature], rows: Any) -> Iterator[Any]:
    chosen = None if rows is None else validate.row_positions(rows, explainer.table.n_rows, explainer.seed)
    asked = [tuple(_ask(f) for f in pair) for pair in combinations(found, 2)]
    yield from inquiry.averages(explainer, asked, chosen)


def _ask(feature: Feature) -> Any:
    return {feature.label: list(feature.columns)} if feature.is_group else feature.label


def _variance_statistic(effect: Any) -> Float:
    from icefield.statistics.bundles import shown_points

    surface = effect.average[:, shown_points(effect, 0)][:, :, shown_points(effect, 1)]

    def importance(axis: int) -> Float:
        if effect.ordered[axis - 1]:
            return surface.std(axis=axis, ddof=1) if surface.shape[axis] > 1 else surface.take(0, axis) * 0.0
        return np.asarray((surface.max(axis=axis) - surface.min(axis=axis)) / 4.0)

    def spread(values: Float) -> Float:
        return values.std(axis=1, ddof=1) if values.shape[1] > 1 else np.zeros(len(values))

    return 0.5 * (spread(importance(1)) + spread(importance(2)))
