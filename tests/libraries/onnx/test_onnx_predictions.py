"""ONNX models against the models they were converted from: inputs, classes, what they cannot do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from icefield.data.frame import table_of
from icefield.errors import InputError, ModelError
from icefield.models.model import read_model

RNG = np.random.default_rng(2)
N = 50
X = RNG.normal(size=(N, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
Y = X @ np.array([1.0, -1.0, 2.0])
LABELS = np.where(Y > 0, "yes", "no")


def read(model, data=FRAME, **options):
    table = table_of(data)
    answer = read_model(model, table, **options)
    return answer, answer.predict(table)


@pytest.fixture(scope="module")
def runtime():
    return pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


@pytest.fixture(scope="module")
def skl2onnx():
    return pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")


def matrix_input(skl2onnx, width=3):
    return [("rows", skl2onnx.common.data_types.FloatTensorType([None, width]))]


def test_a_regressor_from_a_file_a_session_or_a_loaded_model(runtime, skl2onnx, tmp_path):
    native = LinearRegression().fit(X, Y)
    exported = skl2onnx.convert_sklearn(native, initial_types=matrix_input(skl2onnx))
    path = tmp_path / "model.onnx"
    path.write_bytes(exported.SerializeToString())
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    expected = session.run(None, {"rows": X.astype(np.float32)})[0]
    for one in (path, str(path), session, exported):
        model, answer = read(one)
        assert model.outputs == ("prediction",)
        np.testing.assert_array_equal(answer, expected)
        np.testing.assert_allclose(answer[:, 0], native.predict(X), rtol=0, atol=1e-4)
        assert "numpy float32" in model.notes[0]


@pytest.mark.parametrize("zipmap", [True, False])
def test_classifiers_name_their_classes_when_the_model_does(runtime, skl2onnx, zipmap):
    native = LogisticRegression().fit(X, LABELS)
    exported = skl2onnx.convert_sklearn(
        native, initial_types=matrix_input(skl2onnx), options={id(native): {"zipmap": zipmap}}
    )
    model, answer = read(exported, target="all")
    assert (model.kind, model.scale_label) == ("classifier", "probability")
    assert model.outputs == (("no", "yes") if zipmap else (0, 1))
    np.testing.assert_allclose(answer, native.predict_proba(X), rtol=0, atol=1e-5)
    assert read(exported)[0].selected == (1,)


def test_three_classes(runtime, skl2onnx):
    native = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(Y, [-1, 1]))
    exported = skl2onnx.convert_sklearn(native, initial_types=matrix_input(skl2onnx))
    model, answer = read(exported)
    assert model.outputs == (0, 1, 2)
    np.testing.assert_allclose(answer, native.predict_proba(X.astype(np.float32)), rtol=0, atol=1e-5)


def test_a_named_input_per_column(runtime, skl2onnx):
    types = skl2onnx.common.data_types
    frame = FRAME[["a"]].assign(city=RNG.choice(["rome", "oslo"], N), count=RNG.integers(0, 9, N))
    steps = make_column_transformer(
        (StandardScaler(), ["a"]), (OneHotEncoder(), ["city"]), ("passthrough", ["count"])
    )
    native = make_pipeline(steps, LinearRegression()).fit(frame, Y)
    exported = skl2onnx.convert_sklearn(
        native,
        initial_types=[
            ("a", types.FloatTensorType([None, 1])),
            ("city", types.StringTensorType([None, 1])),
            ("count", types.Int64TensorType([None, 1])),
        ],
    )
    shuffled = frame.assign(extra=1.0)[["count", "extra", "city", "a"]]
    for data in (shuffled, pl.from_pandas(shuffled)):
        model, answer = read(exported, data)
        assert model.columns == ("a", "city", "count")
        np.testing.assert_allclose(answer[:, 0], native.predict(frame), rtol=0, atol=1e-4)
    with pytest.raises(ModelError, match=r"lacks 1 of the 3 columns"):
        read(exported, frame[["a", "city"]])


def test_the_score_beside_a_label_is_taken(runtime, skl2onnx):
    native = IsolationForest(n_estimators=5, random_state=0).fit(X)
    exported = skl2onnx.convert_sklearn(
        native, initial_types=matrix_input(skl2onnx), target_opset={"": 15, "ai.onnx.ml": 3}
    )
    _, answer = read(exported)
    np.testing.assert_allclose(answer[:, 0], native.decision_function(X), rtol=0, atol=1e-4)


def test_what_onnx_cannot_do_says_so(runtime, skl2onnx, tmp_path):
    exported = skl2onnx.convert_sklearn(LinearRegression().fit(X, Y), initial_types=matrix_input(skl2onnx))
    with pytest.raises(ModelError, match=r"an ONNX model has only the scale"):
        read(exported, scale="raw")
    with pytest.raises(ModelError, match=r"has 2 columns, but the model was fitted on 3"):
        read(exported, FRAME[["a", "b"]])
    with pytest.raises(InputError, match=r"is a path to a file that does not exist"):
        read(tmp_path / "nothing.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"is not an ONNX model that onnxruntime can open"):
        read(broken)
