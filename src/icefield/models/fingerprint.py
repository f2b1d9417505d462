"""Whether a model is still the one that was read: fitted again, or changed in place, it is another.

What was read of a model (its trees, its outputs, a pipeline's steps) is kept, and would answer for the old one ever
after. Estimators written in Python keep what they were fitted to in attributes, which are compared by identity: that
takes microseconds a tree. Others keep it where only their predictions show it: a few rows are predicted each time. Which
do what, their libraries say (`fit_shows_in`).
Attributes also change for reasons that do not matter, so a change of these alone is no change of the model.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from icefield.data.frame import Table
from icefield.errors import ModelError
from icefield.libraries.registry import library_of
from icefield.libraries.sklearn.attributes import PLAIN, attributes_of, is_kept_outside
from icefield.models.across_rows import alike, known_row_by_row
from icefield.models.model import Model
from icefield.typing import Float

ROWS = 32  # of a booster, which shows itself only there
FEW_ROWS = 8  # that say whether a change of attributes matters
PRECISION = 1e-9  # of the largest prediction; threads add in any order


class Fingerprint:
    """A model's attributes and a few predictions when it was read, to tell whether it has changed since.

    Parameters
    ----------
    model : the model
    table : rows it can be asked about
    """

    def __init__(self, model: Model, table: Table) -> None:
        self._model = model
        library = library_of(model.native)
        self._is_watched = library is not None and library.fit_shows_in is not None
        self._parts = self._current_parts()
        self._fit_is_hidden = (library is not None and library.fit_shows_in == "predictions") or any(
            map(is_kept_outside, set(map(type, self._parts)))
        )
        # What is not known may change its attributes whenever it predicts.
        self._may_change_itself = not known_row_by_row(model.native)
        n_rows = min(ROWS if self._fit_is_hidden else FEW_ROWS, table.n_rows)
        self._sample = table.take(np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp))
        self._rows: Any = None  # as the model takes them
        self._has_predicted = self._is_settled = False
        self._predictions: Float | None = None  # also where it refuses these rows
        if self._is_watched and self._may_change_itself:
            self._has_predicted = True
            self.settle()

    def still_holds(self) -> bool:
        """Whether the model is the one that was read, as far as its attributes show.

        False where attributes have changed and its predictions have not: what was read of it should be read
        again. An error where it predicts something else.
        """
        if not self._is_watched:
            return True
        parts = self._current_parts()
        if not self._has_predicted:  # settings are read with the first question
            if not _same_parts(_objects(parts), _objects(self._parts)):
                raise changed_model()
            self._parts, self._has_predicted = parts, True
            return True
        is_alike = _same_parts(parts, self._parts)
        if is_alike and not self._fit_is_hidden:
            return True
        if self._predictions is not None:
            self._compare(self._predictions)
        elif not is_alike and not self._may_change_itself:
            raise changed_model()
        self._parts = parts
        return is_alike

    def _compare(self, before: Float) -> None:
        """An error where the model predicts something else than before, and not by chance."""
        try:
            current = self._predict()
            if alike(current, before, PRECISION):
                return
            repeated = self._predict()
        except Exception as error:
            raise changed_model() from error
        if alike(current, repeated, PRECISION):
            raise changed_model()
        self._predictions = current

    def settle(self, checked: tuple[Table, Float] | None = None) -> None:
        """Remember what later predictions are compared with, once: rows that the model was just asked about, or a few that it is asked about now."""
        if self._is_settled or not self._has_predicted:
            return
        self._is_settled = True
        if checked is not None and not self._fit_is_hidden:
            self._sample, self._predictions = checked[0], checked[1][:, list(self._model.selected)]
            return
        # A row that it refuses is complained about where it is asked for.
        with suppress(Exception):
            self._predictions = self._predict()

    def _predict(self) -> Float:
        if self._rows is None:
            self._rows = self._model.form.of(self._sample.select(self._model.columns))
        return self._model.ask(self._rows, self._sample.n_rows)

    def _current_parts(self) -> list[Any]:
        return attributes_of(self._model.native) if self._is_watched else []


def changed_model() -> ModelError:
    """The error for a model that is not the one that was read."""
    problem = "has been fitted again, or changed, since the Explainer was made"
    return ModelError.about("model", problem, hint="build a new one: Explainer(model, X)")


def _objects(parts: list[Any]) -> list[Any]:
    return [part for part in parts if not isinstance(part, PLAIN)]


def _same_parts(parts: list[Any], before: list[Any]) -> bool:
    return len(parts) == len(before) and all(map(_same, parts, before))


def _same(part: Any, before: Any) -> bool:
    if isinstance(part, PLAIN):
        return type(part) is type(before) and (part == before or part != part)
    return part is before
