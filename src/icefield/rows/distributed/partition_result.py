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
    EngineError,
    ErrorMessage,
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
    message: ErrorMessage | None = None

    @classmethod
    def of(cls, number: int, error: Exception) -> Failure:
        """The failure of an error, as texts alone, which are safe to send."""
        said = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
        kind = next((base.__name__ for base in type(error).__mro__ if base in KINDS.values()), "")
        message = error.message if isinstance(error, IcefieldError) else None
        return cls(number, str(error)[:LONGEST] if kind == CannotRead.__name__ else said, kind, message)

    def as_json(self) -> dict[str, Any]:
        message = None if self.message is None else self.message.as_json()
        return {"number": self.number, "said": self.said, "kind": self.kind, "message": message}

    @classmethod
    def from_json(cls, fields: Any) -> Failure:
        """A failure from untrusted JSON; a ValueError where it does not hold one."""
        types = {"number": int, "said": str, "kind": str}
        if not isinstance(fields, dict) or not all(type(fields.get(k)) is kind for k, kind in types.items()):
            raise ValueError("it is no failure of a partition")
        message = fields.get("message")
        message = None if message is None else ErrorMessage.from_json(message)
        return cls(fields["number"], fields["said"][:LONGEST], fields["kind"], message)

    def error(self, where: str) -> Exception:
        """The exception to raise on the driver; it names the partition."""
        kind, fault = KINDS.get(self.kind), self.message
        if kind is CannotRead:
            return CannotRead(self.said)  # who asked may have another way, and a message of its own
        if kind is None or fault is None or not issubclass(kind, IcefieldError):
            return ClusterError.saying(f"Work on {where} failed: {self.said}.")
        if fault.parameter is None:
            return kind.saying(f"{fault.problem} (In {where}.)", fault.hint)
        return kind.about(fault.parameter, f"{fault.problem} (in {where})", fault.received, fault.hint)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a pass over some partitions: accumulators' states, or a failure.

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
        return Outcome.from_bytes, (self.to_bytes(),)

    def to_bytes(self) -> bytes:
        """The outcome as bytes: the length of a JSON document, the document, and the arrays it lists, one after another."""
        arrays: list[NDArray[Any]] = []

        def describe(array: NDArray[Any]) -> list[Any]:
            if array.dtype.kind not in PLAIN:
                raise TypeError("what accumulators know must be arrays of plain values")
            arrays.append(in_smallest_type(array))
            return [arrays[-1].dtype.str, list(array.shape), array.dtype.str]

        states = None
        if self.states is not None:
            states = [{key: describe(np.asarray(v)) for key, v in state.items()} for state in self.states]
        failure = None if self.failure is None else self.failure.as_json()
        document = {"parts": list(self.parts.items()), "states": states, "versions": self.versions, "failure": failure}  # fmt: skip
        about = json.dumps(document).encode()
        return b"".join([len(about).to_bytes(8, "little"), about, *(array.tobytes() for array in arrays)])

    @staticmethod
    def from_bytes(content: bytes) -> Outcome:
        """An outcome from the bytes of `to_bytes`. Nothing in them is executed, whatever they hold."""
        size = 8 + int.from_bytes(content[:8], "little")
        about, at = json.loads(content[8:size]), size

        def read(name: Any, shape: list[int], wide: Any) -> NDArray[Any]:
            nonlocal at
            dtype, target = np.dtype(str(name)), np.dtype(str(wide))
            if dtype.kind not in PLAIN or target.kind not in PLAIN:
                raise ValueError(f"an array of {dtype} for one of {target}")
            count = math.prod(shape)
            values = np.frombuffer(content, dtype, count, at) if count else np.zeros(0, dtype)
            at += count * dtype.itemsize
            return values.astype(target).reshape(shape)

        states = about["states"]
        states = states and [{key: read(*array) for key, array in state.items()} for state in states]
        failure = None if about["failure"] is None else Failure.from_json(about["failure"])
        return Outcome({int(k): int(v) for k, v in about["parts"]}, states, about["versions"], failure)


def in_smallest_type(array: NDArray[Any]) -> NDArray[Any]:
    """The same values in the smallest type that holds each of them exactly; counts are small, and travel often.

    >>> in_smallest_type(np.array([1.0, 300.0])).dtype
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


def without_duplicates(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes in the order of their partitions, each partition once."""
    seen: set[int] = set()
    kept = []
    for outcome in sorted(outcomes, key=lambda outcome: (outcome.first, -len(outcome.parts))):
        repeated = seen & outcome.parts.keys()
        if repeated and len(repeated) < len(outcome.parts):
            raise ClusterError.saying(f"Partition {min(repeated)} came back twice, once together with others: it would count twice.")  # fmt: skip
        if not repeated:
            seen |= outcome.parts.keys()
            kept.append(outcome)
    return kept


def merge_outcomes(accumulators: Sequence[Accumulator], outcomes: Sequence[Outcome]) -> Outcome:
    """Merge several outcomes into one, using `accumulators`, which must be fresh."""
    failed = next((outcome for outcome in outcomes if outcome.failure is not None), None)
    if failed is not None:
        return failed
    parts: dict[int, int] = {}
    versions: dict[str, str] = {}
    any_state = False
    for outcome in without_duplicates(outcomes):
        parts |= outcome.parts
        versions |= outcome.versions
        if outcome.states is None:
            continue
        for accumulator, state in zip(accumulators, outcome.states, strict=True):
            (accumulator.merge if any_state else accumulator.restore)(state)
        any_state = True
    for accumulator in accumulators:
        accumulator.condense()  # what is merged again, level by level, stays as small as a partition's
    states = [outcome.state() for outcome in accumulators] if any_state else None
    return Outcome(parts, states, versions)


def check_parts(parts: dict[int, int], sizes: Sequence[int] | None, total: int | None, label: str) -> int:
    """The number of rows that were added up; an error where rows are missing that were there before."""
    rows = sum(parts.values())
    for number, size in enumerate(sizes or ()):
        if size and number not in parts:
            raise ClusterError.saying(f"Partition {number} of {label}, of {counted(size)} rows, did not come back.",
                                      "try again; if it recurs, look at the engine's own log for that partition")  # fmt: skip
    if total is not None and rows != total:
        odd = next((n for n, size in enumerate(sizes or ()) if parts.get(n, 0) != size), None)
        expected = "" if odd is None else counted((sizes or ())[odd])
        which = "" if odd is None else f", partition {odd} {counted(parts.get(odd, 0))} instead of {expected}"
        raise ClusterError.about("X", f"gave {counted(rows)} rows in this pass and {counted(total)} before{which}: it must give the same rows every time",
                                 label, "write it to files once, or keep it: persist() in Dask, cache() in Spark, materialize() in Ray")  # fmt: skip
    return rows
