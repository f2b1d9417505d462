"""Which libraries there are: one line each, and which of them a model belongs to.

A model belongs to the first library here that recognises its class; else to the first of another package, registered
under the entry point `icefield.libraries`, that does; else to one of the two that take anything by what it can do
(predict, be called). Roles are imported when they are first asked for, and entry points read when no library here
recognises a model, so that this module costs nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from icefield.libraries import (
    catboost,
    functions,
    lightgbm,
    onnx,
    platforms,
    sklearn,
    spark_ml,
    torch,
    xgboost,
)
from icefield.libraries.class_path import OwnClasses

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.data.frame import Table
    from icefield.forest.tree_model import TreeModel
    from icefield.libraries.adapter import Adapter
    from icefield.libraries.category_types import KnownLevels
    from icefield.libraries.declared import Declared
    from icefield.libraries.native_files import NativeFormat


ENTRY_POINTS = "icefield.libraries"
PLAIN = (str, bytes, int, float, complex, list, tuple, dict, type(None))  # what is no model of anybody's
FitShown = Literal["attributes", "predictions"]


class Predictions(Protocol):
    """What `predictions` of every library offers."""

    def adapt(self, model: Any, scale: str) -> Adapter:
        """How the model is asked on a scale."""


class Trees(Protocol):
    """What `trees` offers, where a library's models are made of trees."""

    def tree_reader(self, model: Any) -> Callable[[Any, Table], TreeModel] | None:
        """The reader of a model's class; None for a class that is not known to predict as its trees do."""


class Files(Protocol):
    """What `files` offers, where a library has a file format of its own.

    It may also have ``check_before_loading(file)``, which raises for what can be seen in a file before the library reads it.
    """

    FORMATS: Mapping[str, NativeFormat]

    def load(self, file: Path) -> Any:
        """The model in a file."""

    def check(self, model: Any, file: Path) -> None:
        """Raise where a loaded model would harm whoever asks it."""

    def with_categories(self, model: Any, frame: Any) -> Any:
        """A pandas frame with its columns typed as the model was trained on them."""

    def known_levels(self, model: Any, frame: Any) -> dict[Any, KnownLevels]:
        """The levels the model knows, by column; the frame may help to tell which columns are meant."""

    def text_columns(self, model: Any, names: Sequence[Any]) -> list[Any]:
        """Of the model's columns, in its order, those it takes as texts of any content."""

    def number_columns(self, model: Any, names: Sequence[Any]) -> list[Any]:
        """Of the model's columns, in its order, those it takes as numbers."""


class RowByRow(Protocol):
    """What `row_by_row` offers, where some of a library's models are known to predict each row by itself."""

    def is_row_by_row(self, model: Any, is_known: Callable[[Any], bool]) -> bool:
        """Whether a model's prediction for a row is known not to depend on the others in the call.

        `is_known` answers the same for a part of the model, of whatever library.
        """


class Constraints(Protocol):
    """What `constraints` offers, where a library's models remember the constraints they were fitted with."""

    def declared(self, model: Any) -> Declared:
        """The constraints of a fitted model."""


@dataclass(frozen=True, eq=False)
class Library:
    """A library whose models icefield knows.

    Attributes
    ----------
    name : of its folder in `icefield.libraries`
    recognises : whether a model is of one of its classes
    roles : which of ``predictions``, ``trees``, ``files``, ``row_by_row`` and ``constraints`` the folder has
    takes : whether it asks a model that no library recognises, by what the model can do
    knows_margin : its models say what their raw scale is, also inside scikit-learn's pipelines and searches
    shareable : several threads may ask one of its models at once
    fit_shows_in : where a model that was fitted again shows it: in its ``"attributes"``, or, kept outside of Python, in its
        ``"predictions"`` only; None for models that are asked as they are each time
    package : what to import for its files, where that is not called `name`
    folder : the package that holds the roles, where that is another's
    stands_in : its models live in another process, and `predictions` has a ``stand_in(model, vectors)`` that gives what is
        asked in their place
    classes : in place of a ``row_by_row``, the paths of its classes where each, as it is, predicts each row by itself
    """

    name: str
    recognises: Callable[[Any], bool]
    roles: tuple[str, ...] = ("predictions",)
    takes: Callable[[Any], bool] | None = None
    knows_margin: bool = False
    shareable: bool = True
    fit_shows_in: FitShown | None = None
    package: str = ""
    folder: str = ""
    stands_in: bool = False
    classes: tuple[str, ...] = ()

    @property
    def predictions(self) -> Predictions:
        return cast(Predictions, self._role("predictions"))

    @property
    def trees(self) -> Trees | None:
        return cast(Trees, self._role("trees")) if "trees" in self.roles else None

    @property
    def files(self) -> Files | None:
        return cast(Files, self._role("files")) if "files" in self.roles else None

    @property
    def row_by_row(self) -> RowByRow | None:
        if self.classes:
            package = self.classes[0].partition(".")[0]
            return OwnClasses(package, tuple(path.rpartition(".")[2] for path in self.classes))
        return cast(RowByRow, self._role("row_by_row")) if "row_by_row" in self.roles else None

    @property
    def constraints(self) -> Constraints | None:
        return cast(Constraints, self._role("constraints")) if "constraints" in self.roles else None

    def _role(self, role: str) -> Any:
        return import_module(f"{self.folder or f'icefield.libraries.{self.name}'}.{role}")


OF_BOOSTERS = ("predictions", "trees", "files", "constraints")

LIBRARIES = (
    Library("platforms", platforms.recognises),
    # Before XGBoost, whose models for Spark are Spark's first.
    Library("spark_ml", spark_ml.recognises, ("predictions", "trees", "row_by_row"), stands_in=True),
    Library(
        "lightgbm", lightgbm.recognises, OF_BOOSTERS, knows_margin=True, fit_shows_in="predictions",
        classes=lightgbm.CLASSES,
    ),
    # XGBoost promises to be asked by several threads for some of its boosters only, and brings its own.
    Library(
        "xgboost", xgboost.recognises, OF_BOOSTERS, knows_margin=True, shareable=False, fit_shows_in="predictions",
        classes=xgboost.CLASSES,
    ),
    Library(
        "catboost", catboost.recognises, OF_BOOSTERS, knows_margin=True, fit_shows_in="predictions",
        classes=catboost.CLASSES,
    ),
    Library("onnx", onnx.recognises, ("predictions", "files", "row_by_row"), package="onnxruntime"),
    Library("torch", torch.recognises, ("predictions", "row_by_row")),
    Library(
        "sklearn", sklearn.recognises, ("predictions", "trees", "row_by_row", "constraints"), sklearn.takes,
        fit_shows_in="attributes",
    ),
    Library("functions", functions.recognises, takes=functions.takes),
)  # fmt: skip


def library_of(model: Any) -> Library | None:
    """The library a model belongs to; None for what is no model at all."""
    for library in LIBRARIES:
        if library.recognises(model):
            return library
    if isinstance(model, PLAIN):
        return None
    for library in other_libraries():
        if _recognised_by_other(library, model):
            return library
    return next(
        (library for library in LIBRARIES if library.takes is not None and library.takes(model)), None
    )


def stand_in_of(model: Any, vectors: Mapping[str, tuple[str, ...]] | None = None) -> Any:
    """A model, or the stand-in that predicts in its place where it lives in another process.

    `vectors` are columns of the rows that hold vectors, with the names of their slots.
    """
    library = library_of(model)
    if library is None or not library.stands_in:
        return model
    return cast(Any, library.predictions).stand_in(model, vectors)


@cache
def keeps_fit_outside(package: str) -> bool:
    """Whether objects of a package, by its name, keep what they were fitted to where Python does not see it."""
    return any(library.name == package and library.fit_shows_in == "predictions" for library in LIBRARIES)


@cache
def other_libraries() -> tuple[Library, ...]:
    """The libraries that other packages describe; one that cannot be loaded is named in a warning."""
    from importlib.metadata import entry_points

    libraries = []
    for entry in sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name):
        try:
            library = entry.load()
            if not isinstance(library, Library):
                raise TypeError(f"it is {type(library).__name__}, not icefield.libraries.registry.Library")
            libraries.append(library)
        except Exception as error:  # somebody else's package must not stop this one
            _warn(entry.name, error)
    return tuple(libraries)


def _recognised_by_other(library: Library, model: Any) -> bool:
    try:
        return bool(library.recognises(model))
    except Exception as error:
        _warn(library.name, error)
        return False


def _warn(name: str, error: Exception) -> None:
    problem = f"{type(error).__name__}: {error}"
    warnings.warn(f"The entry point {name!r} of {ENTRY_POINTS!r} is left out ({problem}).", stacklevel=4)
