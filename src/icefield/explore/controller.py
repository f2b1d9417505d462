"""The controller: what all clients of one explorer share. Numbers come from the calls that any user can make.

`models` are the studies and their scales, `data` the rows with the features' axes; the controller has the curves of all rows, on the
grids that every curve shares. A client is a `Session`; what it asks is answered in `answers/`, gesture by gesture as `docs/explorer.md`
lists them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.effect import Effect
from icefield.errors import InputTypeError
from icefield.explore.explored_columns import ExploredColumn
from icefield.explore.explored_models import ExploredModels, View
from icefield.explore.explored_rows import ExploredRows
from icefield.explore.session import Session
from icefield.statistics.every_effect import every_effect
from icefield.typing import Float, Positions
from icefield.wording.names import name_text, page_name

if TYPE_CHECKING:
    from icefield.explainer import Explainer

MOST_POINTS = 20_000
SECONDS = 30.0  # of work for one request


class Controller:
    """What all clients of one explorer share.

    Parameters
    ----------
    explainers : one Explainer, or several by name, of the same rows
    title : heading of the page
    rows : whether single rows may leave the process: as sampled points, and to ask what if. Without, the page has curves,
        filters and summaries only
    points : how many points are sampled, at most 20,000
    seconds : of work for one request
    """

    def __init__(
        self, explainers: Explainer | Mapping[str, Explainer], *, title: str | None = None, rows: bool = True,
        points: int = MOST_POINTS, seconds: float = SECONDS,
    ) -> None:  # fmt: skip
        self.models = ExploredModels(explainers)
        self.study = self.models.first
        if not isinstance(rows, bool):
            raise InputTypeError.about("rows", "must be True or False", rows)
        self._rows, self._points, self.seconds = rows, min(int(points), MOST_POINTS), seconds
        self.title = name_text(title, 120) if title else self._default_title()
        self._lock = threading.RLock()
        self._known: dict[Any, Any] = {}
        self._locks: dict[Any, threading.Lock] = {}

    def _default_title(self) -> str:
        target = self.study.naming.target
        return (
            f"{page_name(target)[:1].upper()}{page_name(target)[1:]}"
            if target
            else type(self.study.model.native).__name__
        )

    def once(self, what: Any, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once per `what`; only callers that want the same wait for it."""
        with self._lock:
            lock = self._locks.setdefault(what, threading.Lock())
        with lock:
            if what not in self._known:
                self._known[what] = make()
            return self._known[what]

    @cached_property
    def ghosts(self) -> dict[Any, Effect]:
        """All features' effects over all rows, on the grids that every curve shares."""
        return every_effect(self.study, None)

    @cached_property
    def columns(self) -> list[ExploredColumn]:
        """The features in the model's order."""
        study = self.study
        with self._lock:
            return [
                ExploredColumn(effect, study.column(study.feature(name)), study.naming)
                for name, effect in self.ghosts.items()
            ]

    @cached_property
    def data(self) -> ExploredRows:
        """The rows, as the features' axes place them."""
        return ExploredRows(self.study, self.columns, self._rows, self._points)

    @property
    def features(self) -> list[Any]:
        return list(self.ghosts)

    @cached_property
    def grids(self) -> dict[Any, NDArray[Any]]:
        return {name: effect.grid[0] for name, effect in self.ghosts.items()}

    def curves(self, view: View, positions: Positions | None) -> Float:
        """All features' averages over some rows, one after another: ``(outputs, points)``."""
        if positions is None:
            return np.asarray(self.once(("curves", view.model, view.scale), lambda: self._curves(view, None)))
        return self._curves(view, positions)

    def _curves(self, view: View, positions: Positions | None) -> Float:
        if positions is None and view.study is self.study:
            return np.concatenate([effect.average for effect in self.ghosts.values()], axis=1)
        effects = every_effect(view.study, None, grid=self.grids, rows=positions)
        return np.concatenate([effect.average for effect in effects.values()], axis=1)

    def open(self) -> Session:
        """A new client."""
        return Session(self)
