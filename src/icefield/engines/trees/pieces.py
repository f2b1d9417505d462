"""Trees cut into pieces of 64 leaves, as the kernels' `local_moves` take them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from icefield import kernels
from icefield.engines.trees.layout import Layout
from icefield.engines.trees.program import Batch, Program
from icefield.engines.trees.rows import WORD

ALL = np.uint64(2**64 - 1)


def cut_to_pieces(
    program: Program,
    layout: Layout,
    base: NDArray[np.float64],
    n_groups: int,
) -> kernels.Given:
    """The trees of a program, for its groups.

    Parameters
    ----------
    program : whose batch and paths
    layout : gives every condition a row of bits
    base : of each output
    n_groups : how many groups move
    """
    batch = program.batch
    first, leaves = leaf_ranges(batch)
    leaf_node = np.empty(int(leaves[batch.roots].sum()), np.int64)
    is_leaf = batch.node_left < 0
    leaf_node[first[is_leaf]] = np.flatnonzero(is_leaf)
    n_pieces = -(-leaf_node.size // WORD)

    # Every split, in each piece that has leaves below it.
    split = np.flatnonzero(~is_leaf)
    middle, end = first[batch.node_right[split]], first[split] + leaves[split]
    from_piece = first[split] // WORD
    spans = (end - 1) // WORD - from_piece + 1
    which = np.repeat(np.arange(split.size), spans)
    piece = np.arange(which.size) - np.repeat(np.cumsum(spans) - spans, spans) + from_piece[which]
    condition = batch.node_condition[split][which]
    group = program.group_of_condition[condition].astype(np.int64)
    below = [(first[split], middle), (middle, end)]
    masks = np.stack([_within(piece, begin[which], stop[which]) for begin, stop in below], axis=1)

    # Those of one piece and group together are a part.
    key = piece * (n_groups + 1) + group + 1
    order = np.argsort(key, kind="stable")
    parts, part_start = np.unique(key[order], return_index=True)
    part_group = (parts % (n_groups + 1) - 1).astype(np.int32)
    part_piece = (parts // (n_groups + 1)).astype(np.int32)
    sorted_masks = np.ascontiguousarray(masks[order])
    moving = np.flatnonzero(part_group >= 0)
    by_group = moving[np.argsort(part_group[moving], kind="stable")]

    return kernels.PieceTrees(
        leaf_value=np.ascontiguousarray(batch.node_value[leaf_node]),
        leaf_tree=(np.searchsorted(batch.roots, leaf_node, side="right") - 1).astype(np.int32),
        tree_output=batch.node_output[batch.roots],
        base=base,
        piece_part=np.searchsorted(part_piece, np.arange(n_pieces + 1)).astype(np.int32),
        part_piece=part_piece,
        part_group=part_group,
        part_split=np.append(part_start, order.size).astype(np.int32),
        split_row=layout.condition_row[condition[order]],
        split_leaves=sorted_masks,
        group_part=np.searchsorted(part_group[by_group], np.arange(n_groups + 1)).astype(np.int32),
        parts_by_group=by_group.astype(np.int32),
    )


def leaf_ranges(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By node, the number of its first leaf in the order of the trees, from left to right, and how many it has."""
    leaves = batch.leaves_below.astype(np.int64)
    first = np.zeros(leaves.size, np.int64)
    first[batch.roots] = np.cumsum(leaves[batch.roots]) - leaves[batch.roots]
    by_depth = np.argsort(batch.node_depth, kind="stable")
    ends = np.searchsorted(batch.node_depth[by_depth], np.arange(batch.max_depth + 2))
    for depth in range(batch.max_depth + 1):
        nodes = by_depth[ends[depth] : ends[depth + 1]]
        nodes = nodes[batch.node_left[nodes] >= 0]
        left, right = batch.node_left[nodes], batch.node_right[nodes]
        first[left] = first[nodes]
        first[right] = first[nodes] + leaves[left]
    return first, leaves


def _within(piece: NDArray[np.int64], begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The leaves from `begin` to `end` that lie in a piece, as bits."""

    def below(place: NDArray[np.int64]) -> NDArray[np.uint64]:
        held = np.clip(place - piece * WORD, 0, WORD)
        return np.where(held == WORD, ALL, (np.uint64(1) << (held % WORD).astype(np.uint64)) - np.uint64(1))

    return below(end) & ~below(begin)
