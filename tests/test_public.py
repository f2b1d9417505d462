"""The public surface: what is exported, documented, and loaded by a plain import."""

from __future__ import annotations

import inspect
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
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


def test_what_questions_answer_with_and_warn_of_is_public() -> None:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    ex = icefield.Explainer(lambda rows: rows[:, 0] * rows[:, 1], rows)
    answers = {
        icefield.Summary: ex.summary(), icefield.Importance: ex.importance(), icefield.Interactions: ex.interactions(),
        icefield.Conditional: ex.conditional(0), icefield.Regions: ex.regions(0), icefield.Effect: ex.ale(0),
        icefield.Reading: ex.partial_dependence(0).reading, icefield.Change: ex.change(0, 0.0, 1.0),
    }  # fmt: skip
    for kind, answer in answers.items():
        assert type(answer) is kind
    written_in = [
        vars(import_module(f"icefield.{name}"))
        for name in ("errors", "models.tree_reading", "rows.distributed.distributed_rows")
    ]
    for module in written_in:
        for name, thing in module.items():
            if isinstance(thing, type) and issubclass(thing, Warning | icefield.IcefieldError):
                assert getattr(icefield, name) is thing
    assert set(icefield.__all__) <= set(dir(icefield))
    with pytest.raises(AttributeError, match="no attribute 'Explaner'"):
        icefield.Explaner  # noqa: B018


def test_a_plain_import_loads_nothing_heavy(modules_after: dict[str, set[str]]) -> None:
    heavy = (
        "icefield.statistics.importance",
        "icefield.statistics.regions",
        "icefield.statistics.summary",
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
    if "dev" not in icefield.__version__:  # a release is cited by its number
        cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
        assert f"\nversion: {icefield.__version__}\n" in cited
