"""How well predictions fit the targets given, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefield.wording.values import number_text

if TYPE_CHECKING:
    from icefield.statistics.fit_check import FitCheck


def score_text(check: FitCheck, score: float) -> str:
    """A score by its name: "R² 0.97", "AUC 0.84"; what is worse than guessing is as good as guessing.

    A score is cut, not rounded, below 1: only a perfect one is 1.
    """
    value = 0.5 + 0.5 * max(score, 0.0) if check.classes else max(score, 0.0)
    value = min(value, 0.99) if value < 1.0 and round(value, 2) == 1.0 else value
    return f"{'AUC' if check.classes else 'R²'} {number_text(value, decimals=2)}"


def _own_score(check: FitCheck) -> str:
    """The model's own score and of which rows it is: a sample's may differ in its last digits from that of all."""
    sampled = check.given is not None and check.rows < check.given
    return f"{score_text(check, check.score)} on {f'{check.rows:,} of ' if sampled else ''}these rows"


def fit_caution(check: FitCheck) -> str:
    """What to keep in mind before anything else, empty where there is nothing."""
    score = _own_score(check)
    if check.too_few_events:
        return ""
    if check.useless:
        return f"{score}: the predictions say hardly anything about y"
    if not check.by_heart:
        return ""
    held_out = score_text(check, check.carried)
    known = f"{score}; a small model reaches {held_out} on rows it has not seen"
    if check.score <= check.chance:
        chance = "this many columns explain that much by chance alone. The effects may be noise"
        return f"{known}, and {chance}: look at rows the model has not seen"
    overfitted = "the model is overfitted and its effects may be noise"
    return f"{known}. If these are training rows, {overfitted}: look at rows it has not seen"


def fit_words(check: FitCheck) -> str:
    """How well the predictions fit, in one sentence or two."""
    if check.caution:
        return check.caution
    score = _own_score(check)
    if check.too_few_events:
        return f"{score}; too few events ({check.events}) to tell whether this holds on other rows"
    held_out = score_text(check, check.carried)
    text = f"{score}; a small model reaches {held_out} on rows it has not seen"
    if check.score - check.carried >= OVERFITTED:
        text += ". If these are training rows, the model may be overfitted"
    return text


OVERFITTED = 0.2  # of R², or of 2 AUC - 1: more than a small model reaches on other rows
