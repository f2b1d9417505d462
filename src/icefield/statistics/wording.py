"""Readings in words. Every sentence carries the numbers it rests on and says nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefield.printing import range_texts, value_text

if TYPE_CHECKING:
    from icefield.statistics.reading import Reading

DIGITS = 4  # of a place on the axis: curves are known at grid points only


def reading_sentence(reading: Reading) -> str:
    """One reading as one or two sentences."""
    parts = [_main(reading)]
    if reading.missing_jump is not None and abs(reading.missing_jump) >= reading.thresholds["flat"]:
        side = "above" if reading.missing_jump > 0 else "below"
        parts.append(f"missing values stand {abs(reading.missing_jump):.2g} SD {side} the rest")
    parts += _curves(reading)
    return "; ".join(parts) + "."


def shape_words(reading: Reading) -> str:
    """Shape and direction in a few words, for tables."""
    if reading.hidden:
        return f"{'flat' if reading.shape == 'flat' else 'nearly flat'} average, curves differ"
    if reading.shape in ("linear", "threshold", "monotone"):
        return f"{reading.shape}, {reading.direction}"
    if reading.shape == "levels":
        if reading.direction != "none":
            return f"two values, {reading.direction}"
        return f"levels, highest {value_text(reading.high_at, DIGITS)}"
    return reading.shape


def _main(reading: Reading) -> str:
    name = " x ".join(str(f) for f in reading.features)
    low, high = range_texts(reading.low, reading.high)
    size = f"strength {reading.strength:.2g} SD of the predictions, {low} to {high}"
    if reading.shape == "flat":
        return f"{name}: flat on average (strength {reading.strength:.2g} SD of the predictions, under {reading.measures.get('flat_limit', reading.thresholds['flat']):.2g})"
    if reading.shape == "levels":
        return f"{name}: highest at {value_text(reading.high_at, DIGITS)}, lowest at {value_text(reading.low_at, DIGITS)} ({size})"
    if reading.interaction is not None:
        return f"{name}: {reading.shape}, {100 * reading.interaction:.0f} % of the surface is interaction ({size})"
    where = ""
    if reading.shape == "threshold":
        where = f", a step at {value_text(reading.changes_at[0], DIGITS)}"
    elif reading.shape in ("U-shaped", "inverted U") and reading.changes_at:
        where = f", turning at {value_text(reading.changes_at[0], DIGITS)}"
    elif len(reading.changes_at) == 2:
        begin, end = (value_text(v, DIGITS) for v in reading.changes_at)
        where = f", half of the change between {begin} and {end}"
    words = reading.shape
    if reading.shape in ("linear", "threshold", "monotone"):
        words = f"{reading.direction}, {reading.shape}"
    return f"{name}: {words}{where} ({size})"


def _curves(reading: Reading) -> list[str]:
    if reading.heterogeneity is None:
        return []
    amount = f"{reading.heterogeneity:.2g} SD"
    least = "" if reading.heterogeneity_exact else "at least "
    if reading.hidden:
        crossing = (
            "crossing curves"
            if (reading.opposing or 0) >= reading.thresholds["opposing"]
            else "moving curves"
        )
        flat = "flat" if reading.shape == "flat" else "nearly flat"
        return [f"{flat} average, {crossing} (they differ by {least}{amount}): {_look(reading)}"]
    if reading.heterogeneous:
        return [f"individual curves differ by {least}{amount}: {_look(reading)}"]
    return []


def _look(reading: Reading) -> str:
    if not reading.partners:
        return "look for an interaction" + (
            "" if reading.heterogeneity_exact else ", with Explainer.ice(...)"
        )
    named = ", ".join(f"{name} ({100 * share:.0f} % of the differences)" for name, share in reading.partners)
    return f"look for an interaction with {named}"
