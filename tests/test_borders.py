"""The borders of the house: who may import whom, read from the source without running it.

Each rule is a sentence; a violation is reported with the rule it breaks and the file and line that break it.
Imports that only type checkers see do not count: a type may be named anywhere.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "icefield"
GENERATED = "_abi"  # in kernels/: written by the build, for that room alone
MOST_TOP_LEVEL_FILES = 12

# What every room may use: words for errors, counts as text, names of types, a progress bar, checks of arguments.
COMMON = ("errors", "counts", "typing", "progress", "validate", "threads", "sampling")

# Room -> the rooms it may import, besides itself and the common ones, and the rule in words.
MAY_IMPORT: dict[str, tuple[tuple[str, ...], str]] = {
    "data": (("kernels",), "data/ holds frames and columns: it knows no model, no engine and no picture"),
    "wording": (("data",), "wording/ phrases results: it imports data and nothing that computes"),
    "plots": (
        ("data", "effect", "wording"),
        "plots/ draws effects: it imports no statistics, no engine and no model",
    ),
    "kernels": ((), "kernels/ works on bare arrays: it imports nothing else of the library"),
}

# Room -> the rooms it must not import, and the rule in words.
MUST_NOT_IMPORT: dict[str, tuple[tuple[str, ...], str]] = {
    "forest": (
        ("libraries", "models", "engines", "kernels", "statistics", "core", "rows", "explainer", "plots", "report", "wording"),
        "forest/ is one form of all trees: it knows neither who reads them in nor who asks them",
    ),
    "models": (
        ("engines", "kernels", "statistics", "core", "explainer", "plots", "report", "wording"),
        "models/ predicts: it knows no engine and nothing that is built on one",
    ),
    "libraries": (
        ("models", "engines", "statistics", "core", "rows", "explainer", "plots", "report", "wording"),
        "libraries/ adapts what others wrote: it knows no engine and nothing that is built on one",
    ),
    "engines": (
        ("statistics", "rows", "explainer", "plots", "report", "wording", "libraries"),
        "engines/ answers questions: it imports no statistics, no picture, no report and no library of models",
    ),
    "effect": (("engines", "models", "forest", "libraries", "core", "rows"), "an Effect is a result: it knows no model"),
    "core": (
        ("statistics", "rows", "plots", "report", "explainer", "wording"),
        "core/ is what statistics, rows and engines stand on: it imports none of them",
    ),
    "statistics": (
        ("explainer", "report", "libraries", "kernels"),
        "statistics/ works on a study: it imports no facade, no report and no library of models",
    ),
    "audit": (
        ("explainer", "report", "kernels", "rows"),
        "audit/ decides and records: it imports no facade, no report and no kernel",
    ),
    "rows": (
        ("explainer", "statistics", "report", "plots", "libraries", "kernels", "wording"),
        "rows/ says where rows are and adds up over them: it knows no facade, no statistics and no picture",
    ),
    "report": (
        ("explainer", "engines", "forest", "libraries", "kernels"),
        "report/ tells what statistics found: it asks no engine itself",
    ),
    "explore": (
        ("explainer", "engines", "forest", "libraries", "kernels", "report"),
        "explore/ answers a page from studies and statistics: it asks no engine itself",
    ),
}  # fmt: skip

# Rooms that stand on each other in one direction only, imports inside functions included.
LAYERED = (
    "models", "libraries", "forest", "data", "effect", "wording", "plots", "kernels", "core", "rows", "engines", "statistics", "report", "explore"
)  # fmt: skip

# Rooms nobody else imports: they are doors for users.
DOORS = {
    "cli": "cli/ is a door for users: nothing else imports it",
    "sklearn": "icefield.sklearn is a door for users: nothing else imports it",
    "mlflow": "icefield.mlflow is a door for users: nothing else imports it",
    "datasets": "icefield.datasets is a door for users: nothing else imports it",
}

FRAMES = ("pandas", "polars", "pyarrow", "narwhals")
FRAMES_ALLOWED = {
    "data": "the room for frames",
    "rows": "reads files, lazy and distributed frames in pieces, which data/ then sees as tables",
    "cli": "reads files into frames and writes frames to files",
    "libraries": "hands models the frames they were fitted with, by the libraries' own calls",
    "sklearn": "keeps the frames scikit-learn's own functions would take and return",
    "datasets": "reads the data sets that come with the package into the frame library that is installed",
}
NATIVE = ("ctypes", "cffi")
DISTRIBUTED = ("dask", "distributed", "pyspark", "ray", "cloudpickle")
DISTRIBUTED_ALLOWED = ("rows.distributed", "libraries.spark_ml", "cli")
IMPORTERS = ("import_module", "library_named", "optional", "find_spec")

# What is asked by protocol, whichever kind it is.
ASKED_BY_PROTOCOL = re.compile(r"(^|\.)_?(study|engine|study\.rows)$")
TELLING_APART = ("isinstance", "hasattr", "getattr", "type")

# Classes of one name, and why.
SHARED_NAMES = {
    "Theme": "one per drawing library",
    "Axis": "of a picture, and of a question",
    "Rule": "a line in a picture, and how a column is encoded",
    "Predictions": "a role of a library's folder, and a part of an Effect",
    "Structure": "as the generator reads it, and as kernels are handed it",
}

# What a class offers at most, and those that offer more, and why. `Explainer` and `Effect` are what a user holds.
MOST_MEMBERS = 22
LARGE = {
    "Explainer": "every question has a method",
    "Effect": "every view of the result has a method",
    "PartFields": "the parts of an Effect by their short names",
    "Reading": "the statements of `Effect.reading`, each with the number it rests on",
    "Options": "one for each keyword of `plot`",
    "ReportPage": "one for each part of a report",
}

# Keywords that are not spelled out, and why: everything else says what it takes.
HANDED_ON = {
    "mlflow.evaluator.IcefieldEvaluator.can_evaluate": "what MLflow may pass some day",
    "mlflow.evaluator.IcefieldEvaluator.evaluate": "what MLflow may pass some day",
    "plots.plotly_frame.Frame.shape": "plotly's own keywords",
    "plots.plotly_frame.Frame.text": "plotly's own keywords",
    "plots.plotly_frame.Frame.trace": "plotly's own keywords",
}


@dataclass(frozen=True)
class Import:
    """One import: what, where, and whether it happens when the module is loaded."""

    module: str
    line: int
    names: tuple[str, ...] = ()
    on_load: bool = True


@dataclass(frozen=True)
class Module:
    """A module's dotted name below the package, and its source."""

    name: str
    source: str

    @property
    def room(self) -> str:
        return self.name.split(".")[0]

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.source)

    def imports(self) -> tuple[Import, ...]:
        """Everything imported at run time, also inside functions and by name."""
        return _all_imports(self.source)


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


@cache
def _all_imports(source: str) -> tuple[Import, ...]:
    return tuple(_imports(_parsed(source), on_load=True))


def _imports(node: ast.AST, on_load: bool) -> Iterator[Import]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for other in node.orelse:
            yield from _imports(other, on_load)
        return
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, node.lineno, on_load=on_load)
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = tuple(alias.name for alias in node.names)
        if node.module == "icefield":  # `from icefield import validate` means the module
            for name in names:
                yield Import(f"icefield.{name}", node.lineno, (name,), on_load)
        else:
            yield Import(node.module, node.lineno, names, on_load)
    elif isinstance(node, ast.Call) and node.args and _called(node) in IMPORTERS:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield Import(first.value, node.lineno, on_load=False)
    inside = on_load and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for child in ast.iter_child_nodes(node):
        yield from _imports(child, inside)


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def package() -> list[Module]:
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found.append(Module(name, file.read_text(encoding="utf-8")))
    return found


# --- the rules ---------------------------------------------------------------------------------------


def room_violations(module: Module) -> list[str]:
    """Imports of rooms this module's room has no business in."""
    found = []
    for one in module.imports():
        if not one.module.startswith("icefield."):
            continue
        other = one.module.split(".")[1]
        if other == module.room:
            continue
        rule = _broken_rule(module.room, other)
        if rule:
            found.append(f"{module.name}, line {one.line}, imports {one.module}: {rule}")
    return found


def _broken_rule(room: str, other: str) -> str | None:
    if other in DOORS:
        return DOORS[other]
    allowed, rule = MAY_IMPORT.get(room, (None, ""))
    if allowed is not None and other not in (*allowed, *COMMON):
        return rule
    forbidden, rule = MUST_NOT_IMPORT.get(room, ((), ""))
    return rule if other in forbidden else None


def frame_violations(module: Module) -> list[str]:
    """Frame libraries outside `data/` and the rooms listed with their reasons."""
    if module.room in FRAMES_ALLOWED:
        return []
    return [
        f"{module.name}, line {one.line}, imports {one.module}: only data/ touches frames"
        for one in module.imports()
        if one.module.split(".")[0] in FRAMES
    ]


def native_violations(module: Module) -> list[str]:
    if module.room == "kernels":
        return []
    return [
        f"{module.name}, line {one.line}, imports {one.module}: only kernels/ is native"
        for one in module.imports()
        if one.module.split(".")[0] in NATIVE
    ]


def distributed_violations(module: Module) -> list[str]:
    """Dask, Spark and Ray outside their room, or imported before a frame of theirs is given."""
    return [
        f"{module.name}, line {one.line}, imports {one.module}: only rows/distributed/ and libraries/spark_ml/ know Dask, Spark and Ray, and only when asked"
        for one in module.imports()
        if one.module.split(".")[0] in DISTRIBUTED
        and (not module.name.startswith(DISTRIBUTED_ALLOWED) or one.on_load)
    ]


def private_violations(module: Module) -> list[str]:
    """Private names and modules of the library, taken from outside of them."""
    found = []
    for one in module.imports():
        if not one.module.startswith("icefield"):
            continue
        path = (*one.module.split(".")[1:], *one.names)
        private = [name for name in path if name.startswith("_") and not name.startswith("__")]
        if private == [GENERATED] and module.name.partition(".")[0] == "kernels":
            continue
        if private:
            found.append(
                f"{module.name}, line {one.line}, imports {private[0]}: nobody imports a private name"
            )
    return found


def open_keyword_violations(module: Module) -> list[str]:
    """Public functions whose keywords cannot be seen by editors, type checkers and `help`.

    ``**unknown: Never`` is no such thing: it names what was mistyped, and type checkers refuse it.
    """
    # Commands take what their options declare; pictures are asked for by `plot` methods, which say theirs.
    if module.room == "cli" or module.name == "plots":
        return []
    return [
        f"{where}, line {line}, takes **{kwarg}: public functions spell their keywords out"
        for where, line, kwarg in _open_keywords(module.tree, module.name)
        if where not in HANDED_ON
    ]


def _open_keywords(node: ast.AST, where: str) -> Iterator[tuple[str, int, str]]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if child.name.startswith("_"):
            continue
        name = f"{where}.{child.name}"
        if isinstance(child, ast.ClassDef):
            yield from _open_keywords(child, name)
        elif child.args.kwarg is not None:
            hint = child.args.kwarg.annotation
            if hint is None or ast.unparse(hint) != "Never":
                yield name, child.lineno, child.args.kwarg.arg


def dispatch_violations(module: Module) -> list[str]:
    """Studies, rows and engines that are told apart by their attributes or their class, instead of asked."""
    found = []
    for node in ast.walk(module.tree):
        if not (isinstance(node, ast.Call) and node.args and _called(node) in TELLING_APART):
            continue
        told = ast.unparse(node.args[0])
        if ASKED_BY_PROTOCOL.search(told):
            found.append(
                f"{module.name}, line {node.lineno}, tells {told} apart by {_called(node)}: they are asked by protocol only"
            )
    return found


def size_violations(module: Module) -> list[str]:
    """Classes with more public members than a reader keeps in mind."""
    return [
        f"{module.name}.{node.name} has {len(members)} public members, more than {MOST_MEMBERS}: split it by subject, or hide what it alone uses"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef) and node.name not in LARGE
        if len(members := public_members(node)) > MOST_MEMBERS
    ]


def public_members(node: ast.ClassDef) -> set[str]:
    """Methods, properties, fields, class variables, and what `__init__` puts on the instance, inherited ones left out."""
    found: set[str] = set()
    for one in node.body:
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(one.name)
            if one.name == "__init__":
                found |= {
                    part.attr
                    for part in ast.walk(one)
                    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
                    and isinstance(part.value, ast.Name) and part.value.id == "self"
                }  # fmt: skip
        elif isinstance(one, (ast.AnnAssign, ast.Assign)):
            targets = one.targets if isinstance(one, ast.Assign) else [one.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def cycles(modules: list[Module]) -> list[str]:
    """Modules that need each other to be loaded."""
    known = {module.name for module in modules}
    return _circles({module.name: _needed(module, known) for module in modules})


def room_cycles(modules: list[Module]) -> list[str]:
    """Rooms that import each other, at any time."""
    needs: dict[str, set[str]] = {room: set() for room in LAYERED}
    for module in modules:
        if module.room in needs:
            rooms = {
                one.module.split(".")[1] for one in module.imports() if one.module.startswith("icefield.")
            }
            needs[module.room] |= (rooms & set(LAYERED)) - {module.room}
    return _circles(needs)


def _circles(needs: dict[str, set[str]]) -> list[str]:
    found: list[str] = []
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            found.append(" -> ".join((*path[path.index(name) :], name)))
        elif name not in done:
            for other in sorted(needs[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in sorted(needs):
        visit(name, ())
    return found


def _needed(module: Module, known: set[str]) -> set[str]:
    needed = set()
    for one in module.imports():
        if not one.on_load or not one.module.startswith("icefield."):
            continue
        name = one.module.removeprefix("icefield.")
        within = {f"{name}.{part}" for part in one.names} & known
        needed |= within or ({name} & known)
    return needed - {module.name}


def _all(violations: list[list[str]]) -> str:
    return "\n".join(line for lines in violations for line in lines)


# --- the library keeps them --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return package()


@pytest.mark.parametrize(
    "rule",
    [
        room_violations,
        frame_violations,
        native_violations,
        distributed_violations,
        private_violations,
        open_keyword_violations,
        dispatch_violations,
        size_violations,
    ],
    ids=["rooms", "frames", "native", "distributed", "private", "keywords", "dispatch", "size"],
)
def test_every_module_keeps_the_rule(modules, rule):
    broken = _all([rule(module) for module in modules])
    assert not broken, f"\n{broken}"


def test_no_modules_need_each_other_to_be_loaded(modules):
    assert cycles(modules) == []


def test_no_rooms_import_each_other(modules):
    assert {module.room for module in modules} >= set(LAYERED)
    assert room_cycles(modules) == []


def test_every_exception_for_a_large_class_is_needed(modules):
    sizes = {
        node.name: len(public_members(node))
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    assert {name for name in LARGE if sizes[name] <= MOST_MEMBERS} == set()


def test_no_name_stands_for_two_classes(modules):
    homes: dict[str, list[str]] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name.lstrip("_"), []).append(module.name)
    twice = {name: home for name, home in homes.items() if len(home) > 1 and name not in SHARED_NAMES}
    assert twice == {}


def test_few_files_lie_at_the_top_level():
    files = sorted(file.name for file in SOURCE.glob("*.py"))
    assert len(files) <= MOST_TOP_LEVEL_FILES, files


def test_no_two_files_have_one_name_for_different_things():
    # Each library's and each engine's folder holds the same parts; kernels are named like the module that calls them.
    alike = ("libraries", "kernels")
    files = [f for f in SOURCE.rglob("*.py") if f.relative_to(SOURCE).parts[0] not in alike]
    names = Counter(file.name for file in files if file.name not in ("__init__.py", "engine.py"))
    assert [name for name, times in names.items() if times > 1] == []


def test_what_is_put_into_words_is_put_so_once(modules):
    homes: dict[str, set[str]] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, set()).add(module.name)
    twice = {
        name: home for name, home in homes.items() if len(home) > 1 and any("wording" in h for h in home)
    }
    assert twice == {}


# --- the checker sees what it should ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "source", "rule", "words"),
    [
        ("plots.fake", "from icefield.statistics.reading import Reading", room_violations, "no statistics"),
        ("plots.fake", "def f():\n    import icefield.engines.brute.engine", room_violations, "line 2"),
        ("engines.fake", "from icefield.plots import plot_effect", room_violations, "no picture"),
        ("data.fake", "from icefield.core.question import Axis", room_violations, "no model"),
        ("data.fake", "from icefield.core import study", room_violations, "no model"),
        ("compare", "from icefield.cli.output import show", room_violations, "door"),
        ("statistics.fake", "import pandas as pd", frame_violations, "only data/ touches frames"),
        ("plots.fake", "nw = importlib.import_module('narwhals')", frame_violations, "narwhals"),
        ("engines.fake", "def f():\n    import ray", distributed_violations, "only rows/distributed/"),
        ("rows.distributed.fake", "import dask.dataframe", distributed_violations, "only when asked"),
        ("rows.distributed.fake", "from icefield.statistics.ale import ale", room_violations, "no statistics"),
        ("engines.fake", "from ctypes import CDLL", native_violations, "only kernels/ is native"),
        ("statistics.fake", "from icefield.effect import _tidy", private_violations, "_tidy"),
        ("statistics.fake", "from icefield.plots._hidden import x", private_violations, "_hidden"),
        ("report.fake", "hasattr(study, 'stream')", dispatch_violations, "asked by protocol only"),
        ("core.fake", "isinstance(plan.engine, TreesEngine)", dispatch_violations, "engine"),
        ("fake", "class A:\n" + "".join(f"    a{i}: int\n" for i in range(23)), size_violations, "23 public members"),
        ("fake", "class A:\n    def __init__(self):\n        " + " = ".join(f"self.a{i}" for i in range(23)) + " = 0", size_violations, "fake.A"),
        ("fake", "def plot(**options): ...", open_keyword_violations, "spell their keywords out"),
        ("fake", "class A:\n    def plot(self, **o: Any): ...", open_keyword_violations, "fake.A.plot"),
    ],
)  # fmt: skip
def test_a_violation_is_reported_with_its_rule(name, source, rule, words):
    (said,) = rule(Module(name, source))
    assert words in said
    assert name.split(".")[0] in said


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("plots.fake", "if TYPE_CHECKING:\n    from icefield.statistics.reading import Reading"),
        ("plots.fake", "from icefield.effect import Effect\nfrom icefield.wording.names import name_text"),
        ("data.fake", "import narwhals as nw\nfrom icefield.errors import InputError"),
        ("kernels.fake", "import ctypes"),
        ("fake", "def plot(*, kind='auto', **unknown: Never): ...\ndef _f(**anything): ..."),
        ("fake", "from icefield import __version__"),
    ],
)
def test_what_keeps_the_rules_is_left_alone(name, source):
    rules = [
        room_violations,
        frame_violations,
        native_violations,
        private_violations,
        open_keyword_violations,
    ]
    assert [rule(Module(name, source)) for rule in rules] == [[], [], [], [], []]


def test_a_cycle_is_found_and_a_late_import_is_none():
    one = Module("a.one", "from icefield.a.two import x")
    two = Module("a.two", "from icefield.a.one import y")
    late = Module("a.two", "def f():\n    from icefield.a.one import y")
    assert cycles([one, two]) == ["a.one -> a.two -> a.one"]
    assert cycles([one, late]) == []


def test_rooms_that_import_each_other_are_found_even_where_it_happens_late():
    one = Module("models.one", "from icefield.libraries.a import x")
    late = Module("libraries.a", "def f():\n    from icefield.models.two import y")
    only_types = Module("libraries.a", "if TYPE_CHECKING:\n    from icefield.models.two import y")
    assert room_cycles([one, late]) == ["libraries -> models -> libraries"]
    assert room_cycles([one, only_types]) == []
