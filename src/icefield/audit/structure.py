"""Which features a model made of trees uses, and which pairs of them cannot interact.

On the raw scale a sum of trees has an interaction of two features only if some path from a root to a leaf splits on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icefield.forest.tree_model import TreeModel


@dataclass(frozen=True)
class Structure:
    """How features stand on the paths of all trees.

    Attributes
    ----------
    used, unused : features that some split uses, and those that none does
    together : the sets of features that stand on one path, none within another
    """

    used: tuple[Any, ...]
    unused: tuple[Any, ...]
    together: tuple[frozenset[Any], ...]

    def never_together(self) -> list[tuple[Any, Any]]:
        """Pairs of used features that are never on one path."""
        pairs = {frozenset((a, b)) for one in self.together for a in one for b in one if a != b}
        return [
            (a, b)
            for i, a in enumerate(self.used)
            for b in self.used[i + 1 :]
            if frozenset((a, b)) not in pairs
        ]

    def broken(self, allowed: Sequence[Sequence[Any]]) -> list[frozenset[Any]]:
        """Paths whose features are in no one set of those that may interact; a feature in none of them stands alone."""
        sets = [frozenset(one) for one in allowed]
        return [one for one in self.together if len(one) > 1 and not any(one <= home for home in sets)]


def structure_of(trees: TreeModel, features: Sequence[Any]) -> Structure:
    """Of a model read as trees; `features` are the frame's columns that it takes."""
    forest = trees.forest
    owner: dict[int, frozenset[Any]] = {}
    for name in features:
        for column in trees.drives.get(name, ()):
            owner[column] = owner.get(column, frozenset()) | {name}
    paths: set[frozenset[Any]] = set()
    for root in forest.tree_root.tolist():
        stack: list[tuple[int, frozenset[Any]]] = [(int(root), frozenset())]
        while stack:
            node, own = stack.pop()
            condition = int(forest.node_condition[node])
            if condition < 0:
                paths.add(own)
                continue
            own = own | owner.get(int(forest.condition_column[condition]), frozenset())
            stack += [(int(forest.node_left[node]), own), (int(forest.node_right[node]), own)]
    used = {name for one in paths for name in one}
    largest = sorted(paths, key=len, reverse=True)
    together: list[frozenset[Any]] = []
    for one in largest:
        if one and not any(one <= other for other in together):
            together.append(one)
    return Structure(
        tuple(name for name in features if name in used),
        tuple(name for name in features if name not in used),
        tuple(together),
    )
