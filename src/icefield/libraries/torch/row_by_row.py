"""Which of PyTorch's modules map each row by itself, as they are asked: in evaluation mode, a matrix of rows in.

Not on the list: convolutions, pooling and recurrent modules, which take a matrix for one sample, and everything that a user
derived, whose `forward` may do anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icefield.libraries.adapter import type_name
from icefield.libraries.class_path import is_own_class

HOME = "torch.nn.modules"
ELEMENTWISE = frozenset((
    "AlphaDropout", "CELU", "Dropout", "ELU", "FeatureAlphaDropout", "GELU", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "Identity", "LeakyReLU", "LogSigmoid", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU",
    "Sigmoid", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
))  # fmt: skip
# Modules whose settings decide: whether the row's own axis, the first, is left alone.
SETTINGS: dict[str, Callable[[Any], bool]] = {
    "Linear": lambda module: True,
    "GroupNorm": lambda module: True,
    "BatchNorm1d": lambda module: module.running_mean is not None and module.running_var is not None,
    "LayerNorm": lambda module: len(module.normalized_shape) == 1,
    "RMSNorm": lambda module: len(module.normalized_shape) == 1,
    "Embedding": lambda module: module.max_norm is None,
    "Flatten": lambda module: module.start_dim >= 1,
    **dict.fromkeys(("GLU", "LogSoftmax", "Softmax", "Softmin"), lambda module: module.dim in (1, -1)),
}
CLASSES = ELEMENTWISE | SETTINGS.keys() | {"Sequential"}
HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def is_row_by_row(model: Any, is_known: Callable[[Any], bool]) -> bool:
    """Whether a module, and all that it is a sequence of, is known to map each row by itself."""
    if not is_own_class(model, HOME, CLASSES) or any(getattr(model, name, None) for name in HOOKS):
        return False
    name = type_name(model)
    if name == "Sequential":
        return all(is_known(part) for part in model)
    return name in ELEMENTWISE or SETTINGS[name](model)
