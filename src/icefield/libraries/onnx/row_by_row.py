"""Which ONNX graphs compute each row by itself: those made of listed operations that leave the first axis alone.

Of every tensor it is followed how many axes it has and how many numbers a row: the first axis is that of the rows, from the
inputs on. An operation that is not listed, or is set to work along the first axis (a mean of the batch, Softmax over it, a
normalisation in training), makes what comes of it unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from icefield.libraries.onnx import is_session
from icefield.libraries.onnx.format import Constant, Graph, Node, NotOnnx, graph_of

ML = "ai.onnx.ml."
ELEMENTWISE = frozenset((
    "Abs", "Add", "And", "Cast", "Ceil", "Clip", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater",
    "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Min",
    "Mish", "Mul", "Neg", "Not", "Or", "Pow", "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Softplus",
    "Softsign", "Sqrt", "Sub", "Tanh", "Where", f"{ML}Binarizer", f"{ML}Imputer", f"{ML}LabelEncoder", f"{ML}Scaler",
))  # fmt: skip
REGRESSORS = (f"{ML}LinearRegressor", f"{ML}SVMRegressor", f"{ML}TreeEnsemble", f"{ML}TreeEnsembleRegressor")
CLASSIFIERS = (f"{ML}LinearClassifier", f"{ML}SVMClassifier", f"{ML}TreeEnsembleClassifier")


@dataclass(frozen=True)
class Tensor:
    """Something of each row: its number of axes, of which the first is the rows', and of numbers a row (None: not known)."""

    axes: int
    width: int | None = None


Rule = Callable[[Node, list[Tensor], list[Constant | None]], Tensor | None]
"""From a node, the tensors it is given and its inputs' constants to what it makes, None where that is not known."""


def is_row_by_row(model: Any, is_known: Callable[[Any], bool]) -> bool:
    """Whether a graph's outputs are known to be of each row by itself."""
    stored = _model_bytes(model)
    try:
        graph = None if stored is None else graph_of(stored)
    except NotOnnx:
        return False
    return graph is not None and _keeps_rows_apart(graph)


def _model_bytes(model: Any) -> bytes | None:
    """The model's bytes; None for a session that does not have them any more."""
    if is_session(model):
        data = getattr(model, "_model_bytes", None)
        if data:
            return bytes(data)
        model = getattr(model, "_model_path", None)
    if isinstance(model, (str, os.PathLike)):
        return Path(model).read_bytes() if os.path.isfile(model) else None
    return None if model is None else bytes(model.SerializeToString())


def _keeps_rows_apart(graph: Graph) -> bool:
    if any(len(shape) != 2 or shape[0] is not None for shape in graph.inputs.values()):
        return False
    known = {name: Tensor(2, shape[1]) for name, shape in graph.inputs.items()}
    for node in graph.nodes:
        tensors = [known.get(name) for name in node.inputs if name not in graph.constants and name]
        constants = [graph.constants.get(name) for name in node.inputs]
        # What needs nothing of the rows would be a constant made on the way, of which no shape is known.
        if tensors and all(tensor is not None for tensor in tensors):
            results = _result(node, [tensor for tensor in tensors if tensor is not None], constants)
            known |= {name: tensor for name, tensor in zip(node.outputs, results) if tensor is not None}
    return all(name in known for name in graph.outputs)


def _result(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> list[Tensor | None]:
    """The outputs of a node, given tensors whose first axis is the rows; empty where the operation may mix rows."""
    first, kind = tensors[0], node.kind
    if kind in ELEMENTWISE:
        return [_elementwise(tensors, [constant for constant in constants if constant is not None])]
    if kind in CLASSIFIERS and first.axes == 2:
        return [Tensor(1, 1), Tensor(2)]
    if len(tensors) > 1 and kind not in ("Concat", f"{ML}FeatureVectorizer"):
        return []
    rule = _RULES.get(kind)
    result = None if rule is None or first.axes < 2 else rule(node, tensors, constants)
    return [] if result is None else [result]


def _elementwise(tensors: list[Tensor], constants: list[Constant]) -> Tensor | None:
    """The output of an elementwise operation; None where broadcasting would let rows meet other rows."""
    axes = tensors[0].axes
    if any(tensor.axes != axes for tensor in tensors):
        return None
    for constant in constants:
        if len(constant.shape) > axes or (len(constant.shape) == axes and constant.shape[0] != 1):
            return None
    widths = [tensor.width for tensor in tensors] + [prod(constant.shape) for constant in constants]
    known = [width for width in widths if width is not None]
    # With more axes than two, what meets what is not followed.
    return Tensor(axes, max(known) if len(known) == len(widths) and (axes < 3 or len(known) == 1) else None)


def _product(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    """Rows times a constant matrix."""
    first, *rest = constants
    if first is not None or None in rest or node.integers.get("transA", 0):
        return None
    matrix, *addends = [constant for constant in rest if constant is not None]
    if len(matrix.shape) != 2 or tensors[0].axes != 2:
        return None
    width = matrix.shape[0 if node.integers.get("transB", 0) else 1]
    return _elementwise([Tensor(2, width)], addends) if addends else Tensor(2, width)


def _side_by_side(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    if any(constant is not None for constant in constants) or any(tensor.axes != 2 for tensor in tensors):
        return None
    if node.kind == "Concat" and node.integers.get("axis", 0) not in (1, -1):
        return None
    widths = [tensor.width for tensor in tensors]
    return Tensor(2, None if None in widths else sum(width for width in widths if width is not None))


def _reshape(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    """The output of Reshape; None where the first axis or the numbers a row would change."""
    shape = constants[1].integers if len(constants) == 2 and constants[1] is not None else None
    if not shape or shape[0] not in (0, -1) or node.integers.get("allowzero", 0):
        return None
    sizes = shape[1:]
    if any(size < 1 for size in sizes) or prod(sizes) != tensors[0].width:
        return None
    return Tensor(len(shape), tensors[0].width)


def _one_hot(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    levels = node.sizes.get("cats_int64s") or node.sizes.get("cats_strings")
    width = tensors[0].width
    return Tensor(tensors[0].axes + 1, None if width is None or not levels else width * levels)


def _gather(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    """The output of Gather or ArrayFeatureExtractor along the columns, by constant indices; None for any other."""
    is_along = node.kind != "Gather" or node.integers.get("axis", 0) in (1, -1)
    indices = constants[1] if len(constants) == 2 else None
    if not is_along or indices is None or constants[0] is not None or tensors[0].axes != 2:
        return None
    return Tensor(2, prod(indices.shape)) if node.kind != "Gather" or len(indices.shape) == 1 else None


def _batch_norm(node: Node, tensors: list[Tensor], constants: list[Constant | None]) -> Tensor | None:
    """The output of BatchNormalization by constants; None in training mode, which uses the batch's own."""
    is_settled = not node.integers.get("training_mode", 0) and len(node.outputs) == 1
    return tensors[0] if is_settled and all(constant is not None for constant in constants[1:]) else None


_RULES: dict[str, Rule] = {
    **dict.fromkeys(REGRESSORS, lambda node, tensors, constants: Tensor(2)),
    **dict.fromkeys((f"{ML}Normalizer", f"{ML}ZipMap"), lambda node, tensors, constants: tensors[0]),
    **dict.fromkeys(
        ("LogSoftmax", "Softmax"),
        lambda node, tensors, constants: tensors[0] if node.integers.get("axis", -1) in (1, -1) else None,
    ),
    **dict.fromkeys(("Gemm", "MatMul"), _product),
    f"{ML}OneHotEncoder": _one_hot,
    f"{ML}FeatureVectorizer": _side_by_side,
    f"{ML}ArrayFeatureExtractor": _gather,
    "BatchNormalization": _batch_norm,
    "Concat": _side_by_side,
    "Dropout": lambda node, tensors, constants: (
        tensors[0] if len(node.inputs) <= 2 and len(node.outputs) == 1 else None
    ),
    "Flatten": lambda node, tensors, constants: (
        Tensor(2, tensors[0].width) if node.integers.get("axis", 1) == 1 else None
    ),
    "Gather": _gather,
    "Reshape": _reshape,
}
