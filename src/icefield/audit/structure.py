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
    """Which features are used, and which stand together on a path of some tree.

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
        pairs = {frozenset((a, b)) for path in self.together for a in path for b in path if a != b}
        return [
            (a, b)
            for i, a in enumerate(self.used)
            for b in self.used[i + 1 :]
            if frozenset((a, b)) not in pairs
        ]

    def broken(self, allowed: Sequence[Sequence[Any]]) -> list[frozenset[Any]]:
        """Paths whose features are in no one set of those that may interact; a feature in none of them stands alone."""
        sets = [frozenset(group) for group in allowed]
        return [path for path in self.together if len(path) > 1 and not any(path <= home for home in sets)]


def structure_of(trees: TreeModel, features: Sequence[Any]) -> Structure:
    """The Structure of a model read as trees; `features` are the frame's columns that it takes."""
    forest = trees.forest
    owner = [0] * forest.n_columns  # sets of features as the bits of a number
    for place, name in enumerate(features):
        for column in trees.drives.get(name, ()):
            owner[column] |= 1 << place
    of_condition = [owner[column] for column in forest.condition_column.tolist()]
    sets = [0] * forest.node_condition.size
    paths, used = set(), 0
    left, right = forest.node_left.tolist(), forest.node_right.tolist()
    # Children come after their parents.
    for node, condition in enumerate(forest.node_condition.tolist()):
        if condition < 0:
            paths.add(sets[node])
            used |= sets[node]
        else:
            sets[left[node]] = sets[right[node]] = sets[node] | of_condition[condition]
    together: list[int] = []
    for path in sorted(paths, key=int.bit_count, reverse=True):
        if path and not any(path & other == path for other in together):
            together.append(path)
    return Structure(
        tuple(name for place, name in enumerate(features) if used >> place & 1),
        tuple(name for place, name in enumerate(features) if not used >> place & 1),
        tuple(frozenset(name for place, name in enumerate(features) if p >> place & 1) for p in together),
    )
