"""LightGBM's text, as ``model_to_string`` and ``save_model`` write it: the one place that takes it apart.

A model is a line ``tree``, a header of ``name=value`` lines, one block of such lines per tree beginning
with ``Tree=``, and a line ``end of trees``; what follows is not about predictions. Values stay text
here, and nothing is refused: readers of trees are strict about what they find, checkers of files are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of a split's decision_type; bits 2 and 3 are the missing type
LOG_OBJECTIVES = ("poisson", "gamma", "tweedie")
BUFFER = 2**20  # characters that LightGBM has room for at first
LARGEST_EXACT = 2.0**53  # whole numbers below are the same as floating ones
LARGEST_HEADER = 2**17  # what stands beside the trees is written again with every part


@dataclass(frozen=True)
class ModelText:
    """A model's text in parts.

    Attributes
    ----------
    first_line : ``tree`` in every format that is known
    header : what each header line says; empty for a line without ``=``
    ended : whether there is an end of trees
    body : the text of all trees
    size : of the whole text
    """

    first_line: str
    header: Mapping[str, str]
    ended: bool
    body: str
    size: int

    def trees(self) -> Iterator[dict[str, str]]:
        """The fields of each tree, as text."""
        return blocks(self.body)


def blocks(text: str) -> Iterator[dict[str, str]]:
    """The ``name=value`` lines of each part of a text: of each tree, and of what stands before and after them.

    LightGBM finds trees by the sizes in the header, so that one may also lie behind an end of trees.
    """
    fields: dict[str, str] | None = None
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if name in ("Tree", "end of trees"):
            if fields is not None:
                yield fields
            fields = {}
        elif equals:
            fields = {} if fields is None else fields
            fields[name] = value
    if fields is not None:
        yield fields


def parse(text: str) -> ModelText:
    """Take a model's text apart.

    Examples
    --------
    >>> model = parse("tree\\nversion=v4\\n\\nTree=0\\nnum_leaves=1\\n\\nend of trees\\n")
    >>> model.header["version"], list(model.trees())
    ('v4', [{'num_leaves': '1'}])
    """
    head, tree, rest = text.partition("\nTree=")
    first, *lines = head.strip().split("\n")
    header = {name: value for name, _, value in (line.partition("=") for line in lines)}
    body, end, _ = rest.partition("\nend of trees")
    return ModelText(first, header, bool(end), tree.lstrip("\n") + body, len(text))


def model_text(booster: Any) -> ModelText:
    """All of a booster's model that predicts, up to its best iteration where it has one.

    LightGBM writes into a megabyte first, and everything a second time where that was too small. So a large model is
    asked for a few iterations at a time.
    """
    first = parse(booster.model_to_string(num_iteration=1))
    best = booster.best_iteration
    iterations = best if best > 0 else booster.current_iteration()
    if len(first.body) * iterations <= BUFFER // 2 or first.size - len(first.body) > LARGEST_HEADER:
        return parse(booster.model_to_string())
    parts: list[ModelText] = []
    length, start = len(first.body), 0  # of an iteration, as far as seen
    while start < iterations:
        count = min(max(1, BUFFER * 3 // 4 // max(length, 1)), iterations - start)
        parts.append(parse(booster.model_to_string(num_iteration=count, start_iteration=start)))
        length, start = max(length, len(parts[-1].body) // count), start + count
    ended = all(part.ended for part in parts)
    return replace(first, ended=ended, body="\n".join(part.body for part in parts))


def header_of(booster: Any) -> Mapping[str, str]:
    """The header fields of a booster's text, by name; the text is written with one iteration's trees, the least possible."""
    return parse(booster.model_to_string(num_iteration=1)).header


def categorical_positions(booster: Any) -> list[int]:
    """Which columns the stored parameters call categorical; empty where they do not say."""
    words = parameter(booster.model_to_string(num_iteration=1), "categorical_feature").split(",")
    return [int(word) for word in words] if all(word.strip().isdigit() for word in words) else []


def parameter(text: str, name: str) -> str:
    """The value of a training parameter in a model's text; empty where the text has none."""
    match = re.search(rf"^\[{name}: (.*)\]$", text, re.MULTILINE)
    return "" if match is None else match.group(1).strip()


def objective_words(booster: Any) -> list[str]:
    """The words of the stored objective, such as ``binary sigmoid:1``; empty for a custom one."""
    return header_of(booster).get("objective", "").split()


def booster_of(model: Any) -> Any:
    """The booster in a wrapper that speaks like scikit-learn; a booster as it is."""
    return model if is_booster(model) else model.booster_


def is_booster(model: Any) -> bool:
    return hasattr(model, "model_to_string")


def numbers(texts: Iterable[str], dtype: Any) -> NDArray[Any]:
    """The numbers of a field, one tree after another."""
    from icefield import kernels  # whoever only predicts needs none

    joined = " ".join(text for text in texts if text)
    values = np.empty(joined.count(" ") + 1 if joined else 0)
    unread = np.empty(len(values), np.uint8)
    characters = np.frombuffer(joined.encode(), np.uint8)
    is_read = kernels.read_numbers(text=characters, found=values, left=unread)
    if is_read and unread.any():  # very small, very large, or no number
        words = joined.split(" ")
        try:
            values[unread == 1] = [float(words[i]) for i in np.flatnonzero(unread)]
        except ValueError:
            is_read = False
    if is_read and np.dtype(dtype).kind != "f":
        is_read = bool((np.abs(values) < LARGEST_EXACT).all() and (values == np.rint(values)).all())
    return values.astype(dtype, copy=False) if is_read else np.array(joined.split(), dtype)
