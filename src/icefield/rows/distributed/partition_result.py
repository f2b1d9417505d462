"""What a partition gives back, and how what several gave back becomes one.

An outcome knows which partitions it is of and how many rows each had, so that a partition that was worked on twice (a task that
was tried again, or run a second time to be sure) counts once. Outcomes merge in the order of their partitions,
whatever the order in which they come.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.counts import counted
from icefield.errors import (
    BudgetError,
    ClusterError,
    Complaint,
    EngineError,
    IcefieldError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    ModelError,
)
from icefield.forest import CannotRead

if TYPE_CHECKING:
    from icefield.core.rows import Accumulator

State = dict[str, NDArray[Any]]
# Errors that keep their class on the way: names in a message choose among these, and nothing else.
KINDS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (InputError, InputTypeError, ModelError, EngineError, BudgetError, ClusterError, MissingDependencyError, CannotRead)
}  # fmt: skip
PLAIN = "biufcUSmM"  # kinds of arrays whose bytes are values
LONGEST = 2_000  # characters of what an error said


@dataclass(frozen=True, eq=False)
class Failure:
    """An error that retrying the partition would raise again.

    Attributes
    ----------
    number : of the partition
    said : what the error said, in one line
    kind : its class, where it is one of `KINDS`; empty for any other
    message : its fields, where it is an error of icefield's
    """

    number: int
    said: str
    kind: str = ""
    message: Complaint | None = None

    @classmethod
    def of(cls, number: int, error: Exception) -> Failure:
        """A failure that can travel: texts, and nothing that could be run."""
        said = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
        kind = next((one.__name__ for one in type(error).__mro__ if one in KINDS.values()), "")
        message = error.message if isinstance(error, IcefieldError) else None
        return cls(number, str(error)[:LONGEST] if kind == CannotRead.__name__ else said, kind, message)

    def as_json(self) -> dict[str, Any]:
        message = None if self.message is None else self.message.as_json()
        return {"number": self.number, "said": self.said, "kind": self.kind, "message": message}

    @classmethod
    def from_json(cls, given: Any) -> Failure:
        """A failure from untrusted JSON; a ValueError where it does not hold one."""
        wanted = {"number": int, "said": str, "kind": str}
        if not isinstance(given, dict) or not all(type(given.get(k)) is kind for k, kind in wanted.items()):
            raise ValueError("it is no failure of a partition")
        message = given.get("message")
        message = None if message is None else Complaint.from_json(message)
        return cls(given["number"], given["said"][:LONGEST], given["kind"], message)

    def error(self, where: str) -> Exception:
        """What to raise where the answer was waited for; it names the partition."""
        kind, found = KINDS.get(self.kind), self.message
        if kind is CannotRead:
            return CannotRead(self.said)  # who asked may have another way, and a message of its own
        if kind is None or found is None or not issubclass(kind, IcefieldError):
            return ClusterError.saying(f"Work on {where} failed: {self.said}.")
        if found.parameter is None:
            return kind.saying(f"{found.problem} (In {where}.)", found.hint)
        return kind.about(found.parameter, f"{found.problem} (in {where})", found.received, found.hint)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known of some partitions.

    Attributes
    ----------
    parts : by partition, its number of rows
    states : what each accumulator knows of them; None where they have no rows
    versions : what differs from where the answer is waited for, each with where it was found
    failure : why there is nothing
    """

    parts: dict[int, int]
    states: list[State] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    failure: Failure | None = None

    @property
    def first(self) -> int:
        return min(self.parts, default=0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Engines that pickle what tasks give back send the same few bytes."""
        return Outcome.unpacked, (self.packed(),)

    def packed(self) -> bytes:
        """As bytes: the length of a JSON document, the document, and the arrays it lists, one after another."""
        arrays: list[NDArray[Any]] = []

        def listed(array: NDArray[Any]) -> list[Any]:
            if array.dtype.kind not in PLAIN:
                raise TypeError("what accumulators know must be arrays of plain values")
            arrays.append(narrowed(array))
            return [arrays[-1].dtype.str, list(array.shape), array.dtype.str]

        states = None
        if self.states is not None:
            states = [{key: listed(np.asarray(own)) for key, own in state.items()} for state in self.states]
        failure = None if self.failure is None else self.failure.as_json()
        document = {"parts": list(self.parts.items()), "states": states, "versions": self.versions, "failure": failure}  # fmt: skip
        about = json.dumps(document).encode()
        return b"".join([len(about).to_bytes(8, "little"), about, *(array.tobytes() for array in arrays)])

    @staticmethod
    def unpacked(content: bytes) -> Outcome:
        """What `packed` gave. Nothing in it is run, whatever it holds."""
        size = 8 + int.from_bytes(content[:8], "little")
        about, at = json.loads(content[8:size]), size

        def read(name: Any, shape: list[int], wide: Any) -> NDArray[Any]:
            nonlocal at
            dtype, meant = np.dtype(str(name)), np.dtype(str(wide))
            if dtype.kind not in PLAIN or meant.kind not in PLAIN:
                raise ValueError(f"an array of {dtype} for one of {meant}")
            count = math.prod(shape)
            sent = np.frombuffer(content, dtype, count, at) if count else np.zeros(0, dtype)
            at += count * dtype.itemsize
            return sent.astype(meant).reshape(shape)

        states = about["states"]
        states = states and [{key: read(*array) for key, array in state.items()} for state in states]
        failure = None if about["failure"] is None else Failure.from_json(about["failure"])
        return Outcome({int(k): int(v) for k, v in about["parts"]}, states, about["versions"], failure)


def narrowed(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in the smallest type that holds each of them exactly; counts are small, and travel often.

    >>> narrowed(np.array([1.0, 300.0])).dtype
    dtype('uint16')
    """
    if array.dtype.kind not in "fiu" or array.dtype.itemsize == 1 or not array.size:
        return array
    smaller: list[type[np.generic]] = []
    if array.dtype.kind != "f" or not (np.signbit(array) & (array == 0)).any():  # integers have no -0.0
        smaller = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32]
    for kind in (*smaller, *([np.float32] if array.dtype.kind == "f" else [])):
        if np.dtype(kind).itemsize >= array.dtype.itemsize:
            continue
        with np.errstate(invalid="ignore", over="ignore"):
            small: NDArray[Any] = array.astype(kind)
            if np.array_equal(small.astype(array.dtype), array, equal_nan=array.dtype.kind == "f"):
                return small
    return array


def once(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes in the order of their partitions, each partition once."""
    taken: set[int] = set()
    kept = []
    for one in sorted(outcomes, key=lambda one: (one.first, -len(one.parts))):
        known = taken & one.parts.keys()
        if known and len(known) < len(one.parts):
            raise ClusterError.saying(f"Partition {min(known)} came back twice, once together with others: it would count twice.")  # fmt: skip
        if not known:
            taken |= one.parts.keys()
            kept.append(one)
    return kept


def merged(accumulators: Sequence[Accumulator], outcomes: Sequence[Outcome]) -> Outcome:
    """Several outcomes as one, in accumulators that know nothing yet."""
    failed = next((one for one in outcomes if one.failure is not None), None)
    if failed is not None:
        return failed
    parts: dict[int, int] = {}
    versions: dict[str, str] = {}
    taken = False
    for one in once(outcomes):
        parts |= one.parts
        versions |= one.versions
        if one.states is None:
            continue
        for accumulator, state in zip(accumulators, one.states, strict=True):
            (accumulator.merge if taken else accumulator.restore)(state)
        taken = True
    for accumulator in accumulators:
        accumulator.condense()  # what is merged again, level by level, stays as small as a partition's
    states = [one.state() for one in accumulators] if taken else None
    return Outcome(parts, states, versions)


def check_parts(found: dict[int, int], sizes: Sequence[int] | None, total: int | None, label: str) -> int:
    """The number of rows that were added up; an error where rows are missing that were there before."""
    rows = sum(found.values())
    for number, size in enumerate(sizes or ()):
        if size and number not in found:
            raise ClusterError.saying(f"Partition {number} of {label}, of {counted(size)} rows, did not come back.",
                                      "try again; if it recurs, look at the engine's own log for that partition")  # fmt: skip
    if total is not None and rows != total:
        other = next((n for n, size in enumerate(sizes or ()) if found.get(n, 0) != size), None)
        own = "" if other is None else counted((sizes or ())[other])
        which = (
            "" if other is None else f", partition {other} {counted(found.get(other, 0))} instead of {own}"
        )
        raise ClusterError.about("X", f"gave {counted(rows)} rows in this pass and {counted(total)} before{which}: it must give the same rows every time",
                                 label, "write it to files once, or keep it: persist() in Dask, cache() in Spark, materialize() in Ray")  # fmt: skip
    return rows
