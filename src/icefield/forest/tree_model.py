"""TreeModel: a Forest, how the caller's frame becomes its input, and how raw becomes response."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table

if TYPE_CHECKING:
    from icefield.forest.form import Forest


class CannotRead(Exception):
    """A model cannot be turned into a Forest exactly; the message is the reason, for people."""


@dataclass(frozen=True)
class LinkForm:
    """A link that the kernels take themselves: ``"logistic"`` and ``"exp"`` of each raw output, or ``"softmax"``.

    `factor` multiplies what a logistic link is taken of. With `complement` the response is one minus it, and it.
    """

    kind: str
    factor: float = 1.0
    complement: bool = False


@dataclass(frozen=True, eq=False)
class Link:
    """From raw sums to the response: ``apply`` maps (..., n_raw) to (..., n_response).

    `additive` says that the response is the raw sum itself, `form` how the kernels know the link; None: not. `second` leads
    from one raw sum to the second of two outputs alone, where the first is its complement.
    """

    name: str
    apply: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    additive: bool = False
    form: LinkForm | None = None
    second: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None

    def selected(self, raw: NDArray[np.float64], outputs: Sequence[int]) -> NDArray[np.float64]:
        """Some outputs of the response, along the last axis."""
        if self.second is not None and tuple(outputs) == (1,) and raw.shape[-1] == 1:
            return self.second(raw)
        return self.apply(raw)[..., list(outputs)]


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A model read as trees.

    `encode` turns any rows of the caller's table into the float64 matrix the Forest routes on;
    it is pure, thread-safe, and treats every row by itself. `drives` says which of the matrix's
    columns a frame column decides; a frame column that is absent decides none. `raw_link` leads to what the
    model calls its raw scale where that is not the sum of the trees itself. `no_training_weights` says why the
    forest's node weights are not what the model was trained with, where they are not.
    """

    travels_as = "tree model"

    forest: Forest
    encode: Callable[[Table], NDArray[np.float64]]
    drives: Mapping[Any, tuple[int, ...]]
    link: Link
    source: str
    missing_number: float | None = None  # a number that the model takes for missing, as XGBoost can be told
    tolerance: float = 1e-12
    raw_link: Link | None = None
    no_training_weights: str = ""
