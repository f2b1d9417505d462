"""Which libraries there are: one line each, and who recognises a model.

The order matters: a model belongs to the first library that recognises it, and the two that recognise
by what an object can do (anything that predicts, anything that can be called) come last. Roles are
imported when they are first asked for, so that this module costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from icefield.libraries import catboost, functions, lightgbm, onnx, sklearn, torch, xgboost

if TYPE_CHECKING:
    from pathlib import Path

    from icefield.data.frame import Table
    from icefield.forest.tree_model import TreeModel
    from icefield.libraries.adapter import Adapter
    from icefield.libraries.category_types import KnownLevels
    from icefield.libraries.native_files import NativeFormat


class Predictions(Protocol):
    """What `predictions` of every library offers."""

    def adapt(self, model: Any, scale: str) -> Adapter:
        """How the model is asked on a scale."""


class Trees(Protocol):
    """What `trees` offers, where a library's models are made of trees."""

    def tree_reader(self, model: Any) -> Callable[[Any, Table], TreeModel] | None:
        """The reader of a model's class; None for a class that is not known to predict as its trees do."""


class Files(Protocol):
    """What `files` offers, where a library has a file format of its own."""

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


@dataclass(frozen=True)
class Library:
    """A library whose models icefield knows.

    Attributes
    ----------
    name : of its folder in `icefield.libraries`
    recognises : whether a model is one of its
    roles : which of ``predictions``, ``trees`` and ``files`` the folder has
    knows_margin : its models say what their raw scale is, also inside scikit-learn's pipelines and searches
    shareable : several threads may ask one of its models at once
    package : what to import for its files, where that is not called `name`
    """

    name: str
    recognises: Callable[[Any], bool]
    roles: tuple[str, ...] = ("predictions",)
    knows_margin: bool = False
    shareable: bool = True
    package: str = ""

    @property
    def predictions(self) -> Predictions:
        return cast(Predictions, self._role("predictions"))

    @property
    def trees(self) -> Trees | None:
        return cast(Trees, self._role("trees")) if "trees" in self.roles else None

    @property
    def files(self) -> Files | None:
        return cast(Files, self._role("files")) if "files" in self.roles else None

    def _role(self, role: str) -> Any:
        return import_module(f"icefield.libraries.{self.name}.{role}")


ALL_ROLES = ("predictions", "trees", "files")

LIBRARIES = (
    Library("lightgbm", lightgbm.recognises, ALL_ROLES, knows_margin=True),
    # XGBoost promises to be asked by several threads for some of its boosters only, and brings its own.
    Library("xgboost", xgboost.recognises, ALL_ROLES, knows_margin=True, shareable=False),
    Library("catboost", catboost.recognises, ALL_ROLES, knows_margin=True),
    Library("onnx", onnx.recognises, ("predictions", "files"), package="onnxruntime"),
    Library("torch", torch.recognises),
    Library("sklearn", sklearn.recognises, ("predictions", "trees")),
    Library("functions", functions.recognises),
)


def library_of(model: Any) -> Library | None:
    """The library a model belongs to; None for what is no model at all."""
    return next((library for library in LIBRARIES if library.recognises(model)), None)
