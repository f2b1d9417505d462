"""skops files: scikit-learn models without pickle's dangers, as long as only known types are built."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from icefield.libraries.child_process import limit_memory
from icefield.libraries.class_path import class_path
from icefield.libraries.native_files import LoadError, check_fits, cut, first_line, require, try_in_child
from icefield.libraries.validation import check_finite, check_links, check_within, trial_rows, try_rows

LARGEST_WIDTH = 2**31  # columns, where a model does not say how many it takes


TREES = ("sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor")
"""Types that hold arrays and no code: built once a child process has found the arrays to be trees."""


def load_skops(file: Path, trust: Sequence[str]) -> Any:
    """The model in a file, where all its types are on skops's allow-list or among those to trust."""
    skops = require("skops.io", "skops")
    try:
        with zipfile.ZipFile(file) as archive:
            check_fits(sum(entry.file_size for entry in archive.infolist()), "its contents")
        unknown = [t for t in skops.get_untrusted_types(file=str(file)) if t not in (*TREES, *trust)]
    except Exception as error:
        problem = "is not a readable skops file"
        raise LoadError.about("MODEL", problem, str(file), first_line(error)) from error
    if unknown:
        options = " ".join(f"--trust {cut(name, 80)}" for name in unknown[:5])
        raise LoadError(
            f"{file} holds types that are not on the allow-list: {cut(', '.join(unknown[:5]))}. Hint: if you trust "
            f"them, add {options}."
        )
    try_in_child("skops", try_skops, file, *trust)
    try:
        return skops.load(str(file), trusted=_trusted(skops, file, trust))
    except Exception as error:
        raise LoadError.about("MODEL", "could not be loaded", str(file), first_line(error)) from error


def _trusted(skops: Any, file: Path, trust: Sequence[str]) -> list[str]:
    """The types in a file that may be built; skops refuses a list with types that the file does not hold."""
    types = skops.get_untrusted_types(file=str(file))
    return [name for name in types if name in (*TREES, *trust)]


def try_skops(path: str, *trust: str) -> None:
    """Run in the child: build the model in a file within a memory limit, check its trees and predict trial rows."""
    file = Path(path)
    skops = require("skops.io", "skops")
    require("sklearn.ensemble", "scikit-learn")
    limit_memory(file)
    model = skops.load(path, trusted=_trusted(skops, file, trust))
    for part in _parts(model):
        if class_path(part) == TREES[0]:
            _check_tree(part)
        elif class_path(part) == TREES[1]:
            _check_predictor(part, int(getattr(model, "n_features_in_", LARGEST_WIDTH)))
    width = getattr(model, "n_features_in_", 1)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, name):
            try_rows(getattr(model, name), np.nan_to_num(trial_rows(int(width))))
            try_rows(getattr(model, name), trial_rows(int(width)))


def _parts(model: Any) -> Iterator[Any]:
    """A model and everything in it."""
    stack, seen = [model], set()
    while stack:
        part = stack.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, dict):
            stack += part.values()
        elif isinstance(part, (list, tuple, set)) or (isinstance(part, np.ndarray) and part.dtype == object):
            stack += list(part.flat if isinstance(part, np.ndarray) else part)
        else:
            stack += list(getattr(part, "__dict__", {}).values())


def _check_tree(tree: Any) -> None:
    """Links, columns and values of a tree of scikit-learn's."""
    left, right = tree.children_left, tree.children_right
    columns = np.where(left == -1, 0, tree.feature)
    check_links([(left, right, 0, columns, tree.n_features)])
    check_finite(tree.threshold, "threshold")
    check_finite(tree.value, "value")


def _check_predictor(predictor: Any, width: int) -> None:
    """Links, columns, sets and values of a tree of histogram gradient boosting with `width` columns."""
    nodes = predictor.nodes
    leaf = nodes["is_leaf"] != 0
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    check_links([(left, right, 0, np.where(leaf, 0, nodes["feature_idx"].astype(np.int64)), width)])
    check_finite(nodes["value"], "value")
    if np.isnan(nodes["num_threshold"]).any():
        raise LoadError("num_threshold holds nan")
    by_set = (nodes["is_categorical"] != 0) & ~leaf
    for name in ("raw_left_cat_bitsets", "binned_left_cat_bitsets"):
        check_within(nodes["bitset_idx"][by_set], len(getattr(predictor, name)), "bitset_idx")
