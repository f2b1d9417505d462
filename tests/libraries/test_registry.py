"""The registry: every folder has its line, every line its roles, and models find the library they belong to."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest

import icefield.libraries
from icefield.libraries.native_files import NativeFormat, native_suffixes
from icefield.libraries.registry import LIBRARIES, Files, Library, Predictions, Trees, library_of

FOLDER = Path(icefield.libraries.__file__).parent


def made_in(module: str) -> object:
    """An object that can do nothing, of a class that a library could have defined."""
    return type("Model", (), {"__module__": module})()


def test_every_folder_has_one_line() -> None:
    folders = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
    assert sorted(library.name for library in LIBRARIES) == folders


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_every_line_names_the_roles_of_its_folder(library: Library) -> None:
    roles = {"predictions": Predictions, "trees": Trees, "files": Files}
    there = {role for role in roles if (FOLDER / library.name / f"{role}.py").exists()}
    assert set(library.roles) == there
    assert "predictions" in there
    for role in library.roles:
        module = getattr(library, role)
        for name, wanted in inspect.getmembers(roles[role], inspect.isfunction):
            if not name.startswith("_"):
                given = list(inspect.signature(getattr(module, name)).parameters)
                assert given == list(inspect.signature(wanted).parameters)[1:], f"{module}.{name}"
    for suffix, written in library.files.FORMATS.items() if library.files else ():
        assert suffix.startswith(".")
        assert isinstance(written, NativeFormat)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (made_in("lightgbm.basic"), "lightgbm"),
        (made_in("xgboost.core"), "xgboost"),
        (made_in("catboost.core"), "catboost"),
        ("model.onnx", "onnx"),
        (Path("model.onnx"), "onnx"),
        (type("Wrapper", (), {"__module__": "mine", "predict": len})(), "sklearn"),
        (len, "functions"),
        ("model.txt", None),
        (made_in("lightgbms.basic"), None),
        (3, None),
        (None, None),
    ],
)
def test_a_model_belongs_to_the_first_library_that_recognises_it(model: object, name: str | None) -> None:
    library = library_of(model)
    assert (None if library is None else library.name) == name


def test_a_wrapper_of_a_booster_belongs_to_the_booster() -> None:
    lightgbm = pytest.importorskip("lightgbm")

    class Mine(lightgbm.LGBMRegressor):
        pass

    assert library_of(Mine()) is LIBRARIES[0]


def test_files_of_all_libraries_are_known_by_their_suffix() -> None:
    assert native_suffixes() == (".txt", ".json", ".ubj", ".cbm", ".onnx")


@pytest.mark.parametrize("role", ["predictions", "trees", "files"])
def test_what_is_known_about_a_library_does_not_import_it(
    role: str, modules_after: dict[str, set[str]]
) -> None:
    found = modules_after[f"for library in icefield.libraries.registry.LIBRARIES: library.{role}"]
    assert found.isdisjoint(
        (
            "sklearn",
            "lightgbm",
            "xgboost",
            "catboost",
            "torch",
            "onnxruntime",
            "onnx",
            "pandas",
            "scipy",
            "skops",
        )
    )


def test_roles_are_imported_only_when_asked_for(modules_after: dict[str, set[str]]) -> None:
    found = modules_after["import icefield.libraries.registry"]
    roles = [name for name in found if name.startswith("icefield.libraries") and name.count(".") == 3]
    assert [name for name in roles if "sklearn" not in name] == []


def test_readers_of_trees_know_exact_classes_only() -> None:
    readers: dict[str, Callable[..., object]] = {}
    for library in LIBRARIES:
        if library.trees is not None:
            readers[library.name] = library.trees.tree_reader
    assert set(readers) == {"lightgbm", "xgboost", "catboost", "sklearn"}
    assert readers["lightgbm"](made_in("lightgbm.basic")) is None  # a class called Model is not on the list
    booster = type("Booster", (), {"__module__": "lightgbm.basic"})
    assert readers["lightgbm"](booster()) is not None
    assert readers["lightgbm"](type("Booster", (booster,), {"__module__": "mine"})()) is None
