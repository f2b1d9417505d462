"""Whether a model is still the one that was read: fitted again, or changed in place, it is another.

What was read of a model (its trees, its outputs, a pipeline's steps) is kept, and would answer for the old one ever
after. Estimators written in Python keep what they were fitted to in attributes, which are compared by identity: that
takes microseconds a tree. Boosters keep it where only their predictions show it: a few rows are predicted each time.
Attributes also change for reasons that do not matter, so a change of these alone is no change of the model.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from icefield.errors import ModelError, complaint
from icefield.libraries.adapter import comes_from
from icefield.libraries.registry import library_of
from icefield.models.across_rows import known_row_by_row

if TYPE_CHECKING:
    from icefield.data.frame import Table
    from icefield.models.model import Model
    from icefield.typing import Float

ROWS = 32  # of a booster, which shows itself only there
FEW_ROWS = 8  # that say whether a change of attributes matters
MOST_PARTS = 100_000
SAMPLED = 64  # numbers of an array that learns in place
BOOSTERS = ("lightgbm", "xgboost", "catboost")
WATCHED = ("sklearn", *BOOSTERS)  # functions, networks and ONNX models are asked as they are
PLAIN = (str, bytes, int, float, complex, type(None))
PRECISION = 1e-9  # of the largest prediction; threads add in any order


class Fingerprint:
    """What a model was when it was read, and a few of its predictions.

    Parameters
    ----------
    model : the model
    table : rows it can be asked about
    """

    def __init__(self, model: Model, table: Table) -> None:
        self._model, self._table = model, table
        library = library_of(model.native)
        self._is_watched = library is not None and library.name in WATCHED
        self._parts = self._found_parts()
        self._is_secretive = any(map(_is_boosters, set(map(type, self._parts))))
        self._takes_notes = not known_row_by_row(
            model.native
        )  # its attributes may change whenever it predicts
        self._rows: Any = None
        self._n_rows = min(ROWS if self._is_secretive else FEW_ROWS, table.n_rows)
        self._was_asked = False
        self._predictions: Float | None = None  # also where it refuses these rows
        if self._is_watched and self._takes_notes:
            self._ask_first()

    def still_holds(self) -> bool:
        """Whether the model is the one that was read, as far as its attributes show.

        False where attributes have changed and its predictions have not: what was read of it should be read
        again. An error where it predicts something else.
        """
        if not self._is_watched:
            return True
        parts = self._found_parts()
        if not self._was_asked:  # settings are read with the first question
            if not _alike(_objects(parts), _objects(self._parts)):
                raise changed_model()
            self._parts = parts
            self._ask_first()
            return True
        is_alike = _alike(parts, self._parts)
        if is_alike and not self._is_secretive:
            return True
        if self._predictions is not None:
            self._compare(self._predictions)
        elif not is_alike and not self._takes_notes:
            raise changed_model()
        self._parts = parts
        return is_alike

    def _compare(self, before: Float) -> None:
        """An error where the model predicts something else than before, and not by chance."""
        try:
            now = self._predicted()
            if _equal(now, before):
                return
            again = self._predicted()
        except Exception as error:
            raise changed_model() from error
        if _equal(now, again):
            raise changed_model()
        self._predictions = now

    def _ask_first(self) -> None:
        self._was_asked = True
        # A row that it refuses is complained about where it is asked for.
        with suppress(Exception):
            self._predictions = self._predicted()

    def _predicted(self) -> Float:
        if self._rows is None:
            places = np.linspace(0, self._table.n_rows - 1, self._n_rows).astype(np.intp)
            self._rows = self._model.form.of(self._table.take(places).select(self._model.columns))
        return self._model.ask(self._rows, self._n_rows)

    def _found_parts(self) -> list[Any]:
        if not self._is_watched:
            return []
        found: list[Any] = []
        _add_parts(self._model.native, found, set(), learns_in_place=False)
        return found[:MOST_PARTS]


def changed_model() -> ModelError:
    """The error for a model that is not the one that was read."""
    return ModelError(
        complaint(
            "model", "has been fitted again, or changed, since the Explainer was made",
            hint="build a new one: Explainer(model, X)",
        )
    )  # fmt: skip


def _add_parts(value: Any, found: list[Any], seen: set[int], learns_in_place: bool) -> None:
    """Add a model's attributes, down to plain values and to objects that are told apart by identity."""
    if isinstance(value, PLAIN):
        found.append(value)
        return
    if id(value) in seen or len(found) >= MOST_PARTS:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        found.append(len(value))
        for item in value[:MOST_PARTS]:
            _add_parts(item, found, seen, learns_in_place)
    elif isinstance(value, dict):
        for key, item in islice(value.items(), MOST_PARTS):
            found.append(key)
            _add_parts(item, found, seen, learns_in_place)
    elif isinstance(value, np.ndarray):
        found.append(value)
        if value.dtype == object:
            for item in value.ravel()[:MOST_PARTS].tolist():
                _add_parts(item, found, seen, learns_in_place)
        elif learns_in_place:
            found.append(value.flat[:: max(1, value.size // SAMPLED)].tobytes())
    else:
        found.append(value)
        if _is_looked_into(value):
            attributes = vars(value)
            if "tree_" in attributes:  # a forest has hundreds, each with the same settings
                found.append(attributes["tree_"])
                return
            in_place = hasattr(value, "partial_fit")
            for name, item in attributes.items():
                found.append(name)
                _add_parts(item, found, seen, in_place)


def _is_looked_into(value: Any) -> bool:
    """Estimators and what scikit-learn makes them of; not data, nor a booster's own bookkeeping."""
    if isinstance(value, type) or not hasattr(value, "__dict__"):
        return False
    return comes_from(value, "sklearn") or (hasattr(value, "predict") and not _is_booster(value))


def _is_booster(part: Any) -> bool:
    return _is_boosters(type(part))


def _is_boosters(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in BOOSTERS


def _objects(parts: list[Any]) -> list[Any]:
    return [part for part in parts if not isinstance(part, PLAIN)]


def _alike(parts: list[Any], others: list[Any]) -> bool:
    return len(parts) == len(others) and all(map(_same, parts, others))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, PLAIN):
        return type(one) is type(other) and (one == other or one != one)
    return one is other


def _equal(one: Float, other: Float) -> bool:
    if one.shape != other.shape:
        return False
    size = float(np.max(np.abs(other[np.isfinite(other)]), initial=0.0))
    with np.errstate(invalid="ignore"):
        near = (np.abs(one - other) <= PRECISION * size) | (one == other) | (np.isnan(one) & np.isnan(other))
    return bool(near.all())
