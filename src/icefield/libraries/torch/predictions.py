"""PyTorch modules: numbers in, numbers out, with nothing about the module left changed.

The module is asked in evaluation mode without gradients, on the device and in the number type
its parameters have, in batches that fit where it maps each row by itself; afterwards every submodule is back in its
own mode.
"""

from __future__ import annotations

import threading
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import ModelError
from icefield.libraries.adapter import Adapter, Positions, refuse_raw_scale
from icefield.libraries.row_form import RowForm

BATCH_BYTES = 32 * 2**20  # of input; a batch that still does not fit the device is halved


def adapt(model: Any, scale: str) -> Adapter:
    """The adapter of a `torch.nn.Module` that maps a matrix to one number, or several, per row."""
    if scale == "raw":
        raise refuse_raw_scale("a network")
    import torch

    floating = "float64" if _reference(model).dtype == torch.float64 else "float32"
    return Adapter(
        kind="network",
        scale_label="prediction",
        answer=TorchAnswer(model),
        answer_in_parts=TorchAnswer(model, in_parts=True),
        naming=Positions(),
        # Integers are for modules that begin with an embedding and refuse fractions.
        forms=(RowForm("numpy", floating), RowForm("numpy", "int64")),
    )


class TorchAnswer:
    """Asks a module. Calls take turns, since evaluation mode is a state of the module itself."""

    def __init__(self, module: Any, in_parts: bool = False) -> None:
        self.module, self.in_parts = module, in_parts
        self._turn = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchAnswer, (self.module, self.in_parts)

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        import torch

        reference = _reference(self.module)
        batch = max(1, BATCH_BYTES // max(1, rows.itemsize * rows.shape[1])) if self.in_parts else len(rows)
        with self._turn:
            training = [part for part in self.module.modules() if part.training]
            try:
                for part in training:
                    part.training = False
                with torch.no_grad():
                    return self._in_batches(torch.from_numpy(rows), reference, batch)
            finally:
                for part in training:
                    part.training = True

    def _in_batches(self, rows: Any, reference: Any, batch: int) -> NDArray[Any]:
        import torch

        answers: list[NDArray[Any]] = []
        start = 0
        while start < len(rows):
            try:
                answers.append(self._ask(rows[start : start + batch], reference))
            except torch.OutOfMemoryError:
                if batch == 1 or not self.in_parts:
                    raise
                batch = max(1, batch // 2)
                continue
            start += batch
        return np.concatenate(answers)

    def _ask(self, rows: Any, reference: Any) -> NDArray[Any]:
        kind = reference.dtype if rows.is_floating_point() else rows.dtype
        answer = self.module(rows.to(device=reference.device, dtype=kind))
        if not hasattr(answer, "detach"):
            problem = f"returned {type(answer).__name__}; expected one tensor"
            hint = "pass a function that picks the tensor, for example lambda X: net(...)[0]"
            raise ModelError.about("model", problem, hint=hint)
        answer = answer.detach().cpu()
        as_it_is = answer.dtype == reference.dtype and answer.itemsize > 2
        return np.asarray(answer if as_it_is else answer.double())


def _reference(module: Any) -> Any:
    """A parameter or buffer whose device and number type stand for the module's."""
    import torch

    tensors = chain(module.parameters(), module.buffers())
    return next((tensor for tensor in tensors if tensor.is_floating_point()), torch.empty(0))
