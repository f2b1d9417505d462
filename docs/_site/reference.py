"""Writes the reference: a page for every public class and command, with the examples that use each name."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import icefield

# What questions answer with, beside Effects.
RESULTS = (
    "Reading",
    "Change",
    "Refits",
    "Tests",
    "Audit",
    "Check",
    "Summary",
    "Importance",
    "Interactions",
    "Conditional",
    "Regions",
    "Support",
)
SKLEARN = ("partial_dependence", "PartialDependenceDisplay")


def public_members(owner: type) -> list[str]:
    """Public methods and properties written in this package, in the order of their sources."""
    names: list[str] = []
    for base in owner.__mro__:
        if base.__module__.split(".")[0] != "icefield":
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in names:
                continue
            plain = inspect.unwrap(getattr(member, "__func__", member))
            if (inspect.isfunction(plain) or isinstance(member, property)) and getattr(owner, name).__doc__:
                names.append(name)
    return names


def public_names() -> list[str]:
    """Every name that the reference must hold, as it is imported."""
    found = [f"icefield.{name}" for name in icefield.__all__]
    found += [f"icefield.sklearn.{name}" for name in SKLEARN]
    for owner in (icefield.Explainer, icefield.Effect, icefield.Comparison):
        found += [f"icefield.{owner.__name__}.{name}" for name in public_members(owner)]
    return found


class Pages:
    """The pages as they are written."""

    def __init__(self, source: Path) -> None:
        self.folder = source / "generated" / "reference"
        self.used = source / "generated" / "used"
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, lines: list[str]) -> None:
        path, text = self.folder / f"{name}.rst", "\n".join(lines) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def examples(self, name: str) -> list[str]:
        """The gallery's examples that use the name, where there are any."""
        path = self.used / f"{name}.examples"
        if not path.exists() or not path.read_text(encoding="utf-8").strip():
            return []
        return [".. rubric:: Examples that use it", "   :class: used", "", f".. minigallery:: {name}", ""]

    def owner(self, page: str, title: str, path: str, intro: str) -> None:
        module, _, name = path.rpartition(".")
        owner = getattr(importlib.import_module(module), name)
        lines = [title, "=" * len(title), "", intro, "", f".. currentmodule:: {module}", ""]
        lines += [f".. autoclass:: {path}", "", *self.examples(path)]
        for member in public_members(owner):
            kind = (
                "autoproperty"
                if isinstance(inspect.getattr_static(owner, member), property)
                else "automethod"
            )
            lines += [member, "-" * len(member), "", f".. {kind}:: {path}.{member}", ""]
            lines += self.examples(f"{path}.{member}")
        self.write(page, lines)


def write_reference(app: Any) -> None:
    pages = Pages(Path(app.srcdir))
    pages.owner(
        "explainer", "Explainer", "icefield.Explainer", "A model, its data, and a method for every question."
    )
    pages.owner(
        "effect",
        "Effect",
        "icefield.Effect",
        "The one result: curves, how they were computed, what pictures need.",
    )
    pages.owner(
        "comparison", "compare and Comparison", "icefield.Comparison", "Several models, or refits of one."
    )
    path = pages.folder / "comparison.rst"
    text = path.read_text(encoding="utf-8")
    function = [".. autofunction:: icefield.compare", "", *pages.examples("icefield.compare"), ""]
    function += [".. autofunction:: icefield.check", "", *pages.examples("icefield.check"), ""]
    marked = "\n".join(function)
    if marked not in text:
        path.write_text(
            text.replace(
                ".. autoclass:: icefield.Comparison", f"{marked}\n.. autoclass:: icefield.Comparison"
            )
        )
    pages.owner("grid", "Grid", "icefield.Grid", "Where grid points are placed.")

    title = "Data sets"
    lines = [title, "=" * len(title), "", ".. automodule:: icefield.datasets", ""]
    for name in icefield.datasets.__all__:
        lines += [f".. autofunction:: icefield.datasets.{name}", ""]
    pages.write("datasets", lines)

    title = "Errors and warnings"
    lines = [title, "=" * len(title), "", "Each is also the built-in exception that one would expect.", ""]
    for name in icefield.__all__:
        thing = getattr(icefield, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            lines += [f".. autoexception:: icefield.{name}", "   :show-inheritance:", ""]
    pages.write("errors", lines)

    title = "Tables and readings"
    lines = [title, "=" * len(title), "", "What questions answer with, beside curves. Every table prints, becomes a frame "
             "(``to_frame()``) and draws itself (``plot()``).", ""]  # fmt: skip
    for name in RESULTS:
        owner = getattr(icefield, name)
        lines += [name, "-" * len(name), "", f".. autoclass:: icefield.{name}", ""]
        lines += [f"   .. automethod:: icefield.{name}.{member}\n" for member in public_members(owner)
                  if not isinstance(inspect.getattr_static(owner, member), property)]  # fmt: skip
        lines += ["", *pages.examples(f"icefield.{name}")]
    pages.write("results", lines)

    title = "The drop-in for scikit-learn"
    lines = [title, "=" * len(title), "", "The two names of ``sklearn.inspection`` with the same parameters, results and "
             "errors. Their parameters are described in scikit-learn's own reference.", "",
             ".. autofunction:: icefield.sklearn.partial_dependence", "",
             ".. autoclass:: icefield.sklearn.PartialDependenceDisplay", "   :members: from_estimator, plot", ""]  # fmt: skip
    pages.write("sklearn", lines)
    _commands(pages)


def _commands(pages: Pages) -> None:
    from icefield.cli.commands import main

    title = "Every command and option"
    lines = [title, "=" * len(title), "", "Written by the commands themselves; the :doc:`guide </cli>` says how data and "
             "models are read.", "", ".. click:: icefield.cli.commands:main", "   :prog: icefield", "", ".. toctree::", ""]  # fmt: skip
    lines += [f"   cli_{name}" for name in main.commands]
    pages.write("cli", lines)
    for name in main.commands:
        pages.write(
            f"cli_{name}", [f".. click:: icefield.cli.commands:{name}", f"   :prog: icefield {name}", ""]
        )


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write_reference, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
