"""Which outputs a target names: by label, by position, several of them, or all."""

from __future__ import annotations

from typing import Any

import numpy as np

from icefield.errors import InputError, brief, did_you_mean
from icefield.libraries.adapter import Outputs


class ShellTarget(str):
    """A target as it was typed in a shell, where a label has no type: ``1`` is the class '1', then 1, then position 1."""


def chosen_outputs(target: Any, outputs: Outputs) -> tuple[int, ...]:
    """Positions of the outputs a target names; None stands for the outputs' own default."""
    if target is None:
        return outputs.default
    if isinstance(target, str) and target == "all":
        return tuple(range(len(outputs.names)))
    if isinstance(target, (list, tuple, np.ndarray)):
        chosen = tuple(_position(item, outputs) for item in target)
        if not chosen or len(set(chosen)) < len(chosen):
            problem = "names no output" if not chosen else "names an output twice"
            raise InputError.about("target", problem, target, f"choose from {brief(outputs.names)}")
        return chosen
    return (_position(target, outputs),)


def _position(target: Any, outputs: Outputs) -> int:
    """The position of an output that a target names: by label first, since labels may be integers too, then by position."""
    if isinstance(target, ShellTarget):
        target = _typed_label(target, (*outputs.names, *outputs.absent))
    for position, label in enumerate(outputs.names):
        if _same_label(label, target):
            return position
    for label, reason in outputs.absent.items():
        if _same_label(label, target):
            raise InputError.about(
                "target", f"has no output of its own: {reason}", target, f"write target={brief(outputs.names[0])}",
            )  # fmt: skip
    if isinstance(target, (int, np.integer)) and not isinstance(target, (bool, np.bool_)):
        if 0 <= target < len(outputs.names):
            return int(target)
        problem = f"is not a label, and positions go from 0 to {len(outputs.names) - 1}"
        raise InputError.about("target", problem, target, f"choose from {brief(outputs.names)}")
    problem = "names an output the model does not have"
    raise InputError.about("target", problem, target, _hint(target, outputs.names))


def _hint(target: Any, names: tuple[Any, ...]) -> str:
    """A hint for a target that is no output: another type of the same spelling, or a name like it."""
    match = next((name for name in names if str(name) == str(target)), None)
    if match is not None:
        return f"labels are of type {type(match).__name__} here, so write target={brief(match)}"
    if all(isinstance(name, str) for name in names):
        return did_you_mean(target, names)
    return f"choose from {brief(names)}"


def _typed_label(target: ShellTarget, labels: tuple[Any, ...]) -> Any:
    """The label that a typed text spells; else the position it may be, else the text."""
    text = str(target)
    if text in [label for label in labels if isinstance(label, str)]:
        return text
    try:
        number = float(text)
    except ValueError:
        flags = [label for label in labels if isinstance(label, (bool, np.bool_))]
        return next((label for label in flags if str(label).lower() == text.lower()), text)
    for label in labels:
        if isinstance(label, (int, float, np.number)) and not isinstance(label, bool) and label == number:
            return label
    return int(number) if number.is_integer() else text


def _same_label(label: Any, target: Any) -> bool:
    if isinstance(label, str) != isinstance(target, str):
        return False
    try:
        return bool(label == target)
    except (TypeError, ValueError):
        return False
