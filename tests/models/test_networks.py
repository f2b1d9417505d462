"""PyTorch modules and ONNX models against plain calls of their own libraries."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

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
from icefield.errors import InputError, InputTypeError, ModelError
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


# --- PyTorch -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def network(torch, outputs=1):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(0.5)]
    return torch.nn.Sequential(*layers, torch.nn.Linear(8, outputs))


def plain_call(torch, module, rows, dtype):
    module.eval()
    with torch.no_grad():
        return module(torch.tensor(rows, dtype=dtype)).numpy()


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("data", [FRAME, pl.from_pandas(FRAME), X], ids=["pandas", "polars", "numpy"])
def test_a_module_answers_as_in_evaluation(torch, data, outputs):
    module = network(torch, outputs)
    expected = plain_call(torch, module, X, torch.float32)
    module.train()
    model, answer = read(module, data)
    assert (model.kind, model.outputs) == ("network", ("prediction",) if outputs == 1 else (0, 1, 2))
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-6)
    assert answer.dtype == np.float64
    np.testing.assert_array_equal(model.predict(table_of(data)), answer)  # no dropout, no running averages


def test_every_submodule_gets_its_own_mode_back(torch):
    module = network(torch)
    module.train()
    module[1].eval()
    before = [part.training for part in module.modules()]
    statistics = module[1].running_mean.clone()
    read(module)
    assert [part.training for part in module.modules()] == before
    assert torch.equal(module[1].running_mean, statistics)
    assert all(parameter.grad is None for parameter in module.parameters())

    class Fails(torch.nn.Module):
        def forward(self, rows):
            raise RuntimeError("no")

    failing = Fails().train()
    with pytest.raises(ModelError, match="RuntimeError: no"):
        read(failing)
    assert failing.training


@pytest.mark.parametrize("kind", ["float64", "float32", "bfloat16"])
def test_the_modules_number_type_is_kept(torch, kind):
    dtype = getattr(torch, kind)
    module = network(torch).to(dtype).eval()
    with torch.no_grad():
        expected = module(torch.tensor(X, dtype=torch.float64).to(dtype)).double().numpy()
    np.testing.assert_array_equal(read(module)[1], expected)
    assert next(module.parameters()).dtype == dtype


def test_batches_do_not_change_the_answer(torch, monkeypatch):
    module = network(torch, 2).eval()
    _, expected = read(module)
    monkeypatch.setattr("icefield.models.torch.BATCH_BYTES", 7 * 3 * 4)
    np.testing.assert_allclose(read(module)[1], expected, rtol=0, atol=1e-6)


def test_a_batch_too_large_for_the_device_is_halved(torch):
    sizes = []

    class Small(torch.nn.Module):
        def forward(self, rows):
            if len(rows) > 10:
                raise torch.OutOfMemoryError("too many rows")
            sizes.append(len(rows))
            return rows.sum(dim=1)

    _, answer = read(Small())
    np.testing.assert_allclose(answer[:, 0], X.sum(axis=1), rtol=0, atol=1e-5)
    assert max(sizes) <= 10


def test_a_module_of_integers_gets_integers(torch):
    codes = pd.DataFrame({"level": RNG.integers(0, 4, N)})
    module = torch.nn.Sequential(torch.nn.Embedding(4, 2), torch.nn.Flatten(), torch.nn.Linear(2, 1))
    _, answer = read(module, codes)
    with torch.no_grad():
        expected = module(torch.tensor(codes.to_numpy())).numpy()
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-6)
    with pytest.raises(ModelError, match="Long"):
        read(module, codes + 0.5)


def test_what_a_module_cannot_do_says_so(torch):
    class Pair(torch.nn.Module):
        def forward(self, rows):
            return rows, rows

    with pytest.raises(ModelError, match=r"answered with tuple; wanted one tensor"):
        read(Pair())
    with pytest.raises(ModelError, match=r"a network has only the scale of what it returns"):
        read(network(torch), scale="raw")
    with pytest.raises(ModelError, match=r"could not predict the first 5 rows"):
        read(network(torch), FRAME[["a", "b"]])
    with pytest.raises(InputTypeError, match=r"is the class Linear"):
        read(torch.nn.Linear)


def test_threads_and_processes_share_a_module(torch):
    module = network(torch).train()
    model, expected = read(module)
    table = table_of(FRAME)
    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(model.predict, [table] * 32):
            np.testing.assert_array_equal(answer, expected)
    assert module.training
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(table), expected)


# --- ONNX ----------------------------------------------------------------------------------------


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
    with pytest.raises(InputError, match=r"is a path to no file"):
        read(tmp_path / "nothing.onnx")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"is no ONNX model that onnxruntime can open"):
        read(broken)
