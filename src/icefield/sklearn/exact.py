"""When trees answer for a model: only where they give the same numbers, and sooner.

A model that reads as trees, and predicts as they do on the caller's rows, need not be asked at every
grid point. But reading takes time, and so does the first use of the engine in a process,
while a small question is over in milliseconds either way. So the work is estimated from counts alone
(never from a clock: the same call must take the same way on a busy machine) before anything is read.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from icefield.core.question import Answer, Question, Resources
from icefield.core.rows import Block
from icefield.data.frame import Table, table_of
from icefield.errors import EngineError
from icefield.forest import CannotRead
from icefield.libraries.sklearn.nesting import core, is_pipeline, unwrapped
from icefield.models.model import Model, untried_model
from icefield.models.tree_reading import read_trees, tree_scale
from icefield.sklearn.arguments import BOOSTING, HIST_BOOSTING
from icefield.sklearn.internals import hist_nodes
from icefield.typing import Float

# Rough processor times in nanoseconds, of which only the proportions matter.
FIRST_USE = 3e7  # of the engine in a process: importing it and loading its kernels
FIXED = 1e7  # reading, checking and setting up, whatever the size
FIXED_PIPELINE = 1e8  # the same with a pipeline to follow
OWN_NODE = 2.5e3  # reading a node and placing its leaves
OWN_PREDICTION = 80.0  # a row at a grid point, where each is built
MODEL_STEP = 5.0  # from one node to the next in a library's own prediction
MODEL_FRAME_ROW = 300.0  # handing a row of a data frame to the model
MODEL_PIPELINE_ROW = 3e3  # taking it through a pipeline
TRAINING_STEP = 2.5  # from one node to the next in scikit-learn's recursion
# Without a count of nodes only reading tells how large a model is; that must be worth a try.
WORTH_READING = 10_000


@dataclass(frozen=True)
class Size:
    """How large a model is."""

    trees: int
    nodes: int

    @property
    def steps(self) -> float:
        """About how many splits a row passes on its way down all trees: their depths if they were full."""
        return self.trees * float(np.log2((1.0 + self.nodes / self.trees) / 2.0)) if self.trees else 0.0

    @property
    def training_steps(self) -> float:
        """About how many nodes the recursion visits at a grid point; moving columns cut deep trees short."""
        return self.trees * (self.nodes / self.trees) ** 0.8 if self.trees else 0.0


def size_of(estimator: Any) -> Size | None:
    """The numbers of trees and nodes of scikit-learn's own trees, from their attributes; None for other models."""
    inner = core(estimator)
    if isinstance(inner, HIST_BOOSTING):
        nodes = hist_nodes(inner)
        return None if nodes is None else Size(len(nodes), sum(nodes))
    members = getattr(inner, "estimators_", [inner])
    # Boosting keeps a matrix. A list is left alone: its members may look like sequences to numpy.
    members = members.ravel().tolist() if isinstance(members, np.ndarray) else list(members)
    if not all(hasattr(member, "tree_") for member in members):
        return None
    return Size(len(members), sum(member.tree_.node_count for member in members))


def brute_pays(size: Size, predictions: int, each_built: bool, way: str = "array") -> bool:
    """Whether trees answer sooner than the model does.

    `each_built` says that every single prediction is needed, `way` how rows come to the model: as an
    ``"array"``, as a ``"frame"`` or through a ``"pipeline"``.
    """
    cost = FIXED_PIPELINE if way == "pipeline" else FIXED
    cost += OWN_NODE * size.nodes + (OWN_PREDICTION * predictions if each_built else 0.0)
    handing_over = {"array": 0.0, "frame": MODEL_FRAME_ROW, "pipeline": MODEL_PIPELINE_ROW}[way]
    return _is_worth_it(cost, predictions * (MODEL_STEP * size.steps + handing_over))


def recursion_pays(size: Size, points: int) -> bool:
    """Whether the training average comes sooner than from scikit-learn, which walks again at each point."""
    return _is_worth_it(FIXED + OWN_NODE * size.nodes, TRAINING_STEP * points * size.training_steps)


def _is_worth_it(trees_cost: float, model_cost: float) -> bool:
    return trees_cost + (0.0 if "icefield.engines.trees.engine" in sys.modules else FIRST_USE) < model_cost


def tree_answer(model: Model, question: Question, sample: Block, resources: Resources) -> Answer | None:
    """The engine's answer from the model's trees, or None where the model has to be asked itself."""
    whole = _with_the_trees_outputs(model, sample.table)
    predictions = sample.n_rows * int(np.prod(question.shape))
    if whole is None or predictions == 0:
        return None
    size = size_of(model.native)
    each_built = question.rows is not None or model.kind != "regressor"
    way = "array" if sample.table.library == "numpy" else "frame"
    way = "pipeline" if is_pipeline(unwrapped(model.native)) else way
    pays = partial(brute_pays, predictions=predictions, each_built=each_built, way=way)
    if predictions < WORTH_READING if size is None else not pays(size):
        return None
    try:
        trees, _ = read_trees(whole, sample.table)
        if trees is None:
            return None
        if size is None and not pays(Size(trees.forest.tree_root.size, trees.forest.node_left.size)):
            return None
        from icefield.engines.trees import TreesEngine

        engine = TreesEngine(trees, tree_scale(whole, trees), whole.selected)
        return engine.answer([question], sample, resources)[0]
    except (CannotRead, EngineError, ValueError):
        # Values the trees cannot take (what the model says to them is the caller's to see), or the
        # same column twice among the moving ones.
        return None


def _with_the_trees_outputs(model: Model, table: Table) -> Model | None:
    """The model with every output its trees have, or None where it is not clear that they are the same."""
    if model.kind == "regressor":
        return model
    if model.scale == "raw":
        return model if isinstance(core(model.native), (*BOOSTING, *HIST_BOOSTING)) else None
    if len(model.outputs) > 1:
        return model
    if np.size(model.native.classes_) != 2:
        return None
    return untried_model(
        model.native, partial(_both_classes, model), table,
        kind=model.kind, scale=model.scale, n_outputs=2, selected=[1],
    )  # fmt: skip


def _both_classes(model: Model, rows: Any) -> Float:
    """scikit-learn keeps the second of two classes; the trees have both."""
    second = model.predict(table_of(rows))
    return np.concatenate([1.0 - second, second], axis=1)
