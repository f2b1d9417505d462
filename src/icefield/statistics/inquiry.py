"""What statistics need of an Explainer beyond its public questions, and nothing else does.

The only module that knows the Explainer's inner methods: finding features, asking for many effects at once
over chosen rows, and what an Effect made elsewhere (ALE) must carry of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icefield.data.distribution import Distribution
from icefield.data.features import Feature
from icefield.effect import Effect
from icefield.engines import Answer, Question, Sample
from icefield.plan import without_trees
from icefield.typing import Float, Positions

if TYPE_CHECKING:
    from icefield.explainer import Explainer


def features_found(explainer: Explainer, asked: Sequence[Any]) -> tuple[Feature, ...]:
    """The features a user means; an error when there are none, or one twice."""
    explainer._check_features(tuple(asked))
    return tuple(explainer._feature(feature) for feature in asked)


def averages(explainer: Explainer, asked: Sequence[tuple[Any, ...]], rows: Positions | None) -> list[Effect]:
    """Averages of several sets of features on their default grids, in one pass."""
    return explainer._effects(asked, "pd", None, False, None, None, rows)


def curves(
    explainer: Explainer, asked: Sequence[Any], grid: Any, rows: Positions | None, kept: Positions
) -> list[Effect]:
    """One-way effects in one pass; `kept` are places among `rows` whose own curves are kept."""
    return explainer._effects([(feature,) for feature in asked], "ice", grid, True, None, kept, rows)


def answers(explainer: Explainer, questions: Sequence[Question], sample: Sample) -> list[Answer]:
    """The engine's answers, by brute force where the trees turn out not to know a value."""
    return explainer._answers(questions, sample)


def give_up_trees(explainer: Explainer, reason: str) -> None:
    """Answer by brute force from now on; an error where only trees would do."""
    with explainer._lock:
        explainer._plan = without_trees(explainer.model, reason, explainer.engine, explainer.background)


def brute_instead(explainer: Explainer, reason: str) -> str:
    """Brute force for one question, by its name; an error where only trees would do."""
    return without_trees(explainer.model, reason, explainer.engine, explainer.background).engine.name


def chosen_rows(explainer: Explainer, rows: Positions | None) -> Sample:
    """These rows (None: every row) with their weights and groups."""
    return explainer._sample(rows)


def distribution(explainer: Explainer, features: Sequence[Feature]) -> Distribution:
    """Where the data is, for pictures."""
    return explainer._whereabouts.distribution(features)


def prediction_moments(explainer: Explainer) -> tuple[Float, Float]:
    """Mean and standard deviation of the model's predictions, per output."""
    return explainer._prediction_moments(None)
