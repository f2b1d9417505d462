"""The registry: every folder has its line, every line its roles, and models find the library they belong to."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import icefield.libraries
from icefield import Explainer
from icefield.libraries import registry
from icefield.libraries.native_files import NativeFormat, native_suffixes
from icefield.libraries.registry import (
    LIBRARIES,
    Constraints,
    Files,
    Library,
    Predictions,
    RowByRow,
    Trees,
    library_of,
)
from icefield.models.across_rows import known_row_by_row

FOLDER = Path(icefield.libraries.__file__).parent


def made_in(module: str) -> object:
    """An object that can do nothing, of a class that a library could have defined."""
    return type("Model", (), {"__module__": module})()


def test_every_folder_has_one_line() -> None:
    folders = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
    assert sorted(library.name for library in LIBRARIES) == folders


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.name)
def test_every_line_names_the_roles_of_its_folder(library: Library) -> None:
    roles = {
        "predictions": Predictions,
        "trees": Trees,
        "files": Files,
        "row_by_row": RowByRow,
        "constraints": Constraints,
    }
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

    assert getattr(library_of(Mine()), "name", None) == "lightgbm"


def test_files_of_all_libraries_are_known_by_their_suffix() -> None:
    assert native_suffixes() == (".txt", ".json", ".ubj", ".cbm", ".onnx")


@pytest.mark.parametrize("role", ["predictions", "trees", "files", "row_by_row"])
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
    assert set(readers) == {"lightgbm", "xgboost", "catboost", "sklearn", "spark_ml"}
    assert readers["lightgbm"](made_in("lightgbm.basic")) is None  # a class called Model is not on the list
    booster = type("Booster", (), {"__module__": "lightgbm.basic"})
    assert readers["lightgbm"](booster()) is not None
    assert readers["lightgbm"](type("Booster", (booster,), {"__module__": "mine"})()) is None


# --- libraries of other packages -----------------------------------------------------------------------

RECIPE = Path(__file__).parent.parent.parent / "CONTRIBUTING.md"


def recipe_modules() -> dict[str, str]:
    """The files of the example in CONTRIBUTING.md, by name: each is a block that begins with its name in a comment."""
    text = (
        RECIPE.read_text(encoding="utf-8")
        .split("**Add a library from another package.**")[1]
        .split("\n**Add")[0]
    )
    blocks = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", text, flags=re.DOTALL)
    return dict(blocks)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install a distribution of these modules and entry points, for one test."""
    before = set(sys.modules)
    registry.other_libraries.cache_clear()

    def install(name: str, modules: dict[str, str], points: dict[str, str]) -> None:
        for path, source in modules.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source, encoding="utf-8")
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}" for key, value in points.items()]
        (about / "entry_points.txt").write_text("\n".join(["[icefield.libraries]", *lines, ""]))

    monkeypatch.syspath_prepend(str(tmp_path))
    yield install
    registry.other_libraries.cache_clear()
    for added in set(sys.modules) - before:
        if added.partition(".")[0] in ("ruler", "broken"):
            del sys.modules[added]


def test_the_recipe_for_another_package_works(installed: Callable[..., None]) -> None:
    files = recipe_modules()
    points = tomllib.loads(files.pop("pyproject.toml"))["project"]["entry-points"]["icefield.libraries"]
    installed("ruler", files, points)
    model = importlib.import_module("ruler").Ruler(2.0)
    X = np.arange(6.0).reshape(3, 2)
    assert library_of(model) is not None
    assert library_of(model).name == "ruler"
    assert known_row_by_row(model)
    ex = Explainer(model, X)
    assert ex.model.kind == "ruler"
    np.testing.assert_array_equal(ex.partial_dependence(0, grid=[0.0, 5.0]).average, [[0.0, 10.0]])
    assert "row by row" not in ex.plan.why


def test_a_broken_entry_point_is_named_in_a_warning_and_stops_nothing(installed: Callable[..., None]) -> None:
    source = "from icefield.libraries.registry import Library\n"
    installed(
        "broken",
        {"broken.py": f"{source}TEXT = 'no library'\nRAISING = Library('raising', lambda model: 1 / 0)\n"},
        {"gone": "broken_and_gone:LIBRARY", "text": "broken:TEXT", "raising": "broken:RAISING"},
    )
    model = type("Wrapper", (), {"__module__": "mine", "predict": len})()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert library_of(model) is next(one for one in LIBRARIES if one.name == "sklearn")
    said = [str(one.message) for one in caught]
    for name, problem in (
        ("gone", "broken_and_gone"),
        ("text", "it is str"),
        ("raising", "division by zero"),
    ):
        assert [one for one in said if repr(name) in one and problem in one], said


def test_entry_points_are_read_once_and_only_for_models_that_no_library_here_recognises(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **which: asked.append(which) or [])
    registry.other_libraries.cache_clear()
    for known in (
        made_in("lightgbm.basic"),
        LinearRegression(),
        len,
        lambda rows: rows,
        "model.onnx",
        "m.txt",
        3,
    ):
        library_of(known)
    assert asked == []
    for other in (type("Wrapper", (), {"__module__": "mine", "predict": len})(), made_in("theirs")):
        library_of(other)
    assert asked == [{"group": "icefield.libraries"}]
    registry.other_libraries.cache_clear()
