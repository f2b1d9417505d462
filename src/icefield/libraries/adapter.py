"""What every kind of model is reduced to, and the checks every answer passes.

An `Adapter` is a way of asking (rows in, the library's own answer out) with the facts needed to
interpret it. This module also owns the two conventions shared by all libraries: how an answer
becomes a float matrix, and how outputs are named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.errors import ModelError, brief
from icefield.libraries.row_form import RowForm


@dataclass(frozen=True)
class Outputs:
    """Names of a model's outputs and what ``target=None`` selects.

    Attributes
    ----------
    names : one label per column of the answer
    default : positions given when no target was asked for
    absent : labels a user may well ask for that have no column, and why
    """

    names: tuple[Any, ...]
    default: tuple[int, ...]
    absent: Mapping[Any, str] = field(default_factory=dict)


Naming = Callable[[tuple[int, ...], Any], Outputs]
"""From the widths of an answer's blocks (several when the answer is a list), and the answer, to its outputs."""


@dataclass(frozen=True, eq=False)
class Adapter:
    """How one model is asked on one scale.

    Attributes
    ----------
    kind : what the model is, in words
    scale_label : what its numbers are, for axes
    answer : rows in the model's form -> the library's own answer
    answer_in_parts : the same for a model that predicts each row by itself, where that may then be done in parts
    naming : names the outputs once the shape of an answer is known
    columns : the columns the model was fitted on, or None when it does not know names
    n_columns : how many columns it was fitted on, or None when unknown
    names_are_made_up : the library invented `columns` (fitted without names), so they bind nobody
    forms : the forms of rows it takes, best first; empty for whatever it accepts when tried
    avoid : why a table's own library must not be handed over though the model may take it, or None
    parallel : may be called from several threads, and gains by it
    notes : what the user should know
    positive : whether no prediction can be below zero, by its link (Poisson, gamma, Tweedie)
    least_per_call : predictions a call should hold, where each costs much whatever it holds
    """

    kind: str
    scale_label: str
    answer: Callable[[Any], Any]
    naming: Naming
    answer_in_parts: Callable[[Any], Any] | None = None
    columns: tuple[Any, ...] | None = None
    n_columns: int | None = None
    names_are_made_up: bool = False
    forms: tuple[RowForm, ...] = ()
    avoid: Callable[[Table], str | None] | None = None
    parallel: bool = False
    notes: tuple[str, ...] = ()
    positive: bool = False
    least_per_call: int = 1


def type_name(model: Any) -> str:
    return type(model).__name__


def comes_from(model: Any, library: str) -> bool:
    """Whether the object's class, or one it derives from, is defined by a library."""
    kind: type = type(model)
    return library in _origins(kind)


@lru_cache(maxsize=1024)  # a model has thousands of parts of a few classes
def _origins(kind: type) -> frozenset[str]:
    """The packages that define a class and those it derives from."""
    return frozenset(base.__module__.partition(".")[0] for base in kind.__mro__)


def refuse_raw_scale(what: str) -> ModelError:
    """The error for models that are just functions of their rows, whatever they are made of."""
    return ModelError.about(
        "scale", f"cannot be 'raw': {what} has only the scale of what it returns",
        hint='pass a model that returns the margin, with scale="response"',
    )  # fmt: skip


def columns_by_spelling(columns: Sequence[Any], names: Sequence[Any]) -> list[Any | None]:
    """For each column of a model, the name of it among the data's names; None for one that is not there.

    LightGBM stores blanks in names as underscores, and scikit-learn's searches and pipelines around it hand its names on.
    """
    spelled = {str(name).replace(" ", "_"): name for name in names}
    return [name if name in names else spelled.get(str(name)) for name in columns]


# --- answers -------------------------------------------------------------------------------------


def as_blocks(answer: Any) -> list[NDArray[Any]]:
    """An answer as a list of 2-D arrays: one, or several for a list of probability matrices."""
    if isinstance(answer, (list, tuple)) and answer and all(np.ndim(part) == 2 for part in answer):
        return [np.asarray(part) for part in answer]
    array = _as_array(answer)
    return [array[:, None] if array.ndim == 1 else array]


def as_matrix(answer: Any, n_rows: int) -> NDArray[np.float64]:
    """An answer as a float64 matrix of `n_rows` rows, or an error that says what came back."""
    blocks = as_blocks(answer)
    for block in blocks:
        if block.ndim != 2:
            expected = "one number (or one row of numbers) per row"
            raise _not_a_prediction(f"an array of shape {block.shape}", expected)
        if len(block) != n_rows:
            raise _not_a_prediction(f"{len(block)} rows of numbers for {n_rows} rows of X", "one per row")
    if any(block.shape[1] == 0 for block in blocks):
        raise _not_a_prediction("an array without columns", "at least one number per row")
    matrix = blocks[0] if len(blocks) == 1 else np.hstack(blocks)
    if matrix.dtype.kind == "c":
        raise _not_a_prediction("complex numbers", "real numbers")
    if matrix.dtype.kind not in "fiub":
        matrix = _objects_as_numbers(matrix)
    return np.asarray(matrix, dtype=np.float64)


def _as_array(answer: Any) -> NDArray[Any]:
    if answer is None:
        raise _not_a_prediction("None", "an array of numbers")
    if hasattr(answer, "detach"):  # a torch tensor, possibly on another device or with a gradient
        answer = answer.detach().cpu()
    if hasattr(answer, "toarray"):
        answer = answer.toarray()
    try:
        return np.asarray(answer)
    except Exception as error:
        raise _not_a_prediction(f"{type(answer).__name__}", "an array of numbers") from error


def _objects_as_numbers(matrix: NDArray[Any]) -> NDArray[np.float64]:
    received = f"{brief(matrix.ravel()[:1].tolist()[0] if matrix.size else None)} (dtype {matrix.dtype})"
    if matrix.dtype.kind != "O" or any(isinstance(value, (str, bytes)) for value in matrix.ravel().tolist()):
        raise _not_a_prediction(received, "numbers")
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise _not_a_prediction(received, "numbers") from error


def _not_a_prediction(received: str, expected: str) -> ModelError:
    problem = f"returned something that is not a prediction: {received}; expected {expected}"
    hint = "pass a function that returns an array of shape (rows,) or (rows, outputs)"
    return ModelError.about("model", problem, hint=hint)


# --- names ---------------------------------------------------------------------------------------


def plain_labels(labels: Any) -> tuple[Any, ...]:
    """Class labels as plain Python values, so that names compare and print like the user's own."""
    if labels is None or (isinstance(labels, list) and labels and np.ndim(labels[0])):
        return ()  # no labels, or one set of them per output
    return tuple(np.asarray(labels).tolist())


@dataclass(frozen=True)
class SingleOrNumbered:
    """One output by its given name; several as ``y0``, ``y1``, ... (or given names of that number)."""

    single: Any
    several: Sequence[Any] | None = None
    stem: str = "y"

    def __call__(self, widths: tuple[int, ...], answer: Any = None) -> Outputs:
        width = sum(widths)
        if self.several is not None and len(self.several) == width:
            names = tuple(self.several)
        elif width == 1:
            names = (self.single,)
        else:
            names = tuple(f"{self.stem}{i}" for i in range(width))
        return Outputs(names, tuple(range(width)))


class Positions:
    """Outputs of a model that names nothing: the answer's column names, one ``prediction``, or positions."""

    def __call__(self, widths: tuple[int, ...], answer: Any = None) -> Outputs:
        width = sum(widths)
        columns = getattr(answer, "column_names", getattr(answer, "columns", None))
        if columns is None or callable(columns) or len(columns) != width:
            columns = ("prediction",) if width == 1 else range(width)
        return Outputs(tuple(columns), tuple(range(width)))


class ByClass:
    """Outputs of a classifier: its class labels.

    Two classes in two columns default to the second, the positive class. A margin of a binary
    classifier is one column named for the positive class. A model of several outputs (a list of
    label arrays) has its columns named ``y0=label``, and each binary output defaults to its
    positive class.

    Parameters
    ----------
    classes : array of labels, or a list of arrays for several outputs
    exclusive : whether a row has exactly one class; False for one column per independent label
    """

    def __init__(self, classes: Any, exclusive: bool = True) -> None:
        self.several = isinstance(classes, (list, tuple))
        self.classes = [plain_labels(c) for c in classes] if self.several else [plain_labels(classes)]
        self.exclusive = exclusive

    def __call__(self, widths: tuple[int, ...], answer: Any = None) -> Outputs:
        if self.several:
            return self._outputs_of_several(widths)
        labels, width = self.classes[0], sum(widths)
        if width == 1 and len(labels) == 2:
            first, second = labels
            reason = f"the margin has one output, for class {second!r}; that of {first!r} is its negative"
            return Outputs((second,), (0,), {first: reason})
        if width == len(labels):
            binary = width == 2 and self.exclusive
            return Outputs(labels, (1,) if binary else tuple(range(width)))
        return SingleOrNumbered("prediction")(widths)

    def _outputs_of_several(self, widths: tuple[int, ...]) -> Outputs:
        names: list[str] = []
        default: list[int] = []
        if widths == tuple(len(labels) for labels in self.classes):
            for i, labels in enumerate(self.classes):
                defaults = [1] if len(labels) == 2 else range(len(labels))
                default.extend(len(names) + c for c in defaults)
                names.extend(f"y{i}={label}" for label in labels)
        elif sum(widths) == len(self.classes) and all(len(labels) == 2 for labels in self.classes):
            names = [f"y{i}={labels[1]}" for i, labels in enumerate(self.classes)]
            default = list(range(len(names)))
        else:
            return SingleOrNumbered("prediction")(widths)
        return Outputs(tuple(names), tuple(default))
