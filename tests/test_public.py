"""The public surface: what is exported, documented, and loaded by a plain import."""

from __future__ import annotations

import inspect
import tomllib
from pathlib import Path

import pytest

import icefield

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", icefield.__all__)
def test_every_public_name_exists_and_is_in_the_api_reference(name: str) -> None:
    assert getattr(icefield, name) is not None
    assert f"`{name}" in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("owner", [icefield.Explainer, icefield.Effect])
def test_every_public_method_has_a_docstring_and_is_in_the_api_reference(owner: type) -> None:
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for name, member in inspect.getmembers(owner, inspect.isfunction):
        if not name.startswith("_"):
            assert member.__doc__, f"{owner.__name__}.{name} has no docstring"
            assert f"{owner.__name__}.{name}`" in reference, f"{owner.__name__}.{name} is not in docs/api.md"


def test_a_plain_import_loads_nothing_heavy(modules_after: dict[str, set[str]]) -> None:
    heavy = (
        "icefield.kernels",
        "matplotlib",
        "multiprocessing",
        "narwhals",
        "plotly",
        "pandas",
        "polars",
        "pyarrow",
        "sklearn",
        "rich",
        "click",
        "jinja2",
    )
    assert modules_after["import icefield"].isdisjoint(heavy)


def test_the_version_stands_in_one_place() -> None:
    described = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in described["project"]
    assert "version" in described["project"]["dynamic"]
    place = ROOT / described["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{icefield.__version__}"' in place.read_text(encoding="utf-8")
