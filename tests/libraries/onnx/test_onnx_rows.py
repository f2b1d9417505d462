"""Which ONNX graphs are known to compute each row by itself, against graphs that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.libraries.onnx.format import NotOnnx, graph_of
from icefield.libraries.onnx.row_by_row import is_row_by_row

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)).astype(np.float32)


def graph(*nodes: Any, rows: int | None = None, **constants: Any) -> Any:
    """A model of three columns `x`, whose last node gives `y`."""
    from onnx import TensorProto, helper, numpy_helper

    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])
    given = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    made = helper.make_graph(list(nodes), "graph", [taken], [given], stored)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(kind: str, inputs: str, outputs: str = "y", **settings: Any) -> Any:
    from onnx import helper

    return helper.make_node(kind, inputs.split(), outputs.split(), **settings)


W, B = np.ones((3, 2), np.float32), np.ones(2, np.float32)
NORMAL = {"s": np.ones(3, np.float32), "t": np.zeros(3, np.float32), "m": np.zeros(3, np.float32), "v": np.ones(3, np.float32)}  # fmt: skip

ALONE = {
    "a network": lambda: graph(
        node("Gemm", "x w b", "h"), node("Relu", "h", "r"), node("Softmax", "r"), w=W, b=B
    ),
    "a product": lambda: graph(node("MatMul", "x w", "h"), node("Add", "h b"), w=W, b=B),
    "normalised by constants": lambda: graph(node("BatchNormalization", "x s t m v"), **NORMAL),
    "columns side by side": lambda: graph(node("Neg", "x", "n"), node("Concat", "x n", axis=1)),
    "columns picked": lambda: graph(node("Gather", "x i", axis=1), i=np.array([2, 0])),
    "another shape and back": lambda: graph(
        node("Reshape", "x s", "h"), node("Flatten", "h"), s=np.array([-1, 3, 1])
    ),
}
ACROSS = {
    "a mean of the batch": lambda: graph(
        node("ReduceMean", "x", "m", axes=[0], keepdims=1), node("Sub", "x m")
    ),
    "softmax over rows": lambda: graph(node("Softmax", "x", axis=0)),
    "rows turned": lambda: graph(node("Transpose", "x", "t", perm=[1, 0]), node("MatMul", "x t")),
    "normalised by the batch": lambda: graph(
        node("BatchNormalization", "x s t m v", "y u w", training_mode=1), **NORMAL
    ),
    "two rows as one": lambda: graph(
        node("Reshape", "x s", "h"), node("Softmax", "h", "p"), node("Reshape", "p o"), s=np.array([-1, 6]), o=np.array([-1, 3])
    ),
    "all rows as one": lambda: graph(node("Reshape", "x s", "h"), node("Softmax", "h"), s=np.array([1, -1])),
    "added up": lambda: graph(node("CumSum", "x a"), a=np.array(0)),
    "a constant of its own for every row": lambda: graph(node("Add", "x c"), c=np.ones((12, 3), np.float32)),
    "under each other": lambda: graph(node("Concat", "x x", axis=0)),
    "rows picked": lambda: graph(node("Gather", "x i", axis=0), i=np.array([0])),
    "as many rows as it was made for": lambda: graph(node("Neg", "x"), rows=12),
}  # fmt: skip


def alone(model: Any) -> bool:
    return is_row_by_row(model, lambda part: False)


@pytest.mark.parametrize("name", ALONE)
def test_graphs_that_leave_rows_apart_are_known_and_do(name: str, tmp_path: Any) -> None:
    import onnxruntime

    model = ALONE[name]()
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    for form in (model, session, tmp_path / "model.onnx", str(tmp_path / "model.onnx")):
        assert alone(form)
    whole = session.run(["y"], {"x": X})[0]
    for i in range(len(X)):
        np.testing.assert_allclose(session.run(["y"], {"x": X[i : i + 1]})[0][0], whole[i], rtol=1e-5)


@pytest.mark.parametrize("name", ACROSS)
def test_graphs_that_look_across_rows_are_not_known(name: str) -> None:
    assert not alone(ACROSS[name]())


@pytest.mark.parametrize("name", ["a mean of the batch", "softmax over rows", "added up"])
def test_graphs_that_look_across_rows_give_the_curves_of_a_loop(name: str) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(
        ACROSS[name]().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found = Explainer(session, X).partial_dependence(0, grid=[0.0, 1.0])
    for point, value in enumerate((0.0, 1.0)):
        moved = X.copy()
        moved[:, 0] = value
        np.testing.assert_allclose(
            found.average[:, point], session.run(["y"], {"x": moved})[0].mean(axis=0), atol=1e-6
        )


def test_what_is_converted_from_scikit_learn_is_known() -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVR

    types = skl2onnx.common.data_types
    matrix = [("rows", types.FloatTensorType([None, 3]))]
    y, labels = X[:, 0], (X[:, 0] > 0).astype(int)
    for model, observed in (
        (RandomForestRegressor(2), y),
        (SVR(), y),
        (make_pipeline(SimpleImputer(), StandardScaler(), Ridge()), y),
        (LogisticRegression(), labels),
        (GradientBoostingClassifier(n_estimators=2), labels),
    ):
        assert alone(skl2onnx.convert_sklearn(model.fit(X, observed), initial_types=matrix)), model
    import pandas as pd

    frame = pd.DataFrame({"k": np.where(labels, "u", "v"), "a": X[:, 1]})
    coded = make_column_transformer((OneHotEncoder(), ["k"]), (StandardScaler(), ["a"]))
    mixed = make_pipeline(coded, LogisticRegression()).fit(frame, labels)
    columns = [("k", types.StringTensorType([None, 1])), ("a", types.FloatTensorType([None, 1]))]
    assert alone(skl2onnx.convert_sklearn(mixed, initial_types=columns))


def test_bytes_that_are_no_model_are_not_known() -> None:
    stored = ALONE["a network"]().SerializeToString()
    assert len(graph_of(stored).nodes) == 3
    for damaged in (b"", b"\x00", stored[:-7], stored[: len(stored) // 2], bytes(len(stored)), b"\xff" * 40):
        with pytest.raises(NotOnnx):
            graph_of(damaged)
