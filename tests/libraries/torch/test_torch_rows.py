"""Which of PyTorch's modules are known to map each row by itself: they do, and those that look across rows are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.models.across_rows import known_row_by_row
from optional import imported_later

torch = imported_later("torch", reason="torch is not installed")
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


def mine() -> Any:
    class Mine(torch.nn.Linear):
        def forward(self, rows: Any) -> Any:
            return super().forward(rows - rows.mean(dim=0))

    return Mine(4, 2)


def hooked() -> Any:
    layer = torch.nn.Linear(4, 2)
    layer.register_forward_hook(lambda module, given, answer: answer - answer.mean(dim=0))
    return torch.nn.Sequential(layer)


def replaced() -> Any:
    layer = torch.nn.Linear(4, 2)
    layer.forward = lambda rows: rows - rows.mean(dim=0)
    return layer


ALONE = {
    "layers": lambda: torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 3),
        torch.nn.Softmax(dim=1),
    ),
    "groups and gates": lambda: torch.nn.Sequential(torch.nn.GroupNorm(2, 4), torch.nn.GLU(), torch.nn.Flatten(), torch.nn.LogSoftmax(-1)),
}  # fmt: skip
ACROSS = {
    "a class of a user's": mine,
    "a hook": hooked,
    "a method replaced on the object": replaced,
    "no running statistics": lambda: torch.nn.Sequential(
        torch.nn.BatchNorm1d(4, track_running_stats=False), torch.nn.Linear(4, 2)
    ),
    "softmax over rows": lambda: torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Softmax(dim=0)),
    "a convolution along the rows": lambda: torch.nn.Sequential(torch.nn.Conv1d(16, 16, 1)),
    "a recurrent module": lambda: torch.nn.LSTM(4, 2),
    "all rows flattened": lambda: torch.nn.Sequential(torch.nn.Flatten(start_dim=0)),
    "a norm over rows": lambda: torch.nn.LayerNorm((16, 4)),
}


@pytest.mark.parametrize("name", ALONE)
def test_modules_that_leave_rows_apart_are_known_and_do(name: str) -> None:
    torch.manual_seed(0)
    model = ALONE[name]().eval()
    assert known_row_by_row(model)
    with torch.no_grad():
        whole = model(torch.from_numpy(X)).numpy()
        alone = np.concatenate([model(torch.from_numpy(X[i : i + 1])).numpy() for i in range(len(X))])
    np.testing.assert_allclose(whole, alone, atol=1e-6)


@pytest.mark.parametrize("name", ACROSS)
def test_modules_that_may_look_across_rows_are_not_known(name: str) -> None:
    assert not known_row_by_row(ACROSS[name]())


@pytest.mark.parametrize("name", ["a hook", "no running statistics", "softmax over rows"])
def test_modules_that_look_across_rows_give_the_curves_of_a_loop(name: str) -> None:
    torch.manual_seed(0)
    model = ACROSS[name]().eval()
    found = Explainer(model, X).partial_dependence(0, grid=[-1.0, 1.0])
    for point, value in enumerate((-1.0, 1.0)):
        moved = X.copy()
        moved[:, 0] = value
        with torch.no_grad():
            expected = model(torch.from_numpy(moved)).numpy().mean(axis=0)
        np.testing.assert_allclose(found.average[:, point], expected, atol=1e-6)
