"""What is sent to workers: the model, once to each, and for every pass the accumulators.

Accumulators point at the model, its plan, its engine and the trees. None of these travels with a pass: a class that says what it
`travels_as` is replaced by that name, and a worker has its own, made once from the model it was sent
(`icefield.rows.distributed.worker`).
"""

from __future__ import annotations

import hashlib
import importlib
import io
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from icefield import __version__
from icefield.core.rows import Accumulator
from icefield.errors import InputError
from icefield.typing import Float

if TYPE_CHECKING:
    from icefield.core.engine import Choices
    from icefield.models.model import Model
    from icefield.rows.block_reader import BlockReader

PROBED = 50  # rows a worker's model is tried at, against the answers it gave before


class Handle(Protocol):
    """A handle to a broadcast object: its name, and its bytes, which are fetched only where the name is new."""

    name: str

    def fetch(self) -> bytes: ...


@dataclass(eq=False)
class Broadcast:
    """Bytes that are sent once to each worker, with their name."""

    name: str
    content: bytes

    @classmethod
    def of(cls, content: bytes) -> Broadcast:
        return cls(hashlib.sha256(content).hexdigest()[:32], content)

    def fetch(self) -> bytes:
        return self.content


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass over the partitions, as it is sent to workers.

    Attributes
    ----------
    accumulators : those that know nothing yet, pickled
    reader : how rows become blocks
    columns : all of the stream's columns
    schema : of the columns that are read in this pass
    levels : by column of a category type, its levels over all rows
    starts : the number of each partition's first row; None where a partition finds one for itself
    block_rows, label : of the stream
    """

    accumulators: bytes
    reader: BlockReader
    columns: tuple[str, ...]
    schema: Any
    levels: dict[str, list[Any]]
    starts: tuple[int, ...] | None
    block_rows: int
    memory: int
    label: str


def pack_model(model: Model, choices: Choices, head: Any, probed: Float | None, dumps: Any) -> Broadcast:
    """The model with what a worker needs to make it ready; an error before any job where it does not pickle.

    `head` are some rows in Arrow's form, and `probed` what it predicts at the first of them; None where only its engine asks it.
    """
    contents = {
        "model": model,
        "head": head.take(np.arange(head.num_rows)),  # copied: a slice would travel with all it was cut from
        "engine": choices.engine,
        "background": choices.background,
        "resources": replace(choices.resources, threads=1, processes=None),
        "probed": probed,
    }
    try:
        return Broadcast.of(dumps(contents))
    except InputError:  # of a model that says itself why it stays
        raise
    except Exception as error:
        raise InputError.about("model", f"cannot be pickled, and so not be sent to the workers ({type(error).__name__}: {error})", model.native,
                               "remove locks, connections and open files from it, or stream the rows to this machine as Parquet") from error  # fmt: skip


def pack_pass(plan: Pass, versions: dict[str, str]) -> Broadcast:
    """A pass; versions can be read without anything that depends on them."""
    return Broadcast.of(pickle.dumps({"versions": versions, "pass": pickle.dumps(plan)}))


class _Sender(pickle.Pickler):
    def persistent_id(self, value: Any) -> str | None:
        name = getattr(type(value), "travels_as", None)
        return name if isinstance(name, str) else None


def pack_accumulators(accumulators: Sequence[Accumulator]) -> bytes:
    """Accumulators as bytes, in which the model, its plan and its engine are only names: workers have their own."""
    buffer = io.BytesIO()
    _Sender(buffer, protocol=5).dump(list(accumulators))
    return buffer.getvalue()


# --- versions --------------------------------------------------------------------------------------------


def versions_of(native: Any) -> dict[str, str]:
    """Versions of icefield and of the libraries a model is made of."""
    versions = {"icefield": __version__}
    parts = [native]
    if hasattr(native, "get_params"):
        parts += list(native.get_params(deep=True).values())
    for part in parts:
        for kind in type(part).__mro__:
            root = kind.__module__.split(".")[0]
            version = getattr(sys.modules.get(root), "__version__", None)
            if isinstance(version, str):
                versions.setdefault(root, version)
    return versions


def local_version(library: str) -> str:
    """A library's version on this machine, or that there is none."""
    if library == "icefield":
        return __version__
    try:
        return str(getattr(importlib.import_module(library), "__version__", "unknown"))
    except ImportError:
        return "not installed"
