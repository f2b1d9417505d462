"""A forest as compact arrays for a page, which evaluates it by the same routing rule.

Nodes are in preorder, the left child next: one bit says whether a node is a leaf, splits carry a condition's number and leaves a
value; where the right child begins is rebuilt on load. What does not fit (vector leaves, links a page does not know, columns whose
encoding is not one value's own business) is refused with the reason.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.forest.encode import CategoryNumbers, Encoder, LevelCodes, Numbers, Unused
from icefield.forest.form import ZERO_THRESHOLD, Forest
from icefield.forest.tree_model import CannotRead, Link, TreeModel

VERSION = 1
MOST_CONDITIONS = 2**16
MOST_CODE = 2**16  # of a category set's members; beyond, a bit each would be large


def portable(model: TreeModel, link: Link, adds_in_float32: bool = False) -> dict[str, Any]:
    """The model as plain values and arrays in base64, which `page/source/live/forest.js` evaluates.

    Parameters
    ----------
    model : forest, encoding and source
    link : from raw sums to what is shown
    adds_in_float32 : each partial sum is rounded to float32, in the order of trees, as XGBoost adds

    Raises
    ------
    CannotRead
        With the reason, where a page could not give the model's own predictions.
    """
    forest = model.forest
    if forest.condition_column.size > MOST_CONDITIONS:
        raise CannotRead(
            f"the trees have {forest.condition_column.size:,} distinct conditions, more than {MOST_CONDITIONS:,}"
        )
    order = _preorder(forest)
    condition = forest.node_condition[order]
    leaf = condition < 0
    values = forest.leaf_value[forest.node_leaf[order][leaf]]
    narrow = bool((values.astype(np.float32) == values).all())
    thresholds = np.where(np.isnan(forest.condition_threshold), 0.0, forest.condition_threshold)
    with np.errstate(over="ignore"):
        small = bool((thresholds.astype(np.float32) == thresholds).all())
    sets, words = _sets(forest)
    flags = forest.condition_missing_left.astype(np.uint8) | (
        forest.condition_zero_missing.astype(np.uint8) << 1
    )
    return {
        "v": VERSION,
        "columns": int(forest.n_columns),
        "outputs": int(forest.n_outputs),
        "width": int(values.shape[1]) if values.ndim == 2 else 1,
        "zero": ZERO_THRESHOLD,
        "float32": bool(adds_in_float32),
        "link": _link(link),
        "base": forest.base.tolist(),
        "trees": _array(forest.tree_output.astype(np.int16), "i2"),
        "leaf": _array(np.packbits(leaf, bitorder="little"), "u1"),
        "condition": _array(condition[~leaf], "u2"),
        "value": _array(values.ravel(), "f4" if narrow else "f8"),
        "column": _array(forest.condition_column, "u2" if forest.n_columns > 255 else "u1"),
        "threshold": _array(thresholds, "f4" if small else "f8"),
        "set": _array(sets, "i2") if len(words) else None,
        "words": _array(words, "u4") if len(words) else None,
        "flags": _array(flags, "u1"),
        "nodes": len(order),
        "encode": encoding(model),
    }


def _preorder(forest: Forest) -> NDArray[np.int64]:
    """Nodes tree by tree, each followed by its left subtree, then its right one."""
    order: list[int] = []
    left, right = forest.node_left.tolist(), forest.node_right.tolist()
    stack = forest.tree_root.tolist()[::-1]
    while stack:
        node = stack.pop()
        order.append(node)
        if left[node] >= 0:
            stack += [right[node], left[node]]
    return np.array(order, np.int64)


def _sets(forest: Forest) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """For every condition the first word of its set, -1 for numbers; and the sets' bits, each after its number of words."""
    bits: list[int] = []
    first = []
    for start, stop in zip(forest.set_start[:-1].tolist(), forest.set_start[1:].tolist()):
        members = forest.set_members[start:stop].tolist()
        if members and members[-1] >= MOST_CODE:
            raise CannotRead(f"a split names category {members[-1]:,}, and sets of that size would be large")
        words = [0] * ((members[-1] // 32 + 1) if members else 0)
        for member in members:
            words[member // 32] |= 1 << (member % 32)
        first.append(len(bits))
        bits += [len(words), *words]
    if len(bits) >= 2**15:
        raise CannotRead("the trees' category sets are too large for a page")
    first_word = np.array([*first, -1], np.int64)
    return first_word[forest.condition_set], np.array(bits, np.uint32)


def _link(link: Link) -> dict[str, Any]:
    if link.additive:
        return {"kind": "identity"}
    form = link.form
    if form is None or form.kind not in ("identity", "logistic", "softmax", "exp"):
        raise CannotRead(
            f"its predictions are a {link.name} of the trees' sums, which the page does not know"
        )
    return {"kind": form.kind, "factor": float(form.factor), "complement": bool(form.complement)}


def encoding(model: TreeModel) -> list[dict[str, Any]]:
    """For each column of the forest, which column of the data it is and how a value becomes its number."""
    encode = model.encode
    encoder = getattr(encode, "_encode", encode)
    if not isinstance(encoder, Encoder):
        raise CannotRead("its columns are prepared in a way the page does not know")
    return [_rule(name, rule) for name, rule in zip(encoder.names, encoder.rules)]


def _rule(name: Any, rule: Any) -> dict[str, Any]:
    if isinstance(rule, Unused):
        return {"name": name, "kind": "unused"}
    if isinstance(rule, Numbers):
        return {"name": name, "kind": "number", "float32": rule.float32, "missing": rule.missing}
    if isinstance(rule, LevelCodes):
        codes, unknown = list(rule.code_of_level), rule.unknown_is_missing
        return {"name": name, "kind": "level", "codes": codes, "unknown": unknown}
    if isinstance(rule, CategoryNumbers):
        return {
            "name": name, "kind": "category", "float32": rule.numbers.float32, "limit": rule.limit,
            "truncate": rule.negative_fraction_is_zero, "missing": rule.numbers.missing,
        }  # fmt: skip
    raise CannotRead(f"column {name!r} is prepared in a way the page does not know")


def _array(values: NDArray[Any], kind: str) -> list[Any]:
    types = {"f8": "<f8", "f4": "<f4", "u1": "u1", "u2": "<u2", "i2": "<i2", "u4": "<u4"}
    return [kind, base64.b64encode(np.ascontiguousarray(values, types[kind]).tobytes()).decode()]
