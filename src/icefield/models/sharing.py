"""Thread safety: which models several threads may call at once, and how to call the others safely.

Predicting looks like reading, but not every library means it. A model that may not be shared is asked by
one thread at a time (`predict_lock`); neighbour searches, which gain from threads, get a private copy per thread.
What each library does in threads is known by its folder in `icefield.libraries`.
"""

from __future__ import annotations

import copy
import threading
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from icefield.libraries.adapter import comes_from
from icefield.libraries.registry import library_of
from icefield.libraries.sklearn.nesting import core, handed_on_to, is_pipeline
from icefield.libraries.sklearn.threads import (
    is_quiet,
    is_tree_search,
    search_bytes,
    search_privately,
    thread_settings,
)

if TYPE_CHECKING:
    from icefield.models.model import Model

ONE_AT_A_TIME = threading.RLock()
settings_for_threads = thread_settings  # no other library keeps settings by thread


def shareable(model: Model) -> bool:
    """Whether several threads may call the model at once; functions and most libraries are assumed to be thread-safe."""
    return all(_is_shareable(part) for part in _parts(model.native))


def predict_lock(model: Model) -> AbstractContextManager[Any]:
    """A lock held while a model predicts that is not thread-safe."""
    return nullcontext() if shareable(model) else ONE_AT_A_TIME


def copies_help(model: Model, copies: int, memory: int) -> bool:
    """Whether this many private copies of a neighbour search let threads help, and fit into a quarter of `memory` bytes."""
    searcher = core(model.native)
    parts = [part for part in _parts(model.native) if part is not searcher]
    if not is_tree_search(searcher) or not all(_is_shareable(part) for part in parts):
        return False
    return copies * search_bytes(searcher, unknown=memory) <= memory // 4


def private_copy(model: Model) -> Model:
    """A copy of the model that only one thread uses at a time."""
    copied = copy.deepcopy(model)
    search_privately(core(copied.native))
    return copied


def _is_shareable(part: Any) -> bool:
    if comes_from(part, "sklearn"):  # also other libraries' wrappers that derive from its classes
        return is_quiet(part)
    library = library_of(part)
    return library is None or library.shareable


def _parts(model: Any) -> list[Any]:
    """The estimators that rows pass through: a pipeline's steps, what a wrapper wraps, or the model itself."""
    if isinstance(model, str) or model is None:  # "passthrough"
        return []
    if is_pipeline(model):
        return [part for _, step in model.steps for part in _parts(step)]
    inner = handed_on_to(model)
    return [model] if inner is None else _parts(inner)
