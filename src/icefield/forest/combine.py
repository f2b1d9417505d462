"""Several read models as one: weighted averages of trees and forests.

Members may encode the same column differently (rounded to float32 or not); each distinct
treatment gets its own matrix column, so the joint forest still has a single routing rule. Where
every member's response is a plain sum of trees, so is the average; otherwise the members' raw
outputs lie side by side and the link averages their responses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icefield.data.frame import Table
from icefield.forest import links
from icefield.forest.build import join
from icefield.forest.encode import Encoder
from icefield.forest.tree_model import CannotRead, TreeModel


def weighted_sum(
    members: Sequence[TreeModel],
    weights: Sequence[float],
    targets: Sequence[Sequence[int]],
    n_response: int,
    table: Table,
) -> TreeModel:
    """The model whose response is the weighted sum of the members' responses.

    Parameters
    ----------
    members : models read on the columns of `table`
    weights : one per member
    targets : for each member, the joint response column each of its own columns adds to
    n_response : number of joint response columns
    table : the table the members were read for
    """
    encoders = [member.encode for member in members]
    plain = [encode for encode in encoders if isinstance(encode, Encoder)]
    unlike = table.library == "sparse" and len({encode.absent_is_missing for encode in plain}) > 1
    if len(plain) != len(encoders) or unlike:
        raise CannotRead("the members of the ensemble prepare their input in ways that cannot be shared")
    joint = _joint(plain, table)
    position = {key: i for i, key in enumerate(zip(joint.names, joint.rules))}
    columns = [np.array([position[key] for key in zip(encode.names, encode.rules)]) for encode in plain]

    raw_link = None
    if all(member.link.additive for member in members):
        base = np.zeros(n_response)
        for member, weight, target in zip(members, weights, targets):
            np.add.at(base, list(target), weight * member.forest.base)
        outputs = [np.asarray(target) for target in targets]
        scales = list(weights)
        link = links.identity()
    else:
        widths = [member.forest.n_outputs for member in members]
        starts = np.cumsum([0, *widths[:-1]])
        outputs = [start + np.arange(width) for start, width in zip(starts, widths)]
        scales = [1.0] * len(members)
        base = np.concatenate([member.forest.base for member in members])
        link = links.mixture(
            list(zip([member.link for member in members], widths, weights, targets)), n_response
        )
        if len(set(widths)) == 1:  # the ensemble's raw scale is the average of the members' own
            raw_link = links.mixture(
                [(links.identity(), n, weight, range(n)) for n, weight in zip(widths, weights)], widths[0]
            )
    forest = join(
        [member.forest for member in members], columns, outputs, scales, n_columns=len(joint.names), base=base
    )
    return TreeModel(
        forest=forest,
        encode=joint,
        drives=joint.drives,
        link=link,
        source=members[0].source,
        tolerance=max(member.tolerance for member in members),
        raw_link=raw_link,
        no_training_weights=next((m.no_training_weights for m in members if m.no_training_weights), ""),
    )


def _joint(encoders: Sequence[Encoder], table: Table) -> Encoder:
    """One encoder with a column for every distinct (column, rule) of the members."""
    keys = dict.fromkeys(key for encode in encoders for key in zip(encode.names, encode.rules))
    names, rules = zip(*keys)
    if len(set(rules)) == 1:
        # One treatment for all: keep the table's own columns, which encodes as one matrix.
        names, rules = table.names, rules[:1] * len(table.names)
    return Encoder(names, rules, encoders[0].absent_is_missing)
