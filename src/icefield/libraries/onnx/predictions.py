"""ONNX models, run by onnxruntime: a file, an open session, or a loaded model.

Hides the two ways such models take a table (one matrix, or one named input per column, each of
its own type) and the ways they answer (a matrix, or one mapping of class to probability per row).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import InputError, MissingDependencyError, ModelError
from icefield.libraries.adapter import Adapter, ByClass, Outputs, Positions, refuse_raw_scale
from icefield.libraries.onnx import is_session
from icefield.libraries.row_form import RowForm

_NUMPY_TYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16",
    "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(bool)": "bool", "tensor(string)": "object",
}  # fmt: skip
_FLOATS = ("tensor(float)", "tensor(double)", "tensor(float16)")


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of an ONNX model."""
    if scale == "raw":
        raise refuse_raw_scale("an ONNX model")
    session = model if is_session(model) else _open(model)
    inputs, output = session.get_inputs(), _output(session.get_outputs())
    for arg in inputs:
        if arg.type not in _NUMPY_TYPES:
            raise ModelError.about(
                "model", f"takes an input {arg.name!r} of type {arg.type}, not a table",
                hint="pass a function that runs the session",
            )  # fmt: skip
    classifier = "prob" in output.name.lower() or output.type.startswith("seq(map(")
    axes = inputs[0].shape
    single = len(inputs) == 1 and len(axes) != 1 and not (len(axes) == 2 and axes[1] == 1)
    width = axes[1] if single and len(axes) == 2 else None
    number = _NUMPY_TYPES[inputs[0].type]
    return Adapter(
        kind="classifier" if classifier else "ONNX model",
        scale_label="probability" if classifier else "prediction",
        answer=OnnxAnswer(session, output.name),
        naming=ClassesOfAnswer() if classifier else Positions(),
        columns=None if single else tuple(arg.name for arg in inputs),
        n_columns=width if isinstance(width, int) else None if single else len(inputs),
        forms=(RowForm("numpy", number if single and number != "object" else None),),
    )


def _open(model: Any) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingDependencyError(
            "ONNX models are run by onnxruntime, which is not installed. Hint: pip install onnxruntime."
        ) from error
    onnxruntime.disable_telemetry_events()
    source: Any = os.fspath(model) if isinstance(model, (str, os.PathLike)) else model.SerializeToString()
    if isinstance(source, str) and not os.path.isfile(source):
        raise InputError.about("model", "is a path to a file that does not exist", source, "check the path")
    try:
        return onnxruntime.InferenceSession(source, providers=onnxruntime.get_available_providers())
    except Exception as error:
        raise ModelError.about("model", f"is not an ONNX model that onnxruntime can open: {error}") from error


def _output(outputs: Sequence[Any]) -> Any:
    """The one output that holds numbers; predicted labels beside it are left aside."""
    scores = [arg for arg in outputs if arg.type in _FLOATS or arg.type.startswith("seq(map(")]
    probabilities = [arg for arg in scores if "prob" in arg.name.lower()]
    for candidates in (probabilities, scores, [arg for arg in outputs if arg.type in _NUMPY_TYPES]):
        if len(candidates) == 1:
            return candidates[0]
    hint = "pass a function, for example lambda X: session.run(['score'], {'X': X})[0]"
    names = [arg.name for arg in outputs]
    raise ModelError.about("model", "must have one output of numbers", names, hint)


class OnnxAnswer:
    """Runs a session on a matrix, as one input or cut into one input per column."""

    def __init__(self, session: Any, output: str) -> None:
        self.session, self.output = session, output

    def __call__(self, rows: NDArray[Any]) -> Any:
        inputs = self.session.get_inputs()
        parts = [rows] if len(inputs) == 1 else [rows[:, [i]] for i in range(len(inputs))]
        feed = {arg.name: _as_input(part, arg) for arg, part in zip(inputs, parts)}
        answer = self.session.run([self.output], feed)[0]
        if isinstance(answer, list) and answer and isinstance(answer[0], Mapping):
            return ByLabel(answer)
        return answer


class ByLabel:
    """One mapping of class to probability per row, as a matrix with labelled columns."""

    def __init__(self, mappings: Sequence[Mapping[Any, float]]) -> None:
        self.columns = list(mappings[0])
        self._values = np.array(
            [[row[label] for label in self.columns] for row in mappings], dtype=np.float64
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._values if dtype is None else self._values.astype(dtype)


class ClassesOfAnswer:
    """Class labels as the answer gives them, or their numbers."""

    def __call__(self, widths: tuple[int, ...], answer: Any) -> Outputs:
        labels = getattr(answer, "columns", None) or list(range(sum(widths)))
        return ByClass(np.array(labels, dtype=object))(widths, answer)


def _as_input(rows: NDArray[Any], arg: Any) -> NDArray[Any]:
    number = _NUMPY_TYPES[arg.type]
    values = rows.astype(str).astype(object) if number == "object" else rows.astype(number, copy=False)
    return values.ravel() if len(arg.shape) == 1 else values
