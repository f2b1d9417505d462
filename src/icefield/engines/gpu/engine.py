"""GpuEngine: averages on additive scales from rows that a GPU counts, everything else from the trees engine on the CPU.

The device counts rows, whole numbers; averages are made of these by the trees engine's own steps, so both give the same
numbers bit for bit. What the device does not count, the CPU does, and the answer says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import replace

from icefield.core.engine import Context, Offer, TreeReading
from icefield.core.question import Answer, Moving, Question, QuestionAccumulator, Resources
from icefield.core.rows import Block
from icefield.engines.gpu import finding
from icefield.engines.trees.axes import EncodedAxis
from icefield.engines.trees.count_accumulator import CountAccumulator
from icefield.engines.trees.engine import BLOCK, TreesEngine, Walking
from icefield.typing import Float

# Rows times leaves from which "auto" takes the device: see docs/decisions/023.
LARGE = 2**36
UNCOUNTED = "a GPU counts rows for averages on an additive scale only"
STREAMED = "rows come in parts"

_why_not: ContextVar[str] = ContextVar("why the device did not count")


def offer(reading: TreeReading) -> Offer:
    """The GPU engine where it was asked for; otherwise only where a device is there and the work is large."""
    from icefield.models.tree_reading import tree_scale

    named = reading.asked == "gpu"
    if not named and not finding.is_likely():
        return Offer(None, "there is no GPU with CuPy")
    trees, model = reading.trees, reading.model
    if trees is None:
        return Offer(None, reading.reason)
    if not named:
        leaves = int((trees.forest.node_left < 0).sum())
        if reading.table.n_rows * leaves < LARGE:
            return Offer(None, "the work is small for a GPU")
    device, reason = finding.found()
    if device is None and not named:
        return Offer(None, reason)
    engine = GpuEngine(trees, tree_scale(model, trees), model.selected)
    return Offer(engine, f"exact, from the {trees.source} trees", trees)


class GpuEngine(TreesEngine):
    """The trees engine, with a GPU that counts; parameters as there."""

    name = travels_as = "gpu"

    def answer(self, questions: Sequence[Question], sample: Block, resources: Resources) -> list[Answer]:
        token = _why_not.set("")
        try:
            answers = super().answer(questions, sample, resources)
            reason = _why_not.get()
        finally:
            _why_not.reset(token)
        return [
            _said(answer, reason if self._by_counts(question) and sample.n_rows else UNCOUNTED)
            for question, answer in zip(questions, answers)
        ]

    def accumulator(self, moving: Moving, context: Context) -> QuestionAccumulator | None:
        return _StreamedCounts(self, moving, context) if self.additive else None

    def _averages(self, questions: list[list[EncodedAxis]], walking: Walking) -> list[list[Float]]:
        if not questions:
            return []
        from icefield.engines.gpu.codes import NotOnDevice
        from icefield.engines.gpu.device_rows import DeviceCounted, DeviceRows
        from icefield.engines.trees.averages import averages_of
        from icefield.engines.trees.packed_rows import PackedRows

        device, reason = finding.found()
        if device is not None:
            try:
                crew, rows = walking.crew, PackedRows(self.model, walking.sample, BLOCK)
                there = DeviceRows(device, self.sums, rows, crew)
                counted = DeviceCounted(
                    self.sums, rows, crew, walking.memory, walking.progress, device=device, device_rows=there
                )
                return averages_of(counted, questions)
            except NotOnDevice as limit:
                reason = str(limit)
            except device.failures as error:
                reason = f"the GPU failed ({type(error).__name__}: {error})"
        _why_not.set(reason)
        return super()._averages(questions, walking)


class _StreamedCounts(CountAccumulator):
    """Counts over parts of the rows, which the CPU takes."""

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        return [_said(answer, STREAMED) for answer in super().answers(questions)]


def _said(answer: Answer, reason: str) -> Answer:
    """The answer, with who counted."""
    if not reason:
        device = finding.found()[0]
        return replace(answer, notes=(f"counted on the GPU ({device.name if device else ''})", *answer.notes))
    return replace(answer, engine="trees", notes=(f"on the CPU, because {reason}", *answer.notes))
