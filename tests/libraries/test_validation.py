"""Links that form a tree, and those that a library must never follow."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.libraries.validation import tree_problem


@pytest.mark.parametrize(
    ("left", "right", "leaves", "why"),
    [
        ([1, -1, -1], [2, -1, -1], 0, ""),
        ([-1], [-2], 2, ""),
        ([1, -1], [-2, -3], 3, ""),
        ([1, -1, 4, 3, 2], [-1, -1, -1, -1, -1], 0, "one child"),
        ([1, -1, -1, 4, 3], [2, -1, -1, -1, -1], 0, "one child"),
        ([1, 1], [-1, -2], 2, "two parents"),
        ([0], [-1], 2, "two parents"),
        ([-1, 2, 1], [-2, -3, -4], 4, "circle"),
        ([5], [-1], 2, "outside"),
        ([-9], [-1], 2, "outside"),
        ([], [], 2, "length"),
    ],
)
def test_links_that_are_no_tree(left: list[int], right: list[int], leaves: int, why: str) -> None:
    found = tree_problem(np.array(left, int), np.array(right, int), leaves, np.zeros(len(left), int), 1)
    assert (why in found) if why else found == ""
