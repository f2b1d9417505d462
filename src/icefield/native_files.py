"""Boosters in their libraries' own files: which library wrote one, is it sound, and what its columns are.

Libraries crash, loop or read wild memory on some corrupt files, at load or at the first prediction. So a file
is first loaded in a child process, which also checks that every tree is a tree; a crash or hang there is
a clear error here. Files from a text format have lost their categories' type; `with_categories` gives
columns back the levels the model was trained with.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import IcefieldError, MissingDependencyError, complaint

LOAD_SECONDS = 60.0
CHILD_MEMORY = 8 * 2**30  # and some times the file: a corrupt length must not take the machine's memory
LIBRARIES = {"onnx": "onnxruntime"}
_CHILD = "import sys; from icefield.native_files import try_file; try_file(sys.argv[1], sys.argv[2])"


class LoadError(IcefieldError, ValueError):
    """A file could not be read as what it should be."""


# --- which library, and loading --------------------------------------------------------------------


def kind_of(file: Path) -> str:
    """Which library wrote a native file: by its suffix and how it begins; JSON by its keys."""
    suffix = file.suffix.lower()
    if file.stat().st_size == 0:
        raise LoadError(complaint("MODEL", "is empty", str(file)))
    with file.open("rb") as stream:
        head = stream.read(4096)
    if suffix == ".txt":
        if not head.lstrip().startswith(b"tree"):
            raise LoadError(
                complaint(
                    "MODEL", "is not a LightGBM text model", str(file), "save it with Booster.save_model"
                )
            )
        return "lightgbm"
    if suffix == ".cbm":
        if not head.startswith(b"CBM1"):
            raise LoadError(
                complaint("MODEL", "is not a CatBoost model", str(file), "save it with CatBoost.save_model")
            )
        return "catboost"
    if suffix == ".ubj":
        if not head.startswith(b"{"):
            raise LoadError(
                complaint(
                    "MODEL", "is not an XGBoost UBJSON model", str(file), "save it with Booster.save_model"
                )
            )
        return "xgboost"
    if suffix == ".onnx":
        return "onnx"
    return _kind_of_json(file)


def _kind_of_json(file: Path) -> str:
    try:
        keys = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LoadError(complaint("MODEL", "is not valid JSON", str(file), first_line(error))) from error
    if isinstance(keys, dict) and "learner" in keys:
        return "xgboost"
    if isinstance(keys, dict) and ("oblivious_trees" in keys or "trees" in keys) and "features_info" in keys:
        return "catboost"
    raise LoadError(
        complaint("MODEL", "is JSON, but neither an XGBoost nor a CatBoost model", str(file),
                  "save it with Booster.save_model, or CatBoost.save_model(format='json')")
    )  # fmt: skip


def load_native(file: Path) -> Any:
    """A model from a native file, once a child process has loaded it without harm."""
    kind = kind_of(file)
    _try_in_child(kind, file)
    return _loaded(kind, file)


def _loaded(kind: str, file: Path) -> Any:
    if kind == "lightgbm":
        return needed("lightgbm").Booster(model_file=str(file))
    if kind == "xgboost":
        booster = needed("xgboost").Booster()
        booster.load_model(str(file))
        return booster
    if kind == "catboost":
        model = needed("catboost").CatBoost()
        return model.load_model(str(file), format="json" if file.suffix.lower() == ".json" else "cbm")
    return needed("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])


def _try_in_child(kind: str, file: Path) -> None:
    library = LIBRARIES.get(kind, kind)
    needed(library)
    command = [sys.executable, "-c", _CHILD, kind, str(file)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=LOAD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise LoadError(
            complaint(
                "MODEL", f"did not load within {LOAD_SECONDS:g} s; the file is probably corrupt", str(file)
            )
        ) from error
    if done.returncode < 0:
        problem = f"crashes {library} (signal {-done.returncode}); the file is corrupt"
        raise LoadError(complaint("MODEL", problem, str(file)))
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise LoadError(complaint("MODEL", f"could not be loaded by {library}", str(file), cut(lines[-1])))


def try_file(kind: str, path: str) -> None:
    """What the child process does: load within a memory limit, and check every tree."""
    file = Path(path)
    _limit_memory(CHILD_MEMORY + 20 * file.stat().st_size)
    model = _loaded(kind, file)
    trees: Iterator[Tree] = iter(())
    if kind == "lightgbm":
        trees = _lightgbm_trees(file.read_text(encoding="utf-8", errors="replace"), model.num_feature())
    elif kind == "xgboost":
        trees = _xgboost_trees(json.loads(bytes(model.save_raw("json"))), model.num_features())
    elif kind == "catboost" and not model.tree_count_:
        raise LoadError("it holds no trees")
    for number, tree in enumerate(trees):
        problem = tree_problem(*tree)
        if problem:
            raise LoadError(f"tree {number}: {problem}")


def _limit_memory(limit: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))


# --- trees that are trees --------------------------------------------------------------------------


Tree = tuple[NDArray[Any], NDArray[Any], int, NDArray[Any], int]  # what `tree_problem` takes
_LIGHTGBM_FIELDS = (
    "left_child",
    "right_child",
    "num_leaves",
    "split_feature",
    "decision_type",
    "threshold",
    "num_cat",
)


def _lightgbm_trees(text: str, n_columns: int) -> Iterator[Tree]:
    """Children of each tree; a negative number stands for a leaf, counted from -1 down."""
    fields: dict[str, str] = {}
    for line in [*text.splitlines(), "Tree="]:
        name, _, value = line.partition("=")
        if name in ("Tree", "end of trees"):
            if fields.get("left_child"):
                yield _lightgbm_tree(fields, n_columns)
            fields = {}
        elif name in _LIGHTGBM_FIELDS:
            fields[name] = value


def _lightgbm_tree(fields: Mapping[str, str], n_columns: int) -> Tree:
    def whole(name: str) -> NDArray[Any]:
        return np.array(fields.get(name, "").split(), dtype=np.int64)

    columns = whole("split_feature")
    # A split on categories keeps the number of its set where others keep their threshold.
    by_set = whole("decision_type") & 1 == 1
    sets = np.array(fields.get("threshold", "").split(), dtype=np.float64)
    if by_set.shape == sets.shape and by_set.any():
        outside = by_set & ~((sets >= 0) & (sets < int(fields.get("num_cat", "0"))))
        columns = np.where(outside, -1, columns)
    return whole("left_child"), whole("right_child"), int(fields.get("num_leaves", "0")), columns, n_columns


def _xgboost_trees(model: Mapping[str, Any], n_columns: int) -> Iterator[Tree]:
    """Children of each tree; leaves are nodes whose children are both -1."""
    booster = model["learner"]["gradient_booster"]
    booster = booster.get("gbtree", booster)  # a dart model wraps the plain one
    for tree in booster.get("model", {}).get("trees", ()):
        left = np.array(tree["left_children"], dtype=np.int64)
        right = np.array(tree["right_children"], dtype=np.int64)
        columns = np.array(tree["split_indices"], dtype=np.int64)
        yield (
            left,
            right,
            0,
            np.where(left == -1, 0, columns) if len(columns) == len(left) else columns,
            n_columns,
        )


def tree_problem(
    left: NDArray[Any], right: NDArray[Any], leaves_below: int, columns: NDArray[Any], n_columns: int
) -> str:
    """Why links do not form one tree from node 0, or an empty text.

    `leaves_below` is the number of leaves when they are negative numbers, 0 when they are nodes with
    both children -1; `columns` are those that nodes split on.

    Examples
    --------
    >>> tree_problem(np.array([1, -1, -1]), np.array([2, -1, -1]), 0, np.array([0, 0, 0]), 1)
    ''
    >>> tree_problem(np.array([1, 0]), np.array([-1, -2]), 2, np.array([0, 0]), 1)
    'a node has two parents, or is its own ancestor'
    """
    if not left.shape == right.shape == columns.shape or left.ndim != 1 or not len(left):
        return "its lists of nodes differ in length"
    if ((columns < 0) | (columns >= n_columns)).any():
        return "a node splits on a column or set that is not there"
    children = np.concatenate([left, right])
    if ((children < -(leaves_below or 1)) | (children >= len(left))).any():
        return "a child lies outside the tree"
    if not leaves_below and ((left == -1) != (right == -1)).any():
        return "a node has one child"
    parents = np.bincount(children[children >= 0], minlength=len(left))
    if parents[0] != 0 or (parents[1:] > 1).any():
        return "a node has two parents, or is its own ancestor"
    # One parent each, yet not below the root: such nodes form a circle.
    reached, frontier = 1, np.array([0])
    while len(frontier):
        below = np.concatenate([left[frontier], right[frontier]])
        frontier = below[below >= 0]
        reached += len(frontier)
    return "some nodes form a circle" if reached < 1 + int((parents[1:] == 1).sum()) else ""


# --- columns as the model wants them -----------------------------------------------------------------


def with_categories(model: Any, frame: Any) -> Any:
    """The frame with categorical columns typed as a booster was trained on them; other frames as they are."""
    root = type(model).__module__.partition(".")[0]
    if not type(frame).__module__.startswith("pandas"):
        return frame
    booster = _booster(model)
    if root == "lightgbm" and getattr(booster, "pandas_categorical", None):
        return _categorised(frame, _lightgbm_levels(booster, frame))
    if root == "xgboost" and getattr(booster, "feature_types", None):
        return _categorised(frame, _xgboost_levels(booster, frame))
    if root == "catboost":
        return _with_text_levels(frame, model)
    return frame


def _booster(model: Any) -> Any:
    """The booster in a wrapper that speaks like scikit-learn; anything else as it is."""
    if hasattr(model, "get_booster"):
        return model.get_booster()
    return getattr(model, "booster_", model)


def _lightgbm_levels(model: Any, frame: Any) -> dict[str, list[Any]]:
    """Columns that were categories, in order; the file lists their levels but not their names."""
    names, levels = model.feature_name(), model.pandas_categorical
    infos: list[str] = next(
        (
            line.partition("=")[2].split()
            for line in model.model_to_string(num_iteration=1).splitlines()
            if line.startswith("feature_infos=")
        ),
        [],
    )
    listed = [name for name, info in zip(names, infos) if not info.startswith("[") and info != "none"]
    if len(listed) != len(levels):
        # A column without a split has no description; texts can only have been categories.
        listed = [
            n
            for n in names
            if n in frame.columns
            and (n in listed or not _is_number(frame[n]) or str(frame[n].dtype) == "category")
        ]
    if len(listed) != len(levels):
        raise LoadError(
            f"The model was trained with {len(levels)} categorical columns, but its file does not say which: "
            f"{len(listed)} of the data's columns could be meant ({cut(', '.join(map(str, listed)))}). "
            "Hint: store the data as Parquet or Feather with categorical columns."
        )
    return dict(zip(listed, levels))


def _xgboost_levels(model: Any, frame: Any) -> dict[str, list[Any]]:
    names = model.feature_names or []
    wanted = [name for name, kind in zip(names, model.feature_types) if kind == "c" and name in frame.columns]
    if not wanted:
        return {}
    stored: dict[str, list[Any]] = {}
    if hasattr(model, "get_categories"):
        try:
            found = model.get_categories(export_to_arrow=True).to_arrow()
            stored = {name: levels.to_pylist() for name, levels in found if levels is not None}
        except (ImportError, ValueError, AttributeError):
            stored = {}
    out: dict[str, list[Any]] = {}
    for name in wanted:
        if name in stored:
            out[name] = stored[name]
        elif _is_number(frame[name]):
            largest = frame[name].max()
            out[name] = list(range(int(largest) + 1 if largest >= 0 else 0))  # codes themselves
        elif str(frame[name].dtype) != "category":
            raise LoadError(
                f"Column {name!r} is categorical in the model, whose file does not hold its levels, and text in the "
                "data. Hint: store the data as Parquet with the training's categorical column, or save the model "
                "with XGBoost 3.1 or later."
            )
    return out


def _categorised(frame: Any, levels: Mapping[str, Sequence[Any]]) -> Any:
    pandas = importlib.import_module("pandas")
    changed = {}
    for name, own in levels.items():
        if name in frame.columns and str(frame[name].dtype) != "category":
            kinds = pandas.Index(list(own))
            values = frame[name]
            if not _is_number(values) and kinds.dtype.kind in "iufb":
                # Levels were numbers, the file gave texts (or the other way round below).
                values = pandas.to_numeric(values, errors="coerce")
            elif _is_number(values) and kinds.dtype.kind not in "iufb":
                values = values.map(_number_as_text, na_action="ignore")
            changed[name] = pandas.Categorical(values, categories=kinds)
    return frame.assign(**changed) if changed else frame


def _with_text_levels(frame: Any, model: Any) -> Any:
    """CatBoost takes categories as text or whole numbers, and a missing one only as the text "nan"."""
    names = [model.feature_names_[i] for i in model.get_cat_feature_indices()]
    changed = {}
    for name in names:
        if name not in frame.columns:
            continue
        values = frame[name]
        gone = values.isna()
        if gone.any() or (_is_number(values) and values.dtype.kind == "f"):
            changed[name] = values.astype(object).map(_number_as_text, na_action="ignore").where(~gone, "nan")
    return frame.assign(**changed) if changed else frame


def number_columns(model: Any, names: Sequence[Any]) -> list[Any]:
    """Of the columns a model gets, in its order, those it takes as numbers; none where that is not known.

    Categories of LightGBM have a type of their own by now, so that every other column is numbers.
    """
    root = type(model).__module__.partition(".")[0]
    if root == "lightgbm":
        return list(names)
    if root == "xgboost":
        kinds = _booster(model).feature_types or ["float"] * len(names)
        return [name for name, kind in zip(names, kinds) if kind != "c"]
    if root == "catboost":
        other = {*model.get_cat_feature_indices(), *model.get_text_feature_indices(),
                 *model.get_embedding_feature_indices()}  # fmt: skip
        return [name for i, name in enumerate(names) if i not in other]
    if root == "onnxruntime":
        inputs = model.get_inputs()
        kinds = [one.type for one in inputs] * (len(names) if len(inputs) == 1 else 1)
        return [name for name, kind in zip(names, kinds) if kind != "tensor(string)"]
    return []


def _number_as_text(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    return str(value)


def _is_number(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", "O")
    return kind in "iufb"


# --- words -------------------------------------------------------------------------------------------


def optional(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def needed(name: str, package: str | None = None) -> Any:
    """A module, or an error that says what to install."""
    found = optional(name)
    if found is None:
        package = package or name
        raise MissingDependencyError(
            f"This file needs {package}, which is not installed. Hint: pip install {package}."
        )
    return found


def first_line(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return cut(f"{type(error).__name__}: {lines[0] if lines else ''}")


def cut(text: str, limit: int = 200) -> str:
    """Text of bounded length."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
