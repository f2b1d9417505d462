"""PyTorch modules against plain calls of theirs: modes, number types, batches, threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest

from icefield.data.frame import table_of
from icefield.errors import InputTypeError, ModelError
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
    monkeypatch.setattr("icefield.libraries.torch.predictions.BATCH_BYTES", 7 * 3 * 4)
    np.testing.assert_allclose(read(module)[1], expected, rtol=0, atol=1e-6)


def test_a_batch_too_large_for_the_device_is_halved(torch):
    sizes = []

    class Small(torch.nn.Module):
        def forward(self, rows):
            if len(rows) > 10:
                raise torch.OutOfMemoryError("too many rows")
            sizes.append(len(rows))
            return rows.sum(dim=1)

    _, answer = read(Small(), row_by_row=True)
    np.testing.assert_allclose(answer[:, 0], X.sum(axis=1), rtol=0, atol=1e-5)
    assert max(sizes) <= 10
    with pytest.raises(ModelError, match="too many rows"):  # it may look across rows
        read(Small())


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

    with pytest.raises(ModelError, match=r"returned tuple; expected one tensor"):
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
